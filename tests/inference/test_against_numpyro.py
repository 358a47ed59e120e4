"""The same posterior from an independent sampler: NUTS of NumPyro, on the likelihood itself."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from jax.nn import log_sigmoid
from numpyro.infer import MCMC, NUTS
from scipy.stats import norm

from intransit.inference.gibbs import Chain
from intransit.inference.law_kernels import GAP_CENTRE, GAP_SPREAD, TIES
from intransit.inference.sampling import mixing
from intransit.model import (
    Drift,
    Factors,
    HalfCauchy,
    Levels,
    PairEffects,
    Scores,
    Side,
    Still,
    Wins,
)
from tests.inference.worlds import World, draw_case, margins_of, observe

PRIOR = HalfCauchy(0.5)
FALSE_ALARM = 1e-3  # of all tests of this file together, shared by quantities and moments
N_SWEEPS, N_NUTS = 2_000, 500  # of NUTS 300 left an R-hat of 1.06
WELL_MIXED = 1.05

WORLDS = {
    "wins": World(
        Scores(PRIOR, Still(), degrees=None)
        + Factors(1, PRIOR, Still())
        + PairEffects(PRIOR, Still()),
        Wins(),
        n_items=5,
        n_times=1,
        n_games=150,
    ),
    "levels": World(
        Scores(PRIOR, Drift(PRIOR, reversion=HalfCauchy(1.0)), degrees=None) + Side(1.0, Still()),
        Levels(),
        n_items=5,
        n_times=4,
        n_games=150,
        n_cuts=2,
    ),
}


def paths(name, places, scale, rate=0.0, reversion=1e-6):
    """Draw all paths of a term: from scale · N(0, 1) on, drifting and returning to 0."""
    n = len(places.keys)
    z = numpyro.sample(name, dist.Normal().expand([n]))
    clock = np.array([t for _, t in places.keys])
    begins = np.isin(np.arange(n), places.begins)
    owner = np.cumsum(begins) - 1
    same = (owner[:, None] == owner[None, :]) & (np.arange(n)[:, None] >= np.arange(n)[None, :])
    gap = np.where(begins, 1.0, np.diff(clock, prepend=0.0))
    length = -jnp.expm1(-2.0 * reversion * gap) / (2.0 * reversion)
    kept = jnp.where(same, jnp.exp(-reversion * np.abs(clock[:, None] - clock)), 0.0)
    return scale * (kept @ (jnp.where(begins, 1.0, rate * jnp.sqrt(length)) * z))


def scale(name, prior=PRIOR.scale):
    return numpyro.sample(name, dist.HalfCauchy(prior))


def wins(design, outcomes):
    """Scores, one plane and pair effects, all still; games won and lost."""
    (first, second), pairs = design.items.state.T, design.numbers[0]
    s = paths("s", design.items, scale("scores"))
    plane = scale("factor")
    u, v = paths("u", design.items, plane), paths("v", design.items, plane)
    e = paths("e", pairs, scale("pairs"))
    x = s[first] - s[second] + u[first] * v[second] - v[first] * u[second]
    x = numpyro.deterministic("x", x + pairs.factors[:, 0] * e[pairs.state[:, 0]])
    numpyro.sample("y", dist.Bernoulli(logits=x), obs=outcomes)


def levels(design, outcomes):
    """Moving scores and a side; ties and one level of victory more."""
    (first, second), side = design.items.state.T, design.numbers[0]
    mean = numpyro.sample("newcomers", dist.Normal()) if design.newcomer.any() else 0.0
    rate = scale("rate", PRIOR.scale / np.sqrt(design.span))
    reversion = scale("reversion", 1.0 / design.span)
    s = paths("s", design.items, scale("scores"), rate, reversion)
    first_seen = dict(reversed(design.items.keys))
    gone = np.array([t - first_seen[owner] for owner, t in design.items.keys])
    new = np.array([design.newcomer[owner] for owner, _ in design.items.keys])
    s += mean * new * jnp.exp(-reversion * gone)
    h = numpyro.sample("side", dist.Normal())
    ties = numpyro.sample("ties", dist.Beta(TIES, TIES))
    gap = numpyro.sample("gap", dist.LogNormal(GAP_CENTRE, GAP_SPREAD))
    gaps = jnp.stack([2.0 * jnp.arctanh(ties), gap])
    numpyro.deterministic("cuts", jnp.cumsum(gaps))
    x = numpyro.deterministic("x", s[first] - s[second] + side.factors[:, 0] * h)
    edges = jnp.concatenate([-jnp.cumsum(gaps)[::-1], jnp.cumsum(gaps)])
    level = outcomes.astype(int) + 2
    low, high = edges[np.maximum(level - 1, 0)], edges[np.minimum(level, 3)]
    log_p = jnp.where(level > 0, log_sigmoid(x - low), 0.0)
    log_p += jnp.where(level < 4, log_sigmoid(high - x), 0.0)
    inner = (level > 0) & (level < 4)
    log_p += jnp.where(inner, jnp.log(-jnp.expm1(jnp.where(inner, low - high, -1.0))), 0.0)
    numpyro.factor("y", log_p.sum())


def tame(x):
    """Scales on the log, those that hardly differ from 0 as one."""
    return np.log(0.1 + x)


def from_nuts(name, design, outcomes, games):
    """Return draws of margins, scales, cuts and the side, (n_chains, n_draws, n_quantities)."""
    kernel = NUTS({"wins": wins, "levels": levels}[name], target_accept_prob=0.85)
    run = MCMC(
        kernel, num_warmup=200, num_samples=N_NUTS, num_chains=2, chain_method="sequential",
        progress_bar=False,
    )  # fmt: skip
    run.run(jax.random.PRNGKey(1), design, outcomes)
    got = {key: np.asarray(value) for key, value in run.get_samples(group_by_chain=True).items()}
    scales = ("scores", "factor", "pairs") if name == "wins" else ("scores",)
    parts = [got["x"][:, :, games], tame(np.stack([got[key] for key in scales], axis=-1))]
    if name == "levels":
        parts += [tame(got["rate"])[..., None], got["cuts"], got["side"][..., None]]
    return np.concatenate(parts, axis=-1)


def from_gibbs(name, design, outcomes, games):
    """Return the same quantities from the sampler."""
    chains = []
    for rng in np.random.default_rng(2).spawn(2):
        chain, rows = Chain(observe(design, outcomes), design.world.law, rng), []
        for k in range(N_SWEEPS):
            chain.sweep()
            if k >= N_SWEEPS // 5:
                row = [margins_of(design, chain.keep())[games], tame(chain.scales)]
                if name == "wins":
                    row.append(tame(chain.number_scales))
                else:
                    row += [tame(chain.rates[:1]), chain.cuts, chain.numbers[0]]
                rows.append(np.concatenate(row))
        chains.append(rows)
    return np.array(chains)


@pytest.mark.parametrize("name", WORLDS)
def test_means_and_deviations_are_those_of_nuts(name):
    """Margins, scales, a rate, cuts and a side, within the error of both samplers."""
    design, _, outcomes, _ = draw_case(WORLDS[name], np.random.default_rng(3))
    games = np.arange(12)
    both = [way(name, design, outcomes, games) for way in (from_nuts, from_gibbs)]
    middle = both[1].mean(axis=(0, 1))
    n_tests = 2 * both[0].shape[-1] * len(WORLDS)
    largest = norm.isf(FALSE_ALARM / n_tests / 2)
    for power in (1, 2):
        values = [(draws - middle) ** power for draws in both]
        r_hat, effective = zip(*(mixing(one) for one in values), strict=True)
        assert np.max(r_hat) < WELL_MIXED
        means = [one.mean(axis=(0, 1)) for one in values]
        error = sum(one.var(axis=(0, 1)) / n for one, n in zip(values, effective, strict=True))
        assert np.max(np.abs(means[0] - means[1]) / np.sqrt(error)) < largest
