"""Our forecasts beside those of other rating systems, in one run of their harness.

    python -m benchmarks.peers PEERS predict --data DATA --out OUT --systems intransit,own-pairs
    python -m benchmarks.peers PEERS synth --out OUT --items 20,50 --systems intransit,own-melo
    python -m benchmarks.peers PEERS report --out OUT

PEERS is the folder of the harness (run.py, adapters.py), DATA that of its tables.  Nothing is set
by hand: at every block all games so far go to `intransit.fit`, as a user's would.
"""

import importlib
import os
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np

import intransit as it
from intransit.arrays import FloatArray


def main(peers: str, *arguments: str) -> None:
    sys.path.insert(0, str(Path(peers).resolve()))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    adapters = importlib.import_module("adapters")
    adapters.register(type("Intransit", (Ours, adapters.Batch), {}))
    run = importlib.import_module("run")
    sys.argv = ["run.py", *arguments]
    run.main()


class Ours:
    """What the harness calls: learn everything so far, forecast a block."""

    name, package, non_transitive = "intransit", "intransit", True
    grid: ClassVar[dict[str, list[object]]] = {}

    def fit(self, c) -> None:  # type: ignore[no-untyped-def]
        """Learn all games so far."""
        names = np.array([f"{k:05d}" for k in range(self.n)])  # type: ignore[attr-defined]
        margins = c.margin if np.isfinite(c.margin).all() else None
        games = it.Games.from_arrays(
            names[c.i],
            names[c.j],
            c.y,
            c.t,
            margins=margins,
            sides=c.home if c.home.any() else None,
        )
        self.answer = it.fit(games)
        self.known = set(self.answer.names)

    def predict(self, t, i, j, home) -> FloatArray:  # type: ignore[no-untyped-def]
        """Return expected results; a half for those never seen."""
        out = np.full(len(t), 0.5)
        place = {name: k for k, name in enumerate(self.answer.names)}
        first, second = (np.array([place.get(f"{k:05d}", -1) for k in who]) for who in (i, j))
        met = (first >= 0) & (second >= 0)
        out[met] = self.answer.probabilities(first[met], second[met], t[met], side=home[met])
        return out


if __name__ == "__main__":
    main(*sys.argv[1:])
