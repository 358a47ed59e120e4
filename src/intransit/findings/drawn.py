"""Whole matrices at several times, at the solution and in every draw.

The margins of n items are those of `Draws.margin`, to first order around the solution,

    X  =  A - Aᵀ,        A_ij  =  s_i · q̄_j + s̄_i · (q_j - q̄_j)        (+ the effect of the pair)

with s, q the states of a draw and s̄, q̄ those of the solution.  Each item's states are drawn once
and multiplied, which for all pairs at many times is a fraction of asking for every pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.core.query import Spots, bridge
from intransit.core.sides import Side
from intransit.draws import Draws


@dataclass(frozen=True, eq=False)
class Sheet:
    """The margins of some items at one time."""

    time: float
    margins: FloatArray  # (n, n): at the solution
    drawn: FloatArray  # (n_draws, n, n)


def sheets(draws: Draws, items: IntArray, times: FloatArray) -> Iterator[Sheet]:
    """Yield the margins of these items, time by time; all of them were compared at some time."""
    problem = draws.problem
    S, Q, E = problem.split_draws(draws.states)
    mean_S, mean_Q, mean_E = problem.split(draws.centre)
    strengths = _states(problem.strengths, mean_S, S, items, times, draws.rng)
    exposures = _states(problem.exposures, mean_Q, Q, items, times, draws.rng)
    effects = _effects(draws, mean_E, E, items, times)
    for k, time in enumerate(times):
        s, drawn_s = strengths[0][k], strengths[1][:, k]
        q, drawn_q = exposures[0][k], exposures[1][:, k]
        drawn = drawn_s @ q.T + s @ (drawn_q - q).swapaxes(1, 2)
        drawn -= drawn.swapaxes(1, 2).copy()
        margins = s @ q.T
        margins = margins - margins.T
        if effects is not None:
            place = k if len(effects[0]) > 1 else 0
            margins += effects[0][place]
            drawn += effects[1][:, place]
        yield Sheet(float(time), margins, drawn)


def _states(
    side: Side,
    mean: FloatArray,  # (n_states, n_columns)
    drawn: FloatArray,  # (n_draws, n_states, n_columns)
    items: IntArray,
    times: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:  # (n_times, n, n_columns), (n_draws, n_times, n, n_columns)
    """Return the states of all items at all times, at the solution and drawn."""
    order = np.argsort(items, kind="stable")
    back = np.argsort(order, kind="stable")
    owners, when = np.repeat(items[order], len(times)), np.tile(times, len(items))
    here = Spots(*side.chains.around(owners, when)).read(mean)
    there = bridge(side, drawn, owners, when, rng)
    shape = (len(items), len(times), mean.shape[1])
    best = here.reshape(shape)[back].swapaxes(0, 1)
    return best, there.reshape(len(drawn), *shape)[:, back].swapaxes(1, 2)


def _effects(
    draws: Draws,
    mean: FloatArray,  # (n_states,)
    drawn: FloatArray,  # (n_draws, n_states, 1)
    items: IntArray,
    times: FloatArray,
) -> tuple[FloatArray, FloatArray] | None:  # (n_times, n, n), (n_draws, n_times, n, n)
    """Return the effects of all pairs; for one time only where they do not drift."""
    side = draws.problem.effects
    if side is None:
        return None
    times = times if side.chains.drifting else times[-1:]
    i, j = np.triu_indices(len(items), 1)
    pairs = np.sort(np.stack([items[i], items[j]], axis=1), axis=1)
    sign = np.where(items[i] < items[j], 1.0, -1.0)
    place, known = draws.pairs.find(pairs)
    order = np.argsort(place[known], kind="stable")
    met = np.flatnonzero(known)[order]
    owners, when = np.repeat(place[met], len(times)), np.tile(times, len(met))
    best = np.zeros((len(times), len(i)))
    values = np.empty((len(draws), len(times), len(i)))
    # Of a pair that never met the prior is all that is known.
    values[:] = side.prior[0] * draws.rng.normal(size=(len(draws), 1, len(i)))
    spots = Spots(*side.chains.around(owners, when))
    best[:, met] = spots.read(mean[:, None])[:, 0].reshape(len(met), -1).T
    shape = (len(draws), len(met), len(times))
    there = bridge(side, drawn, owners, when, draws.rng)[..., 0].reshape(shape)
    values[:, :, met] = there.swapaxes(1, 2)
    return _square(sign * best, i, j, len(items)), _square(sign * values, i, j, len(items))


def _square(upper: FloatArray, i: IntArray, j: IntArray, n: int) -> FloatArray:
    out = np.zeros((*upper.shape[:-1], n, n))
    out[..., i, j], out[..., j, i] = upper, -upper
    return out
