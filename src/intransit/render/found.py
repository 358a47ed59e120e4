"""Figures of what was found in an answer: cycles, counters, changes, and the equilibrium."""

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.answers.found import Changes, Cycle, Cycles, ItemChange, MatchupChange, Ranking
from intransit.answers.items import largest_group, present, text
from intransit.arrays import FloatArray, IntArray
from intransit.findings.planes import draw_discs as planes_of
from intransit.percent import percent
from intransit.plotting import BLUE, GREEN, LOOK, ORANGE, PURPLE, RED, SKY, load_pyplot
from intransit.render.answers import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ON_CIRCLE = 12  # items of a graph of cycles
MOST_CYCLES = 6
MOST_PLANES = 2
MOST_LABELS = 14  # of a plane
MOST_ROWS = 14  # of a list
GREY, INK = "#9a9a9a", "#222222"
COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)


def draw_cycles(found: Cycles) -> "Figure":
    """Return a graph of the surest cycles: arrows go from who is favoured, with the chance to win.

    At most six cycles and twelve items; the wider an arrow, the surer it is.
    """
    shown = _that_fit(found.found)
    if not shown:
        return _nothing(found.note or "No cycle is sure enough to be drawn.")
    names = list(dict.fromkeys(name for cycle in shown for name in cycle.items))
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    spot = dict(zip(names, np.column_stack([np.cos(angle), np.sin(angle)]), strict=True))
    low = 0.5 + 0.24 * len(shown)  # inches of words below the graph
    figure, axes = _figure(9.6, 6.9 + low, 2, 1, height_ratios=[6.9, low])
    graph, words = axes[:, 0]
    done: set[tuple[str, str]] = set()
    for colour, cycle in zip(COLOURS, shown, strict=False):
        ring = (*cycle.items, cycle.items[0])
        for k, pair in enumerate(pairwise(ring)):
            if pair not in done:
                done.add(pair)
                ends = (spot[pair[0]], spot[pair[1]])
                _arrow(graph, *ends, cycle.chances[k], cycle.edges[k], colour)
    for name, (x, y) in spot.items():
        graph.plot(x, y, "o", color=INK, markersize=9, zorder=5)
        _beside(graph, 1.07 * x, 1.07 * y, x, shorten(name, 26), 10.0)
    for k, (colour, cycle) in enumerate(zip(COLOURS, shown, strict=False)):
        line = f"{percent(cycle.probability, 1)} sure:  {_ring(cycle)}"
        y = 1.0 - (k + 0.5) / len(shown)
        words.text(0.0, y, line, color=colour, fontsize=9, va="center")
    when = f", {found.at}" if found.at else ""
    more = f"{len(shown)} of {found.n_found} cycles" if found.n_found > len(shown) else "Cycles"
    _title(graph, f"{more}{when}: who is favoured, and the chance to win")
    graph.set_xlim(-1.72, 1.72)
    graph.set_ylim(-1.16, 1.16)
    graph.set_aspect("equal")
    _bare(graph)
    _bare(words)
    return figure


def draw_discs(answer: FittedTable, at: object = None) -> "Figure":
    """Return the strongest ways of countering beyond strengths, as the report has them.

    Each item is favoured over those anticlockwise of it, beyond what strengths say; most over those
    a quarter turn ahead, and the more, the further out both lie.
    """
    when = answer.when(at)
    items = largest_group(answer, present(answer, when))
    X = answer.margins(at)[np.ix_(items, items)]
    planes = planes_of(X[None], np.ones(X.shape, dtype=bool))[:MOST_PLANES]
    if not planes:
        return _nothing("Strengths explain the matrix: nobody counters anybody beyond them.")
    figure, axes = _figure(6.6 * len(planes), 4.8, 1, len(planes))
    for k, (axis, plane) in enumerate(zip(axes[0], planes, strict=True)):
        _disc(axis, plane.points[-1], [answer.names[i] for i in items])
        _title(axis, f"Way of countering {k + 1}: {percent(plane.share)} of what strengths leave")
    moment = text(answer, when)
    figure.supxlabel(
        "beyond strengths, each is favoured over those anticlockwise of it, most a quarter turn on"
        + (f"; {moment}" if moment else ""),
        fontsize=10,
        color="#555555",
    )
    return figure


def draw_changes(found: Changes) -> "Figure":
    """Return what changed between two times, with intervals; sure changes are in colour."""
    items = sorted(found.items[:MOST_ROWS], key=lambda c: c.change)
    pairs = sorted(found.matchups[:MOST_ROWS], key=lambda c: c.change)
    if not items:
        return _nothing(found.note)
    rows, wide = max(len(items), len(pairs)), 2 if pairs else 1
    figure, axes = _figure(6.8 * wide, 1.7 + 0.33 * rows, 1, wide)
    _dots(axes[0, 0], items, [shorten(c.name, 30) for c in items])
    _title(axes[0, 0], "Who became stronger")
    axes[0, 0].set_xlabel("change of the mean chance of beating the others")
    if pairs:
        names = [f"{shorten(c.first, 21)} – {shorten(c.second, 21)}" for c in pairs]
        _dots(axes[0, 1], pairs, names)
        _title(axes[0, 1], "Which matchups changed")
        axes[0, 1].set_xlabel("change of the first's chance, strengths held")
    figure.suptitle(
        f"{found.since} to {found.until}, {percent(found.level)} intervals; in colour: sure, at "
        f"most {percent(found.rate)} of them false",
        fontsize=10,
        color="#555555",
    )
    return figure


def draw_equilibrium(found: Ranking) -> "Figure":
    """Return the mixture that nothing beats on average: mean weights and intervals."""
    shares = found.equilibrium[:MOST_ROWS]
    figure, axes = _figure(8.0, 1.7 + 0.36 * len(shares), 1, 1)
    axis = axes[0, 0]
    place = np.arange(len(shares))[::-1]
    weights = np.array([s.weight for s in shares])
    axis.barh(place, weights, color=BLUE, alpha=0.85, height=0.62)
    low, high = np.array([s.low for s in shares]), np.array([s.high for s in shares])
    axis.hlines(place, low, high, color=INK, linewidth=1.1)
    for y, share, end in zip(place, shares, np.maximum(high, weights), strict=True):
        axis.text(
            end + 0.012, y, percent(share.weight), va="center", fontsize=9, color="#555555"
        )  # fmt: skip
    axis.set_yticks(place, [shorten(s.name, 34) for s in shares])
    axis.set_xlim(0.0, min(1.12, float(max(high.max(), weights.max())) + 0.1))
    axis.xaxis.set_major_formatter(lambda value, _: percent(value))
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel(
        f"weight in the mixture that nothing beats, with {percent(found.level)} interval"
    )
    _title(axis, "In place of a best item" + (f", {found.at}" if found.at else ""))
    return figure


def _that_fit(cycles: Sequence[Cycle]) -> list[Cycle]:
    """Return the surest cycles whose items find room on one circle."""
    kept: list[Cycle] = []
    names: set[str] = set()
    for cycle in cycles:
        if len(kept) < MOST_CYCLES and len(names | set(cycle.items)) <= MOST_ON_CIRCLE:
            kept.append(cycle)
            names |= set(cycle.items)
    return kept


def _ring(cycle: Cycle) -> str:
    return " > ".join(shorten(name, max(12, 84 // len(cycle.items))) for name in cycle.items)


def _arrow(
    axis: "Axes", start: FloatArray, end: FloatArray, chance: float, sure: float, colour: str
) -> None:
    """Draw one edge, a little bent, with its chance a third of the way from the winner."""
    bend = 0.12
    axis.annotate(
        "", xy=tuple(end), xytext=tuple(start), zorder=3,
        arrowprops={
            "arrowstyle": "-|>,head_width=0.35,head_length=0.7",
            "connectionstyle": f"arc3,rad={bend}",
            "color": colour,
            "linewidth": 0.8 + 14.0 * max(sure - 0.9, 0.0) * 1.6,
            "shrinkA": 8, "shrinkB": 9, "alpha": 0.9,
        },
    )  # fmt: skip
    # A quadratic curve whose middle point lies `bend` aside, as matplotlib bends it.
    aside = np.array([end[1] - start[1], start[0] - end[0]]) * bend
    control, t = 0.5 * (start + end) + aside, 0.36
    x, y = (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end
    axis.text(
        x, y, percent(chance), ha="center", va="center", fontsize=8.5, color=colour, zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
    )  # fmt: skip


def _disc(axis: "Axes", points: FloatArray, names: list[str]) -> None:
    """Draw one plane: points, names of those furthest out, and which way favour runs."""
    from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415

    radius = np.hypot(*points.T)
    reach = float(radius.max())
    axis.axhline(0.0, color="#dddddd", linewidth=0.8, zorder=0)
    axis.axvline(0.0, color="#dddddd", linewidth=0.8, zorder=0)
    named = np.argsort(-radius, kind="stable")[:MOST_LABELS]
    faint = np.setdiff1d(np.arange(len(points)), named)
    axis.plot(*points[faint].T, "o", color=GREY, markersize=4, alpha=0.7)
    axis.plot(*points[named].T, "o", color=BLUE, markersize=6.5)
    _label(axis, points, named, names)
    spin = np.deg2rad([62.0, 118.0])
    ends = 1.22 * reach * np.column_stack([np.cos(spin), np.sin(spin)])
    axis.add_patch(
        FancyArrowPatch(
            tuple(ends[0]), tuple(ends[1]), connectionstyle="arc3,rad=0.2", color=RED,
            arrowstyle="-|>,head_width=4,head_length=7", linewidth=1.4,
        )
    )  # fmt: skip
    axis.text(0.0, 1.4 * reach, "beats", color=RED, fontsize=9, ha="center", va="bottom")
    axis.set_xlim(-2.1 * reach, 2.1 * reach)
    axis.set_ylim(-1.2 * reach, 1.55 * reach)
    axis.set_aspect("equal")
    _bare(axis)


def _label(axis: "Axes", points: FloatArray, named: IntArray, names: list[str]) -> None:
    """Write names in two columns beside the disc, a line from each to its point."""
    reach = float(np.abs(points).max())
    step, column = 0.13 * reach, 1.14 * reach
    middle = float(np.median(points[named, 0]))
    for side in (-1.0, 1.0):
        mine = [k for k in named if (points[k, 0] >= middle) == (side > 0)]
        mine.sort(key=lambda k: points[k, 1])
        heights = np.array([points[k, 1] for k in mine])
        for _ in range(200):  # push neighbours apart, evenly
            short = np.flatnonzero(np.diff(heights) < step - 1e-9)
            if not len(short):
                break
            for k in short:
                push = 0.5 * (step - (heights[k + 1] - heights[k]))
                heights[k] -= push
                heights[k + 1] += push
        for k, height in zip(mine, heights, strict=True):
            line = ([points[k, 0], side * column], [points[k, 1], height])
            axis.plot(*line, color="#cccccc", linewidth=0.7, zorder=1)
            _beside(axis, side * 1.02 * column, float(height), side, shorten(names[k]), 8.5)


def _dots(
    axis: "Axes",
    changes: Sequence[ItemChange | MatchupChange],
    names: list[str],
) -> None:
    """Draw a dot and an interval for each change."""
    place = np.arange(len(changes))
    for y, change in zip(place, changes, strict=True):
        colour = (BLUE if change.change > 0 else RED) if change.sure else GREY
        axis.plot([change.low, change.high], [y, y], color=colour, linewidth=1.6)
        axis.plot(change.change, y, "o", color=colour, markersize=6)
    axis.axvline(0.0, color="#666666", linewidth=0.8, zorder=0)
    axis.set_yticks(place, names)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.set_ylim(-0.7, max(len(changes), 2) - 0.3)
    axis.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f} %")


def _beside(axis: "Axes", x: float, y: float, side: float, name: str, size: float) -> None:
    """Write a name at a point, away from the centre."""
    turn = "center" if abs(side) < 0.2 else "left" if side > 0 else "right"
    height = "center" if abs(side) >= 0.2 else "bottom" if y > 0 else "top"
    axis.text(x, y, name, ha=turn, va=height, fontsize=size, color=INK, zorder=6)


def _figure(
    width: float, height: float, n_rows: int, n_columns: int, **shape: Any
) -> tuple["Figure", Any]:
    """Return a figure and its axes, (n_rows, n_columns)."""
    plt = load_pyplot()
    with plt.rc_context(LOOK):
        figure, axes = plt.subplots(
            n_rows, n_columns, figsize=(width, height), layout="constrained", squeeze=False,
            gridspec_kw=shape,
        )  # fmt: skip
    plt.close(figure)  # whoever asked for it keeps it; pyplot would keep it for good
    return figure, axes


def _title(axis: "Axes", words: str) -> None:
    axis.set_title(words, fontsize=11, fontweight="bold", loc="left")


def _bare(axis: "Axes") -> None:
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)


def _nothing(why: str) -> "Figure":
    """Return a figure that says why there is nothing to draw."""
    figure, axes = _figure(7.6, 1.6, 1, 1)
    _bare(axes[0, 0])
    axes[0, 0].text(
        0.5, 0.5, "\n".join(wrap(why, 70)), ha="center", va="center", fontsize=11, color="#555555",
        transform=axes[0, 0].transAxes,
    )  # fmt: skip
    return figure
