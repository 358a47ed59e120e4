"""Whether 90 % intervals hold in large tables, where who meets whom may depend on the scores.

Three thousand items with 60,000 games over two years, a plain order whose scores move or stand
still.  Opponents are drawn at random; or are the nearest of six, by true scores, as in tournaments
of several levels; or the nearest of thirty by a rating that is learnt from the games themselves
(Elo), as a matchmaker does; or stand within 90 places of each other on a ladder; or belong to one
of eight divisions, made by the first scores, but for 1 game in 50; or most of them come in later,
below the others.  Asked are the chances of random pairs at the last time, and of those more than
half of the field apart, by `fit` and by Newton's method alone, which is what larger tables have.

    python -m benchmarks.ladders 0.5        on the seeds for building, of each kind a table
"""

import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import expit

import intransit as it
from benchmarks._common import bernoulli_kl, print_table, seeds_for, with_error
from benchmarks.intervals import LEVEL, WORKERS
from benchmarks.tour import alone
from intransit.arrays import FloatArray, IntArray
from intransit.backtest.forecasters import FittedModel
from intransit.inference.sampling import Effort

KEPT, BUILDING = range(13_000, 13_003), range(1, 3)
N_ITEMS, N_GAMES, MONTHS = 3_000, 60_000, 24
MONTH = 30  # days
SPREAD, NEWCOMERS = 1.2, -1.0  # log odds
SPEEDS = {"still": 0.0, "moving": 0.5}  # log odds over the two years
REACH = 90  # places on a ladder
DIVISIONS, ACROSS = 8, 0.02
LEARNT = 0.25  # log odds by which Elo's ratings change after a surprise
N_PAIRS = 4_000
Rng = np.random.Generator
WAYS = {"fit": lambda effort: effort, "Newton's method alone": alone}


@dataclass(frozen=True)
class Trial:
    """Of one table: what the intervals held, how far off and how wide they are, and seconds."""

    held: float
    far: float
    divergence: float
    slope: float
    width: float
    seconds: float


@dataclass(frozen=True)
class Field:
    """Who is there in a month, and what they are."""

    there: IntArray
    scores: FloatArray
    rating: FloatArray  # as a matchmaker has learnt it
    division: IntArray


def nearest(field: Field, first: IntArray, known: FloatArray, n: int, rng: Rng) -> IntArray:
    """Return of n who are there the nearest, by what is known of them."""
    others = rng.choice(field.there, (n, len(first)))
    apart = np.abs(known[others] - known[first]) + 1e3 * (others == first)
    return np.asarray(others[np.argmin(apart, axis=0), np.arange(len(first))])


def on_ladder(field: Field, first: IntArray, rng: Rng) -> IntArray:
    """Return whoever stands some places above or below."""
    order = np.argsort(field.scores)
    away = rng.integers(1, REACH + 1, len(first)) * rng.choice([-1, 1], len(first))
    return np.asarray(order[np.clip(np.argsort(order)[first] + away, 0, len(order) - 1)])


def in_division(field: Field, first: IntArray, rng: Rng) -> IntArray:
    """Return somebody of the same division, or, rarely, of any."""
    by = np.argsort(field.division, kind="stable")
    begin = np.searchsorted(field.division[by], np.arange(DIVISIONS + 1))
    own = field.division[first]
    inside = by[begin[own] + (rng.random(len(first)) * np.diff(begin)[own]).astype(int)]
    return np.where(rng.random(len(first)) < ACROSS, rng.choice(field.there, len(first)), inside)


KINDS: dict[str, Callable[[Field, IntArray, Rng], IntArray]] = {
    "at random": lambda field, first, rng: rng.choice(field.there, len(first)),
    "at random, newcomers": lambda field, first, rng: rng.choice(field.there, len(first)),
    "nearest of six": lambda field, first, rng: nearest(field, first, field.scores, 6, rng),
    "nearest of thirty by Elo": lambda f, first, rng: nearest(f, first, f.rating, 30, rng),
    "on a ladder": on_ladder,
    "eight divisions": in_division,
}


def main(scale: float = 1.0) -> None:
    seeds = seeds_for(scale, KEPT, BUILDING)
    rows = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for kind, speed, way in product(KINDS, SPEEDS, WAYS):
            trials = list(pool.map(run, product((kind,), (speed,), (way,), seeds)))
            rows.append([kind, speed, way, *row(trials)])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        f"Win chances of {N_PAIRS:,} pairs at the last time, {LEVEL:.0%} intervals; {N_ITEMS:,} "
        f"items, {N_GAMES:,} games; {len(seeds)} tables of a kind.\nThe slope is of margins found "
        "by true ones: below 1 differences are understated.\n"
    )
    header = ["opponents", "scores", "way", "held, %", "far apart, %", "KL · 1000", "slope"]
    print_table([*header, "width", "s"], rows)


def row(trials: list[Trial]) -> list[str]:
    return [
        with_error(t.held for t in trials),
        with_error(t.far for t in trials),
        with_error((t.divergence for t in trials), times=1000.0),
        f"{np.mean([t.slope for t in trials]):.2f}",
        f"{np.mean([t.width for t in trials]):.2f}",
        f"{np.mean([t.seconds for t in trials]):.0f}",
    ]


def run(task: tuple[str, str, str, int]) -> Trial:
    """Simulate, fit, and ask."""
    kind, speed, way, seed = task
    rng = np.random.default_rng([seed, list(KINDS).index(kind), list(SPEEDS).index(speed)])
    games, scores = play(kind, SPEEDS[speed], rng)
    began = time.process_time()
    model = FittedModel(None, effort=WAYS[way](replace(Effort(), seconds=30.0)))
    model.learn(games)
    took = time.process_time() - began
    true = scores[np.array(games.names, dtype=int)]
    i, j = rng.integers(len(true), size=(2, N_PAIRS))
    i, j = np.stack([i, j])[:, i != j]
    times = np.full(len(i), games.times.max())
    chances = model.posterior.chances(i, j, times)
    margins = model.posterior.margins(i, j, times).mean(axis=0)
    low, high = np.quantile(chances, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0)
    truth = expit(true[i] - true[j])
    held, place = (low <= truth) & (truth <= high), np.argsort(np.argsort(true))
    far = np.abs(place[i] - place[j]) > len(true) // 2
    return Trial(
        float(held.mean()),
        float(held[far].mean()),
        bernoulli_kl(truth, chances.mean(axis=0)),
        float(np.polyfit(true[i] - true[j], margins, 1)[0]),
        float(np.mean(high - low)),
        took,
    )


def play(kind: str, speed: float, rng: Rng) -> tuple[it.Games, FloatArray]:
    """Return the games, month after month, and the scores in the last one."""
    late = (rng.random(N_ITEMS) < 0.6) & ("newcomers" in kind)
    entered = np.where(late, rng.integers(1, MONTHS - 3, N_ITEMS), 0)
    scores = SPREAD * rng.standard_normal(N_ITEMS) + NEWCOMERS * late
    division = np.argsort(np.argsort(scores)) * DIVISIONS // N_ITEMS
    rating, found = np.zeros(N_ITEMS), []
    for month in range(MONTHS):
        scores = scores + speed / np.sqrt(MONTHS) * rng.standard_normal(N_ITEMS)
        field = Field(np.flatnonzero(entered <= month), scores, rating, division)
        first = rng.choice(field.there, N_GAMES // MONTHS)
        second = KINDS[kind](field, first, rng)
        apart = first != second
        first, second = first[apart], second[apart]
        won = (rng.random(len(first)) < expit(scores[first] - scores[second])).astype(float)
        for i, j, y in zip(first, second, won, strict=True):
            change = LEARNT * (y - expit(rating[i] - rating[j]))
            rating[i], rating[j] = rating[i] + change, rating[j] - change
        found.append((first, second, won, MONTH * month + rng.integers(MONTH, size=len(first))))
    columns = map(np.concatenate, zip(*found, strict=True))
    return it.Games.from_arrays(*columns), scores


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
