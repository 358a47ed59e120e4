"""Whether 90 % intervals hold where who meets whom depends on the scores.

Truths are plain orders whose scores move over two years, 12 to 24 items, 400 to 4,000 games, sizes
and speeds at random; in half of the tables they stand still.  On a ladder an item meets one of the
two, or six, on either side of it on that day; a matchmaker picks opponents with a weight that falls
with the difference, by the true scores, or by ratings that it learns from the games themselves
(Elo); of four leagues, 1 game in 25 is across; or everybody meets anybody; or tournaments follow
each other, in which those meet who have as many points.  Once more both matchmakers, with 100 items
and 5,000 games.  Asked are the chances of all pairs at the last time, and of those more than half
of the field apart.  Beside `fit` as it is, the same model with scores that are alike whoever met
whom (`tiers=0`).

    python -m benchmarks.schedules 0.2        a fifth of the tables, on the seeds for building
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import expit

import intransit as it
from benchmarks._common import bernoulli_kl, print_table, seeds_for, with_error
from benchmarks.intervals import LEVEL, N_DAYS, WORKERS, walk
from intransit.arrays import FloatArray, IntArray

KEPT, BUILDING = range(11_000, 11_024), range(200, 224)
KINDS = ("next two of a ladder", "next six of a ladder", "equals", "equals by Elo", "four leagues")
KINDS += ("at random",)
LARGE, SWISS = ("equals, 100 items", "equals by Elo, 100 items"), "Swiss tournaments"
ALL = (*KINDS, *LARGE, SWISS)
ROUNDS = 7  # of a tournament
NEAR = 0.35  # differences that are matched, beside the deviation of scores
ACROSS = 0.04  # of the games, between leagues
LEARNT = 0.25  # log odds by which Elo's ratings change after a surprise
ALIKE = it.Scores(tiers=0.0) + it.Factors(3) + it.PairEffects()
MODELS = {"as it is": None, "alike": ALIKE}


@dataclass(frozen=True)
class Trial:
    """Of one table: what the intervals held, and how far the chances are off; the verdict."""

    held: float
    far: float
    divergence: float
    verdict: str
    reached: bool


def main(scale: float = 1.0) -> None:
    seeds = seeds_for(scale, KEPT, BUILDING)
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for kind, (name, model) in product(ALL, MODELS.items()):
            some = seeds[: max(len(seeds) // 4, 1)] if kind in LARGE else seeds
            trials = list(pool.map(run, product((kind,), some, (model,))))
            rows.append(row(kind, name, trials))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        f"Win chances at the last time, {LEVEL:.0%} intervals; {len(seeds)} tables of a kind, a "
        "quarter of that with 100 items.  Standard\nerrors are over tables; KL is that of the "
        "chances, in nats.  All truths are plain orders, so every other verdict is false.\n"
    )
    header = ["schedule", "scores", "held, %", "far apart, %", "KL · 1000"]
    print_table([*header, "said cycles", "said not one scale", "chains ended early"], rows)


def row(kind: str, name: str, trials: list[Trial]) -> list[str]:
    return [
        kind,
        name,
        with_error(t.held for t in trials),
        with_error(t.far for t in trials),
        with_error((t.divergence for t in trials), times=1000.0),
        f"{sum(t.verdict == 'cycles' for t in trials)}",
        f"{sum(t.verdict == 'not one scale' for t in trials)}",
        f"{sum(not t.reached for t in trials)}",
    ]


def run(task: tuple[str, int, it.Model | None]) -> Trial:
    """Simulate, fit, and ask."""
    kind, seed, model = task
    rng = np.random.default_rng([seed, ALL.index(kind)])
    n, n_games = int(rng.integers(12, 25)), round(np.exp(rng.uniform(*np.log([400, 4000]))))
    if kind in LARGE:
        n, n_games = 100, 5_000
    size, speed = rng.uniform(0.7, 1.8), rng.uniform(0.1, 0.6) * (seed % 2)
    s = walk(n, size, speed, rng)
    if kind == "four leagues":
        s += 0.8 * size * rng.standard_normal(4)[np.arange(n) % 4]
    answer = it.fit(play(kind, s, n_games, size, rng), model=model, rng=seed)
    i, j = np.triu_indices(n, 1)
    now = s[N_DAYS - 1]
    place = np.argsort(np.argsort(now))
    far = np.abs(place[i] - place[j]) > n // 2
    true = expit(now[i] - now[j])
    times = np.full(len(i), float(N_DAYS - 1))
    mean, low, high = answer.expected(i, j, times, np.zeros(len(i)), level=LEVEL)
    held = (low <= true) & (true <= high)
    mixing = answer.posterior.mixing
    return Trial(
        float(held.mean()),
        float(held[far].mean()),
        bernoulli_kl(true, mean),
        answer.transitive.verdict,
        mixing is None or mixing.reached,
    )


def play(kind: str, s: FloatArray, n_games: int, size: float, rng: np.random.Generator) -> it.Games:
    """Return games on random days between those who meet then; every item plays."""
    n = s.shape[1]
    first = np.concatenate([np.arange(n), rng.integers(n, size=n_games - n)])
    day = rng.integers(N_DAYS, size=n_games)
    day[-1] = N_DAYS - 1
    day.sort()
    rating, points = np.zeros(n), np.zeros(n)
    second, won = np.zeros(n_games, np.int64), np.zeros(n_games)
    for k, (i, d) in enumerate(zip(first, day, strict=True)):
        if k % (ROUNDS * n // 2) == 0:
            points = np.zeros(n)
        known = points if kind == SWISS else rating if "Elo" in kind else s[d]
        second[k] = j = opponent(kind, int(i), known, size, rng)
        won[k] = rng.random() < expit(s[d, i] - s[d, j])
        change = LEARNT * (won[k] - expit(rating[i] - rating[j]))
        rating[i], rating[j] = rating[i] + change, rating[j] - change
        points[i], points[j] = points[i] + won[k], points[j] + 1.0 - won[k]
    names = np.array([f"{k:03d}" for k in range(n)])
    return it.Games.from_arrays(
        names[first].tolist(), names[second].tolist(), won, day.astype(float)
    )


def opponent(kind: str, i: int, s: FloatArray, size: float, rng: np.random.Generator) -> int:
    """Return whom an item meets on a day."""
    weight = np.ones(len(s))
    if "ladder" in kind:
        order: IntArray = np.argsort(s)
        away = np.argsort(order) - int(np.flatnonzero(order == i)[0])
        weight = (np.abs(away) <= (2 if "two" in kind else 6)).astype(float)
    elif "equals" in kind:
        weight = np.exp(-0.5 * ((s - s[i]) / (NEAR * size)) ** 2) + 1e-9
    elif kind == SWISS:
        weight = np.exp(-4.0 * np.square(s - s[i]))
    elif kind == "four leagues":
        same = np.arange(len(s)) % 4 == i % 4
        weight = (same != (rng.random() < ACROSS)).astype(float)
    weight[i] = 0.0
    return int(rng.choice(len(s), p=weight / weight.sum()))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
