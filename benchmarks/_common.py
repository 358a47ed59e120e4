"""What several benchmarks share: the paper's trial, its weights, and tables in Markdown."""

from collections.abc import Iterable

import numpy as np

import intransit as it
from intransit.arrays import FloatArray

N_ITEMS, N_FACTORS, N_PERIODS, NOISE = 20, 2, 5, 0.01


def paper_trial(seed: int, drift: float, ratio: float = 0.4) -> it.Simulation:
    """The paper's first experiment: N=20, r=2, T=5, σ₁=0.01, M = ratio N²."""
    return it.simulate(
        n_items=N_ITEMS,
        n_factors=N_FACTORS,
        n_periods=N_PERIODS,
        n_outcomes=round(ratio * N_ITEMS**2),
        noise_scale=NOISE,
        drift_scale=drift,
        rng=seed,
    )


def paper_weights(drift: float) -> dict[str, FloatArray]:
    """The three weights that the paper compares."""
    return {
        "y^T alone": np.eye(N_PERIODS)[-1],
        "equal": np.full(N_PERIODS, 1 / N_PERIODS),
        "optimal": it.optimal_weights(N_PERIODS, noise_scale=NOISE, drift_scale=drift),
    }


def relative_error(margins: FloatArray, truth: FloatArray) -> float:
    """‖X̂ - X‖² / ‖X‖², squared as in the paper."""
    return float(np.sum((margins - truth) ** 2) / np.sum(truth**2))


def print_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    header = list(header)
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)
