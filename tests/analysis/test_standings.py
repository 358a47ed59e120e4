"""Ranks with their ranges, and ratings on a scale like Elo's."""

import numpy as np
import pytest

import intransit as it
from intransit.analysis.standings import _rank_range
from intransit.model import Factors, Model, PairEffects, Readings, Scores, Still
from tests.analysis.worlds import ladder, play, ring, table

STATIC = Scores(walk=Still()) + PairEffects(walk=Still())


def games_of(margins, n_games=600, ties=0.0, seed=0):
    rng = np.random.default_rng(seed)
    first, second, won, day = play(margins, n_games, rng)
    won[rng.random(len(won)) < ties] = 0.5
    return table((first, second, won, day))


@pytest.fixture(scope="module")
def answer():
    """An answer with every kind of term."""
    margins = ladder(np.linspace(1.0, -1.0, 6)) + 0.6 * ring(6)
    return it.fit(games_of(margins), model=Scores() + Factors(1) + PairEffects(), effective=20)


def test_ratings_are_mean_margins_on_elos_scale(answer):
    """A slow twin: row means of the draws' margins, 400 points for odds of ten to one."""
    posterior, items = answer.posterior, np.arange(6)
    X = posterior.matrices(items, answer.seen.end)
    slow = 1500 + 400 * X.mean(axis=2) / np.log(10)
    np.testing.assert_allclose(posterior.ratings(items, answer.seen.end), slow, atol=1e-6)
    np.testing.assert_allclose(slow.mean(axis=1), 1500)
    few = posterior.ratings(items[[4, 1]], answer.seen.end)
    np.testing.assert_allclose(few, slow[:, [4, 1]], atol=1e-6)  # whoever else is asked for


def test_ratings_predict_games_where_one_scale_does():
    """Between two items of a ladder the difference of ratings gives the odds, ties as half."""
    for ties in (0.0, 0.1):
        answer = it.fit(
            games_of(ladder([1.2, 0.4, -0.3, -1.3]), 4000, ties),
            model=Model((Scores(walk=Still()),)),
            effective=50,
        )
        rated = {one.name: one.rating for one in answer.rank()}
        chance = 1 / (1 + 10 ** ((rated["item 03"] - rated["item 00"]) / 400))
        assert chance == pytest.approx(float(answer.probability("item 00", "item 03")), abs=0.01)


def test_ratings_agree_with_chances_where_little_is_known():
    """One game: a lead of 1,200 points, odds of 1,000 to one, went with a chance of 76 %."""
    answer = it.fit(it.Games.from_arrays(["a"], ["b"], [1.0]), effective=50)
    first, second = answer.rank()
    chance = 1 / (1 + 10 ** ((second.rating - first.rating) / 400))
    assert chance == pytest.approx(float(answer.probability("a", "b")), abs=0.1)
    assert first.rating + second.rating == pytest.approx(3000)


def test_readings_have_ratings_too():
    """However clear the readings are, a rating is a number."""
    names, margins = ["a", "b", "c"], [9.0, 8.5, 17.0]
    games = it.Games.from_arrays(
        [names[k] for k in (0, 1, 0)] * 8, [names[k] for k in (1, 2, 2)] * 8, [1.0] * 24,
        margins=(np.array(margins * 8) + np.random.default_rng(0).normal(0, 0.2, 24)).tolist(),
    )  # fmt: skip
    ranked = it.fit(
        games, model=Model((Scores(walk=Still()),)), law=Readings(), effective=20
    ).rank()
    assert [one.name for one in ranked] == ["a", "b", "c"]
    assert all(np.isfinite([one.rating_low, one.rating, one.rating_high]).all() for one in ranked)


def test_ranges_hold_the_ranks_of_the_draws(answer):
    """A slow twin: in at least nine draws of ten the place among all lies within the range."""
    drawn = answer.posterior.strengths(np.arange(6), answer.seen.end)
    places = 1 + (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2)
    for one in answer.rank():
        mine = places[:, answer.number(one.name)]
        assert one.rank_low <= one.rank <= one.rank_high
        assert np.mean((one.rank_low <= mine) & (mine <= one.rank_high)) >= 0.9
        assert one.low <= one.strength <= one.high
        assert one.rating_low <= one.rating <= one.rating_high
    wide = {one.name: one for one in answer.rank(level=0.99)}
    for one in answer.rank(level=0.5):
        assert wide[one.name].rank_low <= one.rank_low <= one.rank_high <= wide[one.name].rank_high


def test_of_somebody_whom_nothing_connects_nothing_is_known():
    """Two pairs that never met are two groups; frames have the same columns as ranks."""
    games = it.Games.from_arrays(["a", "c"] * 10, ["b", "d"] * 10, [1.0, 0.0] * 10)
    answer = it.fit(games, model=STATIC, effective=20)
    assert sum(one.rating for one in answer.rank()) / 4 == pytest.approx(1500)
    frame = answer.rank_frame()
    assert {"rank_low", "rank_high", "rating", "rating_low", "rating_high"} <= set(frame.columns)
    assert {(one.rank_low, one.rank_high) for one in answer.rank()} <= {(1, 3), (2, 4), (1, 4)}


def test_of_strangers_it_is_not_known_who_is_stronger():
    """The first of three may have two strangers above it, and they all three or none."""
    drawn = np.tile([0.8, 0.5, 0.2, 0.6, 0.4], (20, 1))
    order = np.argsort(-drawn[0])
    best, worst = _rank_range(drawn, order, np.array([0, 0, 0, 1, 1]), 0.9)
    assert best.tolist() == [1, 2, 3, 1, 2]
    assert worst.tolist() == [3, 4, 5, 4, 5]
    best, worst = _rank_range(drawn, order, np.zeros(5, int), 0.9)
    assert best.tolist() == worst.tolist() == [1, 3, 5, 2, 4]
