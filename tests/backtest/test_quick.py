"""The quick ladder: one model beside plain ones, that learns nothing from what it forecasts."""

from dataclasses import replace

import numpy as np
import pytest

from intransit.backtest import THIS_MODEL, backtest, quick_backtest
from intransit.data.games import Games
from intransit.datasets import simulate_games
from intransit.errors import InputError
from intransit.model import Factors, Model, Scores

FACTOR = Scores() + Factors(1)
SCORES = Model((Scores(),))


@pytest.fixture(scope="module")
def games():
    """Games of six items over two months, cyclic for the most part."""
    return simulate_games(6, 1200, n_days=40, cyclic=0.7, ties=0.1, rng=1)[0]


@pytest.fixture(scope="module")
def found(games):
    """The ladder of these games."""
    return quick_backtest(games, FACTOR)


def test_the_model_stands_beside_plain_ones(found):
    """All rungs are there, each measured by one below it; a factor gains where cycles are."""
    assert [rung.name for rung in found.rungs] == [
        *("coin", "frequencies", "Elo", "static scores", "drifting scores", THIS_MODEL),
    ]
    assert dict(found.nested())[THIS_MODEL] == "drifting scores"
    assert found.rungs[-1].note == str(FACTOR)
    gain, error = found.gain(THIS_MODEL, "drifting scores")
    assert gain > 2.0 * error


def test_a_fifth_is_forecast_in_two_parts(games, found):
    """Only the latest games are forecast, and those of the first part before the second is seen."""
    told = found.forecasts
    assert told.blocks.max() == 1
    assert told.counts.sum() == pytest.approx(0.2 * games.counts.sum(), rel=0.2)
    assert told.times.min() > np.quantile(games.times, 0.75)


def test_results_that_are_foretold_change_no_forecast(games, found):
    """With the results of the last part turned round every forecast stays as it was."""
    told = found.forecasts
    last = told.times[told.blocks == 1].min()
    outcomes = np.where(games.times >= last, 1.0 - games.outcomes, games.outcomes)
    turned = quick_backtest(replace(games, outcomes=outcomes), FACTOR).forecasts
    for name, p in told.probabilities.items():
        rows = match(told, turned)
        np.testing.assert_array_equal(p[rows[0]], turned.probabilities[name][rows[1]])


def match(one, two):
    """Return rows of two sets of forecasts that are of the same game."""
    keys = [
        {key: k for k, key in enumerate(zip(told.first, told.second, told.times, strict=True))}
        for told in (one, two)
    ]
    shared = [key for key in keys[0] if key in keys[1]]
    assert len(shared) > 50
    return [[found[key] for key in shared] for found in keys]


def test_it_agrees_with_the_full_backtest(games, found):
    """Plain scores forecast as they do in the full ladder, to within what is coarser here."""
    full = backtest(games, every=6.5, ladder=["static scores", "drifting scores"])
    for name in ("static scores", "drifting scores"):
        assert found.rung(name).log_loss == pytest.approx(full.rung(name).log_loss, abs=0.01)


def test_of_a_long_table_the_latest_games_are_used(games):
    """Older ones are left alone, which is said."""
    found = quick_backtest(games, SCORES, most_games=400)
    assert found.forecasts.counts.sum() == pytest.approx(80, abs=25)
    assert any(note.startswith("Of the table the latest 4") for note in found.notes)


def test_a_plain_model_gains_nothing_on_itself(games):
    """An answer with drifting scores alone has the forecasts of that rung."""
    found = quick_backtest(games, SCORES)
    assert found.rung(THIS_MODEL).note == "drifting scores"
    assert found.gain(THIS_MODEL, "drifting scores") == (0.0, 0.0)


def test_without_times_games_are_held_back_at_random(games):
    """Nothing drifts then, whatever the model was."""
    still = replace(games, times=np.zeros(len(games)))
    found = quick_backtest(still, FACTOR)
    assert "drifting scores" not in [rung.name for rung in found.rungs]
    assert found.rung(THIS_MODEL).note == "static scores + 1 factor"
    assert any(note.startswith("Left out: drifting scores.") for note in found.notes)


def test_few_games_leave_few_rungs():
    """With too few to learn from only plain counting is left; with one there is nothing to say."""
    few = Games.from_arrays(["x"] * 9, ["y"] * 9, [1, 0, 1] * 3, list(range(9)))
    found = quick_backtest(few, SCORES)
    assert [rung.name for rung in found.rungs] == ["coin", "frequencies", "Elo"]
    (why,) = [note for note in found.notes if "too few games" in note]
    left = ", ".join(found.left_out)
    assert len(found.left_out) == 3
    assert why.startswith(f"Left out: {left.replace(', ' + [*found.left_out][2], '')} and ")
    with pytest.raises(InputError, match="too few to learn from and test on"):
        quick_backtest(Games.from_arrays(["x"], ["y"], [1]), SCORES)


def test_elo_may_give_a_side_as_much_as_it_is_worth():
    """Where hosts win nine games of eleven, a gain over Elo is not one over a side cut short."""
    rng = np.random.default_rng(5)
    first, second = rng.permuted(np.tile(np.arange(6), (900, 1)), axis=1)[:, :2].T
    scores = rng.standard_normal(6)
    chances = 1.0 / (1.0 + np.exp(-(scores[first] - scores[second] + 1.5)))
    names = np.array([*"abcdef"])
    games = Games.from_arrays(
        names[first], names[second], rng.random(900) < chances, np.arange(900.0), sides=np.ones(900)
    )
    note = backtest(games, ladder=["coin", "Elo"]).rung("Elo").note
    points = int(note.split("side ")[1].split()[0])
    assert points in {139, 226, 347}  # the truth is 261; 87 was the most
