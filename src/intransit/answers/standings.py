"""All items by strength: rank and its range, strength, and rating, each with its interval."""

import numpy as np

from intransit.answers.answer import FittedTable, is_alone, spread
from intransit.answers.forecast import Standing
from intransit.answers.items import text
from intransit.arrays import FloatArray, IntArray


def find_standings(answer: FittedTable, when: float, level: float = 0.9) -> list[Standing]:
    """Return all items at a time, the strongest first; see `Answer.rank`.

    A rank's range holds the item's place among all items in as many draws as `level` says.
    """
    everybody = np.arange(answer.n_items)
    alone = is_alone(answer, everybody)
    drawn = answer.posterior.strengths(everybody, when)
    drawn[:, alone] = 0.5
    mean, low, high = spread(drawn, level)
    low[alone], high[alone] = 0.0, 1.0
    order = sorted(everybody.tolist(), key=lambda k: (-mean[k], answer.names[k]))
    best, worst = _rank_range(drawn, np.array(order), level)
    best[alone], worst[alone] = 1, answer.n_items
    rating, *ends = spread(answer.posterior.ratings(everybody, when), level)
    seen = answer.seen
    return [
        Standing(
            rank=rank,
            rank_low=min(int(best[k]), rank),
            rank_high=max(int(worst[k]), rank),
            name=answer.names[k],
            strength=float(mean[k]),
            low=float(low[k]),
            high=float(high[k]),
            rating=float(rating[k]),
            rating_low=float(ends[0][k]),
            rating_high=float(ends[1][k]),
            games=float(seen.games[k]),
            last=text(answer, float(seen.last[k])),
        )
        for rank, k in enumerate(order, 1)
    ]


def _rank_range(
    drawn: FloatArray,  # (n_draws, n)
    order: IntArray,  # (n,): best first
    level: float,
) -> tuple[IntArray, IntArray]:  # (n,) each
    """Return the best and the worst rank of each item, rounded outwards; equals keep the order."""
    n = drawn.shape[1]
    ranks = np.empty(drawn.shape, dtype=np.int64)
    places = np.argsort(-drawn[:, order], axis=1, kind="stable")
    np.put_along_axis(ranks, order[places], np.arange(1, n + 1)[None, :], axis=1)
    low = np.quantile(ranks, 0.5 - level / 2, axis=0, method="lower")
    high = np.quantile(ranks, 0.5 + level / 2, axis=0, method="higher")
    return low.astype(np.int64), high.astype(np.int64)
