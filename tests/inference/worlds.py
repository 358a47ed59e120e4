"""Small worlds drawn from a model's own priors, by code that shares nothing with the sampler."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.special import expit
from scipy.stats import chi2

from intransit.data.cells import Rows
from intransit.inference.gibbs import Chain, Draw
from intransit.inference.law_kernels import GAP_CENTRE, GAP_SPREAD, TIES
from intransit.inference.observations import AT_RANDOM, MOST_TIERS, SLOWEST, Observations
from intransit.inference.paths import NEWCOMERS, Layout, lay_out
from intransit.model import (
    By,
    Drift,
    Factors,
    HalfCauchy,
    Levels,
    Model,
    PairEffects,
    Readings,
    Scores,
    Side,
    Still,
    Wins,
)
from intransit.model.laws import OutcomeLaw

VALUES = ("clay", "grass")


@dataclass(frozen=True)
class World:
    """A model, a law, and the size of a design; the last `n_late` items come in half way.

    Items meet those that are at most `reach` numbers on, or anybody.
    """

    model: Model
    law: OutcomeLaw
    n_items: int = 6
    n_times: int = 6
    n_games: int = 150
    n_late: int = 0
    n_cuts: int = 0
    reach: int | None = None


@dataclass(frozen=True, eq=False)
class Design:
    """Who meets whom, when, on which side and under which value; and the states that enter."""

    world: World
    times: Any  # (n_games,)
    pairs: Any  # (n_games, 2), in any order
    sides: Any  # (n_games,)
    codes: Any  # (n_games,)
    newcomer: Any  # (n_items,)
    items: "Places"
    numbers: tuple["Places", ...]

    @property
    def span(self):
        return float(np.ptp(self.times)) or 1.0


class Places:
    """States of some owners, by owner and time; which of them enters which game, times what."""

    def __init__(self, owners, times, factors, *, moves, every=()):
        when = times if moves else np.zeros(len(times))
        keys = {(int(o), float(t)) for row, t in zip(owners, when, strict=True) for o in row}
        missing = set(every) - {owner for owner, _ in keys}
        self.keys = sorted(keys | {(owner, float(np.max(times))) for owner in missing})
        place = {key: k for k, key in enumerate(self.keys)}
        self.state = np.array(
            [[place[int(o), float(t)] for o in row] for row, t in zip(owners, when, strict=True)],
            dtype=int,
        ).reshape(len(times), -1)
        self.factors = factors
        self.begins = [
            k for k, key in enumerate(self.keys) if k == 0 or self.keys[k - 1][0] != key[0]
        ]

    def walk(self, rng, scale, rate, reversion=0.0, means=None, uneven=0.0, degrees=None):
        """Draw all paths: from scale · N(0, 1), about a mean for each owner, back to 0.

        With degrees of freedom, first states follow Student's law of variance 1.  Where they jump,
        `uneven` is the time over which paces differ by their mean.
        """
        out = np.zeros(len(self.keys))
        for k, (owner, t) in enumerate(self.keys):
            if k in self.begins:
                first = rng.normal()
                if degrees is not None:
                    first = rng.standard_t(degrees) * np.sqrt(1.0 - 2.0 / degrees)
                out[k] = scale * first + (0.0 if means is None else means[owner])
            else:
                gap = t - self.keys[k - 1][1]
                kept = np.exp(-reversion * gap)
                length = (1.0 - kept**2) / (2.0 * reversion) if reversion else gap
                length *= rng.wald(1.0, gap / uneven) if uneven else 1.0
                out[k] = kept * out[k - 1] + scale * rate * np.sqrt(length) * rng.normal()
        return out

    def parts(self, states):
        """What single numbers add to the margin of each game."""
        return np.sum(self.factors * states[self.state], axis=1)


def draw_design(world, rng):
    """Draw pairs, times, sides and values; late items are met in the second half only."""
    n = world.n_games
    times = rng.integers(world.n_times, size=n).astype(float)
    early = world.n_items - world.n_late
    there = np.where(times >= world.n_times / 2, world.n_items, early)
    first = rng.integers(there)
    second = (first + rng.integers(1, there)) % there
    if world.reach is not None:
        on = first + rng.integers(1, world.reach + 1, size=n)
        second = np.where(on < there, on, first - 1)
    pairs = np.stack([first, second], axis=1)
    has_side = world.model.term(Side) is not None
    sides = rng.integers(-1, 2, size=n).astype(float) if has_side else np.zeros(n)
    codes = rng.integers(-1, 2, size=n) if world.model.by else np.full(n, -1)
    entered = [min(times[np.any(pairs == i, axis=1)], default=np.inf) for i in range(world.n_items)]
    late = times.min() + NEWCOMERS * np.ptp(times)
    newcomer = np.array([late < t < np.inf for t in entered])
    return Design(
        world, times, pairs, sides, codes, newcomer, *_places(world, times, pairs, sides, codes)
    )


def _places(world, times, pairs, sides, codes):
    terms = [world.model.term(Scores), world.model.term(Factors)]
    moves = any(term is not None and isinstance(term.walk, Drift) for term in terms)
    items = Places(pairs, times, np.array([1.0, -1.0]), moves=moves, every=range(world.n_items))
    numbers = []
    for term in others_of(world.model):
        if isinstance(term, PairEffects):
            owners = (pairs.min(axis=1) * world.n_items + pairs.max(axis=1))[:, None]
            factors = np.sign(pairs[:, 1:] - pairs[:, :1])
        elif isinstance(term, Side):
            owners, factors = np.zeros((len(times), 1)), sides[:, None]
        else:
            owners = pairs * len(VALUES) + codes[:, None]
            factors = np.where(codes[:, None] >= 0, [1.0, -1.0], 0.0)
        there = np.any(factors != 0.0, axis=1)
        numbers.append(_some(owners, times, factors, there, term))
    return items, tuple(numbers)


def _some(owners, times, factors, there, term):
    """Return the places of games that a term speaks of; the others have a factor of 0."""
    places = Places(owners[there], times[there], factors, moves=isinstance(term.walk, Drift))
    state = np.zeros(owners.shape, dtype=int)
    state[there] = places.state
    places.state = state
    return places


def draw_scale(rng, scale):
    """Draw a scale from its prior, or return it where it is known."""
    if isinstance(scale, HalfCauchy):
        return scale.scale * abs(rng.standard_cauchy())
    return float(scale)


def draw_rate(rng, walk, span):
    """Draw a rate a unit of time."""
    return draw_scale(rng, walk.rate) / np.sqrt(span) if isinstance(walk, Drift) else 0.0


def draw_reversion(rng, walk, span):
    """Draw a reversion a unit of time."""
    return draw_scale(rng, walk.reversion) / span if isinstance(walk, Drift) else 0.0


def draw_truth(design, rng):
    """Draw everything that is not known from its prior."""
    world, span = design.world, design.span
    scores, factors = world.model.term(Scores), world.model.term(Factors)
    r = world.model.n_factors
    scales = [1e-6 if scores is None else draw_scale(rng, scores.scale)]
    scales += [draw_scale(rng, factors.scale) for _ in range(r)]
    rates, reversions = (
        [0.0 if term is None else draw(rng, term.walk, span) for term in (scores, factors)]
        for draw in (draw_rate, draw_reversion)
    )
    newcomers = float(rng.normal()) if scores is not None and design.newcomer.any() else 0.0
    states = np.zeros((len(design.items.keys), 1 + 2 * r))
    directions = tiers_by_definition(design.pairs, world.n_items)
    tiers = 0.0 if scores is None or not directions.size else draw_scale(rng, scores.tiers)
    means = directions @ (tiers * rng.normal(size=directions.shape[1]))
    if newcomers:  # beside those there from the start, who are around 0
        means += newcomers * design.newcomer - means[~design.newcomer].mean()
        newcomers = float(means[design.newcomer].mean())
    jumps = draw_scale(rng, getattr(getattr(scores, "walk", None), "jumps", 0.0))
    uneven = jumps**2 * span
    degrees = None if scores is None else scores.degrees
    own = scales[0], rates[0], reversions[0], means, uneven, degrees
    states[:, 0] = design.items.walk(rng, *own)
    for k in range(1, 1 + r):
        for column in (k, k + r):
            states[:, column] = design.items.walk(rng, scales[k], rates[1], reversions[1])
    others = others_of(world.model)
    number_scales = np.array([draw_scale(rng, term.scale) for term in others])
    number_rates = np.array([draw_rate(rng, term.walk, span) for term in others])
    number_reversions = np.array([draw_reversion(rng, term.walk, span) for term in others])
    sizes = zip(number_scales, number_rates, number_reversions, strict=True)
    numbers = tuple(
        places.walk(rng, *size) for places, size in zip(design.numbers, sizes, strict=True)
    )
    gaps = np.exp(GAP_CENTRE + GAP_SPREAD * rng.normal(size=world.n_cuts))
    gaps[:1] = 2.0 * np.arctanh(rng.beta(TIES, TIES))
    noise = draw_scale(rng, world.law.noise) if world.law.kind == "squared" else 0.3
    return Draw(
        states, numbers, np.array(scales), np.array(rates), np.array(reversions),
        number_scales, number_rates, number_reversions, newcomers, tiers, jumps, np.cumsum(gaps),
        noise,
    )  # fmt: skip


def tiers_by_definition(pairs, n_items):
    """Return the directions of the field, from the generalised eigenvalues of its graph."""
    graph = np.zeros((n_items, n_items))
    for i, j in pairs:
        graph[i, j] += 1.0
        graph[j, i] += 1.0
    met = graph.sum(axis=1) > 0
    graph = graph[np.ix_(met, met)]
    degrees = np.diag(graph.sum(axis=1))
    values, vectors = eigh(degrees - graph, degrees)
    rare = AT_RANDOM * (1.0 - 2.0 / np.sqrt(2.0 * len(pairs) / met.sum()))
    found = []
    for k in range(1, min(MOST_TIERS, n_items // 2) + 1):
        if values[k] < rare:
            u = vectors[:, k] - vectors[:, k].mean()
            direction = np.zeros(n_items)
            direction[met] = u / np.sqrt(np.mean(u**2)) / max(values[k], SLOWEST)
            found.append(max(values[1], SLOWEST) * direction)
    return np.array(found).reshape(-1, n_items).T


def margins_of(design, draw):
    """Return the margin of every game, as its first item sees it."""
    r = design.world.model.n_factors
    a, b = (draw.states[design.items.state[:, k]].astype(float) for k in (0, 1))
    x = a[:, 0] - b[:, 0]
    for k in range(1, 1 + r):
        x += a[:, k] * b[:, k + r] - a[:, k + r] * b[:, k]
    for places, states in zip(design.numbers, draw.numbers, strict=True):
        x += places.parts(states)
    return x


def draw_outcomes(design, draw, rng):
    """Draw the outcome of every game from the law."""
    x, kind = margins_of(design, draw), design.world.law.kind
    if kind == "logistic":
        return (rng.random(len(x)) < expit(x)).astype(float)
    if kind == "squared":
        return x + draw.noise * rng.normal(size=len(x))
    z = x + rng.logistic(size=len(x))
    return np.sum((z[:, None] > draw.cuts) * 1.0 - (z[:, None] < -draw.cuts), axis=1)


def log_likelihood(design, draw, outcomes):
    """Return the log likelihood of all outcomes."""
    x, kind = margins_of(design, draw), design.world.law.kind
    if kind == "logistic":
        return -np.sum(np.logaddexp(0.0, np.where(outcomes > 0.5, -x, x)))
    if kind == "squared":
        z = (outcomes - x) / draw.noise
        return -0.5 * np.sum(z**2) - len(x) * np.log(draw.noise)
    edges = np.concatenate([[-np.inf], -draw.cuts[::-1], draw.cuts, [np.inf]])
    level = (outcomes + len(draw.cuts)).astype(int)
    p = expit(x - edges[level]) - expit(x - edges[level + 1])
    return np.sum(np.log(np.maximum(p, 1e-300)))


def is_told(design, outcomes):
    """Whether outcomes show every level, so that the sampler has the cuts that the world has."""
    n = design.world.n_cuts
    return not n or (np.any(outcomes == 0.0) and np.abs(outcomes).max() == n)


def observe(design, outcomes) -> Layout:
    """Return the paths of the world's model for these outcomes."""
    world = design.world
    rows = Rows(design.times, design.pairs, outcomes, np.ones(len(outcomes)), design.sides)
    values = [(term.column, VALUES) for term in world.model.by]
    codes = np.repeat(design.codes[None, :], len(values), axis=0)
    seen = Observations.of(rows, world.law.kind, world.n_items, codes, values)
    return lay_out(seen, world.model)


def draw_case(world, rng):
    """Draw a design, the truth, outcomes that show every level, and three games to look at."""
    while True:
        design = draw_design(world, rng)
        truth = draw_truth(design, rng)
        outcomes = draw_outcomes(design, truth, rng)
        if is_told(design, outcomes):
            return design, truth, outcomes, rng.choice(world.n_games, 3, replace=False)


def quantities(design, draw, outcomes, games):
    """Return what is looked at: all that is drawn of scales, rates and the law, and margins."""
    world = design.world
    out = _scales(world.model, draw)
    if world.model.term(Scores) is not None and design.newcomer.any():
        out["newcomers"] = draw.newcomers
    if draw.tiers and isinstance(world.model.term(Scores).tiers, HalfCauchy):
        out["tiers"] = draw.tiers
    out |= {f"cut {k + 1}": cut for k, cut in enumerate(draw.cuts)}
    if world.law.kind == "squared" and isinstance(world.law.noise, HalfCauchy):
        out["noise"] = draw.noise
    x = margins_of(design, draw)
    out |= {f"margin {k + 1}": x[game] for k, game in enumerate(games)}
    return {**out, "log likelihood": log_likelihood(design, draw, outcomes)}


BURN_IN, THIN, N_DRAWS = 100, 20, 9  # sweeps before the first draw and between two, and draws


def rank_truth(name, seed, patience=1):
    """Draw a world of a kind, then from its posterior: how many draws of each quantity are below.

    With more patience there are so many times as many sweeps.  Priors of readings are in units of
    the readings; here in units of margins, to be exact.
    """
    world, rng = WORLDS[name], np.random.default_rng([seed, len(name)])
    design, truth, outcomes, games = draw_case(world, rng)
    chain = Chain(observe(design, outcomes), world.law, rng, unit=1.0)
    for _ in range(patience * BURN_IN):
        chain.sweep()
    true = quantities(design, truth, outcomes, games)
    below = dict.fromkeys(true, 0)
    for _ in range(N_DRAWS):
        for _ in range(patience * THIN):
            chain.sweep()
        for key, value in quantities(design, chain.keep(), outcomes, games).items():
            below[key] += int(value < true[key])
    return below


def uniformity(ranks, n_bins=5):
    """Return how often ranks fall into each bin, and the p value of a chi-squared test of that."""
    often = np.bincount(np.array(ranks) * n_bins // (N_DRAWS + 1), minlength=n_bins)
    expected = len(ranks) / n_bins
    return often, float(chi2.sf(np.sum((often - expected) ** 2) / expected, n_bins - 1))


def _scales(model, draw):
    """Return scales, rates and reversions that are drawn; planes from the largest on."""
    walks = list(zip(draw.rates, draw.reversions, strict=True))
    named = [("scores", model.term(Scores), draw.scales[0], *walks[0])]
    planes = enumerate(np.sort(draw.scales[1:])[::-1], 1)
    named += [(f"factor {k}", model.term(Factors), scale, *walks[1]) for k, scale in planes]
    named += [
        (str(term), term, draw.number_scales[k], draw.number_rates[k], draw.number_reversions[k])
        for k, term in enumerate(others_of(model))
    ]
    out = {}
    for name, term, scale, rate, reversion in named:
        if term is not None and isinstance(term.scale, HalfCauchy):
            out[name] = scale
        if term is not None and isinstance(getattr(term.walk, "rate", None), HalfCauchy):
            out[f"rate of {name}"] = rate
        if term is not None and isinstance(getattr(term.walk, "reversion", None), HalfCauchy):
            out[f"reversion of {name}"] = reversion
    scores = model.term(Scores)
    if scores is not None and isinstance(getattr(scores.walk, "jumps", None), HalfCauchy):
        out["jumps of scores"] = draw.jumps
    for k, term in enumerate(others_of(model)):
        if isinstance(term, Side):
            out["worth of the side"] = draw.numbers[k][-1]
    return out


def others_of(model):
    """Return the terms that are single numbers."""
    return [term for term in model.terms if not isinstance(term, Scores | Factors)]


PRIOR = HalfCauchy(0.5)  # tighter than ours: half-Cauchy tails make slow chains
MOVING = Drift(PRIOR)
RETURNING = Drift(PRIOR, HalfCauchy(1.0))
JUMPING = Drift(PRIOR, HalfCauchy(1.0), HalfCauchy(1.0))

WORLDS = {
    "wins, still": World(
        Scores(PRIOR, Still()) + Factors(2, PRIOR, Still()) + PairEffects(PRIOR, Still()),
        Wins(),
        n_times=1,
        n_games=200,
    ),
    "wins, all terms": World(
        Scores(PRIOR, JUMPING)
        + Factors(2, PRIOR, RETURNING)
        + PairEffects(PRIOR, RETURNING)
        + Side(1.0, MOVING)
        + By("surface", PRIOR),
        Wins(),
        n_late=2,
    ),
    "wins, no scores": World(
        Factors(2, PRIOR, MOVING) + Side(1.0, Still()) + By("surface", PRIOR, RETURNING), Wins()
    ),
    "wins, known scales": World(
        Scores(0.7, MOVING) + Factors(1, 0.8, MOVING) + PairEffects(0.7, MOVING), Wins()
    ),
    "wins, known rates": World(
        Scores(PRIOR, Drift(0.5)) + Factors(1, PRIOR, Still()) + PairEffects(PRIOR, Drift(0.7)),
        Wins(),
    ),
    "wins, a ladder": World(
        Scores(PRIOR, JUMPING, PRIOR) + PairEffects(PRIOR, Still()),
        Wins(),
        n_items=8,
        n_late=1,
        reach=1,
    ),
    "wins, wide scores on a ladder": World(
        Scores(1.0, JUMPING, 1.5, wide=True, degrees=None) + Side(0.5, Still()),
        Wins(),
        n_items=8,
        n_late=1,
        reach=1,
    ),
    "ties": World(
        Scores(PRIOR, Drift(PRIOR, 0.8)) + Factors(1, PRIOR, Still()) + Side(1.0, RETURNING),
        Levels(),
        n_late=2,
        n_cuts=1,
    ),
    "levels": World(
        Scores(PRIOR, Drift(PRIOR, jumps=2.0)) + PairEffects(PRIOR, Still()) + Side(0.5, Still()),
        Levels(),
        n_cuts=3,
    ),
    "readings": World(
        Scores(PRIOR, Drift(PRIOR, jumps=HalfCauchy(1.0)))
        + Factors(1, PRIOR, MOVING)
        + PairEffects(PRIOR, MOVING)
        + Side(1.0, MOVING)
        + By("surface", PRIOR),
        Readings(PRIOR),
        n_late=2,
    ),
}
