"""How fast a Parquet file becomes games, beside a plain scan of it, and in how much memory.

Simulated: 1,000 items, each against ten others, wins and losses on 500 days (at most 10⁷ cells)
or on 10 days (2 · 10⁵ cells), rows in no order.  Reading recognises the columns, checks every
row, adds up equal ones and hands over sorted arrays; the scan only looks at every value.  Each
measurement is a process of its own, with the default memory_limit, the better of two, scan and read
in turn.  Seconds of the processor, all threads together, stand beside those of the clock, which
other work on the machine lengthens; the rate of reading is told as a share of the scan's, both by
the processor.

    python -m benchmarks.reading 7.6     up to 4 · 10⁷ rows; 0.2 GB of disk, some minutes
    python -m benchmarks.reading 8       up to 10⁸ rows, the goal; 0.4 GB of disk
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import intransit as it
from benchmarks._common import print_table

LARGEST = 7.0  # power of ten
TIMES = 2  # that each is measured
N_ITEMS, N_OPPONENTS = 1_000, 10
DAYS = (500, 10)
LIMIT = "1GB"


def main(largest: float = LARGEST) -> None:
    rows = []
    with (
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
        tempfile.TemporaryDirectory() as folder,
    ):
        start = pool.apply(peak)
        path = str(Path(folder) / "games.parquet")
        for n_days in DAYS:
            for n_rows in sizes(largest):
                pool.apply(simulate, (path, n_rows, n_days))
                scans, reads = [], []
                for _ in range(TIMES):
                    scans.append(pool.apply(scan, (path,)))
                    reads.append(pool.apply(read, (path,)))
                scanned = min(scans, key=lambda found: found[1])
                seconds, cells, memory = min(reads, key=lambda found: found[0][1])
                line = [f"{n_rows:,}", f"{n_days}", f"{cells:,}"]
                line += [f"{wall:.1f} ({cpu:.1f})" for wall, cpu in (scanned, seconds)]
                line += [f"{scanned[1] / seconds[1]:.0%}", f"{n_rows / seconds[1] / 1e6:.1f}"]
                rows.append([*line, f"{memory:,.0f}"])
    head = ["rows", "days", "cells", "scan, s (processor)", "read, s (processor)"]
    head += ["rate beside the scan", "read, million rows/s of processor"]
    print_table([*head, "peak MB"], rows)
    print(f"Peak memory is of the process, {start:.0f} MB of it before anything was read.")


def sizes(largest: float) -> list[int]:
    """Return powers of ten from 10⁶ on, and the last as asked for."""
    last = float(f"{10**largest:.0e}")
    return [10**power for power in range(6, 12) if 10**power < last] + [int(last)]


def simulate(path: str, n_rows: int, n_days: int) -> None:
    con = duckdb.connect(config={"memory_limit": LIMIT, "preserve_insertion_order": False})
    con.execute("SET enable_progress_bar = false")
    con.execute(
        f"""
        COPY (
            SELECT DATE '2024-01-01' + floor(random() * {n_days})::INTEGER AS date,
                'item ' || i AS item_a,
                'item ' || (i + 1 + floor(random() * {N_OPPONENTS})::INTEGER) % {N_ITEMS} AS item_b,
                (random() < 0.6)::DOUBLE AS outcome
            FROM (SELECT floor(random() * {N_ITEMS})::INTEGER AS i FROM range({n_rows}))
        ) TO '{path}' (FORMAT parquet)
        """
    ).fetchall()


def scan(path: str) -> tuple[float, float]:
    con = duckdb.connect(config={"memory_limit": LIMIT})
    con.execute("SET enable_progress_bar = false")
    query = f"SELECT max(date), max(item_a), max(item_b), sum(outcome) FROM '{path}'"
    began = clocks()
    con.execute(query).fetchall()
    return since(began)


def read(path: str) -> tuple[tuple[float, float], int, float]:
    began = clocks()  # loading NumPy and DuckDB included
    games = it.read(path, memory_limit=LIMIT)
    return since(began), len(games), peak()


def clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def since(began: tuple[float, float]) -> tuple[float, float]:
    now = clocks()
    return now[0] - began[0], now[1] - began[1]


def peak() -> float:
    """Return the most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:]))
