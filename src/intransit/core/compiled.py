"""One door to the compiler, so that every kernel is compiled the same way and typed."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop at its first call and keep the result on disk for later processes.

    The plain Python function stays reachable as ``.py_func``: tests run it as the slow twin.
    """
    return cast(Callable[P, R], numba.njit(cache=True, nogil=True, error_model="numpy")(function))
