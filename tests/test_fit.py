"""What `fit` is told: models, laws, how long to draw; and what makes no sense."""

import numpy as np
import pytest

import intransit as it
from intransit.inference.observations import model_for
from intransit.model import By, Drift, Factors, Levels, Model, PairEffects, Readings, Scores, Wins
from intransit.model.terms import Still
from tests.analysis.worlds import ladder, play, ring, table

SCORES = Model((Scores(walk=Still()),))


@pytest.fixture(scope="module")
def games():
    """Four items, twenty days."""
    return table(play(ladder([0.6, 0.2, -0.2, -0.6]), 200, np.random.default_rng(0), days=20))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seconds": 0}, "seconds"),
        ({"seconds": -1.0}, "seconds"),
        ({"effective": 0}, "effective"),
        ({"chains": 0}, "chains"),
        ({"model": "scores"}, "model: a str was given; add up terms"),
        ({"model": Scores() + By("surface")}, 'read the table with by="surface"'),
        ({"model": Scores() + Factors(2)}, "2 factors for 4 items; at most 1"),
        ({"law": Readings()}, "needs a margin in every row"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_settings_without_sense_get_one_sentence(games, settings, words):
    """Whatever is wrong is named, before any work, in one line."""
    with pytest.raises(it.InputError) as told:
        it.fit(games, **settings)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Scores() + Scores(), "there twice"),
        (lambda: Scores() + PairEffects() + PairEffects(walk=Still()), "there twice"),
        (lambda: Scores() + By("a") + By("a"), "there twice"),
        (lambda: Scores(-1.0), "Scores: scale"),
        (lambda: Factors(0), "Factors: n"),
        (lambda: Drift(0.0), "Drift: rate"),
        (lambda: Scores() + "drift", "not a term"),
        (lambda: Model(()), "no term"),
        (lambda: By(""), "not the name of a column"),
        (lambda: Scores(walk="slow"), "walk must be"),
        (lambda: Levels(0), "Levels: most"),
        (lambda: Readings(0.0), "Readings: noise"),
    ],
)
def test_models_without_sense_get_one_sentence(build, words):
    """A term twice, a negative scale, a model of nothing."""
    with pytest.raises(it.InputError) as told:
        build()
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_column_that_does_not_exist_is_named_beside_those_that_do():
    """The sentence says what the table was read with."""
    games = it.Games.from_arrays(["a", "b"], ["b", "c"], [1, 1], by={"surface": ["clay", "clay"]})
    with pytest.raises(it.InputError, match="it was read with surface"):
        it.fit(games, model=Scores() + By("court"))


def test_settings_make_the_model(games):
    """Planes, effects of pairs and drift as they are asked for, the rest as usual."""
    assert [type(t) for t in model_for(games).terms] == [Scores, Factors, PairEffects]
    still = model_for(games, factors=0, pairs=False, drifting=False)
    assert still == Model((Scores(walk=Still()),))
    assert model_for(games, factors=1).n_factors == 1
    with pytest.raises(it.InputError, match="factors"):
        model_for(games, factors=-1)
    late = games.only(games.times > np.unique(games.times)[-4])
    assert not model_for(late).moves  # with three times nothing drifts
    assert model_for(late, drifting=True).moves


def test_the_same_seed_gives_the_same_draws_and_another_seed_others(games):
    """Draws come from the seed alone, whatever the number of threads."""
    one, two, other = (it.fit(games, model=SCORES, effective=10, rng=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.posterior.draws.states, two.posterior.draws.states)
    assert not np.array_equal(one.posterior.draws.states, other.posterior.draws.states)
    assert one.rank() == two.rank()


def test_the_budget_ends_the_drawing_and_the_story_says_so(games):
    """A second is not enough for a million draws."""
    short = it.fit(games, effective=1e6, seconds=1.5)
    assert not short.posterior.mixing.reached
    assert "before the 1000000 effective draws asked for" in " ".join(short.story)
    enough = it.fit(games, model=SCORES, effective=20)
    assert enough.posterior.mixing.reached
    assert enough.posterior.mixing.worst >= 20
    assert "stopped" not in " ".join(enough.story)
    assert len(enough.posterior.mixing.effective) == 6  # of every pair


def test_scales_stay_of_the_size_of_what_they_scale():
    """Where nothing moves, rates shrink towards 0; sizes of scores and effects do not run away.

    A half-Cauchy scale of ten items that all lie within 1 of each other is hardly ever above 10.
    """
    rng = np.random.default_rng(3)
    X = ladder(np.linspace(0.4, -0.4, 10)) + 0.3 * ring(10)
    model = Scores() + PairEffects()
    answer = it.fit(table(play(X, 2_500, rng, days=40)), model=model, effective=60)
    draws = answer.posterior.draws
    assert draws.scales[:, 0].max() < 10.0
    assert draws.number_scales.max() < 10.0
    assert np.median(draws.scales[:, 0]) == pytest.approx(0.3, abs=0.25)


def test_nothing_is_said_to_move_where_there_are_no_times():
    """A drifting model of a table without times has nothing to learn a drift from."""
    games = table(play(ladder([0.6, 0.2, -0.2, -0.6]), 100, np.random.default_rng(0), days=1))
    answer = it.fit(games, model=Scores(), effective=10)
    assert "move by" not in " ".join(answer.story)


def test_progress_is_told(games):
    """Stages come by, sweeps among them."""
    said = []
    it.fit(games, model=SCORES, effective=10, report=said.append)
    assert said[0] == "testing for cycles"
    assert any("effective draws" in words for words in said)


def test_one_law_may_stand_in_for_another():
    """Ties may be half wins, or a level of their own: chances hardly differ, only one has ties."""
    rng = np.random.default_rng(1)
    first, second, won, _ = play(ladder([0.8, 0.0, -0.8]), 900, rng)
    won[rng.random(900) < 0.2] = 0.5
    games = it.Games.from_arrays(first, second, won)
    halves = it.fit(games, model=SCORES, law=Wins(), effective=30)
    own = it.fit(games, model=SCORES, effective=30)
    np.testing.assert_allclose(halves.matrix(), own.matrix(), atol=0.03)
    assert halves.probability("0", "1").tie == 0.0
    assert own.probability("0", "1").tie == pytest.approx(0.2, abs=0.05)
    assert isinstance(own.posterior.law, Levels)


def test_readings_of_margins_are_recovered_with_their_noise():
    """A table of score differences: scores, noise and a forecast margin are those that it had."""
    rng = np.random.default_rng(2)
    scores = np.array([4.0, 1.0, -1.0, -4.0])
    first = rng.integers(4, size=600)
    second = (first + rng.integers(1, 4, size=600)) % 4
    margins = scores[first] - scores[second] + 2.0 * rng.normal(size=600)
    games = it.Games.from_arrays(first, second, margins > 0, margins=margins)
    answer = it.fit(games, model=SCORES, law=Readings(), effective=30)
    assert "600 games as readings of margins." in answer.story
    assert answer.posterior.draws.noise.mean() == pytest.approx(2.0, rel=0.1)
    np.testing.assert_allclose(answer.margins(), ladder(scores), atol=0.5)
    told = answer.probability("1", "2")
    assert told.probability == pytest.approx(0.841, abs=0.05)  # 2 / 2 deviations
    assert told.low < told.probability < told.high
    assert [one.name for one in answer.rank()] == ["0", "1", "2", "3"]
    with pytest.raises(it.InputError, match="margin"):
        answer.update(it.Games.from_arrays(["0"], ["1"], [1]))
    more = it.Games.from_arrays(["3"] * 60, ["0"] * 60, [1] * 60, margins=[8.0] * 60)
    before, after = (float(x.probability("3", "0")) for x in (answer, answer.update(more)))
    assert after > before + 0.1
