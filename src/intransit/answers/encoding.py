"""From games to what is fitted: levels of victory, covariates, and a grid of times."""

from dataclasses import dataclass, replace

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.inputs import as_whole
from intransit.errors import InputError
from intransit.inference.observations import Observations
from intransit.model import Levels, Model, OutcomeLaw, Readings, Scores, Wins, default_model
from intransit.model.laws import Kind
from intransit.tables import Games
from intransit.timeline import Timeline

MOMENTS = 60  # that the model tells apart: within one, little moves beside what is not known
FEWEST_TIMES = 5  # moments; with fewer nothing drifts
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
    whole_days: bool = False
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of each covariate

    @classmethod
    def of(cls, games: Games, *, law: OutcomeLaw | None = None, finest: int = FINEST) -> "Encoding":
        """Return the encoding that a table asks for, with at most so many moments."""
        if law is not None:
            return cls._for(games, law, finest)
        if games.margins is not None or games.has_ties:
            return cls._for(games, Levels(), finest)
        return cls._for(games, Wins(), finest)

    @classmethod
    def _for(cls, games: Games, law: OutcomeLaw, finest: int) -> "Encoding":
        if isinstance(law, Readings) and games.margins is None:
            raise InputError(
                "law: Readings() needs a margin in every row, and this table has none; leave the "
                "law out, or name the columns of scores."
            )
        edges: tuple[float, ...] = ()
        typical: tuple[float, ...] = ()
        if games.margins is not None and isinstance(law, Levels):
            edges = _edges(games, law.most)
        origin = float(games.times.min())
        step = _step(games.times, float(games.times.max()) - origin, finest)
        dated = games.clock.kind == "date"
        if dated:
            origin, step = float(np.floor(origin)), float(np.ceil(step))  # whole days
        values = tuple((one.name, one.values) for one in games.by)
        blank = cls(law.kind, edges, typical, step, origin, _has_sides(games), dated, values)
        if games.margins is None or not isinstance(law, Levels):
            return blank
        level = np.abs(blank.outcomes(games)).astype(np.int64)
        size = np.abs(games.margins)
        total = np.bincount(level, games.counts, minlength=len(edges) + 2)
        sums = np.bincount(level, games.counts * size, minlength=len(edges) + 2)
        typical = tuple((sums / np.maximum(total, 1e-300)).tolist())
        return replace(blank, typical=typical)

    @property
    def law(self) -> OutcomeLaw:
        """The law of outcomes."""
        if self.loss == "ordered":
            return Levels(len(self.edges) + 1)
        return Wins() if self.loss == "logistic" else Readings()

    def outcomes(self, games: Games) -> FloatArray:  # (n_rows,)
        """Return outcomes as the engine takes them."""
        if self.loss == "logistic":
            return games.outcomes
        won = np.sign(games.outcomes - 0.5)
        if self.loss == "ordered" and not self.edges:
            return won
        if games.margins is None:
            raise InputError(
                "games: the first table had margins and this one has none; give the same columns."
            )
        if self.loss == "squared":
            return games.margins
        return np.asarray(won * (1 + np.searchsorted(self.edges, np.abs(games.margins), "right")))

    def moments(self, times: FloatArray) -> FloatArray:
        """Return the times that results are filed under: the middles of their moments."""
        if self.step == 0.0:
            return times
        middle = 0.5 * (self.step - 1.0 if self.whole_days else self.step)
        number = np.floor((times - self.origin) / self.step)
        return self.origin + self.step * number + max(middle, 0.0)

    def observations(self, games: Games) -> Observations:
        """Return the comparisons as the sampler takes them."""
        data = self.timeline(games)
        codes = np.array([one.codes for one in games.by], dtype=np.int64).reshape(-1, len(games))
        values = tuple((one.name, one.values) for one in games.by)
        return Observations.of(data.rows, self.loss, data.n_items, codes, values)

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


def _edges(games: Games, levels: int) -> tuple[float, ...]:
    """Return sizes that cut the margins of won games into parts of like size."""
    size = np.abs(games.margins) if games.margins is not None else np.zeros(len(games))
    won = games.outcomes != 0.5
    if not won.any():
        return ()
    order = np.argsort(size[won], kind="stable")
    size, below = size[won][order], np.cumsum(games.counts[won][order])
    shares = np.arange(1, levels) / levels * below[-1]
    edges = np.unique(size[np.minimum(np.searchsorted(below, shares), len(size) - 1)])
    # A win by more than this: the next size that occurs, so that both parts are there.
    above = [size[size > edge].min() for edge in edges if (size > edge).any()]
    return tuple(np.unique(above).tolist())


def _step(times: FloatArray, span: float, finest: int) -> float:
    """Return the width of a moment: 0 where the distinct times are few already."""
    if span == 0.0 or len(np.unique(times)) <= finest:
        return 0.0
    return span / finest


def _has_sides(games: Games) -> bool:
    """Return whether sides can be learnt from; not where the side always won."""
    if games.sides is None or not games.sides.any():
        return False
    there = games.sides != 0
    won = np.where(games.sides > 0, games.outcomes, 1.0 - games.outcomes)[there]
    games_there = games.counts[there]
    return not (games_there.sum() >= SURE and bool((won == 1.0).all() or (won == 0.0).all()))


def model_for(
    games: Games,
    *,
    factors: int | None = None,
    pairs: bool | None = None,
    drifting: bool | None = None,
) -> Model:
    """Return the model with every term that a table can have; with few times nothing drifts.

    Parameters
    ----------
    games
        The table.
    factors, pairs, drifting
        None, or how many cyclic factors there are, whether pairs have effects of their own, and
        whether anything moves.
    """
    still = len(np.unique(games.times)) < FEWEST_TIMES if drifting is None else not drifting
    return default_model(
        max(games.n_items, 2),
        by=tuple(one.name for one in games.by),
        still=still,
        sided=games.sides is not None,
        factors=None if factors is None else as_whole("factors", factors, least=0),
        pairs=pairs is not False,
    )


def check_model(model: Model, games: Games) -> None:
    """Refuse a model that asks for what the table does not have."""
    if not isinstance(model, Model):
        raise InputError(
            f"model: a {type(model).__name__} was given; add up terms, such as Scores() + "
            "Factors(2)."
        )
    known = [one.name for one in games.by]
    for term in model.by:
        if term.column not in known:
            listed = f"; it was read with {', '.join(known)}" if known else ""
            raise InputError(
                f"model: By({term.column!r}) needs a column {term.column!r}{listed}; read the "
                f'table with by="{term.column}".'
            )
    most = (max(games.n_items, 2) - 1) // 2 if model.term(Scores) else games.n_items // 2
    if model.n_factors > max(most, 1):
        raise InputError(
            f"model: {model.n_factors} factors for {games.n_items} items; at most "
            f"{max(most, 1)} can be told apart."
        )
