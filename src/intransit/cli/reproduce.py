"""`intransit reproduce`: run the paper's experiments and write a page about them."""

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

import intransit
from intransit.checks import as_whole, write_whole
from intransit.cli.inputs import Flag, by_commas
from intransit.cli.output import grid, open_console, to_json
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.experiments import EXPERIMENTS, estimators, plots
from intransit.experiments.experiment import (
    Experiment,
    Options,
    Run,
    Table,
    TrialTask,
    run_all,
)
from intransit.plotting import require_matplotlib

USUAL = ("limit", estimators.JOINT)  # drawn unless --without says otherwise
EXTRAS = ("newton", "limit", *estimators.FURTHER)
INTERRUPTED = 130  # what a shell reports of a program that Ctrl-C ended


def reproduce(
    *names: str,
    trials: int = 100,
    seed: int = 0,
    jobs: int | None = None,
    on: str | None = None,
    out: Path = Path("reproduction"),
    quick: Annotated[bool, Flag] = False,
    with_: Annotated[list[str] | None, Parameter(name="--with", negative=())] = None,
    without: Annotated[list[str] | None, Parameter(negative=())] = None,
) -> None:
    """Run the paper's experiments again; without a name, list them.

    Parameters
    ----------
    names
        Experiments to run, or "all".
    trials
        Trials at each point; the paper has 100.
    seed
        The same seed gives the same numbers, whatever the number of jobs.
    jobs
        Processes to run in; by default one for each processor.
    on
        Run on "ray", or "ray://host:port", instead of here.
    out
        Folder for numbers, figures and the page; an interrupted run resumes from there.
    quick
        Fewer points, trials and days: a look in about a minute.
    with_
        Further curves, separated by commas: newton, shared-drift.
    without
        Curves to leave out, separated by commas: joint, limit.  They take most of the time.
    """
    if not names:
        listed = EXPERIMENTS.values()
        rows = ([one.name, one.figure, one.title, ", ".join(one.extras)] for one in listed)
        console = open_console()
        console.print(grid(["name", "the paper's", "what", "further curves"], rows))
        console.print("Run one with `intransit reproduce NAME`, or `intransit reproduce all`.")
        return
    chosen = _choose(names)
    run = Run(
        as_whole("--trials", trials, least=1),
        as_whole("--seed", seed, least=0),
        _options(quick, with_, without),
    )
    n_jobs = as_whole("--jobs", jobs, least=1) if jobs is not None else os.cpu_count() or 1
    require_matplotlib()
    started = time.perf_counter()
    try:
        with _progress() as (on_start, on_done):
            tables = run_all(
                chosen,
                run,
                parts=out / "parts",
                jobs=n_jobs,
                on=on,
                on_start=on_start,
                on_done=on_done,
            )
    except KeyboardInterrupt:
        open_console(stderr=True).print(
            f"Interrupted. What is finished is kept in {out}; the same command goes on from there."
        )
        raise SystemExit(INTERRUPTED) from None
    facts = describe_run(run, n_jobs, chosen)
    shown = [write_experiment(one, tables[one.name], run, facts, out) for one in chosen]
    write_whole(out / "index.md", plots.to_markdown(facts, shown).encode())
    write_whole(out / "index.html", plots.to_html(facts, shown).encode())
    _report(shown, out, time.perf_counter() - started)


def write_experiment(
    experiment: Experiment, table: Table, run: Run, facts: dict[str, object], out: Path
) -> plots.Shown:
    """Write numbers, figure and claims of one finished experiment."""
    out.mkdir(parents=True, exist_ok=True)
    claims, gains = experiment.judge(table), experiment.weigh(table)
    files = plots.render(experiment, table)
    record = {
        "name": experiment.name,
        "title": experiment.title,
        "figure": experiment.figure,
        "run": facts,
        "n_trials": run.trials(experiment),
        "settings": experiment.settings,
        "notes": experiment.notes,
        "claims": [
            {
                "statement": claim.statement,
                "source": claim.source,
                "verdict": claim.verdict,
                "checks": [
                    {"measured": c.measured, "passed": bool(c.passed)} for c in claim.checks
                ],
            }
            for claim in claims
        ],
        "gains": [asdict(gain) for gain in gains],
        "summary": table.summary(),
    }
    write_whole(out / f"{experiment.name}.json", to_json(record).encode())
    write_whole(out / f"{experiment.name}.csv", table.to_csv().encode())
    for kind, content in files.items():
        write_whole(out / f"{experiment.name}.{kind}", content)
    return plots.Shown(experiment, run.trials(experiment), claims, gains, files["svg"])


def describe_run(run: Run, n_jobs: int, experiments: Sequence[Experiment]) -> dict[str, object]:
    """Return what a reader needs to know to repeat a run and to judge its time."""
    made = sorted({run.trials(experiment) for experiment in experiments})
    facts: dict[str, object] = {
        "date": datetime.now(UTC).date().isoformat(),
        "seed": run.seed,
        "trials": f"{made[0]} to {made[-1]}" if len(made) > 1 else made[0],
        "quick": "yes, so that verdicts are only a hint" if run.options.quick else "no",
        "further curves": " and ".join(sorted(run.options.extras)) or "none",
        "intransit": intransit.__version__,
        "numpy": np.__version__,
        "Python": platform.python_version(),
        "jobs": n_jobs,
        "processors": os.cpu_count(),
    }
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        facts["memory"] = f"{memory:.0f} GB"
    return facts


def _choose(names: Sequence[str]) -> list[Experiment]:
    if "all" in names:
        return list(EXPERIMENTS.values())
    for name in names:
        if name not in EXPERIMENTS:
            raise InputError(
                f"reproduce: there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}, "
                "and all."
            )
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]


def _options(quick: bool, with_: Sequence[str] | None, without: Sequence[str] | None) -> Options:
    more, less = _words("--with", with_), _words("--without", without)
    return Options(quick, frozenset((set(USUAL) | more) - less))


def _words(option: str, given: Sequence[str] | None) -> set[str]:
    words = set(by_commas(*(given or ())))
    for word in sorted(words - set(EXTRAS)):
        raise InputError(f"{option}: {word!r} is not known; it may be {' or '.join(EXTRAS)}.")
    return words


@contextmanager
def _progress() -> Iterator[tuple[Callable[[float, float], None], Callable[[TrialTask], None]]]:
    """Show a bar with the time left on a terminal, and nothing anywhere else."""
    console = open_console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    bar = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
    line: list[TaskID] = []

    def on_start(total: float, found: float) -> None:
        again = " (going on)" if found else ""
        line.append(bar.add_task(f"reproduce{again}", total=total, completed=int(found)))

    def on_done(task: TrialTask) -> None:
        bar.update(line[0], advance=task.seconds, description=f"reproduce {task.experiment.name}")

    with bar:
        yield on_start, on_done


def _report(shown: Sequence[plots.Shown], out: Path, seconds: float) -> None:
    rows = (
        [one.experiment.name, plots.MARKS[claim.verdict], claim.statement]
        for one in shown
        for claim in one.claims
    )
    console = open_console()
    console.print(grid(["experiment", "verdict", "claim"], rows))
    count = plural(len(shown), "experiment")
    console.print(f"{count} in {seconds:.0f} s. Page: {out / 'index.html'}")
