"""The demo: a drifting non-transitive problem, recovered, beside its truth."""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from intransit.arrays import FloatArray, IntArray
from intransit.core.weights import optimal_weights
from intransit.recover import Recovery, recover
from intransit.render.figures import draw_recovery
from intransit.simulate import Simulation, simulate
from intransit.study import canonical_planes, count_triangles, decompose, strongest_cycles

N_ITEMS, N_FACTORS, N_PERIODS, N_OUTCOMES = 24, 2, 6, 120
NOISE, DRIFT = 0.2, 0.05


def run_demo(out: Path, *, seed: int, console: Console) -> None:
    """Simulate, recover, print a short table and write a picture into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    console.print(
        f"Simulating {N_ITEMS} items over {N_PERIODS} periods, {N_OUTCOMES} noisy readings each "
        f"of {N_ITEMS * (N_ITEMS - 1) // 2} pairs (noise {NOISE}, drift {DRIFT} a period) ..."
    )
    sim = simulate(
        n_items=N_ITEMS,
        n_factors=N_FACTORS,
        n_periods=N_PERIODS,
        n_outcomes=N_OUTCOMES,
        noise_scale=NOISE,
        drift_scale=DRIFT,
        rng=seed,
    )
    weights = optimal_weights(N_PERIODS, noise_scale=NOISE, drift_scale=DRIFT)
    answer = recover(sim.measurements, n_factors=N_FACTORS, weights=weights, rng=seed)
    console.print(answer.status)
    for doubt in answer.doubts:
        console.print(doubt)
    console.print(_table(sim, answer))
    _say_cycle(sim.margins[-1], answer.margins, console)
    picture = out / "recovery.png"
    figure = draw_recovery(sim.margins[-1], answer.margins, _seen(sim), _order(answer.margins))
    figure.savefig(picture, dpi=110)  # type: ignore[attr-defined]
    console.print(f"The picture is {picture}.", soft_wrap=True)


def _table(sim: Simulation, answer: Recovery) -> Table:
    truth, found = sim.margins[-1], answer.margins
    upper = np.triu_indices(N_ITEMS, 1)
    unread = _seen(sim)[upper] == 0
    table = Table("", "truth", "recovered", title="The last period")
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    table.add_row("relative error of the margins", "", f"{error:.1%}")
    for label, which in (("all pairs", slice(None)), ("pairs not read in it", unread)):
        right = np.mean(np.sign(found[upper][which]) == np.sign(truth[upper][which]))
        table.add_row(f"right favourite, {label}", "", f"{right:.1%}")
    shares = [decompose(X).cyclic_share for X in (truth, found)]
    table.add_row("share that no ranking explains", *(f"{share:.1%}" for share in shares))
    table.add_row("cycles of three", *(f"{count_triangles(X):,}" for X in (truth, found)))
    return table


def _say_cycle(truth: FloatArray, found: FloatArray, console: Console) -> None:
    """Name the strongest recovered cycle and whether the truth has it."""
    for cycle in strongest_cycles(found, 1):
        path = " beats ".join(str(item) for item in (*cycle.items, cycle.items[0]))
        true_edges = [float(truth[edge]) for edge in cycle.edges]
        verdict = "a cycle of the truth too" if min(true_edges) > 0 else "not one of the truth"
        console.print(
            f"Strongest recovered cycle: {path} (weakest margin {cycle.strength:.2f}), {verdict}."
        )


def _seen(sim: Simulation) -> IntArray:
    """Return how often each pair was read in the last period, in either order."""
    operator = sim.measurements.periods[-1].operator
    reads = np.asarray(operator.adjoint(np.ones(operator.n_outcomes)).toarray())  # type: ignore[union-attr]
    return np.asarray(reads + reads.T, dtype=np.int64)


def _order(margins: FloatArray) -> IntArray:
    """Return the items as they follow each other around the strongest plane."""
    return np.argsort(canonical_planes(margins, 1)[0].angles)
