"""Predict, rank and matrix: what they say of an answer."""

import csv
import io
import json

import numpy as np
import pytest

from intransit import Answer, Games, fit
from intransit.analysis.standings import Standing
from intransit.cli.output import BAR, bar, ranking, whiskers
from intransit.model import By, Model, Scores, Side, Still
from intransit.percent import estimate, percent

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")


def test_predict_says_what_the_answer_says(call, kept):
    model = kept / "games.intransit"
    found = Answer.load(model).probability("item 1", "item 2", "2025-03-05", level=0.8)
    given = ("predict", model, "item 1", "item 2", "--at", "2025-03-05", "--level", 0.8)
    done = call(*given)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("item 1 against item 2, 2025-03-05\n")
    assert f"{100 * found.probability:.1f} %" in done.out
    between = estimate(found.probability, found.low, found.high, 1)[1]
    assert f"80 % interval   {between}" in done.out
    shares = (found.win, found.tie, found.loss)
    assert ", ".join(percent(share, 1) for share in shares) in done.out
    assert "was last compared" in done.out
    data = json.loads(call(*given, "--json").out)
    assert data["probability"] == found.probability
    assert data["notes"] == list(found.notes)


def test_both_ways_add_up(call, kept):
    model = kept / "games.intransit"
    there = json.loads(call("predict", model, "item 3", "item 5", "--json").out)
    back = json.loads(call("predict", model, "item 5", "item 3", "--json").out)
    assert there["probability"] + back["probability"] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("item 1", "itm 2"), "has no item 'itm 2'"),
        (("item 1", "item 1"), "cannot meet itself"),
        (("item 1",), "give the names of two items"),
        (("item 1", "item 2", "--at", "soon"), "it is not a date"),
        (("item 1", "item 2", "--side", "first"), "did not say who had the side"),
        (("item 1", "item 2", "--level", 2), "level"),
        (("item 1", "item 2", "--pairs", "p.csv"), "not both"),
        (("--pairs", "none.csv"), "none.csv: there is no such file"),
    ],
)
def test_questions_that_have_no_answer(call, kept, given, words):
    done = call("predict", kept / "games.intransit", *given)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_near_miss_is_told_the_name(call, kept):
    assert "did you mean" in call("predict", kept / "games.intransit", "item1", "item 2").err


def test_many_pairs_at_once(call, kept, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("First, second ,at\nitem 1,item 2,2025-02-01\n\nitem 3,item 4,\n")
    model = kept / "games.intransit"
    done = call("predict", model, "--pairs", "pairs.csv", "--at", "2025-02-20", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["at"] for row in rows] == ["2025-02-01", "2025-02-20"]
    answer = Answer.load(model)
    for row in rows:
        expected = answer.probability(row["first"], row["second"], row["at"])
        assert float(row["probability"]) == pytest.approx(expected.probability, rel=1e-12)
    assert "item 3" in call("predict", model, "--pairs", "pairs.csv").out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\nx,y\n", "it needs the columns first and second"),
        ("", "its header is empty"),
        (
            "first,second\nitem 1,item 2\nitem 1,nobody\n",
            "games.csv has no item 'nobody'",
        ),
        ("first,second\nitem 1,\n", "p.csv, line 2: give two names"),
        ("first,second,at\nitem 1,item 2,soon\n", "p.csv, line 2: time"),
        ("first,second,side\nitem 1,item 2,first\n", "did not say who had the side"),
    ],
)
def test_a_file_of_pairs_that_cannot_be_used(call, kept, tmp_path, text, words):
    (tmp_path / "p.csv").write_text(text)
    done = call("predict", kept / "games.intransit", "--pairs", "p.csv")
    assert (done.code, done.out) == (2, "")
    assert words in done.err


@pytest.fixture(scope="module")
def sided(tmp_path_factory):
    """An answer with margins and sides, and without times."""
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=200)
    second = (first + rng.integers(1, 4, size=200)) % 4
    margins = np.round(0.6 * (first - second) + 0.8 + rng.normal(size=200), 0)
    outcomes = 0.5 + 0.5 * np.sign(margins)
    names = np.array(list("abcd"))
    games = Games.from_arrays(
        names[first], names[second], outcomes, margins=margins, sides=np.ones(200)
    )
    place = tmp_path_factory.mktemp("sided") / "sided.intransit"
    fit(games, model=Scores(walk=Still()) + Side(walk=Still()), effective=20).save(place)
    return place


def test_sides_and_margins_are_shown(call, sided):
    def p(side):
        return json.loads(call("predict", sided, "a", "b", "--side", side, "--json").out)

    assert p("first")["probability"] > p("none")["probability"] > p("second")["probability"]
    assert p("first")["margin"] > p("second")["margin"]
    done = call("predict", sided, "a", "b")
    assert "expected margin" in done.out
    assert "neither (say who has it with --side first or --side second)" in done.out


def test_a_covariate_is_named_at_asking(call, by_surface, tmp_path):
    given = ("--by", "surface", "--factors", 0, "--no-pairs", "--effective", 10)
    assert call("fit", by_surface, *given, "--out", "m.intransit").code == 0
    answer = Answer.load(tmp_path / "m.intransit")
    for surface in ("clay", "grass"):
        told = call("predict", "m.intransit", "a", "b", "--under", f"surface={surface}", "--json")
        expected = answer.probability("a", "b", under={"surface": surface})
        assert json.loads(told.out)["probability"] == expected.probability
    assert (
        "averaged as in the games (say which with --under surface=clay)"
        in call("predict", "m.intransit", "a", "b").out
    )
    assert "averaged over surface as in the games" in " ".join(answer.story)
    (tmp_path / "pairs.csv").write_text("first,second\na,b\nnewcomer,b\n")
    many = ("predict", "m.intransit", "--pairs", "pairs.csv", "--under", "surface=grass")
    known, new = json.loads(call(*many, "--newcomers", "--json").out)
    assert known["probability"] == pytest.approx(expected.probability)
    assert "is new" in new["notes"][0]
    assert "line 3: " in call(*many).err
    wrong = call("predict", "m.intransit", "a", "b", "--under", "surface=ice")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert '"clay", "grass"' in wrong.err


def test_a_newcomer_is_forecast_when_asked_for(call, kept):
    model = kept / "games.intransit"
    refused = call("predict", model, "Somebody", "item 2")
    assert (refused.code, "has no item" in refused.err) == (2, True)
    done = call("predict", model, "Somebody", "item 2", "--newcomers", "--json")
    expected = Answer.load(model).probability("Somebody", "item 2", newcomers=True)
    assert json.loads(done.out)["probability"] == expected.probability
    assert "is new" in json.loads(done.out)["notes"][0]


def test_without_times_a_time_is_refused(call, sided):
    for command in (("predict", sided, "a", "b"), ("rank", sided), ("matrix", sided)):
        done = call(*command, "--at", "2025-01-01")
        assert (done.code, "had no times" in done.err) == (2, True)
    assert "last game" not in call("rank", sided).out
    assert json.loads(call("rank", sided, "--json").out)["at"] is None


def test_rank_says_what_the_answer_says(call, kept):
    model = kept / "games.intransit"
    expected = Answer.load(model).rank("2025-02-01")
    rows = json.loads(call("rank", model, "--at", "2025-02-01", "--json").out)["standings"]
    assert [(row["name"], row["strength"]) for row in rows] == [
        (one.name, one.strength) for one in expected
    ]
    done = call("rank", model, "--top", 2)
    assert "2 of 7 items, 2025-03-01." in done.out
    assert "do not all follow" not in done.out  # one ranking explains them, or might
    assert "●" in done.out
    assert call("rank", model, "--top", 0).code == 2


@pytest.mark.parametrize("command", ["rank", "matrix"])
def test_a_time_outside_the_tables_is_said_to_be(call, kept, command):
    model = kept / "games.intransit"
    begin, end = "2025-01-01", "2025-03-01"
    told = {"2024-05-01": f"before the first game, {begin}: a guess."}
    told |= {"2025-06-01": f"after the last game, {end}: a forecast.", "2025-02-01": None}
    for at, words in told.items():
        said = call(command, model, "--at", at).out
        assert (words is None and "That is" not in said) or f"That is {words}" in said


def test_the_first_day_is_not_before_the_first_game_on_it(call, tmp_path):
    games = Games.from_arrays(["a", "b"] * 10, ["b", "a"] * 10, [1] * 20, ["2025-03-01 18:30"] * 20)
    fit(games, model=Model((Scores(),)), effective=10).save(tmp_path / "m.intransit")
    assert "first game" not in call("rank", "m.intransit", "--at", "2025-03-01").out
    assert "before the first game" in call("rank", "m.intransit", "--at", "2025-02-28").out


def test_rank_comes_in_pages(call, kept):
    model = kept / "games.intransit"
    whole = json.loads(call("rank", model, "--json").out)["standings"]
    page = json.loads(call("rank", model, "--from", "4", "--top", "2", "--json").out)["standings"]
    assert page == whole[3:5]
    assert "2 of 7 items" in call("rank", model, "--from", "4", "--top", "2").out
    assert "--from 8: there are 7 items" in call("rank", model, "--from", "8").err
    assert call("rank", model, "--from", "0").code == 2


def test_rank_can_leave_out_who_is_gone(call, tmp_path):
    games = Games.from_arrays(
        ["a", "b", "a", "c"] * 5, ["b", "c", "c", "a"] * 5, [1, 1, 0, 1] * 5, list(range(20))
    )
    late = Games.from_arrays(["a"] * 5, ["b"] * 5, [1, 0, 1, 0, 1], [30, 31, 32, 33, 34])
    fit(games, model=Model((Scores(),)), effective=10).update(late).save(tmp_path / "m.intransit")
    names = [
        row["name"]
        for row in json.loads(call("rank", "m.intransit", "--since", "30", "--json").out)[
            "standings"
        ]
    ]
    assert sorted(names) == ["a", "b"]
    assert "no item was compared" in call("rank", "m.intransit", "--since", "99").err


def test_groups_that_never_met_are_named(call, tmp_path):
    """Ranks and a half in the matrix would pass for something that is known."""
    games = Games.from_arrays(["a", "c"] * 5, ["b", "d"] * 5, [1, 0, 0, 1, 1] * 2, [1, 5] * 5)
    fit(games, model=Model((Scores(),)), effective=10).save(tmp_path / "m.intransit")
    for command in ("rank", "matrix", "report"):
        assert (
            "2 groups of items never met, so nothing is known" in call(command, "m.intransit").out
        )
    told = call("predict", "m.intransit", "c", "d", "--at", 1)
    assert "c was first compared 5" in told.out


def test_matrix_says_what_the_answer_says(call, kept):
    model = kept / "games.intransit"
    answer = Answer.load(model)
    data = json.loads(call("matrix", model, "--json").out)
    assert data["items"] == list(answer.names)
    np.testing.assert_allclose(data["matrix"], answer.matrix(), atol=1e-12)
    rows = list(csv.reader(io.StringIO(call("matrix", model, "--csv", "--what", "margin").out)))
    assert rows[0] == ["item", *answer.names]
    np.testing.assert_allclose(
        np.array([row[1:] for row in rows[1:]], dtype=float), answer.margins(), atol=1e-12
    )


def test_matrix_of_some_items(call, kept):
    model = kept / "games.intransit"
    data = json.loads(call("matrix", model, "--items", "item 4, item 2", "--json").out)
    assert data["items"] == ["item 4", "item 2"]
    twice = call("matrix", model, "--items", "item 4", "--items", "item 2", "--json").out
    assert json.loads(twice) == data
    done = call("matrix", model, "--top", 3)
    assert "The 3 best of 7 items" in done.out
    for given in (("--items", "item 4"), ("--items", "x,y"), ("--top", 1)):
        assert call("matrix", model, *given).code == 2
    assert call("matrix", model, "--top", 3, "--items", "item 1,item 2").code == 2


def test_a_matrix_has_colours_on_a_terminal(call, kept, monkeypatch):
    for colours in ("truecolor", ""):
        done = call("matrix", kept / "games.intransit")
        assert "\x1b[" not in done.out
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLORTERM", colours)
        coloured = call("matrix", kept / "games.intransit").out
        assert ("\x1b[37;48;2;" in coloured) == (colours == "truecolor")
        assert "\x1b[" in coloured
        monkeypatch.delenv("FORCE_COLOR")


def test_on_a_narrow_page_drawings_give_way_to_names(call, kept, monkeypatch):
    wide = call("rank", kept / "games.intransit").out
    monkeypatch.setenv("COLUMNS", "64")
    narrow = call("rank", kept / "games.intransit").out
    assert "●" in wide
    assert "●" not in narrow
    for line in narrow.splitlines()[:-1]:
        assert len(line) <= 64
    assert "item 3" in narrow


def test_columns_are_explained_where_they_are_shown(call, kept, monkeypatch, tmp_path):
    """Nor does one long name take rating and range away from all others."""
    assert "Rating: an average item" in call("rank", kept / "games.intransit").out
    monkeypatch.setenv("COLUMNS", "50")
    assert "Rating:" not in call("rank", kept / "games.intransit").out
    monkeypatch.setenv("COLUMNS", "120")
    games = Games.from_arrays(["a" * 150, "b"] * 20, ["b", "c"] * 20, [1, 1, 0, 1] * 10)
    fit(games, effective=10).save(tmp_path / "long.intransit")
    out = call("rank", tmp_path / "long.intransit").out
    assert "rating" in out.splitlines()[0]
    assert out.replace("\n", "").count("a") >= 150


def test_the_ends_of_a_narrow_scale_differ():
    """Where all strengths are about a half, "50 %" at both ends would say nothing."""
    for low, high, ends in ((0.499, 0.502, "49.9 % 50.2 %"), (0.494, 0.504, "49.4 % 50.4 %")):
        one = Standing(1, 1, 2, "x", 0.501, low, high, 1500.0, 1499.0, 1501.0, 9.0, "")
        titles = [str(column.header) for column in ranking([one], 0.9, 120).columns]
        assert any(title.split() == ends.split() for title in titles)


def test_bars_and_whiskers_keep_their_width():
    assert bar(0.0) == " " * BAR
    assert bar(1.0) == "█" * BAR
    assert len(bar(0.33)) == BAR
    drawn = whiskers(0.2, 0.4, 0.6, 0.2, 0.8)
    assert len(drawn) == BAR
    assert drawn[0] == "─"
    assert drawn.count("●") == 1
    assert whiskers(0.5, 0.5, 0.5, 0.5, 0.5)[0] == "●"


def test_of_items_that_nothing_connects_the_matrix_says_nothing(call, tmp_path):
    """Neither people nor machines read a half that nobody measured."""
    games = Games.from_arrays([*"ac"] * 20, [*"bd"] * 20, [1, 1, 0, 1] * 10)
    fit(games, effective=10).save(tmp_path / "apart.intransit")
    given = ("matrix", "apart.intransit", "--items", "a,b,c")
    assert "–" in call(*given).out
    assert json.loads(call(*given, "--json").out)["matrix"][0][2] is None
    assert call(*given, "--csv").out.splitlines()[1].endswith(",")
    assert json.loads(call(*given, "--json", "--what", "margin").out)["matrix"][2][0] is None


def test_a_name_in_other_letters_is_found_out(call, kept):
    """What differs in capitals only is what was meant."""
    done = call("predict", kept / "games.intransit", "ITEM 4", "item 2")
    assert done.err.endswith("has no item 'ITEM 4'; did you mean 'item 4'?\n")


def test_the_matrix_says_that_neither_has_the_side(call, tmp_path):
    """Its chances are neither those at home nor those away; nor are those of ranks."""
    games = Games.from_arrays([*"ab"] * 20, [*"bc"] * 20, [1, 1, 0, 1] * 10, sides=[1] * 40)
    fit(games, model=Model((Scores(walk=Still()), Side(walk=Still())))).save(tmp_path / "home.fit")
    for command in ("matrix", "rank"):
        assert "without the advantage of a side" in call(command, "home.fit").out
    assert "50 % interval of the rank" in call("rank", "home.fit", "--level", 0.5).out


def test_matrix_and_ranks_say_of_which_surface_they_are(call, tmp_path):
    """Where a covariate is modelled, chances are those of its average."""
    games = Games.from_arrays(
        [*"ab"] * 20, [*"bc"] * 20, [1, 1, 0, 1] * 10, by={"surface": ["clay", "grass"] * 20}
    )
    model = Model((Scores(walk=Still()), By("surface")))
    fit(games, model=model, effective=10).save(tmp_path / "by.fit")
    for command in ("matrix", "rank"):
        assert "averaged over surface as in the games" in call(command, "by.fit").out


def test_no_chance_is_rounded_to_certainty(call, tmp_path):
    """A chance that is nearly all or nothing is not written as 100 or 0."""
    games = Games.from_arrays([*"ab"] * 300, [*"bc"] * 300, [1] * 600)
    fit(games, model=Model((Scores(walk=Still()),)), effective=20).save(tmp_path / "sure.fit")
    out = call("matrix", "sure.fit").out
    assert ">99" in out
    assert "<1" in out
    assert " 100" not in out
