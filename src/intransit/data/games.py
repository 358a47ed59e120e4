"""Games: comparisons between named items at times, with covariates and series, ready to be fitted.

*Series* are games of the same two that follow each other: a best of five on one evening, three days
of a team's visit, one question judged by five people.  Such games agree with each other more than
the two items' strengths say, and count as one observation where that matters.
"""

import bisect
import contextlib
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import compress
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import BoolArray, FloatArray, IntArray, sort_rows
from intransit.checks import as_list, check_entries, shown
from intransit.data.reading import ROW_LIMITS, Reading, list_names, plural
from intransit.errors import InputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400.0  # seconds
UNITS = ((1.0, "day"), (1 / 24, "hour"), (1 / 1_440, "minute"), (1 / DAY, "second"))  # in days


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

    def length(self, span: float) -> str:
        """Return a span of time in words: of dates in days, or hours and less if it is short."""
        unit, one, many = 1.0, "unit of time", "units of time"
        if self.kind == "date":
            unit, one = next((part for part in UNITS if span >= part[0]), UNITS[-1])
            many = f"{one}s"
        number = float(f"{span / unit:.3g}")
        return f"{number:,.6g} {one if number == 1.0 else many}"

    def _period(self, number: float) -> str:
        """Return the last period that began by then, and what has passed since."""
        place = max(bisect.bisect_right(self.numbers, number + 1e-9) - 1, 0)
        since = number - self.numbers[place]
        if abs(since) < 1e-9:
            return self.names[place]
        return f"{self.names[place]} {'+' if since > 0 else '-'} {abs(since):.3g}"


DATES = Clock("date")
US_A_DAY = "86400000000.0"  # SQL


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


def series_in_order(
    first: IntArray, second: IntArray, outcomes: FloatArray, counts: FloatArray
) -> IntArray | None:  # (n,)
    """Return the series of rows that have no times: those of one pair one after another.

    None where the order of rows is the table's own and says nothing of series: where all rows of
    every pair stand together, or of every pair one way round, or with one result; or where a row
    stands for several games.
    """
    if (counts != 1.0).any():
        return None
    pair = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
    result = np.where(first <= second, outcomes, 1.0 - outcomes)
    for told in (pair, np.stack([first, second], axis=1), np.column_stack([pair, result])):
        if int(_new(told).sum()) == len(np.unique(told, axis=0)):
            return None
    return np.cumsum(_new(pair)) - 1


def _new(rows: IntArray | FloatArray) -> BoolArray:  # (n,)
    """Return where a row differs from the one before it."""
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def in_time(first: IntArray, second: IntArray, times: FloatArray) -> IntArray:  # (n,)
    """Return the series of rows with times, numbered by pair and then by time.

    Games of a pair at one time are one series; so are those of successive times, as long as neither
    of the two met anybody else from the one time to the other.
    """
    axis, when = np.unique(times, return_inverse=True)
    n_items, n_times = int(max(first.max(), second.max())) + 1, len(axis)
    pairs = np.minimum(first, second) * n_items + np.maximum(first, second)
    distinct, pair = np.unique(pairs, return_inverse=True)
    meetings, meeting, n_games = np.unique(
        pair * n_times + when, return_inverse=True, return_counts=True
    )
    owner, moment = meetings // n_times, meetings % n_times
    busy = np.sort(np.concatenate([first * n_times + when, second * n_times + when]))
    later = np.flatnonzero(owner[1:] == owner[:-1]) + 1
    goes_on = np.ones(len(later), dtype=bool)
    for item in (distinct[owner[later]] // n_items, distinct[owner[later]] % n_items):
        begin = np.searchsorted(busy, item * n_times + moment[later - 1], side="left")
        end = np.searchsorted(busy, item * n_times + moment[later], side="right")
        goes_on &= end - begin == n_games[later - 1] + n_games[later]
    new = np.ones(len(meetings), dtype=bool)
    new[later[goes_on]] = False
    return np.asarray((np.cumsum(new) - 1)[meeting])


NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class Covariate:
    """One further column of a table of games, such as its surface.

    Examples
    --------
    >>> surface = covariate_of("surface", ["clay", "", "grass", "clay"])
    >>> surface.values, surface.codes.tolist()
    (('clay', 'grass'), [0, -1, 1, 0])
    """

    name: str
    values: tuple[str, ...]  # in order: numbers by size, words by their letters
    codes: IntArray  # (n_rows,) index into values, -1 where the cell was empty

    def only(self, rows: ArrayLike) -> "Covariate":
        """Return the codes of some rows; the values stay."""
        return Covariate(self.name, self.values, self.codes[np.asarray(rows)])

    def code(self, value: object) -> int:
        """Return the number of a value; refuse one that the table does not have."""
        text = str(value).strip()
        if text not in self.values:
            known = list_names(self.values, most=10)
            raise InputError(f'"{self.name}" is never "{text}" in this table; it may be {known}.')
        return self.values.index(text)


def covariate_of(name: str, cells: Sequence[object]) -> Covariate:
    """Return a covariate from its cells; None, NaN and empty text are no value."""
    missing = (cell is None or cell != cell for cell in cells)  # noqa: PLR0124  NaN, NaT
    texts = ["" if none else str(cell).strip() for cell, none in zip(cells, missing, strict=True)]
    values = listed_in_order(set(texts) - {""})
    return Covariate(name, values, np.array(codes_of(texts, values), dtype=np.int64))


def codes_of(texts: Iterable[str], values: Sequence[str]) -> list[int]:
    """Return the place of each text among the values, -1 where it is none of them."""
    number = {value: k for k, value in enumerate(values)}
    return [number.get(text.strip(), NO_VALUE) for text in texts]


def listed_in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Return values in the order in which people list them: numbers by size, else by letters."""
    listed = sorted(values)
    try:
        return tuple(sorted(listed, key=float))
    except ValueError:
        return tuple(listed)


def covariates_of(columns: Mapping[str, Sequence[object]] | None, n: int) -> tuple[Covariate, ...]:
    """Return the covariates of columns with `n` cells each."""
    found = []
    if columns is not None and not isinstance(columns, Mapping):
        raise InputError(
            f"by: {shown(columns)} was given; give columns with a value for each comparison, as in "
            '{"surface": ["clay", "grass"]}.'
        )
    for name, cells in (columns or {}).items():
        listed = as_list(cells, f"by: {shown(name)}")
        if len(listed) != n:
            raise InputError(
                f"by: {plural(len(listed), 'value')} of {name!r} were given for {n} comparisons; "
                "give one each."
            )
        found.append(covariate_of(str(name), listed))
    return tuple(found)


def without_unseen(covariate: Covariate) -> Covariate:
    """Return the same covariate with those values only that some row has."""
    seen = np.unique(covariate.codes[covariate.codes >= 0])
    place = np.full(len(covariate.values) + 1, NO_VALUE)  # the last entry serves the code -1
    place[seen] = np.arange(len(seen))
    values = tuple(covariate.values[k] for k in seen)
    return Covariate(covariate.name, values, place[covariate.codes])


def join_covariates(parts: Sequence[tuple[Covariate, ...]]) -> tuple[Covariate, ...]:
    """Return the covariates of several parts of games, one after the other.

    The parts must have the same covariates; their values may differ, and are joined.
    """
    names = [tuple(covariate.name for covariate in part) for part in parts]
    for other in names[1:]:
        if other != names[0]:
            told = [list_names(part) or "none" for part in (names[0], other)]
            raise InputError(
                f"by: games with the covariates {told[0]} cannot be joined with games that have "
                f"{told[1]}; read both with the same ones."
            )
    return tuple(_join(column) for column in zip(*parts, strict=True))


def _join(column: Sequence[Covariate]) -> Covariate:
    values = listed_in_order({value for part in column for value in part.values})
    places = [np.array([*codes_of(part.values, values), NO_VALUE]) for part in column]
    codes = [place[part.codes] for place, part in zip(places, column, strict=True)]
    return Covariate(column[0].name, values, np.concatenate(codes))


OF_ROWS = ("first", "second", "outcomes", "margins", "times", "counts", "sides", "series")


@dataclass(frozen=True, eq=False)
class Games:
    """Comparisons of named items, sorted by time, equal ones counted together.  See `read`.

    Attributes
    ----------
    names
        The items, sorted; the position of a name is the item's number.
    first, second
        Numbers of the two items of each row, (n,) each.
    outcomes
        1 where the first won, 0 where the second won, 0.5 for a tie; or shares of games, (n,).
    margins
        Score of the first minus that of the second, (n,); None unless every row has one.
    times
        When each row was, as `clock` counts, (n,); 0 if the table has no times.
    counts
        How many games, or which weight, a row stands for, (n,).
    sides
        1 where the first has the side, -1 where the second has it, 0 where neither has it, (n,);
        None where that is not known.
    clock
        What the numbers in `times` mean.
    report
        What was recognised in the table, and what could not be used.
    series
        Rows of one number are games of the same two that follow each other, (n,); None where
        that is not known.
    by
        Covariates: what else is known of each row, such as its surface.
    sequence
        Rows of the games in the table's order, (n_games,), where it is known.

    Examples
    --------
    >>> games = Games.from_arrays(["rock", "paper"], ["scissors", "rock"], [1, 1], [1.0, 2.0])
    >>> games
    Games(3 items, 2 comparisons in 2 rows, wins, times 1 to 2)
    >>> games.names
    ('paper', 'rock', 'scissors')
    """

    names: tuple[str, ...]
    first: IntArray
    second: IntArray
    outcomes: FloatArray
    margins: FloatArray | None
    times: FloatArray
    counts: FloatArray
    sides: FloatArray | None
    clock: Clock
    report: Reading
    series: IntArray | None = None
    by: tuple[Covariate, ...] = ()
    sequence: IntArray | None = None

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.names)

    @property
    def has_ties(self) -> bool:
        """Whether ties occur; a half among other shares of games is a share, not a tie."""
        ties = self.outcomes == 0.5
        return bool(ties.any() and (ties | (self.outcomes == 0) | (self.outcomes == 1)).all())

    @property
    def kind(self) -> Literal["wins", "ties", "margins"]:
        """What can be learnt from: margins if there are any, else wins, with or without ties."""
        if self.margins is not None:
            return "margins"
        return "ties" if self.has_ties else "wins"

    def __repr__(self) -> str:
        by = "".join(f", by {covariate.name}" for covariate in self.by)
        span = f", times {self.span}" if self.span else ""
        n = float(self.counts.sum())
        return (
            f"Games({plural(self.n_items, 'item')}, {n:,.12g} comparison{'' if n == 1 else 's'} in "
            f"{plural(len(self), 'row')}, {self.kind}{span}{by})"
        )

    @property
    def span(self) -> str:
        """The first and the last time in words; empty without times."""
        if not len(self) or self.clock.kind == "none":
            return ""
        return " to ".join(self.clock.to_text(float(t)) for t in self.times[[0, -1]])

    def only(self, mask: ArrayLike) -> "Games":
        """Return the rows where `mask` holds, or those numbered by it; the names stay.

        Parameters
        ----------
        mask
            True or False for every row, or numbers of rows.

        Returns
        -------
        Games
            Those rows.

        Raises
        ------
        InputError
            If `mask` does not fit the rows.

        Examples
        --------
        >>> games = Games.from_arrays(["x", "x", "y"], ["y", "z", "z"], [1, 0, 1])
        >>> games.only(games.outcomes == 1)
        Games(3 items, 2 comparisons in 2 rows, wins)
        """
        rows = self._rows(mask)
        columns: dict[str, Any] = {name: getattr(self, name) for name in OF_ROWS}
        kept: dict[str, Any] = {
            name: None if column is None else column[rows] for name, column in columns.items()
        }
        by = tuple(covariate.only(rows) for covariate in self.by)
        return replace(self, by=by, sequence=self._sequence_of(rows), **kept)

    def _sequence_of(self, rows: IntArray | BoolArray) -> IntArray | None:
        if self.sequence is None:
            return None
        kept = np.flatnonzero(rows) if rows.dtype == bool else rows
        place = np.full(len(self), -1)
        place[kept] = np.arange(len(kept))
        there = place[self.sequence]
        return there[there >= 0]

    def _rows(self, mask: ArrayLike) -> BoolArray | IntArray:
        """Return which rows are meant, or refuse what numbers none."""
        try:
            rows = np.asarray(mask)
        except ValueError:
            rows = np.zeros((0, 0))
        n = len(self)
        if rows.dtype.kind == "b" and rows.shape == (n,):
            return rows
        if rows.dtype.kind in "iu" and rows.ndim == 1:
            if not rows.size or (rows.min() >= -n and rows.max() < n):
                return rows
        elif not rows.size and rows.ndim == 1:
            return np.zeros(0, np.int64)
        raise InputError(
            f"mask: {shown(mask)} was given; give {n} times True or False, or numbers of rows, "
            f"from 0 to {n - 1}."
        )

    def covariate(self, name: str) -> Covariate:
        """Return the covariate of this name; see `by` of `read`.

        Parameters
        ----------
        name
            The column that the table was read with.

        Returns
        -------
        Covariate
            Its ``values``, and for every row its number among them, ``codes``.

        Raises
        ------
        InputError
            If there is no such covariate.

        Examples
        --------
        >>> games = Games.from_arrays(["x", "x"], ["y", "z"], [1, 0], by={"on": ["clay", "grass"]})
        >>> games.covariate("on").values
        ('clay', 'grass')
        """
        for known in self.by:
            if isinstance(name, str) and known.name == name:
                return known
        listed = list_names([known.name for known in self.by]) or "none"
        asked = name if isinstance(name, str) else shown(name)
        raise InputError(
            f'games: there is no covariate "{asked}"; there is {listed}; read the table with '
            f'by="{asked}" (command line: --by {asked}).'
        )

    def split(self, name: str) -> dict[str, "Games"]:
        """Return the games of each value of a covariate, with those items only that play in them.

        Rows without a value are left out.  See `by` of `read`.

        Parameters
        ----------
        name
            The column that the table was read with.

        Returns
        -------
        dict of str to Games
            The games of each value that occurs, in the order of the values.

        Raises
        ------
        InputError
            If there is no such covariate.

        Examples
        --------
        >>> games = Games.from_arrays(["x", "x"], ["y", "z"], [1, 0], by={"on": ["clay", "grass"]})
        >>> {value: part.names for value, part in games.split("on").items()}
        {'clay': ('x', 'y'), 'grass': ('x', 'z')}
        """
        covariate = self.covariate(name)
        parts = {}
        for code, value in enumerate(covariate.values):
            part = self.only(covariate.codes == code)
            if not len(part):
                continue
            condition = (*self.report.where, f"{name}: {value}")
            parts[value] = replace(own_names(part), report=replace(self.report, where=condition))
        return parts

    def between(self, begin: object = None, end: object = None) -> "Games":
        """Return the rows from `begin` on and before `end`, as dates or numbers; None is open.

        Parameters
        ----------
        begin
            First time that is kept, a date or a number; by default all from the first on.
        end
            First time that is left out; by default none.

        Returns
        -------
        Games
            The rows from `begin` on and before `end`.

        Raises
        ------
        InputError
            If a time cannot be read.

        Examples
        --------
        >>> games = Games.from_arrays(["x", "x", "y"], ["y", "z", "z"], [1, 0, 1], [1.0, 2.0, 3.0])
        >>> games.between(2.0)
        Games(3 items, 2 comparisons in 2 rows, wins, times 2 to 3)
        """
        low = -np.inf if begin is None else self.clock.to_number(begin)
        high = np.inf if end is None else self.clock.to_number(end)
        return self.only((self.times >= low) & (self.times < high))

    @classmethod
    def from_arrays(
        cls,
        first_names: Sequence[object],
        second_names: Sequence[object],
        outcomes: ArrayLike,
        times: Sequence[object] | ArrayLike | None = None,
        *,
        margins: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        sides: ArrayLike | None = None,
        by: Mapping[str, Sequence[object]] | None = None,
    ) -> "Games":
        """Build from columns of equal length; a row that `read` could not use is an error here.

        Parameters
        ----------
        first_names, second_names
            The two items of each comparison.
        outcomes
            1 where the first won, 0 where the second won, 0.5 for a tie; or shares of games.
        times
            Numbers, dates or ISO texts, all of one kind; without them nothing drifts.
        margins, counts, sides
            As the fields of the same names; without counts each row is one game.
        by
            Covariates, as in ``{"surface": ["clay", "grass"]}``; None is no value.

        Returns
        -------
        Games
            The games, sorted by time, equal ones counted together.

        Raises
        ------
        InputError
            If columns differ in length, a name or time cannot be read, an item meets itself, or a
            number is out of its range.

        Examples
        --------
        >>> import intransit as it
        >>> days = ["2026-05-01", "2026-05-03"]
        >>> it.Games.from_arrays(["ann", "bob"], ["bob", "cem"], [1, 0.5], days)
        Games(3 items, 2 comparisons in 2 rows, ties, times 2026-05-01 to 2026-05-03)
        """
        firsts, seconds = as_list(first_names, "first_names"), as_list(second_names, "second_names")
        n = len(firsts)
        if not n or len(seconds) != n:
            raise InputError(
                f"games: {n} first and {len(seconds)} second items were given; there must "
                "be one of each for every comparison, and at least one comparison."
            )
        texts = [[_name(item) for item in column] for column in (firsts, seconds)]
        names = tuple(sorted({*texts[0], *texts[1]}))
        number = {name: i for i, name in enumerate(names)}
        first, second = (np.array([number[name] for name in text]) for text in texts)
        if "" in number:
            raise InputError("games: a name is empty; every item needs one.")
        if (first == second).any():
            bad = int(np.flatnonzero(first == second)[0])
            raise InputError(
                f'games: entry {bad} compares "{texts[0][bad]}" with itself; leave it out.'
            )
        clock, when = _times(times, n)
        columns = {
            "outcomes": _column("outcomes", outcomes, n, 0.0, 1.0),
            "times": when,
            "counts": np.ones(n) if counts is None else _column("counts", counts, n, 0.0),
            "margins": None if margins is None else _column("margins", margins, n),
            "sides": None if sides is None else _column("sides", sides, n, -1.0, 1.0),
        }
        if (columns["counts"] == 0).any():  # type: ignore[union-attr]
            raise InputError("counts: a count must be above 0; leave the row out.")
        games = cls(
            names=names,
            first=first,
            second=second,
            clock=clock,
            report=Reading("arrays", n_rows=n, n_used=n),
            by=covariates_of(by, n),
            sequence=np.arange(n) if counts is None and n <= ROW_LIMITS.in_sequence else None,
            **columns,  # type: ignore[arg-type]
        )
        if (when == when[0]).all():
            order = series_in_order(first, second, games.outcomes, games.counts)
            games = replace(games, series=order)
        return merge(games)


def check_games(games: object) -> None:
    """Refuse anything else, with the way to build them."""
    if not isinstance(games, Games):
        raise InputError(
            f"games: {shown(games)} was given; read a table with intransit.read(...), or build "
            "them with Games.from_arrays(...)."
        )


def merge(games: Games) -> Games:
    """Return the games sorted by time, names and the rest, equal rows counted together."""
    keys = [games.times, games.first, games.second, games.outcomes]
    further = (games.margins, games.sides, games.series)
    keys += [column for column in further if column is not None]
    keys += [covariate.codes for covariate in games.by]
    order, new = sort_rows(*keys)
    counts = np.add.reduceat(games.counts[order], np.flatnonzero(new))
    merged = replace(games, sequence=None).only(order[new])
    if games.sequence is None:
        return replace(merged, counts=counts)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return replace(merged, counts=counts, sequence=place[games.sequence])


def as_low_sees(games: Games) -> Games:
    """Return the same rows, each as the item sees it whose name comes first."""
    swap = games.first > games.second
    return replace(
        games,
        first=np.minimum(games.first, games.second),
        second=np.maximum(games.first, games.second),
        outcomes=np.where(swap, 1.0 - games.outcomes, games.outcomes),
        margins=None if games.margins is None else np.where(swap, -games.margins, games.margins),
        sides=None if games.sides is None else np.where(swap, -games.sides, games.sides),
    )


def join(parts: Sequence[Games]) -> Games:
    """Return several parts of one table, one after the other."""

    def column(name: str) -> FloatArray | None:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    by = join_covariates([part.by for part in parts])
    begins = np.cumsum([0, *(len(part) for part in parts)])
    told = [part.sequence for part in parts]
    known = [one + begin for one, begin in zip(told, begins, strict=False) if one is not None]
    sequence = np.concatenate(known) if len(known) == len(parts) else None
    columns = {name: column(name) for name in OF_ROWS}
    return replace(parts[0], by=by, sequence=sequence, **columns)  # type: ignore[arg-type]


def own_names(games: Games) -> Games:
    """Return the games with the names that occur in them: later names would be a look ahead."""
    seen = np.zeros(games.n_items, dtype=bool)
    seen[games.first] = seen[games.second] = True
    if seen.all():
        return games
    place = np.cumsum(seen) - 1
    names = tuple(compress(games.names, seen))
    return replace(games, names=names, first=place[games.first], second=place[games.second])


def in_sequence(counts: FloatArray) -> IntArray | None:
    """Return the rows of single games, each row as often as it counts; None for weights."""
    if counts.sum() > ROW_LIMITS.in_sequence or (counts != np.round(counts)).any():
        return None
    return np.repeat(np.arange(len(counts)), counts.astype(np.int64))


def _name(item: object) -> str:
    """Return an item as text, or refuse what names none."""
    if item is None or not isinstance(item, Hashable):
        raise InputError(f"games: {shown(item)} is no item; give names, or numbers.")
    try:
        return str(item).strip()
    except ValueError:  # an integer of too many digits
        raise InputError(f"games: {shown(item)} is no item; give names, or numbers.") from None


def _times(times: Sequence[object] | ArrayLike | None, n: int) -> tuple[Clock, FloatArray]:
    """Return the clock that these times go by, and the times as numbers."""
    if times is None:
        return Clock("none"), np.zeros(n)
    values = as_list(times, "times")
    if len(values) != n:
        raise InputError(f"times: {len(values)} were given for {n} comparisons; give one each.")
    dated = any(isinstance(value, str | date | np.datetime64) for value in values)
    clock = Clock("date" if dated else "number")
    return clock, np.array([clock.to_number(value) for value in values])


def _column(
    name: str, values: ArrayLike, n: int, least: float = -np.inf, most: float = np.inf
) -> FloatArray:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: they must be numbers.") from None
    if column.shape != (n,):
        raise InputError(f"{name}: shape {column.shape} was given; there must be {n} of them.")
    wrong = ~(np.isfinite(column) & (column >= least) & (column <= most))
    span = f" from {least:g} to {most:g}" if np.isfinite(most) else f" of at least {least:g}"
    rule = f"give finite numbers{span if np.isfinite(least) else ''}."
    check_entries(wrong, column, name, rule)
    return column
