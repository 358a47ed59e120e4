"""The 2,700 solves behind the paper's first figure: 9 values of σ₂, 3 weights, 100 trials."""

import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

import intransit as it
from benchmarks._common import paper_trial, paper_weights, print_table
from intransit.errors import ConvergenceWarning

DRIFTS = 10.0 ** np.linspace(-4, 0, 9)
TRIALS = 100
WORKERS = 2


def solve_all(task: tuple[str, int]) -> int:
    method, seed = task
    warnings.simplefilter("ignore", ConvergenceWarning)
    solves = 0
    for drift in DRIFTS:
        sim = paper_trial(seed, drift)
        for weights in paper_weights(drift).values():
            it.recover(sim.measurements, n_factors=2, weights=weights, method=method, rng=seed)
            solves += 1
    return solves


def main() -> None:
    print(f"Wall time on {WORKERS} processes, restarts as they come, compiled before:\n")
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        list(pool.map(solve_all, product(("newton", "alternating"), range(WORKERS))))
        for method in ("newton", "alternating"):
            began = time.perf_counter()
            solves = sum(pool.map(solve_all, product((method,), range(TRIALS))))
            seconds = time.perf_counter() - began
            rows.append([method, f"{solves:,}", f"{seconds:.1f}", f"{1e3 * seconds / solves:.2f}"])
    print_table(["method", "solves", "seconds", "ms a solve"], rows)


if __name__ == "__main__":
    main()
