"""Shares as per cent, and numbers with their errors: how pages, sentences and tables write them.

Ends of an interval are rounded outwards and its value to as many digits, so that an interval
always holds its own value as both are written; what is not quite nothing or all never says so.
The page's script rounds in the same way (assets/tools.js).
"""

import math
from collections.abc import Sequence

FINEST = 1  # digits of a per cent at most, unless more are asked for
NARROW = 2.0  # units of the last digit: a narrower interval has a digit more
LEAST, MOST = 4, 6  # digits of a log loss
NOTHING = 0.5 * 10.0**-MOST  # what is less in size is written as 0


def and_list(parts: Sequence[str]) -> str:
    """Return some words as a list in a sentence."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def percent(share: float, digits: int = 0) -> str:
    """Return a share as per cent; what is nearly all or nothing keeps a digit.

    >>> percent(0.5), percent(0.004), percent(0.99999), percent(1.0)
    ('50 %', '0.4 %', '> 99.9 %', '100 %')
    """
    if not math.isfinite(share):
        return "–"
    for finer in range(digits, max(digits, 1) + 1):
        text = f"{100 * share:.{finer}f}"
        if share in {0.0, 1.0} or 0.0 < float(text) < 100.0:
            return f"{text} %"
    unit = 10.0 ** -max(digits, 1)
    edge = f"< {unit:.{max(digits, 1)}f}" if share < 0.5 else f"> {100 - unit:.{max(digits, 1)}f}"
    return f"{edge} %"


def estimate(middle: float, low: float, high: float, digits: int = 0) -> tuple[str, str]:
    """Return a share and its interval as per cent, in digits that suit both.

    >>> estimate(0.712, 0.668, 0.751)
    ('71 %', '66 to 76 %')
    >>> estimate(0.97, 0.968, 0.974)
    ('97.0 %', '96.8 to 97.4 %')
    >>> estimate(0.03, 0.0, 0.0)
    ('3 %', '0 to 3 %')
    """
    if math.isnan(middle) or math.isnan(low) or math.isnan(high):
        return percent(middle, digits), "–"
    low, high = min(low, middle), max(high, middle)
    while digits < FINEST and 0.0 < 100 * (high - low) < NARROW * 10.0**-digits:
        digits += 1
    unit = 10**digits
    # Rounded first, for 0.29 is a little less as a number; nothing and all stay what they are.
    bottom = min(math.floor(round(100 * low * unit, 6)), 100 * unit - (low < 1.0))
    top = max(math.ceil(round(100 * high * unit, 6)), int(high > 0.0))
    return percent(middle, digits), f"{bottom / unit:.{digits}f} to {top / unit:.{digits}f} %"


def signed(value: float, digits: int = 1) -> str:
    """Return a number with its sign, in the typographer's minus; nothing has none."""
    if math.isnan(value):
        return "–"
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def points(change: float, low: float, high: float) -> tuple[str, str]:
    """Return a change of a chance and its interval, in points of per cent, rounded outwards."""
    if math.isnan(change) or math.isnan(low) or math.isnan(high):
        return signed(100 * change), "–"
    bottom = math.floor(round(1000 * min(low, change), 6)) / 10
    top = math.ceil(round(1000 * max(high, change), 6)) / 10
    return signed(100 * change), f"{signed(bottom)} to {signed(top)}"


def with_error(value: float, error: float, *, sign: bool = False) -> str:
    """Return a log loss or a gain with its standard error, in digits that show the error.

    >>> with_error(-0.00016, 0.00004, sign=True), with_error(0.6931, 0.0), with_error(0.0, 0.0)
    ('−0.00016 ± 0.00004', '0.6931', '0')
    """
    if not math.isfinite(value):
        return "–"
    exact = not NOTHING < error < math.inf
    if abs(value) < NOTHING and exact:
        return "0"
    wanted = LEAST if exact else math.ceil(-math.log10(error))
    digits = min(max(wanted, LEAST), MOST)
    text = signed(value, digits) if sign else f"{value:.{digits}f}"
    return text if exact else f"{text} ± {error:.{digits}f}"
