"""An answer as one file, and back: nothing is believed of a file before it is checked.

A file is words and arrays in a zip, with a version and a checksum; no pickle, no compression.  Its
parts are kept as they are, so that none can be larger than the file itself, and an array is made
only after the size that its header tells has been compared with the bytes that are there.  Arrays
begin at multiples of 64 bytes, so that those of a large file can be left there, to be read when
they are looked at.

Every field of the answer is kept but the games themselves.  What is read back is checked against
the types of its records (`stored`), then for shapes and values.  A file is written beside its place
and moved there whole.  A large answer is the same file with an index, and is asked where it lies:
shapes are checked when it is opened, and whatever others are looked up by; all the rest by the
checksum, if that is asked for.
"""

import hashlib
import io
import json
import math
import mmap
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from intransit.analysis import MANY, FittedTable
from intransit.analysis.standings import leaderboard
from intransit.analysis.stored import LARGE, Arrays, Index, RecordError, put_together, take_apart
from intransit.analysis.verdict import Transitivity
from intransit.checks import LARGEST
from intransit.data.games import Clock
from intransit.data.reading import Reading
from intransit.errors import InputError
from intransit.inference.observations import Encoding, Observations, Seen
from intransit.inference.paths import Layout, lay_out, terms_of
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws, Mixing
from intransit.model import Model, OutcomeLaw

FORMAT = "intransit answer"
VERSION = 10
AGAIN = "make it again with `intransit fit`"
WORDS, NUMBERS, SEAL = PARTS = "answer.json", "arrays.npz", "sha256"
DTYPES = {"<f4", "<f8", "<i8", "|b1", "|u1"}  # of arrays that we write
HEAD = 200  # bytes of the words, in which the format is named
ALIGNED = 64  # bytes: where arrays begin, as NumPy's own do
PADDING = 0xD935  # the name that zipalign gives to bytes that fill up
HUGE = 1 << 30  # bytes of a part, from which its size is written in the longer form
AT_ONCE = 1 << 24  # bytes that are written or checked at once
ARRAY_HEAD = 10_000  # bytes that NumPy lets the header of an array have


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


class SealedFile:
    """A file that is open: its words, its checksum, and its arrays, which need not be read."""

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise InputError(f"{path}: it is a folder; give the file that `fit` wrote.")
        if not path.exists():
            raise InputError(f"{path}: there is no such file.")
        if not path.is_file():
            raise InputError(f"{path}: it is not a file; give the file that `fit` wrote.")
        self.path, self.size = path, path.stat().st_size
        try:
            with path.open("rb") as file, zipfile.ZipFile(file) as outer:
                parts = _parts(outer, self.size)
                if set(parts) != set(PARTS):
                    raise ValueError("other parts than these")
                self._text, self._seal = outer.read(WORDS), outer.read(SEAL)
                self._begin = _content(file, parts[NUMBERS])
                end = self._begin + parts[NUMBERS].file_size
                self._held = mmap.mmap(file.fileno(), end, access=mmap.ACCESS_COPY)
        except PermissionError:
            raise InputError(f"{path}: it may not be read; ask for the right to.") from None
        except Exception:  # whatever bytes that are no zip make zipfile raise
            raise InputError(
                f"{path}: it is not an intransit answer, or was cut short or altered; {AGAIN}."
            ) from None
        self.words = self._read_words()

    def _read_words(self) -> dict[str, Any]:
        """Return the words of the file, which are ours and of our version."""
        try:
            words = json.loads(self._text, parse_constant=_refuse_constant)
        except Exception:  # whatever text that is no JSON makes json raise
            raise InputError(f"{self.path}: its words cannot be read; {AGAIN}.") from None
        if not isinstance(words, dict) or words.get("format") != FORMAT:
            raise InputError(f"{self.path}: it is not an intransit answer; {AGAIN}.")
        if words.get("version") != VERSION:
            raise InputError(
                f"{self.path}: it has version {str(words.get('version'))[:20]} and this intransit "
                f"reads version {VERSION}; {AGAIN}, or install the version that wrote it."
            )
        return words

    def verify(self) -> None:
        """Compare all of it with its checksum."""
        checksum = hashlib.sha256(self._text)
        for at in range(self._begin, len(self._held), AT_ONCE):
            checksum.update(self._held[at : at + AT_ONCE])
        if checksum.hexdigest().encode() != self._seal:
            raise InputError(f"{self.path}: its content does not match its checksum; {AGAIN}.")

    def arrays(self, *, copied: bool) -> Arrays:
        """Return the arrays: copied, or as they lie in the file, to be read when looked at.

        Sizes and kinds of all are compared with the bytes that are there.  What is written into an
        array stays in this process.
        """
        try:
            # The map ends where the inner zip does; zipfile passes over what stands before one.
            with zipfile.ZipFile(self._held) as inner:  # type: ignore[call-overload]
                parts = _parts(inner, len(self._held) - self._begin)
            found = {name.removesuffix(".npy"): self._array(info) for name, info in parts.items()}
            return {name: one.copy() if copied else one for name, one in found.items()}
        except Exception:  # whatever zipfile and NumPy raise
            raise InputError(f"{self.path}: its arrays cannot be read; {AGAIN}.") from None

    def _array(self, info: zipfile.ZipInfo) -> np.ndarray:
        at = _content(self._held, info)
        head = io.BytesIO(self._held[at : at + ARRAY_HEAD])
        version = np.lib.format.read_magic(head)
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(head)
        n, size = math.prod(shape), info.file_size - head.tell()
        ours = version == (1, 0) and dtype.str in DTYPES and not (by_columns and len(shape) > 1)
        if not ours or min(shape, default=0) < 0 or n * dtype.itemsize != size:
            raise ValueError("none of ours, or of another size than it tells")
        return np.frombuffer(self._held, dtype, n, at + head.tell()).reshape(shape)


def _parts(file: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the parts of a zip of so many bytes: each there once, and plain."""
    there = file.infolist()
    parts = {info.filename: info for info in there}
    plain = all(
        info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size
        for info in there
    )
    if not plain or len(parts) != len(there) or sum(info.file_size for info in there) > size:
        raise ValueError("compressed, there twice, or larger than its file")
    return parts


def _content(file: IO[bytes] | mmap.mmap, info: zipfile.ZipInfo) -> int:
    """Return where the content of a part begins, from the header before it."""
    file.seek(info.header_offset)
    fixed = file.read(30)
    if len(fixed) < 30 or fixed[:4] != b"PK\x03\x04":
        raise ValueError("no header where there should be one")
    name, extra = struct.unpack("<HH", fixed[26:30])
    return int(info.header_offset + 30 + name + extra)


def is_sealed(path: Path) -> bool:
    """Return whether a file looks like one of ours, from its first words."""
    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as file, file.open(WORDS) as words:
            return f'"format": "{FORMAT}"'.encode() in words.read(HEAD)
    except Exception:  # no zip, or one without words
        return False


def _refuse_constant(word: str) -> float:
    raise ValueError(word)  # NaN and Infinity, which we never write


MOST_FACTORS = 1_000  # more than any table can tell apart
WAYS = ("gibbs", "newton", "filter")  # in which draws are made
SCALES = tuple(  # of draws
    f"{of}{part}" for of in ("", "number_") for part in ("scales", "rates", "reversions")
)
SPANS = "first and last times"
CELL_COLUMNS = ("times", "counts", "means", "sides", "positive")
SMALL = 1 << 26  # bytes: files up to that are read whole
CHECKED = 1 << 28  # bytes: those up to that are compared with their checksum when they are opened


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


def shared(record: Any, kind: type) -> dict[str, Any]:
    """Return what `Kept` has in common with another kind of record, of one of either."""
    names = {entry.name for entry in fields(kind)} & {entry.name for entry in fields(Kept)}
    return {name: getattr(record, name) for name in sorted(names)}


def is_large(answer: FittedTable) -> bool:
    """Return whether an answer is kept so that it can be asked where it lies."""
    seen, states = answer.posterior.layout.seen, answer.posterior.draws.states
    size = states.nbytes + sum(
        part.nbytes for part in vars(seen).values() if hasattr(part, "nbytes")
    )
    return answer.n_items > MANY or size > LARGE


def write_answer(file: IO[bytes], answer: FittedTable, *, large: bool) -> None:
    """Write an answer; a large one with its index, and its names there."""
    posterior = answer.posterior
    kept = Kept(
        observations=posterior.layout.seen,
        model=posterior.layout.model,
        **shared(answer, FittedTable),
        **shared(posterior, Posterior),
    )
    if large:
        kept = replace(kept, names=(), draws=by_state(kept.draws))
    arrays: Arrays = {}
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
    file = SealedFile(path)
    whole = file.size <= small
    if whole or check or "index" not in file.words or (check is None and file.size <= CHECKED):
        file.verify()
    kept, index = _records(path, file.words, file.arrays(copied=whole))
    if index is not None:
        return _of_large(path, kept, index)
    _refuse(path, "games", check_games(kept))
    layout = lay_out(kept.observations, kept.model)
    _refuse(path, "draws", check_draws(kept, layout))
    return _fields(kept, layout)


def _records(path: Path, words: dict[str, Any], arrays: Arrays) -> tuple[Kept, Index | None]:
    """Return what words and arrays make."""
    kinds = {"answer": Kept, "index": Index}
    try:
        if not {"answer"} <= set(words) - {"format", "version"} <= set(kinds):
            raise RecordError("answer")
        found = {
            name: put_together(kind, words[name], name, arrays)
            for name, kind in kinds.items()
            if name in words
        }
    except ValueError:  # ours, or of a record that checks itself
        raise InputError(f"{path}: a part of it is missing or of another kind; {AGAIN}.") from None
    if arrays:
        raise InputError(f"{path}: it has arrays that belong to nothing; {AGAIN}.")
    return found["answer"], found.get("index")


def _of_large(path: Path, kept: Kept, index: Index) -> dict[str, Any]:
    """Return a large answer: what others are looked up by is checked, numbers are not."""
    n, terms = kept.observations.n_items, terms_of(kept.model)
    _refuse(path, "index", index.check(n, len(terms)) if n >= 2 else {"items": False})
    layout = index.layout(kept.observations, kept.model, terms)
    _refuse(path, "draws", {"states": kept.draws.states.ndim == 3})
    kept = replace(kept, draws=by_state(kept.draws))
    _refuse(path, "draws", check_large(kept, layout))
    found = _fields(kept, layout)
    posterior = replace(found["posterior"], known=index.known)
    return {**found, "names": index.names, "posterior": posterior, "board": index.board}


def _fields(kept: Kept, layout: Layout) -> dict[str, Any]:
    """Return the fields of an answer."""
    posterior = Posterior(layout=layout, **shared(kept, Posterior))
    return {"posterior": posterior, **shared(kept, FittedTable)}


def check_large(kept: Kept, layout: Layout) -> dict[str, bool]:
    """Return of the parts of a large answer whether they have the shapes of its index."""
    sound = {**_shapes_of_games(kept, layout.seen.n_items), **_shapes_of_draws(kept, layout)}
    for name in (*SCALES, "cuts"):
        sound[name] &= _within(getattr(kept.draws, name), 0.0)
    sound[SPANS] &= bool(np.isfinite(kept.seen.last.max(initial=-np.inf)))
    return sound


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
    known = np.isfinite(kept.seen.last)
    begin, end = kept.seen.first, kept.seen.last
    widths = np.array([len(values) for values in columns.values()])[:, None]
    least, most = (0.0, 1.0) if seen.kind == "logistic" else (-LARGEST, LARGEST)
    return {
        "pairs": _within(first, 0) and _within(second, 0, n - 1) and bool((first < second).all()),
        "times": _within(seen.times),
        "counts": _within(seen.counts, 0.0) and bool(seen.counts.all()),
        "means": _within(seen.means, least, most)
        and (seen.kind != "ordered" or bool((seen.means == np.rint(seen.means)).all())),
        "sides": _within(seen.sides, -1.0, 1.0),
        "codes": bool(((seen.codes >= -1) & (seen.codes < widths)).all()),
        "wins of readings": seen.positive is None
        or bool(((seen.positive >= 0) & (seen.positive <= seen.counts)).all()),
        SPANS: bool(known.any() and (begin <= end)[known].all() and (end[~known] < 0).all())
        and _within(begin[known])
        and _within(end[known]),
        "numbers of games": _within(kept.seen.games, 0.0),
    }


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
        SPANS: all(part.shape == (n,) for part in spans),
        **{name: part is None or part.shape == (cells,) for name, part in columns.items()},
    }


def check_draws(kept: Kept, layout: Layout) -> dict[str, bool]:
    """Return of every part of the draws whether it is sound."""
    draws, mixing, sound = kept.draws, kept.mixing, _shapes_of_draws(kept, layout)
    signed = ("states", "newcomers")
    for name in (*signed, *SCALES, "tiers", "jumps", "noise", "chain"):
        sound[name] &= _within(getattr(draws, name), -LARGEST if name in signed else 0.0)
    sound["steps"] &= draws.steps is None or _within(draws.steps, 0.0)
    sound["factors"] = kept.way != "gibbs" or _width(draws) == 1 + layout.n_factors
    sound["numbers"] &= all(_within(part) for part in draws.numbers)
    sound["cuts"] = (
        sound["cuts"]
        and _within(draws.cuts, 0.0)
        and draws.cuts.shape[1] >= layout.seen.n_levels
        and bool((np.diff(draws.cuts, axis=1) >= 0).all())
        and (not kept.encoding.typical or len(kept.encoding.typical) == draws.cuts.shape[1] + 1)
    )
    sound["noise"] &= layout.seen.kind != "squared" or bool(draws.noise.all())
    sound["mixing"] = mixing is None or _mixing_is_sound(mixing, len(kept.names))
    return sound


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
        "tiers": (n,),
        "jumps": (n,),
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


def _mixing_is_sound(mixing: Mixing, n_items: int) -> bool:
    of_scales = (mixing.scale_r_hat, mixing.scale_effective)
    of_pairs = (mixing.first, mixing.second, mixing.r_hat, mixing.effective)
    return (
        all(part.shape == (len(mixing.scales),) for part in of_scales)
        and all(part.shape == (mixing.first.size,) for part in of_pairs)
        and all(_within(who, 0, n_items - 1) for who in (mixing.first, mixing.second))
    )


def _refuse(path: Path, what: str, sound: Mapping[str, bool]) -> None:
    wrong = [name for name, is_sound in sound.items() if not is_sound]
    if wrong:
        raise InputError(f"{path}: its {what} do not fit its other parts ({wrong[0]}); {AGAIN}.")


def _within(values: np.ndarray, least: float = -LARGEST, most: float = LARGEST) -> bool:
    """Return whether all are numbers from the least to the most; all of ours can be squared."""
    return not values.size or (least <= float(values.min()) and float(values.max()) <= most)
