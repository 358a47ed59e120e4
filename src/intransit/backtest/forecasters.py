"""Forecasters that learn games in order of time: plain ones, models, other people's rating systems.

All have two calls.  `learn` takes games; `predict` takes fixtures without results and returns the
expected result of the first item, a tie as half a win.  Games come one by one, in order of time
and of the table, unless a forecaster says that it takes rows that stand for many (`folded`).  Other
people's rating systems are rungs where they are installed (extra `peers`).
"""

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from intransit.analysis import numbered_after
from intransit.analysis.transitivity import discount, likeness
from intransit.arrays import CHUNK, FloatArray, mean_and_interval, rows_of, slices
from intransit.backtest.result import DRIFTING, DRIFTING_FACTORS, FACTORS, PAIRS, SCORES
from intransit.data.games import Games, join, own_names
from intransit.errors import InputError
from intransit.inference.observations import MOST_MOMENTS, Encoding, model_for
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Effort
from intransit.inference.table_posterior import draw_posterior, update_posterior
from intransit.model import Drift, Factors, Model, PairEffects, Scores, Side, Still

# Models of the rungs; a side is added where a table has one.
MODELS = {
    SCORES: Model((Scores(walk=Still()),)),
    DRIFTING: Model((Scores(),)),
    PAIRS: Scores() + PairEffects(),
    FACTORS: Scores(walk=Still()) + Factors(walk=Still()),
    DRIFTING_FACTORS: Scores() + Factors(),
}
EFFORT = Effort(effective=50.0, seconds=30.0, most_draws=200)

PRIORS = (2.0, 0.5, 8.0)  # games that both items of a pair have won before they meet
STEPS = (0.1, 0.02, 0.05, 0.15, 0.2, 0.3, 0.45)  # K of Elo, in log odds: 0.1 is a K of 17
# What a side is worth, in log odds: 0.35 is 60 points of Elo, 2 a host that wins 88 % of games.
EDGES = (0.0, 0.2, 0.35, 0.5, 0.8, 1.3, 2.0)
MOST_REPEATS = 200  # of one result at one time that Elo takes in one by one


class Forecaster(Protocol):
    """What a rung does: anything with these two calls can be one.  See `backtest`.

    Items are numbers, the same in all calls: ``games.names[games.first[k]]`` is the first item of
    row k.  ``games.outcomes``, ``times`` (days since 1970 for dates) and ``sides`` (None without)
    are columns of the same length.

    Examples
    --------
    >>> class Hopeful:  # the first item is always favoured
    ...     def learn(self, games):
    ...         pass
    ...     def predict(self, fixtures):
    ...         return [0.6] * len(fixtures)
    >>> fixtures = Games.from_arrays(["rock", "paper"], ["scissors", "rock"], [1, 1])
    >>> Hopeful().predict(fixtures)
    [0.6, 0.6]
    """

    def learn(self, games: Games) -> None:
        """Take in further games: a row each, the oldest first.

        Parameters
        ----------
        games
            The games, with their results.
        """

    def predict(self, fixtures: Games) -> ArrayLike:
        """Return the expected result of the first item of each row, from 0 to 1.

        Parameters
        ----------
        fixtures
            Games to come, without results.

        Returns
        -------
        array_like
            (n_rows,): probability that first wins, a tie as half a win.
        """


class Coin:
    """Every game is a toss."""

    folded = True

    def learn(self, games: Games) -> None:
        """Learn nothing."""

    def predict(self, fixtures: Games) -> FloatArray:
        """Return halves."""
        return np.full(len(fixtures), 0.5)


class Frequencies:
    """The share of games that the first won against the second so far, shrunk to a half."""

    folded = True

    def __init__(self, prior: float) -> None:
        self.prior = prior
        self.won: defaultdict[tuple[int, int], float] = defaultdict(float)
        self.played: defaultdict[tuple[int, int], float] = defaultdict(float)

    def learn(self, games: Games) -> None:
        """Count."""
        for i, j, y, n in rows_of(games.first, games.second, games.outcomes, games.counts):
            self.won[i, j] += n * y
            self.played[i, j] += n

    def predict(self, fixtures: Games) -> FloatArray:
        """Return shares; items stand in one order in all games, so a pair has one entry."""
        met = list(rows_of(fixtures.first, fixtures.second))
        won = np.array([self.won.get(pair, 0.0) for pair in met])
        played = np.array([self.played.get(pair, 0.0) for pair in met])
        return np.asarray((won + self.prior) / (played + 2.0 * self.prior))


class Elo:
    """Ratings in log odds, each moved by `step` times the surprise; `edge` is what a side adds."""

    def __init__(self, step: float, edge: float = 0.0) -> None:
        self.step, self.edge = step, edge
        self.ratings: defaultdict[int, float] = defaultdict(float)

    def learn(self, games: Games) -> None:
        """Move ratings, game by game."""
        r = self.ratings
        columns = (games.first, games.second, games.outcomes, games.counts)
        for i, j, y, n, edge in rows_of(*columns, self.edge * _sides(games)):
            repeats = min(max(round(n), 1), MOST_REPEATS)
            step = self.step * min(n / repeats, 1.0)
            for _ in range(repeats):
                move = step * (y - 1.0 / (1.0 + math.exp(r[j] - r[i] - edge)))
                r[i] += move
                r[j] -= move

    def predict(self, fixtures: Games) -> FloatArray:
        """Return what the ratings say."""
        first, second = (
            np.array([self.ratings.get(k, 0.0) for k in items.tolist()])
            for items in (fixtures.first, fixtures.second)
        )
        return np.asarray(expit(first - second + self.edge * _sides(fixtures)))


class FittedModel:
    """A model of ours: drawn from the first games that it learns and those `seen`, then updated.

    An item that comes up for the first time is forecast as newcomers were.
    """

    folded = True

    def __init__(
        self,
        model: Model | None,
        *,
        seen: Sequence[Games] = (),
        effort: Effort = EFFORT,
        rng: int = 0,
    ) -> None:
        self.model, self.effort, self.seen = model, effort, [*seen]
        # A seed of its own for every place to begin at: it may be drawn anywhere.
        self.rng = np.random.default_rng((rng, len(seen)) if seen else rng)
        self.names: tuple[str, ...] = ()
        self.encoding: Encoding | None = None
        self.alike = 0.0  # correlation of the games of a series
        self.posterior: Posterior | None = None
        self.ranges: list[FloatArray] = []  # (2, n): ends of 90 % intervals of forecasts

    def learn(self, games: Games) -> None:
        """Draw, or update."""
        self.seen.append(games)
        if self.posterior is None or self.encoding is None:
            self._draw(own_names(join(self.seen)))
            return
        more = numbered_after(own_names(games), self.names, set(self.names))
        try:
            seen = self.encoding.observations(discount(more, self.encoding, self.alike))
            self.posterior, _ = update_posterior(
                self.posterior, seen, rng=self.rng, effort=self.effort
            )
            self.names = more.names
        except InputError:  # an outcome of a kind that did not occur before, such as the first tie
            self._draw(own_names(join(self.seen)))

    def _draw(self, games: Games) -> None:
        model = model_for(games) if self.model is None else self.model
        # How fast scores move is not known here, and more moments than needed cost only time.
        levels = None
        if games.margins is not None:
            from intransit.backtest.levels import levels_for  # noqa: PLC0415  not for every table

            levels = levels_for(games)
        self.encoding = Encoding.of(games, law=levels, finest=MOST_MOMENTS)
        self.names = games.names
        if not self.encoding.sided and len(model.terms) > 1:
            model = model.without(Side)
        self.alike = likeness(games, self.encoding)
        counted = discount(games, self.encoding, self.alike)
        self.posterior = draw_posterior(
            self.encoding.observations(counted), model, self.encoding.law, self.effort, rng=self.rng
        )

    def predict(self, fixtures: Games) -> FloatArray:
        """Return forecasts averaged over what is not known, and keep their intervals."""
        assert self.posterior is not None, "it learns before it forecasts"
        place = {name: k for k, name in enumerate(self.names)}
        number = np.array([place.get(name, -1 - k) for k, name in enumerate(fixtures.names)])
        first, second, sides = number[fixtures.first], number[fixtures.second], _sides(fixtures)
        values = dict(self.posterior.layout.seen.values)
        under = {one.name: one.codes for one in fixtures.by if one.name in values}
        told = np.empty((3, len(fixtures)))
        for here in slices(len(fixtures), CHUNK // len(self.posterior)):
            drawn = self.posterior.chances(
                first[here],
                second[here],
                fixtures.times[here],
                sides=sides[here],
                under={name: codes[here] for name, codes in under.items()},
            )
            told[:, here] = mean_and_interval(drawn)
        self.ranges.append(told[1:])
        return np.asarray(told[0])


def _sides(games: Games) -> FloatArray:
    return np.zeros(len(games)) if games.sides is None else games.sides


def model_of(rung: str, games: Games) -> Model | None:
    """Return the model of a rung for a table; None where it is the one with every term."""
    if rung not in MODELS:
        return None
    model = MODELS[rung]
    factors = model.term(Factors)
    if factors is not None:
        most = max((games.n_items - 1) // 2, 1)
        model = model.without(Factors) + replace(factors, n=min(factors.n, most))
    if games.sides is not None:
        moves = isinstance(model.terms[0].walk, Drift)  # type: ignore[attr-defined]
        model = model + (Side() if moves else Side(walk=Still()))
    return model


SMOOTHING = 0.001  # of choix: items that only won, or only lost, have a finite strength
UNIT = 365.25  # days in which kickscore's scores move by their own size
SLOW = 5_000  # games up to which kickscore is run without being named


class Choix:
    """Bradley-Terry strengths by choix (iterative Luce spectral ranking), a tie as half a win."""

    folded = True

    def __init__(self) -> None:
        self.library: Any = import_module("choix")
        self.wins: FloatArray = np.zeros((0, 0))
        self.strengths: FloatArray = np.zeros(0)

    def learn(self, games: Games) -> None:
        """Count, and fit to all games so far."""
        if not len(self.wins):
            self.wins = np.zeros((games.n_items, games.n_items))
        np.add.at(self.wins, (games.first, games.second), games.counts * games.outcomes)
        np.add.at(self.wins, (games.second, games.first), games.counts * (1 - games.outcomes))
        met = np.flatnonzero(self.wins.sum(axis=0) + self.wins.sum(axis=1))
        self.strengths = np.zeros(len(self.wins))
        wins = self.wins[np.ix_(met, met)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = self.library.ilsr_pairwise_dense(wins, alpha=SMOOTHING, tol=1e-6)
        except RuntimeError:  # it did not converge: what one step of it gives
            found = self.library.lsr_pairwise_dense(wins, alpha=SMOOTHING)
        self.strengths[met] = found

    def predict(self, fixtures: Games) -> FloatArray:
        """Return what the strengths say; an item that was not seen is an average one."""
        r = self.strengths
        return np.asarray(expit(r[fixtures.first] - r[fixtures.second]))


class OpenSkill:
    """Ratings of openskill (Weng and Lin's Thurstone-Mosteller model), game by game."""

    def __init__(self) -> None:
        self.model: Any = import_module("openskill.models").ThurstoneMostellerFull()
        self.ratings: defaultdict[int, Any] = defaultdict(self.model.rating)

    def learn(self, games: Games) -> None:
        """Rate."""
        r, rate = self.ratings, self.model.rate
        for i, j, y in rows_of(games.first, games.second, games.outcomes):
            (r[i],), (r[j],) = rate([[r[i]], [r[j]]], scores=[y, 1.0 - y])

    def predict(self, fixtures: Games) -> FloatArray:
        """Return what the ratings say."""
        r, win = self.ratings, self.model.predict_win
        met = rows_of(fixtures.first, fixtures.second)
        return np.array([win([[r[i]], [r[j]]])[0] for i, j in met])


class Kickscore:
    """Scores of kickscore: a constant and an Ornstein-Uhlenbeck part for each item, by EP.

    A tie is learnt as half a win each, which it does not know: once won, once lost, every other.
    """

    def __init__(self) -> None:
        self.library: Any = import_module("kickscore")
        self.model: Any = self.library.BinaryModel(obs_type="logit")
        self.flip = False

    def _add(self, games: Games) -> bool:
        kernel = self.library.kernel
        new = {*games.first.tolist(), *games.second.tolist()} - {int(k) for k in self.model.item}
        for k in sorted(new):
            own = kernel.Constant(var=0.5) + kernel.Exponential(var=0.3, lscale=1.0)
            self.model.add_item(str(k), kernel=own)
        return bool(new)

    def learn(self, games: Games) -> None:
        """Add games, and find the posterior from where it was."""
        self._add(games)
        for i, j, y, t in rows_of(games.first, games.second, games.outcomes, games.times / UNIT):
            won = y > 0.5
            if y == 0.5:
                won, self.flip = self.flip, not self.flip
            pair = (str(i), str(j)) if won else (str(j), str(i))
            self.model.observe([pair[0]], [pair[1]], t=t)
        self.model.fit(max_iter=30, tol=1e-2)

    def predict(self, fixtures: Games) -> FloatArray:
        """Return what the scores say at the time."""
        if self._add(fixtures):
            self.model.fit(max_iter=1)
        met = rows_of(fixtures.first, fixtures.second, fixtures.times / UNIT)
        return np.array([self.model.probabilities([str(i)], [str(j)], t=t)[0] for i, j, t in met])


PEERS: dict[str, Callable[[], Forecaster]] = {
    "choix": Choix,
    "openskill": OpenSkill,
    "kickscore": Kickscore,
}


def installed() -> dict[str, Callable[[], Forecaster]]:
    """Return the peers that are installed, by name."""
    return {name: make for name, make in PEERS.items() if find_spec(name) is not None}
