"""Laws of outcomes in compiled loops: weights that make each Gaussian, and mean chances.

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
of the level.
"""

import math

import numpy as np
from scipy.special import log_ndtr

from intransit.arrays import FloatArray
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


GAP_CENTRE, GAP_SPREAD = -0.5, 2.0  # log of a first cut, or of a gap between cuts: a normal prior
WIDTH = 0.3  # of the first slice
ROOT_2 = math.sqrt(2.0)


@compiled
def weigh_wins(
    rng: np.random.Generator,
    counts: FloatArray,
    means: FloatArray,
    x: FloatArray,
    w: FloatArray,
    pull: FloatArray,
) -> None:
    """Draw the weights of shares of games won."""
    for c in range(len(x)):
        w[c] = draw(rng, counts[c], x[c])
        pull[c] = counts[c] * (means[c] - 0.5)


@compiled
def weigh_levels(
    rng: np.random.Generator,
    counts: FloatArray,
    levels: FloatArray,
    cuts: FloatArray,
    x: FloatArray,
    w: FloatArray,
    pull: FloatArray,
    below: FloatArray,  # (n_cells,), out: weight against the lower boundary
    above: FloatArray,  # (n_cells,), out: against the upper one
) -> None:
    """Draw the weights of levels."""
    top = len(cuts)
    for c in range(len(x)):
        level, n = int(levels[c]), counts[c]
        below[c], above[c], pull[c] = 0.0, 0.0, 0.0
        if level > -top:
            b = cuts[level - 1] if level > 0 else -cuts[-level]
            below[c] = draw(rng, n, x[c] - b)
            pull[c] += 0.5 * n + below[c] * b
        if level < top:
            b = cuts[level] if level >= 0 else -cuts[-level - 1]
            above[c] = draw(rng, n, x[c] - b)
            pull[c] += above[c] * b - 0.5 * n
        w[c] = below[c] + above[c]


@compiled
def weigh_readings(
    counts: FloatArray, means: FloatArray, noise: float, w: FloatArray, pull: FloatArray
) -> None:
    """Write the weights of readings."""
    for c in range(len(w)):
        w[c] = counts[c] / (noise * noise)
        pull[c] = w[c] * means[c]


@compiled
def squared_residuals(counts: FloatArray, means: FloatArray, x: FloatArray) -> float:
    """Return Σ counts (mean - x)²."""
    total = 0.0
    for c in range(len(x)):
        total += counts[c] * (means[c] - x[c]) ** 2
    return total


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
        off = (math.log(gap) - GAP_CENTRE) / GAP_SPREAD
        value += potential[k] * cuts[k] - 0.5 * precision[k] * cuts[k] ** 2
        value -= math.log(gap) + 0.5 * off * off
        width = 2.0 * gap if k == 0 else gap
        value += often[k] * math.log(-math.expm1(-width))
    return value


@compiled
def draw_cuts(
    rng: np.random.Generator,
    counts: FloatArray,
    levels: FloatArray,
    x: FloatArray,
    below: FloatArray,
    above: FloatArray,
    cuts: FloatArray,  # changed; a first cut of 0 (no ties) stays
    often: FloatArray,  # (n_cuts,): games of levels 0, ±1, ..., but for the outermost
) -> None:
    """Draw every cut in turn by a slice."""
    top = len(cuts)
    precision, potential = np.zeros(top), np.zeros(top)
    for c in range(len(x)):
        level, n = int(levels[c]), counts[c]
        if level > -top:
            k = level - 1 if level > 0 else -level
            sign = 1.0 if level > 0 else -1.0
            precision[k] += below[c]
            potential[k] += sign * (below[c] * x[c] - 0.5 * n)
        if level < top:
            k = level if level >= 0 else -level - 1
            sign = 1.0 if level >= 0 else -1.0
            precision[k] += above[c]
            potential[k] += sign * (above[c] * x[c] + 0.5 * n)
    for k in range(top):
        if k > 0 or often[0] > 0.0:
            rest = (k, cuts, often, precision, potential)
            cuts[k] = draw_by_slice(rng, cuts[k], WIDTH, _cut_density, rest)


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
