"""The answer of `smooth`: margins at any time, and how sure they are."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.checks import (
    LARGEST,
    as_floats,
    as_items,
    as_number,
    as_whole,
    check_finite,
    check_pairs,
    open_rng,
)
from intransit.data.cells import Cells, Timeline, as_timeline, check_outcomes
from intransit.data.measurements import Measurements
from intransit.errors import ConvergenceWarning, InputError
from intransit.inference.assembly import Columns, Pairs, Scales
from intransit.inference.draws import (
    MarginQuery,
    Summary,
    TrajectoryDraws,
    as_questions,
    ask,
    check_entries,
    reach_of,
)
from intransit.inference.joint_fit import Fitted, Given, Support, check_more, refit, tell_status
from intransit.inference.joint_newton import JointSolution
from intransit.inference.joint_problem import Joint
from intransit.inference.laplace import Laplace
from intransit.inference.likelihood import Law, law_of
from intransit.inference.observations import Observations
from intransit.inference.paths import Paths, first_order, lay_out, steps_of
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws
from intransit.model.laws import Levels, OutcomeLaw, Readings, Wins
from intransit.model.terms import (
    Drift,
    Factors,
    Model,
    PairEffects,
    Scores,
    Side,
    Still,
    Term,
    Walk,
)
from intransit.skew import fill_skew
from intransit.study import decompose
from intransit.tasks import one_thread

N_DRAWS = 200  # of trajectories, for questions that need whole matrices


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Margins of all items at all times.  Factors are not unique: compare margins."""

    n_items: int
    n_factors: int
    scores: bool
    loss: str
    times: FloatArray  # (n_periods,): the distinct times of the comparisons
    scales: Scales
    estimated: tuple[str, ...]  # names of the scales that came from the data
    starts: tuple[tuple[str, float], ...]  # where the solver started, and the objective it reached
    seed: int | None
    settings: Given = field(repr=False)
    problem: Joint = field(repr=False)  # the question, as arrays
    solution: JointSolution = field(repr=False)
    columns: Columns = field(repr=False)
    pairs: Pairs = field(repr=False)
    scales_converged: bool = True

    @property
    def n_periods(self) -> int:
        """Number of distinct times."""
        return len(self.times)

    @property
    def converged(self) -> bool:
        """Whether the optimum was reached, of states and of scales."""
        return self.solution.converged and self.scales_converged

    @property
    def margins(self) -> FloatArray:  # (n_periods, n_items, n_items)
        """Margins at every time; entry (t, i, j) > 0 favours i.  For many items ask `margin`."""
        return self.matrix(self.times)

    def matrix(self, at: ArrayLike | None = None) -> FloatArray:  # ([n_times,] n_items, n_items)
        """Return the whole matrix of margins at a time, by default the last, or at several."""
        times = self._times(self.times[-1] if at is None else at)
        check_entries(times.size * self.n_items**2, "matrix")
        first, second = np.triu_indices(self.n_items, 1)
        return fill_skew(self.margin(first, second, times[..., None]), self.n_items)

    def margin(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> FloatArray:
        """Return the margin of first over second at a time, by default the last one.

        All three may be arrays; they are broadcast.  Times between and beyond the observed ones
        are welcome.
        """
        query, shape = self._ask(first, second, at)
        return query.margins(self.solution.z).reshape(shape)

    def deviation(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> FloatArray:
        """Return the standard deviation of a margin: how far the truth may lie from it."""
        return np.sqrt(self.outlook(first, second, at)[1])

    def outlook(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return margins and their variances together."""
        query, shape = self._ask(first, second, at)
        variance = self._variance(query)
        return query.margins(self.solution.z).reshape(shape), variance.reshape(shape)

    def interval(
        self,
        first: ArrayLike | None = None,
        second: ArrayLike | None = None,
        at: ArrayLike | None = None,
        *,
        level: float = 0.9,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the two ends of an interval that holds the margin with this probability.

        Without items, for all pairs at all observed times (or at those given): two arrays of the
        shape of `margins`.
        """
        reach = reach_of(level)
        if first is None and second is None:
            middle, spread = self._all(at)
        elif first is None or second is None:
            raise InputError("interval: one item was given; give both, or neither for all pairs.")
        else:
            middle, variance = self.outlook(first, second, at)
            spread = np.sqrt(variance)
        return middle - reach * spread, middle + reach * spread

    def probability(
        self,
        first: ArrayLike,
        second: ArrayLike,
        at: ArrayLike | None = None,
        *,
        side: ArrayLike = 0.0,
    ) -> FloatArray:
        """Return the probability that first wins, averaged over what is not known of the margin.

        A tie counts as half a win, so that both items' probabilities add up to 1; see `chances`.
        For readings of margins: that one further reading is above 0.  `side` is 1 where the first
        item has the better side, -1 where the second has it.
        """
        mean, variance, sides, shape = self._asked(first, second, at, side)
        return self.law.expect(mean, variance, sides, self.scales.noise_scale).reshape(shape)

    def chances(
        self,
        first: ArrayLike,
        second: ArrayLike,
        at: ArrayLike | None = None,
        *,
        side: ArrayLike = 0.0,
    ) -> FloatArray:  # (..., n_levels)
        """Return the probability of every level of outcome, from the worst for first to the best.

        For wins without ties, and for readings: of a loss, of a tie (0), and of a win.
        """
        mean, variance, sides, shape = self._asked(first, second, at, side)
        spread = self.law.spread(mean, variance, sides, self.scales.noise_scale)
        return spread.reshape(*shape, spread.shape[-1])

    @property
    def law(self) -> Law:
        """How outcomes follow from margins: cuts between levels, and what a side is worth."""
        return law_of(self.problem)

    def probability_interval(
        self,
        first: ArrayLike,
        second: ArrayLike,
        at: ArrayLike | None = None,
        *,
        side: ArrayLike = 0.0,
        level: float = 0.9,
    ) -> tuple[FloatArray, FloatArray]:
        """Return an interval for the win probability itself: that of the margin, carried over."""
        low, high = self.interval(first, second, at, level=level)
        sides, noise = as_floats(side, "side"), self.scales.noise_scale
        return self.law.plain(low, sides, noise), self.law.plain(high, sides, noise)

    def sample(
        self, n: int = 100, *, rng: np.random.Generator | int | None = None
    ) -> TrajectoryDraws:
        """Return draws of whole trajectories: any question is then a mean over them."""
        generator, _ = open_rng(rng)
        n = as_whole("n", n, least=1)
        steps = Laplace(self.problem, self.solution.z).draw(n, generator)
        return TrajectoryDraws(
            n_items=self.n_items,
            times=self.times,
            centre=self.solution.z,
            states=self.solution.z[:, None] + steps,
            problem=self.problem,
            pairs=self.pairs,
            rng=generator,
        )

    def posterior(
        self, n: int = N_DRAWS, *, rng: np.random.Generator | int | None = 0
    ) -> Posterior:
        """Return draws around the solution as the `Posterior` that `fit` hands out.

        For strengths, matrices and chances over draws; margins are to first order, as in `sample`.
        """
        return posterior_of_path(self, as_whole("n", n, least=2), open_rng(rng)[0])

    def change(
        self,
        item: int,
        since: float,
        until: float,
        *,
        against: ArrayLike | None = None,
        level: float = 0.9,
        n: int = N_DRAWS,
        rng: np.random.Generator | int | None = 0,
    ) -> Summary:
        """Return how an item's mean margin changed between two times, with its interval.

        `against` are the opponents, by default all others.  `probability_positive` of the answer
        near 0 or 1 says that the item has changed.
        """
        reach_of(level)
        item = as_whole("item", item, least=0)
        others = (
            np.arange(self.n_items) if against is None else as_items(against, "against").ravel()
        )
        others = others[others != item] if against is None else others
        opponents = check_pairs(
            np.stack([np.full(len(others), item), others], axis=1), self.n_items, "change"
        )[:, 1]
        if not len(opponents) or (opponents == item).any():
            raise InputError(
                f"against: item {item} is to be compared with itself, or with nobody; give others."
            )
        since, until = (
            float(as_number(n, v, least=-LARGEST)) for n, v in (("since", since), ("until", until))
        )
        draws = self.sample(n, rng=rng)
        when = np.array([[since], [until]], dtype=float)
        both = draws.margin(np.full((2, 1), item), opponents[None], when)
        best = self.margin(np.full((2, 1), item), opponents[None], when)
        return Summary.of(
            np.mean(both[:, 1] - both[:, 0], axis=-1), float(np.mean(best[1] - best[0])), level
        )

    def cyclic_share(
        self,
        at: float | None = None,
        *,
        level: float = 0.9,
        n: int = N_DRAWS,
        rng: np.random.Generator | int | None = 0,
    ) -> Summary:
        """Return the share of the margins' energy that no ranking explains, with its interval."""
        return self.summary(
            lambda X: 1.0 - decompose(X).transitive_share, at, level=level, n=n, rng=rng
        )

    def summary(
        self,
        function: Callable[[FloatArray], float],
        at: float | None = None,
        *,
        level: float = 0.9,
        n: int = N_DRAWS,
        rng: np.random.Generator | int | None = 0,
    ) -> Summary:
        """Return any function of the matrix at a time, with its interval."""
        reach_of(level)
        times = self._times(self.times[-1] if at is None else at)
        if times.ndim:
            raise InputError(f"at: {times.shape} times were given; ask for one time at a time.")
        draws = self.sample(n, rng=rng).matrix(times)
        return Summary.of_function(function, draws, self.matrix(times), level)

    @one_thread
    def update(self, more: Timeline | Measurements) -> "Trajectory":
        """Return the trajectory with further comparisons, later or earlier, of old and new items.

        Scales and number of factors stay; states start from where they are, so that the answer is
        that of a full fit, to within the tolerance, at a fraction of its cost.  Periods given as
        `Measurements` follow the last time, one unit apart.
        """
        data = as_timeline(more, after=float(self.times[-1]))
        check_outcomes(data.rows, self.loss)
        check_more(self.problem, data.rows)
        n_items = max(self.n_items, data.n_items)
        if n_items > self.n_items and not self.columns.are_uniform:
            raise InputError(
                f"update: item {n_items - 1} is new, but strengths or exposures were given for "
                f"{self.n_items} items only; fit again with columns for all items."
            )
        columns = self.columns.grown(n_items)
        fitted = refit(self.fitted, data.rows, columns, self.settings)
        longer = replace(
            self,
            n_items=n_items,
            times=fitted.problem.loss.cells.axis,
            starts=tuple((start.name, start.solution.objective) for start in fitted.starts),
            problem=fitted.problem,
            solution=fitted.solution,
            columns=columns,
            pairs=fitted.pairs,
        )
        if not longer.converged:
            warnings.warn(f"update: {longer.status}", ConvergenceWarning, stacklevel=2)
        return longer

    @property
    def fitted(self) -> Fitted:
        """The parts that a further fit starts from."""
        return Fitted(
            self.scales,
            self.estimated,
            self.problem,
            self.pairs,
            self.solution,
            (),
            self.scales_converged,
        )

    @property
    def cells(self) -> Cells:
        """What was seen, in the order of the problem's loops."""
        return self.problem.loss.cells

    @cached_property
    def support(self) -> Support:
        """What the comparisons reach: groups of items, and when each was compared."""
        return Support(self.n_items, self.cells)

    @property
    def groups(self) -> IntArray:  # (n_items,)
        """Number of the group of items, connected by comparisons, that each item belongs to."""
        return self.support.groups

    def extrapolated(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> BoolArray:
        """Return whether a margin rests on the prior and not on comparisons.

        That is so when no chain of comparisons connects the two items, or when the time lies
        outside those at which one of them was compared.
        """
        i, j, times, shape = self._broadcast(first, second, at)
        return self.support.extrapolates(i, j, times).reshape(shape)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What the comparisons do not settle; often nothing."""
        said = list(self.support.doubts())
        reached = [objective for _, objective in self.starts[:2]]
        if not self.problem.is_convex and len(reached) > 1 and reached[1] > reached[0] + 1.0:
            said.append(
                "No two starts led to the same minimum: the factors may be wrong ones, so give "
                "more comparisons, fewer factors, or another rng."
            )
        return tuple(said)

    @property
    def status(self) -> str:
        """What happened, in a sentence."""
        return tell_status(self.solution, self.scales_converged)

    def __repr__(self) -> str:
        size = f"n_items={self.n_items}, n_periods={self.n_periods}"
        return (
            f"Trajectory({size}, n_factors={self.n_factors}, scores={self.scores}: {self.status})"
        )

    def _times(self, at: object) -> FloatArray:
        times = as_floats(at, "at")
        check_finite(np.atleast_1d(times), "at")
        return times

    def _broadcast(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None
    ) -> tuple[IntArray, IntArray, FloatArray, tuple[int, ...]]:
        return as_questions(first, second, at, last=float(self.times[-1]), n_items=self.n_items)

    def _ask(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None
    ) -> tuple[MarginQuery, tuple[int, ...]]:
        i, j, times, shape = self._broadcast(first, second, at)
        return ask(self.problem, self.pairs, i, j, times), shape

    def _asked(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None, side: ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray, tuple[int, ...]]:
        """Return means and variances of margins, sides, and the shape that was asked for."""
        at = self.times[-1] if at is None else at
        asked = (
            as_items(first, "first"),
            as_items(second, "second"),
            as_floats(at, "at"),
            as_floats(side, "side"),
        )
        try:
            i, j, at, sides = np.broadcast_arrays(*asked)
        except ValueError:
            told = ", ".join(str(part.shape) for part in asked)
            raise InputError(
                f"probability: first, second, at and side of shapes {told} were given; give as "
                "many of each, or one."
            ) from None
        return *self.outlook(i.ravel(), j.ravel(), at.ravel()), sides.ravel(), i.shape

    @cached_property
    def _laplace(self) -> Laplace:
        return Laplace(self.problem, self.solution.z)

    def _variance(self, query: MarginQuery) -> FloatArray:
        return self._laplace.variances(query, np.random.default_rng(self.settings.seed))

    def _all(self, at: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
        """Return margins and their deviations for all pairs at some times."""
        times = self._times(self.times if at is None else at)
        n = self.n_items
        check_entries(times.size * n * n, "interval")
        first, second = np.triu_indices(n, 1)
        mean, variance = self.outlook(first, second, times[..., None])
        return fill_skew(mean, n), np.abs(fill_skew(np.sqrt(variance), n))


def posterior_of_path(
    path: Trajectory,
    n: int,
    rng: np.random.Generator,
    drawn: TrajectoryDraws | None = None,
) -> Posterior:
    """Return draws around the solution of `smooth`: those given, or new ones."""
    cells, problem = path.cells, path.problem
    seen = Observations(
        path.settings.loss,
        path.n_items,
        cells.pairs.astype(np.int64),
        cells.times,
        cells.counts,
        cells.means,
        np.zeros(len(cells)) if cells.sides is None else cells.sides,
        np.zeros((0, len(cells)), np.int64),
        cells.n_rows,
        cells.spread,
    )
    layout = lay_out(seen, model_of_path(path))
    drawn = path.sample(n, rng=rng) if drawn is None else drawn
    S, Q, E = problem.split_draws(drawn.states)
    mean_S, mean_Q, _ = problem.split(drawn.centre)
    scores = int(path.scores)
    at_S = _same_states(layout.items, problem.strengths.chains.starts)
    at_Q = _same_states(layout.items, problem.exposures.chains.starts)
    states = first_order(
        S[:, at_S, :scores],
        S[:, at_S, scores:],
        Q[:, at_Q, scores:],
        mean_S[at_S, scores:],
        mean_Q[at_Q, scores:],
    )
    effects = problem.effects
    numbers, sizes, rates = [], [], []
    for one in layout.numbers:
        if isinstance(one.term, PairEffects) and effects is not None:
            numbers.append(E[:, _same_states(one.paths, effects.chains.starts), 0])
            sizes.append(path.scales.pair_scale)
            rates.append(path.scales.pair_drift_scale / path.scales.pair_scale)
        else:
            numbers.append(np.full((n, one.paths.n_states), path.law.advantage))
            sizes.append(1.0)
            rates.append(0.0)
    s, r = path.scales, path.n_factors
    first = states[:, layout.items.begin[:-1][layout.newcomer], 0]
    draws = Draws(
        states=states,
        numbers=tuple(one.astype(np.float32) for one in numbers),
        scales=np.tile([scores * s.score_prior_scale, *[s.prior_scale] * r, *[0.0] * r], (n, 1)),
        rates=np.zeros((n, 2)),
        reversions=np.zeros((n, 2)),
        number_scales=np.tile(sizes, (n, 1)).reshape(n, -1),
        number_rates=np.tile(rates, (n, 1)).reshape(n, -1),
        number_reversions=np.zeros((n, len(rates))),
        newcomers=first.mean(axis=1, dtype=float) if first.size else np.zeros(n),
        cuts=np.tile(np.array(path.law.cuts), (n, 1)),
        noise=np.full(n, s.noise_scale),
        chain=np.zeros(n, np.int64),
        steps=steps_of(scores * s.score_drift_scale, s.drift_scale, s.exposure_drift_scale, r, n),
    )
    return Posterior(layout, _law(path), draws, None, "newton")


def model_of_path(path: Trajectory) -> Model:
    """Return the model of `smooth` as a sum of terms, its scales known."""
    s = path.scales
    terms: list[Term] = []
    if path.scores:
        walk = _walk(path, s.score_drift_scale, s.score_prior_scale)
        terms.append(Scores(s.score_prior_scale, walk))
    if path.n_factors:
        terms.append(
            Factors(path.n_factors, s.prior_scale, _walk(path, s.drift_scale, s.prior_scale))
        )
    if s.pair_scale > 0.0:
        terms.append(PairEffects(s.pair_scale, _walk(path, s.pair_drift_scale, s.pair_scale)))
    if path.cells.sides is not None:
        terms.append(Side(walk=Still()))
    return Model(tuple(terms))


def _walk(path: Trajectory, drift: float, prior: float) -> Walk:
    span = float(path.times[-1] - path.times[0])
    return Drift(drift / prior * np.sqrt(span)) if drift > 0.0 and span > 0.0 else Still()


def _law(path: Trajectory) -> OutcomeLaw:
    if path.loss == "squared":
        return Readings(path.scales.noise_scale)
    return Wins() if path.loss == "logistic" else Levels(max(len(path.law.cuts), 1))


def _same_states(paths: Paths, starts: IntArray) -> IntArray:
    """Return, for every state of a path, the state of Newton's chain that it is."""
    if np.array_equal(paths.begin, starts):
        return np.arange(paths.n_states)
    return np.repeat(starts[:-1], np.diff(paths.begin))
