"""A metagame that never was: ten thousand matches between decks, and the truth behind them."""

from dataclasses import replace

import numpy as np

from intransit.answers.metagame import Truth, simulate_games
from intransit.tables import Games

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
