"""Compressed files, unpacked into the scratch folder and verified to their last byte.

Engines that read compressed text as it comes take half of a file for the whole of it; so every
file is unpacked first, and one that is damaged or cut short is refused.
"""

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from intransit.errors import InputError
from intransit.tables.engine import Engine, quote
from intransit.tables.files import Source, lines_of, refuse

DAMAGED = "its compressed data is damaged or cut short; fetch or write the file again."
CHUNK = 1 << 22  # bytes copied at once
ZSTD = b"\x28\xb5\x2f\xfd"
MAGIC: dict[bytes, str] = {
    b"\x1f\x8b": "gzip",
    ZSTD: "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # an empty one
}
OPENERS: dict[str, Callable[[Path], Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
SPREADSHEET = "this is a spreadsheet; save the table as CSV first."
FOREIGN = {
    b"\xd0\xcf\x11\xe0": SPREADSHEET,
    b"7z\xbc\xaf\x27\x1c": "this is a 7z archive; unpack it first.",
    b"Rar!": "this is a RAR archive; unpack it first.",
    b"\x04\x22\x4d\x18": "this is compressed by LZ4; unpack it first, or use gzip or zstd.",
}


def unpack(source: Source, engine: Engine) -> Source:
    """Return the source with its plain bytes, whatever it was compressed by."""
    with source.path.open("rb") as file:
        start = file.read(8)
    for magic, sentence in FOREIGN.items():
        if start.startswith(magic):
            raise refuse(source.label, sentence)
    kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)
    if kind is None:
        return source
    plain = engine.fresh("unpacked")
    try:
        if kind == "zip":
            return unpack(_unpack_zip(source, engine.fresh("zipped")), engine)
        if kind == "zstd":
            _unpack_zstd(source, plain, engine)
        else:
            with OPENERS[kind](source.path) as packed:
                copy(packed, plain)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile):
        raise refuse(source.label, DAMAGED) from None
    except NotImplementedError as error:  # of a kind of zip that Python does not know
        raise refuse(source.label, f"{error}; unpack it first.") from error
    except OSError as error:
        if error.errno is None:  # bz2 says so of damaged data
            raise refuse(source.label, DAMAGED) from None
        raise full_disk(source.label, error) from error
    return Source(plain, source.label)


def copy(packed: IO[bytes], place: Path) -> None:
    """Copy a stream to its end."""
    with place.open("wb") as plain:
        while piece := packed.read(CHUNK):
            plain.write(piece)


def full_disk(label: str, error: OSError) -> InputError:
    """Return the error for a scratch folder that takes no more."""
    return refuse(
        label,
        f"the scratch folder cannot take it ({error.strerror}); make room, or name another place "
        "by the environment variable TMPDIR.",
    )


def _unpack_zip(source: Source, place: Path) -> Source:
    """Return the one table in a zip archive."""
    with zipfile.ZipFile(source.path) as archive:
        members = [
            member
            for member in archive.infolist()
            if not member.is_dir() and not member.filename.startswith(("__MACOSX/", "."))
        ]
        names = {member.filename for member in members}
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise refuse(source.label, SPREADSHEET)
        if len(members) != 1:
            listed = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
            found = f"{len(members)} files ({listed})" if members else "no file"
            raise refuse(source.label, f"the archive holds {found}; give one table at a time.")
        if members[0].flag_bits & 1:
            raise refuse(source.label, "the archive is encrypted; unpack it first.")
        with archive.open(members[0]) as packed:
            copy(packed, place)
    return Source(place, source.label)


def _unpack_zstd(source: Source, plain: Path, engine: Engine) -> None:
    """Unpack by DuckDB, line by line: the standard library has no zstd before Python 3.14."""
    if not zstd_is_whole(source.path):
        raise EOFError
    if _unpack_zstd_by_python(source.path, plain):
        return
    lines = lines_of(source.path, "zstd")
    engine.run(
        f"COPY (FROM {lines}) TO {quote(str(plain))} "
        "(FORMAT csv, HEADER false, DELIM '\x01', QUOTE '', ESCAPE '')"
    )
    for (line,) in engine.ask("SELECT line FROM reject_errors ORDER BY line LIMIT 1"):
        found = "this is not UTF-8 text; unpack the file first, or write it as UTF-8."
        raise refuse(source.label, found, line)
    engine.run("DROP TABLE reject_errors")
    engine.run("DROP TABLE reject_scans")


def _unpack_zstd_by_python(path: Path, plain: Path) -> bool:
    """Unpack with Python's own module where there is one; return whether there is."""
    try:
        from compression import zstd  # type: ignore[import-not-found] # noqa: PLC0415
    except ImportError:
        return False
    try:
        with zstd.open(path) as packed:
            copy(packed, plain)
    except zstd.ZstdError:
        raise EOFError from None
    return True


def zstd_is_whole(path: Path) -> bool:
    """Return whether frames and blocks of a zstd file end where the file ends (RFC 8878)."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            magic = file.read(4)
            if len(magic) == 4 and magic[1:] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50:
                file.seek(int.from_bytes(_exactly(file, 4), "little"), 1)  # a frame to skip
            elif magic == ZSTD:
                try:
                    _skip_frame(file)
                except EOFError:
                    return False
            else:
                return False
            if file.tell() > size:
                return False
    return True


def _skip_frame(file: IO[bytes]) -> None:
    descriptor = _exactly(file, 1)[0]
    single = descriptor >> 5 & 1
    content = (single, 2, 4, 8)[descriptor >> 6]  # bytes of the content's size
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    file.seek((1 - single) + dictionary + content, 1)
    last = False
    while not last:
        header = int.from_bytes(_exactly(file, 3), "little")
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if kind == 3:
            raise EOFError
        file.seek(1 if kind == 1 else size, 1)
    if descriptor >> 2 & 1:
        _exactly(file, 4)  # the checksum


def _exactly(file: IO[bytes], n: int) -> bytes:
    data = file.read(n)
    if len(data) < n:
        raise EOFError
    return data
