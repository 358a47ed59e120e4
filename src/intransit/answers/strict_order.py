"""Whether any strict order of the items explains the results at a time, whatever its curve.

A circle is a round of items each of which beats the next with a chance above an edge, 52 % unless
told otherwise.  An order without circles may have any curve of chances, more luck or more ties for
some items, and judges of several tastes: that no single scale explains it proves no circle.  Three
looks at the same posterior:

    probability   the share of its draws that hold a circle
    by_noise      how often the nearest strict order, and noise, would pay as much for pairs against
                  a ranking as the mean of the posterior does
    by_results    what the results of single pairs say, without any model: an intersection-union
                  test of the circle whose least sure edge is surest, times the number of pairs

The first alone is not enough: with many items every draw holds a circle of uncertain pairs.  The
noise of a posterior mean follows from the draws: its first-order change with the games is its
covariance with their log likelihood (the infinitesimal jackknife), so

    Δ E[x_pair]  =  Σ_cells  Cov(x_pair, x_cell) · √information · N(0, 1).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from intransit.answers.order_kernels import GAINED, least_paid, settle, widest_circle
from intransit.arrays import FloatArray, IntArray
from intransit.core.inputs import as_number
from intransit.inference.posterior import Posterior, expected_results

EDGE = 0.52  # chance that an edge of a circle must exceed, to matter
MOST_ITEMS = 60  # that circles are looked for among: those that played most
MOST_DRAWS = 400
N_NOISE = 400  # tables of the nearest order
LEAST_NOISE = 0.2  # variance of a mean margin beside that of its draws
MOST_CELLS = 40_000  # whose games' noise is followed; a sample stands for more
CHUNK = 4_000_000  # margins of draws asked at once
MOST_MARGIN = 100.0  # within which the margin of a chance is looked for
FEWEST = 3  # items: with these there is one circle, either way round


@dataclass(frozen=True)
class Circularity:
    """What speaks for a circle, at a time.

    Attributes
    ----------
    edge
        Chance that every edge of a circle must exceed.
    probability
        That a circle is there, given the model: the share of draws that hold one.
    by_noise
        Share of tables of the nearest strict order that would look as circular.
    by_results
        P value of single pairs' results against every strict order.
    n_items
        Items that circles were looked for among.
    """

    edge: float
    probability: float
    by_noise: float
    by_results: float
    n_items: int


def look_for_circles(
    posterior: Posterior,
    items: IntArray,
    when: float,
    *,
    edge: float = EDGE,
    dispersion: float = 1.0,
    rng: int = 0,
) -> Circularity:
    """Return what speaks for a circle among some items at a time.

    Parameters
    ----------
    posterior
        Of a model with every term.
    items, when
        Which items, at most 60, and when.
    edge
        Chance that every edge of a circle must exceed.
    dispersion
        Variance of the results of a series beside that of games on their own, at least 1.
    rng
        Seed.
    """
    as_number("edge", edge, least=0.5)
    few = posterior.thinned(MOST_DRAWS)
    n = len(items)
    one, two = np.triu_indices(n, 1)
    drawn = few.margins(items[one], items[two], np.full(len(one), when))
    least = edge - 0.5
    gains = _square(few.results(drawn) - 0.5, n)
    hold = int(np.sum(least_paid(gains, least) > GAINED))
    probability = (hold + 0.5) / (len(few) + 1.0)  # never quite 0 or 1
    mean = drawn.mean(axis=0)
    noise = mean_noise(few, drawn - mean, dispersion, np.random.default_rng(rng))
    return Circularity(
        edge=edge,
        probability=probability,
        by_noise=_by_noise(few, mean, noise, n, least),
        by_results=_by_results(few, items, when, dispersion),
        n_items=n,
    )


def _square(values: FloatArray, n: int) -> FloatArray:  # (n_rows, n, n)
    """Return skew-symmetric matrices from what is above the diagonal of each."""
    one, two = np.triu_indices(n, 1)
    out = np.zeros((len(values), n, n))
    out[:, one, two] = values
    out[:, two, one] = -values
    return out


def _by_noise(
    posterior: Posterior, mean: FloatArray, noise: FloatArray, n: int, least: float
) -> float:
    """Return how often the nearest order and noise pay as much as the mean of the posterior."""
    seen = _square(_typical(posterior, mean[None, :]) - 0.5, n)
    order = np.argsort(-seen[0].sum(axis=1))
    paid = settle(np.maximum(seen[0] - least, 0.0), order)
    if paid <= GAINED:
        return 1.0
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    one, two = np.triu_indices(n, 1)
    above = np.where(place[one] < place[two], 1.0, -1.0)
    # In the nearest order the pairs against it are at the edge of mattering.
    nearest = above * np.maximum(above * mean, -_margin(posterior, 0.5 + least))
    tables = _square(_typical(posterior, nearest + noise) - 0.5, n)
    return float(np.mean(least_paid(tables, least) >= paid))


def _typical(posterior: Posterior, margins: FloatArray) -> FloatArray:
    """Return expected results at margins, by the mean law of the draws."""
    cuts, noise = posterior.draws.cuts, posterior.draws.noise
    cut = float(cuts[:, 0].mean()) if posterior.law.kind == "ordered" else 0.0
    return expected_results(posterior.law.kind, margins, cut, float(noise.mean()))


def _margin(posterior: Posterior, chance: float) -> float:
    """Return the margin that a chance stands for."""
    return float(
        brentq(lambda x: float(_typical(posterior, np.array([x]))[0]) - chance, 0.0, MOST_MARGIN)
    )


def mean_noise(
    posterior: Posterior, deviations: FloatArray, dispersion: float, rng: np.random.Generator
) -> FloatArray:  # (N_NOISE, n_pairs)
    """Return noise of the posterior's mean margins, as if the games were played again."""
    seen, m = posterior.layout.seen, len(posterior)
    cells, share = np.arange(len(seen)), 1.0
    if len(cells) > MOST_CELLS:
        cells = np.sort(rng.choice(len(seen), MOST_CELLS, replace=False))
        share = MOST_CELLS / len(seen)
    # Over draws, the noise of all cells is normal with this covariance.
    together = np.zeros((m, m))
    for begin in range(0, len(cells), step := max(CHUNK // m, 1)):
        some = cells[begin : begin + step]
        x = posterior.margins(seen.pairs[some, 0], seen.pairs[some, 1], seen.times[some])
        weight = np.sqrt(seen.counts[some] * _information(posterior, x.mean(axis=0), some))
        x = (x - x.mean(axis=0)) * weight
        together += x @ x.T
    together *= dispersion / share
    size, ways = np.linalg.eigh(together)
    rough = rng.standard_normal((N_NOISE, m)) * np.sqrt(np.maximum(size, 0.0))
    noise = (rough @ ways.T) @ deviations / m
    # Covariances over m draws are noisy themselves: that adds, to the variance of a margin beside
    # that of its draws, the number of parameters that the games determine over m.
    found = float(noise.var(axis=0).mean() / max(deviations.var(axis=0).mean(), 1e-300))
    own = max(found - float(np.trace(together)) / m**2, min(LEAST_NOISE, found))
    return np.asarray(noise * np.sqrt(own / max(found, 1e-300)))


def _information(posterior: Posterior, margins: FloatArray, cells: IntArray) -> FloatArray:
    """Return the information of one game of each cell on its margin."""
    if posterior.law.kind == "squared":
        return np.full(len(cells), float(np.mean(1.0 / posterior.draws.noise**2)))
    if posterior.law.kind == "logistic":
        return np.asarray(expit(margins) * expit(-margins))
    # A level is a win against its lower boundary and a loss against its upper one.
    cuts = posterior.draws.cuts.mean(axis=0)
    edges = np.concatenate([[-np.inf], -cuts[::-1], cuts, [np.inf]])
    level = posterior.layout.seen.means[cells].astype(np.int64) + len(cuts)
    ends = [margins - edges[level], margins - edges[level + 1]]
    return np.asarray(sum(expit(x) * expit(-x) for x in ends))


def _by_results(posterior: Posterior, items: IntArray, when: float, dispersion: float) -> float:
    """Return the p value of the pairs' own results against every strict order.

    Every pair on its own, as a random walk that moves as much as margins do in the draws: its games
    say less of a time the further they are from it.  The least sure edge of a circle is tested
    against a half; any of the pairs may be the one that an order would not have.
    """
    seen = posterior.layout.seen
    place = np.full(seen.n_items, -1)
    place[items] = np.arange(len(items))
    inside = (place[seen.pairs] >= 0).all(axis=1)
    pairs, times = place[seen.pairs[inside]], seen.times[inside]
    counts, wins, sides = seen.counts[inside], seen.wins[inside], seen.sides[inside]
    worth = float(posterior.side_worth(np.array([when])).mean())
    keys, owner = np.unique(pairs[:, 0] * len(items) + pairs[:, 1], return_inverse=True)
    speed = _speed(posterior, items, when)
    sure = np.full((len(items), len(items)), -np.inf)
    order = np.argsort(owner, kind="stable")
    for key, rows in zip(keys, np.split(order, np.cumsum(np.bincount(owner))[:-1]), strict=True):
        n, age = counts[rows], when - times[rows]
        # Margins near 0 are four times the chance above a half.
        margin = 4.0 * (wins[rows] / n - 0.5) - worth * sides[rows]
        shared = np.minimum(np.abs(age[:, None]), np.abs(age)) * (age[:, None] * age > 0.0)
        spread = speed * shared + np.diag(4.0 * dispersion / n)
        weight = np.linalg.solve(spread, np.ones(len(rows)))
        z = float(weight @ margin / np.sqrt(weight.sum()))
        i, j = divmod(int(key), len(items))
        sure[i, j], sure[j, i] = z, -z
    widest = widest_circle(sure)
    many = len(keys) if len(items) > FEWEST else 1
    return min(float(many * ndtr(-widest)), 1.0)


def _speed(posterior: Posterior, items: IntArray, when: float) -> float:
    """Return the variance of the change of a margin in a unit of time, over draws and pairs."""
    if not posterior.layout.model.moves:
        return 0.0
    axis = posterior.axis
    begin = float(axis[0] if when - axis[0] > axis[-1] - when else axis[-1])
    one, two = np.triu_indices(len(items), 1)
    ends = [posterior.margins(items[one], items[two], np.full(len(one), t)) for t in (begin, when)]
    return float(np.mean((ends[1] - ends[0]) ** 2)) / max(abs(when - begin), 1e-300)
