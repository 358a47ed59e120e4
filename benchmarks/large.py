"""Large problems: accuracy, time, memory, and how time grows with the number of pairs."""

import resource
import time

import numpy as np

import intransit as it
from benchmarks._common import print_table


def main() -> None:
    small = simulate(200, 2, 10_000)
    for method in ("newton", "alternating"):
        it.recover(small.measurements, n_factors=2, method=method)  # compile
    two_thousand()
    growth("Items grow with the pairs (50 pairs an item), r=2", lambda n: n // 50)
    growth("Items fixed at 2,000, r=2, pairs repeat more and more", lambda _: 2_000, first=10**5)


def simulate(n_items: int, n_factors: int, n_outcomes: int) -> it.Simulation:
    return it.simulate(
        n_items=n_items,
        n_factors=n_factors,
        n_periods=1,
        n_outcomes=n_outcomes,
        noise_scale=0.0,
        drift_scale=0.0,
        ensemble=it.uniform_pairs,
        rng=0,
    )


def two_thousand() -> None:
    print("N=2,000, r=4, 400,000 sampled pairs, no noise; error is ‖X̂ - X‖/‖X‖:\n")
    sim = simulate(2_000, 4, 400_000)
    rows = []
    for method in ("newton", "alternating"):
        began = time.perf_counter()
        answer = it.recover(sim.measurements, n_factors=4, method=method)
        seconds = time.perf_counter() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found = f"{error(answer, sim):.1e}"
        rows.append([method, f"{seconds:.2f}", f"{answer.n_steps}", found, f"{memory:.0f}"])
    print_table(["method", "seconds", "steps", "relative error", "peak MB of the process"], rows)


def growth(title: str, items_of: object, first: int = 10**4) -> None:
    print(f"{title}; newton, no noise, no restarts:\n")
    rows, points = [], []
    n_outcomes = first
    while n_outcomes <= 10**7:
        n_items = items_of(n_outcomes)  # type: ignore[operator]
        sim = simulate(n_items, 2, n_outcomes)
        began = time.perf_counter()
        answer = it.recover(sim.measurements, n_factors=2, restarts=0)
        seconds = time.perf_counter() - began
        points.append((n_outcomes, seconds))
        rows.append(
            [
                f"{n_outcomes:,}",
                f"{n_items:,}",
                f"{seconds:.3f}",
                f"{1e6 * seconds / n_outcomes:.2f}",
                f"{answer.n_steps}",
                f"{error(answer, sim):.1e}",
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}",
            ]
        )
        n_outcomes *= 10
    print_table(
        ["readings", "items", "seconds", "µs a reading", "steps", "relative error", "peak MB"],
        rows,
    )
    x, y = np.log(np.array(points)).T
    print(f"Slope of log time over log readings: {np.polyfit(x, y, 1)[0]:.2f}\n")


def error(answer: it.Recovery, sim: it.Simulation) -> float:
    """Relative error on 100,000 random pairs, without N x N arrays."""
    n_items = len(answer.strengths)
    i, j = np.random.default_rng(1).integers(0, n_items, (2, 100_000))
    S, Q = sim.strengths[-1], sim.exposures[-1]
    truth = np.sum(S[i] * Q[j] - Q[i] * S[j], axis=1)
    return float(np.linalg.norm(answer.margin(i, j) - truth) / np.linalg.norm(truth))


if __name__ == "__main__":
    main()
