"""An answer as one file, and back.

Words and arrays in one file: a zip with a version and a checksum; no pickle, no compression.

Nothing is believed of a file before it is checked.  Its parts are kept as they are, so that none
can be larger than the file itself, and an array is made only after the size that its header tells
has been compared with the bytes that are there.

Arrays are not compressed and begin at multiples of 64 bytes, so those of a large file can be left
there: `map_file` gives arrays whose bytes are read when they are looked at.

Records as plain words and arrays, and back: what comes back is checked against their types.

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

import hashlib
import io
import json
import mmap
import os
import struct
import tempfile
import tokenize
import types
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.ranking import leaderboard
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

FORMAT = "intransit answer"
VERSION = 5
AGAIN = "make it again with `intransit fit`"
WORDS, NUMBERS, SEAL = "answer.json", "arrays.npz", "sha256"
PARTS = (WORDS, NUMBERS, SEAL)
NUMBERS_KINDS = {"<f4", "<f8", "<i8", "|b1", "|u1"}  # of arrays that we write
HEAD = 200  # bytes of the words, in which the format is named
ALIGNED = 64  # bytes: where arrays begin, as NumPy's own do
PADDING = 0xD935  # the name that zipalign gives to bytes that fill up
HUGE = 1 << 30  # bytes of a part, from which its size is written in the longer form
AT_ONCE = 1 << 24  # bytes that are written or checked at once
ARRAY_HEAD = 10_000  # bytes that NumPy lets the header of an array have

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
    out = io.BytesIO()
    write_sealed(out, words, arrays)
    return out.getvalue()


def write_sealed(
    out: IO[bytes], words: Mapping[str, object], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write words and arrays as one file, sealed, an array at a time."""
    head = {"format": FORMAT, "version": VERSION, **words}
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False).encode()
    seal = hashlib.sha256(text)
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(zipfile.ZipInfo(WORDS), text)  # without the time of writing
        size = sum(array.nbytes for array in arrays.values())
        with _begin(file, NUMBERS, size) as inside:
            numbers = _Noted(inside, seal)
            with zipfile.ZipFile(numbers, "w") as inner:  # type: ignore[call-overload]
                for name, array in arrays.items():
                    with _begin(inner, f"{name}.npy", array.nbytes) as part:
                        _write_array(part, array)
        file.writestr(zipfile.ZipInfo(SEAL), seal.hexdigest())


class _Noted:
    """A file that is written from begin to end, with the checksum of what was written."""

    def __init__(self, out: IO[bytes], seal: Any) -> None:
        self._out, self._seal = out, seal

    def write(self, data: bytes) -> int:
        self._seal.update(data)
        return self._out.write(data)

    def flush(self) -> None:
        pass


def _begin(file: zipfile.ZipFile, name: str, size: int) -> IO[bytes]:
    """Begin a part of a zip whose content is aligned."""
    info = zipfile.ZipInfo(name)
    huge = size >= HUGE
    head = 30 + len(info.filename.encode()) + 4 + (20 if huge else 0)
    pad = -(file.fp.tell() + head) % ALIGNED  # type: ignore[union-attr]
    info.extra = struct.pack("<HH", PADDING, pad) + bytes(pad)
    return file.open(info, "w", force_zip64=huge)


def _write_array(out: IO[bytes], array: np.ndarray) -> None:
    """Write an array row by row, whatever its order in memory is, some megabytes at a time."""
    told = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(out, told)
    wide = array.reshape(1) if array.ndim == 0 else array
    step = max(AT_ONCE * len(wide) // max(wide.nbytes, 1), 1)
    for begin in range(0, len(wide), step):
        out.write(np.ascontiguousarray(wide[begin : begin + step]).tobytes())


def open_file(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return words and arrays of a file, or refuse it in one sentence."""
    _check_there(path)
    text, numbers, seal = _parts(path)
    head = _head(path, text)
    checksum = hashlib.sha256(text)
    checksum.update(numbers)
    if checksum.hexdigest().encode() != seal:
        raise InputError(f"{path}: its content does not match its checksum; {AGAIN}.")
    try:
        return head, _arrays(numbers)
    except SPOILED:
        raise InputError(f"{path}: its arrays cannot be read; {AGAIN}.") from None


def _check_there(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path}: it is a folder; give the file that `fit` wrote.")
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    if not path.is_file():
        raise InputError(f"{path}: it is no file; give the file that `fit` wrote.")


def _head(path: Path, text: bytes) -> dict[str, Any]:
    """Return the words of a file, which are ours and of our version."""
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
    return head


def map_file(
    path: Path,
) -> tuple[dict[str, Any], dict[str, np.ndarray], Callable[[], None]]:
    """Return words, arrays that stay in the file until they are looked at, and how to verify it.

    Sizes and kinds of all arrays are compared with the bytes that are there; to verify is to read
    all of them for the checksum.  What is written into such an array stays in this process.
    """
    _check_there(path)
    try:
        with path.open("rb") as held, zipfile.ZipFile(held) as file:
            parts = _listed(file, os.fstat(held.fileno()).st_size, PARTS)
            text, seal = file.read(WORDS), file.read(SEAL)
            held_bytes = mmap.mmap(held.fileno(), 0, access=mmap.ACCESS_COPY)
        begin = _content(held_bytes, parts[NUMBERS].header_offset)
        size = parts[NUMBERS].file_size
        if begin + size > len(held_bytes):
            raise ValueError("larger than its file")
        arrays = _mapped(held_bytes, begin, size)
    except PermissionError:
        raise InputError(f"{path}: it may not be read; ask for the right to.") from None
    except SPOILED:
        raise InputError(
            f"{path}: it is no answer of intransit, or was cut short or altered; {AGAIN}."
        ) from None

    def verify() -> None:
        checksum = hashlib.sha256(text)
        for at in range(begin, begin + size, AT_ONCE):
            checksum.update(held_bytes[at : min(at + AT_ONCE, begin + size)])
        if checksum.hexdigest().encode() != seal:
            raise InputError(f"{path}: its content does not match its checksum; {AGAIN}.")

    return _head(path, text), arrays, verify


def _content(held: mmap.mmap, header: int) -> int:
    """Return where the content of a part begins, from the header before it."""
    fixed = held[header : header + 30]
    if len(fixed) < 30 or fixed[:4] != b"PK\x03\x04":
        raise ValueError("no header where there should be one")
    name, extra = struct.unpack("<HH", fixed[26:30])
    return int(header + 30 + name + extra)


def _mapped(held: mmap.mmap, begin: int, size: int) -> dict[str, np.ndarray]:
    """Return the arrays of the inner file, which begins there, without reading them."""
    with zipfile.ZipFile(_Window(held, begin, size)) as file:
        names = file.namelist()
        if len(set(names)) != len(names) or not all(name.endswith(".npy") for name in names):
            raise ValueError("names twice, or of something else")
        parts = _listed(file, size, names)
    found = {}
    for name, info in parts.items():
        at = _content(held, begin + info.header_offset)
        if at + info.file_size > begin + size:
            raise ValueError("larger than its file")
        shape, by_columns, dtype, skipped = _header(held[at : at + ARRAY_HEAD], info.file_size)
        if by_columns and len(shape) > 1:
            raise ValueError("columns first, as none of ours is")
        flat = np.frombuffer(held, dtype, int(np.prod(shape, dtype=object)), at + skipped)
        found[name.removesuffix(".npy")] = flat.reshape(shape)
    return found


class _Window(io.RawIOBase):
    """A part of a mapped file, as a file."""

    def __init__(self, held: mmap.mmap, begin: int, size: int) -> None:
        self._held, self._begin, self._size, self._at = held, begin, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0) -> int:
        self._at = max(place + (0, self._at, self._size)[whence], 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, n: int = -1) -> bytes:
        end = self._size if n is None or n < 0 else min(self._at + n, self._size)
        data = self._held[self._begin + self._at : self._begin + max(end, self._at)]
        self._at = max(end, self._at)
        return data


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
    _listed(file, size, names)
    return [file.read(name) for name in names]


def _listed(file: zipfile.ZipFile, size: int, names: Sequence[str]) -> dict[str, zipfile.ZipInfo]:
    """Return the parts of a zip, which must have these names, each once, and be plain."""
    there = file.infolist()
    if sorted(info.filename for info in there) != sorted(names):
        raise ValueError("other names than these")
    if any(info.compress_type != zipfile.ZIP_STORED or info.is_dir() for info in there):
        raise ValueError("compressed, as no answer is")
    if any(info.file_size != info.compress_size for info in there):
        raise ValueError("sizes that disagree")
    if sum(info.file_size for info in there) > size:
        raise ValueError("larger than its file")
    return {info.filename: info for info in there}


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
    shape, by_columns, dtype, skipped = _header(part, len(part))
    flat = np.frombuffer(part, dtype, int(np.prod(shape, dtype=object)), skipped).copy()
    return flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)


def _header(part: bytes, size: int) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, order, kind and place of an array, whose part of a file is so large."""
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
    if count * dtype.itemsize != size - held.tell():
        raise ValueError("an array of another size than it tells")
    return shape, by_columns, dtype, held.tell()


def _refuse_constant(word: str) -> float:
    raise ValueError(word)  # NaN and Infinity, which we never write


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
    seen, draws, n = kept.observations, kept.draws, layout.seen.n_items
    cells, n_draws = len(seen.times), len(kept.draws.newcomers)
    width = draws.scales.shape[-1] if draws.scales.ndim == 2 else 0
    small = (draws.scales, draws.rates, draws.number_scales, draws.number_rates, draws.cuts)
    return {
        "law": kept.law.kind == seen.kind == kept.encoding.loss,
        "way": kept.way in WAYS,
        "number of draws": n_draws >= 1 and width >= 1,
        "states": draws.states.shape == (n_draws, layout.items.n_states, 2 * width - 1),
        "numbers": len(draws.numbers) == len(layout.numbers)
        and all(
            part.shape == (n_draws, one.paths.n_states)
            for part, one in zip(draws.numbers, layout.numbers, strict=False)
        ),
        "scales": all(part.ndim == 2 and len(part) == n_draws for part in small)
        and all(_is_sound(part) and bool((part >= 0).all()) for part in small),
        "steps": draws.steps is None or draws.steps.shape == (n_draws, 2 * width - 1),
        "noise": draws.noise.shape == draws.chain.shape == (n_draws,),
        "games": seen.pairs.shape == (cells, 2)
        and all(
            part.shape == (cells,) for part in (seen.times, seen.counts, seen.means, seen.sides)
        ),
        "covariates": seen.codes.shape == (len(seen.values), cells),
        "first and last times": all(
            part.shape == (n,) for part in (kept.seen.first, kept.seen.last, kept.seen.games)
        )
        and bool(np.isfinite(kept.seen.last.max())),
    }


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
