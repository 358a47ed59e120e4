"""From roles to a query that judges every row: its numbers, or why it cannot be used.

Names and outcomes are looked up by joins with the lists of their distinct values.  A row either
has all it needs or carries the number of a reason; the reasons are counted in the same query.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from intransit.data.engine import N_SAME
from intransit.data.facts import Facts
from intransit.data.games import NO_VALUE, Covariate, listed_in_order, without_unseen
from intransit.data.reading import ROW_LIMITS, RowLimits, quoted
from intransit.data.roles import Roles
from intransit.data.vocabulary import MOST_VALUES, SIDE_FLAGS, plain, read_sides, read_switch

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
        return tuple(without_unseen(covariate) for covariate in filled)

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


def build_query(facts: Facts, roles: Roles, both_bad: str, limits: RowLimits) -> Query:
    """Return the query for these roles."""
    query = Query(facts, limits=limits)
    _add_items(query, roles)
    _add_margin(query, roles)
    _add_outcome(query, roles, both_bad)
    _add_time(query, roles)
    _add_side(query, roles)
    _add_counts(query, roles)
    _add_covariates(query, roles)
    return query


def _add_items(query: Query, roles: Roles) -> None:
    facts = query.facts
    sources = [roles.first, roles.second]
    if roles.meaning and roles.meaning.kind == "names" and roles.outcome is not None:
        sources.append(roles.outcome)
    union = " UNION ALL ".join(f"SELECT {facts.raw(i)} AS raw FROM {facts.rows}" for i in sources)
    engine = facts.engine
    found = engine.ask(f"SELECT DISTINCT raw FROM ({union}) WHERE raw IS NOT NULL")
    raws = [str(raw) for (raw,) in found]
    query.raw_names = raws
    query.names = sorted({raw.strip() for raw in raws} - {""})
    number = {name: i for i, name in enumerate(query.names)}
    engine.run(
        "CREATE TEMP TABLE items AS SELECT unnest(?::VARCHAR[]) AS raw, unnest(?::INTEGER[]) AS "
        "number",
        [raws, [number.get(raw.strip()) for raw in raws]],
    )
    for role, column in (("first", roles.first), ("second", roles.second)):
        query.joins.append(
            f"LEFT JOIN items AS {role}_item ON {facts.raw(column)} = {role}_item.raw"
        )
        query.columns[role] = f"{role}_item.number"
        empty = f'the name in "{facts.names[column]}" is empty'
        query.reject(f"{role} IS NULL", empty)
    query.reject("first = second", "an item is compared with itself")


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
    facts, name = query.facts, f"{role}_values"
    reasons = {**(_strange(query, called, column, set(told)) if called else {}), **(why or {})}
    texts = [*told, *(text for text in reasons if text not in told)]
    meanings = [list(map(part.get, texts)) for part in (told, margins or {}, reasons)]
    facts.engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT c{column} AS raw, told, told_margin, told_why FROM "
        f"(SELECT DISTINCT c{column} FROM {facts.rows}) JOIN (SELECT unnest(?::VARCHAR[]) AS text, "
        "unnest(?::DOUBLE[]) AS told, unnest(?::DOUBLE[]) AS told_margin, unnest(?::INTEGER[]) AS "
        f"told_why) ON {facts.raw(column)} = text",
        [texts, *meanings],
    )
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
            query.reject(f"margin IS NOT NULL AND outcome <> {sign}", "outcome and margin disagree")


def _add_sided_outcome(query: Query, roles: Roles) -> None:
    """Tell the outcome from two columns, each of which says whether its side won."""
    assert roles.sided is not None
    sided = roles.sided
    won = [
        _look_up(query, f"{side}_won", column, told, called=f"{side}'s outcome")
        for side, column, told in (
            ("first", sided.first, sided.first_values),
            ("second", sided.second, sided.second_values),
        )
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
        query.joins.append(
            f"LEFT JOIN items AS winner_item ON {facts.raw(column)} = winner_item.raw"
        )
        query.columns["outcome"] = (
            f"CASE WHEN winner_item.number = first_item.number THEN 1.0 WHEN winner_item.number "
            f"= second_item.number THEN 0.0 ELSE {means} END::DOUBLE"
        )
    if roles.scores is not None:  # nobody is named where nobody won
        nobody = f"(NOT {facts.filled(column)} OR {facts.text(column)} IN ('-', '–', '—'))"
        even = "coalesce(scored = 0, false)"
        query.columns |= {
            "given": f"({query.columns['given']} OR {even})",
            "outcome": f"CASE WHEN {nobody} AND {even} THEN 0.5 ELSE {query.columns['outcome']} "
            "END::DOUBLE",
        }
    query.reject("outcome IS NULL", "the winner is neither of the two")


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
    known = read_switch(query.facts.texts(column))
    return f"coalesce({_look_up(query, role, column, known, called=role)}, 0)"


def _add_side(query: Query, roles: Roles) -> None:
    facts = query.facts
    if roles.side is not None:
        headers = facts.names[roles.first], facts.names[roles.second]
        flag = plain(facts.names[roles.side]) in SIDE_FLAGS
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
        values = listed_in_order({text.strip() for text in texts} - {""})
        number = {value: code for code, value in enumerate(values)}
        codes = {text: float(number.get(text.strip(), NO_VALUE)) for text in texts}
        code = _look_up(query, f"by{k}", column, codes)
        query.columns[f"by{k}"] = f"CAST(coalesce({code}, {NO_VALUE}) AS INTEGER)"
        query.by.append(Covariate(name, values, np.zeros(0, dtype=np.int64)))
