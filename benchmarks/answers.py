"""From a CSV of 50,000 games to a saved answer, and to the report: seconds of the whole command.

The first run compiles into an empty cache; later ones find it.  Games are simulated: scores alone,
half of the energy cyclic, and ties.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks._common import print_table

N_GAMES = 50_000
TABLES = {
    "40 items, a ranking": ("--items", "40", "--cyclic", "0"),
    "40 items, half cyclic": ("--items", "40", "--cyclic", "0.5"),
    "40 items, half cyclic, ties": ("--items", "40", "--cyclic", "0.5", "--ties"),
    "300 items, a ranking": ("--items", "300", "--cyclic", "0"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        print(f"{N_GAMES:,} games over a year, whole process (to hold: fit 5 s, report 10 s):\n")
        rows = []
        for name, settings in TABLES.items():
            table = place / "games.csv"
            command("simulate", "--out", table, "--games", N_GAMES, "--force", *settings)
            if not rows:
                first = run("fit", table, place / "empty")
                print(f"First fit, compiling into an empty cache: {first[0]:.1f} s.\n")
                first = run("report", table, place / "empty")
            fitted = run("fit", table, place / "empty")
            told = run("report", table, place / "empty")
            rows.append([name, *(f"{n:.1f}" for n in (*fitted[:2], *told[:2])), fitted[2], told[2]])
        header = [
            "table",
            "fit, s",
            "of processor",
            "report, s",
            "of processor",
            "drawn",
            "verdict",
        ]
        print_table(header, rows)


def run(what: str, table: Path, cache: Path) -> tuple[float, float, str]:
    """Return seconds, seconds of processor, and how many sweeps were drawn, or the verdict."""
    began, busy = time.perf_counter(), os.times()
    ending = {"fit": ".intransit", "report": ".html"}[what]
    out = command(what, table, "--out", table.with_suffix(ending), "--json", cache=cache)
    seconds, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system - busy.children_user - busy.children_system
    told = json.loads(out)
    if what == "report":
        return seconds, used, told["cycles"]["verdict"]
    drawn = next(line for line in told["story"] if " draws from the posterior" in line)
    return seconds, used, drawn.split(". ", 1)[-1].split(":")[0]


def command(*words: object, cache: Path | None = None) -> str:
    """Run `intransit`, and return what it prints."""
    place = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", "from intransit.cli import main; main()", *map(str, words)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **place},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    main()
