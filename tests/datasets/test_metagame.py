"""The bundled metagame: always the same, as documented, with cycles that come and go."""

from itertools import combinations

import numpy as np

from intransit.datasets import metagame


def cycles(X):
    """Return the true cycles of three, as sets of items with a direction."""
    found = set()
    for i, j, k in combinations(range(len(X)), 3):
        for a, b, c in ((i, j, k), (i, k, j)):
            if min(X[a, b], X[b, c], X[c, a]) > 0:
                found.add((a, b, c))
    return found


def test_the_metagame_is_always_the_same():
    """Two calls give the same games of the same decks."""
    games, truth = metagame()
    again, known = metagame()
    for name in ("first", "second", "outcomes", "times", "counts"):
        np.testing.assert_array_equal(getattr(games, name), getattr(again, name))
    np.testing.assert_array_equal(truth.margins(), known.margins())
    assert games.names == truth.names == tuple(sorted(games.names))


def test_ten_thousand_matches_over_two_years():
    """Sizes and dates are as the documents say."""
    games, _ = metagame()
    assert games.counts.sum() == 10_000
    assert games.n_items == 16
    assert [games.clock.to_text(t) for t in (games.times[0], games.times[-1])] == [
        "2025-01-01",
        "2026-12-31",
    ]
    assert len(np.unique(games.first * 16 + games.second)) == 240  # every pair, either way round


def test_cycles_appear_and_vanish():
    """The first and the last day share some true cycles, and each has many of its own."""
    _, truth = metagame()
    begin, end = (cycles(truth.margins(day)) for day in ("2025-01-01", "2026-12-31"))
    assert len(begin & end) >= 5
    assert len(begin - end) >= 20
    assert len(end - begin) >= 20


def test_results_follow_the_truth():
    """Over all games, wins are as frequent as the true chances say, to three standard errors."""
    games, truth = metagame()
    chances = np.array(
        [
            truth.probabilities(t)[i, j]
            for t, i, j in zip(games.times, games.first, games.second, strict=True)
        ]
    )
    favoured = np.where(chances > 0.5, games.outcomes, 1.0 - games.outcomes)
    expected = np.maximum(chances, 1.0 - chances)
    surplus = np.sum(games.counts * (favoured - expected))
    assert abs(surplus) < 3 * np.sqrt(np.sum(games.counts * expected * (1.0 - expected)))
