"""Transitive and cyclic parts against dense least squares, and at right angles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intransit.errors import ConvergenceWarning, InputError
from intransit.study import decompose, decompose_pairs, split_cyclic

SEEDS = st.integers(0, 2**32 - 1)
unhurried = settings(deadline=None)  # the first call of a kernel compiles it
ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
SQUARE = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def random_margins(seed, n_items, p_missing=0.0):
    rng = np.random.default_rng(seed)
    half = np.triu(rng.normal(size=(n_items, n_items)), 1)
    half[np.triu(rng.random((n_items, n_items)) < p_missing, 1)] = np.nan
    return half - half.T


def random_weights(seed, n_items):
    half = np.triu(np.random.default_rng(seed).integers(0, 4, size=(n_items, n_items)), 1)
    return (half + half.T).astype(float)


def random_pairs(seed, n_items, n_outcomes):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n_items, size=(n_outcomes, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs, rng.normal(size=len(pairs)), rng.uniform(0.5, 2.0, size=len(pairs))


def differences_one_by_one(pairs, outcomes, weights, n_items):
    """Score differences of each row by dense least squares, one equation a row."""
    design = np.zeros((len(pairs), n_items))
    for row, (first, second) in enumerate(pairs):
        design[row, first], design[row, second] = 1.0, -1.0
    root = np.sqrt(weights)
    scores = np.linalg.lstsq(root[:, None] * design, root * outcomes)[0]
    return design @ scores


def energy(weights, flow, other=None):
    """Weighted inner product over ordered pairs, missing ones left out."""
    return np.nansum(weights * flow * (flow if other is None else other))


@unhurried
@given(seed=SEEDS, n_items=st.integers(1, 9))
def test_scores_of_a_complete_matrix_are_row_means(seed, n_items):
    margins = random_margins(seed, n_items)
    parts = decompose(margins)
    np.testing.assert_allclose(parts.scores, margins.mean(axis=1), atol=1e-12)
    same = decompose(margins, weights=np.full((n_items, n_items), 2.5))
    np.testing.assert_allclose(same.scores, parts.scores, atol=1e-12)
    assert same.cyclic_share == pytest.approx(parts.cyclic_share)


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 9), p_missing=st.sampled_from([0.0, 0.3, 0.7]))
def test_weighted_parts_agree_with_dense_least_squares(seed, n_items, p_missing):
    margins, weights = random_margins(seed, n_items, p_missing), random_weights(seed, n_items)
    parts = decompose(margins, weights=weights)
    first, second = np.nonzero(np.triu(weights, 1) * ~np.isnan(margins))
    slow = differences_one_by_one(
        np.column_stack((first, second)),
        margins[first, second],
        weights[first, second],
        n_items,
    )
    np.testing.assert_allclose(parts.transitive[first, second], slow, atol=1e-10)
    np.testing.assert_allclose(
        parts.cyclic[first, second], margins[first, second] - slow, atol=1e-10
    )
    assert int((~np.isnan(parts.cyclic)).sum()) == 2 * len(first) + n_items


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 9), p_missing=st.sampled_from([0.0, 0.3]))
def test_energies_of_the_parts_are_orthogonal_and_add_up(seed, n_items, p_missing):
    margins = random_margins(seed, n_items, p_missing)
    weights = np.where(np.isnan(margins), 0.0, random_weights(seed, n_items))
    parts = decompose(margins, weights=weights)
    total = energy(weights, margins)
    if total == 0.0:
        assert parts.cyclic_share == 0.0
        return
    assert energy(weights, parts.transitive, parts.cyclic) == pytest.approx(0.0, abs=1e-10)
    assert energy(weights, parts.cyclic) / total == pytest.approx(parts.cyclic_share)
    assert energy(weights, parts.transitive) / total == pytest.approx(parts.transitive_share)


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 9), p_missing=st.sampled_from([0.0, 0.3]))
def test_relabelling_items_permutes_the_parts(seed, n_items, p_missing):
    margins = random_margins(seed, n_items, p_missing)
    shuffle = np.random.default_rng(seed).permutation(n_items)
    parts, shuffled = decompose(margins), decompose(margins[np.ix_(shuffle, shuffle)])
    np.testing.assert_allclose(shuffled.scores, parts.scores[shuffle], atol=1e-10)
    assert shuffled.cyclic_share == pytest.approx(parts.cyclic_share)


def test_the_two_extremes():
    scores = np.array([2.0, 0.5, -0.5, -2.0])
    ranked = decompose(np.subtract.outer(scores, scores))
    np.testing.assert_allclose(ranked.scores, scores)
    assert (ranked.transitive_share, ranked.cyclic_share) == (1.0, 0.0)
    circle = decompose(ROCK_PAPER_SCISSORS)
    assert (circle.transitive_share, circle.cyclic_share) == (0.0, 1.0)


@pytest.mark.parametrize("n_items", [0, 1, 4])
def test_zeros_have_nothing_cyclic(n_items):
    parts = decompose(np.zeros((n_items, n_items)))
    assert (parts.transitive_share, parts.cyclic_share) == (1.0, 0.0)
    empty = decompose_pairs(np.zeros((0, 2), int), np.zeros(0), n_items=n_items)
    assert (empty.transitive_share, empty.cyclic_share) == (1.0, 0.0)
    assert split_cyclic(empty).harmonic_share == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_margins_keep_their_shares(scale):
    margins = random_margins(0, 6)
    expected = decompose(margins).cyclic_share
    assert decompose(scale * margins).cyclic_share == pytest.approx(expected)
    assert decompose(scale * margins).to_pairs().cyclic_share == pytest.approx(expected)


def test_components_have_free_levels():
    """Two groups that never met: scores centred in each, nothing said between them."""
    margins = np.full((5, 5), np.nan)
    for first, second, margin in [(0, 3, 2.0), (1, 2, 1.0), (2, 4, 1.0)]:
        margins[first, second], margins[second, first] = margin, -margin
    parts = decompose(margins)
    np.testing.assert_array_equal(parts.components, [0, 1, 1, 0, 1])
    np.testing.assert_allclose(parts.scores, [1.0, 1.0, 0.0, -1.0, -1.0], atol=1e-12)
    assert np.isnan(parts.transitive[0, 1])
    assert parts.transitive[1, 4] == pytest.approx(2.0)
    pairs = parts.to_pairs()
    listed = decompose_pairs(pairs.pairs, pairs.margins, n_items=5)
    np.testing.assert_array_equal(listed.components, parts.components)
    np.testing.assert_allclose(listed.scores, parts.scores, atol=1e-12)


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 8), n_outcomes=st.integers(0, 30))
def test_listed_pairs_agree_with_dense_least_squares(seed, n_items, n_outcomes):
    """Repeated pairs and both ways round included."""
    pairs, outcomes, weights = random_pairs(seed, n_items, n_outcomes)
    parts = decompose_pairs(pairs, outcomes, n_items=n_items, weights=weights)
    slow = differences_one_by_one(pairs, outcomes, weights, n_items)
    fast = parts.scores[pairs[:, 0]] - parts.scores[pairs[:, 1]]
    np.testing.assert_allclose(fast, slow, atol=1e-10)
    for label in np.unique(parts.components):
        assert parts.scores[parts.components == label].mean() == pytest.approx(0.0, abs=1e-12)


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 8))
def test_listed_pairs_agree_with_their_matrix(seed, n_items):
    margins, weights = random_margins(seed, n_items, 0.3), random_weights(seed, n_items)
    matrix = decompose(margins, weights=weights)
    there = matrix.to_pairs()
    # Turn every second pair round: the same pair, the opposite outcome.
    flip = np.arange(len(there.pairs)) % 2 == 1
    pairs = np.where(flip[:, None], there.pairs[:, ::-1], there.pairs)
    outcomes = np.where(flip, -there.margins, there.margins)
    listed = decompose_pairs(pairs, outcomes, n_items=n_items, weights=there.weights)
    np.testing.assert_allclose(listed.scores, matrix.scores, atol=1e-10)
    np.testing.assert_allclose(listed.cyclic, there.cyclic, atol=1e-10)
    assert listed.cyclic_share == pytest.approx(matrix.cyclic_share)
    assert there.cyclic_share == pytest.approx(matrix.cyclic_share)


def test_doubling_a_weight_equals_repeating_the_row():
    pairs, outcomes, _ = random_pairs(1, 5, 12)
    weights = np.ones(len(pairs))
    weights[3] = 2.0
    doubled = decompose_pairs(pairs, outcomes, n_items=5, weights=weights)
    repeated = decompose_pairs(
        np.vstack((pairs, pairs[3])), np.append(outcomes, outcomes[3]), n_items=5
    )
    np.testing.assert_allclose(doubled.scores, repeated.scores, atol=1e-12)
    np.testing.assert_allclose(doubled.margins, repeated.margins, atol=1e-12)


@pytest.mark.parametrize("shape", ["random", "path"])
def test_many_items_solve_their_normal_equations(shape):
    """Iterating serves random graphs, the factorisation takes over on a path."""
    n_items = 5000
    pairs, outcomes, weights = random_pairs(0, n_items, 40_000)
    if shape == "path":
        pairs = np.column_stack((np.arange(n_items - 1), np.arange(1, n_items)))
        outcomes, weights = outcomes[: n_items - 1], weights[: n_items - 1]
    parts = decompose_pairs(pairs, outcomes, n_items=n_items, weights=weights)
    pull = parts.weights * parts.cyclic
    divergence = np.bincount(parts.pairs[:, 0], pull, n_items)
    divergence -= np.bincount(parts.pairs[:, 1], pull, n_items)
    np.testing.assert_allclose(divergence, 0.0, atol=1e-8)
    if shape == "path":
        assert parts.cyclic_share == pytest.approx(0.0, abs=1e-12)


def curl_one_by_one(parts):
    """The curl part by dense least squares over every triangle, found by trying all triples."""
    n_items, place = len(parts.scores), {tuple(pair): e for e, pair in enumerate(parts.pairs)}
    columns = []
    for i in range(n_items):
        for j in range(i + 1, n_items):
            for k in range(j + 1, n_items):
                if {(i, j), (j, k), (i, k)} <= place.keys():
                    column = np.zeros(len(parts.pairs))
                    column[[place[i, j], place[j, k], place[i, k]]] = 1.0, 1.0, -1.0
                    columns.append(column / parts.weights)
    flows = np.reshape(columns, (len(columns), len(parts.pairs))).T
    root = np.sqrt(parts.weights)
    return flows @ np.linalg.lstsq(root[:, None] * flows, root * parts.cyclic)[0], len(columns)


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 9), n_outcomes=st.integers(1, 30))
def test_curl_and_harmonic_parts_agree_with_dense_least_squares(seed, n_items, n_outcomes):
    pairs, outcomes, weights = random_pairs(seed, n_items, n_outcomes)
    parts = decompose_pairs(pairs, outcomes, n_items=n_items, weights=weights)
    split = split_cyclic(parts)
    slow, n_triangles = curl_one_by_one(parts)
    assert split.n_triangles == n_triangles
    np.testing.assert_allclose(split.curl, slow, atol=1e-8)
    np.testing.assert_allclose(split.curl + split.harmonic, parts.cyclic, atol=1e-12)
    flows = (parts.transitive, split.curl, split.harmonic)
    gram = [[np.sum(parts.weights * a * b) for a in flows] for b in flows]
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-8)
    shares = (parts.transitive_share, split.curl_share, split.harmonic_share)
    assert sum(shares) == pytest.approx(1.0)


@unhurried
@given(seed=SEEDS, n_items=st.integers(3, 9))
def test_complete_graphs_have_no_harmonic_part(seed, n_items):
    margins = random_margins(seed, n_items)
    parts = decompose(margins)
    split = split_cyclic(parts)
    np.testing.assert_allclose(split.harmonic, 0.0, atol=1e-8)
    assert split.curl_share == pytest.approx(parts.cyclic_share)


def test_a_ring_is_harmonic_and_a_chord_makes_it_curl():
    ring = decompose_pairs(SQUARE, np.ones(4), n_items=4)
    assert split_cyclic(ring).harmonic_share == pytest.approx(1.0)
    chorded = decompose_pairs(np.vstack((SQUARE, [0, 2])), np.ones(5), n_items=4)
    assert split_cyclic(chorded).harmonic_share == pytest.approx(0.0, abs=1e-12)


def test_an_unfinished_split_says_so():
    with pytest.warns(ConvergenceWarning, match="stopped before its tolerance"):
        split_cyclic(decompose(random_margins(0, 9, 0.2)), max_steps=1)


def lopsided(n_items=3):
    weights = np.ones((n_items, n_items))
    weights[0, 1] = 2.0
    return weights


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decompose(ROCK_PAPER_SCISSORS, weights=np.ones((2, 2))), "one weight for each"),
        (lambda: decompose(ROCK_PAPER_SCISSORS, weights=-np.ones((3, 3))), "negative"),
        (lambda: decompose(ROCK_PAPER_SCISSORS, weights=lopsided()), "not symmetric"),
        (
            lambda: decompose(
                ROCK_PAPER_SCISSORS, weights=10.0 ** np.array([[0, 0, 6], [0, 0, -6], [6, -6, 0]])
            ),
            "times the smallest",
        ),
        (lambda: decompose_pairs([[0, 1]], [1.0, 2.0], n_items=2), r"found \(1, 2\) pairs"),
        (lambda: decompose_pairs([[0, 2]], [1.0], n_items=2), "from 0 to 1"),
        (lambda: decompose_pairs([[0, 1.5]], [1.0], n_items=2), "whole numbers"),
        (lambda: decompose_pairs([[0, 1]], [1.0], n_items="a"), "n_items is 'a'"),
        (lambda: decompose_pairs([[0, 1]], ["x"], n_items=2), "outcomes: these are not numbers"),
        (lambda: decompose_pairs([[0, 1], [1, 1]], [1.0, 1.0], n_items=2), "row 1 compares item 1"),
        (lambda: decompose_pairs([[0, 1]], [np.nan], n_items=2), "outcomes: some are not finite"),
        (lambda: decompose_pairs([[0, 1]], [1.0], n_items=2, weights=[-1.0]), "negative"),
        (
            lambda: split_cyclic(decompose(random_margins(0, 6)), max_triangles=19),
            "more than 19 triangles",
        ),
    ],
)
def test_what_cannot_be_split_is_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()
