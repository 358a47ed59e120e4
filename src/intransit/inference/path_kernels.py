"""Paths of states, drawn given everything else.

The likelihood is Gaussian in every margin, k x - w x² / 2 (see `law_kernels`).  A path is a first
state and a walk that returns to 0 with rate θ,

    y(t_1) ~ N(mean, prior),      y(t_{q+1}) ~ N(keep · y(t_q), step · length)
    keep = exp(-θ gap),           length = (1 - exp(-2 θ gap)) / 2 θ,      gap = t_{q+1} - t_q

(a random walk where θ is 0: it keeps all, and a length is a gap; where scores jump, a length is
multiplied by the pace of its gap, see `walk_kernels`).  It is drawn whole: messages
(precision J, potential h) run from its last state to its first, then states are drawn from the
first on.  Overrelaxed, it goes from where it is to the other side of its conditional mean m,

    y  <-  m - over (y - m) + √(1 - over²) noise

which leaves the same law alone as noise around m does (Adler, 1981): as a recursion over states,
(1 + over) times the potential and less noise give what is added to -over y.

Two kernels: an item's score and factors together, whose parts of a margin are products with the
other item's, and single numbers that enter margins linearly (effects of pairs, what a side is
worth, deviations by a covariate; scores where there are no factors).
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.kernels import compiled


class Walks(NamedTuple):
    """Which states are whose, and how each follows from the one before it, by kind of column.

    Arrays are changed in place.
    """

    begin: IntArray  # (n_paths + 1,): states of each path
    gap: IntArray  # (n_states,): which of the gaps lies before each state
    gaps: FloatArray  # (n_gaps,): the different gaps
    pace: FloatArray  # (n_states,): of the first column, its squared speed in each gap
    keep: FloatArray  # (n_states, n_columns): what is kept of the state before
    length: FloatArray  # (n_states, n_columns): of the step from there
    fade: FloatArray  # (n_states, n_columns): what is kept of the path's first state

    def turn(self, column: int, reversion: float) -> None:
        """Let a kind of column return to 0 at another rate."""
        set_transitions(self, reversion, column)
        if column == 0:
            self.length[:, 0] *= self.pace

    def run(self, pace: FloatArray) -> None:
        """Let the first column run at another pace in every gap."""
        self.length[:, 0] *= pace / self.pace
        self.pace[:] = pace


class CellEntries(NamedTuple):
    """Which cells each state enters, and what it is multiplied by there."""

    begin: IntArray  # (n_states + 1,)
    cell: IntArray
    factor: FloatArray


class Weighed(NamedTuple):
    """Cells given their weights: each adds  pull · x - w x² / 2  to the log likelihood."""

    first: IntArray  # (n_cells,): states of the two items
    second: IntArray
    x: FloatArray  # (n_cells,): margins, changed with the states
    w: FloatArray
    pull: FloatArray


class Starts(NamedTuple):
    """What first states are drawn around, in their first column."""

    means: FloatArray  # (n_paths,)
    spread: FloatArray  # (n_paths,): variances, in units of the prior's


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
def _gather(
    q: int,  # place of the state in its path
    s: int,  # the state
    r: int,
    begin: IntArray,  # as in `CellEntries`: in a record they cost a copy for every state
    cell: IntArray,
    sign: FloatArray,
    other: IntArray,
    states: FloatArray,
    x: FloatArray,
    w: FloatArray,
    pull: FloatArray,
    g: FloatArray,  # (d,), workspace
    J: FloatArray,  # (n, d, d), out: lower half
    h: FloatArray,  # (n, d), out
) -> None:
    """Write what the cells of one state say of it."""
    d = 1 + 2 * r
    for k in range(d):
        h[q, k] = 0.0
        for n in range(k + 1):
            J[q, k, n] = 0.0
    g[0] = 1.0
    for p in range(begin[s], begin[s + 1]):
        c, o = cell[p], other[p]
        own = states[s, 0]
        for k in range(1, 1 + r):
            g[k], g[k + r] = states[o, k + r], -states[o, k]
            own += g[k] * states[s, k] + g[k + r] * states[s, k + r]
        right = sign[p] * (pull[c] - w[c] * x[c]) + w[c] * own
        for k in range(d):
            h[q, k] += g[k] * right
            scaled = w[c] * g[k]
            for n in range(k + 1):
                J[q, k, n] += scaled * g[n]


@compiled
def _pass_back(
    q: int,
    s: int,
    d: int,
    keep: FloatArray,
    R: FloatArray,  # (n, d, d)
    g: FloatArray,  # (d,), workspace
    B: FloatArray,  # (d, d), workspace
    J: FloatArray,  # (n, d, d), changed: lower half of place q
    h: FloatArray,  # (n, d), changed
) -> None:
    """Add the message of the next state, ', on, with K what is kept of this one until then.

    J += K (J' - J' (J' + D')⁻¹ J') K and h += K (h' - J' (J' + D')⁻¹ h'); in this form it keeps its
    digits however stiff the step is.
    """
    for k in range(d):
        g[k] = 0.0
        for n in range(k + 1):
            g[k] += R[q + 1, k, n] * h[q + 1, n]
        for n in range(d):
            total = 0.0
            for m in range(k + 1):
                total += R[q + 1, k, m] * J[q + 1, m, n]
            B[k, n] = total
    for k in range(d):
        kept, total = keep[s + 1, min(k, 1)], h[q + 1, k]
        for n in range(d):
            total -= B[n, k] * g[n]
        h[q, k] += kept * total
        for n in range(k + 1):
            total = J[q + 1, k, n]
            for m in range(d):
                total -= B[m, k] * B[m, n]
            J[q, k, n] += kept * keep[s + 1, min(n, 1)] * total


@compiled
def _invert_root(
    q: int,
    d: int,
    D: FloatArray,  # (n, d)
    L: FloatArray,  # (d, d), workspace
    J: FloatArray,  # (n, d, d), changed: its upper half becomes that of its lower one
    R: FloatArray,  # (n, d, d), out
) -> None:
    """Write the inverse R of the Cholesky factor L of J + D."""
    for k in range(d):
        for n in range(k):
            J[q, n, k] = J[q, k, n]
            total = J[q, k, n]
            for m in range(n):
                total -= L[k, m] * L[n, m]
            L[k, n] = total * R[q, n, n]
        total = J[q, k, k] + D[q, k]
        for m in range(k):
            total -= L[k, m] * L[k, m]
        R[q, k, k] = 1.0 / math.sqrt(max(total, 1e-300))
        for n in range(k):
            total = 0.0
            for m in range(n, k):
                total -= L[k, m] * R[q, m, n]
            R[q, k, n] = total * R[q, k, k]


@compiled
def _draw_state(
    rng: np.random.Generator,
    q: int,
    d: int,
    R: FloatArray,  # (n, d, d)
    h: FloatArray,  # (n, d)
    noise: float,
    g: FloatArray,  # (d,), workspace
    out: FloatArray,  # (n, d)
) -> None:
    """Draw a normal vector of precision J + D and potential h, its deviation times `noise`."""
    for k in range(d):
        total = noise * rng.standard_normal()
        for n in range(k + 1):
            total += R[q, k, n] * h[q, n]
        g[k] = total
    for k in range(d):
        total = 0.0
        for n in range(k, d):
            total += R[q, n, k] * g[n]
        out[q, k] = total


@compiled
def _longest(begin: IntArray) -> int:
    """Return how many states the longest path has."""
    longest = 0
    for i in range(len(begin) - 1):
        longest = max(longest, begin[i + 1] - begin[i])
    return longest


@cache
def items_kernel(r: int) -> Callable[..., None]:
    """Return the kernel that draws items with r planes, one at least.

    Sizes are known to the compiler, which makes it 1.6 times as quick as one kernel for all r, and
    parts of it take whole arrays: with a view for each state it took 1.7 times as long (300 items,
    50,000 games, three planes).
    """
    d = 1 + 2 * r

    def draw_items(
        rng: np.random.Generator,
        order: IntArray,  # items in the order they are drawn in
        walks: Walks,  # of scores, and of planes
        entries: CellEntries,  # 1 where the state is the first's, else -1
        other: IntArray,  # (2 n_cells,): state of the opponent
        cells: Weighed,  # margins are changed
        states: FloatArray,  # (n_states, d), changed
        starts: Starts,
        prior: FloatArray,  # (d,): variances of first states
        step: FloatArray,  # (d,): variances of steps, a unit of time, above 0
        over: float,
    ) -> None:
        """Draw the path of every item in turn, given all others.

        Of every state: precision J and potential h of what its cells and all later ones say, and
        the precision D of the step to it.
        """
        begin, keep, length = walks.begin, walks.keep, walks.length
        cell_begin, cell, sign = entries
        _, _, x, w, pull = cells
        n, noise = _longest(begin), math.sqrt(1.0 - over * over)
        J, R, L, B = np.zeros((n, d, d)), np.zeros((n, d, d)), np.zeros((d, d)), np.zeros((d, d))
        h, D, drawn, g = np.zeros((n, d)), np.zeros((n, d)), np.zeros((n, d)), np.zeros(d)
        for i in order:
            low, m = begin[i], begin[i + 1] - begin[i]
            for q in range(m - 1, -1, -1):
                s = low + q
                _gather(q, s, r, cell_begin, cell, sign, other, states, x, w, pull, g, J, h)
                if q + 1 < m:
                    _pass_back(q, s, d, keep, R, g, B, J, h)
                for k in range(d):
                    D[q, k] = 1.0 / (step[k] * length[s, min(k, 1)] if q > 0 else prior[k])
                if q == 0:
                    D[0, 0] /= starts.spread[i]
                _invert_root(q, d, D, L, J, R)
            h[0, 0] += D[0, 0] * starts.means[i]
            for q in range(m):
                s = low + q
                for k in range(d):
                    h[q, k] *= 1.0 + over
                    if q > 0:
                        h[q, k] += D[q, k] * keep[s, min(k, 1)] * drawn[q - 1, k]
                _draw_state(rng, q, d, R, h, noise, g, drawn)
                for k in range(d):
                    g[k] = drawn[q, k] - (1.0 + over) * states[s, k]
                    states[s, k] += g[k]
                for p in range(cell_begin[s], cell_begin[s + 1]):
                    o = other[p]
                    change = g[0]
                    for k in range(1, 1 + r):
                        change += g[k] * states[o, k + r] - g[k + r] * states[o, k]
                    x[cell[p]] += sign[p] * change

    return compiled(draw_items)


@compiled
def draw_numbers(
    rng: np.random.Generator,
    walks: Walks,
    entries: CellEntries,
    cells: Weighed,  # margins are changed
    states: FloatArray,  # (n_states,), changed
    starts: Starts,
    prior: float,
    step: float,
    over: float,
) -> None:
    """Draw every path of single numbers in turn, given all others."""
    begin, keep, length = walks.begin, walks.keep, walks.length
    cell_begin, cell, factor = entries
    _, _, x, w, pull = cells
    longest, noise = _longest(begin), math.sqrt(1.0 - over * over)
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
                own = 1.0 / (prior * starts.spread[i])
                precision, potential = J[0] + own, (1.0 + over) * (h[0] + own * starts.means[i])
            else:
                stiff = 1.0 / (step * length[state, 0])
                precision = J[q] + stiff
                potential = (1.0 + over) * h[q] + stiff * keep[state, 0] * last
            last = potential / precision + noise * rng.standard_normal() / math.sqrt(precision)
            change = last - (1.0 + over) * states[state]
            states[state] += change
            for p in range(cell_begin[state], cell_begin[state + 1]):
                x[cell[p]] += factor[p] * change


@compiled
def gather_numbers(
    entries: CellEntries,
    cells: Weighed,
    states: FloatArray,
    J: FloatArray,  # (n_states,), out: precision
    h: FloatArray,  # (n_states,), out: potential
) -> None:
    """Write what the cells of every state say of it, the other terms as they are."""
    begin, cell, factor = entries
    _, _, x, w, pull = cells
    for state in range(len(states)):
        precision, potential = 0.0, 0.0
        for p in range(begin[state], begin[state + 1]):
            c, f = cell[p], factor[p]
            precision += w[c] * f * f
            potential += f * (pull[c] - w[c] * (x[c] - f * states[state]))
        J[state], h[state] = precision, potential


@compiled
def number_evidence(walks: Walks, J: FloatArray, h: FloatArray, prior: float, step: float) -> float:
    """Return the log density of what all cells say, with every path integrated out.

    Each path is filtered from its first state on; it holds where no cell has two paths.
    """
    begin, keep = walks.begin, walks.keep
    total, grown = 0.0, 1.0
    for i in range(len(begin) - 1):
        mean, variance = 0.0, prior
        for q in range(begin[i], begin[i + 1]):
            if q > begin[i]:
                mean *= keep[q, 0]
                variance = keep[q, 0] * keep[q, 0] * variance + step * walks.length[q, 0]
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
def set_transitions(walks: Walks, reversion: float, column: int) -> None:
    """Write how every state follows from the one before it, at an even pace."""
    begin, gap, gaps, keep, fade = walks.begin, walks.gap, walks.gaps, walks.keep, walks.fade
    kept, lengths = np.empty(len(gaps)), np.empty(len(gaps))
    for u in range(len(gaps)):
        kept[u], lengths[u] = transition(reversion, gaps[u])
    for i in range(len(begin) - 1):
        for q in range(begin[i], begin[i + 1]):
            if q == begin[i]:
                keep[q, column], walks.length[q, column], fade[q, column] = 1.0, 1.0, 1.0
            else:
                keep[q, column], walks.length[q, column] = kept[gap[q]], lengths[gap[q]]
                fade[q, column] = fade[q - 1, column] * kept[gap[q]]
