"""Planes rebuild their matrix, whatever its size, rank or repeated strengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intransit.errors import InputError
from intransit.study import canonical_planes, check_margins, factor_planes

SEEDS = st.integers(0, 2**32 - 1)
unhurried = settings(deadline=None)  # the first call of a kernel compiles it
ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])


def random_margins(seed, n_items):
    half = np.random.default_rng(seed).normal(size=(n_items, n_items))
    return half - half.T


def rebuilt(planes, n_items):
    """The margins as the formula of the module has them, from angles and radii alone."""
    margins = np.zeros((n_items, n_items))
    for plane in planes:
        radii, angles = plane.radii, plane.angles
        margins += np.outer(radii, radii) * np.sin(angles - angles[:, None])
    return margins


def axes_of(planes):
    return np.column_stack([axis for p in planes for axis in (p.first_axis, p.second_axis)])


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 12))
def test_planes_rebuild_the_margins(seed, n_items):
    margins = random_margins(seed, n_items)
    planes = canonical_planes(margins)
    assert len(planes) == n_items // 2
    np.testing.assert_allclose(sum(p.margins for p in planes), margins, atol=1e-12)
    np.testing.assert_allclose(rebuilt(planes, n_items), margins, atol=1e-12)
    axes = axes_of(planes)
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-12)


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 12))
def test_strengths_are_the_singular_values(seed, n_items):
    """Each once, where the slow twin finds each twice."""
    margins = random_margins(seed, n_items)
    planes = canonical_planes(margins)
    singular = np.linalg.svd(margins, compute_uv=False)
    strengths = [plane.strength for plane in planes]
    np.testing.assert_allclose(np.repeat(strengths, 2), singular[: 2 * len(planes)], rtol=1e-9)
    shares = 2 * np.square(strengths) / np.sum(margins**2)
    np.testing.assert_allclose([plane.share for plane in planes], shares, rtol=1e-9)
    assert sum(plane.share for plane in planes) == pytest.approx(1.0)


@unhurried
@given(seed=SEEDS, n_items=st.integers(1, 12), n_factors=st.integers(0, 4))
def test_factors_have_the_planes_of_their_matrix(seed, n_items, n_factors):
    S, Q = np.random.default_rng(seed).normal(size=(2, n_items, n_factors))
    margins = S @ Q.T - Q @ S.T
    planes = factor_planes(S, Q)
    assert len(planes) == min(n_factors, n_items // 2)
    np.testing.assert_allclose(rebuilt(planes, n_items), margins, atol=1e-11)
    dense = canonical_planes(margins, n_factors)
    np.testing.assert_allclose(
        [plane.strength for plane in planes], [plane.strength for plane in dense], atol=1e-11
    )
    np.testing.assert_allclose(
        [plane.share for plane in planes], [plane.share for plane in dense], atol=1e-11
    )


def test_factors_of_many_items_need_no_matrix():
    S, Q = np.random.default_rng(0).normal(size=(2, 200_000, 2))  # a matrix would take 320 GB
    planes = factor_planes(S, Q)
    rows = slice(0, 50)
    expected = (S[rows] @ Q[rows].T) - (Q[rows] @ S[rows].T)
    points = [plane.coordinates[rows] for plane in planes]
    found = sum(np.outer(p[:, 0], p[:, 1]) - np.outer(p[:, 1], p[:, 0]) for p in points)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 10))
def test_relabelling_items_permutes_every_plane(seed, n_items):
    margins = random_margins(seed, n_items)
    shuffle = np.random.default_rng(seed).permutation(n_items)
    planes = canonical_planes(margins)
    strengths = [plane.strength for plane in planes]
    if len(planes) > 1 and min(-np.diff(strengths)) < 1e-3:
        return  # planes of nearly equal strength are not unique
    for plane, other in zip(
        planes, canonical_planes(margins[np.ix_(shuffle, shuffle)]), strict=True
    ):
        np.testing.assert_allclose(
            other.margins, plane.margins[np.ix_(shuffle, shuffle)], atol=1e-10
        )


@unhurried
@given(seed=SEEDS, n_items=st.integers(2, 10))
def test_the_item_furthest_out_lies_at_angle_zero(seed, n_items):
    for plane in canonical_planes(random_margins(seed, n_items)):
        lead = np.argmax(plane.radii)
        assert plane.angles[lead] == 0.0
        np.testing.assert_allclose(np.hypot(*plane.coordinates.T), plane.radii)


@pytest.mark.parametrize("n_copies", [2, 3])
def test_equal_strengths_still_rebuild_the_margins(n_copies):
    margins = np.kron(np.eye(n_copies), ROCK_PAPER_SCISSORS)
    planes = canonical_planes(margins)
    np.testing.assert_allclose([p.strength for p in planes], np.sqrt(3) * np.ones(n_copies))
    np.testing.assert_allclose(rebuilt(planes, len(margins)), margins, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_margins_keep_their_planes(scale):
    (plane,) = canonical_planes(scale * ROCK_PAPER_SCISSORS)
    np.testing.assert_allclose(plane.margins / scale, ROCK_PAPER_SCISSORS, atol=1e-12)
    assert plane.share == 1.0


@pytest.mark.parametrize("n_items", [0, 1, 2, 5])
def test_zeros_have_no_planes(n_items):
    assert canonical_planes(np.zeros((n_items, n_items))) == ()
    assert factor_planes(np.zeros((n_items, 2)), np.zeros((n_items, 2))) == ()


def test_fewer_planes_are_the_strongest():
    margins = random_margins(3, 9)
    every, two = canonical_planes(margins), canonical_planes(margins, 2)
    assert [plane.strength for plane in two] == [plane.strength for plane in every[:2]]
    assert [plane.share for plane in two] == [plane.share for plane in every[:2]]


def test_scores_lie_on_a_line_in_one_plane():
    scores = np.array([3.0, 1.0, 0.0, -2.0])
    (plane,) = canonical_planes(np.subtract.outer(scores, scores))
    np.testing.assert_allclose(plane.margins, np.subtract.outer(scores, scores), atol=1e-12)


def test_rounding_is_averaged_out_and_exact_input_is_not_copied():
    exact = random_margins(0, 5)
    assert check_margins(exact) is exact
    rounded = exact.copy()
    rounded[1, 2] *= 1 + 1e-12
    mended = check_margins(rounded)
    assert (mended == -mended.T).all()
    np.testing.assert_allclose(mended, exact, rtol=1e-11)


def test_the_diagonal_may_be_missing():
    margins = ROCK_PAPER_SCISSORS.copy()
    np.fill_diagonal(margins, np.nan)
    np.testing.assert_array_equal(check_margins(margins, complete=True), ROCK_PAPER_SCISSORS)


def test_missing_pairs_do_not_hide_a_fault():
    margins = np.kron(np.eye(2), ROCK_PAPER_SCISSORS)
    margins[0, 5] = margins[5, 0] = np.nan
    check_margins(margins)
    margins[3, 4] = 7.0
    with pytest.raises(InputError, match=r"entry \(3, 4\) and its mirror"):
        check_margins(margins)


def spoilt(value, row=0, column=1):
    margins = ROCK_PAPER_SCISSORS.copy()
    margins[row, column] = value
    return margins


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_margins(np.zeros((2, 3))), r"found the shape \(2, 3\)"),
        (lambda: check_margins([["a", "b"], ["c", "d"]]), "not numbers"),
        (lambda: check_margins(spoilt(np.inf)), r"entry \(0, 1\) is infinite"),
        (lambda: check_margins(spoilt(np.nan)), r"entry \(0, 1\) is missing on one side"),
        (lambda: check_margins(spoilt(5.0, 2, 1)), r"entry \(1, 2\) and its mirror"),
        (lambda: check_margins(spoilt(1.0, 1, 1)), r"entry \(1, 1\) and its mirror"),
        (lambda: canonical_planes(np.full((3, 3), np.nan)), "some pairs are missing"),
        (lambda: canonical_planes(ROCK_PAPER_SCISSORS, -1), "n_planes is -1"),
        (lambda: factor_planes(np.zeros((3, 1)), np.zeros((3, 2))), "strengths of shape"),
        (lambda: factor_planes(np.full((3, 1), np.nan), np.zeros((3, 1))), "not finite"),
    ],
)
def test_what_is_no_margins_matrix_is_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()
