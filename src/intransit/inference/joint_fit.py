"""From cells to a fitted model: what they connect, first guesses, starts, and scales.

Newton's method starts from the weighted program, on what scores alone leave unexplained.  At states
z the loss is, to second order, a weighted least-squares problem in the margins; added up over time,
pair by pair, it is the program of `recover`, which is solved from several starts of its own.  Its
static factors, given to all times, start the joint fit.  Times far from a chosen one count less, by
how far S will have drifted, as the paper weighs them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.data.cells import Cells, Rows, collapse_rows, merge_cells
from intransit.data.measurements import unfold
from intransit.errors import InputError
from intransit.inference.assembly import Columns, Pairs, Scales, assemble, fill_known
from intransit.inference.joint_newton import JointSolution, is_small, solve_joint
from intransit.inference.joint_problem import Joint
from intransit.inference.laplace import ROUNDS, estimate_scales, move_along_gauge
from intransit.inference.likelihood import far, first_law, law_of, settle
from intransit.inference.starts import attempt, best
from intransit.inference.weighted_program import Collapsed, Problem, Quadratic
from intransit.inference.weighted_solvers import newton
from intransit.model.laws import Kind


@dataclass(frozen=True, eq=False)
class Support:
    """Groups of items connected by comparisons, and the times at which each was compared."""

    n_items: int
    cells: Cells

    @cached_property
    def groups(self) -> IntArray:  # (n_items,)
        """Number of the group that each item belongs to."""
        i, j = self.cells.pairs.T
        graph = coo_array((np.ones(len(i)), (i, j)), shape=(self.n_items, self.n_items))
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)

    @cached_property
    def seen(self) -> tuple[FloatArray, FloatArray]:
        """First and last time at which each item was compared; never: an empty range."""
        low, high = np.full(self.n_items, np.inf), np.full(self.n_items, -np.inf)
        for side in (0, 1):
            np.minimum.at(low, self.cells.pairs[:, side], self.cells.times)
            np.maximum.at(high, self.cells.pairs[:, side], self.cells.times)
        return low, high

    def extrapolates(self, first: IntArray, second: IntArray, times: FloatArray) -> BoolArray:
        """Return whether each margin rests on the prior, being out of reach."""
        low, high = self.seen
        outside = np.zeros(len(first), bool)
        for items in (first, second):
            outside |= (times < low[items]) | (times > high[items])
        apart = self.groups[first] != self.groups[second]
        return np.asarray((apart | outside) & (first != second))

    def doubts(self) -> Iterator[str]:
        """Say what is out of reach altogether."""
        compared = np.isfinite(self.seen[0])
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


def tell_status(solution: JointSolution, scales_converged: bool) -> str:
    """Return what happened, in a sentence."""
    steps = solution.n_steps
    if not solution.converged:
        return (
            f"Stopped after {steps} steps before the optimum was reached; raise max_steps or "
            "lower n_factors."
        )
    if not scales_converged:
        return (
            "Reached an optimum, but the scales had not settled; give drift_scale or "
            "prior_scale, or fewer factors."
        )
    return (
        f"Reached an optimum in {steps} step{'' if steps == 1 else 's'}, gradient "
        f"{solution.gradient_size:.1e}."
    )


# Starts -------------------------------------------------------------------------------------------

SAME = 1e-6  # of the objective's own size: two minima that are one
SAME_GAIN = 0.1  # and of log posterior
MOST_PLACES = 6
ROUGHLY = 0.3  # log posterior left to gain, of large problems with factors


@dataclass(frozen=True, eq=False)
class Start:
    """One start, and what came of it."""

    name: str
    solution: JointSolution


def without_factors(problem: Joint, columns: Columns) -> FloatArray:
    """Return states that know nothing: zeros, and the known columns."""
    return fill_known(problem, columns, np.zeros(problem.cuts[-1]))


def solve_from_starts(
    problem: Joint,
    columns: Columns,
    scales: Scales,
    *,
    tolerance: float,
    max_steps: int,
    rng: np.random.Generator,
) -> tuple[Start, ...]:
    """Solve from as many starts as the problem needs, the best first."""
    if not problem.is_convex and not is_small(problem):
        tolerance = max(tolerance, ROUGHLY)  # the solution is moved from here anyway: see `volume`
    solve = partial(solve_joint, tolerance=tolerance, max_steps=max_steps)
    if problem.is_convex:
        return (Start("scores", solve(problem, without_factors(problem, columns))),)
    nothing = without_factors(problem, columns)
    most = MOST_PLACES if is_small(problem) else 1
    tried: list[Start] = []
    for name, place in _places(problem, columns, scales, nothing, rng):
        tried.append(Start(name, solve(problem, place)))
        lowest = min(start.solution.objective for start in tried)
        near = SAME * abs(lowest) + SAME_GAIN
        agree = sum(start.solution.objective <= lowest + near for start in tried)
        if agree >= 2 or len(tried) >= most:
            break
    return tuple(sorted(tried, key=lambda start: start.solution.objective))


def _places(
    problem: Joint,
    columns: Columns,
    scales: Scales,
    nothing: FloatArray,
    rng: np.random.Generator,
) -> Iterator[tuple[str, FloatArray]]:
    """Yield starts, the likeliest first: static factors for several times in question."""
    base, cells = _scores_first(problem, columns, nothing), problem.loss.cells
    last = len(cells.axis) - 1
    for k in range(MOST_PLACES):
        centre = (last, last // 2, 0)[k % 3] if last else 0
        forgetting = (1.0, 0.0, 1.0, 4.0, 0.25, 0.0)[k] if last else 0.0
        weights = _time_weights(cells, scales, centre, forgetting)
        name = f"time {cells.axis[centre]:g}" if forgetting else "all times alike"
        yield name, _static_factors(problem, columns, base, cells, weights, rng)
        if k == 0 and base is not nothing:  # what scores explain of a circle may hide it
            name = "factors before scores"
            yield name, _static_factors(problem, columns, nothing, cells, weights, rng)


def _scores_first(problem: Joint, columns: Columns, nothing: FloatArray) -> FloatArray:
    """Return states with scores fitted and factors at 0."""
    scores = columns.are_scores & columns.free_strengths
    if not scores.any():
        return nothing
    alone = replace(
        problem,
        strengths=replace(problem.strengths, free=scores),
        exposures=replace(problem.exposures, free=np.zeros_like(scores)),
        effects=None,
    )
    n = alone.cuts[-1]
    z = nothing.copy()
    z[:n] = solve_joint(alone, nothing[:n], tolerance=1.0).z
    return z


def _time_weights(cells: Cells, scales: Scales, centre: int, forgetting: float) -> FloatArray:
    """Return how much each cell tells about the matrix at the chosen time: (opt_w_na)."""
    age = np.abs(cells.times - cells.axis[centre])
    drift = scales.drift_scale**2 + scales.exposure_drift_scale**2
    noise = (scales.noise_scale / max(scales.prior_scale, 1e-12)) ** 2
    return np.asarray(1.0 / (1.0 + forgetting * 2.0 * drift * age / max(noise, 1e-30)))


def _static_factors(
    problem: Joint,
    columns: Columns,
    base: FloatArray,
    cells: Cells,
    weights: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return states whose factors explain, at all times alike, what base leaves unexplained."""
    both = np.flatnonzero(columns.free_strengths & columns.free_exposures)
    slope, curvature = problem.loss.terms(problem.margins(base))
    keys = cells.pair_keys(columns.n_items)
    distinct, pair = np.unique(keys, return_inverse=True)
    total = np.bincount(pair, curvature * weights).astype(float)
    target = np.bincount(pair, -slope * weights) / np.maximum(total, 1e-300)
    loss = Quadratic(total, target)
    data = Collapsed(unfold(distinct, columns.n_items), loss, n_repeats=0, evenness=1.0)
    ridge = float(1.0 / problem.exposures.prior[both[0]] ** 2)
    known = np.full((columns.n_items, 2 * len(both)), np.nan)
    question = Problem(data.pairs, loss, known, ridge)
    small = is_small(problem)  # otherwise a rough place to start from is all that is wanted
    restarts = 2 if small else 0
    solver = partial(newton, tolerance=1e-6 if small else 1e-3, max_steps=50 if small else 15)
    found = best(
        attempt(question, data, "spectral", solver, restarts=restarts, polished=False, rng=rng)
    )
    z = base.copy()
    S, Q, _ = problem.split(z)
    factors = found.solution.factors
    S[:, both] = factors[problem.strengths.chains.owners][:, : len(both)]
    Q[:, both] = factors[problem.exposures.chains.owners][:, len(both) :]
    return z


# Fits ---------------------------------------------------------------------------------------------

Auto = Literal["auto"]

UNSEEN_PAIRS = 0.03  # of the noise: effects of pairs below it would take a thousand readings
EXACT = 1e-6  # of the readings' size: less noise than that between repeats is rounding
MOST_TURNS = 20  # of cuts and states
SETTLED = 1e-3  # change of a cut or of the advantage that ends them


@dataclass(frozen=True)
class Given:
    """What the user set: scales or "auto", and how to solve."""

    noise_scale: float | Auto
    drift_scale: float | Auto
    prior_scale: float | Auto
    exposure_drift_scale: float | Auto
    score_drift_scale: float | Auto
    score_prior_scale: float | Auto
    pair_scale: float | Auto
    pair_drift_scale: float | Auto
    loss: Kind
    advantage: float | Auto  # of the better side
    tolerance: float
    max_steps: int
    seed: int

    def collapse(self, rows: Rows, n_items: int) -> Cells:
        """Return rows as cells, as this loss counts them."""
        return collapse_rows(
            rows, n_items, shares=self.loss == "logistic", levels=self.loss == "ordered"
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model with its scales, solved."""

    scales: Scales
    estimated: tuple[str, ...]
    problem: Joint
    pairs: Pairs
    solution: JointSolution
    starts: tuple[Start, ...]
    scales_converged: bool


def fit_model(cells: Cells, columns: Columns, given: Given) -> Fitted:
    """Fit one model: solve from several starts, at scales given or estimated."""
    scales, free = first_guess(cells, columns, given)
    law = first_law(given.loss, cells, 0.0 if given.advantage == "auto" else given.advantage)
    problem, pairs = assemble(cells, columns, scales, law, seeks_side=given.advantage == "auto")
    cells = problem.loss.cells  # in the order of its loops: large tables are not held twice
    starts = solve_from_starts(
        problem,
        columns,
        scales,
        tolerance=given.tolerance,
        max_steps=given.max_steps,
        rng=np.random.default_rng(given.seed),
    )
    solution, settled = starts[0].solution, True
    if free:
        found = estimate_scales(
            problem,
            columns,
            scales,
            free,
            solution.z,
            tolerance=max(given.tolerance, 1e-3),
            max_steps=given.max_steps,
            seed=given.seed,
        )
        if found.scales.pair_scale > 0 and "pair_scale" in free and _vanished(found.scales, given):
            return fit_model(cells, columns, replace(given, pair_scale=0.0, pair_drift_scale=0.0))
        problem, scales, settled = found.problem, found.scales, found.converged
        solution = solve_joint(
            problem, found.solution.z, tolerance=given.tolerance, max_steps=given.max_steps
        )
    problem, solution = _settle(problem, solution, given)
    solution = _move(problem, solution, given)
    return Fitted(scales, free, problem, pairs, solution, starts, settled)


def _settle(problem: Joint, solution: JointSolution, given: Given) -> tuple[Joint, JointSolution]:
    """Find cuts and advantage, if there are any to be found, and states, in turns."""
    for _ in range(MOST_TURNS):
        settled = settle(problem, solution.z)
        if far(law_of(problem), law_of(settled)) < SETTLED:
            break
        problem = settled
        solution = solve_joint(
            problem, solution.z, tolerance=given.tolerance, max_steps=given.max_steps
        )
    return problem, solution


def _move(
    problem: Joint, solution: JointSolution, given: Given, *, rounds: int = ROUNDS
) -> JointSolution:
    return move_along_gauge(
        problem,
        solution,
        tolerance=given.tolerance,
        max_steps=given.max_steps,
        seed=given.seed,
        rounds=rounds,
    )


def _vanished(scales: Scales, given: Given) -> bool:
    """Return whether effects of pairs have shrunk to nothing."""
    noise = scales.noise_scale if given.loss == "squared" else 1.0
    return scales.pair_scale < UNSEEN_PAIRS * noise


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
        wish = getattr(given, name)
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


def plain_columns(n_items: int, n_factors: int, *, scores: bool) -> Columns:
    """Return free columns, a column of scores before them if wanted."""
    S = np.full((n_items, n_factors + scores), np.nan)
    Q = S.copy()
    if scores:
        Q[:, 0] = 1.0
    return Columns(S, Q)


def check_more(problem: Joint, rows: Rows) -> None:
    """Refuse further rows that the law of a fit has no place for."""
    law = law_of(problem)
    if (problem.loss.cells.sides is None) != (rows.sides is None):
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


def refit(old: Fitted, more: Rows, columns: Columns, given: Given) -> Fitted:
    """Add rows to a fit at its scales, from where its states are."""
    n_items, levels = columns.n_items, given.loss == "ordered"
    seen = old.problem.loss.cells
    cells = merge_cells(seen, given.collapse(more, n_items), n_items, levels=levels)
    problem, pairs = assemble(cells, columns, old.scales, law_of(old.problem))
    z = fill_known(
        problem, columns, carry_over(old.problem, old.pairs, old.solution.z, problem, pairs)
    )
    solution = _continue(problem, z, given)
    start = Start("the trajectory so far", solution)
    return Fitted(old.scales, old.estimated, problem, pairs, solution, (start,), True)


def _continue(problem: Joint, z: FloatArray, given: Given) -> JointSolution:
    """Return the solution near z, the states of a shorter record, already moved along the gauge.

    At scale they are not brought back to the peak first: one further round is three times as quick.
    """
    tolerance, max_steps = given.tolerance, given.max_steps
    if not is_small(problem):
        here = JointSolution(z, np.zeros(0), True, 0.0, 0)
        moved = _move(problem, here, given, rounds=1)
        if moved is not here:
            return moved
    solution = solve_joint(problem, z, tolerance=tolerance, max_steps=max_steps, warm=True)
    return _move(problem, solution, given)


def carry_over(
    old: Joint, old_pairs: Pairs, z: FloatArray, new: Joint, new_pairs: Pairs
) -> FloatArray:
    """Return states of a larger problem, read off those of a smaller one at their own times."""
    out = np.zeros(new.cuts[-1])
    for side, before, part, states in zip(
        new.sides, old.sides, new.parts(out), old.parts(z), strict=True
    ):
        owners, times = side.chains.owners, side.chains.times
        if side is new.effects:
            keys = new_pairs.keys[owners]
            first, second = keys // new_pairs.n_items, keys % new_pairs.n_items
            owners, known = old_pairs.find(np.stack([first, second], axis=1))
        else:
            known = owners < before.chains.n_owners
            owners = np.where(known, owners, 0)
        low, high, share, _ = before.chains.around(owners, times)
        values = (1 - share[:, None]) * states[low] + share[:, None] * states[high]
        part[:] = np.where(known[:, None], values, 0.0)
    return out
