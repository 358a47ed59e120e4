"""Series: games of the same two that follow each other, and so may share more than their strengths.

A best of five on one evening, three days of a team's visit, one question judged by five people:
such games agree with each other more than the two items' strengths say.  They count as one
observation where that matters.
"""

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray


def in_order(
    first: IntArray, second: IntArray, outcomes: FloatArray, counts: FloatArray
) -> IntArray | None:  # (n,)
    """Return the series of rows that have no times: those of one pair one after another.

    None where the order of rows is the table's own and says nothing of series: where all rows of
    every pair stand together, or of every pair one way round, or with one result; or where a row
    stands for several games.
    """
    if (counts != 1.0).any():
        return None
    pair = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
    result = np.where(first <= second, outcomes, 1.0 - outcomes)
    for told in (pair, np.stack([first, second], axis=1), np.column_stack([pair, result])):
        if int(_new(told).sum()) == len(np.unique(told, axis=0)):
            return None
    return np.cumsum(_new(pair)) - 1


def _new(rows: IntArray | FloatArray) -> BoolArray:  # (n,)
    """Return where a row differs from the one before it."""
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def in_time(first: IntArray, second: IntArray, times: FloatArray) -> IntArray:  # (n,)
    """Return the series of rows with times, numbered by pair and then by time.

    Games of a pair at one time are one series; so are those of successive times, as long as neither
    of the two met anybody else from the one time to the other.
    """
    axis, when = np.unique(times, return_inverse=True)
    n_items, n_times = int(max(first.max(), second.max())) + 1, len(axis)
    pairs = np.minimum(first, second) * n_items + np.maximum(first, second)
    distinct, pair = np.unique(pairs, return_inverse=True)
    meetings, meeting, n_games = np.unique(
        pair * n_times + when, return_inverse=True, return_counts=True
    )
    owner, moment = meetings // n_times, meetings % n_times
    busy = np.sort(np.concatenate([first * n_times + when, second * n_times + when]))
    later = np.flatnonzero(owner[1:] == owner[:-1]) + 1
    goes_on = np.ones(len(later), dtype=bool)
    for item in (distinct[owner[later]] // n_items, distinct[owner[later]] % n_items):
        begin = np.searchsorted(busy, item * n_times + moment[later - 1], side="left")
        end = np.searchsorted(busy, item * n_times + moment[later], side="right")
        goes_on &= end - begin == n_games[later - 1] + n_games[later]
    new = np.ones(len(meetings), dtype=bool)
    new[later[goes_on]] = False
    return np.asarray((np.cumsum(new) - 1)[meeting])
