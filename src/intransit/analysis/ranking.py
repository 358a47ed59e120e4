"""Items by strength, the nearest ranking, what it loses, and the equilibrium in its place.

A question is about items that were being compared about a time, and connected.  Everybody is
measured against the same panel, some thousand items at a time.  Of a large answer the
leaderboard at its end is kept, so that a page of it is a slice.

A cyclic table has, in place of a best item, a mixture that nothing beats on average.  Two players
each choose an item, and the winner's gain is its chance of winning less a half,

    M_ij = P(i beats j) - ½,      Mᵀ p ≥ 0,  p ≥ 0,  Σ p = 1.

Such a p always exists (von Neumann); it is known as maximal lottery and as Nash average.  Where one
item beats all others it has all the weight; rock, paper and scissors have a third each.  It lies
within the top cycle (Smith set): the smallest set of items that beat all others.

An order of the items pays, for each pair that goes against it, the chance above a half of the item
that it puts lower.  The nearest ranking pays least (the linear ordering problem).  Groups that beat
each other in cycles are ordered apart: groups among each other have an order without upsets.  In a
small group all orders are weighed, by subsets; in a larger one an order is improved by moving one
item at a time, from several starts.  Of more than 400 items those that played most are ranked.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from intransit.analysis.fitted_table import FittedTable, is_alone, spread
from intransit.analysis.order_kernels import GAINED, settle
from intransit.analysis.results import Ranking, Share, Standing, Upset
from intransit.analysis.stored import Leaderboard
from intransit.arrays import BoolArray, FloatArray, IntArray, slices
from intransit.checks import as_whole
from intransit.data.reading import plural
from intransit.inference.draws import reach_of
from intransit.inference.posterior import Posterior
from intransit.skew import fill_skew

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


def busiest(answer: FittedTable, items: IntArray, most: int = MOST_ITEMS) -> IntArray:
    """Return those of some items that played most, in the order they came in."""
    order = np.argsort(-answer.seen.games[items], kind="stable")
    return np.asarray(items[np.sort(order[:most])])


def connected_at_the_end(answer: FittedTable) -> IntArray:
    """Return the largest group of items that are there at the end, those that played most first."""
    items = largest_group(answer, present(answer, answer.seen.end))
    return np.asarray(items[np.argsort(-answer.seen.games[items], kind="stable")])


def text(answer: FittedTable, when: float) -> str:
    """Return a time in words; nothing where the table has no times.

    The middle of a moment of several whole days is named by its day.
    """
    if answer.encoding.whole_days and answer.encoding.step > 1.0:
        when = float(np.floor(when))
    return "" if answer.clock.kind == "none" else answer.clock.to_text(when)


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
    for here in slices(n, AT_ONCE):
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
    for here in slices(n, AT_ONCE):
        some = ranks[:, here]
        low[here] = np.quantile(some, 0.5 - level / 2, axis=0, method="lower")
        high[here] = np.quantile(some, 0.5 + level / 2, axis=0, method="higher")
    return low, high


TINY = 1e-9  # weights and prices below it are rounding
SLACK = 1e-7  # by which an item may beat the mixture, in parts of the largest gain


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


def solve_game(gains: FloatArray, *, pivots: int = 20) -> FloatArray:  # (n_items,)
    """Return the mixture of items that none beats on average, for skew-symmetric gains.

    After so many `pivots` an item, far more than are usual, a slower method is asked.

    Examples
    --------
    >>> biased = np.array([[0.0, 1, -2], [-1, 0, 3], [2, -3, 0]])
    >>> solve_game(biased).round(4).tolist()
    [0.5, 0.3333, 0.1667]
    """
    weights = np.zeros(len(gains))
    top = top_cycle(gains)
    weights[top] = _solve(gains[np.ix_(top, top)], pivots)
    return weights


def _solve(gains: FloatArray, pivots: int) -> FloatArray:
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
    raw = np.maximum(_pivot(positive, pivots * n), 0.0)
    weights = raw / max(raw.sum(), TINY)
    if not raw.any() or float((weights @ gains).min()) < -SLACK * scale:  # slower and surer
        from scipy.optimize import linprog  # noqa: PLC0415  (slow to load, and rarely needed)

        found = linprog(np.ones(n), A_ub=-positive.T, b_ub=-np.ones(n), method="highs")
        raw = np.maximum(np.asarray(found.x, dtype=float), 0.0)
        weights = raw / raw.sum()
    return np.asarray(weights)


def _pivot(positive: FloatArray, most: int) -> FloatArray:  # (n_items,)
    """Return y ≥ 0 of the largest sum with ``positive @ y ≤ 1``: the simplex method on a table.

    The game is the same for both players, so that the second one's answer is the first one's too.
    """
    n = len(positive)
    table = np.hstack([positive, np.eye(n), np.ones((n, 1))])
    prices = np.concatenate([np.ones(n), np.zeros(n + 1)])
    basis = np.arange(n, 2 * n)
    for _ in range(most):
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


N_GAMES = 100  # draws for which the mixture is worked out
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
    most_items: int = MOST_ITEMS,
) -> Ranking:
    """Return the nearest ranking at a time, and the equilibrium over `n` draws.

    Of the largest group of items that comparisons connect and that were being compared about then,
    those that played most; see `Answer.ranking`.
    """
    reach_of(level)
    n = as_whole("n", n, least=2)
    when = answer.when(at)
    connected = largest_group(answer, present(answer, when))
    items = busiest(answer, connected, most_items)
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
    posterior: Posterior, items: IntArray, when: float, at_once: int = CHUNK
) -> tuple[FloatArray, FloatArray]:  # (n_items, n_items) each
    """Return chances above a half, and the probability of being favoured, a part at a time."""
    size = len(items)
    one, two = np.triu_indices(size, 1)
    gains, favoured = np.zeros((size, size)), np.full((size, size), 0.5)
    for here in slices(len(one), at_once // len(posterior)):
        i, j = one[here], two[here]
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
    gains = draws.results(draws.upper_margins(items, when)) - 0.5
    weights = np.array([solve_game(fill_skew(one, size)) for one in gains])
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


def nearest_order(gains: FloatArray, *, rng: int = 0, exact: int = 12) -> IntArray:  # (n_items,)
    """Return the order, best first, that pays least for the pairs against it.

    Parameters
    ----------
    gains
        Skew-symmetric: above 0 where the row is favoured, and by how much.
    rng
        Seed of the further starts, for larger groups.
    exact
        Items of a group up to which all orders are weighed, in a tenth of a second for 12.

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
        elif len(group) <= exact:
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
