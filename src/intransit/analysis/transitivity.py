"""A test of transitivity: whether anything deviates from a drifting ranking, and does so again.

If scores explain everything, what they leave of one series of games says nothing of what they
leave of another, whatever the games within a series share.  Two statistics ask for more:

    energy    Σ_pairs w [ (Σ_series e)² - Σ_series e² ]        a pair deviates the same way again
    pattern   Σ_{i ≠ k} (Z Zᵀ)_ik²  /  (Σ Z²)²                 items deviate against the same others

e are residuals of series, Z those of pairs in units of their noise.  By chance both are what they
are when every series keeps its size and gets a sign at random, and scores are fitted again: so
few games, overdispersed series and the flexibility of drift are all accounted for.  A ranking whose
chances follow another curve than the logistic one is no cycle either: what bent curves explain is
taken out first.  Pairs that lie on no cycle of comparisons, and orders that no result speaks
against, say nothing of cycles.

Residuals e by cell, slopes of the log likelihood, change to first order when scores are fitted
again:

    e  ->  e - C G H⁻¹ (Gᵀ e + √P ε),      G from scores to margins, C curvatures, H = Gᵀ C G + P

so noise of known size, put through this, looks as residuals do.  ε is standard normal: scores drawn
from their prior P, which the prior keeps from being explained in full.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from scipy.special import gammainc, gammaincc, ndtr, ndtri

from intransit.arrays import BoolArray, FloatArray, IntArray, fold_pairs, pair_numbers, unfold
from intransit.data.games import Games, in_time, merge
from intransit.inference.joint_problem import Joint
from intransit.inference.likelihood import single_games
from intransit.inference.newton import DenseEquations, SparseEquations
from intransit.inference.observations import (
    FEWEST_TIMES,
    Encoding,
    discount_orders,
    in_days,
)
from intransit.inference.trajectory import Trajectory, smooth
from intransit.skew import fill_skew
from intransit.study import bridges, goes_round, n_cycles

Cause = Literal["luck", "sides"]  # other than cycles; another curve is always taken out
Bend = Literal["a curve"] | Cause

FALSE_ALARMS = 0.02  # share of tables of one scale that are said to be none
MOST_FLIPS, FEWEST_FLIPS = 200, 60
WORK = 5e6  # rows times flips
THREADS = 2
FOLDS = 5  # parts of the series, each forecast from the others
N_LOOKS = 3.0  # ways in which a table may look cyclic: energy, pattern, both
TYPICAL_SHARE = 0.1  # of the energy, that weights of pairs are best for
LEAST_ENERGY = 0.1
MOST_ITEMS = 300  # that patterns are looked for among
FEWEST_OF_OWN = 12  # items, from which on each may have a curve of its own
MOST_OF_OWN = 40  # of those with most games
A_CURVE = 3  # cycles that each curve must find in the comparisons
ALIKE = 1e-5  # of the size of curves: what is left of one beside others, to count
MOST_NUMBERS = 2e7  # that their curves may take up
SMOOTH = 1e-3  # chance that games deviate from scores by as little, below which they are none
FLATTEST = 0.05  # skewness of a null distribution, at least
TINIEST = 1e-300
DENSE_LIMIT = 1_000  # unknowns
ACCURACY = 1e-2  # of a solve: far below the noise that goes through it
EXACT = 1e-5  # of one that others are measured by: p values are the same to three digits at 1e-7
MOST_LEVERAGE = 0.9
# Correlation of the games of a series above which they count for fewer; less where a series is so
# long that it would still tell less, by this much, than as many independent games.
ALIKE_GAMES, TELLS_LESS = 0.1, 0.15
SURELY = 3.0  # standard errors by which it must be above
FEW_TOGETHER = 0.02  # of the games, in series of several: so few hardly count, and cost a fit
MOST_DIGITS = 4  # of shares that were rounded
DIGIT = 1e-6  # of a share that has no further digits
MOST_ROWS = 200_000  # the latest: more take longer to test than to fit, and are hardly needed


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
        at = self.problem.places
        return np.asarray(own[at[:, 0]] + own[at[:, 1]])


def inflation(information: FloatArray, variance: FloatArray) -> FloatArray:
    """Return what residuals must grow by to be as large as the noise they come from."""
    leverage = np.minimum(information * variance, MOST_LEVERAGE)
    return np.asarray(1.0 / np.sqrt(1.0 - leverage))


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows of a table as the smaller item of each pair sees them, and scores fitted to them."""

    path: Trajectory
    pairs: IntArray  # (n_pairs, 2)
    pair: IntArray  # (n_rows,): which of them
    times: FloatArray  # (n_rows,): moments
    margins: FloatArray  # (n_rows,): that scores expect
    sides: FloatArray | None  # (n_rows,): who had the side; None where that is not known
    slopes: FloatArray  # (n_rows,): of the log likelihood of one game
    information: FloatArray  # (n_rows,): of one game
    low: FloatArray  # (n_rows,): boundaries of the level of each result, see `likelihood`
    high: FloatArray


@dataclass(frozen=True, eq=False)
class ResidualRows(ScoredRows):
    """Residuals of the rows of a table, and what scores fitted again would leave of others."""

    series: IntArray | None  # (n_rows,); None where every game is an observation of its own
    counts: FloatArray  # (n_rows,): games
    cell: IntArray  # (n_rows,): of the fitted problem
    growth: FloatArray  # (n_rows,): from residuals to the noise behind them
    has_shares: BoolArray  # (n_pairs,): whether results of a pair are shares of games
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


def _scores(table: Games, encoding: Encoding, *, drifts: bool, rng: int) -> Trajectory:
    return smooth(
        encoding.timeline(table),
        n_factors=0,
        scores=True,
        loss=encoding.loss,
        drift_scale="auto" if drifts else 0.0,
        pair_scale=0.0,
        rng=rng,
    )


def _fitted(table: Games, encoding: Encoding, *, drifts: bool, rng: int) -> ScoredRows:
    """Fit scores, as the smaller item of each pair sees every row."""
    path = _scores(table, encoding, drifts=drifts, rng=rng)
    n = max(table.n_items, 2)
    folded, sign = fold_pairs(np.column_stack([table.first, table.second]), n)
    keys, pair = np.unique(folded, return_inverse=True)
    pairs = unfold(keys, n)
    times = encoding.moments(table.times)
    margins = path.margin(pairs[pair, 0], pairs[pair, 1], times)
    sides = sign * table.sides if encoding.sided and table.sides is not None else None
    terms = _terms(table, encoding, path, sign, sides, margins)
    return ScoredRows(path, pairs, pair, times, margins, sides, *terms)


def still_chances(
    games: Games, encoding: Encoding, asked: Games, *, rng: int = 0
) -> FloatArray:  # (n_rows,) of `asked`
    """Return the chances of other games of the same items, by scores of these that stand still."""
    path = _scores(games, encoding, drifts=False, rng=rng)
    side = asked.sides if encoding.sided and asked.sides is not None else 0.0
    return path.probability(asked.first, asked.second, encoding.moments(asked.times), side=side)


def series_of(games: Games) -> IntArray | None:  # (n_rows,)
    """Return which rows are of one series of games, or None where nothing tells."""
    if len(np.unique(games.times)) < 2:
        return games.series
    # Games of a day count as played together.
    times = np.floor(games.times) if in_days(games) else games.times
    return in_time(games.first, games.second, times)


def residual_rows(games: Games, encoding: Encoding, *, rng: int = 0) -> ResidualRows:
    """Fit drifting scores, and return what they leave."""
    table = _prepared(games)
    drifts = len(np.unique(encoding.moments(table.times))) >= FEWEST_TIMES
    fitted = _fitted(table, encoding, drifts=drifts, rng=rng)
    n, path = max(table.n_items, 2), fitted.path
    mapped = ResidualMap(path.problem, path.solution.z)
    keys = fitted.pairs[:, 0] * n + fitted.pairs[:, 1]
    cell = _cells_of(path, keys[fitted.pair], fitted.times, n)
    series = series_of(table)
    together = fitted.information
    if series is not None:
        together = sums(series, table.counts * fitted.information)[series]
    growth = inflation(together, mapped.variances()[cell])
    share = ~np.isin(games.outcomes, (0.0, 0.5, 1.0))  # neither a win nor a tie
    with_shares = pair_numbers(np.column_stack([games.first, games.second])[share], n)
    return ResidualRows(
        **vars(fitted),
        series=series,
        counts=table.counts,
        cell=cell,
        growth=growth,
        has_shares=np.isin(keys, with_shares),
        goes_round=goes_round(table.first, table.second, table.outcomes, n),
        map=mapped,
    )


def likeness(games: Games, encoding: Encoding, *, rng: int = 0) -> float:
    """Return how alike the games of one series are, beyond what strengths and pairs explain.

    The correlation of what scores that stand still leave of two games of a series, less what they
    share with other series: those of the same pair before and after, and twice those of one of the
    two items against others, which is what drifting strengths give.  What a walk shares falls in a
    straight line with time: so of a pair it is what the next series shares, and as much again as
    the one after it shares less.  0 unless it is clearly so large that it matters.  Games that are
    listed again, games of one match, and weekly tallies that vary more than luck does, are so alike
    that a model of independent games takes them for strengths and matchups that leap.
    """
    table = _prepared(games)
    series = series_of(table)
    if series is None or games.by:  # what a covariate shares is not known to plain scores
        return 0.0
    played = sums(series, table.counts)
    if played[played > 1.0].sum() <= FEW_TOGETHER * played.sum():
        return 0.0
    fitted = _fitted(table, encoding, drifts=False, rng=rng)
    n_series, roots = len(played), np.sqrt(fitted.information)
    left = sums(series, table.counts * fitted.slopes, n_series)
    size = sums(series, table.counts * roots, n_series)
    own = sums(series, table.counts * fitted.slopes**2, n_series)
    within = left**2 - own, size**2 - sums(series, table.counts * fitted.information, n_series)
    pair_of = np.zeros(n_series, dtype=np.int64)
    pair_of[series] = fitted.pair
    when = np.full(n_series, np.inf)
    np.minimum.at(when, series, table.times)
    pair = fitted.pairs[pair_of]  # (n_series, 2)
    again, after = (
        (left[here] * left[there], size[here] * size[there])
        for here, there in (_next_to(pair_of, pair_of, when, steps) for steps in (1, 2))
    )
    both, numbers = np.concatenate([pair[:, 0], pair[:, 1]]), np.tile(np.arange(n_series), 2)
    here, there = _next_to(both, numbers, np.tile(when, 2))
    seen = np.concatenate([left, -left])  # as each of the two items sees it
    others = pair_of[numbers[here]] != pair_of[numbers[there]]
    here, there = here[others], there[others]
    beside = seen[here] * seen[there], size[numbers[here]] * size[numbers[there]]
    (alike, error), (same, same_error), (later, _), (near, near_error) = (
        _ratio(*of) for of in (within, again, after, beside)
    )
    falls = max(same - later, 0.0) if len(after[0]) else 0.0
    shared = max(same + falls, 2.0 * near, 0.0)
    beyond = alike - shared
    doubt = np.sqrt(error**2 + max(same_error, 2.0 * near_error) ** 2)
    others = float(np.sum(played**2) / np.sum(played)) - 1.0  # games beside one, in its series
    least = min(ALIKE_GAMES, TELLS_LESS / others) if others > 0.0 else ALIKE_GAMES
    return float(min(beyond, 1.0)) if beyond - SURELY * doubt > least else 0.0


def _next_to(
    owner: IntArray, number: IntArray, when: FloatArray, steps: int = 1
) -> tuple[IntArray, IntArray]:  # (n,) each
    """Return places of what follows each other in time, so many steps on, of one owner each."""
    order = np.lexsort((number, when, owner))
    follows = np.flatnonzero(owner[order[steps:]] == owner[order[:-steps]])
    return order[follows], order[follows + steps]


def _ratio(products: FloatArray, sizes: FloatArray) -> tuple[float, float]:
    """Return the mean product in units of its size, and its standard error."""
    whole = float(sizes.sum())
    if whole <= TINIEST:
        return 0.0, np.inf
    return float(products.sum()) / whole, float(np.sqrt(np.sum(products**2))) / whole


def discount(games: Games, encoding: Encoding, alike: float = 0.0) -> Games:
    """Return the games, counted for what they tell beside others that say the same.

    Those of orders and choices as the reader or `discount_orders` says; else n of a series for
    n / (1 + (n - 1) alike).
    """
    if games.report.worth < 1.0:
        return replace(games, counts=games.counts * games.report.worth)
    if encoding.orders:
        return discount_orders(games)
    series = series_of(games)
    if not alike or series is None:
        return games
    played = sums(series, games.counts)
    worth = 1.0 / (1.0 + np.maximum(played - 1.0, 0.0) * alike)
    return replace(games, counts=games.counts * worth[series])


def _prepared(games: Games) -> Games:
    """Return the latest rows; a share of games becomes so many wins and so many losses."""
    table = games.only(np.arange(max(len(games) - MOST_ROWS, 0), len(games)))
    whole = (table.outcomes == 0.0) | (table.outcomes == 1.0)
    if games.margins is not None or games.has_ties or whole.all():
        return table
    table = _as_rounded(table)
    twice = replace(table, sequence=None).only(np.tile(np.arange(len(table)), 2))
    won = np.repeat([1.0, 0.0], len(table))
    counts = twice.counts * np.where(won > 0.0, twice.outcomes, 1 - twice.outcomes)
    return merge(replace(twice, outcomes=won, counts=counts).only(counts > 0))


def _as_rounded(games: Games) -> Games:
    """Return shares of games with as many games as they tell after they were rounded.

    54 % of 10,000 games may be 53.5 % or 54.5 %: it varies by a hundredth, evenly, beside what luck
    makes of that many games.
    """
    for digits in range(1, MOST_DIGITS + 1):
        cells = games.outcomes * 10**digits
        if (np.abs(cells - np.round(cells)) < DIGIT).all():
            break
    else:
        return games
    # Of n games every share that is a multiple of 1 / n might occur: how likely are so few digits?
    finer = np.maximum(games.counts * 0.1**digits, 1.0)
    if -np.log(finer).sum() > np.log(SMOOTH):
        return games
    likely = (games.outcomes * games.counts + 0.5) / (games.counts + 1.0)
    luck = likely * (1.0 - likely) / games.counts
    return replace(games, counts=games.counts * luck / (luck + 100.0**-digits / 12.0))


def _terms(
    games: Games,
    encoding: Encoding,
    path: Trajectory,
    sign: FloatArray,
    sides: FloatArray | None,
    margins: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return slope of the log likelihood, information, and boundaries of one game of each row."""
    outcomes = encoding.outcomes(games)
    mirrored = 1.0 - outcomes if encoding.loss == "logistic" else -outcomes
    seen = np.where(sign > 0, outcomes, mirrored)
    edge = np.zeros(len(seen)) if sides is None else path.law.advantage * sides
    loss = single_games(path.law, seen)
    slope, curvature = loss.terms(margins + edge)
    if path.law.levels:
        low, high = loss.bounds()
    else:  # a win is above 0, a loss below
        low, high = np.where(seen > 0.5, [[0.0], [np.inf]], [[-np.inf], [0.0]])
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


@dataclass(frozen=True)
class Evidence:
    """What the test found."""

    p_value: float
    energy: float  # mean square of the margins that scores explain, over games
    extra: float  # mean square of the rest, over pairs, weighted; may be below 0 by chance
    extra_error: float
    noise: float  # standard error that chance alone would give `extra`; infinite: cannot be said
    n_pairs: int
    n_series: int
    gain: tuple[float, float] | None = None  # of held-out series, from effects of pairs; its error
    causes: tuple[Cause, ...] = ()  # other than cycles, that would explain what is seen
    dispersion: float = 1.0  # variance of a series' results beside that of games on their own
    energy_unit: float = 1e-9  # variance that noise gives margins, for each free number of scores
    freedom: float = 1.0  # such numbers
    speed: float = 0.0  # standard deviation of what a score moves by in a unit of time

    @property
    def is_measured(self) -> bool:
        """Whether pairs met again, so that what stays of the rest can be told from noise."""
        return bool(np.isfinite(self.noise))


def examine(games: Games, encoding: Encoding, *, rng: int = 0) -> Evidence:
    """Return the evidence against one drifting ranking."""
    rows = residual_rows(games, encoding, rng=rng)
    return _Test(rows, max(games.n_items, 2), np.random.default_rng(rng)).run()


class _Test:
    def __init__(self, rows: ResidualRows, n_items: int, rng: np.random.Generator) -> None:
        self.rows, self.n_items, self.rng = rows, n_items, rng
        total = rows.counts * rows.information
        self.information = sums(rows.pair, total, rows.n_pairs)
        self.energy = float(np.average(rows.margins**2, weights=total))
        typical = TYPICAL_SHARE * max(self.energy, LEAST_ENERGY)
        self.on_cycles = ~bridges(rows.pairs, n_items)
        self.weights = self.on_cycles / (1.0 + typical * self.information) ** 2
        by_item = sums(rows.pairs.ravel(), np.repeat(self.information, 2), n_items)
        self.busiest = np.argsort(-by_item, kind="stable")
        if rows.series is not None:
            self.pair_of = np.zeros(int(rows.series.max()) + 1, dtype=np.int64)
            self.pair_of[rows.series] = rows.pair

    @cached_property
    def again(self) -> FloatArray:  # (n_pairs,)
        """Information on what a pair does again: products over two different series."""
        rows = self.rows
        if rows.series is None:
            own = sums(rows.pair, rows.counts * rows.information**2, len(self.information))
        else:
            by_series = sums(rows.series, rows.counts * rows.information)
            own = sums(self.pair_of, by_series**2, len(self.information))
        left = self.information**2 - own
        return np.where(left > 1e-9 * self.information**2, left, 0.0)

    def _bends(self, cause: Bend) -> list[FloatArray]:  # (n_rows,) each
        """Return what one cause adds to margins, for each of its unknown amounts."""
        rows, x, ends = self.rows, self.rows.margins, self.rows.pairs[self.rows.pair]
        most = n_cycles(rows.pairs, self.n_items) // A_CURVE
        if cause == "a curve":
            bent = [x**3, np.sign(x), np.tanh(2.0 * x), x * np.abs(x)][:most]
            if rows.sides is not None:  # what they are worth was found from the same games
                bent.append(rows.sides)
            return bent
        own = self.busiest[: min(MOST_OF_OWN, int(MOST_NUMBERS / len(x)), most)]
        if cause == "luck":
            return [x * (ends == item).any(axis=1) for item in own]
        if rows.sides is None:
            return []
        host = np.where(rows.sides > 0.0, ends[:, 0], ends[:, 1])
        return [rows.sides * (host == item) for item in own]

    def take_out(self, causes: tuple[Bend, ...]) -> None:
        """Take out what is not cyclic though scores do not explain it, as scores leave it.

        Only as much as leaves most of what might be cyclic alone.  What is kept solves for how much
        of each there is.
        """
        rows = self.rows
        bent = [bend for cause in causes for bend in self._bends(cause)]
        if not bent:
            self.curves = np.zeros((1, len(rows.pair))), np.zeros((1, 1))
            return
        weight = rows.counts * rows.information
        bends = np.array([bend / np.sqrt(weight @ bend**2 + TINIEST) for bend in bent])
        left = np.array([rows.refit(weight * bend, accuracy=EXACT) for bend in bends])
        gram = left @ bends.T
        self.curves = left, np.linalg.pinv(0.5 * (gram + gram.T), rcond=ALIKE, hermitian=True)

    def _straight(self, residuals: FloatArray) -> FloatArray:
        """Take out what bent curves of chances would explain."""
        left, solve = self.curves
        weight = self.rows.counts * self.rows.information
        return np.asarray(residuals - (solve @ (left @ (residuals / weight))) @ left)

    @cached_property
    def _central(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return which pairs patterns are looked for in, their items, and residuals' scales."""
        chosen = np.zeros(self.n_items, dtype=bool)
        chosen[self.busiest[:MOST_ITEMS]] = True
        central = np.flatnonzero(chosen[self.rows.pairs].all(axis=1) & self.on_cycles)
        _, places = np.unique(self.rows.pairs[central], return_inverse=True)
        scale = 1.0 / np.sqrt(self.information + self.information.mean())
        return central, places.reshape(-1, 2), scale[central]

    def statistics(self, residuals: FloatArray, own: FloatArray) -> tuple[FloatArray, float]:
        """Return energies by pair, and the pattern; `own` are squares within series by pair."""
        total = sums(self.rows.pair, residuals, len(self.information))
        energies = self.weights * (total**2 - own)
        central, places, scale = self._central
        Z = fill_skew(total[central] * scale, int(places.max(initial=-1)) + 1, places)
        products, sizes = Z @ Z.T, Z**2 @ (Z**2).T
        off = ~np.eye(len(Z), dtype=bool)
        together, apart = float(np.sum(products[off] ** 2)), float(np.sum(sizes[off]))
        return energies, float(np.log(together / apart)) if together > 0.0 < apart else 0.0

    def _own(self, residuals: FloatArray) -> FloatArray:  # (n_pairs,)
        rows = self.rows
        if rows.series is None:
            return sums(rows.pair, rows.counts * rows.slopes**2, len(self.information))
        by_series = sums(rows.series, residuals, len(self.pair_of))
        return sums(self.pair_of, by_series**2, len(self.information))

    def _flipped(self, rng: np.random.Generator) -> FloatArray:
        """Return noise of the size of the residuals, signs at random."""
        rows = self.rows
        if rows.series is None:  # every game on its own
            whole = np.floor(rows.counts)
            signs = 2.0 * rng.binomial(whole.astype(np.int64), 0.5) - whole
            signs = signs + np.sqrt(rows.counts - whole) * rng.choice([-1.0, 1.0], len(whole))
            return np.asarray(rows.growth * rows.slopes * signs)
        signs = rng.choice([-1.0, 1.0], len(self.pair_of))
        return np.asarray(rows.growth * rows.residuals * signs[rows.series])

    def _by_chance(self, rng: np.random.Generator) -> tuple[float, float, float]:
        left = self.rows.refit(self._flipped(rng), rng)
        straight = self._straight(left)
        energies, pattern = self.statistics(straight, self._own(straight))
        whole = self.statistics(left, self._own(left))[0]
        return float(energies.sum()), pattern, float(whole.sum())

    def compare(self) -> tuple[float, FloatArray]:
        """Return the p value of what is seen, and what chance gives: energy, pattern, all of it."""
        seen = self._straight(self.rows.residuals)
        energies, pattern = self.statistics(seen, self._own(seen))
        n = int(np.clip(WORK / len(self.rows.pair), FEWEST_FLIPS, MOST_FLIPS))
        assert self._central  # worked out before threads ask for it
        with ThreadPoolExecutor(THREADS) as pool:
            chance = np.array(list(pool.map(self._by_chance, self.rng.spawn(n))))
        if not self.rows.goes_round or self._is_smooth():
            return 1.0, chance  # an order that no result speaks against is no cycle
        if float(self.weights @ self.again):
            return _combine([float(energies.sum()), pattern], chance[:, :2]), chance
        return _combine([pattern], chance[:, 1:2]), chance

    def _is_smooth(self) -> bool:
        """Return whether shares deviate from scores by less than the luck of games would do.

        So they do where they are probabilities: what is left of those, however small, has a
        pattern, and shares of games of one scale deviate more.  Wins, losses and ties are no such
        thing: a single game deviates by as much as its chance says, whatever explains it.
        """
        pairs = np.flatnonzero(self.rows.has_shares)
        total = sums(self.rows.pair, self.rows.residuals, self.rows.n_pairs)[pairs]
        freedom = len(pairs) * (1.0 - self._freedom() / self.rows.n_pairs)
        size = float(np.sum(total**2 / np.maximum(self.information[pairs], TINIEST)))
        return freedom > 0.0 and float(gammainc(0.5 * freedom, 0.5 * size)) < SMOOTH

    def run(self) -> Evidence:
        """Compare what is seen with what chance gives."""
        rows = self.rows
        n_series = int(rows.counts.sum()) if rows.series is None else len(self.pair_of)
        size = float(self.weights @ self.again)
        speed = rows.path.scales.score_drift_scale
        nothing = Evidence(1.0, self.energy, 0.0, 0.0, np.inf, rows.n_pairs, n_series, speed=speed)
        if not self.on_cycles.any():
            return nothing
        always: tuple[Bend, ...] = ("a curve",)
        if self.n_items >= FEWEST_OF_OWN:
            always = ("a curve", "luck")
        self.take_out(always)
        p, chance = self.compare()
        causes = self._causes(always) if p < FALSE_ALARMS else ()
        if not size:
            return replace(nothing, p_value=p, causes=causes)
        # How much there is, curves left in: taking them out takes some of it, too.
        energies = self.statistics(rows.residuals, self._own(rows.residuals))[0]
        total = float(energies.sum())
        noise = float(chance[:, 2].std(ddof=1))
        spread = float(np.sqrt(np.sum((energies - total / rows.n_pairs) ** 2)))
        # An order that no result speaks against is as steep as may be: nothing is beyond it.
        extra = float(total - chance[:, 2].mean()) / size if rows.goes_round else 0.0
        dispersion = self._dispersion()
        return replace(
            nothing,
            p_value=p,
            extra=extra,
            extra_error=(max(noise, spread) if rows.goes_round else noise) / size,
            noise=noise / size,
            gain=self._gain(max(extra, noise / size)) if rows.goes_round else None,
            dispersion=dispersion,
            causes=causes,
            energy_unit=dispersion / float(self.information.sum()),
            freedom=self._freedom(),
        )

    def _causes(self, always: tuple[Bend, ...]) -> tuple[Cause, ...]:
        """Return causes other than cycles each of which would explain what is seen."""
        found: list[Cause] = []
        for cause in get_args(Cause):
            if cause in always or not self._bends(cause):
                continue
            self.take_out((*always, cause))
            if self.compare()[0] >= FALSE_ALARMS:
                found.append(cause)
        return tuple(found)

    def _freedom(self) -> float:
        """Return how many numbers the scores have: at least those of a ranking that stays."""
        rows = self.rows
        taken = rows.counts * rows.information * rows.map.variances()[rows.cell]
        return max(float(taken.sum()), self.n_items - 1.0)

    def _dispersion(self) -> float:
        """Return how much more the series of a pair differ than games on their own would, or 1.

        A ratio of two sums: a mean of ratios would be that of series that tell next to nothing.
        """
        rows = self.rows
        if rows.series is None:
            return 1.0
        information = sums(rows.series, rows.counts * rows.information, len(self.pair_of))
        left = sums(rows.series, rows.residuals, len(self.pair_of))
        whole = np.maximum(self.information, TINIEST)
        effect = (sums(self.pair_of, left, rows.n_pairs) / whole)[self.pair_of]
        squares = float(np.sum((left - information * effect) ** 2))
        expected = float(np.sum(information * (1.0 - information / whole[self.pair_of])))
        return max(squares / expected, 1.0) if expected > TINIEST else 1.0

    def _gain(self, variance: float) -> tuple[float, float]:
        """Return what effects of pairs gain in log loss a game, learnt from other series.

        Effects shrink as ones of this variance should.  The scores were fitted to all games, those
        forecast among them: the gain is, if anything, too small.
        """
        rows = self.rows
        if variance <= 0.0:  # no game was decided
            return 0.0, 0.0
        nothing = rows.losses(np.zeros(len(rows.pair))) / rows.counts
        gains, squares = np.zeros(len(rows.pair)), 0.0
        for held in self._folds():
            left = rows.counts - held
            slopes, information = (
                sums(rows.pair, left * each, rows.n_pairs)
                for each in (rows.slopes, rows.information)
            )
            effects = slopes / (information + 1.0 / variance)
            gain = nothing - rows.losses(effects[rows.pair]) / rows.counts  # of one game
            gains += held * gain
            squares += float(held @ gain**2)
        n = float(rows.counts.sum())
        mean = float(gains.sum()) / n
        if rows.series is None:
            return mean, float(np.sqrt(max(squares - n * mean**2, 0.0))) / n
        by_series = sums(rows.series, gains - mean * rows.counts)
        return mean, float(np.sqrt(np.sum(by_series**2))) / n

    def _folds(self) -> FloatArray:  # (FOLDS, n_rows)
        """Return how many games of each row are held out in each part: series stay together."""
        rows = self.rows
        if rows.series is not None:
            part = self.rng.integers(FOLDS, size=len(self.pair_of))[rows.series]
            return np.asarray(rows.counts * (part == np.arange(FOLDS)[:, None]))
        whole = np.floor(rows.counts).astype(np.int64)
        held = self.rng.multinomial(whole, np.full(FOLDS, 1.0 / FOLDS)).T.astype(np.float64)
        held[0] += rows.counts - whole
        return held


def _combine(seen: list[float], chance: FloatArray) -> float:
    """Return one p value of statistics and of their sum, from what each is by chance."""
    scores, drawn = [], []
    for value, draws in zip(seen, chance.T, strict=True):
        to_normal = _normal_scores(draws)
        scores.append(float(to_normal(np.array([value]))[0]))
        drawn.append(to_normal(draws))
    if len(scores) == 1:
        return float(ndtr(-scores[0]))
    both = sum(scores) / max(float(np.std(np.sum(drawn, axis=0))), 1.0)
    return float(min(1.0, N_LOOKS * ndtr(-max(*scores, both))))


def _normal_scores(draws: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the map that makes the draws standard normal, by three moments."""
    middle, spread = float(draws.mean()), float(draws.std(ddof=1))
    if spread == 0.0:
        return lambda values: np.zeros(len(values))
    skew = max(float(np.mean(((draws - middle) / np.std(draws)) ** 3)), FLATTEST)
    shape = 4.0 / skew**2  # of the gamma distribution that is skewed like this

    def to_normal(values: FloatArray) -> FloatArray:
        at = shape + np.sqrt(shape) * (values - middle) / spread
        tail = gammaincc(shape, np.maximum(at, 0.0))
        return np.asarray(-ndtri(np.clip(tail, TINIEST, 1.0 - 1e-12)))

    return to_normal
