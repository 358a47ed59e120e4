"""Our forecasts beside those of other rating systems, in one run of their harness.

    python -m benchmarks.peers PEERS predict --data DATA --out OUT --systems intransit,own-pairs
    python -m benchmarks.peers PEERS synth --out OUT --items 20,50 --systems intransit,own-melo
    python -m benchmarks.peers PEERS report --out OUT      the harness's own tables
    python -m benchmarks.peers PEERS table OUT             the short ones kept in results/peers.md

PEERS is the folder of the harness (run.py, adapters.py), DATA that of its tables.  Nothing is set
by hand: the games before the test part go to `intransit.fit`, as a user's would, and those of each
block to `update`; every `REFIT` blocks all games so far are fitted again.  Items never seen are
forecast as newcomers.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import FloatArray
from intransit.errors import InputError

REFIT = 24  # blocks after which everything is drawn anew: two years of months
SECONDS = 120.0  # most of a fit: the harness is run beside other work


def main(peers: str, *arguments: str) -> None:
    if arguments[:1] == ("table",):
        show(Path(arguments[1]))
        return
    sys.path.insert(0, str(Path(peers).resolve()))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    adapters = importlib.import_module("adapters")
    adapters.register(type("Intransit", (Ours, adapters.Batch), {}))
    run = importlib.import_module("run")
    sys.argv = ["run.py", *arguments]
    run.main()


def show(out: Path) -> None:
    """Print log losses on real tables and regrets on simulated ones, the best of each system."""
    losses: dict[str, dict[str, float]] = {}
    regrets: dict[str, dict[str, list[float]]] = {}
    for file in sorted(out.glob("*.json")):
        result, words = json.loads(file.read_text()), file.stem.split("~")
        if "failed" in result:
            continue
        if words[0] == "predict" and words[4] == "30":
            p, y = np.clip(result["p"], 1e-4, 1 - 1e-4), np.array(result["y"])
            loss = float(-np.mean(y * np.log(p) + (1 - y) * np.log1p(-p)))
            row = losses.setdefault(f"{words[2]}, {words[3]}", {})
            row[words[1]] = loss
        elif words[0] == "synth":
            row_of = regrets.setdefault(f"{words[4]}, {words[5]}", {})
            row_of.setdefault(f"{words[1]}, {words[2]} items", []).append(result["regret"])
    print("Log loss of the last 20 %, refitted every 30 days; `default` and `tuned` as the harness")
    print("has them, ours tunes itself:\n")
    _print(losses)
    print("Regret on simulated sets, means over seeds:\n")
    _print({name: {k: float(np.mean(v)) for k, v in row.items()} for name, row in regrets.items()})


def _print(table: dict[str, dict[str, float]]) -> None:
    columns = sorted({name for row in table.values() for name in row})
    order = sorted(table, key=lambda name: (not name.startswith("intransit"), name))
    rows = [
        [name, *(f"{table[name][c]:.4f}" if c in table[name] else "" for c in columns)]
        for name in order
    ]
    print_table(["system", *columns], rows)


class Ours:
    """What the harness calls: learn a chunk of games, forecast a block."""

    name, package, non_transitive = "intransit", "intransit", True
    grid: ClassVar[dict[str, list[object]]] = {}

    def setup(self) -> None:
        """Begin anew."""
        super().setup()  # type: ignore[misc]
        self.answer: it.Answer | None = None
        self.n_learnt = 0

    def learn(self, c) -> None:  # type: ignore[no-untyped-def]
        """Take in a further chunk: update, or fit all games so far."""
        data = importlib.import_module("data")
        self.seen = c if self.seen is None else data.concat(self.seen, c)
        due = self.n_learnt % REFIT == 0
        self.n_learnt += 1
        if self.answer is not None and not due:
            try:
                self.answer = self.answer.update(self._games(c))
                return
            except InputError:  # an outcome of a kind that did not occur before
                pass
        self.answer = it.fit(self._games(self.seen), seconds=SECONDS)

    def _games(self, c) -> it.Games:  # type: ignore[no-untyped-def]
        names = np.array([f"{k:05d}" for k in range(self.n)])  # type: ignore[attr-defined]
        whole = self.seen
        return it.Games.from_arrays(
            names[c.i].tolist(),
            names[c.j].tolist(),
            c.y,
            c.t,
            margins=c.margin if np.isfinite(whole.margin).all() else None,
            sides=c.home if whole.home.any() else None,
        )

    def predict(self, t, i, j, home) -> FloatArray:  # type: ignore[no-untyped-def]
        """Return expected results; items never seen are newcomers, with numbers below 0."""
        assert self.answer is not None, "it learns before it forecasts"
        place = {name: k for k, name in enumerate(self.answer.names)}
        first = np.array([place.get(f"{k:05d}", -1) for k in i])
        second = np.array([place.get(f"{k:05d}", -2) for k in j])
        return np.asarray(self.answer.expected(first, second, t.astype(float), home.astype(float)))


if __name__ == "__main__":
    main(*sys.argv[1:])
