"""Weights over time: how much an old reading tells about the matrix of now.

A reading of period t sees X^T through noise of variance σ₁² and drift of variance
2 σ₂² (T - t).  The weights that minimise the paper's error bound are in inverse proportion:

    w_t ∝ 1 / (1 + 2 σ₂² (T - t) / (σ₁² + a²))        eq. (opt_w), with the bound a
    w_t ∝ 1 / (1 + 2 σ₂² (T - t) / σ₁²)               eq. (opt_w_na), without it

They take the drift of every reading for one of its own.  It is not: all readings of a period,
and all periods before it, have drifted together.  With M_t readings of d unknowns in period t the
error of the weighted mean is ωᵀ C ω, ω_t ∝ M_t w_t, C = diag(σ₁² d / M_t) + 2 σ₂² (T - max(s, t)),
which is least for

    w_t = w_{t+1} / (1 + ρ J_t)      J_{t+1} = J_t / (1 + ρ J_t) + M_{t+1}      ρ = 2 σ₂² / (σ₁² d)

J_t being what is known after period t, counted in readings (docs/model.md, section 9).
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray
from intransit.checks import as_floats, as_number, as_whole, shown
from intransit.errors import InputError

Drift = Literal["independent", "shared"]


def optimal_weights(
    n_periods: int,
    *,
    noise_scale: float,
    drift_scale: float,
    bound: float | None = None,
    drift: Drift = "independent",
    n_outcomes: ArrayLike | None = None,
    degrees: float | None = None,
) -> FloatArray:  # (n_periods,)
    """Return the best weights for drift and noise; they sum to 1, the last is the largest.

    Parameters
    ----------
    n_periods
        Number of periods, T; the last one is the one in question.
    noise_scale, drift_scale
        Standard deviations of one reading and of one step of one entry of S: σ₁ and σ₂.
    bound
        The largest absolute margin, a, for the first of the paper's two forms.  Without it
        the second form is used, which does better in practice, in the paper and here.
    drift
        ``"independent"`` minimises the paper's bound, which counts the drift of every reading
        as an error of its own.  ``"shared"`` minimises the error itself, knowing that all
        readings of a period drifted together; it needs `n_outcomes`, and takes no `bound`.
    n_outcomes
        With shared drift: the readings of each period, M_t, or one number for all.
    degrees
        With shared drift: how many unknowns the readings of a period share, by default 1, as
        for one pair; for a matrix, `theory.degrees_of_freedom`.

    Notes
    -----
    Limits: drift_scale = 0 gives equal weights, an infinite drift_scale (or a noise_scale of
    0 with any drift and no bound) puts all the weight on the last period.

    Weights are those of single readings.  Periods that differ in how many readings they have
    need ``drift="shared"``: many readings of an old period share one drift, which no number of
    them averages away.  Shared weights are all positive, without being told to be.

    Examples
    --------
    >>> optimal_weights(3, noise_scale=1.0, drift_scale=1.0).round(3)
    array([0.13 , 0.217, 0.652])
    >>> optimal_weights(4, noise_scale=1.0, drift_scale=0.0)
    array([0.25, 0.25, 0.25, 0.25])
    >>> optimal_weights(2, noise_scale=1.0, drift_scale=1.0, drift="shared",
    ...                 n_outcomes=[100, 20]).round(3)
    array([0.005, 0.995])
    """
    n_periods = as_whole("n_periods", n_periods, least=1)
    noise_scale = as_number("noise_scale", noise_scale, least=0.0)
    if not (isinstance(drift_scale, float) and drift_scale == np.inf):
        drift_scale = as_number("drift_scale", drift_scale, least=0.0)
    if not isinstance(drift, str) or drift not in get_args(Drift):
        raise InputError(f"drift is {shown(drift)}; it may be {' or '.join(get_args(Drift))}.")
    if drift == "shared":
        counts = _counts(n_outcomes, n_periods, bound)
        d = 1.0 if degrees is None else as_number("degrees", degrees, least=0.0, strict=True)
        return _shared(counts, noise_scale * np.sqrt(d), drift_scale)
    if n_outcomes is not None or degrees is not None:
        raise InputError(
            'optimal_weights: n_outcomes and degrees are for drift="shared"; give it, or leave '
            "them out."
        )
    age = np.arange(n_periods)[::-1]
    fixed = noise_scale
    if bound is not None:
        fixed = np.hypot(noise_scale, as_number("bound", bound, least=0.0, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        drifted = 2.0 * np.square(np.float64(drift_scale) / fixed) * age
    relative = 1.0 / (1.0 + np.nan_to_num(drifted, nan=0.0, posinf=np.inf))
    return np.asarray(relative / relative.sum())


def _shared(counts: FloatArray, noise_scale: float, drift_scale: float) -> FloatArray:
    """Return the weights of readings whose drift is shared: those of a Kalman filter."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 2.0 * np.square(np.float64(drift_scale) / noise_scale)
    ratio = np.nan_to_num(ratio, nan=0.0, posinf=np.inf)
    fall = np.ones(len(counts))  # w_{t+1} / w_t
    known = 0.0
    for t, count in enumerate(counts):
        known = known / fall[t - 1] + count if t else count
        fall[t] = 1.0 + (ratio * known if known else 0.0)
    relative = np.append(np.cumprod(1.0 / fall[:-1][::-1])[::-1], 1.0)
    return np.asarray(relative / relative.sum())


def _counts(n_outcomes: ArrayLike | None, n_periods: int, bound: float | None) -> FloatArray:
    """Return the readings of each period for shared drift, or say what is missing."""
    if bound is not None:
        raise InputError(
            'optimal_weights: the bound belongs to the paper\'s weights; with drift="shared" '
            "leave it out."
        )
    if n_outcomes is None:
        raise InputError(
            'optimal_weights: drift="shared" needs n_outcomes, the readings of each period; '
            "give measurements.n_outcomes, or one number if all have as many."
        )
    counts = as_floats(n_outcomes, "n_outcomes")
    if counts.ndim and counts.shape != (n_periods,):
        raise InputError(
            f"n_outcomes: shape {counts.shape} was given for {n_periods} periods; give one "
            "number for each, or one for all."
        )
    if not (np.isfinite(counts) & (counts >= 0)).all() or not counts.any():
        raise InputError(
            "n_outcomes: the readings of a period are a number, 0 or more, and not all of them 0."
        )
    return np.broadcast_to(counts, (n_periods,))


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
