"""An answer as one file, and back: what comes back is checked against the types of its records.

A record is a frozen dataclass.  Its arrays are put aside under the name of their field, such as
``draws.states`` or ``draws.numbers.0``; the rest becomes what JSON can hold, with the name of the
type, so that a field may hold one of several.

Every field of the answer is kept but the games themselves: observations, model, draws, how they
mixed, and all that is said in words.  A file is written beside its place and moved there whole;
what is read back is checked for its types, shapes and values before anything is made of it.

A large answer is the same file with an index (`stored`), and is asked where it lies: its arrays are
mapped into memory and read when they are looked at.  Shapes are checked when it is opened, and
whatever others are looked up by; all the rest by the checksum, if that is asked for.
"""

import os
import tempfile
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.ranking import leaderboard
from intransit.analysis.sealed import AGAIN, Arrays, is_sealed, map_file, open_file, write_sealed
from intransit.analysis.stored import LARGE, MANY, Index
from intransit.analysis.verdict import Transitivity
from intransit.checks import LARGEST, shown
from intransit.data.clock import Clock
from intransit.data.reading import Reading
from intransit.errors import InputError
from intransit.inference.observations import Encoding, Observations, Seen
from intransit.inference.paths import Layout, lay_out, terms_of
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws, Mixing
from intransit.model import Model, OutcomeLaw

KINDS = {
    np.float64: "f",
    np.signedinteger: "i",
    np.bool_: "b",
    np.uint8: "u",
}  # floats may be single

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
        scalar = get_args(get_args(kind)[1])[0]
        return _typed_array(get_origin(scalar) or scalar, words, name, arrays)
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


def _typed_array(
    scalar: Any, words: Any, name: str, arrays: Mapping[str, np.ndarray]
) -> np.ndarray:
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


MOST_FACTORS = 1_000  # more than any table can tell apart
WAYS = ("gibbs", "newton", "filter")  # in which draws are made
SCALE_PARTS = tuple(
    f"{of}{part}" for of in ("", "number_") for part in ("scales", "rates", "reversions")
)
CELL_COLUMNS = ("times", "counts", "means", "sides", "positive")
WORDS_OF_ALL = {"format", "version", "answer", "index"}
SMALL = 1 << 26  # bytes: files up to that are read whole
CHECKED = 1 << 28  # bytes: those up to that are compared with their checksum when they are opened


def as_path(path: object) -> Path:
    """Return where a file is, or refuse what names none."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not str(path).strip():
        raise InputError(f"path: {shown(path)} was given; give the name of a file.")
    return Path(path)


def open_place(path: object) -> Path:
    """Return where a file is to be written; refuse, before any work, where none can be."""
    place = as_path(path)
    if place.is_dir():
        raise InputError(f"{place}: it is a folder; give the name of a file.")
    if not place.parent.is_dir():
        raise InputError(f"{place}: there is no folder {place.parent}; make it, or choose another.")
    return place


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole, or not at all."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to, that takes its place when all is written, or not at all."""
    folder = path.parent if str(path.parent) else Path(".")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
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


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of an answer."""

    names: tuple[str, ...]
    clock: Clock
    encoding: Encoding
    story: tuple[str, ...]
    source: str
    transitive: Transitivity
    reading: Reading
    way: str
    notes: tuple[str, ...]
    seen: Seen
    observations: Observations
    draws: Draws
    mixing: Mixing | None
    model: Model
    law: OutcomeLaw


def is_large(answer: FittedTable) -> bool:
    """Return whether an answer is kept so that it can be asked where it lies."""
    seen, states = answer.posterior.layout.seen, answer.posterior.draws.states
    size = states.nbytes + sum(
        part.nbytes for part in vars(seen).values() if hasattr(part, "nbytes")
    )
    return answer.n_items > MANY or size > LARGE


def write_answer(file: IO[bytes], answer: FittedTable, *, large: bool) -> None:
    """Write an answer; a large one with its index, and its names there."""
    posterior, seen = answer.posterior, answer.posterior.layout.seen
    kept = Kept(
        names=() if large else tuple(answer.names),
        clock=answer.clock,
        encoding=answer.encoding,
        story=answer.story,
        source=answer.source,
        transitive=answer.transitive,
        reading=answer.reading,
        way=posterior.way,
        notes=posterior.notes,
        seen=answer.seen,
        observations=seen,
        draws=by_state(posterior.draws) if large else posterior.draws,
        mixing=posterior.mixing,
        model=posterior.layout.model,
        law=posterior.law,
    )
    arrays: dict[str, np.ndarray] = {}
    words = {"answer": take_apart(kept, "answer", arrays)}
    if large:
        index = Index.of(answer.names, posterior, leaderboard(answer, answer.seen.end))
        words["index"] = take_apart(index, "index", arrays)
    write_sealed(file, words, arrays)


def by_state(draws: Draws) -> Draws:
    """Return draws with the axes of draws and states exchanged, as views.

    In a large file all draws of a state stand together, so that one item is one place of the file.
    """
    numbers = tuple(one.T for one in draws.numbers)
    return replace(draws, states=draws.states.transpose(1, 0, 2), numbers=numbers)


def read_answer(path: Path, *, check: bool | None = None, small: int = SMALL) -> dict[str, Any]:
    """Return the fields of an answer that was kept; those of a large one stay where they lie.

    Files of up to `small` bytes are read whole.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size > small and is_sealed(path):
        words, arrays, verify = map_file(path)
        if check or "index" not in words or (check is None and size <= CHECKED):
            verify()
    else:
        words, arrays = open_file(path)
    kept, index = _records(path, words, arrays)
    if index is not None:
        return _of_large(path, kept, index)
    _refuse(path, "games", check_games(kept))
    layout = lay_out(kept.observations, kept.model)
    _refuse(path, "draws", check_draws(kept, layout))
    return _fields(kept, layout)


def _records(
    path: Path, words: dict[str, Any], arrays: Mapping[str, np.ndarray]
) -> tuple[Kept, Index | None]:
    """Return what words and arrays make."""
    index: Index | None = None
    try:
        if not {"format", "version", "answer"} <= set(words) <= WORDS_OF_ALL:
            raise RecordError("answer")
        kept: Kept = put_together(Kept, words["answer"], "answer", arrays)
        if "index" in words:
            index = put_together(Index, words["index"], "index", arrays)
    except ValueError:  # ours, or of a record that checks itself
        raise InputError(f"{path}: a part of it is missing or of another kind; {AGAIN}.") from None
    if len(arrays) != _n_arrays([words["answer"], words.get("index")]):
        raise InputError(f"{path}: it has arrays that belong to nothing; {AGAIN}.")
    return kept, index


def _of_large(path: Path, kept: Kept, index: Index) -> dict[str, Any]:
    """Return a large answer: what others are looked up by is checked, numbers are not."""
    n, terms = kept.observations.n_items, terms_of(kept.model)
    _refuse(path, "index", index.check(n, len(terms)) if n >= 2 else {"items": False})
    layout = index.layout(kept.observations, kept.model, terms)
    if kept.draws.states.ndim != 3:
        _refuse(path, "draws", {"states": False})
    kept = replace(kept, draws=by_state(kept.draws))
    _refuse(path, "draws", check_large(kept, layout))
    found = _fields(kept, layout)
    posterior = replace(found["posterior"], known=index.known)
    return {**found, "names": index.names, "posterior": posterior, "board": index.board}


def _fields(kept: Kept, layout: Layout) -> dict[str, Any]:
    """Return the fields of an answer."""
    posterior = Posterior(
        layout=layout,
        law=kept.law,
        draws=kept.draws,
        mixing=kept.mixing,
        way=kept.way,
        notes=kept.notes,
    )
    fields = ("names", "clock", "encoding", "story", "source", "seen", "transitive", "reading")
    return {"posterior": posterior, **{name: getattr(kept, name) for name in fields}}


def check_large(kept: Kept, layout: Layout) -> dict[str, bool]:
    """Return of the parts of a large answer whether they have the shapes of its index."""
    shaped = {**_shapes_of_games(kept, layout.seen.n_items), **_shapes_of_draws(kept, layout)}
    for name in (*SCALE_PARTS, "cuts"):
        part = getattr(kept.draws, name)
        shaped[name] &= _is_sound(part) and bool((part >= 0).all())
    times = "first and last times"
    shaped[times] = shaped[times] and bool(np.isfinite(kept.seen.last.max()))
    return shaped


def _shapes_of_games(kept: Kept, n: int) -> dict[str, bool]:
    """Return of the columns of cells and of n items whether they are as long as they should be."""
    seen, cells = kept.observations, len(kept.observations)
    spans = (kept.seen.first, kept.seen.last, kept.seen.games)
    columns = {name: getattr(seen, name) for name in CELL_COLUMNS}
    return {
        "law": kept.law.kind == seen.kind == kept.encoding.loss,
        "way": kept.way in WAYS,
        "pairs": seen.pairs.shape == (cells, 2) and cells >= 1,
        "codes": seen.codes.shape == (len(seen.values), cells),
        "first and last times": all(part.shape == (n,) for part in spans),
        **{name: part is None or part.shape == (cells,) for name, part in columns.items()},
    }


def _shapes_of_draws(kept: Kept, layout: Layout) -> dict[str, bool]:
    """Return of every part of the draws whether it has the shape that the layout asks for."""
    draws, n, numbers = kept.draws, len(kept.draws.newcomers), len(layout.numbers)
    width = _width(draws)
    shapes = {
        "states": (n, layout.items.n_states, 2 * width - 1),
        "scales": (n, width),
        "rates": (n, 2),
        "reversions": (n, 2),
        "number_scales": (n, numbers),
        "number_rates": (n, numbers),
        "number_reversions": (n, numbers),
        "newcomers": (n,),
        "noise": (n,),
        "chain": (n,),
        "steps": (n, 2 * width - 1),
    }
    parts = {name: getattr(draws, name) for name in shapes}
    wanted = [(n, one.paths.n_states) for one in layout.numbers]
    return {
        **{name: part is None or part.shape == shapes[name] for name, part in parts.items()},
        "number of draws": n >= 1 and width >= 1,
        "numbers": [part.shape for part in draws.numbers] == wanted,
        "cuts": draws.cuts.ndim == 2 and len(draws.cuts) == n,
    }


def _width(draws: Draws) -> int:
    """Return how many scales scores and planes have."""
    return draws.scales.shape[-1] if draws.scales.ndim == 2 else 0


def _refuse(path: Path, what: str, sound: Mapping[str, bool]) -> None:
    wrong = [name for name, is_sound in sound.items() if not is_sound]
    if wrong:
        raise InputError(f"{path}: its {what} do not fit its other parts ({wrong[0]}); {AGAIN}.")


def check_games(kept: Kept) -> dict[str, bool]:
    """Return of every part of the games whether it is sound: shapes first, before values."""
    seen, n = kept.observations, len(kept.names)
    columns = dict(seen.values)
    shaped = {
        "names": n == seen.n_items >= 2 and len(set(kept.names)) == n,
        "number of factors": kept.model.n_factors <= MOST_FACTORS,
        "covariates": len(columns) == len(seen.values)
        and {term.column for term in kept.model.by} <= set(columns),
        "clock": len(kept.clock.names) == len(kept.clock.numbers)
        and list(kept.clock.numbers) == sorted(kept.clock.numbers),
        "wins of readings": (seen.positive is not None) == (seen.kind == "squared"),
        **_shapes_of_games(kept, n),
    }
    if not all(shaped.values()):
        return shaped
    first, second = seen.pairs.T
    size = np.abs(seen.means)
    known = np.isfinite(kept.seen.last)
    widths = np.array([len(values) for values in columns.values()])[:, None]
    return {
        "pairs": bool(((first >= 0) & (first < second) & (second < n)).all()),
        "times": _is_sound(seen.times),
        "counts": _is_sound(seen.counts) and bool((seen.counts > 0).all()),
        "means": _is_sound(seen.means)
        and (seen.kind != "logistic" or bool(((seen.means >= 0) & (size <= 1)).all()))
        and (seen.kind != "ordered" or bool((size == np.rint(size)).all())),
        "sides": _is_sound(seen.sides) and bool((np.abs(seen.sides) <= 1).all()),
        "codes": bool(((seen.codes >= -1) & (seen.codes < widths)).all()),
        "wins of readings": seen.positive is None
        or bool(((seen.positive >= 0) & (seen.positive <= seen.counts)).all()),
        "first and last times": bool(known.any())
        and _is_sound(kept.seen.first[known])
        and _is_sound(kept.seen.last[known])
        and bool((kept.seen.first <= kept.seen.last)[known].all())
        and bool((kept.seen.last[~known] < 0).all()),
        "numbers of games": _is_sound(kept.seen.games) and bool((kept.seen.games >= 0).all()),
    }


def check_draws(kept: Kept, layout: Layout) -> dict[str, bool]:
    """Return of every part of the draws whether it is sound."""
    draws, sound = kept.draws, _shapes_of_draws(kept, layout)
    never_negative = (*SCALE_PARTS, "noise", "steps", "chain")
    for name in ("states", "newcomers", *never_negative):
        part = getattr(draws, name)
        sound[name] &= part is None or _is_sound(part)
        sound[name] &= part is None or name not in never_negative or bool((part >= 0).all())
    sound["factors"] = kept.way != "gibbs" or _width(draws) == 1 + layout.n_factors
    sound["numbers"] &= all(_is_sound(part) for part in draws.numbers)
    sound["cuts"] = (
        sound["cuts"]
        and _is_sound(draws.cuts)
        and draws.cuts.shape[1] >= layout.seen.n_levels
        and bool((draws.cuts >= 0).all() and (np.diff(draws.cuts, axis=1) >= 0).all())
        and (not kept.encoding.typical or len(kept.encoding.typical) == draws.cuts.shape[1] + 1)
    )
    sound["noise"] &= layout.seen.kind != "squared" or bool((draws.noise > 0).all())
    sound["mixing"] = kept.mixing is None or _mixing_is_sound(kept.mixing, len(kept.names))
    return sound


def _mixing_is_sound(mixing: Mixing, n_items: int) -> bool:
    n, m = len(mixing.scales), mixing.first.size
    return (
        all(part.shape == (n,) for part in (mixing.scale_r_hat, mixing.scale_effective))
        and all(
            part.shape == (m,)
            for part in (mixing.first, mixing.second, mixing.r_hat, mixing.effective)
        )
        and all(bool(((who >= 0) & (who < n_items)).all()) for who in (mixing.first, mixing.second))
    )


def _is_sound(values: np.ndarray) -> bool:
    """Return whether all are finite, and small enough to be squared."""
    return bool(np.isfinite(values).all()) and float(np.abs(values).max(initial=0)) <= LARGEST


def _n_arrays(words: Any) -> int:
    """Return how many arrays some words speak of."""
    if isinstance(words, list):
        return sum(_n_arrays(word) for word in words)
    if not isinstance(words, dict):
        return 0
    if set(words) == {"array"}:
        return 1
    return sum(_n_arrays(word) for word in words.values())
