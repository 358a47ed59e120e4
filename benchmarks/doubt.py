"""How often restarts settle on a minimum that more starts would better, by noise.

One period, no drift; each answer against the best of 10 plain random starts.
"""

import time
import warnings

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.errors import ConvergenceWarning

TRIALS = 60
SETTINGS = (  # items, factors, readings, noise
    (20, 2, 160, 0.01),
    (20, 2, 160, 0.1),
    (20, 2, 160, 0.5),
    (20, 2, 160, 1.0),
    (12, 1, 80, 0.3),
    (40, 2, 1600, 1.0),
)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [row(*setting) for setting in SETTINGS]
    header = ["items", "factors", "readings", "noise", "more than 1 % above the best of 10"]
    print_table([*header, "starts, mean", "starts, most", "ms a recovery"], rows)


def row(n_items: int, n_factors: int, n_outcomes: int, noise: float) -> list[str]:
    worse, starts, seconds = 0, [], 0.0
    for seed in range(TRIALS):
        sim = it.simulate(
            n_items=n_items,
            n_factors=n_factors,
            n_periods=1,
            n_outcomes=n_outcomes,
            noise_scale=noise,
            drift_scale=0.0,
            rng=seed,
        )
        began = time.perf_counter()
        answer = it.recover(sim.measurements, n_factors=n_factors, rng=seed)
        seconds += time.perf_counter() - began
        plain = {"n_factors": n_factors, "start": "random", "restarts": 0}
        others = [it.recover(sim.measurements, rng=k, **plain) for k in range(10)]
        worse += answer.objective > 1.01 * min(other.objective for other in others)
        starts.append(len(answer.attempts))
    counts = [f"{value}" for value in (n_items, n_factors, n_outcomes, noise)]
    means = [f"{np.mean(starts):.1f}", f"{max(starts)}", f"{1e3 * seconds / TRIALS:.1f}"]
    return [*counts, f"{worse} of {TRIALS}", *means]


if __name__ == "__main__":
    main()
