"""How fast rows become games where they are: in Spark, and in a folder of Parquet.

Simulated: 200 items, 26 dates, wins and losses, 1.03 · 10⁶ cells, rows in no order, written in
parts of at most 10⁷ rows.

Spark in local mode with two cores: `read` of its data frame beside Spark itself, asked for nothing
but the counts of the same rows; in one session, after a first round that is not counted, the better
of three, in turn.  The goal is at most 1.3 times.

The folder by the embedded engine, with the default memory_limit, each in a process of its own, the
better of two: as `read` does it, with its equal rows added up first (beyond 1.5 · 10⁸ rows `read`
does that by itself), and plain DuckDB asked for the counts.  The goal is 5 million rows a second in
4 GB.

    python -m benchmarks.engines                     10⁷ rows of both
    python -m benchmarks.engines spark 2e7           the goal of Spark; 0.1 GB of disk
    python -m benchmarks.engines parquet 1e9         the goal of the folder; 3 GB of disk
    python -m benchmarks.engines parquet 1e9 1 PLACE   once each, of rows that stay in a folder
"""

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import intransit as it
from benchmarks._common import peak_memory, print_table
from intransit.data import assemble
from intransit.data.reading import ROW_LIMITS, ReadOptions, RowLimits

SMALL = 1e7
PART = 10_000_000  # rows of a file
N_ITEMS, N_DATES = 200, 26
LIMIT = "1GB"
COLUMNS = ("date", "item_a", "item_b", "outcome")


def main(which: str = "both", n_rows: float = SMALL, times: float = 2, place: str = "") -> None:
    with tempfile.TemporaryDirectory() as fresh:
        folder = place or fresh
        if not any(Path(folder).glob("part-*.parquet")):
            Path(folder).mkdir(parents=True, exist_ok=True)
            simulate(folder, int(n_rows))
        if which in {"both", "spark"}:
            beside_spark(folder, int(n_rows))
        if which in {"both", "parquet"}:
            beside_duckdb(folder, int(n_rows), int(times))
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "not known"
    print(f"Load of the machine at the end: {load}, on {os.cpu_count()} cores.")


def simulate(folder: str, n_rows: int) -> None:
    con = duckdb.connect(config={"memory_limit": LIMIT, "preserve_insertion_order": False})
    con.execute("SET enable_progress_bar = false")
    for part in range(-(-n_rows // PART)):
        n = min(PART, n_rows - part * PART)
        con.execute(
            f"""
            COPY (
                SELECT DATE '2024-01-01' + 14 * floor(random() * {N_DATES})::INTEGER AS date,
                    'champion ' || least(i, j) AS item_a, 'champion ' || greatest(i, j) AS item_b,
                    (random() < 0.55)::INTEGER AS outcome
                FROM (
                    SELECT i, (i + 1 + floor(random() * {N_ITEMS - 1})::INTEGER) % {N_ITEMS} AS j
                    FROM (SELECT floor(random() * {N_ITEMS})::INTEGER AS i FROM range({n}))
                )
            ) TO '{folder}/part-{part:04d}.parquet' (FORMAT parquet)
            """
        ).fetchall()


def beside_spark(folder: str, n_rows: int, times: int = 3) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    settings = {"ui.enabled": "false", "ui.showConsoleProgress": "false", "log.level": "ERROR"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in {**settings, "sql.shuffle.partitions": "2"}.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    frame = session.read.parquet(folder)
    asked: dict[str, Callable[[], Any]] = {
        "Spark's own counts": lambda: frame.groupBy(*COLUMNS).count().toArrow().num_rows,
        "`read`": lambda: len(it.read(frame)),
    }
    took: dict[str, list[float]] = {name: [] for name in asked}
    cells = {}
    for _ in range(times + 1):
        for name, ask in asked.items():
            began = time.perf_counter()
            cells[name] = ask()
            took[name].append(time.perf_counter() - began)
    session.stop()
    best = {name: min(seconds[1:]) for name, seconds in took.items()}
    plain = best["Spark's own counts"]
    rows = [
        [name, f"{n_rows:,}", f"{cells[name]:,}", f"{best[name]:.1f}", f"{best[name] / plain:.2f}"]
        for name in asked
    ]
    print_table(["Spark, local mode", "rows", "cells", "s", "beside Spark's own counts"], rows)
    print(f"Peak memory of Python beside Spark: {peak_memory():.2f} GB.\n")


def beside_duckdb(folder: str, n_rows: int, times: int) -> None:
    asked = {"DuckDB's own counts": plain, "`read`": as_it_is}
    if n_rows <= ROW_LIMITS.packed:  # beyond that it is what `read` does
        asked["`read`, added up first"] = added_up
    rows = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found: dict[str, list[Any]] = {name: [] for name in asked}
        for _ in range(times):
            for name, work in asked.items():
                found[name].append(pool.apply(measured, (work, folder)))
    for name, runs in found.items():
        wall, processor, cells, memory = min(runs)
        rate = [f"{n_rows / wall / 1e6:.1f}", f"{n_rows / processor / 1e6:.1f}"]
        line = [name, f"{n_rows:,}", f"{cells:,}", f"{wall:.1f} ({processor:.1f})", *rate]
        rows.append([*line, f"{memory:.2f}"])
    head = ["folder of Parquet", "rows", "cells", "s (processor)", "million rows/s"]
    print_table([*head, "million rows/s of processor", "peak GB"], rows)


def measured(work: Callable[[str], int], folder: str) -> tuple[float, float, int, float]:
    """Return seconds of the clock and of the processor, cells, and peak memory in GB."""
    began = time.perf_counter(), time.process_time()
    cells = work(folder)
    return time.perf_counter() - began[0], time.process_time() - began[1], cells, peak_memory()


def plain(folder: str) -> int:
    con = duckdb.connect(config={"memory_limit": LIMIT})
    con.execute("SET enable_progress_bar = false")
    listed = ", ".join(COLUMNS)
    con.execute(
        f"CREATE TEMP TABLE counts AS SELECT {listed}, count(*) AS n FROM "
        f"read_parquet('{Path(folder)}/*.parquet') GROUP BY {listed}"
    )
    return int(con.execute("SELECT count(*) FROM counts").fetchall()[0][0])


def as_it_is(folder: str) -> int:
    return len(it.read(folder, memory_limit=LIMIT))


def added_up(folder: str) -> int:
    return len(assemble(folder, ReadOptions(), LIMIT, RowLimits(packed=0)))


if __name__ == "__main__":
    main(*(float(word) if word[0].isdigit() else word for word in sys.argv[1:]))  # type: ignore[arg-type]
