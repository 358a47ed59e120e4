"""Checks of weights and rows of comparisons: one clear sentence each."""

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core import inputs
from intransit.errors import InputError

WIDEST_WEIGHTS = 1e9  # largest over smallest weight that double precision still resolves


def check_weights(weights: FloatArray | None, missing: BoolArray) -> FloatArray:
    """Return the weights with zeros for missing pairs and on the diagonal, or refuse them."""
    if weights is not None:
        weights = inputs.as_floats(weights, "weights")
    if weights is not None and weights.shape != missing.shape:
        raise InputError(
            f"weights: found the shape {weights.shape} beside margins of {missing.shape}."
            " Pass one weight for each entry."
        )
    W = np.where(missing, 0.0, 1.0 if weights is None else weights)
    np.fill_diagonal(W, 0.0)
    check_weight_values(W)
    if (W != W.T).any():
        raise InputError("weights: they are not symmetric. Give both entries of a pair the same.")
    return W


def check_weight_values(w: FloatArray) -> None:
    """Refuse weights that are negative, not finite, or too far apart to solve with."""
    if not np.isfinite(w).all() or (w < 0.0).any():
        raise InputError("weights: some are negative or not finite. Pass 0 to leave a pair out.")
    positive = w[w > 0.0]
    if positive.size and positive.max() > WIDEST_WEIGHTS * positive.min():
        raise InputError(
            f"weights: the largest is more than {WIDEST_WEIGHTS:.0e} times the smallest. Pass 0 for"
            " pairs that hardly count."
        )


def check_pairs(
    pairs: IntArray, outcomes: FloatArray, weights: FloatArray | None, n_items: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the rows that count, with their weights, or refuse them."""
    pairs = inputs.check_pairs(pairs, inputs.as_whole("n_items", n_items, least=0), "pairs")
    y = inputs.as_floats(outcomes, "outcomes")
    w = np.ones(y.shape) if weights is None else inputs.as_floats(weights, "weights")
    if pairs.shape != (*y.shape, 2) or y.ndim != 1 or w.shape != y.shape:
        raise InputError(
            f"pairs: found {pairs.shape} pairs, {y.shape} outcomes and {w.shape} weights. Pass"
            " (n, 2) pairs with n outcomes and n weights."
        )
    itself = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(itself):
        raise InputError(
            f"pairs: row {itself[0]} compares item {pairs[itself[0], 0]} with itself. A comparison"
            " needs two different items; leave the row out."
        )
    if not np.isfinite(y).all():
        raise InputError("outcomes: some are not finite. Leave out the rows without an outcome.")
    check_weight_values(w)
    return pairs[w > 0.0], y[w > 0.0], w[w > 0.0]
