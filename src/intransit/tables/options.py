"""What the caller of `read` says about a table, as one value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Columns = dict[str, str | bool | None]  # role to column; False says that there is none


@dataclass(frozen=True)
class Options:
    """How a table is to be read; what is None is recognised."""

    columns: Columns
    by: tuple[str, ...] = ()
    where: Mapping[str, object] = field(default_factory=dict)
    order: str | Sequence[object] | None = None  # of periods that have names
    day_first: bool | None = None
    both_bad: str = "tie"
    strict: bool = False
    grades: Sequence[object] | None = None  # from the first's best to the second's
    shape: str | None = None  # see `shapes`
    doubled: str | None = None  # count games that are told twice "once", or "keep" both
    entries: str | None = None  # what a matrix holds: "shares", "wins" or "margins"
    games: object = None  # a second matrix, of numbers of games
    tally: Mapping[str, str] = field(default_factory=dict)  # columns of wins, losses, draws
    event: str | None = None  # columns of finishing orders
    place: str | None = None
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # columns of members


def flag(role: str) -> str:
    """Return how the command line calls a role."""
    return "--" + role.replace("_", "-")


def how_to_say(*roles: str, none: str | None = None) -> str:
    """Return how roles are named, in Python and on the command line."""
    told = " and ".join(f"{role}=" for role in roles)
    typed = " and ".join(flag(role) for role in roles)
    if none is None:
        return f"{told} (command line: {typed})"
    without = f"--without {none.replace('_', '-')}"
    return f"{told}, or {none}=False for none (command line: {typed}, or {without})"
