"""Questions about margins at any time: which states they read, and what noise comes on top.

Between two of its states an item is their interpolation plus the noise of a Brownian bridge, after
the last (and before the first) one the nearest state plus that of a free walk.  A pair that was
never seen has an effect of its own all the same, of which only the prior is known.
"""

from dataclasses import dataclass

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.assembly import Pairs
from intransit.core.joint import Joint
from intransit.core.sides import Side


@dataclass(frozen=True, eq=False)
class Spots:
    """States of one side around some points in time."""

    before: IntArray  # (n,)
    after: IntArray  # (n,)
    share: FloatArray  # (n,): of the second
    spread: FloatArray  # (n,): variance on top, times drift_scale²

    def read(self, states: FloatArray) -> FloatArray:  # (n, n_columns)
        """Return the interpolated states."""
        share = self.share[:, None]
        return np.asarray((1.0 - share) * states[self.before] + share * states[self.after])

    def part(self, which: slice) -> "Spots":
        """Return some of them."""
        return Spots(self.before[which], self.after[which], self.share[which], self.spread[which])

    def noise(self, side: Side) -> FloatArray:  # (n, n_columns)
        """Return the variance on top of the interpolation, by column."""
        return np.asarray(self.spread[:, None] * np.where(side.free, side.drift, 0.0) ** 2)


@dataclass(frozen=True, eq=False)
class Query:
    """Margins of first over second at some times."""

    problem: Joint
    first: Spots  # strengths
    second: Spots
    first_open: Spots  # exposures
    second_open: Spots
    pair: Spots | None  # effects
    sign: FloatArray  # (n,): -1 where first > second, for effects
    known_pair: BoolArray  # (n,)
    both_idle: BoolArray  # (n,): neither item was ever compared

    def margins(self, z: FloatArray) -> FloatArray:  # (n,)
        """Return the margins at states z."""
        S, Q, E = self.problem.split(z)
        ahead = np.sum(self.first.read(S) * self.second_open.read(Q), axis=1)
        behind = np.sum(self.second.read(S) * self.first_open.read(Q), axis=1)
        out = ahead - behind
        if self.pair is not None:
            out += self.sign * self.known_pair * self.pair.read(E[:, None])[:, 0]
        return np.asarray(out)

    def slopes(self, z: FloatArray, step: FloatArray) -> FloatArray:  # (n,)
        """Return the first-order change of the margins at z along a step."""
        (S, Q, _), (dS, dQ, dE) = self.problem.split(z), self.problem.split(step)
        out = np.sum(self.first.read(dS) * self.second_open.read(Q), axis=1)
        out -= np.sum(self.second.read(dS) * self.first_open.read(Q), axis=1)
        if self.problem.moves_exposures:
            out += np.sum(self.first.read(S) * self.second_open.read(dQ), axis=1)
            out -= np.sum(self.second.read(S) * self.first_open.read(dQ), axis=1)
        if self.pair is not None:
            out += self.sign * self.known_pair * self.pair.read(dE[:, None])[:, 0]
        return np.asarray(out)

    def part(self, which: slice) -> "Query":
        """Return some of the questions."""
        return Query(
            self.problem,
            self.first.part(which),
            self.second.part(which),
            self.first_open.part(which),
            self.second_open.part(which),
            None if self.pair is None else self.pair.part(which),
            self.sign[which],
            self.known_pair[which],
            self.both_idle[which],
        )

    def extra_variance(self, z: FloatArray) -> FloatArray:  # (n,)
        """Return the variance that comes on top of that of the states, to first order."""
        problem = self.problem
        S, Q, _ = problem.split(z)
        total = np.zeros(len(self.sign))
        for spots, side, partner in (
            (self.first, problem.strengths, self.second_open.read(Q)),
            (self.second, problem.strengths, self.first_open.read(Q)),
            (self.first_open, problem.exposures, self.second.read(S)),
            (self.second_open, problem.exposures, self.first.read(S)),
        ):
            total += np.sum(spots.noise(side) * partner**2, axis=1)
        # Of two items that were never compared nothing is known to first order; s · q - q · s of
        # their priors is.
        factors = problem.strengths.free & problem.exposures.free
        prior = 2.0 * np.sum((problem.strengths.prior * problem.exposures.prior)[factors] ** 2)
        total += prior * self.both_idle
        if self.pair is not None and problem.effects is not None:
            own = self.pair.noise(problem.effects)[:, 0]
            total += np.where(self.known_pair, own, problem.effects.prior[0] ** 2)
        return np.asarray(total * (self.sign != 0))

    def rows(self, z: FloatArray) -> FloatArray:  # (n, n_z)
        """Return the derivative of each margin in z, dense: for small problems."""
        problem = self.problem
        S, Q, _ = problem.split(z)
        n, r = len(self.sign), S.shape[1]
        out = np.zeros((n, len(z)))
        line = np.arange(n)
        for spots, begin, partner, sign in (
            (self.first, 0, self.second_open.read(Q), 1.0),
            (self.second, 0, self.first_open.read(Q), -1.0),
            (self.second_open, S.size, self.first.read(S), 1.0),
            (self.first_open, S.size, self.second.read(S), -1.0),
        ):
            for k in range(r):
                for states, share in (
                    (spots.before, 1.0 - spots.share),
                    (spots.after, spots.share),
                ):
                    np.add.at(out, (line, begin + states * r + k), sign * share * partner[:, k])
        if self.pair is not None:
            weight = self.sign * self.known_pair
            begin = S.size + Q.size
            np.add.at(out, (line, begin + self.pair.before), weight * (1.0 - self.pair.share))
            np.add.at(out, (line, begin + self.pair.after), weight * self.pair.share)
        return out


def ask(
    problem: Joint, pairs: Pairs, first: IntArray, second: IntArray, times: FloatArray
) -> Query:
    """Return a query for the margins of first over second at these times."""
    S, Q = problem.strengths.chains, problem.exposures.chains
    spots, known = None, np.zeros(len(first), bool)
    if problem.effects is not None:
        folded = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
        place, known = pairs.find(folded)
        spots = Spots(*problem.effects.chains.around(place, times))
    return Query(
        problem,
        Spots(*S.around(first, times)),
        Spots(*S.around(second, times)),
        Spots(*Q.around(first, times)),
        Spots(*Q.around(second, times)),
        spots,
        np.sign(second - first).astype(float),
        known,
        S.idle[first] & S.idle[second],
    )


def bridge(
    side: Side,
    states: FloatArray,  # (n_draws, n_states, n_columns)
    owners: IntArray,  # (n_points,), sorted, then by time
    times: FloatArray,  # (n_points,)
    rng: np.random.Generator,
) -> FloatArray:  # (n_draws, n_points, n_columns)
    """Return draws of an owner's states at points in time, given draws of its own states.

    Points in one gap depend on each other: they are drawn in turn, each between the one before
    it and the state that ends the gap.
    """
    chains = side.chains
    before, after, share, spread = chains.around(owners, times)
    out = (1.0 - share[:, None]) * states[:, before] + share[:, None] * states[:, after]
    drift = np.where(side.free, side.drift, 0.0)
    if not chains.drifting or not spread.any():
        return np.asarray(out)
    clock = chains.times
    early = times < clock[before]
    for gap in _gaps(before, early):
        if chains.idle[owners[gap[0]]]:  # known by its prior alone, at all times
            continue
        points = gap[::-1] if early[gap[0]] else gap  # outward from the known states
        here, value = clock[before[points[0]]], states[:, before[points[0]]]
        closed = after[points[0]] != before[points[0]] and not early[gap[0]]
        for point in points:
            step = abs(times[point] - here)
            noise = rng.normal(size=value.shape)
            if closed:
                end, left = states[:, after[point]], clock[after[point]] - here
                part = step / left
                value = value + part * (end - value)
                value = value + drift * np.sqrt(max(step * (1.0 - part), 0.0)) * noise
            else:
                value = value + drift * np.sqrt(step) * noise
            out[:, point], here = value, times[point]
    return np.asarray(out)


def _gaps(before: IntArray, early: BoolArray) -> list[IntArray]:
    """Return the points of each gap; those before an owner's first state are a gap of their own."""
    keys = 2 * before + ~early
    cuts = np.flatnonzero(np.diff(keys)) + 1
    return np.split(np.arange(len(before)), cuts)
