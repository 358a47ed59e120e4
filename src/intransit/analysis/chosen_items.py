"""An answer about some of its items, chosen by a question: named, busiest, strongest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from intransit.analysis.fitted_table import FittedTable, Item, Part
from intransit.analysis.ranking import leaderboard
from intransit.arrays import IntArray
from intransit.checks import as_list, as_whole
from intransit.errors import InputError
from intransit.inference.observations import Seen
from intransit.inference.parts import part_of

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
