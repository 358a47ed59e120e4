"""Sections with pictures: leaderboard, matrix, strengths, who counters whom, cycles, head to head.

The leaderboard: every item, whose rank, strength and rating each has its interval.

A plain table; the script adds sorting, searching and paging.  Intervals are drawn here for the
first rows, and by the script for those that it shows.

Sections with pictures: the matrix, strengths, who counters whom, cycles, head to head.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, fields

import numpy as np

from intransit.analysis.results import Cycles, ItemCycle, Standing
from intransit.data.reading import plural
from intransit.report.content import Findings
from intransit.report.page.blocks import (
    NO_BREAK,
    Keyed,
    Sheet,
    count,
    estimate,
    figure,
    lead,
    link,
    more,
    name,
    note,
    percent,
    plain,
    section,
    sentence,
    table,
    with_small,
)
from intransit.report.page.payload import MOST_CYCLES, reach
from intransit.report.page.pictures import (
    draw_cycle,
    draw_disc,
    draw_history,
    draw_interval,
    draw_legend,
    draw_matrix,
    draw_strengths,
)

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


MOST_DRAWN = 3  # cycles drawn without a script
MOST_OPEN = 10  # rows of the table of cycles before it asks to be opened
DISCS = (
    "What strengths do not explain. Each is favoured over those anticlockwise of it, up to half a "
    "turn, and the more the farther out both are; items near the centre counter nobody."
)
CELLS = (
    "Each cell is the chance that the item of its row beats the item of its column: blue above a "
    "half, orange below."
)
AROUND = (
    "Under one ranking everything above the diagonal would be blue and everything below it orange; "
    "a circle of items shows as a band of blue along the diagonal, with orange beyond it."
)
RANKED = (
    "The strongest come first, so that one ranking shows as blue above the diagonal and orange "
    "below it."
)
STILL = "Nothing drifts in this model: a cycle is there since all of its items are."
ARROWS = "Arrows point from the favourite; the number is its chance in a game."
NO_DISCS = "Strengths explain who beats whom; no way of countering stands out beyond them."
BEATS = f'{NO_BREAK}<span class="beats">›</span>'
CYCLE_TITLES = ("Cycle", "#Probability", "Least sure step", "#Since", "History")


def write_matrix(findings: Findings) -> str:
    """Return the section of the matrix."""
    unmet = ~np.eye(len(findings.names), dtype=bool) & (findings.games == 0)
    picture = draw_matrix(findings) + draw_legend(reach(findings.chances), unmet=bool(unmet.any()))
    return section(
        "matrix",
        "Who beats whom",
        [
            lead(f"{CELLS} {AROUND if findings.discs else RANKED}"),
            note(findings.why_shown),
            figure(picture, _moment(findings), live="matrix"),
            f'<p class="save-line">{link(_pairs_sheet(findings))} of all these pairs</p>',
        ],
    )


def _pairs_sheet(findings: Findings) -> Sheet:
    """Return the pairs of the matrix at the last time as plain values."""
    columns = ("first", "second", "chance", "low", "high", "games", "won", "tied")
    squares = [findings.chances[-1], findings.low[-1], findings.high[-1]]
    squares += [findings.games, findings.wins, findings.ties]
    rows = [
        (findings.names[i], findings.names[j], *(float(square[i, j]) for square in squares))
        for i, j in zip(*np.triu_indices(len(findings.names), 1), strict=True)
    ]
    return Sheet("pairs", columns, rows)


def write_strengths(findings: Findings) -> str:
    """Return the section of strengths over time; empty where nothing moves."""
    chart = draw_strengths(findings)
    if not chart:
        return ""
    return section(
        "strengths",
        "Strength over time",
        [
            lead("Mean chances of beating the others; bands hold them with a probability of 90 %."),
            figure(chart, "", live="strengths"),
        ],
    )


def write_discs(findings: Findings) -> str:
    """Return the section of the discs."""
    pictures = "".join(
        f'<figure class="plane"><div class="picture" data-disc="{k}">'
        f"{draw_disc(disc, findings.names)}</div><figcaption>Way of countering {k + 1}: "
        f"{percent(disc.share)} of what strengths do not explain</figcaption></figure>"
        for k, disc in enumerate(findings.discs)
    )
    if not pictures:
        return section(
            "discs", "Who counters whom", [lead(sentence(findings.discs_note or NO_DISCS))]
        )
    return section(
        "discs",
        "Who counters whom",
        [
            lead(sentence(findings.discs_note) or DISCS),
            f'<div class="planes" data-live="discs">{pictures}</div>',
        ],
    )


def write_cycles(findings: Findings) -> str:
    """Return the section of the cycles, or why there are none."""
    cycles = findings.cycles
    if not cycles.found:
        calm = cycles.note or "No cycle is sure enough to be listed."
        if findings.n_items < 3:
            calm = "A cycle takes three items."
        return section("cycles", "Cycles", [lead(sentence(calm))])
    shown = cycles.found[:MOST_CYCLES]
    rows = [_cycle_row(cycle, bool(findings.times[0])) for cycle in shown]
    drawn = "".join(draw_cycle(cycle) for cycle in shown[:MOST_DRAWN])
    at = f" at {plain(cycles.at)}" if cycles.at else ""
    still = STILL if len(cycles.times) > 1 and len(findings.times) == 1 else ""
    return section(
        "cycles",
        "Cycles",
        [
            lead(f"{_found(cycles)} {ARROWS}", still),
            note(cycles.note),
            figure(f'<div class="graphs">{drawn}</div>', "", live="cycles"),
            table(
                CYCLE_TITLES,
                rows[:MOST_OPEN],
                caption=f"Cycles{at}, the surest first",
                sheet=_cycles_sheet("cycles", shown[:MOST_OPEN]),
            ),
            more(
                plural(len(rows) - MOST_OPEN, "more cycle"),
                table(
                    CYCLE_TITLES,
                    rows[MOST_OPEN:],
                    caption=f"Further cycles{at}",
                    sheet=_cycles_sheet("further-cycles", shown[MOST_OPEN:]),
                ),
            )
            if len(rows) > MOST_OPEN
            else "",
        ],
    )


def _found(cycles: Cycles) -> str:
    """Say how many cycles there are, and how sure they are."""
    at = f" at {plain(cycles.at)}" if cycles.at else ""
    best = cycles.found[0]
    if best.probability < cycles.level:
        return f"The likeliest cycle{at}, with a probability of {cycles.sure(best)}."
    if cycles.n_found == 1:
        return f"One cycle was found{at}, with a probability of {percent(best.probability)}."
    return (
        f"{cycles.n_found:,} cycles were found{at}, each with a probability of at least "
        f"{percent(cycles.level)}; about {percent(cycles.false_share, 1)} of them are expected to "
        "be false."
    )


def _cycles_sheet(file: str, cycles: Sequence[ItemCycle]) -> Sheet:
    """Return cycles as plain values, an edge a row."""
    columns = ("cycle", "probability", "since", "first", "second", "chance", "sure")
    rows = [
        (number, cycle.probability, cycle.since, first, second, chance, sure)
        for number, cycle in enumerate(cycles, 1)
        for first, second, chance, sure in zip(
            cycle.items, (*cycle.items[1:], cycle.items[0]), cycle.chances, cycle.edges, strict=True
        )
    ]
    return Sheet(file, columns, rows)


def write_duel() -> str:
    """Return the section of two items, which needs a script to choose them."""
    return section(
        "duel",
        "Head to head",
        [
            lead("The chance of one item against another, and what they have played."),
            '<div data-live="duel"><noscript><p class="note">Choosing two items needs a script; '
            "the heat map above shows every pair at the last time.</p></noscript></div>",
        ],
    )


def _cycle_row(cycle: ItemCycle, dated: bool) -> list[str]:
    """Return a row of the table of cycles."""
    path = " ".join(f"<span>{name(item)}{BEATS}</span>" for item in cycle.items)
    weak = cycle.weakest
    first, second = cycle.items[weak], cycle.items[(weak + 1) % len(cycle.items)]
    return [
        f'<span class="path">{path} {name(cycle.items[0])}</span>',
        percent(cycle.probability, 1),
        f'<span class="path"><span>{name(first)}{BEATS}</span> {name(second)}</span> '
        f"<small>{percent(cycle.edges[weak], 1)} sure, "
        f"{percent(cycle.chances[weak])} a game</small>",
        sentence(cycle.since) if dated and cycle.since else "–",
        draw_history(cycle.history) or "–",
    ]


def _at(findings: Findings) -> str:
    """Return " at <the last time>", or nothing where there are no times."""
    return f" at {plain(findings.times[-1])}" if findings.times[-1] else ""


def _moment(findings: Findings) -> str:
    """Return the caption of a picture of the last time."""
    return f'<span class="static-only">Chances{_at(findings) or " in this table"}.</span>'
