"""Tables that lie elsewhere: addresses of databases and stores, tables of engines, lazy frames.

Addresses are of a database that Ibis knows, or of Parquet in object storage.  What they say of
passwords and signatures is never repeated in a message.

*Tables that stay where they are* are read by a sample and by counts of their distinct rows.  Which
columns matter is recognised in the sample.  Rows that are equal in these are judged alike, so the
engine adds them up first, by one query that narwhals says to every engine, and the distinct ones
are judged here.  The embedded engine does the same with files of very many rows.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import narwhals as nw

from intransit.data.engine import (
    N_SAME,
    SAMPLE,
    Engine,
    EngineTable,
    Facts,
    Grouping,
    columns_sql,
    quote,
    read_table,
    refuse,
)
from intransit.data.reading import ROW_LIMITS, ReadOptions, list_names
from intransit.data.roles import Roles
from intransit.data.shapes import Find, reshape
from intransit.errors import InputError, IntransitError, MissingDependencyError

WEB = {"http", "https"}
STORES = {*WEB, "s3", "s3a", "s3n", "gs", "gcs", "r2", "hf"}  # what DuckDB's httpfs reads
PARQUET = re.compile(r"\.(parquet|pq|parq)$|[*?\[]", re.IGNORECASE)
LISTED = 8  # tables of a database that are named where the one asked for is not there
T = TypeVar("T")
Kept = Mapping[int, Sequence[Any]]  # columns with the cells that their rows may have


@dataclass(frozen=True)
class LazyRows:
    """A lazy frame: a plan that an engine elsewhere carries out.  Columns are numbered."""

    frame: "nw.LazyFrame[Any]"
    names: tuple[str, ...]  # of the columns that can be compared
    engine: Engine

    def n_rows(self) -> int:
        """Return how many rows there are."""
        return int(self._fetch(lambda: self.frame.select(nw.len()))[0][0].as_py())

    def store_rows(self, n: int) -> str:
        """Store the first rows, whatever the engine takes for first, as a table."""
        found = self._fetch(lambda: self.frame.select(*self.names).head(n))
        names = [f"c{k}" for k in range(len(self.names))]
        return self._store(found.rename_columns(names), names, "1")

    def store_groups(self, columns: Sequence[int]) -> str:
        """Store the distinct rows of some columns, with how many each stands for, as a table."""
        names = [f"c{k}" for k in columns]
        found = self._fetch(lambda: self.groups(columns, {}))
        return self._store(found.rename_columns([*names, N_SAME]), names, N_SAME)

    def repeats(self, columns: Sequence[int], kept: Kept) -> tuple[int, bool]:
        """Return how many rows repeat another in these, and if any stands oddly often."""
        n = nw.col(self._count)
        asked = ((n - 1).sum().alias("more"), (n % 2).max().alias("odd"))
        found = self._fetch(lambda: self.groups(columns, kept).select(*asked))
        more, odd = (cells[0].as_py() for cells in found.columns)
        return int(more or 0), bool(odd)

    def spans(self, columns: Sequence[int], kept: Kept) -> list[Any]:
        """Return of each column how many cells are filled, the least of them and the most."""
        cells = [nw.col(self.names[column]) for column in columns]
        asked = [part for cell in cells for part in (cell.count(), cell.min(), cell.max())]
        if not asked:
            return []
        named = [part.alias(f"x{k}") for k, part in enumerate(asked)]
        row = self._fetch(lambda: self._kept(kept).select(*named))
        return [cells[0].as_py() for cells in row.columns]

    def groups(self, columns: Sequence[int], kept: Kept) -> "nw.LazyFrame[Any]":
        """The one query: distinct rows of some columns, and how many rows each stands for."""
        names = [self.names[column] for column in columns]
        return self._kept(kept).group_by(names).agg(nw.len().alias(self._count))

    @property
    def _count(self) -> str:
        """A name for the counts that no column has, in whatever case."""
        name, taken = N_SAME, {name.casefold() for name in self.names}
        while name in taken:
            name += "_"
        return name

    def _kept(self, kept: Kept) -> "nw.LazyFrame[Any]":
        tests = [nw.col(self.names[column]).is_in(cells) for column, cells in kept.items()]
        return self.frame.filter(*tests) if tests else self.frame

    def _fetch(self, plan: "Callable[[], nw.LazyFrame[Any]]") -> Any:
        found = attempt(self.engine.label, lambda: plan().collect(backend="pyarrow").to_native())
        index = [name for name in found.column_names if name.startswith("__index_level_")]
        return found.drop_columns(index)  # what pandas, inside Dask, calls its rows

    def _store(self, arrow: Any, names: Sequence[str], count: str) -> str:
        self.engine.con.register("fetched", arrow)
        listed = ", ".join(names)
        stored = self.engine.store(
            f"SELECT {listed}, CAST({count} AS BIGINT) AS {N_SAME} FROM fetched"
        )
        self.engine.con.unregister("fetched")
        return stored


def attempt(label: str, work: Callable[[], T]) -> T:
    """Return what an engine elsewhere gives; if it cannot, say so in a sentence."""
    try:
        return work()
    except IntransitError:
        raise
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"{label}: reading it needs {error.name}, which is not installed: pip install "
            "'intransit[engines]'."
        ) from error
    except Exception as error:  # whatever an engine raises: there is no common base
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        told = lines[0] if lines else type(error).__name__
        raise refuse(
            label,
            f"its engine could not answer ({told[:300]}); try the table there, or write it to "
            "Parquet and read that.",
        ) from error


def framed(source: object, engine: Engine) -> LazyRows:
    """Return a lazy frame of any library as a table that stays where it is."""
    label = engine.label
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
    except TypeError as error:
        raise InputError(f"{label}: it is no table; give a file or a data frame.") from error
    frame = frame if isinstance(frame, nw.LazyFrame) else frame.lazy()
    schema = attempt(label, frame.collect_schema)
    nested = (nw.Struct, nw.List, nw.Array, nw.Object)
    names = tuple(name for name, kind in schema.items() if not isinstance(kind, nested))
    if not names:
        raise engine.refuse("there is no column; give a table with some.")
    return LazyRows(frame, names, engine)


def n_rows_of(source: Any, engine: Engine) -> int:
    """Return how many rows a lazy table has; its other columns are not computed for it."""
    if type(source).__name__ == "DuckDBPyRelation":
        return int(engine.attempt(lambda: source.count("*").fetchall())[0][0])
    count = nw.from_native(source).select(nw.len())
    return int(attempt(engine.label, lambda: count.collect().item()))


def as_arrow(source: object) -> Any:
    """Return a data frame that only narwhals knows as an arrow table."""
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return frame.to_arrow()
    except (TypeError, AttributeError, ModuleNotFoundError) as error:
        raise InputError(
            f"source: a {type(source).__name__} was given; give a path to a CSV, JSON lines or "
            "Parquet file, or a pandas, polars, arrow or duckdb table."
        ) from error


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
    name = dict(parse_qsl(urlsplit(address).query)).get("table", "")
    if not name:
        raise refuse(
            label,
            "which table is meant is not said; end the address with ?table= and its name, as in "
            "postgres://user@host/league?table=games.",
        )
    return name


def _no_table(label: str, name: str, there: list[str]) -> InputError:
    listed = list_names(sorted(there), most=LISTED) or "none"
    return refuse(label, f'there is no table "{name}"; there are {listed}.')


def _without_secrets(text: str, address: str) -> str:
    """Return a message without the password and the options of an address."""
    parts = urlsplit(address)
    secrets = {parts.password, unquote(parts.password or ""), parts.query, address}
    secrets |= {value for name, value in parse_qsl(parts.query) if name != "table"}
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "...")
    return text


Choose = Callable[[Facts, ReadOptions], Roles]


def sampled(source: object, engine: Engine) -> EngineTable:
    """Return a table that stays where it is: some rows of it, all columns that can be compared."""
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
    if table.grouping is None:  # of the embedded engine
        rows = f"SELECT * EXCLUDE (row), 1 AS {N_SAME} FROM {table.rows} LIMIT {SAMPLE}"
        table = replace(table, grouping=Grouping(table.engine.store(rows), table.rows))
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
    assert grouping is not None
    if column in grouping.held:
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
    assert table.grouping is not None
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
