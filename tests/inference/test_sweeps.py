"""Moves of a sweep that draw no states: the size of all margins, and planes of equal margins."""

import numpy as np
import pytest

from intransit.data.cells import Rows
from intransit.inference.gibbs import SETTLE, Chain
from intransit.inference.law_kernels import LOGISTIC, ORDERED, SQUARED, OutcomesSeen, law_density
from intransit.inference.likelihood import Law
from intransit.inference.observations import Observations
from intransit.inference.paths import lay_out
from intransit.inference.table_posterior import log_likelihood
from intransit.model import Factors, Levels, PairEffects, Readings, Scores, Still, Wins
from tests.inference.worlds import WORLDS, draw_case, observe


@pytest.mark.parametrize("name", ["wins, all terms", "readings", "wins, still"])
def test_planes_that_are_drawn_anew_give_the_same_margins(name):
    """Whatever turns and squeezes were drawn; and they were drawn."""
    rng = np.random.default_rng(5)
    design, truth, outcomes, _ = draw_case(WORLDS[name], rng)
    chain = Chain(observe(design, outcomes), WORLDS[name].law, rng, truth)
    chain._margins()
    before, states = chain.x.copy(), chain.states.copy()
    chain._draw_gauge()
    assert np.abs(chain.states[:, 1:] - states[:, 1:]).max() > 1e-3
    np.testing.assert_array_equal(chain.states[:, 0], states[:, 0])
    chain._margins()
    np.testing.assert_allclose(chain.x, before, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["wins, all terms", "ties", "readings"])
def test_a_size_moves_margins_and_everything_that_makes_them(name):
    """Margins added up anew are those that the move has written."""
    rng = np.random.default_rng(6)
    design, truth, outcomes, _ = draw_case(WORLDS[name], rng)
    chain = Chain(observe(design, outcomes), WORLDS[name].law, rng, truth)
    chain._margins()
    before = chain.x.copy()
    chain._draw_size()
    moved = chain.x.copy()
    assert np.abs(moved - before).max() > 0.0
    chain._margins()
    np.testing.assert_allclose(chain.x, moved, rtol=1e-9, atol=1e-9)


def test_a_size_is_not_drawn_where_a_scale_is_known():
    rng = np.random.default_rng(7)
    world = WORLDS["wins, known scales"]
    design, truth, outcomes, _ = draw_case(world, rng)
    chain = Chain(observe(design, outcomes), world.law, rng, truth)
    before = chain.states.copy()
    chain._draw_size()
    np.testing.assert_array_equal(chain.states, before)


@pytest.mark.parametrize(
    ("kind", "cuts"), [(LOGISTIC, ()), (ORDERED, (0.4, 1.1)), (SQUARED, ())], ids=str
)
def test_the_law_of_grown_margins_is_that_of_the_definition(kind, cuts):
    """Up to what does not depend on the margins."""
    rng = np.random.default_rng(8)
    n, name = 30, ("logistic", "ordered", "squared")[kind]
    held, grows, counts = (
        rng.normal(size=n),
        rng.normal(size=n),
        rng.integers(1, 5, n).astype(float),
    )
    means = {
        "logistic": rng.random(n),
        "ordered": rng.integers(-2, 3, n).astype(float),
        "squared": rng.normal(size=n),
    }[name]
    pairs = np.tile([0, 1], (n, 1))
    seen = Observations.of(Rows(np.arange(n) * 1.0, pairs, means, counts), name, 2)
    law = {"logistic": Wins(), "ordered": Levels(), "squared": Readings()}[name]

    class Drawn:
        draws = type("Draws", (), {"noise": np.array([0.7]), "cuts": np.array([cuts])})

    def defined(f):
        return log_likelihood(Drawn, seen, (held + f * grows)[None])[0]

    def found(f):
        often = np.ones(len(cuts))
        told = OutcomesSeen(kind, counts, means, often, np.array(cuts), 0.7)
        return law_density(told, f, held, grows)

    assert law.kind == Law(name).kind == name
    assert found(2.0) - found(0.5) == pytest.approx(defined(2.0) - defined(0.5), rel=1e-9)


def test_scales_find_large_margins_soon():
    """Nearly all games are won by the better: weights alone would hold margins where they are."""
    rng = np.random.default_rng(9)
    n_items, n_games = 10, 1_500
    strength = 8.0 * np.linspace(-1, 1, n_items)
    first = rng.integers(n_items, size=n_games)
    second = (first + rng.integers(1, n_items, n_games)) % n_items
    won = (rng.random(n_games) < 1 / (1 + np.exp(strength[second] - strength[first]))).astype(float)
    pairs = np.column_stack([first, second])
    seen = Observations.of(Rows(np.zeros(n_games), pairs, won, np.ones(n_games)), "logistic", 10)
    model = Scores(walk=Still()) + Factors(1, walk=Still()) + PairEffects(walk=Still())
    found = []
    for seed in range(4):
        chain = Chain(lay_out(seen, model), Wins(), np.random.default_rng(seed))
        for _ in range(SETTLE + 60):
            chain.sweep()
        found.append(chain.scales[0])
    assert min(found) > 2.5  # 5 in truth
