"""Times as tables write them, and the SQL that turns the cells of a column into numbers.

Dates may be in ISO form, with the day or the month first, or in words.  Periods that have names
(seasons, versions, rounds, sets) stand in an order that is found or given.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from intransit.data import vocabulary as words
from intransit.data.engine import Facts, quote
from intransit.data.games import DATES, US_A_DAY, Clock, TimeColumn
from intransit.data.outcomes import is_switch
from intransit.data.roles import Search
from intransit.data.vocabulary import CLEAR, ENOUGH, UNIX, VERSIONS, in_turn, plain
from intransit.errors import InputError

NUMBERS = Clock("number")
IN_A_YEAR = "parts of a year, from winter to autumn"
YEAR_LAST = re.compile(  # Q3 2023, Week 51 2023, 3Q23
    r"\b((?:19|20)\d\d)\b|(?:[1-4]\s*[qh]|[qh]\s*[1-4])\D{0,4}(\d\d)$", re.IGNORECASE
)
SEASON = re.compile(r"(\d{4}|\d\d)\s*[-/–]\s*(\d{4}|\d\d)")
VERSION = re.compile(r"[vV]?\d+(\.\d+)+([._\- ]?[A-Za-z]+\d*)?")
CENTURY = 70  # 69/70 began in 1969, 20/21 in 2020
MOST_DAYS = 31  # of a tournament
MOST_PERIODS = 2_000  # distinct names; beyond, they are no periods
KNOCK_OUT = """qualifying qualification preliminary q1 q2 q3 | groupstage group groups
    leaguestage league rr | roundof128 r128 1/64 | roundof64 r64 1/32 | roundof32 r32 1/16 |
    roundof16 r16 1/8 lastsixteen eighthfinals eighthfinal | quarterfinals quarterfinal qf
    quarters 1/4 | semifinals semifinal sf semis 1/2 | thirdplace thirdplaceplayoff bronze
    bronzefinal 3rdplace br | final finals f thefinal | grandfinal grandfinals"""
# Of several moments of one game, the first that every row has is taken: when it was played.
MOMENTS = in_turn(
    "date datetime playedat played playedon starttime startedat started startat beginat "
    "completedat completed finishedat endedat endat createdat created scheduledat"
)
PARTS = ("winter", "spring", "summer", "(?:fall|autumn)")  # of a year, beside its number
ZONES = (  # that engines do not know, or take for a place with a summer time
    *(("-04", "EDT"), ("-05", "EST|CDT"), ("-06", "CST|MDT"), ("-07", "MST|PDT"), ("-08", "PST")),
    *(("+01", "BST|CET|WEST"), ("+02", "CEST|EET"), ("+03", "EEST"), ("+09", "JST|KST")),
)
ZONED = r":[0-9]{2}[ \t\n\f\r]*[A-Z]{3,4}[ \t\n\f\r]*$"
DAYS_OF_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MONTHS = in_turn(
    "january february march april may june july august september october november december"
)
Cells = Sequence[tuple[str, int]]  # distinct texts in the order of the table, and how often


def as_seasons(cells: Cells, *, by_name: bool) -> TimeColumn | None:
    """Return seasons such as 2019-20 and 19/20 with the year in which they began, or None."""
    begins: dict[str, int] = {}
    for text, _ in cells:
        match = SEASON.fullmatch(text.strip())
        if match is None or int(match[2]) % 100 != (int(match[1]) + 1) % 100:
            return None
        if len(match[1]) == 2 and not by_name:
            return None
        year = int(match[1])
        begins[text] = year if year > 99 else year + (1900 if year >= CENTURY else 2000)
    if not begins or (len(begins) == 1 and not by_name):  # 2009-10 alone may be a month
        return None
    order = sorted({year: text.strip() for text, year in begins.items()}.items())
    values = {text: float(year) for text, year in begins.items()}
    names, numbers = tuple(text for _, text in order), tuple(float(year) for year, _ in order)
    return _periods("seasons, by the year in which they begin", names, values, numbers)


def month_of(text: str) -> int:
    """Return the number of a month that is called by its English name, 0 for other texts."""
    word = re.sub("^sept$", "sep", text.strip().casefold().rstrip("."))
    return next((k for k, name in enumerate(MONTHS, 1) if word in {name, name[:3]}), 0)


def _in_a_year(text: str) -> tuple[int, int] | None:
    """Return how late in a year a month or day without a year is, and how many a year has."""
    if month_of(text):
        return month_of(text) - 1, 12
    bare = re.sub(r"^(mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.]?\s+", "", text.strip().casefold())
    match = re.fullmatch(r"([a-z.]+)\s+(\d\d?)|(\d\d?)\.?\s+([a-z.]+)", bare)
    month, day = (match[1] or match[4], match[2] or match[3]) if match else ("", "0")
    if not month_of(month) or not 0 < int(day) < 32:
        return None
    return sum(DAYS_OF_MONTHS[: month_of(month) - 1]) + int(day) - 1, sum(DAYS_OF_MONTHS)


def as_parts_of_a_year(facts: Facts, column: int, cells: Cells) -> TimeColumn | None:
    """Return months or days without a year, where the table has them one after the other.

    They are counted from January of the first year, so that January comes after December; None
    where the table has them in no order, and nothing says which year is meant.
    """
    at = {text: place for text, _ in cells if (place := _in_a_year(text)) is not None}
    if not at or len(at) < len(cells) or len({size for _, size in at.values()}) > 1:
        return None
    of_days = max(size for _, size in at.values()) > 12  # of months, years are taken too
    years = [i for i, name in enumerate(facts.plain) if name in words.YEARS and of_days]
    if not facts.table.ordered or any(len(facts.sample(i)) > 1 for i in years):
        return None
    ends = facts.engine.ask(
        f"SELECT {facts.raw(column)}, min(row), max(row) FROM {facts.rows} GROUP BY ALL"
    )
    seen = sorted((first, last, str(text)) for text, first, last in ends if str(text) in at)
    start, size = at[seen[0][2]]
    values: dict[str, float] = {}
    now, end = start, 0
    for first, last, text in seen:
        steps = (at[text][0] - now) % size
        now += steps
        if first < end or (values and not steps) or now >= start + size:
            return None
        values[text], end = float(now), last
    names, numbers = tuple(text.strip() for text in values), tuple(values.values())
    what = "months" if size == 12 else "days"
    found = _periods(f"{what}, one after the other as the table has them", names, values, numbers)
    return replace(found, note=f"no year is given: the {what} are taken as those of one year")


def as_versions(cells: Cells, *, by_name: bool) -> TimeColumn | None:
    """Return versions such as 13.8 < 13.10 and v1.0.2, or None where they are plain numbers."""
    texts = [text.strip() for text, _ in cells]
    if not texts or not all(VERSION.fullmatch(text) or text.isdecimal() for text in texts):
        return None
    dated = any(re.fullmatch(r"(\d+\.\d+\.)?\d{4}(\.\d+\.\d+)?", text) for text in texts)
    if not by_name and (dated or all(re.fullmatch(r"[0-3]\d\.[01]\d\.\d\d", t) for t in texts)):
        return None  # 31.12.2023, 31.12.23
    plain = all(re.fullmatch(r"\d+(\.\d+)?", text) for text in texts)
    same = len({float(text) for text in texts}) < len(set(texts)) if plain else False
    if plain and not by_name and not same:
        return None
    parts = {int(text.partition(".")[2] or 0) for text in texts} if plain else set()
    if plain and not by_name and not any(part >= 10 and part - 1 in parts for part in parts):
        return None  # not both 9 and 10: 1.0 beside 1.00 are decimals that were written carelessly
    return _sorted(cells, natural, "versions, in their order")


def in_some_order(cells: Cells, *, as_the_table_has_them: bool) -> TimeColumn | None:
    """Return rounds, or names that differ by their numbers; else in the order of the table."""
    if not cells or len(cells) > MOST_PERIODS:
        return None
    if all(_round(text) is not None for text, _ in cells):
        return _sorted(cells, _round, "rounds, the final last")
    dates = re.compile(r"\d[/.\-]\s?\d{1,2}[/.\-]\s?\d|\d:\d\d|\d{9}")
    if any(dates.search(text) or (_in_a_year(text) or (0, 0))[1] > 12 for text, _ in cells):
        return None
    dated = all(YEAR_LAST.search(text) for text, _ in cells)
    key = _year_first if dated else natural
    bare = {
        re.sub(r"\d+", "#", (_in_digits(t) if dated else t).strip().casefold()) for t, _ in cells
    }
    if len(bare) == 1 and "#" in next(iter(bare)):
        in_words = dated and any(_in_digits(text) != text for text, _ in cells)
        why = IN_A_YEAR if in_words else "periods, by the numbers in their names"
        late = _sorted(cells, lambda text: key(re.sub("(?i)winter", "5", text)), why)
        as_listed = tuple(dict.fromkeys(text.strip() for text, _ in cells))  # December, or January
        return late if late.clock.names == as_listed else _sorted(cells, key, why)
    if not as_the_table_has_them:
        return None
    found = _sorted(cells, lambda _: 0, "periods, in the order in which the table has them")
    note = (
        f'the periods were taken as the table has them, from "{found.clock.names[0]}" to '
        f'"{found.clock.names[-1]}"; give another order with order= (command line: --order)'
    )
    return replace(found, note=note)


def in_given_order(cells: Cells, order: str | Sequence[object]) -> TimeColumn | None:
    """Return periods as the caller orders them: a list, as versions, or as the table does."""
    if isinstance(order, str):
        ways: dict[str, Callable[[str], object]] = {"file": lambda _: 0, "version": natural}
        if order not in ways:
            raise InputError(
                f'order is {order!r}; it must be "file", "version", or a list of the periods.'
            )
        return _sorted(cells, ways[order], f"periods, ordered by {order}")
    given = [str(name).strip() for name in order]
    if len(set(given)) < len(given) or not given:
        raise InputError("order: it must list periods, each once.")
    place = {name: k for k, name in enumerate(given)}
    rest = [(text, n) for text, n in cells if text.strip() not in place]
    versions = all(re.search(r"\d", text) for text, _ in rest)
    later = _sorted(rest, natural if versions else lambda _: 0, "").clock.names
    names = (*given, *later)
    values = {text: float(names.index(text.strip())) for text, _ in cells}
    more = f" and {len(later) - 1} more" if len(later) > 1 else ""
    note = f'order does not list "{later[0]}"{more}; they come after the others' if rest else ""
    return replace(_periods("periods, in the order given", names, values), note=note)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts numbers inside text by size: 13.8 before 13.10."""
    parts = re.findall(r"\d+|[^\d.\s_\-]+", text.casefold().removeprefix("v"))
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)


def _in_digits(text: str) -> str:
    """Return a text in which winter is 1, spring 2, summer 3 and autumn 4."""
    for k, part in enumerate(PARTS, start=1):
        text = re.sub(rf"(?i)\b{part}\b", str(k), text)
    return text


def _year_first(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts by the year first, wherever it stands."""
    match = YEAR_LAST.search(text)
    year = int(match[1] or match[2]) if match else 0
    return ((1, year, ""), *natural(_in_digits(text)))


def _sorted(cells: Cells, key: Callable[[str], object], why: str) -> TimeColumn:
    names = tuple(dict.fromkeys(text.strip() for text, _ in cells))
    names = tuple(sorted(names, key=key))  # type: ignore[arg-type]
    place = {name: float(k) for k, name in enumerate(names)}
    values = {text: place[text.strip()] for text, _ in cells}
    return _periods(why, names, values)


def _periods(
    why: str,
    names: tuple[str, ...],
    values: Mapping[str, float],
    numbers: tuple[float, ...] | None = None,
) -> TimeColumn:
    """Return periods with names, counted from 0 unless they have numbers of their own."""
    clock = Clock("number", names, numbers or tuple(float(k) for k in range(len(names))))
    return TimeColumn(clock, "", why, whole=True, values=values)


def _round(text: str) -> int | None:
    """Return how late a round is, or None where a text names none."""
    word = re.sub(r"[\s_\-]+", "", text.casefold())
    return next((k for k, names in enumerate(KNOCK_OUT.split("|")) if word in names.split()), None)


UNITS = (  # smallest size, how many a day, name
    *((1e17, 86400e9, "nanoseconds"), (1e14, 86400e6, "microseconds")),
    *((1e11, 86400e3, "milliseconds"), (1e8, 86400.0, "seconds")),
)
TIMED = re.compile("time")
SPREADSHEET = (20_000.0, 80_000.0)  # days since 1899-12-30: from 1954 to 2119
SPREADSHEET_1970 = 25_569  # 1970-01-01
IN_DIGITS = re.compile(r"(?:[01]?\d|2[0-3])[0-5]\d")  # 1930
NO_MOMENT = re.compile(
    r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?|[0-2]?\d[:.h][0-5]\d(?::[0-5]\d)?\s*(?:[ap]\.?m\.?)?"
)
UNIX_FROM = 5e8  # seconds, of 1985: a time of day or a duration is less
Order = str | Sequence[object] | None


NO_TIMES = TimeColumn(NUMBERS, "NULL::DOUBLE", "no times", 0.0)


def read_moments(
    facts: Facts,
    column: int,
    *,
    order: Order = None,
    day_first: bool | None = None,
    any_names: bool = False,
) -> TimeColumn:
    """Return how a column tells time; `understood` is 0 if it does not.

    With `any_names`, periods may have names of any kind, in the order in which the table has them.
    """
    if isinstance(order, str) and order == "file" and not facts.table.ordered:
        raise facts.refuse(
            'order="file" is given, but rows of an engine have no order; list the periods (command '
            "line: --order Spring,Summer)."
        )
    if order is not None:
        return _named(facts, column, in_given_order(_cells(facts, column), order))
    kind = facts.table.types[column]
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        zoned = "TZ" in kind or "TIME ZONE" in kind
        stamp = "DATE" if kind == "DATE" else "TIMESTAMPTZ" if zoned else "TIMESTAMP"
        cell = f"CAST(c{column} AS {stamp})"  # from seconds, milliseconds or nanoseconds
        sql = f"CASE WHEN isfinite({cell}) THEN epoch_us({cell}) / {US_A_DAY} END"
        if kind == "DATE":
            sql = f"CASE WHEN isfinite({cell}) THEN {cell} - DATE '1970-01-01' END"
        return TimeColumn(DATES, sql, "dates", 1.0, whole=kind == "DATE")
    if facts.is_number(column):
        return _numbers(facts, column)
    if not facts.is_text(column):
        return NO_TIMES
    return _texts(facts, column, day_first, any_names)


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


def _texts(facts: Facts, column: int, day_first: bool | None, any_names: bool) -> TimeColumn:
    text, number, name = facts.raw(column), facts.number(column), plain(facts.names[column])
    if facts.values(column) is None:
        zoned = facts.count_cells(column, f"regexp_matches({text}, {quote(ZONED)})")[0] > 0
    else:
        zoned = any(re.search(ZONED, cell) for cell in facts.texts(column))
    if zoned:
        for offset, zones in ZONES:
            text = f"regexp_replace({text}, '\\s*\\b(?:{zones})\\s*$', '{offset}')"
        text = f"regexp_replace({text}, '\\s[-–|]\\s', ' ')"  # 2024-03-01 - 18:00 CET
    sql = iso(text)
    filled, numbers, dates = facts.count_cells(
        column, facts.filled(column), f"isfinite({number})", f"({sql}) IS NOT NULL"
    )
    if not filled:
        return TimeColumn(NUMBERS, "NULL::DOUBLE", "empty", 0.0)
    cells = _cells(facts, column)
    named = as_seasons(cells, by_name="season" in name or name in words.SEASONS)
    if named is None and 2 * dates >= filled:
        whole = TimeColumn(DATES, f"({sql}) / {US_A_DAY}", "dates", dates / filled)
        return whole if dates == filled else _with_others(facts, column, whole, day_first)
    named = named or as_parts_of_a_year(facts, column, cells)
    if not (words.DATED.search(name) or name in words.TIMES):  # 3.2.24 is a day there
        named = named or as_versions(cells, by_name=name in VERSIONS)
    if named is None and numbers >= dates and 2 * numbers >= filled:
        return _numbers(facts, column)
    if named is None:
        from intransit.data.dates import read_odd_dates  # noqa: PLC0415  for texts of other forms

        odd = read_odd_dates(facts, column, text, filled, day_first)
        if odd is not None and odd.understood >= ENOUGH:
            return odd
    in_order = any_names and facts.table.ordered
    named = named or in_some_order(cells, as_the_table_has_them=in_order)
    return _named(facts, column, named)


def _with_others(facts: Facts, column: int, most: TimeColumn, day_first: bool | None) -> TimeColumn:
    """Return dates of which some, but not most, are in another form than ISO's."""
    from intransit.data.dates import read_odd_dates  # noqa: PLC0415  for texts of other forms

    filled, left = facts.count_cells(column, facts.filled(column), f"({most.sql}) IS NULL")
    try:
        odd = read_odd_dates(facts, column, facts.raw(column), filled, day_first)
    except InputError:  # the day or the month first: rows that cannot be told are reported
        return most
    if odd is None:
        return most
    sql = f"coalesce({most.sql}, {odd.sql})"
    (known,) = facts.count_cells(column, f"({sql}) IS NOT NULL")
    if known + left == filled:
        return most
    return TimeColumn(DATES, sql, f"{most.why}, and {odd.why}", known / filled)


def _cells(facts: Facts, column: int) -> list[tuple[str, int]]:
    """Return the distinct filled cells in the order of the table, with how often they occur."""
    counts = facts.values(column)
    if counts is None:
        return []
    first = facts.first_rows(column)
    filled = [(text, count) for text, count in counts if text.strip()]
    return sorted(filled, key=lambda cell: (first.get(cell[0], 0), cell[0]))


def _named(facts: Facts, column: int, found: TimeColumn | None) -> TimeColumn:
    if found is None or not facts.texts(column):
        return NO_TIMES
    return replace(found, understood=facts.share(column, found.values))


def _numbers(facts: Facts, column: int) -> TimeColumn:
    number, name = facts.number(column), plain(facts.names[column])
    low, high, filled, fine, days, months = facts.engine.ask(
        f"SELECT min(x) FILTER (WHERE isfinite(x)), max(x) FILTER (WHERE isfinite(x)), "
        f"{facts.tally(facts.filled(column))}, {facts.tally('isfinite(x)')}, "
        f"{facts.tally('x BETWEEN 10000101 AND 29991231')}, "
        f"{facts.tally('x BETWEEN 180001 AND 219912 AND x % 100 BETWEEN 1 AND 12')} "
        f"FROM (SELECT *, {number} AS x FROM {facts.rows_about(number)})"
    )[0]
    year_last = f"{number} % 10000 BETWEEN 1900 AND 2100"  # 01132024
    if not fine or ("date" in name and 1e6 < low <= high < 1e8 and _all_pass(facts, year_last)):
        return NO_TIMES
    share = float(fine / filled)
    years = f"floor({number} / 10000)"  # of seasons such as 20232024
    if name in words.SEASONS and low > 1e7 and _all_pass(facts, f"{number} = {years} * 10001 + 1"):
        number = years
    if (
        name in words.YEARS
        and CENTURY <= high < 100
        and all(len(t) == 2 for t in facts.texts(column))
    ):
        number = f"{number} + CASE WHEN {number} < {CENTURY} THEN 2000 ELSE 1900 END"  # 99, and 00
    finite = f"CASE WHEN isfinite({number}) THEN {number} END"
    digits = f"CAST(TRY_CAST({number} AS BIGINT) AS VARCHAR)"
    timed = "date" in name or name in words.TIMES | words.PERIODS - {"t", "step"}
    dated = f"try_strptime({digits}, '%Y%m%d')"
    if timed and days == fine and _all_pass(facts, f"{dated} IS NOT NULL OR {number} IS NULL"):
        return TimeColumn(DATES, f"epoch_us({dated}) / {US_A_DAY}", "dates as digits", share)
    if (timed or "month" in name) and months == fine:
        sql = f"epoch_us(try_strptime({digits} || '01', '%Y%m%d')) / {US_A_DAY}"
        return TimeColumn(DATES, sql, "months as digits", share)
    size = max(abs(low), abs(high))
    if UNIX.match(name) or "date" in name or (TIMED.search(name) and low >= UNIX_FROM):
        for least, a_day, unit in UNITS:
            if size >= least:
                return TimeColumn(DATES, f"({finite}) / {a_day!r}", f"unix {unit}", share)
    if (("date" in name and "update" not in name) or name in {"datum", "fecha"}) and (
        SPREADSHEET[0] <= low and high <= SPREADSHEET[1]
    ):
        note = (
            f'the numbers in "{facts.names[column]}" are taken for days as spreadsheets count them '
            "(45000 is 2023-03-15)"
        )
        sql = f"({finite}) - {SPREADSHEET_1970}"
        return TimeColumn(DATES, sql, "days of a spreadsheet", share, note=note)
    note = ""
    if name in VERSIONS and facts.is_number(column):
        note = (
            f'"{facts.names[column]}" is a column of numbers, in which 13.10 is 13.1; if '
            "they are versions, store them as text"
        )
    return TimeColumn(NUMBERS, finite, "numbers", share, note=note)


def _all_pass(facts: Facts, test: str) -> bool:
    n_rows, passed = facts.count(test)
    return n_rows == passed


def choose_time(search: Search) -> None:
    """Choose the column of times, and how it is read."""
    roles = search.roles
    if search.wanted["time"] is False:
        if search.options.order is not None:
            raise search.refuse("order= is given, but time=False says that there is no time.")
        return
    named = search.named["time"]
    candidates, why = _time_candidates(search) if named is None else ([named], "named")
    if named is None and (dated := _date_in_parts(search, candidates)):
        roles.time, roles.moments = dated
        search.tell("time", roles.time, f"by its name; {roles.moments.why}")
        return
    told = {i: _moments(search, i, any_names=named is not None) for i in candidates}
    clear = [i for i in candidates if told[i].understood >= ENOUGH]
    if not clear and candidates and (why != "by what it holds"):
        name = search.names[candidates[0]]
        raise search.refuse(
            f'the times in "{name}" are not understood; write dates as 2026-05-01, or numbers, or '
            "say time=False for none (command line: --without time), or order= for periods with "
            "names (command line: --order)."
        )
    if len(clear) == 2:
        clear, told = _in_years(search, clear, told)
    dates = [i for i in clear if told[i].clock == DATES]
    if dates and all(i in dates or search.plain[i] in words.TIMES for i in clear):
        for i in {*clear} - {*dates}:
            search.ignore(i, f': "{search.names[dates[0]]}" has dates')
        clear = dates
    if len(clear) > 1 and dates == clear:
        clear = _when_played(search, clear)
    if len(clear) > 1:
        raise search.two("time", clear)
    if clear and named is None and _may_be_lengths(search, clear[0], told[clear[0]]):
        raise search.refuse(
            f'"{search.names[clear[0]]}" may say when a game was, or how long it took; say '
            f'time="{search.names[clear[0]]}" (command line: --time), or time=False for none '
            "(command line: --without time)."
        )
    if clear:
        roles.time, roles.moments = clear[0], told[clear[0]]
        search.tell("time", clear[0], f"{why}; {roles.moments.why}")
        if roles.moments.note:
            roles.notes.append(roles.moments.note)


def _may_be_lengths(search: Search, column: int, told: TimeColumn) -> bool:
    """Return whether numbers called "time" come in no order, most only once, as lengths do."""
    facts, n_rows = search.facts, search.facts.count()[0]
    if search.plain[column] != "time" or told.clock != NUMBERS or not facts.table.ordered:
        return False
    x = facts.number(column)
    falls, distinct = facts.engine.ask(
        f"SELECT count(*) FILTER (WHERE x < before), count(DISTINCT x) FROM (SELECT {x} AS x, "
        f"lag({x}) OVER (ORDER BY row) AS before FROM {facts.rows} WHERE isfinite({x}) LIMIT "
        f"{MOST_PERIODS})"
    )[0]
    return bool(falls and 2 * distinct > min(n_rows, MOST_PERIODS))


def _date_in_parts(search: Search, candidates: list[int]) -> tuple[int, TimeColumn] | None:
    """Return the date of three columns, with the year, the month and the day; None if none."""
    facts = search.facts
    columns = [
        next((i for i in search.free() if search.plain[i] in names), None)
        for names in words.DATE_PARTS
    ]
    year, month, day = columns
    if day is None or month is None or not set(candidates) <= set(columns):
        return None
    if year is None:
        raise search.refuse(
            f'"{search.names[month]}" and "{search.names[day]}" are no date without a year; add a '
            "column with it, or say time=False for none (command line: --without time)."
        )
    parts = [_as_number(facts, i, _moments(search, i)) for i in (year, month, day)]
    whole = ", '-', ".join(f"CAST({part} AS BIGINT)" for part in parts)
    sql = f"epoch_us(try_strptime(concat({whole}), '%Y-%m-%d')) / {US_A_DAY}"
    n_rows, known = facts.count(f"({sql}) IS NOT NULL")
    if None in parts or known < ENOUGH * n_rows:
        return None
    names = search.listed([month, day], " and ")
    return year, TimeColumn(DATES, sql, f"dates, with {names}", known / n_rows)


def _when_played(search: Search, dates: list[int]) -> list[int]:
    """Return the column that says when games were played, of several moments of each."""
    order = {name: k for k, name in enumerate(MOMENTS)}
    if not all(search.plain[i] in order for i in dates):
        return dates
    _, *filled = search.facts.count(*(search.facts.filled(i) for i in dates))
    most = max(filled)
    full = [i for i, n in zip(dates, filled, strict=True) if n == most]
    taken = min(full, key=lambda i: order[search.plain[i]])
    for column in dates:
        if column != taken:
            search.ignore(column, f': "{search.names[taken]}" is taken for the time')
    return [taken]


def _in_years(
    search: Search, clear: list[int], told: dict[int, TimeColumn]
) -> tuple[list[int], dict[int, TimeColumn]]:
    """Return years with the weeks, months or matchdays in them as one time, where both are there.

    Week 3 of 2021 is 2021 + 2/53: seasons follow each other, with a pause between them.
    """
    year, part = sorted(clear, key=lambda i: search.plain[i] not in words.YEARS)
    size = words.PARTS_OF_A_YEAR.get(search.plain[part])
    facts = search.facts
    year_sql, part_sql = (_as_number(facts, i, told[i]) for i in (year, part))
    yearly = search.plain[year] in words.YEARS and size is not None
    if not yearly or year_sql is None or part_sql is None:
        return clear, told
    low, high = facts.engine.ask(
        f"SELECT min(x), max(x) FROM (SELECT {part_sql} AS x FROM {facts.rows_about(part_sql)})"
    )[0]
    if low < 0 or high > size:
        return clear, told
    first = min(int(low), 1)
    names = f'"{search.names[year]}" and "{search.names[part]}"'
    search.roles.notes.append(
        f"{names} are taken together for the time: {search.plain[part]} {first + 2} of a year is "
        f"the year + 2/{size}"
    )
    together = f"({year_sql}) + (({part_sql}) - {first}) / {size}.0"
    share = min(told[year].understood, told[part].understood)
    both = TimeColumn(NUMBERS, together, f'with "{search.names[part]}" in it', share)
    return [year], {year: both}


def _as_number(facts: Facts, column: int, told: TimeColumn) -> str | None:
    """SQL: years, also of seasons, or the number of a week, also in words; None for other times."""
    if told.clock == NUMBERS:
        return told.sql
    texts = [text for text in facts.texts(column) if text.strip()]
    numbers: dict[str, float] = {}
    for text in texts:
        parts = re.findall(r"\d+", text)
        if month_of(text):
            numbers[text] = float(month_of(text))
        elif SEASON.fullmatch(text.strip()):
            numbers[text] = told.values[text]
        elif len(parts) == 1:
            numbers[text] = float(parts[0])
    if told.clock.kind != "number" or len(numbers) < len(texts):
        return None
    whens = " ".join(f"WHEN {quote(text)} THEN {x!r}" for text, x in numbers.items())
    return f"CASE {facts.raw(column)} {whens} END::DOUBLE"


def _moments(search: Search, column: int, *, any_names: bool = False) -> TimeColumn:
    order, day_first = search.options.order, search.options.day_first
    any_names = any_names or search.plain[column] in words.STAGES
    key = column, any_names
    if key not in search.moments:
        search.moments[key] = read_moments(
            search.facts, column, order=order, day_first=day_first, any_names=any_names
        )
    return search.moments[key]


def _time_candidates(search: Search) -> tuple[list[int], str]:
    free = search.free()
    named_dates = [i for i in free if _tells_date(search, i)]
    strange: list[int] = []
    for vocabulary in (words.TIMES, words.PERIODS, words.VERSIONS, words.STAGES):
        if vocabulary is words.PERIODS and len(named_dates) == 1:  # before a season
            return named_dates, "by its name"
        found = [i for i in free if search.plain[i] in vocabulary and not _no_moment(search, i)]
        # A time of day may stand beside a date; versions and stages have other meanings too.
        least = CLEAR if vocabulary in (words.VERSIONS, words.STAGES) else ENOUGH
        known = [i for i in found if _moments(search, i).understood >= least]
        if known:
            for column in strange:
                search.ignore(column, ": its times are not understood")
            return known, "by its name"
        strange = strange or (found if least == ENOUGH else [])
    texts = search.facts.often_filled([i for i in free if not search.facts.is_number(i)])
    texts = [i for i in texts if not words.OTHER_DATES.search(search.plain[i])]
    told = {i: read_moments(search.facts, i, day_first=search.options.day_first) for i in texts}
    sure = [i for i in texts if told[i].understood >= CLEAR]
    dated = [i for i in sure if told[i].clock == DATES or told[i].why == IN_A_YEAR]
    if not dated and (rounds := _rounds(search)):
        return rounds, "by its name"
    if strange and not dated:
        return strange, "by its name"
    return dated, "by what it holds"


def _no_moment(search: Search, column: int) -> bool:
    """Return whether a column says only whether a game was played, on which weekday, or which set.

    Times of day are no moments either, without a date or, written as 1930, beside one.
    """
    name, facts = search.plain[column], search.facts
    if name in words.PLAYED:  # or how many games were
        return is_switch(facts.texts(column)) or _all_pass(facts, f"{facts.number(column)} < 1000")
    if name == "set":
        return facts.looks_numeric(column)
    if name == "day" and _of_several_tournaments(search, column):
        search.ignore(column, ": days of several tournaments do not follow each other")
        return True
    beside = name == "time" and "date" in search.plain
    if facts.values(column) is None or not (beside or facts.is_text(column)):
        return False
    filled = [text.strip().casefold() for text in facts.texts(column) if text.strip()]
    return all(NO_MOMENT.fullmatch(t) or (beside and IN_DIGITS.fullmatch(t)) for t in filled)


def _of_several_tournaments(search: Search, column: int) -> bool:
    """Return whether days are counted from 1 in each of several tournaments."""
    facts, x = search.facts, search.facts.number(column)
    events = [i for i in search.free() if search.plain[i].startswith(words.COUNTED_IN)]
    n_rows, fine = facts.count(f"{x} BETWEEN 1 AND {MOST_DAYS}")
    return n_rows == fine and any(1 < len(facts.values(i) or ()) < n_rows for i in events)


def _rounds(search: Search) -> list[int]:
    """Return the rounds of one tournament; those of several do not follow each other."""
    found = [i for i in search.free() if search.plain[i] in words.ROUNDS]
    events = [i for i in search.free() if search.plain[i] in words.TOURNAMENTS]
    several = any(len(search.facts.values(i) or (1, 2)) > 1 for i in events)
    if len(found) != 1 or several or _moments(search, found[0]).understood < CLEAR:
        return []
    if _meet_several(search, found[0]) or words.METHODS & set(search.plain):
        search.ignore(found[0], ": it may say in which round a game ended")
        return []
    search.roles.notes.append(
        f'the rounds in "{search.names[found[0]]}" are taken for times; if they are none, say '
        "time=False (command line: --without time)"
    )
    return found


def _meet_several(search: Search, column: int) -> bool:
    """Return whether items meet several others in one round, as in no round of a tournament."""
    facts, roles = search.facts, search.roles
    pairs = [(facts.text(roles.first), facts.text(roles.second))]
    sides = " UNION ALL ".join(
        f"SELECT {facts.raw(column)} AS r, {x} AS x, {y} AS y FROM {facts.rows_about(x, y)}"
        for x, y in (*pairs, pairs[0][::-1])
    )
    often, total = facts.engine.ask(
        "SELECT count(*) FILTER (WHERE n > 1), count(*) FROM (SELECT count(DISTINCT y) AS n FROM "
        f"({sides}) GROUP BY r, x)"
    )[0]
    return bool(often > (1.0 - CLEAR) * total)


def _tells_date(search: Search, column: int) -> bool:
    """Return whether a column is called by a date, as in game_date_est, and holds dates."""
    name = search.plain[column]
    if name in words.TIMES or not words.DATED.search(name) or words.OTHER_DATES.search(name):
        return False
    found = _moments(search, column)
    return found.clock == DATES and found.understood >= CLEAR
