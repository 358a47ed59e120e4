"""The times of a table as numbers, and back: days since 1970-01-01 for dates, else the number."""

import bisect
import contextlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import numpy as np

from intransit.checks import shown
from intransit.errors import InputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400.0  # seconds


@dataclass(frozen=True)
class Clock:
    """What the numbers in `Games.times` mean: days since 1970 (UTC), plain numbers, or nothing.

    Examples
    --------
    >>> clock = Clock("date")
    >>> clock.to_number("2026-05-01"), clock.to_text(20574.5)
    (20574.0, '2026-05-01 12:00:00')
    >>> patches = Clock("number", ("13.8", "13.10"), (0.0, 1.0))
    >>> patches.to_number("13.10"), patches.to_text(1.0), patches.to_text(1.5)
    (1.0, '13.10', '13.10 + 0.5')
    """

    kind: Literal["date", "number", "none"]
    names: tuple[str, ...] = ()  # of periods that have them, as 13.8 and 13.10, in order
    numbers: tuple[float, ...] = ()  # the number of each name

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))  # lists, where JSON kept them
        object.__setattr__(self, "numbers", tuple(self.numbers))

    @property
    def is_counted(self) -> bool:
        """Whether periods have names and are numbered from 0, as versions are; seasons are not."""
        return bool(self.names) and self.numbers[0] == 0.0

    def joined(self, other: "Clock") -> "Clock":
        """Return the clock of both tables, or refuse one that numbers the same periods otherwise.

        Examples
        --------
        >>> more = Clock("number", ("a", "b", "c"), (0.0, 1.0, 2.0))
        >>> Clock("number", ("a", "b"), (0.0, 1.0)).joined(more).names
        ('a', 'b', 'c')
        """
        if other.kind != self.kind:
            raise InputError(
                f"games: their times are of kind {other.kind!r}, those of the answer of kind "
                f"{self.kind!r}; give the same column of times."
            )
        known = dict(zip(self.numbers, self.names, strict=True))
        number = dict(zip(self.names, self.numbers, strict=True))
        if self.is_counted != other.is_counted:
            first = (self.names or other.names)[0]
            raise InputError(
                f'games: the times of one table are periods with names such as "{first}" and those '
                "of the other are none; give the same column of times."
            )
        for name, at in zip(other.names, other.numbers, strict=True):
            there = known.get(at, name) if self.is_counted else name
            if there != name or number.get(name, at) != at:
                raise InputError(
                    f'games: "{name}" is period number {at:g} here and in the answer that is '
                    f'"{known.get(at, "another")}"; read the table with '
                    "order=list(answer.clock.names)."
                )
            known.setdefault(at, name)
        order = sorted(known)
        return Clock(self.kind, tuple(known[at] for at in order), tuple(order))

    def to_number(self, moment: object) -> float:
        """Return a moment as a number: text such as ``2026-05-01``, a date, or a number as it is.

        A date-time without a zone is taken as UTC; ``2026`` and ``2026-05`` mean their first day.
        """
        if isinstance(moment, np.datetime64):
            moment = moment.astype("datetime64[us]").item()
        if isinstance(moment, np.generic):
            moment = moment.item()
        if isinstance(moment, str):
            moment = self._from_text(moment)
        if isinstance(moment, datetime | date):
            if self.kind == "number":
                raise InputError(f"time {moment}: the times of this table are numbers; give one.")
            moment = _days(moment)
        if isinstance(moment, bool) or not isinstance(moment, int | float):
            raise InputError(f"time {shown(moment)}: give a date such as 2026-05-01, or a number.")
        try:
            number = float(moment)
        except OverflowError:  # an integer beyond any number of days
            number = math.inf
        if not math.isfinite(number):
            told = repr(moment) if isinstance(moment, float) else "of so many digits"
            raise InputError(f"time {told}: a time must be finite.")
        return number

    def _from_text(self, text: str) -> datetime | float:
        if text.strip() in self.names:
            return self.numbers[self.names.index(text.strip())]
        wanted = "a number" if self.kind == "number" else "a date such as 2026-05-01"
        if not self.is_counted:  # 13.9 is no number of a period
            with contextlib.suppress(ValueError):
                return float(text) if self.kind == "number" else parse_date(text)
        if self.names:
            wanted = f'a period such as "{self.names[0]}" or "{self.names[-1]}"'
        raise InputError(f'time "{text}": it is not {wanted}, as this table has.')

    def to_text(self, number: float) -> str:
        """Return a number in words: a date, with the time of day (UTC) unless it is midnight."""
        if self.names:
            return self._period(number)
        if self.kind != "date":
            return f"{number:.12g}"
        try:
            moment = EPOCH + timedelta(seconds=round(number * DAY))
        except OverflowError:
            return f"{number:.12g} days after 1970-01-01"
        midnight = moment.time() == datetime.min.time()
        return moment.date().isoformat() if midnight else f"{moment:%Y-%m-%d %H:%M:%S}"

    def _period(self, number: float) -> str:
        """Return the last period that began by then, and what has passed since."""
        place = max(bisect.bisect_right(self.numbers, number + 1e-9) - 1, 0)
        since = number - self.numbers[place]
        if abs(since) < 1e-9:
            return self.names[place]
        return f"{self.names[place]} {'+' if since > 0 else '-'} {abs(since):.3g}"


@dataclass(frozen=True)
class TimeColumn:
    """How a time column is read."""

    clock: Clock  # what the numbers mean, with the names of periods that have some
    sql: str  # cell to number, NULL where it is no time; empty where periods have names
    why: str
    understood: float = 1.0  # share of filled cells
    note: str = ""
    whole: bool = False  # whether the SQL gives whole numbers, as for dates
    values: Mapping[str, float] = field(default_factory=dict)  # of periods: number of each text


def parse_date(text: str) -> datetime:
    """Return a date or date-time in ISO form; raise ValueError when it is neither."""
    text = text.strip()
    if re.fullmatch(r"\d{4}(-\d{1,2})?", text):
        year, _, month = text.partition("-")
        return datetime(int(year), int(month or 1), 1)
    return datetime.fromisoformat(text)


def _days(moment: date) -> float:
    """Return days since 1970-01-01, UTC; a moment without a zone is in UTC already."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) / timedelta(days=1)
