"""Reading draws at any time: states of paths, margins, mean chances.

Between two of its states a path is their interpolation plus the noise of a Brownian bridge; outside
them it is the nearest state plus that of a free walk; of an owner that was never seen the prior is
all that is known.  The noise of a draw is a function of the draw, the path and the gap, so that
every question sees the same path.
"""

import math

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.compiled import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
ONE = np.uint64(1)


@compiled
def _scramble(z: np.uint64) -> np.uint64:
    """Return a whole number that looks random (the finaliser of SplitMix64)."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@compiled
def normal_of(draw: int, key: int, column: int) -> float:
    """Return a standard normal number that belongs to a draw, a key and a column."""
    z = _scramble(np.uint64(draw) * GOLDEN + ONE)
    z = _scramble(z ^ (np.uint64(key) * GOLDEN))
    z = _scramble(z + np.uint64(column) * GOLDEN)
    u = (float(z >> S11) + 0.5) / 9007199254740992.0
    v = (float(_scramble(z + GOLDEN) >> S11) + 0.5) / 9007199254740992.0
    return math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)


@compiled
def read_paths(
    states: FloatArray,  # (n_draws, n_states, d)
    before: IntArray,  # (n,): states; -1 for an owner that was never seen
    after: IntArray,  # (n,)
    share: FloatArray,  # (n,): of the second
    spread: FloatArray,  # (n,): variance on top, in units of a step's
    keys: IntArray,  # (n,): of the noise
    steps: FloatArray,  # (n_draws, d): deviations of steps
    scales: FloatArray,  # (n_draws, d): deviations of first states
    means: FloatArray,  # (n_draws,): of first states, in the first column, of the never seen
    out: FloatArray,  # (n_draws, n, d)
) -> None:
    """Write the states of some paths at some times, in every draw."""
    d = states.shape[2]
    for g in range(states.shape[0]):
        for n in range(len(before)):
            if before[n] < 0:
                for k in range(d):
                    out[g, n, k] = scales[g, k] * normal_of(g, keys[n], k)
                out[g, n, 0] += means[g]
                continue
            b, a, s = before[n], after[n], share[n]
            root = math.sqrt(spread[n])
            for k in range(d):
                value = (1.0 - s) * states[g, b, k] + s * states[g, a, k]
                if root > 0.0 and steps[g, k] > 0.0:
                    value += root * steps[g, k] * normal_of(g, keys[n], k)
                out[g, n, k] = value


@compiled
def pair_margins(
    values: FloatArray,  # (n_draws, n_points, d)
    first: IntArray,  # (n,): points
    second: IntArray,
    out: FloatArray,  # (n_draws, n)
) -> None:
    """Write the margins that scores and planes make."""
    r = (values.shape[2] - 1) // 2
    for g in range(values.shape[0]):
        for n in range(len(first)):
            a, b = values[g, first[n]], values[g, second[n]]
            x = a[0] - b[0]
            for k in range(1, 1 + r):
                x += a[k] * b[k + r] - a[k + r] * b[k]
            out[g, n] = x


@compiled
def _chance(x: float, cut: float, noise: float) -> float:
    """Return the expected result at a margin."""
    if noise > 0.0:
        return 0.5 * math.erfc(-x / (noise * math.sqrt(2.0)))
    if cut == 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    return 0.5 / (1.0 + math.exp(cut - x)) + 0.5 / (1.0 + math.exp(-cut - x))


@compiled
def expected_chances(
    values: FloatArray,  # (n_draws, n, d)
    begin: int,  # first row
    end: int,
    effects: FloatArray,  # (n_draws, n_effects)
    effect: IntArray,  # (n, n): which of them, -1 for none, -2 for unknown
    sign: FloatArray,  # (n, n)
    unknown: FloatArray,
    cuts: FloatArray,
    noise: FloatArray,
    out: FloatArray,  # (n, n)
) -> None:
    """Write the chance of every pair whose first item is in some rows, averaged over draws."""
    n_draws, n_items, d = values.shape
    r = (d - 1) // 2
    for n in range(begin, end):
        out[n, n] = 0.5
        for m in range(n + 1, n_items):
            e = effect[n, m]
            total = 0.0
            for g in range(n_draws):
                a, b = values[g, n], values[g, m]
                x = a[0] - b[0]
                for k in range(1, 1 + r):
                    x += a[k] * b[k + r] - a[k + r] * b[k]
                if e >= 0:
                    x += sign[n, m] * effects[g, e]
                elif e == -2:
                    x /= math.sqrt(1.0 + math.pi / 8.0 * unknown[g] ** 2)
                total += _chance(x, cuts[g], noise[g])
            out[n, m] = total / n_draws
            out[m, n] = 1.0 - out[n, m]


@compiled
def mean_chances(
    values: FloatArray,  # (n_draws, n_points, d)
    items: IntArray,  # (n,): points
    panel: IntArray,  # (n_panel,): points
    weights: FloatArray,  # (n, n_panel): 0 where they are not to be compared
    effects: FloatArray,  # (n_draws, n_effects)
    effect: IntArray,  # (n, n_panel): which of them, -1 for none, -2 for unknown
    sign: FloatArray,  # (n, n_panel)
    unknown: FloatArray,  # (n_draws,): deviation of an effect that is not known
    cuts: FloatArray,  # (n_draws,): half the width of a tie
    noise: FloatArray,  # (n_draws,): of readings; 0 for games
    out: FloatArray,  # (n_draws, n)
) -> None:
    """Write the mean chance of every item against a panel, a tie as half a win.

    An effect that is not known makes chances flatter: a logistic curve over a normal number is
    close to one that is wider by √(1 + π s² / 8).
    """
    r = (values.shape[2] - 1) // 2
    for g in range(values.shape[0]):
        flat = 1.0 / math.sqrt(1.0 + math.pi / 8.0 * unknown[g] ** 2)
        for n in range(len(items)):
            a = values[g, items[n]]
            total, weight = 0.0, 0.0
            for m in range(len(panel)):
                if weights[n, m] == 0.0:
                    continue
                b = values[g, panel[m]]
                x = a[0] - b[0]
                for k in range(1, 1 + r):
                    x += a[k] * b[k + r] - a[k + r] * b[k]
                e = effect[n, m]
                if e >= 0:
                    x += sign[n, m] * effects[g, e]
                elif e == -2:
                    x *= flat
                chance = _chance(x, cuts[g], noise[g])
                total += weights[n, m] * chance
                weight += weights[n, m]
            out[g, n] = total / weight if weight > 0.0 else 0.5
