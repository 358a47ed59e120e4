"""The kinds of array we pass around.  Shapes stand in each signature as a comment."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.signedinteger[Any]]  # 32 bits where there are very many


def n_distinct(values: FloatArray | IntArray) -> int:  # (n,)
    """Return how many different values there are; `np.unique` would load numpy.ma for it."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(ordered) > 0)
