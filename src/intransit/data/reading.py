"""What the caller of `read` gives and says of it, and what it was understood to say."""

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl, urlsplit

from intransit.checks import as_flag, as_list, check_option, shown
from intransit.errors import InputError

STANDARD_INPUT = "standard input"
SMALL = 1 << 20  # bytes or cells: an engine takes longer to start than to read so many
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


def is_small(source: object) -> bool:
    """Return whether a source is a file of few bytes, or a data frame of few cells."""
    if isinstance(source, str | Path):
        with contextlib.suppress(OSError, ValueError):  # no such file, or no name of one
            return Path(source).is_file() and Path(source).stat().st_size <= SMALL
        return False
    if is_lazy(source) or stays_in_engine(source):  # to count its rows would be a query
        return False
    shape: Any = getattr(source, "shape", None)
    counted = isinstance(shape, tuple) and all(isinstance(n, int) for n in shape)
    return counted and math.prod(shape) <= SMALL


def label_of(source: object) -> str:
    """Return how messages call a source; never with a password."""
    if isinstance(source, str | Path):
        label = str(source)
        if label in {"-", "/dev/stdin"}:
            return STANDARD_INPUT
        return shown_address(label) if is_address(source) else label
    library = type(source).__module__.split(".")[0].lstrip("_")
    return f"{library} {type(source).__name__}"


BY_SHAPE = "by the shape of the table"  # why a column has its role


@dataclass(frozen=True)
class Column:
    """A column, what it was taken for, and why."""

    role: str
    name: str
    why: str


@dataclass(frozen=True)
class Unused:
    """Rows that could not be used for one reason, and where the first of them stand."""

    reason: str
    count: int
    lines: tuple[int, ...]  # the first ones, in order; none where rows have no order
    examples: tuple[str, ...] = ()  # some of them in their own words, where rows have no order


@dataclass(frozen=True)
class Reading:
    """What was recognised in a table, and what could not be used."""

    source: str
    columns: tuple[Column, ...] = ()
    n_rows: int = 0  # after `where`, before anything was left out
    n_used: int = 0
    unused: tuple[Unused, ...] = ()
    notes: tuple[str, ...] = ()
    unit: Literal["line", "row"] = "row"  # lines of a file begin at its header, rows at 1
    where: tuple[str, ...] = ()  # conditions on rows, such as "format: Legacy"
    worth: float = 1.0  # of a game beside one that is independent: of orders and choices

    @property
    def word(self) -> str:
        """What is counted: rows of the source, or results, of which its rows tell several."""
        return "result" if any(column.why == BY_SHAPE for column in self.columns) else "row"

    @property
    def n_unused(self) -> int:
        """Rows that could not be used, for whatever reason."""
        return self.n_rows - self.n_used

    @property
    def title(self) -> str:
        """The name of the source's own file, with the conditions."""
        name = self.source.replace("\\", "/").rsplit("/", 1)[-1]
        return ", ".join((name, *self.where))

    def lines(self) -> list[str]:
        """Return the reading in short lines for people."""
        said = [f"{self.source}: {self.n_used:,} of {self.n_rows:,} {self.word}s used"]
        width = max((len(column.role) for column in self.columns), default=0)
        said += [f"  {part.role:<{width}}  {part.name}  ({part.why})" for part in self.columns]
        said += [
            f"  not used: {describe_unused(part, self.unit, self.word)}" for part in self.unused
        ]
        said += [f"  note: {note}" for note in self.notes]
        return said


def describe_unused(part: Unused, unit: str, word: str = "row", most: int = 5) -> str:
    """Return a reason with its count and the first places, such as ``2 rows (lines 3, 9)``."""
    rows = plural(part.count, word)
    shown = ", ".join(str(line) for line in part.lines[:most])
    more = ", ..." if part.count > min(len(part.lines), most) else ""
    place = f" ({plural(part.count, unit).split()[1]} {shown}{more})" if shown else ""
    if part.examples:
        place = f" (such as {part.examples[0]})"
    return f"{rows}{place}: {part.reason}"


def plural(count: int, word: str) -> str:
    """Return a count with its word: 1 row, 2 rows."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def shorten(text: str, most: int = 40) -> str:
    """Return text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


def quoted(name: str) -> str:
    """Return a name on one line in quotation marks."""
    return f'"{shorten(name)}"'


def list_names(names: Sequence[str], joint: str = ", ", *, most: int = 20) -> str:
    """Return names in quotation marks, the first of them where there are many."""
    more = ", ..." if len(names) > most else ""
    return joint.join(quoted(name) for name in names[:most]) + more


ROLES = (
    *("first", "second", "outcome", "winner", "loser", "first_score", "second_score", "margin"),
    *("time", "side", "neutral", "weight", "count"),
)
Shape = Literal[
    "games", "matrix", "teams", "tally", "orders", "podiums", "choices", "matchups", "judgments",
    "ranks", "scores", "ballots", "rounds", "sets",
]  # fmt: skip
MatrixEntries = Literal["shares", "wins", "margins", "scores"]
Doubled = Literal["once", "keep"]
BothBad = Literal["tie", "drop"]
Unplayed = Literal["drop", "keep"]
Columns = dict[str, str | bool | None]  # role to column; False says that there is none


@dataclass(frozen=True)
class ReadOptions:
    """How a table is to be read; what is None is recognised."""

    columns: Columns = field(default_factory=lambda: dict.fromkeys(ROLES))
    made: frozenset[str] = frozenset()  # roles whose columns a shape has made, not the caller named
    by: tuple[str, ...] = ()
    where: Mapping[str, object] = field(default_factory=dict)
    order: str | Sequence[object] | None = None  # of periods that have names
    day_first: bool | None = None
    both_bad: str = "tie"
    unplayed: str = "drop"
    strict: bool = False
    grades: Sequence[object] | None = None  # from the first's best to the second's
    shape: str | None = None  # see `shapes`
    doubled: str | None = None  # count games that are told twice "once", or "keep" both
    entries: str | None = None  # what a matrix holds: "shares", "wins" or "margins"
    games: object = None  # a second matrix, of numbers of games
    tally: Mapping[str, str] = field(default_factory=dict)  # columns of wins, losses, draws
    event: str | None = None  # columns of finishing orders
    place: str | None = None
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # columns of members

    def __post_init__(self) -> None:
        """Refuse words that say nothing."""
        kinds = {"both_bad": BothBad, "unplayed": Unplayed, "doubled": Doubled}
        for name, kind in {**kinds, "entries": MatrixEntries, "shape": Shape}.items():
            if getattr(self, name) is not None or name in {"both_bad", "unplayed"}:
                check_option(name, getattr(self, name), get_args(kind))
        as_flag("strict", self.strict)
        if self.day_first is not None:
            as_flag("day_first", self.day_first)
        if self.grades is not None:
            as_list(self.grades, "grades")
        if self.order is not None and not isinstance(self.order, str):
            as_list(self.order, "order")


@dataclass(frozen=True)
class RowLimits:
    """Numbers of rows beyond which a table is read in another way."""

    fetched: int = 1_000_000  # rows of an engine; beyond, they stay where they are
    packed: int = 150_000_000  # 1.2 GB while they are sorted; beyond, equal ones are added up first
    in_sequence: int = 1_000_000  # games; beyond, their order within a time is not kept
    one_by_one: int = 2_000_000  # beyond, looking for series and twins costs more than it is worth
    repeats: int = 5_000_000  # beyond, looking for repeated rows would cost more than reading


ROW_LIMITS = RowLimits()


def check_name(role: str, name: object, *, none: bool = True) -> None:
    """Refuse what names no column; False says that there is none, where that can be said."""
    if name is None or isinstance(name, str) or (none and name is False):
        return
    more = ", or False for none" if none else ""
    raise InputError(f"{role} is {shown(name)}; give the name of a column{more}.")


def as_columns(by: object) -> tuple[str, ...]:
    """Return names of columns, one or several."""
    columns = (by,) if isinstance(by, str) else tuple(as_list(by, "by"))
    wrong = [column for column in columns if not isinstance(column, str)]
    if wrong:
        raise InputError(f"by: {shown(wrong[0])} was given; give names of columns.")
    return columns


def as_conditions(where: object) -> Mapping[str, object]:
    """Return conditions on rows, or refuse what is none."""
    if where is None:
        return {}
    if not isinstance(where, Mapping) or not all(isinstance(name, str) for name in where):
        raise InputError(
            f'where is {shown(where)}; give columns and their values, as in {{"format": "Modern"}}.'
        )
    return where


def flag(role: str) -> str:
    """Return how the command line calls a role."""
    return "--" + role.replace("_", "-")


def how_to_say(*roles: str, none: str | None = None) -> str:
    """Return how roles are named, in Python and on the command line."""
    told = " and ".join(f"{role}=" for role in roles)
    typed = " and ".join(flag(role) for role in roles)
    if none is None:
        return f"{told} (command line: {typed})"
    without = f"--without {none.replace('_', '-')}"
    return f"{told}, or {none}=False for none (command line: {typed}, or {without})"
