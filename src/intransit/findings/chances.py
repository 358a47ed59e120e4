"""Chances of every pair, and the strength of every item, at several times, with intervals."""

from dataclasses import dataclass

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.arrays import BoolArray, FloatArray, IntArray

LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Chances:
    """Of some items at some times: who beats whom, and how strong each is."""

    margins: FloatArray  # (n_times, n, n)
    middle: FloatArray  # (n_times, n, n)
    low: FloatArray  # (n_times, n, n)
    high: FloatArray  # (n_times, n, n)
    strengths: FloatArray  # (n, n_times)
    strengths_low: FloatArray
    strengths_high: FloatArray

    def ordered(self, order: IntArray) -> "Chances":
        """Return the same with the items in another order."""
        squares = (self.margins, self.middle, self.low, self.high)
        lines = (self.strengths, self.strengths_low, self.strengths_high)
        both = np.ix_(order, order)
        return Chances(
            *(np.array([one[both] for one in square]).reshape(square.shape) for square in squares),
            *(line[order] for line in lines),
        )

    def only(self, which: slice) -> "Chances":
        """Return the same at some of the times."""
        squares = (self.margins, self.middle, self.low, self.high)
        lines = (self.strengths, self.strengths_low, self.strengths_high)
        return Chances(*(s[which] for s in squares), *(line[:, which] for line in lines))


def measure(
    answer: FittedTable,
    items: IntArray,
    times: FloatArray,
    together: BoolArray,  # (n, n)
) -> Chances:
    """Return chances and strengths, time by time; strangers are even, and nothing is known."""
    n, posterior = len(items), answer.posterior
    squares = np.zeros((4, len(times), n, n))
    lines = np.zeros((3, n, len(times)))
    i, j = np.triu_indices(n, 1)
    known = together[i, j]
    tails = [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]
    for k, time in enumerate(times):
        drawn = posterior.margins(items[i], items[j], np.full(len(i), time))
        chances = posterior.results(drawn)
        middle = chances.mean(axis=0)
        low, high = np.quantile(chances, tails, axis=0) if len(i) else np.zeros((2, 0))
        upper = np.array(
            [drawn.mean(axis=0), middle, np.minimum(low, middle), np.maximum(high, middle)]
        )
        upper[:, ~known] = np.array([0.0, 0.5, 0.0, 1.0])[:, None]
        squares[:, k, i, j] = upper
        squares[:, k, j, i] = np.array([-upper[0], *(1.0 - upper[[1, 3, 2]])])
        lines[:, :, k] = answer.strengths(items, float(time), level=LEVEL)
    squares[1:, :, np.arange(n), np.arange(n)] = 0.5
    return Chances(*squares, *lines)
