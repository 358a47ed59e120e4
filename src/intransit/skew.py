"""Skew-symmetric matrices of low rank, X = S Qᵀ - Q Sᵀ, and whether an array is one.

With U = [S Q] this is X = U J Uᵀ, J the symplectic form, so every G in Sp(2r) gives the same
X from U G: factors are never unique, margins are.  One representative is singled out here,
the canonical (Youla) form

    X = Σ_c ω_c (u_c v_cᵀ - v_c u_cᵀ),   u_c, v_c orthonormal,  ω_1 >= ω_2 >= ... >= 0

written as factors s_c = √ω_c u_c and q_c = √ω_c v_c.  It is computed from U alone, in
O(n_items · n_factors²): the N x N matrix is never built.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import hessenberg, solve_continuous_lyapunov, svd

from intransit.arrays import BoolArray, FloatArray, IntArray, largest_size, slices
from intransit.checks import as_flag
from intransit.errors import InputError


def build_margins(strengths: FloatArray, exposures: FloatArray) -> FloatArray:
    """Return X = S Qᵀ - Q Sᵀ, (..., n_items, n_items); leading axes (times) are carried along."""
    half = strengths @ np.swapaxes(exposures, -1, -2)
    return np.asarray(half - np.swapaxes(half, -1, -2))


def margins_at(strengths: FloatArray, exposures: FloatArray, pairs: IntArray) -> FloatArray:
    """Return X[i, j] for each pair, (n_pairs,), without building X."""
    S, Q, (i, j) = strengths, exposures, pairs.T
    return np.asarray(np.sum(S[i] * Q[j] - Q[i] * S[j], axis=1))


def fill_skew(
    values: FloatArray,  # (..., n_pairs)
    n_items: int,
    pairs: IntArray | None = None,  # (n_pairs, 2); all pairs, first < second, by default
) -> FloatArray:  # (..., n_items, n_items)
    """Return skew-symmetric matrices with these values at the pairs and zeros elsewhere.

    >>> fill_skew(np.array([1.0, 2.0, 3.0]), 3).tolist()
    [[0.0, 1.0, 2.0], [-1.0, 0.0, 3.0], [-2.0, -3.0, 0.0]]
    """
    i, j = np.triu_indices(n_items, 1) if pairs is None else pairs.T
    out = np.zeros((*values.shape[:-1], n_items, n_items))
    out[..., i, j], out[..., j, i] = values, -values
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


SKEW_TOLERANCE = 1e-8  # of X + Xᵀ, relative to the largest entry; below it is rounding
TILE = 64  # rows read together
NOT_FINITE = "is infinite. Margins are finite; write NaN for a pair never compared."
HALF_MISSING = "is missing on one side only. Write NaN in both entries of a pair or fill in both."
NOT_SKEW = (
    "and its mirror do not cancel. Margins are skew-symmetric, X[j, i] = -X[i, j]; pass "
    "(X - X.T) / 2 if that is what you mean."
)


def check_margins(margins: ArrayLike, *, complete: bool = False) -> FloatArray:
    """Return the margins as a float matrix that is exactly skew-symmetric, or refuse them.

    Rounding is averaged out, ``(X − Xᵀ) / 2``, in a copy; an exact matrix is returned as it is.

    Parameters
    ----------
    margins
        The matrix of margins, (n_items, n_items).  NaN says "not compared" and must stand on both
        sides; on the diagonal it means the same as 0.
    complete
        Whether every pair must have a margin.

    Returns
    -------
    numpy.ndarray
        The margins, (n_items, n_items), with zeros on the diagonal.

    Raises
    ------
    InputError
        If the entries are not numbers, the matrix is not square or not skew-symmetric, or a margin
        is infinite or missing where it must not be.

    Examples
    --------
    >>> import intransit as it
    >>> it.study.check_margins([[0, 2, -1], [-2, 0, 3], [1, -3, 0]])
    array([[ 0.,  2., -1.],
           [-2.,  0.,  3.],
           [ 1., -3.,  0.]])
    """
    try:
        X = np.ascontiguousarray(margins, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            "margins: the entries are not numbers. Pass a square array of floats."
        ) from error
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise InputError(
            f"margins: found the shape {X.shape}. Pass a square matrix, one row and one column"
            " for each item."
        )
    exact = _are_skew(X)
    if np.isnan(X.diagonal()).any():
        X = X.copy()
        np.fill_diagonal(X, 0.0)
    if as_flag("complete", complete) and np.isnan(X.sum()):
        raise InputError(
            "margins: some pairs are missing (NaN). This question needs a complete matrix; fill"
            " the gaps with a fit first."
        )
    return X if exact else (X - X.T) / 2


def _are_skew(X: FloatArray) -> bool:
    """Return whether margins cancel to the last bit; refuse them where it is not for rounding."""
    largest, exact = largest_size(X), True
    if np.isinf(largest):
        _refuse(np.isinf(X), 0, NOT_FINITE)
    for rows in slices(len(X), TILE):
        begin = rows.start
        here, mirror = X[rows, begin:], X[begin:, rows].T
        with np.errstate(over="ignore"):  # two that are huge cancel no more than two that are large
            off = here + mirror
        _refuse(np.isnan(here) != np.isnan(mirror), begin, HALF_MISSING)
        _refuse(np.abs(off) > SKEW_TOLERANCE * largest, begin, NOT_SKEW)
        exact &= not np.nan_to_num(off, copy=False).any()
    return exact


def _refuse(wrong: BoolArray, begin: int, complaint: str) -> None:
    """Refuse the first entry that is wrong, of those from a row and a column on."""
    if wrong.any():
        i, j = np.argwhere(wrong)[0] + begin
        raise InputError(f"margins: the entry ({i}, {j}) {complaint}")
