"""Separated text as a table: parsed once into Parquet, lines that are no rows set aside."""

from pathlib import Path

from intransit.errors import InputError
from intransit.tables.encodings import to_utf_8, with_plain_lines
from intransit.tables.engine import Engine, quote
from intransit.tables.files import Layout, Source, lay_out, located, physical_lines, refuse, shorten
from intransit.tables.intake import SHOWN, Table, stored
from intransit.tables.reading import Unused, plural


def take_text(source: Source, head: str, engine: Engine) -> Table:
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
    source: Source, layout: Layout, engine: Engine, notes: list[str]
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


def _parse(path: Path, layout: Layout, engine: Engine) -> str:
    """Parse the file into Parquet, refused rows into `reject_errors`; return the SQL for it."""
    place = engine.fresh("text.parquet")
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.names)))
    engine.run("DROP TABLE IF EXISTS reject_errors")
    engine.run("DROP TABLE IF EXISTS reject_scans")
    engine.run(
        f"COPY (FROM read_csv({located(path)}, columns = {{{columns}}}, "
        f"delim = {quote(layout.delimiter)}, quote = '\"', escape = '\"', header = true, "
        f"skip = {layout.skip}, auto_detect = false, store_rejects = true, "
        f"compression = 'none', max_line_size = 16777216)) TO {quote(str(place))} (FORMAT parquet)"
    )
    return f"read_parquet({located(place)}, file_row_number = true)"


def _beyond_ascii(parquet: str, layout: Layout, engine: Engine) -> bool:
    """Return whether letters beyond ASCII were read well, so that the file is UTF-8 after all."""
    wide = " OR ".join(f"strlen(c{i}) <> length(c{i})" for i in range(len(layout.names)))
    return bool(engine.ask(f"SELECT count(*) FROM {parquet} WHERE {wide}")[0][0])


def _refused(source: Source, layout: Layout, engine: Engine) -> dict[str, list[int]]:
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
