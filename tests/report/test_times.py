"""Moments that are shown: few, rising, readable back, the end of the table last."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from intransit import Games, fit
from intransit.analysis.standings import time_text
from intransit.data.games import Clock
from intransit.model import Model, Scores, Still
from intransit.report import choose_moments

DRIFTING = Model((Scores(),))
STILL = Model((Scores(walk=Still()),))


def answer_over(times):
    """Return an answer to as many games of two items, fitted once."""
    return _answer_over(tuple(times))


@cache
def _answer_over(times, model=DRIFTING):
    n = len(times)
    games = Games.from_arrays(["x"] * n, ["y"] * n, np.arange(n) % 2, list(times))
    return fit(games, model=model, effective=3)


def dates(begin, days, step=1):
    """Return days as text."""
    return (np.datetime64(begin) + np.arange(0, days, step)).astype(str).tolist()


@pytest.mark.parametrize(
    "times",
    [
        dates("2024-03-05", 900),
        dates("1950-01-01", 26_000, 30),
        dates("2026-01-01", 200),
        dates("2025-11-20", 12),
        np.linspace(0.0, 7.3, 400).tolist(),
        np.arange(1, 401).tolist(),
        np.linspace(1e6, 1.0001e6, 400).tolist(),
    ],
    ids=["years", "decades", "months", "days", "numbers", "rounds", "far away"],
)
@pytest.mark.parametrize("most", [2, 5, 30])
def test_names_say_their_times(times, most):
    """Read back, a name is its time; times rise, are few, and end with the table."""
    answer = answer_over(times)
    moments = choose_moments(answer, most)
    assert 2 <= len(moments.times) <= most or (len(moments.times) == 1 and most == 2)
    assert (np.diff([*moments.times, *moments.later]) > 0).all()
    assert moments.times[-1] == answer.seen.end
    assert moments.times[0] >= answer.seen.begin
    assert len(moments.later) == len(moments.later_names) == 3
    for name, time in zip(
        (*moments.names, *moments.later_names), (*moments.times, *moments.later), strict=True
    ):
        assert answer.when(name) == pytest.approx(time, abs=1e-9 * max(1.0, abs(time)))


def test_few_distinct_times_are_kept():
    """Seasons stay seasons."""
    moments = choose_moments(answer_over([2019, 2020, 2021, 2024] * 5), 30)
    assert moments.names == ("2019", "2020", "2021", "2024")
    assert moments.later_names == ("2025", "2026", "2027")


@pytest.mark.parametrize("most", [2, 30])
def test_periods_keep_their_names(most):
    """Later periods have no name yet: they are so many after the last."""
    names = ("Spring", "Summer", "13.1", "13.10", "Autumn")
    answer = answer_over([0.0, 1.0, 2.0, 3.0, 4.0] * 5)
    named = replace(answer, clock=Clock("number", names, (0.0, 1.0, 2.0, 3.0, 4.0)))
    moments = choose_moments(named, most)
    assert set(moments.names) <= set(names)
    assert moments.later_names[0].startswith("Autumn + ")


def test_years_and_months_have_short_names():
    """A moment on the first of a month is called by its month, of a year by its year."""
    assert choose_moments(answer_over(dates("2024-03-05", 900)), 30).names[0] == "2024-04"
    assert choose_moments(answer_over(dates("1950-01-01", 26_000, 30)), 30).names[-2] == "2021"


def test_without_times_or_drift_there_is_one_moment():
    """Where nothing changes the end stands for all times."""
    still = choose_moments(_answer_over(tuple(dates("2024-03-05", 900)), STILL), 30)
    assert (still.names, still.later_names) == (("2026-08-21",), ())
    games = Games.from_arrays(["x"], ["y"], [1])
    assert choose_moments(fit(games, effective=3), 30).names == ("",)


def test_a_moment_of_several_days_is_named_by_a_day():
    """Its middle may lie at noon, which no table of days knows."""
    answer = answer_over(dates("2024-03-01", 30))
    wide = replace(answer, encoding=replace(answer.encoding, step=2.0, whole_days=True))
    assert time_text(wide, 19809.5) == "2024-03-27"
    assert time_text(replace(wide, encoding=replace(wide.encoding, step=0.0)), 19809.5).endswith(
        ":00"
    )


def test_a_moment_of_numbers_has_no_more_digits_than_tell_moments_apart():
    """Their middle may be 330.6333, which is 331 where moments are 7 apart."""
    answer = answer_over([float(k) for k in range(30)])
    for step, text in ((7.2, "331"), (0.5, "330.6"), (0.0, "330.6333")):
        wide = replace(answer, encoding=replace(answer.encoding, step=step, whole_days=False))
        assert time_text(wide, 330.6333) == text
