"""Damped Newton steps (Levenberg-Marquardt), and the solvers of the weighted program.

A step solves (H + λ I) step = -gradient, where H is large by conjugate gradients.  λ shrinks when
the quadratic model foretold the decrease and grows when it did not, so that the objective never
increases; near the solution λ vanishes and convergence is quadratic when the readings are exact.

For the weighted program H is Jᵀ C J, J the first-order map of `kernels` and C the curvature of the
loss.  J always has a null space: with Q held, S -> S + Q B leaves X
alone for every symmetric B, r(r+1)/2 directions, and items nobody has compared add theirs.  So no
step is a bare `solve`: a damping picks, among all steps that do equally well, the shortest.  Small
systems are factored; large ones are solved matrix-free by conjugate gradients, with each item's own
block of Jᵀ C J as the preconditioner.  Both give the same step.

`newton` moves all free columns at once.  `alternate` is the paper's method: with one factor held
the margins are linear in the other, so a half-step is one weighted least-squares problem, and of
all its minimisers the one nearest to where it stands is taken.

`solve_bounded` imposes ‖X‖∞ <= a by an augmented Lagrangian.  Every pair is constrained, seen or
not.  Pairs that press against the bound carry a multiplier, and for these multipliers and a
stiffness ρ an ordinary solver minimises

    loss(x) + ρ/2 Σ_p dist(x_p + multiplier_p / ρ, [-a, a])²

after which multiplier_p becomes ρ times what still stuck out.  Only pairs that ever stuck out are
added to the problem, found by scanning X in blocks of rows, so that no N x N array is kept.
At the end S is scaled by the last part in 10⁹ or so that is missing, and the answer is feasible.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from intransit.arrays import FloatArray, IntArray
from intransit.inference.weighted_program import (
    Boxed,
    Curvature,
    Problem,
    Quadratic,
    Solution,
    Solver,
    gradient_size,
    widen,
)
from intransit.kernels import (
    advance,
    dot,
    item_blocks,
    jacobian,
    normal_matrix,
    pull,
    push,
    push_pull,
    turn,
)
from intransit.skew import canonical_factors


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    towards: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    *,
    accuracy: float,
    most: int,
    dot: Callable[[FloatArray, FloatArray], float] = dot,
    room: tuple[FloatArray, FloatArray] | None = None,  # for residual and direction
) -> FloatArray:
    """Solve product(step) = right until the residual's energy has fallen by accuracy².

    `towards` applies the preconditioner; it and the product may return the same room every time.
    Directions along which the matrix vanishes to rounding end the search: what has been found by
    then is as good as it gets.
    """
    residual, direction = room or (np.empty(right.shape), np.empty(right.shape))
    residual[:] = right
    step = np.zeros_like(residual)
    ahead = towards(residual)
    direction[:] = ahead
    energy = dot(residual, ahead)
    goal = accuracy**2 * energy
    for _ in range(most):
        if energy <= goal or energy <= 0.0:
            break
        image = product(direction)
        curve = dot(direction, image)
        if curve <= 0.0:
            break
        advance(energy / curve, direction, image, step, residual)
        ahead = towards(residual)
        energy, before = dot(residual, ahead), energy
        turn(energy / before, ahead, direction)
    return step


GIVE_UP_DAMPING, LEAST_DAMPING = 1e14, 1e-12
SLOW = 0.05  # of the gain before
LONGEST_BEND = 1.5  # of the first-order step


class Equations(Protocol):
    """The linear system of one step."""

    @property
    def scale(self) -> float:
        """Mean of the diagonal: what damping is measured against."""

    def solve(
        self, right: FloatArray, damping: float, *, accuracy: float = ...
    ) -> FloatArray | None:
        """Solve, or return None when the damping is too small for rounding."""


PlaceT = TypeVar("PlaceT", bound="Place")


class Place(Protocol):
    """A point, with all that is needed to leave it for a lower one."""

    @property
    def value(self) -> float:
        """The objective here."""

    @property
    def gradient(self) -> FloatArray:
        """Its gradient in what moves."""

    def equations(self, exact: bool) -> Equations:
        """Return the linear system of a step from here.

        Exact, with second derivatives that are otherwise left out for being indefinite far from
        a minimum, if there are such.
        """

    def bend(self, step: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return what the second derivative along the step adds to the gradient; None if nothing.

        Half a step solved for this follows a curved valley instead of leaving it (the geodesic
        acceleration of Transtrum and Sethna).
        """
        return None

    def moved(self: PlaceT, step: FloatArray) -> PlaceT:
        """Return the place a step away."""

    def settled(self: PlaceT) -> PlaceT:
        """Return a place as low or lower that is better to go on from: often this one."""
        return self

    def is_enough(self, gains: list[float]) -> bool:
        """Return whether so little is left to gain, judging by the gains so far, that we are done.

        The gains begin with infinity, as nothing is known before the first step.
        """


@dataclass(frozen=True, eq=False)
class Descent:
    """Where the descent ended."""

    objectives: FloatArray  # (n_steps + 1,), never increasing
    converged: bool
    damping: float = -1.0  # of the step that would follow; below 0 before the first


def descend(
    place: PlaceT,
    *,
    start_damping: float,  # against the mean of the diagonal
    max_steps: int,
    loosest: float = 0.1,  # accuracy of the first step's solve
    tightest: float = 1e-8,
    eager: bool = False,  # whether steps are exact from the first on
    enough: float = 0.0,  # an exact step that foretells less than this is the last
    so_far: Descent | None = None,  # what led to this place, to go on from it
    keep: Callable[[PlaceT, Descent], None] = lambda _, __: None,  # told of every step
    dot: Callable[[FloatArray, FloatArray], float] = dot,
) -> tuple[PlaceT, Descent]:
    """Walk downhill until a step gains nothing that counts."""
    if so_far is None:
        so_far = Descent(np.array([place.value]), converged=False)
    objectives, damping = so_far.objectives.tolist(), so_far.damping
    gains = [np.inf, *(-np.diff(so_far.objectives)).tolist()]
    if not np.isfinite(objectives[-1]) or so_far.converged:
        return place, so_far
    growth, first_size = 2.0, 0.0
    for _ in range(max_steps - len(objectives) + 1):
        gradient = place.gradient
        size = float(np.sqrt(dot(gradient, gradient)))
        first_size = first_size or size
        # Slow in spite of a good model: what the model leaves out is what is missing.
        exact = eager or (len(gains) > 2 and gains[-1] > SLOW * gains[-2])
        equations = place.equations(exact)
        if damping < 0:
            damping = start_damping * equations.scale
        # Loose while far away, tight near the end: the usual inexact Newton bargain.
        accuracy = min(loosest, max(tightest, size / first_size)) if first_size else loosest
        while True:
            step = equations.solve(-gradient, damping, accuracy=accuracy)
            if step is None and exact:  # not convex here: back to the model that always is
                exact, equations = False, place.equations(exact=False)
                continue
            if step is not None:
                if not (eager and exact):
                    more = _correction(place, equations, step, damping, accuracy)
                    trial = place.moved(step + more)
                else:  # near enough for the model to be all there is
                    trial = place.moved(step)
                if trial.value < objectives[-1]:
                    break
            damping, growth = damping * growth, growth * 2.0
            if not damping <= GIVE_UP_DAMPING * equations.scale:
                # Nothing lowers the objective: the minimum, to the last digit.
                return place, Descent(np.array(objectives), converged=True)
        foretold = 0.5 * (damping * dot(step, step) - dot(step, gradient))
        gain = (objectives[-1] - trial.value) / foretold if foretold > 0 else 0.0
        damping *= max(0.1, 1.0 - (2.0 * min(gain, 1.0) - 1.0) ** 3)
        damping = max(damping, LEAST_DAMPING * equations.scale)
        growth = 2.0
        place = trial.settled()
        objectives.append(place.value)
        gains.append(objectives[-2] - objectives[-1])
        is_last = place.is_enough(gains) or (exact and foretold <= enough)
        so_far = Descent(np.array(objectives), converged=is_last, damping=damping)
        keep(place, so_far)
        if is_last:
            return place, so_far
        del equations, gradient, step, trial  # of the place that was left: room for the next one
    return place, Descent(np.array(objectives), converged=False)


def _correction(
    place: Place, equations: Equations, step: FloatArray, damping: float, accuracy: float
) -> FloatArray | float:
    """Return half the second-order step, or 0 where it is not small beside the first."""
    bend = place.bend(step)
    if bend is None:
        return 0.0
    second = equations.solve(-bend, damping, accuracy=accuracy)
    if second is None or not dot(second, second) <= LONGEST_BEND**2 * dot(step, step):
        return 0.0
    return 0.5 * second


DENSE_LIMIT = 1_200  # unknowns; above it a product costs less than a factorisation
CG_LIMIT = 500  # products a solve


class NormalEquations:
    """Jᵀ C J for some moved columns, ready to be solved at several dampings."""

    def __init__(
        self,
        partners: FloatArray,  # (n_items, n_moved)
        pairs: IntArray,  # (n_pairs, 2)
        curvature: Curvature,
        *,
        ridge: float = 0.0,  # beside the damping of a solve
        dense: bool | None = None,
    ) -> None:
        self.shape = partners.shape
        self._ridge = ridge
        self._partners = partners
        self._pairs = pairs
        self._curvature = curvature
        self._dense = partners.size <= DENSE_LIMIT if dense is None else dense
        if self._dense:
            self._matrix = self._build()
            self.diagonal = self._matrix.diagonal().copy()
        else:
            self._blocks = np.empty((*partners.shape, partners.shape[1]))
            item_blocks(partners, pairs, curvature.pair_diagonal(), self._blocks)
            self.diagonal = np.diagonal(self._blocks, axis1=1, axis2=2).ravel()

    @property
    def scale(self) -> float:
        """The mean of the diagonal: what a damping is small or large against."""
        return float(self.diagonal.mean()) or 1.0

    def _build(self) -> FloatArray:  # (n_unknowns, n_unknowns), upper triangle
        size = self._partners.size
        matrix = np.empty((size, size))
        normal_matrix(self._partners, self._pairs, self._curvature.diagonal, matrix)
        mixed = self._curvature.mixed
        if mixed is not None:
            dense = np.empty((len(self._pairs), size))
            jacobian(self._partners, self._pairs, dense)
            rows = mixed.matrix @ dense
            matrix += rows.T @ (mixed.weights[:, None] * rows)
        return matrix

    def eigenvalues(self) -> FloatArray:  # (n_unknowns,), ascending
        """Return the eigenvalues of the matrix, which must be dense."""
        return np.asarray(np.linalg.eigvalsh(self._matrix, UPLO="U"))

    def product(self, step: FloatArray) -> FloatArray:
        """Return Jᵀ C J step, (n_items, n_moved), without the matrix."""
        out = np.empty(self.shape)
        if self._curvature.mixed is None:
            push_pull(self._partners, self._pairs, self._curvature.diagonal, step, out)
        else:
            change = np.empty(len(self._pairs))
            push(self._partners, self._pairs, step, change)
            pull(self._partners, self._pairs, self._curvature.times(change), out)
        return out

    def solve(
        self,
        right: FloatArray,  # (n_items, n_moved)
        damping: float,
        *,
        accuracy: float = 1e-10,
    ) -> FloatArray | None:
        """Return the step, or None when the damping is too small for rounding."""
        damping = self._ridge + damping
        if self._dense:
            damped = self._matrix.copy()
            damped.ravel()[:: len(damped) + 1] += damping
            # The upper triangle in C order is the lower one in LAPACK's order.
            factor, failed = dpotrf(damped.T, lower=1, clean=0, overwrite_a=1)
            if failed:
                return None
            return np.asarray(dpotrs(factor, right.ravel(), lower=1)[0].reshape(self.shape))
        inverse = self._preconditioner(damping)
        return conjugate_gradients(
            lambda step: self.product(step) + damping * step,
            lambda residual: np.matmul(inverse, residual[:, :, None])[:, :, 0],
            right,
            accuracy=accuracy,
            most=CG_LIMIT,
        )

    def _preconditioner(self, damping: float) -> FloatArray:  # (n_items, n_moved, n_moved)
        width = self.shape[1]
        # An item with fewer comparisons than columns has a singular block of its own.
        own = 1e-8 * np.trace(self._blocks, axis1=1, axis2=2) / width
        floor = damping + np.maximum(own, 1e-12 * self.scale)
        return np.linalg.inv(self._blocks + floor[:, None, None] * np.eye(width))


START_DAMPING = 1e-2


@dataclass(frozen=True, eq=False)
class _Factors(Place):
    """Factors as a place to descend from; valleys here are short, and nothing bends."""

    problem: Problem
    factors: FloatArray  # (n_items, 2 n_factors)
    moving: IntArray  # columns
    tolerance: float
    dense: bool | None

    @cached_property
    def margins(self) -> FloatArray:
        return self.problem.margins(self.factors)

    @cached_property
    def partners(self) -> FloatArray:
        return self.problem.partners(self.factors, self.moving)

    @cached_property
    def value(self) -> float:
        return self.problem.value(self.factors, self.margins)

    @cached_property
    def gradient(self) -> FloatArray:
        return self.problem.gradient(self.factors, self.margins, self.moving, self.partners)

    def equations(self, exact: bool = False) -> NormalEquations:  # noqa: ARG002
        problem, curvature = self.problem, self.problem.loss.curvature(self.margins)
        return NormalEquations(
            self.partners, problem.pairs, curvature, ridge=problem.ridge, dense=self.dense
        )

    def moved(self, step: FloatArray) -> "_Factors":
        trial = self.factors.copy()
        trial[:, self.moving] += step
        return replace(self, factors=trial)

    def is_enough(self, gains: list[float]) -> bool:
        return gains[-1] <= self.tolerance * self.value + self.problem.rounding


def newton(
    problem: Problem,
    start: FloatArray,  # (n_items, 2 n_factors)
    *,
    tolerance: float = 1e-10,
    max_steps: int = 200,
    dense: bool | None = None,
) -> Solution:
    """Minimise from a start; stops when a step gains less than `tolerance` of the objective."""
    place = _Factors(problem, np.ascontiguousarray(start), problem.moved("both"), tolerance, dense)
    end, descent = descend(place, start_damping=START_DAMPING, max_steps=max_steps)
    return Solution(end.factors, descent.objectives, descent.converged)


NULL_DAMPING = 1e-11  # against the mean of the diagonal: moves nothing that the data see
BALANCE_EVERY = 20  # steps between returns to the canonical factors of the same X


def alternate(
    problem: Problem,
    start: FloatArray,  # (n_items, 2 n_factors)
    *,
    tolerance: float = 1e-10,
    max_steps: int = 5_000,
    dense: bool | None = None,
) -> Solution:
    """Minimise from a start; a step is both half-steps.

    Stops when the decrease still to come, extrapolated from the last two steps as a
    geometric series, is below `tolerance` of the objective.
    """
    factors = np.ascontiguousarray(start)
    sides = [moved for moved in (problem.moved("S"), problem.moved("Q")) if len(moved)]
    margins = problem.margins(factors)
    objectives = [problem.value(factors, margins)]
    if not np.isfinite(objectives[0]):
        return Solution(factors, np.array(objectives), converged=False)
    for step in range(1, max_steps + 1):
        if problem.all_free and step % BALANCE_EVERY == 0:
            r = problem.n_factors
            factors = np.hstack(canonical_factors(factors[:, :r], factors[:, r:]))
        value = objectives[-1]
        for moved in sides:
            factors, margins, value = _half_step(problem, factors, margins, value, moved, dense)
        objectives.append(value)
        if _nearly_done(objectives, tolerance, problem.rounding):
            return Solution(factors, np.array(objectives), converged=True)
    return Solution(factors, np.array(objectives), converged=False)


def _half_step(
    problem: Problem,
    factors: FloatArray,
    margins: FloatArray,
    value: float,
    moved: IntArray,
    dense: bool | None,
) -> tuple[FloatArray, FloatArray, float]:
    partners = problem.partners(factors, moved)
    gradient = problem.gradient(factors, margins, moved, partners)
    curvature = problem.loss.curvature(margins)
    equations = NormalEquations(
        partners, problem.pairs, curvature, ridge=problem.ridge, dense=dense
    )
    damping = NULL_DAMPING * equations.scale
    step = equations.solve(-gradient, damping, accuracy=1e-4)
    while step is None and damping <= equations.scale:
        damping *= 10.0
        step = equations.solve(-gradient, damping)
    if step is None:
        return factors, margins, value
    length = 1.0
    for _ in range(40):  # the full step is exact for a quadratic loss; a bound may shorten it
        trial = factors.copy()
        trial[:, moved] += length * step
        trial_margins = problem.margins(trial)
        trial_value = problem.value(trial, trial_margins)
        if trial_value <= value:
            return trial, trial_margins, trial_value
        length *= 0.5
    return factors, margins, value


def _nearly_done(objectives: list[float], tolerance: float, floor: float) -> bool:
    if len(objectives) < 3:
        return False
    before, last = objectives[-3] - objectives[-2], objectives[-2] - objectives[-1]
    if last <= floor + 4.0 * np.finfo(float).eps * objectives[-1]:
        return True
    ratio = last / before if before > 0 else 1.0
    return ratio < 1.0 and last * ratio / (1.0 - ratio) <= tolerance * objectives[-1]


MAX_ROUNDS = 60
TOLERANCE = 1e-14  # of a round: what the bound leaves unexplained must not hide what is to gain
STATIONARY = 1e-3  # of the objective's own gradient, which the bound's pressure must balance
FEASIBLE = 1e-10  # of the bound; what remains is scaled away
BLOCK_ENTRIES = 2_000_000


def solve_bounded(
    problem: Problem,
    start: FloatArray,
    *,
    bound: float,
    solver: Solver,
) -> Solution:
    """Minimise subject to |X_ij| <= bound for all i, j; the objectives are of feasible answers."""
    solution = solver(problem, start)
    if largest_margin(solution.factors) <= bound:
        return solution
    if not isinstance(problem.loss, Quadratic):
        raise TypeError("the bound is imposed on a quadratic loss")
    factors = best = fit_inside(problem, start, bound)
    pairs, nothing = problem.pairs, np.zeros(len(problem.pairs))
    stiffness = 10.0 * float(problem.loss.curvature(nothing).pair_diagonal().mean()) or 1.0
    loss = Boxed(problem.loss, bound, nothing, stiffness)
    values = [problem.value(factors)]
    trouble, finished = np.inf, False
    for _ in range(MAX_ROUNDS):
        watched = replace(problem, pairs=pairs, loss=loss)
        solution = solver(watched, factors, tolerance=TOLERANCE)
        factors = solution.factors
        outside, largest = _outside(factors, bound)
        x = watched.margins(factors)
        violation = max(0.0, largest - bound, loss.slack(x))
        # Stiffer only when multipliers alone do not bring the violation down fast enough.
        stiffer = 4.0 if violation > 0.25 * trouble else 1.0
        multipliers = loss.stiffness * loss.excess(x)
        loss = replace(loss, multipliers=multipliers, stiffness=loss.stiffness * stiffer)
        pairs, loss = _watch_more(pairs, loss, outside, problem.n_items)
        feasible = fit_inside(problem, factors, bound)
        value = problem.value(feasible)
        best = feasible if value <= values[-1] else best
        values.append(min(value, values[-1]))
        finished = violation <= FEASIBLE * bound and solution.converged
        if finished:
            break
        trouble = violation
    answer = Solution(best, np.array(values), finished, loss.multipliers, pairs)
    pressed = gradient_size(problem, answer, best)
    alone = gradient_size(problem, replace(answer, pressures=None), best)
    return replace(answer, converged=finished and pressed <= STATIONARY * alone)


def largest_margin(factors: FloatArray) -> float:
    """Return ‖X‖∞ without keeping X."""
    return max(float(np.abs(block).max()) for _, block in _blocks(factors))


def fit_inside(problem: Problem, factors: FloatArray, bound: float) -> FloatArray:
    """Return factors with the part that is not known scaled until no margin is beyond the bound."""
    held = fixed_part(problem, factors)
    length = 1.0
    for (_, block), (_, fixed) in zip(_blocks(factors), _blocks(held), strict=True):
        beyond = np.abs(block) > bound
        if beyond.any():
            room = np.copysign(bound, block[beyond]) - fixed[beyond]
            length = min(length, float((room / (block[beyond] - fixed[beyond])).min()))
    if length == 1.0:
        return factors
    scaled = factors.copy()
    r = problem.n_factors
    columns = np.where(problem.free[:r], np.arange(r), r + np.arange(r))
    scaled[:, columns[problem.free[columns]]] *= max(length, 0.0) * (1.0 - 1e-15)
    return scaled


def fixed_part(problem: Problem, factors: FloatArray) -> FloatArray:
    """Return factors of the part of X that is known in advance: both columns of a factor given."""
    r = problem.n_factors
    loose = problem.free | np.roll(problem.free, r)
    return np.where(loose, 0.0, factors)


def _watch_more(
    pairs: IntArray, loss: Boxed, outside: IntArray, n_items: int
) -> tuple[IntArray, Boxed]:
    """Add pairs to the loss with no reading, only the bound."""
    keys = pairs[:, 0] * n_items + pairs[:, 1]
    union = np.union1d(keys, outside[:, 0] * n_items + outside[:, 1])
    if len(union) == len(keys):
        return pairs, loss
    place = np.searchsorted(union, keys)
    wider = replace(
        loss,
        inner=loss.inner.over(place, len(union)),
        multipliers=widen(loss.multipliers, place, len(union)),
    )
    return np.stack([union // n_items, union % n_items], axis=1), wider


def _outside(factors: FloatArray, bound: float) -> tuple[IntArray, float]:
    """Return the pairs i < j beyond the bound, (n, 2), and the largest absolute margin."""
    found, largest = [], 0.0
    for first_row, block in _blocks(factors):
        size = np.abs(block)
        largest = max(largest, float(size.max()))
        i, j = np.nonzero(size > bound)
        upper = j > i + first_row
        found.append(np.stack([i[upper] + first_row, j[upper]], axis=1))
    return np.concatenate(found), largest


def _blocks(factors: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield X by blocks of rows, with the number of the first row of each."""
    n, r = factors.shape[0], factors.shape[1] // 2
    S, Q = factors[:, :r], factors[:, r:]
    height = max(1, BLOCK_ENTRIES // n)
    for start in range(0, n, height):
        rows = slice(start, start + height)
        yield start, S[rows] @ Q.T - Q[rows] @ S.T
