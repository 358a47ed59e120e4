"""Readings that mix entries: team results in one period, dense matrix sensing in the next."""

import numpy as np

import intransit as it

N = 12
rng = np.random.default_rng(1)
S, Q = rng.normal(size=(2, N, 1))
X = S @ Q.T - Q @ S.T

# 40 team matches: three players against three, each meets their opposite; only the sum is seen.
matches = []
for _ in range(40):
    players = rng.permutation(N)[:6]
    matches.append([(int(players[k]), int(players[k + 3]), 1.0) for k in range(3)])
teams = it.Combinations.from_terms(matches, n_items=N)
# 15 readings of all entries at once, each with its own random coefficients.
sensing = it.gaussian_matrices(N, 15, rng)

operators = [teams, sensing]
outcomes = [a.apply(X) + 0.01 * rng.normal(size=a.n_outcomes) for a in operators]
seen = it.Measurements.from_operators(operators, outcomes)
answer = it.recover(seen, n_factors=1, rng=0)

error = np.linalg.norm(answer.margins - X) / np.linalg.norm(X)
print(f"{seen}, and not one single duel was read")
print(answer.status)
print(f"relative error of the {N * (N - 1) // 2} margins: {error:.2%}")
