"""Small random problems of every kind, and the slow obvious twins they are checked against."""

import numpy as np

import intransit as it
from intransit.data.measurements import Combinations, Entries, Matrices, PeriodReadings
from intransit.inference.weighted_program import Problem, collapse

KINDS = ("entries", "combinations", "matrices", "all kinds")


def paper_trial(rng, drift_scale, **changes):
    """Simulate the paper's first experiment: N=20, r=2, T=5, σ₁=0.01, p=0.4."""
    sizes = {"n_items": 20, "n_factors": 2, "n_periods": 5, "n_outcomes": 160}
    settings = {**sizes, "noise_scale": 0.01, "drift_scale": drift_scale, "rng": rng}
    return it.simulate(**(settings | changes))


def random_operator(kind, n_items, n_outcomes, rng):
    if kind == "entries":
        return Entries(rng.integers(0, n_items, (n_outcomes, 2)), n_items)
    if kind == "combinations":
        n_terms = 3 * n_outcomes
        rows = np.concatenate([np.arange(n_outcomes), rng.integers(0, n_outcomes, 2 * n_outcomes)])
        pairs = rng.integers(0, n_items, (n_terms, 2))
        return Combinations(rows, pairs, rng.normal(size=n_terms), n_outcomes, n_items)
    return Matrices(rng.normal(size=(n_outcomes, n_items, n_items)))


def random_periods(kind, n_items, rng, n_periods=3):
    kinds = KINDS[:3] if kind == "all kinds" else (kind,) * n_periods
    periods = []
    for k in kinds:
        n_outcomes = int(rng.integers(5, 30))
        operator = random_operator(k, n_items, n_outcomes, rng)
        counts = rng.integers(1, 4, n_outcomes).astype(float)
        periods.append(PeriodReadings(operator, rng.normal(size=n_outcomes), counts))
    return periods


def random_problem(kind, n_items, n_factors, rng, *, known=None, ridge=0.0):
    """A problem, its data, its periods and weights; `known` names given columns of [S Q]."""
    periods = random_periods(kind, n_items, rng)
    weights = rng.random(len(periods))
    data = collapse(periods, weights)
    columns = np.full((n_items, 2 * n_factors), np.nan)
    for c in known or ():
        columns[:, c] = rng.normal(size=n_items)
    return Problem(data.pairs, data.loss, columns, ridge), data, periods, weights


def random_factors(problem, rng):
    drawn = rng.normal(size=problem.known.shape)
    return np.where(problem.free, drawn, problem.known)


def objective_by_definition(factors, periods, weights, ridge=0.0, free=None):
    """The paper's program, one reading at a time; counts repeat a reading."""
    r = factors.shape[1] // 2
    S, Q = factors[:, :r], factors[:, r:]
    X = S @ Q.T - Q @ S.T
    total = 0.0
    for readings, w in zip(periods, weights, strict=True):
        for a, y, n in zip(
            dense_rows(readings.operator), readings.outcomes, readings.counts, strict=True
        ):
            total += 0.5 * w * n * (np.sum(a * X) - y) ** 2
    kept = factors if free is None else factors[:, free]
    return total + 0.5 * ridge * np.sum(kept**2)


def dense_rows(operator):
    """A_m as N x N matrices, from the adjoint's definition by unit vectors left aside."""
    n = operator.n_items
    rows = np.zeros((operator.n_outcomes, n, n))
    if isinstance(operator, Entries):
        for m, (i, j) in enumerate(operator.pairs):
            rows[m, i, j] += 1.0
    elif isinstance(operator, Combinations):
        for m, (i, j), c in zip(operator.rows, operator.pairs, operator.coefficients, strict=True):
            rows[m, i, j] += c
    else:
        rows[:] = operator.matrices
    return rows


def slope_by_differences(function, factors, moved, step=1e-6):
    slopes = np.zeros((len(factors), len(moved)))
    for i in range(len(factors)):
        for k, c in enumerate(moved):
            up, down = factors.copy(), factors.copy()
            up[i, c] += step
            down[i, c] -= step
            slopes[i, k] = (function(up) - function(down)) / (2 * step)
    return slopes
