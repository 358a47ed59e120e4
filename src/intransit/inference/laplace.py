"""Laplace's approximation: uncertainty around a solution, of margins at any time; gauge volume.

Around a solution the posterior is taken for the Gaussian whose precision is Jᵀ C J + prior.  Small
problems are factored, and variances are exact; at scale those of a few questions are too.  A
draw is made by perturbing data and prior and solving again,

    step = (Jᵀ C J + P)⁻¹ (Jᵀ √C ε + √P ε'),      ε, ε' standard normal

whose covariance is exactly the inverse; any question is then a mean over draws.  Draws leave out
the gauge (see `gauge`), which no margin sees.

Of a side's entries (first states, steps) the data determine

    γ = number of entries - Σ (posterior / prior variance)

exactly for small problems, and at scale by a few draws, always of the same seed.

Along S -> S R, Q -> Q R⁻ᵀ the data say nothing, and the peak of the posterior prefers a small S
with large Q: S has more states, each with a penalty.  But there the space of S is small as well.
Integrated, the posterior goes with |det R| to the power v, by how many more entries of a column of
S than of Q the data determine, which is as if

    ½ v log det QᵀQ

stood in the objective.  It is added by its tangent, a stronger prior on Q, twice over.  At the peak
Q would be too large, and with it what a step of S does to a margin (decision 0029).
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from intransit.arrays import BoolArray, FloatArray, IntArray, slices
from intransit.inference.gauge import balance, without_gauge
from intransit.inference.joint_problem import FactorStates, Joint, Noise, Pairs
from intransit.inference.newton import DenseEquations, JointSolution, SparseEquations, solve_joint


class Spots:
    """States of one side around some points in time, of which the side is a mean and some noise.

    Between two of its states an item is their interpolation plus the noise of a Brownian bridge,
    after the last (and before the first) one the nearest state plus that of a free walk.
    """

    def __init__(self, side: FactorStates, owners: IntArray, times: FloatArray) -> None:
        self.before, self.after, self.share, self._spread = side.chains.around(owners, times)
        self._drift = np.where(side.free, side.drift, 0.0)

    @property
    def noise(self) -> FloatArray:  # (n, n_columns)
        """Variance on top of the interpolation."""
        return np.asarray(self._spread[:, None] * self._drift**2)

    def read(self, states: FloatArray) -> FloatArray:  # (n, n_columns)
        """Return the interpolated states."""
        share = self.share[:, None]
        return np.asarray((1.0 - share) * states[self.before] + share * states[self.after])

    def ends(self) -> tuple[tuple[IntArray, FloatArray], ...]:
        """Return both states, each with its share."""
        return (self.before, 1.0 - self.share), (self.after, self.share)


@dataclass(frozen=True, eq=False)
class MarginQuery:
    """Margins of first over second at some times.

    A pair that was never seen has an effect of its own all the same, of which only the prior is
    known.
    """

    problem: Joint
    pairs: Pairs
    first: IntArray  # (n,)
    second: IntArray
    times: FloatArray

    def part(self, which: slice) -> "MarginQuery":
        """Return some of the questions."""
        asked = self.first[which], self.second[which], self.times[which]
        return MarginQuery(self.problem, self.pairs, *asked)

    @cached_property
    def strengths(self) -> tuple[Spots, Spots]:
        """Those of both items."""
        return self._both(self.problem.strengths)

    @cached_property
    def exposures(self) -> tuple[Spots, Spots]:
        """Those of both items."""
        return self._both(self.problem.exposures)

    def _both(self, side: FactorStates) -> tuple[Spots, Spots]:
        return Spots(side, self.first, self.times), Spots(side, self.second, self.times)

    @cached_property
    def place(self) -> tuple[IntArray, BoolArray]:
        """Where the effects of the pairs are, and whether they are there."""
        return self.pairs.find(np.stack([self.first, self.second], axis=1))

    @cached_property
    def sign(self) -> FloatArray:  # (n,)
        """-1 where the first item has the larger number: effects are the other way round."""
        return np.asarray(np.sign(self.second - self.first), dtype=float)

    @property
    def both_idle(self) -> BoolArray:  # (n,)
        """Whether neither item was ever compared."""
        idle = self.problem.strengths.chains.idle
        return np.asarray(idle[self.first] & idle[self.second])

    @cached_property
    def effects(self) -> tuple[Spots, FloatArray] | None:
        """States of the effects of pairs, and their signs, 0 where a pair has none."""
        if self.problem.effects is None:
            return None
        place, known = self.place
        return Spots(self.problem.effects, place, self.times), self.sign * known

    def margins(self, z: FloatArray) -> FloatArray:  # (n,)
        """Return the margins at states z."""
        S, Q, E = self.problem.split(z)
        ahead = np.sum(self.strengths[0].read(S) * self.exposures[1].read(Q), axis=1)
        behind = np.sum(self.strengths[1].read(S) * self.exposures[0].read(Q), axis=1)
        out = ahead - behind
        if self.effects is not None:
            spots, sign = self.effects
            out += sign * spots.read(E[:, None])[:, 0]
        return np.asarray(out)

    def _slopes(self, z: FloatArray) -> tuple[tuple[Spots, FloatArray], ...]:
        """Return what a margin is linear in: both strengths, both exposures, each with its slope.

        A slope is what a state is multiplied by.
        """
        S, Q, _ = self.problem.split(z)
        (s_i, s_j), (q_i, q_j) = self.strengths, self.exposures
        return (s_i, q_j.read(Q)), (s_j, -q_i.read(Q)), (q_j, s_i.read(S)), (q_i, -s_j.read(S))

    def derivative(self, z: FloatArray) -> csr_array:  # (n, n_z)
        """Return the derivative of each margin in z."""
        s, q, _ = self.problem.cuts
        r = self.problem.strengths.shape[1]
        entries = [
            (begin + states[:, None] * r + np.arange(r), share[:, None] * slope)
            for (spots, slope), begin in zip(self._slopes(z), (0, 0, s, s), strict=True)
            for states, share in spots.ends()
        ]
        if self.effects is not None:
            spots, sign = self.effects
            entries += [(q + k[:, None], (sign * share)[:, None]) for k, share in spots.ends()]
        columns, values = (np.hstack(part) for part in zip(*entries, strict=True))
        starts = np.arange(len(values) + 1) * values.shape[1]
        return csr_array((values.ravel(), columns.ravel(), starts), shape=(len(values), len(z)))

    def extra_variance(self, z: FloatArray) -> FloatArray:  # (n,)
        """Return the variance that comes on top of that of the states, to first order."""
        problem = self.problem
        total = np.zeros(len(self.sign))
        for spots, slope in self._slopes(z):
            total += np.sum(spots.noise * slope**2, axis=1)
        # Of two items that were never compared nothing is known to first order; s · q - q · s of
        # their priors is.
        factors = problem.strengths.free & problem.exposures.free
        prior = 2.0 * np.sum((problem.strengths.prior * problem.exposures.prior)[factors] ** 2)
        total += prior * self.both_idle
        if self.effects is not None and problem.effects is not None:
            spots, _ = self.effects
            total += np.where(self.place[1], spots.noise[:, 0], problem.effects.prior[0] ** 2)
        return np.asarray(total * (self.sign != 0))


DENSE_LIMIT = 2_000  # unknowns

ACCURACY = 1e-3  # of the solves for draws: a thousandth of a standard deviation
THREADS = 2
AT_ONCE = 2_000  # questions whose variances are worked out at once
DRAWN_AT_ONCE = 20_000  # the same by draws: 32 MB for 200 of them
EXACT_LIMIT = 4_000_000  # questions times unknowns, of small problems: more are answered by draws
FEW = 50  # questions: each is answered by a solve of its own
N_DRAWS = 200  # where variances come from draws: standard deviations to 5 %


class Laplace:
    """The Gaussian around states z."""

    def __init__(self, problem: Joint, z: FloatArray, *, dense: bool | None = None) -> None:
        self.problem, self.z = problem, z
        self._curved: FloatArray | None = None
        self._draws: FloatArray | None = None
        n_free = int(np.count_nonzero(problem.free))
        self.is_dense = n_free <= DENSE_LIMIT if dense is None else dense

    @property
    def _curvature(self) -> FloatArray:  # not cached by Python 3.11, whose lock all shards share
        if self._curved is None:
            self._curved = self.problem.loss.terms(self.problem.margins(self.z))[1]
        return self._curved

    @cached_property
    def dense(self) -> DenseEquations:
        """The whole precision, factored."""
        return DenseEquations(self.problem, self.z, self._curvature)

    @cached_property
    def covariance(self) -> FloatArray:  # (n_z, n_z)
        """The whole covariance, 0 where z is known; for small problems."""
        half = np.linalg.inv(self.dense.root)
        out = np.zeros((len(self.z), len(self.z)))
        free = np.flatnonzero(self.problem.free)
        out[np.ix_(free, free)] = half.T @ half
        return out

    def variances(
        self, query: MarginQuery, rng: np.random.Generator, *, at_once: int = AT_ONCE
    ) -> FloatArray:  # (n,)
        """Return the variance of each margin asked for, to first order, noise on top included."""
        total = query.extra_variance(self.z)
        if self.is_dense and len(total) * np.count_nonzero(self.problem.free) <= EXACT_LIMIT:
            for here in slices(len(total), at_once):
                half = self.dense.half_solve(query.part(here).derivative(self.z).toarray())
                total[here] += np.sum(half**2, axis=0)
            return total
        if self._draws is None and len(total) <= FEW and not self.is_dense:
            return total + self._solved(query)
        if self._draws is None:
            self._draws = self.raw_draw(N_DRAWS, rng)
        for here in slices(len(total), DRAWN_AT_ONCE):
            steps = query.part(here).derivative(self.z) @ self._draws
            total[here] += np.mean(steps**2, axis=1)
        return total

    def _solved(self, query: MarginQuery) -> FloatArray:  # (n,)
        """Return variances gᵀ H⁻¹ g, a solve each: exact, and quicker than draws for a few."""
        equations = SparseEquations(self.problem, self.z, self._curvature)
        equations.prepare()
        rows = query.derivative(self.z).toarray() * self.problem.free
        return np.array([g @ equations.solve(g, 0.0, accuracy=ACCURACY) for g in rows])

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:  # (n_z, n)
        """Return draws of z less its mean, gauge left out."""
        return without_gauge(self.problem, self.z, self.raw_draw(n, rng))

    def raw_draw(self, n: int, rng: np.random.Generator) -> FloatArray:  # (n_z, n)
        """Return draws of z less its mean, gauge included."""
        if self.is_dense:
            return self.dense.draw(rng.normal(size=(int(np.count_nonzero(self.problem.free)), n)))
        return np.stack([step for step, _ in self.perturbed(rng.spawn(n))], axis=1)

    def perturbed(
        self, generators: list[np.random.Generator]
    ) -> Iterator[tuple[FloatArray, list[Noise]]]:
        """Yield a draw for each generator, with the noise of the sides that made it."""
        equations = SparseEquations(self.problem, self.z, self._curvature)
        equations.prepare()

        def one(rng: np.random.Generator) -> tuple[FloatArray, list[Noise]]:
            right, noise = self._perturb(rng)
            return equations.solve(right, 0.0, accuracy=ACCURACY), noise

        if not self.problem.is_whole:  # shards meet for one draw after the other
            yield from map(one, generators)
            return
        with ThreadPoolExecutor(THREADS) as pool:
            yield from pool.map(one, generators)

    def _perturb(self, rng: np.random.Generator) -> tuple[FloatArray, list[Noise]]:
        problem = self.problem
        ripples, noise = problem.noise(rng)
        right = problem.pull(self.z, ripples * np.sqrt(self._curvature))
        for side, part, own in zip(problem.sides, problem.parts(right), noise, strict=True):
            np.add(part, side.shape_noise(own), out=part)
        if problem.rise is not None:
            first = problem.given_way(noise[0][0][:, 0], power=1)
            problem.split(right)[0][problem.strengths.firsts, 0] -= first
        return right, noise


ROUNDS = 2  # the volume moves with the solution: by the second it has settled
EXACT_VOLUME = 600  # unknowns up to which γ is exact: beyond it draws are far quicker
DRAWN = 4_000  # entries of draws in all, at least: keeps the noise of a scale near 2 %

Seen = list[tuple[FloatArray, FloatArray]]  # by side: first states and steps, by column


@dataclass(frozen=True, eq=False)
class EnergyShare:
    """Of one side, by column: energies at the solution, and how much of them the data determine."""

    first: FloatArray  # Σ first states²
    step: FloatArray  # Σ step² / gap
    seen_first: FloatArray  # how many first states the data determine
    seen_step: FloatArray


def measure(
    problem: Joint, z: FloatArray, seed: int, *, exact: int = EXACT_VOLUME
) -> list[EnergyShare]:
    """Return the shares of all sides around z; exactly, up to so many unknowns."""
    n_free = int(np.count_nonzero(problem.free))
    around = Laplace(problem, z, dense=problem.is_whole and n_free <= exact)
    seen = _exactly_seen(around) if around.is_dense else _seen_by_draws(around, seed)
    return [
        EnergyShare(*side.energies(part), *counts)
        for side, part, counts in zip(problem.sides, problem.parts(z), seen, strict=True)
    ]


def excess(problem: Joint, shares: list[EnergyShare]) -> float:
    """Return how many more entries of a column of S than of Q the data determine."""
    both = problem.strengths.free & problem.exposures.free
    if not both.any():
        return 0.0
    S, Q = (share.seen_first + share.seen_step for share in shares[:2])
    return float(np.mean(S[both] - Q[both]))


def move_along_gauge(
    problem: Joint,
    solution: JointSolution,
    *,
    tolerance: float,
    max_steps: int,
    seed: int,
    rounds: int = ROUNDS,
    exact: int = EXACT_VOLUME,
) -> JointSolution:
    """Return a solution moved to where the volume is; its objectives, if it has any, stay."""
    if problem.is_convex:
        return solution
    here = solution
    n_products = solution.n_products
    for _ in range(rounds):
        moved = hold_along_gauge(problem, here.z, seed, exact=exact)
        if moved is None:
            return solution
        here = solve_joint(*moved, tolerance=tolerance, max_steps=max_steps, warm=True)
        n_products += here.n_products
    return replace(
        solution,
        z=here.z,
        objectives=solution.objectives if len(solution.objectives) else here.objectives,
        converged=solution.converged and here.converged,
        gradient_size=here.gradient_size,
        n_products=n_products,
    )


def hold_along_gauge(
    problem: Joint, z: FloatArray, seed: int, *, exact: int = EXACT_VOLUME
) -> tuple[Joint, FloatArray] | None:
    """Return states where the volume is, and the problem that holds them there; None at the peak.

    The prior of exposures is then the tangent of the volume, too.
    """
    both = problem.strengths.free & problem.exposures.free
    volume = excess(problem, measure(problem, z, seed, exact=exact))
    if volume <= 1.0:
        return None
    z = balance(problem, z, volume=volume)
    energies = problem.total(np.sum(problem.split(z)[1][:, both] ** 2, axis=0))
    prior = problem.exposures.prior.copy()
    prior[both] = 1.0 / np.sqrt(
        1.0 / prior[both] ** 2 + volume / max(float(np.mean(energies)), 1e-300)
    )
    return replace(problem, exposures=replace(problem.exposures, prior=prior)), z


def _seen_by_draws(around: Laplace, seed: int) -> Seen:
    problem = around.problem
    n = int(np.clip(np.ceil(DRAWN / problem.total(problem.strengths.shape[0])), 2, 50))
    totals = [np.zeros((2, side.shape[1])) for side in problem.sides]
    for step, noises in around.perturbed(np.random.default_rng(seed).spawn(n)):
        for k, (side, part) in enumerate(zip(problem.sides, problem.parts(step), strict=True)):
            totals[k] += np.stack(side.seen_noise(noises[k], part)) / n
    totals = [problem.total(total) for total in totals]
    return [(np.maximum(total[0], 0.0), np.maximum(total[1], 0.0)) for total in totals]


def _exactly_seen(around: Laplace) -> Seen:
    seen, begin, V = [], 0, around.covariance
    for side in around.problem.sides:
        n, width = side.shape
        at = begin + np.arange(n * width).reshape(n, width)
        begin += n * width
        first = V[at[side.firsts], at[side.firsts]].sum(axis=0) / side.prior**2
        now, before = at[side.steps], at[side.chains.before[side.steps]]
        spread = V[now, now] + V[before, before] - 2 * V[now, before]
        step = np.sum(spread * side.links[side.steps], axis=0)
        firsts, steps = (len(side.firsts) - first) * side.free, (len(side.steps) - step) * side.free
        seen.append((np.maximum(firsts, 0.0), np.maximum(steps, 0.0)))
    return seen
