"""What is learnt first, what is forecast when: a table cut by time, never between equal times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.data.games import Games, as_low_sees, in_sequence, join_covariates, merge
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.percent import percent

DAYS = 30.0  # in a block, for dates
BLOCKS = 10  # over the test part, for times that are numbers
HELD_BACK = 1729  # beside the seed: a table simulated with the same seed must not rule the draw
FEWEST_MOMENTS = 20  # moments in the test part, to take each as one observation


@dataclass(frozen=True, eq=False)
class Plan:
    """The part that is learnt first, and the blocks that are forecast one after the other."""

    early: Games
    blocks: tuple[Games, ...]
    note: str  # how the table was cut

    @property
    def test(self) -> Games:
        """All games that are forecast."""
        return join(self.blocks)

    @property
    def places(self) -> IntArray:  # (n_rows of test,)
        """Number of the block that each row belongs to."""
        return np.repeat(np.arange(len(self.blocks)), [len(block) for block in self.blocks])


def smaller_first(games: Games) -> Games:
    """Return the same games with the first item the one whose name comes first.

    How a table stores a game (winner first, home first) then changes nothing, to the last bit.
    """
    return merge(as_low_sees(games))


def as_games(games: Games) -> Games:
    """Return shares of several games as so many games won and so many lost.

    A share is then learnt and held back game by game, as if every game had a row of its own.
    """
    several = (games.counts >= 2.0) & (games.counts == np.round(games.counts))
    shares = several & ~np.isin(games.outcomes, (0.0, 1.0))
    if games.margins is not None or games.has_ties or not shares.any():
        return games
    won = np.where(shares, np.round(games.outcomes * games.counts), games.counts)
    ones = replace(games, outcomes=np.where(shares, 1.0, games.outcomes), counts=won)
    others = replace(games, outcomes=np.zeros(len(games)), counts=games.counts - won)
    both = join([replace(part, sequence=None) for part in (ones, others)])
    return merge(both.only(both.counts > 0))


def one_by_one(games: Games) -> Games:
    """Return a row for every game, in order of time, and of the table where times are equal.

    Where the table's order is not known, games of one time are in random order.  Rows that weigh,
    and do not count, stay as they are.
    """
    rows = games.sequence
    if rows is None:
        rows = in_sequence(games.counts)
        if rows is None:
            return games
        rows = np.random.default_rng(0).permutation(rows)
    rows = rows[np.argsort(games.times[rows], kind="stable")]
    return replace(replace(games, sequence=None).only(rows), counts=np.ones(len(rows)))


def first_held_back(games: Games, last: float) -> int:
    """Return the first row of the last part of the games."""
    below = np.cumsum(games.counts)
    return min(int(np.searchsorted(below, (1.0 - last) * below[-1], "right")), len(games) - 1)


def block_length(games: Games, last: float, n_blocks: int) -> float | None:
    """Return how long blocks are, of which there are so many in the last part of the games."""
    span = float(games.times[-1] - games.times[first_held_back(games, last)]) if len(games) else 0.0
    return span / n_blocks * (1.0 + 1e-9) or None


def cut(games: Games, last: float, every: float | None, rng: int) -> Plan:
    """Return the plan: the last part of the games, in blocks of `every`."""
    if len(games) < 2:
        raise InputError(
            f"games: of {plural(len(games), 'row')} nothing can be learnt and tried; give more."
        )
    begin = int(np.searchsorted(games.times, games.times[first_held_back(games, last)], "left"))
    if begin == 0:
        return _at_random(games, last, rng)
    times = games.times
    if every is None:
        every = DAYS if games.clock.kind == "date" else (times[-1] - times[begin]) / BLOCKS
    edges = [begin]
    while edges[-1] < len(games):
        edges.append(
            max(int(np.searchsorted(times, times[edges[-1]] + every, "left")), edges[-1] + 1)
        )
        edges[-1] = int(np.searchsorted(times, times[edges[-1] - 1], "right"))
    rows = np.arange(len(games))
    blocks = tuple(games.only(rows[a:b]) for a, b in pairwise(edges))
    one, many = ("day", "days") if games.clock.kind == "date" else ("unit", "units of time")
    width = float(f"{every:.3g}")
    wide = f"{width:,.6g} {one if width == 1.0 else many}"
    note = (
        f"From {games.clock.to_text(float(times[begin]))} on, in {len(blocks)} blocks of "
        f"{wide}: each is forecast from what was before it, and then learnt."
    )
    return Plan(games.only(rows[:begin]), blocks, note)


def _at_random(games: Games, last: float, rng: int) -> Plan:
    """Hold back games at random: where time says nothing, none is later than another."""
    generator = np.random.default_rng((rng, HELD_BACK))
    played = games.sequence if games.sequence is not None else in_sequence(games.counts)
    parts = []
    if played is None:  # weights, which are not numbers of games: rows stay whole
        held = generator.random(len(games)) < last
        parts = [games.only(~held), games.only(held)]
    else:  # equal games stand in one row, and each of them is drawn
        held = generator.random(len(played)) < last
        for one in (played[~held], played[held]):
            counts = np.bincount(one, minlength=len(games)).astype(np.float64)
            told = replace(games, sequence=None if games.sequence is None else one)
            parts.append(replace(told, counts=counts).only(counts > 0))
    if not len(parts[0]) or not len(parts[1]):
        raise InputError(
            f"games: {games.counts.sum():g} are too few to hold some back; give more of them."
        )
    note = (
        f"All games are at one time, so {percent(last)} of them, drawn at random, are forecast "
        "from the others: nothing is said about how forecasts keep over time."
    )
    return Plan(parts[0], (parts[1],), note)


def join(parts: Sequence[Games]) -> Games:
    """Return several parts of one table, one after the other."""

    def column(name: str) -> FloatArray | None:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    names = ("first", "second", "outcomes", "margins", "times", "counts", "sides", "series")
    by = join_covariates([part.by for part in parts])
    begins = np.cumsum([0, *(len(part) for part in parts)])
    told = [part.sequence for part in parts]
    known = [one + begin for one, begin in zip(told, begins, strict=False) if one is not None]
    sequence = np.concatenate(known) if len(known) == len(parts) else None
    columns = {name: column(name) for name in names}
    return replace(parts[0], by=by, sequence=sequence, **columns)  # type: ignore[arg-type]


def without_results(games: Games) -> Games:
    """Return who meets whom, and when: what a forecaster may see."""
    return replace(games, outcomes=np.full(len(games), np.nan), margins=None)


def own_names(games: Games) -> Games:
    """Return the games with the names that occur in them: later names would be a look ahead."""
    used = np.unique(np.concatenate([games.first, games.second]))
    place = np.zeros(games.n_items, dtype=np.int64)
    place[used] = np.arange(len(used))
    names = tuple(games.names[k] for k in used)
    return replace(games, names=names, first=place[games.first], second=place[games.second])


def clusters(test: Games) -> tuple[IntArray, str]:  # (n_rows,)
    """Return what each row is observed with, as numbers, and in words.

    All games of a day (or of one time) are one observation; where there are few times, all games
    of one pair at one time.
    """
    dated = test.clock.kind == "date"
    moments = np.floor(test.times) if dated else test.times
    _, moment = np.unique(moments, return_inverse=True)
    if moment.max(initial=0) + 1 >= FEWEST_MOMENTS:
        return moment, "day" if dated else "time"
    pair = (moment * test.n_items + test.first) * test.n_items + test.second
    same = (
        "pair" if moment.max(initial=0) == 0 else "pair on one day" if dated else "pair at a time"
    )
    return np.unique(pair, return_inverse=True)[1], same
