"""Draws of Polya-Gamma weights against their moments and their Laplace transform."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from intransit.inference.law_kernels import (
    FINE,
    MOST_ONE_BY_ONE,
    TAIL_SHARES,
    WIDEST,
    _tail_share,
    draw,
    moments,
)
from intransit.kernels import compiled

N_DRAWS = 40_000
GAMES = (1.0, 3.0, float(MOST_ONE_BY_ONE), 0.3, 0.5, 2.7, 9.0, 40.0, 3000.0)
MARGINS = (0.0, 0.004, 0.8, -2.5, 7.0, 60.0)
FALSE_ALARM = 1e-3  # of all tests of draws in this file together
N_TESTS = len(GAMES) * len(MARGINS) * 5
LARGEST = norm.isf(FALSE_ALARM / N_TESTS / 2)
SKEWNESS_OFF = 0.2  # of the gamma law that stands in for many games, relative


@compiled
def draw_many(rng, n, margin, out):
    for k in range(len(out)):
        out[k] = draw(rng, n, margin)


@cache
def draws_of(n, margin):
    rng = np.random.default_rng([int(10 * n), int(1000 * abs(margin))])
    out = np.empty(N_DRAWS)
    draw_many(rng, n, margin, out)
    return out


def log_cosh(x):
    return np.logaddexp(x, -x) - np.log(2.0)


def transform(n, margin, t):
    """E[exp(-t w)] of PG(n, margin)."""
    root = np.sqrt((0.5 * margin**2 + t) / 2.0)
    return np.exp(n * (log_cosh(0.5 * abs(margin)) - log_cosh(root)))


def off(values, expected, leeway=0.0):
    """By how many standard errors a mean is off, beyond a leeway."""
    error = np.std(values) / np.sqrt(len(values))
    return max(abs(np.mean(values) - expected) - leeway, 0.0) / max(error, 1e-300)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("n", GAMES)
def test_draws_have_the_moments_of_the_law(n, margin):
    """Mean and variance are those of PG(n, margin), for whole, broken and many games."""
    w = draws_of(n, margin)
    mean, variance = (n * moment for moment in moments(margin))
    assert np.all(w > 0.0)
    assert off(w, mean) < LARGEST
    assert off((w - mean) ** 2, variance, leeway=1e-4 * variance) < LARGEST


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("n", GAMES)
def test_draws_have_the_laplace_transform_of_the_law(n, margin):
    """E[exp(-t w)] is a ratio of cosines; for many games, within what skewness lets pass."""
    w = draws_of(n, margin)
    mean, variance = (n * moment for moment in moments(margin))
    skewness = 2.0 * np.sqrt(variance) / mean  # of the gamma law
    for size in (0.3, 1.0, 3.0):
        t = size / mean
        expected = transform(n, margin, t)
        leeway = 0.0
        if n > MOST_ONE_BY_ONE:  # third term of the cumulants, doubled for those that follow
            leeway = 2.0 * expected * SKEWNESS_OFF * skewness * (t**2 * variance) ** 1.5 / 6.0
        elif n != int(n):
            leeway = 1e-4 * expected
        assert off(np.exp(-t * w), expected, leeway) < LARGEST


@pytest.mark.parametrize("margin", [1e-6, 0.0099, 0.0101, 3.0, 39.9, 40.1, 400.0])
def test_moments_are_slopes_of_the_laplace_transform(margin):
    """Mean and variance, whichever of three formulas gives them, agree with numeric slopes."""
    mean, variance = moments(margin)
    h = 1e-3 / mean
    top = np.cosh(0.5 * margin)
    roots = [np.emath.sqrt(0.25 * margin**2 + 0.5 * k * h) for k in (-1, 0, 1)]
    logs = [np.log(top / np.cosh(root).real) for root in roots]
    assert mean == pytest.approx((logs[0] - logs[2]) / (2 * h), rel=1e-5)
    assert variance == pytest.approx((logs[0] - 2 * logs[1] + logs[2]) / h**2, rel=1e-4)


def test_moments_do_not_depend_on_the_sign_of_a_margin():
    """PG(n, x) and PG(n, -x) are the same law."""
    assert moments(1.7) == moments(-1.7)


def test_shares_of_proposals_are_looked_up_to_a_millionth():
    """Halfway between the points of the table too; beyond it the share is nothing."""
    points = np.arange(len(TAIL_SHARES) - 1) + 0.5
    halfway = 0.5 * (TAIL_SHARES[1:] + TAIL_SHARES[:-1])
    np.testing.assert_allclose(halfway, _tail_share(points / FINE), atol=1e-6)
    assert _tail_share(np.array([WIDEST]))[0] < 1e-40
