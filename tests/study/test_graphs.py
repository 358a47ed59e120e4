"""Circles of comparisons and of results."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from intransit.study import bridges, goes_round, n_cycles


def n_groups(pairs, n_items):
    graph = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n_items, n_items))
    return connected_components(graph, directed=False)[0]


@given(seed=st.integers(0, 2**32 - 1), n_items=st.integers(2, 9), share=st.floats(0.1, 0.9))
def test_bridges_are_what_holds_groups_together(seed, n_items, share):
    """A pair is a bridge if and only if there are more groups without it."""
    rng = np.random.default_rng(seed)
    every = np.stack(np.triu_indices(n_items, 1), axis=1)
    pairs = every[rng.random(len(every)) < share]
    if not len(pairs):
        return
    slow = [
        n_groups(np.delete(pairs, k, axis=0), n_items) > n_groups(pairs, n_items)
        for k in range(len(pairs))
    ]
    assert bridges(pairs, n_items).tolist() == slow


def test_circles_are_counted():
    """A triangle has one, a tree none, four items that all met three."""
    assert n_cycles(np.array([(0, 1), (1, 2), (0, 2)]), 5) == 1
    assert n_cycles(np.array([(0, 1), (1, 2)]), 3) == 0
    assert n_cycles(np.stack(np.triu_indices(4, 1), axis=1), 4) == 3


def test_results_go_round_or_not():
    """An order without an upset does not go round; one upset, a tie, or a circle does."""
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    assert not goes_round(first, second, np.ones(3), 3)
    assert goes_round(first, second, np.array([1.0, 0.0, 1.0]), 3)
    assert goes_round(first, second, np.array([1.0, 0.5, 1.0]), 3)
