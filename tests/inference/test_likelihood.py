"""Levels of outcomes, sides: against plain probabilities, finite differences, and a plain fit."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

import intransit as it
from intransit.data.cells import Rows, collapse_rows, merge_cells
from intransit.inference.cell_kernels import ordered_terms
from intransit.inference.likelihood import CellLoss, Ends, Law, first_law

seeds = st.integers(0, 10**6)


def plain_probability(x, level, cuts):
    """P(level) as a difference of two logistic curves, boundary by boundary."""
    edges = [-np.inf, *(-c for c in reversed(cuts)), *cuts, np.inf]
    k = int(level) + len(cuts)
    return expit(x - edges[k]) - expit(x - edges[k + 1])


def random_cuts(rng, ties):
    cuts = np.cumsum(rng.uniform(0.2, 1.0, rng.integers(1, 4)))
    return tuple(cuts) if ties else (0.0, *cuts)


def random_rows(rng, *, n_items=5, n_rows=60, n_levels=2, sides=True, n_times=4):
    first = rng.integers(0, n_items, n_rows)
    second = (first + rng.integers(1, n_items, n_rows)) % n_items
    return Rows(
        rng.integers(0, n_times, n_rows).astype(float),
        np.stack([first, second], axis=1),
        rng.integers(-n_levels, n_levels + 1, n_rows).astype(float),
        rng.integers(1, 4, n_rows).astype(float),
        rng.integers(-1, 2, n_rows).astype(float) if sides else None,
    )


@given(seed=seeds, ties=st.booleans())
def test_the_kernel_is_minus_the_log_of_the_plain_probability(seed, ties):
    rng = np.random.default_rng(seed)
    cuts = random_cuts(rng, ties)
    levels = np.array([k for k in range(-len(cuts), len(cuts) + 1) if ties or k], float)
    x, n = rng.normal(size=len(levels)), rng.uniform(0.5, 3, len(levels))
    cells = collapse_rows(
        Rows(np.arange(len(levels), dtype=float), np.tile([0, 1], (len(levels), 1)), levels, n),
        2,
        shares=False,
        levels=True,
    )
    loss = CellLoss(Law("ordered", cuts), cells)
    expected = -sum(
        c * np.log(plain_probability(*v, cuts)) for c, *v in zip(n, x, levels, strict=True)
    )
    assert loss.value(x) == pytest.approx(expected, rel=1e-10)
    low, high = loss.bounds()
    slope, curvature = loss.terms(x)
    twin = np.empty_like(x), np.empty_like(x)
    value = ordered_terms.py_func(x, n, low, high, *twin)
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(twin, (slope, curvature), rtol=1e-12)
    step = 1e-5
    for k in range(len(x)):
        e = step * (np.arange(len(x)) == k)
        assert slope[k] == pytest.approx(
            (loss.value(x + e) - loss.value(x - e)) / (2 * step), abs=1e-6
        )
        bend = (loss.terms(x + e)[0][k] - loss.terms(x - e)[0][k]) / (2 * step)
        assert curvature[k] == pytest.approx(bend, abs=1e-6)


@given(seed=seeds, sides=st.booleans())
def test_cells_count_levels_and_sides_as_a_plain_loop_does(seed, sides):
    rows = random_rows(np.random.default_rng(seed), sides=sides)
    cells = collapse_rows(rows, 5, shares=False, levels=True)
    counted = Counter()
    for k, (i, j) in enumerate(rows.pairs):
        sign = 1 if i < j else -1
        side = 0.0 if rows.sides is None else sign * rows.sides[k] + 0.0
        key = (min(i, j), max(i, j), rows.times[k], sign * rows.outcomes[k] + 0.0, side)
        counted[key] += rows.counts[k]
    seen = np.zeros(len(cells)) if cells.sides is None else cells.sides
    found = {
        (*pair, time, level + 0.0, side + 0.0): n
        for pair, time, level, side, n in zip(
            cells.pairs.tolist(), cells.times, cells.means, seen, cells.counts, strict=True
        )
    }
    assert found == dict(counted)


@given(seed=seeds, sides=st.booleans())
def test_merged_cells_are_those_of_all_rows(seed, sides):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, sides=sides)
    late = rng.random(len(rows)) < 0.3
    late[:2] = True, False
    parts = [
        collapse_rows(rows.only(which), 5, shares=False, levels=True) for which in (~late, late)
    ]
    merged = merge_cells(*parts, 5, levels=True)
    whole = collapse_rows(rows, 5, shares=False, levels=True)
    for name in ("axis", "when", "pairs", "counts", "means", "sides"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


@pytest.mark.parametrize("ties", [True, False])
def test_a_static_fit_equals_a_plain_minimiser_over_scores_cuts_and_advantage(ties):
    rng = np.random.default_rng(3)
    n_items, n = 4, 150
    first = rng.integers(0, n_items, n)
    second = (first + rng.integers(1, n_items, n)) % n_items
    side = rng.integers(-1, 2, n).astype(float)
    truth, cuts = np.array([1.0, 0.3, -0.2, -1.0]), ((0.5, 1.3) if ties else (0.0, 1.0))
    x = truth[first] - truth[second] + 0.6 * side
    levels = np.array([-2, -1, 0, 1, 2])
    chances = np.stack([[plain_probability(v, k, cuts) for k in levels] for v in x])
    y = levels[[rng.choice(5, p=p / p.sum()) for p in chances]].astype(float)

    def objective(v):
        scores, h, gaps = v[:n_items], v[n_items], np.exp(v[n_items + 1 :])
        edges = tuple(np.cumsum(gaps)) if ties else (0.0, *np.cumsum(gaps))
        margins = scores[first] - scores[second] + h * side
        seen = [plain_probability(m, k, edges) for m, k in zip(margins, y, strict=True)]
        return -np.sum(np.log(seen)) + 0.5 * np.sum(scores**2) + 0.5 * (h / 3.0) ** 2

    start = np.zeros(n_items + 1 + (2 if ties else 1))
    best = minimize(objective, start, method="BFGS", options={"gtol": 1e-7})
    path = it.smooth(
        it.Timeline.from_arrays(first, second, y, sides=side),
        n_factors=0,
        loss="ordered",
        drift_scale=0.0,
        prior_scale=1.0,
        tolerance=1e-10,
        rng=0,
    )
    expected = np.subtract.outer(best.x[:n_items], best.x[:n_items])
    np.testing.assert_allclose(path.matrix(), expected, atol=3e-3)
    assert path.law.advantage == pytest.approx(best.x[n_items], abs=2e-3)
    np.testing.assert_allclose(
        path.law.cuts[int(not ties) :], np.cumsum(np.exp(best.x[n_items + 1 :])), atol=2e-3
    )


def test_cuts_and_advantage_are_settled_where_no_direction_is_better():
    rng = np.random.default_rng(0)
    rows = random_rows(rng, n_rows=300)
    path = it.smooth(
        it.Timeline(rows, 5), n_factors=0, loss="ordered", drift_scale=0.1, prior_scale=1.0, rng=0
    )
    z = path.solution.z
    problem = path.problem.settled(z)
    law, cells = problem.law, problem.cells
    x = problem.margins(z) - law.advantage * cells.sides

    def value(advantage, cuts):
        loss = CellLoss(Law("ordered", cuts), cells)
        return loss.value(x + advantage * cells.sides) + 0.5 * (advantage / 3) ** 2

    here = value(law.advantage, law.cuts)
    for step in (-1e-3, 1e-3):
        assert value(law.advantage + step, law.cuts) > here
        for k in range(len(law.cuts)):
            moved = tuple(c + step * (m == k) for m, c in enumerate(law.cuts))
            assert value(law.advantage, moved) > here


def test_wins_alone_are_the_logistic_loss():
    rng = np.random.default_rng(1)
    rows = random_rows(rng, n_levels=1, n_rows=200)
    wins = rows.outcomes != 0
    table = {
        "first": rows.pairs[wins, 0],
        "second": rows.pairs[wins, 1],
        "times": rows.times[wins],
        "sides": rows.sides[wins],
    }
    settings = {"n_factors": 0, "drift_scale": 0.2, "prior_scale": 1.0, "rng": 0}
    levels = it.smooth(
        it.Timeline.from_arrays(outcomes=rows.outcomes[wins], **table), loss="ordered", **settings
    )
    shares = it.smooth(
        it.Timeline.from_arrays(outcomes=(rows.outcomes[wins] + 1) / 2, **table),
        loss="logistic",
        **settings,
    )
    assert levels.law.cuts == (0.0,)
    np.testing.assert_allclose(levels.margins, shares.margins, atol=1e-4)
    assert levels.law.advantage == pytest.approx(shares.law.advantage, abs=1e-4)


@given(
    mean=st.floats(-8, 8),
    variance=st.floats(0, 9),
    side=st.sampled_from([-1.0, 0.0, 1.0]),
    ties=st.booleans(),
)
def test_expected_results_add_up_to_one_exactly_and_levels_to_one(mean, variance, side, ties):
    law = Law("ordered", (0.4, 1.0) if ties else (0.0, 1.0), advantage=0.3)
    one = law.expect(np.array([mean]), np.array([variance]), np.array([side]))
    two = law.expect(np.array([-mean]), np.array([variance]), np.array([-side]))
    assert one[0] + two[0] == 1.0
    chances = law.spread(np.array([mean]), np.array([variance]), np.array([side]))[0]
    assert chances.sum() == pytest.approx(1.0, abs=1e-9)
    assert one[0] == pytest.approx(chances[3:].sum() + 0.5 * chances[2], abs=1e-6)


def test_a_clearer_win_never_lowers_the_forecast():
    base = [(0, 1, 1), (1, 2, 1), (0, 2, 1), (2, 1, 2), (1, 0, 1), (2, 0, 0)]
    forecasts = []
    for level in (-2, -1, 0, 1, 2):
        rows = [*base * 3, (0, 1, level)]
        first, second, outcomes = (np.array(column) for column in zip(*rows, strict=True))
        path = it.smooth(
            it.Timeline.from_arrays(first, second, outcomes),
            n_factors=0,
            loss="ordered",
            prior_scale=1.0,
            rng=0,
        )
        forecasts.append(float(path.probability(0, 1)))
    assert forecasts == sorted(forecasts)
    assert forecasts[-1] > forecasts[0] + 0.02


def test_first_cuts_are_those_of_equal_items():
    rng = np.random.default_rng(0)
    cuts = (0.5, 1.5)
    chances = np.array([plain_probability(0.0, k, cuts) for k in range(-2, 3)])
    rows = Rows(
        np.zeros(20_000),
        np.tile([0, 1], (20_000, 1)),
        rng.choice(np.arange(-2, 3), 20_000, p=chances / chances.sum()).astype(float),
        np.ones(20_000),
    )
    law = first_law("ordered", collapse_rows(rows, 2, shares=False, levels=True), 0.0)
    # Five standard errors of a cut estimated from 20,000 games; false alarms below 1e-5.
    np.testing.assert_allclose(law.cuts, cuts, atol=0.08)


def test_updates_refuse_levels_and_sides_that_the_fit_has_no_place_for():
    games = it.Timeline.from_arrays([0, 1, 2, 0], [1, 2, 0, 2], [1, -1, 1, 1], sides=[1, 0, 1, -1])
    path = it.smooth(games, n_factors=0, loss="ordered", prior_scale=1.0, rng=0)
    with pytest.raises(it.InputError, match="a level that did not occur"):
        path.update(it.Timeline.from_arrays([0], [1], [0], sides=[0]))
    with pytest.raises(it.InputError, match="sides must be given for all"):
        path.update(it.Timeline.from_arrays([0], [1], [1]))
    with pytest.raises(it.InputError, match="whole numbers"):
        path.update(it.Timeline.from_arrays([0], [1], [0.5], sides=[0]))


def test_cuts_of_ties_alone_grow_without_overflow():
    """Where nothing but ties occurred, the best cut is far out."""
    rows = Rows(np.zeros(4), np.array([[0, 1]] * 4), np.zeros(4), np.ones(4))
    ends = Ends(collapse_rows(rows, 2, shares=False, levels=True), np.zeros(1), 1)
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        value, gradient, hessian = ends.terms(np.array([800.0]))
    assert value == pytest.approx(0.0, abs=1e-12)
    assert np.abs(gradient).max() < 1e-12
    assert np.isfinite(hessian).all()
