"""What an answer means: transitivity, cycles, changes, ranking, strength, the verdict.

All of them ask a `FittedTable`, a table with its posterior: forecasts and strengths of items by
name, at any time.  Words and lists of any kind come in; one clear sentence says where they do not
fit.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np

from intransit.analysis.verdict import Transitivity
from intransit.arrays import (
    CHUNK,
    LEVEL,
    BoolArray,
    FloatArray,
    IntArray,
    described,
    interval,
    mean_and_interval,
    slices,
)
from intransit.checks import (
    as_flag,
    as_floats,
    as_items,
    as_list,
    as_whole,
    broadcast,
    check_finite,
    shown,
)
from intransit.data.games import Clock, Covariate, Games
from intransit.data.reading import Reading
from intransit.errors import InputError
from intransit.inference.observations import Encoding, Seen
from intransit.inference.posterior import Posterior, check_entries, reach_of
from intransit.model import Model
from intransit.percent import and_list, estimate, percent

TYPING_ERROR = 0.8  # likeness to a known name from which a new one is taken for a typing error


def lists_of(n: int | None, **given: object) -> list[list[Any]]:
    """Return what was given as lists of one length, `n` where it is known already."""
    lists = {name: as_list(values, name) for name, values in given.items()}
    for name, values in lists.items():
        if n is not None and len(values) != n:
            raise InputError(f"{name}: {len(values)} were given for {n} games; give one for each.")
        n = len(values)
    return list(lists.values())


def sides_of(side: object, n: int | None = None) -> FloatArray:
    """Return sides as numbers from -1 to 1, one for each of n games if that is known."""
    if n is not None:
        side = lists_of(n, side=side)[0]
    sides = as_floats(side, "side")
    check_finite(sides, "side")
    if (np.abs(sides) > 1).any() or (n is not None and sides.shape != (n,)):
        raise InputError(
            "side: it must be 1 where the first has the better side, -1 where the second has it, "
            "and else 0."
        )
    return sides


def items_of(answer: "FittedTable", items: object, name: str) -> IntArray:
    """Return items as an array of their numbers, in the shape in which they were given."""
    if isinstance(items, str | int | np.integer):
        return np.array(answer.number(items))  # type: ignore[arg-type]
    array = as_items(items if isinstance(items, np.ndarray) else as_list(items, name), name)
    if array.dtype.kind in "iu":
        if array.size and not (array.min() >= 0 and array.max() < answer.n_items):
            raise InputError(f"{name}: numbers go from 0 to {answer.n_items - 1}.")
        return array.astype(np.int64)
    listed = [answer.number(item) for item in array.ravel().tolist()]
    return np.array(listed, dtype=np.int64).reshape(array.shape)


def moments_of(answer: "FittedTable", at: Any) -> FloatArray:
    """Return times as numbers, in the shape in which they were given."""
    array = as_items(list(at) if hasattr(at, "__next__") else at, "at")
    if array.ndim == 0:
        return np.array(answer.when(at))
    if array.dtype.kind in "iuf":
        check_finite(array.astype(float), "at")
        return array.astype(float)
    listed = [answer.when(moment) for moment in array.ravel().tolist()]
    return np.array(listed, dtype=float).reshape(array.shape)


def numbered_after(games: Games, names: Sequence[str], known: Collection[str]) -> Games:
    """Return further games with their items numbered as in some names, new ones after those.

    `known` are the same names, in a form in which one is quickly found.
    """
    all_names = (*names, *(name for name in games.names if name not in known))
    place = {name: k for k, name in enumerate(all_names)}
    there = np.array([place[name] for name in games.names])
    return replace(games, names=all_names, first=there[games.first], second=there[games.second])


def item_or_newcomer(answer: "FittedTable", item: object, new: dict[str, int] | None) -> int:
    """Return an item's number; a newcomer has one below 0, where newcomers are asked for."""
    if new is None or not isinstance(item, str) or item in answer.numbers:
        return answer.number(item)  # type: ignore[arg-type]
    near = difflib.get_close_matches(
        item, likely_names(answer.names, item), n=1, cutoff=TYPING_ERROR
    )
    if near:
        raise InputError(
            f"{answer.source} has no item {item!r}, too like {near[0]!r} to be a newcomer; "
            "correct the name."
        )
    return new.setdefault(item, -1 - len(new))


def codes_under(answer: "FittedTable", under: object, n: int) -> dict[str, IntArray] | None:
    """Return values of covariates as numbers, one for every question."""
    if under is None:
        return None
    if not isinstance(under, Mapping):
        raise InputError(
            f'under is {shown(under)}; give columns and their values, as in {{"surface": "clay"}}.'
        )
    known = {term.column for term in answer.model.by}
    values = dict(answer.posterior.layout.seen.values)
    codes = {}
    for name, value in under.items():
        if name not in known:
            listed = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise InputError(
                f"under: this answer has no covariate {name!r}; {listed}: fit a table that "
                f'was read with by="{name}".'
            )
        code = Covariate(name, values[name], np.zeros(0, np.int64)).code(value)
        codes[name] = np.full(n, code)
    return codes or None


MATRIX_DRAWS = 100  # of a matrix of very many items, at least
MATRIX_CHANCES = 20_000_000  # pairs times draws that a matrix takes, some seconds: 300 items of 400

Item = str | int
Items = Item | Sequence[Item]
Under = Mapping[str, str]


MANY = 50_000  # items from which an answer is kept in the form that is asked where it lies
NEAR = 500  # names on either side that are compared with one that is not there


@runtime_checkable
class SortedNames(Protocol):
    """Names of a large answer, which lie in its file: one is found without reading them all."""

    by_name: IntArray

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of each name."""

    def near(self, name: str) -> Sequence[str]:
        """Return names that begin like one."""


def likely_names(names: Sequence[str], name: str) -> Sequence[str]:
    """Return the names that one may have been meant for: all, or of very many those like it."""
    if isinstance(names, SortedNames):
        return names.near(name)
    if len(names) <= MANY:
        return names
    like = (one for one in names if one[:2].casefold() == name[:2].casefold())
    return list(islice(like, 2 * NEAR))


@described
@dataclass(frozen=True)
class Forecast:
    """What to expect when two items meet.

    ``float`` of it is the probability, ``str`` a sentence.

    Examples
    --------
    >>> told = Forecast("rock", "paper", "", 0.25, 0.1, 0.4, 0.9, 0.2, 0.1, 0.7, None)
    >>> float(told)
    0.25
    >>> print(told)
    rock against paper: 25.0 % (90 % interval 10.0 to 40.0 %)
    """

    first: Annotated[str, "The first item."]
    second: Annotated[str, "The second."]
    at: Annotated[str, "The time; empty where the table has none."]
    probability: Annotated[float, "That first wins, a tie as half a win."]
    low: Annotated[float, "Low end of the interval of the probability."]
    high: Annotated[float, "High end of the interval of the probability."]
    level: Annotated[float, "Of the interval."]
    win: Annotated[float, "Probability that first wins."]
    tie: Annotated[float, "Probability of a tie."]
    loss: Annotated[float, "Probability that first loses."]
    margin: Annotated[
        float | None, "Expected size of the win, in the table's own unit; None where it has none."
    ]
    notes: Annotated[tuple[str, ...], "What to bear in mind, such as that an item is new."] = ()

    def __float__(self) -> float:
        return self.probability

    def __str__(self) -> str:
        at = f", {self.at}" if self.at else ""
        chance, between = estimate(self.probability, self.low, self.high, 1)
        said = (
            f"{self.first} against {self.second}{at}: {chance} ({percent(self.level)} interval "
            f"{between})"
        )
        return said + "".join(f"; {note}" for note in self.notes)


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """All items by strength at a time, best first: a column for each thing that is told."""

    order: IntArray  # (n_items,): the items
    strength: FloatArray
    low: FloatArray
    high: FloatArray
    best: IntArray  # ranks
    worst: IntArray
    rating: FloatArray
    rating_low: FloatArray
    rating_high: FloatArray

    def __len__(self) -> int:
        return len(self.order)


@dataclass(frozen=True)
class Part:
    """Of which answer some items are a part, and which they are."""

    n_items: int  # of the whole
    n_games: float
    why: str  # which items these are, in words


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A table with its posterior: `Answer`, but for pages and files."""

    names: Annotated[Sequence[str], "The items."]
    posterior: Annotated[
        Posterior, "Draws of everything that is not known; all questions are functions of them."
    ] = field(repr=False)
    clock: Annotated[Clock, "How times were read."]
    encoding: Annotated[Encoding, "How results were read."] = field(repr=False)
    story: Annotated[tuple[str, ...], "What was fitted, and how, in words."]
    source: Annotated[str, "Where the table came from."]
    seen: Annotated[Seen, "When each item was compared, and how often."] = field(repr=False)
    transitive: Annotated[Transitivity, "Whether there are cycles, of the games of the fit."] = (
        field(repr=False)
    )
    reading: Annotated[Reading, "What was recognised in the table."] = field(repr=False)
    games: Annotated[Games | None, "The games, as fitted; not kept in files."] = field(
        default=None, repr=False
    )
    board: Annotated[
        Leaderboard | None, "The leaderboard at the end, where it is kept: of a large answer."
    ] = field(default=None, repr=False)
    part: Annotated[Part | None, "Which items these are, of a larger answer."] = field(
        default=None, repr=False
    )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.names)

    @property
    def n_all(self) -> int:
        """Number of items of the whole table, where these are a part."""
        return self.n_items if self.part is None else self.part.n_items

    @property
    def model(self) -> Model:
        """The model, a sum of terms."""
        return self.posterior.layout.model

    @property
    def n_games(self) -> float:
        """Number of games of the table."""
        return float(self.seen.games.sum() / 2.0) if self.part is None else self.part.n_games

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each name."""
        if isinstance(self.names, SortedNames):
            return self.names.numbers
        return {name: k for k, name in enumerate(self.names)}

    @property
    def by_name(self) -> IntArray:  # (n_items,)
        """The items in the order of their names."""
        if isinstance(self.names, SortedNames):
            return self.names.by_name
        return np.array(sorted(range(self.n_items), key=self.names.__getitem__), np.int64)

    def number(self, item: Item) -> int:
        """Return an item's number; a name that does not occur is refused, with the nearest ones.

        Parameters
        ----------
        item
            An item by name or number.

        Returns
        -------
        int
            Its place in `names`.

        Raises
        ------
        InputError
            If the item does not occur.
        """
        if isinstance(item, str):
            if item in self.numbers:
                return self.numbers[item]
            likely = {name.casefold(): name for name in likely_names(self.names, item)}
            alike = difflib.get_close_matches(item.casefold(), likely, n=3, cutoff=0.5)
            near = [likely[name] for name in alike[: 1 if item.casefold() in likely else 3]]
            others = f"; its items are, for example, {self.names[0]!r} and {self.names[-1]!r}."
            hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else others
            raise InputError(f"{self.source} has no item {item!r}{hint}")
        number = as_whole("item", item, least=0)
        if number >= self.n_items:
            raise InputError(f"item {number}: there are {self.n_items}, numbered from 0.")
        return number

    def when(self, at: object = None) -> float:
        """Return a time as the engine counts it; by default the last one of the table.

        Parameters
        ----------
        at
            The time, by default the last one of the table.

        Returns
        -------
        float
            Days since 1970 for dates, else a number.

        Raises
        ------
        InputError
            If the time cannot be read.
        """
        return self.seen.end if at is None else self.clock.to_number(at)

    def probability(
        self,
        first: Item,
        second: Item,
        at: object = None,
        *,
        side: float = 0.0,
        under: Under | None = None,
        newcomers: bool = False,
        level: float = LEVEL,
    ) -> Forecast:
        """Return what to expect when first meets second, with an interval.

        Parameters
        ----------
        first, second
            The two items, by name or number.
        at
            The time, by default the last one of the table.
        side
            1 where the first has the better side, -1 where the second has it.
        under
            Values of covariates that the model knows, such as ``{"surface": "clay"}``.
        newcomers
            Whether a name that does not occur is forecast as a newcomer, from what newcomers were
            like; one that looks like a typing error is refused all the same.
        level
            Of the interval.

        Returns
        -------
        Forecast
            The probability with its interval, and those of a win, a tie and a loss.

        Raises
        ------
        InputError
            If an item or covariate does not occur, both items are the same, the time cannot be
            read, or `side` or `level` is out of its range.

        Notes
        -----
        Between items that no chain of comparisons connects the forecast is a half, and says why.

        Examples
        --------
        >>> import intransit as it
        >>> games = it.Games.from_arrays(["rock", "paper", "scissors"] * 20,
        ...                              ["scissors", "rock", "paper"] * 20, [1] * 60)
        >>> answer = it.fit(games, effective=10, seconds=2)
        >>> told = answer.probability("rock", "scissors")
        >>> 0.5 < told.low < float(told) < told.high
        True
        >>> answer.probability("rock", "well", newcomers=True).notes
        ('well is new: forecast like any item, as none joined later',)
        """
        return self.forecasts(
            [first], [second], [at], side=[side], under=under, newcomers=newcomers, level=level
        )[0]

    def forecasts(
        self,
        first: Sequence[Item],
        second: Sequence[Item],
        at: Sequence[object] | None = None,
        *,
        side: Sequence[float] | None = None,
        under: Under | None = None,
        newcomers: bool = False,
        level: float = LEVEL,
    ) -> list[Forecast]:
        """Return what to expect of several games, one of each for every game.

        Parameters
        ----------
        first, second, at, side
            As in `probability`, one for each game.
        under, newcomers, level
            As in `probability`, for all of them.

        Returns
        -------
        list of Forecast
            A forecast for each game.

        Raises
        ------
        InputError
            As `probability` does, and if lists differ in length.
        """
        reach_of(level)
        new: dict[str, int] = {}
        asked = new if as_flag("newcomers", newcomers) else None
        sides_asked = lists_of(None, first=first, second=second)
        i, j = (
            np.array([item_or_newcomer(self, item, asked) for item in items], np.int64)
            for items in sides_asked
        )
        if (i == j).any():
            alone = sides_asked[0][int(np.argmax(i == j))]
            raise InputError(f"{alone!r} cannot meet itself; give two items.")
        moments = [None] * len(i) if at is None else lists_of(len(i), at=at)[0]
        times = np.array([self.when(moment) for moment in moments], dtype=float)
        sides = np.zeros(len(i)) if side is None else sides_of(side, len(i))
        codes = codes_under(self, under, len(i))
        chances, expected = self._chances(i, j, times, sides, codes)
        low, high = self._interval(i, j, chances, level, expected)
        spread = self._levels(i, j, times, sides, codes, expected)
        middle = spread.shape[1] // 2
        margins: list[float] | list[None] = [None] * len(i)
        if self.encoding.typical:
            size = np.array(self.encoding.typical)
            margins = (spread @ np.concatenate([-size[:0:-1], size])).tolist()
        names = {number: name for name, number in new.items()}
        return [
            Forecast(
                first=names.get(int(i[k])) or self.names[i[k]],
                second=names.get(int(j[k])) or self.names[j[k]],
                at="" if self.clock.kind == "none" else self.clock.to_text(times[k]),
                probability=float(expected[k]),
                low=float(low[k]),
                high=float(high[k]),
                level=level,
                win=float(spread[k, middle + 1 :].sum()),
                tie=float(spread[k, middle]),
                loss=float(spread[k, :middle].sum()),
                margin=margins[k],
                notes=self._notes(int(i[k]), int(j[k]), float(times[k]), names),
            )
            for k in range(len(i))
        ]

    def probabilities(
        self,
        first: Items,
        second: Items,
        at: object = None,
        *,
        side: object = 0.0,
        under: Under | None = None,
    ) -> FloatArray:
        """Return win probabilities for many pairs at once; arguments are broadcast.

        Parameters
        ----------
        first, second, at, side
            As in `probability`, or arrays of them.
        under
            As in `probability`, for all of them.

        Returns
        -------
        numpy.ndarray
            Probability that first wins, a tie as half a win, in the shape of the arguments; a half
            where both are the same.

        Raises
        ------
        InputError
            If an item or covariate does not occur, a time cannot be read, or shapes do not agree.
        """
        i, j, times, sides = broadcast(
            "probabilities",
            first=items_of(self, first, "first"),
            second=items_of(self, second, "second"),
            at=moments_of(self, at),
            side=sides_of(side),
        )
        out = self.expected(i.ravel(), j.ravel(), times.ravel(), sides.ravel(), under=under)
        return np.where(i.ravel() == j.ravel(), 0.5, out).reshape(i.shape)

    def expected(
        self,
        first: IntArray,
        second: IntArray,
        times: FloatArray,
        sides: FloatArray,
        *,
        under: Under | None = None,
        level: float | None = None,
        at_once: int = CHUNK,
    ) -> Any:
        """Return chances of pairs of numbers, a part at a time; with `level` their intervals too.

        Numbers below 0 are newcomers.

        Parameters
        ----------
        first, second
            (n,): numbers of the items.
        times
            (n,): as `when` counts them.
        sides, under
            (n,): sides, and covariates, as in `probability`.
        level
            Of the intervals; without it there are none.
        at_once
            Chances that are worked out at once: draws times pairs.

        Returns
        -------
        numpy.ndarray
            (n,): probability that first wins, a tie as half a win; with `level` (3, n), with the
            low and the high end.

        Raises
        ------
        InputError
            If a covariate does not occur.
        """
        parts = []
        for here in slices(len(first), at_once // len(self.posterior)):
            codes = codes_under(self, under, len(first[here]))
            asked = (first[here], second[here], times[here], sides[here])
            drawn, mean = self._chances(*asked, codes)
            found = [mean]
            if level is not None:
                found += self._interval(first[here], second[here], drawn, level, mean)
            parts.append(np.array(found))
        if not parts:
            return np.zeros(0) if level is None else np.zeros((3, 0))
        both = np.concatenate(parts, axis=1)
        return both[0] if level is None else both

    def matrix(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the probability that each item beats each other, a half on the diagonal.

        Parameters
        ----------
        at
            The time, by default the last one of the table.

        Returns
        -------
        numpy.ndarray
            (n_items, n_items): probability that the row beats the column, a tie as half a win; a
            half where no chain of comparisons connects them.  Of more than 300 items it is a mean
            over fewer draws than that of `probability`, 100 at least.

        Raises
        ------
        InputError
            If the time cannot be read, or there are too many items for a matrix.
        """
        n = self.n_items
        check_entries(n * n, "matrix")
        few = self.posterior.thinned(max(MATRIX_DRAWS, 2 * MATRIX_CHANCES // (n * n)))
        out = few.mean_matrix(np.arange(n), self.when(at))
        apart = self.posterior.groups[:, None] != self.posterior.groups
        out[apart] = 0.5
        return out

    def margins(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the matrix of margins (log odds), which favours rows over columns.

        Parameters
        ----------
        at
            The time, by default the last one of the table.

        Returns
        -------
        numpy.ndarray
            (n_items, n_items): skew-symmetric; above 0 where the row is favoured, 0 where no chain
            of comparisons connects row and column.

        Raises
        ------
        InputError
            If the time cannot be read, or there are too many items for a matrix.
        """
        n, when = self.n_items, self.when(at)
        check_entries(n * n, "margins")
        few = self.posterior.thinned(max(CHUNK * 4 // (n * n), 20))
        out = few.matrices(np.arange(n), when).mean(axis=0)
        out[self.posterior.groups[:, None] != self.posterior.groups] = 0.0
        return np.asarray(0.5 * (out - out.T))

    def strengths(
        self, items: IntArray, when: float, *, level: float = LEVEL
    ) -> tuple[FloatArray, FloatArray, FloatArray]:  # (n,) each
        """Return mean and interval of the strength of some items at a time.

        An item that comparisons connect with nobody has a half, and nothing is known.

        Parameters
        ----------
        items
            (n,): numbers of the items.
        when
            The time, as `when` counts it.
        level
            Of the intervals.

        Returns
        -------
        mean, low, high
            (n,) each: mean probability of beating the others, and its interval.
        """
        mean, low, high = strength_draws(self, items, when, level)[1]
        return mean, low, high

    def _apart(self, i: IntArray, j: IntArray) -> BoolArray:
        """Return which pairs no chain of comparisons connects; newcomers are like others."""
        groups = self.posterior.groups
        there = groups[np.maximum(i, 0)] != groups[np.maximum(j, 0)]
        return np.asarray(there & (i >= 0) & (j >= 0))

    def _chances(
        self,
        i: IntArray,
        j: IntArray,
        times: FloatArray,
        sides: FloatArray,
        codes: dict[str, IntArray] | None,
    ) -> tuple[FloatArray, FloatArray]:  # (n_draws, n), (n,)
        """Return chances in every draw, and their means; strangers count both ways round.

        Worked out for the smaller number and turned round, so that both add up to exactly 1.
        """
        posterior, turned = self.posterior, i > j
        a, b = np.where(turned, j, i), np.where(turned, i, j)
        x = posterior.margins(a, b, times, under=codes)
        better = np.where(turned, -sides, sides)
        edge = better * posterior.side_worth(times) if np.any(sides) else 0.0
        out = posterior.results(x + edge)
        expected = out.mean(axis=0)
        apart = self._apart(i, j)
        if apart.any():
            other = posterior.results(edge - x)
            expected = np.where(apart, 0.5 * (out + other).mean(axis=0), expected)
            out[1::2, apart] = other[0:-1:2, apart]
        return np.where(turned, 1.0 - out, out), np.where(turned, 1.0 - expected, expected)

    def _interval(
        self, i: IntArray, j: IntArray, chances: FloatArray, level: float, expected: FloatArray
    ) -> tuple[FloatArray, FloatArray]:  # (n,) each
        """Return the ends of intervals; of strangers nothing is known, whatever the prior says."""
        low, high = interval(chances, level, expected)
        apart = self._apart(i, j)
        return np.where(apart, 0.0, low), np.where(apart, 1.0, high)

    def _levels(
        self,
        i: IntArray,
        j: IntArray,
        times: FloatArray,
        sides: FloatArray,
        codes: dict[str, IntArray] | None,
        expected: FloatArray,
    ) -> FloatArray:  # (n, n_levels)
        """Return the probability of each level; of strangers those of both ways round."""
        if self.encoding.loss != "ordered":
            return np.stack([1.0 - expected, np.zeros_like(expected), expected], axis=-1)
        out = self.posterior.levels(i, j, times, sides=sides, under=codes)
        apart = self._apart(i, j)
        if apart.any():
            other = self.posterior.levels(j, i, times, sides=sides, under=codes)
            out = np.where(apart[:, None], 0.5 * (out + other), out)
        return out

    def _notes(self, i: int, j: int, when: float, newcomers: Mapping[int, str]) -> tuple[str, ...]:
        like = "any item, as none joined later"
        if self.posterior.layout.has_newcomers:
            like = "earlier newcomers"
        said = [f"{newcomers[k]} is new: forecast like {like}" for k in (i, j) if k < 0]
        if self._apart(np.array([i]), np.array([j]))[0]:
            return ("no chain of comparisons connects the two, so nothing is known",)
        outside = []
        for k in (i, j):
            if k < 0 or not self.seen.games[k] or self.clock.kind == "none":
                continue
            first, last = float(self.seen.first[k]), float(self.seen.last[k])
            if when > last:
                outside.append(f"{self.names[k]} was last compared {self.clock.to_text(last)}")
            elif when < first:
                outside.append(f"{self.names[k]} was first compared {self.clock.to_text(first)}")
        if self.clock.kind != "none" and not self.model.moves:
            still = []
            if self.seen.begin < self.seen.end:
                still.append("the chance is an average over all times")
            if outside:
                still.append("no change over time is in the interval")
            if still:
                outside.append(f"nothing drifts in this model: {', and '.join(still)}")
        return (*said, *outside)


def tell_where(table: "FittedTable") -> str:
    """Say under which conditions chances and ranks are; nothing where there are none."""
    said = ["without the advantage of a side"] if table.encoding.sided else []
    said += [f"averaged over {term.column} as in the games" for term in table.model.by]
    return f", {and_list(said)}" if said else ""


def is_alone(table: "FittedTable", items: IntArray) -> np.ndarray:  # (n,)
    """Return which items comparisons connect with nobody."""
    groups = table.posterior.groups
    return np.asarray(np.bincount(groups)[groups[items]] < 2)


def strength_draws(
    table: "FittedTable", items: IntArray, when: float, level: float
) -> tuple[FloatArray, FloatArray]:  # (n_draws, n), (3, n)
    """Return strengths of some items in every draw; and their means with the ends of intervals.

    An item that comparisons connect with nobody has a half, and nothing is known.
    """
    drawn, alone = table.posterior.strengths(items, when), is_alone(table, items)
    drawn[:, alone] = 0.5
    told = np.array(mean_and_interval(drawn, level))
    told[1:, alone] = [[0.0], [1.0]]
    return drawn, told
