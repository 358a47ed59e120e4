"""The compiled loops over cells, and over chains of states.

A cell reads four states,

    x = S[a] @ Q[d] - S[b] @ Q[c]                                                  (1)

a and b the strengths of its first and second item at its time, c and d their exposures; b, d
change sign together when the pair is swapped.  To first order it changes by

    dS[a] @ Q[d] - dS[b] @ Q[c] + S[a] @ dQ[d] - S[b] @ dQ[c]                      (2)

When no exposure moves (plain scores, measured features) the second half is skipped.  Cells say
where a, b, c, d stand; those that say a and b alone have their exposures at the same places, or all
in one row, as plain scores do.

Chains are walks of states, each from the one before it of its owner, wherever that stands:

    penalty  =  ½ Σ_n link_n (state_n - state_before)²

A first state stands before itself; its step is from 0, its link what the prior says of it.  With
blocks of the data on top the matrix is symmetric and block-tridiagonal: blocks A_n, which hold the
links of both steps of a state, and -diag(link_n) between a state and the one before it.
Eliminating forward in time leaves D_n = A_n - link D_before⁻¹ link; what is kept is D_n⁻¹, so that
a solve is products alone.
"""

import math

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.kernels import compiled

LARGE = 1e100  # factors of at most 2 are multiplied up to here


@compiled
def places(at: IntArray, p: int, shared: bool) -> tuple[int, int, int, int]:
    """Return a, b, c and d of a cell; `shared` that exposures are one row."""
    if at.shape[1] == 4:
        return at[p, 0], at[p, 1], at[p, 2], at[p, 3]
    if shared:
        return at[p, 0], at[p, 1], 0, 0
    return at[p, 0], at[p, 1], at[p, 0], at[p, 1]


@compiled
def are_plain(Q: FloatArray, at: IntArray, both: bool) -> bool:
    """Return whether there are plain scores alone, whose loops are two to four times as quick."""
    return not both and Q.shape[0] == 1 and at.shape[1] == 2 and Q.shape[1] == 1


@compiled
def push_cells(
    S: FloatArray,  # (n_strength_states, n_columns)
    Q: FloatArray,  # (n_exposure_states, n_columns)
    at: IntArray,  # (n_cells, 4): a, b, c, d; or (n_cells, 2): a, b
    step_S: FloatArray,
    step_Q: FloatArray,
    both: bool,  # whether exposures move
    out: FloatArray,  # (n_cells,)
) -> None:
    """Write the first-order change of every cell: equation (2).

    Along S itself, exposures held, it is the margin: equation (1).
    """
    r, shared = Q.shape[1], Q.shape[0] == 1
    if are_plain(Q, at, both):
        for p in range(at.shape[0]):
            out[p] = (step_S[at[p, 0], 0] - step_S[at[p, 1], 0]) * Q[0, 0]
        return
    for p in range(at.shape[0]):
        a, b, c, d = places(at, p, shared)
        total = 0.0
        for k in range(r):
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
    shared = Q.shape[0] == 1
    if are_plain(Q, at, both):
        for p in range(at.shape[0]):
            g = slopes[p] * Q[0, 0]
            out_S[at[p, 0], 0] += g
            out_S[at[p, 1], 0] -= g
        return
    for p in range(at.shape[0]):
        a, b, c, d = places(at, p, shared)
        g = slopes[p]
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
    r, shared = len(width) if len(width) > 0 else S.shape[1], Q.shape[0] == 1
    if are_plain(Q, at, both):
        square = Q[0, 0] ** 2
        for p in range(at.shape[0]):
            a, b = at[p, 0], at[p, 1]
            total = (step_S[a, 0] - step_S[b, 0]) * curvature[p] * square
            out_S[a, 0] += total
            out_S[b, 0] -= total
        return
    if not both:
        for p in range(at.shape[0]):
            a, b, c, d = places(at, p, shared)
            total = 0.0
            for k in range(r):
                total += step_S[a, k] * Q[d, k] - step_S[b, k] * Q[c, k]
            total *= curvature[p]
            for k in range(r):
                out_S[a, k] += total * Q[d, k]
                out_S[b, k] -= total * Q[c, k]
        return
    for p in range(at.shape[0]):
        a, b, c, d = places(at, p, shared)
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
    r, shared = len(width) if len(width) > 0 else S.shape[1], Q.shape[0] == 1
    if are_plain(Q, at, both):
        square = Q[0, 0] ** 2
        for p in range(at.shape[0]):
            out_S[at[p, 0], 0, 0] += curvature[p] * square
            out_S[at[p, 1], 0, 0] += curvature[p] * square
        return
    for p in range(at.shape[0]):
        a, b, c, d = places(at, p, shared)
        w = curvature[p]
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
    twist: FloatArray,  # (n_cells,): slopes for the part that Gauss-Newton drops; or empty
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
    for p in range(twist.shape[0]):
        a, b, c, d = at[p, 0] * r, at[p, 1] * r, S.size + at[p, 2] * r, S.size + at[p, 3] * r
        for k in range(r):
            out[a + k, d + k] += twist[p]
            out[d + k, a + k] += twist[p]
            out[b + k, c + k] -= twist[p]
            out[c + k, b + k] -= twist[p]


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
    slope: FloatArray,  # written; may be x itself
    curvature: FloatArray,  # written
) -> float:
    """Write slope and curvature of Σ counts (log(1 + exp x) - mean x), and return its value."""
    total, product = 0.0, 1.0
    for p in range(x.shape[0]):
        margin = x[p]
        small = math.exp(-abs(margin))
        total += counts[p] * (max(0.0, margin) - means[p] * margin)
        if counts[p] == 1.0 and product < LARGE:  # one logarithm for many cells
            product *= 1.0 + small
        else:
            total += counts[p] * math.log1p(small) + math.log(product)
            product = 1.0
        most = 1.0 / (1.0 + small)
        tail = small * most
        chance = 1.0 - tail if margin > 0.0 else tail
        slope[p] = counts[p] * (chance - means[p])
        curvature[p] = counts[p] * tail * most
    return total + math.log(product)


@compiled
def ordered_terms(
    x: FloatArray,  # (n_cells,): margins
    counts: FloatArray,  # games
    low: FloatArray,  # boundaries of the level that was seen
    high: FloatArray,
    slope: FloatArray,  # written; may be x itself
    curvature: FloatArray,  # written
) -> float:
    """Write slope and curvature of Σ counts · -log P(low < level <= high), and return its value.

    P is logistic about the margin: a level is a win against low, and a loss against high.
    """
    total = 0.0
    for p in range(x.shape[0]):
        margin, part = x[p], 0.0
        for gap in (low[p] - margin, margin - high[p]):
            if gap > -700.0:  # an end at infinity adds nothing
                part += max(0.0, gap) + math.log1p(math.exp(-abs(gap)))
        width = high[p] - low[p]
        if width < 700.0:
            part -= math.log(-math.expm1(-width))
        total += counts[p] * part
        below = 1.0 / (1.0 + math.exp(min(margin - low[p], 700.0)))
        above = 1.0 / (1.0 + math.exp(min(high[p] - margin, 700.0)))
        slope[p] = counts[p] * (above - below)
        curvature[p] = counts[p] * (above * (1.0 - above) + below * (1.0 - below))
    return total


@compiled
def add_links(links: FloatArray, before: IntArray, damping: FloatArray, blocks: FloatArray) -> None:
    """Add what steps say of each state alone, and damping by column, to blocks (n_states, r, r)."""
    for n in range(links.shape[0]):
        last = before[n]
        for k in range(links.shape[1]):
            blocks[n, k, k] += links[n, k] + damping[k]
            if last != n:
                blocks[last, k, k] += links[n, k]


@compiled
def factor_chains(
    blocks: FloatArray,  # (n_states, r, r): A_n, overwritten by D_n⁻¹
    links: FloatArray,  # (n_states, r)
    before: IntArray,  # (n_states,): no later than the state itself
    width: tuple[int, ...],  # r numbers, so that the compiler knows how many; or none
) -> None:
    """Eliminate all chains forward."""
    r = len(width) if len(width) > 0 else blocks.shape[1]
    for n in range(blocks.shape[0]):
        last = before[n]
        if last != n:
            for k in range(r):
                for m in range(r):
                    blocks[n, k, m] -= links[n, k] * blocks[last, k, m] * links[n, m]
        for p in range(r):  # inverse in place; no pivots, as the block is positive definite
            pivot = 1.0 / blocks[n, p, p]
            blocks[n, p, p] = 1.0
            for m in range(r):
                blocks[n, p, m] *= pivot
            for k in range(r):
                if k != p:
                    hold = blocks[n, k, p]
                    blocks[n, k, p] = 0.0
                    for m in range(r):
                        blocks[n, k, m] -= hold * blocks[n, p, m]


@compiled
def solve_chains(
    inverses: FloatArray,  # (n_states, r, r), from `factor_chains`
    links: FloatArray,  # (n_states, r)
    before: IntArray,  # (n_states,)
    right: FloatArray,  # (n_states, r)
    out: FloatArray,  # (n_states, r), may be `right`
    work: FloatArray,  # (r,)
    width: tuple[int, ...],  # as in `factor_chains`
) -> None:
    """Solve all chains at once: forward along time, then backward."""
    n_states = right.shape[0]
    r = len(width) if len(width) > 0 else right.shape[1]
    if r == 1:  # the usual case of plain scores, three times as quick without inner loops
        _solve_single(inverses.ravel(), links.ravel(), before, right.ravel(), out.ravel())
        return
    for n in range(n_states):
        last = before[n]
        for k in range(r):
            work[k] = right[n, k]
            if last != n:
                work[k] += links[n, k] * out[last, k]
        for k in range(r):
            total = 0.0
            for m in range(r):
                total += inverses[n, k, m] * work[m]
            out[n, k] = total
    for n in range(n_states - 1, -1, -1):
        last = before[n]
        if last == n:
            continue
        for k in range(r):
            work[k] = links[n, k] * out[n, k]
        for k in range(r):
            total = 0.0
            for m in range(r):
                total += inverses[last, k, m] * work[m]
            out[last, k] += total


@compiled
def _solve_single(
    inverses: FloatArray, links: FloatArray, before: IntArray, right: FloatArray, out: FloatArray
) -> None:
    """Do the same with one column, all given as vectors."""
    for n in range(right.shape[0]):
        value, last = right[n], before[n]
        if last != n:
            value += links[n] * out[last]
        out[n] = inverses[n] * value
    for n in range(right.shape[0] - 1, -1, -1):
        last = before[n]
        if last != n:
            out[last] += inverses[last] * (links[n] * out[n])


@compiled
def chain_product(
    links: FloatArray,  # (n_states, r)
    before: IntArray,  # (n_states,)
    damping: float,
    states: FloatArray,  # (n_states, r)
    out: FloatArray,  # (n_states, r)
) -> None:
    """Add the precision of chains, damped, times states."""
    w, s, o, r = links.ravel(), states.ravel(), out.ravel(), states.shape[1]
    if r == 1:  # twice as quick
        for n in range(states.shape[0]):
            last = before[n]
            if last == n:
                o[n] += (w[n] + damping) * s[n]
            else:
                step = w[n] * (s[n] - s[last])
                o[n] += step + damping * s[n]
                o[last] -= step
        return
    for n in range(states.shape[0]):
        last = before[n]
        for i in range(n * r, n * r + r):
            j = i + (last - n) * r
            if last == n:
                o[i] += (w[i] + damping) * s[i]
            else:
                step = w[i] * (s[i] - s[j])
                o[i] += step + damping * s[i]
                o[j] -= step


@compiled
def chain_energy(links: FloatArray, before: IntArray, states: FloatArray) -> float:
    """Return the inner product of states with `chain_product` of them, undamped."""
    w, s, r, total = links.ravel(), states.ravel(), states.shape[1], 0.0
    for n in range(states.shape[0]):
        last = before[n]
        for k in range(r):
            i = n * r + k
            step = s[i] if last == n else s[i] - s[last * r + k]
            total += w[i] * step**2
    return total


@compiled
def chain_marginals(
    inverses: FloatArray,  # (n_states, r, r), from `factor_chains`
    links: FloatArray,  # (n_states, r)
    before: IntArray,  # (n_states,)
    out: FloatArray,  # (n_states, r, r): written
    work: FloatArray,  # (r, r)
) -> None:
    """Write the diagonal blocks of the chains' inverse, from the last state back.

    V_before = D_before⁻¹ + D_before⁻¹ link V_n link D_before⁻¹
    """
    n_states, r = links.shape
    out[:] = inverses
    for n in range(n_states - 1, -1, -1):
        last = before[n]
        if last == n:
            continue
        for k in range(r):
            for m in range(r):
                total = 0.0
                for j in range(r):
                    total += inverses[last, k, j] * links[n, j] * out[n, j, m]
                work[k, m] = total * links[n, m]
        for k in range(r):
            for m in range(r):
                for j in range(r):
                    out[last, k, m] += work[k, j] * inverses[last, j, m]


@compiled
def step_gram(
    links: FloatArray,  # (n_states,)
    before: IntArray,  # (n_states,)
    basis: FloatArray,  # (n_states, n)
    out: FloatArray,  # (n, n), of zeros
) -> None:
    """Write Σ link · step stepᵀ over the steps of a basis: basisᵀ precision basis."""
    n_states, n = basis.shape
    step = np.empty(n)
    for p in range(n_states):
        for k in range(n):
            step[k] = basis[p, k]
            if before[p] != p:
                step[k] -= basis[before[p], k]
        for k in range(n):
            weighed = links[p] * step[k]
            for m in range(k + 1):
                out[k, m] += weighed * step[m]
    for k in range(n):
        for m in range(k):
            out[m, k] = out[k, m]
