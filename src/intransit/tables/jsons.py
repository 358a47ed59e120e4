"""JSON as a table: objects by line, in an array or one after another; what is nested laid flat.

Keys of nested objects are joined by dots, as in ``winner.name``.  Of arrays that are all of one
length, such as the two players of a game, the parts are numbered: ``players.name.1``.  Every object
is parsed a fixed number of times, so that the work grows with the bytes and not with the keys.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from intransit.errors import InputError
from intransit.tables.encodings import with_plain_lines
from intransit.tables.engine import Engine, quote
from intransit.tables.files import Source, lines_of, located, refuse
from intransit.tables.intake import SHOWN, Table
from intransit.tables.nested import DEEPEST, MOST_PARTS, numbered
from intransit.tables.reading import Unused

MOST_KEYS = 5_000  # columns; beyond, keys are data and not names
NO_OBJECT = "no line is a JSON object; write one object a line (JSON lines)."


def take_json(source: Source, head: str, engine: Engine) -> Table:
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


def _take_lines(source: Source, engine: Engine) -> Table:
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
    engine.run("DROP TABLE IF EXISTS reject_errors")
    engine.run("DROP TABLE IF EXISTS reject_scans")
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


def _as_columns(source: Source, kept: str, engine: Engine) -> Table:
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
    return Table(
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
