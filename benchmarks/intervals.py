"""Whether 90 % intervals of win chances hold the truth, when `fit` estimates everything.

Truths are random walks over two years: scores; scores and a factor of which one side drifts; a
factor with both sides drifting; drifting scores and effects of pairs.  12 to 20 items, 400 to
4,000 games, sizes and speeds at random.  Asked are the chances of all pairs in the middle, at the
last time and 60 days on.  Issue 12 asks for 87 to 93 % of each kind, over at least 30 tables.
Then truths in which items do not move alike: one item jumps, as on the day of a patch, while the
others hardly move; half of the items move and half stand still.  Beside `fit` as it is, the same
model at one speed for all.  Then one item that is 2 to 4 log odds ahead of others that are nearly
alike, beside the same model with normal scores.

    python -m benchmarks.intervals 0.1        a tenth of the tables, on the seeds for building
    python -m benchmarks.intervals terms      what terms that are not needed add to plain scores,
                                              on the seeds for building
    python -m benchmarks.intervals speeds     items that do not move alike alone, on those seeds
    python -m benchmarks.intervals ahead      one item far ahead alone, on those seeds
    python -m benchmarks.intervals priors     what priors with more on 0 would change, by kind,
                                              on half of the seeds for building
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import expit, logsumexp

import intransit as it
from benchmarks._common import bernoulli_kl, print_table, seeds_for, with_error
from intransit.arrays import FloatArray, IntArray
from intransit.inference.posterior import place_of
from intransit.model.terms import prior_scale

KEPT, BUILDING = range(7_000, 7_064), range(100, 164)
KINDS = ("scores", "scores + factor", "both sides of a factor drifting", "pair effects")
N_DAYS, AHEAD = 730, 60
PLACES = {"middle": N_DAYS // 2, "last time": N_DAYS - 1, "60 days on": N_DAYS - 1 + AHEAD}
LEVEL = 0.9
POWERS = (1.0, 0.7, 0.5)
WORKERS = 2
UNEVEN = ("one item jumps", "half of the items move")
AHEAD_OF_ALL = "one item far ahead"
SINCE = (15, 60)  # days after the jump
FEWEST_BEFORE, FEWEST_AFTER = 240, 120  # days of the table on either side of it
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


EVEN = it.Scores(walk=it.Drift(reversion=it.HalfCauchy(0.3))) + it.Factors(3) + it.PairEffects()
SPEEDS = {"as it is": None, "one speed for all": EVEN}
NORMAL = it.Scores(degrees=None) + it.Factors(3) + it.PairEffects()
LAWS = {"as it is": None, "normal scores": NORMAL}


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
    some = seeds[: max(len(seeds) // 2, 1)]
    compare_models("Items that do not move alike", UNEVEN, SPEEDS, some)
    compare_models("One item far ahead", (AHEAD_OF_ALL,), LAWS, some)


def compare_models(
    title: str, kinds: tuple[str, ...], models: dict[str, it.Model | None], seeds: range
) -> None:
    """Show what intervals hold on other kinds of truths, by `fit` as it is and by other models."""
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for kind, (name, model) in product(kinds, models.items()):
            trials = list(pool.map(run, product((kind,), seeds, (model,))))
            rows += [row(f"{kind}: {name}", place, trials) for place in trials[0].held]
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(f"\n{title}; {len(seeds)} tables of a kind.\n")
    print_table(["truth: model", *HEADER], rows)


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


def compare_priors() -> None:
    """Show what priors of planes and pair effects that put more on 0 would do to intervals.

    A half-Cauchy scale t has a density ∝ 1 / (1 + t²); here t^(a - 1) / (1 + t²)^((1 + a) / 2),
    by weighing the draws that there are.
    """
    seeds = BUILDING[: len(BUILDING) // 2]
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for kind in KINDS:
            found = np.array(list(pool.map(reweighted, product((kind,), seeds))))
            for k, power in enumerate(POWERS):
                held = [with_error(found[:, k, 1 + q]) for q in range(len(PLACES))]
                rows.append([kind, f"{power}", *held, f"{found[:, k, 0].mean():.0%}"])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(f"Intervals that hold, %; {len(seeds)} tables of a kind, seeds for building.\n")
    print_table(["truth", "power a (1: half-Cauchy)", *PLACES, "draws that count"], rows)


def reweighted(task: tuple[str, int]) -> list[list[float]]:  # (n_powers, 1 + n_places)
    """Return the share of draws that count, and what intervals hold, for each prior."""
    kind, seed = task
    n, margins, games = made(kind, seed)
    posterior = it.fit(games, rng=seed).posterior
    i, j = np.triu_indices(n, 1)
    of = {type(term): prior_scale(term.scale) for term in posterior.layout.model.terms}
    drawn, number = posterior.draws, place_of(it.PairEffects, posterior.layout)
    pairs = drawn.number_scales[:, number : number + 1] / of[it.PairEffects]
    sizes = np.log(np.concatenate([drawn.scales[:, 1:] / of[it.Factors], pairs], axis=1))
    found = []
    for power in POWERS:
        logs = (power - 1.0) * (sizes - 0.5 * np.logaddexp(0.0, 2.0 * sizes)).sum(axis=1)
        weights = np.exp(logs - logsumexp(logs))
        held = [1.0 / np.sum(weights**2) / len(weights)]
        for day in PLACES.values():
            x, true = posterior.margins(i, j, np.full(len(i), float(day))), margins[day][i, j]
            below = weights @ (x < true)  # the share of draws below the truth
            held.append(float(np.mean(np.abs(below - 0.5) <= 0.5 * LEVEL)))
        found.append(held)
    return found


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
    n, margins, games = made(kind, seed)
    began = time.process_time()
    answer = it.fit(games, model=model[0] if model else None, rng=seed)
    seconds = time.process_time() - began
    # The table numbers items by name, and every item has played.
    held, divergence, width = {}, {}, {}
    for place, (i, j, day) in questions(kind, n, margins).items():
        true = expit(margins[day][i, j])
        mean, low, high = answer.expected(
            i, j, np.full(len(i), float(day)), np.zeros(len(i)), level=LEVEL
        )
        held[place] = float(np.mean((low <= true) & (true <= high)))
        divergence[place] = bernoulli_kl(true, mean)
        width[place] = float(np.mean(high - low))
    mixing = answer.posterior.mixing
    return Trial(held, divergence, width, mixing is None or mixing.reached, seconds)


def questions(kind: str, n: int, margins: FloatArray) -> dict[str, tuple[IntArray, IntArray, int]]:
    """Return the pairs and the day of each place: all of them, or those of the one that jumped."""
    i, j = np.triu_indices(n, 1)
    asked = {place: (i, j, day) for place, day in PLACES.items()}
    if kind == UNEVEN[0]:
        moved = np.abs(np.diff(margins.sum(axis=2), axis=0))
        day, item = np.unravel_index(int(np.argmax(moved)), moved.shape)
        others = np.delete(np.arange(n), item)
        one = np.full(n - 1, int(item))
        asked |= {f"its pairs, {k} days after": (one, others, int(day) + 1 + k) for k in SINCE}
        asked["its pairs, last time"] = (one, others, N_DAYS - 1)
    if kind == AHEAD_OF_ALL:
        item = int(np.argmax(margins[N_DAYS - 1].sum(axis=1)))
        others = np.delete(np.arange(n), item)
        asked["its pairs, last time"] = (np.full(n - 1, item), others, N_DAYS - 1)
    return asked


def made(kind: str, seed: int) -> tuple[int, FloatArray, it.Games]:
    """Return how many items there are, their margins day by day, and games between them."""
    rng = np.random.default_rng([seed, (*KINDS, *UNEVEN, AHEAD_OF_ALL).index(kind)])
    n, n_games = int(rng.integers(12, 21)), round(np.exp(rng.uniform(*np.log([400, 4000]))))
    margins = simulate(kind, n, rng)
    return n, margins, play(margins, n_games, rng)


def simulate(kind: str, n: int, rng: np.random.Generator) -> FloatArray:  # (n_days, n, n)
    """Return margins day by day; each part at a size and a speed drawn at random."""
    size = rng.uniform(0.5, 1.2, 2)
    speed = rng.uniform(0.3, 1.0, 2)
    X = np.zeros((N_DAYS + AHEAD, n, n))
    if kind in UNEVEN:
        s = uneven_walk(kind, n, size[0], speed[0], rng)
        X += s[:, :, None] - s[:, None, :]
    elif kind == AHEAD_OF_ALL:
        s = walk(n, 0.3, speed[0], rng)
        s[:, 0] += rng.uniform(2.0, 4.0)
        X += s[:, :, None] - s[:, None, :]
    elif kind != "both sides of a factor drifting":
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


def uneven_walk(
    kind: str, n: int, size: float, speed: float, rng: np.random.Generator
) -> FloatArray:
    """Return walks of items that do not move alike."""
    if kind == UNEVEN[1]:
        both = walk(n, size, 2.0 * speed, rng), walk(n, size, 0.0, rng)
        return np.where(np.arange(n) % 2 == 0, *both)
    s = walk(n, size, 0.2 * speed, rng)
    day = int(rng.integers(FEWEST_BEFORE, N_DAYS - FEWEST_AFTER))
    s[day:, int(rng.integers(n))] += rng.choice([-1.0, 1.0]) * rng.uniform(1.0, 2.0)
    return s


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
    if sys.argv[1:] in (["terms"], ["priors"]):
        {"terms": compare_terms, "priors": compare_priors}[sys.argv[1]]()
    elif sys.argv[1:] == ["speeds"]:
        compare_models("Items that do not move alike", UNEVEN, SPEEDS, BUILDING)
    elif sys.argv[1:] == ["ahead"]:
        compare_models("One item far ahead", (AHEAD_OF_ALL,), LAWS, BUILDING[:16])
    else:
        main(*map(float, sys.argv[1:]))
