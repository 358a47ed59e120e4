"""Items that were never seen are forecast from what newcomers were like."""

import numpy as np
import pytest

import intransit as it
from intransit.data.cells import Rows
from intransit.inference.observations import Observations
from intransit.inference.paths import lay_out
from intransit.model import Model, PairEffects, Scores

WEAKER = 1.2  # by how much those who come later are weaker than those of the start
SCORES = Model((Scores(),))


def league(seed=0, n_old=12, n_new=24, per_day=25, n_days=60, gap=WEAKER):
    """Return games of items that were there from the start, and of some that join one by one."""
    rng = np.random.default_rng(seed)
    scores = np.concatenate([0.5 * rng.normal(size=n_old), 0.5 * rng.normal(size=n_new) - gap])
    joins = np.concatenate([np.zeros(n_old), np.linspace(8, n_days - 8, n_new)])
    rows = []
    for day in range(n_days):
        there = np.flatnonzero(joins <= day)
        for _ in range(per_day):
            i, j = rng.choice(there, 2, replace=False)
            won = rng.random() < 1.0 / (1.0 + np.exp(scores[j] - scores[i]))
            rows.append(
                (
                    f"{'old' if i < n_old else 'new'} {i}",
                    f"{'old' if j < n_old else 'new'} {j}",
                    float(won),
                    day,
                )
            )
    first, second, won, days = zip(*rows, strict=True)
    return it.Games.from_arrays(first, second, won, days)


@pytest.fixture(scope="module")
def answer():
    """An answer to a league whose newcomers are weaker."""
    return it.fit(league(), model=SCORES, effective=30)


def test_newcomers_are_worth_what_they_were_planted_to_be(answer):
    """What they are worth beside the others is drawn, and the story tells it."""
    drawn = answer.posterior.draws.newcomers
    assert drawn.mean() == pytest.approx(-WEAKER, abs=0.5)
    assert np.quantile(drawn, 0.95) < 0.0
    assert any(line.startswith("Newcomers start at −") for line in answer.story)
    even = it.fit(league(seed=1, gap=0.0), model=SCORES, effective=20)
    assert abs(even.posterior.draws.newcomers.mean()) < 0.45


def test_a_newcomer_is_forecast_from_the_population(answer):
    """Worth less where planted so, with an interval as wide as the population, and it is said."""
    old = [one.name for one in answer.rank() if one.name.startswith("old")]
    middle = old[len(old) // 2]
    told = answer.probability("somebody", middle, newcomers=True)
    assert told.first == "somebody"
    assert 0.12 < told.probability < 0.42  # about 1 / (1 + e^1.2) = 0.23
    posterior, at = answer.posterior, np.array([answer.seen.end])
    drawn = posterior.margins(np.array([-1]), np.array([answer.number(middle)]), at)
    assert drawn.std() > 0.9 * np.median(posterior.draws.scales[:, 0])
    assert "somebody is new: forecast like earlier newcomers" in told.notes
    back = answer.probability(middle, "somebody", newcomers=True)
    assert back.probability == pytest.approx(1.0 - told.probability, abs=1e-12)
    two = answer.probability("somebody", "anybody", newcomers=True)
    assert two.probability == pytest.approx(0.5, abs=0.06)
    assert two.low < 0.4
    assert two.high > 0.6


def test_a_name_that_looks_like_a_typing_error_is_refused_all_the_same(answer):
    """So is a stranger, unless newcomers are asked for, and somebody against himself."""
    with pytest.raises(it.InputError, match="too like 'old 1'"):
        answer.probability("old  1", "old 2", newcomers=True)
    with pytest.raises(it.InputError, match="has no item"):
        answer.probability("somebody", "old 1")
    with pytest.raises(it.InputError, match="cannot meet itself"):
        answer.probability("somebody", "somebody", newcomers=True)


def test_forecasts_of_newcomers_do_not_depend_on_who_is_asked_with_them(answer):
    """One at a time or many at once, somebody new is the same somebody new."""
    alone = answer.probability("somebody", "old 1", newcomers=True)
    many = answer.forecasts(
        ["old 3", "somebody", "somebody"], ["old 2", "old 1", "old 2"], newcomers=True
    )
    assert many[1].probability == pytest.approx(alone.probability, abs=1e-12)
    known = answer.probability("old 3", "old 2")
    assert many[0].probability == pytest.approx(known.probability, abs=1e-12)
    assert (many[0].first, many[0].notes) == ("old 3", known.notes)


def test_a_newcomer_that_wins_at_once_is_learnt_from_an_update(answer):
    """Ten wins in a row: with effects of pairs or without, it is no longer forecast to lose."""
    more = it.Games.from_arrays(
        ["fresh"] * 10, [f"old {k}" for k in range(10)], [1.0] * 10, [60.0] * 10
    )
    assert answer.update(more).probability("fresh", "old 11").probability > 0.45
    league_of_pairs = it.fit(
        league(seed=2, n_old=6, n_new=6, n_days=30), model=Scores() + PairEffects(), effective=10
    )
    more = it.Games.from_arrays(["fresh"] * 10, ["old 1"] * 10, [1.0] * 10, [30.0] * 10)
    before = league_of_pairs.probability("fresh", "old 1", newcomers=True)
    after = league_of_pairs.update(more).probability("fresh", "old 1")
    assert after.probability > before.probability + 0.2


def test_a_date_that_is_years_off_stretches_no_time_and_makes_nobody_a_newcomer():
    """The time of a table is that of nearly all of its games; even gaps and pauses count whole."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 5, 400), rng.integers(5, 10, 400)
    pairs, won = np.stack([first, second], axis=1), (rng.random(400) < 0.5) * 1.0

    def layout(days):
        rows = Rows(days, pairs, won, np.ones(400), np.zeros(400))
        return lay_out(Observations.of(rows, "logistic", 10), SCORES)

    days = np.sort(rng.integers(0, 100, 400)).astype(float)
    plain = layout(days)
    assert plain.span == np.ptp(days)
    off = layout(np.concatenate([[-36_500.0], days[1:]]))
    assert off.span == pytest.approx(plain.span, rel=0.05)
    np.testing.assert_array_equal(off.newcomer, plain.newcomer)
    paused = np.where(days > 60, days + 90, days)  # half of the time without games
    assert layout(paused).span == np.ptp(paused)
    assert layout(np.where(np.arange(400) == 0, -9.0, 1.0)).span == 10.0  # two moments


def test_where_nobody_came_later_a_newcomer_is_not_said_to_be_as_they_were():
    games = it.Games.from_arrays(["a", "b"] * 9, ["b", "c"] * 9, [1, 0] * 9)
    told = it.fit(games, model=SCORES, effective=10).probability("somebody", "a", newcomers=True)
    assert told.notes == ("somebody is new: forecast like any item, as none joined later",)


def leagues_with_late_weak_ones(seed=3, n_old=16, n_new=10, gap=2.0):
    """Return games of a league, and of one that begins half way and hardly meets it: all weaker."""
    rng = np.random.default_rng(seed)
    scores = np.concatenate([0.6 * rng.normal(size=n_old), 0.6 * rng.normal(size=n_new) - gap])
    rows = []
    for day in range(60):
        pairs = [rng.choice(n_old, 2, replace=False) for _ in range(20)]
        if day >= 30:
            pairs += [n_old + rng.choice(n_new, 2, replace=False) for _ in range(12)]
            pairs.append((rng.integers(n_old), n_old + rng.integers(n_new)))
        for i, j in pairs:
            won = rng.random() < 1.0 / (1.0 + np.exp(scores[j] - scores[i]))
            rows.append((f"item {i:02d}", f"item {j:02d}", float(won), day))
    return it.Games.from_arrays(*zip(*rows, strict=True))


def test_newcomers_of_another_part_of_the_field_are_what_these_are_worth():
    """The part of the field and coming later say the same, and a newcomer is told by both."""
    answer = it.fit(leagues_with_late_weak_ones(), model=SCORES, effective=30)
    drawn, layout = answer.posterior.draws, answer.posterior.layout
    assert (drawn.tiers > 0.0).all()
    first = drawn.states[:, layout.items.begin[:-1], 0]
    seen = first[:, layout.newcomer].mean() - first[:, ~layout.newcomer].mean()
    assert drawn.newcomers.mean() == pytest.approx(seen, abs=0.3)
    told = [
        float(answer.probability("somebody", name, newcomers=True))
        for name, new in zip(answer.names, layout.newcomer, strict=True)
        if not new
    ]
    assert np.mean(told) < 0.35
