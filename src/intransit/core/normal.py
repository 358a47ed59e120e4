"""The linear systems of every step: (Jᵀ C J + damping I) step = right-hand side.

J is the first-order map of `kernels`, C the curvature of the loss.  J always has a null
space: with Q held, S -> S + Q B leaves X alone for every symmetric B, r(r+1)/2 directions,
and items nobody has compared add theirs.  So no step is a bare `solve`: a damping picks, among
all steps that do equally well, the shortest.

Small systems are factored; large ones are solved matrix-free by conjugate gradients, with each
item's own block of Jᵀ C J as the preconditioner.  Both give the same step.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from intransit.arrays import FloatArray, IntArray
from intransit.core.conjugate import conjugate_gradients
from intransit.core.kernels import item_blocks, jacobian, normal_matrix, pull, push, push_pull
from intransit.core.losses import Curvature

DENSE_LIMIT = 1_200  # unknowns; above it a product costs less than a factorisation
CG_LIMIT = 500  # products a solve


class NormalEquations:
    """Jᵀ C J for some moved columns, ready to be solved at several dampings."""

    def __init__(
        self,
        partners: FloatArray,  # (n_items, n_moved)
        pairs: IntArray,  # (n_pairs, 2)
        curvature: Curvature,
        *,
        dense: bool | None = None,
    ) -> None:
        self.shape = partners.shape
        self._partners = partners
        self._pairs = pairs
        self._curvature = curvature
        self._dense = partners.size <= DENSE_LIMIT if dense is None else dense
        if self._dense:
            self._matrix = self._build()
            self.diagonal = self._matrix.diagonal().copy()
        else:
            self._blocks = np.empty((*partners.shape, partners.shape[1]))
            item_blocks(partners, pairs, curvature.pair_diagonal(), self._blocks)
            self.diagonal = np.diagonal(self._blocks, axis1=1, axis2=2).ravel()

    @property
    def scale(self) -> float:
        """The mean of the diagonal: what a damping is small or large against."""
        return float(self.diagonal.mean()) or 1.0

    def _build(self) -> FloatArray:  # (n_unknowns, n_unknowns), upper triangle
        size = self._partners.size
        matrix = np.empty((size, size))
        normal_matrix(self._partners, self._pairs, self._curvature.diagonal, matrix)
        mixed = self._curvature.mixed
        if mixed is not None:
            dense = np.empty((len(self._pairs), size))
            jacobian(self._partners, self._pairs, dense)
            rows = mixed.matrix @ dense
            matrix += rows.T @ (mixed.weights[:, None] * rows)
        return matrix

    def eigenvalues(self) -> FloatArray:  # (n_unknowns,), ascending
        """Return the eigenvalues of the matrix, which must be dense."""
        return np.asarray(np.linalg.eigvalsh(self._matrix, UPLO="U"))

    def product(self, step: FloatArray) -> FloatArray:
        """Return Jᵀ C J step, (n_items, n_moved), without the matrix."""
        out = np.empty(self.shape)
        if self._curvature.mixed is None:
            push_pull(self._partners, self._pairs, self._curvature.diagonal, step, out)
        else:
            change = np.empty(len(self._pairs))
            push(self._partners, self._pairs, step, change)
            pull(self._partners, self._pairs, self._curvature.times(change), out)
        return out

    def solve(
        self,
        right: FloatArray,  # (n_items, n_moved)
        damping: float,
        *,
        accuracy: float = 1e-10,
    ) -> FloatArray | None:
        """Return the step, or None when the damping is too small for rounding."""
        if self._dense:
            return self._solve_dense(right, damping)
        return self._solve_cg(right, damping, accuracy)

    def _solve_dense(self, right: FloatArray, damping: float) -> FloatArray | None:
        damped = self._matrix.copy()
        damped.ravel()[:: len(damped) + 1] += damping
        # The upper triangle in C order is the lower one in LAPACK's order.
        factor, failed = dpotrf(damped.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        step, _ = dpotrs(factor, right.ravel(), lower=1)
        return np.asarray(step.reshape(self.shape))

    def _solve_cg(self, right: FloatArray, damping: float, accuracy: float) -> FloatArray:
        inverse = self._preconditioner(damping)
        return conjugate_gradients(
            lambda step: self.product(step) + damping * step,
            lambda residual: np.matmul(inverse, residual[:, :, None])[:, :, 0],
            right,
            accuracy=accuracy,
            most=CG_LIMIT,
        )

    def _preconditioner(self, damping: float) -> FloatArray:  # (n_items, n_moved, n_moved)
        width = self.shape[1]
        # An item with fewer comparisons than columns has a singular block of its own.
        own = 1e-8 * np.trace(self._blocks, axis1=1, axis2=2) / width
        floor = damping + np.maximum(own, 1e-12 * self.scale)
        return np.linalg.inv(self._blocks + floor[:, None, None] * np.eye(width))
