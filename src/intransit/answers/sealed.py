"""Words and arrays in one file: a zip with a version and a checksum; no pickle, no compression.

Nothing is believed of a file before it is checked.  Its parts are kept as they are, so that none
can be larger than the file itself, and an array is made only after the size that its header tells
has been compared with the bytes that are there.
"""

import hashlib
import io
import json
import struct
import tokenize
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from intransit.errors import InputError

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
