import numpy as np
import pytest

import intransit as it
from intransit.theory import dynamic_limit, static_limit


def trial(seed, drift, n_periods=3, n_items=10, n_factors=1, n_outcomes=60, noise=0.05):
    return it.simulate(
        n_items=n_items,
        n_factors=n_factors,
        n_periods=n_periods,
        n_outcomes=n_outcomes,
        noise_scale=noise,
        drift_scale=drift,
        rng=seed,
    )


def explicit_limit(sim, noise, drift, exposure_drift=0.0, prior=np.inf):
    """The slow twin: θ = all S^t and Q^t as they are, differences, one big pseudo-inverse."""
    T, n, r = sim.strengths.shape
    fixed = exposure_drift == 0.0
    n_q = 1 if fixed else T

    def split(theta):
        S = theta[: T * n * r].reshape(T, n, r)
        Q = theta[T * n * r :].reshape(n_q, n, r)
        return S, np.broadcast_to(Q, (T, n, r))

    def readings(theta):
        S, Q = split(theta)
        periods = sim.measurements.periods
        return np.concatenate([p.operator.read(S[t], Q[t]) for t, p in enumerate(periods)]) / noise

    def priors(theta):
        S, Q = split(theta)
        parts = [np.diff(S, axis=0).ravel() / drift] if T > 1 else []
        if not fixed:
            parts.append(np.diff(Q, axis=0).ravel() / exposure_drift)
        if np.isfinite(prior):
            parts += [S[0].ravel() / prior, Q[0].ravel() / prior]
        return np.concatenate(parts) if parts else np.zeros(0)

    def last(theta):
        S, Q = split(theta)
        return (S[-1] @ Q[-1].T - Q[-1] @ S[-1].T).ravel()

    theta = np.concatenate([sim.strengths.ravel(), sim.exposures[:n_q].ravel()])

    def jacobian(function):  # bilinear: central differences of length 1 are exact
        return np.stack(
            [(function(theta + e) - function(theta - e)) / 2 for e in np.eye(len(theta))], axis=1
        )

    J = np.concatenate([jacobian(readings), jacobian(priors)])
    # tr(G (JᵀJ)⁺ Gᵀ) through the pseudo-inverse of J itself, which squares nothing
    return np.sum((jacobian(last) @ np.linalg.pinv(J, rcond=1e-10)) ** 2)


@pytest.mark.parametrize("drift", [0.01, 0.3])
@pytest.mark.parametrize("prior", [np.inf, 1.0])
def test_the_dynamic_limit_agrees_with_one_big_pseudo_inverse(drift, prior):
    sim = trial(0, drift)
    limit = dynamic_limit(
        sim.strengths,
        sim.exposures,
        sim.measurements,
        noise_scale=0.05,
        drift_scale=drift,
        prior_scale=prior,
    )
    expected = explicit_limit(sim, 0.05, drift, prior=prior)
    assert limit.squared_error == pytest.approx(expected, rel=1e-6)
    assert limit.relative == pytest.approx(expected / np.sum(sim.margins[-1] ** 2), rel=1e-6)


def test_the_limit_with_both_factors_drifting():
    sim = it.simulate(
        n_items=8,
        n_factors=1,
        n_periods=3,
        n_outcomes=60,
        noise_scale=0.05,
        drift_scale=0.1,
        exposure_drift_scale=0.2,
        rng=0,
    )
    limit = dynamic_limit(
        sim.strengths,
        sim.exposures,
        sim.measurements,
        noise_scale=0.05,
        drift_scale=0.1,
        exposure_drift_scale=0.2,
    )
    expected = explicit_limit(sim, 0.05, 0.1, exposure_drift=0.2)
    assert limit.squared_error == pytest.approx(expected, rel=1e-6)


def test_the_static_limit_agrees_with_one_big_pseudo_inverse():
    sim = trial(1, 0.0, n_periods=1, n_outcomes=150)
    operator = sim.measurements.periods[0].operator
    limit = static_limit(sim.strengths[0], sim.exposures[0], operator, noise_scale=0.05)
    assert limit.squared_error == pytest.approx(explicit_limit(sim, 0.05, 1.0), rel=1e-6)


def test_without_drift_all_periods_count_as_one():
    sim = trial(2, 0.0, n_periods=4)
    pairs = np.concatenate([p.operator.pairs for p in sim.measurements.periods])
    merged = static_limit(
        sim.strengths[0], sim.exposures[0], it.Entries(pairs, 10), noise_scale=0.05
    )
    dynamic = dynamic_limit(
        sim.strengths, sim.exposures, sim.measurements, noise_scale=0.05, drift_scale=0.0
    )
    assert dynamic.squared_error == pytest.approx(merged.squared_error, rel=1e-8)


def test_with_fast_drift_and_a_known_past_the_static_limit_remains():
    """At huge drift old periods tell about Q only; the limit lies between static and nothing."""
    sim = trial(3, 5.0, n_periods=3, n_outcomes=120)
    common = {"noise_scale": 0.05}
    static = static_limit(
        sim.strengths[-1], sim.exposures[-1], sim.measurements.periods[-1].operator, **common
    )
    dynamic = dynamic_limit(
        sim.strengths, sim.exposures, sim.measurements, drift_scale=5.0, **common
    )
    assert dynamic.squared_error < static.squared_error


@pytest.mark.parametrize(
    ("noise", "drift", "prior"), [(0.01, 3e-6, np.inf), (0.05, 1e-7, 1.0), (0.05, 0.1, 1e-6)]
)
def test_scales_far_apart_do_not_spoil_the_limit(noise, drift, prior):
    """Against a pseudo-inverse whose unknowns are in units of their own scales."""
    sim = trial(0, drift)
    limit = dynamic_limit(
        sim.strengths,
        sim.exposures,
        sim.measurements,
        noise_scale=noise,
        drift_scale=drift,
        prior_scale=prior,
    )
    assert limit.squared_error == pytest.approx(whitened_limit(sim, noise, drift, prior), rel=1e-5)


def whitened_limit(sim, noise, drift, prior):
    """θ = (unit steps, S^T / scale, Q / scale): differences again, one pseudo-inverse."""
    T, n, r = sim.strengths.shape
    width = n * r
    scale = prior if np.isfinite(prior) else 1.0

    def split(theta):
        steps = drift * theta[: (T - 1) * width].reshape(T - 1, n, r)
        last, Q = scale * theta[(T - 1) * width :].reshape(2, n, r)
        later = np.concatenate([np.cumsum(steps[::-1], axis=0)[::-1], np.zeros((1, n, r))])
        return last - later, Q

    def rows(theta):
        S, Q = split(theta)
        periods = sim.measurements.periods
        parts = [p.operator.read(S[t], Q) / noise for t, p in enumerate(periods)]
        parts.append(theta[: (T - 1) * width])
        if np.isfinite(prior):
            parts += [S[0].ravel() / prior, Q.ravel() / prior]
        return np.concatenate(parts)

    def last(theta):
        S, Q = split(theta)
        return (S[-1] @ Q.T - Q @ S[-1].T).ravel()

    steps = np.diff(sim.strengths, axis=0).ravel() / drift
    now = np.concatenate([sim.strengths[-1].ravel(), sim.exposures[0].ravel()]) / scale
    here = np.concatenate([steps, now])

    def jacobian(function):
        return np.stack(
            [(function(here + e) - function(here - e)) / 2 for e in np.eye(len(here))], axis=1
        )

    return np.sum((jacobian(last) @ np.linalg.pinv(jacobian(rows), rcond=1e-11)) ** 2)


def test_margins_that_nothing_settles_make_the_limit_infinite():
    pairs = np.array([[0, 1], [1, 2], [2, 0]])
    S, Q = np.random.default_rng(0).normal(size=(2, 5, 1))
    limit = static_limit(S, Q, it.Entries(pairs, 5), noise_scale=0.1)
    assert limit.squared_error == np.inf
    assert limit.n_open == 4  # seven degrees of freedom, three readings


def test_no_estimator_beats_the_limit_and_ours_reaches_it():
    """Equal weights without drift: the mean over 60 trials is within 25 % of the limit.

    Each trial's error has about 17 degrees of freedom, so the mean of 60 ratios has a relative
    standard error of about 4 %; the window is six of them, and the seeds are fixed.
    """
    ratios = []
    for seed in range(60):
        sim = trial(seed, 0.0, n_periods=2, n_outcomes=90)
        answer = it.recover(sim.measurements, n_factors=1)
        error = np.sum((answer.margins - sim.margins[-1]) ** 2)
        limit = dynamic_limit(
            sim.strengths, sim.exposures, sim.measurements, noise_scale=0.05, drift_scale=0.0
        )
        ratios.append(error / limit.squared_error)
    assert 0.75 < np.mean(ratios) < 1.25


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"noise_scale": 0.0}, "noise_scale is 0.0"),
        ({"drift_scale": -1.0}, "drift_scale is -1.0"),
        ({"prior_scale": 0.0}, "prior_scale is 0.0"),
    ],
)
def test_bad_scales_get_a_sentence(change, sentence):
    sim = trial(0, 0.1)
    settings = {"noise_scale": 0.1, "drift_scale": 0.1, **change}
    with pytest.raises(it.InputError, match=sentence):
        dynamic_limit(sim.strengths, sim.exposures, sim.measurements, **settings)


def test_bad_shapes_get_a_sentence():
    sim = trial(0, 0.1)
    with pytest.raises(it.InputError, match="do not fit 3 periods of 10 items"):
        dynamic_limit(
            sim.strengths[:2], sim.exposures[:2], sim.measurements, noise_scale=1, drift_scale=1
        )
    operator = sim.measurements.periods[0].operator
    with pytest.raises(it.InputError, match=r"exposures of shape \(1, 10, 2\) do not fit"):
        static_limit(np.ones((10, 1)), np.ones((10, 2)), operator, noise_scale=1.0)
    spoilt = sim.exposures[0].copy()
    spoilt[3] = np.nan
    with pytest.raises(it.InputError, match="exposures: entry 0, 3, 0 is nan"):
        static_limit(sim.strengths[0], spoilt, operator, noise_scale=1.0)
    S = np.ones((7000, 1))
    with pytest.raises(it.InputError, match="too large to invert"):
        static_limit(S, S, it.Entries(np.array([[0, 1]]), 7000), noise_scale=1.0)
