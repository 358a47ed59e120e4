"""Input that breaks others: `smooth` gives a right answer or one clear sentence."""

import time

import numpy as np
import pytest

import intransit as it
from intransit.inference import laplace, newton

KNOWN = {"noise_scale": 0.3, "drift_scale": 0.2, "prior_scale": 1.0, "rng": 0}
RNG = np.random.default_rng(0)
FIRST = RNG.integers(0, 6, 120)
SECOND = (FIRST + RNG.integers(1, 6, 120)) % 6
TIMES = RNG.integers(0, 5, 120).astype(float)
SCORES = RNG.normal(size=6)


def rows(outcomes, times=TIMES):
    return it.Timeline.from_arrays(FIRST, SECOND, outcomes, times)


# Sentences


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "hinge"}, 'loss is \'hinge\'; it must be "squared", "logistic" or "ordered"'),
        ({"n_factors": 4}, "at most 3 factors"),
        ({"n_factors": -1}, "whole number, 0 or more"),
        ({"n_factors": 1.5}, "whole number"),
        ({"n_factors": "Auto"}, "n_factors is 'Auto'"),
        ({"n_factors": 0, "scores": False}, "nothing is left to be found"),
        ({"n_factors": 1, "scores": "yes"}, "scores is 'yes'; it must be \"auto\""),
        ({"n_factors": 0, "noise_scale": -1.0}, "noise_scale is -1.0"),
        ({"n_factors": 0, "noise_scale": 0.0}, "noise_scale is 0.0; .* above 0"),
        ({"n_factors": 0, "drift_scale": -0.1}, "drift_scale is -0.1"),
        ({"n_factors": 0, "drift_scale": np.nan}, "drift_scale is nan"),
        ({"n_factors": 0, "prior_scale": 0}, "prior_scale is 0; .* above 0"),
        ({"n_factors": 0, "prior_scale": np.inf}, "prior_scale is inf"),
        ({"n_factors": 1, "exposure_drift_scale": -1}, "exposure_drift_scale is -1"),
        ({"n_factors": 0, "pair_scale": -1}, "pair_scale is -1"),
        ({"n_factors": 0, "pair_scale": 1.0, "pair_drift_scale": -1}, "pair_drift_scale is -1"),
        ({"n_factors": 0, "score_prior_scale": -1}, "score_prior_scale is -1"),
        ({"n_factors": 0, "drift_scale": "Auto"}, "drift_scale is 'Auto'; it must be \"auto\""),
        ({"n_factors": 0, "noise_scale": "none"}, "noise_scale is 'none'"),
        ({"n_factors": 0, "pair_scale": "AUTO"}, "pair_scale is 'AUTO'"),
        ({"n_factors": 0, "tolerance": 0.0}, "tolerance is 0.0"),
        ({"n_factors": 0, "max_steps": 0}, "max_steps is 0"),
        ({"n_factors": 0, "rng": "seed"}, "rng"),
        ({"n_factors": 0, "weights": [1.0, 2.0]}, "weights"),
        ({"n_factors": 0, "weights": np.full(120, -1.0)}, "weights|counts"),
        ({"n_factors": 0, "exposures": np.ones((6, 1))}, "set n_factors"),
        ({"n_factors": "auto"}, "n_factors is 'auto'; it must be a whole number"),
        ({"n_factors": 1, "exposures": np.ones((5, 1))}, "exposures: shape"),
        ({"n_factors": 1, "exposures": np.full((6, 1), np.inf)}, "infinite"),
        (
            {"n_factors": 1, "exposures": np.ones((6, 1)), "strengths": np.ones((6, 1))},
            "every column of both is given",
        ),
        ({"n_factors": 1, "scores": "Auto"}, "scores is 'Auto'"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, words):
    with pytest.raises(it.InputError, match=words):
        it.smooth(rows(np.ones(120)), **settings)


def test_unknown_settings_are_errors():
    with pytest.raises(TypeError, match="n_factor"):
        it.smooth(rows(np.ones(120)), n_factor=1)


def test_what_is_not_comparisons_is_named():
    for thing in (None, [(0, 1, 1.0)], np.ones((3, 3)), "games.csv"):
        with pytest.raises(it.InputError, match=r"build one with .*Timeline\.from_arrays"):
            it.smooth(thing, n_factors=0)


def test_readings_that_mix_pairs_are_refused():
    mixed = it.Measurements.from_matrices([np.ones((2, 4, 4))], [[1.0, 2.0]])
    with pytest.raises(it.InputError, match="single pairs only, so use recover"):
        it.smooth(mixed, n_factors=1)


@pytest.mark.parametrize("outcome", [-0.01, 1.01, -1.0, 7.0])
def test_wins_are_shares(outcome):
    y = np.full(120, 0.5)
    y[17] = outcome
    with pytest.raises(it.InputError, match=r"entry 17 is .* from 0 to 1"):
        it.smooth(rows(y), n_factors=0, loss="logistic")


@pytest.mark.parametrize("n_factors", [0, 1])
def test_items_compared_with_themselves_only_are_refused(n_factors):
    selfish = it.Timeline.from_arrays([0, 1, 2], [0, 1, 2], [1.0, 0.0, 1.0])
    with pytest.raises(it.InputError, match="with itself"):
        it.smooth(selfish, n_factors=n_factors)


# Answers: wins that no finite scores explain


def test_separable_wins():
    """The better item always wins: scales and margins stay finite, and the order is found."""
    y = (FIRST < SECOND).astype(float)
    for settings in ({}, {"drift_scale": 0.1, "prior_scale": 2.0}):
        path = it.smooth(rows(y), n_factors=0, loss="logistic", rng=0, **settings)
        assert path.converged
        assert np.isfinite(path.margins).all()
        assert (np.triu(path.margins[-1], 1) >= 0).all()
        assert path.probability(0, 5) > 0.9
        assert np.abs(path.margins).max() < 100


@pytest.mark.parametrize("n_factors", [1, 2])
def test_separable_wins_with_factors(n_factors):
    y = (FIRST < SECOND).astype(float)
    path = it.smooth(rows(y), n_factors=n_factors, loss="logistic", rng=0)
    assert np.isfinite(path.margins).all()
    assert path.probability(0, 5) > 0.8
    assert np.isfinite(path.deviation(0, 5))


def test_an_item_that_only_wins():
    """It leads, by finitely much, and with more doubt than the others."""
    y = (RNG.random(120) < 0.5).astype(float)
    y[FIRST == 2], y[SECOND == 2] = 1.0, 0.0
    path = it.smooth(rows(y), n_factors=0, loss="logistic", rng=0)
    assert path.converged
    others = [0, 1, 3, 4, 5]
    assert (path.margin(2, others) > 0.5).all()
    assert (path.probability(2, others) < 1.0).all()
    assert (path.deviation(2, others) > path.deviation(0, [1, 3, 4, 5, 1])).all()


def test_first_always_wins():
    """Whoever is named first: a pattern that no scores explain, so margins are near 0."""
    i, j = np.triu_indices(6, 1)
    both = it.Timeline.from_arrays(
        np.concatenate([i, j]), np.concatenate([j, i]), np.ones(30), np.arange(30.0)
    )
    path = it.smooth(both, n_factors=0, loss="logistic", rng=0)
    assert path.converged
    assert np.abs(path.margins).max() < 0.15  # scores keep a prior of 0.02: see `LEAST`


# Answers: outcomes without noise, or without anything


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("n_factors", [0, 1])
def test_outcomes_that_are_all_the_same(n_factors, loss):
    path = it.smooth(rows(np.ones(120)), n_factors=n_factors, loss=loss, rng=0)
    assert np.isfinite(path.margins).all()
    assert np.isfinite(path.interval()).all()


@pytest.mark.parametrize("n_factors", [0, 1])
def test_outcomes_of_zero(n_factors):
    path = it.smooth(rows(np.zeros(120)), n_factors=n_factors, rng=0)
    assert path.converged
    np.testing.assert_allclose(path.margins, 0.0, atol=1e-9)
    assert np.isfinite(path.interval()).all()
    even = it.smooth(rows(np.full(120, 0.5)), n_factors=n_factors, loss="logistic", rng=0)
    np.testing.assert_allclose(even.margins, 0.0, atol=1e-6)


@pytest.mark.parametrize("n_factors", [0])
def test_exact_scores_are_recovered_exactly(n_factors):
    path = it.smooth(rows(SCORES[FIRST] - SCORES[SECOND]), n_factors=n_factors, rng=0)
    truth = np.broadcast_to(SCORES[:, None] - SCORES, path.margins.shape)
    np.testing.assert_allclose(path.margins, truth, atol=1e-5)
    assert path.scales.noise_scale < 1e-3
    assert path.cyclic_share(n=20).high < 1e-6


def test_exact_factors_are_recovered_exactly():
    S, Q = np.random.default_rng(1).normal(size=(2, 6, 1))
    X = S @ Q.T - Q @ S.T
    path = it.smooth(rows(X[FIRST, SECOND]), n_factors=1, rng=0)
    np.testing.assert_allclose(path.margins, np.broadcast_to(X, path.margins.shape), atol=1e-4)
    given = it.smooth(
        rows(X[FIRST, SECOND]),
        n_factors=1,
        noise_scale=1e-6,
        drift_scale=1e-6,
        prior_scale=1.0,
        rng=0,
    )
    np.testing.assert_allclose(given.margins, np.broadcast_to(X, given.margins.shape), atol=1e-4)


# Answers: little data


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("n_factors", [0, 1])
def test_two_items(n_factors, loss):
    y = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    games = it.Timeline.from_arrays([0] * 8, [1] * 8, y, np.arange(8.0))
    path = it.smooth(games, n_factors=n_factors, loss=loss, rng=0)
    assert path.margins.shape == (8, 2, 2)
    assert path.probability(0, 1) > 0.5 - 1e-6  # a factor that shrinks away leaves a coin
    assert np.isfinite(path.interval()).all()


def test_one_reading_is_shrunk_towards_zero():
    """y τ² 2 / (2 τ² + σ²) is the mean of a difference of two scores given one reading."""
    one = it.Timeline.from_arrays([0], [1], [1.5])
    path = it.smooth(one, n_factors=0, noise_scale=0.5, drift_scale=0.2, prior_scale=1.0)
    assert path.margin(0, 1) == pytest.approx(1.5 * 2 / (2 + 0.25))
    assert path.deviation(0, 1) ** 2 == pytest.approx(2 * 0.25 / 2.25)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize(
    "n",
    [
        1,
        2,
        3,
        4,
        6,
    ],
)
def test_a_handful_of_comparisons(n, loss):
    """With everything left to the data, an answer all the same."""
    i, y = np.arange(n) % 3, np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0])[:n]
    few = it.Timeline.from_arrays(i, (i + 1) % 3, y, np.arange(n) / 2)
    path = it.smooth(few, loss=loss, rng=0)
    assert np.isfinite(path.margins).all()
    assert np.isfinite(path.interval()).all()


def test_mostly_comparisons_with_themselves():
    few = it.Timeline.from_arrays([0] * 21, [0] * 20 + [1], [0.0] * 20 + [1.0])
    for seed in range(5):
        assert np.isfinite(it.smooth(few, rng=seed).margins).all()


# Answers: times of all kinds


def test_times_may_lie_far_from_zero():
    """Seconds since 1970: the same margins as in days since the first."""
    y = SCORES[FIRST] - SCORES[SECOND] + 0.3 * RNG.normal(size=120)
    near = it.smooth(rows(y), n_factors=0, tolerance=1e-10, **KNOWN)
    seconds = KNOWN | {"drift_scale": 0.2 / np.sqrt(86_400)}
    far = it.smooth(rows(y, 1.7e9 + 86_400 * TIMES), n_factors=0, tolerance=1e-10, **seconds)
    np.testing.assert_allclose(far.margins, near.margins, atol=1e-7)
    np.testing.assert_allclose(far.interval()[0], near.interval()[0], atol=1e-6)
    later = far.deviation(0, 1, far.times[-1] + 86_400)
    assert later == pytest.approx(float(near.deviation(0, 1, 5.0)), rel=1e-6)
    auto = it.smooth(rows(y, 1.7e9 + 86_400 * TIMES), n_factors=0, rng=0)
    assert auto.scales.noise_scale == pytest.approx(0.3, rel=0.3)


def test_times_a_rounding_error_apart_are_one():
    y = SCORES[FIRST] - SCORES[SECOND] + 0.3 * RNG.normal(size=120)
    plain = it.smooth(rows(y), n_factors=1, tolerance=1e-10, **KNOWN)
    wobble = TIMES + 1e-13 * np.random.default_rng(0).random(120)
    path = it.smooth(rows(y, wobble), n_factors=1, tolerance=1e-10, **KNOWN)
    np.testing.assert_allclose(path.margin(0, 1, TIMES), plain.margin(0, 1, TIMES), atol=1e-6)
    np.testing.assert_allclose(path.deviation(0, 1, 3.0), plain.deviation(0, 1, 3.0), rtol=1e-6)


def test_tiny_gaps_beside_long_ones():
    """Times 1e-9 apart and 100 apart in one record; pairs of them are nearly the same time."""
    y = SCORES[FIRST] - SCORES[SECOND] + 0.3 * RNG.normal(size=120)
    clock = 100 * TIMES + 1e-9 * (np.arange(120) % 3)
    path = it.smooth(rows(y, clock), n_factors=0, tolerance=1e-10, **KNOWN)
    merged = it.smooth(rows(y, 100 * TIMES), n_factors=0, tolerance=1e-10, **KNOWN)
    assert path.converged
    np.testing.assert_allclose(
        path.margin(0, 1, 100 * TIMES), merged.margin(0, 1, 100 * TIMES), atol=1e-3
    )


def test_negative_times_and_one_time_only():
    y = SCORES[FIRST] - SCORES[SECOND]
    before = it.smooth(rows(y, TIMES - 100), n_factors=0, tolerance=1e-10, **KNOWN)
    path = it.smooth(rows(y), n_factors=0, tolerance=1e-10, **KNOWN)
    np.testing.assert_allclose(before.margins, path.margins, atol=1e-8)
    assert it.smooth(rows(y, np.full(120, 7.0)), n_factors=0, **KNOWN).margins.shape == (1, 6, 6)


# Size


def test_a_million_items_with_one_comparison_each():
    """Half a million pairs, no two connected: each margin is that of its own one game."""
    n = 500_000
    began = time.perf_counter()
    games = it.Timeline.from_arrays(
        np.arange(n), np.arange(n) + n, np.ones(n), np.linspace(0, 10, n)
    )
    path = it.smooth(games, n_factors=0, loss="logistic", drift_scale=0.1, prior_scale=1.0)
    assert path.converged
    assert path.n_items == 2 * n
    alone = it.smooth(
        it.Timeline.from_arrays([0], [1], [1.0]),
        n_factors=0,
        loss="logistic",
        drift_scale=0.0,
        prior_scale=1.0,
        tolerance=1e-12,
    )
    which = np.arange(0, n, 50_000)
    # 1e-4 of log posterior is left in all; even were it all in one game: 0.02.
    np.testing.assert_allclose(path.margin(which, which + n, 5.0), alone.margin(0, 1), atol=0.02)
    assert path.extrapolated(0, 1)
    assert "500000 groups" in path.doubts[0].replace(",", "")
    assert time.perf_counter() - began < 30  # 3 s alone on one core


def test_an_interrupted_fit_leaves_nothing_behind(monkeypatch):
    """Ctrl-C in the middle of a solve; the fit after it is the one that would have been."""
    y = SCORES[FIRST] - SCORES[SECOND] + 0.3 * RNG.normal(size=120)
    before = it.smooth(rows(y), n_factors=1, scores=True, rng=0)
    calls = []

    class Interrupted(newton.DenseEquations):
        def solve(self, *arguments, **keywords):
            calls.append(1)
            if len(calls) == 7:
                raise KeyboardInterrupt
            return super().solve(*arguments, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(newton, "DenseEquations", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            it.smooth(rows(y), n_factors=1, scores=True, rng=0)
    after = it.smooth(rows(y), n_factors=1, scores=True, rng=0)
    np.testing.assert_array_equal(after.margins, before.margins)
    assert after.scales == before.scales


def test_draws_that_are_interrupted_can_be_asked_again(monkeypatch):
    """Threads draw at scale: an interrupt in one of them comes out, and none is left running."""
    rng = np.random.default_rng(0)
    i = rng.integers(0, 800, 6000)
    games = it.Timeline.from_arrays(
        i, (i + rng.integers(1, 800, 6000)) % 800, rng.normal(size=6000), rng.integers(0, 5, 6000)
    )
    path = it.smooth(games, n_factors=0, **KNOWN)
    assert not laplace.Laplace(path.problem, path.solution.z).is_dense
    calls = []

    class Interrupted(laplace.SparseEquations):
        def solve(self, *arguments, **keywords):
            calls.append(1)
            if len(calls) == 5:
                raise KeyboardInterrupt
            return super().solve(*arguments, **keywords)

    others = np.arange(1, laplace.FEW + 2)  # more than are answered by a solve each
    with monkeypatch.context() as patch:
        patch.setattr(laplace, "SparseEquations", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            path.interval(0, others)
    low, high = path.interval(0, others)
    margins = path.margin(0, others)
    assert ((low < margins) & (margins < high)).all()
