"""Draws of whole trajectories, and what to make of them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from intransit.arrays import FloatArray, IntArray
from intransit.core.assembly import Pairs
from intransit.core.inputs import as_floats, as_items, as_number, check_finite, check_pairs
from intransit.core.joint import Joint
from intransit.core.query import ask, bridge
from intransit.core.sides import Side
from intransit.errors import InputError

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
        n, flat = self.n_items, times.ravel()
        if len(self) * flat.size * n * n > MOST_ENTRIES:
            raise InputError(
                f"draws: {len(self) * flat.size * n * n:,} margins were asked for at once; ask for "
                "some pairs and times with margin(first, second, at) instead."
            )
        first, second = np.triu_indices(n, 1)
        upper = self.margin(first[None], second[None], flat[:, None])
        out = np.zeros((len(self), flat.size, n, n))
        out[:, :, first, second], out[:, :, second, first] = upper, -upper
        return out.reshape(len(self), *times.shape, n, n)

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
        self, side: Side, states: FloatArray, pairs: IntArray, times: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the states of first and second item, (n_draws, n, n_columns) each."""
        owners, both = pairs.T.ravel(), np.concatenate([times, times])
        drawn = self._drawn(side, states, owners, both)
        return drawn[:, : len(times)], drawn[:, len(times) :]

    def _drawn(
        self, side: Side, states: FloatArray, owners: IntArray, times: FloatArray
    ) -> FloatArray:
        if not side.chains.drifting:
            return np.asarray(states[:, owners])
        axis, when = np.unique(times, return_inverse=True)
        points, back = np.unique(owners * len(axis) + when, return_inverse=True)
        values = bridge(side, states, points // len(axis), axis[points % len(axis)], self.rng)
        return np.asarray(values[:, back])

    def _effects(
        self, side: Side, states: FloatArray, pairs: IntArray, times: FloatArray
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
