"""Simulation-based calibration (Talts et al., 2018): truth is one more draw from the posterior.

Everything is drawn from its prior, outcomes from the law; the rank of the truth among thinned draws
of the posterior must then be uniform, whatever the outcomes.  It stays so if data without some
level of victory are left out, since they are left out by what was seen.

`python -m benchmarks calibration` does the same with hundreds of worlds of every kind.
"""

import pytest

from tests.inference.worlds import rank_truth, uniformity

WORLDS_RANKED = ("wins, all terms", "wins, still", "wins, a ladder", "ties", "levels", "readings")
N_WORLDS = 20  # of each kind
FALSE_ALARM = 5e-3  # of all tests of this file together, shared by quantities


@pytest.mark.parametrize("name", WORLDS_RANKED)
def test_the_truth_ranks_anywhere_among_draws(name):
    """Ranks of scales, rates, cuts, noise, margins and the likelihood are uniform.

    What puts two thirds of the ranks of one quantity into a fifth of their range is found: states
    half as large again as the model has them are, a prior three times too wide is not.  Smaller
    errors are for the joint-distribution tests, which need no chain to mix, and for the benchmark.
    """
    found = [rank_truth(name, seed) for seed in range(N_WORLDS)]
    least = FALSE_ALARM / (len(WORLDS_RANKED) * len(found[0]))
    for key in found[0]:
        often, p_value = uniformity([below[key] for below in found])
        assert p_value > least, (key, often)
