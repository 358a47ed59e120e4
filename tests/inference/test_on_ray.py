"""Workers of Ray: the answer of one process, whoever is killed on the way."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import intransit as it
from intransit.cli import main
from intransit.errors import InputError, IntransitError, MissingDependencyError
from intransit.inference.sampling import Effort, sample
from intransit.inference.shards.folder import PROGRESS
from intransit.inference.shards.workers import RayWorkers
from intransit.tasks import Task, open_ray, run_tasks
from tests.inference.test_shards import CASES, margins, solver_of
from tests.inference.worlds import WORLDS, draw_case, observe

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'intransit[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of Python's and of its future

KILLS = 4  # `python -m benchmarks.ray 5 kills` makes 20 of each kind


@pytest.fixture(scope="module", autouse=True)
def session():
    open_ray("ray", 2)
    yield
    ray.shutdown()


def test_workers_of_ray_give_the_answer_of_one_process_and_kills_change_nothing(tmp_path):
    case = CASES["levels and sides"]
    here = solver_of(tmp_path / "here", case, 2)
    here.solve()
    solver = solver_of(tmp_path / "ray", case, 2, workers=RayWorkers)
    rng, over, killed = random.Random(0), threading.Event(), []

    def kill():
        while len(killed) < KILLS and not over.wait(rng.uniform(0.05, 0.3)):
            ray.kill(rng.choice(solver.workers.actors))
            killed.append(1)

    thread = threading.Thread(target=kill)
    thread.start()
    progress = solver.solve()
    over.set()
    thread.join()
    assert killed
    np.testing.assert_array_equal(margins(solver), margins(here))
    assert progress.n_losses >= 1
    solver.workers.close()


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


def test_chains_as_tasks_draw_what_threads_draw():
    world = WORLDS["wins, all terms"]
    design, _, outcomes, _ = draw_case(world, np.random.default_rng(9))
    effort = Effort(1.0, most_draws=20, r_hat=np.inf, scale_r_hat=np.inf)
    (one, _), (two, _) = (
        sample(observe(design, outcomes), world.law, effort, rng=np.random.default_rng(1), on=on)
        for on in (None, "ray")
    )
    np.testing.assert_array_equal(one.states, two.states)
    np.testing.assert_array_equal(one.number_scales, two.number_scales)


def table(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    i = rng.integers(40, size=n)
    j = (i + 1 + rng.integers(39, size=n)) % 40
    strength = np.linspace(-1.0, 1.0, 40)
    won = rng.random(n) < 1.0 / (1.0 + np.exp(strength[j] - strength[i]))
    names = np.array([f"p{k:02d}" for k in range(40)])
    return it.Games.from_arrays(names[i], names[j], won.astype(float), rng.integers(9, size=n))


def test_fit_on_ray_is_an_answer_like_any_other_and_its_folder_belongs_to_it(tmp_path):
    settings = {"model": it.Scores(), "on": "ray", "keep": tmp_path / "keep", "effective": 20}
    found = it.fit(table(), rng=1, **settings)
    assert float(found.probability("p39", "p00")) > 0.7
    assert "Newton" in " ".join(found.story)
    again = it.fit(table(), rng=1, **settings)
    np.testing.assert_array_equal(again.posterior.draws.states, found.posterior.draws.states)
    for games, seed in ((table(seed=1), 1), (table(), 2)):
        with pytest.raises(InputError, match="begun for other games, another model or another"):
            it.fit(games, rng=seed, **settings)
    with pytest.raises(InputError, match="begun with 2 workers"):
        it.fit(table(), rng=1, workers=1, **settings)


def test_a_command_that_is_killed_is_followed_by_one_that_goes_on(tmp_path, monkeypatch):
    rows = tmp_path / "games.csv"
    games = table()
    lines = zip(games.times, games.first, games.second, games.outcomes, strict=True)
    text = [f"{t:g},{games.names[i]},{games.names[j]},{y:g}" for t, i, j, y in lines]
    rows.write_text("\n".join(["week,first,second,result", *text]) + "\n")

    def words(name):
        place = [str(rows), "--out", str(tmp_path / f"{name}.intransit")]
        model = ["--factors", "0", "--no-pairs", "--effective", "20"]
        return [*place, *model, "--on", "ray", "--workers", "2", "--keep", str(tmp_path / name)]

    call = "from intransit.cli import main; main()"
    command = [sys.executable, "-c", call, "fit", *words("killed")]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not (tmp_path / "killed" / PROGRESS).exists() and time.monotonic() < until:
        assert driver.poll() is None
        time.sleep(0.01)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    assert not (tmp_path / "killed.intransit").exists()
    before = (tmp_path / "killed" / "scales.npz").stat().st_mtime_ns
    for name in ("killed", "whole"):
        monkeypatch.setattr(sys, "argv", ["intransit", "fit", *words(name)])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
    assert (tmp_path / "killed" / "scales.npz").stat().st_mtime_ns == before
    found, wanted = (it.Answer.load(tmp_path / f"{n}.intransit") for n in ("killed", "whole"))
    np.testing.assert_allclose(found.matrix(), wanted.matrix(), atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"on": "spark"}, 'give "ray"'),
        ({"workers": 2}, "belongs to on"),
        ({"on": "ray://somewhere:1"}, "give one"),
        ({"on": "ray", "workers": 64}, "Ray has 2"),
        ({"on": "ray", "keep": __file__}, "is a file"),
        ({"on": "ray", "keep": os.path.dirname(__file__)}, "that no fit put there"),
    ],
)
def test_what_cannot_be_is_said(settings, said):
    with pytest.raises(InputError, match=said):
        it.fit(table(300), model=it.Scores(), seconds=1, **settings)


@pytest.mark.parametrize(
    ("address", "said"),
    [("ray://0.0.0.0:1", "no Ray answers"), ("ray://0.0.0.0", "with a port number")],
)
def test_an_address_where_nobody_answers_is_told_at_once(address, said, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
    with pytest.raises(InputError, match=said):
        open_ray(address, None)


def test_without_the_client_of_ray_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"client.*intransit\[ray\]"):
        open_ray("ray://0.0.0.0:1", None)


def test_without_ray_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"intransit\[ray\]"):
        it.fit(table(300), on="ray")
