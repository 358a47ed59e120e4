"""What a file is, found from its first bytes: Parquet, JSON lines or separated text."""

import codecs
import contextlib
import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from intransit.errors import InputError
from intransit.tables.engine import Engine, quote

HEAD = 1 << 16  # bytes looked at
DELIMITERS = (",", ";", "\t", "|")
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # xlsx, ods and zip; xls


@dataclass(frozen=True)
class FileKind:
    """How a file is to be read."""

    form: Literal["parquet", "json", "text"]
    compression: Literal["none", "gzip", "zstd"]
    encoding: Literal["utf-8", "utf-16"]
    head: str  # its first lines, decoded


@dataclass(frozen=True)
class Layout:
    """How separated text is laid out."""

    delimiter: str
    names: tuple[str, ...]
    skip: int  # blank lines before the header


def refuse(path: object, found: str, line: int | None = None) -> InputError:
    """Return the error for a file: where, what was found, what to do."""
    place = str(path) if line is None else f"{path}, line {line}"
    return InputError(f"{place}: {found}", source=str(path), line=line)


def look_at(path: Path, engine: Engine) -> FileKind:
    """Return what the file is, or refuse it with a sentence."""
    start = _first_bytes(path)
    if not start.strip():
        raise refuse(path, "the file is empty; a header and at least one row are needed.")
    if start.startswith(b"PAR1"):
        return FileKind("parquet", "none", "utf-8", "")
    if start.startswith(SPREADSHEETS):
        raise refuse(path, "this is a spreadsheet or an archive; save the table as CSV first.")
    if start.startswith(b"\x1f\x8b"):
        compression: Literal["none", "gzip", "zstd"] = "gzip"
        start = _unpack(path)
    elif start.startswith(b"\x28\xb5\x2f\xfd"):
        compression = "zstd"
        start = _unpack_zstd(path, engine)
    else:
        compression = "none"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return FileKind("text", compression, "utf-16", start.decode("utf-16", "replace"))
    if b"\x00" in start:
        raise refuse(path, "this is not text; CSV, JSON lines or Parquet can be read.")
    head = start.decode("utf-8-sig", "replace")
    if "\ufffd" in head.lstrip().partition("\n")[0]:
        head = start.decode("latin-1")
    if not head.strip():
        raise refuse(path, "the file is empty; a header and at least one row are needed.")
    first = head.lstrip()[:1]
    named = re.search(r"\.(jsonl?|ndjson)(\.gz|\.zst)?$", path.name, re.IGNORECASE)
    if first == "[" and named:
        raise refuse(path, "this is one JSON array; write one object a line (JSON lines).")
    form: Literal["json", "text"] = "json" if first == "{" or named else "text"
    return FileKind(form, compression, "utf-8", head)


def _first_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise refuse(path, "this is a folder; give one file of it.")
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except FileNotFoundError:
        raise refuse(path, "there is no such file; check the path.") from None
    except PermissionError:
        raise refuse(path, "the file may not be read; change its permissions.") from None
    except OSError as error:
        raise refuse(path, f"the file cannot be opened ({error.strerror}).") from error


def _unpack(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read1(HEAD)
    except (EOFError, OSError, zlib.error):
        cut = "its compressed data is damaged or cut short; fetch or write the file again."
        raise refuse(path, cut) from None


def _unpack_zstd(path: Path, engine: Engine) -> bytes:
    """Return the first lines; Python 3.11 cannot unpack them itself."""
    lines = engine.ask(f"SELECT line FROM {lines_of(path, 'zstd')} LIMIT 200")
    return "\n".join(line or "" for (line,) in lines).encode()


def lines_of(path: Path, compression: str) -> str:
    """Return the SQL that reads a file line by line, blank lines as NULL."""
    return (
        f"read_csv({located(path)}, columns = {{'line': 'VARCHAR'}}, delim = chr(1), quote = '', "
        "escape = '', header = false, auto_detect = false, max_line_size = 16777216, "
        f"compression = '{compression}', store_rejects = true)"
    )


def located(path: Path) -> str:
    """Return a path as SQL, with the signs that DuckDB would expand held still."""
    return quote(re.sub(r"([*?\[])", r"[\1]", str(path)))


def lay_out(path: Path, head: str) -> Layout:
    """Return delimiter and header of separated text."""
    lines = head.splitlines(keepends=True)
    skip = next(i for i, line in enumerate(lines) if line.strip())
    text = "".join(lines[skip:])
    delimiter = max(DELIMITERS, key=lambda sign: _agreement(text, sign))
    names = tuple(name.strip() for name in _records(text, delimiter, 1)[0])
    if len(names) < 2:
        raise refuse(
            path,
            f'only one column, "{shorten(names[0])}", is seen; separate columns by commas, '
            "semicolons or tabs.",
            skip + 1,
        )
    if any(_is_value(name) for name in names):
        shown = ", ".join(f'"{shorten(name)}"' for name in names[:4])
        raise refuse(
            path, f"the first line holds values ({shown}); add a line with the names of the "
            "columns above it.", skip + 1
        )  # fmt: skip
    return Layout(delimiter, names, skip)


def _agreement(text: str, delimiter: str) -> tuple[float, int]:
    """Return how far the first records agree on a number of columns, and that number."""
    records = [len(record) for record in _records(text, delimiter, 20) if record]
    if not records or records[0] < 2:
        return 0.0, 0
    return sum(n == records[0] for n in records) / len(records), records[0]


def _records(text: str, delimiter: str, most: int) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[list[str]] = []
    try:
        for record in reader:
            records.append(record)
            if len(records) == most:
                break
    except csv.Error:
        pass
    return records or [[""]]


def _is_value(name: str) -> bool:
    """Return whether a header's cell is a number or a date, so no name."""
    return bool(re.fullmatch(r"[+-]?\d+([.,]\d+)?|\d{4}-\d\d?-\d\d?([T ].*)?", name))


def shorten(text: str, most: int = 40) -> str:
    """Return text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


def physical_lines(
    path: Path, kind: FileKind, layout: Layout, encoding: str, records: set[int], skipped: set[int]
) -> dict[int, int]:
    """Return the file's line number of each wanted record, both counted from 1.

    `records` count the rows that DuckDB kept, `skipped` are the places (blank lines and header
    counted, quoted line breaks not) of those that it refused.
    """
    if kind.compression == "zstd":  # one line a record is the best guess without unpacking
        return {record: record + 1 + layout.skip for record in records}
    if not records and not skipped:
        return {}
    lines: dict[int, int] = {}
    last, kept = max(records | {0}), 0
    opener = gzip.open if kind.compression == "gzip" else open
    with (
        contextlib.suppress(csv.Error),  # a field too long for Python: no numbers from there on
        opener(path, "rt", encoding=encoding, errors="replace", newline="") as file,
    ):
        reader = csv.reader(file, delimiter=layout.delimiter)
        begin = 1
        for place, record in enumerate(reader, start=1):
            if record and place > layout.skip + 1:
                if place in skipped:
                    lines[-place] = begin
                else:
                    kept += 1
                    if kept in records:
                        lines[kept] = begin
            begin = reader.line_num + 1
            if kept >= last and len(lines) >= len(records) + len(skipped):
                break
    return lines
