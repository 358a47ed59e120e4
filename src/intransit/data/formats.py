"""Separated text, chess games, JSON and nested columns, each as a flat table.

*Separated text* is parsed once into Parquet, lines that are no rows set aside.

*Chess games* in PGN: one row a game, one column a tag (White, Black, Result, Date, ...), which say
who met whom and how it ended; the moves are not looked at.

*JSON*: objects by line, in an array or one after another.  What they hold is found in one pass, and
taken out in another, as one record a row.

*What is nested*, in JSON, Parquet or a data frame, is laid flat.  A record's fields get names such
as ``winner.name``.  Of lists that are all of one length, such as the two players of a game or the
five of a team, the parts are numbered, ``players.name.1`` and on; names in lists of several lengths
are joined, sorted, into one item a list.
"""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from intransit.data.engine import (
    SHOWN,
    Engine,
    EngineTable,
    located,
    quote,
    read_table,
    refuse,
)
from intransit.data.files import (
    Source,
    TextLayout,
    lay_out,
    lines_of,
    physical_lines,
    shorten,
    to_utf_8,
    with_plain_lines,
)
from intransit.data.reading import Unused, plural
from intransit.data.shapes import BETWEEN
from intransit.errors import InputError


def take_text(source: Source, head: str, engine: Engine) -> EngineTable:
    """Return separated text as a table."""
    layout = lay_out(source.label, head)
    notes: list[str] = []
    source, parquet = _parse_lines(source, layout, engine, notes)
    broken = engine.ask("SELECT count(*) FROM reject_errors WHERE error_type = 'INVALID ENCODING'")
    if broken[0][0] and not _beyond_ascii(parquet, layout, engine):
        notes.append(
            "the file is not UTF-8 and was read as Windows-1252, which is Latin-1 with more signs; "
            "check names with accents"
        )
        source = to_utf_8(source, "cp1252", engine.fresh("utf-8"))
        source, parquet = _parse_lines(source, layout, engine, notes)
    places = _refused(source, layout, engine)
    path = source.path

    def locate(rows: set[int]) -> dict[int, int]:
        everything = {place for group in places.values() for place in group}
        return physical_lines(path, layout, rows, everything)

    lines = locate(set())
    rejected = tuple(
        Unused(reason, len(group), tuple(lines.get(-place, place) for place in group[:SHOWN]))
        for reason, group in places.items()
    )
    return read_table(
        engine,
        parquet,
        names=layout.names,
        unit="line",
        locate=locate,
        rejected=rejected,
        decimal_comma=layout.delimiter != ",",
        notes=tuple(notes),
    )


def _parse_lines(
    source: Source, layout: TextLayout, engine: Engine, notes: list[str]
) -> tuple[Source, str]:
    """Parse the file; where its lines end in several ways, make that one way first."""
    try:
        return source, _parse(source.path, layout, engine)
    except InputError as error:
        if "state machine" not in str(error):
            raise
    notes.append("the lines of the file end in several ways; all were taken as ends of lines")
    source = with_plain_lines(source, engine.fresh("lines"))
    return source, _parse(source.path, layout, engine)


def _parse(path: Path, layout: TextLayout, engine: Engine) -> str:
    """Parse the file into Parquet, refused rows into `reject_errors`; return the SQL for it."""
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.names)))
    engine.forget_rejects()
    return engine.store_as_parquet(
        f"FROM read_csv({located(path)}, columns = {{{columns}}}, "
        f"delim = {quote(layout.delimiter)}, quote = '\"', escape = '\"', header = true, "
        f"skip = {layout.skip}, auto_detect = false, store_rejects = true, "
        "compression = 'none', max_line_size = 16777216)"
    )


def _beyond_ascii(parquet: str, layout: TextLayout, engine: Engine) -> bool:
    """Return whether letters beyond ASCII were read well, so that the file is UTF-8 after all."""
    wide = " OR ".join(f"strlen(c{i}) <> length(c{i})" for i in range(len(layout.names)))
    return bool(engine.ask(f"SELECT count(*) FROM {parquet} WHERE {wide}")[0][0])


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


TAG = re.compile(r'\[([A-Za-z]\w*)\s+"((?:[^"\\]|\\.)*)"\]\s*$')
UNKNOWN = re.compile(r"[?.]*")  # what PGN writes for what is not known


def take_pgn(source: Source, engine: Engine) -> EngineTable:
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
    table = take_text(Source(place, source.label), head, engine)
    note = "chess games in PGN: rows are games, columns are tags; moves are not read"
    return replace(table, unit="row", locate=None, notes=(note, *table.notes))


def _games(source: Source) -> Iterator[dict[str, str]]:
    """Yield the tags of one game after the other."""
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
    if not any(kind.startswith("STRUCT(") or kind.endswith("]") for kind in table.types):
        return table
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
            kept = f"list_sort(list_filter({sql}, lambda m: m IS NOT NULL))"
            joined = f"nullif(array_to_string({kept}, '{BETWEEN}'), '')"
            yield name, "VARCHAR", joined if str(inner) == "VARCHAR" else f"({sql})::VARCHAR"
    else:
        yield name, str(kind), sql


MOST_KEYS = 5_000  # columns; beyond, keys are data and not names


def take_json(source: Source, head: str, engine: Engine) -> EngineTable:
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


def _take_lines(source: Source, engine: Engine) -> EngineTable:
    try:
        lines = _store_lines(source, engine)
    except InputError as error:
        if "state machine" not in str(error):
            raise
        source = with_plain_lines(source, engine.fresh("lines"))  # they end in several ways
        lines = _store_lines(source, engine)
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


def _store_lines(source: Source, engine: Engine) -> str:
    """Store the lines of a file as Parquet, with whether each is a JSON object."""
    engine.forget_rejects()
    return engine.store_as_parquet(
        "SELECT *, json_valid(line) AND json_type(CASE WHEN json_valid(line) THEN line END) = "
        f"'OBJECT' AS fine FROM {lines_of(source.path, 'none')}"
    )


def _as_table(source: Source, objects: str, engine: Engine) -> EngineTable:
    """Return objects (SQL with `line` and `row`) as a table, a column for whatever they hold."""
    held = _structure(objects, engine)
    if engine.ask(f"SELECT count(*) FROM {objects}")[0][0] == 1 and (place := _wrapped(held)):
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
