"""Chances of every pair, and the strength of every item, at several times, with intervals.

A chance is averaged over what is not known of the margin; its interval is that of the margin,
carried over, as in `Answer.probability`.  A strength is an item's mean chance against the others
that comparisons connect it with, and its interval holds so many draws of that mean.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from intransit.answers import Answer
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.draws import reach_of
from intransit.findings.drawn import Sheet

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
    answer: Answer,
    shown: Iterable[Sheet],
    together: BoolArray,  # (n, n)
    n_times: int,
) -> Chances:
    """Return chances and strengths, sheet by sheet; strangers are even, and nothing is known."""
    n = len(together)
    squares = np.zeros((4, n_times, n, n))
    lines = np.zeros((3, n, n_times))
    law, noise = answer.path.law, answer.path.scales.noise_scale
    reach, tail = reach_of(LEVEL), (1.0 - LEVEL) / 2
    others = together & ~np.eye(n, dtype=bool)
    share = others / np.maximum(others.sum(axis=1, keepdims=True), 1)
    i, j = np.triu_indices(n, 1)
    known, level = together[i, j], np.zeros(len(i))
    for k, sheet in enumerate(shown):
        mean, deviation = sheet.margins[i, j], sheet.drawn[:, i, j].std(axis=0)
        expected = law.expect(mean, deviation**2, level, noise)
        ends = [law.plain(mean + sign * reach * deviation, level, noise) for sign in (-1, 1)]
        upper = np.array([mean, expected, np.minimum(ends[0], expected), ends[1]])
        upper[3] = np.maximum(upper[3], expected)
        upper[:, ~known] = np.array([0.0, 0.5, 0.0, 1.0])[:, None]
        squares[:, k, i, j] = upper
        squares[:, k, j, i] = np.array([-upper[0], *(1.0 - upper[[1, 3, 2]])])
        means = np.einsum("dij,ij->di", law.plain(sheet.drawn, np.zeros(1), noise), share)
        lines[0, :, k] = means.mean(axis=0)
        lines[1:, :, k] = np.quantile(means, [tail, 1.0 - tail], axis=0)
    squares[1:, :, np.arange(n), np.arange(n)] = 0.5
    lines[:, ~others.any(axis=1)] = np.array([0.5, 0.0, 1.0])[:, None, None]
    return Chances(*squares, *lines)
