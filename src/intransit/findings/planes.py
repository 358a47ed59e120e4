"""Order of the items, and the discs: what is seen of structure in a matrix.

*Order.*  In the strongest plane of the margins each item has an angle and is favoured over those
that follow it within half a turn.  Items are shown in order of that angle, beginning where most
chances above the diagonal are above a half: a ranking is then shown as a ranking, and a circle as
the band that it is.  Without cycles the order is that of strengths.

*Discs.*  The planes of what strengths do not explain: the margins less differences of their row
means, C = H X H with H = 1 - 11ᵀ/n.  In a plane the areas give C_ij = p_i × p_j, summed over
planes.  The planes of X itself would mix strengths in, and those of a ranking are no circles.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.findings.content import Disc
from intransit.study import Plane, canonical_planes, decompose

MOST_DISCS = 3
LEAST_SHARE = 0.02  # of the mean square of the margins
SPARE = 3  # planes more than are shown, that a plane may be found among at another time


def order_by_strength(strengths: FloatArray, pool: IntArray) -> IntArray:
    """Return the order of items: pool after pool, the strongest first."""
    return np.lexsort((np.arange(len(pool)), -strengths, pool))


def order_around(margins: FloatArray, chances: FloatArray, pool: IntArray) -> IntArray:
    """Return the order of items that shows structure, pool after pool; see the module."""
    parts = []
    for number in np.unique(pool):
        items = np.flatnonzero(pool == number)
        X, ahead = (square[np.ix_(items, items)] for square in (margins, chances - 0.5))
        plane = canonical_planes(X, 1)
        if not plane:
            parts.append(items)
            continue
        order = np.argsort(plane[0].angles, kind="stable")
        turns = [np.roll(order, -k) for k in range(len(order))]
        best = max(turns, key=lambda turn: float(np.triu(ahead[np.ix_(turn, turn)]).sum()))
        parts.append(items[best])
    return np.concatenate(parts)


def cyclic_parts(margins: FloatArray, together: BoolArray) -> FloatArray:  # (n_times, n, n)
    """Return margins less what strengths explain; nothing between items that never met."""
    parts = []
    for X in margins:
        known = np.where(together, X, np.nan)
        parts.append(np.nan_to_num(decompose(known).cyclic, nan=0.0))
    return np.array(parts)


def draw_discs(
    margins: FloatArray,  # (n_times, n, n)
    together: BoolArray,  # (n, n)
) -> tuple[Disc, ...]:
    """Return the planes that matter at the last time, followed back through all the others."""
    parts = cyclic_parts(margins, together)
    whole = float(np.sum(np.where(together, margins[-1], 0.0) ** 2))
    if whole == 0.0:
        return ()
    share = float(np.sum(parts[-1] ** 2)) / whole
    kept = [
        plane
        for plane in canonical_planes(parts[-1], MOST_DISCS)
        if plane.share * share > LEAST_SHARE
    ]
    if not kept:
        return ()
    points = np.empty((len(kept), len(parts), margins.shape[1], 2))
    points[:, -1] = [plane.coordinates for plane in kept]
    for k in range(len(parts) - 2, -1, -1):
        there = canonical_planes(parts[k], len(kept) + SPARE)
        points[:, k] = _follow(points[:, k + 1], there)
    return tuple(Disc(plane.share, points[c]) for c, plane in enumerate(kept))


def _follow(later: FloatArray, there: tuple[Plane, ...]) -> FloatArray:  # (n_planes, n, 2)
    """Return the planes of an earlier time that are most like these, turned to agree with them.

    A plane may be turned, not mirrored: that would turn round who is favoured.
    """
    out = np.zeros_like(later)
    if not there:
        return out
    turned = [[_turn(plane.coordinates, points) for plane in there] for points in later]
    alike = np.array(
        [
            [float(np.sum(one * points)) for one in row]
            for row, points in zip(turned, later, strict=True)
        ]
    )
    for c, best in zip(*linear_sum_assignment(-alike), strict=True):
        out[c] = turned[c][best]
    return out


def _turn(points: FloatArray, towards: FloatArray) -> FloatArray:  # (n, 2)
    """Return points turned about the centre to lie as near to others as they can."""
    along = float(np.sum(points * towards))
    across = float(np.sum(points[:, 0] * towards[:, 1] - points[:, 1] * towards[:, 0]))
    size = float(np.hypot(along, across))
    if size == 0.0:
        return points
    cosine, sine = along / size, across / size
    return np.asarray(points @ np.array([[cosine, sine], [-sine, cosine]]))
