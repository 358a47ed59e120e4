"""The kinds of array we pass around, and distinct rows.  Shapes stand in signatures as comments."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.signedinteger[Any]]  # 32 bits where there are very many


def sort_rows(*columns: np.ndarray) -> tuple[IntArray, BoolArray]:
    """Return the order of rows by these columns, the first leading, and where in it one is new."""
    order = np.lexsort(columns[::-1])
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    return order, new


def number_rows(*columns: np.ndarray) -> IntArray:  # (n,)
    """Return the number of each distinct row of these columns, in their order."""
    order, new = sort_rows(*columns)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers


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
