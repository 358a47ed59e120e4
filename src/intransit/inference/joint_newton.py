"""Newton's method on the joint problem, dense or matrix-free by its size, and where it starts.

The curvature is the loss's own in the margins (exact for the logistic loss), carried to the
states by the first-order map.

It starts from the weighted program, on what scores alone leave unexplained.  At states z the loss
is, to second order, a weighted least-squares problem in the margins; added up over time, pair by
pair, it is the program of `recover`, which is solved from several starts of its own.  Its static
factors, given to all times, start the joint fit.  Times far from a chosen one count less, by how
far S will have drifted, as the paper weighs them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from intransit.arrays import FloatArray
from intransit.data.cells import Cells
from intransit.data.measurements import unfold
from intransit.inference.assembly import Columns, Scales, fill_known
from intransit.inference.descent import descend, newton
from intransit.inference.gauge import balance
from intransit.inference.joint_problem import Joint, Squared
from intransit.inference.joint_system import DenseEquations, SparseEquations
from intransit.inference.starts import attempt, best
from intransit.inference.weighted_program import Collapsed, Problem, Quadratic
from intransit.kernels import dot

DENSE_LIMIT = 1_000  # unknowns
START_DAMPING = 1e-3
WARM_DAMPING = 1e-5
CONVEX_DAMPING = 1e-9
ACCURACY = 0.1  # of conjugate gradients: each step leaves a hundredth of what it could gain
WARM_ACCURACY = 0.02  # where a step costs more than the products of its solve
LINEAR_ACCURACY = 1e-8  # where one step is all there is to do


@dataclass(frozen=True, eq=False)
class JointSolution:
    """Where the solver stopped."""

    z: FloatArray
    objectives: FloatArray  # (n_steps + 1,), never increasing
    converged: bool
    gradient_size: float
    n_products: int  # of conjugate gradients; 0 when dense

    @property
    def objective(self) -> float:
        """The objective reached."""
        return float(self.objectives[-1])

    @property
    def n_steps(self) -> int:
        """Number of Newton steps."""
        return len(self.objectives) - 1


class _States:
    """States as a place to descend from."""

    def __init__(
        self,
        problem: Joint,
        z: FloatArray,
        tolerance: float,
        dense: bool,
        counter: list[int],  # products of conjugate gradients so far
        loss: tuple[float, FloatArray, FloatArray] | None = None,  # value, slope, curvature
    ) -> None:
        self.problem, self.z, self.tolerance, self.dense = problem, z, tolerance, dense
        self.counter = counter
        self.loss = problem.loss.all_of(problem.margins(z)) if loss is None else loss
        self.value = self.loss[0] + problem.penalty(z)

    @cached_property
    def gradient(self) -> FloatArray:
        out = self.problem.pull(self.z, self.loss[1])
        self.problem.add_prior(self.z, out)
        if self.problem.is_convex:  # slopes are used nowhere else, and take room
            self.loss = (self.loss[0], np.empty(0), self.loss[2])
        return out

    def equations(self, exact: bool) -> DenseEquations | SparseEquations:
        _, slope, curvature = self.loss
        twist = slope if exact and not self.problem.is_convex else None
        if self.dense:
            return DenseEquations(self.problem, self.z, curvature, twist)
        return SparseEquations(self.problem, self.z, curvature, twist, self.counter)

    def _at(
        self, z: FloatArray, loss: tuple[float, FloatArray, FloatArray] | None = None
    ) -> "_States":
        return _States(self.problem, z, self.tolerance, self.dense, self.counter, loss)

    def bend(self, step: FloatArray) -> FloatArray | None:
        if self.problem.is_convex:
            return None
        dS, dQ, _ = self.problem.split(step)
        return self.problem.pull(self.z, 2.0 * self.loss[2] * self.problem.products(dS, dQ))

    def moved(self, step: FloatArray) -> "_States":
        return self._at(self.z + step)

    def settled(self) -> "_States":
        z = balance(self.problem, self.z)
        if z is self.z:
            return self
        other = self._at(z, self.loss)  # margins are what the gauge leaves alone
        return other if other.value < self.value else self

    def is_enough(self, gains: list[float]) -> bool:
        # A curved valley may hide behind one small step: two in a row are asked for.
        last = 1 if self.problem.is_convex else 2
        return len(gains) > last and all(
            self._left(gains[k], gains[k - 1]) <= self.tolerance for k in range(-last, 0)
        )

    @staticmethod
    def _left(gain: float, before: float) -> float:
        """Return what later steps would add, were each to shrink as this one did."""
        ratio = gain / before if np.isfinite(before) else 0.5
        return gain * ratio / (1.0 - ratio) if ratio < 1.0 else np.inf


def solve_joint(
    problem: Joint,
    start: FloatArray,  # (n_z,)
    *,
    tolerance: float = 1e-4,
    max_steps: int = 200,
    dense: bool | None = None,
    warm: bool = False,
) -> JointSolution:
    """Minimise from a start; stops when less than `tolerance` of log posterior is left to gain.

    A warm start is near the minimum: steps are hardly damped.
    """
    dense = is_small(problem) if dense is None else dense
    z = balance(problem, np.ascontiguousarray(start))
    counter = [0]
    linear = problem.is_convex and isinstance(problem.loss, Squared)
    accuracy = WARM_ACCURACY if warm and problem.is_convex else ACCURACY
    if linear:
        accuracy = min(LINEAR_ACCURACY, float(np.sqrt(tolerance)))
    warm = warm and not dense
    nonconvex = WARM_DAMPING if warm else START_DAMPING
    end, descent = descend(
        _States(problem, z, tolerance, dense, counter),  # not held here: it takes room
        start_damping=CONVEX_DAMPING if problem.is_convex else nonconvex,
        max_steps=max_steps,
        loosest=accuracy,
        tightest=accuracy,
        eager=problem.is_convex or not dense,
        enough=tolerance if warm or problem.is_convex else 0.0,
    )
    return JointSolution(
        end.z,
        descent.objectives,
        descent.converged,
        float(np.sqrt(dot(end.gradient, end.gradient))),
        counter[0],
    )


def is_small(problem: Joint) -> bool:
    """Return whether the dense path is the quicker one."""
    return int(np.count_nonzero(problem.free)) <= DENSE_LIMIT


SAME = 1e-6  # of the objective's own size: two minima that are one
SAME_GAIN = 0.1  # and of log posterior
MOST_PLACES = 6
ROUGHLY = 0.3  # log posterior left to gain, of large problems with factors


@dataclass(frozen=True, eq=False)
class Start:
    """One start, and what came of it."""

    name: str
    solution: JointSolution


def without_factors(problem: Joint, columns: Columns) -> FloatArray:
    """Return states that know nothing: zeros, and the known columns."""
    return fill_known(problem, columns, np.zeros(problem.cuts[-1]))


def solve_from_starts(
    problem: Joint,
    columns: Columns,
    scales: Scales,
    *,
    tolerance: float,
    max_steps: int,
    rng: np.random.Generator,
) -> tuple[Start, ...]:
    """Solve from as many starts as the problem needs, the best first."""
    if not problem.is_convex and not is_small(problem):
        tolerance = max(tolerance, ROUGHLY)  # the solution is moved from here anyway: see `volume`
    solve = partial(solve_joint, tolerance=tolerance, max_steps=max_steps)
    if problem.is_convex:
        return (Start("scores", solve(problem, without_factors(problem, columns))),)
    nothing = without_factors(problem, columns)
    most = MOST_PLACES if is_small(problem) else 1
    tried: list[Start] = []
    for name, place in _places(problem, columns, scales, nothing, rng):
        tried.append(Start(name, solve(problem, place)))
        lowest = min(start.solution.objective for start in tried)
        near = SAME * abs(lowest) + SAME_GAIN
        agree = sum(start.solution.objective <= lowest + near for start in tried)
        if agree >= 2 or len(tried) >= most:
            break
    return tuple(sorted(tried, key=lambda start: start.solution.objective))


def _places(
    problem: Joint,
    columns: Columns,
    scales: Scales,
    nothing: FloatArray,
    rng: np.random.Generator,
) -> Iterator[tuple[str, FloatArray]]:
    """Yield starts, the likeliest first: static factors for several times in question."""
    base, cells = _scores_first(problem, columns, nothing), problem.loss.cells
    last = len(cells.axis) - 1
    for k in range(MOST_PLACES):
        centre = (last, last // 2, 0)[k % 3] if last else 0
        forgetting = (1.0, 0.0, 1.0, 4.0, 0.25, 0.0)[k] if last else 0.0
        weights = _time_weights(cells, scales, centre, forgetting)
        name = f"time {cells.axis[centre]:g}" if forgetting else "all times alike"
        yield name, _static_factors(problem, columns, base, cells, weights, rng)
        if k == 0 and base is not nothing:  # what scores explain of a circle may hide it
            name = "factors before scores"
            yield name, _static_factors(problem, columns, nothing, cells, weights, rng)


def _scores_first(problem: Joint, columns: Columns, nothing: FloatArray) -> FloatArray:
    """Return states with scores fitted and factors at 0."""
    scores = columns.are_scores & columns.free_strengths
    if not scores.any():
        return nothing
    alone = replace(
        problem,
        strengths=replace(problem.strengths, free=scores),
        exposures=replace(problem.exposures, free=np.zeros_like(scores)),
        effects=None,
    )
    n = alone.cuts[-1]
    z = nothing.copy()
    z[:n] = solve_joint(alone, nothing[:n], tolerance=1.0).z
    return z


def _time_weights(cells: Cells, scales: Scales, centre: int, forgetting: float) -> FloatArray:
    """Return how much each cell tells about the matrix at the chosen time: (opt_w_na)."""
    age = np.abs(cells.times - cells.axis[centre])
    drift = scales.drift_scale**2 + scales.exposure_drift_scale**2
    noise = (scales.noise_scale / max(scales.prior_scale, 1e-12)) ** 2
    return np.asarray(1.0 / (1.0 + forgetting * 2.0 * drift * age / max(noise, 1e-30)))


def _static_factors(
    problem: Joint,
    columns: Columns,
    base: FloatArray,
    cells: Cells,
    weights: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return states whose factors explain, at all times alike, what base leaves unexplained."""
    both = np.flatnonzero(columns.free_strengths & columns.free_exposures)
    slope, curvature = problem.loss.terms(problem.margins(base))
    keys = cells.pair_keys(columns.n_items)
    distinct, pair = np.unique(keys, return_inverse=True)
    total = np.bincount(pair, curvature * weights).astype(float)
    target = np.bincount(pair, -slope * weights) / np.maximum(total, 1e-300)
    loss = Quadratic(total, target)
    data = Collapsed(unfold(distinct, columns.n_items), loss, n_repeats=0, evenness=1.0)
    ridge = float(1.0 / problem.exposures.prior[both[0]] ** 2)
    known = np.full((columns.n_items, 2 * len(both)), np.nan)
    question = Problem(data.pairs, loss, known, ridge)
    small = is_small(problem)  # otherwise a rough place to start from is all that is wanted
    restarts = 2 if small else 0
    solver = partial(newton, tolerance=1e-6 if small else 1e-3, max_steps=50 if small else 15)
    found = best(
        attempt(question, data, "spectral", solver, restarts=restarts, polished=False, rng=rng)
    )
    z = base.copy()
    S, Q, _ = problem.split(z)
    factors = found.factors
    S[:, both] = factors[problem.strengths.chains.owners][:, : len(both)]
    Q[:, both] = factors[problem.exposures.chains.owners][:, len(both) :]
    return z
