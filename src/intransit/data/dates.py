"""Dates as tables write them: with the day or the month first, in words of several languages."""

import re

from intransit.data.engine import SPACES, Facts, quote
from intransit.data.games import DATES, US_A_DAY, TimeColumn
from intransit.data.vocabulary import MONTHS, without_accents

CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %I:%M%p")
# A year of two digits comes first: %Y would take 19 for the year 19.
DAY_FIRST = tuple(f"%d{s}%m{s}{year}" for year in ("%y", "%Y") for s in "/.-")
MONTH_FIRST = tuple(f"%m{s}%d{s}{year}" for year in ("%y", "%Y") for s in "/.-")
IN_WORDS = (
    *("%d %b %y", "%d %B %y", "%b %d %y", "%B %d %y", "%b %d %Y", "%B %d %Y", "%d %b %Y"),
    *("%d %B %Y", "%Y %b %d", "%Y %B %d", "%Y.%m.%d", "%Y/%m/%d", "%Y%m%d", "%b %Y", "%B %Y"),
    *("%m/%Y", "%m-%Y"),
)
MONTHS_ABROAD = """enero ene janeiro janvier janv gennaio gen januar januari stycznia ocak |
    febrero fevereiro fev fevrier fevr febbraio februar februari lutego subat | marzo marco mars
    marz maart mrt marca mart | abril abr avril avr aprile kwietnia nisan | mayo maio mai maggio
    mag mei maja mayis | junio junho juin giugno giu juni czerwca haziran | julio julho juillet
    juil luglio lug juli lipca temmuz | agosto ago aout augustus sierpnia agustos | septiembre
    setiembre setembro set septembre settembre wrzesnia eylul | octubre outubro out octobre
    ottobre ott oktober okt pazdziernika ekim | noviembre novembro novembre listopada kasim |
    diciembre dic dezembro dez decembre dicembre dezember grudnia aralik"""  # not as in English
BARE = re.compile("[0-9/.-]*[0-9]")  # dates with nothing to take off
FIRST_YEAR = "TIMESTAMP '1000-01-01'"  # Apr 1 is not April of the year 1
UNUSUAL = (
    *("%b %d %H:%M:%S %Y", "%Y%m%dT%H%M%S", "%Y%m%dT%H%M", "%Y.%m.%d-%H.%M.%S"),
    *("%Y-%m-%d %I:%M %p", "%Y-%m-%d %I:%M:%S %p"),
)


def read_odd_dates(
    facts: Facts, column: int, text: str, filled: int, day_first: bool | None
) -> TimeColumn | None:
    """Return how dates, in SQL `text`, that are not in ISO form are read; None if no form fits."""
    cell, zone = f"trim({text})", "0"
    known = facts.values(column)
    if known is None or not all(BARE.fullmatch(each.strip(SPACES)) for each, _ in known):
        cell, zone = _without_trimmings(_in_english(facts, column, cell)), _zone(text)
    found: dict[str, TimeColumn] = {}
    for why, forms in _forms(facts, column, cell, day_first).items():
        tests = (f"try_strptime(cell, '{form}') >= {FIRST_YEAR}" for form in forms)
        hits = facts.count_cells(column, *tests, cell=cell)
        used = [form for form, n in zip(forms, hits, strict=True) if n]
        if used:
            listed = ", ".join(f"'{form}'" for form in used)
            moment = f"try_strptime({cell}, [{listed}])"
            sql = f"CASE WHEN {moment} >= {FIRST_YEAR} THEN epoch_us({moment}) - {zone} END"
            (n,) = facts.count_cells(column, f"({sql}) IS NOT NULL")
            found[why] = TimeColumn(DATES, f"({sql}) / {US_A_DAY}", why, n / filled)
    if not found:
        return None
    best = max(found.values(), key=lambda way: way.understood)
    first, second = (found.get(f"dates, {which} first") for which in ("day", "month"))
    dotted = all(re.match(r"\d\d?\.", text) for text in facts.sample(column))
    if first and second and first.understood == second.understood == best.understood:
        if dotted:  # so nearly all write the day first
            return first
        raise facts.refuse(
            f'the dates of "{facts.names[column]}" can be read with the day or the month '
            "first; say day_first=True or day_first=False (command line: --day-first or "
            "--month-first), or write them as 2026-05-01."
        )
    parts = [re.match(r"(\d\d)[/.-]\d\d[/.-](\d\d)(?!\d)", t) for t in facts.sample(column)]
    ends = [({match[1] for match in parts if match}), {match[2] for match in parts if match}]
    if day_first is None and all(parts) and len(ends[0]) < len(ends[1]) and max(ends[1]) < "32":
        raise facts.refuse(  # of two digits, the year is the one that changes less often
            f'the dates of "{facts.names[column]}" seem to begin with a year of two digits; write '
            "them as 2026-05-01, or say day_first=True or day_first=False (command line: "
            "--day-first or --month-first)."
        )
    return best


def _in_english(facts: Facts, column: int, text: str) -> str:
    """SQL: a cell with months of other languages as in English."""
    letters = {w for cell in facts.sample(column) for w in re.findall(r"[^\W\d_]{3,}", cell)}
    for word in sorted(letters, key=len, reverse=True):
        for month, names in zip(MONTHS, MONTHS_ABROAD.split("|"), strict=True):
            if without_accents(word) in names.split():
                text = f"regexp_replace({text}, {quote(word)}, '{month}', 'g')"
    return text


def _forms(
    facts: Facts, column: int, cell: str, day_first: bool | None
) -> dict[str, tuple[str, ...]]:
    """Return the forms that are worth a try; one look at the cells rules most of them out."""
    in_numbers, in_words, timed = facts.count_cells(
        column,
        "regexp_matches(cell, '^\\d{1,2}[/.-]\\d{1,2}[/.-]\\d')",
        "regexp_matches(cell, '^\\d{4}.*\\d|[a-zA-Z]{3}.*\\d|\\d.*[a-zA-Z]{3}|^\\d+[/-]\\d{4}$')",
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
        (r"^\(?(mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.)]{0,2}\s+", ""),
        (r"\s+\(w\d+\)$", ""),  # of the week
        (r"^(about|circa|before|after|until)\b", "~"),  # no day that is known
        # In any language; with a year of two digits, as "Sa. 02.03.24": "Patch 1.2.3" is no date.
        (r"^\pL+[,.]?\s+(\d\d?[./-]\d\d?[./-]\d{4}|\d{4}[/-]\d\d?[/-]\d)", r"\1"),
        (r"^\pL{2}[,.]?\s+(\d\d[./-]\d\d[./-]\d\d)", r"\1"),
        (r"(\d)(st|nd|rd|th)\b", r"\1"),
        (r"(\d)[年년月월]\s*", r"\1/"),
        (r"(\d)[日일]", r"\1"),
        (
            r"(:\d\d)(?:\.\d+)?(\s*[ap]m)?\s*\(?(?:gmt|utc|z)?\s*"
            r"(?:[+-]\d\d?(?::?\d\d)?)?\s*\)?$",
            r"\1\2",
        ),
        (r"(\dT\d+)Z$", r"\1"),
        (r"\s[-–|]\s+(\d?\d:\d\d)", r" \1"),
        (r"\bsept\b", "Sep"),
        (r"\b(of|de|del)\b", " "),
        (r"\.\s+(\d)", r".\1"),
        (r"^(\d\d?)\.\s+", r"\1 "),
        (r"[,\s]+|(?:\b|_)at\b", " "),
        (r"([a-z]{3,})\.", r"\1 "),
        (r"(\d)-([a-z]+)-(\d)", r"\1 \2 \3"),
        (rf"^(\d\d?)((?:{'|'.join(MONTHS)})[a-z]*)(\d\d)", r"\1 \2 \3"),  # 01May24
        (r"([a-z]{3,})-(\d{4})$", r"\1 \2"),
        (r"(\d)\.$", r"\1"),
        (r"\s+", " "),
    ):
        text = f"regexp_replace({text}, '{pattern}', '{new}', 'gi')"
    return f"trim({text})"


def _zone(text: str) -> str:
    """SQL: microseconds that the zone written behind a time is ahead of UTC."""
    zone = ":\\d\\d.*?([+-])(\\d\\d?):?(\\d\\d)?\\s*\\)?$"
    found = f"regexp_extract({text}, '{zone}', ['s', 'h', 'm'])"
    return (
        f"(CASE WHEN {found}.s = '' THEN 0 ELSE (CASE {found}.s WHEN '-' THEN -60000000 ELSE "
        f"60000000 END) * (60 * TRY_CAST({found}.h AS BIGINT) + "
        f"coalesce(TRY_CAST({found}.m AS BIGINT), 0)) END)"
    )
