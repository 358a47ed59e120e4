"""Finishing orders one row an event, a column a place: ``1st``, ``2nd``, ``3rd``.

Each two of a row become a game that the one in the better place won; an empty cell is nobody.
"""

import itertools
import re

from intransit.tables.facts import Facts
from intransit.tables.options import Options
from intransit.tables.reading import Column, plural
from intransit.tables.shapes import Shaped, materialised, named_by_hand
from intransit.tables.vocabulary import plain

ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    "tenth",
)
NUMBERED = re.compile(
    r"(?:(?:place|placing|position|pos|rank|ranking|finish|finisher|p)(\d+)"
    r"|(\d+)(?:st|nd|rd|th)?(?:place|position)?)"
)
FEWEST = 3  # places; two columns are a game
SHARED = 0.3  # of the names of a column that another has too, at least of some
BETTER, WORSE, OUTCOME = "better placed", "worse placed", "who came first"


def find_podiums(facts: Facts, options: Options, asked: bool) -> Shaped | None:
    """Return rows of places as games, or None where the table has none."""
    if named_by_hand(options):
        return None
    table = facts.table
    places = {_place(plain(name)): i for i, name in reversed(list(enumerate(table.names)))}
    columns: list[int] = []
    while len(columns) + 1 in places:
        columns.append(places[len(columns) + 1])
    if len(columns) < FEWEST or not all(facts.is_text(i) for i in columns):
        return None
    if not _share_names(facts, columns) or not (asked or _hold_names(facts, columns)):
        return None
    n = len(table.names)
    listed = ", ".join(f"nullif({facts.text(i)}, '')" for i in columns)
    pairs = ", ".join(
        f"({a}, {b})" for a, b in itertools.combinations(range(1, len(columns) + 1), 2)
    )
    kept = ", ".join(f"c{i}" for i in range(n))
    rows = (
        f"SELECT {kept}, placed[i] AS c{n}, placed[j] AS c{n + 1}, 1.0::DOUBLE AS c{n + 2}, row "
        f"FROM (SELECT *, [{listed}] AS placed FROM {facts.numbered}) JOIN (VALUES {pairs}) AS "
        "p(i, j) ON placed[i] IS NOT NULL AND placed[j] IS NOT NULL"
    )
    extra = {BETTER: "VARCHAR", WORSE: "VARCHAR", OUTCOME: "DOUBLE"}
    new = materialised(table, "podiums", rows, extra)
    notes = (
        f"each row is a finishing order with {plural(len(columns), 'place')}, taken as games of "
        "each two; games of one order are not independent of each other",
    )
    told = tuple(Column("place", table.names[i], "by its name") for i in columns)
    none = ("winner", "loser", "first_score", "second_score", "margin", "side", "count")
    said: dict[str, str | bool | None] = dict.fromkeys(none, False)
    said |= {"first": BETTER, "second": WORSE, "outcome": OUTCOME}
    return Shaped(new, said, told, notes)


def _place(name: str) -> int:
    """Return the place that a column is for, 0 where it is for none."""
    bare = name.removesuffix("place").removesuffix("name")
    if bare in ORDINALS:
        return ORDINALS.index(bare) + 1
    if name == "winner":
        return 1
    match = NUMBERED.fullmatch(name)
    return int(next(part for part in match.groups() if part)) if match else 0


def _hold_names(facts: Facts, columns: list[int]) -> bool:
    """Return whether columns called 1 or P1 hold words: numbers may be goals of a period."""
    if not any(NUMBERED.fullmatch(plain(facts.table.names[i])) for i in columns):
        return True
    texts = [text for i in columns for text, _ in facts.values(i) or [] if text.strip()]
    return 2 * sum(any(sign.isalpha() for sign in text) for text in texts) > len(texts)


def _share_names(facts: Facts, columns: list[int]) -> bool:
    """Return whether names of one place occur in others, as those who come in do."""
    seen = []
    for i in columns[:4]:
        cells = facts.values(i)
        if cells is None:
            return False
        seen.append({text.strip() for text, _ in cells} - {""})
    everything = set().union(*seen)
    return bool(everything) and sum(len(part) for part in seen) >= (1 + SHARED) * len(everything)
