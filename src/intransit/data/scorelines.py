"""Scores written as one text, as in ``3-1``, ``2-1 aet`` and ``L 5-3``; and what only looks so."""

import re
from collections.abc import Mapping

SCORELINE = re.compile(
    r"(?:(?P<told>[WLDT])[\s,]*)?(\d+)\s*[-:–]\s*(\d+)"
    r"(?:\s*\(?(?:aet|a\.e\.t\.?|ot|so|et|ap|pens?)\)?|\s*\(\d+\s*[-:–]\s*\d+\s*(?:p|pens?)?\.?\)"
    r"\s*(?:p|pens?)?\.?)?",  # after extra time; beside the half-time score, or that of a shoot-out
    re.IGNORECASE,
)
RECORD = re.compile(r"(\d)\s*[-–]\s*(\d)\s*[-–]\s*\d")  # games won, lost and drawn of a match


def closed_up(text: str) -> str:
    """Return a result without spaces, and with a plain dash: ``1 – 0`` is 1-0."""
    return re.sub(r"\s+", "", text).replace("–", "-")


def read_scoreline(text: str) -> tuple[float, float] | None:
    """Return the two scores of a text, the first's first; ``L 5-3`` is 3 against 5."""
    line = SCORELINE.fullmatch(text.strip())
    if line is None:
        record = RECORD.fullmatch(text.strip())
        return None if record is None else (float(record[1]), float(record[2]))
    x, y = float(line[2]), float(line[3])
    told = (line["told"] or "").casefold()
    if (told == "w" and x < y) or (told == "l" and x > y):  # the winner's score comes first
        return y, x
    return x, y


def are_no_scores(lines: Mapping[str, tuple[float, float]]) -> bool:
    """Return whether texts like scores are times of day, seasons, or ranges such as 18-24."""
    texts = [text.strip() for text in lines]
    of_day = all(re.fullmatch(r"[0-2]?\d:[0-5]\d", text) for text in texts)
    seasons = all(y % 100 == (x + 1) % 100 and max(x, y) > 9 for x, y in lines.values())
    ranges = len(texts) > 1 and all(9 < x < y for x, y in lines.values())
    return of_day or seasons or ranges
