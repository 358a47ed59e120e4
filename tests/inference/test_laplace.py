import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit

from intransit.inference.gauge import tangents
from intransit.inference.laplace import FEW, N_DRAWS, Laplace, MarginQuery
from intransit.inference.likelihood import average_logistic
from tests.inference.joint_problems import (
    KINDS,
    gaussian_model,
    names,
    random_case,
    seeds,
    simulated_case,
    unit_moves,
    within,
)


def modelled(case, z):
    """Half the squares of what the first-order model says of data and prior, as a function of z."""
    problem = case.problem
    _, curvature = problem.loss.terms(problem.margins(z))
    return lambda other: (
        0.5 * np.sum(curvature * problem.push(z, other - z) ** 2) + problem.penalty(other)
    )


@given(seed=seeds, name=names, logistic=st.booleans())
@settings(max_examples=12)
def test_the_covariance_is_the_inverse_of_the_models_hessian(seed, name, logistic):
    """By differences of the model's value, column by column."""
    case = random_case(name, seed, logistic=logistic, n_items=3, n_rows=5)
    free, model = case.problem.free, modelled(case, case.z)
    moves = unit_moves(case.problem)
    ahead = [model(case.z + a) for a in moves.T]  # of a quadratic, differences are exact
    hessian = np.array(
        [
            [model(case.z + a + b) - ahead[i] - ahead[j] for j, b in enumerate(moves.T)]
            for i, a in enumerate(moves.T)
        ]
    ) + model(case.z)
    covariance = Laplace(case.problem, case.z).covariance
    product = covariance[np.ix_(free, free)] @ hessian
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-6)
    assert not covariance[~free].any()
    assert not covariance[:, ~free].any()


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_draws_have_the_covariance_of_the_gaussian(name, dense):
    """Whitened, draws are standard normal along every axis, and along every axis turned at random.

    Each of the 2 n sums of squares is tested, false alarms 1e-4 in all (seed fixed).
    """
    case = simulated_case(name, 0, logistic=True, n_rows=60)
    free, rng, n = case.problem.free, np.random.default_rng(1), 400
    draws = Laplace(case.problem, case.z, dense=dense).raw_draw(n, rng)
    assert draws.shape == (len(case.z), n)
    assert not draws[~free].any()
    white = np.linalg.cholesky(gaussian_model(case.problem, case.z)).T @ draws[free]
    turn, _ = np.linalg.qr(rng.normal(size=(len(white),) * 2))
    sums = np.concatenate([np.sum(white**2, axis=1), np.sum((turn @ white) ** 2, axis=1)])
    assert within(sums, n)
    means = np.sqrt(n) * white.mean(axis=1)
    assert within(np.array([means @ means]), len(means))


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_draws_without_the_gauge_move_margins_as_much_as_with_it(name, dense):
    case = simulated_case(name, 0, n_rows=60)
    problem, z = case.problem, case.z
    posterior = Laplace(problem, z, dense=dense)
    raw, less = (draw(5, np.random.default_rng(3)) for draw in (posterior.raw_draw, posterior.draw))
    for one, two in zip(raw.T.copy(), less.T.copy(), strict=True):
        np.testing.assert_allclose(problem.push(z, one), problem.push(z, two), atol=1e-8)
        weighed = np.zeros_like(z)
        problem.add_prior(two, weighed)
        np.testing.assert_allclose(tangents(problem, z).T @ weighed, 0.0, atol=1e-7)


def random_query(case, seed, n=40):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, case.columns.n_items, (2, n))
    axis = case.cells.axis
    times = np.concatenate([rng.uniform(axis[0] - 1, axis[-1] + 1, n - 10), rng.choice(axis, 10)])
    return MarginQuery(case.problem, case.pairs, first, second, times)


@given(seed=seeds, name=names, logistic=st.booleans())
@settings(max_examples=20)
def test_variances_are_those_of_the_covariance_and_the_noise_on_top(seed, name, logistic):
    case = random_case(name, seed, logistic=logistic)
    query, posterior = random_query(case, seed), Laplace(case.problem, case.z)
    rows = query.derivative(case.z).toarray()
    expected = np.einsum("ka,ab,kb->k", rows, posterior.covariance, rows)
    expected += query.extra_variance(case.z)
    variances = posterior.variances(query, np.random.default_rng(0))
    np.testing.assert_allclose(variances, expected, rtol=1e-8, atol=1e-10)
    itself = query.sign == 0
    np.testing.assert_allclose(variances[itself], 0.0, atol=1e-12)


def test_variances_do_not_depend_on_how_many_are_asked_for_at_once():
    case = random_case("everything", 0)
    query, posterior = random_query(case, 0), Laplace(case.problem, case.z)
    whole = posterior.variances(query, np.random.default_rng(0))
    parts = posterior.variances(query, np.random.default_rng(0), at_once=7)
    np.testing.assert_allclose(parts, whole)


@pytest.mark.parametrize("name", ["drifting scores", "three drifting factors", "everything"])
def test_a_few_questions_about_a_large_problem_are_solved_one_by_one(name):
    """Exactly, and without a draw; many are answered by draws, which then serve the few, too."""
    case = simulated_case(name, 0, logistic=True)
    many = random_query(case, 0, FEW + 10)
    few = many.part(slice(0, FEW))
    large = Laplace(case.problem, case.z, dense=False)
    exact = Laplace(case.problem, case.z, dense=True).variances(few, np.random.default_rng(0))
    np.testing.assert_allclose(large.variances(few, np.random.default_rng(0)), exact, rtol=1e-3)
    drawn = large.variances(many, np.random.default_rng(0))[:FEW]
    np.testing.assert_allclose(large.variances(few, np.random.default_rng(0)), drawn)


@pytest.mark.parametrize("name", ["drifting scores", "three drifting factors", "everything"])
def test_variances_from_draws_are_those_of_the_covariance(name):
    """Each is a sum of squares of its draws; false alarms 1e-4 in all (seed fixed)."""
    case = simulated_case(name, 0, logistic=True)
    query = random_query(case, 0, FEW + 10)  # fewer would be solved one by one
    exact, drawn = (
        Laplace(case.problem, case.z, dense=dense).variances(query, np.random.default_rng(0))
        for dense in (True, False)
    )
    extra = query.extra_variance(case.z)
    told = exact > extra + 1e-9
    sums = N_DRAWS * (drawn - extra)[told] / (exact - extra)[told]
    assert within(sums, N_DRAWS)
    np.testing.assert_allclose(drawn[~told], exact[~told], atol=1e-8)


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0, 2.0, 2.1, 4.0, 10.0, 100.0])
def test_averaged_probabilities_are_integrals(spread):
    means = np.array([-6.0, -1.5, -0.1, 0.0, 0.1, 1.5, 6.0])
    found = average_logistic(means, np.full(7, spread**2))
    for mean, value in zip(means, found, strict=True):

        def density(u, mean=mean):
            return np.exp(-u * u / 2) / np.sqrt(2 * np.pi) * expit(mean + spread * u)

        expected, _ = quad(density, -12, 12, epsabs=1e-12, limit=500)
        assert value == pytest.approx(expected, abs=1e-9)
        one, other = (average_logistic(np.array([m]), np.array([spread**2])) for m in (mean, -mean))
        assert one + other == 1.0
    np.testing.assert_allclose(found + found[::-1], 1.0, rtol=1e-15)
    assert found[3] == 0.5
