"""Several starts for one problem, as many as doubt demands.

The program is not convex, so a minimum may be the wrong one.  It is above doubt when

    - what is free enters linearly (every factor has a known column): there is one minimum;
    - the fit is exact;
    - it misses the pairs' means no more than repeated readings of one pair miss each other:
      F = (misfit / its degrees of freedom) / (spread of repeats / theirs) is no larger than
      chance allows.  That is asked only where it can tell: readings count about alike, no
      bound presses, and X = 0 has an F above 10,000, so that a wrong minimum cannot hide.

Otherwise further starts follow, cooled (see `start`) and plain in turns, until the lowest
objective has been reached from two places that have nothing to do with each other, or the
allowance is used up.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import fdtri

from intransit.arrays import FloatArray
from intransit.core.problem import Problem, Solution, Solver
from intransit.core.readings import Collapsed
from intransit.core.start import cooled, random, spectral

SAME = 1e-6  # two objectives are the same minimum when they agree to this part
EXACT = 1e-14  # of the objective at X = 0; below it two objectives are both nothing
CHANCE = 1e-3  # how often a right minimum may look doubtful, which costs a restart
FAIR_RATIO = 2.0  # an F below it is never doubted, however many readings there are
CLEAR = 1e4  # F of X = 0 above which a wrong minimum shows
EVEN = 0.5  # effective over actual number of readings, below which F counts too many


@dataclass(frozen=True, eq=False)
class Tried:
    """One start: where from, and what came of it."""

    start: str
    solution: Solution


def attempt(
    problem: Problem,
    data: Collapsed,
    start: Literal["spectral", "random"] | FloatArray,
    solver: Solver,
    *,
    restarts: int,
    polished: bool,
    rng: np.random.Generator,
) -> tuple[Tried, ...]:
    """Return all attempts made, in their order."""
    first = _draw(start, problem, data, rng) if isinstance(start, str) else start
    name = start if isinstance(start, str) else "given"
    attempts = [Tried(name, solver(problem, first))]
    settled = above_doubt(problem, data, attempts[0].solution)
    while not settled and len(attempts) <= restarts:
        kind, cool = _next_start(len(attempts))
        place = _draw(kind, problem, data, rng)
        if cool:
            place = cooled(problem, place, polished=polished)
        attempts.append(Tried(f"{kind}, cooled" if cool else kind, solver(problem, place)))
        settled = _agree(problem, attempts) or above_doubt(problem, data, attempts[-1].solution)
    return tuple(attempts)


def best(attempts: tuple[Tried, ...]) -> Tried:
    """Return the attempt with the lowest objective; among equals, one that converged."""
    lowest = min(a.solution.objective for a in attempts)
    equals = [a for a in attempts if a.solution.objective <= lowest * (1 + SAME)]
    return min(equals, key=lambda a: (not a.solution.converged, a.solution.objective))


def above_doubt(problem: Problem, data: Collapsed, solution: Solution) -> bool:
    """Return whether this minimum needs no second opinion."""
    r = problem.n_factors
    linear = not (problem.free[:r] & problem.free[r:]).any()
    if linear or not solution.converged:
        return linear and solution.converged
    if solution.objective <= _nothing(problem):
        return True
    if solution.pressures is not None or data.evenness < EVEN:
        return False
    ratio = misfit_ratio(problem, data, solution.factors)
    nothing = misfit_ratio(problem, data, np.zeros_like(solution.factors))
    if ratio is None or nothing is None or nothing < CLEAR:
        return False
    limit = fdtri(*_degrees(problem, data), 1.0 - CHANCE)
    return bool(ratio <= max(FAIR_RATIO, limit))


def misfit_ratio(problem: Problem, data: Collapsed, factors: FloatArray) -> float | None:
    """Return F, or None where there are no repeats, or no more pairs than unknowns."""
    left, repeats = _degrees(problem, data)
    if left <= 0 or repeats < 5 or data.pure_error == 0:
        return None
    misfit = 2.0 * data.loss.value(problem.margins(factors)) - data.pure_error
    return (misfit / left) / (data.pure_error / repeats)


def _degrees(problem: Problem, data: Collapsed) -> tuple[int, int]:
    rows = 0 if data.loss.mixed is None else len(data.loss.mixed.targets)
    seen = int(np.count_nonzero(data.loss.weights)) + rows
    return seen - problem.degrees_of_freedom, data.n_repeats


def _agree(problem: Problem, attempts: list[Tried]) -> bool:
    """Return whether the lowest objective was reached, and finished, from two unrelated starts."""
    limit = same_minimum(problem, min(a.solution.objective for a in attempts))
    places = {
        "spectral" if a.start.startswith("spectral") else k
        for k, a in enumerate(attempts)
        if a.solution.converged and a.solution.objective <= limit
    }
    return len(places) >= 2


def same_minimum(problem: Problem, objective: float) -> float:
    """Return the largest objective that still counts as the same minimum as this one."""
    return objective * (1 + SAME) + _nothing(problem)


def _nothing(problem: Problem) -> float:
    """Return an objective so small that the fit is exact."""
    return EXACT * problem.loss.value(np.zeros(len(problem.pairs)))


def _next_start(n_tried: int) -> tuple[str, bool]:
    """Return which start to try next, and whether to cool it.

    Cooled starts find what plain ones miss, but all of them may lead into one wrong valley that
    plain random ones mostly avoid; so the two kinds take turns.
    """
    if n_tried == 2:
        return "spectral", True
    return "random", n_tried == 1 or n_tried % 2 == 0


def _draw(kind: str, problem: Problem, data: Collapsed, rng: np.random.Generator) -> FloatArray:
    if kind == "spectral":
        return spectral(problem, data.loss)
    return random(problem, rng)
