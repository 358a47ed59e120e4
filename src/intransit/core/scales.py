"""Scales from the data: noise, drift, prior, effects of pairs.

At the scales that maximise the evidence each explains what is seen of it and no more,

    Σ step² / gap  =  drift_scale² γ,      γ = number of steps - Σ (posterior / prior variance)

with γ how many of the steps the data determine (MacKay); first states, effects of pairs and misses
alike.  Setting each scale to what the others imply is repeated, in logarithms.  EM has the same
fixed point and is far slower, as most steps of a sparse record are hardly determined.  γ is exact
for small problems; at scale it is estimated from a few draws, always of the same seed, so that what
is iterated is one fixed map.

Factors are held by what is not known of their partners (see `ensemble`); otherwise those that data
hardly support would drift ever faster.  The map looks at one solution at a time and does not see
that the solution moves with the scales; so for small problems the evidence itself (Laplace, with
the whole determinant) is then climbed over noise, drift and effects of pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from intransit.arrays import FloatArray
from intransit.core.assembly import Columns, Scales, rescale
from intransit.core.ensemble import unsure
from intransit.core.gauge import balance
from intransit.core.joint import Joint, Squared
from intransit.core.joint_newton import JointSolution, is_small, solve_joint
from intransit.core.law import settle
from intransit.core.posterior import Posterior
from intransit.core.sides import Side

SLOWEST, QUICKEST = 0.4, 4.0  # paces, of the step that one round implies
LONGEST = 1.5  # step of a log scale
CLOSE_AT_SCALE = 0.06  # there the penalties lag a round behind
CLOSE = 0.015  # change of a log scale that ends the search
MOST_ROUNDS = 40
CLIMB_LIMIT = 500  # unknowns
EXACT_LIMIT = 600  # unknowns up to which γ is exact: beyond it draws are far quicker
FIRST_REACH, WIDEST = 0.7, 12.0  # of the climb, in log scales
DRAWN = 4_000  # entries of draws in all, at least: keeps the noise of a scale near 2 %
ROUGH, FEW = 0.3, 8  # log posterior left to gain, and steps, of a round at scale
LEAST_SEEN = 1e-2  # entries determined by the data: fewer say nothing of a scale
CLIMBED = ("noise_scale", "drift_scale", "pair_scale")
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
    n_rounds: int
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
    climb: bool = True,
    report: Callable[[int, Scales], None] | None = None,
) -> Estimated:
    """Return scales each of which is what the others imply, and the solution there."""
    answer = _iterate(problem, columns, scales, free, z, tolerance, max_steps, seed, report)
    few = np.count_nonzero(problem.free) <= CLIMB_LIMIT
    if climb and few and not problem.is_convex:
        return _climb(answer, columns, free, tolerance, max_steps)
    return answer


def _iterate(
    problem: Joint,
    columns: Columns,
    scales: Scales,
    free: tuple[str, ...],
    z: FloatArray,
    tolerance: float,
    max_steps: int,
    seed: int,
    report: Callable[[int, Scales], None] | None,
) -> Estimated:
    """Set each scale to what the others imply, over and over.

    Each has a pace of its own: quicker for as long as it goes one way, slower when it turns.
    """
    close = CLOSE
    ensemble = not problem.is_convex
    if ensemble:
        problem = unsure(problem, z)
    if ensemble and not is_small(problem):
        tolerance, max_steps, close = max(tolerance, ROUGH), min(max_steps, FEW), CLOSE_AT_SCALE
    solution = solve_joint(problem, z, tolerance=tolerance, max_steps=max_steps)
    first, span = scales, _span(problem)
    pace, before = np.ones(len(free)), np.zeros(len(free))
    for n_rounds in range(1, MOST_ROUNDS + 1):
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
        if ensemble:
            problem = unsure(problem, solution.z)
        solution = solve_joint(problem, solution.z, tolerance=tolerance, max_steps=max_steps)
        if report is not None:
            report(n_rounds, scales)
        if (stopped | (np.abs(step) < close)).all():
            break
    converged = n_rounds < MOST_ROUNDS
    return Estimated(scales, replace(problem, blocks=None), solution, n_rounds, converged)


def _climb(
    answer: Estimated, columns: Columns, free: tuple[str, ...], tolerance: float, max_steps: int
) -> Estimated:
    """Return the scales of largest evidence near those of an answer.

    Only of those that trade against each other: noise, drift, and effects of pairs.
    """
    free = tuple(name for name in free if name in CLIMBED)
    if not free:
        return answer
    here, span = [answer.solution.z], _span(answer.problem)

    def at(logs: FloatArray) -> tuple[Scales, Joint, JointSolution]:
        values = dict(zip(free, np.exp(logs).tolist(), strict=True))
        scales = _kept_in(replace(answer.scales, **values), answer.scales, free, span)
        problem = rescale(answer.problem, columns, scales)
        solution = solve_joint(problem, here[0], tolerance=tolerance, max_steps=max_steps)
        here[0] = solution.z
        return scales, problem, solution

    def cost(logs: FloatArray) -> float:
        if np.abs(logs - start).max() > WIDEST:
            return np.inf
        _, problem, solution = at(logs)
        return -evidence(problem, solution.z)

    start = np.log([getattr(answer.scales, name) for name in free])
    found = minimize(
        cost,
        start,
        method="Nelder-Mead",
        options={
            "initial_simplex": start
            + FIRST_REACH * np.vstack([np.zeros(len(free)), -np.eye(len(free))]),
            "xatol": CLOSE * 3,
            "fatol": 0.05,
            "maxfev": 60 * len(free),
        },
    )
    scales, problem, solution = at(found.x)
    return Estimated(scales, problem, solution, answer.n_rounds + found.nfev, converged=True)


def evidence(problem: Joint, z: FloatArray) -> float:
    """Return the log of the Laplace evidence at a minimum, taken where the gauge has its mass."""
    if not problem.is_convex:
        z = balance(problem, z, volume=excess(problem, measure(problem, z, seed=0)))
    posterior = Posterior(problem, z, dense=True)
    value = problem.loss.value(problem.margins(z)) + problem.penalty(z)
    prior = sum(side.half_log_determinant() for side in problem.sides)
    return prior - value - float(np.sum(np.log(posterior.dense.root.diagonal())))


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


@dataclass(frozen=True, eq=False)
class Share:
    """Of one side, by column: energies at the solution, and how much of them the data determine."""

    first: FloatArray  # Σ first states²
    step: FloatArray  # Σ step² / gap
    seen_first: FloatArray  # how many first states the data determine
    seen_step: FloatArray


def measure(problem: Joint, z: FloatArray, seed: int) -> list[Share]:
    """Return the shares of all sides around z."""
    n_free = int(np.count_nonzero(problem.free))
    posterior = Posterior(problem, z, dense=n_free <= EXACT_LIMIT)
    seen = _exactly_seen(posterior) if posterior.is_dense else _seen_by_draws(posterior, seed)
    return [
        Share(*side.energies(part), *counts)
        for side, part, counts in zip(problem.sides, problem.parts(z), seen, strict=True)
    ]


def excess(problem: Joint, shares: list[Share]) -> float:
    """Return how many more entries of a column of S than of Q the data determine."""
    both = problem.strengths.free & problem.exposures.free
    if not both.any():
        return 0.0
    S, Q = (share.seen_first + share.seen_step for share in shares[:2])
    return float(np.mean(S[both] - Q[both]))


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


Seen = list[tuple[FloatArray, FloatArray]]  # by side: first states and steps, by column


def _seen_by_draws(posterior: Posterior, seed: int) -> Seen:
    problem = posterior.problem
    n = int(np.clip(np.ceil(DRAWN / problem.strengths.shape[0]), 2, 50))
    totals = [np.zeros((2, side.shape[1])) for side in problem.sides]
    for step, noises in posterior.probes(n, np.random.default_rng(seed)):
        for k, (side, part) in enumerate(zip(problem.sides, problem.parts(step), strict=True)):
            totals[k] += np.stack(side.seen_noise(noises[k], part)) / n
    return [(np.maximum(total[0], 0.0), np.maximum(total[1], 0.0)) for total in totals]


def _exactly_seen(posterior: Posterior) -> Seen:
    seen, begin = [], 0
    for side in posterior.problem.sides:
        first, step = _spreads(side, posterior.covariance, begin)
        begin += side.shape[0] * side.shape[1]
        seen.append(
            (
                np.maximum((len(side.firsts) - first / side.prior**2) * side.free, 0.0),
                np.maximum((len(side.steps) - step) * side.free, 0.0),
            )
        )
    return seen


def _spreads(side: Side, covariance: FloatArray, begin: int) -> tuple[FloatArray, FloatArray]:
    """Return Σ var(first) and Σ link · var(step), by column."""
    n, width = side.shape
    at = begin + np.arange(n * width).reshape(n, width)
    first = covariance[at[side.firsts], at[side.firsts]].sum(axis=0)
    now, before = at[side.steps], at[side.steps - 1]
    spread = covariance[now, now] + covariance[before, before] - 2 * covariance[now, before]
    return first, np.sum(spread * side.links[side.steps], axis=0)
