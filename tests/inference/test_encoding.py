"""How results are told to the engine."""

import numpy as np
import pytest

import intransit as it
from intransit.inference.observations import (
    FEWEST_MOMENTS,
    FINEST,
    MOST_MOMENTS,
    Encoding,
    n_moments,
)


def games(outcomes, *, times=None, margins=None, sides=None):
    n = len(outcomes)
    return it.Games.from_arrays(
        ["a", "b", "c"] * (n // 3) + ["a"] * (n % 3),
        ["b", "c", "a"] * (n // 3) + ["b"] * (n % 3),
        outcomes,
        times,
        margins=margins,
        sides=sides,
    )


def test_wins_are_shares_ties_are_levels_and_margins_are_more_levels():
    assert Encoding.of(games([1, 0, 1])).loss == "logistic"
    tied = Encoding.of(games([1, 0.5, 0]))
    assert (tied.loss, tied.edges) == ("ordered", ())
    table = games([1, 0, 1, 0, 1, 0.5], margins=[1, -2, 3, -4, 9, 0])
    wide = Encoding.of(table)
    assert wide.loss == "ordered"
    levels = dict(zip(table.margins, wide.outcomes(table), strict=True))
    assert levels[0] == 0
    assert levels[1] == 1
    assert levels[-2] < 0
    assert levels[9] == max(levels.values()) > 1
    sizes = sorted((abs(m), abs(level)) for m, level in levels.items())
    assert [level for _, level in sizes] == sorted(level for _, level in sizes)


def test_levels_are_parts_of_like_size():
    """Whatever the order of sizes, and a size that hardly occurs makes no level of its own."""
    for shares, edges in (
        ({1: 48, 2: 52}, (2.0,)),
        ({1: 470, 2: 529, 3: 1}, (2.0,)),
        ({1: 45, 2: 25, 3: 13, 4: 17}, (2.0, 3.0)),
        ({1: 20, 2: 20, 3: 20, 4: 20, 5: 20}, (3.0, 4.0)),
        ({7: 30}, ()),
    ):
        sizes = np.repeat(list(shares), list(shares.values()))
        signs = np.resize([1.0, -1.0], len(sizes))
        table = games(0.5 + 0.5 * signs, margins=signs * sizes)
        assert Encoding.of(table).edges == edges


def test_typical_margins_are_means_by_level():
    table = games([1, 0, 1, 0, 1, 1], margins=[1, -1, 2, -2, 5, 7])
    encoding = Encoding.of(table)
    level = np.abs(encoding.outcomes(table)).astype(int)
    for k, typical in enumerate(encoding.typical):
        here = level == k
        if here.any():
            expected = np.average(np.abs(table.margins)[here], weights=table.counts[here])
            assert typical == pytest.approx(expected)


@pytest.mark.parametrize(("played", "expected"), [(60, FEWEST_MOMENTS), (900, 30), (9_000, 60)])
def test_moments_are_as_many_as_the_games_of_an_item_can_tell_apart(played, expected):
    """The root of the games of an item times what a score moves by, within limits."""

    def table(*counts):
        firsts = ["a", *"cdefgh"][: len(counts)]
        n, times = len(counts), np.linspace(0.0, 100.0, len(counts))
        return it.Games.from_arrays(firsts, ["b"] * n, [1.0] * n, times, counts=counts)

    games = table(played, 1.0)
    assert n_moments(games, 0.1) == expected
    assert n_moments(games, 0.0) == FEWEST_MOMENTS
    assert n_moments(games, 0.0, it.Readings()) == MOST_MOMENTS  # they tell more than games
    assert n_moments(table(played, *[1.0] * 6), 0.1) == expected  # who hardly plays hardly counts


def test_many_distinct_times_become_moments_and_few_stay():
    few = games([1, 0, 1], times=[0.0, 0.5, 9.25])
    assert Encoding.of(few).step == 0.0
    n = 3 * FINEST
    many = games([1, 0, 1] * (n // 3), times=np.arange(n) * 1.5)
    encoding = Encoding.of(many)
    filed = encoding.moments(many.times)
    assert len(np.unique(filed)) <= FINEST + 1
    assert (np.abs(many.times - filed) <= 0.5 * encoding.step + 1e-9).all()  # their middles
    assert (np.diff(filed) >= 0.0).all()


def test_moments_of_dates_are_whole_days():
    n = 3 * FINEST
    days = (np.datetime64("2020-01-01") + np.arange(n)).astype(str).tolist()
    table = games([1, 0, 1] * (n // 3), times=days)
    encoding = Encoding.of(table)
    assert encoding.step == np.ceil((n - 1) / FINEST)
    assert encoding.origin == np.floor(encoding.origin)
    filed = encoding.moments(table.times)
    day = np.floor(table.times)
    assert (np.abs(day - filed) <= 0.5 * (encoding.step - 1.0)).all()  # the middles of whole days


def test_a_side_that_always_won_was_written_down_afterwards_and_is_not_used():
    n = 30
    honest = games([1, 0, 1] * (n // 3), sides=[1] * n)
    assert Encoding.of(honest).sided
    stored = games([1] * n, sides=[1] * n)
    assert not Encoding.of(stored).sided


def test_further_games_must_have_the_columns_of_the_first():
    encoding = Encoding.of(games([1, 0, 1, 1], margins=[1, -2, 3, 4], sides=[1, 0, -1, 1]))
    with pytest.raises(it.InputError, match="margins"):
        encoding.timeline(games([1, 0], sides=[1, 0]))
    with pytest.raises(it.InputError, match="who had the side"):
        encoding.timeline(games([1, 0], margins=[1, -2]))


def test_one_game_long_ago_makes_no_moment_wider():
    """So far a hundred years before made one moment of the season, in which nothing moved."""
    n = 3 * FINEST
    times = np.arange(n) * 1.5
    season = Encoding.of(games([1, 0, 1] * (n // 3), times=times))
    times[0] = -36_500.0
    encoding = Encoding.of(games([1, 0, 1] * (n // 3), times=times))
    assert encoding.step <= 2.0 * season.step
    assert len(np.unique(encoding.moments(times))) <= FINEST + 1
