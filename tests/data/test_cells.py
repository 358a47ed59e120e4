from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from intransit import kernels as loops
from intransit.data import cells as cells_module
from intransit.data.cells import Rows, collapse_rows, link_states, merge_cells
from intransit.inference import cell_kernels as kernels
from intransit.inference.joint_problem import Columns, Scales, assemble
from intransit.inference.likelihood import Law
from tests.inference.joint_problems import random_rows

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from([1, 2, 3])


def gathered(rows, shares):
    """Twin of `collapse_rows`: readings by (first, second, time), first < second."""
    cells = {}
    for t, (i, j), y, n in zip(rows.times, rows.pairs, rows.outcomes, rows.counts, strict=True):
        if i < j:
            cells.setdefault((i, j, t), []).append((n, y))
        elif j < i:
            cells.setdefault((j, i, t), []).append((n, 1 - y if shares else -y))
    return cells


def described(cells):
    """Cells as a dictionary from (first, second, time) to (count, mean)."""
    keys = [(int(i), int(j), float(t)) for (i, j), t in zip(cells.pairs, cells.times, strict=True)]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, zip(cells.counts, cells.means, strict=True), strict=True))


@given(seed=seeds, shares=st.booleans(), n_rows=st.integers(0, 60))
def test_cells_hold_what_their_rows_held(seed, shares, n_rows):
    """Counts, means and spread are those of a loop; items compared with themselves are left out."""
    rows = random_rows(np.random.default_rng(seed), n_items=4, n_rows=n_rows, logistic=shares)
    cells, slow = collapse_rows(rows, 4, shares=shares), gathered(rows, shares)
    fast = described(cells)
    assert fast.keys() == slow.keys()
    spread, log_counts = 0.0, 0.0
    for key, readings in slow.items():
        n, y = np.array(readings).T
        mean = np.average(y, weights=n)
        np.testing.assert_allclose(fast[key], (n.sum(), mean), atol=1e-12)
        spread += np.sum(n * (y - mean) ** 2)
        log_counts += np.sum(np.log(n))
    assert cells.spread == pytest.approx(spread, abs=1e-12)
    assert cells.log_counts == pytest.approx(log_counts, abs=1e-12)
    assert cells.n_rows == sum(map(len, slow.values()))
    order = list(zip(cells.when, *cells.pairs.T, strict=True))
    assert order == sorted(order)


@given(seed=seeds, shares=st.booleans(), n_items=st.integers(4, 9))
def test_cells_of_a_time_are_in_blocks_by_their_second_item(seed, shares, n_items):
    """Blocks of two items stand for those of very many; cells are the same, and merge as before."""
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n_items=n_items, n_rows=60, logistic=shares)
    plain = collapse_rows(rows, n_items, shares=shares)
    late = rng.random(len(rows)) < 0.3
    with mock.patch.object(cells_module, "NEARBY", 2):
        blocks = collapse_rows(rows, n_items, shares=shares)
        parts = [collapse_rows(rows.only(w), n_items, shares=shares) for w in (~late, late)]
        merged = merge_cells(*parts, n_items)
    first, second = plain.pairs.T
    order = np.lexsort((second, first, second // 2, plain.when))
    for name in ("when", "pairs", "counts", "means"):
        np.testing.assert_array_equal(getattr(blocks, name), getattr(plain, name)[order])
        np.testing.assert_allclose(getattr(merged, name), getattr(blocks, name), atol=1e-11)


@given(seed=seeds, even=st.booleans())
def test_times_are_found_on_their_axis_whether_or_not_steps_are_even(seed, even):
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 9, 40) * 0.1 if even else rng.choice(rng.normal(size=7), 40)
    axis, when = cells_module._distinct_times(times)
    np.testing.assert_allclose(axis[when], times, rtol=1e-12)
    assert (np.diff(axis) > 0).all()


@given(seed=seeds, shares=st.booleans())
def test_neither_the_order_of_rows_nor_that_inside_a_pair_matters(seed, shares):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n_items=4, logistic=shares)
    swapped = rng.random(len(rows)) < 0.5
    pairs = np.where(swapped[:, None], rows.pairs[:, ::-1], rows.pairs)
    outcomes = np.where(swapped, (1.0 if shares else 0.0) - rows.outcomes, rows.outcomes)
    other = Rows(rows.times, pairs, outcomes, rows.counts).only(rng.permutation(len(rows)))
    one, two = (collapse_rows(r, 4, shares=shares) for r in (rows, other))
    for name in ("axis", "when", "pairs", "counts", "means", "spread", "log_counts", "n_rows"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-12)


def test_rows_that_only_compare_items_with_themselves_leave_no_cell():
    rows = Rows(np.array([1.0, 2.0]), np.array([[1, 1], [0, 0]]), np.ones(2), np.ones(2))
    cells = collapse_rows(rows, 3, shares=False)
    assert len(cells) == 0
    assert (cells.n_rows, cells.spread, cells.log_counts) == (0, 0.0, 0.0)
    problem, _ = assemble(
        cells,
        Columns(np.full((3, 1), np.nan), np.ones((3, 1))),
        Scales(1.0, 0.0, 1.0, score_drift_scale=0.5),
        Law("squared"),
    )
    assert problem.strengths.shape == (3, 1)


def test_times_apart_by_rounding_alone_are_one():
    times = np.array([0.3, 0.1 + 0.2, 0.1 * 3, 7.0, 7.0 * (1 - 1e-15), 0.3 + 1e-6])
    rows = Rows(times, np.tile([0, 1], (6, 1)), np.arange(6.0), np.ones(6))
    cells = collapse_rows(rows, 2, shares=False)
    np.testing.assert_allclose(cells.axis, [0.3, 0.3 + 1e-6, 7.0])
    np.testing.assert_allclose(cells.counts, [3, 1, 2])
    np.testing.assert_allclose(cells.means, [1.0, 5.0, 3.5])


def test_numbers_of_pairs_and_times_beyond_64_bits_still_fold():
    """With 2³⁰ items and 9 times, pair and time no longer fit one integer."""
    n_items, rng = 2**30, np.random.default_rng(0)
    few = random_rows(rng, n_items=5, n_rows=80, times=np.arange(9.0))
    names = np.sort(rng.integers(0, n_items, 5))
    many = Rows(few.times, names[few.pairs], few.outcomes, few.counts)
    small, large = (collapse_rows(r, n, shares=False) for r, n in ((few, 5), (many, n_items)))
    renamed = replace(small, pairs=names[small.pairs])
    assert described(large) == described(renamed)


@given(seed=seeds, shares=st.booleans(), cut=st.integers(1, 59))
def test_merging_cells_is_collapsing_all_rows_at_once(seed, shares, cut):
    """Whether the new ones come later, earlier or between, and whatever they share."""
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n_items=4, n_rows=60, logistic=shares)
    rows = rows.only(rows.pairs[:, 0] != rows.pairs[:, 1])
    cut = min(cut, len(rows) - 1)
    old, new = (
        collapse_rows(part, 4, shares=shares)
        for part in (rows.only(np.arange(cut)), rows.only(np.arange(cut, len(rows))))
    )
    merged, whole = merge_cells(old, new, 4), collapse_rows(rows, 4, shares=shares)
    for name in ("axis", "when", "pairs", "counts", "means", "spread", "log_counts", "n_rows"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), atol=1e-11)


@given(seed=seeds, n_rows=st.integers(0, 60))
def test_wins_of_single_games_are_counted_as_any_outcomes_are_averaged(seed, n_rows):
    rng = np.random.default_rng(seed)
    pairs, wins = rng.integers(0, 4, (n_rows, 2)), rng.integers(0, 2, n_rows).astype(float)
    rows = Rows(rng.choice([0.0, 1.0, 4.0], n_rows), pairs, wins, np.ones(n_rows))
    quick = collapse_rows(rows, 4, shares=True)
    with mock.patch.object(cells_module, "_are_wins", return_value=False):
        slow = collapse_rows(rows, 4, shares=True)
    for name in ("axis", "when", "pairs", "counts", "means"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name))
    assert (quick.n_rows, quick.log_counts) == (slow.n_rows, slow.log_counts)
    assert quick.spread == pytest.approx(slow.spread, abs=1e-12)


@pytest.mark.parametrize("flip", [False, True])
def test_merging_with_no_cells_changes_nothing(flip):
    some = random_rows(np.random.default_rng(0), n_items=4)
    none = some.only(np.zeros(len(some), bool))
    parts = [collapse_rows(rows, 4, shares=False) for rows in (some, none)]
    merged = merge_cells(*(parts[::-1] if flip else parts), 4)
    assert described(merged) == described(parts[0])


@given(seed=seeds, n_owners=st.integers(1, 6), width=st.sampled_from([0, 1, 2]))
def test_states_are_linked_as_a_dictionary_would(seed, n_owners, width):
    """One state an owner and time seen; those never seen are idle and have one, at the first."""
    rng = np.random.default_rng(seed)
    axis, n_cells = np.sort(rng.random(5)), 12
    shape = (n_cells, width) if width else (n_cells,)
    owners = rng.integers(0, n_owners, shape)
    owners[owners == 0] = n_owners - 1  # so that someone is never seen
    when = rng.integers(0, 5, n_cells)
    chains, at = link_states(owners, when, axis, n_owners, drifting=True)
    wanted = {(int(o), int(w)) for k, w in enumerate(when) for o in np.atleast_1d(owners[k])}
    idle = [o not in owners for o in range(n_owners)]
    np.testing.assert_array_equal(chains.idle, idle)
    wanted |= {(o, 0) for o in np.flatnonzero(idle).tolist()}
    in_time = sorted(wanted, key=lambda state: state[::-1])
    index = {key: place for place, key in enumerate(in_time)}
    assert list(zip(chains.owners, chains.when, strict=True)) == in_time
    assert (np.diff(chains.keys) > 0).all()
    expected = [
        [index[int(o), int(w)] for o in np.atleast_1d(owners[k])] for k, w in enumerate(when)
    ]
    np.testing.assert_array_equal(at, np.array(expected).reshape(shape))
    for o in range(n_owners):
        states, starts = chains.by_owner
        mine = states[starts[o] : starts[o + 1]]
        np.testing.assert_array_equal(mine, np.flatnonzero(chains.owners == o))
        assert chains.firsts[o] == mine[0]
        np.testing.assert_array_equal(chains.before[mine], [mine[0], *mine[:-1]])
        np.testing.assert_allclose(chains.gaps(mine), [0.0, *np.diff(axis[chains.when[mine]])])


def test_what_does_not_drift_has_one_state_an_owner():
    owners = np.array([[0, 3], [3, 1]])
    chains, at = link_states(owners, np.array([0, 1]), np.arange(2.0), 5, drifting=False)
    np.testing.assert_array_equal(at, owners)
    np.testing.assert_array_equal(chains.owners, np.arange(5))
    np.testing.assert_array_equal(chains.before, np.arange(5))
    np.testing.assert_array_equal(chains.firsts, np.arange(5))
    assert chains.idle.shape == (5,)
    before, after, share, spread = chains.around(np.array([3, 4]), np.array([-9.0, 99.0]))
    np.testing.assert_array_equal(before, [3, 4])
    np.testing.assert_array_equal(after, [3, 4])
    assert not share.any()
    assert not spread.any()


def around_by_loop(chains, owner, time):
    """Twin of `Chains.around` for one owner and time: weight by state, and the spread on top.

    An owner never compared has its one state at any time, with nothing on top.
    """
    mine = np.flatnonzero(chains.owners == owner)
    if chains.idle[owner]:
        return {int(mine[0]): 1.0}, 0.0
    clock = chains.times[mine]
    if time <= clock[0]:
        return {int(mine[0]): 1.0}, clock[0] - time
    for k in range(len(mine) - 1):
        left, right = clock[k], clock[k + 1]
        if left <= time <= right:
            share = (time - left) / (right - left)
            weights = {int(mine[k]): 1 - share, int(mine[k + 1]): share}
            return weights, (time - left) * (right - time) / (right - left)
    return {int(mine[-1]): 1.0}, time - clock[-1]


@given(seed=seeds)
def test_the_states_around_a_time_are_those_that_a_loop_finds(seed):
    """Inside a gap, on a state, before the first, after the last, between others' times.

    Owner 4 is never compared, nor are some of the others, depending on the seed.
    """
    rng = np.random.default_rng(seed)
    axis = np.sort(rng.random(6))
    owners, when = rng.integers(0, 4, (8, 2)), rng.integers(0, 6, 8)
    chains, _ = link_states(owners, when, axis, 5, drifting=True)
    times = np.concatenate([axis, rng.uniform(-0.5, 1.5, 20), [-1.0, 2.0]])
    asked = rng.integers(0, 5, len(times))
    answers = chains.around(asked, times)
    for owner, time, before, after, share, spread in zip(asked, times, *answers, strict=True):
        weights, extra = around_by_loop(chains, owner, time)
        found = {int(before): 0.0, int(after): 0.0}
        found[int(before)] += 1 - share
        found[int(after)] += share
        for state in found.keys() | weights.keys():
            assert found.get(state, 0.0) == pytest.approx(weights.get(state, 0.0), abs=1e-12)
        assert spread == pytest.approx(extra, abs=1e-12)


def random_reading(seed, r, n_cells=15):
    """Factors of unequal numbers of states, steps, and cells that read them, in narrow integers."""
    rng = np.random.default_rng(seed)
    S, dS = rng.normal(size=(2, 7, r))
    Q, dQ = rng.normal(size=(2, 5, r))
    at = np.stack([rng.integers(0, n, n_cells) for n in (7, 7, 5, 5)], axis=1).astype(np.int32)
    return S, Q, at, dS, dQ, rng.normal(size=n_cells)


def map_of_cells(S, Q, at, *, both):
    """The first-order map from [S, Q] to cells, as a matrix filled by its definition."""
    J = np.zeros((len(at), S.size + Q.size))
    for p, (a, b, c, d) in enumerate(at):
        for k in range(S.shape[1]):
            J[p, a * S.shape[1] + k] += Q[d, k]
            J[p, b * S.shape[1] + k] -= Q[c, k]
            if both:
                J[p, S.size + d * S.shape[1] + k] += S[a, k]
                J[p, S.size + c * S.shape[1] + k] -= S[b, k]
    return J


def both_ways(kernel):
    """The compiled loop and the plain one that it was made from."""
    return (kernel, kernel.py_func)


@given(seed=seeds, r=shapes, both=st.booleans())
def test_the_loops_over_cells_are_the_map_and_its_adjoint(seed, r, both):
    S, Q, at, dS, dQ, slopes = random_reading(seed, r)
    J, step = map_of_cells(S, Q, at, both=both), np.concatenate([dS.ravel(), dQ.ravel()])
    a, b, c, d = at.T
    x = np.sum(S[a] * Q[d] - S[b] * Q[c], axis=1)
    for version in (0, 1):
        out, change = np.empty(len(at)), np.empty(len(at))
        both_ways(kernels.push_cells)[version](S, Q, at, S, Q, False, out)
        np.testing.assert_allclose(out, x, atol=1e-12)
        both_ways(kernels.push_cells)[version](S, Q, at, dS, dQ, both, change)
        np.testing.assert_allclose(change, J @ step, atol=1e-12)
        pulled = np.ones_like(S), np.ones_like(Q)  # what is there is added to
        both_ways(kernels.pull_cells)[version](S, Q, at, slopes, both, *pulled)
        np.testing.assert_allclose(flat(pulled), 1 + J.T @ slopes, atol=1e-12)
        expected, how = 1 + J.T @ (slopes * (J @ step)), both_ways(kernels.push_pull_cells)[version]
        for width in ((), (1,) * r):  # a number of columns that the compiler knows changes nothing
            product = np.ones_like(S), np.ones_like(Q)
            how(S, Q, at, slopes, np.empty(0), dS, dQ, both, width, *product)
            np.testing.assert_allclose(flat(product), expected, atol=1e-11)


@given(seed=seeds, r=shapes, shared=st.booleans())
def test_cells_that_say_where_strengths_stand_find_their_exposures(seed, r, shared):
    """At the same places, or all in one row: the loops do as with all four places."""
    S, _, at, dS, _, slopes = random_reading(seed, r)
    Q, dQ = np.random.default_rng(seed + 1).normal(size=(2, 1 if shared else len(S), r))
    four = np.hstack([at[:, :2], 0 * at[:, :2] if shared else at[:, :2]])
    two, both, width = np.ascontiguousarray(at[:, :2]), not shared, (1,) * r
    for kernel, taken, sizes in (
        (kernels.push_cells, lambda at: (S, Q, at, dS, dQ, both), [(len(at),)]),
        (kernels.pull_cells, lambda at: (S, Q, at, slopes, both), [S.shape, Q.shape]),
        (
            kernels.push_pull_cells,
            lambda at: (S, Q, at, slopes, slopes, dS, dQ, both, width),
            [S.shape, Q.shape],
        ),
        (
            kernels.state_blocks,
            lambda at: (S, Q, at, slopes, both, width),
            [(*S.shape, r), (*Q.shape, r)],
        ),
    ):
        found = []
        for how in (four, two):
            found.append([np.zeros(size) for size in sizes])
            kernel(*taken(how), *found[-1])
        for long, short in zip(*found, strict=True):
            np.testing.assert_allclose(short, long, atol=1e-12)


@given(seed=seeds, r=shapes)
def test_a_twist_adds_the_second_derivative_to_the_product(seed, r):
    S, Q, at, dS, dQ, slopes = random_reading(seed, r)
    J, step = map_of_cells(S, Q, at, both=True), np.concatenate([dS.ravel(), dQ.ravel()])
    twist = twist_of_cells(S, Q, at, 0.3 * slopes)
    expected = J.T @ (slopes * (J @ step)) + twist @ step
    for kernel in both_ways(kernels.push_pull_cells):
        product = np.zeros_like(S), np.zeros_like(Q)
        kernel(S, Q, at, slopes, 0.3 * slopes, dS, dQ, True, (1,) * r, *product)
        np.testing.assert_allclose(flat(product), expected, atol=1e-11)


def twist_of_cells(S, Q, at, slopes, kernel=kernels.normal_cells):
    """Σ slope · second derivative of the margins: all that is left without curvature."""
    nothing = np.zeros(len(at))
    out = np.zeros((S.size + Q.size,) * 2)
    kernel(S, Q, at, np.zeros(len(at), np.int32), False, nothing, slopes, out)
    return out


def flat(parts):
    return np.concatenate([part.ravel() for part in parts])


@given(seed=seeds, r=shapes, both=st.booleans())
def test_blocks_of_states_lie_on_the_diagonal_of_the_normal_matrix(seed, r, both):
    """But for cells in which an item meets itself, which no problem has."""
    S, Q, at, *_, weights = random_reading(seed, r)
    at = at[(at[:, 0] != at[:, 1]) & (at[:, 2] != at[:, 3])]
    weights = weights[: len(at)]
    J = map_of_cells(S, Q, at, both=both)
    whole = J.T @ (weights[:, None] * J)
    for version in (0, 1):
        blocks = np.zeros((7, r, r)), np.zeros((5, r, r))
        both_ways(kernels.state_blocks)[version](S, Q, at, weights, both, (1,) * r, *blocks)
        for k, block in enumerate([*blocks[0], *blocks[1]]):
            here = slice(k * r, (k + 1) * r)
            np.testing.assert_allclose(block, whole[here, here], atol=1e-12)


@given(seed=seeds, r=shapes, effects=st.booleans())
def test_the_dense_normal_matrix_is_that_of_the_map(seed, r, effects):
    S, Q, at, *_, weights = random_reading(seed, r)
    rng = np.random.default_rng(seed)
    pair_at = rng.integers(0, 4, len(at)).astype(np.int32)
    J = map_of_cells(S, Q, at, both=True)
    if effects:
        J = np.hstack([J, np.eye(4)[pair_at]])
    for kernel in both_ways(kernels.normal_cells):
        out = np.zeros((J.shape[1],) * 2)
        kernel(S, Q, at, pair_at, effects, weights, np.empty(0), out)
        np.testing.assert_allclose(out, J.T @ (weights[:, None] * J), atol=1e-12)


@given(seed=seeds, r=shapes)
def test_the_twist_is_the_second_derivative_of_the_margins(seed, r):
    """Margins are quadratic in the states, so that ½ stepᵀ twist step is Σ slope · x(step)."""
    S, Q, at, dS, dQ, slopes = random_reading(seed, r)
    a, b, c, d = at.T
    bent = slopes @ np.sum(dS[a] * dQ[d] - dS[b] * dQ[c], axis=1)
    step = np.concatenate([dS.ravel(), dQ.ravel()])
    for kernel in both_ways(kernels.normal_cells):
        out = twist_of_cells(S, Q, at, slopes, kernel)
        np.testing.assert_array_equal(out, out.T)
        assert 0.5 * step @ out @ step == pytest.approx(bent, abs=1e-11)


@given(seed=seeds)
def test_gathering_adds_up_by_state(seed):
    rng = np.random.default_rng(seed)
    slopes, at = rng.normal(size=20), rng.integers(0, 6, 20).astype(np.int32)
    for kernel in both_ways(kernels.gather):
        out = np.ones(6)
        kernel(slopes, at, out)
        np.testing.assert_allclose(out, 1 + np.bincount(at, slopes, 6), atol=1e-12)


@given(seed=seeds, n_keys=st.integers(1, 30))
def test_entries_are_listed_by_key_and_stably(seed, n_keys):
    keys = np.random.default_rng(seed).integers(0, n_keys, 40)
    for kernel in both_ways(loops.list_by_key):
        out, starts = np.empty(40, np.int64), np.zeros(n_keys + 1, np.int64)
        kernel(keys, out, starts)
        np.testing.assert_array_equal(out, np.argsort(keys, kind="stable"))
        np.testing.assert_array_equal(starts, [np.sum(keys < k) for k in range(n_keys + 1)])


@given(seed=seeds, n_bits=st.integers(1, 62), n=st.integers(0, 40))
def test_keys_are_sorted_by_their_digits_and_stably(seed, n_bits, n):
    given_keys = np.random.default_rng(seed).integers(0, 2**n_bits, n)
    given_keys[n // 2 :] = given_keys[: n - n // 2]  # some are equal
    order = np.argsort(given_keys, kind="stable")
    for kernel in both_ways(loops.sort_keys):
        keys, places = given_keys.copy(), np.arange(n, dtype=np.int32)
        room = np.empty_like(keys), np.empty_like(places)
        keys, places = kernel(keys, places, n_bits, *room)
        np.testing.assert_array_equal(keys, given_keys[order])
        np.testing.assert_array_equal(places, order)


@given(seed=seeds, alike=st.booleans())
def test_values_of_equal_keys_are_averaged(seed, alike):
    rng = np.random.default_rng(seed)
    given_keys, order = np.sort(rng.integers(0, 9, 20)), rng.permutation(20)
    values, weights = rng.normal(size=20), rng.integers(1, 5, 1 if alike else 20).astype(float)
    w, y = np.broadcast_to(weights, 20)[order], values[order]
    distinct, heads, which = np.unique(given_keys, return_index=True, return_inverse=True)
    mean = np.bincount(which, w * y) / np.bincount(which, w)
    for kernel in both_ways(loops.average_runs):
        keys, places, n = given_keys.copy(), order.copy(), len(distinct)
        totals, means = np.empty(n), np.empty(n)
        spread = kernel(keys, places, weights, values, totals, means)
        np.testing.assert_array_equal(keys[:n], distinct)
        np.testing.assert_array_equal(places[:n], order[heads])
        np.testing.assert_allclose(totals, np.bincount(which, w))
        np.testing.assert_allclose(means, mean, atol=1e-12)
        assert spread == pytest.approx(np.sum(w * (y - mean[which]) ** 2), abs=1e-12)


@given(seed=seeds)
def test_logistic_terms_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    x, counts = 3 * rng.normal(size=20), rng.integers(1, 9, 20).astype(float)
    means, chance = rng.random(20), expit(x)
    value = -np.sum(counts * (means * np.log(chance) + (1 - means) * np.log(expit(-x))))
    for version in (0, 1):
        slope, curvature = np.empty((2, 20))
        total = both_ways(kernels.logistic_terms)[version](x, counts, means, slope, curvature)
        assert total == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(slope, counts * (chance - means), atol=1e-12)
        np.testing.assert_allclose(curvature, counts * chance * (1 - chance), atol=1e-12)


def test_logistic_terms_keep_their_precision_far_out():
    """At ±700 neither value nor curvature overflow, and small ones are not rounded to 0."""
    x, one = np.array([-700.0, -40.0, 40.0, 700.0]), np.ones(4)
    slope, curvature = np.empty((2, 4))
    total = kernels.logistic_terms(x, one, np.array([0.0, 0.0, 1.0, 1.0]), slope, curvature)
    small = np.exp([-700.0, -40.0, -40.0, -700.0])
    assert total == pytest.approx(2 * np.exp(-40.0), rel=1e-12)
    np.testing.assert_allclose(curvature, small, rtol=1e-12)
    np.testing.assert_allclose(slope[:2], small[:2], rtol=1e-12)


def test_states_are_found_where_their_numbers_exceed_32_bits():
    """A million players over 3,000 days; owners come in 32 bits from other chains."""
    owners, when = np.array([0, 0, 999_999, 999_999]), np.array([0, 2_999, 0, 2_999])
    chains, at = link_states(owners, when, np.arange(3_000.0), 1_000_000, drifting=True)
    asked = chains.owners[at[2:]]
    assert asked.dtype == np.int32
    before, after, share, _ = chains.around(asked, np.array([1_500.0, 2_999.0]))
    np.testing.assert_array_equal(before, at[2:])
    np.testing.assert_array_equal(after, [at[3], at[3]])
    np.testing.assert_allclose(share, [1_500 / 2_999, 0.0])
