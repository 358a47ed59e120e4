"""Small tables with a known truth, and answers to them without the search for a model."""

import numpy as np

import intransit as it
from intransit.answers.recipe import Model

NAMES = ("rock", "paper", "scissors", "well", "hole")


def play(margins, n_games, rng, *, days=1, begin=0):
    """Return games with these margins, as rows (first, second, won, day)."""
    n = len(margins)
    first = rng.integers(n, size=n_games)
    second = (first + rng.integers(1, n, size=n_games)) % n
    won = rng.random(n_games) < 1.0 / (1.0 + np.exp(-margins[first, second]))
    return first, second, won.astype(float), begin + np.sort(rng.integers(days, size=n_games))


def table(*seasons, names=None):
    """Return seasons of games as one table."""
    first, second, won, day = (np.concatenate(column) for column in zip(*seasons, strict=True))
    size = int(max(first.max(), second.max())) + 1
    called = np.array(names or [f"item {k:02}" for k in range(size)])
    dates = (np.datetime64("2026-01-01") + day).astype(str).tolist()
    return it.Games.from_arrays(called[first].tolist(), called[second].tolist(), won, dates)


def ring(n, size=1.0):
    """Return margins of n items around a circle, each favoured over the half that follows."""
    gap = (np.arange(n)[None, :] - np.arange(n)[:, None]) % n
    return size * (((gap > 0) & (gap < n / 2)).astype(float) - (gap > n / 2))


def ladder(scores):
    """Return margins that are score differences."""
    scores = np.asarray(scores, dtype=float)
    return scores[:, None] - scores[None, :]


def answer_to(games, *, factors=0, pairs=True, drifting=True, turning=False):
    """Return an answer with this model."""
    return it.fit(games, model=Model(factors, pairs, drifting, turning=turning))
