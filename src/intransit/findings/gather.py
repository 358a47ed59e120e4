"""From an answer to everything that a report shows."""

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.answers.changing import find_changes
from intransit.answers.cycling import find_cycles
from intransit.answers.found import Changes, Cycles, Ranking
from intransit.answers.ranking import find_ranking
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.backtest import Backtest
from intransit.core.inputs import as_whole
from intransit.findings.chances import LEVEL, Chances, measure
from intransit.findings.content import Disc, Findings
from intransit.findings.facts import Board, tell_facts
from intransit.findings.inventory import is_named, take_stock
from intransit.findings.items import choose_items, pools, presence, records
from intransit.findings.planes import draw_discs, order_around, order_by_strength
from intransit.findings.steps import climb
from intransit.findings.times import Moments, choose_moments
from intransit.findings.wording import headline, sentences
from intransit.inference.sampling import Report
from intransit.threads import one_thread

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
    pool = pools(answer, items)
    steps, notes = climb(answer, ladder, rng=rng, report=report)
    return Findings(
        source=_title(answer) if title is None else title,
        headline=headline(answer.transitive, answer.n_items),
        sentences=_sentences(answer, cycles, ranking, changes, board),
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
        chances=now.middle,
        low=now.low,
        high=now.high,
        future=moments.later_names,
        future_chances=later.middle,
        future_low=later.low,
        future_high=later.high,
        present=presence(answer, items, moments.times, moments.step),
        games=games,
        wins=wins,
        ties=ties,
        together=pool,
        strengths=now.strengths,
        strengths_low=now.strengths_low,
        strengths_high=now.strengths_high,
        discs=_discs(answer, now.margins, _together(pool)),
        discs_note=DISCS if _has_cyclic_part(answer) else NO_DISCS[answer.transitive.verdict],
        cycles=cycles,
        changes=changes,
        ranking=ranking,
        ladder=steps,
        ladder_notes=notes,
        data=take_stock(answer),
        story=_story(answer),
    )


def _sentences(
    answer: FittedTable, cycles: Cycles, ranking: Ranking, changes: Changes | None, board: Board
) -> tuple[str, str, str]:
    leading = board.strengths
    return sentences(
        answer, cycles, ranking, changes, leading, among=board.among, clear=board.clear
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
        order = order_around(found.margins[last], found.middle[last], pool)
    else:
        order = order_by_strength(found.strengths[:, last], pool)
    return items[order], found.ordered(order)


def _together(pool: IntArray) -> BoolArray:  # (n, n)
    return np.asarray(pool[:, None] == pool)


def _has_cyclic_part(answer: FittedTable) -> bool:
    """Return whether there is more to be seen than a ranking."""
    return answer.transitive.has_cycles and answer.model.is_cyclic


def _discs(answer: FittedTable, margins: FloatArray, together: BoolArray) -> tuple[Disc, ...]:
    return draw_discs(margins, together) if _has_cyclic_part(answer) else ()


def _story(answer: FittedTable) -> tuple[str, ...]:
    still = answer.clock.kind != "none" and not answer.model.moves
    return (*answer.story, STILL) if still else answer.story
