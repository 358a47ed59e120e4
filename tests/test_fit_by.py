"""Covariates: what an item is worth under each value of a column."""

import numpy as np
import pytest

import intransit as it
from intransit.model import By, Model, Scores
from intransit.model.terms import Still

SURFACES = np.array(["clay", "grass"])
WORTH = np.array([[0.9, -0.9], [-0.9, 0.9], [0.0, 0.0], [0.0, 0.0]])  # of a to d, by surface
STILL = Model((Scores(walk=Still()),))


def matches(n=1_600, seed=0, worth=WORTH):
    """Return matches of four equals, of whom a likes clay and b likes grass."""
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=n)
    second = (first + rng.integers(1, 4, size=n)) % 4
    on = rng.integers(2, size=n)
    x = worth[first, on] - worth[second, on]
    won = rng.random(n) < 1.0 / (1.0 + np.exp(-x))
    names = np.array(list("abcd"))
    return it.Games.from_arrays(
        names[first], names[second], won.astype(float), by={"surface": SURFACES[on]}
    )


@pytest.fixture(scope="module")
def answer():
    """An answer whose items have surfaces."""
    return it.fit(matches(), model=STILL + By("surface"), effective=30)


def test_a_planted_effect_is_found_and_changes_the_forecast(answer):
    """On clay a beats b, on grass b beats a, and on average they are even."""
    clay, grass, plain = (
        answer.probability("a", "b", under=under)
        for under in ({"surface": "clay"}, {"surface": "grass"}, None)
    )
    truth = 1.0 / (1.0 + np.exp(-1.8))
    assert clay.probability == pytest.approx(truth, abs=0.06)
    assert grass.probability == pytest.approx(1.0 - truth, abs=0.06)
    assert plain.probability == pytest.approx(0.5, abs=0.1)
    assert plain.high - plain.low < 0.3  # on average over both, not on a surface never seen
    assert clay.low > 0.7
    assert grass.high < 0.3
    even = answer.probability("c", "d", under={"surface": "clay"}).probability
    assert even == pytest.approx(0.5, abs=0.1)
    many = answer.probabilities(["a", "c"], ["b", "d"], under={"surface": "clay"})
    np.testing.assert_allclose(many, [clay.probability, even], rtol=1e-9)


def test_by_default_every_column_that_was_read_has_a_term():
    """Nothing has to be said; where a column does not matter its deviations shrink away."""
    told = it.fit(matches(), effective=20)
    assert [term.column for term in told.model.by] == ["surface"]
    nothing = it.fit(matches(worth=np.zeros((4, 2))), effective=20)
    sizes = [np.median(x.posterior.draws.number_scales[:, -1]) for x in (told, nothing)]
    assert sizes[0] > 0.5
    assert sizes[1] < 0.2
    assert "deviations by surface" in " ".join(told.story)


def test_values_and_columns_that_are_not_there_are_refused(answer):
    """One sentence, with what there is."""
    with pytest.raises(it.InputError, match='it may be "clay", "grass"'):
        answer.probability("a", "b", under={"surface": "ice"})
    with pytest.raises(it.InputError, match="this answer has no covariate 'court'"):
        answer.probability("a", "b", under={"court": "clay"})
    plain = it.fit(matches(60), model=STILL, effective=5)
    with pytest.raises(it.InputError, match="it has none"):
        plain.probability("a", "b", under={"surface": "clay"})


def test_an_update_must_have_the_column_and_may_have_new_values(answer):
    """Games on a new surface are learnt, and say little of the others."""
    with pytest.raises(it.InputError, match='read it with by="surface"'):
        answer.update(it.Games.from_arrays(["a"], ["b"], [1]))
    ice = it.Games.from_arrays(
        ["a"] * 30, ["b"] * 30, [1] * 24 + [0] * 6, by={"surface": ["ice"] * 30}
    )
    longer = answer.update(ice)
    on_ice = longer.probability("a", "b", under={"surface": "ice"})
    assert on_ice.probability > 0.65
    for surface in SURFACES:
        before, after = (
            x.probability("a", "b", under={"surface": surface}) for x in (answer, longer)
        )
        assert after.probability == pytest.approx(before.probability, abs=0.08)


def test_rows_without_a_value_are_used_for_the_rest():
    """Where the cell is empty, a match says who is better on average."""
    games = it.Games.from_arrays(
        ["a", "b", "c"] * 30, ["b", "c", "a"] * 30, [1, 1, 0, 1, 0, 1] * 15, by={"at": [None] * 90}
    )
    answer = it.fit(games, effective=10)
    assert answer.probability("a", "b").probability > 0.7
