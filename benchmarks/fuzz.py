"""Spoiled tables by the thousand: each must be read, or refused with one sentence.

Sound tables of every shape and form are changed at random (cells, headers, lines, bytes), packed
or not, and read with random settings.  What is neither read nor refused is printed whole, with the
seed that makes it again; such finds become tests.

    python -m benchmarks.fuzz            for ten minutes
    python -m benchmarks.fuzz 3600 7     for an hour, from seed 7
"""

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks._common import print_table
from tests.tables.fuzzing import attempt, spoiled

MOST_SHOWN = 20


def main(seconds: float = 600.0, seed: int = 0) -> int:
    begin, counts, finds = time.monotonic(), Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() - begin < seconds:
            data, settings = spoiled(random.Random(seed))
            outcome = attempt(Path(folder) / "spoiled", data, settings)
            known = outcome in {"read", "refused"}
            counts[outcome if known else "neither"] += 1
            if not known:
                finds.append((seed, outcome, settings, data))
            seed += 1
    total = sum(counts.values())
    print_table(
        ["inputs", "read", "refused in a sentence", "neither"],
        [[f"{total:,}", *(f"{counts[key]:,}" for key in ("read", "refused", "neither"))]],
    )
    for found in finds[:MOST_SHOWN]:
        print(*(repr(part) for part in found), sep="\n  ")
    return 1 if finds else 0


if __name__ == "__main__":
    wanted = [float(word) for word in sys.argv[1:3]]
    sys.exit(main(*wanted[:1], *(int(seed) for seed in wanted[1:])))
