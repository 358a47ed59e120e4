"""Terms that the data do not need shrink away; those that they need stay."""

import numpy as np
import pytest

import intransit as it


def played(margins, rng, n_games, n_times):
    """Return games with these margins, one matrix for all times."""
    n = len(margins)
    i = rng.integers(n, size=n_games)
    j = (i + rng.integers(1, n, size=n_games)) % n
    won = rng.random(n_games) < 1.0 / (1.0 + np.exp(-margins[i, j]))
    times = np.sort(rng.integers(n_times, size=n_games))
    return it.Games.from_arrays(i, j, won.astype(float), times.tolist())


def planes(answer):
    """Return the median size of the planes, the largest first."""
    return np.median(np.sort(answer.posterior.draws.scales[:, 1:] ** 2, axis=1)[:, ::-1], axis=0)


@pytest.mark.parametrize("n_times", [1, 8])
def test_planes_shrink_away_for_a_ranking(n_times):
    """Scores of 12 items make the games; no plane comes near the size of the scores."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=12)
    answer = it.fit(played(scores[:, None] - scores, rng, 2_500, n_times), effective=30)
    assert np.median(answer.posterior.draws.scales[:, 0]) > 0.6
    assert planes(answer)[0] < 0.3


@pytest.mark.parametrize("n_times", [1, 8])
def test_a_plane_stays_for_a_circle(n_times):
    """Nine items around a circle need one plane, and no scores."""
    S, Q = it.circular_factors(9)
    answer = it.fit(
        played(2 * (S @ Q.T - Q @ S.T), np.random.default_rng(1), 2_000, n_times), effective=30
    )
    assert planes(answer)[0] > 0.5
    assert np.median(answer.posterior.draws.scales[:, 0]) < 0.3
