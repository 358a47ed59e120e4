"""Simulate and backtest: tables with a known truth, and ladders of models."""

import csv
import io
import json

import numpy as np
import pytest

from intransit import InputError, read, study
from intransit.datasets import simulate_games

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")


@pytest.mark.parametrize("cyclic", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("n_factors", [1, 2])
def test_the_cyclic_share_is_as_asked_for(cyclic, n_factors):
    """Over all days the energy is shared out exactly; `study` finds the same."""
    _, truth = simulate_games(9, 10, n_days=40, cyclic=cyclic, n_factors=n_factors, spread=1.5)
    total, ring = 0.0, 0.0
    for day in truth.days:
        X = truth.margins(float(day))
        np.testing.assert_allclose(X, -X.T, atol=1e-12)
        total += np.sum(X**2)
        ring += study.decompose(X).cyclic_share * np.sum(X**2)
    assert ring / total == pytest.approx(cyclic, abs=1e-9)
    assert np.sqrt(total / (len(truth.days) * 9 * 8)) == pytest.approx(1.5)


def test_games_follow_their_truth():
    """Wins, ties and losses occur as often as the truth says, pair by pair."""
    games, truth = simulate_games(3, 60_000, n_days=5, cyclic=0.5, ties=0.3, memory=1e6, rng=1)
    p = truth.probabilities()
    for i in range(3):
        for j in range(3):
            rows = (games.first == i) & (games.second == j)
            if i != j:
                mean = np.average(games.outcomes[rows], weights=games.counts[rows])
                assert mean == pytest.approx(p[i, j], abs=0.02)
    assert games.has_ties
    assert games.clock.kind == "date"


def test_strengths_drift_and_forget():
    slow, fast = (
        simulate_games(10, 10, n_days=200, memory=memory, rng=2)[1] for memory in (1e6, 20.0)
    )
    moved = [np.abs(t.margins() - t.margins(float(t.days[0]))).mean() for t in (slow, fast)]
    assert moved[0] < 0.1 < moved[1]
    np.testing.assert_allclose(fast.probabilities() + fast.probabilities().T, 1.0, atol=1e-12)


def test_the_same_seed_gives_the_same_games():
    (one, _), (same, _), (other, _) = (simulate_games(5, 50, rng=rng) for rng in (4, 4, 5))
    np.testing.assert_array_equal(one.outcomes, same.outcomes)
    assert len(one) != len(other) or not np.array_equal(one.first, other.first)
    assert not one.has_ties


@pytest.mark.parametrize(
    "wrong",
    [{"cyclic": 1.5}, {"ties": 1.0}, {"n_items": 1}, {"memory": 0}, {"n_games": 0}, {"rng": -1}],
)
def test_what_cannot_be_simulated_is_refused(wrong):
    with pytest.raises(InputError):
        simulate_games(**{"n_items": 3, "n_games": 3, "n_days": 3, **wrong})
    with pytest.raises(InputError, match="no cycle"):
        simulate_games(2, 3, cyclic=0.5)


def test_simulate_writes_games_and_truth(call, tmp_path):
    given = ("--games", 300, "--items", 5, "--days", 20, "--ties", "--seed", 1)
    done = call("simulate", "--out", "g.csv", "--truth", "t.csv", *given)
    assert (done.code, done.err) == (0, "")
    assert "intransit fit g.csv" in done.out
    games = read(tmp_path / "g.csv")
    assert (games.n_items, games.counts.sum(), games.kind) == (5, 300, "ties")
    truth = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert len(truth) == 10 * 4  # pairs, at days 0, 7, 14 and 19
    _, known = simulate_games(5, 300, n_days=20, ties=0.25, rng=1)
    row = truth[-1]
    i, j = (known.names.index(row[side]) for side in ("first", "second"))
    assert float(row["probability"]) == known.probabilities(row["date"])[i, j]
    # To the standard output, the same table.
    assert call("simulate", "--csv", *given).out == (tmp_path / "g.csv").read_text()


def test_simulate_replaces_only_when_told(call, tmp_path):
    mine = tmp_path / "g.csv"
    mine.write_text("mine")
    done = call("simulate", "--out", "g.csv", "--games", 5)
    assert (done.code, mine.read_text()) == (2, "mine")
    assert "--force" in done.err
    assert call("simulate", "--out", "g.csv", "--games", 5, "--force").code == 0
    assert len(mine.read_text().splitlines()) == 6
    assert "--out games.csv" in call("simulate").err
    assert call("simulate", "--out", "h.csv", "--cyclic", 2).code == 2
    assert not (tmp_path / "h.csv").exists()


def test_backtest_shows_the_ladder(call, kept, tmp_path):
    given = (kept / "games.csv", "--quick", "--ladder", "coin, elo")
    done = call("backtest", *given, "--figure", "l.png")
    assert (done.code, done.err) == (0, "")
    assert "games predicted" in done.out
    assert "coin" in done.out
    assert "The picture is l.png." in done.out
    assert (tmp_path / "l.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads(call("backtest", *given, "--json").out)
    assert [rung["name"] for rung in data["rungs"]] == ["coin", "Elo"]
    assert data["rungs"][0]["log_loss"] == pytest.approx(np.log(2))
    rows = list(csv.DictReader(io.StringIO(call("backtest", *given, "--csv").out)))
    assert rows[0]["name"] == "coin"


@pytest.mark.parametrize(
    ("option", "word"),
    [
        (("--last", 1.5), "--last"),
        (("--every", 0), "--every"),
        (("--ladder", "oracle"), "oracle"),
        (("--figure", "ladder.txt"), ".png, .svg or .pdf"),
        (("--figure", "nowhere/l.png"), "no folder"),
    ],
)
def test_a_backtest_that_cannot_be_run(call, kept, option, word):
    done = call("backtest", kept / "games.csv", *option)
    assert (done.code, done.out) == (2, "")
    assert word in done.err
