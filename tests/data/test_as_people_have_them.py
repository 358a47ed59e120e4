"""Tables as people have them: each is read as what it tells, or refused with what to do.

They stand in ``as_people_have_them.txt``, one behind the other: a line with the name, a line with
the games that the table tells (written as in `test_public`, and after a bar the first and the last
time) or with words of the sentence that refuses it, perhaps a line with words of a note, and the
table itself, as it would be in a file.
"""

import re
from pathlib import Path

import pytest

from intransit import InputError, read
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
    with pytest.raises(InputError, match='unplayed is "maybe"; it must be "drop" or "keep"'):
        read(path, unplayed="maybe")


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


def test_lines_are_counted_from_the_top_of_the_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('Results of the "Cup"\n\nDay: Monday\na,b,winner\nx,y,a\nx,x,a\ny,z,b\n')
    assert read(path).report.unused[0].lines == (6,)


def test_the_margin_of_a_winner_has_the_sign_of_who_won(tmp_path):
    games = read(written("home_absmargin", tmp_path))
    assert sorted(games.margins.tolist()) == [-4.0, -3.0, 7.0, 10.0]


def test_judgments_of_the_margin_of_an_ahp_are_logarithms(tmp_path):
    games = read(written("ahp_matrix", tmp_path))
    assert [round(float(m), 3) for m in sorted(games.margins)] == [0.693, 1.099, 1.609]


def test_rounds_that_the_two_players_tell_differently_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("No,Name,1.Rd,2.Rd\n1,x,2w1,3b1\n2,y,1b1,3w1\n3,z,1w1,2b1\n")
    with pytest.raises(InputError, match="whose number that is cannot be seen"):
        read(path)
