"""How time and memory grow, from 10⁴ to 10⁸ comparisons, and how near the loop is to the memory.

Wins and losses between random pairs over the 52 weeks of a year, S drifting, scales given; 10⁸ are
of 10⁶ items, so that each has 200.  Each line is a process of its own; seconds are those of its
processor, so that others on the machine count less.  Of the system's seconds nearly all go to
handing out fresh memory, which small tables find in the process: they are told apart.

Runs of 10⁶ and more are left out, with a sentence, where the run before foretells too much time
or memory.

    python -m benchmarks.growth 5          up to 10⁵ comparisons
    python -m benchmarks.growth 8 scores   one model only
"""

import multiprocessing
import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import FloatArray
from intransit.data.cells import collapse_rows
from intransit.inference.cell_kernels import push_pull_cells
from intransit.inference.joint_problem import Columns, assemble
from intransit.inference.likelihood import Law
from intransit.inference.newton import known_width
from intransit.kernels import compiled

LARGEST = {"scores": 8, "r=1": 6, "r=4": 6}  # powers of ten
LONGEST = 900  # seconds of a fit, as foretold by the one before
A_ITEM = 100  # comparisons for each item; it is in twice as many
SPAN = 52  # units of time
DRIFT = 0.07
CHUNK = 10**6
KINDS = {"scores": 0, "r=1": 1, "r=4": 4}


@dataclass(frozen=True)
class Run:
    """What one size took."""

    n: int
    n_items: int
    n_states: int
    build: float  # seconds
    fit: float
    system: float  # of both, the system's part
    n_steps: int
    n_products: int
    start: float  # MB, before anything of ours was built
    peak: float  # MB
    likeness: float  # correlation of margins found and true, over the comparisons


def main(largest: int = 8, only: str = "") -> None:
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for kind in [only] if only else KINDS:
            growth(pool, kind, min(largest, LARGEST[kind]))
        if not only:
            kernel(pool)


def growth(pool: "multiprocessing.pool.Pool", kind: str, largest: int) -> None:
    runs: list[Run] = []
    for power in range(4, largest + 1):
        reason = too_much(runs, 10**power)
        if reason:
            print(f"{kind}: 10^{power} comparisons left out, as {reason}.\n", flush=True)
            break
        began = time.perf_counter()
        runs.append(pool.apply(measure, (kind, 10**power)))
        took = time.perf_counter() - began
        print(f"{kind}, 10^{power}: {took:.0f} s in all", file=sys.stderr, flush=True)
    print(f"{kind.capitalize() if kind == 'scores' else 'Factors only, ' + kind}, logistic:\n")
    rows = [
        [
            f"{run.n:,}",
            f"{run.n_items:,}",
            f"{run.n_states:,}",
            f"{run.build:.3f}",
            f"{run.fit:.3f}",
            f"{run.system:.3f}",
            f"{1e6 * (run.build + run.fit) / run.n:.2f}",
            f"{run.n_steps}",
            f"{run.n_products}",
            f"{run.start:.0f}",
            f"{run.peak:.0f}",
            f"{1e6 * (run.peak - run.start) / run.n:.0f}",
            f"{run.likeness:.3f}",
        ]
        for run in runs
    ]
    print_table(
        [
            "comparisons",
            "items",
            "states",
            "build, s",
            "fit, s",
            "of both, the system, s",
            "µs each",
            "steps",
            "products",
            "MB before",
            "peak MB",
            "bytes each",
            "correlation with truth",
        ],
        rows,
    )
    if len(runs) > 1:
        sizes = [run.n for run in runs]
        large = [run for run in runs if run.n >= 10**6]
        shown = {
            "time": slope(sizes, [run.build + run.fit for run in runs]),
            "time from 10⁶": slope(
                [run.n for run in large], [run.build + run.fit for run in large]
            ),
            "the same without the system's": slope(
                [run.n for run in large], [run.build + run.fit - run.system for run in large]
            ),
            "time a product": slope(sizes, [run.fit / max(run.n_products, 1) for run in runs]),
            "memory above the start, from 10⁵": slope(
                sizes[1:], [run.peak - run.start for run in runs[1:]]
            ),
        }
        told = ", ".join(f"{name} {value:.2f}" for name, value in shown.items())
        print(f"Slopes in log-log (to hold: 0.9 to 1.1): {told}.\n", flush=True)


def too_much(runs: list[Run], n: int) -> str:
    """Return why a run is left out: the one before says that it would take too much; or nothing."""
    if not runs or n < 10**6:
        return ""
    last, more = runs[-1], n / runs[-1].n
    needed, free = last.start + more * (last.peak - last.start), available()
    if needed > 0.8 * free:
        return f"they would take {needed / 1e3:.0f} GB of the {free / 1e3:.0f} GB that are free"
    if more * last.fit > LONGEST:
        return f"they would take {more * last.fit:.0f} s, more than {LONGEST} s"
    return ""


def available() -> float:
    """Return the megabytes of memory that are free, as far as the system tells."""
    told = Path("/proc/meminfo")
    if told.exists():
        for line in told.read_text().splitlines():
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) / 1024
    return float("inf")


def slope(sizes: list[int], values: list[float]) -> float:
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def settings(n_factors: int) -> dict[str, object]:
    """Return a model whose margins have scale 1.5 at first, whatever its number of factors."""
    prior = 1.0 if n_factors == 0 else 1.5**0.5 * (2 * n_factors) ** -0.25
    return {
        "n_factors": n_factors,
        "loss": "logistic",
        "drift_scale": DRIFT,
        "prior_scale": prior,
        "rng": 0,
    }


def simulate(n: int, n_factors: int, seed: int = 0) -> tuple[FloatArray, ...]:
    """Return first, second, wins, times, and true margins of the first chunk."""
    rng = np.random.default_rng(seed)
    n_items, r = max(n // A_ITEM, 2), max(n_factors, 1)
    prior = float(settings(n_factors)["prior_scale"])  # type: ignore[arg-type]
    S = np.empty((n_items, SPAN, r))
    S[:, 0] = prior * rng.standard_normal((n_items, r))
    for t in range(1, SPAN):
        S[:, t] = S[:, t - 1] + DRIFT * rng.standard_normal((n_items, r))
    Q = prior * rng.standard_normal((n_items, r)) if n_factors else np.ones((n_items, 1))
    first, second = np.empty(n, np.int64), np.empty(n, np.int64)
    wins, times, margins = np.empty(n), np.empty(n), np.empty(min(n, CHUNK))
    for begin in range(0, n, CHUNK):
        here = slice(begin, min(begin + CHUNK, n))
        size = here.stop - begin
        i = rng.integers(0, n_items, size)
        j = (i + rng.integers(1, n_items, size)) % n_items
        t = rng.integers(0, SPAN, size)
        x = np.sum(S[i, t] * Q[j] - Q[i] * S[j, t], axis=1)
        first[here], second[here], times[here] = i, j, t
        if begin == 0:
            margins[:] = x
        wins[here] = rng.random(size) < 1.0 / (1.0 + np.exp(-x))
    return first, second, wins, times, margins


def measure(kind: str, n: int) -> Run:
    """Fit n comparisons in this process."""
    n_factors = KINDS[kind]
    for size in (2_000, 20_000, 10**5):  # compile: the dense way, the other, and that of large ones
        small = simulate(size, n_factors)
        it.smooth(it.Timeline.from_arrays(*small[:4]), **settings(n_factors))
    *table, truth = simulate(n, n_factors)
    some = [column[:CHUNK].copy() for column in table]
    start, system = memory("VmRSS"), os.times().system
    began = time.process_time()
    games = it.Timeline.from_arrays(*table)
    table.clear()  # the timeline is all that is needed
    build = time.process_time() - began
    began = time.process_time()
    path = it.smooth(games, **settings(n_factors))
    fit, system = time.process_time() - began, os.times().system - system
    peak = memory("VmHWM")
    found = path.margin(some[0], some[1], some[3])
    likeness = float(np.corrcoef(found, truth)[0, 1])
    states, products = path.problem.strengths.shape[0], path.solution.n_products
    return Run(
        n,
        path.n_items,
        states,
        build,
        fit,
        system,
        path.solution.n_steps,
        products,
        start,
        peak,
        likeness,
    )


def memory(line: str) -> float:
    """Return the megabytes that the process holds (VmRSS), or has held at most (VmHWM).

    Where the system does not tell, the peak; that one is no lower than a parent's own.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for told in status.read_text().splitlines():
            if told.startswith(line):
                return int(told.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def kernel(pool: "multiprocessing.pool.Pool") -> None:
    print("The product kernel, `push_pull_cells`, one thread, best of five.  Touched: every number")
    print("that it reads or writes; once: each array counted once, as if caches were endless:\n")
    rows = [
        row for kind in KINDS for n in (10**5, 10**6) for row in [pool.apply(one_kernel, (kind, n))]
    ]
    header = ["model", "cells", "ms", "million cells/s", "touched, GB/s", "once, GB/s"]
    print_table([*header, "triad, GB/s"], rows)


def one_kernel(kind: str, n: int) -> list[str]:
    """Time the loop of a whole problem, without fitting it."""
    n_factors = KINDS[kind]
    table = it.Timeline.from_arrays(*simulate(n, n_factors)[:4])
    columns = Columns.plain(table.n_items, n_factors, scores=n_factors == 0)
    scales = it.Scales(1.0, DRIFT, 1.0, score_drift_scale=DRIFT)
    cells = collapse_rows(table.rows, table.n_items, shares=True)
    problem, _ = assemble(cells, columns, scales, Law("logistic"))
    rng = np.random.default_rng(0)
    arrays = [
        rng.standard_normal(side.shape) for side in (problem.strengths, problem.exposures) * 2
    ]
    S, Q, dS, dQ = arrays
    S, Q = problem.carry(S, Q)
    out_S, out_Q, curvature = np.zeros_like(S), np.zeros_like(Q), np.ones(len(cells))
    both, width = problem.moves_exposures, known_width(S.shape[1])
    at = problem.at
    twist = curvature if both else np.empty(0)
    seconds = np.inf
    for _ in range(6):  # the first compiles
        began = time.process_time()
        push_pull_cells(S, Q, at, curvature, twist, dS, dQ, both, width, out_S, out_Q)
        seconds = min(seconds, time.process_time() - began)
    r, m = S.shape[1], len(cells)
    a_cell = at.itemsize * at.shape[1] + (16 if both else 8) + 8 * r * (16 if both else 8)
    held = [at, curvature, Q, dS, out_S, out_S]
    held += [twist, S, dQ, out_Q, out_Q] if both else []
    once = sum(array.nbytes for array in held)
    return [
        kind,
        f"{m:,}",
        f"{1e3 * seconds:.1f}",
        f"{m / seconds / 1e6:.0f}",
        f"{a_cell * m / seconds / 1e9:.1f}",
        f"{once / seconds / 1e9:.1f}",
        f"{triad():.1f}",
    ]


@compiled
def add_scaled(a: FloatArray, b: FloatArray, c: FloatArray) -> None:
    """Write a = b + 3 c."""
    for k in range(a.shape[0]):
        a[k] = b[k] + 3.0 * c[k]


def triad(n: int = 20_000_000) -> float:
    """Return the gigabytes a second that three long arrays move at, best of five."""
    a, b, c = np.zeros(n), np.ones(n), np.ones(n)
    seconds = np.inf
    for _ in range(6):  # the first compiles
        began = time.process_time()
        add_scaled(a, b, c)
        seconds = min(seconds, time.process_time() - began)
    return 3 * 8 * n / seconds / 1e9


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
