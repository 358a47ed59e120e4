"""Finished parts of a run on disk: written whole, and read only when whole and of this run.

A part is one JSON file: what it is of (a fingerprint of settings, seed and code), its rows, and a
digest of the rows.  It is written beside its place and moved there, so a run that is killed
leaves either the whole file or none; a file that was altered or cut fails its digest.
"""

import hashlib
import json
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from intransit.experiments.table import Row


def fingerprint(**facts: object) -> str:
    """Return a short digest of facts that JSON can express."""
    return hashlib.sha256(_canonical(facts).encode()).hexdigest()[:32]


def write_part(path: Path, mark: str, rows: Sequence[Row]) -> None:
    """Keep finished rows."""
    payload = [_pack(row) for row in rows]
    part = {"fingerprint": mark, "digest": _digest(payload), "rows": payload}
    write_whole(path, json.dumps(part, allow_nan=False).encode())


def read_part(path: Path, mark: str) -> list[Row] | None:
    """Return the rows of a part, or None when it is missing, damaged, or of another run."""
    try:
        part = json.loads(path.read_bytes())
        if part["fingerprint"] != mark or part["digest"] != _digest(part["rows"]):
            return None
        return [_unpack(fields) for fields in part["rows"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)  # mkstemp's files are private; results are not
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _digest(payload: object) -> str:
    return hashlib.sha256(_canonical(payload).encode()).hexdigest()


def _pack(row: Row) -> list[object]:
    """JSON knows neither NaN nor infinity: null says that there is no value."""
    value = row.value if math.isfinite(row.value) else None
    return [row.facet, row.x, row.curve, row.measure, row.trial, value]


def _unpack(fields: Sequence[Any]) -> Row:
    facet, x, curve, measure, trial, value = fields
    return Row(facet, x, curve, measure, trial, math.nan if value is None else value)
