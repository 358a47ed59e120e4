"""Which items a question is about: those that were being compared about a time, and connected."""

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.arrays import BoolArray, FloatArray, IntArray

ABOUT = 0.1  # of the table's span: how long before and after its games an item counts as there
MOST_ITEMS = 400  # that are ranked, and searched for cycles: those that played most


def games_of(answer: FittedTable, first: IntArray, second: IntArray) -> FloatArray:  # (n,)
    """Return how many games each pair played, in all."""
    seen, n = answer.posterior.layout.seen, answer.n_items
    if not len(seen):  # a part of an answer, of items that never met
        return np.zeros(len(first))
    keys, owner = np.unique(seen.pairs[:, 0] * n + seen.pairs[:, 1], return_inverse=True)
    games = np.bincount(owner, seen.counts)
    wanted = np.minimum(first, second) * n + np.maximum(first, second)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(games[place] * (keys[place] == wanted))


def present(answer: FittedTable, when: float) -> BoolArray:  # (n_items,)
    """Return which items were being compared about a time.

    From a tenth of the table's span before their first game to a tenth after their last one; times
    outside the table count as its nearest.
    """
    seen = answer.seen
    near = float(np.clip(when, seen.begin, seen.end))
    slack = ABOUT * (seen.end - seen.begin)
    return np.asarray((seen.first - slack <= near) & (near <= seen.last + slack))


def largest_group(answer: FittedTable, there: BoolArray) -> IntArray:
    """Return those of some items that comparisons connect: the largest such group of them."""
    items = np.flatnonzero(there)
    if not len(items):
        return items
    groups = answer.posterior.groups[items]
    return np.asarray(items[groups == np.bincount(groups).argmax()])


def busiest(answer: FittedTable, items: IntArray, most: int | None = None) -> IntArray:
    """Return those of some items that played most, at most 400, in the order they came in."""
    order = np.argsort(-answer.seen.games[items], kind="stable")
    return np.asarray(items[np.sort(order[: MOST_ITEMS if most is None else most])])


def connected_at_the_end(answer: FittedTable) -> IntArray:
    """Return the largest group of items that are there at the end, those that played most first."""
    items = largest_group(answer, present(answer, answer.seen.end))
    return np.asarray(items[np.argsort(-answer.seen.games[items], kind="stable")])


def text(answer: FittedTable, when: float) -> str:
    """Return a time in words; nothing where the table has no times."""
    return "" if answer.clock.kind == "none" else answer.clock.to_text(when)
