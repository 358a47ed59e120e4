"""Series of games: which rows belong together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import intransit as it
from intransit.data.games import in_time, series_in_order


def partition(numbers):
    """The sets of rows that share a number."""
    return {frozenset(np.flatnonzero(numbers == k).tolist()) for k in np.unique(numbers)}


def in_time_slowly(first, second, times):
    """Meeting by meeting: a series goes on while neither of the two meets anybody else."""
    rows = range(len(times))
    pair = [frozenset((first[k], second[k])) for k in rows]
    number, out = 0, [None] * len(times)
    for both in set(pair):
        mine = [k for k in rows if pair[k] == both]
        last = None
        for t in sorted({times[k] for k in mine}):
            if last is not None:
                others = any(
                    last <= times[k] <= t and pair[k] != both and pair[k] & both for k in rows
                )
                number += others
            for k in mine:
                if times[k] == t:
                    out[k] = number
            last = t
        number += 1
    return np.array(out)


@given(seed=st.integers(0, 2**32 - 1), n_items=st.integers(2, 5), n_rows=st.integers(1, 25))
def test_series_in_time_agree_with_a_slow_twin(seed, n_items, n_rows):
    """The sorted search and the loop over meetings put the same rows together."""
    rng = np.random.default_rng(seed)
    first = rng.integers(n_items, size=n_rows)
    second = (first + rng.integers(1, n_items, size=n_rows)) % n_items
    times = rng.integers(8, size=n_rows).astype(float)
    fast, slow = in_time(first, second, times), in_time_slowly(first, second, times)
    assert partition(fast) == partition(slow)


def test_a_visit_of_three_days_is_one_series():
    """Two teams that meet on three days and nobody else between are one series, later another."""
    first, second = np.array([0, 1, 0, 0, 1, 0]), np.array([1, 0, 1, 2, 2, 1])
    found = in_time(first, second, np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert partition(found) == {
        frozenset({0, 1, 2}),
        frozenset({3}),
        frozenset({4}),
        frozenset({5}),
    }


def test_rows_of_one_pair_after_another_are_a_series():
    """Without times, rows of one pair that follow each other belong together, either way round."""
    found = series_in_order(np.array([0, 1, 2, 0]), np.array([1, 0, 0, 1]), np.ones(4), np.ones(4))
    assert found is not None
    assert found.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([(0, 1, 1), (0, 1, 0), (0, 2, 1), (1, 2, 1)], 1),
        ([(0, 1, 1), (0, 2, 1), (1, 0, 1), (1, 2, 1), (2, 0, 1), (2, 1, 1)], 1),
        ([(0, 1, 1), (0, 2, 1), (0, 1, 0), (0, 2, 0)], 1),
        ([(0, 1, 1), (0, 2, 1), (0, 1, 1), (0, 2, 0)], 2),
    ],
    ids=["by pair", "by winner", "by result", "counts"],
)
def test_a_sorted_table_says_nothing_of_series(rows, count):
    """Where the order of rows is the table's, not the games', every game stands alone."""
    first, second, outcomes = np.array(rows).T
    assert (
        series_in_order(first, second, outcomes.astype(float), np.full(len(rows), float(count)))
        is None
    )


@pytest.mark.parametrize("column", ["", "2023-01-01,"], ids=["no times", "one time"])
def test_a_table_without_times_keeps_its_order(tmp_path, column):
    """Five answers to one question are one series; the counts add up as ever."""
    place = tmp_path / "judged.csv"
    head = "date," if column else ""
    rows = ["a,b,1", "a,b,1", "b,a,0", "a,c,1", "b,c,0", "a,b,1"]
    place.write_text(f"{head}first,second,outcome\n" + "".join(f"{column}{r}\n" for r in rows))
    games = it.read(place)
    assert games.series is not None
    assert len(np.unique(games.series)) == 4
    assert games.counts.sum() == 6
    assert len(games) == 5  # two equal rows of one series are counted together


def test_arrays_and_tables_agree_on_series(tmp_path):
    """`Games.from_arrays` and `read` find the same series in the same rows."""
    names = [("a", "b", 1), ("b", "a", 1), ("a", "c", 0), ("a", "b", 0)]
    place = tmp_path / "rows.csv"
    place.write_text("first,second,outcome\n" + "".join(f"{a},{b},{y}\n" for a, b, y in names))
    table, arrays = it.read(place), it.Games.from_arrays(*map(list, zip(*names, strict=True)))
    assert table.series is not None
    assert arrays.series is not None
    assert table.series.tolist() == arrays.series.tolist()
