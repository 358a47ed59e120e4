"""What a trajectory answers: intervals that cover, draws that agree, forecasts, doubts."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, ndtr
from scipy.stats import norm

import intransit as it
from intransit.inference.laplace import Laplace, MarginQuery
from intransit.inference.likelihood import average_logistic
from tests.inference.problems import paper_trial


def simulated(seed, *, n_items, n_times, n_factors, scores, loss, n, noise=0.3, drift=0.2):
    """Return true margins (T, N, N), comparisons, and the settings that they were made with."""
    rng = np.random.default_rng(seed)
    width = n_factors + scores
    S = np.cumsum(
        np.concatenate(
            [
                rng.normal(size=(1, n_items, width)),
                drift * rng.normal(size=(n_times - 1, n_items, width)),
            ]
        ),
        axis=0,
    )
    Q = rng.normal(size=(n_items, width))
    if scores:
        Q[:, 0] = 1.0
    X = S @ Q.T
    X = X - X.swapaxes(1, 2)
    t, i = rng.integers(0, n_times, n), rng.integers(0, n_items, n)
    j = (i + rng.integers(1, n_items, n)) % n_items
    if loss == "logistic":
        y = (rng.random(n) < expit(X[t, i, j])).astype(float)
    else:
        y = X[t, i, j] + noise * rng.normal(size=n)
    settings = {
        "n_factors": n_factors,
        "scores": scores,
        "loss": loss,
        "noise_scale": noise,
        "drift_scale": drift,
        "prior_scale": 1.0,
        "rng": 0,
    }
    return X, it.Timeline.from_arrays(i, j, y, t.astype(float), n_items=n_items), settings


def small_path(seed=0, **changes):
    """Return a fit of 8 items with scores and a factor, at times 0 to 4."""
    kind = {"n_items": 8, "n_times": 5, "n_factors": 1, "scores": True, "loss": "squared", "n": 200}
    _, games, settings = simulated(seed, **(kind | changes))
    return it.smooth(games, **settings)


# Coverage


@pytest.mark.parametrize(
    ("loss", "n_factors", "scores", "n"),
    [
        ("squared", 1, False, 200),
        ("squared", 1, True, 200),
        ("logistic", 0, True, 400),
        ("logistic", 1, True, 600),
    ],
)
def test_intervals_cover_as_often_as_they_say_with_few_items(loss, n_factors, scores, n):
    """Of 9,900 margins in 30 simulated truths (60 of scores), 90 % intervals cover 86 to 94 %.

    One truth's coverage has a standard deviation of 0.023 to 0.045, 0.06 for scores (its margins
    depend on each other), and the mean lies at 0.889 to 0.917, at least 3.5 standard errors
    inside: false alarms below 1e-3.
    """
    covered = []
    for seed in range(30 if n_factors else 60):
        X, games, settings = simulated(
            seed, n_items=12, n_times=5, n_factors=n_factors, scores=scores, loss=loss, n=n
        )
        low, high = it.smooth(games, **settings).interval(level=0.9)
        first, second = np.triu_indices(12, 1)
        covered.append(np.mean(((low < X) & (high > X))[:, first, second]))
    assert 0.86 < np.mean(covered) < 0.94


@pytest.mark.parametrize(
    ("loss", "n_factors", "scores", "n_items", "n"),
    [
        ("squared", 0, True, 600, 9600),
        ("squared", 1, False, 300, 9600),
        ("logistic", 0, True, 600, 9600),
    ],
)
def test_intervals_cover_with_many_items_where_they_come_from_draws(
    loss, n_factors, scores, n_items, n
):
    """More than 2,000 unknowns; 90 % intervals of 4,000 margins cover between 86 and 94 %.

    Over seeds coverage has a standard deviation of 0.006 about 0.88 to 0.914, over 3.3 of them
    inside: false alarms below 1e-3.
    """
    X, games, settings = simulated(
        1, n_items=n_items, n_times=8, n_factors=n_factors, scores=scores, loss=loss, n=n
    )
    path = it.smooth(games, **settings)
    assert np.count_nonzero(path.problem.free) > 2000
    rng = np.random.default_rng(9)
    i, t = rng.integers(0, n_items, 4000), rng.integers(0, 8, 4000)
    j = (i + rng.integers(1, n_items, 4000)) % n_items
    low, high = path.interval(i, j, t, level=0.9)
    assert 0.86 < np.mean((low < X[t, i, j]) & (X[t, i, j] < high)) < 0.94


def test_forecasts_cover():
    """The last two of eight times held back, 40 truths: 90 % intervals cover 86 to 94 %.

    One truth's coverage has a standard deviation of 0.066, so their mean one of 0.0105: false
    alarms below 1e-3.
    """
    covered = []
    for seed in range(40):
        X, games, settings = simulated(
            100 + seed, n_items=12, n_times=8, n_factors=0, scores=True, loss="squared", n=400
        )
        keep = games.times < 6
        first, second = games.pairs[keep].T
        early = it.Timeline.from_arrays(
            first, second, games.outcomes[keep], games.times[keep], n_items=12
        )
        low, high = it.smooth(early, **settings).interval(at=[6.0, 7.0], level=0.9)
        a, b = np.triu_indices(12, 1)
        covered.append(np.mean(((low < X[6:]) & (X[6:] < high))[:, a, b]))
    assert 0.86 < np.mean(covered) < 0.94


# Draws


def test_draws_have_the_mean_and_deviation_of_the_margins():
    """Scores are linear: 20,000 draws, at, between, before and after observed times.

    Means are within 5 standard errors and deviations within 4 % (8 standard errors).
    """
    path = small_path(n_factors=0)
    at = np.array([-1.5, 0.0, 1.3, 2.0, 2.5, 4.0, 7.0])
    draws = path.sample(20_000, rng=1)
    values = draws.margin(2, 5, at)
    assert values.shape == (20_000, 7)
    assert len(draws) == 20_000
    deviation = path.deviation(2, 5, at)
    standard = np.abs(values.mean(axis=0) - path.margin(2, 5, at)) / deviation
    assert standard.max() < 5 / np.sqrt(20_000)
    np.testing.assert_allclose(values.std(axis=0), deviation, rtol=0.04)


@pytest.mark.parametrize("scores", [False, True])
def test_draws_of_factors_agree_with_first_order_deviations(scores):
    """Margins are bilinear in the factors; deviations of 8,000 draws are within 11 %.

    The standard error is 0.8 %, and curvature adds up to 7 %.
    """
    path = small_path(n=800, scores=scores)
    i, j = np.triu_indices(8, 1)
    values = path.sample(8000, rng=1).margin(i, j, 2.0)
    np.testing.assert_allclose(values.std(axis=0), path.deviation(i, j, 2.0), rtol=0.11)
    shift = np.abs(values.mean(axis=0) - path.margin(i, j, 2.0)) / path.deviation(i, j, 2.0)
    assert shift.max() < 0.12


@pytest.mark.parametrize("drift", [0.0, 0.02])
def test_with_many_readings_draws_are_as_wide_as_deviations(drift):
    """Curvature fades with more readings: of 8,000, deviations of 8,000 draws within 6 %."""
    path = small_path(n=8000, scores=False, drift=drift)
    i, j = np.triu_indices(8, 1)
    values = path.sample(8000, rng=1).margin(i, j, 2.0)
    np.testing.assert_allclose(values.std(axis=0), path.deviation(i, j, 2.0), rtol=0.06)


@pytest.mark.parametrize("drift", [0.001, 0.01, 0.1])
def test_draws_are_as_wide_as_deviations_in_the_papers_setting(drift):
    """N=20, r=2, T=5, p=0.4: the median of their ratio over pairs is within 15 % of 1."""
    sim = paper_trial(0, drift)
    path = it.smooth(
        sim.measurements,
        n_factors=2,
        noise_scale=0.01,
        drift_scale=drift,
        prior_scale=1.0,
        rng=0,
    )
    i, j = np.triu_indices(20, 1)
    values = path.sample(500, rng=1).margin(i, j)
    assert np.median(values.std(axis=0) / path.deviation(i, j)) == pytest.approx(1.0, abs=0.15)


def test_draws_between_observed_times_hang_together():
    """In every draw scores add up around every triangle, and the walk is continuous in time."""
    draws = small_path(n_factors=0).sample(50, rng=0)
    X = draws.matrix([1.25, 1.25 + 1e-12, 9.0])
    assert X.shape == (50, 3, 8, 8)
    np.testing.assert_allclose(X, X[..., :1] - X[..., 0][..., None, :], atol=1e-10)
    np.testing.assert_allclose(X[:, 0], X[:, 1], atol=1e-5)
    np.testing.assert_array_equal(X, -X.swapaxes(-1, -2))
    assert small_path().sample(3, rng=0).margins.shape == (3, 5, 8, 8)


def test_draws_of_a_large_problem_agree_with_those_of_its_dense_twin():
    """Deviations from 100 draws are within 35 % of the exact ones: 5 standard errors of 7 %."""
    _, games, settings = simulated(
        3, n_items=500, n_times=6, n_factors=0, scores=True, loss="logistic", n=5000
    )
    path = it.smooth(games, **settings)
    assert np.count_nonzero(path.problem.free) > 2000
    i, t = np.arange(300), np.arange(300) % 6
    query = MarginQuery(path.problem, path.pairs, i, i + 100, t.astype(float))
    exact = Laplace(path.problem, path.solution.z, dense=True)
    deviation = np.sqrt(exact.variances(query, np.random.default_rng(0)))
    np.testing.assert_allclose(path.deviation(i, i + 100, t), deviation, rtol=0.35)
    values = path.sample(400, rng=5).margin(i, i + 100, t.astype(float))
    np.testing.assert_allclose(values.std(axis=0), deviation, rtol=0.18)


def test_a_seed_repeats_everything():
    path, again = small_path(), small_path()
    np.testing.assert_array_equal(path.margins, again.margins)
    np.testing.assert_array_equal(path.interval(0, 1, 7.7), again.interval(0, 1, 7.7))
    for at in (2.0, 2.5, 9.0):
        one, two = path.sample(5, rng=3), again.sample(5, rng=3)
        np.testing.assert_array_equal(one.margin(0, 1, at), two.margin(0, 1, at))
    assert path.cyclic_share() == again.cyclic_share()
    assert path.change(0, 0.0, 4.0) == again.change(0, 0.0, 4.0)
    assert (path.sample(5, rng=3).margin(0, 1) != path.sample(5, rng=4).margin(0, 1)).all()


def test_large_intervals_repeat_too():
    _, games, settings = simulated(
        3, n_items=500, n_times=6, n_factors=0, scores=True, loss="logistic", n=5000
    )
    one, two = it.smooth(games, **settings), it.smooth(games, **settings)
    np.testing.assert_array_equal(one.interval(0, 1), two.interval(0, 1))
    np.testing.assert_array_equal(one.interval(0, 1), one.interval(0, 1))
    np.testing.assert_array_equal(
        one.sample(3, rng=1).margin(0, 1), two.sample(3, rng=1).margin(0, 1)
    )


# Questions


def test_summaries_are_means_over_draws():
    path = small_path()
    X = path.sample(200, rng=0).matrix(3.0)
    values = X[:, 0, 1] * X[:, 2, 3]
    found = path.summary(lambda m: m[0, 1] * m[2, 3], at=3.0, level=0.8)
    np.testing.assert_allclose(found.values, values)
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.1, 0.9])))
    assert found.probability_positive == pytest.approx(np.mean(values > 0))
    best = path.matrix(3.0)
    assert found.value == pytest.approx(best[0, 1] * best[2, 3])


def test_cyclic_share_is_the_energy_that_no_ranking_explains():
    path = small_path()
    X = path.sample(200, rng=0).matrix(path.times[-1])
    means = X.mean(axis=2)  # the nearest scores of a full matrix are its row means
    scores = means[:, :, None] - means[:, None]
    shares = 1 - np.sum(scores**2, axis=(1, 2)) / np.sum(X**2, axis=(1, 2))
    found = path.cyclic_share()
    np.testing.assert_allclose(found.values, shares, atol=1e-10)
    assert 0 < found.low <= found.mean <= found.high < 1
    ranking = small_path(n_factors=0).cyclic_share()
    assert ranking.high < 1e-10


def test_change_asks_both_times_of_the_same_draw():
    """Against draws; and, for scores, against the exact deviation, within 20 % for 1,000 draws."""
    path = small_path(n_factors=0)
    found = path.change(2, 0.0, 4.0, n=1000)
    draws = path.sample(1000, rng=0)
    others = np.delete(np.arange(8), 2)
    moved = draws.margin(2, others, 4.0) - draws.margin(2, others, 0.0)
    np.testing.assert_allclose(found.values, moved.mean(axis=1))
    best = path.margin(2, others, 4.0) - path.margin(2, others, 0.0)
    assert found.value == pytest.approx(best.mean())

    z = path.solution.z
    rows = [
        MarginQuery(path.problem, path.pairs, np.full(7, 2), others, np.full(7, at))
        .derivative(z)
        .mean(axis=0)
        for at in (0.0, 4.0)
    ]
    step = rows[1] - rows[0]
    exact = np.sqrt(step @ Laplace(path.problem, z).covariance @ step)
    assert found.values.std() == pytest.approx(exact, rel=0.2)

    alone = path.change(2, 0.0, 4.0, against=[5], level=0.5)
    assert alone.value == pytest.approx(path.margin(2, 5, 4.0) - path.margin(2, 5, 0.0))
    assert alone.low < alone.mean < alone.high
    assert alone.level == 0.5
    assert path.change(2, 4.0, 0.0, n=50).value == pytest.approx(-found.value)


def test_change_tells_an_item_that_moved_from_those_that_did_not():
    """Item 0 climbs by 3 over the time; false alarms below 1e-6 as that is beyond 10 deviations."""
    rng = np.random.default_rng(0)
    n = 600
    i = rng.integers(0, 6, n)
    j = (i + rng.integers(1, 6, n)) % 6
    t = rng.integers(0, 10, n)
    rise = t / 3.0
    y = rise * (i == 0) - rise * (j == 0) + 0.3 * rng.normal(size=n)
    path = it.smooth(
        it.Timeline.from_arrays(i, j, y, t),
        n_factors=0,
        noise_scale=0.3,
        drift_scale=0.3,
        prior_scale=1.0,
    )
    assert path.change(0, 0, 9).probability_positive == 1.0
    assert 0.02 < path.change(3, 0, 9, against=[1, 2, 4, 5]).probability_positive < 0.98


# Time


def test_forecasts_widen_with_the_gap():
    """By drift² · gap for each item that scores; the margin itself stays."""
    path = small_path(n_factors=0)
    gaps = np.array([0.0, 0.5, 1.0, 2.0, 10.0])
    variance = path.deviation(0, 1, 4.0 + gaps) ** 2
    np.testing.assert_allclose(variance - variance[0], 2 * 0.2**2 * gaps, atol=1e-12)
    np.testing.assert_allclose(path.margin(0, 1, 4.0 + gaps), path.margin(0, 1, 4.0))
    backwards = path.deviation(0, 1, 0.0 - gaps) ** 2
    np.testing.assert_allclose(backwards - backwards[0], 2 * 0.2**2 * gaps, atol=1e-12)
    factors = small_path().deviation(0, 1, 4.0 + gaps)
    assert (np.diff(factors) > 0).all()


def test_between_observed_times_intervals_are_wider_than_at_them():
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(5, 1)
    first, second = np.tile(i, 12), np.tile(j, 12)
    t = np.repeat([0.0, 10.0], len(first) // 2)
    path = it.smooth(
        it.Timeline.from_arrays(first, second, rng.normal(size=len(t)), t),
        n_factors=0,
        noise_scale=0.3,
        drift_scale=0.2,
        prior_scale=1.0,
    )
    width = path.deviation(0, 1, [0.0, 2.0, 5.0, 8.0, 10.0])
    assert width[0] < width[1] < width[2] > width[3] > width[4]
    ends = path.margin(0, 1, [0.0, 10.0])
    assert path.margin(0, 1, 5.0) == pytest.approx(ends.mean())
    assert path.margin(0, 1, 2.5) == pytest.approx(0.75 * ends[0] + 0.25 * ends[1])


def test_the_default_time_is_the_last_one():
    path = small_path()
    assert path.margin(0, 1) == path.margin(0, 1, 4.0)
    assert path.deviation(0, 1) == path.deviation(0, 1, 4.0)
    np.testing.assert_array_equal(path.matrix(4.0), path.margins[-1])
    np.testing.assert_array_equal(path.interval(at=4.0)[0], path.interval()[0][-1])


def test_readings_of_any_shape():
    path = small_path()
    X = path.margins
    assert X.shape == (5, 8, 8)
    np.testing.assert_array_equal(X, -X.swapaxes(1, 2))
    i, j = np.arange(8)[:, None], np.arange(8)[None]
    np.testing.assert_allclose(path.margin(i, j, 2.0), X[2], atol=1e-12)
    assert path.margin(0, 1).shape == ()
    assert path.matrix([[0.0, 1.0], [2.0, 3.0]]).shape == (2, 2, 8, 8)
    low, high = path.interval()
    np.testing.assert_allclose((low + high) / 2, X, atol=1e-12)
    np.testing.assert_allclose(
        high - low,
        2 * norm.isf(0.05) * np.stack([path.deviation(i, j, t) for t in path.times]),
        atol=1e-12,
    )
    np.testing.assert_array_equal(np.diagonal(low, axis1=1, axis2=2), 0.0)
    assert path.deviation(3, 3, 99.0) == 0.0
    assert path.margin(3, 3, 99.0) == 0.0


# Probabilities


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_probabilities_complement_each_other_exactly(loss):
    path = small_path(loss=loss)
    i, j = np.triu_indices(8, 1)
    for at in (0.0, 1.7, 4.0, 50.0):
        assert (path.probability(i, j, at) + path.probability(j, i, at) == 1.0).all()
    assert path.probability(0, 0) == 0.5


def test_probabilities_average_over_the_interval():
    """Against integrals by quadrature: 1e-6 for wins, exact for readings."""
    path = small_path(loss="logistic")
    for i, j, at in ((0, 1, 0.0), (2, 5, 3.5), (6, 7, 8.0)):
        mean, deviation = path.margin(i, j, at), path.deviation(i, j, at)
        average, _ = quad(
            lambda u, m=mean, d=deviation: expit(m + d * u) * norm.pdf(u),
            -10,
            10,
            limit=500,
            epsabs=1e-10,
        )
        assert path.probability(i, j, at) == pytest.approx(average, abs=1e-6)
        low, high = path.probability_interval(i, j, at)
        margins = path.interval(i, j, at)
        assert (low, high) == pytest.approx(tuple(expit(margins)))
    path = small_path()
    mean, deviation = path.margin(0, 1), path.deviation(0, 1)
    assert path.probability(0, 1) == pytest.approx(ndtr(mean / np.hypot(deviation, 0.3)))
    low, high = path.probability_interval(0, 1)
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize(("mean", "deviation"), [(0.5, 10.0), (3.0, 10.0), (3.0, 30.0)])
def test_probabilities_of_hardly_known_margins_are_averages_too(mean, deviation):
    """Against the integral by quadrature: 1e-8, however steep the function looks from there."""
    average, _ = quad(
        lambda u: expit(mean + deviation * u) * norm.pdf(u), -12, 12, limit=1000, epsabs=1e-12
    )
    found = average_logistic(np.array(mean), np.array(deviation**2))
    assert found == pytest.approx(average, abs=1e-8)


def test_probability_of_a_distant_forecast_goes_to_one_half():
    path = small_path(loss="logistic", n_factors=0)
    i, j = np.unravel_index(np.argmax(path.margins[-1]), (8, 8))
    chances = path.probability(i, j, [4.0, 10.0, 100.0, 1e4, 1e8])
    assert (np.diff(chances) < 0).all()
    assert chances[-1] == pytest.approx(0.5, abs=0.01)


# Status and doubt


def two_groups(**settings):
    first, second = [0, 1, 2, 4, 5, 6] * 5, [1, 2, 0, 5, 6, 4] * 5
    rng = np.random.default_rng(0)
    times = np.repeat(np.arange(5.0), 6)
    rows = it.Timeline.from_arrays(first, second, rng.normal(size=30), times, n_items=8)
    known = {"noise_scale": 0.5, "drift_scale": 0.1, "prior_scale": 1.0, "rng": 0}
    return it.smooth(rows, **({"n_factors": 0} | known | settings))


@pytest.mark.parametrize("n_factors", [0, 1])
def test_unconnected_groups_are_named(n_factors):
    path = two_groups(n_factors=n_factors)
    assert path.converged
    groups = path.groups
    assert len(set(groups[[0, 1, 2]])) == 1
    assert len(set(groups[[4, 5, 6]])) == 1
    assert len({groups[0], groups[4], groups[3], groups[7]}) == 4
    words = " ".join(path.doubts)
    assert "2 groups" in words
    assert "2 of 8 items were never compared" in words
    assert "item 3" in words
    assert path.extrapolated(0, 4)
    assert path.extrapolated(0, 3)
    assert path.extrapolated(3, 7)
    assert not path.extrapolated(0, 2)
    assert not path.extrapolated([4, 5], [5, 6]).any()
    assert not path.extrapolated(0, 0)
    np.testing.assert_array_equal(
        path.extrapolated(0, 1, [-1.0, 0.0, 2.5, 4.0, 4.1]), [1, 0, 0, 0, 1]
    )
    # Of items never compared only the prior is known.
    assert path.margin(3, 7) == pytest.approx(0.0, abs=1e-12)


def test_across_groups_the_prior_speaks():
    """Two scores that share no comparison differ by independent walks from the prior."""
    path = two_groups()
    within, across = path.deviation(0, 1, 2.0), path.deviation(0, 4, 2.0)
    assert across > 2 * within
    unseen = path.deviation(3, 7, 0.0)
    assert unseen == pytest.approx(np.sqrt(2.0))


def test_factors_of_items_never_compared_are_as_wide_as_the_prior():
    """The variance of s·q - q·s is 2 τ⁴ for one factor; 4,000 draws within 10 %."""
    path = two_groups(n_factors=1)
    values = path.sample(4000, rng=0).margin(3, 7, 0.0)
    assert values.std() == pytest.approx(np.sqrt(2.0), rel=0.1)
    assert path.deviation(3, 7, 0.0) == pytest.approx(np.sqrt(2.0), rel=0.1)


def test_a_connected_record_leaves_no_doubt():
    path = small_path()
    assert path.doubts == ()
    assert path.converged
    assert "Reached an optimum" in path.status
    assert path.status in repr(path)


def test_stopping_early_is_said():
    _, games, settings = simulated(
        0, n_items=8, n_times=5, n_factors=1, scores=True, loss="logistic", n=200
    )
    with pytest.warns(it.ConvergenceWarning, match="raise max_steps"):
        path = it.smooth(games, max_steps=1, **settings)
    assert not path.converged
    assert "Stopped after 1 step" in path.status


@pytest.mark.parametrize("n_factors", [0, 1])
def test_a_single_time_is_enough(n_factors):
    rng = np.random.default_rng(0)
    x = rng.normal(size=6)
    i = rng.integers(0, 6, 80)
    j = (i + rng.integers(1, 6, 80)) % 6
    rows = it.Timeline.from_arrays(i, j, x[i] - x[j] + 0.1 * rng.normal(size=80))
    path = it.smooth(rows, n_factors=n_factors, rng=0)
    assert path.margins.shape == (1, 6, 6)
    assert path.converged
    assert path.scales.drift_scale == path.scales.score_drift_scale == 0.0
    if n_factors != 1:
        np.testing.assert_allclose(path.margins[0], x[:, None] - x, atol=0.15)
    assert path.deviation(0, 1, 5.0) == pytest.approx(path.deviation(0, 1, 0.0))


def test_margins_of_many_items_are_read_lazily():
    n = 20_000
    rows = it.Timeline.from_arrays(np.arange(n - 1), np.arange(1, n), np.ones(n - 1))
    path = it.smooth(rows, n_factors=0, noise_scale=0.1, prior_scale=3.0)
    with pytest.raises(it.InputError, match="margin"):
        _ = path.margins
    with pytest.raises(it.InputError, match="interval"):
        path.interval()
    with pytest.raises(it.InputError, match="margin"):
        path.sample(2, rng=0).matrix(0.0)
    assert path.margin([0, 5], [1, 6]).shape == (2,)


# Bad questions


@pytest.mark.parametrize(
    "question",
    [
        lambda path: path.margin(0, 8),
        lambda path: path.margin(-1, 0),
        lambda path: path.margin(0.5, 1),
        lambda path: path.margin([0, 1], [1, 2, 3]),
        lambda path: path.margin(0, 1, np.nan),
        lambda path: path.margin(0, 1, "now"),
        lambda path: path.deviation(0, 1, np.inf),
        lambda path: path.interval(0),
        lambda path: path.interval(0, 1, level=1.0),
        lambda path: path.interval(0, 1, level=0.0),
        lambda path: path.probability_interval(0, 1, level=90),
        lambda path: path.sample(0),
        lambda path: path.sample(2.5),
        lambda path: path.matrix([np.nan]),
        lambda path: path.change(0, np.nan, 1.0),
        lambda path: path.change(0, 0.0, 1.0, against=[8]),
        lambda path: path.change(8, 0.0, 1.0),
        lambda path: path.change("rock", 0.0, 1.0),
        lambda path: path.change(0, 0.0, 1.0, level=2.0),
        lambda path: path.summary(np.max, level=-0.5),
        lambda path: path.summary(np.max, at=[0.0, 1.0]),
        lambda path: path.cyclic_share(at=np.nan),
        lambda path: path.sample(2, rng=0).margin([0, 1], [1, 2, 3]),
        lambda path: path.sample(2, rng=0).margin(0, 1, np.nan),
        lambda path: path.sample(2, rng=0).margin(0, 8),
        lambda path: path.update("more"),
    ],
)
def test_a_bad_question_gets_one_clear_sentence(question):
    with pytest.raises(it.InputError, match=r"\w.*; |\w.*: "):
        question(small_path(n_factors=0))
