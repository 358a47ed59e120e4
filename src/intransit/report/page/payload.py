"""Findings as the compact JSON that the page's script reads.

Chances are whole parts of ten thousand, two bytes each in base64, only of pairs (i, j) with i < j:
the other half is one minus it.  60 items at 30 times take half a megabyte.  A value is cut off, and
read as the middle of what was cut; ends of intervals are rounded outwards: so the script rounds to
per cent exactly as `intransit.percent` does.
"""

import base64
import json
import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from intransit.arrays import FloatArray
from intransit.report.content import Disc, Findings
from intransit.report.page.blocks import clean

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
    n = len(findings.names)
    upper = np.triu_indices(n, 1)
    future = len(findings.future) > 0
    pairs = {
        key: pack(np.asarray(values)[:, *upper], cut)
        for key, values, cut in (
            ("chances", findings.chances, np.floor),
            ("low", findings.low, np.floor),
            ("high", findings.high, np.ceil),
            *(
                (
                    ("futureChances", findings.future_chances, np.floor),
                    ("futureLow", findings.future_low, np.floor),
                    ("futureHigh", findings.future_high, np.ceil),
                )
                if future
                else ()
            ),
        )
    }
    record = (findings.games, findings.wins, findings.ties)
    met = [(i, j) for i, j in zip(*upper, strict=True) if findings.games[i, j] > 0]
    return {
        "names": [clean(name) for name in findings.names],
        "times": list(findings.times),
        "future": list(findings.future),
        "places": place_times((*findings.times, *findings.future)),
        "reach": reach(findings.chances),
        **pairs,
        "strengths": pack(findings.strengths, np.floor),
        "strengthsLow": pack(findings.strengths_low, np.floor),
        "strengthsHigh": pack(findings.strengths_high, np.ceil),
        "present": "".join("1" if there else "0" for there in findings.present.ravel().tolist()),
        "games": [[int(i), int(j), *(_short(part[i, j]) for part in record)] for i, j in met],
        "together": [int(group) for group in findings.together],
        "discs": [
            {"share": round(disc.share, 4), "points": _pack_points(disc)} for disc in findings.discs
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


def _pack_points(disc: Disc) -> str:
    """Return the points of a disc as shares of a square that holds them at all times."""
    return pack(0.5 + 0.5 * disc.points / radius(disc))


def radius(disc: Disc) -> float:
    """Return how far the farthest point is from the centre, at any time."""
    far = float(np.hypot(disc.points[..., 0], disc.points[..., 1]).max(initial=0.0))
    return far or 1.0


def reach(chances: FloatArray) -> float:
    """Return how far from a half the colours go: nearly all chances, to the next tenth."""
    far = np.abs(chances[np.isfinite(chances)] - 0.5)
    wanted = float(np.quantile(far, 0.99)) if far.size else 0.0
    return min(0.5, max(LEAST_REACH, float(np.ceil(10 * wanted - 1e-9)) / 10))


def place_times(labels: tuple[str, ...]) -> list[float]:
    """Return where times stand from 0 to 1: in proportion if they are dates or numbers."""
    places = np.linspace(0, 1, len(labels)) if len(labels) > 1 else np.zeros(len(labels))
    for read in (_number, _day):
        moments = [read(label) for label in labels]
        known = [moment for moment in moments if moment is not None]
        if len(labels) > 2 and len(known) == len(labels) and bool(np.all(np.diff(known) > 0)):
            places = (np.array(known) - known[0]) / (known[-1] - known[0])
            break
    return [round(float(place), 4) for place in places]


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _day(label: str) -> float | None:
    """Return a date as a number of days; months and years are their first day."""
    for text in (label, f"{label}-01", f"{label}-01-01"):
        try:
            moment = datetime.fromisoformat(text).replace(tzinfo=None)
        except ValueError:
            continue
        return (moment - datetime.min) / timedelta(days=1)
    return None


def _short(value: float) -> float | int:
    """Return a number of games without needless digits."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() else rounded
