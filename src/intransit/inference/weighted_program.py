"""The weighted program of one matrix: its losses, its readings, the problem and its linear systems.

Losses are functions of the margins x of the pairs: value, slope, curvature.  Solvers see a problem
only through these three, so that what is fitted (squared readings, a bound) and how it is minimised
stay apart.

The paper's program gives every reading of period t the weight w_t and asks one matrix to
explain them all.  Readings of the same pair then share a prediction, so they collapse:

    Σ_k w_k (x - y_k)² / 2  =  W (x - ȳ)² / 2 + constant,    W = Σ w_k,  ȳ = Σ w_k y_k / W

and the cost of everything after this module follows the distinct pairs, not the readings.  What is
minimised over the free columns of S and Q is

    loss(X_p for p in pairs) + ½ ridge (‖S‖² + ‖Q‖²),        X = S Qᵀ - Q Sᵀ

Both factors live side by side in one array `factors` = [S Q] of shape (n_items, 2 n_factors);
column c < n_factors is a column of S and multiplies column n_factors + c, its partner in Q.

A step solves a system in Jᵀ C J, J the first-order map of `kernels` and C the curvature of the
loss.  The loops are those over cells: a pair is a cell whose strengths are the columns that move,
and whose exposures, which stand still, are the partners of these.  J always has a null space: with
Q held, S -> S + Q B leaves X alone for every symmetric B, r(r+1)/2 directions, and items nobody has
compared add theirs.  So no step is a bare `solve`: a damping picks, among all steps that do equally
well, the shortest.  Small systems are factored; large ones are solved matrix-free by conjugate
gradients, with each item's own block of Jᵀ C J as the preconditioner.  Both give the same step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrs
from scipy.sparse import csr_array, vstack

from intransit.arrays import BoolArray, FloatArray, IntArray, fold_pairs, unfold
from intransit.data.measurements import Entries, PeriodReadings
from intransit.inference.cell_kernels import pull_cells, push_cells, push_pull_cells, state_blocks
from intransit.inference.newton import Descent, cholesky, conjugate_gradients
from intransit.kernels import jacobian, normal_matrix


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

    def diagonal(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of matrixᵀ diag(weights) matrix, (n_pairs,)."""
        squares = self.matrix * self.matrix  # by entries, sparse or dense
        return np.asarray(squares.T @ weights)


def widen(matrix: csr_array | FloatArray, columns: IntArray, n_columns: int) -> Any:
    """Return the same rows over more columns, zero where there was none."""
    if isinstance(matrix, np.ndarray):
        wide = np.zeros((*matrix.shape[:-1], n_columns))
        wide[..., columns] = matrix
        return wide
    moved = columns[matrix.indices]
    return csr_array((matrix.data, moved, matrix.indptr), shape=(matrix.shape[0], n_columns))


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

    def curvature(self, x: FloatArray) -> "Quadratic":  # noqa: ARG002  (the same everywhere)
        """Return a loss of the same second derivative, constant in the margins: this one."""
        return self

    def times(self, x: FloatArray) -> FloatArray:
        """Return the second derivative times a vector over pairs."""
        product = self.weights * x
        return product if self.mixed is None else product + self.mixed.pull(self.mixed.matrix @ x)

    def diagonal(self) -> FloatArray:
        """Return the diagonal of the second derivative, (n_pairs,): what a preconditioner uses."""
        if self.mixed is None:
            return self.weights
        return self.weights + self.mixed.diagonal(self.mixed.weights)

    def over(self, columns: IntArray, n_pairs: int) -> "Quadratic":
        """Return the same loss over more pairs; `columns` says where the old ones stand."""
        mixed = self.mixed
        return replace(
            self,
            weights=widen(self.weights, columns, n_pairs),
            targets=widen(self.targets, columns, n_pairs),
            mixed=mixed and replace(mixed, matrix=widen(mixed.matrix, columns, n_pairs)),
        )

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
    satisfies the bound when the multipliers are right; `solve_bounded` updates them.
    """

    inner: Quadratic
    bound: float
    multipliers: FloatArray  # (n_pairs,)
    stiffness: float

    def excess(self, x: FloatArray) -> FloatArray:
        """Return how far the shifted margins lie outside the box, with sign."""
        shifted = x + self.multipliers / self.stiffness
        return shifted - np.clip(shifted, -self.bound, self.bound)

    def slack(self, x: FloatArray) -> float:
        """Return how far a pair with a multiplier is from the bound that it should touch."""
        held = np.sign(self.multipliers) * x - self.bound
        pressed = (self.multipliers != 0) & (self.excess(x) != 0)
        return float(np.abs(held[pressed]).max(initial=0.0))

    def value(self, x: FloatArray) -> float:
        """Return the loss plus the penalty."""
        excess = self.excess(x)
        return self.inner.value(x) + 0.5 * self.stiffness * float(excess @ excess)

    def slope(self, x: FloatArray) -> FloatArray:
        """Return its gradient in the margins, (n_pairs,)."""
        return self.inner.slope(x) + self.stiffness * self.excess(x)

    def curvature(self, x: FloatArray) -> Quadratic:
        """Return a loss of the same second derivative at these margins, stiff where it presses."""
        pressed = self.stiffness * (self.excess(x) != 0)
        return replace(self.inner, weights=self.inner.weights + pressed)


Loss = Quadratic | Boxed

TILE_ITEMS = 8_192  # rows of factors, step and result for so many items fit in a core's cache


@dataclass(frozen=True, eq=False)
class Collapsed:
    """All readings of all periods as one loss over the distinct pairs they touch."""

    pairs: IntArray  # (n_pairs, 2), first < second, in an order good for loops
    loss: Quadratic
    n_repeats: int  # readings beyond the first of their pair, and readings of the diagonal
    evenness: float  # (Σ w)² / (n Σ w²) over readings: 1 when all count alike

    @property
    def pure_error(self) -> float:
        """Twice the part of the objective that no matrix can explain: spread of repeats."""
        return 2.0 * self.loss.constant


def collapse(periods: Sequence[PeriodReadings], weights: FloatArray) -> Collapsed:
    """Merge periods with these weights; a period of weight 0 leaves no trace."""
    used = [(readings, w) for readings, w in zip(periods, weights, strict=True) if w > 0]
    n_items = periods[0].operator.n_items
    cells = _collapse_entries([u for u in used if isinstance(u[0].operator, Entries)], n_items)
    mixed = [u for u in used if not isinstance(u[0].operator, Entries)]
    whole = _with_mixtures(cells, mixed, n_items) if mixed else cells
    n = np.array([readings.operator.n_outcomes for readings, _ in used], dtype=float)
    w = np.array([weight for _, weight in used]) / max(weight for _, weight in used)
    return replace(whole, evenness=float((n @ w) ** 2 / (n.sum() * (n @ w**2))))


def _collapse_entries(used: Sequence[tuple[PeriodReadings, float]], n_items: int) -> Collapsed:
    if not used:
        nothing = np.zeros(0)
        return Collapsed(np.zeros((0, 2), np.int64), Quadratic(nothing, nothing), 0, 1.0)
    folded = [fold_pairs(readings.operator.pairs, n_items) for readings, _ in used]  # type: ignore[attr-defined]
    keys = np.concatenate([key for key, _ in folded])
    signs = np.concatenate([sign for _, sign in folded])
    y = np.concatenate([readings.outcomes for readings, _ in used])
    w = np.concatenate([weight * readings.counts for readings, weight in used])
    distinct, cell = np.unique(keys, return_inverse=True)
    total = np.bincount(cell, w).astype(float)
    mean = np.bincount(cell, w * signs * y) / total  # 0 on the diagonal, whose margin is 0
    spread = 0.5 * float(np.sum(w * (y - signs * mean[cell]) ** 2))
    kept = np.flatnonzero(distinct // n_items != distinct % n_items)  # off the diagonal
    kept = kept[_tiles(distinct[kept] % n_items, n_items)]
    return Collapsed(
        unfold(distinct[kept], n_items),
        Quadratic(total[kept], mean[kept], constant=spread),
        n_repeats=len(y) - len(kept),
        evenness=1.0,
    )


def _tiles(second: IntArray, n_items: int) -> IntArray | slice:
    """Return an order of the pairs in which the rows that loops touch stay in cache.

    Pairs come sorted by their first item, whose row is then at hand; with many items the rows of
    the second are not.  Taking the second items a tile at a time makes a pass four times as
    quick at 200,000 items, and costs nothing else.
    """
    if n_items <= TILE_ITEMS:
        return slice(None)
    return np.argsort((second // TILE_ITEMS).astype(np.uint16), kind="stable")


def _with_mixtures(
    cells: Collapsed, mixed: Sequence[tuple[PeriodReadings, float]], n_items: int
) -> Collapsed:
    """Add readings that mix several pairs, over the union of the pairs of both."""
    folds = [readings.operator.fold() for readings, _ in mixed]
    keys = [fold_pairs(fold.pairs, n_items)[0] for fold in folds]
    cell_keys, _ = fold_pairs(cells.pairs, n_items)
    union = np.unique(np.concatenate([cell_keys, *keys]))
    wide = [
        widen(fold.matrix, np.searchsorted(union, key), len(union))
        for fold, key in zip(folds, keys, strict=True)
    ]
    mixtures = Mixtures(
        _stack(wide),
        weights=np.concatenate([w * readings.counts for readings, w in mixed]),
        targets=np.concatenate([readings.outcomes for readings, _ in mixed]),
    )
    loss = replace(cells.loss.over(np.searchsorted(union, cell_keys), len(union)), mixed=mixtures)
    return Collapsed(unfold(union, n_items), loss, cells.n_repeats, 1.0)


def _stack(matrices: list[csr_array | FloatArray]) -> csr_array | FloatArray:
    """Return matrices one above the other, dense as soon as one of them is."""
    sparse = [matrix for matrix in matrices if not isinstance(matrix, np.ndarray)]
    if len(sparse) == len(matrices):
        return csr_array(vstack(sparse, format="csr"))
    return np.vstack([m if isinstance(m, np.ndarray) else m.toarray() for m in matrices])


def pull(partners: FloatArray, pairs: IntArray, slopes: FloatArray) -> FloatArray:
    """Return slopes by pair as slopes by item and column, (n_items, n_moved): Jᵀ slopes.

    It is also the skew-symmetric matrix with these slopes at its pairs, not built, times the rows.
    """
    out = np.zeros_like(partners)
    pull_cells(partners, partners, pairs, slopes, False, out, out)
    return out


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be minimised.  `known` holds given columns of [S Q]; NaN columns are free."""

    pairs: IntArray  # (n_pairs, 2), first < second, all distinct
    loss: Loss
    known: FloatArray  # (n_items, 2 n_factors)
    ridge: float = 0.0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.known)

    @property
    def n_factors(self) -> int:
        """Number of columns of S."""
        return int(self.known.shape[1]) // 2

    @cached_property
    def free(self) -> BoolArray:  # (2 n_factors,)
        """Which columns of [S Q] are to be recovered."""
        return np.asarray(np.isnan(self.known).all(axis=0))

    @cached_property
    def all_free(self) -> bool:
        """Whether nothing is known in advance."""
        return bool(self.free.all())

    @property
    def degrees_of_freedom(self) -> int:
        """Dimension of the set of matrices X that the free columns can make.

        f free columns have f n_items entries, and f(f+1)/2 directions of them move no margin:
        the symplectic changes of basis that leave the known columns alone.
        """
        f = int(self.free.sum())
        return f * self.n_items - f * (f + 1) // 2

    def moved(self, side: str) -> IntArray:
        """Return the free columns of "S", of "Q", or of "both"."""
        r = self.n_factors
        begin, end = {"S": (0, r), "Q": (r, 2 * r), "both": (0, 2 * r)}[side]
        return begin + np.flatnonzero(self.free[begin:end])

    def partners(self, factors: FloatArray, moved: IntArray) -> FloatArray:
        """Return A of kernels (1): beside each moved column, the column that it multiplies."""
        r = self.n_factors
        swapped = np.concatenate([factors[:, r:], -factors[:, :r]], axis=1)
        return swapped if len(moved) == 2 * r else np.ascontiguousarray(swapped[:, moved])

    def margins(self, factors: FloatArray) -> FloatArray:
        """Return X at the pairs, (n_pairs,)."""
        out, r = np.empty(len(self.pairs)), self.n_factors
        S, Q = factors[:, :r], factors[:, r:]
        push_cells(S, Q, self.pairs, S, Q, False, out)
        return out

    def value(self, factors: FloatArray, margins: FloatArray | None = None) -> float:
        """Return the objective; margins that are known already need not be read again."""
        loss = self.loss.value(self.margins(factors) if margins is None else margins)
        if self.ridge == 0.0:
            return loss
        return loss + 0.5 * self.ridge * float(np.sum(factors[:, self.free] ** 2))

    def gradient(
        self,
        factors: FloatArray,  # (n_items, 2 n_factors)
        margins: FloatArray,  # (n_pairs,)
        moved: IntArray,  # (n_moved,)
        partners: FloatArray,  # (n_items, n_moved)
    ) -> FloatArray:  # (n_items, n_moved)
        """Return the objective's gradient in the moved columns."""
        out = pull(partners, self.pairs, self.loss.slope(margins))
        if self.ridge:
            out += self.ridge * factors[:, moved]
        return out

    @cached_property
    def rounding(self) -> float:
        """A decrease of the objective that is nothing but rounding."""
        return 1e-30 * self.loss.value(np.zeros(len(self.pairs)))


@dataclass(frozen=True, eq=False)
class Solution(Descent):
    """Where a solver stopped, and why."""

    factors: FloatArray  # (n_items, 2 n_factors)
    pressures: FloatArray | None = None  # (n_pairs,): what the bound adds to the slope, if active
    pressed: IntArray | None = None  # (n_pairs, 2): the pairs that the pressures speak of


class Solver(Protocol):
    """A method with its settings: from a start to a solution."""

    def __call__(self, problem: Problem, start: FloatArray, *, tolerance: float = ...) -> Solution:
        """Minimise from a start."""


def gradient_size(problem: Problem, solution: Solution, factors: FloatArray) -> float:
    """Return the norm of the gradient in all free columns, at factors of the solution's X.

    With an active bound it is the gradient of the Lagrangian: the objective's slope plus what
    the bound presses back, which is what vanishes at a constrained minimum.
    """
    moved = problem.moved("both")
    partners = problem.partners(factors, moved)
    gradient = problem.gradient(factors, problem.margins(factors), moved, partners)
    if solution.pressures is not None and solution.pressed is not None:
        gradient = gradient + pull(partners, solution.pressed, solution.pressures)
    return float(np.linalg.norm(gradient))


DENSE_LIMIT = 1_200  # unknowns; above it a product costs less than a factorisation
CG_LIMIT = 500  # products a solve


class NormalEquations:
    """Jᵀ C J for some moved columns, ready to be solved at several dampings."""

    def __init__(
        self,
        partners: FloatArray,  # (n_items, n_moved)
        pairs: IntArray,  # (n_pairs, 2)
        curvature: Quadratic,  # a loss of that curvature
        *,
        ridge: float = 0.0,  # beside the damping of a solve
        dense: bool | None = None,
    ) -> None:
        self.shape = partners.shape
        self._ridge = ridge
        self._partners = partners
        self._pairs = pairs
        self._curvature = curvature
        self._dense = partners.size <= DENSE_LIMIT if dense is None else dense
        if self._dense:  # the upper triangle
            self._matrix = np.empty((partners.size, partners.size))
            normal_matrix(partners, pairs, curvature.weights, self._matrix)
            if curvature.mixed is not None:
                rows = curvature.mixed.matrix @ jacobian(partners, pairs)
                self._matrix += rows.T @ (curvature.mixed.weights[:, None] * rows)
            self.diagonal = self._matrix.diagonal().copy()
        else:
            self._blocks = np.zeros((*partners.shape, partners.shape[1]))
            own, held = self._blocks, self._blocks[:0]
            state_blocks(partners, partners, pairs, curvature.diagonal(), False, (), own, held)
            self.diagonal = np.diagonal(self._blocks, axis1=1, axis2=2).ravel()

    @property
    def scale(self) -> float:
        """The mean of the diagonal: what a damping is small or large against."""
        return float(self.diagonal.mean()) or 1.0

    def eigenvalues(self) -> FloatArray:  # (n_unknowns,), ascending
        """Return the eigenvalues of the matrix, which must be dense."""
        return np.asarray(np.linalg.eigvalsh(self._matrix, UPLO="U"))

    def product(self, step: FloatArray) -> FloatArray:
        """Return Jᵀ C J step, (n_items, n_moved), without the matrix."""
        A, pairs, curvature = self._partners, self._pairs, self._curvature
        if curvature.mixed is not None:
            change = np.empty(len(pairs))
            push_cells(A, A, pairs, step, step, False, change)
            return pull(A, pairs, curvature.times(change))
        out = np.zeros(self.shape)
        twist = np.empty(0)
        push_pull_cells(A, A, pairs, curvature.weights, twist, step, step, False, (), out, out)
        return out

    def solve(
        self,
        right: FloatArray,  # (n_items, n_moved)
        damping: float,
        *,
        accuracy: float = 1e-10,
    ) -> FloatArray | None:
        """Return the step, or None when the damping is too small for rounding."""
        damping = self._ridge + damping
        if self._dense:
            factor = cholesky(self._matrix, damping)
            if factor is None:
                return None
            return np.asarray(dpotrs(factor, right.ravel(), lower=1)[0].reshape(self.shape))
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
