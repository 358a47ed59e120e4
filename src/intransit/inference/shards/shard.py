"""A whole shard: what goes downhill, and draws, gauge, law and starts by sums over shards.

Noise belongs to cells and states by their names, so that draws are the same however items are cut
into shards.
"""

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.inference.cell_kernels import gather, pull_cells
from intransit.inference.gauge import grams_of
from intransit.inference.joint_problem import FactorStates, Order
from intransit.inference.likelihood import Ends, side_pulls
from intransit.inference.shards.links import NOTHING, Inbox, Round
from intransit.inference.shards.systems import ShardState, Solving
from intransit.kernels import add_part, keyed_normals

Noise = tuple[FloatArray, FloatArray]  # of first states, of steps
COLUMNS_AT_ONCE = 2  # of a block of vectors over states: more would fill the memory
OF_CELLS, OF_STRENGTHS, OF_EXPOSURES, OF_PAIRS, OF_STARTS = range(5)


class Shard(Solving):
    """One shard; every public method is a round."""

    # Draws -------------------------------------------------------------------------------------

    def perturb(self, inbox: Inbox, seed: int, draws: list[int]) -> Round:  # noqa: ARG002
        """Shake data and prior, once for each draw; send what that does to guests."""
        problem, point = self.problem, self.point
        self._pulled, self.rights, self.rights_E = [], [], []
        self._noises: list[list[Noise]] = []
        for draw in draws:
            slopes = keyed_normals(self._cell_keys(), seed, draw, OF_CELLS)
            slopes *= np.sqrt(point.curvature)
            noises = [
                self._noise(side, keys, seed, draw, kind)
                for side, keys, kind in (
                    (self.S, self.halo_S.keys, OF_STRENGTHS),
                    (self.Q, self.halo_Q.keys, OF_EXPOSURES),
                )
            ]
            kicks = [
                side.shape_noise(noise)
                for side, noise in zip((self.S, self.Q), noises, strict=True)
            ]
            if self.E is not None:
                noises.append(self._noise(self.E, self._effect_keys(), seed, draw, OF_PAIRS))
                right = self.E.shape_noise(noises[-1])[:, 0]
                gather(slopes, self._pair_at, right)
                self.rights_E.append(right)
                taken = self.equations.solve_effects(right)
                slopes -= point.curvature * taken[self._pair_at]
            self.rights.append(np.concatenate([kick.ravel() for kick in kicks]))
            self._pulled.append(problem.pull(point.z, slopes))
            self._noises.append(noises)
        return self._hand_back(self._pulled), None

    def gather_noise(self, inbox: Inbox) -> Round:
        """Add up what others' cells do to own states."""
        owns = [np.concatenate([p.ravel() for p in self._own(v)]) for v in self._pulled]
        self.rights = [right + own for right, own in zip(self.rights, owns, strict=True)]
        self._pulled = []
        self._add_up(self.rights, inbox)
        return self._silence(), None

    def seen(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Report how many entries of S and of Q the data determine, by column, from these draws."""
        total = np.zeros((2, 2, len(self.S.free)))
        for step, noises in zip(self.steps, self._noises, strict=True):
            for k, (side, part) in enumerate(
                zip((self.S, self.Q), self._halves(step), strict=True)
            ):
                total[k] += np.stack(side.seen_noise(noises[k], part)) / len(self.steps)
        return self._silence(), total

    def drawn(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Report the draws, less their mean: of S and Q in one vector, and of effects."""
        effects = self.steps_E if self.E is not None else [NOTHING] * len(self.steps)
        found = [
            (*(part.copy() for part in self._halves(step)), effect)
            for step, effect in zip(self.steps, effects, strict=True)
        ]
        return self._silence(), found

    @staticmethod
    def _noise(side: FactorStates, keys: IntArray, seed: int, draw: int, kind: int) -> Noise:
        width = side.shape[1]
        drawn = np.stack([keyed_normals(keys, seed, draw, kind, k) for k in range(width)], axis=1)
        return drawn[side.firsts], drawn[side.steps]

    def _cell_keys(self) -> IntArray:
        cells, facts = self.cells, self.facts
        pairs = cells.pairs.astype(np.int64)
        keys = (pairs[:, 0] * facts.n_items + pairs[:, 1]) * len(facts.axis) + cells.when
        if facts.n_levels:
            keys = keys * (2 * facts.n_levels + 1) + cells.means.astype(np.int64)
        return keys if cells.sides is None else keys * 3 + cells.sides.astype(np.int64)

    # Gauge -------------------------------------------------------------------------------------

    def gram(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Report the Gram matrices that the best gauge follows from."""
        S, Q = self._own(self.point.z)
        at_S = Q if self.shape.moving == self.shape.drifting else Q[self._chains[0].owners]
        grams = grams_of(self.S, np.ascontiguousarray(np.hstack([at_S, S])))
        of_Q = grams_of(self.Q, np.ascontiguousarray(Q))[-1]
        return self._silence(), [np.stack(grams), of_Q, np.sum(Q**2, axis=0)]

    def mix(self, inbox: Inbox, A: FloatArray, D: FloatArray) -> Round:  # noqa: ARG002
        """Look at states of the same margins in another gauge; report the objective."""
        z = self.point.z.copy()
        S, Q = self._two(z)
        basis = np.hstack([self._exposures_at_strengths(Q), S])
        for part, made, side in ((S, basis @ A, self.S), (Q, Q @ D, self.Q)):
            part[:, side.free] = made[:, side.free]
        p = self.point
        self.ahead = ShardState(z, p.margins, p.slope, p.curvature, p.value, self._penalty(z))
        finite = np.isfinite(z).all()
        value = p.value + self.ahead.penalty if finite else np.inf
        return self._silence(), np.array([value])

    def _exposures_at_strengths(self, Q: FloatArray) -> FloatArray:
        """Return the exposures at all states of the strengths, guests included."""
        if self.shape.moving == self.shape.drifting:
            return Q
        size = len(self.facts.axis)
        guests = np.searchsorted(self.halo_Q.guests, self.halo_S.guests // size * size)
        rows = np.concatenate([self._chains[0].owners, self.halo_Q.n_own + guests])
        return Q.take(rows, axis=0)

    # Law ---------------------------------------------------------------------------------------

    def often(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Report how often each size of a level was seen."""
        sizes = np.abs(self.cells.means).astype(np.int64)
        return self._silence(), np.bincount(
            sizes, self.cells.counts, minlength=self.facts.n_levels + 1
        )

    def side_terms(self, inbox: Inbox, advantage: float) -> Round:  # noqa: ARG002
        """Report the derivatives of the loss in the advantage of the better side."""
        sides = self.cells.sides
        if sides is None:
            return self._silence(), np.zeros(2)
        x = self.point.margins - self.problem.advantage * sides
        return self._silence(), np.array(side_pulls(self.problem.loss, x, sides, advantage))

    def cut_terms(self, inbox: Inbox, cuts: FloatArray, advantage: float) -> Round:  # noqa: ARG002
        """Report value, gradient and Hessian of the loss in the cuts."""
        x = self.point.margins
        if self.cells.sides is not None:
            x = x + (advantage - self.problem.advantage) * self.cells.sides
        return self._silence(), list(Ends(self.cells, x, len(cuts)).terms(cuts))

    # A start for factors: the leading planes of what scores leave unexplained -------------------

    def spin(self, inbox: Inbox, seed: int, width: int) -> Round:  # noqa: ARG002
        """Begin with a block of vectors over items at random."""
        items = np.arange(self.number, self.facts.n_items, self.facts.n_shards)
        drawn = [keyed_normals(items, seed, OF_STARTS, k) for k in range(width)]
        self._image = np.stack(drawn, axis=1)
        return self._silence(), self._image.T @ self._image

    def lend_block(self, inbox: Inbox, change: FloatArray) -> Round:  # noqa: ARG002
        """Take the block as changed, and send it to where its items are guests."""
        self._block = self._image @ change
        owners = self._chains[0].owners
        out = [([self._block[owners[self.halo_S.lent[q]]]], NOTHING) for q in self]
        return self._counted(out), None

    def turn_block(self, inbox: Inbox) -> Round:
        """Multiply by the matrix of slopes; send what belongs to guests."""
        n_own, width = self.halo_S.n_own, self._block.shape[1]
        sums = np.empty((self.halo_S.n_all, width))
        order = Order() if self._layout is None else self._layout.strengths
        near = self._at if self._layout is None else self._layout.at
        at = np.ascontiguousarray(near[:, [0, 1, 0, 1]])
        for begin in range(0, width, COLUMNS_AT_ONCE):
            here = slice(begin, begin + COLUMNS_AT_ONCE)
            wide = np.empty((self.halo_S.n_all, len(range(width)[here])))
            wide[:n_own] = self._block[:, here][self._chains[0].owners]
            for q, (parts, _) in enumerate(inbox):
                wide[self.halo_S.held[q]] = parts[0][:, here]
            out = np.zeros_like(wide)
            carried = order.carry(wide)
            pull_cells(carried, carried, at, -self.point.slope, False, out, np.empty((0, 1)))
            sums[:, here] = order.bring_back(out)
        self._sums = sums[:n_own]
        back = [([sums[self.halo_S.held[q]]], NOTHING) for q in self]
        return self._counted(back), None

    def fold_block(self, inbox: Inbox) -> Round:
        """Add up over the states of each item; report Gram matrices."""
        for q, (parts, _) in enumerate(inbox):
            add_part(parts[0], self.halo_S.lent[q], 0, self._sums)
        starts = self._chains[0].starts[:-1]
        empty = not len(starts)
        self._image = np.zeros((0, self._sums.shape[1]))
        if not empty:
            self._image = np.add.reduceat(self._sums, starts, axis=0)
        self._sums = NOTHING
        return self._silence(), [self._image.T @ self._image, self._block.T @ self._image]

    def set_factors(self, inbox: Inbox, first: FloatArray, second: FloatArray) -> Round:  # noqa: ARG002
        """Take planes of the block as factors, at all times alike; send them."""
        z = self.point.z.copy()
        for part, chains, plane in zip(self._own(z), self._chains, (first, second), strict=True):
            part[:, 1:] = (self._block @ plane)[chains.owners]
        self._trial = z
        return self._lend([z]), None

    def gain(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Report how the loss changes along what was looked at, to second order."""
        change = self.ahead.margins - self.point.margins
        slope, curve = change @ self.point.slope, change @ (self.point.curvature * change)
        return self._silence(), np.array([slope, curve])

    def stretch(self, inbox: Inbox, length: float) -> Round:  # noqa: ARG002
        """Make the factors that were looked at longer or shorter; send them."""
        for part in self._own(self._trial):
            part[:, 1:] *= length
        return self._lend([self._trial]), None
