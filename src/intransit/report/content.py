"""The content of a report: words, numbers and arrays, nothing of how they are shown.

*Order.*  In the strongest plane of the margins each item has an angle and is favoured over those
that follow it within half a turn.  Items are shown in order of that angle, beginning where most
chances above the diagonal are above a half: a ranking is then shown as a ranking, and a circle as
the band that it is.  Without cycles the order is that of strengths.

*Discs.*  The planes of what strengths do not explain: the margins less differences of their row
means, C = H X H with H = 1 - 11ᵀ/n.  In a plane the areas give C_ij = p_i × p_j, summed over
planes.  The planes of X itself would mix strengths in, and those of a ranking are no circles.
"""

from dataclasses import dataclass

import numpy as np

from intransit.analysis.results import Changes, Cycles, Ranking, Standing
from intransit.analysis.verdict import Transitivity
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.study import Plane, canonical_planes, decompose


@dataclass(frozen=True)
class Step:
    """One rung of the ladder of models, and how well it predicted the latest games."""

    name: str
    log_loss: float
    log_loss_error: float
    gain: float  # over the rung that it is measured by
    gain_error: float
    accuracy: float
    note: str


@dataclass(frozen=True)
class Fact:
    """One of the three that are told first: what it is about, the answer, and how sure it is."""

    title: str
    value: str
    detail: str


@dataclass(frozen=True, eq=False)
class Disc:
    """One plane of what strengths do not explain, over time: who counters whom, as points.

    The part of the margins beyond strengths is the sum over planes of x_i y_j - y_i x_j.
    """

    share: float  # of what strengths do not explain, as mean square of margins at the last time
    points: FloatArray  # (n_times, n_shown, 2); each is favoured over those anticlockwise of it


@dataclass(frozen=True, eq=False)
class Findings:
    """What a report says.  Items that are shown come in an order that brings out structure."""

    source: str
    headline: str  # the verdict in one sentence
    sentences: tuple[str, ...]  # what was found, three of them
    facts: tuple[Fact, ...]  # the three most useful ones
    verdict: Transitivity
    standings: tuple[Standing, ...]  # of all items at the end, the strongest first
    still: tuple[bool, ...]  # whether each of them was still being compared at the end
    names: tuple[str, ...]  # shown items, in order of structure
    n_items: int  # all of them
    why_shown: str  # which items are shown; empty if all are
    times: tuple[str, ...]  # of the slider, oldest first; one empty text if the table has no times
    chances: FloatArray  # (n_times, n_shown, n_shown): row beats column; a half on the diagonal
    low: FloatArray  # (n_times, n_shown, n_shown): 90 % interval of the chance
    high: FloatArray
    future: tuple[str, ...]  # later times
    future_chances: FloatArray  # (n_future, n_shown, n_shown)
    future_low: FloatArray
    future_high: FloatArray
    present: BoolArray  # (n_times, n_shown): whether an item was being compared about then
    games: FloatArray  # (n_shown, n_shown): games of each pair
    wins: FloatArray  # (n_shown, n_shown): of them won by the row
    ties: FloatArray  # (n_shown, n_shown): of them tied; where ties are not kept apart, half a win
    together: IntArray  # (n_shown,): number of the group that comparisons connect an item with
    strengths: FloatArray  # (n_shown, n_times): mean probability of beating the others
    strengths_low: FloatArray
    strengths_high: FloatArray
    discs: tuple[Disc, ...]
    cycles: Cycles
    changes: Changes | None  # None where there is one time, or none
    ranking: Ranking
    ladder: tuple[Step, ...]
    ladder_notes: tuple[str, ...]
    data: tuple[str, ...]  # what was in the table: rows used and not, columns, span, pools, ...
    story: tuple[str, ...]  # what was chosen, and why
    discs_note: str = ""  # what the discs show, or why there are none


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
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow to load)

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
