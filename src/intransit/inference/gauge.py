"""What factors may do without changing any margin, at all times.

    S(t) -> S(t) + Q(t) B          B symmetric, over columns whose strengths are free
    S(t) -> S(t) R,  Q -> Q R⁻ᵀ     R invertible, over columns that are free on both sides
    S_m -> S_m + b S_k,  Q_k -> Q_k - b Q_m        S_m and Q_k free, Q_m known

Along these directions only the prior speaks.  Newton's method creeps along them, as they curve;
`balance` goes to their best point in closed form.  Draws leave them out (`tangents`): to first
order they move no margin, and to second order they would add noise of the gauge's own.
"""

from itertools import combinations, combinations_with_replacement

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.inference.cell_kernels import step_gram
from intransit.inference.joint_problem import FactorStates, Joint

ROUNDS = 3


def balance(problem: Joint, z: FloatArray, *, volume: float = 0.0) -> FloatArray:
    """Return states with the same margins and a smaller penalty, the smallest where Q is fixed.

    With a `volume`, where the posterior's mass lies along R instead of its peak: a change of basis
    stretches the space of S and shrinks that of Q, by |det R| to the power of the difference of
    how many entries of a column the data determine on either side, which is what volume is.
    Scales are estimated there; at the peak they would run away.
    """
    if problem.is_convex or not _shares_times(problem):
        return z
    out = z.copy()
    S, Q, _ = problem.split(out)
    basis = np.hstack([_at_strengths(problem, Q), S])  # all that columns of S will be mixed from
    grams = list(problem.total(np.stack(grams_of(problem.strengths, basis))))
    first = np.argmax(problem.strengths.free & problem.exposures.free)  # factors share their scales
    gram_Q = problem.total(grams_of(problem.exposures, Q)[first])
    A, D = best_mixing(problem.strengths, problem.exposures, grams, gram_Q, volume)
    S[:], Q[:] = basis @ A, Q @ D
    for part, old, side in zip(
        (S, Q), problem.split(z), (problem.strengths, problem.exposures), strict=False
    ):
        part[:, ~side.free] = old[:, ~side.free]  # to the last bit
    return z if problem.total(int(not np.isfinite(out).all())) else out


def best_mixing(
    strengths: FactorStates,
    exposures: FactorStates,
    grams: list[FloatArray],  # by column, (2 r, 2 r): of the basis [Q at the states of S, S]
    gram_Q: FloatArray,  # (r, r)
    volume: float,
) -> tuple[FloatArray, FloatArray]:  # (2 r, r), (r, r)
    """Return A and D of the best S = basis A and Q = (old Q) D, from Gram matrices alone."""
    r = len(gram_Q)
    factors = np.flatnonzero(strengths.free & exposures.free)
    sizes = (strengths.prior, strengths.drift, exposures.prior, exposures.drift)
    alike = all(np.ptp(size[factors]) == 0 for size in sizes)
    A, D = np.vstack([np.zeros((r, r)), np.eye(r)]), np.eye(r)
    for _ in range(ROUNDS):
        exposed = np.vstack([D, np.zeros((r, r))])
        A += exposed @ _best_shift(strengths, grams, A, exposed)
        for m in np.flatnonzero(strengths.free & ~exposures.free):
            # What factors and a column of known Q_m can say alike goes to where it costs least:
            # S_m -> S_m + Σ b_k S_k and Q_k -> Q_k - b_k Q_m.
            here, pulled = A[:, factors], gram_Q @ D[:, m]
            matrix = here.T @ grams[m] @ here + np.eye(len(factors)) * float(D[:, m] @ pulled)
            right = D[:, factors].T @ pulled - here.T @ grams[m] @ A[:, m]
            amounts = np.linalg.solve(matrix, right)
            A[:, m] += here @ amounts
            D[:, factors] -= D[:, [m]] * amounts
        F = A[:, factors].T @ grams[int(factors[0])] @ A[:, factors]
        change = _best_basis(F, D[:, factors].T @ gram_Q @ D[:, factors], volume) if alike else None
        if change is None:
            break
        A[:, factors] = A[:, factors] @ change
        D[:, factors] = D[:, factors] @ np.linalg.inv(change).T
    return A, D


def tangents(problem: Joint, z: FloatArray) -> FloatArray:  # (n_z, n_directions)
    """Return the directions of z along which no margin moves, to first order."""
    S, Q, _ = problem.split(z)
    free_S = np.flatnonzero(problem.strengths.free)
    free_Q = np.flatnonzero(problem.exposures.free)
    directions: list[FloatArray] = []

    def add(dS: FloatArray | float, dQ: FloatArray | float) -> None:
        step = np.zeros(len(z))
        out_S, out_Q, _ = problem.split(step)
        out_S += dS
        out_Q += dQ
        directions.append(step)

    if _shares_times(problem):
        exposures = _at_strengths(problem, Q)
        for B in _symmetric(free_S, S.shape[1]):
            add(exposures @ B, 0.0)
    if not problem.strengths.chains.drifting or problem.exposures.chains.drifting:
        strengths = S if len(S) == len(Q) else S[problem.exposures.chains.owners]
        for B in _symmetric(free_Q, S.shape[1]):
            add(0.0, strengths @ B)
    for k in free_Q.tolist():
        for m in free_S.tolist():
            dS, dQ = np.zeros_like(S), np.zeros_like(Q)
            dS[:, m], dQ[:, k] = S[:, k], -Q[:, m]
            add(dS, dQ)
    return np.stack(directions, axis=1) if directions else np.zeros((len(z), 0))


def rotations(problem: Joint, z: FloatArray) -> FloatArray:  # (n_z, n_directions), orthonormal
    """Return directions along which not even the prior speaks: S and Q turned alike.

    The whole Hessian vanishes there, and a step must not go there.
    """
    S, Q, _ = problem.split(z)
    both = np.flatnonzero(problem.strengths.free & problem.exposures.free)
    turns = []
    for k, m in combinations(both, 2):
        step = np.zeros(len(z))
        dS, dQ, _ = problem.split(step)
        for part, values in ((dS, S), (dQ, Q)):
            part[:, m], part[:, k] = values[:, k], -values[:, m]
        turns.append(step)
    if not turns:
        return np.zeros((len(z), 0))
    return np.linalg.qr(np.stack(turns, axis=1))[0]


def without_gauge(problem: Joint, z: FloatArray, steps: FloatArray) -> FloatArray:
    """Return steps (n_z, n_draws) less what lies along the gauge, in the posterior's metric.

    Data do not see the gauge, so that the metric there is the prior's alone.
    """
    T = tangents(problem, z)
    if T.shape[1] == 0:
        return steps
    weighted = np.zeros(T.shape[::-1])  # by direction
    for along, out in zip(np.ascontiguousarray(T.T), weighted, strict=True):
        problem.add_prior(along, out)
    amounts, *_ = np.linalg.lstsq(T.T @ weighted.T, weighted @ steps, rcond=1e-12)
    return np.asarray(steps - T @ amounts)


def _shares_times(problem: Joint) -> bool:
    """Return whether exposures have a value at every state of the strengths."""
    return problem.strengths.chains.drifting or not problem.exposures.chains.drifting


def _at_strengths(problem: Joint, Q: FloatArray) -> FloatArray:
    """Return the exposures at the states of the strengths."""
    if problem.exposures.chains.drifting:
        return Q  # both drift over the same states
    return Q[problem.strengths.chains.owners]


def _symmetric(columns: IntArray, r: int) -> FloatArray:  # (n, r, r)
    """Return the symmetric matrices with ones at (k, m) and (m, k), for all pairs of columns."""
    k, m = np.array(list(combinations_with_replacement(columns, 2)), int).reshape(-1, 2).T
    out = np.zeros((len(k), r, r))
    out[np.arange(len(k)), k, m] = out[np.arange(len(k)), m, k] = 1.0
    return out


def grams_of(side: FactorStates, basis: FloatArray) -> list[FloatArray]:
    """Return basisᵀ P basis, P the prior's precision, for each column; 0 for those known."""
    found: dict[tuple[float, float, bool], FloatArray] = {}
    out = []
    for c in range(side.shape[1]):
        scales = float(side.drift[c]), float(side.prior[c]), bool(side.free[c])
        if scales not in found:
            gram = np.zeros((basis.shape[1], basis.shape[1]))
            if side.free[c]:
                links = np.ascontiguousarray(side.links[:, c])
                step_gram(links, side.chains.before, basis, gram)
            found[scales] = gram
        out.append(found[scales])
    return out


def _best_shift(
    side: FactorStates, grams: list[FloatArray], A: FloatArray, exposed: FloatArray
) -> FloatArray:  # (r, r), symmetric
    """Return the symmetric B that minimises the penalty of S + Q B."""
    r = A.shape[1]
    free = np.flatnonzero(side.free)
    basis = _symmetric(free, r)
    weighed, pulls = np.zeros((r, r, r)), np.zeros((r, r))
    for c in free:
        weighed[c] = exposed.T @ grams[c] @ exposed
        pulls[:, c] = exposed.T @ grams[c] @ A[:, c]
    columns = basis.transpose(2, 0, 1)  # (r, n_basis, r)
    matrix = (columns @ weighed @ columns.transpose(0, 2, 1)).sum(axis=0)
    right = np.tensordot(basis, pulls, 2)
    amounts, *_ = np.linalg.lstsq(matrix, -right, rcond=1e-13)
    return np.asarray(np.tensordot(amounts, basis, 1))


def _best_basis(
    F: FloatArray, G: FloatArray, volume: float
) -> FloatArray | None:  # (f, f) each: the penalties' Gram matrices of S and Q
    """Return R that minimises the penalty of S R and Q R⁻ᵀ, or None when that is not definite.

    With W = R Rᵀ it minimises

        tr(F W) + tr(G W⁻¹) - volume log det W,        W F W - volume W - G = 0

    a quadratic equation in F^½ W F^½; without volume W is the geometric mean of F⁻¹ and G.
    """
    values, vectors = np.linalg.eigh(F)
    if not np.isfinite(values).all() or values[0] <= 1e-12 * values[-1] or values[0] <= 0:
        return None
    root = (vectors * np.sqrt(values)) @ vectors.T
    inverse = (vectors / np.sqrt(values)) @ vectors.T
    middle_values, middle = np.linalg.eigh(root @ G @ root)
    if middle_values[0] <= 1e-12 * middle_values[-1] or middle_values[0] <= 0:
        return None
    solved = 0.5 * (volume + np.sqrt(volume**2 + 4.0 * middle_values))
    W = inverse @ ((middle * solved) @ middle.T) @ inverse
    W_values, W_vectors = np.linalg.eigh((W + W.T) / 2)
    return None if W_values[0] <= 0 else np.asarray(W_vectors * np.sqrt(W_values))
