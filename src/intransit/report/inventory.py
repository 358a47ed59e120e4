"""What was in the table, which items a report shows, and who of them may be said to lead."""

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.results import Standing
from intransit.analysis.standings import find_standings, largest_group, present
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.data.reading import describe_unused, plural
from intransit.percent import percent
from intransit.report.wording import Strength, brief

LATELY = 0.25  # of the games, the latest
LEADING = 3  # one place in so many goes to the strongest of those that the games leave out
FEWEST = 5  # games lately: items with fewer are no leaders


def choose_items(answer: FittedTable, most: int, wanted: IntArray) -> tuple[IntArray, str]:
    """Return the items to be shown, and in words which they are; nothing where all are.

    Those `wanted` first, which the findings speak of; then those with the most games lately, and
    for a third of the places the strongest at the end, among items with some games lately.
    """
    n = answer.n_items
    if n <= most:
        return np.arange(n), ""
    lately = latest_games(answer)
    order = np.lexsort((np.arange(n), -answer.seen.games, -lately))
    chosen = dict.fromkeys(wanted[: most // 2].tolist())
    busy = most - (most - len(chosen)) // LEADING
    there = np.flatnonzero(lately >= FEWEST)
    for items, places in ((order, busy), (_strongest(answer, there), most), (order, most)):
        for k in items.tolist():
            if len(chosen) < places:
                chosen[k] = None
    when = " among the latest quarter" if answer.model.moves else ""
    cycles = "those in the cycles that are listed, " if len(wanted) else ""
    why = (
        f"{len(chosen)} of {n:,} items are shown: {cycles}those with the most games{when}, and the "
        f"strongest with at least {FEWEST} of them."
    )
    return np.array(sorted(chosen)), why


def _strongest(answer: FittedTable, items: IntArray) -> IntArray:
    """Return items by their strength at the end, best first."""
    mean = answer.strengths(items, answer.seen.end)[0]
    return np.asarray(items[np.argsort(-mean, kind="stable")])


def latest_games(answer: FittedTable) -> FloatArray:  # (n_items,)
    """Return how many of the latest quarter of all games each item had; of all, without drift."""
    cells = answer.posterior.layout.seen
    late = np.ones(len(cells), dtype=bool)
    if answer.model.moves and len(cells):
        when = np.unique(cells.times, return_inverse=True)[1]
        later = np.cumsum(np.bincount(when, cells.counts)[::-1])[::-1]
        late = when >= np.flatnonzero(later >= LATELY * later[0])[-1]
    weights = np.repeat(cells.counts[late], 2)
    counts = np.bincount(cells.pairs[late].ravel(), weights, minlength=answer.n_items)
    return np.asarray(counts, dtype=np.float64)


def records(
    answer: FittedTable, items: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:  # (n, n) each
    """Return the games of each pair, how many of them the row won, and how many were ties.

    Where results are shares of wins or readings, ties are not kept apart, and count as half a win.
    """
    cells, n = answer.posterior.layout.seen, answer.n_items
    place = np.full(n, -1)
    place[items] = np.arange(len(items))
    i, j = place[cells.pairs].T
    both = (i >= 0) & (j >= 0)
    i, j, counts, won = i[both], j[both], cells.counts[both], cells.wins[both]
    tied = counts * (cells.means[both] == 0.0) * (cells.kind == "ordered")
    games, wins, ties = np.zeros((3, len(items), len(items)))
    np.add.at(games, (i, j), counts)
    np.add.at(wins, (i, j), won - 0.5 * tied)
    np.add.at(wins, (j, i), counts - won - 0.5 * tied)
    np.add.at(ties, (i, j), tied)
    return games + games.T, wins, ties + ties.T


def presence(
    answer: FittedTable, items: IntArray, times: FloatArray, reach: float
) -> BoolArray:  # (n_times, n)
    """Return whether an item was compared within `reach` of each time; always, if there is one."""
    if len(times) < 2:
        return np.ones((len(times), len(items)), dtype=bool)
    cells, paths = answer.posterior.layout.seen, answer.posterior.layout.items
    half = 0.5 * answer.encoding.step  # a moment is named by its middle
    owner, when = cells.pairs, cells.times
    if answer.part is not None and paths.moves:  # games against others are known by their times
        owner, when = np.repeat(np.arange(answer.n_items), np.diff(paths.begin)), paths.clock
    out = np.zeros((len(times), answer.n_items), dtype=bool)
    for k, time in enumerate(times):
        out[k, owner[np.abs(when - time) <= reach + half].ravel()] = True
    return out[:, items]


def pools(answer: FittedTable, items: IntArray) -> IntArray:  # (n,)
    """Return the number of each item's group, the largest group 0, then in order of names."""
    groups = answer.posterior.groups
    there, first = np.unique(groups, return_index=True)
    sizes = np.bincount(groups, minlength=groups.max() + 1)[there]
    ranked = there[np.lexsort((first, -sizes))]
    number = np.empty(groups.max() + 1, dtype=np.int64)
    number[ranked] = np.arange(len(ranked))
    return np.asarray(number[groups[items]])


FEW = 5  # games: an item with fewer is told
NAMED = 4  # items of a list
POOLS = 3  # that are described


def take_stock(answer: FittedTable) -> tuple[str, ...]:
    """Return what was in the table, line by line."""
    reading = answer.reading
    said = [_rows(answer)]
    said += [f"Not used: {describe_unused(part, reading.unit)}." for part in reading.unused]
    if reading.columns:
        columns = [
            column.name + (f" ({column.role})" if column.role != column.name else "")
            for column in reading.columns
        ]
        said.append(f"Columns: {', '.join(columns)}.")
    said += [f"Note: {note.rstrip('.')}." for note in reading.notes]
    said += [_size(answer), _met(answer)]
    return (*said, *_apart(answer), *_thin(answer))


def is_named(answer: FittedTable) -> bool:
    """Return whether the table has a name of its own, as a file has."""
    return answer.reading.source not in {"", "arrays"}


def _rows(answer: FittedTable) -> str:
    """Say how many rows there were, of which file, and how many were used."""
    reading = answer.reading
    place = f" of {PurePath(reading.source).name}" if is_named(answer) else ""
    place += f" with {', '.join(reading.where)}" if reading.where else ""
    if reading.n_used < reading.n_rows:
        were = "was" if reading.n_used == 1 else "were"
        return f"{reading.n_used:,} of {plural(reading.n_rows, 'row')}{place} {were} used."
    if reading.n_rows == 1:
        return f"The one row{place} was used."
    return f"All {plural(reading.n_rows, 'row')}{place} were used."


def _size(answer: FittedTable) -> str:
    n_items = answer.n_items if answer.part is None else answer.part.n_items
    games = f"{answer.n_games:,.12g} game{'' if answer.n_games == 1 else 's'}"
    said = f"{games} between {plural(n_items, 'item')}"
    if answer.clock.kind == "none":
        return f"{said}; the table has no times."
    begin, end = (answer.clock.to_text(t) for t in (answer.seen.begin, answer.seen.end))
    return f"{said}, all at {end}." if begin == end else f"{said}, from {begin} to {end}."


def _met(answer: FittedTable) -> str:
    n, pairs = answer.n_items, answer.posterior.layout.seen.pairs
    met = len(np.unique(pairs[:, 0] * n + pairs[:, 1]))
    possible = n * (n - 1) // 2
    if answer.part is not None:
        chosen = f"This page is about {plural(n, 'item')} of them: {answer.part.why}"
        return f"{chosen}. {met:,} of {possible:,} possible pairs of these met."
    if met == possible:
        return "Every pair met." if possible > 1 else "There is one pair."
    return f"{met:,} of {possible:,} possible pairs met ({percent(met / possible)})."


def _apart(answer: FittedTable) -> list[str]:
    """Say which pools never met."""
    pool = pools(answer, np.arange(answer.n_items))
    n = int(pool.max()) + 1
    if n == 1:
        return []
    parts = []
    for k in range(min(n, POOLS)):
        items = np.flatnonzero(pool == k)
        parts.append(f"{plural(len(items), 'item')} ({_names(answer, items)})")
    rest = f", and {n - POOLS} more" if n > POOLS else ""
    return [
        f"{n} pools never met, so nothing is known of one against another: "
        f"{', '.join(parts)}{rest}."
    ]


def _thin(answer: FittedTable) -> list[str]:
    """Say which items have too few games to say much."""
    games = answer.seen.games
    thin = np.flatnonzero(games < FEW)
    if not len(thin):
        return []
    thin = thin[np.argsort(games[thin], kind="stable")]
    have = "has" if len(thin) == 1 else "have"
    return [
        f"{len(thin):,} of {plural(answer.n_items, 'item')} {have} fewer than {FEW} games, so "
        f"little is known of them: {_names(answer, thin)}."
    ]


def _names(answer: FittedTable, items: np.ndarray) -> str:
    named = ", ".join(brief(answer.names[k]) for k in items[:NAMED])
    left = len(items) - NAMED
    return f"{named} and {left:,} more" if left > 0 else named


@dataclass(frozen=True)
class Board:
    """All items by strength at the end, and who of them may be said to lead."""

    standings: tuple[Standing, ...]
    still: tuple[bool, ...]  # whether each was still being compared
    leaders: tuple[Standing, ...]  # those still compared, and connected by comparisons
    among: str  # who the leaders are, in words, where the first two are not the first two of all

    @classmethod
    def of(cls, answer: FittedTable, level: float) -> "Board":
        """Rank everybody."""
        there = present(answer, answer.seen.end)
        group = largest_group(answer, there)
        names = {answer.names[k] for k in group} if len(group) > 1 else set()
        standings = find_standings(answer, level=level)
        leaders = [one for one in standings if one.name in names]
        among = ""
        if standings[:2] != leaders[:2]:
            apart = len(np.unique(answer.posterior.groups)) > 1
            group_words = "the largest group that comparisons connect"
            among = f"Of {group_words if apart else 'those still being compared'}"
        still = tuple(bool(there[answer.number(one.name)]) for one in standings)
        return cls(tuple(standings), still, tuple(leaders), among)

    @property
    def clear(self) -> bool:
        """Whether the first leader is first beyond doubt: it has no worse rank than its own."""
        return len(self.leaders) > 1 and self.leaders[0].rank_high <= self.leaders[0].rank

    @property
    def strengths(self) -> dict[str, Strength]:
        """Strengths of the leaders with their intervals, by name, the strongest first."""
        return {one.name: (one.strength, one.low, one.high) for one in self.leaders}
