"""The paper's setting, all times at once: the error of X^T against the limit, scales known or not.

N=20, r=2, T=5, σ₁=0.01, p=0.4; errors are ‖X̂ - X‖²/‖X‖² as in the paper.  The limit is that of
Cramér and Rao with the law of the drift and the scale of S^1 and Q.

python -m benchmarks.trajectories 20      the same with 20 trials
"""

import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

import intransit as it
from benchmarks._common import NOISE, paper_trial, print_table
from intransit.errors import ConvergenceWarning
from intransit.experiments.estimators import relative_error

TRIALS = 100
GUESSED = 15  # trials, from the first on, in which scales are estimated too: it takes longer
DRIFTS = (1e-4, 1e-3, 1e-2, 10**-1.5, 1e-1)
WORKERS = 2
FAILED = 10.0  # times the limit
Task = tuple[float, int]


@dataclass(frozen=True)
class Trial:
    """One simulated problem: errors against the limit, and what the answers said of themselves."""

    drift: float
    seed: int
    limit: float
    known: float  # error with the scales of the simulation
    guessed: float | None  # error with scales from the data, where they were asked for
    seconds: tuple[float, float]
    flagged: tuple[bool, bool]  # not converged, or doubtful
    scales: it.Scales | None


def main(trials: int = TRIALS) -> None:
    with ProcessPoolExecutor(WORKERS) as pool:
        list(pool.map(run, product((0.01,), range(WORKERS))))  # compile
        done: list[Trial] = []
        for drift in DRIFTS:
            began = time.perf_counter()
            done += pool.map(run, product((drift,), range(trials)))
            took = time.perf_counter() - began
            print(f"σ₂={drift:.4g}: {took:.0f} s", file=sys.stderr, flush=True)
    at_the_limit(done)
    failures(done)
    estimated(done)


def run(task: Task) -> Trial:
    """Fit one problem twice."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # what failed is counted, not announced
    drift, seed = task
    sim = paper_trial(seed, drift)
    limit = it.theory.dynamic_limit(
        sim.strengths,
        sim.exposures,
        sim.measurements,
        noise_scale=NOISE,
        drift_scale=drift,
        prior_scale=1.0,
    )
    errors, seconds, flagged = [], [], []
    for scales in ({"noise_scale": NOISE, "drift_scale": drift, "prior_scale": 1.0}, {}):
        if not scales and seed >= GUESSED:
            return Trial(
                drift, seed, limit.relative, *errors, None, tuple(seconds), tuple(flagged), None
            )
        began = time.perf_counter()
        path = it.smooth(sim.measurements, n_factors=2, rng=seed, **scales)
        seconds.append(time.perf_counter() - began)
        errors.append(relative_error(path.matrix(path.times[-1]), sim.margins[-1]))
        flagged.append(not path.converged or bool(path.doubts))
    return Trial(drift, seed, limit.relative, *errors, tuple(seconds), tuple(flagged), path.scales)


def at_the_limit(done: list[Trial]) -> None:
    print("Known scales: relative error of X^T over the limit, medians and means of")
    print(f"{len(done) // len(DRIFTS)} trials each (to hold: medians 1.2; means 1.3 up to")
    print("σ₂=0.01, 1.6 above):\n")
    rows = []
    for drift, trials in by_drift(done):
        known, limit = column(trials, "known"), column(trials, "limit")
        rows.append(
            [
                f"{drift:.4g}",
                f"{np.median(known):.2e}",
                f"{np.median(limit):.2e}",
                f"{np.median(known) / np.median(limit):.2f}",
                f"{np.mean(known):.2e}",
                f"{np.mean(limit):.2e}",
                f"{np.mean(known) / np.mean(limit):.2f}",
                f"{1e3 * np.mean([t.seconds[0] for t in trials]):.0f}",
            ]
        )
    print_table(
        ["σ₂", "median", "limit", "ratio", "mean", "limit", "ratio", "ms a fit"],
        rows,
    )


def failures(done: list[Trial]) -> None:
    print(f"Trials that failed (error above {FAILED:g} times the limit), how many of them said so")
    print("(not converged, or doubts), and how many said so without having failed:\n")
    rows, unseen = [], []
    for which, name in enumerate(("known", "guessed")):
        for drift, trials in by_drift(done, bool(which)):
            failed = column(trials, name) > FAILED * column(trials, "limit")
            said = np.array([trial.flagged[which] for trial in trials])
            rows.append(
                [
                    "known" if name == "known" else "from the data",
                    f"{drift:.4g}",
                    f"{failed.sum()} of {len(trials)}",
                    f"{(failed & said).sum()}",
                    f"{(said & ~failed).sum()}",
                ]
            )
            for trial in np.array(trials, dtype=object)[failed & ~said]:
                ratio = getattr(trial, name) / trial.limit
                unseen.append(f"{rows[-1][0]}, σ₂={drift:.4g}, seed {trial.seed}: {ratio:.0f} x")
    print_table(["scales", "σ₂", "failed", "of them said so", "others that said so"], rows)
    print(f"Failed without saying so: {'; '.join(unseen) or 'none'}.\n")


def estimated(done: list[Trial]) -> None:
    print(f"Scales from the data, the first {GUESSED} trials: errors over those with known scales")
    print("(to hold: 1.2), and what was")
    print("found (medians, with the middle 80 %):\n")
    rows = []
    for drift, trials in by_drift(done, guessed=True):
        known, guessed = column(trials, "known"), column(trials, "guessed")
        found = [
            np.quantile([getattr(trial.scales, name) for trial in trials], (0.5, 0.1, 0.9))
            for name in ("noise_scale", "drift_scale", "prior_scale")
        ]
        rows.append(
            [
                f"{drift:.4g}",
                f"{np.median(guessed) / np.median(known):.2f}",
                f"{np.mean(guessed) / np.mean(known):.2f}",
                f"{np.max(guessed / known):.1f}",
                *(f"{middle:.2g} ({low:.2g} to {high:.2g})" for middle, low, high in found),
                f"{1e3 * np.mean([t.seconds[1] for t in trials]):.0f}",
            ]
        )
    print_table(
        [
            "σ₂",
            "ratio of medians",
            "ratio of means",
            "worst trial",
            "noise_scale",
            "drift_scale",
            "prior_scale",
            "ms a fit",
        ],
        rows,
    )


def by_drift(done: list[Trial], guessed: bool = False) -> list[tuple[float, list[Trial]]]:
    return [
        (drift, [t for t in done if t.drift == drift and not (guessed and t.guessed is None)])
        for drift in DRIFTS
    ]


def column(trials: list[Trial], name: str) -> np.ndarray:
    return np.array([getattr(trial, name) for trial in trials])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
