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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from intransit.errors import InputError

WIDE = 120  # columns, where the output is no terminal and nothing is cut off to fit
Row = Mapping[str, object]
Report = Callable[[str], None]


@Parameter(name="*", group=Group("For machines", sort_key=90))
@dataclass(frozen=True, kw_only=True)
class Output:
    """The form of what a command gives."""

    json: Annotated[bool, Parameter(negative=(), show_default=False, help="Give JSON.")] = False
    csv: Annotated[bool, Parameter(negative=(), show_default=False, help="Give CSV.")] = False

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


def grid(*headers: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; the columns listed in `right` are flush right."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for header in headers:
        flush = header in right
        table.add_column(
            header, justify="right" if flush else "left", no_wrap=flush, overflow="fold"
        )
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
    return value


@contextmanager
def working(words: str) -> Iterator[Report]:
    """Show on a terminal what is being done, and nothing anywhere else."""
    console = open_console(stderr=True)
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with console.status(Text(visible(words))) as status:
        yield lambda said: status.update(Text(visible(said)))
