"""`--each COLUMN`: one fit for each value, one page with tabs, one file for each answer."""

import json

import pytest

from intransit import Answer
from intransit.cli.inputs import is_page

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
QUICK = ("--factors", 0, "--no-pairs", "--effective", 2)


@pytest.fixture
def table(tmp_path):
    """Two formats with thirty games each, one with two."""
    place = tmp_path / "games.csv"
    rows = [f"{'abc'[k % 3]},{'bca'[k % 3]},{int(k % 5 > 0)},Old & new" for k in range(30)]
    rows += [f"{'xyz'[k % 3]},{'yzx'[k % 3]},{int(k % 4 > 0)},../<b>" for k in range(30)]
    rows += ["a,x,1,Rare"] * 2
    place.write_text("\n".join(["first,second,outcome,format", *rows]))
    return place


def test_one_page_has_a_tab_for_each_group(call, table, tmp_path):
    done = call("report", table, "--each", "format", *QUICK)
    assert (done.code, done.err) == (0, "")
    assert "Too few games to fit: 2 games" in done.out
    assert "The page is in games.html (" in done.out
    page = (tmp_path / "games.html").read_text(encoding="utf-8")
    assert is_page(tmp_path / "games.html")
    assert page.count("<iframe") == 2
    assert "<b>" not in page
    assert "../&lt;b&gt;" in page


def test_machines_get_a_line_on_each_group(call, table):
    done = call("report", table, "--each", "format", *QUICK, "--json")
    told = json.loads(done.out)
    assert [line["value"] for line in told["groups"]] == ["../<b>", "Old & new", "Rare"]
    assert told["groups"][0]["leader"] in {"x", "y", "z"}
    assert told["groups"][2]["leader"] == ""
    rows = call("report", table, "--each", "format", *QUICK, "--csv").out.splitlines()
    assert rows[0] == "value,n_items,n_games,verdict,leader,strength,low,high,clear"
    assert len(rows) == 4


def test_fit_keeps_one_file_for_each_group(call, table, tmp_path):
    done = call("fit", table, "--each", "format", *QUICK)
    assert (done.code, done.err) == (0, "")
    found = sorted(place.name for place in tmp_path.glob("*.intransit"))
    assert found == ["games-Old-new.intransit", "games-b.intransit"]
    assert Answer.load(tmp_path / "games-b.intransit").names == ("x", "y", "z")
    assert "Old & new: the answer is in games-Old-new.intransit." in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--each", "colour"), "colour"),
        (("--each", "format", "--backtest"), "--backtest: it cannot be used with --each"),
        (("--each", "format", "--model-out", "x.intransit"), "--model-out"),
    ],
)
def test_what_groups_cannot_have_is_refused(call, table, options, said):
    done = call("report", table, *options)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") <= 3


def test_an_answer_has_no_groups(call, table):
    assert call("fit", table, *QUICK).code == 0
    done = call("report", "games.intransit", "--each", "format")
    assert (done.code, "--each can be used with a table only" in done.err) == (2, True)
