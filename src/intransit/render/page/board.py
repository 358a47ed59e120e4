"""The leaderboard: every item, whose rank, strength and rating each has its interval.

A plain table; the script adds sorting, searching and paging.  Intervals are drawn here for the
first rows, and by the script for those that it shows.
"""

import math
from dataclasses import astuple, fields

from intransit.answers.forecast import Standing
from intransit.findings.content import Findings
from intransit.render.page.blocks import Keyed, lead, section, table
from intransit.render.page.charts import draw_interval
from intransit.render.page.sheets import Sheet
from intransit.render.page.words import count, estimate, name, percent, plain, with_small

GONE = "gone"  # marks items that were no longer compared at the end
DRAWN = 100  # rows whose interval is drawn without a script
MEANING = (
    "Strength is the mean chance of beating the others{connected}, a tie as half a win. The rating "
    "is the same on a scale like Elo’s: an average item has 1500, and 400 points more are odds of "
    "ten to one against it. Small numbers are 90&nbsp;% intervals; that of the rank says which "
    "places an item may have."
)
CYCLIC = "Where items beat each other in circles no such list tells who beats whom: see the matrix."


def write_board(findings: Findings) -> str:
    """Return the section of the leaderboard."""
    connected = " that comparisons connect an item with" if findings.together.any() else ""
    standings = findings.standings
    dated = bool(findings.times[-1])
    low, high = ends(standings)
    titles = ["#Rank", "Item", "#Strength", f"{percent(low)} to {percent(high)}", "#Rating"]
    titles += ["#Games", *(["Last compared"] if dated else [])]
    rows = [
        _row(one, still, (low, high), dated=dated, drawn=k < DRAWN)
        for k, (one, still) in enumerate(zip(standings, findings.still, strict=True))
    ]
    at = f" at {plain(findings.times[-1])}" if dated else ""
    return section(
        "board",
        "Leaderboard",
        [
            lead(
                MEANING.format(connected=connected), CYCLIC if findings.verdict.has_cycles else ""
            ),
            table(
                titles,
                rows,
                caption=f"All {len(rows):,} items{at}, the strongest first",
                sheet=sheet(standings),
                kind="board",
            ),
        ],
    )


def ends(standings: tuple[Standing, ...]) -> tuple[float, float]:
    """Return the tenths between which all intervals of strength lie, and a half."""
    low = min([0.5, *(one.low for one in standings)])
    high = max([0.5, *(one.high for one in standings)])
    return math.floor(10 * low) / 10, math.ceil(10 * high) / 10


def _row(
    one: Standing, still: bool, scale: tuple[float, float], *, dated: bool, drawn: bool
) -> list[Keyed]:
    """Return a row; what it is sorted by stands in its cells where their text does not tell."""
    strength = with_small(*estimate(one.strength, one.low, one.high))
    picture = draw_interval(one.strength, one.low, one.high, scale, 0.5) if drawn else ""
    reach = f"{one.strength:.4f} {one.low:.4f} {one.high:.4f}"
    low, high = math.floor(one.rating_low), math.ceil(one.rating_high)
    rank = with_small(f"{one.rank:,}", f"{one.rank_low:,} to {one.rank_high:,}")
    cells = [
        Keyed(str(one.rank), rank),
        Keyed("" if still else GONE, name(one.name)),
        Keyed(f"{one.strength:.6f}", strength),
        Keyed(reach, picture),
        Keyed(f"{one.rating:.3f}", with_small(f"{one.rating:.0f}", f"{low} to {high}")),
        Keyed(f"{one.games:g}", count(one.games)),
    ]
    return [*cells, Keyed("", plain(one.last))] if dated else cells


def sheet(standings: tuple[Standing, ...]) -> Sheet:
    """Return the leaderboard as plain values."""
    columns = [field.name for field in fields(Standing)]
    return Sheet("leaderboard", columns, [astuple(one) for one in standings])
