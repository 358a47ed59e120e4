"""The draws that questions share, their margins, and which items they are about."""

import numpy as np
import pytest

from intransit.answers import sampled
from intransit.answers.sampled import (
    WIDTH,
    busiest,
    expected,
    games_of,
    largest_group,
    margins_of,
    present,
    sample,
    settled,
    spread_of,
    surely_positive,
    widened,
)
from tests.answers.worlds import NAMES, answer_to, ladder, play, ring, table


@pytest.fixture(scope="module")
def turned():
    """Rock, paper and scissors whose circle turns round half way."""
    rng = np.random.default_rng(0)
    early, late = (
        play(s * ring(3, 1.5), 900, rng, days=10, begin=b) for s, b in ((1, 0), (-1, 10))
    )
    return answer_to(table(early, late, names=NAMES[:3]), turning=True)


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
    times = np.array([turned.seen.begin, turned.seen.end])
    mean, drawn = margins_of(turned, sample(turned), i, j, times)
    for k, when in enumerate(times):
        np.testing.assert_array_equal(mean[:, k], turned.path.margin(i, j, when))
    assert (mean[:, 0] > 0.5).all()
    assert (mean[:, 1] < -0.5).all()
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.12)


def test_draws_asked_a_few_at_a_time_are_the_same_draws(monkeypatch, turned):
    """At times that have states nothing is drawn anew: parts and the whole agree."""
    i, j = np.triu_indices(3, 1)
    times, draws = turned.path.times[[0, -1]], sample(turned)
    whole = margins_of(turned, draws, i, j, times)[1]
    monkeypatch.setattr(sampled, "MOST_AT_ONCE", 50)
    np.testing.assert_array_equal(margins_of(turned, draws, i, j, times)[1], whole)


def test_no_pairs_have_no_margins(still):
    """Nothing asked, nothing answered, in the right shape."""
    nobody, draws = np.zeros(0, np.int64), sample(still, 10)
    mean, drawn = margins_of(still, draws, nobody, nobody, np.array([still.seen.end]))
    assert (mean.shape, drawn.shape) == ((0, 1), (10, 0, 1))


def test_wide_draws_are_as_much_further_off(still):
    """Deviations grow by the width, around the same middle."""
    i, j = np.triu_indices(4, 1)
    when, draws = still.path.times[-1:], sample(still)
    narrow, wide = (
        margins_of(still, found, i, j, when)[1] for found in (draws, widened(still, draws))
    )
    np.testing.assert_allclose(spread_of(wide), WIDTH * spread_of(narrow), rtol=1e-9)
    np.testing.assert_allclose(wide.mean(axis=0), narrow.mean(axis=0), atol=1e-9)


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


def test_those_that_played_most_stay(monkeypatch, still):
    """Of too many items those with most games stay, in their order."""
    games = still.seen.games
    assert busiest(still, np.arange(4)).tolist() == [0, 1, 2, 3]
    monkeypatch.setattr(sampled, "MOST_ITEMS", 2)
    kept = busiest(still, np.array([3, 1, 0]))
    assert kept.tolist() == [k for k in (3, 1, 0) if games[k] > games[[0, 1, 3]].min()]


def test_shared_draws_have_the_mean_and_spread_of_the_posterior(still):
    """Pairs of opposite steps: the mean is exact, and deviations are those of the outlook."""
    draws = settled(still, sample(still, 400), 400, 0)
    i, j = np.triu_indices(4, 1)
    when = still.path.times[-1]
    margins = draws.margin(i, j, when)
    mean, variance = still.path.outlook(i, j, when)
    assert len(draws) == 400
    np.testing.assert_allclose(spread_of(margins), np.sqrt(variance), rtol=0.2)
    np.testing.assert_allclose(margins.mean(axis=0), mean, atol=0.1 * np.sqrt(variance).max())
    np.testing.assert_allclose(
        expected(still, mean, np.sqrt(variance)),
        still.probabilities(i, j, when),  # the same law, asked the long way
        rtol=1e-9,
    )


def test_a_large_answer_needs_few_solves(monkeypatch, still):
    """Mixtures of a few solved steps are draws too: same mean, deviations to a fifth."""
    monkeypatch.setattr("intransit.answers.sampled.DENSE_LIMIT", 0)
    i, j = np.triu_indices(4, 1)
    draws = sample(still, 400)
    spread = spread_of(settled(still, draws, 400, 0).margin(i, j, still.path.times[-1]))
    exact = still.path.deviation(i, j, still.path.times[-1])
    np.testing.assert_allclose(spread, exact, rtol=0.3)


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


def test_signs_are_sure_by_the_normal_law():
    """A known number has a known sign, and nothing known is even."""
    sure = surely_positive(np.array([0.0, 1.0, -1.0, 1.2816]), np.array([0.0, 0.0, 0.0, 1.0]))
    np.testing.assert_allclose(sure, [0.5, 1.0, 0.0, 0.9], atol=1e-4)
