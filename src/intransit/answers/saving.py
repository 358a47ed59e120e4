"""One file for an answer: arrays and words in a zip, with a version and a checksum; no pickle.

What cannot be recomputed is kept: cells, states, scales, law, names.  The problem itself is built
again from them.  A file is written beside its place and moved there whole.
"""

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.assembly import Columns, Scales, assemble
from intransit.core.cells import Cells
from intransit.core.joint_newton import JointSolution
from intransit.core.law import Law
from intransit.errors import InputError
from intransit.fitting import Choice, Given
from intransit.trajectory import Trajectory

FORMAT = "intransit answer"
VERSION = 2
WORDS, NUMBERS, SEAL = "answer.json", "arrays.npz", "sha256"
CELLS = ("axis", "when", "pairs", "counts", "means")


def check_folder(place: Path) -> None:
    """Refuse, before any work, a place that no file can be put at."""
    if place.is_dir():
        raise InputError(f"{place}: it is a folder; give the name of a file.")
    if not place.parent.is_dir():
        raise InputError(f"{place}: there is no folder {place.parent}; make it, or choose another.")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole, or not at all."""
    folder = path.parent if str(path.parent) else Path(".")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def pack(words: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return words and arrays as one file, sealed."""
    head = {"format": FORMAT, "version": VERSION, **words}
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False).encode()
    numbers = io.BytesIO()
    np.savez_compressed(numbers, **arrays)  # type: ignore[arg-type]
    seal = hashlib.sha256(text + numbers.getvalue()).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in ((WORDS, text), (NUMBERS, numbers.getvalue()), (SEAL, seal)):
            file.writestr(zipfile.ZipInfo(name), content)  # without the time of writing
    return out.getvalue()


def unpack(path: Path) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    """Return words and arrays of a file, or refuse it in one sentence."""
    again = "make it again with `intransit fit`"
    try:
        with zipfile.ZipFile(path) as file:
            text, numbers, seal = (file.read(name) for name in (WORDS, NUMBERS, SEAL))
        head = json.loads(text)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise InputError(f"{path}: it is a folder; give the file that `fit` wrote.") from None
    except (zipfile.BadZipFile, KeyError, EOFError, ValueError, zlib.error):
        raise InputError(
            f"{path}: it is no answer of intransit, or was cut short; {again}."
        ) from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(f"{path}: it is no answer of intransit; {again}.")
    if head.get("version") != VERSION:
        raise InputError(
            f"{path}: it has version {head.get('version')} and this intransit reads version "
            f"{VERSION}; {again}, or install the version that wrote it."
        )
    if hashlib.sha256(text + numbers).hexdigest().encode() != seal:
        raise InputError(f"{path}: its content does not match its checksum; {again}.")
    with np.load(io.BytesIO(numbers), allow_pickle=False) as arrays:
        return head, dict(arrays)


def path_words(path: Trajectory) -> dict[str, object]:
    """Return what a trajectory is, without its arrays."""
    cells = path.cells
    return {
        "n_items": path.n_items,
        "n_factors": path.n_factors,
        "scores": path.scores,
        "scales": asdict(path.scales),
        "law": asdict(path.law),
        "given": asdict(path.settings),
        "estimated": path.estimated,
        "choices": [asdict(choice) for choice in path.choices],
        "starts": path.starts,
        "seed": path.seed,
        "converged": path.solution.converged,
        "gradient_size": path.solution.gradient_size,
        "n_products": path.solution.n_products,
        "scales_converged": path.scales_converged,
        "n_rows": cells.n_rows,
        "spread": cells.spread,
        "log_counts": cells.log_counts,
    }


def path_arrays(path: Trajectory) -> dict[str, np.ndarray]:
    """Return the arrays of a trajectory."""
    arrays = {name: getattr(path.cells, name) for name in CELLS}
    arrays |= {"z": path.solution.z, "objectives": path.solution.objectives}
    arrays |= {"strengths": path.columns.strengths, "exposures": path.columns.exposures}
    if path.cells.sides is not None:
        arrays["sides"] = path.cells.sides
    return arrays


def rebuild(words: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> Trajectory:
    """Return the trajectory that was kept."""
    w: dict[str, object] = dict(words)
    cells = Cells(
        **{name: arrays[name] for name in CELLS},
        n_rows=w["n_rows"],  # type: ignore[arg-type]
        spread=w["spread"],  # type: ignore[arg-type]
        log_counts=w["log_counts"],  # type: ignore[arg-type]
        sides=arrays.get("sides"),
    )
    columns = Columns(arrays["strengths"], arrays["exposures"])
    scales = Scales(**w["scales"])  # type: ignore[arg-type]
    told: dict[str, object] = w["law"]  # type: ignore[assignment]
    law = Law(told["kind"], tuple(told["cuts"]), told["advantage"])  # type: ignore[arg-type]
    given = Given(**w["given"])  # type: ignore[arg-type]
    problem, pairs = assemble(cells, columns, scales, law, seeks_side=given.advantage == "auto")
    solution = JointSolution(
        arrays["z"],
        arrays["objectives"],
        bool(w["converged"]),
        float(w["gradient_size"]),  # type: ignore[arg-type]
        int(w["n_products"]),  # type: ignore[call-overload]
    )
    z: FloatArray = solution.z
    if z.shape != (problem.cuts[-1],):
        raise InputError("the file's states do not fit its comparisons; make it again.")
    return Trajectory(
        n_items=int(w["n_items"]),  # type: ignore[call-overload]
        n_factors=int(w["n_factors"]),  # type: ignore[call-overload]
        scores=bool(w["scores"]),
        loss=given.loss,
        times=cells.axis,
        scales=scales,
        estimated=tuple(w["estimated"]),  # type: ignore[arg-type]
        choices=tuple(Choice(**choice) for choice in w["choices"]),  # type: ignore[attr-defined]
        starts=tuple((name, value) for name, value in w["starts"]),  # type: ignore[attr-defined]
        seed=w["seed"],  # type: ignore[arg-type]
        settings=given,
        problem=problem,
        solution=solution,
        columns=columns,
        pairs=pairs,
        cells=cells,
        scales_converged=bool(w["scales_converged"]),
    )
