"""The paper's setting, all times at once: smaller errors, intervals, and a forecast."""

import numpy as np

import intransit as it

NOISE = DRIFT = 0.01
sim = it.simulate(
    n_items=20,
    n_factors=2,
    n_periods=5,
    n_outcomes=160,
    noise_scale=NOISE,
    drift_scale=DRIFT,
    rng=0,
)
truth, off = sim.margins, ~np.eye(20, dtype=bool)
weights = it.optimal_weights(5, noise_scale=NOISE, drift_scale=DRIFT)
now = it.recover(sim.measurements, n_factors=2, weights=weights, rng=0)
path = it.smooth(sim.measurements, n_factors=2, rng=0)  # no scale is given: all are estimated

print(path)
for name in path.estimated:
    print(f"{name} {getattr(path.scales, name):.4f}")
for name, found in (("recover", now.margins), ("smooth", path.matrix(at=4.0))):
    error = np.sum((found - truth[-1]) ** 2) / np.sum(truth[-1] ** 2)
    print(f"{name:8} squared error of the last matrix / its squared norm: {error:.1e}")
low, high = path.interval(level=0.9)
inside = ((low <= truth) & (truth <= high))[:, off].mean()
print(f"90 % intervals hold {inside:.0%} of the true margins of all five periods")
for at in (4.0, 5.0, 8.0):
    a, b = path.interval(0, 1, at=at)
    print(f"item 0 over item 1 at time {at:g}: {a:.2f} to {b:.2f}")
