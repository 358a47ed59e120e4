"""Columns by the names that a user gives: the same letters first, then without case and spaces."""

import difflib
from collections.abc import Sequence

from intransit.errors import InputError
from intransit.tables.files import shorten
from intransit.tables.vocabulary import plain

MOST_LISTED = 20  # names that one sentence lists


def find_column(names: Sequence[str], name: str, role: str, label: str) -> int:
    """Return the place of the column called `name`; without one, say which names are near."""
    found = [i for i, own in enumerate(names) if own == name]
    found = found or [i for i, own in enumerate(names) if plain(own) == plain(name)]
    if len(found) == 1:
        return found[0]
    what = "there is no column" if not found else "more than one column is called"
    near = [] if found else nearest(names, name)
    hint = f"did you mean {' or '.join(quoted(own) for own in near)}? The" if near else "the"
    raise InputError(
        f"{label}: {what} {quoted(name)} (for {role}); {hint} columns are {list_names(names)}.",
        source=label,
    )


def nearest(names: Sequence[str], name: str) -> list[str]:
    """Return the names that a slip of the pen could have meant, the nearest first."""
    known = {plain(own): own for own in names}
    close = difflib.get_close_matches(plain(name), list(known), n=3, cutoff=0.7)
    return [known[own] for own in close]


def list_names(names: Sequence[str], joint: str = ", ") -> str:
    """Return names in quotation marks, the first of them where there are many."""
    more = ", ..." if len(names) > MOST_LISTED else ""
    return joint.join(quoted(name) for name in names[:MOST_LISTED]) + more


def quoted(name: str) -> str:
    """Return a name on one line in quotation marks."""
    return f'"{shorten(name)}"'
