"""The building blocks of the page: words and numbers as HTML, sections, tables, sheets to save.

Whatever a table calls its items, it is shown as text.  Tables can be saved as CSV, the numbers
themselves, by a link that needs no script.
"""

import base64
import csv
import hashlib
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from html import escape
from typing import Any, NamedTuple
from urllib.parse import quote

from intransit import percent as numbers
from intransit.report.wording import cut_short

NO_BREAK = "\u00a0"
LONG = 24  # letters from which a name may be cut by the layout, and so gets a title
# Marks that reverse the direction of the text after them, and what HTML cannot hold.
REVERSING = re.compile("[\u202a-\u202e\u2066-\u2069]")
PER_CENT = re.compile(r"(?<=\d) %")
UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")


def clean(value: str) -> str:
    """Return the text with what HTML or UTF-8 cannot hold replaced by a mark."""
    return UNSHOWN.sub("\ufffd", value)


def plain(value: str) -> str:
    """Return a text for HTML, in element or attribute."""
    return escape(clean(value), quote=True)


def sentence(value: str) -> str:
    """Return a running text for HTML; a name in it cannot reverse the direction of the rest."""
    together = PER_CENT.sub(f"{NO_BREAK}%", value).replace("± ", f"±{NO_BREAK}")
    return plain(REVERSING.sub("", together))


def name(value: str) -> str:
    """Return a name for HTML, in its own direction; the layout may cut it, the title does not."""
    title = f' title="{plain(value)}"' if len(value) > LONG else ""
    return f'<bdi class="name"{title}>{plain(value)}</bdi>'


def shorten(value: str, most: int) -> str:
    """Return at most `most` letters of a text, without what would reverse or break it."""
    return cut_short(REVERSING.sub("", clean(value)), most)


def percent(share: float, digits: int = 0) -> str:
    """Return a share as per cent, held together; see `intransit.percent`."""
    return _bind(numbers.percent(share, digits))


def estimate(middle: float, low: float, high: float, digits: int = 0) -> tuple[str, str]:
    """Return a share and its interval as per cent, held together."""
    value, between = numbers.estimate(middle, low, high, digits)
    return _bind(value), _bind(between)


def at(moment: str) -> str:
    """Return a time as a part of a sentence; nothing where there is none."""
    return f" at {plain(moment)}" if moment else ""


def with_small(value: str, small: str) -> str:
    """Return a value with something smaller beside it, or below it where there is no room."""
    return f"{value} <small>{small}</small>"


def p_value(value: float) -> str:
    """Return a p value as it is usually written."""
    if math.isnan(value):
        return "–"
    return f"<{NO_BREAK}0.001" if value < 0.001 else f"{value:.3f}"


def with_error(value: float, error: float, *, sign: bool = False) -> str:
    """Return a log loss or a gain, its standard error in small letters."""
    text, _, error_text = numbers.with_error(value, error, sign=sign).partition(" ± ")
    return with_small(text, f"±{NO_BREAK}{error_text}") if error_text else text


def _bind(text: str) -> str:
    """Return a text of numbers that is not broken before its per cent or after its sign."""
    whole = text.replace(" %", f"{NO_BREAK}%")
    return plain(whole.replace("< ", f"<{NO_BREAK}").replace("> ", f">{NO_BREAK}"))


def count(value: float) -> str:
    """Return a number of games: whole if it is, with thousands set apart."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


# What a spreadsheet would take for the beginning of a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
KEPT = "!$'()*+,-./:;=?@_~"  # letters that an address may hold as they are
DIGITS = 6  # of a number


class Sheet(NamedTuple):
    """A table as plain values: the name of its file, its columns, its rows."""

    file: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def sheet_of(file: str, records: Sequence[Any]) -> Sheet:
    """Return records of one kind as a sheet, a field a column."""
    return Sheet(file, [field.name for field in fields(records[0])], list(map(astuple, records)))


def to_csv(sheet: Sheet) -> str:
    """Return a sheet as CSV; a text that a spreadsheet would calculate begins with an apostrophe.

    The mark at the beginning tells spreadsheets that the letters are UTF-8.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(sheet.columns)
    writer.writerows([_sheet_cell(value) for value in row] for row in sheet.rows)
    return "\ufeff" + text.getvalue()


def _sheet_cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULAS) else value
    if isinstance(value, float):
        return "" if not math.isfinite(value) else f"{value:.{DIGITS}f}".rstrip("0").rstrip(".")
    return value


def link(sheet: Sheet) -> str:
    """Return a link that saves a sheet."""
    data = quote(to_csv(sheet), safe=KEPT, errors="replace").replace("'", "%27")
    return (
        f'<a class="save" download="{sheet.file}.csv" href="data:text/csv;charset=utf-8,{data}">'
        "CSV</a>"
    )


def write_document(title: str, style: str, policy: str, body: str) -> str:
    """Return a whole HTML file, with a policy that lets nothing in or out."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; {policy}; '
        "base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{sentence(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}\n</body>\n</html>\n"
    )


def digest(text: str) -> str:
    """Return the hash by which a policy knows an inline style or script."""
    hashed = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(hashed).decode('ascii')}'"


def section(place: str, title: str, body: Iterable[str]) -> str:
    """Return a section with its heading; empty parts are left out, and a section without any."""
    inner = "\n".join(part for part in body if part)
    return inner and (
        f'<section id="{place}" aria-labelledby="{place}-title">\n'
        f'<h2 id="{place}-title">{title}</h2>\n{inner}\n</section>'
    )


def lead(*texts: str) -> str:
    """Return paragraphs that open a section; the words are ours or already escaped."""
    return "".join(f'<p class="lead">{text}</p>' for text in texts if text)


def figure(picture: str, caption: str, *, live: str = "") -> str:
    """Return a picture in a box of its own; a script may put a livelier one in its place."""
    hook = f' data-live="{live}"' if live else ""
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure><div class="picture"{hook}>{picture}</div>{words}</figure>'


class Keyed(NamedTuple):
    """A cell of a table with what the script sorts, filters or draws it by."""

    key: str
    html: str


Cell = str | Keyed


def table(
    records: Sequence[Any],
    columns: Mapping[str, Callable[[Any], Cell]],
    *,
    caption: str,
    save: str | Sheet,
    kind: str = "",
) -> str:
    """Return records as a table that scrolls in its own box, and the link that saves it.

    Columns are titles, of numbers if they begin with #, with what makes HTML of a record; the
    link saves a sheet, or the fields of the records in a file of this name.  Empty without records.
    """
    if not records:
        return ""
    sheet = sheet_of(save, records) if isinstance(save, str) else save
    kinds = [' class="number"' if title.startswith("#") else "" for title in columns]
    head = "".join(
        f'<th scope="col"{kind}>{title.removeprefix("#")}</th>'
        for kind, title in zip(kinds, columns, strict=True)
    )
    tags = ("th", *["td"] * (len(columns) - 1))
    body = "\n".join(
        "<tr>"
        + "".join(map(_cell, tags, (cell(one) for cell in columns.values()), kinds))
        + "</tr>"
        for one in records
    )
    return (
        f'<div class="sheet {kind}"><div class="save-bar">{link(sheet)}</div>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table>'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody>"
        "</table></div></div>"
    )


def _cell(tag: str, cell: Cell, kind: str) -> str:
    scope = ' scope="row"' if tag == "th" else ""
    if isinstance(cell, Keyed):
        return f'<{tag}{scope}{kind} data-key="{cell.key}">{cell.html}</{tag}>'
    return f"<{tag}{scope}{kind}>{cell}</{tag}>"


def more(summary: str, body: str) -> str:
    """Return something that opens on demand, without a script."""
    return f"<details><summary>{summary}</summary>\n{body}\n</details>"


def bullets(texts: Iterable[str]) -> str:
    """Return sentences as a list."""
    items = "".join(f"<li>{sentence(text)}</li>" for text in texts)
    return f'<ul class="facts">{items}</ul>' if items else ""


def note(text: str) -> str:
    """Return a remark set apart; empty if there is none."""
    return f'<p class="note">{sentence(text)}</p>' if text else ""
