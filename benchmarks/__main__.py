"""Run benchmarks, one process each, and keep what they print in benchmarks/results.

python -m benchmarks              all of them
python -m benchmarks recovery     those named

To try one at a smaller size, which keeps nothing: python -m benchmarks.intervals 0.1
"""

import os
import platform
import subprocess
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
ASK_FOR_FOLDERS = {"halves", "peers", "worked"}  # run by themselves: see their first lines
NAMES = sorted(
    p.stem
    for p in HERE.glob("*.py")
    if not p.stem.startswith("_") and p.stem not in ASK_FOR_FOLDERS
)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"benchmarks: there is no {unknown[0]}; there are {', '.join(NAMES)}.")
        return 2
    (HERE / "results").mkdir(exist_ok=True)
    failed = 0
    for name in names or NAMES:
        print(f"== {name}", flush=True)
        began, load = time.perf_counter(), os.getloadavg()[0]
        # One thread for linear algebra: small systems lose by more, and runs stay comparable.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        run = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}"],
            env=environment,
            cwd=HERE.parent,
            text=True,
            stdout=subprocess.PIPE,
            check=False,
        )
        print(run.stdout)
        failed += run.returncode != 0
        if run.returncode == 0:
            (HERE / "results" / f"{name}.md").write_text(
                _heading(name, time.perf_counter() - began, load) + run.stdout.strip() + "\n"
            )
    return 1 if failed else 0


def _heading(name: str, seconds: float, load: float) -> str:
    """Say what was run, where, and how many processes wanted the machine before and after it."""
    versions = ", ".join(f"{p} {version(p)}" for p in ("intransit", "numpy", "scipy", "numba"))
    return (
        f"# {name}\n\n`python -m benchmarks {name}`, {date.today()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, {versions}; {seconds:.0f} s, "
        f"load {load:.0f} before it and {os.getloadavg()[0]:.0f} after.\n\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
