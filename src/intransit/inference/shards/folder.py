"""Cells cut into shards, what is asked of them, and the folder that keeps both.

An item belongs to shard ``item % n_shards``.  A cell between two shards goes to one of them,

    at even moments to the lower, at odd ones to the higher

so that each needs the other's states at every second moment only, and has half of the cells.
Where nothing drifts, or pairs have effects whose cells must stay together, the pair decides.  The
rule is one line of SQL, which an engine can run where the data are.

The folder has a Parquet file of cells for each shard, and the states of the last step beside them.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from intransit.arrays import FloatArray
from intransit.checks import write_whole
from intransit.data.cells import NEARBY, Cells
from intransit.errors import InputError
from intransit.inference.joint_fit import Given
from intransit.inference.joint_problem import Rise, Scales
from intransit.model.laws import Kind

FACTS, RISE = "facts.json", "rise.npz"
PROGRESS = "progress-by-time.json"  # with the order of states, which was by owner once
COLUMNS = "first, second, moment, count, mean, side"


@dataclass(frozen=True)
class Question:
    """What is asked of the shards."""

    kind: Kind
    n_factors: int
    scales: Scales
    seeks_side: bool = False
    tolerance: float = 1e-2
    max_steps: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        if self.moving and not self.drifting:
            raise InputError("on: exposures that drift need strengths that drift.")

    @property
    def drifting(self) -> bool:
        """Whether strengths drift."""
        return self.scales.drift_scale > 0 or self.scales.score_drift_scale > 0

    @property
    def moving(self) -> bool:
        """Whether exposures drift."""
        return self.scales.exposure_drift_scale > 0 and self.n_factors > 0

    @property
    def has_effects(self) -> bool:
        """Whether pairs have effects of their own."""
        return self.scales.pair_scale > 0

    @property
    def given(self) -> Given:
        """The same, as one process is asked."""
        return Given(
            scales=asdict(self.scales),
            loss=self.kind,
            advantage="auto" if self.seeks_side else 0.0,
            tolerance=self.tolerance,
            max_steps=self.max_steps,
            seed=self.seed,
        )


@dataclass
class Progress:
    """How far a solve has come: what is needed to go on."""

    held: float  # prior scale of exposures
    finished: list[str] = field(default_factory=list)  # stages
    stage: str = ""
    n_kept: int = 0  # how often states were kept
    with_factors: bool = False
    cuts: list[float] = field(default_factory=list)
    advantage: float = 0.0
    damping: float = -1.0
    is_last: bool = False  # whether the last step ends the stage
    objectives: list[float] = field(default_factory=list)  # of this stage
    n_steps: int = 0
    n_products: int = 0
    n_losses: int = 0  # of workers
    converged: bool = True
    gradient_size: float = 0.0  # at the solution

    @property
    def kept(self) -> str:
        """Name of the states that are kept: of two, so that one is whole; none at first."""
        return f"states-{self.n_kept % 2}" if self.n_kept else ""


def read_progress(folder: Path, question: Question) -> Progress:
    """Return how far this question has come; another one's folder is refused."""
    place = folder / PROGRESS
    if not place.exists():
        return Progress(held=question.scales.prior_scale)
    told = json.loads(place.read_text(encoding="utf-8"))
    if told["question"] != json.loads(json.dumps(asdict(question))):
        raise InputError(
            f"keep: {folder} holds another question's progress; give another folder, or remove it."
        )
    return Progress(**told["progress"])


def write_progress(folder: Path, question: Question, progress: Progress) -> None:
    """Write how far a question has come."""
    told = {"question": asdict(question), "progress": asdict(progress)}
    write_whole(folder / PROGRESS, json.dumps(told).encode())


@dataclass(frozen=True, eq=False)
class ShardFacts:
    """What every shard must know of all cells."""

    kind: Kind
    n_items: int
    n_shards: int
    axis: FloatArray  # (n_moments,)
    sided: bool
    n_levels: int = 0  # of victory; 0 where outcomes are no levels


def write_shards(
    folder: Path,
    cells: Cells | Path,
    facts: ShardFacts,
    *,
    by_moment: bool = True,
    memory_limit: str = "2GB",
) -> None:
    """Write cells, given as arrays or as Parquet files with the columns above, by shard.

    Each shard's are in the order of `Cells`; sorting takes no more memory than `memory_limit`.
    """
    import duckdb  # noqa: PLC0415  answers that are only asked do without

    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(config={"memory_limit": memory_limit}) as engine:
        engine.execute(f"SET temp_directory = '{folder / 'sorting'}'")
        if isinstance(cells, Path):
            source = f"read_parquet('{cells}')"
        else:
            engine.register("given", _columns(cells))
            source = "given"
        for number in range(facts.n_shards):
            engine.execute(
                f"COPY (SELECT {COLUMNS} FROM {source} WHERE {shard_of(facts, by_moment)} = "
                f"{number} ORDER BY moment, second // {NEARBY}, first, second) "
                f"TO '{folder / f'cells-{number}.parquet'}' (FORMAT parquet)"
            )
    told = {**facts.__dict__, "axis": facts.axis.tolist()}
    write_whole(folder / FACTS, json.dumps(told).encode())


def shard_of(facts: ShardFacts, by_moment: bool) -> str:
    """Return the shard of a cell, as SQL."""
    n = facts.n_shards
    turn = "moment" if by_moment else f"(first // {n} + second // {n})"
    ends = f"first % {n}, second % {n}"
    return f"CASE WHEN {turn} % 2 = 0 THEN least({ends}) ELSE greatest({ends}) END"


def _columns(cells: Cells) -> dict[str, Any]:
    return {
        "first": cells.pairs[:, 0].astype(np.int32),
        "second": cells.pairs[:, 1].astype(np.int32),
        "moment": cells.when.astype(np.int32),
        "count": cells.counts,
        "mean": cells.means,
        "side": np.zeros(len(cells)) if cells.sides is None else cells.sides,
    }


def read_facts(folder: Path) -> ShardFacts:
    """Return what was written of all cells."""
    told = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    return ShardFacts(**{**told, "axis": np.array(told["axis"], dtype=float)})


def read_rise(folder: Path, items: slice) -> Rise | None:
    """Return the rise of first scores, of some items; None if there is none."""
    place = folder / RISE
    return Rise(**read_arrays(place)).of_items(items) if place.exists() else None


def read_cells(folder: Path, facts: ShardFacts, number: int) -> Cells:
    """Return the cells of one shard, in order of time."""
    import duckdb  # noqa: PLC0415

    place = folder / f"cells-{number}.parquet"
    columns = COLUMNS if facts.sided else COLUMNS.removesuffix(", side")
    with duckdb.connect(config={"threads": 1}) as engine:
        found = engine.execute(f"SELECT {columns} FROM read_parquet('{place}')").fetchnumpy()
    pairs = np.empty((len(found["first"]), 2), np.int32)
    pairs[:, 0], pairs[:, 1] = found.pop("first"), found.pop("second")
    counts = np.asarray(found["count"], dtype=float)
    return Cells(
        facts.axis,
        np.asarray(found["moment"]),
        pairs,
        counts,
        np.asarray(found["mean"], dtype=float),
        len(counts),
        0.0,
        float(np.sum(np.log(counts))),
        np.asarray(found["side"], dtype=float) if facts.sided else None,
    )


def write_arrays(place: Path, arrays: Mapping[str, Any]) -> None:
    """Write some arrays, whole or not at all; large ones need not reach the disk at once."""
    part = place.with_name(f".{place.name}.{os.getpid()}.npz")
    np.savez(part, **arrays)
    part.replace(place)


def read_arrays(place: Path) -> dict[str, Any]:
    """Return arrays that were written."""
    with np.load(_there(place)) as kept:
        return {name: kept[name] for name in kept.files}


def write_over(place: Path, array: FloatArray) -> None:
    """Write an array over one of the same size, which need not be found new room on disk."""
    with place.open("r+b" if place.exists() else "wb") as file:
        file.write(array.data)


def read_array(place: Path) -> FloatArray:
    """Return an array that was written."""
    return np.fromfile(_there(place))


def _there(place: Path) -> Path:
    if not place.exists():
        raise InputError(f"{place} is gone; give keep another folder, or remove this one.")
    return place


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
