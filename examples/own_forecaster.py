"""A rating system of your own beside ours: two calls, learn and predict, make it a rung."""

import numpy as np

import intransit as it
from intransit.backtest import backtest


class HeadToHead:
    """Whoever won the last meeting of two wins the next, somewhat more often than not."""

    def __init__(self) -> None:
        self.last: dict[tuple[int, int], float] = {}

    def learn(self, games: it.Games) -> None:
        """Take in further games, one a row, the oldest first."""
        columns = (games.first, games.second, games.outcomes)
        for i, j, result in zip(*(column.tolist() for column in columns), strict=True):
            self.last[i, j], self.last[j, i] = result, 1 - result

    def predict(self, fixtures: it.Games) -> list[float]:
        """Return the expected result of the first item of each row."""
        met = zip(fixtures.first.tolist(), fixtures.second.tolist(), strict=True)
        return [0.4 + 0.2 * self.last.get(pair, 0.5) for pair in met]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    first = rng.integers(6, size=2000)
    second = (first + rng.integers(1, 6, size=2000)) % 6
    skill = np.linspace(0, 2, 6)
    won = rng.random(2000) < 1 / (1 + np.exp(skill[second] - skill[first]))
    games = it.Games.from_arrays(first, second, won, np.arange(2000))
    found = backtest(games, ladder=["coin", "Elo"], forecasters={"head to head": HeadToHead})
    print(found.summary())
    gain, error = found.gain("head to head", over="coin")
    print(f"The last meeting is worth {gain:.3f} ± {error:.3f} over a coin.")
