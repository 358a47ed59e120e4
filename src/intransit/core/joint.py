"""The joint problem: all times at once.

    Σ_cells loss(x, y)  +  penalties of strengths S, exposures Q, and effects of pairs E

    x = S[a] @ Q[d] - S[b] @ Q[c] + E[pair]

All states stand in one vector z = [S, Q, E].  Without drift and effects this is the weighted
program of `problem`, its ridge 1 / prior_scale².
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.cell_kernels import (
    gather,
    logistic_terms,
    logistic_value,
    pull_cells,
    push_cells,
    read_cells,
)
from intransit.core.cells import Cells
from intransit.core.layout import Layout, Order
from intransit.core.sides import Side


class CellLoss(Protocol):
    """Minus a log likelihood, as a function of the margins of the cells, each on its own."""

    @property
    def cells(self) -> Cells:
        """What was seen, in the order of the margins."""

    def value(self, x: FloatArray) -> float:
        """Return the loss."""

    def terms(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return its slope and its second derivative in each cell's margin."""

    def all_of(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return value and terms."""


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

    def all_of(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return value and terms."""
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
        return self.all_of(x)[1:]

    def all_of(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return value and terms, in one pass."""
        slope, curvature = np.empty_like(x), np.empty_like(x)
        value = logistic_terms(x, self.cells.counts, self.cells.means, slope, curvature)
        return value, slope, curvature


@dataclass(frozen=True, eq=False)
class Joint:
    """The whole problem.  A vector z holds all states: S, then Q, then E, each by rows."""

    at: IntArray  # (n_cells, 4): states of first and second among strengths, then exposures
    pair_at: IntArray  # (n_cells,): state of the pair; unused without effects
    loss: CellLoss
    strengths: Side
    exposures: Side
    effects: Side | None
    advantage: float = 0.0  # what the better side adds to a cell's margin
    seeks_side: bool = False  # whether the advantage is to be found
    layout: Layout | None = None  # for loops over cells that are too many for a cache

    @cached_property
    def cuts(self) -> tuple[int, int, int]:
        """Where S, Q and E end in z."""
        n_S = int(np.prod(self.strengths.shape))
        n_Q = int(np.prod(self.exposures.shape))
        n_E = 0 if self.effects is None else self.effects.shape[0]
        return n_S, n_S + n_Q, n_S + n_Q + n_E

    @property
    def sides(self) -> tuple[Side, ...]:
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

    @cached_property
    def _near(self) -> Layout:
        """Where cells find their states, in order of time where that is the quicker one."""
        return Layout(self.at, Order(), Order()) if self.layout is None else self.layout

    def margins(self, z: FloatArray) -> FloatArray:  # (n_cells,)
        """Return the margin of every cell, advantage included."""
        S, Q, E = self.split(z)
        out = np.empty(len(self.at))
        near = self._near
        read_cells(near.strengths.carry(S), near.exposures.carry(Q), near.at, out)
        if self.loss.cells.sides is not None:
            out += self.advantage * self.loss.cells.sides
        return out if self.effects is None else out + E[self.pair_at]

    def penalty(self, z: FloatArray) -> float:
        """Return the penalties of all sides."""
        parts = self.parts(z)
        return sum(side.penalty(part) for side, part in zip(self.sides, parts, strict=True))

    def add_prior(self, z: FloatArray, out: FloatArray) -> None:
        """Add the prior's precision times z."""
        for side, part, result in zip(self.sides, self.parts(z), self.parts(out), strict=True):
            side.add_product(part, result)

    def push(self, z: FloatArray, step: FloatArray) -> FloatArray:  # (n_cells,)
        """Return the first-order change of every cell at z along a step."""
        (S, Q, _), (dS, dQ, dE) = self.split(z), self.split(step)
        out = np.empty(len(self.at))
        push_cells(S, Q, self.at, dS, dQ, self.moves_exposures, out)
        return out if self.effects is None else out + dE[self.pair_at]

    def pull(self, z: FloatArray, slopes: FloatArray) -> FloatArray:  # (n_z,)
        """Return slopes by cell carried over to the states; what is known gets none."""
        S, Q, _ = self.split(z)
        out = np.empty(len(z))
        out_S, out_Q, out_E = self.split(out)
        near, sums = self._near, (np.zeros_like(S), np.zeros_like(Q))
        S, Q = near.strengths.carry(S), near.exposures.carry(Q)
        pull_cells(S, Q, near.at, slopes, self.moves_exposures, *sums)
        out_S[:], out_Q[:] = near.strengths.bring_back(sums[0]), near.exposures.bring_back(sums[1])
        out_E[:] = 0.0
        if self.effects is not None:
            gather(slopes, self.pair_at, out_E)
        out *= self.free
        return out
