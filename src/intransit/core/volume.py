"""How much the data determine, and where that puts a solution along the gauge.

Of a side's entries (first states, steps) the data determine

    γ = number of entries - Σ (posterior / prior variance)

exactly for small problems, and at scale by a few draws, always of the same seed.

Along S -> S R, Q -> Q R⁻ᵀ the data say nothing, and the peak of the posterior prefers a small S
with large Q: S has more states, each with a penalty.  But there the space of S is small as well.
Integrated, the posterior goes with |det R| to the power v, by how many more entries of a column of
S than of Q the data determine, which is as if

    ½ v log det QᵀQ

stood in the objective.  It is added by its tangent, a stronger prior on Q, twice over.  At the peak
Q would be too large, and with it what a step of S does to a margin: intervals of level 90 % then
hold 92 to 97 % of forecasts at known scales, and errors are 3 to 6 % larger (decision 0029).
"""

from dataclasses import dataclass, replace

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.gauge import balance
from intransit.core.joint import Joint
from intransit.core.joint_newton import JointSolution, solve_joint
from intransit.core.laplace import Laplace
from intransit.core.sides import Side

ROUNDS = 2  # the volume moves with the solution: by the second it has settled
EXACT_LIMIT = 600  # unknowns up to which γ is exact: beyond it draws are far quicker
DRAWN = 4_000  # entries of draws in all, at least: keeps the noise of a scale near 2 %

Seen = list[tuple[FloatArray, FloatArray]]  # by side: first states and steps, by column


@dataclass(frozen=True, eq=False)
class Share:
    """Of one side, by column: energies at the solution, and how much of them the data determine."""

    first: FloatArray  # Σ first states²
    step: FloatArray  # Σ step² / gap
    seen_first: FloatArray  # how many first states the data determine
    seen_step: FloatArray


def measure(problem: Joint, z: FloatArray, seed: int) -> list[Share]:
    """Return the shares of all sides around z."""
    n_free = int(np.count_nonzero(problem.free))
    around = Laplace(problem, z, dense=n_free <= EXACT_LIMIT)
    seen = _exactly_seen(around) if around.is_dense else _seen_by_draws(around, seed)
    return [
        Share(*side.energies(part), *counts)
        for side, part, counts in zip(problem.sides, problem.parts(z), seen, strict=True)
    ]


def excess(problem: Joint, shares: list[Share]) -> float:
    """Return how many more entries of a column of S than of Q the data determine."""
    both = problem.strengths.free & problem.exposures.free
    if not both.any():
        return 0.0
    S, Q = (share.seen_first + share.seen_step for share in shares[:2])
    return float(np.mean(S[both] - Q[both]))


def move_along_gauge(
    problem: Joint,
    solution: JointSolution,
    *,
    tolerance: float,
    max_steps: int,
    seed: int,
    rounds: int = ROUNDS,
) -> JointSolution:
    """Return a solution moved to where the volume is; its objectives, if it has any, stay."""
    both = problem.strengths.free & problem.exposures.free
    if not both.any():
        return solution
    here = solution
    n_products = solution.n_products
    for _ in range(rounds):
        volume = excess(problem, measure(problem, here.z, seed))
        if volume <= 1.0:
            return solution
        z = balance(problem, here.z, volume=volume)
        energy = float(np.mean(np.sum(problem.split(z)[1][:, both] ** 2, axis=0)))
        prior = problem.exposures.prior.copy()
        prior[both] = 1.0 / np.sqrt(1.0 / prior[both] ** 2 + volume / max(energy, 1e-300))
        held = replace(problem, exposures=replace(problem.exposures, prior=prior))
        here = solve_joint(held, z, tolerance=tolerance, max_steps=max_steps, warm=True)
        n_products += here.n_products
    return replace(
        solution,
        z=here.z,
        objectives=solution.objectives if len(solution.objectives) else here.objectives,
        converged=solution.converged and here.converged,
        gradient_size=here.gradient_size,
        n_products=n_products,
    )


def _seen_by_draws(around: Laplace, seed: int) -> Seen:
    problem = around.problem
    n = int(np.clip(np.ceil(DRAWN / problem.strengths.shape[0]), 2, 50))
    totals = [np.zeros((2, side.shape[1])) for side in problem.sides]
    for step, noises in around.probes(n, np.random.default_rng(seed)):
        for k, (side, part) in enumerate(zip(problem.sides, problem.parts(step), strict=True)):
            totals[k] += np.stack(side.seen_noise(noises[k], part)) / n
    return [(np.maximum(total[0], 0.0), np.maximum(total[1], 0.0)) for total in totals]


def _exactly_seen(around: Laplace) -> Seen:
    seen, begin = [], 0
    for side in around.problem.sides:
        first, step = _spreads(side, around.covariance, begin)
        begin += side.shape[0] * side.shape[1]
        seen.append(
            (
                np.maximum((len(side.firsts) - first / side.prior**2) * side.free, 0.0),
                np.maximum((len(side.steps) - step) * side.free, 0.0),
            )
        )
    return seen


def _spreads(side: Side, covariance: FloatArray, begin: int) -> tuple[FloatArray, FloatArray]:
    """Return Σ var(first) and Σ link · var(step), by column."""
    n, width = side.shape
    at = begin + np.arange(n * width).reshape(n, width)
    first = covariance[at[side.firsts], at[side.firsts]].sum(axis=0)
    now, before = at[side.steps], at[side.steps - 1]
    spread = covariance[now, now] + covariance[before, before] - 2 * covariance[now, before]
    return first, np.sum(spread * side.links[side.steps], axis=0)
