"""Every example runs, says something, and warns of nothing."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.usefixtures("each_fit_once")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(path, tmp_path, monkeypatch, capsys):
    """As a script, where warnings are errors; in this process, as loading takes longest."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out
    assert len(said.splitlines()) >= 3
    assert "nan" not in said
    assert list(tmp_path.iterdir()) == []  # and leaves nothing behind


def test_an_example_runs_in_a_process_of_its_own(tmp_path):
    """With nothing loaded before it; one that fits nothing."""
    (path,) = (path for path in EXAMPLES if path.stem == "study_a_matrix")
    command = [sys.executable, "-W", "error", str(path)]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_opens_with_what_it_shows(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 40
    assert source.startswith('"""')
