"""One small table and one answer for all commands, and a way to call them as a user does."""

import sys
from collections import namedtuple

import pytest

from intransit import cli, fit, read
from intransit.answers.metagame import simulate_games
from intransit.commands.output import to_csv
from intransit.commands.simulating import game_rows

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
    answer = fit(read(folder / "games.csv"), factors=0, pairs=False)
    answer.save(folder / "games.intransit")
    return folder


@pytest.fixture
def model(kept, tmp_path):
    """A copy of the answer that a test may change."""
    copy = tmp_path / "games.intransit"
    copy.write_bytes((kept / "games.intransit").read_bytes())
    return copy
