"""Solvers of the weighted program, where they start, and how many starts doubt demands.

`newton` moves all free columns at once.  `alternate` is the paper's method: with one factor held
the margins are linear in the other, so a half-step is one weighted least-squares problem, and of
all its minimisers the one nearest to where it stands is taken.

`solve_bounded` imposes ‖X‖∞ <= a on all pairs by an augmented Lagrangian (decision 0004).  Those
that press against the bound carry a multiplier; for a stiffness ρ an ordinary solver minimises

    loss(x) + ρ/2 Σ_p dist(x_p + multiplier_p / ρ, [-a, a])²

after which multiplier_p becomes ρ times what still stuck out.

`spectral` fills what was not seen with zeros and takes the leading planes of that matrix;
`random` draws factors of the right size; `cooled` improves either by a path of ridges:

    minimise  loss + ½ κ (‖S‖² + ‖Q‖²)   for  κ falling from a third of ‖slope(0)‖ to nearly 0

Each minimum starts the next.  ½(‖S‖² + ‖Q‖²), at its least over all factors of X, is the
nuclear norm of X over two, so the path starts where the problem is nearly convex.

The program is not convex: a minimum may be the wrong one (decision 0003).  It is above doubt when

    - what is free enters linearly (every factor has a known column): there is one minimum;
    - the fit is exact;
    - it misses the pairs' means no more than repeated readings of one pair miss each other:
      F = (misfit / its degrees of freedom) / (spread of repeats / theirs) is no larger than
      chance allows.  That is asked only where it can tell: readings count about alike, no
      bound presses, and X = 0 has an F above 10,000, so that a wrong minimum cannot hide.

Otherwise further starts follow, cooled and plain in turns, until the lowest
objective has been reached from two places that have nothing to do with each other, or the
allowance is used up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import fdtri

from intransit.arrays import FloatArray, IntArray, fold_pairs, unfold
from intransit.inference.newton import Place, descend
from intransit.inference.weighted_program import (
    Boxed,
    Collapsed,
    NormalEquations,
    Problem,
    Quadratic,
    Solution,
    Solver,
    gradient_size,
    pull,
    widen,
)
from intransit.skew import canonical_factors, canonical_form, fill_skew

START_DAMPING = 1e-2


@dataclass(frozen=True, eq=False)
class _Factors(Place):
    """Factors as a place to leave along some columns; valleys here are short, and nothing bends."""

    problem: Problem
    factors: FloatArray  # (n_items, 2 n_factors)
    margins: FloatArray  # (n_pairs,): at these factors
    moving: IntArray  # columns
    tolerance: float = 0.0
    dense: bool | None = None

    @cached_property
    def partners(self) -> FloatArray:
        return self.problem.partners(self.factors, self.moving)

    @cached_property
    def value(self) -> float:
        return self.problem.value(self.factors, self.margins)

    @cached_property
    def downhill(self) -> FloatArray:
        return -self.problem.gradient(self.factors, self.margins, self.moving, self.partners)

    def equations(self, exact: bool = False) -> NormalEquations:  # noqa: ARG002
        problem, curvature = self.problem, self.problem.loss.curvature(self.margins)
        return NormalEquations(
            self.partners, problem.pairs, curvature, ridge=problem.ridge, dense=self.dense
        )

    def moved(self, step: FloatArray) -> "_Factors":
        trial = self.factors.copy()
        trial[:, self.moving] += step
        return replace(self, factors=trial, margins=self.problem.margins(trial))

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
    factors, moving = np.ascontiguousarray(start), problem.moved("both")
    place = _Factors(problem, factors, problem.margins(factors), moving, tolerance, dense)
    end, descent = descend(place, start_damping=START_DAMPING, max_steps=max_steps)
    return Solution(descent.objectives, descent.converged, end.factors)


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
    place = _Factors(problem, factors, problem.margins(factors), sides[0], dense=dense)
    objectives, converged = [place.value], False
    if not np.isfinite(objectives[0]):
        return Solution(np.array(objectives), converged, factors)
    for step in range(1, max_steps + 1):
        if problem.all_free and step % BALANCE_EVERY == 0:  # the margins stay as they are
            S, Q = np.hsplit(place.factors, 2)
            place = replace(place, factors=np.hstack(canonical_factors(S, Q)))
        for moving in sides:
            place = _half_step(replace(place, moving=moving))
        objectives.append(place.value)
        converged = _nearly_done(objectives, tolerance, problem.rounding)
        if converged:
            break
    return Solution(np.array(objectives), converged, place.factors)


def _half_step(place: _Factors) -> _Factors:
    equations = place.equations()
    damping = NULL_DAMPING * equations.scale
    step = equations.solve(place.downhill, damping, accuracy=1e-4)
    while step is None and damping <= equations.scale:
        damping *= 10.0
        step = equations.solve(place.downhill, damping)
    if step is None:
        return place
    for _ in range(40):  # the full step is exact for a quadratic loss; a bound may shorten it
        trial = place.moved(step)
        if trial.value <= place.value:
            return trial
        step = 0.5 * step
    return place


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


def solve_bounded(problem: Problem, start: FloatArray, *, bound: float, solver: Solver) -> Solution:
    """Minimise subject to |X_ij| <= bound for all i, j; the objectives are of feasible answers."""
    solution = solver(problem, start)
    if largest_margin(solution.factors) <= bound:
        return solution
    if not isinstance(problem.loss, Quadratic):
        raise TypeError("the bound is imposed on a quadratic loss")
    factors = best = fit_inside(problem, start, bound)
    pairs, nothing = problem.pairs, np.zeros(len(problem.pairs))
    stiffness = 10.0 * float(problem.loss.curvature(nothing).diagonal().mean()) or 1.0
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
    answer = Solution(np.array(values), finished, best, loss.multipliers, pairs)
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
    keys, more = (fold_pairs(some, n_items)[0] for some in (pairs, outside))
    union = np.union1d(keys, more)
    if len(union) == len(keys):
        return pairs, loss
    place = np.searchsorted(union, keys)
    wider = replace(
        loss,
        inner=loss.inner.over(place, len(union)),
        multipliers=widen(loss.multipliers, place, len(union)),
    )
    return unfold(union, n_items), wider


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


# Starts -------------------------------------------------------------------------------------------

DENSE_ITEMS = 300  # above it the leading planes come from a block power method
N_POWERS = 12
COOLING = 0.5
N_COOLINGS = 14
COOLING_STEPS = 5


def spectral(
    problem: Problem, loss: Quadratic, *, dense_items: int = DENSE_ITEMS
) -> FloatArray:  # (n_items, 2 n_factors)
    """Return known columns, their partners by least squares, and of the rest √ω u and √ω v.

    These are the leading planes of the matrix of what was seen, with zeros elsewhere.
    """
    factors = _with_partners_of_known(problem)
    columns = _wholly_unknown(problem)
    if len(columns):
        rest, n_planes = loss.guesses() - problem.margins(factors), len(columns) // 2
        if problem.n_items <= dense_items:
            omegas, *axes = canonical_form(fill_skew(rest, problem.n_items, problem.pairs))
        else:
            basis = _power_basis(problem, rest, 2 * n_planes + 8)
            omegas, *axes = canonical_form(basis.T @ pull(basis, problem.pairs, rest), basis)
        roots = np.sqrt(omegas[:n_planes])
        factors[:, columns] = np.hstack([axis[:, :n_planes] * roots for axis in axes])
        _fit_length(problem, factors, columns)
    return factors


def random(problem: Problem, rng: np.random.Generator) -> FloatArray:  # (n_items, 2 n_factors)
    """Return Gaussian factors, scaled so that their margins are of the size of the readings."""
    factors = _with_partners_of_known(problem)
    columns = _wholly_unknown(problem)
    if len(columns):
        factors[:, columns] = rng.normal(size=(problem.n_items, len(columns)))
        x, nothing = problem.margins(factors), np.zeros(len(problem.pairs))
        slope = problem.loss.slope(nothing)
        diagonal = problem.loss.curvature(nothing).diagonal()
        wanted = float(np.sum(slope**2 / np.maximum(diagonal, 1e-300)))
        size = float(x @ (diagonal * x))
        if wanted > 0 and size > 0:
            factors[:, columns] *= (wanted / size) ** 0.25
    return factors


def cooled(
    problem: Problem, start: FloatArray, *, polished: bool = False
) -> FloatArray:  # (n_items, 2 n_factors)
    """Return the end of a path of falling ridges from this start.

    Polished, a few steps without the path's ridge follow, so that a slow method starts where a
    quick one would end.
    """
    slope = problem.loss.slope(np.zeros(len(problem.pairs)))
    ridge = 0.3 * _spectral_norm(problem, slope)
    factors = start
    for _ in range(N_COOLINGS):
        warmed = replace(problem, ridge=problem.ridge + ridge)
        factors = newton(warmed, factors, tolerance=1e-3, max_steps=COOLING_STEPS).factors
        ridge *= COOLING
    if polished:
        factors = newton(problem, factors, max_steps=4 * COOLING_STEPS).factors
    return factors


def _wholly_unknown(problem: Problem) -> IntArray:
    """Return the columns of the factors of which neither column is known."""
    return np.flatnonzero(problem.free & np.roll(problem.free, problem.n_factors))


def _with_partners_of_known(problem: Problem) -> FloatArray:
    """Return known columns filled in and, where only one of a factor is, its partner solved."""
    r = problem.n_factors
    factors = np.where(problem.free, 0.0, problem.known)
    moved = np.flatnonzero(problem.free & ~np.roll(problem.free, r))
    if len(moved):
        place = _Factors(problem, factors, problem.margins(factors), moved)
        equations = place.equations()
        step = equations.solve(place.downhill, 1e-9 * equations.scale)
        if step is not None:
            factors[:, moved] = step
    return factors


def _power_basis(
    problem: Problem, values: FloatArray, width: int
) -> FloatArray:  # (n_items, width)
    """Return an orthonormal basis of about the leading `width` directions of the matrix."""
    shape = (problem.n_items, min(width, problem.n_items))
    block = np.random.default_rng(0).normal(size=shape)  # any block will do
    for _ in range(N_POWERS):
        block, _ = np.linalg.qr(pull(block, problem.pairs, values))
    return block


def _spectral_norm(problem: Problem, values: FloatArray) -> float:
    if problem.n_items <= DENSE_ITEMS:
        return float(np.linalg.norm(fill_skew(values, problem.n_items, problem.pairs), 2))
    basis = _power_basis(problem, values, 8)
    return float(np.linalg.norm(pull(basis, problem.pairs, values), 2))


def _fit_length(problem: Problem, factors: FloatArray, columns: IntArray) -> None:
    """Scale the unknown factors, in place, to lower the loss as far as one number can."""
    held = factors.copy()
    held[:, columns] = 0.0
    base = problem.margins(held)
    change = problem.margins(factors) - base
    curve = float(change @ problem.loss.curvature(base).times(change))
    if curve > 0:
        length = -float(change @ problem.loss.slope(base)) / curve
        factors[:, columns] *= np.sqrt(max(length, 0.01))


SAME = 1e-6  # two objectives are the same minimum when they agree to this part
EXACT = 1e-14  # of the objective at X = 0; below it two objectives are both nothing
CHANCE = 1e-3  # how often a right minimum may look doubtful, which costs a restart
FAIR_RATIO = 2.0  # an F below it is never doubted, however many readings there are
CLEAR = 1e4  # F of X = 0 above which a wrong minimum shows
EVEN = 0.5  # effective over actual number of readings, below which F counts too many


def attempt(
    problem: Problem,
    data: Collapsed,
    start: Literal["spectral", "random"] | FloatArray,
    solver: Solver,
    *,
    restarts: int,
    polished: bool,
    rng: np.random.Generator,
) -> tuple[Solution, ...]:
    """Return all attempts made, in their order, each with the name of its start."""
    first = _draw(start, problem, data, rng) if isinstance(start, str) else start
    name: str = start if isinstance(start, str) else "given"
    attempts = [replace(solver(problem, first), start=name)]
    settled = above_doubt(problem, data, attempts[0])
    while not settled and len(attempts) <= restarts:
        kind, cool = _next_start(len(attempts))
        place = _draw(kind, problem, data, rng)
        if cool:
            place = cooled(problem, place, polished=polished)
        name = f"{kind}, cooled" if cool else kind
        attempts.append(replace(solver(problem, place), start=name))
        settled = _agree(problem, attempts) or above_doubt(problem, data, attempts[-1])
    return tuple(attempts)


def best(attempts: tuple[Solution, ...]) -> Solution:
    """Return the attempt with the lowest objective; among equals, one that converged."""
    lowest = min(one.objective for one in attempts)
    equals = [one for one in attempts if one.objective <= lowest * (1 + SAME)]
    return min(equals, key=lambda one: (not one.converged, one.objective))


def above_doubt(problem: Problem, data: Collapsed, solution: Solution) -> bool:
    """Return whether this minimum needs no second opinion."""
    linear = not len(_wholly_unknown(problem))
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


def _agree(problem: Problem, attempts: list[Solution]) -> bool:
    """Return whether the lowest objective was reached, and finished, from two unrelated starts."""
    limit = same_minimum(problem, min(one.objective for one in attempts))
    places = {
        "spectral" if one.start.startswith("spectral") else k
        for k, one in enumerate(attempts)
        if one.converged and one.objective <= limit
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
