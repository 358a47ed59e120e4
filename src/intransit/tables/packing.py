"""Rows as whole numbers of 32 or 64 bits, so that equal ones are found by sorting numbers.

Time, items, outcome, side and covariates of a row each take some bits, the most important first:
the order of the numbers is the order of the rows.  Sorting them takes a tenth of the time in which
an engine groups and sorts rows.  Times must be whole and outcomes 1, 0 or 0.5; where anything does
not fit, the engine does it.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.tables.games import MOST_IN_SEQUENCE
from intransit.tables.queries import Query

MOST_ROWS = 150_000_000  # 1.2 GB while they are sorted
MOST_BITS = 62
FEW_BITS = 31  # half the memory, and sorted in half the time
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}
TWICE = "outcome_values.told_twice"
TOGETHER = 1 << 16  # cells unpacked at once: what is in between stays in the processor's cache


@dataclass(frozen=True)
class Field:
    """One part of a row: its place among the bits, and how it is a whole number from 0 on."""

    name: str
    number: str  # SQL; NULL where it is no such number
    bits: int
    least: int = 0
    scale: float = 1.0

    @property
    def whole(self) -> bool:
        """Whether it numbers items or values, and measures nothing."""
        return self.name in {"first", "second"} or self.name.startswith("by")


@dataclass(frozen=True)
class Packed:
    """Sorted distinct rows as columns, how often each occurs, and rows by reason of refusal."""

    arrays: dict[str, FloatArray | IntArray]
    unused: dict[int, int]
    n_rows: int
    listed: IntArray | None  # the distinct row that each used row is, in the order of the table


def add_up_packed(query: Query) -> Packed | None:
    """Return the distinct rows of a query, or None where they do not fit into whole numbers."""
    grouped = query.facts.table.grouping is not None
    if query.columns["count"] != "1.0::DOUBLE" or "margin" in query.columns or grouped:
        return None
    n_rows = query.facts.count()[0]
    query = _with_whole_outcomes(_with_whole_times(query))
    fields = _fields(query)
    if fields is None or n_rows > MOST_ROWS:
        return None
    kind = "INTEGER" if sum(field.bits for field in fields) <= FEW_BITS else "BIGINT"
    shift, terms = 0, []
    for field in reversed(fields):
        terms.append(f"CAST({field.number} AS {kind}) * CAST({1 << shift} AS {kind})")
        shift += field.bits
    # Whatever does not fit makes the sum NULL; a test for each row would cost more than the rest.
    row = " + ".join(terms)
    key = f"CASE WHEN reason IS NULL THEN {row} ELSE CAST(-1 - reason AS {kind}) END AS key"
    in_order = n_rows <= MOST_IN_SEQUENCE
    keys = _keys_in_order(query, key) if in_order else _keys(query, key)
    if keys is None:
        return None
    listed = None
    if in_order:
        _, listed = np.unique(keys[keys >= 0], return_inverse=True)
    keys.sort()
    n_refused = int(np.searchsorted(keys, keys.dtype.type(0)))  # of another type, all are cast
    reasons, tallies = np.unique(keys[:n_refused], return_counts=True)
    unused = {int(-1 - reason): int(n) for reason, n in zip(reasons, tallies, strict=True)}
    return Packed(_unpack(keys[n_refused:], fields), unused, n_rows, listed)


def _keys(query: Query, key: str) -> IntArray | None:
    """Return the numbers of the rows in any order, or None where one has none."""
    engine = query.facts.table.engine
    engine.run("SET preserve_insertion_order = false")
    found = engine.arrays(f"SELECT {key} FROM {query.sql(query.facts.rows)}")["key"]
    engine.run("SET preserve_insertion_order = true")
    return _filled(found)


def _keys_in_order(query: Query, key: str) -> IntArray | None:
    """Return the numbers of the rows in the order of the table, or None where one has none."""
    engine = query.facts.table.engine
    with query.facts.table.in_order():
        found = engine.arrays(
            f"SELECT row, {key} FROM {query.sql(query.facts.numbered, with_row=True)}"
        )
    keys, row = _filled(found["key"]), np.asarray(found["row"])
    if keys is None or (row[1:] > row[:-1]).all():
        return keys
    return keys[np.argsort(row)]


def _filled(found: IntArray) -> IntArray | None:
    masked = getattr(found, "mask", None)  # numpy.ma, which takes long to load, only where needed
    return np.asarray(found) if masked is None or not np.any(masked) else None


def _with_whole_times(query: Query) -> Query:
    """Return the query with times as whole numbers where their SQL gives such, as for dates."""
    sql = query.columns["time"]
    inner = sql.removeprefix("CAST(").removesuffix(" AS DOUBLE)")
    if inner == sql or not sql.startswith("CAST("):
        return query
    kind = query.facts.table.engine.ask(f"SELECT typeof({inner}) FROM {query.facts.rows} LIMIT 1")
    if not kind or kind[0][0] not in WHOLE:
        return query
    return replace(query, columns={**query.columns, "time": inner})


def _with_whole_outcomes(query: Query) -> Query:
    """Return the query with outcomes that are merely looked up as 0, 1 and 2."""
    if query.columns["outcome"] != "outcome_values.told":
        return query
    return replace(query, columns={**query.columns, "outcome": TWICE})


def _fields(query: Query) -> list[Field] | None:
    """Return the parts of a row in the order in which rows are sorted, or None if too many bits."""
    span = _span_of_times(query)
    if span is None or not _outcomes_fit(query):
        return None
    low, high = span
    items = max(len(query.names) - 1, 0).bit_length()
    certain = query.columns["time"] == "0.0::DOUBLE" or "AS DOUBLE)" not in query.columns["time"]
    time = f"(time - {low})" if certain else f"CASE WHEN time = floor(time) THEN time - {low} END"
    outcome = "outcome" if query.columns["outcome"] == TWICE else "outcome * 2"
    if "outcome_values" not in query.columns["outcome"]:
        outcome = "CASE WHEN outcome IN (0, 0.5, 1) THEN outcome * 2 END"
    fields = [
        Field("time", time, (high - low).bit_length(), low),
        Field("first", "first", items),
        Field("second", "second", items),
        Field("outcome", outcome, 2, 0, 0.5),
    ]
    if "side" in query.columns:
        side = "CASE WHEN side IN (-1, 0, 1) THEN side + 1 END"
        fields.append(Field("side", side, 2, -1))
    for k, covariate in enumerate(query.by):
        fields.append(Field(f"by{k}", f"(by{k} + 1)", len(covariate.values).bit_length(), -1))
    return fields if sum(field.bits for field in fields) <= MOST_BITS else None


def _outcomes_fit(query: Query) -> bool:
    """Return whether outcomes that are looked up are all 1, 0 or 0.5; others are tested by row."""
    if "outcome_values" not in query.columns["outcome"]:
        return True
    odd = "SELECT 1 FROM outcome_values WHERE told NOT IN (0, 0.5, 1) LIMIT 1"
    return not query.facts.table.engine.ask(odd)


def _span_of_times(query: Query) -> tuple[int, int] | None:
    """Return the first and last time, or None where times are not whole."""
    engine, sql = query.facts.table.engine, query.columns["time"]
    if sql == "0.0::DOUBLE":
        return 0, 0
    table, _, column = sql.partition(".")
    if column == "told":
        found = f"SELECT min(told), max(told), bool_and(told = floor(told)) FROM {table}"
    else:
        found = f"SELECT min(x), max(x), true FROM (SELECT {sql} AS x FROM {_ends(query, sql)})"
    low, high, whole = engine.ask(found)[0]
    if low is None or not whole or low != np.floor(low) or max(abs(low), abs(high)) > 2**40:
        return None
    return int(low), int(np.ceil(high))


def _ends(query: Query, sql: str) -> str:
    """SQL: rows among which are those of the first and last time; of dates, just these two."""
    columns, rows = set(re.findall(r"\bc(\d+)\b", sql)), query.facts.rows
    if len(columns) != 1 or query.facts.table.types[int(min(columns))] != "DATE":
        return rows
    cell = f"c{min(columns)}"
    ends = f"(SELECT unnest([min({cell}), max({cell})]) AS {cell} FROM {rows})"  # a file knows them
    finite = query.facts.table.engine.ask(f"SELECT bool_and(isfinite({cell})) FROM {ends}")[0][0]
    return ends if finite else rows


def _unpack(keys: IntArray, fields: list[Field]) -> dict[str, FloatArray | IntArray]:
    """Return the columns of sorted keys, each distinct key once, and their counts."""
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    counts = np.empty(len(starts))
    counts[-1:] = len(keys) - starts[-1:]
    np.subtract(starts[1:], starts[:-1], out=counts[:-1])
    arrays: dict[str, FloatArray | IntArray] = {
        field.name: np.empty(len(starts), np.int64) if field.whole else np.empty(len(starts))
        for field in fields
        if field.name != "first"
    }
    arrays["first"] = starts  # written over, part by part: fresh memory costs more than the work
    for begin in range(0, len(starts), TOGETHER):
        cells = slice(begin, begin + TOGETHER)
        rest = keys[starts[cells]].astype(np.int64)
        for field in reversed(fields):
            part = (rest & ((1 << field.bits) - 1)) + field.least
            arrays[field.name][cells] = part if field.whole else part * field.scale
            rest >>= field.bits
    return {"count": counts, **arrays}
