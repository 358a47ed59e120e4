"""What an experiment is: a grid, one trial, a figure and the claims made about it.

    grid × trials  ->  readings  ->  Table  ->  figure, claims

An experiment is a value; `runner` runs it and keeps what is finished, `summary` shows it.
Functions of an experiment stand at the top of a module, so that other processes find them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from intransit.experiments.table import Table, TrialValue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["holds", "holds in part", "does not hold"]


@dataclass(frozen=True)
class Point:
    """One place of the grid: where on the horizontal axis, and in which facet."""

    x: float
    facet: str = ""

    @property
    def key(self) -> str:
        """A name that stays the same when the grid around it changes."""
        return f"{self.facet}@{self.x:.6g}"


@dataclass(frozen=True)
class Options:
    """What a run may ask of a trial."""

    quick: bool = False
    extras: frozenset[str] = frozenset()  # of "joint", "limit", "newton"
    trial: int = 0  # which one it is: curves that take long are drawn from the first few only

    def wants(self, extra: str) -> bool:
        """Return whether this extra curve was asked for."""
        return extra in self.extras


@dataclass(frozen=True)
class Check:
    """One measured fact: a sentence with its numbers, and whether it speaks for the claim."""

    measured: str
    passed: bool


@dataclass(frozen=True)
class Claim:
    """A statement about a figure, and what the run says to it."""

    statement: str
    checks: tuple[Check, ...]
    source: str = "paper"  # or "ours", for limits that this project set itself

    @property
    def verdict(self) -> Verdict:
        """All checks pass, some do, or none does."""
        passed = [check.passed for check in self.checks]
        if all(passed):
            return "holds"
        return "holds in part" if any(passed) else "does not hold"


@dataclass(frozen=True)
class Gain:
    """What joint estimation gains at one place: a row of a table, its numbers already written."""

    where: str
    paper: str  # what the paper's best does
    joint: str
    limit: str
    gain: str


Measure = Callable[[Point, np.random.Generator, Options], Iterable[TrialValue]]
Draw = Callable[["Figure", Table], None]
Judge = Callable[[Table], list[Claim]]
Weigh = Callable[[Table], list[Gain]]


def no_gains(table: Table) -> list[Gain]:  # noqa: ARG001
    """Return nothing: the experiment recovers nothing, or has no joint curve."""
    return []


@dataclass(frozen=True)
class Experiment:
    """Everything needed to run one figure again.

    Parameters
    ----------
    name, title, figure
        What to type, what to read, and which figure of the paper it is.
    settings
        In the order in which a reader should see them.
    points, quick_points
        The grid, and the smaller one of a quick run.
    measure
        One trial at one point: yields the readings of all curves, from one generator.
    draw, judge, weigh
        The figure, the claims, and what joint estimation gains, from the finished table.
    notes
        Choices the paper leaves open, in sentences.
    n_trials
        How many trials stand for the number asked for; most take it as it is.
    extras
        Further curves it can draw.
    chunk
        Trials that are run, and kept on disk, together.
    seconds
        About how long one trial at one point takes; only the time left depends on it.
    sources
        Further files that the numbers come from; a change in them makes old parts worthless.
    size
        Width and height of the figure in inches.
    """

    name: str
    title: str
    figure: str
    settings: Mapping[str, object]
    points: tuple[Point, ...]
    measure: Measure
    draw: Draw
    judge: Judge
    weigh: Weigh = no_gains
    quick_points: tuple[Point, ...] = ()
    quick_trials: int = 4
    notes: tuple[str, ...] = ()
    n_trials: Callable[[int], int] = int
    extras: tuple[str, ...] = ()
    chunk: int = 25
    seconds: float = 0.05
    sources: tuple[str, ...] = ()
    size: tuple[float, float] = (9.0, 4.0)

    def grid(self, quick: bool) -> tuple[Point, ...]:
        """Return the points of a run."""
        return self.quick_points if quick and self.quick_points else self.points


def axis(*values: float, facets: Iterable[str] = ("",)) -> tuple[Point, ...]:
    """Return a grid: these places, in each of these facets.

    >>> [point.key for point in axis(0.1, 1.0)]
    ['@0.1', '@1']
    """
    return tuple(Point(float(x), facet) for facet in facets for x in values)


def half_decades(first: float, last: float) -> tuple[float, ...]:
    """Return powers of √10 between two powers of ten.

    >>> [f"{value:.3g}" for value in half_decades(0.1, 1.0)]
    ['0.1', '0.316', '1']
    """
    steps = np.arange(round(2 * np.log10(first)), round(2 * np.log10(last)) + 1)
    return tuple(float(f"{10.0 ** (step / 2):.6g}") for step in steps)
