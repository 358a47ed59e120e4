"""A side of the model: chains of states, how they drift, and which columns move.

Strengths, exposures and effects of pairs are alike,

    ½ Σ steps (step)² / (drift_scale² gap)  +  ½ Σ first states (state)² / prior_scale²

column by column; a side that does not drift has chains of one state, and a known column has no
penalty and does not move.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.cells import Chains
from intransit.core.chain_kernels import chain_product
from intransit.core.vector_kernels import dot

LEAST_STEP = 1e-10  # variance of a step against the prior's: less cannot be told from none


@dataclass(frozen=True, eq=False)
class Side:
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
        out = np.zeros(self.shape)
        if self.chains.drifting:
            least = LEAST_STEP * self.prior**2
            variance = np.maximum(self.drift**2 * self.chains.gaps[self.steps, None], least)
            out[self.steps] = self.free / variance
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

    def product(self, states: FloatArray) -> FloatArray:
        """Return the prior's precision times states."""
        out = np.zeros_like(states)
        self.add_product(states, out)
        return out

    def penalty(self, states: FloatArray) -> float:
        """Return ½ statesᵀ precision states."""
        if not self.free.any():
            return 0.0
        return 0.5 * dot(states, self.product(states))

    def energies(self, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return, by column, Σ first² and Σ step²/gap: what estimates of the scales need."""
        first = np.sum(states[self.firsts] ** 2, axis=0)
        moved = states[self.steps] - states[self.steps - 1]
        return first, np.sum(moved**2 / self.chains.gaps[self.steps, None], axis=0)

    def noise(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return standard normal numbers for first states and for steps."""
        width = self.shape[1]
        return (
            rng.normal(size=(len(self.firsts), width)),
            rng.normal(size=(len(self.steps), width)),
        )

    def shape_noise(self, noise: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return root(precision)ᵀ times noise: the prior's part of a draw, by state."""
        out = np.zeros(self.shape)
        out[self.firsts] = noise[0] / self.prior
        kicks = noise[1] * np.sqrt(self.links[self.steps])
        out[self.steps] += kicks
        out[self.steps - 1] -= kicks  # distinct rows, as each state has one successor
        return out * self.free

    def seen_noise(
        self, noise: tuple[FloatArray, FloatArray], states: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return noise · (noise - root(precision) states), summed by column, firsts and steps.

        For states drawn with this noise its mean is how many entries the data determine.
        """
        first = states[self.firsts] / self.prior
        step = (states[self.steps] - states[self.steps - 1]) * np.sqrt(self.links[self.steps])
        return (
            np.sum(noise[0] * (noise[0] - first), axis=0) * self.free,
            np.sum(noise[1] * (noise[1] - step), axis=0) * self.free,
        )
