"""`intransit predict`: what to expect when two meet, or many pairs from a file."""

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from rich.console import Console

from intransit.analysis.results import Forecast
from intransit.answer import Answer
from intransit.cli.answer_files import ModelPath, Moment, check_moment, open_answer
from intransit.cli.output import Output, chosen, facts, grid, heading, visible, working
from intransit.cli.rank import bar
from intransit.cli.table_options import Flag
from intransit.errors import InputError
from intransit.percent import estimate, percent

Side = Literal["first", "second", "none"]
SIDES: dict[str, float] = {"first": 1.0, "second": -1.0, "none": 0.0, "": 0.0}


def predict(
    model: ModelPath,
    first: str | None = None,
    second: str | None = None,
    /,
    *,
    at: Moment = None,
    side: Side | None = None,
    under: tuple[str, ...] = (),
    newcomers: Annotated[bool, Flag] = False,
    level: float = 0.9,
    pairs: Path | None = None,
    output: Output | None = None,
) -> None:
    """Say how likely one beats another, with an interval.

    Parameters
    ----------
    first
        The one whose chances are asked for.
    second
        The one it meets.
    side
        Who has the better side (home, white).
    under
        Value of a covariate, as in --under surface=clay; may be repeated.
    newcomers
        Forecast a name that does not occur as newcomers were.
    level
        Probability that the interval holds.
    pairs
        CSV file with columns first and second, and at and side where wanted: all of them at once.
    """
    output = chosen(output)
    if pairs is None and (first is None or second is None):
        raise InputError(
            "predict: give the names of two items, or --pairs with a file of them, as in "
            f'`intransit predict {model} "A" "B"`.'
        )
    if pairs is not None and first is not None:
        raise InputError("predict: give two names or --pairs, not both.")
    answer = open_answer(model)
    check_moment(answer, at)
    if side is not None:
        _check_side(answer, "--side")
    if pairs is not None:
        _predict_many(answer, pairs, at, side or "none", level, output)
        return
    assert first is not None and second is not None  # noqa: PT018
    found = answer.probability(
        first,
        second,
        at,
        side=SIDES[side or "none"],
        under=_conditions(under),
        newcomers=newcomers,
        level=level,
    )
    data = _data(found)
    output.show(data, [data], lambda console: _draw(console, answer, found, side))
    if output.for_machines:
        output.say(*found.notes)


def _conditions(under: tuple[str, ...]) -> dict[str, str]:
    """Return values of covariates by name."""
    found = {}
    for one in under:
        name, sign, value = one.partition("=")
        if not sign or not name or not value:
            raise InputError(f"--under {one}: give a column and a value, as in surface=clay.")
        found[name] = value
    return found


def _check_side(answer: Answer, option: str) -> None:
    if not answer.encoding.sided:
        raise InputError(
            f"{option}: the table of this answer did not say who had the side; leave it out."
        )


def _data(found: Forecast) -> dict[str, object]:
    return {**asdict(found), "at": found.at or None, "notes": list(found.notes)}


def _draw(console: Console, answer: Answer, found: Forecast, side: Side | None) -> None:
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
        lines.append(("better side", who + more))
    lines += [("note", note) for note in found.notes]
    console.print(facts(lines))


@dataclass(frozen=True)
class Asked:
    """One line of a file of pairs."""

    line: int
    first: str
    second: str
    at: str | None
    side: float


def _predict_many(
    answer: Answer, file: Path, at: str | None, side: Side, level: float, output: Output
) -> None:
    asked = list(read_pairs(file, answer, at, side))
    for one in asked:  # what is wrong is told with its line
        try:
            if answer.number(one.first) == answer.number(one.second):
                raise InputError(f"{one.first!r} cannot meet itself; give two items.")
            answer.when(one.at)
        except InputError as error:
            raise InputError(
                f"{file}, line {one.line}: {error}", source=str(file), line=one.line
            ) from None
    with working(f"predicting {len(asked):,} games"):
        found = answer.forecasts(
            [one.first for one in asked],
            [one.second for one in asked],
            [one.at for one in asked],
            side=[one.side for one in asked],
            level=level,
        )
    rows = [_data(one) for one in found]
    output.show(rows, rows, lambda console: _draw_many(console, found, level))


def read_pairs(file: Path, answer: Answer, at: str | None, side: Side) -> Iterator[Asked]:
    """Yield the pairs of a CSV file; a time or side in it goes before what was asked for all."""
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
            for cells in lines:
                if cells:
                    row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
                    yield _asked(file, lines.line_num, row, at, side)
    except UnicodeDecodeError:
        raise InputError(f"{file}: it is no text in UTF-8; write the pairs as CSV.") from None
    except csv.Error as error:
        raise InputError(f"{file}: it cannot be read as CSV ({error}).") from None
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file.") from None


def _asked(file: Path, line: int, row: dict[str, str], at: str | None, side: Side) -> Asked:
    told = row.get("side", side).casefold()
    if told not in SIDES or not row.get("first") or not row.get("second"):
        what = "give two names" if told in SIDES else f'side "{told}": give first, second or none'
        raise InputError(f"{file}, line {line}: {what}.", source=str(file), line=line)
    return Asked(line, row["first"], row["second"], row.get("at") or at, SIDES[told])


def _draw_many(console: Console, found: list[Forecast], level: float) -> None:
    interval = f"{percent(level)} interval"
    headers = ["first", "second", "at", "wins", interval]
    headers += ["tie"] if any(one.tie > 0 for one in found) else []
    headers += ["margin"] if any(one.margin is not None for one in found) else []
    noted = any(one.notes for one in found)
    table = grid(*headers, *(["note"] if noted else []), right=["wins", interval, "tie", "margin"])
    for one in found:
        cells = [visible(one.first), visible(one.second), one.at]
        cells += estimate(one.probability, one.low, one.high, 1)
        cells += [percent(one.tie, 1)] if "tie" in headers else []
        cells += ["" if one.margin is None else f"{one.margin:+.2f}"] if "margin" in headers else []
        table.add_row(*cells, *([visible("; ".join(one.notes))] if noted else []))
    console.print(table)
