"""What a file keeps of an answer: records as words and arrays, and of a large one an index.

A record is a frozen dataclass.  Its arrays are put aside under the name of their field, such as
``draws.states`` or ``draws.numbers.0``; the rest becomes what JSON can hold, with the name of the
type, so that a field may hold one of several.

A large answer is asked where it lies, so that nothing else need be read.  Names are one long text
with the place of each, and their order, so that one is found by halving; paths say which states
belong to whom; the leaderboard at the end is kept whole.  `Index` holds all that, beside the games
and draws that every answer keeps.
"""

import types
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

from intransit.analysis import NEAR, Leaderboard
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.checks import LARGEST
from intransit.inference.observations import Observations
from intransit.inference.paths import Layout, Numbers, Paths
from intransit.inference.posterior import Known, Posterior
from intransit.model import Model

Arrays = dict[str, np.ndarray]
ByteArray: TypeAlias = NDArray[np.uint8]

LARGE = 1 << 28  # bytes of draws from which it is
KINDS = {np.float64: "f", np.signedinteger: "i", np.bool_: "b", np.uint8: "u"}  # of any width
IS = "is"  # the key under which the name of a record's type stands


class RecordError(ValueError):
    """A record has a part that is missing, superfluous, or of another kind."""


def take_apart(value: Any, name: str, arrays: Arrays) -> Any:
    """Return a value as words, its arrays put aside."""
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if isinstance(value, tuple | list):
        return [take_apart(part, f"{name}.{k}", arrays) for k, part in enumerate(value)]
    if is_dataclass(value):
        parts = {
            entry.name: take_apart(getattr(value, entry.name), f"{name}.{entry.name}", arrays)
            for entry in fields(value)
        }
        return {IS: type(value).__name__, **parts}
    return value


def put_together(kind: Any, words: Any, name: str, arrays: Arrays) -> Any:
    """Return the value of a type that words and arrays tell, or raise RecordError.

    Each array is taken out of `arrays` when it is used.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return _one_of(parts, words, name, arrays)
    if origin is tuple and isinstance(words, list):
        kinds = (parts[0],) * len(words) if parts[1:] == (...,) else parts
        if len(kinds) == len(words):
            return tuple(
                put_together(kind, word, f"{name}.{k}", arrays)
                for k, (kind, word) in enumerate(zip(kinds, words, strict=True))
            )
    if origin is np.ndarray and words == {"array": name} and name in arrays:
        scalar = get_args(parts[1])[0]
        if arrays[name].dtype.kind == KINDS[get_origin(scalar) or scalar]:
            return arrays.pop(name)
    if is_dataclass(kind) and isinstance(words, dict):
        return _record(kind, words, name, arrays)
    if _is_plain(kind, words) or (origin is Literal and isinstance(words, str) and words in parts):
        return words
    raise RecordError(name)


def _one_of(kinds: tuple[Any, ...], words: Any, name: str, arrays: Arrays) -> Any:
    for kind in kinds:
        try:
            return put_together(kind, words, name, arrays)
        except RecordError:
            continue
    raise RecordError(name)


def _record(kind: Any, words: dict[str, Any], name: str, arrays: Arrays) -> Any:
    kinds = {one.__name__: one for one in (kind, *kind.__subclasses__())}
    made = kinds.get(str(words.get(IS)))
    if made is None or set(words) != {IS, *(entry.name for entry in fields(made))}:
        raise RecordError(name)
    hints = get_type_hints(made)
    keys = [entry.name for entry in fields(made)]
    return made(
        **{key: put_together(hints[key], words[key], f"{name}.{key}", arrays) for key in keys}
    )


def _is_plain(kind: Any, words: Any) -> bool:
    if kind in {float, int} and isinstance(words, int | float) and not isinstance(words, bool):
        if kind is float:
            return abs(words) <= LARGEST
        return isinstance(words, int) and abs(words) < 1 << 62
    return kind in {str, bool, type(None)} and isinstance(words, kind)


class StoredNames(Sequence[str]):
    """Names in one text, read one at a time."""

    def __init__(self, letters: ByteArray, ends: IntArray, by_name: IntArray) -> None:
        self.letters, self.ends, self.by_name = letters, ends, by_name

    @classmethod
    def of(cls, names: Sequence[str]) -> "StoredNames":
        """Put names into one text."""
        if isinstance(names, StoredNames):
            return names
        parts = [name.encode() for name in names]
        ends = np.cumsum([0, *map(len, parts)])
        order = sorted(range(len(parts)), key=parts.__getitem__)
        return cls(np.frombuffer(b"".join(parts), np.uint8), ends, np.array(order, np.int64))

    def __len__(self) -> int:
        return len(self.by_name)

    def _bytes(self, k: int) -> bytes:
        return self.letters[self.ends[k] : self.ends[k + 1]].tobytes()

    @overload
    def __getitem__(self, k: int) -> str: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[str, ...]: ...
    def __getitem__(self, k: int | slice) -> str | tuple[str, ...]:
        if isinstance(k, slice):
            return tuple(self[n] for n in range(*k.indices(len(self))))
        place = k + len(self) if k < 0 else k
        if not 0 <= place < len(self):
            raise IndexError(k)
        return self._bytes(place).decode()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) >= 0

    def find(self, name: str) -> int:
        """Return the number of a name, -1 if it is not there."""
        place = self._place(name)
        if place < len(self) and self._bytes(int(self.by_name[place])) == name.encode():
            return int(self.by_name[place])
        return -1

    def _place(self, name: str) -> int:
        """Return how many names come before one, in the order of their bytes."""
        return bisect_left(self.by_name, name.encode(), key=lambda k: self._bytes(int(k)))

    @property
    def numbers(self) -> "NumbersOfNames":
        """The number of each name."""
        return NumbersOfNames(self)

    def near(self, name: str) -> list[str]:
        """Return names that begin like one: those around it in order."""
        place = self._place(name)
        return [self[int(k)] for k in self.by_name[max(place - NEAR, 0) : place + NEAR]]


class NumbersOfNames(Mapping[str, int]):
    """The number of each name, found when it is asked for."""

    def __init__(self, names: StoredNames) -> None:
        self.names = names

    def __getitem__(self, name: str) -> int:
        place = self.names.find(name)
        if place < 0:
            raise KeyError(name)
        return place

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


@dataclass(frozen=True, eq=False)
class KeptPaths:
    """Which states belong to whom."""

    keys: IntArray  # (n_paths,): owners, rising; nothing for items, which are all there
    begin: IntArray  # (n_paths + 1,)
    clock: FloatArray  # (n_states,)
    moves: bool

    @classmethod
    def of(cls, paths: Paths, *, named: bool = True) -> "KeptPaths":
        """Take what is needed to read paths."""
        keys = paths.keys if named else np.zeros(0, np.int64)
        return cls(keys, paths.begin, paths.clock, paths.moves)

    def is_sound(self, n_paths: int) -> bool:
        """Return whether there are so many owners, and nobody's states lie outside of all."""
        begin = self.begin
        return bool(
            begin.shape == (n_paths + 1,)
            and self.clock.ndim == 1
            and begin[0] == 0
            and begin[-1] == len(self.clock)
            and (np.diff(begin) >= 0).all()
        )


@dataclass(frozen=True, eq=False)
class Index:
    """What a large answer keeps so that it can be asked where it lies."""

    letters: ByteArray
    ends: IntArray  # (n_items + 1,)
    by_name: IntArray  # (n_items,): items in order of their names
    items: KeptPaths
    numbers: tuple[KeptPaths, ...]
    newcomer: BoolArray  # (n_items,)
    span: float
    groups: IntArray  # (n_items,)
    axis: FloatArray
    board: Leaderboard

    @classmethod
    def of(cls, names: Sequence[str], posterior: Posterior, board: Leaderboard) -> "Index":
        """Collect it."""
        stored, layout = StoredNames.of(names), posterior.layout
        return cls(
            stored.letters,
            stored.ends,
            stored.by_name,
            KeptPaths.of(layout.items, named=False),
            tuple(KeptPaths.of(one.paths) for one in layout.numbers),
            layout.newcomer,
            float(layout.span),
            posterior.groups,
            posterior.axis,
            board,
        )

    @property
    def names(self) -> StoredNames:
        """The names."""
        return StoredNames(self.letters, self.ends, self.by_name)

    def layout(self, seen: Observations, model: Model, terms: Sequence[Numbers]) -> Layout:
        """Return paths that can be read; `terms` are those of the model, without their paths."""
        numbers = tuple(
            Numbers(one.term, Paths.without_cells(kept.keys, kept.begin, kept.clock, kept.moves))
            for one, kept in zip(terms, self.numbers, strict=True)
        )
        p, n = self.items, seen.n_items
        items = Paths.without_cells(np.arange(n), p.begin, p.clock, p.moves)
        return Layout(seen, model, items, np.zeros(0, np.int64), numbers, self.newcomer, self.span)

    @property
    def known(self) -> Known:
        """What is otherwise worked out from all games."""
        return Known(self.groups, self.axis)

    def check(self, n_items: int, n_terms: int) -> dict[str, bool]:
        """Return of every part whether it is sound: whatever others are looked up by, in full."""
        n, columns = n_items, vars(self.board).values()
        return {
            "names": self.ends.shape == (n + 1,)
            and bool(self.ends[0] == 0 and self.ends[-1] == len(self.letters))
            and bool((np.diff(self.ends) >= 0).all()),
            "order of names": _are_numbers(self.by_name, n),
            "paths": self.items.is_sound(n),
            "terms": len(self.numbers) == n_terms
            and all(one.is_sound(len(one.keys)) for one in self.numbers),
            "newcomers": self.newcomer.shape == (n,),
            "groups": _are_numbers(self.groups, n),
            "times": self.axis.ndim == 1 and len(self.axis) > 0,
            "leaderboard": _are_numbers(self.board.order, n)
            and all(column.shape == (n,) for column in columns),
        }


def _are_numbers(values: IntArray, n: int) -> bool:
    """Return whether there is one number for each of n items, each the number of an item."""
    return values.shape == (n,) and bool(values.min() >= 0 and values.max() < n)
