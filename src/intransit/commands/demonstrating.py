"""`intransit demo`: a problem with a known truth, recovered and drawn."""

from pathlib import Path

from rich.console import Console

from intransit.core.inputs import as_whole
from intransit.render.demo import run_demo


def demo(*, out: Path = Path("demo"), seed: int = 0) -> None:
    """Simulate a drifting non-transitive problem, recover it, and show it against the truth.

    Parameters
    ----------
    out
        Folder for the picture; made if missing.
    seed
        Seed of the simulation.
    """
    run_demo(out, seed=as_whole("--seed", seed, least=0), console=Console())
