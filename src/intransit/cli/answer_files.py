"""Answers as files: where `fit` puts them, what it may not overwrite, how they are opened."""

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from intransit.analysis.saving import is_sealed
from intransit.answer import Answer
from intransit.cli.output import working
from intransit.errors import InputError

ModelPath = Annotated[Path, Parameter(help="File that `intransit fit` wrote.")]
Moment = Annotated[
    str | None,
    Parameter(help="When, as a date or number like the table's; by default at its end."),
]
SUFFIX, PAGE = ".intransit", ".html"
MARK = b'type="application/json" id="findings"'  # of our pages
ENDINGS = {  # of tables
    *(".gz", ".zst", ".bz2", ".xz", ".zip"),
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".pgn"),
}


def default_place(table: Path) -> Path:
    """Return where the answer to a table goes: its name, in the current folder."""
    if str(table) in {"-", "/dev/stdin"}:
        return Path("table" + SUFFIX)
    name = re.sub(r"[-_ ]*[*?\[\]]+", "", table.name) or "table"
    while Path(name).suffix.lower() in ENDINGS and Path(name).stem:
        name = Path(name).stem
    return Path(name + SUFFIX)


def default_page(table: Path) -> Path:
    """Return where the report of a table or an answer goes: its name, in the current folder."""
    known = Path(table.stem) if table.suffix == SUFFIX else default_place(table)
    name = known.name.removesuffix(SUFFIX) or known.name
    return Path(name + PAGE)


def check_place(place: Path, option: str = "--out") -> None:
    """Refuse, before any work, a place that cannot be written to."""
    if place.is_dir():
        raise InputError(f"{place}: it is a folder; give a file with {option}.")
    folder = place.parent
    if not folder.is_dir():
        raise InputError(f"{place}: there is no folder {folder}; make it, or choose another.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{place}: the folder may not be written to; choose another.")


def check_answer_place(place: Path, option: str = "--out") -> None:
    """Refuse to put an answer over a file that is something else."""
    check_place(place, option)
    if place.exists() and not is_sealed(place):
        raise InputError(
            f"{place}: it is there already and is no answer of intransit; choose another place "
            f"with {option}, or remove it."
        )


def check_page_place(place: Path, *, force: bool) -> None:
    """Refuse to put a page over a file that is something else, unless that is wished for."""
    check_place(place)
    if place.exists() and not force and not is_page(place):
        raise InputError(
            f"{place}: it is there already and is no report of intransit; choose another place "
            "with --out, or replace it with --force."
        )


@contextmanager
def held(place: Path) -> Iterator[Path]:
    """Hold a file against other commands that would change it, and yield where it really is.

    Two updates at once would each begin with the same answer, and the first would be lost; so the
    second waits for the first.  A link stays a link: what it points to is replaced.
    """
    real = place.resolve()
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:  # Windows: nothing is held
        yield real
        return
    lock = real.with_name(f".{real.name}.lock")
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.stat(lock).st_ino == os.fstat(handle).st_ino:
                break
        os.close(handle)  # whoever had it has removed it: hold a new one
    try:
        yield real
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def is_page(place: Path) -> bool:
    """Return whether a file is a report of ours, by what every one of them holds."""
    try:
        return MARK in place.read_bytes()
    except OSError:
        return False


def open_answer(model: Path) -> Answer:
    """Load an answer; a table given by mistake is told how to become one."""
    endings = {suffix.lower() for suffix in model.suffixes}
    if model.is_file() and endings & ENDINGS and not is_sealed(model):
        raise InputError(f"{model}: it is a table; first run `intransit fit {model}`.")
    with working(f"opening {model.name}"):
        return Answer.load(model)


def check_moment(answer: Answer, at: str | None) -> None:
    """Refuse a time that the answer cannot be asked about."""
    if at is not None and answer.clock.kind == "none":
        raise InputError(f"--at {at}: the table of this answer had no times; leave it out.")
    answer.when(at)


def moment_text(answer: Answer, at: str | None) -> str:
    """Return the time that is shown, in the table's own terms; empty where there are none."""
    return "" if answer.clock.kind == "none" else answer.clock.to_text(answer.when(at))


def quoted(*words: object) -> str:
    """Return words as a shell takes them."""
    return " ".join(shlex.quote(str(word)) for word in words)
