"""Is this array a margins matrix?  Square, finite, X[j, i] = -X[i, j]; NaN for "not compared"."""

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray
from intransit.core.compiled import compiled
from intransit.core.inputs import as_flag
from intransit.errors import InputError

SKEW, NEARLY_SKEW, NOT_FINITE, HALF_MISSING, NOT_SKEW = range(5)
SKEW_TOLERANCE = 1e-8  # of X + Xᵀ, relative to the largest entry; below it is rounding
TILE = 64  # rows and columns read together, so that an entry and its mirror share the cache


def check_margins(margins: ArrayLike, *, complete: bool = False) -> FloatArray:
    """Return the margins as a float matrix that is exactly skew-symmetric, or refuse them.

    Rounding is averaged out, ``(X − Xᵀ) / 2``, in a copy; an exact matrix is returned as it is.
    NaN says "not compared" and must stand on both sides, unless `complete` asks for all pairs;
    on the diagonal it means the same as 0.
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
    kind, i, j = inspect_margins(X, SKEW_TOLERANCE)
    complaint = {
        NOT_FINITE: "is infinite. Margins are finite; write NaN for a pair never compared.",
        HALF_MISSING: "is missing on one side only. Write NaN in both entries of a pair or fill in"
        " both.",
        NOT_SKEW: "and its mirror do not cancel. Margins are skew-symmetric, X[j, i] = -X[i, j];"
        " pass (X - X.T) / 2 if that is what you mean.",
    }.get(kind)
    if complaint is not None:
        raise InputError(f"margins: the entry ({i}, {j}) {complaint}")
    if np.isnan(X.diagonal()).any():
        X = X.copy()
        np.fill_diagonal(X, 0.0)
    if as_flag("complete", complete) and np.isnan(X.sum()):
        raise InputError(
            "margins: some pairs are missing (NaN). This question needs a complete matrix; fill"
            " the gaps with a fit first."
        )
    return (X - X.T) / 2 if kind == NEARLY_SKEW else X


@compiled
def inspect_margins(margins: FloatArray, tolerance: float) -> tuple[int, int, int]:
    """Return what kind of matrix this is, and the entry that shows it when it is of no use."""
    n_items = margins.shape[0]
    largest = 0.0
    for i in range(n_items):
        for j in range(n_items):
            size = abs(margins[i, j])
            if size == np.inf:
                return NOT_FINITE, i, j
            largest = max(largest, size)
    kind = SKEW
    for top in range(0, n_items, TILE):
        for left in range(top, n_items, TILE):
            for i in range(top, min(top + TILE, n_items)):
                for j in range(max(left, i), min(left + TILE, n_items)):
                    here, mirror = margins[i, j], margins[j, i]
                    if np.isnan(here) != np.isnan(mirror):
                        return HALF_MISSING, i, j
                    if abs(here + mirror) > tolerance * largest:
                        return NOT_SKEW, i, j
                    if here + mirror != 0.0 and not np.isnan(here):
                        kind = NEARLY_SKEW
    return kind, 0, 0
