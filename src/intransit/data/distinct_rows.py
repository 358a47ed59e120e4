"""Equal rows added up, by sorting numbers or by one query; and rows in the order listed.

Rows are packed into whole numbers of 32 or 64 bits.  Time, items, outcome, side and covariates of a
row each take some bits, the most important first: the order of the numbers is the order of the
rows.  Sorting them takes a tenth of the time in which an engine groups and sorts rows.  Times must
be whole and outcomes 1, 0 or 0.5; where anything does not fit, the engine does it.
"""

from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from intransit.arrays import IntArray, n_distinct
from intransit.data.clock import Clock
from intransit.data.engine import N_SAME, SHOWN, Engine
from intransit.data.games import Games, merge, series_in_order
from intransit.data.queries import Query
from intransit.data.reading import Reading, Unused, quoted

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


@dataclass(frozen=True)
class RowCounts:
    """What became of the rows of a table."""

    n_rows: int
    unused: tuple[Unused, ...]
    n_without_margin: int


def add_up(query: Query, clock: Clock) -> tuple[Games, RowCounts]:
    """Run the query, add up equal rows, and return them sorted, as games without a report."""
    found = add_up_packed(query) or _add_up_in_engine(query)
    unused = _find_unused(query, found.refused)
    games = replace(_as_games(query, found.arrays, clock), sequence=found.listed)
    return games, RowCounts(found.n_rows, unused, found.n_without_margin)


def _as_games(query: Query, arrays: Arrays, clock: Clock) -> Games:
    """Return used rows as games without a report, of those items only that they compare."""
    first, second = (np.asarray(arrays[role], dtype=np.int64) for role in ("first", "second"))
    seen = np.zeros(len(query.names), dtype=bool)
    seen[first] = seen[second] = True
    if not seen.all():
        number = np.cumsum(seen) - 1
        first, second = number[first], number[second]
    return Games(
        tuple(compress(query.names, seen)),
        first,
        second,
        arrays["outcome"],
        arrays.get("margin"),
        arrays["time"],
        arrays["count"],
        arrays.get("side"),
        clock,
        Reading(query.facts.engine.label),
        by=query.covariates(arrays),
    )


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
    kind = "INTEGER" if sum(field.bits for field in fields) <= FEW_BITS else "BIGINT"
    shift, terms = 0, []
    for field in reversed(fields):
        terms.append(f"CAST({field.number} AS {kind}) * CAST({1 << shift} AS {kind})")
        shift += field.bits
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
    return fields if sum(field.bits for field in fields) <= MOST_BITS else None


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
        field.name: np.empty(len(starts), float if field.name in MEASURED else np.int64)
        for field in fields
        if field.name != "first"
    }
    arrays["first"] = starts  # written over, part by part: fresh memory costs more than the work
    for begin in range(0, len(starts), TOGETHER):
        cells = slice(begin, begin + TOGETHER)
        rest = keys[starts[cells]].astype(np.int64)
        for field in reversed(fields):
            part = (rest & ((1 << field.bits) - 1)) + field.least
            arrays[field.name][cells] = part * field.scale if field.scale != 1.0 else part
            rest >>= field.bits
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
    tallies = engine.ask(f"SELECT reason, sum(n_rows) FROM {cells} GROUP BY reason")
    refused = {reason: int(n) for reason, n in tallies if reason is not None}
    without = 0
    if "margin" in keys:
        bare = "reason IS NULL AND margin IS NULL"
        without = int(engine.ask(f"SELECT sum(n_rows) FROM {cells} WHERE {bare}")[0][0] or 0)
    if without:
        keys.remove("margin")
    listed = ", ".join(keys)
    count, together = ("sum(count)", f"GROUP BY {listed} ") if without else ("count", "")
    done = engine.store(
        f"SELECT {listed}, {count} AS count FROM {cells} WHERE reason IS NULL {together}"
        f"ORDER BY {listed}"
    )
    engine.run(f"DROP TABLE {cells}")
    n_rows = int(sum(n for _, n in tallies))
    return Distinct(_fetch(engine, done, [*keys, "count"]), n_rows, refused, None, without)


def _fetch(engine: Engine, table: str, columns: list[str]) -> Arrays:
    """Return the columns of a table as arrays, filled batch by batch."""
    n = engine.ask(f"SELECT count(*) FROM {table}")[0][0]
    arrays: Arrays = {
        column: np.empty(n, dtype=np.float64 if column in MEASURED else np.int32)
        for column in columns
    }
    for begin in range(0, n, BATCH):
        part = engine.arrays(
            f"SELECT {', '.join(columns)} FROM {table} WHERE rowid >= {begin} AND rowid < "
            f"{begin + BATCH} ORDER BY rowid"
        )
        for column in columns:
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
        names = [facts.names[k] for k in columns]
        examples = {reason: tuple(_in_words(names, row) for row in rows) for reason, rows in found}
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


def _in_words(names: list[str], texts: list[str | None]) -> str:
    """Return a row in its own words: ``home_team "Ayr", away_team "Ayr"``."""
    told = zip(names, texts, strict=True)
    return ", ".join(f"{name} {quoted(text or '')}" for name, text in told)


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
    series = series_in_order(rows.first, rows.second, rows.outcomes, rows.counts)
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
    return merge(replace(rows, sequence=np.arange(len(rows)))).sequence


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
