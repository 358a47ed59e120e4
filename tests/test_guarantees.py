import numpy as np
import pytest

import intransit as it
from intransit import theory

N, R, M, T = 20, 2, 160, 5
SETTING = {"n_items": N, "n_factors": R, "noise_scale": 0.01, "drift_scale": 0.02}


def test_the_error_bound_is_the_theorem_written_out():
    w = np.array([0.1, 0.1, 0.2, 0.2, 0.4])
    bound = theory.error_bound(weights=w, n_outcomes=M, bound=1.5, c1=2.0, c2=3.0, **SETTING)
    b1 = 2.0 * 1.5**2 * N**2 * np.sqrt(sum(w**2) * np.log(2 * N) / M)
    inner = sum(w[t - 1] ** 2 * (2 * 0.02**2 * (T - t) + 0.01**2) for t in range(1, T + 1))
    b2 = 3.0 * R * N**3 * np.log(2 * N) / M * (inner + 1.5**2 * sum(w**2))
    assert bound.spread == pytest.approx(b1)
    assert bound.noise == pytest.approx(b2)
    assert bound.value == max(bound.spread, bound.noise)


def test_the_reduced_forms_of_the_bound():
    """eq. (wT=1), eq. (err_reduce1), and the latter with equal weights."""
    a, noise = 1.5, 0.01
    log = np.log(2 * N)
    common = {"n_items": N, "n_factors": R, "n_outcomes": M, "noise_scale": noise, "bound": a}
    alone = theory.error_bound(weights=np.eye(T)[-1], drift_scale=0.7, **common)
    assert alone.spread == pytest.approx(a**2 * N**2 * np.sqrt(log / M))
    assert alone.noise == pytest.approx(R * N**3 * log / M * (noise**2 + a**2))
    still = theory.error_bound(weights=np.ones(T), drift_scale=0.0, **common)
    assert still.spread == pytest.approx(a**2 * N**2 * np.sqrt(log / (M * T)))
    assert still.noise == pytest.approx(R * N**3 * log / (M * T) * (noise**2 + a**2))


@pytest.mark.parametrize(
    ("drift", "periods", "expected"),
    [(1e-4, 1, 714), (1e-4, 20, 48), (10**-1.5, 1, 714), (10**-1.5, 20, 875)],
)
def test_the_sample_complexity_of_the_papers_figure(drift, periods, expected):
    """Evaluated as printed with N=20, r=2, μ=1, σ₁=0.01 and the optimal weights."""
    w = it.optimal_weights(periods, noise_scale=0.01, drift_scale=drift)
    needed = theory.sample_complexity(
        n_items=N, n_factors=R, weights=w, noise_scale=0.01, drift_scale=drift
    )
    assert needed == pytest.approx(expected, rel=0.01)


def test_the_reduced_forms_of_the_sample_complexity():
    common = {"n_items": N, "n_factors": R, "noise_scale": 0.01}
    whole = N * np.log(2 * T * N**3) * np.log(2 * N)
    still = theory.sample_complexity(weights=np.ones(T), drift_scale=0.0, c=2.0, **common)
    alone = theory.sample_complexity(weights=np.eye(T)[-1], drift_scale=9.0, **common)
    assert still == pytest.approx(2.0 * whole / T)
    assert alone == pytest.approx(whole)


def test_the_success_probability():
    value = theory.success_probability(n_items=10, n_periods=3, c1=2.0, c2=0.5)
    assert value == pytest.approx(1 - 2 / 10 - 0.5 * 3 * 10 * np.exp(-10))
    assert theory.success_probability(n_items=2, n_periods=50) == 0.0


def test_the_constant_of_the_proof():
    assert pytest.approx(74.94, abs=0.01) == theory.PROOF_C1


def test_incoherence_lies_between_its_ends():
    one_pair = np.zeros((8, 8))
    one_pair[0, 1], one_pair[1, 0] = 2.0, -2.0
    assert theory.incoherence(one_pair) == pytest.approx(np.sqrt(8 / 2))
    S, Q = np.random.default_rng(0).normal(size=(2, 30, 2))
    X = S @ Q.T - Q @ S.T
    U, _, Vt = np.linalg.svd(X)
    rows = max(np.linalg.norm(U[:, :4], axis=1).max(), np.linalg.norm(Vt[:4], axis=0).max())
    assert theory.incoherence(X) == pytest.approx(rows * np.sqrt(30 / 4))
    assert 1 <= theory.incoherence(X, n_factors=2) <= np.sqrt(30 / 4)
    assert theory.largest_entry(X) == np.abs(X).max()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: theory.degrees_of_freedom(3, 2), "2 factors need at least 4 items"),
        (lambda: theory.degrees_of_freedom(0, 1), "n_items is 0"),
        (lambda: theory.incoherence(np.zeros((3, 3))), "not zero"),
        (
            lambda: theory.incoherence(it.study.check_margins([[0, 1], [-1, 0]]), n_factors=2),
            "has rank 2",
        ),
        (lambda: theory.degrees_of_freedom(np.nan, 1), "n_items is nan"),
        (lambda: theory.incoherence(np.ones((3, 3))), "skew-symmetric"),
        (lambda: theory.largest_entry(np.ones(3)), "square matrix"),
        (
            lambda: theory.sample_complexity(
                n_items=5, n_factors=1, weights=[1], noise_scale=0, drift_scale=0
            ),
            "0/0",
        ),
        (
            lambda: theory.error_bound(weights=[1, -1], n_outcomes=5, bound=1.0, **SETTING),
            "weights: entry 1 is -1",
        ),
        (
            lambda: theory.error_bound(weights=[1], n_outcomes=5, bound=-1.0, **SETTING),
            "bound is -1.0",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(it.InputError, match=sentence):
        call()
