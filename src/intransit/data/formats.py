"""Separated text, chess games, JSON and nested columns, each as a flat table.

*Separated text* is parsed once into Parquet, lines that are no rows set aside.

*Chess games* in PGN: one row a game, one column a tag (White, Black, Result, Date, ...), which say
who met whom and how it ended; the moves are not looked at.

*JSON*: objects by line, in an array or one after another.  Every object is parsed a fixed number of
times, so that the work grows with the bytes and not with the keys.

*What is nested*, in JSON, Parquet or a data frame, is laid flat.  A record's fields get names such
as ``winner.name``.  Of lists that are all of one length, such as the two players of a game or the
five of a team, the parts are numbered, ``players.name.1`` and on; in Parquet and data frames, names
in lists of several lengths are joined, sorted, into one item a list.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from intransit.data.engine import Engine, quote, refuse
from intransit.data.files import (
    Source,
    TextLayout,
    lay_out,
    lines_of,
    located,
    physical_lines,
    shorten,
    to_utf_8,
    with_plain_lines,
)
from intransit.data.intake import SHOWN, EngineTable, stored
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
    return stored(
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
    place = engine.fresh("text.parquet")
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.names)))
    engine.forget_rejects()
    engine.run(
        f"COPY (FROM read_csv({located(path)}, columns = {{{columns}}}, "
        f"delim = {quote(layout.delimiter)}, quote = '\"', escape = '\"', header = true, "
        f"skip = {layout.skip}, auto_detect = false, store_rejects = true, "
        f"compression = 'none', max_line_size = 16777216)) TO {quote(str(place))} (FORMAT parquet)"
    )
    return f"read_parquet({located(place)}, file_row_number = true)"


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


def lay_flat(table: EngineTable) -> EngineTable:
    """Return the table without nested columns, as far as it goes."""
    for _ in range(DEEPEST):
        if not any(_is_record(kind) or _is_list(kind) for kind in table.types):
            break
        table = _one_level(table)
    return table


def numbered(name: str) -> tuple[str, str]:
    """Return a name without the number of its part, and that number with its dot."""
    base, dot, number = name.rpartition(".")
    return (base, dot + number) if dot and number.isdigit() else (name, "")


def _is_record(kind: str) -> bool:
    return kind.startswith("STRUCT(") and kind.endswith(")")


def _is_list(kind: str) -> bool:
    return kind.endswith("]")


def _one_level(table: EngineTable) -> EngineTable:
    names: list[str] = []
    types: list[str] = []
    cells: list[str] = []
    for i, (name, kind) in enumerate(zip(table.names, table.types, strict=True)):
        base, number = numbered(name)
        if _is_record(kind):
            fields = table.engine.ask(f"DESCRIBE SELECT c{i}.* FROM {table.rows}")
            names += [f"{base}.{field}{number}" for field, *_ in fields]
            types += [str(inner) for _, inner, *_ in fields]
            cells += [f"struct_extract(c{i}, {quote(str(field))})" for field, *_ in fields]
        elif _is_list(kind):
            inner, n = kind[: kind.rindex("[")], _length(table, i)
            if n is not None:
                names += [f"{name}.{k}" for k in range(1, n + 1)]
                types += [inner] * n
                cells += [f"c{i}[{k}]" for k in range(1, n + 1)]
            else:
                names.append(name)
                types.append("VARCHAR")
                cells.append(_joined(i) if inner == "VARCHAR" else f"c{i}::VARCHAR")
        else:
            names.append(name)
            types.append(kind)
            cells.append(f"c{i}")
    listed = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(cells))
    return replace(
        table,
        names=tuple(names),
        types=tuple(types),
        rows=f"(SELECT {listed} FROM {table.rows})",
        numbered=f"(SELECT {listed}, row FROM {table.numbered})",
    )


def _length(table: EngineTable, column: int) -> int | None:
    """Return the length of lists that are all of one, from 2 to 11; else None."""
    least, most = table.engine.ask(
        f"SELECT min(len(c{column})), max(len(c{column})) FROM {table.rows}"
    )[0]
    return int(least) if least == most and least and 2 <= least <= MOST_PARTS else None


def _joined(column: int) -> str:
    """SQL: the names of a list, sorted, as one text; empty where there is none."""
    kept = f"list_sort(list_filter(c{column}, lambda m: m IS NOT NULL))"
    return f"nullif(array_to_string({kept}, '{BETWEEN}'), '')"


MOST_KEYS = 5_000  # columns; beyond, keys are data and not names
NO_OBJECT = "no line is a JSON object; write one object a line (JSON lines)."


def take_json(source: Source, head: str, engine: Engine) -> EngineTable:
    """Return the objects of a JSON file as a table."""
    first = next((line for line in head.splitlines() if line.strip()), "").strip()
    by_line = not _is_array(head) and (_is_object(first) or not head.lstrip().startswith("{"))
    if by_line:
        return _take_lines(source, engine)
    kept = _objects(source, engine, "array" if _is_array(head) else "unstructured")
    kept = _unwrapped(kept, engine)
    table = _as_columns(source, kept, engine)
    return replace(table, unit="row")


def _is_array(head: str) -> bool:
    return head.lstrip().startswith("[")


def _is_object(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return text.endswith("}")  # longer than the head, or damaged: lines can be left out singly


def _take_lines(source: Source, engine: Engine) -> EngineTable:
    place = engine.fresh("lines.parquet")
    try:
        _store_lines(source, place, engine)
    except InputError as error:
        if "state machine" not in str(error):
            raise
        source = with_plain_lines(source, engine.fresh("lines"))  # they end in several ways
        _store_lines(source, place, engine)
    for (line,) in engine.ask("SELECT line FROM reject_errors ORDER BY line LIMIT 1"):
        raise refuse(source.label, "this is not UTF-8 text; JSON lines must be.", line)
    parquet = f"read_parquet({located(place)}, file_row_number = true)"
    bad = engine.ask(
        f"SELECT count(*), min(file_row_number + 1, {SHOWN}) FROM {parquet} "
        "WHERE line IS NOT NULL AND trim(line) <> '' AND NOT fine"
    )[0]
    kept = f"(SELECT line, file_row_number + 1 AS row FROM {parquet} WHERE fine)"
    table = _as_columns(source, _unwrapped(kept, engine), engine)
    reason = "the line is not a JSON object"
    rejected = (Unused(reason, bad[0], tuple(bad[1])),) if bad[0] else ()
    return replace(table, unit="line", rejected=rejected)


def _store_lines(source: Source, place: Path, engine: Engine) -> None:
    """Store the lines of a file as Parquet, with whether each is a JSON object."""
    lines = lines_of(source.path, "none")
    engine.forget_rejects()
    engine.run(
        f"COPY (SELECT *, json_valid(line) AND json_type(CASE WHEN json_valid(line) THEN line END)"
        f" = 'OBJECT' AS fine FROM {lines}) TO {quote(str(place))} (FORMAT parquet)"
    )


def _objects(source: Source, engine: Engine, form: str) -> str:
    """Return the SQL of the objects of an array, or of objects one after another."""
    place = engine.fresh("objects.parquet")
    try:
        engine.run(
            f"COPY (SELECT json::VARCHAR AS line FROM read_json_objects({located(source.path)}, "
            f"format = '{form}', compression = 'none', maximum_object_size = 268435456)) "
            f"TO {quote(str(place))} (FORMAT parquet)"
        )
    except InputError as error:
        raise refuse(
            source.label,
            "the JSON is damaged or cut short; write it again, or as one object a line.",
        ) from error
    parquet = f"read_parquet({located(place)}, file_row_number = true)"
    return f"(SELECT line, file_row_number + 1 AS row FROM {parquet})"


def _unwrapped(kept: str, engine: Engine) -> str:
    """Return the objects inside the one that wraps them, as in ``{"data": [{...}, ...]}``."""
    (count,) = engine.ask(f"SELECT count(*) FROM {kept}")[0]
    if count != 1:
        return kept
    keys = _keys(engine, f"SELECT line AS object FROM {kept} WHERE json_type(line) = 'OBJECT'")
    if not keys or len(keys) > MOST_KEYS:
        return kept
    place = _wrapped(engine, kept, [_pointer(key) for key in keys])
    if place is None:
        return kept
    array = f"json_extract(line, [{quote(place)}])[1]"
    return (
        f"(SELECT part::VARCHAR AS line, row_number() OVER () AS row FROM "
        f"(SELECT unnest(from_json({array}, '[\"JSON\"]')) AS part FROM {kept}))"
    )


def _wrapped(engine: Engine, kept: str, places: list[str]) -> str | None:
    """Return where the only list of objects is, also within objects, or None."""
    for _ in range(DEEPEST):
        asked = [*places, *(f"{place}/0" for place in places)]
        listed = ", ".join(quote(place) for place in asked)
        (kinds,) = engine.ask(f"SELECT json_type(line, [{listed}]) FROM {kept}")[0]
        kind = dict(zip(asked, kinds, strict=True))
        inside = [place for place in places if kind[f"{place}/0"] == "OBJECT"]
        if inside:
            return inside[0] if len(inside) == 1 else None
        opened = [place for place in places if kind[place] == "OBJECT"]
        if len(opened) != 1:
            return None
        held = f"SELECT json_extract(line, [{quote(opened[0])}])[1] AS object FROM {kept}"
        places = [opened[0] + _pointer(key) for key in _keys(engine, held)[:MOST_KEYS]]
        if not places:
            return None
    return None


def _pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _as_columns(source: Source, kept: str, engine: Engine) -> EngineTable:
    """Return objects (SQL with `line` and `row`) as a table, a column for every key."""
    place = engine.fresh("columns.parquet")
    keys = _keys(engine, f"SELECT line AS object FROM {kept} WHERE json_type(line) = 'OBJECT'")
    if not keys:
        raise refuse(source.label, NO_OBJECT)
    if len(keys) > MOST_KEYS:
        raise refuse(
            source.label,
            f"its objects have {len(keys):,} different keys; write the same few in each.",
        )
    cells = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(_extract("found", keys)))
    engine.run(
        f"COPY (SELECT {cells}, row FROM (SELECT {_parsed('line', keys)} AS found, line, row "
        f"FROM {kept}) ORDER BY row) TO {quote(str(place))} (FORMAT parquet)"
    )
    names, columns = list(keys), [f"c{i}" for i in range(len(keys))]
    rows = f"read_parquet({located(place)})"
    for _ in range(DEEPEST):
        deeper = _lay_flat(engine, rows, names, columns)
        if deeper is None:
            break
        rows, names, columns = deeper
    listed = ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))
    return EngineTable(
        engine,
        names=tuple(names),
        types=("VARCHAR",) * len(names),
        rows=f"(SELECT {listed} FROM {rows})",
        numbered=f"(SELECT {listed}, row FROM {rows})",
    )


def _keys(engine: Engine, objects: str) -> list[str]:
    """Return the keys of objects, those that stand first in them first."""
    found = engine.ask(
        "SELECT key, min(place) FROM (SELECT unnest(json_keys(object)) AS key, "
        f"unnest(range(len(json_keys(object)))) AS place FROM ({objects})) "
        "GROUP BY key ORDER BY 2, 1"
    )
    return [str(key) for key, _ in found]


def _parsed(text: str, keys: Sequence[str]) -> str:
    """SQL: an object taken apart in one go."""
    if _alike(keys):  # a structure cannot hold two names that differ by case only
        pointers = ", ".join(quote(_pointer(key)) for key in keys)
        return f"json_extract_string({text}, [{pointers}])"
    structure = json.dumps(dict.fromkeys(keys, "VARCHAR"), ensure_ascii=False)
    return f"json_transform({text}, {quote(structure)})"


def _extract(found: str, keys: Sequence[str]) -> list[str]:
    """SQL of each part of what `_parsed` gives."""
    if _alike(keys):
        return [f"{found}[{i + 1}]" for i in range(len(keys))]
    return [f"struct_extract({found}, {quote(key)})" for key in keys]


def _alike(keys: Sequence[str]) -> bool:
    return len({key.casefold() for key in keys}) < len(keys) or "" in keys


def _lay_flat(
    engine: Engine, rows: str, names: list[str], columns: list[str]
) -> tuple[str, list[str], list[str]] | None:
    """Return rows, names and columns with nested objects and lists taken apart, or None."""
    objects, lists = _nested(engine, rows, columns)
    if not objects and not lists:
        return None
    place = engine.fresh("flat.parquet")
    new_names: list[str] = []
    cells: list[str] = []
    taken_apart = ["*"]
    for name, column in zip(names, columns, strict=True):
        if column in objects:
            keys = _keys(engine, f"SELECT {column} AS object FROM {rows} WHERE {_is_open(column)}")
            parsed = f"CASE WHEN {_is_open(column)} THEN {_parsed(column, keys)} END"
            taken_apart.append(f"{parsed} AS {column}_found")
            base, number = numbered(name)
            new_names += [f"{base}.{key}{number}" for key in keys]
            cells += _extract(f"{column}_found", keys)
        elif column in lists:
            for k in range(1, lists[column] + 1):
                new_names.append(f"{name}.{k}")
                cells.append(
                    f"CASE WHEN json_valid({column}) THEN json_extract_string({column}, "
                    f"'/{k - 1}') END"
                )
        else:
            new_names.append(name)
            cells.append(column)
    listed = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(cells))
    engine.run(
        f"COPY (SELECT {listed}, row FROM (SELECT {', '.join(taken_apart)} FROM {rows}) "
        f"ORDER BY row) TO {quote(str(place))} (FORMAT parquet)"
    )
    return f"read_parquet({located(place)})", new_names, [f"c{i}" for i in range(len(cells))]


def _is_open(column: str) -> str:
    """SQL: whether a cell is an object."""
    return f"({column} LIKE '{{%' AND json_valid({column}))"


def _nested(engine: Engine, rows: str, columns: list[str]) -> tuple[set[str], dict[str, int]]:
    """Return the columns that mostly hold objects, and the length of arrays all of one length."""
    tests = [f"bool_or(starts_with({c}, '{{') OR starts_with({c}, '['))" for c in columns]
    opened = engine.ask_all(tests, rows)
    columns = [column for column, some in zip(columns, opened, strict=True) if some]
    if not columns:
        return set(), {}
    array = "CASE WHEN {0} LIKE '[%' AND json_valid({0}) THEN {0} END"
    length = f"json_array_length({array})"
    tests = []
    for column in columns:
        tests.append(f"count({column})")
        tests.append(f"count(*) FILTER (WHERE {_is_open(column)})")
        tests.append(f"count({length.format(column)})")
        tests.append(f"min({length.format(column)})")
        tests.append(f"max({length.format(column)})")
    counts = engine.ask(f"SELECT {', '.join(tests)} FROM {rows}")[0]
    objects, lists = set(), {}
    for k, column in enumerate(columns):
        filled, opened, arrays, least, most = counts[5 * k : 5 * k + 5]
        if opened and 2 * opened >= filled:
            objects.add(column)
        elif arrays and arrays == filled and least == most and 2 <= most <= MOST_PARTS:
            lists[column] = int(most)
    return objects, lists
