"""Cycles at a time, and how sure each is.

The probability of a cycle is that all its edges point its way at once, over draws of the whole
matrix.  It is at most that of its least sure edge, so only edges that are sure enough by
themselves are followed; a longer cycle with such an edge across it is told by a shorter one, and is
left out.  With all cycles listed whose probability is at least a level, the expected share of false
ones among them is the mean of what their probabilities lack of 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.standings import MOST_ITEMS, busiest, most_played, present, time_text
from intransit.arrays import CHUNK, LEVEL, BoolArray, FloatArray, IntArray, slices, smoothed
from intransit.checks import as_flag, as_whole
from intransit.data.reading import plural
from intransit.inference.posterior import Posterior, reach_of
from intransit.percent import percent
from intransit.study import connected

SHORTEST = 3
LESSER = (0.5, 0.2, 0.05)  # levels at which the likeliest is looked for, where none is sure
N_TIMES = 24  # of histories
HISTORY_DRAWS = 200


Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class ItemCycle:
    """Items of which each is favoured over the next, and the last over the first.

    Attributes
    ----------
    items
        The items, from the name that comes first in the alphabet.
    probability
        That all its edges point that way.
    edges
        Probability that ``items[k]`` is favoured over ``items[k + 1]``.
    chances
        Probability that ``items[k]`` beats ``items[k + 1]`` in a game.
    weakest
        The edge that is least sure, by its place.
    since
        Since when it has been more likely there than not, up to the time asked for.
    history
        Probability at each of `Cycles.times`.
    """

    items: tuple[str, ...]
    probability: float
    edges: tuple[float, ...]
    chances: tuple[float, ...]
    weakest: int
    since: str
    history: tuple[float, ...]

    def __str__(self) -> str:
        return " > ".join((*self.items, self.items[0]))


@dataclass(frozen=True)
class Cycles:
    """Cycles at a time, the surest first; listed so that few of them are false.

    Attributes
    ----------
    at
        The time; empty where the table has none.
    level
        Probability that a cycle needs to be listed.
    found
        The cycles.
    n_found
        How many there are; `found` may be fewer.
    false_share
        Expected share of false ones among all that were found.
    times
        Of the histories.
    note
        Why there are none, or what the list leaves out; often empty.
    """

    at: str
    level: float
    found: tuple[ItemCycle, ...]
    n_found: int
    false_share: float
    times: tuple[str, ...]
    note: str

    def __len__(self) -> int:
        return len(self.found)

    def sure(self, cycle: ItemCycle) -> str:
        """Return the probability of a cycle as text, below the level if it is.

        Parameters
        ----------
        cycle
            One of `found`.

        Returns
        -------
        str
            The probability in per cent.
        """
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
    the table's span before their first game to a tenth after their last.  A cycle is listed
    when all its edges point its way with a probability of `level` or more.

    Parameters
    ----------
    answer
        The answer; as a method, ``answer.cycles()``, the one it is called on.
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
            "That there is a cycle is sure, and which one is not: none has a probability of "
            f"{level:.6g} or more, and the likeliest is listed."
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
            parts.append((a[sure], b[sure], margins.mean(axis=0), chance, _pack(margins.T > 0.0)))
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


def _pack(holds: BoolArray) -> Bits:  # (n_edges, n_words)
    """Return rows of truth values as bits of whole words."""
    packed = np.packbits(holds, axis=1)
    wide = -(-packed.shape[1] // 8) * 8
    return np.pad(packed, ((0, 0), (0, wide - packed.shape[1]))).view(np.uint64)


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
    answer: FittedTable,
    edges: Edges,
    cycles: list[IntArray],
    times: FloatArray,
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
