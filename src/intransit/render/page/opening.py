"""The top of the page: the verdict in words, then the numbers it rests on."""

from intransit.answers.verdict import Transitivity
from intransit.findings.content import Findings
from intransit.render.page.charts import draw_share
from intransit.render.page.words import (
    count,
    p_value,
    percent,
    plain,
    sentence,
    span,
    with_error,
)
from intransit.tables.reading import plural

# A ring with an arrow, a falling row of bars, a broken ring.
SIGNS = {
    "cycles": '<path d="M13 8a5 5 0 1 1-1.6-3.7"/><path d="M13.4 1.6v3.2h-3.2"/>',
    "no evidence": '<path d="M3 13V3M8 13V6.5M13 13v-3"/>',
    "too little data": '<circle cx="8" cy="8" r="5.5" stroke-dasharray="2.2 2.4"/>',
}


def write_opening(findings: Findings) -> str:
    """Return the verdict, why it is so, the sentences and the numbers."""
    verdict = findings.verdict
    kind = verdict.verdict.replace(" ", "-")
    title, _, reason = findings.headline.partition(": ")
    because = f'<p class="because">{sentence(reason[:1].upper() + reason[1:])}</p>\n'
    source = plain(findings.source)
    on = f' · <bdi title="{source}">{source}</bdi>' if source else ""
    numbers = _numbers(verdict) if findings.n_items > 2 else ""
    sentences = "".join(f"<p>{sentence(text)}</p>" for text in findings.sentences)
    return (
        f'<section id="verdict" class="verdict {kind}" aria-labelledby="headline">\n'
        f'<p class="badge"><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">'
        f"{SIGNS[verdict.verdict]}</svg><span>Verdict{on}</span></p>\n"
        f'<h1 id="headline">{sentence(title)}</h1>\n{because if reason else ""}'
        f'<div class="sentences">{sentences}</div>\n{numbers}\n</section>'
    )


def _numbers(verdict: Transitivity) -> str:
    """Return the numbers behind the verdict, each with what it means."""
    gain = "–"
    if verdict.gain is not None and verdict.gain_error is not None:
        gain = with_error(verdict.gain, verdict.gain_error, sign=True)
    measured = verdict.detectable < 1
    share = f"{percent(verdict.share)} <small>{span(verdict.share_low, verdict.share_high)}</small>"
    rows = (
        (
            "Share no ranking explains",
            share,
            f"of the energy of all margins, with its {percent(verdict.level)} interval",
        ),
        (
            "p value",
            p_value(verdict.p_value),
            "how often a table without cycles would look as cyclic as this",
        ),
        (
            "Gain in log loss",
            gain,
            "a held-out game, from all that no ranking explains, with its standard error",
        ),
        (
            "Would be noticed from",
            percent(verdict.detectable) if measured else "–",
            "a cyclic share that this table would show four times out of five"
            if measured
            else "hardly any pair met again in another series of games",
        ),
    )
    cells = "".join(
        f"<div><dt>{title}</dt><dd><b>{value}</b><span>{meaning}</span></dd></div>"
        for title, value, meaning in rows
    )
    bar = draw_share(verdict.share, verdict.share_low, verdict.share_high)
    basis = (
        f"From {count(verdict.n_games)} games of {plural(verdict.n_pairs, 'pair')}, in "
        f"{verdict.n_series:,} series that count as one observation each."
    )
    return (
        f'<dl class="numbers">{cells}</dl>\n<div class="share-bar">{bar}<p><span>no ranking '
        f"explains</span><span>a ranking explains</span></p></div>\n"
        f'<p class="basis">{basis}</p>'
    )
