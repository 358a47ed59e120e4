import numpy as np
import pytest

import intransit as it


def test_the_model_is_the_papers():
    sim = it.simulate(
        n_items=6, n_factors=2, n_periods=4, n_outcomes=50, noise_scale=0.0, drift_scale=0.3, rng=0
    )
    for t, readings in enumerate(sim.measurements.periods):
        S, Q = sim.strengths[t], sim.exposures[t]
        X = S @ Q.T - Q @ S.T
        np.testing.assert_allclose(sim.margins[t], X)
        np.testing.assert_allclose(readings.outcomes, readings.operator.apply(X), atol=1e-12)
    np.testing.assert_array_equal(sim.exposures[0], sim.exposures[-1])


def test_noise_and_drift_have_their_scales():
    """Sample deviations of 20,000 normals are within 3 % but for chances below 1e-8."""
    sim = it.simulate(
        n_items=1000,
        n_factors=2,
        n_periods=11,
        n_outcomes=2000,
        noise_scale=0.5,
        drift_scale=0.3,
        exposure_drift_scale=0.2,
        rng=0,
    )
    assert np.diff(sim.strengths, axis=0).std() == pytest.approx(0.3, rel=0.03)
    assert np.diff(sim.exposures, axis=0).std() == pytest.approx(0.2, rel=0.03)
    misses = [
        readings.outcomes - readings.operator.read(S, Q)
        for readings, S, Q in zip(
            sim.measurements.periods, sim.strengths, sim.exposures, strict=True
        )
    ]
    assert np.concatenate(misses).std() == pytest.approx(0.5, rel=0.03)


def test_uniform_entries_are_uniform_with_the_diagonal():
    """A χ² test over the 25 entries of 50,000 draws; false alarms once in 1e6, seed fixed."""
    pairs = it.uniform_entries(5, 50_000, np.random.default_rng(0)).pairs
    counts = np.bincount(pairs[:, 0] * 5 + pairs[:, 1], minlength=25)
    statistic = np.sum((counts - 2000) ** 2 / 2000)
    assert statistic < 77  # chi2(24).isf(1e-6)
    assert (
        it.uniform_pairs(5, 1000, np.random.default_rng(0)).pairs[:, 0]
        != it.uniform_pairs(5, 1000, np.random.default_rng(0)).pairs[:, 1]
    ).all()


def test_every_part_is_settable():
    S, Q = np.random.default_rng(0).normal(size=(2, 7, 3))
    sim = it.simulate(
        strengths=S,
        exposures=Q,
        n_periods=3,
        n_outcomes=[5, 6, 7],
        noise_scale=0.1,
        drift_scale=0.1,
        ensemble=it.gaussian_matrices,
        rng=np.random.default_rng(1),
    )
    np.testing.assert_array_equal(sim.strengths[0], S)
    assert sim.measurements.n_outcomes == (5, 6, 7)
    assert isinstance(sim.measurements.periods[0].operator, it.Matrices)
    assert sim.seed is None


@pytest.mark.parametrize("n_items", [3, 5, 11, 21])
def test_a_circle_has_as_many_cycles_as_can_be(n_items):
    S, Q = it.circular_factors(n_items)
    X = S @ Q.T - Q @ S.T
    i, j = np.indices((n_items, n_items))
    np.testing.assert_allclose(X, np.sin(2 * np.pi * (j - i) / n_items), atol=1e-12)
    assert it.study.count_triangles(X, threshold=1e-9) == n_items * (n_items**2 - 1) // 24
    assert it.study.consistency(X).coefficient == 0.0


@pytest.mark.parametrize(("n_items", "n_cycles"), [(9, 0), (9, 1), (9, 3), (20, 5)])
def test_planted_cycles_are_all_there_is(n_items, n_cycles):
    S, Q = it.planted_cycles(n_items, n_cycles)
    X = S @ Q.T - Q @ S.T
    assert it.study.count_triangles(X, threshold=0.5) == n_cycles
    assert np.abs(X[~np.eye(n_items, dtype=bool)]).min() > 0.5


def test_a_transitive_truth_has_no_cycle():
    S, Q = it.transitive_factors(15, rng=0)
    X = S @ Q.T - Q @ S.T
    assert it.study.strong_groups(X) == ()
    assert it.study.decompose(X).cyclic_share < 1e-12


BASE = {
    "n_items": 5,
    "n_factors": 1,
    "n_periods": 2,
    "n_outcomes": 3,
    "noise_scale": 0.1,
    "drift_scale": 0.1,
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_items": None}, "give n_items and n_factors"),
        ({"n_items": 1}, "n_items is 1; it must be a whole number, 2 or more"),
        ({"strengths": np.zeros((4, 1))}, "disagree with factors of shape"),
        ({"n_periods": 0}, "n_periods is 0"),
        ({"n_outcomes": [3]}, "1 numbers were given for 2 periods"),
        ({"n_outcomes": 2.5}, "n_outcomes is 2.5"),
        ({"n_periods": 1.5}, "n_periods is 1.5"),
        ({"strengths": np.full((5, 1), np.nan)}, "entry 0, 0 is nan"),
        ({"n_outcomes": 0}, "n_outcomes is 0"),
        ({"noise_scale": -1}, "noise_scale is -1"),
        ({"drift_scale": np.inf}, "drift_scale is inf"),
        ({"rng": -3}, "rng: -3 was given"),
    ],
)
def test_bad_simulations_get_a_sentence(change, sentence):
    with pytest.raises(it.InputError, match=sentence):
        it.simulate(**{**BASE, **change})


def test_numbers_of_numpy_are_numbers():
    sim = it.simulate(**{**BASE, "n_outcomes": np.int64(3), "n_periods": np.int32(2)})
    assert sim.measurements.n_outcomes == (3, 3)


def test_bad_truths_get_a_sentence():
    with pytest.raises(it.InputError, match="n_items is -1"):
        it.transitive_factors(-1)
    with pytest.raises(it.InputError, match=r"n_items is 5.5"):
        it.circular_factors(5.5)
    with pytest.raises(it.InputError, match="must be odd"):
        it.circular_factors(4)
    with pytest.raises(it.InputError, match="need 9 items"):
        it.planted_cycles(8, 3)
