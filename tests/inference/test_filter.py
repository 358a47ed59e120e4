"""The filter against slow, dense twins; its mode, its forecasts, its manners, and the truth."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtr

from intransit.errors import InputError
from intransit.inference import law_kernels
from intransit.inference.filter import Filter

SETTINGS = [(0, True), (1, True), (1, False), (2, True), (2, False)]  # n_factors, scores
SEEDS = st.integers(0, 2**32 - 1)


def random_games(seed, n_items, n, loss="logistic"):
    """Return columns of comparisons: random pairs, outcomes, times out of order, counts."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_items, n)
    second = (first + rng.integers(1, n_items, n)) % n_items
    outcomes = rng.random(n).round(1) if loss == "logistic" else 2 * rng.standard_normal(n)
    times = np.linspace(0, 5, n) + rng.normal(0, 0.5, n)
    return first, second, outcomes, times, rng.integers(1, 4, n).astype(float)


def cyclic_games(seed, *, n_items=40, n=8000, n_factors=1, loss="logistic", drift=0.0, noise=0.5):
    """Return comparisons simulated from scores and factors, and their true margins."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_items, n)
    second = (first + rng.integers(1, n_items, n)) % n_items
    times = np.arange(n) / 100
    Q = rng.standard_normal((n_items, n_factors + 1))
    Q[:, 0] = 1.0
    steps = drift / 10 * rng.standard_normal((n, n_items, n_factors + 1)) if drift else 0.0
    S = rng.standard_normal((n_items, n_factors + 1)) + np.cumsum(np.atleast_3d(steps), axis=0)
    rows = np.arange(n) if drift else np.zeros(n, int)
    s_i, s_j = S[rows, first], S[rows, second]
    margins = np.sum(s_i * Q[second] - Q[first] * s_j, axis=1)
    if loss == "logistic":
        outcomes = (rng.random(n) < expit(margins)).astype(float)
    else:
        outcomes = margins + noise * rng.standard_normal(n)
    return first, second, outcomes, times, margins


def log_loss(forecasts, outcomes):
    right = np.where(outcomes > 0.5, forecasts, 1.0 - forecasts)
    return -float(np.mean(np.log(right)))


class DenseFilter:
    """The same filter, slow and obvious: both states stacked, full matrices, bisection."""

    def __init__(self, twin, n_items, drift, exposure_drift, prior=1.0):
        r, self.n_scores = twin.n_factors, int(twin.scores)
        self.k = self.n_scores + 2 * r
        self.mu = [twin._known.means[i].copy() for i in range(n_items)]
        self.P = [prior**2 * np.eye(self.k) for _ in range(n_items)]
        self.last = [None] * n_items
        walk = [drift**2] * (self.n_scores + r) + [exposure_drift**2] * r
        self.walk = np.diag(np.array(walk, dtype=float))
        # x = b·z_i - b·z_j + z_iᵀ J z_j
        self.b = np.eye(self.k)[0] * self.n_scores if self.n_scores else np.zeros(self.k)
        self.J = np.zeros((self.k, self.k))
        for c in range(self.n_scores, self.n_scores + r):
            self.J[c, c + r], self.J[c + r, c] = 1.0, -1.0

    def aged(self, i, time):
        gap = 0.0 if self.last[i] is None or time is None else max(time - self.last[i], 0.0)
        return self.P[i] + gap * self.walk

    def moments(self, i, j, time):
        """Return mean, variance, and the covariance of the margin with both stacked states."""
        P = np.block(
            [
                [self.aged(i, time), np.zeros((self.k, self.k))],
                [np.zeros((self.k, self.k)), self.aged(j, time)],
            ]
        )
        g = np.concatenate([self.b + self.J @ self.mu[j], -self.b + self.J.T @ self.mu[i]])
        mean = self.b @ self.mu[i] - self.b @ self.mu[j] + self.mu[i] @ self.J @ self.mu[j]
        second = np.trace(self.aged(i, time) @ self.J @ self.aged(j, time) @ self.J.T)
        return mean, g @ P @ g + second, P @ g, P

    def observe(self, i, j, y, time, count, noise=None):
        mean, V, reach, P = self.moments(i, j, time)
        if noise is not None:
            c = count / noise**2
            mode = (mean / V + c * y) / (1 / V + c)
        else:
            low, high = mean - V * count, mean + V * count
            for _ in range(200):
                mode = (low + high) / 2
                slope = (mode - mean) / V + count * (expit(mode) - y)
                low, high = (mode, high) if slope < 0 else (low, mode)
            c = count * expit(mode) * expit(-mode)
        state = np.concatenate([self.mu[i], self.mu[j]]) + reach * (mode - mean) / V
        # Posterior variance of x, carried back by the regression of the states on x.
        P = P + np.outer(reach, reach) / V**2 * (1 / (1 / V + c) - V)
        k = self.k
        self.mu[i], self.mu[j] = state[:k], state[k:]
        self.P[i], self.P[j] = P[:k, :k], P[k:, k:]
        for item in (i, j):
            self.last[item] = time if self.last[item] is None else max(self.last[item], time)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize(("n_factors", "scores"), SETTINGS)
def test_filter_agrees_with_its_dense_twin(n_factors, scores, loss):
    """Means, covariances and margins agree, with times out of order and repeated games."""
    n_items, noise = 6, 0.7
    fast = Filter(
        n_factors=n_factors,
        scores=scores,
        loss=loss,
        drift_scale=0.3,
        exposure_drift_scale=0.1,
        noise_scale=noise,
        n_items=n_items,
        rng=3,
    )
    slow = DenseFilter(fast, n_items, drift=0.3, exposure_drift=0.1)
    games = random_games(11, n_items, 150, loss)
    for game in zip(*(column.tolist() for column in games), strict=True):
        slow.observe(*game, noise=noise if loss == "squared" else None)
        fast.observe(*game)
    np.testing.assert_allclose(fast._known.means[:n_items], slow.mu, atol=1e-9)
    np.testing.assert_allclose(fast._known.blocks[:n_items], slow.P, atol=1e-9)
    for time in (None, 2.0, 9.0):
        mean, variance, *_ = slow.moments(4, 1, time)
        lower, upper = fast.interval(4, 1, at=time, level=2 * ndtr(1.0) - 1)
        np.testing.assert_allclose(fast.margin(4, 1, at=time), mean, atol=1e-9)
        np.testing.assert_allclose((upper - lower) / 2, np.sqrt(variance), atol=1e-9)


def dense_kalman(first, second, outcomes, times, n_items, *, drift, noise):
    """Return mean and covariance of all scores by the exact filter, nothing dropped."""
    mu, P, now = np.zeros(n_items), np.eye(n_items), None
    for i, j, y, time in zip(first, second, outcomes, times, strict=True):
        # An item's walk begins at its first comparison: leave the others' variance alone.
        if now is not None:
            P = P + np.diag((np.diag(P) != 1.0) * drift**2 * (time - now))
        now = time
        h = np.zeros(n_items)
        h[i], h[j] = 1.0, -1.0
        gain = P @ h / (h @ P @ h + noise**2)
        mu, P = mu + gain * (y - h @ mu), P - np.outer(gain, h @ P)
    return mu, P


def test_scores_of_fresh_items_are_those_of_the_exact_kalman_filter():
    """Between items that never met anyone nothing is shared, so nothing is dropped."""
    rng = np.random.default_rng(5)
    first, second = np.arange(0, 20, 2), np.arange(1, 20, 2)
    outcomes, times = rng.standard_normal(10), np.sort(rng.random(10))
    fast = Filter(loss="squared", drift_scale=0.0, noise_scale=0.4)
    fast.observe_many(first, second, outcomes, times)
    mu, P = dense_kalman(first, second, outcomes, times, 20, drift=0.0, noise=0.4)
    np.testing.assert_allclose(fast._known.means[:20, 0], mu, atol=1e-10)
    np.testing.assert_allclose(fast._known.blocks[:20, 0, 0], np.diag(P), atol=1e-10)


def test_one_item_that_meets_only_fresh_ones_is_exact_too():
    """The hub's score, drift included: what it shares with old partners never matters to it."""
    rng = np.random.default_rng(6)
    hub, fresh = np.zeros(12, int), np.arange(1, 13)
    outcomes, times = rng.standard_normal(12), np.sort(4 * rng.random(12))
    fast = Filter(loss="squared", drift_scale=0.5, noise_scale=0.4)
    fast.observe_many(hub, fresh, outcomes, times)
    mu, P = dense_kalman(hub, fresh, outcomes, times, 13, drift=0.5, noise=0.4)
    np.testing.assert_allclose(fast._known.means[[0, 12], 0], mu[[0, 12]], atol=1e-10)
    np.testing.assert_allclose(fast._known.blocks[[0, 12], 0, 0], np.diag(P)[[0, 12]], atol=1e-10)


@settings(max_examples=300, deadline=None)
@given(
    mean=st.floats(-1e3, 1e3),
    variance=st.floats(-12, 6).map(lambda e: 10.0**e),
    wins=st.sampled_from([0.0, 1.0, 0.5]) | st.floats(0, 1),
    count=st.floats(-3, 6).map(lambda e: 10.0**e),
)
def test_the_mode_solves_its_equation(mean, variance, wins, count):
    """x - m = V n (y - σ(x)): the sign changes within a hair of the answer, however extreme."""
    pull, curvature = law_kernels.logistic_pull(mean, variance, wins, count)
    x = mean + variance * pull
    rounding = 1e-14 * (count + curvature * abs(x)) / (1 + variance * curvature)
    hair = 1e-10 * abs(pull) + rounding + 1e-300

    def miss(a):
        x = mean + variance * a
        return a - count * (wins * expit(-x) - (1 - wins) * expit(x))

    assert miss(pull - hair) <= 0.0 <= miss(pull + hair)
    np.testing.assert_allclose(curvature, count * expit(x) * expit(-x), rtol=1e-9, atol=1e-300)
    again = law_kernels.logistic_pull.py_func(mean, variance, wins, count)
    assert abs(pull - again[0]) <= hair


@pytest.mark.parametrize("mean", [-1e3, 0.0, 1e3])
@pytest.mark.parametrize("wins", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("count", [1e-6, 1e6, 1e30])
def test_the_mode_is_found_at_the_limits(mean, wins, count):
    """Millions of games against a margin of a thousand: finite, and on the side of the games."""
    pull, curvature = law_kernels.logistic_pull(mean, 1.0, wins, count)
    mode = mean + pull
    np.testing.assert_allclose(pull, count * (wins - expit(mode)), rtol=1e-6, atol=1e-9 * count)
    assert curvature >= 0.0
    if 0.0 < wins < 1.0 and count >= 1e6:
        np.testing.assert_allclose(mode, np.log(wins / (1 - wins)), atol=1.1e3 / count * 5)


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.69, 1.71, 4.0, 60.0])
def test_the_average_of_the_logistic_is_right(spread):
    """Against a sum over two hundred thousand points; the two signs complement each other."""
    z = np.linspace(-12, 12, 200_001)
    density = np.exp(-0.5 * z * z)
    for mean in (0.0, 0.2, 1.0, 5.0, 30.0):
        true = np.sum(density * expit(mean + spread * z)) / np.sum(density)
        for function in (law_kernels.mean_logistic, law_kernels.mean_logistic.py_func):
            found, other = function(mean, spread**2), function(-mean, spread**2)
            np.testing.assert_allclose(found, true, atol=1e-9)
            assert found + other == 1.0


def test_loops_agree_with_their_python_twins():
    """Compiled loops and the plain functions they were made from give the same."""
    first, second, outcomes, times, counts = random_games(2, 5, 60)
    pairs = np.stack([first, second], axis=1)
    answers = []
    for learn_many, read_many, average in (
        (law_kernels.learn_many, law_kernels.read_many, law_kernels.mean_logistics),
        (
            law_kernels.learn_many.py_func,
            law_kernels.read_many.py_func,
            law_kernels.mean_logistics.py_func,
        ),
    ):
        one = Filter(n_factors=1, drift_scale=0.2, exposure_drift_scale=0.1, rng=1)
        state = one._known[:4]
        forecasts, moments, odds = np.empty(60), np.empty((60, 2)), np.empty(60)
        learn_many(one._known, pairs, outcomes, times, counts, forecasts)
        read_many(one._known, pairs, times + 3.0, moments)
        average(*moments.T, odds)
        answers.append((*state, forecasts, moments, odds))
    for fast, slow in zip(*answers, strict=True):
        np.testing.assert_allclose(fast, slow, atol=1e-12)
    one, two = (Filter(n_factors=2, loss="squared", drift_scale=0.2, rng=1) for _ in range(2))
    for game in zip(first, second, outcomes, times, counts, strict=True):
        for each, learn in ((one, law_kernels.learn), (two, law_kernels.learn.py_func)):
            learn(each._known._replace(noise=0.5), *game)
    np.testing.assert_allclose(one._known.means, two._known.means, atol=1e-12)
    np.testing.assert_allclose(one._known.blocks, two._known.blocks, atol=1e-12)
    gaps = [(np.nan, 1.0), (0.0, np.nan), (2.0, 1.0), (1.0, 2.5)]
    assert [law_kernels.gap_since(*g) for g in gaps] == [0.0, 0.0, 0.0, 1.5]
    assert [law_kernels.gap_since.py_func(*g) for g in gaps] == [0.0, 0.0, 0.0, 1.5]


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_one_by_one_equals_all_at_once(loss):
    """observe, observe_many and forecast_many, in one piece or several, leave the same filter."""
    games = random_games(4, 50, 300, loss)
    ways = [Filter(n_factors=1, drift_scale=0.2, loss=loss, rng=8) for _ in range(4)]
    for game in zip(*games, strict=True):
        ways[0].observe(*game)
    ways[1].observe_many(*games)
    ways[2].forecast_many(*(list(column) for column in games))
    for part in range(0, 300, 100):
        ways[3].observe_many(*(column[part : part + 100] for column in games))
    for other in ways[1:]:
        np.testing.assert_array_equal(ways[0]._known.means[:50], other._known.means[:50])
        np.testing.assert_array_equal(ways[0]._known.blocks[:50], other._known.blocks[:50])
        np.testing.assert_array_equal(ways[0]._known.times[:50], other._known.times[:50])
        assert (other.n_items, other.n_seen) == (50, 300)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_forecast_is_what_could_be_asked_just_before(loss):
    games = random_games(9, 8, 40, loss)
    one, two = (Filter(n_factors=1, drift_scale=0.2, loss=loss, rng=8) for _ in range(2))
    forecasts = one.forecast_many(*games)
    for p, game in enumerate(zip(*games, strict=True)):
        ask = two.probability if loss == "logistic" else two.margin
        np.testing.assert_allclose(forecasts[p], ask(*game[:2], at=game[3]), atol=1e-12)
        two.observe(*game)


def test_what_is_kept_does_not_grow_with_history():
    """Ten thousand further comparisons of the same items take no further room."""
    one = Filter(n_factors=1, drift_scale=0.2, n_items=30, rng=0)
    before = [getattr(one._known, name).nbytes for name in ("means", "blocks", "times", "work")]
    one.observe_many(*random_games(1, 30, 10_000))
    after = [getattr(one._known, name).nbytes for name in ("means", "blocks", "times", "work")]
    assert before == after
    assert sum(after) < 30 * 8 * (1 + 3 + 9) + 8 * 12 + 1


def test_items_may_arrive_at_any_time():
    """Room doubles; an item's start depends on the seed and its number only."""
    late = Filter(n_factors=1, drift_scale=0.1, rng=5)
    early = Filter(n_factors=1, drift_scale=0.1, rng=5, n_items=1000)
    assert (late.n_items, early.n_items) == (0, 1000)
    for newcomer in range(1, 1000, 7):
        late.observe(0, newcomer, 1.0, time=newcomer)
        early.observe(0, newcomer, 1.0, time=newcomer)
        assert late.n_items == newcomer + 1
        assert len(late._known.means) < 2 * max(late.n_items, 16)
    np.testing.assert_array_equal(late._known.means[:996], early._known.means[:996])
    np.testing.assert_array_equal(late._known.blocks[:996], early._known.blocks[:996])
    pieces = late.margin(0, 5000), late.n_items  # a stranger: answered, not counted
    assert np.isfinite(pieces[0])
    assert pieces[1] == 996


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS, loss=st.sampled_from(["logistic", "squared"]))
def test_the_two_orders_of_a_pair_agree_exactly(seed, loss):
    games = random_games(seed, 6, 40, loss)
    one = Filter(n_factors=2, drift_scale=0.3, loss=loss, rng=seed)
    one.observe_many(*games)
    i, j = np.indices((6, 6))
    odds, margins = one.probability(i, j, at=7.0), one.margin(i, j)
    np.testing.assert_array_equal(odds + odds.T, 1.0)
    np.testing.assert_array_equal(margins, -margins.T)
    lower, upper = one.interval(i, j, at=7.0)
    np.testing.assert_array_equal(lower, -upper.T)
    assert odds.shape == margins.shape == lower.shape == (6, 6)
    assert isinstance(one.margin(0, 1), float)


def test_naming_a_game_from_the_other_side_changes_nothing():
    first, second, outcomes, times, counts = random_games(12, 6, 80)
    one, two = (Filter(n_factors=1, drift_scale=0.3, rng=0) for _ in range(2))
    one.observe_many(first, second, outcomes, times, counts)
    two.observe_many(second, first, 1.0 - outcomes, times, counts)
    np.testing.assert_allclose(one._known.means, two._known.means, atol=1e-10)


def test_forecasts_widen_with_the_gap():
    """And draw towards a half, while the mean stays; the past is as the last comparison left it."""
    one = Filter(n_factors=1, drift_scale=0.5, rng=0)
    one.observe_many([0, 1, 2] * 20, [1, 2, 0] * 20, [1.0] * 60, np.arange(60) / 60)
    at = np.array([-5.0, 1.0, 2.0, 10.0, 1e3, 1e9])
    lower, upper = one.interval(0, 1, at=at)
    width = upper - lower
    assert width[0] == np.subtract(*one.interval(0, 1)[::-1])
    assert (np.diff(width) > 0).all()
    odds = one.probability(0, 1, at=at)
    assert (np.diff(odds) < 0).all()
    assert odds[-1] > 0.5
    assert np.ptp(one.margin(0, 1, at=at)) == 0.0
    assert (one.interval(0, 1, level=0.5)[0] > one.interval(0, 1, level=0.99)[0]).all()


def test_without_drift_time_does_not_matter():
    first, second, outcomes, times, counts = random_games(3, 6, 80)
    one, two = (Filter(n_factors=1, drift_scale=0, rng=0) for _ in range(2))
    one.observe_many(first, second, outcomes, times, counts)
    two.observe_many(first, second, outcomes, 100 * times[::-1], counts)
    np.testing.assert_array_equal(one._known.means, two._known.means)
    assert np.linalg.eigvalsh(one._known.blocks).min() > 0.0


@settings(max_examples=60, deadline=None)
@given(
    seed=SEEDS,
    loss=st.sampled_from(["logistic", "squared"]),
    noise=st.sampled_from([1e-20, 1e-8, 1.0]),
    count=st.sampled_from([1e-6, 1.0, 1e6, 1e20]),
    drift=st.sampled_from([0.0, 1.0, 1e6]),
)
def test_variances_stay_variances(seed, loss, noise, count, drift):
    """Whatever the noise, the counts, the drift and the order of times: finite, not negative."""
    first, second, outcomes, times, counts = random_games(seed, 4, 60, loss)
    one = Filter(n_factors=2, loss=loss, noise_scale=noise, drift_scale=drift, rng=seed)
    one.observe_many(first, second, 10 * outcomes if loss == "squared" else outcomes, times)
    one.observe_many(first, second, outcomes, times, counts * count)
    assert np.isfinite(one._known.means).all()
    assert np.isfinite(one._known.blocks).all()
    assert np.diagonal(one._known.blocks, axis1=1, axis2=2).min() >= 0.0
    i, j = np.indices((4, 4))
    lower, upper = one.interval(i, j, at=1e9)
    assert (lower <= upper).all()
    odds = one.probability(i, j)
    assert ((odds >= 0.0) & (odds <= 1.0)).all()


BAD_GAMES = [
    ((-1, 1, 1.0, 0.0, 1.0), "-1"),
    ((1, 1, 1.0, 0.0, 1.0), "against itself"),
    ((0, 1, np.nan, 0.0, 1.0), "outcome nan"),
    ((0, 1, np.inf, 0.0, 1.0), "outcome inf"),
    ((0, 1, 1.5, 0.0, 1.0), "outcome 1.5; it must be a share"),
    ((0, 1, -0.1, 0.0, 1.0), "outcome -0.1"),
    ((0, 1, 1.0, np.nan, 1.0), "time nan"),
    ((0, 1, 1.0, -np.inf, 1.0), "time -inf"),
    ((0, 1, 1.0, 0.0, 0.0), "count 0.0"),
    ((0, 1, 1.0, 0.0, -2.0), "count -2.0"),
    ((0, 1, 1.0, 0.0, np.nan), "count nan"),
    ((0, 10**9, 1.0, 0.0, 1.0), "number items from 0"),
    ((0.5, 1, 1.0, 0.0, 1.0), "whole numbers"),
    (("a", 1, 1.0, 0.0, 1.0), "not numbers"),
    ((0, 1, "1.0", 0.0, 1.0), "not numbers"),
    ((0, 1, 1.0, None, 1.0), "time nan"),
]


def picture(one):
    """Return all that a filter knows, to see whether it changed."""
    arrays = one._known.means.tobytes(), one._known.blocks.tobytes(), one._known.times.tobytes()
    return *arrays, one.n_items, one.n_seen


@pytest.mark.parametrize(("game", "words"), BAD_GAMES)
def test_a_bad_comparison_is_refused_and_changes_nothing(game, words):
    one = Filter(n_factors=1, drift_scale=0.1, rng=0)
    one.observe(0, 1, 1.0, time=0.0)
    before = picture(one)
    with pytest.raises(InputError, match="^observe.*" + words):
        one.observe(*game)
    columns = [[good, bad] for good, bad in zip((0, 1, 1.0, 1.0, 1.0), game, strict=True)]
    for method in (one.observe_many, one.forecast_many):
        with pytest.raises(InputError, match=words):
            method(*columns)
    assert picture(one) == before


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (([0, 1], [1], [1.0, 1.0], [0.0, 0.0]), "second: shape"),
        (([0], [1], [1.0, 1.0], [0.0]), "outcomes: shape"),
        (([0], [1], [1.0], 0.0), "times: shape"),
        (([0], [1], [1.0], [0.0], [1.0, 1.0]), "counts: shape"),
        (([[0]], [[1]], [[1.0]], [[0.0]]), "first: shape"),
    ],
)
def test_columns_of_unequal_length_are_refused(columns, words):
    one = Filter(drift_scale=0.1)
    with pytest.raises(InputError, match=words):
        one.observe_many(*columns)
    assert one.n_seen == 0


def test_row_numbers_are_named():
    with pytest.raises(InputError, match="row 2 has the outcome 3"):
        Filter(drift_scale=0.1).observe_many([0] * 3, [1] * 3, [0.0, 1.0, 3.0], [0.0] * 3)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"scores": False}, "nothing is left to learn"),
        ({"n_factors": -1}, "n_factors is -1"),
        ({"loss": "hinge"}, '"logistic" or "squared"'),
        ({"drift_scale": -1.0}, "drift_scale is -1"),
        ({"drift_scale": np.nan}, "drift_scale is nan"),
        ({"drift_scale": 1e40}, "choose other units"),
        ({"prior_scale": 0.0}, "prior_scale is 0"),
        ({"noise_scale": 0.0}, "noise_scale is 0"),
        ({"exposure_drift_scale": "no"}, "exposure_drift_scale is 'no'"),
        ({"n_items": 1.5}, "n_items is 1.5"),
        ({"rng": "seed"}, "rng"),
    ],
)
def test_bad_settings_are_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        Filter(**({"drift_scale": 0.1} | wrong))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (lambda f: f.margin(-1, 0), "items run from 0"),
        (lambda f: f.margin([0, 1], [1, 2, 3]), "second has shape"),
        (lambda f: f.probability(0, 1, at=np.nan), "finite"),
        (lambda f: f.probability(0, 10**12), "number items from 0"),
        (lambda f: f.interval(0, 1, level=1.0), "between 0 and 1"),
        (lambda f: f.interval(0, 1, level=-0.5), "level is -0.5"),
    ],
)
def test_bad_questions_are_refused(question, words):
    with pytest.raises(InputError, match=words):
        question(Filter(drift_scale=0.1))


def test_nothing_at_all_is_fine():
    one = Filter(drift_scale=0.1)
    one.observe_many([], [], [], [])
    assert one.forecast_many([], [], [], []).shape == (0,)
    assert one.margin([], []).shape == (0,)
    assert repr(one) == "Filter(n_items=0, n_factors=0: Nothing learnt yet.)"
    assert one.probability(3, 4) == 0.5
    one.observe(0, 1, 1, 2)
    assert one.status == "Learnt 1 comparison, the latest at time 2."


def test_a_filter_may_be_copied_and_kept():
    one = Filter(n_factors=1, drift_scale=0.1, rng=2)
    one.observe_many(*random_games(1, 12, 50))
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        before = picture(other)
        one.observe(3, 40, 1.0, time=9.0)
        assert picture(other) == before
        one = copy.deepcopy(other)
        other.observe(3, 40, 1.0, time=9.0)
        one.observe(3, 40, 1.0, time=9.0)
        assert picture(one) == picture(other)


def test_any_layout_of_columns_will_do():
    """Views with strides and columns that may not be written to; nothing given is changed."""
    games = random_games(7, 6, 40)
    table = np.stack(games, axis=1)
    table.flags.writeable = False
    one, two = (Filter(n_factors=1, drift_scale=0.1, rng=0) for _ in range(2))
    one.observe_many(*games)
    two.observe_many(*table.T)
    np.testing.assert_array_equal(one._known.means, two._known.means)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cycles_are_learnt_from_wins(seed):
    """Second half of 8,000 games of 40 items with one factor and scores, forecast game by game.

    Log losses at seeds 0, 1, 2: with the factor 0.439, 0.531, 0.495; scores only 0.573, 0.594,
    0.622; the truth itself 0.425, 0.514, 0.484; not learning, ln 2 = 0.693.
    """
    *games, margins = cyclic_games(seed)
    half, outcomes = slice(4000, None), games[2]
    factors = Filter(n_factors=1, drift_scale=0.0, rng=seed).forecast_many(*games)
    scores = Filter(drift_scale=0.0).forecast_many(*games)
    found, plain, best = (
        log_loss(forecasts[half], outcomes[half]) for forecasts in (factors, scores, expit(margins))
    )
    assert found < plain - 0.05
    assert plain < np.log(2) - 0.05
    assert found < best + 0.025


@pytest.mark.parametrize(("n_factors", "limit"), [(0, 0.05), (1, 0.05), (2, 0.1)])
def test_readings_are_recovered(n_factors, limit):
    """Mean squared error of forecasts of the last quarter, as a part of the mean square margin."""
    *games, margins = cyclic_games(1, n_factors=n_factors, loss="squared")
    one = Filter(n_factors=n_factors, loss="squared", drift_scale=0.0, noise_scale=0.5, rng=1)
    forecasts = one.forecast_many(*games)
    error = np.mean((forecasts - margins)[6000:] ** 2) / np.mean(margins[6000:] ** 2)
    assert error < limit


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_drifting_strengths_are_followed(loss):
    """With drift, the drift's own scale forecasts better than pretending that nothing moves."""
    *games, margins = cyclic_games(4, drift=0.2, loss=loss)
    half, errors = slice(4000, None), []
    for drift_scale in (0.2, 0.0):
        one = Filter(
            n_factors=1, loss=loss, drift_scale=drift_scale, noise_scale=0.5, n_items=40, rng=4
        )
        forecasts = one.forecast_many(*games)[half]
        truth = expit(margins[half]) if loss == "logistic" else margins[half]
        errors.append(np.mean((forecasts - truth) ** 2))
    still = np.mean((truth - (0.5 if loss == "logistic" else 0.0)) ** 2)
    assert errors[0] < 0.6 * errors[1]
    assert errors[0] < 0.3 * still


@pytest.mark.parametrize("n_factors", [0, 1])
def test_intervals_cover_as_often_as_they_say(n_factors):
    """90 % intervals of the last thousand margins, readings from the model itself."""
    *games, margins = cyclic_games(3, n_factors=n_factors, loss="squared")
    one = Filter(n_factors=n_factors, loss="squared", drift_scale=0.0, noise_scale=0.5, rng=3)
    one.observe_many(*(column[:7000] for column in games))
    lower, upper = one.interval(games[0][7000:], games[1][7000:])
    covered = np.mean((lower < margins[7000:]) & (margins[7000:] < upper))
    assert 0.8 < covered < 0.99


def test_scores_alone_have_a_posterior_too():
    """The default of a filter; margins of draws are about its own."""
    *games, _ = cyclic_games(3, n_factors=0, loss="logistic")
    one = Filter(loss="logistic", drift_scale=0.01, rng=3)
    one.observe_many(*games)
    drawn = one.posterior(400, rng=0).margins(
        np.array([4]), np.array([0]), np.array([games[3][-1]])
    )
    lower, upper = (float(end) for end in one.interval(4, 0))
    assert lower < drawn.mean() < upper
    assert 0.7 < np.ptp(np.quantile(drawn, [0.05, 0.95])) / (upper - lower) < 1.3
