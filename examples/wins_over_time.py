"""Wins and losses at times of their own: who changed, who wins next."""

import numpy as np

import intransit as it

N, GAMES = 8, 600
rng = np.random.default_rng(2)
first = rng.integers(N, size=GAMES)
second = (first + rng.integers(1, N, size=GAMES)) % N
week = np.sort(rng.integers(0, 11, size=GAMES))
skill = np.tile(np.linspace(-1.5, 1.5, N), (GAMES, 1))
skill[:, 0] += 0.3 * week  # the weakest learns; the truth is a ranking at every time
row = np.arange(GAMES)
chance = 1 / (1 + np.exp(skill[row, second] - skill[row, first]))
won = (rng.random(GAMES) < chance).astype(float)

games = it.Timeline.from_arrays(first, second, won, week)
path = it.smooth(games, loss="logistic", rng=0)  # plain scores, scales from the data
print(games)
print(path)
for item in (0, 4):
    change = path.change(item, since=0, until=10, rng=0)
    print(f"item {item} changed by {change.value:.1f} ({change.low:.1f} to {change.high:.1f})")
for at in (10, 30):
    low, high = path.probability_interval(0, 4, at=at)
    chance = path.probability(0, 4, at=at)
    print(f"week {at}: item 0 beats item 4 with {chance:.2f}, interval {low:.2f} to {high:.2f}")
