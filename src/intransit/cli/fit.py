"""`intransit fit`, `update` and `report`: from a table to an answer, on disk or as a page.

`fit` keeps the answer, `update` adds further games to it, `report` gives the verdict in words and
writes the page.  `--each COLUMN` of `fit` and `report`: one answer for each value of a column.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Group, Parameter
from rich.console import Console

from intransit.analysis import MANY, tell_where
from intransit.analysis.standings import Standing
from intransit.analysis.verdict import EDGE, as_edge, as_record
from intransit.answer import EFFORT, Answer
from intransit.answer import fit as fit_games
from intransit.arrays import LEVEL
from intransit.checks import as_whole, write_whole
from intransit.cli.inputs import (
    SUFFIX,
    Flag,
    TableOptions,
    TablePath,
    check_answer_place,
    check_page_place,
    default_page,
    default_place,
    held,
    is_answer,
    not_used,
    open_answer,
    quoted,
    recognised,
    refuse_table,
)
from intransit.cli.output import (
    Output,
    chosen,
    facts,
    grid,
    heading,
    meaning,
    ranking,
    visible,
    working,
)
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.inference.observations import model_for
from intransit.inference.sampling import Effort
from intransit.percent import percent
from intransit.report.wording import tell_strangers, tell_unmixed, tell_untested

if TYPE_CHECKING:
    from intransit.analysis.cycles import ItemCycle
    from intransit.groups import Groups
    from intransit.report import Findings


MODEL = Group("Model: every term by default", sort_key=40)
Workers = Parameter(group=Group("Tables too large for the memory of one machine", sort_key=50))
EDGE_WORDS = 'Chance that every step of a cycle must exceed for the verdict to be "cycles".'
Each = Annotated[str | None, Parameter(metavar="COLUMN")]


@Parameter(name="*", group=MODEL)
@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """What is fitted to a table, and with how much effort; the same for every command that fits."""

    factors: Annotated[
        int | None, Parameter(help="Number of cyclic factors: how many circles may overlap.")
    ] = None
    pairs: Annotated[
        bool | None, Parameter(help="Whether every pair has an effect of its own.")
    ] = None
    drifting: Annotated[bool | None, Parameter(help="Whether strengths change over time.")] = None
    edge: Annotated[float | None, Parameter(help=EDGE_WORDS)] = EDGE
    effective: Annotated[
        float, Parameter(help="Stop when every pair has so many effective draws.")
    ] = EFFORT.effective
    seconds: Annotated[float, Parameter(help="Stop drawing after so many seconds.")] = (
        EFFORT.seconds
    )
    seed: Annotated[int, Parameter(help="The same seed gives the same answer.")] = 0

    def terms(self) -> dict[str, Any]:
        """Return what is said of the model, as `model_for` takes it."""
        factors = self.factors
        if factors is not None:
            factors = as_whole("--factors", factors, least=0)
        return {"factors": factors, "pairs": self.pairs, "drifting": self.drifting}

    def settings(self) -> dict[str, Any]:
        """Return the settings of a fit, as the library takes them."""
        effort = Effort(self.effective, self.seconds)
        return {
            "edge": EDGE if self.edge is None else as_edge(self.edge, "--edge"),
            "rng": as_whole("--seed", self.seed, least=0),
            "effective": effort.effective,
            "seconds": effort.seconds,
        }


def fit_table(table: Path, columns: TableOptions, options: FitOptions, **more: Any) -> Answer:
    """Read a table and fit it, telling what is being done."""
    terms, settings = options.terms(), options.settings()
    games = columns.read(table)
    with working("fitting") as said:
        return fit_games(games, model=model_for(games, **terms), report=said, **settings, **more)


def fit_groups(
    table: Path, each: str, columns: TableOptions, options: FitOptions, **more: Any
) -> "Groups":
    """Read a table and fit every group, telling which one is being fitted."""
    from intransit.groups import fit_each  # noqa: PLC0415  loaded when it is needed

    terms, settings = options.terms(), options.settings()
    wide = columns if each in columns.by else replace(columns, by=(*columns.by, each))
    games = wide.read(table)
    with working("fitting") as said:
        model = lambda part: model_for(part, **terms)  # noqa: E731
        return fit_each(games, each, model=model, report=said, **settings, **more)


def save_groups(groups: "Groups", place: Path) -> dict[str, Path]:
    """Write every answer beside the place, with its value in the name of its file."""
    places: dict[str, Path] = {}
    for value in groups:
        in_a_name = re.sub(r"[^\w.+-]+", "-", value).strip("-.")[:60] or "group"
        stem = f"{place.name.removesuffix(SUFFIX)}-{in_a_name}"
        name, k = stem, 2
        while place.with_name(name + SUFFIX) in places.values():
            name, k = f"{stem}-{k}", k + 1
        places[value] = place.with_name(name + SUFFIX)
    for where in places.values():
        check_answer_place(where)
    for value, where in places.items():
        groups[value].save(where)
    return places


def show_groups(groups: "Groups", output: Output, started: float, **more: object) -> float:
    """Give a line on each group, in the form that was asked for; return how long it took."""
    lines = groups.lines()
    told = [asdict(line) for line in lines]
    seconds = round(time.perf_counter() - started, 3)
    data = {
        "source": groups.source,
        "column": groups.column,
        **more,
        "groups": told,
        "n_rows": groups.reading.n_rows,
        "n_unused": groups.reading.n_unused,
        "seconds": seconds,
    }
    rows = (
        [
            line.value,
            f"{line.n_games:,.6g}",
            f"{line.n_items:,}",
            ""
            if line.strength is None
            else f"{line.leader} ({percent(line.strength)}{'' if line.clear else ', not clearly'})",
            line.verdict,
        ]
        for line in lines
    )
    titles = [groups.column, "#games", "#items", "leader", "verdict"]
    output.show(data, told, lambda console: console.print(grid(titles, rows)))
    return seconds


SHOWN = 10  # items at the top of the ranking
LISTED = 1_000  # items that are listed for machines, of very many


def fit(
    table: TablePath,
    /,
    *,
    out: Path | None = None,
    each: Each = None,
    options: FitOptions | None = None,
    on: Annotated[str | None, Workers] = None,
    workers: Annotated[int | None, Workers] = None,
    keep: Annotated[Path | None, Workers] = None,
    columns: TableOptions | None = None,
    output: Output | None = None,
) -> None:
    """Find out from a table who beats whom, and keep the answer in a file.

    Parameters
    ----------
    table
        CSV, TSV, JSON lines or Parquet, compressed by gzip or zstd or not.
    out
        File for the answer; by default TABLE's name with .intransit, in the current folder.
    each
        Fit every value of this column on its own, and save each to a file named after it.
    on
        Fit with workers of Ray: "ray" on this machine, or "ray://host:port".
    workers
        Number of workers, or with --each of groups at once; by default one for each processor.
    keep
        Folder for the files of the workers; an interrupted fit resumes from there.
    """
    output, columns = chosen(output), columns or TableOptions()
    place = out or default_place(table)
    check_answer_place(place)
    options = options or FitOptions()
    started = time.perf_counter()
    if each is not None:
        if keep is not None:
            raise InputError(
                "--keep: it belongs to one large fit, and --each makes many small ones."
            )
        jobs = 1 if workers is None else as_whole("--workers", workers, least=1)
        groups = fit_groups(table, each, columns, options, jobs=jobs, on=on)
        places = save_groups(groups, place)
        models = {value: str(where) for value, where in places.items()}
        show_groups(groups, output, started, models=models)
        output.say(*(f"{value}: the answer is in {where}." for value, where in models.items()))
        return
    answer = fit_table(table, columns, options, on=on, workers=workers, keep=keep)
    with working("comparing all items"):
        standings = answer.rank(level=LEVEL, most=LISTED if answer.n_items > MANY else None)
    answer.save(place)
    seconds = time.perf_counter() - started
    rows = [asdict(standing) for standing in standings]
    data = {
        "model": str(place),
        "source": answer.source,
        "n_items": answer.n_items,
        "n_games": answer.n_games,
        "n_rows": answer.reading.n_rows,
        "n_unused": answer.reading.n_unused,
        "story": answer.story,
        "cycles": as_record(answer.transitive),
        "mixing": _mixing(answer),
        "seconds": round(seconds, 3),
        "standings": rows,
    }
    output.show(data, rows, lambda console: _draw_fit(console, answer, standings, columns.repeat()))
    output.say(f"The answer is in {place} ({seconds:.1f} s).")
    if not output.for_machines:
        group = [answer.posterior.groups[answer.number(one.name)] for one in standings]
        pair = [one.name for one, k in zip(standings, group, strict=True) if k == group[0]][:2]
        output.say(f"Try: {quoted('intransit', 'predict', place, *pair)}")


def _mixing(answer: Answer) -> dict[str, object] | None:
    """Return how well the chains have mixed, for machines."""
    found = answer.posterior.mixing
    if found is None:
        return None
    return {
        "chains": found.n_chains,
        "sweeps": found.n_sweeps,
        "draws": len(answer.posterior),
        "reached": found.reached,
        "effective_worst_pair": float(found.effective.min(initial=np.inf)),
        "r_hat_worst_pair": float(found.r_hat.max(initial=1.0)),
        "effective_worst_scale": float(found.scale_effective.min(initial=np.inf)),
        "r_hat_worst_scale": float(found.scale_r_hat.max(initial=1.0)),
    }


def _draw_fit(console: Console, answer: Answer, standings: list[Standing], where: str) -> None:
    assert answer.games is not None  # it was fitted just now
    told = recognised(answer.games)
    if answer.reading.unused:
        told.append(f"more: {quoted('intransit', 'read', answer.reading.source)}{where}")
    lines = [("read", told[0]), *(("", line) for line in told[1:])]
    lines += [("fitted" if k == 0 else "", line) for k, line in enumerate(answer.story)]
    lines.append(("cycles", answer.transitive.sentence))
    console.print(facts(lines))
    console.print()
    table = ranking(standings[:SHOWN], LEVEL, console.width)
    console.print(table)
    best = f"The {SHOWN} best of {answer.n_items} items. " if answer.n_items > SHOWN else ""
    told_of_columns = best + meaning(table, LEVEL, tell_where(answer))
    for line in (told_of_columns, *tell_unmixed(answer), *tell_strangers(answer)):
        console.print(visible(line), style="dim", soft_wrap=True)


def update(
    model: Path,
    table: TablePath,
    /,
    *,
    out: Path | None = None,
    columns: TableOptions | None = None,
    output: Output | None = None,
) -> None:
    """Add further games to an answer; scales and model stay as they are.

    Parameters
    ----------
    model
        File that `intransit fit` wrote; it is replaced, whole or not at all.
    table
        The new games only, in columns like those of the first table.
    out
        Another file for the new answer; MODEL then stays as it is.
    """
    output = chosen(output)
    place = out or model
    refuse_table(model)
    check_answer_place(place)
    with held(place) as real:
        answer = open_answer(model)
        games = (columns or TableOptions()).read(table, clock=answer.clock)
        with working("updating"):
            fresh = answer.update(games)
        fresh.save(real)
    added = list(fresh.names[answer.n_items :])
    n_games, early = float(games.counts.sum()), 0.0
    if answer.clock.kind != "none":
        early = float(games.counts[np.asarray(games.times < answer.when())].sum())
    data: dict[str, object] = {
        "model": str(place),
        "n_games_added": n_games,
        "n_items_added": len(added),
        "items_added": added,
        "n_items": fresh.n_items,
        "n_games_before_the_last": early,
    }
    output.show(data, [data])
    output.say(*not_used(games), _added(n_games, added), *fresh.story[len(answer.story) + 1 :])
    if fresh.n_items > 2:
        output.say(tell_untested(fresh).lstrip())
    if early:
        last = answer.clock.to_text(answer.when())
        output.say(
            f"{plural(int(early), 'game')} from before {last}, the last time of {model}: make sure "
            "that they were not in it already, or they count twice."
        )
    output.say(f"The answer is in {place}.")


def _added(n_games: float, added: list[str]) -> str:
    names = ", ".join(added[:5]) + (", ..." if len(added) > 5 else "")
    return f"Added {plural(int(n_games), 'game')} and {plural(len(added), 'new item')}" + (
        f": {names}." if added else "."
    )


# The report ---------------------------------------------------------------------------------------

Chosen = Parameter(
    group=Group("Which items the page shows", sort_key=45), negative=(), show_default=False
)
CYCLE = ("items", "probability", "weakest", "weakest_probability", "weakest_chance", "since")


@Parameter(name="*", group=MODEL)
@dataclass(frozen=True, kw_only=True)
class ReportFitOptions(FitOptions):
    """What is fitted to a table; an answer has been fitted, and keeps its edge."""

    edge: Annotated[
        float | None,
        Parameter(help=f"{EDGE_WORDS[:-1]}; 0.52, or that of the answer, unless given."),
    ] = None
    seed: Annotated[int, Parameter(help="The same seed gives the same page.")] = 0


def report(
    table: TablePath,
    /,
    *,
    out: Path | None = None,
    model_out: Path | None = None,
    title: str | None = None,
    items: Annotated[list[str] | None, Chosen] = None,
    played: Annotated[int, Chosen] = 0,
    top: Annotated[int, Chosen] = 0,
    each: Each = None,
    backtest: Annotated[bool, Flag] = False,
    force: Annotated[bool, Flag] = False,
    options: ReportFitOptions | None = None,
    columns: TableOptions | None = None,
    output: Output | None = None,
) -> None:
    """Say whether there are cycles, which they are and what changed, and write it as one page.

    Parameters
    ----------
    table
        A table as `intransit fit` takes it, or an answer that it wrote.
    out
        File for the page; by default TABLE's name with .html, in the current folder.
    model_out
        File for the answer too, as `intransit fit` writes it.
    title
        What the page calls the table; by default the name of its file.
    items
        An item to show, by name; may be repeated.
    played
        Show this many items, those with the most games; by default 400 of very many.
    top
        Show this many items, the strongest.
    each
        Fit every value of this column on its own: one page with a tab for each.
    backtest
        Backtest all models block by block; the default is a quicker check of a few models.
    force
        Overwrite the file for the page even if it is not a report.
    """
    output, columns = chosen(output), columns or TableOptions()
    place = out or default_page(table)
    check_page_place(place, force=force)
    if model_out is not None:
        check_answer_place(model_out, "--model-out")
    options = options or ReportFitOptions()
    terms, settings = options.terms(), options.settings()
    seed, edge = settings["rng"], None if options.edge is None else settings["edge"]
    started = time.perf_counter()
    kept = is_answer(table)
    if kept:
        _check_for_tables(table, columns, {**terms, "each": each}, backtest)
    chosen_items = {"items": items or [], "played": played, "top": top}
    if each is not None:
        _check_alone(backtest, model_out, any(chosen_items.values()))
        groups = fit_groups(table, each, columns, options)
        with working("writing the page") as said:
            groups.report(place, title=title, rng=seed, report=said)
        seconds = show_groups(groups, output, started, page=str(place))
        output.say(f"The page is in {place} ({seconds:.1f} s).")
        return
    answer = open_answer(table) if kept else fit_table(table, columns, options)
    answer = replace(answer, transitive=answer.transitivity(edge=edge))
    found = _look(_part(answer, chosen_items), title, backtest, seed, place)
    if model_out is not None:
        answer.save(model_out)
    seconds = round(time.perf_counter() - started, 3)
    data = {"page": str(place), "model": None if model_out is None else str(model_out)}
    rows = [cycle_row(cycle) for cycle in found.cycles] or [dict.fromkeys(CYCLE)]
    output.show(
        {**data, **contents(answer, found), "seconds": seconds},
        rows,
        lambda console: heading(console, found.headline),
    )
    if not output.for_machines:
        output.say(*found.sentences, *tell_strangers(answer))
    if answer.games is not None:
        output.say(*not_used(answer.games))
    if model_out is not None:
        output.say(f"The answer is in {model_out}.")
    output.say(f"The page is in {place} ({seconds:.1f} s).")


def _part(answer: Answer, asked: Mapping[str, Any]) -> Answer:
    """Return the answer about the items that were asked for; all, or of a large one the busiest."""
    if not any(asked.values()):
        return answer.most_played()
    with working("choosing items"):
        return answer.only(asked["items"], played=asked["played"], top=asked["top"])


def _check_alone(backtest: bool, model_out: Path | None, chosen_items: bool) -> None:
    """Refuse, with groups, what is made for one table."""
    if backtest or model_out is not None or chosen_items:
        option = "--backtest" if backtest else "--model-out"
        option = "--items, --played and --top" if chosen_items else option
        raise InputError(
            f"{option}: it cannot be used with --each; keep one group with --where, or the answers "
            "with `intransit fit --each`."
        )


def _check_for_tables(
    table: Path, columns: TableOptions, model: Mapping[str, object], backtest: bool
) -> None:
    """Refuse, with an answer, options that only a table has use for."""
    wrong = [f"--{name}" for name, value in model.items() if value is not None]
    wrong += ["--backtest"] if backtest else []
    if columns != TableOptions():
        wrong.append("options for columns")
    if wrong:
        raise InputError(
            f"{table}: it is an answer, and {wrong[0]} can be used with a table only; leave it "
            "out, or give the table."
        )


def _look(answer: Answer, title: str | None, full: bool, seed: int, place: Path) -> "Findings":
    """Gather what there is to say, and write the page."""
    from intransit.backtest import backtest  # noqa: PLC0415  loaded when it is needed
    from intransit.report import gather  # noqa: PLC0415
    from intransit.report.page import write_page  # noqa: PLC0415

    with working("writing the page") as said:
        ladder = backtest(answer.games, rng=seed, report=said) if full else None
        found = gather(answer, ladder=ladder, title=title, rng=seed, report=said)
        said("writing the page")
        write_whole(place, write_page(found).encode())
    return found


def contents(answer: Answer, found: "Findings") -> dict[str, object]:
    """Return all that was found but the pictures, as plain data."""
    cycles = found.cycles
    return {
        "source": answer.source,
        "headline": found.headline,
        "sentences": found.sentences,
        "n_items": found.n_items,
        "n_games": answer.n_games,
        "cycles": {
            **as_record(found.verdict),
            "listed": [asdict(cycle) for cycle in cycles],
            "listed_at": cycles.at,
            "listed_level": cycles.level,
            "n_found": cycles.n_found,
            "false_share": cycles.false_share,
            "times": cycles.times,
            "note": cycles.note,
        },
        "changes": None if found.changes is None else asdict(found.changes),
        "ranking": asdict(found.ranking),
        "standings": [asdict(standing) for standing in found.standings],
        "ladder": [asdict(step) for step in found.ladder],
        "ladder_notes": found.ladder_notes,
        "data": found.data,
        "story": found.story,
    }


def cycle_row(cycle: "ItemCycle") -> dict[str, object]:
    """Return a cycle as a row, its least sure edge named."""
    k = cycle.weakest
    return {
        "items": cycle.items,
        "probability": cycle.probability,
        "weakest": f"{cycle.items[k]} > {(*cycle.items, cycle.items[0])[k + 1]}",
        "weakest_probability": cycle.edges[k],
        "weakest_chance": cycle.chances[k],
        "since": cycle.since,
    }
