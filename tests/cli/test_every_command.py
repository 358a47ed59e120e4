"""What all commands have in common: help, forms of output, exit codes, names, pipes, completion."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from intransit import Games, cli, fit
from intransit.cli.inputs import TableOptions, conditions
from intransit.cli.output import Output, grid, open_console, to_csv, to_json, visible
from intransit.data.reading import ROLES
from intransit.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
NAMES = [name for name in cli.COMMANDS if not name.startswith("-")]
SCRIPT = Path(sys.executable).with_name("intransit")
GUIDE = Path(__file__).parents[2] / "docs" / "commands.md"


def arguments(kept):
    """Return quick arguments for each command that gives data."""
    model, table = kept / "games.intransit", kept / "games.csv"
    return {
        "read": [table],
        "fit": [table, "--factors", 0, "--no-pairs", "--effective", 20],
        "predict": [model, "item 1", "item 2"],
        "rank": [model],
        "matrix": [model],
        "update": [model, kept / "late.csv", "--out", "new.intransit"],
        "backtest": [table, "--quick", "--ladder", "coin,Elo"],
        "simulate": ["--out", "made.csv", "--games", 50],
    }


COMMANDS = list(arguments(Path()))


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_that_the_output_holds(call, kept, command):
    done = call(command, *arguments(kept)[command], "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)


@pytest.mark.parametrize("command", COMMANDS)
def test_csv_is_all_that_the_output_holds(call, kept, command):
    done = call(command, *arguments(kept)[command], "--csv")
    assert done.code == 0, done.err
    rows = list(csv.reader(io.StringIO(done.out)))
    assert len(rows) >= 2
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_people_get_a_table_and_nothing_on_the_side(call, kept, command):
    done = call(command, *arguments(kept)[command])
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) >= 2
    assert "\x1b" not in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_one_form_at_a_time(call, kept, command):
    done = call(command, *arguments(kept)[command], "--json", "--csv")
    assert (done.code, done.out) == (2, "")
    assert done.err == "intransit: --json and --csv: give one of them, not both.\n"


@pytest.mark.parametrize("command", NAMES)
def test_help_begins_with_an_example_that_the_guide_has_too(call, command):
    done = call(command, "--help")
    assert done.code == 0
    assert re.match(rf"Examples?:\n  intransit {command}", done.out)
    guide = GUIDE.read_text(encoding="utf-8")
    for example in cli.COMMANDS[command][3]:
        assert f"intransit {example}" in guide


@pytest.mark.parametrize("command", NAMES)
def test_every_option_is_explained(call, command):
    """In the help, after each option's name there are words, not the default alone."""
    out = call(command, "--help").out
    pattern = r"^│ (?:\*  |   )?((?:--[a-z]|[A-Z]{3}).*)│$"
    options = re.findall(pattern, out, re.MULTILINE)
    assert options
    for line in options:
        assert re.search(r"\s{2,}[A-Z\"].*[a-z]", line), line


def test_help_is_there_before_the_commands_are_loaded():
    code = (
        "import sys; from intransit import cli\n"
        "try: cli.app(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith('intransit.cli.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert loaded == "[]"


@pytest.mark.parametrize("command", ["predict", "rank", "matrix", "update"])
def test_a_table_in_place_of_an_answer(call, kept, command):
    given = arguments(kept)[command]
    done = call(command, kept / "games.csv", *given[1:])
    assert done.code == 2
    assert "games.csv: it is a table; first run `intransit fit" in done.err
    gone = call(command, "missing.intransit", *given[1:])
    assert gone.code == 2
    assert gone.err == "intransit: missing.intransit: there is no such file.\n"


@pytest.mark.parametrize("command", ["read", "fit", "update", "backtest"])
def test_a_column_that_is_not_there(call, kept, command):
    done = call(command, *arguments(kept)[command], "--time", "moment")
    assert (done.code, done.out) == (2, "")
    assert "moment" in done.err
    assert done.err.startswith("intransit: ")
    assert done.err.count("\n") == 1


def test_conditions_say_what_is_wrong():
    assert conditions(["a=b", "c=d=e"], "--where", "a=b") == {"a": "b", "c": "d=e"}
    for given, word in (
        (["a"], "format=Modern"),
        (["=b"], "format=Modern"),
        (["a=1", "a=2"], "one"),
    ):
        with pytest.raises(InputError, match=word):
            conditions(given, "--where", "format=Modern")


def test_a_role_can_be_left_out(call, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b,margin,date\nx,y,3,2025-01-01\ny,z,-1,2025-01-02\n")
    assert "date" in call("read", table).out
    left = json.loads(call("read", table, "--without", "time", "--json").out)
    assert "time" not in {column["role"] for column in left["columns"]}
    assert "it may be first" in call("read", table, "--without", "colour").err
    both = call("read", table, "--without", "time", "--time", "date")
    assert (both.code, "one of the two" in both.err) == (2, True)
    assert set(ROLES) <= set(TableOptions.__dataclass_fields__)


def test_names_are_never_markup(call, tmp_path):
    names = ["[bold]x[/bold]", ":smile: [red]", "[/]", "back\x1b[2Jspace"]
    games = Games.from_arrays(names, names[1:] + names[:1], [1, 0, 1, 1], [1, 2, 3, 4])
    fit(games, effective=5, seconds=4).save(tmp_path / "odd.intransit")
    for command in ("rank", "matrix"):
        out = call(command, "odd.intransit").out
        assert all(name in out for name in names[:3])
        assert "\x1b" not in out
        assert "back\\x1b[2Jspace" in out
    found = call("predict", "odd.intransit", *names[:2])
    assert found.out.startswith("[bold]x[/bold] against :smile: [red]")
    wrong = call("predict", "odd.intransit", "[bold]", "[red]")
    assert wrong.code == 2
    assert "has no item '[bold]'" in wrong.err


def test_a_closed_pipe_is_quiet(kept):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [SCRIPT, "rank", kept / "games.intransit", "--csv"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_one_sentence(kept):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [SCRIPT, "matrix", kept / "games.intransit", "--csv"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


def test_an_interrupt_ends_with_130(call, kept, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("intransit.cli.ask.open_answer_at", interrupt)
    done = call("rank", kept / "games.intransit")
    assert (done.code, done.err) == (130, "intransit: interrupted.\n")


def test_the_completion_script_is_shown_and_nothing_is_touched(call, tmp_path):
    done = call("--show-completion", "bash")
    assert done.code == 0
    assert "backtest" in done.out
    assert "--first-score" in done.out
    subprocess.run(["bash", "-n"], input=done.out, text=True, check=True)
    assert not (tmp_path / "home").exists()


def test_completion_in_a_place_of_ones_own_leaves_startup_files_alone(call, tmp_path):
    done = call("--install-completion", "zsh", "--out", "mine")
    assert done.code == 0
    assert "#compdef intransit" in (tmp_path / "mine").read_text()
    assert not (tmp_path / "home").exists()


def test_completion_in_its_usual_place_is_loaded_at_startup(call, tmp_path):
    done = call("--install-completion", "bash")
    assert done.code == 0
    scripts = [p for p in (tmp_path / "home").rglob("*") if p.name == "intransit"]
    assert len(scripts) == 1
    assert str(scripts[0]) in (tmp_path / "home" / ".bashrc").read_text()


def test_numbers_that_are_none_and_lists():
    assert json.loads(to_json({"a": float("nan"), "b": [1.0, float("inf")]})) == {
        "a": None,
        "b": [1.0, None],
    }
    assert to_csv([{"a": ["x", "y"], "b": None}]) == "a,b\nx; y,\n"
    assert to_csv([]) == ""
    assert visible("a\tb") == "a\\tb"


def test_without_a_terminal_tables_have_room(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    table = grid(["name", "#n"], [["x" * 100, "1"]])
    open_console().print(table)
    assert "x" * 100 in capsys.readouterr().out
    assert Output().for_machines is False


def test_a_model_of_ones_own_is_named_by_its_module(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_models_here.py").write_text(
        "class Half:\n"
        "    def learn(self, games):\n        pass\n"
        "    def predict(self, fixtures):\n        return [0.5] * len(fixtures)\n"
    )
    rows = "\n".join(f"x{k % 3},x{(k + 1) % 3},{k % 2}" for k in range(90))
    (tmp_path / "t.csv").write_text(f"a,b,outcome\n{rows}\n")
    done = call("backtest", "t.csv", "--ladder", "coin", "--with", "my_models_here:Half", "--json")
    assert [rung["name"] for rung in json.loads(done.out)["rungs"]] == ["coin", "Half"]
    for place, words in (
        ("my_models_here", "give a module and a name"),
        ("my_models_here:None_", "my_models_here has no None_"),
        ("not_there_at_all:X", "run it from the folder that has it"),
    ):
        done = call("backtest", "t.csv", "--with", place)
        assert done.code == 2
        assert words in done.err
