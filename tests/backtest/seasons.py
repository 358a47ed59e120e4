"""Small tables with a known truth."""

import numpy as np

import intransit as it


def season(
    seed=0,
    n_items=6,
    n_games=600,
    days=300,
    *,
    reversing=False,
    sides=False,
    ties=False,
    margins=False,
):
    """Return columns of games between items of known scores; reversing: the last become first."""
    rng = np.random.default_rng(seed)
    way = np.linspace(1.0, -1.0, days) if reversing else np.ones(days)
    scores = way[:, None] * np.linspace(-1.2, 1.2, n_items)
    first, other = rng.integers(n_items, size=n_games), rng.integers(1, n_items, size=n_games)
    second = (first + other) % n_items
    day = np.sort(rng.integers(days, size=n_games))
    side = rng.choice([-1.0, 0.0, 1.0], size=n_games) if sides else np.zeros(n_games)
    lead = scores[day, first] - scores[day, second] + 0.5 * side + rng.logistic(size=n_games)
    won = np.where(np.abs(lead) < 0.4, 0.5, lead > 0) if ties else (lead > 0).astype(float)
    columns = {"first": first, "second": second, "won": won, "day": day}
    columns["side"] = side if sides else None
    columns["margin"] = np.round(2.0 * lead) * (won != 0.5) if margins else None
    return columns


def table(columns):
    """Return columns as games, items by letter."""
    return it.Games.from_arrays(
        [chr(97 + k) for k in columns["first"]],
        [chr(97 + k) for k in columns["second"]],
        columns["won"],
        (np.datetime64("2024-01-01") + columns["day"]).astype("datetime64[D]"),
        margins=columns["margin"],
        sides=columns["side"],
    )
