"""From games to an answer: forecasts, ranks, updates, files."""

import os
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import intransit as it
from intransit.analysis import saving
from intransit.answer import _moved, tell
from intransit.data.games import Clock
from intransit.model import Drift, Factors, Model, PairEffects, Scores, Side, Still
from tests.analysis.fuzzing import seal_file

SCORES = Model((Scores(),))
STILL = Model((Scores(walk=Still()),))
FACTOR = Scores() + Factors(1)
FEW = 30  # effective draws, where a coarse answer does

CIRCLE = {("rock", "scissors"), ("paper", "rock"), ("scissors", "paper")}


def circle(n=60, *, seed=0, days=40):
    rng = np.random.default_rng(seed)
    names = ["rock", "paper", "scissors", "stone"]
    rows = []
    for _ in range(n):
        a, b = rng.choice(4, 2, replace=False)
        strong = (names[a], names[b]) in CIRCLE
        weak = (names[b], names[a]) in CIRCLE
        rows.append(
            (names[a], names[b], int(rng.random() < (0.9 if strong else 0.1 if weak else 0.5)))
        )
    first, second, won = zip(*rows, strict=True)
    day = np.sort(rng.integers(0, days, n))
    dates = (np.datetime64("2026-01-01") + day).astype(str).tolist()
    return it.Games.from_arrays(first, second, won, dates)


@pytest.fixture(scope="module")
def answer():
    return it.fit(circle(600), model=FACTOR, effective=FEW)


def test_a_circle_is_found_and_probabilities_are_complementary_exactly(answer):
    for a, b in CIRCLE:
        assert answer.probability(a, b).probability > 0.75
        one, two = answer.probability(a, b, "2026-03-01"), answer.probability(b, a, "2026-03-01")
        assert one.probability + two.probability == 1.0
        assert one.low < one.probability < one.high
    matrix = answer.matrix()
    np.testing.assert_array_equal(matrix + matrix.T, 1.0)


def test_many_at_once_are_the_same_as_one_by_one(answer):
    together = answer.probabilities(["rock", "paper"], ["scissors", "stone"], "2026-02-01")
    apart = [
        float(answer.probability(a, b, "2026-02-01"))
        for a, b in (("rock", "scissors"), ("paper", "stone"))
    ]
    np.testing.assert_allclose(together, apart, rtol=1e-9)


def test_forecasts_grow_less_sure_with_time(answer):
    near, far = (answer.probability("rock", "paper", at) for at in ("2026-02-10", "2027-02-10"))
    assert far.high - far.low > near.high - near.low
    assert "last compared" in far.notes[0]


def test_unknown_names_and_oneself_are_refused_with_a_hint(answer):
    with pytest.raises(it.InputError, match="did you mean 'scissors'"):
        answer.probability("rock", "scisors")
    with pytest.raises(it.InputError, match="cannot meet itself"):
        answer.probability("rock", "rock")
    with pytest.raises(it.InputError, match="not a date"):
        answer.probability("rock", "paper", "soon")


def test_pools_that_never_met_get_no_confident_forecast():
    first, second = ["a", "a", "b", "x", "x", "y"] * 20, ["b", "c", "c", "y", "z", "z"] * 20
    games = it.Games.from_arrays(first, second, [1] * 120)
    answer = it.fit(games, model=STILL, effective=FEW, seconds=3)
    assert answer.probability("a", "c").probability > 0.9
    stranger = answer.probability("a", "z")
    assert stranger.probability == 0.5
    assert stranger.high - stranger.low > 0.8
    assert "no chain of comparisons" in stranger.notes[0]
    assert answer.probabilities("a", "z") == 0.5


def test_ranks_put_the_winner_first_and_count_games():
    games = it.Games.from_arrays(["a", "a", "b"] * 30, ["b", "c", "c"] * 30, [1] * 87 + [0] * 3)
    standings = it.fit(games, model=STILL, effective=FEW).rank()
    assert [s.name for s in standings] == ["a", "b", "c"]
    assert [s.games for s in standings] == [60, 60, 60]
    assert all(s.low <= s.strength <= s.high for s in standings)


def test_an_update_equals_a_fit_of_everything():
    games = circle(600)
    cut = np.unique(games.times)[-5]
    old, new = games.only(games.times < cut), games.only(games.times >= cut)
    answer = it.fit(old, model=FACTOR).update(new)
    whole = it.fit(games, model=FACTOR)
    assert answer.names == whole.names
    # Both are draws of one posterior: near, and not equal.
    np.testing.assert_allclose(answer.matrix(), whole.matrix(), atol=0.05)


def test_new_items_may_come_with_an_update():
    rng = np.random.default_rng(0)
    first, second = ["a", "a", "b"] * 40, ["b", "c", "c"] * 40
    won, times = (rng.random(120) < 0.7).astype(float), np.arange(120) // 12
    answer = it.fit(it.Games.from_arrays(first, second, won, times), model=SCORES)
    more = it.Games.from_arrays(["new"] * 8, ["a"] * 8, [1] * 8, [10.0] * 8)
    longer = answer.update(more)
    assert longer.names == ("a", "b", "c", "new")
    assert longer.probability("new", "a").probability > 0.6
    assert longer.seen.end == 10.0
    assert longer.probability("b", "c", 9).probability == pytest.approx(
        answer.probability("b", "c", 9).probability, abs=0.05
    )
    with pytest.raises(it.InputError, match="same column of times"):
        answer.update(it.Games.from_arrays(["a"], ["b"], [1], ["2026-01-01"]))


def test_ties_margins_and_sides_end_to_end():
    rng = np.random.default_rng(0)
    n, strength = 900, {"a": 1.0, "b": 0.0, "c": -1.0}
    first = rng.choice(list("abc"), n)
    second = np.array([rng.choice([c for c in "abc" if c != f]) for f in first])
    x = np.array([strength[f] - strength[s] for f, s in zip(first, second, strict=True)]) + 0.5
    margin = np.round(2 * (x + rng.logistic(size=n)))
    games = it.Games.from_arrays(
        first, second, 0.5 + 0.5 * np.sign(margin), margins=margin, sides=np.ones(n)
    )
    answer = it.fit(games, model=STILL + Side(walk=Still()), effective=FEW)
    home, neutral = (answer.probability("b", "c", side=side) for side in (1, 0))
    assert home.probability > neutral.probability + 0.05
    assert neutral.win + neutral.tie + neutral.loss == pytest.approx(1.0)
    assert 0.0 < neutral.tie < 0.4
    assert 0.5 < neutral.margin < 4.0  # the truth is 2
    worth = next(line for line in answer.story if "better side" in line)
    assert re.fullmatch(
        r"The better side is worth \+\d\.\d\d in log odds( at the end)? \(90 % interval \S+ to "
        r"\S+\): between equals, the item that has it wins \d\d %, a tie as half a win\. "
        r"Chances and ranks are without it\.",
        worth,
    )


def test_games_that_are_all_ties_do_not_make_a_tie_certain():
    """Of 90 ties a share of one in forty that are none is still plausible, and nobody leads."""
    rng = np.random.default_rng(0)
    first = rng.integers(6, size=90)
    second = (first + rng.integers(1, 6, size=90)) % 6
    answer = it.fit(it.Games.from_arrays(first, second, np.full(90, 0.5)), effective=50)
    ties = np.tanh(0.5 * answer.posterior.draws.cuts[:, 0])
    assert 0.95 < np.quantile(ties, 0.05) < 0.992
    told = next(line for line in answer.story if "tie in" in line)
    assert re.fullmatch(
        r"Equally strong items tie in \S+ % of games \(90 % interval .* %\)\.", told
    )
    assert answer.ranking().n_upsets == 0


def test_the_story_tells_what_was_fitted_and_how(answer):
    story = " ".join(answer.story)
    assert "600 games as wins and losses." in story
    assert "Model: drifting scores + 1 drifting factor." in story
    assert f"{len(answer.posterior)} draws from the posterior. 2 chains of" in story
    assert "effective draws (R-hat 1.0" in story
    # There is a cycle, and it stays.
    assert "Scores may not drift at all: with a probability of 95 %, the typical drift" in story
    assert answer.names[0] in answer.summary()


def test_rounds_are_not_called_days(answer):
    """How finely times are told apart is in their own unit."""
    coarse = replace(answer.encoding, step=2.0)
    for kind, words in (("date", "2 days"), ("number", "2 units of time")):
        games = replace(answer.games, clock=Clock(kind))
        assert f"Time resolution: {words}." in tell(games, coarse, answer.posterior)


def test_a_table_of_one_hour_is_not_one_moment():
    """Its pairs met again and again, and what changed within the hour is seen."""
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=600)
    second = (first + rng.integers(1, 4, size=600)) % 4
    scores = np.linspace(-1.5, 1.5, 600)  # of item 3, which overtakes the others
    margin = np.where(first == 3, scores, 0.0) - np.where(second == 3, scores, 0.0)
    won = rng.random(600) < 1.0 / (1.0 + np.exp(-margin))
    begin = np.datetime64("2026-05-01T12:00:00")
    times = (begin + 6 * np.arange(600)).tolist()
    answer = it.fit(it.Games.from_arrays(first, second, won, times), effective=20, seconds=5)
    assert len(answer.posterior.axis) > 20
    assert any(line.startswith("Time resolution: 2.") for line in answer.story)
    assert any(" minutes." in line for line in answer.story)
    assert answer.transitive.n_series > 100
    assert "occasion" not in answer.transitive.reason
    changed = [one.name for one in answer.changes().items if one.sure]
    assert "3" in changed


def moving(drift, seed=0):
    """Plain scores of eight items, 2,000 games in a year in which they move by `drift`."""
    rng = np.random.default_rng([seed, 3])
    steps = drift / np.sqrt(365) * rng.normal(size=(365, 8))
    steps[0] = 0.8 * rng.normal(size=8)
    scores = np.cumsum(steps, axis=0)
    first, day = rng.integers(8, size=2_000), np.sort(rng.integers(365, size=2_000))
    second = (first + rng.integers(1, 8, size=2_000)) % 8
    won = rng.random(2_000) < 1.0 / (1.0 + np.exp(scores[day, second] - scores[day, first]))
    return it.fit(it.Games.from_arrays(first, second, won * 1.0, day * 1.0), model=Scores())


def test_scores_are_said_to_move_only_where_they_do():
    """So far 3 of 3 that stood still were said to move, by 0.1 to 0.4."""
    still = [" ".join(moving(0.0, seed).story) for seed in range(3)]
    assert sum("Scores may not drift at all" in story for story in still) == 3
    assert "Scores drift by about" in " ".join(moving(1.5).story)


def test_what_scores_moved_by_is_less_where_they_return():
    """A walk of 2 that keeps nothing goes as far as it settles at, and forgets its beginning."""
    one = np.ones(1)
    assert _moved(2.0 * one, one, one, 1.0) == pytest.approx(2.0)
    kept = np.exp([-50.0])
    assert _moved(2.0 * one, one, kept, 1.0) == pytest.approx(np.sqrt(4.0 / 41.4 + 1.0), rel=0.02)


def test_by_default_every_term_is_there_and_says_so():
    n, rng = 120, np.random.default_rng(0)
    first = rng.integers(6, size=n)
    second = (first + rng.integers(1, 6, size=n)) % 6
    won, day = rng.integers(2, size=n), np.sort(rng.integers(9, size=n))
    sides = rng.choice([-1, 0, 1], size=n)
    answer = it.fit(it.Games.from_arrays(first, second, won, day, sides=sides), effective=10)
    every = [type(term) for term in answer.model.terms]
    assert every == [Scores, Factors, PairEffects, Side]
    assert answer.model.n_factors == 2  # of six items
    assert all(isinstance(term.walk, Drift) for term in answer.model.terms)
    once = it.fit(it.Games.from_arrays(first, second, won), effective=10)
    assert [type(term) for term in once.model.terms] == [Scores, Factors, PairEffects]
    assert not once.model.moves


def test_files_that_were_cut_short_altered_or_are_something_else_are_refused(answer, tmp_path):
    place = answer.save(tmp_path / "good.intransit")
    whole = place.read_bytes()
    cut = tmp_path / "cut.intransit"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(it.InputError, match="cut short"):
        it.Answer.load(cut)
    other = tmp_path / "other.intransit"
    other.write_text("first,second\n")
    with pytest.raises(it.InputError, match="not an intransit answer"):
        it.Answer.load(other)
    with pytest.raises(it.InputError, match="no such file"):
        it.Answer.load(tmp_path / "none.intransit")
    with pytest.raises(it.InputError, match="folder"):
        it.Answer.load(tmp_path)
    altered = tmp_path / "altered.intransit"
    with zipfile.ZipFile(place) as old, zipfile.ZipFile(altered, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(
                name, content.replace(b"rock", b"sock") if name == saving.WORDS else content
            )
    with pytest.raises(it.InputError, match="checksum"):
        it.Answer.load(altered)
    newer = tmp_path / "newer.intransit"
    newer.write_bytes(seal_file({"version": 99, "names": []}, {"z": np.zeros(1)}))
    with pytest.raises(it.InputError, match="version 99"):
        it.Answer.load(newer)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(answer, tmp_path, monkeypatch):
    place = answer.save(tmp_path / "kept.intransit")
    before = place.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        answer.save(place)
    assert place.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["kept.intransit"]


def test_shuffled_dates_change_the_answer():
    rng = np.random.default_rng(0)
    n = 400
    day = np.sort(rng.integers(0, 200, n))
    won = (rng.random(n) < np.where(day < 100, 0.9, 0.1)).astype(int)  # a falls from grace
    first, second = ["a"] * n, ["b"] * n
    true = it.fit(it.Games.from_arrays(first, second, won, day.astype(float)), effective=FEW)
    mixed = rng.permutation(day).astype(float)
    shuffled = it.fit(it.Games.from_arrays(first, second, won, mixed), effective=FEW)
    assert true.probability("a", "b").probability < 0.3
    assert shuffled.probability("a", "b").probability > 0.35


def test_storing_the_winner_first_changes_nothing():
    games = circle(300)
    swap = games.outcomes == 0
    names = np.array(games.names)
    first = np.where(swap, names[games.second], names[games.first])
    second = np.where(swap, names[games.first], names[games.second])
    stored = it.Games.from_arrays(
        first, second, np.ones(len(first)), games.times, counts=games.counts
    )
    plain = it.Games.from_arrays(
        names[games.first], names[games.second], games.outcomes, games.times, counts=games.counts
    )
    one, two = (it.fit(g, model=SCORES, effective=FEW) for g in (plain, stored))
    np.testing.assert_allclose(one.matrix(), two.matrix(), atol=1e-6)


def test_every_block_of_parameters_moves():
    """Scores, factors, effects of pairs, cuts, and the side's worth all leave where they begin."""
    rng = np.random.default_rng(2)
    n, names = 6000, np.array(list("abcdefghijklmn"))
    m = len(names)
    first = rng.integers(m, size=n)
    second = (first + rng.integers(1, m, size=n)) % m
    angle, skill = np.linspace(0, 2 * np.pi, m, endpoint=False), rng.normal(size=m)
    quirk = np.triu(rng.normal(size=(m, m)), 1)
    quirk -= quirk.T
    side = rng.integers(-1, 2, size=n)
    x = skill[first] - skill[second] + 2.0 * np.sin(angle[first] - angle[second])
    x += 0.5 * quirk[first, second] + 0.6 * side
    latent = x + rng.logistic(size=n)
    outcome = np.where(np.abs(latent) < 0.5, 0.5, (latent > 0).astype(float))
    games = it.Games.from_arrays(
        names[first], names[second], outcome, np.sort(rng.integers(0, 30, n)), sides=side
    )
    answer = it.fit(games, model=FACTOR + PairEffects() + Side(), effective=FEW)
    posterior, draws = answer.posterior, answer.posterior.draws
    # u and v turn freely within their plane, so a mean over draws says nothing of them.
    assert np.ptp(draws.states, axis=1).mean(axis=0).min() > 0.1
    assert np.ptp(draws.states[:, :, 0].mean(axis=0)) > 0.1
    assert np.ptp(draws.numbers[0].mean(axis=0)) > 0.1
    assert draws.cuts[:, 0].mean() == pytest.approx(0.5, abs=0.15)
    axis = posterior.axis
    worth = posterior.side_worth(axis).mean(axis=0)
    np.testing.assert_allclose(worth, 0.6, atol=0.25)
    pair = np.zeros(len(axis), np.int64)
    path = posterior.margins(pair, pair + 1, axis).mean(axis=0)
    assert np.abs(np.diff(path)).max() > 0
    for scale in (*draws.scales.T, *draws.rates.T, *draws.number_scales.T[:1]):
        assert np.ptp(scale) > 0.0


def test_a_first_tie_among_the_latest_games_is_no_obstacle():
    rng = np.random.default_rng(0)
    n, names = 300, np.array(list("abcd"))
    first = rng.integers(4, size=n)
    second = (first + rng.integers(1, 4, size=n)) % 4
    outcome = rng.integers(0, 2, size=n).astype(float)
    outcome[270:275] = 0.5
    games = it.Games.from_arrays(names[first], names[second], outcome, np.arange(n) // 5)
    answer = it.fit(games, effective=FEW)
    assert 0.0 < answer.probability("a", "b").tie < 0.2


def test_a_matrix_of_many_items_has_the_chances_of_single_pairs():
    """So far one of more than 100 items was a mean over 100 draws, and off by up to 0.05."""
    rng = np.random.default_rng(0)
    first = rng.integers(110, size=900)
    second = (first + rng.integers(1, 110, size=900)) % 110
    games = it.Games.from_arrays(first, second, rng.integers(2, size=900))
    many = it.fit(games, model=Model((Scores(),)))
    assert len(many.posterior) > 100
    pairs = np.arange(109), np.arange(1, 110)
    np.testing.assert_allclose(many.matrix()[pairs], many.probabilities(*pairs), atol=1e-9)


def test_a_forecast_by_a_model_that_stands_still_says_that_it_knows_no_change():
    games = it.Games.from_arrays(["a"] * 9, ["b"] * 9, [1, 1, 0] * 3, ["2024-01-01"] * 9)
    still = it.fit(games, model=Model((Scores(walk=Still()),)), effective=10)
    assert still.probability("a", "b").notes == ()
    *_, last = still.probability("a", "b", at="2030-01-01").notes
    assert last == "nothing drifts in this model: no change over time is in the interval"
    later = it.Games.from_arrays(["a"] * 9, ["b"] * 9, [1, 1, 0] * 3, [2020, 2021, 2022] * 3)
    still = it.fit(later, model=Model((Scores(walk=Still()),)), effective=10)
    average = "nothing drifts in this model: the chance is an average over all times"
    assert still.probability("a", "b").notes == (average,)
    *_, last = still.probability("a", "b", at=2030).notes
    assert last == f"{average}, and no change over time is in the interval"
