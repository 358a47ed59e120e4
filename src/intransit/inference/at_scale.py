"""The posterior of a table: by chains where time allows, else with scales from a part of it.

A sweep costs one pass over cells and states.  Where the chains would take longer than the time that
is given, scales are drawn from a sub-population: whole items with all games among them, as many as
chains can take.  Scales are the same for all items, so they carry over.  All states then come from
Newton's method at those scales, with draws of the Gaussian around its solution.  A term that the
sub-population shows to be negligible is left out there; the notes say which.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from intransit.arrays import FloatArray
from intransit.draws import TrajectoryDraws
from intransit.errors import InputError
from intransit.inference.layout import Layout, lay_out
from intransit.inference.observations import Observations
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws, Effort, Mixing, Report, sample
from intransit.model.laws import OutcomeLaw
from intransit.model.terms import Factors, Model, PairEffects, Scores, Side, Term
from intransit.smooth import smooth
from intransit.timeline import Timeline
from intransit.trajectory import Trajectory, posterior_of_path

if TYPE_CHECKING:
    from intransit.inference.workers import Placement

N_SWEEPS = 400  # of each chain, that a table usually takes
SUB_GAMES = 12_000  # of a sub-population: scales are known to some per cent from so many
SUB_EFFECTIVE = 40.0
SUB_TIME = 0.5  # of the time, for the sub-population
NEGLIGIBLE = 0.15  # log odds: size of a term that is left out at scale
SURELY = 0.1  # share of the draws of its size that may lie below that
MOST_NUMBERS = 60_000_000  # of all draws of a large answer
FEWEST_DRAWS, MOST_DRAWS = 24, 60

Columns = Mapping[type[Term], int]  # where draws have the scales of each kind of further term


def draw_posterior(
    seen: Observations,
    model: Model,
    law: OutcomeLaw,
    effort: Effort,
    *,
    rng: np.random.Generator,
    report: Report = lambda _: None,
    placement: "Placement | None" = None,
) -> Posterior:
    """Return the posterior of a model, given some observations.

    With a placement, states are always found by Newton's method, by the workers there.
    """
    layout = lay_out(seen, model)
    if placement is not None:
        if law.kind == "squared":
            raise InputError("on: readings of margins are drawn in one process; leave it out.")
        asked = seen, model, law, effort, rng.bit_generator.state["state"]
        with placement.folder(asked) as folder:
            return _from_a_part(layout, law, effort, rng, report, (placement, folder))
    if seconds_a_sweep(layout) * N_SWEEPS <= effort.seconds or law.kind == "squared":
        draws, mixing = sample(layout, law, effort, rng=rng, report=report)
        return Posterior(layout, law, draws, mixing)
    return _from_a_part(layout, law, effort, rng, report)


def seconds_a_sweep(layout: Layout) -> float:
    """Return about how long a sweep takes on one core: a formula, so that the choice is the same.

    Fitted to sweeps of 10,000 to 1,000,000 games (`python -m benchmarks sampler`).
    """
    d = 1 + 2 * layout.n_factors
    numbers = sum(one.paths.n_states for one in layout.numbers)
    by_cell = 0.45e-6 + 0.012e-6 * d * d
    return len(layout.seen) * by_cell + layout.items.n_states * 0.022e-6 * d * d + 0.1e-6 * numbers


def sub_population(seen: Observations, n_games: float, rng: np.random.Generator) -> Observations:
    """Return all games among some items: as few as have so many games among them.

    Items join by how many games they have with those already in, beginning with one at random.
    """
    n = seen.n_items
    i, j = seen.pairs.T
    order = np.argsort(np.concatenate([i, j]), kind="stable")
    begin = np.searchsorted(np.concatenate([i, j])[order], np.arange(n + 1))
    other, games = np.concatenate([j, i])[order], np.tile(seen.counts, 2)[order]
    inside, ties, total = np.zeros(n, bool), np.zeros(n), 0.0
    activity = np.bincount(seen.pairs.ravel(), np.repeat(seen.counts, 2), minlength=n)
    front = [int(rng.choice(n, p=activity / activity.sum()))]
    while total < n_games and front:
        # The best of a few candidates: nearly the best of all, and quick.
        best = max(range(len(front)), key=lambda k: ties[front[k]])
        item = front.pop(best)
        if inside[item]:
            continue
        inside[item] = True
        total += ties[item]
        here = slice(begin[item], begin[item + 1])
        np.add.at(ties, other[here], games[here])
        fresh = np.unique(other[here][~inside[other[here]]])
        front = (front + fresh[np.argsort(-ties[fresh], kind="stable")[:40]].tolist())[-400:]
        if not front:
            left = np.flatnonzero(~inside)
            front = [int(rng.choice(left))] if len(left) else []
    return _among(seen, inside)


def _among(seen: Observations, inside: np.ndarray) -> Observations:
    """Return the observations among some items, numbered anew."""
    rows = inside[seen.pairs].all(axis=1)
    place = np.cumsum(inside) - 1
    return Observations(
        seen.kind,
        int(inside.sum()),
        place[seen.pairs[rows]],
        seen.times[rows],
        seen.counts[rows],
        seen.means[rows],
        seen.sides[rows],
        seen.codes[:, rows],
        int(rows.sum()),
        0.0,
        seen.values,
    )


def _from_a_part(
    layout: Layout,
    law: OutcomeLaw,
    effort: Effort,
    rng: np.random.Generator,
    report: Report,
    place: "tuple[Placement, Path] | None" = None,
) -> Posterior:
    """Draw scales from a sub-population, then states by Newton's method, here or by workers."""
    seen, model = layout.seen, layout.model
    part = sub_population(seen, SUB_GAMES, rng)
    report(f"drawing scales from {part.n_items:,} of {seen.n_items:,} items")
    few = Effort(SUB_EFFECTIVE, SUB_TIME * effort.seconds, effort.chains, most_draws=100)
    own = rng if place is None else rng.spawn(1)[0]  # what is kept uses up no numbers

    def draw() -> tuple[Draws, Mixing]:
        return sample(lay_out(part, model), law, few, rng=own, report=report)

    if place is None:
        drawn, mixing = draw()
    else:
        from intransit.inference.workers import once, solve_on_workers  # noqa: PLC0415  if asked

        drawn, mixing = once(place[1], draw)
    kept, left_out = _terms_that_matter(lay_out(part, model), drawn)
    report("finding all states by Newton's method")
    columns: Columns = {type(one.term): k for k, one in enumerate(layout.numbers)}
    settings = _settings(kept, drawn, columns, law, rng)
    data, states = _timeline(seen, kept), None
    if place is None:
        path = smooth(data, **settings)
        n = _n_draws(len(path.solution.z))
        report(f"drawing {n} times around the solution")
    else:
        path, states = solve_on_workers(data, settings, *place, _n_draws, report)
        n = len(states)
    around = _draws(path, drawn, n, rng, states)
    why = "States were found by workers"
    if place is None:
        why = f"The table is too large for chains within {effort.seconds:.0f} s"
    notes = [
        f"{why}: scales are from {part.n_items:,} items with {part.counts.sum():,.0f} games among "
        "them, states by Newton's method at those scales."
    ]
    if left_out:
        notes.append(f"Negligible there, and left out: {', '.join(left_out)}.")
    return replace(around, law=law, mixing=mixing, notes=tuple(notes))


def _terms_that_matter(layout: Layout, draws: Draws) -> tuple[Model, list[str]]:
    """Return the model without what is negligible, and the names of what was left out."""
    kept: list[Term] = []
    left_out = []
    for term in layout.model.terms:
        if isinstance(term, Factors):
            sizes = np.sort(draws.scales[:, 1:] ** 2, axis=1)[:, ::-1]
            size = np.quantile(sizes, SURELY, axis=0)
            n = int(np.sum(size >= NEGLIGIBLE))
            if n:
                kept.append(Factors(n, term.scale, term.walk))
            if n < term.n:
                left_out.append(f"{term.n - n} of {term.n} factors")
        elif isinstance(term, PairEffects):
            k = next(k for k, one in enumerate(layout.numbers) if one.term is term)
            if np.quantile(draws.number_scales[:, k], SURELY) >= NEGLIGIBLE:
                kept.append(term)
            else:
                left_out.append("pair effects")
        elif isinstance(term, Scores | Side):
            kept.append(term)
        else:
            left_out.append(str(term))
    return Model(tuple(kept)), left_out


def _medians(draws: Draws) -> tuple[FloatArray, FloatArray]:
    """Return median scales of scores and planes, planes from the largest on, and their drifts."""
    planes = np.sort(draws.scales[:, 1:], axis=1)[:, ::-1]
    scales = np.median(np.column_stack([draws.scales[:, :1], planes]), axis=0)
    rates = np.median(draws.rates, axis=0)
    return scales, rates


def _n_draws(n_unknowns: int) -> int:
    return int(np.clip(MOST_NUMBERS // n_unknowns, FEWEST_DRAWS, MOST_DRAWS))


def _timeline(seen: Observations, model: Model) -> Timeline:
    sides = seen.sides if model.term(Side) is not None and seen.sides.any() else None
    return Timeline.from_arrays(
        seen.pairs[:, 0],
        seen.pairs[:, 1],
        seen.means,
        seen.times,
        counts=seen.counts,
        sides=sides,
        n_items=seen.n_items,
    )


def _settings(
    model: Model,
    draws: Draws,
    columns: Columns,
    law: OutcomeLaw,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the settings of `smooth`: scales are medians of what was drawn."""
    scales, rates = _medians(draws)
    r = model.n_factors
    width = float(np.sqrt(np.mean(scales[1 : 1 + r] ** 2))) if r else 1.0
    pair, pair_rate = 0.0, 0.0
    if model.term(PairEffects) is not None:
        k = columns[PairEffects]
        pair = float(np.median(draws.number_scales[:, k]))
        pair_rate = float(np.median(draws.number_rates[:, k]))
    return {
        "n_factors": r,
        "scores": True,
        "loss": law.kind,
        "drift_scale": width * float(rates[1]) if r else 0.0,
        "prior_scale": width,
        "exposure_drift_scale": width * float(rates[1]) if r else 0.0,
        "score_drift_scale": float(scales[0] * rates[0]),
        "score_prior_scale": float(scales[0]),
        "pair_scale": pair,
        "pair_drift_scale": pair * pair_rate,
        "tolerance": 1e-2,
        "rng": int(rng.integers(2**31)),
    }


def _draws(
    path: Trajectory,
    sub: Draws,
    n: int,
    rng: np.random.Generator,
    states: TrajectoryDraws | None,
) -> Posterior:
    """Return draws around the solution; how far paths may go on is drawn from the part's scales."""
    around = posterior_of_path(path, n, rng, states)
    pick = rng.integers(len(sub), size=n)
    scales = around.draws.scales.copy()
    scales[:, 0] = sub.scales[pick, 0]
    steps = around.draws.walks.copy()
    steps[:, 0] = sub.walks[pick, 0]
    return replace(around, draws=replace(around.draws, scales=scales, steps=steps))
