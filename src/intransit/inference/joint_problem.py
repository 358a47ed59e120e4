"""The joint problem: all times at once, chains of states side by side.

    Σ_cells loss(x, y)  +  penalties of strengths S, exposures Q, and effects of pairs E

    x = S[a] @ Q[d] - S[b] @ Q[c] + E[pair]

All states stand in one vector z = [S, Q, E].  Without drift and effects this is the weighted
program of `weighted_program`, its ridge 1 / prior_scale².  The penalties of strengths, exposures
and effects of pairs are alike,

    ½ Σ steps (step)² / (drift_scale² gap)  +  ½ Σ first states (state)² / prior_scale²

column by column; a side that does not drift has chains of one state, and a known column has no
penalty and does not move.

Cells and the states of a side that drifts stand in order of time: all that meets at a time then
fits into a core's cache, where the whole does not, which makes a product 3.5 times as quick at a
million cells.  Chains know where the state before stands (`Chains`).  Where a million items meet at
a time their states outgrow the cache again; cells are then in blocks by their second items, which
makes a product 2.6 times as quick (decision 0039).

Columns of S and Q come in two kinds: scores, whose exposures are known, and factors.  Each kind has
scales of its own; `Scales` holds all of them under the names that users see.

A problem may be one shard of a larger one (`shards`).  Whatever concerns the others goes through
`carry`, `bring_back`, `total` and `noise`, so that every solver here solves shards as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from intransit.arrays import CHUNK, BoolArray, FloatArray, IntArray, fold_pairs, slices
from intransit.data.cells import Cells, Chains, link_states
from intransit.inference.cell_kernels import (
    add_links,
    chain_energy,
    chain_product,
    gather,
    pull_cells,
    push_cells,
)
from intransit.inference.likelihood import CellLoss, Law, best_law
from intransit.kernels import add_rows, dot

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
        return self.chains.firsts

    @cached_property
    def steps(self) -> IntArray:  # (n_steps,)
        """The states that follow another one of their owner, owner by owner."""
        states = self.chains.by_owner[0]
        return np.asarray(states[self.chains.before[states] != states])

    @cached_property
    def links(self) -> FloatArray:  # (n_states, n_columns)
        """Precision of the step to each state from the one before; of a first state its prior's."""
        out, chains = np.empty(self.shape), self.chains
        if chains.drifting:
            for part in slices(len(out), CHUNK // 16):  # what is in between stays in a cache
                out[part] = self.drift**2 * chains.gaps(part)[:, None]
            np.maximum(out, LEAST_STEP * self.prior**2, out=out)
        out[self.firsts] = self.prior**2
        return np.divide(self.free, out, out=out)

    @property
    def diagonal(self) -> FloatArray:  # (n_states, n_columns)
        """Diagonal of the prior's precision, and what comes on top of it."""
        total = self.links.copy()
        add_rows(self.links, self.chains.before, total)
        total[self.firsts] -= self.links[self.firsts]
        return total if self.extra is None else total + self.extra

    @property
    def trace(self) -> float:
        """Sum of the diagonal."""
        total = 2.0 * self.links.sum() - self.links[self.firsts].sum()
        return float(total if self.extra is None else total + self.extra.sum())

    def add_diagonal(self, blocks: FloatArray, damping: float) -> None:
        """Add the same, damped, to blocks by state; known columns stand apart, with 1."""
        if not self.free.all():
            blocks *= self.free[:, None] & self.free
        add_links(
            self.links,
            self.chains.before,
            np.where(self.free, damping, 1.0 + damping).astype(float),
            blocks,
        )
        if self.extra is not None:
            np.einsum("nkk->nk", blocks)[:] += self.extra

    def add_product(self, states: FloatArray, out: FloatArray, damping: float = 0.0) -> None:
        """Add the prior's precision, damped, times states; known columns, undamped, add 0."""
        chain_product(self.links, self.chains.before, damping, states, out)
        if self.extra is not None:
            out += self.extra * states

    def penalty(self, states: FloatArray) -> float:
        """Return ½ statesᵀ precision states."""
        if not self.free.any():
            return 0.0
        more = 0.0 if self.extra is None else float(np.sum(self.extra * states**2))
        return 0.5 * (chain_energy(self.links, self.chains.before, states) + more)

    def hold(self, states: FloatArray) -> None:
        """Set known columns to 0."""
        if not self.free.all():
            states *= self.free

    def energies(self, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return, by column, Σ first² and Σ step²/gap: what estimates of the scales need."""
        first = np.sum(states[self.firsts] ** 2, axis=0)
        moved = states[self.steps] - states[self.chains.before[self.steps]]
        return first, np.sum(moved**2 / self.chains.gaps(self.steps)[:, None], axis=0)

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
        out[self.chains.before[self.steps]] -= (
            kicks  # distinct rows, as each state has one successor
        )
        return out * self.free

    def seen_noise(self, noise: Noise, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return noise · (noise - root(precision) states), summed by column, firsts and steps.

        For states drawn with this noise its mean is how many entries the data determine.
        """
        first = states[self.firsts] / self.prior
        moved = states[self.steps] - states[self.chains.before[self.steps]]
        step = moved * np.sqrt(self.links[self.steps])
        return (
            np.sum(noise[0] * (noise[0] - first), axis=0) * self.free,
            np.sum(noise[1] * (noise[1] - step), axis=0) * self.free,
        )


@dataclass(frozen=True)
class Scales:
    """Standard deviations of everything that is random in the model.

    Attributes
    ----------
    noise_scale
        Of a reading about its margin; 1 and unused for wins.
    drift_scale
        Of the step of one entry of S in one unit of time.
    prior_scale
        Of the first state of an entry of S, and of Q.
    exposure_drift_scale
        The same as drift_scale, for Q.
    score_drift_scale, score_prior_scale
        The same as drift_scale and prior_scale, for columns whose exposures are known.
    pair_scale
        Of the deviation of a pair from the low rank; 0 for none.
    pair_drift_scale
        Of the step of such a deviation in one unit of time.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Timeline.from_arrays([0, 1, 0] * 4, [1, 2, 2] * 4, [1.0, 0.5, 1.5] * 4,
    ...                                 range(12))
    >>> path = it.smooth(games, noise_scale=0.2, drift_scale=0.1, prior_scale=1.0, rng=0)
    >>> path.scales.score_drift_scale
    0.1
    """

    noise_scale: float
    drift_scale: float
    prior_scale: float
    exposure_drift_scale: float = 0.0
    score_drift_scale: float = 0.0
    score_prior_scale: float = 1.0
    pair_scale: float = 0.0
    pair_drift_scale: float = 0.0


@dataclass(frozen=True, eq=False)
class Rise:
    """Directions of the field along which first scores may rise, beyond what single items do.

        first scores = prior · ε + Σ_k sizes_k along_k c_k        ε, c standard normal

    so that (I - Σ_k κ_k along_k along_kᵀ) / prior² is their precision, κ = sizes² / (prior² +
    sizes²).
    """

    along: FloatArray  # (n_owners, n_directions): orthonormal over all items
    sizes: FloatArray  # (n_directions,)

    @classmethod
    def of(cls, columns: FloatArray) -> "Rise | None":
        """Return the rise along some columns over items, each as long as its scale; if any."""
        along, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        return cls(along, sizes) if columns.shape[1] else None

    def of_items(self, items: slice | IntArray) -> "Rise":
        """Return the part of some items."""
        return Rise(np.ascontiguousarray(self.along[items]), self.sizes)

    def given_way(self, prior: float, power: int) -> FloatArray:  # (n_directions,)
        """Return how much less the precision, or with power 1 its root, is along each."""
        free = 1.0 / np.hypot(prior, self.sizes)
        return np.asarray(prior**-power - free**power)


@dataclass(frozen=True, eq=False)
class Columns:
    """What is known of S and Q in advance: columns of numbers, or of NaN where free."""

    strengths: FloatArray  # (n_items, n_columns)
    exposures: FloatArray  # (n_items, n_columns)
    rise: Rise | None = None  # of first scores, the first column

    @classmethod
    def plain(
        cls, n_items: int, n_factors: int, *, scores: bool, rise: Rise | None = None
    ) -> "Columns":
        """Return free columns, a column of scores before them if wanted."""
        S = np.full((n_items, n_factors + scores), np.nan)
        Q = S.copy()
        if scores:
            Q[:, 0] = 1.0
        return cls(S, Q, rise)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.strengths)

    @property
    def free_strengths(self) -> BoolArray:  # (n_columns,)
        """Which columns of S are to be found."""
        return np.asarray(np.isnan(self.strengths).all(axis=0))

    @property
    def free_exposures(self) -> BoolArray:  # (n_columns,)
        """Which columns of Q are to be found."""
        return np.asarray(np.isnan(self.exposures).all(axis=0))

    @property
    def are_scores(self) -> BoolArray:  # (n_columns,)
        """Which columns have known exposures."""
        return ~self.free_exposures

    @property
    def are_uniform(self) -> bool:
        """Whether known columns are the same for all items, so that new ones fit in."""
        both = (self.strengths, self.exposures)
        return not any((np.ptp(known, axis=0) > 0).any() for known in both)

    def grown(self, n_items: int) -> "Columns":
        """Return the same columns for more items; known ones must be uniform."""
        more = ((0, n_items - self.n_items), (0, 0))
        rise = self.rise and replace(self.rise, along=np.pad(self.rise.along, more))
        S, Q = (np.pad(k, more, mode="edge") for k in (self.strengths, self.exposures))
        return Columns(S, Q, rise)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs that have effects of their own, as numbers first · n_items + second, rising."""

    keys: IntArray  # (n_pairs,)
    n_items: int

    def find(self, pairs: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the place of each pair, in whichever order, and whether it has one."""
        keys, _ = fold_pairs(pairs, self.n_items)
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return place, (self.keys[place] == keys) & (pairs < self.n_items).all(axis=1)


@dataclass(frozen=True, eq=False)
class Joint:
    """The whole problem.  A vector z holds all states: S, then Q, then E, each by rows."""

    at: IntArray  # (n_cells, 4): states of first and second among strengths, then exposures;
    # (n_cells, 2) where exposures stand at the same places, or are all alike
    pair_at: IntArray  # (n_cells,): state of the pair; unused without effects
    loss: CellLoss
    strengths: FactorStates
    exposures: FactorStates
    effects: FactorStates | None
    seeks_side: bool = False  # whether what the better side adds to a margin is to be found
    alike: bool = False  # whether one row of exposures, which loops then read, stands for all
    rise: Rise | None = None  # of first scores, the first column of strengths

    @property
    def law(self) -> Law:
        """How outcomes follow from margins."""
        return self.loss.law

    @property
    def cells(self) -> Cells:
        """What was seen."""
        return self.loss.cells

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

    def fill_known(self, columns: Columns, z: FloatArray) -> FloatArray:
        """Write the known columns into all states of z, and return it."""
        S, Q, _ = self.split(z)
        for part, known, free, side in (
            (S, columns.strengths, columns.free_strengths, self.strengths),
            (Q, columns.exposures, columns.free_exposures, self.exposures),
        ):
            part[:, ~free] = known[side.chains.owners][:, ~free]
        return z

    def without_factors(self, columns: Columns) -> FloatArray:
        """Return states that know nothing: zeros, and the known columns."""
        return self.fill_known(columns, np.zeros(self.cuts[-1]))

    # What a shard does otherwise ----------------------------------------------------------------

    is_whole = True  # whether there are no other shards

    def carry(
        self,
        S: FloatArray | None,
        Q: FloatArray | None,
        out: Sequence[FloatArray | None] = (None, None),  # noqa: ARG002
    ) -> tuple[FloatArray, FloatArray]:
        """Return states of both sides, or of one, as the loops over cells read them."""
        S, Q = (self.nothing if part is None else part for part in (S, Q))
        return S, Q[:1] if self.alike else Q

    def room(self, parts: Sequence[FloatArray]) -> list[FloatArray]:
        """Return where loops add up what goes to these parts: there."""
        return list(parts)

    def vector(self) -> tuple[FloatArray, list[FloatArray]]:
        """Return room for S and Q in a row, and where loops read them or add them up."""
        out = np.empty(self.cuts[1])
        return out, list(self.split(out)[:2])

    def bring_back(self, sums: Sequence[FloatArray], out: Sequence[FloatArray]) -> None:
        """Write sums of S, or of S and Q, over cells to where states stand; also blocks."""
        for total, place in zip(sums, out, strict=False):
            put(total, place)

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
    def places(self) -> IntArray:  # (n_cells, 4)
        """The same as `at`, where exposures stand always said."""
        exposures = self.at[:, -2:]
        return np.hstack([self.at[:, :2], 0 * exposures if self.alike else exposures])

    def products(self, S: FloatArray, Q: FloatArray) -> FloatArray:  # (n_cells,)
        """Return S[a] @ Q[d] - S[b] @ Q[c] of every cell."""
        out = np.empty(len(self.at))
        S, Q = self.carry(S, Q)
        push_cells(S, Q, self.at, S, Q, False, out)
        return out

    def margins(
        self,
        z: FloatArray,
        out: FloatArray | None = None,
        carried: tuple[FloatArray, FloatArray] | None = None,  # S and Q at z, if they are there
    ) -> FloatArray:  # (n_cells,)
        """Return the margin of every cell, advantage included."""
        S, Q, E = self.split(z)
        out = np.empty(len(self.at)) if out is None else out
        S, Q = carried or self.carry(S, Q)
        push_cells(S, Q, self.at, S, Q, False, out)
        if self.cells.sides is not None:
            out += self.law.advantage * self.cells.sides
        return out if self.effects is None else out + E[self.pair_at]

    def settled(self, z: FloatArray, *, roughly: bool = False) -> Self:
        """Return the problem with the cuts, and the advantage if it is sought, that fit z."""
        sides = self.cells.sides
        seeks_side = self.seeks_side and sides is not None
        if not seeks_side and not self.law.levels:
            return self
        x = self.margins(z)
        if sides is not None:
            x -= self.law.advantage * sides
        law = best_law(self.loss, x, seeks_side=seeks_side, total=self.total, roughly=roughly)
        return replace(self, loss=CellLoss(law, self.cells))

    def penalty(self, z: FloatArray) -> float:
        """Return the penalties of all sides here."""
        parts, first = self.parts(z), self.split(z)[0][self.strengths.firsts, 0]
        given_way = 0.0 if self.rise is None else 0.5 * dot(first, self.given_way(first))
        own = sum(side.penalty(part) for side, part in zip(self.sides, parts, strict=True))
        return own - given_way

    def add_prior(self, z: FloatArray, out: FloatArray) -> None:
        """Add the prior's precision times z."""
        for side, part, result in zip(self.sides, self.parts(z), self.parts(out), strict=True):
            side.add_product(part, result)
        self.give_way(self.split(z)[0], self.split(out)[0])

    def given_way(self, first: FloatArray, power: int = 2) -> FloatArray:  # (n_owners,)
        """Return how much less the prior holds first scores along their rise.

        Its precision times first scores, or with power 1 its root times noise.
        """
        assert self.rise is not None
        along, less = self.rise.along, self.rise.given_way(float(self.strengths.prior[0]), power)
        return np.asarray(along @ (less * self.total(along.T @ first)))

    def give_way(self, S: FloatArray, out: FloatArray) -> None:
        """Take that from the product of the precision and S."""
        if self.rise is not None:
            firsts = self.strengths.firsts
            out[firsts, 0] -= self.given_way(S[firsts, 0])

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

    def pull(
        self,
        z: FloatArray,
        slopes: FloatArray,
        near: tuple[FloatArray, FloatArray] | None = None,  # at z, if it is there
        sums: Sequence[FloatArray] | None = None,  # room
        out: FloatArray | None = None,
    ) -> FloatArray:  # (n_z,)
        """Return slopes by cell carried over to the states; what is known gets none."""
        near, both = near or self.near(z), self.moves_exposures
        out = np.empty(len(z)) if out is None else out
        out_S, out_Q, out_E = self.split(out)
        sums = sums or self.room((out_S, out_Q))
        for part in sums[: 1 + both]:
            part.fill(0.0)
        pull_cells(*near, self.at, slopes, both, *sums)
        self.bring_back(sums[: 1 + both], (out_S, out_Q))
        if not both:
            out_Q[:] = 0.0
        out_E[:] = 0.0
        if self.effects is not None:
            gather(slopes, self.pair_at, out_E)
        for side, part in zip(self.sides, self.parts(out), strict=True):
            side.hold(part)
        return out


def put(states: FloatArray, out: FloatArray) -> None:
    """Write states to where they are to stand, unless that is where they are."""
    if not np.may_share_memory(states, out):
        out[:] = states


# From cells, columns and scales -----------------------------------------------------------------


def assemble(
    cells: Cells,
    columns: Columns,
    scales: Scales,
    law: Law,
    *,
    seeks_side: bool = False,
) -> tuple[Joint, Pairs]:
    """Build the joint problem."""
    n_items = columns.n_items
    drifting = scales.drift_scale > 0 or scales.score_drift_scale > 0
    moving = scales.exposure_drift_scale > 0 and bool(columns.free_exposures.any())
    chains, at_S = link_states(cells.pairs, cells.when, cells.axis, n_items, drifting=drifting)
    if moving == drifting:
        exposed, at_Q = chains, at_S
    else:
        exposed, at_Q = link_states(cells.pairs, cells.when, cells.axis, n_items, drifting=moving)
    pairs, effects = Pairs(np.zeros(0, np.int64), n_items), None
    pair_at: IntArray = np.zeros(0, np.int32)
    if scales.pair_scale > 0:
        distinct, owner = np.unique(cells.pair_keys(n_items), return_inverse=True)
        effects, pair_at = link_states(
            owner, cells.when, cells.axis, len(distinct), drifting=scales.pair_drift_scale > 0
        )
        pairs = Pairs(distinct, n_items)
    alike = not columns.free_exposures.any() and columns.are_uniform
    at = at_S if alike or exposed is chains else np.hstack([at_S, at_Q])  # what loops must fetch
    loss = CellLoss(replace(law, noise_scale=scales.noise_scale), cells)
    sides = sides_of(columns, scales, chains, exposed, effects)
    joint = Joint(at, pair_at, loss, *sides, seeks_side, alike, columns.rise)
    return joint, pairs


def rescale(problem: Joint, columns: Columns, scales: Scales) -> Joint:
    """Return the same problem with other scales; what drifts must be the same."""
    effects = None if problem.effects is None else problem.effects.chains
    S, Q, E = sides_of(columns, scales, problem.strengths.chains, problem.exposures.chains, effects)
    law = replace(problem.law, noise_scale=scales.noise_scale)
    return replace(
        problem,
        strengths=replace(S, extra=problem.strengths.extra),
        exposures=replace(Q, extra=problem.exposures.extra),
        effects=E,
        loss=CellLoss(law, problem.cells),
    )


def sides_of(
    columns: Columns, scales: Scales, strengths: Chains, exposures: Chains, effects: Chains | None
) -> tuple[FactorStates, FactorStates, FactorStates | None]:
    """Return strengths, exposures and effects over their chains, at these scales."""
    scores = columns.are_scores
    S = FactorStates(
        strengths,
        drift=np.where(scores, scales.score_drift_scale, scales.drift_scale),
        prior=np.where(scores, scales.score_prior_scale, scales.prior_scale),
        free=columns.free_strengths,
    )
    Q = FactorStates(
        exposures,
        drift=np.full(len(scores), scales.exposure_drift_scale),
        prior=np.full(len(scores), scales.prior_scale),
        free=columns.free_exposures,
    )
    if effects is None:
        return S, Q, None
    drift, prior = np.array([scales.pair_drift_scale]), np.array([scales.pair_scale])
    return S, Q, FactorStates(effects, drift, prior, np.ones(1, bool))
