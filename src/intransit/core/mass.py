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
from functools import partial

import numpy as np
from scipy.optimize import brentq

from intransit.arrays import BoolArray, FloatArray
from intransit.core.joint import Joint
from intransit.core.joint_newton import JointSolution, Mass, is_small, solve_joint
from intransit.core.joint_system import SparseEquations
from intransit.core.scales import excess, measure

ROUNDS = 4  # for small problems
N_SIGNS = 4  # vectors of them, for large ones: the volume to half a per cent
ACCURACY = 2e-3  # of their solves
FIRST_SLOPE = 0.6  # of log volume against log energy, until two places tell
ROUGHLY = 0.3  # log posterior left to gain where the volume is measured
STALE = 1.05  # growth of the record after which all is found anew


def move_to_mass(
    problem: Joint, solution: JointSolution, *, tolerance: float, max_steps: int, seed: int
) -> JointSolution:
    """Return the solution moved to where the mass is; its objectives are those of the way there."""
    both = problem.strengths.free & problem.exposures.free
    if not both.any():
        return solution
    if not is_small(problem):
        return _move_at_scale(problem, solution, both, tolerance, max_steps, seed)
    here = solution
    for _ in range(ROUNDS):
        volume = excess(problem, measure(problem, here.z, seed))
        if volume <= 1.0:
            return solution
        held = _hold(problem, both, volume, _energy(problem, both, here.z))
        here = solve_joint(held, here.z, tolerance=tolerance, max_steps=max_steps)
    return _arrived(solution, here, None)


def _move_at_scale(
    problem: Joint,
    solution: JointSolution,
    both: BoolArray,
    tolerance: float,
    max_steps: int,
    seed: int,
) -> JointSolution:
    """Measure the volume twice: at the peak, and where that leads to.

    In between it goes with the energy of Q as a power, and the way there is a stretch of S and Q
    that no margin sees, in closed form; what remains for Newton's steps is little.
    """
    rough = max(tolerance, ROUGHLY)
    solve = partial(_solve_held, problem, both, max_steps=max_steps)
    mass = _measured(problem, both, solution.z, FIRST_SLOPE, seed)
    if mass is None:
        return solution
    here, _ = solve(solution, mass, tolerance=rough)
    there = _measured(problem, both, here.z, FIRST_SLOPE, seed)
    if there is None:
        return solution
    way = np.log(there.energy / mass.energy)
    if abs(way) > 0.05:
        slope = float(np.clip(np.log(there.volume / mass.volume) / way, 0.0, 0.9))
        there = replace(there, slope=slope)
    here, there = solve(here, there, tolerance=rough)
    here, there = solve(here, there, tolerance=tolerance)
    return _arrived(solution, here, there)


def _measured(
    problem: Joint, both: BoolArray, z: FloatArray, slope: float, seed: int
) -> Mass | None:
    """Return the volume at z; None where there is none to speak of."""
    volume = _volume(problem, z, both, seed)
    if volume <= 1.0:
        return None
    return Mass(volume, _energy(problem, both, z), slope, problem.loss.cells.n_rows)


def _solve_held(
    problem: Joint,
    both: BoolArray,
    here: JointSolution,
    mass: Mass,
    *,
    tolerance: float,
    max_steps: int,
) -> tuple[JointSolution, Mass]:
    """Return the solution near where the mass is, as told by a volume measured near here."""
    z, mass = _stretched(problem, both, here.z, _at_energy(mass, _energy(problem, both, here.z)))
    held = _hold(problem, both, mass.volume, mass.energy)
    found = solve_joint(held, z, tolerance=tolerance, max_steps=max_steps, warm=True)
    return replace(found, n_products=found.n_products + here.n_products), mass


def _at_energy(mass: Mass, energy: float) -> Mass:
    """Return the volume at another energy of Q."""
    return replace(mass, volume=mass.volume * (energy / mass.energy) ** mass.slope, energy=energy)


def stay_at_mass(
    problem: Joint,
    z: FloatArray,
    mass: Mass | None,
    *,
    tolerance: float,
    max_steps: int,
    seed: int,
) -> JointSolution | None:
    """Solve a record that has grown from a solution at the mass; None where that is not quicker.

    The volume is measured once, with the signs that a fit of the whole record would use.
    """
    rows = problem.loss.cells.n_rows
    if mass is None or is_small(problem) or rows > STALE * mass.n_rows:
        return None
    both = problem.strengths.free & problem.exposures.free
    here = _measured(problem, both, z, mass.slope, seed)
    if here is None:
        return None
    start = JointSolution(z, np.zeros(0), True, 0.0, 0)
    found, mass = _solve_held(problem, both, start, here, tolerance=tolerance, max_steps=max_steps)
    return replace(found, mass=mass)


def _arrived(solution: JointSolution, here: JointSolution, mass: Mass | None) -> JointSolution:
    return replace(
        solution,
        z=here.z,
        converged=solution.converged and here.converged,
        gradient_size=here.gradient_size,
        n_products=here.n_products if mass else solution.n_products + here.n_products,
        mass=mass,
    )


def _energy(problem: Joint, both: BoolArray, z: FloatArray) -> float:
    """Return Σ Q² of a column, the mean over those that are free on both sides."""
    _, Q, _ = problem.split(z)
    return float(np.mean(np.sum(Q[:, both] ** 2, axis=0)))


def _hold(problem: Joint, both: BoolArray, volume: float, energy: float) -> Joint:
    """Return the problem with the prior on Q that pulls it to the mass."""
    prior = problem.exposures.prior.copy()
    prior[both] = 1.0 / np.sqrt(1.0 / prior[both] ** 2 + volume / max(energy, 1e-300))
    return replace(problem, exposures=replace(problem.exposures, prior=prior))


def _volume(problem: Joint, z: FloatArray, both: BoolArray, seed: int) -> float:
    """Return the volume, from the answers to random signs on the prior.

    As of draws (see `scales`), but without noise on the data, which would add to their spread
    alone, and with signs, whose squares have none: to 1 % by one, where a draw gives 6 %.
    """
    curvature = problem.loss.terms(problem.margins(z))[1]
    equations = SparseEquations(problem, z, curvature)
    total = 0.0
    for rng in np.random.default_rng(seed).spawn(N_SIGNS):
        right, noises = np.zeros_like(z), []
        for side, part in zip(problem.sides[:2], problem.parts(right), strict=False):
            noises.append(side.signs(rng))
            part[:] = side.shape_noise(noises[-1])
        step = equations.solve(right, 0.0, accuracy=ACCURACY)
        S, Q = (
            np.add(*side.seen_noise(noise, part))
            for side, noise, part in zip(problem.sides, noises, problem.parts(step), strict=False)
        )
        total += float(np.mean((S - Q)[both])) / N_SIGNS
    return total


def _stretched(problem: Joint, both: BoolArray, z: FloatArray, at: Mass) -> tuple[FloatArray, Mass]:
    """Return z with S eᵗ and Q e⁻ᵗ where the mass is, the volume following the energy of Q.

    There the slope in t of ½ (A e²ᵗ + G e⁻²ᵗ) - v t vanishes, A and G the penalties of a column.
    """
    S, Q, _ = problem.split(z)
    sizes = []
    for side, part in ((problem.strengths, S), (problem.exposures, Q)):
        product = side.product(part)[:, both]
        sizes.append(float(np.mean(np.sum(part[:, both] * product, axis=0))))

    def pull(t: float) -> float:
        volume = at.volume * np.exp(-2.0 * at.slope * t)
        return float(sizes[0] * np.exp(2.0 * t) - sizes[1] * np.exp(-2.0 * t) - volume)

    t = float(brentq(pull, -3.0, 3.0)) if pull(-3.0) < 0 < pull(3.0) else 0.0
    out = z.copy()
    S, Q, _ = problem.split(out)
    S[:, both] *= np.exp(t)
    Q[:, both] *= np.exp(-t)
    return out, _at_energy(at, at.energy * float(np.exp(-2.0 * t)))
