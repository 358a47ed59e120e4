"""Outcomes told once for each side, as in white_result beside black_result.

Also winner_model_a, winner_model_b and winner_tie; and flags of the first alone, as radiant_win.
"""

import re

from intransit.data import vocabulary as words
from intransit.data.outcomes import FIRST, NO, SECOND, TIE, YES, number
from intransit.data.search import Search, Sided
from intransit.data.vocabulary import MARKERS, Marker, listed, plain

TOLD = re.compile(r"(team|player|model)?(win|wins|won|winner|result|outcome|res|label|victory)")
FLAG = re.compile(r"(team|player|model|side)?(win|wins|won|victory|iswinner)")
SHORT = {("blue", "red"): ("b", "r"), ("r", "b"): ("red", "blue"), ("home", "away"): ("h", "a")}
# Of chess sites, beside the words of `values`: how a game was lost, and how it was drawn.
LOST = SECOND | NO | listed("0 checkmated resigned timeout abandoned lose kingofthehill threecheck")
DRAWN = TIE | listed("0.5 agreed repetition stalemate insufficient 50move timevsinsufficient")
WON = FIRST | YES
CLEAR = 0.95  # share of cells that must be understood


def find_sided(search: Search) -> Sided | None:
    """Return the columns that tell of each side whether it won, or None."""
    free = set(search.free())
    for first, second in _columns(search):
        if {first, second} <= free:
            told = [_meanings(search, column) for column in (first, second)]
            if told[0] is not None and told[1] is not None:
                return Sided(first, second, told[0], told[1])
    return None


def find_scores(search: Search) -> list[tuple[int, int]]:
    """Return columns such as result_1 and result_2 that hold more than who won."""
    return [
        pair
        for pair in _columns(search)
        if all(search.facts.looks_numeric(column) for column in pair)
        and any(_meanings(search, column) is None for column in pair)
    ]


def flags_first(search: Search, column: int) -> bool:
    """Return whether a column's name asks whether the first side won, as in radiant_win."""
    sides = [*(marker.first for marker in _markers(search)), plain(search.headers[0])]
    rests = (words.stem(search.plain[column], side) for side in sides)
    return any(rest is not None and FLAG.fullmatch(rest) for rest in rests)


def tie_beside(search: Search, sided: Sided) -> int | None:
    """Return the column that says that nobody won, as in winner_tie."""
    ties = [
        column
        for column in search.free()
        if column not in {sided.first, sided.second}
        and re.fullmatch(r"(winner|label|result)?(tie|draw|tied|drawn)", search.plain[column])
    ]
    return ties[0] if len(ties) == 1 and _meanings(search, ties[0]) is not None else None


def _columns(search: Search) -> list[tuple[int, int]]:
    """Return pairs of columns whose names speak of what came of it for the first and the second."""
    found = []
    for marker in _markers(search):
        spoken = [(marker.first, marker.second), SHORT.get((marker.first, marker.second))]
        spoken.append((plain(search.headers[0]), plain(search.headers[1])))  # team_a_won
        for pair in (pair for pair in spoken if pair is not None):
            sides = [
                {rest: i for i, name in enumerate(search.plain) if (rest := _rest(name, word))}
                for word in pair
            ]
            found += [(i, sides[1][rest]) for rest, i in sides[0].items() if rest in sides[1]]
    return [(i, j) for i, j in dict.fromkeys(found) if i != j]


def _rest(name: str, word: str) -> str | None:
    """Return what is left of a name without the side's word, if it speaks of an outcome."""
    rest = words.stem(name, word)
    if rest is not None and TOLD.fullmatch(rest):
        return rest
    ending = name.removesuffix(word)
    told = ending != name and re.fullmatch(r"(winner|label|result)(model|team|player)?", ending)
    return ending if told else None


def _markers(search: Search) -> list[Marker]:
    """Return the markers that tell the two items apart in their own names."""
    first, second = (plain(name) for name in search.headers)
    return [
        marker
        for marker in MARKERS
        if words.stem(first, marker.first) is not None
        and words.stem(second, marker.second) is not None
    ]


def _meanings(search: Search, column: int) -> dict[str, float] | None:
    """Return what the texts of a column say of its side: 1 won, 0 lost, 0.5 neither; or None."""
    cells = [(text, n) for text, n in search.facts.values(column) or [] if text.strip()]
    told: dict[str, float] = {}
    for text, _ in cells:
        word = re.sub(r"[\s_]+", "", text.casefold())
        value = number(word)
        if value in {0.0, 0.5, 1.0}:
            told[text] = float(value or 0.0)
        elif word in WON | LOST | DRAWN:
            told[text] = 1.0 if word in WON else 0.5 if word in DRAWN else 0.0
    known = sum(n for text, n in cells if text in told)
    total = sum(n for _, n in cells)
    return told if total and known >= CLEAR * total else None
