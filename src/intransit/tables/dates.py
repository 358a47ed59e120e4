"""Dates as people write them: ISO, day or month first, in words; as SQL that gives microseconds."""

from dataclasses import dataclass

from intransit.errors import InputError
from intransit.tables.facts import Facts

US_A_DAY = "86400000000.0"
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %I:%M%p")
# A year of two digits comes first: %Y would take 19 for the year 19.
DAY_FIRST = tuple(f"%d{s}%m{s}{year}" for year in ("%y", "%Y") for s in "/.-")
MONTH_FIRST = tuple(f"%m{s}%d{s}{year}" for year in ("%y", "%Y") for s in "/-")
IN_WORDS = (
    *("%d %b %y", "%d %B %y", "%b %d %y", "%B %d %y", "%b %d %Y", "%B %d %Y", "%d %b %Y"),
    *("%d %B %Y", "%Y %b %d", "%Y %B %d", "%Y.%m.%d", "%Y%m%d", "%b %Y", "%B %Y"),
)
UNUSUAL = ("%b %d %H:%M:%S %Y", "%Y%m%dT%H%M%S", "%Y%m%dT%H%M", "%Y.%m.%d-%H.%M.%S")


@dataclass(frozen=True)
class OddDates:
    """How dates that are not in ISO form are read."""

    sql: str  # cell to microseconds
    why: str
    understood: float


def iso(text: str) -> str:
    """SQL: microseconds of a date or date-time; a zone is obeyed, without one it is UTC."""
    month = (
        f"CASE WHEN regexp_full_match({text}, '\\s*\\d{{4}}-\\d{{1,2}}\\s*') "
        f"THEN trim({text}) || '-01' END"
    )
    return (
        f"CASE WHEN strlen({text}) = 10 THEN epoch_us(TRY_CAST({text} AS DATE)) "
        f"WHEN regexp_matches({text}, '^\\s*[+-]?\\d{{4}}') "  # 31/12/23 is not of the year 31
        f"THEN coalesce(epoch_us(TRY_CAST({text} AS TIMESTAMPTZ)), "
        f"epoch_us(TRY_CAST({month} AS DATE))) END"
    )


def read_odd_dates(
    facts: Facts, column: int, filled: int, day_first: bool | None
) -> OddDates | None:
    """Return how dates that are not in ISO form are read, or None where no form fits any."""
    text = facts.text(column)
    cell = _without_trimmings(text)
    found: dict[str, OddDates] = {}
    for why, forms in _forms(facts, column, cell, day_first).items():
        tests = (f"try_strptime(cell, '{form}') IS NOT NULL" for form in forms)
        hits = facts.count_cells(column, *tests, cell=cell)
        used = [form for form, n in zip(forms, hits, strict=True) if n]
        if used:
            listed = ", ".join(f"'{form}'" for form in used)
            zone = _zone(text)
            sql = f"epoch_us(try_strptime({cell}, [{listed}])) - {zone}"
            (n,) = facts.count_cells(column, f"({sql}) IS NOT NULL")
            found[why] = OddDates(sql, why, n / filled)
    if not found:
        return None
    best = max(found.values(), key=lambda way: way.understood)
    first, second = (found.get(f"dates, {which} first") for which in ("day", "month"))
    if first and second and first.understood == second.understood == best.understood:
        name, label = facts.table.names[column], facts.table.engine.label
        raise InputError(
            f'{label}: the dates of "{name}" can be read with the day or the month first; say '
            "day_first=True or day_first=False (command line: --day-first or --month-first), or "
            "write them as 2026-05-01.",
            source=label,
        )
    return best


def _forms(
    facts: Facts, column: int, cell: str, day_first: bool | None
) -> dict[str, tuple[str, ...]]:
    """Return the forms that are worth a try; one look at the cells rules most of them out."""
    in_numbers, in_words, timed = facts.count_cells(
        column,
        "regexp_matches(cell, '^\\d{1,2}[/.-]\\d{1,2}[/.-]\\d')",
        "regexp_matches(cell, '^\\d{4}.*\\d|[a-zA-Z]{3}.*\\d|\\d.*[a-zA-Z]{3}')",
        "contains(cell, ':')",
        cell=cell,
    )
    clocks = CLOCKS if timed else ("",)
    ways: dict[str, tuple[str, ...]] = {}
    if in_numbers and day_first is not False:
        ways["dates, day first"] = _with_clocks(DAY_FIRST, clocks)
    if in_numbers and day_first is not True:
        ways["dates, month first"] = _with_clocks(MONTH_FIRST, clocks)
    if in_words:
        ways["dates in words"] = (*_with_clocks(IN_WORDS, clocks), *UNUSUAL)
    return ways


def _with_clocks(days: tuple[str, ...], clocks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(day + clock for day in days for clock in clocks)


def _without_trimmings(text: str) -> str:
    """SQL: a date without weekday, ordinal endings, commas and zone."""
    for pattern, new in (
        (r"^(mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.]?\s+", ""),
        (r"(\d)(st|nd|rd|th)\b", r"\1"),
        (r"(:\d\d)(?:\.\d+)?\s*\(?(?:gmt|utc|z)?\s*(?:[+-]\d\d:?\d\d)?\s*\)?$", r"\1"),
        (r"(\dT\d+)Z$", r"\1"),
        (r"\bsept\b", "Sep"),
        (r"\bof\b", " "),
        (r"[,\s]+|(?:\b|_)at\b", " "),
        (r"([a-z]{3,})\.", r"\1 "),
        (r"(\d)-([a-z]+)-(\d)", r"\1 \2 \3"),
        (r"\s+", " "),
    ):
        text = f"regexp_replace({text}, '{pattern}', '{new}', 'gi')"
    return f"trim({text})"


def _zone(text: str) -> str:
    """SQL: microseconds that the zone written behind a time is ahead of UTC."""
    found = f"regexp_extract({text}, ':\\d\\d.*?([+-])(\\d\\d):?(\\d\\d)\\s*$', ['s', 'h', 'm'])"
    return (
        f"(CASE WHEN {found}.s = '' THEN 0 ELSE (CASE {found}.s WHEN '-' THEN -60000000 ELSE "
        f"60000000 END) * (60 * TRY_CAST({found}.h AS BIGINT) + TRY_CAST({found}.m AS BIGINT)) END)"
    )
