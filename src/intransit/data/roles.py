"""Which column plays which role: as the user says, else by its name, else by what it holds.

The two items of a game are recognised by the words in their names, or by what they share.  Where
two columns could play a role and nothing decides, the table is refused with the options.
"""

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from intransit.data import outcomes
from intransit.data import vocabulary as words
from intransit.data.engine import Facts, quote, short_names
from intransit.data.games import TimeColumn
from intransit.data.outcomes import Meaning, is_switch, number, read_outcomes, read_switch
from intransit.data.reading import BY_SHAPE, Column, ReadOptions, how_to_say
from intransit.data.vocabulary import CLEAR, ENOUGH, MARKERS, WINNERS, Marker, Pair, plain
from intransit.errors import InputError

Sided = dict[int, dict[str, float]]  # columns that tell of each side if it won, and what they mean


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
    sided: Sided | None = None  # instead of an outcome
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
        more = (self.side, self.away_sign, self.neutral, self.count, self.weight)
        several = (*(self.scores or ()), *self.by, *self.unplayed, *(self.drawn or ())[:1])
        told = self.sided or ()
        ids = (self.meaning and self.meaning.items) or ()
        return {i for i in (*single, *more, *several, *told, *ids) if i is not None}


class Search:
    """Roles chosen one after the other; later choices know the earlier ones."""

    def __init__(self, facts: Facts, options: ReadOptions) -> None:
        self.facts = facts
        self.names = facts.names
        self.plain = facts.plain
        self.refuse, self.listed = facts.refuse, facts.listed
        self.options = options
        self.wanted = options.columns
        self.named = {role: self._find(role) for role in self.wanted}
        by = tuple(facts.column(name, "by") for name in options.by)
        self.roles = Roles(by=by)
        self.beside: list[Pair] = []  # numbers called as items are, beside their names
        self.moments: dict[tuple[int, bool], TimeColumn] = {}  # columns as times, with any names

    def _find(self, role: str) -> int | None:
        name = self.wanted[role]
        if name is None or name is False or (role == "side" and name in {"first", "second"}):
            return None
        return self.facts.column(str(name), role)

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
        return BY_SHAPE if role in self.options.made else "named"

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


SHORT = {("blue", "red"): ("b", "r"), ("r", "b"): ("red", "blue"), ("home", "away"): ("h", "a")}


def find_sided(search: Search) -> Sided | None:
    """Return columns that tell of each side whether it won, as white_result does, or None."""
    free, facts = set(search.free()), search.facts
    for marker in _own_markers(search):
        for pair in words.pairs_by(search.plain, marker, words.tells):
            both = {i: outcomes.of_one_side(facts.texts(i)) for i in (pair.first, pair.second)}
            if both.keys() <= free and all(facts.share(i, both[i]) >= CLEAR for i in both):
                return both
    return None


def of_first(search: Search, column: int, called: re.Pattern[str]) -> bool:
    """Return whether a column is called so of the first side, as in radiant_win and share_a."""
    rests = (words.stem(search.plain[column], marker.first) for marker in _own_markers(search))
    return any(rest is not None and called.fullmatch(rest) for rest in rests)


def _adds_up(search: Search, column: int) -> bool:
    """Return whether the rate of the second, if there is one, is the rest: else they are of old."""
    x, names = search.facts.number(column), search.plain
    others = [
        other
        for marker in _own_markers(search)
        for other, name in enumerate(names)
        if words.stem(name, marker.second) == words.stem(names[column], marker.first) is not None
    ]
    sums = [f"{x} + {search.facts.number(other)}" for other in others]
    tests = [f"abs({s} - 1) <= 0.02 OR abs({s} - 100) <= 2" for s in sums]
    n_rows, *whole = search.facts.count(*tests)
    return not others or max(whole) >= CLEAR * n_rows


def _own_markers(search: Search) -> list[Marker]:
    """Return what tells the two items apart in their own names, and these names: team_a_won."""
    first, second = (
        plain(name).removesuffix("name").removesuffix("team") for name in search.headers
    )
    ends = (k for k in range(1, len(first) - 1) if second[1:].endswith(first[k:]))
    if end := next(ends, 0):  # rikishi1, of rikishi1_shikona
        first, second = first[:end], second[: end - len(first)]
    found = [
        marker
        for marker in MARKERS
        if words.stem(first, marker.first) is not None
        and words.stem(second, marker.second) is not None
    ]
    pairs = [(marker.first, marker.second) for marker in found]
    short = [Marker(*SHORT[pair], bare=False) for pair in pairs if pair in SHORT]
    return [*found, *short, *([Marker(first, second, bare=False)] if first != second else ())]


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
    pairs = pairs or words.name_pairs([n.removesuffix("name") or n for n in names], MARKERS)
    if not pairs:
        from intransit.data.unnamed_items import alike, marked, same_name  # noqa: PLC0415

        same, ends = alike(search.facts, free), marked(search.facts, free)
        places = [{pair.first, pair.second} for pair in same]
        both = [pair for pair in ends if {pair.first, pair.second} in places]
        pairs = both if len(both) == 1 else same or ends
        why = "the two columns share their values" if pairs is same else why
        pairs = pairs or same_name(search.facts, free)
    if len(pairs) > 1:  # Home Team and Away Team beside Home and Away, which are goals
        numeric = [p for p in pairs if all(map(search.facts.looks_numeric, (p.first, p.second)))]
        mixed = {i for p in pairs for i in (p.first, p.second) if search.facts.looks_numeric(i)}
        texts = [p for p in pairs if not {p.first, p.second} & mixed]
        pairs = texts if len(texts) == 1 else pairs
        search.beside = numeric if len(texts) == 1 else []
        tokens = {pair: words.tokens_of(search.names[pair.first]) for pair in pairs}
        pairs = [p for p in pairs if not words.ATTRIBUTES & {*tokens[p]}] or pairs
        one = max(pairs, key=lambda pair: pair.marker.sided)
        pairs = [one] if _by_other_names(search, pairs) else pairs
        met = [p for p in pairs if search.facts.sample(p.first) & search.facts.sample(p.second)]
        pairs = met if len(met) == 1 else pairs  # of player, team and opponent the last two
    if len(pairs) == 1:
        return pairs[0], why
    if pairs:
        raise _question("several_pairs", search.facts, pairs, f"name the items; {HOW_TO_NAME}")
    raise _question("nobody_met", search.facts, search.free(), HOW_TO_NAME)


def _by_other_names(search: Search, pairs: list[Pair]) -> bool:
    """Return whether all pairs name the same items: MIN and Vikings in home_team_name."""
    one, facts, plain_of = pairs[0], search.facts, search.plain
    same = [(i, j) for p in pairs for i, j in ((one.first, p.first), (one.second, p.second))]
    other = [(i, j) for i, j in same if len({plain_of[k].removesuffix("name") for k in (i, j)}) > 1]
    unlike = " OR ".join(f"{facts.text(i)} <> {facts.text(j)}" for i, j in other) or "false"
    columns = {j for _, j in same}
    return len({plain_of[j] for j in columns}) == len(columns) and not facts.count(unlike)[1]


def choose_outcome(search: Search) -> None:
    """Choose the column that says who won, and what its cells mean."""
    roles = search.roles
    if roles.winner_first:
        roles.tie, roles.drawn = _tie(search, TIED), _told_draws(search)
        return
    role = "winner" if search.named["winner"] is not None else "outcome"
    if search.named[role] is not None:
        roles.outcome = search.named[role]
        roles.meaning, why = _meaning(search, search.named[role] or 0), search.why(role)
        if not roles.meaning.understood:
            raise _question("strange_outcomes", search.facts, search.named[role] or 0)
    elif search.wanted["outcome"] is not False:
        roles.outcome, roles.meaning, why = _recognised_outcome(search)
        if roles.outcome is None and roles.scores is None and roles.margin is None:
            roles.sided = find_sided(search)
    if roles.sided is not None:
        for side, column in zip(("first", "second"), roles.sided, strict=True):
            search.tell(f"{side} won", column, "by its name")
        roles.tie = _tie(search, re.compile(r"(winner|label|result)?(tie|draw|tied|drawn)"))
    elif roles.outcome is not None and roles.meaning is not None:
        _check_order(search, roles.outcome, roles.meaning)
        search.tell("outcome", roles.outcome, f"{why}; {roles.meaning.why}")
        roles.tie, roles.drawn = _tie(search, TIED), _told_draws(search)


SWAPPED, TIED = re.compile("swap|flip|reversed"), re.compile("|".join(words.TIES))


def _check_order(search: Search, column: int, told: Meaning) -> None:
    """Refuse score lines beside Away and Home, or red and blue: nobody says whose comes first.

    A player tells a game as the player sees it, wherever the opponent stands.  Refused are also
    verdicts in words on two whose places were swapped in some rows, and bets that were won.
    """
    roles, facts = search.roles, search.facts
    items, texts = (roles.first, roles.second), facts.texts(column)
    own = roles.marker is not None and roles.marker.second in words.OPPONENTS
    flag = search.plain[column] in {"won", "win", words.LAST_FLAG} and is_switch(texts)
    free = search.free() if told.kind == "words" and search.named["outcome"] is None else []
    for i in free:
        if SWAPPED.search(search.plain[i]) and len({*read_switch(facts.texts(i)).values()}) == 2:
            raise _question("whose_places", facts, column, i)
    strange = {plain(text) for text in {*texts} - {*told.values}}
    if any(search.plain[i] in strange and facts.sample(i) & facts.sample(items[0]) for i in free):
        raise _question("strange_outcomes", facts, column)  # a third player won
    if free and not own and (flag or outcomes.is_own(texts)):
        sided = roles.marker is not None and roles.marker.sided
        if error := _question("whose_result", facts, column, free, items, sided):
            raise error
    turned = roles.first > roles.second and not own and search.named["first"] is None
    if turned and told.why.startswith(outcomes.SCORES) and roles.scores is None:
        raise _question("whose_score", facts, column, roles.first, roles.second)


def _tie(search: Search, called: re.Pattern[str]) -> int | None:
    """Return the column that says yes where nobody won, beside those that tell who did."""
    if search.wanted.get("tie") is False:
        return None
    found = [i for i in search.free() if called.fullmatch(search.plain[i])]
    facts, texts = search.facts, search.facts.texts(found[0]) if len(found) == 1 else ()
    items = facts.sample(search.roles.first) | facts.sample(search.roles.second)
    named = {text.strip() for text in texts} - {"", "NA"}  # who shared it with the winner
    if not is_switch(texts) and not (named and named <= items):
        return None
    search.tell("tie", found[0], "by its name")
    return found[0]


def _recognised_outcome(search: Search) -> tuple[int | None, Meaning | None, str]:
    for vocabulary in (words.OUTCOMES, words.SHARES):
        named = [i for i in search.free() if search.plain[i] in vocabulary]
        if not named:
            called = words.FLAG if vocabulary is words.OUTCOMES else words.RATE
            named = [i for i in search.free() if of_first(search, i, called)]
            named = [i for i in named if called is words.FLAG or _adds_up(search, i)]
            if not named and search.roles.scores is None and search.roles.margin is None:
                named = [i for i in search.free() if search.plain[i] == words.LAST_FLAG]
        told = {i: _meaning(search, i) for i in named}
        clear = [i for i in named if told[i].understood >= ENOUGH]
        in_words = [i for i in clear if not told[i].margins]
        if len(in_words) == 1:  # scores beside it may be of the first, or of whoever won
            for i in set(clear) - set(in_words):
                search.ignore(i, f': "{search.names[in_words[0]]}" says who won')
            clear = in_words
        if len(clear) > 1:
            clear = _that_agree(search, clear, told)
        if clear:
            return clear[0], told[clear[0]], "by its name"
        if named and search.roles.scores is None and search.roles.margin is None:
            raise _question("strange_outcomes", search.facts, named[0])
        if search.roles.scores is not None or search.roles.margin is not None:
            return None, None, ""
    texts = [i for i in search.free() if search.facts.is_text(i)]
    texts = [i for i in texts if not words.NO_RESULT.fullmatch(search.plain[i])]
    told = {i: _meaning(search, i) for i in search.facts.often_filled(texts)}
    telling = [i for i in told if _decides(told[i], search.plain[i])]
    clear = [i for i in telling if told[i].understood >= CLEAR]
    # Two verdicts on one game, of which one is not always given, are still two.
    rivals = [i for i in telling if told[i].understood >= ENOUGH]
    if clear and len(rivals) > 1:
        if find_sided(search) is not None:  # one for each side
            return None, None, ""
        raise search.two("outcome", rivals)
    return (clear[0], told[clear[0]], "by what it holds") if clear else (None, None, "")


def _that_agree(search: Search, columns: list[int], told: dict[int, Meaning]) -> list[int]:
    """Return the one that names the winner of several columns that never contradict each other."""
    if any(told[i].kind == "names" for i in columns):  # won or drawn, beside who won
        who = {i for i in columns if 0.0 in told[i].values.values() or told[i].kind == "names"}
        columns = [i for i in columns if i in who or "won" not in map(str.lower, told[i].values)]
    ways = {i: _won_sql(search, i, told[i]) for i in columns}
    for i, j in itertools.combinations(columns, 2):
        pairs = [(x, y) for k, x in enumerate(ways[i]) for m, y in enumerate(ways[j]) if k != m]
        against = " OR ".join(f"({x} AND {y})" for x, y in pairs)
        if told[i].margins or told[j].margins or search.facts.count(against)[1]:
            raise search.two("outcome", columns)
    taken = max(columns, key=lambda i: (told[i].kind == "names", told[i].understood, -i))
    for i in {*columns} - {taken}:
        search.ignore(i, f': it says the same as "{search.names[taken]}"')
    return [taken]


def _told_draws(search: Search) -> tuple[int, tuple[str, ...]] | None:
    """Return a column such as the status of a game of chess, and its words that tell draws."""
    for column in search.free():
        if search.plain[column] in words.STATUSES | words.OF_RESULTS:
            drawn = outcomes.draws_in(search.facts.texts(column), search.roles.winner_first)
            if drawn:
                return column, drawn
    return None


def _decides(told: Meaning, name: str) -> bool:
    """Return whether words tell outcomes; a column of nothing but T does not tell ties.

    Names of one of the two may say who scored or served, unless a column speaks of a choice.
    """
    ties_only = told.kind == "words" and set(told.values.values()) <= {0.5}
    called = words.CALLED.fullmatch(words.ID.sub("", name)) is not None
    if words.ANSWERED.fullmatch(name):  # which of the two, and neither yes nor 1
        said = {text.strip().casefold() for text in told.values}
        called = not said & (outcomes.YES | outcomes.NO)
    return (called or (told.in_words and told.kind != "names")) and not ties_only


def _meaning(search: Search, column: int) -> Meaning:
    """Return what a column says as an outcome: words and numbers, or names of the items."""
    facts, roles = search.facts, search.roles
    headers = search.headers
    cells = facts.values(column)
    comma = facts.table.decimal_comma
    name, grades = search.plain[column], search.options.grades
    graded = name in words.PREFERENCES
    rated = name in words.SHARES or of_first(search, column, words.RATE)
    prefer = name in words.WINNER_WORDS or column == search.named["winner"]
    names_one = prefer or name in {"preference", "preferred", "choice", "chosen"}
    names_one = names_one or name.startswith("better")
    if roles.marker is not None and roles.marker.first == "0":
        names_one = names_one or graded
    texts = [text.strip() for text, _ in cells or []]
    if name in words.OUTCOMES and any(map(outcomes.MANGLED.fullmatch, texts)):
        raise search.refuse(
            f'"{search.names[column]}" holds dates such as 02-Jan among its scores, which a '
            "spreadsheet makes of 2-1; write the scores again, as text."
        )
    told = read_outcomes(
        cells or [], headers, roles.marker, comma, grades=grades, graded=graded, rated=rated,
        names_one=names_one, by_hand=column == search.named["outcome"],
    )  # fmt: skip
    if not rated and of_first(search, column, words.FLAG):
        found = {number(text, comma) for text in texts} - {None, 0.0, 0.5, 1.0}
        sided = roles.marker is not None and roles.marker.sided  # home_win is a chance
        if any(x is not None and (x > 1 or (sided and x > 0)) for x in found):
            return Meaning("words", "numbers of games", 0.0)  # 2 is no name of the second
    if told.understood == 1.0 and (grades or not (prefer or _all_name_items(search, told))):
        return told
    return _name_or_word(search, column, told, prefer=prefer)


def _name_or_word(search: Search, column: int, told: Meaning, *, prefer: bool) -> Meaning:
    """Return a column's names of items as its meaning, or what it means as words if that is more.

    Where both are complete and contradict each other, A may be an item, or the column of one.
    """
    facts, roles, cells = search.facts, search.roles, search.facts.values(column)
    x, ways = facts.number(column), [(roles.first, roles.second), *_ids(search, column)]
    _, filled, shares, *named = facts.count(
        facts.filled(column),
        f"{x} BETWEEN 0 AND 1",
        *(facts.names_one_of(column, items) for items in ways),
    )
    names = max(named)
    items = ways[named.index(names)]
    if not filled:
        return Meaning("words", "empty", 0.0)
    if cells is None and shares > names:
        return Meaning("shares", "share of games that the first won", shares / filled)
    ties = {
        text: value for text, value in told.values.items() if value == 0.5 and number(text) is None
    }
    by_name = (names + sum(count for text, count in cells or () if text in ties)) / filled
    own = Meaning(
        "names", "the winner's name", by_name, ties, both_bad=told.both_bad, in_words=True,
        items=None if items == ways[0] else items,
    )  # fmt: skip
    if not names or by_name < told.understood:
        return told
    numbered = prefer and None not in map(number, told.values) and column != search.named["winner"]
    if by_name == told.understood and (numbered or not prefer):
        words_say, names_say = (_won_sql(search, column, meaning) for meaning in (told, own))
        against = (words_say[0], names_say[1]), (words_say[1], names_say[0])
        if not facts.count(" OR ".join(f"({x} AND {y})" for x, y in against))[1]:
            return told
        marks = {roles.marker.first, roles.marker.second} if roles.marker else set()
        if numbered or {text.strip().casefold() for text in told.values} & marks:
            return Meaning("words", "names of items, or of their columns", 0.0)
    return own


def _ids(search: Search, column: int) -> list[tuple[int, int]]:
    """Return columns such as player1_id and player2_id, for a column such as winner_id."""
    end, marker = words.ID.search(search.plain[column]), search.roles.marker
    if end is None or marker is None:
        return []
    found = words.pairs_by(search.plain, marker, lambda rest: rest.endswith(end[0]))
    pairs = [(pair.first, pair.second) for pair in found]
    return [pair for pair in pairs if not {*pair} & {column, search.roles.first}]


def _all_name_items(search: Search, told: Meaning) -> bool:
    """Return whether all that a column says, but for ties, are names of items too: 1, 2, A, B."""
    said = {text.strip() for text, value in told.values.items() if value != 0.5}
    said |= {t.strip() for t, value in told.values.items() if value == 0.5 and number(t)}
    facts, roles = search.facts, search.roles
    return bool(said) and said <= facts.sample(roles.first) | facts.sample(roles.second)


def _question(name: str, *about: Any) -> InputError:
    from intransit.data import questions  # noqa: PLC0415  for refused tables

    return getattr(questions, name)(*about)  # type: ignore[no-any-return]


MOST_AGAINST = 0.05  # share of rows in which a winner may have fewer
MOST_LEVEL = 0.25  # share of rows in which a shoot-out may have decided
TELLING = ("sets", "games", "score", "goals", "runs")  # before points, which may be of a ranking


def choose_scores(search: Search) -> None:
    """Choose the columns with the two scores."""
    named = search.named["first_score"], search.named["second_score"]
    if (named[0] is None) != (named[1] is None):
        raise search.refuse(f"name both scores: {how_to_say('first_score', 'second_score')}.")
    if named[0] is not None and named[1] is not None:
        search.roles.scores = (named[0], named[1])
    elif search.wanted["first_score"] is not False:
        free = set(search.free())
        pairs = words.score_pairs(search.plain, WINNERS if search.roles.winner_first else MARKERS)
        pairs = [pair for pair in pairs if {pair.first, pair.second} <= free]
        same = [pair for pair in pairs if pair.marker == search.roles.marker]
        pairs = same if len(same) == 1 else pairs
        if not pairs and not search.roles.winner_first:
            own = words.score_pairs(search.plain, tuple(_own_markers(search)))
            own = [pair for pair in own if {pair.first, pair.second} <= free]
            pairs = own or _beside_items(search) or _bare_scores(search)
        if search.roles.winner_first:
            pairs = _of_winners(search, pairs)
        names = {pair: search.plain[pair.first].replace("scored", "") for pair in pairs}
        ways = (
            ("what counts in larger parts decides", _in_largest_parts(search, pairs)),
            ("others are called scores", [pair for pair in pairs if "score" in names[pair]]),
            ("others tell the same", _goals_beside_points(search, pairs)),
            ("the margin is of others", _of_margin(search, pairs)),
        )
        why, kept = next(((w, k) for w, k in ways if len(k) == 1 < len(pairs)), ("", pairs))
        for pair in (pair for pair in pairs if pair not in kept):
            _leave_scores(search, pair, why)
        pairs = kept
        if len(pairs) > 1:
            how = how_to_say("first_score", "second_score", none="first_score")
            said = f"be the scores; name them with {how}."
            raise _question("several_pairs", search.facts, pairs, said)
        search.roles.scores = (pairs[0].first, pairs[0].second) if pairs else None
    for column in search.roles.scores or ():
        ends = [text.strip().partition(".")[2] for text in search.facts.texts(column)]
        if any(re.fullmatch(r"\d+0", end) for end in ends) and len({*map(len, ends)} - {0}) > 1:
            raise search.refuse(
                f'"{search.names[column]}" has scores such as 10.20 beside 11.3; write their sums.'
            )
    for column, role in zip(search.roles.scores or (), ("first", "second"), strict=False):
        search.tell(f"{role} score", column, search.why(f"{role}_score"))
    shoot_outs = [i for i in search.free() if words.SHOOT_OUT.search(search.plain[i])]
    if search.roles.scores is not None and shoot_outs:
        search.roles.notes.append(
            f"{search.listed(shoot_outs[:2], ' and ')} are not used: a game that a shoot-out "
            "decided counts by its score"
        )


PARTS = re.compile("set|satz|spiel|matchp")  # a match has sets, a team's evening has matches


def _in_largest_parts(search: Search, pairs: list[Pair]) -> list[Pair]:
    """Return those of sets and of matches that nobody has fewer of: 9:4, and not 30:18 sets."""
    found = [pair for pair in pairs if PARTS.search(search.plain[pair.first])]
    both = [(search.facts.number(p.first), search.facts.number(p.second)) for p in found]
    more = [" OR ".join(f"{x} > {a} OR {y} > {b}" for a, b in both) for x, y in both]
    return [pair for pair, test in zip(found, more, strict=True) if not search.facts.count(test)[1]]


def _of_margin(search: Search, pairs: list[Pair]) -> list[Pair]:
    """Return those that are as far apart as the margin says."""
    found = [i for i in search.free() if search.plain[i] in words.MARGINS]
    return [pair for pair in pairs if len(found) == 1 and not _apart(search, found[0], pair)[1]]


def _apart(search: Search, margin: int, pair: Pair) -> list[int]:
    """Return in how many rows there is a margin, and in how many it is not that of the scores."""
    x, ours, theirs = map(search.facts.number, (margin, pair.first, pair.second))
    apart = f"abs(abs({x}) - abs({ours} - {theirs})) > 1e-6"  # runs, or wickets
    return search.facts.count(search.facts.filled(margin), apart)[1:]


def _goals_beside_points(search: Search, pairs: list[Pair]) -> list[Pair]:
    """Return the pair of goals beside points of a league, where these never say otherwise."""
    x, names = search.facts.number, search.plain
    others = [pair for pair in pairs if not re.search("points|pts", names[pair.first])]
    signs = [f"sign({x(pair.first)} - {x(pair.second)})" for pair in pairs]
    unlike = (len(pairs), len(others)) != (2, 1) or search.facts.count(" <> ".join(signs))[1]
    return [] if unlike else others


def _bare_scores(search: Search) -> list[Pair]:
    """Return numbers called Home and Away beside Home Team and Away Team, unless they are odds."""
    if {"draw", "tie", "x"} & set(search.plain):
        return []
    numbers = {p: map(search.facts.number, (p.first, p.second)) for p in search.beside}
    odd = {p: " OR ".join(f"{x} <> round({x}) OR {x} < 0" for x in xs) for p, xs in numbers.items()}
    return [pair for pair, test in odd.items() if not search.facts.count(test)[1]]


def _beside_items(search: Search) -> list[Pair]:
    """Return two columns of one name in the order of the items: Visitor, PTS, Home, PTS."""
    turned = search.roles.first > search.roles.second
    for word in words.SCORES | {"g", "r", "t", "w", "frames", "legs", "maps", "votes"}:
        found = words.twins(search.plain, search.free(), word)
        behind = {search.roles.first + 1, search.roles.second + 1}
        if found and (len(word) > 1 or {*found} == behind):
            return [Pair(MARKERS[0], *(reversed(found) if turned else found))]
    return []


def _of_winners(search: Search, pairs: list[Pair]) -> list[Pair]:
    """Return the pair in which winners have more: points of a ranking are no scores of a game."""
    kept: list[Pair] = []
    order = sorted(pairs, key=lambda p: [word not in search.plain[p.first] for word in TELLING])
    for pair in order:
        ours, theirs = search.facts.number(pair.first), search.facts.number(pair.second)
        _, filled, fewer = search.facts.count(f"{ours} <> {theirs}", f"{ours} < {theirs}")
        kept += [pair] if not kept and fewer <= MOST_AGAINST * filled else []
    for pair in (pair for pair in order if pair not in kept):
        _leave_scores(search, pair, "others are taken" if kept else "winners often have fewer")
    return kept


def _leave_scores(search: Search, pair: Pair, why: str) -> None:
    search.roles.notes.append(
        f"{search.listed([pair.first, pair.second], ' and ')} are not used as scores: {why}; name "
        f"scores with {how_to_say('first_score', 'second_score')}"
    )


def _doubt_scores(search: Search) -> None:
    """Leave out scores, recognised by their names, that another column often contradicts."""
    roles, facts = search.roles, search.facts
    if roles.scores is None or roles.outcome is None or roles.meaning is None:
        return
    if search.named["first_score"] is not None or roles.meaning.kind == "shares":
        return
    ours, theirs = (facts.number(column) for column in roles.scores)
    *won, drawn = _won_sql(search, roles.outcome, roles.meaning)
    decided, differ = f"({' OR '.join(won)})", f"{ours} <> {theirs}"
    _, n_told, filled, against, level, strange = facts.count(
        f"{differ} IS NOT NULL",
        f"{decided} AND {differ}",
        f"({won[0]} AND {ours} < {theirs}) OR ({won[1]} AND {ours} > {theirs})",
        f"({decided} AND {ours} = {theirs}) OR ({drawn} AND NOT {decided} AND {differ})",
        " OR ".join(f"({facts.filled(i)} AND {facts.number(i)} IS NULL)" for i in roles.scores),
    )
    if against > MOST_AGAINST * filled or level > MOST_LEVEL * n_told or strange > n_told:
        why = "they are no numbers" if strange > n_told else "winners often have no more"
        _leave_scores(search, Pair(MARKERS[0], *roles.scores), why)
        roles.columns = [column for column in roles.columns if not column.role.endswith(" score")]
        roles.scores = None


def _doubt_margin(search: Search, column: int) -> str:
    """Return why a margin is none, if it is not; one never below 0 may be the winner's lead."""
    roles, facts, x = search.roles, search.facts, search.facts.number(column)
    if roles.scores is not None and search.named["margin"] is None:
        filled, unlike = _apart(search, column, Pair(MARKERS[0], *roles.scores))
        if unlike > MOST_AGAINST * filled:
            return ": it is not how far the scores are apart"
    if roles.outcome is None or roles.meaning is None:
        return ""
    won, lost, _ = _won_sql(search, roles.outcome, roles.meaning)
    less, more = (f"{x} {sign} 0 AND isfinite({x})" for sign in "<>")
    tests = less, f"{lost} AND {more}", f"{won} AND {less}", facts.filled(column)
    _, below, against, behind, filled = facts.count(*tests)
    often = max(MOST_AGAINST * filled, 1)  # one row alone may be an error
    if search.named["margin"] is None and below and against + behind > often:
        return ": winners often have less than 0"  # as of ratings before
    if against and not below:
        roles.margin_of_winner = True
        roles.notes.append(
            f'"{search.names[column]}" is never below 0, so taken as the lead of the winner'
        )
    return ""


def _won_sql(search: Search, column: int, meaning: Meaning) -> list[str]:
    """SQL: whether a column says that the first won, that the second did, and that none did."""
    roles, facts = search.roles, search.facts
    won = []
    items = meaning.items or (roles.first, roles.second)
    for item, outcome in zip((*items, -1), (1.0, 0.0, 0.5), strict=True):
        told = [quote(text.strip()) for text, value in meaning.values.items() if value == outcome]
        if meaning.kind == "names" and item >= 0:
            won.append(facts.names_one_of(column, (item,), items))
        else:
            won.append(f"{facts.text(column)} IN ({', '.join(told) or 'NULL'})")
    return won


def choose_margin(search: Search) -> None:
    """Choose the column that says by how much the first was ahead."""
    column = search.one("margin", words.MARGINS)
    if column is not None and not search.facts.count(search.facts.filled(column))[1]:
        search.roles.notes.append(f'the column "{search.names[column]}" is empty')
        column = None
    by_name = search.named["margin"] is None
    if column is not None and by_name and not search.facts.looks_numeric(column):
        search.ignore(column, ": it holds no numbers")
        column = None
    search.roles.margin = column
    if column is not None:
        search.tell("margin", column, f"{search.why('margin')}, first minus second")


MOST_GAMES = 20  # that somebody wins in one match; beyond, they were played before
OF_ONE_GAME = re.compile("legs|frames|maps")
HIGHEST_RATING = 10  # of answers; beyond, they may be of players, before the game


def _choose_last_scores(search: Search) -> None:
    """Choose columns with the games that each won, or with a rating of each, and say so."""
    if search.wanted["first_score"] is False:
        return
    pairs = words.pairs_called(search.plain, *words.LAST_SCORES)
    free = set(search.free())
    pairs = [pair for pair in pairs if {pair.first, pair.second} <= free]
    if len(pairs) != 1:
        return
    if pairs[0].marker.sided and not OF_ONE_GAME.search(search.plain[pairs[0].first]):
        return  # home_games were played before
    scores = pairs[0].first, pairs[0].second
    x, y = (search.facts.number(i) for i in scores)
    limit = HIGHEST_RATING if "rating" in search.plain[scores[0]] else MOST_GAMES
    _, high = search.facts.count(f"greatest(abs({x}), abs({y})) > {limit}")
    if high or not all(search.facts.looks_numeric(i) for i in scores):
        return
    search.roles.scores = scores
    what = "ratings of the two" if limit == HIGHEST_RATING else "games won by each"
    search.roles.notes.append(
        f"nothing else says who won: {search.listed(list(scores), ' and ')} are taken as {what}, "
        "and the higher as the better"
    )
    for column, role in zip(scores, ("first", "second"), strict=True):
        search.tell(f"{role} score", column, "by its name")


def settle_scores(search: Search) -> None:
    """Leave out scores that the outcome contradicts; refuse a table that does not say who won."""
    roles = search.roles
    if roles.winner_first:
        return
    _doubt_scores(search)
    if roles.margin is not None and (why := _doubt_margin(search, roles.margin)):
        search.ignore(roles.margin, why)
        roles.columns = [column for column in roles.columns if column.role != "margin"]
        roles.margin = None
    if (roles.sided, roles.outcome, roles.scores, roles.margin) == (None,) * 4:
        _choose_last_scores(search)
        if roles.scores is None:
            raise search.refuse(
                f"no column of {search.listed()} says who won; name it with outcome=, winner=, "
                "margin=, or first_score= and second_score= (command line: --outcome and so on)."
            )


CHOICES = (choose_items, choose_scores, choose_margin, choose_outcome, settle_scores)  # in order
