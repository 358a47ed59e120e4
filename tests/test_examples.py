"""Every example runs as a user would run it, says something, and warns of nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(path, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) >= 3
    assert "nan" not in run.stdout
    assert list(tmp_path.iterdir()) == []  # and leaves nothing behind


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_opens_with_what_it_shows(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 40
    assert source.startswith('"""')
