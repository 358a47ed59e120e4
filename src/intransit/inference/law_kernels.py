"""Laws of outcomes in compiled loops: weights that make each Gaussian, mean chances, and a filter.

Polya-Gamma weights make a logistic likelihood Gaussian,

    (e^x)^a / (1 + e^x)^n  =  2^-n e^{(a - n/2) x}  E[ e^{-w x² / 2} ],      w ~ PG(n, 0)

so that, given w ~ PG(n, x), n games of margin x are one Gaussian reading (Polson, Scott and Windle,
2013).  One game is drawn by Devroye's method, a few by a sum of them.  For many, a gamma law of the
same mean and variance stands in: its skewness is within a fifth of the true one, which itself is
0.7 for 8 games and falls with their root.  A part of a game is drawn from the first terms of

    PG(b, x)  =  1 / (2 π²)  Σ_k  Gamma(b, 1) / ((k - 1/2)² + x² / (4 π²))

with the mean of the others.

A cell adds  pull · x - w x² / 2  to the log likelihood.  A level between boundaries b and c has

    P(level)  =  σ(x - b) · σ(c - x) · (1 - e^{b - c})

so it is a win against its lower boundary and a loss against its upper one, each with a Polya-Gamma
weight of its own.  Given these, the log likelihood is quadratic in every cut too, but for the width
of the level.  Where few games lie beyond the outermost cut these weights hold it where it is, so it
is drawn without them as well.

The filter takes one comparison at a time.

An item's state z = (score, s, q) is Gaussian with mean μ and covariance P, independent of every
other item's.  The margin x = z_i[0] - z_j[0] + s_i·q_j - q_i·s_j is linear in either state; with
g_i and g_j its slopes at the means, its mean and variance are, without approximation,

    m = x at the means,    V = g_iᵀ P_i g_i + g_jᵀ P_j g_j + tr(P_i J P_j Jᵀ)              (1)

where J is the form with s_i·q_j - q_i·s_j = (s, q)_iᵀ J (s, q)_j.  An outcome pulls the margin by
a = (x* - m) / V, x* its most likely value given the outcome, where the outcome's loss has the
curvature c.  Each state follows by the regression of z on x, whose slope is P g / V:

    μ ← μ + P g a,    P ← P - P g (P g)ᵀ c / (1 + V c)                                     (2)

A walk adds ``rates * gap`` to the diagonal of P over a gap between comparisons.  What two items
come to share by meeting (a covariance between them) is dropped.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from intransit.arrays import FloatArray, IntArray
from intransit.inference.path_kernels import Weighed
from intransit.kernels import compiled, draw_by_slice

MOST_ONE_BY_ONE = 8  # games that are drawn one by one
N_TERMS = 30  # of the series, for a part of a game
CUT = 0.64  # where Devroye's two proposals meet
SMALL = 1e-2  # margins below which moments come from their series


@compiled
def _coefficient(n: int, x: float) -> float:
    """Return the n-th term of the alternating series for the density of 4 PG(1, 0)."""
    h = n + 0.5
    if x > CUT:
        return math.pi * h * math.exp(-0.5 * h * h * math.pi * math.pi * x)
    y = 2.0 / (math.pi * x)
    return math.pi * h * y * math.sqrt(y) * math.exp(-2.0 * h * h / x)


@compiled
def _inverse_gaussian(rng: np.random.Generator, z: float) -> float:
    """Draw from an inverse Gaussian of mean 1 / z and shape 1, cut off above at CUT."""
    if z * CUT < 1.0:
        while True:
            e1, e2 = rng.standard_exponential(), rng.standard_exponential()
            while e1 * e1 > 2.0 * e2 / CUT:
                e1, e2 = rng.standard_exponential(), rng.standard_exponential()
            x = CUT / (1.0 + e1 * CUT) ** 2
            if rng.random() <= math.exp(-0.5 * z * z * x):
                return x
    mean = 1.0 / z
    while True:
        y = rng.standard_normal() ** 2
        x = mean + 0.5 * mean * mean * y
        x -= 0.5 * mean * math.sqrt(4.0 * mean * y + (mean * y) ** 2)
        if rng.random() > mean / (mean + x):
            x = mean * mean / x
        if x <= CUT:
            return x


def _tail_share(z: FloatArray) -> FloatArray:
    """Return how often Devroye's proposal is the exponential one, for half the margin z."""
    rate = 0.125 * np.pi**2 + 0.5 * z**2
    root = np.sqrt(1.0 / CUT)
    start = np.log(rate) + rate * CUT
    below = log_ndtr(root * (CUT * z - 1.0)) - z
    above = log_ndtr(-root * (CUT * z + 1.0)) + z
    odds = np.exp(start + below) + np.exp(start + above)
    return np.asarray(1.0 / (1.0 + 4.0 / np.pi * odds))


# Looked up between points so close that the share is right to 1e-6 (tests/inference).
FINE, WIDEST = 512.0, 20.0
TAIL_SHARES = _tail_share(np.arange(0.0, WIDEST + 2.0 / FINE, 1.0 / FINE))


@compiled
def _sum_of_ones(rng: np.random.Generator, n: int, margin: float) -> float:
    """Draw PG(n, margin) for a whole number of games, one by one."""
    z = 0.5 * abs(margin)
    rate = 0.125 * math.pi * math.pi + 0.5 * z * z
    place = min(z, WIDEST) * FINE
    low = int(place)
    tail = TAIL_SHARES[low] + (place - low) * (TAIL_SHARES[low + 1] - TAIL_SHARES[low])
    total = 0.0
    for _ in range(n):
        accepted = False
        while not accepted:
            if rng.random() < tail:
                x = CUT + rng.standard_exponential() / rate
            else:
                x = _inverse_gaussian(rng, z)
            series = _coefficient(0, x)
            y = rng.random() * series
            k = 0
            while True:
                k += 1
                if k % 2 == 1:
                    series -= _coefficient(k, x)
                    if y <= series:
                        accepted = True
                        break
                else:
                    series += _coefficient(k, x)
                    if y > series:
                        break
        total += 0.25 * x
    return total


@compiled
def moments(margin: float) -> tuple[float, float]:
    """Return mean and variance of PG(1, margin)."""
    a = abs(margin)
    if a < SMALL:
        square = a * a
        return 0.25 - square / 48.0, 1.0 / 24.0 - square / 120.0
    if a > 40.0:
        return 0.5 / a, 0.5 / a**3
    mean = math.tanh(0.5 * a) / (2.0 * a)
    return mean, (math.sinh(a) - a) / (4.0 * a**3 * math.cosh(0.5 * a) ** 2)


@compiled
def _part(rng: np.random.Generator, b: float, margin: float) -> float:
    """Draw PG(b, margin) for a part of a game."""
    shift = (0.5 * margin / math.pi) ** 2
    drawn, expected = 0.0, 0.0
    for k in range(N_TERMS):
        weight = 1.0 / ((k + 0.5) ** 2 + shift)
        drawn += weight * rng.standard_gamma(b)
        expected += weight * b
    scale = 0.5 / math.pi**2
    return scale * drawn + max(b * moments(margin)[0] - scale * expected, 0.0)


@compiled
def draw(rng: np.random.Generator, n: float, margin: float) -> float:
    """Draw PG(n, margin) for any number of games above 0."""
    if n > MOST_ONE_BY_ONE:
        mean, variance = moments(margin)
        return rng.standard_gamma(n * mean * mean / variance) * variance / mean
    whole = int(n)
    total = 0.0
    if whole > 0:
        total = _sum_of_ones(rng, whole, margin)
    if n - whole > 1e-9:
        total += _part(rng, n - whole, margin)
    return total


GAP_CENTRE, GAP_SPREAD = -0.5, 2.0  # log of a gap between cuts: a normal prior
# Both exponents of a beta prior, Jeffreys' for a share, of the share of ties between equals: tanh
# of half the first cut.  A normal prior of that cut's log made 90 ties of 90 a share of 99.9 %.
TIES = 0.5
WIDTH = 0.3  # of the first slice
ROOT_2 = math.sqrt(2.0)


LOGISTIC, ORDERED, SQUARED = range(3)  # laws, as loops are told them
LAWS = {"logistic": LOGISTIC, "ordered": ORDERED, "squared": SQUARED}


class OutcomesSeen(NamedTuple):
    """What cells have shown, and the law of it."""

    kind: int
    counts: FloatArray  # (n_cells,)
    means: FloatArray  # (n_cells,): shares of games won, levels, or means of readings
    often: FloatArray  # (n_cuts,): games of levels 0, ±1, ..., but for the outermost
    cuts: FloatArray  # (n_cuts,), changed as they are drawn
    noise: float


@compiled
def _boundary(level: int) -> tuple[int, float]:
    """Return which of the cuts lies below a level, and its sign: boundaries are mirrored."""
    return (level - 1, 1.0) if level > 0 else (-level, -1.0)


@compiled
def weigh(
    rng: np.random.Generator,
    seen: OutcomesSeen,
    cells: Weighed,  # weights and pulls are changed
    below: FloatArray,  # (n_cells,), out: of levels, weight against the lower boundary
    above: FloatArray,  # (n_cells,), out: against the upper one
) -> None:
    """Draw the weight of every cell, with which its likelihood is Gaussian."""
    w, pull, cuts, top = cells.w, cells.pull, seen.cuts, len(seen.cuts)
    for c in range(len(w)):
        n, x = seen.counts[c], cells.x[c]
        if seen.kind == LOGISTIC:
            w[c], pull[c] = draw(rng, n, x), n * (seen.means[c] - 0.5)
        elif seen.kind == SQUARED:
            w[c] = n / (seen.noise * seen.noise)
            pull[c] = w[c] * seen.means[c]
        else:
            level = int(seen.means[c])
            below[c], above[c], pull[c] = 0.0, 0.0, 0.0
            if level > -top:
                k, sign = _boundary(level)
                below[c] = draw(rng, n, x - sign * cuts[k])
                pull[c] += 0.5 * n + below[c] * sign * cuts[k]
            if level < top:
                k, sign = _boundary(level + 1)
                above[c] = draw(rng, n, x - sign * cuts[k])
                pull[c] += above[c] * sign * cuts[k] - 0.5 * n
            w[c] = below[c] + above[c]


@compiled
def _log_chance(x: float) -> float:
    """Return log(1 / (1 + exp(-x)))."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


@compiled
def law_density(seen: OutcomesSeen, f: float, held: FloatArray, grows: FloatArray) -> float:
    """Return the log likelihood where margins are held + f · grows, but for what cuts alone say."""
    value, cuts, top = 0.0, seen.cuts, len(seen.cuts)
    for c in range(len(held)):
        x, n = held[c] + f * grows[c], seen.counts[c]
        if seen.kind == LOGISTIC:
            value += n * (_log_chance(-x) + seen.means[c] * x)
        elif seen.kind == SQUARED:
            value -= 0.5 * n * ((seen.means[c] - x) / seen.noise) ** 2
        else:
            level = int(seen.means[c])
            if level > -top:
                k, sign = _boundary(level)
                value += n * _log_chance(x - sign * cuts[k])
            if level < top:
                k, sign = _boundary(level + 1)
                value += n * _log_chance(sign * cuts[k] - x)
    return value


@compiled
def squared_residuals(seen: OutcomesSeen, x: FloatArray) -> float:
    """Return Σ counts (mean - x)²."""
    total = 0.0
    for c in range(len(x)):
        total += seen.counts[c] * (seen.means[c] - x[c]) ** 2
    return total


@compiled
def _tie_density(cut: float) -> float:
    """Return the log prior density of the first cut, but for a constant."""
    tied = math.log(math.tanh(0.5 * cut))
    decided = -cut - math.log1p(math.exp(-cut))  # log of 1 - tanh, but for a constant
    # The last terms are the slope of tanh.
    return (TIES - 1.0) * (tied + decided) + decided + math.log1p(math.exp(tied))


@compiled
def _cut_density(
    cut: float,
    which: int,
    cuts: FloatArray,  # changed: the one in question is put in its place
    often: FloatArray,
    precision: FloatArray,
    potential: FloatArray,
) -> float:
    """Return the log density of all cuts; `often` has the games of each size of level."""
    cuts[which] = cut
    value = 0.0
    for k in range(len(cuts)):
        gap = cuts[k] if k == 0 else cuts[k] - cuts[k - 1]
        if k == 0 and often[0] == 0.0:
            if gap != 0.0:
                return -np.inf
            continue
        if gap <= 0.0:
            return -np.inf
        value += potential[k] * cuts[k] - 0.5 * precision[k] * cuts[k] ** 2
        if k == 0:
            value += _tie_density(gap)
        else:
            off = (math.log(gap) - GAP_CENTRE) / GAP_SPREAD
            value -= math.log(gap) + 0.5 * off * off
        width = 2.0 * gap if k == 0 else gap
        value += often[k] * math.log(-math.expm1(-width))
    return value


@compiled
def draw_cuts(
    rng: np.random.Generator,
    seen: OutcomesSeen,  # cuts are changed; a first cut of 0 (no ties) stays
    x: FloatArray,
    below: FloatArray,
    above: FloatArray,
) -> None:
    """Draw every cut in turn by a slice."""
    cuts, often, top = seen.cuts, seen.often, len(seen.cuts)
    precision, potential = np.zeros(top), np.zeros(top)
    for c in range(len(x)):
        level, n = int(seen.means[c]), seen.counts[c]
        if level > -top:
            k, sign = _boundary(level)
            precision[k] += below[c]
            potential[k] += sign * (below[c] * x[c] - 0.5 * n)
        if level < top:
            k, sign = _boundary(level + 1)
            precision[k] += above[c]
            potential[k] += sign * (above[c] * x[c] + 0.5 * n)
    for k in range(top):
        if k > 0 or often[0] > 0.0:
            rest = (k, cuts, often, precision, potential)
            cuts[k] = draw_by_slice(rng, cuts[k], WIDTH, _cut_density, rest)


@compiled
def _last_cut_density(
    log_gap: float,
    seen: OutcomesSeen,  # its last cut is changed
    x: FloatArray,
    nothing: FloatArray,  # (n_cuts,): zeros
) -> float:
    """Return the log density of the log of the gap below the last cut, under the law itself."""
    cuts, last = seen.cuts, len(seen.cuts) - 1
    below = cuts[last - 1] if last > 0 else 0.0
    value = _cut_density(below + math.exp(log_gap), last, cuts, seen.often, nothing, nothing)
    return log_gap + value + law_density(seen, 0.0, x, x)


@compiled
def draw_last_cut(rng: np.random.Generator, seen: OutcomesSeen, x: FloatArray) -> None:
    """Draw the outermost cut with weights integrated out: few games may hold it from above."""
    cuts, last = seen.cuts, len(seen.cuts) - 1
    if last == 0 and seen.often[0] == 0.0:
        return
    below = cuts[last - 1] if last > 0 else 0.0
    rest, log_gap = (seen, x, np.zeros(len(cuts))), math.log(cuts[last] - below)
    cuts[last] = below + math.exp(draw_by_slice(rng, log_gap, WIDTH, _last_cut_density, rest))


@compiled
def mean_logistic(mean: float, variance: float) -> float:
    """Return the mean of 1 / (1 + exp(-x)) over a Gaussian x; with -mean, one minus that exactly.

    The trapezoid rule, whose error falls exponentially for such functions: over the Gaussian
    where that is the narrower, over the logistic density otherwise.  Right to about 1e-10.
    """
    if mean == 0.0:
        return 0.5
    distance, spread = abs(mean), math.sqrt(variance)
    total, weight = 0.0, 0.0
    if spread < 1.7:
        for k in range(-20, 21):
            z = 0.45 * k
            density = math.exp(-0.5 * z * z)
            weight += density
            x = distance - spread * z
            tail = math.exp(-abs(x))
            total += density * (tail if x > 0.0 else 1.0) / (1.0 + tail)
    else:
        for k in range(-48, 49):
            u = 0.7 * k
            tail = math.exp(-abs(u))
            density = tail / (1.0 + tail) ** 2
            weight += density
            total += density * 0.5 * math.erfc((distance + u) / (ROOT_2 * spread))
    less_likely = min(total / weight, 0.5)
    return less_likely if mean < 0.0 else 1.0 - less_likely


@compiled
def mean_logistics(means: FloatArray, variances: FloatArray, out: FloatArray) -> None:  # (n,) each
    """Write `mean_logistic` of each entry."""
    for n in range(len(means)):
        out[n] = mean_logistic(means[n], variances[n])


def average_logistic(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the mean of 1 / (1 + exp(-x)) over Gaussian x, of arrays of one shape."""
    out = np.empty(np.shape(mean))
    mean_logistics(np.ravel(mean), np.ravel(variance), out.reshape(-1))
    return out


_LOST = 1e-14  # a variance this small beside its own terms is rounding
_HALVINGS = 1000  # from the widest bracket down to the last bit; a few steps are usual


@compiled
def gap_since(last: float, time: float) -> float:
    """Return the time passed; none if either is NaN (never, or not said) or time runs backwards."""
    gap = time - last
    return gap if gap > 0.0 else 0.0  # noqa: FURB136  (max would let NaN through, or not)


class Beliefs(NamedTuple):
    """What a filter knows of items, of which it learns in place; see equations (1) and (2)."""

    means: FloatArray  # (n_items, k): score if any, then s, then q
    blocks: FloatArray  # (n_items, k, k): P of each item
    times: FloatArray  # (n_items,): of the last comparison, NaN before the first
    rates: FloatArray  # (k,): variance that a unit of time adds
    n_scores: int  # 1 with a score, else 0
    noise: float  # variance of a reading; 0 for wins and losses
    work: FloatArray  # (4, k): receives g_i, g_j, P_i g_i, P_j g_j of the pair in question


@compiled
def margin_moments(known: Beliefs, i: int, j: int, time: float) -> tuple[float, float]:
    """Return the mean and the variance of a margin at a time, equation (1)."""
    means, blocks, times, rates, n_scores, _, work = known
    gap_i, gap_j = gap_since(times[i], time), gap_since(times[j], time)
    k = means.shape[1]
    r = (k - n_scores) // 2
    mean = 0.0
    if n_scores:
        mean = means[i, 0] - means[j, 0]
        work[0, 0], work[1, 0] = 1.0, -1.0
    for s in range(n_scores, n_scores + r):
        q = s + r
        mean += means[i, s] * means[j, q] - means[i, q] * means[j, s]
        work[0, s], work[0, q] = means[j, q], -means[j, s]
        work[1, s], work[1, q] = -means[i, q], means[i, s]
    variance = _spread(blocks[i], rates, gap_i, work[0], work[2])
    variance += _spread(blocks[j], rates, gap_j, work[1], work[3])
    P, R = blocks[i], blocks[j]
    for s in range(n_scores, n_scores + r):
        for t in range(n_scores, n_scores + r):
            variance += P[s, t] * R[s + r, t + r] + P[s + r, t + r] * R[s, t]
            variance -= P[s, t + r] * R[s + r, t] + P[s + r, t] * R[s, t + r]
        s_i, q_i = gap_i * rates[s], gap_i * rates[s + r]
        s_j, q_j = gap_j * rates[s], gap_j * rates[s + r]
        variance += s_i * (R[s + r, s + r] + q_j) + P[s, s] * q_j
        variance += q_i * (R[s, s] + s_j) + P[s + r, s + r] * s_j
    return mean, max(variance, 0.0)


@compiled
def _spread(
    block: FloatArray,  # (k, k)
    rates: FloatArray,  # (k,)
    gap: float,
    slopes: FloatArray,  # (k,): g
    out: FloatArray,  # (k,): receives P g
) -> float:
    """Return gᵀ P g of one item after a gap, or zero, with P g, where rounding is all there is."""
    k = len(slopes)
    variance, terms = 0.0, 0.0
    for a in range(k):
        own = gap * rates[a]
        total = own * slopes[a]
        for b in range(k):
            total += block[a, b] * slopes[b]
        out[a] = total
        variance += slopes[a] * total
        terms += slopes[a] * slopes[a] * (block[a, a] + own)
    if variance > _LOST * terms:
        return variance
    for a in range(k):
        out[a] = 0.0
    return 0.0


@compiled
def logistic_pull(mean: float, variance: float, wins: float, count: float) -> tuple[float, float]:
    """Return a and c where x* = mean + variance · a minimises the loss of `wins` of `count`.

        (x - mean)² / (2 variance)  +  count (log(1 + eˣ) - wins x)

    The root of a = count (wins - σ(mean + variance a)) lies between any a and the right-hand
    side there: Newton's steps, or half the bracket where these leave it or do not shorten it.
    Solving for a, not for x, keeps its digits when the variance is tiny.
    """
    a, curvature = 0.0, 0.0
    low, high, width = -1e300, 1e300, 1e300
    for _ in range(_HALVINGS):
        x = mean + variance * a
        tail = math.exp(-abs(x))
        win, loss = 1.0 / (1.0 + tail), tail / (1.0 + tail)
        if x < 0.0:
            win, loss = loss, win
        target = count * (wins * loss - (1.0 - wins) * win)
        curvature = count * win * loss
        low, high = max(low, min(a, target)), min(high, max(a, target))
        steep = 1.0 + variance * curvature
        following = a + (target - a) / steep
        if not low <= following <= high or high - low > 0.5 * width:
            following = 0.5 * (low + high)
        width = high - low
        rounding = 4e-16 * curvature * abs(x) / steep
        if abs(following - a) <= 1e-13 * abs(following) + rounding:
            break
        a = following
    return a, curvature


@compiled
def learn(
    known: Beliefs, i: int, j: int, outcome: float, time: float, count: float
) -> tuple[float, float]:
    """Take one comparison in, equation (2); return the margin's mean and variance before it."""
    mean, variance = margin_moments(known, i, j, time)
    if known.noise > 0.0:
        shrink = 1.0 / (variance + known.noise / count)
        pull = (outcome - mean) * shrink
    else:
        pull, curvature = logistic_pull(mean, variance, outcome, count)
        shrink = curvature / (1.0 + variance * curvature)
    for side in range(2):
        _move(known, j if side else i, time, known.work[2 + side], pull, shrink)
    return mean, variance


@compiled
def _move(
    known: Beliefs, item: int, time: float, reach: FloatArray, pull: float, shrink: float
) -> None:
    """Age one item to a time, then apply equation (2) to it; `reach` is P g."""
    mean, block, last = known.means[item], known.blocks[item], known.times[item]
    gap = gap_since(last, time)
    for a in range(len(mean)):
        mean[a] += pull * reach[a]
        for b in range(a):
            block[a, b] -= shrink * reach[a] * reach[b]
            block[b, a] = block[a, b]
        added = gap * known.rates[a] - shrink * reach[a] * reach[a]
        block[a, a] = max(block[a, a] + added, 0.0)
    if not last > time:
        known.times[item] = time


@compiled
def learn_many(
    known: Beliefs,
    pairs: IntArray,  # (n, 2)
    outcomes: FloatArray,  # (n,)
    at: FloatArray,  # (n,): the time of each comparison
    counts: FloatArray,  # (n,)
    out: FloatArray,  # (n,) to receive forecasts, (0,) for none
) -> None:
    """Take comparisons in, in this order; write what was expected of each just before it."""
    wanted = len(out) > 0
    for p in range(len(pairs)):
        mean, variance = learn(known, pairs[p, 0], pairs[p, 1], outcomes[p], at[p], counts[p])
        if wanted:
            out[p] = mean if known.noise > 0.0 else mean_logistic(mean, variance)


@compiled
def read_many(
    known: Beliefs,
    pairs: IntArray,  # (n, 2)
    at: FloatArray,  # (n,): times; NaN for as each item was last seen
    out: FloatArray,  # (n, 2): receives mean and variance of each margin
) -> None:
    """Write equation (1) for every pair; the two orders of a pair agree to the last bit."""
    for p in range(len(pairs)):
        i, j = min(pairs[p, 0], pairs[p, 1]), max(pairs[p, 0], pairs[p, 1])
        if i == j:
            out[p, 0], out[p, 1] = 0.0, 0.0
            continue
        mean, variance = margin_moments(known, i, j, at[p])
        out[p, 0] = mean if i == pairs[p, 0] else -mean
        out[p, 1] = variance
