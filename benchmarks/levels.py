"""Whether sizes of wins are used where they help, and left out where they mislead.

Items whose scores stand still; margins by one logistic law, by normal noise, as goals of two
Poisson numbers, with routs that are luck, or with points that count for four from the middle of the
time on.  Asked are the chances of all pairs that the first wins, a tie as half a win: by three
levels of victory, by wins alone, and by as many levels as `fit` chooses.

    python -m benchmarks.levels 0.2        a fifth of the tables, on the seeds for building
"""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import skellam

import intransit as it
from benchmarks._common import bernoulli_kl, print_table, seeds_for, with_error
from benchmarks.intervals import LEVEL, WORKERS
from intransit.arrays import FloatArray
from intransit.backtest.levels import levels_for

KEPT, BUILDING = range(17_000, 17_012), range(100, 112)
SIZES = (150, 300, 1_200, 4_000)  # games
N_ITEMS, SPREAD = 14, 0.9
NOISE = 1.6  # of normal performances, in the unit of scores
GOALS = 1.4  # of each side between equals
SLOPE = 4.0  # score that makes a side's goals e times as many
MODEL = it.Scores(walk=it.Still())


def by_strength(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    return np.round(8.0 * (x + rng.logistic(size=len(x))))


def by_normal_noise(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    return np.round(8.0 * (x + NOISE * rng.standard_normal(len(x))))


def by_goals(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    scored = (rng.poisson(GOALS * np.exp(sign * x / SLOPE)) for sign in (1.0, -1.0))
    return np.subtract(*scored).astype(float)


def by_luck(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    won = np.where(rng.random(len(x)) < expit(x), 1.0, -1.0)
    return won * rng.choice([1.0, 1.0, 2.0, 25.0, 30.0], size=len(x))


def by_period(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    y = x + rng.logistic(size=len(x))
    times = np.where(np.arange(len(x)) < len(x) // 2, 4.0, 16.0)
    return np.sign(y) * np.ceil(np.abs(y) * times)


def goals_chance(x: FloatArray) -> FloatArray:
    ends = GOALS * np.exp(x / SLOPE), GOALS * np.exp(-x / SLOPE)
    return np.asarray(skellam.sf(0, *ends) + 0.5 * skellam.pmf(0, *ends))


KINDS: dict[str, tuple[Callable[..., FloatArray], Callable[[FloatArray], FloatArray]]] = {
    "strength, logistic noise": (by_strength, expit),
    "strength, normal noise": (by_normal_noise, lambda x: ndtr(x / NOISE)),
    "goals, two Poisson numbers": (by_goals, goals_chance),
    "luck": (by_luck, expit),
    "strength, times four from the middle on": (by_period, expit),
}


def main(scale: float = 1.0) -> None:
    seeds = seeds_for(scale, KEPT, BUILDING)
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for kind, size in product(KINDS, SIZES):
            found = list(pool.map(run, product((kind,), (size,), seeds)))
            chosen = np.bincount([most for most, _ in found], minlength=4)[1:]
            told = np.array([values for _, values in found])  # (n_seeds, 3, 2)
            rows.append([kind, f"{size:,}", ", ".join(map(str, chosen))])
            for k in range(3):
                rows[-1] += [with_error(told[:, k, 0], times=1000.0), with_error(told[:, k, 1])]
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(f"{N_ITEMS} items, {len(seeds)} tables a row; KL of the chances of all pairs in")
    print(f"thousandths of a nat, and how many of their {LEVEL:.0%} intervals hold the truth.\n")
    header = ["sizes of wins follow", "games", "1, 2, 3 levels chosen, tables"]
    for way in ("three levels", "wins alone", "as chosen"):
        header += [f"KL · 1000, {way}", f"held, %, {way}"]
    print_table(header, rows)


def run(asked: tuple[str, int, int]) -> tuple[int, list[tuple[float, float]]]:
    """Return how many levels are chosen, and KL and share held: three levels, one, as chosen."""
    kind, size, seed = asked
    rng = np.random.default_rng(seed)
    scores = SPREAD * rng.standard_normal(N_ITEMS)
    first = rng.integers(N_ITEMS, size=size)
    second = (first + rng.integers(1, N_ITEMS, size=size)) % N_ITEMS
    sizes, chance = KINDS[kind]
    margins = sizes(rng, scores[first] - scores[second])
    won, days = 0.5 + 0.5 * np.sign(margins), np.arange(size) // 4
    names = np.array([f"{k:02d}" for k in range(N_ITEMS)])
    games = it.Games.from_arrays(
        names[first].tolist(), names[second].tolist(), won, days * 1.0, margins=margins
    )
    pairs = np.triu_indices(N_ITEMS, 1)
    true = chance(scores[pairs[0]] - scores[pairs[1]])
    chosen, found = levels_for(games).most, {}
    for most in {1, 3, chosen}:
        answer = it.fit(games, model=MODEL, law=it.Levels(most), rng=seed, effective=50.0)
        i, j = (np.array([answer.number(name) for name in names[one]]) for one in pairs)
        when = np.full(len(i), answer.seen.end)
        told, low, high = answer.expected(i, j, when, np.zeros(len(i)), level=LEVEL)
        held = float(np.mean((low <= true) & (true <= high)))
        found[most] = bernoulli_kl(true, told), held
    return chosen, [found[most] for most in (3, 1, chosen)]


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
