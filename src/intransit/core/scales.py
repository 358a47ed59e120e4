"""Scales from the data: noise, drift, prior, effects of pairs.

At the scales that maximise the evidence each explains what is seen of it and no more,

    Σ step² / gap  =  drift_scale² γ

with γ how many of the steps the data determine (MacKay; see `volume`); first states, effects of
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

from dataclasses import dataclass, replace

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.assembly import Columns, Scales, rescale
from intransit.core.gauge import balance
from intransit.core.joint import Joint, Squared
from intransit.core.joint_newton import JointSolution, is_small, solve_joint
from intransit.core.joint_system import SparseEquations
from intransit.core.law import settle
from intransit.core.volume import excess, measure

SLOWEST, QUICKEST = 0.4, 4.0  # paces, of the step that one round implies
LONGEST = 1.5  # step of a log scale
CLOSE_AT_SCALE = 0.06  # there the penalties lag a round behind
CLOSE = 0.015  # change of a log scale that ends the search
MOST_ROUNDS = 40
ROUGH, FEW = 0.3, 8  # log posterior left to gain, and steps, of a round at scale
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
        tolerance, max_steps, close = max(tolerance, ROUGH), min(max_steps, FEW), CLOSE_AT_SCALE
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
    a, b, c, d = problem.at.T  # of S and of Q: x = S[a] @ Q[d] - S[b] @ Q[c]
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
