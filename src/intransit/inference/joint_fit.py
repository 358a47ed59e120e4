"""From cells to a fitted model: what they connect, first guesses, starts, and scales."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.data.cells import Cells, Rows, collapse_rows, merge_cells
from intransit.errors import InputError
from intransit.inference.assembly import Columns, Pairs, Scales, assemble, fill_known
from intransit.inference.joint_newton import (
    JointSolution,
    Start,
    is_small,
    solve_from_starts,
    solve_joint,
)
from intransit.inference.joint_problem import Joint
from intransit.inference.laplace import ROUNDS, estimate_scales, move_along_gauge
from intransit.inference.likelihood import far, first_law, law_of, settle
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
