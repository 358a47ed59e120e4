"""Teams of several a side: columns with the members of each, joined into one item a team.

A comparison here is between two items, so a team is an item of its own, whoever else its members
play with; their names are sorted, so that the order in which they are listed changes nothing.
"""

import itertools
import re

from intransit.tables.columns import find_column
from intransit.tables.facts import Facts
from intransit.tables.options import Options
from intransit.tables.reading import Column
from intransit.tables.shapes import Shaped, named_by_hand, with_columns
from intransit.tables.vocabulary import ITEMS, listed, tokens_of

SIDES = (  # words for the two sides, in the order in which they are tried
    *(("winner", "loser"), ("winning", "losing"), ("won", "lost"), ("w", "l")),
    *(("blue", "red"), ("radiant", "dire"), ("home", "away"), ("left", "right"), ("a", "b")),
    *(("team1", "team2"), ("t1", "t2"), ("side1", "side2"), ("teama", "teamb")),
)
MEMBERS = listed(
    "top jungle jng jg mid middle adc bot bottom support sup sup. carry champ champion hero pick "
    "member partner front back forehand backhand drive first second third fourth fifth"
)
BETWEEN = " / "


def find_teams(facts: Facts, options: Options, _asked: bool) -> Shaped | None:
    """Return teams of several as one item each, or None where there is one column a side."""
    found = _named(facts, options) if options.teams else None
    if found is None and not named_by_hand(options):
        found = _recognised(facts)
    if found is None:
        return None
    (first_word, second_word), firsts, seconds = found
    taken = facts.table.names  # of the team: what a winner would be called, where that is free
    names = tuple(
        word if word[-1].isdigit() and word not in taken else f"{word} team"
        for word in (first_word, second_word)
    )
    extra = {
        name: ("VARCHAR", _joined(facts, columns))
        for name, columns in zip(names, (firsts, seconds), strict=True)
    }
    won = first_word in {"winner", "winning", "won", "w"}
    roles = ("winner", "loser") if won else ("first", "second")
    listed_names = [facts.table.names[i] for i in (*firsts, *seconds)]
    told = tuple(
        Column(f"{role} member", facts.table.names[i], "named" if options.teams else "by its name")
        for role, columns in zip(roles, (firsts, seconds), strict=True)
        for i in columns
    )
    notes = (
        f"{len(firsts)} a side: each team is one item, its members joined by a stroke; to compare "
        f'single members, name one column a side, as in {roles[0]}="{listed_names[0]}" and '
        f'{roles[1]}="{facts.table.names[seconds[0]]}"',
    )
    return Shaped(
        with_columns(facts.table, extra),
        dict(zip(roles, names, strict=True)),
        told,
        notes,
        keeps_where=True,
    )


def _joined(facts: Facts, columns: list[int]) -> str:
    """SQL: the sorted members of a team as one text, empty where none is named."""
    members = ", ".join(f"nullif({facts.text(i)}, '')" for i in columns)
    kept = f"list_sort(list_filter([{members}], lambda m: m IS NOT NULL))"
    return f"nullif(array_to_string({kept}, '{BETWEEN}'), '')"


def _named(facts: Facts, options: Options) -> tuple[tuple[str, str], list[int], list[int]] | None:
    label = facts.table.engine.label
    sides = [
        [find_column(facts.table.names, name, role, label) for name in columns]
        for role, columns in options.teams.items()
    ]
    roles = tuple(options.teams)
    return (roles[0], roles[1]), sides[0], sides[1]


def _recognised(facts: Facts) -> tuple[tuple[str, str], list[int], list[int]] | None:
    tokens = [tokens_of(name) for name in facts.table.names]
    for first, second in SIDES:
        sides = [_of_side(tokens, word) for word in (first, second)]
        shared = [rest for rest in sides[0] if rest in sides[1]]
        groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for rest in shared:
            groups.setdefault(tuple(t for t in rest if not _tells_members(t)), []).append(rest)
        for bare, members in groups.items():
            items = all(token in ITEMS | MEMBERS | {"name", "names"} for token in bare)
            if len(members) >= 2 and items:
                columns = [[side[rest] for rest in members] for side in sides]
                if all(_has_names(facts, i) for i in itertools.chain(*columns)):
                    return (first, second), columns[0], columns[1]
    return None


def _has_names(facts: Facts, column: int) -> bool:
    """Return whether a column holds names; W1 and W2 may be the games of two sets."""
    return facts.is_text(column) and not facts.looks_numeric(column)


def _tells_members(token: str) -> bool:
    return token.isdigit() or token in MEMBERS - {"champ", "champion", "hero", "pick"}


def _of_side(tokens: list[tuple[str, ...]], word: str) -> dict[tuple[str, ...], int]:
    """Return what is left of names that carry a side's word, with their columns."""
    parts = tuple(re.findall(r"[a-z]+|\d+", word))
    found: dict[tuple[str, ...], int] = {}
    for column, name in enumerate(tokens):
        for k in range(len(name) - len(parts) + 1):
            if name[k : k + len(parts)] == parts:
                rest = name[:k] + name[k + len(parts) :]
                if rest:
                    found.setdefault(rest, column)
                break
    return found
