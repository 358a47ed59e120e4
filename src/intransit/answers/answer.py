"""The answer to a table of results: who beats whom, when, and how sure that is."""

import difflib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from intransit.answers import frames
from intransit.answers.encoding import Encoding
from intransit.answers.finding import Finding
from intransit.answers.forecast import Forecast, Standing, Tried
from intransit.answers.recipe import Model
from intransit.answers.saving import (
    check_folder,
    pack,
    path_arrays,
    path_words,
    rebuild,
    unpack,
    write_whole,
)
from intransit.answers.seen import Seen
from intransit.answers.verdict import Transitivity
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.inputs import as_whole
from intransit.draws import check_entries, reach_of
from intransit.errors import InputError
from intransit.extras import above, drawing
from intransit.tables import Clock, Games
from intransit.tables.reading import Reading, open_reading, plural
from intransit.trajectory import Trajectory

N_DRAWS = 100
MOST_OPPONENTS = 300  # that a standing is averaged over
SHOWN = 12  # items in a summary
SEEN = ("first", "last", "games")

Item = str | int
Items = Item | Sequence[Item]


@dataclass(frozen=True, eq=False)
class Answer(Finding):
    """What `fit` found.  Items go by name, times by date or number, as in the table."""

    names: tuple[str, ...]
    model: Model
    path: Trajectory = field(repr=False)
    clock: Clock
    encoding: Encoding = field(repr=False)
    tried: tuple[Tried, ...]
    story: tuple[str, ...]  # what was chosen, and why
    source: str
    seen: Seen = field(repr=False)  # when each item was compared
    transitive: Transitivity = field(repr=False)  # of the games it was fitted to
    reading: Reading = field(repr=False)  # what was used of the table, and what not
    games: Games | None = field(default=None, repr=False)  # as fitted; not kept in files

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.names)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def number(self, item: Item) -> int:
        """Return an item's number; a name that does not occur is refused, with the nearest ones."""
        if isinstance(item, str):
            if item in self._numbers:
                return self._numbers[item]
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
        level: float = 0.9,
    ) -> Forecast:
        """Return what to expect when first meets second, with an interval.

        `side` is 1 where the first has the better side, -1 where the second has it.  Between items
        that no chain of comparisons connects the forecast is a half, and says why.
        """
        return self.forecasts([first], [second], [at], side=[side], level=level)[0]

    def forecasts(
        self,
        first: Sequence[Item],
        second: Sequence[Item],
        at: Sequence[object] | None = None,
        *,
        side: Sequence[float] | None = None,
        level: float = 0.9,
    ) -> list[Forecast]:
        """Return what to expect of several games, one of each for every game."""
        i, j = self._many(first), self._many(second)
        if (i == j).any():
            raise InputError(f"{self.names[i[i == j][0]]!r} cannot meet itself; give two items.")
        times = np.array([self.when(moment) for moment in at or [None] * len(i)])
        sides = np.zeros(len(i)) if side is None else np.asarray(side, dtype=float)
        law, noise = self.path.law, self.path.scales.noise_scale
        mean, variance = self._outlook(i, j, times)
        reach = reach_of(level) * np.sqrt(variance)
        ends = [law.plain(mean + sign * reach, sides, noise) for sign in (-1, 1)]
        expected = law.expect(mean, variance, sides, noise)
        spread = law.spread(mean, variance, sides, noise)
        middle = spread.shape[1] // 2
        margins: list[float] | list[None] = [None] * len(i)
        if self.encoding.typical:
            size = np.array(self.encoding.typical)
            margins = (spread @ np.concatenate([-size[:0:-1], size])).tolist()
        return [
            Forecast(
                first=self.names[i[k]],
                second=self.names[j[k]],
                at="" if self.clock.kind == "none" else self.clock.to_text(times[k]),
                probability=float(expected[k]),
                low=float(ends[0][k]),
                high=float(ends[1][k]),
                level=level,
                win=float(spread[k, middle + 1 :].sum()),
                tie=float(spread[k, middle]),
                loss=float(spread[k, :middle].sum()),
                margin=margins[k],
                notes=self._notes(int(i[k]), int(j[k]), float(times[k])),
            )
            for k in range(len(i))
        ]

    def probabilities(
        self, first: Items, second: Items, at: object = None, *, side: object = 0.0
    ) -> FloatArray:
        """Return win probabilities for many pairs at once; arguments are broadcast."""
        i, j = (self._many(items) for items in (first, second))
        times = self._moments(at)
        i, j, times, sides = np.broadcast_arrays(i, j, times, np.asarray(side, dtype=float))
        mean, variance = self._outlook(i.ravel(), j.ravel(), times.ravel())
        noise = self.path.scales.noise_scale
        out = self.path.law.expect(mean, variance, sides.ravel(), noise)
        return np.where(i.ravel() == j.ravel(), 0.5, out).reshape(i.shape)

    def matrix(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the probability that each item beats each other, a half on the diagonal."""
        n = self.n_items
        check_entries(n * n, "matrix")
        first, second = np.triu_indices(n, 1)
        upper = self.probabilities(first, second, at)  # type: ignore[arg-type]
        out = np.full((n, n), 0.5)
        out[first, second], out[second, first] = upper, 1.0 - upper
        return out

    def margins(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the matrix of margins (log odds), which favours rows over columns."""
        return self.path.matrix(self.when(at))

    def rank(
        self, at: object = None, *, level: float = 0.9, n: int = N_DRAWS, rng: int = 0
    ) -> list[Standing]:
        """Return all items by their mean probability of beating the others, best first.

        Against those only that comparisons connect them with.  Where there are cycles this order
        says less than the matrix does.
        """
        reach_of(level)
        when, seen = self.when(at), self.seen
        groups, law = self.path.groups, self.path.law
        draws = self.path.sample(n, rng=rng)
        generator = np.random.default_rng(rng)
        found = []
        for k in range(self.n_items):
            others = np.flatnonzero((groups == groups[k]) & (np.arange(self.n_items) != k))
            if len(others) > MOST_OPPONENTS:
                others = generator.choice(others, MOST_OPPONENTS, replace=False)
            if not len(others):
                found.append((0.5, 0.0, 1.0))
                continue
            drawn = draws.margin(np.full(len(others), k), others, np.full(len(others), when))
            values = law.plain(drawn, np.zeros(len(others)), self.path.scales.noise_scale)
            strengths = values.mean(axis=1)
            tail = (1.0 - level) / 2
            low, high = np.quantile(strengths, [tail, 1.0 - tail])
            found.append((float(strengths.mean()), float(low), float(high)))
        order = sorted(range(self.n_items), key=lambda k: (-found[k][0], self.names[k]))
        return [
            Standing(
                place,
                self.names[k],
                *found[k],
                games=float(seen.games[k]),
                last="" if self.clock.kind == "none" else self.clock.to_text(float(seen.last[k])),
            )
            for place, k in enumerate(order, 1)
        ]

    def transitivity(self) -> Transitivity:
        """Return whether there are cycles, in words and numbers; ``print`` it.

        It was tested when the answer was fitted; games of an `update` are not in it.
        """
        return self.transitive

    def update(self, games: Games) -> "Answer":
        """Return the answer with further games, of old and new items; scales and model stay."""
        if games.clock.kind != self.clock.kind:
            raise InputError(
                f"games: their times are of kind {games.clock.kind!r}, those of the answer of kind "
                f"{self.clock.kind!r}; give the same column of times."
            )
        names = (*self.names, *(name for name in games.names if name not in self._numbers))
        place = {name: k for k, name in enumerate(names)}
        there = np.array([place[name] for name in games.names])
        known = replace(games, names=names, first=there[games.first], second=there[games.second])
        path = self.path.update(self.encoding.timeline(known))
        seen = self.seen.plus(Seen.of(known))
        n, until = plural(int(games.counts.sum()), "further game"), self.clock.to_text(seen.end)
        line = f"Updated with {n}" + ("." if self.clock.kind == "none" else f", to {until}.")
        story = (*self.story, line)
        return replace(self, names=names, path=path, seen=seen, story=story, games=None)

    def save(self, path: str | Path) -> Path:
        """Write the answer to one file, whole or not at all, and return where it is."""
        words = {
            "names": self.names,
            "model": asdict(self.model),
            "clock": asdict(self.clock),
            "encoding": asdict(self.encoding),
            "tried": [asdict(t) for t in self.tried],
            "story": self.story,
            "source": self.source,
            "transitive": asdict(self.transitive),
            "reading": asdict(self.reading),
            "path": path_words(self.path),
        }
        place = Path(path)
        seen = {f"seen_{name}": getattr(self.seen, name) for name in SEEN}
        write_whole(place, pack(words, path_arrays(self.path) | seen))
        return place

    @classmethod
    def load(cls, path: str | Path) -> "Answer":
        """Read an answer that `save` wrote; a file that was cut short or altered is refused."""
        words, arrays = unpack(Path(path))
        kept: dict[str, object] = words["encoding"]  # type: ignore[assignment]
        lists = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items()}
        return cls(
            names=tuple(words["names"]),  # type: ignore[arg-type]
            model=Model(**words["model"]),  # type: ignore[arg-type]
            path=rebuild(words["path"], arrays),  # type: ignore[arg-type]
            clock=Clock(**words["clock"]),  # type: ignore[arg-type]
            encoding=Encoding(**lists),  # type: ignore[arg-type]
            tried=tuple(Tried(**t) for t in words["tried"]),  # type: ignore[attr-defined]
            story=tuple(words["story"]),  # type: ignore[arg-type]
            source=str(words["source"]),
            seen=Seen(*(arrays[f"seen_{name}"] for name in SEEN)),
            transitive=Transitivity(**words["transitive"]),  # type: ignore[arg-type]
            reading=open_reading(words["reading"]),  # type: ignore[arg-type]
        )

    def summary(self) -> str:
        """Return the answer in a few lines: are there cycles, what was chosen, who leads."""
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

    def report(
        self, place: str | Path, *, backtest: Any = None, title: str | None = None, rng: int = 0
    ) -> Path:
        """Write what was found as one page of HTML, whole or not at all, and return where it is.

        `backtest` is what `intransit.backtest.backtest` found; without it a quick look back is
        made, if the answer still has its games.  `title` stands in the place of the table's name.
        """
        where = Path(place)
        check_folder(where)
        findings = above("findings.gather").gather(self, ladder=backtest, title=title, rng=rng)
        write_whole(where, above("render.page").write_page(findings).encode())
        return where

    def matrix_frame(self, at: object = None) -> object:
        """Return the win probabilities as a data frame, of pandas or else of polars."""
        return frames.matrix_frame(self, at)

    def rank_frame(self, at: object = None) -> object:
        """Return the standings as a data frame."""
        return frames.rank_frame(self, at)

    def path_frame(self, items: Sequence[Item] | None = None) -> object:
        """Return strengths over time as a data frame, a row for every item and time."""
        return frames.path_frame(self, items)

    def figure_matrix(self, at: object = None, items: Sequence[Item] | None = None) -> Any:
        """Draw who beats whom as a heat map."""
        return drawing("answers").draw_matrix(self, at, items)

    def figure_strengths(self, items: Sequence[Item] | None = None) -> Any:
        """Draw strengths over time, with bands."""
        return drawing("answers").draw_strengths(self, items)

    def figure_head_to_head(self, first: Item, second: Item) -> Any:
        """Draw the history of two items, and what to expect."""
        return drawing("answers").draw_head_to_head(self, first, second)

    def _repr_html_(self) -> str:
        return frames.html(self)

    def _many(self, items: Items) -> IntArray:
        if isinstance(items, str | int):
            return np.array(self.number(items))
        array = np.asarray(items)
        if array.dtype.kind in "iu":
            if array.size and not (array.min() >= 0 and array.max() < self.n_items):
                raise InputError(f"items: numbers go from 0 to {self.n_items - 1}.")
            return array.astype(np.int64)
        return np.array([self.number(str(item)) for item in array.ravel()]).reshape(array.shape)

    def _moments(self, at: object) -> FloatArray:
        if at is None or isinstance(at, str) or np.ndim(at) == 0:  # type: ignore[arg-type]
            return np.array(self.when(at))
        array = np.asarray(at)
        if array.dtype.kind in "iuf":
            return array.astype(float)
        return np.array([self.when(moment) for moment in array.ravel()]).reshape(array.shape)

    def _apart(self, i: IntArray, j: IntArray) -> BoolArray:
        return np.asarray(self.path.groups[i] != self.path.groups[j])

    def _outlook(
        self, i: IntArray, j: IntArray, times: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of margins; those of strangers are the prior's."""
        different = i != j
        mean, variance = np.zeros(len(i)), np.zeros(len(i))
        asked = np.flatnonzero(different)
        if len(asked):
            mean[asked], variance[asked] = self.path.outlook(i[asked], j[asked], times[asked])
        apart = self._apart(i, j)
        scales = self.path.scales
        prior = 2.0 * scales.score_prior_scale**2 * self.path.scores
        prior += 2.0 * self.path.n_factors * scales.prior_scale**4 + scales.pair_scale**2
        mean[apart] = 0.0
        variance[apart] = np.maximum(variance[apart], prior)
        return mean, variance

    def _notes(self, i: int, j: int, when: float) -> tuple[str, ...]:
        if self._apart(np.array([i]), np.array([j]))[0]:
            return ("no chain of comparisons connects the two, so nothing is known",)
        last = self.seen.last
        return tuple(
            f"{self.names[k]} was last compared {self.clock.to_text(last[k])}"
            for k in (i, j)
            if when > last[k] and self.clock.kind != "none"
        )
