"""Football and Magic: the time of `smooth`, kickscore on the same work, and what `fit` finds.

International football, decisive matches only, one state a month, plain scores, logistic.  Both
libraries are given the same random walk: prior_scale at an item's first match, drift_scale a year.

Data are read from ../shared/data, or from the directory given:

    python -m benchmarks.football DIRECTORY [without-kickscore]
"""

import csv
import gzip
import statistics
import sys
import time
from datetime import date
from pathlib import Path

import kickscore
import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import FloatArray, IntArray
from intransit.data.cells import collapse_rows
from intransit.inference.joint_problem import Columns, assemble
from intransit.inference.likelihood import Law
from intransit.inference.newton import solve_joint

DATA = Path(__file__).parents[2] / "shared" / "data"
PRIOR, DRIFT = (
    1.7,
    0.18,
)  # of a score at its first match, and of its step in a year: what the data say
SCALES = {"prior_scale": PRIOR, "drift_scale": DRIFT}
LATEST = 32_402  # matches of the prototype that took 0.05 s
LAST = 0.2  # of the matches are forecast
TIMES = 9  # a fit is repeated
EP_ROUNDS, EP_TOLERANCE = 100, 1e-2  # kickscore's own are 100 and 1e-3, which it does not reach
Games = tuple[IntArray, IntArray, FloatArray, FloatArray]


def main(directory: str | Path = DATA, *words: str) -> None:
    directory = Path(directory)
    if not (directory / "football_intl.csv.gz").exists():
        print(
            f"{directory} has no football_intl.csv.gz: nothing was measured.  Give its directory."
        )
        return
    games, n_items = read(directory / "football_intl.csv.gz", months=True)
    speed(tuple(column[-LATEST:] for column in games), n_items)
    speed(games, n_items)
    forecasts(games, n_items, peer="without-kickscore" not in words)
    drawn("Football", games)
    if (directory / "magic.csv.gz").exists():
        modern, _ = read(directory / "magic.csv.gz", months=False, only=("format", "Modern"))
        drawn("Magic, Modern, one state a month", months_of(modern))


def read(path: Path, *, months: bool, only: tuple[str, str] | None = None) -> tuple[Games, int]:
    """Return decisive matches, sorted by time in years, and the number of items."""
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["outcome"] != "0.5" and (only is None or row[only[0]] == only[1])
        ]
    rows.sort(key=lambda row: row["time"])
    names = sorted({row[side] for row in rows for side in "ab"})
    numbers = {name: k for k, name in enumerate(names)}
    first = np.array([numbers[row["a"]] for row in rows])
    second = np.array([numbers[row["b"]] for row in rows])
    wins = np.array([float(row["outcome"]) for row in rows])
    days = [date.fromisoformat(row["time"][:10]) for row in rows]
    times = np.array([day.toordinal() / 365.25 for day in days])
    games = first, second, wins, times - times[0]
    return (months_of(games) if months else games), len(names)


def months_of(games: Games) -> Games:
    """Return the same games with times rounded down to a twelfth of a year."""
    return *games[:3], np.floor(12.0 * games[3]) / 12.0


def speed(games: Games, n_items: int) -> None:
    """Print what a fit takes, part by part, and the whole through the front door."""
    parts: dict[str, list[float]] = {"check": [], "cells": [], "problem": [], "solve": []}
    whole = []
    columns = Columns.plain(n_items, 0, scores=True)
    for _ in range(TIMES + 1):  # the first compiles
        clock = [time.process_time()]
        table = it.Timeline.from_arrays(*games, n_items=n_items)
        clock.append(time.process_time())
        cells = collapse_rows(table.rows, n_items, shares=True)
        clock.append(time.process_time())
        scales = it.Scales(1.0, 0.0, 1.0, score_drift_scale=DRIFT, score_prior_scale=PRIOR)
        problem, _ = assemble(cells, columns, scales, Law("logistic"))
        clock.append(time.process_time())
        solution = solve_joint(problem, problem.without_factors(columns))
        clock.append(time.process_time())
        for name, seconds in zip(parts, np.diff(clock), strict=True):
            parts[name].append(float(seconds))
        whole.append(fit(games, n_items)[1])
    states = problem.strengths.shape[0]
    print(
        f"{len(games[0]):,} decisive matches of {n_items} teams, {len(cells):,} cells, {states:,} "
        f"monthly states, scales given\n(prior_scale {PRIOR}, drift_scale {DRIFT} a year); "
        f"milliseconds of processor, median and best of {TIMES} (to hold: 100 ms):\n"
    )
    names = {
        "check": "check the arrays",
        "cells": "collapse into cells",
        "problem": "link states, build the problem",
        "solve": f"solve: {solution.n_steps} Newton steps, {solution.n_products} products",
    }
    rows = [[label, *times_of(parts[name][1:])] for name, label in names.items()]
    rows.append(["`Timeline.from_arrays` and `smooth`", *times_of(whole[1:])])
    print_table(["part", "median ms", "best ms"], rows)


def times_of(seconds: list[float]) -> list[str]:
    return [f"{1e3 * statistics.median(seconds):.1f}", f"{1e3 * min(seconds):.1f}"]


def fit(games: Games, n_items: int, **settings: object) -> tuple[it.Trajectory, float]:
    """Return a fit of plain scores, and the seconds it took from arrays on."""
    began = time.process_time()
    table = it.Timeline.from_arrays(*games, n_items=n_items)
    chosen = {"n_factors": 0, "loss": "logistic", "rng": 0, **(settings or SCALES)}
    return it.smooth(table, **chosen), time.process_time() - began


def forecasts(games: Games, n_items: int, *, peer: bool) -> None:
    cut = games[3][int((1.0 - LAST) * len(games[0]))]
    past = tuple(column[games[3] < cut] for column in games)
    future = tuple(column[games[3] >= cut] for column in games)
    print(
        f"Fitted once on {len(past[0]):,} matches, {len(future[0]):,} later ones forecast without "
        "refitting, averaged over\nuncertainty; kickscore: Wiener kernel, logit, EP, at most "
        f"{EP_ROUNDS} rounds, tolerance {EP_TOLERANCE:g}\n(to hold: log loss within 0.002, 50 "
        "times as quick; seconds of processor):\n"
    )
    rows = []
    seconds = [fit(past, n_items)[1] for _ in range(TIMES)]
    path = fit(past, n_items)[0]
    ours = path.probability(future[0], future[1], future[3])
    best = statistics.median(seconds)
    rows.append(["intransit, given scales", f"{loss(ours, future):.4f}", f"{best:.3f}", "1"])
    if peer:
        theirs, took, settled = by_kickscore(past, future, n_items)
        name = "kickscore, same scales" + ("" if settled else " (rounds used up)")
        rows.append([name, f"{loss(theirs, future):.4f}", f"{took:.1f}", f"{took / best:.0f}"])
    plug_in = 1.0 / (1.0 + np.exp(-path.margin(future[0], future[1], future[3])))
    rows.append(["intransit, given scales, not averaged", f"{loss(plug_in, future):.4f}", "", ""])
    path, took = fit(past, n_items, prior_scale="auto")
    chances = path.probability(future[0], future[1], future[3])
    name = (
        f"intransit, scales from the data (prior {path.scales.score_prior_scale:.2f}, drift "
        f"{path.scales.score_drift_scale:.3f})"
    )
    rows.append([name, f"{loss(chances, future):.4f}", f"{took:.2f}", f"{took / best:.0f}"])
    print_table(["", "log loss", "seconds", "times the first"], rows)
    if peer:
        gap = abs(loss(ours, future) - loss(theirs, future))
        print(
            f"Log loss differs by {gap:.5f}; probabilities by {np.abs(ours - theirs).max():.3f} at "
            f"most, {np.abs(ours - theirs).mean():.4f} on average.\n"
        )


def by_kickscore(past: Games, future: Games, n_items: int) -> tuple[FloatArray, float, bool]:
    """Return forecasts, the seconds of its fit, and whether it settled."""
    began = time.process_time()
    model = kickscore.BinaryModel(obs_type="logit")
    starts = first_times(past, n_items)
    for k in range(n_items):
        kernel = kickscore.kernel.Wiener(var=DRIFT**2, t0=float(starts[k]), var_t0=PRIOR**2)
        model.add_item(str(k), kernel=kernel)
    for i, j, win, when in zip(*(column.tolist() for column in past), strict=True):
        winner, loser = (str(i), str(j)) if win else (str(j), str(i))
        model.observe([winner], [loser], t=when)
    settled = model.fit(method="ep", tol=EP_TOLERANCE, max_iter=EP_ROUNDS)
    took = time.process_time() - began
    chances = [
        model.probabilities([str(i)], [str(j)], t=when)[0]
        for i, j, when in zip(*(future[k].tolist() for k in (0, 1, 3)), strict=True)
    ]
    return np.array(chances), took, settled


def first_times(games: Games, n_items: int) -> FloatArray:
    """Return when each item was first met; those never met begin with the first of all games."""
    starts = np.full(n_items, np.inf)
    for side in (0, 1):
        np.minimum.at(starts, games[side], games[3])
    return np.where(np.isfinite(starts), starts, games[3].min())


def loss(chances: FloatArray, games: Games) -> float:
    chances = np.clip(chances, 1e-4, 1.0 - 1e-4)
    return float(-np.mean(np.log(np.where(games[2] == 1.0, chances, 1.0 - chances))))


def drawn(title: str, games: Games) -> None:
    """Print what `fit` finds when everything is left to it."""
    names = [f"{k:05d}" for k in range(int(max(games[0].max(), games[1].max())) + 1)]
    first, second = ([names[k] for k in column.tolist()] for column in games[:2])
    table = it.Games.from_arrays(first, second, games[2], games[3])
    began = time.process_time()
    answer = it.fit(table)
    took = time.process_time() - began
    print(f"{title}, {len(games[0]):,} matches, the whole posterior in {took:.0f} s:\n")
    print("\n".join(f"* {line}" for line in answer.story), "\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
