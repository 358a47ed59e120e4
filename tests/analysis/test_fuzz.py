"""Spoiled answer files are read or refused with one sentence; nothing else ever happens."""

import io
import json
import random
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

import intransit as it
from intransit.analysis import saving
from tests.analysis.fuzzing import Spoiler, seal_bytes, seal_file

SEED, SECONDS, MOST = 14, 10.0, 400  # longer by `python -m benchmarks.fuzz`
LITTLE = 30_000_000  # bytes


@pytest.fixture(scope="module")
def spoiler(tmp_path_factory):
    return Spoiler(tmp_path_factory.mktemp("spoiled"))


def test_spoiled_answers_are_read_or_refused_in_a_sentence(spoiler):
    rng = random.Random(SEED)
    begin, seen = time.monotonic(), []
    while len(seen) < MOST and time.monotonic() - begin < SECONDS:
        data = spoiler.spoiled(rng)
        outcome = spoiler.attempt(data)
        assert outcome in {"read", "refused"}, (len(seen), outcome)
        seen.append(outcome)
    assert set(seen) == {"read", "refused"}


def parts_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return [file.read(name) for name in saving.PARTS]


def zipped(*parts, kind=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as file:
        for name, content in parts:
            file.writestr(name, content)
    return out.getvalue()


def header(shape, descr="<f8"):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


def bomb(spoiler):
    """Words of 60 MB in a file of 60 kB."""
    return zipped(("answer.json", b" " * 60_000_000), ("arrays.npz", b""), ("sha256", b""), kind=8)


def with_array(content):
    def made(spoiler):
        text, *_ = parts_of(spoiler.whole[0])
        return seal_bytes(text, zipped(("answer.draws.states.npy", content)))

    return made


def with_words(change):
    """Return a file that is sealed again after a change of its words and arrays."""

    def made(spoiler):
        words, arrays = json.loads(json.dumps(spoiler.parts[0][0])), dict(spoiler.parts[0][1])
        change(words["answer"], arrays)
        return seal_file(words, arrays)

    return made


def doubled(spoiler):
    text, numbers, seal = parts_of(spoiler.whole[0])
    with pytest.warns(UserWarning, match="Duplicate"):
        return zipped(
            ("answer.json", text), ("answer.json", text), ("arrays.npz", numbers), ("sha256", seal)
        )


def spoil(name, value):
    def change(words, arrays):
        array = arrays[name].copy()
        array.flat[0] = value
        arrays[name] = array

    return with_words(change)


CASES = {
    "unpacks to a thousand times its size": (bomb, "altered"),
    "array of a terabyte": (with_array(header("(125000000000,)")), "arrays"),
    "array of less than nothing": (with_array(header("(-1,)")), "arrays"),
    "array of objects": (with_array(header("(1,)", "|O") + b"x"), "arrays"),
    "header without end": (with_array(header("(" * 90)), "arrays"),
    "deep words": (lambda s: seal_bytes(b"[" * 1_000_000, parts_of(s.whole[0])[1]), "words"),
    "long number": (lambda _: seal_bytes(b"1" * 9_000, b""), "words"),
    "not a number in words": (lambda _: seal_bytes(b'{"a": NaN}', b""), "words"),
    "a name twice": (doubled, "altered"),
    "nothing": (lambda _: b"", "cut short"),
    "another zip": (lambda _: zipped(("t.csv", b"a,b")), "not an intransit answer"),
    "the last byte is missing": (lambda s: s.whole[0][:-1], "cut short"),
    "states that are none": (spoil("answer.draws.states", np.nan), r"draws .*\(states\)"),
    "a pair beyond the items": (spoil("answer.observations.pairs", 99), r"games .*\(pairs\)"),
    "counts below 0": (spoil("answer.observations.counts", -1.0), r"games .*\(counts\)"),
    "scales below 0": (spoil("answer.draws.scales", -1.0), r"draws .*\(scales\)"),
    "a clock of another kind": (
        with_words(lambda words, _: words["clock"].update(kind="sundial")),
        "of another kind",
    ),
    "more items than names": (
        with_words(lambda words, _: words["observations"].update(n_items=10**15)),
        r"games .*\(names\)",
    ),
    "a million factors": (
        with_words(lambda words, _: words["model"]["terms"][1].update(n=10**9)),
        r"games .*\(number of factors\)",
    ),
    "a name of two items": (
        with_words(lambda words, _: words.update(names=["a", "a", "b", "c"])),
        r"games .*\(names\)",
    ),
    "an array that belongs to nothing": (
        with_words(lambda _, arrays: arrays.update(more=np.zeros(2))),
        "belong to nothing",
    ),
    "an array that is missing": (
        with_words(lambda _, arrays: arrays.pop("answer.draws.rates")),
        "missing or of another kind",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_is_refused_before_memory_is_taken(case, spoiler):
    """Each was a traceback, took gigabytes, or was accepted."""
    make, said = CASES[case]
    place = spoiler.path.with_name("bad.intransit")
    place.write_bytes(make(spoiler))
    tracemalloc.start()
    try:
        with pytest.raises(it.InputError, match=said) as caught:
            it.Answer.load(place)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert most < LITTLE
    assert not saving.is_sealed(place) or place.stat().st_size > 1_000
