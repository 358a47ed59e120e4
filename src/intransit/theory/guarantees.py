"""What can be promised: the paper's error bound and sample complexity.

The paper (theorem THM_error) bounds the squared error of X^T by the larger of

    B1 = C1 a² N² √(Σ w_t² log(2N) / M)
    B2 = C2 r N³ log(2N) / M · Σ w_t² (2 σ₂² (T - t) + σ₁² + a²)

with probability at least 1 - c1/N - c2 T N exp(-N), once M is at least C times

    N log(2TN³) log(2N) (σ₂ μ √(r/N) √max w_t²(T-t) + σ₁ √max w_t²)² / Σ w_t² (σ₁² + 2 (T-t) σ₂²)

Its constants are not given (only C1 = 32 / √log(6/5) can be read off the proof), so they are
arguments.  The other side, the error below which no estimator can go, is in `limit`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray
from intransit.core.inputs import as_floats, as_number, as_whole
from intransit.core.margins import check_margins
from intransit.core.weights import normalise
from intransit.errors import InputError

PROOF_C1 = 32.0 / np.sqrt(np.log(6.0 / 5.0))


@dataclass(frozen=True)
class ErrorBound:
    """The two sides of the paper's bound on ‖X̂ - X‖²_F; `value` is their maximum."""

    spread: float  # B1: from sampling a matrix with entries up to a
    noise: float  # B2: from noise, drift and sampling at rank 2r

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
        N, r, and M, the readings of one period.
    weights
        One for each period; they are scaled to sum to 1.
    noise_scale, drift_scale
        σ₁ and σ₂.
    bound
        a, the largest absolute margin.
    c1, c2
        The constants of B1 and B2.  The proof gives ``PROOF_C1`` for the first.

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
        N and r.
    weights
        One for each period; they are scaled to sum to 1.
    noise_scale, drift_scale
        σ₁ and σ₂.
    incoherence
        μ, between 1 and √(N / 2r); see `incoherence`.
    c
        The constant in front.

    Notes
    -----
    With equal weights and no drift it is ``c N log(2TN³) log(2N) / T``; with all weight on the
    last period the same without the ``1 / T``.
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
        N and T.
    c1, c2
        The constants of ``1 - c1 / N - c2 T N exp(-N)``.
    """
    N, T = _counts(n_items=n_items, n_periods=n_periods)
    _scales(c1=c1, c2=c2)
    return float(max(0.0, 1.0 - c1 / N - c2 * T * N * np.exp(-float(N))))


def incoherence(margins: ArrayLike, *, n_factors: int | None = None) -> float:
    """Return the smallest μ that the paper's definition allows for this matrix.

    ``‖e_iᵀ U‖ <= μ √(rank / N)`` for all i, U the singular vectors of the nonzero singular
    values, rank = 2 n_factors (by default as many as are not rounding).  It lies between 1,
    energy spread over all items, and √(N / rank), a matrix of one pair.

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
    """Return ‖X‖∞, the smallest bound a that this matrix satisfies."""
    return float(np.abs(check_margins(margins, complete=True)).max(initial=0.0))


def degrees_of_freedom(n_items: int, n_factors: int) -> int:
    """Return the dimension of the set of skew matrices of rank 2r: 2rN - r(2r + 1).

    As many distinct pairs, at least, must be seen to recover one: the counting limit.

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
