"""Which column plays which role: as the user says, else by its name, else by what it holds.

The two items of a game are recognised by the words in their names, or by what they share.  Where
two columns could play a role and nothing decides, the table is refused with the options.  Outcomes
may also be told once for each side, as in white_result beside black_result; as in winner_model_a,
winner_model_b and winner_tie; and as flags of the first alone, as radiant_win.
"""

import itertools
import re
from dataclasses import dataclass, field

from intransit.data import vocabulary as words
from intransit.data.engine import Facts, quote, short_names
from intransit.data.games import TimeColumn
from intransit.data.reading import Column, ReadOptions, how_to_say, list_names
from intransit.data.vocabulary import (
    CLEAR,
    ENOUGH,
    MARKERS,
    WINNERS,
    Marker,
    Meaning,
    Pair,
    listed,
    number,
    plain,
    read_outcomes,
    read_sides,
    read_switch,
    tokens_of,
)
from intransit.errors import InputError


@dataclass(frozen=True)
class Sided:
    """Columns that tell of each side whether it won, and what their texts mean."""

    first: int
    second: int
    first_values: dict[str, float]
    second_values: dict[str, float]


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
    margin_of_winner: bool = False  # the margin is never below 0, whoever won
    unplayed: dict[int, str] = field(default_factory=dict)  # columns, and the SQL that finds such
    drawn: tuple[int, tuple[str, ...]] | None = None  # a column that tells draws, and its words
    time: int | None = None
    moments: TimeColumn | None = None
    side: int | None = None
    side_always: float | None = None
    away_sign: int | None = None  # a column that has @ where the first was away
    neutral: int | None = None
    count: int | None = None
    weight: int | None = None
    by: tuple[int, ...] = ()
    columns: list[Column] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def taken(self) -> set[int]:
        """Columns that have a role."""
        single = (self.first, self.second, self.tie, self.outcome, self.margin, self.time)
        more = (
            self.side,
            self.away_sign,
            self.neutral,
            self.count,
            self.weight,
            *(self.scores or ()),
            *self.by,
            *self.unplayed,
            *(self.drawn or ())[:1],
        )
        told = () if self.sided is None else (self.sided.first, self.sided.second)
        return {column for column in (*single, *more, *told) if column is not None}


class Search:
    """Roles chosen one after the other; later choices know the earlier ones."""

    def __init__(self, facts: Facts, options: ReadOptions) -> None:
        self.facts = facts
        self.names = facts.names
        self.plain = [plain(name) for name in short_names(self.names)]
        self.options = options
        self.wanted = options.columns
        self.named = {role: self._find(role) for role in self.wanted}
        by = tuple(facts.column(name, "by") for name in options.by)
        self.roles = Roles(by=by)
        self.beside: list[Pair] = []  # numbers called as items are, beside their names

    def _find(self, role: str) -> int | None:
        """Return the column that the user names for a role."""
        name = self.wanted[role]
        if name is None or name is False or (role == "side" and name in {"first", "second"}):
            return None
        return self.facts.column(str(name), role)

    def refuse(self, sentence: str) -> InputError:
        """Return the error that says this of the table."""
        return self.facts.refuse(sentence)

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
        if self.named.get(role) is None:
            return "by its name"
        return "by the shape of the table" if role in self.options.made else "named"

    def ignore(self, column: int, why: str) -> None:
        """Report a column that could have played a role, and why it does not."""
        self.roles.notes.append(f'"{self.names[column]}" is not used{why}')

    def tell(self, role: str, column: int, why: str) -> None:
        """Report a choice."""
        self.roles.columns.append(Column(role, self.names[column], why))

    @property
    def headers(self) -> tuple[str, str]:
        """Names of the two columns with the items, without where they were nested."""
        short = short_names(self.names)
        return short[self.roles.first], short[self.roles.second]


TOLD = re.compile(r"(team|player|model)?(win|wins|won|winner|result|outcome|res|label|victory)")
FLAG = re.compile(r"(team|player|model|side)?(win|wins|won|victory|iswinner)")
SHORT = {("blue", "red"): ("b", "r"), ("r", "b"): ("red", "blue"), ("home", "away"): ("h", "a")}
# Of chess sites, beside the words of outcomes: how a game was lost, and how it was drawn.
LOST_IN_CHESS = listed("0 checkmated resigned timeout abandoned lose kingofthehill threecheck")
DRAWN_BY_STATUS = listed("draw drawn stalemate outoftime tie tied agreed repetition insufficient")
DRAWN_IN_CHESS = listed("0.5 agreed repetition stalemate insufficient 50move timevsinsufficient")
ONE_SIDE = {
    **dict.fromkeys(LOST_IN_CHESS | words.SECOND_WORDS | words.NO, 0.0),
    **dict.fromkeys(DRAWN_IN_CHESS | words.TIE_WORDS, 0.5),
    **dict.fromkeys(words.FIRST_WORDS | words.YES, 1.0),
}


def find_sided(search: Search) -> Sided | None:
    """Return the columns that tell of each side whether it won, or None."""
    free = set(search.free())
    for first, second in _columns_of_sides(search):
        if {first, second} <= free:
            told = [_meanings(search, column) for column in (first, second)]
            if told[0] is not None and told[1] is not None:
                return Sided(first, second, told[0], told[1])
    return None


def find_scores(search: Search) -> list[Pair]:
    """Return columns such as result_1 and result_2 that hold more than who won."""
    return [
        Pair(MARKERS[0], *pair)
        for pair in _columns_of_sides(search)
        if all(search.facts.looks_numeric(column) for column in pair)
        and any(_meanings(search, column) is None for column in pair)
    ]


def flags_first(search: Search, column: int) -> bool:
    """Return whether a column's name asks whether the first side won, as in radiant_win."""
    rests = (words.stem(search.plain[column], side) for side, _ in _sides(search))
    return any(rest is not None and FLAG.fullmatch(rest) for rest in rests)


def _sides(search: Search) -> list[tuple[str, str]]:
    """Return the words that tell the two items apart in their own names, and these names."""
    first, second = (plain(name) for name in search.headers)
    found = [
        (marker.first, marker.second)
        for marker in MARKERS
        if words.stem(first, marker.first) is not None
        and words.stem(second, marker.second) is not None
    ]
    return [*found, (first, second)]  # team_a_won


def _columns_of_sides(search: Search) -> list[tuple[int, int]]:
    """Return pairs of columns whose names speak of what came of it for the first and the second."""
    *marked, headers = _sides(search)
    found = []
    for pair in marked:
        for both in (pair, SHORT.get(pair, pair), headers):
            first, second = (
                {rest: i for i, name in enumerate(search.plain) if (rest := _rest(name, word))}
                for word in both
            )
            found += [(i, second[rest]) for rest, i in first.items() if rest in second]
    return [(i, j) for i, j in dict.fromkeys(found) if i != j]


def _rest(name: str, word: str) -> str | None:
    """Return what is left of a name without the side's word, if it speaks of an outcome."""
    rest = words.stem(name, word)
    if rest is not None and TOLD.fullmatch(rest):
        return rest
    ending = name.removesuffix(word)
    told = ending != name and re.fullmatch(r"(winner|label|result)(model|team|player)?", ending)
    return ending if told else None


def _meanings(search: Search, column: int) -> dict[str, float] | None:
    """Return what the texts of a column say of its side: 1 won, 0 lost, 0.5 neither; or None."""
    cells = [(text, n) for text, n in search.facts.values(column) or [] if text.strip()]
    told: dict[str, float] = {}
    for text, _ in cells:
        word = re.sub(r"[\s_]+", "", text.casefold())
        value = number(word)
        value = value if value in {0.0, 0.5, 1.0} else ONE_SIDE.get(word)
        if value is not None:
            told[text] = value
    known = sum(n for text, n in cells if text in told)
    total = sum(n for _, n in cells)
    return told if total and known >= CLEAR * total else None


HOW_TO_NAME = (
    "name them with first= and second=, or winner= and loser= (command line: --first and "
    "--second, or --winner and --loser)."
)


def choose_items(search: Search) -> None:
    """Choose the columns with the two items."""
    roles, named = search.roles, search.named
    if named["winner"] is not None and named["loser"] is not None:
        pair, why = Pair(words.WINNER, named["winner"], named["loser"]), search.why("winner")
    elif named["first"] is not None and named["second"] is not None:
        own = [Pair(marker, named["first"], named["second"]) for marker in MARKERS]
        marked = (p for p in own if p in words.name_pairs(search.plain, (p.marker,)))
        pair, why = next(marked, own[0]), search.why("first")
    elif any(named[role] is not None for role in ("first", "second", "loser")):
        raise search.refuse(f"name both items: {HOW_TO_NAME.removeprefix('name them with ')}")
    else:
        pair, why = _recognised_pair(search)
    roles.first, roles.second, roles.marker = pair.first, pair.second, pair.marker
    roles.winner_first = pair.marker in WINNERS
    if pair.first == pair.second:
        raise search.refuse(f'both items are in "{search.names[pair.first]}"; name two columns.')
    search.tell("winner" if roles.winner_first else "first", pair.first, why)
    search.tell("loser" if roles.winner_first else "second", pair.second, why)


def _recognised_pair(search: Search) -> tuple[Pair, str]:
    free = set(search.free())
    names = [name if i in free else "" for i, name in enumerate(search.plain)]
    pairs, why = words.name_pairs(names, MARKERS, WINNERS), "by its name"
    if not pairs:
        alike, marked = _alike(search, free), _marked_texts(search, free)
        places = {(pair.first, pair.second) for pair in alike}
        both = [pair for pair in marked if (pair.first, pair.second) in places]
        pairs = both if len(both) == 1 else alike or marked
        why = "the two columns share their values" if pairs is alike else why
    pairs = pairs or _same_name(search, free)
    if len(pairs) > 1:  # Home Team and Away Team beside Home and Away, which are goals
        numeric = [p for p in pairs if all(map(search.facts.looks_numeric, (p.first, p.second)))]
        mixed = {i for p in pairs for i in (p.first, p.second) if search.facts.looks_numeric(i)}
        texts = [p for p in pairs if not {p.first, p.second} & mixed]
        pairs = texts if len(texts) == 1 else pairs
        search.beside = numeric if len(texts) == 1 else []
    if len(pairs) == 1:
        return pairs[0], why
    if pairs:
        raise search.refuse(f"{spoken_columns(search, pairs)} could name the items; {HOW_TO_NAME}")
    hint = _what_else(search) or HOW_TO_NAME
    raise search.refuse(f"no two columns of {search.listed()} name the items; {hint}")


def _same_name(search: Search, free: set[int]) -> list[Pair]:
    """Return two columns of one name for an item: team, score, team, score."""
    names = [re.sub(r"(?<=[a-z])[12]$", "", name) for name in search.plain]
    for name in words.ITEMS:
        found = [i for i in sorted(free) if names[i] == name]
        if len(found) == 2:
            return [Pair(MARKERS[0], *found)]
    return []


def _what_else(search: Search) -> str:
    """Return what to do with a table that looks like one of another shape; empty if like none."""
    facts = search.facts
    shared = (facts.sample(0) if facts.is_text(0) else set()) & {n.strip() for n in facts.names}
    if len(shared) > 2:
        cells = [
            text for i in range(1, len(facts.names)) for text in facts.texts(i) if text.strip()
        ]
        return (
            f"its header repeats its first column, as in a matrix, but cells such as "
            f"{list_names(sorted(set(cells))[:3])} are not understood: write win rates, games won, "
            "or 3-1."
        )
    won = {"w", "won", "wins"} & set(search.plain)
    if won and {"l", "lost", "losses"} & set(search.plain):
        return (
            "a table of standings does not say who beat whom: give one with a row a game or pair."
        )
    numeric = [i for i in search.free() if facts.looks_numeric(i)]
    if len(numeric) > 2:
        return (
            "if each column is an item, and each row has the scores of all of them, say "
            'shape="scores", or shape="ranks" where less is better (command line: --shape scores); '
            f"else {HOW_TO_NAME}"
        )
    return ""


def _marked_texts(search: Search, free: set[int]) -> list[Pair]:
    """Return columns of text of any name whose first or last words are a marker's."""
    tokens = {i: tokens_of(search.names[i]) for i in sorted(free) if search.facts.is_text(i)}
    found: dict[tuple[int, int], Pair] = {}
    for marker in MARKERS:
        for i, j in itertools.permutations(tokens, 2):
            rest = [
                {name[1:] if name[:1] == (word,) else (), name[:-1] if name[-1:] == (word,) else ()}
                for name, word in ((tokens[i], marker.first), (tokens[j], marker.second))
            ]
            if (rest[0] & rest[1]) - {()}:
                found.setdefault((i, j), Pair(marker, i, j))
    often = search.facts.often_filled(sorted({i for pair in found for i in pair}))
    numeric = {i for i in often if search.facts.looks_numeric(i)}
    return [pair for (i, j), pair in found.items() if {i, j} <= set(often) - numeric]


def spoken_columns(search: Search, pairs: list[Pair]) -> str:
    """Return the pairs in words; columns of the same name are refused instead."""
    names = [search.names[i] for i in {i for p in pairs for i in (p.first, p.second)}]
    for name in sorted(names):
        if names.count(name) > 1:
            raise search.refuse(f'two columns are called "{name}"; give each its own name.')
    return " or ".join(search.listed([p.first, p.second], " with ") for p in pairs[:4])


def _alike(search: Search, free: set[int]) -> list[Pair]:
    """Return pairs of text columns, of any name, that hold the same things."""
    known = words.OUTCOMES | words.TIMES | words.SIDES | words.NEUTRALS | words.TIES
    texts = [i for i in sorted(free) if search.facts.is_text(i) and search.plain[i] not in known]
    samples = {i: search.facts.sample(i) for i in search.facts.often_filled(texts)}
    pairs = []
    for (i, ours), (j, theirs) in itertools.combinations(samples.items(), 2):
        shared = len(ours & theirs)
        if shared >= 2 and 2 * shared >= min(len(ours), len(theirs)):
            told = read_outcomes([(text, 1) for text in ours], ("", ""), None)
            numbers = sum(number(text) is not None for text in ours)
            if told.understood < 0.8 and 2 * numbers < len(ours):
                pairs.append(Pair(MARKERS[0], i, j))
    return pairs


HIGHEST_GRADE = 5  # of a scale from -5 to 5; beyond, numbers are no grades


def choose_outcome(search: Search) -> None:
    """Choose the column that says who won, and what its cells mean."""
    roles = search.roles
    if roles.winner_first:
        roles.tie = search.one("tie", words.TIES)
        if roles.tie is not None:
            search.tell("tie", roles.tie, "by its name")
        return
    role = "winner" if search.named["winner"] is not None else "outcome"
    if search.named[role] is not None:
        roles.outcome = search.named[role]
        roles.meaning, why = _meaning(search, search.named[role] or 0), search.why(role)
        if not roles.meaning.understood:
            raise _strange(search, search.named[role] or 0)
    elif search.wanted["outcome"] is not False:
        roles.outcome, roles.meaning, why = _recognised_outcome(search)
        if roles.outcome is None and roles.scores is None and roles.margin is None:
            roles.sided = find_sided(search)
    if roles.sided is not None:
        roles.tie = _tie(search, re.compile(r"(winner|label|result)?(tie|draw|tied|drawn)"))
        search.tell("first won", roles.sided.first, "by its name")
        search.tell("second won", roles.sided.second, "by its name")
    elif roles.outcome is not None and roles.meaning is not None:
        search.tell("outcome", roles.outcome, f"{why}; {roles.meaning.why}")
        roles.tie = _tie(search, re.compile("|".join(words.TIES)))
        roles.drawn = _told_draws(search)
    if roles.tie is not None:
        search.tell("tie", roles.tie, "by its name")


def _tie(search: Search, called: re.Pattern[str]) -> int | None:
    """Return the column that says yes where nobody won, beside those that tell who did."""
    if search.wanted.get("tie") is False:
        return None
    found = [i for i in search.free() if called.fullmatch(search.plain[i])]
    texts = search.facts.texts(found[0]) if len(found) == 1 else []
    filled = [text for text in texts if text.strip()]
    return found[0] if filled and len(read_switch(filled)) == len(filled) else None


def _recognised_outcome(search: Search) -> tuple[int | None, Meaning | None, str]:
    for vocabulary in (words.OUTCOMES, words.SHARES):
        named = [i for i in search.free() if search.plain[i] in vocabulary]
        if vocabulary is words.OUTCOMES and not named:
            named = [i for i in search.free() if flags_first(search, i)]
        told = {i: _meaning(search, i) for i in named}
        clear = [i for i in named if told[i].understood >= ENOUGH]
        in_words = [i for i in clear if not told[i].margins]
        if len(in_words) == 1:  # scores beside it may be of the first, or of whoever won
            for i in set(clear) - set(in_words):
                search.ignore(i, f': "{search.names[in_words[0]]}" says who won')
            clear = in_words
        if len(clear) > 1:
            raise search.two("outcome", clear)
        if clear:
            return clear[0], told[clear[0]], "by its name"
        if named and search.roles.scores is None and search.roles.margin is None:
            raise _strange(search, named[0])
        if search.roles.scores is not None or search.roles.margin is not None:
            return None, None, ""
    texts = [i for i in search.free() if search.facts.is_text(i)]
    told = {i: _meaning(search, i) for i in search.facts.often_filled(texts)}
    telling = [i for i in told if _decides(told[i], search.plain[i])]
    clear = [i for i in telling if told[i].understood >= CLEAR]
    # Two verdicts on one game, of which one is not always given, are still two.
    rivals = [i for i in telling if told[i].understood >= ENOUGH]
    if clear and len(rivals) > 1:
        raise search.two("outcome", rivals)
    return (clear[0], told[clear[0]], "by what it holds") if clear else (None, None, "")


def choose_unplayed(search: Search) -> None:
    """Find the columns that say of some games that they were not played: walkovers, byes, ..."""
    roles, facts = search.roles, search.facts
    if search.options.unplayed == "keep":
        return
    free = {*search.free(), *({roles.outcome} - {None})}
    for column in sorted(i for i in free if i is not None):
        name = search.plain[column]
        cell, found = f"lower({facts.text(column)})", ""
        if name in words.FORFEITS:
            yes = [text for text, value in read_switch(facts.texts(column)).items() if value]
            test = f"{facts.raw(column)} IN ({', '.join(map(quote, yes)) or 'NULL'})"
        elif facts.is_text(column) and name in words.OF_RESULTS | words.STATUSES:
            found = words.UNPLAYED + (f"|{words.NOT_YET}" if name in words.STATUSES else "")
            test = f"regexp_full_match({cell}, {quote(found)})"
        else:
            continue
        if _occurs(facts, column, test, found):
            roles.unplayed[column] = test


def _occurs(facts: Facts, column: int, test: str, form: str) -> bool:
    """Return whether a test holds for any cell; distinct cells that are known are asked no more."""
    cells = facts.values(column)
    if cells is None or not form:
        return facts.count_cells(column, test)[0] > 0
    return any(re.fullmatch(form, text.strip().casefold()) for text, _ in cells)


def _told_draws(search: Search) -> tuple[int, tuple[str, ...]] | None:
    """Return a column such as the status of a game of chess, and its words that tell draws."""
    for column in search.free():
        if search.plain[column] in words.STATUSES | words.OF_RESULTS:
            texts = search.facts.texts(column)
            drawn = [t for t in texts if re.sub(r"[\s_]+", "", t.casefold()) in DRAWN_BY_STATUS]
            if drawn:
                return column, tuple(drawn)
    return None


CALLED = re.compile(r".*(choice|winner|preference|preferred|prefer|vote|verdict|outcome)\??")
ANSWERED = re.compile(r".*(response|answer|selected|selection|picked|pick|keypress|key)")


def _decides(told: Meaning, name: str) -> bool:
    """Return whether words tell outcomes; a column of nothing but T does not tell ties."""
    ties_only = told.kind == "words" and set(told.values.values()) <= {0.5}
    called = CALLED.fullmatch(name) is not None
    if ANSWERED.fullmatch(name):  # which of the two, and neither yes nor 1
        called = not {text.strip().casefold() for text in told.values} & (words.YES | words.NO)
    return (told.in_words or called) and not ties_only


def _strange(search: Search, column: int) -> InputError:
    cells = search.facts.values(column) or []
    often = sorted(cells, key=lambda cell: (-cell[1], cell[0]))[:5]
    numbers = sorted({x for text, _ in cells if (x := number(text)) is not None})
    most = int(max(map(abs, numbers), default=0.0))
    whole = all(x == round(x) for x in numbers)
    if len(numbers) > 2 and min(numbers) < -1 and whole and most <= HIGHEST_GRADE:
        up, down = (",".join(map(str, range(-s * most, s * most + s, s))) for s in (1, -1))
        return search.refuse(
            f'"{search.names[column]}" goes from {-most} to {most}, and nothing says which end is '
            f"for the first item; say grades=[{down}] if {most} is its best, or grades=[{up}] if "
            f"{-most} is (command line: --grades={down} or --grades={up}); or margin= if they are "
            "margins (command line: --margin)."
        )
    if numbers and set(numbers) <= {0.0, 1.0} and len(numbers) == len(cells):
        name = search.names[column]
        return search.refuse(
            f'"{name}" says 0 and 1, and nothing says which of the two items 1 is; say '
            f'outcome="{name}" if it is the first (command line: --outcome {name}), or '
            "grades=[0, 1] if it is the second (command line: --grades 0,1)."
        )
    shown = list_names([text for text, _ in often]) or "too many values"
    return search.refuse(
        f'the outcomes in "{search.names[column]}" are not understood ({shown}); write 1, 0 and '
        "0.5, win, loss and draw, or the winner's name; or list grades from the first's best to "
        "the second's with grades= (command line: --grades)."
    )


def _meaning(search: Search, column: int) -> Meaning:
    """Return what a column says as an outcome: words and numbers, or names of the items."""
    facts, roles = search.facts, search.roles
    headers = search.headers
    cells = facts.values(column)
    comma = facts.table.decimal_comma
    name, grades = search.plain[column], search.options.grades
    graded, rated = name in words.PREFERENCES, name in words.SHARES
    prefer = name in words.WINNER_WORDS or column == search.named["winner"]
    names_one = prefer or name in {"preference", "preferred", "choice", "chosen"}
    if roles.marker is not None and roles.marker.first == "0":
        names_one = names_one or graded
    told = read_outcomes(
        cells or [], headers, roles.marker, comma, grades=grades, graded=graded, rated=rated,
        names_one=names_one, by_hand=column == search.named["outcome"],
    )  # fmt: skip
    if flags_first(search, column) and any((number(text) or 0.0) > 1.0 for text, _ in cells or []):
        return Meaning("words", "numbers of games", 0.0)  # team1_wins: 2 is no name of the second
    if told.understood == 1.0 and not prefer:
        return told
    text, x = facts.text(column), facts.number(column)
    is_name = f"{text} IN ({facts.text(roles.first)}, {facts.text(roles.second)})"
    _, filled, names, shares = facts.count(facts.filled(column), is_name, f"{x} BETWEEN 0 AND 1")
    if not filled:
        return Meaning("words", "empty", 0.0)
    if cells is None and shares > names:
        return Meaning("shares", "share of games that the first won", shares / filled)
    ties = {
        text: value
        for text, value in told.values.items()
        if value == 0.5 and not text.strip()[:1].isdigit()
    }
    n_ties = sum(count for text, count in cells or () if text in ties)
    by_name = (names + n_ties) / filled
    if names and (by_name > told.understood or (prefer and by_name == told.understood)):
        return Meaning(
            "names", "the winner's name", by_name, ties, both_bad=told.both_bad, in_words=True
        )
    return told


def choose_side(search: Search) -> None:
    """Choose who has the side: home, white, shown first."""
    roles, said = search.roles, search.wanted["side"]
    if said in {"first", "second"}:
        roles.side_always = 1.0 if said == "first" else -1.0
        roles.notes.append(f"the {said} item always has the side")
    elif said is not False:
        roles.side = search.one("side", words.SIDES)
    if roles.side is not None and search.named["side"] is None:
        roles.side = _telling_side(search, roles.side)
    if roles.side is None and said is None:
        roles.away_sign = _away_sign(search)
    if roles.side is not None:
        search.tell("side", roles.side, search.why("side"))
    elif roles.away_sign is not None:
        search.tell("side", roles.away_sign, 'by what it holds; "@" says that the first was away')
    elif roles.marker and roles.marker.sided and said is None:
        roles.side_always = 1.0
        search.roles.notes.append(f'"{search.names[roles.first]}" has the side')
    if roles.side is None and roles.side_always is None and roles.away_sign is None:
        unused = [i for i in search.free() if search.plain[i] in words.NEUTRALS]
        if unused and said is None:
            search.ignore(
                unused[0],
                ", as nothing says who has the side; if the first item has it, say "
                'side="first" (command line: --side first)',
            )
        return
    roles.neutral = search.one("neutral", words.NEUTRALS)
    if roles.neutral is not None:
        texts = search.facts.texts(roles.neutral)
        if len(read_switch(texts)) < len(texts) and search.named["neutral"] is None:
            search.ignore(roles.neutral, ": it does not say yes or no")
            roles.neutral = None
        else:
            search.tell("neutral", roles.neutral, search.why("neutral"))


def _telling_side(search: Search, column: int) -> int | None:
    """Return a column that is called a side if all its cells say who has it."""
    texts = [text for text in search.facts.texts(column) if text.strip()]
    if texts and len(read_sides(texts, search.headers)) == len(texts):
        return column
    if search.plain[column] not in words.GROUNDS and texts:
        search.ignore(column, ": it does not say who has the side")
    return None


UNNAMED = re.compile(r"(unnamed:?\d*|column\d+|at|@)?")  # as tools call a column without a name


def _away_sign(search: Search) -> int | None:
    """Return the column, without a name of its own, that has @ where the first was away."""
    free = [i for i in search.free() if UNNAMED.fullmatch(search.plain[i])]
    cells = {i: {text.strip().casefold() for text in search.facts.texts(i)} - {""} for i in free}
    found = [i for i, signs in cells.items() if "@" in signs <= {"@", "n", "vs", "vs."}]
    return found[0] if len(found) == 1 else None
