"""Sections that are tables: changes, the ranking and what it loses, the ladder, the data."""

from collections.abc import Sequence
from dataclasses import astuple, fields

import numpy as np

from intransit.analysis.results import ItemChange, MatchupChange, Ranking, Share, Upset
from intransit.data.reading import plural
from intransit.percent import points
from intransit.report.content import Findings, Step
from intransit.report.page.blocks import (
    Sheet,
    bullets,
    estimate,
    lead,
    more,
    name,
    note,
    percent,
    plain,
    section,
    sentence,
    table,
    with_error,
    with_small,
)
from intransit.report.page.pictures import draw_interval

MIXTURE = (
    "In place of a best item a cyclic table has a mixture that nothing beats on average: the "
    "weights with which to choose among the items below."
)
BEST = (
    "Who is best is not known for sure. The weights below make a mixture that nothing beats on "
    "average; under a ranking they are the probabilities of being the best."
)
CLEAR = "One item is best, nearly for sure: nothing beats it on average."
SURE_WEIGHT = 0.95
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
    sheet = Sheet(file, [field.name for field in fields(ItemChange)], [*map(astuple, items)])
    return table(titles, rows, caption=caption, sheet=sheet)


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
    columns = [field.name for field in fields(MatchupChange)]
    sheet = Sheet("matchups", columns, [*map(astuple, matchups)])
    return table(titles, rows, caption="Matchups that changed, strengths held", sheet=sheet)


def write_ranking(findings: Findings) -> str:
    """Return the section of the nearest ranking, its cost, and the equilibrium."""
    ranking = findings.ranking
    at = f" at {plain(ranking.at)}" if ranking.at else ""
    return section(
        "ranking",
        "A ranking, honestly",
        [
            lead(
                f"The nearest ranking{at} names the wrong favourite in {ranking.n_upsets:,} of "
                f"{plural(ranking.n_pairs, 'pair')} ({percent(ranking.wrong, 1)}). Who trusts it "
                f"gives away {100 * ranking.cost:.2f} points of the chance to win, on average over "
                "all pairs."
                if ranking.n_upsets
                else f"The nearest ranking{at} names the favourite of every pair."
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
    columns = [field.name for field in fields(Share)]
    sheet = Sheet("mixture", columns, [*map(astuple, ranking.equilibrium)])
    caption = "The mixture that nothing beats"
    return words + table(titles, rows, caption=caption, sheet=sheet)


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
    columns = [field.name for field in fields(Upset)]
    sheet = Sheet("upsets", columns, [*map(astuple, shown)])
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
                sheet=_ladder_sheet(findings.ladder),
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


def _ladder_sheet(steps: Sequence[Step]) -> Sheet:
    """Return the ladder as plain values."""
    columns = [field.name for field in fields(Step)]
    return Sheet("models", columns, [*map(astuple, steps)])


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
