"""Skew-symmetric matrices of low rank: X = S Qᵀ - Q Sᵀ.

With U = [S Q] this is X = U J Uᵀ, J the symplectic form, so every G in Sp(2r) gives the same
X from U G: factors are never unique, margins are.  One representative is singled out here,
the canonical (Youla) form

    X = Σ_c ω_c (u_c v_cᵀ - v_c u_cᵀ),   u_c, v_c orthonormal,  ω_1 >= ω_2 >= ... >= 0

written as factors s_c = √ω_c u_c and q_c = √ω_c v_c.  It is computed from U alone, in
O(n_items · n_factors²): the N x N matrix is never built.
"""

import numpy as np
from scipy.linalg import hessenberg, solve_continuous_lyapunov, svd

from intransit.arrays import FloatArray, IntArray
from intransit.core.kernels import read_margins


def build_margins(strengths: FloatArray, exposures: FloatArray) -> FloatArray:
    """Return X = S Qᵀ - Q Sᵀ, (..., n_items, n_items); leading axes (times) are carried along."""
    half = strengths @ np.swapaxes(exposures, -1, -2)
    return np.asarray(half - np.swapaxes(half, -1, -2))


def margins_at(strengths: FloatArray, exposures: FloatArray, pairs: IntArray) -> FloatArray:
    """Return X[i, j] for each pair, (n_pairs,), without building X."""
    out = np.empty(len(pairs))
    read_margins(np.hstack([strengths, exposures]), pairs, out)
    return out


def canonical_form(
    core: FloatArray,  # (size, size), skew-symmetric
    basis: FloatArray | None = None,  # (n_items, size), orthonormal columns; None: the identity
) -> tuple[FloatArray, FloatArray, FloatArray]:  # (k,), (n_items, k), (n_items, k); k = size // 2
    """Return ω, and the axes u and v, of the planes of ``basis core basisᵀ``, largest first.

    The method is that of Ward and Gray (1978): an orthogonal change of basis makes the matrix
    tridiagonal; the even and odd rows of a skew tridiagonal matrix only speak to each other,
    through a bidiagonal matrix of half the size, whose singular values are the ω.  All is real
    and nothing is squared.
    """
    size = len(core)
    reduced, turn = hessenberg(core, calc_q=True)
    if basis is not None:
        turn = basis @ turn
    ahead = (np.diagonal(reduced, 1) - np.diagonal(reduced, -1)) / 2
    bidiagonal = np.zeros((size - size // 2, size // 2))
    np.fill_diagonal(bidiagonal, ahead[0::2])
    np.fill_diagonal(bidiagonal[1:], -ahead[1::2])
    left, omegas, right = svd(bidiagonal, full_matrices=False)
    return omegas, turn[:, 0::2] @ left, turn[:, 1::2] @ right.T


def factor_core(
    strengths: FloatArray,  # (n_items, n_factors)
    exposures: FloatArray,  # (n_items, n_factors)
) -> tuple[FloatArray, FloatArray]:
    """Return W (n_items, k) with orthonormal columns and C (k, k) skew, so that X = W C Wᵀ."""
    r = strengths.shape[1]
    basis, corner = np.linalg.qr(np.hstack([strengths, exposures]))
    return basis, build_margins(corner[:, :r], corner[:, r:])


def canonical_factors(
    strengths: FloatArray,  # (n_items, n_factors)
    exposures: FloatArray,  # (n_items, n_factors)
) -> tuple[FloatArray, FloatArray]:
    """Return the canonical factors of the same X: orthogonal columns, largest plane first."""
    basis, core = factor_core(strengths, exposures)
    omegas, first, second = canonical_form(core, basis)
    width = min(strengths.shape[1], len(omegas))
    canonical = np.zeros((2, *strengths.shape))
    canonical[0, :, :width] = first[:, :width] * np.sqrt(omegas[:width])
    canonical[1, :, :width] = second[:, :width] * np.sqrt(omegas[:width])
    return canonical[0], canonical[1]


def smallest_strengths(strengths: FloatArray, exposures: FloatArray) -> FloatArray:
    """Return S + Q B of least norm over symmetric B: the same X, with Q held.

    Setting the derivative to zero gives QᵀQ B + B QᵀQ = -(QᵀS + SᵀQ).  With Q = 1 this
    subtracts the mean, so that plain scores come back centred.
    """
    gram = exposures.T @ exposures
    overlap = exposures.T @ strengths
    # A vanishing ridge keeps the equation solvable when columns of Q depend on each other.
    ridge = 1e-14 * max(float(np.trace(gram)), np.finfo(float).tiny)
    shift = solve_continuous_lyapunov(gram + ridge * np.eye(len(gram)), -(overlap + overlap.T))
    return np.asarray(strengths + exposures @ (shift + shift.T) / 2)
