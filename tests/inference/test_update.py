"""`update` against a full fit at the same scales: later, earlier, between, new items, chains."""

import numpy as np
import pytest

import intransit as it

N_ITEMS, N_TIMES, N_ROWS = 9, 6, 400
SCALES = {"noise_scale": 0.3, "drift_scale": 0.2, "prior_scale": 1.0, "rng": 0}
MODELS = [(0, True, "squared"), (1, False, "squared"), (0, True, "logistic"), (1, True, "logistic")]


def simulated(seed, n_factors, scores, loss):
    """Return comparisons of 9 items at times 0 to 5."""
    rng = np.random.default_rng(seed)
    width = n_factors + scores
    steps = 0.2 * rng.normal(size=(N_TIMES, N_ITEMS, width))
    steps[0] = rng.normal(size=(N_ITEMS, width))
    S, Q = np.cumsum(steps, axis=0), rng.normal(size=(N_ITEMS, width))
    if scores:
        Q[:, 0] = 1.0
    t, i = rng.integers(0, N_TIMES, N_ROWS), rng.integers(0, N_ITEMS, N_ROWS)
    j = (i + rng.integers(1, N_ITEMS, N_ROWS)) % N_ITEMS
    x = np.sum(S[t, i] * Q[j] - S[t, j] * Q[i], axis=1)
    y = x + 0.3 * rng.normal(size=N_ROWS)
    if loss == "logistic":
        y = (rng.random(N_ROWS) < 1 / (1 + np.exp(-x))).astype(float)
    return it.Timeline.from_arrays(i, j, y, t.astype(float), counts=1.0 + (y > 0))


def part(rows, which):
    first, second = rows.pairs[which].T
    return it.Timeline.from_arrays(
        first, second, rows.outcomes[which], rows.times[which], counts=rows.counts[which]
    )


SPLITS = {
    "later": lambda rows: rows.times < 5,
    "earlier": lambda rows: rows.times > 0,
    "interleaved": lambda rows: rows.times != 3,
    "new items": lambda rows: (rows.pairs < 7).all(axis=1),
    "at random": lambda rows: np.random.default_rng(0).random(len(rows)) < 0.9,
}


def away(path, full):
    """Return how far two answers are apart, in posterior deviations, at worst."""
    i, j = np.triu_indices(full.n_items, 1)
    at = full.times[:, None]
    apart = np.abs(path.margin(i, j, at) - full.margin(i, j, at))
    return float(np.max(apart / full.deviation(i, j, at)))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(("n_factors", "scores", "loss"), MODELS)
def test_an_update_is_a_full_fit(n_factors, scores, loss, split):
    """Margins within 1e-3 posterior deviations at a tolerance of 1e-9, deviations within 0.1 %."""
    rows = simulated(0, n_factors, scores, loss)
    model = {"n_factors": n_factors, "scores": scores, "loss": loss, "tolerance": 1e-9, **SCALES}
    known = SPLITS[split](rows)
    full = it.smooth(rows, **model)
    path = it.smooth(part(rows, known), **model).update(part(rows, ~known))
    assert path.converged
    assert path.n_items == full.n_items
    np.testing.assert_array_equal(path.times, full.times)
    assert path.scales == full.scales
    assert away(path, full) < 1e-3
    assert path.deviation(0, 8, 2.5) == pytest.approx(full.deviation(0, 8, 2.5), rel=1e-3)


def test_a_smaller_tolerance_brings_it_closer():
    rows = simulated(1, 1, True, "squared")
    model = {"n_factors": 1, "scores": True, "tolerance": 1e-13, **SCALES}
    known = rows.times < 5
    path = it.smooth(part(rows, known), **model).update(part(rows, ~known))
    assert away(path, it.smooth(rows, **model)) < 1e-5


@pytest.mark.parametrize(
    ("n_factors", "scores", "loss"),
    [
        (0, True, "squared"),
        (0, True, "logistic"),
        (1, False, "squared"),
        (1, True, "squared"),
        (1, True, "logistic"),
    ],
)
def test_what_is_left_to_gain_is_within_the_tolerance(n_factors, scores, loss):
    """The default tolerance, 1e-4 of log posterior, holds of an update as of a full fit."""
    rows = simulated(0, n_factors, scores, loss)
    model = {"n_factors": n_factors, "scores": scores, "loss": loss, **SCALES}
    best = it.smooth(rows, **model, tolerance=1e-12).solution.objective
    left = {}
    for name, split in SPLITS.items():
        known = split(rows)
        path = it.smooth(part(rows, known), **model).update(part(rows, ~known))
        left[name] = path.solution.objective - best
    assert max(left.values()) < 1e-4, left


def test_a_chain_of_updates_is_one_fit():
    """Row after row of 40, times out of order, items as they come."""
    rows = simulated(2, 1, True, "logistic")
    order = np.random.default_rng(1).permutation(N_ROWS)
    model = {"n_factors": 1, "scores": True, "loss": "logistic", "tolerance": 1e-9, **SCALES}
    path = it.smooth(part(rows, order[:360]), **model)
    for k in range(360, N_ROWS):
        path = path.update(part(rows, order[[k]]))
    full = it.smooth(rows, **model)
    assert away(path, full) < 1e-3
    assert path.cells.n_rows == N_ROWS


def test_effects_of_pairs_are_carried_along():
    """New pairs of old and of new items, effects drifting."""
    rows = simulated(3, 0, True, "squared")
    model = {"n_factors": 0, "pair_scale": 0.5, "pair_drift_scale": 0.1, "tolerance": 1e-11}
    for split in SPLITS.values():
        known = split(rows)
        path = it.smooth(part(rows, known), **model, **SCALES).update(part(rows, ~known))
        assert away(path, it.smooth(rows, **model, **SCALES)) < 1e-4


def test_exposures_that_drift_are_carried_along():
    rows = simulated(4, 1, False, "squared")
    model = {"n_factors": 1, "exposure_drift_scale": 0.1, "tolerance": 1e-9, **SCALES}
    for name in ("later", "earlier", "new items"):
        known = SPLITS[name](rows)
        path = it.smooth(part(rows, known), **model).update(part(rows, ~known))
        assert away(path, it.smooth(rows, **model)) < 1e-3


def test_a_large_update_is_a_full_fit_too():
    """By conjugate gradients: 3,000 unknowns, 1 % new comparisons, some of new items."""
    rng = np.random.default_rng(0)
    n, n_items = 6000, 400
    scores = rng.normal(size=n_items)
    i = rng.integers(0, n_items, n)
    j = (i + rng.integers(1, n_items, n)) % n_items
    y = (rng.random(n) < 1 / (1 + np.exp(scores[j] - scores[i]))).astype(float)
    rows = it.Timeline.from_arrays(i, j, y, np.sort(rng.integers(0, 10, n)))
    model = {"n_factors": 0, "loss": "logistic", "drift_scale": 0.2, "prior_scale": 1.0}
    known = (np.arange(n) < 5940) & (rows.pairs < 399).all(axis=1)
    path = it.smooth(part(rows, known), **model).update(part(rows, ~known))
    full = it.smooth(rows, **model, tolerance=1e-10)
    # 1e-4 of log posterior is 0.014 deviations at most.
    apart = np.abs(path.margin(i, j, rows.times) - full.margin(i, j, rows.times))
    assert np.max(apart / full.deviation(i, j, rows.times)) < 0.02


def test_periods_follow_the_last_time():
    sim = it.simulate(
        n_items=8,
        n_factors=1,
        n_periods=6,
        n_outcomes=60,
        noise_scale=0.1,
        drift_scale=0.05,
        rng=0,
    )
    periods = sim.measurements.periods
    model = {"n_factors": 1, "noise_scale": 0.1, "drift_scale": 0.05, "prior_scale": 1.0}
    full = it.smooth(sim.measurements, rng=0, tolerance=1e-9, **model)
    early = it.smooth(it.Measurements(periods[:4]), rng=0, tolerance=1e-9, **model)
    path = early.update(it.Measurements(periods[4:]))
    np.testing.assert_array_equal(path.times, np.arange(6.0))
    assert away(path, full) < 1e-3
    one_by_one = early.update(it.Measurements(periods[4:5])).update(it.Measurements(periods[5:]))
    np.testing.assert_array_equal(one_by_one.times, np.arange(6.0))
    assert away(one_by_one, full) < 1e-3


def test_the_trajectory_before_stays_as_it_was():
    rows = simulated(0, 1, True, "squared")
    known = rows.times < 5
    path = it.smooth(part(rows, known), n_factors=1, scores=True, **SCALES)
    before = (
        path.margins.copy(),
        path.solution.z.copy(),
        path.interval(0, 1, 2.2),
        path.cells.n_rows,
    )
    path.update(part(rows, ~known))
    np.testing.assert_array_equal(path.margins, before[0])
    np.testing.assert_array_equal(path.solution.z, before[1])
    np.testing.assert_array_equal(path.interval(0, 1, 2.2), before[2])
    assert path.cells.n_rows == before[3]


def test_estimated_scales_stay():
    rows = simulated(0, 0, True, "squared")
    known = rows.times < 5
    path = it.smooth(part(rows, known), n_factors=0, rng=0)
    longer = path.update(part(rows, ~known))
    assert longer.scales == path.scales
    assert longer.estimated == path.estimated != ()
    assert longer.n_factors == 0
    fixed = {
        name: getattr(path.scales, name)
        for name in ("noise_scale", "score_drift_scale", "score_prior_scale")
    }
    full = it.smooth(rows, n_factors=0, tolerance=1e-12, **fixed)
    assert away(longer, full) < 0.02


def test_known_columns_serve_new_items_only_when_they_are_the_same_for_all():
    rows = simulated(0, 1, False, "squared")
    known = (rows.pairs < 7).all(axis=1)
    ones = it.smooth(part(rows, known), n_factors=1, exposures=np.ones((7, 1)), **SCALES)
    full = it.smooth(rows, n_factors=1, exposures=np.ones((9, 1)), **SCALES)
    assert away(ones.update(part(rows, ~known)), full) < 1e-3
    features = np.linspace(1, 2, 7)[:, None]
    path = it.smooth(part(rows, known), n_factors=1, exposures=features, **SCALES)
    with pytest.raises(it.InputError, match=r"item 8 is new.*fit again"):
        path.update(part(rows, ~known))
    old = part(rows, known & (np.arange(N_ROWS) < 50))
    assert path.update(old).converged


def test_updates_check_what_they_are_given():
    rows = simulated(0, 0, True, "logistic")
    path = it.smooth(rows, n_factors=0, loss="logistic", drift_scale=0.1, prior_scale=1.0)
    with pytest.raises(it.InputError, match="share of games"):
        path.update(it.Timeline.from_arrays([0], [1], [2.0], [9.0]))
    with pytest.raises(it.InputError, match="with itself"):
        path.update(it.Timeline.from_arrays([3], [3], [1.0], [9.0]))
    with pytest.raises(it.InputError, match=r"Timeline\.from_arrays"):
        path.update([(0, 1, 1.0)])
    mixed = it.Measurements.from_matrices([np.ones((1, 9, 9))], [[1.0]])
    with pytest.raises(it.InputError, match="single pairs only"):
        path.update(mixed)


def test_an_update_that_connects_groups_takes_the_doubt_away():
    rng = np.random.default_rng(0)
    first, second = np.array([0, 1, 2, 3, 4, 5] * 4), np.array([1, 2, 0, 4, 5, 3] * 4)
    rows = it.Timeline.from_arrays(first, second, rng.normal(size=24), np.repeat(np.arange(4.0), 6))
    path = it.smooth(rows, n_factors=0, **SCALES)
    assert any("2 groups" in doubt for doubt in path.doubts)
    assert path.extrapolated(0, 4)
    joined = path.update(it.Timeline.from_arrays([0], [4], [0.2], [3.0]))
    assert joined.doubts == ()
    assert not joined.extrapolated(0, 4)
    assert joined.deviation(0, 4) < path.deviation(0, 4)
