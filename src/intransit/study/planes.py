"""The canonical planes of a margins matrix: the circles it is a sum of.

Every skew-symmetric matrix is a sum of at most N / 2 planes,

    X = Σ_c ω_c (u_c v_cᵀ − v_c u_cᵀ),        ω_1 ≥ ω_2 ≥ ... > 0,  all u_c, v_c orthonormal.

In a plane each item is a point √ω (u_i, v_i), with an angle and a radius, and

    X_ij = Σ_c radius_i radius_j sin(angle_j − angle_i):

an item is favoured over those that follow it anticlockwise within half a turn, most over those
a quarter turn ahead, and the more, the further out the two lie.

How they are computed is in `intransit.skew`.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from intransit.arrays import FloatArray
from intransit.checks import as_whole
from intransit.errors import InputError
from intransit.skew import canonical_form, check_margins, factor_core

EQUAL_RADII = 1e-9  # radii closer than this, relatively, take the smaller index


@dataclass(frozen=True, eq=False)
class Plane:
    """One plane of a margins matrix, turned so that the item furthest out lies at angle 0."""

    strength: float  # ω, the size of the plane; 2 ω² of the sum of squares
    first_axis: FloatArray  # (n_items,), u, of length 1
    second_axis: FloatArray  # (n_items,), v, of length 1, at a right angle to u
    share: float  # of the sum of squares of the whole matrix

    @property
    def coordinates(self) -> FloatArray:  # (n_items, 2)
        """Where each item lies; the margin of i over j is twice the area of (0, i, j)."""
        return np.column_stack((self.first_axis, self.second_axis)) * sqrt(self.strength)

    @property
    def angles(self) -> FloatArray:  # (n_items,)
        """Angles in radians, anticlockwise, in (−π, π]; without meaning where the radius is 0."""
        return np.arctan2(self.second_axis, self.first_axis)

    @property
    def radii(self) -> FloatArray:  # (n_items,)
        """How far from the centre each item lies."""
        return np.hypot(self.first_axis, self.second_axis) * sqrt(self.strength)

    @property
    def margins(self) -> FloatArray:  # (n_items, n_items)
        """What this plane adds to the margins."""
        half = np.outer(self.strength * self.first_axis, self.second_axis)
        return half - half.T


def canonical_planes(margins: FloatArray, n_planes: int | None = None) -> tuple[Plane, ...]:
    """Return the planes of a complete margins matrix, the strongest first.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items), nothing missing.
    n_planes
        Keep at most so many; the shares still refer to the whole matrix.

    Returns
    -------
    tuple of Plane
        Planes with a strength above rounding: half the rank of the matrix, none for zeros.

    Notes
    -----
    Two planes of equal strength are not unique, only their sum is; the result is then one valid
    choice.  Cost: one reduction to tridiagonal form, O(N³): about a second at N = 2,000
    and half a minute at 5,000, few planes or many.  For a fitted model use `factor_planes`.

    Examples
    --------
    >>> rock_paper_scissors = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> (plane,) = canonical_planes(rock_paper_scissors)
    >>> np.degrees(plane.angles).round().tolist()
    [0.0, -120.0, 120.0]
    >>> bool(np.allclose(plane.margins, rock_paper_scissors))
    True
    """
    X = check_margins(margins, complete=True)
    _check_n_planes(n_planes)
    return _planes_within(None, X, n_planes)


def factor_planes(
    strengths: FloatArray,  # (n_items, n_factors)
    exposures: FloatArray,  # (n_items, n_factors)
    n_planes: int | None = None,
) -> tuple[Plane, ...]:
    """Return the planes of ``X = S Qᵀ − Q Sᵀ`` from its factors, without building X.

    With ``[S Q] = W R``, W orthonormal, ``X = W (R J Rᵀ) Wᵀ``: the planes of a matrix of size
    2 n_factors, carried over by W.  Memory and time are linear in the number of items.

    Parameters
    ----------
    strengths, exposures
        S and Q, as `recover` returns them or any others.
    n_planes
        Keep at most so many; the shares still refer to the whole matrix.

    Examples
    --------
    >>> scores = np.array([[3.0], [1.0], [0.0]])
    >>> (plane,) = factor_planes(scores, np.ones((3, 1)))
    >>> plane.margins.round(12).tolist()
    [[0.0, 2.0, 3.0], [-2.0, 0.0, 1.0], [-3.0, -1.0, 0.0]]
    """
    S, Q = np.asarray(strengths, np.float64), np.asarray(exposures, np.float64)
    _check_factors(S, Q)
    _check_n_planes(n_planes)
    return _planes_within(*factor_core(S, Q), n_planes)


def _planes_within(
    basis: FloatArray | None,  # (n_items, size), orthonormal columns; None for the identity
    core: FloatArray,  # (size, size), skew-symmetric
    n_planes: int | None,
) -> tuple[Plane, ...]:
    """Return the planes of ``basis core basisᵀ``."""
    omegas, firsts, seconds = canonical_form(core, basis)
    if not omegas.any():
        return ()
    kept = int(np.sum(omegas > core.shape[0] * np.finfo(np.float64).eps * omegas[0]))
    if n_planes is not None:
        kept = min(kept, n_planes)
    shares = (omegas / omegas[0]) ** 2
    shares /= shares.sum()
    return tuple(
        Plane(float(omegas[c]), *_settle(firsts[:, c], seconds[:, c]), share=float(shares[c]))
        for c in range(kept)
    )


def _settle(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the axes turned within their plane so that the item furthest out lies at angle 0."""
    radii = np.hypot(first, second)
    lead = int(np.argmax(radii >= (1 - EQUAL_RADII) * radii.max()))
    cosine, sine = first[lead] / radii[lead], second[lead] / radii[lead]
    settled = cosine * second - sine * first
    settled[lead] = 0.0  # exactly, so that its angle is 0 and not a rounding error
    return cosine * first + sine * second, settled


def _check_factors(S: FloatArray, Q: FloatArray) -> None:
    if S.ndim != 2 or S.shape != Q.shape:
        raise InputError(
            f"factors: found strengths of shape {S.shape} and exposures of shape {Q.shape}. Pass"
            " two matrices of the same shape, (n_items, n_factors)."
        )
    if not (np.isfinite(S).all() and np.isfinite(Q).all()):
        raise InputError("factors: some entries are not finite. Fit again or drop these items.")


def _check_n_planes(n_planes: int | None) -> None:
    if n_planes is not None:
        as_whole("n_planes", n_planes, least=0)
