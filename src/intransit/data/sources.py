"""What the caller gives as a table: files, data frames, addresses, tables of other engines.

A file of separated text needs nothing but what is imported here.  What other tables need (`formats`
for compressed files, JSON and nested columns, `remote_tables` for whatever lies elsewhere) is
loaded when such a table comes.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from intransit.data.engine import Engine, EngineTable, located, parquet_sql, read_table, refuse
from intransit.data.files import (
    STANDARD_INPUT,
    Source,
    are_parquet,
    find_sources,
    first_bytes,
    is_partitioned,
    look_at,
    packing_of,
    take_text,
    to_utf_8,
    wide_encoding,
)
from intransit.data.reading import ROW_LIMITS, plural
from intransit.data.vocabulary import plain
from intransit.errors import InputError

SCHEME = re.compile(r"(?!file:)([A-Za-z][A-Za-z0-9+.\-]+)://")
ENGINES = {"dask", "ibis", "pyspark", "sqlframe"}  # libraries whose tables have no order of rows


def is_address(source: object) -> bool:
    """Return whether a source is an address such as ``postgres://...``, and no file."""
    return isinstance(source, str) and SCHEME.match(source) is not None


def shown_address(address: str) -> str:
    """Return an address as messages may call it: without user, password and signature."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    table = dict(parse_qsl(parts.query)).get("table")
    return f"{parts.scheme}://{host}{parts.path}" + (f"?table={table}" if table else "")


def stays_in_engine(source: object) -> bool:
    """Return whether a table belongs to an engine, in which its rows have no order."""
    return type(source).__module__.partition(".")[0] in ENGINES and hasattr(source, "columns")


def is_lazy(source: object) -> bool:
    """Return whether a table is a plan whose rows come in an order, when it is carried out."""
    return type(source).__name__ in {"LazyFrame", "DuckDBPyRelation"}


def label_of(source: object) -> str:
    """Return how messages call a source; never with a password."""
    if isinstance(source, str | Path):
        label = str(source)
        if label in {"-", "/dev/stdin"}:
            return STANDARD_INPUT
        return shown_address(label) if is_address(source) else label
    library = type(source).__module__.split(".")[0].lstrip("_")
    return f"{library} {type(source).__name__}"


def take_in(source: object, engine: Engine, most_whole: int = ROW_LIMITS.fetched) -> EngineTable:
    """Return the source as a table, or refuse it with a sentence.

    Tables of an engine stay there; lazy frames whose rows have an order do if they have more than
    `most_whole`.
    """
    if is_address(source):
        from intransit.data.remote_tables import connected, take_address  # noqa: PLC0415

        table = take_address(str(source), engine)
        if table is not None:
            return _laid_flat(table)
        source = connected(str(source), engine)
    if isinstance(source, str | Path):
        found = find_sources(source, engine)
        if (len(found) > 1 or Path(source).is_dir()) and are_parquet(found):
            return _laid_flat(_in_parts(found, engine))
        tables = [_take_file(part, engine) for part in found]
        return tables[0] if len(tables) == 1 else one_after_another(tables, found)
    streams = hasattr(source, "__next__") and not hasattr(source, "read_all")
    if streams or isinstance(source, type):
        raise InputError(f"{engine.label}: it is no table; give a file or a data frame.")
    stays = stays_in_engine(source)
    if is_lazy(source):
        from intransit.data.remote_tables import n_rows_of  # noqa: PLC0415

        stays = n_rows_of(source, engine) > most_whole
    if stays:
        from intransit.data.remote_tables import sampled  # noqa: PLC0415

        return sampled(source, engine)
    if type(source).__name__ == "DuckDBPyRelation":
        # A relation belongs to another connection: it writes itself out, in batches.
        place = engine.fresh("relation.parquet")
        engine.attempt(lambda: source.write_parquet(str(place)))  # type: ignore[attr-defined]
        return _laid_flat(read_table(engine, parquet_sql(place)))
    return _laid_flat(_registered(source, engine))


def _laid_flat(table: EngineTable) -> EngineTable:
    """Return the table without nested columns, which few tables have."""
    if not any(kind.startswith("STRUCT(") or kind.endswith("]") for kind in table.types):
        return table
    from intransit.data.formats import lay_flat  # noqa: PLC0415

    return lay_flat(table)


def _registered(source: object, engine: Engine) -> EngineTable:
    """Return a data frame as a table."""
    import duckdb  # noqa: PLC0415

    if hasattr(source, "read_all"):  # a stream can be read only once
        source = source.read_all()
    if hasattr(source, "to_frame") and not hasattr(source, "columns"):
        raise engine.refuse("it is one column; give a table with several.")
    if hasattr(source, "reset_index") and _names_columns(source):
        source = source.reset_index()  # a matrix whose rows are named by its index
    try:
        engine.con.register("given", source)
    except (duckdb.Error, TypeError, RuntimeError):
        from intransit.data.remote_tables import as_arrow  # noqa: PLC0415

        arrow = as_arrow(source)
        if not arrow.column_names:
            raise engine.refuse("there is no column; give a table with some.") from None
        engine.con.register("given", arrow)
    table = read_table(engine, "given")
    field = "column_names" if hasattr(source, "column_names") else "columns"
    own = None if type(source).__name__ == "LazyFrame" else getattr(source, field, None)
    if own is not None and len(own) == len(table.names):  # DuckDB renames those equal but for case
        table = replace(table, names=tuple(str(name) for name in own))
    return table


def _names_columns(frame: Any) -> bool:
    """Return whether the index of a data frame names its columns too, as that of a matrix does."""
    labels = {str(label) for label in frame.index[:10_000]}
    shared = labels & {str(column) for column in frame.columns}
    return len(shared) >= 2 and 2 * len(shared) >= len(labels)


def _in_parts(sources: Sequence[Source], engine: Engine) -> EngineTable:
    """Return the table in several Parquet files, folders such as ``year=2024`` as columns."""
    listed = ", ".join(located(source.path) for source in sources)
    hive = "true" if is_partitioned(sources) else "false"
    engine.run(
        f"CREATE TEMP VIEW parts AS FROM read_parquet([{listed}], hive_partitioning = {hive}, "
        "union_by_name = true)"
    )
    note = f"{plural(len(sources), 'Parquet file')}, in the order of their names"
    return read_table(engine, "parts", notes=(note,))


def one_after_another(tables: Sequence[EngineTable], sources: Sequence[Source]) -> EngineTable:
    """Return several tables with the same columns, in any order, as one."""
    first, where = tables[0], sources[0].label
    keys = [plain(name) for name in first.names]
    rows, begin, rejected = [], 0, []
    for table, source in zip(tables, sources, strict=True):
        own = [plain(name) for name in table.names]
        if sorted(own) != sorted(keys):
            missing = sorted(set(keys) ^ set(own)) or own
            raise refuse(
                source.label,
                f'its columns are not those of {where} (they differ in "{missing[0]}"); files that '
                "are read together must have the same.",
            )
        columns = ", ".join(f"c{own.index(key)} AS c{i}" for i, key in enumerate(keys))
        rows.append(f"SELECT {columns}, row + {begin} AS row FROM {table.rows}")
        begin += int(first.engine.ask(f"SELECT count(*) FROM {table.rows}")[0][0])
        name = Path(source.label).name
        rejected += [replace(part, reason=f"{name}: {part.reason}") for part in table.rejected]
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    together = f"{plural(len(tables), 'file')}, in the order of their names; rows are counted on"
    return replace(
        first,
        rows=f"({' UNION ALL '.join(rows)})",
        unit="row",
        locate=None,
        rejected=tuple(rejected),
        notes=(together, *notes),
    )


def _take_file(source: Source, engine: Engine) -> EngineTable:
    """Return the table in one file, of whatever form it is."""
    if packing_of(source) is not None:
        from intransit.data.formats import unpack  # noqa: PLC0415

        source = unpack(source, engine)
    encoding = wide_encoding(first_bytes(source))
    if encoding is not None:
        source = to_utf_8(source, encoding, engine.fresh("utf-8"))
    form, head = look_at(source)
    if form == "text":
        return take_text(source, head, engine)
    if form == "parquet":
        return _laid_flat(read_table(engine, parquet_sql(source.path)))
    from intransit.data.formats import take_json, take_pgn  # noqa: PLC0415

    return take_pgn(source, engine) if form == "pgn" else take_json(source, head, engine)
