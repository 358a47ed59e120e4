"""Games of one series that are alike, shares that were rounded: how much they tell."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import intransit as it
from intransit.analysis.transitivity import (
    FALSE_ALARMS,
    discount,
    examine,
    likeness,
)
from intransit.analysis.verdict import SURE, _probability
from intransit.inference.observations import Encoding

N_ITEMS = 12


def ranking(seed, *, copies=1, evening=0.0, n_games=800, drift=0.0, cyclic=0.0):
    """Games of a ranking on days of a year: each of them `copies` times, or an evening of four."""
    rng = np.random.default_rng([seed, 77])
    first = rng.integers(N_ITEMS, size=n_games)
    second = (first + rng.integers(1, N_ITEMS, size=n_games)) % N_ITEMS
    day = np.sort(rng.integers(365, size=n_games))
    steps = drift / np.sqrt(365) * rng.normal(size=(365, N_ITEMS))
    steps[0] = 0.7 * rng.normal(size=N_ITEMS)
    scores = np.cumsum(steps, axis=0)
    x = scores[day, first] - scores[day, second] + evening * rng.normal(size=n_games)
    x = x + cyclic * ((second - first) % 3 - 1.0) * ((second - first) % 3 > 0)
    repeats = np.full(n_games, copies)
    if evening:
        each = np.repeat(np.arange(n_games), 4)
        first, second, day, x = first[each], second[each], day[each], x[each]
        repeats = np.ones(len(each), dtype=np.int64)
    won = rng.random(len(x)) < expit(x)
    columns = (np.repeat(column, repeats) for column in (first, second, won * 1.0, day * 1.0))
    return it.Games.from_arrays(*columns), expit(scores[-1][:, None] - scores[-1])


def alike(games):
    return likeness(games, Encoding.of(games))


def test_games_that_are_listed_again_count_about_once():
    for seed in range(4):
        games, _ = ranking(seed, copies=3)
        counted = discount(games, Encoding.of(games), alike(games)).counts.sum()
        assert counted == pytest.approx(800, rel=0.15)  # of 2,400


def test_games_of_one_evening_count_for_fewer_the_more_they_share():
    little, much = (alike(ranking(1, evening=size)[0]) for size in (1.5, 3.0))
    assert 0.1 < little < much < 1.0


def tallies(seed, *, noise=0.0, drift=0.0, patches=0.0):
    """Weekly tallies of all pairs, 20 to 79 games each; what a week adds to a pair is its own."""
    rng = np.random.default_rng([seed, 78])
    scores, extra, rows = 0.5 * rng.normal(size=9), np.zeros((9, 9)), []
    for week in range(26):
        scores = scores + drift * rng.normal(size=9)
        extra = extra + patches * rng.normal(size=(9, 9))
        for i in range(9):
            for j in range(i):
                n = int(rng.integers(20, 80))
                x = scores[i] - scores[j] + extra[i, j] + noise * rng.normal()
                rows.append((i, j, rng.binomial(n, expit(x)) / n, 7.0 * week, n))
    first, second, share, day, n = zip(*rows, strict=True)
    return it.Games.from_arrays(first, second, share, day, counts=n)


def test_tallies_that_vary_more_than_luck_count_for_fewer():
    """With ρ = 0.35² / 4 two games of a tally are alike, and 50 tell as much as 20."""
    for seed in range(3):
        r = alike(tallies(seed, noise=0.35))
        assert r == pytest.approx(0.026, abs=0.01)
        games = tallies(seed, noise=0.35)
        counted = discount(games, Encoding.of(games), r).counts.sum() / games.counts.sum()
        assert 0.3 < counted < 0.55


@pytest.mark.parametrize("kind", [{}, {"drift": 0.1}, {"drift": 0.4}, {"patches": 0.2}])
def test_tallies_that_follow_strengths_and_matchups_count_in_full(kind):
    for seed in range(3):
        assert alike(tallies(seed, **kind)) == 0.0


def test_a_week_of_its_own_is_no_change():
    """Items stand still; tallies taken for independent games make them seem to change."""
    for seed in range(3):
        answer = it.fit(tallies(seed, noise=0.35), effective=30, seconds=20)
        assert not any(item.sure for item in answer.changes().items)
        assert any("vary more than luck" in line for line in answer.story)
        assert not any("copies" in line for line in answer.story)


def test_other_games_count_in_full():
    """Strengths that drift, and matchups, are shared by other series too: 0 of 40 tables."""
    for seed in range(10):
        for settings in ({}, {"drift": 2.0}, {"cyclic": 1.0}, {"n_games": 6_000}):
            games, _ = ranking(seed, **settings)
            assert alike(games) == 0.0
            assert discount(games, Encoding.of(games)) is games


def races(seed, n_items=8, n_races=30):
    """Return finishing orders, one a week, of items that stand still, and all true chances."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_items)
    i, j = np.triu_indices(n_items, 1)
    orders = np.argsort(-(scores + rng.gumbel(size=(n_races, n_items))), axis=1)
    columns = orders[:, i].ravel(), orders[:, j].ravel(), np.ones(n_races * len(i))
    days = np.repeat(7.0 * np.arange(n_races), len(i))
    return it.Games.from_arrays(*columns, days), expit(scores[:, None] - scores)


def test_the_games_of_a_race_count_for_what_the_order_tells():
    """A list of n is 3 / (n + 1) of its pairs, and strengths do not follow every race."""
    games, true = races(0)
    encoding = Encoding.of(games)
    assert encoding.orders
    assert discount(games, encoding).counts.sum() == pytest.approx(30 * 28 * 3 / 9)
    held = []
    for seed in range(4):
        games, true = races(seed)
        answer = it.fit(games, effective=30)
        assert any("Games of one order" in line for line in answer.story)
        named = [str(k) for k in range(8)]
        held += [
            forecast.low <= true[i, j] <= forecast.high
            for i in range(8)
            for j in range(i)
            for forecast in [answer.probability(named[i], named[j])]
        ]
    assert np.mean(held) > 0.8  # 67 % where each game counts as one, and strengths stand still
    more = it.Games.from_arrays(["0", "0", "1"], ["1", "2", "2"], [1.0] * 3, [700.0] * 3)
    seen = answer.update(more).posterior.layout.seen
    assert seen.counts.sum() == pytest.approx(answer.posterior.layout.seen.counts.sum() + 3 * 3 / 4)


ORDERS = [(k, f"d{i}", (i + k) % 5 + 1) for k in range(8) for i in range(5)]
CHOICES = [(k, f"d{i}", int(i == k % 4)) for k in range(12) for i in range(4)]


@pytest.mark.parametrize(
    ("header", "rows", "worth"),
    [
        ("race,driver,place", ORDERS, 3 / 6),
        ("set,item,best", CHOICES, 2 / 4),
        ("winner,loser", [("a", "b"), ("b", "c"), ("c", "a")] * 4, 1.0),
    ],
)
def test_orders_and_choices_without_dates_count_for_what_they_tell(tmp_path, header, rows, worth):
    """An order of n is 3 / (n + 1) of its pairs, the choice of one of n 2 / n."""
    path = tmp_path / "table.csv"
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    games = it.read(path)
    assert games.report.worth == pytest.approx(worth)
    counted = discount(games, Encoding.of(games))
    assert counted.counts.sum() == pytest.approx(worth * games.counts.sum())


def test_rounds_whose_games_contradict_each_other_count_in_full():
    games, _ = races(1)
    rng = np.random.default_rng(2)
    upset = it.Games.from_arrays(
        games.first, games.second, (rng.random(len(games)) < 0.5).astype(float), games.times
    )
    assert not Encoding.of(upset).orders


def test_matches_of_pairs_that_met_once_are_left_alone():
    """Whether it was the day or the pair nobody can tell then."""
    i, j = np.triu_indices(8, 1)
    each = np.repeat(np.arange(len(i)), 30)
    rng = np.random.default_rng(0)
    won = rng.random(len(each)) < expit(rng.normal(size=len(i)))[each]
    games = it.Games.from_arrays(i[each], j[each], won * 1.0, each * 1.0)
    assert alike(games) == 0.0


def test_an_order_whose_games_are_listed_again_has_no_cycles():
    """Taken for games on their own they made matchups leap: “cycles”, and chances far off."""
    games, chances = ranking(910_000, copies=3)
    answer = it.fit(games, seconds=20)
    assert not answer.transitivity().has_cycles
    assert any("as much as" in line for line in answer.story)
    assert answer.n_games == 2_400
    order = np.array([int(name) for name in answer.names])
    error = answer.matrix() - chances[np.ix_(order, order)]
    assert np.sqrt(np.mean(error**2)) < 0.12


def test_draws_of_chains_that_did_not_mix_prove_little():
    hold, weights = np.ones(400, bool), np.full(400, 1 / 400)
    assert _probability(hold, weights) > 0.99
    assert _probability(hold, weights, 3.0) < SURE


def rounded(seed, n_games, digits):
    rng = np.random.default_rng([seed, 5])
    scores = 0.5 * rng.normal(size=10)
    i, j = np.triu_indices(10, 1)
    shares = rng.binomial(n_games, expit(scores[i] - scores[j])) / n_games
    return it.Games.from_arrays(
        i, j, np.round(shares, digits), counts=np.full(len(i), float(n_games))
    )


def test_win_rates_in_whole_percent_are_no_deviation_from_a_scale():
    """Of 20 such tables with 10,000 games a pair 3 were told to be none; now none of these."""
    tables = [rounded(910_600 + seed, 10_000, 2) for seed in range(12)]
    p = [examine(games, Encoding.of(games)).p_value for games in tables]
    assert sum(value < FALSE_ALARMS for value in p) <= 1
    assert min(p) > 1e-3  # 4e-6


def test_shares_with_all_their_digits_count_in_full():
    games = rounded(1, 20, 6)
    whole = examine(games, Encoding.of(games))
    twice = replace(games, outcomes=np.round(games.outcomes, 2))  # 20 games: twentieths
    assert examine(twice, Encoding.of(games)).p_value == pytest.approx(whole.p_value)
