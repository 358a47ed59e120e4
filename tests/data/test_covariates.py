"""Covariates: further columns of a table, kept with every row."""

import numpy as np
import pandas as pd
import pytest

from intransit import Games, InputError, read
from intransit.backtest import smaller_first
from intransit.data.games import covariate_of, join, join_covariates

TABLE = (
    "date,a,b,outcome,surface,round\n2024-01-01,x,y,1,clay,10\n2024-01-01,x,y,1, grass,9\n"
    "2024-01-01,x,y,1,clay ,10\n2024-01-02,y,x,0,,9\n"
)


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text(TABLE)
    return path


def words(games, name):
    """The words of a covariate, row by row."""
    covariate = games.covariate(name)
    return [covariate.values[code] if code >= 0 else None for code in covariate.codes]


def test_a_column_is_kept_and_rows_join_only_where_it_agrees(place):
    games = read(place, by="surface")
    assert words(games, "surface") == ["clay", "grass", None]
    assert games.by[0].values == ("clay", "grass")
    assert games.counts.tolist() == [2.0, 1.0, 1.0]
    assert "by surface" in repr(games)
    assert ("by", "surface") in [(column.role, column.name) for column in games.report.columns]
    assert len(read(place)) == 2
    assert read(place).by == ()


def test_several_columns_and_numbers_by_size(place):
    games = read(place, by=("Surface", "round"))
    assert [covariate.name for covariate in games.by] == ["surface", "round"]
    assert games.covariate("round").values == ("9", "10")
    assert words(games, "round") == ["10", "9", "9"]


def test_parts_joins_and_turned_games_keep_them(place):
    games = read(place, by="surface")
    assert words(games.only([0, 2]), "surface") == ["clay", None]
    assert words(join([games.only([2]), games.only([0, 1])]), "surface") == [None, "clay", "grass"]
    assert words(smaller_first(games), "surface") == ["clay", "grass", None]
    assert words(games.between("2024-01-02"), "surface") == [None]


def test_arrays_and_frames_give_the_same(place):
    columns = [
        ["x"] * 3 + ["y"],
        ["y"] * 3 + ["x"],
        [1, 1, 1, 0],
        ["2024-01-01"] * 3 + ["2024-01-02"],
    ]
    surfaces = ["clay", " grass", "clay ", None]
    built = Games.from_arrays(*columns, by={"surface": surfaces, "round": [10, 9, 10, 9]})
    for other in (
        read(place, by=("surface", "round")),
        read(pd.read_csv(place), by=["surface", "round"]),
    ):
        for name in ("surface", "round"):
            assert words(built, name) == words(other, name)
        np.testing.assert_array_equal(built.counts, other.counts)


def test_rows_without_times_keep_their_order_and_their_covariates(tmp_path):
    path = tmp_path / "games.csv"
    rows = ["a,b,1,u", "a,b,1,u", "b,a,0,v", "a,c,1,u", "b,c,0,v", "a,b,1,u"]
    path.write_text("first,second,outcome,kind\n" + "\n".join(rows))
    games = read(path, by="kind")
    assert games.series is not None
    told = zip(games.first, games.second, words(games, "kind"), games.counts, strict=True)
    assert sorted((games.names[i], games.names[j], kind, n) for i, j, kind, n in told) == [
        ("a", "b", "u", 1.0),
        ("a", "b", "u", 2.0),
        ("a", "c", "u", 1.0),
        ("b", "a", "v", 1.0),
        ("b", "c", "v", 1.0),
    ]


def test_values_of_rows_that_cannot_be_used_are_left_out(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("a,b,outcome,kind\nx,x,1,odd\nx,y,1,even\ny,x,1,even\n")
    assert read(path, by="kind").by[0].values == ("even",)


def test_a_column_named_so_plays_no_other_role_unless_it_is_named(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("a,b,outcome,season\nx,y,1,2019\ny,x,1,2020\n")
    assert read(path).clock.kind == "number"
    assert read(path, by="season").clock.kind == "none"
    both = read(path, by="season", time="season")
    assert (both.clock.kind, words(both, "season")) == ("number", ["2019", "2020"])


def test_what_is_no_column_says_which_are_near(place):
    with pytest.raises(
        InputError, match=r'no column "surfce" \(for by\); did you mean "surface"\?'
    ):
        read(place, by="surfce")
    with pytest.raises(
        InputError, match=r'no column "weather" \(for by\); the columns are "date", '
    ):
        read(place, by="weather")
    with pytest.raises(
        InputError, match='no covariate "round"; there is "surface"; read the table'
    ):
        read(place, by="surface").covariate("round")
    with pytest.raises(
        InputError, match='"surface" is never "ice" in this table; it may be "clay"'
    ):
        read(place, by="surface").by[0].code("ice")
    with pytest.raises(InputError, match="by: 1 value of 'k' were given for 2 comparisons"):
        Games.from_arrays(["x", "y"], ["y", "x"], [1, 0], by={"k": ["u"]})


def test_a_column_with_a_value_for_every_row_is_no_covariate():
    n = 10_001
    frame = pd.DataFrame({"a": ["x"] * n, "b": ["y"] * n, "outcome": [1] * n, "id": range(n)})
    with pytest.raises(InputError, match=r'"id" \(for by\) has more than 10,000 values'):
        read(frame, by="id")


def test_parts_of_different_tables_join_their_values():
    one, two = covariate_of("k", ["u", None]), covariate_of("k", ["a", "u", ""])
    joined = join_covariates([(one,), (two,)])[0]
    assert joined.values == ("a", "u")
    assert joined.codes.tolist() == [1, -1, 0, 1, -1]
    with pytest.raises(
        InputError, match='covariates "k" cannot be joined with games that have none'
    ):
        join_covariates([(one,), ()])


def test_games_are_split_by_a_covariate(place):
    """One part for each value, with the items that play in it; rows without a value in none."""
    games = read(place, by=("surface", "round"))
    parts = games.split("surface")
    assert list(parts) == ["clay", "grass"]
    assert parts["clay"].counts.sum() == 2.0
    assert parts["grass"].names == ("x", "y")
    assert parts["clay"].report.title == "games.csv, surface: clay"
    assert words(parts["clay"], "round") == ["10"]
    assert sum(part.counts.sum() for part in games.split("round").values()) == 4.0
