"""Hide most of a chart, to see how well what is hidden can be recovered from the rest."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from intransit.arrays import BoolArray, FloatArray
from intransit.core.inputs import as_number
from intransit.datasets.pokemon import TypeChart
from intransit.errors import InputError
from intransit.seeds import open_rng
from intransit.timeline import Timeline


@dataclass(frozen=True)
class Score:
    """How near recovered margins come to the true ones."""

    error: float  # root of the squared error over the squared truth; 1 for saying nothing
    favourites: float  # share of unequal pairs whose favourite is right; no opinion is a half


@dataclass(frozen=True, eq=False)
class Hidden:
    """A chart of which some cells were read, and the others are to be recovered."""

    chart: TypeChart
    shown: BoolArray = field(repr=False)  # which of `chart.cells` were read
    readings: FloatArray = field(repr=False)  # of the cells that were, in their order

    @property
    def timeline(self) -> Timeline:
        """The readings, for `smooth`; times count generations from 0."""
        t, i, j = self.chart.cells[self.shown].T
        n_items = len(self.chart.names)
        return Timeline.from_arrays(i, j, self.readings, t.astype(float), n_items=n_items)

    @cached_property
    def read_elsewhere(self) -> BoolArray:
        """Which hidden cells are of a pair that was read in some other generation."""
        return np.asarray(~self.shown & (self._pairs_read[tuple(self.chart.cells[:, 1:].T)]))

    @property
    def never_read(self) -> BoolArray:
        """Which hidden cells are of a pair that was read in no generation."""
        return ~self.shown & ~self.read_elsewhere

    @cached_property
    def _pairs_read(self) -> BoolArray:
        read = np.zeros(2 * (len(self.chart.names),), dtype=bool)
        read[tuple(self.chart.cells[self.shown, 1:].T)] = True
        return read

    def nearest_readings(self) -> FloatArray:  # (n_cells,)
        """Return for every cell the pair's reading nearest in time, the older of two; or 0."""
        found = np.zeros(len(self.chart.cells))
        t, i, j = self.chart.cells[self.shown].T
        for k, (when, first, second) in enumerate(self.chart.cells):
            same = np.flatnonzero((i == first) & (j == second))
            if len(same):
                found[k] = self.readings[same[np.argmin(np.abs(t[same] - when))]]
        return found

    def score(self, found: FloatArray, which: BoolArray | None = None) -> Score:
        """Return how near margins of all cells come to the truth, by default on hidden cells.

        Where no pair is unequal there is nothing to score, and both figures are NaN.
        """
        cells = ~self.shown if which is None else which
        truth, there = self.chart.truth[cells], found[cells]
        unequal = truth != 0
        if not unequal.any():
            return Score(float("nan"), float("nan"))
        right = 0.5 * (1.0 + np.sign(there[unequal]) * np.sign(truth[unequal]))
        error = np.linalg.norm(there - truth) / np.linalg.norm(truth)
        return Score(float(error), float(right.mean()))


def hide(
    chart: TypeChart,
    shown: float = 0.3,
    *,
    noise_scale: float = 0.0,
    rng: np.random.Generator | int | None = 0,
) -> Hidden:
    """Return readings of a share of each generation's pairs, drawn evenly; the rest is hidden.

    Parameters
    ----------
    chart
        What `pokemon_types` returned.
    shown
        Share of the pairs of each generation that are read.
    noise_scale
        Standard deviation of what is added to each reading.
    rng
        Seed or generator.

    Examples
    --------
    >>> import intransit as it
    >>> from intransit.datasets import hide, pokemon_types
    >>> hidden = hide(pokemon_types(), 0.3, rng=0)
    >>> hidden.timeline
    Timeline(n_items=18, n_outcomes=380, times 0 to 8)
    """
    if not 0.0 < shown < 1.0:
        raise InputError(f"shown is {shown:g}; it is a share, above 0 and below 1.")
    noise = as_number("noise_scale", noise_scale, least=0.0)
    generator, _ = open_rng(rng)
    generation = chart.cells[:, 0]
    mask = np.zeros(len(generation), dtype=bool)
    for t in range(len(chart.dates)):
        here = np.flatnonzero(generation == t)
        mask[generator.permutation(here)[: max(1, round(shown * len(here)))]] = True
    readings = chart.truth[mask] + noise * generator.normal(size=int(mask.sum()))
    return Hidden(chart, mask, readings)
