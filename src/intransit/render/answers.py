"""Figures of an answer: the matrix, strengths over time, and two items head to head."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.answers.frames import leading, moments, paths
from intransit.core.inputs import as_list
from intransit.errors import InputError
from intransit.percent import percent
from intransit.plotting import BLUE, LOOK, RED, load_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 20  # items of a matrix, unless they are named
MOST_WRITTEN = 16  # items up to which the cells of a matrix are written out
LONGEST = 22  # letters of a name
BEYOND = 0.15  # of the table's span: how far a forecast is drawn


def draw_matrix(
    answer: FittedTable, at: object = None, items: Sequence[str | int] | None = None
) -> "Figure":
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
    figure, grid = _figure(inches + 0.9, inches + 0.6, layout="compressed")
    axis = grid[0, 0]
    reach = max(float(np.abs(matrix - 0.5).max()), 0.05)
    off = np.where(np.eye(n, dtype=bool), np.nan, matrix)
    axis.set_facecolor("#dddddd")
    image = axis.imshow(off, cmap="RdBu", vmin=0.5 - reach, vmax=0.5 + reach)
    labels = [shorten(name) for name in shown]
    axis.set_xticks(range(n), labels, rotation=45, ha="left", rotation_mode="anchor")
    axis.set_yticks(range(n), labels)
    axis.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    if n <= MOST_WRITTEN:
        for i, j in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
            pale = abs(matrix[i, j] - 0.5) < 0.6 * reach
            axis.text(
                j, i, f"{100 * matrix[i, j]:.0f}", ha="center", va="center", fontsize=8,
                color="#222222" if pale else "white",
            )  # fmt: skip
    bar = figure.colorbar(image, ax=axis, location="bottom", shrink=0.6, aspect=30, pad=0.02)
    often = f", {n} of {answer.n_items} items, strongest first" if items is None else ""
    bar.set_label(f"probability that the row beats the column{_moment(answer, at)}{often}")
    step = next(step for step in (0.02, 0.05, 0.1, 0.2) if reach < 2.9 * step or step == 0.2)
    ticks = 0.5 + step * np.arange(-4, 5)
    bar.set_ticks(ticks[np.abs(ticks - 0.5) <= reach + 1e-9])
    bar.ax.xaxis.set_major_formatter(lambda value, _: percent(value))
    bar.outline.set_visible(False)
    return figure


def draw_strengths(answer: FittedTable, items: Sequence[str | int] | None = None) -> "Figure":
    """Return a figure of strengths over time with 90 % bands: by default of those that lead now.

    A panel for each item, with the others in grey behind it; drawn from its first to its last game.
    """
    _need_times(answer)
    found = paths(answer, items)
    n = len(found.items)
    width = min(n, 4)
    height = -(-n // width)
    figure, axes = _figure(3.0 * width + 0.6, 2.1 * height + 0.7, height, width)
    seen = (answer.seen.first, answer.seen.last)
    step = found.times[1] - found.times[0]
    lines = []
    for k, name in enumerate(found.items):
        first, last = (ends[answer.number(name)] for ends in seen)
        there = (found.times >= first - step) & (found.times <= last + step)
        lines.append((moments(answer, found.times[there]), found.strengths[k, there], there))
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
        axis.set_title(shorten(found.items[k], 30), fontsize=9.5, fontweight="bold", loc="left")
        _percent(axis)
        _few_dates(axis, answer)
    figure.supylabel("mean probability of\nbeating the others, 90 % band", fontsize=10)
    return figure


def draw_head_to_head(answer: FittedTable, first: str | int, second: str | int) -> "Figure":
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
    figure, grid = _figure(9.0, 4.2)
    axis = grid[0, 0]
    for part, line, shade in ((times <= end, "-", 0.22), (times >= end, "--", 0.12)):
        when = moments(answer, times[part])
        axis.fill_between(when, low[part], high[part], color=BLUE, alpha=shade, linewidth=0)
        axis.plot(when, middle[part], line, color=BLUE)
    axis.axhline(0.5, color="#999999", linewidth=0.8)
    axis.axvline(moments(answer, np.array([end]))[0], color="#999999", linewidth=0.8, linestyle=":")
    a, b = (shorten(answer.names[k], 34) for k in (i, j))
    axis.set_title(f"{a} against {b}", fontsize=11, fontweight="bold", loc="left")
    axis.set_ylabel("probability that the first wins,\n90 % band")
    axis.text(
        moments(answer, np.array([0.5 * (end + until)]))[0], 0.9, "forecast", ha="center",
        va="center", fontsize=9, color="#666666", transform=axis.get_xaxis_transform(),
    )  # fmt: skip
    axis.set_xlabel(_rug(axis, answer, i, j), fontsize=9, color="#666666")
    axis.margins(x=0.01, y=0.12)
    _percent(axis)
    return figure


def _rug(axis: "Axes", answer: FittedTable, i: int, j: int) -> str:
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
        when = moments(answer, cells.times[met[which]])
        axis.plot(
            when, np.full(len(when), height), "|", color=RED, markersize=9, alpha=0.6,
            transform=axis.get_xaxis_transform(),
        )  # fmt: skip
    ties = "" if not (result == 0).any() else ", ties left out"
    return f"{said}: marks above are wins of the first, below its losses{ties}"


def shorten(name: str, longest: int = LONGEST) -> str:
    """Return a name that fits, its end left out if need be; never taken as mathematics."""
    short = name if len(name) <= longest else name[: longest - 1].rstrip() + "…"
    return short.replace("$", r"\$")


def _figure(
    width: float,
    height: float,
    n_rows: int = 1,
    n_columns: int = 1,
    *,
    layout: str = "constrained",
) -> tuple["Figure", Any]:
    """Return a figure and its axes, (n_rows, n_columns), that share theirs."""
    plt = load_pyplot()
    with plt.rc_context(LOOK):
        figure, axes = plt.subplots(
            n_rows, n_columns, figsize=(width, height), layout=layout, squeeze=False,
            sharex=True, sharey=True,
        )  # fmt: skip
    plt.close(figure)  # whoever asked for it keeps it; pyplot would keep it for good
    return figure, axes


def _few_dates(axis: "Axes", answer: FittedTable) -> None:
    """Write few enough dates beside a small panel that they do not run into each other."""
    if answer.clock.kind == "date":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter  # noqa: PLC0415

        places = AutoDateLocator(minticks=2, maxticks=5)  # type: ignore[no-untyped-call]
        axis.xaxis.set_major_locator(places)
        words = ConciseDateFormatter(places)  # type: ignore[no-untyped-call]
        axis.xaxis.set_major_formatter(words)
    else:
        axis.locator_params(axis="x", nbins=4)


def _percent(axis: "Axes") -> None:
    axis.yaxis.set_major_formatter(lambda value, _: percent(value))


def _moment(answer: FittedTable, at: object) -> str:
    if answer.clock.kind == "none":
        return ""
    return f", {answer.clock.to_text(answer.when(at))}"


def _need_times(answer: FittedTable) -> None:
    if not answer.seen.end > answer.seen.begin:
        raise InputError(
            f"{answer.source}: all games are at one time, so nothing changes; draw the matrix."
        )
