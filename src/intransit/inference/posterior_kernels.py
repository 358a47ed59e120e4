"""Paths read at any time, and the margins and chances that they make.

Between two of its states a path is their interpolation plus the noise of a bridge; outside them it
is what is kept of the nearest state plus the noise of a free walk; of an owner that was never seen
the prior is all that is known.  The noise of a draw is a function of the draw, the path and the
gap, so that every question sees the same path.
"""

import math

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.inference.path_kernels import transition
from intransit.kernels import compiled

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


@compiled
def _bridge(reversion: float, since: float, until: float) -> tuple[float, float, float]:
    """Return what the states before and after count at a moment, and the deviation on top."""
    kept, length = transition(reversion, since)
    if until == 0.0:
        return kept, 0.0, math.sqrt(length)
    back, rest = transition(reversion, until)
    whole = back * back * length + rest
    return kept * rest / whole, back * length / whole, math.sqrt(length * rest / whole)


@compiled
def read_paths(
    states: FloatArray,  # (n_all_draws, n_states, d)
    which: IntArray,  # (n_draws,): draws to read
    before: IntArray,  # (n,): states; -1 for an owner that was never seen
    after: IntArray,  # (n,)
    since: FloatArray,  # (n,): time from the first to the moment asked for
    until: FloatArray,  # (n,): time from there to the second; 0 where there is none
    keys: IntArray,  # (n,): of the noise
    steps: FloatArray,  # (n_all_draws, d): deviations of steps
    reversions: FloatArray,  # (n_all_draws, d)
    scales: FloatArray,  # (n_all_draws, d): deviations of first states
    means: FloatArray,  # (n_all_draws,): of first states, in the first column, of the never seen
    out: FloatArray,  # (n_draws, n, d)
) -> None:
    """Write the states of some paths at some times, in every draw asked for."""
    d = states.shape[2]
    for place in range(len(which)):
        g = which[place]
        for n in range(len(before)):
            seed = seed_of(place, keys[n])
            if before[n] < 0:
                for k in range(d):
                    out[place, n, k] = scales[g, k] * normal_of(seed, k)
                out[place, n, 0] += means[g]
                continue
            b, a = before[n], after[n]
            near, far, root = 1.0, 0.0, 0.0
            for k in range(d):
                if since[n] > 0.0 and (k == 0 or reversions[g, k] != reversions[g, k - 1]):
                    near, far, root = _bridge(reversions[g, k], since[n], until[n])
                value = near * states[g, b, k] + far * states[g, a, k]
                if root > 0.0 and steps[g, k] > 0.0:
                    value += root * steps[g, k] * normal_of(seed, k)
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
    n_draws, n_items = values.shape[:2]
    for n in range(begin, end):
        out[n, n] = 0.5
        for m in range(n + 1, n_items):
            e = effect[n, m]
            total = 0.0
            for g in range(n_draws):
                x = _margin(values[g, n], values[g, m])
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
    for g in range(values.shape[0]):
        flat = 1.0 / math.sqrt(1.0 + math.pi / 8.0 * unknown[g] ** 2)
        for n in range(len(items)):
            total, weight = 0.0, 0.0
            for m in range(len(panel)):
                if weights[n, m] == 0.0:
                    continue
                x = _margin(values[g, items[n]], values[g, panel[m]])
                e = effect[n, m]
                if e >= 0:
                    x += sign[n, m] * effects[g, e]
                elif e == -2:
                    x *= flat
                chance = _chance(x, cuts[g], noise[g])
                total += weights[n, m] * chance
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
