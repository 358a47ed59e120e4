"""Cells: equal rows added up by one query, and what became of the rows that cannot be used."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.tables.covariates import Covariate
from intransit.tables.engine import Engine
from intransit.tables.files import shorten
from intransit.tables.intake import SHOWN
from intransit.tables.origins import N_SAME
from intransit.tables.packing import add_up_packed
from intransit.tables.queries import Query
from intransit.tables.reading import Unused

BATCH = 1 << 20  # rows fetched at once
MEASURED = {"time", "outcome", "margin", "side", "count"}  # the others number items and values


@dataclass(frozen=True)
class Cells:
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


def add_up(query: Query) -> Cells:
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
    return Cells(names, arrays, first, second, n_rows, unused, without, by=by, listed=listed)


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
    """Return the rows that cannot be used, by reason, with the first places of each."""
    facts, engine = query.facts, query.facts.table.engine
    if not tallies:
        return ()
    if facts.table.grouping is not None:
        return _with_examples(query, tallies)
    with facts.table.in_order():
        found = engine.ask(
            f"SELECT reason, min(row, {SHOWN}) FROM {query.sql(facts.numbered, with_row=True)} "
            "WHERE reason IS NOT NULL GROUP BY reason"
        )
    lines = facts.table.lines({row for _, rows in found for row in rows})
    places = {
        reason: tuple(sorted(lines[row] for row in rows if row in lines)) for reason, rows in found
    }
    return tuple(
        Unused(query.reasons[reason], int(tallies[reason]), places.get(reason, ()))
        for reason in sorted(tallies, key=lambda reason: (-tallies[reason], reason))
    )


def _with_examples(query: Query, tallies: dict[int, int]) -> tuple[Unused, ...]:
    """Return the rows that cannot be used, by reason, some of each in their own words."""
    facts, grouping = query.facts, query.facts.table.grouping
    assert grouping is not None
    columns = sorted(grouping.held)
    cells = ", ".join(facts.raw(k) for k in columns)
    texts = f"[{cells}]"
    told = replace(query, columns={**query.columns, "texts": texts})
    found = facts.table.engine.ask(
        f"SELECT reason, min(texts, {SHOWN}) FROM {told.sql(facts.rows)} "
        "WHERE reason IS NOT NULL GROUP BY reason"
    )
    names = [facts.table.names[k] for k in columns]
    examples = {reason: tuple(_in_words(names, row) for row in rows) for reason, rows in found}
    return tuple(
        Unused(query.reasons[reason], int(tallies[reason]), (), examples.get(reason, ()))
        for reason in sorted(tallies, key=lambda reason: (-tallies[reason], reason))
    )


def _in_words(names: list[str], texts: list[str | None]) -> str:
    """Return a row in its own words: ``home_team "Ayr", away_team "Ayr"``."""
    told = zip(names, texts, strict=True)
    return ", ".join(f'{name} "{shorten(text or "")}"' for name, text in told)
