"""What data determine, and where that puts a solution along the gauge."""

from dataclasses import replace

import numpy as np
import pytest

from intransit.inference.joint_problem import rescale
from intransit.inference.laplace import excess, measure, move_along_gauge
from intransit.inference.newton import solve_joint
from tests.inference.joint_problems import random_case, simulated_case

SETTINGS = {"tolerance": 1e-8, "max_steps": 200, "seed": 0}
FACTORS = ["drifting factor", "three drifting factors", "scores and factors"]


def prior_product(side, states):
    out = np.zeros_like(states)
    side.add_product(states, out)
    return out


@pytest.mark.parametrize("name", ["drifting scores", "scores and factors", "everything"])
def test_what_data_determine_is_counted_alike_by_draws_and_exactly(name):
    """The count of n entries from 50 draws has a standard deviation below √(2.25 n / 50).

    None is 5 of them off; false alarms below 1e-4 in all (seed fixed).
    """
    case = simulated_case(name, 0, logistic=True, n_rows=150)
    exact = measure(case.problem, case.z, seed=0)
    drawn = measure(case.problem, case.z, seed=0, exact=0)
    for side, one, two in zip(case.problem.sides, exact, drawn, strict=True):
        for which, n in (("seen_first", len(side.firsts)), ("seen_step", len(side.steps))):
            off = np.abs(getattr(one, which) - getattr(two, which))
            assert (off <= 5 * np.sqrt(2.25 * n / 50)).all()
            assert (getattr(one, which)[~side.free] == 0).all()
            assert (getattr(one, which) <= n).all()
        np.testing.assert_array_equal(one.first, two.first)


def test_no_data_determine_nothing_and_endless_data_everything():
    """Scores up to a constant for all, which no comparison sees."""
    case = random_case("static scores", 0, n_rows=300)
    for noise, seen in ((1e6, 0.0), (1e-4, 5.0)):
        scales = replace(case.scales, noise_scale=noise)
        problem = rescale(case.problem, case.columns, scales)
        share = measure(problem, case.z, seed=0)[0]
        assert share.seen_first[0] == pytest.approx(seen, abs=1e-4)
        assert share.seen_step[0] == 0.0


def solved(name):
    case = simulated_case(name, 0, logistic=True, n_items=14, n_rows=3_000)
    return case, solve_joint(case.problem, case.z, tolerance=1e-8)


def lean(problem, z):
    """How much larger the penalty of a column of S is than that of Q, the mean over factors."""
    both = problem.strengths.free & problem.exposures.free
    S, Q = (
        np.mean(np.sum(part * prior_product(side, part), axis=0)[both])
        for side, part in zip(problem.sides[:2], problem.parts(z), strict=False)
    )
    return S - Q


@pytest.mark.parametrize("name", FACTORS)
def test_a_stretch_of_the_factors_is_held_by_what_the_data_determine(name):
    """At the peak both penalties are equal; moved, they differ by the volume, to 5 %."""
    case, peak = solved(name)
    there = move_along_gauge(case.problem, peak, **SETTINGS)
    wanted = excess(case.problem, measure(case.problem, there.z, seed=0))
    assert wanted > 1.0
    assert lean(case.problem, peak.z) == pytest.approx(0.0, abs=0.05 * wanted)
    assert lean(case.problem, there.z) == pytest.approx(wanted, rel=0.05)
    assert there.converged
    assert there.objective == peak.objective


@pytest.mark.parametrize("name", FACTORS)
def test_volumes_counted_by_draws_lead_to_the_same_place(name):
    """The count of 50 draws is right to some per cent, which moves S and Q by less."""
    case, peak = solved(name)
    exact = move_along_gauge(case.problem, peak, **SETTINGS)
    drawn = move_along_gauge(case.problem, peak, **SETTINGS, exact=0)
    x, y, start = (case.problem.margins(s.z) for s in (exact, drawn, peak))
    assert np.linalg.norm(x - y) < 0.1 * np.linalg.norm(x - start)


def test_scores_have_no_gauge_to_move_along():
    case, peak = solved("drifting scores")
    assert move_along_gauge(case.problem, peak, **SETTINGS) is peak
