"""From roles to a query that judges every row, and from it to games, equal rows added up.

Names and outcomes are looked up by joins with the lists of their distinct values.  A row either
has all it needs or carries the number of a reason; the reasons are counted in the same query.

Rows are then packed into whole numbers, in their order: sorting these takes a tenth of the time in
which an engine groups and sorts rows, which it does where times or outcomes do not fit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from intransit.arrays import IntArray, n_distinct
from intransit.data import games as games_module
from intransit.data import vocabulary as words
from intransit.data.engine import N_SAME, SHOWN, Engine, Facts, quote
from intransit.data.games import Clock, Covariate, Games
from intransit.data.outcomes import read_sides, read_switch
from intransit.data.reading import ROW_LIMITS, Reading, RowLimits, Unused, quoted
from intransit.data.roles import Roles
from intransit.data.vocabulary import MOST_VALUES, plain

NOBODY = "'-', '–', '—', 'none', 'nobody', 'no winner', 'na', 'n/a', 'null', 'nan'"  # won
NAMED = 5  # strange values that get a reason of their own
ONE_GAME, NO_TIME = "1.0::DOUBLE", "0.0::DOUBLE"  # SQL
KEYS = ("time", "first", "second", "outcome", "margin", "side")


@dataclass
class Query:
    """The query as it grows: what is joined, what is computed, why a row cannot be used."""

    facts: Facts
    joins: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)  # WHEN ... THEN ..., the first that holds wins
    names: list[str] = field(default_factory=list)
    raw_names: list[str] = field(default_factory=list)
    by: list[Covariate] = field(default_factory=list)  # still without codes
    limits: RowLimits = ROW_LIMITS
    whole_times: bool = True  # whether all times are whole numbers, known beforehand
    whole_halves: bool = False  # whether all outcomes are 1, 0 or 0.5, known beforehand

    @property
    def single(self) -> bool:
        """Whether every row is one game."""
        return self.columns["count"] == ONE_GAME

    @property
    def timeless(self) -> bool:
        """Whether the table has no times."""
        return self.columns["time"] == NO_TIME

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns in which rows must agree to be counted together."""
        return (*KEYS, *(f"by{k}" for k in range(len(self.by))))

    def covariates(self, arrays: dict[str, Any]) -> tuple[Covariate, ...]:
        """Take the codes of the covariates out of the arrays, unseen values left out."""
        filled = [
            replace(covariate, codes=np.asarray(arrays.pop(f"by{k}"), dtype=np.int64))
            for k, covariate in enumerate(self.by)
        ]
        return tuple(games_module.without_unseen(covariate) for covariate in filled)

    def reject(self, test: str, reason: str) -> None:
        """Leave out rows for which the test holds, for this reason."""
        self.tests.append(f"WHEN {test} THEN {self.reason(reason)}")

    def reason(self, sentence: str) -> int:
        """Return the number of a reason."""
        if sentence not in self.reasons:
            self.reasons.append(sentence)
        return self.reasons.index(sentence)

    def sql(self, rows: str, *, with_row: bool = False) -> str:
        """Return the judged rows: the columns and, where a row cannot be used, a reason."""
        listed = ", ".join(f"{sql} AS {name}" for name, sql in self.columns.items())
        n_same = "" if self.facts.table.grouping is None else f"t.{N_SAME}, "
        row = "t.row, " if with_row else n_same
        judged = f"SELECT {row}{listed} FROM {rows} AS t {' '.join(self.joins)}"
        return f"(SELECT *, CASE {' '.join(self.tests)} END AS reason FROM ({judged}))"


def build_query(
    facts: Facts, roles: Roles, both_bad: str, unplayed: str, limits: RowLimits
) -> Query:
    """Return the query for these roles."""
    query = Query(facts, limits=limits)
    for column, test in roles.unplayed.items():
        query.columns[f"unplayed_{column}"] = f"coalesce({test}, false)"
        counts = plain(facts.names[column]) not in words.EXCLUDED | {"valid", "isvalid"}
        why = "was not played" if counts else "does not count"
        query.reject(f"unplayed_{column}", f'"{facts.names[column]}" says that it {why}')
    _add_items(query, roles, byes=unplayed == "keep")
    _add_margin(query, roles)
    _add_outcome(query, roles, both_bad)
    if roles.margin_of_winner:
        outcome, margin = query.columns["outcome"], query.columns["margin"]
        query.columns["margin"] = f"CASE WHEN {outcome} < 0.5 THEN -({margin}) ELSE {margin} END"
    _add_time(query, roles)
    _add_side(query, roles)
    _add_counts(query, roles)
    _add_covariates(query, roles)
    return query


def _add_items(query: Query, roles: Roles, *, byes: bool) -> None:
    """Join the numbers of the items; byes, and totals on one side, are none unless wanted."""
    facts = query.facts
    both = (roles.first, roles.second)
    engine, raws = facts.engine, [*{text for i in both for text in facts.texts(i)}]
    if facts.cells is None:
        union = " UNION ALL ".join(f"SELECT {facts.raw(i)} AS raw FROM {facts.rows}" for i in both)
        found = engine.ask(f"SELECT DISTINCT raw FROM ({union}) WHERE raw IS NOT NULL")
        raws = [str(raw) for (raw,) in found]
    sums = {raw for raw in raws if not byes and len(raw) < 16 and plain(raw) in words.TOTALS}
    sums -= {*facts.texts(roles.first)} & {*facts.texts(roles.second)} if sums else sums
    free = sums | {raw for raw in raws if not byes and words.BYES.fullmatch(raw)}
    nobody = _no_names(raws)
    query.raw_names = raws
    query.names = sorted({raw.strip() for raw in raws if raw not in free | nobody} - {""})
    number = {name: i for i, name in enumerate(query.names)}
    numbers, flags = map(number.get, map(str.strip, raws)), (raw in free for raw in raws)
    items = engine.store_lists("raw VARCHAR, number INTEGER, free BOOLEAN", raws, numbers, flags)
    if free:
        query.columns["bye"] = "coalesce(first_item.free OR second_item.free, false)"
        query.reject("bye", f"a {'total' if sums else 'bye'} is no game")
    for role, column in (("first", roles.first), ("second", roles.second)):
        query.joins.append(
            f"LEFT JOIN {items} AS {role}_item ON {facts.raw(column)} = {role}_item.raw"
        )
        query.columns[role] = f"{role}_item.number"
        here = bool(nobody) and bool(nobody & set(facts.texts(column)))
        empty = " or says that there is none" if here else ""
        query.reject(f"{role} IS NULL", f'the name in "{facts.names[column]}" is empty{empty}')
    query.reject("first = second", "an item is compared with itself")


def _no_names(raws: list[str]) -> set[str]:
    """Return texts that stand where a name is not known; among short codes NA is a name."""
    bare = {raw: raw.strip() for raw in raws}
    missing = {raw for raw, word in bare.items() if word.casefold() in words.NO_NAMES}
    codes = all(len(word) < 4 and word.isupper() for word in bare.values() if word)
    return missing | {raw for raw, word in bare.items() if word == "NA" and not codes}


def _look_up(
    query: Query,
    role: str,
    column: int,
    told: Mapping[str, float],
    *,
    margins: Mapping[str, float] | None = None,
    why: Mapping[str, int] | None = None,
    called: str = "",
) -> str:
    """Join what the distinct cells of a column mean; return the SQL of the meaning.

    Texts in `why` are left out for that reason; if it is `called` anything, so are all others.
    """
    facts, engine = query.facts, query.facts.engine
    reasons = {**(_strange(query, called, column, set(told)) if called else {}), **(why or {})}
    texts = [*told, *(text for text in reasons if text not in told)]
    meanings = [list(map(part.get, texts)) for part in (told, margins or {}, reasons)]
    kinds = "raw VARCHAR, told DOUBLE, told_margin DOUBLE, told_why INTEGER"
    name, known = f"{role}_values", engine.store_lists(kinds, texts, *meanings)
    if facts.table.types[column] != "VARCHAR":
        known = engine.store(
            f"SELECT c{column} AS raw, told, told_margin, told_why FROM (SELECT DISTINCT c{column} "
            f"FROM {facts.rows}) JOIN {known} AS known ON {facts.raw(column)} = known.raw"
        )
    engine.run(f"CREATE TEMP VIEW {name} AS FROM {known}")
    query.joins.append(f"LEFT JOIN {name} ON t.c{column} = {name}.raw")
    if reasons:
        query.columns[f"{role}_why"] = f"{name}.told_why"
        query.tests.append(f"WHEN {role}_why IS NOT NULL THEN {role}_why")
    return f"{name}.told"


def _strange(query: Query, role: str, column: int, known: set[str]) -> dict[str, int]:
    """Return a reason for each text that is not understood, the commonest by their own words."""
    cells = query.facts.values(column) or []
    strange = sorted(
        (cell for cell in cells if cell[0] not in known and cell[0].strip()),
        key=lambda cell: (-cell[1], cell[0]),
    )
    why = {}
    for place, (text, _) in enumerate(strange):
        named = f"the {role} {quoted(text)} is not understood"
        other = f"other texts for the {role} are not understood"
        why[text] = query.reason(named if place < NAMED or len(strange) <= NAMED + 1 else other)
    return why


def _add_margin(query: Query, roles: Roles) -> None:
    facts = query.facts
    parts = {}
    if roles.scores:
        first, second = (facts.number(i) for i in roles.scores)
        parts["scored"] = f"{first} - {second}"
    if roles.margin is not None:
        parts["margin_told"] = facts.number(roles.margin)
    query.columns |= parts
    columns = [*(roles.scores or ()), *([] if roles.margin is None else [roles.margin])]
    for column in columns:
        value, name = facts.number(column), facts.names[column]
        flag = f"odd_{column}"
        query.columns[flag] = f"{facts.filled(column)} AND NOT coalesce(isfinite({value}), false)"
        query.reject(flag, f'"{name}" is not a finite number')
    if roles.scores and _tells_absence(facts, roles.scores):
        first, second = (facts.number(i) for i in roles.scores)
        query.columns["absent"] = f"coalesce({first} = -1, false) OR coalesce({second} = -1, false)"
        query.reject("absent", "a score of -1 says that a side did not appear")
    if len(parts) == 2:
        query.reject("abs(scored - margin_told) > 1e-9", "margin and scores disagree")
    if roles.meaning and roles.meaning.margins:
        parts["outcome_values.told_margin"] = ""
    listed = [f"({sql})" if sql else name for name, sql in parts.items()]
    if listed:
        query.columns["margin"] = f"coalesce({', '.join(listed)})"


def _tells_absence(facts: Facts, scores: tuple[int, int]) -> bool:
    """Return whether scores are -1 where a side was disqualified, as tournament tools write it."""
    numbers = [facts.number(i) for i in scores]
    below = " OR ".join(f"{x} < 0" for x in numbers)
    absent = " OR ".join(f"{x} = -1" for x in numbers)
    n_rows, n_below, n_absent = facts.count(below, absent)
    return 0 < n_absent == n_below and 2 * n_absent <= n_rows


def _add_outcome(query: Query, roles: Roles, both_bad: str) -> None:
    facts, told = query.facts, roles.meaning
    if roles.winner_first:
        tie = "0" if roles.tie is None else _add_switch(query, "tie", roles.tie)
        if roles.drawn is not None:
            tie = f"CASE WHEN {_draw_sql(facts, roles.drawn)} THEN 1 ELSE {tie} END"
        if "margin" in query.columns and facts.names[roles.first].casefold().endswith("/tie"):
            tie = "CASE WHEN margin = 0 THEN 1 ELSE 0 END"  # Winner/tie
        query.columns["outcome"] = f"CASE WHEN {tie} = 1 THEN 0.5 ELSE 1.0 END::DOUBLE"
        query.whole_halves = True
    elif roles.sided is not None:
        _add_sided_outcome(query, roles)
        query.whole_halves = True
        return
    elif told is None or roles.outcome is None:
        by_sign = "CASE WHEN margin > 0 THEN 1.0 WHEN margin < 0 THEN 0.0 WHEN margin = 0 THEN 0.5"
        query.columns["outcome"] = f"{by_sign} END::DOUBLE"
        what = "a score is" if roles.scores else "the margin is"
        query.reject("outcome IS NULL", f"{what} empty")
        query.whole_halves = True
        return
    elif told.kind == "shares":
        x, flag = facts.number(roles.outcome), facts.filled(roles.outcome)
        query.columns |= {"outcome": f"CASE WHEN {x} BETWEEN 0 AND 1 THEN {x} END", "given": flag}
        query.reject("NOT given", "the outcome is empty")
        query.reject("outcome IS NULL", "the outcome is not a share from 0 to 1")
    else:
        _add_told_outcome(query, roles, both_bad)
    if roles.tie is not None and not roles.winner_first:
        tie = f"{_add_switch(query, 'tie', roles.tie)} = 1"
        outcome, given = query.columns["outcome"], query.columns["given"]
        query.columns |= {
            "outcome": f"CASE WHEN {tie} THEN 0.5 ELSE {outcome} END::DOUBLE",
            "given": f"({given} OR {tie})",
        }
    if "margin" in query.columns and not (told and told.margins):
        sign = "CASE WHEN margin > 0 THEN 1 WHEN margin < 0 THEN 0 ELSE 0.5 END"
        shares = told is not None and any(v not in {0.0, 0.5, 1.0} for v in told.values.values())
        if not shares and not (told and told.kind == "shares"):
            named = (
                told is not None and plain(facts.names[roles.outcome or 0]) in words.WINNER_WORDS
            )
            level = " AND margin <> 0" if named else ""  # a shoot-out decided
            against = f"margin IS NOT NULL AND outcome <> {sign}{level}"
            query.reject(against, "outcome and margin disagree")


def _add_sided_outcome(query: Query, roles: Roles) -> None:
    """Tell the outcome from two columns, each of which says whether its side won."""
    assert roles.sided is not None
    won = [
        _look_up(query, f"{side}_won", column, told, called=f"{side}'s outcome")
        for side, (column, told) in zip(("first", "second"), roles.sided.items(), strict=True)
    ]
    tie = "0" if roles.tie is None else _add_switch(query, "tie", roles.tie)
    query.columns |= {
        "won_both": f"{won[0]} = 1 AND {won[1]} = 1",
        "outcome": f"CASE WHEN {won[0]} = 1 THEN 1.0 WHEN {won[1]} = 1 THEN 0.0 WHEN {tie} = 1 OR "
        f"{won[0]} = 0.5 OR {won[1]} = 0.5 THEN 0.5 END::DOUBLE",
    }
    query.reject("won_both", "both sides are said to have won")
    query.reject("outcome IS NULL", "neither side is said to have won")


def _add_told_outcome(query: Query, roles: Roles, both_bad: str) -> None:
    facts, told, column = query.facts, roles.meaning, roles.outcome
    assert told is not None and column is not None  # noqa: PT018
    bad = told.both_bad if both_bad == "drop" else ()
    why = {text: query.reason("both are called bad") for text in bad}
    called = "outcome" if told.kind == "words" else ""
    query.columns["given"] = facts.filled(column)
    query.reject("NOT given", "the outcome is empty")
    means = _look_up(
        query, "outcome", column, told.values, margins=told.margins, why=why, called=called
    )
    query.whole_halves = set(told.values.values()) <= {0.0, 0.5, 1.0}
    query.columns["outcome"] = means
    if told.kind == "names":
        items = told.items or (roles.first, roles.second)
        won, lost = (facts.names_one_of(column, (item,), items) for item in items)
        query.columns["outcome"] = (
            f"CASE WHEN {won} THEN 1.0 WHEN {lost} THEN 0.0 ELSE {means} END::DOUBLE"
        )
    # Nobody is named where nobody won, by the scores or by what another column says.
    draws = [] if roles.scores is None else ["coalesce(scored = 0, false)"]
    draws += [] if roles.drawn is None else [_draw_sql(facts, roles.drawn)]
    if draws:
        nobody = f"(NOT {facts.filled(column)} OR lower({facts.text(column)}) IN ({NOBODY}))"
        draw = f"(coalesce({nobody}, true) AND ({' OR '.join(draws)}))"
        query.columns |= {
            "given": f"({query.columns['given']} OR {draw})",
            "outcome": f"CASE WHEN {draw} THEN 0.5 ELSE {query.columns['outcome']} END::DOUBLE",
        }
    query.reject("outcome IS NULL", "the winner is neither of the two")


def _draw_sql(facts: Facts, told: tuple[int, tuple[str, ...]]) -> str:
    column, drawn = told
    return f"coalesce({facts.raw(column)} IN ({', '.join(map(quote, drawn))}), false)"


def _add_time(query: Query, roles: Roles) -> None:
    if roles.time is None or roles.moments is None:
        query.columns["time"] = NO_TIME
        return
    what = "date" if roles.moments.clock.kind == "date" else "finite number"
    query.columns["time"], query.whole_times = roles.moments.sql, roles.moments.whole
    if roles.moments.clock.names:
        what = "known period"
        query.columns["time"] = _look_up(query, "time", roles.time, roles.moments.values)
    query.columns["timed"] = query.facts.filled(roles.time)
    query.reject("NOT timed", "the time is empty")
    query.reject("time IS NULL", f"the time is not a {what}")


def _add_switch(query: Query, role: str, column: int) -> str:
    """Join a column of yes and no; return the SQL of its value."""
    texts = query.facts.texts(column)
    known = read_switch(texts) or {
        text: float(text.strip() != "NA") for text in texts if text.strip()
    }
    return f"coalesce({_look_up(query, role, column, known, called=role)}, 0)"


def _add_side(query: Query, roles: Roles) -> None:
    facts = query.facts
    if roles.side is not None:
        headers = facts.names[roles.first], facts.names[roles.second]
        flag = plain(facts.names[roles.side]) in words.SIDE_FLAGS
        known = read_sides(facts.texts(roles.side), headers, flag=flag)
        query.columns["side"] = _look_up(query, "side", roles.side, known, called="side")
        query.reject("side IS NULL", "the side is empty")
    elif roles.away_sign is not None:
        sign = f"lower({facts.text(roles.away_sign)})"
        query.columns["side"] = f"CASE {sign} WHEN '@' THEN -1.0 WHEN 'n' THEN 0.0 ELSE 1.0 END"
    elif roles.side_always is not None:
        query.columns["side"] = f"{roles.side_always}::DOUBLE"
    if roles.neutral is not None:
        neutral = _add_switch(query, "neutral", roles.neutral)
        query.columns["side"] = f"CASE WHEN {neutral} = 1 THEN 0.0 ELSE {query.columns['side']} END"


def _add_counts(query: Query, roles: Roles) -> None:
    facts, parts = query.facts, []
    for role, column in (("count", roles.count), ("weight", roles.weight)):
        if column is not None:
            query.columns[f"{role}_told"] = facts.number(column)
            parts.append(facts.number(column))
            fine = f"isfinite({role}_told) AND {role}_told > 0"
            query.reject(f"NOT coalesce({fine}, false)", f"the {role} is not a number above 0")
    query.columns["count"] = " * ".join(parts) or ONE_GAME


def _add_covariates(query: Query, roles: Roles) -> None:
    """Join the numbers of the values of further columns; an empty cell has none."""
    facts = query.facts
    for k, column in enumerate(roles.by):
        texts, name = facts.texts(column), facts.names[column]
        if facts.values(column) is None:
            raise facts.refuse(
                f'"{name}" (for by) has more than {MOST_VALUES:,} values; name a column with few, '
                "such as a surface or a format."
            )
        values = games_module.listed_in_order({text.strip() for text in texts} - {""})
        codes = zip(texts, map(float, games_module.codes_of(texts, values)), strict=True)
        code = _look_up(query, f"by{k}", column, dict(codes))
        query.columns[f"by{k}"] = f"CAST(coalesce({code}, {games_module.NO_VALUE}) AS INTEGER)"
        query.by.append(Covariate(name, values, np.zeros(0, dtype=np.int64)))


# Equal rows ---------------------------------------------------------------------------------------

MOST_BITS = 62  # of a whole number of 64; those below 0 say why a row is not used
FEW_BITS = 31  # half the memory, and sorted in half the time
TOGETHER = 1 << 16  # cells unpacked at once: what is in between stays in the processor's cache
BATCH = 1 << 20  # rows fetched at once
MEASURED = {"time", "outcome", "margin", "side", "count"}  # the others number items and values
Arrays = dict[str, Any]


@dataclass(frozen=True)
class Distinct:
    """Sorted distinct rows as columns, with how often each occurs, and what became of the rows."""

    arrays: Arrays
    n_rows: int
    refused: dict[int, int]  # rows by reason
    listed: IntArray | None = None  # the distinct row of each used row, in the table's order
    n_without_margin: int = 0  # used rows, when others have one
    unused: tuple[Unused, ...] = ()


def add_up(query: Query, clock: Clock) -> tuple[Games, Distinct]:
    """Run the query, add up equal rows, and return them sorted, as games without a report."""
    found = add_up_packed(query) or _add_up_in_engine(query)
    games = replace(_as_games(query, found.arrays, clock), sequence=found.listed)
    return games, replace(found, arrays={}, unused=_find_unused(query, found.refused))


def _as_games(query: Query, arrays: Arrays, clock: Clock) -> Games:
    """Return used rows as games without a report, of those items only that they compare."""
    games = Games(
        tuple(query.names),
        np.asarray(arrays["first"], dtype=np.int64),
        np.asarray(arrays["second"], dtype=np.int64),
        arrays["outcome"],
        arrays.get("margin"),
        arrays["time"],
        arrays["count"],
        arrays.get("side"),
        clock,
        Reading(query.facts.engine.label),
        by=query.covariates(arrays),
    )
    return games_module.own_names(games)


@dataclass(frozen=True)
class BitField:
    """One part of a row: its place among the bits, and how it is a whole number from 0 on."""

    name: str
    number: str  # SQL; NULL where it is no such number
    bits: int
    least: int = 0
    scale: float = 1.0


def add_up_packed(query: Query) -> Distinct | None:
    """Return the distinct rows of a query, or None where they do not fit into whole numbers."""
    grouped = query.facts.table.grouping is not None
    if not query.single or "margin" in query.columns or grouped:
        return None
    n_rows = query.facts.count()[0]
    fields = _fields(query) if n_rows <= query.limits.packed else None
    if fields is None:
        return None
    kind = "INTEGER" if sum(packed.bits for packed in fields) <= FEW_BITS else "BIGINT"
    shift, terms = 0, []
    for packed in reversed(fields):
        terms.append(f"CAST({packed.number} AS {kind}) * CAST({1 << shift} AS {kind})")
        shift += packed.bits
    # Whatever does not fit makes the sum NULL; a test for each row would cost more than the rest.
    row = " + ".join(terms)
    key = f"CASE WHEN reason IS NULL THEN {row} ELSE CAST(-1 - reason AS {kind}) END AS key"
    in_order = n_rows <= query.limits.in_sequence
    keys = _keys(query, key, in_order=in_order)
    if keys is None:
        return None
    listed = None
    if in_order:
        _, listed = np.unique(keys[keys >= 0], return_inverse=True)
    keys.sort()
    n_refused = int(np.searchsorted(keys, keys.dtype.type(0)))  # of another type, all are cast
    reasons, tallies = np.unique(keys[:n_refused], return_counts=True)
    refused = {int(-1 - reason): int(n) for reason, n in zip(reasons, tallies, strict=True)}
    return Distinct(_unpack(keys[n_refused:], fields), n_rows, refused, listed)


def _keys(query: Query, key: str, *, in_order: bool) -> IntArray | None:
    """Return the numbers of the rows, or None where one has none."""
    table = query.facts.table
    if in_order:
        with table.in_order():
            judged = query.sql(query.facts.rows, with_row=True)
            found = table.engine.arrays(f"SELECT row, {key} FROM {judged}")
    else:
        table.engine.run("SET preserve_insertion_order = false")
        found = table.engine.arrays(f"SELECT {key} FROM {query.sql(query.facts.rows)}")
        table.engine.run("SET preserve_insertion_order = true")
    masked = getattr(found["key"], "mask", None)  # numpy.ma, slow to load, only where needed
    if masked is not None and np.any(masked):
        return None
    keys, row = np.asarray(found["key"]), np.asarray(found.get("row", []))
    return keys if (row[1:] > row[:-1]).all() else keys[np.argsort(row)]


def _fields(query: Query) -> list[BitField] | None:
    """Return the parts of a row in the order in which rows are sorted, or None if too many bits."""
    span = _span_of_times(query)
    if span is None:
        return None
    low, high = span
    items = max(len(query.names) - 1, 0).bit_length()
    time = f"(time - {low})"
    if not query.whole_times:
        time = f"CASE WHEN time = floor(time) THEN {time} END"
    twice = "outcome * 2"
    if not query.whole_halves:
        twice = f"CASE WHEN outcome IN (0, 0.5, 1) THEN {twice} END"
    fields = [
        BitField("time", time, (high - low).bit_length(), low),
        BitField("first", "first", items),
        BitField("second", "second", items),
        BitField("outcome", twice, 2, 0, 0.5),
    ]
    if "side" in query.columns:
        side = "CASE WHEN side IN (-1, 0, 1) THEN side + 1 END"
        fields.append(BitField("side", side, 2, -1))
    for k, covariate in enumerate(query.by):
        fields.append(BitField(f"by{k}", f"(by{k} + 1)", len(covariate.values).bit_length(), -1))
    return fields if sum(packed.bits for packed in fields) <= MOST_BITS else None


def _span_of_times(query: Query) -> tuple[int, int] | None:
    """Return the first and last time, or None where times are not whole."""
    if query.timeless:
        return 0, 0
    sql = query.columns["time"]
    table, _, column = sql.partition(".")
    rows = table if column == "told" else f"(SELECT {sql} AS told FROM {query.facts.rows})"
    low, high = query.facts.engine.ask(f"SELECT min(told), max(told) FROM {rows}")[0]
    if low is None or low != np.floor(low) or max(abs(low), abs(high)) > 2**40:
        return None
    return int(low), int(np.ceil(high))


def _unpack(keys: IntArray, fields: list[BitField]) -> Arrays:
    """Return the columns of sorted keys, each distinct key once, and their counts."""
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    counts = np.empty(len(starts))
    counts[-1:] = len(keys) - starts[-1:]
    np.subtract(starts[1:], starts[:-1], out=counts[:-1])
    arrays: Arrays = {
        packed.name: np.empty(len(starts), float if packed.name in MEASURED else np.int64)
        for packed in fields
        if packed.name != "first"
    }
    arrays["first"] = starts  # written over, part by part: fresh memory costs more than the work
    for begin in range(0, len(starts), TOGETHER):
        cells = slice(begin, begin + TOGETHER)
        rest = keys[starts[cells]].astype(np.int64)
        for packed in reversed(fields):
            part = (rest & ((1 << packed.bits) - 1)) + packed.least
            arrays[packed.name][cells] = part * packed.scale if packed.scale != 1.0 else part
            rest >>= packed.bits
    return {"count": counts, **arrays}


def _add_up_in_engine(query: Query) -> Distinct:
    """Return the distinct rows of a query, whatever they hold."""
    engine = query.facts.engine
    keys = [key for key in query.keys if key in query.columns]
    kept = ", ".join(f"CASE WHEN reason IS NULL THEN {key} END AS {key}" for key in keys)
    same = "" if query.facts.table.grouping is None else f" * {N_SAME}"
    cells = engine.store(
        f"SELECT {kept}, reason, sum(CASE WHEN reason IS NULL THEN count{same} END) AS count, "
        f"{query.facts.tally()} AS n_rows FROM {query.sql(query.facts.rows)} "
        f"GROUP BY {', '.join(keys)}, reason"
    )
    bare = "margin IS NULL" if "margin" in keys else "false"
    tallies = engine.ask(
        f"SELECT reason, sum(n_rows), sum(n_rows) FILTER (WHERE {bare}), count(*) FROM {cells} "
        "GROUP BY reason"
    )
    refused = {reason: int(n) for reason, n, *_ in tallies if reason is not None}
    without = sum(int(n or 0) for reason, _, n, _ in tallies if reason is None)
    if without:
        keys.remove("margin")
    listed = ", ".join(keys)
    count, together = ("sum(count)", f"GROUP BY {listed} ") if without else ("count", "")
    done = (
        f"SELECT {listed}, {count} AS count FROM {cells} WHERE reason IS NULL {together}"
        f"ORDER BY {listed}"
    )
    kinds = {key: np.float64 if key in MEASURED else np.int32 for key in (*keys, "count")}
    if sum(n for *_, n in tallies) <= BATCH:
        found = engine.arrays(done)
        arrays = {key: np.asarray(found[key], dtype=kind) for key, kind in kinds.items()}
    else:
        done = engine.store(done)
        engine.run(f"DROP TABLE {cells}")
        arrays = _fetch_batches(engine, done, kinds)
    n_rows = int(sum(n for _, n, *_ in tallies))
    return Distinct(arrays, n_rows, refused, None, without)


def _fetch_batches(engine: Engine, table: str, kinds: Mapping[str, type]) -> Arrays:
    """Return the columns of a table as arrays, filled batch by batch."""
    n = engine.ask(f"SELECT count(*) FROM {table}")[0][0]
    arrays: Arrays = {column: np.empty(n, dtype=kind) for column, kind in kinds.items()}
    for begin in range(0, n, BATCH):
        part = engine.arrays(
            f"SELECT {', '.join(kinds)} FROM {table} WHERE rowid >= {begin} AND rowid < "
            f"{begin + BATCH} ORDER BY rowid"
        )
        for column in kinds:
            arrays[column][begin : begin + BATCH] = part[column]
    return arrays


def _find_unused(query: Query, tallies: dict[int, int]) -> tuple[Unused, ...]:
    """Return the rows that cannot be used, by reason, with the first places or some of each."""
    facts, engine = query.facts, query.facts.engine
    if not tallies:
        return ()
    places: dict[int, tuple[int, ...]] = {}
    examples: dict[int, tuple[str, ...]] = {}
    by_reason = "WHERE reason IS NOT NULL GROUP BY reason"
    if facts.table.grouping is not None:  # rows without an order, told in their own words
        columns = sorted(facts.table.grouping.held)
        texts = f"[{', '.join(facts.raw(k) for k in columns)}]"
        told = replace(query, columns={**query.columns, "texts": texts}).sql(facts.rows)
        found = engine.ask(f"SELECT reason, min(texts, {SHOWN}) FROM {told} {by_reason}")
        names = [facts.names[k] for k in columns]  # as in: home_team "Ayr", away_team "Ayr"
        for reason, rows in found:
            told_rows = [zip(names, row, strict=True) for row in rows]
            cells = [[f"{name} {quoted(text or '')}" for name, text in row] for row in told_rows]
            examples[reason] = tuple(map(", ".join, cells))
    else:
        told = query.sql(facts.all_rows, with_row=True)
        with facts.table.in_order():
            found = engine.ask(f"SELECT reason, min(row, {SHOWN}) FROM {told} {by_reason}")
        lines = facts.table.lines({row for _, rows in found for row in rows})
        places = {
            reason: tuple(sorted(lines[row] for row in rows if row in lines))
            for reason, rows in found
        }
    return tuple(
        Unused(query.reasons[k], int(tallies[k]), places.get(k, ()), examples.get(k, ()))
        for k in sorted(tallies, key=lambda k: (-tallies[k], k))
    )


def with_series(query: Query, games: Games, n_rows: int) -> Games:
    """Return the rows of a table without distinct times one by one, numbered by their series.

    As they are, added up, where there are times, too many rows, or no series to be seen.
    """
    times = games.times
    if not len(times) or (times != times[0]).any() or n_rows > query.limits.one_by_one:
        return games
    if not query.facts.table.ordered:
        return games
    rows = in_order(query, games)
    series = games_module.series_in_order(rows.first, rows.second, rows.outcomes, rows.counts)
    return games if series is None else replace(rows, series=series)


def sequence_of(query: Query, games: Games, n_rows: int) -> IntArray | None:  # (n_games,)
    """Return the row of every game, in the order of the table; None where time tells the order.

    Also None where there are too many games, rows that stand for several, or rows of an engine:
    these have no order.
    """
    if not query.single or n_rows > query.limits.in_sequence or not query.facts.table.ordered:
        return None
    if games.series is not None:
        return np.arange(len(games))
    if n_distinct(games.times) == len(games):
        return None
    if games.sequence is not None:
        return games.sequence
    rows = in_order(query, games)
    return games_module.merge(replace(rows, sequence=np.arange(len(rows)))).sequence


def in_order(query: Query, games: Games) -> Games:
    """Return the rows that were added up to these games, in the order of the table."""
    if games.sequence is not None:
        rows = replace(games, sequence=None).only(games.sequence)
        return replace(rows, counts=np.ones(len(rows)))
    without = {"margin"} if games.margins is None else set()
    columns = [key for key in query.keys if key in query.columns and key not in without]
    with query.facts.table.in_order():
        found = query.facts.engine.arrays(
            f"SELECT {', '.join(columns)}, count FROM "
            f"{query.sql(query.facts.all_rows, with_row=True)} WHERE reason IS NULL ORDER BY row"
        )
    arrays = {name: np.asarray(column, dtype=np.float64) for name, column in found.items()}
    return _as_games(query, arrays, games.clock)
