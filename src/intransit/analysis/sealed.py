"""Words and arrays in one file: a zip with a version and a checksum; no pickle, no compression.

Nothing is believed of a file before it is checked.  Its parts are kept as they are, so that none
can be larger than the file itself, and an array is made only after the size that its header tells
has been compared with the bytes that are there.

Arrays are not compressed and begin at multiples of 64 bytes, so those of a large file can be left
there: `map_file` gives arrays whose bytes are read when they are looked at.
"""

import hashlib
import io
import json
import mmap
import os
import struct
import tokenize
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from intransit.errors import InputError

Arrays = dict[str, np.ndarray]

FORMAT = "intransit answer"
VERSION = 6
AGAIN = "make it again with `intransit fit`"
CUT_SHORT = "it is no answer of intransit, or was cut short or altered"
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


def open_file(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return words and arrays of a file, or refuse it in one sentence."""
    file = _Sealed(path)
    file.verify()
    try:
        return file.words, {name: array.copy() for name, array in file.arrays().items()}
    except SPOILED:
        raise InputError(f"{path}: its arrays cannot be read; {AGAIN}.") from None


def map_file(path: Path) -> tuple[dict[str, Any], Arrays, Callable[[], None]]:
    """Return words, arrays that stay in the file until they are looked at, and how to verify it.

    Sizes and kinds of all arrays are compared with the bytes that are there; to verify is to read
    all of them for the checksum.  What is written into such an array stays in this process.
    """
    file = _Sealed(path)
    try:
        return file.words, file.arrays(), file.verify
    except SPOILED:
        raise InputError(f"{path}: {CUT_SHORT}; {AGAIN}.") from None


class _Sealed:
    """A file that is open: its words, its checksum, and its arrays, which need not be read."""

    def __init__(self, path: Path) -> None:
        _check_there(path)
        self.path = path
        try:
            with path.open("rb") as held, zipfile.ZipFile(held) as file:
                parts = _listed(file, os.fstat(held.fileno()).st_size, PARTS)
                self._text, self._seal = file.read(WORDS), file.read(SEAL)
                self._held = mmap.mmap(held.fileno(), 0, access=mmap.ACCESS_COPY)
            self._begin = _content(self._held, parts[NUMBERS].header_offset)
            self._end = self._begin + parts[NUMBERS].file_size
            if self._end > len(self._held):
                raise ValueError("larger than its file")
        except PermissionError:
            raise InputError(f"{path}: it may not be read; ask for the right to.") from None
        except SPOILED:
            raise InputError(f"{path}: {CUT_SHORT}; {AGAIN}.") from None
        self.words = _head(path, self._text)

    def verify(self) -> None:
        """Compare all of it with its checksum."""
        checksum = hashlib.sha256(self._text)
        for at in range(self._begin, self._end, AT_ONCE):
            checksum.update(self._held[at : min(at + AT_ONCE, self._end)])
        if checksum.hexdigest().encode() != self._seal:
            raise InputError(f"{self.path}: its content does not match its checksum; {AGAIN}.")

    def arrays(self) -> Arrays:
        """Return the arrays of the inner file, without reading them."""
        size = self._end - self._begin
        with zipfile.ZipFile(_Window(self._held, self._begin, size)) as file:
            names = file.namelist()
            if len(set(names)) != len(names) or not all(name.endswith(".npy") for name in names):
                raise ValueError("names twice, or of something else")
            parts = _listed(file, size, names)
        found = {}
        for name, info in parts.items():
            at = _content(self._held, self._begin + info.header_offset)
            if at + info.file_size > self._end:
                raise ValueError("larger than its file")
            head = self._held[at : at + ARRAY_HEAD]
            shape, by_columns, dtype, skipped = _header(head, info.file_size)
            if by_columns and len(shape) > 1:
                raise ValueError("columns first, as none of ours is")
            n = int(np.prod(shape, dtype=object))
            flat = np.frombuffer(self._held, dtype, n, at + skipped)
            found[name.removesuffix(".npy")] = flat.reshape(shape)
        return found


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


def _content(held: mmap.mmap, header: int) -> int:
    """Return where the content of a part begins, from the header before it."""
    fixed = held[header : header + 30]
    if len(fixed) < 30 or fixed[:4] != b"PK\x03\x04":
        raise ValueError("no header where there should be one")
    name, extra = struct.unpack("<HH", fixed[26:30])
    return int(header + 30 + name + extra)


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
