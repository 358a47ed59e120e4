"""The building blocks of the page: words and numbers as HTML, tables, sheets to save, pictures.

Whatever a table calls its items, it is shown as text.  Tables can be saved as CSV, the numbers
themselves, by a link that needs no script.

Pictures are inline SVG that needs no script; colours come from the page's classes, so that a
picture follows the theme.  The data that the script draws livelier ones of are JSON, in which
chances are whole parts of ten thousand, two bytes each in base64, only of pairs (i, j) with i < j:
the other half is one minus it.  60 items at 30 times take half a megabyte.  A value is cut off, and
read as the middle of what was cut; ends of intervals are rounded outwards: so the script rounds to
per cent exactly as `intransit.percent` does.
"""

import base64
import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from intransit import percent as numbers
from intransit.analysis.cycles import ItemCycle
from intransit.analysis.standings import Standing
from intransit.arrays import FloatArray
from intransit.report import Disc, Findings
from intransit.report.wording import cut_apart, cut_short

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


def shorten_all(values: Sequence[str], most: int) -> list[str]:
    """Return the same of several texts that stand beside each other, none like another."""
    return cut_apart([REVERSING.sub("", clean(value)) for value in values], most)


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


def read_assets(*names: str) -> str:
    """Return some of the files that lie beside this package's modules, one after the other."""
    folder = files("intransit.report.page") / "assets"
    return "\n".join((folder / one).read_text(encoding="utf-8") for one in names)


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


# Pictures -----------------------------------------------------------------------------------------

N_HEAT = 21  # steps from the least to the greatest chance; the middle one is a half
MOST_LINES = 6
WIDE, HIGH = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 150, 12, 34
LABEL_STEP = 15  # least distance of two labels


def near(value: float) -> str:
    """Return a coordinate, in tenths."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def draw_interval(
    middle: float, low: float, high: float, ends: tuple[float, float], mark: float | None = None
) -> str:
    """Return a dot with its interval on a line from one end to the other, and a mark on it."""
    if not np.isfinite([middle, low, high]).all():
        return ""
    start, stop = ends
    scale = 108 / ((stop - start) or 1.0)
    at, left, right = (
        6 + scale * (min(max(value, start), stop) - start) for value in (middle, low, high)
    )
    parts = []
    if mark is not None:
        place = near(6 + scale * (mark - start))
        parts.append(f'<path class="mark" d="M{place} 1V17"/>')
    parts.append(f'<path class="whisker" d="M{near(left)} 9H{near(right)}"/>')
    parts.append(f'<circle class="dot" cx="{near(at)}" cy="9" r="3.5"/>')
    return (
        '<svg class="interval" viewBox="0 0 120 18" width="120" height="18" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def draw_history(values: Sequence[float]) -> str:
    """Return a history of probabilities as a small line over its shade."""
    if len(values) < 2:
        return ""
    across = np.linspace(2, 94, len(values))
    down = 18 - 16 * np.clip(np.nan_to_num(np.array(values)), 0, 1)
    line = "L".join(f"{near(x)} {near(y)}" for x, y in zip(across, down, strict=True))
    words = f"from {percent(values[0])} to {percent(values[-1])}"
    return (
        f'<svg class="history" viewBox="0 0 96 20" width="96" height="20" role="img" '
        f'aria-label="{plain(words)}"><path class="half" d="M2 10H94"/>'
        f'<path class="shade" d="M{line}V18H2Z"/><path class="line" d="M{line}"/></svg>'
    )


def tenths_around(*shares: FloatArray) -> tuple[float, float]:
    """Return the tenths between which all shares lie, and a half."""
    values = np.concatenate([*(part.ravel() for part in shares), [0.5]])
    values = values[np.isfinite(values)]
    low, high = math.floor(10 * values.min()) / 10, math.ceil(10 * values.max()) / 10
    return low, max(high, low + 0.1)


def strength_ends(standings: Sequence[Standing]) -> tuple[float, float]:
    """Return the ends of a scale that holds the strengths of these items with their intervals."""
    return tenths_around(np.array([(one.low, one.high) for one in standings]))


def draw_leaders(standings: Sequence[Standing]) -> str:
    """Return the first items with the intervals of their strengths, on one scale of chances."""
    low, high = strength_ends(standings)
    left, wide, row = 168, 390, 24
    labels = shorten_all([one.name for one in standings], 20)
    deep = row * len(standings) + 22

    def across(share: float) -> str:
        return near(left + (wide - left - 20) * (share - low) / (high - low))

    parts = []
    for tenth in range(round(10 * low), round(10 * high) + 1):
        x, half = across(tenth / 10), " half" if tenth == 5 else ""
        parts.append(f'<path class="grid{half}" d="M{x} 4V{deep - 20}"/>')
        if tenth % 2 == round(10 * high) % 2 or high - low < 0.5:
            unit = " %" if tenth == round(10 * high) else ""
            parts.append(
                f'<text class="tick" x="{x}" y="{deep - 5}" text-anchor="middle">'
                f"{10 * tenth}{unit}</text>"
            )
    for place, one in enumerate(standings):
        y = near(row * (place + 0.5) + 4)
        parts.append(
            f'<text class="label" x="{left - 8}" y="{y}" dy="4" text-anchor="end">'
            f"{plain(labels[place])}</text>"
            f'<path class="whisker" d="M{across(one.low)} {y}H{across(one.high)}"/>'
            f'<circle class="dot" cx="{across(one.strength)}" cy="{y}" r="4"/>'
        )
    return (
        f'<svg class="leaders" viewBox="0 0 {wide} {deep}" role="img" aria-label="Mean chances of '
        f'the strongest, with their intervals">{"".join(parts)}</svg>'
    )


def drawn_first(findings: Findings, most: int = MOST_LINES) -> list[int]:
    """Return the items to draw first: the strongest at the last time, and those that changed most.

    The strongest are among those still there; a third of the places is for clear changes.
    """
    strengths = np.nan_to_num(findings.strengths[:, -1], nan=-1.0)
    gone = ~findings.present[-1]
    strongest = [int(item) for item in np.lexsort((-strengths, gone))]
    sure = [one for one in findings.changes.items if one.sure] if findings.changes else []
    sure.sort(key=lambda one: -abs(one.change))
    place = {name: item for item, name in enumerate(findings.names)}
    changed = [place[one.name] for one in sure[: most // 3] if one.name in place]
    leaders = [item for item in strongest if item not in changed][: most - len(changed)]
    return [item for item in strongest if item in leaders or item in changed]


def draw_strengths(findings: Findings) -> str:
    """Return strengths over time of the items to draw first, with bands; empty without times."""
    if len(findings.times) < 2:
        return ""
    chosen = drawn_first(findings)
    places = place_times(findings.moments[: len(findings.times)])
    low, high = tenths_around(findings.strengths_low[chosen], findings.strengths_high[chosen])
    across = LEFT + (WIDE - LEFT - RIGHT) * places
    parts = [_grid(low, high), _dates(findings.times, across)]
    for number, item in enumerate(chosen):
        rows = findings.strengths_low, findings.strengths_high, findings.strengths
        bottom, top, line = (_down(values[item], low, high) for values in rows)
        there = np.isfinite(bottom) & np.isfinite(top) & np.isfinite(line)
        if not there.any():
            continue
        edge = [*zip(across[there], top[there], strict=True)]
        edge += [*zip(across[there][::-1], bottom[there][::-1], strict=True)]
        course = zip(across[there], line[there], strict=True)
        parts.append(
            f'<g class="s{number}"><path class="band" d="M{_join(edge)}Z"/>'
            f'<path class="course" d="M{_join(course)}"/></g>'
        )
    ends = [float(_down(findings.strengths[item], low, high)[-1]) for item in chosen]
    names = [findings.names[item] for item in chosen]
    parts.append(_end_labels(names, ends, float(across[-1])))
    return (
        f'<svg class="chart" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}" role="img" '
        f'aria-label="Strength over time of some items">{"".join(parts)}</svg>'
    )


def _down(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return how far down shares stand."""
    return TOP + (HIGH - TOP - BOTTOM) * (high - values) / (high - low)


def _grid(low: float, high: float) -> str:
    """Return a line and a label for every tenth."""
    parts = []
    for tenth in range(round(10 * low), round(10 * high) + 1):
        y = near(float(_down(np.array(tenth / 10), low, high)))
        half = " half" if tenth == 5 else ""
        parts.append(f'<path class="grid{half}" d="M{LEFT} {y}H{WIDE - RIGHT}"/>')
        parts.append(
            f'<text class="tick" x="{LEFT - 8}" y="{y}" dy="4" text-anchor="end">'
            f"{10 * tenth}{' %' if tenth == round(10 * high) else ''}</text>"
        )
    return "".join(parts)


def _dates(times: Sequence[str], across: FloatArray) -> str:
    """Return labels of some times, far enough apart."""
    parts: list[str] = []
    last = -np.inf
    for label, x in zip(times, across, strict=True):
        if x - last >= 90:
            parts.append(
                f'<text class="tick" x="{near(float(x))}" y="{HIGH - 10}" text-anchor="middle">'
                f"{plain(shorten(label, 16))}</text>"
            )
            last = float(x)
    return "".join(parts)


def _end_labels(names: list[str], ends: list[float], right: float) -> str:
    """Return the names beside the ends of their lines, moved apart where they would touch."""
    known = [k for k in range(len(ends)) if np.isfinite(ends[k])]
    parts, last = [], -np.inf
    for k in sorted(known, key=lambda k: ends[k]):
        last = max(ends[k], last + LABEL_STEP)
        parts.append(
            f'<g class="s{k}"><path class="tie" d="M{near(right + 3)} {near(ends[k])}'
            f'L{near(right + 14)} {near(last)}"/><text class="label" x="{near(right + 18)}" '
            f'y="{near(last)}" dy="4">{plain(shorten(names[k], 18))}</text></g>'
        )
    return "".join(parts)


def _join(spots: Iterable[tuple[float, float]]) -> str:
    """Return points as the rest of a path that begins with M."""
    return "L".join(f"{near(float(x))} {near(float(y))}" for x, y in spots)


Box = tuple[float, float, float, float]  # left, top, right, bottom

MOST_DISC_LABELS = 16
LETTER = 6.1  # width of a letter of a label, about
# An arrow outside the rim, in the sense in which each beats the next; and the room it takes.
SENSE = (
    '<path class="sense" d="M272 60A136 136 0 0 0 238 32M246.5 33L238 32L241 40"/>'
    '<text class="sense-word" x="277" y="68">beats</text>'
)
SENSE_BOX = (236.0, 30.0, 312.0, 72.0)


def draw_matrix(findings: Findings) -> str:
    """Return the matrix at the last time: rows beat columns where they are blue.

    Cells of pairs that never met are hollow, those of pairs that nothing connects are left out.
    """
    n = len(findings.names)
    side = 22 if n <= 16 else 16 if n <= 32 else 12
    margin = min(140, max(50, 16 + 7 * max(map(len, findings.names), default=0)))
    steps = heat_steps(findings.chances[-1], reach(findings.chances))
    parts = []
    known = (findings.together[:, None] == findings.together) & ~np.eye(n, dtype=bool)
    full, hollow = f"h{side}v{side}h-{side}z", f"m2 2v{side - 4}h{side - 4}v-{side - 4}z"
    for step in range(N_HEAT):
        rows, columns = np.nonzero((steps == step) & known)
        if rows.size:
            cells = "".join(
                f"M{margin + side * int(j)} {margin + side * int(i)}{full}"
                + ("" if findings.games[i, j] > 0 else hollow)
                for i, j in zip(rows, columns, strict=True)
            )
            parts.append(f'<path class="h{step}" d="{cells}"/>')
    for place, label in enumerate(shorten_all(findings.names, 18)):
        middle = near(margin + side * (place + 0.5))
        text = plain(label)
        parts.append(
            f'<text class="label" x="{margin - 6}" y="{middle}" dy="4" text-anchor="end">{text}'
            f'</text><text class="label" transform="translate({middle} {margin - 6}) rotate(-90)" '
            f'dy="4">{text}</text>'
        )
    size = margin + side * n + 1
    small = " small" if side < 16 else ""
    return (
        f'<svg class="matrix{small}" viewBox="0 0 {size} {size}" width="{size}" height="{size}" '
        f'role="img" aria-label="Heat map of the chance that the row beats the column">'
        f"{''.join(parts)}</svg>"
    )


def heat_steps(chances: FloatArray, far: float) -> FloatArray:
    """Return the step of the colours for each chance, from 0 to N_HEAT - 1."""
    place = np.clip(0.5 + (np.nan_to_num(chances, nan=0.5) - 0.5) / (2 * far), 0, 1)
    return np.rint(place * (N_HEAT - 1))


def draw_legend(far: float, *, unmet: bool) -> str:
    """Return the scale of the colours, and what hollow cells are, where there are some."""
    cells = "".join(
        f'<rect class="h{step}" x="{8 * step}" width="8.2" height="10"/>' for step in range(N_HEAT)
    )
    least, most = ("≤ ", "≥ ") if far < 0.5 else ("", "")
    ends = least + percent(0.5 - far), most + percent(0.5 + far)
    hollow = (
        '<p class="legend"><svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">'
        '<path class="h16" d="M0 0h14v14h-14zm3 3v8h8v-8z"/></svg><span>hollow: the two never met, '
        "so this is a forecast</span></p>"
        if unmet
        else ""
    )
    return (
        f'<div class="legends"><p class="legend"><span>row wins {ends[0]}</span>'
        '<svg viewBox="0 0 168 10" width="168" height="10" aria-hidden="true">'
        f"{cells}</svg><span>{ends[1]}</span></p>{hollow}</div>"
    )


def draw_disc(disc: Disc, names: tuple[str, ...]) -> str:
    """Return one disc at the last time; labels of the items farthest out, where there is room."""
    spots = disc.points[-1] / radius(disc)
    places = [(170 + 125 * float(x), 150 - 125 * float(y)) for x, y in np.nan_to_num(spots)]
    dots = "".join(
        f'<circle class="dot" cx="{near(x)}" cy="{near(y)}" r="4.5"><title>{plain(name)}</title>'
        "</circle>"
        for (x, y), name in zip(places, names, strict=True)
    )
    return (
        '<svg class="disc" viewBox="0 0 340 300" role="img" aria-label="Items around a centre; '
        'each is favoured over those anticlockwise of it"><circle class="rim" cx="170" cy="150" '
        f'r="125"/><path class="axis" d="M165 150h10M170 145v10"/>{SENSE}'
        f"{_disc_labels(places, names)}{dots}</svg>"
    )


def _disc_labels(places: list[tuple[float, float]], names: tuple[str, ...]) -> str:
    """Return names beside their points, the farthest out first, off other names and points."""
    dots = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    taken = [SENSE_BOX]
    parts: list[str] = []
    far = [math.hypot(x - 170, y - 150) for x, y in places]
    for item in sorted(range(len(places)), key=lambda item: -far[item]):
        others = taken + dots[:item] + dots[item + 1 :]
        text = shorten(names[item], 16)
        for x, y, anchor, box in _beside(*places[item], LETTER * len(text)):
            inside = box[0] >= 0 and box[2] <= 340 and box[1] >= 0 and box[3] <= 300
            if inside and not any(_touch(box, other) for other in others):
                taken.append(box)
                parts.append(
                    f'<text class="label" x="{near(x)}" y="{near(y)}" dy="4" '
                    f'text-anchor="{anchor}">{plain(text)}</text>'
                )
                break
        if len(parts) == MOST_DISC_LABELS:
            break
    return "".join(parts)


def _beside(x: float, y: float, width: float) -> list[tuple[float, float, str, Box]]:
    """Return where a label may stand: outwards, inwards, above, below; with the box it fills."""
    right = (x + 9, y, "start", (x + 9, y - 7, x + 9 + width, y + 7))
    left = (x - 9, y, "end", (x - 9 - width, y - 7, x - 9, y + 7))
    half = width / 2
    above = (x, y - 13, "middle", (x - half, y - 20, x + half, y - 6))
    below = (x, y + 13, "middle", (x - half, y + 6, x + half, y + 20))
    return [right, left, above, below] if x >= 170 else [left, right, above, below]


def _touch(one: Box, two: Box) -> bool:
    """Whether two boxes overlap."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def draw_cycle(cycle: ItemCycle) -> str:
    """Return a cycle as items around a circle, arrows from each to the one it beats."""
    n = len(cycle.items)
    angles = [-math.pi / 2 + 2 * math.pi * k / n for k in range(n)]
    spots = [(200 + 84 * math.cos(angle), 84 * math.sin(angle)) for angle in angles]
    top, bottom = min(y for _, y in spots) - 24, max(y for _, y in spots) + 24
    parts = []
    for k, chance in enumerate(cycle.chances):
        parts.append(_arrow(spots[k], spots[(k + 1) % n], chance, k == cycle.weakest))
    for (x, y), angle, item in zip(spots, angles, cycle.items, strict=True):
        side = math.cos(angle)
        anchor = "start" if side > 0.3 else "end" if side < -0.3 else "middle"
        shift = 10 * side if anchor != "middle" else 0
        drop = 4 + (14 * math.sin(angle) if anchor == "middle" else 0)
        parts.append(
            f'<circle class="node" cx="{near(x)}" cy="{near(y)}" r="5"/>'
            f'<text class="label" x="{near(x + shift)}" y="{near(y + drop)}" '
            f'text-anchor="{anchor}">{plain(shorten(item, 14))}</text>'
        )
    return (
        f'<svg class="graph" viewBox="0 {near(top)} 400 {near(bottom - top)}" role="img" '
        f'aria-label="{plain(str(cycle))}">{"".join(parts)}</svg>'
    )


def _arrow(start: tuple[float, float], stop: tuple[float, float], chance: float, weak: bool) -> str:
    """Return an arrow between two nodes, and the chance of the first beside its middle."""
    (x, y), (u, v) = start, stop
    length = math.hypot(u - x, v - y) or 1.0
    dx, dy = (u - x) / length, (v - y) / length
    tip_x, tip_y = u - 11 * dx, v - 11 * dy
    head = (
        f"M{near(tip_x + 5 * dx)} {near(tip_y + 5 * dy)}"
        f"L{near(tip_x - 4 * dx - 4 * dy)} {near(tip_y - 4 * dy + 4 * dx)}"
        f"L{near(tip_x - 4 * dx + 4 * dy)} {near(tip_y - 4 * dy - 4 * dx)}Z"
    )
    # The label stands outside, on the left of somebody who walks clockwise; it is wider than high.
    middle_x, middle_y = (x + u) / 2 + 23 * dy, (y + v) / 2 - 13 * dx
    return (
        f'<g class="edge{" weak" if weak else ""}"><path class="shaft" d="M{near(x + 9 * dx)} '
        f'{near(y + 9 * dy)}L{near(tip_x)} {near(tip_y)}"/><path class="head" d="{head}"/>'
        f'<text class="reading" x="{near(middle_x)}" y="{near(middle_y)}" dy="4" '
        f'text-anchor="middle">{percent(chance)}</text></g>'
    )


UNKNOWN = 65535  # stands for a number that is not there
PARTS = 10_000  # of a whole
Round = Callable[[FloatArray], FloatArray]
LEAST_REACH = 0.1
MOST_CYCLES = 50  # that the page lists


def embed(findings: Findings) -> str:
    """Return the JSON for a script element: nothing in it can end the element."""
    text = json.dumps(_content(findings), ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":  # all of them only occur inside strings
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _content(findings: Findings) -> dict[str, Any]:
    """Return what the script needs, as plain values."""
    upper = np.triu_indices(len(findings.names), 1)
    squares = (
        ("chances", findings.chances, np.floor),
        ("low", findings.low, np.floor),
        ("high", findings.high, np.ceil),
        ("futureChances", findings.future_chances, np.floor),
        ("futureLow", findings.future_low, np.floor),
        ("futureHigh", findings.future_high, np.ceil),
    )
    pairs = {key: pack(part[:, *upper], cut) for key, part, cut in squares if len(part)}
    record = (findings.games, findings.wins, findings.ties)
    met = [(i, j) for i, j in zip(*upper, strict=True) if findings.games[i, j] > 0]
    return {
        "names": [clean(name) for name in findings.names],
        "times": list(findings.times),
        "future": list(findings.future),
        "places": place_times(findings.moments).tolist(),
        "reach": reach(findings.chances),
        **pairs,
        "strengths": pack(findings.strengths, np.floor),
        "strengthsLow": pack(findings.strengths_low, np.floor),
        "strengthsHigh": pack(findings.strengths_high, np.ceil),
        "present": "".join("1" if there else "0" for there in findings.present.ravel().tolist()),
        "drawn": drawn_first(findings),
        "games": [[int(i), int(j), *(_short(part[i, j]) for part in record)] for i, j in met],
        "together": [int(group) for group in findings.together],
        "discs": [  # points as shares of a square that holds them at all times
            {"share": round(disc.share, 4), "points": pack(0.5 + 0.5 * disc.points / radius(disc))}
            for disc in findings.discs
        ],
        "cycles": [
            {
                "items": [clean(item) for item in cycle.items],
                "probability": round(cycle.probability, 4),
                "chances": [round(value, 3) for value in cycle.chances],
                "edges": [round(value, 3) for value in cycle.edges],
            }
            for cycle in findings.cycles.found[:MOST_CYCLES]
        ],
    }


def pack(values: FloatArray, cut: Round = np.rint) -> str:
    """Return shares from 0 to 1 as parts of ten thousand, two bytes each, in base64."""
    whole = cut(np.round(PARTS * np.clip(values, 0, 1), 6))
    whole = np.where(np.isnan(whole), UNKNOWN, whole)
    return base64.b64encode(whole.astype("<u2").tobytes()).decode("ascii")


def radius(disc: Disc) -> float:
    """Return how far the farthest point is from the centre, at any time."""
    far = float(np.hypot(disc.points[..., 0], disc.points[..., 1]).max(initial=0.0))
    return far or 1.0


def reach(chances: FloatArray) -> float:
    """Return how far from a half the colours go: nearly all chances, to the next tenth."""
    far = np.abs(chances[np.isfinite(chances)] - 0.5)
    wanted = float(np.quantile(far, 0.99)) if far.size else 0.0
    return min(0.5, max(LEAST_REACH, float(np.ceil(10 * wanted - 1e-9)) / 10))


def place_times(moments: FloatArray) -> FloatArray:  # (n_times,)
    """Return where rising times stand from 0 to 1, in proportion."""
    span = float(moments[-1] - moments[0])
    return np.asarray(np.round((moments - moments[0]) / (span or 1.0), 4))


def _short(value: float) -> float | int:
    """Return a number of games without needless digits."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() else rounded
