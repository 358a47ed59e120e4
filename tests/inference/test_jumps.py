"""Scores that jump: paces of gaps, the size of jumps, and what forecasts make of them."""

import numpy as np
import pytest
from scipy.stats import geninvgauss, invgauss, kstest, norminvgauss

import intransit as it
from intransit.errors import InputError
from intransit.inference.scale_kernels import half_cauchy
from intransit.inference.walk_kernels import (
    _jumps_density,
    draw_inverse_gaussian,
    draw_jumps,
    pace_ahead,
    pace_between,
    seed_of,
)
from tests.inference.test_paths import read

FALSE_ALARM = 1e-4  # of each test of a law in this file


@pytest.mark.parametrize(
    ("a", "b"), [(1e-6, 1e-6), (1e-6, 3.0), (0.02, 5.0), (1.0, 1.0), (50.0, 200.0), (1e5, 3e5)]
)
def test_paces_have_the_law_that_scipy_knows(a, b):
    """p⁻² exp(-(a p + b / p) / 2), from heavy tails to nearly normal."""
    rng = np.random.default_rng(1)
    drawn = np.array([draw_inverse_gaussian(rng, a, b) for _ in range(5_000)])
    law = geninvgauss(-1.0, np.sqrt(a * b), scale=np.sqrt(b / a))
    assert kstest(drawn, law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("jumps", [0.1, 1.0, 5.0])
def test_steps_are_normal_inverse_gaussian(jumps):
    """Paces are integrated out as in the density of SciPy."""
    gaps, z = np.array([0.02, 0.3]), np.array([0.5, 2.2])
    shape = gaps / jumps**2
    ours = _jumps_density(0.0, 0.0, 1.0, 0.0, jumps, 1.0, gaps, z**2)
    theirs = norminvgauss.logpdf(z, shape, 0.0, scale=np.sqrt(shape)).sum()
    assert ours - half_cauchy(np.log(jumps), 1.0) - 2 * np.log(np.pi) == pytest.approx(theirs)


@pytest.mark.parametrize("shape", [0.02, 1.0, 30.0])
def test_paces_ahead_are_inverse_gaussian_and_gaps_add_up(shape):
    """Of mean 1 and a shape; the paces of two halves of a gap are together that of the whole."""
    law = invgauss(1.0 / shape, scale=shape)
    seeds = [np.uint64(seed_of(3, k)) for k in range(5_000)]
    whole = np.array([pace_ahead(seed, 0, shape) for seed in seeds])
    halves = [[pace_ahead(seed, column, 0.5 * shape) for seed in seeds] for column in (2, 4)]
    assert kstest(whole, law.cdf).pvalue > FALSE_ALARM
    assert kstest(np.mean(halves, axis=0), law.cdf).pvalue > FALSE_ALARM


def test_the_pace_of_a_gap_between_states_is_a_usual_one():
    """In the middle of its law given the step: from the median to the upper quarter."""
    for shape in (0.01, 0.05, 1.0, 20.0):
        for step in (0.3, 1.0, 3.0):
            b = shape + step**2
            law = geninvgauss(-1.0, np.sqrt(shape * b), scale=np.sqrt(b / shape))
            assert 0.5 < law.cdf(pace_between(step, shape)) < 0.75
    assert pace_between(1.0, 1e9) == pytest.approx(1.0)


def test_jumps_are_found_again():
    """From steps of many gaps; even steps give jumps near 0."""
    rng = np.random.default_rng(4)
    gaps = np.full(4_000, 1.0 / 40)
    for true in (0.05, 1.0, 3.0):
        steps = rng.wald(1.0, gaps / true**2) * rng.standard_normal(len(gaps)) ** 2
        jumps, drawn = 0.7, []
        for _ in range(120):
            _, jumps = draw_jumps(rng, 1.0, 0.0, jumps, 1.0, gaps, steps)
            drawn.append(jumps)
        found = np.median(drawn[20:])
        assert found < 0.2 if true < 0.1 else found == pytest.approx(true, rel=0.2)


def test_forecasts_with_jumps_have_the_same_variance_and_heavier_tails():
    """A free walk over a gap in which paces differ by their mean; planes stay even."""
    n = 40_000
    states = np.zeros((n, 1, 3))
    question = states, [0], [0], [1.5], [0.0], [3]
    even, uneven = (read(*question, uneven=size)[:, 0] for size in (0.0, 1.5))
    np.testing.assert_array_equal(even[:, 1:], uneven[:, 1:])
    variance = 4.0 * 1.5
    # The fourth moment of such a step is (3 + 3) variance²: the error of a variance is √(5 / n).
    assert uneven[:, 0].var() == pytest.approx(variance, rel=5 * np.sqrt(5.0 / n))
    tail = 3.0 * np.sqrt(variance)
    assert np.mean(np.abs(uneven[:, 0]) > tail) > 3 * np.mean(np.abs(even[:, 0]) > tail)


def patched(seed, n_items=12, n_games=2_400, n_days=200, day=120, by=2.0):
    """Return games of items that stand still, but for the first, which is weaker from a day on."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_items)
    scores[0] = 1.0
    when = np.sort(rng.integers(n_days, size=n_games))
    first = rng.integers(n_items, size=n_games)
    second = (first + rng.integers(1, n_items, size=n_games)) % n_items
    x = scores[first] - scores[second]
    x -= by * (when >= day) * ((first == 0) * 1.0 - (second == 0))
    won = rng.random(n_games) < 1.0 / (1.0 + np.exp(-x))
    names = np.array([f"{k:02d}" for k in range(n_items)])
    games = it.Games.from_arrays(
        names[first].tolist(), names[second].tolist(), won.astype(float), when.astype(float)
    )
    return games, scores


def test_an_item_that_is_patched_is_followed_at_once_and_the_others_stay():
    """Fifteen days on, the interval of its change holds the true one, and at one speed it does not.

    The others, which stand still, move less.
    """
    games, scores = patched(seed=5)
    items = np.arange(len(scores))
    found, moved = {}, {}
    for name, model in (("jumps", it.Scores()), ("even", it.Scores(walk=it.Drift()))):
        posterior = it.fit(games, model=model, rng=0, effective=50.0).posterior
        before, after = (
            posterior.states(items, np.full(len(items), day))[:, :, 0] for day in (105.0, 135.0)
        )
        steps = after - before
        steps = steps - np.median(steps[:, 1:], axis=1, keepdims=True)
        found[name] = np.quantile(steps[:, 0], [0.05, 0.95])
        moved[name] = np.std(steps[:, 1:].mean(axis=0))
    assert found["jumps"][0] < -2.0 < found["jumps"][1] < -1.0
    assert found["even"][0] > -2.0
    assert moved["jumps"] < moved["even"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: it.Drift(jumps=-1.0), "Drift: jumps"),
        (lambda: it.Factors(2, walk=it.Drift(jumps=1.0)), "only Scores can"),
        (lambda: it.PairEffects(walk=it.Drift(jumps=it.HalfCauchy(1.0))), "only Scores can"),
    ],
)
def test_what_cannot_jump_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
