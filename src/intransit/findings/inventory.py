"""What was in the table: rows used and not, columns, span, pairs that met, pools, thin items."""

from pathlib import PurePath

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.findings.items import pools
from intransit.findings.wording import brief
from intransit.percent import percent
from intransit.tables.reading import describe_unused, plural

FEW = 5  # games: an item with fewer is told
NAMED = 4  # items of a list
POOLS = 3  # that are described


def take_stock(answer: FittedTable) -> tuple[str, ...]:
    """Return what was in the table, line by line."""
    reading = answer.reading
    said = [_rows(answer)]
    said += [f"Not used: {describe_unused(part, reading.unit)}." for part in reading.unused]
    if reading.columns:
        columns = [
            column.name + (f" ({column.role})" if column.role != column.name else "")
            for column in reading.columns
        ]
        said.append(f"Columns: {', '.join(columns)}.")
    said += [f"Note: {note.rstrip('.')}." for note in reading.notes]
    said += [_size(answer), _met(answer)]
    return (*said, *_apart(answer), *_thin(answer))


def is_named(answer: FittedTable) -> bool:
    """Return whether the table has a name of its own, as a file has."""
    return answer.reading.source not in {"", "arrays"}


def _rows(answer: FittedTable) -> str:
    """Say how many rows there were, of which file, and how many were used."""
    reading = answer.reading
    place = f" of {PurePath(reading.source).name}" if is_named(answer) else ""
    place += f" with {', '.join(reading.where)}" if reading.where else ""
    if reading.n_used < reading.n_rows:
        were = "was" if reading.n_used == 1 else "were"
        return f"{reading.n_used:,} of {plural(reading.n_rows, 'row')}{place} {were} used."
    if reading.n_rows == 1:
        return f"The one row{place} was used."
    return f"All {plural(reading.n_rows, 'row')}{place} were used."


def _size(answer: FittedTable) -> str:
    n_items = answer.n_items if answer.part is None else answer.part.n_items
    said = f"{answer.n_games:,.12g} games between {plural(n_items, 'item')}"
    if answer.clock.kind == "none":
        return f"{said}; the table has no times."
    begin, end = (answer.clock.to_text(t) for t in (answer.seen.begin, answer.seen.end))
    return f"{said}, all at {end}." if begin == end else f"{said}, from {begin} to {end}."


def _met(answer: FittedTable) -> str:
    n, pairs = answer.n_items, answer.posterior.layout.seen.pairs
    met = len(np.unique(pairs[:, 0] * n + pairs[:, 1]))
    possible = n * (n - 1) // 2
    if answer.part is not None:
        chosen = f"This page is about {plural(n, 'item')} of them: {answer.part.why}"
        return f"{chosen}. {met:,} of {possible:,} possible pairs of these met."
    if met == possible:
        return "Every pair met." if possible > 1 else "There is one pair."
    return f"{met:,} of {possible:,} possible pairs met ({percent(met / possible)})."


def _apart(answer: FittedTable) -> list[str]:
    """Say which pools never met."""
    pool = pools(answer, np.arange(answer.n_items))
    n = int(pool.max()) + 1
    if n == 1:
        return []
    parts = []
    for k in range(min(n, POOLS)):
        items = np.flatnonzero(pool == k)
        parts.append(f"{plural(len(items), 'item')} ({_names(answer, items)})")
    rest = f", and {n - POOLS} more" if n > POOLS else ""
    return [
        f"{n} pools never met, so nothing is known of one against another: "
        f"{', '.join(parts)}{rest}."
    ]


def _thin(answer: FittedTable) -> list[str]:
    """Say which items have too few games to say much."""
    games = answer.seen.games
    thin = np.flatnonzero(games < FEW)
    if not len(thin):
        return []
    thin = thin[np.argsort(games[thin], kind="stable")]
    have = "has" if len(thin) == 1 else "have"
    return [
        f"{len(thin):,} of {plural(answer.n_items, 'item')} {have} fewer than {FEW} games, so "
        f"little is known of them: {_names(answer, thin)}."
    ]


def _names(answer: FittedTable, items: np.ndarray) -> str:
    named = ", ".join(brief(answer.names[k]) for k in items[:NAMED])
    left = len(items) - NAMED
    return f"{named} and {left:,} more" if left > 0 else named
