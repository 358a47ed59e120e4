"""Any source as one table that can be asked many times: columns c0, c1, ... and row numbers.

Text is parsed once, into a Parquet file in the scratch folder; Parquet files and data frames are
asked where they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from intransit.errors import InputError
from intransit.tables.engine import Engine, quote
from intransit.tables.files import (
    FileKind,
    Layout,
    lay_out,
    lines_of,
    located,
    look_at,
    physical_lines,
    refuse,
    shorten,
)
from intransit.tables.reading import Unused, plural

SHOWN = 20  # line numbers kept for each reason
Locate = Callable[[set[int]], dict[int, int]]


@dataclass(frozen=True)
class Table:
    """A table inside the engine."""

    engine: Engine
    names: tuple[str, ...]  # as the user wrote them
    types: tuple[str, ...]  # DuckDB's
    rows: str  # SQL: FROM this come c0, c1, ...
    numbered: str  # SQL: the same with `row`, counted from 1 in the order of the source
    unit: Literal["line", "row"] = "row"
    locate: Locate | None = None  # rows to lines of the file
    rejected: tuple[Unused, ...] = ()  # rows that are no rows: wrong number of columns, ...
    decimal_comma: bool = False
    notes: tuple[str, ...] = ()

    def lines(self, rows: set[int]) -> dict[int, int]:
        """Return where rows stand, as the user counts."""
        return self.locate(rows) if self.locate else {row: row for row in rows}


def take_in(source: object, engine: Engine) -> Table:
    """Return the source as a table, or refuse it with a sentence."""
    if isinstance(source, str | Path):
        path = Path(source)
        kind = look_at(path, engine)
        if kind.form == "parquet":
            return _stored(engine, f"read_parquet({located(path)}, file_row_number = true)")
        take = _take_json if kind.form == "json" else _take_text
        return take(path, kind, engine)
    if type(source).__name__ == "DuckDBPyRelation":
        # A relation belongs to another connection: it writes itself out, in batches.
        stored = engine.folder / "relation.parquet"
        engine.attempt(lambda: source.write_parquet(str(stored)))  # type: ignore[attr-defined]
        return _stored(engine, f"read_parquet({located(stored)}, file_row_number = true)")
    return _registered(source, engine)


def _stored(engine: Engine, parquet: str, **more: Any) -> Table:
    described = engine.ask(f"DESCRIBE SELECT * EXCLUDE (file_row_number) FROM {parquet}")
    names = tuple(str(name) for name, *_ in described)
    columns = ", ".join(f"c{i}" for i in range(len(names)))
    both = f"(SELECT * FROM {parquet} AS t({columns}, file_row_number))"
    settings: dict[str, Any] = {"names": names} | more
    return Table(
        engine,
        types=tuple(str(kind) for _, kind, *_ in described),
        rows=f"(SELECT {columns} FROM {both})",
        numbered=f"(SELECT {columns}, file_row_number + 1 AS row FROM {both})",
        **settings,
    )


def _registered(source: object, engine: Engine) -> Table:
    import duckdb  # noqa: PLC0415

    if hasattr(source, "read_all"):  # a stream can be read only once
        source = source.read_all()
    try:
        engine.con.register("given", source)
    except (duckdb.Error, TypeError):
        engine.con.register("given", _as_arrow(source))
    described = engine.ask("DESCRIBE given")
    names = [str(name) for name, *_ in described]
    field = "column_names" if hasattr(source, "column_names") else "columns"
    own = None if type(source).__name__ == "LazyFrame" else getattr(source, field, None)
    if own is not None and len(own) == len(names):  # DuckDB renames what differs only by case
        names = [str(name) for name in own]
    columns = ", ".join(f"c{i}" for i in range(len(names)))
    return Table(
        engine,
        names=tuple(names),
        types=tuple(str(kind) for _, kind, *_ in described),
        rows=f"(SELECT * FROM given AS t({columns}))",
        numbered=f"(SELECT *, row_number() OVER () AS row FROM given AS t({columns}))",
    )


def _as_arrow(source: object) -> object:
    """Return a data frame that only narwhals knows as an arrow table."""
    import narwhals as nw  # noqa: PLC0415

    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return frame.to_arrow()
    except (TypeError, AttributeError) as error:
        raise InputError(
            f"source: a {type(source).__name__} was given; give a path to a CSV, JSON lines or "
            "Parquet file, or a pandas, polars, arrow or duckdb table."
        ) from error


def _take_json(path: Path, kind: FileKind, engine: Engine) -> Table:
    stored = engine.folder / "lines.parquet"
    lines = lines_of(path, kind.compression)
    engine.run(
        f"COPY (SELECT *, json_valid(line) AND json_type(CASE WHEN json_valid(line) THEN line END)"
        f" = 'OBJECT' AS fine FROM {lines}) TO {quote(str(stored))} (FORMAT parquet)"
    )
    for (line,) in engine.ask("SELECT line FROM reject_errors ORDER BY line LIMIT 1"):
        raise refuse(path, "this is not UTF-8 text; JSON lines must be.", line)
    parquet = f"read_parquet({located(stored)}, file_row_number = true)"
    bad = engine.ask(
        f"SELECT count(*), min(file_row_number + 1, {SHOWN}) FROM {parquet} "
        "WHERE line IS NOT NULL AND trim(line) <> '' AND NOT fine"
    )[0]
    keys = engine.ask(
        f"SELECT key, min(place) FROM (SELECT unnest(json_keys(line)) AS key, "
        f"unnest(range(len(json_keys(line)))) AS place FROM {parquet} WHERE fine) "
        "GROUP BY key ORDER BY 2, 1"
    )
    if not keys:
        raise refuse(path, "no line is a JSON object; write one object a line (JSON lines).")
    names = tuple(str(key) for key, _ in keys)
    pointers = ["/" + name.replace("~", "~0").replace("/", "~1") for name in names]
    wanted = ", ".join(quote(pointer) for pointer in pointers)
    columns = ", ".join(f"found[{i + 1}] AS c{i}" for i in range(len(names)))
    rows = (
        f"SELECT {columns}, row FROM (SELECT json_extract_string(line, [{wanted}]) AS found, "
        f"file_row_number + 1 AS row FROM {parquet} WHERE fine)"
    )
    reason = "the line is not a JSON object"
    rejected = (Unused(reason, bad[0], tuple(bad[1])),) if bad[0] else ()
    return Table(
        engine,
        names=names,
        types=("VARCHAR",) * len(names),
        rows=f"(SELECT * EXCLUDE (row) FROM ({rows}))",
        numbered=f"({rows})",
        unit="line",
        rejected=rejected,
    )


def _take_text(path: Path, kind: FileKind, engine: Engine) -> Table:
    layout = lay_out(path, kind.head)
    encoding: str = kind.encoding
    notes: tuple[str, ...] = ()
    parquet = _parse(path, kind, layout, encoding, engine)
    broken = engine.ask("SELECT count(*) FROM reject_errors WHERE error_type = 'INVALID ENCODING'")
    if broken[0][0] and not _beyond_ascii(parquet, layout, engine):
        encoding = "latin-1"
        notes = ("the file is not UTF-8 and was read as Latin-1; check names with accents",)
        parquet = _parse(path, kind, layout, encoding, engine)
    places = _refused(path, engine)

    def locate(rows: set[int]) -> dict[int, int]:
        everything = {place for group in places.values() for place in group}
        return physical_lines(path, kind, layout, encoding, rows, everything)

    lines = locate(set()) if kind.compression != "zstd" else {}
    rejected = tuple(
        Unused(reason, len(group), tuple(lines.get(-place, place) for place in group[:SHOWN]))
        for reason, group in places.items()
    )
    return _stored(
        engine,
        parquet,
        names=layout.names,
        unit="line",
        locate=locate,
        rejected=rejected,
        decimal_comma=layout.delimiter != ",",
        notes=notes,
    )


def _parse(path: Path, kind: FileKind, layout: Layout, encoding: str, engine: Engine) -> str:
    """Parse the file into Parquet, refused rows into `reject_errors`; return the SQL for it."""
    stored = engine.folder / "text.parquet"
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.names)))
    engine.run("DROP TABLE IF EXISTS reject_errors")
    engine.run("DROP TABLE IF EXISTS reject_scans")
    engine.run(
        f"COPY (FROM read_csv({located(path)}, columns = {{{columns}}}, "
        f"delim = {quote(layout.delimiter)}, quote = '\"', escape = '\"', header = true, "
        f"skip = {layout.skip}, auto_detect = false, store_rejects = true, "
        f"compression = '{kind.compression}', encoding = '{encoding}', "
        f"max_line_size = 16777216)) TO {quote(str(stored))} (FORMAT parquet)"
    )
    return f"read_parquet({located(stored)}, file_row_number = true)"


def _beyond_ascii(parquet: str, layout: Layout, engine: Engine) -> bool:
    """Return whether letters beyond ASCII were read well, so that the file is UTF-8 after all."""
    wide = " OR ".join(f"strlen(c{i}) <> length(c{i})" for i in range(len(layout.names)))
    return bool(engine.ask(f"SELECT count(*) FROM {parquet} WHERE {wide}")[0][0])


def _refused(path: Path, engine: Engine) -> dict[str, list[int]]:
    """Return the places of the rows that could not be parsed, by reason."""
    places: dict[str, list[int]] = {}
    errors = engine.ask(
        "SELECT DISTINCT ON (line) line, error_type::VARCHAR, error_message, csv_line "
        "FROM reject_errors ORDER BY line"
    )
    for place, kind, message, text in errors:
        if kind == "UNQUOTED VALUE" and "\n" in text.strip():
            found = "a quotation mark is opened here and never closed; close or remove it."
            raise refuse(path, f"{found} The record begins {shorten(text)!r}.", place)
        places.setdefault(_why(kind, message), []).append(place)
    return places


def _why(kind: str, message: str) -> str:
    if kind in {"MISSING COLUMNS", "TOO MANY COLUMNS"}:
        expected, found = (int(part) for part in message.split() if part.isdigit())
        return f"{plural(found, 'field')} instead of {expected}"
    reasons = {
        "UNQUOTED VALUE": "text follows a closing quotation mark",
        "LINE SIZE OVER MAXIMUM": "the line is longer than 16 MB",
        "INVALID ENCODING": "the text is not UTF-8",
    }
    return reasons.get(kind, shorten(message))
