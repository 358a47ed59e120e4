"""Solvers of the weighted program: alternating least squares, Gauss-Newton, and the bound.

Every step solves (Jᵀ C J + damping I) step = right-hand side, J the first-order map of `kernels`
and C the curvature of the loss.  J always has a null space: with Q held, S -> S + Q B leaves X
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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from intransit.arrays import FloatArray, IntArray
from intransit.inference.descent import conjugate_gradients, descend
from intransit.inference.weighted_program import (
    Boxed,
    Curvature,
    Problem,
    Quadratic,
    Solution,
    Solver,
    gradient_size,
)
from intransit.kernels import item_blocks, jacobian, normal_matrix, pull, push, push_pull
from intransit.skew import canonical_factors

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
        dense: bool | None = None,
    ) -> None:
        self.shape = partners.shape
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
        if self._dense:
            return self._solve_dense(right, damping)
        return self._solve_cg(right, damping, accuracy)

    def _solve_dense(self, right: FloatArray, damping: float) -> FloatArray | None:
        damped = self._matrix.copy()
        damped.ravel()[:: len(damped) + 1] += damping
        # The upper triangle in C order is the lower one in LAPACK's order.
        factor, failed = dpotrf(damped.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        step, _ = dpotrs(factor, right.ravel(), lower=1)
        return np.asarray(step.reshape(self.shape))

    def _solve_cg(self, right: FloatArray, damping: float, accuracy: float) -> FloatArray:
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
class _Factors:
    """Factors as a place to descend from."""

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

    def equations(self, exact: bool) -> "_Ridged":  # noqa: ARG002
        curvature = self.problem.loss.curvature(self.margins)
        normal = NormalEquations(self.partners, self.problem.pairs, curvature, dense=self.dense)
        return _Ridged(normal, self.problem.ridge)

    def bend(self, step: FloatArray) -> None:  # noqa: ARG002  (its valleys are short)
        return None

    def moved(self, step: FloatArray) -> "_Factors":
        trial = self.factors.copy()
        trial[:, self.moving] += step
        return _Factors(self.problem, trial, self.moving, self.tolerance, self.dense)

    def settled(self) -> "_Factors":
        return self

    def is_enough(self, gains: list[float]) -> bool:
        return gains[-1] <= self.tolerance * self.value + self.problem.rounding


@dataclass(frozen=True, eq=False)
class _Ridged:
    """Normal equations with the ridge beside the damping."""

    normal: NormalEquations
    ridge: float

    @property
    def scale(self) -> float:
        return self.normal.scale

    def solve(
        self, right: FloatArray, damping: float, *, accuracy: float = 1e-8
    ) -> FloatArray | None:
        return self.normal.solve(right, self.ridge + damping, accuracy=accuracy)


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
    equations = NormalEquations(
        partners, problem.pairs, problem.loss.curvature(margins), dense=dense
    )
    damping = NULL_DAMPING * equations.scale
    step = equations.solve(-gradient, problem.ridge + damping, accuracy=1e-4)
    while step is None and damping <= equations.scale:
        damping *= 10.0
        step = equations.solve(-gradient, problem.ridge + damping)
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
    factors = fit_inside(problem, start, bound)
    best = factors
    watched = replace(problem, loss=_box(problem, bound))
    values = [_value(problem, factors)]
    trouble, finished = np.inf, False
    for _ in range(MAX_ROUNDS):
        solution = solver(watched, factors, tolerance=TOLERANCE)
        factors = solution.factors
        watched, violation = _next_round(watched, factors, bound, trouble)
        feasible = fit_inside(problem, factors, bound)
        value = _value(problem, feasible)
        best = feasible if value <= values[-1] else best
        values.append(min(value, values[-1]))
        finished = violation <= FEASIBLE * bound and solution.converged
        if finished:
            break
        trouble = violation
    assert isinstance(watched.loss, Boxed)
    answer = Solution(best, np.array(values), finished, watched.loss.multipliers, watched.pairs)
    balanced = gradient_size(problem, answer, best) <= STATIONARY * gradient_size(
        problem, Solution(best, answer.objectives, finished), best
    )
    return replace(answer, converged=finished and balanced)


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


def _value(problem: Problem, factors: FloatArray) -> float:
    return problem.value(factors, problem.margins(factors))


def _box(problem: Problem, bound: float) -> Boxed:
    if not isinstance(problem.loss, Quadratic):
        raise TypeError("the bound is imposed on a quadratic loss")
    curvature = problem.loss.curvature(np.zeros(len(problem.pairs))).pair_diagonal()
    stiffness = 10.0 * float(curvature.mean()) or 1.0
    return Boxed(problem.loss, bound, np.zeros(len(problem.pairs)), stiffness)


def _next_round(
    watched: Problem, factors: FloatArray, bound: float, trouble: float
) -> tuple[Problem, float]:
    """Return the problem with new multipliers and newly found pairs, and the largest violation."""
    loss = watched.loss
    assert isinstance(loss, Boxed)
    x = watched.margins(factors)
    multipliers = loss.stiffness * loss.excess(x)
    outside, largest = _outside(factors, bound)
    violation = max(0.0, largest - bound, float(_slack(loss, x, bound)))
    # Stiffer only when multipliers alone do not bring the violation down fast enough.
    stiffness = loss.stiffness * (4.0 if violation > 0.25 * trouble else 1.0)
    loss = replace(loss, multipliers=multipliers, stiffness=stiffness)
    return _watch_more(replace(watched, loss=loss), outside), violation


def _slack(loss: Boxed, x: FloatArray, bound: float) -> float:
    """Return how far a pair with a multiplier is from the bound that it should touch."""
    pressed = loss.multipliers != 0
    if not pressed.any():
        return 0.0
    held = np.sign(loss.multipliers[pressed]) * x[pressed]
    released = loss.excess(x)[pressed] == 0
    return float(np.abs(np.where(released, 0.0, held - bound)).max())


def _watch_more(problem: Problem, outside: IntArray) -> Problem:
    """Add pairs to the problem with no reading, only the bound."""
    loss = problem.loss
    assert isinstance(loss, Boxed)
    n = problem.n_items
    keys = problem.pairs[:, 0] * n + problem.pairs[:, 1]
    new = np.setdiff1d(outside[:, 0] * n + outside[:, 1], keys)
    if not len(new):
        return problem
    union = np.union1d(keys, new)
    place = np.searchsorted(union, keys)

    def widen(values: FloatArray) -> FloatArray:
        wide = np.zeros(len(union))
        wide[place] = values
        return wide

    inner = replace(
        loss.inner,
        weights=widen(loss.inner.weights),
        targets=widen(loss.inner.targets),
        mixed=loss.inner.mixed and loss.inner.mixed.over(place, len(union)),
    )
    boxed = replace(loss, inner=inner, multipliers=widen(loss.multipliers))
    return replace(problem, pairs=np.stack([union // n, union % n], axis=1), loss=boxed)


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
