"""The door to the compiler, and the loops over pairs and vectors that everything shares.

There is one door, so that every kernel is compiled the same way and typed.

Every solver here moves some columns v of the factors and holds the rest.  For a pair
(i, j) the margin changes, to first order, by

    v[i] @ A[j] - A[i] @ v[j]                                                      (1)

where A holds, beside each moved column, the column it multiplies: A = Q when S moves,
A = -S when Q moves, A = [Q, -S] when both do.  So one family of loops serves the paper's
half-steps, Gauss-Newton on both factors, and problems with known columns alike.

Any order of the pairs is right; the one that `weighted_program` gives them keeps the rows that they
touch in cache, which is worth a factor of two to five on large problems.

Sums over long vectors are here, too: beside loops that run for microseconds a library's threads
cost more than they bring.  Starting them took ten times as long as the whole of an iteration of
conjugate gradients.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np
from numba.extending import register_jitable

from intransit.arrays import FloatArray, IntArray

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop at its first call and keep the result on disk for later processes.

    The plain Python function stays reachable as ``.py_func``: tests run it as the slow twin.
    """
    return cast(Callable[P, R], numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def compilable(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled loops call a function that plain Python calls as well."""
    return register_jitable(inline="always")(function)


@compilable
def draw_by_slice(
    rng: np.random.Generator,
    here: float,
    width: float,
    density: Callable[..., float],
    rest: tuple[object, ...],
    most_steps: int = 40,  # to either side
) -> float:
    """Draw a number by a slice from where it is (Neal, 2003), of log density(number, *rest)."""
    level = density(here, *rest) - rng.standard_exponential()
    low = here - width * rng.random()
    high = low + width
    for _ in range(most_steps):
        if density(low, *rest) <= level:
            break
        low -= width
    for _ in range(most_steps):
        if density(high, *rest) <= level:
            break
        high += width
    while high - low > 1e-12:
        there = low + (high - low) * rng.random()
        if density(there, *rest) > level:
            return there
        if there < here:
            low = there
        else:
            high = there
    return here


@compiled
def read_margins(
    factors: FloatArray,  # (n_items, 2 n_factors): S and Q side by side
    pairs: IntArray,  # (n_pairs, 2)
    out: FloatArray,  # (n_pairs,)
) -> None:
    """Write X[i, j] = s_i q_j - q_i s_j for every pair."""
    r = factors.shape[1] // 2
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        total = 0.0
        for c in range(r):
            total += factors[i, c] * factors[j, r + c] - factors[i, r + c] * factors[j, c]
        out[p] = total


@compiled
def push(
    partners: FloatArray,  # (n_items, n_moved): A of equation (1)
    pairs: IntArray,  # (n_pairs, 2)
    step: FloatArray,  # (n_items, n_moved)
    out: FloatArray,  # (n_pairs,)
) -> None:
    """Write the first-order change of every pair's margin: equation (1)."""
    k = partners.shape[1]
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        total = 0.0
        for c in range(k):
            total += step[i, c] * partners[j, c] - partners[i, c] * step[j, c]
        out[p] = total


@compiled
def pull(
    partners: FloatArray,  # (n_items, n_moved)
    pairs: IntArray,  # (n_pairs, 2)
    slopes: FloatArray,  # (n_pairs,)
    out: FloatArray,  # (n_items, n_moved)
) -> None:
    """Write the adjoint of `push`: slopes by pair to slopes by item and column."""
    k = partners.shape[1]
    out[:] = 0.0
    for p in range(pairs.shape[0]):
        i, j, g = pairs[p, 0], pairs[p, 1], slopes[p]
        for c in range(k):
            out[i, c] += g * partners[j, c]
            out[j, c] -= g * partners[i, c]


@compiled
def push_pull(
    partners: FloatArray,  # (n_items, n_moved)
    pairs: IntArray,  # (n_pairs, 2)
    curvature: FloatArray,  # (n_pairs,)
    step: FloatArray,  # (n_items, n_moved)
    out: FloatArray,  # (n_items, n_moved)
) -> None:
    """Write pull(curvature * push(step)) in one pass: the product of every CG iteration."""
    k = partners.shape[1]
    out[:] = 0.0
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        total = 0.0
        for c in range(k):
            total += step[i, c] * partners[j, c] - partners[i, c] * step[j, c]
        total *= curvature[p]
        for c in range(k):
            out[i, c] += total * partners[j, c]
            out[j, c] -= total * partners[i, c]


@compiled
def item_blocks(
    partners: FloatArray,  # (n_items, n_moved)
    pairs: IntArray,  # (n_pairs, 2)
    curvature: FloatArray,  # (n_pairs,)
    out: FloatArray,  # (n_items, n_moved, n_moved)
) -> None:
    """Write each item's own block of the normal matrix: the block-Jacobi preconditioner."""
    k = partners.shape[1]
    out[:] = 0.0
    for p in range(pairs.shape[0]):
        i, j, w = pairs[p, 0], pairs[p, 1], curvature[p]
        for b in range(k):
            for c in range(b + 1):
                out[i, b, c] += w * partners[j, b] * partners[j, c]
                out[j, b, c] += w * partners[i, b] * partners[i, c]
    for i in range(out.shape[0]):
        for b in range(k):
            for c in range(b):
                out[i, c, b] = out[i, b, c]


@compiled
def normal_matrix(
    partners: FloatArray,  # (n_items, n_moved)
    pairs: IntArray,  # (n_pairs, 2), first < second
    curvature: FloatArray,  # (n_pairs,)
    out: FloatArray,  # (n_items * n_moved, n_items * n_moved)
) -> None:
    """Write the upper triangle of Σ_p curvature_p J_p J_pᵀ, J_p the row of pair p in (1)."""
    k = partners.shape[1]
    out[:] = 0.0
    for p in range(pairs.shape[0]):
        i, j, w = pairs[p, 0] * k, pairs[p, 1] * k, curvature[p]
        first, second = partners[pairs[p, 0]], partners[pairs[p, 1]]
        for b in range(k):
            along_i, along_j = w * second[b], w * first[b]
            for c in range(b, k):
                out[i + b, i + c] += along_i * second[c]
                out[j + b, j + c] += along_j * first[c]
            for c in range(k):
                out[i + b, j + c] -= along_i * first[c]


@compiled
def jacobian(
    partners: FloatArray,  # (n_items, n_moved)
    pairs: IntArray,  # (n_pairs, 2)
    out: FloatArray,  # (n_pairs, n_items * n_moved)
) -> None:
    """Write `push` as a dense matrix, for measurements that mix many entries."""
    k = partners.shape[1]
    out[:] = 0.0
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        for c in range(k):
            out[p, i * k + c] = partners[j, c]
            out[p, j * k + c] = -partners[i, c]


@compiled
def dot(first: FloatArray, second: FloatArray) -> float:
    """Return the inner product of two arrays of one shape."""
    a, b = first.ravel(), second.ravel()
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    n = a.shape[0]
    for k in range(0, n - 3, 4):
        one += a[k] * b[k]
        two += a[k + 1] * b[k + 1]
        three += a[k + 2] * b[k + 2]
        four += a[k + 3] * b[k + 3]
    for k in range(n - n % 4, n):
        one += a[k] * b[k]
    return (one + two) + (three + four)


@compiled
def advance(
    length: float,
    direction: FloatArray,
    image: FloatArray,
    step: FloatArray,
    residual: FloatArray,
) -> None:
    """Add length · direction to step and take length · image off residual."""
    d, i, s, r = direction.ravel(), image.ravel(), step.ravel(), residual.ravel()
    for k in range(d.shape[0]):
        s[k] += length * d[k]
        r[k] -= length * i[k]


@compiled
def turn(share: float, ahead: FloatArray, direction: FloatArray) -> None:
    """Overwrite direction by ahead + share · direction."""
    a, d = ahead.ravel(), direction.ravel()
    for k in range(a.shape[0]):
        d[k] = a[k] + share * d[k]


@compiled
def add_scaled(length: float, direction: FloatArray, out: FloatArray) -> None:
    """Add length · direction to out."""
    d, o = direction.ravel(), out.ravel()
    for k in range(d.shape[0]):
        o[k] += length * d[k]


@compiled
def put_rows(rows: FloatArray, place: IntArray, out: FloatArray) -> None:
    """Write each row (n, k) at its place."""
    for n in range(rows.shape[0]):
        m = place[n]
        for k in range(rows.shape[1]):
            out[m, k] = rows[n, k]


@compiled
def take_rows(rows: FloatArray, place: IntArray, out: FloatArray) -> None:
    """Write the rows (n, k) found at the places: what undoes `put_rows`."""
    for n in range(place.shape[0]):
        m = place[n]
        for k in range(rows.shape[1]):
            out[n, k] = rows[m, k]


@compiled
def add_rows(rows: FloatArray, place: IntArray, out: FloatArray) -> None:
    """Add each row (n, k) at its place."""
    for n in range(rows.shape[0]):
        m = place[n]
        for k in range(rows.shape[1]):
            out[m, k] += rows[n, k]
