"""The nearest ranking, what it loses, and the equilibrium in its place.

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

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import shortest_path

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.standings import (
    MOST_ITEMS,
    busiest,
    largest_group,
    most_played,
    present,
    time_text,
)
from intransit.arrays import CHUNK, LEVEL, FloatArray, IntArray, interval, slices, smoothed
from intransit.checks import as_whole, open_seed
from intransit.data.reading import plural
from intransit.inference.posterior import Posterior, reach_of
from intransit.kernels import GAINED, settle
from intransit.skew import fill_skew
from intransit.study import connected

TINY = 1e-9  # weights and prices below it are rounding
SLACK = 1e-7  # by which an item may beat the mixture, in parts of the largest gain


@dataclass(frozen=True)
class Upset:
    """A pair that goes against the ranking: the lower item is favoured.

    Attributes
    ----------
    lower, higher
        The two items.
    chance
        That lower beats higher.
    probability
        That lower is favoured.
    """

    lower: str
    higher: str
    chance: float
    probability: float


@dataclass(frozen=True)
class Share:
    """An item's weight in the mixture that nothing beats on average.

    Attributes
    ----------
    name
        The item.
    weight
        Its mean over what is not known.
    low, high
        Interval of the weight.
    probability
        That it belongs to the mixture at all.
    """

    name: str
    weight: float
    low: float
    high: float
    probability: float


@dataclass(frozen=True)
class Ranking:
    """The nearest ranking, what it loses, and what a cyclic table has in place of a best item.

    Attributes
    ----------
    at
        The time; empty where the table has none.
    order
        The items, best first.
    upsets
        Pairs against the order, the surest first; at most 50.
    n_pairs, n_upsets
        Number of pairs, and of those against the order.
    wrong
        Share of the pairs whose favourite the ranking puts lower.
    cost
        Mean loss of winning chances, over all pairs, from trusting the ranking.
    equilibrium
        Weights that are not negligible, the largest first.
    level
        Of the intervals of the weights.
    note
        What is left out; often empty.
    """

    at: str
    order: tuple[str, ...]
    upsets: tuple[Upset, ...]
    n_pairs: int
    n_upsets: int
    wrong: float
    cost: float
    equilibrium: tuple[Share, ...]
    level: float
    note: str = ""


def top_cycle(gains: FloatArray) -> IntArray:
    """Return the smallest set of items each of which beats everything outside it.

    Items that are even belong together.

    Parameters
    ----------
    gains
        (n_items, n_items): skew-symmetric; above 0 where the row is favoured, and by how much.

    Returns
    -------
    numpy.ndarray
        The items, by their places, rising.

    Examples
    --------
    >>> gains = np.array([[0.0, 1, -1, 1], [-1, 0, 1, 1], [1, -1, 0, 1], [-1, -1, -1, 0]])
    >>> top_cycle(gains).tolist()
    [0, 1, 2]
    """
    label = connected(np.argwhere(gains >= 0.0), len(gains), "strong")
    # Each of the top group beats all outside it, and nobody outside beats any of them.
    wins = (gains >= 0.0).sum(axis=1)
    return np.flatnonzero(label == label[wins.argmax()])


def solve_game(gains: FloatArray, *, pivots: int = 20) -> FloatArray:  # (n_items,)
    """Return the mixture of items that none beats on average, for skew-symmetric gains.

    Parameters
    ----------
    gains
        (n_items, n_items): skew-symmetric; above 0 where the row is favoured, and by how much.
    pivots
        Pivots for each item, far more than are usual, after which a slower method is asked.

    Returns
    -------
    numpy.ndarray
        (n_items,): weights, which add up to 1.

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


def find_ranking(
    answer: FittedTable,
    at: object = None,
    *,
    level: float = LEVEL,
    n: int = N_GAMES,
    rng: int = 0,
    most_items: int = MOST_ITEMS,
) -> Ranking:
    """Return the nearest ranking, what it loses, and the mixture that nothing beats.

    The nearest ranking pays least for the pairs against it, each at its chance above a half.
    Of items that were being compared about then, the largest group that comparisons connect.

    Parameters
    ----------
    answer
        The answer; as a method, ``answer.ranking()``, the one it is called on.
    at
        The time, by default the last one of the table.
    level
        Of the intervals of the weights.
    n
        Draws for which the mixture is worked out, fewer for more than 100 items.
    rng
        Seed.
    most_items
        Of more items than this, 400 by default, those are ranked that played most.

    Returns
    -------
    Ranking
        ``order``, ``upsets``, ``cost``, ``equilibrium``, and more.

    Raises
    ------
    InputError
        If the time cannot be read, or a number is out of its range.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Games.from_arrays(["rock", "paper", "scissors"] * 20,
    ...                              ["scissors", "rock", "paper"] * 20, [1] * 60)
    >>> answer = it.fit(games, effective=10, seconds=2)
    >>> found = answer.ranking()
    >>> found.n_pairs, found.n_upsets
    (3, 1)
    >>> sorted(one.name for one in found.equilibrium)
    ['paper', 'rock', 'scissors']
    """
    reach_of(level)
    n, seed = as_whole("n", n, least=2), open_seed(rng)
    most_items = as_whole("most_items", most_items, least=2)
    answer = most_played(answer)
    when = answer.when(at)
    connected = largest_group(answer, present(answer, when))
    items = busiest(answer, connected, most_items)
    size = len(items)
    n_pairs = size * (size - 1) // 2
    gains, favoured = _matrices(answer.posterior, items, when)
    order = nearest_order(gains, rng=seed)
    upsets = _upsets(answer, items, order, gains, favoured)
    against = np.triu(gains[np.ix_(order, order)].T, 1)  # of the lower over the higher
    n_upsets = int(np.sum(against > 0.0))
    few = n if size <= MANY else max(n * MANY // size, 20)
    solved = answer.posterior.thinned(few)
    return Ranking(
        at=time_text(answer, when),
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
        ahead = smoothed(np.sum(drawn > 0.0, axis=0), len(drawn))
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
    names = [answer.names[k] for k in items.tolist()]
    upsets = [
        Upset(names[i], names[j], float(0.5 + gains[i, j]), float(favoured[i, j]))
        for i, j in zip(lower, higher, strict=True)
    ]
    upsets.sort(key=lambda u: (-u.probability, -u.chance, u.lower, u.higher))
    return tuple(upsets)


def _equilibrium(
    answer: FittedTable, items: IntArray, draws: Posterior, when: float, level: float
) -> tuple[Share, ...]:
    """Return the mixture that nothing beats, over draws."""
    gains = draws.results(draws.upper_margins(items, when)) - 0.5
    weights = np.array([solve_game(fill_skew(one, len(items))) for one in gains])
    low, high = interval(weights, level)
    columns = (weights.mean(axis=0), low, high, (weights > BELONGS).mean(axis=0))
    shares = [
        Share(answer.names[item], *numbers)
        for item, *numbers in zip(items.tolist(), *(one.tolist() for one in columns), strict=True)
    ]
    shares.sort(key=lambda share: (-share.weight, share.name))
    return tuple(share for share in shares if share.weight >= NEGLIGIBLE)


def nearest_order(gains: FloatArray, *, rng: int = 0, exact: int = 12) -> IntArray:  # (n_items,)
    """Return the order, best first, that pays least for the pairs against it.

    Parameters
    ----------
    gains
        (n_items, n_items): skew-symmetric; above 0 where the row is favoured, and by how much.
    rng
        Seed of the further starts, for larger groups.
    exact
        Items of a group up to which all orders are weighed, in a tenth of a second for 12.

    Returns
    -------
    numpy.ndarray
        (n_items,): the items, by their places, best first.

    Examples
    --------
    >>> nearest_order(np.array([[0.0, 2, -1], [-2, 0, 3], [1, -3, 0]])).tolist()
    [0, 1, 2]
    """
    if not len(gains):
        return np.zeros(0, np.int64)
    price = np.maximum(gains, 0.0)  # of putting the row below the column
    beats = np.argwhere(gains > 0.0)
    label = connected(beats, len(gains), "strong")
    groups = [np.flatnonzero(label == k) for k in range(label.max() + 1)]
    strength = gains.mean(axis=1)
    # Between groups all edges point one way, so that who is reached by chains of wins orders them;
    # groups that are even with each other go by strength.
    above = np.zeros((len(groups), len(groups)))
    above[tuple(label[beats].T)] = 1.0
    beaten = np.isfinite(shortest_path(above, unweighted=True)).sum(axis=1)
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
