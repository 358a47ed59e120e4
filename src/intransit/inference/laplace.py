"""Laplace's approximation: uncertainty around a solution, gauge volume, scales from the data.

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
Q would be too large, and with it what a step of S does to a margin: intervals of level 90 % then
hold 92 to 97 % of forecasts at known scales, and errors are 3 to 6 % larger (decision 0029).

At the scales that maximise the evidence (noise, drift, prior, effects of pairs) each explains what
is seen of it and no more,

    Σ step² / gap  =  drift_scale² γ

with γ how many of the steps the data determine (MacKay); first states, effects of
pairs and misses alike.  Setting each scale to what the others imply is repeated, in logarithms.
EM has the same fixed point and is far slower, as most steps of a sparse record are hardly
determined.  For readings and plain scores this is the maximum of the exact evidence; for wins it is
that of Laplace's approximation.

At a single solution (S, Q) the strengths look as if the exposures were known, and the other way
round, so that factors which the data hardly support seem to explain them ever better the faster
they drift: found so, drift is three to ten times too large (decision 0029).  Averaged over what is
not known of the partner, a cell's loss is to second order

    loss(x)  +  ½ curvature (sᵀ V_q s + qᵀ V_s q)

V the covariance of the partner's state: a penalty on each side by what is not known of the other
(mean field).  Supported factors hardly feel it; others shrink away.  It serves to find scales; the
final solve is without it.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from intransit.arrays import FloatArray, slices
from intransit.inference.assembly import Columns, Scales, rescale
from intransit.inference.draws import MarginQuery
from intransit.inference.gauge import balance, without_gauge
from intransit.inference.joint_newton import (
    DenseEquations,
    JointSolution,
    SparseEquations,
    is_small,
    solve_joint,
)
from intransit.inference.joint_problem import FactorStates, Joint, Noise, Squared
from intransit.inference.likelihood import settle

DENSE_LIMIT = 2_000  # unknowns

ACCURACY = 1e-3  # of the solves for draws: a thousandth of a standard deviation
THREADS = 2
AT_ONCE = 2_000  # questions whose variances are worked out at once
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
    def _curvature(self) -> FloatArray:
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
                half = self.dense.half_solve(query.part(here).rows(self.z))
                total[here] += np.sum(half**2, axis=0)
            return total
        if self._draws is None and len(total) <= FEW and not self.is_dense:
            return total + self._solved(query)
        draws = self._kept(rng)
        for step in draws.T:
            total += query.slopes(self.z, np.ascontiguousarray(step)) ** 2 / draws.shape[1]
        return total

    def _solved(self, query: MarginQuery) -> FloatArray:  # (n,)
        """Return variances gᵀ H⁻¹ g, a solve each: exact, and quicker than draws for a few."""
        equations = SparseEquations(self.problem, self.z, self._curvature)
        equations.prepare()
        rows = query.rows(self.z) * self.problem.free
        return np.array([g @ equations.solve(g, 0.0, accuracy=ACCURACY) for g in rows])

    def _kept(self, rng: np.random.Generator) -> FloatArray:
        if self._draws is None:
            self._draws = self.raw_draw(N_DRAWS, rng)
        return self._draws

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:  # (n_z, n)
        """Return draws of z less its mean, gauge left out."""
        return without_gauge(self.problem, self.z, self.raw_draw(n, rng))

    def raw_draw(self, n: int, rng: np.random.Generator) -> FloatArray:  # (n_z, n)
        """Return draws of z less its mean, gauge included."""
        if self.is_dense:
            return self.dense.draw(rng.normal(size=(int(np.count_nonzero(self.problem.free)), n)))
        return np.stack([step for step, _ in self.probes(n, rng)], axis=1)

    def probes(self, n: int, rng: np.random.Generator) -> Iterator[tuple[FloatArray, list[Noise]]]:
        """Yield draws by perturb-and-solve, each with the noise of the sides that made it."""
        return self.perturbed(rng.spawn(n))

    def perturbed(
        self, generators: list[np.random.Generator]
    ) -> Iterator[tuple[FloatArray, list[Noise]]]:
        """Yield a draw for each generator."""
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
    for step, noises in around.probes(n, np.random.default_rng(seed)):
        for k, (side, part) in enumerate(zip(problem.sides, problem.parts(step), strict=True)):
            totals[k] += np.stack(side.seen_noise(noises[k], part)) / n
    totals = [problem.total(total) for total in totals]
    return [(np.maximum(total[0], 0.0), np.maximum(total[1], 0.0)) for total in totals]


def _exactly_seen(around: Laplace) -> Seen:
    seen, begin = [], 0
    for side in around.problem.sides:
        first, step = _spreads(side, around.covariance, begin)
        begin += side.shape[0] * side.shape[1]
        seen.append(
            (
                np.maximum((len(side.firsts) - first / side.prior**2) * side.free, 0.0),
                np.maximum((len(side.steps) - step) * side.free, 0.0),
            )
        )
    return seen


def _spreads(
    side: FactorStates, covariance: FloatArray, begin: int
) -> tuple[FloatArray, FloatArray]:
    """Return Σ var(first) and Σ link · var(step), by column."""
    n, width = side.shape
    at = begin + np.arange(n * width).reshape(n, width)
    first = covariance[at[side.firsts], at[side.firsts]].sum(axis=0)
    now, before = at[side.steps], at[side.steps - 1]
    spread = covariance[now, now] + covariance[before, before] - 2 * covariance[now, before]
    return first, np.sum(spread * side.links[side.steps], axis=0)


SLOWEST, QUICKEST = 0.4, 4.0  # paces, of the step that one round implies
LONGEST = 1.5  # step of a log scale
CLOSE_AT_SCALE = 0.06  # there the penalties lag a round behind
CLOSE = 0.015  # change of a log scale that ends the search
MOST_ROUNDS = 40
ROUGH, FEW_STEPS = 0.3, 8  # log posterior left to gain, and steps, of a round at scale
LEAST_SEEN = 1e-2  # entries determined by the data: fewer say nothing of a scale
LARGEST = 30.0  # times the first guess
WILDEST = 10.0  # prior scales that a drift may cover over the whole time
STILL = 1e-3  # of the prior scale, over the whole time: slower is not told from standing still
STILL_SCORES = 2e-2  # the same for scores
LEAST = {"noise_scale": 1e-5, "prior_scale": 1e-2, "score_prior_scale": 3e-2, "pair_scale": 1e-4}
PRIOR_OF = {
    "drift_scale": "prior_scale",
    "exposure_drift_scale": "prior_scale",
    "score_drift_scale": "score_prior_scale",
    "pair_drift_scale": "pair_scale",
}


@dataclass(frozen=True, eq=False)
class Estimated:
    """Scales, and the solution at them."""

    scales: Scales
    problem: Joint
    solution: JointSolution
    converged: bool


def estimate_scales(
    problem: Joint,
    columns: Columns,
    scales: Scales,
    free: tuple[str, ...],  # names of the scales to be estimated
    z: FloatArray,
    *,
    tolerance: float,
    max_steps: int,
    seed: int,
) -> Estimated:
    """Return scales each of which is what the others imply, and the solution there.

    Each has a pace of its own: quicker for as long as it goes one way, slower when it turns.
    """
    close = CLOSE
    products = not problem.is_convex
    if products:
        problem = penalised(problem, z)
    if products and not is_small(problem):
        tolerance, max_steps, close = (
            max(tolerance, ROUGH),
            min(max_steps, FEW_STEPS),
            CLOSE_AT_SCALE,
        )
    solution = solve_joint(problem, z, tolerance=tolerance, max_steps=max_steps)
    first, span = scales, _span(problem)
    pace, before = np.ones(len(free)), np.zeros(len(free))
    converged = False
    for _ in range(MOST_ROUNDS):
        implied = imply(problem, columns, solution.z, scales, free, seed)
        here = np.array([np.log(getattr(scales, name)) for name in free])
        step = np.array([np.log(getattr(implied, name)) for name in free]) - here
        pace = np.clip(np.where(step * before < 0, 0.5, 1.5) * pace, SLOWEST, QUICKEST)
        before = step
        ahead = here + np.clip(pace * step, -LONGEST, LONGEST)
        values = dict(zip(free, np.exp(ahead).tolist(), strict=True))
        scales = _kept_in(replace(scales, **values), first, free, span)
        stopped = np.array([getattr(scales, name) != values[name] for name in free])
        problem = settle(rescale(problem, columns, scales), solution.z, roughly=True)
        if products:
            problem = penalised(problem, solution.z)
        solution = solve_joint(problem, solution.z, tolerance=tolerance, max_steps=max_steps)
        converged = bool((stopped | (np.abs(step) < close)).all())
        if converged:
            break
    return Estimated(scales, _with_extra(problem, None, None), solution, converged)


def penalised(problem: Joint, z: FloatArray) -> Joint:
    """Return the problem with the penalties that the present uncertainty of both sides implies.

    Of V its mean over the factors, so that a turn of the factors changes nothing.
    """
    curvature = problem.loss.terms(problem.margins(z))[1]
    both = problem.strengths.free & problem.exposures.free
    V_S, V_Q = (
        np.einsum("nkk->n", V[:, both][:, :, both]) / both.sum()
        for V in SparseEquations(problem, z, curvature).covariances()
    )
    a, b, c, d = problem.at_owners.T  # of S and of Q: x = S[a] @ Q[d] - S[b] @ Q[c]
    S = np.bincount(a, curvature * V_Q[d], len(V_S)) + np.bincount(b, curvature * V_Q[c], len(V_S))
    Q = np.bincount(d, curvature * V_S[a], len(V_Q)) + np.bincount(c, curvature * V_S[b], len(V_Q))
    return _with_extra(problem, S.astype(float)[:, None] * both, Q.astype(float)[:, None] * both)


def _with_extra(problem: Joint, S: FloatArray | None, Q: FloatArray | None) -> Joint:
    return replace(
        problem,
        strengths=replace(problem.strengths, extra=S),
        exposures=replace(problem.exposures, extra=Q),
    )


def _span(problem: Joint) -> float:
    axis = problem.strengths.chains.axis
    return float(axis[-1] - axis[0])


def _kept_in(scales: Scales, first: Scales, free: tuple[str, ...], span: float) -> Scales:
    """Return scales of which those that are free stay within reason.

    None vanishes so far that nothing could bring it back, and none runs away: a prior scale stays
    within reach of its first guess, a drift within reach of its prior scale.
    """
    root = np.sqrt(max(span, 1e-300))
    for name in sorted(free, key=lambda name: "drift" in name):  # priors first
        if "drift" in name:
            prior = getattr(scales, PRIOR_OF[name])
            still = STILL_SCORES if name == "score_drift_scale" else STILL
            low, high = still * prior / root, WILDEST * prior / root
        else:
            low, high = LEAST[name] * getattr(first, name), LARGEST * getattr(first, name)
        scales = replace(scales, **{name: float(np.clip(getattr(scales, name), low, high))})
    return scales


def imply(
    problem: Joint,
    columns: Columns,
    z: FloatArray,
    scales: Scales,
    free: tuple[str, ...],
    seed: int,
) -> Scales:
    """Return each free scale as the solution and the other scales imply it."""
    shares = measure(problem, z, seed)
    if not problem.is_convex:
        z = balance(problem, z, volume=excess(problem, shares))
        shares = measure(problem, z, seed)
    S, Q = shares[0], shares[1]
    found: dict[str, tuple[float, float]] = {}
    for kind, chosen in (("score_", columns.are_scores), ("", ~columns.are_scores)):
        which = chosen & problem.strengths.free
        found[kind + "prior_scale"] = (S.first[which].sum(), S.seen_first[which].sum())
        found[kind + "drift_scale"] = (S.step[which].sum(), S.seen_step[which].sum())
    moving = problem.exposures.free
    energy, seen = found["prior_scale"]
    found["prior_scale"] = (energy + Q.first[moving].sum(), seen + Q.seen_first[moving].sum())
    found["exposure_drift_scale"] = (Q.step[moving].sum(), Q.seen_step[moving].sum())
    if problem.effects is not None:
        E = shares[2]
        found["pair_scale"] = (E.first[0], E.seen_first[0])
        found["pair_drift_scale"] = (E.step[0], E.seen_step[0])
    if isinstance(problem.loss, Squared):
        total = sum(float((share.seen_first + share.seen_step).sum()) for share in shares)
        left = max(problem.loss.cells.n_rows - total, 1.0)
        found["noise_scale"] = (problem.loss.energy(problem.margins(z)), left)
    return replace(scales, **{name: _next(found[name], getattr(scales, name)) for name in free})


def _next(found: tuple[float, float], scale: float) -> float:
    """Return the scale that energy and count imply; where nothing is determined, a smaller one."""
    energy, seen = found
    if seen <= LEAST_SEEN:
        return scale * float(np.exp(-0.5 * LONGEST))
    return float(np.clip(np.sqrt(energy / seen), 1e-3 * scale, 1e3 * scale))
