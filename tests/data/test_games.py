"""Games as arrays, and the clock between words and numbers."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intransit import Games, InputError
from intransit.data.games import Clock


@pytest.fixture
def games():
    days = ["2024-01-03", "2024-01-01", "2024-01-01", "2024-01-02"]
    return Games.from_arrays(list("xyyz"), list("yxxx"), [1, 0, 0, 0.5], days)


def test_rows_are_sorted_and_equal_ones_counted(games):
    assert games.names == ("x", "y", "z")
    assert games.times.tolist() == [19723.0, 19724.0, 19725.0]
    assert games.counts.tolist() == [2.0, 1.0, 1.0]
    assert games.first.tolist() == [1, 2, 0]
    assert (len(games), games.n_items, games.kind, games.has_ties) == (3, 3, "ties", True)
    assert repr(games) == (
        "Games(3 items, 4 comparisons in 3 rows, ties, times 2024-01-01 to 2024-01-03)"
    )


def test_parts_keep_their_names(games):
    part = games.between("2024-01-02", "2024-01-03")
    assert part.names == games.names
    assert part.times.tolist() == [19724.0]
    assert len(games.between(end="2024-01-02")) == 1
    assert len(games.between(begin=19724)) == 2
    assert games.only([True, False, True]).outcomes.tolist() == [0.0, 1.0]
    assert games.only(np.array([2])).outcomes.tolist() == [1.0]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"first": []}, "0 first and 1 second items were given"),
        ({"second": ["x"]}, 'entry 0 compares "x" with itself'),
        ({"first": [" "]}, "a name is empty"),
        ({"outcomes": [2]}, "entry 0 is 2; give finite numbers from 0 to 1"),
        ({"outcomes": ["?"]}, "outcomes: they must be numbers"),
        ({"outcomes": [1, 0]}, "there must be 1 of them"),
        ({"margins": [np.nan]}, "margins: entry 0 is nan; give finite numbers"),
        ({"counts": [0]}, "a count must be above 0"),
        ({"counts": [-1]}, "finite numbers of at least 0"),
        ({"sides": [3]}, "sides: entry 0 is 3"),
        ({"times": [1, 2]}, "times: 2 were given for 1 comparisons"),
        ({"times": ["soon"]}, 'time "soon": it is not a date'),
    ],
)
def test_arrays_that_make_no_sense_are_refused(columns, sentence):
    given_ = {"first": ["x"], "second": ["y"], "outcomes": [1], **columns}
    first, second, outcomes = (given_.pop(role) for role in ("first", "second", "outcomes"))
    times = given_.pop("times", None)
    with pytest.raises(InputError, match=sentence):
        Games.from_arrays(first, second, outcomes, times, **given_)


@given(st.datetimes(datetime(1000, 1, 1), datetime(3000, 1, 1)))
def test_a_clock_takes_moments_there_and_back(moment):
    clock, moment = Clock("date"), moment.replace(microsecond=0)
    number = clock.to_number(moment)
    assert clock.to_number(clock.to_text(number)) == pytest.approx(number, abs=1e-5)
    assert clock.to_number(moment.isoformat()) == number
    assert clock.to_number(moment.date()) == number // 1
    assert clock.to_number(np.datetime64(moment)) == number
    east = moment.replace(tzinfo=timezone(timedelta(hours=6)))
    assert clock.to_number(east) == pytest.approx(number - 0.25, abs=1e-9)


def test_a_clock_knows_what_it_can_tell():
    days, numbers, none = Clock("date"), Clock("number"), Clock("none")
    assert days.to_number("2026-05-01") == (date(2026, 5, 1) - date(1970, 1, 1)).days
    assert days.to_number("2026-05") == days.to_number("2026-05-01")
    assert days.to_number("2026") == days.to_number(datetime(2026, 1, 1, tzinfo=UTC))
    assert days.to_number("2024-01-02T06:00Z") == 19724.25
    assert days.to_number(np.float64(3)) == 3.0
    assert days.to_text(19724.25) == "2024-01-02 06:00:00"
    spans = (1.0, 29.5, 1 / 24, 0.5, 2.5 / 1_440, 1 / 86_400)
    assert [days.length(span) for span in spans] == [
        *("1 day", "29.5 days", "1 hour", "12 hours", "2.5 minutes", "1 second")
    ]
    assert "days after" in days.to_text(1e12)
    assert numbers.to_number("12.5") == 12.5
    assert numbers.to_text(12.5) == "12.5"
    assert [numbers.length(span) for span in (1.0, 0.25)] == [
        "1 unit of time",
        "0.25 units of time",
    ]
    assert none.to_number(0) == 0.0
    for clock, moment in [(numbers, "2026-05-01"), (numbers, date(2026, 5, 1)), (days, "soon")]:
        with pytest.raises(InputError, match=f"time .*{moment}"):
            clock.to_number(moment)
    for moment in (True, None, float("nan"), [1]):
        with pytest.raises(InputError, match="time "):
            days.to_number(moment)
