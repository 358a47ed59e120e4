"""Rungs see single games in their order, whatever rows hold; anybody's own can be one."""

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import intransit as it
from intransit import InputError
from intransit.backtest import HELD_BACK, as_games, backtest, cut, one_by_one, roll, smaller_first
from intransit.backtest.forecasters import PEERS, Elo, installed
from intransit.backtest.result import log_losses

STEP = 0.15


def votes(seed=0, n_games=12_000, n_items=12, drift=0.02):
    """Votes without times whose strengths move from one to the next: their order matters."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_items)
    first = rng.integers(n_items, size=n_games)
    second = (first + rng.integers(1, n_items, size=n_games)) % n_items
    won = np.zeros(n_games)
    for k in range(n_games):
        scores += drift * rng.normal(size=n_items)
        won[k] = rng.random() < 1 / (1 + math.exp(scores[second[k]] - scores[first[k]]))
    return pd.DataFrame({"a": first.astype(str), "b": second.astype(str), "outcome": won})


def plain_elo(rows, step):
    """Elo in a few lines, over (first, second, outcome) in their order."""
    r = {}
    for i, j, y in rows:
        p = 1 / (1 + math.exp(r.get(j, 0.0) - r.get(i, 0.0)))
        r[i], r[j] = r.get(i, 0.0) + step * (y - p), r.get(j, 0.0) - step * (y - p)
    return r


def held_back(n):
    """Which games of a table without times are forecast, by the seed 0."""
    return np.random.default_rng((0, HELD_BACK)).random(n) < 0.2


def loss(r, rows):
    p = np.array([1 / (1 + math.exp(r.get(j, 0.0) - r.get(i, 0.0))) for i, j, _ in rows])
    y = np.array([y for *_, y in rows])
    return float(np.mean(-np.log(np.where(y == 1, p, 1 - p))))


@pytest.mark.parametrize("timed", [False, True])
def test_elo_sees_games_in_the_order_of_the_table(timed):
    """As plain Elo on the same rows: the games held back are found again by their place."""
    table = votes(n_games=4000)
    if timed:
        table["day"] = np.arange(4000) // 40
    games = it.read(table)
    rows = list(table[["a", "b", "outcome"]].itertuples(index=False, name=None))
    plan = cut(smaller_first(games), 0.2, 1000.0, 0)
    late = np.arange(4000) >= 3200 if timed else held_back(4000)
    ratings = plain_elo([row for row, held in zip(rows, late, strict=True) if not held], STEP)
    expected = loss(ratings, [row for row, held in zip(rows, late, strict=True) if held])
    p = roll(Elo(STEP), plan, lambda _: None)
    y, n = plan.test.outcomes, plan.test.counts
    assert n.sum() == late.sum()
    found = n @ -np.log(np.where(y == 1, p, 1 - p)) / n.sum()
    assert found == pytest.approx(expected, rel=1e-12)


def test_sorted_rows_would_mislead_elo():
    """What the order is worth: learnt pair by pair, the same games are forecast worse."""
    plan = cut(smaller_first(it.read(votes(drift=0.0))), 0.2, None, 0)
    rows = np.repeat(np.arange(len(plan.early)), plan.early.counts.astype(int))
    folded = replace(plan, early=replace(plan.early, sequence=rows))
    y, n = plan.test.outcomes, plan.test.counts
    there, lost = (
        n @ log_losses(roll(Elo(STEP), one, lambda _: None), y) / n.sum() for one in (plan, folded)
    )
    assert lost - there > 0.02


def test_counted_rows_are_as_good_as_single_ones():
    """The same 12,000 games: one row each, counted wins, and shares of a pair's games."""
    table = votes(drift=0.0)
    low = np.where(table.a < table.b, table.a, table.b)
    high = np.where(table.a < table.b, table.b, table.a)
    result = np.where(table.a < table.b, table.outcome, 1 - table.outcome)
    pairs = pd.DataFrame({"a": low, "b": high, "outcome": result})
    counted = pairs.value_counts().rename("games").reset_index()
    shares = pairs.groupby(["a", "b"]).outcome.agg(["mean", "size"]).reset_index()
    shares.columns = ["a", "b", "outcome", "games"]
    ladder = ["coin", "frequencies", "Elo"]
    gains = []
    for one in (table, counted, shares):
        games = it.read(one)
        assert games.counts.sum() == 12_000
        found = backtest(games, ladder=ladder)
        assert found.forecasts.counts.sum() == pytest.approx(2400, abs=150)
        gains.append([found.gain(name, "coin") for name in ladder[1:]])
    for single, *others in zip(*gains, strict=True):
        assert single[0] > 0.02
        for other in others:
            assert abs(other[0] - single[0]) < 3 * math.hypot(single[1], other[1])


def test_shares_become_games_and_sequences_follow_the_rows():
    games = it.Games.from_arrays(["x", "y", "x"], ["y", "z", "y"], [0.25, 1, 0], counts=[8, 2, 1])
    split = as_games(games)
    assert sorted(zip(split.outcomes, split.counts, strict=True)) == [(0, 7), (1, 2), (1, 2)]
    told = it.Games.from_arrays(["b", "a", "b", "a"], ["a", "b", "a", "b"], [1, 1, 1, 0])
    single = one_by_one(smaller_first(told))
    assert single.outcomes.tolist() == [0, 1, 0, 0]
    assert one_by_one(
        smaller_first(told).only(smaller_first(told).outcomes == 0)
    ).outcomes.tolist() == [0, 0, 0]


class Own:
    """Elo again, as somebody else would write it."""

    def __init__(self):
        self.rows = []

    def learn(self, games):
        assert (games.counts == 1).all()
        columns = (games.first, games.second, games.outcomes)
        self.rows += zip(*(column.tolist() for column in columns), strict=True)

    def predict(self, fixtures):
        assert np.isnan(fixtures.outcomes).all()
        r = plain_elo(self.rows, 0.1)
        met = zip(fixtures.first.tolist(), fixtures.second.tolist(), strict=True)
        return [1 / (1 + math.exp(r.get(j, 0) - r.get(i, 0))) for i, j in met]


def test_anybodys_own_forecaster_is_a_rung():
    games = it.read(votes(n_games=2000))
    found = backtest(games, ladder=["coin", "Elo", "static scores"], forecasters={"mine": Own})
    assert [rung.name for rung in found.rungs] == ["coin", "Elo", "mine", "static scores"]
    assert ("mine", "Elo") in found.nested()
    assert found.rung("mine").log_loss < found.rung("coin").log_loss
    assert "mine" in found.summary()


class Bare:
    def learn(self, games):
        pass

    def predict(self, fixtures):
        return np.full(len(fixtures) - 1, 0.5)


class Sure(Bare):
    def predict(self, fixtures):
        return np.full(len(fixtures), 1.5)


@pytest.mark.parametrize(
    ("forecasters", "words"),
    [
        ({"Elo": Own}, "'Elo' is a rung already"),
        ({"mine": Own()}, "'mine' is a Own; give a class"),
        ({"mine": dict}, "'mine' has no learn"),
        ({"mine": Bare}, "Bare.predict: shape"),
        ({"mine": Sure}, "Sure.predict: entry 0 is 1.5; give numbers from 0 to 1"),
    ],
)
def test_a_forecaster_that_is_none_gets_a_sentence(forecasters, words):
    with pytest.raises(InputError, match=words):
        backtest(it.read(votes(n_games=400)), ladder=[], forecasters=forecasters)


@pytest.mark.parametrize("name", PEERS)
def test_installed_peers_forecast(name, monkeypatch):
    """On votes of one ranking a rating system beats a coin, and never by more than the truth."""
    if name not in installed():
        with pytest.raises(InputError, match=f"{name} is not installed"):
            backtest(it.read(votes(n_games=400)), ladder=[name])
        return
    with monkeypatch.context() as patch:  # kickscore compiles for 20 s what then runs for one
        patch.setattr("numba.config.DISABLE_JIT", 1)
        import_module(name)
    found = backtest(it.read(votes(n_games=700, drift=0.0)), ladder=["coin", name])
    gain, error = found.gain(name, "coin")
    assert gain > 2 * error
