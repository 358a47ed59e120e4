"""Figures made to be read: one look for all, bands over trials, PNG and SVG.

Lines are means over trials, as in the paper; bands run from the 10 % to the 90 % quantile.
See `estimators.MEANS` for the trials that a mean leaves out.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
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
from intransit.experiments.experiment import Experiment
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
