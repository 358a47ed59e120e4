"""Figures made to be read, and one page of all figures, settings and claims.

Lines are means over trials, as in the paper; bands run from the 10 % to the 90 % quantile.
See `estimators.MEANS` for the trials that a mean leaves out.  The page is Markdown beside its
figures, or HTML on its own, which asks the network for nothing.
"""

import base64
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from intransit import plotting
from intransit.experiments import estimators as est
from intransit.experiments.experiment import Check, Claim, Experiment, Gain, Series, Table
from intransit.plotting import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, Axes
from intransit.report.page import blocks
from intransit.report.page.blocks import bullets, more, plain, section


@dataclass(frozen=True)
class Style:
    """How one curve is drawn."""

    colour: str
    marker: str = "o"
    line: str = "-"


STYLES = {est.LAST: Style(RED, "s"), est.EQUAL: Style(BLUE, "^"), est.OPTIMAL: Style(GREEN, "o")}
JOINT_STYLE, ESTIMATED_STYLE = Style(PURPLE, "D"), Style(ORANGE, "d", "--")
WITH_JOINT = {**STYLES, est.JOINT: JOINT_STYLE}


def there(
    table: Table, measure: str, curves: Iterable[str], facet: str = ""
) -> Iterator[tuple[str, Series]]:
    """Yield those of the curves that a run has drawn."""
    for curve in curves:
        if table.has(curve, measure=measure, facet=facet):
            yield curve, table.series(measure, curve, facet)


def draw_curve(axes: Axes, series: Series, style: Style, label: str, *, band: bool = True) -> None:
    """Draw the mean over trials, and a band where trials differ."""
    axes.plot(
        series.x,
        series.mean,
        style.line,
        color=style.colour,
        marker=style.marker,
        label=pretty(label),
    )
    if band and series.values.shape[1] > 1:
        draw_band(axes, series, style)


def draw_band(axes: Axes, series: Series, style: Style) -> None:
    """Draw a band from the 10 % to the 90 % quantile over trials."""
    low, high = series.quantile(0.1), series.quantile(0.9)
    axes.fill_between(series.x, low, high, color=style.colour, alpha=0.16, linewidth=0)


def draw_settled(axes: Axes, table: Table, measure: str, facet: str = "") -> None:
    """Draw the three weights and the joint curve: see `estimators.MEANS`."""
    for curve, every in there(table, measure, WITH_JOINT, facet):
        style, settled = WITH_JOINT[curve], est.settled_series(table, measure, curve, facet)
        axes.plot(every.x, every.mean, ":", color=style.colour, linewidth=1.2)
        draw_curve(axes, settled, style, curve, band=False)
        draw_band(axes, every, style)
    axes.plot([], [], ":", color="#555555", linewidth=1.2, label="mean of all trials")


def draw_extras(axes: Axes, table: Table, measure: str, facet: str = "") -> None:
    """Draw what `--with` added: Newton as crosses, other estimators, limits as thin lines."""
    draw_newton(axes, table, measure, STYLES, facet)
    others = there(table, measure, [name for name in est.FURTHER if name != est.JOINT], facet)
    for (curve, series), colour in zip(others, (SKY, BLACK), strict=False):
        draw_curve(axes, series, Style(colour, "v"), curve)
    for curve, series in there(table, measure, [est.ESTIMATED], facet):
        draw_curve(axes, series, ESTIMATED_STYLE, curve, band=False)
    draw_limits(axes, table, measure, facet)


def draw_newton(
    axes: Axes, table: Table, measure: str, styles: Mapping[str, Style], facet: str = ""
) -> None:
    """Draw the means that Newton's method finds, as crosses over the curves they should meet."""
    settled = "settled" in table.names("measure", facet=facet)
    crosses = {curve + est.NEWTON: style.colour for curve, style in styles.items()}
    found = dict(there(table, measure, crosses, facet))
    for curve, every in found.items():
        series = est.settled_series(table, measure, curve, facet) if settled else every
        axes.plot(series.x, series.mean, "x", color=crosses[curve], markersize=7)
    if found:
        axes.plot([], [], "x", color="#555555", markersize=7, label="the same by Newton")


def draw_limits(axes: Axes, table: Table, measure: str, facet: str = "") -> None:
    """Draw the Cramér-Rao limits as thin lines.

    They are medians: a mean would be ruled by the few samples that settle next to nothing.
    """
    lines = {est.DYNAMIC_LIMIT: "-", est.STATIC_LIMIT: "--"}
    for curve, series in there(table, measure, lines, facet):
        line = lines[curve]
        axes.plot(series.x, series.median, line, color="#777777", lw=1.2, label=pretty(curve))


def pretty(text: str) -> str:
    """Return a label with its powers of T set as mathematics.

    >>> pretty("only y^T")
    'only $y^T$'
    """
    return re.sub(r"\b([a-zA-Z])\^T", r"$\1^T$", text)


def finish(
    axes: Axes,
    *,
    title: str,
    x: str,
    y: str,
    log: Sequence[str] = (),
    legend: Any = "best",
) -> None:
    """Name the axes; `log` lists those with a logarithmic scale."""
    scales = {f"{name}scale": "log" for name in log}
    axes.set(title=pretty(title), xlabel=x, ylabel=y, **scales)
    if legend is not None:
        axes.legend(loc=legend)


def render(experiment: Experiment, table: Table) -> dict[str, bytes]:
    """Return the figure of a finished run as {"png": ..., "svg": ...}."""
    plotting.require_matplotlib()
    from matplotlib import style  # noqa: PLC0415  an optional library
    from matplotlib.figure import Figure  # noqa: PLC0415

    with style.context(plotting.LOOK), np.errstate(invalid="ignore"):
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
# Classes of experiments.css.
KINDS = {"holds": "holds", "holds in part": "part", "does not hold": "not"}

TITLE = "The paper's experiments, run again"
GAINS = "What joint estimation gains"
GAIN_COLUMNS = ("where", "the paper's best", "joint", "limit", "gain")


@dataclass(frozen=True)
class Shown:
    """One finished experiment, ready to be shown."""

    experiment: Experiment
    n_trials: int
    claims: Sequence[Claim]
    gains: Sequence[Gain]
    svg: bytes

    @property
    def counted(self) -> dict[str, int]:
        """How many claims there are of each verdict."""
        return {word: sum(claim.verdict == word for claim in self.claims) for word in MARKS}

    @property
    def trials(self) -> str:
        """How many trials were made, in words."""
        return "1 trial" if self.n_trials == 1 else f"{self.n_trials} trials"


def to_markdown(facts: Mapping[str, object], shown: Sequence[Shown]) -> str:
    """Return the page as Markdown, beside which the figures lie as NAME.png."""
    names = [f"[{one.experiment.name}](#{one.experiment.name})" for one in shown]
    rows = [
        (name, str(len(one.claims)), *map(str, one.counted.values()))
        for name, one in zip(names, shown, strict=True)
    ]
    lines = [f"# {TITLE}", "", _sentence(facts), ""]
    lines += _table(("experiment", "claims", "hold", "in part", "do not hold"), rows)
    for one in shown:
        lines += _section(one)
    return "\n".join(lines) + "\n"


def _section(one: Shown) -> list[str]:
    experiment = one.experiment
    lines = [
        *("", f"## {experiment.name}", ""),
        f"{experiment.title}: {experiment.figure}. {one.trials}. Numbers: "
        f"[table]({experiment.name}.csv), [summary and claims]({experiment.name}.json).",
        *("", f"![{experiment.title}]({experiment.name}.png)", "", "### Claims"),
    ]
    for claim in one.claims:
        lines += ["", f"**{MARKS[claim.verdict]}** ({_whose(claim)}): {claim.statement}", ""]
        lines += [f"- {_plain(_said(check))}" for check in claim.checks]
    if one.gains:
        cells = [[_plain(cell) for cell in astuple(gain)] for gain in one.gains]
        lines += ["", f"### {GAINS}", "", *_table(GAIN_COLUMNS, cells)]
    settings = [(name, _plain(str(value))) for name, value in experiment.settings.items()]
    lines += ["", "### Settings", "", *_table(("setting", "value"), settings)]
    return lines + ["", "### Notes", ""] + [f"- {_plain(note)}" for note in experiment.notes]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---"] * len(columns), *rows)]


def to_html(facts: Mapping[str, object], shown: Sequence[Shown]) -> str:
    """Return the page as one HTML file that needs no other."""
    rows = [
        (
            f'<a href="#{plain(one.experiment.name)}">{plain(one.experiment.name)}</a>',
            plain(one.experiment.title),
            *(f'<span class="{KINDS[word]}">{n}</span>' for word, n in one.counted.items()),
        )
        for one in shown
    ]
    body = (
        f"<h1>{plain(TITLE)}</h1><p>{plain(_sentence(facts))}</p>"
        + _html_table(rows, ("experiment", "what", "hold", "in part", "do not hold"))
        + "".join(map(_html_section, shown))
    )
    style = blocks.read_assets("experiments.css")
    policy = f"img-src data:; style-src {blocks.digest(style)}"
    return blocks.write_document(TITLE, style, policy, body)


def _html_section(one: Shown) -> str:
    experiment = one.experiment
    image = base64.b64encode(one.svg).decode()
    settings = [(plain(name), plain(str(value))) for name, value in experiment.settings.items()]
    gains = [[plain(cell) for cell in astuple(gain)] for gain in one.gains]
    return section(
        plain(experiment.name),
        plain(experiment.title),
        [
            f'<p class="soft">{plain(experiment.name)}: {plain(experiment.figure)}. {one.trials}.'
            f'</p><figure><img src="data:image/svg+xml;base64,{image}" '
            f'alt="{plain(experiment.title)}"></figure>',
            f"<h3>{GAINS}</h3>{_html_table(gains, GAIN_COLUMNS)}" if gains else "",
            *map(_html_claim, one.claims),
            more("Settings and notes", _html_table(settings) + bullets(experiment.notes)),
        ],
    )


def _html_table(rows: Iterable[Sequence[str]], columns: Sequence[str] = ()) -> str:
    """Return rows of HTML as a table that scrolls in its own box."""
    head = "".join(f"<th>{plain(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    titles = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return f'<div class="wide"><table>{titles}<tbody>{body}</tbody></table></div>'


def _html_claim(claim: Claim) -> str:
    kind = KINDS[claim.verdict]
    return (
        f'<div class="claim {kind}"><p>{plain(claim.statement)}</p>'
        f'<p><span class="verdict {kind}">{MARKS[claim.verdict]}</span> '
        f'<span class="soft">{_whose(claim)}</span></p>{bullets(map(_said, claim.checks))}</div>'
    )


def _sentence(facts: Mapping[str, object]) -> str:
    run = ", ".join(f"{name} {value}" for name, value in facts.items())
    return (
        f"Run: {run}. Lines are means over trials, bands run from the 10 % to the 90 % quantile; "
        "numbers in brackets are 95 % bootstrap intervals over trials."
    )


def _whose(claim: Claim) -> str:
    return "the paper's claim" if claim.source == "paper" else "our own"


def _said(check: Check) -> str:
    return f"{'yes' if check.passed else 'no'}: {check.measured}"


def _plain(text: str) -> str:
    """Return text in which Markdown sees no markup."""
    return re.sub(r"[\\|*_`<]", r"\\\g<0>", text)
