"""Weights and pulls of cells, given margins: what makes each law Gaussian; draws of its cuts.

A cell adds  pull · x - w x² / 2  to the log likelihood.  A level between boundaries b and c has

    P(level)  =  σ(x - b) · σ(c - x) · (1 - e^{b - c})

so it is a win against its lower boundary and a loss against its upper one, each with a Polya-Gamma
weight of its own.  Given these, the log likelihood is quadratic in every cut too, but for the width
of the level.
"""

import math

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.compiled import compiled
from intransit.inference.polya_gamma import draw

GAP_CENTRE, GAP_SPREAD = -0.5, 2.0  # log of a first cut, or of a gap between cuts: a normal prior
WIDTH = 0.3  # of the first slice


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
    cuts: FloatArray, often: FloatArray, precision: FloatArray, potential: FloatArray
) -> float:
    """Return the log density of all cuts; `often` has the games of each size of level."""
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
        if k == 0 and often[0] == 0.0:
            continue
        here = cuts[k]
        height = _cut_density(cuts, often, precision, potential) - rng.standard_exponential()
        low = here - WIDTH * rng.random()
        high = low + WIDTH
        cuts[k] = low
        while _cut_density(cuts, often, precision, potential) > height:
            cuts[k] -= WIDTH
        low = cuts[k]
        cuts[k] = high
        while _cut_density(cuts, often, precision, potential) > height:
            cuts[k] += WIDTH
        high = cuts[k]
        while True:
            there = low + (high - low) * rng.random()
            cuts[k] = there
            if _cut_density(cuts, often, precision, potential) > height:
                break
            if there < here:
                low = there
            else:
                high = there
            if not high - low > 1e-12:
                cuts[k] = here
                break
