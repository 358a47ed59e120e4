"""`intransit report`: a page, three sentences, JSON and CSV; what it refuses, and leaves alone."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from intransit import Answer, fit
from intransit.backtest import backtest
from intransit.cli.fit import CYCLE, contents, cycle_row
from intransit.cli.inputs import default_page, is_page
from intransit.datasets import simulate_games
from intransit.report import gather
from tests.report.tables import cyclic_answer, odd_games

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
QUICK = ("--factors", 0, "--no-pairs")


def write(games, place):
    """Write games as a table."""
    times = games.clock.kind != "none"
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["first", "second", "outcome", *(["time"] if times else [])])
    for k in range(len(games)):
        for _ in range(int(games.counts[k])):
            pair = [games.names[games.first[k]], games.names[games.second[k]]]
            when = [games.clock.to_text(float(games.times[k]))] if times else []
            rows.writerow([*pair, games.outcomes[k], *when])
    place.write_text(text.getvalue())


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """A page of few draws shows what a page of many does."""

    def quick(games, **settings):
        return fit(games, **{**settings, "effective": 10.0, "seconds": 3.0})

    monkeypatch.setattr("intransit.cli.fit.fit_games", quick)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A small table: five items, a hundred games."""
    place = tmp_path_factory.mktemp("table") / "games.csv"
    write(simulate_games(5, 100, n_days=20, cyclic=0.3, rng=3)[0], place)
    return place


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """An answer with cycles, in a file."""
    return cyclic_answer().save(tmp_path_factory.mktemp("wheel") / "wheel.intransit")


def test_a_table_becomes_a_page(call, table, tmp_path):
    """The verdict, three sentences and where the page is; the page says the same."""
    done = call("report", table, *QUICK)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 5
    assert lines[-1].startswith("The page is in games.html (")
    page = (tmp_path / "games.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert is_page(tmp_path / "games.html")
    verdict = lines[0].partition(":")[0]
    assert verdict in page


def test_an_answer_becomes_a_page(call, wheel, tmp_path):
    """A file of `fit` will do, and the page gets the title that was asked for."""
    done = call("report", wheel, "--title", "A wheel of <seven>", "--out", "deep.html")
    assert (done.code, done.err) == (0, "")
    assert "There are cycles" in done.out
    assert "A wheel of &lt;seven&gt;" in (tmp_path / "deep.html").read_text(encoding="utf-8")


def test_a_page_shows_the_items_asked_for(call, wheel, table, tmp_path):
    names = Answer.load(wheel).names
    done = call("report", wheel, "--items", names[0], "--played", "2", "--top", "1", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert names[0] in {one["name"] for one in found["standings"]}
    assert 2 <= len(found["standings"]) <= 4
    assert found["n_games"] == Answer.load(wheel).n_games
    page = (tmp_path / "wheel.html").read_text(encoding="utf-8")
    assert "of them: the 2 that played most and the 1 strongest and 1 named" in page
    assert call("report", table, "--top", "3").code == 0
    assert "did you mean" in call("report", wheel, "--items", names[0] + "x", "--top", "3").err
    assert "cannot be used with --each" in call("report", table, "--each", "x", "--top", "3").err


def test_json_holds_all_that_was_found(call, wheel):
    """Verdict, cycles, changes, ranking, standings: plain data, as the library gives them."""
    done = call("report", wheel, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    answer = Answer.load(wheel)
    cycles = found["cycles"]
    assert cycles["verdict"] == "cycles"
    assert {"p_value", "gain", "gain_error", "share", "share_low", "share_high"} <= set(cycles)
    assert cycles["detectable"] == answer.transitive.detectable
    assert cycles["n_found"] >= len(cycles["listed"]) > 0
    assert cycles["listed"][0]["probability"] >= cycles["listed_level"]
    assert found["page"] == "wheel.html"
    assert [one["rank"] for one in found["standings"]] == list(range(1, 8))
    assert found["ranking"]["order"]
    assert found["changes"]["items"]
    assert len(found["sentences"]) == 3
    assert "The page is in wheel.html" in done.err


def test_another_edge_is_asked_of_an_answer(call, wheel):
    """The same draws at another edge: the verdict, its sentence and JSON are of that edge."""
    far = call("report", wheel, "--edge", 0.97, "--json")
    found = json.loads(far.out)
    assert found["cycles"]["verdict"] == "not one scale"
    assert "every step above 97 %" in found["headline"]
    assert found["cycles"]["cycle"]["edge"] == 0.97
    assert found["cycles"]["circle"] == found["cycles"]["cycle"]
    assert found["cycles"]["listed"] == []
    wrong = call("report", wheel, "--edge", 1)
    assert wrong.code == 2
    assert "--edge is 1.0; it is a chance" in wrong.err


def test_csv_has_a_row_for_each_cycle(call, wheel, table):
    """Cycles as rows, their least sure edge named; without any, the header and an empty row."""
    done = call("report", wheel, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert list(rows[0]) == list(CYCLE)
    assert float(rows[0]["probability"]) >= 0.9
    assert rows[0]["weakest"].split(" > ")[0] in rows[0]["items"].split("; ")
    none = call("report", table, *QUICK, "--csv")
    assert none.out.splitlines()[0] == ",".join(CYCLE)


def test_the_answer_is_kept_if_asked_for(call, table, tmp_path):
    """With --model-out the answer is in a file too, and gives the same verdict."""
    done = call("report", table, *QUICK, "--model-out", "kept.intransit", "--json")
    found = json.loads(done.out)
    assert found["model"] == "kept.intransit"
    again = Answer.load(tmp_path / "kept.intransit")
    assert again.transitive.verdict == found["cycles"]["verdict"]


def test_fit_tells_the_verdict_too(call, table):
    """In its JSON, and in a line for people."""
    done = call("fit", table, *QUICK, "--json")
    told = json.loads(done.out)["cycles"]
    assert told["verdict"] in {"cycles", "no evidence", "too little data"}
    out = call("fit", table, *QUICK).out
    assert any(line.startswith("cycles ") for line in out.splitlines())


def test_a_full_backtest_takes_the_place_of_the_quick_one(call, table, monkeypatch):
    """The whole ladder is run on demand."""
    asked = []

    def run(games, **settings):
        asked.append(settings["rng"])
        return backtest(games, ladder=["coin", "Elo"], rng=settings["rng"])

    monkeypatch.setattr("intransit.backtest.backtest", run)
    done = call("report", table, *QUICK, "--backtest", "--seed", 3, "--json")
    assert [step["name"] for step in json.loads(done.out)["ladder"]] == ["coin", "Elo"]
    assert asked == [3]


def test_an_older_report_is_replaced_and_nothing_else(call, wheel, tmp_path):
    """A file that is no report stays as it is, unless --force says otherwise."""
    place = tmp_path / "page.html"
    assert call("report", wheel, "--out", "page.html").code == 0
    assert call("report", wheel, "--out", "page.html").code == 0
    place.write_text("<html>mine</html>")
    done = call("report", wheel, "--out", "page.html")
    assert done.code == 2
    assert done.err == (
        "intransit: page.html: this file exists and is not an intransit report; choose another "
        "place with --out, or replace it with --force.\n"
    )
    assert place.read_text() == "<html>mine</html>"
    assert call("report", wheel, "--out", "page.html", "--force").code == 0
    assert is_page(place)


def test_places_that_cannot_be_written_are_refused_first(call, wheel, tmp_path):
    """A folder, no folder, or an answer's place taken: one sentence, before any work."""
    for out, word in ((".", "it is a folder"), ("no/where.html", "there is no folder no")):
        done = call("report", wheel, "--out", out)
        assert (done.code, done.out) == (2, "")
        assert word in done.err
        assert done.err.count("\n") == 1
    (tmp_path / "notes").write_text("mine")
    done = call("report", wheel, "--model-out", "notes")
    assert "choose another place with --model-out" in done.err
    assert not (tmp_path / "wheel.html").exists()


def test_a_failure_leaves_no_half_page(call, wheel, tmp_path, monkeypatch):
    """When the disk is full the old page stays."""
    call("report", wheel, "--out", "page.html")
    before = (tmp_path / "page.html").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device", "page.html")

    monkeypatch.setattr("os.replace", full)
    done = call("report", wheel, "--out", "page.html", "--title", "other")
    assert done.code == 1
    assert "No space left" in done.err
    assert (tmp_path / "page.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".page")] == []


def test_options_of_tables_are_refused_with_an_answer(call, wheel):
    """An answer has been read and fitted: columns, models and backtests need the table."""
    for option in (["--factors", 1], ["--backtest"], ["--time", "day"], ["--no-drifting"]):
        done = call("report", wheel, *option)
        assert done.code == 2
        assert "can be used with a table only" in done.err


def test_a_table_with_nothing_is_one_sentence(call, tmp_path):
    """No rows, or no file: said once, and no page is written."""
    (tmp_path / "empty.csv").write_text("first,second,outcome\n")
    for name in ("empty.csv", "missing.csv"):
        done = call("report", name)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("intransit: ")
        assert done.err.count("\n") == 1
    assert list(tmp_path.glob("*.html")) == []


@pytest.mark.parametrize("name", [name for name in odd_games() if name != "many items"])
def test_odd_tables_have_a_page(call, tmp_path, name):
    """Two items, one game, no times, ties alone, one time, several pools."""
    write(odd_games()[name], tmp_path / "odd.csv")
    done = call("report", "odd.csv")
    assert (done.code, done.err) == (0, "")
    assert is_page(tmp_path / "odd.html")


def test_a_condition_on_rows_is_in_the_title(call, table, tmp_path):
    """The page is called after the file, and after the rows that were asked for."""
    rows = table.read_text().splitlines()
    marked = [
        rows[0] + ",cup",
        *(f"{row},{'a' if k % 4 else '<b>'}" for k, row in enumerate(rows[1:])),
    ]
    (tmp_path / "cups.csv").write_text("\n".join(marked))
    assert call("report", "cups.csv", *QUICK, "--where", "cup=a").code == 0
    page = (tmp_path / "cups.html").read_text(encoding="utf-8")
    assert "<title>cups.csv, cup: a: who beats whom</title>" in page
    assert "All 75 rows of cups.csv with cup: a were used." in page


def test_hostile_names_go_through_the_whole_command(call, tmp_path):
    """Markup, formulas, turned text and endless names: told, written, and shown as text."""
    ring = [
        "<script>alert(1)</script>",
        "=cmd()",
        "x" * 500,
        "שלום",
        "a, b beats c",
        "\u202eturned",
    ]
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["winner", "loser"])
    rows.writerows([ring[k % 6], ring[(k + 1 + k // 6 % 2) % 6]] for k in range(240))
    (tmp_path / "ring.csv").write_text(text.getvalue(), encoding="utf-8")
    done = call("report", "ring.csv", "--title", "<b>ring</b>", "--factors", 1, "--no-pairs")
    assert (done.code, done.err) == (0, "")
    assert "\u202e" not in done.out
    page = (tmp_path / "ring.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<b>ring" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_rows_that_were_not_used_are_told(call, tmp_path):
    """What a reader skips, it counts, and the page shows the count."""
    rows = "".join(f"x,y,{k % 2},2026-01-{k + 1:02}\n" for k in range(20))
    (tmp_path / "t.csv").write_text("first,second,outcome,time\n" + rows + "x,x,1,2026-02-01\n")
    done = call("report", "t.csv")
    assert "not used: 1 row (line 22)" in done.out
    assert "Not used: 1 row (line 22)" in (tmp_path / "t.html").read_text(encoding="utf-8")


def test_the_method_writes_the_same_page(wheel, tmp_path):
    """From Python and from the command line alike; a missing folder is refused."""
    answer = Answer.load(wheel)
    one = answer.report(tmp_path / "one.html", title="x")
    two = answer.report(str(tmp_path / "two.html"), title="x")
    assert one.read_bytes() == two.read_bytes()
    with pytest.raises(ValueError, match="there is no folder"):
        answer.report(tmp_path / "no" / "one.html")
    with pytest.raises(ValueError, match="it is a folder"):
        answer.report(tmp_path)


def test_pages_are_called_after_their_tables():
    """The endings of tables and answers are left out."""
    for table, page in (
        ("a/battles.csv.gz", "battles.html"),
        ("battles.intransit", "battles.html"),
        ("v1.2.parquet", "v1.2.html"),
        ("plain", "plain.html"),
    ):
        assert default_page(Path(table)) == Path(page)


def test_contents_are_plain_data(wheel):
    """What is given to machines holds no arrays."""
    answer = Answer.load(wheel)
    found = gather(answer, most_times=2)
    json.dumps(contents(answer, replace(found, ladder=())))
    assert list(cycle_row(found.cycles.found[0])) == list(CYCLE)
