"""A table of facts: hide 70 % of the Pokémon type chart over its generations, and recover it."""

import numpy as np

import intransit as it
from intransit.datasets import hide, pokemon_types

chart = pokemon_types()
print(f"water over fire: {chart.margin('water', 'fire'):+g} in 2022")
for generation in (1, 9):
    print(
        f"generation {generation}, ghost over psychic: "
        f"{chart.margin('ghost', 'psychic', generation):+g}"
    )
now = chart.margins[-1]
print(f"cycles of three: {it.study.count_triangles(now)}")
print(f"share that no ranking explains: {it.study.decompose(now).cyclic_share:.0%}")

hidden = hide(chart, 0.3, noise_scale=0.5, rng=0)
path = it.smooth(hidden.timeline, n_factors=0, pair_scale="auto", pair_drift_scale="auto", rng=0)
generation, first, second = chart.cells.T
guesses = {
    "saying nothing": np.zeros(len(chart.cells)),
    "the nearest reading": hidden.nearest_readings(),
    "all generations": path.margin(first, second, generation.astype(float)),
}
for name, margins in guesses.items():
    score = hidden.score(margins)
    print(f"{name:20} error {score.error:.2f}, right favourite {score.favourites:.0%}")
