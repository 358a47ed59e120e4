"""Tables of the page as CSV to be saved: the numbers themselves, in a link that needs no script."""

import csv
import io
import math
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

# What a spreadsheet would take for the beginning of a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
KEPT = "!$'()*+,-./:;=?@_~"  # letters that an address may hold as they are
DIGITS = 6  # of a number


class Sheet(NamedTuple):
    """A table as plain values: the name of its file, its columns, its rows."""

    file: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def to_csv(sheet: Sheet) -> str:
    """Return a sheet as CSV; a text that a spreadsheet would calculate begins with an apostrophe.

    The mark at the beginning tells spreadsheets that the letters are UTF-8.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(sheet.columns)
    writer.writerows([_cell(value) for value in row] for row in sheet.rows)
    return "\ufeff" + text.getvalue()


def _cell(value: object) -> object:
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
