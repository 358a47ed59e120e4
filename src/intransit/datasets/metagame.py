"""A metagame with a known truth: items that drift, and beat each other in cycles.

On day t the margin of item i over item j is

    a (u_i - u_j) + b Σₖ (s_ik q_jk - q_ik s_jk)

with every u, s and q a stationary random walk of its own.  Columns of s and q are centred over
the items, so that the second part has no ranking in it, and a and b share out the mean square.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from intransit.arrays import FloatArray
from intransit.checks import as_number, as_whole, open_rng
from intransit.data.games import Clock, Games
from intransit.errors import InputError

BEGIN = "2025-01-01"


@dataclass(frozen=True, eq=False)
class Truth:
    """What simulated games were drawn from, day by day.

    Attributes
    ----------
    names
        Of the items.
    days
        Days since 1970, (n_days,).
    scores
        The part of the margins that is a ranking, (n_days, n_items).
    strengths, exposures
        Factors of the cyclic part, (n_days, n_items, n_factors) each.
    cyclic_share
        Of the mean square of all margins over all days.
    ties
        Share of ties between equals.
    clock
        Turns dates into days.

    Examples
    --------
    >>> games, truth = simulate_games(5, 200, n_days=30)
    >>> truth.probabilities("2025-01-10").shape
    (5, 5)
    """

    names: tuple[str, ...]
    days: FloatArray = field(repr=False)
    scores: FloatArray = field(repr=False)
    strengths: FloatArray = field(repr=False)
    exposures: FloatArray = field(repr=False)
    cyclic_share: float
    ties: float
    clock: Clock = field(default_factory=lambda: Clock("date"))

    def margins(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the margins (log odds) of a day; above 0 favours the row.

        Parameters
        ----------
        at
            The time, by default the last one of the games.  Before the first day it is the first
            day, after the last day the last.

        Returns
        -------
        ndarray
            Margin of each row over each column, (n_items, n_items).
        """
        day = float(self.days[-1]) if at is None else self.clock.to_number(at)
        k = int(np.clip(np.floor(day - self.days[0]), 0, len(self.days) - 1))
        half = self.scores[k][:, None] + self.strengths[k] @ self.exposures[k].T
        return np.asarray(half - half.T)

    def probabilities(self, at: object = None) -> FloatArray:  # (n_items, n_items)
        """Return the probability that each beats each other, a tie as half a win.

        Parameters
        ----------
        at
            The time, by default the last one of the games.

        Returns
        -------
        ndarray
            Probability that each row beats each column, (n_items, n_items).
        """
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

    Parameters
    ----------
    n_items, n_games, n_days, n_factors
        Sizes.  Games fall on days and pairs evenly at random.
    cyclic
        Share of the mean square of the margins that no ranking explains.
    spread
        Root mean square of the margins, in log odds.
    ties
        Share of ties between equals.
    memory
        Days after which strengths have mostly changed: their correlation is 1/e.
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
        If a number is out of its range, or a cycle is asked for among two items.

    Examples
    --------
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
DECKS = (
    "Amber Hive",
    "Ashfall",
    "Brass Giants",
    "Clockwork",
    "Cold Harbour",
    "Deep Roots",
    "Ember Rush",
    "Glass Cannon",
    "Hollow Kings",
    "Lantern Moths",
    "Mirror Maze",
    "Quicksand",
    "Saltmarsh",
    "Storm Choir",
    "Thornwall",
    "Velvet Heist",
)
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
