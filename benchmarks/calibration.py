"""Simulation-based calibration of the sampler at length: the truth as one more draw.

Hundreds of small worlds of every kind: all terms or some, every law, walks that stand still, drift
or return to the mean.  Everything is drawn from its prior, outcomes from the law, and the rank of
the truth among nine thinned draws of the posterior must be uniform (Talts et al., 2018).  For each
quantity a chi-squared test over five bins; the smallest p value of a kind is shown beside the one
that chance allows with one false alarm in a hundred runs of this benchmark.  A chain has 100 sweeps
before its first draw and 20 between two; for readings of margins, where it mixes slowly, five times
as many.

    python -m benchmarks.calibration 0.1        a tenth of the worlds, on the seeds for building
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from benchmarks._common import print_table, seeds_for
from tests.inference.worlds import N_DRAWS, WORLDS, rank_truth, uniformity

KEPT, BUILDING = range(50_300, 50_500), range(1_000, 1_200)
WORKERS = 2
PATIENCE = {"readings": 5}  # times the sweeps of the test: precise readings mix slowly
FALSE_ALARM = 0.01  # of all quantities of all kinds together


def main(scale: float = 1.0) -> None:
    seeds, rows, off = seeds_for(scale, KEPT, BUILDING), [], []
    found = {}
    with ProcessPoolExecutor(WORKERS) as pool:
        for name in WORLDS:
            found[name] = list(
                pool.map(
                    partial(rank_truth, name, patience=PATIENCE.get(name, 1)),
                    seeds,
                    chunksize=5,
                )
            )
            print(name, file=sys.stderr, flush=True)
    n_tests = sum(len(ranks[0]) for ranks in found.values())
    for name, ranks in found.items():
        tested = {key: uniformity([below[key] for below in ranks]) for key in ranks[0]}
        worst = min(tested, key=lambda key: tested[key][1])
        often, p_value = tested[worst]
        middle = [np.mean([below[key] for below in ranks]) / N_DRAWS for key in ranks[0]]
        off += [f"{name}: {key}" for key in tested if tested[key][1] < FALSE_ALARM / n_tests]
        shown = " ".join(map(str, often))
        span = f"{min(middle):.2f} to {max(middle):.2f}"
        rows.append([name, f"{len(tested)}", worst, shown, f"{p_value:.2g}", span])
    print(
        f"{len(seeds)} worlds of every kind, {n_tests} quantities in all; uniform ranks have a "
        f"mean of 0.50 ± {1 / np.sqrt(12 * len(seeds)):.2f}.\n"
    )
    header = ["world", "quantities", "the least uniform", "worlds by fifth of the ranks"]
    print_table([*header, "p value", "mean ranks"], rows)
    least, told = FALSE_ALARM / n_tests, ", ".join(off) or "none"
    print(f"Below {least:.1g}, which chance gives once in {1 / FALSE_ALARM:.0f} runs: {told}.\n")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
