"""What a user asks an answer, as arrays: items by name or number, times, sides, covariates.

Words and lists of any kind come in; one clear sentence says where they do not fit.
"""

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from intransit.answers.stored import likely_names
from intransit.arrays import FloatArray, IntArray
from intransit.core.inputs import as_floats, as_list, check_finite, shown
from intransit.errors import InputError
from intransit.tables.covariates import Covariate

if TYPE_CHECKING:
    from intransit.answers.answer import FittedTable

TYPING_ERROR = 0.8  # likeness to a known name from which a new one is taken for a typing error


def lists_of(n: int | None, **given: object) -> list[list[Any]]:
    """Return what was given as lists of one length, `n` where it is known already."""
    lists = {name: as_list(values, name) for name, values in given.items()}
    for name, values in lists.items():
        if n is not None and len(values) != n:
            raise InputError(f"{name}: {len(values)} were given for {n} games; give one for each.")
        n = len(values)
    return list(lists.values())


def sides_of(side: object, n: int | None = None) -> FloatArray:
    """Return sides as numbers from -1 to 1, one for each of n games if that is known."""
    if n is not None:
        side = lists_of(n, side=side)[0]
    sides = as_floats(side, "side")
    check_finite(sides, "side")
    if (np.abs(sides) > 1).any() or (n is not None and sides.shape != (n,)):
        raise InputError(
            "side: it must be 1 where the first has the better side, -1 where the second has it, "
            "and else 0."
        )
    return sides


def items_of(answer: "FittedTable", items: object, name: str) -> IntArray:
    """Return items as an array of their numbers, in the shape in which they were given."""
    if isinstance(items, str | int | np.integer):
        return np.array(answer.number(items))  # type: ignore[arg-type]
    if not isinstance(items, np.ndarray):
        items = as_list(items, name)
    try:
        array = np.asarray(items)
    except ValueError:
        raise InputError(f"{name}: the lists differ in length; give one list of items.") from None
    if array.dtype.kind in "iu":
        if array.size and not (array.min() >= 0 and array.max() < answer.n_items):
            raise InputError(f"{name}: numbers go from 0 to {answer.n_items - 1}.")
        return array.astype(np.int64)
    listed = [answer.number(item) for item in array.ravel().tolist()]
    return np.array(listed, dtype=np.int64).reshape(array.shape)


def moments_of(answer: "FittedTable", at: object) -> FloatArray:
    """Return times as numbers, in the shape in which they were given."""
    if at is None or isinstance(at, str | bytes) or np.ndim(_listed(at)) == 0:
        return np.array(answer.when(at))
    array = np.asarray(_listed(at))
    if array.dtype.kind in "iuf":
        check_finite(array.astype(float), "at")
        return array.astype(float)
    listed = [answer.when(moment) for moment in array.ravel().tolist()]
    return np.array(listed, dtype=float).reshape(array.shape)


def _listed(at: Any) -> Any:
    """Return times as an array would take them, or refuse lists of different lengths."""
    at = list(at) if hasattr(at, "__next__") else at
    try:
        np.ndim(at)
    except ValueError:
        raise InputError("at: the lists differ in length; give one list of times.") from None
    return at


def together(**arrays: np.ndarray) -> tuple[Any, ...]:
    """Return arrays of one shape, those of one entry repeated."""
    try:
        return np.broadcast_arrays(*arrays.values())
    except ValueError:
        told = ", ".join(f"{name} has shape {array.shape}" for name, array in arrays.items())
        raise InputError(f"{told}; give as many of each, or one.") from None


def item_or_newcomer(answer: "FittedTable", item: object, new: dict[str, int] | None) -> int:
    """Return an item's number; a newcomer has one below 0, where newcomers are asked for."""
    if new is None or not isinstance(item, str) or item in answer.numbers:
        return answer.number(item)  # type: ignore[arg-type]
    near = difflib.get_close_matches(
        item, likely_names(answer.names, item), n=1, cutoff=TYPING_ERROR
    )
    if near:
        raise InputError(
            f"{item!r} is no item of {answer.source}, and too like {near[0]!r} to be taken for a "
            "newcomer; correct the name."
        )
    return new.setdefault(item, -1 - len(new))


def codes_under(answer: "FittedTable", under: object, n: int) -> dict[str, IntArray] | None:
    """Return values of covariates as numbers, one for every question."""
    if under is None:
        return None
    if not isinstance(under, Mapping):
        raise InputError(
            f'under is {shown(under)}; give columns and their values, as in {{"surface": "clay"}}.'
        )
    known = {term.column for term in answer.model.by}
    values = dict(answer.posterior.layout.seen.values)
    codes = {}
    for name, value in under.items():
        if name not in known:
            listed = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise InputError(
                f"under: {name!r} is no covariate of this answer; {listed}: fit a table that "
                f'was read with by="{name}".'
            )
        code = Covariate(name, values[name], np.zeros(0, np.int64)).code(value)
        codes[name] = np.full(n, code)
    return codes or None
