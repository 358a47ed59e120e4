"""matplotlib, an extra: asked for here; its types, colours, one look, titles, axes of figures."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from intransit.errors import MissingDependencyError
from intransit.percent import percent

if TYPE_CHECKING:
    from matplotlib import axes, axis, figure

    Axes: TypeAlias = axes.Axes
    Axis: TypeAlias = axis.Axis
    Figure: TypeAlias = figure.Figure
else:
    Axes = Axis = Figure = Any  # in signatures, where matplotlib may not be installed

# Colours of Okabe and Ito, which people with any colour vision tell apart; markers differ too.
BLACK, ORANGE, SKY, GREEN = "#222222", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
LOOK = Path(__file__).with_name("look.mplstyle")  # of all figures


def require_matplotlib() -> None:
    """Say how to get matplotlib if it is not there."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError(
            "figures need matplotlib, which is not installed: pip install 'intransit[figures]'."
        )


def load_pyplot() -> ModuleType:
    """Return matplotlib.pyplot on a canvas that needs no screen, or say how to get it."""
    require_matplotlib()
    import matplotlib as mpl  # noqa: PLC0415  (an extra)

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt


def new_figure(
    width: float, height: float, n_rows: int = 1, n_columns: int = 1, **more: Any
) -> tuple[Figure, Any]:
    """Return a figure and its axes, (n_rows, n_columns)."""
    plt = load_pyplot()
    more = {"layout": "constrained", **more}
    with plt.style.context(LOOK):
        figure, axes = plt.subplots(
            n_rows, n_columns, figsize=(width, height), squeeze=False, **more
        )
    plt.close(figure)  # whoever asked for it keeps it; pyplot would keep it for good
    return figure, axes


def set_title(axis: Axes, words: str, fontsize: float = 11, **more: Any) -> None:
    """Write a title above an axis."""
    axis.set_title(words, fontsize=fontsize, fontweight="bold", loc="left", **more)


def in_percent(axis: Axis) -> None:
    """Write the shares along an axis as per cent."""
    axis.set_major_formatter(lambda value, _: percent(value))
