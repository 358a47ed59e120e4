"""Records as plain words and arrays, and back: what comes back is checked against their types.

A record is a frozen dataclass.  Its arrays are put aside under the name of their field, such as
``draws.states`` or ``draws.numbers.0``; the rest becomes what JSON can hold, with the name of the
type, so that a field may hold one of several.
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from intransit.core.inputs import LARGEST

Arrays = dict[str, np.ndarray]
KINDS = {np.float64: "f", np.int64: "i", np.bool_: "b", np.uint8: "u"}  # floats may be single

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


def put_together(kind: Any, words: Any, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the value of a type that words and arrays tell, or raise RecordError."""
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:
        return _one_of(get_args(kind), words, name, arrays)
    if origin is Literal:
        if isinstance(words, str) and words in get_args(kind):
            return words
        raise RecordError(name)
    if origin is tuple:
        return _tuple(get_args(kind), words, name, arrays)
    if origin is np.ndarray:
        return _array(get_args(get_args(kind)[1])[0], words, name, arrays)
    if is_dataclass(kind):
        return _record(kind, words, name, arrays)
    return _plain(kind, words, name)


def _one_of(kinds: tuple[Any, ...], words: Any, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    if words is None:
        if type(None) in kinds:
            return None
        raise RecordError(name)
    for kind in kinds:
        if kind is not type(None):
            try:
                return put_together(kind, words, name, arrays)
            except RecordError:
                continue
    raise RecordError(name)


def _tuple(kinds: tuple[Any, ...], words: Any, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    if not isinstance(words, list):
        raise RecordError(name)
    if kinds[1:] == (...,):
        kinds = (kinds[0],) * len(words)
    if len(kinds) != len(words):
        raise RecordError(name)
    return tuple(
        put_together(kind, word, f"{name}.{k}", arrays)
        for k, (kind, word) in enumerate(zip(kinds, words, strict=True))
    )


def _array(scalar: Any, words: Any, name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    if words != {"array": name} or name not in arrays or arrays[name].dtype.kind != KINDS[scalar]:
        raise RecordError(name)
    return arrays[name]


def _record(kind: Any, words: Any, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    kinds = {one.__name__: one for one in (kind, *kind.__subclasses__())}
    named = words.get(IS) if isinstance(words, dict) else None
    if not isinstance(named, str) or named not in kinds:
        raise RecordError(name)
    made = kinds[named]
    hints, wanted = get_type_hints(made), [entry.name for entry in fields(made)]
    if set(words) != {IS, *wanted}:
        raise RecordError(name)
    return made(
        **{key: put_together(hints[key], words[key], f"{name}.{key}", arrays) for key in wanted}
    )


def _plain(kind: Any, words: Any, name: str) -> Any:
    if kind is float and isinstance(words, int | float) and not isinstance(words, bool):
        if abs(words) <= LARGEST:
            return words
    elif kind is int and isinstance(words, int) and not isinstance(words, bool):
        if abs(words) < 1 << 62:
            return words
    elif kind in {str, bool} and isinstance(words, kind):
        return words
    raise RecordError(name)
