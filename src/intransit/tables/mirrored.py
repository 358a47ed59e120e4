"""Tables in which every game stands twice, once as each side sees it: such games counted once."""

from dataclasses import replace

import numpy as np

from intransit.arrays import IntArray
from intransit.tables.cells import Cells
from intransit.tables.choosing import Roles

MOSTLY = 0.5  # share of rows with a counterpart, in a table that names an opponent
OPPONENTS = {"opponent", "opp", "against", "foe", "rival", "vs", "enemy"}


def without_mirrors(cells: Cells, roles: Roles, wish: str | None) -> tuple[Cells, str]:
    """Return the cells with each game once, and what is to be said about that.

    A game that stands twice has the same time, covariates and count, and the opposite outcome,
    margin and side.  Without a wish, mirrored rows are joined where the second column is an
    opponent's and most rows have a counterpart (all, where there are no times).
    """
    opponent = roles.marker is not None and roles.marker.second in OPPONENTS
    if wish == "keep" or not len(cells.first) or (wish is None and not opponent):
        return cells, ""
    counts = cells.arrays["count"]
    partner = _counterparts(cells)
    matched = np.zeros(len(counts))
    there = partner >= 0
    matched[there] = np.minimum(counts[there], counts[partner[there]])
    share = float(matched.sum() / counts.sum())
    timed = bool((cells.arrays["time"] != cells.arrays["time"][0]).any())
    if wish is None and share < (MOSTLY if timed else 1.0):
        return cells, ""
    if wish is None and cells.n_rows < 3:
        return cells, ""
    if not matched.any():
        return cells, ""
    # Of the two, the row in which the first item comes first by name keeps the games of both.
    leads = there & (cells.first < cells.second)
    follows = there & ~leads
    new = counts.copy()
    new[leads] = counts[leads] + counts[partner[leads]] - matched[leads]
    kept = ~follows
    n_twice = float(matched.sum()) / 2.0
    note = (
        f"{2.0 * n_twice:,.12g} rows tell {n_twice:,.12g} games twice, once as each side sees "
        'them; these were counted once; to count both, say mirrored="keep" (command line: '
        "--mirrored keep)"
    )
    arrays = {name: values[kept] for name, values in {**cells.arrays, "count": new}.items()}
    return (
        replace(
            cells,
            arrays=arrays,
            first=cells.first[kept],
            second=cells.second[kept],
            series=None if cells.series is None else cells.series[kept],
            by=tuple(covariate.only(kept) for covariate in cells.by),
        ),
        note,
    )


def _counterparts(cells: Cells) -> IntArray:  # (n,) -1 where there is none
    """Return for each cell the one that tells the same games as the other side sees them."""
    n = len(cells.first)
    swap = cells.first > cells.second
    arrays = cells.arrays
    columns = [
        arrays["time"],
        np.minimum(cells.first, cells.second),
        np.maximum(cells.first, cells.second),
        np.where(swap, 1.0 - arrays["outcome"], arrays["outcome"]),
    ]
    turned = [arrays[name] for name in ("margin", "side") if name in arrays]
    columns += [np.where(swap, -column, column) + 0.0 for column in turned]
    columns += [covariate.codes for covariate in cells.by]
    order = np.lexsort([swap, *columns[::-1]])
    same = np.ones(n - 1, dtype=bool)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    same &= swap[order][1:] & ~swap[order][:-1]
    partner = np.full(n, -1, dtype=np.int64)
    left, right = order[:-1][same], order[1:][same]
    partner[left], partner[right] = right, left
    return partner
