"""Run experiments: grid × trials -> Table, in other processes, going on where a run stopped.

Every trial draws from a generator of its own,

    SeedSequence(seed, spawn_key=(experiment, point, trial))

with names, not places in a list, in the key.  So the numbers depend on the seed alone: neither
on the number of jobs, nor on the order, nor on the rest of the grid.
"""

import hashlib
import inspect
import math
import multiprocessing
import os
import signal
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

import intransit
from intransit.errors import IntransitError
from intransit.experiments import estimators
from intransit.experiments.experiment import Experiment, Measure, Options, Point
from intransit.experiments.store import fingerprint, read_part, write_part
from intransit.experiments.table import Row, Table

# One thread a process: jobs are the parallelism, and sums are then added in one order only.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_PACKAGE = Path(intransit.__file__).parent
_SOLVER_FILES = (
    *sorted(_PACKAGE.glob("core/*.py")),
    *sorted(_PACKAGE.glob("theory/*.py")),
    *(_PACKAGE / f"{name}.py" for name in ("measurements", "recover", "simulate")),
    *(_PACKAGE / f"{name}.py" for name in ("smooth", "fitting", "trajectory", "timeline")),
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
class Task:
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


def plan(experiment: Experiment, run: Run) -> list[Task]:
    """Return the tasks of one experiment."""
    n_trials = run.trials(experiment)
    starts = range(0, n_trials, experiment.chunk)
    blocks = [range(start, min(start + experiment.chunk, n_trials)) for start in starts]
    points = experiment.grid(run.options.quick)
    return [Task(experiment, point, block, run) for point in points for block in blocks]


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
    on_start: Callable[[float, float], None] | None = None,
    on_done: Callable[[Task], None] | None = None,
) -> dict[str, Table]:
    """Run experiments in `jobs` processes; finished parts are read from, and kept in, `parts`.

    With ``jobs=0`` everything runs in this process, where a debugger can follow it.
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
    finished = _in_processes(missing, jobs) if jobs else ((t, perform(*t.work)) for t in missing)
    for task, rows in finished:
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


def _in_processes(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, list[Row]]]:
    """Yield tasks with their rows as they are finished; stop the processes on the way out."""
    if not tasks:
        return
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with _environment(ONE_THREAD):
        pool = ProcessPoolExecutor(
            min(jobs, len(tasks)), mp_context=context, initializer=_follow_the_parent
        )
        try:
            futures = {pool.submit(perform, *task.work): task for task in tasks}
            for future in as_completed(futures):
                task = futures[future]
                if (error := future.exception()) is not None:
                    raise IntransitError(
                        f"{task.experiment.name}, point {task.point.key}, trials "
                        f"{task.trials.start} to {task.trials.stop - 1}: {error}"
                    ) from error
                yield task, future.result()
            pool.shutdown()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise


def _follow_the_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it ends, even when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end_after_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_after_parent, daemon=True).start()


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Set variables that new processes read when they start, and put them back."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


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
