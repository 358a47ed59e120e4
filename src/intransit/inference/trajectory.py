"""All matrices at all times, jointly: `smooth`, and its answer, which says how sure it is.

    minimise  Σ_cells loss(X_ij(t), y)  +  drift  +  prior,       X(t) = S(t) Qᵀ - Q S(t)ᵀ (+ E)

over the states of S, Q and E at once; see docs/model.md.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.checks import (
    LARGEST,
    as_floats,
    as_items,
    as_number,
    as_whole,
    broadcast,
    check_known,
    check_option,
    check_pairs,
    open_rng,
)
from intransit.data.cells import Cells, Timeline, as_timeline, check_outcomes
from intransit.data.reading import plural
from intransit.errors import ConvergenceWarning, InputError
from intransit.inference.joint_fit import (
    Auto,
    Fitted,
    Given,
    MarginsInTime,
    Support,
    as_times,
    check_more,
    fit_model,
    refit,
)
from intransit.inference.joint_problem import Columns
from intransit.inference.laplace import Laplace
from intransit.inference.likelihood import Law
from intransit.inference.posterior import Posterior, Summary, reach_of
from intransit.model.laws import Kind
from intransit.skew import fill_skew
from intransit.study import decompose
from intransit.tasks import one_thread

if TYPE_CHECKING:
    from intransit.data.measurements import Measurements
    from intransit.inference.draws import TrajectoryDraws

_log = logging.getLogger(__name__)

N_DRAWS = 200  # of trajectories, for questions that need whole matrices
ABOVE = ("noise_scale", "prior_scale", "score_prior_scale")  # scales that may not be 0


@dataclass(frozen=True, eq=False)
class Trajectory(Fitted, MarginsInTime):
    """Margins of all items at all times.  Factors are not unique: compare margins.

    Attributes
    ----------
    settings
        What `smooth` was asked for.
    columns
        What was known of S and Q in advance.
    scales
        Standard deviations of everything that is random, given or estimated.
    estimated
        Names of the scales that came from the data.
    problem
        The question, as arrays.
    pairs
        The pairs that have effects of their own.
    solution
        The states at the optimum.
    starts
        Where the solver started, and the objective that it reached from there.
    scales_converged
        Whether the scales that came from the data have settled.
    seed
        Seed that repeats the answer; None when a generator was given.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Timeline.from_arrays([0, 1, 0] * 4, [1, 2, 2] * 4, [1.0, 0.5, 1.5] * 4,
    ...                                 range(12))
    >>> path = it.smooth(games, noise_scale=0.2, drift_scale=0.1, prior_scale=1.0, rng=0)
    >>> path.converged, path.margins.shape
    (True, (12, 3, 3))
    >>> path.matrix().round(1) + 0.0
    array([[ 0. ,  1. ,  1.5],
           [-1. ,  0. ,  0.5],
           [-1.5, -0.5,  0. ]])
    >>> path.margin(0, [1, 2], at=5.5).round(1)
    array([1. , 1.5])
    >>> low, high = path.interval(0, 1, level=0.9)
    >>> bool(low < path.margin(0, 1) < high)
    True

    What is forecast far ahead is less sure, and rests on the prior:

    >>> bool(path.deviation(0, 1, at=50.0) > path.deviation(0, 1))
    True
    >>> path.extrapolated(0, 1, at=[5.0, 50.0])
    array([False,  True])

    Anything else is asked of draws.  Item 0 may not have changed; plain scores make no cycle; and
    the best is so far ahead of the worst:

    >>> path.sample(20, rng=0).margin(0, 1).shape, len(path.posterior(20))
    ((20,), 20)
    >>> change = path.change(0, since=0.0, until=11.0)
    >>> change.low < 0.0 < change.high
    True
    >>> round(path.cyclic_share(n=20).high, 6)
    0.0
    >>> spread = path.summary(lambda X: X.max(), n=50)
    >>> 1.0 < spread.low < spread.value < spread.high < 2.0
    True

    A further game, of a new item; and games that are won or lost:

    >>> path.update(it.Timeline.from_arrays([3], [0], [1.0], [12.0])).n_items
    4
    >>> games = it.Timeline.from_arrays([0, 1, 0] * 4, [1, 2, 2] * 4, [1.0, 0.5, 1.0] * 4,
    ...                                 range(12))
    >>> path = it.smooth(games, loss="logistic", drift_scale=0.1, prior_scale=1.0, rng=0)
    >>> path.probability([0, 2], [2, 0]).round(1), path.chances(0, 2).round(1)
    (array([0.8, 0.2]), array([0.2, 0. , 0.8]))
    >>> low, high = path.probability_interval(0, 2)
    >>> bool(0.0 < low < path.probability(0, 2) < high < 1.0)
    True
    """

    seed: int | None

    @property
    def _solved(self) -> Fitted:
        return self

    @property
    def n_factors(self) -> int:
        """Number of columns whose exposures were to be found."""
        return int((~self.columns.are_scores).sum())

    @property
    def scores(self) -> bool:
        """Whether there are columns with known exposures."""
        return bool(self.columns.are_scores.any())

    @property
    def loss(self) -> Kind:
        """What outcomes are."""
        return self.settings.loss

    @property
    def converged(self) -> bool:
        """Whether the optimum was reached, of states and of scales."""
        return self.solution.converged and self.scales_converged

    def margin(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> FloatArray:
        """Return the margin of first over second at a time, by default the last one.

        Times between and beyond the observed ones are welcome.

        Parameters
        ----------
        first, second
            The two items, whole numbers from 0; arrays are broadcast.
        at
            The time, or an array of times; by default the last one of the comparisons.

        Returns
        -------
        numpy.ndarray
            Margins, in the shape of the arguments.

        Raises
        ------
        InputError
            If an item does not occur, a time is not finite, or shapes do not agree.
        """
        query, shape = self._query(first, second, at)
        return query.margins(self.solution.z).reshape(shape)

    def deviation(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> FloatArray:
        """Return the standard deviation of a margin: how far the truth may lie from it.

        Parameters
        ----------
        first, second, at
            As `margin` takes and refuses them.

        Returns
        -------
        numpy.ndarray
            Standard deviations, in the shape of the arguments.
        """
        return np.sqrt(self.outlook(first, second, at)[1])

    def outlook(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return margins and their variances together.

        Parameters
        ----------
        first, second, at
            As `margin` takes and refuses them.

        Returns
        -------
        margins : numpy.ndarray
            Margins, in the shape of the arguments.
        variances : numpy.ndarray
            Their variances, of the same shape.
        """
        query, shape = self._query(first, second, at)
        variance = self._laplace.variances(query, np.random.default_rng(self.settings.seed))
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

        Parameters
        ----------
        first, second
            The two items, whole numbers from 0; arrays are broadcast.  By default all pairs.
        at
            The time, or an array of times; by default the last one of the comparisons, and for all
            pairs every one of them.
        level
            Of the interval.

        Returns
        -------
        low : numpy.ndarray
            Lower ends, in the shape of the arguments.
        high : numpy.ndarray
            Upper ends, of the same shape.

        Raises
        ------
        InputError
            If one item alone is given or does not occur, a time is not finite, shapes do not agree,
            or `level` does not lie between 0 and 1.
        """
        reach = reach_of(level)
        if (first is None) != (second is None):
            raise InputError("interval: one item was given; give both, or neither for all pairs.")
        if first is not None and second is not None:
            middle, variance = self.outlook(first, second, at)
            return middle - reach * np.sqrt(variance), middle + reach * np.sqrt(variance)
        asked = self._all_pairs("interval", self.times if at is None else at)
        middle, variance = self.outlook(*asked)
        middle = fill_skew(middle, self.n_items)
        spread = np.abs(fill_skew(np.sqrt(variance), self.n_items))
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
        For readings of margins: that one further reading is above 0.

        Parameters
        ----------
        first, second, at
            As `margin` takes and refuses them.
        side
            1 where the first has the better side, -1 where the second has it.

        Returns
        -------
        numpy.ndarray
            Probabilities, in the shape of the arguments.
        """
        return self.law.expect(*self._asked(first, second, at, side))

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

        Parameters
        ----------
        first, second, at, side
            As `probability` takes and refuses them.

        Returns
        -------
        numpy.ndarray
            Probabilities, (..., n_levels), the levels along the last axis.
        """
        return self.law.spread(*self._asked(first, second, at, side))

    @property
    def law(self) -> Law:
        """How outcomes follow from margins: cuts between levels, and what a side is worth."""
        return self.problem.law

    def probability_interval(
        self,
        first: ArrayLike,
        second: ArrayLike,
        at: ArrayLike | None = None,
        *,
        side: ArrayLike = 0.0,
        level: float = 0.9,
    ) -> tuple[FloatArray, FloatArray]:
        """Return an interval for the win probability itself: that of the margin, carried over.

        Parameters
        ----------
        first, second, at, side
            As `probability` takes and refuses them.
        level
            Of the interval, between 0 and 1.

        Returns
        -------
        low : numpy.ndarray
            Lower ends, in the shape of the arguments.
        high : numpy.ndarray
            Upper ends, of the same shape.
        """
        sides = as_floats(side, "side")
        low, high = self.interval(first, second, at, level=level)
        return self.law.plain(low, sides), self.law.plain(high, sides)

    def sample(
        self, n: int = 100, *, rng: np.random.Generator | int | None = None
    ) -> "TrajectoryDraws":
        """Return draws of whole trajectories: any question is then a mean over them.

        Parameters
        ----------
        n, rng
            Number of draws, and a seed or generator.

        Returns
        -------
        TrajectoryDraws
            The draws: ``margin``, ``matrix`` and ``margins`` of each.

        Raises
        ------
        InputError
            If `n` or `rng` cannot be used.
        """
        from intransit.inference.draws import TrajectoryDraws  # noqa: PLC0415  if asked for

        generator, _ = open_rng(rng)
        steps = self._laplace.draw(as_whole("n", n, least=1), generator)
        return TrajectoryDraws(self, self.solution.z[:, None] + steps, generator)

    def posterior(
        self, n: int = N_DRAWS, *, rng: np.random.Generator | int | None = 0
    ) -> Posterior:
        """Return draws around the solution as the `Posterior` that `fit` hands out.

        For strengths, matrices and chances over draws; margins are to first order, as in `sample`.

        Parameters
        ----------
        n, rng
            Number of draws, 2 or more, and a seed or generator; refused as by `sample`.

        Returns
        -------
        Posterior
            The draws.
        """
        return self.sample(as_whole("n", n, least=2), rng=rng).posterior()

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

        `probability_positive` of the answer near 0 or 1 says that the item has changed.

        Parameters
        ----------
        item
            The item, a whole number from 0.
        since, until
            The two times.
        against
            The opponents, by default all others.
        level, n, rng
            As in `summary`.

        Returns
        -------
        Summary
            The mean margin at `until` minus that at `since`.

        Raises
        ------
        InputError
            If an item does not occur or is to be compared with itself, a time is not finite, or
            `level` does not lie between 0 and 1.
        """
        reach_of(level)
        item = as_whole("item", item, least=0)
        everybody = np.arange(self.n_items)
        given = everybody[everybody != item] if against is None else against
        others = as_items(given, "against").ravel()
        pairs = np.stack([np.full(len(others), item), others], axis=1)
        opponents = check_pairs(pairs, self.n_items, "change")[:, 1]
        if not len(opponents) or (opponents == item).any():
            raise InputError(
                f"against: item {item} is to be compared with itself, or with nobody; give others."
            )
        since = as_number("since", since, least=-LARGEST)
        until = as_number("until", until, least=-LARGEST)
        asked = np.full((2, 1), item), opponents[None], np.array([[since], [until]])
        both, best = self.sample(n, rng=rng).margin(*asked), self.margin(*asked)
        moved = np.mean(both[:, 1] - both[:, 0], axis=-1)
        return Summary.of(moved, float(np.mean(best[1] - best[0])), level)

    def cyclic_share(
        self,
        at: float | None = None,
        *,
        level: float = 0.9,
        n: int = N_DRAWS,
        rng: np.random.Generator | int | None = 0,
    ) -> Summary:
        """Return the share of the margins' energy that no ranking explains, with its interval.

        Parameters
        ----------
        at, level, n, rng
            As `summary` takes and refuses them.

        Returns
        -------
        Summary
            The share, from 0 (all of it is a ranking) to 1.
        """
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
        """Return any function of the matrix at a time, with its interval.

        Parameters
        ----------
        function
            What is asked of a matrix of margins, (n_items, n_items); it returns one number.
        at
            The time, by default the last one of the comparisons.
        level
            Of the interval.
        n, rng
            Number of draws, and a seed or generator.

        Returns
        -------
        Summary
            The number at the solution, its mean over draws, and its interval.

        Raises
        ------
        InputError
            If `function` does not return one number, `at` is not one finite time, or `level` does
            not lie between 0 and 1.
        """
        reach_of(level)
        times = as_times(self.times[-1] if at is None else at)
        if times.ndim:
            raise InputError(f"at: {times.shape} times were given; ask for one time at a time.")
        drawn = self.sample(n, rng=rng).matrix(times)
        return Summary.of_function(function, drawn, self.matrix(times), level)

    @one_thread
    def update(self, more: "Timeline | Measurements") -> "Trajectory":
        """Return the trajectory with further comparisons, later or earlier, of old and new items.

        Scales and number of factors stay; states start from where they are, so that the answer is
        that of a full fit, to within the tolerance, at a fraction of its cost.  Periods given as
        `Measurements` follow the last time, one unit apart.

        Parameters
        ----------
        more
            Further comparisons, as `smooth` takes them.

        Returns
        -------
        Trajectory
            The answer to all comparisons, old and new.

        Raises
        ------
        InputError
            If outcomes do not fit the loss, or an item is new where columns were given for the
            others only.

        Warns
        -----
        ConvergenceWarning
            The solver stopped at its step limit; says what to change.
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
        longer = refit(self, data.rows, self.columns.grown(n_items))
        if not longer.converged:
            warnings.warn(f"update: {longer.status}", ConvergenceWarning, stacklevel=2)
        return longer

    @property
    def cells(self) -> Cells:
        """What was seen, in the order of the problem's loops."""
        return self.problem.cells

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

        Parameters
        ----------
        first, second, at
            As `margin` takes and refuses them.

        Returns
        -------
        numpy.ndarray
            True or False, in the shape of the arguments.
        """
        query, shape = self._query(first, second, at)
        return self.support.extrapolates(query.first, query.second, query.times).reshape(shape)

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
        steps = plural(self.solution.n_steps, "step")
        if not self.solution.converged:
            return (
                f"Stopped after {steps} before the optimum was reached; raise max_steps or lower "
                "n_factors."
            )
        if not self.scales_converged:
            return (
                "Reached an optimum, but the scales had not settled; give drift_scale or "
                "prior_scale, or fewer factors."
            )
        return f"Reached an optimum in {steps}, gradient {self.solution.gradient_size:.1e}."

    def __repr__(self) -> str:
        size = f"n_items={self.n_items}, n_periods={self.n_periods}, n_factors={self.n_factors}"
        return f"Trajectory({size}, scores={self.scores}: {self.status})"

    def _asked(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None, side: ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return means and variances of margins, and sides, of one shape."""
        mean, variance = self.outlook(first, second, at)
        sides = as_floats(side, "side")
        return broadcast("probability", margins=mean, variances=variance, side=sides)

    @cached_property
    def _laplace(self) -> Laplace:
        return Laplace(self.problem, self.solution.z)


@one_thread
def smooth(
    measurements: "Measurements | Timeline",
    *,
    n_factors: int = 0,
    scores: bool | Auto = "auto",
    loss: Kind = "squared",
    noise_scale: float | Auto = "auto",
    drift_scale: float | Auto = "auto",
    prior_scale: float | Auto = "auto",
    exposure_drift_scale: float | Auto = 0.0,
    score_drift_scale: float | Auto | None = None,
    score_prior_scale: float | Auto | None = None,
    pair_scale: float | Auto = 0.0,
    pair_drift_scale: float | Auto = 0.0,
    strengths: ArrayLike | None = None,
    exposures: ArrayLike | None = None,
    advantage: float | Auto = "auto",
    weights: ArrayLike | None = None,
    tolerance: float = 1e-4,
    max_steps: int = 300,
    rng: np.random.Generator | int | None = None,
) -> Trajectory:
    """Recover the margins of all items at all times, from all comparisons together.

    An item's past and future tell about its present; cycles are kept, not averaged away.

    Parameters
    ----------
    measurements
        Periods (`Measurements`, one unit of time apart), or comparisons at times of their own
        (`Timeline`).
    n_factors
        Columns of S and Q whose exposures are to be found.  0 leaves plain scores.
    scores
        Whether there is, before the factors, a column of plain scores (exposures 1).
        ``"auto"``: when n_factors is 0.
    loss
        ``"squared"``: outcomes are readings of margins.  ``"logistic"``: outcomes are shares of
        games won by the first item, its margin the log odds.  ``"ordered"``: whole numbers, 0 a
        tie, 1 a win, 2 and more clearer wins, -1 a loss, and so on; where the levels lie is found.
    noise_scale, drift_scale, prior_scale
        Standard deviations of a reading about its margin, of the step of an entry of S in one
        unit of time, and of the first state of an entry of S and of Q.  ``"auto"`` estimates
        them; a drift_scale of 0 keeps S as it is.
    exposure_drift_scale
        The same as drift_scale for Q: 0 (the paper's model), a number, or ``"auto"``.
    score_drift_scale, score_prior_scale
        For columns with known exposures; by default what drift_scale and prior_scale are.
    pair_scale, pair_drift_scale
        Standard deviation of each pair's own deviation from the low rank, and of its step: 0 for
        none, a number, or ``"auto"``.
    strengths, exposures
        What is known of S and Q, (n_items, n_factors); columns of NaN are to be found.
    advantage
        What the better side adds to a margin, where the comparisons say who had it (`sides` of a
        Timeline): a number, or ``"auto"``.
    weights
        One for each period, or for each comparison of a Timeline: multiplies its count.
    tolerance
        Stop when less than this of log posterior is left to gain.
    max_steps
        Most Newton steps.
    rng
        Seed or generator for random starts and draws.  The answer keeps the seed.

    Returns
    -------
    Trajectory
        ``margins``, ``interval``, ``probability``, ``sample``, ``update``, and more.

    Raises
    ------
    InputError
        If the comparisons do not fit the loss, or a number or shape cannot be used.

    Warns
    -----
    ConvergenceWarning
        The solver stopped at its step limit; says what to change.

    Examples
    --------
    >>> import intransit as it
    >>> sim = it.simulate(n_items=12, n_factors=1, n_periods=4, n_outcomes=90, rng=0,
    ...                   noise_scale=0.05, drift_scale=0.05)
    >>> path = it.smooth(sim.measurements, n_factors=1, noise_scale=0.05, drift_scale=0.05,
    ...                  prior_scale=1.0, rng=0)
    >>> bool(abs(path.margins - sim.margins).max() < 0.4)
    True
    >>> low, high = path.interval(0, 1, at=5.5, level=0.9)  # a forecast
    >>> bool(low < path.margin(0, 1, at=5.5) < high)
    True
    """
    check_option("loss", loss, get_args(Kind))
    data = as_timeline(measurements, weights=weights)
    check_outcomes(data.rows, loss)
    generator, seed = open_rng(rng)
    scales = {
        "noise_scale": noise_scale if loss == "squared" else 1.0,
        "drift_scale": drift_scale,
        "prior_scale": prior_scale,
        "exposure_drift_scale": exposure_drift_scale,
        "score_drift_scale": drift_scale if score_drift_scale is None else score_drift_scale,
        "score_prior_scale": prior_scale if score_prior_scale is None else score_prior_scale,
        "pair_scale": pair_scale,
        "pair_drift_scale": pair_drift_scale,
    }
    given = Given(
        scales={name: _scale(name, scale, strict=name in ABOVE) for name, scale in scales.items()},
        loss=loss,
        advantage=_scale("advantage", advantage, least=-LARGEST),
        tolerance=as_number("tolerance", tolerance, least=0.0, strict=True),
        max_steps=as_whole("max_steps", max_steps, least=1),
        seed=int(generator.integers(2**32)) if seed is None else seed,
    )
    columns = _columns(data.n_items, n_factors, scores, strengths, exposures)
    path = solve_timeline(data, columns, given, seed)
    if not path.converged:
        warnings.warn(f"smooth: {path.status}", ConvergenceWarning, stacklevel=2)
    return path


def solve_timeline(
    data: Timeline, columns: Columns, given: Given, seed: int | None = None
) -> Trajectory:
    """Return the solution of what was asked, checked before."""
    fitted = fit_model(given.collapse(data.rows, data.n_items), columns, given)
    path = Trajectory(**vars(fitted), seed=seed)
    _log.info("smooth: %s", path.status)
    return path


def _scale(
    name: str, value: float | Auto, *, least: float = 0.0, strict: bool = False
) -> float | Auto:
    if isinstance(value, str):
        check_option(name, value, ("auto",))
        return "auto"
    return as_number(name, value, least=least, strict=strict)


def _columns(
    n_items: int,
    n_factors: int,
    scores: bool | Auto,
    strengths: ArrayLike | None,
    exposures: ArrayLike | None,
) -> Columns:
    """Return the columns of S and Q, known or free."""
    n_factors = as_whole("n_factors", n_factors, least=0)
    if not isinstance(scores, bool):
        check_option("scores", scores, ("auto",))
        scores = n_factors == 0
    if n_factors == 0:
        if not scores:
            raise InputError("n_factors is 0 and scores is False; nothing is left to be found.")
        if strengths is not None or exposures is not None:
            raise InputError(
                "strengths, exposures: columns were given for n_factors=0; set n_factors to their "
                "number."
            )
        return Columns.plain(n_items, 0, scores=True)
    known = check_known(strengths, exposures, n_items, n_factors)
    S, Q = known[:, :n_factors], known[:, n_factors:]
    if 2 * int(np.isnan(Q).all(axis=0).sum()) > n_items:
        raise InputError(
            f"n_factors is {n_factors} for {n_items} items; a matrix of {n_items} items has at "
            f"most {n_items // 2} factors, and fewer are needed to find anything."
        )
    if scores:
        S = np.hstack([np.full((n_items, 1), np.nan), S])
        Q = np.hstack([np.ones((n_items, 1)), Q])
    return Columns(S, Q)
