"""The demo: what it says, that it says the truth, and what it leaves behind."""

import csv
import re
import sys
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from intransit import fit, read
from intransit.cli import demo
from intransit.cli import demo as demonstrating
from intransit.cli.demo import recover_chart
from intransit.cli.output import Output
from intransit.datasets import hide, metagame, pokemon_types, simulate_games
from intransit.inference.sampling import Effort

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
SEED = 1  # not the one that is taken where none is given


def draw_less(patch):
    """Let the demo hide its chart in two ways, and draw little: it says as much."""
    patch.setattr(demonstrating, "HIDINGS", 2)
    patch.setattr(demonstrating, "Effort", partial(Effort, effective=10.0, most_draws=100))
    patch.setattr(demonstrating, "fit", partial(fit, effective=20))


@pytest.fixture
def small(monkeypatch):
    """Put a smaller metagame, clearly cyclic, in the place of the bundled one."""
    draw_less(monkeypatch)
    games = simulate_games(5, 800, n_days=12, cyclic=0.8, spread=2.0, memory=1000.0, rng=1)
    monkeypatch.setattr(demonstrating, "metagame", lambda: games)
    return games


def test_the_demo_from_end_to_end(call, small, words, tmp_path):
    """It recovers, reports, compares with the truth, and says in three sentences what was found.

    Of the chart it says what the same seed said before.
    """
    done = call("demo", "--out", tmp_path / "new" / "folder", "--seed", SEED)
    assert (done.code, done.err) == (0, "")
    folder = tmp_path / "new" / "folder"
    assert {file.name for file in folder.iterdir()} == {
        "pokemon.png",
        "metagame.csv",
        "metagame.html",
    }
    assert (folder / "pokemon.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "metagame.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    for figure in (r"all readings of all generations +│ +0\.\d\d", r"verdict +│ cycles +│ cycles"):
        assert re.search(figure, done.out)
    (errors,) = re.findall(r"^Pairs read in another generation: .*\.$", words[0], re.MULTILINE)
    assert errors in done.out.splitlines()
    *_, third, last = done.out.strip().splitlines()
    assert third.endswith(".")
    assert last.startswith(f"The page is {folder / 'metagame.html'}")
    check_table(folder / "metagame.csv", small[0])


def check_table(table, games):
    """One line a game, read back as the games that were simulated."""
    with table.open(newline="", encoding="utf-8") as lines:
        assert len(list(csv.DictReader(lines))) == games.counts.sum()
    back = read(table)
    assert back.names == games.names
    for name in ("first", "second", "outcomes", "times", "counts"):
        np.testing.assert_array_equal(getattr(back, name), getattr(games, name))


def test_the_bundled_metagame_is_the_one_shown():
    """Without a test in between, the demo takes its games from the bundled data."""
    assert demonstrating.metagame is metagame


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """What is said of the chart where there is no matplotlib, and the folder for the picture."""
    folder = tmp_path_factory.mktemp("chart")
    with pytest.MonkeyPatch.context() as patch:
        draw_less(patch)
        patch.setitem(sys.modules, "matplotlib", None)  # no picture, which takes longest
        console = Console(record=True, width=120, quiet=False, file=(folder / "log").open("w"))
        output = type("Recorded", (Output,), {"console": console})()
        recover_chart(folder / "pokemon.png", output, seed=SEED)
        console.file.close()
        return console.export_text(), folder


def test_another_seed_hides_another_part():
    one, other = (
        hide(pokemon_types(), demonstrating.SHOWN, noise_scale=demonstrating.NOISE, rng=seed)
        for seed in (SEED, SEED + 1)
    )
    assert (one.shown != other.shown).any()


def test_without_matplotlib_everything_but_the_picture_is_there(words):
    """The extra is named, and the figures stand."""
    text, folder = words
    assert "intransit[figures]" in text
    assert "the pair's nearest reading" in text
    assert not (folder / "pokemon.png").exists()


@pytest.mark.parametrize(("edges", "real"), [((1.0, 1.0, 1.0), True), ((1.0, -0.1, 1.0), False)])
def test_a_cycle_is_real_when_all_its_edges_are(edges, real):
    """One edge that points the other way is enough to make it none."""
    X = np.zeros((3, 3))
    for (i, j), margin in zip(((0, 1), (1, 2), (2, 0)), edges, strict=True):
        X[i, j], X[j, i] = margin, -margin

    class Listed:
        items = ("b", "c", "a")

    assert demo._is_real(Listed(), X, ("a", "b", "c")) is real
