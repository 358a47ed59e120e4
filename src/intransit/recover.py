"""The paper's estimator: one matrix now, from weighted readings of now and before.

    minimise  Σ_t w_t/2 ‖A^t(S Qᵀ - Q Sᵀ) - y^t‖²   subject to, if given, ‖S Qᵀ - Q Sᵀ‖∞ <= a

over S and Q (eqs. def_opt and def_opt_a), or over those of their columns that are not known.
"""

import logging
import warnings
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray
from intransit.checks import (
    check_bound,
    check_factors,
    check_known,
    check_measurements,
    check_start,
)
from intransit.core.alternating import alternate
from intransit.core.attempts import Tried, attempt, best, same_minimum
from intransit.core.bound import solve_bounded
from intransit.core.inputs import as_number, as_whole, check_option, check_pairs
from intransit.core.newton import newton
from intransit.core.problem import Problem, Solver, gradient_size
from intransit.core.readings import collapse
from intransit.core.skew import (
    build_margins,
    canonical_factors,
    margins_at,
    smallest_strengths,
)
from intransit.core.weights import normalise
from intransit.doubts import Freedom, find_doubts, find_freedom
from intransit.errors import ConvergenceWarning, InputError
from intransit.measurements import Measurements
from intransit.seeds import open_rng

Method = Literal["newton", "alternating"]
Start = Literal["spectral", "random"]

_METHODS = {"newton": newton, "alternating": alternate}
_MAX_STEPS = {"newton": 200, "alternating": 5_000}

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attempt:
    """One start: where from, and what came of it."""

    start: str
    objective: float
    n_steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Recovery:
    """The recovered matrix.  Factors are not unique: compare margins, and read `freedom`."""

    strengths: FloatArray  # (n_items, n_factors)
    exposures: FloatArray  # (n_items, n_factors)
    objectives: FloatArray  # (n_steps + 1,): at the start and after each step, never increasing
    gradient_size: float  # of the objective (with an active bound: the Lagrangian) at the end
    converged: bool
    bound_is_active: bool  # whether the bound, if any, holds a margin back
    method: str
    weights: FloatArray  # (n_periods,), as used: they sum to 1
    attempts: tuple[Attempt, ...]
    seed: int | None  # repeats the answer; None when a generator was given
    problem: Problem = field(repr=False)  # the question, as arrays

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
        """Return the margin of first over second, for one pair or for arrays of them."""
        try:
            first, second = np.broadcast_arrays(first, second)
        except ValueError:
            raise InputError(
                f"margin: {np.shape(first)} first and {np.shape(second)} second items were "
                "given; there must be as many of one as of the other."
            ) from None
        stacked = np.stack([first.ravel(), second.ravel()], axis=1)
        pairs = check_pairs(stacked, len(self.strengths), "margin")
        return margins_at(self.strengths, self.exposures, pairs).reshape(first.shape)

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
        steps = f"{self.n_steps} {kind}{'' if self.n_steps == 1 else 's'}"
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
    solver = _solver(method, tolerance, max_steps)
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
    answer = _answer(problem, attempts, method=method, weights=used, seed=seed)
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
    factors = check_start(start, problem.n_items, problem.n_factors)
    return np.where(problem.free, factors, problem.known)


def _answer(
    problem: Problem,
    attempts: tuple[Tried, ...],
    *,
    method: Method,
    weights: FloatArray,
    seed: int | None,
) -> Recovery:
    """Return the best attempt in the words of the front door."""
    kept = best(attempts).solution
    S, Q = _representative(problem, kept.factors)
    answer = Recovery(
        strengths=S,
        exposures=Q,
        objectives=kept.objectives,
        gradient_size=gradient_size(problem, kept, np.hstack([S, Q])),
        converged=kept.converged,
        bound_is_active=kept.pressures is not None,
        method=method,
        weights=weights,
        attempts=tuple(
            Attempt(a.start, a.solution.objective, a.solution.n_steps, a.solution.converged)
            for a in attempts
        ),
        seed=seed,
        problem=problem,
    )
    if _log.isEnabledFor(logging.INFO):
        _log.info("recover: %s", answer.status)
    return answer


def _solver(method: Method, tolerance: float, max_steps: int | None) -> Solver:
    most = _MAX_STEPS[method] if max_steps is None else as_whole("max_steps", max_steps, least=1)
    tolerance = as_number("tolerance", tolerance, least=0.0)
    return partial(_METHODS[method], tolerance=tolerance, max_steps=most)


def _representative(problem: Problem, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, of all factors with these margins, the ones that `find_freedom` speaks of."""
    r = problem.n_factors
    S, Q = factors[:, :r], factors[:, r:]
    if problem.all_free:
        return canonical_factors(S, Q)
    if problem.free[:r].all() and not problem.free[r:].any():
        return smallest_strengths(S, Q), Q
    return S.copy(), Q.copy()
