"""The rungs: forecasters that learn games in order of time and say what to expect of the next.

All have two calls.  `learn` takes games, and who meets whom in the block that comes next;
`forecast` takes fixtures without results and returns the expected result of the first item, a tie
as half a win.
"""

import itertools
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import numpy as np
from scipy.special import expit

from intransit.answers import Answer, fit
from intransit.answers.recipe import Model
from intransit.arrays import FloatArray
from intransit.backtest.blocks import Plan, cut, join, only_known, without_results
from intransit.backtest.measures import LEVEL, log_losses
from intransit.errors import InputError, IntransitWarning
from intransit.tables import Games

COIN, FREQUENCIES, ELO, EVERYTHING = "coin", "frequencies", "Elo", "everything"
SCORES, DRIFTING, PAIRS = "static scores", "drifting scores", "drifting scores + pair effects"
FACTORS, DRIFTING_FACTORS = "static factors", "drifting factors"
LADDER = (COIN, FREQUENCIES, ELO, SCORES, DRIFTING, PAIRS, FACTORS, DRIFTING_FACTORS, EVERYTHING)

TUNED_ON = 0.25  # of the games before the test part, the latest
PRIORS = (2.0, 0.5, 8.0)  # games that both items of a pair have won before they meet
STEPS = (0.1, 0.02, 0.05, 0.15, 0.2, 0.3, 0.45)  # K of Elo, in log odds: 0.1 is a K of 17
EDGES = (0.0, 0.2, 0.35, 0.5)  # what a side is worth, in log odds: 0.35 is 60 points of Elo
MOST_REPEATS = 200  # of one result at one time that Elo takes in one by one


class Forecaster(Protocol):
    """What a rung does."""

    def learn(self, games: Games, ahead: Games) -> None:
        """Take in further games."""

    def forecast(self, fixtures: Games) -> FloatArray:
        """Return expected results."""


class Coin:
    """Every game is a toss."""

    def learn(self, games: Games, ahead: Games) -> None:
        """Learn nothing."""

    def forecast(self, fixtures: Games) -> FloatArray:
        """Return halves."""
        return np.full(len(fixtures), 0.5)


class Frequencies:
    """The share of games that the first won against the second so far, shrunk to a half."""

    def __init__(self, prior: float) -> None:
        self.prior = prior
        self.won: defaultdict[tuple[int, int], float] = defaultdict(float)
        self.played: defaultdict[tuple[int, int], float] = defaultdict(float)

    def learn(self, games: Games, ahead: Games) -> None:  # noqa: ARG002
        """Count."""
        for i, j, y, n in zip(
            *(c.tolist() for c in (games.first, games.second, games.outcomes, games.counts)),
            strict=True,
        ):
            self.won[i, j] += n * y
            self.played[i, j] += n

    def forecast(self, fixtures: Games) -> FloatArray:
        """Return shares; items stand in one order in all games, so a pair has one entry."""
        met = list(zip(fixtures.first.tolist(), fixtures.second.tolist(), strict=True))
        won = np.array([self.won.get(pair, 0.0) for pair in met])
        played = np.array([self.played.get(pair, 0.0) for pair in met])
        return np.asarray((won + self.prior) / (played + 2.0 * self.prior))


class Elo:
    """Ratings in log odds, each moved by `step` times the surprise; `edge` is what a side adds."""

    def __init__(self, step: float, edge: float = 0.0) -> None:
        self.step, self.edge = step, edge
        self.ratings: defaultdict[int, float] = defaultdict(float)

    def learn(self, games: Games, ahead: Games) -> None:  # noqa: ARG002
        """Move ratings, game by game."""
        r = self.ratings
        edges = (self.edge * _sides(games)).tolist()
        columns = (c.tolist() for c in (games.first, games.second, games.outcomes, games.counts))
        for i, j, y, n, edge in zip(*columns, edges, strict=True):
            repeats = min(max(round(n), 1), MOST_REPEATS)
            step = self.step * min(n / repeats, 1.0)
            for _ in range(repeats):
                move = step * (y - 1.0 / (1.0 + math.exp(r[j] - r[i] - edge)))
                r[i] += move
                r[j] -= move

    def forecast(self, fixtures: Games) -> FloatArray:
        """Return what the ratings say."""
        first, second = (
            np.array([self.ratings.get(k, 0.0) for k in items.tolist()])
            for items in (fixtures.first, fixtures.second)
        )
        return np.asarray(expit(first - second + self.edge * _sides(fixtures)))


class Fitted:
    """A model of ours: fitted, then updated; fitted again, scales too, every `refit` blocks."""

    def __init__(self, ask: Callable[[Games], Answer], refit: int) -> None:
        self.ask, self.refit = ask, refit
        self.seen: list[Games] = []
        self.answer: Answer | None = None
        self.ranges: list[tuple[FloatArray, FloatArray]] = []  # 90 % intervals of forecasts
        self.doubts: list[str] = []

    def learn(self, games: Games, ahead: Games) -> None:
        """Fit, or update."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", IntransitWarning)
            self.answer = self._learn(games, ahead)
        self.doubts += [str(w.message) for w in said]

    def _learn(self, games: Games, ahead: Games) -> Answer:
        self.seen.append(games)
        due = self.refit and (len(self.seen) - 1) % self.refit == 0
        if self.answer is not None and not due:
            try:
                return self.answer.update(only_known(games, ahead))
            except InputError:
                pass  # an outcome of a kind that did not occur before, such as the first tie
        return self.ask(only_known(join(self.seen), ahead))

    def forecast(self, fixtures: Games) -> FloatArray:
        """Return forecasts averaged over what is not known, and keep their intervals."""
        assert self.answer is not None, "it learns before it forecasts"
        place = {name: k for k, name in enumerate(self.answer.names)}
        known = np.array([place.get(name, -1) for name in fixtures.names])
        first, second = known[fixtures.first], known[fixtures.second]
        sides = _sides(fixtures)
        asked = (first, second, fixtures.times)
        p = self.answer.probabilities(*asked, side=sides)  # type: ignore[arg-type]
        low, high = self.answer.path.probability_interval(*asked, side=sides, level=LEVEL)
        self.ranges.append((np.minimum(low, p), np.maximum(high, p)))
        return p


def _sides(games: Games) -> FloatArray:
    return np.zeros(len(games)) if games.sides is None else games.sides


def roll(forecaster: Forecaster, plan: Plan, report: Callable[[str], None]) -> FloatArray:
    """Learn what is early; then forecast each block, and only afterwards learn it."""
    ahead = [without_results(block) for block in plan.blocks]
    forecaster.learn(plan.early, ahead[0])
    out = []
    for k, fixtures in enumerate(ahead):
        report(f"block {k + 1} of {len(ahead)}")
        out.append(forecaster.forecast(fixtures))
        if k + 1 < len(ahead):
            forecaster.learn(plan.blocks[k], ahead[k + 1])
    return np.concatenate(out)


def tuned(
    make: Callable[..., Forecaster],
    grid: Mapping[str, Iterable[float]],
    early: Games,
    every: float | None,
    rng: int,
) -> dict[str, float]:
    """Return the settings of least log loss on the latest quarter of the early games."""
    plan = cut(early, TUNED_ON, every, rng)
    y, weights = plan.test.outcomes, plan.test.counts
    settings = [
        dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())
    ]
    losses = [
        weights @ log_losses(roll(make(**setting), plan, lambda _: None), y) for setting in settings
    ]
    return settings[int(np.argmin(losses))]


def ask_fit(games: Games, model: Model | None, rng: int) -> Answer:
    """Return what `fit` answers with this model, or with the one that it chooses."""
    return fit(games, model=model, rng=rng)
