"""The moments that a report shows: few, evenly spread, with short names that can be read back."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.arrays import FloatArray
from intransit.tables import Clock

AHEAD = 3  # moments after the last
MONTH, YEAR = 28.0, 365.0  # days, at least


@dataclass(frozen=True, eq=False)
class Moments:
    """Times of the table, the last one its end, and some that are still to come."""

    times: FloatArray  # (n_times,)
    names: tuple[str, ...]  # one empty text where the table has no times
    later: FloatArray  # (n_later,)
    later_names: tuple[str, ...]
    step: float  # from one to the next, about


def choose_moments(answer: FittedTable, most: int) -> Moments:
    """Return the moments to be shown; one, where nothing changes over time.

    A table with few distinct times keeps its own.  Otherwise years or months where they are fine
    enough, so that 2024-03 is the first of March, and else equal steps; the last is the end.
    """
    clock, begin, end = answer.clock, answer.seen.begin, answer.seen.end
    nothing: FloatArray = np.zeros(0)
    if clock.kind == "none":
        return Moments(np.array([end]), ("",), nothing, (), 0.0)
    if not answer.model.moves or begin == end or most < 2:
        return Moments(np.array([end]), (clock.to_text(end),), nothing, (), 0.0)
    axis = np.unique(np.append(answer.posterior.axis[answer.posterior.axis < end], end))
    if answer.encoding.step == 0.0 and len(axis) <= most:
        step = float(np.median(np.diff(axis)))
        names = tuple(clock.to_text(float(t)) for t in axis)
        return _with_later(clock, axis, names, step)
    step = (end - begin) / (most - 1)
    if clock.kind == "date" and step > MONTH / 2:
        return _calendar(clock, begin, end, step, most)
    times = np.linspace(begin, end, most)
    grain = _grain(clock, step)
    times[:-1] = np.maximum(np.round(times[:-1] / grain) * grain, begin)
    times = np.unique(times)
    return _with_later(clock, times, tuple(_text(clock, t, grain) for t in times), step)


def _with_later(clock: Clock, times: FloatArray, names: tuple[str, ...], step: float) -> Moments:
    grain = _grain(clock, step)
    later = times[-1] + step * np.arange(1, AHEAD + 1)
    later = np.round(later / grain) * grain
    told = tuple(_text(clock, t, grain) for t in later)
    return Moments(times, names, later, told, step)


def _grain(clock: Clock, step: float) -> float:
    """Return what times are rounded to: days, seconds, or a round number below the step."""
    if clock.kind == "date":
        return 1.0 if step >= 1.0 else 1.0 / 86_400.0
    grain = 10.0 ** np.floor(np.log10(step))
    return float(grain if step >= 1.0 else grain / 10.0)


def _text(clock: Clock, time: float, grain: float) -> str:
    if clock.kind == "date":
        return clock.to_text(float(time))
    digits = max(0, -round(np.log10(grain)))
    text = clock.to_text(round(float(time), digits))
    return text if np.isclose(float(text), time, rtol=0.0, atol=grain * 1e-3) else f"{time:.12g}"


def _calendar(clock: Clock, begin: float, end: float, step: float, most: int) -> Moments:
    """Return firsts of months, or of years, that lie within the span, and its end."""
    first, last = (_date(t) for t in (begin, end))
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    stride = max(1, int(np.ceil(months / (most - 1))))
    yearly = step >= YEAR
    if yearly:
        stride = 12 * int(np.ceil(stride / 12))
    # Counted back from the latest, so that the last steps are whole ones.
    top = last.year * 12 + (0 if yearly else last.month - 1)
    times, names = [end], [clock.to_text(end)]
    while len(times) < most:
        time = clock.to_number(datetime(top // 12, top % 12 + 1, 1))
        if time < begin:
            break
        if time < end:
            times.append(time)
            names.append(f"{top // 12:04}" if yearly else f"{top // 12:04}-{top % 12 + 1:02}")
        top -= stride
        if top < 12:
            break
    return _with_later(clock, np.array(times[::-1]), tuple(names[::-1]), stride * YEAR / 12.0)


def _date(time: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=float(np.floor(time)))
