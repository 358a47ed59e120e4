"""The linear systems of the joint problem: (Jᵀ C J + prior + damping) step = right-hand side.

With a `twist`, the slopes of the loss, the matrix is the whole Hessian: the margins' own second
derivative is added, without which the last steps are slow where factors are weakly held.

Small ones are factored.  Large ones are solved matrix-free by conjugate gradients; the
preconditioner is each item's own block-tridiagonal matrix over time, its data blocks plus its
random walk, for S and for Q.  Given S and Q, each pair's effects are a chain of their own: that
part of the system is solved exactly, and what remains is a system in S and Q alone with curvature

    C - C R (Rᵀ C R + prior of E)⁻¹ Rᵀ C,      R the map from states of pairs to cells

Both ways give the same step.
"""

from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from intransit.arrays import FloatArray
from intransit.inference.cell_kernels import (
    chain_marginals,
    factor_chains,
    gather,
    normal_cells,
    pull_cells,
    push_cells,
    push_pull_cells,
    solve_chains,
    state_blocks,
    twist_cells,
)
from intransit.inference.descent import conjugate_gradients
from intransit.inference.gauge import rotations
from intransit.inference.joint_problem import FactorStates, Joint

CG_LIMIT = 2_000
KNOWN_WIDTHS = (1, 2, 3, 4)


class DenseEquations:
    """All unknowns at once, by Cholesky.  Vectors are over z; what is known stays 0."""

    def __init__(
        self,
        problem: Joint,
        z: FloatArray,
        curvature: FloatArray,
        twist: FloatArray | None = None,
    ) -> None:
        self.problem = problem
        self._free = np.flatnonzero(problem.free)
        self.matrix = information(problem, z, curvature, twist)
        self._last: tuple[float, FloatArray | None] = (np.nan, None)

    @cached_property
    def scale(self) -> float:
        """Mean of the diagonal."""
        return float(self.matrix.diagonal().mean()) or 1.0

    def _factored(self, damping: float) -> FloatArray | None:
        if self._last[0] != damping:
            self._last = (damping, self._factor(damping))
        return self._last[1]

    def _factor(self, damping: float) -> FloatArray | None:
        damped = self.matrix.copy()
        damped.ravel()[:: len(damped) + 1] += damping
        factor, failed = dpotrf(damped.T, lower=1, clean=1, overwrite_a=1)
        return None if failed else np.asarray(factor)

    def solve(
        self, right: FloatArray, damping: float, *, accuracy: float = 0.0
    ) -> FloatArray | None:
        """Return the step, or None when the damping is too small for rounding."""
        del accuracy  # always to rounding
        factor = self._factored(damping)
        if factor is None:
            return None
        step = np.zeros_like(right)
        step[self._free] = dpotrs(factor, right[self._free], lower=1)[0]
        return step

    @cached_property
    def root(self) -> FloatArray:  # (n_free, n_free), lower
        """L with L Lᵀ the information; a touch of damping where rounding needs it."""
        damping = 0.0
        while True:
            factor = self._factored(damping)
            if factor is not None:
                return factor
            damping = max(10.0 * damping, 1e-14 * self.scale)

    def half_solve(self, rows: FloatArray) -> FloatArray:  # (n_free, n_rows)
        """Return L⁻¹ rowsᵀ: its squared columns are variances of linear functions of z."""
        return np.asarray(dtrtrs(self.root, rows[:, self._free].T, lower=1)[0])

    def draw(self, noise: FloatArray) -> FloatArray:  # (n_z, n_draws)
        """Return L⁻ᵀ noise: exact draws of the Gaussian whose precision this is."""
        out = np.zeros((len(self.problem.free), noise.shape[1]))
        out[self._free] = dtrtrs(self.root, noise, lower=1, trans=1)[0]
        return out


def information(
    problem: Joint, z: FloatArray, curvature: FloatArray, twist: FloatArray | None = None
) -> FloatArray:
    """Return the whole Newton matrix over the free entries of z, dense."""
    S, Q, _ = problem.split(z)
    matrix, at = np.zeros((len(z), len(z))), problem.at_owners
    normal_cells(S, Q, at, problem.pair_at, problem.effects is not None, curvature, matrix)
    if twist is not None:
        twist_cells(at, twist, S.shape[1], S.size, matrix)
        turns = rotations(problem, z)
        matrix += _stiffness(problem) * (turns @ turns.T)
    begin = 0
    for side in problem.sides:
        n, width = side.shape
        here = begin + np.arange(n * width)
        matrix[here, here] += side.diagonal.ravel()
        links = side.links[1:].ravel()
        matrix[here[width:], here[: len(here) - width]] -= links
        matrix[here[: len(here) - width], here[width:]] -= links
        begin += n * width
    free = np.flatnonzero(problem.free)
    return matrix if len(free) == len(z) else matrix[np.ix_(free, free)]


class SparseEquations:
    """S and Q by preconditioned conjugate gradients, effects of pairs eliminated.

    Rotations are not held, as in the dense system, along which a gradient has no part: started
    from 0, conjugate gradients do not go there either.
    """

    def __init__(
        self,
        problem: Joint,
        z: FloatArray,
        curvature: FloatArray,
        twist: FloatArray | None = None,
        counter: list[int] | None = None,  # of products, shared by the steps of one solve
    ) -> None:
        self.problem, self.curvature, self._twist = problem, curvature, twist
        self._counter = [0] if counter is None else counter
        self.S, self.Q, _ = problem.split(z)
        self.both = problem.moves_exposures
        self._width = known_width(self.S.shape[1])
        self._z = z
        self._inverses: tuple[float, list[FloatArray]] | None = None
        if problem.effects is not None:
            own = np.zeros(problem.effects.shape[0])
            gather(curvature, problem.pair_at, own)
            own += problem.effects.diagonal[:, 0]
            self._own = own
            self._pair_inverse = own[:, None, None].copy()
            factor_chains(self._pair_inverse, problem.effects.links, (1,))

    @property
    def n_products(self) -> int:
        """How many products have been made."""
        return self._counter[0]

    def blocks(self) -> tuple[FloatArray, FloatArray]:
        """Return each state's own block of what remains once effects are eliminated."""
        left = self.curvature
        if self.problem.effects is not None:
            left = left * (1.0 - left / self._own[self.problem.pair_at])
        r = self.S.shape[1]
        blocks = np.zeros((len(self.S), r, r)), np.zeros((len(self.Q), r, r))
        at, orders = self.problem.at, self.problem.orders
        state_blocks(*self._near, at, left, self.both, self._width, *blocks)
        return orders[0].bring_back(blocks[0]), orders[1].bring_back(blocks[1])

    @cached_property
    def scale(self) -> float:
        """Mean of the diagonal over S and Q."""
        total, n = 0.0, 0
        for side, blocks in zip(self.problem.sides, self.blocks(), strict=False):
            if side.free.any():
                diagonal = np.einsum("nkk->k", blocks)[side.free].sum()
                total += float(diagonal + side.diagonal.sum())
                n += side.shape[0] * int(side.free.sum())
        return total / max(n, 1) or 1.0

    def solve_effects(self, right: FloatArray) -> FloatArray:  # (n_pair_states,)
        """Return the effects of pairs that answer a right-hand side, states held."""
        assert self.problem.effects is not None
        out = np.empty((len(right), 1))
        links = self.problem.effects.links
        solve_chains(self._pair_inverse, links, right[:, None], out, np.empty(1), (1,))
        return out[:, 0]

    def product(self, step: FloatArray, damping: float) -> FloatArray:  # (n_S + n_Q,)
        """Return the reduced system times a step in S and Q."""
        self._counter[0] += 1
        out = self.data_product(step)  # the cells' part first: it takes the most room
        for side, part, result in zip(
            self.problem.sides, self._two(step), self._two(out), strict=False
        ):
            hold(side, result)
            side.add_product(part, result)
        if damping:
            out += damping * step
        return out

    def data_product(self, step: FloatArray) -> FloatArray:  # (n_S + n_Q,)
        """Return what the cells alone say of a step, in known columns as well."""
        problem, at, near = self.problem, self.problem.at, self._near
        steps = problem.carry(*self._two(step))
        sums = np.zeros_like(steps[0]), np.zeros_like(steps[1])
        if problem.effects is None:
            twist = np.empty(0) if self._twist is None else self._twist
            push_pull_cells(*near, at, self.curvature, twist, *steps, self.both, self._width, *sums)
        else:
            change = np.empty(len(at))
            push_cells(*near, at, *steps, self.both, change)
            change *= self.curvature
            total = np.zeros(problem.effects.shape[0])
            gather(change, problem.pair_at, total)
            change -= self.curvature * self.solve_effects(total)[problem.pair_at]
            pull_cells(*near, at, change, self.both, *sums)
            if self._twist is not None:  # the same sums, the step in the place of the factors
                pull_cells(*steps, at, self._twist, True, *sums)
        del steps
        out = np.empty_like(step)
        for order, total, place in zip(problem.orders, sums, self._two(out), strict=True):
            order.write_back(total, place)
        return out

    @cached_property
    def _near(self) -> tuple[FloatArray, FloatArray]:
        """S and Q as the loops over cells want them; S only where exposures move."""
        if self.both:
            return self.problem.carry(self.S, self.Q)
        return self.S, self.problem.orders[1].carry(self.Q)

    def _two(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        return vector[: self.S.size].reshape(self.S.shape), vector[self.S.size :].reshape(
            self.Q.shape
        )

    def _towards(self, residual: FloatArray, inverses: list[FloatArray]) -> FloatArray:
        out = np.zeros_like(residual)
        work = np.empty(self.S.shape[1])
        for side, inverse, right, result in zip(
            self.problem.sides, inverses, self._two(residual), self._two(out), strict=False
        ):
            if side.free.any():
                solve_chains(inverse, side.links, right, result, work, self._width)
                hold(side, result)
        return out

    def _preconditioner(self, damping: float) -> list[FloatArray]:
        if self._inverses is None or self._inverses[0] != damping:
            factored = [
                factor_side(blocks, side, damping)
                for blocks, side in zip(self.blocks(), self.problem.sides, strict=False)
            ]
            self._inverses = (damping, factored)
        return self._inverses[1]

    def covariances(self) -> tuple[FloatArray, FloatArray]:
        """Return each state's covariance given all other items: from its own chain alone."""
        out = []
        for side, inverse in zip(self.problem.sides, self._preconditioner(0.0), strict=False):
            spread = np.empty_like(inverse)
            chain_marginals(inverse, side.links, spread, np.empty(inverse.shape[1:]))
            out.append(spread * (side.free[:, None] & side.free))
        return out[0], out[1]

    def prepare(self) -> None:
        """Factor what undamped solves need, so that several may run side by side."""
        self._preconditioner(0.0)
        assert self._near

    def solve(self, right: FloatArray, damping: float, *, accuracy: float = 1e-8) -> FloatArray:
        """Return the step.  Effects are not damped: they are solved exactly."""
        problem, n = self.problem, self.S.size + self.Q.size
        reduced = right[:n]
        if problem.effects is not None:  # what the effects take over leaves the right-hand side
            taken = self.curvature * self.solve_effects(right[n:])[problem.pair_at]
            reduced = reduced - problem.pull(self._z, taken)[:n]
        inverses = self._preconditioner(damping)
        step = conjugate_gradients(
            lambda v: self.product(v, damping),
            lambda v: self._towards(v, inverses),
            reduced,
            accuracy=accuracy,
            most=CG_LIMIT,
        )
        if problem.effects is not None:
            step = np.append(step, np.zeros(len(right) - n))
            change = self.curvature * problem.push(self._z, step)
            total = np.zeros(len(right) - n)
            gather(change, problem.pair_at, total)
            step[n:] = self.solve_effects(right[n:] - total)
        return step


def known_width(n_columns: int) -> tuple[int, ...]:
    """Return what tells the loops their number of columns, for the few that each is compiled for.

    A loop of known length is up to twice as quick; a loop for every length would be compiled anew.
    """
    return (1,) * n_columns if n_columns in KNOWN_WIDTHS else ()


def hold(side: FactorStates, states: FloatArray) -> None:
    """Set known columns to 0."""
    if not side.free.all():
        states *= side.free


def _stiffness(problem: Joint) -> float:
    """Return what rotations are held with, along which the objective does not change."""
    return float(np.mean(1.0 / problem.exposures.prior[problem.exposures.free] ** 2))


def factor_side(blocks: FloatArray, side: FactorStates, damping: float) -> FloatArray:
    """Overwrite one side's blocks by the inverses that `solve_chains` needs, and return them."""
    if not side.free.all():
        blocks *= side.free[:, None] & side.free  # known columns stand apart, with 1
    np.einsum("nkk->nk", blocks)[:] += side.diagonal + (damping + ~side.free)
    factor_chains(blocks, side.links, known_width(blocks.shape[1]))
    return blocks
