"""Spoiled tables and answer files by the thousand: each must be read, or refused with one sentence.

Sound tables of every shape and form are changed at random (cells, headers, lines, bytes), packed
or not, and read with random settings; sound answer files are changed in their bytes, their parts,
their words and their arrays, and sealed again.  What is neither read nor refused is printed whole,
with the seed that makes it again; such finds become tests.

    python -m benchmarks.fuzz                   tables and answers, ten minutes each
    python -m benchmarks.fuzz tables 3600 7     for an hour, from seed 7
    python -m benchmarks.fuzz answers 3600
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

MOST_SHOWN, LONGEST = 20, 3_000

Trial = Callable[[random.Random], tuple[str, object]]  # what came of it, and what was tried


def main(what: str = "both", seconds: float = 600.0, seed: int = 0) -> int:
    n_finds = 0
    with tempfile.TemporaryDirectory() as folder:
        if what != "answers":
            n_finds += run("tables", _tables(Path(folder)), seconds, seed)
        if what != "tables":
            n_finds += run("answer files", _answers(Path(folder)), seconds, seed)
    return 1 if n_finds else 0


def run(what: str, trial: Trial, seconds: float, seed: int) -> int:
    begin, counts, finds = time.monotonic(), Counter[str](), []
    while time.monotonic() - begin < seconds:
        outcome, tried = trial(random.Random(seed))
        known = outcome in {"read", "refused"}
        counts[outcome if known else "neither"] += 1
        if not known:
            finds.append((seed, outcome, tried))
        seed += 1
    total = sum(counts.values())
    print_table(
        [f"spoiled {what}", "read", "refused in a sentence", "neither"],
        [[f"{total:,}", *(f"{counts[key]:,}" for key in ("read", "refused", "neither"))]],
    )
    for found in finds[:MOST_SHOWN]:
        print(*(repr(part)[:LONGEST] for part in found), sep="\n  ")
    return len(finds)


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
    sys.exit(main(kind, *(float(word) for word in words[:1]), *(int(word) for word in words[1:2])))
