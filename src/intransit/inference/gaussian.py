"""The posterior around a solution of Newton's method, and that of a filter, as draws.

Both are Gaussian in the states.  Margins of draws are to first order around the mean,

    X  =  (s + δs) q  +  s δq,      less the same with the items exchanged

as products of two steps would add noise along directions that the data hold together but hardly
each alone.  In a draw that is two planes for each factor, (s + δs, q) and (s, δq).
"""

from typing import TYPE_CHECKING

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.inference.layout import Layout, Paths, lay_out
from intransit.inference.observations import Observations
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws
from intransit.model.laws import Levels, OutcomeLaw, Readings, Wins
from intransit.model.terms import (
    Drift,
    Factors,
    Model,
    PairEffects,
    Scores,
    Side,
    Still,
    Term,
    Walk,
)

if TYPE_CHECKING:
    from intransit.filter import Filter
    from intransit.trajectory import Trajectory


def posterior_of_path(path: "Trajectory", n: int, rng: np.random.Generator) -> Posterior:
    """Return draws around the solution of `smooth`."""
    cells, problem = path.cells, path.problem
    seen = Observations(
        path.settings.loss,
        path.n_items,
        cells.pairs,
        cells.times,
        cells.counts,
        cells.means,
        np.zeros(len(cells)) if cells.sides is None else cells.sides,
        np.zeros((0, len(cells)), np.int64),
        cells.n_rows,
        cells.spread,
    )
    layout = lay_out(seen, model_of_path(path))
    drawn = path.sample(n, rng=rng)
    S, Q, E = problem.split_draws(drawn.states)
    mean_S, mean_Q, _ = problem.split(drawn.centre)
    scores = int(path.scores)
    at_S = _same_states(layout.items, problem.strengths.chains.starts)
    at_Q = _same_states(layout.items, problem.exposures.chains.starts)
    states = first_order(
        S[:, at_S, :scores],
        S[:, at_S, scores:],
        Q[:, at_Q, scores:],
        mean_S[at_S, scores:],
        mean_Q[at_Q, scores:],
    )
    effects = problem.effects
    numbers, sizes, rates = [], [], []
    for one in layout.numbers:
        if isinstance(one.term, PairEffects) and effects is not None:
            numbers.append(E[:, _same_states(one.paths, effects.chains.starts), 0])
            sizes.append(path.scales.pair_scale)
            rates.append(path.scales.pair_drift_scale / path.scales.pair_scale)
        else:
            numbers.append(np.full((n, one.paths.n_states), path.law.advantage))
            sizes.append(1.0)
            rates.append(0.0)
    s, r = path.scales, path.n_factors
    first = states[:, layout.items.begin[:-1][layout.newcomer], 0]
    draws = Draws(
        states=states,
        numbers=tuple(one.astype(np.float32) for one in numbers),
        scales=np.tile([scores * s.score_prior_scale, *[s.prior_scale] * r, *[0.0] * r], (n, 1)),
        rates=np.zeros((n, 2)),
        number_scales=np.tile(sizes, (n, 1)).reshape(n, -1),
        number_rates=np.tile(rates, (n, 1)).reshape(n, -1),
        newcomers=first.mean(axis=1, dtype=float) if first.size else np.zeros(n),
        cuts=np.tile(np.array(path.law.cuts), (n, 1)),
        noise=np.full(n, s.noise_scale),
        chain=np.zeros(n, np.int64),
        steps=steps_of(scores * s.score_drift_scale, s.drift_scale, s.exposure_drift_scale, r, n),
    )
    return Posterior(layout, _law(path), draws, None, "newton")


def steps_of(score: float, strength: float, exposure: float, r: int, n: int) -> FloatArray:
    """Return deviations of steps by column, (n, 1 + 4 r): those of S and of Q, where they move."""
    columns = [score, *[strength] * r, *[0.0] * (2 * r), *[exposure] * r]
    return np.tile(columns, (n, 1))


def first_order(
    scores: FloatArray,  # (n_draws, n_states, 0 or 1)
    S: FloatArray,  # (n_draws, n_states, r)
    Q: FloatArray,
    mean_S: FloatArray,  # (n_states, r)
    mean_Q: FloatArray,
) -> FloatArray:  # (n_draws, n_states, 1 + 4 r)
    """Return states whose margins are those of S and Q to first order around their means."""
    n, size, r = S.shape
    out: FloatArray = np.zeros((n, size, 1 + 4 * r), np.float32)
    if scores.shape[2]:
        out[:, :, 0] = scores[:, :, 0]
    out[:, :, 1 : 1 + r], out[:, :, 1 + r : 1 + 2 * r] = S, mean_S
    out[:, :, 1 + 2 * r : 1 + 3 * r], out[:, :, 1 + 3 * r :] = mean_Q, Q - mean_Q
    return out


def model_of_path(path: "Trajectory") -> Model:
    """Return the model of `smooth` as a sum of terms, its scales known."""
    s = path.scales
    terms: list[Term] = []
    if path.scores:
        walk = _walk(path, s.score_drift_scale, s.score_prior_scale)
        terms.append(Scores(s.score_prior_scale, walk))
    if path.n_factors:
        terms.append(
            Factors(path.n_factors, s.prior_scale, _walk(path, s.drift_scale, s.prior_scale))
        )
    if s.pair_scale > 0.0:
        terms.append(PairEffects(s.pair_scale, _walk(path, s.pair_drift_scale, s.pair_scale)))
    if path.cells.sides is not None:
        terms.append(Side(walk=Still()))
    return Model(tuple(terms))


def _walk(path: "Trajectory", drift: float, prior: float) -> Walk:
    span = float(path.times[-1] - path.times[0])
    return Drift(drift / prior * np.sqrt(span)) if drift > 0.0 and span > 0.0 else Still()


def _law(path: "Trajectory") -> OutcomeLaw:
    if path.loss == "squared":
        return Readings(path.scales.noise_scale)
    return Wins() if path.loss == "logistic" else Levels(max(len(path.law.cuts), 1))


def _same_states(paths: Paths, starts: IntArray) -> IntArray:
    """Return, for every state of a path, the state of Newton's chain that it is."""
    if np.array_equal(paths.begin, starts):
        return np.arange(paths.n_states)
    return np.repeat(starts[:-1], np.diff(paths.begin))


def posterior_of_filter(filter: "Filter", n: int, rng: np.random.Generator) -> Posterior:  # noqa: A002
    """Return draws of what a filter knows now: every item by itself, as it keeps them."""
    means, blocks, times, rates = filter.known()
    size, r = len(means), filter.n_factors
    roots = np.linalg.cholesky(blocks + 1e-12 * np.eye(means.shape[1]))
    drawn = means + np.einsum("ikl,nil->nik", roots, rng.standard_normal((n, *means.shape)))
    scores = int(filter.scores)
    states = first_order(
        drawn[:, :, :scores],
        drawn[:, :, scores : scores + r],
        drawn[:, :, scores + r :],
        means[:, scores : scores + r],
        means[:, scores + r :],
    )
    none, drift = np.zeros(0, np.int64), float(np.sqrt(rates[0]))
    paths = Paths(
        np.arange(size),
        np.arange(size + 1),
        times,
        np.zeros(size + 1, np.int64),
        none,
        np.zeros(0),
        none,
        moves=bool(rates.any()),
    )
    kind = filter.loss
    empty = np.zeros(0)
    seen = Observations(
        kind, size, np.zeros((0, 2), np.int64), empty, empty, empty, empty, np.zeros((0, 0), int), 0
    )
    terms = [Scores(1.0)] * scores + [Factors(r, 1.0)] * (r > 0)
    layout = Layout(seen, Model(tuple(terms)), paths, none, (), np.zeros(size, bool), 1.0)
    draws = Draws(
        states,
        (),
        np.tile([1.0, *[1.0] * r, *[0.0] * r], (n, 1)),
        np.zeros((n, 2)),
        np.zeros((n, 0)),
        np.zeros((n, 0)),
        np.zeros(n),
        np.zeros((n, 0)),
        np.full(n, filter.noise_scale),
        np.zeros(n, np.int64),
        steps_of(scores * drift, drift, float(np.sqrt(rates[-1])), r, n),
    )
    law: OutcomeLaw = Wins() if kind == "logistic" else Readings(filter.noise_scale)
    return Posterior(layout, law, draws, None, "filter", connected=True)
