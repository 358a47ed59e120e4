"""Every sentence of a report is true of the report, and the check of that can fail."""

from dataclasses import replace

import numpy as np
import pytest

import intransit as it
from benchmarks.consistency import check, contradictions
from intransit.analysis.cycles import Share
from intransit.datasets import metagame
from intransit.report import gather
from tests.report.tables import cyclic_answer, judged, odd_games


@pytest.mark.parametrize("seed", range(1_004, 1_010))
def test_reports_of_all_kinds_of_tables_do_not_contradict_themselves(seed):
    """Simulated tables; three hundred more by `python -m benchmarks.consistency`."""
    assert check(seed)[2] == []


@pytest.mark.parametrize("name", sorted({*odd_games()} - {"many items"}))
def test_reports_of_odd_tables_do_not_contradict_themselves(name):
    """Two items, one game, ties only, and the like."""
    answer = it.fit(odd_games()[name], effective=5)
    assert contradictions(answer, gather(answer)) == []


@pytest.mark.parametrize("verdict", ["cycles", "not one scale", "no evidence", "too little data"])
def test_reports_of_every_verdict_do_not_contradict_themselves(verdict):
    """Also where there is next to nothing to report."""
    answer = cyclic_answer(verdict=verdict)
    assert contradictions(answer, gather(answer)) == []
    nothing = judged(
        answer, verdict, gain=0.0, gain_error=0.0, share=0.03, share_low=0.0, share_high=0.0
    )
    assert contradictions(nothing, gather(nothing)) == [
        "share: an interval does not hold its own value"
    ]


@pytest.fixture(scope="module")
def told():
    """An answer with cycles, and its findings."""
    answer = it.fit(metagame()[0], effective=10, seconds=20)
    return answer, gather(answer)


def test_the_bundled_table_does_not_contradict_itself(told):
    """Its cycles are listed, and every number is there once."""
    answer, found = told
    assert found.verdict.has_cycles
    assert len(found.cycles)
    assert contradictions(answer, found) == []


def test_what_is_not_true_is_noticed(told):
    """One falsehood at a time."""
    answer, found = told
    ranking, cycles, verdict = found.ranking, found.cycles, found.verdict
    alone = replace(ranking, equilibrium=(Share("x", 0.99, 0.9, 1.0, 1.0),))
    none = replace(cycles, found=(), n_found=0)
    cycle = cycles.found[0]
    wrong = replace(cycle, chances=(0.51, *cycle.chances[1:]))
    first, *others = found.standings
    false = {
        "neither one listed": replace(found, cycles=none, ranking=replace(ranking, n_upsets=0)),
        "no word of it": replace(found, cycles=none),
        "in place of an item": replace(found, ranking=alone),
        "cycles listed where": replace(found, verdict=replace(verdict, verdict="no evidence")),
        "listed, ": replace(found, cycles=replace(cycles, found=(wrong,))),
        "does not hold its own value": replace(found, low=found.chances + 0.01),
        "do not add up": replace(found, wins=found.games + 1.0),
        "on the page": replace(found, standings=(replace(first, strength=0.99), *others)),
        "20%": replace(found, sentences=("20% of the differences", *found.sentences[1:])),
        "is not within": replace(found, sentences=("3 % (90 % interval 0 to 0 %)", "", "")),
        "are said to come first": replace(
            found, sentences=("", "x leads, ahead of y with 3 %.", ""), n_items=sum(found.still)
        ),
    }
    unsure = replace(cycles, found=(replace(cycle, probability=0.6),), level=0.9)
    leads = (replace(found.facts[0], title="Leads", value=first.name), *found.facts[1:])
    few = replace(verdict, verdict="too little data", detectable=1.0)
    more = replace(verdict, verdict="not one scale")
    false |= {
        "than it is listed": replace(found, cycles=unsure),
        "may be 2 lower": replace(
            found, facts=leads, standings=(replace(first, rank_high=3), *others)
        ),
        "of pairs that had met": replace(
            found, verdict=few, sentences=("the same pairs must meet again.", "", "")
        ),
        "nothing beyond one": replace(
            found, verdict=more, sentences=("A single scale leaves 0 % of the differences", "", "")
        ),
        "than would be found": replace(
            found, verdict=replace(verdict, verdict="no evidence", share_low=0.5, detectable=0.1)
        ),
        "1 games": replace(found, sentences=("There are 1 games", "", "")),
    }
    for part, findings in false.items():
        assert any(part in line for line in contradictions(answer, findings)), part
    timeless = replace(answer, clock=replace(answer.clock, kind="none"))
    assert any("drift" in line for line in contradictions(timeless, found))
    hardly = replace(verdict, verdict="too little data", detectable=1.0, n_series=9, n_pairs=9)
    assert contradictions(answer, replace(found, verdict=hardly, cycles=none, discs=())) != []
    assert np.isfinite(found.chances).all()
