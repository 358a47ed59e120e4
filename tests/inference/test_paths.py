"""Draws of paths against dense Gaussian twins; layouts, readings and draws against plain loops."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kstest, norm, norminvgauss
from scipy.stats import t as student

import intransit as it
from intransit.datasets import simulate_games
from intransit.inference import sampling
from intransit.inference.path_kernels import (
    CellEntries,
    Starts,
    Weighed,
    draw_numbers,
    gather_numbers,
    items_kernel,
    number_evidence,
)
from intransit.inference.paths import link
from intransit.inference.posterior import around
from intransit.inference.sampling import Effort, sample
from intransit.inference.walk_kernels import Sizes, read_paths
from tests.inference.worlds import WORLDS, draw_case, observe

N_DRAWS = 20_000
FALSE_ALARM = 1e-3  # of each test of draws, shared by its entries


def random_paths(rng, n_owners, n_cells):
    owners, times = rng.integers(n_owners, size=n_cells), rng.choice([0.0, 1.0, 1.5, 4.0], n_cells)
    factors = rng.choice([-1.0, 1.0, 2.0], n_cells)
    return link(owners, times, np.arange(n_cells), factors, moves=True)


def overrelaxed(precision, potential, start, over):
    """Return the law of a path that goes from `start` to the other side of its mean."""
    mean = np.linalg.solve(precision, potential)
    precision = precision / (1.0 - over**2)
    return precision, precision @ (mean - over * (start - mean))


def weighed(x, w, pull):
    """Return cells that enter loops by their entries alone."""
    nobody = np.zeros(0, np.int64)
    return Weighed(nobody, nobody, x, w, pull)


def walk_precision(clock, prior, step, reversion):
    """Return the precision of one path, by definition."""
    out = np.zeros((len(clock), len(clock)))
    out[0, 0] = 1.0 / prior
    for k in range(1, len(clock)):
        gap = clock[k] - clock[k - 1]
        keep = np.exp(-reversion * gap)
        length = (1.0 - keep**2) / (2.0 * reversion) if reversion else gap
        stiff = np.array([[keep**2, -keep], [-keep, 1.0]]) / (step * length)
        out[k - 1 : k + 1, k - 1 : k + 1] += stiff
    return out


def check_draws(drawn, precision, potential):
    """Compare draws with a normal law, means and covariances entry by entry."""
    covariance = np.linalg.inv(precision)
    mean = covariance @ potential
    n, d = drawn.shape
    largest = norm.isf(FALSE_ALARM / (d + d * d) / 2)
    spread = np.sqrt(np.diag(covariance))
    assert np.max(np.abs(drawn.mean(axis=0) - mean) / spread) < largest / np.sqrt(n)
    z = (drawn - mean) / spread
    correlation = covariance / np.outer(spread, spread)
    error = np.sqrt((1.0 + correlation**2) / n)
    assert np.max(np.abs(z.T @ z / n - correlation) / error) < largest


@pytest.mark.parametrize(("reversion", "over"), [(0.0, 0.0), (0.4, 0.0), (0.4, 0.7)])
def test_a_path_of_numbers_is_drawn_from_its_exact_law(reversion, over):
    """Mean and covariance over many draws are those of the dense precision matrix."""
    rng = np.random.default_rng(1)
    p = random_paths(rng, 1, 25)
    w, pull = rng.uniform(0.1, 1.0, 25), rng.normal(size=25)
    rest, begin = rng.normal(size=25), rng.normal(size=p.n_states)
    prior, step, mean, spread = 0.8, 0.3, 0.7, 1.6
    A = np.zeros((25, p.n_states))
    for q in range(p.n_states):
        for k in range(p.cell_begin[q], p.cell_begin[q + 1]):
            A[p.cell[k], q] = p.factor[k]
    drawn = np.empty((N_DRAWS, p.n_states))
    walks, starts = p.walks(np.array([reversion])), Starts(np.array([mean]), np.array([spread]))
    for row in drawn:
        states, x = begin.copy(), rest + A @ begin
        draw_numbers(rng, walks, p.entries, weighed(x, w, pull), states, starts, prior, step, over)
        row[:] = states
    np.testing.assert_allclose(x, rest + A @ states, atol=1e-9)
    precision = walk_precision(p.clock, spread * prior, step, reversion) + A.T @ (w[:, None] * A)
    potential = A.T @ (pull - w * rest)
    potential[0] += mean / (spread * prior)
    check_draws(drawn, *overrelaxed(precision, potential, begin, over))


@pytest.mark.parametrize("reversion", [0.0, 0.4])
def test_paths_are_integrated_out_as_a_dense_gaussian_would_be(reversion):
    """The evidence for scale and rate, several paths at once, against determinants."""
    rng = np.random.default_rng(6)
    p = random_paths(rng, 4, 40)
    w, pull, x = rng.uniform(0.1, 1.0, 40), rng.normal(size=40), rng.normal(size=40)
    states, prior, step = rng.normal(size=p.n_states), 0.8, 0.3
    J, h = np.zeros(p.n_states), np.zeros(p.n_states)
    gather_numbers(p.entries, weighed(x, w, pull), states, J, h)
    A = np.zeros((40, p.n_states))
    precision = np.zeros((p.n_states, p.n_states))
    for q in range(p.n_states):
        for k in range(p.cell_begin[q], p.cell_begin[q + 1]):
            A[p.cell[k], q] = p.factor[k]
    for a, b in pairwise(p.begin):
        precision[a:b, a:b] = walk_precision(p.clock[a:b], prior, step, reversion)
    told, potential = A.T @ (w[:, None] * A), A.T @ (pull - w * (x - A @ states))
    whole = precision + told
    expected = 0.5 * (np.linalg.slogdet(precision)[1] - np.linalg.slogdet(whole)[1])
    expected += 0.5 * potential @ np.linalg.solve(whole, potential)
    found = number_evidence(p.walks(np.array([reversion])), J, h, prior, step)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(("r", "over"), [(1, 0.0), (2, 0.0), (2, 0.7)])
def test_an_item_is_drawn_from_its_exact_law(r, over):
    """Score and factors of one item, others held, against the dense precision matrix."""
    rng = np.random.default_rng(2 + r)
    n, d = 30, 1 + 2 * r
    p = random_paths(rng, 1, n)
    m, sign = p.n_states, np.sign(p.factor)
    held = rng.normal(size=(n, d))  # every cell has an opponent of its own
    states = np.concatenate([rng.normal(size=(m, d)), held])
    other = m + p.cell
    prior, step = rng.uniform(0.3, 1.0, d), rng.uniform(0.1, 0.5, d)
    w, pull, rest, mean = rng.uniform(0.1, 1.0, n), rng.normal(size=n), rng.normal(size=n), 0.7
    A = np.zeros((n, m, d))
    for q in range(m):
        for k in range(p.cell_begin[q], p.cell_begin[q + 1]):
            _, u, v = np.split(held[p.cell[k]], [1, 1 + r])
            A[p.cell[k], q] = sign[k] * np.concatenate([[1.0], v, -u])
    A = A.reshape(n, m * d)
    begin, x = states.copy(), np.zeros(n)
    drawn, reversions = np.empty((N_DRAWS, m * d)), np.array([0.3, 0.1 * r])
    walks, spread = p.walks(reversions), 1.6
    entries, cells = CellEntries(p.cell_begin, p.cell, sign), weighed(x, w, pull)
    starts = Starts(np.array([mean]), np.array([spread]))
    for row in drawn:
        states[:], x[:] = begin, rest + A @ begin[:m].ravel()
        own = walks, entries, other, cells, states, starts
        items_kernel(r)(rng, np.array([0]), *own, prior, step, over)
        row[:] = states[:m].ravel()
    np.testing.assert_allclose(x, rest + A @ states[:m].ravel(), atol=1e-9)
    precision = A.T @ (w[:, None] * A)
    potential = A.T @ (pull - w * rest)
    first = prior * [spread, *[1.0] * (d - 1)]
    for k in range(d):
        precision[k::d, k::d] += walk_precision(p.clock, first[k], step[k], reversions[min(k, 1)])
    potential[0] += mean / first[0]
    check_draws(drawn, *overrelaxed(precision, potential, begin[:m].ravel(), over))


def test_a_step_of_hardly_any_variance_holds_a_path_still():
    """Where scores move and factors do not, factors stay within rounding."""
    rng = np.random.default_rng(5)
    p = random_paths(rng, 1, 30)
    states = np.concatenate([np.zeros((p.n_states, 3)), rng.normal(size=(30, 3))])
    cells = weighed(np.zeros(30), rng.uniform(0.1, 1.0, 30), rng.normal(size=30))
    entries = CellEntries(p.cell_begin, p.cell, np.sign(p.factor))
    own = p.walks(np.zeros(2)), entries, p.n_states + p.cell, cells, states
    starts, step = Starts(np.zeros(1), np.ones(1)), np.array([0.5, 1e-16, 1e-16])
    items_kernel(1)(rng, np.array([0]), *own, starts, np.ones(3), step, 0.0)
    assert np.ptp(states[: p.n_states, 0]) > 0.1
    assert np.max(np.ptp(states[: p.n_states, 1:], axis=0)) < 0.01


@pytest.mark.parametrize("moves", [True, False])
def test_links_are_those_of_a_loop(moves):
    """States by owner and time, and for each the cells that it enters, each once."""
    rng = np.random.default_rng(6)
    owners, times = rng.integers(10, 15, 40), rng.integers(5, size=40) * 1.0
    cells, factors = rng.permutation(40), rng.normal(size=40)
    p = link(owners, times, cells, factors, moves=moves)
    when = times if moves else np.zeros(40)
    keys = sorted(set(zip(owners.tolist(), when.tolist(), strict=True)))
    assert p.keys.tolist() == sorted(set(owners.tolist()))
    assert p.clock.tolist() == [t for _, t in keys]
    for k, owner in enumerate(p.keys):
        own = range(p.begin[k], p.begin[k + 1])
        assert [keys[q] for q in own] == [key for key in keys if key[0] == owner]
        assert all(p.start[q] == p.begin[k] for q in own)
    for q, key in enumerate(keys):
        entries = range(p.cell_begin[q], p.cell_begin[q + 1])
        there = [n for n in range(40) if (owners[n], when[n]) == key]
        assert {(p.cell[e], p.factor[e]) for e in entries} == {
            (cells[n], factors[n]) for n in there
        }
        assert all(p.state[n] == q for n in there)
    place, known = p.find(np.array([9, 12, 15]))
    assert known.tolist() == [False, True, False]
    assert p.keys[place[1]] == 12


def test_states_around_a_time_are_those_of_a_loop():
    """Between two states a bridge, outside them the nearest and the time to it."""
    rng = np.random.default_rng(7)
    p = random_paths(rng, 4, 9)
    owners, times = rng.integers(len(p.keys), size=300), rng.integers(-2, 12, 300) / 2.0
    for owner, t, before, after, since, until in zip(
        owners, times, *around(p, owners, times), strict=True
    ):
        clock = p.clock[p.begin[owner] : p.begin[owner + 1]]
        low, high = clock[clock <= t].max(initial=-np.inf), clock[clock >= t].min(initial=np.inf)
        if np.isinf(low) or np.isinf(high):
            nearest = clock[np.argmin(np.abs(clock - t))]
            assert p.clock[before] == p.clock[after] == nearest
            assert (since, until) == (abs(t - nearest), 0.0)
        elif low == high:
            assert p.clock[before] == t
            assert since == 0.0
        else:
            assert (p.clock[before], p.clock[after]) == (low, high)
            assert (since, until) == (t - low, high - t)
        assert p.begin[owner] <= before <= after < p.begin[owner + 1]


def read(
    states, before, after, since, until, keys, means=0.0, reversion=0.0, uneven=0.0, degrees=0
):
    n, d = len(states), states.shape[2]
    out = np.empty((n, len(keys), d))
    places = np.array(before), np.array(after), np.array(since), np.array(until), np.array(keys)
    sizes = [np.full((n, d), each) for each in (2.0, reversion, 3.0)]
    rest = np.full(n, means), degrees, np.full(n, uneven), 16.0
    read_paths(states, np.arange(n), *places, Sizes(*sizes, *rest), out)
    return out


@pytest.mark.parametrize("reversion", [0.0, 0.4])
def test_paths_are_read_with_the_variance_of_a_walk(reversion):
    """Bridge, free walk and prior: means and variances over draws, and nothing at a state."""
    n, since, until, gone = 40_000, 0.8, 2.4, 1.5
    states = np.tile(np.array([[[1.0], [5.0]]]), (n, 1, 1))
    got = read(
        states, [0, 0, 1, -1], [1, 0, 1, -1], [since, 0.0, gone, 0.0], [until, 0.0, 0.0, 0.0],
        [0, 2, 3, 99], means=0.7, reversion=reversion,
    )[:, :, 0]  # fmt: skip
    largest = norm.isf(FALSE_ALARM / 6 / 2)
    np.testing.assert_array_equal(got[:, 1], 1.0)
    # The middle one of three states, given the outer two, from the precision of the whole path.
    P = walk_precision([0.0, since, since + until], 1.0, 4.0, reversion)
    bridge = (-(P[1, 0] * 1.0 + P[1, 2] * 5.0) / P[1, 1], 1.0 / P[1, 1])
    kept = np.exp(-reversion * gone)
    walk = (5.0 * kept, 4.0 * ((1.0 - kept**2) / (2.0 * reversion) if reversion else gone))
    for k, (mean, variance) in ((0, bridge), (2, walk), (3, (0.7, 9.0))):
        assert abs(got[:, k].mean() - mean) < largest * np.sqrt(variance / n)
        assert abs(got[:, k].var() / variance - 1.0) < largest * np.sqrt(2.0 / n)


@pytest.mark.parametrize("reversion", [0.0, 0.4])
def test_moments_of_one_gap_belong_to_one_walk(reversion):
    """Between two states, and beyond the last, moments vary together as those of a walk.

    No two of these lie in one smallest part, where they would share all noise.
    """
    n, inside, ahead = 20_000, np.array([0.2, 0.9, 1.7, 2.5]), np.array([0.3, 1.6, 4.0, 9.0, 14.0])
    states = np.tile(np.array([[[1.0], [5.0]]]), (n, 1, 1))
    k, m = len(inside), len(ahead)
    got = read(
        states, [0] * k + [1] * m, [1] * (k + m), [*inside, *ahead], [*(3.0 - inside)] + [0.0] * m,
        [0] * k + [3] * m, reversion=reversion,
    )[:, :, 0]  # fmt: skip
    bridge = walk_precision([0.0, *inside, 3.0], 1.0, 4.0, reversion)
    walk = walk_precision([0.0, *ahead], 1.0, 4.0, reversion)
    laws = (
        (got[:, :k], bridge[1:-1, 1:-1], -bridge[1:-1, [0, -1]] @ [1.0, 5.0]),
        (got[:, k:], walk[1:, 1:], -walk[1:, 0] * 5.0),
    )
    largest = norm.isf(FALSE_ALARM / 2 / (2 * m * m + 2 * m))
    for values, precision, potential in laws:
        even = (values - np.linalg.solve(precision, potential)) @ np.linalg.cholesky(precision)
        spread = np.sqrt((1.0 + np.eye(len(precision))) / n)
        assert np.all(np.abs(even.mean(axis=0)) < largest / np.sqrt(n))
        assert np.all(np.abs(even.T @ even / n - np.eye(len(precision))) < largest * spread)


def test_changes_ahead_are_as_uncertain_as_a_walk_between_two_dates():
    """Of an answer: from 20 to 60 days on, steps have the deviation that 40 days make."""
    games, _ = simulate_games(6, 300, n_days=100, memory=50.0, rng=3)
    model = it.Scores(scale=1.0, walk=it.Drift(rate=1.0, jumps=0.0))
    posterior = it.fit(games, model=model, rng=0, effective=20.0).posterior
    end, items = posterior.axis[-1], np.arange(posterior.n_items)
    near, far = (
        posterior.states(items, np.full(len(items), end + days))[:, :, 0] for days in (20.0, 60.0)
    )
    steps = (far - near) / (posterior.draws.walks[:, :1] * np.sqrt(40.0))
    largest = norm.isf(FALSE_ALARM / 2)
    assert abs(np.mean(steps**2) - 1.0) < largest * np.sqrt(2.0 / steps.size)


def test_walks_ahead_jump_as_the_walk_of_states_does():
    """Steps from one knot to the next, and to a moment between knots, are normal inverse Gaussian.

    Kolmogorov's test of each, and no correlation between squares of steps of different stretches.
    """
    n, uneven, times = 20_000, 5.0, np.array([1.0, 2.0, 4.0, 7.0])
    states = np.full((n, 1, 1), 5.0)
    zero = [0] * len(times)
    got = read(states, zero, zero, times, np.zeros(len(times)), zero, uneven=uneven)[:, :, 0]
    steps = np.diff(got, axis=1, prepend=5.0)
    gaps = np.diff(times, prepend=0.0)
    for k, gap in enumerate(gaps):
        law = norminvgauss(gap / uneven, 0.0, scale=2.0 * gap / np.sqrt(uneven))
        assert kstest(steps[:, k], law.cdf).pvalue > FALSE_ALARM / (len(gaps) + 1)
    sizes = np.argsort(np.argsort(np.abs(steps), axis=0), axis=0) / n
    apart = np.corrcoef(sizes.T)[np.triu_indices(len(gaps), 1)]
    assert np.abs(apart).max() < norm.isf(FALSE_ALARM / 5 / 2 / len(apart)) / np.sqrt(n)


def test_the_same_question_sees_the_same_noise():
    """Noise is a function of draw, path and column, and differs between any two of them."""
    states = np.random.default_rng(8).normal(size=(5, 3, 2))
    one = read(states, [0, 1], [0, 1], [1.0, 1.0], [0.0, 0.0], [1, 3])
    two = read(states, [1, 0], [1, 0], [1.0, 1.0], [0.0, 0.0], [3, 1])
    np.testing.assert_array_equal(one, two[:, ::-1])
    some = [0] * 20
    noise = read(np.zeros((20, 1, 3)), some, some, np.ones(20), np.zeros(20), np.arange(20))
    assert len(np.unique(noise)) == noise.size


@pytest.fixture(scope="module")
def drawn():
    """Return draws of a small world with 2 chains, on one thread and on two."""
    world = WORLDS["wins, all terms"]
    design, _, outcomes, _ = draw_case(world, np.random.default_rng(9))
    ready = {"r_hat": np.inf, "scale_r_hat": np.inf}
    layout, effort = observe(design, outcomes), Effort(1.0, chains=2, most_draws=30, **ready)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for cores in (1, 2):
            patch.setattr(sampling.os, "cpu_count", lambda cores=cores: cores)
            found.append(sample(layout, world.law, effort, rng=np.random.default_rng(10)))
    return found


def test_draws_do_not_depend_on_threads(drawn):
    """The same seed gives the same draws on one thread and on two."""
    (one, mixed), (two, _) = drawn
    assert mixed.reached
    for name in ("states", "scales", "rates", "reversions", "number_scales", "newcomers", "chain"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for a, b in zip(one.numbers, two.numbers, strict=True):
        np.testing.assert_array_equal(a, b)


def test_some_draws_are_those_draws(drawn):
    """`only` and `one` pick the same numbers."""
    draws = drawn[0][0]
    some = draws.only(np.array([3, 7]))
    assert len(some) == 2
    for k, place in enumerate((3, 7)):
        one, other = some.one(k), draws.one(place)
        np.testing.assert_array_equal(one.states, other.states)
        np.testing.assert_array_equal(one.scales, other.scales)
        np.testing.assert_array_equal(one.number_rates, other.number_rates)
        assert one.newcomers == other.newcomers
        for a, b in zip(one.numbers, other.numbers, strict=True):
            np.testing.assert_array_equal(a, b)


def test_chains_give_equally_many_draws(drawn):
    """As many as asked for together, half from each chain, in their order."""
    draws = drawn[0][0]
    assert len(draws) == 30
    assert draws.chain.tolist() == [0] * 15 + [1] * 15


@pytest.mark.parametrize(("n", "most"), [(3, 5), (5, 5), (100, 7), (101, 100), (1000, 2)])
def test_thinning_keeps_the_last(n, most):
    """Places are distinct, rising, evenly spread, at most so many, the last among them."""
    places = sampling._spread(n, most)
    assert len(places) == min(n, most)
    assert places[-1] == n - 1
    assert np.all(np.diff(places) >= 1)
    assert np.ptp(np.diff(places)) <= 1


def test_somebody_never_seen_may_be_far_from_the_others():
    """Student's law with the same variance as the normal one: quantiles are those of SciPy."""
    n, degrees = 40_000, 5
    states = np.zeros((n, 1, 1))
    got = read(states, [-1], [-1], [0.0], [0.0], [7], means=0.7, degrees=degrees)[:, 0, 0]
    level = np.array([0.01, 0.25, 0.5, 0.75, 0.99])
    expected = 0.7 + 3.0 * np.sqrt(1.0 - 2.0 / degrees) * student.ppf(level, degrees)
    # Five standard errors of a quantile: a false alarm once in a hundred thousand runs.
    density = student.pdf(student.ppf(level, degrees), degrees) / (3.0 * np.sqrt(1 - 2.0 / degrees))
    error = 5.0 * np.sqrt(level * (1.0 - level) / n) / density
    assert (np.abs(np.quantile(got, level) - expected) < error).all()


@pytest.mark.parametrize("reversion", [0.0, 0.4])
def test_who_was_never_seen_may_have_come_at_any_moment_since_the_end(reversion):
    """Mean and variance after a walk of any length up to the time since then."""
    n, since, mean = 40_000, 6.0, 0.7
    got = read(
        np.zeros((n, 1, 1)), [-1], [-1], [since], [0.0], [7], means=mean, reversion=reversion
    )[:, 0, 0]
    ages = (np.arange(10_000) + 0.5) * since / 10_000
    kept = np.exp(-reversion * ages)
    length = (1.0 - kept**2) / (2.0 * reversion) if reversion else ages
    expected = mean * kept.mean()
    variance = np.mean(kept**2 * (9.0 + mean**2) + 4.0 * length) - expected**2
    largest = norm.isf(FALSE_ALARM / 2 / 2)
    assert abs(got.mean() - expected) < largest * np.sqrt(variance / n)
    fourth = np.mean((got - got.mean()) ** 4) / got.var() ** 2
    assert abs(got.var() / variance - 1.0) < largest * np.sqrt((fourth - 1.0) / n)


@pytest.mark.parametrize(("since", "until"), [(1e30, 0.0), (1e300, 0.0), (1e300, 1e300)])
def test_moments_beyond_all_bounds_are_read_too(since, until):
    """A damaged file may ask for them: there is room for no more than some nodes."""
    got = read(np.zeros((3, 2, 1)), [0], [1], [since], [until], [7], uneven=1.0)
    assert got.shape == (3, 1, 1)
