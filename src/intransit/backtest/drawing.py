"""The figure of a backtest: how far each rung comes, and whether its forecasts can be believed."""

from typing import TYPE_CHECKING

import numpy as np

from intransit.backtest.result import Backtest
from intransit.percent import percent
from intransit.plotting import BLUE, GREEN, LOOK, RED, load_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_backtest(found: Backtest) -> "Figure":
    """Return a figure: left the ladder of log losses, right the reliability of the best rung."""
    plt = load_pyplot()
    height = max(3.8, 1.6 + 0.36 * len(found.rungs))
    figure: Figure
    with plt.rc_context(LOOK):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(11.5, height), layout="constrained", width_ratios=(1.7, 1.0)
        )
    plt.close(figure)
    _draw_ladder(left, found)
    _draw_reliability(right, found)
    return figure


def _draw_ladder(axis: "Axes", found: Backtest) -> None:
    """Draw losses, with the error of the gain over the rung below, which is what decides."""
    rungs = found.rungs
    y = np.arange(len(rungs))
    losses = np.array([rung.log_loss for rung in rungs])
    errors = np.nan_to_num([rung.gain_error for rung in rungs])
    axis.plot(losses, y, "-", color="#bbbbbb", linewidth=1.0, zorder=1)
    for k, rung in enumerate(rungs):
        clear = k > 0 and abs(rung.gain) > 2.0 * rung.gain_error
        colour = "#777777" if not clear else GREEN if rung.gain > 0 else RED
        axis.errorbar(losses[k], y[k], xerr=errors[k], fmt="o", color=colour, capsize=3)
        said = "" if k == 0 else f"{rung.gain:+.4f} ± {rung.gain_error:.4f}"
        axis.text(
            1.01, y[k], said, transform=axis.get_yaxis_transform(), va="center", fontsize=8.5,
            color=colour,
        )  # fmt: skip
    axis.axvline(found.best.log_loss, color=BLUE, linewidth=0.8, linestyle=":")
    axis.set_yticks(y, [rung.name for rung in rungs])
    axis.set_ylim(len(rungs) - 0.4, -0.6)
    axis.set_xlabel("log loss of a game; bars: standard error of the gain")
    axis.set_title(
        "Log loss, and gains over the rung above", fontsize=10, fontweight="bold", loc="left"
    )


def _draw_reliability(axis: "Axes", found: Backtest) -> None:
    curve = found.reliability[found.best.name]
    low = 0.5
    axis.axline((low, low), slope=1.0, color="#999999", linewidth=0.8)
    axis.errorbar(
        curve.forecast, curve.observed, yerr=np.nan_to_num(curve.error), fmt="none", color=BLUE,
        capsize=2, linewidth=1.0,
    )  # fmt: skip
    size = 15.0 + 150.0 * curve.games / curve.games.max()
    axis.scatter(curve.forecast, curve.observed, s=size, color=BLUE, alpha=0.7, linewidth=0)
    axis.set_xlabel("forecast for the favourite")
    axis.set_ylabel("share that it won, ties as half")
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(lambda value, _: percent(value))
    axis.set_title(
        f"Reliability of {found.best.name}", fontsize=10, fontweight="bold", loc="left", wrap=True
    )
