"""Orders of items that pay little for the pairs against them, and cycles, in compiled loops."""

import numba as nb
import numpy as np

from intransit.arrays import FloatArray, IntArray

GAINED = 1e-12  # less is rounding


@nb.njit(cache=True, nogil=True)
def settle(price: FloatArray, order: IntArray) -> float:
    """Move single items to where they cost least until none moves; return what is still paid.

    `price[i, j]` is paid where i stands below j; `order` is changed in place.
    """
    n = len(order)
    moved = True
    while moved:
        moved = False
        for item in order.copy():
            here = 0
            while order[here] != item:
                here += 1
            least, there, change = -GAINED, here, 0.0
            for k in range(here - 1, -1, -1):
                change += price[order[k], item] - price[item, order[k]]
                if change < least:
                    least, there = change, k
            change = 0.0
            for k in range(here + 1, n):
                change += price[item, order[k]] - price[order[k], item]
                if change < least:
                    least, there = change, k
            if there == here:
                continue
            moved = True
            step = 1 if there > here else -1
            for k in range(here, there, step):
                order[k] = order[k + step]
            order[there] = item
    paid = 0.0
    for k in range(1, n):
        for above in range(k):
            paid += price[order[k], order[above]]
    return paid


@nb.njit(cache=True, nogil=True)
def least_paid(gains: FloatArray, least: float) -> FloatArray:  # (n_matrices,)
    """Return what a near ranking of each skew-symmetric matrix pays for the pairs against it.

    A pair pays what its gain exceeds `least` by: nothing is paid if and only if no cycle of gains
    above that is there.  From the order by mean gain, single items are moved.
    """
    out = np.empty(len(gains))
    for k in range(len(gains)):
        out[k] = settle(np.maximum(gains[k] - least, 0.0), np.argsort(-gains[k].sum(axis=1)))
    return out


@nb.njit(cache=True, nogil=True)
def widest_cycle(values: FloatArray) -> float:
    """Return the largest number such that edges of at least as much lead round some cycle."""
    wide = values.copy()
    n = len(wide)
    for i in range(n):
        wide[i, i] = -np.inf
    for k in range(n):
        for i in range(n):
            for j in range(n):
                both = min(wide[i, k], wide[k, j])
                wide[i, j] = max(wide[i, j], both)
    best = -np.inf
    for i in range(n):
        best = max(best, wide[i, i])
    return best
