"""Any source as one table that can be asked many times: columns c0, c1, ... and row numbers.

Text is parsed once, into a Parquet file in the scratch folder; Parquet files and data frames are
asked where they are.

Tables that stay where they are, are asked only for counts of equal rows.  One query serves every
engine: the distinct rows of some columns, and how many each stands for.  narwhals says it to Ibis
(and so to Postgres, BigQuery, Snowflake, Trino, ClickHouse), Spark, Polars, Dask and DuckDB; the
embedded engine says it to itself where rows are very many.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from intransit.data.engine import Engine, refuse
from intransit.data.files import Source, located
from intransit.data.reading import Unused, plural
from intransit.data.vocabulary import plain
from intransit.errors import InputError, IntransitError, MissingDependencyError

if TYPE_CHECKING:
    from narwhals import LazyFrame

T = TypeVar("T")
Kept = Mapping[int, Sequence[Any]]  # columns with the cells that their rows may have
N_SAME = "n_same"  # column that says how many rows of the source a row stands for
N_ROWS = f"coalesce(sum({N_SAME}), 0)"


class Origin(Protocol):
    """A table that stays where it is; its columns are numbered."""

    def store_groups(self, columns: Sequence[int], name: str) -> None:
        """Store the distinct rows of some columns, with how many each stands for, as a table."""

    def n_repeats(self, columns: Sequence[int], kept: Kept) -> int:
        """Return how many rows repeat another in these columns."""

    def has_odd(self, columns: Sequence[int], kept: Kept) -> bool:
        """Return whether any row stands an odd number of times, by these columns."""

    def spans(self, columns: Sequence[int], kept: Kept) -> list[tuple[Any, ...]]:
        """Return of each column how many cells are filled, the least of them and the most."""


@dataclass(frozen=True)
class Grouping:
    """What is known of a table that stays where it is."""

    origin: Origin
    sample: str  # table of the embedded engine: some rows with all columns, `n_same` 1 each
    held: frozenset[int] = frozenset()  # columns in which all its rows were compared, if any


@dataclass(frozen=True)
class EmbeddedOrigin:
    """Rows that the embedded engine reads where they are, such as a folder of Parquet."""

    engine: Engine
    rows: str  # SQL

    def store_groups(self, columns: Sequence[int], name: str) -> None:
        """Store the distinct rows of some columns, with how many each stands for, as a table."""
        listed = columns_sql(columns)
        self.engine.run(
            f"CREATE TEMP TABLE {name} AS SELECT {listed}, count(*) AS {N_SAME} FROM {self.rows} "
            f"GROUP BY {listed}"
        )

    def n_repeats(self, columns: Sequence[int], kept: Kept) -> int:
        """Return how many rows repeat another in these columns."""
        return int(self._ask("coalesce(sum(n - 1), 0)", columns, kept, "")[0][0])

    def has_odd(self, columns: Sequence[int], kept: Kept) -> bool:
        """Return whether any row stands an odd number of times, by these columns."""
        return bool(self._ask("1", columns, kept, " WHERE n % 2 = 1 LIMIT 1"))

    def spans(self, columns: Sequence[int], kept: Kept) -> list[tuple[Any, ...]]:
        """Return of each column how many cells are filled, the least of them and the most."""
        tests, values = _conditions(kept)
        asked = [f"{what}(c{k})" for k in columns for what in ("count", "min", "max")]
        found = self.engine.ask_all(asked, f"{self.rows}{tests}", values)
        return list(zip(found[::3], found[1::3], found[2::3], strict=True))

    def _ask(self, what: str, columns: Sequence[int], kept: Kept, rest: str) -> list[Any]:
        tests, values = _conditions(kept)
        groups = f"SELECT count(*) AS n FROM {self.rows}{tests} GROUP BY {columns_sql(columns)}"
        return self.engine.ask(f"SELECT {what} FROM ({groups}){rest}", values)


@dataclass(frozen=True)
class FrameOrigin:
    """A lazy frame: a plan that an engine elsewhere carries out."""

    frame: "LazyFrame[Any]"
    names: tuple[str, ...]  # of the columns that can be compared
    engine: Engine

    def n_rows(self) -> int:
        """Return how many rows there are."""
        import narwhals as nw  # noqa: PLC0415

        return int(self._fetch(lambda: self.frame.select(nw.len()))[0][0].as_py())

    def store_rows(self, n: int, name: str) -> int:
        """Store the first rows, whatever the engine takes for first; return how many there are."""
        self._store(self._fetch(lambda: self.frame.select(*self.names).head(n)), name, "1")
        return int(self.engine.ask(f"SELECT count(*) FROM {name}")[0][0])

    def store_groups(self, columns: Sequence[int], name: str) -> None:
        """Store the distinct rows of some columns, with how many each stands for, as a table."""
        names = [f"c{k}" for k in columns]
        self._store(self._fetch(lambda: self.groups(columns, {})), name, "", names)

    def n_repeats(self, columns: Sequence[int], kept: Kept) -> int:
        """Return how many rows repeat another in these columns."""
        import narwhals as nw  # noqa: PLC0415

        count = nw.col(self._count)
        found = self._fetch(lambda: self.groups(columns, kept).select((count - 1).sum()))
        return int(found[0][0].as_py() or 0)

    def has_odd(self, columns: Sequence[int], kept: Kept) -> bool:
        """Return whether any row stands an odd number of times, by these columns."""
        import narwhals as nw  # noqa: PLC0415

        odd = nw.col(self._count) % 2 == 1
        return bool(self._fetch(lambda: self.groups(columns, kept).filter(odd).head(1)).num_rows)

    def spans(self, columns: Sequence[int], kept: Kept) -> list[tuple[Any, ...]]:
        """Return of each column how many cells are filled, the least of them and the most."""
        import narwhals as nw  # noqa: PLC0415

        cells = [nw.col(self.names[column]) for column in columns]
        asked = [part for cell in cells for part in (cell.count(), cell.min(), cell.max())]
        if not asked:
            return []
        named = [part.alias(f"x{k}") for k, part in enumerate(asked)]
        row = self._fetch(lambda: self._kept(kept).select(*named))
        found = [cells[0].as_py() for cells in row.columns]
        return list(zip(found[::3], found[1::3], found[2::3], strict=True))

    @property
    def _count(self) -> str:
        """A name for the counts that no column has, in whatever case."""
        name, taken = N_SAME, {name.casefold() for name in self.names}
        while name in taken:
            name += "_"
        return name

    def _kept(self, kept: Kept) -> "LazyFrame[Any]":
        import narwhals as nw  # noqa: PLC0415

        tests = [nw.col(self.names[column]).is_in(cells) for column, cells in kept.items()]
        return self.frame.filter(*tests) if tests else self.frame

    def groups(self, columns: Sequence[int], kept: Kept) -> "LazyFrame[Any]":
        """The one query: distinct rows of some columns, and how many rows each stands for."""
        import narwhals as nw  # noqa: PLC0415

        names = [self.names[column] for column in columns]
        return self._kept(kept).group_by(names).agg(nw.len().alias(self._count))

    def _fetch(self, plan: "Callable[[], LazyFrame[Any]]") -> Any:
        """Return what a plan gives, as an arrow table."""
        found = attempt(self.engine.label, lambda: plan().collect(backend="pyarrow").to_native())
        index = [name for name in found.column_names if name.startswith("__index_level_")]
        return found.drop_columns(index)  # what pandas, inside Dask, calls its rows

    def _store(self, arrow: Any, name: str, count: str, names: Sequence[str] = ()) -> None:
        names = names or [f"c{k}" for k in range(len(self.names))]
        engine, listed = self.engine, ", ".join(names)
        engine.con.register("fetched", arrow.rename_columns([*names, *([] if count else [N_SAME])]))
        engine.run(
            f"CREATE TEMP TABLE {name} AS SELECT {listed}, CAST({count or N_SAME} AS BIGINT) AS "
            f"{N_SAME} FROM fetched"
        )
        engine.con.unregister("fetched")


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


def columns_sql(columns: int | Iterable[int]) -> str:
    """SQL: the columns of these numbers, or the first so many."""
    numbers = range(columns) if isinstance(columns, int) else columns
    return ", ".join(f"c{k}" for k in numbers)


def _conditions(kept: Kept) -> tuple[str, list[Any]]:
    """SQL of the cells that are kept, with its WHERE, and its values."""
    tests = [f"list_contains(?, c{column})" for column in kept]
    return (f" WHERE {' AND '.join(tests)}" if tests else ""), [list(v) for v in kept.values()]


SHOWN = 20  # line numbers kept for each reason
Locate = Callable[[set[int]], dict[int, int]]


@dataclass(frozen=True)
class EngineTable:
    """A table inside the engine."""

    engine: Engine
    names: tuple[str, ...]  # as the user wrote them
    types: tuple[str, ...]  # DuckDB's
    rows: str  # SQL: FROM this come c0, c1, ...
    numbered: str  # SQL: the same with `row`, counted from 1 in the order of the source; "" if none
    unit: Literal["line", "row"] = "row"
    locate: Locate | None = None  # rows to lines of the file
    rejected: tuple[Unused, ...] = ()  # rows that are no rows: wrong number of columns, ...
    decimal_comma: bool = False
    notes: tuple[str, ...] = ()
    grouping: Grouping | None = None  # where equal rows were added up by the source's own engine

    def lines(self, rows: set[int]) -> dict[int, int]:
        """Return where rows stand, as the user counts."""
        return self.locate(rows) if self.locate else {row: row for row in rows}

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """Let the engine number rows in the order of the source, which several threads would not.

        The rows of one Parquet file carry their numbers; those of views are counted as they come.
        """
        if "row_number()" not in self.numbered:
            yield
            return
        threads = self.engine.ask("SELECT current_setting('threads')")[0][0]
        self.engine.run("SET threads = 1")
        yield
        self.engine.run(f"SET threads = {threads}")


def stored(engine: Engine, parquet: str, **more: Any) -> EngineTable:
    """Return the table in one Parquet file, given the SQL that reads it with its row numbers."""
    described = engine.ask(f"DESCRIBE SELECT * EXCLUDE (file_row_number) FROM {parquet}")
    names = tuple(str(name) for name, *_ in described)
    columns = columns_sql(len(names))
    both = f"(SELECT * FROM {parquet} AS t({columns}, file_row_number))"
    settings: dict[str, Any] = {"names": names} | more
    return EngineTable(
        engine,
        types=tuple(str(kind) for _, kind, *_ in described),
        rows=f"(SELECT {columns} FROM {both})",
        numbered=f"(SELECT {columns}, file_row_number + 1 AS row FROM {both})",
        **settings,
    )


def stored_in_parts(engine: Engine, sources: Sequence[Source], *, partitioned: bool) -> EngineTable:
    """Return the table in several Parquet files, folders such as ``year=2024`` as columns."""
    listed = ", ".join(located(source.path) for source in sources)
    hive = "true" if partitioned else "false"
    engine.run(
        f"CREATE TEMP VIEW parts AS FROM read_parquet([{listed}], hive_partitioning = {hive}, "
        "union_by_name = true)"
    )
    note = f"{plural(len(sources), 'Parquet file')}, in the order of their names"
    return viewed(engine, "parts", notes=(note,))


def registered(source: object, engine: Engine) -> EngineTable:
    """Return a data frame as a table."""
    import duckdb  # noqa: PLC0415

    if hasattr(source, "read_all"):  # a stream can be read only once
        source = source.read_all()
    if hasattr(source, "to_frame") and not hasattr(source, "columns"):
        raise InputError(f"{engine.label}: it is one column; give a table with several.")
    if hasattr(source, "reset_index") and _names_columns(source):
        source = source.reset_index()  # a matrix whose rows are named by its index
    try:
        engine.con.register("given", source)
    except (duckdb.Error, TypeError, RuntimeError):
        arrow = _as_arrow(source)
        if not arrow.column_names:
            raise InputError(
                f"{engine.label}: there is no column; give a table with some."
            ) from None
        engine.con.register("given", arrow)
    table = viewed(engine, "given")
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


def viewed(engine: Engine, name: str, **more: Any) -> EngineTable:
    """Return a view of the engine as a table."""
    described = engine.ask(f"DESCRIBE {name}")
    columns = columns_sql(len(described))
    if not columns:
        raise InputError(f"{engine.label}: there is no column; give a table with some.")
    return EngineTable(
        engine,
        names=tuple(str(name) for name, *_ in described),
        types=tuple(str(kind) for _, kind, *_ in described),
        rows=f"(SELECT * FROM {name} AS t({columns}))",
        numbered=f"(SELECT *, row_number() OVER () AS row FROM {name} AS t({columns}))",
        **more,
    )


def _as_arrow(source: object) -> Any:
    """Return a data frame that only narwhals knows as an arrow table."""
    import narwhals as nw  # noqa: PLC0415

    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return frame.to_arrow()
    except (TypeError, AttributeError, ModuleNotFoundError) as error:
        raise InputError(
            f"source: a {type(source).__name__} was given; give a path to a CSV, JSON lines or "
            "Parquet file, or a pandas, polars, arrow or duckdb table."
        ) from error


def one_after_another(tables: Sequence[EngineTable], sources: Sequence[Source]) -> EngineTable:
    """Return several tables with the same columns, in any order, as one."""
    first, where = tables[0], sources[0].label
    keys = [plain(name) for name in first.names]
    rows, numbered, begin = [], [], 0
    rejected: list[Unused] = []
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
        rows.append(f"SELECT {columns} FROM {table.rows}")
        numbered.append(f"SELECT {columns}, row + {begin} AS row FROM {table.numbered}")
        begin += int(first.engine.ask(f"SELECT count(*) FROM {table.rows}")[0][0])
        name = Path(source.label).name
        rejected += [replace(part, reason=f"{name}: {part.reason}") for part in table.rejected]
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    together = f"{plural(len(tables), 'file')}, in the order of their names; rows are counted on"
    return replace(
        first,
        rows=f"({' UNION ALL '.join(rows)})",
        numbered=f"({' UNION ALL '.join(numbered)})",
        unit="row",
        locate=None,
        rejected=tuple(rejected),
        notes=(together, *notes),
    )
