import numpy as np
import pytest
from scipy.optimize import minimize

from intransit import InputError, optimal_weights
from intransit.inference.recover import normalise


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


def covariance(counts, noise, drift, degrees):
    """The obvious C of ωᵀ C ω: noise of each period's mean, drift shared from max(s, t) on."""
    T = len(counts)
    C = np.zeros((T, T))
    for s in range(T):
        for t in range(T):
            C[s, t] = 2 * drift**2 * (T - 1 - max(s, t))
        C[s, s] += noise**2 * degrees / counts[s]
    return C


@pytest.mark.parametrize("seed", range(20))
def test_shared_weights_are_those_of_the_whole_covariance(seed):
    """Against C⁻¹1, which needs no clipping, and against a general optimiser over w ≥ 0."""
    rng = np.random.default_rng(seed)
    T, degrees = int(rng.integers(2, 8)), float(rng.integers(1, 80))
    counts = rng.integers(1, 2000, T)
    noise, drift = 10.0 ** rng.uniform(-2, 1, 2)
    C = covariance(counts, noise, drift, degrees)
    by_period = np.linalg.solve(C, np.ones(T))
    assert (by_period > -1e-9 * by_period.max()).all()
    by_period /= by_period.sum()
    weights = optimal_weights(
        T, noise_scale=noise, drift_scale=drift, drift="shared", n_outcomes=counts, degrees=degrees
    )
    np.testing.assert_allclose(weights, normalise(np.maximum(by_period, 0) / counts, T), atol=1e-7)
    least = minimize(
        lambda w: w @ C @ w / np.trace(C) * T,
        np.full(T, 1 / T),
        bounds=[(0, 1)] * T,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-15},
    ).x
    ours = weights * counts / np.sum(weights * counts)
    assert ours @ C @ ours <= (least @ C @ least) * (1 + 1e-6)


def test_many_old_readings_share_one_drift():
    """One pair, σ₁ = σ₂ = 1, M = (1000, 20): the error of the mean, by C and by simulation."""
    counts, rng = np.array([1000, 20]), np.random.default_rng(0)
    common = {"noise_scale": 1.0, "drift_scale": 1.0}
    found = {}
    for drift, settings in (("independent", {}), ("shared", {"n_outcomes": counts})):
        share = counts * optimal_weights(2, drift=drift, **settings, **common)
        share /= share.sum()
        # The margin moves by the steps of both items, then each period's mean has its noise.
        old = -rng.normal(size=(20_000, 2)).sum(axis=1)
        means = np.stack([old, np.zeros(20_000)]) + rng.normal(size=(2, 20_000)) / np.sqrt(
            counts[:, None]
        )
        exact = share @ covariance(counts, 1.0, 1.0, 1.0) @ share
        assert np.mean((share @ means) ** 2) == pytest.approx(exact, rel=0.05)
        found[drift] = exact
    assert found["independent"] == pytest.approx(1.78, abs=0.005)
    assert found["shared"] == pytest.approx(0.0488, abs=5e-4)


@pytest.mark.parametrize(
    ("noise", "drift", "counts", "expected"),
    [
        (0.1, 0.0, [5, 1, 9], [1 / 3, 1 / 3, 1 / 3]),
        (0.0, 0.0, 4, [1 / 3, 1 / 3, 1 / 3]),
        (0.1, np.inf, 4, [0, 0, 1]),
        (0.0, 1e-9, [9, 9, 1], [0, 0, 1]),
        (1.0, 1.0, [0, 0, 3], [1 / 3, 1 / 3, 1 / 3]),  # the first two weigh nothing that there is
    ],
)
def test_shared_weights_have_the_same_limits(noise, drift, counts, expected):
    weights = optimal_weights(
        3, noise_scale=noise, drift_scale=drift, drift="shared", n_outcomes=counts
    )
    np.testing.assert_allclose(weights, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"drift": "common"}, 'drift is \'common\'; it must be "independent" or "shared"'),
        ({"drift": "shared"}, "needs n_outcomes"),
        ({"drift": "shared", "n_outcomes": [1, 2, 3]}, r"shape \(3,\) was given for 2 periods"),
        ({"drift": "shared", "n_outcomes": [0, 0]}, "no period has a reading"),
        ({"drift": "shared", "n_outcomes": [-1, 2]}, "give numbers of at least 0"),
        ({"drift": "shared", "n_outcomes": 5, "bound": 1.0}, "leave it out"),
        ({"drift": "shared", "n_outcomes": 5, "degrees": 0}, "degrees is 0"),
        ({"n_outcomes": 5}, 'are for drift="shared"'),
    ],
)
def test_bad_settings_of_shared_drift_get_a_sentence(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        optimal_weights(2, noise_scale=1.0, drift_scale=1.0, **settings)
