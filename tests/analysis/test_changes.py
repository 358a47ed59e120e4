"""Changes of items and of matchups, between two times."""

import numpy as np
import pytest

import intransit as it
from intransit.analysis import standings as changing
from intransit.analysis.standings import discoveries
from tests.analysis.worlds import NAMES, answer_to, ladder, play, ring, table


def two_seasons(before, after, n_games, seed, *, days=30):
    """Return a table whose margins change steadily from one matrix to another."""
    rng = np.random.default_rng(seed)
    parts = [
        play(before + (after - before) * k / 4, n_games // 5, rng, days=days // 5, begin=6 * k)
        for k in range(5)
    ]
    return table(*parts)


@pytest.fixture(scope="module")
def risen():
    """Six items, of which the first rises and the last falls."""
    before = ladder([-0.8, 0.2, 0.1, 0.0, -0.1, 0.8])
    after = ladder([0.8, 0.2, 0.1, 0.0, -0.1, -0.8])
    return answer_to(two_seasons(before, after, 4_000, 0), pairs=False)


def test_who_rises_and_who_falls_is_sure_and_the_others_are_less(risen):
    """The two that moved come first, with the right sign and an interval around the truth."""
    found = risen.changes()
    assert {c.name for c in found.items[:2]} == {"item 00", "item 05"}
    signs = {c.name: c.change for c in found.items if c.sure}
    assert signs["item 00"] > 0.2
    assert signs["item 05"] < -0.2
    assert len(found.items) == 6
    for change in found.items:
        assert change.low < change.change < change.high
    assert found.since == "2026-01-01"
    assert found.matchups == ()
    assert found.matchup_share == found.matchup_share_high == 0.0
    assert "lets matchups stand still" in found.note


def test_the_change_is_that_of_the_mean_chance_against_the_same_opponents(risen):
    """A slow twin: chances of every pair at both times from the answer's own matrices."""
    found = risen.changes("2026-01-05", "2026-01-25")
    before, after = (risen.matrix(day) for day in ("2026-01-05", "2026-01-25"))
    for change in found.items:
        k = risen.number(change.name)
        twin = (after[k].sum() - before[k].sum()) / 5
        assert change.change == pytest.approx(twin, abs=0.01)


def test_asking_changes_nothing(risen):
    """The same question has the same answer, whatever was asked before."""
    before = risen.changes()
    risen.changes("2026-01-05")
    assert risen.changes() == before


def test_one_matchup_that_turns_is_found_and_few_others():
    """Of 28 matchups one turns round: it is first and sure, and hardly another is."""
    before = ladder(np.linspace(0.6, -0.6, 8))
    after = before.copy()
    before[0, 7], before[7, 0] = 1.5, -1.5
    after[0, 7], after[7, 0] = -1.5, 1.5
    answer = answer_to(two_seasons(before, after, 8_000, 1), pair_drift=True)
    found = answer.changes(rate=0.1)
    first = found.matchups[0]
    assert (first.first, first.second) == ("item 07", "item 00")
    assert first.sure
    assert first.change > 0.15
    assert first.low > 0.0
    assert sum(c.sure for c in found.matchups) <= 2
    assert found.matchup_share_low < found.matchup_share < found.matchup_share_high
    assert found.matchup_share > 0.3


def test_one_matchup_is_not_spread_over_the_others(risen):
    """Where one entry of a matrix changes, medians leave all other pairs as they are."""
    field = changing._field(risen, risen.seen.begin, risen.seen.end, 0)
    X = ladder([0.5, 0.1, -0.2, 0.3, 0.0, -0.7])
    X[0, 5], X[5, 0] = X[0, 5] + 2.0, X[5, 0] - 2.0
    change = X[field.first, field.second]
    scores = field.average(change, itself=True)
    rest = change - scores[field.first] + scores[field.second]
    alone = rest - field.lopsided(change)
    turned = (field.first == 0) & (field.second == 5)
    np.testing.assert_allclose(alone, np.where(turned, 2.0, 0.0), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_sure_where_nothing_changes(seed):
    """A table that stands still, fitted with drift, has no sure change.

    Over seeds 0 to 11 no table had one, of 1,200 games of six items or of 3,000 games of ten: a
    false alarm is below 1 in 4 with 95 % confidence, and this test asks for three tables only.
    """
    X = ladder(np.random.default_rng(seed).normal(size=6)) * 0.6 + 0.5 * ring(6)
    found = answer_to(two_seasons(X, X, 1_200, seed), pair_drift=True).changes()
    assert len(found.matchups) == 15
    assert not any(change.sure for change in (*found.items, *found.matchups))


@pytest.mark.parametrize("seed", [0, 2])
def test_where_half_the_items_drift_no_matchup_is_sure_and_signs_are_right(seed):
    """Strengths change, matchups do not: sure items went the way they did, and no pair is sure.

    Over seeds 0 to 11 there were 17 sure items, none of a wrong sign, and no sure matchup.
    """
    rng = np.random.default_rng(seed)
    early = 0.5 * rng.normal(size=10)
    late = early + np.concatenate([rng.normal(size=5), np.zeros(5)])
    effects = np.triu(0.5 * rng.normal(size=(10, 10)), 1)
    before, after = (ladder(scores) + effects - effects.T for scores in (early, late))
    answer = answer_to(two_seasons(before, after, 4_000, seed), pair_drift=True)
    found = answer.changes()
    true = [(1.0 / (1.0 + np.exp(-X))).sum(axis=1) for X in (before, after)]
    sure = [change for change in found.items if change.sure]
    assert sure
    for change in sure:
        k = answer.number(change.name)
        assert np.sign(change.change) == np.sign(true[1][k] - true[0][k])
    assert found.matchups
    assert not any(change.sure for change in found.matchups)


def test_matchups_that_all_turn_round_are_seen_by_the_model_that_fit_chooses():
    """Effects of pairs are reversed half way: the note does not say that they stand still."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8, 8))
    effects = X - X.T
    effects -= ladder(effects.mean(axis=1))
    level = ladder(np.linspace(0.5, -0.5, 8))
    early = play(level + effects, 2_000, rng, days=10)
    late = play(level - effects, 2_000, rng, days=10, begin=10)
    answer = it.fit(table(early, late), effective=20)
    found = answer.changes()
    assert "stand still" not in found.note
    assert found.matchup_share > 0.5
    sure = [change for change in found.matchups if change.sure]
    assert len(sure) >= 3
    right = [effects[answer.number(c.first), answer.number(c.second)] < 0.0 for c in sure]
    assert np.mean(right) >= 0.8  # who gained was behind before


def test_static_effects_of_pairs_stand_still_and_the_note_says_so():
    """A model whose pairs have fixed effects says that it lets matchups stand still."""
    X = ladder([0.6, 0.2, -0.2, -0.6]) + 0.8 * ring(4)
    found = answer_to(two_seasons(X, X, 800, 0)).changes()
    assert "lets matchups stand still" in found.note
    assert found.matchups == ()
    assert len(found.items) == 4


def test_the_split_is_that_of_a_complete_matrix(risen):
    """Means over opponents are scores: what is left of a matrix has no score in any row."""
    field = changing._field(risen, risen.seen.begin, risen.seen.end, 0)
    X = np.random.default_rng(0).normal(size=(6, 6))
    X = X - X.T
    values = X[field.first, field.second]
    scores = field.average(values, itself=True)
    np.testing.assert_allclose(scores, X.sum(axis=1) / 6, atol=1e-12)
    np.testing.assert_allclose(field.average(values, itself=False), X.sum(axis=1) / 5, atol=1e-12)


def test_many_items_are_measured_against_some(risen):
    """Where there are many, a panel of opponents does, and signs stay as they are."""
    whole = {c.name: c.change for c in risen.changes().items if c.sure}
    for change in changing.find_changes(risen, most_items=4, panel=3).items:
        if change.name in whole:
            assert np.sign(change.change) == np.sign(whole[change.name])


def test_those_who_came_later_have_not_changed():
    """An item that was not there at the first time is left out, and the note says so."""
    rng = np.random.default_rng(3)
    early = play(ladder([0.5, 0.0]), 300, rng, days=50)
    late = play(ladder([0.5, 0.0, -0.5]), 300, rng, days=50, begin=50)
    found = answer_to(table(early, late), pairs=False).changes()
    assert {c.name for c in found.items} == {"item 00", "item 01"}
    assert "1 item left out" in found.note


def test_nothing_changes_where_nothing_drifts_or_there_are_no_times():
    """A static model finds no change; a table without times cannot be asked."""
    rng = np.random.default_rng(4)
    a, b, won, day = play(ring(3), 200, rng, days=20)
    still = answer_to(table((a, b, won, day)), drifting=False).changes()
    assert still.items == still.matchups == ()
    assert still.note == "Nothing drifts in this model, so no change can be seen."
    names = np.array(NAMES)
    timeless = it.Games.from_arrays(names[a].tolist(), names[b].tolist(), won)
    with pytest.raises(it.InputError, match="column of times"):
        answer_to(timeless, drifting=False).changes()


def test_spans_without_sense_are_refused(risen):
    """The first time comes first."""
    with pytest.raises(it.InputError, match="no span of time"):
        risen.changes("2026-01-20", "2026-01-10")
    with pytest.raises(it.InputError):
        risen.changes(rate=0.0)


def test_of_times_without_games_no_change_is_told(risen):
    """Before the table, after it, and in a gap nothing says how far a path went, or that it stood.

    So far the change from 2030 to 2031 had a narrower interval than what the walk may cover.
    """
    for since, until in (("2020-01-01", "2021-01-01"), ("2030-01-01", "2031-01-01")):
        found = risen.changes(since, until)
        assert not found.items
        assert found.note.endswith("or not between them. Nobody is left.")
    margins = ladder([0.5, 0.0, -0.5])
    rng = np.random.default_rng(0)
    seasons = [play(margins, 200, rng, days=10, begin=begin) for begin in (0, 100)]
    apart = answer_to(table(*seasons), pairs=False)
    assert not apart.changes("2026-02-01", "2026-03-01").items
    assert len(apart.changes("2026-01-05", "2026-04-15").items) == 3


@pytest.mark.parametrize("n_draws", [100, 400])
def test_one_clear_change_among_many_is_sure_and_an_even_one_is_not(n_draws):
    """Ten deviations from 0 are as sure as can be, however many others there are."""
    change = np.random.default_rng(0).normal(size=(n_draws, 500))
    change[:, 7] += 10.0
    _, low, high, probability, sure = changing._judge(change, 0.9, 0.1)
    assert np.flatnonzero(sure).tolist() == [7]
    assert probability.argmax() == 7
    assert low[7] > 0.0
    assert np.mean((low < 0.0) & (high > 0.0)) > 0.9


@pytest.mark.parametrize("seed", range(5))
def test_discoveries_agree_with_the_definition(seed):
    """The largest k with k p-values at most rate k / n, one at a time."""
    p = np.random.default_rng(seed).random(12) ** 3
    k = max((k for k in range(13) if np.sum(p <= 0.2 * k / 12) >= k), default=0)
    expected = p <= 0.2 * k / 12
    np.testing.assert_array_equal(discoveries(p, 0.2), expected)


def test_two_items_alone_have_no_matchup_that_strengths_do_not_explain():
    """One gains what the other loses, and nothing is left over to list."""
    found = answer_to(two_seasons(ladder([0.0, 1.5]), ladder([1.5, 0.0]), 800, 3)).changes()
    assert len(found.items) == 2
    assert found.matchups == ()
