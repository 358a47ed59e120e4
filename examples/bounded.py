"""The bound as a constraint of the program: when readings are few, it keeps margins in range."""

import numpy as np

import intransit as it

sim = it.simulate(
    n_items=16,
    n_factors=2,
    n_periods=1,
    n_outcomes=90,
    noise_scale=0.3,
    drift_scale=0.0,
    rng=6,
)
truth = sim.margins[-1]
bound = it.theory.largest_entry(truth)

print(f"largest true margin {bound:.2f}; {16 * 15 // 2} pairs, 90 noisy readings")
for limit in (None, bound):
    answer = it.recover(sim.measurements, n_factors=2, bound=limit, rng=0)
    error = np.linalg.norm(answer.margins - truth) / np.linalg.norm(truth)
    rank = np.linalg.matrix_rank(answer.margins, tol=1e-8)
    name = "free" if limit is None else "bounded"
    print(
        f"{name:8} relative error {error:.2f}, largest margin "
        f"{np.abs(answer.margins).max():.2f}, rank {rank}, objective {answer.objective:.3f}"
    )
