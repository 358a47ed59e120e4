"""Small pictures of numbers, as inline SVG: intervals in a row, histories, lines over time.

Colours come from the page's classes, so that a picture follows the theme.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from intransit.answers.forecast import Standing
from intransit.arrays import FloatArray
from intransit.findings.content import Findings
from intransit.render.page.data import place_times
from intransit.render.page.words import percent, plain, shorten

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


def draw_leaders(standings: Sequence[Standing]) -> str:
    """Return the first items with the intervals of their strengths, on one scale of chances."""
    low = math.floor(10 * min([0.5, *(one.low for one in standings)])) / 10
    high = math.ceil(10 * max([0.5, *(one.high for one in standings)])) / 10
    left, wide, row = 152, 390, 24
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
            f"{plain(shorten(one.name, 20))}</text>"
            f'<path class="whisker" d="M{across(one.low)} {y}H{across(one.high)}"/>'
            f'<circle class="dot" cx="{across(one.strength)}" cy="{y}" r="4"/>'
        )
    return (
        f'<svg class="leaders" viewBox="0 0 {wide} {deep}" role="img" aria-label="Mean chances of '
        f'the strongest, with their intervals">{"".join(parts)}</svg>'
    )


def leading(findings: Findings, most: int = MOST_LINES) -> list[int]:
    """Return the items to draw first: the strongest at the last time among those still there."""
    strengths = np.nan_to_num(findings.strengths[:, -1], nan=-1.0)
    gone = ~findings.present[-1]
    return [int(item) for item in np.lexsort((-strengths, gone))[:most]]


def draw_strengths(findings: Findings) -> str:
    """Return the strengths of the leading items over time, with bands; empty without times."""
    if len(findings.times) < 2:
        return ""
    chosen = leading(findings)
    places = np.array(place_times(findings.times))
    low, high = strength_range(findings, chosen)
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
        f'aria-label="Strength over time of the leading items">{"".join(parts)}</svg>'
    )


def strength_range(
    findings: Findings, chosen: list[int], when: slice = slice(None)
) -> tuple[float, float]:
    """Return the tenths between which the bands of the chosen items lie, at some of the times."""
    bands = (findings.strengths_low[chosen, when], findings.strengths_high[chosen, when])
    values = np.concatenate([*(band.ravel() for band in bands), [0.5]])
    values = values[np.isfinite(values)]
    low, high = np.floor(10 * values.min()) / 10, np.ceil(10 * values.max()) / 10
    return float(low), float(max(high, low + 0.1))


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
