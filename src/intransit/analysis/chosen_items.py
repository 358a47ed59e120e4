"""An answer about some of its items, chosen by a question: named, busiest, strongest.

Of the posterior these items keep their own draws, as if they alone had been asked for.  Paths,
effects and noise are those of the whole, so that a question about two of the items has the same
answer.  Which groups they belong to is known from the whole, too.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from intransit.analysis.fitted_table import FittedTable, Item, Part
from intransit.analysis.ranking import leaderboard
from intransit.arrays import BoolArray, IntArray, slices
from intransit.checks import as_list, as_whole
from intransit.errors import InputError
from intransit.inference.observations import Observations, Seen
from intransit.inference.paths import Layout, Numbers, Paths
from intransit.inference.posterior import Known, Posterior
from intransit.model.terms import By, PairEffects

AT_ONCE = 1_000_000  # cells that are looked through at once

A = TypeVar("A", bound=FittedTable)


def choose_part(answer: A, items: Sequence[Item] = (), *, played: int = 0, top: int = 0) -> A:
    """Return the answer about some of the items; see `Answer.only`."""
    chosen, why = _choose(answer, items, played, top)
    if len(chosen) < 2:
        raise InputError("only: fewer than two items were chosen; name two, or ask for more.")
    seen = answer.seen
    n_items = answer.n_items if answer.part is None else answer.part.n_items
    said = f"Of {n_items:,} items this is about {len(chosen):,}: {why}."
    return replace(
        answer,
        names=tuple(answer.names[k] for k in chosen.tolist()),
        posterior=part_of(answer.posterior, chosen),
        seen=Seen(seen.first[chosen], seen.last[chosen], seen.games[chosen]),
        story=(*answer.story, said),
        board=None,
        part=Part(n_items, answer.n_games, why),
    )


def _choose(
    answer: FittedTable, items: Sequence[Item], played: int, top: int
) -> tuple[IntArray, str]:
    """Return the items, rising, and in words which they are."""
    named = [answer.number(item) for item in as_list(items, "items")]
    played, top = as_whole("played", played, least=0), as_whole("top", top, least=0)
    parts, why = [np.array(named, np.int64)], []
    if played:
        most = np.argsort(-answer.seen.games, kind="stable")[:played]
        parts.append(most)
        why.append(f"the {len(most):,} that played most")
    if top:
        best = leaderboard(answer, answer.seen.end).order[:top]
        parts.append(best)
        why.append(f"the {len(best):,} strongest")
    if named:
        why.append(f"{len(set(named)):,} named")
    return np.unique(np.concatenate(parts)), " and ".join(why)


def part_of(whole: Posterior, items: IntArray) -> Posterior:
    """Return the posterior of some items, given by rising numbers; they are numbered anew."""
    layout, draws = whole.layout, whole.draws
    paths, rows = _some_paths(layout.items, items, np.arange(len(items)))
    numbers, drawn = [], []
    for one, values in zip(layout.numbers, draws.numbers, strict=True):
        keys, new = _owners(one, layout.seen, items)
        place, known = one.paths.find(keys)
        some, states = _some_paths(one.paths, place[known], new[known])
        numbers.append(Numbers(one.term, some))
        drawn.append(np.ascontiguousarray(values[:, states]))
    seen = _among(layout.seen, items)
    small = Layout(
        seen,
        layout.model,
        paths,
        np.zeros(0, np.int64),
        tuple(numbers),
        layout.newcomer[items],
        layout.span,
    )
    return Posterior(
        small,
        whole.law,
        replace(draws, states=np.ascontiguousarray(draws.states[:, rows]), numbers=tuple(drawn)),
        None,
        whole.way,
        whole.notes,
        known=Known(whole.groups[items], whole.axis),
    )


def _some_paths(paths: Paths, owners: IntArray, keys: IntArray) -> tuple[Paths, IntArray]:
    """Return the paths of some owners, named anew by rising keys, and which states they have."""
    order = np.argsort(keys, kind="stable")
    owners, keys = owners[order], keys[order]
    first = paths.begin[owners]
    counts = paths.begin[owners + 1] - first
    begin = np.concatenate([[0], np.cumsum(counts)])
    rows = np.repeat(first - begin[:-1], counts) + np.arange(begin[-1])
    made = Paths.without_cells(keys, begin, paths.clock[rows], paths.moves, paths.number(rows))
    return made, rows


def _owners(one: Numbers, seen: Observations, items: IntArray) -> tuple[IntArray, IntArray]:
    """Return the keys of all owners that some items may have, in the whole and in the part."""
    n = len(items)
    if isinstance(one.term, PairEffects):
        i, j = np.triu_indices(n, 1)
        return items[i] * seen.n_items + items[j], i * n + j
    if isinstance(one.term, By):
        width = len(dict(seen.values)[one.term.column])
        code = np.arange(width)
        return tuple((k[:, None] * width + code).ravel() for k in (items, np.arange(n)))  # type: ignore[return-value]
    return one.paths.keys, one.paths.keys  # a side belongs to nobody


def _among(seen: Observations, items: IntArray) -> Observations:
    """Return the games among some items, looking through all a part at a time."""
    inside = np.zeros(seen.n_items, bool)
    inside[items] = True
    cuts = slices(max(len(seen), 1), AT_ONCE)
    rows = np.concatenate([_rows_inside(seen, here, inside) for here in cuts])
    return seen.among(items, rows)


def _rows_inside(seen: Observations, here: slice, inside: BoolArray) -> IntArray:
    pairs = seen.pairs[here]
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < seen.n_items):
        raise InputError(
            "only: the file of this answer has games of items that it does not know; make it again "
            "with `intransit fit`."
        )
    return np.asarray(here.start + np.flatnonzero(inside[pairs].all(axis=1)))
