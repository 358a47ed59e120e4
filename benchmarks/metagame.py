"""How near a fit comes to the truth of metagames like the bundled one, seed by seed.

Chances are compared with the true ones at all moments of the report; listed cycles with the true
margins of the last day.
"""

import time

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.datasets import metagame
from intransit.findings.gather import gather
from intransit.render.demo import Comparison

SEEDS = range(1, 11)


def main() -> None:
    found, rows = [], []
    for seed in SEEDS:
        games, truth = metagame(rng=seed)
        began = time.process_time()
        answer = it.fit(games, rng=0)
        result = Comparison.of(gather(answer, rng=0), truth)
        seconds = time.process_time() - began
        found.append(result)
        rows.append([f"{seed}", answer.model.name, *cells(result), f"{seconds:.0f}"])
    header = ["seed", "model", "verdict", "share, 90 % interval", "error, points", "all even"]
    header += ["right favourite", "in 90 % intervals", "true cycles", "listed", "real", "s"]
    print_table(header, rows)
    listed, real = sum(r.n_listed for r in found), sum(r.n_real for r in found)
    held = np.mean([r.inside for r in found])
    print(f"True share 50 %. Listed cycles that are real: {real} of {listed}.")
    print(f"90 % intervals hold {held:.0%} of the true chances.")


def cells(result: Comparison) -> list[str]:
    verdict = result.verdict
    return [
        verdict.verdict,
        f"{verdict.share:.0%} ({verdict.share_low:.0%} to {verdict.share_high:.0%})",
        f"{result.error:.1f}",
        f"{result.even:.1f}",
        f"{result.right:.0%}",
        f"{result.inside:.0%}",
        f"{result.n_true}",
        f"{result.n_listed}",
        f"{result.n_real}",
    ]


if __name__ == "__main__":
    main()
