"""What users give, as numbers, arrays and generators; or one sentence: where, what, what to do."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray, largest_size
from intransit.errors import InputError

LONGEST = 60  # characters of a value in a sentence
LARGEST, SMALLEST = 1e100, 1e-100  # sizes whose squares are safe in double precision


def shown(value: object) -> str:
    """Return a value as a sentence can hold it: on one line, and short."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a number of too many digits, or an object that cannot say what it is
        text = f"of type {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def as_list(values: object, where: str) -> list[Any]:
    """Return what was given as a list, in its order; one thing alone, or text, is no list."""
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise InputError(f"{where}: {shown(values)} was given; give a list, one for each.")
    try:
        return list(values)
    except TypeError:  # an array of no dimension
        raise InputError(f"{where}: {shown(values)} was given; give a list.") from None


def check_report(report: object) -> None:
    """Refuse what cannot be called with a text about progress."""
    if not callable(report):
        raise InputError(f"report: {shown(report)} was given; give a function that takes a text.")


def as_flag(name: str, value: object) -> bool:
    """Return a yes or no, or refuse anything else."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is {shown(value)}; it must be True or False.")
    return bool(value)


def as_floats(values: object, where: str) -> FloatArray:
    """Return an array of floats, or say that these are not numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(array, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{where}: these are not numbers, or not an array of one shape; give plain numbers."
        ) from None


def as_number(name: str, value: object, *, least: float, strict: bool = False) -> float:
    """Return a finite number of at least (strictly: above) the least, or refuse it."""
    limit = f"above {least:g}" if strict else f"{least:g} or more"
    try:
        number = float("nan") if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    except Exception:  # whatever the value's own conversion raises
        number = float("nan")
    if not np.isfinite(number) or number < least or (strict and number == least):
        raise InputError(f"{name} is {shown(value)}; it must be a finite number, {limit}.")
    if number > LARGEST:
        raise InputError(f"{name} is {value!r}, too large to square; choose other units.")
    return number


def as_whole(name: str, value: object, *, least: int, most: int = 2**62) -> int:
    """Return a whole number from the least to the most, or refuse it."""
    number = 0
    try:
        number = int(value)  # type: ignore[call-overload]
        whole = not isinstance(value, bool | str) and number == value and least <= number <= most
    except Exception:  # whatever the value's own conversion raises
        whole = False
    if not whole:
        span = f"{least} or more" if most == 2**62 else f"from {least} to {most}"
        raise InputError(f"{name} is {shown(value)}; it must be a whole number, {span}.")
    return int(number)


def as_items(items: object, where: str) -> np.ndarray:
    """Return numbers of items as an array, or say that the lists differ in length."""
    try:
        return np.asarray(items)
    except ValueError:
        raise InputError(f"{where}: the lists differ in length; give one list.") from None


def broadcast(where: str, **given: object) -> tuple[Any, ...]:
    """Return arrays of one shape, those of one entry repeated, or say that they do not fit."""
    arrays = {name: as_items(values, where) for name, values in given.items()}
    try:
        return np.broadcast_arrays(*arrays.values())
    except ValueError:
        told = ", ".join(f"{name} has shape {array.shape}" for name, array in arrays.items())
        raise InputError(f"{where}: {told}; give as many of each, or one.") from None


def check_pairs(pairs: object, n_items: int | None, where: str) -> IntArray:
    """Return pairs as integers (n, 2), or say what is wrong with them."""
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise InputError(
            f"{where}: the rows differ in length; each needs two items, the first and the second."
        ) from None
    if array.size == 0 and array.ndim == 1:
        array = np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(
            f"{where}: an array of shape {array.shape} was given; it needs two columns, the "
            "first and the second item of each comparison."
        )
    if array.dtype.kind not in "iu" and not (
        array.dtype.kind == "f" and np.array_equal(array, np.rint(array))
    ):
        raise InputError(
            f"{where}: items are whole numbers from 0, but other values ({array.dtype}) were "
            "given; number the items first."
        )
    beyond = (array < 0) | (array >= (np.iinfo(np.int64).max if n_items is None else n_items))
    if beyond.any():
        bad = int(np.flatnonzero(beyond.any(axis=1))[0])
        last = "" if n_items is None else f" to {n_items - 1}"
        raise InputError(
            f"{where}: row {bad} compares {array[bad, 0]:g} with {array[bad, 1]:g}, but items "
            f"run from 0{last}; correct the row or raise n_items."
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def check_finite(values: FloatArray, where: str) -> None:
    """Say where the first value is that is not a finite number."""
    finite = np.isfinite(values)
    if not finite.all():
        place = ", ".join(str(k) for k in np.argwhere(~finite)[0])
        raise InputError(
            f"{where}: entry {place} is {values[~finite][0]}; every value must be a finite "
            "number, so correct it or leave the row out."
        )


def check_size(values: FloatArray, where: str) -> None:
    """Refuse values whose squares would leave the range of floating-point numbers."""
    largest = largest_size(values)  # NaN, where it is allowed at all, says nothing about size
    if largest > LARGEST or 0.0 < largest < SMALLEST:
        raise InputError(
            f"{where}: the largest is {largest:g}, and its square is beyond what floating-point "
            "numbers hold; choose other units."
        )


OF_COUNTS = "a count says how many readings an outcome is the mean of and must be above 0"


def check_entries(wrong: BoolArray, values: FloatArray, where: str, rule: str) -> None:
    """Refuse values of which some are wrong: which is the first, and what the rule is."""
    if wrong.any():
        bad = int(np.flatnonzero(wrong)[0])
        raise InputError(f"{where}: entry {bad} is {values[bad]:g}; {rule}")


def as_column(
    name: str,
    values: object,
    n: int,
    of: str = "of them",
    *,
    least: float = -np.inf,
    most: float = np.inf,
) -> FloatArray:  # (n,)
    """Return one finite number for each, from the least to the most, or say what is wrong."""
    column = np.ascontiguousarray(as_floats(values, name))
    if column.shape != (n,):
        raise InputError(
            f"{name}: shape {column.shape} was given for {n} {of}; there must be one value for "
            "each."
        )
    check_finite(column, name)
    check_size(column, name)
    span = f"from {least:g} to {most:g}" if np.isfinite(most) else f"of at least {least:g}"
    check_entries((column < least) | (column > most), column, name, f"give numbers {span}.")
    return column


def check_factors(
    strengths: object, exposures: object, n_items: int
) -> tuple[FloatArray, FloatArray]:
    """Return S and Q of one shape (n_items, n_factors), or refuse them.

    Compiled loops trust their input: a wrong shape must not reach them.
    """
    S, Q = as_floats(strengths, "strengths"), as_floats(exposures, "exposures")
    if S.ndim != 2 or S.shape != Q.shape or len(S) != n_items:
        raise InputError(
            f"factors: strengths of shape {S.shape} and exposures of shape {Q.shape} were given "
            f"for {n_items} items; both must be (n_items, n_factors)."
        )
    return S, Q


def check_known(
    strengths: object, exposures: object, n_items: int, n_factors: int
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
    name: str, given: object, n_items: int, n_factors: int
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


def check_option(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is not among the allowed ones."""
    if not isinstance(value, str) or value not in allowed:
        *others, last = (f'"{word}"' for word in allowed)
        words = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"{name} is {shown(value)}; it must be {words}.")


def open_rng(rng: np.random.Generator | int | None) -> tuple[np.random.Generator, int | None]:
    """Return a generator, and the seed that repeats it (None for a generator of the user's own)."""
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    elif isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise InputError(
            f"rng: {shown(rng)} was given; pass a whole number from 0, a numpy Generator, or None."
        )
    return np.random.default_rng(int(rng)), int(rng)


def open_seed(rng: np.random.Generator | int | None) -> int:
    """Return a seed: the one that was given, or one that the user's own generator draws."""
    generator, seed = open_rng(rng)
    return int(generator.integers(2**32)) if seed is None else seed


def as_path(path: object) -> Path:
    """Return where a file is, or refuse what names none."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not str(path).strip():
        raise InputError(f"path: {shown(path)} was given; give the name of a file.")
    return Path(path)


def open_place(path: object, advice: str = "give the name of a file") -> Path:
    """Return where a file is to be written; refuse, before any work, where none can be."""
    place = as_path(path)
    if place.is_dir():
        raise InputError(f"{place}: it is a folder; {advice}.")
    if not place.parent.is_dir():
        raise InputError(f"{place}: there is no folder {place.parent}; make it, or choose another.")
    if not os.access(place.parent, os.W_OK):
        raise InputError(f"{place}: the folder may not be written to; choose another.")
    return place


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole, or not at all."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to, that takes its place when all is written, or not at all."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        error.filename = str(path)  # the file that was asked for, not the one written before it
        raise
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
