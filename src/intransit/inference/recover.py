"""The paper's estimator: one matrix now, from weighted readings of now and before.

    minimise  Σ_t w_t/2 ‖A^t(S Qᵀ - Q Sᵀ) - y^t‖²   subject to, if given, ‖S Qᵀ - Q Sᵀ‖∞ <= a

over S and Q (eqs. def_opt and def_opt_a), or over those of their columns that are not known.  An
answer says which factors give the same margins, and which margins are not settled.
"""

import logging
import warnings
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray, IntArray
from intransit.checks import (
    as_floats,
    as_number,
    as_whole,
    broadcast,
    check_known,
    check_option,
    check_pairs,
    check_size,
    open_rng,
    shown,
)
from intransit.data.measurements import Measurements
from intransit.data.reading import plural
from intransit.errors import ConvergenceWarning, InputError
from intransit.inference.newton import Descent
from intransit.inference.weighted_program import (
    DENSE_LIMIT,
    Collapsed,
    NormalEquations,
    Problem,
    Solver,
    collapse,
    gradient_size,
)
from intransit.inference.weighted_solvers import (
    alternate,
    attempt,
    best,
    fixed_part,
    largest_margin,
    newton,
    same_minimum,
    solve_bounded,
)
from intransit.skew import build_margins, canonical_factors, margins_at, smallest_strengths
from intransit.study import connected


def check_measurements(measurements: object) -> None:
    """Refuse anything else, with the ways to build one."""
    if not isinstance(measurements, Measurements):
        raise InputError(
            f"measurements: a {type(measurements).__name__} was given; build one with "
            "Measurements.from_pairs, from_matrices or from_operators."
        )


def check_factors(n_factors: int, n_items: int) -> int:
    """Return the number of factors, or refuse one that no matrix of this size can have."""
    n_factors = as_whole("n_factors", n_factors, least=1)
    if 2 * n_factors > n_items:
        raise InputError(
            f"n_factors is {n_factors} for {n_items} items; a matrix of {n_items} items has at "
            f"most {n_items // 2} factors, and fewer are needed to recover anything."
        )
    return n_factors


def normalise(weights: object, n_periods: int) -> FloatArray:  # (n_periods,)
    """Return weights that sum to 1, or say why they cannot be weights."""
    values = as_floats(weights, "weights")
    if values.shape != (n_periods,):
        raise InputError(
            f"weights: shape {values.shape} was given for {n_periods} periods; there must be "
            "one weight for each."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        bad = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[0])
        raise InputError(
            f"weights: entry {bad} is {values[bad]:g}; a weight must be a finite number, 0 or more."
        )
    if not values.any():
        raise InputError("weights: all are 0; at least one period must count.")
    # By the largest first, so that neither tiny nor huge weights leave the range of floats.
    values = values / values.max()
    return np.asarray(values / values.sum())


def check_bound(bound: float, problem: Problem, data: Collapsed) -> float:
    """Return the bound, or refuse one that known factors break or that the data contradict.

    The data contradict a bound when most pairs lie beyond it by more than three standard
    errors of their means; where no reading is repeated, by more than ten times the bound.
    """
    bound = as_number("bound", bound, least=0.0, strict=True)
    known = np.where(problem.free, 0.0, problem.known)
    fixed = largest_margin(fixed_part(problem, known))
    if fixed > bound:
        raise InputError(
            f"bound is {bound:g}, but the known strengths and exposures alone make a margin of "
            f"{fixed:g}; raise the bound to at least that."
        )
    loss = data.loss
    seen = loss.weights > 0
    if not seen.any():
        return bound
    size = np.abs(loss.targets[seen])
    if data.n_repeats:
        error = np.sqrt(data.pure_error / data.n_repeats / loss.weights[seen])
        beyond = size - bound > 3.0 * error
    else:  # nothing tells noise from margin; only a wrong unit is refused
        beyond = size > 10.0 * bound
    if beyond.mean() > 0.5:
        raise InputError(
            f"bound is {bound:g}, but {int(beyond.sum())} of {len(beyond)} compared pairs have "
            f"mean outcomes beyond it (the largest is {np.abs(loss.targets).max():.3g}); raise "
            "it to the largest margin you think possible, or check the units."
        )
    return bound


NULL = 1e-12  # of the largest eigenvalue of the normal matrix


@dataclass(frozen=True)
class Freedom:
    """How many directions in the factors change no margin, and which, in words."""

    dimension: int
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def find_freedom(problem: Problem) -> Freedom:
    """Say what is free: of U = [S Q], the changes U G, G symplectic, that keep known columns."""
    r, f = problem.n_factors, int(problem.free.sum())
    dimension = f * (f + 1) // 2
    directions = plural(dimension, "direction")
    only_strengths = problem.free[:r].all() and not problem.free[r:].any()
    if only_strengths and r == 1 and np.ptp(problem.known[:, 1]) == 0:
        return Freedom(1, "One constant may be added to all scores; they are given with mean 0.")
    if only_strengths:
        return Freedom(
            dimension,
            "S may change by Q B for any symmetric B "
            f"({directions}); the S of least norm is given.",
        )
    if problem.all_free:
        return Freedom(
            dimension,
            "S and Q may change together by any symplectic change of basis "
            f"({directions}); the canonical factors are given, one plane a column.",
        )
    return Freedom(
        dimension,
        f"The {f} recovered columns may change by symplectic changes of basis that keep the "
        f"known ones ({directions}).",
    )


def find_doubts(problem: Problem, factors: FloatArray) -> tuple[str, ...]:
    """Say which margins the comparisons do not settle, whatever their noise."""
    pairs = problem.pairs
    n, f = problem.n_items, int(problem.free.sum())
    partners = np.bincount(pairs.ravel(), minlength=n)
    doubts = []
    absent = np.flatnonzero(partners == 0)
    if len(absent):
        whose = "its" if len(absent) == 1 else "their"
        doubts.append(f"{_items(absent)} never compared: {whose} margins mean nothing.")
    groups = np.unique(connected(pairs, n)[partners > 0])
    if len(groups) > 1:
        doubts.append(
            f"The items form {len(groups)} groups with no comparison between them: margins "
            "across groups are not settled by the data."
        )
    few = np.flatnonzero((partners > 0) & (partners < min(f, n - 1)))
    if len(few) and f > 1:
        doubts.append(
            f"{_items(few)} compared with fewer than {f} others, the number of unknowns of an "
            f"item: {'its' if len(few) == 1 else 'their'} other margins are not settled."
        )
    curvature = problem.loss.curvature(np.zeros(len(pairs)))
    n_seen = int(np.count_nonzero(curvature.weights))
    n_seen += 0 if curvature.mixed is None else len(curvature.mixed.targets)
    if n_seen < problem.degrees_of_freedom:
        doubts.append(
            f"{n_seen} distinct readings are fewer than the {problem.degrees_of_freedom} degrees "
            "of freedom of the matrix: many matrices fit equally well."
        )
    n_open = count_open(problem, factors)
    if n_open:
        doubts.append(
            f"The matrix may change along {plural(n_open, 'direction')} without changing any "
            "reading: some margins are not settled."
        )
    return tuple(doubts)


def count_open(problem: Problem, factors: FloatArray) -> int:
    """Return along how many directions X may change while all readings stay, to first order.

    Of the null space of the readings' Jacobian, what the symmetry does not account for.  Asked
    only of problems small enough to be factored; 0 for larger ones.
    """
    moved = problem.moved("both")
    if problem.n_items * len(moved) > DENSE_LIMIT:
        return 0
    partners = problem.partners(factors, moved)
    curvature = problem.loss.curvature(problem.margins(factors))
    values = NormalEquations(partners, problem.pairs, curvature, dense=True).eigenvalues()
    null = int(np.sum(values <= NULL * values[-1])) if values[-1] > 0 else len(values)
    return max(0, null - find_freedom(problem).dimension)


def _items(which: IntArray) -> str:
    shown = ", ".join(str(k) for k in which[:5]) + (", ..." if len(which) > 5 else "")
    return f"Item {shown} was" if len(which) == 1 else f"{len(which)} items ({shown}) were"


Method = Literal["newton", "alternating"]
Start = Literal["spectral", "random"]

_METHODS = {"newton": newton, "alternating": alternate}
_MAX_STEPS = {"newton": 200, "alternating": 5_000}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Recovery:
    """The recovered matrix.  Factors are not unique: compare margins, and read `freedom`.

    Attributes
    ----------
    strengths, exposures
        The factors S and Q, (n_items, n_factors) each.
    objectives
        The objective at the start and after each step, (n_steps + 1,), never increasing.
    gradient_size
        Of the objective (with an active bound: the Lagrangian) at the end.
    converged
        Whether a minimum was reached.
    bound_is_active
        Whether the bound, if any, holds a margin back.
    method
        ``"newton"`` or ``"alternating"``.
    weights
        Weights of the periods, (n_periods,), as used: they sum to 1.
    attempts
        Every start, and what came of it.
    seed
        Seed that repeats the answer; None when a generator was given.
    problem
        The question, as arrays.

    Examples
    --------
    >>> import intransit as it
    >>> pairs = [[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]]
    >>> seen = it.Measurements.from_pairs(pairs, [[1.0, 1.0, 1.0, -3.0, 2.0, 2.0]])
    >>> answer = it.recover(seen, n_factors=1, rng=0)
    >>> answer.margins.round(2) + 0.0
    array([[ 0.,  1.,  2.,  3.],
           [-1.,  0.,  1.,  2.],
           [-2., -1.,  0.,  1.],
           [-3., -2., -1.,  0.]])
    >>> answer.margin(0, [1, 2, 3]).round(2)
    array([1., 2., 3.])
    """

    strengths: FloatArray
    exposures: FloatArray
    objectives: FloatArray
    gradient_size: float
    converged: bool
    bound_is_active: bool
    method: str
    weights: FloatArray
    attempts: tuple[Descent, ...]
    seed: int | None
    problem: Problem = field(repr=False)

    @cached_property
    def freedom(self) -> Freedom:
        """What the factors leave open: how they may change without changing any margin."""
        return find_freedom(self.problem)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Which margins the comparisons do not settle, whatever their noise; often none."""
        return find_doubts(self.problem, np.hstack([self.strengths, self.exposures]))

    @property
    def margins(self) -> FloatArray:  # (n_items, n_items)
        """The estimate of X^T; entry (i, j) > 0 favours i."""
        return build_margins(self.strengths, self.exposures)

    def margin(self, first: ArrayLike, second: ArrayLike) -> FloatArray:
        """Return the margin of first over second, for one pair or for arrays of them.

        Parameters
        ----------
        first, second
            The two items, whole numbers from 0; arrays are broadcast.

        Returns
        -------
        numpy.ndarray
            Margins, in the shape of the arguments.

        Raises
        ------
        InputError
            If an item does not occur, or shapes do not agree.
        """
        i, j = broadcast("margin", first=first, second=second)
        stacked = np.stack([i.ravel(), j.ravel()], axis=1)
        pairs = check_pairs(stacked, len(self.strengths), "margin")
        return margins_at(self.strengths, self.exposures, pairs).reshape(i.shape)

    @property
    def objective(self) -> float:
        """The objective reached."""
        return float(self.objectives[-1])

    @property
    def n_steps(self) -> int:
        """Number of steps of the attempt that was kept."""
        return len(self.objectives) - 1

    @property
    def status(self) -> str:
        """What happened, in a sentence."""
        kind = "round" if self.bound_is_active else "step"
        steps = plural(self.n_steps, kind)
        if not self.converged:
            return (
                f"Stopped after {steps} before a minimum was reached; raise max_steps, give a "
                "bound or a ridge, or lower n_factors."
            )
        limit = same_minimum(self.problem, self.objective)
        agree = sum(a.objective <= limit for a in self.attempts)
        tried = len(self.attempts)
        others = "" if tried == 1 else f"; {agree} of {tried} starts lead there"
        return f"Reached a minimum in {steps}, gradient {self.gradient_size:.1e}{others}."

    def __repr__(self) -> str:
        n_items, n_factors = self.strengths.shape
        return f"Recovery(n_items={n_items}, n_factors={n_factors}: {self.status})"


def recover(
    measurements: Measurements,
    *,
    n_factors: int,
    weights: ArrayLike | None = None,
    method: Method = "newton",
    bound: float | None = None,
    strengths: ArrayLike | None = None,
    exposures: ArrayLike | None = None,
    start: Start | tuple[ArrayLike, ArrayLike] = "spectral",
    restarts: int = 10,
    ridge: float = 0.0,
    tolerance: float = 1e-10,
    max_steps: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> Recovery:
    """Recover the margins of the last period from weighted readings of all periods.

    Parameters
    ----------
    measurements
        What was read in each period, oldest first.  See `Measurements`.
    n_factors
        Number of columns of S and Q; the recovered matrix has rank ``2 * n_factors``.
    weights
        One for each period, not negative; they are scaled to sum to 1.  See `optimal_weights`.
        By default all periods count alike.
    method
        ``"newton"``, damped Gauss-Newton on both factors at once, or ``"alternating"``, the
        paper's own, which solves for one factor at a time.  Both minimise the same program.
    bound
        The largest absolute margin allowed, for every pair, seen or not.
    strengths, exposures
        What is known of S and Q in advance, (n_items, n_factors); columns of NaN are to be
        recovered.  ``exposures=np.ones((n_items, 1))`` with one factor gives plain scores.
    start
        ``"spectral"``, ``"random"``, or factors (S, Q) to start from.
    restarts
        How many further starts may be tried when the first is not above doubt.  0 for none.
    ridge
        Adds ``ridge / 2 * (‖S‖² + ‖Q‖²)`` over what is to be recovered; the paper has none.
    tolerance
        Stop when less than this part of the objective remains to be gained.
    max_steps
        Most steps of one attempt; by default 200 for newton, 5,000 for alternating.
    rng
        Seed or generator for random starts.  The answer keeps the seed.

    Returns
    -------
    Recovery
        ``answer.margins`` is the matrix; ``answer.status`` says how it went, ``answer.freedom``
        what the factors leave open, and ``answer.doubts`` which margins the data do not settle.

    Raises
    ------
    InputError
        If a number or shape cannot be used, or the data contradict `bound`.

    Warns
    -----
    ConvergenceWarning
        The best attempt stopped at its step limit; says what to change.

    Notes
    -----
    A start is above doubt when the program is convex in what is free, when the fit is exact, or
    when noise is far below the margins and the fit misses the pairs' means by no more than
    repeated readings of one pair miss each other (an F ratio).  Otherwise up to `restarts`
    further starts are tried, some plain and some led along a path of falling ridges, until the
    lowest objective has been reached from two unrelated ones.  See docs/model.md.

    Examples
    --------
    >>> import intransit as it
    >>> sim = it.simulate(n_items=12, n_factors=1, n_periods=3, n_outcomes=90, rng=0,
    ...                   noise_scale=0.01, drift_scale=0.001)
    >>> weights = it.optimal_weights(3, noise_scale=0.01, drift_scale=0.001)
    >>> answer = it.recover(sim.measurements, n_factors=1, weights=weights, rng=0)
    >>> bool(abs(answer.margins - sim.margins[-1]).max() < 0.05)
    True
    """
    check_option("method", method, get_args(Method))
    check_measurements(measurements)
    n_items, n_periods = measurements.n_items, measurements.n_periods
    n_factors = check_factors(n_factors, n_items)
    restarts = as_whole("restarts", restarts, least=0)
    generator, seed = open_rng(rng)
    used = normalise(np.ones(n_periods) if weights is None else weights, n_periods)
    data = collapse(measurements.periods, used)
    known = check_known(strengths, exposures, n_items, n_factors)
    problem = Problem(data.pairs, data.loss, known, as_number("ridge", ridge, least=0.0))
    most = _MAX_STEPS[method] if max_steps is None else max_steps
    solver: Solver = partial(
        _METHODS[method],
        tolerance=as_number("tolerance", tolerance, least=0.0),
        max_steps=as_whole("max_steps", most, least=1),
    )
    if bound is not None:
        solver = partial(solve_bounded, bound=check_bound(bound, problem, data), solver=solver)
    attempts = attempt(
        problem,
        data,
        _first_start(start, problem),
        solver,
        restarts=restarts,
        polished=bound is None and method == "alternating",
        rng=generator,
    )
    kept = best(attempts)
    S, Q = _representative(problem, kept.factors)
    answer = Recovery(
        strengths=S,
        exposures=Q,
        objectives=kept.objectives,
        gradient_size=gradient_size(problem, kept, np.hstack([S, Q])),
        converged=kept.converged,
        bound_is_active=kept.pressures is not None,
        method=method,
        weights=used,
        attempts=tuple(Descent(a.objectives, a.converged, start=a.start) for a in attempts),
        seed=seed,
        problem=problem,
    )
    _log.info("recover: %s", answer.status)
    if not answer.converged:
        warnings.warn(f"recover: {answer.status}", ConvergenceWarning, stacklevel=2)
    return answer


def _first_start(
    start: Start | tuple[ArrayLike, ArrayLike], problem: Problem
) -> Start | FloatArray:
    """Return the name of a start, or given factors with the known columns in their places."""
    if isinstance(start, str):
        check_option("start", start, get_args(Start))
        return start
    try:
        S, Q = (np.asarray(part, dtype=float) for part in start)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f'start is {shown(start)}; it must be "spectral", "random", or two arrays (S, Q).'
        ) from None
    wanted = problem.n_items, problem.n_factors
    for name, part in (("S", S), ("Q", Q)):
        if part.shape != wanted or not np.isfinite(part).all():
            raise InputError(
                f"start: {name} of shape {part.shape} was given; it must be finite and of shape "
                f"{wanted}."
            )
        check_size(part, f"start: {name}")
    if not (S.any(axis=0) & Q.any(axis=0)).all():
        raise InputError(
            "start: a column of S or Q is all zeros, where nothing shows a way down; give other "
            "factors, however small."
        )
    return np.where(problem.free, np.hstack([S, Q]), problem.known)


def _representative(problem: Problem, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, of all factors with these margins, the ones that `find_freedom` speaks of."""
    r = problem.n_factors
    S, Q = factors[:, :r], factors[:, r:]
    if problem.all_free:
        return canonical_factors(S, Q)
    if problem.free[:r].all() and not problem.free[r:].any():
        return smallest_strengths(S, Q), Q
    return S.copy(), Q.copy()
