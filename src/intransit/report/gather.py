"""From an answer to everything that a report shows: what was found, in numbers and in words.

The ladder of models is from a backtest, or a quick look back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from intransit.analysis import FittedTable
from intransit.analysis.cycles import find_cycles, find_ranking
from intransit.analysis.standings import (
    Changes,
    Standing,
    find_changes,
    find_standings,
    largest_group,
    present,
)
from intransit.arrays import IntArray
from intransit.backtest import Backtest, quick_backtest
from intransit.backtest.result import tell_left_out
from intransit.checks import as_whole
from intransit.errors import InputError
from intransit.inference.sampling import Report
from intransit.report.content import (
    Findings,
    Moments,
    Step,
    choose_items,
    choose_moments,
    compared_about,
    find_discs,
    measure,
    order_around,
    order_by_strength,
    pools,
    records,
)
from intransit.report.wording import (
    and_list,
    headline,
    is_named,
    sentences,
    take_stock,
    tell_facts,
)
from intransit.tasks import one_thread

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
        return _steps(found), (*found.how, *tell_together(found.left_out), found.on_errors)
    return (), NO_GAMES


def tell_together(left_out: Mapping[str, str]) -> list[str]:
    """Return which models were left out, those for one reason in one sentence."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return [tell_left_out(and_list(some), reason) for reason, some in names.items()]


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
    among: str  # who the leaders are, in words, where the first two are not the first two of all

    @classmethod
    def of(cls, answer: FittedTable) -> "Board":
        """Rank everybody."""
        there = present(answer, answer.seen.end)
        group = largest_group(answer, there)
        names = {answer.names[k] for k in group} if len(group) > 1 else set()
        standings = find_standings(answer)
        leaders = [one for one in standings if one.name in names]
        among = ""
        if standings[:2] != leaders[:2]:
            apart = len(np.unique(answer.posterior.groups)) > 1
            connected = "the largest group that comparisons connect"
            among = f"Of {connected if apart else 'those still being compared'}"
        still = tuple(bool(there[answer.number(one.name)]) for one in standings)
        return cls(tuple(standings), still, tuple(leaders), among)

    @property
    def clear(self) -> bool:
        """Whether the first leader is first beyond doubt: it has no worse rank than its own."""
        return len(self.leaders) > 1 and self.leaders[0].rank_high <= self.leaders[0].rank


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
    report("comparing everybody")
    cyclic = verdict.has_cycles and answer.model.is_cyclic  # there is more than a ranking
    board = Board.of(answer)
    steps, notes = climb(answer, ladder, rng=rng, report=report)
    still = answer.clock.kind != "none" and not answer.model.moves
    told = (cycles, ranking, changes, board.leaders)
    return Findings(
        source=(answer.reading.title if is_named(answer) else "") if title is None else title,
        headline=headline(verdict, answer.n_items),
        sentences=sentences(answer, *told, among=board.among, clear=board.clear),
        facts=tell_facts(verdict, *told, clear=board.clear),
        verdict=verdict,
        standings=board.standings,
        still=board.still,
        n_items=answer.n_items,
        why_shown=why,
        times=moments.names,
        future=moments.later_names,
        discs_note=DISCS if cyclic else NO_DISCS[verdict.verdict],
        cycles=cycles,
        changes=changes,
        ranking=ranking,
        ladder=steps,
        ladder_notes=notes,
        data=take_stock(answer),
        story=(*answer.story, STILL) if still else answer.story,
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
    else:
        order = order_by_strength(lines[0, :, n - 1], pool)
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
