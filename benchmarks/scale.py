"""10¹⁰ games of 10⁸ players on 64 machines, on paper: the schedule, simulated from unit costs.

Unit costs are measured here: a product over cells and a solve of chains on one core, what a call
and a message of Ray cost, and how fast bytes go through its object store.  The rest is assumed and
said: cores, memory, network and price of a machine, games and moments of a player.  Every round of
a product is then played through: each worker computes for a time that varies by a tenth, sends, and
the round ends with the last.  A worker a machine is counted with loops on all of its cores, which
is not built: ours have one.

    python -m benchmarks.scale           about a minute
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks._common import peak_memory, print_table
from benchmarks.ray import write
from intransit.arrays import FloatArray
from intransit.inference.newton import Buffers, SparseEquations
from intransit.inference.shards.workers import LocalWorkers, ShardedSolver
from intransit.tasks import open_ray

N_MEASURED = 400_000  # games
MESSAGE = 4_000_000  # bytes
BEST_OF = 15  # times that rounds of Ray are measured
STRAGGLING = 0.1  # standard deviation of a worker's time, as a share
PRODUCTS = {0: 30, 2: 120}  # of a solve, by factors: as `benchmarks.ray` counts them, doubled
DRAWS = 24  # as `fit` makes at least
DRAW_PRODUCTS = 12  # of a draw, four of which share their rounds


@dataclass(frozen=True)
class Units:
    """What was measured."""

    product: float  # seconds a cell
    chain: float  # seconds a state: the preconditioner, and what vectors cost
    cell_bytes: float  # memory
    state_bytes: float
    call: float  # seconds a call of an actor
    message: float  # seconds a message between two actors, whatever its size
    store: float  # bytes a second through the object store


@dataclass(frozen=True)
class Plan:
    """What is assumed."""

    games: float = 1e10
    players: float = 1e8
    moments: int = 52  # that the model tells apart; `fit` has at most 60
    machines: int = 64
    cores: int = 16
    memory: float = 128e9  # bytes a machine
    network: float = 3.1e9  # bytes a second: 25 Gbit/s
    latency: float = 1e-4  # seconds
    price: float = 1.0  # dollars a machine and hour


def main() -> None:
    rows, ray = [], measured_ray()
    for r in (0, 2):
        units = measured(r, ray)
        rows.append(
            [
                f"r={r}" if r else "scores",
                f"{1e9 * units.product:.0f}",
                f"{1e9 * units.chain:.0f}",
                f"{units.cell_bytes:.0f}",
                f"{units.state_bytes:.0f}",
                f"{1e3 * units.call:.2f}",
                f"{1e3 * units.message:.2f}",
                f"{units.store / 1e9:.1f}",
            ]
        )
        for plan in plans():
            tell(plan, units, r)
    print("Measured, on one core:\n")
    print_table(
        [
            "model",
            "ns a cell, product",
            "ns a state, chains and vectors",
            "bytes a cell",
            "bytes a state",
            "ms a call",
            "ms a message",
            "GB/s through the store",
        ],
        rows,
    )


def plans() -> list[Plan]:
    """The plan, one of a tenth of its size, and one with a worker a machine."""
    return [Plan(), replace(Plan(), games=1e9, players=1e7, machines=8)]


def measured(r: int, ray: tuple[float, float, float]) -> Units:
    """Measure unit costs with one shard in this process: seconds of the processor, the median."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        question = write(folder, N_MEASURED, r, 1)
        start = peak_memory(reset=True)
        workers = LocalWorkers(folder)
        solver = ShardedSolver(workers, folder, replace(question, max_steps=2))
        solver.solve()
        shard = workers.shards[0]
        problem = shard.problem
        curvature = problem.loss.terms(problem.margins(shard.z))[1]
        equations, room = SparseEquations(problem, shard.z, curvature), Buffers.of(problem)
        equations.prepare()
        n_cells, n_states = len(shard.cells), len(shard.halos[0].place)
        step = shard.z[: problem.cuts[1]].copy()
        react, advance = [], []
        for _ in range(12):
            react.append(seconds(lambda: equations.product(step, 0.0, room), time.process_time))
            advance.append(
                seconds(lambda: equations.precondition(step, 0.0, room), time.process_time)
            )
        vectors = 8 * (len(problem.strengths.free) + int(problem.exposures.free.sum()))
        places = problem.at.itemsize * problem.at.shape[1]
        kept = places + 2 * 4 + 8 * 2 + 4 + 8 * 3  # pair, count and mean, moment, terms
        blocks = 16 * len(problem.strengths.free) ** 2 * (2 if r else 1)
        state = 12 * vectors + blocks
        # What arrays are counted to take, stretched to what the process took at most.
        more = (peak_memory() - start) * 1024**3 / (kept * n_cells + state * n_states)
        return Units(
            float(np.median(react)) / n_cells,
            float(np.median(advance)) / n_states,
            more * kept,
            more * state,
            *ray,
        )


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


class Echo:
    """An actor that sends something to each."""

    def send(self, n: int, size: int, *given: FloatArray) -> tuple[FloatArray, ...]:
        """Send n messages of a size."""
        del given
        return (*(np.zeros(size // 8) for _ in range(n)), np.zeros(1))


def measured_ray() -> tuple[float, float, float]:
    """Return seconds a call, seconds a message, and bytes a second through the store.

    By the clock, and the best of some rounds, as others on the machine only lengthen them.
    """
    import ray  # noqa: PLC0415

    open_ray("ray", 2)
    actor = ray.remote(num_cpus=0.5)(Echo)
    two = [actor.remote() for _ in range(2)]

    def rounds(n_rounds: int, n: int, size: int) -> float:
        def work() -> None:
            refs: list[list[object]] = [[], []]
            for _ in range(n_rounds):
                made = [
                    one.send.options(num_returns=n + 1).remote(n, size, *refs[k])
                    for k, one in enumerate(two)
                ]
                refs = [list(made[1][:n]), list(made[0][:n])]
            ray.get([made[0][-1], made[1][-1]])

        work()
        return min(seconds(work) for _ in range(BEST_OF)) / n_rounds

    few, many = rounds(5, 1, 8), rounds(5, 17, 8)
    large = rounds(3, 1, MESSAGE)
    for one in two:
        ray.kill(one)
    message = max((many - few) / 32, 1e-6)
    return few / 2, message, 2 * MESSAGE / max(large - few, 1e-6)


def tell(plan: Plan, units: Units, r: int) -> None:
    """Play the schedule through, and print what it takes."""
    workers = plan.machines * plan.cores
    each = plan.games * 2 / plan.players / plan.moments  # games of a player at a moment
    states = plan.players * plan.moments * (1.0 - np.exp(-each))
    cells = plan.games  # pairs of so many players hardly meet twice at a moment
    columns = 1 + 2 * r
    rows = []
    for name, parts in (("a worker a core", workers), ("a worker a machine", plan.machines)):
        guests = guests_of(cells, states, parts)
        moved = guests * 8.0 * columns  # bytes, one way
        memory = (cells * units.cell_bytes + (states + guests) * units.state_bytes) / plan.machines
        product = play(plan, units, cells, states, moved, parts)
        n_products = PRODUCTS[r] + DRAWS * DRAW_PRODUCTS
        hours = n_products * product["all"] / 3600.0
        rows.append(
            [
                name,
                f"{parts:,}",
                f"{guests / states:.1f}",
                f"{moved * 2 / plan.machines / 1e9:.1f}",
                f"{memory / 1e9:.0f} of {plan.memory / 1e9:.0f}",
                f"{product['cells']:.2f}",
                f"{product['chains']:.2f}",
                f"{product['network']:.2f}",
                f"{product['driver']:.2f}",
                f"{product['all']:.2f}",
                f"{n_products}",
                f"{hours:.1f}",
                f"{hours * plan.machines * plan.price:.0f}",
            ]
        )
    kind = f"scores and r={r}" if r else "scores"
    print(
        f"{plan.games:.0e} games of {plan.players:.0e} players, {kind}, {plan.moments} moments: "
        f"{cells:.1e} cells, {states:.1e} states of {columns} numbers; {plan.machines} machines of "
        f"{plan.cores} cores, {plan.network / 1e9:.1f} GB/s each. Seconds a product:\n"
    )
    print_table(
        [
            "cut",
            "workers",
            "guests a state",
            "GB a machine sends a product",
            "GB a machine",
            "cells",
            "chains",
            "network",
            "driver",
            "in all",
            "products",
            "hours",
            "dollars",
        ],
        rows,
    )


def guests_of(cells: float, states: float, parts: int) -> float:
    """Return how many states are guests somewhere, counted once for each place.

    At a moment a state has so many cells; of each pair of shards one holds all cells between them,
    so half of a state's opponents make it a guest, once for each shard that they belong to.
    """
    each = 2.0 * cells / states  # cells of a state
    away = each * (1.0 - 1.0 / parts) / 2.0
    places = max((parts - 1) / 2.0, 1e-9)
    return float(states * places * (1.0 - np.exp(-away / places)))


def play(
    plan: Plan, units: Units, cells: float, states: float, moved: float, parts: int
) -> dict[str, float]:
    """Return the seconds of a product, by what they go to, as mean over some of them."""
    rng = np.random.default_rng(0)
    cores = plan.machines * plan.cores
    here = {
        "cells": cells * units.product / cores,
        "chains": states * units.chain / cores,
    }
    way = moved / plan.machines / plan.network + plan.latency
    store = moved / parts / units.store  # each worker copies its own
    driver = parts * units.call + parts * (parts - 1) * units.message
    totals = dict.fromkeys((*here, "network", "driver", "all"), 0.0)
    n = 50
    for _ in range(n):
        both = 0.0
        for name, mean in here.items():  # two rounds: chains and lending, cells and handing back
            slow = float(np.max(mean * rng.lognormal(0.0, STRAGGLING, size=min(parts, 4096))))
            sent = float(np.max(way * rng.lognormal(0.0, STRAGGLING, size=plan.machines))) + store
            totals[name] += slow / n
            totals["network"] += sent / n
            both += slow + max(sent, driver)
        totals["driver"] += 2.0 * driver / n
        totals["all"] += both / n
    return totals


if __name__ == "__main__":
    main()
