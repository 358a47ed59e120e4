"""What a table was understood to say: columns, rows that could not be used, remarks."""

from dataclasses import dataclass
from typing import Literal


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
        said = [f"{self.source}: {self.n_used:,} of {self.n_rows:,} rows used"]
        width = max((len(column.role) for column in self.columns), default=0)
        said += [f"  {part.role:<{width}}  {part.name}  ({part.why})" for part in self.columns]
        said += [f"  not used: {describe_unused(part, self.unit)}" for part in self.unused]
        said += [f"  note: {note}" for note in self.notes]
        return said


def describe_unused(part: Unused, unit: str, most: int = 5) -> str:
    """Return a reason with its count and the first places, such as ``2 rows (lines 3, 9)``."""
    rows = plural(part.count, "row")
    shown = ", ".join(str(line) for line in part.lines[:most])
    more = ", ..." if part.count > min(len(part.lines), most) else ""
    place = f" ({plural(part.count, unit).split()[1]} {shown}{more})" if shown else ""
    if part.examples:
        place = f" (such as {part.examples[0]})"
    return f"{rows}{place}: {part.reason}"


def plural(count: int, word: str) -> str:
    """Return a count with its word: 1 row, 2 rows."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")
