"""Run experiments: grid × trials -> Table, in other processes, going on where a run stopped.

A finished part is one JSON file: what it is of (a fingerprint of settings, seed and code), its
rows, and a digest of the rows.  It is written beside its place and moved there, so a run that is
killed leaves either the whole file or none; a file that was altered or cut fails its digest.

Every trial draws from a generator of its own,

    SeedSequence(seed, spawn_key=(experiment, point, trial))

with names, not places in a list, in the key.  So the numbers depend on the seed alone: neither
on the number of jobs, nor on the order, nor on the rest of the grid.
"""

import hashlib
import inspect
import json
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import intransit
from intransit.analysis.saving import write_whole
from intransit.experiments import estimators
from intransit.experiments.experiment import Experiment, Measure, Options, Point
from intransit.experiments.table import Row, Table
from intransit.tasks import Task as Work
from intransit.tasks import run_tasks


def fingerprint(**facts: object) -> str:
    """Return a short digest of facts that JSON can express."""
    return hashlib.sha256(_canonical(facts).encode()).hexdigest()[:32]


def write_part(path: Path, mark: str, rows: Sequence[Row]) -> None:
    """Keep finished rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    payload = [_pack(row) for row in rows]
    part = {"fingerprint": mark, "digest": _digest_of_rows(payload), "rows": payload}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(part, allow_nan=False).encode())


def read_part(path: Path, mark: str) -> list[Row] | None:
    """Return the rows of a part, or None when it is missing, damaged, or of another run."""
    try:
        part = json.loads(path.read_bytes())
        if part["fingerprint"] != mark or part["digest"] != _digest_of_rows(part["rows"]):
            return None
        return [_unpack(fields) for fields in part["rows"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _digest_of_rows(payload: object) -> str:
    return hashlib.sha256(_canonical(payload).encode()).hexdigest()


def _pack(row: Row) -> list[object]:
    """JSON knows neither NaN nor infinity: null says that there is no value."""
    value = row.value if math.isfinite(row.value) else None
    return [row.facet, row.x, row.curve, row.measure, row.trial, value]


def _unpack(fields: Sequence[Any]) -> Row:
    facet, x, curve, measure, trial, value = fields
    return Row(facet, x, curve, measure, trial, math.nan if value is None else value)


_PACKAGE = Path(intransit.__file__).parent
_SOLVER_FILES = (
    *sorted(_PACKAGE.glob("inference/*.py")),
    *(_PACKAGE / f"{name}.py" for name in ("checks", "kernels", "skew", "theory")),
    *(_PACKAGE / "data" / f"{name}.py" for name in ("cells", "measurements", "timeline")),
    _PACKAGE / "model" / "simulate.py",
)


@dataclass(frozen=True)
class Run:
    """What to run with: the same run gives the same numbers."""

    n_trials: int = 100
    seed: int = 0
    options: Options = field(default_factory=Options)

    def trials(self, experiment: Experiment) -> int:
        """Return how many trials this experiment makes."""
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
    def name(self) -> str:
        """What it is called when it fails."""
        trials = f"trials {self.trials.start} to {self.trials.stop - 1}"
        return f"{self.experiment.name}, point {self.point.key}, {trials}"

    @property
    def mark(self) -> str:
        """What its result depends on, as a fingerprint."""
        return fingerprint(
            experiment=self.experiment.name,
            code=_code(self.experiment),
            version=intransit.__version__,
            point=self.point.key,
            trials=[self.trials.start, self.trials.stop],
            seed=self.run.seed,
            quick=self.run.options.quick,
            extras=sorted(self.run.options.extras & set(self.experiment.extras)),
        )

    @property
    def work(self) -> tuple[str, Measure, Point, range, int, Options]:
        """What `perform` needs of it: only this is sent to another process."""
        experiment, run = self.experiment, self.run
        return (
            experiment.name,
            experiment.measure,
            self.point,
            self.trials,
            run.seed,
            run.options,
        )

    def path(self, parts: Path) -> Path:
        """Return where its result is kept."""
        return parts / self.experiment.name / f"{self.mark}.json"


def plan(experiment: Experiment, run: Run) -> list[TrialTask]:
    """Return the tasks of one experiment."""
    n_trials = run.trials(experiment)
    starts = range(0, n_trials, experiment.chunk)
    blocks = [range(start, min(start + experiment.chunk, n_trials)) for start in starts]
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

    Examples
    --------
    >>> from intransit.experiments import EXPERIMENTS, Run, run_here
    >>> table = run_here(EXPERIMENTS["complexity-bound"], Run(n_trials=1))
    >>> round(table.series("bound", "σ₂ = 10⁻⁴", "small").mean[0])
    714
    """
    tasks = plan(experiment, run or Run())
    return Table([row for task in tasks for row in perform(*task.work)])


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

    With ``jobs=0`` everything runs in this process, where a debugger can follow it; with
    ``on="ray"`` on Ray.
    `on_start` is told the seconds of work in all and those found finished, `on_done` each task
    as it ends.
    """
    tasks = [task for experiment in experiments for task in plan(experiment, run)]
    found = {id(task): read_part(task.path(parts), task.mark) for task in tasks}
    missing = [task for task in tasks if found[id(task)] is None]
    total = sum(task.seconds for task in tasks)
    if on_start is not None:
        on_start(total, total - sum(task.seconds for task in missing))
    # The longest first, so that no process is left with one of them at the end.
    missing.sort(key=lambda task: -task.seconds)
    doing = [Work(task.name, perform, task.work) for task in missing]
    for k, rows in run_tasks(doing, jobs=jobs, on=on):
        task = missing[k]
        write_part(task.path(parts), task.mark, rows)
        found[id(task)] = rows
        if on_done is not None:
            on_done(task)
    return {
        experiment.name: Table(
            [
                row
                for task in tasks
                if task.experiment is experiment
                for row in found[id(task)] or []
            ]
        )
        for experiment in experiments
    }


def _code(experiment: Experiment) -> str:
    """Return a digest of the files that the numbers come from, so that changed code runs again."""
    own = inspect.getsourcefile(experiment.measure)
    files = [*_SOLVER_FILES, Path(estimators.__file__), *map(Path, experiment.sources)]
    if own is not None:
        files.append(Path(own))
    return _digest(tuple(files))


@cache
def _digest(files: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes() if file.is_file() else str(file.name).encode())
    return digest.hexdigest()
