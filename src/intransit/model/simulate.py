"""Comparisons with a known truth: the paper's model, with every part settable.

    X^t = S^t Q^tᵀ - Q^t S^tᵀ,   S^t = S^{t-1} + σ₂ · noise,   y^t = A^t(X^t) + σ₁ · noise

The paper draws S^1 and Q from the standard normal, keeps Q fixed and samples entries
uniformly; these are the defaults.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray, described
from intransit.checks import as_floats, as_items, as_number, as_whole, check_finite, open_rng, shown
from intransit.data.measurements import Entries, Matrices, Measurements, Operator
from intransit.errors import InputError
from intransit.skew import build_margins, canonical_form

Ensemble = Callable[[int, int, np.random.Generator], Operator]


MOST = 10**9  # items, or outcomes: more would not fit into memory


@described
@dataclass(frozen=True, eq=False)
class Simulation:
    """A truth and the readings taken of it.

    Examples
    --------
    >>> import intransit as it
    >>> sim = it.simulate(n_items=20, n_factors=2, n_periods=5, n_outcomes=160,
    ...                   noise_scale=0.01, drift_scale=0.01, rng=0)
    >>> sim
    Simulation(n_items=20, n_factors=2, n_periods=5, noise_scale=0.01, drift_scale=0.01, seed=0)
    >>> sim.margins.shape
    (5, 20, 20)
    """

    strengths: Annotated[FloatArray, "The true factor S, (n_periods, n_items, n_factors)."]
    exposures: Annotated[FloatArray, "The true factor Q, (n_periods, n_items, n_factors)."]
    measurements: Annotated[Measurements, "What was read in each period."]
    noise_scale: Annotated[float, "Standard deviation of a reading about its margin."]
    drift_scale: Annotated[float, "Standard deviation of a step of one entry of S."]
    seed: Annotated[
        int | None, "Seed that repeats the simulation; None when a generator was given."
    ]

    @property
    def margins(self) -> FloatArray:  # (n_periods, n_items, n_items)
        """The true margins of every period."""
        return build_margins(self.strengths, self.exposures)

    def __repr__(self) -> str:
        n_periods, n_items, n_factors = self.strengths.shape
        return (
            f"Simulation(n_items={n_items}, n_factors={n_factors}, n_periods={n_periods}, "
            f"noise_scale={self.noise_scale}, drift_scale={self.drift_scale}, seed={self.seed})"
        )


def uniform_entries(n_items: int, n_outcomes: int, rng: np.random.Generator) -> Entries:
    """Draw entries uniformly with replacement, diagonal included, as the paper defines it.

    Parameters
    ----------
    n_items, n_outcomes, rng
        Number of items and of readings, and a seed or generator.

    Returns
    -------
    Entries
        The entries that are read.

    Raises
    ------
    InputError
        If a number or `rng` cannot be used.

    Examples
    --------
    >>> uniform_entries(4, 6, 0).pairs.shape
    (6, 2)
    """
    n_items, n_outcomes, rng = _asked(n_items, n_outcomes, rng)
    return Entries(rng.integers(0, n_items, size=(n_outcomes, 2)), n_items)


def uniform_pairs(n_items: int, n_outcomes: int, rng: np.random.Generator) -> Entries:
    """Draw pairs of two different items uniformly with replacement.

    Parameters
    ----------
    n_items, n_outcomes, rng
        Number of items and of readings, and a seed or generator.

    Returns
    -------
    Entries
        The entries that are read.

    Raises
    ------
    InputError
        If a number or `rng` cannot be used; there must be two items at least.

    Examples
    --------
    >>> first, second = uniform_pairs(4, 6, 0).pairs.T
    >>> bool((first != second).all())
    True
    """
    n_items, n_outcomes, rng = _asked(n_items, n_outcomes, rng, least=2)
    first = rng.integers(0, n_items, size=n_outcomes)
    second = (first + rng.integers(1, n_items, size=n_outcomes)) % n_items
    return Entries(np.stack([first, second], axis=1), n_items)


def gaussian_matrices(n_items: int, n_outcomes: int, rng: np.random.Generator) -> Matrices:
    """Draw dense matrices A_m with independent standard normal entries: matrix sensing.

    Parameters
    ----------
    n_items, n_outcomes, rng
        Number of items and of readings, and a seed or generator.

    Returns
    -------
    Matrices
        The matrices that are read with.

    Raises
    ------
    InputError
        If a number or `rng` cannot be used.

    Examples
    --------
    >>> gaussian_matrices(4, 6, 0).matrices.shape
    (6, 4, 4)
    """
    n_items, n_outcomes, rng = _asked(n_items, n_outcomes, rng)
    return Matrices(rng.normal(size=(n_outcomes, n_items, n_items)))


def _asked(
    n_items: int, n_outcomes: int, rng: np.random.Generator, least: int = 1
) -> tuple[int, int, np.random.Generator]:
    """Return what an ensemble is asked for, checked."""
    n_items = as_whole("n_items", n_items, least=least, most=MOST)
    return n_items, as_whole("n_outcomes", n_outcomes, least=0, most=MOST), open_rng(rng)[0]


def simulate(
    *,
    n_items: int | None = None,
    n_factors: int | None = None,
    n_periods: int,
    n_outcomes: int | Sequence[int],
    noise_scale: float,
    drift_scale: float,
    exposure_drift_scale: float = 0.0,
    strengths: ArrayLike | None = None,
    exposures: ArrayLike | None = None,
    ensemble: Ensemble = uniform_entries,
    rng: np.random.Generator | int | None = None,
) -> Simulation:
    """Simulate drifting margins and noisy readings of them.

    Parameters
    ----------
    n_items, n_factors
        Size of the factors; not needed where `strengths` or `exposures` show it.
    n_periods
        Number of periods.
    n_outcomes
        Readings a period, one number for all or one for each.
    noise_scale
        Standard deviation of a reading about its margin.
    drift_scale, exposure_drift_scale
        Standard deviations of a step of one entry of S, and of Q (0, as in the paper).
    strengths, exposures
        Factors of the first period, (n_items, n_factors); by default standard normal.
        See `transitive_factors`, `circular_factors` and `planted_cycles`.
    ensemble
        Draws what is read in a period: `uniform_entries`, `uniform_pairs`,
        `gaussian_matrices`, or any function (n_items, n_outcomes, rng) -> operator.
    rng
        Seed or generator.

    Returns
    -------
    Simulation
        The truth, ``margins`` among it, and the readings taken of it, ``measurements``.

    Raises
    ------
    InputError
        If a number cannot be used, or shapes are unclear or do not agree.

    Examples
    --------
    >>> sim = simulate(n_items=20, n_factors=2, n_periods=5, n_outcomes=160,
    ...                noise_scale=0.01, drift_scale=0.01, rng=0)
    >>> sim.margins.shape
    (5, 20, 20)
    >>> sim.measurements
    Measurements(n_items=20, n_periods=5, n_outcomes=(160, 160, 160, 160, 160))
    """
    generator, seed = open_rng(rng)
    n_periods = as_whole("n_periods", n_periods, least=1)
    for name, scale in (
        ("noise_scale", noise_scale),
        ("drift_scale", drift_scale),
        ("exposure_drift_scale", exposure_drift_scale),
    ):
        as_number(name, scale, least=0.0)
    counts = _counts(n_outcomes, n_periods)
    shape = _shape(n_items, n_factors, strengths, exposures)
    S = _walk(_first(strengths, shape, generator), n_periods, drift_scale, generator)
    Q = _walk(_first(exposures, shape, generator), n_periods, exposure_drift_scale, generator)
    if not callable(ensemble) or isinstance(ensemble, type):
        raise InputError(f"ensemble: {shown(ensemble)} was given; give `uniform_pairs` or such.")
    operators = [ensemble(shape[0], count, generator) for count in counts]
    for t, operator in enumerate(operators):
        if operator.n_items != shape[0]:
            raise InputError(
                f"ensemble: the operator drawn for period {t} reads {operator.n_items} items, but "
                f"there are {shape[0]}; use the n_items that it is given."
            )
    outcomes = [
        operator.read(S[t], Q[t]) + noise_scale * generator.normal(size=operator.n_outcomes)
        for t, operator in enumerate(operators)
    ]
    measurements = Measurements.from_operators(operators, outcomes)
    return Simulation(S, Q, measurements, noise_scale, drift_scale, seed)


def transitive_factors(
    n_items: int, *, rng: np.random.Generator | int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return factors (S, Q) of plain scores: X_ij = s_i - s_j, with no cycle of any length.

    Parameters
    ----------
    n_items
        Number of items, 2 or more.
    rng
        Seed or generator.

    Returns
    -------
    strengths : numpy.ndarray
        The scores, standard normal, (n_items, 1).
    exposures : numpy.ndarray
        Ones, (n_items, 1).

    Raises
    ------
    InputError
        If `n_items` or `rng` cannot be used.

    Examples
    --------
    >>> import intransit as it
    >>> S, Q = it.transitive_factors(5, rng=0)
    >>> it.study.count_triangles(S @ Q.T - Q @ S.T)
    0
    """
    generator, _ = open_rng(rng)
    n_items = as_whole("n_items", n_items, least=2)
    return generator.normal(size=(n_items, 1)), np.ones((n_items, 1))


def circular_factors(n_items: int) -> tuple[FloatArray, FloatArray]:
    """Return factors (S, Q) of items evenly around a circle, each favoured over those that follow.

    X_ij = sin(2π (j - i) / n).  For odd n it has n(n² - 1)/24 three-cycles, the most that any
    matrix of n items can have, at rank 2.

    Parameters
    ----------
    n_items
        Number of items, odd, 3 or more.

    Returns
    -------
    strengths : numpy.ndarray
        The cosines of the items' angles, (n_items, 1).
    exposures : numpy.ndarray
        The sines, (n_items, 1).

    Raises
    ------
    InputError
        If `n_items` is below 3, or even.

    Examples
    --------
    >>> import intransit as it
    >>> S, Q = it.circular_factors(3)
    >>> (S @ Q.T - Q @ S.T).round(2) + 0.0
    array([[ 0.  ,  0.87, -0.87],
           [-0.87,  0.  ,  0.87],
           [ 0.87, -0.87,  0.  ]])
    """
    n_items = as_whole("n_items", n_items, least=3)
    if n_items % 2 == 0:
        raise InputError(
            f"circular_factors: n_items is {n_items}; it must be odd, or items opposite to "
            "each other would tie."
        )
    angles = 2.0 * np.pi * np.arange(n_items)[:, None] / n_items
    return np.cos(angles), np.sin(angles)


def planted_cycles(n_items: int, n_cycles: int) -> tuple[FloatArray, FloatArray]:
    """Return factors (S, Q) of a matrix with exactly this many three-cycles, no two overlapping.

    Items are in order, except that the first 3 n_cycles form triples, of which the last
    beats the first.  No margin is zero.  The matrix has the largest rank that there is: n_items,
    or one less where that is odd.

    Parameters
    ----------
    n_items
        Number of items, 2 or more.
    n_cycles
        Number of three-cycles, at most a third of `n_items`.

    Returns
    -------
    strengths : numpy.ndarray
        The factors S, (n_items, n_items // 2).
    exposures : numpy.ndarray
        The factors Q, (n_items, n_items // 2).

    Raises
    ------
    InputError
        If there are too few items for the cycles.

    Examples
    --------
    >>> import intransit as it
    >>> S, Q = it.planted_cycles(4, 1)
    >>> (S @ Q.T - Q @ S.T).round(2) + 0.0
    array([[ 0.,  1., -1.,  1.],
           [-1.,  0.,  1.,  1.],
           [ 1., -1.,  0.,  1.],
           [-1., -1., -1.,  0.]])
    """
    n_items = as_whole("n_items", n_items, least=2)
    n_cycles = as_whole("n_cycles", n_cycles, least=0)
    if 3 * n_cycles > n_items:
        raise InputError(
            f"planted_cycles: {n_cycles} cycles need {3 * n_cycles} items, and there are {n_items}."
        )
    place = np.arange(n_items)
    margins = np.sign(place[None, :] - place[:, None]).astype(float)
    first = 3 * np.arange(n_cycles)
    margins[first, first + 2], margins[first + 2, first] = -1.0, 1.0
    omegas, u, v = canonical_form(margins)
    return u * np.sqrt(omegas), v * np.sqrt(omegas)


def _counts(n_outcomes: int | Sequence[int], n_periods: int) -> list[int]:
    if np.ndim(as_items(n_outcomes, "n_outcomes")) == 0:
        return [as_whole("n_outcomes", n_outcomes, least=1)] * n_periods
    counts = [as_whole("n_outcomes", count, least=1) for count in n_outcomes]  # type: ignore[union-attr]
    if len(counts) != n_periods:
        raise InputError(
            f"n_outcomes: {len(counts)} numbers were given for {n_periods} periods; give one "
            "number, or one for each period."
        )
    return counts


def _shape(
    n_items: int | None,
    n_factors: int | None,
    strengths: ArrayLike | None,
    exposures: ArrayLike | None,
) -> tuple[int, int]:
    """Return the one shape that everything given agrees on."""
    told = {"strengths": strengths, "exposures": exposures}
    seen = {as_items(part, name).shape for name, part in told.items() if part is not None}
    if not seen and n_items is not None and n_factors is not None:
        sizes = as_whole("n_items", n_items, least=2), as_whole("n_factors", n_factors, least=1)
        seen = {sizes}
    if len(seen) != 1 or len(next(iter(seen))) != 2:
        raise InputError(
            f"simulate: the shapes of the factors are unclear or disagree: {sorted(seen)}; give "
            "n_items and n_factors, or strengths and exposures of one shape."
        )
    items, factors = next(iter(seen))
    if n_items not in (None, items) or n_factors not in (None, factors):
        raise InputError(
            f"simulate: n_items={n_items} and n_factors={n_factors} disagree with factors of "
            f"shape {(items, factors)}; leave them out or correct them."
        )
    if items < 2 or factors < 1:
        raise InputError(
            f"simulate: {items} items and {factors} factors; there must be two items and one "
            "factor at least."
        )
    return items, factors


def _first(given: ArrayLike | None, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    if given is None:
        return rng.normal(size=shape)
    first = as_floats(given, "strengths, exposures").copy()
    check_finite(first, "strengths, exposures")
    return first


def _walk(
    first: FloatArray, n_periods: int, scale: float, rng: np.random.Generator
) -> FloatArray:  # (n_periods, *first.shape)
    """Return a random walk from the first value; no numbers are drawn when it stands still."""
    steps = np.zeros((n_periods, *first.shape))
    steps[0] = first
    if scale:
        steps[1:] = scale * rng.normal(size=(n_periods - 1, *first.shape))
    return np.cumsum(steps, axis=0)
