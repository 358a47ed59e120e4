"""A picture of what was recovered beside the truth."""

from collections.abc import Sequence

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.plotting import load_pyplot


def draw_recovery(
    truth: FloatArray,  # (n_items, n_items)
    recovered: FloatArray,  # (n_items, n_items)
    seen: IntArray,  # (n_items, n_items): readings of each pair in the last period
    order: IntArray,  # (n_items,)
    names: Sequence[str],
) -> object:
    """Return a figure: the readings, the truth, what was recovered, and one against the other."""
    plt = load_pyplot()
    ordered = [names[k] for k in order]
    figure, axes = plt.subplots(1, 4, figsize=(15, 4.1), layout="constrained")
    limit = float(np.abs(truth).max())
    box = np.ix_(order, order)
    _draw_margins(axes[0], np.where(seen[box] > 0, truth[box], np.nan), limit, ordered)
    axes[0].set_title("pairs read in the last period", fontsize=11)
    image = _draw_margins(axes[1], truth[box], limit, ordered)
    axes[1].set_title("true margins, last period", fontsize=11)
    _draw_margins(axes[2], recovered[box], limit, ordered)
    axes[2].set_title("recovered from all periods", fontsize=11)
    figure.colorbar(image, ax=axes[:3], shrink=0.85, label="margin of row over column")
    upper = np.triu_indices(len(truth), 1)
    unread = seen[upper] == 0
    for which, label, colour in ((~unread, "read", "#777777"), (unread, "not read", "#c1440e")):
        axes[3].plot(truth[upper][which], recovered[upper][which], ".", color=colour, label=label)
    axes[3].axline((0, 0), slope=1, color="black", linewidth=0.8)
    axes[3].set(xlabel="true margin", ylabel="recovered margin")
    axes[3].set_title("all pairs", fontsize=11)
    axes[3].legend(title="in the last period", frameon=False)
    axes[3].set_aspect("equal")
    return figure


def _draw_margins(axis: object, margins: FloatArray, limit: float, names: Sequence[str]) -> object:
    axis.set_facecolor("#eeeeee")  # type: ignore[attr-defined]
    places = range(len(names))
    axis.set_xticks(places, names, rotation=90, fontsize=7)  # type: ignore[attr-defined]
    axis.set_yticks(places, names, fontsize=7)  # type: ignore[attr-defined]
    return axis.imshow(margins, cmap="RdBu", vmin=-limit, vmax=limit)  # type: ignore[attr-defined]
