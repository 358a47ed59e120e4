"""The solution where the posterior's mass lies along the gauge, not its peak.

Along S -> S R, Q -> Q R⁻ᵀ the data say nothing, and the peak of the posterior prefers a small S
with large Q: S has more states, each with a penalty.  But there the space of S is small as well.
Integrated, the posterior goes with |det R| to the power v, by how many more entries of a column of
S than of Q the data determine (`excess`), which is as if

    ½ v log det QᵀQ

stood in the objective.  It is added by its tangent, a stronger prior on Q, a few times over.
At the peak Q would be too large, and with it what a step of S does to a margin: drift, forecasts
and their intervals too wide.
"""

from dataclasses import replace

import numpy as np

from intransit.core.joint import Joint
from intransit.core.joint_newton import JointSolution, solve_joint
from intransit.core.scales import excess, measure

ROUNDS = 4


def move_to_mass(
    problem: Joint, solution: JointSolution, *, tolerance: float, max_steps: int, seed: int
) -> JointSolution:
    """Return the solution moved to where the mass is; its objectives are those of the way there."""
    both = problem.strengths.free & problem.exposures.free
    if not both.any():
        return solution
    here = solution
    for _ in range(ROUNDS):
        volume = excess(problem, measure(problem, here.z, seed))
        if volume <= 1.0:
            return solution
        _, Q, _ = problem.split(here.z)
        energy = float(np.mean(np.sum(Q[:, both] ** 2, axis=0)))
        prior = problem.exposures.prior.copy()
        prior[both] = 1.0 / np.sqrt(1.0 / prior[both] ** 2 + volume / max(energy, 1e-300))
        held = replace(problem, exposures=replace(problem.exposures, prior=prior))
        here = solve_joint(held, here.z, tolerance=tolerance, max_steps=max_steps)
    return replace(
        solution,
        z=here.z,
        converged=solution.converged and here.converged,
        gradient_size=here.gradient_size,
        n_products=solution.n_products + here.n_products,
    )
