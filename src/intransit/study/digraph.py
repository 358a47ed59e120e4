"""Cycles: how many, the strongest, and the groups of items they run through.

Item i beats item j when ``X_ij > threshold``.  A cycle is as strong as its weakest edge,

    strength = min(X_ab, X_bc, ..., X_za).

In a complete tournament without ties each triple that is not a cycle has one item that beats the
other two, so that with w_i the wins of item i

    number of 3-cycles = C(N, 3) − Σ_i C(w_i, 2);

otherwise they are counted on bits, see `intransit.study.graph_kernels`.  The strongest k come from
bisection: the largest margin at which k cycles survive, then a list of those few.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf, nan, nextafter
from typing import Literal

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaincc

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.checks import as_number, as_whole
from intransit.errors import InputError
from intransit.skew import check_margins
from intransit.study.graph_kernels import (
    count_cycles,
    keep_within_groups,
    label_groups,
    list_cycles,
    pack_edges,
    values_between,
)

N_LEVELS = 1023  # thresholds tried in one round: ten halvings


@dataclass(frozen=True)
class Cycle:
    """Items each of which beats the next, the last the first; starts at the smallest index.

    Attributes
    ----------
    items
        Numbers of the items, in the order in which they beat each other.
    margins
        Margin of each item over the next, of the last over the first.

    Examples
    --------
    >>> cycle = Cycle(items=(0, 2, 1), margins=(1.0, 2.0, 1.0))
    >>> cycle.strength
    1.0
    >>> cycle.edges
    ((0, 2), (2, 1), (1, 0))
    """

    items: tuple[int, ...]
    margins: tuple[float, ...]

    @property
    def strength(self) -> float:
        """The weakest edge."""
        return min(self.margins)

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The pairs (winner, loser), in the order of `margins`."""
        return tuple(zip(self.items, (*self.items[1:], self.items[0]), strict=True))


@dataclass(frozen=True)
class Consistency:
    """Kendall's measure of how far a tournament is from a ranking.

    `consistency` returns it.

    Attributes
    ----------
    n_items
        Number of items.
    n_cycles
        Number of 3-cycles.

    Examples
    --------
    >>> answer = Consistency(n_items=8, n_cycles=5)
    >>> answer.largest, answer.expected, answer.coefficient
    (20, 14.0, 0.75)
    """

    n_items: int
    n_cycles: int

    @property
    def largest(self) -> int:
        """The most 3-cycles a tournament of this size can have."""
        n = self.n_items
        return (n**3 - n if n % 2 else n**3 - 4 * n) // 24

    @property
    def expected(self) -> float:
        """The mean number of 3-cycles when each pair is decided by a fair coin."""
        return comb(self.n_items, 3) / 4

    @property
    def coefficient(self) -> float:
        """Kendall's ζ: 1 for a ranking, 0 for as many cycles as can be."""
        return 1 - self.n_cycles / self.largest if self.largest else 1.0

    @property
    def p_value(self) -> float:
        """Chance that coins give as few cycles: the chi-square of Kendall and Babington Smith.

        An approximation for 8 items or more; NaN for fewer.  The half, a correction
        for continuity, counts this very number in; added instead, it would leave it out.
        """
        n = self.n_items
        if n < 8:
            return nan
        freedom = n * (n - 1) * (n - 2) / (n - 4) ** 2
        chi_square = 8 / (n - 4) * (self.expected - self.n_cycles - 0.5) + freedom
        return float(gammaincc(freedom / 2, max(chi_square, 0.0) / 2))


def count_triangles(margins: FloatArray, *, threshold: float = 0.0) -> int:
    """Return the exact number of 3-cycles whose every margin is above the threshold.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items); ties and missing pairs (NaN) are no edges.
    threshold
        An item beats another when its margin is above this; 0 or more.

    Returns
    -------
    int
        Number of cycles of three items.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, or the threshold is below 0.

    Examples
    --------
    >>> count_triangles(np.array([[0.0, 1, -2], [-1, 0, 3], [2, -3, 0]]))
    1
    """
    X = check_margins(margins)
    wins, losses = pack_edges(X, _check_threshold(threshold))
    n_wins = np.bitwise_count(wins).sum(axis=1, dtype=np.int64)
    if int(n_wins.sum()) == comb(len(X), 2):
        return comb(len(X), 3) - int((n_wins * (n_wins - 1) // 2).sum())
    return count_cycles(wins, losses)


def strongest_cycles(margins: FloatArray, k: int = 10, *, length: int = 3) -> tuple[Cycle, ...]:
    """Return the k cycles of this length with the strongest weakest edge, the strongest first.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items); ties and missing pairs (NaN) are no edges.
    k
        How many; fewer are returned when there are fewer.
    length
        Number of items in a cycle, all different.  Above 5 the search may turn back without
        a find, and matrices made to defeat it take long.

    Returns
    -------
    tuple of Cycle
        Each cycle once; none where there is no cycle of this length.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, `k` is no whole number from 0, or
        `length` none from 3.

    Notes
    -----
    Exact.  Cycles of equal strength are in the order of their items; however many there are,
    only k are kept.  Beside the margins it holds two bits for each pair.

    Examples
    --------
    >>> rock_paper_scissors = np.array([[0.0, -1, 1], [1, 0, -2], [-1, 2, 0]])
    >>> strongest_cycles(rock_paper_scissors)
    (Cycle(items=(0, 2, 1), margins=(1.0, 2.0, 1.0)),)
    """
    X = check_margins(margins)
    k = as_whole("k", k, least=0)
    length = as_whole("length", length, least=3)

    def survivors(threshold: float) -> IntArray:
        wins, losses = pack_edges(X, threshold)
        keep_within_groups(wins, losses)
        return list_cycles(wins, losses, length, k)

    if k == 0 or length > len(X):
        return ()
    weakest = _strength_of_last(X, k, survivors)
    cycles = [_cycle_along(X, items) for items in survivors(weakest)]
    if weakest > 0:  # the first k at `weakest` hold enough of those that just reach it
        reaching = [_cycle_along(X, items) for items in survivors(nextafter(weakest, 0.0))]
        cycles += [cycle for cycle in reaching if cycle.strength == weakest]
    return tuple(sorted(cycles, key=lambda cycle: (-cycle.strength, cycle.items))[:k])


def _strength_of_last(X: FloatArray, k: int, survivors: Callable[[float], IntArray]) -> float:
    """Return the strength of the k-th strongest cycle, or 0 when there are not so many.

    Keeps ``low < answer <= high``: at least k cycles lie above `low`, fewer above `high`.  Every
    round tries margins strictly between, so that it moves one bound at least.
    """
    low, high = 0.0, inf
    if len(survivors(low)) < k:
        return low
    while len(levels := np.unique(values_between(X, low, high, N_LEVELS))):
        below, above = -1, len(levels)  # bounds of the places of the answer's neighbours
        while above - below > 1:
            middle = (below + above) // 2
            if len(survivors(levels[middle])) < k:
                above = middle
            else:
                below = middle
        low = float(levels[below]) if below >= 0 else low
        high = float(levels[above]) if above < len(levels) else high
    return high


def strongest_cycle_through(
    margins: FloatArray, first: int, second: int | None = None
) -> Cycle | None:
    """Return the strongest cycle, of any length, through an item or through an edge.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items); ties and missing pairs (NaN) are no edges.
    first, second
        The cycle passes through item `first`; with `second` given, it passes straight from
        `first` to `second`, which `first` must beat.

    Returns
    -------
    Cycle or None
        The shortest among the strongest; None when no cycle passes there.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, an item does not exist, or `first`
        does not beat `second`.

    Examples
    --------
    >>> ring = np.diag([3.0, 2.0, 4.0], k=1)
    >>> ring[3, 0] = 1.0
    >>> strongest_cycle_through(ring - ring.T, 1)
    Cycle(items=(0, 1, 2, 3), margins=(3.0, 2.0, 4.0, 1.0))
    """
    X = check_margins(margins)
    nexts = np.arange(len(X)) if second is None else np.array([second])
    for item in (first,) if second is None else (first, second):
        if not 0 <= item < len(X):
            raise InputError(f"item {item}: there are items 0 to {len(X) - 1}. Pass one of them.")
    if second is not None and not X[first, second] > 0:
        raise InputError(
            f"items {first} and {second}: the first does not beat the second. Swap them, or name"
            " one item alone."
        )
    strength = np.fmax(np.minimum(X[first, nexts], _widths_to(X, first)[nexts]), 0.0).max()
    if strength == 0.0:
        return None
    distances = _distances_to(X, first, strength)
    open_nexts = nexts[(X[first, nexts] >= strength) & np.isfinite(distances[nexts])]
    path = [first, int(open_nexts[np.argmin(distances[open_nexts])])]
    while distances[path[-1]] > 1:
        nearer = (distances == distances[path[-1]] - 1) & (X[path[-1]] >= strength)
        path.append(int(np.argmax(nearer)))
    return _cycle_along(X, np.roll(path, -int(np.argmin(path))))


def _widths_to(X: FloatArray, target: int) -> FloatArray:  # (n_items,)
    """Return for each item the best weakest edge of a path to the target; 0 without a path."""
    widths = np.zeros(len(X))
    widths[target] = inf
    waiting = np.ones(len(X), dtype=bool)
    while waiting.any():
        item = int(np.argmax(np.where(waiting, widths, -1.0)))
        waiting[item] = False
        # Minus a row is a column, and rows are contiguous; fmax passes over NaN.
        np.fmax(widths, np.minimum(-X[item], widths[item]), out=widths)
    widths[target] = 0.0
    return widths


def _distances_to(X: FloatArray, target: int, strength: float) -> FloatArray:  # (n_items,)
    """Return for each item the fewest edges, none weaker than this, on a path to the target."""
    distances = np.full(len(X), inf)
    distances[target] = 0.0
    queue = [target]
    for item in queue:  # grows while it is read
        fresh = np.flatnonzero((-X[item] >= strength) & np.isinf(distances))
        distances[fresh] = distances[item] + 1
        queue.extend(fresh.tolist())
    return distances


def strong_groups(margins: FloatArray, *, threshold: float = 0.0) -> tuple[tuple[int, ...], ...]:
    """Return the groups of items held together by cycles, those above before those below.

    Two items are in one group when each beats the other directly or through others.  Every
    cycle lies inside one group, and items in no group lie on no cycle.  Between groups all edges
    point down the list; groups that no chain of edges connects stand in either order.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items); ties and missing pairs (NaN) are no edges.
    threshold
        An item beats another when its margin is above this; 0 or more.

    Returns
    -------
    tuple of tuple of int
        Items of each group, in rising order; a group has three or more.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, or the threshold is below 0.

    Examples
    --------
    >>> ring = np.diag([1.0, 1.0, 1.0], k=1)
    >>> ring[3, 0] = 1.0
    >>> strong_groups(ring - ring.T)
    ((0, 1, 2, 3),)
    """
    wins, losses = pack_edges(check_margins(margins), _check_threshold(threshold))
    labels = label_groups(wins, losses)
    by_group = np.argsort(labels, kind="stable")
    groups = np.split(by_group, np.flatnonzero(np.diff(labels[by_group])) + 1)
    return tuple(tuple(group.tolist()) for group in groups if len(group) >= 3)


def consistency(margins: FloatArray) -> Consistency:
    """Return Kendall's coefficient of consistency, with what chance alone would give.

    The coefficient is defined for complete tournaments without ties; others are refused.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items), nothing missing and nothing tied.

    Returns
    -------
    Consistency
        The coefficient, the number of 3-cycles, the expected and the largest one, and a p-value.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, some are missing, or pairs are tied.

    Examples
    --------
    >>> answer = consistency(np.array([[0.0, 1, -2], [-1, 0, 3], [2, -3, 0]]))
    >>> answer.coefficient, answer.expected
    (0.0, 0.25)
    """
    X = check_margins(margins, complete=True)
    n_undecided = (X.size - int(np.count_nonzero(X)) - len(X)) // 2
    if n_undecided:
        raise InputError(
            f"margins: {n_undecided} pairs are tied. Kendall's coefficient needs a winner of each"
            " pair; break the ties, or use count_triangles."
        )
    return Consistency(n_items=len(X), n_cycles=count_triangles(X))


def _cycle_along(X: FloatArray, items: IntArray) -> Cycle:
    margins = X[items, np.roll(items, -1)]
    return Cycle(tuple(items.tolist()), tuple(margins.tolist()))


def _check_threshold(threshold: float) -> float:
    return as_number("threshold", threshold, least=0.0)  # below 0 both of a pair would win


def connected(
    pairs: IntArray,  # (n_edges, 2)
    n_items: int,
    connection: Literal["weak", "strong"] = "weak",
) -> IntArray:  # (n_items,)
    """Return the number of each item's part of a graph: any two in it are connected by edges.

    In a strong part edges lead from each to each; weak ones are numbered in the order of their
    smallest items.
    """
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))
    return np.asarray(connected_components(graph, connection=connection)[1], dtype=np.int64)


def goes_round(first: IntArray, second: IntArray, outcomes: FloatArray, n_items: int) -> bool:
    """Return whether results lead from some item back to itself; a tie leads both ways."""
    won, lost = outcomes > 0.0, outcomes < 1.0
    better = np.concatenate([first[won], second[lost]])
    worse = np.concatenate([second[won], first[lost]])
    parts = connected(np.column_stack([better, worse]), n_items, "strong")
    return len(np.unique(parts)) < n_items


def n_cycles(pairs: IntArray, n_items: int) -> int:
    """Return the number of independent cycles of comparisons."""
    return len(pairs) - n_items + len(np.unique(connected(pairs, n_items)))


def bridges(pairs: IntArray, n_items: int) -> BoolArray:  # (n_pairs,)
    """Return which pairs lie on no cycle of comparisons: without them a group falls apart.

    By depth-first search: an edge down the tree is a bridge if nothing below it leads back above.
    """
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    begins = np.searchsorted(ends[order, 0], np.arange(n_items + 1)).tolist()
    other, edge = ends[order, 1].tolist(), (order % len(pairs)).tolist()
    found = np.zeros(len(pairs), dtype=bool)
    depth, lowest, at = [-1] * n_items, [0] * n_items, begins[:-1].copy()
    for root in range(n_items):
        if depth[root] >= 0:
            continue
        depth[root] = lowest[root] = 0
        path = [(root, -1)]
        while path:
            item, came_by = path[-1]
            if at[item] < begins[item + 1]:
                k = at[item]
                at[item] += 1
                if depth[other[k]] < 0:
                    depth[other[k]] = lowest[other[k]] = depth[item] + 1
                    path.append((other[k], edge[k]))
                elif edge[k] != came_by:
                    lowest[item] = min(lowest[item], depth[other[k]])
                continue
            path.pop()
            if path:
                above = path[-1][0]
                lowest[above] = min(lowest[above], lowest[item])
                found[came_by] = lowest[item] > depth[above]
    return found
