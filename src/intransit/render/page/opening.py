"""The top of the page: the verdict, one picture and three facts, then the numbers it rests on."""

from intransit.answers.verdict import Transitivity
from intransit.findings.content import Fact, Findings
from intransit.findings.wording import headline_parts
from intransit.render.page.blocks import more
from intransit.render.page.charts import draw_leaders
from intransit.render.page.pictures import draw_cycle, draw_matrix
from intransit.render.page.words import (
    count,
    estimate,
    p_value,
    percent,
    plain,
    sentence,
    with_error,
    with_small,
)
from intransit.tables.reading import plural

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
        f'<dl class="three">{"".join(map(_fact, findings.facts))}</dl>\n</div>\n'
        f'<div class="sentences">{sentences}</div>\n'
        f"{numbers if findings.n_items > 2 else ''}\n</section>"
    )


def _fact(fact: Fact) -> str:
    return (
        f"<div><dt>{sentence(fact.title)}</dt><dd><b>{sentence(fact.value)}</b>"
        f"<span>{sentence(fact.detail)}</span></dd></div>"
    )


def _picture(findings: Findings) -> tuple[str, str]:
    """Return the one picture of the first screen, and what it shows."""
    at = f" at {plain(findings.times[-1])}" if findings.times[-1] else ""
    if findings.verdict.has_cycles and findings.cycles.found:
        best = findings.cycles.found[0]
        which = "surest" if best.probability >= findings.cycles.level else "likeliest"
        return draw_cycle(best), (
            f"The {which} cycle{at}: arrows point from the favourite, with its chance in a game; "
            "the dashed one is the least sure."
        )
    if findings.verdict.has_cycles and len(findings.names) <= FEW:
        return draw_matrix(findings), f"Who beats whom{at}: rows beat columns where they are blue."
    kept = zip(findings.standings, findings.still, strict=True)
    leaders = [one for one, still in kept if still][:LEADERS]
    return draw_leaders(leaders), (
        f"The strongest{at}: mean chance of beating the others, with its 90&nbsp;% interval."
    )


def _numbers(verdict: Transitivity) -> str:
    """Return the numbers behind the verdict, each with what it means."""
    gain = "–"
    if verdict.gain is not None and verdict.gain_error is not None:
        gain = with_error(verdict.gain, verdict.gain_error, sign=True)
    measured = verdict.detectable < 1
    share = estimate(verdict.share, verdict.share_low, verdict.share_high)
    rows = [
        (
            "Beyond a single scale",
            with_small(*share),
            f"of the differences between items, as their mean square; with its "
            f"{percent(verdict.level)} interval",
        ),
        (
            "p value",
            p_value(verdict.p_value),
            "how often a table of one scale would deviate from it as much as this",
        ),
        (
            "Gain in log loss",
            gain,
            "a held-out game, from what no single scale explains, with its standard error",
        ),
        (
            "Would be noticed from",
            percent(verdict.detectable) if measured else "–",
            "a cyclic share that this table would show four times out of five"
            if measured
            else "no cyclic share could be noticed with certainty in this table",
        ),
    ]
    if verdict.verdict == "too little data":
        del rows[0]  # it cannot be told
    cells = "".join(
        f"<div><dt>{title}</dt><dd><b>{value}</b><span>{meaning}</span></dd></div>"
        for title, value, meaning in rows
    )
    basis = (
        f"From {count(verdict.n_games)} games of {plural(verdict.n_pairs, 'pair')}, in "
        f"{verdict.n_series:,} series that count as one observation each."
    )
    return f'<dl class="numbers">{cells}</dl>\n<p class="basis">{basis}</p>'
