"""What the caller gives as a table: files, frames, addresses, tables that stay where they are.

*Addresses* are of a database that Ibis knows, or of Parquet in object storage.

    postgres://user@host/league?table=games      duckdb://league.db?table=games
    s3://bucket/games/                           https://host/games.parquet

What an address says of passwords and signatures is never repeated in a message.

*Tables that stay where they are* are read by a sample and by counts of their distinct rows.  Which
columns matter is recognised in the sample.  Rows that are equal in these are judged alike, so the
engine adds them up first, in one query, and the distinct ones are judged here, each with the number
of rows that it stands for, by the query that judges every table.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from intransit.data.engine import (
    N_SAME,
    Engine,
    EngineTable,
    Grouping,
    columns_sql,
    located,
    parquet_sql,
    quote,
    read_table,
    refuse,
)
from intransit.data.facts import SAMPLE, Facts
from intransit.data.files import (
    EMPTY,
    STANDARD_INPUT,
    Source,
    are_parquet,
    find_sources,
    first_bytes,
    is_partitioned,
    look_at,
    to_utf_8,
    unpack,
    wide_encoding,
)
from intransit.data.formats import lay_flat, take_json, take_pgn, take_text
from intransit.data.reading import ROW_LIMITS, ReadOptions, plural
from intransit.data.roles import Roles
from intransit.data.shapes import Find, reshape
from intransit.data.vocabulary import plain
from intransit.errors import InputError, IntransitError, MissingDependencyError

SCHEME = re.compile(r"(?!file:)([A-Za-z][A-Za-z0-9+.\-]+)://")
WEB = {"http", "https"}
STORES = {*WEB, "s3", "s3a", "s3n", "gs", "gcs", "r2", "hf"}  # what DuckDB's httpfs reads
PARQUET = re.compile(r"\.(parquet|pq|parq)$|[*?\[]", re.IGNORECASE)
LISTED = 8  # tables of a database that are named where the one asked for is not there


def is_address(source: object) -> bool:
    """Return whether a source is an address such as ``postgres://...``, and no file."""
    return isinstance(source, str) and SCHEME.match(source) is not None


def shown_address(address: str) -> str:
    """Return an address as messages may call it: without user, password and signature."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    table = dict(parse_qsl(parts.query)).get("table")
    return f"{parts.scheme}://{host}{parts.path}" + (f"?table={table}" if table else "")


def take_address(address: str, engine: Engine) -> EngineTable | None:
    """Return the table at an address that the embedded engine reads itself, or None."""
    scheme = urlsplit(address).scheme.lower()
    if scheme == "duckdb":
        return _attached(address, engine)
    return _stored_elsewhere(address, engine) if scheme in STORES else None


def _stored_elsewhere(address: str, engine: Engine) -> EngineTable:
    """Return Parquet in object storage or on the web as a table, read where it is."""
    web, named = urlsplit(address).scheme.lower() in WEB, PARQUET.search(urlsplit(address).path)
    if web and not named:
        raise engine.refuse(
            "from the web only Parquet is read where it is, and its name must end in .parquet; "
            "fetch another file first, and give its path."
        )
    files = address if named else f"{address.rstrip('/')}/**/*.parquet"
    try:
        engine.run(
            f"CREATE TEMP VIEW parts AS FROM read_parquet({quote(files)}, union_by_name = true)"
        )
    except InputError as error:
        told = str(error.__cause__ or error)
        if "extension" in told and "httpfs" in told:
            raise engine.refuse(
                "reading from there needs DuckDB's extension httpfs, which is not installed and "
                "could not be fetched; run INSTALL httpfs in DuckDB where the web can be reached, "
                "or copy the files here and give their folder."
            ) from None
        told = _without_secrets(told.splitlines()[0], address).replace(files, engine.label)
        raise engine.refuse(
            f"it could not be read ({told}); check the address, and that DuckDB has a secret for "
            "it (CREATE PERSISTENT SECRET)."
        ) from None
    return read_table(engine, "parts")


def _attached(address: str, engine: Engine) -> EngineTable:
    """Return a table of another DuckDB database, which the embedded engine reads where it is."""
    label, parts = engine.label, urlsplit(address)
    name, file = _named_table(address, label), Path(unquote(parts.netloc + parts.path))
    if not file.is_file():
        raise engine.refuse("there is no such file; check the path.")
    schema, _, name = name.rpartition(".")
    engine.run(f"ATTACH {quote(str(file))} AS elsewhere (READ_ONLY)")
    found = engine.ask(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'elsewhere' AND "
        "table_schema = ?",
        [schema or "main"],
    )
    there = [str(other) for (other,) in found]
    if name not in there:
        raise _no_table(label, name, there)
    place = ".".join(
        '"{}"'.format(part.replace('"', '""')) for part in ("elsewhere", schema or "main", name)
    )
    engine.run(f"CREATE TEMP VIEW elsewhere_rows AS FROM {place}")
    return read_table(engine, "elsewhere_rows")


def connected(address: str, engine: Engine) -> Any:
    """Return a table of a database as Ibis has it; the connection ends with the engine."""
    label, parts = engine.label, urlsplit(address)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    name = _named_table(address, label)
    options.pop("table")
    try:
        import ibis  # noqa: PLC0415
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"{label}: addresses of databases need Ibis, which is not installed: pip install "
            "'intransit[engines]'."
        ) from None
    try:
        con = ibis.connect(urlunsplit(parts._replace(query=urlencode(options))))
        engine.after.callback(con.disconnect)
        schema, _, name = name.rpartition(".")
        try:
            return con.table(name, database=schema or None)
        except ibis.common.exceptions.TableNotFound:
            raise _no_table(label, name, con.list_tables(database=schema or None)) from None
    except IntransitError:
        raise
    except ImportError:
        raise MissingDependencyError(
            f"{label}: the driver of this engine is not installed: pip install "
            f"'ibis-framework[{parts.scheme.replace('postgresql', 'postgres')}]'."
        ) from None
    except Exception as error:  # whatever a driver raises: there is no common base
        told = _without_secrets(" ".join(str(error).split()), address)
        raise engine.refuse(
            f"it cannot be reached ({told[:300]}); check the address."
        ) from None  # the driver's own error may hold the password


def _named_table(address: str, label: str) -> str:
    """Return the table that an address names."""
    name = dict(parse_qsl(urlsplit(address).query)).get("table", "")
    if not name:
        raise refuse(
            label,
            "which table is meant is not said; end the address with ?table= and its name, as in "
            "postgres://user@host/league?table=games.",
        )
    return name


def _no_table(label: str, name: str, there: list[str]) -> InputError:
    listed = ", ".join(f'"{other}"' for other in sorted(there)[:LISTED]) or "none"
    more = ", ..." if len(there) > LISTED else ""
    return refuse(label, f'there is no table "{name}"; there are {listed}{more}.')


def _without_secrets(text: str, address: str) -> str:
    """Return a message without the password and the options of an address."""
    parts = urlsplit(address)
    secrets = {parts.password, unquote(parts.password or ""), parts.query, address}
    secrets |= {value for name, value in parse_qsl(parts.query) if name != "table"}
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "...")
    return text


ENGINES = {"dask", "ibis", "pyspark", "sqlframe"}  # libraries whose tables have no order of rows
Choose = Callable[[Facts, ReadOptions], Roles]


def stays_in_engine(source: object) -> bool:
    """Return whether a table belongs to an engine, in which its rows have no order."""
    return type(source).__module__.partition(".")[0] in ENGINES and hasattr(source, "columns")


def is_lazy(source: object) -> bool:
    """Return whether a table is a plan whose rows come in an order, when it is carried out."""
    return type(source).__name__ in {"LazyFrame", "DuckDBPyRelation"}


def sampled(source: object, engine: Engine) -> EngineTable:
    """Return a table that stays where it is: some rows of it, all columns that can be compared."""
    from intransit.data.lazy_rows import framed  # noqa: PLC0415

    origin = framed(source, engine)
    columns, name = columns_sql(len(origin.names)), origin.store_rows(SAMPLE)
    nested = [other for other in origin.frame.collect_schema() if other not in origin.names]
    notes = [f'"{other}" holds records or lists and is not looked at' for other in nested]
    rows = f"(SELECT {columns} FROM {name})"
    return replace(
        read_table(engine, rows, names=origin.names, notes=tuple(notes)),
        rows=rows,
        ordered=False,
        grouping=Grouping(name, origin),
    )


def embedded(table: EngineTable) -> EngineTable:
    """Return a table of the embedded engine as one whose rows are counted before anything else."""
    rows = f"SELECT * EXCLUDE (row), 1 AS {N_SAME} FROM {table.rows} LIMIT {SAMPLE}"
    return replace(table, grouping=Grouping(table.engine.store(rows), table.rows))


def settled(
    table: EngineTable,
    where: Mapping[int, object],
    options: ReadOptions,
    finders: Mapping[str, Find],
    choose: Choose,
    most_whole: int,
) -> tuple[Facts, Roles | None]:
    """Return what can be asked about a table that stays where it is, and its columns by role.

    Its equal rows are added up.  A table that has not one row a game is returned whole instead,
    without roles, or refused where it is large.
    """
    assert table.grouping is not None
    sample = _fetched(table, table.grouping.sample)
    looked = Facts(sample, where)
    looked = looked if looked.count()[0] else Facts(sample, {})
    if not looked.count()[0]:
        return looked, None
    if reshape(looked, options, finders) is not None:
        return Facts(whole(table, most_whole), where), None
    held = _columns_in_sample(choose, looked, options) | set(where)
    while True:
        facts = Facts(add_up_equal(table, held), where)
        facts.check_where()
        roles = choose(facts, options)
        if roles.taken() <= held:
            return facts, roles
        held |= roles.taken()


def with_column(facts: Facts, column: int) -> Facts:
    """Return the facts of rows that were compared in one more column."""
    grouping = facts.table.grouping
    if grouping is None or column in grouping.held:
        return facts
    return Facts(add_up_equal(facts.table, grouping.held | {column}), facts.where)


def add_up_equal(table: EngineTable, columns: set[int] | frozenset[int]) -> EngineTable:
    """Return the table with rows that are equal in these columns added up where they are."""
    assert table.grouping is not None
    engine, origin, listed = table.engine, table.grouping.origin, columns_sql(sorted(columns))
    name = (
        engine.store(f"SELECT {listed}, count(*) AS {N_SAME} FROM {origin} GROUP BY {listed}")
        if isinstance(origin, str)
        else origin.store_groups(sorted(columns))
    )
    grouping = replace(table.grouping, held=frozenset(columns))
    kinds = {str(column): str(kind) for column, kind, *_ in engine.ask(f"DESCRIBE {name}")}
    types = tuple(kinds.get(f"c{k}", kind) for k, kind in enumerate(table.types))
    return replace(table, types=types, rows=name, grouping=grouping)


def _fetched(table: EngineTable, name: str) -> EngineTable:
    """Return a table whose rows are in a table of the embedded engine."""
    rows = f"(SELECT {columns_sql(len(table.names))}, rowid + 1 AS row FROM {name})"
    return replace(table, rows=rows, ordered=True, grouping=None)


def _columns_in_sample(choose: Choose, sample: Facts, options: ReadOptions) -> set[int]:
    """Return the columns that play a role; an error says that only a sample was seen."""
    try:
        return choose(sample, options).taken()
    except InputError as error:
        n_seen = sample.count()[0]
        if n_seen < SAMPLE:
            raise
        raise InputError(
            f"{str(error).rstrip()} (Seen in {n_seen:,} rows of it.)", source=error.source
        ) from error


def whole(table: EngineTable, most: int = ROW_LIMITS.fetched) -> EngineTable:
    """Return the table with all its rows here, if they are not too many."""
    if table.grouping is None:
        return table
    origin = table.grouping.origin
    if isinstance(origin, str):
        return replace(table, rows=origin, grouping=None)
    n_rows = origin.n_rows()
    if n_rows > most:
        raise table.engine.refuse(
            f"a row of it is not one game, and of such tables at most {most:,} rows are fetched "
            f"(it has {n_rows:,}); select one row a game there, write the table to Parquet and "
            'read that, or say shape="games" (command line: --shape games) if a row is a game.'
        )
    return _fetched(table, origin.store_rows(n_rows))


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
        table = take_address(str(source), engine)
        if table is not None:
            return lay_flat(table)
        source = connected(str(source), engine)
    if isinstance(source, str | Path):
        found = find_sources(source, engine)
        if (len(found) > 1 or Path(source).is_dir()) and are_parquet(found):
            return lay_flat(_in_parts(found, engine))
        tables = [_take_file(part, engine) for part in found]
        return tables[0] if len(tables) == 1 else one_after_another(tables, found)
    streams = hasattr(source, "__next__") and not hasattr(source, "read_all")
    if streams or isinstance(source, type):
        raise InputError(f"{engine.label}: it is no table; give a file or a data frame.")
    stays = stays_in_engine(source)
    if is_lazy(source):
        from intransit.data.lazy_rows import n_rows_of  # noqa: PLC0415

        stays = n_rows_of(source, engine) > most_whole
    if stays:
        return sampled(source, engine)
    if type(source).__name__ == "DuckDBPyRelation":
        # A relation belongs to another connection: it writes itself out, in batches.
        place = engine.fresh("relation.parquet")
        engine.attempt(lambda: source.write_parquet(str(place)))  # type: ignore[attr-defined]
        return lay_flat(read_table(engine, parquet_sql(place)))
    return lay_flat(_registered(source, engine))


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
        from intransit.data.lazy_rows import as_arrow  # noqa: PLC0415

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
    if not first_bytes(source).strip():
        raise refuse(source.label, EMPTY)
    source = unpack(source, engine)
    encoding = wide_encoding(first_bytes(source))
    if encoding is not None:
        source = to_utf_8(source, encoding, engine.fresh("utf-8"))
    form, head = look_at(source)
    if form == "parquet":
        return lay_flat(read_table(engine, parquet_sql(source.path)))
    if form == "pgn":
        return take_pgn(source, engine)
    return (take_json if form == "json" else take_text)(source, head, engine)
