"""The classifier keeps the manners of scikit-learn, and forecasts as of each row's time."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

import intransit as it
from intransit.estimator import IntransitClassifier
from tests.backtest.seasons import season

COLUMNS = ("first", "second", "day", "side")


def rows(seed=0, n_games=200, **settings):
    columns = season(seed, n_games=n_games, sides=True, **settings)
    X = np.stack([columns[name] for name in COLUMNS], axis=1).astype(float)
    return X, columns["won"]


@pytest.fixture(scope="module")
def fitted():
    X, y = rows()
    return IntransitClassifier(factors=0, pairs=False).fit(X, y), X, y


def test_probabilities_are_those_of_the_answer_at_the_rows_own_times(fitted):
    model, X, _ = fitted
    p = model.predict_proba(X[-5:])
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    for row, chance in zip(X[-5:], p[:, 1], strict=True):
        i, j, day, side = row
        told = model.answer_.probability(str(int(i)), str(int(j)), day, side=side)
        assert chance == pytest.approx(float(told), abs=1e-9)
    far = X[-5:].copy()
    far[:, 2] += 500.0
    near, later = (np.abs(x[:, 1] - 0.5) for x in (p, model.predict_proba(far)))
    assert (later <= near + 0.03).all()  # to within what draws of the future allow
    assert (later[near > 0.2] < near[near > 0.2]).all()
    assert (near > 0.2).any()
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] > 0.5)
    np.testing.assert_array_equal(model.classes_, [0, 1])


def test_swapped_rows_have_the_opposite_chance(fitted):
    model, X, _ = fitted
    swapped = X[:, [1, 0, 2, 3]] * [1, 1, 1, -1]
    both = model.predict_proba(X)[:, 1] + model.predict_proba(swapped)[:, 1]
    np.testing.assert_allclose(both, 1.0, rtol=0, atol=1e-14)  # means over draws


def test_it_runs_in_cross_validation_by_time_and_can_be_cloned():
    X, y = rows(n_games=300)
    model = IntransitClassifier(factors=0, pairs=False, drifting=False)
    for scoring in ("neg_log_loss", "accuracy"):
        scores = cross_val_score(model, X, y.astype(int), cv=TimeSeriesSplit(3), scoring=scoring)
        assert scores.mean() > {"neg_log_loss": -0.65, "accuracy": 0.6}[scoring]
    twin = clone(model).set_params(factors=1)
    assert twin.get_params()["factors"] == 1
    assert model.get_params()["factors"] == 0
    with pytest.raises(NotFittedError):
        twin.predict(X)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_are_read_by_name_or_by_place(fitted, library):
    model, X, y = fitted
    names = dict(zip(("first", "second", "time", "side"), X.T, strict=True))
    shuffled = library.DataFrame(
        {name: names[name] for name in ("time", "side", "second", "first")}
    )
    unnamed = library.DataFrame(dict(zip("abcd", X.T, strict=True)))
    for frame in (shuffled, unnamed):
        np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(X))
    again = clone(model).fit(shuffled, library.Series(y))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_weights_count_games_and_nought_leaves_out():
    X, y = rows(n_games=80)
    model = IntransitClassifier(factors=0, pairs=False, drifting=False)
    twice = clone(model).fit(np.vstack([X, X[:40]]), np.concatenate([y, y[:40]]))
    weighted = clone(model).fit(X, y, sample_weight=np.where(np.arange(80) < 40, 2.0, 1.0))
    np.testing.assert_allclose(twice.predict_proba(X), weighted.predict_proba(X), atol=1e-6)
    half = clone(model).fit(X, y, sample_weight=np.arange(80) < 40)
    np.testing.assert_array_equal(
        half.predict_proba(X[:40]), clone(model).fit(X[:40], y[:40]).predict_proba(X[:40])
    )


def test_ties_are_half_a_win_or_a_class_of_their_own():
    X, y = rows(ties=True)
    model = IntransitClassifier(factors=0, pairs=False, drifting=False)
    halves = clone(model).fit(X, y)
    own = clone(model).set_params(ties=True).fit(X, (2 * y - 1).astype(int))
    np.testing.assert_array_equal(halves.classes_, [0, 1])
    np.testing.assert_array_equal(own.classes_, [-1, 0, 1])
    loss, tie, win = own.predict_proba(X).T
    np.testing.assert_allclose(loss + tie + win, 1.0)
    np.testing.assert_allclose(win + tie / 2, halves.predict_proba(X)[:, 1])
    assert 0.05 < tie.mean() < 0.4
    with pytest.raises(it.InputError, match=r"entry .* results are"):
        model.fit(X, 2 * y - 1)


def test_items_that_were_not_learnt_are_forecast_as_newcomers_were(fitted):
    model, _, _ = fitted
    ranks = [one.name for one in model.answer_.rank(299.0)]
    rows = [["nobody", name, 299.0, 0] for name in (ranks[0], ranks[-1])]
    strange = np.array([*rows, ["nobody", ranks[0], 299.0, 1]], dtype=object)
    p = model.predict_proba(strange)[:, 1]
    assert p[0] < 0.45
    assert p[1] > 0.55
    assert p[2] > p[0]
    told = model.answer_.probability("nobody", ranks[0], 299.0, newcomers=True)
    assert p[0] == pytest.approx(told.probability, abs=1e-9)
    two = model.predict_proba(np.array([["nobody", "somebody", 299.0, 0]], dtype=object))
    np.testing.assert_allclose(two, 0.5)


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros((3, 1)), np.zeros((3, 5))])
def test_other_shapes_are_refused(X):
    with pytest.raises(it.InputError, match="X: "):
        IntransitClassifier().fit(X, [1, 1, 1])


def test_without_scikit_learn_the_import_says_what_to_do():
    code = (
        "import sys, intransit\n"
        "assert 'sklearn' not in sys.modules\n"
        "sys.modules['sklearn'] = None  # as if it were not installed\n"
        "try:\n    import intransit.estimator\n"
        "except intransit.MissingDependencyError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'intransit[sklearn]'" in run.stdout
