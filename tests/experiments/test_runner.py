"""The runner: numbers depend on the seed alone, and what is damaged is never read."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from intransit.errors import IntransitError
from intransit.experiments import EXPERIMENTS, Options, Run, run_all, run_here
from intransit.experiments.experiment import generator, perform, plan, read_part, write_part
from tests.experiments.toy import measure_slowly, toy

RUN = Run(n_trials=5, seed=3)


def count_performed(tmp_path, run=RUN, **changes):
    """Run the toy again, and return how many trials were made for it."""
    done = []
    table = run_all([toy(**changes)], run, parts=tmp_path, jobs=0, on_done=done.append)["toy"]
    return sum(len(task.trials) for task in done), table


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_numbers_do_not_depend_on_jobs(jobs, tmp_path):
    together = run_all([toy()], RUN, parts=tmp_path, jobs=jobs)["toy"]
    assert together.to_csv() == run_here(toy(), RUN).to_csv()


def test_numbers_do_not_depend_on_jobs_in_a_real_experiment(tmp_path):
    """Recoveries and limits too, to the last bit."""
    run = Run(n_trials=2, seed=1, options=Options(quick=True, extras=frozenset({"limit"})))
    chosen = [EXPERIMENTS["recovery-error"], EXPERIMENTS["cell-counting"]]
    one = run_all(chosen, run, parts=tmp_path / "one", jobs=1)
    two = run_all(chosen, run, parts=tmp_path / "two", jobs=2)
    for name, table in one.items():
        assert [row.value for row in table.rows] == pytest.approx(
            [row.value for row in two[name].rows], rel=0, abs=0, nan_ok=True
        )


def test_numbers_do_not_depend_on_the_rest_of_the_grid():
    whole = run_here(toy(), RUN).series("value", "normal").values[1]
    alone = run_here(toy(points=toy().points[1:2]), RUN).series("value", "normal").values[0]
    np.testing.assert_array_equal(whole, alone)


def test_seeds_points_trials_and_names_have_their_own_numbers():
    first, second = toy().points[:2]
    drawn = {
        generator(seed, name, point, trial).random()
        for seed in (0, 1)
        for name in ("a", "b")
        for point in (first, second)
        for trial in (0, 1)
    }
    assert len(drawn) == 16


def test_a_finished_run_is_read_again(tmp_path):
    n_first, table = count_performed(tmp_path)
    n_again, again = count_performed(tmp_path)
    assert (n_first, n_again) == (15, 0)
    assert again.to_csv() == table.to_csv()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],  # cut
        lambda _: "",
        lambda _: "[]",
        lambda text: text.replace('"normal"', '"normaI"', 1),  # altered, still JSON
        lambda text: text.replace(json.loads(text)["fingerprint"], "0" * 32),  # of another run
    ],
    ids=["cut", "empty", "foreign", "altered", "other run"],
)
def test_a_damaged_part_is_made_again(damage, tmp_path):
    _, table = count_performed(tmp_path)
    part = min((tmp_path / "toy").glob("*.json"))
    part.write_text(damage(part.read_text()))
    n_again, again = count_performed(tmp_path)
    assert n_again in (1, 2)  # the trials of one part
    assert again.to_csv() == table.to_csv()


def test_a_half_written_file_is_not_a_part(tmp_path):
    """What a killed process leaves beside a part has another name."""
    count_performed(tmp_path)
    part = min((tmp_path / "toy").glob("*.json"))
    part.rename(part.with_name(f".{part.name}.x.part"))
    assert count_performed(tmp_path)[0] in (1, 2)


def test_other_settings_are_made_anew(tmp_path):
    count_performed(tmp_path)
    assert count_performed(tmp_path, Run(n_trials=5, seed=4))[0] == 15
    extras = Options(extras=frozenset({"newton"}))
    assert count_performed(tmp_path, Run(n_trials=5, seed=3, options=extras))[0] == 15
    # Two more trials: the last block, of one trial, becomes two, and a new one follows.
    assert count_performed(tmp_path, Run(n_trials=7, seed=3))[0] == 3 * 3


def test_values_come_back_from_disk_as_they_were(tmp_path):
    rows = perform(*plan(toy(), RUN)[0].work.given)
    write_part(tmp_path / "p.json", "mark", rows)
    again = read_part(tmp_path / "p.json", "mark")
    assert again is not None
    for old, new in zip(rows, again, strict=True):
        assert (old.facet, old.x, old.curve, old.measure, old.trial) == (
            new.facet,
            new.x,
            new.curve,
            new.measure,
            new.trial,
        )
        assert old.value == new.value or (np.isnan(old.value) and np.isnan(new.value))


def fail(point, rng, options):
    raise ValueError("no luck")
    yield


def test_a_failing_trial_says_where(tmp_path):
    with pytest.raises(IntransitError, match=r"toy, point @1, trials 0 to 1: no luck"):
        run_all([toy(fail, points=toy().points[:1], chunk=9)], Run(2), parts=tmp_path, jobs=1)


SCRIPT = """
from pathlib import Path
from intransit.experiments import EXPERIMENTS
from intransit.cli.reproduce import reproduce
from tests.experiments.toy import measure_slowly, toy
if __name__ == "__main__":
    EXPERIMENTS["toy"] = toy(measure_slowly, chunk=1)
    reproduce("toy", trials=6, jobs=1, out=Path({out!r}))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as Unix sends them")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_goes_on(how, tmp_path):
    script = SCRIPT.format(out=str(tmp_path))
    root = str(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True)
    parts = tmp_path / "parts" / "toy"
    deadline = time.monotonic() + 60
    while len(list(parts.glob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(how)
    _, told = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "goes on from there" in " ".join(told.split())
    kept = len(list(parts.glob("*.json")))
    assert 2 <= kept < 18
    assert not (tmp_path / "toy.json").exists()
    done = []
    run = Run(n_trials=6)
    table = run_all(
        [toy(measure_slowly, chunk=1, points=toy().points[:1])],
        run,
        parts=tmp_path / "parts",
        jobs=0,
        on_done=done.append,
    )["toy"]
    assert len(done) == 6 - min(kept, 6)
    expected = run_here(toy(points=toy().points[:1]), run)
    assert table.to_csv() == expected.to_csv()
