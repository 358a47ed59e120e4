"""Plain scores, Q = 1: drifting counts compared in pairs, and what stays free."""

import numpy as np

import intransit as it

N, T = 8, 5
scores, ones = np.array([[31.0, 25, 22, 20, 14, 12, 9, 3]]).T, np.ones((N, 1))
sim = it.simulate(
    strengths=scores,
    exposures=ones,
    n_periods=T,
    n_outcomes=25,
    noise_scale=1.0,
    drift_scale=0.5,
    rng=0,
)
weights = it.optimal_weights(T, noise_scale=1.0, drift_scale=0.5)
answer = it.recover(sim.measurements, n_factors=1, exposures=ones, weights=weights)
truth = sim.strengths[-1, :, 0]

print(answer.status)
print(answer.freedom)
print("true scores, mean removed:", (truth - truth.mean()).round(1))
print("recovered scores:         ", answer.strengths[:, 0].round(1))
print("cycles of three in the answer:", it.study.count_triangles(answer.margins))
