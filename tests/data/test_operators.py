import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intransit.data.measurements import Combinations, Entries, Matrices
from intransit.errors import InputError
from tests.inference.problems import KINDS, dense_rows, random_operator

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS[:3])


def as_dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@given(seed=seeds, kind=kinds, n_items=st.integers(2, 8))
def test_the_adjoint_is_the_adjoint(seed, kind, n_items):
    """⟨A(X), v⟩ = ⟨X, A*(v)⟩ for any X, skew or not."""
    rng = np.random.default_rng(seed)
    operator = random_operator(kind, n_items, 12, rng)
    X, v = rng.normal(size=(n_items, n_items)), rng.normal(size=12)
    left, right = operator.apply(X) @ v, np.sum(X * as_dense(operator.adjoint(v)))
    assert abs(left - right) <= 1e-12 * max(1.0, abs(left))


@given(seed=seeds, kind=kinds, n_items=st.integers(2, 8))
def test_every_way_of_reading_agrees_with_the_definition(seed, kind, n_items):
    rng = np.random.default_rng(seed)
    operator = random_operator(kind, n_items, 12, rng)
    S, Q = rng.normal(size=(2, n_items, 2))
    X = S @ Q.T - Q @ S.T
    expected = np.array([np.sum(a * X) for a in dense_rows(operator)])
    folded = operator.fold()
    np.testing.assert_allclose(operator.apply(X), expected, atol=1e-12)
    np.testing.assert_allclose(operator.read(S, Q), expected, atol=1e-12)
    x = X[folded.pairs[:, 0], folded.pairs[:, 1]]
    np.testing.assert_allclose(folded.matrix @ x, expected, atol=1e-12)
    assert (folded.pairs[:, 0] < folded.pairs[:, 1]).all()


def test_sampled_entries_of_many_items_stay_sparse():
    """A million items would make an N x N array of 8 TB; nothing here builds one."""
    rng = np.random.default_rng(0)
    operator = Entries(rng.integers(0, 10**6, (1000, 2)), 10**6)
    S, Q = rng.normal(size=(2, 10**6, 1))
    y = operator.read(S, Q)
    assert operator.adjoint(y).nnz <= 1000
    assert operator.fold().matrix.shape[0] == 1000


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Entries(np.array([[0, 3]]), 3), "row 0 compares 0 with 3, but items run from 0"),
        (lambda: Entries(np.array([[0, -1]]), 3), "row 0 compares 0 with -1"),
        (lambda: Entries(np.array([[0.5, 1]]), 3), "items are whole numbers from 0"),
        (lambda: Entries(np.array([0, 1]), 3), "it needs two columns"),
        (lambda: Matrices(np.zeros((2, 3, 4))), "one square matrix an outcome"),
        (lambda: Matrices(np.full((1, 2, 2), np.nan)), "must be a finite number"),
        (lambda: Combinations([0], [[0, 1]], [np.inf], 1, 2), "coefficients: entry 0 is inf"),
        (lambda: Entries(np.array([["a", "b"]]), 3), "number the items first"),
        (lambda: Entries(np.array([[0, np.nan]]), 3), "whole numbers from 0"),
        (lambda: Entries(np.array([[0, np.inf]]), 3), "row 0 compares 0 with inf"),
        (lambda: Entries(np.array([[0, 1]]), 2.5), "n_items is 2.5"),
        (lambda: Combinations.from_terms([[(0, 1)]], n_items=3), "first, second, coefficient"),
        (lambda: Combinations.from_terms([[(0, 0.5, 1.0)]], n_items=3), "whole numbers from 0"),
        (lambda: Combinations([0], [[0, 1]], [1e200], 1, 2), "choose other units"),
        (lambda: Combinations([0, 1], [[0, 1]], [1.0], 2, 2), "every term needs one of each"),
        (lambda: Combinations([5], [[0, 1]], [1.0], 2, 2), "there are 2 outcomes"),
    ],
)
def test_bad_operators_get_a_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
