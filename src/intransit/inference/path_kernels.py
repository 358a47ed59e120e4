"""Paths of states, drawn given everything else, and read at any time.

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

Paths are read at any time, as the margins and chances that they make.  Between two of its states a
path is a bridge, outside them a free walk; of an owner that was never seen the prior is all that
is known.  Noise is a function of the draw, the path and the place in time, so that every question
sees the same path: the middle of a gap is drawn given its ends, then the middle of that half in
which the moment lies, and so on (Lévy's construction).  A walk outside goes from knot to knot, each
twice as far off as the one before, with halves between two knots.  Where scores jump, the pace of a
gap ahead is drawn, and that of a gap between two states is a usual one beside the step there.
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


# Reading ------------------------------------------------------------------------------------------

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
ONE = np.uint64(1)
# Acklam's coefficients: the middle (C over D), and the tails (T over B).
C0, C1, C2 = -3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02
C3, C4, C5 = 1.383577518672690e02, -3.066479806614716e01, 2.506628277459239e00
D0, D1, D2 = -5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02
D3, D4 = 6.680131188771972e01, -1.328068155288572e01
T0, T1, T2 = -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e00
T3, T4, T5 = -2.549732539343734e00, 4.374664141464968e00, 2.938163982698783e00
B0, B1, B2, B3 = (
    7.784695709041462e-03,
    3.224671290700398e-01,
    2.445134137142996e00,
    3.754408661907416e00,
)


@compiled
def _scramble(z: np.uint64) -> np.uint64:
    """Return a whole number that looks random (the finaliser of SplitMix64)."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@compiled
def seed_of(draw: int, key: int) -> np.uint64:
    """Return a whole number that belongs to a draw and a key."""
    return _scramble(_scramble(np.uint64(draw) * GOLDEN + ONE) ^ (np.uint64(key) * GOLDEN))


@compiled
def normal_of(seed: np.uint64, column: int) -> float:
    """Return a standard normal number that belongs to a seed and a column.

    The inverse of the normal distribution function, by Acklam's rational approximation (relative
    error 1e-9), of a uniform number.
    """
    z = _scramble(seed + np.uint64(column) * GOLDEN)
    u = (float(z >> S11) + 0.5) / 9007199254740992.0
    q = u - 0.5
    if abs(q) <= 0.47575:
        r = q * q
        top = ((((C0 * r + C1) * r + C2) * r + C3) * r + C4) * r + C5
        return top * q / (((((D0 * r + D1) * r + D2) * r + D3) * r + D4) * r + 1.0)
    tail = math.sqrt(-2.0 * math.log(u if q < 0.0 else 1.0 - u))
    top = ((((T0 * tail + T1) * tail + T2) * tail + T3) * tail + T4) * tail + T5
    value = top / ((((B0 * tail + B1) * tail + B2) * tail + B3) * tail + 1.0)
    return value if q < 0.0 else -value


@compiled
def pace_of(square: float, uniform: float, shape: float) -> float:
    """Return the pace that a squared normal and a uniform number make: inverse Gaussian, mean 1.

    The method of Michael, Schucany and Haas (1976), in a form that keeps its digits where the
    shape is small.
    """
    if square == 0.0:
        return 1.0
    root = math.sqrt(square * (square + 4.0 * shape))
    low = max(4.0 * shape * square / (square + root) ** 2, 1e-30)
    return low if uniform * (1.0 + low) <= 1.0 else 1.0 / low


@compiled
def pace_ahead(seed: np.uint64, column: int, shape: float) -> float:
    """Return the pace of a gap ahead, of which nothing is known: as a seed and a column say.

    For one seed, the shape of a part of a gap gives the pace of that part: pace times shape rises
    with the shape, by leaps where scores jump.
    """
    uniform = 0.5 * math.erfc(-normal_of(seed, column + 1) * math.sqrt(0.5))
    return pace_of(normal_of(seed, column) ** 2, uniform, shape)


@compiled
def pace_between(step: float, shape: float) -> float:
    """Return a usual pace of a gap over which a walk made a step, in units of its deviation.

    Its mean, given the step, is  √(b / a) · K₀(x) / K₁(x),  x = √(a b),  with a the shape and
    b = a + step²; here with x / (½ + √(x² + ¼)) for the ratio of Bessel functions, which leaves
    out the long tail where jumps are large.
    """
    b = shape + step * step
    return b / (0.5 + math.sqrt(shape * b + 0.25))


@compiled
def last_before(
    clock: FloatArray,  # (n_states,): rising within each path
    begin: IntArray,  # (n_paths + 1,)
    owners: IntArray,  # (n,)
    times: FloatArray,  # (n,)
    out: IntArray,  # (n,)
) -> None:
    """Write the last state of each owner at or before a time; its first less one if none is."""
    for n in range(len(owners)):
        low, high = begin[owners[n]], begin[owners[n] + 1]
        while low < high:
            middle = (low + high) // 2
            if clock[middle] <= times[n]:
                low = middle + 1
            else:
                high = middle
        out[n] = low - 1


KNOTS_A_SPAN = 16.0  # the first knot of a walk outside its states: a 16th of the time of the table
HALVINGS = 2  # of a stretch between two knots; a gap between states is halved to the same length
NODES = 2 << HALVINGS  # of noise in such a stretch: its end, its middles, and its smallest parts
LATER = 100  # where noise begins of owners that were never seen, after that of their first states
MOST_NODES = 100  # that one moment needs: of knots, one more each time that it is twice as far off


class Sizes(NamedTuple):
    """What the walks of all draws are like, and what is known of somebody never seen."""

    steps: FloatArray  # (n_draws, d): deviations of steps
    reversions: FloatArray  # (n_draws, d)
    scales: FloatArray  # (n_draws, d): deviations of first states
    means: FloatArray  # (n_draws,): of first states, in the first column, of the never seen
    degrees: int  # of freedom of Student's law of these; 0 if it is normal
    uneven: FloatArray  # (n_draws,): time in which paces differ by their mean; 0 for no jumps
    span: float  # time of the table


# How a moment of a path is reached: at each node a value between two others, or beyond one.  This
# value, near * low + far * high + root * noise, is the next low or the next high one; the last is
# the moment's.  Columns of one array, as compiled loops hand one over more quickly than five.
NEAR, FAR, ROOT, IS_LOW, NODE = range(5)


@compiled
def _bridge(
    reversion: float, since: float, until: float, passed: float, left: float
) -> tuple[float, float, float]:
    """Return what the values before and after count at a moment, and the deviation on top.

    At a pace before the moment, and at one after it.
    """
    kept, length = transition(reversion, since)
    back, rest = (kept, length) if until == since else transition(reversion, until)
    length, rest = length * passed, rest * left
    whole = back * back * length + rest
    return kept * rest / whole, back * length / whole, math.sqrt(length * rest / whole)


@compiled
def _pass_knots(
    lag: float,
    first: float,  # how far off the first knot is
    reversion: float,
    uneven: float,
    seed: np.uint64,
    width: int,
    course: FloatArray,  # (MOST_NODES, 5), written
) -> tuple[int, float, float, float, int]:
    """Write the knots on the way to a moment ahead, up to the first that is not before it.

    Returns how many there are, how far the moment lies behind the last but one, how long that
    stretch is and its pace, and where its nodes begin.
    """
    n, base, size, pace = 0, 0, first, 1.0
    while True:
        if uneven > 0.0:
            pace = pace_ahead(seed, (base + 1) * width - 2, size / uneven)
        kept, length = transition(reversion, size)
        course[n, NEAR], course[n, FAR], course[n, ROOT] = kept, 0.0, math.sqrt(length * pace)
        course[n, IS_LOW], course[n, NODE] = lag > size, base
        n += 1
        if lag <= size:
            return n, lag, size, pace, base
        lag -= size
        size = first if base == 0 else 2.0 * size
        base += NODES


@compiled
def _halve(
    n: int,
    lag: float,
    size: float,
    finest: float,
    reversion: float,
    pace: float,
    uneven: float,
    seed: np.uint64,
    width: int,
    base: int,
    course: FloatArray,  # (MOST_NODES, 5), written
) -> int:
    """Write the middles of the halves that a moment lies in, and the moment; return all nodes."""
    # Time that the walk has passed where a part begins, at its middle or moment, and where it ends.
    begin, passed, whole, cell = 0.0, 0.0, size * pace, 1
    while True:
        last = size <= finest
        at = lag if last else 0.5 * size
        here, before, after = begin + at, pace, pace
        now = here * pace
        if uneven > 0.0 and 0.0 < at < size:
            now = here * pace_ahead(seed, (base + 1) * width - 2, here / uneven)
            before = max((now - passed) / at, 1e-30)
            after = max((whole - now) / (size - at), 1e-30)
        near, far, root = _bridge(reversion, at, size - at, before, after)
        course[n, NEAR], course[n, FAR], course[n, ROOT] = near, far, root
        course[n, IS_LOW], course[n, NODE] = lag >= at, base + cell
        n += 1
        if last:
            return n
        size *= 0.5
        if lag >= at:
            passed, cell, lag, begin = now, 2 * cell + 1, lag - at, here
        else:
            whole, cell = now, 2 * cell


@compiled
def _weigh_nodes(n: int, course: FloatArray) -> tuple[float, float]:
    """Turn roots into what noise counts in the last value; return what the states around do."""
    low, high = course[n - 1, NEAR], course[n - 1, FAR]
    for m in range(n - 2, -1, -1):
        near, far, is_low = course[m, NEAR], course[m, FAR], course[m, IS_LOW] > 0.0
        weight = low if is_low else high
        course[m, ROOT] *= weight
        if is_low:
            low, high = weight * near, high + weight * far
        else:
            low, high = low + weight * near, weight * far
    return low, high


@compiled
def _usual_pace(
    low: float, high: float, gap: float, step: float, reversion: float, uneven: float
) -> float:
    """Return a usual pace of a gap between two states; 1 where nothing jumps."""
    if uneven <= 0.0 or step <= 0.0:
        return 1.0
    kept, length = transition(reversion, gap)
    return pace_between((high - kept * low) / (step * math.sqrt(length)), gap / uneven)


@compiled
def _reach(
    since: float,
    until: float,
    low: float,  # values around, and the deviation of steps: of what may jump
    high: float,
    step: float,
    reversion: float,
    uneven: float,
    first: float,
    seed: np.uint64,
    width: int,  # numbers that belong to a node: of each column, and two of its pace
    course: FloatArray,  # (MOST_NODES, 5), written
) -> tuple[int, float, float]:
    """Write how a moment is reached; return its nodes, and what the states around it count."""
    if until > 0.0:
        gap, finest = since + until, first / (1 << HALVINGS)
        pace = _usual_pace(low, high, gap, step, reversion, uneven)
        n = _halve(0, since, gap, finest, reversion, pace, 0.0, seed, width, 0, course)
    else:
        n, lag, size, pace, base = _pass_knots(since, first, reversion, uneven, seed, width, course)
        finest = size / (1 << HALVINGS)
        n = _halve(n, lag, size, finest, reversion, pace, uneven, seed, width, base, course)
    return n, *_weigh_nodes(n, course)


@compiled
def _age(
    since: float,
    seed: np.uint64,
    g: int,
    steps: FloatArray,  # (n_all_draws, d)
    reversions: FloatArray,
    out: FloatArray,  # (n_draws, n, d), changed
    place: int,
    n: int,
) -> None:
    """Let an owner walk on that was never seen: it came at any moment since, each as likely."""
    d, column = out.shape[2], LATER
    age = since * 0.5 * math.erfc(-normal_of(seed, column) * math.sqrt(0.5))
    for k in range(d):
        kept, length = transition(reversions[g, k], age)
        noise = steps[g, k] * math.sqrt(length) * normal_of(seed, column + 1 + k)
        out[place, n, k] = kept * out[place, n, k] + noise


@compiled
def read_paths(
    states: FloatArray,  # (n_all_draws, n_states, d)
    which: IntArray,  # (n_draws,): draws to read
    before: IntArray,  # (n,): states; -1 for an owner that was never seen
    after: IntArray,  # (n,)
    since: FloatArray,  # (n,): time from the first, or in which the never seen came, to the moment
    until: FloatArray,  # (n,): time from there to the second; 0 where there is none
    keys: IntArray,  # (n,): of the noise
    sizes: Sizes,
    out: FloatArray,  # (n_draws, n, d)
) -> None:
    """Write the states of some paths at some times, in every draw asked for."""
    steps, reversions, scales, means, degrees, unevens, span = sizes
    d = states.shape[2]
    course, width, first = np.empty((MOST_NODES, 5)), d + 2, span / KNOTS_A_SPAN
    for place in range(len(which)):
        g = which[place]
        still = steps[g].max() <= 0.0
        for n in range(len(before)):
            b, a, seed = before[n], after[n], seed_of(g, keys[n])
            if b < 0:
                for k in range(d):
                    out[place, n, k] = scales[g, k] * normal_of(seed, k)
                if degrees > 0:
                    squares = 0.0
                    for m in range(d, d + degrees):
                        squares += normal_of(seed, m) ** 2
                    out[place, n, 0] *= math.sqrt((degrees - 2) / squares)
                out[place, n, 0] += means[g]
                if since[n] > 0.0:
                    _age(since[n], seed, g, steps, reversions, out, place, n)
                continue
            at_state, nodes, low, high = still or since[n] <= 0.0, 0, 1.0, 0.0
            for k in range(d):
                x, y, reversion = states[g, b, k], states[g, a, k], reversions[g, k]
                like_last = k > 0 and reversion == reversions[g, k - 1]
                if not at_state and (not like_last or (k == 1 and unevens[g] > 0.0)):
                    nodes, low, high = _reach(
                        since[n], until[n], x, y, steps[g, k], reversion,
                        unevens[g] if k == 0 else 0.0, first, seed, width, course,
                    )  # fmt: skip
                value = low * x + high * y
                if steps[g, k] > 0.0:
                    for m in range(nodes):
                        noise = normal_of(seed, int(course[m, NODE]) * width + k)
                        value += steps[g, k] * course[m, ROOT] * noise
                out[place, n, k] = value


@compiled
def _margin(a: FloatArray, b: FloatArray) -> float:  # (1 + 2 r,) each: score, u, v
    """Return the margin that scores and planes of two items make."""
    x = float(a[0] - b[0])
    r = (len(a) - 1) // 2
    for k in range(1, 1 + r):
        x += a[k] * b[k + r] - a[k + r] * b[k]
    return x


@compiled
def pair_margins(
    values: FloatArray,  # (n_draws, n_points, d)
    first: IntArray,  # (n,): points
    second: IntArray,
    out: FloatArray,  # (n_draws, n)
) -> None:
    """Write the margins that scores and planes make."""
    for g in range(values.shape[0]):
        for n in range(len(first)):
            out[g, n] = _margin(values[g, first[n]], values[g, second[n]])


@compiled
def _logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x)), however large x is."""
    tail = math.exp(-abs(x))
    return (1.0 if x > 0.0 else tail) / (1.0 + tail)


@compiled
def _chance(x: float, cut: float, noise: float) -> float:
    """Return the expected result at a margin."""
    if noise > 0.0:
        return 0.5 * math.erfc(-x / (noise * math.sqrt(2.0)))
    if cut == 0.0:
        return _logistic(x)
    return 0.5 * (_logistic(x - cut) + _logistic(x + cut))


class Matchups(NamedTuple):
    """What draws add to the margins of some items against others, and the law of results.

    An effect that is not known makes chances flatter: a logistic curve over a normal number of
    deviation s is close to one that is wider by √(1 + π s² / 8).
    """

    effects: FloatArray  # (n_draws, n_effects)
    which: IntArray  # (n, m): of the effects, -1 for none, -2 for unknown
    sign: FloatArray  # (n, m)
    flat: FloatArray  # (n_draws,): by how much an unknown effect makes margins smaller
    cuts: FloatArray  # (n_draws,): half the width of a tie
    noise: FloatArray  # (n_draws,): of readings; 0 for games


@compiled
def _expected(x: float, g: int, n: int, m: int, of: Matchups) -> float:
    """Return the expected result of two items in a draw, whose scores and planes make x."""
    e = of.which[n, m]
    if e >= 0:
        x += of.sign[n, m] * of.effects[g, e]
    elif e == -2:
        x *= of.flat[g]
    return _chance(x, of.cuts[g], of.noise[g])


@compiled
def expected_chances(
    values: FloatArray,  # (n_draws, n, d)
    begin: int,  # first row
    end: int,
    of: Matchups,
    out: FloatArray,  # (n, n)
) -> None:
    """Write the chance of every pair whose first item is in some rows, averaged over draws."""
    n_draws, n_items = values.shape[:2]
    for n in range(begin, end):
        out[n, n] = 0.5
        for m in range(n + 1, n_items):
            total = 0.0
            for g in range(n_draws):
                total += _expected(_margin(values[g, n], values[g, m]), g, n, m, of)
            out[n, m] = total / n_draws
            out[m, n] = 1.0 - out[n, m]


@compiled
def mean_chances(
    values: FloatArray,  # (n_draws, n_points, d)
    begin: int,  # first draw
    end: int,
    items: IntArray,  # (n,): points
    panel: IntArray,  # (m,): points
    weights: FloatArray,  # (n, m): 0 where they are not to be compared
    of: Matchups,
    out: FloatArray,  # (n_draws, n)
) -> None:
    """Write the mean chance of every item against a panel in some draws, a tie as half a win."""
    for g in range(begin, end):
        for n in range(len(items)):
            total, weight = 0.0, 0.0
            for m in range(len(panel)):
                if weights[n, m] == 0.0:
                    continue
                x = _margin(values[g, items[n]], values[g, panel[m]])
                total += weights[n, m] * _expected(x, g, n, m, of)
                weight += weights[n, m]
            out[g, n] = total / weight if weight > 0.0 else 0.5


@compiled
def _fill_normals(salt: int, keys: IntArray, out: FloatArray) -> None:
    for n in range(len(keys)):
        out[n] = normal_of(seed_of(salt, keys[n]), 0)


def keyed_normals(keys: IntArray, *salt: int) -> FloatArray:  # (n,)
    """Return a standard normal number for each key, others for another salt.

    The same wherever, and in whatever order, they are drawn.
    """
    word = np.random.SeedSequence(salt).generate_state(1, np.uint64)[0]
    out = np.empty(len(keys))
    _fill_normals(int(word >> np.uint64(1)), keys, out)
    return out
