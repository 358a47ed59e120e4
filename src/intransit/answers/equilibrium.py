"""What a cyclic table has in place of a best item: the mixture that nothing beats on average.

Two players each choose an item, and the winner's gain is its chance of winning less a half,

    M_ij = P(i beats j) - ½,      Mᵀ p ≥ 0,  p ≥ 0,  Σ p = 1.

Such a p always exists (von Neumann); it is known as maximal lottery and as Nash average.  Where one
item beats all others it has all the weight; rock, paper and scissors have a third each.  It lies
within the top cycle (Smith set): the smallest set of items that beat all others.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from intransit.arrays import BoolArray, FloatArray, IntArray

TINY = 1e-9  # weights and prices below it are rounding
SLACK = 1e-7  # by which an item may beat the mixture, in parts of the largest gain
PIVOTS = 20  # an item, before the slower method is asked


def top_cycle(gains: FloatArray) -> IntArray:
    """Return the smallest set of items each of which beats everything outside it.

    Items that are even belong together.
    """
    label = strong_groups(gains >= 0.0)
    # Each of the top group beats all outside it, and nobody outside beats any of them.
    wins = (gains >= 0.0).sum(axis=1)
    return np.flatnonzero(label == label[wins.argmax()])


def strong_groups(beats: BoolArray) -> IntArray:  # (n_items,)
    """Return the number of each item's group, in which wins lead from anybody to anybody."""
    graph = csr_array(beats.astype(np.int8))
    return connected_components(graph, connection="strong")[1].astype(np.int64)


def solve_game(gains: FloatArray) -> FloatArray:  # (n_items,)
    """Return the mixture of items that none beats on average, for skew-symmetric gains.

    Examples
    --------
    >>> biased = np.array([[0.0, 1, -2], [-1, 0, 3], [2, -3, 0]])
    >>> solve_game(biased).round(4).tolist()
    [0.5, 0.3333, 0.1667]
    """
    weights = np.zeros(len(gains))
    top = top_cycle(gains)
    weights[top] = _solve(gains[np.ix_(top, top)])
    return weights


def _solve(gains: FloatArray) -> FloatArray:
    """Return the mixture by linear programming; of three or fewer items by hand."""
    n = len(gains)
    if n == 1:
        return np.ones(1)
    scale = float(np.abs(gains).max())
    if scale == 0.0:
        return np.full(n, 1.0 / n)
    if n == 3:
        share = np.abs([gains[1, 2], gains[2, 0], gains[0, 1]])
        return np.asarray(share / share.sum())
    # A positive game has the same mixtures, and its value needs no unknown of its own.
    positive = gains / scale + 2.0
    raw = np.maximum(_pivot(positive), 0.0)
    weights = raw / max(raw.sum(), TINY)
    if not raw.any() or float((weights @ gains).min()) < -SLACK * scale:  # slower and surer
        from scipy.optimize import linprog  # noqa: PLC0415  (slow to load, and rarely needed)

        found = linprog(np.ones(n), A_ub=-positive.T, b_ub=-np.ones(n), method="highs")
        raw = np.maximum(np.asarray(found.x, dtype=float), 0.0)
        weights = raw / raw.sum()
    return np.asarray(weights)


def _pivot(positive: FloatArray) -> FloatArray:  # (n_items,)
    """Return y ≥ 0 of the largest sum with ``positive @ y ≤ 1``: the simplex method on a table.

    The game is the same for both players, so that the second one's answer is the first one's too.
    """
    n = len(positive)
    table = np.hstack([positive, np.eye(n), np.ones((n, 1))])
    prices = np.concatenate([np.ones(n), np.zeros(n + 1)])
    basis = np.arange(n, 2 * n)
    for _ in range(PIVOTS * n):
        enter = int(prices[:-1].argmax())
        if prices[enter] <= TINY:
            break
        column = table[:, enter]
        ratio = np.divide(table[:, -1], column, out=np.full(n, np.inf), where=column > TINY)
        leave = int(ratio.argmin())
        table[leave] /= column[leave]
        rest = table[:, enter].copy()
        rest[leave] = 0.0
        table -= np.outer(rest, table[leave])
        prices -= prices[enter] * table[leave]
        basis[leave] = enter
    out = np.zeros(2 * n)
    out[basis] = table[:, -1]
    return out[:n]
