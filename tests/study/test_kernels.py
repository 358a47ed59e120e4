"""Each compiled loop against a slow twin in numpy or plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intransit import kernels
from intransit.errors import InputError
from intransit.skew import check_margins

SEEDS = st.integers(0, 2**32 - 1)
unhurried = settings(deadline=None)  # the first call of a kernel compiles it


def random_margins(seed, n_items):
    """Some ties, some missing pairs, several 64-bit words when large."""
    rng = np.random.default_rng(seed)
    half = np.triu(rng.normal(size=(n_items, n_items)).round(1), 1)
    half[np.triu(rng.random((n_items, n_items)) < 0.3, 1)] = np.nan
    return half - half.T


def unpacked(bits, n_items):
    """Bits as a matrix of booleans, one shift at a time."""
    places = np.arange(n_items)
    words = bits[:, places // 64]
    return (words >> (places % 64).astype(np.uint64)) & np.uint64(1) == 1


def packed(edges):
    """The inverse of `unpacked`, by numpy."""
    n_items = len(edges)
    padded = np.zeros((n_items, (n_items + 63) // 64 * 64), dtype=bool)
    padded[:, :n_items] = edges
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def reachable(edges):
    reach = edges | np.eye(len(edges), dtype=bool)
    for middle in range(len(edges)):
        reach |= np.outer(reach[:, middle], reach[middle])
    return reach


@unhurried
@given(seed=SEEDS, n_items=st.integers(0, 140), threshold=st.sampled_from([0.0, 0.5, 1.0]))
def test_packing_agrees_with_numpy(seed, n_items, threshold):
    margins = random_margins(seed, n_items)
    wins, losses = kernels.pack_edges(margins, threshold)
    np.testing.assert_array_equal(wins, packed(margins > threshold))
    np.testing.assert_array_equal(losses, packed(margins < -threshold))
    np.testing.assert_array_equal(unpacked(wins, n_items), margins > threshold)


@unhurried
@given(seed=SEEDS, n_items=st.integers(0, 140))
def test_counting_agrees_with_the_trace_of_the_cube(seed, n_items):
    wins, losses = kernels.pack_edges(random_margins(seed, n_items), 0.0)
    beats = unpacked(wins, n_items).astype(np.int64)
    assert kernels.count_cycles(wins, losses) == np.trace(beats @ beats @ beats) // 3


@unhurried
@given(seed=SEEDS, n_items=st.integers(0, 40), length=st.integers(3, 4), limit=st.integers(1, 99))
def test_listing_agrees_with_a_search_in_python(seed, n_items, length, limit):
    wins, losses = kernels.pack_edges(random_margins(seed, n_items), 0.7)
    beats = unpacked(wins, n_items)
    paths = [(start,) for start in range(n_items)]
    for _ in range(length - 1):
        paths = [
            (*path, item)
            for path in paths
            for item in np.flatnonzero(beats[path[-1]])
            if item > path[0] and item not in path
        ]
    expected = [path for path in paths if beats[path[-1], path[0]]][:limit]
    found = kernels.list_cycles(wins, losses, length, limit)
    np.testing.assert_array_equal(found, np.reshape(expected, (len(expected), length)))


def test_a_long_list_outgrows_its_first_array():
    margins = np.triu(np.random.default_rng(0).normal(size=(40, 40)), 1)
    wins, losses = kernels.pack_edges(margins - margins.T, 0.0)
    found = kernels.list_cycles(wins, losses, 3, 10**9)
    assert len(found) == kernels.count_cycles(wins, losses) > 2048
    assert len(np.unique(found, axis=0)) == len(found)


@unhurried
@given(seed=SEEDS, n_items=st.integers(0, 90), threshold=st.sampled_from([0.0, 1.5, 2.0]))
def test_groups_agree_with_reachability(seed, n_items, threshold):
    wins, losses = kernels.pack_edges(random_margins(seed, n_items), threshold)
    edges = unpacked(wins, n_items)
    reach = reachable(edges)
    labels = kernels.label_groups(wins, losses)
    together = labels[:, None] == labels
    np.testing.assert_array_equal(together, reach & reach.T)
    assert (labels[:, None] <= labels)[edges].all()  # edges point down the numbering
    kernels.keep_within_groups(wins, losses)
    np.testing.assert_array_equal(unpacked(wins, n_items), edges & together)
    np.testing.assert_array_equal(unpacked(losses, n_items), edges.T & together)


@unhurried
@given(seed=SEEDS, n_items=st.integers(0, 20))
def test_triangles_agree_with_trying_every_triple(seed, n_items):
    adjacent = np.triu(np.random.default_rng(seed).random((n_items, n_items)) < 0.5, 1)
    first, second = np.nonzero(adjacent)
    place = {edge: e for e, edge in enumerate(zip(first, second, strict=True))}
    expected = [
        (ij, place[j, k], place[i, k])
        for (i, j), ij in place.items()
        for k in range(j + 1, n_items)
        if adjacent[j, k] and adjacent[i, k]
    ]
    starts = np.searchsorted(first, np.arange(n_items + 1))
    found = kernels.list_triangles(starts, second, 10**6)
    np.testing.assert_array_equal(found, np.reshape(expected, (len(expected), 3)))
    cut = kernels.list_triangles(starts, second, 3)
    np.testing.assert_array_equal(cut, found[:4])


@pytest.mark.parametrize("n_items", [2, 65, 130])
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (1.0, "and its mirror do not cancel"),
        (np.nan, "is missing on one side only"),
        (np.inf, "is infinite"),
    ],
)
def test_a_matrix_that_is_not_skew_is_refused_by_its_first_entry(n_items, change, complaint):
    margins = np.triu(np.ones((n_items, n_items)), 1)
    margins -= margins.T
    assert check_margins(margins) is margins
    margins[0, n_items - 1] += 1e-12
    rounded = check_margins(margins)
    np.testing.assert_array_equal(rounded, -rounded.T)
    margins[0, n_items - 1] += change
    with pytest.raises(InputError, match=rf"the entry \(0, {n_items - 1}\) {complaint}"):
        check_margins(margins)
