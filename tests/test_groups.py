"""One answer for each value of a column: the same as of its games alone; too few games say so."""

import numpy as np
import pytest

import intransit as it


def games_of(n=120, *, further=("Vintage",) * 3):
    rng = np.random.default_rng(0)
    names, formats = np.array(list("abcd")), np.array(["Modern", "Legacy"])
    first = rng.integers(4, size=n)
    second = (first + rng.integers(1, 4, size=n)) % 4
    won = (rng.random(n) < np.where(first < second, 0.8, 0.2)).astype(float)
    where = formats[rng.integers(2, size=n)].tolist()
    return it.Games.from_arrays(
        [*names[first], *["x"] * len(further)],
        [*names[second], *["y"] * len(further)],
        [*won, *[1.0] * len(further)],
        by={"format": [*where, *further], "on": ["u", "v"] * (n // 2) + [None] * len(further)},
    )


MODEL = it.Scores(walk=it.Still())


@pytest.fixture(scope="module")
def groups():
    return it.fit_each(games_of(), "format", model=MODEL, effective=10)


def test_each_group_has_the_answer_to_its_own_games(groups):
    assert list(groups) == ["Legacy", "Modern"]
    part = games_of().split("format")["Modern"]
    alone = it.fit(part, model=MODEL, effective=10)
    assert groups["Modern"].names == alone.names
    np.testing.assert_array_equal(groups["Modern"].matrix(), alone.matrix())
    assert groups["Modern"].reading.where == ("format: Modern",)


def test_a_group_with_too_few_games_has_a_line_that_says_so(groups):
    lines = groups.lines()
    assert [line.value for line in lines] == ["Legacy", "Modern", "Vintage"]
    assert lines[-1].verdict == "Too few games to fit: 3 games, and 10 are needed."
    assert (lines[-1].leader, lines[-1].strength, lines[-1].n_games) == ("", None, 3.0)
    best = groups["Legacy"].rank()[0]
    assert (lines[0].leader, lines[0].strength) == (best.name, best.strength)
    assert lines[0].clear == (best.rank_high == 1)
    assert sum(line.n_games for line in lines) == 123
    with pytest.raises(it.InputError, match="Too few games"):
        groups["Vintage"]
    with pytest.raises(it.InputError, match='there is "Legacy", "Modern"'):
        groups["Pauper"]


def test_other_covariates_stay_in_the_model_and_the_column_does_not():
    groups = it.fit_each(games_of(), "format", effective=2, seconds=3)
    assert [term.column for term in groups["Modern"].model.by] == ["on"]


def test_a_model_may_depend_on_the_group():
    asked = []

    def model(part):
        asked.append(part.n_items)
        return MODEL + it.Side()

    groups = it.fit_each(games_of(), "format", model=model, effective=2, fewest=3)
    assert asked == [4, 4, 2]
    assert "Vintage" in groups.answers


def test_progress_names_the_group():
    said = []
    it.fit_each(games_of(), "format", model=MODEL, effective=2, report=said.append)
    assert said[0] == "Legacy (1 of 3)"
    assert "Modern (2 of 3): testing for cycles" in said


@pytest.mark.parametrize(
    ("column", "settings", "said"),
    [
        ("colour", {}, 'no covariate "colour"'),
        (3, {}, "name of a column"),
        ("format", {"fewest": 0}, "fewest is 0"),
        ("format", {"report": 3}, "report: 3 was given"),
    ],
)
def test_what_cannot_be_fitted_is_refused(column, settings, said):
    with pytest.raises(it.InputError, match=said):
        it.fit_each(games_of(), column, **settings)


def test_a_column_of_many_values_is_refused():
    n = 100
    games = it.Games.from_arrays(["a"] * n, ["b"] * n, [1] * n, by={"id": list(range(n))})
    with pytest.raises(it.InputError, match="100 values and at most 60"):
        it.fit_each(games, "id")
