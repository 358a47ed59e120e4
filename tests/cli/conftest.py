"""One small table and one answer for all commands, and a way to call them as a user does."""

import sys
from collections import namedtuple

import numpy as np
import pytest

from intransit import cli, fit, read
from intransit.cli.output import to_csv
from intransit.cli.simulate import game_rows
from intransit.datasets import simulate_games
from intransit.model import Model, Scores

Done = namedtuple("Done", "code out err")


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run a command in this process, in a folder and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["intransit", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def played():
    """Games of seven items, with ties, and their truth."""
    return simulate_games(7, 500, n_days=60, cyclic=0.3, ties=0.2, rng=3)


@pytest.fixture(scope="session")
def kept(played, tmp_path_factory):
    """The games as a table, its first and last part, and the answer to all of it."""
    folder = tmp_path_factory.mktemp("kept")
    rows = game_rows(played[0])
    (folder / "games.csv").write_text(to_csv(rows))
    (folder / "early.csv").write_text(to_csv(rows[:400]))
    (folder / "late.csv").write_text(to_csv(rows[400:]))
    answer = fit(read(folder / "games.csv"), model=Model((Scores(),)))
    answer.save(folder / "games.intransit")
    return folder


@pytest.fixture
def model(kept, tmp_path):
    """A copy of the answer that a test may change."""
    copy = tmp_path / "games.intransit"
    copy.write_bytes((kept / "games.intransit").read_bytes())
    return copy


@pytest.fixture(scope="session")
def by_surface(tmp_path_factory):
    """A table of equals, of whom a likes clay and b likes grass."""
    rng = np.random.default_rng(0)
    first = rng.integers(3, size=300)
    second = (first + rng.integers(1, 3, size=300)) % 3
    on, likes = rng.integers(2, size=300), np.array([1.5, -1.5, 0.0])
    x = np.where(on == 0, 1.0, -1.0) * (likes[first] - likes[second])
    won = (rng.random(300) < 1.0 / (1.0 + np.exp(-x))).astype(int)
    rows = [
        {"first": "abc"[i], "second": "abc"[j], "outcome": int(y), "surface": ("clay", "grass")[k]}
        for i, j, y, k in zip(first, second, won, on, strict=True)
    ]
    place = tmp_path_factory.mktemp("by") / "by_surface.csv"
    place.write_text(to_csv(rows))
    return place
