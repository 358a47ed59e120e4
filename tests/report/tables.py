"""Small tables with a known truth, and odd ones, for the tests of findings."""

from dataclasses import replace
from functools import cache

import numpy as np

from intransit import Games, fit
from intransit.datasets import simulate_games
from intransit.model import Factors, Model, PairEffects, Scores, Still

FACTOR = Scores() + Factors(1)
STATIC = Scores(walk=Still()) + Factors(1, walk=Still())
PAIRS = Scores() + PairEffects()
SCORES = Model((Scores(),))
FEW = 25  # effective draws: enough for what is shown


def cyclic_answer(model=FACTOR, n_items=7, n_games=1000, *, verdict="cycles", cyclic=0.7):
    """Return an answer to simulated games, fitted once, its verdict as wanted."""
    return judged(_fitted(model, n_items, n_games, cyclic), verdict)


@cache
def _fitted(model, n_items, n_games, cyclic):
    games, _ = simulate_games(n_items, n_games, n_days=30, cyclic=cyclic, rng=4)
    return fit(games, model=model, effective=FEW)


def judged(answer, verdict="cycles", **words):
    """Return an answer whose verdict, and what it rests on, is set by hand."""
    told = {
        "p_value": 0.0004,
        "gain": 0.012,
        "gain_error": 0.002,
        "share": 0.3,
        "share_low": 0.2,
        "share_high": 0.41,
        "level": 0.9,
        "detectable": 0.06,
    }
    return replace(answer, transitive=replace(answer.transitive, verdict=verdict, **told | words))


def odd_games():
    """Return tables that are hard to say anything about, by name."""
    rng = np.random.default_rng(2)
    a, b = ["x"] * 12, ["y"] * 12
    ring = np.array(["rock", "paper", "scissors"])
    first = rng.integers(100, size=400)
    second = (first + rng.integers(1, 100, size=400)) % 100
    return {
        "two items": Games.from_arrays(a, b, [1, 0, 1] * 4, list(range(12))),
        "one game": Games.from_arrays(["x"], ["y"], [1], ["2026-01-01"]),
        "no times": Games.from_arrays(ring[[0, 1, 2] * 9], ring[[2, 0, 1] * 9], [1, 1, 0] * 9),
        "only ties": Games.from_arrays(
            ring[[0, 1, 2] * 9], ring[[2, 0, 1] * 9], [0.5] * 27, list(range(27))
        ),
        "one time": Games.from_arrays(
            ring[[0, 1, 2] * 9], ring[[2, 0, 1] * 9], [1, 1, 0] * 9, ["2026-01-01"] * 27
        ),
        "several pools": Games.from_arrays(
            [*ring[[0, 1, 2] * 9], "x", "x", "left"],
            [*ring[[2, 0, 1] * 9], "y", "y", "right"],
            [1, 1, 1] * 10,
            list(range(30)),
        ),
        "many items": Games.from_arrays(
            [f"team {k}" for k in first],
            [f"team {k}" for k in second],
            rng.integers(2, size=400),
            np.sort(rng.integers(60, size=400)).tolist(),
        ),
    }
