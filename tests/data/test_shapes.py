"""Tables of other shapes than one row a game, each written here as people have them."""

import json

import pandas as pd
import pytest

from intransit import InputError, read
from tests.data.test_recognition import games_of, results


def told(games):
    """What was said about a table, in one text."""
    return "\n".join(games.report.lines())


CHART = {  # the same three matchups in the ways in which charts are written
    "rates": ",x,y,z\nx,0.5,0.6,0.3\ny,0.4,0.5,0.8\nz,0.7,0.2,0.5\n",
    "percent signs": "deck,x,y,z\nx,-,60%,30%\ny,40%,-,80%\nz,70%,20%,-\n",
    "percents": "vs,x,y,z\nx,50,60,30\ny,40,50,80\nz,70,20,50\n",
    "out of ten": ",x,y,z\nx,5,6,3\ny,4,5,8\nz,7,2,5\n",
    "ratios": ",x,y,z\nx,,6-4,3-7\ny,4-6,,8-2\nz,7-3,2-8,\n",
    "a triangle": ",x,y,z\nx,,0.6,0.3\ny,,,0.8\nz,,,\n",
    "payoffs": ",x,y,z\nx,0,0.2,-0.4\ny,-0.2,0,0.6\nz,0.4,-0.6,0\n",
    "another order": ",z,y,x,Average\ny,80,50,40,56\nx,30,50,60,47\nz,50,20,70,47\n".replace(
        "x,30,50,60", "x,30,60,50"
    ),
    "decimal commas": ";x;y;z\nx;0,5;0,6;0,3\ny;0,4;0,5;0,8\nz;0,7;0,2;0,5\n",
}


@pytest.mark.parametrize("name", CHART)
def test_a_matrix_of_rates(tmp_path, name):
    games = games_of(tmp_path, CHART[name])
    found = {}
    for (first, second, share), count in results(games).items():
        assert count == 1.0
        found[min(first, second) + max(first, second)] = share if first < second else 1 - share
    assert found == pytest.approx({"xy": 0.6, "xz": 0.3, "yz": 0.8})
    assert "the table is a matrix of 3 by 3" in told(games)
    assert "nothing says how many games stand behind a rate" in told(games)


def test_a_matrix_of_wins_and_of_records(tmp_path):
    won = {("x", "y", 1.0): 6.0, ("x", "y", 0.0): 4.0, ("y", "z", 1.0): 3.0}
    wins = ",x,y,z\nx,0,6,0\ny,4,0,3\nz,0,0,0\n"
    assert results(games_of(tmp_path, wins)) == won
    assert results(games_of(tmp_path, ",x,y,z\nx,,6-4,\ny,,,3-0\nz,,,\n")) == won
    frame = pd.read_csv(tmp_path / "games.csv", index_col=0)
    assert results(read(frame)) == won


def test_a_matrix_with_numbers_of_games(tmp_path):
    (tmp_path / "n.csv").write_text(",x,y,z\nx,,20,0\ny,20,,\nz,0,5,\n")
    games = games_of(tmp_path, CHART["rates"], games=tmp_path / "n.csv")
    assert games.outcomes.tolist() == pytest.approx([0.6, 0.8])
    assert games.counts.tolist() == [20.0, 5.0]
    inside = ",x,y,z\nx,,60% (20),\ny,,,80% (5 games)\nz,,,\n"
    assert list(results(games_of(tmp_path, inside)).values()) == [20.0, 5.0]
    (tmp_path / "n.csv").write_text("a,b,outcome\nx,y,1\n")
    with pytest.raises(InputError, match="games= must be a matrix of the same items"):
        games_of(tmp_path, CHART["rates"], games=tmp_path / "n.csv")


def test_payoffs_beyond_one_are_margins_and_entries_can_be_said(tmp_path):
    text = ",x,y,z\nx,0,2,-4\ny,-2,0,6\nz,4,-6,0\n"
    games = games_of(tmp_path, text)
    assert sorted(games.margins.tolist()) == [-4.0, 2.0, 6.0]
    small = games_of(tmp_path, CHART["payoffs"], entries="margins")
    assert sorted(small.margins.tolist()) == pytest.approx([-0.4, 0.2, 0.6])
    upper = ",x,y,z\nx,,6,3\ny,,,8\nz,,,\n"
    with pytest.raises(InputError, match='what its entries are cannot be seen; say entries="shar'):
        games_of(tmp_path, upper)
    assert games_of(tmp_path, upper, entries="wins").counts.tolist() == [6.0, 3.0, 8.0]
    with pytest.raises(InputError, match="entries is 'odds'; it must be"):
        games_of(tmp_path, upper, entries="odds")


TALLIES = {
    "won and lost": "player,opponent,won,lost\nx,y,6,4\nx,z,0,3\n",
    "with draws": "a,b,wins,losses,draws\nx,y,6,4,2\nx,z,0,3,0\n",
    "each side's wins": "team1,team2,wins1,wins2,ties\nx,y,6,4,2\nx,z,0,3,0\n",
    "votes": "model_a,model_b,votes_a,votes_b\nx,y,6,4\nx,z,0,3\n",
    "with rates": "deck,opponent,wins,losses,win_rate\nx,y,6,4,0.6\nx,z,0,3,0\n",
}


@pytest.mark.parametrize("name", TALLIES)
def test_rows_of_games_won_and_lost(tmp_path, name):
    games = games_of(tmp_path, TALLIES[name])
    expected = {("x", "y", 1.0): 6.0, ("x", "y", 0.0): 4.0, ("x", "z", 0.0): 3.0}
    if "draws" in TALLIES[name] or "ties" in TALLIES[name]:
        expected["x", "y", 0.5] = 2.0
    assert results(games) == expected
    assert "2 rows of games won and lost, counted as that many games" in told(games)


def test_a_tally_by_hand_and_with_rows_that_are_none(tmp_path):
    text = "p,q,up,down,result\nx,y,6,4,x\nx,z,0,0,z\ny,z,?,1,y\nz,y,1,1,y\n"
    games = games_of(tmp_path, text, first="p", second="q", wins="up", losses="down")
    assert results(games)["x", "y", 1.0] == 6.0
    assert [(part.reason, part.lines) for part in games.report.unused] == [
        ("the outcome is empty", (4,))
    ]
    assert "1 row without any game" in told(games)
    with pytest.raises(InputError, match="name both wins= and losses="):
        games_of(tmp_path, text, first="p", second="q", wins="up")


LEAGUE = (  # as FBref lists it: every match as each team sees it
    "Date,Team,Opponent,Venue,Result,GF,GA,Formation\n"
    "2024-01-01,Ayr,Bute,Home,W,2,1,442\n2024-01-01,Bute,Ayr,Away,L,1,2,433\n"
    "2024-01-08,Cork,Ayr,Home,D,0,0,442\n2024-01-08,Ayr,Cork,Away,D,0,0,442\n"
    "2024-01-15,Bute,Cork,Neutral,W,3,0,433\n2024-01-15,Cork,Bute,Neutral,L,0,3,442\n"
)


def test_every_match_as_each_team_sees_it_counts_once(tmp_path):
    games = games_of(tmp_path, LEAGUE)
    assert results(games) == {
        ("Ayr", "Bute", 1.0): 1.0,
        ("Ayr", "Cork", 0.5): 1.0,
        ("Bute", "Cork", 1.0): 1.0,
    }
    assert games.margins.tolist() == [1.0, 0.0, 3.0]
    assert games.sides.tolist() == [1.0, -1.0, 0.0]
    assert "6 rows list 3 games twice" in told(games)
    kept = games_of(tmp_path, LEAGUE, doubled="keep")
    assert kept.counts.sum() == 6
    with pytest.raises(InputError, match="doubled is 'no'; it must be"):
        games_of(tmp_path, LEAGUE, doubled="no")


def test_mirrors_without_a_result_column_or_in_other_tables(tmp_path):
    bare = LEAGUE.replace("Result,", "").replace(",W,", ",").replace(",L,", ",").replace(",D,", ",")
    games = games_of(tmp_path, bare)
    assert games.counts.sum() == 3
    assert "venue" not in [c.name.casefold() for c in games.report.columns if c.role == "outcome"]
    both_ways = "a,b,outcome\nx,y,1\ny,x,0\nx,z,1\nz,x,0\n"
    assert games_of(tmp_path, both_ways).counts.sum() == 4  # nothing says that these are the same
    assert games_of(tmp_path, both_ways, doubled="once").counts.sum() == 2
    one_team = "\n".join(line for line in LEAGUE.splitlines() if ",Bute,Ayr," not in line) + "\n"
    assert games_of(tmp_path, one_team).counts.sum() == 3


RACES = (
    "Track,Position,No,Driver,Team,Starting Grid,Laps,Points\n"
    "Bahrain,1,44,Ham,Merc,2,56,25\nBahrain,2,33,Ver,RB,1,56,18\nBahrain,DNF,5,Vet,AM,20,10,0\n"
    "Bahrain,NC,9,Maz,Haas,19,0,0\nImola,1,33,Ver,RB,3,63,25\nImola,2=,44,Ham,Merc,1,63,18\n"
    "Imola,2=,5,Vet,AM,4,63,15\nImola,DNS,9,Maz,Haas,19,0,0\n"
)


def test_finishing_orders(tmp_path):
    games = games_of(tmp_path, RACES)
    assert results(games) == {
        ("Ham", "Ver", 1.0): 1.0,
        ("Ham", "Vet", 1.0): 1.0,
        ("Ham", "Maz", 1.0): 1.0,
        ("Ver", "Vet", 1.0): 2.0,
        ("Ver", "Maz", 1.0): 1.0,
        ("Ver", "Ham", 1.0): 1.0,
        ("Ham", "Vet", 0.5): 1.0,
    }
    said = told(games)
    assert "2 finishing orders, taken as games of each two" in said
    assert "2 rows without a finish: behind all who finished" in said
    assert "1 row of items that did not take part" in said
    assert 'to compare those of "Team", say first="Team"' in said
    teams = games_of(tmp_path, RACES, first="Team")
    assert "Merc" in teams.names


def test_finishing_orders_keep_their_time_and_can_be_said(tmp_path):
    text = "when,who,came\n2024-01-01,x,1\n2024-01-01,y,2\n2024-01-02,y,1\n2024-01-02,x,2\n"
    games = games_of(tmp_path, text, shape="orders", place="came", first="who", event="when")
    assert results(games) == {("x", "y", 1.0): 1.0, ("y", "x", 1.0): 1.0}
    assert [games.clock.to_text(t) for t in games.times] == ["2024-01-01", "2024-01-02"]
    with pytest.raises(InputError, match='"who" has names that stand twice in one event'):
        games_of(
            tmp_path, text + text[15:], shape="orders", place="came", first="who", event="when"
        )


def test_panels_that_rank_products(tmp_path):
    text = "panelist,product,rank\n1,x,1\n1,y,2\n1,z,3\n2,y,1\n2,x,1\n2,z,3\n"
    assert results(games_of(tmp_path, text)) == {
        ("x", "y", 1.0): 1.0,
        ("x", "z", 1.0): 2.0,
        ("y", "z", 1.0): 2.0,
        ("y", "x", 0.5): 1.0,
    }


TEAMS = {
    "doubles": "winner1_name,winner2_name,loser1_name,loser2_name\nBo,Al,Cy,Di\nCy,Di,Al,Bo\n",
    "two on two": (
        "team1_player1,team1_player2,team2_player1,team2_player2,winner\n"
        "Al,Bo,Cy,Di,1\nBo,Al,Di,Cy,2\n"
    ),
    "champions": (
        "blueTopChamp,blueMidChamp,redTopChamp,redMidChamp,result\nAl,Bo,Cy,Di,blue\n"
        "Bo,Al,Di,Cy,red\n"
    ),
}


@pytest.mark.parametrize("name", TEAMS)
def test_teams_of_several_are_one_item_each(tmp_path, name):
    games = games_of(tmp_path, TEAMS[name])
    assert games.names == ("Al / Bo", "Cy / Di")
    wins = {(games.names[i], o) for i, o in zip(games.first, games.outcomes, strict=True)}
    assert wins in ({("Al / Bo", 1.0), ("Cy / Di", 1.0)}, {("Al / Bo", 1.0), ("Al / Bo", 0.0)})
    assert "2 a side: each team is one item" in told(games)


def test_teams_by_hand(tmp_path):
    text = "p,q,r,s,won\nBo,Al,Cy,Di,1\nCy,Di,Al,Bo,1\n"
    games = games_of(tmp_path, text, first=("p", "q"), second=("r", "s"))
    assert games.names == ("Al / Bo", "Cy / Di")
    assert results(games) == {("Al / Bo", "Cy / Di", 1.0): 1.0, ("Cy / Di", "Al / Bo", 1.0): 1.0}
    with pytest.raises(InputError, match="teams: give the columns of both sides"):
        games_of(tmp_path, text, first=("p", "q"))
    with pytest.raises(InputError, match="teams: give as many columns for one side"):
        games_of(tmp_path, text, first=("p", "q"), second=("r", "s", "won"))


def test_where_and_by_hold_for_every_shape(tmp_path):
    text = "player,opponent,won,lost,kind\nx,y,6,4,u\nx,z,0,3,v\n"
    games = games_of(tmp_path, text, where={"kind": "u"}, by="kind")
    assert results(games) == {("x", "y", 1.0): 6.0, ("x", "y", 0.0): 4.0}
    assert games.by[0].values == ("u",)
    doubles = TEAMS["doubles"].replace("\n", ",kind\n", 1).replace("Di\n", "Di,u\n", 1)
    doubles = doubles.replace("Al,Bo\n", "Al,Bo,v\n")
    games = games_of(tmp_path, doubles, where={"kind": "u"})
    assert results(games) == {("Al / Bo", "Cy / Di", 1.0): 1.0}


def test_a_shape_that_is_none_or_does_not_fit_says_so(tmp_path):
    with pytest.raises(InputError, match=r"shape is 'cube'; it must be \"games\", \"matrix\", "):
        games_of(tmp_path, TALLIES["votes"], shape="cube")
    with pytest.raises(
        InputError, match="the table is not of the shape 'matrix'; leave shape= out"
    ):
        games_of(tmp_path, TALLIES["votes"], shape="matrix")


GRADED = {
    "signs": ["A>>B", "A>B", "A=B", "B>A", "B>>A"],
    "brackets": ["[[A>>B]]", "[[A>B]]", "[[A=B]]", "[[B>A]]", "[[B>>A]]"],
    "words": ["A is much better", "A is slightly better", "tie", "B is better",
              "Response B is significantly better"],
    "numbers": ["1", "2", "3", "4", "5"],
}  # fmt: skip


@pytest.mark.parametrize("name", GRADED)
def test_graded_preferences(tmp_path, name):
    rows = "".join(f'x{k},y,"{grade}"\n' for k, grade in enumerate(GRADED[name]))
    games = games_of(tmp_path, "model_a,model_b,preference\n" + rows)
    assert games.outcomes.tolist() == [1.0, 1.0, 0.5, 0.0, 0.0]
    assert games.margins.tolist() == [2.0, 1.0, 0.0, -1.0, -2.0]


def test_grades_from_one_to_two_and_listed_ones(tmp_path):
    games = games_of(tmp_path, "model_a,model_b,preference\nx,y,1.0\nx,z,1.5\nx,w,1.75\ny,z,2\n")
    assert games.outcomes.tolist() == pytest.approx([0.25, 1.0, 0.5, 0.0])
    text = "a,b,score\nx,y,-3\nx,z,1\nx,w,0\ny,z,3\n"
    with pytest.raises(
        InputError, match=r"which end is for the first item; say grades=\[3,2,1,0,-1"
    ):
        games_of(tmp_path, text)
    games = games_of(tmp_path, text, grades=range(-3, 4))
    assert sorted(games.margins.tolist()) == [-3.0, -1.0, 0.0, 3.0]
    with pytest.raises(InputError, match="grades: list them from the one best for the first"):
        games_of(tmp_path, text, grades=[1, 1])


BAD = ["tie(all bad)", "tie (bothbad)", "both bad", "Both are bad", "neither", "Neither is good",
       "all_bad", "BOTH_FAIL", "both responses are wrong"]  # fmt: skip


def test_verdicts_that_both_are_bad_in_any_words(tmp_path):
    rows = "".join(f"x,y,{verdict}\n" for verdict in BAD)
    text = f"model_a,model_b,winner\nx,y,model_a\nx,y,both good\nx,y,tie\n{rows}"
    games = games_of(tmp_path, text)
    assert results(games) == {("x", "y", 1.0): 1.0, ("x", "y", 0.5): 2.0 + len(BAD)}
    assert f"{len(BAD)} verdicts that both are bad taken as ties" in games.report.notes


def test_nested_json(tmp_path):
    rows = [
        {"match": {"winner": {"name": "x", "id": 1}, "loser": {"name": "y", "id": 2}}, "n": 1},
        {"match": {"winner": {"name": "z", "id": 3}, "loser": {"name": "y", "id": 2}}, "n": 1},
    ]
    place = tmp_path / "g.json"
    place.write_text(json.dumps(rows))
    assert results(read(place)) == {("x", "y", 1.0): 1.0, ("z", "y", 1.0): 1.0}
    pairs = [
        {"players": [{"name": "x", "score": 2}, {"name": "y", "score": 1}], "date": "2024-01-01"},
        {"players": [{"name": "z", "score": 0}, {"name": "y", "score": 3}], "date": "2024-01-02"},
    ]
    place.write_text("\n".join(json.dumps(row) for row in pairs))
    games = read(place)
    assert results(games) == {("x", "y", 1.0): 1.0, ("z", "y", 0.0): 1.0}
    assert games.margins.tolist() == [1.0, -3.0]
    plain = [{"items": ["x", "y"], "winner": "x"}, {"items": ["z", "y"], "winner": "y"}]
    place.write_text(json.dumps(plain))
    assert results(read(place)) == {("x", "y", 1.0): 1.0, ("z", "y", 0.0): 1.0}


def test_scores_that_are_not_used_are_said(tmp_path):
    text = "a,b,outcome,goals,home_points\nx,y,1,3,2\ny,z,0,1,1\n"
    games = games_of(tmp_path, text)
    assert '"goals" and "home_points" could be scores and are not used' in told(games)
