"""The sections of the page, each the words, pictures and tables of one part of the findings.

The leaderboard is a plain table; the script adds sorting, searching and paging.  Intervals are
drawn here for the first rows, and by the script for those that it shows.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from intransit.analysis.results import (
    Cycles,
    ItemChange,
    ItemCycle,
    MatchupChange,
    Ranking,
    Standing,
)
from intransit.data.reading import plural
from intransit.percent import points
from intransit.report.content import Findings, Step
from intransit.report.page.blocks import (
    NO_BREAK,
    Keyed,
    Sheet,
    at,
    bullets,
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
    sheet_of,
    table,
    with_error,
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
    strength_ends,
)
from intransit.report.wording import SURE_WEIGHT

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
    low, high = strength_ends(standings)
    titles = ["#Rank", "Item", "#Strength", f"{percent(low)} to {percent(high)}", "#Rating"]
    titles += ["#Games", *(["Last compared"] if dated else [])]
    rows = [
        _row(one, still, (low, high), dated=dated, drawn=k < DRAWN)
        for k, (one, still) in enumerate(zip(standings, findings.still, strict=True))
    ]
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
                caption=f"All {len(rows):,} items{at(findings.times[-1])}, the strongest first",
                sheet=sheet_of("leaderboard", standings),
                kind="board",
            ),
        ],
    )


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
    when = at(cycles.at)
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
                caption=f"Cycles{when}, the surest first",
                sheet=_cycles_sheet("cycles", shown[:MOST_OPEN]),
            ),
            more(
                plural(len(rows) - MOST_OPEN, "more cycle"),
                table(
                    CYCLE_TITLES,
                    rows[MOST_OPEN:],
                    caption=f"Further cycles{when}",
                    sheet=_cycles_sheet("further-cycles", shown[MOST_OPEN:]),
                ),
            )
            if len(rows) > MOST_OPEN
            else "",
        ],
    )


def _found(cycles: Cycles) -> str:
    """Say how many cycles there are, and how sure they are."""
    when = at(cycles.at)
    best = cycles.found[0]
    if best.probability < cycles.level:
        return f"The likeliest cycle{when}, with a probability of {cycles.sure(best)}."
    if cycles.n_found == 1:
        return f"One cycle was found{when}, with a probability of {percent(best.probability)}."
    return (
        f"{cycles.n_found:,} cycles were found{when}, each with a probability of at least "
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


def write_duel(_: Findings) -> str:
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


def _moment(findings: Findings) -> str:
    """Return the caption of a picture of the last time."""
    return f'<span class="static-only">Chances{at(findings.times[-1]) or " in this table"}.</span>'


MIXTURE = (
    "In place of a best item a cyclic table has a mixture that nothing beats on average: the "
    "weights with which to choose among the items below."
)
BEST = (
    "Who is best is not known for sure. The weights below make a mixture that nothing beats on "
    "average; under a ranking they are the probabilities of being the best."
)
CLEAR = "One item is best, nearly for sure: nothing beats it on average."
MOST_SURE = 30
MOST_UNSURE = 12
MOST_MATCHUPS = 30
EVEN = 0.5  # probability
MOST_UPSETS = 10


def write_changes(findings: Findings) -> str:
    """Return the section of changes; empty where there are no times."""
    changes = findings.changes
    if changes is None:
        return ""
    sure = [item for item in changes.items if item.sure]
    unsure = [item for item in changes.items if not item.sure][:MOST_UNSURE]
    rise = sum(item.change > 0 for item in sure)
    if not changes.items and not changes.matchups:
        return section("changes", "What changed", [lead(sentence(changes.note))])
    counts = (
        f"{plural(rise, 'item')} clearly became stronger and {len(sure) - rise} weaker; at most "
        f"{percent(changes.rate)} of such findings are expected to be false."
        if sure
        else "nobody clearly became stronger or weaker."
    )
    share = ""
    if np.isfinite(changes.matchup_share) and changes.matchup_share_high > 0.0:
        part, between = estimate(
            changes.matchup_share, changes.matchup_share_low, changes.matchup_share_high
        )
        share = (
            f" {part} of the change ({percent(changes.level)} interval {between}) is of matchups, "
            "not of strengths."
        )
    matchups = changes.matchups[:MOST_MATCHUPS]
    return section(
        "changes",
        "What changed",
        [
            lead(f"From {plain(changes.since)} to {plain(changes.until)}: {counts}{share}"),
            note(changes.note),
            _items_table(sure[:MOST_SURE], "Stronger and weaker, the surest first", "changes"),
            more(
                "Changes of strength that are not sure",
                _items_table(unsure, "Not sure, the surest first", "unsure-changes"),
            )
            if unsure
            else "",
            _matchups_table(matchups),
        ],
    )


def _items_table(items: Sequence[ItemChange], caption: str, file: str) -> str:
    """Return changes of strength, with their intervals on one scale."""
    if not items:
        return ""
    far = _far([(item.low, item.high) for item in items])
    rows = []
    for item in items:
        change, between = points(item.change, item.low, item.high)
        rise = item.change > 0
        value = f'<span class="{"more" if rise else "less"}">{"▲" if rise else "▼"} {change}</span>'
        rows.append(
            [
                name(item.name),
                with_small(value, between),
                draw_interval(item.change, item.low, item.high, (-far, far), 0.0),
                percent(item.probability, 1),
            ]
        )
    titles = ("Item", "#Points, 90 % interval", f"±{100 * far:.0f} points", "#Sure of the sign")
    return table(titles, rows, caption=caption, sheet=sheet_of(file, items))


def _matchups_table(matchups: Sequence[MatchupChange]) -> str:
    """Return matchups that changed beyond what strengths explain."""
    if not matchups:
        return ""
    far = _far([(pair.low, pair.high) for pair in matchups])
    rows = [
        [
            f"{name(pair.first)} against {name(pair.second)}",
            with_small(*points(pair.change, pair.low, pair.high)),
            draw_interval(pair.change, pair.low, pair.high, (-far, far), 0.0),
            percent(pair.probability, 1),
            "yes" if pair.sure else "no",
        ]
        for pair in matchups
    ]
    titles = (
        "Matchup",
        "#Points, 90 % interval",
        f"±{100 * far:.0f} points",
        "#Sure of the sign",
        "Sure",
    )
    caption = "Matchups that changed, strengths held"
    return table(titles, rows, caption=caption, sheet=sheet_of("matchups", matchups))


def write_ranking(findings: Findings) -> str:
    """Return the section of the nearest ranking, its cost, and the equilibrium."""
    ranking = findings.ranking
    when = at(ranking.at)
    return section(
        "ranking",
        "A ranking, honestly",
        [
            lead(
                f"The nearest ranking{when} names the wrong favourite in {ranking.n_upsets:,} of "
                f"{plural(ranking.n_pairs, 'pair')} ({percent(ranking.wrong, 1)}). Who trusts it "
                f"gives away {100 * ranking.cost:.2f} points of the chance to win, on average over "
                "all pairs."
                if ranking.n_upsets
                else f"The nearest ranking{when} names the favourite of every pair."
            ),
            note(ranking.note),
            _equilibrium_table(ranking, cyclic=findings.verdict.has_cycles),
            _upsets_table(ranking),
            _order_table(findings),
        ],
    )


def _equilibrium_table(ranking: Ranking, *, cyclic: bool) -> str:
    """Return the mixture that nothing beats on average."""
    rows = [
        [
            name(share.name),
            with_small(*estimate(share.weight, share.low, share.high)),
            draw_interval(share.weight, share.low, share.high, (0.0, 1.0)),
            percent(share.probability),
        ]
        for share in ranking.equilibrium
    ]
    if not rows:
        return ""
    titles = (
        "Item",
        f"#Weight, {percent(ranking.level)} interval",
        "0 to 100 %",
        "#Probability of a part",
    )
    clear = ranking.equilibrium[0].weight > SURE_WEIGHT
    words = lead(CLEAR if clear else MIXTURE if cyclic else BEST)
    sheet = sheet_of("mixture", ranking.equilibrium)
    return words + table(titles, rows, caption="The mixture that nothing beats", sheet=sheet)


def _upsets_table(ranking: Ranking) -> str:
    """Return the clearest pairs against the ranking: those likelier to be so than not."""
    shown = [upset for upset in ranking.upsets if upset.probability > EVEN][:MOST_UPSETS]
    rows = [
        [
            f"{name(upset.lower)} beats {name(upset.higher)}",
            percent(upset.chance),
            percent(upset.probability, 1),
        ]
        for upset in shown
    ]
    if not rows:
        return ""
    titles = ("The lower beats the higher", "#Chance", "#Sure")
    sheet = sheet_of("upsets", shown)
    return table(titles, rows, caption="What the ranking gets wrong", sheet=sheet)


def _order_table(findings: Findings) -> str:
    """Return the nearest ranking itself, beside the places of the leaderboard."""
    order = findings.ranking.order
    if not order:
        return ""
    ranks = {one.name: one.rank for one in findings.standings}
    rows = [[f"{place:,}", name(item), f"{ranks[item]:,}"] for place, item in enumerate(order, 1)]
    sheet = Sheet(
        "nearest-ranking",
        ("place", "item", "leaderboard_rank"),
        [(place, item, ranks[item]) for place, item in enumerate(order, 1)],
    )
    words = f"The nearest ranking, {plural(len(rows), 'item')}"
    titles = ("#Place", "Item", "#Rank in the leaderboard")
    return more(words, table(titles, rows, caption="The nearest ranking", sheet=sheet, kind="long"))


def write_ladder(findings: Findings) -> str:
    """Return the section of models and how well they predicted games; empty if there are none."""
    if not findings.ladder:
        return section("ladder", "How well it predicts", [bullets(findings.ladder_notes)])
    return section(
        "ladder",
        "How well it predicts",
        [
            lead(
                "Models from simple to rich predicted games that they had not seen. A lower log "
                "loss is better; whiskers are one standard error. The gain is over the simpler "
                "model that the note names."
            ),
            table(
                ("Model", "#Log loss", "Lower is better", "#Gain", "#Right", "Note"),
                [_step_row(step, _losses(findings.ladder)) for step in findings.ladder],
                caption="The ladder of models",
                sheet=sheet_of("models", findings.ladder),
            ),
            bullets(findings.ladder_notes),
        ],
    )


def _step_row(step: Step, ends: tuple[float, float]) -> list[str]:
    """Return a rung of the ladder."""
    low, high = step.log_loss - step.log_loss_error, step.log_loss + step.log_loss_error
    gain = "–"
    if np.isfinite(step.gain) and (step.gain or step.gain_error):
        gain = with_error(step.gain, step.gain_error, sign=True)
    return [
        f'<span class="rung">{plain(step.name)}</span>',
        with_error(step.log_loss, step.log_loss_error),
        draw_interval(step.log_loss, low, high, ends),
        gain,
        percent(step.accuracy, 1),
        f'<span class="remark">{plain(step.note)}</span>',
    ]


def _losses(steps: Sequence[Step]) -> tuple[float, float]:
    """Return the ends of the scale of log losses."""
    low = [step.log_loss - step.log_loss_error for step in steps if np.isfinite(step.log_loss)]
    high = [step.log_loss + step.log_loss_error for step in steps if np.isfinite(step.log_loss)]
    return min(low, default=0.0), max(high, default=1.0)


def write_data(findings: Findings) -> str:
    """Return what was in the table and what was chosen."""
    return section(
        "data",
        "The data and the model",
        [
            bullets(findings.data),
            "<h3>What was chosen, and why</h3>" if findings.story else "",
            bullets(findings.story),
        ],
    )


def _far(intervals: Sequence[tuple[float, float]]) -> float:
    """Return how far a scale around nothing must go, in whole points."""
    ends = [abs(end) for interval in intervals for end in interval if np.isfinite(end)]
    return max(0.01, float(np.ceil(100 * max(ends, default=0.0))) / 100)


SECTIONS: dict[str, tuple[str, Callable[[Findings], str]]] = {  # by place: its name in the contents
    "board": ("Leaderboard", write_board),
    "matrix": ("Matrix", write_matrix),
    "strengths": ("Over time", write_strengths),
    "discs": ("Counters", write_discs),
    "cycles": ("Cycles", write_cycles),
    "duel": ("Head to head", write_duel),
    "changes": ("Changes", write_changes),
    "ranking": ("Ranking", write_ranking),
    "ladder": ("Predictions", write_ladder),
    "data": ("Data", write_data),
}
TIMED = ("matrix", "strengths", "discs", "cycles", "duel")  # those that follow the time slider
