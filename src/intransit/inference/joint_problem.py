"""The joint problem: all times at once, chains of states side by side.

    Σ_cells loss(x, y)  +  penalties of strengths S, exposures Q, and effects of pairs E

    x = S[a] @ Q[d] - S[b] @ Q[c] + E[pair]

All states stand in one vector z = [S, Q, E].  Without drift and effects this is the weighted
program of `weighted_program`, its ridge 1 / prior_scale².  The penalties of strengths, exposures
and effects of pairs are alike,

    ½ Σ steps (step)² / (drift_scale² gap)  +  ½ Σ first states (state)² / prior_scale²

column by column; a side that does not drift has chains of one state, and a known column has no
penalty and does not move.

A side's states stand owner by owner, which is what random walks want.  Cells want those of one
time close together: all that meets at a time then fits into a core's cache, where the whole does
not.  So cells of large problems are kept in order of time, and the loops work on states carried to
that order and back, which costs far less than it saves: 3.5 times a product at a million cells.
Places are right by construction, so that `take` need not look ("clip").

A problem may be one shard of a larger one (`shards`).  Whatever concerns the others goes through
`carry`, `bring_back`, `total` and `noise`, so that every solver here solves shards as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.data.cells import Cells, Chains
from intransit.inference.cell_kernels import (
    chain_energy,
    chain_product,
    gather,
    logistic_terms,
    logistic_value,
    order_by_key,
    pull_cells,
    push_cells,
    read_cells,
)
from intransit.kernels import dot, put_rows, take_rows

Noise = tuple[FloatArray, FloatArray]  # of first states, of steps

LEAST_STEP = 1e-10  # variance of a step against the prior's: less cannot be told from none


@dataclass(frozen=True, eq=False)
class FactorStates:
    """The states of one factor (or of the pairs), how they drift, and which columns move."""

    chains: Chains
    drift: FloatArray  # (n_columns,): scale of a step in one unit of time
    prior: FloatArray  # (n_columns,): scale of an owner's first state
    free: BoolArray  # (n_columns,)
    extra: FloatArray | None = None  # (n_states, n_columns): precision on top of the prior's

    @property
    def shape(self) -> tuple[int, int]:
        """Number of states, and of columns."""
        return self.chains.n_states, len(self.free)

    @property
    def firsts(self) -> IntArray:  # (n_owners,)
        """The first state of each owner."""
        return self.chains.starts[:-1]

    @cached_property
    def steps(self) -> IntArray:  # (n_steps,)
        """The states that follow another one of their owner."""
        return np.flatnonzero(np.isfinite(self.chains.gaps))

    @cached_property
    def links(self) -> FloatArray:  # (n_states, n_columns)
        """Precision of the step to each state from the one before; 0 for first states."""
        if not self.chains.drifting:
            return np.zeros(self.shape)
        gaps = self.chains.gaps[:, None]
        gaps[self.firsts] = 1.0  # of any size: they are no steps
        out = np.maximum(self.drift**2 * gaps, LEAST_STEP * self.prior**2)
        np.divide(self.free, out, out=out)
        out[self.firsts] = 0.0
        return out

    @cached_property
    def diagonal(self) -> FloatArray:  # (n_states, n_columns)
        """Diagonal of the prior's precision, and what comes on top of it."""
        total = self.links.copy()
        total[:-1] += self.links[1:]
        total[self.firsts] += self.free / self.prior**2
        return total if self.extra is None else total + self.extra

    def add_product(self, states: FloatArray, out: FloatArray) -> None:
        """Add the prior's precision times states; known columns add 0."""
        chain_product(self.diagonal, self.links, states, out)

    def penalty(self, states: FloatArray) -> float:
        """Return ½ statesᵀ precision states."""
        if not self.free.any():
            return 0.0
        return 0.5 * chain_energy(self.diagonal, self.links, states)

    def energies(self, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return, by column, Σ first² and Σ step²/gap: what estimates of the scales need."""
        first = np.sum(states[self.firsts] ** 2, axis=0)
        moved = states[self.steps] - states[self.steps - 1]
        return first, np.sum(moved**2 / self.chains.gaps[self.steps, None], axis=0)

    def noise(self, rng: np.random.Generator) -> Noise:
        """Return standard normal numbers for first states and for steps."""
        width = self.shape[1]
        return (
            rng.normal(size=(len(self.firsts), width)),
            rng.normal(size=(len(self.steps), width)),
        )

    def shape_noise(self, noise: Noise) -> FloatArray:
        """Return root(precision)ᵀ times noise: the prior's part of a draw, by state."""
        out = np.zeros(self.shape)
        out[self.firsts] = noise[0] / self.prior
        kicks = noise[1] * np.sqrt(self.links[self.steps])
        out[self.steps] += kicks
        out[self.steps - 1] -= kicks  # distinct rows, as each state has one successor
        return out * self.free

    def seen_noise(self, noise: Noise, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return noise · (noise - root(precision) states), summed by column, firsts and steps.

        For states drawn with this noise its mean is how many entries the data determine.
        """
        first = states[self.firsts] / self.prior
        step = (states[self.steps] - states[self.steps - 1]) * np.sqrt(self.links[self.steps])
        return (
            np.sum(noise[0] * (noise[0] - first), axis=0) * self.free,
            np.sum(noise[1] * (noise[1] - step), axis=0) * self.free,
        )


FEWEST_STATES = 16_384  # fewer fit into a cache as they are


@dataclass(frozen=True, eq=False)
class Order:
    """One side's states in order of time; None: as they are.

    Both ways pass over the states as they are: what each owner has at a time then lies beside what
    the owner before had, and lines of memory are used whole.
    """

    place: IntArray | None = None  # (n_states,): where each state stands

    def carry(self, states: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return states (n_states, k) in order of time, written to `out` if that is given."""
        if self.place is None:
            return states
        out = np.empty_like(states) if out is None else out
        put_rows(states, self.place, out)
        return out

    def bring_back(self, states: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return what `carry` was given; also for blocks by state."""
        if self.place is None and out is None:
            return states
        out = np.empty_like(states) if out is None else out
        if self.place is None:
            out[:] = states
        else:
            n = len(states)
            take_rows(states.reshape(n, -1), self.place, out.reshape(n, -1))
        return out


def by_time(chains: Chains) -> Order:
    """Return the order of time of the states of a side; a side that does not drift has none."""
    if not chains.drifting:
        return Order()
    taken = np.empty(chains.n_states, np.int32)
    order_by_key(chains.when, len(chains.axis), taken)
    place = np.empty(chains.n_states, np.int32)
    place[taken] = np.arange(chains.n_states, dtype=np.int32)
    return Order(place)


def lay_out(
    at: IntArray, strengths: Chains, exposures: Chains, *, fewest: int = FEWEST_STATES
) -> tuple[Order, Order]:
    """Return the orders of both sides' states, and write places in them over `at`.

    Problems of fewer states are left as they are.
    """
    if max(strengths.n_states, exposures.n_states) < fewest:
        return Order(), Order()
    S = by_time(strengths)
    Q = S if exposures is strengths else by_time(exposures)
    for order, columns in ((S, (0, 1)), (Q, (2, 3))):
        if order.place is not None:
            for k in columns:
                at[:, k] = order.place.take(at[:, k], mode="clip")
    return S, Q


class CellLoss(Protocol):
    """Minus a log likelihood, as a function of the margins of the cells, each on its own."""

    @property
    def cells(self) -> Cells:
        """What was seen, in the order of the margins."""

    def value(self, x: FloatArray) -> float:
        """Return the loss."""

    def terms(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return its slope and its second derivative in each cell's margin."""

    def all_of(
        self, x: FloatArray, room: FloatArray | None = None
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return value and terms; margins may be overwritten, and curvatures stand in the room."""


@dataclass(frozen=True, eq=False)
class Squared:
    """Readings of margins with normal noise."""

    cells: Cells
    noise_scale: float

    def value(self, x: FloatArray) -> float:
        """Return minus the log likelihood, constants included so that scales can be compared."""
        n, scale = self.cells.n_rows, self.noise_scale
        constant = n * np.log(scale * np.sqrt(2 * np.pi)) - 0.5 * self.cells.log_counts
        return 0.5 * self.energy(x) / scale**2 + float(constant)

    def energy(self, x: FloatArray) -> float:
        """Return Σ counts (outcome - x)² over rows."""
        miss = x - self.cells.means
        return float(self.cells.counts @ miss**2) + self.cells.spread

    def terms(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return slope and curvature by cell."""
        curvature = self.cells.counts / self.noise_scale**2
        return curvature * (x - self.cells.means), curvature

    def all_of(
        self, x: FloatArray, room: FloatArray | None = None
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return value and terms."""
        del room
        return self.value(x), *self.terms(x)


@dataclass(frozen=True, eq=False)
class Logistic:
    """Wins out of games: the first item wins with probability 1 / (1 + exp(-x))."""

    cells: Cells

    def value(self, x: FloatArray) -> float:
        """Return minus the log likelihood."""
        return logistic_value(x, self.cells.counts, self.cells.means)

    def terms(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return slope and curvature by cell."""
        return self.all_of(x.copy())[1:]

    def all_of(
        self, x: FloatArray, room: FloatArray | None = None
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return value and terms, in one pass; slopes take the place of the margins."""
        curvature = np.empty_like(x) if room is None else room
        value = logistic_terms(x, self.cells.counts, self.cells.means, x, curvature)
        return value, x, curvature


@dataclass(frozen=True, eq=False)
class Joint:
    """The whole problem.  A vector z holds all states: S, then Q, then E, each by rows."""

    at: IntArray  # (n_cells, 4): states of first and second among strengths, then exposures,
    # each side's as its order has them
    pair_at: IntArray  # (n_cells,): state of the pair; unused without effects
    loss: CellLoss
    strengths: FactorStates
    exposures: FactorStates
    effects: FactorStates | None
    advantage: float = 0.0  # what the better side adds to a cell's margin
    seeks_side: bool = False  # whether the advantage is to be found
    orders: tuple[Order, Order] = (Order(), Order())  # of strengths and exposures, for loops

    @cached_property
    def cuts(self) -> tuple[int, int, int]:
        """Where S, Q and E end in z."""
        n_S = int(np.prod(self.strengths.shape))
        n_Q = int(np.prod(self.exposures.shape))
        n_E = 0 if self.effects is None else self.effects.shape[0]
        return n_S, n_S + n_Q, n_S + n_Q + n_E

    @property
    def sides(self) -> tuple[FactorStates, ...]:
        """The sides there are, in the order of z."""
        both = (self.strengths, self.exposures)
        return both if self.effects is None else (*both, self.effects)

    def split(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return views of S (n, r), Q (n, r) and E (n,) in z."""
        s, q, _ = self.cuts
        r = self.strengths.shape[1]
        return z[:s].reshape(-1, r), z[s:q].reshape(-1, r), z[q:]

    def parts(self, z: FloatArray) -> list[FloatArray]:
        """Return views of the states side by side with `sides`."""
        S, Q, E = self.split(z)
        return [S, Q] if self.effects is None else [S, Q, E[:, None]]

    def split_draws(self, states: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return S, Q and E, (n_draws, n_states, n_columns), of draws of z in columns."""
        s, q, _ = self.cuts
        r, n = self.strengths.shape[1], states.shape[1]
        rows = states.T
        return (
            rows[:, :s].reshape(n, -1, r),
            rows[:, s:q].reshape(n, -1, r),
            rows[:, q:].reshape(n, -1, 1),
        )

    @cached_property
    def free(self) -> BoolArray:  # (n_z,)
        """Which entries of z may move."""
        return np.concatenate([np.broadcast_to(s.free, s.shape).ravel() for s in self.sides])

    @cached_property
    def moves_exposures(self) -> bool:
        """Whether any exposure is free."""
        return bool(self.exposures.free.any())

    @property
    def is_convex(self) -> bool:
        """Whether no product of two unknowns occurs, so that there is one minimum."""
        return not (self.strengths.free & self.exposures.free).any()

    # What a shard does otherwise ----------------------------------------------------------------

    is_whole = True  # whether there are no other shards

    @property
    def n_near(self) -> tuple[int, int]:
        """Number of states of both sides that cells read here."""
        return self.strengths.shape[0], self.exposures.shape[0]

    def carry(
        self,
        S: FloatArray | None,
        Q: FloatArray | None,
        out: Sequence[FloatArray | None] = (None, None),
    ) -> tuple[FloatArray, FloatArray]:
        """Return states of both sides, or of one, as the loops over cells want them."""
        near = [
            self.nothing if part is None else order.carry(part, to)
            for order, part, to in zip(self.orders, (S, Q), out, strict=True)
        ]
        return near[0], near[1]

    def bring_back(self, sums: Sequence[FloatArray], out: Sequence[FloatArray]) -> None:
        """Write sums of S, or of S and Q, over cells to where states stand; also blocks."""
        for order, total, place in zip(self.orders, sums, out, strict=False):
            order.bring_back(total, place)

    @property
    def nothing(self) -> FloatArray:  # (0, n_columns)
        """Return the states of a side that a loop does not touch."""
        return np.empty((0, self.strengths.shape[1]))

    def total(self, value: Any) -> Any:
        """Return the sum of a number or an array over all shards."""
        return value

    def noise(self, rng: np.random.Generator) -> tuple[FloatArray, list[Noise]]:
        """Return standard normal numbers for cells, and for the first states and steps of sides."""
        of_cells = rng.normal(size=len(self.at))
        return of_cells, [side.noise(rng) for side in self.sides]

    def dot(self, first: FloatArray, second: FloatArray) -> float:
        """Return the inner product of two vectors over states."""
        return float(self.total(dot(first, second)))

    # Cells and states ---------------------------------------------------------------------------

    @property
    def at_owners(self) -> IntArray:  # (n_cells, 4)
        """The same as `at`, states as they stand in z."""
        out = self.at.copy()
        for order, columns in zip(self.orders, ((0, 1), (2, 3)), strict=True):
            if order.place is not None:
                out[:, columns] = np.argsort(order.place)[out[:, columns]]
        return out

    def products(
        self, S: FloatArray, Q: FloatArray, out: FloatArray | None = None
    ) -> FloatArray:  # (n_cells,)
        """Return S[a] @ Q[d] - S[b] @ Q[c] of every cell."""
        out = np.empty(len(self.at)) if out is None else out
        read_cells(*self.carry(S, Q), self.at, out)
        return out

    def margins(self, z: FloatArray, out: FloatArray | None = None) -> FloatArray:  # (n_cells,)
        """Return the margin of every cell, advantage included."""
        S, Q, E = self.split(z)
        out = self.products(S, Q, out)
        if self.loss.cells.sides is not None:
            out += self.advantage * self.loss.cells.sides
        return out if self.effects is None else out + E[self.pair_at]

    def penalty(self, z: FloatArray) -> float:
        """Return the penalties of all sides here."""
        parts = self.parts(z)
        return sum(side.penalty(part) for side, part in zip(self.sides, parts, strict=True))

    def add_prior(self, z: FloatArray, out: FloatArray) -> None:
        """Add the prior's precision times z."""
        for side, part, result in zip(self.sides, self.parts(z), self.parts(out), strict=True):
            side.add_product(part, result)

    def near(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return S and Q at z as the loops over derivatives want them; S where exposures move."""
        S, Q, _ = self.split(z)
        return self.carry(S if self.moves_exposures else None, Q)

    def push(self, z: FloatArray, step: FloatArray) -> FloatArray:  # (n_cells,)
        """Return the first-order change of every cell at z along a step."""
        dS, dQ, dE = self.split(step)
        out, both = np.empty(len(self.at)), self.moves_exposures
        steps = self.carry(dS, dQ if both else None)
        push_cells(*self.near(z), self.at, *steps, both, out)
        return out if self.effects is None else out + dE[self.pair_at]

    def pull(self, z: FloatArray, slopes: FloatArray) -> FloatArray:  # (n_z,)
        """Return slopes by cell carried over to the states; what is known gets none."""
        near, both, out = self.near(z), self.moves_exposures, np.empty(len(z))
        out_S, out_Q, out_E = self.split(out)
        sums = [np.zeros((self.n_near[0], out_S.shape[1]))]
        sums.append(np.zeros_like(near[1]) if both else self.nothing)
        pull_cells(*near, self.at, slopes, both, *sums)
        self.bring_back(sums[: 1 + both], (out_S, out_Q))
        if not both:
            out_Q[:] = 0.0
        out_E[:] = 0.0
        if self.effects is not None:
            gather(slopes, self.pair_at, out_E)
        out *= self.free
        return out
