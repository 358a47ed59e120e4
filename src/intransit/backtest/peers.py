"""Other people's rating systems as rungs, where they are installed (extra `peers`)."""

import warnings
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import expit

from intransit.arrays import FloatArray
from intransit.backtest.ladder import Forecaster
from intransit.tables import Games

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
        columns = (games.first, games.second, games.outcomes)
        for i, j, y in zip(*(column.tolist() for column in columns), strict=True):
            (r[i],), (r[j],) = rate([[r[i]], [r[j]]], scores=[y, 1.0 - y])

    def predict(self, fixtures: Games) -> FloatArray:
        """Return what the ratings say."""
        r, win = self.ratings, self.model.predict_win
        met = zip(fixtures.first.tolist(), fixtures.second.tolist(), strict=True)
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
        columns = (games.first, games.second, games.outcomes, games.times / UNIT)
        for i, j, y, t in zip(*(column.tolist() for column in columns), strict=True):
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
        columns = (fixtures.first, fixtures.second, fixtures.times / UNIT)
        met = zip(*(column.tolist() for column in columns), strict=True)
        return np.array([self.model.probabilities([str(i)], [str(j)], t=t)[0] for i, j, t in met])


PEERS: dict[str, Callable[[], Forecaster]] = {
    "choix": Choix,
    "openskill": OpenSkill,
    "kickscore": Kickscore,
}


def installed() -> dict[str, Callable[[], Forecaster]]:
    """Return the peers that are installed, by name."""
    return {name: make for name, make in PEERS.items() if find_spec(name) is not None}
