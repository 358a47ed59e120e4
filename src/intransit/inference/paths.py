"""Paths over time of items, pairs, sides and covariate values: which state enters which cell.

An owner has a state only at times at which a cell speaks of it; what stands still has one.

The posteriors around a solution of Newton's method and of a filter are Gaussian in the states.
Margins of draws are to first order around the mean,

    X  =  (s + δs) q  +  s δq,      less the same with the items exchanged

as products of two steps would add noise along directions that the data hold together but hardly
each alone.  In a draw that is two planes for each factor, (s + δs, q) and (s, δq).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.inference.observations import Observations, tiers_of
from intransit.inference.path_kernels import CellEntries, Walks
from intransit.model.terms import (
    By,
    Drift,
    Factors,
    Model,
    PairEffects,
    Scores,
    Side,
    prior_scale,
    start_value,
)

OFF = 0.01  # of the cells at either end, that the usual time of a table leaves out
STRETCHED = 2.0  # times that, from which on the rest is taken for dates that are off
SOME = 100_000  # cells that are looked at for that
NEWCOMERS = 0.1  # of the time of a table: who is first seen later came in later


@dataclass(frozen=True, eq=False)
class Paths:
    """States of some owners, sorted by owner and then by time, and the cells of each."""

    keys: IntArray  # (n_paths,): the owners, rising
    begin: IntArray  # (n_paths + 1,): states of each
    clock: FloatArray  # (n_states,)
    cell_begin: IntArray  # (n_states + 1,)
    cell: IntArray  # (n_entries,)
    factor: FloatArray  # (n_entries,): what a state is multiplied by in a cell
    state: IntArray  # (n_given,): the state of each owner and cell that was given
    moves: bool
    origin: IntArray | None = None  # (n_states,): numbers in a larger layout that these are from

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.clock)

    @cached_property
    def entries(self) -> CellEntries:
        """Which cells each state enters, and with what factor: as loops take it."""
        return CellEntries(self.cell_begin, self.cell, self.factor)

    @cached_property
    def start(self) -> IntArray:  # (n_states,)
        """The first state of the same path."""
        return np.repeat(self.begin[:-1], np.diff(self.begin))

    @cached_property
    def gaps(self) -> tuple[IntArray, FloatArray]:
        """Which of the different gaps in time lies before each state, and those gaps."""
        lengths = np.diff(self.clock, prepend=0.0)
        lengths[self.begin[:-1]] = 0.0  # nothing lies before a path's first state
        gaps, which = np.unique(lengths, return_inverse=True)
        return which, gaps

    @cached_property
    def separate(self) -> bool:
        """Whether no cell has two of the paths, which are then independent given the rest."""
        return len(np.unique(self.cell)) == len(self.cell)

    @classmethod
    def without_cells(
        cls,
        keys: IntArray,
        begin: IntArray,
        clock: FloatArray,
        moves: bool,
        origin: IntArray | None = None,
    ) -> "Paths":
        """Return paths that can be read but not drawn: it is not said which cells they enter."""
        none = np.zeros(0, np.int64)
        return cls(keys, begin, clock, none, none, np.zeros(0), none, moves, origin)

    def walks(self, reversions: FloatArray) -> Walks:
        """Return how every state follows from the one before it, for so many kinds of columns."""
        shape = (self.n_states, len(reversions))
        out = Walks(
            self.begin, *self.gaps, np.ones(self.n_states), *(np.ones(shape) for _ in range(3))
        )
        for column, reversion in enumerate(reversions):
            out.turn(column, float(reversion))
        return out

    def number(self, states: IntArray) -> IntArray:
        """Return the numbers that noise around some states goes by."""
        if self.origin is None or not len(self.origin):  # of nobody, whoever is asked for
            return states
        return self.origin[states]

    def find(self, keys: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the place of each owner, and whether it has one."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return place, self.keys[place] == keys


def link(
    owners: IntArray, times: FloatArray, cells: IntArray, factors: FloatArray, *, moves: bool
) -> Paths:
    """Return the paths of some owners, each named with the time and the cell it enters."""
    when = times if moves else np.zeros(len(times))
    axis, rank = np.unique(when, return_inverse=True)
    keys, owner = np.unique(owners, return_inverse=True)
    states, state = np.unique(owner * len(axis) + rank, return_inverse=True)
    order = np.argsort(state, kind="stable")
    size = max(len(axis), 1)
    return Paths(
        keys=keys,
        begin=np.searchsorted(states // size, np.arange(len(keys) + 1)),
        clock=axis[states % size] if len(axis) else np.zeros(0),
        cell_begin=np.searchsorted(state[order], np.arange(len(states) + 1)),
        cell=cells[order],
        factor=factors[order],
        state=state,
        moves=moves,
    )


@dataclass(frozen=True, eq=False)
class Numbers:
    """Paths of single numbers that enter margins linearly: one term of a model."""

    term: PairEffects | Side | By
    paths: Paths


@dataclass(frozen=True, eq=False)
class Layout:
    """All paths of a model for some observations."""

    seen: Observations
    model: Model
    items: Paths  # score and factors; every item has a path, if only of one state
    other: IntArray  # (2 n_cells,): for each entry of `items.cell` the state of the opponent
    numbers: tuple[Numbers, ...]  # the other terms
    newcomer: BoolArray  # (n_items,): first seen when a tenth of the time was over
    span: float
    directions: FloatArray | None = None  # of tiers, where they are known

    @cached_property
    def has_newcomers(self) -> bool:
        """Whether any item came in later."""
        return bool(self.newcomer.any())

    @cached_property
    def tiers(self) -> FloatArray:  # (n_items, n_tiers)
        """How scores may rise from one part of the field to another, see `tiers_of`."""
        scores = self.model.term(Scores)
        if scores is None or start_value(scores.tiers) == 0.0:
            return np.zeros((self.seen.n_items, 0))
        return tiers_of(self.seen) if self.directions is None else self.directions

    @cached_property
    def guide(self) -> "Layout | None":
        """The same paths with scores whose scale is learnt, where wide ones stand beside others.

        Wide scores are no belief, so what they make likely must not say how large other terms are:
        the more of a game is left to these, the less it tells of scores, the more of them agree
        with it, and wide scores find that likely (decision 0047).
        """
        scores = self.model.term(Scores)
        if scores is None or not scores.wide:
            return None
        others = [term for term in self.model.terms if isinstance(term, Factors | PairEffects | By)]
        if not any(prior_scale(term.scale) > 0.0 for term in others):
            return None
        learnt = Scores() if isinstance(scores.walk, Drift) else Scores(walk=scores.walk)
        terms = (learnt if term is scores else term for term in self.model.terms)
        return replace(self, model=Model(tuple(terms)))

    @property
    def n_factors(self) -> int:
        """Number of planes."""
        return self.model.n_factors

    @property
    def first(self) -> IntArray:  # (n_cells,)
        """The state of the first item of each cell."""
        return self.items.state[: len(self.seen)]

    @property
    def second(self) -> IntArray:  # (n_cells,)
        """The state of the second item of each cell."""
        return self.items.state[len(self.seen) : 2 * len(self.seen)]

    @property
    def n_numbers(self) -> int:
        """How many numbers one draw of all states has."""
        width = 1 + 2 * self.n_factors
        return self.items.n_states * width + sum(one.paths.n_states for one in self.numbers)


def lay_out(seen: Observations, model: Model, directions: FloatArray | None = None) -> Layout:
    """Return the paths of a model for some observations; and its tiers, where they are known."""
    n, cells = len(seen), np.arange(len(seen))
    i, j = seen.pairs.T
    moves = any(
        isinstance(term.walk, Drift)
        for term in (model.term(Scores), model.term(Factors))
        if term is not None
    )
    # Items without a cell come last, each with one state: its prior is all that is known.
    idle = np.setdiff1d(np.arange(seen.n_items), seen.pairs)
    end = float(seen.times.max()) if n else 0.0
    owners = np.concatenate([i, j, idle])
    times = np.concatenate([seen.times, seen.times, np.full(len(idle), end)])
    items = link(
        owners,
        times,
        np.concatenate([cells, cells, np.full(len(idle), -1)]),
        np.concatenate([np.ones(n), -np.ones(n), np.zeros(len(idle))]),
        moves=moves,
    )
    items, other = _with_opponents(items, n)
    entered = np.full(seen.n_items, np.inf)
    np.minimum.at(entered, seen.pairs.ravel(), np.repeat(seen.times, 2))
    begin, span = _time_of_table(seen.times)
    newcomer = (entered > begin + NEWCOMERS * span) & np.isfinite(entered)
    numbers, span = tuple(_numbers(seen, model)), span if span > 0 else 1.0
    return Layout(seen, model, items, other, numbers, newcomer, span, directions)


def _time_of_table(times: FloatArray) -> tuple[float, float]:
    """Return when a table begins, and the time it spans: that of nearly all of it.

    Priors of rates are in units of it, so a date that is years off must not stretch it.
    """
    if not len(times):
        return 0.0, 0.0
    early, late = np.quantile(times[:: 1 + len(times) // SOME], [OFF, 1.0 - OFF])
    whole, usual = float(np.ptp(times)), float(late - early)
    if whole <= STRETCHED * usual or usual == 0.0:
        return float(times.min()), whole
    return float(early), usual


def _with_opponents(items: Paths, n: int) -> tuple[Paths, IntArray]:
    """Return the paths without entries of idle items, and the opponent's state of each entry."""
    there = items.cell >= 0
    before = np.concatenate([[0], np.cumsum(there)])
    cell, factor = items.cell[there], items.factor[there]
    first, second = items.state[:n], items.state[n : 2 * n]
    other = np.where(factor > 0, second[cell], first[cell])
    kept = replace(items, cell_begin=before[items.cell_begin], cell=cell, factor=factor)
    return kept, other


def terms_of(model: Model) -> list[Numbers]:
    """Return the terms that are paths of single numbers, in order, without paths."""
    none = np.zeros(0, np.int64)
    empty = Paths.without_cells(none, np.zeros(1, np.int64), np.zeros(0), False)
    return [
        Numbers(term, empty) for term in model.terms if isinstance(term, PairEffects | Side | By)
    ]


def _numbers(seen: Observations, model: Model) -> list[Numbers]:
    """Return the paths of single numbers: whose they are, and how they enter which cells."""
    i, j = seen.pairs.T
    found = []
    for one in terms_of(model):
        term = one.term
        if isinstance(term, PairEffects):
            cells, owners = np.arange(len(seen)), i * seen.n_items + j
            factors = np.ones(len(seen))
        elif isinstance(term, Side):
            cells = np.flatnonzero(seen.sides)
            owners, factors = np.zeros(len(cells), np.int64), seen.sides[cells]
        else:
            k = [name for name, _ in seen.values].index(term.column)
            there = np.flatnonzero(seen.codes[k] >= 0)
            cells, factors = np.tile(there, 2), np.repeat([1.0, -1.0], len(there))
            owners = np.concatenate([i[there], j[there]]) * len(seen.values[k][1])
            owners += seen.codes[k][cells]
        moves = isinstance(term.walk, Drift)
        found.append(Numbers(term, link(owners, seen.times[cells], cells, factors, moves=moves)))
    return found


def steps_of(score: float, strength: float, exposure: float, r: int, n: int) -> FloatArray:
    """Return deviations of steps by column, (n, 1 + 4 r): those of S and of Q, where they move."""
    columns = [score, *[strength] * r, *[0.0] * (2 * r), *[exposure] * r]
    return np.tile(columns, (n, 1))


def first_order(
    scores: FloatArray,  # (n_draws, n_states, 0 or 1)
    S: FloatArray,  # (n_draws, n_states, r)
    Q: FloatArray,
    mean_S: FloatArray,  # (n_states, r)
    mean_Q: FloatArray,
) -> FloatArray:  # (n_draws, n_states, 1 + 4 r)
    """Return states whose margins are those of S and Q to first order around their means."""
    n, size, r = S.shape
    out: FloatArray = np.zeros((n, size, 1 + 4 * r), np.float32)
    if scores.shape[2]:
        out[:, :, 0] = scores[:, :, 0]
    out[:, :, 1 : 1 + r], out[:, :, 1 + r : 1 + 2 * r] = S, mean_S
    out[:, :, 1 + 2 * r : 1 + 3 * r], out[:, :, 1 + 3 * r :] = mean_Q, Q - mean_Q
    return out
