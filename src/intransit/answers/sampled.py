"""Draws of an answer for questions about many pairs at once, and which items they are about.

A draw of a large answer takes a solve.  Steps away from the solution are normal, so any

    g · steps / √k,      g standard normal

of k of them is a step of (nearly) the same law: 64 solves, centred, serve for any number of draws.
Deviations are then known to 9 %.  Draws come in pairs of opposite steps, so that their mean is
the solution itself.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.inputs import as_whole
from intransit.core.posterior import DENSE_LIMIT
from intransit.draws import Draws

if TYPE_CHECKING:
    from intransit.answers.answer import Answer

N_DRAWS = 400
# Deviations that lists of cycles reckon with, in those of the model: benchmarks/results/cycles.md.
WIDTH, WIDTH_WITH_FACTORS = 1.3, 1.6
N_SOLVES = 64  # of a large answer
MOST_STATES = 20_000_000  # numbers that the draws of an answer may hold
ABOUT = 0.1  # of the table's span: how long before and after its games an item counts as there
MOST_DRAWN = 6_000_000  # margins that are kept
MOST_AT_ONCE = 2_000_000  # margins that are worked out together
MOST_ITEMS = 400  # that are ranked, and searched for cycles: those that played most
NOISE_SEED = 1  # of what lies between the states; the same for every question


def sample(answer: "Answer", n: int = N_DRAWS, *, rng: int = 0) -> Draws:
    """Return draws that `cycles`, `changes` and `ranking` can share."""
    path = answer.path
    n = as_whole("n", n, least=2)
    size = len(path.solution.z)
    n = max(min(n, MOST_STATES // size), 50) if n > 50 else n
    n += n % 2
    generator = np.random.default_rng(rng)
    if int(np.count_nonzero(path.problem.free)) <= DENSE_LIMIT:
        drawn = path.sample(n // 2, rng=generator)
        steps = drawn.states - drawn.centre[:, None]
    else:
        drawn = path.sample(min(N_SOLVES, n // 2), rng=generator)
        k = len(drawn)
        raw = drawn.states - drawn.centre[:, None]
        raw -= raw.mean(axis=1, keepdims=True)
        steps = raw @ (generator.normal(size=(n // 2, k)).T / np.sqrt(max(k - 1, 1)))
    both = np.stack([steps, -steps], axis=2).reshape(size, n)
    both += drawn.centre[:, None]
    return replace(drawn, states=both)


def widened(answer: "Answer", draws: Draws) -> Draws:
    """Return draws about as far from the solution as true margins were seen to be, for lists."""
    width = WIDTH_WITH_FACTORS if answer.model.factors else WIDTH
    middle = draws.centre[:, None]
    return replace(draws, states=middle + width * (draws.states - middle))


def settled(answer: "Answer", draws: Draws | None, n: int, rng: int, *, n_asked: int = 1) -> Draws:
    """Return the draws to use: those given or else new ones, as many as memory allows.

    What is drawn between states starts anew, so that an answer does not depend on what was asked
    before it.
    """
    found = sample(answer, n, rng=rng) if draws is None else draws
    fits = max(MOST_DRAWN // max(n_asked, 1), 40)
    keep = min(len(found), fits - fits % 2)
    fresh = np.random.default_rng(NOISE_SEED)
    return replace(found, states=found.states[:, :keep], rng=fresh)


def margins_of(
    answer: "Answer",
    draws: Draws,
    first: IntArray,  # (n,)
    second: IntArray,  # (n,)
    times: FloatArray,  # (n_times,)
) -> tuple[FloatArray, FloatArray]:  # (n, n_times), (n_draws, n, n_times)
    """Return margins of first over second at some times: those of the answer, and of draws.

    Draws are asked a few at a time, each for all pairs and times, so that its states between
    comparisons are the same for all of them.
    """
    one, two, when = first[:, None], second[:, None], times[None, :]
    mean = answer.path.margin(one, two, when)
    drawn = np.empty((len(draws), *mean.shape))
    step = max(MOST_AT_ONCE // max(mean.size, 1), 1)
    for begin in range(0, len(draws), step):
        here = slice(begin, begin + step)
        drawn[here] = replace(draws, states=draws.states[:, here]).margin(one, two, when)
    return mean, drawn


def games_of(answer: "Answer", first: IntArray, second: IntArray) -> FloatArray:  # (n,)
    """Return how many games each pair played, in all."""
    cells, n = answer.path.cells, answer.n_items
    keys, owner = np.unique(cells.pairs[:, 0] * n + cells.pairs[:, 1], return_inverse=True)
    games = np.bincount(owner, cells.counts)
    wanted = np.minimum(first, second) * n + np.maximum(first, second)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(games[place] * (keys[place] == wanted))


def spread_of(margins: FloatArray) -> FloatArray:
    """Return deviations over draws, (n_draws, ...) to (...)."""
    return np.asarray(np.sqrt(np.mean((margins - margins.mean(axis=0)) ** 2, axis=0)))


def surely_positive(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return the probability that a normal number is above 0; a half where it is 0 for sure."""
    known = np.where(mean == 0.0, 0.5, (mean > 0.0).astype(float))
    ratio = np.divide(mean, deviation, out=np.zeros_like(mean), where=deviation > 0.0)
    return np.where(deviation > 0.0, ndtr(ratio), known)


def plain(answer: "Answer", margins: FloatArray) -> FloatArray:
    """Return chances of winning at known margins, no side having an advantage."""
    path = answer.path
    return path.law.plain(margins, np.zeros(1), path.scales.noise_scale)


def expected(answer: "Answer", mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return chances of winning, averaged over what is not known of the margins."""
    path = answer.path
    flat = path.law.expect(
        mean.ravel(), deviation.ravel() ** 2, np.zeros(mean.size), path.scales.noise_scale
    )
    return np.asarray(flat.reshape(mean.shape))


def present(answer: "Answer", when: float) -> BoolArray:  # (n_items,)
    """Return which items were being compared about a time.

    From a tenth of the table's span before their first game to a tenth after their last one; times
    outside the table count as its nearest.
    """
    seen = answer.seen
    near = float(np.clip(when, seen.begin, seen.end))
    slack = ABOUT * (seen.end - seen.begin)
    return np.asarray((seen.first - slack <= near) & (near <= seen.last + slack))


def largest_group(answer: "Answer", there: BoolArray) -> IntArray:
    """Return those of some items that comparisons connect: the largest such group of them."""
    items = np.flatnonzero(there)
    if not len(items):
        return items
    groups = answer.path.groups[items]
    return np.asarray(items[groups == np.bincount(groups).argmax()])


def busiest(answer: "Answer", items: IntArray) -> IntArray:
    """Return those of some items that played most, at most 400, in the order they came in."""
    order = np.argsort(-answer.seen.games[items], kind="stable")
    return np.asarray(items[np.sort(order[:MOST_ITEMS])])


def text(answer: "Answer", when: float) -> str:
    """Return a time in words; nothing where the table has no times."""
    return "" if answer.clock.kind == "none" else answer.clock.to_text(when)
