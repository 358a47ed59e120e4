"""Everything a report shows, as plain data: `gather` finds it, words, numbers and arrays.

Nothing here says how it is shown: `page` does, and `figures`.

*Order.*  In the strongest plane of the margins each item has an angle and is favoured over those
that follow it within half a turn.  Items are shown in order of that angle, beginning where most
chances above the diagonal are above a half: a ranking is then shown as a ranking, and a circle as
the band that it is.  Without cycles the order is that of strengths.

*Discs.*  The planes of what strengths do not explain: the margins less differences of their row
means, C = H X H with H = 1 - 11ᵀ/n.  In a plane the areas give C_ij = p_i × p_j, summed over
planes.  The planes of X itself would mix strengths in, and those of a ranking are no circles.

*Moments.*  Few, evenly spread, with short names that can be read back.

*The ladder* of models is from a backtest, or a quick look back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from intransit.analysis import FittedTable, tell_where
from intransit.analysis.cycles import Cycles, Ranking, find_cycles, find_ranking
from intransit.analysis.standings import (
    Changes,
    Standing,
    find_changes,
    find_standings,
    largest_group,
    present,
)
from intransit.analysis.verdict import Transitivity
from intransit.arrays import BoolArray, FloatArray, IntArray, described, mean_and_interval
from intransit.backtest import Backtest, quick_backtest
from intransit.checks import as_whole
from intransit.data.games import Clock
from intransit.errors import InputError
from intransit.inference.sampling import Report
from intransit.report.wording import (
    Fact,
    is_named,
    pools,
    sentences,
    take_stock,
    tell_facts,
)
from intransit.study import Plane, canonical_planes, decompose
from intransit.tasks import one_thread


@dataclass(frozen=True)
class Step:
    """One rung of the ladder of models, and how well it predicted the latest games."""

    name: str
    log_loss: float
    log_loss_error: float
    gain: float  # over the rung that it is measured by
    gain_error: float
    accuracy: float
    note: str


@dataclass(frozen=True, eq=False)
class Disc:
    """One plane of what strengths do not explain, over time: who counters whom, as points.

    The part of the margins beyond strengths is the sum over planes of x_i y_j - y_i x_j.
    """

    share: float  # of what strengths do not explain, as mean square of margins at the last time
    points: FloatArray  # (n_times, n_shown, 2); each is favoured over those anticlockwise of it


@dataclass(frozen=True, eq=False)
class Findings:
    """What a report says.  Items that are shown come in an order that brings out structure."""

    source: str
    headline: str  # the verdict in one sentence
    sentences: tuple[str, ...]  # what was found, three of them
    facts: tuple[Fact, ...]  # the three most useful ones
    verdict: Transitivity
    standings: tuple[Standing, ...]  # of all items at the end, the strongest first
    still: tuple[bool, ...]  # whether each of them was still being compared at the end
    names: tuple[str, ...]  # shown items, in order of structure
    n_items: int  # all of them
    why_shown: str  # which items are shown; empty if all are
    times: tuple[str, ...]  # of the slider, oldest first; one empty text if the table has no times
    moments: FloatArray  # (n_times + n_future,): the same and later ones as numbers, rising
    chances: FloatArray  # (n_times, n_shown, n_shown): row beats column; a half on the diagonal
    low: FloatArray  # (n_times, n_shown, n_shown): 90 % interval of the chance
    high: FloatArray
    future: tuple[str, ...]  # later times
    future_chances: FloatArray  # (n_future, n_shown, n_shown)
    future_low: FloatArray
    future_high: FloatArray
    present: BoolArray  # (n_times, n_shown): whether an item was being compared about then
    games: FloatArray  # (n_shown, n_shown): games of each pair
    wins: FloatArray  # (n_shown, n_shown): of them won by the row
    ties: FloatArray  # (n_shown, n_shown): of them tied; where ties are not kept apart, half a win
    together: IntArray  # (n_shown,): number of the group that comparisons connect an item with
    strengths: FloatArray  # (n_shown, n_times): mean probability of beating the others
    strengths_low: FloatArray
    strengths_high: FloatArray
    discs: tuple[Disc, ...]
    cycles: Cycles
    changes: Changes | None  # None where there is one time, or none
    ranking: Ranking
    ladder: tuple[Step, ...]
    ladder_notes: tuple[str, ...]
    data: tuple[str, ...]  # what was in the table: rows used and not, columns, span, pools, ...
    story: tuple[str, ...]  # what was chosen, and why
    discs_note: str = ""  # what the discs show, or why there are none
    where: str = ""  # under which conditions chances and strengths are, where there are some


@described
@dataclass(frozen=True)
class Group:
    """One line on a group: how much there was, the verdict, and who leads."""

    value: Annotated[str, "The group, as its column names it."]
    n_items: Annotated[int, "Number of items."]
    n_games: Annotated[float, "Number of games."]
    verdict: Annotated[str, "Whether there are cycles, in one sentence; or why nothing was fitted."]
    leader: Annotated[
        str, "The strongest item still being compared; empty where there is none."
    ] = ""
    strength: Annotated[float | None, "Its mean probability of beating the others."] = None
    low: Annotated[float | None, "Low end of the interval of the strength."] = None
    high: Annotated[float | None, "High end of the interval."] = None
    clear: Annotated[bool, "Whether it leads beyond doubt."] = False


MOST_DISCS = 3
LEAST_SHARE = 0.02  # of the mean square of the margins
SPARE = 3  # planes more than are shown, that a plane may be found among at another time


def order_around(margins: FloatArray, chances: FloatArray, pool: IntArray) -> IntArray:
    """Return the order of items that shows structure, pool after pool; see the module."""
    parts = []
    for number in np.unique(pool):
        items = np.flatnonzero(pool == number)
        X, ahead = (square[np.ix_(items, items)] for square in (margins, chances - 0.5))
        plane = canonical_planes(X, 1)
        if not plane:
            parts.append(items)
            continue
        order = np.argsort(plane[0].angles, kind="stable")
        starts = [np.roll(order, -k) for k in range(len(order))]
        best = max(starts, key=lambda one: float(np.triu(ahead[np.ix_(one, one)]).sum()))
        parts.append(items[best])
    return np.concatenate(parts)


def find_discs(
    margins: FloatArray,  # (n_times, n, n)
    together: BoolArray,  # (n, n)
) -> tuple[Disc, ...]:
    """Return the planes that matter at the last time, followed back through all the others.

    Between items that never met nothing is explained.
    """
    known = np.where(together, margins, np.nan)
    parts = np.array([np.nan_to_num(decompose(X).cyclic, nan=0.0) for X in known])
    whole = float(np.nansum(known[-1] ** 2))
    share = float(np.sum(parts[-1] ** 2)) / whole if whole else 0.0
    planes = canonical_planes(parts[-1], MOST_DISCS) if share else ()
    kept = [plane for plane in planes if plane.share * share > LEAST_SHARE]
    points = np.empty((len(kept), len(parts), margins.shape[1], 2))
    for c, plane in enumerate(kept):
        points[c, -1] = plane.coordinates
    for k in range(len(parts) - 2, -1, -1) if kept else ():
        points[:, k] = _follow(points[:, k + 1], canonical_planes(parts[k], len(kept) + SPARE))
    return tuple(Disc(plane.share, points[c]) for c, plane in enumerate(kept))


def _follow(later: FloatArray, there: tuple[Plane, ...]) -> FloatArray:  # (n_planes, n, 2)
    """Return the planes of an earlier time that are most like these, rotated to agree with them.

    A plane may be rotated, not mirrored: that would reverse who is favoured.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow to load)

    out = np.zeros_like(later)
    if not there:
        return out
    rotated = np.array(
        [[_rotate(plane.coordinates, points) for plane in there] for points in later]
    )
    alike = np.sum(rotated * later[:, None], axis=(2, 3))
    for c, best in zip(*linear_sum_assignment(-alike), strict=True):
        out[c] = rotated[c, best]
    return out


def _rotate(points: FloatArray, towards: FloatArray) -> FloatArray:  # (n, 2)
    """Return points rotated about the centre to lie as near to others as they can."""
    along = float(np.sum(points * towards))
    across = float(np.sum(points[:, 0] * towards[:, 1] - points[:, 1] * towards[:, 0]))
    size = float(np.hypot(along, across))
    if size == 0.0:
        return points
    cosine, sine = along / size, across / size
    return np.asarray(points @ np.array([[cosine, sine], [-sine, cosine]]))


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
    strongest = there[np.argsort(-answer.strengths(there, answer.seen.end)[0], kind="stable")]
    for items, places in ((order, busy), (strongest, most), (order, most)):
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


def compared_about(
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


AHEAD = 3  # moments after the last
MONTH, YEAR = 28.0, 365.0  # days, at least


@dataclass(frozen=True, eq=False)
class Moments:
    """Times of the table, the last one its end, and some that are still to come."""

    times: FloatArray  # (n_times,)
    names: tuple[str, ...]  # one empty text where the table has no times
    later: FloatArray  # (n_later,)
    later_names: tuple[str, ...]
    step: float  # from one to the next, about


def choose_moments(answer: FittedTable, most: int) -> Moments:
    """Return the moments to be shown; one, where nothing changes over time.

    A table with few distinct times keeps its own.  Otherwise years or months where they are fine
    enough, so that 2024-03 is the first of March, and else equal steps; the last is the end.
    """
    clock, begin, end = answer.clock, answer.seen.begin, answer.seen.end
    if clock.kind == "none" or not answer.model.moves or begin == end or most < 2:
        name = "" if clock.kind == "none" else clock.to_text(end)
        return Moments(np.array([end]), (name,), np.zeros(0), (), 0.0)
    times = np.unique(np.append(answer.posterior.axis[answer.posterior.axis < end], end))
    names = [clock.to_text(float(time)) for time in times]
    step = float(np.median(np.diff(times)))
    if answer.encoding.step != 0.0 or len(times) > most:
        step = (end - begin) / (most - 1)
        if clock.kind == "date" and step > MONTH / 2:
            times, names, step = _calendar(clock, begin, end, step, most)
        else:
            grain = _grain(clock, step)
            times = np.linspace(begin, end, most)
            times[:-1] = np.maximum(np.round(times[:-1] / grain) * grain, begin)
            times = np.unique(times)
            names = [_text(clock, time, grain) for time in times]
    grain = _grain(clock, step)
    later = np.round((times[-1] + step * np.arange(1, AHEAD + 1)) / grain) * grain
    return Moments(times, tuple(names), later, tuple(_text(clock, t, grain) for t in later), step)


def _grain(clock: Clock, step: float) -> float:
    """Return what times are rounded to: days, seconds, or a round number below the step."""
    if clock.kind == "date":
        return 1.0 if step >= 1.0 else 1.0 / 86_400.0
    grain = 10.0 ** np.floor(np.log10(step))
    return float(grain if step >= 1.0 else grain / 10.0)


def _text(clock: Clock, time: float, grain: float) -> str:
    if clock.kind == "date" or clock.names:
        return clock.to_text(float(time))
    digits = max(0, -round(np.log10(grain)))
    text = clock.to_text(round(float(time), digits))
    return text if np.isclose(float(text), time, rtol=0.0, atol=grain * 1e-3) else f"{time:.12g}"


def _calendar(
    clock: Clock, begin: float, end: float, step: float, most: int
) -> tuple[FloatArray, list[str], float]:
    """Return firsts of months, or of years, that lie within the span, and its end."""
    first, last = np.floor([begin, end]).astype("datetime64[D]").astype("datetime64[M]")
    stride = max(1, int(np.ceil((int((last - first).astype(int)) + 1) / (most - 1))))
    yearly = step >= YEAR
    if yearly:
        stride = 12 * int(np.ceil(stride / 12))
        last = last.astype("datetime64[Y]").astype("datetime64[M]")
    # Counted back from the latest, so that the last steps are whole ones.
    months = np.arange(last.astype(int), first.astype(int) - 1, -stride).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(float)
    inside = np.flatnonzero((days >= begin) & (days < end))[: most - 1][::-1]
    names = [str(month)[:4] if yearly else str(month) for month in months[inside]]
    return np.append(days[inside], end), [*names, clock.to_text(end)], stride * YEAR / 12.0


def measure(
    answer: FittedTable,
    items: IntArray,
    times: FloatArray,
    together: BoolArray,  # (n, n)
) -> tuple[FloatArray, FloatArray]:
    """Return chances and strengths, time by time; strangers are even, and nothing is known.

    (4, n_times, n, n): margin, chance, and low and high end of the chance; (3, n, n_times):
    strength, its low and its high end.
    """
    n, posterior = len(items), answer.posterior
    squares = np.zeros((4, len(times), n, n))
    lines = np.zeros((3, n, len(times)))
    i, j = np.triu_indices(n, 1)
    known = together[i, j]
    for k, time in enumerate(times):
        drawn = posterior.margins(items[i], items[j], np.full(len(i), time))
        upper = np.array([drawn.mean(axis=0), *mean_and_interval(posterior.results(drawn))])
        upper[:, ~known] = np.array([0.0, 0.5, 0.0, 1.0])[:, None]
        squares[:, k, i, j] = upper
        squares[:, k, j, i] = np.array([-upper[0], *(1.0 - upper[[1, 3, 2]])])
        lines[:, :, k] = answer.strengths(items, float(time))
    squares[1:, :, np.arange(n), np.arange(n)] = 0.5
    return squares, lines


# Gathering ----------------------------------------------------------------------------------------

NO_GAMES = (
    "The games themselves are not kept with the answer, so no other model can be run beside it; "
    "`intransit report` on the table does so.",
)


def climb(
    answer: FittedTable, found: Backtest | None, *, rng: int, report: Report
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps, and in words how they were measured."""
    if found is None and answer.games is not None:
        try:
            found = quick_backtest(answer.games, answer.model, rng=rng, report=report)
        except InputError as error:
            return (), (f"No model could be measured: {error}",)
    if found is not None:
        return _steps(found), found.notes
    return (), NO_GAMES


def _steps(found: Backtest) -> tuple[Step, ...]:
    base = dict(found.nested())
    steps = []
    for rung in found.rungs:
        under = base.get(rung.name)
        gain = (0.0, 0.0) if under is None else found.gain(rung.name, under)
        own = "" if rung.note == rung.name else rung.note
        note = "; ".join(filter(None, (f"gain over {under}" if under else "", own)))
        loss = rung.log_loss, rung.log_loss_error
        steps.append(Step(rung.name, *loss, *gain, rung.accuracy, note))
    return tuple(steps)


@dataclass(frozen=True)
class Board:
    """All items by strength at the end, and who of them may be said to lead."""

    standings: tuple[Standing, ...]
    still: tuple[bool, ...]  # whether each was still being compared
    leaders: tuple[Standing, ...]  # those still compared, and connected by comparisons
    among: str  # who the leaders are, in words, where others never met them or are listed above
    clear: bool  # whether the first leader is first beyond doubt, of those it can be compared with

    @classmethod
    def of(cls, answer: FittedTable) -> "Board":
        """Rank everybody."""
        there = present(answer, answer.seen.end)
        group = largest_group(answer, there)
        names = {answer.names[k] for k in group} if len(group) > 1 else set()
        standings = find_standings(answer)
        leaders = [one for one in standings if one.name in names]
        among = "" if answer.part is None else f"Of the {answer.n_items:,} items shown"
        if len(np.unique(answer.posterior.groups)) > 1:
            sizes = np.sort(np.bincount(answer.posterior.groups[there]))
            largest = (
                "one of the largest groups"
                if len(sizes) > 1 and sizes[-1] == sizes[-2]
                else "the largest group"
            )
            among = f"Of {largest} that comparisons connect"
        elif standings[:2] != leaders[:2]:
            among = "Of those still being compared"
        still = tuple(bool(there[answer.number(one.name)]) for one in standings)
        clear = len(leaders) > 1 and _is_first(answer, standings, leaders[0])
        return cls(tuple(standings), still, tuple(leaders), among, clear)


def _is_first(answer: FittedTable, standings: Sequence[Standing], leader: Standing) -> bool:
    """Return whether an item has no worse rank than its own, among those it is connected with."""
    groups = answer.posterior.groups
    mine = groups[answer.number(leader.name)]
    stronger = standings[: leader.rank]
    place = sum(groups[answer.number(one.name)] == mine for one in stronger)
    return bool(leader.rank_high - np.sum(groups != mine) <= place)


COUNTERS = "counters anybody beyond what strengths say"
NO_DISCS: dict[str, str] = {
    "cycles": f"The model is a ranking, in which nobody {COUNTERS}.",
    "not one scale": f"It is not proven that anybody {COUNTERS}.",
    "no evidence": f"Nothing shows that anybody {COUNTERS}: there is no evidence of cycles.",
    "too little data": f"Whether anybody {COUNTERS} cannot be told from these games.",
}
DISCS = (
    "What strengths do not explain, as circles: beyond what strengths say, an item is favoured "
    "over those up to half a turn anticlockwise from it, most over those a quarter turn away."
)


def shows_discs(answer: FittedTable) -> bool:
    """Return whether there is more than a ranking, so that who counters whom can be shown."""
    return answer.transitive.has_cycles and answer.model.is_cyclic


@one_thread
def gather(
    answer: FittedTable,
    *,
    ladder: Backtest | None = None,
    title: str | None = None,
    most_items: int = 60,
    most_times: int = 30,
    rng: int = 0,
    report: Report = lambda _: None,
) -> Findings:
    """Collect what there is to say about a table, for so many items and moments at most.

    Without a ladder, which `backtest` gives, a quick look back is made, if the games are at hand.
    A table is called by its file, with the conditions on its rows, unless it has a title.
    """
    most_items = as_whole("most_items", most_items, least=2)
    most_times = as_whole("most_times", most_times, least=1)
    report("looking for cycles")
    verdict, cycles = answer.transitive, find_cycles(answer)
    ranking = find_ranking(answer, rng=rng)
    # The items of the cycles that are listed, the surest cycle's first.
    named = dict.fromkeys(answer.number(name) for cycle in cycles for name in cycle.items)
    items, why = choose_items(answer, most_items, np.array([*named], dtype=np.int64))
    if answer.part is not None:
        why = (
            f"This page is about {answer.n_items:,} of {answer.part.n_items:,} items, "
            f"{answer.part.why}; ranks and strengths are among these. {why}"
        ).rstrip()
    moments = choose_moments(answer, most_times)
    report("looking for changes")
    changes = _changes(answer, items, moments)
    report("comparing all items")
    cyclic = shows_discs(answer)
    board = Board.of(answer)
    steps, notes = climb(answer, ladder, rng=rng, report=report)
    told = (cycles, ranking, changes, board.leaders)
    return Findings(
        source=(answer.reading.title if is_named(answer) else "") if title is None else title,
        headline=verdict.sentence,
        sentences=sentences(answer, *told, among=board.among, clear=board.clear),
        facts=tell_facts(answer, *told, among=board.among, clear=board.clear),
        verdict=verdict,
        standings=board.standings,
        still=board.still,
        n_items=answer.n_items,
        why_shown=why,
        times=moments.names,
        future=moments.later_names,
        where=tell_where(answer),
        discs_note=DISCS if cyclic else NO_DISCS[verdict.verdict],
        cycles=cycles,
        changes=changes,
        ranking=ranking,
        ladder=steps,
        ladder_notes=notes,
        data=take_stock(answer),
        story=answer.story,
        **_compare(answer, items, moments, cyclic),
    )


def _compare(
    answer: FittedTable, items: IntArray, moments: Moments, cyclic: bool
) -> dict[str, Any]:
    """Return items in order of structure and what is known of them, by its names in a report."""
    pool, n = pools(answer, items), len(moments.times)
    times = np.concatenate([moments.times, moments.later])
    (X, *chances), lines = measure(answer, items, times, pool[:, None] == pool)
    if cyclic:
        order = order_around(X[n - 1], chances[0][n - 1], pool)
    else:  # pool after pool, the strongest first
        order = np.lexsort((-lines[0, :, n - 1], pool))
    items, pool, lines = items[order], pool[order], lines[:, order, :n]
    X, middle, low, high = (square[:, order[:, None], order] for square in (X, *chances))
    games, wins, ties = records(answer, items)
    return {
        "names": tuple(answer.names[k] for k in items),
        "moments": times,
        "chances": middle[:n],
        "low": low[:n],
        "high": high[:n],
        "future_chances": middle[n:],
        "future_low": low[n:],
        "future_high": high[n:],
        "present": compared_about(answer, items, moments.times, moments.step),
        "games": games,
        "wins": wins,
        "ties": ties,
        "together": pool,
        "strengths": lines[0],
        "strengths_low": lines[1],
        "strengths_high": lines[2],
        "discs": find_discs(X[:n], pool[:, None] == pool) if cyclic else (),
    }


def _changes(answer: FittedTable, items: IntArray, moments: Moments) -> Changes | None:
    """Return what changed since half of those shown at the end were there; None without times."""
    if answer.seen.begin >= answer.seen.end:
        return None
    there = compared_about(answer, items, moments.times, moments.step)
    both = (there & there[-1]).sum(axis=1)
    start = int(np.flatnonzero(2 * both >= both[-1])[0])
    since = moments.names[start] if 0 < start < len(there) - 1 else None
    return find_changes(answer, since)
