"""Rows as whole numbers of 64 bits, so that equal ones are found by sorting numbers.

Time, items, outcome, side and covariates of a row each take some bits, the most important first:
the order of the numbers is the order of the rows.  Sorting them takes a tenth of the time in which
an engine groups and sorts rows.  Times must be whole and outcomes 1, 0 or 0.5; where anything does
not fit, the engine does it.
"""

from dataclasses import dataclass

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.tables.queries import Query

MOST_ROWS = 150_000_000  # 1.2 GB while they are sorted
MOST_BITS = 62
ODD = -1  # a row that does not fit; from -2 downwards, rows that cannot be used


@dataclass(frozen=True)
class Field:
    """One part of a row: its place among the bits, and how it is a whole number from 0 on."""

    name: str
    number: str  # SQL
    fits: str  # SQL: whether it is such a number, where that is not certain
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


def add_up_packed(query: Query) -> Packed | None:
    """Return the distinct rows of a query, or None where they do not fit into whole numbers."""
    engine = query.facts.table.engine
    if query.columns["count"] != "1.0::DOUBLE" or "margin" in query.columns:
        return None
    n_rows = query.facts.count()[0]
    fields = _fields(query)
    if fields is None or n_rows > MOST_ROWS:
        return None
    key = "0::BIGINT"
    for field in fields:
        key = f"({key} * {1 << field.bits} + {field.number})"
    fits = " AND ".join(field.fits for field in fields if field.fits)
    engine.run("SET preserve_insertion_order = false")
    found = engine.arrays(
        f"SELECT CASE WHEN reason IS NOT NULL THEN -2 - reason WHEN {fits} THEN {key} ELSE {ODD} "
        f"END AS key FROM {query.sql(query.facts.rows)}"
    )["key"]
    engine.run("SET preserve_insertion_order = true")
    if np.ma.isMaskedArray(found) and np.ma.getmaskarray(found).any():
        return None
    keys = np.asarray(found, dtype=np.int64)
    keys.sort()
    n_refused, n_odd = np.searchsorted(keys, [ODD, 0])
    if n_odd > n_refused:
        return None
    reasons, tallies = np.unique(keys[:n_refused], return_counts=True)
    unused = {int(-2 - reason): int(n) for reason, n in zip(reasons, tallies, strict=True)}
    return Packed(_unpack(keys[n_refused:], fields), unused, n_rows)


def _fields(query: Query) -> list[Field] | None:
    """Return the parts of a row in the order in which rows are sorted, or None if too many bits."""
    span = _span_of_times(query)
    if span is None:
        return None
    low, high = span
    items = max(len(query.names) - 1, 0).bit_length()
    fields = [
        Field(
            "time",
            f"(CAST(time AS BIGINT) - {low})",
            "time = floor(time)",
            (high - low).bit_length(),
            low,
        ),
        Field("first", "first", "", items),
        Field("second", "second", "", items),
        Field("outcome", "CAST(outcome * 2 AS BIGINT)", "outcome IN (0, 0.5, 1)", 2, 0, 0.5),
    ]
    if "side" in query.columns:
        fields.append(Field("side", "(CAST(side AS BIGINT) + 1)", "side IN (-1, 0, 1)", 2, -1))
    for k, covariate in enumerate(query.by):
        bits = len(covariate.values).bit_length()
        fields.append(Field(f"by{k}", f"(by{k} + 1)", "", bits, -1))
    return fields if sum(field.bits for field in fields) <= MOST_BITS else None


def _span_of_times(query: Query) -> tuple[int, int] | None:
    """Return the first and last time, or None where times are not whole."""
    engine, sql = query.facts.table.engine, query.columns["time"]
    if sql == "0.0::DOUBLE":
        return 0, 0
    table, _, column = sql.partition(".")
    if column == "told":
        found = f"SELECT min(told), max(told), bool_and(told = floor(told)) FROM {table}"
    else:
        found = f"SELECT min(x), max(x), true FROM (SELECT {sql} AS x FROM {query.facts.rows})"
    low, high, whole = engine.ask(found)[0]
    if low is None or not whole or low != np.floor(low) or max(abs(low), abs(high)) > 2**40:
        return None
    return int(low), int(np.ceil(high))


def _unpack(keys: IntArray, fields: list[Field]) -> dict[str, FloatArray | IntArray]:
    """Return the columns of sorted keys, each distinct key once, and their counts."""
    new = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else keys
    counts = np.diff(np.append(new, len(keys))).astype(np.float64)
    rest = keys[new]
    arrays: dict[str, FloatArray | IntArray] = {"count": counts}
    for field in reversed(fields):
        part = rest & ((1 << field.bits) - 1)
        rest >>= field.bits
        part += field.least
        arrays[field.name] = part if field.whole else part * np.float64(field.scale)
    return arrays
