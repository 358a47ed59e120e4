"""Where Newton's method on the joint problem starts, if there are factors.

It starts from the weighted program, on what scores alone leave unexplained.  At states z the loss
is, to second order, a weighted least-squares problem in the margins; added up over time, pair by
pair, it is the program of `recover`, which is solved from several starts of its own.  Its static
factors, given to all times, start the joint fit.  Times far from a chosen one count less, by how
far S will have drifted, as the paper weighs them.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from intransit.arrays import FloatArray, unfold
from intransit.data.cells import Cells
from intransit.inference.joint_problem import Columns, Joint, Scales
from intransit.inference.newton import JointSolution, is_small, solve_joint
from intransit.inference.weighted_program import Collapsed, Problem, Quadratic
from intransit.inference.weighted_solvers import attempt, best, newton

SAME = 1e-6  # of the objective's own size: two minima that are one
SAME_GAIN = 0.1  # and of log posterior
MOST_PLACES = 6
ROUGHLY = 0.3  # log posterior left to gain, of large problems with factors


def solve_from_starts(
    problem: Joint,
    columns: Columns,
    scales: Scales,
    *,
    tolerance: float,
    max_steps: int,
    rng: np.random.Generator,
) -> tuple[JointSolution, ...]:
    """Solve from as many starts as the problem needs, the best first."""
    most, nothing = MOST_PLACES, problem.without_factors(columns)
    if not is_small(problem):
        # The solution is moved from here anyway: see `move_along_gauge`.
        tolerance, most = max(tolerance, ROUGHLY), 1
    tried: list[JointSolution] = []
    for name, place in _places(problem, columns, scales, nothing, rng):
        found = solve_joint(problem, place, tolerance=tolerance, max_steps=max_steps)
        tried.append(replace(found, start=name))
        lowest = min(one.objective for one in tried)
        near = SAME * abs(lowest) + SAME_GAIN
        agree = sum(one.objective <= lowest + near for one in tried)
        if agree >= 2 or len(tried) >= most:
            break
    return tuple(sorted(tried, key=lambda one: one.objective))


def _places(
    problem: Joint, columns: Columns, scales: Scales, nothing: FloatArray, rng: np.random.Generator
) -> Iterator[tuple[str, FloatArray]]:
    """Yield starts, the likeliest first: static factors for several times in question."""
    base, cells = _scores_first(problem, columns, nothing), problem.cells
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
