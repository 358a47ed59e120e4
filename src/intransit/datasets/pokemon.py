"""The Pokémon type chart over its generations: exact margins, strongly cyclic, changing twice.

An attack of type i does 2, 1, 0.5 or 0 times its damage to type j.  The margin of i over j is

    X_ij = factor_ij - factor_ji

what i does to j beyond what j does to i, from -2 to 2.  Nothing is measured: the chart is a fact.
"""

from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.errors import InputError
from intransit.tables import Games


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
