"""The compiled loops over chains: symmetric block-tridiagonal matrices, one block a state.

    matrix = blockdiag(A_n)  with  -diag(link_n)  between states n - 1 and n of one owner

An owner's first state has link 0, so that all chains are passed over as one.  Eliminating
forward in time leaves D_n = A_n - link D_{n-1}⁻¹ link; what is kept is D_n⁻¹, so that a solve is
products alone.
"""

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.compiled import compiled


@compiled
def factor_chains(
    blocks: FloatArray,  # (n_states, r, r): A_n, overwritten by D_n⁻¹
    links: FloatArray,  # (n_states, r)
    width: tuple[int, ...],  # r numbers, so that the compiler knows how many; or none
) -> None:
    """Eliminate all chains forward."""
    r = len(width) if len(width) > 0 else blocks.shape[1]
    for n in range(blocks.shape[0]):
        if n > 0:
            for k in range(r):
                for m in range(r):
                    blocks[n, k, m] -= links[n, k] * blocks[n - 1, k, m] * links[n, m]
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
    right: FloatArray,  # (n_states, r)
    out: FloatArray,  # (n_states, r), may be `right`
    work: FloatArray,  # (r,)
    width: tuple[int, ...],  # as in `factor_chains`
) -> None:
    """Solve all chains at once: forward along time, then backward."""
    n_states = right.shape[0]
    r = len(width) if len(width) > 0 else right.shape[1]
    if r == 1:  # the usual case of plain scores, three times as quick without inner loops
        carry = 0.0
        for n in range(n_states):
            carry = inverses[n, 0, 0] * (right[n, 0] + links[n, 0] * carry)
            out[n, 0] = carry
        for n in range(n_states - 2, -1, -1):
            carry = out[n, 0] + inverses[n, 0, 0] * links[n + 1, 0] * carry
            out[n, 0] = carry
        return
    for n in range(n_states):
        for k in range(r):
            work[k] = right[n, k]
            if n > 0:
                work[k] += links[n, k] * out[n - 1, k]
        for k in range(r):
            total = 0.0
            for m in range(r):
                total += inverses[n, k, m] * work[m]
            out[n, k] = total
    for n in range(n_states - 2, -1, -1):
        for k in range(r):
            work[k] = links[n + 1, k] * out[n + 1, k]
        for k in range(r):
            total = 0.0
            for m in range(r):
                total += inverses[n, k, m] * work[m]
            out[n, k] += total


@compiled
def chain_product(
    diagonal: FloatArray,  # (n_states, r)
    links: FloatArray,  # (n_states, r)
    states: FloatArray,  # (n_states, r)
    out: FloatArray,  # (n_states, r)
) -> None:
    """Add diagonal chains (A_n diagonal) times states."""
    n_states, r = states.shape
    if r == 1:
        before, here = 0.0, states[0, 0] if n_states else 0.0
        for n in range(n_states - 1):
            after = states[n + 1, 0]
            total = diagonal[n, 0] * here - links[n, 0] * before - links[n + 1, 0] * after
            out[n, 0] += total
            before, here = here, after
        if n_states:
            last = n_states - 1
            out[last, 0] += diagonal[last, 0] * here - links[last, 0] * before
        return
    for n in range(n_states):
        for k in range(r):
            total = diagonal[n, k] * states[n, k]
            if n > 0:
                total -= links[n, k] * states[n - 1, k]
            if n + 1 < n_states:
                total -= links[n + 1, k] * states[n + 1, k]
            out[n, k] += total


@compiled
def chain_marginals(
    inverses: FloatArray,  # (n_states, r, r), from `factor_chains`
    links: FloatArray,  # (n_states, r)
    out: FloatArray,  # (n_states, r, r): written
    work: FloatArray,  # (r, r)
) -> None:
    """Write the diagonal blocks of the chains' inverse, from the last state back.

    V_n = D_n⁻¹ + D_n⁻¹ link V_{n+1} link D_n⁻¹
    """
    n_states, r = links.shape
    for n in range(n_states - 1, -1, -1):
        for k in range(r):
            for m in range(r):
                out[n, k, m] = inverses[n, k, m]
        if n + 1 == n_states:
            continue
        for k in range(r):
            for m in range(r):
                total = 0.0
                for j in range(r):
                    total += inverses[n, k, j] * links[n + 1, j] * out[n + 1, j, m]
                work[k, m] = total * links[n + 1, m]
        for k in range(r):
            for m in range(r):
                for j in range(r):
                    out[n, k, m] += work[k, j] * inverses[n, j, m]


@compiled
def step_gram(
    links: FloatArray,  # (n_states,)
    basis: FloatArray,  # (n_states, n)
    out: FloatArray,  # (n, n), of zeros
) -> None:
    """Write Σ link · step stepᵀ over the steps of the rows of a basis along all chains."""
    n_states, n = basis.shape
    step = np.empty(n)
    for p in range(1, n_states):
        if links[p] == 0.0:
            continue
        for k in range(n):
            step[k] = basis[p, k] - basis[p - 1, k]
        for k in range(n):
            weighed = links[p] * step[k]
            for m in range(k + 1):
                out[k, m] += weighed * step[m]
    for k in range(n):
        for m in range(k):
            out[m, k] = out[k, m]
