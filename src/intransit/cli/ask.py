"""`intransit predict`, `rank` and `matrix`: questions to an answer, of one pair or of everybody."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from intransit.analysis import Forecast, item_or_newcomer, tell_where
from intransit.answer import Answer
from intransit.arrays import FloatArray
from intransit.checks import as_whole
from intransit.cli.inputs import (
    Flag,
    ModelPath,
    Moment,
    by_commas,
    check_moment,
    conditions,
    open_answer_at,
)
from intransit.cli.output import (
    Output,
    bar,
    chosen,
    facts,
    grid,
    heading,
    meaning,
    ranking,
    working,
)
from intransit.errors import InputError
from intransit.inference.posterior import reach_of
from intransit.percent import estimate, percent

Side = Literal["first", "second", "none"]
SIDE_VALUES: dict[str, float] = {"first": 1.0, "second": -1.0, "none": 0.0, "": 0.0}


def predict(
    model: ModelPath,
    first: str | None = None,
    second: str | None = None,
    /,
    *,
    at: Moment = None,
    side: Side | None = None,
    under: Annotated[tuple[str, ...], Flag] = (),
    newcomers: Annotated[bool, Flag] = False,
    level: float = 0.9,
    pairs: Path | None = None,
    output: Output | None = None,
) -> None:
    """Say how likely one beats another, with an interval.

    Parameters
    ----------
    first
        The item whose probability of winning is wanted.
    second
        The item that it meets.
    side
        Who has the side (home, white).
    under
        Value of a covariate, as in --under surface=clay; may be repeated.
    newcomers
        Forecast a name that is not in the table as an average newcomer.
    level
        Probability that the interval holds the truth.
    pairs
        CSV file of many pairs: columns first and second, and optionally at and side.
    """
    output = chosen(output)
    if pairs is None and (first is None or second is None):
        raise InputError(
            "predict: give the names of two items, or --pairs with a file of them, as in "
            f'`intransit predict {model} "A" "B"`.'
        )
    if pairs is not None and first is not None:
        raise InputError("predict: give two names or --pairs, not both.")
    answer, _ = open_answer_at(model, at)
    if side is not None:
        _check_side(answer, "--side")
    asked: dict[str, Any] = {
        "under": conditions(under, "--under", "surface=clay"),
        "newcomers": newcomers,
        "level": level,
    }
    if pairs is not None:
        _predict_many(answer, pairs, at, side or "none", asked, output)
        return
    assert first is not None and second is not None  # noqa: PT018
    found = answer.probability(first, second, at, side=SIDE_VALUES[side or "none"], **asked)
    data = _data(found)
    named = asked["under"]
    output.show(data, [data], lambda console: _draw_forecast(console, answer, found, side, named))
    if output.for_machines:
        output.say(*found.notes)


def _check_side(answer: Answer, option: str) -> None:
    if not answer.encoding.sided:
        raise InputError(
            f"{option}: the table of this answer did not say who had the side; leave it out."
        )


def _data(found: Forecast) -> dict[str, object]:
    return {**asdict(found), "at": found.at or None, "notes": list(found.notes)}


def _draw_forecast(
    console: Console,
    answer: Answer,
    found: Forecast,
    side: Side | None,
    under: Mapping[str, str],
) -> None:
    when = f", {found.at}" if found.at else ""
    heading(console, f"{found.first} against {found.second}{when}")
    chance, between = estimate(found.probability, found.low, found.high, 1)
    lines = [
        ("wins", f"{chance}  {bar(found.probability)}".rstrip()),
        (f"{percent(found.level)} interval", between),
    ]
    if found.tie > 0:
        lines[0] = (lines[0][0], lines[0][1] + "  (a tie as half a win)")
        parts = ", ".join(percent(part, 1) for part in (found.win, found.tie, found.loss))
        lines.append(("win, tie, loss", parts))
    if found.margin is not None:
        lines.append(("expected margin", f"{found.margin:+.2f}"))
    if answer.encoding.sided:
        who = {"first": found.first, "second": found.second}.get(side or "none", "neither")
        more = "" if side else " (say who has it with --side first or --side second)"
        lines.append(("side", who + more))
    for name, values in answer.posterior.layout.seen.values:
        which = f"averaged as in the games (say which with --under {name}={values[0]})"
        lines.append((name, under.get(name, which)))
    lines += [("note", note) for note in found.notes]
    console.print(facts(lines))


Asked = tuple[str, str, str | None, float]  # first, second, when, who has the side


def _predict_many(
    answer: Answer,
    file: Path,
    at: str | None,
    side: Side,
    options: Mapping[str, Any],
    output: Output,
) -> None:
    new: dict[str, int] | None = {} if options["newcomers"] else None
    asked = [
        _asked(answer, file, line, {"side": side, **row}, at, new)
        for line, row in read_pairs(file, answer)
    ]
    with working(f"predicting {len(asked):,} games"):
        first, second, when, sides = map(list, zip(*asked, strict=True)) if asked else [[]] * 4
        found = answer.forecasts(first, second, when, side=sides, **options)
    rows = [_data(one) for one in found]
    output.show(rows, rows, lambda console: _draw_many(console, found, options["level"]))


def read_pairs(file: Path, answer: Answer) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file of pairs, each with the number of its line."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as text:
            lines = csv.reader(text)
            header = [name.strip().casefold() for name in next(lines, [])]
            if not {"first", "second"} <= set(header):
                raise InputError(
                    f"{file}: its header is {', '.join(header) or 'empty'}; it needs the columns "
                    "first and second, and may have at and side.",
                    source=str(file),
                )
            if "side" in header:
                _check_side(answer, str(file))
            return [
                (lines.line_num, dict(zip(header, (c.strip() for c in cells), strict=False)))
                for cells in lines
                if cells
            ]
    except UnicodeDecodeError:
        raise InputError(f"{file}: it is not UTF-8 text; write the pairs as CSV.") from None
    except csv.Error as error:
        raise InputError(f"{file}: it cannot be read as CSV ({error}).") from None
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file.") from None


def _asked(
    answer: Answer,
    file: Path,
    line: int,
    row: dict[str, str],
    at: str | None,
    new: dict[str, int] | None,
) -> Asked:
    """Return what a row asks, its own time before that of all; what is wrong has its line."""
    first, second, side = row.get("first", ""), row.get("second", ""), row["side"].casefold()
    when = row.get("at") or at
    try:
        if side not in SIDE_VALUES:
            raise InputError(f'side "{side}": give first, second or none.')
        if not first or not second:
            raise InputError("give two names.")
        if item_or_newcomer(answer, first, new) == item_or_newcomer(answer, second, new):
            raise InputError(f"{first!r} cannot meet itself; give two items.")
        answer.when(when)
    except InputError as error:
        raise InputError(f"{file}, line {line}: {error}", source=str(file), line=line) from None
    return first, second, when, SIDE_VALUES[side]


def _draw_many(console: Console, found: list[Forecast], level: float) -> None:
    columns = {
        "first": True,
        "second": True,
        "at": True,
        "#wins": True,
        f"#{percent(level)} interval": True,
        "#tie": any(one.tie > 0 for one in found),
        "#margin": any(one.margin is not None for one in found),
        "note": any(one.notes for one in found),
    }
    rows = (
        [
            one.first,
            one.second,
            one.at,
            *estimate(one.probability, one.low, one.high, 1),
            percent(one.tie, 1),
            "" if one.margin is None else f"{one.margin:+.2f}",
            "; ".join(one.notes),
        ]
        for one in found
    )
    console.print(grid(columns, rows))


ON_A_TERMINAL = 12  # items of a matrix that a terminal has room for
FAINT = 10  # depth of colour, of 120, below which a cell has none
STRONG = 0.25  # distance from a half at which the colour of a cell is full


def rank(
    model: ModelPath,
    /,
    *,
    at: Moment = None,
    top: int | None = None,
    begin: Annotated[int, Parameter(name="--from", metavar="RANK")] = 1,
    since: str | None = None,
    level: float = 0.9,
    output: Output | None = None,
) -> None:
    """Show all items by their mean probability of beating the others, best first.

    Parameters
    ----------
    top
        How many to show; by default all.
    begin
        The rank to begin with, as in --from 101 --top 100.
    since
        Only items that were compared then or later.
    level
        Probability that an interval holds the truth.
    """
    output = chosen(output)
    answer, when = open_answer_at(model, at)
    reach_of(level)
    begin, total = as_whole("--from", begin, least=1), answer.n_items
    if begin > total:
        raise InputError(f"--from {begin}: there are {total:,} items; give a smaller rank.")
    most = None if top is None else as_whole("--top", top, least=1)
    if since is not None:
        check_moment(answer, since)
    with working("comparing all items"):
        standings = answer.rank(at, level=level, begin=begin, most=most, since=since)
    if not standings:
        raise InputError(f"--since {since}: no item was compared then or later.")
    rows = [asdict(standing) for standing in standings]
    data = {"at": when or None, "level": level, "standings": rows}
    table = ranking(standings, level, output.console.width)
    output.show(data, rows, lambda c: c.print(table))
    if not output.for_machines:
        shown = f"{len(standings)} of {total} items" if len(standings) < total else f"{total} items"
        told = meaning(table, level, tell_where(answer))
        if answer.model.is_cyclic and answer.transitive.verdict != "no evidence":
            do = "do" if answer.transitive.has_cycles else "need"
            told += f" Pairs {do} not all follow this order; `intransit matrix` shows them."
        output.say(f"{shown}{f', {when}' if when else ''}. {told}", *_cautions(answer, at))


def matrix(
    model: ModelPath,
    /,
    *,
    at: Moment = None,
    items: Annotated[tuple[str, ...], Flag] = (),
    top: int | None = None,
    what: Literal["probability", "margin"] = "probability",
    output: Output | None = None,
) -> None:
    """Show who beats whom: each row against each column.

    Parameters
    ----------
    items
        These items, separated by commas; may be repeated, for names with commas.
    top
        The best ones by rank, as many as this; on a terminal 12, else all.
    what
        Probability that the row wins, or its margin (log odds), above 0 for the row.
    """
    output = chosen(output)
    answer, when = open_answer_at(model, at)
    numbers = _choose(answer, at, items, top, for_machines=output.for_machines)
    with working("comparing all pairs"):
        values = _values(answer, numbers, at, what)
    names = [answer.names[k] for k in numbers]
    data = {"at": when or None, "what": what, "items": names, "matrix": values.tolist()}
    corner = "" if "item" in names else "item"
    rows = [
        {corner: name, **dict(zip(names, line, strict=True))}
        for name, line in zip(names, values.tolist(), strict=True)
    ]
    output.show(data, rows, lambda console: _draw_matrix(console, names, values, what))
    if not output.for_machines:
        told = "Per cent of games that the row wins against the column, a tie as half"
        if what == "margin":
            told = "Margin (log odds) of the row over the column"
        said = f"{told}{tell_where(answer)}{f', {when}' if when else ''}."
        output.say(said, *_cautions(answer, at))
        if len(numbers) < answer.n_items and not items:
            output.say(
                f"The {len(numbers)} best of {answer.n_items} items; choose with --top or --items, "
                "or take all with --csv or --json."
            )


def _cautions(answer: Answer, at: str | None) -> list[str]:
    """Say what limits the answer: a time outside the table's, and if nothing drifts."""
    from intransit.report.wording import (  # noqa: PLC0415  slow to load
        STILL,
        tell_strangers,
        tell_unmixed,
    )

    said, when, clock = [], answer.when(at), answer.clock
    begin, end = answer.seen.begin, answer.seen.end
    if clock.kind != "none" and when < (np.floor(begin) if clock.kind == "date" else begin):
        said.append(f"That is before the first game, {clock.to_text(begin)}: a guess.")
    elif clock.kind != "none" and when > end:
        said.append(f"That is after the last game, {clock.to_text(end)}: a forecast.")
    still = answer.seen.begin < answer.seen.end and not answer.model.moves
    return said + tell_unmixed(answer) + tell_strangers(answer) + [STILL] * still


def _choose(
    answer: Answer, at: str | None, items: Sequence[str], top: int | None, *, for_machines: bool
) -> list[int]:
    """Return the numbers of the items to show, best first unless they were named."""
    if items:
        if top is not None:
            raise InputError("--items and --top: give one of them, not both.")
        named = ([text] if text in answer.names else by_commas(text) for text in items)
        names = [name for part in named for name in part]
        chosen = list(dict.fromkeys(answer.number(name) for name in names))
        if len(chosen) < 2:
            raise InputError("--items: give two different items at least, separated by commas.")
        return chosen
    if for_machines and top is None:
        return list(range(answer.n_items))
    wanted = ON_A_TERMINAL if top is None else as_whole("--top", top, least=2)
    with working("ranking"):
        return [answer.number(one.name) for one in answer.rank(at)[:wanted]]


def _values(answer: Answer, chosen: list[int], at: str | None, what: str) -> FloatArray:
    numbers = np.array(chosen)
    values = np.full((len(chosen), len(chosen)), 0.5)
    if what == "margin":
        values = answer.margins(at)[np.ix_(chosen, chosen)]
    else:
        i, j = np.triu_indices(len(chosen), 1)
        values[i, j] = answer.probabilities(numbers[i], numbers[j], at)  # type: ignore[arg-type]
        values[j, i] = 1.0 - values[i, j]
    groups = answer.posterior.groups[numbers]
    return np.where(groups[:, None] == groups, values, np.nan)  # of strangers nothing is known


def _draw_matrix(console: Console, names: Sequence[str], values: FloatArray, what: str) -> None:
    numbers = [str(k) for k in range(1, len(names) + 1)]
    shades = console.color_system in {"256", "truecolor"}
    cells = [[_entry(value, what, shades) for value in line] for line in values]
    for i, line in enumerate(cells):
        line[i] = Text("·")
    rows = ([numbers[i], names[i], *line] for i, line in enumerate(cells))
    table = grid(["#", "item", *(f"#{k}" for k in numbers)], rows)
    table.padding = (0, 0, 0, 1)
    console.print(table)


def _whole(chance: float) -> str:
    """Return a chance in whole per cent; none is called impossible or certain that is not."""
    text = f"{100 * chance:.0f}"
    return (
        "<1" if text == "0" and chance > 0.0 else ">99" if text == "100" and chance < 1.0 else text
    )


def _entry(value: float, what: str, shades: bool) -> Text:
    """Return one entry, green where the row is favoured and red where the column is."""
    if np.isnan(value):
        return Text("–")
    favour = value - 0.5 if what == "probability" else 0.5 * float(np.tanh(0.5 * value))
    text = _whole(value) if what == "probability" else f"{value:+.1f}"
    depth = round(120 * min(abs(favour) / STRONG, 1.0))
    style = "green" if favour > 0 else "red"
    if shades:
        back = f"rgb(0,{depth},{depth // 3})" if favour > 0 else f"rgb({depth},0,0)"
        style = f"white on {back}"
    return Text(text.rjust(3), style="" if depth < FAINT else style)
