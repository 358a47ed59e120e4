"""Which items a report shows, how often they met, and when they were there."""

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.arrays import BoolArray, FloatArray, IntArray

LATELY = 0.25  # of the games, the latest
LEADING = 3  # one place in so many goes to the strongest of those that the games leave out
FEWEST = 5  # games lately: items with fewer are no leaders


def choose_items(answer: FittedTable, most: int, wanted: IntArray) -> tuple[IntArray, str]:
    """Return the items to be shown, and in words which they are; nothing where all are.

    Those `wanted` first, which the findings speak of; then those with the most games lately, and
    for a third of the places the strongest at the end, among items with some games lately.
    """
    n = answer.n_items
    if n <= most:
        return np.arange(n), ""
    lately = latest_games(answer)
    order = np.lexsort((np.arange(n), -answer.seen.games, -lately))
    chosen = dict.fromkeys(wanted[: most // 2].tolist())
    busy = most - (most - len(chosen)) // LEADING
    there = np.flatnonzero(lately >= FEWEST)
    for items, places in ((order, busy), (_strongest(answer, there), most), (order, most)):
        for k in items.tolist():
            if len(chosen) < places:
                chosen[k] = None
    when = " among the latest quarter" if answer.model.moves else ""
    cycles = "those in the cycles that are listed, " if len(wanted) else ""
    why = (
        f"{len(chosen)} of {n:,} items are shown: {cycles}those with the most games{when}, and the "
        f"strongest with at least {FEWEST} of them."
    )
    return np.array(sorted(chosen)), why


def _strongest(answer: FittedTable, items: IntArray) -> IntArray:
    """Return items by their strength at the end, best first."""
    mean = answer.strengths(items, answer.seen.end)[0]
    return np.asarray(items[np.argsort(-mean, kind="stable")])


def latest_games(answer: FittedTable) -> FloatArray:  # (n_items,)
    """Return how many of the latest quarter of all games each item had; of all, without drift."""
    cells = answer.posterior.layout.seen
    late = np.ones(len(cells), dtype=bool)
    if answer.model.moves and len(cells):
        when = np.unique(cells.times, return_inverse=True)[1]
        later = np.cumsum(np.bincount(when, cells.counts)[::-1])[::-1]
        late = when >= np.flatnonzero(later >= LATELY * later[0])[-1]
    weights = np.repeat(cells.counts[late], 2)
    counts = np.bincount(cells.pairs[late].ravel(), weights, minlength=answer.n_items)
    return np.asarray(counts, dtype=np.float64)


def records(
    answer: FittedTable, items: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:  # (n, n) each
    """Return the games of each pair, how many of them the row won, and how many were ties.

    Where results are shares of wins or readings, ties are not kept apart, and count as half a win.
    """
    cells, n = answer.posterior.layout.seen, answer.n_items
    place = np.full(n, -1)
    place[items] = np.arange(len(items))
    i, j = place[cells.pairs].T
    both = (i >= 0) & (j >= 0)
    i, j, counts, won = i[both], j[both], cells.counts[both], cells.wins[both]
    tied = counts * (cells.means[both] == 0.0) * (cells.kind == "ordered")
    games, wins, ties = np.zeros((3, len(items), len(items)))
    np.add.at(games, (i, j), counts)
    np.add.at(wins, (i, j), won - 0.5 * tied)
    np.add.at(wins, (j, i), counts - won - 0.5 * tied)
    np.add.at(ties, (i, j), tied)
    return games + games.T, wins, ties + ties.T


def presence(
    answer: FittedTable, items: IntArray, times: FloatArray, reach: float
) -> BoolArray:  # (n_times, n)
    """Return whether an item was compared within `reach` of each time; always, if there is one."""
    if len(times) < 2:
        return np.ones((len(times), len(items)), dtype=bool)
    cells, paths = answer.posterior.layout.seen, answer.posterior.layout.items
    half = 0.5 * answer.encoding.step  # a moment is named by its middle
    out = np.zeros((len(times), answer.n_items), dtype=bool)
    if answer.part is not None and paths.moves:  # games against others are known by their times
        owner = np.repeat(np.arange(answer.n_items), np.diff(paths.begin))
        for k, time in enumerate(times):
            out[k, owner[np.abs(paths.clock - time) <= reach + half]] = True
        return out[:, items]
    for k, time in enumerate(times):
        near = np.abs(cells.times - time) <= reach + half
        out[k, cells.pairs[near].ravel()] = True
    return out[:, items]


def pools(answer: FittedTable, items: IntArray) -> IntArray:  # (n,)
    """Return the number of each item's group, the largest group 0, then in order of names."""
    groups = answer.posterior.groups
    there, first = np.unique(groups, return_index=True)
    sizes = np.bincount(groups, minlength=groups.max() + 1)[there]
    ranked = there[np.lexsort((first, -sizes))]
    number = np.empty(groups.max() + 1, dtype=np.int64)
    number[ranked] = np.arange(len(ranked))
    return np.asarray(number[groups[items]])
