"""Records and lists in Parquet and JSON, judgments, and orders with a column a place."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from intransit import InputError, read
from tests.data.test_recognition import games_of, results


def parquet(tmp_path, rows):
    place = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pylist(rows), place)
    return place


def told(games):
    return "\n".join(games.report.lines())


NESTED = {  # x beats y, z beats y
    "records": [
        {"winner": {"name": "x", "id": 1}, "loser": {"name": "y", "id": 2}},
        {"winner": {"name": "z", "id": 3}, "loser": {"name": "y", "id": 2}},
    ],
    "a list of two": [
        {"players": ["x", "y"], "winner": "x"},
        {"players": ["y", "z"], "winner": "z"},
    ],
    "a list of records": [
        {"players": [{"name": "x", "score": 3}, {"name": "y", "score": 1}]},
        {"players": [{"name": "z", "score": 3}, {"name": "y", "score": 2}]},
    ],
    "records in records": [
        {"game": {"home": {"team": "x"}, "away": {"team": "y"}, "result": {"outcome": 1}}},
        {"game": {"home": {"team": "z"}, "away": {"team": "y"}, "result": {"outcome": 1}}},
    ],
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("form", ["parquet", "json", "polars", "arrow"])
def test_what_is_nested_is_laid_flat(tmp_path, name, form):
    rows = NESTED[name]
    source = {
        "parquet": lambda: parquet(tmp_path, rows),
        "polars": lambda: pl.DataFrame(rows),
        "arrow": lambda: pa.Table.from_pylist(rows),
        "json": lambda: tmp_path / "table.json",
    }[form]
    (tmp_path / "table.json").write_text(json.dumps(rows))
    games = read(source())
    won = {
        (first, second) if share == 1 else (second, first)
        for first, second, share in results(games)
    }
    assert won == {("x", "y"), ("z", "y")}


TEAMS = [
    {"team1": ["x", "y"], "team2": ["w", "z"], "winner": "team1"},
    {"team1": ["z", "y"], "team2": ["x", "w"], "winner": "team2"},
]


def test_lists_of_names_are_teams(tmp_path):
    """Of one length or of several; who stands first in a list changes nothing."""
    for games in (read(parquet(tmp_path, TEAMS)), games_of(tmp_path, json.dumps(TEAMS))):
        assert results(games) == {("x / y", "w / z", 1.0): 1.0, ("y / z", "w / x", 0.0): 1.0}
    uneven = [
        {"team_a": ["y", "x"], "team_b": ["z"], "outcome": 1},
        {"team_a": ["w"], "team_b": ["y", "x"], "outcome": 0},
    ]
    for games in (read(parquet(tmp_path, uneven)), games_of(tmp_path, json.dumps(uneven))):
        assert results(games) == {("x / y", "z", 1.0): 1.0, ("w", "x / y", 0.0): 1.0}


def test_keys_that_differ_by_case_are_columns_of_their_own(tmp_path):
    """A record cannot hold both, so the second is taken out of the text."""
    rows = [{"a": "x", "b": "y", "outcome": 1, "A": "u"}, {"a": "z", "b": "y", "outcome": 0}]
    games = games_of(tmp_path, json.dumps(rows), first="a", by=("A",), second="b")
    assert results(games) == {("x", "y", 1.0): 1.0, ("z", "y", 0.0): 1.0}
    assert games.by[0].values == ("u",)


def judgments(**more):
    told = [("m1", "B>>A", "A>B"), ("m2", "A>B", "B>A"), ("m1", "A=B", "A>>B")]
    return [
        {"question_id": k, "model": model, "games": [{"score": a}, {"score": b}], **more}
        for k, (model, a, b) in enumerate(told)
    ]


@pytest.mark.parametrize("form", ["lines", "parquet"])
def test_judgments_are_two_games_with_the_places_swapped(tmp_path, form):
    rows = judgments(baseline="base")
    place = tmp_path / "judgments.jsonl"
    place.write_text("\n".join(json.dumps(row) for row in rows))
    games = read(place if form == "lines" else parquet(tmp_path, rows))
    assert results(games) == {
        ("base", "m1", 0.0): 1.0,
        ("m1", "base", 1.0): 2.0,
        ("base", "m2", 1.0): 1.0,
        ("m2", "base", 0.0): 1.0,
        ("base", "m1", 0.5): 1.0,
    }
    assert "places swapped" in told(games)


def test_a_baseline_without_a_name_is_said(tmp_path):
    games = games_of(tmp_path, json.dumps(judgments()))
    assert games.names == ("baseline", "m1", "m2")
    assert 'it is called "baseline"' in told(games)


@pytest.mark.parametrize(
    "header",
    ["1st,2nd,3rd,4th", "P1,P2,P3,P4", "winner,second,third,fourth", "First,Second,Third,Fourth",
     "place 1,place 2,place 3,place 4", "rank_1,rank_2,rank_3,rank_4"],
)  # fmt: skip
def test_a_row_an_event_and_a_column_a_place(tmp_path, header):
    text = f"date,{header}\n2024-01-01,x,y,z,w\n2024-02-01,y,x,w,\n2024-03-01,z,y,x,w\n"
    games = games_of(tmp_path, text)
    assert games.counts.sum() == 6 + 3 + 6
    assert results(games)["y", "w", 1.0] == 3.0
    assert games.clock.to_text(games.times[-1]) == "2024-03-01"
    assert "finishing order with 4 places" in told(games)
    assert games_of(tmp_path, text, shape="podiums").counts.sum() == 15


def test_columns_with_numbers_are_no_places(tmp_path):
    """Three texts that share no names tell nothing of an order."""
    with pytest.raises(InputError):
        games_of(tmp_path, "p1,p2,p3\nx,red,2\ny,blue,3\nz,green,5\n")


def a_set(k, names, scores):
    slots = [
        {"entrant": {"id": ord(n), "name": n}, "standing": {"stats": {"score": {"value": s}}}}
        for n, s in zip(names, scores, strict=True)
    ]
    winner = slots[int(scores[1] > scores[0])]["entrant"]["id"]
    return {"id": k, "completedAt": 1_700_000_000 + 86_400 * k, "winnerId": winner, "slots": slots}


def test_sets_of_start_gg_as_its_interface_gives_them(tmp_path):
    nodes = [a_set(1, "xy", (3, 1)), a_set(2, "yz", (2, 3)), a_set(3, "xz", (3, 0))]
    answer = {"data": {"event": {"name": "e", "sets": {"pageInfo": {"total": 3}, "nodes": nodes}}}}
    games = games_of(tmp_path, json.dumps(answer))
    assert results(games) == {("x", "y", 1.0): 1.0, ("y", "z", 0.0): 1.0, ("x", "z", 1.0): 1.0}
    assert games.margins.tolist() == [2.0, -1.0, 3.0]
    assert games.clock.to_text(games.times[0]).startswith("2023-11-15")


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame(), pd.DataFrame(index=range(3)), pl.DataFrame(), pl.LazyFrame(), pa.table({})],
    ids=lambda frame: type(frame).__module__,
)
def test_a_frame_without_columns_is_refused_in_a_sentence(frame):
    with pytest.raises(InputError, match="there is no column"):
        read(frame)


def test_one_column_is_no_table():
    with pytest.raises(InputError, match="it is one column"):
        read(pd.Series(["x", "y"]))
