"""Spoiled tables and answer files by the thousand: each must be read, or refused with one sentence.

Sound tables of every shape and form are changed at random (cells, headers, lines, bytes), packed
or not, and read with random settings; sound answer files are changed in their bytes, their parts,
their words and their arrays, and sealed again.  What is neither read nor refused is printed whole,
with the seed that makes it again; such finds become tests.

    python -m benchmarks.fuzz                    50,000 tables and 50,000 answer files
    python -m benchmarks.fuzz tables 2000 7      2,000 tables, seeds from 7 on
    python -m benchmarks.fuzz answers 100000
"""

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks._common import print_table
from tests.analysis.fuzzing import Spoiler
from tests.data.fuzzing import attempt, spoiled

EACH = 50_000  # inputs of each kind
MOST_SHOWN, LONGEST = 20, 3_000
EVERY = 1_000  # inputs between two words about how far it is

Trial = Callable[[random.Random], tuple[str, object]]  # what came of it, and what was tried
Find = tuple[int, str, object]  # the seed, what came of it, and what was tried


def main(what: str = "both", n: int = EACH, seed: int = 0) -> int:
    rows, finds = [], []
    with tempfile.TemporaryDirectory() as folder:
        if what != "answers":
            rows.append(run("tables", _tables(Path(folder)), n, seed, finds))
        if what != "tables":
            rows.append(run("answer files", _answers(Path(folder)), n, seed, finds))
    columns = ["spoiled", "inputs", "read", "refused in a sentence", "neither", "s of processor"]
    print_table(columns, rows)
    for found in finds[:MOST_SHOWN]:
        print(*(repr(part)[:LONGEST] for part in found), sep="\n  ")
    return 1 if finds else 0


def run(what: str, trial: Trial, n: int, seed: int, finds: list[Find]) -> list[str]:
    """Try `n` inputs; return the row of the table, and add what was neither read nor refused."""
    begin, counts = time.process_time(), Counter[str]()
    for k in range(n):
        outcome, tried = trial(random.Random(seed + k))
        known = outcome in {"read", "refused"}
        counts[outcome if known else "neither"] += 1
        if not known:
            finds.append((seed + k, outcome, tried))
            print(f"seed {seed + k}: {outcome[:LONGEST]}", file=sys.stderr, flush=True)
        if (k + 1) % EVERY == 0:
            print(f"{what}: {k + 1:,} of {n:,}, {len(finds)} finds", file=sys.stderr, flush=True)
    told = [counts[key] for key in ("read", "refused", "neither")]
    return [what, *(f"{count:,}" for count in (n, *told)), f"{time.process_time() - begin:.0f}"]


def _tables(folder: Path) -> Trial:
    def trial(rng: random.Random) -> tuple[str, object]:
        data, settings = spoiled(rng)
        return attempt(folder / "spoiled", data, settings), (settings, data)

    return trial


def _answers(folder: Path) -> Trial:
    spoiler = Spoiler(folder)

    def trial(rng: random.Random) -> tuple[str, object]:
        return spoiler.attempt(spoiler.spoiled(rng)), "an answer file"

    return trial


if __name__ == "__main__":
    words = sys.argv[1:]
    kind = words.pop(0) if words and words[0] in {"tables", "answers", "both"} else "both"
    sys.exit(main(kind, *(int(word) for word in words[:2])))
