"""Cycles at a time and how sure each is; the nearest ranking, and the equilibrium in its place.

The probability of a cycle is that all its edges point its way at once, over draws of the whole
matrix.  It is at most that of its least sure edge, so only edges that are sure enough by
themselves are followed; a longer cycle with such an edge across it is told by a shorter one, and is
left out.  With all cycles listed whose probability is at least a level, the expected share of false
ones among them is the mean of what their probabilities lack of 1.

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

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Annotated

import numpy as np
from scipy.sparse.csgraph import shortest_path

from intransit.analysis import FittedTable
from intransit.analysis.standings import (
    MOST_ITEMS,
    busiest,
    largest_group,
    most_played,
    present,
    time_text,
)
from intransit.arrays import (
    CHUNK,
    LEVEL,
    BoolArray,
    FloatArray,
    IntArray,
    described,
    mean_and_interval,
    slices,
    smoothed,
)
from intransit.checks import as_flag, as_whole, open_seed
from intransit.data.reading import plural
from intransit.inference.posterior import Posterior, reach_of
from intransit.kernels import GAINED, Bits, pack_bits, settle
from intransit.percent import percent
from intransit.skew import fill_skew
from intransit.study import connected

SHORTEST = 3
LESSER = (0.5, 0.2, 0.05)  # levels at which the likeliest is looked for, where none is sure
N_TIMES = 24  # of histories
HISTORY_DRAWS = 200


@described
@dataclass(frozen=True)
class ItemCycle:
    """Items of which each is favoured over the next, and the last over the first."""

    items: Annotated[tuple[str, ...], "The items, from the name that comes first in the alphabet."]
    probability: Annotated[float, "That all its edges point that way."]
    edges: Annotated[
        tuple[float, ...], "Probability that ``items[k]`` is favoured over ``items[k + 1]``."
    ]
    chances: Annotated[
        tuple[float, ...], "Probability that ``items[k]`` beats ``items[k + 1]`` in a game."
    ]
    weakest: Annotated[int, "The edge that is least sure, by its place."]
    since: Annotated[
        str, "Since when it has been more likely there than not, up to the time asked for."
    ]
    history: Annotated[tuple[float, ...], "Probability at each of `Cycles.times`."]

    def __str__(self) -> str:
        return " > ".join((*self.items, self.items[0]))


@described
@dataclass(frozen=True)
class Cycles:
    """Cycles at a time, the surest first; listed so that few of them are false."""

    at: Annotated[str, "The time; empty where the table has none."]
    level: Annotated[float, "Probability that a cycle needs to be listed."]
    found: Annotated[tuple[ItemCycle, ...], "The cycles."]
    n_found: Annotated[int, "How many there are; `found` may be fewer."]
    false_share: Annotated[float, "Expected share of false ones among all that were found."]
    times: Annotated[tuple[str, ...], "Of the histories."]
    note: Annotated[str, "Why there are none, or what the list leaves out; often empty."]

    def __len__(self) -> int:
        return len(self.found)

    def sure(self, cycle: ItemCycle) -> str:
        """Return the probability of a cycle as text, below the level if it is."""
        text = percent(cycle.probability)
        return percent(cycle.probability, 1) if text == percent(self.level) else text

    def __iter__(self) -> Iterator[ItemCycle]:
        return iter(self.found)


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges that are sure enough, over draws of the matrix at one time."""

    first: IntArray  # (n_edges,), favoured
    second: IntArray  # (n_edges,)
    mean: FloatArray  # (n_edges,): margin
    chance: FloatArray  # (n_edges,): that first beats second in a game
    holds: Bits  # (n_edges, n_words): draws in which it points that way
    n_draws: int


def find_cycles(
    answer: FittedTable,
    at: object = None,
    *,
    level: float = LEVEL,
    longest: int = 5,
    most: int = 50,
    gate: bool = True,
    most_items: int = MOST_ITEMS,
) -> Cycles:
    """Return the cycles at a time, each with the probability that it is real.

    Of items that comparisons connect and that were being compared about then: from a tenth of
    the table's span before their first game to a tenth after their last, or three of their usual
    gaps between games if those are longer.  A cycle is listed when all its edges
    point its way with a probability of `level` or more.

    Parameters
    ----------
    at
        The time, by default the last one of the table.
    level
        Probability that a cycle needs to be listed.  Where the verdict is that there are
        cycles and none reaches it, the likeliest is listed, and `note` says so.
    longest
        Items of the longest cycle.  Of those with more than three, only those with no sure edge
        across, which a shorter cycle would tell.
    most
        How many to list, the surest.
    gate
        Whether to list none where the test of transitivity does not find cycles.
    most_items
        Of more items than this, 400 by default, those are searched that played most.

    Returns
    -------
    Cycles
        The cycles, the surest first, to be iterated over; ``note`` says why there are none.

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
    >>> for cycle in answer.cycles():
    ...     print(cycle)
    paper > rock > scissors > paper
    """
    reach_of(level)
    answer = most_played(answer)
    longest, most = as_whole("longest", longest, least=SHORTEST), as_whole("most", most, least=1)
    most_items = as_whole("most_items", most_items, least=2)
    when = answer.when(at)
    longest = min(longest, max(answer.n_items, SHORTEST))
    note = _reason_for_none(answer, as_flag("gate", gate))
    if note:
        return Cycles(time_text(answer, when), level, (), 0, 0.0, (), note)
    there = np.flatnonzero(present(answer, when))
    items = busiest(answer, there, most_items)
    # Where there is a cycle, and no single one is sure, the likeliest tells it: one of three items
    # where it is rather unlikely, as there is one in every draw that holds a cycle.
    for least in (level, *(lesser for lesser in LESSER if gate and lesser < level)):
        edges = _sure_edges(answer.posterior, items, when, least)
        size = longest if least >= min(level, LESSER[0]) else SHORTEST
        found, counts, complete = _follow(edges, least, size)
        if len(found):
            break
    n_sure = len(found) if least == level else 0
    most = most if least == level else 1
    chances = smoothed(counts, edges.n_draws)
    order = np.lexsort((-_least(edges.mean, found), -chances))
    listed = [cycle[cycle >= 0] for cycle in found[order[:most]]]
    times = _times(answer)
    histories = _histories(answer, edges, listed, times)
    cycles = tuple(
        _cycle(answer, edges, listed[k], float(chances[order[k]]), times, histories[k], when)
        for k in range(len(listed))
    )
    return Cycles(
        at=time_text(answer, when),
        level=level,
        found=cycles,
        n_found=n_sure or len(cycles),
        false_share=float(np.mean(1.0 - chances[order[: n_sure or most]])) if len(found) else 0.0,
        times=tuple(time_text(answer, t) for t in times),
        note=_note(n_sure, len(cycles), complete, level, len(there), len(items)),
    )


def _reason_for_none(answer: FittedTable, gate: bool) -> str:
    verdict = answer.transitive.verdict
    if gate and verdict != "cycles":
        return f"No cycle is listed: the verdict is “{verdict}”."
    if not answer.model.is_cyclic:
        return "No cycle is listed: the model has scores alone, which have no cycles."
    return ""


def _note(
    n_found: int, n_listed: int, complete: bool, level: float, n_there: int, n_searched: int
) -> str:
    said = []
    if n_searched < n_there:
        said.append(f"Of {plural(n_there, 'item')} the {n_searched} that played most are searched.")
    if not n_found and n_listed:
        said.append(
            "There is very likely a cycle, but no single one has a probability of "
            f"{level:.6g} or more; the likeliest is listed."
        )
    elif not n_found:
        said.append(f"No cycle is there with a probability of {level:.6g} or more.")
    if 0 < n_listed < n_found:
        said.append(f"The {n_listed} surest of {plural(n_found, 'cycle')} are listed.")
    if not complete:
        said.append("There are more than were followed; the least sure ways were left.")
    return " ".join(said)


def _sure_edges(posterior: Posterior, items: IntArray, when: float, level: float) -> Edges:
    """Return the edges that are as sure by themselves as a cycle must be, and lie on some cycle."""
    one, two = np.triu_indices(len(items), 1)
    first, second = items[one], items[two]
    together = posterior.groups[first] == posterior.groups[second]
    first, second = first[together], second[together]
    least = _least_count(len(posterior), level)
    parts: list[tuple[IntArray, IntArray, FloatArray, FloatArray, Bits]] = []
    for here in slices(len(first), CHUNK // len(posterior)):
        i, j = first[here], second[here]
        drawn = posterior.margins(i, j, np.full(len(i), when))
        ahead = np.sum(drawn > 0.0, axis=0)
        for a, b, sign, count in ((i, j, 1.0, ahead), (j, i, -1.0, len(drawn) - ahead)):
            sure = np.flatnonzero(count >= least)
            margins = sign * drawn[:, sure]
            chance = posterior.results(margins).mean(axis=0)
            parts.append(
                (a[sure], b[sure], margins.mean(axis=0), chance, pack_bits(margins.T > 0.0))
            )
    if not parts:
        nothing = np.zeros(0)
        return Edges(first, second, nothing, nothing, np.zeros((0, 1), np.uint64), len(posterior))
    i, j, mean, chance, holds = (np.concatenate(column) for column in zip(*parts, strict=True))
    part = connected(np.column_stack([i, j]), posterior.n_items, "strong")
    k = np.flatnonzero(part[i] == part[j])
    return Edges(i[k], j[k], mean[k], chance[k], holds[k], len(posterior))


def _least_count(n: int, level: float) -> int:
    """Return in how many of n draws something must hold, for its probability to be `level`."""
    return ceil((n + 1) * level - 0.5)


def _least(values: FloatArray, cycles: IntArray) -> FloatArray:  # (n_cycles,)
    """Return the least value of the edges of each cycle; -1 is no edge."""
    padded = np.concatenate([values, [np.inf]])
    return np.asarray(padded[cycles].min(axis=1, initial=np.inf))


def _follow(
    edges: Edges,
    level: float,
    longest: int,
    most: int = 400_000,  # paths of each length: some hundred megabytes
) -> tuple[IntArray, IntArray, bool]:
    """Return cycles, the draws each holds in, and whether these are all.

    A cycle is the places of its edges, filled up by -1 to the longest.  Paths grow by one edge at
    a time from the smallest of their items, as long as they hold in enough draws and nothing sure
    runs across them.
    """
    items, local = np.unique(np.concatenate([edges.first, edges.second]), return_inverse=True)
    size = len(items)
    place = np.full((size, size), -1)
    place[local[: len(edges.first)], local[len(edges.first) :]] = np.arange(len(edges.first))
    leads = place >= 0
    apart = ~(leads | leads.T)
    np.fill_diagonal(apart, False)
    least = _least_count(edges.n_draws, level)
    found = [np.zeros((0, longest), np.int64)]
    counts = [np.zeros(0, np.int64)]
    complete = True
    for start in range(size):
        paths = np.flatnonzero(leads[start] & (np.arange(size) > start))[:, None]
        paths = np.hstack([np.full_like(paths, start), paths])
        held = edges.holds[place[paths[:, 0], paths[:, 1]]]
        for length in range(SHORTEST, longest + 1):
            paths, held, all_of_them = _grown(paths, held, leads, apart, place, edges, least, most)
            complete &= all_of_them
            closing = place[paths[:, -1], start]
            closed = np.flatnonzero(closing >= 0)
            joint = held[closed] & edges.holds[closing[closed]]
            count = np.bitwise_count(joint).sum(axis=1, dtype=np.int64)
            real = count >= least
            around = paths[closed[real]]
            steps = place[around, np.roll(around, -1, axis=1)]
            wide = ((0, 0), (0, longest - length))
            found.append(np.pad(steps, wide, constant_values=-1))
            counts.append(count[real])
            still_open = apart[paths[:, -1], start]
            paths, held = paths[still_open], held[still_open]
            if not len(paths) or length == longest:
                break
    return np.concatenate(found), np.concatenate(counts), complete


def _grown(
    paths: IntArray,  # (n_paths, n)
    held: IntArray,  # (n_paths, n_words)
    leads: BoolArray,
    apart: BoolArray,
    place: IntArray,
    edges: Edges,
    least: int,
    most: int,
) -> tuple[IntArray, Bits, bool]:
    """Return paths that are longer by one, the draws they hold in, and whether none was left."""
    size = len(leads)
    room = leads[paths[:, -1]] & (np.arange(size) > paths[:, :1])
    for k in range(1, paths.shape[1] - 1):
        room &= apart[paths[:, k]]
    which, new = np.nonzero(room)
    complete = len(which) <= most
    if not complete:
        mean = edges.mean[place[paths[which, -1], new]]
        best = np.sort(np.argsort(-mean, kind="stable")[:most])
        which, new = which[best], new[best]
    joint = held[which] & edges.holds[place[paths[which, -1], new]]
    enough = np.bitwise_count(joint).sum(axis=1, dtype=np.int64) >= least
    longer = np.hstack([paths[which[enough]], new[enough, None]])
    return longer, joint[enough], complete


def _times(answer: FittedTable) -> FloatArray:
    """Return times of the table, at most 24, from its first to its last."""
    if answer.clock.kind == "none":
        return np.zeros(0)
    seen = answer.seen
    known = answer.posterior.axis if answer.model.moves else seen.first[np.isfinite(seen.first)]
    inside = known[(known >= seen.begin) & (known <= seen.end)]
    axis = np.unique(np.concatenate([[seen.begin, seen.end], inside]))
    wanted = np.linspace(seen.begin, seen.end, min(len(axis), N_TIMES))
    return np.unique(axis[np.abs(axis[None, :] - wanted[:, None]).argmin(axis=1)])


def _histories(
    answer: FittedTable, edges: Edges, cycles: list[IntArray], times: FloatArray
) -> FloatArray:  # (n_cycles, n_times)
    """Return the probability of each cycle over time; 0 while one of its items was not there."""
    out = np.zeros((len(cycles), len(times)))
    if not cycles or not len(times):
        return out
    used, back = np.unique(np.concatenate(cycles), return_inverse=True)
    few = answer.posterior.thinned(HISTORY_DRAWS)
    first, second = edges.first[used], edges.second[used]
    asked = times if answer.model.moves else times[-1:]  # one stands for all
    margins = [few.margins(first, second, np.full(len(used), time)) for time in asked]
    holds = np.stack(margins, axis=2) > 0.0  # (n_draws, n_edges, n_asked)
    there = np.array([present(answer, t) for t in times]).T  # (n_items, n_times)
    cuts = np.cumsum([len(cycle) for cycle in cycles])[:-1]
    for k, mine in enumerate(np.split(back, cuts)):
        count = holds[:, mine].all(axis=1).sum(axis=0)
        out[k] = smoothed(count, len(few)) * there[first[mine]].all(axis=0)
    return out


def _cycle(
    answer: FittedTable,
    edges: Edges,
    cycle: IntArray,
    probability: float,
    times: FloatArray,
    history: FloatArray,
    when: float,
) -> ItemCycle:
    """Return a cycle in words, from the name that comes first in the alphabet."""
    names = [answer.names[k] for k in edges.first[cycle]]
    start = names.index(min(names))
    steps = np.roll(cycle, -start)
    counts = np.bitwise_count(edges.holds[steps]).sum(axis=1, dtype=np.int64)
    sure = smoothed(counts, edges.n_draws)
    return ItemCycle(
        items=tuple(names[start:] + names[:start]),
        probability=probability,
        edges=tuple(sure.tolist()),
        chances=tuple(edges.chance[steps].tolist()),
        weakest=int(sure.argmin()),
        since=_since(answer, edges.first[steps], times, history, when),
        history=tuple(history.tolist()),
    )


def _since(
    answer: FittedTable, items: IntArray, times: FloatArray, history: FloatArray, when: float
) -> str:
    """Return since when a cycle has been more likely there than not, without a break."""
    if not len(times):
        return ""
    if not answer.model.moves:
        return time_text(answer, float(answer.seen.first[items].max()))
    broken = times[(times <= when) & (history <= 0.5)].max(initial=-np.inf)
    unbroken = times[(times <= when) & (times > broken)]
    return time_text(answer, float(unbroken[0] if len(unbroken) else when))


# Ranking and equilibrium --------------------------------------------------------------------------

TINY = 1e-9  # weights and prices below it are rounding
SLACK = 1e-7  # by which an item may beat the mixture, in parts of the largest gain


@described
@dataclass(frozen=True)
class Upset:
    """A pair that goes against the ranking: the lower item is favoured."""

    lower: Annotated[str, "The item that the ranking has lower."]
    higher: Annotated[str, "The item that it has higher."]
    chance: Annotated[float, "That lower beats higher."]
    probability: Annotated[float, "That lower is favoured."]


@described
@dataclass(frozen=True)
class Share:
    """An item's weight in the mixture that nothing beats on average."""

    name: Annotated[str, "The item."]
    weight: Annotated[float, "Its mean over what is not known."]
    low: Annotated[float, "Low end of the interval of the weight."]
    high: Annotated[float, "High end of the interval of the weight."]
    probability: Annotated[float, "That it belongs to the mixture at all."]


@described
@dataclass(frozen=True)
class Ranking:
    """The nearest ranking, what it loses, and what a cyclic table has in place of a best item."""

    at: Annotated[str, "The time; empty where the table has none."]
    order: Annotated[tuple[str, ...], "The items, best first."]
    upsets: Annotated[tuple[Upset, ...], "Pairs against the order, the surest first; at most 50."]
    n_pairs: Annotated[int, "Number of pairs."]
    n_upsets: Annotated[
        int,
        "Number of pairs against the order; where the draws cannot tell who is favoured, "
        "nobody is.",
    ]
    wrong: Annotated[float, "Share of the pairs whose favourite the ranking puts lower."]
    cost: Annotated[
        float, "Mean loss of winning chances, over all pairs, from trusting the ranking."
    ]
    equilibrium: Annotated[tuple[Share, ...], "Weights that are not negligible, the largest first."]
    level: Annotated[float, "Of the intervals of the weights."]
    note: Annotated[str, "What is left out; often empty."] = ""


def top_cycle(gains: FloatArray) -> IntArray:
    """Return the smallest set of items each of which beats everything outside it, rising.

    Gains, here and below, are skew-symmetric: above 0 where the row is favoured, and by how much.
    Items that are even belong together.

    >>> gains = np.array([[0.0, 1, -1, 1], [-1, 0, 1, 1], [1, -1, 0, 1], [-1, -1, -1, 0]])
    >>> top_cycle(gains).tolist()
    [0, 1, 2]
    """
    label = connected(np.argwhere(gains >= 0.0), len(gains), "strong")
    # Each of the top group beats all outside it, and nobody outside beats any of them.
    wins = (gains >= 0.0).sum(axis=1)
    return np.flatnonzero(label == label[wins.argmax()])


def solve_game(gains: FloatArray, *, pivots: int = 20) -> FloatArray:  # (n_items,)
    """Return the mixture of items that none beats on average: weights that add up to 1.

    After so many pivots for each item, far more than are usual, a slower method is asked.

    >>> solve_game(np.array([[0.0, 1, -2], [-1, 0, 3], [2, -3, 0]])).round(4).tolist()
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
TOLD = 2.0  # errors from a half, of the share of draws that favour one of two, to name it
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
    gains = np.where(_can_be_told(answer.posterior, favoured), gains, 0.0)
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
        note=_ranking_note(answer, len(connected), size),
    )


def _matrices(
    posterior: Posterior, items: IntArray, when: float, at_once: int = CHUNK
) -> tuple[FloatArray, FloatArray]:  # (n_items, n_items) each
    """Return chances above a half, and the probability of being favoured, a part at a time."""
    size = len(items)
    one, two = np.triu_indices(size, 1)
    gains, ahead = np.empty((2, len(one)))
    for here in slices(len(one), at_once // len(posterior)):
        i, j = items[one[here]], items[two[here]]
        drawn = posterior.margins(i, j, np.full(len(i), when))
        gains[here] = posterior.results(drawn).mean(axis=0) - 0.5
        ahead[here] = smoothed(np.sum(drawn > 0.0, axis=0), len(drawn))
    return fill_skew(gains, size), 0.5 + fill_skew(ahead - 0.5, size)


def _can_be_told(posterior: Posterior, favoured: FloatArray) -> BoolArray:
    """Return of which pairs the draws tell who is favoured: beyond the error of a share of them."""
    mixing = posterior.mixing
    effective = len(posterior) if mixing is None else min(mixing.worst, len(posterior))
    return np.asarray(np.abs(favoured - 0.5) > TOLD * np.sqrt(0.25 / effective))


def _ranking_note(answer: FittedTable, n_connected: int, n_ranked: int) -> str:
    said = []
    left = answer.n_items - n_connected
    if left:
        said.append(
            f"{plural(left, 'item')} left out: not compared at about that time, or not connected "
            "with the others by comparisons."
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
    columns = (*mean_and_interval(weights, level), (weights > BELONGS).mean(axis=0))
    shares = [
        Share(answer.names[item], *numbers)
        for item, *numbers in zip(items.tolist(), *(one.tolist() for one in columns), strict=True)
    ]
    shares.sort(key=lambda share: (-share.weight, share.name))
    return tuple(share for share in shares if share.weight >= NEGLIGIBLE)


def nearest_order(gains: FloatArray, *, rng: int = 0, exact: int = 12) -> IntArray:  # (n_items,)
    """Return the order of items, best first, that pays least for the pairs against it.

    In groups of up to `exact` items all orders are weighed, in a tenth of a second for 12; the seed
    is that of further starts in larger ones.

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
