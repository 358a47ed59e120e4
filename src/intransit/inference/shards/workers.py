"""Who runs the shards, this process or actors of Ray; and `fit(..., on="ray")`.

Both run the same rounds (`shards`).  On Ray a round is a call of every actor, whose arguments are
the results of the round before: the driver hands out many rounds ahead, and what shards send goes
from one to the other through the object store.  An actor that is gone is started again by `mend`,
and reads its cells from its file.

What is worth keeping of a fit goes into one folder: scales drawn from a sub-population, cells by
shard, and the states of every step.  Asked again with the same folder, a fit goes on from there.
"""

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from intransit.arrays import FloatArray
from intransit.checks import as_whole
from intransit.data.cells import Cells, Timeline
from intransit.errors import InputError
from intransit.inference.assembly import Scales, assemble, fill_known
from intransit.inference.draws import TrajectoryDraws
from intransit.inference.gauge import without_gauge
from intransit.inference.joint_fit import Fitted, Given, plain_columns
from intransit.inference.joint_newton import JointSolution, Start
from intransit.inference.joint_problem import Joint
from intransit.inference.likelihood import Law
from intransit.inference.sampling import Draws, Mixing, Report
from intransit.inference.shards.shard import Shard
from intransit.inference.shards.sharding import (
    FACTS,
    Question,
    ShardFacts,
    Step,
    WorkerLostError,
    Workers,
    read_arrays,
    read_facts,
    write_arrays,
    write_shards,
    write_text,
)
from intransit.inference.shards.solver import ShardedSolver
from intransit.inference.trajectory import Trajectory, trajectory_of
from intransit.tasks import one_thread, open_ray

SCALES, ASKED = "scales.npz", "asked"
FREED = 10.0  # seconds in which processors of workers that ended must be free again


# Workers ----------------------------------------------------------------------------------------


class LocalWorkers:
    """All shards in this process."""

    ahead = 1

    def __init__(self, folder: Path) -> None:
        n = read_facts(folder).n_shards
        self.shards = [Shard(folder, number) for number in range(n)]
        self._sent: list[list[Any]] = []

    def run(self, *rounds: Step) -> list[Any]:
        """Run rounds one after the other."""
        reports: list[Any] = []
        for method, settings in rounds:
            found = [
                shard.run(method, [sent[k] for sent in self._sent], settings)
                for k, shard in enumerate(self.shards)
            ]
            self._sent = [sent for sent, _ in found]
            reports = [report for _, report in found]
        return reports

    def mend(self) -> None:
        """Nobody is gone."""

    def close(self) -> None:
        """Let the memory go."""
        self.shards, self._sent = [], []


class Actor:
    """What Ray runs for one shard."""

    def __init__(self, folder: str, number: int) -> None:
        self.shard = Shard(Path(folder), number)

    @one_thread
    def step(self, method: str, settings: Mapping[str, Any], *inbox: Any) -> tuple[Any, ...]:
        """Run one round."""
        sent, report = self.shard.run(method, inbox, settings)
        return (*sent, report)

    def ping(self) -> bool:
        """Say that it is there."""
        return True


class RayWorkers:
    """Each shard in an actor of Ray."""

    ahead = 4

    def __init__(self, folder: Path) -> None:
        import ray  # noqa: PLC0415  an extra, loaded when it is asked for

        self._ray, self._folder = ray, folder
        self._n = read_facts(folder).n_shards
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(Actor)
        self._wait_for_processors()
        self.actors = [self._new(number) for number in range(self._n)]
        self._sent: list[list[Any]] = []

    def _wait_for_processors(self) -> None:
        """Refuse, rather than wait for ever, where others hold Ray's processors."""
        until = time.monotonic() + FREED
        while (free := int(_processors(self._ray))) < self._n:
            if time.monotonic() > until:
                raise InputError(
                    f"workers: {self._n} are needed and {free} of Ray's processors are free; ask "
                    "for fewer, or end what else runs there."
                )
            time.sleep(0.1)

    def _new(self, number: int) -> Any:
        return self._actor.remote(str(self._folder), number)

    def run(self, *rounds: Step) -> list[Any]:
        """Hand out all rounds, then wait for the last."""
        reports: list[Any] = []
        try:
            for method, settings in rounds:
                found = [
                    actor.step.options(num_returns=self._n + 1).remote(
                        method, settings, *(sent[k] for sent in self._sent)
                    )
                    for k, actor in enumerate(self.actors)
                ]
                self._sent = [refs[:-1] for refs in found]
                reports = [refs[-1] for refs in found]
            return list(self._ray.get(reports))
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            lost = isinstance(cause, self._ray.exceptions.RayError)
            raise (WorkerLostError(str(cause)) if lost else cause) from error
        except self._ray.exceptions.RayError as error:
            raise WorkerLostError(str(error)) from error

    def mend(self) -> None:
        """Start again whoever is gone."""
        self._sent = []
        for number, actor in enumerate(self.actors):
            try:
                self._ray.get(actor.ping.remote())
            except self._ray.exceptions.RayError:
                self.actors[number] = self._new(number)

    def close(self) -> None:
        """End the actors."""
        self._sent = []
        for actor in self.actors:
            self._ray.kill(actor)


def _processors(ray: Any) -> float:
    """Return how many of Ray's processors are free."""
    return float(ray.available_resources().get("CPU", 0.0))


@dataclass(frozen=True)
class Placement:
    """Where states are found.

    Attributes
    ----------
    on
        "ray", or "ray://host:port"; "here" is this process.
    workers
        How many; by default as many as Ray has processors.
    keep
        Folder that all workers see; by default one of our own, which is removed in the end.
    """

    on: str
    workers: int | None = None
    keep: Path | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            as_whole("workers", self.workers, least=1)
        if self.on.startswith("ray://") and self.keep is None:
            raise InputError(
                f"keep: workers at {self.on} need a folder that they and we can see; give one."
            )
        if self.keep is not None and self.keep.exists() and not self.keep.is_dir():
            raise InputError(f"keep: {self.keep} is a file; give a folder.")

    @contextmanager
    def folder(self, asked: Any) -> Iterator[Path]:
        """Give the folder; one that was begun for something else than what is asked is refused."""
        if self.keep is None:
            with tempfile.TemporaryDirectory(prefix="intransit-") as place:
                yield Path(place)
            return
        self.keep.mkdir(parents=True, exist_ok=True)
        begun, digest = self.keep / ASKED, fingerprint(asked)
        if not begun.exists():
            if any(self.keep.iterdir()):
                raise InputError(
                    f"keep: {self.keep} has files that no fit put there; give an empty folder."
                )
            write_text(begun, digest)
        elif begun.read_text(encoding="utf-8") != digest:
            raise InputError(
                f"keep: {self.keep} was begun for other games, another model or another seed; "
                "give another folder, or remove it."
            )
        yield self.keep

    @contextmanager
    def start(self, folder: Path) -> Iterator[Workers]:
        """Give the workers, and let them go."""
        workers: Workers = LocalWorkers(folder) if self.on == "here" else RayWorkers(folder)
        try:
            yield workers
        finally:
            workers.close()

    def n_shards(self) -> int:
        """Return how many shards there are to be; connects to Ray, or starts it."""
        if self.on == "here":
            return self.workers or 1
        return open_ray(self.on, self.workers, shared=self.keep is not None)


def fingerprint(value: Any) -> str:
    """Return a checksum of a value: of arrays their bytes, of all else its words."""
    digest = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
        elif hasattr(part, "__dataclass_fields__"):
            digest.update(type(part).__name__.encode())
            for entry in fields(part):
                add(getattr(part, entry.name))
        elif isinstance(part, tuple | list):
            for one in part:
                add(one)
        else:
            digest.update(f"{part!r};".encode())

    add(value)
    return digest.hexdigest()


# A fit ------------------------------------------------------------------------------------------


def once(folder: Path, draw: Callable[[], tuple[Draws, Mixing]]) -> tuple[Draws, Mixing]:
    """Return draws that are kept in the folder, or draw and keep them."""
    place = folder / SCALES
    if not place.exists():
        draws, mixing = draw()
        write_arrays(place, {**_flat(draws, "draws"), **_flat(mixing, "mixing")})
    kept = read_arrays(place)
    numbers = sorted(name for name in kept if name.startswith("draws.numbers."))
    told: dict[str, Any] = {
        entry.name: kept.get(f"draws.{entry.name}")
        for entry in fields(Draws)
        if entry.name != "numbers"
    }
    mixed = {entry.name: kept[f"mixing.{entry.name}"] for entry in fields(Mixing)}
    mixed = {name: part.item() if part.ndim == 0 else part for name, part in mixed.items()}
    mixed["scales"] = tuple(str(name) for name in mixed["scales"])
    return Draws(numbers=tuple(kept[name] for name in numbers), **told), Mixing(**mixed)


def _flat(record: Draws | Mixing, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in fields(record):
        value = getattr(record, entry.name)
        if entry.name == "numbers":
            found |= {f"{name}.numbers.{k:03d}": part for k, part in enumerate(value)}
        elif value is not None:
            found[f"{name}.{entry.name}"] = np.array(value)
    return found


def solve_on_workers(
    data: Timeline,
    settings: Mapping[str, Any],  # of `smooth`
    placement: Placement,
    folder: Path,
    n_draws: Callable[[int], int],  # of the number of unknowns
    report: Report,
) -> tuple[Trajectory, TrajectoryDraws]:
    """Return what `smooth` would, and draws around it, found by workers."""
    given = _given(settings)
    scales = Scales(**{entry.name: float(getattr(given, entry.name)) for entry in fields(Scales)})
    r = int(settings["n_factors"])
    cells = given.collapse(data.rows, data.n_items)
    question = Question(
        given.loss,
        r,
        scales,
        seeks_side=given.advantage == "auto",
        tolerance=given.tolerance,
        max_steps=given.max_steps,
        seed=given.seed,
    )
    _write(folder, cells, question, data.n_items, placement.n_shards())
    with placement.start(folder) as workers:
        solver = ShardedSolver(workers, folder, question, report)
        progress = solver.solve()
        law = Law(given.loss, tuple(progress.cuts), progress.advantage)
        columns = plain_columns(data.n_items, r, scores=True)
        problem, pairs = assemble(cells, columns, scales, law, seeks_side=question.seeks_side)
        told = solver.states()
        places = _Places.of(problem, pairs.keys, told, len(cells.axis))
        z = fill_known(problem, columns, places.gather([part[2:5] for part in told], problem))
        n = n_draws(len(z))
        report(f"drawing {n} times around the solution")
        steps = np.empty((len(z), n))
        for k, parts in enumerate(solver.draw(n, given.seed)):
            steps[:, k] = places.gather(parts, problem)
        solution = JointSolution(
            z,
            np.array(progress.objectives),
            progress.converged,
            solver.gradient_size(),
            progress.n_products,
        )
    start = Start("workers", solution)
    fitted = Fitted(scales, (), problem, pairs, solution, (start,), True)
    path = trajectory_of(columns, fitted, given, given.seed)
    states = z[:, None] + without_gauge(problem, z, steps)
    rng = np.random.default_rng(given.seed)
    return path, TrajectoryDraws(data.n_items, path.times, z, states, problem, pairs, rng)


def _given(settings: Mapping[str, Any]) -> Given:
    names = {entry.name for entry in fields(Given)} & set(settings)
    return Given(
        noise_scale=1.0,
        advantage="auto",
        max_steps=300,
        seed=int(settings["rng"]),
        **{name: settings[name] for name in names},
    )


def _write(folder: Path, cells: Cells, question: Question, n_items: int, n_shards: int) -> None:
    """Write cells by shard, unless they are there; another number of shards must start anew."""
    if (folder / FACTS).exists():
        there = read_facts(folder)
        if there.n_shards != n_shards or there.n_items != n_items:
            raise InputError(
                f"keep: {folder} was begun with {there.n_shards} workers and {there.n_items:,} "
                "items; give as many, or another folder."
            )
        return
    levels = int(np.abs(cells.means).max(initial=1.0)) if question.kind == "ordered" else 0
    sided = cells.sides is not None
    facts = ShardFacts(question.kind, n_items, n_shards, cells.axis, sided, levels)
    shape = question.shape
    write_shards(folder, cells, facts, by_moment=shape.drifting and not shape.effects)


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the states of every shard stand in the whole, for S, Q and effects."""

    rows: list[tuple[Any, Any, Any]]  # by shard

    @classmethod
    def of(cls, problem: Joint, pair_keys: Any, told: list[Any], n_moments: int) -> "_Places":
        keys = []
        for side in problem.sides:
            chains = side.chains
            if side is problem.effects:
                keys.append(pair_keys[chains.owners] * n_moments + chains.when)
            else:
                keys.append(chains.keys)
        rows = []
        for of_S, of_Q, S, Q, _, of_E in told:
            still = len(Q) != len(S) and len(Q) == 1  # exposures are all 1, and not brought back
            rows.append(
                (
                    np.searchsorted(keys[0], of_S),
                    None if still else np.searchsorted(keys[1], of_Q),
                    np.searchsorted(keys[2], of_E) if problem.effects is not None else None,
                )
            )
        return cls(rows)

    def gather(self, parts: list[Any], problem: Joint) -> FloatArray:
        """Return a whole vector from S, Q and effects by shard."""
        out = np.zeros(problem.cuts[-1])
        for rows, values in zip(self.rows, parts, strict=True):
            for place, whole, value in zip(rows, problem.split(out), values, strict=True):
                if place is not None:
                    whole[place] = value
        return out
