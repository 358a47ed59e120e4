"""Are listed cycles real?  Simulated metagames with known truth, from games to the list.

A cycle is listed when the probability that all its edges point that way is 0.9 or more, and is
real when all its edges do point that way in the truth of that day.  The power is the share that is
listed of the true cycles of three whose weakest margin is above 0.3 log odds (57 % to win).
Nothing is listed where the verdict is not "cycles", as for users.

Strengths and matchups drift: after `memory` days of the table's 365 they have mostly changed.

    python -m benchmarks.cycles 3        three tables of each kind
"""

import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.analysis.cycles import find_cycles
from intransit.arrays import FloatArray
from intransit.datasets import simulate_games
from intransit.errors import ConvergenceWarning
from intransit.study import strongest_cycles

WORKERS = 2
FIRST_SEED = 500  # smaller ones were looked at while the method was made
LEVEL = 0.9
LOWER = 0.5  # the level from which bands are filled
CLEAR = 0.3  # log odds: margins of cycles that ought to be found
BANDS = (0.5, 0.7, 0.9, 0.95, 0.99, 1.0)
SIZES, GAMES, CYCLIC, MEMORY = (8, 12, 20), (30, 100, 300), (0.1, 0.3, 0.6), (365, 3650)
EVERY = 100_000  # cycles: more than there are


@dataclass(frozen=True, eq=False)
class Trial:
    """Of one simulated metagame: what was listed, and what was there."""

    probabilities: FloatArray  # of the listed cycles
    real: FloatArray  # 1 where a cycle is in the truth
    n_clear: int  # true cycles of three that are clear
    n_caught: int  # of them listed
    seconds: float  # for the list, the fit apart


def main(n_seeds: int = 2) -> None:
    seeds = range(FIRST_SEED, FIRST_SEED + n_seeds)
    trials = {}
    with ProcessPoolExecutor(WORKERS) as pool:
        for case in product(SIZES, GAMES, CYCLIC, MEMORY):
            trials[case] = list(pool.map(run, [(*case, seed) for seed in seeds]))
            print(case, " | ".join(row(trials[case])), file=sys.stderr, flush=True)
    header = [
        "items",
        "games a pair",
        "cyclic",
        "memory",
        "listed",
        "real",
        "clear cycles",
        "power",
        "s",
    ]
    print(f"Listed: cycles with a probability of {LEVEL} or more (tables of a kind: {n_seeds});")
    print("real: share of them that is in the truth; clear cycles: of three, in the truth,")
    print(f"every margin above {CLEAR}; power: share of those that is listed; s: for the list.\n")
    print_table(header, [[*map(str, case), *row(found)] for case, found in trials.items()])
    print("All tables together, by band of probability:\n")
    print_table(["probability", "cycles", "mean probability", "real", "tables"], bands(trials))


def run(task: tuple[int, int, float, int, int]) -> Trial:
    """Simulate, fit, list and check."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    n_items, games_a_pair, cyclic, memory, seed = task
    n_games = games_a_pair * n_items * (n_items - 1) // 2
    games, truth = simulate_games(n_items, n_games, cyclic=cyclic, memory=memory, rng=seed)
    answer = it.fit(games)
    began = time.perf_counter()
    cycles = find_cycles(answer, level=LEVEL, most=EVERY, gate=True)
    took = time.perf_counter() - began
    lesser = find_cycles(answer, level=LOWER, most=EVERY, gate=True)
    every = [*cycles, *(cycle for cycle in lesser if cycle.probability < LEVEL)]
    place = {name: k for k, name in enumerate(truth.names)}
    X = truth.margins(answer.seen.end)
    rings = [tuple(place[name] for name in cycle.items) for cycle in every]
    real = [all(X[ring[k - 1], ring[k]] > 0 for k in range(len(ring))) for ring in rings]
    probabilities = np.array([cycle.probability for cycle in every])
    listed = {ring for ring, p in zip(rings, probabilities, strict=True) if p >= LEVEL}
    clear = [c.items for c in strongest_cycles(X, k=EVERY) if c.strength > CLEAR]
    caught = sum(ring in listed for ring in clear)
    return Trial(probabilities, np.array(real, dtype=float), len(clear), caught, took)


def row(trials: list[Trial]) -> list[str]:
    real = np.concatenate([t.real[t.probabilities >= LEVEL] for t in trials])
    n_clear, n_caught = sum(t.n_clear for t in trials), sum(t.n_caught for t in trials)
    return [
        f"{len(real):,}",
        f"{real.mean():.1%}" if len(real) else "",
        f"{n_clear:,}",
        f"{n_caught / n_clear:.1%}" if n_clear else "",
        f"{np.mean([t.seconds for t in trials]):.2f}",
    ]


def bands(trials: dict[tuple[int, int, float, int], list[Trial]]) -> list[list[str]]:
    every = [trial for found in trials.values() for trial in found]
    rows = []
    for low, high in [*pairwise(BANDS), (LEVEL, 1.0)]:
        inside = [(t.probabilities >= low) & (t.probabilities < high) for t in every]
        p = np.concatenate([t.probabilities[k] for t, k in zip(every, inside, strict=True)])
        real = np.concatenate([t.real[k] for t, k in zip(every, inside, strict=True)])
        tables = sum(k.any() for k in inside)
        shares = [f"{p.mean():.3f}", f"{real.mean():.3f}"] if len(p) else ["", ""]
        rows.append([f"{low:g} to {high:g}", f"{len(p):,}", *shares, f"{tables}"])
    return rows


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
