"""Rows in the order in which a table lists them, where nothing else says which belong together."""

from dataclasses import replace

import numpy as np

from intransit.tables.cells import Cells
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
    engine = query.facts.table.engine
    kept = {"first", "second", *(key for key in query.keys if key.startswith("by"))}
    columns = [key for key in query.keys if key in cells.arrays or key in kept]
    threads = engine.ask("SELECT current_setting('threads')")[0][0]
    engine.run("SET threads = 1")  # so that rows are numbered in their order
    rows = engine.arrays(
        f"SELECT {', '.join(columns)}, count FROM {query.sql(query.facts.numbered, with_row=True)}"
        " WHERE reason IS NULL ORDER BY row"
    )
    engine.run(f"SET threads = {threads}")
    place = {name: k for k, name in enumerate(cells.names)}
    number = np.array([place.get(name, -1) for name in query.names])
    first, second = (number[np.asarray(rows.pop(role))] for role in ("first", "second"))
    by = query.covariates(rows)
    arrays = {name: np.asarray(column, dtype=np.float64) for name, column in rows.items()}
    series = in_order(first, second, arrays["outcome"], arrays["count"])
    if series is None:
        return cells
    return replace(cells, arrays=arrays, first=first, second=second, series=series, by=by)
