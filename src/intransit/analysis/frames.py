"""Answers as data frames, for ArviZ (extra ``arviz``), and as a short page for notebooks."""

import html as markup
import importlib
import importlib.util
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.ranking import find_standings, leaderboard, page
from intransit.analysis.results import Standing
from intransit.arrays import FloatArray
from intransit.checks import as_list, check_option
from intransit.errors import InputError, MissingDependencyError
from intransit.inference.draws import reach_of
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import scale_names, scale_values
from intransit.percent import estimate

MOST_PAIRS = 1_000


def to_arviz(posterior: Posterior, names: tuple[str, ...]) -> Any:
    """Return scales, and chances of pairs at the last time, by chain and draw."""
    if importlib.util.find_spec("arviz") is None:
        raise MissingDependencyError(
            "to_arviz needs ArviZ, which is not installed: pip install 'intransit[arviz]'."
        )
    arviz = importlib.import_module("arviz")
    d, layout = posterior.draws, posterior.layout
    scales = np.array([scale_values(layout, d.one(k)) for k in range(len(d))])
    first, second = np.triu_indices(posterior.n_items, 1)
    first, second = first[:MOST_PAIRS], second[:MOST_PAIRS]
    last = float(posterior.axis[-1])
    chances = posterior.chances(first, second, np.full(len(first), last))
    size = np.bincount(d.chain)
    shape = (len(size), int(size.min()))
    each = np.concatenate([np.flatnonzero(d.chain == c)[: shape[1]] for c in range(shape[0])])
    pairs = [f"{names[i]} > {names[j]}" for i, j in zip(first, second, strict=True)]
    groups = {
        "posterior": {
            "scale": scales[each].reshape(*shape, -1),
            "chance": chances[each].reshape(*shape, -1),
        }
    }
    settings = {
        "coords": {"scales": scale_names(layout), "pairs": pairs},
        "dims": {"scale": ["scales"], "chance": ["pairs"]},
    }
    if "posterior" in inspect.signature(arviz.from_dict).parameters:  # before ArviZ 1.0
        return arviz.from_dict(**groups, **settings)
    return arviz.from_dict(groups, **settings)


BACKENDS = ("pandas", "polars")
N_TIMES = 60  # points of a path
MOST_PATHS = 8  # items, unless they are named
SHOWN = 10  # items in a notebook


@dataclass(frozen=True, eq=False)
class ProbabilityPaths:
    """Mean probabilities of beating the others over time, with a band."""

    items: tuple[str, ...]
    times: FloatArray  # (n_times,)
    strengths: FloatArray  # (n_items, n_times)
    low: FloatArray  # (n_items, n_times)
    high: FloatArray  # (n_items, n_times)


def leading(answer: FittedTable, n: int, at: object = None) -> list[Standing]:
    """Return the n items of most assured strength, by the low end of their intervals, in rank."""
    board = leaderboard(answer, answer.when(at))
    best = np.argsort(-board.low, kind="stable")[:n]
    return page(answer, board, np.sort(best))


def paths(
    answer: FittedTable,
    items: Sequence[str | int] | None = None,
    *,
    level: float = 0.9,
    n_times: int = N_TIMES,
) -> ProbabilityPaths:
    """Return how strong items were over time: by default those that lead now."""
    reach_of(level)
    if items is None:
        chosen = [answer.number(s.name) for s in leading(answer, MOST_PATHS)]
    else:
        chosen = [answer.number(item) for item in as_list(items, "items")]
    if not chosen:
        raise InputError("items: none was given; name some, or leave them out.")
    times = np.unique(np.linspace(answer.seen.begin, answer.seen.end, n_times))
    numbers = np.array(chosen, dtype=np.int64)
    out = np.stack([answer.strengths(numbers, float(t), level=level) for t in times], axis=-1)
    return ProbabilityPaths(tuple(answer.names[k] for k in chosen), times, *out)


def matrix_frame(answer: FittedTable, at: object = None, *, backend: str | None = None) -> object:
    """Return the matrix of probabilities as a data frame: a row and a column for each item."""
    matrix = answer.matrix(at)
    title = "item"
    while title in answer.names:
        title += "_"
    columns = {name: matrix[:, k] for k, name in enumerate(answer.names)}
    return _frame({title: list(answer.names), **columns}, backend)


def rank_frame(answer: FittedTable, at: object = None, *, backend: str | None = None) -> object:
    """Return the standings as a data frame, best first."""
    standings = find_standings(answer, answer.when(at))
    columns = [field.name for field in fields(Standing)]
    return _frame({name: [getattr(s, name) for s in standings] for name in columns}, backend)


def path_frame(
    answer: FittedTable, items: Sequence[str | int] | None = None, *, backend: str | None = None
) -> object:
    """Return strengths over time as a long data frame: item, time, strength, low, high."""
    found = paths(answer, items)
    n, m = found.strengths.shape
    return _frame(
        {
            "item": np.repeat(np.array(found.items, dtype=object), m).tolist(),
            "time": moments(answer, found.times).tolist() * n,
            "strength": found.strengths.ravel(),
            "low": found.low.ravel(),
            "high": found.high.ravel(),
        },
        backend,
    )


def moments(answer: FittedTable, times: FloatArray) -> np.ndarray:
    """Return times as they are shown: dates where the table has dates."""
    if answer.clock.kind != "date":
        return times
    seconds = np.round(times * 86_400.0).astype(np.int64)
    return seconds.astype("datetime64[s]")


def html(answer: FittedTable) -> str:
    """Return a short page for notebooks: what was fitted, and who leads."""
    say = markup.escape
    story = "".join(f"<li>{say(line)}</li>" for line in answer.story)
    standings = find_standings(answer, answer.when())
    cells = "".join(
        f"<tr><td>{s.rank}</td><td style='text-align:left'>{say(s.name)}</td>"
        f"<td>{'</td><td>'.join(estimate(s.strength, s.low, s.high, 1))}</td>"
        f"<td>{s.rating:.0f}</td><td>{s.games:,.6g}</td><td>{say(s.last)}</td></tr>"
        for s in standings[:SHOWN]
    )
    more = len(standings) - SHOWN
    rest = f"<p>and {more} more: <code>answer.rank()</code></p>" if more > 0 else ""
    return (
        f"<div><b>{say(answer.source)}</b>: {answer.n_items} items<ul>{story}</ul>"
        "<table><thead><tr><th></th><th>item</th><th>beats the others</th><th>90 % interval</th>"
        f"<th>rating</th><th>games</th><th>last</th></tr></thead><tbody>{cells}</tbody></table>{rest}</div>"
    )


def _frame(columns: Mapping[str, object], backend: str | None) -> object:
    """Return columns as a data frame of pandas or polars, the first that is installed."""
    import narwhals as nw  # noqa: PLC0415  (only when a frame is asked for)

    if backend is not None:
        check_option("backend", backend, BACKENDS)
    for name in BACKENDS if backend is None else (backend,):
        if importlib.util.find_spec(name) is not None:
            return nw.from_dict(dict(columns), backend=name).to_native()  # type: ignore[arg-type]
    wanted = backend or "pandas or polars"
    raise MissingDependencyError(
        f"data frames need {wanted}, which is not installed: pip install {backend or 'pandas'}."
    )
