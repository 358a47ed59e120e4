import numpy as np
import pytest
from hypothesis import given

from intransit.data.cells import Cells, Chains
from intransit.inference.draws import bridge
from intransit.inference.joint_problem import FactorStates
from intransit.inference.laplace import Laplace, MarginQuery, Spots
from intransit.inference.newton import solve_joint
from tests.inference.joint_problems import (
    KINDS,
    case_of,
    matrix_at,
    names,
    random_case,
    seeds,
    simulated_case,
    slope_by_differences,
    unit_moves,
    within,
)


@given(seed=seeds, name=names)
def test_at_times_that_were_seen_margins_are_those_of_the_matrices(seed, name):
    case = random_case(name, seed)
    for time in case.cells.axis:
        X = matrix_at(case, case.z, time)
        here = case.cells.pairs[case.cells.times == time]
        for first, second in (here.T, here.T[::-1]):
            query = MarginQuery(case.problem, case.pairs, first, second, np.full(len(here), time))
            np.testing.assert_allclose(query.margins(case.z), X[first, second], atol=1e-12)


def random_query(case, seed, n=30):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, case.columns.n_items, (2, n))
    times = rng.uniform(case.cells.axis[0] - 1, case.cells.axis[-1] + 1, n)
    return first, second, times


@given(seed=seeds, name=names)
def test_swapping_the_items_flips_the_sign_and_nothing_else(seed, name):
    case = random_case(name, seed)
    first, second, times = random_query(case, seed)
    one, two = (
        MarginQuery(case.problem, case.pairs, *pair, times)
        for pair in ((first, second), (second, first))
    )
    np.testing.assert_allclose(one.margins(case.z), -two.margins(case.z), atol=1e-12)
    np.testing.assert_allclose(one.extra_variance(case.z), two.extra_variance(case.z), atol=1e-12)
    np.testing.assert_array_equal(one.margins(case.z)[first == second], 0.0)


@given(seed=seeds, name=names)
def test_the_derivative_is_that_of_differences(seed, name):
    case = random_case(name, seed)
    query = MarginQuery(case.problem, case.pairs, *random_query(case, seed))
    free, rows = case.problem.free, query.derivative(case.z).toarray()
    slopes = slope_by_differences(query.margins, case.z, unit_moves(case.problem)).T
    np.testing.assert_allclose(rows[:, free], slopes, atol=1e-8)
    step = np.random.default_rng(seed).normal(size=len(case.z)) * free
    np.testing.assert_allclose(query.derivative(case.z) @ step, rows @ step, atol=1e-10)
    part = query.part(slice(3, 9))
    np.testing.assert_array_equal(part.margins(case.z), query.margins(case.z)[3:9])
    np.testing.assert_array_equal(part.derivative(case.z).toarray(), rows[3:9])
    np.testing.assert_array_equal(part.extra_variance(case.z), query.extra_variance(case.z)[3:9])


def with_empty_cells(cells, pairs, times):
    """The same cells, and for each of these pairs and times one that nobody read: counts are 0."""
    clock = np.unique(np.concatenate([cells.axis, times]))
    keys = {
        (int(i), int(j), float(t)): (n, y)
        for (i, j), t, n, y in zip(cells.pairs, cells.times, cells.counts, cells.means, strict=True)
    }
    for (i, j), t in zip(pairs, times, strict=True):
        keys.setdefault((int(min(i, j)), int(max(i, j)), float(t)), (0.0, 0.5))
    order = sorted(keys)
    return Cells(
        clock,
        np.searchsorted(clock, [t for _, _, t in order]),
        np.array([(i, j) for i, j, _ in order]),
        np.array([keys[key][0] for key in order]),
        np.array([keys[key][1] for key in order]),
        cells.n_rows,
        cells.spread,
        cells.log_counts,
    )


def carried(case, z, fuller):
    """States of the fuller problem: those of the other one, interpolated; new pairs have none."""
    out = np.zeros_like(fuller.z)
    targets = fuller.problem.parts(out)
    for k, (old, new) in enumerate(zip(case.problem.sides, fuller.problem.sides, strict=True)):
        owners, known = new.chains.owners, np.ones(len(new.chains.owners), bool)
        if k == 2:
            keys = fuller.pairs.keys[owners]
            owners, known = case.pairs.find(np.stack(np.divmod(keys, case.pairs.n_items), axis=1))
        spots = Spots(old, owners, new.chains.times)
        targets[k][:] = spots.read(case.problem.parts(z)[k]) * known[:, None]
    return out


def first_meeting(cells, pair):
    """When both items had been compared, and the pair itself if ever."""
    seen = [cells.times[(cells.pairs == item).any(axis=1)].min() for item in pair]
    met = cells.times[(cells.pairs == np.sort(pair)).all(axis=1)]
    return max(*seen, met.min(initial=np.inf) if len(met) else -np.inf)


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_answers_between_states_are_those_of_a_process_that_has_states_there(name, logistic):
    """States that nobody read, put where the questions are, change neither mean nor variance.

    Inside gaps and after the end, of pairs that met and of pairs that never did.
    """
    case, rng = (
        simulated_case(name, 3, logistic=logistic, n_items=7, n_rows=30),
        np.random.default_rng(2),
    )
    pairs = np.array([(i, j) for i in range(7) for j in range(i)])
    pairs = np.where(rng.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])
    begin = np.array([first_meeting(case.cells, pair) for pair in pairs])
    times = begin + rng.random(len(pairs)) * (case.cells.axis[-1] + 1 - begin)
    z = solve_joint(case.problem, case.z, tolerance=1e-14, max_steps=1000, dense=True).z
    query = MarginQuery(case.problem, case.pairs, *pairs.T, times)
    assert query.place[1].any() == (case.problem.effects is not None)
    assert not query.place[1].all()

    cells = with_empty_cells(case.cells, pairs, times)
    fuller = case_of(case.rows, case.columns, case.scales, logistic=logistic, cells=cells)
    filled = carried(case, z, fuller)
    assert np.linalg.norm(fuller.gradient(filled)) <= 1e-5  # the minimum there, too
    again = MarginQuery(fuller.problem, fuller.pairs, *pairs.T, times)
    np.testing.assert_allclose(again.extra_variance(filled), 0.0, atol=1e-12)
    np.testing.assert_allclose(again.margins(filled), query.margins(z), atol=1e-8)
    one = Laplace(case.problem, z).variances(query, rng)
    two = Laplace(fuller.problem, filled).variances(again, rng)
    np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-8)


def test_an_item_never_compared_is_as_uncertain_as_a_newcomer_at_any_time():
    """Its first state would be where it is first compared, with the prior's variance, not more."""
    case = simulated_case("drifting scores", 0, n_items=5)
    columns = case.columns.grown(6)
    grown = case_of(case.rows, columns, case.scales, logistic=False)
    late = np.array([case.cells.axis[-1]])
    stranger = MarginQuery(grown.problem, grown.pairs, np.array([5]), np.array([0]), late)
    variance = Laplace(grown.problem, grown.z).variances(stranger, np.random.default_rng(0))
    cells = with_empty_cells(case.cells, [(0, 5)], late)
    newcomer = case_of(case.rows, columns, case.scales, logistic=False, cells=cells)
    again = MarginQuery(newcomer.problem, newcomer.pairs, np.array([5]), np.array([0]), late)
    expected = Laplace(newcomer.problem, newcomer.z).variances(again, np.random.default_rng(0))
    np.testing.assert_allclose(variance, expected, rtol=1e-8)


def one_walk(n_columns=2):
    """One owner with states at 0, 1 and 4, and another with one at 1."""
    owners, when = np.array([0, 0, 0, 1]), np.array([0, 1, 2, 1])
    chains = Chains.of(np.array([0.0, 1.0, 4.0]), owners, when, np.zeros(2, bool), True)
    drift = np.array([0.5, 2.0])[:n_columns]
    return FactorStates(chains, drift, np.ones(n_columns), np.array([True, True])[:n_columns])


POINTS = {
    "inside one gap": [1.5, 2.0, 3.9],
    "on states and between": [0.0, 0.4, 1.0, 1.7],
    "after the end": [4.0, 5.0, 5.5, 9.0],
    "before the first": [-3.0, -1.0, -0.5],
    "everywhere": [-2.0, -1.0, 0.3, 0.6, 1.0, 2.5, 3.0, 4.5, 6.0],
}


def walk_covariance(times, states):
    """Of a walk of unit drift pinned at some times: from first principles, by conditioning.

    Two-sided: a walk from the first pinned time forward, another backward.
    """
    points = np.concatenate([times, states]) - states[0]
    same_side = np.sign(points)[:, None] * np.sign(points) > 0
    prior = np.where(same_side, np.minimum.outer(np.abs(points), np.abs(points)), 0.0)
    n = len(times)
    pinned = np.arange(n + 1, len(points))  # the first is at 0 by construction
    if not len(pinned):
        return prior[:n, :n]
    cross = prior[:n][:, pinned]
    return prior[:n, :n] - cross @ np.linalg.solve(prior[np.ix_(pinned, pinned)], cross.T)


@pytest.mark.parametrize("name", sorted(POINTS))
def test_points_on_a_bridge_depend_on_each_other_as_they_should(name):
    """Draws less their mean have the covariance of a pinned walk, scaled by each column's drift.

    False alarms 1e-4 in all for the sums of squares along all axes, and turned ones (seed fixed).
    """
    side, n, rng = one_walk(), 4000, np.random.default_rng(0)
    times = np.array(POINTS[name])
    states = np.broadcast_to(rng.normal(size=(4, 2)), (n, 4, 2))
    drawn = bridge(side, states, np.zeros(len(times), int), times, rng)
    clock = side.chains.times[:3]
    mean = np.stack([np.interp(times, clock, states[0, :3, c]) for c in range(2)], axis=1)
    sums = []
    for c, drift in enumerate(side.drift):
        covariance = drift**2 * walk_covariance(times, clock)
        moves = covariance.diagonal() > 1e-12
        np.testing.assert_allclose(drawn[:, ~moves, c], np.tile(mean[~moves, c], (n, 1)))
        root = np.linalg.cholesky(covariance[np.ix_(moves, moves)])
        white = np.linalg.solve(root, (drawn[:, moves, c] - mean[moves, c]).T)
        turn, _ = np.linalg.qr(rng.normal(size=(len(white),) * 2))
        sums += [np.sum(white**2, axis=1), np.sum((turn @ white) ** 2, axis=1)]
        assert within(np.array([n * np.sum(white.mean(axis=1) ** 2)]), len(white))
    assert within(np.concatenate(sums), n)


def test_owners_and_repeated_points_are_kept_apart_on_bridges():
    """Two owners side by side are independent; one point asked twice is one value."""
    side, n, rng = one_walk(), 2000, np.random.default_rng(0)
    owners, times = np.array([0, 0, 0, 1, 1]), np.array([2.0, 2.0, 5.0, 3.0, 5.0])
    drawn = bridge(side, np.zeros((n, 4, 2)), owners, times, rng)[:, :, 0]
    np.testing.assert_array_equal(drawn[:, 0], drawn[:, 1])
    scale = np.sqrt(0.25 * np.array([1 * 2 / 3, 1.0, 2.0, 4.0]))
    white = drawn[:, [0, 2, 3, 4]] / scale
    white[:, 3] = (drawn[:, 4] - drawn[:, 3]) / np.sqrt(0.25 * 2.0)
    assert within(np.sum(white**2, axis=0), n)
    turn, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    assert within(np.sum((white @ turn) ** 2, axis=0), n)


def test_known_columns_and_what_stands_still_get_no_noise():
    side = one_walk()
    known = FactorStates(side.chains, side.drift, side.prior, np.array([True, False]))
    drawn = bridge(
        known, np.ones((3, 4, 2)), np.zeros(1, int), np.array([9.0]), np.random.default_rng(0)
    )
    assert (drawn[:, 0, 0] != 1.0).all()
    np.testing.assert_array_equal(drawn[:, 0, 1], 1.0)
    chains = Chains.of(
        np.array([0.0]), np.arange(2), np.zeros(2, int), np.zeros(2, bool), drifting=False
    )
    still = FactorStates(chains, side.drift, side.prior, side.free)
    drawn = bridge(
        still, np.ones((3, 2, 2)), np.zeros(1, int), np.array([9.0]), np.random.default_rng(0)
    )
    np.testing.assert_array_equal(drawn, 1.0)


@pytest.mark.parametrize("name", ["drifting scores", "drifting pairs", "three drifting factors"])
def test_the_variance_of_forecasts_grows_linearly(name):
    case = simulated_case(name, 0)
    ahead = case.cells.axis[-1] + np.arange(5.0)
    i, j = case.cells.pairs[0]
    query = MarginQuery(case.problem, case.pairs, np.full(5, i), np.full(5, j), ahead)
    variances = Laplace(case.problem, case.z).variances(query, np.random.default_rng(0))
    growth = np.diff(variances)
    np.testing.assert_allclose(growth, growth[0], rtol=1e-9)
    assert growth[0] > 0
    np.testing.assert_array_equal(query.margins(case.z), query.margins(case.z)[0])


def test_an_owner_never_compared_gets_no_noise_beside_one_that_was():
    """What a draw says of one owner must not depend on who else is asked about."""
    axis, when = np.array([0.0, 1.0]), np.array([0, 1, 0])
    chains = Chains.of(axis, np.array([0, 0, 1]), when, np.array([False, True]), True)
    side = FactorStates(chains, np.array([0.5]), np.ones(1), np.ones(1, bool))
    owners, times = np.array([0, 1]), np.array([9.0, 9.0])
    drawn = bridge(side, np.zeros((50, 3, 1)), owners, times, np.random.default_rng(0))
    assert drawn[:, 0].any()
    assert not drawn[:, 1].any()
