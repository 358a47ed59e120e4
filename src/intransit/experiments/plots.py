"""Figures made to be read, and one page of all figures, settings and claims.

Lines are means over trials, as in the paper; bands run from the 10 % to the 90 % quantile.
See `estimators.MEANS` for the trials that a mean leaves out.  The page is Markdown beside its
figures, or HTML on its own, which asks the network for nothing.
"""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from intransit.experiments.estimators import (
    DYNAMIC_LIMIT,
    EQUAL,
    ESTIMATED,
    FURTHER,
    JOINT,
    LAST,
    NEWTON,
    OPTIMAL,
    STATIC_LIMIT,
    settled_series,
)
from intransit.experiments.experiment import Claim, Experiment, Gain
from intransit.experiments.table import Series, Table
from intransit.plotting import (
    BLACK,
    BLUE,
    GREEN,
    LOOK,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    require_matplotlib,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Style:
    """How one curve is drawn."""

    colour: str
    marker: str = "o"
    line: str = "-"


STYLES = {
    LAST: Style(RED, "s"),
    EQUAL: Style(BLUE, "^"),
    OPTIMAL: Style(GREEN, "o"),
}
JOINT_STYLE, ESTIMATED_STYLE = Style(PURPLE, "D"), Style(ORANGE, "d", "--")


def draw_curve(
    axes: "Axes", series: Series, style: Style, label: str, *, band: bool = True
) -> None:
    """Draw the mean over trials, and a band where trials differ."""
    mean = series.mean
    axes.plot(
        series.x, mean, style.line, color=style.colour, marker=style.marker, label=pretty(label)
    )
    if band and series.values.shape[1] > 1:
        draw_band(axes, series, style)


def draw_settled(axes: "Axes", table: Table, measure: str, facet: str = "") -> None:
    """Draw the three weights and the joint curve: see `estimators.MEANS`."""
    curves = table.names("curve", measure=measure, facet=facet)
    for curve, style in (STYLES | {JOINT: JOINT_STYLE}).items():
        if curve not in curves:
            continue
        every = table.series(measure, curve, facet)
        settled = settled_series(table, measure, curve, facet)
        axes.plot(every.x, every.mean, ":", color=style.colour, linewidth=1.2)
        draw_curve(axes, settled, style, curve, band=False)
        draw_band(axes, every, style)
    axes.plot([], [], ":", color="#555555", linewidth=1.2, label="mean of all trials")


def draw_band(axes: "Axes", series: Series, style: Style) -> None:
    """Draw a band from the 10 % to the 90 % quantile over trials."""
    low, high = series.quantile(0.1), series.quantile(0.9)
    axes.fill_between(series.x, low, high, color=style.colour, alpha=0.16, linewidth=0)


def draw_extras(axes: "Axes", table: Table, measure: str, facet: str = "") -> None:
    """Draw what `--with` added: Newton as crosses, other estimators, limits as thin lines."""
    curves = table.names("curve", measure=measure, facet=facet)
    for curve, style in STYLES.items():
        if curve + NEWTON in curves:
            newton = table.series(measure, curve + NEWTON, facet)
            if "settled" in table.names("measure", facet=facet):
                newton = settled_series(table, measure, curve + NEWTON, facet)
            draw_newton(axes, newton, style)
    if any(curve.endswith(NEWTON) for curve in curves):
        axes.plot([], [], "x", color="#555555", markersize=7, label="the same by Newton")
    others = [curve for curve in FURTHER if curve in curves and curve != JOINT]
    for curve, colour in zip(others, (SKY, BLACK), strict=False):
        draw_curve(axes, table.series(measure, curve, facet), Style(colour, "v"), curve)
    if ESTIMATED in curves:
        series = table.series(measure, ESTIMATED, facet)
        draw_curve(axes, series, ESTIMATED_STYLE, ESTIMATED, band=False)
    for curve, line in ((DYNAMIC_LIMIT, "-"), (STATIC_LIMIT, "--")):
        if curve in curves:
            series = table.series(measure, curve, facet)
            # The median: a mean would be ruled by the few samples that settle next to nothing.
            axes.plot(series.x, series.median, line, color="#777777", lw=1.2, label=pretty(curve))


def draw_newton(axes: "Axes", series: Series, style: Style) -> None:
    """Draw the mean that Newton's method finds, as crosses over the curve it should meet."""
    axes.plot(series.x, series.mean, "x", color=style.colour, markersize=7)


def pretty(text: str) -> str:
    """Return a label with its powers of T set as mathematics.

    >>> pretty("only y^T")
    'only $y^T$'
    """
    return re.sub(r"\b([a-zA-Z])\^T", r"$\1^T$", text)


def finish(
    axes: "Axes",
    *,
    title: str,
    x: str,
    y: str,
    log: Sequence[str] = (),
    legend: Any = "best",
) -> None:
    """Name the axes; `log` lists those with a logarithmic scale."""
    axes.set_title(pretty(title))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    if legend is not None:
        axes.legend(loc=legend)


def render(experiment: Experiment, table: Table) -> dict[str, bytes]:
    """Return the figure of a finished run as {"png": ..., "svg": ...}."""
    require_matplotlib()
    import matplotlib as mpl  # noqa: PLC0415  an optional library
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(LOOK), np.errstate(invalid="ignore"):
        figure = Figure(figsize=experiment.size, layout="constrained")
        experiment.draw(figure, table)
        files = {}
        for kind in ("png", "svg"):
            out = io.BytesIO()
            metadata = {"Date": None} if kind == "svg" else {"Software": None}
            figure.savefig(out, format=kind, dpi=120, metadata=metadata)
            files[kind] = out.getvalue()
    return files


MARKS = {"holds": "✔ holds", "holds in part": "◐ holds in part", "does not hold": "✘ does not hold"}

GAINS = "What joint estimation gains"
GAIN_COLUMNS = ("where", "the paper's best", "joint", "limit", "gain")

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfc; --line: #d8d8d4;
  --soft: #5c5c5c; --good: #006d4f; --part: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e3; --paper: #17181a;
  --line: #3a3c40; --soft: #a9a7a3; --good: #5fd0a5; --part: #f0b65a; --bad: #ff8a80; } }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 3rem; font-size: 1.3rem; }
a { color: inherit; } .soft { color: var(--soft); }
figure { margin: 1rem 0; overflow-x: auto; background: #fff; border-radius: 8px;
  border: 1px solid var(--line); }
figure img { display: block; width: 100%; min-width: 34rem; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem .4rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th, td:first-child { overflow-wrap: normal; } th { font-weight: 600; }
.claim { border-left: 4px solid var(--line); margin: 1rem 0; padding: .1rem 0 .1rem .9rem; }
.claim p { margin: .2rem 0; } .claim ul { margin: .3rem 0; padding-left: 1.2rem; }
.verdict { font-weight: 600; } .holds { color: var(--good); } .part { color: var(--part); }
.not { color: var(--bad); } .claim.holds, .claim.part, .claim.not { color: inherit; }
.claim.holds { border-color: var(--good); } .claim.part { border-color: var(--part); }
.claim.not { border-color: var(--bad); } summary { cursor: pointer; }
"""


@dataclass(frozen=True)
class Shown:
    """One finished experiment, ready to be shown."""

    experiment: Experiment
    n_trials: int
    claims: Sequence[Claim]
    gains: Sequence[Gain]
    svg: bytes


def to_markdown(facts: Mapping[str, object], shown: Sequence[Shown]) -> str:
    """Return the page as Markdown, beside which the figures lie as NAME.png."""
    lines = ["# The paper's experiments, run again", "", _sentence(facts), ""]
    lines += [
        "| experiment | claims | hold | in part | do not hold |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in shown:
        n = _counted(one.claims)
        lines.append(
            f"| [{one.experiment.name}](#{one.experiment.name}) | {len(one.claims)} | "
            f"{n['holds']} | {n['holds in part']} | {n['does not hold']} |"
        )
    for one in shown:
        lines += _section(one)
    return "\n".join(lines) + "\n"


def _section(one: Shown) -> list[str]:
    experiment = one.experiment
    lines = ["", f"## {experiment.name}", "", f"{experiment.title}: {experiment.figure}. "]
    lines[-1] += f"{_trials(one.n_trials)}. Numbers: [table]({experiment.name}.csv), "
    lines[-1] += f"[summary and claims]({experiment.name}.json)."
    lines += ["", f"![{experiment.title}]({experiment.name}.png)", "", "### Claims"]
    for claim in one.claims:
        lines += ["", f"**{MARKS[claim.verdict]}** ({_whose(claim)}): {claim.statement}", ""]
        lines += [f"- {'yes' if c.passed else 'no'}: {_plain(c.measured)}" for c in claim.checks]
    if one.gains:
        lines += ["", f"### {GAINS}", "", f"| {' | '.join(GAIN_COLUMNS)} |"]
        lines.append(f"|{' --- |' * len(GAIN_COLUMNS)}")
        lines += [f"| {' | '.join(_plain(cell) for cell in astuple(gain))} |" for gain in one.gains]
    lines += ["", "### Settings", "", "| setting | value |", "| --- | --- |"]
    lines += [f"| {name} | {_plain(str(value))} |" for name, value in experiment.settings.items()]
    lines += ["", "### Notes", ""] + [f"- {_plain(note)}" for note in experiment.notes]
    return lines


def to_html(facts: Mapping[str, object], shown: Sequence[Shown]) -> str:
    """Return the page as one HTML file that needs no other."""
    rows = []
    for one in shown:
        n = _counted(one.claims)
        name = escape(one.experiment.name)
        rows.append(
            f'<tr><td><a href="#{name}">{name}</a></td><td>{escape(one.experiment.title)}</td>'
            f'<td class="holds">{n["holds"]}</td><td class="part">{n["holds in part"]}</td>'
            f'<td class="not">{n["does not hold"]}</td></tr>'
        )
    sections = "".join(_html_section(one) for one in shown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper's experiments, run again</title><style>{STYLE}</style></head><body>"
        f"<h1>The paper's experiments, run again</h1><p>{escape(_sentence(facts))}</p>"
        '<div class="wide"><table><thead><tr><th>experiment</th><th>what</th><th>hold</th>'
        f"<th>in part</th><th>do not hold</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"</div>{sections}</body></html>\n"
    )


def _html_section(one: Shown) -> str:
    experiment = one.experiment
    image = base64.b64encode(one.svg).decode()
    settings = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in experiment.settings.items()
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in experiment.notes)
    return (
        f'<section id="{escape(experiment.name)}"><h2>{escape(experiment.title)}</h2>'
        f'<p class="soft">{escape(experiment.name)}: {escape(experiment.figure)}. '
        f"{_trials(one.n_trials)}.</p>"
        f'<figure><img src="data:image/svg+xml;base64,{image}" alt="{escape(experiment.title)}">'
        f"</figure>{_html_gains(one.gains)}"
        f"{''.join(_html_claim(claim) for claim in one.claims)}"
        f'<details><summary>Settings and notes</summary><div class="wide"><table>{settings}'
        f"</table></div><ul>{notes}</ul></details></section>"
    )


def _html_gains(gains: Sequence[Gain]) -> str:
    if not gains:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in GAIN_COLUMNS)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in astuple(gain))}</tr>"
        for gain in gains
    )
    return (
        f'<h3>{GAINS}</h3><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _html_claim(claim: Claim) -> str:
    kind = {"holds": "holds", "holds in part": "part", "does not hold": "not"}[claim.verdict]
    checks = "".join(
        f"<li>{'yes' if check.passed else 'no'}: {escape(check.measured)}</li>"
        for check in claim.checks
    )
    return (
        f'<div class="claim {kind}"><p>{escape(claim.statement)}</p>'
        f'<p><span class="verdict {kind}">{MARKS[claim.verdict]}</span> '
        f'<span class="soft">{_whose(claim)}</span></p><ul>{checks}</ul></div>'
    )


def _sentence(facts: Mapping[str, object]) -> str:
    told = ", ".join(f"{name} {value}" for name, value in facts.items())
    return (
        f"Run: {told}. Lines are means over trials, bands run from the 10 % to the 90 % quantile; "
        "numbers in brackets are 95 % bootstrap intervals over trials."
    )


def _counted(claims: Sequence[Claim]) -> dict[str, int]:
    return {word: sum(claim.verdict == word for claim in claims) for word in MARKS}


def _whose(claim: Claim) -> str:
    return "the paper's claim" if claim.source == "paper" else "our own"


def _trials(n_trials: int) -> str:
    return "1 trial" if n_trials == 1 else f"{n_trials} trials"


def _plain(text: str) -> str:
    """Return text in which Markdown sees no markup."""
    for sign in ("\\", "|", "*", "_", "`", "<"):
        text = text.replace(sign, "\\" + sign)
    return text
