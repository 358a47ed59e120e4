"""Damped Gauss-Newton on all free columns at once, for the weighted program."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.descent import descend
from intransit.core.normal import NormalEquations
from intransit.core.problem import Problem, Solution

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
