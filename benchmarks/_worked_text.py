"""How the worked study writes numbers, lists, tables and paragraphs."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from intransit.analysis.verdict import Transitivity

Scope = dict[str, Any]

WIDTH = 125  # letters of a line of prose
CLEAR = 2.0  # standard errors beyond which a difference is called one


def is_clear(told: Transitivity) -> bool:
    """Return whether knowing what no ranking explains clearly helps."""
    return told.gain is not None and told.gain > CLEAR * told.gain_error


def p_value(told: Transitivity) -> str:
    """Return p, small ones as such."""
    return "< 0.001" if told.p_value < 0.001 else f"{told.p_value:.2g}"


def gain(told: Transitivity) -> str:
    """Return the gain with its standard error."""
    if told.gain is None or told.gain_error is None:
        return "not measured"
    digits = 4 if told.gain_error >= 0.0001 else 5
    return f"{signed(told.gain, digits)} ± {told.gain_error:.{digits}f}"


def signed(value: float, digits: int) -> str:
    """Return a number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


def very(probability: float) -> str:
    """Return a probability near 1, never rounded up to it."""
    return f"{100 * probability:.1f} %" if probability < 0.9995 else "> 99.9 %"


def interval(told: Transitivity) -> str:
    """Return the share that no ranking explains, with its interval."""
    return f"{percent(told.share)} ({percent(told.share_low)} to {percent(told.share_high)})"


def percent(share: float) -> str:
    """Return a share in per cent, small ones with a decimal."""
    return f"{100 * share:.1f} %" if 0.0005 <= share < 0.0195 else f"{100 * share:.0f} %"


def span(shares: Iterable[float]) -> str:
    """Return the least and the largest of some shares."""
    least, *_, most = sorted([*shares] * 2)
    return percent(least) if least == most else f"{percent(least)} to {percent(most)}"


def in_words(number: int) -> str:
    """Return small numbers as words."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else f"{number:,}"


def listed(parts: Sequence[str]) -> str:
    """Return parts with commas and an and."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def prose(*sentences: str) -> str:
    """Return sentences as a paragraph."""
    return textwrap.fill(" ".join(s for s in sentences if s), WIDTH, break_on_hyphens=False)


def bullet(line: str) -> str:
    """Return a point of a list."""
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
