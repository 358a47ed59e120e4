"""Draws of whole trajectories around the solution of `smooth`, and the posterior that they make."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import BoolArray, FloatArray, IntArray, fold_pairs
from intransit.data.cells import Chains
from intransit.inference.joint_fit import Fitted, MarginsInTime
from intransit.inference.joint_problem import FactorStates, Joint
from intransit.inference.laplace import MarginQuery
from intransit.inference.observations import Observations
from intransit.inference.paths import Paths, first_order, lay_out, steps_of
from intransit.inference.posterior import Posterior, posterior_around
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


def bridge(
    side: FactorStates,
    states: FloatArray,  # (n_draws, n_states, n_columns)
    owners: IntArray,  # (n_points,), sorted, then by time
    times: FloatArray,  # (n_points,)
    rng: np.random.Generator,
) -> FloatArray:  # (n_draws, n_points, n_columns)
    """Return draws of an owner's states at points in time, given draws of its own states.

    Points in one gap depend on each other: they are drawn in turn, each between the one before
    it and the state that ends the gap.
    """
    chains = side.chains
    before, after, share, spread = chains.around(owners, times)
    out = (1.0 - share[:, None]) * states[:, before] + share[:, None] * states[:, after]
    drift = np.where(side.free, side.drift, 0.0)
    if not chains.drifting or not spread.any():
        return np.asarray(out)
    clock = chains.times
    early = times < clock[before]
    for gap in _gaps(before, early):
        if chains.idle[owners[gap[0]]]:  # known by its prior alone, at all times
            continue
        points = gap[::-1] if early[gap[0]] else gap  # outward from the known states
        here, value = clock[before[points[0]]], states[:, before[points[0]]]
        closed = after[points[0]] != before[points[0]] and not early[gap[0]]
        for point in points:
            step = abs(times[point] - here)
            noise = rng.normal(size=value.shape)
            if closed:
                end, left = states[:, after[point]], clock[after[point]] - here
                part = step / left
                value = value + part * (end - value)
                value = value + drift * np.sqrt(max(step * (1.0 - part), 0.0)) * noise
            else:
                value = value + drift * np.sqrt(step) * noise
            out[:, point], here = value, times[point]
    return np.asarray(out)


def _gaps(before: IntArray, early: BoolArray) -> list[IntArray]:
    """Return the points of each gap; those before an owner's first state are a gap of their own."""
    keys = 2 * before + ~early
    cuts = np.flatnonzero(np.diff(keys)) + 1
    return np.split(np.arange(len(before)), cuts)


MOST_ENTRIES = 100_000_000  # of draws of margins at once


@dataclass(frozen=True, eq=False)
class TrajectoryDraws(MarginsInTime):
    """Draws of whole trajectories from the posterior.

    Margins are to first order around the solution, as the posterior itself is: products of two
    steps would add noise along directions that data hold together but hardly each alone.

    Attributes
    ----------
    fitted
        The solution that the draws lie around.
    states
        The states of every draw, (n_states, n_draws).
    rng
        Generator for times at which there is no state.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Timeline.from_arrays([0, 1, 0] * 4, [1, 2, 2] * 4, [1.0, 0.5, 1.5] * 4,
    ...                                 range(12))
    >>> path = it.smooth(games, noise_scale=0.2, drift_scale=0.1, prior_scale=1.0, rng=0)
    >>> draws = path.sample(200, rng=0)
    >>> draws.margins.shape, draws.matrix(11.0).shape, len(draws.posterior())
    ((200, 12, 3, 3), (200, 3, 3), 200)

    The probability that 0 is ahead of 1, and 1 of 2, at once:

    >>> drawn = draws.margin([0, 1], [1, 2])
    >>> float((drawn > 0.0).all(axis=1).mean()) > 0.8
    True
    """

    fitted: Fitted
    states: FloatArray
    rng: np.random.Generator

    @property
    def _solved(self) -> Fitted:
        return self.fitted

    @property
    def _most_margins(self) -> int:
        return MOST_ENTRIES // len(self)

    @property
    def problem(self) -> Joint:
        """The question, as arrays."""
        return self.fitted.problem

    def __len__(self) -> int:
        return int(self.states.shape[1])

    def __repr__(self) -> str:
        return f"TrajectoryDraws(n_items={self.n_items}, times={self.times!r})"

    def margin(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> FloatArray:
        """Return the margin of first over second in every draw, (n_draws, ...).

        Within one call a state that is drawn at a time without comparisons is drawn once.

        Parameters
        ----------
        first, second, at
            As `Trajectory.margin` takes and refuses them.

        Returns
        -------
        numpy.ndarray
            Margins, (n_draws, ...), for each draw in the shape of the arguments.
        """
        query, shape = self._query(first, second, at)
        S, Q, E = self.problem.split_draws(self.states)
        mean_S, mean_Q, _ = self.problem.split(self.fitted.solution.z)
        s_i, s_j = self._two(self.problem.strengths, S, query)
        q_i, q_j = self._two(self.problem.exposures, Q, query)
        ds_i, ds_j = s_i - query.strengths[0].read(mean_S), s_j - query.strengths[1].read(mean_S)
        dq_i, dq_j = q_i - query.exposures[0].read(mean_Q), q_j - query.exposures[1].read(mean_Q)
        # Products of steps count only where both sides are known by their priors alone.
        second_order = _cross(ds_i, dq_j) - _cross(ds_j, dq_i)
        out = _cross(s_i, q_j) - _cross(s_j, q_i) - second_order * ~query.both_idle
        if self.problem.effects is not None:
            out = out + self._effects(self.problem.effects, E, query)
        return np.asarray(out.reshape(len(self), *shape))

    def _two(
        self, side: FactorStates, states: FloatArray, query: MarginQuery
    ) -> tuple[FloatArray, FloatArray]:
        """Return the states of first and second item, (n_draws, n, n_columns) each."""
        owners = np.concatenate([query.first, query.second])
        drawn = self._drawn(side, states, owners, np.tile(query.times, 2))
        n = len(query.times)
        return drawn[:, :n], drawn[:, n:]

    def _drawn(
        self, side: FactorStates, states: FloatArray, owners: IntArray, times: FloatArray
    ) -> FloatArray:
        if not side.chains.drifting:
            return np.asarray(states[:, owners])
        axis, when = np.unique(times, return_inverse=True)
        points, back = np.unique(owners.astype(np.int64) * len(axis) + when, return_inverse=True)
        values = bridge(side, states, points // len(axis), axis[points % len(axis)], self.rng)
        return np.asarray(values[:, back])

    def _effects(
        self, side: FactorStates, states: FloatArray, query: MarginQuery
    ) -> FloatArray:  # (n_draws, n)
        place, known = query.place
        values = self._drawn(side, states, place, query.times)[:, :, 0]
        keys, _ = fold_pairs(np.stack([query.first, query.second], axis=1), self.n_items)
        strangers, which = np.unique(keys, return_inverse=True)
        fresh = side.prior[0] * self.rng.normal(size=(len(self), len(strangers)))
        return np.asarray(query.sign * np.where(known, values, fresh[:, which]))

    def posterior(self) -> Posterior:
        """Return the draws as the posterior of a sum of terms.

        Returns
        -------
        Posterior
            The same draws, with strengths, matrices and chances over them.
        """
        return posterior_of_draws(self)


def _cross(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.sum(first * second, axis=-1))


def posterior_of_draws(drawn: TrajectoryDraws) -> Posterior:
    """Return draws around the solution of `smooth` as the posterior of a sum of terms."""
    problem, cells, law = drawn.problem, drawn.problem.cells, drawn.problem.law
    scales, columns = drawn.fitted.scales, drawn.fitted.columns
    n, n_scores, effects = len(drawn), int(columns.are_scores.any()), problem.effects
    r = problem.strengths.shape[1] - n_scores
    seen = Observations(
        law.kind,
        drawn.n_items,
        cells.pairs.astype(np.int64),
        cells.times,
        cells.counts,
        cells.means,
        np.zeros(len(cells)) if cells.sides is None else cells.sides,
        np.zeros((0, len(cells)), np.int64),
        cells.n_rows,
        cells.spread,
    )
    layout = lay_out(seen, _model_of(drawn, n_scores, r))
    S, Q, E = problem.split_draws(drawn.states)
    mean_S, mean_Q, _ = problem.split(drawn.fitted.solution.z)
    at_S = same_states(layout.items, problem.strengths.chains)
    at_Q = same_states(layout.items, problem.exposures.chains)
    states = first_order(
        S[:, at_S, :n_scores],
        S[:, at_S, n_scores:],
        Q[:, at_Q, n_scores:],
        mean_S[at_S, n_scores:],
        mean_Q[at_Q, n_scores:],
    )
    numbers, sizes, rates = [], [], []
    for one in layout.numbers:
        if isinstance(one.term, PairEffects) and effects is not None:
            numbers.append(E[:, same_states(one.paths, effects.chains), 0])
            sizes.append(scales.pair_scale)
            rates.append(scales.pair_drift_scale / scales.pair_scale)
        else:
            numbers.append(np.full((n, one.paths.n_states), law.advantage))
            sizes.append(1.0)
            rates.append(0.0)
    outcomes: OutcomeLaw = Wins() if law.kind == "logistic" else Readings(law.noise_scale)
    if law.levels:
        outcomes = Levels(max(len(law.cuts), 1))
    drifts = n_scores * scales.score_drift_scale, scales.drift_scale, scales.exposure_drift_scale
    return posterior_around(
        layout,
        outcomes,
        states,
        way="newton",
        scales=[n_scores * scales.score_prior_scale, *[scales.prior_scale] * r, *[0.0] * r],
        steps=steps_of(*drifts, r, n),
        noise=law.noise_scale,
        cuts=law.cuts,
        numbers=tuple(one.astype(np.float32) for one in numbers),
        number_scales=sizes,
        number_rates=rates,
    )


def _model_of(drawn: TrajectoryDraws, n_scores: int, r: int) -> Model:
    """Return the model of `smooth` as a sum of terms, its scales known."""
    s, span = drawn.fitted.scales, float(drawn.times[-1] - drawn.times[0])

    def walk(drift: float, prior: float) -> Walk:
        return Drift(drift / prior * np.sqrt(span)) if drift > 0.0 and span > 0.0 else Still()

    terms: list[Term] = []
    if n_scores:
        moves = walk(s.score_drift_scale, s.score_prior_scale)
        terms.append(Scores(s.score_prior_scale, moves, degrees=None))
    if r:
        terms.append(Factors(r, s.prior_scale, walk(s.drift_scale, s.prior_scale)))
    if s.pair_scale > 0.0:
        terms.append(PairEffects(s.pair_scale, walk(s.pair_drift_scale, s.pair_scale)))
    if drawn.problem.cells.sides is not None:
        terms.append(Side(walk=Still()))
    return Model(tuple(terms))


def same_states(paths: Paths, chains: Chains) -> IntArray:
    """Return, for every state of a path, the state of Newton's chain that it is."""
    states, starts = chains.by_owner
    if np.array_equal(paths.begin, starts):
        return states
    return np.repeat(chains.firsts, np.diff(paths.begin))
