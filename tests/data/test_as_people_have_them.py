"""Tables as people have them: each is read as what it tells, or refused with what to do.

They stand in ``as_people_have_them.txt``, one behind the other: a line with the name, a line with
the games that the table tells (written as in `test_public`, and after a bar the first and the last
time) or with words of the sentence that refuses it, perhaps a line with words of a note, and the
table itself, as it would be in a file.
"""

import re
from pathlib import Path

import polars as pl
import pytest

from intransit import InputError, read
from intransit.data import assemble
from intransit.data.reading import ReadOptions, RowLimits
from tests.data.test_public import told

HERE = Path(__file__).parent
TEXT = (HERE / "as_people_have_them.txt").read_text(encoding="utf-8")
TABLES = {
    name: (said, words, note or "", content)
    for name, said, words, note, content in re.findall(
        r"^=== (\w+)\n(games|refused): (.*)\n(?:note: (.*)\n)?((?:.|\n)*?)(?=\n=== |\Z)",
        TEXT,
        re.MULTILINE,
    )
}


def mirrored(games):
    """Return games with the two of each pair in the order of their names."""
    found = {}
    for (first, second, outcome), n in games.items():
        turned = first > second
        key = (second, first, round(1.0 - outcome, 9)) if turned else (first, second, outcome)
        found[key] = found.get(key, 0.0) + n
    return found


def games_of(path, **said):
    """Return the games of a table, the first and the last time, and the notes."""
    games = read(path, **said)
    found = {}
    for i, j, y, n in zip(games.first, games.second, games.outcomes, games.counts, strict=True):
        first, second = (games.names[k].replace(" ", "") for k in (i, j))
        key = first, second, round(float(y), 9)
        found[key] = found.get(key, 0.0) + float(n)
    ends = tuple(games.clock.to_text(float(t)) for t in games.times[[0, -1]])
    notes = "\n".join(games.report.notes)
    return mirrored(found), None if games.clock.kind == "none" else ends, notes


def written(name, folder):
    path = folder / "table.csv"
    path.write_text(TABLES[name][3], encoding="utf-8")
    return path


def test_every_table_of_the_file_is_looked_at():
    assert len(TABLES) == len(re.findall("^===", TEXT, re.MULTILINE)) > 100


@pytest.mark.parametrize("name", [name for name in TABLES if TABLES[name][0] == "games"])
def test_what_a_table_tells(name, tmp_path):
    _, words, note, _ = TABLES[name]
    found, ends, notes = games_of(written(name, tmp_path))
    expected, times = told(words)
    assert (found, ends) == (mirrored(expected), times)
    assert note in notes


@pytest.mark.parametrize("name", [name for name in TABLES if TABLES[name][0] == "refused"])
def test_what_a_table_does_not_tell_is_asked_for(name, tmp_path):
    with pytest.raises(InputError, match=re.escape(TABLES[name][1])):
        read(written(name, tmp_path))


def test_what_was_not_played_counts_where_the_caller_says_so(tmp_path):
    path = written("walkovers_score", tmp_path)
    assert read(path).counts.sum() == 2
    assert read(path, unplayed="keep").counts.sum() == 3
    assert "says that it was not played" in read(path).report.unused[0].reason
    path = written("byes", tmp_path)
    assert "BYE" in read(path, unplayed="keep").names
    with pytest.raises(InputError, match="unplayed is 'maybe'; it must be"):
        read(path, unplayed="maybe")


@pytest.mark.parametrize("name", ["walkovers_score", "byes", "lichess_export", "forfeit_flag"])
def test_what_another_column_says_is_seen_in_an_engine_too(name, tmp_path):
    path = written(name, tmp_path)
    lazy = pl.scan_csv(path, infer_schema=False)
    there = assemble(lazy, ReadOptions(), "1GB", RowLimits(fetched=0))
    here = read(path)
    assert there.names == here.names
    assert sorted(there.outcomes.tolist()) == sorted(here.outcomes.tolist())
    assert there.report.n_unused == here.report.n_unused


def test_a_winner_of_0_or_1_is_taken_as_the_caller_says(tmp_path):
    path = written("winner01", tmp_path)
    assert games_of(path, outcome="winner")[0] == mirrored(told("x y 0, y z 1, x z 0")[0])
    assert games_of(path, grades=[0, 1])[0] == mirrored(told("x y 1, y z 0, x z 1")[0])


def test_a_matrix_of_scores_or_of_games_won(tmp_path):
    path = written("round_robin_goals", tmp_path)
    scores = read(path, entries="scores")
    assert games_of(path, entries="scores")[0] == told("x y 1, x z 0.5, y z 1")[0]
    assert scores.margins.tolist() == [1.0, 0.0, 3.0]
    assert scores.sides is None
    assert read(path, entries="wins").counts.sum() == 6
    home = read(written("crosstable_football", tmp_path))
    assert set(home.sides.tolist()) == {1.0}


def test_scores_and_ranks_in_columns_by_hand(tmp_path):
    path = written("wide_scores", tmp_path)
    higher = "rf svm 1, rf knn 1 x1, svm knn 1 x2, svm rf 1, knn rf 1"
    assert games_of(path, shape="scores")[0] == mirrored(told(higher)[0])
    lower = games_of(path, shape="ranks")[0]
    assert lower == {(a, b, 1.0 - y): n for (a, b, y), n in mirrored(told(higher)[0]).items()}


def test_an_average_in_a_column_is_no_item_and_the_lower_place_is_said_to_be_better(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("game,x,y,z,average\n1,10,9,8,9\n2,8,11,9,9.3\n")
    assert read(path, shape="scores").names == ("x", "y", "z")
    path.write_text("user,movie,stars\nu1,A,5\nu1,B,3\nu2,A,2\nu2,B,4\n")
    games = read(path, event="user", first="movie", place="stars")
    assert any('the lower "stars" is taken' in note for note in games.report.notes)
    path.write_text("heat,swimmer,time\n1,x,1:02.33\n1,y,1:01.90\n")
    with pytest.raises(InputError, match='places in "time" are not'):
        read(path, event="heat", first="swimmer", place="time")


def test_a_winner_of_1_or_2_names_an_item_or_a_column_as_the_caller_says(tmp_path):
    path = written("winner_numbers_or_places", tmp_path)
    assert games_of(path, winner="winner")[0] == mirrored(told("3 1 0, 2 3 1, 1 2 1, 2 1 1")[0])
    assert games_of(path, grades=[1, 2])[0] == mirrored(told("3 1 1, 2 3 0, 1 2 1, 2 1 0")[0])


def test_lines_are_counted_from_the_top_of_the_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('Results of the "Cup"\n\nDay: Monday\na,b,winner\nx,y,a\nx,x,a\ny,z,b\n')
    assert read(path).report.unused[0].lines == (6,)
    path.write_text('"Results\nof 2024"\na,b,winner\nx,y,a\nx,x,a\ny,z,b\n')
    games = read(path)
    assert (games.counts.sum(), games.report.unused[0].lines) == (2.0, (5,))


def test_the_margin_of_a_winner_has_the_sign_of_who_won(tmp_path):
    games = read(written("home_absmargin", tmp_path))
    assert sorted(games.margins.tolist()) == [-4.0, -3.0, 7.0, 10.0]


def test_judgments_of_the_margin_of_an_ahp_are_logarithms(tmp_path):
    games = read(written("ahp_matrix", tmp_path))
    assert [round(float(m), 3) for m in sorted(games.margins)] == [0.693, 1.099, 1.609]


# What looks like a shape that it is not: better a question than a wrong answer.
NOT_THAT = {
    "cups are no teams": "match,date,winner\nFinal - Cup,2024-01-01,x\nSemi - Cup,2024-01-02,y\n",
    "games played before": "home,away,home_games,away_games\nx,y,10,11\ny,z,12,13\n",
    "games won are no names": "team1,team2,maps,team1_wins\nx,y,3,2\ny,z,3,1\n",
    "answers to three questions": "id,q1,q2,q3\n1,1,2,3\n2,3,1,2\n",
    "ratings before the game": "white,black,white_rating,black_rating\nx,y,1500,1600\ny,z,14,15\n",
    "which option is 1": "option_a,option_b,choice\nx,y,0\ny,z,1\n",
    "two names are no ballot": "id,vote\n1,A>B\n2,B>A\n3,A>B\n",
}


@pytest.mark.parametrize("case", NOT_THAT)
def test_what_only_looks_like_a_shape_is_asked_for(case, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(NOT_THAT[case])
    with pytest.raises(InputError, match="; "):
        read(path)


def test_what_looks_unplayed_and_was_played_counts(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "White,Black,Result,Termination,status\nx,y,1-0,Time forfeit,Open\ny,z,0-1,Normal,Open\n"
    )
    assert read(path).counts.sum() == 2
    path.write_text("model_a,model_b,winner\nNone,Bye Bye,model_a\nBye Bye,Yo,model_b\n")
    assert read(path).names == ("Bye Bye", "None", "Yo")


def test_rounds_that_the_two_players_tell_differently_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("No,Name,1.Rd,2.Rd\n1,x,2w1,3b1\n2,y,1b1,3w1\n3,z,1w1,2b1\n")
    with pytest.raises(InputError, match="whose number that is cannot be seen"):
        read(path)
