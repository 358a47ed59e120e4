"""The kinds of array and of record we pass around, distinct rows, pairs, parts, intervals of draws.

Shapes stand in signatures as comments.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.signedinteger[Any]]  # 32 bits where there are very many

LEVEL = 0.9  # of an interval, unless another is asked for
CHUNK = 4_000_000  # numbers that are worked out at once: 32 MB
R = TypeVar("R")


def described(record: type[R]) -> type[R]:
    """List the fields of a record in its docstring: each says beside its type what it is."""
    fields = {
        name: kind.__metadata__[0]
        for kinds in reversed([inspect.get_annotations(part) for part in record.__mro__])
        for name, kind in kinds.items()
        if hasattr(kind, "__metadata__")
    }
    listed = "".join(f"{name}\n    {words}\n" for name, words in fields.items())
    before, *after = re.split(
        r"(?m)^(?=\w+\n--)", inspect.cleandoc(record.__doc__ or ""), maxsplit=1
    )
    sections = (before.rstrip(), f"Attributes\n----------\n{listed}".rstrip(), *after)
    record.__doc__ = "\n\n".join(sections) + "\n"
    return record


def rows_of(*columns: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """Return columns row by row, as plain numbers."""
    return zip(*(column.tolist() for column in columns), strict=True)


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


def fold_pairs(pairs: IntArray, n_items: int) -> tuple[IntArray, FloatArray]:
    """Return one integer for each unordered pair, and the sign that its order gives (0: self)."""
    first, second = pairs[:, 0], pairs[:, 1]
    return pair_numbers(pairs, n_items), np.sign(second - first).astype(float)


def pair_numbers(pairs: IntArray, n_items: int) -> IntArray:  # (n_pairs,)
    """Return one integer for each pair, in whichever order."""
    keys = np.empty(len(pairs), np.int64)
    for part in slices(len(pairs), CHUNK // 16):  # what is in between stays in a cache
        first, second = pairs[part, 0], pairs[part, 1]
        np.minimum(first, second, out=keys[part])
        keys[part] *= n_items
        keys[part] += np.maximum(first, second)
    return keys


def unfold(keys: IntArray, n_items: int) -> IntArray:
    """Return the pairs (n_pairs, 2), first < second, that the integers stand for."""
    return np.stack([keys // n_items, keys % n_items], axis=1)


def n_distinct(values: FloatArray | IntArray) -> int:  # (n,)
    """Return how many different values there are; `np.unique` would load numpy.ma for it."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(ordered) > 0)


def largest_size(values: FloatArray) -> float:
    """Return the largest absolute value, without those that are NaN; 0 where there is none."""
    high, low = (of.reduce(values, axis=None, initial=0.0) for of in (np.fmax, np.fmin))
    return float(max(high, -low))


def slices(n: int, most: int) -> Iterator[slice]:
    """Yield the parts of n things, at most so many at a time.

    >>> [(part.start, part.stop) for part in slices(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    for begin in range(0, n, max(most, 1)):
        yield slice(begin, min(begin + max(most, 1), n))


def spread_out(n: int, most: int) -> IntArray:
    """Return at most so many of n numbers from 0, evenly spread, the first and the last among them.

    >>> spread_out(9, 3).tolist()
    [0, 4, 8]
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def interval(
    draws: FloatArray,  # (n_draws, n)
    level: float = LEVEL,
    holding: FloatArray | None = None,  # (n,)
) -> tuple[FloatArray, FloatArray]:  # (n,) each
    """Return the ends of the interval that holds the middle `level` of draws, and `holding`.

    As `np.quantile` does, between two draws; sorting all of them takes a quarter of its time.
    """
    ordered = np.sort(draws, axis=0)
    ends = []
    for share in (0.5 - level / 2, 0.5 + level / 2):
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        ends.append(ordered[low] + (place - low) * (ordered[high] - ordered[low]))
    if holding is None:
        return ends[0], ends[1]
    return np.minimum(ends[0], holding), np.maximum(ends[1], holding)


def mean_and_interval(
    draws: FloatArray,  # (n_draws, n)
    level: float = LEVEL,
) -> tuple[FloatArray, FloatArray, FloatArray]:  # (n,) each
    """Return mean and interval of draws; the interval holds the mean."""
    mean = draws.mean(axis=0)
    return mean, *interval(draws, level, mean)


def smoothed(counts: IntArray, n: int) -> FloatArray:
    """Return in how many of n draws something holds as a probability, never quite 0 or 1."""
    return np.asarray((counts + 0.5) / (n + 1.0))
