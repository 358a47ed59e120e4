"""Findings: shapes, chances and intervals, order, discs, times, words, the ladder."""

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest

from intransit import Answer, Games, fit
from intransit.backtest import backtest
from intransit.data.reading import Column, Reading
from intransit.model import Readings
from intransit.report import choose_items, compared_about, gather, measure, records
from intransit.report.wording import take_stock
from intransit.study import decompose
from tests.report.tables import FACTOR, FEW, PAIRS, SCORES, STATIC, cyclic_answer, judged, odd_games


@pytest.fixture(scope="module")
def answer():
    """An answer with one drifting factor, whose verdict is that there are cycles."""
    return cyclic_answer()


@pytest.fixture(scope="module")
def found(answer):
    """What there is to say about it."""
    return gather(answer, most_times=6)


def test_shapes_fit_together(found):
    """Every array has the shape that the contract says."""
    n, t, later = len(found.names), len(found.times), len(found.future)
    assert (n, later, found.n_items) == (7, 3, 7)
    assert 2 <= t <= 6
    for name in ("chances", "low", "high"):
        assert getattr(found, name).shape == (t, n, n)
        assert getattr(found, f"future_{name}").shape == (later, n, n)
    for name in ("strengths", "strengths_low", "strengths_high"):
        assert getattr(found, name).shape == (n, t)
    assert found.present.shape == (t, n)
    assert found.games.shape == found.wins.shape == (n, n)
    assert all(disc.points.shape == (t, n, 2) for disc in found.discs)
    assert sorted(found.names) == sorted({*found.names})


def test_chances_of_two_add_up_and_intervals_hold_them(found):
    """What one wins the other loses, and an interval turned round is that of the other."""
    for middle, low, high in (
        (found.chances, found.low, found.high),
        (found.future_chances, found.future_low, found.future_high),
    ):
        np.testing.assert_allclose(middle + middle.swapaxes(1, 2), 1.0)
        np.testing.assert_allclose(low + high.swapaxes(1, 2), 1.0)
        assert (np.diagonal(middle, axis1=1, axis2=2) == 0.5).all()
        assert (low <= middle).all()
        assert (middle <= high).all()
    assert (found.strengths_low <= found.strengths).all()
    assert (found.strengths <= found.strengths_high).all()


@pytest.mark.parametrize("model", [FACTOR, STATIC, PAIRS], ids=str)
def test_chances_are_those_of_the_answer(model):
    """The matrix agrees with `Answer.forecasts`, pair by pair, to within what draws allow."""
    answer = cyclic_answer(model)
    found = gather(without_games(answer), most_times=4)
    for t, at in [(0, found.times[0]), (-1, found.times[-1])]:
        forecasts = answer.forecasts(["item 1"] * 6, found_others(found), [at] * 6)
        i = found.names.index("item 1")
        for told in forecasts:
            j = found.names.index(told.second)
            assert found.chances[t, i, j] == pytest.approx(told.probability, abs=0.01)
            assert found.low[t, i, j] == pytest.approx(told.low, abs=0.04)
            assert found.high[t, i, j] == pytest.approx(told.high, abs=0.04)


def found_others(found):
    """Return all items but the first."""
    return [name for name in found.names if name != "item 1"]


@pytest.mark.parametrize("model", [FACTOR, STATIC, PAIRS], ids=str)
def test_chances_are_the_draws_pair_by_pair(model):
    """All pairs at once agree with the slow way, one pair at a time."""
    answer = cyclic_answer(model)
    items, together = np.array([3, 0, 4, 1]), np.ones((4, 4), bool)
    times = np.array([answer.seen.begin, answer.seen.end, answer.seen.end + 5.0])
    margins, middle, lowest, highest = measure(answer, items, times, together)[0]
    few = answer.posterior
    for k, time in enumerate(times):
        for a, b in ((0, 1), (2, 1), (3, 2)):
            drawn = few.margins(items[[a]], items[[b]], np.array([time]))[:, 0]
            chances = few.results(drawn[:, None])[:, 0]
            low, high = np.quantile(chances, [0.05, 0.95])
            assert margins[k, a, b] == pytest.approx(drawn.mean(), abs=1e-9)
            assert middle[k, a, b] == pytest.approx(chances.mean(), abs=1e-9)
            assert lowest[k, a, b] == pytest.approx(min(low, chances.mean()), abs=1e-9)
            assert highest[k, a, b] == pytest.approx(max(high, chances.mean()), abs=1e-9)


def test_strengths_are_mean_chances(answer, found):
    """A strength is the mean chance against the others, exactly as `rank` finds it."""
    for standing in answer.rank():
        k = found.names.index(standing.name)
        assert found.strengths[k, -1] == standing.strength


def test_records_count_every_game(answer, found):
    """Games and wins of pairs are those of the table, counted row by row."""
    games = answer.games
    i, j = (answer.number(name) for name in found.names[:2])
    played = won = 0.0
    for k in range(len(games)):
        if {games.first[k], games.second[k]} == {i, j}:
            played += games.counts[k]
            y = games.outcomes[k]
            won += games.counts[k] * (y if games.first[k] == i else 1.0 - y)
    assert found.games[0, 1] == found.games[1, 0] == played
    assert found.wins[0, 1] == pytest.approx(won)
    assert found.wins[0, 1] + found.wins[1, 0] == pytest.approx(played)
    assert found.games.sum() == pytest.approx(2 * games.counts.sum())


def test_ties_are_no_wins():
    """Where outcomes are levels a tie is counted by itself, and nobody has won it."""
    games, wins, ties = records(still_fitted("only ties"), np.arange(3))
    np.testing.assert_allclose(ties, games)
    assert not wins.any()


def test_discs_give_the_cyclic_part(answer, found):
    """Planes together hold what strengths do not explain, but for parts too small to show."""
    items = np.array([answer.number(name) for name in found.names])
    for t, at in enumerate(found.times):
        X = answer.posterior.matrices(items, answer.when(at)).mean(axis=0)
        parts = decompose(X)
        drawn = np.zeros((7, 7))
        for disc in found.discs:
            x, y = disc.points[t].T
            drawn += np.outer(x, y) - np.outer(y, x)
        assert np.sum((drawn - parts.cyclic) ** 2) < 0.04 * np.sum(X**2)
        assert np.sum(parts.cyclic**2) > 0.2 * np.sum(X**2)  # there is something to be seen
    shares = [disc.share for disc in found.discs]
    assert 0.9 < sum(shares) <= 1.0 + 1e-9  # of what strengths do not explain
    assert shares == sorted(shares, reverse=True)


def test_discs_move_little_from_one_time_to_the_next(found):
    """Planes are turned to agree over time: no other turn brings two moments closer."""
    assert found.discs
    for disc in found.discs:
        for before, after in zip(disc.points[:-1], disc.points[1:], strict=True):
            here = np.sum((before - after) ** 2)
            for angle in np.linspace(0.1, 2 * np.pi - 0.1, 20):
                turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
                assert here <= np.sum((before @ turn - after) ** 2) + 1e-12


@pytest.mark.parametrize("verdict", ["no evidence", "too little data"])
def test_without_cycles_items_are_ranked_and_no_disc_is_drawn(answer, verdict):
    """The order is that of strengths, and nothing is shown that was not found."""
    found = gather(without_games(judged(answer, verdict)), most_times=3)
    assert found.discs == ()
    assert (np.diff(found.strengths[:, -1]) <= 0).all()
    assert len(found.cycles) == 0


def test_a_circle_is_shown_as_a_circle():
    """Items that each beat the next few around a circle come in that order."""
    rng = np.random.default_rng(0)
    names = np.array(list("dgbeacf"))  # around the circle
    first = rng.integers(7, size=4000)
    ahead = rng.integers(1, 7, size=4000)
    won = rng.random(4000) < np.where(ahead <= 3, 0.85, 0.15)
    games = Games.from_arrays(names[first], names[(first + ahead) % 7], won)
    found = gather(judged(fit(games, model=STATIC, effective=FEW)))
    around = "".join(names) * 2
    assert "".join(found.names) in around


def test_the_same_answer_gives_the_same_findings(answer, found):
    """Nothing depends on the clock or on what was asked before."""
    answer.rank()
    again = gather(answer, most_times=6)
    for field in fields(found):
        one, two = getattr(found, field.name), getattr(again, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, two)
        elif field.name != "discs":
            assert one == two


@cache
def still_fitted(name):
    """Return the answer to an odd table, fitted once."""
    model = PAIRS if name == "many items" else None
    return fit(odd_games()[name], model=model, effective=5, seconds=4)


def without_games(answer):
    """Return an answer as it comes from a file, so that no time goes into a look back."""
    return replace(answer, games=None)


@pytest.mark.parametrize("name", list(odd_games()))
def test_odd_tables_have_findings(name):
    """Two items, one game, no times, ties alone, one time, pools, many items: all can be told."""
    answer = still_fitted(name)
    verdicts = ("cycles", "no evidence", "too little data")
    for verdict in verdicts[: 1 if name == "many items" else 3]:
        looks_back = verdict == "cycles" and name != "many items"
        told = judged(answer if looks_back else without_games(answer), verdict)
        found = gather(told, most_times=8)
        assert np.isfinite(found.chances).all()
        assert len(found.sentences) == 3
        assert all(sentence.endswith(".") for sentence in (found.headline, *found.sentences))
        assert "nan" not in " ".join([found.headline, *found.sentences, *found.data])
        assert len(found.times) == len(found.chances) >= 1
        assert (found.changes is None) == (name in {"no times", "one time", "one game"})
    if name == "no times":
        assert (found.times, found.future) == (("",), ())
    if name == "one time":
        assert (found.times, found.future) == (("2026-01-01",), ())


def test_pools_that_never_met_are_even_and_unknown():
    """Between pools a chance is a half, its interval everything, and pools are numbered."""
    found = gather(judged(still_fitted("several pools")))
    apart = found.together[:, None] != found.together
    assert found.together.max() == 2
    assert (found.together[:3] == 0).all()
    assert (found.chances[:, apart] == 0.5).all()
    assert (found.low[:, apart] == 0.0).all()
    assert (found.high[:, apart] == 1.0).all()
    assert any(
        "3 groups of items never met" in line and "left, right" in line for line in found.data
    )
    assert any("fewer than 5 games" in line for line in found.data)


def test_of_many_items_those_that_matter_are_shown():
    """At most as many as asked for, those wanted among them, and it is said which."""
    answer = still_fitted("many items")
    items, why = choose_items(answer, 60, np.array([7, 93]))
    assert len(items) == len(set(items.tolist())) == 60
    assert {7, 93} <= set(items.tolist())
    assert why.startswith(f"60 of {answer.n_items} items are shown")
    games = answer.games
    late = games.times >= games.times[-100]  # of 400 games, one a row
    both = np.concatenate([games.first[late], games.second[late]])
    busiest = np.argsort(-np.bincount(both, minlength=answer.n_items), kind="stable")[:10]
    assert set(busiest.tolist()) <= set(items.tolist())
    assert gather(without_games(answer), most_items=10, most_times=2).chances.shape[1:] == (10, 10)


def test_items_are_there_when_they_were_compared(answer):
    """An item that left halfway is not there at the end."""
    games = answer.games
    k = answer.number("item 3")
    gone = ((games.first == k) | (games.second == k)) & (games.times > games.times[0] + 14)
    left = fit(games.only(~gone), model=SCORES, effective=5)
    times = np.linspace(left.seen.begin, left.seen.end, 7)
    there = compared_about(left, np.arange(7), times, 3.0)
    assert there[:3, k].all()
    assert not there[5:, k].any()
    assert np.delete(there, k, axis=1).all()


def test_a_still_model_has_one_time_and_says_so():
    """Chances that do not change are shown once."""
    found = gather(without_games(cyclic_answer(STATIC)))
    assert (len(found.times), found.future) == (1, ())
    assert "chances are averages over all times" in found.sentences[2]


def test_data_says_what_was_used(answer):
    """Rows used and not, with reasons, columns and span are told."""
    reading = replace(answer.reading, source="some/where/games.csv", n_rows=1600)
    lines = take_stock(replace(answer, reading=reading))
    assert lines[0] == "1,000 of 1,600 rows of games.csv were used."
    assert "1,000 games between 7 items, from 2025-01-01 to 2025-01-30." in lines
    assert "Every pair met." in lines


@pytest.mark.parametrize(
    ("n_rows", "where", "said"),
    [
        (7, (), "All 7 rows of games.csv were used."),
        (1, (), "The one row of games.csv was used."),
        (7, ("format: Legacy",), "All 7 rows of games.csv with format: Legacy were used."),
    ],
)
def test_rows_are_told_in_a_sentence(answer, n_rows, where, said):
    """All rows, one row, or those of a condition; a column is named with what it was taken for."""
    columns = (Column("first", "home", "named so"), Column("time", "time", "named so"))
    reading = Reading("a/games.csv", columns, n_rows=n_rows, n_used=n_rows, where=where)
    lines = take_stock(replace(answer, reading=reading))
    assert lines[0] == said
    assert lines[1] == "Columns: home (first), time."


def test_the_title_takes_the_place_of_the_source(answer):
    """A page is called after its table's file, or as one likes."""
    assert gather(without_games(answer), most_times=1, title="Battles").source == "Battles"
    reading = Reading("some/where/games.csv", where=("format: Legacy",))
    named = gather(replace(without_games(answer), reading=reading), most_times=1)
    assert named.source == "games.csv, format: Legacy"


def test_changes_begin_when_half_of_the_items_are_there():
    """Items that came late are not all left out because a few were there before them."""
    rng = np.random.default_rng(0)
    early = [("x", "y", k) for k in range(20)]
    late = [
        (f"item {a}", f"item {(a + 1 + k % 5) % 6}", 20 + k // 3)
        for k, a in enumerate(rng.integers(6, size=90))
    ]
    first, second, times = zip(*early, *late, ("x", "item 0", 49), strict=True)
    games = Games.from_arrays(first, second, rng.integers(2, size=len(first)), times)
    changes = gather(without_games(fit(games, model=SCORES, effective=10)), most_times=12).changes
    assert 15 < float(changes.since) <= 25
    assert {item.name for item in changes.items} >= {"item 1", "item 2"}


def test_the_ladder_has_plain_models_and_this_one(found):
    """The quick look back measures the answer's model by plain ones, on games it did not learn."""
    names = [step.name for step in found.ladder]
    assert names == [
        *("coin", "frequencies", "Elo", "static scores", "drifting scores", "this model"),
    ]
    losses = {step.name: step.log_loss for step in found.ladder}
    assert losses["coin"] == pytest.approx(np.log(2))
    assert losses["this model"] < losses["drifting scores"]
    step = found.ladder[-1]
    assert step.note.startswith("gain over drifting scores")
    assert step.gain == pytest.approx(losses["drifting scores"] - losses["this model"])


def test_a_given_backtest_is_the_ladder(answer):
    """Its rungs, with gains over the one that each is measured by, and its notes."""
    told = backtest(answer.games, ladder=["coin", "Elo"])
    found = gather(answer, ladder=told, most_times=1)
    assert [step.name for step in found.ladder] == ["coin", "Elo"]
    assert found.ladder[1].gain == told.gain("Elo", "coin")[0]
    assert found.ladder_notes == told.notes


def test_an_answer_from_a_file_has_no_ladder_and_says_why(answer, tmp_path):
    """Without games no model can be run beside it, which is told with what would do it."""
    kept = Answer.load(answer.save(tmp_path / "a.intransit"))
    found = gather(kept, most_times=2)
    assert found.ladder == ()
    (note,) = found.ladder_notes
    assert "games themselves are not kept" in note
    assert "`intransit report` on the table does so" in note


def test_readings_are_counted_as_wins_by_their_sign():
    """Several readings of a pair at one time: each is a win or a loss, whatever their mean."""
    margins = [3.0, -1.0, -1.0, 2.0, 1.0, -4.0] * 5
    games = Games.from_arrays(
        ["a", "a", "a", "b", "b", "b"] * 5,
        ["b", "b", "b", "c", "c", "c"] * 5,
        [float(m > 0) for m in margins],
        margins=margins,
    )
    answer = fit(games, model=SCORES, law=Readings(), effective=5)
    played, wins, _ = records(answer, np.arange(3))
    assert played[0, 1] == played[1, 2] == 15
    assert (wins[0, 1], wins[1, 0], wins[1, 2], wins[2, 1]) == (5, 10, 10, 5)
