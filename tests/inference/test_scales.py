from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from intransit.inference.joint_fit import estimate_scales, imply, penalised
from intransit.inference.joint_problem import Columns, rescale
from intransit.inference.newton import SparseEquations, solve_joint
from tests.inference.joint_problems import case_of, prior_precision, random_case, simulated_case

SCALES = {
    "static scores": ("noise_scale", "score_prior_scale"),
    "drifting scores": ("noise_scale", "score_prior_scale", "score_drift_scale"),
    "pairs": ("noise_scale", "score_prior_scale", "score_drift_scale", "pair_scale"),
}


def row_map(case):
    """The linear map from free states to rows, signs as the rows name their items."""
    problem = case.problem
    cell_of = {
        (int(i), int(j), int(w)): k
        for k, ((i, j), w) in enumerate(zip(case.cells.pairs, case.cells.when, strict=True))
    }
    z = problem.without_factors(case.columns)
    J = np.stack([problem.push(z, unit) for unit in np.eye(len(z))[problem.free]], axis=1)
    rows = []
    for t, (i, j) in zip(case.rows.times, case.rows.pairs, strict=True):
        w = int(np.abs(case.cells.axis - t).argmin())
        rows.append(J[cell_of[min(i, j), max(i, j), w]] * (1 if i < j else -1))
    return np.array(rows)


def exact_evidence(case, A, scales):
    """log p(rows), all states integrated out, as one dense normal distribution."""
    problem = rescale(case.problem, case.columns, scales)
    free = problem.free
    prior = np.linalg.inv(prior_precision(problem)[np.ix_(free, free)])
    covariance = A @ prior @ A.T + np.diag(scales.noise_scale**2 / case.rows.counts)
    return multivariate_normal(cov=covariance).logpdf(case.rows.outcomes)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", sorted(SCALES))
def test_estimated_scales_of_scores_maximise_the_evidence(name, seed):
    """As found by a general optimiser on the dense distribution, to 3 %."""
    case = simulated_case(name, seed, n_items=7, n_rows=150)
    free, A = SCALES[name], row_map(case)
    first = replace(case.scales, **{n: 1.7 * getattr(case.scales, n) for n in free})
    problem = rescale(case.problem, case.columns, first)
    answer = estimate_scales(
        problem,
        case.columns,
        first,
        free,
        problem.without_factors(case.columns),
        tolerance=1e-6,
        max_steps=50,
        seed=0,
    )
    assert answer.converged

    def cost(logs):
        values = dict(zip(free, np.exp(logs).tolist(), strict=True))
        return -exact_evidence(case, A, replace(case.scales, **values))

    best = minimize(
        cost,
        np.log([getattr(case.scales, n) for n in free]),
        method="Nelder-Mead",
        options={"xatol": 3e-3, "fatol": 1e-4, "maxfev": 300},
    )
    found = np.log([getattr(answer.scales, n) for n in free])
    assert np.abs(found - best.x).max() <= 0.03


def rotated(problem, z, rng):
    """Both factors turned alike: the same posterior, seen from elsewhere."""
    out = z.copy()
    S, Q, _ = problem.split(out)
    both = np.flatnonzero(problem.strengths.free & problem.exposures.free)
    turn, _ = np.linalg.qr(rng.normal(size=(len(both),) * 2))
    S[:, both], Q[:, both] = S[:, both] @ turn, Q[:, both] @ turn
    return out


@pytest.mark.parametrize("name", ["three drifting factors", "scores and factors", "everything"])
def test_a_turn_of_the_factors_changes_neither_penalties_nor_scales(name):
    case = simulated_case(name, 0, n_rows=150)
    z = solve_joint(case.problem, case.z, tolerance=1e-8).z
    turned = rotated(case.problem, z, np.random.default_rng(0))
    held, other = penalised(case.problem, z), penalised(case.problem, turned)
    for one, two in zip(held.sides[:2], other.sides[:2], strict=True):
        np.testing.assert_allclose(one.extra, two.extra, rtol=1e-6)
    free = ("noise_scale", "prior_scale", "drift_scale")
    one, two = (imply(case.problem, case.columns, s, case.scales, free, 0) for s in (z, turned))
    for scale in free:
        assert getattr(one, scale) == pytest.approx(getattr(two, scale), rel=1e-5)


@pytest.mark.parametrize("name", ["scores and factors", "everything"])
def test_a_penalty_is_what_the_partners_of_a_state_leave_open(name):
    """Cell by cell: curvature times the mean variance of the partner's factors."""
    case = simulated_case(name, 0, logistic=True, n_rows=150)
    problem = case.problem
    both = np.flatnonzero(problem.strengths.free & problem.exposures.free)
    curvature = problem.loss.terms(problem.margins(case.z))[1]
    V_S, V_Q = SparseEquations(problem, case.z, curvature).covariances()
    S, Q = np.zeros(problem.strengths.shape), np.zeros(problem.exposures.shape)
    for (a, b, c, d), weight in zip(problem.places, curvature, strict=True):
        for out, state, V in ((S, a, V_Q[d]), (S, b, V_Q[c]), (Q, d, V_S[a]), (Q, c, V_S[b])):
            out[state, both] += weight * np.mean([V[k, k] for k in both])
    held = penalised(problem, case.z)
    np.testing.assert_allclose(held.strengths.extra, S, rtol=1e-10)
    np.testing.assert_allclose(held.exposures.extra, Q, rtol=1e-10)
    now_S, now_Q, _ = problem.split(case.z)
    more = 0.5 * (np.sum(S * now_S**2) + np.sum(Q * now_Q**2))
    assert held.penalty(case.z) == pytest.approx(problem.penalty(case.z) + more)


def test_strengths_that_are_known_say_nothing_of_the_scale_of_scores():
    """A column known on both sides is an offset, and has no prior."""
    rng = np.random.default_rng(0)
    plain = random_case("static scores", 0)
    offset = np.zeros((6, 1))
    columns = Columns(
        np.hstack([plain.columns.strengths, 50 + offset]),
        np.hstack([plain.columns.exposures, offset]),
    )
    case = case_of(plain.rows, columns, plain.scales, logistic=False, rng=rng)
    implied = []
    for c in (plain, case):
        z = solve_joint(c.problem, c.problem.without_factors(c.columns)).z
        implied.append(imply(c.problem, c.columns, z, c.scales, ("score_prior_scale",), 0))
    assert implied[0].score_prior_scale == pytest.approx(implied[1].score_prior_scale, rel=1e-6)


BOUNDS = {  # how far off, in logarithms: about three standard errors of such data
    "noise_scale": 0.06,
    "score_prior_scale": 0.45,
    "prior_scale": 0.35,
    "score_drift_scale": 0.35,
    "drift_scale": 0.4,
    "pair_scale": 0.3,
}


@pytest.mark.parametrize(
    ("name", "logistic"),
    [
        ("drifting scores", False),
        ("drifting scores", True),
        ("pairs", False),
        ("pairs", True),
        ("drifting factor", False),
        ("drifting factor", True),
    ],
)
def test_scales_that_made_the_data_are_found_again(name, logistic):
    """From a start 60 % too large, within the bounds above."""
    free = {
        "drifting scores": ("noise_scale", "score_prior_scale", "score_drift_scale"),
        "pairs": ("noise_scale", "score_prior_scale", "score_drift_scale", "pair_scale"),
        "drifting factor": ("noise_scale", "prior_scale", "drift_scale"),
    }[name]
    free = free[1:] if logistic else free
    case = simulated_case(name, 1, logistic=logistic, n_items=25, n_rows=2500)
    first = replace(case.scales, **{n: 1.6 * getattr(case.scales, n) for n in free})
    answer = estimate_scales(
        rescale(case.problem, case.columns, first),
        case.columns,
        first,
        free,
        case.z,
        tolerance=1e-4,
        max_steps=100,
        seed=0,
    )
    assert answer.converged
    for scale in free:
        off = np.log(getattr(answer.scales, scale) / getattr(case.scales, scale))
        assert abs(off) <= BOUNDS[scale], scale
