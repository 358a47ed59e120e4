"""`--each COLUMN` of `fit` and `report`: one answer for each value of a column."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console

from intransit.answers.encoding import model_for
from intransit.answers.found import Group
from intransit.answers.groups import Groups, fit_each
from intransit.commands.columns import Columns
from intransit.commands.files import SUFFIX, check_answer_place
from intransit.commands.output import Output, grid, visible, working
from intransit.inference.sampling import Effort


def fit_groups(
    table: Path,
    each: str,
    columns: Columns,
    model: Mapping[str, object],
    effort: Effort,
    seed: int,
    *,
    edge: float,
    jobs: int = 1,
    on: str | None = None,
) -> Groups:
    """Read a table and fit every group, telling which one is being fitted."""
    wide = columns if each in columns.by else replace(columns, by=(*columns.by, each))
    games = wide.read(table)
    with working("fitting") as said:
        return fit_each(
            games,
            each,
            model=lambda part: model_for(part, **model),  # type: ignore[arg-type]
            edge=edge,
            effective=effort.effective,
            seconds=effort.seconds,
            rng=seed,
            report=said,
            jobs=jobs,
            on=on,
        )


def save_groups(groups: Groups, place: Path) -> dict[str, Path]:
    """Write every answer beside the place, with its value in the name of its file."""
    places: dict[str, Path] = {}
    for value in groups:
        stem = f"{place.name.removesuffix(SUFFIX)}-{_in_a_name(value)}"
        name, k = stem, 2
        while place.with_name(name + SUFFIX) in places.values():
            name, k = f"{stem}-{k}", k + 1
        places[value] = place.with_name(name + SUFFIX)
    for where in places.values():
        check_answer_place(where)
    for value, where in places.items():
        groups[value].save(where)
    return places


def show_fitted(groups: Groups, place: Path, output: Output, started: float) -> None:
    """Write the answers and say where they are, with a line on each group."""
    places = save_groups(groups, place)
    models = {value: str(where) for value, where in places.items()}
    show_groups(groups, output, started, {"models": models})
    for value, where in places.items():
        output.say(f"{value}: the answer is in {where}.")


def show_reported(
    groups: Groups, page: Path, title: str | None, seed: int, output: Output, started: float
) -> None:
    """Write the page and say where it is, with a line on each group."""
    with working("looking back") as said:
        groups.report(page, title=title, rng=seed, report=said)
    seconds = show_groups(groups, output, started, {"page": str(page)})
    output.say(f"The page is in {page} ({seconds:.1f} s).")


def show_groups(
    groups: Groups, output: Output, started: float, more: Mapping[str, object]
) -> float:
    """Give a line on each group, in the form that was asked for; return how long it took."""
    lines = groups.lines()
    seconds = round(time.perf_counter() - started, 3)
    rows = [asdict(line) for line in lines]
    data = {
        "source": groups.source,
        "column": groups.column,
        **more,
        "groups": rows,
        "n_rows": groups.reading.n_rows,
        "n_unused": groups.reading.n_unused,
        "seconds": seconds,
    }
    output.show(data, rows, lambda console: _draw(console, groups.column, lines))
    return seconds


def _draw(console: Console, column: str, lines: list[Group]) -> None:
    table = grid(column, "games", "items", "leader", "verdict", right=("games", "items"))
    for line in lines:
        leader = "" if line.strength is None else f"{line.leader} ({line.strength:.0%})"
        table.add_row(
            visible(line.value),
            f"{line.n_games:,.6g}",
            f"{line.n_items:,}",
            visible(leader),
            visible(line.verdict),
        )
    console.print(table)


def _in_a_name(value: str) -> str:
    """Return a value as a part of the name of a file."""
    return re.sub(r"[^\w.+-]+", "-", value).strip("-.")[:60] or "group"
