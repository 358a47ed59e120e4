"""Text of any encoding as UTF-8, and lines of any ending as lines."""

import codecs
import re
from pathlib import Path

from intransit.tables.files import Source, refuse

CHUNK = 1 << 22  # bytes at once
BOMS = (  # the longer before the shorter: UTF-32 begins as UTF-16 does
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def wide_encoding(start: bytes) -> str | None:
    """Return the encoding of text that has more than one byte a letter, from its first bytes."""
    for mark, encoding in BOMS:
        if start.startswith(mark):
            return encoding
    even, odd = start[0:2000:2], start[1:2000:2]
    if len(odd) >= 4 and even and b"\x00" not in even and odd.count(b"\x00") * 10 > 9 * len(odd):
        return "utf-16-le"
    if len(odd) >= 4 and b"\x00" not in odd and even.count(b"\x00") * 10 > 9 * len(even):
        return "utf-16-be"
    return None


def to_utf_8(source: Source, encoding: str, place: Path) -> Source:
    """Return the source as UTF-8; text that is not in its encoding is refused."""
    decoder = codecs.getincrementaldecoder(encoding)(errors=LENIENT.get(encoding, "strict"))
    with source.path.open("rb") as file, place.open("wb") as out:
        try:
            while piece := file.read(CHUNK):
                out.write(decoder.decode(piece).encode())
            out.write(decoder.decode(b"", final=True).encode())
        except UnicodeError as error:
            name = encoding[:6].upper()
            raise refuse(
                source.label, f"this is not whole {name} text ({error}); write it as UTF-8."
            ) from None
    return Source(place, source.label)


def with_plain_lines(source: Source, place: Path) -> Source:
    """Return the source with one kind of line ending; a lone carriage return becomes a space."""
    with source.path.open("rb") as file, place.open("wb") as out:
        held = b""
        while piece := file.read(CHUNK):
            text = held + piece
            held = b"\r" if text.endswith(b"\r") else b""
            text = text[: len(text) - len(held)]
            out.write(re.sub(rb"\r(?!\n)", b" ", text).replace(b"\r\n", b"\n"))
    return Source(place, source.label)


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Take bytes that Windows leaves open as Latin-1 does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("intransit-latin-1", _as_latin_1)
LENIENT = {"cp1252": "intransit-latin-1"}
