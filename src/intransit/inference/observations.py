"""What was seen, as the sampler takes it: equal comparisons of a pair at a time are one cell."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.cells import Rows
from intransit.model.laws import Kind


@dataclass(frozen=True, eq=False)
class Observations:
    """Cells, sorted by pair and then by time; the first item of a pair is the smaller number.

    Attributes
    ----------
    pairs, times, counts
        Which two items, when, and how many games or readings.
    means
        The share of games that the first won, or its level, or the mean reading.
    sides
        1 where the first had the better side, -1 where the second had it, else 0.
    codes
        For each covariate the number of its value, -1 where it has none.
    """

    kind: Kind
    n_items: int
    pairs: IntArray  # (n_cells, 2)
    times: FloatArray  # (n_cells,)
    counts: FloatArray  # (n_cells,)
    means: FloatArray  # (n_cells,)
    sides: FloatArray  # (n_cells,)
    codes: IntArray  # (n_covariates, n_cells)
    n_rows: int
    spread: float = 0.0  # Σ counts (outcome - mean of its cell)², of readings
    values: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())  # of each covariate
    positive: FloatArray | None = None  # (n_cells,): readings above 0, those of 0 as half

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
        return Observations(
            self.kind,
            max(self.n_items, more.n_items),
            np.concatenate([self.pairs, more.pairs]),
            np.concatenate([self.times, more.times]),
            np.concatenate([self.counts, more.counts]),
            np.concatenate([self.means, more.means]),
            np.concatenate([self.sides, more.sides]),
            np.concatenate([self.codes, more.codes], axis=1),
            self.n_rows + more.n_rows,
            self.spread + more.spread,
            more.values,
            np.concatenate([self.wins, more.wins]) if self.kind == "squared" else None,
        )._collapsed()

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
        return Observations(
            self.kind,
            self.n_items,
            np.ascontiguousarray(self.pairs[first]),
            axis[when[first]],
            counts,
            means,
            self.sides[first],
            np.ascontiguousarray(self.codes[:, first]),
            self.n_rows,
            spread,
            self.values,
            None if self.positive is None else np.bincount(cell, self.positive).astype(float),
        )
