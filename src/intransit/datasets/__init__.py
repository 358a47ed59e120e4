"""Data that come with the library, with their truth: a table of facts, and a metagame.

*A metagame*: items that drift, and beat each other in cycles.  On day t the margin of item i over
item j is

    a (u_i - u_j) + b Σₖ (s_ik q_jk - q_ik s_jk)

with every u, s and q a stationary random walk of its own.  Columns of s and q are centred over
the items, so that the second part has no ranking in it, and a and b share out the mean square.

*The Pokémon type chart* over its generations, and most of it hidden to be recovered.  An attack of
type i does 2, 1, 0.5 or 0 times its damage to type j.  The margin of i over j is

    X_ij = factor_ij - factor_ji

what i does to j beyond what j does to i, from -2 to 2.  Nothing is measured: the chart is a fact,
strongly cyclic, and changed twice.
"""

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Annotated

import numpy as np
from scipy.special import expit

from intransit.arrays import BoolArray, FloatArray, IntArray, described
from intransit.checks import as_number, as_whole, open_rng
from intransit.data.cells import Timeline
from intransit.data.games import Clock, Games
from intransit.errors import InputError

__all__ = ["Hidden", "Score", "TypeChart", "hide", "metagame", "pokemon_types"]


def _read(name: str) -> str:
    """Return the text of a file that lies here."""
    return files("intransit.datasets").joinpath(name).read_text(encoding="utf-8")


# A metagame ---------------------------------------------------------------------------------------

BEGIN = "2025-01-01"


@dataclass(frozen=True, eq=False)
class Truth:
    """What simulated games were drawn from, day by day.

    >>> games, truth = simulate_games(5, 200, n_days=30)
    >>> truth.probabilities("2025-01-10").shape
    (5, 5)
    """

    names: tuple[str, ...]
    days: FloatArray = field(repr=False)  # (n_days,): since 1970
    scores: FloatArray = field(repr=False)  # (n_days, n_items): the part that is a ranking
    strengths: FloatArray = field(repr=False)  # (n_days, n_items, n_factors): of the cyclic part
    exposures: FloatArray = field(repr=False)  # (n_days, n_items, n_factors)
    cyclic_share: float  # of the mean square of all margins over all days
    ties: float  # share of ties between equals
    clock: Clock = field(default_factory=lambda: Clock("date"))

    def margins(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the margins (log odds) of a day, by default the last; above 0 favours the row."""
        day = float(self.days[-1]) if at is None else self.clock.to_number(at)
        k = int(np.clip(np.floor(day - self.days[0]), 0, len(self.days) - 1))
        half = self.scores[k][:, None] + self.strengths[k] @ self.exposures[k].T
        return np.asarray(half - half.T)

    def probabilities(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the probability that each beats each other, a tie as half a win."""
        win, loss = _chances(self.margins(at), self.ties)
        return np.asarray(0.5 * (1.0 + win - loss))


def simulate_games(
    n_items: int = 20,
    n_games: int = 10_000,
    *,
    n_days: int = 365,
    cyclic: float = 0.5,
    spread: float = 1.0,
    ties: float = 0.0,
    memory: float = 365.0,
    n_factors: int = 1,
    rng: np.random.Generator | int | None = 0,
) -> tuple[Games, Truth]:
    """Return games between items that drift and beat each other in cycles, and their truth.

    Games fall on days and pairs evenly at random.  `cyclic` is the share of the mean square of the
    margins that no ranking explains, `spread` the root of that mean square in log odds, `ties` the
    share of ties between equals, and `memory` the days after which strengths have mostly changed:
    their correlation is 1/e.

    >>> games, truth = simulate_games(5, 200, n_days=30, cyclic=1.0)
    >>> games.n_items, float(games.counts.sum()), truth.margins().shape
    (5, 200.0, (5, 5))
    """
    sizes = {"n_items": n_items, "n_games": n_games, "n_days": n_days, "n_factors": n_factors}
    for name, size in sizes.items():
        as_whole(name, size, least=2 if name == "n_items" else 1)
    for name, share in (("cyclic", cyclic), ("ties", ties)):
        if as_number(name, share, least=0.0) > 1.0:
            raise InputError(f"{name} is {share:g}; it must be from 0 to 1.")
    if ties == 1.0:
        raise InputError("ties is 1; below that some games have a winner.")
    if cyclic > 0 and n_items < 3:
        raise InputError(f"cyclic is {cyclic:g}; with two items there is no cycle, so give 0.")
    generator, _ = open_rng(rng)
    truth = _truth(sizes, cyclic, as_number("spread", spread, least=0.0), ties, memory, generator)
    return _play(truth, n_games, generator), truth


def _truth(
    sizes: dict[str, int],
    cyclic: float,
    spread: float,
    ties: float,
    memory: float,
    rng: np.random.Generator,
) -> Truth:
    n, days, r = sizes["n_items"], sizes["n_days"], sizes["n_factors"]
    keep = float(np.exp(-1.0 / as_number("memory", memory, least=0.0, strict=True)))
    walks = _walk((days, n, 1 + 2 * r), keep, rng)
    walks -= walks.mean(axis=1, keepdims=True)
    u, s, q = walks[..., 0], walks[..., 1 : 1 + r], walks[..., 1 + r :]
    # Mean squares over pairs of different items: exact, so that the shares are as asked for.
    pairs = n * (n - 1)
    level = 2 * n * np.sum(u**2) / (days * pairs)
    grams = [np.einsum("tik,til->tkl", x, y) for x, y in ((s, s), (q, q), (s, q))]
    ring = 2 * np.sum(grams[0] * grams[1]) - 2 * np.einsum("tkl,tlk->", grams[2], grams[2])
    ring /= days * pairs
    scores = u * np.sqrt((1.0 - cyclic) * spread**2 / level)
    size = (cyclic * spread**2 / ring) ** 0.25 if cyclic else 0.0
    width = len(str(n))
    return Truth(
        names=tuple(f"item {k:0{width}}" for k in range(1, n + 1)),
        days=Clock("date").to_number(BEGIN) + np.arange(days, dtype=float),
        scores=scores,
        strengths=size * s,
        exposures=size * q,
        cyclic_share=cyclic,
        ties=ties,
    )


def _walk(shape: tuple[int, int, int], keep: float, rng: np.random.Generator) -> FloatArray:
    """Return stationary walks of variance 1 along the first axis."""
    walk = rng.normal(size=shape)
    fresh = np.sqrt(1.0 - keep**2)
    for t in range(1, shape[0]):
        walk[t] = keep * walk[t - 1] + fresh * walk[t]
    return walk


def _play(truth: Truth, n_games: int, rng: np.random.Generator) -> Games:
    n = len(truth.names)
    day = np.sort(rng.integers(len(truth.days), size=n_games))
    first = rng.integers(n, size=n_games)
    second = (first + rng.integers(1, n, size=n_games)) % n
    s, q = truth.strengths, truth.exposures
    margin = truth.scores[day, first] - truth.scores[day, second]
    margin += np.einsum("nk,nk->n", s[day, first], q[day, second])
    margin -= np.einsum("nk,nk->n", q[day, first], s[day, second])
    win, loss = _chances(margin, truth.ties)
    luck = rng.random(n_games)
    lost = luck >= 1.0 - loss if truth.ties else luck >= win  # no tie by rounding
    outcomes = np.where(lost, 0.0, np.where(luck < win, 1.0, 0.5))
    names = np.array(truth.names)
    games = Games.from_arrays(names[first], names[second], outcomes, truth.days[day])  # type: ignore[arg-type]
    return replace(games, clock=truth.clock)


def _chances(margins: FloatArray, ties: float) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities of a win and of a loss; what is left is a tie."""
    cut = np.log1p(ties) - np.log1p(-ties)
    return expit(margins - cut), expit(-margins - cut)


# Invented, and in order, so that an item's number is its place.
DECKS = tuple(_read("decks.txt").splitlines())
N_GAMES, N_DAYS = 10_000, 730
CYCLIC, SPREAD, MEMORY = 0.5, 1.2, 3000.0
SEED = 2  # chosen for a page with much to show; kinder than most, see docs/datasets.md


def metagame(*, rng: np.random.Generator | int | None = SEED) -> tuple[Games, Truth]:
    """Return ten thousand matches of 16 decks over two years, and their truth.

    Half of the mean square of the margins is cyclic, and everything drifts, so that cycles appear
    and vanish.  The same seed gives the same matches.

    Parameters
    ----------
    rng
        Seed or generator.

    Returns
    -------
    games : Games
        The table, with dates.
    truth : Truth
        The margins of every day.

    Raises
    ------
    InputError
        If `rng` is neither a seed nor a generator.

    Examples
    --------
    >>> games, truth = metagame()
    >>> games.n_items, float(games.counts.sum()), truth.cyclic_share
    (16, 10000.0, 0.5)
    """
    games, truth = simulate_games(
        len(DECKS),
        N_GAMES,
        n_days=N_DAYS,
        cyclic=CYCLIC,
        spread=SPREAD,
        memory=MEMORY,
        rng=rng,
    )
    return replace(games, names=DECKS), replace(truth, names=DECKS)


# The Pokémon type chart ---------------------------------------------------------------------------


@described
@dataclass(frozen=True, eq=False)
class TypeChart:
    """The chart of every generation, oldest first.

    `pokemon_types` returns it.

    Examples
    --------
    >>> chart = pokemon_types()
    >>> chart.names[:3], len(chart.names), chart.dates[0]
    (('normal', 'fire', 'water'), 18, '1996-02-27')
    >>> chart.exists.sum(axis=1).tolist()
    [15, 17, 17, 17, 17, 18, 18, 18, 18]
    >>> chart.margin("ghost", "psychic", 1), chart.margin("ghost", "psychic", 2)
    (-1.0, 1.0)
    >>> chart.rows()[0]
    ('1996-02-27', 'normal', 'fire', 0.0)
    """

    names: Annotated[tuple[str, ...], "Of the types, in the order in which they came."]
    dates: Annotated[tuple[str, ...], "When each generation came out."]
    factors: Annotated[
        FloatArray,
        "Damage of row to column by generation, (9, 18, 18); NaN where a type was not there.",
    ] = field(repr=False)

    @cached_property
    def margins(self) -> FloatArray:  # (9, 18, 18)
        """Damage of row to column less that of column to row; NaN where a type was not there."""
        return self.factors - self.factors.swapaxes(1, 2)

    @cached_property
    def exists(self) -> BoolArray:  # (9, 18)
        """Whether a generation has a type."""
        return np.asarray(np.isfinite(np.diagonal(self.factors, axis1=1, axis2=2)))

    @cached_property
    def cells(self) -> IntArray:  # (1261, 3)
        """Generation (from 0), first and second type of every pair that is there, each once."""
        first, second = np.triu_indices(len(self.names), 1)
        there = self.exists[:, first] & self.exists[:, second]
        generation, pair = np.nonzero(there)
        return np.stack([generation, first[pair], second[pair]], axis=1)

    @cached_property
    def truth(self) -> FloatArray:  # (1261,)
        """The margin of every one of `cells`."""
        return np.asarray(self.margins[tuple(self.cells.T)])

    def margin(self, first: str, second: str, generation: int = 9) -> float:
        """Return the margin of a type over another in a generation.

        Parameters
        ----------
        first, second
            The two types, by name.
        generation
            From 1 to 9, by default the last.

        Returns
        -------
        float
            Damage of the first to the second less that of the second to the first; NaN if the
            generation does not have both.

        Raises
        ------
        InputError
            If there is no such type or no such generation.
        """
        if not 1 <= generation <= len(self.dates):
            raise InputError(
                f"generation is {generation}; there are those from 1 to {len(self.dates)}."
            )
        for name in (first, second):
            if name not in self.names:
                listed = ", ".join(self.names)
                raise InputError(f"there is no type {name!r}; the types are {listed}.")
        i, j = self.names.index(first), self.names.index(second)
        return float(self.margins[generation - 1, i, j])

    def rows(self) -> list[tuple[str, str, str, float]]:
        """Return the whole chart as a long table.

        Returns
        -------
        list of tuple
            Date, first type, second type and margin of every pair of every generation.
        """
        return [
            (self.dates[t], self.names[i], self.names[j], float(margin))
            for (t, i, j), margin in zip(self.cells, self.truth, strict=True)
        ]

    def games(self) -> Games:
        """Return the chart as games with margins, for `fit`.

        Returns
        -------
        Games
            One game for each pair of each generation, won by the type with a margin above 0; tied
            where it is 0.
        """
        dates, first, second, margins = zip(*self.rows(), strict=True)
        outcomes = 0.5 * (1.0 + np.sign(margins))
        return Games.from_arrays(first, second, outcomes, dates, margins=margins)


@cache
def pokemon_types() -> TypeChart:
    """Return the type chart of all generations, 1996 to 2022; it changed in 1999 and in 2013.

    Returns
    -------
    TypeChart
        The chart; the same one at every call.

    Examples
    --------
    >>> chart = pokemon_types()
    >>> chart.margin("water", "fire"), chart.margin("dragon", "fairy")
    (1.5, -2.0)
    >>> chart.games()
    Games(18 items, 1,261 comparisons in 1,261 rows, margins, times 1996-02-27 to 2022-11-18)
    """
    text = _read("chart.txt").splitlines()
    lines = [line.split() for line in text if line and not line.startswith("#")]
    attackers = dict.fromkeys(words[0] for words in lines if words[0] != "generation")
    number = {name: k for k, name in enumerate(attackers)}
    here, there = np.ones((len(number), len(number))), np.zeros(len(number), dtype=bool)
    dates, charts = [], []
    for attacker, *words in lines:
        if attacker == "generation":
            dates.append(words[1])
            charts.append((here := here.copy(), there := there.copy()))
            continue
        there[number[attacker]] = True
        factor = 1.0
        for word in words:
            if word in number:
                here[number[attacker], number[word]] = factor
            else:
                factor = float(word)
    factors = [np.where(known[:, None] & known, chart, np.nan) for chart, known in charts]
    return TypeChart(tuple(number), tuple(dates), np.array(factors))


@described
@dataclass(frozen=True)
class Score:
    """How near recovered margins come to the true ones.

    `Hidden.score` returns it.

    Examples
    --------
    >>> hidden = hide(pokemon_types(), 0.3, rng=0)
    >>> hidden.score(np.zeros(1261))
    Score(error=1.0, favourites=0.5)
    """

    error: Annotated[float, "Root of the squared error over the squared truth; 1 for nothing said."]
    favourites: Annotated[
        float, "Share of unequal pairs whose favourite is right; no opinion is a half."
    ]


@described
@dataclass(frozen=True, eq=False)
class Hidden:
    """A chart of which some cells were read, and the others are to be recovered.

    `hide` returns it.

    Examples
    --------
    >>> hidden = hide(pokemon_types(), 0.3, rng=0)
    >>> int(hidden.shown.sum()), int(hidden.read_elsewhere.sum()), int(hidden.never_read.sum())
    (380, 805, 76)
    >>> score = hidden.score(hidden.nearest_readings(), hidden.read_elsewhere)
    >>> round(score.error, 2), round(score.favourites, 2)
    (0.1, 1.0)
    """

    chart: Annotated[TypeChart, "The whole chart."]
    shown: Annotated[BoolArray, "Which of `chart.cells` were read, (n_cells,)."] = field(repr=False)
    readings: Annotated[FloatArray, "Readings of the cells that were, in their order."] = field(
        repr=False
    )

    @property
    def timeline(self) -> Timeline:
        """The readings, for `smooth`; times count generations from 0."""
        t, i, j = self.chart.cells[self.shown].T
        n_items = len(self.chart.names)
        return Timeline.from_arrays(i, j, self.readings, t.astype(float), n_items=n_items)

    @cached_property
    def read_elsewhere(self) -> BoolArray:
        """Which hidden cells are of a pair that was read in some other generation."""
        read = np.zeros(2 * (len(self.chart.names),), dtype=bool)
        read[tuple(self.chart.cells[self.shown, 1:].T)] = True
        return np.asarray(~self.shown & read[tuple(self.chart.cells[:, 1:].T)])

    @property
    def never_read(self) -> BoolArray:
        """Which hidden cells are of a pair that was read in no generation."""
        return ~self.shown & ~self.read_elsewhere

    def nearest_readings(self) -> FloatArray:  # (n_cells,)
        """Return for every cell the pair's reading nearest in time, the older of two; or 0.

        Returns
        -------
        ndarray
            Margins in the order of `chart.cells`, (n_cells,); 0 for pairs that were never read.
        """
        found = np.zeros(len(self.chart.cells))
        t, i, j = self.chart.cells[self.shown].T
        for k, (when, first, second) in enumerate(self.chart.cells):
            same = np.flatnonzero((i == first) & (j == second))
            if len(same):
                found[k] = self.readings[same[np.argmin(np.abs(t[same] - when))]]
        return found

    def score(self, found: FloatArray, which: BoolArray | None = None) -> Score:
        """Return how near margins come to the truth, by default on hidden cells.

        Parameters
        ----------
        found
            Margins of all cells, in the order of `chart.cells`, (n_cells,).
        which
            Cells that count, (n_cells,); by default those that were not read.

        Returns
        -------
        Score
            The relative error, and the share of favourites that are right; both are NaN where no
            pair is unequal, so that there is nothing to score.
        """
        cells = ~self.shown if which is None else which
        truth, there = self.chart.truth[cells], found[cells]
        unequal = truth != 0
        if not unequal.any():
            return Score(float("nan"), float("nan"))
        right = 0.5 * (1.0 + np.sign(there[unequal]) * np.sign(truth[unequal]))
        error = np.linalg.norm(there - truth) / np.linalg.norm(truth)
        return Score(float(error), float(right.mean()))


def hide(
    chart: TypeChart,
    shown: float = 0.3,
    *,
    noise_scale: float = 0.0,
    rng: np.random.Generator | int | None = 0,
) -> Hidden:
    """Return readings of a share of each generation's pairs, drawn evenly; the rest is hidden.

    Parameters
    ----------
    chart
        What `pokemon_types` returned.
    shown
        Share of the pairs of each generation that are read.
    noise_scale
        Standard deviation of what is added to each reading.
    rng
        Seed or generator.

    Returns
    -------
    Hidden
        The chart, which of its cells were read, and the readings.

    Raises
    ------
    InputError
        If `shown` is not above 0 and below 1, or `noise_scale` is below 0.

    Examples
    --------
    >>> import intransit as it
    >>> from intransit.datasets import hide, pokemon_types
    >>> hidden = hide(pokemon_types(), 0.3, rng=0)
    >>> hidden.timeline
    Timeline(n_items=18, n_outcomes=380, times 0 to 8)
    """
    if not 0.0 < shown < 1.0:
        raise InputError(f"shown is {shown:g}; it is a share, above 0 and below 1.")
    noise = as_number("noise_scale", noise_scale, least=0.0)
    generator, _ = open_rng(rng)
    generation = chart.cells[:, 0]
    mask = np.zeros(len(generation), dtype=bool)
    for t in range(len(chart.dates)):
        here = np.flatnonzero(generation == t)
        mask[generator.permutation(here)[: max(1, round(shown * len(here)))]] = True
    readings = chart.truth[mask] + noise * generator.normal(size=int(mask.sum()))
    return Hidden(chart, mask, readings)
