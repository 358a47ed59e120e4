"""How good forecasts were, each measure with a standard error.

Games of one cluster c (a day) may depend on each other, clusters do not.  With weights w (games
that a row stands for) the mean m = Σ w v / Σ w has the standard error

    se²  =  C / (C - 1) · Σ_c (Σ_{rows of c} w (v - m))² / (Σ w)²

for C clusters, or that of games by themselves, Σ w (v - m)² / (Σ w)², if it is larger: a few large
days may agree by luck.  For a gain v is the difference of two losses of the same game.
It says how far the mean would move were the same models to forecast other days.
"""

from dataclasses import dataclass

import numpy as np

from intransit.arrays import FloatArray, IntArray

CLIP = 1e-4  # no forecast is taken as surer than this
N_BINS = 10
FEWEST_GAMES = 20  # of a group, to compare its share of wins with an interval
MOST_GROUPS = 20  # of forecasts alike in size
LEVEL = 0.9
REACH = 1.6448536269514722  # standard deviations on either side of a 90 % interval


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often favourites won, by how strongly they were favoured."""

    forecast: FloatArray  # (n_bins,): mean probability of the favourites
    observed: FloatArray  # (n_bins,): share of games that they won, ties as half
    error: FloatArray  # (n_bins,): standard error of the difference
    games: FloatArray  # (n_bins,)
    expected_error: float  # mean distance of the two, over games
    expected_error_error: float
    by_chance: float  # what a perfect forecaster would show, by the luck of so many games


@dataclass(frozen=True)
class Coverage:
    """How many groups of games came out within the intervals that were stated for them."""

    groups: str  # in words
    level: float
    n_groups: int
    share: float
    error: float


def log_losses(p: FloatArray, y: FloatArray) -> FloatArray:
    """Return the cross entropy of results 1, 0, or 0.5 for a tie."""
    p = np.clip(p, CLIP, 1.0 - CLIP)
    return np.asarray(-(y * np.log(p) + (1.0 - y) * np.log1p(-p)))


def hits(p: FloatArray, y: FloatArray) -> FloatArray:
    """Return the result of the favourite; without one, a half."""
    return np.where(p == 0.5, 0.5, np.where(p > 0.5, y, 1.0 - y))


def mean_and_error(
    values: FloatArray, weights: FloatArray, clusters: IntArray
) -> tuple[float, float]:
    """Return a mean and its standard error; NaN where one cluster is all there is."""
    total = weights.sum()
    if total == 0:
        return float("nan"), float("nan")
    mean = float(weights @ values / total)
    there, number = np.unique(clusters, return_inverse=True)
    sums = np.bincount(number, weights * (values - mean))
    n = len(there)
    if n < 2:
        return mean, float("nan")
    together = n / (n - 1) * np.sum(sums**2)
    alone = np.sum(weights**2 / _games(weights) * (values - mean) ** 2)
    return mean, float(np.sqrt(max(together, alone)) / total)


def reliability(
    p: FloatArray, y: FloatArray, weights: FloatArray, clusters: IntArray
) -> Reliability:
    """Return how often favourites won, by how strongly they were favoured."""
    favoured = np.maximum(p, 1.0 - p)
    won = hits(p, y)
    bins = np.minimum(((favoured - 0.5) * 2 * N_BINS).astype(np.int64), N_BINS - 1)
    rows = []
    for k in np.unique(bins):
        here = bins == k
        w = weights[here]
        forecast = float(np.average(favoured[here], weights=w))
        gap, error = mean_and_error(won[here] - favoured[here], w, clusters[here])
        # A few games may agree by luck: so many spread as much as this.
        least = np.sqrt(forecast * (1.0 - forecast) * np.sum(w**2 / _games(w))) / w.sum()
        rows.append((forecast, forecast + gap, max(np.nan_to_num(error), least), w.sum()))
    forecasts, observed, errors, games = np.array(rows).T
    share = games / games.sum()
    return Reliability(
        forecast=forecasts,
        observed=observed,
        error=errors,
        games=games,
        expected_error=float(share @ np.abs(observed - forecasts)),
        expected_error_error=float(np.sqrt(np.sum((share * errors) ** 2))),
        by_chance=float(np.sqrt(2.0 / np.pi) * (share @ errors)),
    )


def _games(weights: FloatArray) -> FloatArray:
    """Return how many games rows stand for: a weight below 1 is one game all the same."""
    return np.maximum(weights, 1.0)


def coverage(
    groups: IntArray,
    p: FloatArray,
    low: FloatArray,
    high: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    what: str,
) -> Coverage | None:
    """Return how many groups of games won as often as the intervals of their forecasts allow.

    A group's share of wins differs from its mean probability by the luck of its games as well; an
    end of the interval lies from the mean forecast at the root of (mean reach of the group's own
    intervals)² + (1.645 √Σ n (y - p)² / Σ n)².  Errors inside a group are taken as shared.
    """
    inside, n = 0, 0
    for k in np.unique(groups):
        here = np.flatnonzero(groups == k)
        w = weights[here]
        if w.sum() < FEWEST_GAMES:
            continue
        middle, observed = (float(np.average(v[here], weights=w)) for v in (p, y))
        luck = REACH * float(np.sqrt(np.sum(((w * (y - p)[here]) ** 2) / _games(w))) / w.sum())
        below = float(np.average((p - low)[here], weights=w))
        above = float(np.average((high - p)[here], weights=w))
        reach = above if observed > middle else below
        inside += abs(observed - middle) <= np.hypot(reach, luck)
        n += 1
    if n == 0:
        return None
    share = inside / n
    return Coverage(what, LEVEL, n, share, float(np.sqrt(max(share * (1 - share), 0.5 / n) / n)))


def alike(p: FloatArray, weights: FloatArray) -> IntArray:  # (n,)
    """Return groups of forecasts alike in size, of about as many games each."""
    n = int(np.clip(weights.sum() / FEWEST_GAMES, 1, MOST_GROUPS))
    order = np.argsort(p, kind="stable")
    below = np.cumsum(weights[order]) - 0.5 * weights[order]
    groups = np.empty(len(p), dtype=np.int64)
    groups[order] = np.minimum((below / weights.sum() * n).astype(np.int64), n - 1)
    return groups
