"""The Pokémon type chart over its generations, and most of it hidden to be recovered.

An attack of type i does 2, 1, 0.5 or 0 times its damage to type j.  The margin of i over j is

    X_ij = factor_ij - factor_ji

what i does to j beyond what j does to i, from -2 to 2.  Nothing is measured: the chart is a fact,
strongly cyclic, and changed twice.
"""

from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.checks import as_number, open_rng
from intransit.data.cells import Timeline
from intransit.data.games import Games
from intransit.errors import InputError


@dataclass(frozen=True, eq=False)
class TypeChart:
    """The chart of every generation, oldest first."""

    names: tuple[str, ...]  # in the order in which the types came
    dates: tuple[str, ...]  # when each generation came out
    factors: FloatArray = field(repr=False)  # (9, 18, 18): damage of row to column, or NaN

    @cached_property
    def margins(self) -> FloatArray:  # (9, 18, 18)
        """Damage of row to column less that of column to row; NaN where a type was not there."""
        return self.factors - self.factors.swapaxes(1, 2)

    @cached_property
    def exists(self) -> BoolArray:  # (9, 18)
        """Whether a generation has a type."""
        return np.asarray(np.isfinite(np.diagonal(self.factors, axis1=1, axis2=2)))

    @cached_property
    def cells(self) -> IntArray:  # (1261, 3)
        """Generation (from 0), first and second type of every pair that is there, each once."""
        first, second = np.triu_indices(len(self.names), 1)
        there = self.exists[:, first] & self.exists[:, second]
        generation, pair = np.nonzero(there)
        return np.stack([generation, first[pair], second[pair]], axis=1)

    @cached_property
    def truth(self) -> FloatArray:  # (1261,)
        """The margin of every one of `cells`."""
        return np.asarray(self.margins[tuple(self.cells.T)])

    def margin(self, first: str, second: str, generation: int = 9) -> float:
        """Return the margin of a type over another in a generation, 1 to 9; NaN if not there."""
        if not 1 <= generation <= len(self.dates):
            raise InputError(
                f"generation is {generation}; there are those from 1 to {len(self.dates)}."
            )
        i, j = (self._number(name) for name in (first, second))
        return float(self.margins[generation - 1, i, j])

    def rows(self) -> list[tuple[str, str, str, float]]:
        """Return the whole chart as a long table: date, first type, second type, margin."""
        return [
            (self.dates[t], self.names[i], self.names[j], float(margin))
            for (t, i, j), margin in zip(self.cells, self.truth, strict=True)
        ]

    def games(self) -> Games:
        """Return the chart as games with margins, for `fit`."""
        dates, first, second, margins = zip(*self.rows(), strict=True)
        outcomes = 0.5 * (1.0 + np.sign(margins))
        return Games.from_arrays(first, second, outcomes, dates, margins=margins)

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"{name!r} is no type; the types are {', '.join(self.names)}.")
        return self.names.index(name)


@cache
def pokemon_types() -> TypeChart:
    """Return the type chart of all generations, 1996 to 2022; it changed in 1999 and in 2013.

    Examples
    --------
    >>> chart = pokemon_types()
    >>> chart.margin("water", "fire"), chart.margin("dragon", "fairy")
    (1.5, -2.0)
    >>> chart.games()
    Games(18 items, 1,261 comparisons in 1,261 rows, margins, times 1996-02-27 to 2022-11-18)
    """
    text = files("intransit.datasets").joinpath("chart.txt").read_text(encoding="utf-8")
    return _read_chart(text)


def _read_chart(text: str) -> TypeChart:
    """Return the charts that the lines add up to."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    attackers = dict.fromkeys(words[0] for words in lines if words[0] != "generation")
    number = {name: k for k, name in enumerate(attackers)}
    here, there = np.ones((len(number), len(number))), np.zeros(len(number), dtype=bool)
    dates, charts = [], []
    for attacker, *words in lines:
        if attacker == "generation":
            dates.append(words[1])
            charts.append((here := here.copy(), there := there.copy()))
            continue
        there[number[attacker]] = True
        factor = 1.0
        for word in words:
            if word in number:
                here[number[attacker], number[word]] = factor
            else:
                factor = float(word)
    factors = [np.where(known[:, None] & known, chart, np.nan) for chart, known in charts]
    return TypeChart(tuple(number), tuple(dates), np.array(factors))


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
