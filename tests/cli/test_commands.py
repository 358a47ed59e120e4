"""The command line: what it prints, what it leaves behind, and how it fails."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import intransit
from intransit import cli
from intransit.cli import _remarks

# Arguments come from sys.argv, as they do for a user; Cyclopts wonders about that in a test.
pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")


def run(monkeypatch, capsys, *arguments):
    """Run the command in this process; return its exit code and both outputs."""
    monkeypatch.setattr(sys, "argv", ["intransit", *map(str, arguments)])
    try:
        cli.main()
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    out, err = capsys.readouterr()
    return code, out, err


def test_help_names_every_command(monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "--help")
    assert code == 0
    assert "Usage: intransit" in out
    for command in commands():
        assert command in out


def test_the_version_is_the_packages(monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "--version")
    assert (code, out.strip()) == (0, intransit.__version__)


def test_every_command_explains_itself(monkeypatch, capsys):
    for command in commands():
        code, out, _ = run(monkeypatch, capsys, command, "--help")
        assert code == 0
        assert f"intransit {command}" in out


def test_a_file_in_the_way_is_one_sentence(monkeypatch, capsys, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    code, _, err = run(monkeypatch, capsys, "demo", "--out", taken)
    assert code != 0
    assert err.startswith("intransit: ")
    assert "taken" in err.replace("\n", "")
    assert "Traceback" not in err
    assert taken.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["frobnicate"], "frobnicate"),
        (["demo", "--seed", "many"], "many"),
        (["demo", "--sed", "1"], "--sed"),
        (["demo", "--seed", "-1"], "-1"),
    ],
)
def test_what_is_not_understood_is_named(arguments, word, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert code == 2
    assert word in out + err
    assert "Traceback" not in out + err


def test_a_warning_of_ours_is_a_sentence(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with _remarks():
            warnings.warn("[x] stopped early.", intransit.ConvergenceWarning, stacklevel=1)
    assert capsys.readouterr().err == "intransit: [x] stopped early.\n"


def test_every_command_has_a_group_an_address_and_an_example():
    for name, (_, address, words, examples) in cli.COMMANDS.items():
        assert words.endswith(".")
        assert ":" in address
        assert all(example.startswith(name) for example in examples)


@pytest.mark.parametrize("way", ["script", "module"])
def test_the_installed_command_runs(tmp_path, way):
    """In a process of its own, as users call it."""
    script, module = [Path(sys.executable).with_name("intransit")], [sys.executable, "-m"]
    begin = script if way == "script" else [*module, "intransit"]
    done = subprocess.run(
        [*begin, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, intransit.__version__)
    failed = subprocess.run(
        [*begin, "frobnicate"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert failed.returncode == 2


def commands():
    return [name for name in cli.app if not name.startswith("-")]
