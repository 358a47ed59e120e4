"""How walks move: how fast they return to 0, and how unevenly scores go.

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
"""

import math

import numpy as np
from scipy.special import k1e

from intransit.arrays import FloatArray
from intransit.inference.path_kernels import Walks, Weighed, pace_of, transition
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
