"""Hiding most of the chart: what is shown, what is not, and how a recovery is scored."""

import numpy as np
import pytest

from intransit.datasets import hide, pokemon_types
from intransit.errors import InputError
from intransit.inference.trajectory import smooth

CHART = pokemon_types()


def test_every_generation_shows_its_share_and_shows_it_exactly_without_noise():
    """Readings are the true margins of the cells that are shown, at times that count."""
    hidden = hide(CHART, 0.3, rng=4)
    for t, n_pairs in enumerate([105] + [136] * 4 + [153] * 4):
        assert hidden.shown[CHART.cells[:, 0] == t].sum() == round(0.3 * n_pairs)
    np.testing.assert_array_equal(hidden.readings, CHART.truth[hidden.shown])
    np.testing.assert_array_equal(hidden.timeline.times, CHART.cells[hidden.shown, 0])
    np.testing.assert_array_equal(hidden.timeline.pairs, CHART.cells[hidden.shown, 1:])


def test_the_same_seed_hides_the_same():
    """Two draws agree, another seed draws others."""
    one, same, other = (hide(CHART, 0.3, noise_scale=0.5, rng=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.shown, same.shown)
    np.testing.assert_array_equal(one.readings, same.readings)
    assert not np.array_equal(one.shown, other.shown)


def test_noise_is_as_large_as_asked_for():
    """Readings fall from their margins by about the noise scale."""
    hidden = hide(CHART, 0.9, noise_scale=0.5, rng=0)
    assert np.std(hidden.readings - CHART.truth[hidden.shown]) == pytest.approx(0.5, rel=0.1)


def test_nearest_readings_and_kinds_of_hidden_cells_agree_with_a_slow_twin():
    """For every cell, a search through all readings of its pair finds the same one."""
    hidden = hide(CHART, 0.15, noise_scale=0.3, rng=1)
    found = hidden.nearest_readings()
    seen = CHART.cells[hidden.shown].tolist()
    for k, (t, i, j) in enumerate(CHART.cells.tolist()):
        same = [
            (abs(s - t), s, y)
            for (s, a, b), y in zip(seen, hidden.readings, strict=True)
            if (a, b) == (i, j)
        ]
        assert found[k] == (min(same)[2] if same else 0.0)
        assert hidden.read_elsewhere[k] == (bool(same) and not hidden.shown[k])
        assert hidden.never_read[k] == (not same)


def test_scores_of_the_truth_of_nothing_and_of_its_opposite():
    """No error and every favourite right; an error of 1 and a half; an error of 2 and none."""
    hidden = hide(CHART, 0.3)
    for factor, error, favourites in ((1.0, 0.0, 1.0), (0.0, 1.0, 0.5), (-1.0, 2.0, 0.0)):
        score = hidden.score(factor * CHART.truth)
        assert (score.error, score.favourites) == pytest.approx((error, favourites))
    assert np.isnan(hidden.score(CHART.truth, CHART.truth == 0).error)  # nothing to score


@pytest.mark.parametrize("seed", [0, 1])
def test_all_generations_together_beat_the_nearest_reading(seed):
    """Readings of a pair at several times, weighed together, tell more than the nearest one."""
    hidden = hide(CHART, 0.3, noise_scale=0.5, rng=seed)
    t, i, j = CHART.cells.T
    path = smooth(
        hidden.timeline, n_factors=0, pair_scale="auto", pair_drift_scale="auto", rng=seed
    )
    found = hidden.score(path.margin(i, j, t.astype(float)))
    nearest = hidden.score(hidden.nearest_readings())
    scores = smooth(hidden.timeline, n_factors=0, rng=seed)
    ranked = hidden.score(scores.margin(i, j, t.astype(float)))
    assert found.error < nearest.error - 0.1
    assert ranked.error > 0.95  # no ranking says anything of this chart
    assert found.favourites > 0.8


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"shown": 0.0}, "shown"), ({"shown": 1.0}, "shown"), ({"noise_scale": -1.0}, "noise_scale")],
)
def test_bad_settings_are_refused(settings, word):
    """The sentence names the setting."""
    with pytest.raises(InputError, match=word):
        hide(CHART, **settings)
