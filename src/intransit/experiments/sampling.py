"""Sampling ratios: nested samples, the smallest that is enough, and when none could be."""

from collections.abc import Callable

import numpy as np

import intransit as it
from intransit.arrays import FloatArray
from intransit.experiments.recovery_error import N_FACTORS, N_ITEMS

STEP = 0.025
RATIOS = STEP * np.arange(1, 41)


def smallest_ratio(succeeds: Callable[[float], bool]) -> float | None:
    """Return the smallest ratio of the grid that succeeds, by bisection; None when p = 1 fails."""
    low, high = -1, len(RATIOS) - 1
    if not succeeds(RATIOS[high]):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if succeeds(RATIOS[middle]) else (middle, high)
    return float(RATIOS[high])


def smallest_ratio_near(succeeds: Callable[[float], bool], guess: float) -> float | None:
    """Return the same, looking from a guess outwards: few tries when the guess is good."""
    last = len(RATIOS) - 1
    high = low = int(np.argmin(np.abs(RATIOS - guess)))
    stride = 1
    if succeeds(RATIOS[high]):
        while low > 0:
            low = max(low - stride, 0)
            if not succeeds(RATIOS[low]):
                break
            high, stride = low, 2 * stride
        else:
            return float(RATIOS[0])
    else:
        while not succeeds(RATIOS[high := min(high + stride, last)]):
            if high == last:
                return None
            low, stride = high, 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if succeeds(RATIOS[middle]) else (middle, high)
    return float(RATIOS[high])


def prefix(measurements: it.Measurements, n_outcomes: int) -> it.Measurements:
    """Return the first readings of every period."""
    return it.Measurements.from_operators(
        [
            it.Entries(readings.operator.pairs[:n_outcomes], measurements.n_items)  # type: ignore[attr-defined]
            for readings in measurements.periods
        ],
        [readings.outcomes[:n_outcomes] for readings in measurements.periods],
    )


def could_settle(measurements: it.Measurements, weights: FloatArray) -> bool:
    """Return whether the readings that count could settle a matrix, whatever their noise.

    They must be of as many distinct pairs as the matrix has degrees of freedom, and give each
    item 2r partners, one for each of its unknowns.
    """
    pairs = np.concatenate(
        [
            readings.operator.pairs  # type: ignore[attr-defined]
            for readings, w in zip(measurements.periods, weights, strict=True)
            if w > 0
        ]
    )
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    partners = np.bincount(pairs.ravel(), minlength=N_ITEMS)
    enough = it.theory.degrees_of_freedom(N_ITEMS, N_FACTORS)
    return bool(len(pairs) >= enough and partners.min() >= 2 * N_FACTORS)


def counting_limit(n_periods: int) -> float:
    """Return the ratio at which as many distinct pairs are expected as X has degrees of freedom.

    M draws with replacement from N² entries see N(N-1)/2 (1 - (1 - 2/N²)^M) distinct pairs.

    >>> round(counting_limit(1), 3), round(counting_limit(5), 3)
    (0.229, 0.046)
    """
    share = it.theory.degrees_of_freedom(N_ITEMS, N_FACTORS) / (N_ITEMS * (N_ITEMS - 1) / 2)
    draws = np.log1p(-share) / np.log1p(-2.0 / N_ITEMS**2)
    return float(draws / n_periods / N_ITEMS**2)


def n_outcomes_at(ratio: float) -> int:
    """Return M = p N²."""
    return round(float(ratio) * N_ITEMS**2)


SEARCH_NOTES = (
    "A smaller p reads a prefix of the readings of a larger one. The ratio needed is found by "
    "bisection, as if more of the same readings did no harm.",
    "Ratios at which fewer distinct pairs were seen than the matrix has degrees of freedom, or "
    "at which some item met fewer than 2r others, count as failures without a solve: no "
    "method could tell.",
    "A trial that fails even at p = 1 counts as 1 in the mean, which is then too low; the "
    "measure “never” in the table tells how many did.",
    "Newton's method, which minimises the same program, finds the place of the bisection; "
    "alternating minimisation is then run from there upwards until it succeeds.",
)
