"""Spoiled tables are read or refused with one sentence; nothing else ever happens."""

import random
import time

from intransit import read
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
