"""The answer to a table of results: who beats whom, when, and how sure that is."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from intransit.answers.encoding import Encoding
from intransit.answers.finding import Finding
from intransit.answers.forecast import Forecast, Standing
from intransit.answers.items import connected_at_the_end
from intransit.answers.questions import (
    codes_under,
    item_or_newcomer,
    items_of,
    lists_of,
    moments_of,
    sides_of,
    together,
)
from intransit.answers.saving import as_path, open_place, pack, unpack, write_whole
from intransit.answers.seen import Seen
from intransit.answers.standings import find_standings, is_alone, spread
from intransit.answers.strict_order import as_edge, look_for_cycles
from intransit.answers.verdict import Transitivity, at_edge
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.inputs import as_flag, as_whole, check_report
from intransit.draws import check_entries, reach_of
from intransit.errors import InputError
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Report
from intransit.inference.updating import update_posterior
from intransit.model import Model
from intransit.seeds import open_rng
from intransit.tables import Clock, Games
from intransit.tables.covariates import Covariate
from intransit.tables.games import check_games
from intransit.tables.reading import Reading, plural

SHOWN = 12  # items in a summary
CHUNK = 4_000_000  # chances of draws that are worked out at once
MOST_MATRIX_DRAWS = 100  # of a matrix of many items

Item = str | int
Items = Item | Sequence[Item]
Under = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Answer(Finding):
    """What `fit` found.  Items go by name, times by date or number, as in the table.

    Attributes
    ----------
    names
        The items.
    posterior
        Draws of everything that is not known; all questions are functions of them.
    clock, encoding, reading, source
        How times and results of the table were read, and from where.
    story
        What was fitted, and how, in words.
    seen
        When each item was compared, and how often.
    transitive
        Whether there are cycles, of the games it was fitted to.
    games
        The games, as fitted; not kept in files.
    """

    names: tuple[str, ...]
    posterior: Posterior = field(repr=False)
    clock: Clock
    encoding: Encoding = field(repr=False)
    story: tuple[str, ...]
    source: str
    seen: Seen = field(repr=False)
    transitive: Transitivity = field(repr=False)
    reading: Reading = field(repr=False)
    games: Games | None = field(default=None, repr=False)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.names)

    @property
    def model(self) -> Model:
        """The model, a sum of terms."""
        return self.posterior.layout.model

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each name."""
        return {name: k for k, name in enumerate(self.names)}

    def number(self, item: Item) -> int:
        """Return an item's number; a name that does not occur is refused, with the nearest ones."""
        if isinstance(item, str):
            if item in self.numbers:
                return self.numbers[item]
            near = difflib.get_close_matches(item, self.names, n=3, cutoff=0.5)
            others = f"; they are such as {self.names[0]!r} and {self.names[-1]!r}."
            hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else others
            raise InputError(f"{item!r} is no item of {self.source}{hint}")
        number = as_whole("item", item, least=0)
        if number >= self.n_items:
            raise InputError(f"item {number}: there are {self.n_items}, numbered from 0.")
        return number

    def when(self, at: object = None) -> float:
        """Return a time as the engine counts it; by default the last one of the table."""
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
        level: float = 0.9,
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

        Notes
        -----
        Between items that no chain of comparisons connects the forecast is a half, and says why.
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
        level: float = 0.9,
    ) -> list[Forecast]:
        """Return what to expect of several games, one of each for every game."""
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
        chances.sort(axis=0)
        low, high = (_quantile(chances, share) for share in (0.5 - level / 2, 0.5 + level / 2))
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
                low=float(min(low[k], expected[k])),
                high=float(max(high[k], expected[k])),
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
        """Return win probabilities for many pairs at once; arguments are broadcast."""
        i, j, times, sides = together(
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
    ) -> Any:
        """Return chances of pairs of numbers, a part at a time; with `level` their intervals too.

        Numbers below 0 are newcomers.
        """
        step = max(CHUNK // len(self.posterior), 1)
        parts = []
        for begin in range(0, len(first), step):
            here = slice(begin, begin + step)
            codes = codes_under(self, under, len(first[here]))
            asked = (first[here], second[here], times[here], sides[here])
            drawn, mean = self._chances(*asked, codes)
            found = [mean]
            if level is not None:
                drawn.sort(axis=0)
                ends = (_quantile(drawn, 0.5 - level / 2), _quantile(drawn, 0.5 + level / 2))
                found += [np.minimum(ends[0], mean), np.maximum(ends[1], mean)]
            parts.append(np.array(found))
        if not parts:
            return np.zeros(0) if level is None else np.zeros((3, 0))
        both = np.concatenate(parts, axis=1)
        return both[0] if level is None else both

    def matrix(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the probability that each item beats each other, a half on the diagonal."""
        n = self.n_items
        check_entries(n * n, "matrix")
        few = self.posterior.thinned(
            MOST_MATRIX_DRAWS if n > MOST_MATRIX_DRAWS else len(self.posterior)
        )
        out = few.mean_matrix(np.arange(n), self.when(at))
        apart = self.posterior.groups[:, None] != self.posterior.groups
        out[apart] = 0.5
        return out

    def margins(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the matrix of margins (log odds), which favours rows over columns."""
        n, when = self.n_items, self.when(at)
        check_entries(n * n, "margins")
        few = self.posterior.thinned(max(CHUNK * 4 // (n * n), 20))
        out = few.matrices(np.arange(n), when).mean(axis=0)
        out[self.posterior.groups[:, None] != self.posterior.groups] = 0.0
        return np.asarray(0.5 * (out - out.T))

    def rank(self, at: object = None, *, level: float = 0.9) -> list[Standing]:
        """Return all items by their strength, the mean probability of beating the others.

        Against those only that comparisons connect them with, best first; with ratings on a scale
        like Elo's, and the range of each rank.  Where there are cycles this order says less than
        the matrix does.
        """
        reach_of(level)
        return find_standings(self, self.when(at), level)

    def strengths(
        self, items: IntArray, when: float, *, level: float = 0.9
    ) -> tuple[FloatArray, FloatArray, FloatArray]:  # (n,) each
        """Return mean and interval of the strength of some items at a time.

        An item that comparisons connect with nobody has a half, and nothing is known.
        """
        mean, low, high = spread(self.posterior.strengths(items, when), level)
        alone = is_alone(self, items)
        return np.where(alone, 0.5, mean), np.where(alone, 0.0, low), np.where(alone, 1.0, high)

    def transitivity(self, *, edge: float | None = None) -> Transitivity:
        """Return whether there are cycles, in words and numbers; ``print`` it.

        It was tested when the answer was fitted; games of an `update` are not in it.

        Parameters
        ----------
        edge
            Chance that every step of a cycle must exceed, at least a half; by default that of the
            fit.  Another one is asked of the draws, in a second or two.
        """
        cycle = self.transitive.cycle
        edge = None if edge is None else as_edge(edge)
        if edge is None or cycle is None or edge == cycle.edge:
            return self.transitive
        again = look_for_cycles(
            self.posterior,
            connected_at_the_end(self),
            self.seen.end,
            edge=edge,
            dispersion=cycle.dispersion,
        )
        return at_edge(self.transitive, again)

    def update(self, games: Games, *, rng: int = 0, report: Report = lambda _: None) -> "Answer":
        """Return the answer with further games, of old and new items.

        The draws are weighted by how well they predict the new games, while enough of them count;
        otherwise the chains go on from where they are.  The last line of `story` says which.
        """
        check_games(games)
        check_report(report)
        clock = self.clock.joined(games.clock)
        if len(games) == 0:
            raise InputError("games: there is no further game; check the filter that was given.")
        names = (*self.names, *(name for name in games.names if name not in self.numbers))
        place = {name: k for k, name in enumerate(names)}
        there = np.array([place[name] for name in games.names])
        by = self._same_covariates(games)
        known = replace(
            games, names=names, first=there[games.first], second=there[games.second], by=by
        )
        more = self.encoding.observations(known)
        posterior, how = update_posterior(self.posterior, more, rng=open_rng(rng)[0], report=report)
        seen = self.seen.plus(Seen.of(known))
        n, until = plural(int(games.counts.sum()), "further game"), clock.to_text(seen.end)
        line = f"Updated with {n}" + ("" if self.clock.kind == "none" else f", to {until}")
        story = (*self.story, f"{line}: {how}")
        return replace(
            self,
            names=names,
            posterior=posterior,
            clock=clock,
            seen=seen,
            story=story,
            games=None,
        )

    def _same_covariates(self, games: Games) -> tuple[Covariate, ...]:
        """Return the covariates in the order of the answer, new values at the end."""
        found = []
        for name, values in self.posterior.layout.seen.values:
            one = next((one for one in games.by if one.name == name), None)
            if one is None:
                raise InputError(
                    f"games: the first table was read with the column {name!r} and this one was "
                    f'not; read it with by="{name}".'
                )
            wide = (*values, *(value for value in one.values if value not in values))
            place = np.array([wide.index(value) for value in one.values] + [-1])
            found.append(Covariate(name, wide, place[one.codes]))
        return tuple(found)

    def save(self, path: str | Path) -> Path:
        """Write the answer to one file, whole or not at all, and return where it is."""
        place = open_place(path)
        write_whole(place, pack(self))
        return place

    @classmethod
    def load(cls, path: str | Path) -> "Answer":
        """Read an answer that `save` wrote; a file that was cut short or altered is refused."""
        return cls(**unpack(as_path(path)))

    def summary(self) -> str:
        """Return the answer in a few lines: are there cycles, what was fitted, who leads."""
        said = (self.transitive.sentence, *self.story)
        lines = [f"{self.source}: {self.n_items} items", *(f"  {line}" for line in said)]
        standings = self.rank()[:SHOWN]
        width = max(len(s.name) for s in standings)
        lines.append("Mean probability of beating the others, with 90 % intervals:")
        lines += [
            f"  {s.rank:>3}  {s.name:<{width}}  {s.strength:.3f}  ({s.low:.3f} to {s.high:.3f})"
            for s in standings
        ]
        return "\n".join(lines)

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
        said = [f"{newcomers[k]} is new: forecast as newcomers were" for k in (i, j) if k < 0]
        if self._apart(np.array([i]), np.array([j]))[0]:
            return ("no chain of comparisons connects the two, so nothing is known",)
        last = self.seen.last
        said += [
            f"{self.names[k]} was last compared {self.clock.to_text(last[k])}"
            for k in (i, j)
            if k >= 0 and when > last[k] and self.clock.kind != "none"
        ]
        return tuple(said)


def _quantile(ordered: FloatArray, share: float) -> FloatArray:
    """Return a quantile of draws that are sorted along their first axis."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return np.asarray(ordered[low] + (place - low) * (ordered[high] - ordered[low]))
