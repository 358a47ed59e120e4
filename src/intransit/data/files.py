"""Plain files: where they are, what they are, decoded, and separated text as a table.

A table is a file, the standard input, several files of one form, or a folder of Parquet.  What a
file is is found from its first bytes; compressed ones, JSON and others are left to `formats`.
Separated text is parsed once, lines that are no rows set aside.
"""

import codecs
import contextlib
import csv
import glob
import io
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

from intransit.data.engine import (
    NO_ROOM,
    NUMBERED,
    SHOWN,
    Engine,
    EngineTable,
    columns_sql,
    located,
    numbered_headers,
    quote,
    refuse,
)
from intransit.data.reading import STANDARD_INPUT, Unused, list_names, plural, quoted, shorten
from intransit.data.vocabulary import MARKERS, WINNERS, YEAR, name_pairs, plain
from intransit.errors import InputError

HEAD = 1 << 16  # bytes looked at
DELIMITERS = (",", ";", "\t", "|")
SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)
LOOKED_AT = 200  # records among which the header is found, and a crosstable has all its rows
ENOUGH_ALIKE = 0.5  # share of records with as many fields as the first, unless that is a title
FULL = 0.75  # of the fields that rows fill, at least so many have a name
EMPTY = "the file is empty; a header and at least one row are needed."
SPREADSHEET = "this is a spreadsheet; save the table as CSV first."
FOREIGN = {
    b"\xd0\xcf\x11\xe0": SPREADSHEET,
    b"7z\xbc\xaf\x27\x1c": "this is a 7z archive; unpack it first.",
    b"Rar!": "this is a RAR archive; unpack it first.",
    b"\x04\x22\x4d\x18": "this is compressed by LZ4; unpack it first, or use gzip or zstd.",
}
ZSTD = b"\x28\xb5\x2f\xfd"
PACKED = {
    b"\x1f\x8b": "gzip",
    ZSTD: "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # an empty one
}


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
    skip: int  # lines before the header
    above: tuple[str, ...] = ()  # those of them that are not blank


def packing_of(source: Source) -> str | None:
    """Return what a file is compressed by, None for nothing; refuse what cannot be unpacked."""
    start = first_bytes(source)
    for magic, sentence in FOREIGN.items():
        if start.startswith(magic):
            raise refuse(source.label, sentence)
    return next((kind for magic, kind in PACKED.items() if start.startswith(magic)), None)


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
    except OSError as error:
        found = f"the file cannot be opened ({error.strerror}); check the path."
        if isinstance(error, FileNotFoundError):
            found = "there is no such file; check the path."
        if isinstance(error, PermissionError):
            found = "the file may not be read; change its permissions."
        raise refuse(source.label, found) from error


def lay_out(label: str, head: str) -> TextLayout:
    """Return delimiter and header of separated text, and what stands above the header."""
    lines = head.splitlines(keepends=True)
    skip = next(i for i, line in enumerate(lines) if line.strip())
    said = SEPARATOR.fullmatch(lines[skip].strip())  # as Excel writes it
    skip += said is not None
    text = "".join(lines[skip:])
    rated = {sign: _agreement(text, sign, 20) for sign in DELIMITERS}
    delimiter = said[1] if said else max(DELIMITERS, key=lambda sign: rated[sign])
    if said is None and rated[delimiter][0] < ENOUGH_ALIKE:
        delimiter = max(DELIMITERS, key=lambda d: _agreement(text, d, LOOKED_AT, below=True))
    begin, header, rows = _find_header(text, delimiter)
    names = tuple(name.strip() for name in header)
    names = (re.sub(r"^#\s*(?=[^\W\d])", "", names[0]), *names[1:])  # as NumPy writes headers
    if len(names) < 2:
        raise refuse(
            label,
            f"only one column, {quoted(names[0])}, is seen; separate columns by commas, "
            "semicolons or tabs.",
            skip + begin + 1,
        )
    telling = name_pairs([plain(name) for name in names], MARKERS, WINNERS)  # beside odds 1, X, 2
    if any(map(_is_value, names)) and not telling and not _is_numbered(names, rows):
        raise refuse(
            label,
            f"the first line holds values ({list_names(names[:4])}); add a line with the names of "
            "the columns above it.",
            skip + begin + 1,
        )
    above = [line.strip() for line in lines[: skip + begin] if not SEPARATOR.match(line)]
    told = tuple(line for text in above if (line := text.strip(f" {delimiter}")))
    return TextLayout(delimiter, _with_unnamed(names, rows), skip + begin, told)


def _find_header(text: str, delimiter: str) -> tuple[int, list[str], list[list[str]]]:
    """Return the lines above the header, the header, and the first rows below it.

    Lines above it, such as a title or the day of an export, fill fewer fields than rows do.  The
    first line is the header all the same where its names say who met whom.
    """
    places = _records_at(text, delimiter, LOOKED_AT)
    found = [(begin, record) for begin, record in places if any(cell.strip() for cell in record)]
    filled = [sum(bool(cell.strip()) for cell in record) for _, record in found]
    usual = max(set(filled), key=lambda n: (filled.count(n), n)) if filled else 0
    names = [plain(name) for name in found[0][1]] if found else []
    first = 0
    if usual > 1 and not name_pairs(names, MARKERS, WINNERS):
        first = next(k for k, n in enumerate(filled) if n >= FULL * usual)
    if not found:
        return 0, [""], []
    records = [record for _, record in found]
    header, rows = tuple(cell.strip() for cell in records[first]), records[first + 1 :]
    if first and any(map(_is_value, header)) and not _is_numbered(header, rows):
        return found[0][0], records[0], records[1:]  # that is a row, not a header
    return found[first][0], records[first], rows


def _with_unnamed(names: tuple[str, ...], rows: list[list[str]]) -> tuple[str, ...]:
    """Return the names with one more where each row has a field that no name stands above.

    R writes names or numbers of rows before the first column, others a delimiter at the end.
    """
    if len(rows) < 2 or any(len(row) != len(names) + 1 for row in rows):
        return names
    if not any(row[-1].strip() for row in rows):
        return (*names, "")
    return ("", *names) if len({row[0].strip() for row in rows}) == len(rows) else names


def _agreement(text: str, delimiter: str, most: int, *, below: bool = False) -> tuple[float, int]:
    """Return how far the first records agree on a number of columns, and that number.

    It is that of the header, or that of most rows `below` whatever stands above them.
    """
    sizes = [len(record) for record in _records(text, delimiter, most) if record]
    several = [n for n in sizes if n > 1] if below else sizes[:1]
    usual = max(set(several), key=several.count, default=0)
    return (sizes.count(usual) / len(sizes), usual) if usual > 1 else (0.0, 0)


def _records(text: str, delimiter: str, most: int) -> list[list[str]]:
    return [record for _, record in _records_at(text, delimiter, most)] or [[""]]


def _records_at(text: str, delimiter: str, most: int) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[tuple[int, list[str]]] = []
    begin = 0
    try:
        for record in reader:
            records.append((begin, record))
            begin = reader.line_num
            if len(records) == most:
                break
    except csv.Error:
        pass
    return records


def _is_numbered(names: tuple[str, ...], rows: list[list[str]]) -> bool:
    """Return whether columns are called by years, or 1, 2, ...: as many as rows, or no numbers."""
    n, begin = numbered_headers(names)
    years = [i for i, name in enumerate(names) if YEAR.fullmatch(name)]
    called = years or range(begin, begin + n)
    below = [row[i].strip() for row in rows for i in called if i < len(row)]
    fits = n == len(rows) or not any(map(YEAR.fullmatch if years else _is_value, below))
    return fits and 2 < len(called) == sum(map(_is_value, names)) < len(names)


def _is_value(name: str) -> bool:
    """Return whether a header's cell is a number or a date, so no name."""
    score = r"\d{1,3}\s?[-:–]\s?\d{1,3}|(1/2|½)-(1/2|½)"
    return bool(re.fullmatch(rf"[+-]?\d+([.,]\d+)?|\d{{4}}-\d\d?-\d\d?([T ].*)?|{score}", name))


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
BOMS = {  # the longer before the shorter: UTF-32 begins as UTF-16 does
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}


def wide_encoding(start: bytes) -> str | None:
    """Return the encoding of text that has more than one byte a letter, from its first bytes."""
    for encoding, marks in BOMS.items():
        if start.startswith(marks):
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
                out.write(decoder.decode(piece).translate(UNSEEN).encode(errors="surrogateescape"))
            out.write(decoder.decode(b"", final=True).encode(errors="surrogateescape"))
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


def without_top(source: Source, n_lines: int, place: Path) -> Source:
    """Return the source with its first lines blank."""
    with source.path.open("rb") as file, place.open("wb") as out:
        for _ in range(n_lines):
            file.readline()
        out.write(b"\n" * n_lines)
        shutil.copyfileobj(file, out, CHUNK)
    return Source(place, source.label)


RULE = re.compile(r"[\s|+:=-]*--[\s|+:=-]*")  # a line between header and rows


def is_drawn(head: str) -> bool:
    """Return whether a table is drawn with bars and lines, as in Markdown or by a database."""
    lines = [line for line in head.splitlines() if line.strip()][:3]
    ruled = any(RULE.fullmatch(line) for line in lines[:2])
    return ruled and any("|" in line for line in lines if not RULE.fullmatch(line))


def is_spaced(head: str) -> bool:
    """Return whether columns are separated by white space of any width, as R prints tables.

    There is one name for each field, or for each but the names of the rows.
    """
    lines = [line for line in head.splitlines()[:LOOKED_AT] if line.strip() and line[0] != "#"]
    others = any(_agreement(head, sign, LOOKED_AT)[0] == 1.0 for sign in DELIMITERS)
    if others or len(lines) < 3 or any(s in line for line in lines for s in ",;|"):
        return False
    named, *sizes = (len(_spaced(line)) for line in lines)
    return len({*sizes}) == 1 and max(named, 2) <= sizes[0] <= named + 1


def _spaced(line: str) -> list[str]:
    """Return the fields of a line between white space, some perhaps in quotation marks."""
    bare = "" if line.startswith("#") else line.strip().replace("\t", " ")
    return [c.strip() for c in next(csv.reader([bare], delimiter=" ", skipinitialspace=True), [])]


def _drawn(line: str) -> list[str]:
    """Return the fields of a line between bars."""
    bare = "" if RULE.fullmatch(line) else re.sub(r"^\||\|$", "", line.strip())
    return [cell.strip() for cell in bare.split("|")]


def laid_out(source: Source, fields: Callable[[str], list[str]], place: Path) -> Source:
    """Return a table as text separated by bars, each line where it was."""
    with (
        source.path.open("r", encoding="utf-8-sig", errors="replace") as file,
        place.open("w", encoding="utf-8") as out,
    ):
        out.writelines("|".join(fields(line.rstrip("\n"))) + "\n" for line in file)
    return Source(place, source.label)


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Take bytes that Windows leaves open as Latin-1 does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("intransit-latin-1", _as_latin_1)
LENIENT = {"cp1252": "intransit-latin-1", "utf-8": "surrogateescape"}
UNSEEN = {0xA0: " ", 0x202F: " ", **dict.fromkeys((0x200B, 0x200E, 0x200F))}  # spaces and marks


def copy(packed: IO[bytes], place: Path) -> None:
    """Copy a stream to its end."""
    with place.open("wb") as plain:
        shutil.copyfileobj(packed, plain, CHUNK)


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
        raise refuse(source.label, NO_ROOM.format(error.strerror)) from error
    return Source(place, source.label)


def take_text(source: Source, head: str, engine: Engine) -> EngineTable:
    """Return separated text as a table."""
    if is_drawn(head) or is_spaced(head):
        source = laid_out(source, _drawn if is_drawn(head) else _spaced, engine.fresh("plain"))
        head = first_bytes(source).decode("utf-8", "replace")
    if head.translate(UNSEEN) != head:  # nobody sees that two names differ by these
        source = to_utf_8(source, "utf-8", engine.fresh("seen"))
        head = first_bytes(source).decode("utf-8", "replace")
    layout = lay_out(source.label, head)
    notes: list[str] = []
    if layout.above:
        several = f"{plural(len(layout.above), 'line')} above the header"
        notes.append(f"{several} not used: {list_names(layout.above, most=3)}")
    if any('"' in line for line in layout.above):  # an engine skips records, and not lines
        source = without_top(source, layout.skip, engine.fresh("below"))
    parse = partial(_parse, layout=layout, engine=engine)
    given, (source, stored) = source, with_lines_alike(source, parse, engine)
    if source is not given:
        notes.append("the lines of the file end in several ways; all were taken as ends of lines")
    ((refused, broken),) = engine.ask(
        "SELECT count(*), count(*) FILTER (WHERE error_type = 'INVALID ENCODING') "
        "FROM reject_errors"
    )
    wide = " OR ".join(f"strlen(c{i}) <> length(c{i})" for i in range(len(layout.names)))
    if broken and not engine.ask(f"SELECT count(*) FROM {stored} WHERE {wide}")[0][0]:
        notes.append(
            "the file is not UTF-8 and was read as Windows-1252, which is Latin-1 with more signs; "
            "check names with accents"
        )
        source = to_utf_8(source, "cp1252", engine.fresh("utf-8"))
        source, stored = with_lines_alike(source, parse, engine)
    places = _refused(source, layout, engine) if refused else {}
    path, n = source.path, len(layout.names)

    def locate(rows: set[int]) -> dict[int, int]:
        everything = {place for group in places.values() for place in group}
        return physical_lines(path, layout, rows, everything)

    lines = locate(set())
    rejected = tuple(
        Unused(reason, len(group), tuple(lines.get(-place, place) for place in group[:SHOWN]))
        for reason, group in places.items()
    )
    row = "file_row_number" if NUMBERED in stored else "rowid"
    return EngineTable(
        engine,
        layout.names,
        ("VARCHAR",) * n,
        f"(SELECT {columns_sql(n)}, {row} + 1 AS row FROM {stored})",
        unit="line",
        locate=locate,
        rejected=rejected,
        decimal_comma=_has_decimal_comma(head, layout),
        notes=tuple(notes),
    )


def _has_decimal_comma(head: str, layout: TextLayout) -> bool:
    """Return whether numbers are written as 1,5 and 1.500, by those among the first rows.

    Where 1.500 is the only kind, a table separated by semicolons is taken to be of that kind.
    """
    if layout.delimiter == ",":
        return False
    text = "".join(head.splitlines(keepends=True)[layout.skip + 1 :])
    cells = [c.strip() for row in _records(text, layout.delimiter, LOOKED_AT) for c in row]
    commas = sum(bool(re.fullmatch(r"[+-]?\d+,\d+", cell)) for cell in cells)
    points = sum(bool(re.fullmatch(r"[+-]?\d*\.(?!\d{3}$)\d+", cell)) for cell in cells)
    return commas >= points if commas or points else layout.delimiter == ";"


def with_lines_alike(
    source: Source, parse: Callable[[Path], str], engine: Engine
) -> tuple[Source, str]:
    """Parse a file, and return which; where its lines end in several ways, one made of it."""
    try:
        return source, parse(source.path)
    except InputError as error:
        if "state machine" not in str(error):  # so DuckDB says that it cannot tell lines apart
            raise
    source = with_plain_lines(source, engine.fresh("lines"))
    return source, parse(source.path)


def _parse(path: Path, layout: TextLayout, engine: Engine) -> str:
    """Parse the file, refused rows into `reject_errors`; return the SQL for it.

    Small files are parsed into a table, others into Parquet.
    """
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.names)))
    engine.forget_rejects()
    store = engine.store if engine.small else engine.store_as_parquet
    return store(
        f"FROM read_csv({located(path)}, columns = {{{columns}}}, "
        f"delim = {quote(layout.delimiter)}, quote = '\"', escape = '\"', header = true, "
        f"skip = {layout.skip}, auto_detect = false, store_rejects = true, "
        "compression = 'none', max_line_size = 16777216)"
    )


def _refused(source: Source, layout: TextLayout, engine: Engine) -> dict[str, list[int]]:
    """Return the places of the rows that could not be parsed, by reason."""
    places: dict[str, list[int]] = {}
    errors = engine.ask(
        "SELECT DISTINCT ON (line) line, error_type::VARCHAR, error_message, csv_line "
        "FROM reject_errors ORDER BY line"
    )
    for place, kind, message, text in errors:
        if kind == "UNQUOTED VALUE" and "\n" in text.strip():
            found = "a quotation mark is opened here and never closed; close or remove it."
            raise refuse(source.label, f"{found} The record begins {shorten(text)!r}.", place)
        places.setdefault(_why(kind, message, len(layout.names)), []).append(place)
    return places


def _why(kind: str, message: str, n_names: int) -> str:
    if kind in {"MISSING COLUMNS", "TOO MANY COLUMNS"}:
        numbers = [int(part) for part in message.split() if part.isdigit()]
        found = numbers[1] if len(numbers) > 1 else 0
        return f"{plural(found, 'field')} instead of {n_names}"
    reasons = {
        "UNQUOTED VALUE": "text follows a closing quotation mark",
        "LINE SIZE OVER MAXIMUM": "the line is longer than 16 MB",
        "INVALID ENCODING": "the text is not UTF-8",
    }
    return reasons.get(kind, shorten(message))
