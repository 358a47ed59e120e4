"""The page: findings as one HTML file that needs nothing else, neither network nor script.

First the verdict and three facts, then what they rest on, sections, data, script.  `write_tabs`
puts several pages in one: a tab for each, and a first tab with a line on every one of them.  Each
page stands in a frame of its own, as it is, and is opened when its tab is; tabs are radio buttons,
so that they work without script.  With it, each has an address: page.html#Legacy.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files

from intransit.analysis.verdict import Transitivity
from intransit.data.reading import plural
from intransit.report.content import Fact, Findings, Group
from intransit.report.page.blocks import (
    at,
    count,
    digest,
    estimate,
    more,
    name,
    p_value,
    percent,
    plain,
    section,
    sentence,
    with_error,
    with_small,
    write_document,
)
from intransit.report.page.pictures import draw_cycle, draw_leaders, draw_matrix, embed
from intransit.report.page.sections import SECTIONS, TIMED
from intransit.report.wording import headline_parts

__all__ = ["write_page", "write_tabs"]

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


STYLES = ("themes.css", "page.css", "parts.css")
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
    style, script = _assets(*STYLES), f'(() => {{\n"use strict";\n{_assets(*SCRIPTS)}\n}})();'
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


def _assets(*names: str) -> str:
    """Return some of the files that lie beside this module, one after the other."""
    folder = files("intransit.report.page") / "assets"
    return "\n".join((folder / one).read_text(encoding="utf-8") for one in names)


def write_tabs(title: str, column: str, lines: Sequence[Group], pages: Mapping[str, str]) -> str:
    """Return one HTML file with all pages: the same pages give the same text."""
    style = _assets("themes.css", "tabs.css") + _switches(len(pages))
    script = _assets("tabs.js")
    number = {value: k for k, value in enumerate(pages, 1)}
    picks = "".join(
        f'<input class="pick" type="radio" name="tab" id="tab-{k}"{" checked" if k == 0 else ""} '
        f'data-at="{escape(label) if k else ""}" aria-label="{plain(label)}">'
        for k, label in enumerate(["All", *pages])
    )
    tabs = "".join(
        f'<label for="tab-{k}">{label}</label>'
        for k, label in enumerate(["All", *(name(value) for value in pages)])
    )
    frames = "".join(
        f'<section class="panel" id="panel-{number[value]}"><iframe loading="lazy" '
        f'title="{plain(value)}" srcdoc="{_framed(page)}"></iframe></section>\n'
        for value, page in pages.items()
    )
    heading = f"{title}, by {column}" if title else f"By {column}"
    return write_document(
        heading,
        style,
        _policy(style, script, pages),
        f'{picks}<nav class="tabs" aria-label="Groups">{tabs}</nav>\n'
        f'<section class="panel" id="panel-0">{_overview(heading, lines, number)}</section>\n'
        f'{frames}<script type="application/json" id="findings">{_data(lines)}</script>\n'
        f"<script>{script}</script>",
    )


def _framed(page: str) -> str:
    """Return a page as the text of a frame, its links leading to places in the frame.

    A bare #place in a frame without an address of its own would lead to the page around it.
    """
    body, mark, rest = page.partition("<script")
    return escape(re.sub(r'(<a\b[^>]*\bhref=")#', r"\1about:srcdoc#", body) + mark + rest)


def _data(lines: Sequence[Group]) -> str:
    """Return the lines for machines; nothing in them can end the element they stand in."""
    text = json.dumps([asdict(line) for line in lines], ensure_ascii=True)
    return text.replace("<", "\\u003c")


def _overview(heading: str, lines: Sequence[Group], number: Mapping[str, int]) -> str:
    """Return the first tab: a line on every group."""
    rows = "".join(_row(line, number.get(line.value)) for line in lines)
    return (
        f'<main class="first"><h1>{sentence(heading)}</h1>'
        '<p class="about">Each group was fitted on its own. The leader is the item that most '
        "likely beats the others of its group, with its mean chance and its 90\u00a0% interval; "
        "where there are cycles, the group's matrix says more.</p>"
        '<div class="scroll"><table><thead><tr><th>group</th><th class="number">games</th>'
        '<th class="number">items</th><th>verdict</th><th>leader</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></main>"
    )


def _row(line: Group, tab: int | None) -> str:
    called = name(line.value)
    cells = f'<td class="number">{count(line.n_games)}</td><td class="number">{line.n_items:,}</td>'
    if tab is None or line.strength is None or line.low is None or line.high is None:
        return (
            f'<tr class="left-out"><td>{called}</td>{cells}'
            f'<td colspan="2">{sentence(line.verdict)}</td></tr>'
        )
    interval = with_small(*estimate(line.strength, line.low, line.high))
    return (
        f'<tr><td><label for="tab-{tab}">{called}</label></td>{cells}'
        f"<td>{sentence(line.verdict)}</td><td>{name(line.leader)} {interval}</td></tr>"
    )


def _switches(n: int) -> str:
    """Return the rules by which the tab that is chosen shows its panel."""
    places = range(n + 1)
    panels = ",".join(f"#tab-{k}:checked~#panel-{k}" for k in places)
    labels = ",".join(f'#tab-{k}:checked~.tabs label[for="tab-{k}"]' for k in places)
    seen = ",".join(f'#tab-{k}:focus-visible~.tabs label[for="tab-{k}"]' for k in places)
    return (
        f"{panels}{{display:block}}\n{labels}{{background:var(--paper);color:var(--ink);"
        "border-color:var(--line);font-weight:600}\n"
        f"{seen}{{outline:2px solid var(--accent);outline-offset:-2px}}\n"
    )


def _policy(style: str, script: str, pages: Mapping[str, str]) -> str:
    """Return a policy that lets in this page's own style, and what the pages in it let in.

    A frame obeys the policy of the page around it beside its own.
    """
    allowed: dict[str, list[str]] = {"style-src": [digest(style)], "script-src": [digest(script)]}
    for page in pages.values():
        for kind, listed in allowed.items():
            inner = re.search(rf"{kind} ('sha256-[^;]+')", page)
            listed.extend(inner[1].split() if inner else [])
    parts = (
        f"{kind} {' '.join(dict.fromkeys(listed))}" for kind, listed in allowed.items() if listed
    )
    return f"{'; '.join(parts)}; img-src data:; frame-src 'self'"
