"""Where a table is: a file, the standard input, several files of one form, a folder of Parquet."""

import glob
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from intransit.errors import InputError
from intransit.tables.engine import Engine
from intransit.tables.files import Source, first_bytes, refuse
from intransit.tables.unpacking import copy, full_disk

STANDARD_INPUT = "standard input"


def find_sources(given: str | Path, engine: Engine) -> list[Source]:
    """Return the files behind a path, `-` or a pattern, in the order of their names."""
    path, label = Path(given), str(given)
    if "\0" in label:
        raise InputError("source: the name of a file has a zero byte in it; check the path.")
    if label in {"-", "/dev/stdin"}:
        return [_spool(Source(Path("/dev/stdin"), STANDARD_INPUT), engine)]
    if path.is_dir():
        return _of_folder(path)
    if path.exists() and not path.is_file():  # a pipe can be read only once
        return [_spool(Source(path, label), engine)]
    if not path.exists() and glob.has_magic(label):
        found = sorted(place for place in glob.glob(label, recursive=True) if Path(place).is_file())
        if not found:
            raise refuse(label, "no file has such a name; check the pattern.")
        return [Source(Path(place), place) for place in found]
    return [Source(path, label)]


def _of_folder(folder: Path) -> list[Source]:
    files = sorted(
        place
        for place in folder.rglob("*")
        if place.is_file() and not any(p.startswith((".", "_")) for p in place.parts[-1:])
    )
    stored = [place for place in files if re.search(r"\.(parquet|pq|parq)$", place.name.lower())]
    if stored:
        return [Source(place, str(place)) for place in stored]
    endings = sorted({"".join(place.suffixes[-2:]) for place in files if place.suffixes})
    more = f', or several by a pattern such as "{folder}/*{endings[0]}"' if endings else ""
    raise refuse(folder, f"this is a folder; give one file of it{more}.")


def _spool(source: Source, engine: Engine) -> Source:
    """Return what comes through a pipe as a file."""
    place = engine.fresh("piped")
    try:
        if source.label == STANDARD_INPUT:
            if sys.stdin is None or sys.stdin.isatty():
                raise refuse(
                    STANDARD_INPUT,
                    "nothing comes in; pipe a table into the command, or give a path.",
                )
            copy(sys.stdin.buffer, place)
        else:
            with source.path.open("rb") as file:
                copy(file, place)
    except OSError as error:
        raise full_disk(source.label, error) from error
    return Source(place, source.label)


def are_parquet(sources: Sequence[Source]) -> bool:
    """Return whether all files are Parquet."""
    return all(first_bytes(source).startswith(b"PAR1") for source in sources)


def is_partitioned(sources: Sequence[Source]) -> bool:
    """Return whether folders carry values, as in ``year=2024/part-0.parquet``."""
    return all(any("=" in part for part in source.path.parts[:-1]) for source in sources)
