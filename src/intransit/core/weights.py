"""Weights over time: how much an old reading tells about the matrix of now.

A reading of period t sees X^T through noise of variance σ₁² and drift of variance
2 σ₂² (T - t).  The weights that minimise the paper's error bound are in inverse proportion:

    w_t ∝ 1 / (1 + 2 σ₂² (T - t) / (σ₁² + a²))        eq. (opt_w), with the bound a
    w_t ∝ 1 / (1 + 2 σ₂² (T - t) / σ₁²)               eq. (opt_w_na), without it
"""

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.inputs import as_floats, as_number, as_whole
from intransit.errors import InputError


def optimal_weights(
    n_periods: int,
    *,
    noise_scale: float,
    drift_scale: float,
    bound: float | None = None,
) -> FloatArray:  # (n_periods,)
    """Return the weights that minimise the error bound; they sum to 1, the last is the largest.

    Parameters
    ----------
    n_periods
        Number of periods, T; the last one is the one in question.
    noise_scale, drift_scale
        Standard deviations of one reading and of one step of one entry of S: σ₁ and σ₂.
    bound
        The largest absolute margin, a, for the first of the paper's two forms.  Without it
        the second form is used, which does better in practice, in the paper and here.

    Notes
    -----
    Limits: drift_scale = 0 gives equal weights, an infinite drift_scale (or a noise_scale of
    0 with any drift and no bound) puts all the weight on the last period.

    Weights are those of single readings, so they stay optimal when periods differ in how many
    readings they have: minimising Σ M_t w_t² v_t over Σ M_t w_t = 1 gives w_t ∝ 1 / v_t.

    Examples
    --------
    >>> optimal_weights(3, noise_scale=1.0, drift_scale=1.0).round(3)
    array([0.13 , 0.217, 0.652])
    >>> optimal_weights(4, noise_scale=1.0, drift_scale=0.0)
    array([0.25, 0.25, 0.25, 0.25])
    """
    n_periods = as_whole("n_periods", n_periods, least=1)
    noise_scale = as_number("noise_scale", noise_scale, least=0.0)
    if not (isinstance(drift_scale, float) and drift_scale == np.inf):
        drift_scale = as_number("drift_scale", drift_scale, least=0.0)
    age = np.arange(n_periods)[::-1]
    fixed = noise_scale
    if bound is not None:
        fixed = np.hypot(noise_scale, as_number("bound", bound, least=0.0, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        drifted = 2.0 * np.square(np.float64(drift_scale) / fixed) * age
    relative = 1.0 / (1.0 + np.nan_to_num(drifted, nan=0.0, posinf=np.inf))
    return np.asarray(relative / relative.sum())


def normalise(weights: object, n_periods: int) -> FloatArray:  # (n_periods,)
    """Return weights that sum to 1, or say why they cannot be weights."""
    values = as_floats(weights, "weights")
    if values.shape != (n_periods,):
        raise InputError(
            f"weights: shape {values.shape} was given for {n_periods} periods; there must be "
            "one weight for each."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        bad = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[0])
        raise InputError(
            f"weights: entry {bad} is {values[bad]:g}; a weight must be a finite number, 0 or more."
        )
    if not values.any():
        raise InputError("weights: all are 0; at least one period must count.")
    # By the largest first, so that neither tiny nor huge weights leave the range of floats.
    values = values / values.max()
    return np.asarray(values / values.sum())
