"""The nearest ranking, what it loses, and the equilibrium in its place.

An order of the items pays, for each pair that goes against it, the chance above a half of the item
that it puts lower.  The nearest ranking pays least (the linear ordering problem).  Groups that beat
each other in cycles are ordered apart: groups among each other have an order without upsets.  In a
small group all orders are weighed, by subsets; in a larger one an order is improved by moving one
item at a time, from several starts.  Of more than 400 items those that played most are ranked.
"""

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.answers.equilibrium import solve_game, strong_groups
from intransit.answers.found import Ranking, Share, Upset
from intransit.answers.items import busiest, largest_group, present, text
from intransit.answers.order_kernels import GAINED, settle
from intransit.arrays import FloatArray, IntArray
from intransit.core.inputs import as_whole
from intransit.draws import reach_of
from intransit.inference.posterior import Posterior
from intransit.tables.reading import plural

N_GAMES = 100  # draws for which the mixture is worked out
EXACT = 12  # items of a group up to which all orders are weighed
KICKS = 30  # further starts for larger groups
BELONGS = 1e-6  # weight from which an item is in the mixture
NEGLIGIBLE = 0.005  # mean weight below which an item is not listed
MOST_UPSETS = 50
MANY = 100  # items: with more, fewer games are solved
CHUNK = 4_000_000  # margins of draws asked at once


def find_ranking(
    answer: FittedTable,
    at: object = None,
    *,
    level: float = 0.9,
    n: int = N_GAMES,
    rng: int = 0,
) -> Ranking:
    """Return the nearest ranking at a time, and the equilibrium over `n` draws.

    Of the largest group of items that comparisons connect and that were being compared about then,
    those 400 that played most; see `Answer.ranking`.
    """
    reach_of(level)
    n = as_whole("n", n, least=2)
    when = answer.when(at)
    connected = largest_group(answer, present(answer, when))
    items = busiest(answer, connected)
    size = len(items)
    n_pairs = size * (size - 1) // 2
    gains, favoured = _matrices(answer.posterior, items, when)
    order = nearest_order(gains, rng=rng)
    upsets = _upsets(answer, items, order, gains, favoured)
    against = np.triu(gains[np.ix_(order, order)].T, 1)  # of the lower over the higher
    n_upsets = int(np.sum(against > 0.0))
    few = n if size <= MANY else max(n * MANY // size, 20)
    solved = answer.posterior.thinned(few)
    return Ranking(
        at=text(answer, when),
        order=tuple(answer.names[k] for k in items[order]),
        upsets=upsets[:MOST_UPSETS],
        n_pairs=n_pairs,
        n_upsets=n_upsets,
        wrong=n_upsets / n_pairs if n_pairs else 0.0,
        cost=float(np.maximum(against, 0.0).sum()) / n_pairs if n_pairs else 0.0,
        equilibrium=_equilibrium(answer, items, solved, when, level),
        level=level,
        note=_note(answer, len(connected), size),
    )


def _matrices(
    posterior: Posterior, items: IntArray, when: float
) -> tuple[FloatArray, FloatArray]:  # (n_items, n_items) each
    """Return chances above a half, and the probability of being favoured, a part at a time."""
    size, step = len(items), max(CHUNK // len(posterior), 1)
    one, two = np.triu_indices(size, 1)
    gains, favoured = np.zeros((size, size)), np.full((size, size), 0.5)
    for begin in range(0, len(one), step):
        i, j = one[begin : begin + step], two[begin : begin + step]
        drawn = posterior.margins(items[i], items[j], np.full(len(i), when))
        gain = posterior.results(drawn).mean(axis=0) - 0.5
        ahead = (np.sum(drawn > 0.0, axis=0) + 0.5) / (len(drawn) + 1.0)
        gains[i, j], gains[j, i] = gain, -gain
        favoured[i, j], favoured[j, i] = ahead, 1.0 - ahead
    return gains, favoured


def _note(answer: FittedTable, n_connected: int, n_ranked: int) -> str:
    said = []
    left = answer.n_items - n_connected
    if left:
        said.append(
            f"{plural(left, 'item')} left out: not compared about then, or connected with the "
            "others by no comparisons."
        )
    if n_ranked < n_connected:
        said.append(
            f"The {n_ranked} that played most are ranked, of {plural(n_connected, 'item')}."
        )
    return " ".join(said)


def _upsets(
    answer: FittedTable, items: IntArray, order: IntArray, gains: FloatArray, favoured: FloatArray
) -> tuple[Upset, ...]:
    """Return the pairs against an order, the surest first."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    lower, higher = np.nonzero((gains > 0.0) & (place[:, None] > place[None, :]))
    upsets = [
        Upset(
            answer.names[items[i]],
            answer.names[items[j]],
            float(0.5 + gains[i, j]),
            float(favoured[i, j]),
        )
        for i, j in zip(lower, higher, strict=True)
    ]
    upsets.sort(key=lambda u: (-u.probability, -u.chance, u.lower, u.higher))
    return tuple(upsets)


def _equilibrium(
    answer: FittedTable, items: IntArray, draws: Posterior, when: float, level: float
) -> tuple[Share, ...]:
    """Return the mixture that nothing beats, over draws."""
    size = len(items)
    one, two = np.triu_indices(size, 1)
    weights = np.empty((len(draws), size))
    game = np.zeros((size, size))
    margins = draws.margins(items[one], items[two], np.full(len(one), when))
    for k, chances in enumerate(draws.results(margins) - 0.5):
        game[one, two], game[two, one] = chances, -chances
        weights[k] = solve_game(game)
    mean = weights.mean(axis=0)
    low, high = np.quantile(weights, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    often = (weights > BELONGS).mean(axis=0)
    ranks = sorted(range(size), key=lambda k: (-mean[k], answer.names[int(items[k])]))
    return tuple(
        Share(
            answer.names[items[k]],
            float(mean[k]),
            float(low[k]),
            float(high[k]),
            float(often[k]),
        )
        for k in ranks
        if mean[k] >= NEGLIGIBLE
    )


def nearest_order(gains: FloatArray, *, rng: int = 0) -> IntArray:  # (n_items,)
    """Return the order, best first, that pays least for the pairs against it.

    Parameters
    ----------
    gains
        Skew-symmetric: above 0 where the row is favoured, and by how much.
    rng
        Seed of the further starts, for groups of more than 12.

    Examples
    --------
    >>> nearest_order(np.array([[0.0, 2, -1], [-2, 0, 3], [1, -3, 0]])).tolist()
    [0, 1, 2]
    """
    if not len(gains):
        return np.zeros(0, np.int64)
    price = np.maximum(gains, 0.0)  # of putting the row below the column
    label = strong_groups(gains > 0.0)
    groups = [np.flatnonzero(label == k) for k in range(label.max() + 1)]
    strength = gains.mean(axis=1)
    # Between groups all edges point one way, so that wins over other groups order them; groups
    # that are even with each other go by strength.
    beaten = _reach(gains, label)
    groups.sort(key=lambda g: (-beaten[label[g[0]]], -float(strength[g].mean()), int(g[0])))
    parts = []
    for group in groups:
        start = group[np.argsort(-strength[group], kind="stable")]
        inner = price[np.ix_(start, start)]
        if len(group) <= 2:
            parts.append(start)
        elif len(group) <= EXACT:
            parts.append(start[_weigh_all(inner)])
        else:
            parts.append(start[_improve(inner, np.random.default_rng(rng))])
    return np.concatenate(parts)


def _reach(gains: FloatArray, label: IntArray) -> IntArray:  # (n_groups,)
    """Return how many groups each group is above of, by chains of wins."""
    n = int(label.max()) + 1
    above = np.zeros((n, n), bool)
    first, second = np.nonzero(gains > 0.0)
    above[label[first], label[second]] = True
    np.fill_diagonal(above, False)
    reached = above
    while True:
        further = reached | ((reached.astype(np.float32) @ above.astype(np.float32)) > 0)
        if (further == reached).all():
            return np.asarray(reached.sum(axis=1, dtype=np.int64))
        reached = further


def _weigh_all(price: FloatArray) -> IntArray:
    """Return the cheapest order by dynamic programming over the subsets that come first."""
    n = len(price)
    subsets = np.arange(1 << n)
    size = np.bitwise_count(subsets)
    # after[v, S]: what it costs to put v right below all of S.
    after = np.zeros((n, 1 << n))
    for u in range(n):
        after[:, 1 << u : 2 << u] = after[:, : 1 << u] + price[:, u : u + 1]
    best = np.full(1 << n, np.inf)
    best[0] = 0.0
    last = np.zeros(1 << n, np.int64)
    for k in range(n):
        layer = subsets[size == k]
        for v in range(n):
            free = layer[(layer >> v) & 1 == 0]
            grown, cost = free | (1 << v), best[free] + after[v, free]
            better = cost < best[grown] - GAINED
            best[grown[better]], last[grown[better]] = cost[better], v
    order, left = [], (1 << n) - 1
    while left:
        order.append(int(last[left]))
        left ^= 1 << order[-1]
    return np.array(order[::-1])


def _improve(price: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return a cheap order: moves of single items until none helps, from several starts."""
    n = len(price)
    best = np.arange(n)
    cost = settle(price, best)
    for _ in range(KICKS if n <= MANY else 3):
        begin = int(rng.integers(0, n - 2))
        end = min(begin + int(rng.integers(3, max(n // 3, 4) + 1)), n)
        kicked = best.copy()
        kicked[begin:end] = rng.permutation(kicked[begin:end])
        paid = settle(price, kicked)
        if paid < cost - GAINED:
            best, cost = kicked, paid
    return best
