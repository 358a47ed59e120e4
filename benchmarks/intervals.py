"""Whether 90 % intervals of win chances hold the truth, when `fit` estimates everything.

Truths are random walks over two years: scores; scores and a factor of which one side drifts; a
factor with both sides drifting; drifting scores and effects of pairs.  12 to 20 items, 400 to
4,000 games, sizes and speeds at random.  Asked are the chances of all pairs in the middle, at the
last time and 60 days on.  Issue 12 asks for 87 to 93 % of each kind, over at least 30 tables.

    python -m benchmarks.intervals 0.1        a tenth of the tables, on the seeds for building
    python -m benchmarks.intervals terms      what terms that are not needed add to plain scores,
                                              on the seeds for building
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import expit

import intransit as it
from benchmarks._common import bernoulli_kl, print_table, seeds_for, with_error
from intransit.arrays import FloatArray

KEPT, BUILDING = range(7_000, 7_064), range(100, 164)
KINDS = ("scores", "scores + factor", "both sides of a factor drifting", "pair effects")
N_DAYS, AHEAD = 730, 60
PLACES = {"middle": N_DAYS // 2, "last time": N_DAYS - 1, "60 days on": N_DAYS - 1 + AHEAD}
LEVEL = 0.9
WORKERS = 2
HEADER = ["place", "held, %", "least of a table", "KL · 1000", "mean width"]
HEADER += ["chains ended early", "s of processor a fit"]


TERMS = {
    "scores alone, as in the truth": it.Scores(),
    "scores, pair effects": it.Scores() + it.PairEffects(),
    "scores, three factors": it.Scores() + it.Factors(3),
    "every term": it.Scores() + it.Factors(3) + it.PairEffects(),
    "random walks of scores alone": it.Scores(walk=it.Drift()),
    "every term, random walks": it.Scores(walk=it.Drift()) + it.Factors(3) + it.PairEffects(),
}


@dataclass(frozen=True)
class Trial:
    """Of one table: what the intervals held, and how far the chances are off, by place."""

    held: dict[str, float]
    divergence: dict[str, float]
    width: dict[str, float]
    reached: bool
    seconds: float


def main(scale: float = 1.0) -> None:
    seeds = seeds_for(scale, KEPT, BUILDING)
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for kind in KINDS:
            trials = list(pool.map(run, product((kind,), seeds)))
            rows += [row(kind, place, trials) for place in PLACES]
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        f"Win chances of all pairs, {LEVEL:.0%} intervals, nothing known but the games; "
        f"{len(seeds)} tables of a kind\n(to hold: 87 to 93 %).  Standard errors are over tables; "
        "KL is that of the chances, in nats.\n"
    )
    print_table(["truth", *HEADER], rows)


def compare_terms() -> None:
    """Show how wide intervals of plain scores become by terms that the truth does not have."""
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for name, model in TERMS.items():
            trials = list(pool.map(run, product(KINDS[:1], BUILDING, (model,))))
            rows += [row(name, place, trials) for place in PLACES]
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(f"The truth has scores only, random walks; {len(BUILDING)} tables, seeds for building.\n")
    print_table(["model", *HEADER], rows)


def row(kind: str, place: str, trials: list[Trial]) -> list[str]:
    return [
        kind,
        place,
        with_error(t.held[place] for t in trials),
        f"{min(t.held[place] for t in trials):.0%}",
        with_error((t.divergence[place] for t in trials), times=1000.0),
        f"{np.mean([t.width[place] for t in trials]):.3f}",
        f"{sum(not t.reached for t in trials)}",
        f"{np.mean([t.seconds for t in trials]):.1f}",
    ]


def run(task: tuple[str, int] | tuple[str, int, it.Model]) -> Trial:
    """Simulate, fit, and ask; with `fit`'s own model, or another."""
    kind, seed, *model = task
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, n_games = int(rng.integers(12, 21)), round(np.exp(rng.uniform(*np.log([400, 4000]))))
    margins = simulate(kind, n, rng)
    games = play(margins, n_games, rng)
    began = time.process_time()
    answer = it.fit(games, model=model[0] if model else None, rng=seed)
    seconds = time.process_time() - began
    i, j = np.triu_indices(n, 1)
    # The table numbers items by name, and every item has played.
    held, divergence, width = {}, {}, {}
    for place, day in PLACES.items():
        true = expit(margins[day][i, j])
        mean, low, high = answer.expected(
            i, j, np.full(len(i), float(day)), np.zeros(len(i)), level=LEVEL
        )
        held[place] = float(np.mean((low <= true) & (true <= high)))
        divergence[place] = bernoulli_kl(true, mean)
        width[place] = float(np.mean(high - low))
    mixing = answer.posterior.mixing
    return Trial(held, divergence, width, mixing is None or mixing.reached, seconds)


def simulate(kind: str, n: int, rng: np.random.Generator) -> FloatArray:  # (n_days, n, n)
    """Return margins day by day; each part at a size and a speed drawn at random."""
    size = rng.uniform(0.5, 1.2, 2)
    speed = rng.uniform(0.3, 1.0, 2)
    X = np.zeros((N_DAYS + AHEAD, n, n))
    if kind != "both sides of a factor drifting":
        s = walk(n, size[0], speed[0], rng)
        X += s[:, :, None] - s[:, None, :]
    if "factor" in kind:
        root = np.sqrt(size[1])
        u = walk(n, root, speed[1], rng)
        v = walk(n, root, speed[1] if kind.startswith("both") else 0.0, rng)
        half = u[:, :, None] * v[:, None, :]
        X += half - half.swapaxes(1, 2)
    if kind == "pair effects":
        e = np.triu(0.6 * size[1] * rng.standard_normal((n, n)), 1)
        X += e - e.T
    return X


def walk(n: int, size: float, speed: float, rng: np.random.Generator) -> FloatArray:
    """Return random walks that begin at `size` and move by `speed` times that in two years."""
    steps = speed / np.sqrt(N_DAYS) * rng.standard_normal((N_DAYS + AHEAD, n))
    steps[0] = rng.standard_normal(n)
    return size * np.cumsum(steps, axis=0)


def play(X: FloatArray, n_games: int, rng: np.random.Generator) -> it.Games:
    """Return games of random pairs on random days; every item plays."""
    n = X.shape[1]
    first = np.concatenate([np.arange(n), rng.integers(n, size=n_games - n)])
    second = (first + rng.integers(1, n, n_games)) % n
    day = rng.integers(N_DAYS, size=n_games)
    day[-1] = N_DAYS - 1
    won = rng.random(n_games) < expit(X[day, first, second])
    names = np.array([f"{k:02d}" for k in range(n)])
    return it.Games.from_arrays(
        names[first].tolist(), names[second].tolist(), won.astype(float), day.astype(float)
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["terms"]:
        compare_terms()
    else:
        main(*map(float, sys.argv[1:]))
