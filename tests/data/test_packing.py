"""Rows packed into whole numbers give the cells that the engine gives."""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from intransit import read
from intransit.data import assemble, queries
from intransit.data.reading import ReadOptions, RowLimits

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


def both_ways(frame, **wishes):
    """The same table read with packed rows, if they can be, and by the engine alone."""
    packed = read(frame, **wishes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "add_up_packed", lambda _: None)
        return packed, read(frame, **wishes)


def assert_same(one, other):
    assert one.names == other.names
    for column in ("first", "second", "outcomes", "times", "counts"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
    assert (one.sides is None) == (other.sides is None)
    if one.sides is not None:
        np.testing.assert_array_equal(one.sides, other.sides)
    for mine, theirs in zip(one.by, other.by, strict=True):
        assert mine.values == theirs.values
        np.testing.assert_array_equal(mine.codes, theirs.codes)
    assert (one.sequence is None) == (other.sequence is None)
    if one.sequence is not None:
        np.testing.assert_array_equal(one.sequence, other.sequence)
    assert one.report == other.report


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60), step=st.sampled_from([1.0, 0.25]))
@settings(max_examples=12, phases=QUICK, deadline=None)
def test_packed_rows_agree_with_the_engine(seed, n, step):
    """Whole times are packed, others are not; refused rows are counted alike."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "time": rng.integers(-5, 5, n) * step,
            "a": rng.choice(["x", "y", "z", ""], n),
            "b": rng.choice(["x", "y", "z", "w"], n),
            "outcome": rng.choice([0.0, 0.5, 1.0, np.nan], n, p=[0.4, 0.2, 0.3, 0.1]),
            "a_home": rng.integers(-1, 2, n),
            "kind": rng.choice(["u", "v", ""], n),
        }
    )
    frame.loc[len(frame)] = [1.0, "x", "y", 1.0, 1, "u"]
    frame = pd.concat([frame, frame.iloc[[-1] * (n + 1)]])  # so that most rows can be used
    assert_same(*both_ways(frame, by="kind"))


@pytest.mark.parametrize(
    "times",
    [
        ["2024-01-02", "1999-12-31", "2024-01-02"],
        ["13.10", "13.8", "13.9"],
        [1e15, 0, 5],
        [1, 2, 3],
    ],
)
def test_times_of_every_kind_agree(times):
    frame = pd.DataFrame({"patch": times, "a": list("xyz"), "b": list("yzx"), "outcome": [1, 0, 1]})
    assert_same(*both_ways(frame, time="patch"))


def some_votes(n=300):
    rng = np.random.default_rng(5)
    first = rng.integers(0, 9, n)
    return pd.DataFrame(
        {
            "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 20, n), unit="D"),
            "a": [f"item {i}" for i in first],
            "b": [f"item {(i + j) % 9}" for i, j in zip(first, rng.integers(0, 4, n), strict=True)],
            "outcome": rng.choice([0.0, 0.5, 1.0], n),
        }
    )


def read_within(frame, **limits):
    """The table read as one of so many rows that limits as small as these would be exceeded."""
    return assemble(frame, ReadOptions(), "1GB", RowLimits(**limits))


def test_large_tables_give_what_small_ones_give():
    """Beyond some numbers of rows their order is not kept and twins are excluded by counting."""
    frame = some_votes()
    small = replace(read(frame), sequence=None)
    assert_same(small, read_within(frame, in_sequence=0, one_by_one=0))


@pytest.mark.parametrize("doubling", ["mirrored", "repeated"])
def test_games_told_twice_are_found_in_large_tables(doubling):
    frame = some_votes()
    frame = frame[frame["a"] != frame["b"]]
    twins = frame.rename(columns={"a": "b", "b": "a"}) if doubling == "mirrored" else frame
    twins = twins.assign(outcome=1.0 - twins["outcome"]) if doubling == "mirrored" else twins
    both = pd.concat([frame, twins])
    assert read_within(both, one_by_one=0).counts.sum() == len(frame)


def test_infinite_dates_do_not_hide_the_span_of_the_others(tmp_path):
    """The ends of a column of dates are asked for first; infinite ones are no times."""
    path = tmp_path / "games.parquet"
    duckdb.sql(
        "SELECT * FROM (VALUES (DATE '2024-01-05', 'x', 'y', 1), (DATE '2024-01-02', 'y', 'z', 0), "
        "(DATE 'infinity', 'x', 'z', 1), (NULL, 'x', 'y', 1), (DATE '2024-03-01', 'z', 'x', 1)) "
        "AS t(date, a, b, outcome)"
    ).write_parquet(str(path))
    games, other = both_ways(path)
    assert_same(games, other)
    assert games.report.n_unused == 2
    assert games.clock.to_text(games.times[-1]) == "2024-03-01"


def test_outcomes_between_win_and_tie_are_left_to_the_engine():
    frame = some_votes().assign(outcome=np.tile([0.0, 0.25, 1.0], 100))
    assert_same(*both_ways(frame))
