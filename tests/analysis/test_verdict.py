"""Cycles against every strict order: near rankings, noise of a posterior mean, single pairs."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import expit, ndtr

import intransit as it
from intransit.analysis.verdict import (
    NOISY,
    WIDE_FACTORS,
    WIDE_PAIRS,
    look_for_cycles,
    mean_noise,
    open_weights,
)
from intransit.kernels import least_paid, settle, widest_cycle


def skew(rng, n):
    half = rng.normal(size=(n, n))
    return half - half.T


def round_robin(chances, n_games, seed, *, times=None):
    """Games of all pairs, as many of each."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(len(chances), 1)
    first, second = np.repeat(i, n_games), np.repeat(j, n_games)
    won = (rng.random(len(first)) < chances[first, second]).astype(float)
    when = None if times is None else times(rng, len(first))
    return it.Games.from_arrays(first, second, won, when)


def classes(n, chance):
    """Three classes, each beating the next: items of one class are even."""
    ahead = (np.arange(n)[None, :] - np.arange(n)[:, None]) % 3
    return np.where(ahead == 0, 0.5, np.where(ahead == 1, chance, 1.0 - chance))


def test_the_cheapest_order_is_found_and_what_it_pays():
    """Beside all orders of six items; an order with nothing against it pays nothing."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        gains = skew(rng, 6)
        price = np.maximum(gains - 0.3, 0.0)
        least = min(
            sum(price[order[b], order[a]] for a in range(6) for b in range(a + 1, 6))
            for order in permutations(range(6))
        )
        found = least_paid(gains[None], 0.3)[0]
        assert least - 1e-12 <= found <= 1.5 * least + 1e-12
        order = np.arange(6)
        assert settle(price, order) == pytest.approx(
            sum(price[order[b], order[a]] for a in range(6) for b in range(a + 1, 6))
        )
    scores = rng.normal(size=9)
    ranked = (scores[:, None] - scores)[None]
    assert least_paid(ranked, 0.0)[0] == 0.0


def test_the_widest_cycle_is_that_of_all_circles():
    """The cycle whose least edge is largest, beside all cycles of five items."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = skew(rng, 5)
        best = max(
            min(values[a, b] for a, b in zip(way, (*way[1:], way[0]), strict=True))
            for size in (3, 4, 5)
            for way in permutations(range(5), size)
        )
        assert widest_cycle(values) == pytest.approx(
            max(best, -np.abs(values[~np.eye(5, dtype=bool)]).min())
        )


def test_three_items_are_tested_by_the_least_sure_of_their_results():
    """Rock, paper, scissors: one cycle, so its least sure edge is the whole test."""
    games = round_robin(classes(3, 0.75), 60, 3)
    answer = it.fit(games, effective=20)
    found = look_for_cycles(answer.posterior, np.arange(3), 0.0)
    wins = [
        (games.counts * games.outcomes)[(games.first == i) & (games.second == j)].sum()
        for i, j in ((0, 1), (1, 2), (0, 2))
    ]
    z = np.array([wins[0] - 30, wins[1] - 30, 30 - wins[2]]) / np.sqrt(15.0)
    assert found.by_results == pytest.approx(ndtr(-z.min()), rel=1e-9)
    assert found.n_items == 3


def test_games_long_ago_say_less_of_a_pair_now():
    """A pair that turned round is no edge of a cycle now, if results of then are old."""
    rng = np.random.default_rng(4)
    n = 3_000
    day = np.sort(rng.integers(1_000, size=n)).astype(float)
    first = rng.integers(3, size=n)
    second = (first + 1) % 3
    # Early on they go round; from the middle on there is an order.
    order = np.where(first < second, 0.8, 0.2)
    chance = np.where(day < 500, 0.8, order)
    games = it.Games.from_arrays(first, second, (rng.random(n) < chance) * 1.0, day)
    answer = it.fit(games, effective=20)
    now = look_for_cycles(answer.posterior, np.arange(3), 999.0)
    then = look_for_cycles(answer.posterior, np.arange(3), 200.0)
    assert then.by_results < 0.001
    assert now.by_results > 0.1
    assert then.probability > 0.95 > now.probability


def test_noise_is_that_of_posterior_means_over_tables():
    """Spread of the mean margins over tables of one truth, beside what one table's draws say.

    A tenth of the draws say about the same: what their number adds is taken out.
    """
    scores = np.linspace(-1.0, 1.0, 6)
    truth = expit(scores[:, None] - scores)
    model = it.Scores() + it.PairEffects(scale=0.4)
    model = model.still()
    i, j = np.triu_indices(6, 1)
    means, told = [], {400: [], 40: []}
    for seed in range(24):
        answer = it.fit(round_robin(truth, 40, seed), model=model, effective=40, rng=seed)
        for most, spreads in told.items():
            posterior = answer.posterior.thinned(most)
            drawn = posterior.margins(i, j, np.zeros(len(i)))
            mean = drawn.mean(axis=0)
            rng = np.random.default_rng(seed)
            noise = mean_noise(posterior, np.arange(6), drawn - mean, 1.0, rng)
            spreads.append(noise.std(axis=0).mean())
            if most == max(told):
                means.append(mean)
    seen = np.std(means, axis=0, ddof=1).mean()
    # 24 tables of 15 pairs: the ratio has a standard error of about 6 %; false alarms below 1 %.
    assert 0.8 < np.mean(told[400]) / seen < 1.3
    assert 0.8 < np.mean(told[40]) / np.mean(told[400]) < 1.25


def test_orders_are_no_cycles_though_no_scale_explains_them():
    """One chance for all pairs of an order of 16: draws hold cycles, as such an order's would.

    In tables of the kept benchmark at most 5 % are said to have cycles; of 4 none but one in 5,000.
    """
    better = np.sign(np.arange(16)[None, :] - np.arange(16)[:, None])
    for seed in range(4):
        answer = it.fit(round_robin(0.5 + 0.1 * better, 20, 50 + seed), effective=20)
        found = look_for_cycles(answer.posterior, np.arange(16), 0.0)
        assert found.by_noise > NOISY
        assert not answer.transitive.has_cycles


def test_classes_in_a_cycle_are_found_together():
    """Nine items in three classes: no single pair is sure, and all of them together are."""
    answer = it.fit(round_robin(classes(9, 0.7), 20, 6), effective=20)
    found = answer.transitive.cycle
    assert answer.transitive.has_cycles
    assert found.probability > 0.95
    assert found.by_noise < 0.2
    assert found.by_results > 0.05


def test_weighted_draws_are_those_of_a_fit_with_wider_priors():
    """Probabilities of a cycle by weights, beside fits whose priors leave the size open.

    Means over five tables, each probability from some 100 effective draws: a standard error of
    about 0.03, so that two differences in 1,000 are beyond the bounds.
    """
    model = it.Scores() + it.Factors(2) + it.PairEffects()
    wide = it.Scores()
    wide += it.Factors(2, scale=it.HalfCauchy(WIDE_FACTORS))
    wide += it.PairEffects(scale=it.HalfCauchy(WIDE_PAIRS))
    weighted, drawn, narrow = [], [], []
    for seed in range(5):
        games = round_robin(classes(9, 0.6), 20, 70 + seed)
        one, other = (
            it.fit(games, model=each.still(), effective=100, rng=seed).posterior
            for each in (model, wide)
        )
        assert np.ptp(open_weights(other)) < 1e-12
        weighted.append(look_for_cycles(one, np.arange(9), 0.0).probability)
        drawn.append(look_for_cycles(other, np.arange(9), 0.0).probability)
        narrow.append(share_with_cycles(one, 9))
    assert np.mean(weighted) == pytest.approx(np.mean(drawn), abs=0.09)
    assert np.mean(narrow) < np.mean(drawn) - 0.07


def share_with_cycles(posterior, n):
    """Share of draws that hold a cycle of edges above 52 %."""
    i, j = np.triu_indices(n, 1)
    gains = np.zeros((len(posterior), n, n))
    gains[:, i, j] = expit(posterior.margins(i, j, np.zeros(len(i)))) - 0.5
    return np.mean(least_paid(gains - gains.transpose(0, 2, 1), 0.02) > 0.0)


def test_cycles_are_looked_for_in_every_group_that_comparisons_connect():
    """Rock, paper, scissors beside four others, whom they never met, and who are in order."""
    order = round_robin(expit(np.subtract.outer(-np.arange(4.0), -np.arange(4.0))), 40, 5)
    circle = round_robin(classes(3, 0.8), 120, 6)
    both = it.Games.from_arrays(
        np.append(order.first, circle.first + 4),
        np.append(order.second, circle.second + 4),
        np.append(order.outcomes, circle.outcomes),
        counts=np.append(order.counts, circle.counts),
    )
    found = it.fit(both, effective=30, seconds=5).transitivity()
    assert found.has_cycles
    assert found.cycle.n_items == 7
    alone = it.fit(order, effective=30, seconds=5).transitivity()
    assert not alone.has_cycles
