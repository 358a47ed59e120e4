"""The few statistics that claims rest on.  Trials are paired: curves share each trial's data."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from intransit.arrays import FloatArray

N_RESAMPLES = 2_000
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def within(self, low: float, high: float) -> bool:
        """Return whether the whole interval lies between two numbers."""
        return low <= self.low and self.high <= high

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


def ratio_of_means(first: FloatArray, second: FloatArray) -> Estimate:
    """Return mean(first) / mean(second), trials resampled in pairs.

    >>> print(ratio_of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0])))
    2 (2 to 2)
    """
    return _bootstrap(lambda a, b: a.mean(axis=-1) / b.mean(axis=-1), first, second)


def ratio_of_medians(first: FloatArray, second: FloatArray) -> Estimate:
    """Return median(first) / median(second), trials resampled in pairs."""
    return _bootstrap(lambda a, b: np.median(a, axis=-1) / np.median(b, axis=-1), first, second)


def typical_ratio(first: FloatArray, second: FloatArray) -> Estimate:
    """Return the median over trials of first / second: what the usual trial shows.

    >>> print(typical_ratio(np.array([2.0, 2.0, 900.0]), np.array([1.0, 1.0, 1.0])).value)
    2.0
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = first / second
    return _bootstrap(lambda a, _: np.median(a, axis=-1), ratios, ratios)


def mean_difference(first: FloatArray, second: FloatArray) -> Estimate:
    """Return mean(first - second), trials resampled in pairs."""
    return _bootstrap(lambda a, b: (a - b).mean(axis=-1), first, second)


def mean(values: FloatArray) -> Estimate:
    """Return the mean over trials."""
    return _bootstrap(lambda a, _: a.mean(axis=-1), values, values)


def log_slope(x: FloatArray, y: FloatArray) -> float:
    """Return the least-squares slope of log y against log x.

    >>> round(log_slope(np.array([1.0, 10.0]), np.array([3.0, 0.3])), 12)
    -1.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _bootstrap(
    statistic: Callable[[FloatArray, FloatArray], FloatArray],
    first: FloatArray,
    second: FloatArray,
) -> Estimate:
    both = np.isfinite(first) & np.isfinite(second)
    first, second = first[both], second[both]
    if not len(first):
        return Estimate(np.nan, np.nan, np.nan)
    # A fixed seed: a claim is a function of the table.
    draws = np.random.default_rng(0).integers(0, len(first), size=(N_RESAMPLES, len(first)))
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = statistic(first[draws], second[draws])
        value = float(statistic(first, second))
    low, high = np.quantile(spread, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Estimate(value, float(low), float(high))
