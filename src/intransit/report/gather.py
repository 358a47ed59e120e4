"""From an answer to everything that a report shows.

Chances of every pair and strengths of every item, with intervals, at moments that are few, evenly
spread, and have short names that can be read back; and the ladder of models, from a backtest or a
quick look back.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from intransit.analysis.changes import find_changes
from intransit.analysis.cycles import find_cycles
from intransit.analysis.fitted_table import FittedTable, Part
from intransit.analysis.ranking import find_ranking
from intransit.analysis.results import Changes, Cycles
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.backtest import Backtest
from intransit.backtest.run import quick_backtest
from intransit.checks import as_whole
from intransit.data.clock import Clock
from intransit.errors import InputError
from intransit.inference.sampling import Report
from intransit.report.content import (
    Findings,
    Step,
    draw_discs,
    order_around,
    order_by_strength,
)
from intransit.report.inventory import (
    Board,
    choose_items,
    is_named,
    pools,
    presence,
    records,
    take_stock,
)
from intransit.report.wording import headline, sentences, tell_facts
from intransit.tasks import one_thread

LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Chances:
    """Of some items at some times: who beats whom, and how strong each is."""

    squares: FloatArray  # (4, n_times, n, n): margin, chance, and low and high end of the chance
    lines: FloatArray  # (3, n, n_times): strength, its low and its high end

    def ordered(self, order: IntArray) -> "Chances":
        """Return the same with the items in another order."""
        return Chances(self.squares[:, :, order[:, None], order], self.lines[:, order])

    def only(self, which: slice) -> "Chances":
        """Return the same at some of the times."""
        return Chances(self.squares[:, which], self.lines[:, :, which])


def measure(
    answer: FittedTable,
    items: IntArray,
    times: FloatArray,
    together: BoolArray,  # (n, n)
) -> Chances:
    """Return chances and strengths, time by time; strangers are even, and nothing is known."""
    n, posterior = len(items), answer.posterior
    squares = np.zeros((4, len(times), n, n))
    lines = np.zeros((3, n, len(times)))
    i, j = np.triu_indices(n, 1)
    known = together[i, j]
    tails = [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]
    for k, time in enumerate(times):
        drawn = posterior.margins(items[i], items[j], np.full(len(i), time))
        chances = posterior.results(drawn)
        middle = chances.mean(axis=0)
        low, high = np.quantile(chances, tails, axis=0) if len(i) else np.zeros((2, 0))
        upper = np.array(
            [drawn.mean(axis=0), middle, np.minimum(low, middle), np.maximum(high, middle)]
        )
        upper[:, ~known] = np.array([0.0, 0.5, 0.0, 1.0])[:, None]
        squares[:, k, i, j] = upper
        squares[:, k, j, i] = np.array([-upper[0], *(1.0 - upper[[1, 3, 2]])])
        lines[:, :, k] = answer.strengths(items, float(time), level=LEVEL)
    squares[1:, :, np.arange(n), np.arange(n)] = 0.5
    return Chances(squares, lines)


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
    nothing: FloatArray = np.zeros(0)
    if clock.kind == "none":
        return Moments(np.array([end]), ("",), nothing, (), 0.0)
    if not answer.model.moves or begin == end or most < 2:
        return Moments(np.array([end]), (clock.to_text(end),), nothing, (), 0.0)
    axis = np.unique(np.append(answer.posterior.axis[answer.posterior.axis < end], end))
    if answer.encoding.step == 0.0 and len(axis) <= most:
        step = float(np.median(np.diff(axis)))
        names = tuple(clock.to_text(float(t)) for t in axis)
        return _with_later(clock, axis, names, step)
    step = (end - begin) / (most - 1)
    if clock.kind == "date" and step > MONTH / 2:
        return _calendar(clock, begin, end, step, most)
    times = np.linspace(begin, end, most)
    grain = _grain(clock, step)
    times[:-1] = np.maximum(np.round(times[:-1] / grain) * grain, begin)
    times = np.unique(times)
    return _with_later(clock, times, tuple(_text(clock, t, grain) for t in times), step)


def _with_later(clock: Clock, times: FloatArray, names: tuple[str, ...], step: float) -> Moments:
    grain = _grain(clock, step)
    later = times[-1] + step * np.arange(1, AHEAD + 1)
    later = np.round(later / grain) * grain
    told = tuple(_text(clock, t, grain) for t in later)
    return Moments(times, names, later, told, step)


def _grain(clock: Clock, step: float) -> float:
    """Return what times are rounded to: days, seconds, or a round number below the step."""
    if clock.kind == "date":
        return 1.0 if step >= 1.0 else 1.0 / 86_400.0
    grain = 10.0 ** np.floor(np.log10(step))
    return float(grain if step >= 1.0 else grain / 10.0)


def _text(clock: Clock, time: float, grain: float) -> str:
    if clock.kind == "date":
        return clock.to_text(float(time))
    digits = max(0, -round(np.log10(grain)))
    text = clock.to_text(round(float(time), digits))
    return text if np.isclose(float(text), time, rtol=0.0, atol=grain * 1e-3) else f"{time:.12g}"


def _calendar(clock: Clock, begin: float, end: float, step: float, most: int) -> Moments:
    """Return firsts of months, or of years, that lie within the span, and its end."""
    first, last = (_date(t) for t in (begin, end))
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    stride = max(1, int(np.ceil(months / (most - 1))))
    yearly = step >= YEAR
    if yearly:
        stride = 12 * int(np.ceil(stride / 12))
    # Counted back from the latest, so that the last steps are whole ones.
    top = last.year * 12 + (0 if yearly else last.month - 1)
    times, names = [end], [clock.to_text(end)]
    while len(times) < most:
        time = clock.to_number(datetime(top // 12, top % 12 + 1, 1))
        if time < begin:
            break
        if time < end:
            times.append(time)
            names.append(f"{top // 12:04}" if yearly else f"{top // 12:04}-{top % 12 + 1:02}")
        top -= stride
        if top < 12:
            break
    return _with_later(clock, np.array(times[::-1]), tuple(names[::-1]), stride * YEAR / 12.0)


def _date(time: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=float(np.floor(time)))


LEFT_OUT = "Left out: "
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
        return _steps(found), gather_notes(found.notes)
    return (), NO_GAMES


def gather_notes(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes, those on models left out for one reason in one sentence."""
    left: dict[str, list[str]] = {}
    for note in notes:
        if note.startswith(LEFT_OUT):
            name, _, reason = note.removeprefix(LEFT_OUT).partition(". ")
            left.setdefault(reason, []).append(name)
    said: list[str] = []
    for note in notes:
        if not note.startswith(LEFT_OUT):
            said.append(note)
            continue
        reason = note.removeprefix(LEFT_OUT).partition(". ")[2]
        names = left.pop(reason, [])
        if names:
            listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
            said.append(f"{LEFT_OUT}{listed}. {reason}".rstrip())
    return tuple(said)


def _steps(found: Backtest) -> tuple[Step, ...]:
    base = dict(found.nested())
    steps = []
    for rung in found.rungs:
        under = base.get(rung.name)
        gain, error = (0.0, 0.0) if under is None else found.gain(rung.name, under)
        own = "" if rung.note == rung.name else rung.note
        notes = [note for note in (f"gain over {under}" if under else "", own) if note]
        steps.append(
            Step(
                rung.name,
                rung.log_loss,
                rung.log_loss_error,
                gain,
                error,
                rung.accuracy,
                "; ".join(notes),
            )
        )
    return tuple(steps)


STILL = "Nothing drifts in this model, so all times have the same matrix."
COUNTERS = "counters anybody beyond what strengths say"
NO_DISCS: dict[str, str] = {
    "cycles": f"The model is a ranking, in which nobody {COUNTERS}.",
    "not one scale": f"It is not proven that anybody {COUNTERS}.",
    "no evidence": f"Nothing shows that anybody {COUNTERS}: there is no evidence of cycles.",
    "too little data": f"Whether anybody {COUNTERS} cannot be told from these games.",
}
DISCS = (
    "Ways of countering that strengths do not explain: in each picture an item is favoured over "
    "those that follow it anticlockwise within half a turn, most over those a quarter turn on, "
    "beyond what their strengths say."
)


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
    """Collect what there is to say about a table.

    Parameters
    ----------
    answer
        What `fit` found.
    ladder
        What `backtest` found; without it a quick look back is made, if the games are at hand.
    title
        What the table is called; by default its file, with the conditions on its rows.
    most_items, most_times
        How many items and moments are shown at most.
    rng
        Seed.
    report
        Called with a few words at every stage of long work.
    """
    most_items = as_whole("most_items", most_items, least=2)
    most_times = as_whole("most_times", most_times, least=1)
    report("looking for cycles")
    cycles = find_cycles(answer)
    ranking = find_ranking(answer, rng=rng)
    items, why = choose_items(answer, most_items, _spoken_of(answer, cycles))
    if answer.part is not None:
        why = f"{_about(answer.n_items, answer.part)} {why}".rstrip()
    moments = choose_moments(answer, most_times)
    report("looking for changes")
    changes = _changes(answer, items, moments)
    report("comparing everybody")
    items, all_chances = _shown(answer, items, moments)
    n_times = len(moments.times)
    now, later = all_chances.only(slice(0, n_times)), all_chances.only(slice(n_times, None))
    names = tuple(answer.names[k] for k in items)
    games, wins, ties = records(answer, items)
    board = Board.of(answer, LEVEL)
    pool, cyclic = pools(answer, items), _has_cyclic_part(answer)
    steps, notes = climb(answer, ladder, rng=rng, report=report)
    return Findings(
        source=_title(answer) if title is None else title,
        headline=headline(answer.transitive, answer.n_items),
        sentences=sentences(
            answer, cycles, ranking, changes, board.strengths, among=board.among, clear=board.clear
        ),
        facts=tell_facts(
            answer.transitive, cycles, ranking, changes, board.leaders, clear=board.clear
        ),
        verdict=answer.transitive,
        standings=board.standings,
        still=board.still,
        names=names,
        n_items=answer.n_items,
        why_shown=why,
        times=moments.names,
        future=moments.later_names,
        present=presence(answer, items, moments.times, moments.step),
        games=games,
        wins=wins,
        ties=ties,
        together=pool,
        discs=draw_discs(now.squares[0], _together(pool)) if cyclic else (),
        discs_note=DISCS if cyclic else NO_DISCS[answer.transitive.verdict],
        cycles=cycles,
        changes=changes,
        ranking=ranking,
        ladder=steps,
        ladder_notes=notes,
        data=take_stock(answer),
        story=_story(answer),
        **_intervals(now, later),
    )


def _intervals(now: Chances, later: Chances) -> dict[str, Any]:
    """Return chances and strengths with the ends of their intervals, by their names in a report."""
    parts = {"": now.squares[1:], "future_": later.squares[1:]}
    found = {
        f"{prefix}{name}": values
        for prefix, squares in parts.items()
        for name, values in zip(("chances", "low", "high"), squares, strict=True)
    }
    strengths = ("strengths", "strengths_low", "strengths_high")
    return found | dict(zip(strengths, now.lines, strict=True))


def _about(n_items: int, part: Part) -> str:
    """Say which items a page of some of them is about."""
    return (
        f"This page is about {n_items:,} of {part.n_items:,} items, {part.why}; ranks and "
        "strengths are among these."
    )


def _title(answer: FittedTable) -> str:
    """Return what the table is called; nothing where it has no name of its own."""
    return answer.reading.title if is_named(answer) else ""


def _changes(answer: FittedTable, items: IntArray, moments: Moments) -> Changes | None:
    """Return what changed since half of those shown at the end were there; None without times."""
    if answer.seen.begin >= answer.seen.end:
        return None
    there = presence(answer, items, moments.times, moments.step)
    both = (there & there[-1]).sum(axis=1)
    start = int(np.flatnonzero(2 * both >= both[-1])[0])
    since = moments.names[start] if 0 < start < len(there) - 1 else None
    return find_changes(answer, since)


def _spoken_of(answer: FittedTable, cycles: Cycles) -> IntArray:
    """Return the items of the cycles that are listed, the surest cycle's first."""
    named = dict.fromkeys(name for cycle in cycles for name in cycle.items)
    return np.array([answer.number(name) for name in named], dtype=np.int64)


def _shown(answer: FittedTable, items: IntArray, moments: Moments) -> tuple[IntArray, Chances]:
    """Return the items in order of structure, and their chances at all moments."""
    pool = pools(answer, items)
    times = np.concatenate([moments.times, moments.later])
    found = measure(answer, items, times, _together(pool))
    last = len(moments.times) - 1
    if _has_cyclic_part(answer):
        order = order_around(found.squares[0, last], found.squares[1, last], pool)
    else:
        order = order_by_strength(found.lines[0, :, last], pool)
    return items[order], found.ordered(order)


def _together(pool: IntArray) -> BoolArray:  # (n, n)
    return np.asarray(pool[:, None] == pool)


def _has_cyclic_part(answer: FittedTable) -> bool:
    """Return whether there is more to be seen than a ranking."""
    return answer.transitive.has_cycles and answer.model.is_cyclic


def _story(answer: FittedTable) -> tuple[str, ...]:
    still = answer.clock.kind != "none" and not answer.model.moves
    return (*answer.story, STILL) if still else answer.story
