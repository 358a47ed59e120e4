"""Rows packed into whole numbers give the cells that the engine gives."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from intransit import read
from intransit.tables import cells as adding

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


def both_ways(frame, **wishes):
    """The same table read with packed rows, if they can be, and by the engine alone."""
    packed = read(frame, **wishes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adding, "add_up_packed", lambda _: None)
        return packed, read(frame, **wishes)


def assert_same(one, other):
    assert one.names == other.names
    for column in ("first", "second", "outcomes", "times", "counts"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
    assert (one.sides is None) == (other.sides is None)
    if one.sides is not None:
        np.testing.assert_array_equal(one.sides, other.sides)
    for mine, theirs in zip(one.by, other.by, strict=True):
        assert mine.values == theirs.values
        np.testing.assert_array_equal(mine.codes, theirs.codes)
    assert one.report == other.report


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60), step=st.sampled_from([1.0, 0.25]))
@settings(max_examples=12, phases=QUICK, deadline=None)
def test_packed_rows_agree_with_the_engine(seed, n, step):
    """Whole times are packed, others are not; refused rows are counted alike."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "time": rng.integers(-5, 5, n) * step,
            "a": rng.choice(["x", "y", "z", ""], n),
            "b": rng.choice(["x", "y", "z", "w"], n),
            "outcome": rng.choice([0.0, 0.5, 1.0, np.nan], n, p=[0.4, 0.2, 0.3, 0.1]),
            "a_home": rng.integers(-1, 2, n),
            "kind": rng.choice(["u", "v", ""], n),
        }
    )
    frame.loc[len(frame)] = [1.0, "x", "y", 1.0, 1, "u"]
    frame = pd.concat([frame, frame.iloc[[-1] * (n + 1)]])  # so that most rows can be used
    assert_same(*both_ways(frame, by="kind"))


@pytest.mark.parametrize(
    "times",
    [
        ["2024-01-02", "1999-12-31", "2024-01-02"],
        ["13.10", "13.8", "13.9"],
        [1e15, 0, 5],
        [1, 2, 3],
    ],
)
def test_times_of_every_kind_agree(times):
    frame = pd.DataFrame({"patch": times, "a": list("xyz"), "b": list("yzx"), "outcome": [1, 0, 1]})
    assert_same(*both_ways(frame, time="patch"))
