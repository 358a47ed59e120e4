"""The page: findings as one HTML file that needs nothing else, neither network nor script.

First the verdict and three facts, then what they rest on, sections, data, script.  A section has
the words, pictures and tables of one part of the findings.  The leaderboard is a plain table; the
script adds sorting, searching and paging.  Intervals are drawn here for the first rows, and by the
script for those that it shows.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from intransit.analysis.cycles import Cycles, ItemCycle, Ranking, Share
from intransit.analysis.standings import ItemChange, MatchupChange, Standing
from intransit.analysis.verdict import HOPELESS, Transitivity
from intransit.data.reading import plural
from intransit.percent import points
from intransit.report import Findings, Step
from intransit.report.page.blocks import (
    MOST_CYCLES,
    NO_BREAK,
    Cell,
    Keyed,
    Sheet,
    at,
    bullets,
    count,
    digest,
    draw_cycle,
    draw_disc,
    draw_history,
    draw_interval,
    draw_leaders,
    draw_legend,
    draw_matrix,
    draw_strengths,
    embed,
    estimate,
    figure,
    lead,
    link,
    more,
    name,
    note,
    p_value,
    percent,
    plain,
    reach,
    read_assets,
    section,
    sentence,
    strength_ends,
    table,
    with_error,
    with_small,
    write_document,
)
from intransit.report.wording import Fact, is_best

__all__ = ["write_page"]

# Sections -----------------------------------------------------------------------------------------

Parts = Iterable[str]  # of a section; empty ones are left out
GONE = "gone"  # marks items that were no longer compared at the end
DRAWN = 100  # rows whose interval is drawn without a script
MEANING = (
    "Strength is the mean chance of beating the others{connected}, a tie as half a win{where}. The "
    "rating is on a scale like Elo’s: an average item has 1500, and one with 400 points more beats "
    "it 10 times out of 11. Small numbers are 90&nbsp;% intervals."
)
CYCLIC = "Where there are cycles, no list can say who beats whom: see the matrix."


def write_board(findings: Findings) -> Parts:
    """Return the leaderboard."""
    connected = " that the item is connected with by comparisons" if findings.together.any() else ""
    meaning = MEANING.format(connected=connected, where=plain(findings.where))
    yield lead(meaning, CYCLIC if findings.verdict.has_cycles else "")
    standings, when = findings.standings, findings.times[-1]
    gone = {one.name for one, still in zip(standings, findings.still, strict=True) if not still}
    drawn = {one.name for one in standings[:DRAWN]}
    low, high = strength_ends(standings)

    def interval(one: Standing) -> Cell:
        ends = one.strength, one.low, one.high
        picture = draw_interval(*ends, (low, high), 0.5) if one.name in drawn else ""
        return Keyed(" ".join(f"{end:.4f}" for end in ends), picture)

    def rating(one: Standing) -> Cell:
        between = f"{math.floor(one.rating_low)} to {math.ceil(one.rating_high)}"
        return Keyed(f"{one.rating:.3f}", with_small(f"{one.rating:.0f}", between))

    # What a column is sorted by stands in its cells where their text does not tell.
    columns: dict[str, Callable[[Standing], Cell]] = {
        "#Rank": lambda one: Keyed(
            str(one.rank), with_small(f"{one.rank:,}", f"{one.rank_low:,} to {one.rank_high:,}")
        ),
        "Item": lambda one: Keyed(GONE if one.name in gone else "", name(one.name)),
        "#Strength": lambda one: Keyed(
            f"{one.strength:.6f}", with_small(*estimate(one.strength, one.low, one.high))
        ),
        f"{percent(low)} to {percent(high)}": interval,
        "#Rating": rating,
        "#Games": lambda one: Keyed(f"{one.games:g}", count(one.games)),
    }
    if when:
        columns["Last compared"] = lambda one: Keyed("", plain(one.last))
    caption = f"All {len(standings):,} items{at(when)}, the strongest first"
    yield table(standings, columns, caption=caption, save="leaderboard", kind="board")


MOST_DRAWN = 3  # cycles drawn without a script
MOST_OPEN = 10  # rows of the table of cycles before it asks to be opened
DISCS = (
    "What strengths do not explain. Each item is favoured over those up to half a turn "
    "anticlockwise of it, the more the farther out both are; items near the centre counter nobody."
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
STRANGERS = "A cell is empty where no chain of comparisons connects the two."
STILL = "Nothing drifts in this model, so a cycle dates from when the last of its items appeared."
ARROWS = "Arrows point from the favourite; the number is its chance in a game."
NO_DISCS = "Strengths explain who beats whom; no counters stand out beyond them."
BEATS = f'{NO_BREAK}<span class="beats">›</span>'


def write_matrix(findings: Findings) -> Parts:
    """Return the matrix at the last time, and its pairs as a sheet."""
    known = findings.together[:, None] == findings.together
    empty = "" if known.all() else STRANGERS
    yield lead(f"{CELLS} {AROUND if findings.discs else RANKED} {empty}".rstrip())
    yield note(findings.why_shown)
    unmet = known & ~np.eye(len(findings.names), dtype=bool) & (findings.games == 0)
    picture = draw_matrix(findings) + draw_legend(reach(findings.chances), unmet=bool(unmet.any()))
    when = at(findings.times[-1]) or " in this table"
    yield figure(picture, f'<span class="static-only">Chances{when}.</span>', live="matrix")
    yield f'<p class="save-line">{link(_pairs_sheet(findings))} of all these pairs</p>'


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


def write_strengths(findings: Findings) -> Parts:
    """Return strengths over time; nothing where nothing moves."""
    chart = draw_strengths(findings)
    if chart:
        yield lead(
            "Mean chance of beating the others, with 90 % bands. Shown first are the strongest "
            "items and those that clearly changed most."
        )
        yield figure(chart, "", live="strengths")


def write_discs(findings: Findings) -> Parts:
    """Return the discs, or why there are none."""
    pictures = "".join(
        f'<figure class="plane"><div class="picture" data-disc="{k}">'
        f"{draw_disc(disc, findings.names)}</div><figcaption>Circle {k + 1}: "
        f"{percent(disc.share)} of what strengths do not explain</figcaption></figure>"
        for k, disc in enumerate(findings.discs)
    )
    yield lead(sentence(findings.discs_note) or (DISCS if pictures else NO_DISCS))
    yield pictures and f'<div class="planes" data-live="discs">{pictures}</div>'


def write_cycles(findings: Findings) -> Parts:
    """Return the cycles, or why there are none."""
    cycles, dated = findings.cycles, bool(findings.times[0])
    if not cycles.found:
        calm = cycles.note or "No cycle is certain enough to be listed."
        yield lead(sentence(calm if findings.n_items > 2 else "A cycle takes three items."))
        return
    still = STILL if len(cycles.times) > 1 and len(findings.times) == 1 else ""
    yield lead(f"{_found(cycles)} {ARROWS}", still)
    yield note(cycles.note)
    shown = cycles.found[:MOST_CYCLES]
    drawn = "".join(draw_cycle(cycle) for cycle in shown[:MOST_DRAWN])
    yield figure(f'<div class="graphs">{drawn}</div>', "", live="cycles")
    when = at(cycles.at)
    first, further = shown[:MOST_OPEN], shown[MOST_OPEN:]
    yield _cycles_table(first, f"Cycles{when}, the surest first", "cycles", dated)
    listed = _cycles_table(further, f"Further cycles{when}", "further-cycles", dated)
    yield listed and more(plural(len(further), "more cycle"), listed)


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


def _cycles_table(cycles: Sequence[ItemCycle], caption: str, file: str, dated: bool) -> str:
    """Return cycles as a table, saved with an edge a row."""

    def path(items: Sequence[str]) -> str:
        steps = " ".join(f"<span>{name(item)}{BEATS}</span>" for item in items[:-1])
        return f'<span class="path">{steps} {name(items[-1])}</span>'

    def least_sure(cycle: ItemCycle) -> str:
        k = cycle.weakest
        step = path((*cycle.items, cycle.items[0])[k : k + 2])
        sure, chance = percent(cycle.edges[k], 1), percent(cycle.chances[k])
        return f"{step} <small>probability {sure}, wins {chance} of games</small>"

    columns = ("cycle", "probability", "since", "first", "second", "chance", "sure")
    rows = [
        (number, cycle.probability, cycle.since, first, second, chance, sure)
        for number, cycle in enumerate(cycles, 1)
        for first, second, chance, sure in zip(
            cycle.items, (*cycle.items[1:], cycle.items[0]), cycle.chances, cycle.edges, strict=True
        )
    ]
    return table(
        cycles,
        {
            "Cycle": lambda cycle: path((*cycle.items, cycle.items[0])),
            "#Probability": lambda cycle: percent(cycle.probability, 1),
            "Least certain step": least_sure,
            "#Since": lambda cycle: sentence(cycle.since) if dated and cycle.since else "–",
            "History": lambda cycle: draw_history(cycle.history) or "–",
        },
        caption=caption,
        save=Sheet(file, columns, rows),
    )


def write_duel(_: Findings) -> Parts:
    """Return a place for two items, which needs a script to choose them."""
    yield lead("The chance of one item against another, and what they have played.")
    yield (
        '<div data-live="duel"><noscript><p class="note">Choosing two items needs a script; '
        "the matrix above shows every pair at the last time.</p></noscript></div>"
    )


MIXTURE = (
    "Where there are cycles, no single item is best, but a mixture is: chosen at random with the "
    "weights below, the items are beaten by nothing on average."
)
BEST = (
    "It is not certain who is best. Where one ranking holds, the weights below are the "
    "probabilities of being the best; in general they make a mixture that nothing beats on average."
)
UNSURE = "No such pair is certain: each goes against the ranking with a probability below {}."
CLEAR = "One item is almost certainly best: nothing beats it on average."
MOST_SURE = 30
MOST_UNSURE = 12
MOST_MATCHUPS = 30
LADDER = lead(
    "How well models, from simple to rich, predicted games they had not seen. Lower log loss is "
    "better; bars show one standard error. The gain is over the simpler model named in the note."
)
EVEN = 0.5  # probability
MOST_UPSETS = 10


def write_changes(findings: Findings) -> Parts:
    """Return what changed; nothing where there are no times."""
    changes = findings.changes
    if changes is None:
        return
    if not changes.items and not changes.matchups:
        yield lead(sentence(changes.note))
        return
    sure = [item for item in changes.items if item.sure]
    unsure = [item for item in changes.items if not item.sure][:MOST_UNSURE]
    rise = sum(item.change > 0 for item in sure)
    counts = (
        f"{plural(rise, 'item')} clearly became stronger and {len(sure) - rise} weaker; at most "
        f"{percent(changes.rate)} of such findings are expected to be false. Strength is relative: "
        "where one item rises, the others fall."
        if sure
        else "nobody clearly became stronger or weaker."
    )
    share = ""
    seen = sure or any(one.sure for one in changes.matchups)
    if seen and changes.matchup_share_high > 0.0:  # 0 where the model lets matchups stand still
        part, between = estimate(
            changes.matchup_share, changes.matchup_share_low, changes.matchup_share_high
        )
        share = (
            f" {part} of the change ({percent(changes.level)} interval {between}) is in "
            "matchups, not in strengths."
        )
    yield lead(f"From {plain(changes.since)} to {plain(changes.until)}: {counts}{share}")
    yield note(changes.note)
    yield _changes_table(sure[:MOST_SURE], "Stronger and weaker, the surest first", "changes")
    listed = _changes_table(unsure, "Not clear, the most probable first", "unsure-changes")
    yield listed and more("Changes of strength that are not clear", listed)
    matchups = [one for one in changes.matchups if one.sure][:MOST_MATCHUPS]
    yield _changes_table(matchups, "Changes of matchups beyond those of strengths", "matchups")
    matchups = [one for one in changes.matchups if not one.sure][:MOST_UNSURE]
    listed = _changes_table(matchups, "Not clear, the most probable first", "unsure-matchups")
    yield listed and more("Changes of matchups that are not clear", listed)


def _changes_table(
    changes: Sequence[ItemChange] | Sequence[MatchupChange], caption: str, file: str
) -> str:
    """Return changes of strength, or of matchups beyond it, with their intervals on one scale."""
    ends = [abs(end) for one in changes for end in (one.low, one.high) if np.isfinite(end)]
    far = max(0.01, float(np.ceil(100 * max(ends, default=0.0))) / 100)  # in whole points

    def item(one: ItemChange | MatchupChange) -> str:
        if isinstance(one, ItemChange):
            return name(one.name)
        return f"{name(one.first)} against {name(one.second)}"

    def change(one: ItemChange | MatchupChange) -> str:
        value, between = points(one.change, one.low, one.high)
        if isinstance(one, ItemChange):
            kind, sign = ("more", "▲") if one.change > 0 else ("less", "▼")
            value = f'<span class="{kind}">{sign} {value}</span>'
        return with_small(value, between)

    of_items = not any(isinstance(one, MatchupChange) for one in changes)
    columns: dict[str, Callable[[ItemChange | MatchupChange], Cell]] = {
        "Item" if of_items else "Matchup": item,
        "#Points, 90 % interval": change,
        f"±{plural(round(100 * far), 'point')}": lambda one: draw_interval(
            one.change, one.low, one.high, (-far, far), 0.0
        ),
        "#Probability of direction": lambda one: percent(one.probability, 1),
    }
    return table(changes, columns, caption=caption, save=file)


def write_ranking(findings: Findings) -> Parts:
    """Return the nearest ranking, its cost, and the equilibrium."""
    ranking = findings.ranking
    when = at(ranking.at)
    sure = any(upset.probability >= ranking.level for upset in ranking.upsets)
    yield lead(
        f"By the estimates, the nearest ranking{when} names the wrong favourite in "
        f"{ranking.n_upsets:,} of {plural(ranking.n_pairs, 'pair')} ({percent(ranking.wrong, 1)}). "
        f"Following it costs {100 * ranking.cost:.2f} percentage points of win chance, averaged "
        "over all pairs."
        if ranking.n_upsets
        else f"By the estimates, the nearest ranking{when} names the favourite of every pair.",
        "" if sure or not ranking.n_upsets else UNSURE.format(percent(ranking.level)),
    )
    yield note(ranking.note)
    yield _mixture(ranking, findings.verdict)
    yield table(
        [upset for upset in ranking.upsets if upset.probability > EVEN][:MOST_UPSETS],
        {
            "Lower beats higher": lambda one: f"{name(one.lower)} beats {name(one.higher)}",
            "#Chance": lambda one: percent(one.chance),
            "#Probability": lambda one: percent(one.probability, 1),
        },
        caption="Pairs that speak against the ranking",
        save="upsets",
    )
    ranks = {one.name: one.rank for one in findings.standings}
    order = [(place, item, ranks[item]) for place, item in enumerate(ranking.order, 1)]
    listed = table(
        order,
        {
            "#Place": lambda one: f"{one[0]:,}",
            "Item": lambda one: name(one[1]),
            "#Rank in the leaderboard": lambda one: f"{one[2]:,}",
        },
        caption="The nearest ranking",
        save=Sheet("nearest-ranking", ("place", "item", "leaderboard_rank"), order),
        kind="long",
    )
    yield listed and more(f"The nearest ranking, {plural(len(order), 'item')}", listed)


def _mixture(ranking: Ranking, verdict: Transitivity) -> str:
    """Return the mixture that nothing beats; of a ranking its weights are probabilities."""
    shares = ranking.equilibrium
    if not shares:
        return ""
    columns: dict[str, Callable[[Share], Cell]] = {"Item": lambda one: name(one.name)}
    if not verdict.has_cycles:
        columns["#Weight"] = lambda one: percent(one.weight)
    else:
        columns |= {
            f"#Weight, {percent(ranking.level)} interval": lambda one: with_small(
                *estimate(one.weight, one.low, one.high)
            ),
            "0 to 100 %": lambda one: draw_interval(one.weight, one.low, one.high, (0.0, 1.0)),
            "#Probability of being in it": lambda one: percent(one.probability),
        }
    best = MIXTURE if verdict.has_cycles else BEST
    caption = "The mixture that nothing beats"
    return lead(CLEAR if is_best(shares[0]) else best) + table(
        shares, columns, caption=caption, save="mixture"
    )


def write_ladder(findings: Findings) -> Parts:
    """Return models and how well they predicted games."""
    steps = findings.ladder
    ends = [
        step.log_loss + side * step.log_loss_error
        for step in steps
        for side in (-1, 1)
        if np.isfinite(step.log_loss)
    ]
    scale = min(ends, default=0.0), max(ends, default=1.0)

    def interval(step: Step) -> str:
        low, high = step.log_loss - step.log_loss_error, step.log_loss + step.log_loss_error
        return draw_interval(step.log_loss, low, high, scale)

    def gain(step: Step) -> str:
        told = np.isfinite(step.gain) and (step.gain or step.gain_error)
        return with_error(step.gain, step.gain_error, sign=True) if told else "–"

    yield LADDER if steps else ""
    yield table(
        steps,
        {
            "Model": lambda step: f'<span class="rung">{plain(step.name)}</span>',
            "#Log loss": lambda step: with_error(step.log_loss, step.log_loss_error),
            "Lower is better": interval,
            "#Gain": gain,
            "#Favourite won": lambda step: percent(step.accuracy, 1),
            "Note": lambda step: f'<span class="remark">{plain(step.note)}</span>',
        },
        caption="The ladder of models",
        save="models",
    )
    yield bullets(findings.ladder_notes)


def write_data(findings: Findings) -> Parts:
    """Return what was in the table and what was chosen."""
    yield bullets(findings.data)
    yield "<h3>How it was fitted</h3>" if findings.story else ""
    yield bullets(findings.story)


class Section(NamedTuple):
    """A section: its name in the contents, its heading, and what writes it."""

    title: str
    heading: str
    write: Callable[[Findings], Parts]


SECTIONS = {  # by place
    "board": Section("Leaderboard", "Leaderboard", write_board),
    "matrix": Section("Matrix", "Who beats whom", write_matrix),
    "strengths": Section("Over time", "Strength over time", write_strengths),
    "discs": Section("Counters", "Who counters whom", write_discs),
    "cycles": Section("Cycles", "Cycles", write_cycles),
    "duel": Section("Head to head", "Head to head", write_duel),
    "changes": Section("Changes", "What changed", write_changes),
    "ranking": Section("Ranking", "What a single ranking misses", write_ranking),
    "ladder": Section("Predictions", "How well it predicts", write_ladder),
    "data": Section("Data", "The data and the model", write_data),
}
TIMED = ("matrix", "strengths", "discs", "cycles", "duel")  # those that follow the time slider


# The opening --------------------------------------------------------------------------------------

# A ring with an arrow, bars of which two are even, a falling row of bars, a broken ring.
SIGNS: dict[str, str] = {
    "cycles": '<path d="M13 8a5 5 0 1 1-1.6-3.7"/><path d="M13.4 1.6v3.2h-3.2"/>',
    "not one scale": '<path d="M3 13V3M8 13V8M13 13V5"/>',
    "no evidence": '<path d="M3 13V3M8 13V6.5M13 13v-3"/>',
    "too little data": '<circle cx="8" cy="8" r="5.5" stroke-dasharray="2.2 2.4"/>',
}
LEADERS = 8  # items of the picture
FEW = 12  # items of a matrix that has room beside the verdict


def write_opening(findings: Findings) -> str:
    """Return the verdict, why it is so, a picture, the facts, the sentences and the numbers."""
    verdict = findings.verdict
    kind = verdict.verdict.replace(" ", "-")
    reason = verdict.reason
    because = f'<p class="because">{sentence(reason[:1].upper() + reason[1:])}</p>\n'
    source = plain(findings.source)
    on = f' · <bdi title="{source}">{source}</bdi>' if source else ""
    numbers = more("The numbers behind the verdict", _numbers(verdict))
    sentences = "".join(f"<p>{sentence(text)}</p>" for text in findings.sentences)
    picture, caption = _picture(findings)
    return (
        f'<section id="verdict" class="verdict {kind}" aria-labelledby="headline">\n'
        '<div class="first">\n<div class="said">'
        f'<p class="badge"><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">'
        f"{SIGNS[verdict.verdict]}</svg><span>Verdict{on}</span></p>\n"
        f'<h1 id="headline">{sentence(verdict.title)}</h1>\n{because}</div>'
        f'<figure class="first-picture">{picture}<figcaption>{caption}</figcaption></figure>\n'
        f'<dl class="three">{_definitions(findings.facts)}</dl>\n</div>\n'
        f'<div class="sentences">{sentences}</div>\n'
        f"{'' if verdict.is_of_two else numbers}\n</section>"
    )


def _definitions(facts: Iterable[Fact], as_html: Callable[[str], str] = sentence) -> str:
    """Return facts as parts of a list of definitions."""
    return "".join(
        f"<div><dt>{as_html(one.title)}</dt><dd><b>{as_html(one.value)}</b>"
        f"<span>{as_html(one.detail)}</span></dd></div>"
        for one in facts
    )


def _picture(findings: Findings) -> tuple[str, str]:
    """Return the one picture of the first screen, and what it shows."""
    when = at(findings.times[-1])
    if findings.verdict.has_cycles and findings.cycles.found:
        best = findings.cycles.found[0]
        which = "surest" if best.probability >= findings.cycles.level else "likeliest"
        return draw_cycle(best), (
            f"The {which} cycle{when}: arrows point from the favourite, with its chance in a game; "
            "the dashed one is the least certain."
        )
    if findings.verdict.has_cycles and len(findings.names) <= FEW:
        caption = f"Who beats whom{when}: rows beat columns where they are blue."
        return draw_matrix(findings), caption
    kept = zip(findings.standings, findings.still, strict=True)
    leaders = [one for one, still in kept if still][:LEADERS]
    return draw_leaders(leaders), (
        f"The strongest{when}: mean chance of beating the others, with its 90&nbsp;% interval."
    )


def _numbers(verdict: Transitivity) -> str:
    """Return the numbers behind the verdict, each with what it means."""
    gain = "–"
    if verdict.gain is not None and verdict.gain_error is not None:
        gain = with_error(verdict.gain, verdict.gain_error, sign=True)
    measured = verdict.detectable < HOPELESS
    facts = [
        Fact(
            "Left unexplained by a single scale",
            with_small(*verdict.told_share),
            "of the differences between items, as mean square, over the whole time: what does not "
            f"last counts in part; with its {percent(verdict.level)} interval",
        ),
        Fact(
            "p value",
            p_value(verdict.p_value),
            "how often chance alone would deviate this much from a single scale",
        ),
        Fact(
            "Gain in log loss",
            gain,
            "per held-out game, from effects of pairs that last; with its standard error",
        ),
        Fact(
            "Detectable share",
            percent(verdict.detectable) if measured else "–",
            "of the differences: lasting cycles of this size would be found four times out of five"
            if measured
            else "no cyclic share could be detected reliably in this table",
        ),
    ]
    if verdict.verdict == "too little data":
        del facts[0]  # it cannot be told
    elif verdict.has_cycles:
        del facts[-1]  # they were found
    basis = (
        f"From {count(verdict.n_games)} games of {plural(verdict.n_pairs, 'pair')}, in "
        f"{verdict.n_series:,} series that count as one observation each."
    )
    return f'<dl class="numbers">{_definitions(facts, str)}</dl>\n<p class="basis">{basis}</p>'


# The page -----------------------------------------------------------------------------------------

STYLES = ("themes.css", "page.css", "parts.css")
# In this order, in one scope: each may use what those before it define.
SCRIPTS = (
    *("data.js", "tools.js", "board.js", "chart.js", "matrix.js", "strengths.js", "discs.js"),
    *("cycles.js", "duel.js", "start.js"),
)
READING = (
    "A chance is the probability that one item beats another in a game, a tie as half a win. "
    "Intervals and bands are 90 % unless they say otherwise. "
    "Items are drawn faint at times when they were not being compared. "
    "In a CSV, a name that a spreadsheet would take for a formula gets a leading apostrophe. "
    "Everything is in this file: nothing is loaded and nothing is sent."
)


def write_page(findings: Findings) -> str:
    """Return the report as one HTML file: the same findings give the same text."""
    style = read_assets(*STYLES)
    script = f'(() => {{\n"use strict";\n{read_assets(*SCRIPTS)}\n}})();'
    sections = {
        place: section(place, heading, write(findings))
        for place, (_, heading, write) in SECTIONS.items()
    }
    title = f"{findings.source}: who beats whom" if findings.source else "Who beats whom"
    policy = f"style-src {digest(style)}; script-src {digest(script)}; img-src data:"
    return write_document(
        title,
        style,
        policy,
        f'{_header(findings, sections)}\n<main id="main">\n{_body(findings, sections)}\n</main>\n'
        f"<footer><h2>How to read it</h2><p>{READING}</p>"
        "<p>Made with intransit.</p></footer>\n"
        f'<script type="application/json" id="findings">{embed(findings)}</script>\n'
        f"<script>{script}</script>",
    )


def _header(findings: Findings, sections: Mapping[str, str]) -> str:
    """Return the bar at the top: where the data came from, and what the page holds.

    A narrow screen has the contents in a list that opens, a wide one beside each other.
    """
    links = "".join(
        f'<a href="#{place}">{title}</a>'
        for place, (title, *_) in SECTIONS.items()
        if sections[place]
    )
    return (
        '<a class="skip" href="#main">Skip to the findings</a>\n<header><p class="source">'
        f'<bdi title="{plain(findings.source)}">{plain(findings.source)}</bdi></p>'
        f'<nav class="wide" aria-label="Contents">{links}</nav><details class="menu"><summary>'
        f'Contents</summary><nav aria-label="Contents">{links}</nav></details></header>'
    )


def _body(findings: Findings, sections: Mapping[str, str]) -> str:
    """Return all sections; those that follow the time slider stand together."""
    timed = "\n".join(sections[place] for place in TIMED)
    together = {TIMED[0]: f'<div class="timed" id="timed">\n{timed}\n</div>'}
    alone = {place: text for place, text in sections.items() if place not in TIMED[1:]}
    return "\n".join([write_opening(findings), *(alone | together).values()])
