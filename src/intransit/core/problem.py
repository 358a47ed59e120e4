"""Problem and Solution: the question and the answer, as arrays.

Minimise over the free columns of S and Q

    loss(X_p for p in pairs) + ½ ridge (‖S‖² + ‖Q‖²),        X = S Qᵀ - Q Sᵀ

Both factors live side by side in one array `factors` = [S Q] of shape (n_items, 2 n_factors);
column c < n_factors is a column of S and multiplies column n_factors + c, its partner in Q.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.kernels import pull, read_margins
from intransit.core.losses import Loss


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be minimised.  `known` holds given columns of [S Q]; NaN columns are free."""

    pairs: IntArray  # (n_pairs, 2), first < second, all distinct
    loss: Loss
    known: FloatArray  # (n_items, 2 n_factors)
    ridge: float = 0.0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.known)

    @property
    def n_factors(self) -> int:
        """Number of columns of S."""
        return int(self.known.shape[1]) // 2

    @cached_property
    def free(self) -> BoolArray:  # (2 n_factors,)
        """Which columns of [S Q] are to be recovered."""
        return np.asarray(np.isnan(self.known).all(axis=0))

    @cached_property
    def all_free(self) -> bool:
        """Whether nothing is known in advance."""
        return bool(self.free.all())

    @property
    def degrees_of_freedom(self) -> int:
        """Dimension of the set of matrices X that the free columns can make.

        f free columns have f n_items entries, and f(f+1)/2 directions of them move no margin:
        the symplectic changes of basis that leave the known columns alone.
        """
        f = int(self.free.sum())
        return f * self.n_items - f * (f + 1) // 2

    def moved(self, side: str) -> IntArray:
        """Return the free columns of "S", of "Q", or of "both"."""
        r = self.n_factors
        allowed = {
            "S": np.arange(2 * r) < r,
            "Q": np.arange(2 * r) >= r,
            "both": np.ones(2 * r, bool),
        }
        return np.flatnonzero(self.free & allowed[side])

    def partners(self, factors: FloatArray, moved: IntArray) -> FloatArray:
        """Return A of kernels (1): beside each moved column, the column that it multiplies."""
        r = self.n_factors
        swapped = np.concatenate([factors[:, r:], -factors[:, :r]], axis=1)
        return swapped if len(moved) == 2 * r else np.ascontiguousarray(swapped[:, moved])

    def margins(self, factors: FloatArray) -> FloatArray:
        """Return X at the pairs, (n_pairs,)."""
        out = np.empty(len(self.pairs))
        read_margins(factors, self.pairs, out)
        return out

    def value(self, factors: FloatArray, margins: FloatArray) -> float:
        """Return the objective."""
        return self.loss.value(margins) + self.penalty(factors)

    def penalty(self, factors: FloatArray) -> float:
        """Return the ridge's part of the objective."""
        if self.ridge == 0.0:
            return 0.0
        return 0.5 * self.ridge * float(np.sum(factors[:, self.free] ** 2))

    def gradient(
        self,
        factors: FloatArray,  # (n_items, 2 n_factors)
        margins: FloatArray,  # (n_pairs,)
        moved: IntArray,  # (n_moved,)
        partners: FloatArray,  # (n_items, n_moved)
    ) -> FloatArray:  # (n_items, n_moved)
        """Return the objective's gradient in the moved columns."""
        out = np.empty_like(partners)
        pull(partners, self.pairs, self.loss.slope(margins), out)
        if self.ridge:
            out += self.ridge * factors[:, moved]
        return out

    @cached_property
    def rounding(self) -> float:
        """A decrease of the objective that is nothing but rounding."""
        return 1e-30 * self.loss.value(np.zeros(len(self.pairs)))

    def with_ridge(self, ridge: float) -> "Problem":
        """Return the same problem with another ridge."""
        return replace(self, ridge=ridge)


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a solver stopped, and why."""

    factors: FloatArray  # (n_items, 2 n_factors)
    objectives: FloatArray  # (n_steps + 1,), from the start on, never increasing
    converged: bool
    pressures: FloatArray | None = None  # (n_pairs,): what the bound adds to the slope, if active
    pressed: IntArray | None = None  # (n_pairs, 2): the pairs that the pressures speak of

    @property
    def objective(self) -> float:
        """The objective reached."""
        return float(self.objectives[-1])

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return len(self.objectives) - 1


class Solver(Protocol):
    """A method with its settings: from a start to a solution."""

    def __call__(self, problem: Problem, start: FloatArray, *, tolerance: float = ...) -> Solution:
        """Minimise from a start."""


def gradient_size(problem: Problem, solution: Solution, factors: FloatArray) -> float:
    """Return the norm of the gradient in all free columns, at factors of the solution's X.

    With an active bound it is the gradient of the Lagrangian: the objective's slope plus what
    the bound presses back, which is what vanishes at a constrained minimum.
    """
    moved = problem.moved("both")
    partners = problem.partners(factors, moved)
    gradient = problem.gradient(factors, problem.margins(factors), moved, partners)
    if solution.pressures is not None and solution.pressed is not None:
        pressed = np.empty_like(partners)
        pull(partners, solution.pressed, solution.pressures, pressed)
        gradient = gradient + pressed
    return float(np.linalg.norm(gradient))
