"""Verdicts follow from checks, and checks from tables, as they say they do."""

import numpy as np
import pytest

from intransit.experiments.estimators import (
    EQUAL,
    LAST,
    NEWTON,
    OPTIMAL,
    WEIGHTS,
    converges,
    same_answers,
)
from intransit.experiments.experiment import (
    Check,
    Claim,
    Row,
    Table,
    log_slope,
    mean,
    mean_difference,
    ratio_of_means,
    ratio_of_medians,
    typical_ratio,
)
from intransit.experiments.recovery_error import one_start_is_enough

YES, NO = Check("yes", True), Check("no", False)
N_TRIALS = 60


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((YES,), "holds"),
        ((YES, YES), "holds"),
        ((YES, NO), "holds in part"),
        ((NO, YES, NO), "holds in part"),
        ((NO,), "does not hold"),
        ((NO, NO), "does not hold"),
    ],
)
def test_a_verdict_is_what_its_checks_say(checks, verdict):
    assert Claim("something", checks).verdict == verdict


def table_of(curves, unsettled=(), wild=1.0):
    """Return values = level × lognormal noise, the noise shared by all curves.

    Trials named as unsettled are marked so, and their optimal weights' errors are `wild` times as
    large.
    """
    noise = np.exp(0.3 * np.random.default_rng(0).normal(size=(3, N_TRIALS)))
    rows = []
    for k, x in enumerate((0.1, 1.0, 10.0)):
        for trial in range(N_TRIALS):
            rows.append(Row("", x, "readings", "settled", trial, float(trial not in unsettled)))
            for curve, levels in curves.items():
                off = wild if trial in unsettled and curve == OPTIMAL else 1.0
                rows.append(Row("", x, curve, "error", trial, off * levels[k] * noise[k, trial]))
    return Table(rows)


def test_curves_that_meet_are_said_to_converge():
    table = table_of({OPTIMAL: [1, 2, 3], EQUAL: [1.01, 5, 20], LAST: [9, 4, 3.02]})
    assert converges(table, EQUAL, to_large=False).verdict == "holds"
    assert converges(table, LAST, to_large=True).verdict == "holds"


def test_curves_that_stay_apart_are_not():
    table = table_of({OPTIMAL: [1, 2, 3], EQUAL: [1.2, 5, 20], LAST: [9, 4, 1.5]})
    small, large = (
        converges(table, EQUAL, to_large=False),
        converges(table, LAST, to_large=True),
    )
    assert [check.passed for check in small.checks] == [False, False, True]
    assert [check.passed for check in large.checks] == [False, False, True]


def test_a_mean_leaves_out_what_the_readings_do_not_settle():
    levels = {OPTIMAL: [1, 2, 3], EQUAL: [1, 5, 20]}
    claim = converges(table_of(levels, unsettled=(3,), wild=1e6), EQUAL, to_large=False)
    assert claim.verdict == "holds"
    assert f"over the {N_TRIALS - 1} of {N_TRIALS} trials" in claim.checks[1].measured


def test_an_end_that_differs_in_few_settled_trials_holds_in_part():
    rows = [
        Row(r.facet, r.x, r.curve, r.measure, r.trial, 100.0)
        if (r.curve, r.x, r.trial) == (EQUAL, 0.1, 0)
        else r
        for r in table_of({OPTIMAL: [1, 2, 3], EQUAL: [1, 5, 20]}).rows
    ]
    claim = converges(Table(rows), EQUAL, to_large=False)
    assert [check.passed for check in claim.checks] == [True, False, True]  # usual trial, means


def test_newton_is_compared_only_where_it_was_asked_for():
    plain = {curve: [1, 2, 3] for curve in WEIGHTS}
    newton = {curve + NEWTON: [1, 2, 3] for curve in WEIGHTS}
    assert same_answers()(table_of(plain)) == []
    assert same_answers()(table_of(plain | newton))[0].verdict == "holds"
    newton[OPTIMAL + NEWTON] = [1, 2, 3.5]
    assert same_answers()(table_of(plain | newton))[0].verdict == "holds in part"


def test_starts_are_counted():
    few = Table(
        Row("", 1.0, curve, "restarted", trial, float(trial == 0))
        for curve in WEIGHTS
        for trial in range(N_TRIALS)
    )
    many = Table(Row("", 1.0, c, "restarted", t, float(t % 2)) for c in WEIGHTS for t in range(8))
    assert one_start_is_enough(few)[0].verdict == "holds"
    assert one_start_is_enough(many)[0].verdict == "does not hold"


def test_intervals_cover_the_truth():
    """Of 200 intervals of 95 %, between 175 and 199 cover, but for one time in a thousand."""
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = mean_difference(3.0 + rng.normal(size=60), 2.0 + rng.normal(size=60))
        covered += found.low <= 1.0 <= found.high
    assert 175 <= covered <= 199


def test_statistics_of_known_numbers():
    first, second = np.array([1.0, 3.0, 8.0]), np.array([1.0, 1.0, 2.0])
    assert ratio_of_means(first, second).value == pytest.approx(3.0)
    assert ratio_of_medians(first, second).value == pytest.approx(3.0)
    assert typical_ratio(first, second).value == pytest.approx(3.0)
    assert mean(np.array([1.0, np.nan, 3.0])).value == pytest.approx(2.0)
    assert log_slope(np.array([1.0, 2.0, 4.0]), np.array([3.0, 1.5, 0.75])) == pytest.approx(-1.0)
    assert np.isnan(mean(np.array([np.nan])).value)
