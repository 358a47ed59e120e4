import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intransit import kernels
from intransit.data.measurements import Entries, PeriodReadings
from intransit.inference.weighted_program import Boxed, NormalEquations, Problem, collapse
from tests.inference.problems import (
    KINDS,
    objective_by_definition,
    random_factors,
    random_periods,
    random_problem,
    slope_by_differences,
)

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
given_columns = st.sampled_from([(), (2,), (0, 3), (2, 3)])


@given(seed=seeds, kind=kinds, known=given_columns)
def test_the_collapsed_objective_is_the_papers(seed, kind, known):
    """Collapsing repeats, folding orders and dropping the diagonal change nothing."""
    rng = np.random.default_rng(seed)
    problem, _, periods, weights = random_problem(kind, 5, 2, rng, known=known, ridge=0.3)
    factors = random_factors(problem, rng)
    fast = problem.value(factors, problem.margins(factors))
    slow = objective_by_definition(factors, periods, weights, 0.3, problem.free)
    # Counts stand for readings whose spread is unknown, which moves the objective by a constant.
    other = random_factors(problem, rng)
    constant = objective_by_definition(other, periods, weights, 0.3, problem.free) - problem.value(
        other, problem.margins(other)
    )
    assert fast == pytest.approx(slow - constant, rel=1e-9, abs=1e-9)
    if all((readings.counts == 1).all() for readings in periods):
        assert constant == pytest.approx(0.0, abs=1e-9)


@given(seed=seeds, kind=kinds)
def test_without_counts_the_constant_is_included(seed, kind):
    rng = np.random.default_rng(seed)
    periods = [
        PeriodReadings(p.operator, p.outcomes, np.ones_like(p.counts))
        for p in random_periods(kind, 5, rng)
    ]
    weights = rng.random(len(periods))
    data = collapse(periods, weights)
    problem = Problem(data.pairs, data.loss, np.full((5, 4), np.nan))
    factors = random_factors(problem, rng)
    slow = objective_by_definition(factors, periods, weights)
    assert problem.value(factors, problem.margins(factors)) == pytest.approx(slow, rel=1e-10)


@given(
    seed=seeds,
    kind=kinds,
    known=given_columns,
    side=st.sampled_from(["S", "Q", "both"]),
    boxed=st.booleans(),
)
def test_gradients_of_every_block_agree_with_finite_differences(seed, kind, known, side, boxed):
    rng = np.random.default_rng(seed)
    problem, data, *_ = random_problem(kind, 5, 2, rng, known=known, ridge=0.2)
    if boxed:
        loss = Boxed(data.loss, 0.5, rng.normal(size=len(data.pairs)), 2.0)
        problem = Problem(problem.pairs, loss, problem.known, problem.ridge)
    factors = random_factors(problem, rng)
    moved = problem.moved(side)
    partners = problem.partners(factors, moved)
    gradient = problem.gradient(factors, problem.margins(factors), moved, partners)
    slow = slope_by_differences(lambda u: problem.value(u, problem.margins(u)), factors, moved)
    np.testing.assert_allclose(gradient, slow, atol=1e-5 * max(1.0, np.abs(slow).max(initial=0.0)))


@given(seed=seeds, kind=kinds, known=given_columns, side=st.sampled_from(["S", "Q", "both"]))
def test_dense_and_matrix_free_systems_are_the_explicit_one(seed, kind, known, side):
    """Both solvers against J built column by column from the margins themselves."""
    rng = np.random.default_rng(seed)
    problem, *_ = random_problem(kind, 6, 2, rng, known=known)
    factors = random_factors(problem, rng)
    moved = problem.moved(side)
    if not len(moved):
        return
    partners = problem.partners(factors, moved)
    curvature = problem.loss.curvature(problem.margins(factors))
    C = np.stack([curvature.times(e) for e in np.eye(len(problem.pairs))], axis=1)
    J = explicit_jacobian(problem, factors, moved)
    H = J.T @ C @ J
    dense = NormalEquations(partners, problem.pairs, curvature, dense=True)
    free = NormalEquations(partners, problem.pairs, curvature, dense=False)
    v = rng.normal(size=partners.shape)
    scale = max(1.0, np.abs(H).max())
    np.testing.assert_allclose(free.product(v).ravel(), H @ v.ravel(), atol=1e-10 * scale)
    right, damping = rng.normal(size=partners.shape), 0.1 * dense.scale
    expected = np.linalg.solve(H + damping * np.eye(len(H)), right.ravel())
    for equations in (dense, free):
        step = equations.solve(right, damping, accuracy=1e-12)
        np.testing.assert_allclose(step.ravel(), expected, atol=1e-7 * np.abs(expected).max())


def explicit_jacobian(problem, factors, moved):
    """Margins are bilinear, so a central difference of any length is exact but for rounding."""
    columns = []
    for i in range(problem.n_items):
        for c in moved:
            up, down = factors.copy(), factors.copy()
            up[i, c] += 1.0
            down[i, c] -= 1.0
            columns.append((problem.margins(up) - problem.margins(down)) / 2)
    return np.stack(columns, axis=1)


@given(seed=seeds)
def test_the_half_step_has_the_null_space_of_the_symmetry(seed):
    """With Q held, S -> S + Q B moves no margin for symmetric B, and no other direction is free."""
    rng = np.random.default_rng(seed)
    n, r = 9, 2
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    Q, B = rng.normal(size=(n, r)), rng.normal(size=(r, r))
    J = kernels.jacobian(Q, pairs)
    assert np.abs(J @ (Q @ (B + B.T)).ravel()).max() < 1e-12
    assert np.linalg.matrix_rank(J) == n * r - r * (r + 1) // 2


@pytest.mark.parametrize("r", [1, 2, 3])
def test_degrees_of_freedom_are_the_rank_of_the_jacobian(r):
    rng = np.random.default_rng(r)
    n = 9
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    columns = np.full((n, 2 * r), np.nan)
    for known in (0, 1, r):
        given = columns.copy()
        given[:, r : r + known] = rng.normal(size=(n, known))
        problem = Problem(pairs, None, given)
        factors = random_factors(problem, rng)
        J = explicit_jacobian(problem, factors, problem.moved("both"))
        assert problem.degrees_of_freedom == np.linalg.matrix_rank(J)


@given(seed=seeds)
def test_the_compiled_normal_matrix_agrees_with_its_plain_twin(seed):
    """The same source run by Python: what compilation may not change."""
    rng = np.random.default_rng(seed)
    n, k = 6, 3
    pairs = np.sort(np.stack([rng.permutation(n)[:2] for _ in range(10)]), axis=1)
    pairs = np.unique(pairs, axis=0)
    A, w = rng.normal(size=(n, k)), rng.random(len(pairs))
    fast, slow = np.empty((2, n * k, n * k))
    kernels.normal_matrix(A, pairs, w, fast)
    kernels.normal_matrix.py_func(A, pairs, w, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-12)


@given(seed=seeds)
def test_doubling_a_weight_equals_repeating_the_readings(seed):
    rng = np.random.default_rng(seed)
    operator = Entries(rng.integers(0, 6, (20, 2)), 6)
    y = rng.normal(size=20)
    once = PeriodReadings(operator, y, np.ones(20))
    heavy = collapse([once], np.array([2.0]))
    twice = collapse([once, once], np.array([1.0, 1.0]))
    counted = collapse([PeriodReadings(operator, y, np.full(20, 2.0))], np.array([1.0]))
    for other in (twice, counted):
        np.testing.assert_array_equal(heavy.pairs, other.pairs)
        np.testing.assert_allclose(heavy.loss.weights, other.loss.weights)
        np.testing.assert_allclose(heavy.loss.targets, other.loss.targets)
    assert heavy.loss.constant == pytest.approx(twice.loss.constant)


def test_readings_of_one_pair_collapse_to_one_cell():
    pairs = np.array([[0, 1], [1, 0], [0, 1], [2, 2], [1, 2]])
    y = np.array([1.0, -2.0, 3.0, 0.5, 4.0])
    data = collapse([PeriodReadings(Entries(pairs, 3), y, np.ones(5))], np.array([1.0]))
    np.testing.assert_array_equal(data.pairs, [[0, 1], [1, 2]])
    np.testing.assert_allclose(data.loss.targets, [2.0, 4.0])
    np.testing.assert_allclose(data.loss.weights, [3.0, 1.0])
    assert data.n_repeats == 3  # two more of (0, 1), and the diagonal
    assert data.pure_error == pytest.approx((1 - 2) ** 2 + 0 + (3 - 2) ** 2 + 0.5**2)
