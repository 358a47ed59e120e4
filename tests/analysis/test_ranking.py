"""The nearest ranking and the equilibrium, against brute force and known games."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intransit as it
from intransit.analysis import cycles
from intransit.analysis.cycles import nearest_order, solve_game, top_cycle
from tests.analysis.worlds import NAMES, answer_to, ladder, play, ring, table


def random_gains(seed, n, *, even=False):
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, size=(n, n)) / 3.0 if even else rng.normal(size=(n, n))
    return np.triu(values, 1) - np.triu(values, 1).T


def price_of(gains, order):
    """Return what an order pays: one loop over pairs."""
    return sum(
        max(gains[order[low], order[high]], 0.0) for low in range(len(order)) for high in range(low)
    )


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6), even=st.booleans())
def test_the_nearest_order_is_the_best_of_all_orders(seed, n, even):
    """Small tables: no order of all pays less, ties or not."""
    gains = random_gains(seed, n, even=even)
    order = nearest_order(gains)
    assert sorted(order) == list(range(n))
    best = min(price_of(gains, other) for other in permutations(range(n)))
    assert price_of(gains, order) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_moves_of_single_items_reach_the_exact_order(seed):
    """The way for large groups pays what the exact one pays, at a size where both are possible."""
    gains = random_gains(seed, 11)
    exact = price_of(gains, nearest_order(gains))
    assert price_of(gains, nearest_order(gains, exact=2)) == pytest.approx(exact, rel=0.01)


def test_a_ranking_is_its_own_nearest_order():
    """Score differences have no upsets, whatever the order of the items."""
    scores = np.random.default_rng(0).permutation(40)
    assert nearest_order(ladder(scores)).tolist() == np.argsort(-scores).tolist()


def test_biased_rock_paper_scissors_has_its_known_mixture():
    """Each weighs what the other two play for: (b, c, a) / (a + b + c)."""
    a, b, c = 1.0, 2.0, 4.0  # rock over scissors, scissors over paper, paper over rock
    gains = np.array([[0, -c, a], [c, 0, -b], [-a, b, 0]])
    np.testing.assert_allclose(solve_game(gains), np.array([b, a, c]) / (a + b + c), atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 14), even=st.booleans())
def test_nothing_beats_the_mixture(seed, n, even):
    """Weights are a mixture, no item gains against it, and none outside the top cycle is in it."""
    gains = random_gains(seed, n, even=even)
    weights = solve_game(gains)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0)
    assert (weights @ gains).min() >= -1e-7
    assert np.isin(np.flatnonzero(weights), top_cycle(gains)).all()


@pytest.mark.parametrize("seed", range(3))
def test_pivots_agree_with_the_library_of_linear_programs(seed):
    """Without ties the mixture is unique: the table of pivots and HiGHS find the same."""
    gains = random_gains(seed, 25)
    np.testing.assert_allclose(solve_game(gains, pivots=0), solve_game(gains), atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_top_cycle_is_the_smallest_set_that_beats_the_rest(seed):
    """Against trying all sets of a random tournament."""
    gains = random_gains(seed, 7)
    top = set(top_cycle(gains).tolist())
    sets = [
        {k for k in range(7) if mask >> k & 1}
        for mask in range(1, 2**7)
        if all(
            gains[i, j] > 0
            for i in range(7)
            if mask >> i & 1
            for j in range(7)
            if not mask >> j & 1
        )
    ]
    assert top == min(sets, key=len)


@pytest.fixture(scope="module")
def answer():
    """A champion above a circle of three above a straggler."""
    X = np.zeros((5, 5))
    X[:3, :3] = ring(3, 1.0)
    X[:3, 3], X[3, :3] = -1.5, 1.5
    X[:3, 4], X[4, :3] = 1.5, -1.5
    X[3, 4], X[4, 3] = 2.0, -2.0
    rng = np.random.default_rng(0)
    return answer_to(table(play(X, 3_000, rng, days=30), names=NAMES))


def test_a_champion_takes_all_the_weight_and_one_upset_is_left(answer):
    """The well leads and is the equilibrium; of the circle below it one edge goes against."""
    found = answer.ranking()
    assert found.order[0] == "well"
    assert found.order[-1] == "hole"
    assert found.n_pairs == 10
    assert found.n_upsets == len(found.upsets) == 1
    assert found.wrong == 0.1
    upset = found.upsets[0]
    assert {upset.lower, upset.higher} < {"rock", "paper", "scissors"}
    assert upset.chance == pytest.approx(
        float(answer.probability(upset.lower, upset.higher)), abs=0.02
    )
    assert found.cost == pytest.approx((upset.chance - 0.5) / 10, abs=1e-9)
    assert upset.probability > 0.95
    (leader,) = found.equilibrium
    assert leader.name == "well"
    assert leader.low <= leader.weight == leader.probability == leader.high == 1.0
    assert answer.ranking() == found


def test_a_circle_has_a_mixture_with_intervals():
    """Rock, paper and scissors have about a third each, and the interval says how sure that is."""
    rng = np.random.default_rng(1)
    found = answer_to(table(play(ring(3, 1.0), 2_000, rng, days=20), names=NAMES[:3])).ranking()
    assert sum(share.weight for share in found.equilibrium) == pytest.approx(1.0)
    for share in found.equilibrium:
        assert share.low < share.weight < share.high
        assert 0.15 < share.weight < 0.55
        assert share.probability > 0.95


def test_those_who_left_are_not_ranked():
    """An item that was not compared for most of the time is left out, and the note says so."""
    rng = np.random.default_rng(2)
    early = play(ladder([1.0, 0.0, -1.0]), 300, rng, days=20)
    late = play(ladder([1.0, 0.0]), 300, rng, days=80, begin=20)
    answer = answer_to(table(early, late, names=NAMES[:3]), pairs=False)
    found = answer.ranking()
    assert found.order == ("rock", "paper")
    assert "1 item left out" in found.note
    assert len(answer.ranking("2026-01-10").order) == 3


def test_of_too_many_items_those_that_played_most_are_ranked(answer):
    """The order of the others stays, and the note says how many are ranked."""
    whole = answer.ranking()
    least = answer.names[int(answer.seen.games.argmin())]
    found = cycles.find_ranking(answer, most_items=4)
    assert set(found.order) == set(whole.order) - {least}
    assert found.n_pairs == 6
    assert found.note == "The 4 that played most are ranked, of 5 items."


def test_parts_of_the_pairs_make_the_same_matrices(answer):
    """Chances from a few pairs at a time are those from all at once."""
    items, posterior, when = np.arange(5), answer.posterior, answer.seen.end
    whole = cycles._matrices(posterior, items, when)
    parts = cycles._matrices(posterior, items, when, at_once=3 * len(posterior))
    for part, one in zip(parts, whole, strict=True):
        np.testing.assert_allclose(part, one, atol=1e-12)


def test_one_item_is_a_ranking_of_one(answer):
    """Where nobody else is left, the only one has all the weight."""
    few = answer.posterior.thinned(4)
    alone = cycles._equilibrium(answer, np.array([2]), few, answer.seen.end, 0.9)
    assert [(share.name, share.weight) for share in alone] == [(answer.names[2], 1.0)]


def test_weights_lie_in_their_intervals():
    """An item that is best in nearly every draw has a weight below 1, and so has its interval."""
    games = it.Games.from_arrays([*"abb"] * 12, [*"bca"] * 12, [1, 1, 0, 1, 1, 0, 1, 0, 1] * 4)
    for one in it.fit(games, effective=10).ranking().equilibrium:
        assert one.low <= one.weight <= one.high
