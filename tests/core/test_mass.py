"""Where the posterior's mass lies along the gauge: the way of large problems, on small ones."""

from dataclasses import replace

import numpy as np
import pytest

from intransit.core import mass
from intransit.core.joint_newton import Mass, solve_joint
from intransit.core.mass import move_to_mass, stay_at_mass
from intransit.core.posterior import Posterior
from intransit.core.query import ask
from intransit.core.scales import excess, measure
from intransit.fitting import carry_over
from tests.core.joint_problems import case_of, simulated_case

SETTINGS = {"tolerance": 1e-8, "max_steps": 200, "seed": 0}
NAMES = ["drifting factor", "three drifting factors", "scores and factors"]


def solved(name, seed=0):
    case = simulated_case(name, seed, logistic=True, n_items=14, n_rows=3_000)
    return case, solve_joint(case.problem, case.z, tolerance=1e-8)


def apart(case, one, two):
    """Differences of margins in posterior deviations."""
    first, second = np.triu_indices(case.columns.n_items, 1)
    query = ask(case.problem, case.pairs, first, second, np.full(len(first), case.cells.axis[2]))
    spread = Posterior(case.problem, one.z).variances(query, np.random.default_rng(0))
    return np.abs(query.margins(one.z) - query.margins(two.z)) / np.sqrt(spread)


@pytest.fixture
def at_scale(monkeypatch):
    """Take every problem for a large one, with signs enough for its few states."""
    monkeypatch.setattr(mass, "is_small", lambda _: False)
    monkeypatch.setattr(mass, "N_SIGNS", 300)


@pytest.mark.parametrize("name", NAMES)
def test_signs_count_what_the_data_determine(name, at_scale):
    case, peak = solved(name)
    both = case.problem.strengths.free & case.problem.exposures.free
    exact = excess(case.problem, measure(case.problem, peak.z, seed=0))
    assert exact > 1.0
    assert mass._volume(case.problem, peak.z, both, 0) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("name", NAMES)
def test_large_problems_go_where_small_ones_go(name, monkeypatch):
    case, peak = solved(name)
    small = move_to_mass(case.problem, peak, **SETTINGS)
    assert small.mass is None
    monkeypatch.setattr(mass, "is_small", lambda _: False)
    monkeypatch.setattr(mass, "N_SIGNS", 300)
    large = move_to_mass(case.problem, peak, **SETTINGS)
    assert large.mass.n_rows == case.cells.n_rows
    assert apart(case, small, peak).max() > 0.1
    assert apart(case, small, large).max() < 0.1 * apart(case, small, peak).max()


def test_scores_have_no_gauge_to_move_along(at_scale):
    case, peak = solved("drifting scores")
    assert move_to_mass(case.problem, peak, **SETTINGS) is peak


def test_a_longer_record_stays_at_the_mass(at_scale):
    whole, peak = solved("drifting factor")
    n = len(whole.rows)
    part = case_of(
        whole.rows.only(np.arange(n) < 0.98 * n), whole.columns, whole.scales, logistic=True
    )
    before = move_to_mass(part.problem, solve_joint(part.problem, whole.z), **SETTINGS)
    z = carry_over(part.problem, part.pairs, before.z, whole.problem, whole.pairs)
    longer = stay_at_mass(whole.problem, z, before.mass, **SETTINGS)
    anew = move_to_mass(whole.problem, peak, **SETTINGS)
    assert longer.mass.n_rows == whole.cells.n_rows
    assert apart(whole, anew, longer).max() < 0.01


def test_a_record_that_has_grown_too_much_is_moved_anew(at_scale, monkeypatch):
    case, peak = solved("drifting factor")
    known = Mass(10.0, 1.0, 0.6, case.cells.n_rows)
    assert stay_at_mass(case.problem, peak.z, known, **SETTINGS) is not None
    assert stay_at_mass(case.problem, peak.z, None, **SETTINGS) is None
    stale = replace(known, n_rows=case.cells.n_rows // 2)
    assert stay_at_mass(case.problem, peak.z, stale, **SETTINGS) is None
    monkeypatch.setattr(mass, "is_small", lambda _: True)
    assert stay_at_mass(case.problem, peak.z, known, **SETTINGS) is None
