"""Answer files with something wrong in them: sound ones, changed at random and sealed again."""

import copy
import hashlib
import io
import random
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np

import intransit as it
from intransit.analysis import saving
from intransit.model import By, Factors, PairEffects, Readings, Scores, Side

NASTY = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        3,
        1.5,
        1e308,
        -1e308,
        10**15,
        10**30,
        10**400,
        "",
        "x",
        "date",
    ),
    *([], {}, [[]], [None], ["x"], {"x": 1}, {"array": "answer.draws.states"}, "x" * 10_000),
    *({"kind": "Drift"}, {"kind": "HalfCauchy", "scale": 0}, "\ud7ff", "\0", [1, 2, 3]),
)
PLACES = (0, -1, 1, 2, 10**9, 2**62)


def sound_answers() -> list[it.Answer]:
    """Return small answers of every kind, to be spoiled."""
    rng = np.random.default_rng(0)
    n = 40
    first = rng.integers(4, size=n)
    second = (first + rng.integers(1, 4, size=n)) % 4
    names = np.array(list("abcd"))
    margins = np.round(rng.normal(size=n), 1)
    days = np.sort(rng.integers(12, size=n)).astype(float)
    where = rng.choice(["clay", "grass"], size=n).tolist()
    sides = rng.choice([-1, 0, 1], size=n)

    def games(**further):
        outcomes = np.where(margins == 0, 0.5, margins > 0) if "margins" in further else margins > 0
        return it.Games.from_arrays(names[first], names[second], outcomes, **further)

    wins = games(times=days, sides=sides, by={"surface": where})
    model = Scores() + Factors(1) + PairEffects() + Side() + By("surface")
    readings = games(times=days, margins=margins)
    return [
        it.fit(wins, model=model, effective=3),
        it.fit(games(margins=margins), model=Scores() + PairEffects(), effective=3),
        it.fit(readings, model=Scores(), law=Readings(), effective=3),
    ]


def open_file(place):
    """Return words and arrays of a file whose checksum is right."""
    file = saving.SealedFile(place)
    file.verify()
    return file.words, file.arrays(copied=True)


def seal_file(words, arrays):
    """Return words and arrays as one file, sealed."""
    out = io.BytesIO()
    saving.write_sealed(out, words, arrays)
    return out.getvalue()


class Spoiler:
    """Makes bad files of good answers."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "spoiled.intransit"
        self.whole, self.parts = [], []
        for answer in sound_answers():
            place = answer.save(self.path)
            words, arrays = open_file(place)
            self.whole.append(place.read_bytes())
            self.parts.append(({"answer": words["answer"]}, arrays))

    def spoiled(self, rng: random.Random) -> bytes:
        """Return the bytes of a file with something wrong in it."""
        k, way = rng.randrange(len(self.whole)), rng.random()
        if way < 0.2:
            data = self.whole[k]
            for _ in range(rng.choice([1, 1, 2, 8])):
                data = _change_bytes(data, rng)
            return data
        if way < 0.35:
            return _other_zip(self.whole[k], rng)
        words, arrays = copy.deepcopy(self.parts[k][0]), dict(self.parts[k][1])
        if way < 0.65:
            for _ in range(rng.choice([1, 1, 2])):
                _change_words(words, rng)
        elif way < 0.9:
            _change_array(arrays, rng)
        else:
            return _spoiled_arrays(seal_file(words, arrays), rng)
        try:
            return seal_file(words, arrays)
        except (ValueError, UnicodeEncodeError):  # what JSON cannot hold
            return self.whole[k][: rng.randrange(100)]

    def attempt(self, data: bytes) -> str:
        """Open a file, and ask it; return "read", "refused", or what went wrong."""
        self.path.write_bytes(data)
        try:
            answer = it.Answer.load(self.path)
        except it.InputError as error:
            sentence = str(error)
            whole = "\n" not in sentence and sentence.endswith((".", "?"))
            return "refused" if whole and len(sentence) < 1_000 else f"said {sentence[:2000]!r}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        try:
            return ask(answer)
        except Exception as error:
            return f"asking: {type(error).__name__}: {error}"


def ask(answer: it.Answer) -> str:
    """Put the questions that commands put; every number must be one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of sizes beyond all measure
        standings = answer.rank()
        chances = answer.matrix()
        told = answer.probability(0, 1, side=1)
        text = answer.summary()
    numbers = [told.probability, told.low, told.high, told.win, told.tie, told.loss]
    numbers += [value for one in standings for value in (one.strength, one.low, one.high)]
    good = np.isfinite(numbers).all() and np.isfinite(chances).all()
    good &= bool(np.all((chances >= 0) & (chances <= 1))) and bool(text)
    return "read" if good else f"numbers that are none: {told}"


def _change_bytes(data: bytes, rng: random.Random) -> bytes:
    place, way = rng.randrange(len(data)) if data else 0, rng.randrange(5)
    if rng.random() < 0.5:  # the directory of a zip is at its end
        place = max(len(data) - rng.randrange(1, 300), 0)
    if way == 0 and data:
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    if way == 1:
        return data[:place]
    if way == 2:
        return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place:]
    if way == 3:
        return (
            data[:place]
            + struct.pack("<I", rng.choice([0, 1, 2**31, 2**32 - 1]))
            + data[place + 4 :]
        )
    return data[:place] + data[place + rng.randrange(1, 20) :]


def _other_zip(data: bytes, rng: random.Random) -> bytes:
    """Return the file with its parts missing, doubled, renamed, compressed, or with others."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        parts = [(name, old.read(name)) for name in old.namelist()]
    way, k = rng.randrange(7), rng.randrange(len(parts))
    name, content = parts[k]
    if way == 0:
        del parts[k]
    elif way == 1:
        parts.append((name, rng.choice([content, b"", content[:50]])))
    elif way == 2:
        parts.append((rng.choice(["more", "../more", "a/", "answer.json/"]), b"x"))
    elif way == 3:
        parts[k] = (rng.choice(["other", name.upper(), " "]), content)
    elif way == 4:
        parts[k] = (
            name,
            rng.choice([b"", b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b"null"]),
        )
    elif way == 5:
        parts[k] = (name, rng.choice([b"1" * 6_000, b"NaN", b'{"format": 1}', content[:-1]]))
    out = io.BytesIO()
    kind = rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]) if way == 6 else zipfile.ZIP_STORED
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", kind) as new:
        warnings.simplefilter("ignore", UserWarning)  # names that are there twice
        for one, its in parts:
            new.writestr(one, its)
    return out.getvalue()


def _change_words(words, rng: random.Random) -> None:
    """Change, remove or add one word, somewhere."""
    if not words:
        return
    holder, key = words, rng.choice(list(words))
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.85:
        holder = holder[key]
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    way = rng.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[rng.choice(["more", "names", "kind", ""])] = rng.choice(NASTY)
    elif way == 1:
        holder.append(rng.choice([*NASTY, holder[key]]))
    else:
        holder[key] = copy.deepcopy(rng.choice(NASTY))


def _change_array(arrays: dict[str, np.ndarray], rng: random.Random) -> None:
    """Change one array: its values, its shape, its kind, or that it is there."""
    key = rng.choice(list(arrays))
    array, way = arrays[key].copy(), rng.randrange(9)
    if way == 0:
        del arrays[key]
        return
    if way == 1:
        arrays[rng.choice(["more", "answer.draws.more", "answer.draws.numbers.9"])] = array
        return
    if way == 2:
        array = array[:-1]
    elif way == 3:
        array = np.concatenate([array, array])
    elif way == 4:
        array = rng.choice([array.T, array[None], array.ravel(), array[..., :0], array[:0]])
    elif way == 5:
        array = array.astype(rng.choice(["f4", "f8", "i8", "i4", "c16", "U3", "?"]))
    elif way == 6 and array.size:
        array.flat[rng.randrange(array.size)] = rng.choice(PLACES)
    elif array.size and array.dtype.kind == "f":
        array.flat[rng.randrange(array.size)] = rng.choice(
            [np.nan, np.inf, -np.inf, 1e30, -1e30, -1.0, 0.5]
        )
    arrays[key] = array


def _spoiled_arrays(data: bytes, rng: random.Random) -> bytes:
    """Return the file with other bytes for arrays, sealed all the same."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        text, numbers = old.read(saving.WORDS), old.read(saving.NUMBERS)
    way = rng.randrange(4)
    if way == 0:
        numbers = _change_bytes(numbers, rng)
    elif way == 1:  # a header that tells of more than is there
        place = numbers.index(b"'shape': (") + len(b"'shape': (")
        numbers = numbers[:place] + b"9" + numbers[place + 1 :]
    else:
        with zipfile.ZipFile(io.BytesIO(numbers)) as old:
            parts = [(name, old.read(name)) for name in old.namelist()]
        k = rng.randrange(len(parts))
        name, content = parts[k]
        shape = rng.choice([b"(10**9,)", b"(99999999999,)", b"(-1,)", b"(2, 10**30)", b"(" * 80])
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + b", }\n"
        made = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
        parts[k] = (name, rng.choice([made, _change_bytes(content, rng), b""]))
        if way == 3:
            parts.append(parts[k - 1])
        out = io.BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as new:
            warnings.simplefilter("ignore", UserWarning)
            for one, its in parts:
                new.writestr(one, its)
        numbers = out.getvalue()
    return seal_bytes(text, numbers)


def seal_bytes(text: bytes, numbers: bytes) -> bytes:
    """Return a file of any words and numbers with a good checksum."""
    out = io.BytesIO()
    seal = hashlib.sha256(text + numbers).hexdigest().encode()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in zip(saving.PARTS, (text, numbers, seal), strict=True):
            file.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()
