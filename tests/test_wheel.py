"""The wheel: it builds, holds what it needs, and works where the source tree is not."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import intransit

ROOT = Path(__file__).parents[1]
LIBRARIES = sysconfig.get_path("purelib")
GAMES = "winner,loser\n" + "rock,scissors\npaper,rock\nscissors,paper\n" * 20


def run(*command, cwd, **changed):
    """Return what a command says; nothing of this tree is on its path."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**environment, **changed},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"intransit", f"intransit-{intransit.__version__}.dist-info"}
    package = ROOT / "src" / "intransit"
    kept = {
        f"intransit/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert kept <= set(names)  # what is not code too: the page's assets, the chart, py.typed


def test_the_wheel_works_in_an_environment_of_its_own(wheel, tmp_path):
    """Dependencies are those of this environment; the package is the wheel's.

    Loops are not compiled: a wheel in a new place has no cache, and compiling takes a minute.
    """
    place = tmp_path / "env"
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    (own,) = place.glob("lib/python*/site-packages")
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"),
        wheel,
        cwd=tmp_path,
    )
    beside = (
        own / "beside.pth"
    )  # no .pth file of that folder is read, so no editable install either
    beside.write_text(f"{LIBRARIES}\n")
    where = run(python, "-c", "import intransit; print(intransit.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(own)
    script = place / "bin" / "intransit"
    assert run(script, "--version", cwd=tmp_path).strip() == intransit.__version__
    (tmp_path / "games.csv").write_text(GAMES)
    few = ("--effective", 5, "--factors", 1, "--no-pairs")
    said = run(script, "report", "games.csv", *few, cwd=tmp_path, NUMBA_DISABLE_JIT="1")
    assert "There are cycles" in said
    assert (tmp_path / "games.html").read_text(encoding="utf-8").startswith("<!doctype html>")
