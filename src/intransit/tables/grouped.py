"""Tables that stay where they are, read by a sample and by counts of their distinct rows.

Which columns matter is recognised in a sample.  Rows that are equal in these are judged alike, so
the engine adds them up first, in one query, and the distinct ones are judged here, each with the
number of rows that it stands for, by the query that judges every table.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from intransit.errors import InputError
from intransit.tables.choosing import Roles
from intransit.tables.engine import Engine
from intransit.tables.facts import SAMPLE, Facts
from intransit.tables.intake import Table
from intransit.tables.options import Options
from intransit.tables.origins import N_SAME, EmbeddedOrigin, FrameOrigin, Grouping, attempt
from intransit.tables.shapes import Find, reshape

ENGINES = {"dask", "ibis", "pyspark", "sqlframe"}  # libraries whose tables have no order of rows
MOST_WHOLE = 1_000_000  # rows of an engine that are fetched; beyond, they stay where they are
Choose = Callable[[Facts, Options], Roles]


def stays_in_engine(source: object) -> bool:
    """Return whether a table belongs to an engine, in which its rows have no order."""
    return type(source).__module__.partition(".")[0] in ENGINES and hasattr(source, "columns")


def is_lazy(source: object) -> bool:
    """Return whether a table is a plan whose rows come in an order, when it is carried out."""
    return type(source).__name__ in {"LazyFrame", "DuckDBPyRelation"}


def n_rows_of(source: Any, engine: Engine) -> int:
    """Return how many rows a lazy table has; its other columns are not computed for it."""
    import narwhals as nw  # noqa: PLC0415

    if type(source).__name__ == "DuckDBPyRelation":
        return int(engine.attempt(lambda: source.count("*").fetchall())[0][0])
    count = nw.from_native(source).select(nw.len())
    return int(attempt(engine.label, lambda: count.collect().item()))


def framed(source: object, engine: Engine) -> FrameOrigin:
    """Return a lazy frame of any library as a table that stays where it is."""
    import narwhals as nw  # noqa: PLC0415

    label = engine.label
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
    except TypeError as error:
        raise InputError(f"{label}: it is no table; give a file or a data frame.") from error
    if not isinstance(frame, nw.LazyFrame):
        frame = frame.lazy()
    schema = attempt(label, frame.collect_schema)
    nested = (nw.Struct, nw.List, nw.Array, nw.Object)
    names = tuple(name for name, kind in schema.items() if not isinstance(kind, nested))
    if not names:
        raise InputError(f"{label}: there is no column; give a table with some.", source=label)
    return FrameOrigin(frame, names, engine)


def sampled(origin: FrameOrigin, n_rows: int = SAMPLE) -> Table:
    """Return some rows of a table that stays where it is, all columns that can be compared."""
    engine, columns = origin.engine, ", ".join(f"c{k}" for k in range(len(origin.names)))
    name = _fresh(engine)
    origin.store_rows(n_rows, name)
    described = engine.ask(f"DESCRIBE SELECT {columns} FROM {name}")
    nested = [other for other in origin.frame.collect_schema() if other not in origin.names]
    notes = [f'"{other}" holds records or lists and is not looked at' for other in nested]
    return Table(
        engine,
        names=origin.names,
        types=tuple(str(kind) for _, kind, *_ in described),
        rows=f"(SELECT {columns} FROM {name})",
        numbered="",
        notes=tuple(notes),
        grouping=Grouping(origin, name),
    )


def embedded(table: Table) -> Table:
    """Return a table of the embedded engine as one whose rows are counted before anything else."""
    rows = f"(SELECT *, 1 AS {N_SAME} FROM {table.rows} LIMIT {SAMPLE})"
    name = _fresh(table.engine)
    table.engine.run(f"CREATE TEMP TABLE {name} AS FROM {rows}")
    return replace(table, grouping=Grouping(EmbeddedOrigin(table.engine, table.rows), name))


def settled(
    table: Table,
    where: Mapping[int, object],
    options: Options,
    finders: Mapping[str, Find],
    choose: Choose,
    most_whole: int,
) -> tuple[Facts, Roles | None]:
    """Return what can be asked about a table that stays where it is, and its columns by role.

    Its equal rows are added up.  A table that has not one row a game is returned whole instead,
    without roles, or refused where it is large.
    """
    sample = _sample_of(table)
    looked = Facts(sample, where)
    looked = looked if looked.count()[0] else Facts(sample, {})
    if not looked.count()[0]:
        return looked, None
    if _has_shape(looked, options, finders):
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


def kept_cells(facts: Facts) -> dict[int, list[Any]]:
    """Return the cells that `where` allows in each of its columns, as the engine has them."""
    ask = facts.table.engine.ask
    return {k: [x for (x,) in ask(f"SELECT DISTINCT c{k} FROM {facts.rows}")] for k in facts.where}


def add_up_equal(table: Table, columns: set[int] | frozenset[int]) -> Table:
    """Return the table with rows that are equal in these columns added up where they are."""
    assert table.grouping is not None
    name = _fresh(table.engine)
    table.grouping.origin.store_groups(sorted(columns), name)
    grouping = replace(table.grouping, held=frozenset(columns))
    kinds = {str(column): str(kind) for column, kind, *_ in table.engine.ask(f"DESCRIBE {name}")}
    types = tuple(kinds.get(f"c{k}", kind) for k, kind in enumerate(table.types))
    return replace(table, types=types, rows=f"(SELECT * FROM {name})", grouping=grouping)


def _sample_of(table: Table) -> Table:
    """Return the sample of a table that stays where it is as a table of its own."""
    assert table.grouping is not None
    columns, name = ", ".join(f"c{k}" for k in range(len(table.names))), table.grouping.sample
    return replace(
        table,
        rows=f"(SELECT {columns} FROM {name})",
        numbered=f"(SELECT {columns}, rowid + 1 AS row FROM {name})",
        grouping=None,
    )


def _has_shape(sample: Facts, options: Options, finders: Mapping[str, Find]) -> bool:
    """Return whether a row is not one game; what was stored to find out is removed again."""
    engine, listed = sample.table.engine, "SELECT table_name FROM duckdb_tables() WHERE temporary"
    before = engine.ask(listed)
    found = reshape(sample, options, finders)
    for (name,) in engine.ask(listed):
        if (name,) not in before:
            engine.run(f"DROP TABLE {name}")
    return found is not None


def _columns_in_sample(choose: Choose, sample: Facts, options: Options) -> set[int]:
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


def whole(table: Table, most: int = MOST_WHOLE) -> Table:
    """Return the table with all its rows here, if they are not too many."""
    if table.grouping is None:
        return table
    origin, engine = table.grouping.origin, table.engine
    columns = ", ".join(f"c{k}" for k in range(len(table.names)))
    if isinstance(origin, EmbeddedOrigin):
        return replace(table, rows=origin.rows, grouping=None)
    assert isinstance(origin, FrameOrigin)
    n_rows = origin.n_rows()
    if n_rows > most:
        raise InputError(
            f"{engine.label}: a row of it is not one game, and of such tables at most {most:,} "
            f"rows are fetched (it has {n_rows:,}); select one row a game there, write the table "
            'to Parquet and read that, or say shape="games" (command line: --shape games) if a '
            "row is a game.",
            source=engine.label,
        )
    name = _fresh(engine)
    origin.store_rows(n_rows, name)
    return replace(
        table,
        rows=f"(SELECT {columns} FROM {name})",
        numbered=f"(SELECT {columns}, rowid + 1 AS row FROM {name})",
        grouping=None,
    )


def _fresh(engine: Engine) -> str:
    """Return a name that no table of the engine has."""
    return f"rows_{engine.fresh('rows').name.partition('-')[0]}"
