"""A shard of a joint problem: some items with their chains, and some cells.

Every shard runs the same program on its own states, the solver of one process; where that needs
others it meets them.  A cell reads two items; where one of them belongs to another shard, its state
is a guest here,

    owner --- state of the direction --->  guest        what cells need
    owner <--------- slope --------------  guest        what cells say of it

and nothing else is sent but a few sums, which all add up in the same order: so all take the same
turns.  The preconditioner, each item's own chain, sends nothing.  Noise belongs to cells and states
by their names, so that draws are the same however items are cut into shards.

Every step that is taken is kept in a folder, by each shard its own states, and every program begins
with what is kept.  So whoever is lost costs the step that was under way, and changes no digit.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.data.cells import Chains, link_states
from intransit.inference.joint_fit import MOST_TURNS, SETTLED
from intransit.inference.joint_problem import Columns, Joint, Noise, put, sides_of
from intransit.inference.joint_starts import ROUGHLY
from intransit.inference.laplace import ROUNDS, Laplace, hold_along_gauge
from intransit.inference.likelihood import CellLoss, Law, far, first_cuts
from intransit.inference.newton import Descent, solve_joint
from intransit.inference.shards.folder import (
    Progress,
    Question,
    read_array,
    read_cells,
    read_facts,
    read_progress,
    read_rise,
    write_over,
    write_progress,
)
from intransit.inference.walk_kernels import keyed_normals
from intransit.inference.weighted_program import pull
from intransit.inference.weighted_solvers import N_POWERS
from intransit.kernels import add_rows, dot
from intransit.skew import canonical_form

WELL_FILLED = 8  # possible keys for each key: a table of all is quicker than sorting
SPARE = 2  # vectors of the power method beyond those wanted
COLUMNS_AT_ONCE = 2  # of a block of vectors over states: more would fill the memory
OF_CELLS, OF_STRENGTHS, OF_EXPOSURES, OF_PAIRS, OF_STARTS = range(5)


class Meeting:
    """How a shard meets the others, whichever way messages go."""

    def __init__(self, number: int, n_shards: int) -> None:
        self.number, self.n_shards, self.n_sent = number, n_shards, 0  # bytes

    def swap(self, sent: list[list[Any]]) -> Callable[[], list[list[Any]]]:
        """Send arrays to each shard; return what waits for those that each has sent here.

        Between the two there is time for whatever needs none of them, but for no other meeting.
        """
        self.n_sent += sum(part.nbytes for parts in sent for part in parts)
        self.give(sent)
        return self.take_all

    def total(self, value: Any) -> Any:
        """Return the sum of what all have, added up in the same order everywhere."""
        self.give([[np.asarray(value)]] * self.n_shards)
        (first,), *others = self.take_all()
        return sum((other for (other,) in others), first)

    def room(self, q: int, k: int, shape: tuple[int, ...]) -> FloatArray:  # noqa: ARG002
        """Return room for the k-th array of the next message to shard q."""
        return np.empty(shape)

    def give(self, sent: list[list[Any]]) -> None:
        """Send arrays to every shard."""
        raise NotImplementedError

    def take_all(self) -> list[list[Any]]:
        """Return what every shard has sent to this one, its own included, once it is there."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Halo:
    """States of one side that loops over cells read: guests, shard by shard, then the own ones.

    Guests are in the order of the states of those who lend them, so that messages are runs.
    """

    n_own: int
    lent: tuple[IntArray, ...]  # by shard: own states that are guests there
    held: tuple[slice, ...]  # by shard: where guests that belong there stand

    @property
    def n_near(self) -> int:
        """Number of states, guests included."""
        return self.n_guests + self.n_own

    @property
    def n_guests(self) -> int:
        """Number of guests."""
        return self.held[-1].stop if self.held else 0

    @property
    def is_sent(self) -> bool:
        """Whether states of this side are sent; all shards say the same."""
        return bool(self.held)


@dataclass(frozen=True, eq=False, kw_only=True)
class ShardProblem(Joint):
    """The problem of the own states; cells read guests as well."""

    shard: "Shard"
    is_whole = False

    def room(self, parts: Sequence[FloatArray]) -> list[FloatArray]:
        """Return room for what stands in these parts, and for that of guests."""
        near = [halo.n_near for halo in self.shard.halos]
        if not self.moves_exposures:
            near[1] = 0
        return [np.empty((n, *part.shape[1:])) for n, part in zip(near, parts, strict=True)]

    def vector(self) -> tuple[FloatArray, list[FloatArray]]:
        """Return room for S and Q in a row, and where loops see them.

        S stands there at once, where Q, which does not move, needs no room for guests.
        """
        if self.moves_exposures:
            out = np.empty(self.cuts[1])
            return out, self.room(self.split(out)[:2])
        r, n = self.strengths.shape[1], self.shard.halos[0].n_guests
        out = np.empty(n * r + self.cuts[1])
        return out[n * r :], [out[: n * r + self.cuts[0]].reshape(-1, r), self.nothing]

    def carry(
        self,
        S: FloatArray | None,
        Q: FloatArray | None,
        out: Sequence[FloatArray | None] = (None, None),
    ) -> tuple[FloatArray, FloatArray]:
        """Send states to where they are guests; return them with the guests here."""
        near, halos = [self.nothing, self.nothing], self.shard.halos
        given = [(k, part) for k, part in enumerate((S, Q)) if part is not None]
        moving = [(k, part) for k, part in given if halos[k].is_sent]
        shards = range(self.shard.facts.n_shards)
        sent = [[self._lend(k, q, part) for k, part in moving] for q in shards]
        taken = self.shard.exchange.swap(sent) if moving else None
        del sent
        for k, part in given:  # while messages are on their way
            room = out[k]
            near[k] = np.empty((halos[k].n_near, part.shape[1])) if room is None else room
            put(part, near[k][halos[k].n_guests :])
        for q, message in enumerate(taken() if taken else ()):
            for rows, (k, _) in zip(message, moving, strict=True):
                near[k][halos[k].held[q]] = rows
        return near[0], near[1]

    def bring_back(self, sums: Sequence[FloatArray], out: Sequence[FloatArray]) -> None:
        """Send what cells say of guests to their owners; add up what all say of own states."""
        halos, shards = self.shard.halos[: len(sums)], range(self.shard.facts.n_shards)
        flat = [one.reshape(len(one), -1) for one in sums]
        own = [to.reshape(len(to), -1) for to in out[: len(sums)]]
        width, most = flat[0].shape[1], self.strengths.shape[1]
        for begin in range(0, width, most):  # of a block one row at a time: messages stay small
            here = slice(begin, begin + most)
            guests = [
                [self._copy(k, q, one[halos[k].held[q], here]) for k, one in enumerate(flat)]
                for q in shards
            ]
            taken = self.shard.exchange.swap(guests)
            del guests
            if begin == 0:  # while messages are on their way
                for one, halo, to in zip(flat, halos, own, strict=True):
                    put(one[halo.n_guests :], to)
            for q, message in enumerate(taken()):
                for rows, halo, to in zip(message, halos, own, strict=True):
                    if len(rows):
                        add_rows(rows, halo.lent[q], to[:, here])

    def _lend(self, k: int, q: int, states: FloatArray) -> FloatArray:
        """Return the states of side k that are guests of shard q."""
        places = self.shard.halos[k].lent[q]
        out = self.shard.exchange.room(q, k, (len(places), states.shape[1]))
        return states.take(places, 0, out, mode="clip")

    def _copy(self, k: int, q: int, rows: FloatArray) -> FloatArray:
        """Return a copy of rows, for shard q."""
        out = self.shard.exchange.room(q, k, rows.shape)
        out[:] = rows
        return out

    def total(self, value: Any) -> Any:
        """Return the sum over all shards."""
        return self.shard.exchange.total(value)

    def noise(self, rng: np.random.Generator) -> tuple[FloatArray, list[Noise]]:
        """Return the numbers that belong to the names of cells and states."""
        salt, found = int(rng.integers(2**62)), []
        keys = (*self.shard.state_keys(), self.shard.effect_keys)
        for side, names, kind in zip(
            self.sides, keys, (OF_STRENGTHS, OF_EXPOSURES, OF_PAIRS), strict=False
        ):
            columns = [keyed_normals(names, salt, kind, k) for k in range(side.shape[1])]
            drawn = np.stack(columns, axis=1)
            found.append((drawn[side.firsts], drawn[side.steps]))
        return keyed_normals(self.shard.cell_keys(), salt, OF_CELLS), found


class Shard:
    """One shard; every public method is a program, which all shards run at the same time."""

    def __init__(self, folder: Path, number: int, exchange: Meeting) -> None:
        self.folder, self.number, self.exchange = folder, number, exchange
        self.facts = read_facts(folder)
        self.cells = read_cells(folder, self.facts, number)
        self.rise = read_rise(folder, slice(number, None, self.facts.n_shards))
        self._linked = False

    # Linking -----------------------------------------------------------------------------------

    def _link(self, question: Question) -> None:
        """Find out who needs which states; build chains and places."""
        if self.exchange.total(int(self._linked)) == self.facts.n_shards:
            return
        apart = question.n_factors > 0 and question.moving != question.drifting
        at = np.empty((len(self.cells), 4 if apart else 2), np.int32)  # as `Joint` has it
        halo_S, chains_S = self._link_side(question.drifting, at[:, :2])
        if question.n_factors == 0:  # exposures are all 1, so that one row is enough
            one = np.zeros(1, np.int32)
            halo_Q = Halo(1, (), ())
            chains_Q = Chains.of(self.facts.axis, one, one, np.zeros(1, bool), False)
        elif apart:
            halo_Q, chains_Q = self._link_side(question.moving, at[:, 2:])
        else:
            halo_Q, chains_Q = halo_S, chains_S
        self.halos, self.chains, self.at = (halo_S, halo_Q), (chains_S, chains_Q), at
        self.pair_at: IntArray = np.zeros(0, np.int32)
        self.effects: Chains | None = None
        self.effect_keys = np.zeros(0, np.int64)
        if question.has_effects:
            pairs, owner = np.unique(self.cells.pair_keys(self.facts.n_items), return_inverse=True)
            drifting = question.scales.pair_drift_scale > 0
            self.effects, place = link_states(
                owner, self.cells.when, self.facts.axis, len(pairs), drifting=drifting
            )
            self.pair_at = place.astype(np.int32)
            self.effect_keys = (
                self.effects.when * self.facts.n_items**2 + pairs[self.effects.owners]
            )
        self._linked = True

    def _link_side(self, drifting: bool, at: IntArray) -> tuple[Halo, Chains]:
        """Return the states of a side, and write where those of each cell stand."""
        facts, n, n_items = self.facts, self.facts.n_shards, self.facts.n_items
        n_keys = n_items * len(facts.axis) if drifting else n_items

        def keys(k: int) -> IntArray:
            items = self.cells.pairs[:, k]
            return items + self.cells.when * np.int64(n_items) if drifting else items

        def home(keys: IntArray) -> IntArray:
            return keys % n_items % n

        seen = distinct((keys(0), keys(1)), n_keys)
        guests = [seen[home(seen) == q] if q != self.number else seen[:0] for q in range(n)]
        wanted = [np.asarray(asked[0]) for asked in self.exchange.swap([[g] for g in guests])()]
        own = distinct((seen[home(seen) == self.number], *wanted), n_keys)
        items = np.arange(self.number, n_items, n)
        idle = ~np.isin(items, own % n_items)
        if idle.any():
            own = np.sort(np.concatenate([own, items[idle]]))
        owner, when = (own % n_items // n).astype(np.int32), (own // n_items).astype(np.int32)
        chains = Chains.of(facts.axis, owner, when, idle, drifting)
        stands = _finder(np.concatenate([*guests, own]), n_keys)
        for k in range(2):
            at[:, k] = stands(keys(k))
        lent = tuple(np.searchsorted(own, asked) for asked in wanted)
        ends = np.cumsum([0, *map(len, guests)]).tolist()
        return Halo(len(own), lent, tuple(map(slice, ends, ends[1:]))), chains

    def state_keys(self) -> list[IntArray]:
        """Return moment · n_items + item of the own states of both sides, rising."""
        n, size = np.int64(self.facts.n_shards), self.facts.n_items
        return [one.when * np.int64(size) + one.owners * n + self.number for one in self.chains]

    def cell_keys(self) -> IntArray:
        """Return a number for each cell, the same however cells are cut."""
        cells, facts = self.cells, self.facts
        keys = cells.pair_keys(facts.n_items) * len(facts.axis) + cells.when
        if facts.n_levels:
            keys = keys * (2 * facts.n_levels + 1) + cells.means.astype(np.int64)
        return keys if cells.sides is None else keys * 3 + cells.sides.astype(np.int64)

    # What is believed, and what is kept ----------------------------------------------------------

    def _begin(self, question: Question) -> None:
        """Go to what is kept, or to the very beginning."""
        self.question = question
        self._link(question)
        self.progress = read_progress(self.folder, question)
        p = self.progress
        if question.kind == "ordered" and not p.cuts:
            sizes = np.abs(self.cells.means).astype(np.int64)
            often = np.bincount(sizes, self.cells.counts, minlength=self.facts.n_levels + 1)
            p.cuts = list(first_cuts(self.exchange.total(often)))
        self.problem = self._believe()
        self.z = np.zeros(self.problem.cuts[-1])
        self.problem.split(self.z)[1][:, 0] = 1.0
        if p.kept:
            self.z[:] = read_array(self._place())

    def _believe(self) -> ShardProblem:
        """Return the problem with scales and law; without factors, theirs stay at 0."""
        p, q = self.progress, self.question
        columns = Columns.plain(1, q.n_factors, scores=True)
        S, Q, E = sides_of(columns, q.scales, *self.chains, self.effects)
        free_S, free_Q = columns.free_strengths, columns.free_exposures
        if not p.with_factors:
            free_S, free_Q = columns.are_scores, np.zeros_like(free_Q)
        law = Law(q.kind, tuple(p.cuts), p.advantage, q.scales.noise_scale)
        return ShardProblem(
            self.at,
            self.pair_at,
            CellLoss(law, self.cells),
            replace(S, free=free_S),
            replace(Q, free=free_Q, prior=np.where(columns.are_scores, Q.prior, p.held)),
            E,
            q.seeks_side,
            rise=self.rise,
            shard=self,
        )

    def _keep(self) -> None:
        """Keep the states, then what says so: one of the two that are there is always whole."""
        self.progress.n_kept += 1
        write_over(self._place(), self.z)
        self.exchange.total(0)  # all have written theirs, and the first one what it named before
        self._write()

    def _write(self) -> None:
        if self.number == 0:
            write_progress(self.folder, self.question, self.progress)

    def _place(self) -> Path:
        return self.folder / f"{self.progress.kept}-{self.number}"

    # Solving -----------------------------------------------------------------------------------

    def solve(self, question: Question) -> Progress:
        """Find all states; scores first, then factors, then the law, then the gauge."""
        self._begin(question)
        q, p = question, self.progress
        rough = max(q.tolerance, ROUGHLY) if q.n_factors else q.tolerance
        self._stage("scores", 1.0 if q.n_factors else q.tolerance)
        if q.n_factors:
            self._stage("factors", rough, prepare=self._start_factors)
        for k in range(MOST_TURNS):
            if not self._stage(f"law {k + 1}", rough, prepare=self._improve_law):
                break
        for k in range(ROUNDS if q.n_factors else 0):
            self._stage(f"gauge {k + 1}", q.tolerance, prepare=self._move, warm=True)
        if p.held != q.scales.prior_scale:  # it held exposures for the gauge alone
            p.held = q.scales.prior_scale
            self.problem = self._believe()
            self._write()
        return p

    def _stage(
        self,
        name: str,
        tolerance: float,
        *,
        prepare: Callable[[], bool] | None = None,
        warm: bool = False,
    ) -> bool:
        """Go downhill until less than the tolerance is left; return whether there was need to.

        What prepares a stage says so.  Until the stage begins, nothing that it did counts.
        """
        p = self.progress
        if name in p.finished:
            return True
        if p.stage != name:
            if prepare is not None and not prepare():
                return False
            p.stage, p.damping, p.is_last, p.objectives = name, -1.0, False, []
            self._keep()
        so_far, n_before = None, p.n_products
        if p.objectives:
            so_far = Descent(np.array(p.objectives), p.is_last, damping=p.damping)

        def keep(z: FloatArray, descent: Descent, n_products: int) -> None:
            self.z = z
            p.n_steps, p.n_products = p.n_steps + 1, n_before + n_products
            p.objectives, p.damping = descent.objectives.tolist(), float(descent.damping)
            p.is_last = bool(descent.converged)
            self._keep()

        solution = solve_joint(
            self.problem,
            self.z,
            tolerance=tolerance,
            max_steps=self.question.max_steps,
            warm=warm,
            so_far=so_far,
            keep=keep,
        )
        self.z, p.objectives = solution.z, solution.objectives.tolist()
        p.n_products = n_before + solution.n_products
        p.converged = p.converged and solution.converged
        p.gradient_size = solution.gradient_size
        p.finished.append(name)
        self._write()
        return True

    def _improve_law(self) -> bool:
        """Take the best law for these states; return whether it is another."""
        settled = self.problem.settled(self.z)
        law = settled.law
        if far(self.problem.law, law) < SETTLED:
            return False
        self.problem = settled
        self.progress.cuts, self.progress.advantage = list(law.cuts), float(law.advantage)
        return True

    def _move(self) -> bool:
        """Go along the gauge to where the volume is, and hold exposures there."""
        self.progress.held = self.question.scales.prior_scale
        self.problem = self._believe()
        moved = hold_along_gauge(self.problem, self.z, self.question.seed)
        if moved is None:
            return False
        self.problem, self.z = moved  # type: ignore[assignment]
        self.progress.held = float(self.problem.exposures.prior[-1])
        return True

    def _start_factors(self) -> bool:
        """Begin with the leading planes of what scores leave unexplained."""
        q, problem = self.question, self.problem
        x = problem.margins(self.z)
        slope, curvature = problem.loss.terms(x)
        items = np.arange(self.number, self.facts.n_items, self.facts.n_shards)
        width = min(2 * q.n_factors + SPARE, self.facts.n_items)
        drawn = [keyed_normals(items, q.seed, OF_STARTS, k) for k in range(width)]
        block, image = np.zeros(0), np.stack(drawn, axis=1)
        for _ in range(N_POWERS):
            block = image @ _orthonormal(problem.total(image.T @ image))
            image = self._skew_times(slope, block)
        core = problem.total(block.T @ image)
        omegas, first, second = canonical_form(0.5 * (core - core.T))
        roots = np.sqrt(omegas[: q.n_factors])
        parts = problem.split(self.z)
        for part, chains, plane in zip(parts, self.chains, (first, second), strict=False):
            part[:, 1:] = (block @ (plane[:, : len(roots)] * roots))[chains.owners]
        change = problem.margins(self.z) - x
        ends = np.array([dot(change, slope), dot(change, curvature * change)])
        along, curve = problem.total(ends)
        length = np.sqrt(max(-along / curve, 0.01)) if curve > 0 else 1.0
        for part in parts[:2]:
            part[:, 1:] *= np.sqrt(length)
        self.progress.with_factors = True
        self.problem = self._believe()
        return True

    def _skew_times(self, slope: FloatArray, block: FloatArray) -> FloatArray:
        """Return the matrix with minus the slopes at its pairs times vectors over items."""
        chains, width = self.chains[0], block.shape[1]
        out = np.zeros_like(block)
        for begin in range(0, width, COLUMNS_AT_ONCE):
            here = slice(begin, begin + COLUMNS_AT_ONCE)
            near, _ = self.problem.carry(block[chains.owners, here], None)
            own = np.empty((chains.n_states, near.shape[1]))
            self.problem.bring_back([pull(near, self.at[:, :2], -slope)], [own])
            total = np.zeros((len(out), own.shape[1]))
            add_rows(own, chains.owners, total)
            out[:, here] = total
        return out

    # Answers -----------------------------------------------------------------------------------

    def states(self, question: Question) -> Any:
        """Return the own states: keys of S and Q, S, Q, effects and their keys."""
        self._begin(question)
        return (*self.state_keys(), *self.problem.split(self.z), self.effect_keys)

    def draw(self, question: Question, first: int, n: int, seed: int) -> Any:
        """Return n draws from the first one on, less their mean: S, Q and effects of each."""
        self._begin(question)
        around = Laplace(self.problem, self.z, dense=False)
        children = np.random.default_rng(seed).spawn(first + n)[first:]
        return [self.problem.split(step) for step, _ in around.perturbed(children)]

    def sizes(self) -> dict[str, int]:
        """Return how many cells, states and guests there are."""
        S = self.halos[0]
        return {"cells": len(self.cells), "states": S.n_own, "guests": S.n_near - S.n_own}

    def meet(self, n: int) -> float:
        """Return the seconds that it takes to meet n times."""
        began = time.perf_counter()
        for _ in range(n):
            self.exchange.total(0)
        return time.perf_counter() - began

    def costs(self) -> dict[str, float]:
        """Return bytes sent, seconds of the processor, and the number of this process."""
        sent = self.exchange.n_sent
        return {"sent": sent, "seconds": time.process_time(), "process": os.getpid()}


def distinct(parts: Iterable[IntArray], n_keys: int) -> IntArray:
    """Return the distinct numbers among some keys, rising."""
    parts = list(parts)
    if n_keys > WELL_FILLED * sum(map(len, parts)):
        return np.unique(np.concatenate(parts))
    there = np.zeros(n_keys, bool)
    for keys in parts:
        there[keys] = True
    return np.flatnonzero(there)


def _finder(keys: IntArray, n_keys: int) -> Callable[[IntArray], IntArray]:
    """Return what looks up where keys stand."""
    if n_keys <= WELL_FILLED * len(keys):
        table = np.zeros(n_keys, np.int32)
        table[keys] = np.arange(len(keys), dtype=np.int32)
        return table.take
    order = np.argsort(keys)
    rising = keys[order]
    return lambda wanted: order[np.searchsorted(rising, wanted)]


def _orthonormal(gram: FloatArray) -> FloatArray:
    """Return what makes vectors with this Gram matrix orthonormal."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1])))
