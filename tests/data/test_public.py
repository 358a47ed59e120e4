"""Tables as they are published, one small file of each shape: all are read untouched."""

from pathlib import Path

import numpy as np
import pytest

from intransit import InputError, read

HERE = Path(__file__).parent / "public"
PAGE = Path(__file__).parents[2] / "docs" / "tables.md"

# File: the games that it tells, as "first second outcome", with "xN" where there are several; and
# after a bar the first and the last time.
GAMES = {
    "ab_test.csv": "red blue 1 x40, red blue 0 x60, red green 1 x50, red green 0 x50",
    "alpaca_eval.json": "davinci gpt4 0, davinci llama 1, davinci llama 0.5",
    "arena_hard.jsonl": "gpt x 0, x gpt 1, gpt y 1, y gpt 0.5",
    "arena_one_hot.csv": "gpt vicuna 1, koala gpt 0.5, vicuna koala 0",
    "arena_votes.csv": "chatglm koala 0, oasst koala 0.5, oasst chatglm 0.5"
    " | 2023-04-24 15:53:11, 2023-04-24 15:55:01",
    "atp_matches.csv": "Nishikori Medvedev 1, Medvedev Tsonga 1, Nishikori Chardy 1"
    " | 2018-12-31, 2018-12-31",
    "basketball.csv": "1610612740 1610612759 1, 1610612759 1610612762 0 | 2022-12-22, 2022-12-23",
    "best_worst.csv": "Price Taste 1, Price Origin 1, Taste Origin 1 x2, Taste Label 1, "
    "Origin Label 1",
    "board_games.csv": "Ann Bo 1, Ann Cy 1, Bo Cy 0.5, Bo Ann 1 | 2023-01-01, 2023-01-02",
    "both_bad.csv": "x y 1, x y 0.5 x2, x z 0, x z 0.5, y z 0.5 x2",
    "champions.csv": "Ahri/Gnar/Jinx/Lee/Thresh Nami/Orianna/Shen/Vayne/Vi 1, "
    "Nami/Orianna/Shen/Vayne/Vi Ahri/Gnar/Jinx/Lee/Thresh 0",
    "chart_percent.csv": "BigShaman DiscoverHunter 0.482, BigShaman QuestMage 0.551, "
    "DiscoverHunter QuestMage 0.44",
    "chart_rates.csv": "Aggro Combo 0.6 x20, Aggro Control 0.45 x100, Control Combo 0.4 x40",
    "chart_tenths.csv": "Ken Guile 0.55, Ryu Guile 0.4, Ryu Ken 0.6",
    "chosen.jsonl": "m1 m2 1, m3 m1 1",
    "combats.csv": "266 298 0, 702 701 0, 191 668 0, 266 701 1",
    "crosstable.csv": "Carlsen Caruana 1, Carlsen Nepo 0.5, Carlsen Ding 1, Caruana Nepo 1, "
    "Caruana Ding 0.5, Nepo Ding 1",
    "dates_in_words.csv": "x y 1, y z 0 | 2019-08-09, 2019-08-10",
    "dates_with_dots.csv": "x y 1, y z 0 | 2019-12-31, 2020-01-02",
    "day_first.csv": "x y 1, y z 0 | 2019-12-31, 2020-01-02",
    "doubles.csv": "A/B C/D 1, C/D A/B 1, A/C B/D 1 | 2019-01-01, 2019-01-05",
    "evalica.csv": "pizza burger 1, burger sushi 0, sushi pizza 0.5",
    "fights.csv": "Adrian Luigi 1, Trevin Mario 0, Adrian Mario 0.5 | 2021-03-20, 2021-04-27",
    "football_data.csv": "Liverpool Norwich 1, WestHam ManCity 0, Norwich WestHam 0.5"
    " | 2019-08-09, 2019-08-24",
    "games.pgn": "Ann Bo 1, Bo Cy 0.5 | 2020-01-02, 2020-01-09",
    "graded.csv": "x y 1, x z 0, y z 0.5",
    "image_pairs.csv": "x y 1, y z 0.5, x z 0",
    "international_football.csv": "x y 0.5, y z 1 | 2020-01-01, 2020-01-02",
    "lichess.csv": "bourgris a-00 1, a-00 skinnerua 0, skinnerua bourgris 0.5"
    " | 2017-08-30 21:53:20, 2017-08-31 20:06:40",
    "magic_pairings.csv": "Burn Tron 1, Tron Jund 0, Jund Burn 0.5 | 2020-01-01, 2020-01-03",
    "maps.csv": "Recca TeamOne 0, TeamOne Rugratz 0, Recca Rugratz 1 | 2020-03-18, 2020-03-19",
    "nanoseconds.csv": "x y 1, y z 0 | 2019-08-09, 2019-08-10",
    "nested_winner.json": "x y 1, y z 0",
    "one_to_five.csv": "x y 1 x2, x z 0, y z 0.5",
    "one_to_two.csv": "x y 1, x z 0.5, y z 0",
    "panel.csv": "a b 1, a c 1 x2, b c 0.5, b a 1, b c 1",
    "patches.csv": "x y 1, y z 0, x z 1 | 13.8, 13.10",
    "payoffs.csv": "rock paper 0, rock scissors 1, paper scissors 0",
    "podiums.csv": "a b 1 x2, a c 1 x3, a d 1 x2, b c 1 x2, c b 1, b d 1 x2, c d 1, d c 1, b a 1",
    "races.csv": "Max Charles 1, Max Sergio 1, Charles Sergio 1, Sergio Max 1",
    "radiant.csv": "A B 1, B C 0 | 2020-09-13 12:26:40, 2020-09-14 12:26:40",
    "rates_a_pair.csv": "a b 0.523 x1000, b c 0.471 x500",
    "records.csv": "Ayr Bute 1 x3, Ayr Bute 0, Ayr Cork 1 x2, Ayr Cork 0 x2, Bute Cork 0 x4",
    "releases.csv": "x y 1, y z 0, x z 1 | v1.0.2, v1.0.10",
    "results_a_side.csv": "a b 1, b c 0, c a 0.5 | 2020-09-13 12:26:40, 2020-09-13 12:30:00",
    "rounds.csv": "x y 1, y z 0, x z 1, x y 0 | Round of 16, Final",
    "score_lines.csv": "x y 1, y z 0.5, x z 0 | 2020-01-01, 2020-01-03",
    "schedule.csv": "DenverNuggets LosAngelesLakers 1, LosAngelesLakers PhoenixSuns 1"
    " | 2023-10-24, 2023-10-26",
    "seasons.csv": "x y 1, y z 0.5, z x 0 | 2018-19, 2020-21",
    "sets.csv": "x y 1, y z 0, x z 1 | Throne of Eldraine, Ikoria",
    "shared_places.csv": "Ann Bo 1, Ann Cy 1 x2, Bo Cy 0.5, Bo Ann 1, Bo Cy 1",
    "spieltage.csv": "Bremen Bayern 0, Bayern Augsburg 1, Augsburg Bremen 0.5"
    " | 2023-08-18, 2023-09-02",
    "startgg.json": "Mango Zain 1 | 2019-08-04, 2019-08-04",
    "team_and_match.csv": "Burnley ManCity 0, Arsenal Forest 1, Arsenal ManCity 0.5"
    " | 2023-08-11, 2023-08-19",
    "team_log.csv": "DEN LAL 1, LAL PHX 1 | 2023-10-24, 2023-10-26",
    "tennis_data.csv": "Dimitrov Nishioka 1, Raonic Bedene 1, Raonic Dimitrov 1"
    " | 2018-12-31, 2019-01-01",
    "two_a_side.json": "A/B C/D 1, A/C B/D 0",
    "vote_counts.csv": "red blue 1 x120, red blue 0 x80, red green 1 x60, red green 0 x40, "
    "blue green 1 x10, blue green 0 x90",
    "wins_and_ties.csv": "x y 1 x100, x y 0 x90, x y 0.5 x10, y z 1 x40, y z 0 x60",
    "wins_matrix.csv": "A B 1 x10, A B 0 x4, A C 1 x3, A C 0 x7, B C 1 x9, B C 0 x2",
    "won_lost_drawn.csv": "a b 1 x6, a b 0.5, a b 0 x4, a c 1 x3, a c 0 x5",
    "zones.csv": "x y 1, y z 0 | 2019-08-09 10:00:00, 2019-08-10 12:00:00",
}
BESIDE = {"chart_rates.csv": {"games": HERE / "chart_games.csv"}}


def told(text):
    """Return games as they are written above: who met whom, with what outcome, how often."""
    games, _, times = text.partition(" | ")
    found = {}
    for game in games.split(", "):
        first, second, outcome, *more = game.split()
        found[first, second, float(outcome)] = float(more[0][1:]) if more else 1.0
    return found, tuple(times.split(", ")) if times else None


def bare(name):
    """Return a name without spaces, and of people the last one."""
    people = {"Kei Nishikori", "Daniil Medvedev", "Jo-Wilfried Tsonga", "Jeremy Chardy"}
    return name.split()[-1] if name in people else name.replace(" ", "")


@pytest.mark.parametrize("file", GAMES)
def test_the_games_of_a_published_table(file):
    games = read(HERE / file, **BESIDE.get(file, {}))
    found = {}
    for k in range(len(games)):
        first, second = (bare(games.names[i]) for i in (games.first[k], games.second[k]))
        key = first, second, round(float(games.outcomes[k]), 9)
        found[key] = found.get(key, 0.0) + float(games.counts[k])
    ends = tuple(games.clock.to_text(float(t)) for t in games.times[[0, -1]])
    assert (found, None if games.clock.kind == "none" else ends) == told(GAMES[file])


@pytest.mark.parametrize("file", sorted(GAMES)[::3])
def test_small_tables_are_read_as_large_ones_are(file, monkeypatch):
    """Cells of small tables are fetched at once, those of others asked for column by column."""
    small = read(HERE / file, **BESIDE.get(file, {}))
    monkeypatch.setattr("intransit.data.reading.SMALL", 0)
    monkeypatch.setattr("intransit.data.engine.FEW_CELLS", 0)
    large = read(HERE / file, **BESIDE.get(file, {}))
    assert (large.report, large.names) == (small.report, small.names)
    for name in ("first", "second", "outcomes", "margins", "times", "counts", "sequence"):
        np.testing.assert_array_equal(getattr(large, name), getattr(small, name))


def test_every_file_has_its_games_and_its_line_in_the_documents():
    files = {path.name for path in HERE.iterdir()} - {"chart_games.csv"}
    assert files == set(GAMES)
    page = PAGE.read_text()
    assert [file for file in GAMES if f"`{file}`" not in page] == []


# Traps in which a table was, or could be, read as something that it does not say.
REFUSED = {
    "numbers of games, not of wins": (
        (HERE / "chart_games.csv").read_text(),
        "so that nothing says who won; give it as games= beside a matrix of win rates",
    ),
    "a name that ends in A is not model A": (
        "team1,team2,result\nOman,India,India A is ahead\nIndia,Oman,B is ahead\n",
        'the outcomes in "result" are not understood',
    ),
    "which end of a scale is whose": (
        "response_1,response_2,preference\nx,y,-2\nx,z,2\ny,z,0\nx,y,1\n",
        r"say grades=\[2,1,0,-1,-2\] if 2 is its best, or grades=\[-2,-1,0,1,2\] if -2 is "
        r"\(command line: --grades=2,1,0,-1,-2 or --grades=-2",
    ),
    "people or their decks": (
        "player,deck,opponent,opponent_deck,result\nann,Burn,bo,Tron,W\nbo,Tron,cy,Jund,L\n",
        '"player" with "opponent" or "deck" with "opponent_deck" could name the items',
    ),
    "day or month first": (
        "date,a,b,winner\n01/02/2020,x,y,x\n03/04/2020,y,z,z\n",
        "command line: --day-first or --month-first",
    ),
    "odds are no scores": (
        "home,away,home_odds,away_odds\nx,y,1.5,2.5\ny,z,1.5,2.5\n",
        "says who won; name it with outcome=",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_table_does_not_say_is_asked_for(case, tmp_path):
    text, sentence = REFUSED[case]
    place = tmp_path / "table.csv"
    place.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read(place)


NOTED = {
    "goals of three periods are no podium": (
        "date,home,away,P1,P2,P3,home_score,away_score\n2020-01-01,x,y,1,0,2,3,1\n"
        "2020-01-02,y,z,0,1,1,2,4\n2020-01-03,z,x,2,1,0,0,0\n",
        {("x", "y", 1.0), ("y", "z", 0.0), ("z", "x", 0.5)},
        "1 of 3 games are ties",
    ),
    "points of a ranking": (
        "date,winner_name,loser_name,winner_points,loser_points\n2020-01-01,x,y,100,900\n"
        "2020-01-02,y,z,900,50\n2020-01-03,x,z,100,800\n",
        {("x", "y", 1.0), ("y", "z", 1.0), ("x", "z", 1.0)},
        "winners often have fewer",
    ),
    "neutral grounds without a side": (
        "date,neutral,team1,team2,score1,score2\n2020-09-10,0,x,y,3,2\n2020-09-11,1,y,z,0,1\n",
        {("x", "y", 1.0), ("y", "z", 0.0)},
        'if the first item has it, say side="first" (command line: --side first)',
    ),
    "places that are none": (
        "event,place,name\ne,1,x\ne,2,y\ne,3,z\ne,4,w\ne,banana,v\n",
        {(*pair, 1.0) for pair in ("xy", "xz", "xw", "yz", "yw", "zw")},
        '1 row with a place that is not understood ("banana"): not used',
    ),
    "teams are items": (
        (HERE / "doubles.csv").read_text(),
        {("A / B", "C / D", 1.0), ("C / D", "A / B", 1.0), ("A / C", "B / D", 1.0)},
        "each team is one item, its members joined by a stroke; to compare single members, name",
    ),
}


@pytest.mark.parametrize("case", NOTED)
def test_what_was_guessed_is_said(case, tmp_path):
    text, expected, note = NOTED[case]
    place = tmp_path / "table.csv"
    place.write_text(text)
    games = read(place)
    names = games.names
    rows = zip(games.first, games.second, games.outcomes, strict=True)
    assert {(names[i], names[j], float(y)) for i, j, y in rows} == expected
    assert any(note in said for said in games.report.notes), games.report.notes


def test_a_column_of_ties_counts_beside_one_of_wins(tmp_path):
    place = tmp_path / "table.csv"
    place.write_text("a,b,a_wins,tie\nx,y,True,False\nx,z,False,True\ny,z,False,False\n")
    assert read(place).outcomes.tolist() == [1.0, 0.5, 0.0]
    place.write_text("a,b,winner,draw\nx,y,x,0\nx,z,,1\ny,z,z,0\n")
    assert read(place).outcomes.tolist() == [1.0, 0.5, 0.0]


def test_zero_in_a_flag_of_home_is_away(tmp_path):
    place = tmp_path / "table.csv"
    place.write_text("team,opponent,is_home,result\nx,y,1,W\nx,z,0,L\ny,z,1,D\n")
    assert read(place).sides.tolist() == [1.0, -1.0, 1.0]


def test_sides_that_contradict_each_other_are_left_out(tmp_path):
    place = tmp_path / "table.csv"
    place.write_text(
        "white,black,white_result,black_result\nx,y,win,resigned\nx,z,win,win\ny,z,agreed,agreed\n"
        "x,y,timeout,resigned\ny,x,checkmated,win\n"
    )
    games = read(place)
    assert games.counts.sum() == 3
    assert {part.reason: part.lines for part in games.report.unused} == {
        "both sides are said to have won": (3,),
        "neither side is said to have won": (5,),
    }


def test_a_crosstable_of_two_rounds(tmp_path):
    place = tmp_path / "table.csv"
    place.write_text("#,Name,1,2,3,Pts\n1,x,*,11,11,4\n2,y,½0,*,10,1.5\n3,z,00,01,*,1\n")
    with pytest.raises(InputError, match='of "x" against "y" and of "y" against "x" does not add'):
        read(place)
    place.write_text("#,Name,1,2,3,Pts\n1,x,*,1½,11,3.5\n2,y,0½,*,10,1.5\n3,z,00,01,*,1\n")
    games = read(place)
    assert games.outcomes.tolist() == [0.75, 1.0, 0.5]
    assert games.counts.tolist() == [2.0, 2.0, 2.0]
