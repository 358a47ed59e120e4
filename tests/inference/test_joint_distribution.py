"""Joint-distribution tests (Geweke, 2004): sweeps between fresh data leave the prior alone.

Everything is drawn from its prior, and data from it; then, again and again, one sweep given the
data and new data given the draw.  What comes out has the law of what went in, exactly, however
slowly the chain mixes.  Many such chains are independent (Gandy and Scott, 2020), so ends are
compared with their own beginnings: differences of ranks, and of their squares about the middle,
have mean 0.
"""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from intransit.inference.gibbs import Chain
from tests.inference.worlds import WORLDS, draw_case, draw_outcomes, is_told, observe, quantities

N_CHAINS, N_SWEEPS = 150, 8
FALSE_ALARM = 1e-3  # of all tests of this file together, shared by quantities and moments


def run(world, seed):
    """Return every quantity at the beginning and at the end of one chain."""
    rng = np.random.default_rng([seed, world.n_games])
    design, draw, outcomes, games = draw_case(world, rng)
    before = quantities(design, draw, outcomes, games)
    for _ in range(N_SWEEPS):
        chain = Chain(observe(design, outcomes), world.law, rng, draw, unit=1.0)
        chain.sweep()
        draw = chain.keep()
        outcomes = draw_outcomes(design, draw, rng)
        while not is_told(design, outcomes):  # as in `draw_case`, levels that are not seen
            outcomes = draw_outcomes(design, draw, rng)
    return before, quantities(design, draw, outcomes, games)


@pytest.mark.parametrize("name", WORLDS)
def test_a_sweep_leaves_the_joint_law_alone(name):
    """Scales, rates, cuts, noise and margins end as they began, in law."""
    runs = [run(WORLDS[name], seed) for seed in range(N_CHAINS)]
    keys = runs[0][0].keys()
    most = norm.isf(FALSE_ALARM / (len(WORLDS) * len(keys) * 4))  # two moments, two sides
    for key in keys:
        both = [(one[key], other[key]) for one, other in runs if key in one]
        rank = (rankdata(np.ravel(both)).reshape(-1, 2) - 0.5) / (2 * len(both)) - 0.5
        for moment in (rank, rank**2):
            change = moment[:, 1] - moment[:, 0]
            z = np.mean(change) / (np.std(change) / np.sqrt(len(change)))
            assert abs(z) < most, (key, z)
