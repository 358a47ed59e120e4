"""Covariates: what else is known of each game, such as its surface, as one number a row.

A value is a word of the table; a row whose cell is empty has none, which the code -1 says.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import IntArray
from intransit.core.inputs import as_list, shown
from intransit.errors import InputError
from intransit.tables.reading import plural

NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class Covariate:
    """One further column of a table of games.

    Examples
    --------
    >>> surface = covariate_of("surface", ["clay", "", "grass", "clay"])
    >>> surface.values, surface.codes.tolist()
    (('clay', 'grass'), [0, -1, 1, 0])
    """

    name: str
    values: tuple[str, ...]  # in order: numbers by size, words by their letters
    codes: IntArray  # (n_rows,) index into values, -1 where the cell was empty

    def only(self, rows: ArrayLike) -> "Covariate":
        """Return the codes of some rows; the values stay."""
        return Covariate(self.name, self.values, self.codes[np.asarray(rows)])

    def code(self, value: object) -> int:
        """Return the number of a value; refuse one that the table does not have."""
        text = str(value).strip()
        if text not in self.values:
            listed = ", ".join(f'"{known}"' for known in self.values[:10])
            more = ", ..." if len(self.values) > 10 else ""
            raise InputError(
                f'"{self.name}" is never "{text}" in this table; it may be {listed}{more}.'
            )
        return self.values.index(text)


def covariate_of(name: str, cells: Sequence[object]) -> Covariate:
    """Return a covariate from its cells; None, NaN and empty text are no value."""
    texts = ["" if _is_missing(cell) else str(cell).strip() for cell in cells]
    values = in_order(set(texts) - {""})
    number = {value: k for k, value in enumerate(values)}
    codes = np.array([number.get(text, NO_VALUE) for text in texts], dtype=np.int64)
    return Covariate(name, values, codes)


def in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Return values in the order in which people list them: numbers by size, else by letters."""
    listed = sorted(values)
    try:
        return tuple(sorted(listed, key=float))
    except ValueError:
        return tuple(listed)


def covariates_of(columns: Mapping[str, Sequence[object]] | None, n: int) -> tuple[Covariate, ...]:
    """Return the covariates of columns with `n` cells each."""
    found = []
    if columns is not None and not isinstance(columns, Mapping):
        raise InputError(
            f"by: {shown(columns)} was given; give columns with a value for each comparison, as in "
            '{"surface": ["clay", "grass"]}.'
        )
    for name, cells in (columns or {}).items():
        listed = as_list(cells, f"by: {shown(name)}")
        if len(listed) != n:
            raise InputError(
                f"by: {plural(len(listed), 'value')} of {name!r} were given for {n} comparisons; "
                "give one each."
            )
        found.append(covariate_of(str(name), listed))
    return tuple(found)


def without_unseen(covariate: Covariate) -> Covariate:
    """Return the same covariate with those values only that some row has."""
    seen = np.unique(covariate.codes[covariate.codes >= 0])
    place = np.full(len(covariate.values) + 1, NO_VALUE)  # the last entry serves the code -1
    place[seen] = np.arange(len(seen))
    values = tuple(covariate.values[k] for k in seen)
    return Covariate(covariate.name, values, place[covariate.codes])


def join_covariates(parts: Sequence[tuple[Covariate, ...]]) -> tuple[Covariate, ...]:
    """Return the covariates of several parts of games, one after the other.

    The parts must have the same covariates; their values may differ, and are joined.
    """
    names = [tuple(covariate.name for covariate in part) for part in parts]
    for other in names[1:]:
        if other != names[0]:
            told = [", ".join(f'"{name}"' for name in part) or "none" for part in (names[0], other)]
            raise InputError(
                f"by: games with the covariates {told[0]} cannot be joined with games that have "
                f"{told[1]}; read both with the same ones."
            )
    return tuple(_join(column) for column in zip(*parts, strict=True))


def _join(column: Sequence[Covariate]) -> Covariate:
    first = column[0]
    if all(part.values == first.values for part in column):
        codes = np.concatenate([part.codes for part in column])
        return Covariate(first.name, first.values, codes)
    values = in_order({value for part in column for value in part.values})
    number = {value: k for k, value in enumerate(values)}
    codes = np.concatenate(
        [
            np.array([*(number[value] for value in part.values), NO_VALUE])[part.codes]
            for part in column
        ]
    )
    return Covariate(first.name, values, codes)


def _is_missing(cell: object) -> bool:
    """Return whether a cell is None, or a number that is none (NaN, NaT)."""
    return cell is None or cell != cell  # noqa: PLR0124
