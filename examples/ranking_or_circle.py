"""Do the data ask for cycles?  The number of factors chosen for a ranking and for a circle."""

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
    games = it.Timeline.from_arrays(first, second, won, times)
    path = it.smooth(games, loss="logistic", rng=0)  # number of factors and scales from the data
    print(f"{name} ends as plain scores with {path.n_factors} factors beside them")
    for tried in path.choices:
        verdict = "kept" if tried.kept else "not kept"
        print(f"  {tried.n_factors} factors: {tried.gain:+.4f} ± {tried.gain_error:.4f}, {verdict}")
    share = path.cyclic_share(rng=0)
    print(f"  cyclic share at the end {share.value:.0%}, {share.low:.0%} to {share.high:.0%}")
