"""Draws as ArviZ takes them, for its plots and diagnostics.  Needs the extra ``arviz``."""

import importlib
import importlib.util
import inspect
from typing import Any

import numpy as np

from intransit.errors import MissingDependencyError
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import scale_names, scale_values

MOST_PAIRS = 1_000


def to_arviz(posterior: Posterior, names: tuple[str, ...]) -> Any:
    """Return scales, and chances of pairs at the last time, by chain and draw."""
    if importlib.util.find_spec("arviz") is None:
        raise MissingDependencyError(
            "to_arviz needs ArviZ, which is not installed: pip install 'intransit[arviz]'."
        )
    arviz = importlib.import_module("arviz")
    d, layout = posterior.draws, posterior.layout
    scales = np.array(
        [
            scale_values(
                layout,
                d.scales[k],
                d.rates[k],
                d.number_scales[k],
                d.number_rates[k],
                d.cuts[k],
                float(d.noise[k]),
                float(d.newcomers[k]),
            )
            for k in range(len(d))
        ]
    )
    first, second = np.triu_indices(posterior.n_items, 1)
    first, second = first[:MOST_PAIRS], second[:MOST_PAIRS]
    last = float(posterior.axis[-1])
    chances = posterior.chances(first, second, np.full(len(first), last))
    size = np.bincount(d.chain)
    shape = (len(size), int(size.min()))
    each = np.concatenate([np.flatnonzero(d.chain == c)[: shape[1]] for c in range(shape[0])])
    pairs = [f"{names[i]} > {names[j]}" for i, j in zip(first, second, strict=True)]
    groups = {
        "posterior": {
            "scale": scales[each].reshape(*shape, -1),
            "chance": chances[each].reshape(*shape, -1),
        }
    }
    settings = {
        "coords": {"scales": scale_names(layout), "pairs": pairs},
        "dims": {"scale": ["scales"], "chance": ["pairs"]},
    }
    if "posterior" in inspect.signature(arviz.from_dict).parameters:  # before ArviZ 1.0
        return arviz.from_dict(**groups, **settings)
    return arviz.from_dict(groups, **settings)
