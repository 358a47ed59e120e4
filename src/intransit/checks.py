"""Checks of what a user gives to `recover`: one clear sentence each."""

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray
from intransit.core.bound import fixed_part, largest_margin
from intransit.core.inputs import as_floats, as_number, as_whole, check_size, shown
from intransit.core.problem import Problem
from intransit.core.readings import Collapsed
from intransit.errors import InputError
from intransit.measurements import Measurements


def check_measurements(measurements: object) -> None:
    """Refuse anything else, with the ways to build one."""
    if not isinstance(measurements, Measurements):
        raise InputError(
            f"measurements: a {type(measurements).__name__} was given; build one with "
            "Measurements.from_pairs, from_matrices or from_operators."
        )


def check_factors(n_factors: int, n_items: int) -> int:
    """Return the number of factors, or refuse one that no matrix of this size can have."""
    n_factors = as_whole("n_factors", n_factors, least=1)
    if 2 * n_factors > n_items:
        raise InputError(
            f"n_factors is {n_factors} for {n_items} items; a matrix of {n_items} items has at "
            f"most {n_items // 2} factors, and fewer are needed to recover anything."
        )
    return n_factors


def check_known(
    strengths: ArrayLike | None, exposures: ArrayLike | None, n_items: int, n_factors: int
) -> FloatArray:  # (n_items, 2 n_factors)
    """Return the known columns of [S Q] side by side, NaN where they are to be recovered."""
    sides = [
        _known_columns("strengths", strengths, n_items, n_factors),
        _known_columns("exposures", exposures, n_items, n_factors),
    ]
    known = np.hstack(sides)
    if not np.isnan(known).any():
        raise InputError(
            "strengths, exposures: every column of both is given, so that nothing is left to "
            "recover; mark columns to be recovered with NaN."
        )
    return known


def _known_columns(
    name: str, given: ArrayLike | None, n_items: int, n_factors: int
) -> FloatArray:  # (n_items, n_factors)
    if given is None:
        return np.full((n_items, n_factors), np.nan)
    columns = as_floats(given, name)
    if columns.shape != (n_items, n_factors):
        raise InputError(
            f"{name}: shape {columns.shape} was given; it must be {(n_items, n_factors)}, one "
            "column a factor, with NaN in the columns to be recovered."
        )
    missing = np.isnan(columns)
    partly = np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0))
    if len(partly):
        raise InputError(
            f"{name}: column {partly[0]} is NaN for some items only; a column is either known "
            "for all items or NaN for all."
        )
    if np.isinf(columns).any():
        raise InputError(f"{name}: infinite values cannot be known factors.")
    empty = np.flatnonzero(~columns.any(axis=0))
    if len(empty):
        raise InputError(
            f"{name}: column {empty[0]} is all zeros, so that its partner could be anything; "
            "leave that factor out."
        )
    check_size(columns[:, ~missing.any(axis=0)], name)
    return columns


def check_start(start: object, n_items: int, n_factors: int) -> FloatArray:
    """Return given starting factors side by side, (n_items, 2 n_factors)."""
    try:
        strengths, exposures = (np.asarray(part, dtype=float) for part in start)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f'start is {shown(start)}; it must be "spectral", "random", or two arrays (S, Q).'
        ) from None
    for name, part in (("S", strengths), ("Q", exposures)):
        if part.shape != (n_items, n_factors) or not np.isfinite(part).all():
            raise InputError(
                f"start: {name} of shape {part.shape} was given; it must be finite and of shape "
                f"{(n_items, n_factors)}."
            )
        check_size(part, f"start: {name}")
    if not (strengths.any(axis=0) & exposures.any(axis=0)).all():
        raise InputError(
            "start: a column of S or Q is all zeros, where nothing shows a way down; give other "
            "factors, however small."
        )
    return np.hstack([strengths, exposures])


def check_bound(bound: float, problem: Problem, data: Collapsed) -> float:
    """Return the bound, or refuse one that known factors break or that the data contradict.

    The data contradict a bound when most pairs lie beyond it by more than three standard
    errors of their means; where no reading is repeated, by more than ten times the bound.
    """
    bound = as_number("bound", bound, least=0.0, strict=True)
    known = np.where(problem.free, 0.0, problem.known)
    fixed = largest_margin(fixed_part(problem, known))
    if fixed > bound:
        raise InputError(
            f"bound is {bound:g}, but the known strengths and exposures alone make a margin of "
            f"{fixed:g}; raise the bound to at least that."
        )
    loss = data.loss
    seen = loss.weights > 0
    if not seen.any():
        return bound
    size = np.abs(loss.targets[seen])
    if data.n_repeats:
        error = np.sqrt(data.pure_error / data.n_repeats / loss.weights[seen])
        beyond = size - bound > 3.0 * error
    else:  # nothing tells noise from margin; only a wrong unit is refused
        beyond = size > 10.0 * bound
    if beyond.mean() > 0.5:
        raise InputError(
            f"bound is {bound:g}, but {int(beyond.sum())} of {len(beyond)} compared pairs have "
            f"mean outcomes beyond it (the largest is {np.abs(loss.targets).max():.3g}); raise "
            "it to the largest margin you think possible, or check the units."
        )
    return bound
