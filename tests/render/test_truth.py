"""What the page says is true of the page: a reader of pages that notices contradictions."""

import re
from dataclasses import replace
from itertools import compress

import numpy as np
import pytest

from intransit import Games, fit
from intransit.answers.metagame import simulate_games
from intransit.findings.gather import gather
from intransit.render.page import write_page
from tests.findings.tables import SCORES, cyclic_answer, judged, odd_games
from tests.render.test_page import Reader

INTERVAL = re.compile(
    r"([\d.]+) %[^%]{0,60}?(?:interval )?\(?(?:90 % interval )?([\d.]+) to ([\d.]+) %"
)


def text_of(findings):
    """Return all that a page says, in one line."""
    texts = Reader(write_page(findings)).texts
    return re.sub(r"\s+", " ", " ".join(texts).replace("\xa0", " "))


def contradictions(findings):
    """Return what on a page cannot be true of it."""
    said, found = text_of(findings), []
    found += [f"glued per cent: {part}" for part in re.findall(r"\d%", said)]
    found += [f"no error at all: {part}" for part in re.findall(r"0\.0000\d* ± 0\.0+\b", said)]
    for part in INTERVAL.finditer(said):
        value, low, high = map(float, part.groups())
        if not low <= value <= high:
            found.append(f"outside of its interval: {part.group()}")
    if not findings.times[-1] and re.search(r"[Dd]rift|since \d", said):
        found.append("a table without times is said to change")
    if "too little" in findings.verdict.verdict and "100.0 to 100.0 %" in said:
        found.append("certain, from too little data")
    second = re.search(r"ahead of (.+?) with", said)
    listed = list(compress((one.name for one in findings.standings), findings.still))
    if second and second.group(1) != listed[1]:
        found.append(f"not second: {second.group(1)}")
    if not np.array_equal(findings.wins + findings.wins.T + findings.ties, findings.games):
        found.append("games do not add up")
    return found


def with_ties():
    games, _ = simulate_games(9, 400, n_days=60, cyclic=0.0, ties=0.3, rng=1)
    return fit(games, model=SCORES, effective=20)


def without_times():
    games, _ = simulate_games(9, 900, n_days=1, cyclic=0.0, rng=2)
    names = np.array(games.names)
    again = Games.from_arrays(names[games.first], names[games.second], games.outcomes)
    return fit(again, effective=5)


@pytest.mark.parametrize("name", sorted(odd_games()))
def test_pages_of_odd_tables_do_not_contradict_themselves(name):
    answer = fit(odd_games()[name], effective=5)
    assert contradictions(gather(answer)) == []


@pytest.mark.parametrize("verdict", ["cycles", "no evidence", "too little data"])
def test_pages_of_every_verdict_do_not_contradict_themselves(verdict):
    answer = cyclic_answer(verdict=verdict)
    assert contradictions(gather(answer)) == []
    nothing = judged(answer, verdict, gain=0.0, gain_error=0.0, share=0.03, share_high=0.0)
    assert contradictions(gather(nothing)) == []


@pytest.mark.parametrize("make", [with_ties, without_times])
def test_pages_of_simulated_tables_do_not_contradict_themselves(make):
    assert contradictions(gather(make())) == []


def test_contradictions_are_noticed():
    """The reader is no check that cannot fail."""
    findings = gather(cyclic_answer(SCORES, verdict="no evidence"))
    assert contradictions(findings) == []
    wrong = ("20% are.", "+0.0000 ± 0.0000.", "3 %, interval 0 to 0 %.")
    wrong = replace(findings, sentences=wrong)
    assert len(contradictions(wrong)) == 3
    last = findings.standings[-1].name
    sentences = (f"x leads, ahead of {last} with 3 %.", *findings.sentences[1:])
    assert contradictions(replace(findings, sentences=sentences)) == [f"not second: {last}"]
    still = replace(findings, times=("",), sentences=("It may drift.",) * 3)
    assert "a table without times is said to change" in contradictions(still)
    assert contradictions(replace(findings, wins=findings.wins + 1)) == ["games do not add up"]
