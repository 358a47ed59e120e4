"""An answer as one file, and back.

Words and arrays in one file: a zip with a version and a checksum; no pickle, no compression.

Nothing is believed of a file before it is checked.  Its parts are kept as they are, so that none
can be larger than the file itself, and an array is made only after the size that its header tells
has been compared with the bytes that are there.

Records as plain words and arrays, and back: what comes back is checked against their types.

A record is a frozen dataclass.  Its arrays are put aside under the name of their field, such as
``draws.states`` or ``draws.numbers.0``; the rest becomes what JSON can hold, with the name of the
type, so that a field may hold one of several.

Every field of the answer is kept but the games themselves: observations, model, draws, how they
mixed, and all that is said in words.  A file is written beside its place and moved there whole;
what is read back is checked for its types, shapes and values before anything is made of it.
"""

import hashlib
import io
import json
import os
import struct
import tempfile
import tokenize
import types
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.verdict import Transitivity
from intransit.checks import LARGEST, shown
from intransit.data.clock import Clock
from intransit.data.reading import Reading
from intransit.errors import InputError
from intransit.inference.observations import Encoding, Observations, Seen
from intransit.inference.paths import Layout, lay_out
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws, Mixing
from intransit.model import Model, OutcomeLaw

FORMAT = "intransit answer"
VERSION = 5
AGAIN = "make it again with `intransit fit`"
WORDS, NUMBERS, SEAL = "answer.json", "arrays.npz", "sha256"
PARTS = (WORDS, NUMBERS, SEAL)
NUMBERS_KINDS = {"<f4", "<f8", "<i8", "|b1"}  # of arrays that we write
HEAD = 200  # bytes of the words, in which the format is named

# What zipfile and json raise for bytes that are no zip or no JSON.
SPOILED = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RecursionError,
    RuntimeError,  # encrypted
    SyntaxError,
    ValueError,
    struct.error,
    tokenize.TokenError,  # the header of an array
)


def seal_file(words: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return words and arrays as one file, sealed."""
    head = {"format": FORMAT, "version": VERSION, **words}
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False).encode()
    numbers = io.BytesIO()
    np.savez(numbers, **arrays)  # type: ignore[arg-type]
    seal = hashlib.sha256(text + numbers.getvalue()).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in zip(PARTS, (text, numbers.getvalue(), seal), strict=True):
            file.writestr(zipfile.ZipInfo(name), content)  # without the time of writing
    return out.getvalue()


def open_file(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return words and arrays of a file, or refuse it in one sentence."""
    if path.is_dir():
        raise InputError(f"{path}: it is a folder; give the file that `fit` wrote.")
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    if not path.is_file():
        raise InputError(f"{path}: it is no file; give the file that `fit` wrote.")
    text, numbers, seal = _parts(path)
    try:
        head = json.loads(text, parse_constant=_refuse_constant)
    except SPOILED:
        raise InputError(f"{path}: its words cannot be read; {AGAIN}.") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(f"{path}: it is no answer of intransit; {AGAIN}.")
    if head.get("version") != VERSION:
        raise InputError(
            f"{path}: it has version {str(head.get('version'))[:20]} and this intransit reads "
            f"version {VERSION}; {AGAIN}, or install the version that wrote it."
        )
    checksum = hashlib.sha256(text)
    checksum.update(numbers)
    if checksum.hexdigest().encode() != seal:
        raise InputError(f"{path}: its content does not match its checksum; {AGAIN}.")
    try:
        return head, _arrays(numbers)
    except SPOILED:
        raise InputError(f"{path}: its arrays cannot be read; {AGAIN}.") from None


def is_sealed(path: Path) -> bool:
    """Return whether a file looks like one of ours, from its first words."""
    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as file, file.open(WORDS) as words:
            return f'"format": "{FORMAT}"'.encode() in words.read(HEAD)
    except SPOILED:
        return False


def _parts(path: Path) -> list[bytes]:
    """Return the parts of a file, each there once and none larger than the file."""
    try:
        with path.open("rb") as held, zipfile.ZipFile(held) as file:
            if not any(name == WORDS for name in file.namelist()):
                raise InputError(f"{path}: it is no answer of intransit; {AGAIN}.")
            return _members(file, path.stat().st_size, PARTS)
    except PermissionError:
        raise InputError(f"{path}: it may not be read; ask for the right to.") from None
    except SPOILED as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path}: it is no answer of intransit, or was cut short or altered; {AGAIN}."
        ) from None


def _members(file: zipfile.ZipFile, size: int, names: Sequence[str]) -> list[bytes]:
    """Return what is in a zip, which must hold these names, each once, and be so large at most."""
    there = file.infolist()
    if sorted(info.filename for info in there) != sorted(names):
        raise ValueError("other names than these")
    if any(info.compress_type != zipfile.ZIP_STORED or info.is_dir() for info in there):
        raise ValueError("compressed, as no answer is")
    if any(info.file_size != info.compress_size for info in there):
        raise ValueError("sizes that disagree")
    if sum(info.file_size for info in there) > size:
        raise ValueError("larger than its file")
    return [file.read(name) for name in names]


def _arrays(numbers: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of the inner file."""
    with zipfile.ZipFile(io.BytesIO(numbers)) as file:
        names = file.namelist()
        if len(set(names)) != len(names) or not all(name.endswith(".npy") for name in names):
            raise ValueError("names twice, or of something else")
        parts = _members(file, len(numbers), names)
    return {
        name.removesuffix(".npy"): _array(part) for name, part in zip(names, parts, strict=True)
    }


def _array(part: bytes) -> np.ndarray:
    """Return one array, after comparing the size that it tells with the bytes that are there."""
    held = io.BytesIO(part)
    version = np.lib.format.read_magic(held)
    if version != (1, 0):
        raise ValueError("another format of arrays")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(held)
    if dtype.str not in NUMBERS_KINDS or any(n < 0 for n in shape):
        raise ValueError("another kind of array")
    count = 1
    for n in shape:
        count *= n
    if count * dtype.itemsize != len(part) - held.tell():
        raise ValueError("an array of another size than it tells")
    flat = np.frombuffer(part, dtype, count, held.tell()).copy()
    return flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)


def _refuse_constant(word: str) -> float:
    raise ValueError(word)  # NaN and Infinity, which we never write


Arrays = dict[str, np.ndarray]
KINDS = {np.float64: "f", np.int64: "i", np.bool_: "b"}  # of arrays; floats may be single ones

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
        return _typed_array(get_args(get_args(kind)[1])[0], words, name, arrays)
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
    folder = path.parent if str(path.parent) else Path(".")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
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


def pack(answer: FittedTable) -> bytes:
    """Return an answer as one file."""
    posterior = answer.posterior
    kept = Kept(
        names=answer.names,
        clock=answer.clock,
        encoding=answer.encoding,
        story=answer.story,
        source=answer.source,
        transitive=answer.transitive,
        reading=answer.reading,
        way=posterior.way,
        notes=posterior.notes,
        seen=answer.seen,
        observations=posterior.layout.seen,
        draws=posterior.draws,
        mixing=posterior.mixing,
        model=posterior.layout.model,
        law=posterior.law,
    )
    arrays: dict[str, np.ndarray] = {}
    return seal_file({"answer": take_apart(kept, "answer", arrays)}, arrays)


def unpack(path: Path) -> dict[str, Any]:
    """Return the fields of an answer that was kept."""
    words, arrays = open_file(path)
    try:
        if set(words) != {"format", "version", "answer"}:
            raise RecordError("answer")
        kept: Kept = put_together(Kept, words["answer"], "answer", arrays)
    except ValueError:  # ours, or of a record that checks itself
        raise InputError(f"{path}: a part of it is missing or of another kind; {AGAIN}.") from None
    if len(arrays) != _n_arrays(words["answer"]):
        raise InputError(f"{path}: it has arrays that belong to nothing; {AGAIN}.")
    _refuse(path, "games", check_games(kept))
    layout = lay_out(kept.observations, kept.model)
    _refuse(path, "draws", check_draws(kept, layout))
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


def _refuse(path: Path, what: str, sound: Mapping[str, bool]) -> None:
    wrong = [name for name, is_sound in sound.items() if not is_sound]
    if wrong:
        raise InputError(f"{path}: its {what} do not fit its other parts ({wrong[0]}); {AGAIN}.")


def check_games(kept: Kept) -> dict[str, bool]:
    """Return of every part of the games whether it is sound: shapes first, before values."""
    seen, n, cells = kept.observations, len(kept.names), len(kept.observations)
    columns = dict(seen.values)
    shaped = {
        "names": n == seen.n_items >= 2 and len(set(kept.names)) == n,
        "law": kept.law.kind == seen.kind == kept.encoding.loss,
        "way": kept.way in WAYS,
        "number of factors": kept.model.n_factors <= MOST_FACTORS,
        "covariates": len(columns) == len(seen.values)
        and {term.column for term in kept.model.by} <= set(columns),
        "clock": len(kept.clock.names) == len(kept.clock.numbers)
        and list(kept.clock.numbers) == sorted(kept.clock.numbers),
        "pairs": seen.pairs.shape == (cells, 2) and cells >= 1,
        "codes": seen.codes.shape == (len(columns), cells),
        "first and last times": all(
            part.shape == (n,) for part in (kept.seen.first, kept.seen.last, kept.seen.games)
        ),
        "wins of readings": (seen.positive is not None) == (seen.kind == "squared"),
    }
    for name in ("times", "counts", "means", "sides", "positive"):
        part = getattr(seen, name)
        shaped[name] = part is None or part.shape == (cells,)
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
    draws, n = kept.draws, len(kept.draws.newcomers)
    width = draws.scales.shape[-1] if draws.scales.ndim == 2 else 0
    numbers = len(layout.numbers)
    cuts = layout.seen.n_levels
    shapes = {
        "states": (n, layout.items.n_states, 2 * width - 1),
        "scales": (n, width),
        "rates": (n, 2),
        "number_scales": (n, numbers),
        "number_rates": (n, numbers),
        "newcomers": (n,),
        "noise": (n,),
        "chain": (n,),
        "steps": (n, 2 * width - 1),
    }
    sound = {
        name: (part := getattr(draws, name)) is None or (part.shape == shape and _is_sound(part))
        for name, shape in shapes.items()
    }
    for name in ("scales", "rates", "number_scales", "number_rates", "noise", "steps", "chain"):
        part = getattr(draws, name)
        sound[name] &= part is None or bool((part >= 0).all())
    sound["number of draws"] = n >= 1 and width >= 1
    sound["factors"] = kept.way != "gibbs" or width == 1 + layout.n_factors
    sound["numbers"] = len(draws.numbers) == numbers and all(
        part.shape == (n, one.paths.n_states) and _is_sound(part)
        for part, one in zip(draws.numbers, layout.numbers, strict=False)
    )
    sound["cuts"] = (
        draws.cuts.ndim == 2
        and len(draws.cuts) == n
        and _is_sound(draws.cuts)
        and draws.cuts.shape[1] >= cuts
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
