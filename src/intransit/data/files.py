"""Plain files: where they are, what they are, unpacked and decoded.

A table is a file, the standard input, several files of one form, or a folder of Parquet.  What a
file is is found from its first bytes.  Engines that read compressed text as it comes take half of a
file for the whole of it; so every file is unpacked first, into the scratch folder, and one that is
damaged or cut short is refused.
"""

import bz2
import codecs
import contextlib
import csv
import glob
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from intransit.data.engine import Engine, located, quote, refuse
from intransit.errors import InputError

HEAD = 1 << 16  # bytes looked at
DELIMITERS = (",", ";", "\t", "|")
EMPTY = "the file is empty; a header and at least one row are needed."


@dataclass(frozen=True)
class Source:
    """One file: where its bytes are, and how messages call it."""

    path: Path
    label: str


@dataclass(frozen=True)
class TextLayout:
    """How separated text is laid out."""

    delimiter: str
    names: tuple[str, ...]
    skip: int  # blank lines before the header


def look_at(source: Source) -> tuple[Literal["parquet", "json", "pgn", "text"], str]:
    """Return what a file of plain bytes is, and its first lines, or refuse it with a sentence."""
    start = first_bytes(source)
    if not start.strip():
        raise refuse(source.label, EMPTY)
    if start.startswith(b"PAR1"):
        return "parquet", ""
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
        return "pgn", head
    named = re.search(r"\.(jsonl?|ndjson)\b", source.label, re.IGNORECASE)
    if first[:1] == "{" or (first[:1] == "[" and re.match(r"\[\s*[\[{\]]", first)) or named:
        return "json", head
    return "text", head


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


def lay_out(label: str, head: str) -> TextLayout:
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
    return TextLayout(delimiter, names, skip)


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
    path: Path, layout: TextLayout, records: set[int], skipped: set[int]
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


CHUNK = 1 << 22  # bytes at once
BOMS = (  # the longer before the shorter: UTF-32 begins as UTF-16 does
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def wide_encoding(start: bytes) -> str | None:
    """Return the encoding of text that has more than one byte a letter, from its first bytes."""
    for mark, encoding in BOMS:
        if start.startswith(mark):
            return encoding
    even, odd = start[0:2000:2], start[1:2000:2]
    if len(odd) >= 4 and even and b"\x00" not in even and odd.count(b"\x00") * 10 > 9 * len(odd):
        return "utf-16-le"
    if len(odd) >= 4 and b"\x00" not in odd and even.count(b"\x00") * 10 > 9 * len(even):
        return "utf-16-be"
    return None


def to_utf_8(source: Source, encoding: str, place: Path) -> Source:
    """Return the source as UTF-8; text that is not in its encoding is refused."""
    decoder = codecs.getincrementaldecoder(encoding)(errors=LENIENT.get(encoding, "strict"))
    with source.path.open("rb") as file, place.open("wb") as out:
        try:
            while piece := file.read(CHUNK):
                out.write(decoder.decode(piece).encode())
            out.write(decoder.decode(b"", final=True).encode())
        except UnicodeError as error:
            name = encoding[:6].upper()
            raise refuse(
                source.label, f"this is not whole {name} text ({error}); write it as UTF-8."
            ) from None
    return Source(place, source.label)


def with_plain_lines(source: Source, place: Path) -> Source:
    """Return the source with one kind of line ending; a lone carriage return becomes a space."""
    with source.path.open("rb") as file, place.open("wb") as out:
        held = b""
        while piece := file.read(CHUNK):
            text = held + piece
            held = b"\r" if text.endswith(b"\r") else b""
            text = text[: len(text) - len(held)]
            out.write(re.sub(rb"\r(?!\n)", b" ", text).replace(b"\r\n", b"\n"))
    return Source(place, source.label)


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Take bytes that Windows leaves open as Latin-1 does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("intransit-latin-1", _as_latin_1)
LENIENT = {"cp1252": "intransit-latin-1"}


DAMAGED = "its compressed data is damaged or cut short; fetch or write the file again."
ZSTD = b"\x28\xb5\x2f\xfd"
MAGIC: dict[bytes, str] = {
    b"\x1f\x8b": "gzip",
    ZSTD: "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # an empty one
}
OPENERS: dict[str, Callable[[Path], Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
SPREADSHEET = "this is a spreadsheet; save the table as CSV first."
FOREIGN = {
    b"\xd0\xcf\x11\xe0": SPREADSHEET,
    b"7z\xbc\xaf\x27\x1c": "this is a 7z archive; unpack it first.",
    b"Rar!": "this is a RAR archive; unpack it first.",
    b"\x04\x22\x4d\x18": "this is compressed by LZ4; unpack it first, or use gzip or zstd.",
}


def unpack(source: Source, engine: Engine) -> Source:
    """Return the source with its plain bytes, whatever it was compressed by."""
    with source.path.open("rb") as file:
        start = file.read(8)
    for magic, sentence in FOREIGN.items():
        if start.startswith(magic):
            raise refuse(source.label, sentence)
    kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)
    if kind is None:
        return source
    plain = engine.fresh("unpacked")
    try:
        if kind == "zip":
            return unpack(_unpack_zip(source, engine.fresh("zipped")), engine)
        if kind == "zstd":
            _unpack_zstd(source, plain, engine)
        else:
            with OPENERS[kind](source.path) as packed:
                copy(packed, plain)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile):
        raise refuse(source.label, DAMAGED) from None
    except NotImplementedError as error:  # of a kind of zip that Python does not know
        raise refuse(source.label, f"{error}; unpack it first.") from error
    except OSError as error:
        if error.errno is None:  # bz2 says so of damaged data
            raise refuse(source.label, DAMAGED) from None
        raise full_disk(source.label, error) from error
    return Source(plain, source.label)


def copy(packed: IO[bytes], place: Path) -> None:
    """Copy a stream to its end."""
    with place.open("wb") as plain:
        while piece := packed.read(CHUNK):
            plain.write(piece)


def full_disk(label: str, error: OSError) -> InputError:
    """Return the error for a scratch folder that takes no more."""
    return refuse(
        label,
        f"the scratch folder cannot take it ({error.strerror}); make room, or name another place "
        "by the environment variable TMPDIR.",
    )


def _unpack_zip(source: Source, place: Path) -> Source:
    """Return the one table in a zip archive."""
    with zipfile.ZipFile(source.path) as archive:
        members = [
            member
            for member in archive.infolist()
            if not member.is_dir() and not member.filename.startswith(("__MACOSX/", "."))
        ]
        names = {member.filename for member in members}
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise refuse(source.label, SPREADSHEET)
        if len(members) != 1:
            listed = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
            found = f"{len(members)} files ({listed})" if members else "no file"
            raise refuse(source.label, f"the archive holds {found}; give one table at a time.")
        if members[0].flag_bits & 1:
            raise refuse(source.label, "the archive is encrypted; unpack it first.")
        with archive.open(members[0]) as packed:
            copy(packed, place)
    return Source(place, source.label)


def _unpack_zstd(source: Source, plain: Path, engine: Engine) -> None:
    """Unpack by DuckDB, line by line: the standard library has no zstd before Python 3.14."""
    if not zstd_is_whole(source.path):
        raise EOFError
    if _unpack_zstd_by_python(source.path, plain):
        return
    lines = lines_of(source.path, "zstd")
    engine.run(
        f"COPY (FROM {lines}) TO {quote(str(plain))} "
        "(FORMAT csv, HEADER false, DELIM '\x01', QUOTE '', ESCAPE '')"
    )
    for (line,) in engine.ask("SELECT line FROM reject_errors ORDER BY line LIMIT 1"):
        found = "this is not UTF-8 text; unpack the file first, or write it as UTF-8."
        raise refuse(source.label, found, line)
    engine.forget_rejects()


def _unpack_zstd_by_python(path: Path, plain: Path) -> bool:
    """Unpack with Python's own module where there is one; return whether there is."""
    try:
        from compression import zstd  # type: ignore[import-not-found] # noqa: PLC0415
    except ImportError:
        return False
    try:
        with zstd.open(path) as packed:
            copy(packed, plain)
    except zstd.ZstdError:
        raise EOFError from None
    return True


def zstd_is_whole(path: Path) -> bool:
    """Return whether frames and blocks of a zstd file end where the file ends (RFC 8878)."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            magic = file.read(4)
            if len(magic) == 4 and magic[1:] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50:
                file.seek(int.from_bytes(_exactly(file, 4), "little"), 1)  # a frame to skip
            elif magic == ZSTD:
                try:
                    _skip_frame(file)
                except EOFError:
                    return False
            else:
                return False
            if file.tell() > size:
                return False
    return True


def _skip_frame(file: IO[bytes]) -> None:
    descriptor = _exactly(file, 1)[0]
    single = descriptor >> 5 & 1
    content = (single, 2, 4, 8)[descriptor >> 6]  # bytes of the content's size
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    file.seek((1 - single) + dictionary + content, 1)
    last = False
    while not last:
        header = int.from_bytes(_exactly(file, 3), "little")
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if kind == 3:
            raise EOFError
        file.seek(1 if kind == 1 else size, 1)
    if descriptor >> 2 & 1:
        _exactly(file, 4)  # the checksum


def _exactly(file: IO[bytes], n: int) -> bytes:
    data = file.read(n)
    if len(data) < n:
        raise EOFError
    return data


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
