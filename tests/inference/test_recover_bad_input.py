import numpy as np
import pytest

import intransit as it

GOOD = it.Measurements.from_pairs([[(0, 1), (1, 2), (2, 3), (3, 0)]] * 2, [[1.0, 2, 3, 4]] * 2)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_factors": 0}, "n_factors is 0; it must be a whole number"),
        ({"n_factors": 1.5}, "n_factors is 1.5"),
        ({"n_factors": 3}, "n_factors is 3 for 4 items; a matrix of 4 items has at most 2"),
        ({"method": "magic"}, 'method is \'magic\'; it must be "newton" or "alternating"'),
        ({"start": "warm"}, 'start is \'warm\'; it must be "spectral" or "random"'),
        ({"start": 3}, "start is 3; it must be"),
        ({"start": (np.zeros((4, 2)), np.zeros((4, 1)))}, r"start: S of shape \(4, 2\)"),
        ({"weights": [1.0]}, r"weights: shape \(1,\) was given for 2 periods"),
        ({"weights": [1.0, -1.0]}, "weights: entry 1 is -1"),
        ({"weights": [0.0, 0.0]}, "weights: all are 0"),
        ({"bound": 0.0}, "bound is 0.0; it must be a finite number, above 0"),
        ({"bound": np.nan}, "bound is nan"),
        ({"bound": 0.5}, "bound is 0.5, but 4 of 4 compared pairs have mean outcomes beyond it"),
        (
            {"exposures": np.ones((4, 2))},
            r"exposures: shape \(4, 2\) was given; it must be \(4, 1\)",
        ),
        (
            {"exposures": [[1], [np.nan], [1], [1]]},
            "exposures: column 0 is NaN for some items only",
        ),
        ({"exposures": np.full((4, 1), np.inf)}, "infinite values cannot be known"),
        (
            {"exposures": np.ones((4, 1)), "strengths": np.ones((4, 1))},
            "nothing is left to recover",
        ),
        ({"ridge": -1}, "ridge is -1"),
        ({"tolerance": np.nan}, "tolerance is nan"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"restarts": -1}, "restarts is -1"),
        ({"rng": "seven"}, "rng: 'seven' was given"),
        ({"n_factors": np.nan}, "n_factors is nan"),
        ({"n_factors": None}, "n_factors is None"),
        ({"weights": "optimal"}, "weights: these are not numbers"),
        ({"bound": "x"}, "bound is 'x'; it must be a finite number"),
        ({"tolerance": "x"}, "tolerance is 'x'"),
        ({"exposures": "ones"}, "exposures: these are not numbers"),
        ({"exposures": np.zeros((4, 1))}, "exposures: column 0 is all zeros"),
        ({"exposures": np.full((4, 1), 1e200)}, "choose other units"),
        ({"restarts": 1.5}, "restarts is 1.5"),
        ({"max_steps": 2.5}, "max_steps is 2.5"),
    ],
)
def test_bad_settings_get_a_sentence(settings, sentence):
    with pytest.raises(it.InputError, match=sentence):
        it.recover(GOOD, **{"n_factors": 1, **settings})


def test_a_bound_below_what_known_factors_make_is_refused():
    S, Q = np.full((4, 2), np.nan), np.full((4, 2), np.nan)
    S[:, 0], Q[:, 0] = [9, 0, 0, 0], 1.0
    with pytest.raises(
        it.InputError, match="known strengths and exposures alone make a margin of 9"
    ):
        it.recover(GOOD, n_factors=2, strengths=S, exposures=Q, bound=8.0)


def test_something_else_than_measurements_is_refused():
    with pytest.raises(it.InputError, match="a list was given; build one with"):
        it.recover([[0, 1]], n_factors=1)


def test_an_unknown_option_is_an_error():
    with pytest.raises(TypeError, match="n_factor"):
        it.recover(GOOD, n_factor=1)


@pytest.mark.parametrize(
    ("pairs", "outcomes", "settings", "sentence"),
    [
        ([[(0, 5)]], [[1.0]], {"n_items": 3}, r"pairs\[0\]: row 0 compares 0 with 5"),
        ([[(0, 1)]], [[np.nan]], {}, "period 0, outcomes: entry 0 is nan"),
        ([[(0, 1)]], [[1.0, 2.0]], {}, r"period 0, outcomes: shape \(2,\) was given for 1"),
        ([[(0, 1)]], [[1.0], [2.0]], {}, "pairs and outcomes: 1 and 2 periods"),
        ([[(0, 1)], []], [[1.0], []], {}, "period 1 has no outcomes"),
        ([], [], {}, "no period was given"),
        ([[(0, 0)]], [[1.0]], {}, "n_items is 1; a comparison needs two items"),
        ([[(0, 1)]], [[1.0]], {"counts": [[0]]}, "counts: entry 0 is 0"),
        ([[(0, 1)]], [[1.0]], {"counts": [[1], [1]]}, "counts and outcomes: 2 and 1 periods"),
        ([[(0, 1)]], [["a"]], {}, "period 0, outcomes: these are not numbers"),
        ([[("a", "b")]], [[1.0]], {}, r"pairs\[0\]: items are whole numbers from 0"),
        ([[(0, np.nan)]], [[1.0]], {}, r"pairs\[0\]: items are whole numbers from 0"),
        ([[(0, -1)]], [[1.0]], {}, r"pairs\[0\]: row 0 compares 0 with -1"),
        ([[(0, 1), (2,)]], [[1.0, 2.0]], {}, r"pairs\[0\]: the rows differ in length"),
        ([[(0, 1)]], [[1.0]], {"n_items": "3"}, "n_items is '3'"),
        ([[(0, 1)]], [[1e200]], {}, r"the largest is 1e\+200, and its square is beyond"),
        ([[(0, 1)]], [[1e-200]], {}, "choose other units"),
    ],
)
def test_bad_measurements_get_a_sentence(pairs, outcomes, settings, sentence):
    with pytest.raises(it.InputError, match=sentence):
        it.Measurements.from_pairs(pairs, outcomes, **settings)


def test_periods_must_speak_of_the_same_items():
    operators = [it.Entries(np.array([[0, 1]]), 2), it.Entries(np.array([[0, 1]]), 3)]
    with pytest.raises(it.InputError, match="disagree on the number of items"):
        it.Measurements.from_operators(operators, [[1.0], [1.0]])


def test_starts_that_lead_nowhere_are_refused():
    huge = (np.arange(1.0, 5.0)[:, None] * 1e150, np.ones((4, 1)) * 1e150)
    with pytest.raises(it.InputError, match="choose other units"):
        it.recover(GOOD, n_factors=1, start=huge)
    with pytest.raises(it.InputError, match="all zeros, where nothing shows a way down"):
        it.recover(GOOD, n_factors=1, start=(np.zeros((4, 1)), np.ones((4, 1))))


def test_factors_of_a_wrong_shape_never_reach_the_loops():
    with pytest.raises(it.InputError, match="for 1000000 items"):
        it.Entries(np.array([[0, 900_000]]), 1_000_000).read(np.ones((3, 1)), np.ones((3, 1)))
    with pytest.raises(it.InputError, match="period 0 reads 9 items, but there are 8"):
        it.simulate(
            n_items=8,
            n_factors=1,
            n_periods=1,
            n_outcomes=1,
            noise_scale=0,
            drift_scale=0,
            ensemble=lambda *_: it.Entries(np.array([[0, 1]]), 9),
        )


def test_margins_are_read_without_the_matrix():
    answer = it.recover(GOOD, n_factors=1, rng=0)
    with pytest.raises(it.InputError, match="first has shape"):
        answer.margin([0, 1], [1, 2, 3])
    with pytest.raises(it.InputError, match="items run from 0 to 3"):
        answer.margin(0, 4)
