"""Tables that stay where they are, asked only for counts of equal rows.

One query serves every engine: the distinct rows of some columns, and how many each stands for.
narwhals says it to Ibis (and so to Postgres, BigQuery, Snowflake, Trino, ClickHouse), Spark, Dask,
Polars and DuckDB.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals as nw

from intransit.data.engine import N_SAME, Engine, refuse
from intransit.errors import InputError, IntransitError, MissingDependencyError

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
        """Return what a plan gives, as an arrow table."""
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
