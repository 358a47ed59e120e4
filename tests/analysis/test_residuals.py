"""What scores leave of noise, against the formula written out."""

import numpy as np

import intransit as it
from intransit.analysis.transitivity import ResidualMap, inflation
from intransit.inference.newton import information


def fitted(drift):
    rng = np.random.default_rng(3)
    first = rng.integers(5, size=60)
    second = (first + rng.integers(1, 5, size=60)) % 5
    data = it.Timeline.from_arrays(
        first, second, rng.integers(2, size=60), rng.integers(6, size=60)
    )
    return it.smooth(
        data, n_factors=0, scores=True, loss="logistic", score_drift_scale=drift,
        drift_scale=drift, score_prior_scale=1.0, prior_scale=1.0, rng=0,
    )  # fmt: skip


def written_out(path):
    """G H⁻¹ Gᵀ with G made column by column."""
    problem, z = path.problem, path.solution.z
    free = np.flatnonzero(problem.free)
    G = np.stack([problem.push(z, row) for row in np.eye(len(z))[free]], axis=1)
    curvature = problem.loss.terms(problem.margins(z))[1]
    return G @ np.linalg.inv(information(problem, z, curvature)) @ G.T, curvature


def test_what_scores_explain_is_the_projection():
    """The quick map is G H⁻¹ Gᵀ, with drift and without, dense and by conjugate gradients."""
    for drift in (0.0, 0.3):
        path = fitted(drift)
        whole, _ = written_out(path)
        noise = np.random.default_rng(0).normal(size=len(whole))
        quick = ResidualMap(path.problem, path.solution.z)
        np.testing.assert_allclose(quick.explained(noise), whole @ noise, atol=1e-8)
        quick._dense = None
        np.testing.assert_allclose(quick.explained(noise), whole @ noise, rtol=0.05, atol=0.02)


def test_what_the_prior_keeps_unexplained_is_drawn_too():
    """With a generator the scores themselves are drawn: the mean square is noise's plus theirs."""
    path = fitted(0.3)
    whole, _ = written_out(path)
    quick = ResidualMap(path.problem, path.solution.z)
    nothing = np.zeros(len(whole))
    drawn = [quick.explained(nothing, np.random.default_rng(k)) for k in range(400)]
    problem, z = path.problem, path.solution.z
    prior = np.zeros((len(z), len(z)))
    for k, unit in enumerate(np.eye(len(z))):
        problem.add_prior(unit, prior[k])
    free = np.flatnonzero(problem.free)
    G = np.stack([problem.push(z, row) for row in np.eye(len(z))[free]], axis=1)
    curvature = problem.loss.terms(problem.margins(z))[1]
    back = G @ np.linalg.inv(information(problem, z, curvature))
    exact = np.einsum("ck,kl,cl->c", back, prior[np.ix_(free, free)], back)
    np.testing.assert_allclose(np.mean(np.square(drawn), axis=0), exact, rtol=0.35)


def test_variances_are_a_lower_bound():
    """An item's variance given all others is at most its variance."""
    path = fitted(0.3)
    whole, _ = written_out(path)
    low = ResidualMap(path.problem, path.solution.z).variances()
    assert (low <= np.diag(whole) * (1 + 1e-9) + 0.2).all()
    assert (low > 0).all()


def test_residuals_grow_back_to_the_size_of_their_noise():
    """With leverage h a residual is smaller than its noise by √(1 - h); h is kept below 0.9."""
    grown = inflation(np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.75, 5.0]))
    np.testing.assert_allclose(grown, [1.0, 2.0, np.sqrt(10.0)])
