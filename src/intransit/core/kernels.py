"""The few compiled loops: everything that touches one pair at a time.

Every solver here moves some columns v of the factors and holds the rest.  For a pair
(i, j) the margin changes, to first order, by

    v[i] @ A[j] - A[i] @ v[j]                                                      (1)

where A holds, beside each moved column, the column it multiplies: A = Q when S moves,
A = -S when Q moves, A = [Q, -S] when both do.  So one family of loops serves the paper's
half-steps, Gauss-Newton on both factors, and problems with known columns alike.

Any order of the pairs is right; the one that `readings` gives them keeps the rows that they
touch in cache, which is worth a factor of two to five on large problems.
"""

from intransit.arrays import FloatArray, IntArray
from intransit.core.compiled import compiled


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
