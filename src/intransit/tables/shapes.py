"""Tables that do not have one row a game, turned into tables that have.

A matrix, counts of games won and lost, finishing orders and teams of several a side each become
rows of two items with an outcome; the columns they are made of are reported like any other.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from intransit.errors import InputError
from intransit.tables.facts import Facts
from intransit.tables.intake import Table
from intransit.tables.options import Columns, Options
from intransit.tables.reading import Column

ITEM_ROLES = ("first", "second", "winner", "loser")


@dataclass(frozen=True)
class Shaped:
    """A table with one row a game, what its columns are, and what is to be said about it."""

    table: Table
    columns: Columns  # roles that the new columns play
    told: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()
    keeps_where: bool = False  # whether the table still has the rows that `where` leaves out


Find = Callable[[Facts, Options, bool], Shaped | None]


def reshape(facts: Facts, options: Options, finders: Mapping[str, Find]) -> Shaped | None:
    """Return the table with one row a game, or None where it has that already."""
    if options.shape == "games":
        return None
    if options.shape is not None:
        found = finders[options.shape](facts, options, True)
        if found is None:
            label = facts.table.engine.label
            raise InputError(
                f"{label}: the table is not of the shape {options.shape!r}; leave shape= out "
                "(command line: --shape), or see docs/tables.md for what it needs.",
                source=label,
            )
        return found
    for find in finders.values():
        found = find(facts, options, False)
        if found is not None:
            return found
    return None


def named_by_hand(options: Options) -> bool:
    """Return whether the caller names the columns with the items."""
    return any(isinstance(options.columns.get(role), str) for role in ITEM_ROLES)


def apply(options: Options, shaped: Shaped) -> Options:
    """Return the options for the new table: its own columns, and what the caller says besides."""
    columns = {**options.columns, **shaped.columns}
    if shaped.columns.get("outcome"):  # which tells ties too
        columns["tie"] = False
    return replace(options, columns=columns, where={})


def told_by_shape(columns: Sequence[Column], shaped: Shaped) -> list[Column]:
    """Return the columns of a new table with how they came about; nobody named them."""
    made = {name for name in shaped.columns.values() if isinstance(name, str)}
    return [
        replace(column, why=re.sub("^named", "by the shape of the table", column.why))
        if column.name in made
        else column
        for column in columns
    ]


def with_columns(table: Table, extra: Mapping[str, tuple[str, str]]) -> Table:
    """Return the table with further columns, each a name with its type and its SQL."""
    n = len(table.names)
    added = "".join(f", {sql} AS c{n + k}" for k, (_, sql) in enumerate(extra.values()))
    return replace(
        table,
        names=(*table.names, *extra),
        types=(*table.types, *(kind for kind, _ in extra.values())),
        rows=f"(SELECT *{added} FROM {table.rows})",
        numbered=f"(SELECT *{added} FROM {table.numbered})",
    )


def materialised(table: Table, name: str, rows: str, extra: Mapping[str, str]) -> Table:
    """Return new rows (SQL of c0, c1, ... and `row`) as a table; `extra` has names and types."""
    table.engine.run(f"CREATE TEMP TABLE {name} AS {rows}")
    columns = ", ".join(f"c{i}" for i in range(len(table.names) + len(extra)))
    return replace(
        table,
        names=(*table.names, *extra),
        types=(*table.types, *extra.values()),
        rows=f"(SELECT {columns} FROM {name})",
        numbered=f"(SELECT {columns}, row FROM {name})",
    )
