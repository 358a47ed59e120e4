"""Normal numbers that belong to a key: the same wherever, and in whatever order, they are drawn.

A key is mixed by the finaliser of splitmix64 (Steele, Lea and Flood, 2014), which sends numbers
that differ in one bit to numbers that differ in half of them; two mixed numbers make a normal one
(Box and Muller).
"""

import math

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.compiled import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
TO_UNIT = 2.0**-53


@compiled
def _mixed(number: int) -> int:
    x = np.uint64(number)
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))  # type: ignore[return-value]


@compiled
def _fill(keys: IntArray, salt: int, out: FloatArray) -> None:
    for n in range(keys.shape[0]):
        one = _mixed(np.uint64(keys[n]) * GOLDEN + np.uint64(salt))  # type: ignore[arg-type]
        two = _mixed(np.uint64(one) + GOLDEN)  # type: ignore[arg-type]
        radius = math.sqrt(-2.0 * math.log((float(np.uint64(one) >> np.uint64(11)) + 1) * TO_UNIT))
        angle = float(np.uint64(two) >> np.uint64(11)) * TO_UNIT
        out[n] = radius * math.cos(2.0 * math.pi * angle)


def keyed_normals(keys: IntArray, *salt: int) -> FloatArray:  # (n,)
    """Return a standard normal number for each key, others for another salt."""
    word = np.random.SeedSequence(salt).generate_state(1, np.uint64)[0]
    out = np.empty(len(keys))
    _fill(keys, word, out)
    return out
