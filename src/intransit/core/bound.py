"""The bound ‖X‖∞ <= a as a constraint of the program, by an augmented Lagrangian.

Every pair is constrained, seen or not.  Pairs that press against the bound carry a multiplier,
and for these multipliers and a stiffness ρ an ordinary solver minimises

    loss(x) + ρ/2 Σ_p dist(x_p + multiplier_p / ρ, [-a, a])²

after which multiplier_p becomes ρ times what still stuck out.  Only pairs that ever stuck out are
added to the problem, found by scanning X in blocks of rows, so that no N x N array is kept.
At the end S is scaled by the last part in 10⁹ or so that is missing, and the answer is feasible.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.losses import Boxed, Quadratic
from intransit.core.problem import Problem, Solution, Solver, gradient_size

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
