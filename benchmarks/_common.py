"""What several benchmarks share: the paper's trial, simulated walks, seeds, tables in Markdown."""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import intransit as it
from intransit.arrays import FloatArray
from intransit.experiments import recovery_error
from intransit.experiments.estimators import three_weights

NOISE = recovery_error.NOISE_SCALE


def paper_trial(seed: int, drift: float) -> it.Simulation:
    """The paper's first experiment: N=20, r=2, T=5, σ₁=0.01, M = 0.4 N²."""
    return recovery_error.simulate(drift, recovery_error.N_OUTCOMES, np.random.default_rng(seed))


def paper_weights(drift: float) -> dict[str, FloatArray]:
    """The three weights that the paper compares."""
    found = three_weights(recovery_error.N_PERIODS, noise_scale=NOISE, drift_scale=drift)
    return dict(zip(("y^T alone", "equal", "optimal"), found.values(), strict=True))


def seeds_for(scale: float, kept: Sequence[int], building: Sequence[int]) -> Sequence[int]:
    """Return the seeds of the figure that is kept, or, below full scale, some to try things with.

    The kept ones are for `python -m benchmarks NAME` alone: nobody looks at them while building.
    """
    if scale >= 1.0:
        return kept
    return building[: max(round(scale * len(kept)), 1)]


def with_error(values: Iterable[float], *, times: float = 100.0, digits: int = 1) -> str:
    """Return a mean and its standard error, as text; by default in per cent."""
    array = times * np.array(list(values), dtype=float)
    if len(array) < 2:
        return f"{array.mean():.{digits}f}"
    return f"{array.mean():.{digits}f} ± {array.std(ddof=1) / np.sqrt(len(array)):.{digits}f}"


def bernoulli_kl(true: FloatArray, guess: FloatArray) -> float:
    """Return the mean Kullback-Leibler divergence of guessed chances from the true ones."""
    p, q = (np.clip(chances, 1e-9, 1.0 - 1e-9) for chances in (true, guess))
    return float(np.mean(p * np.log(p / q) + (1.0 - p) * np.log((1.0 - p) / (1.0 - q))))


def in_fresh_process(module: str, *words: object) -> dict[str, Any]:
    """Run a module with some words, and return the JSON of the last line that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"failed": f"exit code {done.returncode}"}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def peak_memory(*, reset: bool = False) -> float:
    """Return the most memory that the process held, in GB, since it began or was last reset."""
    status, forget = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not status.exists():
        return float("nan")
    if reset:
        forget.write_text("5")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024**2


def print_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    header = list(header)
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)
