"""The page put together: the verdict and three facts, what they rest on, sections, data, script."""

from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files

from intransit.analysis.verdict import Transitivity
from intransit.data.reading import plural
from intransit.report.content import Fact, Findings
from intransit.report.page.blocks import (
    at,
    count,
    digest,
    estimate,
    more,
    p_value,
    percent,
    plain,
    sentence,
    with_error,
    with_small,
    write_document,
)
from intransit.report.page.palette import write_themes
from intransit.report.page.payload import embed
from intransit.report.page.pictures import draw_cycle, draw_leaders, draw_matrix
from intransit.report.page.sections import SECTIONS, TIMED
from intransit.report.wording import headline_parts

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
    title, reason = headline_parts(verdict, findings.n_items)
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
        f'<h1 id="headline">{sentence(title)}</h1>\n{because}</div>'
        f'<figure class="first-picture">{picture}<figcaption>{caption}</figcaption></figure>\n'
        f'<dl class="three">{_definitions(findings.facts)}</dl>\n</div>\n'
        f'<div class="sentences">{sentences}</div>\n'
        f"{numbers if findings.n_items > 2 else ''}\n</section>"
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
            "the dashed one is the least sure."
        )
    if findings.verdict.has_cycles and len(findings.names) <= FEW:
        return draw_matrix(
            findings
        ), f"Who beats whom{when}: rows beat columns where they are blue."
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
    measured = verdict.detectable < 1
    share = estimate(verdict.share, verdict.share_low, verdict.share_high)
    facts = [
        Fact(
            "Beyond a single scale",
            with_small(*share),
            f"of the differences between items, as their mean square; with its "
            f"{percent(verdict.level)} interval",
        ),
        Fact(
            "p value",
            p_value(verdict.p_value),
            "how often a table of one scale would deviate from it as much as this",
        ),
        Fact(
            "Gain in log loss",
            gain,
            "a held-out game, from what no single scale explains, with its standard error",
        ),
        Fact(
            "Would be noticed from",
            percent(verdict.detectable) if measured else "–",
            "a cyclic share that this table would show four times out of five"
            if measured
            else "no cyclic share could be noticed with certainty in this table",
        ),
    ]
    if verdict.verdict == "too little data":
        del facts[0]  # it cannot be told
    basis = (
        f"From {count(verdict.n_games)} games of {plural(verdict.n_pairs, 'pair')}, in "
        f"{verdict.n_series:,} series that count as one observation each."
    )
    return f'<dl class="numbers">{_definitions(facts, str)}</dl>\n<p class="basis">{basis}</p>'


STYLES = ("page.css", "parts.css")
# In this order, in one scope: each may use what those before it define.
SCRIPTS = (
    *("data.js", "tools.js", "board.js", "chart.js", "matrix.js", "strengths.js", "discs.js"),
    *("cycles.js", "duel.js", "start.js"),
)
READING = (
    "A chance is the probability that one item beats another in a game, a tie as half a win. "
    "Intervals and bands hold the truth with a probability of 90 % unless they say otherwise. "
    "An item that was not being compared about a time is drawn faint there. "
    "In a CSV, a name that a spreadsheet would take for a formula begins with an apostrophe. "
    "Everything is in this file: nothing is loaded and nothing is sent."
)


def write_page(findings: Findings) -> str:
    """Return the report as one HTML file: the same findings give the same text."""
    style = "\n".join([write_themes(), *map(_asset, STYLES)])
    script = "\n".join(['(() => {\n"use strict";', *map(_asset, SCRIPTS), "})();"])
    sections = {place: write(findings) for place, (_, write) in SECTIONS.items()}
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
        for place, (title, _) in SECTIONS.items()
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


def _asset(name: str) -> str:
    """Return one of the files that lie beside this module."""
    return (files("intransit.report.page") / "assets" / name).read_text(encoding="utf-8")
