from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

from intransit import kernels as vector_kernels
from intransit.data.cells import Chains
from intransit.inference import cell_kernels as chain_kernels
from intransit.inference.joint_problem import FactorStates
from intransit.inference.newton import conjugate_gradients
from tests.inference.joint_problems import KINDS, prior_precision, random_case

seeds = st.integers(0, 2**32 - 1)
widths = st.sampled_from([1, 2, 3])


def random_walks(rng, n_states):
    """Where the state before stands, of up to three owners in any order."""
    owners = rng.integers(0, 3, n_states)
    last = {}
    return np.array([(last.get(k, n), last.update({k: n}))[0] for n, k in enumerate(owners)], int)


def walk_precision(links, before):
    """The precision of such walks from its definition, step by step; a first one is from 0."""
    n_states, r = links.shape
    steps = np.eye(n_states)
    for n in range(n_states):
        steps[n, before[n]] -= before[n] != n
    return np.einsum("nk,ni,nj,km->ikjm", links, steps, steps, np.eye(r)).reshape(2 * [links.size])


def random_chains(seed, r, n_states):
    """Blocks of data, links and places of a few chains, and the matrix that they stand for."""
    rng = np.random.default_rng(seed)
    before, links = random_walks(rng, n_states), rng.random((n_states, r))
    roots = rng.normal(size=(n_states, r, r))
    blocks = roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(r)
    whole = walk_precision(links, before) + block_diag(*blocks)
    return blocks, links, before, whole, rng.normal(size=(n_states, r))


def both_ways(kernel):
    return (kernel, kernel.py_func)


@given(seed=seeds, r=widths, n_states=st.integers(1, 9), in_place=st.booleans())
def test_chains_are_solved_as_a_dense_matrix_would(seed, r, n_states, in_place):
    """Whether or not the answer overwrites the right-hand side."""
    blocks, links, before, whole, right = random_chains(seed, r, n_states)
    damping = np.full(r, 0.2)
    expected = np.linalg.solve(whole + 0.2 * np.eye(len(whole)), right.ravel())
    for version in (0, 1):
        inverses, given_right = blocks.copy(), right.copy()
        out = given_right if in_place else np.full_like(right, np.nan)
        width = (1,) * r if in_place else ()
        both_ways(chain_kernels.add_links)[version](links, before, damping, inverses)
        both_ways(chain_kernels.factor_chains)[version](inverses, links, before, width)
        both_ways(chain_kernels.solve_chains)[version](
            inverses, links, before, given_right, out, np.empty(r), width
        )
        np.testing.assert_allclose(out.ravel(), expected, rtol=1e-7, atol=1e-9)


@given(seed=seeds, r=widths, n_states=st.integers(0, 9))
def test_chain_products_are_those_of_the_dense_matrix(seed, r, n_states):
    rng = np.random.default_rng(seed)
    before, (links, states) = random_walks(rng, n_states), rng.normal(size=(2, n_states, r))
    whole = walk_precision(links, before)
    expected = 1.0 + (whole @ states.ravel()).reshape(states.shape) + 0.3 * states
    for kernel in both_ways(chain_kernels.chain_product):
        out = np.ones_like(states)
        kernel(links, before, 0.3, states, out)
        np.testing.assert_allclose(out, expected, atol=1e-12)
    for kernel in both_ways(chain_kernels.chain_energy):
        energy = states.ravel() @ whole @ states.ravel()
        assert kernel(links, before, states) == pytest.approx(energy, abs=1e-12)


@given(seed=seeds, n=widths, n_states=st.integers(0, 9))
def test_grams_of_steps_are_sums_over_steps(seed, n, n_states):
    rng = np.random.default_rng(seed)
    basis, links = rng.normal(size=(n_states, n)), rng.random(n_states)
    before = random_walks(rng, n_states)
    expected = basis.T @ walk_precision(links[:, None], before) @ basis
    for kernel in both_ways(chain_kernels.step_gram):
        out = np.zeros((n, n))
        kernel(links, before, basis, out)
        np.testing.assert_allclose(out, expected, atol=1e-12)


@given(seed=seeds, shape=st.sampled_from([(0,), (1,), (3,), (4,), (9,), (5, 3)]))
def test_sums_over_vectors_are_those_of_numpy(seed, shape):
    a, b, c, d = np.random.default_rng(seed).normal(size=(4, *shape))
    for version in (0, 1):
        total = both_ways(vector_kernels.dot)[version](a, b)
        assert total == pytest.approx(np.sum(a * b), abs=1e-12)
        step, residual, direction = c.copy(), d.copy(), b.copy()
        both_ways(vector_kernels.advance)[version](0.3, a, b, step, residual)
        np.testing.assert_allclose(step, c + 0.3 * a, atol=1e-12)
        np.testing.assert_allclose(residual, d - 0.3 * b, atol=1e-12)
        both_ways(vector_kernels.turn)[version](0.7, a, direction)
        np.testing.assert_allclose(direction, a + 0.7 * b, atol=1e-12)


@given(seed=seeds, preconditioned=st.booleans())
def test_conjugate_gradients_solve_and_leave_the_right_hand_side_alone(seed, preconditioned):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(8, 8))
    A, right = root @ root.T + 0.1 * np.eye(8), rng.normal(size=(4, 2))
    kept, diagonal = right.copy(), A.diagonal().reshape(4, 2)
    step = conjugate_gradients(
        lambda v: (A @ v.ravel()).reshape(4, 2),
        lambda v: v / diagonal if preconditioned else v.copy(),
        right,
        accuracy=1e-12,
        most=100,
    )
    np.testing.assert_array_equal(right, kept)
    np.testing.assert_allclose(A @ step.ravel(), right.ravel(), atol=1e-8)


def test_conjugate_gradients_stop_where_the_matrix_vanishes():
    """The part that the matrix can reach is solved; along the rest nothing is added."""
    A = np.diag([2.0, 0.0])
    step = conjugate_gradients(
        lambda v: A @ v, lambda v: v.copy(), np.array([2.0, 0.0]), accuracy=1e-12, most=10
    )
    np.testing.assert_allclose(step, [1.0, 0.0])
    nowhere = conjugate_gradients(
        lambda v: 0 * v, lambda v: v.copy(), np.ones(2), accuracy=1e-12, most=10
    )
    np.testing.assert_array_equal(nowhere, 0.0)


@given(seed=seeds, name=st.sampled_from(sorted(KINDS)))
def test_sides_are_the_random_walks_of_the_definition(seed, name):
    """Precision, penalty and energies of all sides; known columns have none."""
    case = random_case(name, seed)
    problem, P = case.problem, prior_precision(case.problem)
    out = np.zeros_like(case.z)
    problem.add_prior(case.z, out)
    np.testing.assert_allclose(out, P @ case.z, atol=1e-9)
    assert problem.penalty(case.z) == pytest.approx(0.5 * case.z @ P @ case.z, rel=1e-10)
    for side, part in zip(problem.sides, problem.parts(case.z), strict=True):
        first, step = side.energies(part)
        total = first / side.prior**2
        if side.chains.drifting:
            total = total + step / np.where(side.free, side.drift, np.inf) ** 2
        assert 0.5 * total[side.free].sum() == pytest.approx(side.penalty(part), rel=1e-10)


@given(seed=seeds, name=st.sampled_from(sorted(KINDS)))
def test_shaped_noise_is_a_root_of_the_precision(seed, name):
    """√Pᵀ times every unit of noise in turn gives columns L with L Lᵀ = P."""
    problem = replace(
        random_case(name, seed, n_rows=15).problem, rise=None
    )  # which is not a side's
    L = []
    for side in problem.sides:
        cut, width = len(side.firsts), side.shape[1]
        columns = []
        for unit in np.eye((cut + len(side.steps)) * width):
            rows = unit.reshape(-1, width)
            columns.append(side.shape_noise((rows[:cut], rows[cut:])).ravel())
        L.append(np.stack(columns, axis=1) @ np.stack(columns))
    begin, P = 0, prior_precision(problem)
    for block in L:
        here = slice(begin, begin + len(block))
        np.testing.assert_allclose(block, P[here, here], atol=1e-9)
        begin += len(block)


@given(seed=seeds, name=st.sampled_from(sorted(KINDS)))
def test_noise_less_what_states_took_of_it_is_what_data_determine(seed, name):
    """States that are the noise's own leave nothing; states at 0 leave all of it."""
    problem = random_case(name, seed, n_rows=15).problem
    rng = np.random.default_rng(seed)
    for side in problem.sides:
        noise = side.noise(rng)
        first, step = side.seen_noise(noise, np.zeros(side.shape))
        np.testing.assert_allclose(first, np.sum(noise[0] ** 2, axis=0) * side.free)
        np.testing.assert_allclose(step, np.sum(noise[1] ** 2, axis=0) * side.free)
        own = np.zeros(side.shape)  # a walk that takes exactly these steps
        own[side.firsts] = noise[0] * side.prior
        for place, k in enumerate(side.steps):
            own[k] = own[side.chains.before[k]]
            own[k, side.free] += noise[1][place, side.free] / np.sqrt(side.links[k, side.free])
        for left in side.seen_noise(noise, own):
            np.testing.assert_allclose(left, 0.0, atol=1e-9)


def test_a_column_that_stands_still_beside_one_that_drifts_is_almost_rigid():
    """No drift at all would divide by 0; its steps are held to a hundred-thousandth instead."""
    chains = Chains.of(np.arange(3.0), np.zeros(3, int), np.arange(3), np.zeros(1, bool), True)
    side = FactorStates(chains, np.array([0.5, 0.0]), np.array([1.0, 2.0]), np.ones(2, bool))
    np.testing.assert_allclose(side.links[1:, 0], 4.0)
    assert (side.links[1:, 1] >= 1e9).all()
    assert np.isfinite(side.links).all()
