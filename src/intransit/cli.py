"""The command line: arguments to library calls to what is shown."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

import intransit
from intransit.core.inputs import as_whole
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
    run_demo(out, seed=as_whole("--seed", seed, least=0), console=Console())


# By its address: the experiments load only when they are asked for.
app.command(
    "intransit.experiments.command:reproduce",
    name="reproduce",
    help="Run the experiments of the paper again; without a name, list them.",
)


def main() -> None:
    """Run the command line; an error of ours becomes one sentence and exit code 2."""
    try:
        app()
    except IntransitError as error:
        _say(str(error))
        sys.exit(2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{error.strerror or error}. Choose another place, or make room.")
        sys.exit(1)
    except KeyboardInterrupt:
        _say("interrupted.")
        sys.exit(130)


def _say(sentence: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"intransit: {sentence}", markup=False
    )
