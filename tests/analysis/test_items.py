"""The draws that questions share, their margins, and which items they are about."""

import numpy as np
import pytest

from intransit.analysis.standings import busiest, games_of, largest_group, present
from tests.analysis.worlds import NAMES, answer_to, ladder, play, ring, table


@pytest.fixture(scope="module")
def turned():
    """Rock, paper and scissors whose circle turns round half way."""
    rng = np.random.default_rng(0)
    early, late = (
        play(s * ring(3, 1.5), 900, rng, days=10, begin=b) for s, b in ((1, 0), (-1, 10))
    )
    return answer_to(table(early, late, names=NAMES[:3]), pair_drift=True)


@pytest.fixture(scope="module")
def still():
    """Four items on a ladder, with a small circle, for the whole time."""
    rng = np.random.default_rng(1)
    X = ladder([0.6, 0.2, -0.2, -0.6]) + 0.4 * ring(4)
    return answer_to(table(play(X, 1_500, rng, days=20)))


def test_matchups_that_turn_round_end_up_right(turned):
    """Margins are those of the answer, early and late, and draws lie around them."""
    place = [turned.number(name) for name in NAMES[:3]]
    i, j = np.array(place), np.array([*place[1:], place[0]])
    for when, sign in ((turned.seen.begin, 1.0), (turned.seen.end, -1.0)):
        drawn = turned.posterior.margins(i, j, np.full(3, when))
        mean = turned.margins(when)[i, j]
        assert (sign * mean > 0.5).all()
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=1e-6)
        assert (np.mean(sign * drawn > 0.0, axis=0) > 0.95).all()


def test_draws_asked_a_few_at_a_time_are_the_same_draws(turned):
    """Parts and the whole agree, between the times of the table and beyond them too."""
    i, j = np.tile(np.triu_indices(3, 1), 3)
    times = np.repeat([turned.seen.begin, turned.seen.end - 0.5, turned.seen.end + 9.0], 3)
    whole = turned.expected(i, j, times, np.zeros(9), level=0.9)
    few = 2 * len(turned.posterior)
    parts = turned.expected(i, j, times, np.zeros(9), level=0.9, at_once=few)
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-15)
    draws = turned.posterior.margins(i, j, times)
    alone = [turned.posterior.margins(i[[k]], j[[k]], times[[k]])[:, 0] for k in range(9)]
    np.testing.assert_allclose(draws, np.array(alone).T, atol=1e-12)


def test_margins_at_one_time_are_the_same_asked_in_any_way(turned):
    """Pair by pair, as a matrix, turned round, and of fewer draws."""
    i, j = np.triu_indices(3, 1)
    for when in (turned.seen.begin, turned.seen.end - 0.5, turned.seen.end + 9.0):
        drawn = turned.posterior.margins(i, j, np.full(3, when))
        square = turned.posterior.matrices(np.arange(3), when)
        np.testing.assert_allclose(square[:, i, j], drawn, atol=1e-12)
        np.testing.assert_array_equal(square, -square.swapaxes(1, 2))
        back = turned.posterior.margins(j, i, np.full(3, when))
        np.testing.assert_allclose(back, -drawn, atol=1e-12)
        np.testing.assert_allclose(
            turned.matrix(when)[i, j], turned.posterior.results(drawn).mean(axis=0), atol=1e-6
        )
    few = turned.posterior.thinned(10)
    assert len(few) == 10
    assert len(turned.posterior.thinned(10**6)) == len(turned.posterior)


def test_no_pairs_have_no_margins(still):
    """Nothing asked, nothing answered, in the right shape."""
    nobody, never = np.zeros(0, np.int64), np.zeros(0)
    assert still.posterior.margins(nobody, nobody, never).shape == (len(still.posterior), 0)
    assert still.expected(nobody, nobody, never, never).shape == (0,)
    assert still.expected(nobody, nobody, never, never, level=0.9).shape == (3, 0)


def test_expected_results_are_the_law_at_the_draws(still):
    """Means over draws of the logistic curve are the probabilities of the answer."""
    i, j = np.triu_indices(4, 1)
    when = still.seen.end
    drawn = still.posterior.margins(i, j, np.full(len(i), when))
    slow = (1.0 / (1.0 + np.exp(-drawn))).mean(axis=0)
    np.testing.assert_allclose(still.probabilities(i, j, when), slow, rtol=1e-9)
    low, high = np.quantile(1.0 / (1.0 + np.exp(-drawn)), [0.05, 0.95], axis=0)
    for k, told in enumerate(still.forecasts(i.tolist(), j.tolist())):
        assert told.probability == pytest.approx(slow[k], rel=1e-9)
        assert (told.low, told.high) == pytest.approx((low[k], high[k]), rel=1e-9)


def test_games_of_pairs_are_counted(still):
    """Against a loop over the rows of the table, whichever way round; strangers have none."""
    games = still.games
    i, j = np.array([0, 3, 2]), np.array([1, 0, 3])
    slow = [
        sum(
            c
            for a, b, c in zip(games.first, games.second, games.counts, strict=True)
            if {a, b} == {x, y}
        )
        for x, y in zip(i, j, strict=True)
    ]
    np.testing.assert_array_equal(games_of(still, i, j), slow)
    rng = np.random.default_rng(5)
    a, b, won, day = play(np.zeros((2, 2)), 40, rng, days=9)
    apart = answer_to(table((a, b, won, day), (a + 2, b + 2, won, day)), pairs=False)
    assert games_of(apart, np.array([1, 3]), np.array([2, 2])).tolist() == [0.0, 40.0]


def test_those_that_played_most_stay(still):
    """Of too many items those with most games stay, in their order."""
    games = still.seen.games
    assert busiest(still, np.arange(4)).tolist() == [0, 1, 2, 3]
    kept = busiest(still, np.array([3, 1, 0]), 2)
    assert kept.tolist() == [k for k in (3, 1, 0) if games[k] > games[[0, 1, 3]].min()]


def test_items_are_there_about_their_games_only():
    """A tenth of the span before the first game to a tenth after the last; pools stay apart."""
    rng = np.random.default_rng(5)
    first = play(np.zeros((2, 2)), 40, rng, days=100)
    a, b, won, day = play(np.zeros((2, 2)), 20, rng, days=10, begin=40)
    answer = answer_to(table(first, (a + 2, b + 2, won, day)), pairs=False)
    begin = answer.seen.begin
    for day, there in ((25.0, False), (35.0, True), (45.0, True), (55.0, True), (65.0, False)):
        assert present(answer, begin + day)[2:].tolist() == [there, there]
        assert present(answer, begin + day)[:2].all()
    assert present(answer, begin + 1_000.0).tolist() == [True, True, False, False]
    assert largest_group(answer, np.ones(4, bool)).tolist() == [0, 1]
    assert largest_group(answer, np.zeros(4, bool)).tolist() == []


def test_an_item_that_plays_seldom_is_not_gone_after_its_usual_gap():
    """Three of its own gaps count where they are longer than a tenth of the span."""
    rng = np.random.default_rng(6)
    often = play(np.zeros((2, 2)), 200, rng, days=100)
    a, b = np.full(8, 2), np.zeros(8, int)  # eight games of the third, on days 0 to 84
    seldom = (a, b, np.arange(8) % 2, 12 * np.arange(8))
    gone = (np.full(8, 3), b, np.arange(8) % 2, np.arange(8))  # on days 0 to 7
    answer = answer_to(table(often, seldom, gone), pairs=False)
    assert present(answer, answer.seen.end).tolist() == [True, True, True, False]
