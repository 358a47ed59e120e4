"""From a table of results to forecasts: read, fit, ask, keep, update."""

from pathlib import Path
from tempfile import mkdtemp

import intransit as it
from intransit.datasets import simulate_games

folder = Path(mkdtemp())
games, truth = simulate_games(n_items=12, n_games=3000, n_days=120, cyclic=0.6, rng=3)
print(games)

answer = it.fit(games, rng=0)
print("\n".join(answer.story))

first, second = (standing.name for standing in answer.rank()[:2])
print(answer.probability(first, second))
print(answer.probability(first, second, at="2025-12-01"))  # later, less sure

kept = answer.save(folder / "games.intransit")
again = it.Answer.load(kept)
more = it.Games.from_arrays(["newcomer"] * 6, [first] * 6, [1, 1, 1, 0, 1, 1], ["2025-05-02"] * 6)
print(again.update(more).probability("newcomer", second))
