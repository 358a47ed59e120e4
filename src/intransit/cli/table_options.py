"""Options that say how a table is read; the same for every command that takes one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter, Token

from intransit.cli.output import working
from intransit.data.clock import Clock
from intransit.data.games import Games
from intransit.data.reader import read
from intransit.data.reading import ROLES, BothBad, Doubled, MatrixEntries, Shape
from intransit.errors import InputError

AS_GIVEN = (  # what the library takes as it stands
    *("shape", "wins", "losses", "draws", "entries", "games", "event", "place", "doubled"),
    *("by", "day_first", "both_bad", "strict"),
)
SIDES = ("first", "second", "winner", "loser")  # several columns, by commas, are a team


class Address(type(Path())):  # type: ignore[misc]
    """A table in a database or in object storage, called by its name as a file would be."""

    address: str = ""


def as_table(_: object, tokens: Sequence[Token]) -> Path:
    """Return a path as it is, and an address with the name of its table."""
    from intransit.data.sources import is_address, shown_address  # noqa: PLC0415

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


@Parameter(name="*", group=Group("Columns: recognised by themselves, unless named", sort_key=50))
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
    neutral: Annotated[str | None, _column("Says yes where neither had the side.")] = None
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
        Parameter(help="What the table is, where it is not seen: see docs/tables.md."),
    ] = None
    wins: Annotated[str | None, _column("Of a tally: games that the first won.")] = None
    losses: Annotated[str | None, _column("Of a tally: games that the first lost.")] = None
    draws: Annotated[str | None, _column("Of a tally: games that nobody won.")] = None
    entries: Annotated[MatrixEntries | None, Parameter(help="What a matrix holds.")] = None
    games: Annotated[
        Path | None,
        Parameter(metavar="TABLE", help="Beside a matrix of rates: the matrix of games."),
    ] = None
    event: Annotated[
        str | None, _column("Of finishing orders: what tells events apart, by commas.")
    ] = None
    place: Annotated[str | None, _column("Of finishing orders: who came where.")] = None
    doubled: Annotated[
        Doubled | None,
        Parameter(help="Games that the table tells twice: count them once, or keep both."),
    ] = None
    both_bad: Annotated[
        BothBad, Parameter(help="What a verdict that both are bad is taken for.")
    ] = "tie"
    strict: Annotated[bool, Flag, Parameter(help="Refuse a table with unusable rows.")] = False

    def read(self, table: Path, clock: Clock | None = None) -> Games:
        """Read the table as these options say; periods with names are numbered as by the clock."""
        asked = asdict(self)
        names = {role: asked[role] for role in ROLES}
        for role in self.without:
            plain = role.replace("-", "_")
            if plain not in names:
                raise InputError(f"--without {role}: it may be {', '.join(ROLES)}.")
            if names[plain] is not None:
                raise InputError(f"--without {role}: --{role} names a column; give one of the two.")
            names[plain] = False
        for role in SIDES:
            if isinstance(names[role], str) and "," in names[role]:
                names[role] = tuple(part.strip() for part in names[role].split(","))
        order = listed(self.order)
        if order is None and clock is not None and clock.names and not clock.numbers[0]:
            order = list(clock.names)
        with working(f"reading {table.name}"):
            return read(
                table.address if isinstance(table, Address) else table,
                **names,
                **{name: asked[name] for name in AS_GIVEN},
                order=order,
                grades=None if self.grades is None else self.grades.split(","),
                where=conditions(self.where),
            )

    def repeat(self) -> str:
        """Return the conditions as they were given, for a command to try next."""
        by = "".join(f' --by "{column}"' for column in self.by)
        return by + "".join(f' --where "{condition}"' for condition in self.where)


def listed(order: str | None) -> str | list[str] | None:
    """Return an order as the library takes it: a word, or a list."""
    if order is None or order in {"file", "version"}:
        return order
    return [name.strip() for name in order.split(",") if name.strip()]


def conditions(where: Sequence[str]) -> dict[str, object]:
    """Return COLUMN=VALUE texts as a dictionary."""
    found: dict[str, object] = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals or not column.strip():
            raise InputError(f"--where {text}: give a column and its value, as in format=Modern.")
        if column.strip() in found:
            raise InputError(f"--where {text}: {column.strip()} has a value already; give one.")
        found[column.strip()] = value
    return found
