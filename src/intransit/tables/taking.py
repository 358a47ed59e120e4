"""What the caller gives as a table in the engine: found, unpacked, decoded, parsed."""

from pathlib import Path

from intransit.errors import InputError
from intransit.tables.addresses import connected, is_address, shown_address, take_address
from intransit.tables.encodings import to_utf_8, wide_encoding
from intransit.tables.engine import Engine
from intransit.tables.files import EMPTY, Source, first_bytes, located, look_at, refuse
from intransit.tables.grouped import (
    MOST_WHOLE,
    framed,
    is_lazy,
    n_rows_of,
    sampled,
    stays_in_engine,
)
from intransit.tables.intake import Table, one_after_another, registered, stored, stored_in_parts
from intransit.tables.jsons import take_json
from intransit.tables.nested import lay_flat
from intransit.tables.pgn import take_pgn
from intransit.tables.places import STANDARD_INPUT, are_parquet, find_sources, is_partitioned
from intransit.tables.texts import take_text
from intransit.tables.unpacking import unpack


def label_of(source: object) -> str:
    """Return how messages call a source; never with a password."""
    if isinstance(source, str | Path):
        label = str(source)
        if label in {"-", "/dev/stdin"}:
            return STANDARD_INPUT
        return shown_address(label) if is_address(source) else label
    library = type(source).__module__.split(".")[0].lstrip("_")
    return f"{library} {type(source).__name__}"


def take_in(source: object, engine: Engine, most_whole: int = MOST_WHOLE) -> Table:
    """Return the source as a table, or refuse it with a sentence.

    Tables of an engine stay there; lazy frames whose rows have an order do if they have more than
    `most_whole`.
    """
    if is_address(source):
        table = take_address(str(source), engine)
        if table is not None:
            return lay_flat(table)
        source = connected(str(source), engine)
    if isinstance(source, str | Path):
        found = find_sources(source, engine)
        if (len(found) > 1 or Path(source).is_dir()) and are_parquet(found):
            return lay_flat(stored_in_parts(engine, found, partitioned=is_partitioned(found)))
        tables = [_take_file(part, engine) for part in found]
        return tables[0] if len(tables) == 1 else one_after_another(tables, found)
    streams = hasattr(source, "__next__") and not hasattr(source, "read_all")
    if streams or isinstance(source, type):
        raise InputError(f"{engine.label}: it is no table; give a file or a data frame.")
    if stays_in_engine(source) or (is_lazy(source) and n_rows_of(source, engine) > most_whole):
        return sampled(framed(source, engine))
    return _take_frame(source, engine)


def _take_frame(source: object, engine: Engine) -> Table:
    if type(source).__name__ == "DuckDBPyRelation":
        # A relation belongs to another connection: it writes itself out, in batches.
        place = engine.fresh("relation.parquet")
        engine.attempt(lambda: source.write_parquet(str(place)))  # type: ignore[attr-defined]
        return _flat_file(engine, place)
    return lay_flat(registered(source, engine))


def _flat_file(engine: Engine, path: Path) -> Table:
    return lay_flat(stored(engine, f"read_parquet({located(path)}, file_row_number = true)"))


def _take_file(source: Source, engine: Engine) -> Table:
    if not first_bytes(source).strip():
        raise refuse(source.label, EMPTY)
    source = unpack(source, engine)
    encoding = wide_encoding(first_bytes(source))
    if encoding is not None:
        source = to_utf_8(source, encoding, engine.fresh("utf-8"))
    kind = look_at(source)
    if kind.form == "parquet":
        return _flat_file(engine, source.path)
    if kind.form == "json":
        return take_json(source, kind.head, engine)
    if kind.form == "pgn":
        return take_pgn(source, engine)
    return take_text(source, kind.head, engine)
