"""The tidy table of a run: one value a row, summaries over trials, and the statistics of claims.

Trials are paired: curves share each trial's data.
"""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from intransit.arrays import FloatArray

COLUMNS = ("facet", "x", "curve", "measure", "trial", "value")


@dataclass(frozen=True)
class TrialValue:
    """One value that a trial found; `x` and `facet` are the point's when left out."""

    curve: str
    measure: str
    value: float
    x: float | None = None
    facet: str | None = None


@dataclass(frozen=True)
class Row:
    """One value with its place and its trial; not a number where there is none."""

    facet: str
    x: float
    curve: str
    measure: str
    trial: int
    value: float


@dataclass(frozen=True, eq=False)
class Series:
    """One curve of one measure: its values, places down and trials across, and their summaries."""

    x: FloatArray  # (n_places,)
    values: FloatArray  # (n_places, n_trials), NaN where a trial has no value

    @property
    def mean(self) -> FloatArray:
        """Mean over trials, as the paper draws it."""
        return _over_trials(np.mean, self.values)

    @property
    def median(self) -> FloatArray:
        """Median over trials."""
        return _over_trials(np.median, self.values)

    def quantile(self, share: float) -> FloatArray:
        """Quantile over trials."""
        return _over_trials(lambda kept: np.quantile(kept, share), self.values)

    def where(self, flags: "Series") -> "Series":
        """Return the same curve with only the trials whose flag, a series too, is not 0."""
        return Series(self.x, np.where(flags.values != 0.0, self.values, np.nan))

    def at(self, x: float) -> FloatArray:
        """Return the values of all trials at the place nearest to x."""
        return np.asarray(self.values[int(np.argmin(np.abs(self.x - x)))])


class Table:
    """All rows of a run of one experiment, in a fixed order."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = sorted(
            rows, key=lambda row: (row.facet, row.measure, row.curve, row.x, row.trial)
        )

    def names(self, column: str, **where: str) -> list[str]:
        """Return the distinct words of a column in rows that match, sorted."""
        return sorted({getattr(row, column) for row in self._matching(**where)})

    def has(self, *curves: str, measure: str = "error", facet: str = "") -> bool:
        """Return whether all these curves were drawn."""
        return set(curves) <= set(self.names("curve", measure=measure, facet=facet))

    def series(self, measure: str, curve: str, facet: str = "") -> Series:
        """Return one curve; its places in rising order."""
        found = self._matching(measure=measure, curve=curve, facet=facet)
        places = sorted({row.x for row in found})
        trials = sorted({row.trial for row in found})
        at_place = {x: k for k, x in enumerate(places)}
        at_trial = {trial: k for k, trial in enumerate(trials)}
        values = np.full((len(places), len(trials)), np.nan)
        for row in found:
            values[at_place[row.x], at_trial[row.trial]] = row.value
        return Series(np.array(places), values)

    def paired(
        self, measure: str, first: str, second: str, facet: str = ""
    ) -> tuple[Series, Series]:
        """Return two curves at the places and in the trials that both have."""
        keys = [
            {(row.x, row.trial) for row in self._matching(measure=measure, curve=c, facet=facet)}
            for c in (first, second)
        ]
        shared = keys[0] & keys[1]
        both = Table(row for row in self.rows if (row.x, row.trial) in shared)
        return both.series(measure, first, facet), both.series(measure, second, facet)

    def summary(self) -> list[dict[str, object]]:
        """Return mean, spread and number of trials of every place of every curve."""
        found = []
        keys = sorted({(row.facet, row.measure, row.curve) for row in self.rows})
        for facet, measure, curve in keys:
            series = self.series(measure, curve, facet)
            for k, x in enumerate(series.x):
                kept = series.values[k][np.isfinite(series.values[k])]
                found.append(
                    {"facet": facet, "measure": measure, "curve": curve, "x": float(x)}
                    | _describe(kept)
                    | {"n_missing": int(series.values.shape[1] - len(kept))}
                )
        return found

    def to_csv(self) -> str:
        """Return the table as text; values to seven digits, an empty field where there is none."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in self.rows:
            value = f"{row.value:.7g}" if np.isfinite(row.value) else ""
            writer.writerow([row.facet, f"{row.x:.7g}", row.curve, row.measure, row.trial, value])
        return out.getvalue()

    def _matching(self, **where: str) -> list[Row]:
        return [
            row for row in self.rows if all(getattr(row, name) == w for name, w in where.items())
        ]


def _describe(kept: FloatArray) -> dict[str, object]:
    if not len(kept):
        return {"mean": None, "standard_error": None, "median": None, "q10": None, "q90": None}
    error = float(kept.std(ddof=1) / np.sqrt(len(kept))) if len(kept) > 1 else None
    low, middle, high = (float(q) for q in np.quantile(kept, [0.1, 0.5, 0.9]))
    return {
        "mean": float(kept.mean()),
        "standard_error": error,
        "median": middle,
        "q10": low,
        "q90": high,
    }


def _over_trials(summary: Callable[[FloatArray], Any], values: FloatArray) -> FloatArray:
    kept = [row[np.isfinite(row)] for row in values]
    return np.array([summary(row) if len(row) else np.nan for row in kept], dtype=float)


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
