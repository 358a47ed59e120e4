"""What columns are taken for, and what their cells mean."""

import numpy as np
import pandas as pd
import pytest

from intransit import InputError, read
from intransit.data import describe


def games_of(folder, text, **settings):
    path = folder / "games.csv"
    path.write_text(text, encoding="utf-8")
    return read(path, **settings)


def results(games):
    """Return {(first, second, outcome): count}."""
    found = {}
    rows = zip(games.first, games.second, games.outcomes, games.counts, strict=True)
    for first, second, outcome, count in rows:
        key = games.names[first], games.names[second], float(outcome)
        found[key] = found.get(key, 0) + float(count)
    return found


WON = {("x", "y", 1.0): 1.0, ("x", "z", 0.0): 1.0}
TIED = {**WON, ("y", "z", 0.5): 1.0}
SAME = {  # the same games, written in many ways
    "numbers": ("a,b,outcome\nx,y,1\nx,z,0\ny,z,0.5\n", TIED),
    "signed": ("Player 1,Player 2,Result\nx,y,1\nx,z,-1\ny,z,0\n", TIED),
    "words": ("item_a;item_b;result\nx;y;Win\nx;z;loss\ny;z;DRAW\n", TIED),
    "letters": ("team1\tteam2\tresult\nx\ty\tW\nx\tz\tL\ny\tz\tD\n", TIED),
    "chess": ("White,Black,Result\nx,y,1-0\nx,z,0-1\ny,z,1/2-1/2\n", TIED),
    "colours": ("white_id,black_id,winner\nx,y,white\nx,z,black\ny,z,draw\n", TIED),
    "booleans": ("first,second,won\nx,y,TRUE\nx,z,false\n", WON),
    "numbered winner": ("player1,player2,winner\nx,y,1\nx,z,2\n", WON),
    "headers": ("model_a,model_b,winner\nx,y,model_a\nx,z,model_b\ny,z,tie\n", TIED),
    "sides": ("left,right,choice\nx,y,left\nx,z,right\ny,z,tie\n", TIED),
    "winner's name": ("p,q,winner\nx,y,x\nx,z,z\ny,z,tie\n", TIED),
    "scores": ("home_team,away_team,home_score,away_score\nx,y,3,1\nx,z,0,2\ny,z,1,1\n", TIED),
    "score lines": ("home,away,score\nx,y,3-1\nx,z,0:2\ny,z,1 - 1\n", TIED),
    "margin": ("a,b,margin\nx,y,3\nx,z,-0.5\ny,z,0\n", TIED),
    "league": ("HomeTeam,AwayTeam,FTHG,FTAG,FTR\nx,y,3,1,H\nx,z,0,2,A\ny,z,1,1,D\n", TIED),
    "typed names": (
        "strHomeTeam,strAwayTeam,intHomeScore,intAwayScore\nx,y,3,1\nx,z,0,2\ny,z,1,1\n",
        TIED,
    ),
    "a number between": ("home,away,score\nx,y,18 (35) 9\nx,z,6 (2) 7\ny,z,8 (1) 8\n", TIED),
    "shogi": ("先手,後手,結果\nx,y,先手勝ち\nx,z,後手勝ち\ny,z,千日手\n", TIED),
    "initials": (
        "W,L\nx,y\nz,x\ny,z\n",
        dict.fromkeys([("x", "y", 1.0), ("z", "x", 1.0), ("y", "z", 1.0)], 1.0),
    ),
    "by content": ("hero,foe,how\nx,y,win\nx,z,loss\ny,x,loss\nz,x,win\n", None),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_games_are_read_however_they_are_written(tmp_path, name):
    text, expected = SAME[name]
    settings = {"first": "p", "second": "q"} if name == "winner's name" else {}
    games = games_of(tmp_path, text, **settings)
    if expected is None:
        expected = {**WON, ("y", "x", 0.0): 1.0, ("z", "x", 1.0): 1.0}
    assert results(games) == expected
    assert games.report.unused == ()
    assert games.clock.kind == "none"
    assert (games.times == 0).all()


def test_winner_and_loser_with_ties_and_scores(tmp_path):
    text = "Winner,Loser,winner_score,loser_score,draw\nx,y,3,1,no\ny,z,2,2,yes\n"
    games = games_of(tmp_path, text)
    assert results(games) == {("x", "y", 1.0): 1.0, ("y", "z", 0.5): 1.0}
    assert games.margins.tolist() == [2.0, 0.0]
    assert games.sides is None
    assert games.kind == "margins"


def test_arena_verdicts_that_both_are_bad(tmp_path):
    text = (
        "model_a,model_b,winner,tstamp\nA,B,model_a,1700000000\nA,B,tie,1700000000.5\n"
        "A,C,tie (bothbad),1700000000\nB,C,both bad,1700000000\nB,C,model_b,1700000000\n"
    )
    games = games_of(tmp_path, text)
    assert results(games)["A", "C", 0.5] == 1
    assert "2 verdicts that both are bad taken as ties" in games.report.notes
    assert games.clock.to_text(games.times[0]) == "2023-11-14 22:13:20"
    dropped = games_of(tmp_path, text, both_bad="drop")
    assert [(part.reason, part.lines) for part in dropped.report.unused] == [
        ("both are called bad", (4, 5))
    ]
    with pytest.raises(InputError, match="both_bad is 'lose'"):
        games_of(tmp_path, text, both_bad="lose")


def test_shares_with_counts_and_weights(tmp_path):
    text = "a,b,win_rate,n_games,weight\nx,y,0.7,10,1\nx,y,0.7,10,0.5\ny,x,0.5,4,1\n"
    games = games_of(tmp_path, text)
    assert results(games) == {("x", "y", 0.7): 15.0, ("y", "x", 0.5): 4.0}
    assert not games.has_ties
    assert games.kind == "wins"


def test_counts_beside_margins_are_used_only_when_named(tmp_path):
    text = "a,b,outcome,margin,n_games\nx,y,1,2.5,2000\n"
    assert games_of(tmp_path, text).counts.tolist() == [1.0]
    assert games_of(tmp_path, text, count="n_games").counts.tolist() == [2000.0]


SIDES = {
    "home and away": ("home,away,outcome\nx,y,1\ny,x,0\n", {}, [1, 1]),
    "neutral": ("home,away,outcome,neutral\nx,y,1,TRUE\ny,x,0,FALSE\n", {}, [0, 1]),
    "a_home": ("a,b,outcome,a_home\nx,y,1,-1\ny,x,0,0\n", {}, [-1, 0]),
    "words": ("player,opponent,result,location\nx,y,W,away\ny,x,L,neutral\n", {}, [-1, 0]),
    "always first": ("a,b,outcome\nx,y,1\ny,x,0\n", {"side": "first"}, [1, 1]),
    "always second": ("first,second,outcome\nx,y,1\ny,x,0\n", {"side": "second"}, [-1, -1]),
    "named": ("a,b,outcome,c\nx,y,1,b\ny,x,0,a\n", {"side": "c"}, [-1, 1]),
    "winner": ("winner,loser,side\nx,y,1\ny,x,-1\n", {}, [1, -1]),
    "unknown": ("a,b,outcome\nx,y,1\ny,x,0\n", {}, None),
    "winner first": ("winner,loser\nx,y\ny,x\n", {}, None),
    "left": ("left,right,outcome\nx,y,1\ny,x,0\n", {}, None),
    "refused": ("home,away,outcome\nx,y,1\ny,x,0\n", {"side": False}, None),
    "no side at all": ("a,b,outcome,side\nx,y,1,blue\ny,x,0,red\n", {}, None),
}


@pytest.mark.parametrize("name", SIDES)
def test_sides(tmp_path, name):
    text, settings, expected = SIDES[name]
    games = games_of(tmp_path, text, **settings)
    assert (None if games.sides is None else games.sides.tolist()) == expected


TIMES = {
    "dates": ("2024-01-02", "date", 19724.0),
    "slashes": ("2024/1/2", "date", 19724.0),
    "month": ("2024-01", "date", 19723.0),
    "moment": ("2024-01-02 12:00:00", "date", 19724.5),
    "zone": ("2024-01-02T12:00:00+06:00", "date", 19724.25),
    "zulu": ("2024-01-02T06:00:00Z", "date", 19724.25),
    "old": ("1872-11-30", "date", -35460.0),
    "german": ("31.12.2023", "date", 19722.0),
    "american": ("12/31/2023", "date", 19722.0),
    "digits": ("20240102", "date", 19724.0),
    "words": ("Jan 02 2024".replace("02 ", "02, "), "date", 19724.0),
    "weekday": ("Fri Aug 9 2019", "date", 18117.0),
    "weekday and zone": ("Fri, 09 Aug 2019 12:00:00 GMT", "date", 18117.5),
    "offset": ("Fri, 09 Aug 2019 12:00:00 +0600", "date", 18117.25),
    "python": ("Fri Aug  9 12:00:00 2019", "date", 18117.5),
    "points": ("2019.12.31", "date", 18261.0),
    "ordinal": ("August 9th, 2019", "date", 18117.0),
    "long day first": ("9 August 2019", "date", 18117.0),
    "short month": ("9-Aug-2019", "date", 18117.0),
    "short year": ("31/12/23", "date", 19722.0),
    "short month and year": ("09-Aug-19", "date", 18117.0),
    "september": ("Sept. 9, 2019", "date", 18148.0),
    "half days": ("12/31/2023 6:00 PM", "date", 19722.75),
    "day first with time": ("31.12.2023 18:00", "date", 19722.75),
    "compact": ("20190809T120000Z", "date", 18117.5),
    "nanoseconds": ("2019-08-09T12:00:00.000000001Z", "date", 18117.5),
    "named zone": ("2019-08-09 12:00:00 UTC", "date", 18117.5),
    "month of digits": ("201908", "date", 18109.0),
    "unix in a date": ("1565352000", "date", 18117.5),
    "unix milliseconds in a date": ("1565352000000", "date", 18117.5),
    "month in words": ("Aug 2019", "date", 18109.0),
    "year": ("1999", "number", 1999.0),
    "number": ("-2.5", "number", -2.5),
}


@pytest.mark.parametrize("name", TIMES)
def test_times(tmp_path, name):
    text, kind, number = TIMES[name]
    games = games_of(tmp_path, f'date,a,b,outcome\n"{text}",x,y,1\n')
    assert games.clock.kind == kind
    assert games.times.tolist() == [number]


@pytest.mark.parametrize(("column", "value"), [("timestamp", 1.7e9), ("created_at", 1.7e12)])
def test_unix_times_when_the_name_says_so(tmp_path, column, value):
    games = games_of(tmp_path, f"{column},a,b,outcome\n{value:.0f},x,y,1\n")
    assert games.clock.to_text(games.times[0]) == "2023-11-14 22:13:20"
    games = games_of(tmp_path, f"time,a,b,outcome\n{value:.0f},x,y,1\n")
    assert games.clock.to_text(games.times[0]) == "2023-11-14 22:13:20"
    games = games_of(tmp_path, f"step,a,b,outcome\n{value:.0f},x,y,1\n")
    assert games.times.tolist() == [value]


def test_zones_of_a_frame_go_to_utc():
    when = pd.to_datetime(["2024-01-02 01:00"]).tz_localize("Europe/Paris")
    frame = pd.DataFrame({"when": when, "a": ["x"], "b": ["y"], "outcome": [True]})
    games = read(frame)
    assert games.clock.to_text(games.times[0]) == "2024-01-02"
    assert games.report.source == "pandas DataFrame"


def test_where_keeps_equal_rows_and_says_so(tmp_path):
    text = "a,b,outcome,format,round\nx,y,1,Modern,1\nx,y,0,Legacy,1\nz,y,1,Modern,2\n"
    games = games_of(tmp_path, text, where={"format": "Modern", "Round": 2})
    assert results(games) == {("z", "y", 1.0): 1.0}
    assert games.names == ("y", "z")
    assert "where keeps 1 of 3 rows" in games.report.notes
    with pytest.raises(InputError, match='no row has "format" equal to "Modren"; the column holds'):
        games_of(tmp_path, text, where={"format": "Modren"})
    with pytest.raises(InputError, match="no row meets all conditions of where at once"):
        games_of(tmp_path, text, where={"format": "Legacy", "round": 2})
    with pytest.raises(
        InputError, match='no column "forma" \\(for where\\); did you mean "format"\\? The col'
    ):
        games_of(tmp_path, text, where={"forma": "x"})


def test_named_columns_override_recognition(tmp_path):
    text = "a,b,home,away,outcome,result,date,time\nx,y,u,v,1,0,2024-01-01,2024-02-01\n"
    games = games_of(
        tmp_path, text, first="home", second="away", outcome="result", time="Date", side=False
    )
    assert results(games) == {("u", "v", 0.0): 1.0}
    assert games.times.tolist() == [19723.0]
    with pytest.raises(InputError, match='there is no column "nope" \\(for outcome\\); the col'):
        games_of(tmp_path, text, outcome="nope")
    with pytest.raises(InputError, match="name both items: first= and second="):
        games_of(tmp_path, text, first="home")
    with pytest.raises(InputError, match="first is 3; give the name of a column"):
        games_of(tmp_path, text, first=3)


def test_margins_that_are_missing_somewhere_are_not_used_and_cells_join(tmp_path):
    games = games_of(tmp_path, "a,b,outcome,margin\nx,y,1,2\nx,y,1,3\nx,y,1,\n")
    assert games.margins is None
    assert games.counts.tolist() == [3.0]
    assert "1 row without a margin, so margins are not used, only who won" in games.report.notes


def test_repeats_space_and_case_are_noted(tmp_path):
    games = games_of(tmp_path, "a,b,outcome\nAnn,Bob,1\nAnn,Bob,1\n\u00a0Ann ,bob,1\n")
    assert games.names == ("Ann", "Bob", "bob")
    assert results(games)["Ann", "Bob", 1.0] == 2
    notes = "\n".join(games.report.notes)
    assert "1 row repeats another row in every column; all are used" in notes
    assert "space around 1 name was removed" in notes
    assert '"Bob" and "bob" differ only by case or space' in notes


def test_what_was_understood_is_said_in_short_lines(tmp_path):
    games = games_of(
        tmp_path, "date,a,b,outcome\n2024-01-01,x,y,1\n2024-01-02,x,x,1\n2024-01-03,x,y,.5\n"
    )
    said = describe(games).replace(str(tmp_path), "")
    assert said.splitlines() == [
        "Games(2 items, 2 comparisons in 2 rows, ties, times 2024-01-01 to 2024-01-03)",
        "/games.csv: 2 of 3 rows used",
        "  first    a  (by its name)",
        "  second   b  (by its name)",
        "  outcome  outcome  (by its name; 1 the first won, 0 the second, 0.5 a tie)",
        "  time     date  (by its name; dates)",
        "  not used: 1 row (line 3): an item is compared with itself",
        "  note: 1 of 2 games are ties",
    ]


def test_numbers_can_name_items_and_missing_cells_are_seen_in_frames():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan, 1.0], "b": [2, 3, 1, 3], "outcome": [1, 0, 1, 1]})
    games = read(frame)
    assert games.names == ("1", "2", "3")
    assert [(part.reason, part.lines) for part in games.report.unused] == [
        ('the name in "a" is empty', (3,))
    ]


def test_a_table_of_mixed_types_keeps_what_makes_sense():
    frame = pd.DataFrame({"a": ["x", 1, "y"], "b": ["y", "x", "x"], "outcome": [1, "win", "?"]})
    games = read(frame.astype(object))
    assert results(games) == {("x", "y", 1.0): 1.0, ("1", "x", 1.0): 1.0}
    assert games.report.unused[0].reason == 'the outcome "?" is not understood'
