"""Periods that have names: in which order they are taken, and how they are asked for."""

import json
from dataclasses import asdict

import pandas as pd
import pytest

from intransit import InputError, read
from intransit.data.games import Clock


def read_periods(folder, name, periods, **settings):
    """Games in these periods, one each."""
    place = folder / "games.csv"
    rows = "".join(f'x,y,1,"{period}"\n' for period in periods)
    place.write_text(f"a,b,outcome,{name}\n{rows}", encoding="utf-8")
    return read(place, **settings)


ORDERS = {
    "patches": ("patch", ["13.10", "13.8", "13.9"], ["13.8", "13.9", "13.10"]),
    "versions": ("version", ["v1.10.0", "v1.0.2", "v1.2"], ["v1.0.2", "v1.2", "v1.10.0"]),
    "letters": ("version", ["7.32c", "7.32", "7.31d"], ["7.31d", "7.32", "7.32c"]),
    "weeks": ("week", ["Week 10", "Week 9", "Week 1"], ["Week 1", "Week 9", "Week 10"]),
    "quarters": ("quarter", ["2024Q1", "2023Q4"], ["2023Q4", "2024Q1"]),
    "rounds": ("round", ["Final", "Round of 16", "SF", "Quarter-finals"],
               ["Round of 16", "Quarter-finals", "SF", "Final"]),
    "sets": ("set", ["Zendikar", "Alara", "Kamigawa"], ["Zendikar", "Alara", "Kamigawa"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_periods_are_put_in_order(tmp_path, name):
    column, periods, expected = ORDERS[name]
    games = read_periods(tmp_path, column, periods, time=column)
    assert [games.clock.to_text(t) for t in games.times] == expected
    assert games.times.tolist() == [0.0, 1.0, 2.0, 3.0][: len(expected)]
    assert games.clock.kind == "number"
    if column != "round":  # a round says nothing of when, unless it is said to
        assert read_periods(tmp_path, column, periods).clock.names == tuple(expected)


def test_seasons_begin_in_their_year(tmp_path):
    for periods in (["2021-22", "2019-20"], ["2021/2022", "2019/2020"], ["21/22", "19/20"]):
        games = read_periods(tmp_path, "season", periods)
        assert games.times.tolist() == [2019.0, 2021.0]
        assert games.clock.names == (periods[1], periods[0])
        assert games.clock.to_number(periods[1]) == 2019.0
        assert games.clock.to_number("2020") == 2020.0
    assert read_periods(tmp_path, "season", ["2009-10"]).times.tolist() == [2009.0]
    assert read_periods(tmp_path, "date", ["2009-10"]).clock.kind == "date"


def test_a_list_orders_the_periods_and_what_it_lacks_comes_after(tmp_path):
    order = ["Spring", "Summer", "Autumn"]
    games = read_periods(
        tmp_path, "split", ["Autumn", "Spring", "Winter"], time="split", order=order
    )
    assert games.clock.names == ("Spring", "Summer", "Autumn", "Winter")
    assert games.times.tolist() == [0.0, 2.0, 3.0]
    assert 'order does not list "Winter"; they come after the others' in games.report.notes
    again = read_periods(tmp_path, "patch", ["1.10", "1.9"], order=["1.8"])
    assert again.clock.names == ("1.8", "1.9", "1.10")
    as_listed = read_periods(tmp_path, "patch", ["1.10", "1.9"], order="file")
    assert as_listed.clock.names == ("1.10", "1.9")


def test_an_order_that_is_none_says_so(tmp_path):
    with pytest.raises(InputError, match='order is \'size\'; it must be "file", "version", or a'):
        read_periods(tmp_path, "patch", ["1.1"], order="size")
    with pytest.raises(InputError, match="order: it must list periods, each once"):
        read_periods(tmp_path, "patch", ["1.1"], order=["1.1", "1.1"])
    with pytest.raises(InputError, match="order= is given, but time=False says"):
        read_periods(tmp_path, "patch", ["1.1"], order="file", time=False)


def test_names_in_the_order_of_the_table_are_said(tmp_path):
    games = read_periods(tmp_path, "split", ["Zoo", "Ant", "Zoo"], time="split")
    assert games.clock.names == ("Zoo", "Ant")
    assert 'as the table has them, from "Zoo" to "Ant"; give' in games.report.notes[0]
    with pytest.raises(InputError, match='the times in "split" are not understood'):
        read_periods(tmp_path, "split", ["1/2/2024 or so", "3/4/2024 or so"], time="split")


def test_plain_numbers_stay_numbers(tmp_path):
    for periods in (["1.5", "2.25"], ["1.0", "1.00"], ["3", "10"]):
        assert read_periods(tmp_path, "time", periods).clock.names == ()
    frame = pd.DataFrame({"a": ["x"], "b": ["y"], "outcome": [1], "patch": [13.1]})
    assert '"patch" is a column of numbers, in which 13.10 is 13.1' in read(frame).report.notes[0]


def test_a_clock_with_names_goes_there_and_back():
    clock = Clock("number", ("13.8", "13.10"), (0.0, 1.0))
    assert clock.to_text(0.0) == "13.8"
    assert clock.to_text(1.25) == "13.10 + 0.25"
    assert clock.to_text(-0.5) == "13.8 - 0.5"
    assert Clock(**json.loads(json.dumps(asdict(clock)))) == clock
    with pytest.raises(
        InputError, match=r'time "13.9": it is not a period such as "13.8" or "13.1'
    ):
        clock.to_number("13.9")
    with pytest.raises(InputError, match="a time must be finite"):
        clock.to_number(10**400)


def test_day_or_month_first_is_asked_for_and_obeyed(tmp_path):
    for text, setting, day in (
        ("01/02/2024", True, "2024-02-01"),
        ("01/02/2024", False, "2024-01-02"),
        ("01/02/24", True, "2024-02-01"),
    ):
        games = read_periods(tmp_path, "date", [text], day_first=setting)
        assert games.clock.to_text(games.times[0]) == day


def test_weekdays_in_any_language_are_read_past_and_versions_are_no_dates(tmp_path):
    """A word before a date is its weekday; "Patch 1.2.3" is no day of 2003."""
    for day in ("lundi 13/2/2024", "Sa. 13.02.2024", "Di 13.02.24", "вторник 13.02.2024"):
        games = read_periods(tmp_path, "day", [day], time="day")
        assert games.clock.to_text(games.times[0]) == "2024-02-13"
    for periods in (["Patch 1.2.3", "Patch 1.10.0"], ["v 13.1.20", "v 13.2.21"]):
        assert read_periods(tmp_path, "patch", periods).clock.kind == "none"
        with pytest.raises(InputError, match='the times in "patch" are not understood'):
            read_periods(tmp_path, "patch", periods, time="patch")
