"""An answer of very many items, asked where it lies: seconds, and memory of the process's own.

Simulated: players with two games in each of some months, scores drawn, as many draws as `fit` keeps
at scale.  Written and asked in processes of their own.  "Own" memory is what the process holds
beside pages of the file (RssAnon), which the system takes back at need.

    python -m benchmarks.millions            10⁶ players, 1 GB of disk
    python -m benchmarks.millions 100000
"""

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import intransit as it
from benchmarks._common import in_fresh_process, print_table
from intransit.inference.observations import Observations
from intransit.inference.paths import lay_out
from intransit.inference.posterior import Posterior
from intransit.model import Model, Scores

N_ITEMS, N_DRAWS, N_MONTHS = 1_000_000, 30, 4
ASKED = 1_000  # chances


def main(n_items: int = N_ITEMS) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "answer.intransit")
        written = in_fresh_process("benchmarks.millions", "write", n_items, place)
        asked = in_fresh_process("benchmarks.millions", "ask", n_items, place)
    if "failed" in written or "failed" in asked:
        print(f"Failed: {written} {asked}")
        return
    print(f"{n_items:,} items, {N_DRAWS} draws, {written['size']:.2f} GB; load ", end="")
    print(f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    rows = [[name, f"{s:.4f}", f"{p:.4f}", f"{mb:.0f}"] for name, s, p, mb in asked["rows"]]
    rows.insert(0, ["save", f"{written['seconds']:.1f}", f"{written['processor']:.1f}", ""])
    print_table(["what", "s", "s of processor", "own memory at most, MB"], rows)


def write(n: int, place: str) -> dict[str, float]:
    """Write the answer; all but the leaderboard is made up."""
    small, rng = tiny(), np.random.default_rng(0)
    first = np.tile(np.arange(n), N_MONTHS)
    second = (first + 1 + np.repeat(np.arange(N_MONTHS), n)) % n
    pairs = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
    times, cells = np.repeat(np.linspace(0.0, 17.0, N_MONTHS), n), len(first)
    seen = Observations(
        "logistic", n, pairs, times, np.ones(cells), rng.integers(2, size=cells) * 1.0,
        np.zeros(cells), np.zeros((0, cells), np.int64), cells,
    )  # fmt: skip
    layout = lay_out(seen, Model((Scores(),)))
    shape = (N_DRAWS, layout.items.n_states, 1)
    states = np.empty(shape, np.float32)
    centre = rng.standard_normal(shape[1:], np.float32)
    for k in range(N_DRAWS):
        states[k] = centre + 0.3 * rng.standard_normal(shape[1:], np.float32)
    draws = small.posterior.draws.only(np.arange(N_DRAWS) % len(small.posterior))
    large = replace(
        small,
        names=tuple(f"player {k}" for k in range(n)),
        posterior=Posterior(layout, small.posterior.law, replace(draws, states=states), None),
        seen=replace(
            small.seen,
            first=np.zeros(n),
            last=np.full(n, 17.0),
            games=2.0 * N_MONTHS + (np.arange(n) < 400),  # those that met each other
        ),
        games=None,
    )
    began, busy = time.perf_counter(), time.process_time()
    large.save(place)
    took = time.perf_counter() - began, time.process_time() - busy
    return {"seconds": took[0], "processor": took[1], "size": Path(place).stat().st_size / 1e9}


def ask(n: int, place: str) -> dict[str, Any]:
    """Open it, and ask."""
    small = tiny()
    small.only([0, 1]).probability(0, 1)  # compiles
    rows: list[tuple[str, float, float, float]] = []
    rng = np.random.default_rng(1)
    before = own_memory()

    def timed(name: str, work: Callable[[], Any], times: int = 1) -> Any:
        peak, over = [0.0], threading.Event()

        def watch() -> None:
            while not over.wait(0.005):
                peak[0] = max(peak[0], own_memory())

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        began, busy = time.perf_counter(), time.process_time()
        out = work()
        took = (time.perf_counter() - began) / times, (time.process_time() - busy) / times
        over.set()
        thread.join()
        rows.append((name, *took, max(peak[0], own_memory()) - before))
        return out

    answer = timed("open", lambda: it.Answer.load(place))
    pairs = [tuple(f"player {k}" for k in rng.choice(n, 2)) for _ in range(ASKED)]
    timed("the first chance", lambda: answer.probability(*pairs[0]))
    timed(f"a chance, mean of {ASKED:,} by name", lambda: ask_all(answer, pairs), ASKED)
    timed("a page of 50 of the leaderboard", lambda: answer.rank(begin=n // 2, most=50))
    few = timed("the 400 that played most", lambda: answer.only(played=400))
    timed("their report", lambda: few.report(Path(place).with_suffix(".html")))
    timed("open, checksum compared", lambda: it.Answer.load(place, check=True))
    return {"rows": rows}


def ask_all(answer: it.Answer, pairs: list[Any]) -> None:
    for first, second in pairs:
        answer.probability(first, second)


def tiny() -> it.Answer:
    games = it.Games.from_arrays(["a", "b"] * 9, ["b", "c"] * 9, [1, 1, 0] * 6, range(18))
    return it.fit(games, model=Scores(), effective=2)


def own_memory() -> float:
    """Return the megabytes of the process beside pages of files; nothing where it is not told."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon")), 0.0)


if __name__ == "__main__":
    if sys.argv[1:2] in (["write"], ["ask"]):
        size, place = int(sys.argv[2]), sys.argv[3]
        print(json.dumps(write(size, place) if sys.argv[1] == "write" else ask(size, place)))
    else:
        main(*map(int, sys.argv[1:]))
