"""Rows in the order in which a table lists them: their series, and which game came first."""

from dataclasses import replace

import numpy as np

from intransit.arrays import FloatArray, IntArray, n_distinct
from intransit.tables.cells import Cells
from intransit.tables.games import MOST_IN_SEQUENCE
from intransit.tables.queries import Query
from intransit.tables.series import in_order

UP_TO = 2_000_000  # rows; beyond, telling series apart would cost more than it is worth


def with_series(query: Query, cells: Cells) -> Cells:
    """Return the rows of a table without distinct times one by one, numbered by their series.

    As they are, added up, where there are times, too many rows, or no series to be seen.
    """
    times = cells.arrays["time"]
    if not len(times) or (times != times[0]).any() or cells.n_rows > UP_TO:
        return cells
    if not query.facts.table.numbered:
        return cells
    rows = _one_by_one(query, cells)
    series = in_order(rows.first, rows.second, rows.arrays["outcome"], rows.arrays["count"])
    return cells if series is None else replace(rows, series=series)


def sequence_of(query: Query, cells: Cells) -> IntArray | None:  # (n_games,)
    """Return the cell of every game, in the order of the table; None where time tells the order.

    Also None where there are too many games, rows that stand for several, or rows of an engine:
    these have no order.
    """
    times = cells.arrays["time"]
    single = query.columns["count"] == "1.0::DOUBLE"
    if not single or cells.n_rows > MOST_IN_SEQUENCE or not query.facts.table.numbered:
        return None
    if cells.series is not None:
        return np.arange(len(times))
    if n_distinct(times) == len(times):
        return None
    if cells.listed is not None:
        return cells.listed
    rows = _one_by_one(query, cells)
    told = [
        np.concatenate([ours, theirs])
        for ours, theirs in zip(_columns(cells), _columns(rows), strict=True)
    ]
    order = np.lexsort(told[::-1])
    new = np.zeros(len(order), dtype=np.int64)
    for column in told:
        new[1:] |= column[order][1:] != column[order][:-1]
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(new)
    cell = np.full(int(group.max()) + 1, -1)
    cell[group[: len(times)]] = np.arange(len(times))
    return cell[group[len(times) :]]


def _columns(cells: Cells) -> list[FloatArray | IntArray]:
    measured = [cells.arrays[name] for name in sorted(cells.arrays) if name != "count"]
    return [cells.first, cells.second, *measured, *(covariate.codes for covariate in cells.by)]


def _one_by_one(query: Query, cells: Cells) -> Cells:
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


def _repeated(cells: Cells, listed: IntArray) -> Cells:
    """Return cells of single games, each as often as it is listed."""
    arrays = {name: column[listed] for name, column in cells.arrays.items()}
    arrays["count"] = np.ones(len(listed))
    by = tuple(covariate.only(listed) for covariate in cells.by)
    first, second = cells.first[listed], cells.second[listed]
    return replace(cells, arrays=arrays, first=first, second=second, by=by)
