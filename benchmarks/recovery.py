"""The paper's setting: errors, both methods, restarts, and the cost of each.

N=20, r=2, T=5, σ₁=0.01, p=0.4, 100 trials; errors are ‖X̂ - X‖²/‖X‖² as in the paper.
"""

import time
import warnings

import numpy as np

import intransit as it
from benchmarks._common import paper_trial, paper_weights, print_table
from intransit.errors import ConvergenceWarning
from intransit.experiments.estimators import relative_error

TRIALS = 100
DRIFTS = (1e-4, 1e-3, 1e-2, 10**-1.5, 1e-1)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # failures are counted, not announced
    warm_up()
    errors()
    methods()
    restarts()


def warm_up() -> None:
    """Compile, so that no timing below pays for it."""
    for method in ("newton", "alternating"):
        it.recover(paper_trial(0, 0.01).measurements, n_factors=2, method=method)


def errors() -> None:
    print("Median relative error over 100 trials (newton, spectral start, restarts allowed).")
    print("The last weights know that rows of Q have length √r; limits are with and without the")
    print("scale of S^1 and Q:\n")
    rows = []
    for drift in DRIFTS:
        weights = {
            **paper_weights(drift),
            "optimal for √r σ₂": paper_weights(2**0.5 * drift)["optimal"],
        }
        found: dict[str, list[float]] = {name: [] for name in weights}
        limits: dict[float, list[float]] = {1.0: [], np.inf: []}
        for seed in range(TRIALS):
            sim = paper_trial(seed, drift)
            for name, w in weights.items():
                answer = it.recover(sim.measurements, n_factors=2, weights=w, rng=seed)
                found[name].append(relative_error(answer.margins, sim.margins[-1]))
            for prior, values in limits.items():
                limit = it.theory.dynamic_limit(
                    sim.strengths,
                    sim.exposures,
                    sim.measurements,
                    noise_scale=0.01,
                    drift_scale=drift,
                    prior_scale=prior,
                )
                values.append(limit.relative)
        columns = [*found.values(), *limits.values()]
        rows.append([f"{drift:.4g}", *(f"{np.median(values):.2e}" for values in columns)])
    names = [*paper_weights(0.1), "optimal for √r σ₂"]
    print_table(["σ₂", *names, "limit, prior_scale=1", "limit, no prior_scale"], rows)


def methods() -> None:
    print("Newton against alternating, same problems, same spectral start, no restarts.")
    print("Steps and milliseconds are means over the trials in which both reach one objective:\n")
    weights = ("y^T alone", "equal", "optimal")
    rows = [compare(drift, name) for drift in (1e-4, 1e-2, 1e-1) for name in weights]
    header = ["σ₂", "weights", "same objective to 1e-6", "steps", "ratio", "ms", "ratio"]
    print_table([*header, "below 1e-4: newton, alternating"], rows)


def compare(drift: float, name: str) -> list[str]:
    weights = paper_weights(drift)[name]
    steps, times, same, good = [], [], [], []
    for seed in range(TRIALS):
        sim = paper_trial(seed, drift)
        answers, seconds = [], []
        for method in ("newton", "alternating"):
            began = time.perf_counter()
            answers.append(
                it.recover(
                    sim.measurements, n_factors=2, weights=weights, method=method, restarts=0
                )
            )
            seconds.append(time.perf_counter() - began)
        same.append(abs(answers[0].objective / answers[1].objective - 1) < 1e-6)
        steps.append([a.n_steps for a in answers])
        times.append(seconds)
        good.append([relative_error(a.margins, sim.margins[-1]) < 1e-4 for a in answers])
    agree = np.array(same)
    mean_steps, mean_times = np.mean(np.array(steps)[agree], 0), np.mean(np.array(times)[agree], 0)
    return [
        f"{drift:.4g}",
        name,
        f"{agree.sum()} of {TRIALS}",
        f"{mean_steps[0]:.1f}, {mean_steps[1]:.1f}",
        f"{mean_steps[1] / mean_steps[0]:.1f}",
        f"{1e3 * mean_times[0]:.2f}, {1e3 * mean_times[1]:.2f}",
        f"{mean_times[1] / mean_times[0]:.1f}",
        ", ".join(f"{share:.0%}" for share in np.mean(good, axis=0)),
    ]


def restarts() -> None:
    print("y^T alone, with restarts, against the best of 20 random starts without:\n")
    rows = []
    for method in ("newton", "alternating"):
        worse, tried, good = 0, [], []
        for seed in range(TRIALS):
            sim = paper_trial(seed, 0.01)
            settings = {"n_factors": 2, "weights": [0, 0, 0, 0, 1]}
            answer = it.recover(sim.measurements, method=method, rng=seed, **settings)
            best = min(
                it.recover(
                    sim.measurements, start="random", restarts=0, rng=1000 + k, **settings
                ).objective
                for k in range(20)
            )
            worse += answer.objective > 1.01 * best
            tried.append(len(answer.attempts))
            good.append(relative_error(answer.margins, sim.margins[-1]) < 1e-4)
        rows.append(
            [
                method,
                f"{worse} of {TRIALS}",
                f"{np.mean(good):.0%}",
                f"{np.mean(np.array(tried) > 1):.0%}",
                f"{max(tried)}",
            ]
        )
    print_table(
        ["method", "more than 1 % above", "below 1e-4", "needed restarts", "most starts"], rows
    )


if __name__ == "__main__":
    main()
