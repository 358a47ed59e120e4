"""The type chart: what every player knows of it, its counts, and that it was read as written."""

from itertools import combinations

import numpy as np
import pytest

from intransit.datasets import pokemon_types
from intransit.errors import InputError
from intransit.study import count_triangles, decompose

CHART = pokemon_types()
WATER_OVER_FIRE = 1.5  # double damage against half


def factor(attacker, defender, generation):
    i, j = (CHART.names.index(name) for name in (attacker, defender))
    return CHART.factors[generation - 1, i, j]


def charts():
    """Return the margins of each generation, of the types that it has."""
    for there, X in zip(CHART.exists, CHART.margins, strict=True):
        yield X[np.ix_(there, there)]


@pytest.mark.parametrize("generation", range(1, 10))
def test_starters_beat_each_other_in_a_circle(generation):
    """Water over fire, fire over grass, grass over water: the first choice of every game."""
    for first, second in (("water", "fire"), ("fire", "grass"), ("grass", "water")):
        assert CHART.margin(first, second, generation) == WATER_OVER_FIRE


@pytest.mark.parametrize(
    ("attacker", "defender", "factors"),
    [
        ("ghost", "psychic", (0.0, 2.0, 2.0)),  # an error of the first games, mended
        ("psychic", "ghost", (1.0, 1.0, 1.0)),
        ("bug", "poison", (2.0, 0.5, 0.5)),
        ("poison", "bug", (2.0, 1.0, 1.0)),
        ("ice", "fire", (1.0, 0.5, 0.5)),
        ("psychic", "dark", (np.nan, 0.0, 0.0)),
        ("poison", "steel", (np.nan, 0.0, 0.0)),
        ("dark", "steel", (np.nan, 0.5, 1.0)),  # steel lost two resistances
        ("ghost", "steel", (np.nan, 0.5, 1.0)),
        ("dragon", "fairy", (np.nan, np.nan, 0.0)),
        ("fairy", "dragon", (np.nan, np.nan, 2.0)),
        ("steel", "fairy", (np.nan, np.nan, 2.0)),
        ("fire", "fairy", (np.nan, np.nan, 1.0)),
        ("fairy", "fire", (np.nan, np.nan, 0.5)),
        ("electric", "ground", (0.0, 0.0, 0.0)),
        ("ground", "flying", (0.0, 0.0, 0.0)),
        ("normal", "ghost", (0.0, 0.0, 0.0)),
        ("dragon", "dragon", (2.0, 2.0, 2.0)),
    ],
)
def test_known_facts(attacker, defender, factors):
    """What changed between generations 1, 5 and 9, and what never did."""
    found = [factor(attacker, defender, generation) for generation in (1, 5, 9)]
    np.testing.assert_array_equal(found, factors)


def test_types_and_their_first_generation():
    """Fifteen types at first, dark and steel from generation 2 on, fairy from generation 6 on."""
    assert CHART.exists.sum(axis=1).tolist() == [15] + [17] * 4 + [18] * 4
    assert CHART.names[15:] == ("dark", "steel", "fairy")
    assert CHART.dates == tuple(sorted(CHART.dates))
    assert CHART.dates[0][:4] == "1996"


@pytest.mark.parametrize(
    ("generation", "counts"), [(1, (38, 38, 6)), (5, (46, 57, 7)), (9, (51, 61, 8))]
)
def test_counts_of_special_entries(generation, counts):
    """As many super effective, not very effective and ineffective entries as charts in print."""
    chart = CHART.factors[generation - 1]
    assert tuple(int((chart == value).sum()) for value in (2.0, 0.5, 0.0)) == counts


def test_margins_are_skew_symmetric_and_are_differences_of_damage():
    """What one has over the other, the other lacks; in no generation beyond two."""
    for X in charts():
        np.testing.assert_array_equal(X, -X.T)
        assert np.abs(X).max() == 2.0


def test_the_chart_changed_in_the_second_and_sixth_generation_only():
    """Three different charts over nine generations."""
    same = [np.array_equal(a, b) for a, b in zip(charts(), list(charts())[1:], strict=False)]
    assert same == [False, True, True, True, False, True, True, True]


def test_cycles_of_three():
    """A brute-force count of triples agrees with the study's, and with the known 23, 41 and 42."""
    found = []
    for X in list(charts())[::4]:
        brute = sum(
            min(X[i, j], X[j, k], X[k, i]) > 0 or min(X[j, i], X[k, j], X[i, k]) > 0
            for i, j, k in combinations(range(len(X)), 3)
        )
        assert brute == count_triangles(X)
        found.append(brute)
        assert decompose(X).cyclic_share > 0.9
    assert found == [23, 41, 42]


def test_rows_and_games_say_the_same():
    """The long table has every pair of every generation once, as do the games."""
    rows, games = CHART.rows(), CHART.games()
    assert len(rows) == len({row[:3] for row in rows}) == 105 + 4 * 136 + 4 * 153
    assert games.kind == "margins"
    there = {
        (games.clock.to_text(t), games.names[i], games.names[j]): margin
        for t, i, j, margin in zip(
            games.times, games.first, games.second, games.margins, strict=True
        )
    }
    assert there == {row[:3]: row[3] for row in rows}
    wins = games.outcomes[games.margins > 0]
    assert (wins == 1.0).all()


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda: CHART.margin("water", "wood"), "wood"),
        (lambda: CHART.margin("water", "fire", 10), "10"),
    ],
)
def test_bad_questions_are_refused(ask, word):
    """The sentence names what was wrong."""
    with pytest.raises(InputError, match=word):
        ask()


def test_a_type_that_is_not_there_yet_has_no_margin():
    """Fairy against dragon in the first generation is not a number."""
    assert np.isnan(CHART.margin("fairy", "dragon", 1))
