"""Small tables with a known truth, and answers to them with few draws."""

import numpy as np

import intransit as it
from intransit.model import Drift, Factors, Model, PairEffects, Scores, Still

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


def model_with(*, factors=0, pairs=True, drifting=True, pair_drift=False):
    """Return a model; effects of pairs stand still unless they drift."""
    walk = Drift() if drifting else Still()
    terms = [Scores(walk=walk)]
    if factors:
        terms.append(Factors(factors, walk=walk))
    if pairs or pair_drift:
        terms.append(PairEffects(walk=Drift() if pair_drift else Still()))
    return Model(tuple(terms))


def answer_to(games, *, effective=40, rng=0, **terms):
    """Return an answer with this model."""
    return it.fit(games, model=model_with(**terms), effective=effective, rng=rng)
