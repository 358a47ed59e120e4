"""An answer as one file, and back.

Every field of the answer is kept but the games themselves: observations, model, draws, how they
mixed, and all that is said in words.  A file is written beside its place and moved there whole;
what is read back is checked for its types, shapes and values before anything is made of it.
"""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.answers.encoding import Encoding
from intransit.answers.records import RecordError, put_together, take_apart
from intransit.answers.sealed import AGAIN, open_file, seal_file
from intransit.answers.seen import Seen
from intransit.answers.verdict import Transitivity
from intransit.core.inputs import LARGEST, shown
from intransit.errors import InputError
from intransit.inference.layout import Layout, lay_out
from intransit.inference.observations import Observations
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Draws, Mixing
from intransit.model import Model, OutcomeLaw
from intransit.tables import Clock
from intransit.tables.reading import Reading

MOST_FACTORS = 1_000  # more than any table can tell apart
WAYS = ("gibbs", "newton", "filter")  # in which draws are made


def as_path(path: object) -> Path:
    """Return where a file is, or refuse what names none."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not str(path).strip():
        raise InputError(f"path: {shown(path)} was given; give the name of a file.")
    return Path(path)


def open_place(path: object) -> Path:
    """Return where a file is to be written; refuse, before any work, where none can be."""
    place = as_path(path)
    if place.is_dir():
        raise InputError(f"{place}: it is a folder; give the name of a file.")
    if not place.parent.is_dir():
        raise InputError(f"{place}: there is no folder {place.parent}; make it, or choose another.")
    return place


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


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of an answer."""

    names: tuple[str, ...]
    clock: Clock
    encoding: Encoding
    story: tuple[str, ...]
    source: str
    transitive: Transitivity
    reading: Reading
    way: str
    notes: tuple[str, ...]
    seen: Seen
    observations: Observations
    draws: Draws
    mixing: Mixing | None
    model: Model
    law: OutcomeLaw


def pack(answer: FittedTable) -> bytes:
    """Return an answer as one file."""
    posterior = answer.posterior
    kept = Kept(
        names=answer.names,
        clock=answer.clock,
        encoding=answer.encoding,
        story=answer.story,
        source=answer.source,
        transitive=answer.transitive,
        reading=answer.reading,
        way=posterior.way,
        notes=posterior.notes,
        seen=answer.seen,
        observations=posterior.layout.seen,
        draws=posterior.draws,
        mixing=posterior.mixing,
        model=posterior.layout.model,
        law=posterior.law,
    )
    arrays: dict[str, np.ndarray] = {}
    return seal_file({"answer": take_apart(kept, "answer", arrays)}, arrays)


def unpack(path: Path) -> dict[str, Any]:
    """Return the fields of an answer that was kept."""
    words, arrays = open_file(path)
    try:
        if set(words) != {"format", "version", "answer"}:
            raise RecordError("answer")
        kept: Kept = put_together(Kept, words["answer"], "answer", arrays)
    except ValueError:  # ours, or of a record that checks itself
        raise InputError(f"{path}: a part of it is missing or of another kind; {AGAIN}.") from None
    if len(arrays) != _n_arrays(words["answer"]):
        raise InputError(f"{path}: it has arrays that belong to nothing; {AGAIN}.")
    _refuse(path, "games", check_games(kept))
    layout = lay_out(kept.observations, kept.model)
    _refuse(path, "draws", check_draws(kept, layout))
    posterior = Posterior(
        layout=layout,
        law=kept.law,
        draws=kept.draws,
        mixing=kept.mixing,
        way=kept.way,
        notes=kept.notes,
    )
    fields = ("names", "clock", "encoding", "story", "source", "seen", "transitive", "reading")
    return {"posterior": posterior, **{name: getattr(kept, name) for name in fields}}


def _refuse(path: Path, what: str, sound: Mapping[str, bool]) -> None:
    wrong = [name for name, is_sound in sound.items() if not is_sound]
    if wrong:
        raise InputError(f"{path}: its {what} do not fit its other parts ({wrong[0]}); {AGAIN}.")


def check_games(kept: Kept) -> dict[str, bool]:
    """Return of every part of the games whether it is sound: shapes first, before values."""
    seen, n, cells = kept.observations, len(kept.names), len(kept.observations)
    columns = dict(seen.values)
    shaped = {
        "names": n == seen.n_items >= 2 and len(set(kept.names)) == n,
        "law": kept.law.kind == seen.kind == kept.encoding.loss,
        "way": kept.way in WAYS,
        "number of factors": kept.model.n_factors <= MOST_FACTORS,
        "covariates": len(columns) == len(seen.values)
        and {term.column for term in kept.model.by} <= set(columns),
        "clock": len(kept.clock.names) == len(kept.clock.numbers)
        and list(kept.clock.numbers) == sorted(kept.clock.numbers),
        "pairs": seen.pairs.shape == (cells, 2) and cells >= 1,
        "codes": seen.codes.shape == (len(columns), cells),
        "first and last times": all(
            part.shape == (n,) for part in (kept.seen.first, kept.seen.last, kept.seen.games)
        ),
        "wins of readings": (seen.positive is not None) == (seen.kind == "squared"),
    }
    for name in ("times", "counts", "means", "sides", "positive"):
        part = getattr(seen, name)
        shaped[name] = part is None or part.shape == (cells,)
    if not all(shaped.values()):
        return shaped
    first, second = seen.pairs.T
    size = np.abs(seen.means)
    known = np.isfinite(kept.seen.last)
    widths = np.array([len(values) for values in columns.values()])[:, None]
    return {
        "pairs": bool(((first >= 0) & (first < second) & (second < n)).all()),
        "times": _is_sound(seen.times),
        "counts": _is_sound(seen.counts) and bool((seen.counts > 0).all()),
        "means": _is_sound(seen.means)
        and (seen.kind != "logistic" or bool(((seen.means >= 0) & (size <= 1)).all()))
        and (seen.kind != "ordered" or bool((size == np.rint(size)).all())),
        "sides": _is_sound(seen.sides) and bool((np.abs(seen.sides) <= 1).all()),
        "codes": bool(((seen.codes >= -1) & (seen.codes < widths)).all()),
        "wins of readings": seen.positive is None
        or bool(((seen.positive >= 0) & (seen.positive <= seen.counts)).all()),
        "first and last times": bool(known.any())
        and _is_sound(kept.seen.first[known])
        and _is_sound(kept.seen.last[known])
        and bool((kept.seen.first <= kept.seen.last)[known].all())
        and bool((kept.seen.last[~known] < 0).all()),
        "numbers of games": _is_sound(kept.seen.games) and bool((kept.seen.games >= 0).all()),
    }


def check_draws(kept: Kept, layout: Layout) -> dict[str, bool]:
    """Return of every part of the draws whether it is sound."""
    draws, n = kept.draws, len(kept.draws.newcomers)
    width = draws.scales.shape[-1] if draws.scales.ndim == 2 else 0
    numbers = len(layout.numbers)
    cuts = layout.seen.n_levels
    shapes = {
        "states": (n, layout.items.n_states, 2 * width - 1),
        "scales": (n, width),
        "rates": (n, 2),
        "number_scales": (n, numbers),
        "number_rates": (n, numbers),
        "newcomers": (n,),
        "noise": (n,),
        "chain": (n,),
        "steps": (n, 2 * width - 1),
    }
    sound = {
        name: (part := getattr(draws, name)) is None or (part.shape == shape and _is_sound(part))
        for name, shape in shapes.items()
    }
    for name in ("scales", "rates", "number_scales", "number_rates", "noise", "steps", "chain"):
        part = getattr(draws, name)
        sound[name] &= part is None or bool((part >= 0).all())
    sound["number of draws"] = n >= 1 and width >= 1
    sound["factors"] = kept.way != "gibbs" or width == 1 + layout.n_factors
    sound["numbers"] = len(draws.numbers) == numbers and all(
        part.shape == (n, one.paths.n_states) and _is_sound(part)
        for part, one in zip(draws.numbers, layout.numbers, strict=False)
    )
    sound["cuts"] = (
        draws.cuts.ndim == 2
        and len(draws.cuts) == n
        and _is_sound(draws.cuts)
        and draws.cuts.shape[1] >= cuts
        and bool((draws.cuts >= 0).all() and (np.diff(draws.cuts, axis=1) >= 0).all())
        and (not kept.encoding.typical or len(kept.encoding.typical) == draws.cuts.shape[1] + 1)
    )
    sound["noise"] &= layout.seen.kind != "squared" or bool((draws.noise > 0).all())
    sound["mixing"] = kept.mixing is None or _mixing_is_sound(kept.mixing, len(kept.names))
    return sound


def _mixing_is_sound(mixing: Mixing, n_items: int) -> bool:
    n, m = len(mixing.scales), mixing.first.size
    return (
        all(part.shape == (n,) for part in (mixing.scale_r_hat, mixing.scale_effective))
        and all(
            part.shape == (m,)
            for part in (mixing.first, mixing.second, mixing.r_hat, mixing.effective)
        )
        and all(bool(((who >= 0) & (who < n_items)).all()) for who in (mixing.first, mixing.second))
    )


def _is_sound(values: np.ndarray) -> bool:
    """Return whether all are finite, and small enough to be squared."""
    return bool(np.isfinite(values).all()) and float(np.abs(values).max(initial=0)) <= LARGEST


def _n_arrays(words: Any) -> int:
    """Return how many arrays some words speak of."""
    if isinstance(words, list):
        return sum(_n_arrays(word) for word in words)
    if not isinstance(words, dict):
        return 0
    if set(words) == {"array"}:
        return 1
    return sum(_n_arrays(word) for word in words.values())
