"""One file for an answer: arrays and words in a zip, with a version and a checksum; no pickle.

Every field of the answer is kept but the games themselves: observations, model, draws, how they
mixed, and all that is said in words.  A file is written beside its place and moved there whole.
"""

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from intransit.answers.encoding import Encoding
from intransit.answers.seen import Seen
from intransit.answers.strict_order import Circularity
from intransit.answers.verdict import Transitivity
from intransit.errors import InputError
from intransit.inference.layout import lay_out
from intransit.inference.observations import Observations
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws, Mixing
from intransit.model import HalfCauchy, Levels, OutcomeLaw, Readings, Wins
from intransit.model.terms import from_words, to_words
from intransit.tables import Clock
from intransit.tables.reading import open_reading

if TYPE_CHECKING:
    from intransit.answers.answer import Answer

FORMAT = "intransit answer"
VERSION = 3
AGAIN = "make it again with `intransit fit`"
WORDS, NUMBERS, SEAL = "answer.json", "arrays.npz", "sha256"


def check_folder(place: Path) -> None:
    """Refuse, before any work, a place that no file can be put at."""
    if place.is_dir():
        raise InputError(f"{place}: it is a folder; give the name of a file.")
    if not place.parent.is_dir():
        raise InputError(f"{place}: there is no folder {place.parent}; make it, or choose another.")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole, or not at all."""
    folder = path.parent if str(path.parent) else Path(".")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def pack(answer: "Answer") -> bytes:
    """Return an answer as one file."""
    posterior = answer.posterior
    words: dict[str, object] = {
        "names": answer.names,
        "clock": asdict(answer.clock),
        "encoding": asdict(answer.encoding),
        "story": answer.story,
        "source": answer.source,
        "transitive": asdict(answer.transitive),
        "reading": asdict(answer.reading),
        "model": to_words(posterior.layout.model),
        "law": _law_words(posterior.law),
        "way": posterior.way,
        "notes": posterior.notes,
    }
    arrays: dict[str, np.ndarray] = {}
    for name, part in (
        ("seen", answer.seen),
        ("observations", posterior.layout.seen),
        ("draws", posterior.draws),
        ("mixing", posterior.mixing),
    ):
        words[name] = None if part is None else _take_apart(part, name, arrays)
    return seal_file(words, arrays)


def unpack(path: Path) -> dict[str, Any]:
    """Return the fields of an answer that was kept."""
    words, arrays = open_file(path)
    try:
        observations = Observations(**_put_together(words["observations"], "observations", arrays))
        model = from_words(words["model"])
        draws = Draws(**_put_together(words["draws"], "draws", arrays))
        mixing = words["mixing"]
        posterior = Posterior(
            layout=lay_out(observations, model),
            law=_made_law(words["law"]),
            draws=draws,
            mixing=None if mixing is None else Mixing(**_put_together(mixing, "mixing", arrays)),
            way=str(words["way"]),
            notes=tuple(words["notes"]),
        )
        fits = draws.states.shape[1] == posterior.layout.items.n_states
        if not fits or not np.isfinite(draws.states).all():
            raise InputError(f"{path}: its draws do not fit its games; {AGAIN}.")
        return {
            "names": tuple(words["names"]),
            "posterior": posterior,
            "clock": Clock(**words["clock"]),
            "encoding": Encoding(**{k: _tuples(v) for k, v in words["encoding"].items()}),
            "story": tuple(words["story"]),
            "source": str(words["source"]),
            "seen": Seen(**_put_together(words["seen"], "seen", arrays)),
            "transitive": _made_verdict(words["transitive"]),
            "reading": open_reading(words["reading"]),
        }
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: a part of it is missing or of another kind; {AGAIN}.") from None


def _take_apart(part: Any, name: str, arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """Put the arrays of a record aside, by field; return what is left as words."""
    words: dict[str, object] = {}
    for entry in fields(part):
        value = getattr(part, entry.name)
        key = f"{name}.{entry.name}"
        if isinstance(value, np.ndarray):
            arrays[key] = value
        elif isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
            for k, one in enumerate(value):
                arrays[f"{key}.{k}"] = one
            words[entry.name] = {"arrays": len(value)}
        else:
            words[entry.name] = value
    return words


def _put_together(
    words: Mapping[str, Any], name: str, arrays: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Return the fields of a record."""
    out: dict[str, Any] = {}
    for key, value in words.items():
        if isinstance(value, dict):
            out[key] = tuple(arrays[f"{name}.{key}.{k}"] for k in range(int(value["arrays"])))
        else:
            out[key] = _tuples(value)
    for key, array in arrays.items():
        parts = key.split(".")
        if parts[0] == name and len(parts) == 2:
            out[parts[1]] = array
    return out


def _tuples(value: Any) -> Any:
    """Return lists of a file as the tuples that they were."""
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _law_words(law: OutcomeLaw) -> dict[str, object]:
    words: dict[str, object] = {"kind": type(law).__name__}
    if isinstance(law, Levels):
        words["most"] = law.most
    if isinstance(law, Readings):
        known = not isinstance(law.noise, HalfCauchy)
        words |= {"known": known, "noise": law.noise if known else law.noise.scale}  # type: ignore[union-attr]
    return words


def _made_verdict(words: dict[str, Any]) -> Transitivity:
    circle = words.pop("circle")
    return Transitivity(
        **{k: _tuples(v) for k, v in words.items()},
        circle=None if circle is None else Circularity(**circle),
    )


def _made_law(words: Mapping[str, Any]) -> OutcomeLaw:
    if words["kind"] == "Levels":
        return Levels(int(words["most"]))
    if words["kind"] == "Readings":
        noise = float(words["noise"])
        return Readings(noise if words["known"] else HalfCauchy(noise))
    return Wins()


def seal_file(words: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return words and arrays as one file, sealed."""
    head = {"format": FORMAT, "version": VERSION, **words}
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False).encode()
    numbers = io.BytesIO()
    np.savez(numbers, **arrays)  # type: ignore[arg-type]
    seal = hashlib.sha256(text + numbers.getvalue()).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in ((WORDS, text), (NUMBERS, numbers.getvalue()), (SEAL, seal)):
            file.writestr(zipfile.ZipInfo(name), content)  # without the time of writing
    return out.getvalue()


def open_file(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return words and arrays of a file, or refuse it in one sentence."""
    try:
        with zipfile.ZipFile(path) as file:
            text, numbers, seal = (file.read(name) for name in (WORDS, NUMBERS, SEAL))
        head = json.loads(text)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise InputError(f"{path}: it is a folder; give the file that `fit` wrote.") from None
    except (zipfile.BadZipFile, KeyError, EOFError, ValueError, zlib.error):
        raise InputError(
            f"{path}: it is no answer of intransit, or was cut short; {AGAIN}."
        ) from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(f"{path}: it is no answer of intransit; {AGAIN}.")
    if head.get("version") != VERSION:
        raise InputError(
            f"{path}: it has version {head.get('version')} and this intransit reads version "
            f"{VERSION}; {AGAIN}, or install the version that wrote it."
        )
    if hashlib.sha256(text + numbers).hexdigest().encode() != seal:
        raise InputError(f"{path}: its content does not match its checksum; {AGAIN}.")
    with np.load(io.BytesIO(numbers), allow_pickle=False) as arrays:
        return head, dict(arrays)
