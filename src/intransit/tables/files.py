"""What a plain file is, found from its first bytes: Parquet, JSON, chess games or CSV."""

import contextlib
import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from intransit.errors import InputError
from intransit.tables.engine import quote

HEAD = 1 << 16  # bytes looked at
DELIMITERS = (",", ";", "\t", "|")
EMPTY = "the file is empty; a header and at least one row are needed."


@dataclass(frozen=True)
class Source:
    """One file: where its bytes are, and how messages call it."""

    path: Path
    label: str


@dataclass(frozen=True)
class FileKind:
    """How a file is to be read."""

    form: Literal["parquet", "json", "pgn", "text"]
    head: str = ""  # its first lines, decoded


@dataclass(frozen=True)
class Layout:
    """How separated text is laid out."""

    delimiter: str
    names: tuple[str, ...]
    skip: int  # blank lines before the header


def refuse(label: object, found: str, line: int | None = None) -> InputError:
    """Return the error for a file: where, what was found, what to do."""
    place = str(label) if line is None else f"{label}, line {line}"
    return InputError(f"{place}: {found}", source=str(label), line=line)


def look_at(source: Source) -> FileKind:
    """Return what a file of plain bytes is, or refuse it with a sentence."""
    start = first_bytes(source)
    if not start.strip():
        raise refuse(source.label, EMPTY)
    if start.startswith(b"PAR1"):
        return FileKind("parquet")
    if b"\x00" in start:
        found = "this is not text; CSV, JSON or Parquet can be read."
        raise refuse(source.label, found)
    head = start.decode("utf-8-sig", "replace")
    if "\ufffd" in head.lstrip().partition("\n")[0]:
        head = start.decode("cp1252", "replace")
    if not head.strip():
        raise refuse(source.label, EMPTY)
    first = head.lstrip()
    if re.match(r"\[[A-Z]\w* +\".*\"\][ \t]*\r?$", first, re.MULTILINE):
        return FileKind("pgn", head)
    named = re.search(r"\.(jsonl?|ndjson)\b", source.label, re.IGNORECASE)
    if first[:1] == "{" or (first[:1] == "[" and re.match(r"\[\s*[\[{\]]", first)) or named:
        return FileKind("json", head)
    return FileKind("text", head)


def first_bytes(source: Source) -> bytes:
    """Return the first bytes of a file, or refuse one that cannot be opened."""
    try:
        with source.path.open("rb") as file:
            return file.read(HEAD)
    except FileNotFoundError:
        raise refuse(source.label, "there is no such file; check the path.") from None
    except PermissionError:
        found = "the file may not be read; change its permissions."
        raise refuse(source.label, found) from None
    except OSError as error:
        found = f"the file cannot be opened ({error.strerror}); check the path."
        raise refuse(source.label, found) from error


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


def lay_out(label: str, head: str) -> Layout:
    """Return delimiter and header of separated text."""
    lines = head.splitlines(keepends=True)
    skip = next(i for i, line in enumerate(lines) if line.strip())
    text = "".join(lines[skip:])
    delimiter = max(DELIMITERS, key=lambda sign: _agreement(text, sign))
    names = tuple(name.strip() for name in _records(text, delimiter, 1)[0])
    if len(names) < 2:
        raise refuse(
            label,
            f'only one column, "{shorten(names[0])}", is seen; separate columns by commas, '
            "semicolons or tabs.",
            skip + 1,
        )
    if any(_is_value(name) for name in names) and not _is_crosstable(names, text, delimiter):
        shown = ", ".join(f'"{shorten(name)}"' for name in names[:4])
        raise refuse(
            label, f"the first line holds values ({shown}); add a line with the names of the "
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


def _is_crosstable(names: tuple[str, ...], text: str, delimiter: str) -> bool:
    """Return whether columns are called 1, 2, 3, ..., as many as there are rows."""
    numbers = [name for name in names if _is_value(name)]
    rows = [record for record in _records(text, delimiter, len(names) + 2)[1:] if any(record)]
    counted = [str(k + 1) for k in range(len(numbers))]
    return numbers == counted and len(rows) == len(numbers) < len(names) and len(numbers) > 2


def _is_value(name: str) -> bool:
    """Return whether a header's cell is a number or a date, so no name."""
    return bool(re.fullmatch(r"[+-]?\d+([.,]\d+)?|\d{4}-\d\d?-\d\d?([T ].*)?", name))


def shorten(text: str, most: int = 40) -> str:
    """Return text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


def physical_lines(
    path: Path, layout: Layout, records: set[int], skipped: set[int]
) -> dict[int, int]:
    """Return the file's line number of each wanted record, both counted from 1.

    `records` count the rows that DuckDB kept, `skipped` are the places (blank lines and header
    counted, quoted line breaks not) of those that it refused.
    """
    if not records and not skipped:
        return {}
    lines: dict[int, int] = {}
    last, kept = max(records | {0}), 0
    with (
        contextlib.suppress(csv.Error),  # a field too long for Python: no numbers from there on
        path.open("rt", encoding="utf-8", errors="replace", newline="") as file,
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
