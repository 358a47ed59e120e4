"""DuckDB for one reading: within a limit of memory, in a scratch folder, stopped by Ctrl-C.

Any source becomes one table that can be asked many times, with columns c0, c1, ... and the numbers
of its rows.  Text is parsed once, into a Parquet file in the scratch folder; Parquet files and data
frames are asked where they are.  Everything is asked in SQL and comes back as small lists; only the
finished cells are fetched, in batches.  DuckDB is loaded when a table is read, not before.

A reading holds a lock on a file in its scratch folder for as long as it lives, so that the next one
can tell a folder that is in use from one that a killed reading left behind, and remove that.
"""

import contextlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from intransit.checks import shown
from intransit.data.reading import Unused
from intransit.errors import InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")


def refuse(label: object, found: str, line: int | None = None) -> InputError:
    """Return the error for a table: where, what was found, what to do."""
    place = str(label) if line is None else f"{label}, line {line}"
    return InputError(f"{place}: {found}", source=str(label), line=line)


PATIENCE = 1.0  # seconds that stopped work has to end; a command must be gone within two


class _Worker:
    """A thread that does one piece of work after another: starting one for each costs more."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        while True:
            self.tasks.get()()


_idle: list[_Worker] = []  # at most one; taken out while it works
_busy: list[_Worker] = []  # those that did not stop when they were asked to


def interruptible(work: Callable[[], T], stop: Callable[[], Any]) -> T:
    """Return what the work gives; at Ctrl-C call `stop` and raise KeyboardInterrupt.

    The work is done by another thread, so that the main thread is there for the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    given: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            given.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    # An event, not a join: a join that was interrupted takes the thread for ended.
    done = threading.Event()
    worker = _idle.pop() if _idle else _Worker()
    if not worker.thread.is_alive():  # of the process that this one was forked from
        worker = _Worker()
    worker.tasks.put(run)
    try:
        done.wait()
    except KeyboardInterrupt:
        stop()
        if not done.wait(PATIENCE):
            _busy.append(worker)
        raise
    _idle[:] = [worker]
    if failed:
        raise failed[0]
    return given[0]


def is_busy() -> bool:
    """Return whether work goes on that was asked to stop, so that Python cannot end in order."""
    return bool(_busy)


DAMAGED = "its compressed data is damaged or cut short; fetch or write the file again."
ANOTHER_PLACE = "make room, or name another place by the environment variable TMPDIR."
NO_ROOM = "the scratch folder cannot take it ({}); " + ANOTHER_PLACE
PREFIX, LOCK, MAKING = "intransit-", "in-use", "in-use-soon"


@contextlib.contextmanager
def open_scratch() -> Iterator[Path]:
    """Yield an empty folder, removed at the end; folders of killed readings are removed first."""
    remove_abandoned(Path(tempfile.gettempdir()))
    try:
        folder = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(
            f"{tempfile.gettempdir()}: no scratch folder can be made there ({error.strerror}); "
            f"{ANOTHER_PLACE}"
        ) from error
    with folder as name:
        held = _hold(Path(name) / MAKING)
        if held is not None:  # called so once it is locked: others must never find it free
            (Path(name) / MAKING).rename(Path(name) / LOCK)
        try:
            yield Path(name)
        finally:
            if held is not None:
                os.close(held)


def remove_abandoned(place: Path) -> None:
    """Remove scratch folders of ours that no living process holds."""
    with contextlib.suppress(OSError):
        for folder in place.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                if folder.is_dir() and not folder.is_symlink() and _is_abandoned(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    lock = folder / LOCK
    if not lock.exists():
        return False  # not ours, or of somebody who is about to lock it
    held = _hold(lock)
    if held is None:
        return False
    os.close(held)
    return True


def _hold(lock: Path) -> int | None:
    """Return a locked handle, or None where somebody else has the lock or locks are unknown."""
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:  # Windows: nothing is removed there, and nothing needs to be locked
        return None
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


TOGETHER = 40  # sums in one query: planning takes time that grows with their square


class Engine:
    """A connection with a scratch folder; its errors become sentences."""

    def __init__(self, con: "DuckDBPyConnection", folder: Path, label: str) -> None:
        self.con = con
        self.folder = folder
        self.label = label  # how messages call the table
        self.n_files = 0
        self.after = contextlib.ExitStack()  # what is to be closed with it

    def fresh(self, name: str) -> Path:
        """Return a place in the scratch folder that nothing has used."""
        self.n_files += 1
        return self.folder / f"{self.n_files}-{name}"

    def store(self, rows: str, values: list[Any] | None = None) -> str:
        """Store the rows of a query as a table, and return its name."""
        self.n_files += 1
        name = f"rows_{self.n_files}"
        self.run(f"CREATE TEMP TABLE {name} AS {rows}", values)
        return name

    def store_as_parquet(self, rows: str) -> str:
        """Store the rows of a query as a Parquet file, and return the SQL that reads it."""
        place = self.fresh("rows.parquet")
        self.run(f"COPY ({rows}) TO {quote(str(place))} (FORMAT parquet)")
        return parquet_sql(place)

    def ask(self, query: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.attempt(lambda: self.con.execute(query, values).fetchall())

    def ask_all(self, sums: Sequence[str], rows: str) -> list[Any]:
        """Return many sums over the same rows; one query of all would plan for minutes."""
        found: list[Any] = []
        for begin in range(0, len(sums), TOGETHER):
            part = ", ".join(sums[begin : begin + TOGETHER])
            found += self.ask(f"SELECT {part} FROM {rows}")[0]
        return found

    def attempt(self, work: Callable[[], T]) -> T:
        """Return what the work gives; if DuckDB cannot do it, say so in a sentence."""
        import duckdb  # noqa: PLC0415

        try:
            return interruptible(work, self.con.interrupt)
        except duckdb.Error as error:
            raise self._sentence(error) from error

    def arrays(self, query: str) -> dict[str, Any]:
        """Return the columns of a query as arrays."""
        return self.attempt(lambda: self.con.execute(query).fetchnumpy())

    def run(self, statement: str, values: list[Any] | None = None) -> None:
        """Run a statement whose rows nobody wants."""
        self.ask(statement, values)

    def forget_rejects(self) -> None:
        """Drop what DuckDB keeps of lines that it refused; the next file has its own."""
        self.run("DROP TABLE IF EXISTS reject_errors")
        self.run("DROP TABLE IF EXISTS reject_scans")

    def refuse(self, found: str) -> InputError:
        """Return the error that says this of the table."""
        return refuse(self.label, found)

    def _sentence(self, error: Exception) -> InputError:
        import duckdb  # noqa: PLC0415

        text = re.sub(r"^[A-Za-z ]+Error: ", "", str(error)).split("\n")[0].strip()
        text = text.replace(str(self.folder), "the scratch folder")
        if "GZIP" in text or "ZSTD" in text.upper():
            return self.refuse(DAMAGED)
        if re.search("No space left|disk quota|[Cc]ould not write", text):
            return self.refuse(NO_ROOM.format(text))
        if isinstance(error, duckdb.OutOfMemoryException):
            return self.refuse(
                f"it does not fit in the memory allowed ({text}); raise memory_limit."
            )
        return self.refuse(f"it could not be read ({text}); correct the table.")


@contextlib.contextmanager
def open_engine(label: str, memory_limit: str) -> Iterator[Engine]:
    """Yield an engine and clean up after it."""
    import duckdb  # noqa: PLC0415

    with open_scratch() as folder:
        spill = folder / "spill"
        if not isinstance(memory_limit, str):
            raise InputError(f"memory_limit is {shown(memory_limit)}; write it as in 1GB.")
        try:
            con = duckdb.connect(
                config={"memory_limit": memory_limit, "temp_directory": str(spill)}
            )
        except duckdb.Error as error:
            raise InputError(
                f"memory_limit {shown(memory_limit)} is not understood; write it as in 1GB."
            ) from error
        engine = Engine(con, folder, label)
        try:
            con.execute("SET TimeZone = 'UTC'")
            con.execute("SET enable_progress_bar = false")  # it would print
            with contextlib.closing(engine.after):
                yield engine
        finally:
            with contextlib.suppress(duckdb.Error):  # still busy with what was interrupted
                con.close()


def quote(text: str) -> str:
    """Return text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def located(path: Path) -> str:
    """Return a path as SQL, with the signs that DuckDB would expand held still."""
    return quote(re.sub(r"([*?\[])", r"[\1]", str(path)))


def parquet_sql(path: Path) -> str:
    """Return the SQL that reads one Parquet file with the numbers of its rows."""
    return f"read_parquet({located(path)}, {NUMBERED})"


def columns_sql(columns: int | Iterable[int]) -> str:
    """SQL: the columns of these numbers, or the first so many."""
    numbers = range(columns) if isinstance(columns, int) else columns
    return ", ".join(f"c{k}" for k in numbers)


def joined_sql(members: str) -> str:
    """SQL: a list of names as one item, sorted, so that their order changes nothing."""
    kept = f"list_sort(list_filter({members}, lambda m: m IS NOT NULL))"
    return f"nullif(array_to_string({kept}, ' / '), '')"


NUMBERED = "file_row_number = true"
N_SAME = "n_same"  # column that says how many rows of the source a row stands for
SHOWN = 20  # line numbers kept for each reason


@dataclass(frozen=True)
class Grouping:
    """What is known of a table whose equal rows are added up before they are judged."""

    sample: str  # table of the embedded engine: some rows with all columns, `n_same` 1 each
    origin: Any  # all rows: SQL for the embedded engine, or `LazyRows` of another
    held: frozenset[int] = frozenset()  # columns in which all its rows were compared, if any


@dataclass(frozen=True)
class EngineTable:
    """A table inside the engine."""

    engine: Engine
    names: tuple[str, ...]  # as the user wrote them
    types: tuple[str, ...]  # DuckDB's
    rows: str  # SQL: FROM this come c0, c1, ... and, counted from 1 in the source's order, `row`
    unit: Literal["line", "row"] = "row"
    locate: Callable[[set[int]], dict[int, int]] | None = None  # rows to lines of the file
    rejected: tuple[Unused, ...] = ()  # rows that are no rows: wrong number of columns, ...
    decimal_comma: bool = False
    notes: tuple[str, ...] = ()
    ordered: bool = True  # whether rows have an order, and `row`
    grouping: Grouping | None = None  # where equal rows are added up

    def lines(self, rows: set[int]) -> dict[int, int]:
        """Return where rows stand, as the user counts."""
        return self.locate(rows) if self.locate else {row: row for row in rows}

    @contextlib.contextmanager
    def in_order(self) -> Iterator[None]:
        """Let the engine number rows in the order of the source, which several threads would not.

        The rows of one Parquet file carry their numbers; those of views are counted as they come.
        """
        if "row_number()" not in self.rows:
            yield
            return
        threads = self.engine.ask("SELECT current_setting('threads')")[0][0]
        self.engine.run("SET threads = 1")
        yield
        self.engine.run(f"SET threads = {threads}")

    def with_columns(self, extra: Mapping[str, tuple[str, str]]) -> "EngineTable":
        """Return the table with further columns, each a name with its type and its SQL."""
        n = len(self.names)
        added = "".join(f", {sql} AS c{n + k}" for k, (_, sql) in enumerate(extra.values()))
        return replace(
            self,
            names=(*self.names, *extra),
            types=(*self.types, *(kind for kind, _ in extra.values())),
            rows=f"(SELECT *{added} FROM {self.rows})",
        )


def read_table(engine: Engine, sql: str, **more: Any) -> EngineTable:
    """Return what SQL reads as a table; one Parquet file numbers its rows itself."""
    numbered = NUMBERED in sql
    described = engine.ask(f"DESCRIBE FROM {sql}")
    described = described[:-1] if numbered else described
    columns = columns_sql(len(described))
    if not columns:
        raise engine.refuse("there is no column; give a table with some.")
    row = "file_row_number + 1" if numbered else "row_number() OVER ()"
    called = f"{columns}, file_row_number" if numbered else columns
    settings: dict[str, Any] = {"names": tuple(str(name) for name, *_ in described)} | more
    return EngineTable(
        engine,
        types=tuple(str(kind) for _, kind, *_ in described),
        rows=f"(SELECT {columns}, {row} AS row FROM {sql} AS t({called}))",
        **settings,
    )
