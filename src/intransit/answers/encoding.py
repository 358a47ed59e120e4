"""From games to what the engine takes: levels of victory, and a grid of times."""

from dataclasses import dataclass

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.law import Kind
from intransit.errors import InputError
from intransit.tables import Games
from intransit.timeline import Timeline

LEVELS = 3  # of victory that a margin is told apart by
FINEST = 300  # moments over the whole time: more would tell apart what hardly differs
SURE = 20  # games with a side, all won by it: the side was written down after the result


@dataclass(frozen=True)
class Encoding:
    """How the results of one table are told to the engine."""

    loss: Kind
    edges: tuple[float, ...]  # sizes of margins at which a win becomes a clearer one
    typical: tuple[float, ...]  # mean size of a margin, by level from 0; empty without margins
    step: float  # width of a moment; 0 where times stay as they are
    origin: float  # where the first moment begins
    sided: bool
    still: bool = False  # nothing drifts: all results are filed under one moment

    @classmethod
    def of(cls, games: Games) -> "Encoding":
        """Return the encoding that a table asks for."""
        loss: Kind = "logistic"
        edges: tuple[float, ...] = ()
        typical: tuple[float, ...] = ()
        if games.margins is not None:
            loss, edges = "ordered", _edges(games)
        elif games.has_ties:
            loss = "ordered"
        origin = float(games.times.min())
        step = _step(games.times, float(games.times.max()) - origin)
        if games.clock.kind == "date":
            origin, step = float(np.floor(origin)), float(np.ceil(step))  # whole days
        blank = cls(loss, edges, typical, step, origin, _has_sides(games))
        if games.margins is None:
            return blank
        level = np.abs(blank.outcomes(games)).astype(np.int64)
        size = np.abs(games.margins)
        total = np.bincount(level, games.counts, minlength=len(edges) + 2)
        sums = np.bincount(level, games.counts * size, minlength=len(edges) + 2)
        typical = tuple((sums / np.maximum(total, 1e-300)).tolist())
        return cls(loss, edges, typical, step, origin, blank.sided)

    def outcomes(self, games: Games) -> FloatArray:  # (n_rows,)
        """Return outcomes as the engine takes them."""
        if self.loss == "logistic":
            return games.outcomes
        won = np.sign(games.outcomes - 0.5)
        if not self.edges:
            return won
        if games.margins is None:
            raise InputError(
                "games: the first table had margins and this one has none; give the same columns."
            )
        return np.asarray(won * (1 + np.searchsorted(self.edges, np.abs(games.margins), "right")))

    def moments(self, times: FloatArray) -> FloatArray:
        """Return the times that results are filed under: the beginnings of their moments."""
        if self.still:
            return np.zeros(len(times))
        if self.step == 0.0:
            return times
        return self.origin + self.step * np.floor((times - self.origin) / self.step)

    def timeline(self, games: Games) -> Timeline:
        """Return the comparisons as the engine takes them."""
        if self.sided and games.sides is None:
            raise InputError(
                "games: the first table said who had the side and this one does not; give the "
                "same columns."
            )
        return Timeline.from_arrays(
            games.first,
            games.second,
            self.outcomes(games),
            self.moments(games.times),
            counts=games.counts,
            sides=games.sides if self.sided else None,
            n_items=max(games.n_items, 2),
        )


def _edges(games: Games) -> tuple[float, ...]:
    """Return sizes that cut the margins of won games into parts of like size."""
    size = np.abs(games.margins) if games.margins is not None else np.zeros(len(games))
    won = games.outcomes != 0.5
    if not won.any():
        return ()
    order = np.argsort(size[won], kind="stable")
    size, below = size[won][order], np.cumsum(games.counts[won][order])
    shares = np.arange(1, LEVELS) / LEVELS * below[-1]
    edges = np.unique(size[np.minimum(np.searchsorted(below, shares), len(size) - 1)])
    # A win by more than this: the next size that occurs, so that both parts are there.
    above = [size[size > edge].min() for edge in edges if (size > edge).any()]
    return tuple(np.unique(above).tolist())


def _step(times: FloatArray, span: float) -> float:
    """Return the width of a moment: 0 where the distinct times are few already."""
    if span == 0.0 or len(np.unique(times)) <= FINEST:
        return 0.0
    return span / FINEST


def _has_sides(games: Games) -> bool:
    """Return whether sides can be learnt from; not where the side always won."""
    if games.sides is None or not games.sides.any():
        return False
    there = games.sides != 0
    won = np.where(games.sides > 0, games.outcomes, 1.0 - games.outcomes)[there]
    games_there = games.counts[there]
    return not (games_there.sum() >= SURE and bool((won == 1.0).all() or (won == 0.0).all()))
