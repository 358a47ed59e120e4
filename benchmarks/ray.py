"""The joint fit by Ray beside one process: seconds, memory, bytes, and workers that are killed.

Wins and losses between random pairs over a hundred units of time, 200 games a player, scales given,
as in `growth`.  One process runs the same shard class as the workers do; whoever solves reads the
cells from Parquet.  Seconds of a solve begin when cells are loaded and linked.

What two processors of one machine could give at all: two processes, which know nothing of each
other, solve half of the games and players each, at the same time.

    python -m benchmarks.ray 6                  10⁶ games
    python -m benchmarks.ray 7 speed scores     10⁷, scores alone
    python -m benchmarks.ray 5 kills            the answer with 20 workers killed at random moments

Seconds of the processor, which others on the machine disturb less, are of the busiest worker.

Memory is what a process has of its own and of Ray's store at its peak, looked up every 20 ms.  Code
of libraries, which processes share, is not counted: 0.14 GB with one process, 0.19 GB with Ray.
"""

import json
import random
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import in_fresh_process, print_table
from intransit.arrays import FloatArray
from intransit.data.cells import Rows, collapse_rows
from intransit.inference.joint_problem import Scales
from intransit.inference.shards.folder import PROGRESS, Question, ShardFacts, write_shards
from intransit.inference.shards.workers import (
    LocalWorkers,
    RayWorkers,
    ShardedSolver,
    Workers,
)
from intransit.tasks import open_ray

WORKERS = 2
A_ITEM, SPAN, DRIFT = 200, 100, 0.05
KINDS = {"scores": 0, "scores and r=2": 2}
KILLS = 20
MEETINGS = 4  # of an iteration: states, slopes, and two sums
OWN = ("RssAnon", "RssShmem")  # of a process, in /proc
TOLERANCE = 1e-2  # as `fit` asks for at scale


def main(power: int = 6, part: str = "all", kind: str = "") -> None:
    n = 10**power
    if part in {"all", "speed"}:
        speed(n, {kind: KINDS[kind]} if kind else KINDS)
    if part in {"all", "kills"}:
        kills(min(n, 10**5))


def speed(n: int, kinds: dict[str, int]) -> None:
    rows, costs = [], []
    for name, r in kinds.items():
        with tempfile.TemporaryDirectory() as place:
            one = in_fresh_process("benchmarks.ray", "solve", n, r, "here", f"{place}/here")
            two = in_fresh_process("benchmarks.ray", "solve", n, r, "ray", f"{place}/ray")
            halves = side_by_side(n // WORKERS, r, place)
            if "failed" in one or "failed" in two:
                rows.append([name, f"{one}", f"{two}", *[""] * 10])
                continue
            gap = np.abs(np.load(f"{place}/here.npy") - np.load(f"{place}/ray.npy")).max()
        rows.append(
            [
                name,
                f"{one['cells']:,}",
                f"{one['states']:,}",
                f"{one['load']:.1f} / {two['load']:.1f}",
                f"{one['solve']:.1f} / {two['solve']:.1f}",
                f"{one['solve'] / two['solve']:.2f}",
                f"{one['solve'] / halves:.2f}",
                f"{one['processor']:.1f} / {two['processor']:.1f}",
                f"{one['processor'] / two['processor']:.2f}",
                f"{one['products']} / {two['products']}",
                f"{one['memory']:.2f} / {two['memory']:.2f}",
                f"{one['draw']:.1f} / {two['draw']:.1f}",
                f"{gap:.0e}",
            ]
        )
        costs.append(
            [
                name,
                f"{1e9 * one['processor'] / one['products'] / one['cells']:.0f}",
                f"{1e3 * two['round']:.1f}",
                f"{two['sent'] / two['products'] / two['cells']:.1f}",
                f"{two['guests'] / two['states']:.2f}",
                f"{1e9 * one['memory'] / one['cells']:.0f}",
            ]
        )
    print(f"One process / {WORKERS} workers of Ray, {n:,} games:\n")
    print_table(
        [
            "model",
            "cells",
            "states",
            "load and first steps, s",
            "solve, s",
            "times as quick",
            "by halves that know nothing of each other",
            "seconds of the (busiest) processor",
            "ratio",
            "products",
            "peak GB of a process",
            "4 draws, s",
            "largest difference of a margin",
        ],
        rows,
    )
    print("Unit costs (all of a solve, in seconds of the processor, is put on its products):\n")
    print_table(
        [
            "model",
            "ms a product and million cells, one core",
            "ms an empty iteration on Ray",
            "bytes sent a product and cell",
            "guests for each state",
            "bytes of memory a cell",
        ],
        costs,
    )


def side_by_side(n: int, r: int, place: str) -> float:
    """Return the seconds of the slower of several solves at the same time, each in a process."""

    def one(k: int) -> dict[str, Any]:
        return in_fresh_process("benchmarks.ray", "solve", n, r, "here", f"{place}/half{k}")

    with ThreadPoolExecutor(WORKERS) as pool:
        return max(found.get("solve", np.inf) for found in pool.map(one, range(WORKERS)))


def solve(n: int, r: int, on: str, out: str) -> dict[str, Any]:
    """Solve once, in a process of its own; write some margins."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        question = write(folder, n, r, 1 if on == "here" else WORKERS)
        if on == "ray":
            open_ray("ray", WORKERS)
        began = time.perf_counter()
        workers: Workers = LocalWorkers(folder) if on == "here" else RayWorkers(folder)
        memory = Memory([one["process"] for one in workers.run("costs", idle)])
        solver = ShardedSolver(workers, folder, replace(question, max_steps=1))
        solver.solve()  # a step of every stage, which loads what is compiled
        loaded = time.perf_counter() - began
        (folder / PROGRESS).unlink()
        before = workers.run("costs", idle)
        solver = ShardedSolver(workers, folder, question)
        began = time.perf_counter()
        progress = solver.solve()
        solved = time.perf_counter()
        costs = workers.run("costs", idle)
        used = [now["seconds"] - then["seconds"] for now, then in zip(costs, before, strict=True)]
        sent = [now["sent"] - then["sent"] for now, then in zip(costs, before, strict=True)]
        solver.draw(4, 1)
        drawn = time.perf_counter()
        peak = memory.end()
        sizes = workers.run("sizes", idle)
        found = {
            "cells": sum(one["cells"] for one in sizes),
            "states": sum(one["states"] for one in sizes),
            "guests": sum(one["guests"] for one in sizes),
            "load": loaded,
            "solve": solved - began,
            "draw": drawn - solved,
            "processor": max(used),
            "steps": progress.n_steps,
            "products": progress.n_products,
            "memory": peak / 1e9,
            "sent": sum(sent),
            "round": empty_iteration(workers) if on == "ray" else 0.0,
        }
        np.save(out, margins(solver, n // A_ITEM))
        workers.close()
    return found


class Memory:
    """The most memory that any of some processes holds, while it is watched."""

    def __init__(self, processes: list[int]) -> None:
        self._places = [Path(f"/proc/{number}/status") for number in processes]
        self._peak, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            for place in self._places:
                lines = place.read_text().splitlines()
                held = [line.split()[1] for line in lines if line.startswith(OWN)]
                self._peak = max(self._peak, 1024 * sum(map(int, held)))

    def end(self) -> int:
        """Return the peak, in bytes."""
        self._over.set()
        self._thread.join()
        return self._peak


def write(folder: Path, n: int, r: int, n_shards: int) -> Question:
    """Simulate games, and write their cells by shard."""
    rng, n_items = np.random.default_rng(0), n // A_ITEM
    pairs = rng.integers(n_items, size=(n, 2), dtype=np.int32)
    pairs[:, 1] = (pairs[:, 0] + 1 + rng.integers(n_items - 1, size=n)) % n_items
    times = rng.integers(SPAN, size=n).astype(float)
    scores, S, Q = (rng.normal(size=(n_items, k)) for k in (1, r, r))
    x = (scores[pairs[:, 0]] - scores[pairs[:, 1]])[:, 0]
    for k in range(r):
        x += S[pairs[:, 0], k] * Q[pairs[:, 1], k] - S[pairs[:, 1], k] * Q[pairs[:, 0], k]
    won = (rng.random(n) < 1.0 / (1.0 + np.exp(-x))).astype(float)
    rows = Rows(times, pairs.astype(np.int64), won, np.ones(n))
    cells = collapse_rows(rows, n_items, shares=True)
    write_shards(folder, cells, ShardFacts("logistic", n_items, n_shards, cells.axis, False))
    drift = DRIFT if r else 0.0
    scales = Scales(1.0, drift, 1.0, drift, DRIFT, 1.0)
    return Question("logistic", r, scales, tolerance=TOLERANCE)


def idle() -> None:
    """Do nothing while workers work."""


def empty_iteration(workers: Workers) -> float:
    """Return the seconds of the meetings of an iteration in which nothing is left to do."""
    workers.run("meet", idle, n=10)
    return max(workers.run("meet", idle, n=100)) / 100 * MEETINGS


def margins(solver: ShardedSolver, n_items: int) -> FloatArray:
    """Return the margins of some pairs of states: the same ones for every cut into shards."""
    rng = np.random.default_rng(1)
    size = len(solver.facts.axis)
    told = solver.states()
    keys = np.concatenate([part[0] for part in told])
    S = np.concatenate([part[2] for part in told])
    Q = np.concatenate([part[3] for part in told])
    if len(Q) != len(S):
        Q = np.ones_like(S)
    order = np.argsort(keys)
    first, second = (order[rng.integers(len(order), size=10_000)] for _ in range(2))
    assert int(keys.max()) < n_items * size
    return np.asarray(np.sum(S[first] * Q[second] - S[second] * Q[first], axis=1))


def kills(n: int) -> None:
    """Kill a worker at random moments of a solve, time and again, and compare the answers."""
    rng = random.Random(0)
    open_ray("ray", WORKERS)
    rows = []
    for name, r in KINDS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            question = write(folder, n, r, WORKERS)
            solver = ShardedSolver(RayWorkers(folder), folder, question)
            began = time.perf_counter()
            solver.solve()
            usual = time.perf_counter() - began
            wanted = margins(solver, n // A_ITEM)
            solver.workers.close()
        equal, n_killed, worst, seconds = 0, 0, 0.0, 0.0
        while n_killed < KILLS:
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                question = write(folder, n, r, WORKERS)
                began = time.perf_counter()
                found, n_here = with_kills(folder, question, usual, rng)
                seconds += time.perf_counter() - began
            gap = float(np.abs(found - wanted).max())
            worst, n_killed = max(worst, gap), n_killed + n_here
            equal += n_here if gap < 1e-6 else 0
        rows.append([name, f"{n:,}", f"{equal} of {n_killed}", f"{worst:.0e}", f"{usual:.1f}"])
    print("A worker killed at random moments of a solve:\n")
    header = ["model", "games", "kills without effect", "largest difference", "s without a kill"]
    print_table(header, rows)


def with_kills(
    folder: Path, question: Question, usual: float, rng: random.Random
) -> tuple[FloatArray, int]:
    """Solve while workers are killed, a few a solve; return margins and the number killed."""
    import ray  # noqa: PLC0415

    workers = RayWorkers(folder)
    over = threading.Event()
    n_killed = 0

    def kill() -> None:
        nonlocal n_killed
        while not over.wait(rng.uniform(0.05, 0.6) * max(usual, 0.5)):
            if n_killed < 5:
                ray.kill(rng.choice(workers.actors))
                n_killed += 1

    thread = threading.Thread(target=kill)
    thread.start()
    solver = ShardedSolver(workers, folder, question)
    solver.solve()
    over.set()
    thread.join()
    found = margins(solver, solver.facts.n_items)
    workers.close()
    return found, n_killed


if __name__ == "__main__":
    if sys.argv[1:2] == ["solve"]:
        size, factors, where, place = sys.argv[2:]
        print(json.dumps(solve(int(size), int(factors), where, place)))
    else:
        main(*map(int, sys.argv[1:2]), *sys.argv[2:])
