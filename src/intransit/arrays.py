"""The kinds of array we pass around.  Shapes stand in each signature as a comment."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


def n_distinct(values: FloatArray | IntArray) -> int:  # (n,)
    """Return how many different values there are; `np.unique` would load numpy.ma for it."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(ordered) > 0)


def slices(n: int, most: int) -> Iterator[slice]:
    """Yield the parts of n things, at most so many at a time.

    >>> [(part.start, part.stop) for part in slices(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    for begin in range(0, n, max(most, 1)):
        yield slice(begin, min(begin + max(most, 1), n))
