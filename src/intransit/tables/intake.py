"""Any source as one table that can be asked many times: columns c0, c1, ... and row numbers.

Text is parsed once, into a Parquet file in the scratch folder; Parquet files and data frames are
asked where they are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from intransit.errors import InputError
from intransit.tables.engine import Engine
from intransit.tables.files import Source, located, refuse
from intransit.tables.origins import Grouping
from intransit.tables.reading import Unused, plural
from intransit.tables.vocabulary import plain

SHOWN = 20  # line numbers kept for each reason
Locate = Callable[[set[int]], dict[int, int]]


@dataclass(frozen=True)
class Table:
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


def stored(engine: Engine, parquet: str, **more: Any) -> Table:
    """Return the table in one Parquet file, given the SQL that reads it with its row numbers."""
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


def stored_in_parts(engine: Engine, sources: Sequence[Source], *, partitioned: bool) -> Table:
    """Return the table in several Parquet files, folders such as ``year=2024`` as columns."""
    listed = ", ".join(located(source.path) for source in sources)
    hive = "true" if partitioned else "false"
    engine.run(
        f"CREATE TEMP VIEW parts AS FROM read_parquet([{listed}], hive_partitioning = {hive}, "
        "union_by_name = true)"
    )
    note = f"{plural(len(sources), 'Parquet file')}, in the order of their names"
    return viewed(engine, "parts", notes=(note,))


def registered(source: object, engine: Engine) -> Table:
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


def viewed(engine: Engine, name: str, **more: Any) -> Table:
    """Return a view of the engine as a table."""
    described = engine.ask(f"DESCRIBE {name}")
    columns = ", ".join(f"c{i}" for i in range(len(described)))
    if not columns:
        raise InputError(f"{engine.label}: there is no column; give a table with some.")
    return Table(
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


def one_after_another(tables: Sequence[Table], sources: Sequence[Source]) -> Table:
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
