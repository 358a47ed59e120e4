"""Which kind of time a column holds, and the SQL that turns its cells into numbers."""

from dataclasses import dataclass
from typing import Literal

from intransit.errors import InputError
from intransit.tables.facts import Facts
from intransit.tables.vocabulary import UNIX, plain

US_A_DAY = "86400000000.0"
UNITS = (  # smallest size, how many a day, name
    (1e17, 86400e9, "nanoseconds"),
    (1e14, 86400e6, "microseconds"),
    (1e11, 86400e3, "milliseconds"),
    (1e8, 86400.0, "seconds"),
)
DAY_FIRST = ("%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M")
MONTH_FIRST = ("%m/%d/%Y", "%m/%d/%Y %H:%M")
OTHER = ("%Y.%m.%d", "%b %d, %Y", "%d %b %Y", "%B %d, %Y", "%d %B %Y")


@dataclass(frozen=True)
class Moments:
    """How a time column is read."""

    kind: Literal["date", "number"]
    sql: str  # cell to number, NULL where it is no time
    why: str
    understood: float  # share of filled cells


def read_moments(facts: Facts, column: int) -> Moments:
    """Return how a column tells time; `understood` is 0 if it does not."""
    kind = facts.table.types[column]
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        stamp = "DATE" if kind == "DATE" else "TIMESTAMPTZ" if "TZ" in kind else "TIMESTAMP"
        stamp = "TIMESTAMPTZ" if "TIME ZONE" in kind else stamp
        cell = f"CAST(c{column} AS {stamp})"  # from seconds, milliseconds or nanoseconds
        sql = f"CASE WHEN isfinite({cell}) THEN epoch_us({cell}) / {US_A_DAY} END"
        return Moments("date", sql, "dates", 1.0)
    if facts.is_number(column):
        return _numbers(facts, column)
    if not facts.is_text(column):
        return Moments("number", "NULL::DOUBLE", "no times", 0.0)
    return _texts(facts, column)


def _texts(facts: Facts, column: int) -> Moments:
    text, number = facts.raw(column), facts.number(column)
    iso = _iso(text)
    filled, numbers, dates = facts.count_cells(
        column, facts.filled(column), f"isfinite({number})", f"({iso}) IS NOT NULL"
    )
    if not filled:
        return Moments("number", "NULL::DOUBLE", "empty", 0.0)
    if 2 * dates >= filled:
        return Moments("date", f"({iso}) / {US_A_DAY}", "dates", dates / filled)
    if numbers >= dates and 2 * numbers >= filled:
        return _numbers(facts, column)
    return _odd_dates(facts, column, filled)


def _odd_dates(facts: Facts, column: int, filled: int) -> Moments:
    """Return how dates that are not in ISO form are to be read."""
    text = facts.text(column)
    forms = {
        "dates, day first": _formats(text, DAY_FIRST),
        "dates, month first": _formats(text, MONTH_FIRST),
        "dates in words": _formats(text, OTHER),
    }
    found = facts.count_cells(column, *(f"({sql}) IS NOT NULL" for sql in forms.values()))
    best = max(range(len(found)), key=lambda i: found[i])
    if best < 2 and found[0] and found[0] == found[1]:
        name, label = facts.table.names[column], facts.table.engine.label
        raise InputError(
            f'{label}: the dates of "{name}" can be read with the day or the month first; '
            "write them as 2026-05-01.",
            source=label,
        )
    why, sql = list(forms.items())[best]
    return Moments("date", f"({sql}) / {US_A_DAY}", why, found[best] / filled)


def _iso(text: str) -> str:
    """SQL: microseconds of a date or date-time; a zone is obeyed, without one it is UTC."""
    month = (
        f"CASE WHEN regexp_full_match({text}, '\\s*\\d{{4}}-\\d{{1,2}}\\s*') "
        f"THEN trim({text}) || '-01' END"
    )
    return (
        f"CASE WHEN strlen({text}) = 10 THEN epoch_us(TRY_CAST({text} AS DATE)) ELSE "
        f"coalesce(epoch_us(TRY_CAST({text} AS TIMESTAMPTZ)), "
        f"epoch_us(TRY_CAST({month} AS DATE))) END"
    )


def _formats(text: str, formats: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{form}'" for form in formats)
    return f"epoch_us(try_strptime({text}, [{listed}]))"


def _numbers(facts: Facts, column: int) -> Moments:
    number, name = facts.number(column), plain(facts.table.names[column])
    low, high, filled, fine, days = facts.table.engine.ask(
        f"SELECT min(x) FILTER (WHERE isfinite(x)), max(x) FILTER (WHERE isfinite(x)), "
        f"count(*) FILTER (WHERE {facts.filled(column)}), count(*) FILTER (WHERE isfinite(x)), "
        "count(*) FILTER (WHERE x BETWEEN 10000101 AND 29991231) "
        f"FROM (SELECT *, {number} AS x FROM {facts.rows})"
    )[0]
    if not fine:
        return Moments("number", "NULL::DOUBLE", "no times", 0.0)
    share = fine / filled
    finite = f"CASE WHEN isfinite({number}) THEN {number} END"
    if "date" in name and days == fine:
        digits = f"CAST(TRY_CAST({number} AS BIGINT) AS VARCHAR)"
        sql = f"{_formats(digits, ('%Y%m%d',))} / {US_A_DAY}"
        return Moments("date", sql, "dates as digits", share)
    size = max(abs(low), abs(high))
    if UNIX.match(name):
        for least, a_day, unit in UNITS:
            if size >= least:
                return Moments("date", f"({finite}) / {a_day!r}", f"unix {unit}", share)
    return Moments("number", finite, "numbers", share)
