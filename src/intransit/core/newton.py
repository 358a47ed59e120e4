"""Damped Gauss-Newton (Levenberg-Marquardt) on all free columns at once.

A step solves (Jᵀ C J + λ I) step = -gradient.  λ shrinks when the quadratic model foretold
the decrease and grows when it did not, so that the objective never increases; near the
solution λ vanishes and convergence is quadratic when the readings are exact.
"""

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.normal import NormalEquations
from intransit.core.problem import Problem, Solution

START_DAMPING = 1e-2  # against the mean of the diagonal
GIVE_UP_DAMPING = 1e14


def newton(
    problem: Problem,
    start: FloatArray,  # (n_items, 2 n_factors)
    *,
    tolerance: float = 1e-10,
    max_steps: int = 200,
    dense: bool | None = None,
) -> Solution:
    """Minimise from a start; stops when a step gains less than `tolerance` of the objective."""
    factors = np.ascontiguousarray(start)
    moved = problem.moved("both")
    margins = problem.margins(factors)
    objectives = [problem.value(factors, margins)]
    if not np.isfinite(objectives[0]):
        return Solution(factors, np.array(objectives), converged=False)
    damping, growth, first_size = -1.0, 2.0, 0.0
    for _ in range(max_steps):
        partners = problem.partners(factors, moved)
        gradient = problem.gradient(factors, margins, moved, partners)
        size = float(np.linalg.norm(gradient))
        first_size = first_size or size
        equations = NormalEquations(
            partners, problem.pairs, problem.loss.curvature(margins), dense=dense
        )
        if damping < 0:
            damping = START_DAMPING * equations.scale
        # Loose while far away, tight near the end: the usual inexact Newton bargain.
        accuracy = min(0.1, max(1e-8, size / first_size)) if first_size else 0.1
        while True:
            step = equations.solve(-gradient, problem.ridge + damping, accuracy=accuracy)
            if step is not None:
                trial = factors.copy()
                trial[:, moved] += step
                trial_margins = problem.margins(trial)
                value = problem.value(trial, trial_margins)
                if value < objectives[-1]:
                    break
            damping, growth = damping * growth, growth * 2.0
            if not damping <= GIVE_UP_DAMPING * equations.scale:
                # Nothing lowers the objective: the minimum, to the last digit.
                return Solution(factors, np.array(objectives), converged=True)
        foretold = 0.5 * float(-np.vdot(step, gradient) + damping * np.vdot(step, step))
        gain = (objectives[-1] - value) / foretold if foretold > 0 else 0.0
        damping *= max(0.1, 1.0 - (2.0 * min(gain, 1.0) - 1.0) ** 3)
        growth = 2.0
        factors, margins = trial, trial_margins
        objectives.append(value)
        decrease = objectives[-2] - value
        if decrease <= tolerance * value + problem.rounding:
            return Solution(factors, np.array(objectives), converged=True)
    return Solution(factors, np.array(objectives), converged=False)
