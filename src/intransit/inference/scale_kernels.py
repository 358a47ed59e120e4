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

*With the weights integrated out*: given the weights of the cells a margin hardly moves where nearly
all games were won, for these are about 1 / margin.  So all margins grow together by a factor f, the
scales of all terms with them, under the law itself (`draw_size`); the weights are drawn next.

*Planes that give the same margins*: u and v of a plane may turn within it, one may grow as the
other shrinks, and two planes may turn into each other; margins stay, and only what scales say of
the states counts (`draw_gauge`).

All are drawn on the log by slices.  How walks move is drawn in `walk_kernels`.
"""

import math
from typing import NamedTuple

import numpy as np

from intransit.arrays import FloatArray
from intransit.inference.law_kernels import OutcomesSeen, law_density
from intransit.inference.path_kernels import (
    CellEntries,
    Starts,
    Walks,
    Weighed,
    item_margins,
    number_evidence,
    set_transitions,
)
from intransit.kernels import compiled, draw_by_slice

WIDTH = 0.5  # of the first slice, in logs


class ItemSizes(NamedTuple):
    """Scales of scores and of each plane, rates of scores and of planes; changed in place."""

    scales: FloatArray  # (1 + r,)
    rates: FloatArray  # (2,)
    priors: FloatArray  # (1 + r,): 0 where a scale is known
    rate_priors: FloatArray  # (2,)


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
    walks: Walks,
    states: FloatArray,  # (n_states, d)
    starts: Starts,
    first: FloatArray,  # (d,): out, squares of first states
    steps: FloatArray,  # (d,): out, squares of steps over their length
) -> None:
    """Add up squares of first states and of steps, by column."""
    d, begin = states.shape[1], walks.begin
    for k in range(d):
        first[k], steps[k] = 0.0, 0.0
    for i in range(len(begin) - 1):
        low = begin[i]
        for q in range(low, begin[i + 1]):
            if q == low:
                first[0] += (states[q, 0] - starts.means[i]) ** 2 / starts.spread[i]
                for k in range(1, d):
                    first[k] += states[q, k] ** 2
            else:
                for k in range(d):
                    g = min(k, 1)
                    moved = states[q, k] - walks.keep[q, g] * states[q - 1, k]
                    steps[k] += moved**2 / walks.length[q, g]


@compiled
def part_lines(
    parts: FloatArray,  # (n_cells,): what grows
    power: int,  # of f that it grows by: 1, or 2 where both sides of a plane grow
    cells: Weighed,
    lines: FloatArray,  # (4,), out
) -> None:
    """Write the log likelihood as one part of the margins grows by a power of f."""
    linear, quadratic = 0.0, 0.0
    for c in range(len(parts)):
        part, w = parts[c], cells.w[c]
        linear += part * (cells.pull[c] - w * (cells.x[c] - part))
        quadratic += w * part * part
    lines[:] = 0.0
    lines[power - 1], lines[2 * power - 1] = linear, -0.5 * quadratic


@compiled
def _moving_lines(
    still: FloatArray,  # (n_states, 1 or 2 r): of scores, or of planes, the part that stays
    grows: FloatArray,  # (n_states, 1 or 2 r): the part that grows by f
    cells: Weighed,
    lines: FloatArray,  # (4,), out
) -> None:
    """Write the log likelihood as one part of scores, or of all planes, grows by f."""
    r = still.shape[1] // 2
    l1, l2, l3, l4 = 0.0, 0.0, 0.0, 0.0
    for c in range(len(cells.x)):
        a, b, w = cells.first[c], cells.second[c], cells.w[c]
        once, twice = 0.0, 0.0
        if r == 0:
            once = grows[a, 0] - grows[b, 0]
        for k in range(r):
            ua, va, ub, vb = still[a, k], still[a, k + r], still[b, k], still[b, k + r]
            dua, dva, dub, dvb = grows[a, k], grows[a, k + r], grows[b, k], grows[b, k + r]
            once += dua * vb + ua * dvb - dva * ub - va * dub
            twice += dua * dvb - dva * dub
        left = cells.pull[c] - w * (cells.x[c] - once - twice)
        l1 += once * left
        l2 += twice * left - 0.5 * w * once * once
        l3 -= w * once * twice
        l4 -= 0.5 * w * twice * twice
    lines[0], lines[1], lines[2], lines[3] = l1, l2, l3, l4


@compiled
def draw_item_scales(
    rng: np.random.Generator,
    walks: Walks,  # of scores, and of planes
    starts: Starts,
    cells: Weighed,  # margins are changed
    states: FloatArray,  # (n_states, 1 + 2 r), changed
    sizes: ItemSizes,  # changed
) -> None:
    """Draw scales of scores and planes, then their rates: given the states, and moving along."""
    begin, x, (scales, rates, priors, rate_priors) = walks.begin, cells.x, sizes
    r, n_first = len(scales) - 1, len(begin) - 1
    squares, steps, held = np.zeros(1 + 2 * r), np.zeros(1 + 2 * r), np.zeros(4)
    base = np.zeros(len(states))  # what is kept of the prior mean of scores
    for i in range(n_first):
        for q in range(begin[i], begin[i + 1]):
            base[q] = walks.fade[q, 0] * starts.means[i]
    squares_of(walks, states, starts, squares, steps)
    for k in range(1 + r):
        if priors[k] > 0.0:
            size, n, rate = squares[k], float(n_first), rates[min(k, 1)]
            walked = steps[k]
            if k > 0:
                size, n, walked = size + squares[k + r], 2.0 * n_first, walked + steps[k + r]
            if rate > 0.0:
                size, n = size + walked / rate**2, n / n_first * len(states)
            scale = draw_scale(rng, scales[k], n, size, held, priors[k])
            scales[k] = scale * _grow_scale(rng, k, scale, priors[k], base, cells, states)
    if len(states) == n_first:
        return
    rest = np.zeros(len(x))  # margins less scores and planes
    parts = np.empty(len(x))
    item_margins(cells.first, cells.second, states, rest, parts)
    for c in range(len(x)):
        rest[c] = x[c] - parts[c]
    for g in range(2 if r else 1):
        if rate_priors[g] > 0.0:
            squares_of(walks, states, starts, squares, steps)
            _draw_item_rate(rng, g, walks, base, cells, states, rest, squares, steps, sizes)


@compiled
def _grow_scale(
    rng: np.random.Generator,
    k: int,  # 0 for scores, or the number of a plane
    scale: float,
    prior: float,
    base: FloatArray,  # (n_states,): what is kept of the prior mean of scores
    cells: Weighed,  # margins are changed
    states: FloatArray,  # changed
) -> float:
    """Draw the factor by which a scale grows with its states, and let them grow."""
    x, v = cells.x, k + states.shape[1] // 2
    parts, lines, power = np.empty(len(x)), np.zeros(4), min(k + 1, 2)
    for c in range(len(x)):
        a, b = cells.first[c], cells.second[c]
        if k == 0:
            parts[c] = states[a, 0] - base[a] - states[b, 0] + base[b]
        else:
            parts[c] = states[a, k] * states[b, v] - states[a, v] * states[b, k]
    part_lines(parts, power, cells, lines)
    grown = draw_scale(rng, scale, 0.0, 0.0, lines, prior) / scale
    for q in range(len(states)):
        if k == 0:
            states[q, 0] = base[q] + grown * (states[q, 0] - base[q])
        else:
            states[q, k] *= grown
            states[q, v] *= grown
    for c in range(len(x)):
        x[c] += (grown**power - 1.0) * parts[c]
    return float(grown)


@compiled
def _draw_item_rate(
    rng: np.random.Generator,
    group: int,  # 0 for scores, 1 for planes
    walks: Walks,
    base: FloatArray,  # (n_states,): what is kept of the prior mean of scores
    cells: Weighed,  # margins are changed
    states: FloatArray,  # changed
    rest: FloatArray,  # (n_cells,): margins less scores and planes
    squares: FloatArray,  # (1 + 2 r,): of first states
    steps: FloatArray,  # (1 + 2 r,): of steps over their length
    sizes: ItemSizes,  # changed
) -> None:
    """Draw the rate of scores, or of planes; then scales against it, first states held or not."""
    begin, (scales, rates, priors, rate_priors) = walks.begin, sizes
    r, n_first, prior = len(scales) - 1, len(begin) - 1, rate_priors[group]
    low, high = (0, 1) if group == 0 else (1, 1 + 2 * r)
    size, first_size = 0.0, 0.0
    for k in range(low, high):
        width = scales[k] if k <= r else scales[k - r]
        size += steps[k] / width**2
        first_size += squares[k] / width**2
    # Columns as first states, less their prior mean, and walks from there.
    firsts, moved = np.empty((len(states), high - low)), np.empty((len(states), high - low))
    for i in range(n_first):
        for q in range(begin[i], begin[i + 1]):
            for k in range(low, high):
                kept = walks.fade[q, group] * states[begin[i], k]
                moved[q, k - low] = states[q, k] - kept
                firsts[q, k - low] = kept - base[q] if group == 0 else kept
    held, lines = np.zeros(4), np.zeros(4)
    n = float((len(states) - n_first) * (high - low))
    rate = draw_scale(rng, rates[group], n, size, held, prior)
    _moving_lines(firsts, moved, cells, lines)
    grown = draw_scale(rng, rate, 0.0, 0.0, lines, prior) / rate
    rates[group] = rate * grown
    moved *= grown
    _place(low, base, firsts, moved, rest, cells, states)
    own, known = scales[group : 1 + r * group], priors[group : 1 + r * group]
    for k in range(len(known)):
        if known[k] == 0.0:  # a scale that is known stays
            return
    n = float(n_first * (high - low))
    f = draw_factor(rng, n, first_size, held, own, known, rates[group], prior)
    own *= f
    rates[group] /= f
    _moving_lines(moved, firsts, cells, lines)
    f = draw_factor(rng, 0.0, 0.0, lines, own, known, rates[group], prior)
    own *= f
    rates[group] /= f
    firsts *= f
    _place(low, base, firsts, moved, rest, cells, states)


@compiled
def _place(
    low: int,  # first column: 0 for scores, 1 for planes
    base: FloatArray,
    firsts: FloatArray,
    moved: FloatArray,
    rest: FloatArray,
    cells: Weighed,  # margins are changed
    states: FloatArray,  # changed
) -> None:
    """Put first states and walks together again, and add up margins."""
    for q in range(len(states)):
        for k in range(firsts.shape[1]):
            states[q, low + k] = firsts[q, k] + moved[q, k]
        if low == 0:
            states[q, 0] += base[q]
    item_margins(cells.first, cells.second, states, rest, cells.x)


@compiled
def number_parts(
    walks: Walks,
    entries: CellEntries,
    states: FloatArray,
    whole: bool,
    parts: FloatArray,  # (n_cells,), out
) -> None:
    """Write what linear paths add to each margin: the whole of it, or their walks only."""
    begin = walks.begin
    for c in range(len(parts)):
        parts[c] = 0.0
    for i in range(len(begin) - 1):
        low = begin[i]
        for q in range(low, begin[i + 1]):
            value = states[q]
            if not whole:
                value -= walks.fade[q, 0] * states[low]
            for p in range(entries.begin[q], entries.begin[q + 1]):
                parts[entries.cell[p]] += entries.factor[p] * value


@compiled
def _evidence_density(
    log_f: float,
    sizes: FloatArray,
    powers: FloatArray,
    priors: FloatArray,
    stiffest: float,
    walks: Walks,
    J: FloatArray,
    h: FloatArray,
) -> float:
    """Return the log density of the log of a factor by which sizes grow, paths integrated out."""
    scale, rate, reversion = sizes * np.exp(powers * log_f)
    if powers[2] != 0.0:
        set_transitions(walks, reversion, 0)
    step = max((scale * rate) ** 2, stiffest)
    value = number_evidence(walks, J, h, scale * scale, step)
    for m in range(3):
        if powers[m] != 0.0:
            value += half_cauchy(math.log(sizes[m]) + powers[m] * log_f, priors[m])
    return value


@compiled
def grow_without_paths(
    rng: np.random.Generator,
    sizes: FloatArray,  # (3,), changed: scale, rate and reversion of single numbers
    powers: FloatArray,  # (3,): of a factor by which each grows
    priors: FloatArray,  # (3,)
    stiffest: float,  # variance of a step, at least
    walks: Walks,  # changed with the reversion
    J: FloatArray,  # (n_states,): precision of what cells say of each state
    h: FloatArray,  # (n_states,): potential
) -> None:
    """Draw the factor by which scale, rate or reversion grow, with the paths integrated out."""
    rest = (sizes, powers, priors, stiffest, walks, J, h)
    largest = max(powers[0], powers[1], powers[2])
    log_f = draw_by_slice(rng, 0.0, WIDTH * largest, _evidence_density, rest)
    sizes *= np.exp(powers * log_f)
    if powers[2] != 0.0:
        set_transitions(walks, sizes[2], 0)


@compiled
def _size_density(
    log_f: float,
    seen: OutcomesSeen,
    held: FloatArray,
    grows: FloatArray,
    scales: FloatArray,
    priors: FloatArray,
    powers: FloatArray,
    newcomers: float,
) -> float:
    """Return the log density of the log of the factor by which all margins grow."""
    f = math.exp(log_f)
    value = law_density(seen, f, held, grows)
    for k in range(len(scales)):
        value += half_cauchy(math.log(scales[k]) + powers[k] * log_f, priors[k])
    if newcomers != 0.0:
        value += log_f - 0.5 * (f * newcomers) ** 2
    return value


@compiled
def draw_size(
    rng: np.random.Generator,
    seen: OutcomesSeen,
    held: FloatArray,  # (n_cells,): the part of each margin that stays
    grows: FloatArray,  # (n_cells,): the part that grows by f
    scales: FloatArray,
    priors: FloatArray,
    powers: FloatArray,  # of f by which each scale grows
    newcomers: float,  # in units of its deviation; 0 where it is not drawn
) -> float:
    """Draw the factor by which all margins grow, and scales with them."""
    rest = (seen, held, grows, scales, priors, powers, newcomers)
    return math.exp(draw_by_slice(rng, 0.0, WIDTH, _size_density, rest))


@compiled
def plane_gram(
    walks: Walks,
    states: FloatArray,  # (n_states, 1 + 2 r)
    rate: float,  # 0 where planes stand still
    gram: FloatArray,  # (2 r, 2 r), out
) -> None:
    """Write the products of columns of planes: first states, and steps over their deviation."""
    d, begin = gram.shape[0], walks.begin
    gram[:] = 0.0
    row = np.empty(d)
    for i in range(len(begin) - 1):
        for q in range(begin[i], begin[i + 1]):
            for k in range(d):
                row[k] = states[q, 1 + k]
            if q > begin[i]:
                if rate == 0.0:
                    continue
                unit = 1.0 / (rate * math.sqrt(walks.length[q, 1]))
                for k in range(d):
                    row[k] = unit * (row[k] - walks.keep[q, 1] * states[q - 1, 1 + k])
            for k in range(d):
                for m in range(d):
                    gram[k, m] += row[k] * row[m]


@compiled
def _squeeze_density(log_c: float, of_u: float, of_v: float) -> float:
    """Return the log density of u growing by c and v shrinking by it; squares in units of scale."""
    return -0.5 * (of_u * math.exp(2.0 * log_c) + of_v * math.exp(-2.0 * log_c))


@compiled
def _turn_density(
    angle: float, first: float, both: float, second: float, a: float, b: float
) -> float:
    """Return the log density of two planes turned into each other, of precisions a and b."""
    c, s = math.cos(angle), math.sin(angle)
    one = c * c * first + 2.0 * c * s * both + s * s * second
    return -0.5 * (a * one + b * (first + second - one))


@compiled
def _turn(k: int, m: int, c: float, s: float, gram: FloatArray, change: FloatArray) -> None:
    """Turn columns k and m: of the change so far, and of the products on both sides."""
    for n in range(len(gram)):
        x, y = change[n, k], change[n, m]
        change[n, k], change[n, m] = c * x + s * y, c * y - s * x
        x, y = gram[n, k], gram[n, m]
        gram[n, k], gram[n, m] = c * x + s * y, c * y - s * x
    for n in range(len(gram)):
        x, y = gram[k, n], gram[m, n]
        gram[k, n], gram[m, n] = c * x + s * y, c * y - s * x


@compiled
def draw_gauge(
    rng: np.random.Generator,
    gram: FloatArray,  # (2 r, 2 r), changed
    scales: FloatArray,  # (r,)
    change: FloatArray,  # (2 r, 2 r), out: what columns of planes are to be multiplied by
) -> None:
    """Draw planes among those that give the same margins: u_i v_j - v_i u_j summed over planes.

    In each plane a turn, which changes nothing that counts, then one side against the other; then
    pairs of planes are turned into each other, u and v alike.
    """
    r = len(scales)
    for k in range(2 * r):  # no `np.eye`, which takes 3 s to compile
        for n in range(2 * r):
            change[k, n] = 1.0 if k == n else 0.0
    for k in range(r):
        angle = 2.0 * math.pi * rng.random()
        _turn(k, k + r, math.cos(angle), math.sin(angle), gram, change)
        unit = scales[k] ** -2
        rest = (unit * gram[k, k], unit * gram[k + r, k + r])
        c = math.exp(draw_by_slice(rng, 0.0, WIDTH, _squeeze_density, rest))
        for n in range(2 * r):
            change[n, k] *= c
            change[n, k + r] /= c
            gram[n, k] *= c
            gram[n, k + r] /= c
        for n in range(2 * r):
            gram[k, n] *= c
            gram[k + r, n] /= c
    for k in range(r):
        for m in range(k):
            sums = (
                gram[k, k] + gram[k + r, k + r],
                gram[k, m] + gram[k + r, m + r],
                gram[m, m] + gram[m + r, m + r],
            )
            precisions = (scales[k] ** -2, scales[m] ** -2)
            angle = draw_by_slice(rng, 0.0, 2.0 * WIDTH, _turn_density, sums + precisions)
            c, s = math.cos(angle), math.sin(angle)
            _turn(k, m, c, s, gram, change)
            _turn(k + r, m + r, c, s, gram, change)


@compiled
def change_planes(
    change: FloatArray, states: FloatArray
) -> None:  # (2 r, 2 r), (n_states, 1 + 2 r)
    """Multiply the columns of planes by a matrix, in place."""
    d = len(change)
    row = np.empty(d)
    for q in range(len(states)):
        for m in range(d):
            s = 0.0
            for k in range(d):
                s += states[q, 1 + k] * change[k, m]
            row[m] = s
        for m in range(d):
            states[q, 1 + m] = row[m]
