"""What an experiment is, and how it is run: a grid, one trial, a figure, and claims about it.

    grid × trials  ->  readings  ->  Table  ->  figure, claims

An experiment is a value.  Functions of it stand at the top of a module, so that other processes
find them.  Every trial draws from a generator of its own,

    SeedSequence(seed, spawn_key=(experiment, point, trial))

with names, not places in a list, in the key.  So the numbers depend on the seed alone: neither
on the number of jobs, nor on the order, nor on the rest of the grid.

A run goes on where it was stopped.  A finished part is one JSON file: what it is of (a fingerprint
of settings, seed and code), its rows, and a digest of the rows.  It is written beside its place and
moved there, so a run that is killed leaves either the whole file or none; a file that was altered
or cut fails its digest.

The `Table` of a run is tidy: one value a row, with summaries over trials and the statistics of
claims.  Trials are paired: curves share each trial's data.
"""

import csv
import hashlib
import inspect
import io
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partialmethod, wraps
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

import intransit
from intransit.arrays import FloatArray, described, slices
from intransit.checks import write_whole
from intransit.plotting import Figure
from intransit.tasks import Task, run_tasks

# Tables -------------------------------------------------------------------------------------------


@described
@dataclass(frozen=True)
class TrialValue:
    """One value that a trial found.

    Examples
    --------
    >>> TrialValue("ours", "error", 0.25)
    TrialValue(curve='ours', measure='error', value=0.25, x=None, facet=None)
    """

    curve: Annotated[str, "Which curve it belongs to."]
    measure: Annotated[str, 'What it measures, such as ``"error"``.']
    value: Annotated[float, "The number; what is not finite is kept as missing."]
    x: Annotated[float | None, "Its place, by default that of the trial's point."] = None
    facet: Annotated[str | None, "Its part of the figure, by default that of the point."] = None


class Row(NamedTuple):
    """A `TrialValue` with its place and its trial; NaN where there is no value."""

    facet: str
    x: float
    curve: str
    measure: str
    trial: int
    value: float


@dataclass(frozen=True, eq=False)
class Series:
    """One curve of one measure: its values, places down and trials across, and their summaries.

    >>> series = Series(np.array([1.0, 2.0]), np.array([[1.0, 3.0], [2.0, np.nan]]))
    >>> series.mean.tolist()
    [2.0, 2.0]
    """

    x: FloatArray  # (n_places,): rising
    values: FloatArray  # (n_places, n_trials); NaN where a trial has no value

    def _over_trials(self, summary: Callable[[FloatArray], Any], least: int = 1) -> FloatArray:
        kept = [row[np.isfinite(row)] for row in self.values]
        return np.array([summary(row) if len(row) >= least else np.nan for row in kept], float)

    @property
    def mean(self) -> FloatArray:
        """Mean over trials, as the paper draws it."""
        return self._over_trials(np.mean)

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean; NaN where there is one trial."""
        return self._over_trials(lambda kept: kept.std(ddof=1) / np.sqrt(len(kept)), least=2)

    @property
    def median(self) -> FloatArray:
        """Median over trials."""
        return self._over_trials(np.median)

    def quantile(self, share: float) -> FloatArray:
        """Return a quantile over trials, (n_places,)."""
        return self._over_trials(lambda kept: np.quantile(kept, share))

    def where(self, flags: "Series") -> "Series":
        """Return the same curve with only the trials whose flag is not 0."""
        return Series(self.x, np.where(flags.values != 0.0, self.values, np.nan))

    def at(self, x: float) -> FloatArray:
        """Return the values of all trials at one place, (n_trials,): the nearest there is."""
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
    >>> table.names("curve", measure="error"), table.has("ours", "theirs")
    (['ours'], False)
    >>> table.series("error", "ours").values.tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    >>> [place["mean"] for place in table.summary()]
    [1.5, 2.5]
    >>> print(table.to_csv().splitlines()[:2])
    ['facet,x,curve,measure,trial,value', ',1,ours,error,0,1']
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = sorted(rows, key=attrgetter("facet", "measure", "curve", "x", "trial"))

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
        """
        return sorted({getattr(row, column) for row in self._matching(**where)})

    def has(self, *curves: str, measure: str = "error", facet: str = "") -> bool:
        """Return whether all these curves were drawn.

        Parameters
        ----------
        *curves
            Names of the curves.
        measure, facet
            What they measure, and in which part of the figure, if it has several.

        Returns
        -------
        bool
            Whether each of them has a value.
        """
        return set(curves) <= set(self.names("curve", measure=measure, facet=facet))

    def series(self, measure: str, curve: str, facet: str = "") -> Series:
        """Return one curve; its places in rising order.

        Parameters
        ----------
        measure, curve, facet
            What it measures, its name, and its part of the figure, if that has several.

        Returns
        -------
        Series
            The values, and their summaries; of no places where there is no such curve.
        """
        found = self._matching(measure=measure, curve=curve, facet=facet)
        places, place = np.unique([row.x for row in found], return_inverse=True)
        trials, trial = np.unique([row.trial for row in found], return_inverse=True)
        values = np.full((len(places), len(trials)), np.nan)
        values[place, trial] = [row.value for row in found]
        return Series(places, values)

    def paired(
        self, measure: str, first: str, second: str, facet: str = ""
    ) -> tuple[Series, Series]:
        """Return two curves at the places and in the trials that both have.

        Parameters
        ----------
        measure, first, second, facet
            What they measure, their names, and their part of the figure, if that has several.

        Returns
        -------
        tuple of Series
            The first and the second curve, of one shape.
        """
        here = [self._matching(measure=measure, curve=c, facet=facet) for c in (first, second)]
        shared = set.intersection(*({(row.x, row.trial) for row in rows} for rows in here))
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
        """
        found = []
        curves = sorted({(row.facet, row.measure, row.curve) for row in self.rows})
        for facet, measure, curve in curves:
            series = self.series(measure, curve, facet)
            summaries = {
                "mean": series.mean,
                "standard_error": series.standard_error,
                "median": series.quantile(0.5),
                "q10": series.quantile(0.1),
                "q90": series.quantile(0.9),
            }
            n_missing = np.sum(~np.isfinite(series.values), axis=1)
            found += [
                {"facet": facet, "measure": measure, "curve": curve, "x": float(x)}
                | {
                    name: float(s[k]) if np.isfinite(s[k]) else None
                    for name, s in summaries.items()
                }
                | {"n_missing": int(n_missing[k])}
                for k, x in enumerate(series.x)
            ]
        return found

    def to_csv(self) -> str:
        """Return the table as text.

        Returns
        -------
        str
            CSV with a header; numbers to seven digits, an empty field where there is no value.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Row._fields)
        for row in self.rows:
            value = f"{row.value:.7g}" if np.isfinite(row.value) else ""
            writer.writerow([row.facet, f"{row.x:.7g}", row.curve, row.measure, row.trial, value])
        return out.getvalue()

    def _matching(self, **where: str) -> list[Row]:
        return [
            row for row in self.rows if all(getattr(row, name) == w for name, w in where.items())
        ]


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
    """Return mean(first) / mean(second), trials resampled in pairs."""
    return _bootstrap(lambda a, b: a.mean(axis=-1) / b.mean(axis=-1), first, second)


def ratio_of_medians(first: FloatArray, second: FloatArray) -> Estimate:
    """Return median(first) / median(second), trials resampled in pairs."""
    return _bootstrap(lambda a, b: np.median(a, axis=-1) / np.median(b, axis=-1), first, second)


def typical_ratio(first: FloatArray, second: FloatArray) -> Estimate:
    """Return the median over trials of first / second: what the usual trial shows."""
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
    """Return the least-squares slope of log y against log x."""
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


Verdict = Literal["holds", "holds in part", "does not hold"]


@described
@dataclass(frozen=True)
class Point:
    """One place of the grid.

    Examples
    --------
    >>> Point(0.1, "small").key
    'small@0.1'
    """

    x: Annotated[float, "Where on the horizontal axis."]
    facet: Annotated[str, "Which part of the figure; empty where it has one part only."] = ""

    @property
    def key(self) -> str:
        """A name that stays the same when the grid around it changes."""
        return f"{self.facet}@{self.x:.6g}"


@described
@dataclass(frozen=True)
class Options:
    """What a run may ask of a trial.

    Examples
    --------
    >>> Options(extras=frozenset({"limit"})).wants("limit")
    True
    """

    quick: Annotated[bool, "Whether to use the smaller grid and fewer trials."] = False
    extras: Annotated[frozenset[str], 'Further curves, of "joint", "limit" and "newton".'] = (
        frozenset()
    )
    trial: Annotated[
        int, "Number of the trial; curves that take long are drawn in the first few."
    ] = 0

    def wants(self, extra: str) -> bool:
        """Return whether this extra curve was asked for.

        Parameters
        ----------
        extra
            Name of the curve.

        Returns
        -------
        bool
            Whether it is one of `extras`.
        """
        return extra in self.extras


@described
@dataclass(frozen=True)
class Check:
    """One measured fact.

    Examples
    --------
    >>> Check("the error falls 3.2 times", True).passed
    True
    """

    measured: Annotated[str, "A sentence with its numbers."]
    passed: Annotated[bool, "Whether it speaks for the claim."]


@described
@dataclass(frozen=True)
class Claim:
    """A statement about a figure, and what the run says to it.

    Examples
    --------
    >>> checks = (Check("it falls 3.2 times", True), Check("it rises at the end", False))
    >>> Claim("The error falls.", checks).verdict
    'holds in part'
    """

    statement: Annotated[str, "A sentence."]
    checks: Annotated[tuple[Check, ...], "What was measured."]
    source: Annotated[
        str, 'Whose it is: ``"paper"``, or ``"ours"`` for limits that this project set itself.'
    ] = "paper"

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
Draw = Callable[[Figure, Table], None]
Judge = Callable[[Table], list[Claim]]
Weigh = Callable[[Table], list[Gain]]


Checks = Callable[[Table], Iterable[Check]]


class Claims(list[Judge]):
    """What is claimed of one figure, in the order of the page; called with its table, it judges.

    A claim is a function that yields checks, and its docstring what is claimed.  Nothing is said
    of it unless the curves that it is about were drawn.

    >>> claims = Claims()
    >>> @claims.ours()
    ... def is_well(table):
    ...     '''All is well.'''
    ...     yield Check("it is", True)
    >>> [(claim.statement, claim.source) for claim in claims(Table([]))]
    [('All is well.', 'ours')]
    """

    def __call__(self, table: Table) -> list[Claim]:
        """Return the claims with what a run says to them."""
        return [claim for judge in self for claim in judge(table)]

    def paper(
        self, *curves: str, measure: str = "error", facet: str = "", source: str = "paper"
    ) -> Callable[[Checks], Judge]:
        """Add a claim of the paper about these curves."""

        def add(checks: Checks) -> Judge:
            statement = " ".join((checks.__doc__ or "").split())

            @wraps(checks)
            def judge(table: Table) -> list[Claim]:
                if not table.has(*curves, measure=measure, facet=facet):
                    return []
                return [Claim(statement, tuple(checks(table)), source)]

            self.append(judge)
            return judge

        return add

    ours = partialmethod(paper, source="ours")  # a limit that this project set itself


@described
@dataclass(frozen=True)
class Experiment:
    """Everything needed to run one figure again.

    Examples
    --------
    >>> def measure(point, rng, options):
    ...     yield TrialValue("mean", "error", abs(rng.normal(size=int(point.x)).mean()))
    >>> experiment = Experiment("means", "Error of a mean", "none", {}, axis(10, 1000), measure,
    ...                         draw=lambda figure, table: None, judge=lambda table: [])
    >>> errors = run_here(experiment, Run(n_trials=50)).series("error", "mean")
    >>> bool(errors.mean[1] < errors.mean[0])
    True
    """

    name: Annotated[str, "What to type."]
    title: Annotated[str, "What to read."]
    figure: Annotated[str, "Which figure of the paper it is."]
    settings: Annotated[Mapping[str, object], "In the order in which a reader should see them."]
    points: Annotated[tuple[Point, ...], "The grid."]
    measure: Annotated[
        Measure, "One trial at one point: yields the readings of all curves, from one generator."
    ]
    draw: Annotated[Draw, "The figure, from the finished table."]
    judge: Annotated[Judge, "The claims, from the same."]
    weigh: Annotated[Weigh, "What joint estimation gains, from the same."] = field(
        default_factory=lambda: lambda _: []
    )
    quick_points: Annotated[
        tuple[Point, ...], "The grid of a quick run, if it is a smaller one."
    ] = ()
    quick_trials: Annotated[int, "The most trials that a quick run makes."] = 4
    notes: Annotated[tuple[str, ...], "Choices the paper leaves open, in sentences."] = ()
    n_trials: Annotated[Callable[[int], int], "How many trials stand for the number asked for."] = (
        int
    )
    extras: Annotated[tuple[str, ...], "Further curves it can draw."] = ()
    chunk: Annotated[int, "Trials that are run, and kept on disk, together."] = 25
    seconds: Annotated[float, "About how long one trial at one point takes, for the time left."] = (
        0.05
    )
    sources: Annotated[
        tuple[str, ...], "Further files that the numbers come from: a change in them runs all anew."
    ] = ()
    size: Annotated[tuple[float, float], "Width and height of the figure in inches."] = (9.0, 4.0)

    def grid(self, quick: bool) -> tuple[Point, ...]:
        """Return the points of a run.

        Parameters
        ----------
        quick
            Whether to use the smaller grid, where there is one.

        Returns
        -------
        tuple of Point
            The grid.
        """
        return self.quick_points if quick and self.quick_points else self.points


def axis(*values: float, facets: Iterable[str] = ("",)) -> tuple[Point, ...]:
    """Return a grid: these places, in each of these facets.

    Parameters
    ----------
    *values
        Places on the horizontal axis.
    facets
        Names of the parts of the figure; by default it has one, without a name.

    Returns
    -------
    tuple of Point
        All places of the first facet, then those of the next.

    Examples
    --------
    >>> [point.key for point in axis(0.1, 1.0)]
    ['@0.1', '@1']
    """
    return tuple(Point(float(x), facet) for facet in facets for x in values)


def read_rows(source: Path) -> list[list[str]]:
    """Return the rows of a table that lies beside an experiment, without remarks and titles."""
    with source.open(newline="", encoding="utf-8") as lines:
        return list(csv.reader(line for line in lines if not line.startswith("#")))[1:]


def half_decades(first: float, last: float) -> tuple[float, ...]:
    """Return powers of √10 between two powers of ten.

    Parameters
    ----------
    first, last
        The two ends, which are part of it.

    Returns
    -------
    tuple of float
        The powers, in rising order, to six digits.

    Examples
    --------
    >>> [f"{value:.3g}" for value in half_decades(0.1, 1.0)]
    ['0.1', '0.316', '1']
    """
    steps = np.arange(round(2 * np.log10(first)), round(2 * np.log10(last)) + 1)
    return tuple(float(f"{10.0 ** (step / 2):.6g}") for step in steps)


_PACKAGE = Path(intransit.__file__).parent
_SOLVER_FILES = (
    *sorted(_PACKAGE.glob("inference/*.py")),
    *(_PACKAGE / f"{name}.py" for name in ("arrays", "checks", "kernels", "skew", "theory")),
    *(_PACKAGE / "data" / f"{name}.py" for name in ("cells", "measurements")),
    _PACKAGE / "model" / "simulate.py",
    _PACKAGE / "experiments" / "estimators.py",
)


@described
@dataclass(frozen=True)
class Run:
    """What to run with: the same run gives the same numbers.

    Examples
    --------
    >>> from intransit.experiments import EXPERIMENTS
    >>> Run(n_trials=100, options=Options(quick=True)).trials(EXPERIMENTS["recovery-error"])
    10
    """

    n_trials: Annotated[int, "How many trials; an experiment may make another number."] = 100
    seed: Annotated[int, "Of all trials."] = 0
    options: Annotated[Options, "What the run asks of its trials."] = Options()

    def trials(self, experiment: Experiment) -> int:
        """Return how many trials this experiment makes.

        Parameters
        ----------
        experiment
            What is to be run.

        Returns
        -------
        int
            Number of trials at each point, at least 1.
        """
        asked = min(self.n_trials, experiment.quick_trials) if self.options.quick else self.n_trials
        return max(1, experiment.n_trials(asked))


@dataclass(frozen=True)
class TrialTask:
    """Some trials at one point of one experiment: what one process does at a time."""

    experiment: Experiment
    point: Point
    trials: range
    run: Run

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return self.experiment.seconds * len(self.trials)

    @property
    def mark(self) -> str:
        """What its result depends on, as a fingerprint."""
        facts = {
            "experiment": self.experiment.name,
            "code": _code(self.experiment),
            "version": intransit.__version__,
            "point": self.point.key,
            "trials": [self.trials.start, self.trials.stop],
            "seed": self.run.seed,
            "quick": self.run.options.quick,
            "extras": sorted(self.run.options.extras & set(self.experiment.extras)),
        }
        return _digest_of(facts)[:32]

    @property
    def work(self) -> Task:
        """What is to be done, and no more than that needs: it is sent to another process."""
        name, run = self.experiment.name, self.run
        trials = f"trials {self.trials.start} to {self.trials.stop - 1}"
        given = name, self.experiment.measure, self.point, self.trials, run.seed, run.options
        return Task(f"{name}, point {self.point.key}, {trials}", perform, given)

    def path(self, parts: Path) -> Path:
        """Return where its result is kept."""
        return parts / self.experiment.name / f"{self.mark}.json"


def plan(experiment: Experiment, run: Run) -> list[TrialTask]:
    """Return the tasks of one experiment."""
    blocks = [range(b.start, b.stop) for b in slices(run.trials(experiment), experiment.chunk)]
    points = experiment.grid(run.options.quick)
    return [TrialTask(experiment, point, block, run) for point in points for block in blocks]


def perform(
    name: str, measure: Measure, point: Point, trials: range, seed: int, options: Options
) -> list[Row]:
    """Run some trials at one point, here."""
    rows = []
    for trial in trials:
        rng = generator(seed, name, point, trial)
        for reading in measure(point, rng, replace(options, trial=trial)):
            x = point.x if reading.x is None else float(reading.x)
            facet = point.facet if reading.facet is None else reading.facet
            value = float(reading.value)
            value = value if math.isfinite(value) else math.nan
            rows.append(Row(facet, x, reading.curve, reading.measure, trial, value))
    return rows


def generator(seed: int, name: str, point: Point, trial: int) -> np.random.Generator:
    """Return the generator of one trial."""
    key = (zlib.crc32(name.encode()), zlib.crc32(point.key.encode()), trial)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def run_here(experiment: Experiment, run: Run | None = None) -> Table:
    """Run one experiment in this process and keep nothing on disk.

    Parameters
    ----------
    experiment
        What is to be run.
    run
        Trials, seed and options; by default ``Run()``.

    Returns
    -------
    Table
        All values that the trials found.

    Examples
    --------
    >>> from intransit.experiments import EXPERIMENTS, Run, run_here
    >>> table = run_here(EXPERIMENTS["complexity-bound"], Run(n_trials=1))
    >>> round(table.series("bound", "σ₂ = 10⁻⁴", "small").mean[0])
    714
    """
    tasks = plan(experiment, run or Run())
    return Table([row for task in tasks for row in perform(*task.work.given)])


def run_all(
    experiments: Sequence[Experiment],
    run: Run,
    *,
    parts: Path,
    jobs: int,
    on: str | None = None,
    on_start: Callable[[float, float], None] | None = None,
    on_done: Callable[[TrialTask], None] | None = None,
) -> dict[str, Table]:
    """Run experiments in `jobs` processes; finished parts are read from, and kept in, `parts`.

    Parameters
    ----------
    experiments
        What is to be run.
    run
        Trials, seed and options.
    parts
        Folder of finished parts; a run that was stopped goes on from there.
    jobs
        Number of processes; with 0 or 1 everything runs in this process, where a debugger can
        follow it.
    on
        Where tasks run: here by default, or by workers of Ray, ``"ray"`` on this machine or
        ``"ray://host:port"``.
    on_start
        Called with the seconds of work in all, and those found finished.
    on_done
        Called with each task as it ends.

    Returns
    -------
    dict of str to Table
        All values that the trials found, by the name of the experiment.

    Raises
    ------
    IntransitError
        If a trial fails; it says which one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from intransit.experiments import EXPERIMENTS, Run, run_all
    >>> with TemporaryDirectory() as folder:
    ...     tables = run_all([EXPERIMENTS["complexity-bound"]], Run(n_trials=1),
    ...                      parts=Path(folder), jobs=0)
    >>> list(tables)
    ['complexity-bound']
    """
    tasks = [task for experiment in experiments for task in plan(experiment, run)]
    found = {id(task): read_part(task.path(parts), task.mark) for task in tasks}
    missing = [task for task in tasks if found[id(task)] is None]
    total = sum(task.seconds for task in tasks)
    if on_start is not None:
        on_start(total, total - sum(task.seconds for task in missing))
    # The longest first, so that no process is left with one of them at the end.
    missing.sort(key=lambda task: -task.seconds)
    for k, rows in run_tasks([task.work for task in missing], jobs=jobs, on=on):
        task = missing[k]
        write_part(task.path(parts), task.mark, rows)
        found[id(task)] = rows
        if on_done is not None:
            on_done(task)
    return {
        one.name: Table(row for t in tasks if t.experiment is one for row in found[id(t)] or ())
        for one in experiments
    }


def write_part(path: Path, mark: str, rows: Sequence[Row]) -> None:
    """Keep finished rows.  JSON knows neither NaN nor infinity: null says that there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = [[*row[:-1], row.value if math.isfinite(row.value) else None] for row in rows]
    part = {"fingerprint": mark, "digest": _digest_of(packed), "rows": packed}
    write_whole(path, json.dumps(part, allow_nan=False).encode())


def read_part(path: Path, mark: str) -> list[Row] | None:
    """Return the rows of a part, or None when it is missing, damaged, or of another run."""
    try:
        part = json.loads(path.read_bytes())
        if part["fingerprint"] != mark or part["digest"] != _digest_of(part["rows"]):
            return None
        rows: list[Any] = [[math.nan if x is None else x for x in row] for row in part["rows"]]
        return [Row(*row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest_of(value: object) -> str:
    """Return a digest of what JSON can express."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _code(experiment: Experiment) -> str:
    """Return a digest of the files that the numbers come from, so that changed code runs again."""
    own = inspect.getsourcefile(experiment.measure)
    files = [*_SOLVER_FILES, *map(Path, experiment.sources), *([Path(own)] if own else [])]
    return _digest_of_files(tuple(files))


@cache
def _digest_of_files(files: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes() if file.is_file() else str(file.name).encode())
    return digest.hexdigest()
