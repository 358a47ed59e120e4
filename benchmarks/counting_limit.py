"""How few pairs suffice: N=100, r=2, no noise, distinct pairs = ratio x degrees of freedom.

A trial is possible when the readings' Jacobian at the truth has full rank, so that no other matrix
nearby reads the same; an item with fewer than 2r = 4 opponents already makes it impossible.
"""

import time
import warnings

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.errors import ConvergenceWarning

N_ITEMS, N_FACTORS, SEEDS = 100, 2, 20


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("Recovered to ‖X̂ - X‖/‖X‖ < 1e-10, of 20 seeds:\n")
    rows = []
    for ratio in (2.0, 1.5, 1.4, 1.3, 1.2, 1.1):
        outcomes = [trial(ratio, seed) for seed in range(SEEDS)]
        possible = sum(o["possible"] for o in outcomes)
        rows.append(
            [
                f"{ratio}",
                f"{possible}",
                f"{sum(o['plain'] for o in outcomes)}",
                f"{sum(o['newton'] for o in outcomes)}",
                f"{sum(o['alternating'] for o in outcomes)}",
                f"{np.mean([o['seconds'] for o in outcomes]):.2f}",
            ]
        )
    header = ["ratio", "possible", "newton, spectral start alone", "newton, restarts"]
    print_table([*header, "alternating, restarts", "s a trial, newton with restarts"], rows)


def trial(ratio: float, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    S, Q = rng.normal(size=(2, N_ITEMS, N_FACTORS))
    X = S @ Q.T - Q @ S.T
    every = np.stack(np.triu_indices(N_ITEMS, 1), axis=1)
    freedom = it.theory.degrees_of_freedom(N_ITEMS, N_FACTORS)
    pairs = every[rng.choice(len(every), round(ratio * freedom), replace=False)]
    seen = it.Measurements.from_pairs([pairs], [X[pairs[:, 0], pairs[:, 1]]], n_items=N_ITEMS)
    limit = it.theory.static_limit(S, Q, seen.periods[0].operator, noise_scale=1.0)

    def recovered(**settings: object) -> bool:
        answer = it.recover(seen, n_factors=N_FACTORS, rng=seed, **settings)
        return bool(np.linalg.norm(answer.margins - X) < 1e-10 * np.linalg.norm(X))

    began = time.perf_counter()
    newton = recovered()
    seconds = time.perf_counter() - began
    return {
        "possible": np.isfinite(limit.squared_error),
        "plain": recovered(restarts=0),
        "newton": newton,
        "alternating": recovered(method="alternating", restarts=1, max_steps=1_000),
        "seconds": seconds,
    }


if __name__ == "__main__":
    main()
