"""Which states a shard owns, which are guests, what is sent to whom, and what is asked.

Which states a shard owns, which are guests, and what is sent to whom.

Shards talk in rounds.  In a round every shard takes what the others sent it in the round before,
and returns what it sends to each, and a report for the driver.  A cell reads two items; where one
of them belongs to another shard, its state is a guest here,

    owner --- state of the direction --->  guest        what cells need
    owner <--------- slope --------------  guest        what cells say of it

and nothing else is sent but a few sums.
"""

import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.data.cells import Chains, link_states
from intransit.inference.assembly import Scales, sides_of
from intransit.inference.joint_fit import plain_columns
from intransit.inference.joint_problem import FactorStates, Joint, lay_out
from intransit.inference.likelihood import Law, loss_of
from intransit.inference.shards.sharding import Shape, ShardFacts, read_cells, read_facts
from intransit.kernels import add_part, put_part, take_part

Message = tuple[list[FloatArray], FloatArray]  # arrays, and sums that all shards add up
Inbox = Sequence[Message]
Round = tuple[list[Message], Any]  # what goes to each shard, and a report
Method = TypeVar("Method", bound=Callable[..., Round])

WELL_FILLED = 8  # possible keys for each key: a table of all is quicker than sorting
NOTHING = np.zeros(0)


def exchange(method: Method) -> Method:
    """Mark a round in which shards send something or take what was sent; others only report."""
    method.exchanges = True  # type: ignore[attr-defined]
    return method


@dataclass(frozen=True, eq=False)
class Halo:
    """States of one side: the own ones first, then guests; and what is sent to whom."""

    keys: IntArray  # (n_own,): item · n_moments + moment, rising
    guests: IntArray  # (n_guests,): the same
    lent: tuple[IntArray, ...]  # by shard: own states that are guests there
    held: tuple[IntArray, ...]  # by shard: guests that belong there

    @property
    def n_own(self) -> int:
        """Number of own states."""
        return len(self.keys)

    @property
    def n_all(self) -> int:
        """Number of states, guests included."""
        return len(self.keys) + len(self.guests)


class Linked:
    """The part of a shard that knows whom its states belong to, and talks to the others."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = folder, number
        self.facts: ShardFacts = read_facts(folder)
        self.cells = read_cells(folder, self.facts, number)
        self.n_sent = 0  # bytes
        self._asked: list[list[IntArray]] | None = None
        self._linked = False

    def run(self, method: str, inbox: Inbox, settings: Mapping[str, Any]) -> Round:
        """Run one round; a round that exchanges nothing is a method that returns its report."""
        work = getattr(self, method)
        if not hasattr(work, "exchanges"):
            return self._silence(), work(**settings)
        sent, report = work(inbox, **settings)
        self.n_sent += sum(part.nbytes for parts, _ in sent for part in parts)
        return sent, report

    # Linking -----------------------------------------------------------------------------------

    @exchange
    def ask(self, _inbox: Inbox, shape: Shape) -> Round:
        """Ask the others for the states that cells here need."""
        if self._asked is None:
            self.shape = shape
            kinds = [shape.drifting] if shape.n_factors == 0 else [shape.drifting, shape.moving]
            self._asked = [self._guests(drifting) for drifting in dict.fromkeys(kinds)]
        return [
            ([part[q] for part in self._asked], NOTHING)  # type: ignore[misc]
            for q in range(self.facts.n_shards)
        ], None

    def _keys(self, drifting: bool) -> IntArray:  # (n_cells, 2)
        size = np.int64(len(self.facts.axis))
        keys = self.cells.pairs * size
        return keys + self.cells.when[:, None] if drifting else keys

    def _guests(self, drifting: bool) -> list[IntArray]:
        """Return the keys of states that belong elsewhere, by shard."""
        n, keys = self.facts.n_shards, self._keys(drifting)
        away = distinct(keys[self.cells.pairs % n != self.number], self._n_keys)
        home = away // len(self.facts.axis) % n
        return [away[home == q] for q in range(n)]

    @property
    def _n_keys(self) -> int:
        return self.facts.n_items * len(self.facts.axis)

    @exchange
    def link(self, inbox: Inbox) -> Round:
        """Build chains and places, once it is known what others need."""
        if self._linked:
            return self._silence(), self._sizes()
        kinds = list(dict.fromkeys([self.shape.drifting, self.shape.moving]))
        if self.shape.n_factors == 0:
            kinds = [self.shape.drifting]
        made = {}
        for k, drifting in enumerate(kinds):
            wanted = [np.asarray(message[0][k], dtype=np.int64) for message in inbox]
            made[drifting] = self._link(drifting, wanted, self._asked[k])  # type: ignore[index]
        self.halo_S, chains_S, at_S, self._all_S = made[self.shape.drifting]
        if self.shape.n_factors:
            self.halo_Q, chains_Q, at_Q, self._all_Q = made[self.shape.moving]
        else:  # exposures are all 1, so that one row is enough
            one = np.zeros(1, np.int64)
            chains_Q = Chains(self.facts.axis, one, one, np.arange(2), np.zeros(1, bool), False)
            none = (one[:0].astype(np.int32),) * self.facts.n_shards
            self.halo_Q = Halo(one, one[:0], none, none)
            at_Q, self._all_Q = np.zeros_like(at_S), chains_Q
        self._chains = chains_S, chains_Q
        self._link_cells(at_S, at_Q)
        self._linked = True
        return self._silence(), self._sizes()

    def _link(
        self, drifting: bool, wanted: list[IntArray], guests: list[IntArray]
    ) -> tuple[Halo, Chains, IntArray, Chains]:
        facts, n, size = self.facts, self.facts.n_shards, len(self.facts.axis)
        keys, mine = self._keys(drifting), self.cells.pairs % n == self.number
        own = distinct(np.concatenate([keys[mine], *wanted]), self._n_keys)
        items = np.arange(self.number, facts.n_items, n)
        idle = ~np.isin(items, own // size)
        if idle.any():
            own = np.sort(np.concatenate([own, items[idle] * size]))
        away = np.sort(np.concatenate(guests))
        owner = own // size // n
        starts = np.searchsorted(owner, np.arange(len(items) + 1))
        chains = Chains(facts.axis, owner, own % size, starts, idle, drifting)
        every = Chains(
            facts.axis,
            np.concatenate([owner, np.zeros(len(away), np.int64)]),
            np.concatenate([own % size, away % size]),
            starts,
            idle,
            drifting,
        )
        at = np.empty(keys.shape, np.int32)
        at[mine] = np.searchsorted(own, keys[mine])
        at[~mine] = len(own) + np.searchsorted(away, keys[~mine])
        halo = Halo(
            own,
            away,
            tuple(_places(own, asked) for asked in wanted),
            tuple(_places(away, part, len(own)) for part in guests),
        )
        return halo, chains, at, every

    def _link_cells(self, at_S: IntArray, at_Q: IntArray) -> None:
        at = np.empty((len(self.cells), 4), np.int32)
        at[:, :2], at[:, 2:] = at_S, at_Q
        self._orders = lay_out(at, self._all_S, self._all_Q)
        self._pair_at: IntArray = np.zeros(0, np.int32)
        self._effects: Chains | None = None
        self._pair_keys = np.zeros(0, np.int64)
        if self.shape.effects:
            self._pair_keys, owner = np.unique(
                self.cells.pair_keys(self.facts.n_items), return_inverse=True
            )
            self._effects, place = link_states(
                owner,
                self.cells.when,
                self.facts.axis,
                len(self._pair_keys),
                drifting=self.shape.effects_drift,
            )
            self._pair_at = place.astype(np.int32)
        self._at: IntArray = at

    def _effect_keys(self) -> IntArray:
        """Return pair · n_moments + moment of the states of effects."""
        if self._effects is None:
            return self._pair_keys
        return self._pair_keys[self._effects.owners] * len(self.facts.axis) + self._effects.when

    def costs(self) -> dict[str, float]:
        """Report bytes sent, seconds of the processor, and the most memory this process held."""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {"sent": self.n_sent, "seconds": time.process_time(), "memory": memory}

    def _sizes(self) -> dict[str, int]:
        return {
            "cells": len(self.cells),
            "states": self.halo_S.n_own,
            "guests": len(self.halo_S.guests),
        }

    def _silence(self) -> list[Message]:
        return [([], NOTHING)] * self.facts.n_shards

    # What is believed --------------------------------------------------------------------------

    def believe(
        self,
        scales: Scales,
        law: Law,
        held: float,
        with_factors: bool,
    ) -> None:
        """Set scales and law; `held` is the prior scale of exposures, known better than `scales`.

        Without factors, theirs stay at 0 and are not moved.
        """
        columns = plain_columns(1, self.shape.n_factors, scores=True)
        free_S, free_Q = columns.free_strengths, columns.free_exposures
        if not with_factors:
            free_S, free_Q = columns.are_scores, np.zeros_like(free_Q)

        def sides(
            chains_S: Chains, chains_Q: Chains
        ) -> tuple[FactorStates, FactorStates, FactorStates | None]:
            S, Q, E = sides_of(columns, scales, chains_S, chains_Q, self._effects)
            prior = np.where(columns.are_scores, Q.prior, held)
            return replace(S, free=free_S), replace(Q, free=free_Q, prior=prior), E

        self.S, self.Q, self.E = sides(*self._chains)
        self._columns = int(free_S.argmax()), int(free_Q.argmax())  # the first that is free
        S, Q, _ = sides(self._all_S, self._all_Q)
        loss = loss_of(law, self.cells, scales.noise_scale)
        self.problem = Joint(
            self._at, self._pair_at, loss, S, Q, self.E, law.advantage, False, self._orders
        )

    # Sending -----------------------------------------------------------------------------------

    def _two(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return S and Q of a vector with guests, effects left out."""
        S, Q, _ = self.problem.split(vector)
        return S, Q

    def _own(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the own part of S and Q of a vector with guests."""
        S, Q = self._two(vector)
        return S[: self.halo_S.n_own], Q[: self.halo_Q.n_own]

    def _both(self, *owns: FloatArray) -> tuple[tuple[Any, Any], ...]:
        """Return the sides S and Q, and the parts of vectors without guests that belong to each."""
        return (self.S, self.Q), *(self._halves(own) for own in owns)

    def _halves(self, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return S and Q of a vector without guests."""
        cut, r = self.halo_S.n_own * len(self.S.free), len(self.S.free)
        return own[:cut].reshape(-1, r), own[cut:].reshape(-1, r)

    def _lend(self, vectors: list[FloatArray], sums: FloatArray = NOTHING) -> list[Message]:
        """Send own states to where they are guests."""
        return self._send(vectors, [(self.halo_S.lent[q], self.halo_Q.lent[q]) for q in self], sums)

    def _hand_back(self, vectors: list[FloatArray], sums: FloatArray = NOTHING) -> list[Message]:
        """Send slopes of guests to their owners."""
        return self._send(vectors, [(self.halo_S.held[q], self.halo_Q.held[q]) for q in self], sums)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.facts.n_shards))

    def _send(
        self, vectors: list[FloatArray], rows: list[tuple[IntArray, IntArray]], sums: FloatArray
    ) -> list[Message]:
        out: list[Message] = []
        for of_S, of_Q in rows:
            parts = []
            if len(of_S):
                for vector in vectors:
                    S, Q = self._two(vector)
                    parts.append(_taken(S, of_S, self.S.free))
                    if self.Q.free.any():
                        parts.append(_taken(Q, of_Q, self.Q.free))
            out.append((parts, sums))
        return out

    def _borrow(self, vectors: list[FloatArray], inbox: Inbox) -> None:
        """Write the guests' states."""
        for q, (parts, _) in enumerate(inbox):
            each = iter(parts)
            for vector in vectors if parts else ():
                S, Q = self._two(vector)
                put_part(next(each), self.halo_S.held[q], self._columns[0], S)
                if self.Q.free.any():
                    put_part(next(each), self.halo_Q.held[q], self._columns[1], Q)

    def _add_up(self, own: list[FloatArray], inbox: Inbox) -> None:
        """Add slopes that others found for own states."""
        for q, (parts, _) in enumerate(inbox):
            each = iter(parts)
            for vector in own if parts else ():
                S, Q = self._halves(vector)
                add_part(next(each), self.halo_S.lent[q], self._columns[0], S)
                if self.Q.free.any():
                    add_part(next(each), self.halo_Q.lent[q], self._columns[1], Q)


def distinct(keys: IntArray, n_keys: int) -> IntArray:
    """Return the distinct numbers among keys, rising."""
    if n_keys <= WELL_FILLED * keys.size:
        there = np.zeros(n_keys, bool)
        there[keys.ravel()] = True
        return np.flatnonzero(there)
    return np.unique(keys)


def _places(keys: IntArray, wanted: IntArray, begin: int = 0) -> IntArray:
    return (begin + np.searchsorted(keys, wanted)).astype(np.int32)


def _taken(states: FloatArray, rows: IntArray, free: BoolArray) -> FloatArray:
    """Return the free columns, which stand side by side, of some rows."""
    out = np.empty((len(rows), int(free.sum())))
    take_part(states, rows, int(free.argmax()), out)
    return out
