"""From games to what is fitted: levels of victory, covariates, a grid of times, and cells.

`Encoding` says how the results of a table are told to the engine, `Observations` are the cells that
the sampler takes (equal comparisons of a pair at a time are one), and `Seen` is when each item was
compared, and how often, before times become moments.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.checks import as_whole
from intransit.data.cells import Rows, Timeline
from intransit.data.games import Games
from intransit.errors import InputError
from intransit.model import Levels, Model, OutcomeLaw, Readings, Scores, Wins, default_model
from intransit.model.laws import Kind
from intransit.study import connected


@dataclass(frozen=True, eq=False)
class Observations:
    """Cells, sorted by pair and then by time; the first item of a pair is the smaller number."""

    kind: Kind
    n_items: int
    pairs: IntArray  # (n_cells, 2)
    times: FloatArray  # (n_cells,)
    counts: FloatArray  # (n_cells,): games or readings
    means: FloatArray  # (n_cells,): share of games that the first won, its level, or mean reading
    sides: FloatArray  # (n_cells,): 1 the first had the better side, -1 the second, 0 neither
    codes: IntArray  # (n_covariates, n_cells): number of each one's value, -1 where it has none
    n_rows: int
    spread: float = 0.0  # Σ counts (outcome - mean of its cell)², of readings
    values: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())  # of each covariate
    positive: FloatArray | None = None  # (n_cells,): readings above 0, those of 0 as half
    has_bare_rates: bool = False  # whether rows were shares of games whose number is not known

    def __len__(self) -> int:
        return len(self.times)

    @property
    def axis(self) -> FloatArray:
        """The distinct times, rising."""
        return np.unique(self.times)

    @property
    def wins(self) -> FloatArray:  # (n_cells,)
        """Games that the first item won, a tie as half."""
        if self.positive is not None:
            return self.positive
        won = self.means if self.kind == "logistic" else 0.5 + 0.5 * np.sign(self.means)
        return np.asarray(self.counts * won)

    @property
    def played(self) -> FloatArray:  # (n_items,)
        """Games of each item."""
        return np.bincount(self.pairs.ravel(), np.repeat(self.counts, 2), self.n_items).astype(
            float
        )

    @property
    def n_levels(self) -> int:
        """Levels of victory that occur; 0 where outcomes are no levels."""
        return int(np.abs(self.means).max(initial=1.0)) if self.kind == "ordered" else 0

    @classmethod
    def of(
        cls,
        rows: Rows,
        kind: Kind,
        n_items: int,
        codes: IntArray | None = None,
        values: Sequence[tuple[str, tuple[str, ...]]] = (),
    ) -> "Observations":
        """Collapse rows into cells; those that compare an item with itself are left out."""
        covariates = np.zeros((0, len(rows)), np.int64) if codes is None else codes
        apart = rows.pairs[:, 0] != rows.pairs[:, 1]
        rows, covariates = rows.only(apart), covariates[:, apart]
        swap = rows.pairs[:, 0] > rows.pairs[:, 1]
        pairs = np.where(swap[:, None], rows.pairs[:, ::-1], rows.pairs)
        mirrored = 1.0 - rows.outcomes if kind == "logistic" else -rows.outcomes
        outcomes = np.where(swap, mirrored, rows.outcomes)
        sides = (
            np.zeros(len(rows)) if rows.sides is None else np.where(swap, -1.0, 1.0) * rows.sides
        )
        return cls(
            kind,
            n_items,
            pairs,
            rows.times,
            rows.counts,
            outcomes,
            sides,
            covariates,
            len(rows),
            0.0,
            tuple(values),
            rows.counts * (0.5 + 0.5 * np.sign(outcomes)) if kind == "squared" else None,
        )._collapsed()

    def plus(self, more: "Observations") -> "Observations":
        """Return both together; `more` may know further items and values at the end."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(more, name)])
            for name in ("pairs", "times", "counts", "means", "sides")
        }
        return replace(
            self,
            n_items=max(self.n_items, more.n_items),
            codes=np.concatenate([self.codes, more.codes], axis=1),
            n_rows=self.n_rows + more.n_rows,
            spread=self.spread + more.spread,
            values=more.values,
            positive=np.concatenate([self.wins, more.wins]) if self.kind == "squared" else None,
            has_bare_rates=self.has_bare_rates or more.has_bare_rates,
            **columns,
        )._collapsed()

    def among(self, items: IntArray, rows: IntArray) -> "Observations":
        """Return the cells among some items, rising, which are numbered anew."""
        some = self.only(rows)
        pairs = np.searchsorted(items, some.pairs)
        return replace(some, n_items=len(items), pairs=pairs, n_rows=len(rows), spread=0.0)

    def only(self, rows: IntArray) -> "Observations":
        """Return some of the cells."""
        return replace(
            self,
            pairs=np.ascontiguousarray(self.pairs[rows]),
            times=self.times[rows],
            counts=self.counts[rows],
            means=self.means[rows],
            sides=self.sides[rows],
            codes=np.ascontiguousarray(self.codes[:, rows]),
            positive=None if self.positive is None else self.positive[rows],
        )

    def timeless(self) -> "Observations":
        """Return all cells as of one time."""
        return replace(self, times=np.zeros(len(self)))._collapsed()

    def _collapsed(self) -> "Observations":
        """Return equal comparisons as one, sorted."""
        axis, when = np.unique(self.times, return_inverse=True)
        key = (self.pairs[:, 0] * self.n_items + self.pairs[:, 1]) * len(axis) + when
        for part in (self.sides, *self.codes):
            there, number = np.unique(part, return_inverse=True)
            key = key * len(there) + number
        if self.kind == "ordered":
            key = key * (2 * self.n_levels + 1) + (self.means + self.n_levels).astype(np.int64)
        _, first, cell = np.unique(key, return_index=True, return_inverse=True)
        counts = np.asarray(np.bincount(cell, self.counts), dtype=np.float64)
        means = self.means[first]
        if self.kind != "ordered":
            means = np.bincount(cell, self.counts * self.means) / counts
        spread = self.spread
        if self.kind == "squared":
            spread += float(np.sum(self.counts * (self.means - means[cell]) ** 2))
        positive = None if self.positive is None else np.bincount(cell, self.positive).astype(float)
        some = self.only(first)
        return replace(some, counts=counts, means=means, spread=spread, positive=positive)


@dataclass(frozen=True, eq=False)
class Seen:
    """Of every item: its first and last time, and its number of games."""

    first: FloatArray  # (n_items,), infinite where an item was never compared
    last: FloatArray  # (n_items,), minus infinite there
    games: FloatArray  # (n_items,)

    @classmethod
    def among(
        cls,
        first: IntArray,  # (n,)
        second: IntArray,
        times: FloatArray,
        counts: FloatArray,
        n_items: int,
    ) -> "Seen":
        """Look through comparisons."""
        nobody = np.full(n_items, np.inf)
        seen = cls(nobody, -nobody, np.zeros(n_items))
        for who in (first, second):
            np.minimum.at(seen.first, who, times)
            np.maximum.at(seen.last, who, times)
            np.add.at(seen.games, who, counts)
        return seen

    @classmethod
    def of(cls, games: Games) -> "Seen":
        """Look through a table."""
        return cls.among(games.first, games.second, games.times, games.counts, games.n_items)

    def only(self, items: IntArray) -> "Seen":
        """Return some of the items; the first and the last time stay those of all."""
        some = Seen(self.first[items], self.last[items], self.games[items])
        vars(some).update(begin=self.begin, end=self.end)  # in place of what would be cached
        return some

    def plus(self, more: "Seen") -> "Seen":
        """Return both together; `more` may know further items at the end."""
        wide = len(more.games) - len(self.games)
        return Seen(
            np.minimum(np.pad(self.first, (0, wide), constant_values=np.inf), more.first),
            np.maximum(np.pad(self.last, (0, wide), constant_values=-np.inf), more.last),
            np.pad(self.games, (0, wide)) + more.games,
        )

    @cached_property
    def begin(self) -> float:
        """The first time of all."""
        return float(self.first.min())

    @cached_property
    def end(self) -> float:
        """The last time of all."""
        return float(self.last.max())


MOST_TIERS = 20  # directions of the field in which scores may rise
SLOWEST = 0.01  # rate at which two parts meet, below which it makes no difference how rarely
AT_RANDOM = 0.9  # of the rate at which parts meet if everybody meets anybody, that is still rare
FEW = 200  # items up to which all directions are found at once


def tiers_of(seen: Observations) -> FloatArray:  # (n_items, n_tiers)
    """Return the directions in which scores may rise from one part of the field to another.

    They are the slowest eigenvectors u of the graph of who met whom, L u = λ D u, where parts of
    the field meet more rarely than they would at random (λ about 1 - 2 / √games of an item, for the
    best division of it).  On a ladder the first is the place on it; between two leagues that hardly
    meet it is the league.  Each has a mean square of 1, and is as long as it is slow: 1 / λ beside
    the first, as for the coefficients of a straight line along a ladder.  Items that nothing
    connects with most of the field have no part in it.
    """
    n = seen.n_items
    games = seen.played
    group = connected(seen.pairs, n)
    there = group == np.argmax(np.bincount(group, games))
    i, j = seen.pairs[there[seen.pairs[:, 0]]].T
    typical = games[there].sum() / there.sum()
    rare = AT_RANDOM * (1.0 - 2.0 / np.sqrt(max(typical, 1.0)))
    if rare <= 0.0 or there.sum() < 4:
        return np.zeros((n, 0))
    root = np.divide(1.0, np.sqrt(games), out=np.zeros(n), where=there)
    weight = seen.counts[there[seen.pairs[:, 0]]] * root[i] * root[j]
    graph = coo_array((np.tile(weight, 2), (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
    if n <= FEW:
        values, vectors = np.linalg.eigh(graph.toarray())
    else:
        from scipy.sparse.linalg import eigsh  # noqa: PLC0415  many items only

        begin = np.sqrt(games) * (1.0 + np.arange(n) / n)
        values, vectors = eigsh(graph, MOST_TIERS + 1, which="LA", tol=1e-3, v0=begin)
    slow = np.argsort(values)[::-1][1 : 1 + min(MOST_TIERS, n // 2)]  # the first is the whole field
    slow = slow[1.0 - values[slow] < rare]
    if not len(slow):
        return np.zeros((n, 0))
    tiers = root[:, None] * vectors[:, slow]
    tiers[there] -= tiers[there].mean(axis=0)
    tiers /= np.sqrt(np.mean(tiers[there] ** 2, axis=0))
    rates = np.maximum(1.0 - values[slow], SLOWEST)
    return np.asarray(tiers * (rates[0] / rates))


# Moments that the model tells apart.  Where an item has 40 to 600 games, chances are as near to the
# truth with 24 as with 60 (KL within its error, five kinds of walks, 16 tables each; a trial).
FEWEST_MOMENTS, MOST_MOMENTS = 24, 60
FEWEST_TIMES = 5  # moments; with fewer nothing drifts
MOSTLY = 0.9  # share of the times
LEAST_ORDER = 5  # items: of fewer that meet, many results put them in order by chance
SPARE = 0.03  # share of triples, as those who did not finish are tied
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
    orders: bool = False  # whether the games of a time are one event, such as a race

    @classmethod
    def of(cls, games: Games, *, law: OutcomeLaw | None = None, finest: int = FINEST) -> "Encoding":
        """Return the encoding that a table asks for, with at most so many moments."""
        if law is None:
            law = Levels() if games.margins is not None or games.has_ties else Wins()
        if isinstance(law, Readings) and games.margins is None:
            raise InputError(
                "law: Readings() needs a margin in every row, and this table has none; leave the "
                "law out, or name the columns of scores."
            )
        sized = law if games.margins is not None and isinstance(law, Levels) else None
        edges = () if sized is None else _edges(games, sized.most)
        origin = float(games.times.min())
        step = _step(games.times, float(games.times.max()) - origin, finest)
        days = in_days(games)
        if days:
            origin, step = float(np.floor(origin)), float(np.ceil(step))
        values = tuple((one.name, one.values) for one in games.by)
        sided, orders = _has_sides(games), are_orders(games)
        blank = cls(law.kind, edges, (), step, origin, sided, days, values, orders)
        if sized is None or games.margins is None:
            return blank
        level = np.abs(blank.outcomes(games)).astype(np.int64)
        size = np.abs(games.margins)
        total = np.bincount(level, games.counts, minlength=len(edges) + 2)
        sums = np.bincount(level, games.counts * size, minlength=len(edges) + 2)
        return replace(blank, typical=tuple((sums / np.maximum(total, 1e-300)).tolist()))

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
        shares = (2.0 * games.outcomes % 1.0 > 0.0) & (games.counts <= 1.0)
        return replace(
            Observations.of(data.rows, self.loss, data.n_items, codes, values),
            has_bare_rates=self.loss == "logistic" and bool(shares.any()),
        )

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


@dataclass(frozen=True, eq=False)
class Events:
    """The games of each time."""

    number: IntArray  # (n_rows,): the event of each row
    n_items: IntArray  # (n_events,)
    n_won: FloatArray  # (n_appearances,): by an item in an event
    event: IntArray  # (n_appearances,)
    whole: BoolArray  # (n_events,): whether each two of its items met, in one row

    @classmethod
    def of(cls, games: Games) -> "Events":
        """Return the events of a table."""
        _, number, sizes = np.unique(games.times, return_inverse=True, return_counts=True)
        who = np.tile(number, 2) * games.n_items + np.concatenate([games.first, games.second])
        there, place = np.unique(who, return_inverse=True)
        won = np.bincount(place, np.concatenate([games.outcomes, 1.0 - games.outcomes]))
        n = np.bincount(there // games.n_items)
        whole = 2 * sizes == n * (n - 1)
        return cls(number, n, won.astype(np.float64), there // games.n_items, whole)


def are_orders(games: Games) -> bool:
    """Return whether the games of a time are one event that puts all its items in order.

    By chance a quarter of the triples of items go round in a circle.
    """
    sizes = np.unique(games.times, return_counts=True)[1]
    if np.mean((np.sqrt(8.0 * sizes + 1.0) % 1.0) == 0.0) < MOSTLY:  # of n (n - 1) / 2 games
        return False
    events = Events.of(games)
    n, whole = events.n_items, events.whole & (events.n_items >= LEAST_ORDER)
    # Of triples that go round, the numbers of games won tell how many there are.
    round_ = n * (n - 1) * (2 * n - 1) / 12 - np.bincount(events.event, events.n_won**2) / 2
    triples = n * (n - 1) * (n - 2) / 6
    return bool(whole.mean() >= MOSTLY and round_[whole].sum() <= SPARE * triples[whole].sum())


def discount_orders(games: Games) -> Games:
    """Return the games, those of an event that puts n items in order counted for 3 / (n + 1) each.

    Of equal items in an order that is drawn by their strengths, the number that one of them beats
    has the variance (n² - 1) / 12, where as many independent games would have (n - 1) / 4.
    """
    events = Events.of(games)
    worth = np.where(events.whole, 3.0 / (events.n_items + 1.0), 1.0)
    return replace(games, counts=games.counts * worth[events.number])


def in_days(games: Games) -> bool:
    """Return whether times are told apart by whole days; of a table of few days, by the hour."""
    dated = games.clock.kind == "date"
    return dated and len(np.unique(np.floor(games.times))) >= FEWEST_TIMES


def n_moments(games: Games, speed: float, law: OutcomeLaw | None = None) -> int:
    """Return how many moments to tell apart: as many as the games of an item can.

    `speed` is the standard deviation of what a score moves by in a unit of time.  Of a walk that
    moves by V over the whole time, n games of curvature 1/4 tell an average over a share
    √(4 / n V²) of it; a moment is half as long.  Items that play more count for more.  Readings may
    be precise, so they have as many as there can be.
    """
    if isinstance(law, Readings):
        return MOST_MOMENTS
    played = np.bincount(np.concatenate([games.first, games.second]), np.tile(games.counts, 2))
    usual = float(np.sum(played**2)) / max(float(np.sum(played)), 1.0)
    moves = speed * np.sqrt(np.ptp(games.times))
    return int(np.clip(np.sqrt(usual) * moves, FEWEST_MOMENTS, MOST_MOMENTS))


def _edges(games: Games, levels: int) -> tuple[float, ...]:
    """Return the sizes of wins from which on they are clearer ones: parts as alike as can be."""
    won = games.outcomes != 0.5
    if games.margins is None or not won.any():
        return ()
    sizes, which = np.unique(np.abs(games.margins[won]), return_inverse=True)
    below = np.cumsum(np.bincount(which, games.counts[won]))[:-1] / games.counts[won].sum()
    if not len(below):
        return ()
    nearest = np.abs(below[:, None] - np.arange(1, levels) / levels).argmin(axis=0)
    return tuple(sizes[np.unique(nearest) + 1].tolist())


def _step(times: FloatArray, span: float, finest: int) -> float:
    """Return the width of a moment: 0 where the distinct times are few already.

    As many moments as are told apart are those in which something was played.  So a pause, or one
    game long before all others, makes no moment wider.
    """
    distinct = np.unique(times)
    if span == 0.0 or len(distinct) <= finest:
        return 0.0
    step = span / finest
    since = distinct - distinct[0]
    while len(np.unique(np.floor(since / (0.5 * step)))) <= finest:
        step *= 0.5  # ends, as there are more distinct times than that
    return step


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
    """Return the model with every term that a table can have.

    With few times nothing drifts.  What is not None says how many cyclic factors there are, whether
    pairs have effects of their own, and whether anything moves.
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
