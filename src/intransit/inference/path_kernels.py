"""Paths of states, drawn given everything else.

The likelihood is Gaussian in every margin, k x - w x² / 2 (see `law_kernels`).  A path is a first
state and a walk that returns to 0 with rate θ,

    y(t_1) ~ N(mean, prior),      y(t_{q+1}) ~ N(keep · y(t_q), step · length)
    keep = exp(-θ gap),           length = (1 - exp(-2 θ gap)) / 2 θ,      gap = t_{q+1} - t_q

(a random walk where θ is 0: it keeps all, and a length is a gap).  It is drawn whole: messages
(precision J, potential h) run from its last state to its first, then states are drawn from the
first on.  Two kernels: an item's score and factors together, whose parts of a margin are products
with the other item's, and single numbers that enter margins linearly (effects of pairs, what a side
is worth, deviations by a covariate; scores where there are no factors).
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.kernels import compiled


@compiled
def transition(reversion: float, gap: float) -> tuple[float, float]:
    """Return what a path keeps over a gap in time, and the length of its walk there."""
    if reversion * gap < 1e-9:  # a random walk, to the last digit
        return 1.0, gap
    return math.exp(-reversion * gap), -math.expm1(-2.0 * reversion * gap) / (2.0 * reversion)


@compiled
def item_margins(
    first: IntArray,  # (n_cells,): states
    second: IntArray,
    states: FloatArray,  # (n_states, 1 + 2 r): score, u, v
    rest: FloatArray,  # (n_cells,): all other parts
    out: FloatArray,
) -> None:
    """Write the margins: scores, planes, and the rest."""
    r = (states.shape[1] - 1) // 2
    for c in range(len(first)):
        a, b = first[c], second[c]
        x = states[a, 0] - states[b, 0] + rest[c]
        for k in range(1, 1 + r):
            x += states[a, k] * states[b, k + r] - states[a, k + r] * states[b, k]
        out[c] = x


@compiled
def _invert_root(A: FloatArray, out: FloatArray, d: int) -> None:
    """Write the inverse of the Cholesky factor of A (its lower half, overwritten)."""
    for k in range(d):
        for m in range(k):
            s = A[k, m]
            for n in range(m):
                s -= A[k, n] * A[m, n]
            A[k, m] = s * out[m, m]
        s = A[k, k]
        for n in range(k):
            s -= A[k, n] * A[k, n]
        out[k, k] = 1.0 / math.sqrt(max(s, 1e-300))
        for m in range(k):
            s = 0.0
            for n in range(m, k):
                s -= A[k, n] * out[n, m]
            out[k, m] = s * out[k, k]


@compiled
def _gather(
    entries: range,  # of the state
    own_state: FloatArray,  # (d,)
    cell: IntArray,
    sign: FloatArray,
    other: IntArray,
    states: FloatArray,
    x: FloatArray,
    w: FloatArray,
    pull: FloatArray,
    g: FloatArray,  # (d,), workspace
    J: FloatArray,  # (d, d), out: lower half
    h: FloatArray,  # (d,), out
    r: int,
) -> None:
    """Add up what the cells of one state say of it."""
    d = 1 + 2 * r
    for k in range(d):
        h[k] = 0.0
        for m in range(k + 1):
            J[k, m] = 0.0
    g[0] = 1.0
    for p in entries:
        c, o = cell[p], other[p]
        own = own_state[0]
        for k in range(1, 1 + r):
            g[k], g[k + r] = states[o, k + r], -states[o, k]
            own += g[k] * own_state[k] + g[k + r] * own_state[k + r]
        weight = w[c]
        right = sign[p] * (pull[c] - weight * x[c]) + weight * own
        for k in range(d):
            h[k] += g[k] * right
            scaled = weight * g[k]
            for m in range(k + 1):
                J[k, m] += scaled * g[m]


@compiled
def _pass_back(
    stiff: FloatArray,  # (d,): precisions of the step to the next state
    keep: FloatArray,  # (1 or 2,): what is kept until then, of scores and of planes
    next_J: FloatArray,  # (d, d): lower half
    next_h: FloatArray,
    A: FloatArray,  # workspace
    B: FloatArray,  # workspace
    g: FloatArray,  # workspace
    root: FloatArray,  # (d, d), out: inverse Cholesky factor of next_J + stiff
    J: FloatArray,  # changed
    h: FloatArray,  # changed
    d: int,
) -> None:
    """Add the message of the next state on, with K what is kept of this one and A = J' + D.

    J += K (J' - J' A⁻¹ J') K and h += K (h' - J' A⁻¹ h'); in this form it keeps its digits however
    stiff the step is.
    """
    for k in range(d):
        for m in range(k + 1):
            A[k, m] = next_J[k, m]
        A[k, k] += stiff[k]
    _invert_root(A, root, d)
    for k in range(d):
        s = 0.0
        for m in range(k + 1):
            s += root[k, m] * next_h[m]
        g[k] = s
        for m in range(d):
            s = 0.0
            for n in range(k + 1):
                s += root[k, n] * (next_J[n, m] if n >= m else next_J[m, n])
            B[k, m] = s
    for k in range(d):
        s = next_h[k]
        for n in range(d):
            s -= B[n, k] * g[n]
        h[k] += keep[min(k, 1)] * s
        for m in range(k + 1):
            s = next_J[k, m]
            for n in range(d):
                s -= B[n, k] * B[n, m]
            J[k, m] += keep[min(k, 1)] * keep[min(m, 1)] * s


@compiled
def _draw_state(
    rng: np.random.Generator,
    root: FloatArray,  # (d, d): inverse Cholesky factor of the precision
    h: FloatArray,
    g: FloatArray,  # workspace
    out: FloatArray,  # (d,)
    d: int,
) -> None:
    """Draw a normal vector of this precision and potential."""
    for k in range(d):
        s = rng.standard_normal()
        for m in range(k + 1):
            s += root[k, m] * h[m]
        g[k] = s
    for k in range(d):
        s = 0.0
        for m in range(k, d):
            s += root[m, k] * g[m]
        out[k] = s


@compiled
def _move(
    entries: range,
    step: FloatArray,  # (d,): by how much the state has moved
    cell: IntArray,
    sign: FloatArray,
    other: IntArray,
    states: FloatArray,
    x: FloatArray,
    r: int,
) -> None:
    """Move the margins of the cells of one state."""
    for p in entries:
        o = other[p]
        change = step[0]
        for k in range(1, 1 + r):
            change += step[k] * states[o, k + r] - step[k + r] * states[o, k]
        x[cell[p]] += sign[p] * change


@cache
def items_kernel(r: int) -> Callable[..., None]:
    """Return the kernel that draws items with r planes, one at least.

    Sizes are known to the compiler, which makes it 1.6 times as quick as one kernel for all r (300
    items, 50,000 games, three planes).
    """
    d = 1 + 2 * r

    def draw_items(
        rng: np.random.Generator,
        order: IntArray,  # items in the order they are drawn in
        begin: IntArray,  # (n_items + 1,): states of each item
        keep: FloatArray,  # (n_states, 2): of the state before, of scores and of planes
        length: FloatArray,  # (n_states, 2): of the step from there
        cell_begin: IntArray,  # (n_states + 1,)
        cell: IntArray,  # (2 n_cells,): cells of each state
        sign: FloatArray,  # (2 n_cells,): 1 where the state is the first's
        other: IntArray,  # (2 n_cells,): state of the opponent
        states: FloatArray,  # (n_states, d), changed
        x: FloatArray,  # (n_cells,): margins, changed
        w: FloatArray,
        pull: FloatArray,
        means: FloatArray,  # (n_items,): prior mean of the first score
        prior: FloatArray,  # (d,): variances of first states
        step: FloatArray,  # (d,): variances of steps, a unit of time, above 0
    ) -> None:
        """Draw the path of every item in turn, given all others."""
        longest = int(np.max(begin[1:] - begin[:-1]))
        J, h = np.zeros((longest, d, d)), np.zeros((longest, d))
        root, drawn = np.zeros((longest, d, d)), np.zeros((longest, d))
        stiff = np.zeros((longest, d))
        A, B, v, g = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d), np.zeros(d)
        for i in order:
            low, m = begin[i], begin[i + 1] - begin[i]
            for q in range(m - 1, -1, -1):
                s = low + q
                entries = range(cell_begin[s], cell_begin[s + 1])
                _gather(entries, states[s], cell, sign, other, states, x, w, pull, g, J[q], h[q], r)
                if q + 1 < m:
                    for k in range(d):
                        stiff[q, k] = 1.0 / (step[k] * length[s + 1, min(k, 1)])
                    last = J[q + 1], h[q + 1]
                    _pass_back(stiff[q], keep[s + 1], *last, A, B, g, root[q + 1], J[q], h[q], d)
            for k in range(d):
                for n in range(k + 1):
                    A[k, n] = J[0, k, n]
                A[k, k] += 1.0 / prior[k]
            _invert_root(A, root[0], d)
            h[0, 0] += means[i] / prior[0]
            for q in range(m):
                if q > 0:
                    for k in range(d):
                        h[q, k] += stiff[q - 1, k] * keep[low + q, min(k, 1)] * drawn[q - 1, k]
                _draw_state(rng, root[q], h[q], g, drawn[q], d)
            for q in range(m):
                s = low + q
                for k in range(d):
                    v[k] = drawn[q, k] - states[s, k]
                    states[s, k] = drawn[q, k]
                entries = range(cell_begin[s], cell_begin[s + 1])
                _move(entries, v, cell, sign, other, states, x, r)

    return compiled(draw_items)


@compiled
def draw_numbers(
    rng: np.random.Generator,
    begin: IntArray,  # (n_paths + 1,): states of each path
    keep: FloatArray,  # (n_states, 1): of the state before
    length: FloatArray,  # (n_states, 1): of the step from there
    cell_begin: IntArray,  # (n_states + 1,)
    cell: IntArray,  # cells of each state
    factor: FloatArray,  # what the state is multiplied by in each of them
    states: FloatArray,  # (n_states,), changed
    x: FloatArray,  # (n_cells,), changed
    w: FloatArray,
    pull: FloatArray,
    means: FloatArray,  # (n_paths,): prior mean of the first state
    prior: float,
    step: float,
) -> None:
    """Draw every path of single numbers in turn, given all others."""
    longest = 0
    for i in range(len(begin) - 1):
        longest = max(longest, begin[i + 1] - begin[i])
    J, h = np.zeros(longest), np.zeros(longest)
    for i in range(len(begin) - 1):
        low, m = begin[i], begin[i + 1] - begin[i]
        for q in range(m - 1, -1, -1):
            state = low + q
            J[q], h[q] = 0.0, 0.0
            for p in range(cell_begin[state], cell_begin[state + 1]):
                c, f = cell[p], factor[p]
                J[q] += w[c] * f * f
                h[q] += f * (pull[c] - w[c] * (x[c] - f * states[state]))
            if q + 1 < m:
                stiff = 1.0 / (step * length[state + 1, 0])
                share = keep[state + 1, 0] * stiff / (J[q + 1] + stiff)
                J[q] += keep[state + 1, 0] * share * J[q + 1]
                h[q] += share * h[q + 1]
        last = 0.0
        for q in range(m):
            state = low + q
            if q == 0:
                precision, potential = J[0] + 1.0 / prior, h[0] + means[i] / prior
            else:
                stiff = 1.0 / (step * length[state, 0])
                precision, potential = J[q] + stiff, h[q] + stiff * keep[state, 0] * last
            last = potential / precision + rng.standard_normal() / math.sqrt(precision)
            change = last - states[state]
            states[state] = last
            for p in range(cell_begin[state], cell_begin[state + 1]):
                x[cell[p]] += factor[p] * change


@compiled
def gather_numbers(
    cell_begin: IntArray,  # (n_states + 1,)
    cell: IntArray,
    factor: FloatArray,
    states: FloatArray,
    x: FloatArray,
    w: FloatArray,
    pull: FloatArray,
    J: FloatArray,  # (n_states,), out: precision
    h: FloatArray,  # (n_states,), out: potential
) -> None:
    """Add up what the cells of every state say of it, the other terms as they are."""
    for state in range(len(states)):
        precision, potential = 0.0, 0.0
        for p in range(cell_begin[state], cell_begin[state + 1]):
            c, f = cell[p], factor[p]
            precision += w[c] * f * f
            potential += f * (pull[c] - w[c] * (x[c] - f * states[state]))
        J[state], h[state] = precision, potential


@compiled
def number_evidence(
    begin: IntArray,
    keep: FloatArray,  # (n_states, 1)
    length: FloatArray,  # (n_states, 1)
    J: FloatArray,
    h: FloatArray,
    prior: float,
    step: float,
) -> float:
    """Return the log density of what all cells say, with every path integrated out.

    Each path is filtered from its first state on; it holds where no cell has two paths.
    """
    total, grown = 0.0, 1.0
    for i in range(len(begin) - 1):
        mean, variance = 0.0, prior
        for q in range(begin[i], begin[i + 1]):
            if q > begin[i]:
                mean *= keep[q, 0]
                variance = keep[q, 0] * keep[q, 0] * variance + step * length[q, 0]
            gap = h[q] - J[q] * mean
            widened = 1.0 + J[q] * variance
            gain = variance / widened
            total += mean * (h[q] - 0.5 * J[q] * mean) + 0.5 * gap * gap * gain
            grown *= widened
            if grown > 1e200:  # one logarithm for many factors
                total -= 0.5 * math.log(grown)
                grown = 1.0
            mean += gain * gap
            variance = gain
    return total - 0.5 * math.log(grown)


@compiled
def set_transitions(
    begin: IntArray,  # (n_paths + 1,)
    gap: IntArray,  # (n_states,): which of the gaps lies before each state
    gaps: FloatArray,  # (n_gaps,): the different gaps
    reversion: float,
    column: int,
    keep: FloatArray,  # (n_states, n_columns), out: of the state before
    length: FloatArray,  # (n_states, n_columns), out: of the step from there
    fade: FloatArray,  # (n_states, n_columns), out: what is kept of the path's first state
) -> None:
    """Write how every state follows from the one before it."""
    kept, lengths = np.empty(len(gaps)), np.empty(len(gaps))
    for u in range(len(gaps)):
        kept[u], lengths[u] = transition(reversion, gaps[u])
    for i in range(len(begin) - 1):
        for q in range(begin[i], begin[i + 1]):
            if q == begin[i]:
                keep[q, column], length[q, column], fade[q, column] = 1.0, 1.0, 1.0
            else:
                keep[q, column], length[q, column] = kept[gap[q]], lengths[gap[q]]
                fade[q, column] = fade[q - 1, column] * kept[gap[q]]
