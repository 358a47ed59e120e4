"""Whether 90 % intervals hold where each date is one event that puts its items in order.

A race a week for 12 to 60 weeks, among 5 to 20 items.  Finishing orders are drawn by strengths that
stand still or move, with extreme-value noise (Plackett and Luce's law, whose pairs are logistic) or
normal noise (Thurstone's); or only half of the items start in each race.  Asked are the chances of
all pairs at the last race.  Beside `fit` as it is, the same table with each pair of a race at an
hour of its own, so that nothing tells that they are one event.

    python -m benchmarks.races 0.2        a fifth of the tables, on the seeds for building
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import expit, ndtr

import intransit as it
from benchmarks._common import bernoulli_kl, print_table, seeds_for, with_error
from benchmarks.intervals import LEVEL, WORKERS
from intransit.arrays import FloatArray

KEPT, BUILDING = range(13_000, 13_024), range(100, 124)
KINDS = ("still", "moving", "moving, normal noise", "moving, half of the items start")
WAYS = ("as it is", "each pair for itself")
FALSE = ("cycles", "not one scale")
WEEK = 7.0
SPREAD = 1.0 / np.sqrt(2.0)  # of normal noise: differences of two have a deviation of 1
LEAST = 1e-9  # chances, lest an answer that is certain and wrong cost an infinite KL
SECONDS = 20.0


@dataclass(frozen=True)
class Trial:
    """Of one table: what the intervals held, and how far the chances are off; the verdict."""

    held: float
    divergence: float
    verdict: str
    reached: bool


def main(scale: float = 1.0) -> None:
    seeds = seeds_for(scale, KEPT, BUILDING)
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for kind, way in product(KINDS, WAYS):
            some = seeds if way == WAYS[0] else seeds[: max(len(seeds) // 3, 1)]
            trials = list(pool.map(run, product((kind,), (way,), some)))
            rows.append(
                [
                    kind,
                    way,
                    f"{len(trials)}",
                    with_error(t.held for t in trials),
                    with_error((t.divergence for t in trials), times=1000.0),
                    f"{sum(t.verdict in FALSE for t in trials)}",
                    f"{sum(not t.reached for t in trials)}",
                ]
            )
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        f"Win chances at the last race, {LEVEL:.0%} intervals.  Standard errors are over tables; "
        "KL is that of the chances, in nats.\nAll truths are plain orders: `cycles` and `not one "
        "scale` would be false.\n"
    )
    header = ["strengths", "games", "tables", "held, %", "KL · 1000", "false verdicts"]
    print_table([*header, "chains ended early"], rows)


def run(task: tuple[str, str, int]) -> Trial:
    """Simulate, fit, and ask."""
    kind, way, seed = task
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, n_races = int(rng.integers(5, 21)), int(rng.integers(12, 61))
    speed = 0.0 if kind == "still" else rng.uniform(0.3, 1.2)
    steps = speed / np.sqrt(n_races) * rng.standard_normal((n_races, n))
    steps[0] = rng.uniform(0.5, 1.5) * rng.standard_normal(n)
    s = np.cumsum(steps, axis=0)
    normal = kind.endswith("normal noise")
    noise = SPREAD * rng.standard_normal(s.shape) if normal else rng.gumbel(size=s.shape)
    start = np.full(s.shape, True)
    if kind.endswith("start"):
        start = rng.permuted(np.arange(n) < max(n // 2, 5) + np.zeros_like(s), axis=1)
        start[-1] = True
    answer = it.fit(play(s + noise, start, apart=way != WAYS[0]), seconds=SECONDS, rng=seed)
    i, j = np.triu_indices(n, 1)
    gap = s[-1, i] - s[-1, j]
    true = ndtr(gap) if normal else expit(gap)
    first, second = (np.array([answer.numbers[f"{k:02d}"] for k in one]) for one in (i, j))
    times = np.full(len(i), WEEK * (n_races - 1))
    mean, low, high = answer.expected(first, second, times, np.zeros(len(i)), level=LEVEL)
    mixing = answer.posterior.mixing
    return Trial(
        float(np.mean((low <= true) & (true <= high))),
        bernoulli_kl(true, np.clip(mean, LEAST, 1.0 - LEAST)),
        answer.transitive.verdict,
        mixing is None or mixing.reached,
    )


def play(results: FloatArray, start: FloatArray, *, apart: bool) -> it.Games:
    """Return who came before whom in every race."""
    won, lost, days = [], [], []
    for k, (result, there) in enumerate(zip(results, start, strict=True)):
        order = np.flatnonzero(there)[np.argsort(-result[there])]
        i, j = np.triu_indices(len(order), 1)
        won.append(order[i])
        lost.append(order[j])
        days.append(WEEK * k + (np.linspace(-0.2, 0.0, len(i)) if apart else np.zeros(len(i))))
    first, second = ([f"{k:02d}" for k in np.concatenate(one)] for one in (won, lost))
    return it.Games.from_arrays(first, second, np.ones(len(first)), np.concatenate(days))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
