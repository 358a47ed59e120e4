"""Tables as people write them, beside the games they tell or the sentence that refuses them."""

from pathlib import Path

import numpy as np
import pytest

from intransit import InputError, read
from tests.data.test_public import told

# A table, and what it tells, written as in `test_public`.
WRITTEN = {
    "the winner's score first": (
        "date,team,opponent,result\n2024-01-01,x,y,W 5-3\n2024-01-02,x,z,L 5-3\n"
        "2024-01-03,y,z,T 2-2\n",
        "x y 1, x z 0, y z 0.5 | 2024-01-01, 2024-01-03",
    ),
    "halves with spaces": (
        "white,black,result\nx,y,1 - 0\ny,z,½ - ½\nz,x,0 – 1\n",
        "x y 1, y z 0.5, z x 0",
    ),
    "no preference": (
        "left,right,Which do you prefer?\nx,y,Left\ny,z,No preference\nx,z,Right\n",
        "x y 1, y z 0.5, x z 0",
    ),
    "nobody could decide": (
        "variant_a,variant_b,winner\nx,y,A\ny,z,Can't decide\nx,z,B\n",
        "x y 1, y z 0.5, x z 0",
    ),
    "nobody is 0 beside 1 and 2": (
        "option_1,option_2,winner\nx,y,1\ny,z,0\nx,z,2\n",
        "x y 1, y z 0.5, x z 0",
    ),
    "nearly 1 and nearly 2": (
        "generator_1,output_1,generator_2,output_2,preference\nx,a,y,b,1.25\ny,c,z,d,1.75\n",
        "x y 0.75, y z 0.25",
    ),
    "a side behind the word for an item": (
        "team_a,team_b,team_a_score,team_b_score\nx,y,3,1\ny,z,0,2\n",
        "x y 1, y z 0",
    ),
    "short words for items": (
        "date,pla,plb,rca,rcb,sca,scb\n2023-01-01,x,y,T,Z,2,0\n2023-01-02,y,z,T,Z,1,2\n",
        "x y 1, y z 0 | 2023-01-01, 2023-01-02",
    ),
    "home and visitors of baseball": (
        "visteam,hometeam,vruns,hruns,wteam,lteam\ny,x,1,3,x,y\nz,y,5,2,z,y\n",
        "x y 1, y z 0",
    ),
    "points of a ranking beside the winner": (
        "player_1,player_2,winner,pts_1,pts_2\nx,y,x,100,900\ny,z,y,900,50\nx,z,x,100,800\n",
        "x y 1, y z 1, x z 1",
    ),
    "nobody is named where nobody won": (
        "home,away,home_goals,away_goals,winner\nx,y,3,1,x\ny,z,2,2,\nz,x,1,1,-\nx,z,0,2,z\n",
        "x y 1, y z 0.5, z x 0.5, x z 0",
    ),
    "a time of day beside the day": (
        "gameday,gametime,away_team,away_score,home_team,home_score,location,result\n"
        "2023-09-07,20:20,y,21,x,18,Home,-3\n2023-09-10,13:00,z,9,y,24,Neutral,15\n",
        "x y 0, y z 1 | 2023-09-07, 2023-09-10",
    ),
    "days of a spreadsheet": (
        "Date,Home,Away,Home Score,Away Score\n45149,x,y,2,1\n45176,y,z,0,3\n",
        "x y 1, y z 0 | 2023-08-11, 2023-09-07",
    ),
    "two forms of dates": (
        "date,a,b,winner\n2023-08-11,x,y,x\n2023-08-12,y,z,z\n13/08/2023,x,z,x\n",
        "x y 1, y z 0, x z 1 | 2023-08-11, 2023-08-13",
    ),
    "years of two digits behind points": (
        "Datum;Heim;Gast;Ergebnis\n11.08.23;x;y;2:1\n26.08.23;y;z;0:0\n",
        "x y 1, y z 0.5 | 2023-08-11, 2023-08-26",
    ),
    "German": (
        "Saison;Spieltag;Datum;Uhrzeit;Heim;Gast;Tore Heim;Tore Gast\n"
        "2023/24;1;18.08.2023;20:30;x;y;2;1\n2023/24;2;25.08.2023;15:30;y;z;0;3\n",
        "x y 1, y z 0 | 2023-08-18, 2023-08-25",
    ),
    "Spanish": (
        "Temporada,Estadio,Local,Visitante,Goles Local,Goles Visitante\n2022-23,S,x,y,2,1\n"
        "2023-24,T,y,z,0,3\n",
        "x y 1, y z 0 | 2022-23, 2023-24",
    ),
    "French": (
        "date,Équipe domicile,Équipe extérieur,buts_domicile,buts_extérieur\n31/08/2023,x,y,2,1\n"
        "01/09/2023,y,z,0,3\n",
        "x y 1, y z 0 | 2023-08-31, 2023-09-01",
    ),
    "Portuguese": (
        "data,mandante,visitante,mandante_Placar,visitante_Placar,vencedor\n31/08/2023,x,y,2,1,x\n"
        "01/09/2023,y,z,1,1,-\n",
        "x y 1, y z 0.5 | 2023-08-31, 2023-09-01",
    ),
    "a defeat is no draw": (
        "équipe,adversaire,résultat\nx,y,V\ny,z,N\nx,z,D\n",
        "x y 1, y z 0.5, x z 0",
    ),
    "thousands": (
        'deck,opponent_deck,win_rate,total_games\nx,y,55%,"1,200"\ny,z,40%,850\n',
        "x y 0.55 x1200, y z 0.4 x850",
    ),
    "thousands beside decimal commas": (
        "deck;opponent_deck;win_rate;total_games\nx;y;55,5;1.200\ny;z;40,0;850\n",
        "x y 0.555 x1200, y z 0.4 x850",
    ),
    "the same name behind each item": (
        "Date,Visitor/Neutral,PTS,Home/Neutral,PTS,Arena\n2023-10-24,y,99,x,107,A\n"
        "2023-10-25,z,120,y,110,B\n",
        "x y 1, y z 0 | 2023-10-24, 2023-10-25",
    ),
    "who won or tied, and a sign where": (
        "Date,Winner/tie,,Loser/tie,PtsW,PtsL\n2023-09-07,x,@,y,21,20\n2023-09-08,y,,z,20,20\n",
        "x y 1, y z 0.5 | 2023-09-07, 2023-09-08",
    ),
    "an opponent away": (
        "Team,Opponent,Result\nx,@y,W 3-1\ny,x,L 3-1\ny,z,T 2-2\nz,@ y,T 2-2\nx,vs z,L 0-2\n"
        "z,@ x,W 2-0\n",
        "x y 1, y z 0.5, x z 0",
    ),
    "a game in two rows, one a side": (
        "gameid,date,side,teamname,result\n1,2023-01-01,Blue,x,1\n1,2023-01-01,Red,y,0\n"
        "2,2023-01-02,Blue,y,0\n2,2023-01-02,Red,z,1\n",
        "x y 1, z y 1 | 2023-01-01, 2023-01-02",
    ),
    "a choice in several rows": (
        "resp_id,task,alt,brand,choice\n1,1,1,x,1\n1,1,2,y,0\n1,1,3,z,0\n1,2,1,x,0\n1,2,2,z,1\n",
        "x y 1, x z 1, z x 1",
    ),
    "the best and the worst of sets": (
        "respondent,set,item,best,worst\n1,1,x,1,0\n1,1,y,0,0\n1,1,z,0,0\n1,1,w,0,1\n",
        "x y 1, x z 1, x w 1, y w 1, z w 1",
    ),
    "the best and the worst of sets in rows": (
        "id,block,item1,item2,item3,best,worst\n1,1,x,y,z,y,z\n2,2,x,y,w,x,y\n",
        "y x 1, y z 1, x z 1, x y 1, x w 1, w y 1",
    ),
    "ballots": (
        "ballot,1st choice,2nd choice,3rd choice\n1,x,y,z\n2,y,x,\n3,z,x,y\n",
        "x y 1 x2, x z 1, y z 1, y x 1, z x 1, z y 1",
    ),
    "records with draws, rates and totals": (
        ",x,y,z,Total\nx,,2-1-1,60% (3-2),5-3-1\ny,1-2-1,,0-4-0,1-6-1\nz,40% (2-3),4-0-0,,6-3-0\n"
        "Total,3-5-1,6-1-1,3-6-0,\n",
        "x y 1 x2, x y 0 x1, x y 0.5 x1, x z 1 x3, x z 0 x2, y z 0 x4",
    ),
}


def games_of(path, **said):
    """Return the games of a table as `told` does: who met whom, and the first and last time."""
    games = read(path, **said)
    found = {}
    for i, j, y, n in zip(games.first, games.second, games.outcomes, games.counts, strict=True):
        key = games.names[i], games.names[j], round(float(y), 9)
        found[key] = found.get(key, 0.0) + float(n)
    ends = tuple(games.clock.to_text(float(t)) for t in games.times[[0, -1]])
    return found, None if games.clock.kind == "none" else ends


@pytest.mark.parametrize("name", WRITTEN)
def test_the_games_of_a_table_as_people_write_it(name, tmp_path):
    content, games = WRITTEN[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert games_of(path) == told(games)


# Columns that look like outcomes and are none: better a question than a wrong answer.
REFUSED = {
    "times of day are no scores": (
        "day,team,other,at\n1,x,y,15:30\n2,y,z,18:30\n3,z,x,20:45\n",
        "says who won",
    ),
    "a season is no score": ("temporada,x1,x2\n2023-24,x,y\n2023-24,y,z\n2023-24,z,x\n", "who won"),
    "ages are no scores": ("age,a,b\n18-24,x,y\n25-34,y,z\n35-44,z,x\n", "says who won"),
    "a race is no tie": ("a,b,race\nx,y,T\ny,z,T\nz,x,T\n", "says who won"),
    "two verdicts on one game": (
        "model_1,model_2,g1_winner,g2_winner\nx,y,model_1,model_1\ny,z,tie,error\n"
        "z,x,model_2,model_1\n",
        '"g1_winner" and "g2_winner" could each be the outcome',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_looks_like_an_outcome_is_asked_for(name, tmp_path):
    content, sentence = REFUSED[name]
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=sentence):
        read(path)


def test_letters_for_home_and_away(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("team,opponent,H/A,result\nx,y,H,W\nx,z,A,L\ny,z,N,D\n")
    assert read(path).sides.tolist() == [1.0, -1.0, 0.0]
    path.write_text("WTeamID,LTeamID,WLoc\n1,2,H\n1,3,A\n2,3,N\n")
    assert read(path).sides.tolist() == [1.0, -1.0, 0.0]
    path.write_text("Winner/tie,,Loser/tie\nx,@,y\nx,,z\ny,N,z\n")
    assert read(path).sides.tolist() == [-1.0, 1.0, 0.0]


def test_three_alternatives_and_no_choice_among_them_are_asked_about(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("option_a,option_b,option_c,winner\nx,y,z,P\ny,z,w,Q\nx,z,w,R\n")
    with pytest.raises(InputError, match="name more than two items"):
        read(path)


def test_games_told_twice_are_not_called_rows_where_a_row_has_many(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "player,opponent,games,win_rate\nx,y,10,0.7\ny,x,10,0.3\nx,z,4,0.5\nz,x,4,0.5\n"
    )
    games = read(path)
    assert games.counts.sum() == 14
    assert any(note.startswith("14 games are listed twice") for note in games.report.notes)


def test_plus_and_minus_of_a_team_are_its_margin():
    games = read(Path(__file__).parent / "public" / "team_log.csv")
    assert sorted(abs(games.margins).tolist()) == [5.0, 12.0]


def test_weeks_of_seasons_are_one_time(tmp_path):
    path = tmp_path / "table.csv"
    rows = "2021,1,a,b,1\n2021,18,b,c,0\n2022,1,a,c,1\n2022,3,b,a,1\n"
    path.write_text("season,week,first,second,result\n" + rows)
    games = read(path)
    np.testing.assert_allclose(games.times, [2021, 2021 + 17 / 53, 2022, 2022 + 2 / 53])
    assert any("taken together for the time" in note for note in games.report.notes)
    path.write_text("year,month,first,second,result\n2021,12,a,b,1\n2022,1,b,c,0\n")
    np.testing.assert_allclose(read(path).times, [2021 + 11 / 12, 2022])


@pytest.mark.parametrize("second", ["period", "month"])
def test_two_times_that_do_not_fit_together_are_asked_about(tmp_path, second):
    path = tmp_path / "table.csv"
    path.write_text(f"season,{second},first,second,result\n2021,1,a,b,1\n2022,13,b,c,0\n")
    with pytest.raises(InputError, match="could each be the time"):
        read(path)
