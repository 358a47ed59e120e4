"""Questions put to a matrix: how cyclic it is, its strongest cycles, and the planes it turns in."""

import numpy as np

import intransit as it
from intransit import study

ranking, ones = it.transitive_factors(15, rng=1)
circle = it.circular_factors(15)
S, Q = np.hstack([ranking, circle[0]]), np.hstack([ones, circle[1]])
X = S @ Q.T - Q @ S.T  # one ranking and one circle, laid over each other

parts = study.decompose(X)
print(f"transitive share {parts.transitive_share:.0%}, cyclic share {parts.cyclic_share:.0%}")
print("best by score:", np.argsort(-parts.scores)[:3].tolist())
kendall = study.consistency(X)
print(f"cycles of three: {kendall.n_cycles} of at most {kendall.largest}")
print(f"Kendall's consistency {kendall.coefficient:.2f}")
for cycle in study.strongest_cycles(X, 2):
    print("strong cycle:", " > ".join(map(str, cycle.items)), f"(weakest {cycle.strength:.2f})")
for plane in study.canonical_planes(X):
    order = np.argsort(plane.angles)
    print(f"plane with {plane.share:.0%} of the matrix, items by angle: {order.tolist()}")
