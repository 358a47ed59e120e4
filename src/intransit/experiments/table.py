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
    """One value that a trial found.

    Attributes
    ----------
    curve
        Which curve it belongs to.
    measure
        What it measures, such as ``"error"``.
    value
        The number; what is not finite is kept as missing.
    x, facet
        Its place, by default that of the trial's point.

    Examples
    --------
    >>> TrialValue("ours", "error", 0.25)
    TrialValue(curve='ours', measure='error', value=0.25, x=None, facet=None)
    """

    curve: str
    measure: str
    value: float
    x: float | None = None
    facet: str | None = None


@dataclass(frozen=True)
class Row:
    """One value with its place and its trial.

    Attributes
    ----------
    facet, x
        Its place in the figure.
    curve
        Which curve it belongs to.
    measure
        What it measures, such as ``"error"``.
    trial
        Number of the trial.
    value
        The number; NaN where there is none.
    """

    facet: str
    x: float
    curve: str
    measure: str
    trial: int
    value: float


@dataclass(frozen=True, eq=False)
class Series:
    """One curve of one measure: its values, places down and trials across, and their summaries.

    Attributes
    ----------
    x
        Places on the horizontal axis, in rising order, (n_places,).
    values
        Values of the trials, (n_places, n_trials); NaN where a trial has no value.

    Examples
    --------
    >>> series = Series(np.array([1.0, 2.0]), np.array([[1.0, 3.0], [2.0, np.nan]]))
    >>> series.mean.tolist()
    [2.0, 2.0]
    """

    x: FloatArray
    values: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean over trials, as the paper draws it."""
        return _over_trials(np.mean, self.values)

    @property
    def median(self) -> FloatArray:
        """Median over trials."""
        return _over_trials(np.median, self.values)

    def quantile(self, share: float) -> FloatArray:
        """Return a quantile over trials.

        Parameters
        ----------
        share
            Share of the trials below it, from 0 to 1.

        Returns
        -------
        ndarray
            One number for each place, (n_places,); NaN where no trial has a value.
        """
        return _over_trials(lambda kept: np.quantile(kept, share), self.values)

    def where(self, flags: "Series") -> "Series":
        """Return the same curve with only the trials whose flag is not 0.

        Parameters
        ----------
        flags
            A series of the same places and trials.

        Returns
        -------
        Series
            The curve, with NaN for the other trials.
        """
        return Series(self.x, np.where(flags.values != 0.0, self.values, np.nan))

    def at(self, x: float) -> FloatArray:
        """Return the values of all trials at one place.

        Parameters
        ----------
        x
            The place; the nearest one is taken.

        Returns
        -------
        ndarray
            One value for each trial, (n_trials,).
        """
        return np.asarray(self.values[int(np.argmin(np.abs(self.x - x)))])


class Table:
    """All rows of a run of one experiment, in a fixed order.

    `run_here` and `run_all` return it.

    Parameters
    ----------
    rows
        One value each, in any order.

    Attributes
    ----------
    rows
        The same, sorted by facet, measure, curve, place and trial.

    Examples
    --------
    >>> rows = [Row("", x, "ours", "error", k, x + k) for x in (1.0, 2.0) for k in (0, 1)]
    >>> table = Table(rows)
    >>> table.series("error", "ours").mean.tolist()
    [1.5, 2.5]
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = sorted(
            rows, key=lambda row: (row.facet, row.measure, row.curve, row.x, row.trial)
        )

    def names(self, column: str, **where: str) -> list[str]:
        """Return the distinct words of a column in rows that match, sorted.

        Parameters
        ----------
        column
            Name of a column: "facet", "curve" or "measure".
        **where
            What rows must have in other columns.

        Returns
        -------
        list of str
            The words.

        Examples
        --------
        >>> rows = [Row("", x, "ours", "error", k, x + k) for x in (1.0, 2.0) for k in (0, 1)]
        >>> Table(rows).names("curve", measure="error")
        ['ours']
        """
        return sorted({getattr(row, column) for row in self._matching(**where)})

    def has(self, *curves: str, measure: str = "error", facet: str = "") -> bool:
        """Return whether all these curves were drawn.

        Parameters
        ----------
        *curves
            Names of the curves.
        measure
            What they measure.
        facet
            Which part of the figure; empty where it has one part only.

        Returns
        -------
        bool
            Whether each of them has a value.

        Examples
        --------
        >>> rows = [Row("", x, "ours", "error", k, x + k) for x in (1.0, 2.0) for k in (0, 1)]
        >>> Table(rows).has("ours"), Table(rows).has("ours", "theirs")
        (True, False)
        """
        return set(curves) <= set(self.names("curve", measure=measure, facet=facet))

    def series(self, measure: str, curve: str, facet: str = "") -> Series:
        """Return one curve; its places in rising order.

        Parameters
        ----------
        measure
            What it measures, such as ``"error"``.
        curve
            Name of the curve.
        facet
            Which part of the figure; empty where it has one part only.

        Returns
        -------
        Series
            The values, and their summaries; of no places where there is no such curve.

        Examples
        --------
        >>> rows = [Row("", x, "ours", "error", k, x + k) for x in (1.0, 2.0) for k in (0, 1)]
        >>> Table(rows).series("error", "ours").values.tolist()
        [[1.0, 2.0], [2.0, 3.0]]
        """
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
        """Return two curves at the places and in the trials that both have.

        Parameters
        ----------
        measure
            What they measure, such as ``"error"``.
        first, second
            Names of the two curves.
        facet
            Which part of the figure; empty where it has one part only.

        Returns
        -------
        tuple of Series
            The first and the second curve, of one shape.
        """
        keys = [
            {(row.x, row.trial) for row in self._matching(measure=measure, curve=c, facet=facet)}
            for c in (first, second)
        ]
        shared = keys[0] & keys[1]
        both = Table(row for row in self.rows if (row.x, row.trial) in shared)
        return both.series(measure, first, facet), both.series(measure, second, facet)

    def summary(self) -> list[dict[str, object]]:
        """Return mean and spread over trials at every place of every curve.

        Returns
        -------
        list of dict
            ``facet``, ``measure``, ``curve`` and ``x`` of the place; ``mean``,
            ``standard_error``, ``median``, ``q10`` and ``q90``, None where they cannot be had;
            and ``n_missing``, the number of trials without a value.

        Examples
        --------
        >>> rows = [Row("", x, "ours", "error", k, x + k) for x in (1.0, 2.0) for k in (0, 1)]
        >>> [place["mean"] for place in Table(rows).summary()]
        [1.5, 2.5]
        """
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
        """Return the table as text.

        Returns
        -------
        str
            CSV with a header; numbers to seven digits, an empty field where there is no value.

        Examples
        --------
        >>> print(Table([Row("", 1.0, "ours", "error", 0, 0.25)]).to_csv())
        facet,x,curve,measure,trial,value
        ,1,ours,error,0,0.25
        <BLANKLINE>
        """
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
