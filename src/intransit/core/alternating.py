"""The paper's method: hold one factor, solve for the other, and change sides.

With one factor held the margins are linear in the other, so a half-step is one weighted
least-squares problem.  Its normal matrix is singular (see `normal`), and of all minimisers
the half-step takes the one nearest to where it stands.
"""

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.normal import NormalEquations
from intransit.core.problem import Problem, Solution
from intransit.core.skew import canonical_factors

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
