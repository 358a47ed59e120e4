"""Columns of Parquet and data frames that hold records or lists, laid flat as those of JSON are.

A record's fields get names such as ``winner.name``.  Of lists that are all of one length, such as
the two players of a game or the five of a team, the parts are numbered, ``players.name.1`` and on;
names in lists of several lengths are joined, sorted, into one item a list.
"""

from dataclasses import replace

from intransit.tables.engine import quote
from intransit.tables.intake import Table
from intransit.tables.teams import BETWEEN

DEEPEST = 6  # records within records that are laid flat
MOST_PARTS = 11  # of a list; longer ones are data and not members


def lay_flat(table: Table) -> Table:
    """Return the table without nested columns, as far as it goes."""
    for _ in range(DEEPEST):
        if not any(_is_record(kind) or _is_list(kind) for kind in table.types):
            break
        table = _one_level(table)
    return table


def numbered(name: str) -> tuple[str, str]:
    """Return a name without the number of its part, and that number with its dot."""
    base, dot, number = name.rpartition(".")
    return (base, dot + number) if dot and number.isdigit() else (name, "")


def _is_record(kind: str) -> bool:
    return kind.startswith("STRUCT(") and kind.endswith(")")


def _is_list(kind: str) -> bool:
    return kind.endswith("]")


def _one_level(table: Table) -> Table:
    names: list[str] = []
    types: list[str] = []
    cells: list[str] = []
    for i, (name, kind) in enumerate(zip(table.names, table.types, strict=True)):
        base, number = numbered(name)
        if _is_record(kind):
            fields = table.engine.ask(f"DESCRIBE SELECT c{i}.* FROM {table.rows}")
            names += [f"{base}.{field}{number}" for field, *_ in fields]
            types += [str(inner) for _, inner, *_ in fields]
            cells += [f"struct_extract(c{i}, {quote(str(field))})" for field, *_ in fields]
        elif _is_list(kind):
            inner, n = kind[: kind.rindex("[")], _length(table, i)
            if n is not None:
                names += [f"{name}.{k}" for k in range(1, n + 1)]
                types += [inner] * n
                cells += [f"c{i}[{k}]" for k in range(1, n + 1)]
            else:
                names.append(name)
                types.append("VARCHAR")
                cells.append(_joined(i) if inner == "VARCHAR" else f"c{i}::VARCHAR")
        else:
            names.append(name)
            types.append(kind)
            cells.append(f"c{i}")
    listed = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(cells))
    return replace(
        table,
        names=tuple(names),
        types=tuple(types),
        rows=f"(SELECT {listed} FROM {table.rows})",
        numbered=f"(SELECT {listed}, row FROM {table.numbered})",
    )


def _length(table: Table, column: int) -> int | None:
    """Return the length of lists that are all of one, from 2 to 11; else None."""
    least, most = table.engine.ask(
        f"SELECT min(len(c{column})), max(len(c{column})) FROM {table.rows}"
    )[0]
    return int(least) if least == most and least and 2 <= least <= MOST_PARTS else None


def _joined(column: int) -> str:
    """SQL: the names of a list, sorted, as one text; empty where there is none."""
    kept = f"list_sort(list_filter(c{column}, lambda m: m IS NOT NULL))"
    return f"nullif(array_to_string({kept}, '{BETWEEN}'), '')"
