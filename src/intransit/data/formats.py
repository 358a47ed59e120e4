"""What is more than separated text: compressed files, chess games, JSON and nested columns.

Engines that read compressed text as it comes take half of a file for the whole of it; so every file
is unpacked first, into the scratch folder, and one that is damaged or cut short is refused.  What
JSON objects hold is found in one pass, and taken out in another, as one record a row.

What is nested is laid flat.  A record's fields get names such as ``winner.name``.  Of lists that
are all of one length, such as the two players of a game, the parts are numbered, ``players.name.1``
and on; names in lists of several lengths are joined, sorted, into one item a list.
"""

import bz2
import csv
import gzip
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from intransit.data import files
from intransit.data.engine import (
    DAMAGED,
    NO_ROOM,
    SHOWN,
    Engine,
    EngineTable,
    joined_sql,
    located,
    quote,
    refuse,
)
from intransit.data.reading import Unused
from intransit.errors import InputError

TAG = re.compile(r'\[([A-Za-z]\w*)\s+"((?:[^"\\]|\\.)*)"\]\s*$')
UNKNOWN = re.compile(r"[?.]*")  # what PGN writes for what is not known


def take_pgn(source: files.Source, engine: Engine) -> EngineTable:
    """Return chess games as a table of their tags."""
    place = engine.fresh("games.csv")
    names: dict[str, None] = {}
    for game in _games(source):
        names |= dict.fromkeys(game)
    wanted = ("White", "Black", "Result")
    missing = [name for name in wanted if name not in names]
    if missing:
        raise refuse(source.label, f'no game has the tag "{missing[0]}"; PGN games need one.')
    date = "UTCDate" if "UTCDate" in names else "Date"
    kept = [name for name in names if name == date or not name.endswith(("Date", "Time"))]
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(kept)
        for game in _games(source):
            writer.writerow([game.get(name, "") for name in kept])
    with place.open("r", encoding="utf-8", newline="") as file:
        head = file.read(1 << 16)
    table = files.take_text(files.Source(place, source.label), head, engine)
    note = "chess games in PGN: rows are games, columns are tags; moves are not read"
    return replace(table, unit="row", locate=None, notes=(note, *table.notes))


def _games(source: files.Source) -> Iterator[dict[str, str]]:
    game: dict[str, str] = {}
    moves = False
    with source.path.open("r", encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            tag = TAG.match(line) if line.startswith("[") else None
            if tag is None:
                moves = moves or bool(line.strip())
                continue
            if game and (moves or tag[1] in game):
                yield game
                game = {}
            moves = False
            value = re.sub(r"\\(.)", r"\1", tag[2]).strip()
            value = value.replace(".??", ".01") if tag[1].endswith("Date") else value
            game[tag[1]] = "" if UNKNOWN.fullmatch(value) else value
    if game:
        yield game


DEEPEST = 6  # records within records that are laid flat
MOST_PARTS = 11  # of a list; longer ones are data and not members
Leaf = tuple[str, str, str]  # name, type and SQL of a column


def lay_flat(table: EngineTable) -> EngineTable:
    """Return the table without nested columns, as far as it goes."""
    engine, rows = table.engine, table.rows
    kinds = engine.attempt(lambda: engine.con.sql(f"FROM {rows}").types)
    leaves = [
        leaf
        for i, name in enumerate(table.names)
        for leaf in _leaves(table, name, kinds[i], f"c{i}", DEEPEST)
    ]
    listed = ", ".join(f"{sql} AS c{i}" for i, (*_, sql) in enumerate(leaves))
    return replace(
        table,
        names=tuple(name for name, *_ in leaves),
        types=tuple(kind for _, kind, _ in leaves),
        rows=f"(SELECT {listed}, row FROM {rows})",
    )


def _leaves(table: EngineTable, name: str, kind: Any, sql: str, depth: int) -> Iterator[Leaf]:
    """Yield the columns that a nested one is laid out in; parts of lists are numbered."""
    if kind.id == "struct" and depth:
        _, dot, number = name.rpartition(".")
        part = dot + number if dot and number.isdigit() else ""
        before = f"{name.removesuffix(part)}." if name else ""
        for field, inner in kind.children:
            at = f"struct_extract({sql}, {quote(field)})"
            yield from _leaves(table, f"{before}{field}{part}", inner, at, depth - 1)
    elif kind.id in {"list", "array"} and depth:
        inner, lengths = kind.children[0][1], f"min(len({sql})), max(len({sql}))"
        least, most = table.engine.ask(f"SELECT {lengths} FROM {table.rows}")[0]
        if least == most and 2 <= (most or 0) <= MOST_PARTS:
            for k in range(1, most + 1):
                yield from _leaves(table, f"{name}.{k}", inner, f"({sql})[{k}]", depth - 1)
        else:
            text = joined_sql(sql) if str(inner) == "VARCHAR" else f"({sql})::VARCHAR"
            yield name, "VARCHAR", text
    else:
        yield name, str(kind), sql


MOST_KEYS = 5_000  # columns; beyond, keys are data and not names


def take_json(source: files.Source, head: str, engine: Engine) -> EngineTable:
    """Return the objects of a JSON file as a table."""
    first = next((line for line in head.splitlines() if line.strip()), "").strip()
    is_array = head.lstrip().startswith("[")
    if not is_array and (_is_object(first) or not head.lstrip().startswith("{")):
        return _take_lines(source, engine)
    form = "array" if is_array else "unstructured"
    try:
        objects = engine.store_as_parquet(
            f"SELECT json::VARCHAR AS line FROM read_json_objects({located(source.path)}, "
            f"format = '{form}', compression = 'none', maximum_object_size = 268435456)"
        )
    except InputError as error:
        raise refuse(
            source.label,
            "the JSON is damaged or cut short; write it again, or as one object a line.",
        ) from error
    return _as_table(source, f"(SELECT line, file_row_number + 1 AS row FROM {objects})", engine)


def _is_object(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return text.endswith("}")  # longer than the head, or damaged: lines can be left out singly


def _take_lines(source: files.Source, engine: Engine) -> EngineTable:
    source, lines = files.with_lines_alike(source, partial(_store_lines, engine=engine), engine)
    for (line,) in engine.ask("SELECT line FROM reject_errors ORDER BY line LIMIT 1"):
        raise refuse(source.label, "this is not UTF-8 text; JSON lines must be.", line)
    n_bad, places = engine.ask(
        f"SELECT count(*), min(file_row_number + 1, {SHOWN}) FROM {lines} "
        "WHERE line IS NOT NULL AND trim(line) <> '' AND NOT fine"
    )[0]
    rows = f"(SELECT line, file_row_number + 1 AS row FROM {lines} WHERE fine)"
    reason = "the line is not a JSON object"
    rejected = (Unused(reason, n_bad, tuple(places)),) if n_bad else ()
    return replace(_as_table(source, rows, engine), unit="line", rejected=rejected)


def _store_lines(path: Path, engine: Engine) -> str:
    """Store the lines of a file as Parquet, with whether each is a JSON object."""
    engine.forget_rejects()
    return engine.store_as_parquet(
        "SELECT *, json_valid(line) AND json_type(CASE WHEN json_valid(line) THEN line END) = "
        f"'OBJECT' AS fine FROM {lines_of(path, 'none')}"
    )


def _as_table(source: files.Source, objects: str, engine: Engine) -> EngineTable:
    """Return objects (SQL with `line` and `row`) as a table, a column for whatever they hold."""
    held = _structure(objects, engine)
    single = engine.ask(f"SELECT count(*) FROM {objects}")[0][0] == 1
    if single and (rows := _of_pandas(held, objects, engine)):
        objects, held = rows, _structure(rows, engine)
    elif single and (place := _wrapped(held)):
        array = f"from_json(json_extract(line, [{quote(place)}])[1], '[\"JSON\"]')"
        inner = f"SELECT unnest({array}) AS part FROM {objects}"
        objects = f"(SELECT part::VARCHAR AS line, row_number() OVER () AS row FROM ({inner}))"
        held = _structure(objects, engine)
    if not isinstance(held, dict) or not held:
        found = "no line is a JSON object; write one object a line (JSON lines)."
        raise refuse(source.label, found)
    if len(held) > MOST_KEYS:
        found = f"its objects have {len(held):,} different keys; write the same few in each."
        raise refuse(source.label, found)
    alike = _alike(held)
    record = json.dumps(_in_text({k: v for k, v in held.items() if k not in alike}))
    cells = [f"json_transform(line, {quote(record)})"] if len(alike) < len(held) else []
    cells += [f"json_extract_string(line, {quote(_pointer(key))})" for key in alike]
    listed = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(cells))
    nested = engine.store(f"SELECT {listed}, row FROM {objects} ORDER BY row")
    names = (*[""] * (len(cells) - len(alike)), *alike)
    kinds = tuple(str(kind) for _, kind, *_ in engine.ask(f"DESCRIBE {nested}")[:-1])
    table = lay_flat(EngineTable(engine, names, kinds, nested))
    flat = engine.store_as_parquet(f"FROM {table.rows} ORDER BY row")
    engine.run(f"DROP TABLE {nested}")
    return replace(table, rows=f"(SELECT * EXCLUDE (file_row_number) FROM {flat})")


def _of_pandas(held: Any, objects: str, engine: Engine) -> str:
    """Return the rows of a data frame that was written as one object; empty if it is none.

    Columns with a value an index, rows by index, and names of columns beside lists of cells.
    """
    held = held if isinstance(held, dict) else {}
    split, inner = "columns" in held and isinstance(held.get("data"), list), list(held.values())
    alike = bool(inner) and all(isinstance(part, dict) and [*part] == [*inner[0]] for part in inner)
    by_column = alike and all(key.isdigit() for key in inner[0])
    if not split and not by_column and not (alike and all(map(str.isdigit, held))):
        return ""
    told = json.loads(engine.ask(f"SELECT line FROM {objects}")[0][0])
    if split:
        rows = [dict(zip(told["columns"], cells, strict=False)) for cells in told["data"]]
    elif by_column:
        rows = [{name: told[name].get(key) for name in told} for key in inner[0]]
    else:
        rows = list(told.values())
    lines = map(json.dumps, rows)
    kept = engine.store_lists("line VARCHAR, row BIGINT", lines, range(1, len(rows) + 1))
    return f"(SELECT * FROM {kept})"


def _structure(objects: str, engine: Engine) -> Any:
    """Return what objects hold: keys in the order in which they come, lists, and names of types."""
    found = engine.ask(
        "SELECT json_group_structure(line::JSON) FROM "
        f"(SELECT line FROM {objects} WHERE json_type(line) = 'OBJECT' ORDER BY row)"
    )[0][0]
    return json.loads(found or "null")


def _in_text(held: Any) -> Any:
    """Return a structure in which whatever is no object and no list is text."""
    if isinstance(held, dict) and not _alike(held):
        return {key: _in_text(inner) for key, inner in held.items()}
    return [_in_text(held[0])] if isinstance(held, list) else "VARCHAR"


def _alike(keys: dict[str, Any]) -> list[str]:
    """Return keys that differ by case only from one before, which a record cannot hold."""
    seen = {key.casefold(): key for key in reversed(keys)}
    return [key for key in keys if seen[key.casefold()] != key or not key]


def _wrapped(held: Any) -> str | None:
    """Return where the only list of objects is that an object wraps, also within others."""
    place = ""
    while isinstance(held, dict):
        lists = [k for k, v in held.items() if isinstance(v, list) and isinstance(v[0], dict)]
        opened = lists or [key for key, inner in held.items() if isinstance(inner, dict)]
        if len(opened) != 1:
            return None
        place += _pointer(opened[0])
        if lists:
            return place
        held = held[opened[0]]
    return None


def _pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")


def lines_of(path: Path, compression: str) -> str:
    """Return the SQL that reads a file line by line, blank lines as NULL."""
    return (
        f"read_csv({located(path)}, columns = {{'line': 'VARCHAR'}}, delim = chr(1), quote = '', "
        "escape = '', header = false, auto_detect = false, max_line_size = 16777216, "
        f"compression = '{compression}', store_rejects = true)"
    )


OPENERS: dict[str, Callable[[Path], Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}


def unpack(source: files.Source, engine: Engine) -> files.Source:
    """Return the source with its plain bytes, whatever it was compressed by."""
    kind = files.packing_of(source)
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
                files.copy(packed, plain)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile):
        raise refuse(source.label, DAMAGED) from None
    except NotImplementedError as error:  # of a kind of zip that Python does not know
        raise refuse(source.label, f"{error}; unpack it first.") from error
    except OSError as error:
        if error.errno is None:  # bz2 says so of damaged data
            raise refuse(source.label, DAMAGED) from None
        raise refuse(source.label, NO_ROOM.format(error.strerror)) from error
    return files.Source(plain, source.label)


def _unpack_zip(source: files.Source, place: Path) -> files.Source:
    with zipfile.ZipFile(source.path) as archive:
        members = [
            member
            for member in archive.infolist()
            if not member.is_dir() and not member.filename.startswith(("__MACOSX/", "."))
        ]
        names = {member.filename for member in members}
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise refuse(source.label, files.SPREADSHEET)
        if len(members) != 1:
            listed = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
            found = f"{len(members)} files ({listed})" if members else "no file"
            raise refuse(source.label, f"the archive holds {found}; give one table at a time.")
        if members[0].flag_bits & 1:
            raise refuse(source.label, "the archive is encrypted; unpack it first.")
        with archive.open(members[0]) as packed:
            files.copy(packed, place)
    return files.Source(place, source.label)


def _unpack_zstd(source: files.Source, plain: Path, engine: Engine) -> None:
    """Unpack by DuckDB, line by line: the standard library has no zstd before Python 3.14."""
    _check_zstd(source.path)
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
            files.copy(packed, plain)
    except zstd.ZstdError:
        raise EOFError from None
    return True


def _check_zstd(path: Path) -> None:
    """Raise EOFError unless frames and blocks of a zstd file end where the file ends (RFC 8878)."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            magic = _exactly(file, 4)
            if magic == files.ZSTD:
                _skip_frame(file)
            elif magic[1:] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50:  # a frame to skip
                file.seek(int.from_bytes(_exactly(file, 4), "little"), 1)
            else:
                raise EOFError
        if file.tell() > size:
            raise EOFError


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
