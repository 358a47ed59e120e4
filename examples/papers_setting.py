"""The paper's first experiment in small: three choices of weights against the limit."""

import numpy as np

import intransit as it

T, NOISE, TRIALS = 5, 0.01, 10

print("mean of squared error / squared norm of the last matrix, ten trials")
print(f"{'drift':>8}{'last only':>14}{'equal':>14}{'optimal':>14}{'by size of Q':>14}{'limit':>14}")
for drift in (1e-4, 1e-2, 1e-1):
    # The paper's weights suppose rows of Q of length 1; here their mean square is r = 2.
    optimal, by_size = (
        it.optimal_weights(T, noise_scale=NOISE, drift_scale=scale)
        for scale in (drift, np.sqrt(2) * drift)
    )
    weights = [np.eye(T)[-1], np.ones(T), optimal, by_size]
    errors = []
    for seed in range(TRIALS):
        sim = it.simulate(
            n_items=20,
            n_factors=2,
            n_periods=T,
            n_outcomes=160,
            noise_scale=NOISE,
            drift_scale=drift,
            rng=seed,
        )
        truth, scales = sim.margins[-1], {"noise_scale": NOISE, "drift_scale": drift}
        answers = [it.recover(sim.measurements, n_factors=2, weights=w, rng=0) for w in weights]
        limit = it.theory.dynamic_limit(
            sim.strengths, sim.exposures, sim.measurements, prior_scale=1.0, **scales
        )
        found = [np.sum((a.margins - truth) ** 2) / np.sum(truth**2) for a in answers]
        errors.append([*found, limit.relative])
    print(f"{drift:8.4f}" + "".join(f"{error:14.1e}" for error in np.mean(errors, axis=0)))
