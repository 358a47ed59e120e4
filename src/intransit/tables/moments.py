"""Which kind of time a column holds, and the SQL that turns its cells into numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from intransit.errors import InputError
from intransit.tables.dates import US_A_DAY, iso, read_odd_dates
from intransit.tables.facts import Facts
from intransit.tables.periods import Periods, as_seasons, as_versions, in_given_order, in_some_order
from intransit.tables.vocabulary import UNIX, VERSIONS, plain

UNITS = (  # smallest size, how many a day, name
    (1e17, 86400e9, "nanoseconds"),
    (1e14, 86400e6, "microseconds"),
    (1e11, 86400e3, "milliseconds"),
    (1e8, 86400.0, "seconds"),
)
TIMED = re.compile(".time|time.")  # start_time; a bare time may count anything
UNIX_FROM = 5e8  # seconds, of 1985: a time of day or a duration is less
Order = str | Sequence[object] | None


@dataclass(frozen=True)
class Moments:
    """How a time column is read."""

    kind: Literal["date", "number"]
    sql: str  # cell to number, NULL where it is no time; empty where `values` has them
    why: str
    understood: float  # share of filled cells
    values: Mapping[str, float] = field(default_factory=dict)  # of periods with names
    names: tuple[str, ...] = ()  # those periods, in their order
    numbers: tuple[float, ...] = ()
    note: str = ""


NO_TIMES = Moments("number", "NULL::DOUBLE", "no times", 0.0)


def read_moments(
    facts: Facts,
    column: int,
    *,
    order: Order = None,
    day_first: bool | None = None,
    any_names: bool = False,
) -> Moments:
    """Return how a column tells time; `understood` is 0 if it does not.

    With `any_names`, periods may have names of any kind, in the order in which the table has them.
    """
    if order == "file" and not facts.table.numbered:
        label = facts.table.engine.label
        raise InputError(
            f'{label}: order="file" is given, but rows of an engine have no order; list the '
            "periods (command line: --order Spring,Summer).",
            source=label,
        )
    if order is not None:
        return _named(facts, column, in_given_order(_cells(facts, column), order))
    kind = facts.table.types[column]
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        stamp = "DATE" if kind == "DATE" else "TIMESTAMPTZ" if "TZ" in kind else "TIMESTAMP"
        stamp = "TIMESTAMPTZ" if "TIME ZONE" in kind else stamp
        cell = f"CAST(c{column} AS {stamp})"  # from seconds, milliseconds or nanoseconds
        sql = f"CASE WHEN isfinite({cell}) THEN epoch_us({cell}) / {US_A_DAY} END"
        if kind == "DATE":
            sql = f"CASE WHEN isfinite({cell}) THEN {cell} - DATE '1970-01-01' END"
        return Moments("date", sql, "dates", 1.0)
    if facts.is_number(column):
        return _numbers(facts, column)
    if not facts.is_text(column):
        return NO_TIMES
    return _texts(facts, column, day_first, any_names)


def _texts(facts: Facts, column: int, day_first: bool | None, any_names: bool) -> Moments:
    text, number, name = facts.raw(column), facts.number(column), plain(facts.table.names[column])
    sql = iso(text)
    filled, numbers, dates = facts.count_cells(
        column, facts.filled(column), f"isfinite({number})", f"({sql}) IS NOT NULL"
    )
    if not filled:
        return Moments("number", "NULL::DOUBLE", "empty", 0.0)
    cells = _cells(facts, column)
    named = as_seasons(cells, by_name="season" in name)
    if named is None and 2 * dates >= filled:
        return Moments("date", f"({sql}) / {US_A_DAY}", "dates", dates / filled)
    named = named or as_versions(cells, by_name=name in VERSIONS)
    if named is None and numbers >= dates and 2 * numbers >= filled:
        return _numbers(facts, column)
    odd = None if named else read_odd_dates(facts, column, filled, day_first)
    if odd is not None and odd.understood >= 0.5:
        return Moments("date", f"({odd.sql}) / {US_A_DAY}", odd.why, odd.understood)
    in_order = any_names and bool(facts.table.numbered)
    named = named or in_some_order(cells, as_the_table_has_them=in_order)
    return _named(facts, column, named)


def _cells(facts: Facts, column: int) -> list[tuple[str, int]]:
    """Return the distinct filled cells in the order of the table, with how often they occur."""
    counts = facts.values(column)
    if counts is None:
        return []
    first = facts.first_rows(column)
    filled = [(text, count) for text, count in counts if text.strip()]
    return sorted(filled, key=lambda cell: (first.get(cell[0], 0), cell[0]))


def _named(facts: Facts, column: int, found: Periods | None) -> Moments:
    cells = _cells(facts, column)
    if found is None or not cells:
        return NO_TIMES
    total = sum(count for _, count in cells)
    known = sum(count for text, count in cells if text in found.values)
    return Moments(
        "number",
        "",
        found.why,
        known / total,
        found.values,
        found.names,
        found.numbers,
        found.note,
    )


def _numbers(facts: Facts, column: int) -> Moments:
    number, name = facts.number(column), plain(facts.table.names[column])
    low, high, filled, fine, days, months = facts.table.engine.ask(
        f"SELECT min(x) FILTER (WHERE isfinite(x)), max(x) FILTER (WHERE isfinite(x)), "
        f"{facts.tally(facts.filled(column))}, {facts.tally('isfinite(x)')}, "
        f"{facts.tally('x BETWEEN 10000101 AND 29991231')}, "
        f"{facts.tally('x BETWEEN 180001 AND 219912 AND x % 100 BETWEEN 1 AND 12')} "
        f"FROM (SELECT *, {number} AS x FROM {facts.rows_about(number)})"
    )[0]
    if not fine:
        return NO_TIMES
    share = float(fine / filled)
    finite = f"CASE WHEN isfinite({number}) THEN {number} END"
    digits = f"CAST(TRY_CAST({number} AS BIGINT) AS VARCHAR)"
    if "date" in name and days == fine:
        sql = f"epoch_us(try_strptime({digits}, '%Y%m%d')) / {US_A_DAY}"
        return Moments("date", sql, "dates as digits", share)
    if ("month" in name or "date" in name) and months == fine:
        sql = f"epoch_us(try_strptime({digits} || '01', '%Y%m%d')) / {US_A_DAY}"
        return Moments("date", sql, "months as digits", share)
    size = max(abs(low), abs(high))
    if UNIX.match(name) or "date" in name or (TIMED.search(name) and low >= UNIX_FROM):
        for least, a_day, unit in UNITS:
            if size >= least:
                return Moments("date", f"({finite}) / {a_day!r}", f"unix {unit}", share)
    note = ""
    if name in VERSIONS and facts.is_number(column):
        note = (
            f'"{facts.table.names[column]}" is a column of numbers, in which 13.10 is 13.1; if '
            "they are versions, store them as text"
        )
    return Moments("number", finite, "numbers", share, note=note)
