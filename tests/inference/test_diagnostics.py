"""How well chains mix: against ArviZ, and against series whose answer is known."""

from types import SimpleNamespace

import numpy as np
import pytest
from arviz_stats.base import array_stats

from intransit.inference.sampling import (
    Effort,
    burn_in,
    chance_mixing,
    further_sweeps,
    is_enough,
    look,
    mixing,
)

N_CHAINS, N_DRAWS = 4, 2000
CLOSE = 0.02  # relative: ArviZ divides autocovariances by n, we by n - 1
CLOSE_IF_ALTERNATING = 0.1  # a sum near 0 is ended differently


def autoregressive(rho, shape, seed):
    """Return series of variance 1 whose steps correlate by rho."""
    rng = np.random.default_rng(seed)
    out = rng.normal(size=shape)
    for k in range(1, shape[1]):
        out[:, k] = rho * out[:, k - 1] + np.sqrt(1 - rho**2) * out[:, k]
    return out


SERIES = {
    "independent": autoregressive(0.0, (N_CHAINS, N_DRAWS), 1),
    "slow": autoregressive(0.9, (N_CHAINS, N_DRAWS), 2),
    "very slow": autoregressive(0.99, (N_CHAINS, N_DRAWS), 3),
    "alternating": autoregressive(-0.5, (N_CHAINS, N_DRAWS), 4),
    "apart": autoregressive(0.5, (N_CHAINS, N_DRAWS), 5) + np.arange(N_CHAINS)[:, None],
    "odd": autoregressive(0.7, (3, 1001), 6),
}


@pytest.mark.parametrize("name", SERIES)
def test_mixing_agrees_with_arviz(name):
    """Split R-hat is ArviZ's; effective draws are those of its `mean` method, but for scaling."""
    series = SERIES[name]
    r_hat, effective = mixing(series[:, :, None])
    assert r_hat[0] == pytest.approx(float(array_stats.rhat(series, method="split")), rel=1e-6)
    close = CLOSE_IF_ALTERNATING if name == "alternating" else CLOSE
    assert effective[0] == pytest.approx(float(array_stats.ess(series, method="mean")), rel=close)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 0.95])
def test_effective_draws_of_an_autoregressive_series_are_known(rho):
    """They are n (1 - ρ) / (1 + ρ), here within an eighth."""
    series = autoregressive(rho, (4, 20_000), 11)
    _, effective = mixing(series[:, :, None])
    assert effective[0] == pytest.approx(80_000 * (1 - rho) / (1 + rho), rel=0.125)


def test_quantities_are_looked_at_one_by_one():
    """Several at once give what each gives alone."""
    both = np.stack([SERIES["slow"], SERIES["apart"]], axis=-1)
    alone = [mixing(both[:, :, k : k + 1]) for k in range(2)]
    together = mixing(both)
    for k in range(2):
        assert together[0][k] == pytest.approx(alone[k][0][0])
        assert together[1][k] == pytest.approx(alone[k][1][0])


def test_effective_draws_of_chances_count_for_the_ends_of_intervals():
    """Means of draws to either side of the middle are known better than intervals: these count."""
    series = SERIES["alternating"]
    ends = [series < np.quantile(series, 0.05), series > np.quantile(series, 0.95)]
    expected = min(float(mixing(one[:, :, None])[1][0]) for one in ends)
    assert chance_mixing(series[:, :, None])[1][0] == pytest.approx(expected)
    assert expected < series.size < mixing(series[:, :, None])[1][0]
    slow = SERIES["very slow"][:, :, None]
    assert chance_mixing(slow)[1][0] <= mixing(slow)[1][0]


def test_what_does_not_vary_has_mixed():
    """A constant has an R-hat of 1 and all draws."""
    r_hat, effective = mixing(np.full((2, 100, 1), 3.0))
    assert (r_hat[0], effective[0]) == (1.0, 200.0)


def test_a_few_draws_say_nothing():
    """With fewer than eight draws a chain R-hat is infinite."""
    r_hat, effective = mixing(np.zeros((2, 7, 1)))
    assert (r_hat[0], effective[0]) == (np.inf, 1.0)


@pytest.mark.parametrize(
    ("pairs", "scales", "enough"),
    [
        ((100.0, 1.05), (5.0, 1.3), True),
        ((99.0, 1.05), (50.0, 1.0), False),  # too few draws of the worst pair
        ((150.0, 1.11), (50.0, 1.0), False),  # chains that differ
        ((150.0, 1.05), (4.0, 1.0), False),  # a scale that creeps is waited for
        ((150.0, 1.05), (50.0, 1.5), False),
        ((200.0, 1.05), (1.0, 9.0), True),  # but not for ever
    ],
)
def test_drawing_ends_when_pairs_and_scales_have_mixed(pairs, scales, enough):
    """By effective draws and R-hat of the worst of each, of 100 draws asked for."""
    assert is_enough(Effort(effective=100.0), pairs, scales) is enough


def test_chains_are_looked_at_again_when_they_may_be_done():
    """After what is missing, and a tenth; at least 60 sweeps, at most half of those made."""
    effort = Effort(effective=100.0)
    assert further_sweeps(effort, 1_000, 80.0, 50.0) == int(1.1 * 1_000 * 0.25)
    assert further_sweeps(effort, 1_000, 99.9, 50.0) == 60
    assert further_sweeps(effort, 1_000, 1.0, 50.0) == 500
    assert further_sweeps(effort, 1_000, 200.0, 4.0) == int(1.1 * 1_000 * 0.25)


@pytest.mark.parametrize(("n", "thrown_away"), [(10, 5), (160, 80), (320, 80), (400, 100)])
def test_the_first_sweeps_are_thrown_away(n, thrown_away):
    """A quarter of them, at least 80, of a short chain half."""
    assert burn_in(n) == thrown_away


@pytest.mark.parametrize(("creeping", "reached"), [(1, False), (2, True)])
def test_all_scales_but_jumps_are_waited_for(creeping, reached):
    """Chains that mix in every pair go on while a scale creeps, unless it is that of jumps."""
    names = ("scores", "factor 1", "jumps of scores", "newcomers")
    rng = np.random.default_rng(0)
    chains = []
    for k in range(2):
        scales = np.exp(0.1 * rng.standard_normal((300, 4)))
        scales[:, creeping] *= 10.0**k
        watch = SimpleNamespace(names=names, first=np.arange(3), second=np.arange(1, 4))
        margins = 0.5 * rng.standard_normal((300, 3))
        chains.append(SimpleNamespace(margins=list(margins), scales=list(scales), watch=watch))
    found = look(chains, Effort(effective=worst_of(chains)), 1.0)
    assert found.reached is reached
    assert found.worst > 100.0


def worst_of(chains):
    """Return fewer effective draws than chains have, but not fewer than half."""
    return 0.7 * look(chains, Effort(effective=1.0), 1.0).worst


def test_chains_that_stand_still_apart_have_not_mixed():
    values = np.repeat([[[0.0]], [[1.0]]], 40, axis=1)
    r_hat, effective = mixing(values)
    assert r_hat[0] == np.inf
    assert effective[0] < 8.0
