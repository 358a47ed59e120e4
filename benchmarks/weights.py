"""Weights: the paper's against those for drift that readings share, and how the bound grows.

The paper's setting (N=20, r=2, T=5, σ₁=0.01, p=0.4), then periods of unequal sizes, then more
items at the same ratio; errors are ‖X̂ - X‖²/‖X‖² where not said otherwise.
"""

import warnings
from dataclasses import replace

import numpy as np

import intransit as it
from benchmarks._common import NOISE, paper_trial, paper_weights, print_table
from intransit.arrays import FloatArray
from intransit.errors import ConvergenceWarning
from intransit.experiments.estimators import relative_error
from intransit.experiments.recovery_error import N_FACTORS, N_ITEMS
from intransit.experiments.sample_ratio import prefix

TRIALS = 40
DRIFTS = (1e-3, 1e-2, 10**-1.5, 1e-1)
SIZES = (20, 40, 80, 160)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"Median relative error over {TRIALS} trials of the paper's setting:\n")
    print_table(["σ₂", *choices(paper_trial(0, 0.01))], [medians(drift) for drift in DRIFTS])
    print("The same, where the last period has 80 readings and the others 160:\n")
    print_table(
        ["σ₂", *choices(paper_trial(0, 0.01))], [medians(drift, last=80) for drift in DRIFTS]
    )
    print("Squared error ‖X̂ - X‖² with optimal weights, and B₂ without its constant C₂, p = 0.4,")
    print("σ₁ = 0.01, σ₂ = 10⁻¹·⁵, a the largest margin; medians over 5 trials:\n")
    header = [
        "N",
        "squared error",
        "from drift alone",
        "B₂",
        "B₂ without a",
        "B₂ without a / error",
    ]
    print_table(header, [growth(n_items) for n_items in SIZES])


def choices(simulation: it.Simulation) -> dict[str, FloatArray]:
    seen, drift = simulation.measurements, simulation.drift_scale
    long = np.sqrt(N_FACTORS) * drift  # rows of Q have length √r
    return {
        **paper_weights(drift),
        "optimal for √r σ₂": paper_weights(long)["optimal"],
        "shared drift": it.optimal_weights(
            seen.n_periods,
            noise_scale=NOISE,
            drift_scale=long,
            drift="shared",
            n_outcomes=seen.n_outcomes,
            degrees=it.theory.degrees_of_freedom(N_ITEMS, N_FACTORS),
        ),
    }


def medians(drift: float, last: int | None = None) -> list[str]:
    found: dict[str, list[float]] = {}
    for seed in range(TRIALS):
        sim = paper_trial(seed, drift)
        if last is not None:
            few = prefix(sim.measurements, last).periods[-1]
            seen = it.Measurements((*sim.measurements.periods[:-1], few))
            sim = replace(sim, measurements=seen)
        for name, weights in choices(sim).items():
            answer = it.recover(sim.measurements, n_factors=2, weights=weights, rng=seed)
            error = relative_error(answer.margins, sim.margins[-1])
            found.setdefault(name, []).append(error)
    return [f"{drift:.4g}", *(f"{np.median(values):.2e}" for values in found.values())]


def growth(n_items: int) -> list[str]:
    errors, drifts, bounds, without = [], [], [], []
    drift = 10**-1.5
    for seed in range(5):
        sim = it.simulate(
            n_items=n_items,
            n_factors=2,
            n_periods=5,
            n_outcomes=round(0.4 * n_items**2),
            noise_scale=NOISE,
            drift_scale=drift,
            rng=seed,
        )
        weights = it.optimal_weights(5, noise_scale=NOISE, drift_scale=drift)
        answer = it.recover(sim.measurements, n_factors=2, weights=weights, rng=seed)
        truth = sim.margins[-1]
        errors.append(np.sum((answer.margins - truth) ** 2))
        drifts.append(np.sum((np.tensordot(weights, sim.margins, 1) - truth) ** 2))
        largest = it.theory.largest_entry(truth)
        for values, a in ((bounds, largest), (without, 0.0)):
            values.append(
                it.theory.error_bound(
                    n_items=n_items,
                    n_factors=2,
                    n_outcomes=round(0.4 * n_items**2),
                    weights=weights,
                    noise_scale=NOISE,
                    drift_scale=drift,
                    bound=a,
                ).noise
            )
    told = [np.median(values) for values in (errors, drifts, bounds, without)]
    ratio = np.median(without) / np.median(errors)
    return [str(n_items), *(f"{value:.3g}" for value in told), f"{ratio:.3g}"]


if __name__ == "__main__":
    main()
