"""One comparison at a time: what is known of two items, before and after they met.

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

from math import exp

from intransit.arrays import FloatArray, IntArray
from intransit.inference.law_kernels import mean_logistic
from intransit.kernels import compiled

_LOST = 1e-14  # a variance this small beside its own terms is rounding
_HALVINGS = 1000  # from the widest bracket down to the last bit; a few steps are usual


@compiled
def gap_since(last: float, time: float) -> float:
    """Return the time passed; none if either is NaN (never, or not said) or time runs backwards."""
    gap = time - last
    return gap if gap > 0.0 else 0.0  # noqa: FURB136  (max would let NaN through, or not)


@compiled
def margin_moments(
    means: FloatArray,  # (n_items, k): score if any, then s, then q
    blocks: FloatArray,  # (n_items, k, k): P of each item
    rates: FloatArray,  # (k,): variance that a unit of time adds
    n_scores: int,  # 1 with a score, else 0
    i: int,
    j: int,
    gap_i: float,
    gap_j: float,
    work: FloatArray,  # (4, k): receives g_i, g_j, P_i g_i, P_j g_j
) -> tuple[float, float]:
    """Return the mean and the variance of a margin, equation (1), after these gaps."""
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
        tail = exp(-abs(x))
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
    means: FloatArray,  # (n_items, k), changed in place, as are blocks and times
    blocks: FloatArray,  # (n_items, k, k)
    times: FloatArray,  # (n_items,): of the last comparison, NaN before the first
    rates: FloatArray,  # (k,)
    n_scores: int,
    noise: float,  # variance of a reading; 0 for wins and losses
    i: int,
    j: int,
    outcome: float,
    time: float,
    count: float,
    work: FloatArray,  # (4, k)
) -> tuple[float, float]:
    """Take one comparison in, equation (2); return the margin's mean and variance before it."""
    gap_i, gap_j = gap_since(times[i], time), gap_since(times[j], time)
    mean, variance = margin_moments(means, blocks, rates, n_scores, i, j, gap_i, gap_j, work)
    if noise > 0.0:
        shrink = 1.0 / (variance + noise / count)
        pull = (outcome - mean) * shrink
    else:
        pull, curvature = logistic_pull(mean, variance, outcome, count)
        shrink = curvature / (1.0 + variance * curvature)
    _move(means[i], blocks[i], rates, gap_i, work[2], pull, shrink)
    _move(means[j], blocks[j], rates, gap_j, work[3], pull, shrink)
    if not times[i] > time:
        times[i] = time
    if not times[j] > time:
        times[j] = time
    return mean, variance


@compiled
def _move(
    mean: FloatArray,  # (k,)
    block: FloatArray,  # (k, k)
    rates: FloatArray,  # (k,)
    gap: float,
    reach: FloatArray,  # (k,): P g
    pull: float,
    shrink: float,
) -> None:
    """Age one item by the gap, then apply equation (2) to it."""
    for a in range(len(mean)):
        mean[a] += pull * reach[a]
        for b in range(a):
            block[a, b] -= shrink * reach[a] * reach[b]
            block[b, a] = block[a, b]
        block[a, a] = max(block[a, a] + gap * rates[a] - shrink * reach[a] * reach[a], 0.0)


@compiled
def learn_many(
    means: FloatArray,
    blocks: FloatArray,
    times: FloatArray,
    rates: FloatArray,
    n_scores: int,
    noise: float,
    pairs: IntArray,  # (n, 2)
    outcomes: FloatArray,  # (n,)
    at: FloatArray,  # (n,): the time of each comparison
    counts: FloatArray,  # (n,)
    work: FloatArray,  # (4, k)
    out: FloatArray,  # (n,) to receive forecasts, (0,) for none
) -> None:
    """Take comparisons in, in this order; write what was expected of each just before it."""
    wanted = len(out) > 0
    for p in range(len(pairs)):
        i, j, y, t, n = pairs[p, 0], pairs[p, 1], outcomes[p], at[p], counts[p]
        mean, variance = learn(means, blocks, times, rates, n_scores, noise, i, j, y, t, n, work)
        if wanted:
            out[p] = mean if noise > 0.0 else mean_logistic(mean, variance)


@compiled
def read_many(
    means: FloatArray,
    blocks: FloatArray,
    times: FloatArray,
    rates: FloatArray,
    n_scores: int,
    pairs: IntArray,  # (n, 2)
    at: FloatArray,  # (n,): times; NaN for as each item was last seen
    work: FloatArray,  # (4, k)
    out: FloatArray,  # (n, 2): receives mean and variance of each margin
) -> None:
    """Write equation (1) for every pair; the two orders of a pair agree to the last bit."""
    for p in range(len(pairs)):
        i, j = min(pairs[p, 0], pairs[p, 1]), max(pairs[p, 0], pairs[p, 1])
        if i == j:
            out[p, 0], out[p, 1] = 0.0, 0.0
            continue
        gap_i, gap_j = gap_since(times[i], at[p]), gap_since(times[j], at[p])
        mean, variance = margin_moments(means, blocks, rates, n_scores, i, j, gap_i, gap_j, work)
        out[p, 0] = mean if i == pairs[p, 0] else -mean
        out[p, 1] = variance
