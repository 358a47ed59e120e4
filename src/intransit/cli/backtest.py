"""`intransit backtest`: how well models of rising size predict games they have not seen."""

import importlib
import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter
from rich.console import Console

from intransit.checks import as_number, as_whole, open_place, write_whole
from intransit.cli.inputs import Flag, TableOptions, TablePath, by_commas
from intransit.cli.output import Output, chosen, facts, grid, heading, working
from intransit.errors import InputError
from intransit.percent import percent, with_error
from intransit.plotting import require_matplotlib

if TYPE_CHECKING:
    from intransit.backtest import Backtest

QUICK = 3  # blocks, with --quick
PICTURES = {".png", ".svg", ".pdf"}


def backtest(
    table: TablePath,
    /,
    *,
    every: float | None = None,
    last: float = 0.2,
    ladder: Annotated[tuple[str, ...], Flag] = (),
    with_: Annotated[tuple[str, ...], Flag, Parameter(name="--with", metavar="MODULE:NAME")] = (),
    quick: Annotated[bool, Flag] = False,
    figure: Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    on: str | None = None,
    columns: TableOptions | None = None,
    output: Output | None = None,
) -> None:
    """Roll forward through the latest games of a table, each predicted from those before it.

    Parameters
    ----------
    table
        CSV, TSV, JSON lines or Parquet, compressed by gzip or zstd or not.
    every
        Length of a block of games that are forecast together, in days or units of the table's time.
    last
        Share of the games that are predicted: the latest ones.
    ladder
        These models only, separated by commas, as in "Elo, drifting scores"; by default all.
    with_
        A class of your own with learn(games) and predict(fixtures); may be repeated.
    quick
        Three blocks and no refit: a quick look.
    figure
        File for a picture of it, .png, .svg or .pdf.
    seed
        The same seed gives the same numbers.
    jobs
        Number of processes.
    on
        Run on "ray", or "ray://host:port", instead of here.
    """
    output = chosen(output)
    if every is not None:
        every = as_number("--every", every, least=0.0, strict=True)
    if not 0.0 < last < 1.0:
        raise InputError(f"--last is {last:g}; it must be above 0 and below 1.")
    seed = as_whole("--seed", seed, least=0)
    if figure is not None:
        _check_figure(figure)
    own = dict(_load(place) for place in with_)
    games = (columns or TableOptions()).read(table)
    rungs = by_commas(*ladder)
    from intransit.backtest import REFIT, block_length  # noqa: PLC0415  loaded when it is needed
    from intransit.backtest import backtest as run  # noqa: PLC0415

    if quick:
        every = max(block_length(games, last, QUICK) or 0.0, every or 0.0) or None

    with working("backtesting") as report:
        found = run(
            games,
            every=every,
            last=last,
            ladder=rungs or None,
            forecasters=own,
            refit=0 if quick else REFIT,
            rng=seed,
            report=report,
            jobs=as_whole("--jobs", jobs, least=1),
            on=on,
        )
    if figure is not None:
        content = io.BytesIO()
        found.figure().savefig(content, format=figure.suffix.lower()[1:], dpi=110)
        write_whole(figure, content.getvalue())
    data = {
        "source": found.source,
        "n_games": float(found.forecasts.counts.sum()),
        "best": found.best.name,
        "rungs": found.rows(),
        "coverage": [asdict(one) for one in found.coverage],
        "notes": found.notes,
    }
    output.show(data, found.rows(), lambda console: _draw(console, found))
    if figure is not None:
        output.say(f"The picture is {figure}.")


def _load(place: str) -> tuple[str, Any]:
    """Return the class that MODULE:NAME names; modules are also looked for in this folder."""
    module, colon, name = place.partition(":")
    if not colon or not module or not name:
        raise InputError(f"--with {place}: give a module and a name, as in my_models:Elo.")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"--with {place}: {error}; run it from the folder that has it.") from error
    finally:
        sys.path.remove(here)
    if not hasattr(found, name):
        raise InputError(f"--with {place}: {module} has no {name}.")
    return name, getattr(found, name)


def _check_figure(figure: Path) -> None:
    if figure.suffix.lower() not in PICTURES:
        raise InputError(f"--figure {figure}: its name must end in .png, .svg or .pdf.")
    open_place(figure, "give a file with --figure")
    require_matplotlib()


def _draw(console: Console, found: "Backtest") -> None:
    n = float(found.forecasts.counts.sum())
    heading(console, f"{found.source}: {n:,.12g} {'game' if n == 1.0 else 'games'} predicted")
    titles = ["model", "#log loss", "#gain on the row above", "#Brier", "#right", "#miscalibration"]
    rows = (
        [
            one.name,
            with_error(one.log_loss, one.log_loss_error),
            with_error(one.gain, one.gain_error, sign=True) if k else "",
            f"{one.brier:.4f}",
            percent(one.accuracy, 1),
            f"{one.calibration_error:.3f}",
            f"{one.seconds:.1f}",
        ]
        for k, one in enumerate(found.rungs)
    )
    table = grid([*titles, "#seconds"], rows)
    table.rows[found.rungs.index(found.best)].style = "bold green"
    console.print(table)
    best = found.best
    lines = [("best", found.best_in_words)]
    if best.note not in ("", best.name):
        lines.append(("", best.note))
    held = "of {} contain the result of {} ± {} of {} {}"
    for part in found.coverage:
        shares = (percent(share) for share in (part.level, part.share, part.error))
        lines.append(("intervals", held.format(*shares, part.n_groups, part.groups)))
    lines.append(("log loss", f"lower is better; a coin has {np.log(2):.4f}"))
    lines.append(
        ("miscalibration", "how far forecast chances are from observed frequencies, on average")
    )
    lines += [("note", note) for note in found.notes]
    console.print(facts(lines))
