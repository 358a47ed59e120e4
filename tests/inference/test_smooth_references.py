"""`smooth` against answers of others: Kalman smoothers, choix, scikit-learn, and `recover`."""

import choix
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother

import intransit as it
from intransit.inference.laplace import Laplace

NOISE, DRIFT, PRIOR = 0.4, 0.3, 1.2
EXACT = {"noise_scale": NOISE, "drift_scale": DRIFT, "prior_scale": PRIOR, "tolerance": 1e-12}


class Walks:
    """Items that walk at random, with known exposures: a linear Gaussian state space.

    The state at one time stacks S by rows.  An item's first state has the prior's scale, so that
    its walk stands still before the first time at which it was compared.
    """

    def __init__(self, seed, n_items, n_factors, n_times=9, n_rows=60):
        rng = np.random.default_rng(seed)
        self.axis = np.cumsum(rng.exponential(0.7, n_times)) - 2.0
        self.when = np.sort(rng.integers(0, n_times, n_rows))
        self.when[:n_times] = np.arange(n_times)  # none is empty
        self.first = rng.integers(0, n_items, n_rows)
        self.second = (self.first + rng.integers(1, n_items, n_rows)) % n_items
        self.outcomes = rng.normal(size=n_rows)
        self.counts = rng.integers(1, 4, n_rows).astype(float)
        self.exposures = rng.normal(size=(n_items, n_factors))
        self.n_items, self.n_factors, self.size = n_items, n_factors, n_items * n_factors
        self.debut = np.full(n_items, n_times)
        for items in (self.first, self.second):
            np.minimum.at(self.debut, items, self.when)
        assert (self.debut < n_times).all()
        self.order = rng.permutation(n_rows)

    def smooth(self, **settings):
        keep = self.order
        rows = it.Timeline.from_arrays(
            self.first[keep],
            self.second[keep],
            self.outcomes[keep],
            self.axis[self.when][keep],
            counts=self.counts[keep],
        )
        return it.smooth(
            rows, n_factors=self.n_factors, exposures=self.exposures, **(EXACT | settings)
        )

    def row(self, i, j):
        """Return the derivative of the margin of i over j in the state."""
        out = np.zeros((self.n_items, self.n_factors))
        out[i] += self.exposures[j]
        out[j] -= self.exposures[i]
        return out.ravel()

    def readings(self, t):
        """Return design, outcomes and noise variances at a time."""
        at = np.flatnonzero(self.when == t)
        H = np.array([self.row(self.first[k], self.second[k]) for k in at])
        return H, self.outcomes[at], NOISE**2 / self.counts[at]

    def step_noise(self, t):
        """Return the variances of the step from time t to the next."""
        gap = self.axis[t + 1] - self.axis[t] if t + 1 < len(self.axis) else 0.0
        return np.repeat(np.where(self.debut <= t, DRIFT**2 * gap, 0.0), self.n_factors)


def kalman_smoother(walks):
    """Return means (T, n) and covariances (T, n, n) by Rauch, Tung and Striebel, all dense."""
    m, P = np.zeros(walks.size), PRIOR**2 * np.eye(walks.size)
    filtered, foretold = [], []
    for t in range(len(walks.axis)):
        foretold.append((m, P))
        H, y, variance = walks.readings(t)
        gain = np.linalg.solve(H @ P @ H.T + np.diag(variance), H @ P).T
        m = m + gain @ (y - H @ m)
        left = np.eye(walks.size) - gain @ H
        P = left @ P @ left.T + gain @ np.diag(variance) @ gain.T
        filtered.append((m, P))
        P = P + np.diag(walks.step_noise(t))
    means, covariances = [filtered[-1][0]], [filtered[-1][1]]
    for t in range(len(walks.axis) - 2, -1, -1):
        (m, P), (m_next, P_next) = filtered[t], foretold[t + 1]
        back = np.linalg.solve(P_next, P).T
        means.append(m + back @ (means[-1] - m_next))
        covariances.append(P + back @ (covariances[-1] - P_next) @ back.T)
    return np.array(means[::-1]), np.array(covariances[::-1])


def statsmodels_smoother(walks):
    """Return the same by statsmodels' state space; readings that are not there are NaN."""
    T, n = len(walks.axis), walks.size
    width = max(np.sum(walks.when == t) for t in range(T))
    y = np.full((width, T), np.nan)
    design, noise = np.zeros((width, n, T)), np.zeros((width, width, T))
    noise[np.arange(width), np.arange(width)] = 1.0
    for t in range(T):
        H, outcomes, variance = walks.readings(t)
        y[: len(outcomes), t] = outcomes
        design[: len(outcomes), :, t] = H
        noise[np.arange(len(outcomes)), np.arange(len(outcomes)), t] = variance
    model = KalmanSmoother(k_endog=width, k_states=n)
    model.bind(np.asfortranarray(y))
    model["design"], model["obs_cov"] = design, noise
    model["transition"], model["selection"] = np.eye(n), np.eye(n)
    model["state_cov"] = np.stack([np.diag(walks.step_noise(t)) for t in range(T)], axis=2)
    model.initialize_known(np.zeros(n), PRIOR**2 * np.eye(n))
    answer = model.smooth()
    return answer.smoothed_state.T, np.moveaxis(answer.smoothed_state_cov, 2, 0)


@pytest.mark.parametrize("n_factors", [1, 2])
@pytest.mark.parametrize("smoother", [kalman_smoother, statsmodels_smoother])
def test_with_exposures_known_it_is_a_kalman_smoother(smoother, n_factors):
    """Means and covariances, of states and of margins, to 1e-8; times irregular, rows shuffled."""
    walks = Walks(n_factors, n_items=7, n_factors=n_factors)
    means, covariances = smoother(walks)
    path = walks.smooth()
    np.testing.assert_allclose(path.times, walks.axis)

    chains = path.problem.strengths.chains
    covariance = Laplace(path.problem, path.solution.z).covariance
    S, _, _ = path.problem.split(path.solution.z)
    for t in range(len(walks.axis)):
        states = np.flatnonzero(chains.when == t)
        here = (chains.owners[states][:, None] * n_factors + np.arange(n_factors)).ravel()
        np.testing.assert_allclose(S[states].ravel(), means[t][here], atol=1e-8)
        at = (states[:, None] * n_factors + np.arange(n_factors)).ravel()
        np.testing.assert_allclose(
            covariance[np.ix_(at, at)], covariances[t][np.ix_(here, here)], atol=1e-8
        )

    low, high = path.interval(level=0.6826894921370859)  # one standard deviation either way
    for t in range(len(walks.axis)):
        for i in range(walks.n_items):
            for j in range(walks.n_items):
                if walks.debut[i] > t or walks.debut[j] > t:
                    continue  # the state before a debut is the smoother's own convention
                row = walks.row(i, j)
                mean, deviation = row @ means[t], np.sqrt(row @ covariances[t] @ row)
                assert path.margins[t, i, j] == pytest.approx(mean, abs=1e-8)
                assert path.deviation(i, j, walks.axis[t]) == pytest.approx(deviation, abs=1e-8)
                assert low[t, i, j] == pytest.approx(mean - deviation, abs=1e-8)
                assert high[t, i, j] == pytest.approx(mean + deviation, abs=1e-8)


@pytest.mark.parametrize("n_factors", [1, 2])
def test_all_states_at_all_times_are_the_gaussian_given_the_readings(n_factors):
    """Covariances across times too, and margins between, before and after the observed times.

    The twin conditions the prior's covariance of all items at all times, written out, on the
    readings: no recursion, no precision matrix.
    """
    walks = Walks(10 + n_factors, n_items=6, n_factors=n_factors, n_times=6, n_rows=40)
    path = walks.smooth()
    asked = np.array([-5.0, walks.axis[0], -1.7, walks.axis[2], 0.1, 1.3, walks.axis[-1], 12.0])
    begin = walks.axis[walks.debut]  # each walk runs from its own debut, to both sides

    def prior(first, s, second, t):
        a, b = s - begin[first], t - begin[second]
        shared = np.where(a * b > 0, np.minimum(np.abs(a), np.abs(b)), 0.0)
        return np.where(first == second, PRIOR**2 + DRIFT**2 * shared, 0.0)

    clock = walks.axis[walks.when]
    i, j, Q = walks.first, walks.second, walks.exposures
    pairs = np.stack(np.triu_indices(6, 1), axis=1)
    a, b = np.tile(pairs, (len(asked), 1)).T
    at = np.repeat(asked, len(pairs))

    def covariance(i, j, s, k, m, t):  # of margins (i, j) at s with (k, m) at t
        def part(p, q, o, r):
            return prior(p[:, None], s[:, None], o[None], t[None]) * (Q[q] @ Q[r].T)

        return part(i, j, k, m) - part(i, j, m, k) - part(j, i, k, m) + part(j, i, m, k)

    seen = covariance(i, j, clock, i, j, clock) + np.diag(NOISE**2 / walks.counts)
    across = covariance(a, b, at, i, j, clock)
    mean = across @ np.linalg.solve(seen, walks.outcomes)
    left = covariance(a, b, at, a, b, at) - across @ np.linalg.solve(seen, across.T)
    np.testing.assert_allclose(path.margin(a, b, at), mean, atol=1e-8)
    np.testing.assert_allclose(path.deviation(a, b, at) ** 2, np.diag(left), atol=1e-8)


def test_conjugate_gradients_give_the_kalman_smoother_too():
    """Above the limit of the dense path, means to 1e-6 of the twin that conditions densely."""
    rng = np.random.default_rng(5)
    n_items, n_times, n = 120, 12, 1500
    i = rng.integers(0, n_items, n)
    j = (i + rng.integers(1, n_items, n)) % n_items
    t, y = rng.integers(0, n_times, n) / 3.0, rng.normal(size=n)
    path = it.smooth(it.Timeline.from_arrays(i, j, y, t), n_factors=0, **EXACT)
    assert path.solution.n_products > 0
    begin = np.full(n_items, np.inf)
    for items in (i, j):
        np.minimum.at(begin, items, t)

    def shared(p, q):
        least = np.minimum(t[:, None], t[None]) - begin[p][:, None]
        return np.where(p[:, None] == q[None], PRIOR**2 + DRIFT**2 * least, 0.0)

    K = shared(i, i) - shared(i, j) - shared(j, i) + shared(j, j)
    mean = K @ np.linalg.solve(K + NOISE**2 * np.eye(n), y)
    np.testing.assert_allclose(path.margin(i, j, t), mean, atol=1e-6)


def random_games(seed, n_items=15, n=300):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_items)
    i = rng.integers(0, n_items, n)
    j = (i + rng.integers(1, n_items, n)) % n_items
    wins = rng.random(n) < 1 / (1 + np.exp(scores[j] - scores[i]))
    return i, j, wins.astype(float)


def by_scikit_learn(i, j, wins, n_items, scale):
    """Return scores: scikit-learn minimises ½ |w|² + C Σ loss."""
    lines, ones = np.arange(len(i)), np.ones(len(i))
    entries = np.concatenate([ones, -ones]), (np.tile(lines, 2), np.concatenate([i, j]))
    design = csr_array(entries, shape=(len(i), n_items))
    model = LogisticRegression(
        C=scale**2, fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000
    )
    return model.fit(design, wins).coef_[0]


def by_choix(i, j, wins, n_items, scale):
    """Return scores: choix adds alpha |w|², so alpha is half of 1 / scale²."""
    data = [(a, b) if won else (b, a) for a, b, won in zip(i, j, wins, strict=True)]
    return choix.opt_pairwise(n_items, data, alpha=0.5 / scale**2, tol=1e-12)


@pytest.mark.parametrize("scale", [0.5, 3.0])
@pytest.mark.parametrize("peer", [by_choix, by_scikit_learn])
def test_static_scores_of_wins_are_the_penalised_maximum_of_others(peer, scale):
    i, j, wins = random_games(0)
    scores = peer(i, j, wins, 15, scale)
    path = it.smooth(
        it.Timeline.from_arrays(i, j, wins),
        n_factors=0,
        loss="logistic",
        drift_scale=0.0,
        prior_scale=scale,
        tolerance=1e-12,
    )
    np.testing.assert_allclose(path.margins[0], scores[:, None] - scores, atol=1e-6)


def test_static_scores_of_many_items_are_those_of_scikit_learn():
    """The same by conjugate gradients: 1,300 unknowns."""
    i, j, wins = random_games(1, n_items=1300, n=4000)
    scores = by_scikit_learn(i, j, wins, 1300, 1.5)
    path = it.smooth(
        it.Timeline.from_arrays(i, j, wins, n_items=1300),
        n_factors=0,
        loss="logistic",
        drift_scale=0.0,
        prior_scale=1.5,
        tolerance=1e-12,
    )
    assert path.solution.n_products > 0
    np.testing.assert_allclose(path.margin(i, j), scores[i] - scores[j], atol=1e-6)


@pytest.mark.parametrize("n_factors", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_recover_is_the_case_without_drift(seed, n_factors):
    """Weights v and scales s, τ make the ridge s² / (τ² Σ v): recover's weights sum to 1."""
    sim = it.simulate(
        n_items=12,
        n_factors=n_factors,
        n_periods=3,
        n_outcomes=150,
        noise_scale=0.2,
        drift_scale=0.05,
        rng=seed,
    )
    weights, noise, prior = np.array([0.5, 1.0, 2.5]), 0.2, 1.3
    path = it.smooth(
        sim.measurements,
        n_factors=n_factors,
        noise_scale=noise,
        drift_scale=0.0,
        prior_scale=prior,
        weights=weights,
        tolerance=1e-12,
        rng=0,
    )
    ridge = noise**2 / (prior**2 * weights.sum())
    answer = it.recover(
        sim.measurements,
        n_factors=n_factors,
        weights=weights,
        ridge=ridge,
        tolerance=1e-14,
        rng=0,
    )
    for margins in path.margins:
        np.testing.assert_allclose(margins, answer.margins, atol=1e-6)
