"""The search for the roles of columns: what was chosen so far, and how it is told.

Also outcomes that are told once for each side, as in white_result beside black_result; as in
winner_model_a, winner_model_b and winner_tie; and as flags of the first alone, as radiant_win.
"""

import re
from dataclasses import dataclass, field

from intransit.data import vocabulary as words
from intransit.data.facts import Facts, find_column, list_names
from intransit.data.outcomes import FIRST, NO, SECOND, TIE, YES, Meaning, number
from intransit.data.reading import Column, ReadOptions, how_to_say
from intransit.data.time_columns import TimeColumn
from intransit.data.vocabulary import MARKERS, Marker, listed, plain, short_names
from intransit.errors import InputError


@dataclass(frozen=True)
class Sided:
    """Columns that tell of each side whether it won, and what their texts mean."""

    first: int
    second: int
    first_values: dict[str, float]
    second_values: dict[str, float]


CLEAR = 0.95  # share of cells that must make sense before a column is taken by content alone


@dataclass
class Roles:
    """Columns by role; what is None the table does not have."""

    first: int = -1
    second: int = -1
    marker: Marker | None = None
    winner_first: bool = False  # the first column names the winner
    tie: int | None = None
    outcome: int | None = None
    meaning: Meaning | None = None
    sided: Sided | None = None  # instead of an outcome: columns that tell of each side
    scores: tuple[int, int] | None = None
    margin: int | None = None
    time: int | None = None
    moments: TimeColumn | None = None
    side: int | None = None
    side_always: float | None = None
    neutral: int | None = None
    count: int | None = None
    weight: int | None = None
    by: tuple[int, ...] = ()
    columns: list[Column] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def taken(self) -> set[int]:
        """Columns that have a role."""
        single = (self.first, self.second, self.tie, self.outcome, self.margin, self.time)
        more = (self.side, self.neutral, self.count, self.weight, *(self.scores or ()), *self.by)
        told = () if self.sided is None else (self.sided.first, self.sided.second)
        return {column for column in (*single, *more, *told) if column is not None}


class Search:
    """Roles chosen one after the other; later choices know the earlier ones."""

    def __init__(self, facts: Facts, options: ReadOptions) -> None:
        self.facts = facts
        self.names = facts.table.names
        self.plain = [plain(name) for name in short_names(self.names)]
        self.label = facts.table.engine.label
        self.options = options
        self.wanted = options.columns
        self.named = {role: self._find(role) for role in self.wanted}
        by = tuple(find_column(self.names, name, "by", self.label) for name in options.by)
        self.roles = Roles(by=by)

    def _find(self, role: str) -> int | None:
        """Return the column that the user names for a role."""
        name = self.wanted[role]
        if name is None or name is False or (role == "side" and name in {"first", "second"}):
            return None
        return find_column(self.names, str(name), role, self.label)

    def refuse(self, sentence: str) -> InputError:
        """Return the error that says this of the table."""
        return self.facts.table.engine.refuse(sentence)

    def listed(self, columns: list[int] | None = None, joint: str = ", ") -> str:
        """Return names of columns, all of them unless some are given."""
        names = self.names if columns is None else [self.names[i] for i in columns]
        return list_names(names, joint)

    def free(self) -> list[int]:
        """Columns without a role, neither chosen nor named by the user."""
        used = self.roles.taken() | {i for i in self.named.values() if i is not None}
        return [i for i in range(len(self.names)) if i not in used]

    def one(self, role: str, vocabulary: frozenset[str]) -> int | None:
        """Return the one free column whose name says this role; refuse when there are two."""
        if self.named.get(role) is not None or self.wanted.get(role) is False:
            return self.named.get(role)
        found = [i for i in self.free() if self.plain[i] in vocabulary]
        if len(found) > 1:
            raise self.two(role, found)
        return found[0] if found else None

    def two(self, role: str, found: list[int]) -> InputError:
        """Return the error that two columns could play a role."""
        return self.refuse(
            f"{self.listed(found, ' and ')} could each be the {role}; say which with "
            f"{how_to_say(role, none=role)}."
        )

    def why(self, role: str) -> str:
        """Return how a column came to its role."""
        return "named" if self.named.get(role) is not None else "by its name"

    def tell(self, role: str, column: int, why: str) -> None:
        """Report a choice."""
        self.roles.columns.append(Column(role, self.names[column], why))

    @property
    def headers(self) -> tuple[str, str]:
        """Names of the two columns with the items."""
        return self.names[self.roles.first], self.names[self.roles.second]


TOLD = re.compile(r"(team|player|model)?(win|wins|won|winner|result|outcome|res|label|victory)")
FLAG = re.compile(r"(team|player|model|side)?(win|wins|won|victory|iswinner)")
SHORT = {("blue", "red"): ("b", "r"), ("r", "b"): ("red", "blue"), ("home", "away"): ("h", "a")}
# Of chess sites, beside the words of `outcomes`: how a game was lost, and how it was drawn.
LOST = SECOND | NO | listed("0 checkmated resigned timeout abandoned lose kingofthehill threecheck")
DRAWN = TIE | listed("0.5 agreed repetition stalemate insufficient 50move timevsinsufficient")
WON = FIRST | YES


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
