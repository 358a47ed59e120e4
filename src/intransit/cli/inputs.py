"""What commands take: tables, with the options that say how they are read, and answers in files.

`intransit read` says what was understood of a table, before anything is fitted.
"""

import os
import re
import shlex
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from cyclopts import Group, Parameter, Token
from rich.console import Console

from intransit.arrays import n_distinct
from intransit.checks import open_place
from intransit.cli.output import Output, chosen, facts, grid, heading, working
from intransit.data import read as read_table
from intransit.data.games import Clock, Games
from intransit.data.reading import (
    ROLES,
    BothBad,
    Doubled,
    MatrixEntries,
    Reading,
    Shape,
    Unplayed,
    describe_unused,
    plural,
)
from intransit.errors import InputError
from intransit.percent import percent

if TYPE_CHECKING:
    from intransit.answer import Answer

TEAM_ROLES = ("first", "second", "winner", "loser")  # several columns, by commas, are a team


class Address(type(Path())):  # type: ignore[misc]
    """A table in a database or in object storage, called by its name as a file would be."""

    address: str = ""


def as_table(_: object, tokens: Sequence[Token]) -> Path:
    """Return a path as it is, and an address with the name of its table."""
    from intransit.data.reading import is_address, shown_address  # noqa: PLC0415

    text = tokens[0].value
    if not is_address(text):
        return Path(text)
    shown = shown_address(text)
    table = Address(shown.rpartition("?table=")[2].rstrip("/").rpartition("/")[2] or "table")
    table.address = text
    return table


TablePath = Annotated[Path, Parameter(converter=as_table)]
Flag = Parameter(negative=(), show_default=False)


def _column(words: str) -> Parameter:
    return Parameter(help=words, metavar="COLUMN")


def _several(what: str, words: str) -> Parameter:
    return Parameter(help=words, metavar=what, negative=(), show_default=False)


@Parameter(name="*", group=Group("Columns: recognised by their names, unless given", sort_key=50))
@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Which columns are which, and which rows are kept."""

    first: Annotated[str | None, _column("The first item of each game.")] = None
    second: Annotated[str | None, _column("The second item.")] = None
    outcome: Annotated[str | None, _column("Who won: 1, 0, 0.5, words, or the name.")] = None
    winner: Annotated[str | None, _column("The item that won.")] = None
    loser: Annotated[str | None, _column("The item that lost.")] = None
    first_score: Annotated[str | None, _column("Score of the first.")] = None
    second_score: Annotated[str | None, _column("Score of the second.")] = None
    margin: Annotated[str | None, _column("By how much the first was ahead.")] = None
    time: Annotated[str | None, _column("When: dates, date-times or numbers.")] = None
    side: Annotated[
        str | None,
        _column('Who had the side (home, white): 1 the first, -1 the second; or "first": always.'),
    ] = None
    neutral: Annotated[str | None, _column("Yes where neither had the side.")] = None
    weight: Annotated[str | None, _column("How much a row counts.")] = None
    count: Annotated[str | None, _column("How many games a row stands for.")] = None
    by: Annotated[
        tuple[str, ...],
        _several("COLUMN", "Keep this column as a covariate, as in --by surface; may be repeated."),
    ] = ()
    order: Annotated[
        str | None,
        Parameter(
            metavar="PERIODS",
            help="Periods with names in their order, as in --order Spring,Summer; or version, or "
            "file (as the table has them).",
        ),
    ] = None
    day_first: Annotated[
        bool | None,
        Parameter(negative="--month-first", show_default=False, help="How 01/02/2024 is meant."),
    ] = None
    grades: Annotated[
        str | None,
        Parameter(
            metavar="GRADES",
            allow_leading_hyphen=True,
            help="Graded preferences from the first's best to the second's, separated by commas.",
        ),
    ] = None
    without: Annotated[
        tuple[str, ...],
        _several("ROLE", "Do not use such a column, as in --without margin; may be repeated."),
    ] = ()
    where: Annotated[
        tuple[str, ...],
        _several("COLUMN=VALUE", "Keep only rows with this value; may be repeated."),
    ] = ()
    shape: Annotated[
        Shape | None,
        Parameter(help="Layout of the table, where it is not recognised: see docs/tables.md."),
    ] = None
    wins: Annotated[str | None, _column("For a tally: games that the first won.")] = None
    losses: Annotated[str | None, _column("For a tally: games that the first lost.")] = None
    draws: Annotated[str | None, _column("For a tally: games that nobody won.")] = None
    entries: Annotated[
        MatrixEntries | None, Parameter(help="What the entries of a matrix are.")
    ] = None
    games: Annotated[
        Path | None,
        Parameter(metavar="TABLE", help="For a matrix of rates: the matrix of numbers of games."),
    ] = None
    event: Annotated[
        str | None, _column("For finishing orders: what identifies an event, separated by commas.")
    ] = None
    place: Annotated[str | None, _column("For finishing orders: the place that each reached.")] = (
        None
    )
    doubled: Annotated[
        Doubled | None,
        Parameter(help="Games that are in the table twice: count them once, or keep both."),
    ] = None
    both_bad: Annotated[BothBad, Parameter(help="How to count votes that both are bad.")] = "tie"
    unplayed: Annotated[
        Unplayed, Parameter(help="Walkovers, forfeits and byes: leave them out, or count them.")
    ] = "drop"
    strict: Annotated[bool, Flag, Parameter(help="Refuse a table with unusable rows.")] = False

    def read(self, table: Path, clock: Clock | None = None) -> Games:
        """Read the table as these options say; periods with names are numbered as by the clock."""
        asked = asdict(self)
        for role in asked.pop("without"):
            plain = role.replace("-", "_")
            if plain not in ROLES:
                raise InputError(f"--without {role}: it may be {', '.join(ROLES)}.")
            if asked[plain] is not None:
                raise InputError(f"--without {role}: --{role} names a column; give one of the two.")
            asked[plain] = False
        for role in TEAM_ROLES:
            if isinstance(asked[role], str) and "," in asked[role]:
                asked[role] = tuple(part.strip() for part in asked[role].split(","))
        if self.order is None and clock is not None and clock.is_counted:
            asked["order"] = list(clock.names)
        elif self.order is not None and self.order not in {"file", "version"}:
            asked["order"] = by_commas(self.order)
        asked["grades"] = None if self.grades is None else self.grades.split(",")
        asked["where"] = conditions(self.where, "--where", "format=Modern")
        with working(f"reading {table.name}"):
            return read_table(table.address if isinstance(table, Address) else table, **asked)

    def repeat(self) -> str:
        """Return the conditions as they were given, for a command to try next."""
        by = "".join(f' --by "{column}"' for column in self.by)
        return by + "".join(f' --where "{condition}"' for condition in self.where)


def by_commas(*texts: str) -> list[str]:
    """Return the words of texts that separate them by commas; empty ones are left out."""
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]


def conditions(given: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Return COLUMN=VALUE texts as a dictionary."""
    found: dict[str, str] = {}
    for text in given:
        column, equals, value = text.partition("=")
        if not equals or not column.strip():
            raise InputError(f"{option} {text}: give a column and its value, as in {example}.")
        if column.strip() in found:
            raise InputError(f"{option} {text}: {column.strip()} has a value already; give one.")
        found[column.strip()] = value
    return found


SHOWN = 5  # lines that are listed for one reason
LISTED = 8  # values of a covariate that are listed


def read(
    table: TablePath, /, *, columns: TableOptions | None = None, output: Output | None = None
) -> None:
    """Say what is understood of a table: columns, rows that cannot be used, an overview.

    Parameters
    ----------
    table
        CSV, TSV, JSON lines or Parquet, compressed by gzip or zstd or not; or an address, as in
        postgres://ann@host/league?table=games.
    """
    output = chosen(output)
    games = (columns or TableOptions()).read(table)
    report, seen = games.report, overview(games)
    data = {**asdict(report), "n_unused": report.n_unused, "overview": dict(seen)}
    output.show(data, _rows(report, seen), lambda console: _draw(console, report, seen))


def overview(games: Games) -> list[tuple[str, str]]:
    """Return the few figures that tell whether a table is the one that was meant."""
    total = float(games.counts.sum())
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    n_pairs = n_distinct(low * games.n_items + high)
    possible = games.n_items * (games.n_items - 1) // 2
    seen = [("items", f"{games.n_items:,}"), ("games", f"{total:,.12g}")]
    seen.append(("pairs that met", f"{n_pairs:,} of {possible:,}"))
    groups = count_groups(games)
    if groups > 1:
        seen.append(
            ("groups", f"{groups:,} that never met: nothing is known about how they compare")
        )
    moments, n_times = games.span, n_distinct(games.times)
    if moments:
        begin = moments.split(" to ")[0]
        moments = f"{moments}, {n_times:,} different times" if n_times > 1 else f"all at {begin}"
    seen.append(("span", moments or "no times, so nothing drifts"))
    if games.has_ties:
        ties = float(games.counts[games.outcomes == 0.5].sum())
        seen.append(("ties", f"{ties:,.12g} ({percent(ties / total, 1)})"))
    else:
        seen.append(("ties", "none"))
    if games.margins is not None:
        size = float(np.average(np.abs(games.margins), weights=games.counts))
        seen.append(("margins", f"{size:.3g} on average, {np.abs(games.margins).max():g} at most"))
    if games.sides is not None:
        sided = float(games.counts[games.sides != 0].sum())
        seen.append(("side", f"known in {sided:,.12g} games ({percent(sided / total, 1)})"))
    for covariate in games.by:
        shares = [
            f"{value} {percent(float(games.counts[covariate.codes == code].sum()) / total, 1)}"
            for code, value in enumerate(covariate.values[:LISTED])
        ]
        more = ", ..." if len(covariate.values) > LISTED else ""
        empty = float(games.counts[covariate.codes < 0].sum())
        without = f"; empty in {empty:,.12g} games" if empty else ""
        listed = ", ".join(shares) or "no value"
        seen.append((f"by {covariate.name}", f"{listed}{more}{without}"))
    return seen


def count_groups(games: Games) -> int:
    """Return how many groups of items no chain of games connects."""
    group = np.arange(games.n_items)  # the least item that is known to be connected
    while True:
        least = np.minimum(group[games.first], group[games.second])
        nearer = group.copy()
        np.minimum.at(nearer, games.first, least)
        np.minimum.at(nearer, games.second, least)
        nearer = nearer[nearer]
        if (nearer == group).all():
            return n_distinct(group)
        group = nearer


def _draw(console: Console, report: Reading, seen: list[tuple[str, str]]) -> None:
    heading(console, f"{report.source}: {report.n_used:,} of {report.n_rows:,} {report.word}s used")
    titles = ["role", "column", "how it was recognised"]
    console.print(grid(titles, ((part.role, part.name, part.why) for part in report.columns)))
    if report.unused:
        rows = []
        for part in report.unused:
            lines = ", ".join(f"{line:,}" for line in part.lines[:SHOWN])
            more = ", ..." if part.count > min(len(part.lines), SHOWN) else ""
            place = f"such as {part.examples[0]}" if part.examples else lines + more
            rows.append([f"{part.count:,}", part.reason, place])
        console.print(grid([f"#{report.word}s not used", "why", f"{report.unit}s"], rows))
    notes = [("note" if k == 0 else "", note) for k, note in enumerate(report.notes)]
    console.print(facts([*seen, *notes]))


def _rows(report: Reading, seen: list[tuple[str, str]]) -> list[dict[str, object]]:
    rows = [("source", report.source, "")]
    rows += [("column", column.name, f"{column.role} ({column.why})") for column in report.columns]
    rows += [
        ("not used", part.reason, describe_unused(part, report.unit, report.word))
        for part in report.unused
    ]
    rows += [("note", note, "") for note in report.notes]
    rows += [("overview", what, value) for what, value in seen]
    return [{"kind": kind, "name": name, "detail": detail} for kind, name, detail in rows]


def recognised(games: Games) -> list[str]:
    """Return in few lines what was understood of a table."""
    from intransit.report.wording import column_words  # noqa: PLC0415  loaded when it is needed

    report = games.report
    span = f", {games.span}" if games.span else ""
    return [
        f"{report.source}: {report.n_used:,} of {report.n_rows:,} {report.word}s, "
        f"{plural(games.n_items, 'item')}{span}",
        "columns " + ", ".join(column_words(report.columns)),
        *not_used(games),
    ]


def not_used(games: Games) -> list[str]:
    """Return a line for every reason why rows of a table could not be used."""
    report = games.report
    return [
        f"not used: {describe_unused(part, report.unit, report.word)}" for part in report.unused
    ]


ModelPath = Annotated[Path, Parameter(help="File that `intransit fit` wrote.")]
Moment = Annotated[
    str | None,
    Parameter(help="When, as a date or number like the table's; by default at its end."),
]
SUFFIX, PAGE = ".intransit", ".html"
MARK = b'type="application/json" id="findings"'  # of our pages
ENDINGS = {  # of tables
    *(".gz", ".zst", ".bz2", ".xz", ".zip"),
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".pgn"),
}


def default_place(table: Path) -> Path:
    """Return where the answer to a table goes: its name, in the current folder."""
    if str(table) in {"-", "/dev/stdin"}:
        return Path("table" + SUFFIX)
    name = re.sub(r"[-_ ]*[*?\[\]]+", "", table.name) or "table"
    while Path(name).suffix.lower() in ENDINGS and Path(name).stem:
        name = Path(name).stem
    return Path(name + SUFFIX)


def default_page(table: Path) -> Path:
    """Return where the report of a table or an answer goes: its name, in the current folder."""
    known = Path(table.stem) if table.suffix == SUFFIX else default_place(table)
    name = known.name.removesuffix(SUFFIX) or known.name
    return Path(name + PAGE)


def is_answer(path: Path) -> bool:
    """Return whether a file is an answer; what reads answers is loaded for a zip only."""
    if not (path.is_file() and zipfile.is_zipfile(path)):
        return False
    from intransit.analysis.saving import is_sealed  # noqa: PLC0415

    return is_sealed(path)


def check_answer_place(place: Path, option: str = "--out") -> None:
    """Refuse to put an answer over a file that is something else."""
    open_place(place, f"give a file with {option}")
    if place.exists() and not is_answer(place):
        raise InputError(
            f"{place}: this file exists and is not an intransit answer; choose another place with "
            f"{option}, or remove it."
        )


def check_page_place(place: Path, *, force: bool) -> None:
    """Refuse to put a page over a file that is something else, unless that is wished for."""
    open_place(place, "give a file with --out")
    if place.exists() and not force and not is_page(place):
        raise InputError(
            f"{place}: this file exists and is not an intransit report; choose another place with "
            "--out, or replace it with --force."
        )


@contextmanager
def held(place: Path) -> Iterator[Path]:
    """Hold a file against other commands that would change it, and yield where it really is.

    Two updates at once would each begin with the same answer, and the first would be lost; so the
    second waits for the first.  A link stays a link: what it points to is replaced.
    """
    real = place.resolve()
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:  # Windows: nothing is held
        yield real
        return
    lock = real.with_name(f".{real.name}.lock")
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.stat(lock).st_ino == os.fstat(handle).st_ino:
                break
        os.close(handle)  # whoever had it has removed it: hold a new one
    try:
        yield real
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def is_page(place: Path) -> bool:
    """Return whether a file is a report of ours, by what every one of them holds."""
    try:
        return MARK in place.read_bytes()
    except OSError:
        return False


def refuse_table(model: Path) -> None:
    """Refuse a table where an answer is wanted, and say how it becomes one."""
    endings = {suffix.lower() for suffix in model.suffixes}
    if model.is_file() and endings & ENDINGS and not is_answer(model):
        raise InputError(f"{model}: it is a table; first run `intransit fit {model}`.")


def open_answer(model: Path) -> "Answer":
    """Load an answer, and refuse a table given by mistake."""
    from intransit.answer import Answer  # noqa: PLC0415  loaded when it is needed

    refuse_table(model)
    with working(f"opening {model.name}"):
        return Answer.load(model)


def check_moment(answer: "Answer", at: str | None) -> None:
    """Refuse a time that the answer cannot be asked about."""
    if at is not None and answer.clock.kind == "none":
        raise InputError(f"--at {at}: the table of this answer had no times; leave it out.")
    answer.when(at)


def open_answer_at(model: Path, at: str | None) -> tuple["Answer", str]:
    """Load an answer to be asked about a time; return that in words too, empty without times."""
    answer = open_answer(model)
    check_moment(answer, at)
    return answer, "" if answer.clock.kind == "none" else answer.clock.to_text(answer.when(at))


def quoted(*words: object) -> str:
    """Return words as a shell takes them."""
    return " ".join(shlex.quote(str(word)) for word in words)
