"""The games: the compiled loop against its plain twin, the rules, and exact expectations."""

import numpy as np
import pytest
from scipy import stats

from intransit.experiments import price_kernels as games

PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def outputs(*shape):
    return [np.empty((*shape, len(PAIRS))) for _ in range(3)]


def shapes(seed=0):
    """Parameters above and below 1: the two branches of Beta sampling, and their mixtures."""
    drawn = np.random.default_rng(seed).uniform(0.5, 5.0, size=(3, 2))
    drawn[0] = 0.6, 0.8
    drawn[1, 0] = 0.7
    return drawn


@pytest.mark.parametrize("seed", range(5))
def test_the_compiled_games_are_the_plain_ones(seed):
    """Numba draws the stream that numpy draws: every game is the same."""
    fast, slow = outputs(), outputs()
    games.play(np.random.default_rng(seed), shapes(seed), PAIRS, 300, *fast)
    games.play.py_func(np.random.default_rng(seed), shapes(seed), PAIRS, 300, *slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_the_compiled_days_are_the_plain_ones():
    fast, slow = outputs(20), outputs(20)
    first, second = shapes(), shapes()
    games.play_days(np.random.default_rng(1), first, 0.3, PAIRS, 10, *fast)
    games.play_days.py_func(np.random.default_rng(1), second, 0.3, PAIRS, 10, *slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    np.testing.assert_allclose(first, second, rtol=1e-12)


class Script:
    """A generator that says what it was told to say."""

    def __init__(self, price, first, second):
        self.price, self.guesses = price, [first, second]

    def random(self):
        return self.price

    def beta(self, *_):
        return self.guesses.pop(0)


@pytest.mark.parametrize(
    ("price", "first", "second", "fair", "literal"),
    [
        (0.5, 0.4, 0.3, 0.5, 0.5),  # both under, the first closer
        (0.5, 0.3, 0.4, -0.5, -0.5),
        (0.5, 0.4, 0.6, 0.5, 0.5),  # the second over
        (0.5, 0.6, 0.1, -0.5, -0.5),
        (0.5, 0.6, 0.7, 0.0, -0.5),  # both over: nobody wins, or j by the paper's words
        (0.5, 0.7, 0.6, 0.0, -0.5),
    ],
)
def test_the_rules(price, first, second, fair, literal):
    got = [np.empty(1) for _ in range(3)]
    one = np.array([[0, 1]])
    games.play.py_func(Script(price, first, second), np.ones((2, 2)), one, 1, *got)
    assert (got[0][0], got[1][0], got[2][0]) == (fair, literal, fair**2)


def test_means_are_the_expectations():
    """Against numerical integrals; a right kernel fails one time in ten thousand."""
    n_games, parameters = 200_000, shapes()
    got = outputs()
    games.play(np.random.default_rng(5), parameters, PAIRS, n_games, *got)
    limit = stats.norm.isf(0.5e-4 / (2 * len(PAIRS)))
    for k, (i, j) in enumerate(PAIRS):
        fair, literal = expectations(parameters[i], parameters[j])
        spread = np.sqrt((got[2][k] - got[0][k] ** 2) / n_games)
        assert abs(got[0][k] - fair) < limit * spread
        assert abs(got[1][k] - literal) < limit * np.sqrt((1 / 3) / n_games)


def expectations(first, second):
    """E of the two scores by Gauss-Legendre rules, over the price and the winner's guess.

    P(own wins | price) = ∫ G(F⁻¹(u)) du over u < F(price), plus F(price) (1 - G(price)).
    """
    F, G = stats.beta(*first), stats.beta(*second)
    nodes, masses = np.polynomial.legendre.leggauss(80)
    prices, masses = (nodes + 1.0) / 2.0, masses / 2.0

    def wins(own, other):
        below = own.cdf(prices)
        guesses = own.ppf(below[:, None] * prices[None, :])
        return below * (other.cdf(guesses) @ masses) + below * other.sf(prices)

    fair = float(np.sum(masses * prices * (wins(F, G) - wins(G, F))))
    return fair, fair - float(np.sum(masses * prices * F.sf(prices) * G.sf(prices)))


def test_parameters_are_reflected_at_the_floor():
    moving = np.full((3, 2), games.FLOOR)
    games.play_days(np.random.default_rng(0), moving, 5.0, PAIRS, 1, *outputs(200))
    assert (moving >= games.FLOOR).all()
    assert np.ptp(moving) > 0
