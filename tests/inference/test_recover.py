import warnings

import numpy as np
import pytest

import intransit as it
from intransit.data.measurements import Operator
from intransit.errors import ConvergenceWarning
from intransit.experiments.experiment import Point, generator
from tests.inference.problems import paper_trial


def relative_error(answer, sim):
    truth = sim.margins[-1]
    return np.sum((answer.margins - truth) ** 2) / np.sum(truth**2)


@pytest.mark.parametrize(("drift", "limit"), [(1e-4, 3.3e-6), (1e-2, 6.5e-5)])
def test_the_papers_setting_reaches_its_error(drift, limit):
    """Medians over 100 trials are in benchmarks/; here 30 fixed seeds with 30 % of room."""
    weights = it.optimal_weights(5, noise_scale=0.01, drift_scale=drift)
    errors = []
    for seed in range(30):
        sim = paper_trial(seed, drift)
        errors.append(
            relative_error(it.recover(sim.measurements, n_factors=2, weights=weights), sim)
        )
    assert np.median(errors) <= 1.3 * limit


def test_both_methods_minimise_the_same_program():
    weights = it.optimal_weights(5, noise_scale=0.01, drift_scale=0.01)
    for seed in range(10):
        sim = paper_trial(seed, 0.01)
        newton, paper = (
            it.recover(sim.measurements, n_factors=2, weights=weights, method=method)
            for method in ("newton", "alternating")
        )
        assert newton.objective == pytest.approx(paper.objective, rel=1e-6)
        np.testing.assert_allclose(newton.margins, paper.margins, atol=1e-3)
        for answer in (newton, paper):
            assert (np.diff(answer.objectives) <= 0).all()
            assert answer.converged
            assert answer.status.startswith("Reached a minimum")


def test_the_last_period_alone_succeeds_with_restarts():
    """Doubtful starts are tried again: none ends 1 % above the best of 20 random starts."""
    for seed in (69, 115):  # where the spectral start alone fails
        sim = paper_trial(seed, 0.01)
        settings = {"n_factors": 2, "weights": [0, 0, 0, 0, 1]}
        answer = it.recover(sim.measurements, rng=0, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            others = [
                it.recover(sim.measurements, start="random", restarts=0, rng=k, **settings)
                for k in range(20)
            ]
        assert answer.objective <= 1.01 * min(other.objective for other in others)
        assert answer.attempts[0].objective > 10 * answer.objective
        assert [a.start for a in answer.attempts] == ["spectral", "random, cooled"]


def test_a_valley_that_swallows_all_cooled_starts_is_left():
    """A trial of recovery-error in which every cooled start fails and plain ones do not."""
    rng = generator(0, "recovery-error", Point(1.0), 6)
    sim = paper_trial(rng, 1.0)
    answer = it.recover(sim.measurements, n_factors=2, weights=[0, 0, 0, 0, 1], rng=0)
    assert relative_error(answer, sim) < 1e-3
    cooled = [a for a in answer.attempts if a.start.endswith("cooled")]
    assert len(cooled) >= 2
    assert all(a.objective > 10 * answer.objective for a in cooled)


def test_the_same_seed_gives_the_same_answer_and_is_kept():
    sim = paper_trial(0, 0.01, n_outcomes=90)
    first = it.recover(sim.measurements, n_factors=2, start="random", rng=7)
    again = it.recover(sim.measurements, n_factors=2, start="random", rng=7)
    np.testing.assert_array_equal(first.margins, again.margins)
    assert first.seed == 7
    unseeded = it.recover(sim.measurements, n_factors=2, start="random")
    repeated = it.recover(sim.measurements, n_factors=2, start="random", rng=unseeded.seed)
    np.testing.assert_array_equal(unseeded.margins, repeated.margins)
    own = it.recover(sim.measurements, n_factors=2, rng=np.random.default_rng(0))
    assert own.seed is None


def test_a_given_start_is_where_it_starts():
    sim = paper_trial(0, 0.0)
    truth = (sim.strengths[-1], sim.exposures[-1])
    answer = it.recover(sim.measurements, n_factors=2, start=truth)
    assert answer.attempts[0].start == "given"
    assert answer.n_steps <= 4
    assert answer.objectives[0] < 1.1 * answer.objective


def test_plain_scores_come_back_up_to_a_constant_and_say_so():
    """With Q = 1 the program is weighted least squares on score differences."""
    S, Q = it.transitive_factors(8, rng=0)
    sim = it.simulate(
        strengths=S, exposures=Q, n_periods=2, n_outcomes=60, noise_scale=0.1, drift_scale=0, rng=1
    )
    answer = it.recover(sim.measurements, n_factors=1, exposures=Q)
    readings = sim.measurements.periods
    pairs = np.concatenate([r.operator.pairs for r in readings])
    y = np.concatenate([r.outcomes for r in readings])
    design = np.zeros((len(y), 8))
    np.add.at(design, (np.arange(len(y)), pairs[:, 0]), 1.0)
    np.add.at(design, (np.arange(len(y)), pairs[:, 1]), -1.0)
    scores = np.linalg.lstsq(design, y, rcond=None)[0]  # least norm: mean zero
    np.testing.assert_allclose(answer.strengths[:, 0], scores, atol=1e-7)
    assert answer.freedom.dimension == 1
    assert str(answer.freedom).startswith("One constant may be added")
    assert len(answer.attempts) == 1  # convex: no second opinion needed
    assert it.study.count_triangles(answer.margins) == 0


@pytest.mark.parametrize("method", ["newton", "alternating"])
def test_known_features_beside_unknown_factors(method):
    """One column of Q is ones, one of S is measured, a third factor is unknown."""
    rng = np.random.default_rng(0)
    S, Q = rng.normal(size=(2, 15, 3))
    Q[:, 0] = 1.0
    sim = it.simulate(
        strengths=S, exposures=Q, n_periods=1, n_outcomes=600, noise_scale=0.0, drift_scale=0, rng=1
    )
    known_Q, known_S = np.full((15, 3), np.nan), np.full((15, 3), np.nan)
    known_Q[:, 0], known_S[:, 1] = 1.0, S[:, 1]
    answer = it.recover(
        sim.measurements, n_factors=3, exposures=known_Q, strengths=known_S, method=method, rng=0
    )
    np.testing.assert_allclose(answer.margins, sim.margins[-1], atol=1e-6)
    np.testing.assert_array_equal(answer.exposures[:, 0], 1.0)
    np.testing.assert_array_equal(answer.strengths[:, 1], S[:, 1])
    assert answer.freedom.dimension == 4 * 5 // 2
    assert "keep the known ones" in str(answer.freedom)
    assert answer.doubts == ()  # all other directions are settled, by the rank of the Jacobian


def test_kinds_and_numbers_of_readings_may_differ_between_periods():
    rng = np.random.default_rng(0)
    S, Q = rng.normal(size=(2, 9, 1))
    X = S @ Q.T - Q @ S.T
    entries = it.uniform_entries(9, 40, rng)
    sums = it.Combinations.from_terms(
        [
            [(i, (i + k) % 9, 1.0), ((i + 2) % 9, (i + 5) % 9, -2.0)]
            for i in range(9)
            for k in (1, 3)
        ],
        n_items=9,
    )
    dense = it.gaussian_matrices(9, 11, rng)
    operators: list[Operator] = [entries, sums, dense]
    seen = it.Measurements.from_operators(operators, [a.apply(X) for a in operators])
    answer = it.recover(seen, n_factors=1, weights=[1, 2, 3])
    np.testing.assert_allclose(answer.margins, X, atol=1e-7)
    assert seen.n_outcomes == (40, 18, 11)


def test_recovery_of_many_items_is_exact_without_noise():
    """The matrix-free path at a size a test can afford; N=2,000 is in benchmarks/."""
    sim = it.simulate(
        n_items=400,
        n_factors=3,
        n_periods=1,
        n_outcomes=40_000,
        noise_scale=0,
        drift_scale=0,
        rng=0,
    )
    for method in ("newton", "alternating"):
        answer = it.recover(sim.measurements, n_factors=3, method=method)
        assert relative_error(answer, sim) < 1e-16
    i, j = np.random.default_rng(1).integers(0, 400, (2, 50))
    np.testing.assert_allclose(answer.margin(i, j), answer.margins[i, j], atol=1e-12)
    assert answer.margin(3, 5) == pytest.approx(answer.margins[3, 5])


def test_near_the_counting_limit():
    """1.5 pairs a degree of freedom: the cooled starts find what plain ones miss."""
    found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        S, Q = rng.normal(size=(2, 60, 2))
        X = S @ Q.T - Q @ S.T
        every = np.stack(np.triu_indices(60, 1), axis=1)
        n_pairs = int(1.5 * it.theory.degrees_of_freedom(60, 2))
        pairs = every[rng.choice(len(every), n_pairs, replace=False)]
        seen = it.Measurements.from_pairs([pairs], [X[pairs[:, 0], pairs[:, 1]]], n_items=60)
        answer = it.recover(seen, n_factors=2, rng=0)
        found += np.linalg.norm(answer.margins - X) < 1e-10 * np.linalg.norm(X)
    assert found >= 4


def test_what_the_data_do_not_settle_is_said():
    pairs = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]])
    seen = it.Measurements.from_pairs([pairs], [np.ones(6)], n_items=8)
    doubts = " ".join(it.recover(seen, n_factors=1).doubts)
    assert "2 items (6, 7) were never compared" in doubts
    assert "2 groups with no comparison between them" in doubts
    assert "6 distinct readings are fewer than the 13 degrees of freedom" in doubts
    assert "without changing any reading" in doubts
    ring = it.Measurements.from_pairs([[(0, 1), (1, 2), (2, 3), (3, 0)]], [np.ones(4)])
    assert "fewer than 4 others" not in " ".join(it.recover(ring, n_factors=1).doubts)


def test_open_directions_are_counted_for_every_kind_of_reading():
    """Where counting pairs sees nothing amiss, the rank of the Jacobian does."""
    rng = np.random.default_rng(0)
    S, Q = rng.normal(size=(2, 10, 1))
    left_right = np.array([[i, j] for i in range(5) for j in range(5, 10)])
    few = it.gaussian_matrices(10, 5, rng)
    for operator in (it.Entries(left_right, 10), few):
        seen = it.Measurements.from_operators([operator], [operator.read(S, Q)])
        answer = it.recover(seen, n_factors=1, start=(S, Q), restarts=0)
        assert it.theory.static_limit(S, Q, operator, noise_scale=1.0).n_open > 0
        assert any("without changing any reading" in doubt for doubt in answer.doubts)
    assert any("5 distinct readings are fewer" in doubt for doubt in answer.doubts)
    assert it.recover(paper_trial(0, 0.0).measurements, n_factors=2).doubts == ()


def test_noisy_readings_get_a_second_opinion():
    """Where noise could hide a wrong minimum, the lowest of many starts is found by few."""
    for seed in range(12):
        sim = paper_trial(seed, 0.0, n_periods=1, n_outcomes=200, noise_scale=0.5)
        answer = it.recover(sim.measurements, n_factors=2, rng=seed)
        assert len(answer.attempts) >= 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            others = [
                it.recover(sim.measurements, n_factors=2, start="random", restarts=0, rng=k)
                for k in range(6)
            ]
        best = min((o.objective for o in others if o.converged), default=np.inf)
        assert answer.objective <= 1.01 * best


def test_an_unfinished_answer_says_so():
    sim = paper_trial(0, 0.01)
    with pytest.warns(ConvergenceWarning, match="raise max_steps"):
        answer = it.recover(sim.measurements, n_factors=2, max_steps=1, restarts=0)
    assert not answer.converged
    assert answer.status.startswith("Stopped after 1 step before")


def test_the_ridge_is_part_of_the_objective():
    sim = paper_trial(0, 0.0)
    plain = it.recover(sim.measurements, n_factors=2)
    ridged = it.recover(sim.measurements, n_factors=2, ridge=1.0)
    S, Q = ridged.strengths, ridged.exposures
    data = sum(
        0.1 * np.sum((r.operator.apply(ridged.margins) - r.outcomes) ** 2)
        for r in sim.measurements.periods
    )
    assert ridged.objective == pytest.approx(data + 0.5 * (np.sum(S**2) + np.sum(Q**2)), rel=1e-9)
    assert np.linalg.norm(ridged.margins) < np.linalg.norm(plain.margins)
