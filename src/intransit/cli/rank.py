"""`intransit rank` and `intransit matrix`: everybody at once."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import compress
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from intransit.analysis.results import Standing
from intransit.answer import Answer
from intransit.arrays import FloatArray
from intransit.checks import as_whole
from intransit.cli.answer_files import ModelPath, Moment, check_moment, moment_text, open_answer
from intransit.cli.output import Output, chosen, grid, visible, working
from intransit.errors import InputError
from intransit.inference.draws import reach_of
from intransit.percent import estimate, percent

BAR = 20  # characters of a bar
# Characters that the numbers, a date, and range and rating take, with the gaps between.
NUMBERS, DATE, MORE = 46, 13, 20
EIGHTHS = " ▏▎▍▌▋▊▉█"
LINE, POINT, HALF = "─", "●", "┊"
ON_A_TERMINAL = 12  # items of a matrix that a terminal has room for
FAINT = 10  # depth of colour, of 120, below which a cell has none
MEANING = (
    "Wins: mean probability of beating each of the others, a tie as half. Rating: an average item "
    "has 1500, and 400 more are odds of ten to one. Range: ranks that an item may have."
)
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
        The rank to begin with, for one page after the other: --from 101 --top 100.
    since
        Only items that were compared then or later.
    level
        Probability that an interval holds.
    """
    output = chosen(output)
    answer = open_answer(model)
    check_moment(answer, at)
    reach_of(level)
    begin, total = as_whole("--from", begin, least=1), answer.n_items
    if begin > total:
        raise InputError(f"--from {begin}: there are {total:,} items; give a smaller rank.")
    most = None if top is None else as_whole("--top", top, least=1)
    if since is not None:
        check_moment(answer, since)
    with working("comparing everybody"):
        standings = answer.rank(at, level=level, begin=begin, most=most, since=since)
    if not standings:
        raise InputError(f"--since {since}: no item was compared then or later.")
    when = moment_text(answer, at)
    rows = [asdict(standing) for standing in standings]
    data = {"at": when or None, "level": level, "standings": rows}
    output.show(data, rows, lambda c: c.print(ranking(standings, level, c.width)))
    if not output.for_machines:
        shown = f"{len(standings)} of {total} items" if len(standings) < total else f"{total} items"
        output.say(f"{shown}{f', {when}' if when else ''}. {MEANING}{_caution(answer)}")


def _caution(answer: Answer) -> str:
    if answer.model.is_cyclic:
        return " Pairs do not all follow this order; `intransit matrix` shows them."
    return ""


def ranking(standings: Sequence[Standing], level: float, width: int) -> Table:
    """Return standings as a table; on a narrow page, drawings, range and rating give way."""
    low, high = min(one.low for one in standings), max(one.high for one in standings)
    interval, dated = f"{percent(level)} interval", any(one.last for one in standings)
    scale = percent(low).ljust(BAR - len(percent(high))) + percent(high)
    longest = max(len(visible(one.name)) for one in standings)
    room = width - longest - NUMBERS - (DATE if dated else 0)
    drawn, whole = room >= MORE + BAR, room >= MORE
    headers = {
        "": True,
        "range": whole,
        "item": True,
        "wins": True,
        interval: True,
        scale: drawn,
        "rating": whole,
        "games": True,
        "last game": dated,
    }
    table = grid(
        *compress(headers, headers.values()),
        right=["", "range", "wins", interval, "rating", "games"],
    )
    for column in table.columns[3 if whole else 2 :]:
        column.no_wrap = True
    for one in standings:
        line = whiskers(one.low, one.strength, one.high, low, high)
        cells: list[str | Text] = [str(one.rank), f"{one.rank_low}–{one.rank_high}"]
        cells += [visible(one.name), *estimate(one.strength, one.low, one.high, 1)]
        cells += [Text(line, style="cyan"), f"{one.rating:.0f}", f"{one.games:,.12g}", one.last]
        table.add_row(*compress(cells, headers.values()))
    return table


def whiskers(low: float, middle: float, high: float, least: float, most: float) -> str:
    """Return an interval drawn on a scale from `least` to `most`, with a mark at a half."""
    span = max(most - least, 1e-12)
    a, m, b, half = (round((x - least) / span * (BAR - 1)) for x in (low, middle, high, 0.5))
    drawn = [" "] * BAR
    if 0 <= half < BAR:
        drawn[half] = HALF
    drawn[a : b + 1] = LINE * (b + 1 - a)
    drawn[min(max(m, 0), BAR - 1)] = POINT
    return "".join(drawn)


def bar(share: float) -> str:
    """Return a share from 0 to 1 as a bar of block characters."""
    eighths = round(share * BAR * 8)
    full, rest = divmod(max(0, min(eighths, BAR * 8)), 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(BAR)


def matrix(
    model: ModelPath,
    /,
    *,
    at: Moment = None,
    items: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
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
    answer = open_answer(model)
    check_moment(answer, at)
    numbers = _choose(answer, at, items, top, for_machines=output.for_machines)
    with working("comparing everybody with everybody"):
        values = _values(answer, numbers, at, what)
    names = [answer.names[k] for k in numbers]
    when = moment_text(answer, at)
    data = {"at": when or None, "what": what, "items": names, "matrix": values.tolist()}
    corner = "" if "item" in names else "item"
    rows = [
        {corner: name, **dict(zip(names, line, strict=True))}
        for name, line in zip(names, values.tolist(), strict=True)
    ]
    output.show(data, rows, lambda console: _draw(console, names, values, what))
    if not output.for_machines:
        told = "Per cent of games that the row wins against the column, a tie as half"
        if what == "margin":
            told = "Margin (log odds) of the row over the column"
        output.say(f"{told}{f', {when}' if when else ''}.")
        if len(numbers) < answer.n_items and not items:
            output.say(
                f"The {len(numbers)} best of {answer.n_items} items; choose with --top or --items, "
                "or take all with --csv or --json."
            )


def _choose(
    answer: Answer, at: str | None, items: Sequence[str], top: int | None, *, for_machines: bool
) -> list[int]:
    """Return the numbers of the items to show, best first unless they were named."""
    if items:
        if top is not None:
            raise InputError("--items and --top: give one of them, not both.")
        chosen = list(dict.fromkeys(k for text in items for k in _named(answer, text)))
        if len(chosen) < 2:
            raise InputError("--items: give two different items at least, separated by commas.")
        return chosen
    if for_machines and top is None:
        return list(range(answer.n_items))
    wanted = ON_A_TERMINAL if top is None else as_whole("--top", top, least=2)
    with working("ranking"):
        return [answer.number(one.name) for one in answer.rank(at)[:wanted]]


def _named(answer: Answer, text: str) -> list[int]:
    """Return the numbers of items in a text: one name, or several between commas."""
    if text in answer.names:
        return [answer.number(text)]
    return [answer.number(name.strip()) for name in text.split(",") if name.strip()]


def _values(answer: Answer, chosen: list[int], at: str | None, what: str) -> FloatArray:
    if what == "margin":
        return answer.margins(at)[np.ix_(chosen, chosen)]
    upper, lower = np.triu_indices(len(chosen), 1)
    numbers = np.array(chosen)
    found = answer.probabilities(numbers[upper], numbers[lower], at)  # type: ignore[arg-type]
    values = np.full((len(chosen), len(chosen)), 0.5)
    values[upper, lower], values[lower, upper] = found, 1.0 - found
    return values


def _draw(console: Console, names: Sequence[str], values: FloatArray, what: str) -> None:
    numbers = [str(k) for k in range(1, len(names) + 1)]
    table = grid("", "item", *numbers, right=["", *numbers])
    table.padding = (0, 0, 0, 1)
    shades = console.color_system in {"256", "truecolor"}
    for i, name in enumerate(names):
        cells = [Text("·") if i == j else _cell(x, what, shades) for j, x in enumerate(values[i])]
        table.add_row(numbers[i], visible(name), *cells)
    console.print(table)


def _cell(value: float, what: str, shades: bool) -> Text:
    """Return one entry, green where the row is favoured and red where the column is."""
    favour = value - 0.5 if what == "probability" else 0.5 * float(np.tanh(0.5 * value))
    text = f"{100 * value:.0f}" if what == "probability" else f"{value:+.1f}"
    depth = round(120 * min(abs(favour) / STRONG, 1.0))
    style = "green" if favour > 0 else "red"
    if shades:
        back = f"rgb(0,{depth},{depth // 3})" if favour > 0 else f"rgb({depth},0,0)"
        style = f"white on {back}"
    return Text(text.rjust(3), style="" if depth < FAINT else style)
