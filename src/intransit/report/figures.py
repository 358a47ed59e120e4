"""Figures of an answer: matrix, strengths, head to head, cycles, counters, changes, equilibrium."""

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap

import numpy as np

from intransit.analysis import FittedTable
from intransit.analysis.cycles import Cycles, ItemCycle, Ranking
from intransit.analysis.standings import (
    Changes,
    ItemChange,
    MatchupChange,
    largest_group,
    leading,
    present,
    shown_times,
    strength_paths,
    time_text,
)
from intransit.arrays import FloatArray, IntArray
from intransit.checks import as_list
from intransit.errors import InputError
from intransit.percent import percent
from intransit.plotting import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Axes,
    Figure,
    in_percent,
    new_figure,
    set_title,
)
from intransit.report import NO_DISCS, find_discs, shows_discs
from intransit.report.wording import cut_short

MOST_ROWS = 20  # items of a matrix, unless they are named
MOST_WRITTEN = 16  # items up to which the cells of a matrix are written out
LONGEST = 22  # letters of a name
BEYOND = 0.15  # of the table's span: how far a forecast is drawn


def draw_matrix(
    answer: FittedTable, at: object = None, items: Sequence[str | int] | None = None
) -> Figure:
    """Return a figure of who beats whom: by default the items of most assured strength."""
    if items is None:
        shown = [s.name for s in leading(answer, MOST_ROWS, at)]
    else:
        shown = [answer.names[answer.number(item)] for item in as_list(items, "items")]
    if len(shown) < 2:
        raise InputError("items: give two or more of them, or leave them out.")
    names = np.array(shown)
    matrix = answer.probabilities(names[:, None], names[None, :], at)  # type: ignore[arg-type]
    n = len(names)
    inches = 2.0 + 0.36 * n
    figure, grid = new_figure(inches + 0.9, inches + 0.6, layout="compressed")
    axis = grid[0, 0]
    reach = max(float(np.abs(matrix - 0.5).max()), 0.05)
    group = answer.posterior.groups[[answer.number(name) for name in shown]]
    known = (group[:, None] == group) & ~np.eye(n, dtype=bool)  # of strangers nothing is
    off = np.where(known, matrix, np.nan)
    axis.set_facecolor("#dddddd")
    image = axis.imshow(off, cmap="RdBu", vmin=0.5 - reach, vmax=0.5 + reach)
    labels = [shorten(name) for name in shown]
    axis.set_xticks(range(n), labels, rotation=45, ha="left", rotation_mode="anchor")
    axis.set_yticks(range(n), labels)
    axis.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    if n <= MOST_WRITTEN:
        for i, j in zip(*np.nonzero(known), strict=True):
            pale = abs(matrix[i, j] - 0.5) < 0.6 * reach
            axis.text(
                j, i, f"{100 * matrix[i, j]:.0f}", ha="center", va="center", fontsize=8,
                color="#222222" if pale else "white",
            )  # fmt: skip
    bar = figure.colorbar(image, ax=axis, location="bottom", shrink=0.6, aspect=30, pad=0.02)
    often = f", {n} of {answer.n_items} items, strongest first" if items is None else ""
    more = f"{_moment(answer, at)}{often}".removeprefix(", ")
    bar.set_label(f"probability that the row beats the column\n{more}".rstrip())
    step = next(step for step in (0.02, 0.05, 0.1, 0.2) if reach < 2.9 * step or step == 0.2)
    ticks = 0.5 + step * np.arange(-4, 5)
    bar.set_ticks(ticks[np.abs(ticks - 0.5) <= reach + 1e-9])
    in_percent(bar.ax.xaxis)
    bar.outline.set_visible(False)
    return figure


def draw_strengths(answer: FittedTable, items: Sequence[str | int] | None = None) -> Figure:
    """Return a figure of strengths over time with 90 % bands: by default of those that lead now.

    A panel for each item, with the others in grey behind it; drawn from its first to its last game.
    """
    _need_times(answer)
    found = strength_paths(answer, items)
    n = len(found.items)
    width = min(n, 4)
    height = -(-n // width)
    size = (3.0 * width + 0.6, 2.1 * height + 0.7)
    figure, axes = new_figure(*size, height, width, sharex=True, sharey=True)
    seen = (answer.seen.first, answer.seen.last)
    step = found.times[1] - found.times[0]
    lines = []
    for k, name in enumerate(found.items):
        first, last = (ends[answer.number(name)] for ends in seen)
        there = (found.times >= first - step) & (found.times <= last + step)
        lines.append((shown_times(answer, found.times[there]), found.strengths[k, there], there))
    for k, axis in enumerate(axes.ravel()):
        axis.set_visible(k < n)
        if k >= n:
            continue
        for when, strength, _ in lines:
            axis.plot(when, strength, color="#cccccc", linewidth=0.8)
        when, strength, there = lines[k]
        if found.low.min() < 0.53 and found.high.max() > 0.47:
            axis.axhline(0.5, color="#999999", linewidth=0.8)
        band = (found.low[k, there], found.high[k, there])
        axis.fill_between(when, *band, color=BLUE, alpha=0.2, linewidth=0)
        axis.plot(when, strength, color=BLUE)
        set_title(axis, shorten(found.items[k], 30), fontsize=9.5)
        in_percent(axis.yaxis)
        _few_dates(axis, answer)
    figure.supylabel("mean probability of\nbeating the others, 90 % band", fontsize=10)
    return figure


def draw_head_to_head(answer: FittedTable, first: str | int, second: str | int) -> Figure:
    """Return a figure of one item against another over time, and a forecast of what comes next."""
    _need_times(answer)
    i, j = answer.number(first), answer.number(second)
    if i == j:
        raise InputError(f"{answer.names[i]!r} cannot meet itself; give two items.")
    begin, end, seen = answer.seen.begin, answer.seen.end, answer.seen.first
    begin = float(np.clip(max(seen[i], seen[j]), begin, end - 0.05 * (end - begin)))
    until = end + BEYOND * (end - begin)
    times = np.unique(np.concatenate([np.linspace(begin, end, 80), np.linspace(end, until, 20)]))
    pair = (np.full(len(times), i), np.full(len(times), j), times)
    middle, low, high = answer.expected(*pair, np.zeros(len(times)), level=0.9)
    figure, grid = new_figure(9.0, 4.2)
    axis = grid[0, 0]
    for part, line, shade in ((times <= end, "-", 0.22), (times >= end, "--", 0.12)):
        when = shown_times(answer, times[part])
        axis.fill_between(when, low[part], high[part], color=BLUE, alpha=shade, linewidth=0)
        axis.plot(when, middle[part], line, color=BLUE)
    axis.axhline(0.5, color="#999999", linewidth=0.8)
    now, then = shown_times(answer, np.array([end, 0.5 * (end + until)]))
    axis.axvline(now, color="#999999", linewidth=0.8, linestyle=":")
    a, b = (shorten(answer.names[k], 34) for k in (i, j))
    set_title(axis, f"{a} against {b}")
    axis.set_ylabel("probability that the first wins,\n90 % band")
    axis.text(
        then, 0.9, "forecast", ha="center", va="center", fontsize=9, color="#666666",
        transform=axis.get_xaxis_transform(),
    )  # fmt: skip
    axis.set_xlabel(_rug(axis, answer, i, j), fontsize=9, color="#666666")
    axis.margins(x=0.01, y=0.12)
    in_percent(axis.yaxis)
    return figure


def _rug(axis: Axes, answer: FittedTable, i: int, j: int) -> str:
    """Mark when the two met, wins of the first above and losses below; return that in words."""
    cells = answer.posterior.layout.seen
    met = np.flatnonzero((cells.pairs[:, 0] == min(i, j)) & (cells.pairs[:, 1] == max(i, j)))
    if not len(met):
        return "they never met"
    games = cells.counts[met].sum()
    said = "they met once" if games == 1 else f"they met {games:,.6g} times"
    if not answer.model.moves:
        return said
    result = cells.means[met] - 0.5 if cells.kind == "logistic" else cells.means[met]
    result = result if i < j else -result
    for height, which in ((0.97, result > 0), (0.03, result < 0)):
        when = shown_times(answer, cells.times[met[which]])
        axis.plot(
            when, np.full(len(when), height), "|", color=RED, markersize=9, alpha=0.6,
            transform=axis.get_xaxis_transform(),
        )  # fmt: skip
    ties = "" if not (result == 0).any() else ", ties left out"
    return f"{said}: marks above are wins of the first, below its losses{ties}"


def shorten(name: str, longest: int = LONGEST) -> str:
    """Return a name that fits, its end left out if need be; never taken as mathematics."""
    return cut_short(name, longest).replace("$", r"\$")


def _few_dates(axis: Axes, answer: FittedTable) -> None:
    """Write few enough dates beside a small panel that they do not run into each other."""
    if answer.clock.kind == "date":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter  # noqa: PLC0415

        places = AutoDateLocator(minticks=2, maxticks=5)  # type: ignore[no-untyped-call]
        axis.xaxis.set_major_locator(places)
        words = ConciseDateFormatter(places)  # type: ignore[no-untyped-call]
        axis.xaxis.set_major_formatter(words)
    else:
        axis.locator_params(axis="x", nbins=4)


def _moment(answer: FittedTable, at: object) -> str:
    if answer.clock.kind == "none":
        return ""
    return f", {answer.clock.to_text(answer.when(at))}"


def _need_times(answer: FittedTable) -> None:
    if not answer.seen.end > answer.seen.begin:
        raise InputError(
            f"{answer.source}: all games are at one time, so nothing changes; draw the matrix."
        )


MOST_ON_CIRCLE = 12  # items of a graph of cycles
MOST_CYCLES = 6
MOST_PLANES = 2
MOST_LABELS = 14  # of a plane
MOST_DISCS = 14  # of a list
BEND = 0.12  # of an arrow, as a share of its length
LABELLED = (0.36, 0.5, 0.26, 0.62, 0.72)  # of the way from the winner: where a label may stand
ROOM = 0.16  # between two labels, where the circle has a radius of 1
GREY, INK = "#9a9a9a", "#222222"
COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)


def draw_cycles(found: Cycles) -> Figure:
    """Return a graph of the surest cycles: arrows go from who is favoured, with the chance to win.

    At most six cycles and twelve items; the wider an arrow, the surer it is.
    """
    shown = _that_fit(found.found)
    if not shown:
        return _nothing(found.note or "No cycle is certain enough to be drawn.")
    names = list(dict.fromkeys(name for cycle in shown for name in cycle.items))
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    spot = dict(zip(names, np.column_stack([np.cos(angle), np.sin(angle)]), strict=True))
    low = 0.5 + 0.24 * len(shown)  # inches of words below the graph
    figure, axes = new_figure(9.6, 6.9 + low, 2, 1, height_ratios=[6.9, low])
    graph, words = axes[:, 0]
    labels: dict[tuple[str, str], FloatArray] = {}  # where the chance of each arrow stands
    for colour, cycle in zip(COLOURS, shown, strict=False):
        for k, pair in enumerate(pairwise((*cycle.items, cycle.items[0]))):
            if pair not in labels:
                ends, told = (spot[pair[0]], spot[pair[1]]), (cycle.chances[k], cycle.edges[k])
                labels[pair] = _arrow(graph, *ends, *told, colour, list(labels.values()))
    for name, (x, y) in spot.items():
        graph.plot(x, y, "o", color=INK, markersize=9, zorder=5)
        _beside(graph, 1.07 * x, 1.07 * y, x, shorten(name, 26), 10.0)
    for k, (colour, cycle) in enumerate(zip(COLOURS, shown, strict=False)):
        ring = " > ".join(shorten(name, max(12, 84 // len(cycle.items))) for name in cycle.items)
        line = f"{percent(cycle.probability, 1)} sure:  {ring}"
        y = 1.0 - (k + 0.5) / len(shown)
        words.text(0.0, y, line, color=colour, fontsize=9, va="center")
    when = f", {found.at}" if found.at else ""
    more = f"{len(shown)} of {found.n_found} cycles" if found.n_found > len(shown) else "Cycles"
    set_title(graph, f"{more}{when}: who is favoured, and the chance to win")
    graph.set_xlim(-1.72, 1.72)
    graph.set_ylim(-1.16, 1.16)
    graph.set_aspect("equal")
    _bare(graph)
    _bare(words)
    return figure


def draw_discs(answer: FittedTable, at: object = None) -> Figure:
    """Return the strongest ways of countering beyond strengths, as the report has them.

    Each item is favoured over those anticlockwise of it, beyond what strengths say; most over those
    a quarter turn ahead, and the more, the further out both lie.
    """
    if not shows_discs(answer):
        return _nothing(NO_DISCS[answer.transitive.verdict])
    when = answer.when(at)
    items = largest_group(answer, present(answer, when))
    X = answer.margins(at)[np.ix_(items, items)]
    planes = find_discs(X[None], np.ones(X.shape, dtype=bool))[:MOST_PLANES]
    if not planes:
        return _nothing("Strengths explain the matrix: nobody counters anybody beyond them.")
    figure, axes = new_figure(6.6 * len(planes), 4.8, 1, len(planes))
    for k, (axis, plane) in enumerate(zip(axes[0], planes, strict=True)):
        _disc(axis, plane.points[-1], [answer.names[i] for i in items])
        set_title(axis, f"Circle {k + 1}: {percent(plane.share)} of what strengths leave")
    moment = time_text(answer, when)
    figure.supxlabel(
        "beyond strengths, each is favoured over those anticlockwise of it,\nmost a quarter turn on"
        + (f"; {moment}" if moment else ""),
        fontsize=10,
        color="#555555",
    )
    return figure


def draw_changes(found: Changes) -> Figure:
    """Return what changed between two times, with intervals; sure changes are in colour."""
    items = sorted(found.items[:MOST_DISCS], key=lambda c: c.change)
    pairs = sorted(found.matchups[:MOST_DISCS], key=lambda c: c.change)
    if not items:
        return _nothing(found.note)
    rows, wide = max(len(items), len(pairs)), 2 if pairs else 1
    figure, axes = new_figure(6.8 * wide, 1.7 + 0.33 * rows, 1, wide)
    _dots(axes[0, 0], items, [shorten(c.name, 30) for c in items])
    set_title(axes[0, 0], "Who became stronger")
    axes[0, 0].set_xlabel("change of the mean chance of beating the others")
    if pairs:
        names = [f"{shorten(c.first, 21)} – {shorten(c.second, 21)}" for c in pairs]
        _dots(axes[0, 1], pairs, names)
        set_title(axes[0, 1], "Which matchups changed")
        axes[0, 1].set_xlabel("change of the first's chance, strengths held")
    figure.suptitle(
        f"{found.since} to {found.until}, {percent(found.level)} intervals; in colour: sure, at "
        f"most {percent(found.rate)} of them false",
        fontsize=10,
        color="#555555",
    )
    return figure


def draw_equilibrium(found: Ranking) -> Figure:
    """Return the mixture that nothing beats on average: mean weights and intervals."""
    shares = found.equilibrium[:MOST_DISCS]
    figure, axes = new_figure(8.0, 1.7 + 0.36 * len(shares), 1, 1)
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
    in_percent(axis.xaxis)
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel(
        f"weight in the mixture that nothing beats, with {percent(found.level)} interval"
    )
    set_title(axis, "In place of a best item" + (f", {found.at}" if found.at else ""))
    return figure


def _that_fit(cycles: Sequence[ItemCycle]) -> list[ItemCycle]:
    """Return the surest cycles whose items find room on one circle."""
    kept: list[ItemCycle] = []
    names: set[str] = set()
    for cycle in cycles:
        if len(kept) < MOST_CYCLES and len(names | set(cycle.items)) <= MOST_ON_CIRCLE:
            kept.append(cycle)
            names |= set(cycle.items)
    return kept


def _arrow(
    axis: Axes,
    start: FloatArray,
    end: FloatArray,
    chance: float,
    sure: float,
    colour: str,
    taken: list[FloatArray],
) -> FloatArray:  # (2,)
    """Draw one edge, bent to the centre, its chance off other labels; return where that stands.

    Arrows that bend alike do not run into those beside them, whichever way they point.
    """
    aside = np.array([end[1] - start[1], start[0] - end[0]])
    bend = -BEND if aside @ (start + end) > 0 else BEND
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
    control = 0.5 * (start + end) + bend * aside
    spots = [(1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end for t in LABELLED]
    free = [
        min((float(np.hypot(*(spot - other))) for other in taken), default=9.0) for spot in spots
    ]
    x, y = spots[next((k for k, room in enumerate(free) if room > ROOM), int(np.argmax(free)))]
    axis.text(
        x, y, percent(chance), ha="center", va="center", fontsize=8.5, color=colour, zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
    )  # fmt: skip
    return np.array([x, y])


def _disc(axis: Axes, points: FloatArray, names: list[str]) -> None:
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


def _label(axis: Axes, points: FloatArray, named: IntArray, names: list[str]) -> None:
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
    axis: Axes,
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


def _beside(axis: Axes, x: float, y: float, side: float, name: str, size: float) -> None:
    """Write a name at a point, away from the centre."""
    turn = "center" if abs(side) < 0.2 else "left" if side > 0 else "right"
    height = "center" if abs(side) >= 0.2 else "bottom" if y > 0 else "top"
    axis.text(x, y, name, ha=turn, va=height, fontsize=size, color=INK, zorder=6)


def _bare(axis: Axes) -> None:
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)


def _nothing(why: str) -> Figure:
    """Return a figure that says why there is nothing to draw."""
    figure, axes = new_figure(7.6, 1.6, 1, 1)
    _bare(axes[0, 0])
    axes[0, 0].text(
        0.5, 0.5, "\n".join(wrap(why, 70)), ha="center", va="center", fontsize=11, color="#555555",
        transform=axes[0, 0].transAxes,
    )  # fmt: skip
    return figure
