"""Backtests look back only, are the same however games are stored, and say what they left out."""

import json

import numpy as np
import pytest

import intransit as it
from intransit.backtest import LADDER, backtest, cut, roll, smaller_first, without_results
from intransit.backtest.forecasters import (
    MODELS,
    PEERS,
    Elo,
    FittedModel,
    installed,
    model_of,
)
from intransit.data.games import join, own_names
from intransit.inference.sampling import Effort
from intransit.model import By, Model, Scores, Side, Still
from tests.backtest.seasons import season, table

SWIFT = Effort(effective=15.0, seconds=10.0, most_draws=100)
QUICK = ("coin", "frequencies", "Elo", "static scores", "drifting scores")


def forecasts_of(games, **settings):
    return backtest(games, ladder=QUICK, effort=SWIFT, **settings).forecasts


def test_blocks_are_those_of_a_plain_loop_and_never_split_equal_times():
    games = smaller_first(table(season()))
    plan = cut(games, 0.2, 30.0, 0)
    begin = games.times[np.searchsorted(np.cumsum(games.counts), 0.8 * games.counts.sum(), "right")]
    assert len(plan.early) == np.sum(games.times < begin)
    edge = begin
    for block in plan.blocks:
        inside = (games.times >= edge) & (games.times < edge + 30.0)
        np.testing.assert_array_equal(block.times, games.times[inside])
        later = games.times[games.times >= edge + 30.0]
        edge = later[0] if len(later) else np.inf
    assert edge == np.inf
    assert sum(block.counts.sum() for block in plan.blocks) + plan.early.counts.sum() == 600


def test_poisoning_the_future_leaves_earlier_forecasts_as_they_were_bit_for_bit():
    """Other results, other margins and other names, from the third block on."""
    columns = season(sides=True, ties=True, margins=True)
    clean = forecasts_of(table(columns), every=15.0, refit=2)
    cutoff = clean.times[clean.blocks == 2].min() - table(columns).clock.to_number("2024-01-01")
    late = columns["day"] >= cutoff
    rng = np.random.default_rng(1)
    poisoned = dict(columns)
    poisoned["won"] = np.where(late, 1.0 - columns["won"], columns["won"])
    poisoned["margin"] = np.where(late, -9.0 * columns["margin"], columns["margin"])
    poisoned["first"] = np.where(late, rng.integers(10, 15, size=len(late)), columns["first"])
    dirty = forecasts_of(table(poisoned), every=15.0, refit=2)
    for name in QUICK:
        before, after = clean.probabilities[name], dirty.probabilities[name]
        np.testing.assert_array_equal(before[clean.blocks < 2], after[dirty.blocks < 2])
        assert name == "coin" or not np.array_equal(before, after)


def test_storing_the_winner_first_changes_nothing():
    columns = season(sides=True)
    swap = columns["won"] == 0.0
    stored = dict(columns, won=np.ones(len(swap)))
    stored["first"] = np.where(swap, columns["second"], columns["first"])
    stored["second"] = np.where(swap, columns["first"], columns["second"])
    stored["side"] = np.where(swap, -columns["side"], columns["side"])
    plain, sorted_ones = forecasts_of(table(columns)), forecasts_of(table(stored))
    for name in QUICK:
        np.testing.assert_array_equal(plain.probabilities[name], sorted_ones.probabilities[name])


def test_a_side_that_was_written_down_after_the_result_is_not_used():
    columns = season()
    told = dict(columns, side=2.0 * columns["won"] - 1.0)
    with_side, without = (backtest(table(c), ladder=["Elo"]) for c in (told, columns))
    assert with_side.best.log_loss == without.best.log_loss


def test_a_forecast_and_its_mirror_image_add_up_to_one():
    plan = cut(smaller_first(table(season(sides=True, ties=True))), 0.2, 30.0, 0)
    for forecaster in (
        Elo(0.1, 0.3),
        FittedModel(MODELS["drifting scores"] + Side(), effort=SWIFT),
    ):
        roll(forecaster, plan, lambda _: None)
        there = without_results(plan.blocks[-1])
        columns = vars(there) | {
            "first": there.second,
            "second": there.first,
            "sides": -there.sides,
        }
        both = forecaster.predict(there) + forecaster.predict(it.Games(**columns))
        np.testing.assert_allclose(both, 1.0, rtol=0, atol=1e-14)  # means over draws


def test_shuffled_dates_change_the_answer():
    columns = season(2, n_games=1200, reversing=True)
    shuffled = dict(columns, day=np.random.default_rng(0).permutation(columns["day"]))
    ladder = ["coin", "drifting scores"]
    found, lost = (backtest(table(c), ladder=ladder, effort=SWIFT) for c in (columns, shuffled))
    gain, error = found.gain("drifting scores", "coin")
    less, its_error = lost.gain("drifting scores", "coin")
    assert gain - less > 3 * np.hypot(error, its_error)


def test_the_whole_ladder_runs_and_tells_what_it_found(monkeypatch):
    said = []
    others = {name: make for name, make in installed().items() if name != "kickscore"}  # slow
    monkeypatch.setattr("intransit.backtest.installed", lambda: others)
    games = table(season(3, n_games=200, days=100, ties=True))
    found = backtest(games, report=said.append, effort=SWIFT)
    names = [rung.name for rung in found.rungs]
    assert tuple(name for name in names if name not in PEERS) == LADDER
    assert {*names} & {*PEERS} == {*others}
    assert any("everything" in words for words in said)
    assert found.best.log_loss == min(rung.log_loss for rung in found.rungs)
    assert found.rung("Elo").gain == pytest.approx(found.gain("Elo", "frequencies")[0])
    assert {"name", "log_loss", "log_loss_error", "gain", "gain_error"} <= set(found.rows()[0])
    json.dumps(found.rows())
    text = found.summary()
    assert "Elo" in text
    assert "±" in text
    assert "90 % intervals contain the result of" in text
    told = found.forecasts
    assert told.low is not None
    assert np.all(told.low <= told.probabilities["everything"])
    assert np.all(told.probabilities["everything"] <= told.high)


def test_the_best_is_called_so_only_as_surely_as_it_is():
    """The least loss may be luck; and games of one day have no standard error to print."""
    first, second = ["rock", "paper"] * 100, ["scissors", "rock"] * 100
    clear = backtest(
        it.Games.from_arrays(first, second, [1] * 200, range(200)), ladder=["coin", "frequencies"]
    )
    assert clear.best_in_words == "frequencies"
    even = it.Games.from_arrays(first, second, [1, 1, 0, 0] * 50, range(200))
    words = backtest(even, ladder=["coin", "frequencies"]).best_in_words
    assert ", though not clearly better than " in words
    once = it.Games.from_arrays(first, second, [1, 1, 0, 0] * 50, [0] * 160 + [1] * 40)
    told = backtest(once, ladder=["coin", "frequencies"]).summary()
    assert "nan" not in told
    assert "40 games were forecast" in told
    assert "winner" not in told
    ties = it.Games.from_arrays(first, second, [1, 1, 0.5, 0] * 50, [0] * 160 + [1] * 40)
    told = backtest(ties, ladder=["coin", "frequencies"]).on_errors
    assert told.endswith("How often the favourite won is counted over the 30 with a winner.")


def test_the_picture_has_a_ladder_and_a_reliability_curve(tmp_path):
    found = backtest(table(season()), ladder=QUICK, effort=SWIFT)
    figure = found.figure()
    assert len(figure.axes) == 2
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(QUICK)
    figure.savefig(tmp_path / "ladder.png")
    assert (tmp_path / "ladder.png").stat().st_size > 10_000


def test_games_without_times_are_held_back_at_random_each_by_itself():
    """Equal games share a row, but are drawn one by one.  The bound is 4 standard deviations."""
    rng = np.random.default_rng(0)
    won = rng.random(3000) < 0.7
    games = it.Games.from_arrays(["a"] * 3000, ["b"] * 3000, won)
    assert len(games) == 2
    ladder = ["coin", "frequencies", "static scores", "drifting scores"]
    found = backtest(games, ladder=ladder, effort=SWIFT)
    assert [rung.name for rung in found.rungs] == ["coin", "frequencies", "static scores"]
    assert any("Left out: drifting scores" in note for note in found.notes)
    assert "at random" in found.notes[0]
    share = won.mean()
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found.rung("frequencies").log_loss == pytest.approx(entropy, abs=4 * 0.39 / np.sqrt(600))


def test_many_games_in_few_rows_are_held_back_one_by_one_too():
    """More games than are listed: so far whole rows were held back, a pair's wins or losses."""
    pairs = [("a", "b", 0.6), ("b", "c", 0.6), ("a", "c", 0.7)]
    first, second, shares = zip(*pairs, strict=True)
    games = it.Games.from_arrays(first, second, shares, counts=[400_000] * 3)
    found = backtest(games, ladder=["coin", "frequencies", "Elo"])
    assert found.forecasts.counts.sum() == pytest.approx(240_000, rel=0.01)
    assert found.rung("Elo").log_loss == pytest.approx(found.rung("frequencies").log_loss, abs=0.01)
    expected = np.mean([-p * np.log(p) - (1 - p) * np.log(1 - p) for p in shares])
    assert found.rung("frequencies").log_loss == pytest.approx(expected, abs=0.005)


def test_times_that_are_numbers_are_cut_in_ten():
    columns = season()
    games = it.Games.from_arrays(
        columns["first"], columns["second"], columns["won"], columns["day"]
    )
    found = backtest(games, ladder=["coin"])
    assert 8 <= len(np.unique(found.forecasts.blocks)) <= 10


def test_a_first_tie_in_the_test_part_is_learnt():
    columns = season(margins=True)
    late = columns["day"] > 270
    columns["won"] = np.where(late & (columns["first"] == 0), 0.5, columns["won"])
    columns["margin"] = np.where(columns["won"] == 0.5, 0.0, columns["margin"])
    columns["margin"] = np.where(
        (columns["margin"] == 0) & (columns["won"] != 0.5),
        np.sign(columns["won"] - 0.5),
        columns["margin"],
    )
    found = backtest(table(columns), ladder=["coin", "static scores"], every=10.0, effort=SWIFT)
    assert [rung.name for rung in found.rungs] == ["coin", "static scores"]


def test_newcomers_are_forecast_as_newcomers_were():
    """Those who join later are weaker: a name never seen is forecast to lose, and surely so."""
    rng = np.random.default_rng(0)
    rows = []
    for day in range(60):
        new = [f"new {k}" for k in range(day // 3)]
        for _ in range(16):
            i, j = rng.choice([*(f"old {k}" for k in range(8)), *new], 2, replace=False)
            x = 1.5 * (i.startswith("old") * 1.0 - j.startswith("old"))
            rows.append((i, j, float(rng.random() < 1.0 / (1.0 + np.exp(-x))), day))
    games = smaller_first(it.Games.from_arrays(*zip(*rows, strict=True)))
    plan = cut(games, 0.2, None, 0)
    ours = FittedModel(Model((Scores(),)), effort=SWIFT)
    ours.learn(plan.early)
    assert set(ours.names) < set(games.names)
    unseen = it.Games.from_arrays(["old 1", "zoe"], ["zoe", "yan"], [1, 1], [50.0, 50.0])
    known, strange = ours.predict(without_results(unseen))
    assert known > 0.65
    assert strange == pytest.approx(0.5, abs=0.1)
    low, high = ours.ranges[-1]
    assert (low <= [known, strange]).all()
    assert (high >= [known, strange]).all()
    assert high[1] - low[1] > 0.2
    p = roll(FittedModel(Model((Scores(),)), effort=SWIFT), plan, lambda _: None)
    fresh = ~np.isin(np.array(games.names)[plan.test.second], ours.names)
    assert np.isfinite(p[fresh]).all()
    assert fresh.any()


def test_names_that_come_later_are_not_known_before():
    """A part of a table knows the names of its own games, in their order, and nobody else."""
    games = smaller_first(table(season()))
    early = games.only(games.first == 0)
    own = own_names(early)
    assert set(own.names) == set(np.array(games.names)[np.unique([early.first, early.second])])
    for part, whole in ((own.first, early.first), (own.second, early.second)):
        assert [own.names[k] for k in part] == [games.names[k] for k in whole]


def test_covariates_are_forecast_with():
    """With a column that matters the model with every term uses it in the test part."""
    rng = np.random.default_rng(1)
    n = 600
    first = rng.integers(3, size=n)
    second = (first + rng.integers(1, 3, size=n)) % 3
    likes = np.array([1.2, -1.2, 0.0])
    on = rng.choice([1.0, -1.0], size=n)
    won = rng.random(n) < 1.0 / (1.0 + np.exp(-on * (likes[first] - likes[second])))
    games = it.Games.from_arrays(
        first, second, won, np.arange(n) // 30, by={"on": np.where(on > 0, "clay", "grass")}
    )
    found = backtest(games, ladder=["coin", "drifting scores", "everything"], effort=SWIFT)
    gain, error = found.gain("everything", "drifting scores")
    assert gain > 3 * error
    assert "deviations by on" in found.rung("everything").note
    early = cut(smaller_first(games), 0.2, None, 0).early
    assert model_of("everything", early) is None
    plan = cut(smaller_first(games), 0.2, None, 0)
    plain, with_it = (
        roll(FittedModel(model, effort=SWIFT), plan, lambda _: None)
        for model in (Model((Scores(walk=Still()),)), Scores(walk=Still()) + By("on"))
    )
    surface = join(plan.blocks).by[0].codes
    pair = (plan.test.first == 0) & (plan.test.second == 1)
    assert with_it[pair & (surface == 0)].mean() > 0.8
    assert with_it[pair & (surface == 1)].mean() < 0.2
    assert plain[pair].mean() == pytest.approx(0.5, abs=0.15)


def test_too_little_to_learn_from_is_said():
    games = table(season(n_games=30, days=30))
    found = backtest(games, ladder=["coin", "static scores"])
    assert [rung.name for rung in found.rungs] == ["coin"]
    assert any("too few games to learn from" in note for note in found.notes)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"last": 1.0}, "share of games"),
        ({"every": 0.0}, "every"),
        ({"ladder": ["glicko"]}, "glicko"),
        ({"ladder": []}, "no rung"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(it.InputError, match=words):
        backtest(table(season(n_games=40, days=40)), **settings)
