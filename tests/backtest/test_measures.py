"""Measures agree with plain loops, and standard errors are standard errors."""

import numpy as np
import pytest

from intransit.backtest import backtest
from intransit.backtest.result import (
    REACH,
    alike,
    coverage,
    hits,
    log_losses,
    mean_and_error,
    reliability,
    tell_left_out,
)
from tests.backtest.seasons import season, table


def test_losses_and_hits_agree_with_a_plain_loop():
    rng = np.random.default_rng(0)
    p, y = rng.random(50), rng.choice([0.0, 0.5, 1.0], 50)
    p[:3] = [0.0, 1.0, 0.5]
    for k in range(50):
        q = min(max(p[k], 1e-4), 1 - 1e-4)
        assert log_losses(p, y)[k] == pytest.approx(-y[k] * np.log(q) - (1 - y[k]) * np.log(1 - q))
        won = 0.5 if p[k] == 0.5 else y[k] if p[k] > 0.5 else 1 - y[k]
        assert hits(p, y)[k] == won


def test_repeating_a_row_is_the_same_as_counting_it_twice():
    rng = np.random.default_rng(0)
    v, c = rng.normal(size=40), np.repeat(np.arange(10), 4)
    twice = mean_and_error(np.repeat(v, 2), np.ones(80), np.repeat(c, 2))
    np.testing.assert_allclose(mean_and_error(v, np.full(40, 2.0), c), twice)


def test_standard_errors_are_standard_deviations_over_repetitions():
    """Games of a day share some luck.  With 600 repetitions a deviation is known to 2.9 %.

    The bounds are 4 of these: a false alarm in 16,000 runs.
    """
    rng = np.random.default_rng(0)
    n_days, n_games, repetitions = 60, 8, 600
    day = np.repeat(np.arange(n_days), n_games)
    means, errors, naive = [], [], []
    for _ in range(repetitions):
        values = rng.normal(size=n_days)[day] + rng.exponential(size=len(day))
        weights = np.ones(len(day))
        mean, error = mean_and_error(values, weights, day)
        means.append(mean)
        errors.append(error)
        naive.append(mean_and_error(values, weights, np.arange(len(day)))[1])
    truth = np.std(means, ddof=1)
    bound = 4 / np.sqrt(2 * repetitions)
    assert np.sqrt(np.mean(np.square(errors))) / truth == pytest.approx(1.0, abs=bound)
    assert np.sqrt(np.mean(np.square(naive))) / truth < 0.6


def test_the_error_of_a_gain_is_its_deviation_when_other_games_are_played():
    """The same past, other days and results in the test part, 50 times; bounds as above."""
    past = season(7, n_games=400, days=200)
    gains, errors = [], []
    for seed in range(50):
        later = season(100 + seed, n_games=200, days=100)
        both = {
            name: None if past[name] is None else np.concatenate([past[name], later[name]])
            for name in past
        }
        both["day"][400:] += 200
        found = backtest(table(both), last=1 / 3 - 1e-6, ladder=["coin", "Elo"])
        gains.append(found.rungs[1].gain)
        errors.append(found.rungs[1].gain_error)
    ratio = np.sqrt(np.mean(np.square(errors))) / np.std(gains, ddof=1)
    assert ratio == pytest.approx(1.0, abs=4 / np.sqrt(2 * 50))


def test_reliability_agrees_with_a_plain_loop_and_expects_some_error_by_chance():
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    y = (rng.random(4000) < p).astype(float)
    curve = reliability(p, y, np.ones(4000), np.arange(4000))
    favoured, won = np.maximum(p, 1 - p), np.where(p > 0.5, y, 1 - y)
    gaps = 0.0
    for k in range(10):
        here = (favoured >= 0.5 + 0.05 * k) & (favoured < 0.55 + 0.05 * k)
        assert curve.observed[k] == pytest.approx(won[here].mean())
        gaps += here.mean() * abs(won[here].mean() - favoured[here].mean())
    assert curve.expected_error == pytest.approx(gaps)
    assert curve.games.sum() == 4000
    # Ten gaps of |normal|: their mean is within 0.6/√10 of its expectation; bound: 4 of these.
    assert curve.expected_error / curve.by_chance == pytest.approx(1.0, abs=4 * 0.76 / np.sqrt(10))


@pytest.mark.parametrize(("stated", "low", "high"), [(1.0, 0.86, 0.94), (0.2, 0.0, 0.8)])
def test_coverage_is_the_level_where_intervals_are_right_and_less_where_too_narrow(
    stated, low, high
):
    """1,000 pairs of 60 games, forecasts off by 0.1; 0.9 ± 0.0095, bounds at 4 of these."""
    rng = np.random.default_rng(0)
    pair = np.repeat(np.arange(1000), 60)
    truth = rng.uniform(0.35, 0.65, size=1000)
    p = (truth + 0.1 * rng.normal(size=1000))[pair]
    y = (rng.random(len(pair)) < truth[pair]).astype(float)
    reach = stated * REACH * 0.1
    found = coverage(pair, p, p - reach, p + reach, y, np.ones(len(pair)), "pairs")
    assert found.n_groups == 1000
    assert low <= found.share <= high


def test_groups_alike_hold_about_as_many_games_each():
    p = np.random.default_rng(0).random(1000)
    assert np.all(np.abs(np.bincount(alike(p, np.ones(1000))) - 50) <= 1)


def test_models_left_out_for_one_reason_are_told_together():
    """They keep their order, no reason is told twice, and a name may have a stop in it."""
    left_out = {"a. I": "Few games.", "b": "Odd.", "c": "Few games."}
    assert tell_left_out(left_out) == ["Left out: a. I and c. Few games.", "Left out: b. Odd."]
