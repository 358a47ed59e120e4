"""From cells, columns and scales to a joint problem.

Columns of S and Q come in two kinds: scores, whose exposures are known, and factors.  Each kind
has scales of its own; `Scales` holds all of them under the names that users see.
"""

from dataclasses import dataclass, replace

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.data.cells import Cells, Chains, link_states
from intransit.inference.cell_kernels import order_by_key
from intransit.inference.joint_problem import (
    FEWEST_STATES,
    FactorStates,
    Joint,
    Order,
    Squared,
    lay_out,
)
from intransit.inference.likelihood import Law, loss_of


@dataclass(frozen=True)
class Scales:
    """Standard deviations of everything that is random in the model."""

    noise_scale: float  # of a reading about its margin; 1 and unused for wins
    drift_scale: float  # of the step of one entry of S in one unit of time
    prior_scale: float  # of the first state of an entry of S, and of Q
    exposure_drift_scale: float = 0.0  # the same as drift_scale, for Q
    score_drift_scale: float = 0.0  # the same for columns whose exposures are known
    score_prior_scale: float = 1.0
    pair_scale: float = 0.0  # of the deviation of a pair from the low rank; 0 for none
    pair_drift_scale: float = 0.0


@dataclass(frozen=True, eq=False)
class Columns:
    """What is known of S and Q in advance: columns of numbers, or of NaN where free."""

    strengths: FloatArray  # (n_items, n_columns)
    exposures: FloatArray  # (n_items, n_columns)

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
        for known in (self.strengths, self.exposures):
            spread = np.ptp(known, axis=0)
            if (spread[~np.isnan(spread)] > 0).any():
                return False
        return True

    def grown(self, n_items: int) -> "Columns":
        """Return the same columns for more items; known ones must be uniform."""
        more = n_items - self.n_items
        if more <= 0:
            return self
        return Columns(
            np.vstack([self.strengths, np.repeat(self.strengths[-1:], more, axis=0)]),
            np.vstack([self.exposures, np.repeat(self.exposures[-1:], more, axis=0)]),
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs that have effects of their own, as numbers first · n_items + second, rising."""

    keys: IntArray  # (n_pairs,)
    n_items: int

    def find(self, pairs: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the place of each pair (first < second), and whether it has one."""
        keys = pairs[:, 0] * self.n_items + pairs[:, 1]
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return place, (self.keys[place] == keys) & (pairs[:, 1] < self.n_items)


def assemble(
    cells: Cells,
    columns: Columns,
    scales: Scales,
    law: Law,
    *,
    seeks_side: bool = False,
    fewest: int = FEWEST_STATES,
) -> tuple[Joint, Pairs]:
    """Build the joint problem; with `fewest` states or more, cells are put in order of time."""
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
        keys = cells.pair_keys(n_items)  # sorted, as cells are
        distinct, owner = np.unique(keys, return_inverse=True)
        effects, pair_at = link_states(
            owner, cells.when, cells.axis, len(distinct), drifting=scales.pair_drift_scale > 0
        )
        pairs = Pairs(distinct, n_items)
    at = np.empty((len(cells), 4), np.int32)  # halves what the loops must fetch
    at[:, :2], at[:, 2:] = at_S, at_Q
    del at_S, at_Q
    if chains.n_states >= fewest:
        order = np.empty(len(cells), np.int32)  # 32 bits hold what one memory does
        order_by_key(cells.when, len(cells.axis), order)
        cells, at = cells.ordered(order), at.take(order, axis=0, mode="clip")
        pair_at = pair_at[order] if len(pair_at) else pair_at
        del order
    orders = lay_out(at, chains, exposed, fewest=fewest)
    if chains.n_states >= fewest and not columns.free_exposures.any() and columns.are_uniform:
        at[:, 2:], orders = 0, (orders[0], Order())  # all are alike: cells read one, from the cache
    loss = loss_of(law, cells, scales.noise_scale)
    S, Q, E = sides_of(columns, scales, chains, exposed, effects)
    problem = Joint(
        at,
        pair_at,
        loss,
        S,
        Q,
        E,
        advantage=law.advantage,
        seeks_side=seeks_side,
        orders=orders,
    )
    return problem, pairs


def rescale(problem: Joint, columns: Columns, scales: Scales) -> Joint:
    """Return the same problem with other scales; what drifts must be the same."""
    effects = None if problem.effects is None else problem.effects.chains
    S, Q, E = sides_of(columns, scales, problem.strengths.chains, problem.exposures.chains, effects)
    loss = problem.loss
    if isinstance(loss, Squared):
        loss = replace(loss, noise_scale=scales.noise_scale)
    return replace(
        problem,
        strengths=replace(S, extra=problem.strengths.extra),
        exposures=replace(Q, extra=problem.exposures.extra),
        effects=E,
        loss=loss,
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


def fill_known(problem: Joint, columns: Columns, z: FloatArray) -> FloatArray:
    """Write the known columns into all states of z, and return it."""
    S, Q, _ = problem.split(z)
    for part, known, free, side in (
        (S, columns.strengths, columns.free_strengths, problem.strengths),
        (Q, columns.exposures, columns.free_exposures, problem.exposures),
    ):
        part[:, ~free] = known[side.chains.owners][:, ~free]
    return z
