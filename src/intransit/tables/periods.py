"""Periods that have names: seasons, versions, rounds, sets; in an order that is found or given."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from intransit.errors import InputError
from intransit.tables.vocabulary import listed

SEASON = re.compile(r"(\d{4}|\d\d)\s*[-/–]\s*(\d{4}|\d\d)")
VERSION = re.compile(r"[vV]?\d+(\.\d+)+([._\- ]?[A-Za-z]+\d*)?")
CENTURY = 70  # 69/70 began in 1969, 20/21 in 2020
MOST_PERIODS = 2_000  # distinct names; beyond, they are no periods
ROUNDS = tuple(  # of a knock-out, the final last
    listed(words)
    for words in (
        "qualifying qualification preliminary q1 q2 q3",
        "groupstage group groups leaguestage league rr",
        "roundof128 r128 1/64",
        "roundof64 r64 1/32",
        "roundof32 r32 1/16",
        "roundof16 r16 1/8 lastsixteen eighthfinals eighthfinal",
        "quarterfinals quarterfinal qf quarters 1/4",
        "semifinals semifinal sf semis 1/2",
        "thirdplace thirdplaceplayoff bronze bronzefinal 3rdplace br",
        "final finals f thefinal",
        "grandfinal grandfinals",
    )
)
Cells = Sequence[tuple[str, int]]  # distinct texts in the order of the table, and how often


@dataclass(frozen=True)
class Periods:
    """Names of periods in order, and the number of each text."""

    values: Mapping[str, float]
    names: tuple[str, ...]
    numbers: tuple[float, ...]
    why: str
    note: str = ""


def as_seasons(cells: Cells, *, by_name: bool) -> Periods | None:
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
    return Periods(values, names, numbers, "seasons, by the year in which they begin")


def as_versions(cells: Cells, *, by_name: bool) -> Periods | None:
    """Return versions such as 13.8 < 13.10 and v1.0.2, or None where they are plain numbers."""
    texts = [text.strip() for text, _ in cells]
    if not texts or not all(VERSION.fullmatch(text) or text.isdecimal() for text in texts):
        return None
    if not by_name and any(re.fullmatch(r"(\d+\.\d+\.)?\d{4}(\.\d+\.\d+)?", t) for t in texts):
        return None  # 31.12.2023
    plain = all(re.fullmatch(r"\d+(\.\d+)?", text) for text in texts)
    same = len({float(text) for text in texts}) < len(set(texts)) if plain else False
    if plain and not by_name and not same:
        return None
    if plain and same and not by_name and not _counts_up(texts):
        return None  # 1.0 beside 1.00: decimals that were written carelessly
    return _sorted(cells, natural, "versions, in their order")


def _counts_up(texts: list[str]) -> bool:
    """Return whether what follows the points counts up: 9 and 10 are both there."""
    parts = {int(text.partition(".")[2] or 0) for text in texts}
    return any(part >= 10 and part - 1 in parts for part in parts)


def in_some_order(cells: Cells, *, as_the_table_has_them: bool) -> Periods | None:
    """Return rounds, or names that differ by their numbers; else in the order of the table."""
    if not cells or len(cells) > MOST_PERIODS:
        return None
    if all(_round(text) is not None for text, _ in cells):
        return _sorted(cells, _round, "rounds, the final last")
    if any(_looks_like_a_date(text) for text, _ in cells):
        return None
    bare = {re.sub(r"\d+", "#", text.strip().casefold()) for text, _ in cells}
    if len(bare) == 1 and "#" in next(iter(bare)):
        return _sorted(cells, natural, "periods, by the numbers in their names")
    if not as_the_table_has_them:
        return None
    found = _sorted(cells, lambda _: 0, "periods, in the order in which the table has them")
    note = (
        f'the periods were taken as the table has them, from "{found.names[0]}" to '
        f'"{found.names[-1]}"; give another order with order= (command line: --order)'
    )
    return Periods(found.values, found.names, found.numbers, found.why, note)


def in_given_order(cells: Cells, order: str | Sequence[object]) -> Periods | None:
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
    later = _sorted(rest, natural if _all_versions(rest) else lambda _: 0, "")
    names = (*given, *later.names)
    values = {text: float(names.index(text.strip())) for text, _ in cells}
    note = ""
    if rest:
        note = (
            f'order does not list "{later.names[0]}"'
            + (f" and {len(later.names) - 1} more" if len(later.names) > 1 else "")
            + "; they come after the others"
        )
    return Periods(values, names, _counted(names), "periods, in the order given", note)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts numbers inside text by size: 13.8 before 13.10."""
    parts = re.findall(r"\d+|[^\d.\s_\-]+", text.casefold().removeprefix("v"))
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)


def _sorted(cells: Cells, key: Callable[[str], object], why: str) -> Periods:
    names = tuple(dict.fromkeys(text.strip() for text, _ in cells))
    names = tuple(sorted(names, key=key))  # type: ignore[arg-type]
    place = {name: float(k) for k, name in enumerate(names)}
    values = {text: place[text.strip()] for text, _ in cells}
    return Periods(values, names, _counted(names), why)


def _counted(names: Sequence[str]) -> tuple[float, ...]:
    return tuple(float(k) for k in range(len(names)))


def _round(text: str) -> int | None:
    """Return how late a round is, or None where a text names none."""
    word = re.sub(r"[\s_\-]+", "", text.casefold())
    return next((k for k, words in enumerate(ROUNDS) if word in words), None)


def _all_versions(cells: Cells) -> bool:
    return all(re.search(r"\d", text) for text, _ in cells)


def _looks_like_a_date(text: str) -> bool:
    return bool(re.search(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}|\d:\d\d", text))
