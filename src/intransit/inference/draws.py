"""Draws of whole trajectories, and questions about margins at any time.

Between two of its states an item is their interpolation plus the noise of a Brownian bridge, after
the last (and before the first) one the nearest state plus that of a free walk.  A pair that was
never seen has an effect of its own all the same, of which only the prior is known.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.checks import as_floats, as_items, as_number, check_finite, check_pairs
from intransit.errors import InputError
from intransit.inference.assembly import Pairs, Scales
from intransit.inference.joint_problem import FactorStates, Joint
from intransit.inference.likelihood import Law, law_of
from intransit.inference.observations import Observations
from intransit.inference.paths import Paths, first_order, lay_out, steps_of
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws
from intransit.model.laws import Levels, OutcomeLaw, Readings, Wins
from intransit.model.terms import (
    Drift,
    Factors,
    Model,
    PairEffects,
    Scores,
    Side,
    Still,
    Term,
    Walk,
)
from intransit.skew import fill_skew


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

    def noise(self, side: FactorStates) -> FloatArray:  # (n, n_columns)
        """Return the variance on top of the interpolation, by column."""
        return np.asarray(self.spread[:, None] * np.where(side.free, side.drift, 0.0) ** 2)


@dataclass(frozen=True, eq=False)
class MarginQuery:
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

    def _slopes(self, z: FloatArray) -> tuple[tuple[Spots, FloatArray, float], ...]:
        """Return what a margin is linear in: both strengths, both exposures, each with its slope.

        A slope is what a state is multiplied by, and with which sign.
        """
        S, Q, _ = self.problem.split(z)
        return (
            (self.first, self.second_open.read(Q), 1.0),
            (self.second, self.first_open.read(Q), -1.0),
            (self.second_open, self.first.read(S), 1.0),
            (self.first_open, self.second.read(S), -1.0),
        )

    def slopes(self, z: FloatArray, step: FloatArray) -> FloatArray:  # (n,)
        """Return the first-order change of the margins at z along a step."""
        dS, dQ, dE = self.problem.split(step)
        moving = (dS, dS, dQ, dQ)[: 4 if self.problem.moves_exposures else 2]
        out = np.zeros(len(self.sign))
        for (spots, slope, sign), states in zip(self._slopes(z), moving, strict=False):
            out += sign * np.sum(spots.read(states) * slope, axis=1)
        if self.pair is not None:
            out += self.sign * self.known_pair * self.pair.read(dE[:, None])[:, 0]
        return np.asarray(out)

    def part(self, which: slice) -> "MarginQuery":
        """Return some of the questions."""
        return MarginQuery(
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
        total = np.zeros(len(self.sign))
        sides = (problem.strengths, problem.strengths, problem.exposures, problem.exposures)
        for (spots, slope, _), side in zip(self._slopes(z), sides, strict=True):
            total += np.sum(spots.noise(side) * slope**2, axis=1)
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
        begins = (0, 0, S.size, S.size)
        for (spots, slope, sign), begin in zip(self._slopes(z), begins, strict=True):
            ends = ((spots.before, 1.0 - spots.share), (spots.after, spots.share))
            for k in range(r):
                for states, share in ends:
                    np.add.at(out, (line, begin + states * r + k), sign * share * slope[:, k])
        if self.pair is not None:
            weight = self.sign * self.known_pair
            begin = S.size + Q.size
            np.add.at(out, (line, begin + self.pair.before), weight * (1.0 - self.pair.share))
            np.add.at(out, (line, begin + self.pair.after), weight * self.pair.share)
        return out


def ask(
    problem: Joint, pairs: Pairs, first: IntArray, second: IntArray, times: FloatArray
) -> MarginQuery:
    """Return a query for the margins of first over second at these times."""
    S, Q = problem.strengths.chains, problem.exposures.chains
    spots, known = None, np.zeros(len(first), bool)
    if problem.effects is not None:
        folded = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
        place, known = pairs.find(folded)
        spots = Spots(*problem.effects.chains.around(place, times))
    return MarginQuery(
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
    side: FactorStates,
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


MOST_ENTRIES = 100_000_000  # of draws of margins at once
MOST_MARGINS = 50_000_000  # at once


@dataclass(frozen=True)
class Summary:
    """A number that is not known exactly: best guess, interval, and whether it is above 0."""

    value: float  # at the solution
    mean: float  # over draws
    low: float
    high: float
    level: float
    probability_positive: float
    values: FloatArray = field(repr=False, compare=False)  # (n_draws,)

    @classmethod
    def of(cls, values: FloatArray, value: float, level: float) -> "Summary":
        """Summarise draws of a number."""
        low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
        positive = float(np.mean(values > 0) + 0.5 * np.mean(values == 0))
        return cls(value, float(values.mean()), float(low), float(high), level, positive, values)

    @classmethod
    def of_function(
        cls,
        function: Callable[[FloatArray], float],
        draws: FloatArray,  # (n_draws, n_items, n_items)
        best: FloatArray,  # (n_items, n_items)
        level: float,
    ) -> "Summary":
        """Return a function of matrices, over draws and at the best guess."""
        try:
            values = np.array([float(function(X)) for X in draws])
        except TypeError:
            raise InputError(
                "function: it must return one number for a matrix of margins; return several "
                "numbers by several calls."
            ) from None
        return cls.of(values, float(function(best)), level)


@dataclass(frozen=True, eq=False)
class TrajectoryDraws:
    """Draws of whole trajectories from the posterior.

    Margins are to first order around the solution, as the posterior itself is: products of two
    steps would add noise along directions that data hold together but hardly each alone.
    """

    n_items: int
    times: FloatArray  # (n_periods,)
    centre: FloatArray = field(repr=False)  # (n_z,): the solution
    states: FloatArray = field(repr=False)  # (n_z, n_draws)
    problem: Joint = field(repr=False)
    pairs: Pairs = field(repr=False)
    rng: np.random.Generator = field(repr=False)  # for times at which there is no state

    def __len__(self) -> int:
        return int(self.states.shape[1])

    @property
    def margins(self) -> FloatArray:  # (n_draws, n_periods, n_items, n_items)
        """Margins of every draw at every observed time."""
        return self.matrix(self.times)

    def matrix(self, at: ArrayLike) -> FloatArray:  # (n_draws, [n_times,] n_items, n_items)
        """Return the matrices of every draw at a time, or at several."""
        times = as_floats(at, "at")
        check_finite(np.atleast_1d(times), "at")
        n, n_entries = self.n_items, len(self) * times.size * self.n_items**2
        if n_entries > MOST_ENTRIES:
            raise InputError(
                f"draws: {n_entries:,} margins were asked for at once; ask for "
                "some pairs and times with margin(first, second, at) instead."
            )
        first, second = np.triu_indices(n, 1)
        return fill_skew(self.margin(first, second, times[..., None]), n)

    def margin(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> FloatArray:
        """Return the margin of first over second in every draw, (n_draws, ...).

        Within one call a state that is drawn at a time without comparisons is drawn once.
        """
        i, j, clock, shape = as_questions(
            first, second, at, last=float(self.times[-1]), n_items=self.n_items
        )
        pairs = np.stack([i, j], axis=1)
        query = ask(self.problem, self.pairs, i, j, clock)
        S, Q, E = self.problem.split_draws(self.states)
        mean_S, mean_Q, _ = self.problem.split(self.centre)
        s_i, s_j = self._two(self.problem.strengths, S, pairs, clock)
        q_i, q_j = self._two(self.problem.exposures, Q, pairs, clock)
        here = (
            query.first.read(mean_S),
            query.second.read(mean_S),
            query.first_open.read(mean_Q),
            query.second_open.read(mean_Q),
        )
        ds_i, ds_j, dq_i, dq_j = (
            drawn - mean for drawn, mean in zip((s_i, s_j, q_i, q_j), here, strict=True)
        )
        out = _cross(here[0], here[3]) - _cross(here[1], here[2])
        out = out + _cross(ds_i, here[3]) + _cross(here[0], dq_j)
        out = out - _cross(ds_j, here[2]) - _cross(here[1], dq_i)
        # Products of steps count only where both sides are known by their priors alone.
        out = out + (_cross(ds_i, dq_j) - _cross(ds_j, dq_i)) * query.both_idle
        if self.problem.effects is not None:
            out = out + self._effects(self.problem.effects, E, pairs, clock)
        return np.asarray(out.reshape(len(self), *shape))

    def _two(
        self, side: FactorStates, states: FloatArray, pairs: IntArray, times: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the states of first and second item, (n_draws, n, n_columns) each."""
        owners, both = pairs.T.ravel(), np.concatenate([times, times])
        drawn = self._drawn(side, states, owners, both)
        return drawn[:, : len(times)], drawn[:, len(times) :]

    def _drawn(
        self, side: FactorStates, states: FloatArray, owners: IntArray, times: FloatArray
    ) -> FloatArray:
        if not side.chains.drifting:
            return np.asarray(states[:, owners])
        axis, when = np.unique(times, return_inverse=True)
        points, back = np.unique(owners.astype(np.int64) * len(axis) + when, return_inverse=True)
        values = bridge(side, states, points // len(axis), axis[points % len(axis)], self.rng)
        return np.asarray(values[:, back])

    def _effects(
        self, side: FactorStates, states: FloatArray, pairs: IntArray, times: FloatArray
    ) -> FloatArray:  # (n_draws, n)
        folded = np.sort(pairs, axis=1)
        place, known = self.pairs.find(folded)
        sign = np.sign(pairs[:, 1] - pairs[:, 0])
        values = self._drawn(side, states, place, times)[:, :, 0]
        strangers, which = np.unique(
            folded[:, 0] * self.n_items + folded[:, 1], return_inverse=True
        )
        fresh = side.prior[0] * self.rng.normal(size=(len(self), len(strangers)))
        return np.asarray(sign * np.where(known, values, fresh[:, which]))


def _cross(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.sum(first * second, axis=-1))


def posterior_of_draws(drawn: TrajectoryDraws, scales: Scales, *, scores: bool) -> Posterior:
    """Return draws around the solution of `smooth` as the posterior of a sum of terms."""
    problem, cells, law = drawn.problem, drawn.problem.loss.cells, law_of(drawn.problem)
    n, n_scores, effects = len(drawn), int(scores), problem.effects
    r = problem.strengths.shape[1] - n_scores
    seen = Observations(
        law.kind,
        drawn.n_items,
        cells.pairs.astype(np.int64),
        cells.times,
        cells.counts,
        cells.means,
        np.zeros(len(cells)) if cells.sides is None else cells.sides,
        np.zeros((0, len(cells)), np.int64),
        cells.n_rows,
        cells.spread,
    )
    layout = lay_out(seen, _model_of(drawn, scales, n_scores, r))
    S, Q, E = problem.split_draws(drawn.states)
    mean_S, mean_Q, _ = problem.split(drawn.centre)
    at_S = same_states(layout.items, problem.strengths.chains.starts)
    at_Q = same_states(layout.items, problem.exposures.chains.starts)
    states = first_order(
        S[:, at_S, :n_scores],
        S[:, at_S, n_scores:],
        Q[:, at_Q, n_scores:],
        mean_S[at_S, n_scores:],
        mean_Q[at_Q, n_scores:],
    )
    numbers, sizes, rates = [], [], []
    for one in layout.numbers:
        if isinstance(one.term, PairEffects) and effects is not None:
            numbers.append(E[:, same_states(one.paths, effects.chains.starts), 0])
            sizes.append(scales.pair_scale)
            rates.append(scales.pair_drift_scale / scales.pair_scale)
        else:
            numbers.append(np.full((n, one.paths.n_states), law.advantage))
            sizes.append(1.0)
            rates.append(0.0)
    first = states[:, layout.items.begin[:-1][layout.newcomer], 0]
    widths = [n_scores * scales.score_prior_scale, *[scales.prior_scale] * r, *[0.0] * r]
    steps = n_scores * scales.score_drift_scale, scales.drift_scale, scales.exposure_drift_scale
    draws = Draws(
        states=states,
        numbers=tuple(one.astype(np.float32) for one in numbers),
        scales=np.tile(widths, (n, 1)),
        rates=np.zeros((n, 2)),
        reversions=np.zeros((n, 2)),
        number_scales=np.tile(sizes, (n, 1)).reshape(n, -1),
        number_rates=np.tile(rates, (n, 1)).reshape(n, -1),
        number_reversions=np.zeros((n, len(rates))),
        newcomers=first.mean(axis=1, dtype=float) if first.size else np.zeros(n),
        cuts=np.tile(np.array(law.cuts), (n, 1)),
        noise=np.full(n, scales.noise_scale),
        chain=np.zeros(n, np.int64),
        steps=steps_of(*steps, r, n),
    )
    return Posterior(layout, _outcomes_of(law, scales), draws, None, "newton")


def _outcomes_of(law: Law, scales: Scales) -> OutcomeLaw:
    if law.kind == "squared":
        return Readings(scales.noise_scale)
    return Wins() if law.kind == "logistic" else Levels(max(len(law.cuts), 1))


def _model_of(drawn: TrajectoryDraws, s: Scales, n_scores: int, r: int) -> Model:
    """Return the model of `smooth` as a sum of terms, its scales known."""
    span = float(drawn.times[-1] - drawn.times[0])

    def walk(drift: float, prior: float) -> Walk:
        return Drift(drift / prior * np.sqrt(span)) if drift > 0.0 and span > 0.0 else Still()

    terms: list[Term] = []
    if n_scores:
        terms.append(Scores(s.score_prior_scale, walk(s.score_drift_scale, s.score_prior_scale)))
    if r:
        terms.append(Factors(r, s.prior_scale, walk(s.drift_scale, s.prior_scale)))
    if s.pair_scale > 0.0:
        terms.append(PairEffects(s.pair_scale, walk(s.pair_drift_scale, s.pair_scale)))
    if drawn.problem.loss.cells.sides is not None:
        terms.append(Side(walk=Still()))
    return Model(tuple(terms))


def same_states(paths: Paths, starts: IntArray) -> IntArray:
    """Return, for every state of a path, the state of Newton's chain that it is."""
    if np.array_equal(paths.begin, starts):
        return np.arange(paths.n_states)
    return np.repeat(starts[:-1], np.diff(paths.begin))


def as_questions(
    first: ArrayLike, second: ArrayLike, at: ArrayLike | None, *, last: float, n_items: int
) -> tuple[IntArray, IntArray, FloatArray, tuple[int, ...]]:
    """Return items and times of equal length, and the shape of the answer, or refuse them."""
    when = as_floats(last if at is None else at, "at")
    check_finite(np.atleast_1d(when), "at")
    first, second = as_items(first, "margin"), as_items(second, "margin")
    try:
        i, j, times = np.broadcast_arrays(first, second, when)
    except ValueError:
        raise InputError(
            f"margin: {np.shape(first)} first items, {np.shape(second)} second items and "
            f"{when.shape} times were given; they do not fit together."
        ) from None
    pairs = check_pairs(np.stack([i.ravel(), j.ravel()], axis=1), n_items, "margin")
    return pairs[:, 0], pairs[:, 1], times.ravel().astype(float), i.shape


def reach_of(level: float) -> float:
    """Return how many deviations an interval of this level reaches to either side."""
    level = as_number("level", level, least=0.0, strict=True)
    if level >= 1.0:
        raise InputError(f"level is {level:g}; it must lie between 0 and 1, for instance 0.9.")
    return float(ndtri(0.5 + level / 2))


def check_entries(n: int, where: str) -> None:
    """Refuse to read more margins at once than memory will hold."""
    if n > MOST_MARGINS:
        raise InputError(
            f"{where}: {n:,} margins were asked for at once; ask for some pairs and times with "
            "margin(first, second, at) instead."
        )
