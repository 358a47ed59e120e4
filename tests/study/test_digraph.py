"""Cycles against triple loops, published tables and relabelled items."""

from collections import Counter
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intransit.errors import InputError
from intransit.study import (
    Consistency,
    Cycle,
    consistency,
    count_triangles,
    strong_groups,
    strongest_cycle_through,
    strongest_cycles,
)

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
SEEDS = st.integers(0, 2**32 - 1)
unhurried = settings(deadline=None)  # the first call of a kernel compiles it
KINDS = st.sampled_from(["plain", "tied", "missing", "ranked"])


def random_margins(seed, n_items, kind):
    rng = np.random.default_rng(seed)
    half = np.triu(rng.normal(size=(n_items, n_items)), 1)
    if kind == "tied":
        half = np.triu(rng.integers(-2, 3, size=(n_items, n_items)), 1).astype(float)
    if kind == "ranked":
        half = np.triu(0.5 * half + 0.5, 1)
    if kind == "missing":
        half[rng.random((n_items, n_items)) < 0.4] = np.nan
    return half - half.T


def cycles_one_by_one(margins, length=3, threshold=0.0):
    """All cycles, by trying every ordered choice of items."""
    found = []
    for items in permutations(range(len(margins)), length):
        edges = [margins[a, b] for a, b in zip(items, (*items[1:], items[0]), strict=True)]
        if items[0] == min(items) and all(edge > threshold for edge in edges):
            found.append(Cycle(items, tuple(edges)))
    return sorted(found, key=lambda cycle: (-cycle.strength, cycle.items))


def reachable(margins):
    """Who reaches whom along wins, by Warshall's loops."""
    reach = margins > 0
    for middle in range(len(margins)):
        reach |= np.outer(reach[:, middle], reach[middle])
    return reach


@unhurried
@given(seed=SEEDS, n_items=st.integers(0, 9), kind=KINDS, threshold=st.sampled_from([0.0, 0.5, 1]))
def test_count_agrees_with_trying_every_triple(seed, n_items, kind, threshold):
    margins = random_margins(seed, n_items, kind)
    expected = len(cycles_one_by_one(margins, threshold=threshold))
    assert count_triangles(margins, threshold=threshold) == expected


@pytest.mark.parametrize("n_items", [63, 64, 65, 128, 300])
@pytest.mark.parametrize("kind", ["plain", "tied", "missing"])
def test_count_agrees_with_the_trace_of_the_cube(n_items, kind):
    """Word boundaries included; the trace counts each cycle at each of its three items."""
    margins = random_margins(n_items, n_items, kind)
    beats = (margins > 0).astype(np.int64)
    assert count_triangles(margins) == np.trace(beats @ beats @ beats) // 3


@unhurried
@given(
    seed=SEEDS,
    n_items=st.integers(0, 7),
    kind=KINDS,
    k=st.integers(0, 12),
    length=st.integers(3, 7),
)
def test_strongest_cycles_are_the_head_of_the_full_list(seed, n_items, kind, k, length):
    margins = random_margins(seed, n_items, kind)
    expected = cycles_one_by_one(margins, length)[:k]
    assert list(strongest_cycles(margins, k, length=length)) == expected


@pytest.mark.parametrize("kind", ["plain", "tied", "missing", "ranked"])
def test_strongest_cycles_of_a_larger_matrix(kind):
    """Several rounds of thresholds and several words a row, against a full sort."""
    margins = random_margins(4, 150, kind)
    i, j, k = np.nonzero(
        (margins > 0)[:, :, None] & (margins > 0)[None] & (margins.T > 0)[:, None, :]
    )
    strengths = np.min([margins[i, j], margins[j, k], margins[k, i]], axis=0)
    first = (i < j) & (i < k)
    order = np.lexsort((k[first], j[first], i[first], -strengths[first]))[:40]
    expected = np.column_stack((i, j, k))[first][order]
    found = strongest_cycles(margins, 40)
    np.testing.assert_array_equal([cycle.items for cycle in found], expected)


def test_equal_margins_stop_after_k():
    """A blown-up rock, paper, scissors has 64 million cycles of equal strength."""
    kinds = np.arange(1200) % 3
    margins = ROCK_PAPER_SCISSORS[np.ix_(kinds, kinds)]
    assert count_triangles(margins) == 400**3
    found = strongest_cycles(margins, 5)
    assert [cycle.items for cycle in found] == [(0, 2, last) for last in (1, 4, 7, 10, 13)]


def test_asking_for_more_than_there_are_returns_all():
    margins = random_margins(0, 40, "plain")
    assert len(strongest_cycles(margins, 10**9)) == count_triangles(margins)


@unhurried
@given(seed=SEEDS, n_items=st.integers(3, 7), kind=KINDS)
def test_strongest_cycle_through_an_edge_is_the_best_of_any_length(seed, n_items, kind):
    margins = random_margins(seed, n_items, kind)
    every = [c for length in range(3, n_items + 1) for c in cycles_one_by_one(margins, length)]
    for edge in product(range(n_items), repeat=2):
        if margins[edge] > 0:
            check_best(
                strongest_cycle_through(margins, *edge), [c for c in every if edge in c.edges]
            )
    for item in range(n_items):
        check_best(strongest_cycle_through(margins, item), [c for c in every if item in c.items])


def check_best(found, candidates):
    if not candidates:
        assert found is None
        return
    best = max(candidate.strength for candidate in candidates)
    assert found in candidates
    assert found.strength == best
    assert len(found.items) == min(len(c.items) for c in candidates if c.strength == best)


@unhurried
@given(seed=SEEDS, n_items=st.integers(0, 9), kind=KINDS)
def test_groups_are_the_items_that_reach_each_other(seed, n_items, kind):
    margins = random_margins(seed, n_items, kind)
    reach = reachable(margins)
    groups = strong_groups(margins)
    expected = {tuple(np.flatnonzero(reach[i] & reach[:, i]).tolist()) for i in range(n_items)}
    assert set(groups) == expected - {()}
    for above, below in combinations(groups, 2):
        assert not reach[np.ix_(below, above)].any()


def test_groups_of_many_items_stand_in_order():
    """Six strong tournaments, each above the next, items shuffled."""
    rng = np.random.default_rng(2)
    block = random_margins(1, 30, "plain")
    margins = np.kron(np.triu(np.ones((6, 6)), 1), np.ones((30, 30)))
    margins = margins - margins.T + np.kron(np.eye(6), block)
    shuffle = rng.permutation(180)
    groups = strong_groups(margins[np.ix_(shuffle, shuffle)])
    assert [set(shuffle[list(group)] // 30) for group in groups] == [{b} for b in range(6)]


def test_a_cycle_without_a_chord_is_found():
    """No triangle in an incomplete ring of four, and yet a cycle."""
    ring = np.full((4, 4), np.nan)
    for first, second in [(0, 2), (2, 1), (1, 3), (3, 0)]:
        ring[first, second], ring[second, first] = 1.0, -1.0
    expected = Cycle((0, 2, 1, 3), (1.0, 1.0, 1.0, 1.0))
    assert count_triangles(ring) == 0
    assert strong_groups(ring) == ((0, 1, 2, 3),)
    assert strongest_cycles(ring, length=4) == (expected,)
    assert strongest_cycle_through(ring, 2, 1) == expected


@unhurried
@given(seed=SEEDS, n_items=st.integers(3, 9), kind=KINDS)
def test_relabelling_items_relabels_their_cycles(seed, n_items, kind):
    margins = random_margins(seed, n_items, kind)
    shuffle = np.random.default_rng(seed).permutation(n_items)
    shuffled = margins[np.ix_(shuffle, shuffle)]

    def as_edges(cycles, names):
        return {frozenset((names[a], names[b]) for a, b in cycle.edges) for cycle in cycles}

    assert count_triangles(shuffled) == count_triangles(margins)
    before = as_edges(strongest_cycles(margins, 200), range(n_items))
    assert as_edges(strongest_cycles(shuffled, 200), shuffle) == before


@pytest.mark.parametrize(
    ("n_items", "published"),
    [
        (3, {0: 6, 1: 2}),
        (4, {0: 24, 1: 16, 2: 24}),
        (5, {0: 120, 1: 120, 2: 240, 3: 240, 4: 280, 5: 24}),
    ],
)
def test_all_small_tournaments_give_the_published_table(n_items, published):
    """Number of tournaments with d cycles: Kendall and Babington Smith, Biometrika 31 (1940)."""
    above = np.triu_indices(n_items, 1)
    found = Counter()
    for signs in product([-1.0, 1.0], repeat=len(above[0])):
        margins = np.zeros((n_items, n_items))
        margins[above] = signs
        found[consistency(margins - margins.T).n_cycles] += 1
    assert found == published


def test_known_coefficients():
    """Six foods with three cycles: ζ = 0.625 (Kendall, Rank Correlation Methods)."""
    assert Consistency(n_items=6, n_cycles=3).coefficient == 0.625
    assert consistency(ROCK_PAPER_SCISSORS).coefficient == 0.0
    assert consistency(random_margins(0, 1, "plain")).coefficient == 1.0
    ranked = np.subtract.outer(np.arange(7.0), np.arange(7.0))
    assert consistency(ranked).coefficient == 1.0


@pytest.mark.parametrize("n_items", [5, 6, 7, 8])
def test_the_most_cycles_are_reached_by_a_turning_table(n_items):
    """Each item beats the half that follows it; no tournament has more cycles."""
    steps = np.subtract.outer(np.arange(n_items), np.arange(n_items)) % n_items
    margins = np.where(2 * steps < n_items, 1.0, -1.0)
    margins = np.triu(margins, 1) - np.triu(margins, 1).T
    assert consistency(margins).coefficient == pytest.approx(0.0, abs=1e-15)


def test_p_value_agrees_with_simulated_coins():
    answers = [consistency(random_margins(seed, 12, "plain")) for seed in range(2000)]
    n_cycles = np.array([answer.n_cycles for answer in answers])
    assert n_cycles.mean() == pytest.approx(answers[0].expected, rel=0.02)
    assert answers[0].expected == comb(12, 3) / 4
    for count in (35, 45, 55, 65):
        simulated = np.mean(n_cycles <= count)  # as few, or fewer
        assert Consistency(12, count).p_value == pytest.approx(simulated, abs=0.03)
    assert np.isnan(Consistency(7, 3).p_value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_triangles(ROCK_PAPER_SCISSORS, threshold=-1.0), "threshold is -1.0"),
        (lambda: strongest_cycles(ROCK_PAPER_SCISSORS, -1), "k is -1"),
        (
            lambda: strongest_cycles(ROCK_PAPER_SCISSORS, length=2),
            "length is 2; it must be a whole number, 3 or more",
        ),
        (lambda: strongest_cycle_through(ROCK_PAPER_SCISSORS, 3), "items 0 to 2"),
        (lambda: strongest_cycle_through(ROCK_PAPER_SCISSORS, 0, 1), "does not beat"),
        (lambda: consistency(np.zeros((3, 3))), "3 pairs are tied"),
        (lambda: consistency(random_margins(0, 9, "missing")), "some pairs are missing"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()
