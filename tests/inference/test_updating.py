"""Further games: draws are weighted by few of them, chains go on for many; both are a fit."""

from dataclasses import replace

import numpy as np
import pytest

import intransit as it
from intransit.data.cells import Rows
from intransit.inference.observations import Observations
from intransit.inference.table_posterior import carry_over, update_posterior
from intransit.model import By, Factors, Model, PairEffects, Scores
from tests.analysis.worlds import ladder, play, ring, table

MODEL = Scores() + Factors(1) + PairEffects()
TRUTH = ladder([0.8, 0.2, -0.2, -0.8, 0.0]) + 0.8 * ring(5)


@pytest.fixture(scope="module")
def seasons():
    """Two seasons of one truth, and a few games more."""
    rng = np.random.default_rng(0)
    return [
        play(TRUTH, n, rng, days=days, begin=begin)
        for n, days, begin in ((900, 30, 0), (6, 1, 30), (900, 30, 30))
    ]


@pytest.fixture(scope="module")
def answer(seasons):
    """An answer to the first season."""
    return it.fit(table(seasons[0]), model=MODEL, effective=60)


def gap_to_fresh(answer, updated, seasons):
    """Return the largest differences of chances from a fresh fit of everything, before and now."""
    whole = it.fit(table(*seasons), model=MODEL, effective=60, rng=1)
    at = whole.seen.end
    return [np.abs(x.matrix(at) - whole.matrix(at)).max() for x in (answer, updated)]


def test_few_games_weigh_the_draws(answer, seasons):
    """Most draws still count, which the story says; the result is that of a fresh fit."""
    updated = answer.update(table(seasons[1]))
    assert "draws weighted by them" in updated.story[-1]
    assert updated.story[-1].startswith("Updated with 6 further games, to 2026-01-31")
    assert updated.story[-1].endswith("The verdict on cycles is still that of the fit.")
    assert updated.story[:-1] == answer.story
    assert len(updated.posterior) == len(answer.posterior)
    assert updated.posterior.layout.seen.counts.sum() == 906
    assert gap_to_fresh(answer, updated, seasons[:2])[1] < 0.06


def test_many_games_let_the_chains_go_on(answer, seasons):
    """Few draws agree with so many games; the result is that of a fresh fit of everything."""
    updated = answer.update(table(seasons[2]), rng=1)
    assert "so the chains went on" in updated.story[-1]
    assert updated.posterior.mixing.reached
    before, now = gap_to_fresh(answer, updated, (seasons[0], seasons[2]))
    assert now < 0.06
    assert now < before


def test_in_parts_or_at_once_is_the_same_to_within_the_draws(answer, seasons):
    """A season in three parts, each an update of the last, ends where the whole season does."""
    games = table(seasons[2])
    edges = np.quantile(games.times, [1 / 3, 2 / 3])
    part = np.searchsorted(edges, games.times)
    updated = answer
    for k in range(3):
        updated = updated.update(games.only(part == k), rng=k)
    assert sum("Updated with" in line for line in updated.story) == 3
    at = updated.seen.end
    once = answer.update(games, rng=9)
    np.testing.assert_allclose(updated.matrix(at), once.matrix(at), atol=0.06)
    np.testing.assert_array_equal(updated.seen.games, once.seen.games)


def test_surprising_games_are_not_weighed_with_a_handful_of_draws(answer):
    """When the last beats the first twenty times, hardly a draw saw that coming."""
    weak, strong = answer.rank()[-1].name, answer.rank()[0].name
    more = it.Games.from_arrays([weak] * 20, [strong] * 20, [1] * 20, ["2026-02-01"] * 20)
    updated = answer.update(more)
    assert "so the chains went on" in updated.story[-1]
    before, after = (x.probability(weak, strong, "2026-02-01") for x in (answer, updated))
    assert after.probability > before.probability + 0.2
    assert after.low > before.low


def test_weights_are_likelihoods_of_the_draws(answer, seasons):
    """A slow twin: mean chances after few games are weighted means of those before."""
    games = table(seasons[1])
    updated = answer.update(games)
    posterior = answer.posterior
    name = {n: k for k, n in enumerate(answer.names)}
    there = np.array([name[n] for n in games.names])
    x = posterior.margins(there[games.first], there[games.second], games.times)
    like = np.prod(
        (1.0 / (1.0 + np.exp(-np.where(games.outcomes > 0.5, x, -x)))) ** games.counts, axis=1
    )
    i, j = np.triu_indices(5, 1)
    chances = posterior.chances(i, j, np.full(len(i), answer.seen.end))
    slow = like @ chances / like.sum()
    np.testing.assert_allclose(updated.probabilities(i, j, answer.seen.end), slow, atol=0.02)


def test_nothing_further_is_refused(answer, seasons):
    """An empty table is a mistake."""
    games = table(seasons[1])
    with pytest.raises(it.InputError, match="no further game"):
        answer.update(games.only(games.times < 0))


def test_a_level_that_never_occurred_needs_a_new_fit():
    """A first tie has no place in a law without ties, and one sentence says what to do."""
    rng = np.random.default_rng(0)
    first, second, won, _ = play(ladder([0.5, 0.0, -0.5]), 90, rng)
    margins = np.where(won > 0.5, 1.0, -1.0) * rng.integers(1, 4, size=90)
    games = it.Games.from_arrays(first, second, won, margins=margins)
    answer = it.fit(games, model=Model((Scores(),)), effective=5)
    tie = it.Games.from_arrays(["0"], ["1"], [0.5], margins=[0.0])
    with pytest.raises(it.InputError, match="fit everything again"):
        answer.update(tie)


def test_first_ties_and_sides_are_said_to_be_no_more_than_half_wins_and_nothing(answer, seasons):
    """The law of the answer has no ties, and its model no side."""
    games = table(seasons[1])
    assert len(answer.update(games).story) == len(answer.story) + 1
    tied = replace(games, outcomes=np.full(len(games), 0.5), sides=np.ones(len(games)))
    ties, sides = answer.update(tied).story[len(answer.story) + 1 :]
    assert ties == "Ties among them count as half a win; a new fit of all games learns them."
    assert sides == "Who had the side is not used; a new fit of all games learns its worth."


@pytest.mark.parametrize("what", ["old items", "a new item", "a new value", "a later time"])
def test_draws_are_weighed_at_the_margins_that_they_keep(what):
    """One game more: chances afterwards are means weighted by each draw's own chance of it.

    Also where something is drawn anew: an item, a pair, a deviation that was not there before, or
    a path beyond its last time.
    """
    rng = np.random.default_rng(0)
    first, second, won, _ = play(ladder([0.6, 0.0, -0.6]), 120, rng)
    on = {"surface": rng.choice(["clay", "grass"], size=120)}
    games = it.Games.from_arrays(first, second, won, np.arange(120) // 10, by=on)
    model = Scores() + PairEffects(2.0) + By("surface", 1.5)
    old = it.fit(games, model=model, effective=5).posterior
    more = Observations.of(
        Rows(
            np.array([14.0 if what == "a later time" else 11.0]),
            np.array([(0, 3 if what == "a new item" else 1)]),
            np.ones(1),
            np.ones(1),
        ),
        "logistic",
        4 if what == "a new item" else 3,
        np.array([[2 if what == "a new value" else 0]]),
        (("surface", ("clay", "grass", "ice")),),
    )
    updated, said = update_posterior(old, more, rng=np.random.default_rng(1))
    assert said.startswith("draws weighted by them")
    carried = replace(updated, draws=carry_over(old, updated.layout))
    asked = (*more.pairs.T, more.times)
    before, after = (
        x.chances(*asked, under={"surface": more.codes[0]}) for x in (carried, updated)
    )
    expected = np.sum(before**2) / np.sum(before)
    # Weighted draws are drawn anew, so their mean has the error of some 200 draws of spread 0.2.
    assert after.mean() == pytest.approx(expected, abs=0.03)


PATCHES = "a,b,outcome,patch\nx,y,1,13.8\ny,z,1,13.9\nz,x,0,13.10\n" + "x,z,1,13.10\n" * 9


def patches(tmp_path, text, **settings):
    place = tmp_path / "patches.csv"
    place.write_text(text)
    return it.read(place, time="patch", **settings)


def test_periods_that_are_numbered_otherwise_are_refused(tmp_path):
    """13.11, read alone, is period 0: as the answer counts, that would be 13.8."""
    answer = it.fit(patches(tmp_path, PATCHES), model=it.Scores(), effective=5)
    later = "a,b,outcome,patch\nx,y,1,13.11\ny,z,1,13.12\n"
    with pytest.raises(
        it.InputError, match=r'"13.11" is period number 0 .* "13.8"; read .* order='
    ):
        answer.update(patches(tmp_path, later))
    more = answer.update(patches(tmp_path, later, order=list(answer.clock.names)))
    assert more.clock.names == ("13.8", "13.9", "13.10", "13.11", "13.12")
    assert more.when() == more.when("13.12") == 4.0
    assert more.story[-1].startswith("Updated with 2 further games, to 13.12")


def test_numbers_are_no_periods_with_names(tmp_path):
    answer = it.fit(patches(tmp_path, PATCHES), model=it.Scores(), effective=5)
    numbers = it.Games.from_arrays(["x"], ["y"], [1], [3.0])
    with pytest.raises(it.InputError, match="periods with names"):
        answer.update(numbers)


def test_seasons_go_by_their_years_however_they_are_written(tmp_path):
    old = "a,b,outcome,season\n" + "x,y,1,2019-20\ny,z,1,2020-21\nz,x,0,2021-22\n" * 3
    new = "a,b,outcome,season\nx,y,1,2021/22\ny,z,1,2022/23\n"
    place = tmp_path / "seasons.csv"
    place.write_text(old)
    answer = it.fit(it.read(place), model=it.Scores(), effective=5)
    place.write_text(new)
    more = answer.update(it.read(place))
    assert more.clock.names == ("2019-20", "2020-21", "2021-22", "2022/23")
    assert more.when() == 2022.0
