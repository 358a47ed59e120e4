"""A shard of a joint problem: some items with their chains, and some cells (see `shard_links`).

Conjugate gradients need one sum an iteration (Chronopoulos and Gear, 1989), as uᵀ A u is known to
the cells before slopes have come back; so an iteration is two rounds.  The preconditioner, each
item's own chain, sends nothing.  Draws, gauge, law and the start of factors need sums over shards.
Noise belongs to cells and states by their names, so that draws are the same however items are cut
into shards.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.inference.cell_kernels import gather, pull_cells, solve_chains
from intransit.inference.gauge import grams_of
from intransit.inference.joint_problem import FactorStates
from intransit.inference.joint_system import SparseEquations, factor_side, known_width
from intransit.inference.likelihood import Ends, side_pulls
from intransit.inference.posterior_kernels import keyed_normals
from intransit.inference.shards.links import NOTHING, Inbox, Linked, Message, Round, exchange
from intransit.inference.shards.sharding import read_arrays, write_arrays
from intransit.kernels import add_part, advance, dot, turn

Noise = tuple[FloatArray, FloatArray]  # of first states, of steps
CG_LIMIT = 2_000
COLUMNS_AT_ONCE = 2  # of a block of vectors over states: more would fill the memory
OF_CELLS, OF_STRENGTHS, OF_EXPOSURES, OF_PAIRS, OF_STARTS = range(5)


@dataclass(frozen=True, eq=False)
class ShardState:
    """States, with what the cells say of them."""

    z: FloatArray  # guests included
    margins: FloatArray
    slope: FloatArray
    curvature: FloatArray
    value: float  # of the loss
    penalty: float


class Shard(Linked):
    """One shard; every public method is a round."""

    def start(self) -> None:
        """Begin with states that know nothing."""
        z = np.zeros(self.problem.cuts[-1])
        self.problem.split(z)[1][:, 0] = 1.0
        self.point = ShardState(z, NOTHING, NOTHING, NOTHING, np.inf, np.inf)

    # Where we are ------------------------------------------------------------------------------

    @exchange
    def show(self, _inbox: Inbox, trial: bool) -> Round:
        """Send states: those here, or a step on."""
        z = self.point.z.copy()
        report = np.zeros(2)
        if trial:
            step = self.steps[0]
            for part, more in zip(self._own(z), self._halves(step), strict=True):
                np.add(part, more, out=part)
            report = np.array([dot(step, self.gradient), dot(step, step)])
            if self.E is not None:
                z[self.problem.cuts[1] :] += self.steps_E[0]
                report[0] += dot(self.steps_E[0], self.gradient_E)
        self._trial = z
        return self._lend([z]), report

    @exchange
    def look(self, inbox: Inbox) -> Round:
        """Work out the loss at the states that were shown; report the objective."""
        z = self._trial
        self._borrow([z], inbox)
        margins = self.problem.margins(z)
        value, slope, curvature = self.problem.loss.all_of(margins)
        self.ahead = ShardState(z, margins, slope, curvature, value, self._penalty(z))
        return self._silence(), np.array([value + self.ahead.penalty])

    def _penalty(self, z: FloatArray) -> float:
        total = sum(
            side.penalty(part) for side, part in zip((self.S, self.Q), self._own(z), strict=True)
        )
        if self.E is not None:
            total += self.E.penalty(z[self.problem.cuts[1] :, None])
        return float(total)

    def accept(self) -> None:
        """Go to where was looked."""
        self.point = self.ahead

    # Linear systems ----------------------------------------------------------------------------

    @exchange
    def pull(self, _inbox: Inbox, exact: bool) -> Round:
        """Open the linear system here: send what cells say of guests, blocks and slopes."""
        point, problem = self.point, self.problem
        twist = point.slope if exact and not problem.is_convex else None
        self.equations = SparseEquations(problem, point.z, point.curvature, twist)
        self._inverses: tuple[float, list[FloatArray]] | None = None
        slopes = [point.slope]
        if self.E is not None:
            effects = point.z[problem.cuts[1] :, None]
            pulled = problem.pull(point.z, point.slope)[problem.cuts[1] :]
            self.gradient_E = pulled + self.E.product(effects)[:, 0]
            taken = self.equations.solve_effects(-self.gradient_E)
            slopes.append(point.slope + point.curvature * taken[self._pair_at])
        self._pulled = [problem.pull(point.z, slope) for slope in slopes]
        out = self._hand_back(self._pulled)
        self._blocks = self.equations.blocks()
        for q, (parts, _) in enumerate(out):
            if len(self.halo_S.held[q]):
                parts.append(_flat(self._blocks[0], self.halo_S.held[q]))
                if self.Q.free.any():
                    parts.append(_flat(self._blocks[1], self.halo_Q.held[q]))
        return out, None

    @exchange
    def collect(self, inbox: Inbox) -> Round:
        """Close it: gradient and blocks of the own states; report size and mean of the diagonal."""
        owns = [np.concatenate([part.ravel() for part in self._own(v)]) for v in self._pulled]
        self._pulled = []
        self._add_up(owns, inbox)
        halos, (of_S, of_Q) = (self.halo_S, self.halo_Q), self._blocks
        self._blocks = of_S[: self.halo_S.n_own].copy(), of_Q[: self.halo_Q.n_own].copy()
        n_sides = 1 + bool(self.Q.free.any())
        for q, (parts, _) in enumerate(inbox):
            for block, halo, part in zip(self._blocks, halos, parts[-n_sides:], strict=False):
                add_part(part, halo.lent[q], 0, block.reshape(len(block), -1))
        for own in owns:
            for side, out, states in zip(*self._both(own), self._own(self.point.z), strict=True):
                side.add_product(states, out)
        self.gradient = owns[0]
        self.rights = [-owns[-1]]
        if self.E is not None:
            self.rights_E = [-self.gradient_E]
        trace, n = 0.0, 0
        for side, block in zip((self.S, self.Q), self._blocks, strict=True):
            if side.free.any():
                trace += float(np.einsum("nkk->k", block)[side.free].sum() + side.diagonal.sum())
                n += side.shape[0] * int(side.free.sum())
        size = dot(self.gradient, self.gradient)
        if self.E is not None:
            size += dot(self.gradient_E, self.gradient_E)
        return self._silence(), np.array([size, trace, n])

    def _towards(self, residual: FloatArray) -> FloatArray:
        """Apply the preconditioner: each item's own chain."""
        out = np.zeros_like(residual)
        assert self._inverses is not None
        for side, right, result, inverse in zip(
            *self._both(residual, out), self._inverses[1], strict=True
        ):
            if side.free.any():
                r = len(side.free)
                solve_chains(inverse, side.links, right, result, np.empty(r), known_width(r))
                if not side.free.all():
                    np.multiply(result, side.free, out=result)
        return out

    @exchange
    def begin(self, _inbox: Inbox, damping: float, accuracy: float) -> Round:
        """Begin to solve for all right-hand sides at once."""
        if self._inverses is None or self._inverses[0] != damping:
            self._inverses = (
                damping,
                [
                    factor_side(blocks.copy(), side, damping)
                    for blocks, side in zip(self._blocks, (self.S, self.Q), strict=True)
                ],
            )
        self.damping, self.accuracy = damping, accuracy
        n = len(self.rights)
        self._residuals = [right.copy() for right in self.rights]
        self.steps = [np.zeros_like(right) for right in self.rights]
        self._ahead = [self._towards(residual) for residual in self._residuals]
        self._directions = [np.zeros_like(right) for right in self.rights]
        self._images = [np.zeros_like(right) for right in self.rights]
        self._first, self._energy, self._length = np.full(n, -1.0), np.ones(n), np.ones(n)
        self.n_products, self.done = 0, np.zeros(n, bool)
        return self._lend_ahead(), None

    def _lend_ahead(self) -> list[Message]:
        self._spread = []
        for ahead, done in zip(self._ahead, self.done, strict=True):
            if not done:
                wide = np.zeros(self.problem.cuts[1])
                for part, own in zip(self._own(wide), self._halves(ahead), strict=True):
                    part[:] = own
                self._spread.append(wide)
        return self._lend(self._spread)

    @exchange
    def react(self, inbox: Inbox) -> Round:
        """Say what cells make of the directions; send slopes of guests, and sums."""
        self._borrow(self._spread, inbox)
        busy = np.flatnonzero(~self.done)
        sums = np.zeros((len(self.done), 2))
        wides = []
        self._products = []
        for k, wide in zip(busy, self._spread, strict=True):
            out = self.equations.data_product(wide)
            total = dot(wide, out)
            own = np.concatenate([part.ravel() for part in self._own(out)])
            prior = np.zeros_like(own)
            for side, ahead, part, more in zip(
                *self._both(self._ahead[k], own, prior), strict=True
            ):
                if not side.free.all():
                    np.multiply(part, side.free, out=part)
                side.add_product(ahead, more)
            if self.damping:
                prior += self.damping * self._ahead[k]
            total += dot(prior, self._ahead[k])
            own += prior
            sums[k] = dot(self._residuals[k], self._ahead[k]), total
            self._products.append(own)
            wides.append(out)
        self._spread = []
        return self._hand_back(wides, sums), None

    @exchange
    def advance(self, inbox: Inbox) -> Round:
        """Take a step of conjugate gradients; send the next directions."""
        self._add_up(self._products, inbox)
        sums = np.sum([message[1] for message in inbox], axis=0)
        self.n_products += int((~self.done).any())
        for k, image in zip(np.flatnonzero(~self.done), self._products, strict=True):
            energy, curve = sums[k]
            first = self._first[k] < 0.0
            share = 0.0 if first else energy / self._energy[k]
            if first:
                self._first[k] = energy
            else:
                curve -= share * energy / self._length[k]
            if energy <= 0.0 or curve <= 0.0:  # nothing left, or a direction that is not convex
                self.done[k] = True
                continue
            turn(share, self._ahead[k], self._directions[k])
            turn(share, image, self._images[k])
            length = energy / curve
            advance(length, self._directions[k], self._images[k], self.steps[k], self._residuals[k])
            self._energy[k], self._length[k] = energy, length
            # The product that shows that enough was done is there, so it is used.
            if energy <= self.accuracy**2 * self._first[k] or self.n_products >= CG_LIMIT:
                self.done[k] = True
            else:
                self._ahead[k] = self._towards(self._residuals[k])
        self._products = []
        return self._lend_ahead(), (bool(self.done.all()), self.n_products)

    @exchange
    def share_steps(self, _inbox: Inbox) -> Round:
        """Send solutions to where they are guests, for effects of pairs to follow."""
        self._ahead, self.done = self.steps, np.zeros(len(self.steps), bool)
        return self._lend_ahead(), None

    @exchange
    def follow(self, inbox: Inbox) -> Round:
        """Solve for effects of pairs, given the rest."""
        self._borrow(self._spread, inbox)
        self.steps_E, problem = [], self.problem
        for wide, right in zip(self._spread, self.rights_E, strict=True):
            full = np.concatenate([wide, np.zeros(len(right))])
            change = self.point.curvature * problem.push(self.point.z, full)
            told = np.bincount(self._pair_at, change, minlength=len(right))
            self.steps_E.append(self.equations.solve_effects(right - told))
        self._spread = []
        return self._silence(), None

    # Keeping -----------------------------------------------------------------------------------

    def keep(self, name: str) -> None:
        """Write the own states into the folder."""
        S, Q = self._own(self.point.z)
        effects = self.point.z[self.problem.cuts[1] :]
        write_arrays(self._place(name), {"S": S, "Q": Q, "E": effects})

    def restore(self, name: str) -> None:
        """Take own states from the folder."""
        self.start()
        kept = read_arrays(self._place(name))
        S, Q = self._own(self.point.z)
        S[:], Q[:] = kept["S"], kept["Q"]
        self.point.z[self.problem.cuts[1] :] = kept["E"]

    def _place(self, name: str) -> Path:
        return self.folder / f"{name}-{self.number}.npz"

    def states(self) -> Any:
        """Report the own states: keys of S and Q, S, Q, effects and their keys."""
        S, Q = self._own(self.point.z)
        effects = self.point.z[self.problem.cuts[1] :]
        return (self.halo_S.keys, self.halo_Q.keys, S, Q, effects, self._effect_keys())

    # Draws -------------------------------------------------------------------------------------

    @exchange
    def perturb(self, _inbox: Inbox, seed: int, draws: list[int]) -> Round:
        """Shake data and prior, once for each draw; send what that does to guests."""
        problem, point, sides = self.problem, self.point, (self.S, self.Q)
        self._pulled, self.rights, self.rights_E = [], [], []
        self._noises: list[list[Noise]] = []
        for draw in draws:
            slopes = keyed_normals(self._cell_keys(), seed, draw, OF_CELLS)
            slopes *= np.sqrt(point.curvature)
            noises = [
                self._noise(self.S, self.halo_S.keys, seed, draw, OF_STRENGTHS),
                self._noise(self.Q, self.halo_Q.keys, seed, draw, OF_EXPOSURES),
            ]
            kicks = [side.shape_noise(noise) for side, noise in zip(sides, noises, strict=True)]
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

    @exchange
    def gather_noise(self, inbox: Inbox) -> Round:
        """Add up what others' cells do to own states."""
        owns = [np.concatenate([p.ravel() for p in self._own(v)]) for v in self._pulled]
        self.rights = [right + own for right, own in zip(self.rights, owns, strict=True)]
        self._pulled = []
        self._add_up(self.rights, inbox)
        return self._silence(), None

    def seen(self) -> Any:
        """Report how many entries of S and of Q the data determine, by column, from these draws."""
        total = np.zeros((2, 2, len(self.S.free)))
        for step, noises in zip(self.steps, self._noises, strict=True):
            for k, (side, part) in enumerate(zip(*self._both(step), strict=True)):
                total[k] += np.stack(side.seen_noise(noises[k], part)) / len(self.steps)
        return total

    def drawn(self) -> Any:
        """Report the draws, less their mean: of S and Q in one vector, and of effects."""
        effects = self.steps_E if self.E is not None else [NOTHING] * len(self.steps)
        return [
            (*(part.copy() for part in self._halves(step)), effect)
            for step, effect in zip(self.steps, effects, strict=True)
        ]

    @staticmethod
    def _noise(side: FactorStates, keys: IntArray, seed: int, draw: int, kind: int) -> Noise:
        width = side.shape[1]
        drawn = np.stack([keyed_normals(keys, seed, draw, kind, k) for k in range(width)], axis=1)
        return drawn[side.firsts], drawn[side.steps]

    def _cell_keys(self) -> IntArray:
        cells, facts = self.cells, self.facts
        keys = cells.pair_keys(facts.n_items) * len(facts.axis) + cells.when
        if facts.n_levels:
            keys = keys * (2 * facts.n_levels + 1) + cells.means.astype(np.int64)
        return keys if cells.sides is None else keys * 3 + cells.sides.astype(np.int64)

    # Gauge -------------------------------------------------------------------------------------

    def gram(self) -> Any:
        """Report the Gram matrices that the best gauge follows from."""
        S, Q = self._own(self.point.z)
        at_S = Q if self.shape.moving == self.shape.drifting else Q[self._chains[0].owners]
        grams = grams_of(self.S, np.ascontiguousarray(np.hstack([at_S, S])))
        of_Q = grams_of(self.Q, np.ascontiguousarray(Q))[-1]
        return [np.stack(grams), of_Q, np.sum(Q**2, axis=0)]

    def mix(self, A: FloatArray, D: FloatArray) -> Any:
        """Look at states of the same margins in another gauge; report the objective."""
        z = self.point.z.copy()
        S, Q = self._two(z)
        basis = np.hstack([self._exposures_at_strengths(Q), S])
        for part, made, side in ((S, basis @ A, self.S), (Q, Q @ D, self.Q)):
            part[:, side.free] = made[:, side.free]
        self.ahead = replace(self.point, z=z, penalty=self._penalty(z))
        value = self.ahead.value + self.ahead.penalty
        return np.array([value if np.isfinite(z).all() else np.inf])

    def _exposures_at_strengths(self, Q: FloatArray) -> FloatArray:
        """Return the exposures at all states of the strengths, guests included."""
        if self.shape.moving == self.shape.drifting:
            return Q
        size = len(self.facts.axis)
        guests = np.searchsorted(self.halo_Q.guests, self.halo_S.guests // size * size)
        rows = np.concatenate([self._chains[0].owners, self.halo_Q.n_own + guests])
        return Q.take(rows, axis=0)

    # Law ---------------------------------------------------------------------------------------

    def often(self) -> Any:
        """Report how often each size of a level was seen."""
        sizes = np.abs(self.cells.means).astype(np.int64)
        return np.bincount(sizes, self.cells.counts, minlength=self.facts.n_levels + 1)

    def side_terms(self, advantage: float) -> Any:
        """Report the derivatives of the loss in the advantage of the better side."""
        sides = self.cells.sides
        if sides is None:
            return np.zeros(2)
        x = self.point.margins - self.problem.advantage * sides
        return np.array(side_pulls(self.problem.loss, x, sides, advantage))

    def cut_terms(self, cuts: FloatArray, advantage: float) -> Any:
        """Report value, gradient and Hessian of the loss in the cuts."""
        x = self.point.margins
        if self.cells.sides is not None:
            x = x + (advantage - self.problem.advantage) * self.cells.sides
        return list(Ends(self.cells, x, len(cuts)).terms(cuts))

    # A start for factors: the leading planes of what scores leave unexplained -------------------

    def spin(self, seed: int, width: int) -> Any:
        """Begin with a block of vectors over items at random."""
        items = np.arange(self.number, self.facts.n_items, self.facts.n_shards)
        drawn = [keyed_normals(items, seed, OF_STARTS, k) for k in range(width)]
        self._image = np.stack(drawn, axis=1)
        return self._image.T @ self._image

    @exchange
    def lend_block(self, _inbox: Inbox, change: FloatArray) -> Round:
        """Take the block as changed, and send it to where its items are guests."""
        self._block = self._image @ change
        owners = self._chains[0].owners
        out = [([self._block[owners[self.halo_S.lent[q]]]], NOTHING) for q in self]
        return out, None

    @exchange
    def turn_block(self, inbox: Inbox) -> Round:
        """Multiply by the matrix of slopes; send what belongs to guests."""
        n_own, width = self.halo_S.n_own, self._block.shape[1]
        sums = np.empty((self.halo_S.n_all, width))
        order = self._orders[0]
        at = np.ascontiguousarray(self._at[:, [0, 1, 0, 1]])
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
        return back, None

    @exchange
    def fold_block(self, inbox: Inbox) -> Round:
        """Add up over the states of each item; report Gram matrices."""
        for q, (parts, _) in enumerate(inbox):
            add_part(parts[0], self.halo_S.lent[q], 0, self._sums)
        starts = self._chains[0].starts[:-1]  # none where there are fewer items than shards
        self._image = np.zeros((0, self._sums.shape[1]))
        if len(starts):
            self._image = np.add.reduceat(self._sums, starts, axis=0)
        self._sums = NOTHING
        return self._silence(), [self._image.T @ self._image, self._block.T @ self._image]

    @exchange
    def set_factors(self, _inbox: Inbox, first: FloatArray, second: FloatArray) -> Round:
        """Take planes of the block as factors, at all times alike; send them."""
        z = self.point.z.copy()
        for part, chains, plane in zip(self._own(z), self._chains, (first, second), strict=True):
            part[:, 1:] = (self._block @ plane)[chains.owners]
        self._trial = z
        return self._lend([z]), None

    def gain(self) -> Any:
        """Report how the loss changes along what was looked at, to second order."""
        change = self.ahead.margins - self.point.margins
        slope, curve = change @ self.point.slope, change @ (self.point.curvature * change)
        return np.array([slope, curve])

    @exchange
    def stretch(self, _inbox: Inbox, length: float) -> Round:
        """Make the factors that were looked at longer or shorter; send them."""
        for part in self._own(self._trial):
            part[:, 1:] *= length
        return self._lend([self._trial]), None


def _flat(blocks: FloatArray, places: IntArray) -> FloatArray:
    rows = blocks.take(places, axis=0)
    return rows.reshape(len(rows), -1)
