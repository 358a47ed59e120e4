"""Tables on the command line: covariates, standard input, several files."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from intransit import Answer
from intransit.cli.inputs import TableOptions
from intransit.data import games as games_module

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")


def test_covariates_are_named_and_counted(call, tmp_path):
    (tmp_path / "t.csv").write_text("winner,loser,surface\na,b,clay\nb,c,grass\nc,a,\na,c,clay\n")
    done = call("read", "t.csv", "--by", "surface")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "by surface named" in lines
    assert "by surface clay 50.0 %, grass 25.0 %; empty in 1 games" in lines
    refused = call("read", "t.csv", "--by", "surfaces")
    assert refused.code == 2
    assert 'did you mean "surface"?' in refused.err


def test_a_table_may_come_through_a_pipe_or_in_parts(call, tmp_path):
    """`-` is the standard input; a pattern names several files."""
    text = "winner,loser\na,b\nb,c\nc,a\n"
    run = [sys.executable, "-c", "from intransit.cli import main; main()", "read"]
    done = subprocess.run([*run, "-"], input=text, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("standard input: 3 of 3 rows used\n")
    for k in (1, 2):
        (tmp_path / f"g{k}.csv").write_text(text)
    assert "6 of 6 rows used" in call("read", tmp_path / "g*.csv").out


def test_results_that_a_row_tells_several_of_are_not_called_rows(call, tmp_path):
    """Three rows of games won of games played, and one that cannot be used."""
    table = tmp_path / "tally.csv"
    table.write_text("a,b,wins,games\nx,y,12,20\ny,z,11,20\nx,z,9,20\nx,x,1,2\n")
    told = call("read", table).out
    assert "6 of 8 results used" in told
    assert "results not used" in told


def test_periods_and_days_are_told_by_options(call, tmp_path):
    (tmp_path / "t.csv").write_text("winner,loser,split\na,b,Spring\nb,c,Autumn\nc,a,Summer\n")
    done = call("read", "t.csv", "--time", "split", "--order", "Spring,Summer,Autumn")
    assert "Spring to Autumn, 3 different times" in done.out
    (tmp_path / "d.csv").write_text("winner,loser,date\na,b,01/02/2024\nb,c,03/02/2024\n")
    assert "2024-02-01 to 2024-02-03" in call("read", "d.csv", "--day-first").out
    assert "2024-01-02 to 2024-03-02" in call("read", "d.csv", "--month-first").out
    refused = call("read", "d.csv")
    assert (refused.code, "--day-first or --month-first" in refused.err) == (2, True)


def test_shapes_are_told_by_options(call, tmp_path):
    (tmp_path / "m.csv").write_text(",x,y,z\nx,,6,3\ny,,,8\nz,,,\n")
    refused = call("read", "m.csv")
    assert (refused.code, "--entries" in refused.err) == (2, True)
    assert "games           17" in call("read", "m.csv", "--entries", "wins").out
    (tmp_path / "r.csv").write_text(",x,y,z\nx,,0.6,0.3\ny,,,0.8\nz,,,\n")
    assert "games           17" in call("read", "r.csv", "--games", "m.csv").out
    (tmp_path / "t.csv").write_text("p,q,r,s,up\na,b,c,d,1\nc,d,a,b,0\n")
    done = call("read", "t.csv", "--first", "p,q", "--second", "r,s", "--shape", "teams",
                "--outcome", "up", "--without", "count")  # fmt: skip
    assert "2 of 2 results used" in done.out
    assert "2 a side" in done.out
    (tmp_path / "o.csv").write_text("when,who,came\n1,x,1\n1,y,2\n2,y,1\n2,x,2\n")
    done = call("read", "o.csv", "--first", "who", "--place", "came", "--event", "when")
    assert "2 finishing orders" in done.out
    (tmp_path / "g.csv").write_text("a,b,score\nx,y,-3\nx,z,1\nx,w,0\ny,z,3\n")
    assert "margins" in call("read", "g.csv", "--grades", "-3,-2,-1,0,1,2,3").out


def test_updates_at_once_are_all_recorded_and_a_link_stays_one(tmp_path, kept):
    """Commands that change one answer wait for each other; none is lost."""
    answer = tmp_path / "real.intransit"
    answer.write_bytes((kept / "games.intransit").read_bytes())
    link = tmp_path / "link.intransit"
    link.symlink_to(answer)
    for k in range(2):
        (tmp_path / f"new{k}.csv").write_text(
            f"date,a,b,outcome\n2027-01-0{k + 1},newcomer {k},another {k},1\n"
        )
    code = "from intransit.cli import main; main()"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, "update", link, tmp_path / f"new{k}.csv"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for k in range(2)
    ]
    said = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert link.is_symlink()
    names = Answer.load(answer).names
    assert {f"newcomer {k}" for k in range(2)} <= set(names)
    assert not list(tmp_path.glob(".*"))


def test_an_interrupted_reading_ends_with_130_and_one_line(tmp_path):
    code = (
        "import os, threading\nfrom intransit.data import engine\n"
        "from intransit.cli import main\n"
        "whole = engine.Engine.ask\n"
        "def ask(self, query, values=None):\n"
        "    threading.Timer(0.3, os.kill, (os.getpid(), 2)).start()\n"
        "    return whole(self, 'SELECT sum(sqrt(a.i * b.i)) FROM range(999999) a(i), '\n"
        "                 'range(999999) b(i)')\n"
        "engine.Engine.ask = ask\nmain()"
    )
    (tmp_path / "t.csv").write_text("winner,loser\na,b\n")
    done = subprocess.run(
        [sys.executable, "-c", code, "read", tmp_path / "t.csv"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (130, "intransit: interrupted.\n")


def test_every_option_that_a_hint_names_exists():
    """A hint once named `time=False` to people at the command line, where it is --without time."""
    source = Path(games_module.__file__).parent
    hints = {
        (path.name, option)
        for path in source.glob("*.py")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", path.read_text(encoding="utf-8"))
    }
    known = {f"--{field.name.replace('_', '-')}" for field in fields(TableOptions)} | {
        "--month-first"
    }
    assert hints
    assert {hint for hint in hints if hint[1] not in known} == set()
