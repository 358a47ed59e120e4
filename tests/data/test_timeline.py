"""Comparisons at times of their own: columns checked, periods translated."""

import numpy as np
import pytest

import intransit as it


def test_columns_are_kept_as_they_came():
    rows = it.Timeline.from_arrays(
        [2, 0, 1], [1, 2, 1], [0.5, -1.0, 3.0], [7.5, -2.0, 7.5], counts=[1, 2.5, 3]
    )
    assert len(rows) == 3
    assert rows.n_items == 3
    np.testing.assert_array_equal(rows.pairs, [[2, 1], [0, 2], [1, 1]])
    np.testing.assert_array_equal(rows.outcomes, [0.5, -1.0, 3.0])
    np.testing.assert_array_equal(rows.times, [7.5, -2.0, 7.5])
    np.testing.assert_array_equal(rows.counts, [1.0, 2.5, 3.0])
    assert repr(rows) == "Timeline(n_items=3, n_outcomes=3, times -2 to 7.5)"


def test_what_is_left_out_has_a_meaning():
    rows = it.Timeline.from_arrays([0, 1], [1, 4], [1, 0])
    assert rows.n_items == 5
    np.testing.assert_array_equal(rows.times, [0.0, 0.0])
    np.testing.assert_array_equal(rows.counts, [1.0, 1.0])
    assert it.Timeline.from_arrays([0, 1], [1, 4], [1, 0], n_items=9).n_items == 9
    assert it.Timeline.from_arrays([0], [0], [1.0]).n_items == 2
    floats = it.Timeline.from_arrays([0.0, 1.0], [1.0, 4.0], [True, False])
    assert floats.pairs.dtype == np.int64
    np.testing.assert_array_equal(floats.outcomes, [1.0, 0.0])


def test_the_arrays_given_are_not_touched_or_shared():
    first, second = np.array([0, 1]), np.array([1, 2])
    outcomes, times = np.array([1.0, 2.0]), np.array([3.0, 1.0])
    rows = it.Timeline.from_arrays(first, second, outcomes, times)
    path = it.smooth(rows, n_factors=0, noise_scale=0.1, drift_scale=0.1, prior_scale=1.0)
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(outcomes, [1.0, 2.0])
    np.testing.assert_array_equal(times, [3.0, 1.0])
    np.testing.assert_array_equal(path.times, [1.0, 3.0])


def test_periods_become_times():
    seen = it.Measurements.from_pairs(
        [[(0, 1), (1, 2)], [(2, 0)]], [[1.0, 2.0], [3.0]], counts=[[1, 2], [4]]
    )
    rows = it.Timeline.from_measurements(seen)
    np.testing.assert_array_equal(rows.times, [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(rows.pairs, [[0, 1], [1, 2], [2, 0]])
    np.testing.assert_array_equal(rows.outcomes, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(rows.counts, [1.0, 2.0, 4.0])
    dated = it.Timeline.from_measurements(seen, times=[10.5, 11.0], weights=[0.5, 2.0])
    np.testing.assert_array_equal(dated.times, [10.5, 10.5, 11.0])
    np.testing.assert_array_equal(dated.counts, [0.5, 1.0, 8.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], [], []), "no comparison was given"),
        (([0, 1], [1], [1.0]), "one of each"),
        (([[0, 1]], [[1, 2]], [1.0]), "one of each"),
        (([0], [1], [1.0, 2.0]), "outcomes: shape"),
        (([0], [1], [1.0], [1.0, 2.0]), "times: shape"),
        (([0], [1], [np.nan]), "outcomes: entry 0 is nan"),
        (([0, 1], [1, 2], [1.0, -np.inf]), "outcomes: entry 1 is -inf"),
        (([0], [1], [1.0], [np.inf]), "times: entry 0 is inf"),
        (([0], [1], [1.0], [np.nan]), "times: entry 0 is nan"),
        (([-1], [1], [1.0]), "items run from 0"),
        (([0.5], [1], [1.0]), "whole numbers"),
        ((["rock"], ["paper"], [1.0]), "whole numbers"),
        (([0], [1], ["won"]), "not numbers"),
        (([0], [1], [1.0], ["2024-03-09"]), "not numbers"),
        (([0], [1], [1e200]), "choose other units"),
        (([0], [1], [1.0], [1e200]), "choose other units"),
    ],
)
def test_bad_columns_get_one_clear_sentence(arguments, words):
    with pytest.raises(it.InputError, match=words):
        it.Timeline.from_arrays(*arguments)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"n_items": 2}, "raise n_items"),
        ({"n_items": 1}, "whole number, 2 or more"),
        ({"n_items": 2.5}, "whole number"),
        ({"counts": [1.0, 0.0]}, "counts: entry 1 is 0"),
        ({"counts": [-1.0, 1.0]}, "counts: entry 0 is -1"),
        ({"counts": [np.nan, 1.0]}, "counts: entry 0 is nan"),
        ({"counts": [1.0]}, "counts: shape"),
    ],
)
def test_bad_keywords_get_one_clear_sentence(keywords, words):
    with pytest.raises(it.InputError, match=words):
        it.Timeline.from_arrays([0, 1], [1, 2], [1.0, 2.0], **keywords)


def test_bad_periods_get_one_clear_sentence():
    seen = it.Measurements.from_pairs([[(0, 1)], [(1, 2)]], [[1.0], [2.0]], n_items=3)
    for keywords, words in (
        ({"times": [0.0]}, "times: shape"),
        ({"times": [0.0, np.nan]}, "times: entry 1 is nan"),
        ({"weights": [1.0]}, "weights: shape"),
        ({"weights": [1.0, -1.0]}, "weight"),
        ({"weights": [1.0, 0.0]}, "weight"),
    ):
        with pytest.raises(it.InputError, match=words):
            it.Timeline.from_measurements(seen, **keywords)
    mixed = it.Measurements.from_matrices([np.ones((2, 3, 3))], [[1.0, 2.0]])
    with pytest.raises(it.InputError, match="single pairs only, so use recover"):
        it.Timeline.from_measurements(mixed)
    combined = it.simulate(
        n_items=4,
        n_factors=1,
        n_periods=1,
        n_outcomes=5,
        noise_scale=0.1,
        drift_scale=0.0,
        ensemble=it.gaussian_matrices,
        rng=0,
    ).measurements
    with pytest.raises(it.InputError, match="single pairs only"):
        it.smooth(combined)


def test_frozen():
    rows = it.Timeline.from_arrays([0], [1], [1.0])
    with pytest.raises(AttributeError):
        rows.n_items = 5
