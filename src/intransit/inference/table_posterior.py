"""The posterior of a table: by chains, with scales from a part of it, after further games.

Further games weigh the draws while that is sound; else the chains go on.  A draw knows every path
at all times, so it says how likely the new games are.  Draws resampled by that weight are draws of
the new posterior, as long as many of them still count: the effective number is (Σ w)² / Σ w².
Below a share of the draws the chains go on instead, from draws that weigh most, with the new games
among the old; everything, scales included, is drawn again.

Where like met like, the model is first given wide scores (`fit_to_schedule`).

A sweep costs one pass over cells and states.  Where the chains would take longer than the time that
is given, scales are drawn from a sub-population: whole items with all games among them, as many as
chains can take.  Scales are the same for all items, so they carry over, and a term that is
negligible there is left out; the notes say which.  All states then come from Newton's method at
those scales.  From there the chains go on over the whole table, with everything drawn again, if
they get through enough sweeps in the time; else the draws are those of the Gaussian around
Newton's solution, whose walks do not return to the mean and which knows no covariates.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from intransit.arrays import FloatArray, IntArray
from intransit.data.cells import Rows, Timeline
from intransit.errors import InputError
from intransit.inference.gibbs import Chain, Draw
from intransit.inference.observations import Observations, tiers_of
from intransit.inference.paths import Layout, Numbers, lay_out
from intransit.inference.posterior import Posterior, place_of
from intransit.inference.sampling import Draws, Effort, Mixing, Report, sample
from intransit.model.laws import OutcomeLaw, boundaries
from intransit.model.terms import (
    By,
    Factors,
    Model,
    PairEffects,
    Scores,
    Side,
    Still,
    Term,
    first_walk,
    prior_scale,
)

if TYPE_CHECKING:
    from intransit.inference.joint_problem import Rise
    from intransit.inference.shards.folder import Question
    from intransit.inference.shards.workers import Placement
    from intransit.inference.trajectory import Trajectory

SOUND = 0.5  # of the draws that must count, to weigh them only
N_CHAINS = 2
EFFORT = Effort(effective=100.0, seconds=30.0, chains=N_CHAINS)


def update_posterior(
    old: Posterior,
    more: Observations,
    *,
    rng: np.random.Generator,
    effort: Effort = EFFORT,
    report: Report = lambda _: None,
) -> tuple[Posterior, str]:
    """Return the posterior with further observations, and in words how sound it is."""
    _check_levels(old.layout.seen, more)
    layout = lay_out(old.layout.seen.plus(more), old.layout.model)
    carried = carry_over(old, layout)
    new = Posterior(layout, old.law, carried, old.mixing, old.way, old.notes)
    weights = _weights(new, more)
    effective = float(1.0 / np.sum(weights**2))
    n = len(old)
    if effective >= SOUND * n:
        places = _resample(weights, rng)
        said = f"draws weighted by them; {effective:.0f} of {n} count."
        return replace(new, draws=carried.only(places)), said
    best = np.argsort(-weights, kind="stable")[:N_CHAINS]
    starts = [carried.one(int(best[k % len(best)])) for k in range(effort.chains)]
    draws, mixing = sample(layout, old.law, effort, rng=rng, starts=starts, report=report)
    said = (
        f"only {effective:.0f} of {n} draws agree with them, so the chains went on: "
        f"{mixing.sentence}"
    )
    return Posterior(layout, old.law, draws, mixing, "gibbs", old.notes), said


def _check_levels(old: Observations, more: Observations) -> None:
    """Refuse levels that the law has no place for."""
    if old.kind != "ordered":
        return
    wrong = np.abs(more.means) > old.n_levels
    if not (old.means == 0.0).any():
        wrong |= more.means == 0.0
    if wrong.any():
        level = more.means[np.flatnonzero(wrong)[0]]
        raise InputError(
            f"update: an outcome is {level:g}, a level that did not occur before; fit everything "
            "again."
        )


def _resample(weights: FloatArray, rng: np.random.Generator) -> np.ndarray:
    """Return as many places as there are weights, each as often as it weighs (systematic)."""
    n = len(weights)
    points = (rng.random() + np.arange(n)) / n
    return np.minimum(np.searchsorted(np.cumsum(weights), points), n - 1)


def carry_over(old: Posterior, layout: Layout) -> Draws:
    """Return the draws on a larger layout: every path read at the times of its new states."""
    d, items = old.draws, layout.items
    owners = np.repeat(items.keys, np.diff(items.begin))
    known = owners < old.n_items
    numbers = tuple(_carry_numbers(old, layout, k, one) for k, one in enumerate(layout.numbers))
    clock = items.clock if items.moves else np.full(items.n_states, old.axis[-1])
    states = old.states(np.where(known, owners, old.n_items - 1 - owners), clock)
    # Jumps are in units of the whole time, which may have grown.
    jumps = d.jumps * np.sqrt(old.layout.span / layout.span)
    return replace(d, states=states.astype(np.float32), numbers=numbers, jumps=jumps, steps=None)


def _carry_numbers(old: Posterior, layout: Layout, k: int, one: Numbers) -> FloatArray:
    p = one.paths
    keys = np.repeat(p.keys, np.diff(p.begin))
    clock = p.clock if p.moves else np.full(p.n_states, old.axis[-1])
    if isinstance(one.term, PairEffects):
        i, j = keys // layout.seen.n_items, keys % layout.seen.n_items
        keys = np.where(j < old.n_items, i * old.n_items + j, -1 - keys)
    elif isinstance(one.term, By):
        new, before = (
            dict(seen.values)[one.term.column] for seen in (layout.seen, old.layout.seen)
        )
        item, code = keys // len(new), keys % len(new)
        there = (code < len(before)) & (item < old.n_items)
        keys = np.where(there, item * len(before) + code, -1 - keys)
    elif isinstance(one.term, Side):
        keys = np.zeros(len(keys), np.int64)
    return old.numbers(k, keys, clock).astype(np.float32)


def _weights(new: Posterior, more: Observations) -> FloatArray:  # (n_draws,)
    """Return how much each draw counts, given further observations; they add up to 1.

    At the margins that the draws keep: those on the longer record.
    """
    known = {term.column for term in new.layout.model.by}
    named = zip(more.values, more.codes, strict=True)
    under = {name: codes for (name, _), codes in named if name in known}
    x = new.margins(more.pairs[:, 0], more.pairs[:, 1], more.times, sides=more.sides, under=under)
    logs = log_likelihood(new, more, x)
    return np.exp(logs - logsumexp(logs))


def log_likelihood(
    posterior: Posterior,
    seen: Observations,
    margins: FloatArray,  # (n_draws, n_cells)
) -> FloatArray:  # (n_draws,)
    """Return the log likelihood of observations at margins of draws."""
    if seen.kind == "logistic":
        won, n = seen.means * seen.counts, seen.counts
        return np.asarray(log_expit(margins) @ won + log_expit(-margins) @ (n - won))
    if seen.kind == "squared":
        noise = posterior.draws.noise[:, None]
        return np.asarray(
            -0.5 * np.sum(seen.counts * ((seen.means - margins) / noise) ** 2, axis=1)
            - seen.n_rows * np.log(noise[:, 0])
            - 0.5 * seen.spread / noise[:, 0] ** 2
        )
    cuts = posterior.draws.cuts
    edges = boundaries(cuts)
    place = np.clip(seen.means.astype(np.int64) + cuts.shape[1], 0, 2 * cuts.shape[1])
    chance = expit(edges[:, place + 1] - margins) - expit(edges[:, place] - margins)
    return np.asarray(np.log(np.maximum(chance, 1e-12)) @ seen.counts)


N_SWEEPS = 400  # of each chain, that a table usually takes
SUB_EFFECTIVE = 40.0
FEWEST_ITEMS = 24  # of a sub-population: three planes can be told apart among so many
NEGLIGIBLE = 1e-4  # nats a game: what a term that is left out at scale would gain at most
SURELY = 0.1  # share of the draws of that gain that may lie below it
CURVATURE = 0.2  # of the log loss of a game, at chances of about 0.3
MOST_NUMBERS = 60_000_000  # of all draws of a large answer
FEWEST_DRAWS, MOST_DRAWS = 24, 60
N_SOLUTIONS = 4  # of Newton's method, each at other scales
FEWEST_SWEEPS = 50  # of a whole table from Newton's solution on: half of them are thrown away


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
    schedule = fit_to_schedule(seen, model, law, rng)
    layout = lay_out(seen, schedule.model, schedule.tiers)
    if placement is not None:
        if law.kind == "squared":
            raise InputError("on: readings of margins are drawn in one process; leave it out.")
        asked = seen, model, law, effort, rng.bit_generator.state["state"]
        with placement.folder(asked) as folder:
            return _from_a_part(layout, schedule, law, effort, rng, report, (placement, folder))
    if takes_chains(layout, law, effort):
        draws, mixing = sample(layout, law, effort, rng=rng, report=report)
        return Posterior(_to_keep(layout), law, draws, mixing, notes=schedule.notes)
    return _from_a_part(layout, schedule, law, effort, rng, report)


def _to_keep(layout: Layout) -> Layout:
    """Return the layout without directions, which are found again if chains are to go on."""
    return replace(layout, directions=None)


@dataclass(frozen=True, eq=False)
class Schedule:
    """What who met whom says of scores."""

    model: Model  # with wide scores where like met like
    tiers: FloatArray  # (n_items, n_tiers): see `tiers_of`
    size: float = 0.0  # scale of what scores rise by along them, as still scores have it
    scale: float | None = None  # of scores within a part, as still scores have it
    notes: tuple[str, ...] = ()

    @property
    def is_wide(self) -> bool:
        """Whether like met like."""
        scores = self.model.term(Scores)
        return scores is not None and scores.wide


PROBE, PROBED = 160, 80  # sweeps, and those of them that count
LARGE = 40_000  # cells from which on so many of them are looked at
# Times that parts of the field are further apart than the items within them, from which on like met
# like: 2 to 80 on ladders (a few lie below), at most 1.4 in leagues, 1.2 to 1.5 in football, where
# it would be 1.5 to 2.4 if items that hardly play counted as much as the others (a trial).
FURTHER = 2.0
# Scale that draws no score towards the others: in units of margins, and of the deviation of all.
WIDE, WIDER = 3.0, 2.0
# Games before which nobody knows an item, and how much less alike opponents are in these, beside
# later games, where who meets whom follows from the results.  A matchmaker by Elo that begins with
# the table: 0 to 0.2 in these, 0.75 to 0.9 later; by true scores the same in both (a trial).
UNKNOWN, LEARNT = 3, 0.5
ALIKE = 0.3  # 1 less the mean square between opponents, over that between any two items
FROM_GAMES = (
    "Opponents are of like strength, but not in their first games: who met whom follows from the "
    "results, as with a matchmaker or in a Swiss tournament, and tells nothing more of strengths."
)


def fit_to_schedule(
    seen: Observations,
    model: Model,
    law: OutcomeLaw,
    rng: np.random.Generator,
    *,
    large: int = LARGE,
) -> Schedule:
    """Return the model, with wide scores where like met like, and how scores may rise.

    There all differences that are seen are small ones, which add up along a ladder.  A scale learnt
    from them is too small, and takes their sum for noise; nor may scores return to a mean.  Whether
    it is so, still scores with tiers tell: parts that hardly meet then differ by far more than the
    items within them.  If like met like only once they had played, who met whom follows from games
    that are known, and scores are alike whoever met whom.
    """
    nowhere = np.zeros((seen.n_items, 0))
    scores = model.term(Scores)
    if scores is None or prior_scale(scores.tiers) == 0.0 or prior_scale(scores.scale) == 0.0:
        return Schedule(model, nowhere)
    tiers = tiers_of(seen)
    if not tiers.shape[1]:
        return Schedule(model, tiers)
    still = seen.timeless()
    if len(still) > large:  # of all parts: items that met each other would be one of them
        still = still.only(np.sort(rng.choice(len(still), large, replace=False)))
    apart, within, size, means = _probe(still, model, tiers, law, rng)

    def told_by(other: Scores, **what: Any) -> Schedule:
        terms = (other if term is scores else term for term in model.terms)
        return Schedule(Model(tuple(terms)), **what)

    if apart < FURTHER * within:
        return Schedule(model, tiers, size, within)
    if follows_from_games(seen, means):
        # The first games: who met whom then follows from no others.
        early = seen.only(np.argsort(seen.times, kind="stable")[:large])
        _, alone, _, _ = _probe(early.timeless(), model, nowhere, law, rng)
        return told_by(replace(scores, tiers=0.0), tiers=nowhere, scale=alone, notes=(FROM_GAMES,))
    wide = max(WIDE, WIDER * float(np.hypot(apart, within)))
    return told_by(scores.widened(wide), tiers=tiers, size=wide, scale=wide)


def _probe(
    still: Observations,
    model: Model,
    tiers: FloatArray,
    law: OutcomeLaw,
    rng: np.random.Generator,
) -> tuple[float, float, float, FloatArray]:
    """Draw still scores: how far parts are apart, items within them, and along tiers; and means.

    Each part counts for its games: items that hardly play, far from all others, make no ladder.
    """
    games = still.played
    side = [Side(walk=Still())] if model.term(Side) is not None else []
    chain = Chain(lay_out(still, Model((Scores(walk=Still()), *side)), tiers), law, rng.spawn(1)[0])
    sizes, means = np.empty((PROBE, 3)), np.zeros(still.n_items)
    for k in range(PROBE):
        chain.sweep()
        around = chain.item_means()
        around = around - np.average(around, weights=games)
        apart = np.sqrt(np.average(around**2, weights=games))
        sizes[k] = apart, chain.scales[0], chain.tiers
        means += (k >= PROBE - PROBED) * chain.states[:, 0] / PROBED
    apart, within, size = (np.median(sizes[-PROBED:], axis=0) / chain.unit).tolist()
    return apart, within, size, means


def follows_from_games(seen: Observations, scores: FloatArray) -> bool:
    """Return whether opponents are of like score, but not where one of them had hardly played."""
    unknown = games_before(seen).min(axis=1) < UNKNOWN
    if unknown.all() or not unknown.any():
        return False
    squares = np.square(scores[seen.pairs[:, 0]] - scores[seen.pairs[:, 1]])
    far = [np.average(squares[some], weights=seen.counts[some]) for some in (unknown, ~unknown)]
    first, later = 1.0 - np.array(far) / (2.0 * np.var(scores))
    return bool(later > ALIKE and first < LEARNT * later)


def games_before(seen: Observations) -> FloatArray:  # (n_cells, 2)
    """Return how many games both items of each cell had at earlier times."""
    owner, time = seen.pairs.T.ravel(), np.tile(seen.times, 2)
    counts, places = np.tile(seen.counts, 2), np.arange(2 * len(seen))
    order = np.lexsort((time, owner))
    owner, time, counts = owner[order], time[order], counts[order]
    another = np.r_[True, owner[1:] != owner[:-1]]
    later = another | np.r_[True, time[1:] != time[:-1]]
    begin, moment = (np.maximum.accumulate(np.where(new, places, 0)) for new in (another, later))
    total, before = np.cumsum(counts) - counts, np.empty(2 * len(seen))
    before[order] = total[moment] - total[begin]
    return before.reshape(2, -1).T


def takes_chains(layout: Layout, law: OutcomeLaw, effort: Effort) -> bool:
    """Return whether everything is drawn by chains: where they should end in time, or must do."""
    return law.kind == "squared" or seconds_a_sweep(layout) * N_SWEEPS <= effort.seconds


def seconds_a_sweep(layout: Layout) -> float:
    """Return about how long a sweep takes on one core: a formula, so that the choice is the same.

    Fitted to sweeps of 10,000 to 1,000,000 games with one to eight planes (`python -m benchmarks
    sampler`, and trials); scores alone are single numbers, for which there is a quicker loop.
    """
    d = 1 + 2 * layout.n_factors
    numbers = sum(one.paths.n_states for one in layout.numbers)
    by_cell = 0.9e-6 + 0.02e-6 * d if layout.n_factors else 0.25e-6
    seconds = (
        len(layout.seen) * by_cell + layout.items.n_states * 0.022e-6 * d * d + 0.1e-6 * numbers
    )
    return seconds if layout.guide is None else 2.0 * seconds  # a chain of its own


def sub_population(seen: Observations, n_cells: float, rng: np.random.Generator) -> Observations:
    """Return all games among some items: as few as have so many cells among them, but some dozens.

    A sweep costs as much as there are cells, however many games these are of.  Items join by how
    many cells they share with those already in, beginning with one at random.
    """
    n = seen.n_items
    i, j = seen.pairs.T
    order = np.argsort(np.concatenate([i, j]), kind="stable")
    begin = np.searchsorted(np.concatenate([i, j])[order], np.arange(n + 1))
    other = np.concatenate([j, i])[order]
    inside, shared, total, size = np.zeros(n, bool), np.zeros(n), 0.0, 0
    front = [int(rng.choice(n, p=seen.played / seen.played.sum()))]
    while (total < n_cells or size < FEWEST_ITEMS) and front:
        # The best of a few candidates: nearly the best of all, and quick.
        best = max(range(len(front)), key=lambda k: shared[front[k]])
        item = front.pop(best)
        if inside[item]:
            continue
        inside[item] = True
        total, size = total + shared[item], size + 1
        here = slice(begin[item], begin[item + 1])
        np.add.at(shared, other[here], 1.0)
        fresh = np.unique(other[here][~inside[other[here]]])
        front = (front + fresh[np.argsort(-shared[fresh], kind="stable")[:40]].tolist())[-400:]
        if not front:
            left = np.flatnonzero(~inside)
            front = [int(rng.choice(left))] if len(left) else []
    return seen.among(np.flatnonzero(inside), np.flatnonzero(inside[seen.pairs].all(axis=1)))


def _from_a_part(
    layout: Layout,
    schedule: Schedule,
    law: OutcomeLaw,
    effort: Effort,
    rng: np.random.Generator,
    report: Report,
    place: "tuple[Placement, Path] | None" = None,
) -> Posterior:
    """Draw scales from a sub-population, then states by Newton's method, here or by workers."""
    seen, model = layout.seen, layout.model.with_random_walks()  # Newton's walks are random walks
    part = sub_population(seen, effort.part_cells, rng)
    report(f"drawing scales from {part.n_items:,} of {seen.n_items:,} items")
    seconds = effort.part_time * effort.seconds
    few = Effort(SUB_EFFECTIVE, seconds, effort.chains, most_draws=100)
    own = rng if place is None else rng.spawn(1)[0]  # what is kept uses up no numbers
    sub = lay_out(part, model)

    def draw() -> tuple[Draws, Mixing]:
        on = None if place is None or place[0].on == "here" else place[0].on
        return sample(sub, law, few, rng=own, on=on, report=report)

    if place is None:
        drawn, mixing = draw()
    else:
        from intransit.inference.shards.workers import once, solve_on_workers  # noqa: PLC0415  if asked

        drawn, mixing = once(place[1], draw)
    if schedule.scale is not None:
        drawn = _with_scale(drawn, schedule.scale)
    kept, left_out = _terms_that_matter(sub, drawn, seen)
    report("finding all states by Newton's method")
    effects, data = place_of(PairEffects, sub), _timeline(seen, kept)
    rise = _rise(layout, schedule)
    among = f"{part.n_items:,} items with {part.counts.sum():,.0f} games among them"
    notes = [f"Negligible there, and left out: {', '.join(left_out)}."] if left_out else []
    notes += schedule.notes
    if place is None:
        whole = lay_out(seen, _same_terms(layout.model, kept), schedule.tiers)
        if sweeps_in_time(whole, effort) >= FEWEST_SWEEPS:
            path = _solve_here(data, _question(kept, drawn, effects, law, rng), rise)
            starts = _starts(path, sub, drawn, whole, effort.chains, rng)
            draws, mixing = sample(
                whole, law, effort.going_on, rng=rng, starts=starts, report=report
            )
            why = (
                f"The table is too large for chains with every term within {effort.seconds:.0f} s: "
                f"which of them matter is from {among}, and chains began at Newton's solution."
            )
            return Posterior(_to_keep(whole), law, draws, mixing, notes=(why, *notes))
        around = _around_solutions(data, kept, drawn, effects, law, rng, report, rise)
        why = f"The table is too large for chains within {effort.seconds:.0f} s"
    else:
        question = _question(kept, drawn, effects, law, rng)
        found = solve_on_workers(data, question, *place, _n_draws, report, rise)
        around = _with_scales_of(found.posterior(), drawn, rng)
        why = "States were found by workers"
    notes.insert(0, f"{why}: scales are from {among}, states by Newton's method at those scales.")
    if kept.by:
        notes.append(
            f"Newton's method knows no covariates, so left out: {', '.join(map(str, kept.by))}."
        )
    draws = replace(around.draws, tiers=np.full(len(around), schedule.size))
    terms = around.layout.model.terms
    if schedule.is_wide:
        terms = tuple(replace(t, wide=True) if isinstance(t, Scores) else t for t in terms)
    whose = replace(around.layout, model=Model(terms))
    return replace(around, layout=whose, draws=draws, law=law, mixing=mixing, notes=tuple(notes))


def _with_scale(draws: Draws, scale: float) -> Draws:
    """Return draws of a part with the scale of scores of the whole; they move by as much.

    Items of a part have met each other, and where some hardly meet these are more alike than all.
    Were the part drawn at that scale, effects of pairs would be taken for large (decision 0047).
    """
    scales, rates = draws.scales.copy(), draws.rates.copy()
    rates[:, 0] *= scales[:, 0] / scale
    scales[:, 0] = scale
    return replace(draws, scales=scales, rates=rates)


def _around_solutions(
    data: Timeline,
    model: Model,
    scales: Draws,
    effects: int,
    law: OutcomeLaw,
    rng: np.random.Generator,
    report: Report,
    rise: "Rise | None",
) -> Posterior:
    """Return draws around Newton's solutions, at scales as they were drawn from a part.

    A part tells little of how fast scores move (0.06 to 0.7 for 0.4, of 1,400 of 8,000 items; a
    trial), so there is a solution for each of some groups of these draws, from slow to fast.
    """
    order = np.argsort(scales.walks[:, 0], kind="stable")
    found = []
    for group in np.array_split(order, min(N_SOLUTIONS, len(order))):
        some = scales.only(np.sort(group))
        path = _solve_here(data, _question(model, some, effects, law, rng), rise)
        n = -(-_n_draws(len(path.solution.z)) // N_SOLUTIONS)
        report(f"drawing {n} times around a solution")
        found.append(_with_scales_of(path.sample(n, rng=rng).posterior(), some, rng))
    return replace(found[0], draws=Draws.joined([one.draws for one in found]))


def sweeps_in_time(layout: Layout, effort: Effort) -> float:
    """Return about how many sweeps of a whole table there is time for after Newton's method."""
    return effort.whole_time * effort.seconds / seconds_a_sweep(layout)


def _same_terms(model: Model, kept: Model) -> Model:
    """Return the terms of a model that were kept, with their own walks and priors."""
    terms: list[Term] = []
    for term in model.terms:
        if isinstance(term, Factors):
            terms += [replace(term, n=kept.n_factors)] if kept.n_factors else []
        elif isinstance(term, By) or kept.term(type(term)) is not None:
            terms.append(term)
    return Model(tuple(terms))


def _starts(
    path: "Trajectory",
    sub: Layout,
    scales: Draws,
    layout: Layout,
    n: int,
    rng: np.random.Generator,
) -> list[Draw]:
    """Return where n chains begin: draws around Newton's solution, with scales of the part.

    Planes have the size of their states; covariates, which Newton's method does not know, begin
    at 0.
    """
    from intransit.inference.draws import same_states  # noqa: PLC0415  large tables only

    drawn, r = path.sample(n, rng=rng), layout.n_factors
    problem = drawn.problem
    S, Q, E = problem.split_draws(drawn.states)
    at_S = same_states(layout.items, problem.strengths.chains)
    at_Q = same_states(layout.items, problem.exposures.chains)
    states = np.concatenate([S[:, at_S], Q[:, at_Q, 1:]], axis=2)
    planes = np.sqrt(
        0.5 * np.mean(states[:, :, 1 : 1 + r] ** 2 + states[:, :, 1 + r :] ** 2, axis=1)
    )
    places = {_kind(one.term): k for k, one in enumerate(sub.numbers)}
    columns = [places[_kind(one.term)] for one in layout.numbers]
    walks = [
        getattr(term, "walk", None)
        for term in (layout.model.term(Scores), layout.model.term(Factors))
    ]
    _, back, (jumps, _) = np.transpose([first_walk(walk, layout.span) for walk in walks])
    number_back = [first_walk(one.term.walk, layout.span)[1] for one in layout.numbers]
    begins, starts = layout.items.begin[:-1][layout.newcomer], []
    for k in range(n):
        one = scales.one(int(rng.integers(len(scales))))
        numbers: list[FloatArray] = []
        for part in layout.numbers:
            size = part.paths.n_states
            if isinstance(part.term, PairEffects) and problem.effects is not None:
                numbers.append(E[k, same_states(part.paths, problem.effects.chains), 0])
            else:
                worth = path.law.advantage if isinstance(part.term, Side) else 0.0
                numbers.append(np.full(size, worth))
        first = states[k, begins, 0]
        starts.append(
            replace(
                one,
                states=states[k],
                numbers=tuple(numbers),
                scales=np.array([one.scales[0], *planes[k]]),
                reversions=back,
                number_scales=one.number_scales[columns],
                number_rates=one.number_rates[columns],
                number_reversions=np.array(number_back),
                newcomers=float(first.mean()) if len(first) else 0.0,
                jumps=float(jumps),
                cuts=np.array(path.law.cuts),
            )
        )
    return starts


def _kind(term: Term) -> tuple[type[Term], str]:
    """Return what tells terms of a model apart."""
    return type(term), getattr(term, "column", "")


def _terms_that_matter(
    layout: Layout, draws: Draws, whole: Observations
) -> tuple[Model, list[str]]:
    """Return the model without what is negligible, and the names of what was left out.

    Sizes are those of draws from a part of the table; how well the whole of it tells effects of
    that size decides what they would gain.
    """
    keys = whole.pairs[:, 0] * whole.n_items + whole.pairs[:, 1]
    of_pair = _games_beside(np.unique(keys, return_inverse=True)[1], whole.counts)
    of_item = _games_beside(whole.pairs.ravel(), np.repeat(whole.counts, 2))
    kept: list[Term] = []
    left_out = []
    for term in layout.model.terms:
        if isinstance(term, Factors):
            squares = np.sort(draws.scales[:, 1:], axis=1)[:, ::-1] ** 4
            n = int(np.sum(_surely_gained(2.0 * squares, squares * of_item) >= NEGLIGIBLE))
            if n:
                kept.append(Factors(n, term.scale, term.walk))
            if n < term.n:
                left_out.append(f"{term.n - n} of {term.n} factors")
        elif isinstance(term, PairEffects):
            squares = draws.number_scales[:, place_of(PairEffects, layout)] ** 2
            if _surely_gained(squares, squares * of_pair) >= NEGLIGIBLE:
                kept.append(term)
            else:
                left_out.append("pair effects")
        else:  # a covariate was asked for by name
            kept.append(term)
    return Model(tuple(kept)), left_out


def _games_beside(owner: IntArray, counts: FloatArray) -> float:
    """Return how many games a game's owner has, on the mean over games."""
    games = np.bincount(owner, counts)
    return float(np.sum(games**2) / np.sum(games))


def _surely_gained(variance: FloatArray, games: FloatArray) -> FloatArray:
    """Return what effects gain in log loss a game, at least in most draws (the first axis).

    Effects of this variance on margins, of which so many games in units of that variance tell: the
    part of the variance that is found is  c n / (1 + c n),  c the curvature of the log loss.
    """
    found = CURVATURE * games / (1.0 + CURVATURE * games)
    return np.asarray(np.quantile(0.5 * CURVATURE * variance * found, SURELY, axis=0))


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
    rows = Rows(seen.times, seen.pairs, seen.means, seen.counts, sides)
    return Timeline(rows, seen.n_items)


def _question(
    model: Model,
    draws: Draws,
    pairs: int,  # which of the other terms of the draws are effects of pairs
    law: OutcomeLaw,
    rng: np.random.Generator,
) -> "Question":
    """Return what Newton's method is asked: scales are medians of what was drawn."""
    from intransit.inference.joint_problem import Scales  # noqa: PLC0415  large tables only
    from intransit.inference.shards.folder import Question  # noqa: PLC0415

    scales, rates = _medians(draws)
    r = model.n_factors
    width = float(np.sqrt(np.mean(scales[1 : 1 + r] ** 2))) if r else 1.0
    pair, pair_rate = 0.0, 0.0
    if model.term(PairEffects) is not None:
        pair = float(np.median(draws.number_scales[:, pairs]))
        pair_rate = float(np.median(draws.number_rates[:, pairs]))
    drift = width * float(rates[1]) if r else 0.0
    known = Scales(
        noise_scale=1.0,
        drift_scale=drift,
        prior_scale=width,
        exposure_drift_scale=drift,
        score_drift_scale=float(scales[0] * rates[0]),
        score_prior_scale=float(scales[0]),
        pair_scale=pair,
        pair_drift_scale=pair * pair_rate,
    )
    seed = int(rng.integers(2**31))
    return Question(law.kind, r, known, seeks_side=True, tolerance=1e-2, seed=seed)


def _rise(layout: Layout, schedule: Schedule) -> "Rise | None":
    """Return how first scores may rise: newcomers as a whole, and from part to part of a field."""
    from intransit.inference.joint_problem import Rise  # noqa: PLC0415  large tables only

    new = layout.newcomer[:, None] * 1.0
    some = [new] if 0.0 < new.mean() < 1.0 else []
    return Rise.of(np.concatenate([*some, schedule.size * schedule.tiers], axis=1))


def _solve_here(data: Timeline, question: "Question", rise: "Rise | None") -> "Trajectory":
    """Return the solution, found in this process."""
    from intransit.inference.joint_problem import Columns  # noqa: PLC0415  large tables only
    from intransit.inference.trajectory import solve_timeline  # noqa: PLC0415

    columns = Columns.plain(data.n_items, question.n_factors, scores=True, rise=rise)
    return solve_timeline(data, columns, question.given)


def _with_scales_of(around: Posterior, part: Draws, rng: np.random.Generator) -> Posterior:
    """Return draws around a solution; how far paths may go on is drawn from the part's scales."""
    pick = rng.integers(len(part), size=len(around))
    scales, steps = around.draws.scales.copy(), around.draws.walks.copy()
    scales[:, 0], steps[:, 0] = part.scales[pick, 0], part.walks[pick, 0]
    return replace(around, draws=replace(around.draws, scales=scales, steps=steps))
