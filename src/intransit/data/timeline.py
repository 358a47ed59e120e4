"""Comparisons at real-valued times: who met whom, when, and with what outcome, as numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray, IntArray
from intransit.checks import as_floats, as_items, as_whole, check_finite, check_pairs, check_size
from intransit.data.cells import Rows
from intransit.data.measurements import Entries, Measurements
from intransit.errors import InputError

MOST_LEVELS = 50  # of victory


@dataclass(frozen=True, eq=False)
class Timeline:
    """Comparisons in any order, each at a time of its own.

    Build it with `from_arrays`, or from periods with `from_measurements`.

    Examples
    --------
    >>> games = Timeline.from_arrays([0, 1, 2], [1, 2, 0], [1.0, 1.0, 0.0], [0.5, 0.75, 3.0])
    >>> games
    Timeline(n_items=3, n_outcomes=3, times 0.5 to 3)
    """

    rows: Rows
    n_items: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def times(self) -> FloatArray:  # (n_outcomes,)
        """When each comparison was."""
        return self.rows.times

    @property
    def pairs(self) -> IntArray:  # (n_outcomes, 2)
        """First and second item of each comparison."""
        return self.rows.pairs

    @property
    def outcomes(self) -> FloatArray:  # (n_outcomes,)
        """What came out, as the first item sees it."""
        return self.rows.outcomes

    @property
    def counts(self) -> FloatArray:  # (n_outcomes,)
        """How many readings (or games) each outcome is the mean of; also its weight."""
        return self.rows.counts

    def __repr__(self) -> str:
        span = f"times {self.times.min():g} to {self.times.max():g}"
        return f"Timeline(n_items={self.n_items}, n_outcomes={len(self)}, {span})"

    @classmethod
    def from_arrays(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        outcomes: ArrayLike,
        times: ArrayLike | None = None,
        *,
        counts: ArrayLike | None = None,
        sides: ArrayLike | None = None,
        n_items: int | None = None,
    ) -> "Timeline":
        """Build from columns of equal length.

        Parameters
        ----------
        first, second
            The two items of each comparison, whole numbers from 0.
        outcomes
            The margin that was read, or the share of games that the first item won.
        times
            Any finite numbers, in any order, equal ones welcome; without them nothing drifts.
        counts
            How many readings or games an outcome is the mean of.  Any number above 0, so that a
            weight is a count too: 0.5 makes an outcome count half.
        sides
            Who had the better side (at home, moving first): 1 the first item, -1 the second, 0
            nobody.
        n_items
            Number of items; by default one more than the largest that occurs.
        """
        first, second = as_items(first, "first"), as_items(second, "second")
        if first.ndim != 1 or first.shape != second.shape:
            raise InputError(
                f"timeline: {first.shape} first and {second.shape} second items were given; "
                "there must be one of each for every comparison."
            )
        if not len(first):
            raise InputError("timeline: no comparison was given; at least one is needed.")
        stacked = np.stack([first, second], axis=1)
        size = None if n_items is None else as_whole("n_items", n_items, least=2)
        pairs = check_pairs(stacked, size, "timeline")
        columns = {
            "outcomes": outcomes,
            "times": np.zeros(len(pairs)) if times is None else times,
        }
        if counts is not None:
            columns["counts"] = counts
        checked = {name: _column(name, values, len(pairs)) for name, values in columns.items()}
        if counts is None:
            checked["counts"] = np.broadcast_to(1.0, len(pairs))  # no memory for very many
        elif (checked["counts"] <= 0).any():
            bad = int(np.flatnonzero(checked["counts"] <= 0)[0])
            raise InputError(
                f"counts: entry {bad} is {checked['counts'][bad]:g}; a count says how many "
                "readings an outcome is the mean of and must be above 0, so leave the row out."
            )
        n = max(int(pairs.max()) + 1, 2) if size is None else size
        better = None if sides is None else _column("sides", sides, len(pairs))
        if better is not None and (np.abs(better) > 1).any():
            bad = int(np.flatnonzero(np.abs(better) > 1)[0])
            raise InputError(
                f"sides: entry {bad} is {better[bad]:g}; a side is 1 (the first item's), -1 (the "
                "second's) or 0 (nobody's)."
            )
        rows = Rows(checked["times"], pairs, checked["outcomes"], checked["counts"], better)
        return cls(rows, n)

    @classmethod
    def from_measurements(
        cls,
        measurements: Measurements,
        *,
        times: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> "Timeline":
        """Build from periods: period t is at time t, or at the times given, one each.

        `weights`, one a period, multiply the counts of its readings.
        """
        n = measurements.n_periods
        when = _column("times", np.arange(n) if times is None else times, n)
        shares = _column("weights", np.ones(n) if weights is None else weights, n)
        if (shares <= 0).any():
            raise InputError("weights: a weight must be above 0; leave the period out instead.")
        for t, readings in enumerate(measurements.periods):
            if not isinstance(readings.operator, Entries):
                raise InputError(
                    f"measurements: period {t} has readings that mix several pairs "
                    f"({type(readings.operator).__name__}); smoothing over time takes single "
                    "pairs only, so use recover, or read pairs one by one."
                )
        periods = measurements.periods
        lengths = [readings.operator.n_outcomes for readings in periods]
        rows = Rows(
            np.repeat(when, lengths),
            np.concatenate([r.operator.pairs for r in periods]),  # type: ignore[attr-defined]
            np.concatenate([readings.outcomes for readings in periods]),
            np.concatenate(
                [share * readings.counts for share, readings in zip(shares, periods, strict=True)]
            ),
        )
        return cls(rows, measurements.n_items)


def _column(name: str, values: object, n: int) -> FloatArray:
    column = np.ascontiguousarray(as_floats(values, name))
    if column.shape != (n,):
        raise InputError(
            f"{name}: shape {column.shape} was given for {n} of them; there must be one value for "
            "each."
        )
    check_finite(column, name)
    check_size(column, name)
    return column


def as_timeline(
    measurements: object, *, weights: ArrayLike | None = None, after: float | None = None
) -> Timeline:
    """Return comparisons at times, whatever was given; periods follow `after`, one unit apart."""
    if isinstance(measurements, Measurements):
        begin = 0.0 if after is None else after + 1.0
        times = begin + np.arange(measurements.n_periods)
        return Timeline.from_measurements(measurements, times=times, weights=weights)
    if not isinstance(measurements, Timeline):
        raise InputError(
            f"measurements: a {type(measurements).__name__} was given; build one with "
            "Measurements.from_pairs or Timeline.from_arrays."
        )
    if weights is None:
        return measurements
    shares = _column("weights", weights, len(measurements))
    first, second = measurements.pairs.T
    return Timeline.from_arrays(
        first,
        second,
        measurements.outcomes,
        measurements.times,
        counts=measurements.counts * shares,
        sides=measurements.rows.sides,
        n_items=measurements.n_items,
    )


def check_outcomes(rows: Rows, loss: str) -> None:
    """Refuse rows that say nothing, and wins that are no shares."""
    if (rows.pairs[:, 0] == rows.pairs[:, 1]).all():
        raise InputError(
            "measurements: every comparison is of an item with itself; nothing can be learnt "
            "from them."
        )
    if loss == "ordered":
        wrong = (rows.outcomes != np.round(rows.outcomes)) | (np.abs(rows.outcomes) > MOST_LEVELS)
        if wrong.any():
            bad = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"outcomes: entry {bad} is {rows.outcomes[bad]:g}; levels are whole numbers from "
                f"-{MOST_LEVELS} to {MOST_LEVELS}, 0 a tie, 1 a win, more a clearer one."
            )
    if loss == "logistic":
        wrong = (rows.outcomes < 0) | (rows.outcomes > 1)
        if wrong.any():
            bad = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"outcomes: entry {bad} is {rows.outcomes[bad]:g}; with the logistic loss an "
                "outcome is the share of games that the first item won, from 0 to 1."
            )
