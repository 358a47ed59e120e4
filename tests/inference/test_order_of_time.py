"""States in order of time: the same equations, whichever way the states stand."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intransit.data import cells
from intransit.data.cells import Chains
from intransit.inference.newton import SparseEquations
from intransit.kernels import add_rows
from tests.inference.joint_problems import KINDS, case_of, random_case

seeds = st.integers(0, 2**32 - 1)
names = st.sampled_from(sorted(KINDS))


def owner_by_owner(problem, z):
    """Return the problem with the states of every owner together, and where z has its entries."""
    sides, places = [], []
    for side in problem.sides:
        states, chains = side.chains.by_owner[0], side.chains
        moved = Chains.of(
            chains.axis, chains.owners[states], chains.when[states], chains.idle, chains.drifting
        )
        sides.append(replace(side, chains=moved))
        places.append(states)
    S, Q, *E = (np.argsort(states) for states in places)
    at = np.hstack([S[problem.places[:, :2]], Q[problem.places[:, 2:]]])
    entries = np.split(np.arange(len(z)), problem.cuts[:2])
    turned = [
        part.reshape(len(states), -1)[states].ravel()
        for part, states in zip(entries, places, strict=False)
    ]
    pair_at = E[0][problem.pair_at] if E else problem.pair_at
    sides += [None] * (3 - len(sides))
    parts = dict(zip(("strengths", "exposures", "effects"), sides, strict=True))
    return replace(problem, at=at, pair_at=pair_at, **parts), np.concatenate(turned)


@given(seed=seeds, name=names, exact=st.booleans())
def test_products_and_solves_are_the_same_owner_by_owner(seed, name, exact):
    case = random_case(name, seed, logistic=True)
    problem, z = case.problem, case.z
    other, turned = owner_by_owner(problem, z)
    slope, curvature = problem.loss.terms(problem.margins(z))
    np.testing.assert_array_equal(other.margins(z[turned]), problem.margins(z))
    np.testing.assert_allclose(
        other.pull(z[turned], slope), problem.pull(z, slope)[turned], atol=1e-12
    )
    twist = 0.01 * slope if exact and not problem.is_convex else None
    one = SparseEquations(problem, z, curvature, twist)
    two = SparseEquations(other, z[turned], curvature, twist)
    n = problem.cuts[1]
    step = (np.random.default_rng(seed).normal(size=len(z)) * problem.free)[:n]
    np.testing.assert_allclose(
        two.product(step[turned[:n]], 0.1), one.product(step, 0.1)[turned[:n]], atol=1e-10
    )
    assert two.scale == pytest.approx(one.scale, rel=1e-12)
    right = np.random.default_rng(seed).normal(size=len(z)) * problem.free
    np.testing.assert_allclose(
        two.solve(right[turned], 0.1, accuracy=1e-12),
        one.solve(right, 0.1, accuracy=1e-12)[turned],
        atol=1e-6,
    )
    spreads = zip(one.covariances(), two.covariances(), problem.sides, strict=False)
    for first, second, side in spreads:
        np.testing.assert_allclose(second, first[side.chains.by_owner[0]], atol=1e-10)


@given(seed=seeds)
def test_rows_are_added_as_an_index_would(seed):
    rng = np.random.default_rng(seed)
    rows, place = rng.normal(size=(9, 3)), rng.integers(0, 9, 9)
    added = np.ones_like(rows)
    np.add.at(added, place, rows)
    for way in (add_rows, add_rows.py_func):
        out = np.ones_like(rows)
        way(rows, place, out)
        np.testing.assert_allclose(out, added, atol=1e-12)


@given(seed=seeds, name=names)
def test_cells_in_blocks_by_their_second_items_say_the_same(seed, name):
    """Blocks of two items stand for those of very many."""
    case = random_case(name, seed, logistic=True)
    with mock.patch.object(cells, "NEARBY", 2):
        blocks = case_of(case.rows, case.columns, case.scales, logistic=True)
    assert blocks.value(case.z) == pytest.approx(case.value(case.z), rel=1e-12)
    np.testing.assert_allclose(blocks.gradient(case.z), case.gradient(case.z), atol=1e-9)
