"""How well the rest of the Pokémon type chart follows from a share of it, by model.

Readings of a share of each generation's pairs, noise 0.5; errors are of hidden pairs,
‖found - true‖/‖true‖, 1 for saying nothing.  Means over 5 draws.
"""

import time
import warnings

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import FloatArray
from intransit.datasets import Hidden, hide, pokemon_types
from intransit.errors import ConvergenceWarning

DRAWS, NOISE = 5, 0.5
SHARES = (0.1, 0.2, 0.3, 0.5)
PAIRS = {"pair_scale": "auto", "pair_drift_scale": "auto"}
MODELS = {
    "drifting scores": {"n_factors": 0},
    "1 factor": {"n_factors": 1},
    "scores + pair effects": {"n_factors": 0, **PAIRS},
    "1 factor + pair effects": {"n_factors": 1, **PAIRS},
}


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [row for share in SHARES for row in rows_of(share)]
    header = ["shown", "recovered by", "error, hidden", "read in another generation", "never read"]
    print_table([*header, "right favourite", "in 90 % intervals", "s"], rows)


def rows_of(share: float) -> list[list[str]]:
    found: dict[str, list[list[float]]] = {}
    for seed in range(DRAWS):
        hidden = hide(pokemon_types(), share, noise_scale=NOISE, rng=seed)
        nearest = scores(hidden, hidden.nearest_readings())
        found.setdefault("nearest reading of the pair", []).append([*nearest, np.nan, np.nan])
        for name, settings in MODELS.items():
            found.setdefault(name, []).append(recovered(hidden, settings, seed))
    return [
        [f"{share:.0%}", name, *(show(k, mean) for k, mean in enumerate(np.mean(values, axis=0)))]
        for name, values in found.items()
    ]


def recovered(hidden: Hidden, settings: dict[str, object], seed: int) -> list[float]:
    t, i, j = hidden.chart.cells.T
    began = time.process_time()
    path = it.smooth(hidden.timeline, rng=seed, **settings)
    seconds = time.process_time() - began
    low, high = path.interval(i, j, t.astype(float))
    inside = ((low <= hidden.chart.truth) & (hidden.chart.truth <= high))[~hidden.shown].mean()
    return [*scores(hidden, path.margin(i, j, t.astype(float))), float(inside), seconds]


def scores(hidden: Hidden, margins: FloatArray) -> list[float]:
    kinds = (None, hidden.read_elsewhere, hidden.never_read)
    errors = [hidden.score(margins, kind).error for kind in kinds]
    return [*errors, hidden.score(margins).favourites]


def show(column: int, value: float) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.0%}" if column in (3, 4) else f"{value:.2f}"


if __name__ == "__main__":
    main()
