"""Where a solver starts.

`spectral` fills what was not seen with zeros and takes the leading planes of that matrix;
`random` draws factors of the right size; `cooled` improves either by a path of ridges:

    minimise  loss + ½ κ (‖S‖² + ‖Q‖²)   for  κ falling from a third of ‖slope(0)‖ to nearly 0

Each minimum starts the next.  ½(‖S‖² + ‖Q‖²), at its least over all factors of X, is the
nuclear norm of X over two, so the path starts where the problem is nearly convex and never
lets factors run off to infinity, which is how plain starts fail when readings are few.
"""

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.kernels import pull
from intransit.core.losses import Quadratic
from intransit.core.newton import newton
from intransit.core.normal import NormalEquations
from intransit.core.problem import Problem
from intransit.core.skew import canonical_form

DENSE_ITEMS = 300  # above it the leading planes come from a block power method
N_POWERS = 12
COOLING = 0.5
N_COOLINGS = 14
COOLING_STEPS = 5


def spectral(problem: Problem, loss: Quadratic) -> FloatArray:  # (n_items, 2 n_factors)
    """Return known columns, their partners by least squares, and planes of the rest."""
    factors = _with_partners_of_known(problem)
    unknown = _wholly_unknown(problem)
    if len(unknown):
        rest = loss.guesses() - problem.margins(factors)
        first, second = _leading_planes(problem, rest, len(unknown))
        factors[:, unknown], factors[:, unknown + problem.n_factors] = first, second
        _fit_length(problem, factors, unknown)
    return factors


def random(problem: Problem, rng: np.random.Generator) -> FloatArray:  # (n_items, 2 n_factors)
    """Return Gaussian factors, scaled so that their margins explain as much as they can."""
    factors = _with_partners_of_known(problem)
    unknown = _wholly_unknown(problem)
    if len(unknown):
        columns = np.concatenate([unknown, unknown + problem.n_factors])
        factors[:, columns] = rng.normal(size=(problem.n_items, len(columns)))
        _match_energy(problem, factors, unknown)
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
        warmed = problem.with_ridge(problem.ridge + ridge)
        factors = newton(warmed, factors, tolerance=1e-3, max_steps=COOLING_STEPS).factors
        ridge *= COOLING
    if polished:
        factors = newton(problem, factors, max_steps=4 * COOLING_STEPS).factors
    return factors


def _wholly_unknown(problem: Problem) -> IntArray:
    """Return the factors of which neither column is known."""
    r = problem.n_factors
    return np.flatnonzero(problem.free[:r] & problem.free[r:])


def _with_partners_of_known(problem: Problem) -> FloatArray:
    """Return known columns filled in and, where only one of a factor is, its partner solved."""
    r = problem.n_factors
    factors = np.where(problem.free, 0.0, problem.known)
    moved = np.flatnonzero(problem.free & ~np.roll(problem.free, r))
    if len(moved):
        partners = problem.partners(factors, moved)
        margins = problem.margins(factors)
        equations = NormalEquations(partners, problem.pairs, problem.loss.curvature(margins))
        gradient = problem.gradient(factors, margins, moved, partners)
        step = equations.solve(-gradient, problem.ridge + 1e-9 * equations.scale)
        if step is not None:
            factors[:, moved] = step
    return factors


def _skew_dense(problem: Problem, values: FloatArray) -> FloatArray:  # (n_items, n_items)
    """Return the skew matrix with these values at the pairs and zeros elsewhere."""
    i, j = problem.pairs.T
    matrix = np.zeros((problem.n_items, problem.n_items))
    matrix[i, j], matrix[j, i] = values, -values
    return matrix


def _skew_times(problem: Problem, values: FloatArray, block: FloatArray) -> FloatArray:
    """Return the same matrix times a block of vectors, without building it."""
    out = np.empty_like(block)
    pull(block, problem.pairs, values, out)  # row i gains value · block[j], row j loses it
    return out


def _leading_planes(
    problem: Problem, values: FloatArray, n_planes: int
) -> tuple[FloatArray, FloatArray]:
    """Return √ω u and √ω v, (n_items, n_planes) each, of the matrix with zeros elsewhere."""
    if problem.n_items <= DENSE_ITEMS:
        omegas, first, second = canonical_form(_skew_dense(problem, values))
    else:
        basis = _power_basis(problem, values, 2 * n_planes + 8)
        core = basis.T @ _skew_times(problem, values, basis)
        omegas, first, second = canonical_form(core, basis)
    roots = np.sqrt(omegas[:n_planes])
    return first[:, :n_planes] * roots, second[:, :n_planes] * roots


def _power_basis(
    problem: Problem, values: FloatArray, width: int
) -> FloatArray:  # (n_items, width)
    """Return an orthonormal basis of about the leading `width` directions of the matrix."""
    shape = (problem.n_items, min(width, problem.n_items))
    block = np.random.default_rng(0).normal(size=shape)  # any block will do
    for _ in range(N_POWERS):
        block, _ = np.linalg.qr(_skew_times(problem, values, block))
    return block


def _spectral_norm(problem: Problem, values: FloatArray) -> float:
    if problem.n_items <= DENSE_ITEMS:
        return float(np.linalg.norm(_skew_dense(problem, values), 2))
    basis = _power_basis(problem, values, 8)
    return float(np.linalg.norm(_skew_times(problem, values, basis), 2))


def _fit_length(problem: Problem, factors: FloatArray, unknown: IntArray) -> None:
    """Scale the unknown factors, in place, to lower the loss as far as one number can."""
    columns = np.concatenate([unknown, unknown + problem.n_factors])
    held = factors.copy()
    held[:, columns] = 0.0
    base = problem.margins(held)
    change = problem.margins(factors) - base
    curve = float(change @ problem.loss.curvature(base).times(change))
    if curve > 0:
        length = -float(change @ problem.loss.slope(base)) / curve
        factors[:, columns] *= np.sqrt(max(length, 0.01))


def _match_energy(problem: Problem, factors: FloatArray, unknown: IntArray) -> None:
    """Scale random factors, in place, to the size of the readings."""
    columns = np.concatenate([unknown, unknown + problem.n_factors])
    curvature = problem.loss.curvature(np.zeros(len(problem.pairs)))
    slope = problem.loss.slope(np.zeros(len(problem.pairs)))
    diagonal = curvature.pair_diagonal()
    wanted = float(np.sum(slope**2 / np.maximum(diagonal, 1e-300)))
    x = problem.margins(factors)
    size = float(x @ (diagonal * x))
    if wanted > 0 and size > 0:
        factors[:, columns] *= (wanted / size) ** 0.25
