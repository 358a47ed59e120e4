"""Spoiled tables are read or refused with one sentence; nothing else ever happens."""

import io
import random
import time
import zipfile

import pytest

from intransit import InputError, read
from tests.data.fuzzing import attempt, spoiled

SEED, SECONDS, MOST = 14, 8.0, 400  # longer by `python -m benchmarks.fuzz`


def test_spoiled_tables_are_read_or_refused_in_a_sentence(tmp_path):
    rng = random.Random(SEED)
    begin, seen = time.monotonic(), []
    while len(seen) < MOST and time.monotonic() - begin < SECONDS:
        data, settings = spoiled(rng)
        outcome = attempt(tmp_path / "spoiled", data, settings)
        assert outcome in {"read", "refused"}, (outcome, data, settings)
        seen.append(outcome)
    assert set(seen) == {"read", "refused"}


def test_json_lines_may_end_in_several_ways(tmp_path):
    """Found by the fuzzer: the engine's own words came through."""
    place = tmp_path / "games.jsonl"
    row = b'{"a": "x", "b": "y", "outcome": 1}'
    place.write_bytes(row + b"\r\n" + row + b"\n" + row + b"\r\n")
    assert read(place).counts.sum() == 3


def test_a_digit_that_is_no_decimal_orders_no_periods(tmp_path):
    """Found by the fuzzer: a superscript is a digit to Python, and no number."""
    place = tmp_path / "games.csv"
    place.write_text("patch,a,b,winner\n1.¹,x,y,x\n1.2,y,z,z\n1.10,x,z,x\n")
    assert read(place, time="patch", order="version").counts.sum() == 3


def test_a_zip_of_a_later_version_is_refused(tmp_path):
    """Found by the fuzzer: Python says so with an error of its own."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("t.csv", "a,b,outcome\nx,y,1\n")
    data = bytearray(held.getvalue())
    data[data.index(b"PK\x01\x02") + 6] = 84  # the version that is needed to unpack it
    place = tmp_path / "games.zip"
    place.write_bytes(data)
    with pytest.raises(InputError, match=r"zip file version 8\.4; unpack it first\."):
        read(place)
