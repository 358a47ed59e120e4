"""The three facts of the first screen, and who may be said to lead."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from intransit import Games, fit
from intransit.report import Board, gather
from intransit.report.wording import tell_facts, tell_far
from tests.report.tables import SCORES, cyclic_answer, judged


def test_facts_follow_the_verdict():
    """Cycles are told with a mixture, everything else with who comes first."""
    for verdict in ("cycles", "no evidence", "too little data"):
        found = gather(cyclic_answer(verdict=verdict))
        titles = [fact.title for fact in found.facts]
        assert len(titles) == 3
        assert ("In place of a best item" in titles) == (verdict == "cycles")
        assert ("Data" in titles) == (verdict == "too little data")
        if verdict != "cycles":
            assert found.facts[0].value == found.standings[0].name


def test_who_is_gone_does_not_lead():
    """Somebody who won everything long ago is listed, and those who lead are said to be others."""
    rng = np.random.default_rng(0)
    old = [("king", name, 1.0, day) for day in range(20) for name in ("a", "b", "c")]
    new = [(*rng.permutation(list("abc"))[:2], 1.0, day) for day in range(60, 200)]
    columns = map(list, zip(*[*old, *new], strict=True))
    answer = fit(Games.from_arrays(*columns), model=SCORES, effective=20)
    board = Board.of(answer)
    assert board.standings[0].name == "king"
    assert not board.still[0]
    assert {one.name for one in board.leaders} == {"a", "b", "c"}
    assert board.among == "Of those still being compared"
    assert any("Of those still being compared, " in said for said in gather(answer).sentences)


def test_rates_without_numbers_of_games_are_not_called_games():
    """A matchup chart tells next to nothing as one game a pair: its owner must hear why."""
    first, second = zip(*combinations("abcd", 2), strict=True)
    games = Games.from_arrays(first, second, [0.6, 0.7, 0.8, 0.6, 0.7, 0.6])
    answer = fit(games, model=SCORES, effective=10)
    found = gather(answer)
    assert found.sentences[0].startswith("There are 6 win rates of 6 pairs of items. The table")
    assert found.facts[2].value == "6 win rates"
    assert answer.story[0] == "6 win rates, each as one game."
    assert any(line.startswith("6 win rates between 4 items") for line in found.data)
    for verdict in ("cycles", "not one scale", "no evidence"):  # these are uncertain for it, too
        told = gather(judged(answer, verdict)).sentences[0]
        assert "The table does not say how many games are behind each win rate" in told
    known = replace(games, counts=np.full(6, 50.0))
    assert "win rate" not in gather(fit(known, model=SCORES, effective=10)).sentences[0]


def test_items_many_games_apart_come_with_a_warning():
    """On a ladder differences do not add up as they should; of a round robin nothing is said."""
    answer = fit(
        Games.from_arrays([f"p{k}" for k in range(9)], [f"p{k + 1}" for k in range(9)], [1] * 9),
        model=SCORES,
        effective=10,
    )
    assert tell_far(answer)[0].startswith("Items are linked by chains of up to 9 games, half of")
    assert tell_far(cyclic_answer()) == []


def test_nobody_leads_where_nothing_connects():
    answer = cyclic_answer(verdict="no evidence")
    found = gather(answer)
    facts = tell_facts(answer, found.cycles, found.ranking, None, ())
    assert facts[0].title == "Nobody leads"
    assert facts[1].value == "–"
