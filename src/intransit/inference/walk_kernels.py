"""How walks move, at which speed, with which leaps, and where they are at any time.

*Reversion*: how fast a walk returns to 0 is drawn given the states, alone and with its rate so that
the size it settles at stays; all that counts then are three sums for each different gap in time.

*Jumps*: over a gap g a score steps by N(0, pace · its variance at an even pace); the pace is
inverse Gaussian with mean 1 and shape  a = g / (jumps² · span).  Given a step of z deviations at an
even pace, the pace is generalised inverse Gaussian,  ∝ p⁻² exp(-(a p + (a + z²) / p) / 2),  and is
drawn as such (`draw_paces`).  Without their paces, steps are normal inverse Gaussian, with
the log density

    a  +  log a  -  ½ log(a + z²)  +  log K₁(√(a (a + z²)))  -  log π

by which jumps are drawn (`draw_jumps`); paces follow from them.  Where the games say little of
single steps, the steps that there are hold jumps where they are.  So jumps are also drawn with the
states moving along: a pace is a function of its shape and of two numbers that know nothing of it
(`pace_of`), which are held, as is a step over its deviation (`grow_walks`); so is the reversion,
alone or with the rate.

All are drawn on the log by slices, but for paces, which are drawn exactly.

*Reading*: paths are read at any time, as the margins and chances that they make.  Between two of
its states a path is a bridge, outside them a free walk; of an owner that was never seen the prior
is all that is known.  Noise is a function of the draw, the path and the place in time, so that
every question sees the same path: the middle of a gap is drawn given its ends, then the middle of
that half in which the moment lies, and so on (Lévy's construction).  A walk outside goes from knot
to knot, each twice as far off as the one before, with halves between two knots.  Where scores jump,
the pace of a gap ahead is drawn, and that of a gap between two states is a usual one beside the
step there.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import k1e

from intransit.arrays import FloatArray, IntArray
from intransit.inference.path_kernels import Walks, Weighed, transition
from intransit.inference.scale_kernels import WIDTH, half_cauchy
from intransit.kernels import compiled, draw_by_slice


@compiled
def gap_sums(
    walks: Walks,
    states: FloatArray,  # (n_states, d)
    low: int,  # columns from here on; where it is 0, at the pace of the first
    high: int,
    widths: FloatArray,  # (d,): scales of the columns
    sums: FloatArray,  # (n_gaps, 4), out: of n, y², y y', y'², y' the state before
) -> None:
    """Add up, for each different gap, what tells how paths went on over it."""
    begin = walks.begin
    sums[:] = 0.0
    for i in range(len(begin) - 1):
        for q in range(begin[i] + 1, begin[i + 1]):
            u = walks.gap[q]
            sums[u, 0] += high - low
            pace = math.sqrt(walks.pace[q]) if low == 0 else 1.0
            for k in range(low, high):
                unit = widths[k] * pace
                here, before = states[q, k] / unit, states[q - 1, k] / unit
                sums[u, 1] += here * here
                sums[u, 2] += here * before
                sums[u, 3] += before * before


@compiled
def _walk_density(
    log_f: float,
    along: float,  # powers of f by which the rate and the reversion grow
    across: float,
    rate: float,
    rate_prior: float,  # 0 where it is known
    reversion: float,
    reversion_prior: float,
    gaps: FloatArray,
    sums: FloatArray,
) -> float:
    """Return the log density of the log of a factor by which rate and reversion grow."""
    rate, reversion = rate * math.exp(along * log_f), reversion * math.exp(across * log_f)
    value = half_cauchy(math.log(reversion), reversion_prior)
    if along != 0.0:
        value += half_cauchy(math.log(rate), rate_prior)
    for u in range(len(gaps)):
        if sums[u, 0] > 0.0:
            kept, length = transition(reversion, gaps[u])
            variance = rate * rate * length
            left = sums[u, 1] - kept * (2.0 * sums[u, 2] - kept * sums[u, 3])
            value -= 0.5 * (sums[u, 0] * math.log(variance) + left / variance)
    return value


@compiled
def draw_reversion(
    rng: np.random.Generator,
    rate: float,
    rate_prior: float,
    reversion: float,
    reversion_prior: float,
    gaps: FloatArray,
    sums: FloatArray,
) -> tuple[float, float]:
    """Draw a reversion given the states, then with the rate moving along; return both.

    In the second move rate² / reversion, and so the size that the walk settles at, stays.
    """
    for move in range(2 if rate_prior > 0.0 else 1):
        along, across = 1.0 * move, 1.0 + move
        rest = (along, across, rate, rate_prior, reversion, reversion_prior, gaps, sums)
        f = math.exp(draw_by_slice(rng, 0.0, WIDTH, _walk_density, rest))
        rate, reversion = rate * f**along, reversion * f**across
    return rate, reversion


def _jumps_density(
    log_f: float,
    along: float,  # power of f by which the rate grows
    rate: float,
    rate_prior: float,  # 0 where it is known
    jumps: float,
    prior: float,
    gaps: FloatArray,  # (n,): in units of the whole time
    squares: FloatArray,  # (n,): of steps, in units of their variance at an even pace
) -> float:
    """Return the log density of the log of a factor by which jumps and the rate grow."""
    value = half_cauchy(math.log(jumps) + log_f, prior)
    if along != 0.0:
        value += half_cauchy(math.log(rate) + log_f, rate_prior) - len(gaps) * log_f
        squares = squares * math.exp(-2.0 * log_f)
    a = gaps * (math.exp(-2.0 * log_f) / jumps**2)
    b = a + squares
    x = np.sqrt(a * b)
    # a - x is what the two exponentials leave, in a form that keeps its digits.
    return float(value + np.sum(np.log(a * k1e(x)) - 0.5 * np.log(b) - a * squares / (a + x)))


def draw_jumps(
    rng: np.random.Generator,
    rate: float,
    rate_prior: float,
    jumps: float,
    prior: float,
    gaps: FloatArray,
    squares: FloatArray,
) -> tuple[float, float]:
    """Draw the size of jumps given all steps, then with the rate growing along; return both.

    Paces are integrated out.  Where jumps are large, only the rate over them can be told: the
    second move is along that line.
    """
    for along in (0.0, 1.0) if rate_prior > 0.0 else (0.0,):
        rest = (along, rate, rate_prior, jumps, prior, gaps, squares)
        f = math.exp(draw_by_slice(rng, 0.0, 2.0 * WIDTH, _jumps_density, rest))
        jumps, rate, squares = jumps * f, rate * f**along, squares * f ** (-2.0 * along)
    return rate, jumps


@compiled
def draw_inverse_gaussian(rng: np.random.Generator, a: float, b: float) -> float:
    """Draw a number of density  ∝ p⁻² exp(-(a p + b / p) / 2):  generalised inverse Gaussian.

    By Devroye's (2014) rejection on the log, whose cost does not depend on a and b.
    """
    omega = math.sqrt(a * b)
    alpha = omega * omega / (math.sqrt(omega * omega + 1.0) + 1.0)  # √(ω² + 1) - 1
    right = alpha * (math.cosh(1.0) - 1.0) + math.e - 2.0
    t = 1.0
    if right > 2.0:
        t = math.sqrt(2.0 / (alpha + 1.0))
    elif right < 0.5:
        t = math.log(4.0 / (alpha + 2.0))
    left = alpha * (math.cosh(1.0) - 1.0) + math.exp(-1.0)
    s = 1.0
    if left > 2.0:
        s = math.sqrt(4.0 / (alpha * math.cosh(1.0) + 1.0))
    elif left < 0.5:
        s = min(1.0, math.log1p(1.0 / alpha + math.sqrt(1.0 / alpha**2 + 2.0 / alpha)))
    eta = alpha * (math.cosh(t) - 1.0) + math.exp(t) - t - 1.0
    zeta = alpha * math.sinh(t) + math.exp(t) - 1.0
    theta = alpha * (math.cosh(s) - 1.0) + math.exp(-s) + s - 1.0
    xi = alpha * math.sinh(s) + 1.0 - math.exp(-s)
    p, r = 1.0 / xi, 1.0 / zeta
    high, low = t - r * eta, s - p * theta
    q = high + low
    while True:
        place, v, w = (p + q + r) * rng.random(), 1.0 - rng.random(), rng.random()
        if place < q:
            x, bound = q * v - low, 0.0
        elif place < q + r:
            x = high - r * math.log(v)
            bound = -eta - zeta * (x - t)
        else:
            x = p * math.log(v) - low
            bound = -theta + xi * (x + s)
        if math.log(w) + bound <= -alpha * (math.cosh(x) - 1.0) - (math.exp(x) - x - 1.0):
            return math.sqrt(b / a) * omega / (1.0 + math.sqrt(omega * omega + 1.0)) * math.exp(-x)


@compiled
def _walk_again(
    log_f: float,
    powers: FloatArray,  # (3,): of f by which rate, reversion and jumps grow
    sizes: FloatArray,  # (3,): what they are; jumps may be 0
    priors: FloatArray,  # (3,)
    span: float,
    walks: Walks,  # paces are changed
    held: tuple[FloatArray, FloatArray, FloatArray],  # (n_states,) each: the two numbers that paces
    # are made of, the first squared; steps over their deviation, but for the rate, or first states
    rest: FloatArray,  # (n_cells,): margins less scores
    cells: Weighed,
    scores: FloatArray,  # (n_states,), out
) -> float:
    """Return the log density of the log of f, with scores and paces moving along; write them."""
    begin, gaps, pace, (squares, uniforms, steps) = walks.begin, walks.gaps, walks.pace, held
    rate, reversion, jumps = sizes * np.exp(powers * log_f)
    kept, deviation = np.empty(len(gaps)), np.empty(len(gaps))
    for u in range(len(gaps)):
        kept[u], length = transition(reversion, gaps[u])
        deviation[u] = rate * math.sqrt(length)
    fine = 1.0 / (span * jumps * jumps) if jumps > 0.0 else 0.0
    for i in range(len(begin) - 1):
        low = begin[i]
        pace[low], scores[low] = 1.0, steps[low]
        for q in range(low + 1, begin[i + 1]):
            u = walks.gap[q]
            if fine > 0.0:
                pace[q] = pace_of(squares[q], uniforms[q], gaps[u] * fine)
            scores[q] = kept[u] * scores[q - 1] + deviation[u] * math.sqrt(pace[q]) * steps[q]
    value = 0.0
    for m in range(3):
        if powers[m] != 0.0:
            value += half_cauchy(math.log(sizes[m]) + powers[m] * log_f, priors[m])
    for c in range(len(rest)):
        x = rest[c] + scores[cells.first[c]] - scores[cells.second[c]]
        value += x * (cells.pull[c] - 0.5 * cells.w[c] * x)
    return value


@compiled
def grow_walks(
    rng: np.random.Generator,
    n_draws: int,
    moves: FloatArray,  # (n_moves, 3): powers of f, of which each draw has one at random
    sizes: FloatArray,  # (3,), changed: rate, reversion and jumps of scores
    priors: FloatArray,
    span: float,
    walks: Walks,  # paces are changed
    cells: Weighed,  # margins are changed
    states: FloatArray,  # (n_states, d), changed
) -> None:
    """Draw factors by which rate, reversion or jumps grow, with scores and paces moving along."""
    begin, pace, x, (rate, reversion, jumps) = walks.begin, walks.pace, cells.x, sizes
    n = len(pace)
    squares, uniforms, steps = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(len(begin) - 1):
        low = begin[i]
        steps[low] = states[low, 0]
        for q in range(low + 1, begin[i + 1]):
            gap = walks.gaps[walks.gap[q]]
            kept, length = transition(reversion, gap)
            moved = states[q, 0] - kept * states[q - 1, 0]
            steps[q] = moved / (rate * math.sqrt(length * pace[q]))
            if jumps > 0.0:
                squares[q] = gap / (span * jumps * jumps) * (pace[q] - 1.0) ** 2 / pace[q]
                share = 1.0 / (1.0 + min(pace[q], 1.0 / pace[q]))
                u = rng.random()
                uniforms[q] = share * u if pace[q] <= 1.0 else share + (1.0 - share) * u
    rest, scores = np.empty(len(x)), np.zeros(n)
    for c in range(len(x)):
        rest[c] = x[c] - states[cells.first[c], 0] + states[cells.second[c], 0]
    for _ in range(n_draws):
        powers = moves[int(rng.random() * len(moves))]
        held = (squares, uniforms, steps)
        known = (powers, sizes, priors, span, walks, held, rest, cells, scores)
        log_f = draw_by_slice(rng, 0.0, 2.0 * WIDTH, _walk_again, known)
        _walk_again(log_f, *known)
        sizes *= np.exp(powers * log_f)
    for q in range(n):
        states[q, 0] = scores[q]
    for c in range(len(x)):
        x[c] = rest[c] + scores[cells.first[c]] - scores[cells.second[c]]


@compiled
def draw_paces(
    rng: np.random.Generator,
    gaps: FloatArray,  # (n_states,): in units of the whole time; 0 before first states
    squares: FloatArray,  # (n_states,): of steps, in units of their variance at an even pace
    jumps: float,
    out: FloatArray,  # (n_states,)
) -> None:
    """Draw the pace of every gap, given the step over it."""
    for q in range(len(gaps)):
        a = gaps[q] / (jumps * jumps)
        out[q] = draw_inverse_gaussian(rng, a, a + squares[q]) if a > 0.0 else 1.0


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
# Of one moment; of knots there is one more each time that it is twice as far off.  More than these
# only times need that no table has.
MOST_KNOTS, MOST_NODES = 60, 100


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
        if lag <= size or n == MOST_KNOTS:
            return n, min(lag, size), size, pace, base
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
        last = size <= finest or n == MOST_NODES - 1
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
