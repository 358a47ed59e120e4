"""Losses as functions of the margins x of the pairs: value, slope, curvature.

Solvers see a problem only through these three, so that what is fitted (squared readings,
a bound) and how it is minimised stay apart.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from intransit.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Readings that mix several pairs: row m reads Σ_p matrix[m, p] x_p."""

    matrix: csr_array | FloatArray  # (n_rows, n_pairs)
    weights: FloatArray  # (n_rows,)
    targets: FloatArray  # (n_rows,)

    def misses(self, x: FloatArray) -> FloatArray:
        """Return what the margins read minus what was read, (n_rows,)."""
        return np.asarray(self.matrix @ x - self.targets)

    def pull(self, values: FloatArray) -> FloatArray:
        """Return matrixᵀ (weights · values), (n_pairs,)."""
        return np.asarray(self.matrix.T @ (self.weights * values))

    def times(self, x: FloatArray) -> FloatArray:
        """Return matrixᵀ diag(weights) matrix x, (n_pairs,)."""
        return self.pull(np.asarray(self.matrix @ x))

    def diagonal(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of matrixᵀ diag(weights) matrix, (n_pairs,)."""
        squares = self.matrix * self.matrix  # by entries, sparse or dense
        return np.asarray(squares.T @ weights)

    def over(self, columns: IntArray, n_pairs: int) -> "Mixtures":
        """Return the same readings over more pairs; `columns` says where the old ones stand."""
        return Mixtures(widen(self.matrix, columns, n_pairs), self.weights, self.targets)


def widen(
    matrix: csr_array | FloatArray, columns: IntArray, n_columns: int
) -> csr_array | FloatArray:
    """Return the same rows over more columns."""
    if isinstance(matrix, np.ndarray):
        wide = np.zeros((len(matrix), n_columns))
        wide[:, columns] = matrix
        return wide
    moved = columns[matrix.indices]
    return csr_array((matrix.data, moved, matrix.indptr), shape=(matrix.shape[0], n_columns))


@dataclass(frozen=True, eq=False)
class Curvature:
    """The second derivative in x: a diagonal, plus that of the readings that mix pairs."""

    diagonal: FloatArray  # (n_pairs,)
    mixed: Mixtures | None = None

    def times(self, x: FloatArray) -> FloatArray:
        """Return the curvature times a vector over pairs."""
        product = self.diagonal * x
        return product if self.mixed is None else product + self.mixed.times(x)

    def pair_diagonal(self) -> FloatArray:
        """Return the diagonal of the whole, (n_pairs,): what a preconditioner uses."""
        if self.mixed is None:
            return self.diagonal
        return self.diagonal + self.mixed.diagonal(self.mixed.weights)


class Loss(Protocol):
    """A convex function of the margins of the pairs."""

    def value(self, x: FloatArray) -> float:
        """Return the loss at these margins."""

    def slope(self, x: FloatArray) -> FloatArray:
        """Return its gradient in the margins, (n_pairs,)."""

    def curvature(self, x: FloatArray) -> Curvature:
        """Return its second derivative in the margins."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½ Σ_p weights (x - targets)², plus the same over readings that mix pairs, plus a constant."""

    weights: FloatArray  # (n_pairs,)
    targets: FloatArray  # (n_pairs,)
    mixed: Mixtures | None = None
    constant: float = 0.0

    def value(self, x: FloatArray) -> float:
        """Return the loss at these margins, the spread of repeated readings included."""
        miss = x - self.targets
        total = float(miss @ (self.weights * miss))
        if self.mixed is not None:
            row_miss = self.mixed.misses(x)
            total += float(row_miss @ (self.mixed.weights * row_miss))
        return 0.5 * total + self.constant

    def slope(self, x: FloatArray) -> FloatArray:
        """Return its gradient in the margins, (n_pairs,)."""
        slope = self.weights * (x - self.targets)
        return slope if self.mixed is None else slope + self.mixed.pull(self.mixed.misses(x))

    def curvature(self, x: FloatArray) -> Curvature:  # noqa: ARG002  (the same everywhere)
        """Return its second derivative, the same at all margins."""
        return Curvature(self.weights, self.mixed)

    def guesses(self) -> FloatArray:
        """Return the best guess of each pair's margin on its own; 0 where nothing speaks of it.

        For single entries their means; readings that mix pairs are spread back over them.
        """
        seen = (self.weights > 0).astype(float)
        evidence, total = seen * self.targets, seen
        if self.mixed is not None:
            evidence = evidence + self.mixed.matrix.T @ self.mixed.targets
            total = total + self.mixed.diagonal(np.ones(len(self.mixed.targets)))
        return np.asarray(np.divide(evidence, total, out=np.zeros(len(total)), where=total > 0))


@dataclass(frozen=True, eq=False)
class Boxed:
    """A loss with |x| <= bound enforced by an augmented Lagrangian.

    Adds stiffness/2 · dist(x + multipliers/stiffness, [-bound, bound])², whose minimiser
    satisfies the bound when the multipliers are right; see `bound.py` for their update.
    """

    inner: Quadratic
    bound: float
    multipliers: FloatArray  # (n_pairs,)
    stiffness: float

    def excess(self, x: FloatArray) -> FloatArray:
        """Return how far the shifted margins lie outside the box, with sign."""
        shifted = x + self.multipliers / self.stiffness
        return shifted - np.clip(shifted, -self.bound, self.bound)

    def value(self, x: FloatArray) -> float:
        """Return the loss plus the penalty."""
        excess = self.excess(x)
        return self.inner.value(x) + 0.5 * self.stiffness * float(excess @ excess)

    def slope(self, x: FloatArray) -> FloatArray:
        """Return its gradient in the margins, (n_pairs,)."""
        return self.inner.slope(x) + self.stiffness * self.excess(x)

    def curvature(self, x: FloatArray) -> Curvature:
        """Return its second derivative, stiff where the bound presses."""
        inner = self.inner.curvature(x)
        diagonal = inner.diagonal + self.stiffness * (self.excess(x) != 0)
        return Curvature(diagonal, inner.mixed)
