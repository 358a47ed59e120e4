"""Time and memory of counting and listing cycles in large margins matrices.

Run ``python benchmarks/study_cycles.py``.  Each line is measured in a process of its own, after a
small call that compiles the loops; memory is the rise of the peak above what the margins hold.
Ratios compare lines of the same run.  A complete matrix is counted by its closed form, one with
missing pairs on bits.
"""

import multiprocessing
import resource
import sys
import time
from math import comb

import numpy as np

from intransit.arrays import FloatArray
from intransit.study import count_triangles, strongest_cycles

BYTES_A_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
N_ROWS = 500


def random_margins(n_items: int, p_missing: float, p_ranked: float = 0.0) -> FloatArray:
    """Return normal margins with some pairs missing and some order among the items."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=n_items)
    margins = np.zeros((n_items, n_items))
    for i in range(n_items):  # a row at a time, to leave the peak of memory where it is
        n_after = n_items - i - 1
        row = p_ranked * (scores[i] - scores[i + 1 :])
        row += (1.0 - p_ranked) * rng.normal(size=n_after)
        row[rng.random(n_after) < p_missing] = np.nan
        margins[i, i + 1 :], margins[i + 1 :, i] = row, -row
    return margins


def count_by_products(margins: FloatArray) -> int:
    """Return the number of 3-cycles by matrix products in blocks of rows: the peer."""
    beats = (margins > 0).astype(np.float32)  # sums stay below 2**24, hence exact
    total = 0
    for top in range(0, len(beats), N_ROWS):
        rows = slice(top, top + N_ROWS)
        total += int(np.vdot(beats[rows] @ beats, beats[:, rows].T.astype(np.float64)))
    return total // 3


def strongest_twenty(margins: FloatArray) -> int:
    return len(strongest_cycles(margins, 20))


CALLS = {
    "count": count_triangles,
    "products": count_by_products,
    "strongest 20": strongest_twenty,
}


def measure(name: str, *shape: float) -> tuple[float, float, int]:
    """Return seconds, megabytes and the answer of one call in this process."""
    CALLS[name](random_margins(70, 0.3))
    margins = random_margins(int(shape[0]), *shape[1:])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    answer = CALLS[name](margins)
    seconds = time.perf_counter() - start
    rise = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return seconds, rise * BYTES_A_UNIT / 1e6, answer


def main() -> None:
    cases = [
        (name, n_items, p_missing)
        for n_items in (1000, 2000, 5000)
        for p_missing in (0.0, 0.3)
        for name in ("count", "products")
    ]
    cases += [("strongest 20", 5000, 0.0), ("strongest 20", 5000, 0.3)]
    cases += [("strongest 20", 5000, 0.0, 0.9)]
    print(f"{'question':14}{'items':>6}{'missing':>9}{'ranked':>8}{'seconds':>9}{'MB':>7}  answer")
    seconds = {}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for case in cases:
            seconds[case], megabytes, answer = pool.apply(measure, case)
            name, n_items, p_missing, *ranked = case
            print(
                f"{name:14}{n_items:6}{p_missing:9.0%}{sum(ranked):8.0%}"
                f"{seconds[case]:9.3f}{megabytes:7.0f}  {answer}"
            )
    for p_missing in (0.0, 0.3):
        ours, products = (seconds[name, 5000, p_missing] for name in ("count", "products"))
        print(
            f"5000 items, {p_missing:.0%} missing: {products / ours:.1f} times as quick as products"
        )
    print(f"5000 items: {comb(5000, 3):.3g} triples, none of them ever held")


if __name__ == "__main__":
    main()
