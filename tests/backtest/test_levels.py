"""Sizes of wins are used only where they help to forecast who wins."""

import numpy as np
import pytest
from scipy.special import expit

import intransit as it
from intransit.backtest.levels import levels_for

N_ITEMS, N_GAMES = 12, 800


def games(seed, sizes, n_games=N_GAMES):
    """Games of items whose scores are evenly spread; `sizes` makes margins from differences."""
    rng = np.random.default_rng([seed, 31])
    scores = np.linspace(-1.6, 1.6, N_ITEMS)
    first = rng.integers(N_ITEMS, size=n_games)
    second = (first + rng.integers(1, N_ITEMS, size=n_games)) % N_ITEMS
    day = np.arange(n_games) // 4
    margins = sizes(rng, scores[first] - scores[second], day)
    won = 0.5 + 0.5 * np.sign(margins)
    return it.Games.from_arrays(first.tolist(), second.tolist(), won, day * 1.0, margins=margins)


def by_strength(rng, x, day):
    """Points: odds of winning by more than any number grow alike."""
    return np.round(8.0 * (x + rng.logistic(size=len(x))))


def by_strength_alone(rng, x, day):
    """Nobody ever beats a better one."""
    return np.round(100.0 * x) + np.sign(x)


def by_luck(rng, x, day):
    """Half of the wins are routs, whoever wins."""
    won = np.where(rng.random(len(x)) < expit(x), 1.0, -1.0)
    return won * rng.choice([1.0, 2.0, 25.0, 30.0], size=len(x))


def by_period(rng, x, day):
    """From the middle on a point counts for four."""
    return np.sign(y := x + rng.logistic(size=len(x))) * np.ceil(
        np.abs(y) * np.where(day < day.max() // 2, 4.0, 16.0)
    )


def test_sizes_are_used_where_they_go_with_strength():
    found = [levels_for(games(seed, by_strength)).most for seed in range(12)]
    assert found.count(3) >= 9


@pytest.mark.parametrize("sizes", [by_luck, by_period])
def test_sizes_that_mean_something_else_are_left_out(sizes):
    assert [levels_for(games(seed, sizes)).most for seed in range(6)] == [1] * 6


def test_an_order_without_an_upset_is_no_reason_to_leave_sizes_out():
    """Chances may round to 1 there, and no log of 0 may decide."""
    assert levels_for(games(0, by_strength_alone)) == it.Levels()


def test_a_size_that_hardly_ever_occurs_does_not_decide():
    """Matches for two wins, and at first now and then for three."""

    def for_two(rng, x, day):
        signs = np.where(rng.random(len(x)) < expit(x), 1.0, -1.0)
        sizes = np.where(rng.random(len(x)) < expit(0.5 * signs * x), 2.0, 1.0)
        sizes[:40:4] = 3.0
        return signs * sizes

    assert [levels_for(games(seed, for_two, 3_000)).most for seed in range(4)] == [3] * 4


def test_few_games_do_not_tell():
    assert levels_for(games(0, by_luck).only(np.arange(30))) == it.Levels()


def test_chances_are_right_though_routs_are_luck():
    """Of 66 intervals of 90 %; with three levels of victory 45 hold the truth."""
    table = games(3, by_luck)
    first, second = np.triu_indices(N_ITEMS, 1)
    scores = np.linspace(-1.6, 1.6, N_ITEMS)[[int(name) for name in table.names]]
    truth = expit(scores[first] - scores[second])
    held = {}
    for law in (None, it.Levels()):
        answer = it.fit(table, law=law, effective=30, seconds=20)
        _, low, high = answer.expected(
            first, second, np.full(66, answer.seen.end), np.zeros(66), level=0.9
        )
        held[law] = np.sum((low <= truth) & (truth <= high))
        told = any("so sizes of wins are left out" in line for line in answer.story)
        assert told == (law is None)
    assert held[it.Levels()] < 50
    assert held[None] >= 56
