import numpy as np
import pytest
from scipy.optimize import minimize

from intransit import InputError, optimal_weights
from intransit.core.weights import normalise


@pytest.mark.parametrize("bound", [None, 0.7])
def test_the_weights_minimise_the_papers_program(bound):
    """Against a general optimiser on Σ w² (2σ₂²(T-t) + σ₁² + a²) over the simplex."""
    T, noise, drift = 6, 0.3, 0.2
    age = np.arange(T)[::-1]
    cost = 2 * drift**2 * age + noise**2 + (bound or 0.0) ** 2
    found = minimize(
        lambda w: np.sum(w**2 * cost),
        np.full(T, 1 / T),
        bounds=[(0, 1)] * T,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-15},
    ).x
    weights = optimal_weights(T, noise_scale=noise, drift_scale=drift, bound=bound)
    np.testing.assert_allclose(weights, found, atol=1e-5)
    assert weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("noise", "drift", "bound", "expected"),
    [
        (0.1, 0.0, None, [1 / 3, 1 / 3, 1 / 3]),
        (0.0, 0.0, None, [1 / 3, 1 / 3, 1 / 3]),
        (0.1, np.inf, None, [0, 0, 1]),
        (0.0, 1e-9, None, [0, 0, 1]),
        (0.1, 1e8, 1.0, [0, 0, 1]),
    ],
)
def test_special_cases_are_limits(noise, drift, bound, expected):
    weights = optimal_weights(3, noise_scale=noise, drift_scale=drift, bound=bound)
    np.testing.assert_allclose(weights, expected, atol=1e-12)


def test_a_bound_flattens_the_weights():
    without = optimal_weights(5, noise_scale=0.1, drift_scale=0.1)
    bounded = optimal_weights(5, noise_scale=0.1, drift_scale=0.1, bound=1.0)
    assert bounded[0] > without[0]


def test_weights_of_any_size_are_normalised():
    np.testing.assert_allclose(normalise([2, 0, 6], 3), [0.25, 0, 0.75])
    np.testing.assert_allclose(normalise([1e300, 1e300], 2), [0.5, 0.5])
    np.testing.assert_allclose(normalise([1e-320, 1e-320], 2), [0.5, 0.5])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: optimal_weights(0, noise_scale=1, drift_scale=1), "n_periods is 0"),
        (lambda: optimal_weights(2, noise_scale=-1, drift_scale=1), "noise_scale is -1"),
        (lambda: optimal_weights(2, noise_scale=1, drift_scale=np.nan), "drift_scale is nan"),
        (lambda: optimal_weights(2, noise_scale=np.inf, drift_scale=1), "noise_scale is inf"),
        (lambda: optimal_weights(2, noise_scale=1, drift_scale=1, bound=0), "bound is 0"),
        (lambda: normalise([1, 2], 3), r"shape \(2,\) was given for 3 periods"),
        (lambda: normalise([1, -2], 2), "entry 1 is -2; a weight must be"),
        (lambda: normalise([1, np.nan], 2), "entry 1 is nan"),
        (lambda: normalise([0, 0], 2), "all are 0"),
        (lambda: normalise("optimal", 2), "weights: these are not numbers"),
        (lambda: optimal_weights(np.nan, noise_scale=1, drift_scale=1), "n_periods is nan"),
    ],
)
def test_bad_weights_get_a_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
