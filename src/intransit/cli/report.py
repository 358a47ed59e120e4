"""`intransit report`: from a table, or an answer, to a verdict in words and a page."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from intransit.analysis.verdict import as_record
from intransit.answer import Answer
from intransit.checks import write_whole
from intransit.cli.fit import (
    EDGE_WORDS,
    MODEL,
    Each,
    FitOptions,
    fit_groups,
    fit_table,
    show_groups,
)
from intransit.cli.inputs import (
    Flag,
    TableOptions,
    TablePath,
    check_answer_place,
    check_page_place,
    default_page,
    is_answer,
    not_used,
    open_answer,
)
from intransit.cli.output import Output, chosen, heading, working
from intransit.errors import InputError

if TYPE_CHECKING:
    from intransit.analysis.cycles import ItemCycle
    from intransit.report.content import Findings

Chosen = Parameter(group=Group("Which items the page shows, of many", sort_key=45))
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
        Items to show, by name; more than one by repeating the option.
    played
        Show so many of the items that played most; 400, unless said, of a large answer.
    top
        Show so many of the strongest items.
    each
        Fit every value of this column on its own: one page with a tab for each.
    backtest
        Measure all models by rolling forward, which takes a while, not a few on the latest games.
    force
        Replace the file for the page even if it is no report.
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
        with working("looking back") as said:
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
        output.say(*found.sentences)
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
    from intransit.report.gather import gather  # noqa: PLC0415
    from intransit.report.page import write_page  # noqa: PLC0415

    with working("looking back") as said:
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
