"""Strength is worked out in one place: ranks, paths and pages say the same of the same item."""

from dataclasses import replace

import numpy as np
import pytest

import intransit as it
from intransit.analysis.standings import N_TIMES, strength_paths
from intransit.model import Factors, PairEffects, Scores
from intransit.report import gather
from tests.analysis.worlds import answer_to, ladder, play, ring, table


def season(n_items=6, ties=False, seed=0):
    """Return games of items that drift and go round, day by day."""
    rng = np.random.default_rng(seed)
    X = ladder(np.linspace(1.0, -1.0, n_items)) + 0.6 * ring(n_items)
    first, second, won, day = play(X, 700, rng, days=20)
    if ties:
        won[rng.random(len(won)) < 0.15] = 0.5
    return table((first, second, won, day))


@pytest.fixture(scope="module", params=[False, True], ids=["wins", "ties"])
def answer(request):
    """An answer with factors and effects of pairs."""
    model = Scores() + Factors(1) + PairEffects()
    return it.fit(season(ties=request.param), model=model, effective=20)


def test_rank_paths_and_page_say_exactly_the_same(answer):
    """Same item, same time: mean and both ends of the interval, to the last bit."""
    found = gather(answer, most_times=5)
    chosen = list(answer.names)
    n_times = N_TIMES
    path = strength_paths(answer, chosen, n_times=n_times)
    frame = answer.path_frame(chosen)
    for k, at in enumerate(found.times):
        when = answer.when(at)
        standings = {one.name: one for one in answer.rank(at)}
        for i, name in enumerate(found.names):
            one = standings[name]
            page = [x[i, k] for x in (found.strengths, found.strengths_low, found.strengths_high)]
            assert page == [one.strength, one.low, one.high]
            if when in (answer.seen.begin, answer.seen.end):
                place = 0 if when == answer.seen.begin else -1
                mine = chosen.index(name)
                drawn = [x[mine, place] for x in (path.strengths, path.low, path.high)]
                assert drawn == page
                row = frame[frame["item"] == name].iloc[place]
                assert [row["strength"], row["low"], row["high"]] == page
    table_of_ranks = answer.rank_frame()
    assert table_of_ranks["strength"].tolist() == [one.strength for one in answer.rank()]


def test_strengths_are_mean_chances_against_the_others(answer):
    """A slow twin: means of the draws' chances of every pair, a tie as half a win."""
    n, posterior, when = answer.n_items, answer.posterior, answer.seen.end
    drawn = posterior.results(posterior.matrices(np.arange(n), when))
    slow = (drawn.sum(axis=2) - 0.5) / (n - 1)
    np.testing.assert_allclose(posterior.strengths(np.arange(n), when), slow, atol=1e-6)
    mean, low, high = answer.strengths(np.arange(n), when, level=0.8)
    np.testing.assert_allclose(mean, slow.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose([low, high], np.quantile(slow, [0.1, 0.9], axis=0), atol=1e-6)
    np.testing.assert_allclose(mean, (answer.matrix().sum(axis=1) - 0.5) / (n - 1), atol=1e-6)
    some = answer.strengths(np.array([4, 1]), when, level=0.8)
    np.testing.assert_array_equal(some, np.array([mean, low, high])[:, [4, 1]])


def test_of_many_items_a_panel_stands_for_the_others(answer):
    """Where there are many, a strength is the mean against some of them, drawn once."""
    whole = answer.strengths(np.arange(6), answer.seen.end)[0]
    few = replace(answer.posterior, panel_size=4)
    _, (panel,) = few._panels
    assert len(panel) == 4
    drawn = few.strengths(np.arange(6), answer.seen.end)
    matrix = few.results(few.matrices(np.arange(6), answer.seen.end))
    for k in range(6):
        others = [j for j in panel if j != k]
        np.testing.assert_allclose(drawn[:, k], matrix[:, k, others].mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(drawn.mean(axis=0), whole, atol=0.15)


def test_an_item_that_nobody_met_has_a_half_and_nothing_is_known():
    """Strength is against those that comparisons connect an item with."""
    rng = np.random.default_rng(0)
    a, b, won, day = play(ladder([1.0, 0.0, -1.0]), 200, rng, days=10)
    pair = (
        np.array([3] * 20),
        np.array([4] * 20),
        rng.integers(2, size=20) * 1.0,
        np.arange(20) // 2,
    )
    answer = answer_to(table((a, b, won, day), pair), pairs=False, effective=10)
    names = {one.name: one for one in answer.rank()}
    assert names["item 03"].strength + names["item 04"].strength == pytest.approx(1.0)
    assert answer.rank()[0].name == "item 00"
    alone = it.fit(it.Games.from_arrays(["x"], ["y"], [1]), effective=5)
    assert {one.name for one in alone.rank()} == {"x", "y"}


def test_many_small_groups_are_each_measured_by_themselves():
    """Of two items whom nobody else met the chances add up, however many others there are."""
    rng = np.random.default_rng(1)
    field = play(ladder(rng.normal(size=30)), 400, rng, days=1)
    clubs = [np.array([30 + 2 * k] * 20) for k in range(15)]
    games = [(a, a + 1, np.ones(20), np.zeros(20, int)) for a in clubs]
    answer = answer_to(table((field[0], field[1], field[2], 0 * field[3]), *games), effective=5)
    few = replace(answer.posterior, panel_size=8)
    of_item, panels = few._panels
    assert len(panels[of_item[0]]) == 8  # of the one group that is larger
    assert all(len(panel) < 16 for panel in panels)
    assert sorted(np.concatenate(panels)[8:]) == list(range(30, 60))
    strong, weak = np.arange(30, 60, 2), np.arange(31, 60, 2)
    drawn = few.strengths(np.arange(60), answer.seen.end)
    np.testing.assert_allclose(drawn[:, strong] + drawn[:, weak], 1.0, atol=1e-9)
    assert drawn[:, strong].mean(axis=0).min() > 0.8
    ratings = few.ratings(np.arange(60), answer.seen.end).mean(axis=0)
    assert np.all(ratings[strong] > 1600.0)
    assert np.all(ratings[weak] < 1400.0)
