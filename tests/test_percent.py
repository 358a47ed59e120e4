"""Shares as they are written: an interval holds its value, and nothing is rounded to certainty."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from intransit.percent import estimate, percent, points, signed, with_error

shares = st.floats(0.0, 1.0)


@given(st.tuples(shares, shares, shares), st.integers(0, 1))
@example((0.03, 0.0, 0.0), 0)  # "3 %, interval 0 to 0 %" has been seen
@example((1.0, 1.0, 1.0), 1)
def test_an_interval_holds_its_value_as_written(numbers, digits):
    """Whatever is given, the value as it is written lies between the ends as they are written."""
    middle, *ends = numbers
    value, between = estimate(middle, *sorted(ends), digits)
    low, high = (float(end) for end in re.match(r"(.+) to (.+) %$", between).groups())
    assert low <= 100 * min(numbers) + 1e-4
    assert high >= 100 * max(numbers) - 1e-4
    if value[0] in "<>":
        assert low <= float(value[2:-2]) <= high
    else:
        assert low <= float(value[:-2]) <= high


@given(shares)
def test_only_nothing_is_nothing_and_only_all_is_all(share):
    """Neither 0 nor 100 per cent is written of anything else."""
    text = percent(share)
    assert (text in {"0 %", "100 %"}) == (share in {0.0, 1.0})
    assert text.endswith(" %")


def test_changes_and_errors():
    """Signs can be seen, ends are rounded outwards, and an error is shown in digits that it has."""
    assert (signed(0.123), signed(-0.05, 2), signed(-0.001)) == ("+0.1", "−0.05", "0.0")
    assert points(0.123, 0.0811, 0.1644) == ("+12.3", "+8.1 to +16.5")
    assert points(float("nan"), 0.0, 1.0) == ("–", "–")
    assert with_error(0.0297, 0.0028, sign=True) == "+0.0297 ± 0.0028"
    assert with_error(0.0, 0.0, sign=True) == "0"  # not "+0.0000 ± 0.0000"
    assert with_error(0.00000001, 0.00000001, sign=True) == "0"
    assert with_error(float("nan"), 0.1) == "–"
