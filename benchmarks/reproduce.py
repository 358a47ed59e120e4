"""The paper's experiments in full: time, rate of the games, and the page under docs/reproduction.

Runs everything twice: as `intransit reproduce all` for its time, and with all further curves for
the page.  Each run starts from nothing.
"""

import gzip
import io
import os
import resource
import shutil
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from benchmarks._common import print_table
from intransit.arrays import FloatArray
from intransit.cli.reproduce import reproduce
from intransit.experiments import EXPERIMENTS
from intransit.experiments import price_kernels as games
from intransit.experiments.price_game import N_DAYS, N_GAMES, N_PLAYERS, SHAPE_RANGE, STEP

PAGE = Path(__file__).parents[1] / "docs" / "reproduction"
PAIRS = np.stack(np.triu_indices(N_PLAYERS, 1), axis=1)
N_TIMED_DAYS = 300


def main() -> None:
    time_games()
    rows = [timed("reproduce all --quick", quick=True)]
    rows.append(timed("reproduce all --with newton", page=PAGE, with_=["newton"]))
    print(f"\nFrom nothing to the page, {os.cpu_count()} jobs:\n")
    print_table(
        [
            "command",
            "seconds",
            "seconds of processor time",
            "a processor: the least on a free machine",
        ],
        rows,
    )


def time_games() -> None:
    """Print games a second of the compiled loop and of a plain numpy loop, in turns."""
    shapes = np.random.default_rng(0).uniform(*SHAPE_RANGE, size=(N_PLAYERS, 2))
    compiled_days(shapes.copy(), 1)
    seconds = {"compiled": [], "numpy": []}
    for _ in range(5):
        for name, days in (("compiled", compiled_days), ("numpy", numpy_days)):
            began = time.process_time()
            days(shapes.copy(), N_TIMED_DAYS)
            seconds[name].append(time.process_time() - began)
    n_games = N_TIMED_DAYS * len(PAIRS) * N_GAMES
    best = {name: min(times) for name, times in seconds.items()}
    print(
        f"{len(PAIRS) * N_GAMES * N_DAYS / 1e6:.0f} million games a run. Million games a second of "
        f"one core: {n_games / best['compiled'] / 1e6:.1f} compiled, "
        f"{n_games / best['numpy'] / 1e6:.1f} in a numpy loop over days and pairs; ratio "
        f"{best['numpy'] / best['compiled']:.2f}. Kept in memory: a mean a pair a day."
    )


def compiled_days(shapes: FloatArray, n_days: int) -> None:
    out = [np.empty((n_days, len(PAIRS))) for _ in range(3)]
    games.play_days(np.random.default_rng(0), shapes, STEP, PAIRS, N_GAMES, *out)


def numpy_days(shapes: FloatArray, n_days: int) -> None:
    rng = np.random.default_rng(0)
    daily = np.empty((n_days, len(PAIRS)))
    for day in range(n_days):
        shapes = games.FLOOR + np.abs(shapes + STEP * rng.normal(size=shapes.shape) - games.FLOOR)
        for p, (i, j) in enumerate(PAIRS):
            price = rng.random(N_GAMES)
            first, second = rng.beta(*shapes[i], N_GAMES), rng.beta(*shapes[j], N_GAMES)
            first_wins = (first <= price) & ((second > price) | (first > second))
            second_wins = (second <= price) & ((first > price) | (second > first))
            daily[day, p] = np.mean(price * first_wins - price * second_wins)


def timed(command: str, page: Path | None = None, **settings: object) -> list[str]:
    """Run in an empty folder; keep the results as the page where one is given."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        began, began_busy = time.perf_counter(), busy_seconds()
        with redirect_stdout(io.StringIO()):  # the page says it better
            reproduce("all", out=out, **settings)  # type: ignore[arg-type]
        seconds, busy = time.perf_counter() - began, busy_seconds() - began_busy
        if page is not None:
            keep(out, page)
    return [f"`{command}`", f"{seconds:.0f}", f"{busy:.0f}", f"{busy / (os.cpu_count() or 1):.0f}"]


def busy_seconds() -> float:
    """Return the processor time of this process and of those it has seen end."""
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def keep(out: Path, page: Path) -> None:
    """Copy the results without their parts; tables are packed, SVGs stand in index.html."""
    shutil.rmtree(page, ignore_errors=True)
    page.mkdir(parents=True)
    for file in sorted(out.iterdir()):
        if file.suffix == ".csv":
            (page / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        elif file.name == "index.md":
            text = file.read_text(encoding="utf-8")
            for name in EXPERIMENTS:
                text = text.replace(f"({name}.csv)", f"({name}.csv.gz)")
            (page / file.name).write_text(text, encoding="utf-8")
        elif file.is_file() and file.suffix != ".svg":
            shutil.copy(file, page)


if __name__ == "__main__":
    main()
