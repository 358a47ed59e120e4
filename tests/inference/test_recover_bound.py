import numpy as np
import pytest
from scipy.optimize import minimize

import intransit as it


def test_the_bound_is_a_constraint_of_the_program():
    sim = it.simulate(
        n_items=10, n_factors=1, n_periods=2, n_outcomes=80, noise_scale=0.3, drift_scale=0.0, rng=3
    )
    bound = 0.6 * it.theory.largest_entry(sim.margins[-1])
    free = it.recover(sim.measurements, n_factors=1)
    held = it.recover(sim.measurements, n_factors=1, bound=bound)
    clipped = np.clip(free.margins, -bound, bound)
    assert np.abs(held.margins).max() <= bound * (1 + 1e-9)
    assert np.linalg.matrix_rank(held.margins, tol=1e-8) == 2
    assert np.linalg.matrix_rank(clipped, tol=1e-8) > 2  # clipping would leave the model
    assert free.objective < held.objective


@pytest.mark.parametrize("known_S", [False, True])
def test_the_bound_with_known_factors(known_S):
    rng = np.random.default_rng(5)
    S, Q = rng.normal(size=(2, 9, 2))
    sim = it.simulate(
        strengths=S, exposures=Q, n_periods=1, n_outcomes=200, noise_scale=0.1, drift_scale=0, rng=1
    )
    given_S = np.full((9, 2), np.nan)
    if known_S:
        given_S[:, 0] = S[:, 0]
    bound = 0.9 * np.abs(sim.margins[-1]).max()
    answer = it.recover(sim.measurements, n_factors=2, exposures=Q, strengths=given_S, bound=bound)
    assert np.abs(answer.margins).max() <= bound * (1 + 1e-9)


@pytest.mark.parametrize("known_Q", [None, np.ones((7, 1))])
def test_a_bound_through_the_front_door_agrees_with_slsqp(known_Q):
    """Gaussian matrices, with both factors unknown and with plain scores."""
    rng = np.random.default_rng(1)
    S, Q = rng.normal(size=(2, 7, 1))
    dense = it.gaussian_matrices(7, 40, rng)
    y = dense.read(S, Q) + 0.3 * rng.normal(size=40)
    bound = 0.6 * np.abs(S @ Q.T - Q @ S.T).max()
    seen = it.Measurements.from_operators([dense], [y])
    answer = it.recover(seen, n_factors=1, bound=bound, exposures=known_Q, rng=0)
    assert answer.converged
    assert np.abs(answer.margins).max() <= bound * (1 + 1e-9)
    assert answer.objective <= slsqp(dense, y, bound, known_Q, rng) * (1 + 1e-4)


def slsqp(operator, y, bound, known_Q, rng):
    n = operator.n_items
    upper = np.triu_indices(n, 1)

    def margins(flat):
        S = flat[:n, None]
        Q = flat[n:, None] if known_Q is None else known_Q
        return S @ Q.T - Q @ S.T

    def value(flat):
        return 0.5 * np.sum((operator.apply(margins(flat)) - y) ** 2)

    room = {
        "type": "ineq",
        "fun": lambda u: np.concatenate([bound - margins(u)[upper], bound + margins(u)[upper]]),
    }
    found = []
    for _ in range(10):
        start = 0.5 * rng.normal(size=2 * n if known_Q is None else n)
        options = {"maxiter": 500, "ftol": 1e-13}
        result = minimize(value, start, method="SLSQP", constraints=[room], options=options)
        # Where rounding ends its line search early it says no success, at the minimum all the same.
        if room["fun"](result.x).min() > -1e-9:
            found.append(result.fun)
    return min(found)


@pytest.mark.parametrize("method", ["newton", "alternating"])
def test_a_bound_far_below_the_data_is_still_solved(method):
    """A large part that the bound leaves unexplained must not hide what is still to gain."""
    rng = np.random.default_rng(0)
    S, Q = rng.normal(size=(2, 8, 1))
    dense = it.gaussian_matrices(8, 60, rng)
    seen = it.Measurements.from_operators([dense], [dense.read(S, Q)])
    answers = [
        it.recover(seen, n_factors=1, bound=bound, method=method, rng=0) for bound in (0.1, 1e-4)
    ]
    for answer in answers:
        assert answer.converged
        assert "rounds" in answer.status
    # To first order in the bound the objective falls in proportion to it.
    nothing = 0.5 * np.sum(dense.read(S, Q) ** 2)
    falls = [nothing - answer.objective for answer in answers]
    assert falls[1] / 1e-4 == pytest.approx(falls[0] / 0.1, rel=0.1)


def test_a_bound_that_noise_alone_exceeds_is_not_refused():
    """True margins within 1, noise of 2, every pair read once: the program is meaningful."""
    rng = np.random.default_rng(0)
    S, Q = it.circular_factors(15)
    pairs = np.stack(np.triu_indices(15, 1), axis=1)
    y = (S @ Q.T - Q @ S.T)[pairs[:, 0], pairs[:, 1]] + 2.0 * rng.normal(size=len(pairs))
    answer = it.recover(it.Measurements.from_pairs([pairs], [y]), n_factors=1, bound=1.0, rng=0)
    assert np.abs(answer.margins).max() <= 1 + 1e-9
