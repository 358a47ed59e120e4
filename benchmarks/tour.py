"""A tour of thousands of players: forecasts of a table too large for chains with every term.

Players come in below the rest, rise or fall, and leave; who plays more is better; every player has
a deviation on each of three surfaces.  Opponents are drawn at random, or the nearest in level of
six.  The last 4 % of the games are forecast at once, newcomers among them, by `fit` with and
without the surfaces, by Newton's method alone, which is what larger tables still have, and by Elo
and Glicko-2 with settings that do best on the latest quarter of what is learnt, game after game.

    python -m benchmarks.tour 0.25      a quarter of the players, on the seeds for building
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit

import intransit as it
from benchmarks._common import print_table, seeds_for
from benchmarks.sports import ELO, GLICKO, Glicko, best
from intransit.arrays import FloatArray
from intransit.backtest import cut, smaller_first
from intransit.backtest.forecasters import Elo, FittedModel
from intransit.backtest.result import log_losses
from intransit.inference.sampling import Effort

KEPT, BUILDING = range(8_802, 8_803), range(1, 3)
PLAYERS, GAMES, YEARS = 8_000, 200_000, 12
MONTH = 30  # days
LAST = 0.04
SURFACES, SHARES = np.array(["hard", "clay", "grass"]), (0.5, 0.35, 0.15)
NEWCOMERS, SPREAD, DRIFT, DEVIATION = -0.8, 1.0, 0.4, 0.3  # log odds; drift of a year
CANDIDATES = {"opponents at random": 1, "opponents of like level": 6}
NO_EDGE = {"edge": (0.0,)}


def main(scale: float = 1.0) -> None:
    seeds, share = seeds_for(scale, KEPT, BUILDING), min(scale, 1.0)
    warm_up()
    rows = []
    for kind, candidates in CANDIDATES.items():
        for seed in seeds:
            rng = np.random.default_rng([seed, candidates])
            rows += forecasts(f"{kind}, seed {seed}", tour(candidates, share, rng))
    print(
        f"Log loss of the last {LAST:.0%} of {share * GAMES:,.0f} games of {share * PLAYERS:,.0f} "
        "players; newcomers are games with\nsomebody who has not played before; seconds of "
        "processor, tuning included.\n"
    )
    print_table(["tour", "system", "all", "newcomers", "others", "s", "said"], rows)


def warm_up() -> None:
    """Compile everything before anything is timed."""
    games, _ = tour(1, 0.01, np.random.default_rng(0))
    for effort in (Effort(10.0, 5.0), alone(Effort(10.0, 1e-3))):
        FittedModel(None, effort=effort).learn(games)


def tour(
    candidates: int, share: float, rng: np.random.Generator
) -> tuple[it.Games, Callable[[it.Games], FloatArray]]:
    """Return the games of a tour, month after month, and what gives their true chances."""
    n, months = int(share * PLAYERS), 12 * YEARS
    late = rng.random(n) > 0.2
    entered = np.where(late, rng.uniform(0, YEARS, n), rng.uniform(-6, 0, n))
    left = entered + rng.gamma(2.0, 2.5, n) + 0.3
    scores = SPREAD * rng.standard_normal(n) + NEWCOMERS * late
    own = DEVIATION * rng.standard_normal((n, len(SURFACES)))
    activity = rng.gamma(1.0, 1.0, n) + 0.05
    size, found, paths = int(share * GAMES) // months, [], np.empty((months, n))
    for month in range(months):
        scores = scores + DRIFT / np.sqrt(12) * rng.standard_normal(n)
        paths[month] = scores
        there = np.flatnonzero((entered <= month / 12) & (month / 12 < left))
        chance = activity[there] * np.exp(0.5 * scores[there])
        chance /= chance.sum()
        first = rng.choice(there, size, p=chance)
        others = rng.choice(there, (candidates, size), p=chance)
        apart = np.abs(scores[others] - scores[first]) + 1e3 * (others == first)
        second = others[np.argmin(apart, axis=0), np.arange(size)]
        surface = rng.choice(len(SURFACES), size, p=SHARES)
        x = scores[first] - scores[second] + own[first, surface] - own[second, surface]
        won = (rng.random(size) < expit(x)).astype(float)
        day = MONTH * month + rng.integers(MONTH, size=size)
        kept = first != second
        found.append([part[kept] for part in (first, second, won, day, surface)])
    first, second, won, day, surface = map(np.concatenate, zip(*found, strict=True))
    games = it.Games.from_arrays(first, second, won, day, by={"surface": SURFACES[surface]})
    number = np.array(games.names, dtype=int)
    column = np.array([SURFACES.tolist().index(value) for value in games.by[0].values])

    def truth(some: it.Games) -> FloatArray:
        i, j, month = number[some.first], number[some.second], some.times.astype(int) // MONTH
        on = column[some.by[0].codes]
        return np.asarray(expit(paths[month, i] - paths[month, j] + own[i, on] - own[j, on]))

    return games, truth


def alone(effort: Effort) -> Effort:
    """Return an effort without time for chains over the whole table."""
    return replace(effort, whole_time=0.0)


def forecasts(
    name: str, table: tuple[it.Games, Callable[[it.Games], FloatArray]]
) -> list[list[str]]:
    games, truth = table
    begin = np.quantile(games.times, 1.0 - LAST)
    early, late = games.only(games.times < begin), games.only(games.times >= begin)
    known = np.isin([late.first, late.second], [early.first, early.second]).all(axis=0)
    plain, rows = replace(early, by=()), []
    effort = Effort()
    ways = {
        "intransit, surfaces": (early, effort),
        "intransit": (plain, effort),
        "Newton's method alone": (plain, alone(effort)),
    }

    def add(system: str, predicted: FloatArray, seconds: float, said: str) -> None:
        losses = log_losses(predicted, late.outcomes)
        means = [np.average(losses, weights=late.counts * part) for part in (1, ~known, known)]
        rows.append([name, system, *(f"{m:.4f}" for m in means), f"{seconds:.0f}", said])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)

    for system, (learnt, given) in ways.items():
        began = time.process_time()
        model = FittedModel(None, effort=given)
        model.learn(learnt)
        took, found = time.process_time() - began, model.posterior
        sweeps = f"{found.mixing.n_sweeps} sweeps, " if found.way == "gibbs" else ""
        newcomers = f"newcomers {found.draws.newcomers.mean():+.2f}"
        add(system, model.predict(late), took, f"{found.way}, {sweeps}{newcomers}")
    plan = cut(smaller_first(plain), 0.25, float(MONTH), 0)
    for system, make, grid in (("Elo", Elo, ELO), ("Glicko-2", Glicko, GLICKO)):
        began = time.process_time()
        peer, settings = best(make, grid | NO_EDGE, plan)
        peer.learn(plain)
        said = ", ".join(f"{key} {value:g}" for key, value in settings.items())
        add(system, peer.predict(late), time.process_time() - began, said)
    add("the true chances", truth(late), 0.0, "")
    return rows


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
