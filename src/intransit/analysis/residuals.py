"""The results of a table, less what drifting scores explain of them.

Residuals e by cell, slopes of the log likelihood, change to first order when scores are fitted
again:

    e  ->  e - C G H⁻¹ (Gᵀ e + √P ε),      G from scores to margins, C curvatures, H = Gᵀ C G + P

so noise of known size, put through this, looks as residuals do.  ε is standard normal: scores drawn
from their prior P, which the prior keeps from being explained in full.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.data.cells import Cells
from intransit.data.games import Games, in_time, merge
from intransit.inference.joint_newton import DenseEquations, SparseEquations
from intransit.inference.joint_problem import Joint
from intransit.inference.likelihood import Ordered, loss_of
from intransit.inference.observations import Encoding
from intransit.inference.smooth import smooth
from intransit.inference.trajectory import Trajectory

DENSE_LIMIT = 1_000  # unknowns
ACCURACY = 1e-2  # of a solve: far below the noise that goes through it
EXACT = 1e-7  # of one that others are measured by
MOST_LEVERAGE = 0.9


class ResidualMap:
    """The map from noise to residuals at fitted scores z."""

    def __init__(self, problem: Joint, z: FloatArray) -> None:
        self.problem, self.z = problem, z
        self.curvature = problem.loss.terms(problem.margins(z))[1]
        self._sparse = SparseEquations(problem, z, self.curvature)
        self._sparse.prepare()
        self._dense = None
        if int(np.count_nonzero(problem.free)) <= DENSE_LIMIT:
            self._dense = DenseEquations(problem, z, self.curvature)
            assert self._dense.root is not None  # factored before threads ask for it

    def explained(
        self,
        noise: FloatArray,
        rng: np.random.Generator | None = None,
        *,
        accuracy: float = ACCURACY,
    ) -> FloatArray:  # (n_cells,)
        """Return the margins that scores fitted to this noise would have.

        With a generator, of scores drawn from their prior, less those: what a prior that pulls
        towards 0 leaves of scores, in every series alike, is then part of what is not explained.
        """
        right = self.problem.pull(self.z, noise)
        if rng is not None:
            for side, part in zip(self.problem.sides, self.problem.parts(right), strict=True):
                np.add(part, side.shape_noise(side.noise(rng)), out=part)
        solver = self._dense or self._sparse
        step = solver.solve(right, 0.0, accuracy=accuracy)
        assert step is not None
        return self.problem.push(self.z, step)

    def variances(self) -> FloatArray:  # (n_cells,)
        """Return the variance of each cell's margin, each item's given the others: a little low."""
        own = np.einsum("nkk->n", self._sparse.covariances()[0])
        at = self.problem.at_owners
        return np.asarray(own[at[:, 0]] + own[at[:, 1]])


def inflation(information: FloatArray, variance: FloatArray) -> FloatArray:
    """Return what residuals must grow by to be as large as the noise they come from."""
    leverage = np.minimum(information * variance, MOST_LEVERAGE)
    return np.asarray(1.0 / np.sqrt(1.0 - leverage))


def goes_round(first: IntArray, second: IntArray, outcomes: FloatArray, n_items: int) -> bool:
    """Return whether results lead from some item back to itself; a tie leads both ways."""
    won, lost = outcomes > 0.0, outcomes < 1.0
    better = np.concatenate([first[won], second[lost]])
    worse = np.concatenate([second[won], first[lost]])
    graph = coo_array((np.ones(len(better)), (better, worse)), shape=(n_items, n_items))
    return int(connected_components(graph, connection="strong")[0]) < n_items


def n_cycles(pairs: IntArray, n_items: int) -> int:
    """Return the number of independent cycles of comparisons."""
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))
    return len(pairs) - n_items + int(connected_components(graph, directed=False)[0])


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


FEWEST_TIMES = 5  # moments; with fewer nothing drifts
MOST_ROWS = 200_000  # the latest: more take longer to test than to fit, and are hardly needed


@dataclass(frozen=True, eq=False)
class ResidualRows:
    """Residuals of the rows of a table, as the smaller item of each pair sees them."""

    pairs: IntArray  # (n_pairs, 2)
    pair: IntArray  # (n_rows,): which of them
    series: IntArray | None  # (n_rows,); None where every game is an observation of its own
    counts: FloatArray  # (n_rows,): games
    slopes: FloatArray  # (n_rows,): of the log likelihood of one game
    information: FloatArray  # (n_rows,): of one game
    margins: FloatArray  # (n_rows,): that scores expect
    sides: FloatArray | None  # (n_rows,): who had the side; None where that is not known
    low: FloatArray  # (n_rows,): boundaries of the level of each result, see `likelihood`
    high: FloatArray
    cell: IntArray  # (n_rows,): of the fitted problem
    growth: FloatArray  # (n_rows,): from residuals to the noise behind them
    goes_round: bool  # whether anybody who lost to another beat it too, at first or second hand
    map: ResidualMap

    @property
    def n_pairs(self) -> int:
        """Number of pairs that met."""
        return len(self.pairs)

    @property
    def residuals(self) -> FloatArray:  # (n_rows,)
        """Sum over the games of each row."""
        return self.counts * self.slopes

    def losses(self, effects: FloatArray) -> FloatArray:  # (n_rows,)
        """Return minus the log likelihood of each row, margins moved, up to a constant of its own.

        `effects` are what is added to the margin of each row.
        """
        x = self.margins + effects
        wide = np.logaddexp(0.0, self.low - x) + np.logaddexp(0.0, x - self.high)
        return np.asarray(self.counts * wide)

    def refit(
        self,
        noise: FloatArray,
        rng: np.random.Generator | None = None,
        *,
        accuracy: float = ACCURACY,
    ) -> FloatArray:  # (n_rows,)
        """Return what scores fitted again would leave of this noise, and of scores of their own."""
        by_cell = sums(self.cell, noise, len(self.map.curvature))
        taken = self.map.explained(by_cell, rng, accuracy=accuracy)[self.cell]
        return np.asarray(noise - self.counts * self.information * taken)


def sums(groups: IntArray, values: FloatArray, n: int = 0) -> FloatArray:  # (n_groups,)
    """Return the total of the values of each group."""
    return np.asarray(np.bincount(groups, values, n), dtype=np.float64)


def residual_rows(games: Games, encoding: Encoding, *, rng: int = 0) -> ResidualRows:
    """Fit drifting scores, and return what they leave."""
    table = _prepared(games)
    path = _scores(table, encoding, rng)
    n = max(table.n_items, 2)
    small, large = np.minimum(table.first, table.second), np.maximum(table.first, table.second)
    keys, pair = np.unique(small * n + large, return_inverse=True)
    pairs = np.stack([keys // n, keys % n], axis=1)
    sign = np.where(table.first == small, 1.0, -1.0)
    times = encoding.moments(table.times)
    margins = path.margin(pairs[pair, 0], pairs[pair, 1], times)
    slopes, information, low, high = _terms(table, encoding, path, sign, margins)
    mapped = ResidualMap(path.problem, path.solution.z)
    cell = _cells_of(path, keys[pair], times, n)
    series = table.series
    if len(np.unique(table.times)) > 1:
        series = in_time(small, large, _days(table))
    together = information
    if series is not None:
        together = sums(series, table.counts * information)[series]
    growth = inflation(together, mapped.variances()[cell])
    return ResidualRows(
        pairs=pairs,
        pair=pair,
        series=series,
        counts=table.counts,
        slopes=slopes,
        information=information,
        margins=margins,
        sides=sign * table.sides if encoding.sided and table.sides is not None else None,
        low=low,
        high=high,
        cell=cell,
        growth=growth,
        goes_round=goes_round(table.first, table.second, table.outcomes, n),
        map=mapped,
    )


def _days(games: Games) -> FloatArray:
    """Return the times at which games count as played together: whole days, where there are."""
    return np.floor(games.times) if games.clock.kind == "date" else games.times


def _prepared(games: Games) -> Games:
    """Return the latest rows; a share of games becomes so many wins and so many losses."""
    table = games.only(np.arange(max(len(games) - MOST_ROWS, 0), len(games)))
    whole = (table.outcomes == 0.0) | (table.outcomes == 1.0)
    if games.margins is not None or games.has_ties or whole.all():
        return table
    parts = (
        replace(table, outcomes=np.ones(len(table)), counts=table.counts * table.outcomes),
        replace(table, outcomes=np.zeros(len(table)), counts=table.counts * (1 - table.outcomes)),
    )
    columns = ("first", "second", "outcomes", "times", "counts", "sides", "series")
    both = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in columns
        if getattr(table, name) is not None
    }
    split = replace(table, **both)  # type: ignore[arg-type]
    return merge(split.only(split.counts > 0))


def _scores(games: Games, encoding: Encoding, rng: int) -> Trajectory:
    data = encoding.timeline(games)
    drifts = len(np.unique(data.times)) >= FEWEST_TIMES
    return smooth(
        data,
        n_factors=0,
        scores=True,
        loss=encoding.loss,
        drift_scale="auto" if drifts else 0.0,
        pair_scale=0.0,
        rng=rng,
    )


def _terms(
    games: Games, encoding: Encoding, path: Trajectory, sign: FloatArray, margins: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return slope of the log likelihood, information, and boundaries of one game of each row."""
    outcomes = encoding.outcomes(games)
    mirrored = 1.0 - outcomes if encoding.loss == "logistic" else -outcomes
    sides = sign * games.sides if encoding.sided and games.sides is not None else None
    n = len(margins)
    cells = Cells(
        axis=np.zeros(1),
        when=np.zeros(n, dtype=np.int64),
        pairs=np.zeros((n, 2), dtype=np.int64),
        counts=np.ones(n),
        means=np.where(sign > 0, outcomes, mirrored),
        n_rows=n,
        spread=0.0,
        log_counts=0.0,
        sides=sides,
    )
    edge = np.zeros(n) if sides is None else path.law.advantage * sides
    loss = loss_of(path.law, cells, path.scales.noise_scale)
    slope, curvature = loss.terms(margins + edge)
    if isinstance(loss, Ordered):
        low, high = loss.bounds()
    else:  # a win is above 0, a loss below
        low, high = np.where(cells.means > 0.5, [[0.0], [np.inf]], [[-np.inf], [0.0]])
    return -slope, curvature, low - edge, high - edge


def _cells_of(path: Trajectory, pairs: IntArray, times: FloatArray, n_items: int) -> IntArray:
    """Return one cell of the problem for each row: its pair and time."""
    cells = path.problem.loss.cells
    n_times = len(cells.axis)
    keys = cells.pair_keys(n_items) * n_times + cells.when
    known, first = np.unique(keys, return_index=True)
    middle = np.concatenate([[-np.inf], 0.5 * (cells.axis[1:] + cells.axis[:-1])])
    when = np.searchsorted(middle, times, side="right") - 1  # the nearest: times may be rounded
    return np.asarray(first[np.searchsorted(known, pairs * n_times + when)])
