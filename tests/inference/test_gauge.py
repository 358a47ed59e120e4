import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intransit.data.cells import Rows
from intransit.inference.gauge import balance, rotations, tangents, without_gauge
from intransit.inference.laplace import MarginQuery
from tests.inference.joint_problems import (
    CONVEX,
    CURVED,
    FACTOR,
    FEATURED,
    REVEALED,
    SCORES,
    Kind,
    case_of,
    columns_of,
    jacobian,
    names,
    random_case,
    seeds,
    slope_by_differences,
)

curved = st.sampled_from(CURVED)


def balanced(problem, z, *, volume=0.0, rounds=30):
    """Balanced over and over, until nothing changes."""
    for _ in range(rounds):
        z = balance(problem, z, volume=volume)
    return z


@given(seed=seeds, name=names, volume=st.sampled_from([0.0, 5.0, -2.0]))
def test_balancing_leaves_every_margin_and_all_that_is_known_alone(seed, name, volume):
    case = random_case(name, seed)
    kept, z = case.z.copy(), balance(case.problem, case.z, volume=volume)
    np.testing.assert_array_equal(case.z, kept)
    before, after = (case.problem.margins(states) for states in (case.z, z))
    np.testing.assert_allclose(after, before, atol=1e-9 * max(1.0, np.abs(z).max() ** 2))
    np.testing.assert_array_equal(z[~case.problem.free], kept[~case.problem.free])


@given(seed=seeds, name=names)
def test_balancing_leaves_margins_between_times_alone_too(seed, name):
    """Also of items at times at which they were not compared."""
    case = random_case(name, seed)
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, 30))
    query = MarginQuery(case.problem, case.pairs, first, second, rng.uniform(-1, 8, 30))
    z = balance(case.problem, case.z)
    np.testing.assert_allclose(query.margins(z), query.margins(case.z), atol=1e-9)


@given(seed=seeds, name=curved)
def test_balancing_lowers_the_penalty(seed, name):
    case = random_case(name, seed)
    z = balance(case.problem, case.z)
    before, after = (case.problem.penalty(states) for states in (case.z, z))
    assert after <= before * (1 + 1e-12)
    if name == "drifting exposures":  # S stands still while Q moves: no shift of S by Q
        assert z is case.z


@given(seed=seeds, name=curved.filter(lambda name: name != "drifting exposures"))
@settings(max_examples=15)
def test_balancing_ends_where_no_shift_and_no_basis_is_better(seed, name):
    """Slopes of the penalty along the gauge are 0, by differences.

    Shifts of Q by S are left out: with S and Q drifting by different scales they are Newton's.
    So are exposures to known strengths.
    """
    case = random_case(name, seed)
    problem, z = case.problem, balanced(case.problem, case.z)
    free_S, free_Q = problem.strengths.free, problem.exposures.free
    n_shifts = int(free_S.sum() * (free_S.sum() + 1) / 2)
    T = tangents(problem, z)
    mixes = T.shape[1] - int(free_Q.sum() * free_S.sum())  # Q_k with S_m, k by k
    of_factors = np.repeat(free_S[free_Q], free_S.sum())
    T = T[:, np.r_[:n_shifts, mixes + np.flatnonzero(of_factors)]]
    slopes = slope_by_differences(problem.penalty, z, T / np.linalg.norm(T, axis=0))
    np.testing.assert_allclose(slopes, 0.0, atol=1e-6 * problem.penalty(z))


@given(seed=seeds, name=st.sampled_from(["drifting factor", "scores and factors"]))
@settings(max_examples=10)
def test_a_volume_balances_a_stretch_against_the_penalty(seed, name):
    """Along S -> S(1 + ε), Q -> Q(1 - ε) the penalty rises by volume times columns."""
    case = random_case(name, seed)
    problem, z = case.problem, balanced(case.problem, case.z, volume=3.0)
    both = problem.strengths.free & problem.exposures.free
    S, Q, _ = problem.split(z)
    step = np.concatenate([(S * both).ravel(), -(Q * both).ravel()])[:, None]
    slope = slope_by_differences(problem.penalty, z, step)
    assert slope == pytest.approx(3.0 * both.sum(), rel=1e-4)


@given(seed=seeds, name=names)
def test_tangents_move_no_margin_at_any_time_to_first_order(seed, name):
    case = random_case(name, seed)
    problem, z = case.problem, case.z
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, 30))
    query = MarginQuery(problem, case.pairs, first, second, rng.uniform(-1, 8, 30))
    for direction in tangents(problem, z).T:
        assert not direction[~problem.free].any()
        np.testing.assert_allclose(problem.push(z, direction), 0.0, atol=1e-11)
        np.testing.assert_allclose(query.derivative(z) @ direction, 0.0, atol=1e-11)


@pytest.mark.parametrize(
    "columns",
    [
        (SCORES,),
        (SCORES, FEATURED),
        (FACTOR,),
        (FACTOR,) * 2,
        (SCORES, FACTOR),
        (SCORES, FACTOR, FACTOR),
        (FEATURED, REVEALED, FACTOR),
    ],
)
def test_tangents_are_all_that_no_margin_sees(columns):
    """With every pair read and nothing drifting, the null space of the map is theirs."""
    rng, kind = np.random.default_rng(0), Kind(columns)
    pairs = np.array([(i, j) for i in range(9) for j in range(i)])
    ones = np.ones(len(pairs))
    case = case_of(
        Rows(ones, pairs, ones, ones), columns_of(kind, 9, rng), kind.scales, logistic=False
    )
    J = jacobian(case.problem, case.z)[:, case.problem.free]
    values = np.linalg.svd(J, compute_uv=False)
    lost = J.shape[1] - np.sum(values > 1e-9 * values[0])
    T = tangents(case.problem, case.z)[case.problem.free]
    assert np.linalg.matrix_rank(T, tol=1e-9) == lost


@given(seed=seeds, name=names)
def test_rotations_are_orthonormal_and_move_neither_margins_nor_the_prior(seed, name):
    case = random_case(name, seed)
    problem, z = case.problem, case.z
    turns = rotations(problem, z)
    n = int((problem.strengths.free & problem.exposures.free).sum())
    assert turns.shape[1] == n * (n - 1) // 2
    np.testing.assert_allclose(turns.T @ turns, np.eye(turns.shape[1]), atol=1e-12)
    pulled = np.zeros_like(z)
    problem.add_prior(z, pulled)
    np.testing.assert_allclose(turns.T @ pulled, 0.0, atol=1e-9)
    for turn in turns.T:
        np.testing.assert_allclose(problem.push(z, np.ascontiguousarray(turn)), 0.0, atol=1e-11)


@given(seed=seeds, name=names)
def test_leaving_out_the_gauge_changes_no_margin_and_is_done_once(seed, name):
    """It is a projection, orthogonal in the prior's metric."""
    case = random_case(name, seed)
    problem, z = case.problem, case.z
    steps = np.random.default_rng(seed).normal(size=(len(z), 4)) * problem.free[:, None]
    less = without_gauge(problem, z, steps)
    for before, after in zip(steps.T.copy(), less.T.copy(), strict=True):
        np.testing.assert_allclose(problem.push(z, after), problem.push(z, before), atol=1e-8)
        weighed = np.zeros_like(z)
        problem.add_prior(after, weighed)
        np.testing.assert_allclose(tangents(problem, z).T @ weighed, 0.0, atol=1e-7)
        assert problem.penalty(after) <= problem.penalty(before) * (1 + 1e-9)
    np.testing.assert_allclose(without_gauge(problem, z, less), less, atol=1e-8)


@pytest.mark.parametrize("name", CONVEX)
def test_without_products_there_is_nothing_to_balance(name):
    case = random_case(name, 0)
    assert balance(case.problem, case.z) is case.z
