"""Draws of scales, each in two ways; where paths can be integrated out, in one that is better.

*Given the states*: a scale a of n numbers with sum of squares S has the log density

    -n log a  -  S / (2 a²)  +  log prior.

*With the states moving along*: states are a · (standard numbers), which are held.  Given the
weights of the cells, the log likelihood is then a polynomial in the factor f that the scale grows
by, x = x₀ + f x₁ + f² x₂ for every cell, so a long jump costs no more than a short one.  With the
first way alone small scales stick; with the second alone large ones move slowly.

A third way holds the walks: first states of a term grow by f (or are held), and its rate falls by
f, so that scale · rate, which steps tell well, stays.  Without it scale and rate creep along that
ridge together.

*With the states integrated out*: paths of a term of which no cell has two (effects of pairs, sides)
are independent given the rest, and a filter gives the density of scale and rate without them
(`path_kernels.number_evidence`).  Where pairs met once or twice, 2 · 300 sweeps
give 76 effective draws of the scale, and gave 7 in the other ways (2,300 players, 30,000 games).

How fast a walk returns to 0 is drawn given the states, alone and together with its rate so that
the size it settles at stays; all that counts then are three sums for each different gap in time.

All are drawn on the log by slices.
"""

import math

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.inference.path_kernels import transition
from intransit.kernels import compiled, draw_by_slice

WIDTH = 0.5  # of the first slice, in logs


@compiled
def half_cauchy(log_value: float, scale: float) -> float:
    """Return the log density of the log of a half-Cauchy number."""
    return log_value - math.log1p(math.exp(2.0 * (log_value - math.log(scale))))


@compiled
def _density(
    log_f: float,
    n: float,
    squares: float,
    lines: FloatArray,
    scales: FloatArray,
    priors: FloatArray,
    rate: float,
    rate_prior: float,
) -> float:
    """Return the log density of the log of the factor by which scales grow and their rate falls."""
    value = -n * log_f
    if rate_prior > 0.0:
        value += half_cauchy(math.log(rate) - log_f, rate_prior)
    for k in range(len(scales)):
        if priors[k] > 0.0:
            value += half_cauchy(math.log(scales[k]) + log_f, priors[k])
    if squares > 0.0:
        value -= 0.5 * squares * math.exp(-2.0 * log_f)
    f = math.exp(log_f)
    return value + float(f * (lines[0] + f * (lines[1] + f * (lines[2] + f * lines[3]))))


@compiled
def draw_factor(
    rng: np.random.Generator,
    n: float,
    squares: float,  # of what is held, in units of the scales
    lines: FloatArray,  # (4,): of f, f², f³, f⁴, where states grow; else zeros
    scales: FloatArray,
    priors: FloatArray,
    rate: float,
    rate_prior: float,  # 0 where the rate stays
) -> float:
    """Draw the factor by which scales grow, and a rate falls, by a slice from where they are."""
    rest = (n, squares, lines, scales, priors, rate, rate_prior)
    return math.exp(draw_by_slice(rng, 0.0, WIDTH, _density, rest))


@compiled
def draw_scale(
    rng: np.random.Generator,
    value: float,
    n: float,
    squares: float,  # of what is held
    lines: FloatArray,
    prior: float,
) -> float:
    """Draw a single scale."""
    one = np.array([value])
    priors = np.array([prior])
    return value * draw_factor(rng, n, squares / value**2, lines, one, priors, 1.0, 0.0)


@compiled
def squares_of(
    begin: IntArray,
    keep: FloatArray,  # (n_states, 1 or 2): of the state before
    length: FloatArray,  # (n_states, 1 or 2): of the step from there
    states: FloatArray,  # (n_states, d)
    means: FloatArray,  # (n_paths,): prior mean of the first state's first column
    first: FloatArray,  # (d,): out, squares of first states
    steps: FloatArray,  # (d,): out, squares of steps over their length
) -> None:
    """Add up squares of first states and of steps, by column."""
    d = states.shape[1]
    for k in range(d):
        first[k], steps[k] = 0.0, 0.0
    for i in range(len(begin) - 1):
        low = begin[i]
        for q in range(low, begin[i + 1]):
            if q == low:
                first[0] += (states[q, 0] - means[i]) ** 2
                for k in range(1, d):
                    first[k] += states[q, k] ** 2
            else:
                for k in range(d):
                    g = min(k, 1)
                    steps[k] += (states[q, k] - keep[q, g] * states[q - 1, k]) ** 2 / length[q, g]


@compiled
def score_parts(
    first: IntArray,  # (n_cells,): states
    second: IntArray,
    states: FloatArray,  # (n_states, d)
    base: FloatArray,  # (n_states,): what does not move along
    parts: FloatArray,  # (n_cells,), out
) -> None:
    """Write what scores, less what stays, add to each margin."""
    for c in range(len(first)):
        a, b = first[c], second[c]
        parts[c] = states[a, 0] - base[a] - states[b, 0] + base[b]


@compiled
def plane_parts(
    first: IntArray,
    second: IntArray,
    states: FloatArray,
    column: int,  # of u
    parts: FloatArray,  # (n_cells,), out
) -> None:
    """Write what one plane adds to each margin."""
    v = column + (states.shape[1] - 1) // 2
    for c in range(len(first)):
        a, b = first[c], second[c]
        parts[c] = states[a, column] * states[b, v] - states[a, v] * states[b, column]


@compiled
def part_lines(
    parts: FloatArray,  # (n_cells,): what grows
    power: int,  # of f that it grows by: 1, or 2 where both sides of a plane grow
    x: FloatArray,
    w: FloatArray,
    pull: FloatArray,
    lines: FloatArray,  # (4,), out
) -> None:
    """Write the log likelihood as one part of the margins grows by a power of f."""
    linear, quadratic = 0.0, 0.0
    for c in range(len(x)):
        part = parts[c]
        linear += part * (pull[c] - w[c] * (x[c] - part))
        quadratic += w[c] * part * part
    lines[:] = 0.0
    lines[power - 1], lines[2 * power - 1] = linear, -0.5 * quadratic


@compiled
def moving_lines(
    first: IntArray,
    second: IntArray,
    still: FloatArray,  # (n_states, 2 r): the part of planes that stays
    grows: FloatArray,  # (n_states, 2 r): the part that grows by f
    x: FloatArray,
    w: FloatArray,
    pull: FloatArray,
    lines: FloatArray,
) -> None:
    """Write the log likelihood as one part of all planes grows by f and the other stays."""
    r = still.shape[1] // 2
    l1, l2, l3, l4 = 0.0, 0.0, 0.0, 0.0
    for c in range(len(first)):
        a, b = first[c], second[c]
        once, twice = 0.0, 0.0
        for k in range(r):
            ua, va, ub, vb = still[a, k], still[a, k + r], still[b, k], still[b, k + r]
            dua, dva, dub, dvb = grows[a, k], grows[a, k + r], grows[b, k], grows[b, k + r]
            once += dua * vb + ua * dvb - dva * ub - va * dub
            twice += dua * dvb - dva * dub
        left = pull[c] - w[c] * (x[c] - once - twice)
        l1 += once * left
        l2 += twice * left - 0.5 * w[c] * once * once
        l3 -= w[c] * once * twice
        l4 -= 0.5 * w[c] * twice * twice
    lines[0], lines[1], lines[2], lines[3] = l1, l2, l3, l4


@compiled
def number_parts(
    begin: IntArray,
    cell_begin: IntArray,
    cell: IntArray,
    factor: FloatArray,
    states: FloatArray,
    fade: FloatArray,  # (n_states, 1): what is kept of the first state; 0 for all of a path
    parts: FloatArray,  # (n_cells,), out
) -> None:
    """Write what linear paths add to each margin: all of it, or their walks only."""
    for c in range(len(parts)):
        parts[c] = 0.0
    for i in range(len(begin) - 1):
        low = begin[i]
        for q in range(low, begin[i + 1]):
            value = states[q] - fade[q, 0] * states[low]
            for p in range(cell_begin[q], cell_begin[q + 1]):
                parts[cell[p]] += factor[p] * value


@compiled
def gap_sums(
    begin: IntArray,
    gap: IntArray,  # (n_states,): which of the gaps lies before each state
    states: FloatArray,  # (n_states, d)
    low: int,  # columns from here on
    high: int,
    widths: FloatArray,  # (d,): scales of the columns
    sums: FloatArray,  # (n_gaps, 4), out: of n, y², y y', y'², y' the state before
) -> None:
    """Add up, for each different gap, what tells how paths went on over it."""
    sums[:] = 0.0
    for i in range(len(begin) - 1):
        for q in range(begin[i] + 1, begin[i + 1]):
            u = gap[q]
            sums[u, 0] += high - low
            for k in range(low, high):
                here, before = states[q, k] / widths[k], states[q - 1, k] / widths[k]
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
