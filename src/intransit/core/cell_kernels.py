"""The compiled loops over cells.

A cell reads four states,

    x = S[a] @ Q[d] - S[b] @ Q[c]                                                  (1)

a and b the strengths of its first and second item at its time, c and d their exposures; b, d
change sign together when the pair is swapped.  To first order it changes by

    dS[a] @ Q[d] - dS[b] @ Q[c] + S[a] @ dQ[d] - S[b] @ dQ[c]                      (2)

When no exposure moves (plain scores, measured features) the second half is skipped.
"""

import math

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.compiled import compiled

LARGE = 1e100  # factors of at most 2 are multiplied up to here


@compiled
def read_cells(
    S: FloatArray,  # (n_strength_states, n_columns)
    Q: FloatArray,  # (n_exposure_states, n_columns)
    at: IntArray,  # (n_cells, 4): a, b, c, d
    out: FloatArray,  # (n_cells,)
) -> None:
    """Write the margin of every cell: equation (1)."""
    for p in range(at.shape[0]):
        a, b, c, d = at[p, 0], at[p, 1], at[p, 2], at[p, 3]
        total = 0.0
        for k in range(S.shape[1]):
            total += S[a, k] * Q[d, k] - S[b, k] * Q[c, k]
        out[p] = total


@compiled
def push_cells(
    S: FloatArray,
    Q: FloatArray,
    at: IntArray,
    step_S: FloatArray,
    step_Q: FloatArray,
    both: bool,  # whether exposures move
    out: FloatArray,  # (n_cells,)
) -> None:
    """Write the first-order change of every cell: equation (2)."""
    for p in range(at.shape[0]):
        a, b, c, d = at[p, 0], at[p, 1], at[p, 2], at[p, 3]
        total = 0.0
        for k in range(S.shape[1]):
            total += step_S[a, k] * Q[d, k] - step_S[b, k] * Q[c, k]
        if both:
            for k in range(S.shape[1]):
                total += S[a, k] * step_Q[d, k] - S[b, k] * step_Q[c, k]
        out[p] = total


@compiled
def pull_cells(
    S: FloatArray,
    Q: FloatArray,
    at: IntArray,
    slopes: FloatArray,  # (n_cells,)
    both: bool,
    out_S: FloatArray,
    out_Q: FloatArray,
) -> None:
    """Add the adjoint of `push_cells`: slopes by cell to slopes by state."""
    for p in range(at.shape[0]):
        a, b, c, d, g = at[p, 0], at[p, 1], at[p, 2], at[p, 3], slopes[p]
        for k in range(S.shape[1]):
            out_S[a, k] += g * Q[d, k]
            out_S[b, k] -= g * Q[c, k]
        if both:
            for k in range(S.shape[1]):
                out_Q[d, k] += g * S[a, k]
                out_Q[c, k] -= g * S[b, k]


@compiled
def push_pull_cells(
    S: FloatArray,
    Q: FloatArray,
    at: IntArray,
    curvature: FloatArray,  # (n_cells,)
    twist: FloatArray,  # (n_cells,), or empty
    step_S: FloatArray,
    step_Q: FloatArray,
    both: bool,
    width: tuple[int, ...],  # n_columns numbers, so that the compiler knows how many; or none
    out_S: FloatArray,
    out_Q: FloatArray,
) -> None:
    """Add pull(curvature * push(step)) in one pass: the product of every CG iteration.

    With a twist, the pull of it with the step in the place of the factors as well, which is the
    part of the Hessian that Gauss-Newton drops.
    """
    r = len(width) if len(width) > 0 else S.shape[1]
    if not both:
        for p in range(at.shape[0]):
            a, b, c, d = at[p, 0], at[p, 1], at[p, 2], at[p, 3]
            total = 0.0
            for k in range(r):
                total += step_S[a, k] * Q[d, k] - step_S[b, k] * Q[c, k]
            total *= curvature[p]
            for k in range(r):
                out_S[a, k] += total * Q[d, k]
                out_S[b, k] -= total * Q[c, k]
        return
    for p in range(at.shape[0]):
        a, b, c, d = at[p, 0], at[p, 1], at[p, 2], at[p, 3]
        total, bent = 0.0, twist[p] if len(twist) > 0 else 0.0
        for k in range(r):
            total += step_S[a, k] * Q[d, k] - step_S[b, k] * Q[c, k]
            total += S[a, k] * step_Q[d, k] - S[b, k] * step_Q[c, k]
        total *= curvature[p]
        for k in range(r):
            out_S[a, k] += total * Q[d, k] + bent * step_Q[d, k]
            out_S[b, k] -= total * Q[c, k] + bent * step_Q[c, k]
            out_Q[d, k] += total * S[a, k] + bent * step_S[a, k]
            out_Q[c, k] -= total * S[b, k] + bent * step_S[b, k]


@compiled
def state_blocks(
    S: FloatArray,
    Q: FloatArray,
    at: IntArray,
    curvature: FloatArray,  # (n_cells,)
    both: bool,
    width: tuple[int, ...],  # as in `push_pull_cells`
    out_S: FloatArray,  # (n_strength_states, n_columns, n_columns), of zeros
    out_Q: FloatArray,  # (n_exposure_states, n_columns, n_columns), of zeros
) -> None:
    """Write each state's own block of the data's normal matrix."""
    r = len(width) if len(width) > 0 else S.shape[1]
    for p in range(at.shape[0]):
        a, b, c, d, w = at[p, 0], at[p, 1], at[p, 2], at[p, 3], curvature[p]
        for k in range(r):
            one, two = w * Q[d, k], w * Q[c, k]
            for m in range(k + 1):
                out_S[a, k, m] += one * Q[d, m]
                out_S[b, k, m] += two * Q[c, m]
        if both:
            for k in range(r):
                one, two = w * S[a, k], w * S[b, k]
                for m in range(k + 1):
                    out_Q[d, k, m] += one * S[a, m]
                    out_Q[c, k, m] += two * S[b, m]
    for out in (out_S, out_Q):
        for n in range(out.shape[0]):
            for k in range(r):
                for m in range(k):
                    out[n, m, k] = out[n, k, m]


@compiled
def normal_cells(
    S: FloatArray,
    Q: FloatArray,
    at: IntArray,
    pair_at: IntArray,  # (n_cells,)
    effects: bool,  # whether cells read a state of their pair too
    curvature: FloatArray,  # (n_cells,)
    out: FloatArray,  # (n_z, n_z)
) -> None:
    """Add the data's whole normal matrix over z = [S, Q, E], for small problems."""
    r = S.shape[1]
    n = 4 * r + (1 if effects else 0)
    where, what = np.empty(n, np.int64), np.ones(n)
    for p in range(at.shape[0]):
        a, b, c, d = at[p, 0], at[p, 1], at[p, 2], at[p, 3]
        for k in range(r):
            where[4 * k], what[4 * k] = a * r + k, Q[d, k]
            where[4 * k + 1], what[4 * k + 1] = b * r + k, -Q[c, k]
            where[4 * k + 2], what[4 * k + 2] = S.size + d * r + k, S[a, k]
            where[4 * k + 3], what[4 * k + 3] = S.size + c * r + k, -S[b, k]
        if effects:
            where[4 * r] = S.size + Q.size + pair_at[p]
        for k in range(n):
            for m in range(n):
                out[where[k], where[m]] += curvature[p] * what[k] * what[m]


@compiled
def twist_cells(
    at: IntArray,
    slopes: FloatArray,  # (n_cells,)
    r: int,
    n_S: int,  # entries of S
    out: FloatArray,  # (n_z, n_z)
) -> None:
    """Add Σ slope · second derivative of (1): the part of the Hessian that Gauss-Newton drops."""
    for p in range(at.shape[0]):
        a, b, c, d = at[p, 0] * r, at[p, 1] * r, n_S + at[p, 2] * r, n_S + at[p, 3] * r
        for k in range(r):
            out[a + k, d + k] += slopes[p]
            out[d + k, a + k] += slopes[p]
            out[b + k, c + k] -= slopes[p]
            out[c + k, b + k] -= slopes[p]


@compiled
def gather(slopes: FloatArray, at: IntArray, out: FloatArray) -> None:
    """Add slopes by cell up by the state that each cell reads."""
    for p in range(at.shape[0]):
        out[at[p]] += slopes[p]


@compiled
def logistic_terms(
    x: FloatArray,  # (n_cells,): margins
    counts: FloatArray,  # games
    means: FloatArray,  # share won by the first
    slope: FloatArray,  # written
    curvature: FloatArray,  # written
) -> float:
    """Write slope and curvature of Σ counts (log(1 + exp x) - mean x), and return its value."""
    total, product = 0.0, 1.0
    for p in range(x.shape[0]):
        small = math.exp(-abs(x[p]))
        total += counts[p] * (max(0.0, x[p]) - means[p] * x[p])
        if counts[p] == 1.0 and product < LARGE:  # one logarithm for many cells
            product *= 1.0 + small
        else:
            total += counts[p] * math.log1p(small) + math.log(product)
            product = 1.0
        tail = small / (1.0 + small)
        chance = 1.0 - tail if x[p] > 0.0 else tail
        slope[p] = counts[p] * (chance - means[p])
        curvature[p] = counts[p] * tail / (1.0 + small)
    return total + math.log(product)


@compiled
def logistic_value(x: FloatArray, counts: FloatArray, means: FloatArray) -> float:
    """Return the value of `logistic_terms` alone."""
    total = 0.0
    for p in range(x.shape[0]):
        top = max(0.0, x[p])
        total += counts[p] * (top + math.log1p(math.exp(-abs(x[p]))) - means[p] * x[p])
    return total


@compiled
def ordered_terms(
    x: FloatArray,  # (n_cells,): margins
    counts: FloatArray,  # games
    low: FloatArray,  # boundaries of the level that was seen
    high: FloatArray,
    slope: FloatArray,  # written
    curvature: FloatArray,  # written
) -> None:
    """Write slope and curvature of `ordered_value`: a win against low, a loss against high."""
    for p in range(x.shape[0]):
        below = 1.0 / (1.0 + math.exp(min(x[p] - low[p], 700.0)))
        above = 1.0 / (1.0 + math.exp(min(high[p] - x[p], 700.0)))
        slope[p] = counts[p] * (above - below)
        curvature[p] = counts[p] * (above * (1.0 - above) + below * (1.0 - below))


@compiled
def ordered_value(x: FloatArray, counts: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return Σ counts · -log P(low < level <= high), P logistic about the margin."""
    total = 0.0
    for p in range(x.shape[0]):
        part = 0.0
        for gap in (low[p] - x[p], x[p] - high[p]):
            if gap > -700.0:  # an end at infinity adds nothing
                part += max(0.0, gap) + math.log1p(math.exp(-abs(gap)))
        width = high[p] - low[p]
        if width < 700.0:
            part -= math.log(-math.expm1(-width))
        total += counts[p] * part
    return total


@compiled
def order_by_key(keys: IntArray, n_keys: int, out: IntArray) -> None:
    """Write a stable order of the entries by their keys, 0 to n_keys - 1 (a counting sort)."""
    heads = np.zeros(n_keys + 1, np.int64)
    for p in range(keys.shape[0]):
        heads[keys[p] + 1] += 1
    for k in range(n_keys):
        heads[k + 1] += heads[k]
    for p in range(keys.shape[0]):
        k = keys[p]
        out[heads[k]] = p
        heads[k] += 1
