"""From cells to a fitted model: what they connect, scales from the data, a solution, more cells.

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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import BoolArray, FloatArray, IntArray, unfold
from intransit.checks import as_floats, broadcast, check_finite, check_pairs
from intransit.data.cells import Cells, Rows, collapse_rows, merge_cells
from intransit.errors import InputError
from intransit.inference.gauge import balance
from intransit.inference.joint_problem import Columns, Joint, Pairs, Scales, assemble, rescale
from intransit.inference.laplace import (
    MarginQuery,
    Spots,
    excess,
    measure,
    move_along_gauge,
)
from intransit.inference.likelihood import far, first_law
from intransit.inference.newton import JointSolution, SparseEquations, is_small, solve_joint
from intransit.inference.observations import Seen
from intransit.inference.posterior import MOST_MARGINS, check_entries
from intransit.model.laws import Kind
from intransit.skew import fill_skew
from intransit.study import connected


@dataclass(frozen=True, eq=False)
class Support:
    """Groups of items connected by comparisons, and the times at which each was compared."""

    n_items: int
    cells: Cells

    @cached_property
    def groups(self) -> IntArray:  # (n_items,)
        """Number of the group that each item belongs to."""
        return connected(self.cells.pairs, self.n_items)

    @cached_property
    def seen(self) -> Seen:
        """When each item was compared."""
        cells = self.cells
        first, second = cells.pairs.T
        return Seen.among(first, second, cells.times, cells.counts, self.n_items)

    def extrapolates(self, first: IntArray, second: IntArray, times: FloatArray) -> BoolArray:
        """Return whether each margin rests on the prior, being out of reach."""
        outside = np.zeros(len(first), bool)
        for items in (first, second):
            outside |= (times < self.seen.first[items]) | (times > self.seen.last[items])
        apart = self.groups[first] != self.groups[second]
        return np.asarray((apart | outside) & (first != second))

    def doubts(self) -> Iterator[str]:
        """Say what is out of reach altogether."""
        compared = self.seen.games > 0
        absent = np.flatnonzero(~compared)
        if len(absent):
            yield (
                f"{len(absent)} of {self.n_items} items were never compared (the first is item "
                f"{absent[0]}): their margins are the prior's."
            )
        n_groups = len(np.unique(self.groups[compared]))
        if n_groups > 1:
            yield (
                f"The items form {n_groups} groups with no comparison between them: margins "
                "across groups are the prior's; see `groups` and `extrapolated`."
            )


# Scales -------------------------------------------------------------------------------------------

SLOWEST, QUICKEST = 0.4, 4.0  # paces, of the step that one round implies
LONGEST = 1.5  # step of a log scale
CLOSE_AT_SCALE = 0.06  # there the penalties lag a round behind
CLOSE = 0.015  # change of a log scale that ends the search
MOST_ROUNDS = 40
ROUGH, FEW_STEPS = 0.3, 8  # log posterior left to gain, and steps, of a round at scale
LEAST_SEEN = 1e-2  # entries determined by the data: fewer say nothing of a scale
MOST_GROWTH = 30.0  # times the first guess
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
    close, products = CLOSE, not problem.is_convex
    if products:
        problem = penalised(problem, z)
    if products and not is_small(problem):
        tolerance, max_steps = max(tolerance, ROUGH), min(max_steps, FEW_STEPS)
        close = CLOSE_AT_SCALE
    solution = solve_joint(problem, z, tolerance=tolerance, max_steps=max_steps)
    first, axis = scales, problem.strengths.chains.axis
    span = float(axis[-1] - axis[0])
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
        problem = rescale(problem, columns, scales).settled(solution.z, roughly=True)
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
    a, b, c, d = problem.places.T  # of S and of Q: x = S[a] @ Q[d] - S[b] @ Q[c]
    S = np.bincount(a, curvature * V_Q[d], len(V_S)) + np.bincount(b, curvature * V_Q[c], len(V_S))
    Q = np.bincount(d, curvature * V_S[a], len(V_Q)) + np.bincount(c, curvature * V_S[b], len(V_Q))
    return _with_extra(problem, S.astype(float)[:, None] * both, Q.astype(float)[:, None] * both)


def _with_extra(problem: Joint, S: FloatArray | None, Q: FloatArray | None) -> Joint:
    return replace(
        problem,
        strengths=replace(problem.strengths, extra=S),
        exposures=replace(problem.exposures, extra=Q),
    )


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
            low, high = LEAST[name] * getattr(first, name), MOST_GROWTH * getattr(first, name)
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
    if problem.law.kind == "squared":
        total = sum(float((share.seen_first + share.seen_step).sum()) for share in shares)
        left = max(problem.cells.n_rows - total, 1.0)
        found["noise_scale"] = (problem.loss.energy(problem.margins(z)), left)
    return replace(scales, **{name: _next(found[name], getattr(scales, name)) for name in free})


def _next(found: tuple[float, float], scale: float) -> float:
    """Return the scale that energy and count imply; where nothing is determined, a smaller one."""
    energy, seen = found
    if seen <= LEAST_SEEN:
        return scale * float(np.exp(-0.5 * LONGEST))
    return float(np.clip(np.sqrt(energy / seen), 1e-3 * scale, 1e3 * scale))


# Fits ---------------------------------------------------------------------------------------------

Auto = Literal["auto"]

UNSEEN_PAIRS = 0.03  # of the noise: effects of pairs below it would take a thousand readings
EXACT = 1e-6  # of the readings' size: less noise than that between repeats is rounding
MOST_TURNS = 20  # of cuts and states
SETTLED = 1e-3  # change of a cut or of the advantage that ends them


@dataclass(frozen=True)
class Given:
    """What the user set: scales or "auto", and how to solve."""

    scales: Mapping[str, float | Auto]  # by their names in `Scales`
    loss: Kind
    advantage: float | Auto  # of the better side
    tolerance: float
    max_steps: int
    seed: int

    @property
    def limits(self) -> dict[str, Any]:
        """When a solver stops."""
        return {"tolerance": self.tolerance, "max_steps": self.max_steps}

    def collapse(self, rows: Rows, n_items: int) -> Cells:
        """Return rows as cells, as this loss counts them."""
        return collapse_rows(
            rows, n_items, shares=self.loss == "logistic", levels=self.loss == "ordered"
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model with its scales, solved."""

    settings: Given
    columns: Columns
    scales: Scales
    estimated: tuple[str, ...]  # names of the scales that came from the data
    problem: Joint  # the question, as arrays
    pairs: Pairs
    solution: JointSolution
    starts: tuple[tuple[str, float], ...]  # where the solver started, and the objective it reached
    scales_converged: bool


class MarginsInTime:
    """What a trajectory and draws of it answer alike."""

    @property
    def _solved(self) -> Fitted:
        raise NotImplementedError

    @property
    def _most_margins(self) -> int:
        return MOST_MARGINS

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._solved.columns.n_items

    @property
    def times(self) -> FloatArray:  # (n_periods,)
        """The distinct times of the comparisons."""
        return self._solved.problem.cells.axis

    @property
    def n_periods(self) -> int:
        """Number of distinct times."""
        return len(self.times)

    @property
    def margins(self) -> FloatArray:  # (..., n_periods, n_items, n_items)
        """Margins at every time; entry (t, i, j) > 0 favours i.  For many items ask `margin`."""
        return self.matrix(self.times)

    def matrix(self, at: ArrayLike | None = None) -> FloatArray:
        """Return the whole matrix of margins at a time, or at several.

        Parameters
        ----------
        at
            The time, or an array of times; by default the last observed.

        Returns
        -------
        numpy.ndarray
            Margins, ([n_draws,] [n_times,] n_items, n_items).

        Raises
        ------
        InputError
            If a time is not finite, or more margins are asked for than memory holds.
        """
        asked = self._all_pairs("matrix", self.times[-1] if at is None else at)
        return fill_skew(self.margin(*asked), self.n_items)

    def margin(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> FloatArray:
        """Return the margin of first over second at any time."""
        raise NotImplementedError

    def _all_pairs(self, where: str, at: ArrayLike) -> tuple[IntArray, IntArray, FloatArray]:
        times = as_times(at)
        check_entries(times.size * self.n_items**2, where, self._most_margins)
        return *np.triu_indices(self.n_items, 1), times[..., None]

    def _query(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None
    ) -> tuple[MarginQuery, tuple[int, ...]]:
        """Return the question after some margins, and the shape of its answer."""
        when = as_times(self.times[-1] if at is None else at)
        i, j, times = broadcast("margin", first=first, second=second, at=when)
        pairs = check_pairs(np.stack([i.ravel(), j.ravel()], axis=1), self.n_items, "margin")
        asked = pairs[:, 0], pairs[:, 1], times.ravel().astype(float)
        return MarginQuery(self._solved.problem, self._solved.pairs, *asked), i.shape


def as_times(at: ArrayLike) -> FloatArray:
    """Return times as numbers, or refuse what is not finite."""
    times = as_floats(at, "at")
    check_finite(np.atleast_1d(times), "at")
    return times


def fit_model(cells: Cells, columns: Columns, given: Given) -> Fitted:
    """Fit one model: solve from several starts, at scales given or estimated."""
    scales, free = first_guess(cells, columns, given)
    seeks_side = given.advantage == "auto"
    law = first_law(given.loss, cells, 0.0 if given.advantage == "auto" else given.advantage)
    problem, pairs = assemble(cells, columns, scales, law, seeks_side=seeks_side)
    cells = problem.cells  # in the order of its loops: large tables are not held twice
    solved = _from_starts(problem, columns, scales, given)
    starts = tuple((one.start, one.objective) for one in solved)
    solution, settled = solved[0], True
    if free:
        limits = {**given.limits, "tolerance": max(given.tolerance, 1e-3)}
        found = estimate_scales(
            problem, columns, scales, free, solution.z, **limits, seed=given.seed
        )
        noise = found.scales.noise_scale if given.loss == "squared" else 1.0
        if "pair_scale" in free and 0.0 < found.scales.pair_scale < UNSEEN_PAIRS * noise:
            without = {**given.scales, "pair_scale": 0.0, "pair_drift_scale": 0.0}
            return fit_model(cells, columns, replace(given, scales=without))
        problem, scales, settled = found.problem, found.scales, found.converged
        solution = solve_joint(problem, found.solution.z, **given.limits)
    problem, solution = _settle(problem, solution, given)
    solution = move_along_gauge(problem, solution, **given.limits, seed=given.seed)
    return Fitted(given, columns, scales, free, problem, pairs, solution, starts, settled)


def _from_starts(
    problem: Joint, columns: Columns, scales: Scales, given: Given
) -> tuple[JointSolution, ...]:
    """Return solutions from as many starts as the problem needs, the best first."""
    if problem.is_convex:
        solution = solve_joint(problem, problem.without_factors(columns), **given.limits)
        return (replace(solution, start="scores"),)
    from intransit.inference.joint_starts import solve_from_starts  # noqa: PLC0415  if there are factors

    rng = np.random.default_rng(given.seed)
    return solve_from_starts(problem, columns, scales, **given.limits, rng=rng)


def _settle(problem: Joint, solution: JointSolution, given: Given) -> tuple[Joint, JointSolution]:
    """Find cuts and advantage, if there are any to be found, and states, in turns."""
    for _ in range(MOST_TURNS):
        settled = problem.settled(solution.z)
        if far(problem.law, settled.law) < SETTLED:
            break
        problem = settled
        solution = solve_joint(problem, solution.z, **given.limits)
    return problem, solution


def first_guess(cells: Cells, columns: Columns, given: Given) -> tuple[Scales, tuple[str, ...]]:
    """Return scales to start from, and the names of those to be estimated."""
    readings = given.loss == "squared"
    size = (float(np.sqrt(np.mean(cells.means**2))) or 1.0) if readings else 1.0
    span = float(cells.axis[-1] - cells.axis[0])
    slow = 0.3 / np.sqrt(span) if span > 0 else 0.0
    scores = bool((columns.are_scores & columns.free_strengths).any())
    factors = ~columns.are_scores
    prior = (size**2 / max(2 * int(factors.sum()), 1)) ** 0.25
    repeats = cells.n_rows - len(cells)
    noise = np.sqrt(cells.spread / repeats) if repeats >= 5 and cells.spread > 0 else 0.1 * size
    noise = max(noise, EXACT * size)
    guesses = {
        "noise_scale": (float(noise), readings),
        "drift_scale": (prior * slow, bool((factors & columns.free_strengths).any()) and span > 0),
        "prior_scale": (prior, bool(factors.any())),
        "exposure_drift_scale": (0.5 * prior * slow, bool(factors.any()) and span > 0),
        "score_drift_scale": (size * slow, scores and span > 0),
        "score_prior_scale": (size / np.sqrt(2), scores),
        "pair_scale": (0.3 * size, True),
        "pair_drift_scale": (0.3 * size * slow, span > 0),
    }
    values, free = {}, []
    for name, (guess, used) in guesses.items():
        wish = given.scales[name]
        if wish == "auto":
            idle = 0.0 if "drift" in name or name == "pair_scale" else 1.0
            values[name] = float(guess) if used else idle
            if used:
                free.append(name)
        else:
            values[name] = float(wish)
    if values["pair_scale"] == 0.0:
        values["pair_drift_scale"] = 0.0
        free = [name for name in free if name != "pair_drift_scale"]
    return Scales(**values), tuple(free)


def check_more(problem: Joint, rows: Rows) -> None:
    """Refuse further rows that the law of a fit has no place for."""
    law = problem.law
    if (problem.cells.sides is None) != (rows.sides is None):
        raise InputError(
            "update: sides must be given for all comparisons or for none; fit everything again, "
            "or give them as before."
        )
    if law.levels:
        wrong = np.abs(rows.outcomes) > len(law.cuts)
        if law.cuts[0] == 0.0:
            wrong |= rows.outcomes == 0
        if wrong.any():
            bad = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"update: outcome {bad} is {rows.outcomes[bad]:g}, a level that did not occur "
                "before; fit everything again."
            )


FittedT = TypeVar("FittedT", bound=Fitted)


def refit(old: FittedT, more: Rows, columns: Columns) -> FittedT:
    """Add rows to a fit at its scales, from where its states are."""
    n_items, given = columns.n_items, old.settings
    new = given.collapse(more, n_items)
    cells = merge_cells(old.problem.cells, new, n_items, levels=given.loss == "ordered")
    problem, pairs = assemble(cells, columns, old.scales, old.problem.law)
    z = problem.fill_known(columns, carry_over(old, problem, pairs))
    solution = _continue(problem, z, given)
    return replace(
        old,
        columns=columns,
        problem=problem,
        pairs=pairs,
        solution=solution,
        starts=(("the trajectory so far", solution.objective),),
    )


def _continue(problem: Joint, z: FloatArray, given: Given) -> JointSolution:
    """Return the solution near z, the states of a shorter record, already moved along the gauge.

    At scale they are not brought back to the peak first: one further round is three times as quick.
    """
    if not is_small(problem):
        here = JointSolution(np.zeros(0), True, z, 0.0, 0)
        moved = move_along_gauge(problem, here, **given.limits, seed=given.seed, rounds=1)
        if moved is not here:
            return moved
    near = solve_joint(problem, z, **given.limits, warm=True)
    return move_along_gauge(problem, near, **given.limits, seed=given.seed)


def carry_over(old: Fitted, new: Joint, pairs: Pairs) -> FloatArray:
    """Return states of a larger problem, read off those of a smaller one at their own times."""
    out, shorter = np.zeros(new.cuts[-1]), old.problem
    for side, before, part, states in zip(
        new.sides, shorter.sides, new.parts(out), shorter.parts(old.solution.z), strict=True
    ):
        owners, times = side.chains.owners, side.chains.times
        if side is new.effects:
            owners, known = old.pairs.find(unfold(pairs.keys[owners], pairs.n_items))
        else:
            known = owners < before.chains.n_owners
            owners = np.where(known, owners, 0)
        values = Spots(before, owners, times).read(states)
        part[:] = np.where(known[:, None], values, 0.0)
    return out
