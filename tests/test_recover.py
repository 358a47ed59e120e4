import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

import intransit as it
from intransit.core.operators import Operator
from intransit.errors import ConvergenceWarning
from intransit.experiments.experiment import Point
from intransit.experiments.runner import generator


def paper_trial(seed, drift, n_outcomes=160):
    """The paper's first experiment: N=20, r=2, T=5, σ₁=0.01, p=0.4."""
    return it.simulate(
        n_items=20,
        n_factors=2,
        n_periods=5,
        n_outcomes=n_outcomes,
        noise_scale=0.01,
        drift_scale=drift,
        rng=seed,
    )


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
    sim = it.simulate(
        n_items=20,
        n_factors=2,
        n_periods=5,
        n_outcomes=160,
        noise_scale=0.01,
        drift_scale=1.0,
        rng=rng,
    )
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


def test_the_bound_is_a_constraint_of_the_program():
    sim = it.simulate(
        n_items=10, n_factors=1, n_periods=2, n_outcomes=80, noise_scale=0.3, drift_scale=0.0, rng=3
    )
    bound = 0.6 * it.theory.largest_entry(sim.margins[-1])
    free = it.recover(sim.measurements, n_factors=1)
    held = it.recover(sim.measurements, n_factors=1, bound=bound)
    clipped = np.clip(free.margins, -bound, bound)
    assert np.abs(held.margins).max() <= bound * (1 + 1e-9)
    assert np.linalg.matrix_rank(held.margins, tol=1e-8) == 2
    assert np.linalg.matrix_rank(clipped, tol=1e-8) > 2  # clipping would leave the model
    assert free.objective < held.objective


@pytest.mark.parametrize("known_S", [False, True])
def test_the_bound_with_known_factors(known_S):
    rng = np.random.default_rng(5)
    S, Q = rng.normal(size=(2, 9, 2))
    sim = it.simulate(
        strengths=S, exposures=Q, n_periods=1, n_outcomes=200, noise_scale=0.1, drift_scale=0, rng=1
    )
    given_S = np.full((9, 2), np.nan)
    if known_S:
        given_S[:, 0] = S[:, 0]
    bound = 0.9 * np.abs(sim.margins[-1]).max()
    answer = it.recover(sim.measurements, n_factors=2, exposures=Q, strengths=given_S, bound=bound)
    assert np.abs(answer.margins).max() <= bound * (1 + 1e-9)


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
        sim = it.simulate(
            n_items=20,
            n_factors=2,
            n_periods=1,
            n_outcomes=200,
            noise_scale=0.5,
            drift_scale=0,
            rng=seed,
        )
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


@pytest.mark.parametrize("known_Q", [None, np.ones((7, 1))])
def test_a_bound_through_the_front_door_agrees_with_slsqp(known_Q):
    """Gaussian matrices, with both factors unknown and with plain scores."""
    rng = np.random.default_rng(1)
    S, Q = rng.normal(size=(2, 7, 1))
    dense = it.gaussian_matrices(7, 40, rng)
    y = dense.read(S, Q) + 0.3 * rng.normal(size=40)
    bound = 0.6 * np.abs(S @ Q.T - Q @ S.T).max()
    seen = it.Measurements.from_operators([dense], [y])
    answer = it.recover(seen, n_factors=1, bound=bound, exposures=known_Q, rng=0)
    assert answer.converged
    assert np.abs(answer.margins).max() <= bound * (1 + 1e-9)
    assert answer.objective <= slsqp(dense, y, bound, known_Q, rng) * (1 + 1e-4)


def slsqp(operator, y, bound, known_Q, rng):
    n = operator.n_items
    upper = np.triu_indices(n, 1)

    def margins(flat):
        S = flat[:n, None]
        Q = flat[n:, None] if known_Q is None else known_Q
        return S @ Q.T - Q @ S.T

    def value(flat):
        return 0.5 * np.sum((operator.apply(margins(flat)) - y) ** 2)

    room = {
        "type": "ineq",
        "fun": lambda u: np.concatenate([bound - margins(u)[upper], bound + margins(u)[upper]]),
    }
    found = []
    for _ in range(10):
        start = 0.5 * rng.normal(size=2 * n if known_Q is None else n)
        options = {"maxiter": 500, "ftol": 1e-13}
        result = minimize(value, start, method="SLSQP", constraints=[room], options=options)
        if result.success:
            found.append(result.fun)
    return min(found)


@pytest.mark.parametrize("method", ["newton", "alternating"])
def test_a_bound_far_below_the_data_is_still_solved(method):
    """A large part that the bound leaves unexplained must not hide what is still to gain."""
    rng = np.random.default_rng(0)
    S, Q = rng.normal(size=(2, 8, 1))
    dense = it.gaussian_matrices(8, 60, rng)
    seen = it.Measurements.from_operators([dense], [dense.read(S, Q)])
    answers = [
        it.recover(seen, n_factors=1, bound=bound, method=method, rng=0) for bound in (0.1, 1e-4)
    ]
    for answer in answers:
        assert answer.converged
        assert "rounds" in answer.status
    # To first order in the bound the objective falls in proportion to it.
    nothing = 0.5 * np.sum(dense.read(S, Q) ** 2)
    falls = [nothing - answer.objective for answer in answers]
    assert falls[1] / 1e-4 == pytest.approx(falls[0] / 0.1, rel=0.1)


def test_a_bound_that_noise_alone_exceeds_is_not_refused():
    """True margins within 1, noise of 2, every pair read once: the program is meaningful."""
    rng = np.random.default_rng(0)
    S, Q = it.circular_factors(15)
    pairs = np.stack(np.triu_indices(15, 1), axis=1)
    y = (S @ Q.T - Q @ S.T)[pairs[:, 0], pairs[:, 1]] + 2.0 * rng.normal(size=len(pairs))
    answer = it.recover(it.Measurements.from_pairs([pairs], [y]), n_factors=1, bound=1.0, rng=0)
    assert np.abs(answer.margins).max() <= 1 + 1e-9


def test_starts_that_lead_nowhere_are_refused():
    huge = (np.arange(1.0, 5.0)[:, None] * 1e150, np.ones((4, 1)) * 1e150)
    with pytest.raises(it.InputError, match="choose other units"):
        it.recover(GOOD, n_factors=1, start=huge)
    with pytest.raises(it.InputError, match="all zeros, where nothing shows a way down"):
        it.recover(GOOD, n_factors=1, start=(np.zeros((4, 1)), np.ones((4, 1))))


def test_factors_of_a_wrong_shape_never_reach_the_loops():
    with pytest.raises(it.InputError, match="for 1000000 items"):
        it.Entries(np.array([[0, 900_000]]), 1_000_000).read(np.ones((3, 1)), np.ones((3, 1)))
    with pytest.raises(it.InputError, match="period 0 reads 9 items, but there are 8"):
        it.simulate(
            n_items=8,
            n_factors=1,
            n_periods=1,
            n_outcomes=1,
            noise_scale=0,
            drift_scale=0,
            ensemble=lambda *_: it.Entries(np.array([[0, 1]]), 9),
        )


def test_margins_are_read_without_the_matrix():
    answer = it.recover(GOOD, n_factors=1, rng=0)
    with pytest.raises(it.InputError, match="as many of one as of the other"):
        answer.margin([0, 1], [1, 2, 3])
    with pytest.raises(it.InputError, match="items run from 0 to 3"):
        answer.margin(0, 4)


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


GOOD = it.Measurements.from_pairs([[(0, 1), (1, 2), (2, 3), (3, 0)]] * 2, [[1.0, 2, 3, 4]] * 2)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_factors": 0}, "n_factors is 0; it must be a whole number"),
        ({"n_factors": 1.5}, "n_factors is 1.5"),
        ({"n_factors": 3}, "n_factors is 3 for 4 items; a matrix of 4 items has at most 2"),
        ({"method": "magic"}, 'method is \'magic\'; it must be "newton" or "alternating"'),
        ({"start": "warm"}, 'start is \'warm\'; it must be "spectral" or "random"'),
        ({"start": 3}, "start is 3; it must be"),
        ({"start": (np.zeros((4, 2)), np.zeros((4, 1)))}, r"start: S of shape \(4, 2\)"),
        ({"weights": [1.0]}, r"weights: shape \(1,\) was given for 2 periods"),
        ({"weights": [1.0, -1.0]}, "weights: entry 1 is -1"),
        ({"weights": [0.0, 0.0]}, "weights: all are 0"),
        ({"bound": 0.0}, "bound is 0.0; it must be a finite number, above 0"),
        ({"bound": np.nan}, "bound is nan"),
        ({"bound": 0.5}, "bound is 0.5, but 4 of 4 compared pairs have mean outcomes beyond it"),
        (
            {"exposures": np.ones((4, 2))},
            r"exposures: shape \(4, 2\) was given; it must be \(4, 1\)",
        ),
        (
            {"exposures": [[1], [np.nan], [1], [1]]},
            "exposures: column 0 is NaN for some items only",
        ),
        ({"exposures": np.full((4, 1), np.inf)}, "infinite values cannot be known"),
        (
            {"exposures": np.ones((4, 1)), "strengths": np.ones((4, 1))},
            "nothing is left to recover",
        ),
        ({"ridge": -1}, "ridge is -1"),
        ({"tolerance": np.nan}, "tolerance is nan"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"restarts": -1}, "restarts is -1"),
        ({"rng": "seven"}, "rng: 'seven' was given"),
        ({"n_factors": np.nan}, "n_factors is nan"),
        ({"n_factors": None}, "n_factors is None"),
        ({"weights": "optimal"}, "weights: these are not numbers"),
        ({"bound": "x"}, "bound is 'x'; it must be a finite number"),
        ({"tolerance": "x"}, "tolerance is 'x'"),
        ({"exposures": "ones"}, "exposures: these are not numbers"),
        ({"exposures": np.zeros((4, 1))}, "exposures: column 0 is all zeros"),
        ({"exposures": np.full((4, 1), 1e200)}, "choose other units"),
        ({"restarts": 1.5}, "restarts is 1.5"),
        ({"max_steps": 2.5}, "max_steps is 2.5"),
    ],
)
def test_bad_settings_get_a_sentence(settings, sentence):
    with pytest.raises(it.InputError, match=sentence):
        it.recover(GOOD, **{"n_factors": 1, **settings})


def test_a_bound_below_what_known_factors_make_is_refused():
    S, Q = np.full((4, 2), np.nan), np.full((4, 2), np.nan)
    S[:, 0], Q[:, 0] = [9, 0, 0, 0], 1.0
    with pytest.raises(
        it.InputError, match="known strengths and exposures alone make a margin of 9"
    ):
        it.recover(GOOD, n_factors=2, strengths=S, exposures=Q, bound=8.0)


def test_something_else_than_measurements_is_refused():
    with pytest.raises(it.InputError, match="a list was given; build one with"):
        it.recover([[0, 1]], n_factors=1)


def test_an_unknown_option_is_an_error():
    with pytest.raises(TypeError, match="n_factor"):
        it.recover(GOOD, n_factor=1)


@pytest.mark.parametrize(
    ("pairs", "outcomes", "settings", "sentence"),
    [
        ([[(0, 5)]], [[1.0]], {"n_items": 3}, r"pairs\[0\]: row 0 compares 0 with 5"),
        ([[(0, 1)]], [[np.nan]], {}, "period 0, outcomes: entry 0 is nan"),
        ([[(0, 1)]], [[1.0, 2.0]], {}, r"period 0, outcomes: shape \(2,\) was given for 1"),
        ([[(0, 1)]], [[1.0], [2.0]], {}, "pairs and outcomes: 1 and 2 periods"),
        ([[(0, 1)], []], [[1.0], []], {}, "period 1 has no outcomes"),
        ([], [], {}, "no period was given"),
        ([[(0, 0)]], [[1.0]], {}, "n_items is 1; a comparison needs two items"),
        ([[(0, 1)]], [[1.0]], {"counts": [[0]]}, "counts: entry 0 is 0"),
        ([[(0, 1)]], [[1.0]], {"counts": [[1], [1]]}, "counts and outcomes: 2 and 1 periods"),
        ([[(0, 1)]], [["a"]], {}, "period 0, outcomes: these are not numbers"),
        ([[("a", "b")]], [[1.0]], {}, r"pairs\[0\]: items are whole numbers from 0"),
        ([[(0, np.nan)]], [[1.0]], {}, r"pairs\[0\]: items are whole numbers from 0"),
        ([[(0, -1)]], [[1.0]], {}, r"pairs\[0\]: row 0 compares 0 with -1"),
        ([[(0, 1), (2,)]], [[1.0, 2.0]], {}, r"pairs\[0\]: the rows differ in length"),
        ([[(0, 1)]], [[1.0]], {"n_items": "3"}, "n_items is '3'"),
        ([[(0, 1)]], [[1e200]], {}, r"the largest is 1e\+200, and its square is beyond"),
        ([[(0, 1)]], [[1e-200]], {}, "choose other units"),
    ],
)
def test_bad_measurements_get_a_sentence(pairs, outcomes, settings, sentence):
    with pytest.raises(it.InputError, match=sentence):
        it.Measurements.from_pairs(pairs, outcomes, **settings)


def test_periods_must_speak_of_the_same_items():
    operators = [it.Entries(np.array([[0, 1]]), 2), it.Entries(np.array([[0, 1]]), 3)]
    with pytest.raises(it.InputError, match="disagree on the number of items"):
        it.Measurements.from_operators(operators, [[1.0], [1.0]])
