"""Further games: the draws are weighted by them while that is sound, else the chains go on.

A draw knows every path at all times, so it says how likely the new games are.  Draws resampled by
that weight are draws of the new posterior, as long as many of them still count: the effective
number is (Σ w)² / Σ w².  Below a share of the draws the chains go on instead, from draws that weigh
most, with the new games among the old; everything, scales included, is drawn again.
"""

from dataclasses import replace

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from intransit.arrays import FloatArray
from intransit.errors import InputError
from intransit.inference.layout import Layout, Numbers, lay_out
from intransit.inference.observations import Observations
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws, Effort, Report, sample
from intransit.model.terms import By, PairEffects, Side

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
    return Draws(
        states.astype(np.float32),
        numbers,
        d.scales,
        d.rates,
        d.number_scales,
        d.number_rates,
        d.newcomers,
        d.cuts,
        d.noise,
        d.chain,
    )


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
    x = new.margins(more.pairs[:, 0], more.pairs[:, 1], more.times, under=under)
    if more.sides.any():
        x += more.sides * new.side_worth(more.times)
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
    wide = [np.full((len(cuts), 1), -np.inf), -cuts[:, ::-1], cuts, np.full((len(cuts), 1), np.inf)]
    edges = np.concatenate(wide, axis=1)
    place = seen.means.astype(np.int64) + cuts.shape[1]
    place = np.clip(place, 0, 2 * cuts.shape[1])
    chance = expit(edges[:, place + 1] - margins) - expit(edges[:, place] - margins)
    return np.asarray(np.log(np.maximum(chance, 1e-12)) @ seen.counts)
