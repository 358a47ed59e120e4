"""Streaming: `update` with 1 % new comparisons against fitting everything again.

New ones are the latest, or scattered over all times.  The full fit is `smooth` on all comparisons
from nothing, once at the scales of the update and once as it is by default, where scales are
estimated too: what a user would otherwise run, though an update keeps scales.  All times start
from a Timeline.  Margins are compared, with those at the same scales, in posterior deviations;
objectives are those of the states reached.

    python -m benchmarks.updates small       without the million
"""

import sys
import time
from collections.abc import Callable

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import BoolArray, FloatArray, IntArray

NEW = 0.01
SPAN, DRIFT = 100, 0.05
ASKED = 2_000  # margins that are compared
Games = tuple[IntArray, IntArray, FloatArray, FloatArray]
CASES = {
    "scores, like football": (300, 0, 10**5),
    "factors, r=2": (1_000, 2, 2 * 10**5),
    "scores, large": (5_000, 0, 10**6),
}


def main(*words: str) -> None:
    warm_up()
    print(f"{NEW:.0%} new comparisons, logistic, drifting, one core; seconds of processor, best of")
    print("three updates (to hold: 10 times as quick, same answer):\n")
    rows = []
    for name, (n_items, n_factors, n) in CASES.items():
        if "small" in words and n > 10**5 * 2:
            continue
        games = simulate(n_items, n_factors, n)
        for title, new in (("latest", latest(games)), ("scattered", scattered(games))):
            began = time.perf_counter()
            rows.append([name, f"{n:,}", title, *compare(games, new, n_items, n_factors)])
            took = time.perf_counter() - began
            print(f"{name}, {title}: {took:.0f} s", file=sys.stderr, flush=True)
    print_table(
        [
            "model",
            "comparisons",
            "new ones",
            "update",
            "full fit, same scales",
            "times as quick",
            "full fit, scales estimated",
            "times as quick",
            "steps, products of the fit",
            "of the update",
            "largest difference, deviations",
            "objectives differ by",
        ],
        rows,
    )


def warm_up() -> None:
    for n_factors in (0, 2):
        games = simulate(100, n_factors, 5_000)
        compare(games, latest(games), 100, n_factors)


def simulate(n_items: int, n_factors: int, n: int) -> Games:
    """Wins of random pairs, in order of time; margins of scale 1.5 at first."""
    rng = np.random.default_rng(0)
    r = max(n_factors, 1)
    S = np.empty((SPAN, n_items, r))
    S[0] = prior(n_factors) * rng.standard_normal((n_items, r))
    S[1:] = DRIFT * rng.standard_normal((SPAN - 1, n_items, r))
    S = np.cumsum(S, axis=0)
    Q = prior(n_factors) * rng.standard_normal((n_items, r)) if n_factors else np.ones((n_items, 1))
    first = rng.integers(0, n_items, n)
    second = (first + rng.integers(1, n_items, n)) % n_items
    t = np.sort(rng.integers(0, SPAN, n))
    margins = np.sum(S[t, first] * Q[second] - Q[first] * S[t, second], axis=1)
    wins = (rng.random(n) < 1.0 / (1.0 + np.exp(-margins))).astype(float)
    return first, second, wins, t.astype(float)


def prior(n_factors: int) -> float:
    return 1.0 if n_factors == 0 else float(1.5**0.5 * (2 * n_factors) ** -0.25)


def latest(games: Games) -> BoolArray:
    new = np.zeros(len(games[0]), bool)
    new[-max(int(NEW * len(new)), 1) :] = True
    return new


def scattered(games: Games) -> BoolArray:
    return np.random.default_rng(1).random(len(games[0])) < NEW


def compare(games: Games, new: BoolArray, n_items: int, n_factors: int) -> list[str]:
    def table(which: BoolArray) -> it.Timeline:
        return it.Timeline.from_arrays(*(column[which] for column in games), n_items=n_items)

    def fit(which: BoolArray, **scales: float) -> it.Trajectory:
        return it.smooth(table(which), n_factors=n_factors, loss="logistic", rng=0, **scales)

    known = {"drift_scale": DRIFT, "prior_scale": prior(n_factors)}
    before, more, everything = fit(~new, **known), table(new), np.ones_like(new)
    full, seconds = timed(lambda: fit(everything, **known), 1 if len(new) > 10**5 else 3)
    longer, update = timed(lambda: before.update(more), 3)
    _, default = timed(lambda: fit(everything), 1)
    rng = np.random.default_rng(2)
    some = np.concatenate([np.flatnonzero(new), rng.integers(0, len(new), ASKED)])[:ASKED]
    some = np.concatenate([some, rng.integers(0, len(new), ASKED)])
    question = games[0][some], games[1][some], games[3][some]
    deviation = full.sample(20, rng=0).margin(*question).std(axis=0, ddof=1)
    apart = np.abs(longer.margin(*question) - full.margin(*question)) / deviation
    return [
        f"{update:.3f}",
        f"{seconds:.3f}",
        f"{seconds / update:.1f}",
        f"{default:.3f}",
        f"{default / update:.1f}",
        f"{full.solution.n_steps}, {full.solution.n_products}",
        f"{longer.solution.n_steps}, {longer.solution.n_products}",
        f"{apart.max():.4f}",
        f"{objective(longer) - objective(full):+.1e}",
    ]


def objective(path: it.Trajectory) -> float:
    """Return minus the log posterior of the states reached."""
    problem, z = path.problem, path.solution.z
    return problem.loss.value(problem.margins(z)) + problem.penalty(z)


def timed(run: Callable[[], it.Trajectory], times: int) -> tuple[it.Trajectory, float]:
    best = np.inf
    for _ in range(times):
        began = time.process_time()
        answer = run()
        best = min(best, time.process_time() - began)
    return answer, best


if __name__ == "__main__":
    main(*sys.argv[1:])
