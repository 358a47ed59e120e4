"""Read, fit and update: what is said, what is written, and what is left alone."""

import errno
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from intransit import Answer
from intransit.cli.inputs import default_place
from intransit.cli.output import Elapsed
from intransit.model import Factors, PairEffects, Scores, Still

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
PLAIN = ("--factors", 0, "--no-pairs", "--effective", 20)


def test_read_says_what_it_understood(call, tmp_path):
    table = tmp_path / "votes.csv"
    table.write_text(
        "model_a,model_b,winner,tstamp\nx,y,model_a,2025-01-01\nx,x,tie,2025-01-02\n"
        "y,z,tie,2025-01-03\nx,z,model_b,never\nz,x,model_b,2025-01-05\nx,y,model_b,2025-01-06\n"
    )
    done = call("read", "votes.csv")
    assert done.out.startswith("votes.csv: 4 of 6 rows used\n")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert any(line.startswith("first model_a") for line in lines)
    assert "1 an item is compared with itself 3" in lines
    assert "1 the time is not a date 5" in lines
    assert "span 2025-01-01 to 2025-01-06, 4 different times" in lines
    assert "pairs that met 2 of 3" not in lines
    data = json.loads(call("read", "votes.csv", "--json").out)
    assert (data["n_rows"], data["n_used"], data["n_unused"]) == (6, 4, 2)
    assert [part["lines"] for part in data["unused"]] == [[3], [5]]
    refused = call("read", "votes.csv", "--strict")
    assert refused.code == 2
    assert "2 of 6 rows cannot be used" in refused.err


def test_read_tells_of_groups_that_never_met(call, tmp_path):
    (tmp_path / "t.csv").write_text("winner,loser\na,b\nc,d\nb,a\n")
    assert "2 that never met" in call("read", "t.csv").out


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ("magic.csv.gz", "magic.intransit"),
        ("folder/games.2024.parquet", "games.2024.intransit"),
        ("plain", "plain.intransit"),
        ("A.JSONL.ZST", "A.intransit"),
        ("games-*.csv.xz", "games.intransit"),
        ("-", "table.intransit"),
    ],
)
def test_the_answer_is_named_after_the_table(table, place):
    assert str(default_place(__import__("pathlib").Path(table))) == place


def test_fit_tells_what_it_chose_and_where_it_is(call, kept, tmp_path):
    done = call("fit", kept / "games.csv", *PLAIN)
    assert (done.code, done.err) == (0, "")
    assert "500 of 500 rows, 7 items" in done.out
    assert "Model: " in done.out
    assert "The answer is in games.intransit" in done.out
    assert "Try: intransit predict games.intransit 'item " in done.out
    answer = Answer.load(tmp_path / "games.intransit")
    assert answer.n_items == 7
    again = call("fit", kept / "games.csv", *PLAIN, "--json")  # over an older answer: fine
    data = json.loads(again.out)
    assert data["model"] == "games.intransit"
    assert len(data["standings"]) == 7
    assert "The answer is in games.intransit" in again.err


def test_the_next_command_that_fit_names_works(call, kept):
    said = call("fit", kept / "games.csv", *PLAIN).out
    line = next(line for line in said.splitlines() if line.startswith("Try: intransit "))
    import shlex  # noqa: PLC0415

    assert call(*shlex.split(line)[2:]).code == 0


def test_the_next_command_is_about_two_that_can_be_compared(call, tmp_path):
    """Of the two strongest of groups that never met nothing is known."""
    rows = ["first,second,winner", *["a,b,a", "c,d,c"] * 9, "e,f,e", "a,b,b"]
    (tmp_path / "apart.csv").write_text("\n".join(rows))
    said = call("fit", "apart.csv", *PLAIN).out
    pair = next(line for line in said.splitlines() if line.startswith("Try: ")).split()[-2:]
    assert set(pair) in ({"a", "b"}, {"c", "d"}, {"e", "f"})


def test_settings_of_the_model_are_obeyed(call, kept, tmp_path):
    given = ("--factors", 1, "--pairs", "--no-drifting", "--effective", 5, "--seed", 7)
    call("fit", kept / "games.csv", *given)
    answer = Answer.load(tmp_path / "games.intransit")
    still = Still()
    assert answer.model == Scores(walk=still) + Factors(1, walk=still) + PairEffects(walk=still)
    assert not answer.model.moves
    assert answer.posterior.mixing.wanted == 5
    first = (tmp_path / "games.intransit").read_bytes()
    call("fit", kept / "games.csv", *given[:-1], 8)
    other = Answer.load(tmp_path / "games.intransit")
    assert other.probability("item 1", "item 2") != answer.probability("item 1", "item 2")
    assert first != (tmp_path / "games.intransit").read_bytes()


def test_fit_tells_machines_how_well_the_chains_mixed(call, kept):
    data = json.loads(call("fit", kept / "games.csv", *PLAIN, "--json").out)
    mixing = data["mixing"]
    assert (mixing["chains"], mixing["reached"]) == (2, True)
    assert mixing["effective_worst_pair"] >= 20
    assert mixing["r_hat_worst_pair"] < 1.1
    short = call("fit", kept / "games.csv", "--seconds", 1, "--effective", 1e6, "--json")
    assert json.loads(short.out)["mixing"]["reached"] is False


def test_columns_named_with_by_are_in_the_model(call, by_surface, tmp_path):
    done = call("fit", by_surface, "--by", "surface", *PLAIN)
    assert (done.code, done.err) == (0, "")
    assert "deviations by surface" in done.out
    answer = Answer.load(tmp_path / "by_surface.intransit")
    clay, grass = (answer.probability("a", "b", under={"surface": s}) for s in ("clay", "grass"))
    assert clay.low > 0.5 > grass.high


def test_an_update_must_name_the_column_too(call, by_surface):
    call("fit", by_surface, "--by", "surface", *PLAIN)
    done = call("update", "by_surface.intransit", by_surface)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "surface" in done.err


@pytest.mark.parametrize(
    ("option", "word"),
    [
        (("--factors", -1), "--factors"),
        (("--factors", 9), "factors"),
        (("--seed", -1), "--seed"),
        (("--seconds", 0), "seconds"),
        (("--effective", 0), "effective"),
        (("--by", "surface"), "surface"),
        (("--out", "no/f"), "no folder"),
    ],
)
def test_bad_settings_are_refused_before_any_work(call, kept, option, word):
    done = call("fit", kept / "games.csv", *option)
    assert (done.code, done.out) == (2, "")
    assert word in done.err


def test_nothing_else_is_overwritten(call, kept, tmp_path):
    mine = tmp_path / "games.intransit"
    mine.write_text("my notes")
    done = call("fit", kept / "games.csv", *PLAIN)
    assert done.code == 2
    assert "is not an intransit answer; choose another place" in done.err
    assert mine.read_text() == "my notes"
    folder = call("fit", kept / "games.csv", "--out", tmp_path)
    assert (folder.code, "it is a folder" in folder.err) == (2, True)


def test_update_is_close_to_a_fit_of_everything(call, kept, tmp_path):
    assert call("fit", kept / "early.csv", *PLAIN, "--out", "m.intransit").code == 0
    before = Answer.load(tmp_path / "m.intransit")
    done = call("update", "m.intransit", kept / "late.csv")
    assert (done.code, done.err) == (0, "")
    assert "Added 100 games and 0 new items." in done.out
    assert "The verdict is on the first 400 of 500 games" in done.out
    updated, whole = (
        Answer.load(place) for place in (tmp_path / "m.intransit", kept / "games.intransit")
    )
    gap = np.abs(updated.matrix("2025-03-01") - whole.matrix("2025-03-01")).max()
    moved = np.abs(before.matrix("2025-03-01") - whole.matrix("2025-03-01")).max()
    assert gap < 0.03 < moved


def test_update_names_new_items_and_games_of_the_past(call, model, tmp_path):
    (tmp_path / "new.csv").write_text(
        "date,first,second,outcome\n2025-03-02,[new] one,item 1,1\n2025-01-05,item 2,item 3,0.5\n"
    )
    old = model.read_bytes()
    done = call("update", model, "new.csv", "--out", "other.intransit")
    assert "Added 2 games and 1 new item: [new] one." in done.out
    assert "1 game from before 2025-03-01" in done.out
    assert model.read_bytes() == old
    assert Answer.load(tmp_path / "other.intransit").names[-1] == "[new] one"
    data = json.loads(call("update", model, "new.csv", "--json").out)
    assert (data["n_games_added"], data["items_added"]) == (2, ["[new] one"])
    assert model.read_bytes() != old


def test_times_of_another_kind_are_refused(call, model, tmp_path):
    (tmp_path / "new.csv").write_text("time,first,second,outcome\n5,item 1,item 2,1\n")
    old = model.read_bytes()
    done = call("update", model, "new.csv")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert model.read_bytes() == old


@pytest.mark.parametrize("stage", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_answer(call, kept, model, monkeypatch, stage):
    old, before = model.read_bytes(), sorted(os.listdir(model.parent))

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(f"intransit.checks.os.{stage}", fail)
    done = call("update", model, kept / "late.csv")
    assert done.code == 1
    assert "No space left on device" in done.err
    assert model.read_bytes() == old
    assert sorted(os.listdir(model.parent)) == before


def test_a_process_that_is_killed_leaves_the_old_answer(kept, model):
    old = model.read_bytes()
    code = (
        "import os, sys; from intransit import cli\n"
        "os.fsync = lambda _: os.kill(os.getpid(), 9)\n"
        f"sys.argv = ['intransit', 'update', {str(model)!r}, {str(kept / 'late.csv')!r}]\n"
        "cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -9
    assert model.read_bytes() == old


def test_a_table_given_for_an_answer_is_told_so(call, kept):
    """Whoever updates a table is told to fit it first, not that it would be overwritten."""
    done = call("update", kept / "early.csv", kept / "late.csv")
    assert done.code == 2
    assert "it is a table; first run `intransit fit" in done.err


def test_a_table_of_one_day_says_so(call, tmp_path):
    """One time is no span: it is told once."""
    (tmp_path / "day.csv").write_text("a,b,outcome,date\nx,y,1,2025-01-01\ny,z,0,2025-01-01\n")
    lines = [" ".join(line.split()) for line in call("read", "day.csv").out.splitlines()]
    assert "span all at 2025-01-01" in lines


def test_a_file_that_cannot_be_written_goes_by_its_own_name(call, kept, tmp_path, monkeypatch):
    """Not by that of the temporary file beside it."""

    def refuse(**_):
        raise OSError(28, "No space left on device", "/.games.csv.x1y2")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    done = call("simulate", "--out", "games.csv", "--games", "10")
    assert done.code == 1
    assert done.err.startswith("intransit: games.csv: No space left on device.")


def test_long_work_shows_for_how_long_it_has_gone_on(monkeypatch):
    """The seconds are those since this stage began."""
    clock = iter([10.0, 10.4, 12.6])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    shown = Elapsed("testing for cycles")
    assert [str(shown.__rich__()) for _ in range(2)] == [
        "testing for cycles",
        "testing for cycles (2 s)",
    ]
