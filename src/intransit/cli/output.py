"""What a command shows: tables for people, JSON or CSV for machines, progress beside them.

With ``--json`` or ``--csv`` the standard output carries the data and nothing else; every remark
then goes to the standard error.  Names are shown as they are, never read as markup.
"""

import csv
import io
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter
from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from intransit.errors import InputError
from intransit.percent import estimate, percent

if TYPE_CHECKING:
    from intransit.analysis.standings import Standing

BAR = 20  # characters of a bar
# Characters that the numbers, a date, and range and rating take, with the gaps between.
NUMBERS, DATE, MORE = 46, 13, 20
EIGHTHS = " ▏▎▍▌▋▊▉█"
LINE, POINT, HALF = "─", "●", "┊"
WINS = "Wins: mean probability of beating each of the others, a tie as half{where}."
RATING_AND_RANGE = (
    " Rating: an average item has 1500; one with 400 points more beats it 10 times out of 11. "
    "Range: {level} interval of the rank."
)
LONGEST_NAME = 40  # letters of a name that others make room for; longer ones take several lines
NARROW = 0.05  # scale of shares whose ends have a digit more
WIDE = 120  # columns, where the output is no terminal and nothing is cut off to fit
Row = Mapping[str, object]
Report = Callable[[str], None]


@Parameter(name="*", group=Group("For scripts", sort_key=90))
@dataclass(frozen=True, kw_only=True)
class Output:
    """The form of what a command gives."""

    json: Annotated[bool, Parameter(negative=(), show_default=False, help="Print JSON.")] = False
    csv: Annotated[bool, Parameter(negative=(), show_default=False, help="Print CSV.")] = False

    @property
    def for_machines(self) -> bool:
        """Whether the standard output is kept for data."""
        return self.json or self.csv

    @property
    def console(self) -> Console:
        """Where remarks for people go."""
        return open_console(stderr=self.for_machines)

    def say(self, *lines: str) -> None:
        """Print remarks, one a line, whole words broken only by the terminal."""
        for line in lines:
            self.console.print(Text(visible(line)), soft_wrap=True)

    def show(
        self, data: object, rows: Sequence[Row], people: Callable[[Console], None] | None = None
    ) -> None:
        """Give the data as JSON, the rows as CSV, or all of it to people."""
        if self.json:
            sys.stdout.write(to_json(data))
        elif self.csv:
            sys.stdout.write(to_csv(rows))
        elif people:
            people(self.console)


def chosen(output: Output | None) -> Output:
    """Return the form that was asked for; two at once are refused."""
    if output and output.json and output.csv:
        raise InputError("--json and --csv: give one of them, not both.")
    return output or Output()


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that takes every text as it is."""
    plain = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not plain.is_terminal and "COLUMNS" not in os.environ:
        plain.width = WIDE
    return plain


def visible(text: object) -> str:
    """Return a text in which no character can steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def grid(titles: Sequence[str] | Mapping[str, bool], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table of texts; columns whose titles begin with # are flush right.

    Titles may come with whether their column is shown.
    """
    shown = list(titles.values()) if isinstance(titles, Mapping) else [True] * len(titles)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for title in compress(titles, shown):
        words, flush = title.removeprefix("#"), title.startswith("#")
        side: JustifyMethod = "right" if flush else "left"
        table.add_column(words, justify=side, no_wrap=flush, overflow="fold")
    for row in rows:
        cells = compress(row, shown)
        table.add_row(*(cell if isinstance(cell, Text) else visible(cell) for cell in cells))
    return table


def heading(console: Console, text: str) -> None:
    """Print what the rest is about."""
    console.print(Text(visible(text), style="bold"), soft_wrap=True)


def facts(pairs: Sequence[tuple[str, str]]) -> Table:
    """Return two columns: what, and what it is."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for what, value in pairs:
        table.add_row(what, visible(value))
    return table


def ranking(standings: Sequence["Standing"], level: float, width: int) -> Table:
    """Return standings as a table; on a narrow page, drawings, range and rating give way."""
    low, high = min(one.low for one in standings), max(one.high for one in standings)
    dated = any(one.last for one in standings)
    digits = int(high - low < NARROW)
    least, most = percent(low, digits), percent(high, digits)
    scale = least.ljust(BAR - len(most)) + most
    longest = min(max(len(visible(one.name)) for one in standings), LONGEST_NAME)
    room = width - longest - NUMBERS - (DATE if dated else 0)
    drawn, whole = room >= MORE + BAR, room >= MORE
    columns = {
        "#": True,
        "#range": whole,
        "item": True,
        "#wins": True,
        f"#{percent(level)} interval": True,
        scale: drawn,
        "#rating": whole,
        "#games": True,
        "last game": dated,
    }
    rows = (
        [
            str(one.rank),
            f"{one.rank_low}–{one.rank_high}",
            one.name,
            *estimate(one.strength, one.low, one.high, 1),
            Text(whiskers(one.low, one.strength, one.high, low, high), style="cyan"),
            f"{one.rating:.0f}",
            f"{one.games:,.12g}",
            one.last,
        ]
        for one in standings
    )
    table = grid(columns, rows)
    for column in table.columns[3 if whole else 2 :]:
        column.no_wrap = True
    return table


def meaning(table: Table, level: float, where: str) -> str:
    """Say what the columns of a table of standings are, of those that there was room for."""
    whole = any(column.header == "rating" for column in table.columns)
    return (WINS + whole * RATING_AND_RANGE).format(where=where, level=percent(level))


def whiskers(low: float, middle: float, high: float, least: float, most: float) -> str:
    """Return an interval drawn on a scale from `least` to `most`, with a mark at a half."""
    span = max(most - least, 1e-12)
    a, m, b, half = (round((x - least) / span * (BAR - 1)) for x in (low, middle, high, 0.5))
    drawn = [" "] * BAR
    if 0 <= half < BAR:
        drawn[half] = HALF
    drawn[a : b + 1] = LINE * (b + 1 - a)
    drawn[min(max(m, 0), BAR - 1)] = POINT
    return "".join(drawn)


def bar(share: float) -> str:
    """Return a share from 0 to 1 as a bar of block characters."""
    eighths = round(share * BAR * 8)
    full, rest = divmod(max(0, min(eighths, BAR * 8)), 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(BAR)


def to_json(data: object) -> str:
    """Return data as JSON; a number that is none (infinite, say) becomes null."""
    return json.dumps(_finite(data), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _finite(data: object) -> object:
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def to_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV with a header; what is not known stays empty."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, list | tuple):
        return "; ".join(str(part) for part in value)
    return "" if value != value else value  # noqa: PLR0124  not a number


@contextmanager
def working(words: str) -> Iterator[Report]:
    """Show on a terminal what is being done, and nothing anywhere else."""
    console = open_console(stderr=True)
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with console.status(Elapsed(words)) as status:
        yield lambda said: status.update(Elapsed(said))


class Elapsed:
    """What is being done, and for how long; a terminal draws it again and again."""

    def __init__(self, words: str) -> None:
        self.words, self.began = visible(words), time.monotonic()

    def __rich__(self) -> Text:
        seconds = int(time.monotonic() - self.began)
        return Text(f"{self.words} ({seconds} s)" if seconds else self.words)
