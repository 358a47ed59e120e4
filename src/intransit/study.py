"""Questions put to a margins matrix: how far it is from a ranking, and where its cycles are.

*Cycles.*  Item i beats item j when ``X_ij > threshold``.  A cycle is as strong as its weakest edge,

    strength = min(X_ab, X_bc, ..., X_za).

In a complete tournament without ties each triple that is not a cycle has one item that beats the
other two, so that with w_i the wins of item i

    number of 3-cycles = C(N, 3) − Σ_i C(w_i, 2);

otherwise they are counted on bits, see `intransit.kernels`.  The strongest k come from
bisection: the largest margin at which k cycles survive, then a list of those few.

*Decompositions*, into a ranking and what goes in circles, or into planes.  The transitive part of X
is the nearest matrix of score differences, the cyclic part the rest:

    X_ij = (s_i − s_j) + C_ij,        s = argmin Σ_{i<j} w_ij (X_ij − s_i + s_j)²

with w_ij ≥ 0 how much pair (i, j) counts, 0 when it was never compared.  The scores solve the
equation of the comparison graph, ``L s = b``, ``b_i = Σ_j w_ij X_ij`` and L its Laplacian; when
all pairs count the same they are the row means.  The parts are at right angles, so that energies
add up:

    Σ w X² = Σ w (s_i − s_j)² + Σ w C².

In an incomplete graph the cyclic part splits once more (HodgeRank: Jiang, Lim, Yao and Ye, 2011):

    C = curl + harmonic,        curl = W⁻¹ Kᵀ Φ,  (K C)_ijk = C_ij + C_jk + C_ki,

into what circles around triangles and what only circles around holes in the graph.

Every skew-symmetric matrix is a sum of at most N / 2 planes,

    X = Σ_c ω_c (u_c v_cᵀ − v_c u_cᵀ),        ω_1 ≥ ω_2 ≥ ... > 0,  all u_c, v_c orthonormal.

In a plane each item is a point √ω (u_i, v_i), with an angle and a radius, and

    X_ij = Σ_c radius_i radius_j sin(angle_j − angle_i):

an item is favoured over those that follow it anticlockwise within half a turn, most over those
a quarter turn ahead, and the more, the further out the two lie.

How they are computed is in `intransit.skew`.
"""

import warnings
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb, inf, nan, nextafter, sqrt
from typing import Annotated, Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array, csc_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components, depth_first_order, dijkstra
from scipy.sparse.linalg import cg, lsmr, splu
from scipy.special import gammaincc

from intransit.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    described,
    fold_pairs,
    largest_size,
    slices,
    unfold,
)
from intransit.checks import as_floats, as_number, as_whole, check_pairs, shown
from intransit.errors import ConvergenceWarning, InputError
from intransit.kernels import (
    count_cycles,
    keep_within_groups,
    label_groups,
    list_cycles,
    list_triangles,
    pack_edges,
)
from intransit.skew import canonical_form, check_margins, factor_core

__all__ = [
    "Consistency",
    "Cycle",
    "CyclicSplit",
    "Decomposition",
    "PairDecomposition",
    "Plane",
    "canonical_planes",
    "check_margins",
    "consistency",
    "count_triangles",
    "decompose",
    "decompose_pairs",
    "factor_planes",
    "split_cyclic",
    "strong_groups",
    "strongest_cycle_through",
    "strongest_cycles",
]


# Cycles -------------------------------------------------------------------------------------------

N_LEVELS = 1023  # thresholds tried in one round: ten halvings


@described
@dataclass(frozen=True)
class Cycle:
    """Items each of which beats the next, the last the first; starts at the smallest index.

    Examples
    --------
    >>> cycle = Cycle(items=(0, 2, 1), margins=(1.0, 2.0, 1.0))
    >>> cycle.strength
    1.0
    >>> cycle.edges
    ((0, 2), (2, 1), (1, 0))
    """

    items: Annotated[
        tuple[int, ...], "Numbers of the items, in the order in which they beat each other."
    ]
    margins: Annotated[
        tuple[float, ...], "Margin of each item over the next, of the last over the first."
    ]

    @property
    def strength(self) -> float:
        """The weakest edge."""
        return min(self.margins)

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The pairs (winner, loser), in the order of `margins`."""
        return tuple(zip(self.items, (*self.items[1:], self.items[0]), strict=True))


@described
@dataclass(frozen=True)
class Consistency:
    """Kendall's measure of how far a tournament is from a ranking.

    `consistency` returns it.

    Examples
    --------
    >>> answer = Consistency(n_items=8, n_cycles=5)
    >>> answer.largest, answer.expected, answer.coefficient
    (20, 14.0, 0.75)
    """

    n_items: Annotated[int, "Number of items."]
    n_cycles: Annotated[int, "Number of 3-cycles."]

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
    while len(levels := _levels_between(X, low, high)):
        above = bisect_left(levels, True, key=lambda level: len(survivors(level)) < k)
        low = float(levels[above - 1]) if above > 0 else low
        high = float(levels[above]) if above < len(levels) else high
    return high


def _levels_between(X: FloatArray, low: float, high: float) -> FloatArray:
    """Return margins strictly between two, rising: at most `N_LEVELS`, spread over the matrix."""
    inside = X[(low < X) & (high > X)]
    return np.unique(inside[:: max(1, -(-len(inside) // N_LEVELS))])


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
    # The fewest edges, none weaker than this, from each item back to the first.
    (distances,) = dijkstra(csr_array(strength <= -X), indices=[first], unweighted=True)
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

    Point the edges of a depth-first tree down and all others, which lead from an item to one above
    it, up.  Who lies on a cycle together is then in one strong part (Robbins, 1939).
    """
    roots = np.unique(connected(pairs, n_items), return_index=True)[1]
    above_all = np.column_stack([np.full(len(roots), n_items), roots])
    first, second = np.concatenate([pairs, above_all]).T
    graph = csr_array((np.ones(len(first)), (first, second)), shape=(n_items + 1, n_items + 1))
    order, parents = depth_first_order(graph, n_items, directed=False)
    depth = np.argsort(order)[pairs]
    down = np.where((depth[:, :1] < depth[:, 1:]), pairs, pairs[:, ::-1])
    in_tree = parents[down[:, 1]] == down[:, 0]
    parts = connected(np.where(in_tree[:, None], down, down[:, ::-1]), n_items, "strong")
    return np.asarray(parts[pairs[:, 0]] != parts[pairs[:, 1]])


# Decompositions -----------------------------------------------------------------------------------

EQUAL_RADII = 1e-9  # radii closer than this, relatively, take the smaller index
WIDEST_WEIGHTS = 1e9  # largest over smallest weight that double precision still resolves


def check_weights(weights: FloatArray | None, missing: BoolArray) -> FloatArray:
    """Return the weights with zeros for missing pairs and on the diagonal, or refuse them."""
    given = np.ones(missing.shape) if weights is None else as_floats(weights, "weights")
    if given.shape != missing.shape:
        raise InputError(
            f"weights: found the shape {given.shape} beside margins of {missing.shape}."
            " Pass one weight for each entry."
        )
    W = np.where(missing, 0.0, given)
    np.fill_diagonal(W, 0.0)
    check_weight_values(W)
    if (W != W.T).any():
        raise InputError("weights: they are not symmetric. Give both entries of a pair the same.")
    return W


def check_weight_values(w: FloatArray) -> None:
    """Refuse weights that are negative, not finite, or too far apart to solve with."""
    if not np.isfinite(w).all() or (w < 0.0).any():
        raise InputError("weights: some are negative or not finite. Pass 0 to leave a pair out.")
    positive = w[w > 0.0]
    if positive.size and positive.max() > WIDEST_WEIGHTS * positive.min():
        raise InputError(
            f"weights: the largest is more than {WIDEST_WEIGHTS:.0e} times the smallest. Pass 0 for"
            " pairs that hardly count."
        )


def check_outcomes(
    pairs: IntArray, outcomes: FloatArray, weights: FloatArray | None, n_items: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the rows that count, with their weights, or refuse them."""
    pairs = check_pairs(pairs, as_whole("n_items", n_items, least=0), "pairs")
    y = as_floats(outcomes, "outcomes")
    w = np.ones(y.shape) if weights is None else as_floats(weights, "weights")
    if pairs.shape != (*y.shape, 2) or y.ndim != 1 or w.shape != y.shape:
        raise InputError(
            f"pairs: found {pairs.shape} pairs, {y.shape} outcomes and {w.shape} weights. Pass"
            " (n, 2) pairs with n outcomes and n weights."
        )
    itself = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(itself):
        raise InputError(
            f"pairs: row {itself[0]} compares item {pairs[itself[0], 0]} with itself. A comparison"
            " needs two different items; leave the row out."
        )
    if not np.isfinite(y).all():
        raise InputError("outcomes: some are not finite. Leave out the rows without an outcome.")
    check_weight_values(w)
    return pairs[w > 0.0], y[w > 0.0], w[w > 0.0]


N_ROWS = 256  # of a matrix handled at once, so that no second matrix is held
CLOSE_ENOUGH = 1e-11  # relative residual of an iterative solve; a worse one is factorised
N_DIRECT = 2000  # items up to which a factorisation is quicker than iterating
FILLED = 0.1  # share of entries that are not 0, from which a dense factorisation is quicker


@described
@dataclass(frozen=True, eq=False)
class Decomposition:
    """A margins matrix as score differences plus a cyclic rest.

    Scores have mean zero within each component of the comparison graph; between components
    nothing was compared, and their levels are free.  `decompose` returns it.

    Examples
    --------
    >>> parts = decompose(np.array([[0.0, 2, 1], [-2, 0, 3], [-1, -3, 0]]))
    >>> parts.transitive.round(2).tolist()
    [[0.0, 0.67, 2.33], [-0.67, 0.0, 1.67], [-2.33, -1.67, 0.0]]
    >>> parts.cyclic.round(2).tolist()
    [[0.0, 1.33, -1.33], [-1.33, 0.0, 1.33], [1.33, -1.33, 0.0]]
    >>> parts.to_pairs().pairs.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    margins: Annotated[
        FloatArray, "Skew-symmetric (n_items, n_items).  NaN marks pairs never compared."
    ]
    weights: Annotated[
        FloatArray | None,
        "How much each pair counts, (n_items, n_items); None when all pairs count the same.",
    ]
    scores: Annotated[
        FloatArray, "The scores whose differences come nearest to the margins, (n_items,)."
    ]
    components: Annotated[
        IntArray,
        "Component of the comparison graph that each item is in, (n_items,); they are "
        "numbered in the order of their smallest items.",
    ]
    cyclic_share: Annotated[
        float, "Cyclic part of the weighted sum of squares; 0 when all margins are zero."
    ]

    @property
    def transitive_share(self) -> float:
        """The rest of the weighted sum of squares."""
        return 1.0 - self.cyclic_share

    @property
    def transitive(self) -> FloatArray:  # (n_items, n_items)
        """Score differences; NaN between components."""
        differences = self.scores[:, None] - self.scores
        apart = self.components[:, None] != self.components
        return np.where(apart, np.nan, differences) if apart.any() else differences

    @property
    def cyclic(self) -> FloatArray:  # (n_items, n_items)
        """Margins minus score differences; NaN where nothing was compared."""
        rest = self.margins - self.transitive
        if self.weights is not None:
            rest[self.weights == 0.0] = np.nan
            np.fill_diagonal(rest, 0.0)
        return rest

    def to_pairs(self) -> "PairDecomposition":
        """Return the same answer on the list of compared pairs.

        Returns
        -------
        PairDecomposition
            Each compared pair once, with the same scores and components.
        """
        compared = ~np.isnan(self.margins) if self.weights is None else self.weights > 0.0
        first, second = np.nonzero(np.triu(compared, 1))
        weights = np.ones(len(first)) if self.weights is None else self.weights[first, second]
        return PairDecomposition(
            pairs=np.column_stack((first, second)),
            margins=self.margins[first, second],
            weights=weights,
            scores=self.scores,
            components=self.components,
        )


@described
@dataclass(frozen=True, eq=False)
class PairDecomposition:
    """The margins of some pairs as score differences plus a cyclic rest.

    Each pair stands once, its smaller item first.  Scores have mean zero within each component
    of the comparison graph; between components their levels are free.  `decompose_pairs` returns
    it.

    Examples
    --------
    >>> parts = decompose_pairs(np.array([[0, 1], [1, 0], [1, 2]]), np.array([3.0, -1.0, 1.0]),
    ...                         n_items=3)
    >>> parts.pairs.tolist(), parts.margins.tolist()
    ([[0, 1], [1, 2]], [2.0, 1.0])
    >>> parts.scores.round(2).tolist()
    [1.67, -0.33, -1.33]
    """

    pairs: Annotated[IntArray, "The compared pairs, (n_pairs, 2), sorted."]
    margins: Annotated[
        FloatArray,
        "Weighted mean of the outcomes of each pair's first item against its second, (n_pairs,).",
    ]
    weights: Annotated[FloatArray, "Sum of the weights of these outcomes, (n_pairs,)."]
    scores: Annotated[
        FloatArray, "The scores whose differences come nearest to the margins, (n_items,)."
    ]
    components: Annotated[
        IntArray,
        "Component of the comparison graph that each item is in, (n_items,); they are "
        "numbered in the order of their smallest items.",
    ]

    @property
    def transitive(self) -> FloatArray:  # (n_pairs,)
        """Score differences."""
        return self.scores[self.pairs[:, 0]] - self.scores[self.pairs[:, 1]]

    @property
    def cyclic(self) -> FloatArray:  # (n_pairs,)
        """Margins minus score differences."""
        return self.margins - self.transitive

    @cached_property
    def cyclic_share(self) -> float:
        """Cyclic part of the weighted sum of squares; 0 when all margins are zero."""
        scale = scale_of(self.margins)
        cyclic = float(self.weights @ (self.cyclic / scale) ** 2)
        return share_of(cyclic, float(self.weights @ (self.transitive / scale) ** 2))

    @property
    def transitive_share(self) -> float:
        """The rest of the weighted sum of squares."""
        return 1.0 - self.cyclic_share


def decompose(margins: FloatArray, *, weights: FloatArray | None = None) -> Decomposition:
    """Split margins into the nearest score differences and a cyclic rest.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items).  NaN marks pairs never compared.
    weights
        How much each pair counts, symmetric, not negative, 0 for pairs to pass over (missing
        pairs are passed over anyway).  The diagonal is ignored.

    Returns
    -------
    Decomposition
        The scores, the two parts as matrices, and their shares.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, or the weights do not fit them,
        are negative, not symmetric, or too far apart.

    Examples
    --------
    >>> parts = decompose(np.array([[0.0, 2, 1], [-2, 0, 3], [-1, -3, 0]]))
    >>> parts.scores.round(3).tolist()
    [1.0, 0.333, -1.333]
    >>> round(parts.cyclic_share, 3)
    0.381
    """
    X = check_margins(margins)
    missing = np.isnan(X)
    if weights is None and not missing.any():
        scores = X.sum(axis=1) / max(len(X), 1)
        components = np.zeros(len(X), dtype=np.int64)
        return Decomposition(X, None, scores, components, _matrix_share(X, scores))
    W = check_weights(weights, missing)
    first, second = np.nonzero(np.triu(W, 1))
    pairs = np.column_stack((first, second))
    parts = _split_pairs(pairs, X[first, second], W[first, second], len(X))
    return Decomposition(X, W, parts.scores, parts.components, parts.cyclic_share)


def decompose_pairs(
    pairs: IntArray,  # (n_outcomes, 2)
    outcomes: FloatArray,  # (n_outcomes,)
    *,
    n_items: int,
    weights: FloatArray | None = None,  # (n_outcomes,)
) -> PairDecomposition:
    """Split listed margins into score differences and a cyclic rest, without any matrix.

    Parameters
    ----------
    pairs, outcomes
        Outcome of ``pairs[:, 0]`` against ``pairs[:, 1]``.  A pair may come several times and
        either way round; its outcomes are averaged first, and what they disagree about belongs
        to neither part.
    n_items
        Number of items; some may have met nobody.
    weights
        How much each outcome counts, not negative; 1 unless given.

    Returns
    -------
    PairDecomposition
        The scores, and the two parts of each pair that was compared.

    Raises
    ------
    InputError
        If pairs, outcomes and weights do not fit each other, an item is compared with itself, an
        outcome is not finite, or weights are negative or too far apart.

    Examples
    --------
    >>> ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> parts = decompose_pairs(ring, np.array([1.0, 1.0, 1.0, 1.0]), n_items=4)
    >>> parts.cyclic_share
    1.0
    """
    pairs, outcomes, w = check_outcomes(pairs, outcomes, weights, n_items)
    keys, signs = fold_pairs(pairs, n_items)
    cells, cell_of = np.unique(keys, return_inverse=True)
    total = np.bincount(cell_of, w, len(cells)).astype(np.float64)
    means = np.bincount(cell_of, w * signs * outcomes, len(cells)) / total
    return _split_pairs(unfold(cells, n_items), means, total, n_items)


def _split_pairs(
    pairs: IntArray, margins: FloatArray, weights: FloatArray, n_items: int
) -> PairDecomposition:
    """Return the parts of pairs that stand once each, sorted, the smaller item first."""
    components = connected(pairs, n_items)
    scores = _solve(pairs, margins, weights, components)
    sizes = np.maximum(np.bincount(components), 1)
    scores -= (np.bincount(components, scores) / sizes)[components]
    return PairDecomposition(pairs, margins, weights, scores, components)


def _solve(
    pairs: IntArray, margins: FloatArray, weights: FloatArray, components: IntArray
) -> FloatArray:  # (n_items,)
    """Solve the equation of the graph, by factorisation when it is small or iterating fails."""
    n_items = len(components)
    rows = np.tile(np.arange(len(pairs)), 2)
    signs = np.repeat([1.0, -1.0], len(pairs))
    shape = (len(pairs), n_items)
    differences = coo_array((signs, (rows, pairs.T.ravel())), shape=shape).tocsc()
    laplacian = csc_array(differences.T @ diags_array(weights) @ differences)
    pulls = differences.T @ (weights * margins)
    if n_items > N_DIRECT:
        degrees = np.where(laplacian.diagonal() > 0.0, laplacian.diagonal(), 1.0)
        # Singular but consistent: the iterates never leave the range of the Laplacian.
        scores, _ = cg(laplacian, pulls, rtol=1e-13, maxiter=2000, M=diags_array(1 / degrees))
        left = np.linalg.norm(pulls - laplacian @ scores)
        if left <= CLOSE_ENOUGH * np.linalg.norm(pulls):
            return np.asarray(scores)
    held = np.unique(components, return_index=True)[1]  # the first item of each, at zero
    free = np.setdiff1d(np.arange(n_items), held)
    scores = np.zeros(n_items)
    if len(free):
        inner = laplacian[free][:, free].tocsc()
        if inner.nnz > FILLED * len(free) ** 2:
            scores[free] = cho_solve(cho_factor(inner.toarray()), pulls[free])
        else:
            scores[free] = splu(inner).solve(pulls[free])
    return scores


def _matrix_share(X: FloatArray, scores: FloatArray) -> float:
    """Return the cyclic share of a complete matrix, a few rows at a time."""
    scale = scale_of(X)
    cyclic = transitive = 0.0
    for rows in slices(len(X), N_ROWS):
        ranked = (scores[rows, None] - scores) / scale
        cyclic += float(np.sum((X[rows] / scale - ranked) ** 2))
        transitive += float(np.sum(ranked**2))
    return share_of(cyclic, transitive)


def share_of(part: float, rest: float) -> float:
    """Return the first of two energies as a share of both; 0 when there is neither."""
    return part / (part + rest) if part + rest > 0.0 else 0.0


def scale_of(margins: FloatArray) -> float:
    """Return the largest margin, so that squares neither overflow nor vanish; 1 for zeros."""
    return largest_size(margins) or 1.0


@described
@dataclass(frozen=True, eq=False)
class CyclicSplit:
    """The cyclic part of some pairs: what circles around triangles, and what around holes.

    `split_cyclic` returns it.

    Examples
    --------
    >>> rock_paper_scissors = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> split = split_cyclic(decompose(rock_paper_scissors))
    >>> split.n_triangles, round(split.curl_share, 9)
    (1, 1.0)
    """

    curl: Annotated[FloatArray, "Sum of flows around triangles of compared pairs, (n_pairs,)."]
    harmonic: Annotated[
        FloatArray, "The rest, which sums to zero around every such triangle, (n_pairs,)."
    ]
    curl_share: Annotated[float, "Part of `curl` in the weighted sum of squares of the margins."]
    harmonic_share: Annotated[float, "Part of `harmonic`; the two add up to `cyclic_share`."]
    n_triangles: Annotated[int, "Number of triangles of compared pairs."]


def split_cyclic(
    parts: Decomposition | PairDecomposition,
    *,
    max_triangles: int = 5_000_000,
    max_steps: int = 20_000,
) -> CyclicSplit:
    """Split a cyclic part into flows around triangles and flows around holes of the graph.

    Cycles that triangles explain are local disagreements of a few items.  The harmonic rest is
    consistent in every triangle and still returns higher than it left; it needs a hole, a cycle
    of compared items without a chord, and is zero when all pairs were compared.

    Parameters
    ----------
    parts
        From `decompose` or `decompose_pairs`.
    max_triangles
        Refuse a graph with more; memory and time are linear in their number.
    max_steps
        Most steps of the least squares over triangles.

    Returns
    -------
    CyclicSplit
        Curl and harmonic part of each pair, in the order of `PairDecomposition.pairs`.

    Raises
    ------
    InputError
        If `parts` is something else, or its pairs form more than `max_triangles` triangles.

    Warns
    -----
    ConvergenceWarning
        The least squares over triangles stopped early; says what it means and what helps.

    Examples
    --------
    >>> from intransit.study import decompose_pairs
    >>> ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> parts = decompose_pairs(ring, np.array([1.0, 1.0, 1.0, 1.0]), n_items=4)
    >>> split_cyclic(parts).harmonic_share
    1.0
    """
    if isinstance(parts, Decomposition):
        parts = parts.to_pairs()
    if not isinstance(parts, PairDecomposition):
        raise InputError(
            f"parts: {shown(parts)} was given; give what `decompose` or `decompose_pairs` returned."
        )
    max_triangles = as_whole("max_triangles", max_triangles, least=0)
    max_steps = as_whole("max_steps", max_steps, least=1)
    n_pairs, root = len(parts.pairs), np.sqrt(parts.weights)
    starts = np.searchsorted(parts.pairs[:, 0], np.arange(len(parts.scores) + 1))
    triangles = list_triangles(starts, parts.pairs[:, 1].copy(), max_triangles)
    if len(triangles) > max_triangles:
        raise InputError(
            f"pairs: they form more than {max_triangles} triangles. Raise max_triangles, or"
            " split a part of the items."
        )
    # The columns are the triangles, (ij) + (jk) − (ik), in units of the root of each weight.
    columns = np.repeat(np.arange(len(triangles)), 3)
    signs = np.tile([1.0, 1.0, -1.0], len(triangles)) / root[triangles.ravel()]
    shape = (n_pairs, len(triangles))
    flows = coo_array((signs, (triangles.ravel(), columns)), shape=shape).tocsr()
    curl = flows @ _least_squares(flows, root * parts.cyclic, max_steps) / root
    harmonic = parts.cyclic - curl
    scale = scale_of(parts.margins)
    energies = [float(parts.weights @ (part / scale) ** 2) for part in (curl, harmonic)]
    of_curl = share_of(energies[0], energies[1])
    return CyclicSplit(
        curl=curl,
        harmonic=harmonic,
        curl_share=parts.cyclic_share * of_curl,
        harmonic_share=parts.cyclic_share * (1.0 - of_curl),
        n_triangles=len(triangles),
    )


def _least_squares(flows: csr_array, target: FloatArray, max_steps: int) -> FloatArray:
    if 0 in flows.shape or not target.any():
        return np.zeros(flows.shape[1])
    solution, reason, *_ = lsmr(flows, target, atol=1e-13, btol=1e-13, conlim=0, maxiter=max_steps)
    if reason in (6, 7):  # of lsmr: too ill conditioned, too many steps
        warnings.warn(
            "split_cyclic: the solver stopped before its tolerance, so that curl is a little small"
            " and harmonic a little large. Weights closer to each other help.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return np.asarray(solution)


@described
@dataclass(frozen=True, eq=False)
class Plane:
    """One plane ω (u vᵀ − v uᵀ) of a margins matrix; the item furthest out lies at angle 0.

    An item, the point √ω (u_i, v_i), is favoured over those that follow it anticlockwise within
    half a turn: the plane adds radius_i radius_j sin(angle_j − angle_i) to X_ij.

    Examples
    --------
    >>> (plane,) = canonical_planes(np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]]))
    >>> round(plane.strength, 3), round(plane.share, 3), plane.radii.round(3).tolist()
    (1.732, 1.0, [1.075, 1.075, 1.075])
    """

    strength: Annotated[float, "Size of the plane, ω; it makes 2 ω² of the sum of squares."]
    first_axis: Annotated[FloatArray, "The first axis, u, (n_items,), of length 1."]
    second_axis: Annotated[
        FloatArray, "The second, v, (n_items,), of length 1 and at a right angle to the first."
    ]
    share: Annotated[float, "Of the sum of squares of the whole matrix."]

    @property
    def coordinates(self) -> FloatArray:  # (n_items, 2)
        """Where each item lies; the margin of i over j is twice the area of (0, i, j)."""
        return np.column_stack((self.first_axis, self.second_axis)) * sqrt(self.strength)

    @property
    def angles(self) -> FloatArray:  # (n_items,)
        """Angles in radians, anticlockwise, in (−π, π]; without meaning where the radius is 0."""
        return np.arctan2(self.second_axis, self.first_axis)

    @property
    def radii(self) -> FloatArray:  # (n_items,)
        """How far from the centre each item lies."""
        return np.hypot(self.first_axis, self.second_axis) * sqrt(self.strength)

    @property
    def margins(self) -> FloatArray:  # (n_items, n_items)
        """What this plane adds to the margins."""
        half = np.outer(self.strength * self.first_axis, self.second_axis)
        return half - half.T


def canonical_planes(margins: FloatArray, n_planes: int | None = None) -> tuple[Plane, ...]:
    """Return the planes of a complete margins matrix, the strongest first.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items), nothing missing.
    n_planes
        Keep at most so many; the shares still refer to the whole matrix.

    Returns
    -------
    tuple of Plane
        Planes with a strength above rounding: half the rank of the matrix, none for zeros.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, or some are missing.

    Notes
    -----
    Two planes of equal strength are not unique, only their sum is; the result is then one valid
    choice.  Cost: one reduction to tridiagonal form, O(N³): about a second at N = 2,000
    and half a minute at 5,000, few planes or many.  For a fitted model use `factor_planes`.

    Examples
    --------
    >>> rock_paper_scissors = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> (plane,) = canonical_planes(rock_paper_scissors)
    >>> np.degrees(plane.angles).round().tolist()
    [0.0, -120.0, 120.0]
    >>> bool(np.allclose(plane.margins, rock_paper_scissors))
    True
    """
    X = check_margins(margins, complete=True)
    return _planes_within(None, X, n_planes)


def factor_planes(
    strengths: FloatArray,  # (n_items, n_factors)
    exposures: FloatArray,  # (n_items, n_factors)
    n_planes: int | None = None,
) -> tuple[Plane, ...]:
    """Return the planes of ``X = S Qᵀ − Q Sᵀ`` from its factors, without building X.

    With ``[S Q] = W R``, W orthonormal, ``X = W (R J Rᵀ) Wᵀ``: the planes of a matrix of size
    2 n_factors, carried over by W.  Memory and time are linear in the number of items.

    Parameters
    ----------
    strengths, exposures
        S and Q, (n_items, n_factors) each, as `recover` returns them or any others.
    n_planes
        Keep at most so many; the shares still refer to the whole matrix.

    Returns
    -------
    tuple of Plane
        Planes with a strength above rounding: half the rank of the matrix, none for zeros.

    Raises
    ------
    InputError
        If the two are not of one shape, or some entries are not finite.

    Examples
    --------
    >>> scores = np.array([[3.0], [1.0], [0.0]])
    >>> (plane,) = factor_planes(scores, np.ones((3, 1)))
    >>> plane.margins.round(12).tolist()
    [[0.0, 2.0, 3.0], [-2.0, 0.0, 1.0], [-3.0, -1.0, 0.0]]
    """
    S, Q = np.asarray(strengths, np.float64), np.asarray(exposures, np.float64)
    if S.ndim != 2 or S.shape != Q.shape:
        raise InputError(
            f"factors: found strengths of shape {S.shape} and exposures of shape {Q.shape}. Pass"
            " two matrices of the same shape, (n_items, n_factors)."
        )
    if not (np.isfinite(S).all() and np.isfinite(Q).all()):
        raise InputError("factors: some entries are not finite. Fit again or drop these items.")
    return _planes_within(*factor_core(S, Q), n_planes)


def _planes_within(
    basis: FloatArray | None,  # (n_items, size), orthonormal columns; None for the identity
    core: FloatArray,  # (size, size), skew-symmetric
    n_planes: int | None,
) -> tuple[Plane, ...]:
    """Return the planes of ``basis core basisᵀ``."""
    most = len(core) if n_planes is None else as_whole("n_planes", n_planes, least=0)
    omegas, firsts, seconds = canonical_form(core, basis)
    if not omegas.any():
        return ()
    above_rounding = int(np.sum(omegas > len(core) * np.finfo(np.float64).eps * omegas[0]))
    shares = (omegas / omegas[0]) ** 2
    shares /= shares.sum()
    return tuple(
        Plane(float(omegas[c]), *_settle(firsts[:, c], seconds[:, c]), share=float(shares[c]))
        for c in range(min(above_rounding, most))
    )


def _settle(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the axes turned within their plane so that the item furthest out lies at angle 0."""
    radii = np.hypot(first, second)
    lead = int(np.argmax(radii >= (1 - EQUAL_RADII) * radii.max()))
    cosine, sine = first[lead] / radii[lead], second[lead] / radii[lead]
    settled = cosine * second - sine * first
    settled[lead] = 0.0  # exactly, so that its angle is 0 and not a rounding error
    return cosine * first + sine * second, settled
