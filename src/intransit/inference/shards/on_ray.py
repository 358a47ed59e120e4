"""`fit(..., on="ray")`: states found by workers, and brought back as a trajectory and its draws.

What is worth keeping goes into one folder: scales drawn from a sub-population, cells by shard, and
the states of every step.  Asked again with the same folder, a fit goes on from there.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from intransit.arrays import FloatArray
from intransit.checks import as_whole
from intransit.data.cells import Cells
from intransit.data.timeline import Timeline
from intransit.errors import InputError
from intransit.inference.assembly import Scales, assemble, fill_known
from intransit.inference.draws import TrajectoryDraws
from intransit.inference.gauge import without_gauge
from intransit.inference.joint_fit import Fitted, Given, plain_columns
from intransit.inference.joint_newton import JointSolution, Start
from intransit.inference.joint_problem import Joint
from intransit.inference.likelihood import Law
from intransit.inference.sampling import Draws, Mixing, Report
from intransit.inference.shards.links import Question
from intransit.inference.shards.shard_files import (
    FACTS,
    ShardFacts,
    read_arrays,
    read_facts,
    write_arrays,
    write_shards,
)
from intransit.inference.shards.solver import ShardedSolver
from intransit.inference.shards.workers import Crew, Here, OnRay
from intransit.inference.smooth import trajectory_of
from intransit.inference.trajectory import Trajectory
from intransit.tasks import open_ray

SCALES = "scales.npz"


@dataclass(frozen=True)
class Elsewhere:
    """Where states are found.

    Attributes
    ----------
    on
        "ray", or "ray://host:port"; "here" is one shard in this process.
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

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Give the folder."""
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            yield self.keep
            return
        with tempfile.TemporaryDirectory(prefix="intransit-") as place:
            yield Path(place)

    @contextmanager
    def crew(self, folder: Path) -> Iterator[Crew]:
        """Give the workers, and let them go."""
        crew: Crew = Here(folder) if self.on == "here" else OnRay(folder)
        try:
            yield crew
        finally:
            crew.close()

    def n_shards(self) -> int:
        """Return how many shards there are to be; connects to Ray, or starts it."""
        return (self.workers or 1) if self.on == "here" else open_ray(self.on, self.workers)


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


def solve_elsewhere(
    data: Timeline,
    settings: Mapping[str, Any],  # of `smooth`
    elsewhere: Elsewhere,
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
    _write(folder, cells, question, data.n_items, elsewhere.n_shards())
    with elsewhere.crew(folder) as crew:
        solver = ShardedSolver(crew, folder, question, report)
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
    fitted = Fitted(cells, scales, (), problem, pairs, solution, (start,), True)
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
            owners = side.chains.owners
            names = pair_keys[owners] if side is problem.effects else owners
            keys.append(names * n_moments + side.chains.when)
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
