"""Simulation-based calibration (Talts et al., 2018): truth is one more draw from the posterior.

Everything is drawn from its prior, outcomes from the law; the rank of the truth among thinned draws
of the posterior must then be uniform, whatever the outcomes.  It stays so if data without some
level of victory are left out, since they are left out by what was seen.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

from intransit.inference import gibbs
from intransit.inference.gibbs import Chain
from tests.inference.worlds import WORLDS, draw_case, observe, quantities

WORLDS_RANKED = ("wins, all terms", "wins, still", "ties", "levels", "readings")
N_WORLDS = 30  # of each kind
BURN_IN, THIN, N_DRAWS = 100, 20, 9
N_BINS = 5
FALSE_ALARM = 1e-3  # of all tests of this file together, shared by quantities


@cache
def ranks(name):
    """Return the ranks of every quantity in many worlds of a kind."""
    world, found = WORLDS[name], {}
    for seed in range(N_WORLDS):
        rng = np.random.default_rng([seed, len(name)])
        design, truth, outcomes, games = draw_case(world, rng)
        chain = Chain(observe(design, outcomes), world.law, rng)
        for _ in range(BURN_IN):
            chain.sweep()
        true = quantities(design, truth, outcomes, games)
        below = dict.fromkeys(true, 0)
        for _ in range(N_DRAWS):
            for _ in range(THIN):
                chain.sweep()
            for key, value in quantities(design, chain.keep(), outcomes, games).items():
                below[key] += value < true[key]
        for key, rank in below.items():
            found.setdefault(key, []).append(rank)
    return {key: np.array(some) for key, some in found.items()}


@pytest.mark.parametrize("name", WORLDS_RANKED)
def test_the_truth_ranks_anywhere_among_draws(name, monkeypatch):
    """Ranks of scales, rates, cuts, noise, margins and the likelihood are uniform."""
    # Priors of readings are in units of the readings; here in units of margins, to be exact.
    monkeypatch.setattr(gibbs, "_unit", lambda *_: 1.0)
    found = ranks(name)
    least = FALSE_ALARM / (len(WORLDS_RANKED) * len(found))
    for key, some in found.items():
        often = np.bincount(some * N_BINS // (N_DRAWS + 1), minlength=N_BINS)
        expected = len(some) / N_BINS
        statistic = np.sum((often - expected) ** 2) / expected
        assert chi2.sf(statistic, N_BINS - 1) > least, (key, often)
