"""Words and numbers as HTML: whatever a table calls its items, it is shown as text."""

import math
import re
from html import escape

from intransit import percent as numbers

NO_BREAK = "\u00a0"
LONG = 24  # letters from which a name may be cut by the layout, and so gets a title
# What would turn the text around it, and what HTML cannot hold.
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
PER_CENT = re.compile(r"(?<=\d) %")
UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")


def clean(value: str) -> str:
    """Return the text with what HTML or UTF-8 cannot hold replaced by a mark."""
    return UNSHOWN.sub("\ufffd", value)


def plain(value: str) -> str:
    """Return a text for HTML, in element or attribute."""
    return escape(clean(value), quote=True)


def sentence(value: str) -> str:
    """Return a running text for HTML; a name in it cannot turn the direction of the rest."""
    together = PER_CENT.sub(f"{NO_BREAK}%", value).replace("± ", f"±{NO_BREAK}")
    return plain(TURNING.sub("", together))


def name(value: str) -> str:
    """Return a name for HTML, in its own direction; the layout may cut it, the title does not."""
    title = f' title="{plain(value)}"' if len(value) > LONG else ""
    return f'<bdi class="name"{title}>{plain(value)}</bdi>'


def shorten(value: str, most: int) -> str:
    """Return at most `most` letters of a text, without what would turn or break it."""
    value = TURNING.sub("", clean(value))
    return value if len(value) <= most else value[: most - 1].rstrip() + "…"


def percent(share: float, digits: int = 0) -> str:
    """Return a share as per cent, held together; see `intransit.percent`."""
    return _bind(numbers.percent(share, digits))


def estimate(middle: float, low: float, high: float, digits: int = 0) -> tuple[str, str]:
    """Return a share and its interval as per cent, held together."""
    value, between = numbers.estimate(middle, low, high, digits)
    return _bind(value), _bind(between)


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
