"""Rock, paper and scissors from noisy duels: the cycle comes back, a ranking would lose it."""

import numpy as np

import intransit as it

NAMES = ["rock", "paper", "scissors", "well"]  # the well beats rock and scissors, paper covers it
BEATS = [("paper", "rock"), ("scissors", "paper"), ("rock", "scissors")]
BEATS += [("well", "rock"), ("well", "scissors"), ("paper", "well")]

rng = np.random.default_rng(0)
duels = [tuple(NAMES.index(name) for name in pair) for pair in BEATS] * 20
outcomes = 1.0 + 0.5 * rng.normal(size=len(duels))  # by how much the first was ahead
seen = it.Measurements.from_pairs([duels], [outcomes], n_items=len(NAMES))

answer = it.recover(seen, n_factors=2, rng=0)
print(answer.status)
print("margins of row over column:")
print("          " + "".join(f"{name:>10}" for name in NAMES))
for name, row in zip(NAMES, answer.margins, strict=True):
    print(f"{name:10}" + "".join(f"{margin:10.2f}" for margin in row))
for cycle in it.study.strongest_cycles(answer.margins):
    path = [NAMES[item] for item in (*cycle.items, cycle.items[0])]
    print(f"{' beats '.join(path)} (weakest margin {cycle.strength:.2f})")
share = it.study.decompose(answer.margins).cyclic_share
print(f"share of the margins that no ranking explains: {share:.0%}")
