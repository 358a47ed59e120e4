"""A shard of a joint problem: some items with their chains, and some cells (see `shard_links`).

Conjugate gradients need one sum an iteration (Chronopoulos and Gear, 1989), as uᵀ A u is known to
the cells before slopes have come back; so an iteration is two rounds.  The preconditioner, each
item's own chain, sends nothing.
"""

import resource
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.inference.cell_kernels import solve_chains
from intransit.inference.joint_system import SparseEquations, factor_side, known_width
from intransit.inference.shards.links import NOTHING, Inbox, Linked, Message, Round
from intransit.inference.shards.shard_files import read_arrays, write_arrays
from intransit.kernels import add_part, advance, dot, turn

CG_LIMIT = 2_000


@dataclass(frozen=True, eq=False)
class ShardState:
    """States, with what the cells say of them."""

    z: FloatArray  # guests included
    margins: FloatArray
    slope: FloatArray
    curvature: FloatArray
    value: float  # of the loss
    penalty: float


class Solving(Linked):
    """The part of a shard that goes downhill; every public method is a round."""

    def start(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Begin with states that know nothing."""
        z = np.zeros(self.problem.cuts[-1])
        self.problem.split(z)[1][:, 0] = 1.0
        self.point = ShardState(z, NOTHING, NOTHING, NOTHING, np.inf, np.inf)
        return self._silence(), None

    # Where we are ------------------------------------------------------------------------------

    def show(self, inbox: Inbox, trial: bool) -> Round:  # noqa: ARG002
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

    def look(self, inbox: Inbox) -> Round:
        """Work out the loss at the states that were shown; report the objective."""
        self._borrow([self._trial], inbox)
        return self._silence(), self._look()

    def _look(self) -> FloatArray:
        z = self._trial
        margins = self.problem.margins(z)
        value, slope, curvature = self.problem.loss.all_of(margins)
        self.ahead = ShardState(z, margins, slope, curvature, value, self._penalty(z))
        return np.array([value + self.ahead.penalty])

    def _penalty(self, z: FloatArray) -> float:
        total = sum(
            side.penalty(part) for side, part in zip((self.S, self.Q), self._own(z), strict=True)
        )
        if self.E is not None:
            total += self.E.penalty(z[self.problem.cuts[1] :, None])
        return float(total)

    def accept(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Go to where was looked."""
        self.point = self.ahead
        return self._silence(), None

    # Linear systems ----------------------------------------------------------------------------

    def pull(self, inbox: Inbox, exact: bool) -> Round:  # noqa: ARG002
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
        blocks = self.equations.blocks
        for q, (parts, _) in enumerate(out):
            if len(self.halo_S.held[q]):
                parts.append(_flat(blocks[0], self.halo_S.held[q]))
                if self.Q.free.any():
                    parts.append(_flat(blocks[1], self.halo_Q.held[q]))
        return self._counted(out), None

    def collect(self, inbox: Inbox) -> Round:
        """Close it: gradient and blocks of the own states; report size and mean of the diagonal."""
        owns = [np.concatenate([part.ravel() for part in self._own(v)]) for v in self._pulled]
        self._pulled = []
        self._add_up(owns, inbox)
        blocks = self.equations.blocks
        own_blocks = [blocks[0][: self.halo_S.n_own].copy(), blocks[1][: self.halo_Q.n_own].copy()]
        del self.equations.blocks  # the guests' are not needed again
        sides = [(self.S, self.halo_S), (self.Q, self.halo_Q)][: 1 + bool(self.Q.free.any())]
        for q, (parts, _) in enumerate(inbox):
            for (side, halo), block, part in zip(
                sides, own_blocks, parts[len(parts) - len(sides) :], strict=False
            ):
                del side
                add_part(part, halo.lent[q], 0, block.reshape(len(block), -1))
        self._blocks = own_blocks
        for own in owns:
            for side, states, out in zip(
                (self.S, self.Q), self._own(self.point.z), self._halves(own), strict=True
            ):
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
        for side, inverse, right, result in zip(
            (self.S, self.Q),
            self._inverses[1],
            self._halves(residual),
            self._halves(out),
            strict=True,
        ):
            if side.free.any():
                r = len(side.free)
                solve_chains(inverse, side.links, right, result, np.empty(r), known_width(r))
                if not side.free.all():
                    np.multiply(result, side.free, out=result)
        return out

    def begin(self, inbox: Inbox, damping: float, accuracy: float) -> Round:  # noqa: ARG002
        """Begin to solve for all right-hand sides at once."""
        if self._inverses is None or self._inverses[0] != damping:
            self._inverses = (
                damping,
                [
                    factor_side(blocks, side, damping)
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
                (self.S, self.Q),
                self._halves(self._ahead[k]),
                self._halves(own),
                self._halves(prior),
                strict=True,
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

    def share_steps(self, inbox: Inbox) -> Round:  # noqa: ARG002
        """Send solutions to where they are guests, for effects of pairs to follow."""
        self._ahead, self.done = self.steps, np.zeros(len(self.steps), bool)
        return self._lend_ahead(), None

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

    def keep(self, inbox: Inbox, name: str) -> Round:  # noqa: ARG002
        """Write the own states into the folder."""
        S, Q = self._own(self.point.z)
        effects = self.point.z[self.problem.cuts[1] :]
        write_arrays(self._place(name), {"S": S, "Q": Q, "E": effects})
        return self._silence(), None

    def restore(self, inbox: Inbox, name: str) -> Round:  # noqa: ARG002
        """Take own states from the folder."""
        self.start([])
        kept = read_arrays(self._place(name))
        S, Q = self._own(self.point.z)
        S[:], Q[:] = kept["S"], kept["Q"]
        self.point.z[self.problem.cuts[1] :] = kept["E"]
        return self._silence(), None

    def _place(self, name: str) -> Path:
        return self.folder / f"{name}-{self.number}.npz"

    def tell(self, inbox: Inbox, what: str) -> Round:  # noqa: ARG002
        """Report the own states (keys of S and Q, S, Q, effects and their keys), or costs."""
        if what == "sent":
            return self._silence(), self.n_sent
        if what == "memory":  # the most that this process has held, where the system tells
            return self._silence(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if what == "seconds":  # of the processor, that this process has used
            return self._silence(), time.process_time()
        S, Q = self._own(self.point.z)
        effects = self.point.z[self.problem.cuts[1] :]
        keys = self.halo_S.keys, self.halo_Q.keys
        return self._silence(), (*keys, S, Q, effects, self._effect_keys())


def _flat(blocks: FloatArray, places: IntArray) -> FloatArray:
    rows = blocks.take(places, axis=0)
    return rows.reshape(len(rows), -1)
