"""Equal rows added up, by sorting numbers or by one query; and rows in the order listed.

Rows are packed into whole numbers of 32 or 64 bits.  Time, items, outcome, side and covariates of a
row each take some bits, the most important first: the order of the numbers is the order of the
rows.  Sorting them takes a tenth of the time in which an engine groups and sorts rows.  Times must
be whole and outcomes 1, 0 or 0.5; where anything does not fit, the engine does it.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from intransit.arrays import FloatArray, IntArray, n_distinct, number_rows
from intransit.data.engine import Engine
from intransit.data.files import shorten
from intransit.data.games import Covariate, series_in_order
from intransit.data.intake import N_SAME, SHOWN
from intransit.data.queries import Query
from intransit.data.reading import Unused

MOST_BITS = 62
FEW_BITS = 31  # half the memory, and sorted in half the time
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}
TWICE = "outcome_values.told_twice"
TOGETHER = 1 << 16  # cells unpacked at once: what is in between stays in the processor's cache


@dataclass(frozen=True)
class BitField:
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
    if not query.single or "margin" in query.columns or grouped:
        return None
    n_rows = query.facts.count()[0]
    query = _with_whole_outcomes(_with_whole_times(query))
    fields = _fields(query)
    if fields is None or n_rows > query.limits.packed:
        return None
    kind = "INTEGER" if sum(field.bits for field in fields) <= FEW_BITS else "BIGINT"
    shift, terms = 0, []
    for field in reversed(fields):
        terms.append(f"CAST({field.number} AS {kind}) * CAST({1 << shift} AS {kind})")
        shift += field.bits
    # Whatever does not fit makes the sum NULL; a test for each row would cost more than the rest.
    row = " + ".join(terms)
    key = f"CASE WHEN reason IS NULL THEN {row} ELSE CAST(-1 - reason AS {kind}) END AS key"
    in_order = n_rows <= query.limits.in_sequence
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


def _fields(query: Query) -> list[BitField] | None:
    """Return the parts of a row in the order in which rows are sorted, or None if too many bits."""
    span = _span_of_times(query)
    if span is None or not _outcomes_fit(query):
        return None
    low, high = span
    items = max(len(query.names) - 1, 0).bit_length()
    certain = query.timeless or "AS DOUBLE)" not in query.columns["time"]
    time = f"(time - {low})" if certain else f"CASE WHEN time = floor(time) THEN time - {low} END"
    outcome = "outcome" if query.columns["outcome"] == TWICE else "outcome * 2"
    if "outcome_values" not in query.columns["outcome"]:
        outcome = "CASE WHEN outcome IN (0, 0.5, 1) THEN outcome * 2 END"
    fields = [
        BitField("time", time, (high - low).bit_length(), low),
        BitField("first", "first", items),
        BitField("second", "second", items),
        BitField("outcome", outcome, 2, 0, 0.5),
    ]
    if "side" in query.columns:
        side = "CASE WHEN side IN (-1, 0, 1) THEN side + 1 END"
        fields.append(BitField("side", side, 2, -1))
    for k, covariate in enumerate(query.by):
        fields.append(BitField(f"by{k}", f"(by{k} + 1)", len(covariate.values).bit_length(), -1))
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
    if query.timeless:
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


def _unpack(keys: IntArray, fields: list[BitField]) -> dict[str, FloatArray | IntArray]:
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


BATCH = 1 << 20  # rows fetched at once
MEASURED = {"time", "outcome", "margin", "side", "count"}  # the others number items and values


@dataclass(frozen=True)
class DistinctRows:
    """The finished arrays, sorted, and what became of the rows."""

    names: tuple[str, ...]
    arrays: dict[str, FloatArray]
    first: IntArray
    second: IntArray
    n_rows: int
    unused: tuple[Unused, ...]
    n_without_margin: int  # used rows, when others have one
    series: IntArray | None = None  # see `series`; only where rows are not added up
    listed: IntArray | None = None  # the cell of each used row, in the order of the table
    by: tuple[Covariate, ...] = ()


def add_up(query: Query) -> DistinctRows:
    """Run the query, add up equal rows, and return the cells sorted."""
    without, listed = 0, None
    packed = add_up_packed(query)
    if packed is None:
        arrays, n_rows, unused, without = _add_up_in_engine(query)
    else:
        arrays, n_rows, listed = packed.arrays, packed.n_rows, packed.listed
        unused = _find_unused(query, packed.unused)
    first, second = (np.asarray(arrays.pop(role), dtype=np.int64) for role in ("first", "second"))
    seen = np.zeros(len(query.names), dtype=bool)
    seen[first] = seen[second] = True
    if not seen.all():
        number = np.cumsum(seen) - 1
        first, second = number[first], number[second]
    names = tuple(name for name, there in zip(query.names, seen, strict=True) if there)
    by = query.covariates(arrays)
    return DistinctRows(names, arrays, first, second, n_rows, unused, without, by=by, listed=listed)


def _add_up_in_engine(query: Query) -> tuple[dict[str, Any], int, tuple[Unused, ...], int]:
    """Return the columns of the cells, the rows, those not used, and those without a margin."""
    engine = query.facts.table.engine
    keys = [key for key in query.keys if key in query.columns]
    kept = ", ".join(f"CASE WHEN reason IS NULL THEN {key} END AS {key}" for key in keys)
    grouped = query.facts.table.grouping is not None
    count = f"CASE WHEN reason IS NULL THEN count{f' * {N_SAME}' if grouped else ''} END"
    engine.run(
        f"CREATE TEMP TABLE cells AS SELECT {kept}, reason, sum({count}) AS count, "
        f"{query.facts.tally()} AS n_rows FROM {query.sql(query.facts.rows)} "
        f"GROUP BY {', '.join(keys)}, reason"
    )
    without = 0
    if "margin" in keys:
        tally = "sum(n_rows) FILTER (WHERE margin IS NULL) FROM cells WHERE reason IS NULL"
        without = int(engine.ask(f"SELECT {tally}")[0][0] or 0)
    if without:
        keys.remove("margin")
    n_rows = int(engine.ask("SELECT sum(n_rows) FROM cells")[0][0] or 0)
    tallies = dict(
        engine.ask("SELECT reason, sum(n_rows) FROM cells WHERE reason IS NOT NULL GROUP BY reason")
    )
    unused = _find_unused(query, tallies)
    listed = ", ".join(keys)
    engine.run(
        f"CREATE TEMP TABLE done AS SELECT {listed}, sum(count) AS count FROM cells "
        f"WHERE reason IS NULL GROUP BY {listed} ORDER BY {listed}"
        if without
        else f"CREATE TEMP TABLE done AS SELECT {listed}, count FROM cells WHERE reason IS NULL "
        f"ORDER BY {listed}"
    )
    engine.run("DROP TABLE cells")
    return _fetch(engine, [*keys, "count"]), n_rows, unused, without


def _fetch(engine: Engine, columns: list[str]) -> dict[str, FloatArray]:
    """Return the finished columns as arrays, filled batch by batch."""
    n = engine.ask("SELECT count(*) FROM done")[0][0]
    arrays: dict[str, FloatArray] = {}
    for column in columns:
        kind = np.float64 if column in MEASURED else np.int32
        arrays[column] = np.empty(n, dtype=kind)
    for begin in range(0, n, BATCH):
        part = engine.arrays(
            f"SELECT {', '.join(columns)} FROM done WHERE rowid >= {begin} AND rowid < "
            f"{begin + BATCH} ORDER BY rowid"
        )
        for column in columns:
            arrays[column][begin : begin + BATCH] = part[column]
    return arrays


def _find_unused(query: Query, tallies: dict[int, int]) -> tuple[Unused, ...]:
    """Return the rows that cannot be used, by reason, with the first places or some of each."""
    facts, engine = query.facts, query.facts.table.engine
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
        names = [facts.table.names[k] for k in columns]
        examples = {reason: tuple(_in_words(names, row) for row in rows) for reason, rows in found}
    else:
        told = query.sql(facts.numbered, with_row=True)
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


def _in_words(names: list[str], texts: list[str | None]) -> str:
    """Return a row in its own words: ``home_team "Ayr", away_team "Ayr"``."""
    told = zip(names, texts, strict=True)
    return ", ".join(f'{name} "{shorten(text or "")}"' for name, text in told)


def with_series(query: Query, cells: DistinctRows) -> DistinctRows:
    """Return the rows of a table without distinct times one by one, numbered by their series.

    As they are, added up, where there are times, too many rows, or no series to be seen.
    """
    times = cells.arrays["time"]
    if not len(times) or (times != times[0]).any() or cells.n_rows > query.limits.one_by_one:
        return cells
    if not query.facts.table.numbered:
        return cells
    rows = _one_by_one(query, cells)
    series = series_in_order(rows.first, rows.second, rows.arrays["outcome"], rows.arrays["count"])
    return cells if series is None else replace(rows, series=series)


def sequence_of(query: Query, cells: DistinctRows) -> IntArray | None:  # (n_games,)
    """Return the cell of every game, in the order of the table; None where time tells the order.

    Also None where there are too many games, rows that stand for several, or rows of an engine:
    these have no order.
    """
    times = cells.arrays["time"]
    if (
        not query.single
        or cells.n_rows > query.limits.in_sequence
        or not query.facts.table.numbered
    ):
        return None
    if cells.series is not None:
        return np.arange(len(times))
    if n_distinct(times) == len(times):
        return None
    if cells.listed is not None:
        return cells.listed
    rows = _one_by_one(query, cells)
    both = zip(_columns(cells), _columns(rows), strict=True)
    group = number_rows(*(np.concatenate(columns) for columns in both))
    cell = np.full(int(group.max()) + 1, -1)
    cell[group[: len(times)]] = np.arange(len(times))
    return cell[group[len(times) :]]


def _columns(cells: DistinctRows) -> list[FloatArray | IntArray]:
    measured = [cells.arrays[name] for name in sorted(cells.arrays) if name != "count"]
    return [cells.first, cells.second, *measured, *(covariate.codes for covariate in cells.by)]


def _one_by_one(query: Query, cells: DistinctRows) -> DistinctRows:
    """Return the rows that were added up to these cells, in the order of the table."""
    if cells.listed is not None:
        return _repeated(cells, cells.listed)
    engine = query.facts.table.engine
    kept = {"first", "second", *(key for key in query.keys if key.startswith("by"))}
    columns = [key for key in query.keys if key in cells.arrays or key in kept]
    with query.facts.table.in_order():
        rows = engine.arrays(
            f"SELECT {', '.join(columns)}, count FROM "
            f"{query.sql(query.facts.numbered, with_row=True)} WHERE reason IS NULL ORDER BY row"
        )
    place = {name: k for k, name in enumerate(cells.names)}
    number = np.array([place.get(name, -1) for name in query.names])
    first, second = (number[np.asarray(rows.pop(role))] for role in ("first", "second"))
    by = query.covariates(rows)
    arrays = {name: np.asarray(column, dtype=np.float64) for name, column in rows.items()}
    return replace(cells, arrays=arrays, first=first, second=second, by=by)


def _repeated(cells: DistinctRows, listed: IntArray) -> DistinctRows:
    """Return cells of single games, each as often as it is listed."""
    arrays = {name: column[listed] for name, column in cells.arrays.items()}
    arrays["count"] = np.ones(len(listed))
    by = tuple(covariate.only(listed) for covariate in cells.by)
    first, second = cells.first[listed], cells.second[listed]
    return replace(cells, arrays=arrays, first=first, second=second, by=by)
