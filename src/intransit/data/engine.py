"""DuckDB for one reading: within a limit of memory, in a scratch folder, stopped by Ctrl-C.

Any source becomes one table that can be asked many times, with columns c0, c1, ... and the numbers
of its rows.  Text is parsed once, into a Parquet file in the scratch folder, or into a table of the
engine where it is small; Parquet files and data frames are asked where they are.  Everything is
asked in SQL and comes back as small lists; only the finished cells are fetched, in batches.  DuckDB
is loaded when a table is read, not before.  Small tables are read one after the other by one
engine, and the cells of small tables of text are fetched at once.

A reading holds a lock on a file in its scratch folder for as long as it lives, so that the next one
can tell a folder that is in use from one that a killed reading left behind, and remove that.
"""

import atexit
import contextlib
import difflib
import os
import re
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from intransit.checks import shown
from intransit.data.reading import Column, Unused, list_names, quoted
from intransit.data.vocabulary import ITEMS, MOST_VALUES, RANKED, plain, without_case, without_rank
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

    def __init__(
        self, con: "DuckDBPyConnection", folder: Path, label: str, *, small: bool = False
    ) -> None:
        self.con = con
        self.folder = folder
        self.label = label  # how messages call the table
        self.small = small  # whether the table is
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

    def store_lists(self, called: str, *lists: Iterable[object]) -> str:
        """Store lists as the columns of a table, `called` with their types, as in "n INTEGER"."""
        columns = [name.split() for name in called.split(", ")]
        listed = ", ".join(f"unnest(?::{kind}[]) AS {name}" for name, kind in columns)
        return self.store(f"SELECT {listed}", [list(values) for values in lists])

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
        self.run("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")

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


ALONE = {"threads": 1, "async_threads": 0}  # an engine that has no threads outlives a fork
_spare: "dict[str, DuckDBPyConnection]" = {}  # at most one such engine, by its limit of memory
atexit.register(_spare.clear)  # before Python ends, or DuckDB complains


@contextlib.contextmanager
def open_engine(label: str, memory_limit: str, *, small: bool = False) -> Iterator[Engine]:
    """Yield an engine and clean up after it.

    For a `small` table it works without threads, and serves the next small table, too; tables of
    an engine end with its connection.
    """
    import duckdb  # noqa: PLC0415

    with open_scratch() as folder:
        if not isinstance(memory_limit, str):
            raise InputError(f"memory_limit is {shown(memory_limit)}; write it as in 1GB.")
        try:
            base, con = _connect(memory_limit, folder / "spill", small=small)
        except duckdb.Error as error:
            raise InputError(
                f"memory_limit {shown(memory_limit)} is not understood; write it as in 1GB."
            ) from error
        engine, sound = Engine(con, folder, label, small=small), False
        try:
            con.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")  # it would print
            with contextlib.closing(engine.after):
                yield engine
            sound = True
        except InputError as error:
            sound = error.__cause__ is None
            raise
        finally:
            with contextlib.suppress(duckdb.Error):  # still busy with what was interrupted
                con.close()
            if small and sound and not (folder / "spill").exists():
                _spare.clear()
                _spare[memory_limit] = base


def _connect(
    memory_limit: str, spill: Path, *, small: bool
) -> "tuple[DuckDBPyConnection, DuckDBPyConnection]":
    """Return an engine, the one that was left over if it will do, and a connection to it."""
    import duckdb  # noqa: PLC0415

    base = _spare.pop(memory_limit, None) if small else None
    if base is None:
        settings: dict[str, Any] = {"memory_limit": memory_limit, "temp_directory": str(spill)}
        base = duckdb.connect(config=settings | (ALONE if small else {}))
        return base, base.cursor() if small else base
    con = base.cursor()
    con.execute(f"SET temp_directory = {quote(str(spill))}")
    return base, con


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
        kinds = {name: kind for name, (kind, _) in extra.items()}
        return self.longer(kinds, f"(SELECT *{added} FROM {self.rows})")

    def longer(self, extra: Mapping[str, str], rows: str) -> "EngineTable":
        """Return the table with other rows (SQL), and further columns, names with types."""
        names, types = (*self.names, *extra), (*self.types, *extra.values())
        return replace(self, names=names, types=types, rows=rows)


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


# Facts --------------------------------------------------------------------------------------------


def find_column(names: Sequence[str], name: str, role: str, label: str) -> int:
    """Return the place of the column called `name`; without one, say which names are near."""
    found = [i for i, own in enumerate(names) if own == name]
    found = found or [i for i, own in enumerate(names) if plain(own) == plain(name)]
    if len(found) == 1:
        return found[0]
    what = "there is no column" if not found else "more than one column is called"
    near = [] if found else nearest(names, name)
    hint = f"did you mean {' or '.join(quoted(own) for own in near)}? The" if near else "the"
    raise refuse(
        label, f"{what} {quoted(name)} (for {role}); {hint} columns are {list_names(names)}."
    )


def nearest(names: Sequence[str], name: str) -> list[str]:
    """Return the names that a slip of the pen could have meant, the nearest first."""
    known = {plain(own): own for own in names}
    close = difflib.get_close_matches(plain(name), list(known), n=3, cutoff=0.7)
    return [known[own] for own in close]


def short_names(names: Sequence[str]) -> list[str]:
    """Return names that came from nested data without what only tells where they were nested.

    ``winner.name`` is a winner, and ``result.winner`` is one too, if nothing else ends so;
    ``slots.entrant.name.1`` is the first entrant.
    """
    numbers = [(re.search(r"\.\d+$", name) or [""])[0] for name in names]
    bare = [name.removesuffix(number) for name, number in zip(names, numbers, strict=True)]
    short = [re.sub(r"(?<=\w\w)\.(name|title|value)$", "", name) for name in bare]
    parts = [name.split(".") for name in short]
    ends = Counter(
        ".".join(words[k:]) + number
        for words, number in zip(parts, numbers, strict=True)
        for k in range(len(words))
    )
    found = []
    for words, number in zip(parts, numbers, strict=True):
        whole = ".".join(words) + number
        tails = (".".join(words[k:]) + number for k in range(len(words) - 1, -1, -1))
        own = (tail for tail in tails if ends[tail] == 1 and tail and not tail[0].isdigit())
        found.append(next(own, whole))  # the shortest end that no other name has
    return found


def numbered_headers(names: Sequence[str]) -> tuple[int, int]:
    """Return how many columns are called 1, 2, 3, ... in a row, and the first of them."""
    begin = next((i for i, name in enumerate(names) if name.strip() == "1"), len(names))
    n = 0
    while begin + n < len(names) and names[begin + n].strip() == str(n + 1):
        n += 1
    return n, begin


NAMING = (r"(\d+)\.0", r"(.+?)\s+(?:won|wins|win|beat)\b.*")  # cells that name an item
NUMERIC = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
SAMPLE = 20_000  # rows in which columns without a telling name are compared
FEW_CELLS = MOST_VALUES  # fetched at once, as asking for each column would take longer
BLANKS = " \t\n\f\r"  # of cells that hold nothing
SPACES = "".join(map(chr, (32, 160, 5760, *range(8192, 8203), 8239, 8287, 12288)))  # as SQL trims
MOST_COLUMNS = 40  # columns without a telling name that are looked into


class Facts:
    """Answers about the rows that `where` keeps; distinct values are asked once."""

    def __init__(self, table: EngineTable, where: Mapping[int, object]) -> None:
        self.table, self.engine, self.names = table, table.engine, table.names
        self.where = where
        self.plain = [plain(name) for name in short_names(table.names)]
        self._values: dict[int, list[tuple[str, int]] | None] = {}
        self._samples: dict[int, set[str]] = {}
        self._counts: dict[tuple[str, ...], list[int]] = {}

    def column(self, name: str, role: str) -> int:
        """Return the place of the column called `name`, which the user gives for a role."""
        return find_column(self.names, name, role, self.engine.label)

    def refuse(self, found: str) -> InputError:
        """Return the error that says this of the table."""
        return self.engine.refuse(found)

    def listed(self, columns: Sequence[int] | None = None, joint: str = ", ") -> str:
        """Return names of columns in quotation marks, all of them unless some are given."""
        names = self.names if columns is None else [self.names[i] for i in columns]
        return list_names(names, joint)

    def told(self, role: str, columns: Iterable[int], why: str = "by its name") -> list[Column]:
        """Return what is to be said of columns that play a role."""
        return [Column(role, self.names[i], why) for i in columns]

    @property
    def filter(self) -> str:
        """SQL of `where`, with its WHERE."""
        tests = [self._equals(column, value) for column, value in self.where.items()]
        return f" WHERE {' AND '.join(tests)}" if tests else ""

    def _equals(self, column: int, value: object) -> str:
        if isinstance(value, bool):
            return f"lower({self.text(column)}) = '{str(value).lower()}'"
        if isinstance(value, int | float):
            return f"{self.number(column, known=False)} = {value!r}::DOUBLE"
        return f"{self.text(column)} = {quote(str(value).strip())}"

    @property
    def rows(self) -> str:
        """SQL: the rows that `where` keeps, with their numbers in the whole table."""
        return f"(SELECT * FROM {self.table.rows}{self.filter})"

    @cached_property
    def cells(self) -> list[tuple[Any, ...]] | None:
        """All rows of a small table of text, and the number of each; None of other tables."""
        table, n = self.table, len(self.names)
        plain_text = {*table.types} == {"VARCHAR"} and table.ordered and table.grouping is None
        if not plain_text or n * self.count()[0] > FEW_CELLS:
            return None
        with table.in_order():
            return self.engine.ask(f"SELECT {columns_sql(n)}, row FROM {self.rows}")

    def rows_about(self, *sql: str) -> str:
        """SQL: rows that tell about the columns in some SQL; if not all of them can, some do."""
        grouping = self.table.grouping
        if grouping is None:
            return self.rows
        asked = {int(k) for part in sql for k in re.findall(r"\bc(\d+)\b", part)}
        return self.rows if asked <= grouping.held else f"(SELECT * FROM {self._sample})"

    @property
    def _sample(self) -> str:
        grouping = self.table.grouping
        return f"{self.table.rows if grouping is None else grouping.sample}{self.filter}"

    def tally(self, test: str = "") -> str:
        """SQL: the number of rows of the source, or of those that pass a test."""
        passing = f" FILTER (WHERE {test})" if test else ""
        if self.table.grouping is None:
            return f"count(*){passing}"
        return f"coalesce(sum({N_SAME}){passing}, 0)"

    def is_number(self, column: int) -> bool:
        """Return whether the column's type is a number's."""
        return self.table.types[column].removeprefix("U").startswith(NUMERIC)

    def is_text(self, column: int) -> bool:
        """Return whether the column holds text."""
        return self.table.types[column].startswith(("VARCHAR", "ENUM", "JSON"))

    def naming(self, columns: Iterable[int]) -> int | None:
        """Return which of the columns names the items of rows: one called so, or the first text."""
        texts = [i for i in columns if self.is_text(i) and not self.looks_numeric(i)]
        called = [i for i in texts if plain(self.names[i]) in ITEMS | {"playername"}]
        return next(iter(called or texts), None)

    def looks_numeric(self, column: int) -> bool:
        """Return whether most cells of a column are numbers."""
        _, filled, numbers = self.count(self.filled(column), f"isfinite({self.number(column)})")
        return filled > 0 and 2 * numbers >= filled

    def raw(self, column: int) -> str:
        """SQL: a cell as text, as it stands; whole numbers without a fraction."""
        cell, kind = f"c{column}", self.table.types[column]
        if kind in {"FLOAT", "DOUBLE"}:
            whole = f"{cell} = floor({cell}) AND abs({cell}) < 1e15"
            text = f"WHEN {whole} THEN {cell}::BIGINT::VARCHAR ELSE {cell}::VARCHAR"
            return f"CASE WHEN isnan({cell}) THEN NULL {text} END"
        return cell if kind == "VARCHAR" else f"CAST({cell} AS VARCHAR)"

    def text(self, column: int) -> str:
        """SQL: a cell as text without surrounding space."""
        return f"trim({self.raw(column)})"

    def names_one_of(self, column: int, items: Sequence[int], among: Sequence[int] = ()) -> str:
        """SQL: whether a cell names what stands in one of the columns with the items.

        101.0 is 101 too, as pandas writes numbers of winners where some games had none, "Kent won
        by 5 runs" is Kent, and so is KENT, unless two `among` the items differ by case alone.
        Ann is "(1) Ann", where no winner has a seed.
        """
        texts = {text.strip() for text in self.texts(column)}
        own, cells = self.text(column), [self.text(i) for i in items]
        forms = [form for form in NAMING if any(re.fullmatch(form, text) for text in texts)]
        told = [own, *(f"regexp_extract({own}, {quote(form)}, 1)" for form in forms)]
        names = {name for i in among or items for name in self.sample(i)} if texts else set()
        bare = {without_case(name) for name in names}
        others = {text for text in texts - names if len(text) > 1}  # a may be a column's letter
        apart, said = len(bare) == len(names), {without_case(text) for text in others}
        unranked = {without_case(without_rank(name)) for name in names}
        if len(unranked) == len(names) and said and said <= unranked - bare:
            cells = [f"regexp_replace({sql}, {quote(RANKED.pattern)}, '')" for sql in cells]
        if apart and said & (bare | unranked):
            one_space = "lower(regexp_replace({}, '\\s+', ' ', 'g'))"
            told, cells = ([one_space.format(sql) for sql in part] for part in (told, cells))
        listed = ", ".join(cells)
        return f"({' OR '.join(f'{name} IN ({listed})' for name in told)})"

    def filled(self, column: int) -> str:
        """SQL: whether a cell holds anything."""
        if self.is_number(column):  # pandas writes what is missing as NaN
            return f"(c{column} IS NOT NULL AND NOT isnan(CAST(c{column} AS DOUBLE)))"
        known = self.cells is not None and all(text.strip(BLANKS) for text in self.texts(column))
        if known or not self.is_text(column):
            return f"(c{column} IS NOT NULL)"
        blank = f"regexp_full_match({self.raw(column)}, '\\s*')"
        return f"(c{column} IS NOT NULL AND NOT {blank})"

    def number(self, column: int, *, known: bool = True) -> str:
        """SQL: a cell as a number, NULL where it is none; shorter where all cells are `known`."""
        cell = f"c{column}"
        if self.is_number(column) or self.table.types[column] == "BOOLEAN":
            return f"CAST({cell} AS DOUBLE)"
        if not self.is_text(column):
            return "NULL::DOUBLE"
        text = self.raw(column)  # TRY_CAST forgives space, and trimming would cost more
        comma = self.table.decimal_comma
        known = known and self.cells is not None and not comma
        if known and not any(sign in cell for cell in self.texts(column) for sign in ",%−½"):
            return f"TRY_CAST({text} AS DOUBLE)"
        point, sign = (".", ",") if comma else (",", ".")
        thousands = f"\\s*[+-]?[1-9]\\d{{0,2}}(\\{point}\\d{{3}})+(\\{sign}\\d+)?\\s*"
        bare = f"replace(replace({text}, '{point}', ''), ',', '.')"
        grouped = f"CASE WHEN regexp_full_match({text}, '{thousands}') THEN {bare} END"
        signs = f"replace(replace(rtrim({text}, ' %'), '−', '-'), '½', '.5')"
        if comma:
            return (
                f"coalesce(TRY_CAST(coalesce({grouped}, replace({text}, ',', '.')) AS DOUBLE), "
                f"TRY_CAST(replace({signs}, ',', '.') AS DOUBLE))"
            )
        return (
            f"coalesce(TRY_CAST({text} AS DOUBLE), TRY_CAST({grouped} AS DOUBLE), "
            f"TRY_CAST({signs} AS DOUBLE))"
        )

    def values(self, column: int) -> list[tuple[str, int]] | None:
        """Return the distinct cells of a column as text with their counts; None if too many."""
        if column not in self._values:
            if self.cells is not None:
                found: Sequence[tuple[Any, ...]] = [*Counter(c[column] for c in self.cells).items()]
            else:
                rows, most = self.rows_about(f"c{column}"), MOST_VALUES + 1
                cells = f"SELECT c{column}, {self.tally()} AS n FROM {rows} GROUP BY c{column}"
                found = self.engine.ask(f"SELECT {self.raw(column)}, n FROM ({cells} LIMIT {most})")
            few = len(found) <= MOST_VALUES
            kept = [(str(text), int(count)) for text, count in found if text is not None]
            self._values[column] = kept if few else None
        return self._values[column]

    def texts(self, column: int) -> list[str]:
        """Return the distinct cells of a column as text; none if they are too many."""
        return [text for text, _ in self.values(column) or []]

    def share(self, column: int, known: Container[str]) -> float:
        """Return the share of the filled cells of a column whose text is known, 0 if none is."""
        cells = [(text, n) for text, n in self.values(column) or [] if text.strip()]
        total = sum(n for _, n in cells)
        return sum(n for text, n in cells if text in known) / total if total else 0.0

    def first_rows(self, column: int) -> dict[str, int]:
        """Return the number of the first row that has each cell of a column with few values."""
        if not self.table.ordered:
            return {}
        if self.cells is not None:
            latest = sorted(self.cells, key=lambda row: row[-1], reverse=True)
            return {row[column]: row[-1] for row in latest if row[column] is not None}
        with self.table.in_order():
            found = self.engine.ask(
                f"SELECT {self.raw(column)}, min(row) FROM {self.all_rows} GROUP BY c{column}"
            )
        return {str(text): int(row) for text, row in found if text is not None}

    def count(self, *tests: str) -> list[int]:
        """Return how many rows there are, and how many pass each test."""
        if tests not in self._counts:
            counts = ", ".join([self.tally(), *map(self.tally, tests)])
            found = self.engine.ask(f"SELECT {counts} FROM {self.rows_about(*tests)}")[0]
            self._counts[tests] = [int(n) for n in found]
        return self._counts[tests]

    def count_cells(self, column: int, *tests: str, cell: str = "") -> list[int]:
        """Return how many cells of a column pass each test, its distinct values tested once.

        Tests may speak of `cell`, which is then worked out once for each value.
        """
        counts = ", ".join(f"coalesce(sum(n) FILTER (WHERE {test}), 0)" for test in tests)
        rows = self.rows_about(f"c{column}")
        cells = f"SELECT c{column}, {self.tally()} AS n FROM {rows} GROUP BY c{column}"
        if cell:  # grouped, or the engine would put the whole of it into every test
            cells = f"SELECT {cell} AS cell, sum(n) AS n FROM ({cells}) GROUP BY ALL"
        return [int(n) for n in self.engine.ask(f"SELECT {counts} FROM ({cells})")[0]]

    def repeats(self, columns: Sequence[int]) -> tuple[int, bool]:
        """Return how many rows repeat another in these, and if any stands oddly often."""
        if self.cells is not None:
            times = Counter(tuple(row[k] for k in columns) for row in self.cells).values()
            return sum(times) - len(times), any(n % 2 for n in times)
        grouping, rows, n = self.table.grouping, self.all_rows, "count(*)"
        if grouping is not None and grouping.held >= set(columns):  # already counted
            rows, n = self.rows, f"sum({N_SAME})"
        elif not isinstance(rows, str):
            return rows.repeats(columns, self._kept())  # type: ignore[no-any-return]
        groups = f"SELECT {n} AS n FROM {rows} GROUP BY {columns_sql(columns)}"
        asked = "coalesce(sum(n - 1), 0), coalesce(max(n % 2), 0)"
        more, odd = self.engine.ask(f"SELECT {asked} FROM ({groups})")[0]
        return int(more), bool(odd)

    def spans(self, columns: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return of each column how many cells are filled, the least of them and the most."""
        rows = self.all_rows
        asked = [f"{what}(c{k})" for k in columns for what in ("count", "min", "max")]
        found = (
            self.engine.ask_all(asked, rows)
            if isinstance(rows, str)
            else rows.spans(columns, self._kept())
        )
        return list(zip(found[::3], found[1::3], found[2::3], strict=True))

    @property
    def all_rows(self) -> Any:
        """All rows that `where` keeps, one by one: SQL, or `LazyRows` of an engine."""
        grouping = self.table.grouping
        if grouping is None or not isinstance(grouping.origin, str):
            return self.rows if grouping is None else grouping.origin
        return f"(SELECT * FROM {grouping.origin}{self.filter})"

    def _kept(self) -> dict[int, list[Any]]:
        """Return the cells that `where` allows in each of its columns."""
        ask, rows = self.engine.ask, self.rows
        return {
            k: [cell for (cell,) in ask(f"SELECT DISTINCT c{k} FROM {rows}")] for k in self.where
        }

    def often_filled(self, columns: Sequence[int]) -> list[int]:
        """Return those of the columns that hold something in most of the first rows."""
        if not columns:
            return []
        tests = [f"sum(CAST({self.filled(i)} AS INTEGER))" for i in columns]
        rows = f"(SELECT * FROM {self._sample} LIMIT {SAMPLE})"
        total, *filled = self.engine.ask_all(["count(*)", *tests], rows)
        found = [i for i, n in zip(columns, filled, strict=True) if 2 * (n or 0) >= total]
        return found[:MOST_COLUMNS]

    def sample(self, column: int) -> set[str]:
        """Return distinct texts among the first rows."""
        if self.cells is not None:
            return {text.strip(SPACES) for text in self.texts(column) if text.strip(BLANKS)}
        if column not in self._samples:
            found = self.engine.ask(
                f"SELECT DISTINCT {self.text(column)} FROM (SELECT * FROM {self._sample} "
                f"LIMIT {SAMPLE}) WHERE {self.filled(column)}"
            )
            self._samples[column] = {str(text) for (text,) in found}
        return self._samples[column]

    def check_where(self) -> int:
        """Return the number of rows that `where` keeps; refuse a condition that keeps none."""
        n_rows = self.count()[0]
        if n_rows or not self.where:
            return n_rows
        engine = self.engine
        for column, value in self.where.items():
            if not Facts(self.table, {column: value}).count()[0]:
                seen = sorted(Facts(self.table, {}).sample(column))[:5]
                raise engine.refuse(
                    f'no row has "{self.names[column]}" equal to "{value}"; the column holds '
                    f"{list_names(seen) or 'nothing'}."
                )
        raise engine.refuse("no row meets all conditions of where at once; give fewer.")
