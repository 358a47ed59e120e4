"""Every experiment has the paper's settings, and its parts do what they say."""

import numpy as np
import pytest

import intransit as it
from intransit.experiments import (
    EXPERIMENTS,
    cell_counting,
    complexity_bound,
    estimators,
    housing,
    price_game,
    recovery_error,
    run_here,
    sample_ratio,
)
from intransit.experiments import sample_ratio as sampling
from intransit.experiments.experiment import Options, Point, Run, generator
from intransit.experiments.price_kernels import play


def test_the_paper_has_six():
    assert list(EXPERIMENTS) == [
        "recovery-error",
        "sample-ratio",
        "complexity-bound",
        "price-game",
        "cell-counting",
        "housing",
    ]


@pytest.mark.parametrize("module", [recovery_error, sample_ratio])
def test_settings_of_the_synthetic_experiments(module):
    assert (module.N_ITEMS, module.N_FACTORS, module.N_PERIODS) == (20, 2, 5)
    assert module.NOISE_SCALE == 0.01
    assert 1e-4 in module.DRIFT_SCALES
    assert {point.x for point in module.EXPERIMENT.points} == set(module.DRIFT_SCALES)


def test_settings_of_recovery_error():
    assert (recovery_error.SAMPLING_RATIO, recovery_error.N_OUTCOMES) == (0.4, 160)


def test_settings_of_sample_ratio():
    assert sample_ratio.SUCCESS == 1e-4


def test_settings_of_complexity_bound():
    assert (complexity_bound.N_ITEMS, complexity_bound.N_FACTORS) == (20, 2)
    assert (complexity_bound.INCOHERENCE, complexity_bound.NOISE_SCALE) == (1.0, 0.01)
    assert 1e-4 in complexity_bound.SMALL.values()
    assert 10**-1.5 in complexity_bound.LARGE.values()
    np.testing.assert_allclose(complexity_bound.baseline("small", np.array([2.0])), 3.5)
    np.testing.assert_allclose(
        complexity_bound.baseline("large", np.array([3.0])), 0.79 * np.log(6 * 20**3)
    )


def test_settings_of_price_game():
    assert (price_game.N_PLAYERS, price_game.N_GAMES, price_game.N_DAYS) == (10, 100, 10_000)
    assert price_game.N_TRUTH_GAMES == 10**6
    assert price_game.SHAPE_RANGE == (0.5, 5.0)
    assert pytest.approx(1e-4) == price_game.STEP**2
    assert price_game.N_FACTORS == 1


def test_settings_of_cell_counting():
    assert (cell_counting.N_IMAGES, cell_counting.N_PERIODS, cell_counting.N_FACTORS) == (22, 5, 1)
    assert (cell_counting.NOISE_SCALE, cell_counting.SAMPLING_RATIO) == (0.1, 0.2)
    assert cell_counting.N_OUTCOMES == 97


def test_settings_of_housing():
    assert (housing.N_HOUSES, housing.N_PERIODS, housing.N_FACTORS) == (8, 5, 2)
    assert housing.NOISE_SCALE == 0.01
    assert min(housing.ASSUMED.values()) == 10**-1.5
    assert list(housing.YEARS) == [2012, 2014, 2016, 2018, 2020]
    assert housing.HOUSES[0].tolist() == [2003, 5546, 4]
    assert housing.HOUSES[7].tolist() == [1962, 2942, 3]
    assert len(housing.INDEX) == 8


def test_the_bound_is_what_the_issue_measured():
    table = run_here(EXPERIMENTS["complexity-bound"], Run(1))
    small = table.series("bound", "σ₂ = 10⁻⁴", "small").mean
    large = table.series("bound", "σ₂ = 10⁻¹·⁵", "large").mean
    assert [round(small[0]), round(small[-1]), round(large[-1])] == [714, 48, 875]


@pytest.mark.parametrize("wanted", range(0, 41, 7))
def test_bisection_finds_the_first_success(wanted):
    ratios = sampling.RATIOS
    threshold = ratios[wanted] if wanted < len(ratios) else np.inf
    found = sampling.smallest_ratio(lambda ratio: bool(ratio >= threshold - 1e-12))
    assert found == (None if wanted >= len(ratios) else pytest.approx(ratios[wanted]))


def test_unsettled_readings_are_those_with_an_open_limit():
    """The quick refusal never refuses what the Cramér-Rao limit says is settled."""
    refused = 0
    for seed in range(40):
        sim = it.simulate(
            n_items=20,
            n_factors=2,
            n_periods=1,
            n_outcomes=60 + 4 * seed,
            noise_scale=0.01,
            drift_scale=0.0,
            rng=seed,
        )
        limit = it.theory.static_limit(
            sim.strengths[-1],
            sim.exposures[-1],
            sim.measurements.periods[-1].operator,
            noise_scale=0.01,
        )
        if not sampling.could_settle(sim.measurements, np.ones(1)):
            refused += 1
            assert np.isinf(limit.relative)
    assert 5 < refused < 40


def test_prefixes_are_nested():
    sim = it.simulate(
        n_items=20,
        n_factors=2,
        n_periods=2,
        n_outcomes=50,
        noise_scale=0.1,
        drift_scale=0.1,
        rng=0,
    )
    short = sampling.prefix(sim.measurements, 20)
    assert short.n_outcomes == (20, 20)
    for whole, part in zip(sim.measurements.periods, short.periods, strict=True):
        np.testing.assert_array_equal(whole.outcomes[:20], part.outcomes)
        np.testing.assert_array_equal(whole.operator.pairs[:20], part.operator.pairs)


def test_merged_days_are_the_same_program():
    """Days with equal numbers of games collapse into one weighted mean a pair."""
    rng = np.random.default_rng(0)
    pairs = np.stack(np.triu_indices(10, 1), axis=1)
    daily = rng.normal(size=(30, len(pairs)))
    weights = it.optimal_weights(30, noise_scale=0.05, drift_scale=0.02)
    days = it.Measurements.from_pairs([pairs] * 30, list(daily), n_items=10)
    merged = it.Measurements.from_pairs([pairs], [weights @ daily], n_items=10)
    apart = it.recover(days, n_factors=1, weights=weights, rng=0)
    together = it.recover(merged, n_factors=1, rng=0)
    np.testing.assert_allclose(apart.margins, together.margins, atol=1e-6)


def test_the_default_rule_does_not_depend_on_how_players_are_numbered():
    """Swapping the two players turns the fair score round, and not the literal one."""
    n_games, shapes = 200_000, np.array([[2.0, 3.0], [4.0, 1.5]])
    scores = []
    for pair in ([[0, 1]], [[1, 0]]):
        out = [np.empty(1) for _ in range(3)]
        play(np.random.default_rng(0), shapes, np.array(pair), n_games, *out)
        scores.append((out[0][0], out[1][0]))
    within = 6 * 0.6 / np.sqrt(n_games)  # six standard deviations, false once in 10⁸ runs
    assert abs(scores[0][0] + scores[1][0]) < within
    assert abs(scores[0][1] + scores[1][1]) > 10 * within


def test_counts_move_by_whole_cells_and_small_drift_stands_still():
    assert cell_counting._variance_of_rounded(0.05) == pytest.approx(0.0, abs=1e-12)
    for scale in (0.3, 2.0, 30.0):
        drawn = np.rint(scale * np.random.default_rng(0).normal(size=400_000))
        expected = cell_counting._variance_of_rounded(scale)
        assert np.mean(drawn**2) == pytest.approx(expected, rel=0.02)


def test_the_limit_of_known_exposures_is_that_of_least_squares():
    """One period: (AᵀA)⁺ σ², pushed to X, by a dense pseudoinverse."""
    operator = it.uniform_pairs(22, 97, np.random.default_rng(0))
    now = cell_counting.COUNTS
    rows = np.zeros((97, 22))
    for k, (i, j) in enumerate(operator.pairs):
        rows[k, i] += 1.0
        rows[k, j] -= 1.0
    spread = 0.1**2 * np.trace(np.linalg.pinv(rows.T @ rows))
    found = cell_counting._limit([operator], now, 0.0).value
    assert found == pytest.approx(spread / np.sum((now - now.mean()) ** 2))


def test_errors_of_matrix_and_counts_are_proportional_when_q_is_known():
    point = Point(1.0)
    readings = list(cell_counting.measure(point, generator(0, "x", point, 0), Options()))
    errors = {(r.curve, r.measure): r.value for r in readings if r.facet == cell_counting.KNOWN}
    ratios = [errors[curve, "counts"] / errors[curve, "error"] for curve in estimators.WEIGHTS]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-6)


@pytest.mark.parametrize("facet", housing.FACETS)
def test_houses_are_the_same_houses_in_any_units(facet):
    S, Q = housing.features(facet)
    assert (S.shape, Q.shape) == ((5, 8, 2), (8, 2))
    X = S[-1] @ Q.T - Q @ S[-1].T
    assert np.linalg.matrix_rank(X) == 4
    raw = housing.features(housing.RAW)[0]
    for column in range(2):
        correlation = np.corrcoef(S[..., column].ravel(), raw[..., column].ravel())[0, 1]
        assert correlation == pytest.approx(1.0)


def test_a_further_estimator_is_one_line():
    """As the joint smoother is: here equal weights by Newton, which must meet its curve."""

    def equally(sim):
        return estimators.Guess(it.recover(sim.measurements, n_factors=2, rng=0).margins)

    further = {"joint": equally}
    options, point = Options(extras=frozenset({"joint", "newton"})), Point(1e-4)
    for module, what in ((recovery_error, "error"), (sample_ratio, "ratio")):
        found = {
            r.curve: r.value
            for r in module.measure(point, generator(0, "x", point, 0), options, further)
            if r.measure == what
        }
        assert found["joint"] == pytest.approx(found["equal weights, Newton"], rel=1e-6)
