"""All items by strength: rank and its range, strength, and rating, each with its interval.

Everybody is measured against the same panel, some thousand items at a time.  Of a large answer the
leaderboard at its end is kept, so that a page of it is a slice.
"""

from collections.abc import Iterator

import numpy as np

from intransit.answers.answer import FittedTable, is_alone, spread
from intransit.answers.forecast import Standing
from intransit.answers.items import text
from intransit.answers.stored import Leaderboard
from intransit.arrays import FloatArray, IntArray

LEVEL = 0.9
AT_ONCE = 20_000  # items that are measured at once


def find_standings(
    answer: FittedTable,
    when: float,
    level: float = LEVEL,
    *,
    begin: int = 1,
    most: int | None = None,
    since: float | None = None,
) -> list[Standing]:
    """Return items at a time, the strongest first; see `Answer.rank`.

    A rank's range holds the item's place among all items in as many draws as `level` says.
    """
    board = leaderboard(answer, when, level)
    places = np.arange(begin - 1, len(board))
    if since is not None:
        places = places[answer.seen.last[board.order[places]] >= since]
    return page(answer, board, places[:most])


def page(answer: FittedTable, board: Leaderboard, places: IntArray) -> list[Standing]:
    """Return some places of a leaderboard, counted from 0, in full."""
    seen = answer.seen
    return [
        Standing(
            rank=k + 1,
            rank_low=min(int(board.best[k]), k + 1),
            rank_high=max(int(board.worst[k]), k + 1),
            name=answer.names[board.order[k]],
            strength=float(board.strength[k]),
            low=float(board.low[k]),
            high=float(board.high[k]),
            rating=float(board.rating[k]),
            rating_low=float(board.rating_low[k]),
            rating_high=float(board.rating_high[k]),
            games=float(seen.games[board.order[k]]),
            last=text(answer, float(seen.last[board.order[k]])),
        )
        for k in places.tolist()
    ]


def leaderboard(answer: FittedTable, when: float, level: float = LEVEL) -> Leaderboard:
    """Return all items at a time: what is kept, or worked out."""
    if answer.board is not None and level == LEVEL and when == answer.seen.end:
        return answer.board
    n = answer.n_items
    alone = is_alone(answer, np.arange(n))
    drawn: FloatArray = np.empty((0, n))
    strengths, ratings = np.empty((3, n)), np.empty((3, n))
    for here in _parts(n):
        items = np.arange(here.start, here.stop)
        some = answer.posterior.strengths(items, when)
        some[:, alone[here]] = 0.5
        strengths[:, here] = spread(some, level)
        ratings[:, here] = spread(answer.posterior.ratings(items, when), level)
        if not len(drawn):
            drawn = np.empty((len(some), n))
        drawn[:, here] = some
    strengths[1, alone], strengths[2, alone] = 0.0, 1.0
    by_name = answer.by_name
    order = by_name[np.argsort(-strengths[0, by_name], kind="stable")]
    best, worst = _rank_range(drawn, order, level)
    best[alone], worst[alone] = 1, n
    strength, low, high = strengths[:, order]
    rating, rating_low, rating_high = ratings[:, order]
    return Leaderboard(
        order, strength, low, high, best[order], worst[order], rating, rating_low, rating_high
    )


def _parts(n: int) -> Iterator[slice]:
    for begin in range(0, n, AT_ONCE):
        yield slice(begin, min(begin + AT_ONCE, n))


def _rank_range(
    drawn: FloatArray,  # (n_draws, n)
    order: IntArray,  # (n,): best first
    level: float,
) -> tuple[IntArray, IntArray]:  # (n,) each
    """Return the best and the worst rank of each item, rounded outwards; equals keep the order."""
    n = drawn.shape[1]
    ranks = np.empty(drawn.shape, dtype=np.int32)
    for one, rank in zip(drawn, ranks, strict=True):
        rank[order[np.argsort(-one[order], kind="stable")]] = np.arange(1, n + 1)
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    for here in _parts(n):
        some = ranks[:, here]
        low[here] = np.quantile(some, 0.5 - level / 2, axis=0, method="lower")
        high[here] = np.quantile(some, 0.5 + level / 2, axis=0, method="higher")
    return low, high
