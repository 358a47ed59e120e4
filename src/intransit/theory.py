"""What can be promised, and what cannot be beaten: the paper's weights and guarantees, the limit.

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

The paper (theorem THM_error) bounds the squared error of X^T by the larger of

    B1 = C1 a² N² √(Σ w_t² log(2N) / M)
    B2 = C2 r N³ log(2N) / M · Σ w_t² (2 σ₂² (T - t) + σ₁² + a²)

with probability at least 1 - c1/N - c2 T N exp(-N), once M is at least C times

    N log(2TN³) log(2N) (σ₂ μ √(r/N) √max w_t²(T-t) + σ₁ √max w_t²)² / Σ w_t² (σ₁² + 2 (T-t) σ₂²)

Its constants are not given (only C1 = 32 / √log(6/5) can be read off the proof), so they are
arguments.

The other side is the Cramér-Rao limit: the least mean squared error of X^T for unbiased estimates.
Written from the last period backwards, with steps of unit size,

    S^t = S^T - σ₂ Σ_{k>t} E^k,    Q^t = Q^T - σ_Q Σ_{k>t} F^k,    E, F standard normal,

every reading is a smooth function of θ = (S^T, Q^T, E, F).  The Fisher information of all
readings plus the prior (the identity for E and F) bounds the covariance of any unbiased estimate
of θ, and the Jacobian of X^T carries that bound over to the margins:

    E ‖X̂ - X^T‖²_F  >=  tr(G I⁺ Gᵀ)

evaluated at the true factors.  The static limit is the same with the last period's readings alone.
Directions of θ that move no reading are harmless when they move no margin of X^T either (the
symmetry of the model); otherwise some margin is not settled at all and the limit is infinite.

The limit is for estimates that are unbiased given its prior.  Where drift is far below noise, an
estimate that ignores drift is biased and better; with the scale of S^1 and Q (`prior_scale`),
which a joint estimate knows, the limit comes down to meet it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray, IntArray, described
from intransit.checks import (
    as_column,
    as_floats,
    as_number,
    as_whole,
    check_finite,
    check_option,
    check_size,
)
from intransit.data.measurements import Measurements, Operator
from intransit.errors import InputError
from intransit.inference.recover import normalise
from intransit.kernels import jacobian
from intransit.skew import build_margins, check_margins

PROOF_C1 = 32.0 / np.sqrt(np.log(6.0 / 5.0))


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

    Returns
    -------
    ndarray
        One weight for each period, the oldest first, (n_periods,).

    Raises
    ------
    InputError
        If a number is out of its range, or what one kind of drift needs is given for the other.

    Notes
    -----
    Limits: drift_scale = 0 gives equal weights, an infinite drift_scale (or a noise_scale of
    0 with any drift and no bound) puts all the weight on the last period.

    Weights are those of single readings.  Periods that differ in how many readings they have
    need ``drift="shared"``: many readings of an old period share one drift, which no number of
    them averages away.  Shared weights are all positive without a constraint.

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
    check_option("drift", drift, get_args(Drift))
    if drift == "shared":
        counts = _readings(n_outcomes, n_periods, bound)
        d = 1.0 if degrees is None else as_number("degrees", degrees, least=0.0, strict=True)
        return _shared(counts, noise_scale * np.sqrt(d), drift_scale)
    if n_outcomes is not None or degrees is not None:
        raise InputError(
            'optimal_weights: n_outcomes and degrees are for drift="shared"; give it, or leave '
            "them out."
        )
    if bound is not None:
        noise_scale = np.hypot(noise_scale, as_number("bound", bound, least=0.0, strict=True))
    relative = 1.0 / (1.0 + _drifted(drift_scale, noise_scale, np.arange(n_periods)[::-1]))
    return np.asarray(relative / relative.sum())


def _drifted(drift_scale: float, noise_scale: float, age: ArrayLike) -> FloatArray:
    """Return the variance of so many steps of drift, in units of the noise; 0 where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        drifted = 2.0 * np.square(np.float64(drift_scale) / noise_scale) * np.asarray(age)
    return np.asarray(np.nan_to_num(drifted, nan=0.0, posinf=np.inf))


def _shared(counts: FloatArray, noise_scale: float, drift_scale: float) -> FloatArray:
    """Return the weights of readings whose drift is shared: those of a Kalman filter."""
    ratio = float(_drifted(drift_scale, noise_scale, 1))
    fall = np.ones(len(counts))  # w_{t+1} / w_t
    known = 0.0
    for t, count in enumerate(counts):
        known = known / fall[t - 1] + count if t else count
        fall[t] = 1.0 + (ratio * known if known else 0.0)
    relative = np.append(np.cumprod(1.0 / fall[:-1][::-1])[::-1], 1.0)
    return np.asarray(relative / relative.sum())


def _readings(n_outcomes: ArrayLike | None, n_periods: int, bound: float | None) -> FloatArray:
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
    given = as_floats(n_outcomes, "n_outcomes")
    every = given if given.ndim else np.full(n_periods, given)
    counts = as_column("n_outcomes", every, n_periods, "periods", least=0.0)
    if not counts.any():
        raise InputError("n_outcomes: no period has a reading; one at least must have some.")
    return counts


@described
@dataclass(frozen=True)
class ErrorBound:
    """The two sides of the paper's bound on ‖X̂ - X‖²_F; `value` is their maximum.

    Examples
    --------
    >>> ErrorBound(spread=2.0, noise=3.0).value
    3.0
    """

    spread: Annotated[float, "From sampling a matrix with entries up to a: B1."]
    noise: Annotated[float, "From noise, drift and sampling at rank 2r: B2."]

    @property
    def value(self) -> float:
        """The bound: the larger of the two."""
        return max(self.spread, self.noise)


def error_bound(
    *,
    n_items: int,
    n_factors: int,
    n_outcomes: int,
    weights: ArrayLike,
    noise_scale: float,
    drift_scale: float,
    bound: float,
    c1: float = 1.0,
    c2: float = 1.0,
) -> ErrorBound:
    """Return B1 and B2 of the paper's theorem for the squared error of X^T.

    ``drift_scale=0`` and weights (0, ..., 0, 1) give its two reduced forms.

    Parameters
    ----------
    n_items, n_factors, n_outcomes
        Numbers of items, of factors, and of readings of one period: N, r and M.
    weights
        One for each period; they are scaled to sum to 1.
    noise_scale, drift_scale
        Standard deviations of one reading and of one step of one entry of S: σ₁ and σ₂.
    bound
        The largest absolute margin, a.
    c1, c2
        The constants of B1 and B2.  The proof gives ``PROOF_C1`` for the first.

    Returns
    -------
    ErrorBound
        Both sides of the bound, and the larger of the two.

    Raises
    ------
    InputError
        If a number is out of its range, or the weights are.

    Examples
    --------
    >>> equal = error_bound(n_items=20, n_factors=2, n_outcomes=160, weights=[0.2] * 5,
    ...                     noise_scale=0.01, drift_scale=0.0, bound=1.0)
    >>> alone = error_bound(n_items=20, n_factors=2, n_outcomes=160, weights=[0, 0, 0, 0, 1],
    ...                     noise_scale=0.01, drift_scale=0.0, bound=1.0)
    >>> round(alone.noise / equal.noise, 9)
    5.0
    """
    w = _weights(weights)
    N, r, M = _counts(n_items=n_items, n_factors=n_factors, n_outcomes=n_outcomes)
    _scales(noise_scale=noise_scale, drift_scale=drift_scale, bound=bound, c1=c1, c2=c2)
    age = np.arange(len(w))[::-1]
    log = np.log(2.0 * N)
    spread = c1 * bound**2 * N**2 * np.sqrt(np.sum(w**2) * log / M)
    variance = np.sum(w**2 * (2.0 * drift_scale**2 * age + noise_scale**2 + bound**2))
    return ErrorBound(float(spread), float(c2 * r * N**3 * log / M * variance))


def sample_complexity(
    *,
    n_items: int,
    n_factors: int,
    weights: ArrayLike,
    noise_scale: float,
    drift_scale: float,
    incoherence: float = 1.0,
    c: float = 1.0,
) -> float:
    """Return the number of readings a period that the theorem asks for, eq. (M).

    Parameters
    ----------
    n_items, n_factors
        Numbers of items and of factors: N and r.
    weights
        One for each period; they are scaled to sum to 1.
    noise_scale, drift_scale
        Standard deviations of one reading and of one step of one entry of S: σ₁ and σ₂.
    incoherence
        Between 1 and √(N / 2r): μ; see `incoherence`.
    c
        The constant in front.

    Returns
    -------
    float
        Readings of one period, M.

    Raises
    ------
    InputError
        If a number is out of its range, or nothing that counts has noise or drift.

    Notes
    -----
    With equal weights and no drift it is ``c N log(2TN³) log(2N) / T``; with all weight on the
    last period the same without the ``1 / T``.

    Examples
    --------
    >>> equal = sample_complexity(n_items=20, n_factors=2, weights=[0.2] * 5,
    ...                           noise_scale=0.01, drift_scale=0.0)
    >>> alone = sample_complexity(n_items=20, n_factors=2, weights=[0, 0, 0, 0, 1],
    ...                           noise_scale=0.01, drift_scale=0.0)
    >>> round(alone / equal, 9)
    5.0
    """
    w = _weights(weights)
    N, r = _counts(n_items=n_items, n_factors=n_factors)
    _scales(noise_scale=noise_scale, drift_scale=drift_scale, incoherence=incoherence, c=c)
    T = len(w)
    age = np.arange(T)[::-1]
    variance = float(np.sum(w**2 * (noise_scale**2 + 2.0 * age * drift_scale**2)))
    if variance == 0.0:
        raise InputError(
            "sample_complexity: the condition is 0/0 when nothing that counts has noise or "
            "drift; give a noise_scale above 0."
        )
    reach = drift_scale * incoherence * np.sqrt(r / N) * np.sqrt(np.max(w**2 * age))
    reach += noise_scale * np.max(w)
    return float(c * N * np.log(2.0 * T * N**3) * np.log(2.0 * N) * reach**2 / variance)


def success_probability(*, n_items: int, n_periods: int, c1: float = 1.0, c2: float = 1.0) -> float:
    """Return the probability with which the theorem's bound holds, at least 0.

    Parameters
    ----------
    n_items, n_periods
        Numbers of items and of periods: N and T.
    c1, c2
        The constants of ``1 - c1 / N - c2 T N exp(-N)``.

    Returns
    -------
    float
        A probability; 0 where the theorem promises nothing.

    Raises
    ------
    InputError
        If a number is out of its range.

    Examples
    --------
    >>> round(success_probability(n_items=20, n_periods=5), 3)
    0.95
    """
    N, T = _counts(n_items=n_items, n_periods=n_periods)
    _scales(c1=c1, c2=c2)
    return float(max(0.0, 1.0 - c1 / N - c2 * T * N * np.exp(-float(N))))


def incoherence(margins: ArrayLike, *, n_factors: int | None = None) -> float:
    """Return the smallest μ that the paper's definition allows for this matrix.

    ``‖e_iᵀ U‖ <= μ √(rank / N)`` for all i, U the singular vectors of the nonzero singular
    values, rank = 2 n_factors (by default as many as are not rounding).  It lies between 1,
    energy spread over all items, and √(N / rank), a matrix of one pair.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items), nothing missing.
    n_factors
        Half the rank; by default half the number of singular values that are not rounding.

    Returns
    -------
    float
        The incoherence μ.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, some are missing, all are zero, or their rank
        is below 2 n_factors.

    Examples
    --------
    >>> import numpy as np
    >>> angles = 2 * np.pi * np.arange(9) / 9
    >>> round(incoherence(np.sin(angles[None, :] - angles[:, None])), 12)
    1.0
    """
    X = check_margins(margins, complete=True)
    if not X.any():
        raise InputError("incoherence: the matrix is zero; it needs one that is not zero.")
    U, sizes, _ = np.linalg.svd(X)
    true_rank = int(np.sum(sizes > 1e-10 * sizes[0]))
    rank = true_rank if n_factors is None else 2 * as_whole("n_factors", n_factors, least=1)
    if rank > true_rank:
        raise InputError(
            f"incoherence: n_factors is {n_factors}, but the matrix has rank {true_rank}; give "
            f"{true_rank // 2} or fewer, or leave it out."
        )
    # A skew matrix has the same row norms in U and in V.
    return float(np.linalg.norm(U[:, :rank], axis=1).max() * np.sqrt(len(X) / rank))


def largest_entry(margins: ArrayLike) -> float:
    """Return ‖X‖∞, the smallest bound a that this matrix satisfies.

    Parameters
    ----------
    margins
        Skew-symmetric (n_items, n_items), nothing missing.

    Returns
    -------
    float
        The largest absolute margin; 0 where there is none.

    Raises
    ------
    InputError
        If the margins are no skew-symmetric matrix, or some are missing.

    Examples
    --------
    >>> largest_entry([[0.0, 2.0], [-2.0, 0.0]])
    2.0
    """
    return float(np.abs(check_margins(margins, complete=True)).max(initial=0.0))


def degrees_of_freedom(n_items: int, n_factors: int) -> int:
    """Return the dimension of the set of skew matrices of rank 2r: 2rN - r(2r + 1).

    As many distinct pairs, at least, must be seen to recover one: the counting limit.

    Parameters
    ----------
    n_items, n_factors
        Numbers of items and of factors: N and r.

    Returns
    -------
    int
        The dimension.

    Raises
    ------
    InputError
        If there are fewer than 2r items.

    Examples
    --------
    >>> degrees_of_freedom(20, 2)
    70
    """
    N, r = _counts(n_items=n_items, n_factors=n_factors)
    if 2 * r > N:
        raise InputError(f"degrees_of_freedom: {r} factors need at least {2 * r} items, not {N}.")
    return 2 * r * N - r * (2 * r + 1)


def _weights(weights: ArrayLike) -> FloatArray:
    values = as_floats(weights, "weights")
    return normalise(values, max(values.size, 1))


def _counts(**counts: int) -> tuple[int, ...]:
    return tuple(as_whole(name, value, least=1) for name, value in counts.items())


def _scales(**scales: float) -> None:
    for name, value in scales.items():
        as_number(name, value, least=0.0)


MAX_UNKNOWNS = 6_000
NULL = 1e-10  # of the largest singular value of the information's root


@described
@dataclass(frozen=True)
class Limit:
    """The least mean squared error of the margins, absolute and relative to ‖X‖²_F.

    `static_limit` and `dynamic_limit` return it.

    Examples
    --------
    One pair of four items was read, which leaves the others open:

    >>> import numpy as np
    >>> from intransit import Entries
    >>> S, Q = np.random.default_rng(0).normal(size=(2, 4, 1))
    >>> limit = static_limit(S, Q, Entries(np.array([[0, 1]]), n_items=4), noise_scale=0.1)
    >>> limit.squared_error, limit.n_open
    (inf, 4)
    """

    squared_error: Annotated[
        float, "Sum over all entries of X; infinite when the readings leave some margin open."
    ]
    relative: Annotated[float, "The same over ‖X‖²_F."]
    n_open: Annotated[
        int,
        "Number of directions in which X may change without changing a reading; 0 when the "
        "readings settle all margins.",
    ]


def static_limit(
    strengths: ArrayLike,  # (n_items, n_factors)
    exposures: ArrayLike,  # (n_items, n_factors)
    operator: Operator,
    *,
    noise_scale: float,
) -> Limit:
    """Return the limit for one period: what these readings alone tell about X.

    Parameters
    ----------
    strengths, exposures
        The true factors, (n_items, n_factors) each.
    operator
        What was read, such as `Entries`; outcomes play no part.
    noise_scale
        Standard deviation of one reading, σ₁.

    Returns
    -------
    Limit
        The least squared error of X, and whether the readings leave some margin open.

    Raises
    ------
    InputError
        If the factors do not fit the operator, are not finite, or are too many.

    Examples
    --------
    Every pair of 12 items read once: noise² for each degree of freedom, and X counts it twice.

    >>> import numpy as np
    >>> from intransit import Entries
    >>> S, Q = np.random.default_rng(0).normal(size=(2, 12, 1))
    >>> everything = Entries(np.argwhere(np.triu(np.ones((12, 12)), 1)), n_items=12)
    >>> limit = static_limit(S, Q, everything, noise_scale=0.1)
    >>> round(limit.squared_error / (2 * 0.1**2), 6)  # 2 r N - r (2 r + 1)
    21.0
    """
    S, Q = as_floats(strengths, "strengths")[None], as_floats(exposures, "exposures")[None]
    return _limit(S, Q, [operator], noise_scale, 0.0, 0.0, np.inf)


def dynamic_limit(
    strengths: ArrayLike,  # (n_periods, n_items, n_factors)
    exposures: ArrayLike,  # (n_items, n_factors), or one a period
    measurements: Measurements,
    *,
    noise_scale: float,
    drift_scale: float,
    exposure_drift_scale: float = 0.0,
    prior_scale: float = np.inf,
) -> Limit:
    """Return the limit for X^T from the readings of all periods and the law of the drift.

    Parameters
    ----------
    strengths, exposures
        The true factors of every period, (n_periods, n_items, n_factors); exposures that do not
        change may be given once, (n_items, n_factors).
    measurements
        What was read in each period; outcomes play no part.
    noise_scale, drift_scale, exposure_drift_scale
        Standard deviations of one reading, and of one step of one entry of S and of Q.
    prior_scale
        Standard deviation of the entries of S^1 and Q^1 where that is known too (1 in the
        paper's experiments).  Without it the limit is for estimates that know nothing of their
        size, and lies above what can be done when drift is far below noise.

    Returns
    -------
    Limit
        The least squared error of X^T, and whether the readings leave some margin open.

    Raises
    ------
    InputError
        If the factors do not fit the measurements, are not finite, or are too many, or a scale is
        out of its range.

    Examples
    --------
    What the periods before the last are worth:

    >>> from intransit import simulate
    >>> from intransit.theory import dynamic_limit, static_limit
    >>> sim = simulate(n_items=8, n_factors=1, n_periods=3, n_outcomes=40, noise_scale=0.1,
    ...                drift_scale=0.01, rng=0)
    >>> limit = dynamic_limit(sim.strengths, sim.exposures, sim.measurements, noise_scale=0.1,
    ...                       drift_scale=0.01)
    >>> last = sim.measurements.periods[-1].operator
    >>> alone = static_limit(sim.strengths[-1], sim.exposures[-1], last, noise_scale=0.1)
    >>> limit.squared_error < 0.6 * alone.squared_error
    True
    """
    S, Q = as_floats(strengths, "strengths"), as_floats(exposures, "exposures")
    if Q.shape == S.shape[1:]:
        Q = np.broadcast_to(Q, S.shape)
    operators = [readings.operator for readings in measurements.periods]
    as_number("drift_scale", drift_scale, least=0.0)
    as_number("exposure_drift_scale", exposure_drift_scale, least=0.0)
    if not prior_scale > 0:
        raise InputError(f"prior_scale is {prior_scale}; it must be above 0, or infinite.")
    return _limit(S, Q, operators, noise_scale, drift_scale, exposure_drift_scale, prior_scale)


def _limit(
    S: FloatArray,  # (n_periods, n_items, n_factors)
    Q: FloatArray,  # (n_periods, n_items, n_factors)
    operators: Sequence[Operator],
    noise_scale: float,
    drift_scale: float,
    exposure_drift_scale: float,
    prior_scale: float,
) -> Limit:
    as_number("noise_scale", noise_scale, least=0.0, strict=True)
    scales = (drift_scale, exposure_drift_scale)
    _check_factors(S, Q, operators, scales)
    root = _information_root(S, Q, operators, noise_scale, scales, prior_scale)
    # Steps stand first, so that the last block is the root of what remains once they are
    # eliminated: the past costs, because its steps are unknown too.
    n_now = 2 * S[0].size
    _, sizes, directions = np.linalg.svd(root[-n_now:, -n_now:])
    pairs = np.stack(np.triu_indices(S.shape[1], 1), axis=1)
    of_margins = np.hstack(_derivatives(pairs, S[-1], Q[-1]))
    energy = 2.0 * np.sum((of_margins @ directions.T) ** 2, axis=0)  # X has both X_ij and X_ji
    seen = sizes > NULL * sizes[0]
    # Directions of the factors that no reading sees may move the same margins, or none: a rank.
    moved = np.linalg.svd(of_margins @ directions[~seen].T, compute_uv=False)
    n_open = int(np.sum(2.0 * moved**2 > 1e-9 * energy.max()))
    squared = float(np.sum(energy[seen] / sizes[seen] ** 2)) if n_open == 0 else np.inf
    size = float(np.sum(build_margins(S[-1], Q[-1]) ** 2))
    return Limit(squared, squared / size if size else np.inf, n_open)


def _information_root(
    S: FloatArray,
    Q: FloatArray,
    operators: Sequence[Operator],
    noise_scale: float,
    scales: tuple[float, float],
    prior_scale: float,
) -> FloatArray:
    """Return R with RᵀR the information in θ; nothing is squared, so that small scales survive."""
    n_periods, width = len(S), S[0].size
    drifting = [k for k in (0, 1) if scales[k] > 0 and n_periods > 1]

    def with_rows(root: FloatArray, t: int, sides: list[FloatArray]) -> FloatArray:
        """Return the triangular root of what was known and of these rows in S^t and in Q^t.

        In θ = (steps, S^T, Q^T) the factors of t are the last less later steps.
        """
        later = np.arange(n_periods - 1) >= t  # of the steps, each from one period to the next
        steps = [np.kron(np.where(later, -scales[side], 0.0), sides[side]) for side in drifting]
        rows = np.hstack([*steps, *sides])
        return np.asarray(np.linalg.qr(np.vstack([root, rows]), mode="r"))

    n_steps = len(drifting) * (n_periods - 1) * width
    root = np.eye(n_steps, n_steps + 2 * width)  # the prior of the steps
    for t, operator in enumerate(operators):
        folded = operator.fold()
        margins = _derivatives(folded.pairs, S[t], Q[t])
        root = with_rows(root, t, [np.asarray(folded.matrix @ m) / noise_scale for m in margins])
    if np.isfinite(prior_scale):
        eye, none = np.eye(width) / prior_scale, np.zeros((width, width))
        root = with_rows(with_rows(root, 0, [eye, none]), 0, [none, eye])
    padding = np.zeros((max(0, root.shape[1] - len(root)), root.shape[1]))
    return np.vstack([root, padding])


def _derivatives(pairs: IntArray, S: FloatArray, Q: FloatArray) -> list[FloatArray]:
    """Return the derivatives of these margins in S and in Q, each (n_pairs, n_items n_factors)."""
    return [jacobian(Q, pairs), jacobian(-S, pairs)]


def _check_factors(
    S: FloatArray, Q: FloatArray, operators: Sequence[Operator], scales: tuple[float, float]
) -> None:
    n_items = operators[0].n_items
    if S.ndim != 3 or Q.shape != S.shape or S.shape[:2] != (len(operators), n_items):
        raise InputError(
            f"limit: strengths of shape {S.shape} and exposures of shape {Q.shape} do not fit "
            f"{len(operators)} periods of {n_items} items; give both (n_items, n_factors) for "
            "each period."
        )
    for name, factors in (("strengths", S), ("exposures", Q)):
        check_finite(factors, name)
        check_size(factors, name)
    unknowns = S[0].size * (2 + (len(S) - 1) * sum(scale > 0 for scale in scales))
    if unknowns > MAX_UNKNOWNS:
        raise InputError(
            f"limit: {unknowns} unknowns make a matrix too large to invert here (the most is "
            f"{MAX_UNKNOWNS}); ask for fewer items, factors or periods."
        )


__all__ = [
    "PROOF_C1",
    "ErrorBound",
    "Limit",
    "degrees_of_freedom",
    "dynamic_limit",
    "error_bound",
    "incoherence",
    "largest_entry",
    "sample_complexity",
    "static_limit",
    "success_probability",
]
