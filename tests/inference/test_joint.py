import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from intransit.data.cells import Rows
from intransit.inference.gauge import rotations
from intransit.inference.joint_problem import Columns, rescale
from intransit.inference.joint_starts import solve_from_starts
from intransit.inference.newton import (
    DenseEquations,
    SparseEquations,
    _States,
    information,
    solve_joint,
)
from tests.inference.joint_problems import (
    CONVEX,
    CURVED,
    KINDS,
    case_of,
    gaussian_model,
    margins_of_rows,
    matrix_at,
    objective_by_definition,
    random_case,
    simulated_case,
    slope_by_differences,
    unit_moves,
)

seeds = st.integers(0, 2**32 - 1)
names = st.sampled_from(sorted(KINDS))
losses = st.booleans()


@given(seed=seeds, name=names)
def test_margins_are_those_of_the_matrices(seed, name):
    """x = entries of S Qᵀ - Q Sᵀ + E, built densely at each time."""
    case = random_case(name, seed)
    x = case.problem.margins(case.z)
    X = {t: matrix_at(case, case.z, t) for t in case.cells.axis}
    expected = [X[t][i, j] for t, (i, j) in zip(case.cells.times, case.cells.pairs, strict=True)]
    np.testing.assert_allclose(x, expected, atol=1e-12)


@given(seed=seeds, name=names, logistic=losses)
def test_the_objective_is_that_of_the_rows(seed, name, logistic):
    """Minus the log likelihood of every row, and the random walks, step by step."""
    case = random_case(name, seed, logistic=logistic)
    slow = objective_by_definition(case, case.z)
    assert case.value(case.z) == pytest.approx(slow, rel=1e-11)


@given(seed=seeds, name=names, logistic=losses)
def test_the_gradient_is_that_of_differences(seed, name, logistic):
    case = random_case(name, seed, logistic=logistic)
    slopes = slope_by_differences(case.value, case.z, unit_moves(case.problem))
    gradient = case.gradient(case.z)
    np.testing.assert_allclose(gradient[case.problem.free], slopes, rtol=1e-6, atol=1e-5)
    np.testing.assert_array_equal(gradient[~case.problem.free], 0.0)


@given(seed=seeds, name=names)
def test_push_is_the_derivative_of_the_margins_and_pull_its_adjoint(seed, name):
    case = random_case(name, seed)
    problem, rng = case.problem, np.random.default_rng(seed)
    step, slopes = rng.normal(size=len(case.z)) * problem.free, rng.normal(size=len(problem.at))
    moved = slope_by_differences(problem.margins, case.z, step[:, None])[0]
    np.testing.assert_allclose(problem.push(case.z, step), moved, atol=1e-8)
    pulled = problem.pull(case.z, slopes)
    assert pulled @ step == pytest.approx(slopes @ problem.push(case.z, step), abs=1e-9)


@given(seed=seeds, name=names, logistic=losses)
@settings(max_examples=20)
def test_the_hessian_is_that_of_differences(seed, name, logistic):
    """But along rotations, which leave the objective alone and are held on purpose."""
    case = random_case(name, seed, logistic=logistic)
    problem, z, free = case.problem, case.z, case.problem.free
    slope, curvature = problem.loss.terms(problem.margins(z))
    whole = information(problem, z, curvature, None if problem.is_convex else slope)
    turns = rotations(problem, z)[free]
    apart = np.eye(len(whole)) - turns @ turns.T
    differences = slope_by_differences(case.gradient, z, unit_moves(problem))[:, free]
    size = np.abs(whole).max()
    np.testing.assert_allclose(apart @ whole, apart @ differences, atol=1e-7 * size)
    np.testing.assert_allclose(whole, whole.T, atol=1e-12 * size)
    if turns.size:  # held, and by nothing else than the exposures' prior
        held = turns.T @ (whole - differences) @ turns
        np.testing.assert_allclose(held, np.eye(len(held)) / 1.2**2, atol=1e-7 * size)


@given(seed=seeds, name=names, logistic=losses)
def test_the_gauss_newton_matrix_is_that_of_its_definition(seed, name, logistic):
    case = random_case(name, seed, logistic=logistic)
    _, curvature = case.problem.loss.terms(case.problem.margins(case.z))
    whole = information(case.problem, case.z, curvature)
    np.testing.assert_allclose(whole, gaussian_model(case.problem, case.z), atol=1e-9)


def damped(case, matrix, damping):
    """The matrix with damping on S and Q, and none on effects of pairs, which are eliminated."""
    among = np.arange(len(case.z)) < case.problem.cuts[1]
    return matrix + damping * np.diag(among[case.problem.free].astype(float))


@given(seed=seeds, name=names, logistic=losses, damping=st.sampled_from([0.0, 0.3]), exact=losses)
@settings(max_examples=40)
def test_sparse_and_dense_equations_have_the_same_solution(seed, name, logistic, damping, exact):
    """With pairs, with known columns, with the whole Hessian where it is definite."""
    case = random_case(name, seed, logistic=logistic)
    problem, z, free = case.problem, case.z, case.problem.free
    slope, curvature = problem.loss.terms(problem.margins(z))
    twist = 0.01 * slope if exact and not problem.is_convex else None
    right = np.random.default_rng(seed).normal(size=len(z)) * free
    sparse = SparseEquations(problem, z, curvature, twist).solve(right, damping, accuracy=1e-13)
    whole = damped(case, information(problem, z, curvature, twist), damping)
    if twist is not None:  # rotations, which the dense system holds, are left as they are
        turns = rotations(problem, z)[free]
        held = np.mean(1.0 / problem.exposures.prior[problem.exposures.free] ** 2)
        whole -= held * turns @ turns.T
    if np.linalg.eigvalsh(whole)[0] <= 1e-3:
        return
    expected = np.zeros(len(z))
    expected[free] = np.linalg.solve(whole, right[free])
    np.testing.assert_allclose(sparse, expected, atol=1e-8 * np.abs(expected).max())
    if twist is None and (damping == 0.0 or problem.effects is None):
        dense = DenseEquations(problem, z, curvature, twist).solve(right, damping)
        np.testing.assert_allclose(dense, expected, atol=1e-8 * np.abs(expected).max())


@given(seed=seeds, name=names)
@settings(max_examples=15)
def test_roots_of_the_dense_equations_are_roots(seed, name):
    """L Lᵀ is the matrix; half a solve and a draw are L⁻¹ and L⁻ᵀ, with 0 where z is known."""
    case = random_case(name, seed)
    _, curvature = case.problem.loss.terms(case.problem.margins(case.z))
    equations = DenseEquations(case.problem, case.z, curvature)
    L, free = equations.root, case.problem.free
    np.testing.assert_allclose(L @ L.T, equations.matrix, atol=1e-9)
    rows = np.random.default_rng(seed).normal(size=(3, len(case.z)))
    half = equations.half_solve(rows)
    np.testing.assert_allclose(L @ half, rows[:, free].T, atol=1e-8)
    noise = np.random.default_rng(seed).normal(size=(free.sum(), 2))
    drawn = equations.draw(noise)
    np.testing.assert_allclose(L.T @ drawn[free], noise, atol=1e-8)
    np.testing.assert_array_equal(drawn[~free], 0.0)


def test_a_matrix_that_is_not_definite_is_told_apart():
    """Far from a minimum the whole Hessian is not: `None`, so that the caller damps more."""
    case = random_case("drifting factor", 0)
    slope, curvature = case.problem.loss.terms(case.problem.margins(case.z))
    equations = DenseEquations(case.problem, case.z, 1e-3 * curvature, 10 * slope)
    assert equations.solve(case.z, 0.0) is None
    assert equations.solve(case.z, 1e6) is not None


@pytest.mark.parametrize("dense", [True, False])
@given(seed=seeds, name=names, logistic=losses)
@settings(max_examples=25)
def test_newton_never_goes_up_and_ends_where_nothing_pulls(dense, seed, name, logistic):
    case = random_case(name, seed, logistic=logistic)
    solution = solve_joint(case.problem, case.z, tolerance=1e-9, dense=dense)
    assert solution.converged
    assert (np.diff(solution.objectives) <= 0).all()
    assert solution.objective == pytest.approx(case.value(solution.z), rel=1e-12)
    gradient = case.gradient(solution.z)
    assert solution.gradient_size == pytest.approx(np.linalg.norm(gradient), abs=1e-12)
    assert solution.gradient_size <= 1e-3
    known = ~case.problem.free
    np.testing.assert_array_equal(solution.z[known], case.z[known])


@pytest.mark.parametrize("name", CONVEX)
def test_steps_of_no_use_are_taken_back(name, monkeypatch):
    """Far out a step goes too far; it has taken the room of the place that it left."""
    n_back, again = 0, _States.again

    def counted(place):
        nonlocal n_back
        n_back += 1
        return again(place)

    monkeypatch.setattr(_States, "again", counted)
    case = random_case(name, 0, logistic=True)
    far = case.problem.fill_known(case.columns, 30.0 * case.z)
    found = solve_joint(case.problem, far, tolerance=1e-10, dense=False)
    assert n_back > 0
    assert (np.diff(found.objectives) < 0).all()
    wanted = solve_joint(case.problem, case.z, tolerance=1e-10, dense=True)
    np.testing.assert_allclose(found.z, wanted.z, atol=1e-4)


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_small_and_large_paths_reach_the_same_minimum(name, logistic):
    """From one start near a minimum, factored and matrix-free steps end in the same margins.

    From further away they may not: there are several minima, and the paths to them differ.
    """
    for seed in range(3):
        case = simulated_case(name, seed, logistic=logistic)
        noise = 0.05 * np.random.default_rng(seed).normal(size=len(case.z))
        near = solve_joint(case.problem, case.z, dense=True).z + noise * case.problem.free
        one, two = (
            solve_joint(case.problem, near, tolerance=1e-11, dense=dense) for dense in (True, False)
        )
        assert (one.n_products, two.n_products > 0) == (0, True)
        assert one.objective == pytest.approx(two.objective, abs=1e-8)
        x = [case.problem.margins(solution.z) for solution in (one, two)]
        np.testing.assert_allclose(x[0], x[1], atol=1e-4)


@pytest.mark.parametrize(
    ("name", "logistic", "seed"),
    [
        ("drifting scores", True, 0),
        ("known columns", False, 1),
        ("static factor", True, 4),
        ("drifting exposures", True, 5),
    ],
)
def test_when_newton_stops_no_more_is_left_than_was_asked_for(name, logistic, seed):
    """½ gradientᵀ matrix⁻¹ gradient is what the next step would gain."""
    case = simulated_case(name, seed, logistic=logistic, n_rows=150)
    solution = solve_joint(case.problem, case.z, tolerance=1e-4, dense=True)
    gradient = case.gradient(solution.z)[case.problem.free]
    matrix = gaussian_model(case.problem, solution.z)
    assert 0.5 * gradient @ np.linalg.solve(matrix, gradient) <= 1e-4


@pytest.mark.parametrize("name", CONVEX)
def test_one_minimum_is_found_from_anywhere_and_by_others(name):
    """scipy's BFGS, which knows nothing but values and slopes, agrees."""
    case = simulated_case(name, 0, logistic=True, n_rows=80)
    free = case.problem.free
    start = case.problem.without_factors(case.columns)

    def spread(v):
        z = start.copy()
        z[free] = v
        return z

    found = minimize(
        lambda v: case.value(spread(v)),
        start[free],
        jac=lambda v: case.gradient(spread(v))[free],
        method="BFGS",
        options={"gtol": 1e-7, "maxiter": 5000},
    )
    for begin in (start, case.z):
        solution = solve_joint(case.problem, begin, tolerance=1e-10)
        assert solution.objective == pytest.approx(found.fun, abs=1e-8)
        np.testing.assert_allclose(solution.z[free], found.x, atol=1e-4)


def renamed(case, names):
    """The same comparisons under other numbers of the items, and the same states."""
    rows = Rows(case.rows.times, names[case.rows.pairs], case.rows.outcomes, case.rows.counts)
    back = np.argsort(names)
    rise = case.columns.rise and case.columns.rise.of_items(back)
    columns = Columns(case.columns.strengths[back], case.columns.exposures[back], rise)
    other = case_of(rows, columns, case.scales, logistic=case.logistic)
    z = np.empty_like(case.z)
    n = len(names)
    for which, (old, new) in enumerate(zip(case.problem.sides, other.problem.sides, strict=True)):
        source, target = case.problem.parts(case.z)[which], other.problem.parts(z)[which]
        place = {
            (int(o), int(w)): k
            for k, (o, w) in enumerate(zip(new.chains.owners, new.chains.when, strict=True))
        }
        for k, (o, w) in enumerate(zip(old.chains.owners, old.chains.when, strict=True)):
            owner, sign = int(o), 1.0
            if which == 2:
                i, j = names[list(divmod(int(case.pairs.keys[o]), n))]
                owner, sign = int(other.pairs.find(np.sort([[i, j]]))[0][0]), np.sign(j - i)
            else:
                owner = int(names[owner])
            target[place[owner, int(w)]] = sign * source[k]
    return other, z


@given(seed=seeds, name=names, logistic=losses)
@settings(max_examples=15)
def test_relabelling_items_changes_nothing_but_the_labels(seed, name, logistic):
    """Neither the objective, nor the margin of any row, nor that of the solution."""
    case = random_case(name, seed, logistic=logistic)
    other, z = renamed(case, np.random.default_rng(seed).permutation(6))
    assert other.value(z) == pytest.approx(case.value(case.z), rel=1e-11)
    np.testing.assert_allclose(margins_of_rows(other, z), margins_of_rows(case, case.z), atol=1e-12)
    one, two = (solve_joint(c.problem, s, tolerance=1e-10) for c, s in ((case, case.z), (other, z)))
    assert one.objective == pytest.approx(two.objective, rel=1e-10)
    np.testing.assert_allclose(
        margins_of_rows(case, one.z), margins_of_rows(other, two.z), atol=1e-5
    )


@given(seed=seeds, name=names, logistic=losses)
@settings(max_examples=20)
def test_repeating_rows_is_doubling_counts_and_swapping_pairs_is_nothing(seed, name, logistic):
    case = random_case(name, seed, logistic=logistic)
    rows, rng = case.rows, np.random.default_rng(seed)
    swapped = rng.random(len(rows)) < 0.5
    mirrored = (1.0 if logistic else 0.0) - rows.outcomes
    flipped = Rows(
        rows.times,
        np.where(swapped[:, None], rows.pairs[:, ::-1], rows.pairs),
        np.where(swapped, mirrored, rows.outcomes),
        rows.counts,
    )
    both = Rows(
        *(
            np.concatenate([getattr(r, name) for r in (rows, flipped)])
            for name in ("times", "pairs", "outcomes", "counts")
        )
    )
    twice = Rows(rows.times, rows.pairs, rows.outcomes, 2 * rows.counts)
    one, two = (case_of(r, case.columns, case.scales, logistic=logistic) for r in (both, twice))
    np.testing.assert_array_equal(one.problem.at, two.problem.at)
    for first, second in zip(
        one.problem.loss.terms(one.problem.margins(case.z)),
        two.problem.loss.terms(two.problem.margins(case.z)),
        strict=True,
    ):
        np.testing.assert_allclose(first, second, atol=1e-11)
    np.testing.assert_allclose(one.gradient(case.z), two.gradient(case.z), atol=1e-10)


@given(seed=seeds, name=st.sampled_from(CURVED))
def test_turning_both_factors_alike_leaves_the_objective_exactly_alone(seed, name):
    case = random_case(name, seed)
    problem, z = case.problem, case.z.copy()
    S, Q, _ = problem.split(z)
    both = np.flatnonzero(problem.strengths.free & problem.exposures.free)
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(both),) * 2))
    S[:, both], Q[:, both] = S[:, both] @ turn, Q[:, both] @ turn
    assert case.value(z) == pytest.approx(case.value(case.z), rel=1e-12)
    slopes = rotations(problem, case.z).T @ case.gradient(case.z)
    np.testing.assert_allclose(slopes, 0.0, atol=1e-9)


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_the_order_in_which_cells_are_visited_changes_nothing(name, logistic):
    """They are taken in order of time."""
    case = random_case(name, 0, logistic=logistic)
    cells = case.problem.loss.cells
    assert (np.diff(cells.when) >= 0).all()
    X = {t: matrix_at(case, case.z, t) for t in cells.axis}
    expected = [X[t][i, j] for t, (i, j) in zip(cells.times, cells.pairs, strict=True)]
    np.testing.assert_allclose(case.problem.margins(case.z), expected, atol=1e-12)


@given(seed=seeds, name=names)
def test_rescaling_is_assembling_anew(seed, name):
    case = random_case(name, seed)
    drifts = {n: 2 * getattr(case.scales, n) for n in KINDS[name].drifting}
    scales = type(case.scales)(
        **{**vars(case.scales), **drifts, "noise_scale": 0.3, "prior_scale": 2.0}
    )
    anew = case_of(case.rows, case.columns, scales, logistic=False)
    problem = rescale(case.problem, case.columns, scales)
    value = problem.loss.value(problem.margins(case.z)) + problem.penalty(case.z)
    assert value == pytest.approx(anew.value(case.z), rel=1e-12)


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("name", CURVED)
def test_starts_lead_at_least_as_low_as_the_truth_does(name, logistic):
    """From data alone, no worse a minimum than from the states that made the data."""
    case = simulated_case(name, 5, logistic=logistic, n_rows=400)
    starts = solve_from_starts(
        case.problem,
        case.columns,
        case.scales,
        tolerance=1e-4,
        max_steps=200,
        rng=np.random.default_rng(0),
    )
    truth = solve_joint(case.problem, case.z, tolerance=1e-4)
    assert starts[0].objective == min(s.objective for s in starts)
    assert starts[0].objective <= truth.objective + 0.5
