"""Do the data ask for cycles?  One model for a ranking and a circle: what is not there shrinks."""

import numpy as np

import intransit as it

N, GAMES = 9, 2000
rng = np.random.default_rng(0)
first = rng.integers(0, N, GAMES)
second = (first + rng.integers(1, N, GAMES)) % N
times = np.round(8 * rng.random(GAMES))  # in any order

slopes = rng.normal(size=N) / 10
ranked = (second - first) / 4 + (slopes[first] - slopes[second]) * times
around = 1.5 * np.sin(2 * np.pi * (second - first) / N)  # each beats the next four

for name, margins in (("a drifting ranking", ranked), ("a circle", around)):
    won = (rng.random(GAMES) < 1 / (1 + np.exp(-margins))).astype(float)
    games = it.Games.from_arrays(first, second, won, times.tolist())
    model = it.Scores() + it.Factors(2) + it.PairEffects()
    answer = it.fit(games, model=model, effective=50)
    draws = answer.posterior.draws
    planes = np.sort(draws.scales[:, 1:] ** 2, axis=1)[:, ::-1].mean(axis=0)
    print(f"{name}: {answer.transitivity().verdict}")
    print(f"  scores {draws.scales[:, 0].mean():.2f}, factors {planes.round(2).tolist()}")
