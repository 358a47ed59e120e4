"""The command line: arguments to library calls to what is shown."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

import intransit
from intransit.errors import IntransitError
from intransit.render.demo import run_demo

app = App(
    name="intransit",
    help="Who beats whom, by how much, how it changes, and where the cycles are.",
    version=intransit.__version__,
)


@app.command
def demo(
    *,
    out: Annotated[Path, Parameter(help="Folder for the picture; made if missing.")] = Path("demo"),
    seed: Annotated[int, Parameter(help="Seed of the simulation.")] = 0,
) -> None:
    """Simulate a drifting non-transitive problem, recover it, and show it against the truth.

    Example: intransit demo --out demo
    """
    run_demo(out, seed=seed, console=Console())


def main() -> None:
    """Run the command line; an error of ours becomes one sentence and exit code 2."""
    try:
        app()
    except IntransitError as error:
        Console(stderr=True, highlight=False).print(f"intransit: {error}", markup=False)
        sys.exit(2)
    except OSError as error:
        Console(stderr=True, highlight=False).print(f"intransit: {error}", markup=False)
        sys.exit(1)
    except KeyboardInterrupt:
        Console(stderr=True, highlight=False).print("intransit: interrupted.", markup=False)
        sys.exit(130)
