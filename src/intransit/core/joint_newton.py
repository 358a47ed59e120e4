"""Newton's method on the joint problem: dense for small problems, matrix-free for large.

The curvature is the loss's own in the margins (exact for the logistic loss), carried to the
states by the first-order map.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.cell_kernels import read_cells
from intransit.core.descent import descend
from intransit.core.gauge import balance
from intransit.core.joint import Joint, Squared
from intransit.core.joint_system import DenseEquations, SparseEquations
from intransit.core.vector_kernels import dot

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


@dataclass(frozen=True, eq=False)
class _States:
    """States as a place to descend from."""

    problem: Joint
    z: FloatArray
    margins: FloatArray
    tolerance: float
    dense: bool
    counter: list[int]  # products of conjugate gradients so far

    @cached_property
    def loss(self) -> tuple[float, FloatArray, FloatArray]:  # value, slope, curvature
        return self.problem.loss.all_of(self.margins)

    @cached_property
    def value(self) -> float:
        return self.loss[0] + self.problem.penalty(self.z)

    @cached_property
    def gradient(self) -> FloatArray:
        out = self.problem.pull(self.z, self.loss[1])
        self.problem.add_prior(self.z, out)
        return out

    def equations(self, exact: bool) -> DenseEquations | SparseEquations:
        _, slope, curvature = self.loss
        twist = slope if exact and not self.problem.is_convex else None
        if self.dense:
            return DenseEquations(self.problem, self.z, curvature, twist)
        return SparseEquations(self.problem, self.z, curvature, twist, self.counter)

    def _at(self, z: FloatArray, margins: FloatArray) -> "_States":
        return _States(self.problem, z, margins, self.tolerance, self.dense, self.counter)

    def bend(self, step: FloatArray) -> FloatArray | None:
        if self.problem.is_convex:
            return None
        dS, dQ, _ = self.problem.split(step)
        twice = np.empty(len(self.margins))
        read_cells(dS, dQ, self.problem.at, twice)
        return self.problem.pull(self.z, 2.0 * self.loss[2] * twice)

    def moved(self, step: FloatArray) -> "_States":
        z = self.z + step
        return self._at(z, self.problem.margins(z))

    def settled(self) -> "_States":
        z = balance(self.problem, self.z)
        if z is self.z:
            return self
        other = self._at(z, self.margins)  # which the gauge leaves alone
        other.__dict__["loss"] = self.loss
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
    place = _States(problem, z, problem.margins(z), tolerance, dense, counter)
    linear = problem.is_convex and isinstance(problem.loss, Squared)
    accuracy = WARM_ACCURACY if warm and problem.is_convex else ACCURACY
    if linear:
        accuracy = min(LINEAR_ACCURACY, float(np.sqrt(tolerance)))
    warm = warm and not dense
    nonconvex = WARM_DAMPING if warm else START_DAMPING
    end, descent = descend(
        place,
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
