"""States in order of time: the same equations, whichever way the states stand."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intransit.data import cells
from intransit.inference import joint_problem as layout
from intransit.inference.newton import SparseEquations
from intransit.kernels import move_rows, put_rows
from tests.inference.joint_problems import KINDS, case_of, random_case

seeds = st.integers(0, 2**32 - 1)


def laid_out(problem):
    """Return the problem as `assemble` would build it, had it very many states."""
    chains = problem.strengths.chains, problem.exposures.chains
    orders = tuple(
        old if old.alike else layout.by_time(side)
        for old, side in zip(problem.orders, chains, strict=True)
    )
    at = problem.at.copy()
    for order, columns in zip(orders, (slice(0, 2), slice(2, 4)), strict=True):
        if order.place is not None:
            at[:, columns] = order.place[at[:, columns]]
    return replace(problem, at=at, orders=orders)


@given(seed=seeds, name=st.sampled_from(sorted(KINDS)), exact=st.booleans())
def test_products_and_solves_are_the_same_in_order_of_time(seed, name, exact):
    case = random_case(name, seed, logistic=True)
    problem, z = case.problem, case.z
    slope, curvature = problem.loss.terms(problem.margins(z))
    twist = 0.01 * slope if exact and not problem.is_convex else None
    plain = SparseEquations(problem, z, curvature, twist)
    other = SparseEquations(laid_out(problem), z, curvature, twist)
    step = (np.random.default_rng(seed).normal(size=len(z)) * problem.free)[: problem.cuts[1]]
    np.testing.assert_allclose(other.product(step, 0.1), plain.product(step, 0.1), atol=1e-10)
    for one, two in zip(plain.covariances(), other.covariances(), strict=True):
        np.testing.assert_allclose(two, one, atol=1e-10)


@given(seed=seeds)
def test_what_is_carried_comes_back_and_rises_in_time(seed):
    chains = random_case("drifting factor", seed).problem.strengths.chains
    order = layout.by_time(chains)
    values = np.random.default_rng(seed).normal(size=(chains.n_states, 2))
    np.testing.assert_array_equal(order.bring_back(order.carry(values)), values)
    blocks = values[:, :, None] * values[:, None]
    carried = order.carry(blocks.reshape(-1, 4)).reshape(blocks.shape)
    np.testing.assert_array_equal(order.bring_back(carried), blocks)
    assert (np.diff(order.carry(chains.times[:, None])[:, 0]) >= 0).all()


@given(seed=seeds)
def test_rows_are_put_and_taken_as_an_index_would(seed):
    rng = np.random.default_rng(seed)
    rows, place = rng.normal(size=(9, 3)), rng.permutation(9)
    expected = np.empty_like(rows)
    expected[place] = rows
    same = np.arange(9)
    for kernel, where, wanted in (
        (put_rows, (place,), expected),
        (move_rows, (same, place), expected),
        (move_rows, (place, same), rows[place]),
    ):
        for way in (kernel, kernel.py_func):
            out = np.empty_like(rows)
            way(rows, *where, out)
            np.testing.assert_array_equal(out, wanted)


@given(seed=seeds, name=st.sampled_from(sorted(KINDS)))
def test_margins_and_slopes_are_the_same_in_order_of_time(seed, name):
    case = random_case(name, seed)
    other, slopes = laid_out(case.problem), np.random.default_rng(seed).normal(size=len(case.cells))
    np.testing.assert_array_equal(other.margins(case.z), case.problem.margins(case.z))
    np.testing.assert_allclose(
        other.pull(case.z, slopes), case.problem.pull(case.z, slopes), atol=1e-12
    )


def test_large_problems_are_laid_out_and_small_ones_left():
    problem = random_case("drifting factor", 0).problem
    chains = problem.strengths.chains, problem.exposures.chains
    at = problem.at.copy()
    assert all(order.place is None for order in problem.orders)
    assert all(order.place is None for order in layout.lay_out(at, *chains))
    np.testing.assert_array_equal(at, problem.at)
    orders = layout.lay_out(at, *chains, fewest=1)
    np.testing.assert_array_equal(at, laid_out(problem).at)
    np.testing.assert_array_equal(
        replace(problem, at=at, orders=orders).at_owners, problem.at_owners
    )


@given(seed=seeds, name=st.sampled_from(sorted(KINDS)))
def test_cells_in_blocks_by_their_second_items_say_the_same(seed, name):
    """Blocks of two items stand for those of very many."""
    case = random_case(name, seed, logistic=True)
    with mock.patch.object(cells, "NEARBY", 2):
        blocks = case_of(case.rows, case.columns, case.scales, logistic=True, fewest=1)
    assert blocks.value(case.z) == pytest.approx(case.value(case.z), rel=1e-12)
    np.testing.assert_allclose(blocks.gradient(case.z), case.gradient(case.z), atol=1e-9)


@given(seed=seeds, size=st.integers(1, 60))
def test_states_move_tile_by_tile_and_each_time_of_a_tile_in_a_run(seed, size):
    chains = random_case("drifting factor", seed).problem.strengths.chains
    with mock.patch.object(layout, "TILE", size):
        order = layout.by_time(chains)
    place = np.argsort(np.argsort(chains.when, kind="stable"))
    np.testing.assert_array_equal(order.place, place)
    np.testing.assert_array_equal(order.owners, np.argsort(chains.when, kind="stable"))
    states = np.arange(chains.n_states)
    origins, places = order.moves
    np.testing.assert_array_equal(origins, np.lexsort((states, chains.when, states // size)))
    np.testing.assert_array_equal(places, place[origins])
