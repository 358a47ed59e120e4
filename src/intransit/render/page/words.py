"""Words and numbers as HTML: whatever a table calls its items, it is shown as text."""

import math
import re
from html import escape

NO_BREAK = "\u00a0"
LEAST_ERROR = 1e-9  # what is less is rounding
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


def percent(value: float, digits: int = 0) -> str:
    """Return a share as per cent; what is not quite nothing or everything does not say so."""
    if math.isnan(value):
        return "–"
    least = 10.0**-digits / 2
    if 0 < 100 * value < least:
        return f"<{NO_BREAK}{10.0**-digits:.{digits}f}{NO_BREAK}%"
    if 100 - least < 100 * value < 100:
        return f">{NO_BREAK}{100 - 10.0**-digits:.{digits}f}{NO_BREAK}%"
    return f"{100 * value:.{digits}f}{NO_BREAK}%"


def span(low: float, high: float) -> str:
    """Return an interval of shares as per cent."""
    if math.isnan(low) or math.isnan(high):
        return "–"
    digits = 1 if low < high and round(100 * low) == round(100 * high) else 0
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}{NO_BREAK}%"


def signed(value: float, digits: int = 1) -> str:
    """Return a number with its sign, in the typographer's minus; nothing has none."""
    if math.isnan(value):
        return "–"
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def points(value: float) -> str:
    """Return a change of a chance in points of per cent."""
    return signed(100 * value)


def p_value(value: float) -> str:
    """Return a p value as it is usually written."""
    if math.isnan(value):
        return "–"
    return f"<{NO_BREAK}0.001" if value < 0.001 else f"{value:.3f}"


def with_error(value: float, error: float, *, sign: bool = False) -> str:
    """Return a log loss or a gain with its standard error, in digits that show the error."""
    digits = min(max(math.ceil(-math.log10(error)), 4), 6) if LEAST_ERROR < error < math.inf else 4
    text = signed(value, digits) if sign else f"{value:.{digits}f}"
    return f"{text} <small>± {error:.{digits}f}</small>" if error > LEAST_ERROR else text


def count(value: float) -> str:
    """Return a number of games: whole if it is, with thousands set apart."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
