"""`read`: the front door, from a file or data frame to Games.

What does the work is loaded when something is read, so that ``import intransit`` stays quick.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from intransit.data.games import Games
from intransit.data.reading import ReadOptions, as_columns, as_conditions, check_name
from intransit.errors import InputError

Name = str | Literal[False] | None
Names = Name | Sequence[str]  # several columns are the members of a team


def read(
    source: object,
    *,
    first: Names = None,
    second: Names = None,
    outcome: Name = None,
    winner: Names = None,
    loser: Names = None,
    first_score: Name = None,
    second_score: Name = None,
    margin: Name = None,
    time: Name = None,
    side: Name = None,
    neutral: Name = None,
    weight: Name = None,
    count: Name = None,
    by: str | Sequence[str] = (),
    order: str | Sequence[object] | None = None,
    day_first: bool | None = None,
    grades: Sequence[object] | None = None,
    shape: Literal["games", "matrix", "teams", "tally", "orders", "podiums", "judgments"]
    | None = None,
    wins: str | None = None,
    losses: str | None = None,
    draws: str | None = None,
    entries: Literal["shares", "wins", "margins"] | None = None,
    games: object = None,
    event: str | None = None,
    place: str | None = None,
    doubled: Literal["once", "keep"] | None = None,
    where: Mapping[str, object] | None = None,
    both_bad: Literal["tie", "drop"] = "tie",
    strict: bool = False,
    memory_limit: str = "1GB",
) -> Games:
    r"""Read who met whom, when, and with what outcome, from a file or a data frame.

    Columns are recognised by their names and by what they hold; `Games.report` says which, why,
    and which rows could not be used.  More than half of the rows unusable is an error.

    Parameters
    ----------
    source
        Path to separated text, JSON lines or Parquet, compressed by gzip or zstd or not; a pandas,
        polars, arrow or duckdb table; a table of an engine, which stays there (Ibis, Spark, Dask,
        Polars lazy frames); or an address such as ``postgres://ann@host/league?table=games``.
    first, second
        Columns with the two items; several columns each where teams play.  Any column named here
        or below is taken as said; False says that there is none.
    outcome
        Who won, as the first sees it: 1, 0, 0.5, or 1, -1, 0, or words, or the winner's name.
    winner, loser
        Columns with the two items by outcome; `winner` alone is an outcome.
    first_score, second_score, margin
        Columns with the scores of the two, or by how much the first was ahead.
    time
        Dates, date-times (UTC unless they name a zone), numbers, or periods with names.
    side
        Who has the side (home, white, shown first): 1 the first, -1 the second, 0 neither; or
        ``"first"`` if the first always has it.
    neutral
        Column that says yes where neither has the side.
    weight, count
        How much a row counts, and how many games it stands for.
    by
        Further columns to keep as covariates, as in ``"surface"`` or ``("surface", "format")``;
        rows are counted together only where these agree too.  See `Games.by`.
    order
        For periods that have names: a list of them, ``"version"`` (13.8 before 13.10) or
        ``"file"`` (as the table has them).
    day_first
        Whether 01/02/2024 is the first of February; asked for only where both are possible.
    grades
        Graded preferences from the one best for the first item to the one best for the second, as
        in ``["A>>B", "A>B", "A=B", "B>A", "B>>A"]``; the middle one is a tie.
    shape
        What a row is: one of the ``"games"``, an item of a ``"matrix"``, a game of ``"teams"`` of
        several a side, a ``"tally"`` of games won and lost, a place in finishing ``"orders"``, a
        whole such order (``"podiums"``), or ``"judgments"`` of a model beside a baseline.
    wins, losses, draws
        Columns of a tally, as the first sees it.
    entries, games
        What a matrix holds, and a second matrix with numbers of games (a source like the first).
    event, place
        Columns of finishing orders; the items are in `first`.
    doubled
        Games that stand in the table twice, as each side sees them or in equal rows, count
        ``"once"``, or as they are (``"keep"``); by default once where chance does not explain
        that every row has its twin.
    where
        Keep only rows with these values, as in ``{"format": "Modern"}``.
    both_bad
        A verdict that both are bad is a ``"tie"``, or its row is left out (``"drop"``).
    strict
        Refuse the table if any row cannot be used.
    memory_limit
        Memory that the engine may use before it spills to disk; the result comes on top.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "games.csv"
    >>> _ = file.write_text("date,winner,loser\n2026-05-01,rock,scissors\n2026-05-02,paper,rock")
    >>> read(file)
    Games(3 items, 2 comparisons in 2 rows, wins, times 2026-05-01 to 2026-05-02)
    """
    sides = {"first": first, "second": second, "winner": winner, "loser": loser}
    several = {role: tuple(name) for role, name in sides.items() if isinstance(name, tuple | list)}
    _check_teams(several)
    names: dict[str, str | bool | None] = {
        **{role: None if role in several else name for role, name in sides.items()},  # type: ignore[misc]
        "outcome": outcome,
        "first_score": first_score, "second_score": second_score, "margin": margin, "time": time,
        "side": side, "neutral": neutral, "weight": weight, "count": count,
    }  # fmt: skip
    for role, name in names.items():
        check_name(role, name)
    for role, name in {"wins": wins, "losses": losses, "draws": draws, "event": event}.items():
        check_name(role, name, none=False)
    check_name("place", place, none=False)
    from intransit.data.pipeline import assemble  # noqa: PLC0415

    told = {"wins": wins, "losses": losses, "draws": draws}
    options = ReadOptions(
        names, as_columns(by), as_conditions(where), order, day_first, both_bad, strict, grades,
        shape, doubled, entries, games, {role: name for role, name in told.items() if name},
        event, place, several,
    )  # fmt: skip
    options.check()
    return assemble(source, options, memory_limit)


def describe(games: Games) -> str:
    """Return what was understood of the table behind these `games`, in short lines for people."""
    return "\n".join([repr(games), *games.report.lines()])


def _check_teams(several: dict[str, tuple[str, ...]]) -> None:
    if several and tuple(several) not in {("first", "second"), ("winner", "loser")}:
        raise InputError("teams: give the columns of both sides, as first= and second=.")
    if len({len(columns) for columns in several.values()} | {1}) > 2 or () in several.values():
        raise InputError("teams: give as many columns for one side as for the other.")
