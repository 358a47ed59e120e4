"""Workers of Ray: the answer of one process, whoever is killed on the way."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import intransit as it
from intransit.errors import InputError, IntransitError, MissingDependencyError
from intransit.inference.shards.workers import OnRay
from intransit.tasks import Task, open_ray, run_tasks
from tests.inference.test_shards import CASES, margins, solver_of

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'intransit[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of Python's and of its future

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def session():
    open_ray("ray", 2)
    yield
    ray.shutdown()


def test_workers_of_ray_give_the_answer_of_one_process_and_kills_change_nothing(tmp_path):
    case = CASES["levels and sides"]
    here = solver_of(tmp_path / "here", case, 2)
    here.solve()
    solver = solver_of(tmp_path / "ray", case, 2, crew=OnRay)
    rng, over, killed = random.Random(0), threading.Event(), []

    def kill():
        while len(killed) < 3 and not over.wait(rng.uniform(0.05, 0.3)):
            ray.kill(rng.choice(solver.crew.actors))
            killed.append(1)

    thread = threading.Thread(target=kill)
    thread.start()
    progress = solver.solve()
    over.set()
    thread.join()
    assert killed
    np.testing.assert_array_equal(margins(solver), margins(here))
    assert progress.n_losses >= 1
    solver.crew.close()


def square(number):
    if number < 0:
        raise ValueError("below 0")
    return number**2


@pytest.mark.parametrize("settings", [{"jobs": 1}, {"jobs": 2}, {"on": "ray"}])
def test_tasks_give_the_same_everywhere_and_say_which_failed(settings):
    tasks = [Task(f"number {k}", square, (k,)) for k in range(6)]
    assert dict(run_tasks(tasks, **settings)) == {k: k**2 for k in range(6)}
    tasks[4] = Task("number -4", square, (-4,))
    with pytest.raises(IntransitError, match="number -4: below 0"):
        list(run_tasks(tasks, **settings))


def table(n=1500):
    rng = np.random.default_rng(0)
    i = rng.integers(40, size=n)
    j = (i + 1 + rng.integers(39, size=n)) % 40
    strength = np.linspace(-1.0, 1.0, 40)
    won = rng.random(n) < 1.0 / (1.0 + np.exp(strength[j] - strength[i]))
    names = np.array([f"p{k:02d}" for k in range(40)])
    return it.Games.from_arrays(names[i], names[j], won.astype(float), rng.integers(9, size=n))


def test_fit_on_ray_is_an_answer_like_any_other(tmp_path):
    games = table()
    found = it.fit(games, model=it.Scores(), on="ray", keep=tmp_path / "keep", seconds=2, rng=1)
    assert float(found.probability("p39", "p00")) > 0.7
    assert "Newton" in " ".join(found.story)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"on": "spark"}, 'give "ray"'),
        ({"workers": 2}, "belongs to on"),
        ({"on": "ray://somewhere:1"}, "give one"),
        ({"on": "ray", "workers": 64}, "Ray has 2"),
    ],
)
def test_what_cannot_be_is_said(settings, said):
    with pytest.raises(InputError, match=said):
        it.fit(table(300), model=it.Scores(), seconds=1, **settings)


def test_without_ray_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"intransit\[ray\]"):
        it.fit(table(300), on="ray")


DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from intransit.inference.shards.workers import Here
from tests.inference.test_shards import CASES, solver_of
print("ready", flush=True)
solver_of(Path({folder!r}), CASES["two factors and pairs"], 2, crew=Here, tolerance=1e-4).solve()
print("solved", flush=True)
"""


def test_a_killed_driver_is_followed_by_one_that_goes_on(tmp_path):
    case, folder = CASES["two factors and pairs"], tmp_path / "killed"
    usual = solver_of(tmp_path / "usual", case, 2, tolerance=1e-4)
    usual.solve()
    code = DRIVER.format(root=str(ROOT), folder=str(folder))
    for _ in range(3):
        driver = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert driver.stdout.readline() == "ready\n"
        until = time.monotonic() + 20
        while not (folder / "progress.json").exists() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.05)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        driver.stdout.close()
        if (folder / "progress.json").exists():
            break
    again = solver_of(folder, case, 2, tolerance=1e-4)
    again.solve()
    np.testing.assert_array_equal(margins(again), margins(usual))
