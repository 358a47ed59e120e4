"""Pictures of the matrix that need no script, as inline SVG: heat map, discs, cycles."""

import math

import numpy as np

from intransit.answers.found import Cycle
from intransit.arrays import FloatArray
from intransit.findings.content import Disc, Findings
from intransit.render.page.charts import near
from intransit.render.page.data import radius, reach
from intransit.render.page.palette import N_HEAT
from intransit.render.page.words import percent, plain, shorten

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
    for place, full in enumerate(findings.names):
        middle = near(margin + side * (place + 0.5))
        text = plain(shorten(full, 18))
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


def draw_cycle(cycle: Cycle) -> str:
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
