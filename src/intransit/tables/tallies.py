"""One row a pair with how many games each won: wins and losses, perhaps draws, or votes."""

from dataclasses import dataclass

from intransit.errors import InputError
from intransit.tables import vocabulary as words
from intransit.tables.columns import find_column
from intransit.tables.facts import Facts
from intransit.tables.options import Options
from intransit.tables.reading import Column, plural
from intransit.tables.shapes import Shaped, materialised
from intransit.tables.vocabulary import MARKERS, listed, plain, short_names

WON = listed("wins win won w victories firstwins nwins numwins winsfor")
LOST = listed("losses loss lost l defeats secondwins nlosses numlosses winsagainst")
DRAWN = listed(
    "draws draw drawn d ties tie tied t ndraws nties numties tievotes votestie stalemates"
)
EACH = listed(
    "wins win won votes vote victories w gameswon matcheswon setswon nwins numwins nvotes"
)
OUTCOME, GAMES = "won, lost or drawn", "number of games"


@dataclass(frozen=True)
class Tally:
    """Columns with the games that the first won, lost and drew."""

    won: int
    lost: int
    drawn: int | None
    why: str


def find_tally(facts: Facts, options: Options, asked: bool) -> Shaped | None:
    """Return rows of won and lost games as games, or None where there are none."""
    found = _named(facts, options) or _recognised(facts, options, asked)
    if found is None:
        return None
    used = [found.won, found.lost] + ([] if found.drawn is None else [found.drawn])
    if not asked and found.why != "named" and not _are_counts(facts, used):
        return None
    roles = ("won", "lost", "drawn")
    told = tuple(
        Column(role, facts.table.names[column], found.why)
        for role, column in zip(roles, used, strict=False)
    )
    n, total = len(facts.table.names), " + ".join(f"coalesce({facts.number(i)}, 0)" for i in used)
    parts = [
        f"SELECT * EXCLUDE (row), {outcome}::DOUBLE AS c{n}, {facts.number(column)} AS c{n + 1}, "
        f"row FROM {facts.numbered} WHERE {_fine(facts, used)} AND {facts.number(column)} > 0"
        for outcome, column in zip(("1.0", "0.0", "0.5"), used, strict=False)
    ]
    # Rows with something that is no count stay, so that they are reported.
    parts.append(
        f"SELECT * EXCLUDE (row), NULL::DOUBLE, NULL::DOUBLE, row FROM {facts.numbered} "
        f"WHERE NOT {_fine(facts, used)}"
    )
    n_rows, empty = facts.count(f"{_fine(facts, used)} AND {total} = 0")
    table = materialised(
        facts.table, "tallies", " UNION ALL ".join(parts), {OUTCOME: "DOUBLE", GAMES: "DOUBLE"}
    )
    notes = [f"{plural(n_rows, 'row')} of games won and lost, counted as that many games"]
    if empty:
        notes.append(f"{plural(empty, 'row')} without any game")
    columns: dict[str, str | bool | None] = {"outcome": OUTCOME, "count": GAMES}
    columns |= dict.fromkeys(("first_score", "second_score", "margin"), False)
    return Shaped(table, columns, told, tuple(notes))


def _fine(facts: Facts, columns: list[int]) -> str:
    """SQL: whether every cell is a count, or empty."""
    tests = [
        f"(NOT {facts.filled(i)} OR coalesce(isfinite({facts.number(i)}) AND "
        f"{facts.number(i)} >= 0, false))"
        for i in columns
    ]
    some = " OR ".join(facts.filled(i) for i in columns)
    return f"({' AND '.join(tests)} AND ({some}))"


def _named(facts: Facts, options: Options) -> Tally | None:
    names, label = facts.table.names, facts.table.engine.label
    told = options.tally
    if told.get("wins") is None and told.get("losses") is None:
        return None
    places = {role: find_column(names, name, role, label) for role, name in told.items() if name}
    if "wins" not in places or "losses" not in places:
        raise InputError(
            f"{label}: name both wins= and losses= (command line: --wins and --losses).",
            source=label,
        )
    return Tally(places["wins"], places["losses"], places.get("draws"), "named")


def _recognised(facts: Facts, options: Options, asked: bool) -> Tally | None:
    names = [plain(name) for name in short_names(facts.table.names)]
    said = {plain(str(name)) for name in options.columns.values() if isinstance(name, str)}
    names = ["" if name in said else name for name in names]
    if not asked and _says_who_won(names):
        return None
    drawn = next((i for i, name in enumerate(names) if name in DRAWN), None)
    won = [i for i, name in enumerate(names) if name in WON]
    lost = [i for i, name in enumerate(names) if name in LOST]
    if len(won) == 1 and len(lost) == 1:
        return Tally(won[0], lost[0], drawn, "by its name")
    for marker in MARKERS:
        pair = [_each(names, word) for word in (marker.first, marker.second)]
        if pair[0] is not None and pair[1] is not None and pair[0] != pair[1]:
            return Tally(pair[0], pair[1], drawn, "by its name")
    return None


def _says_who_won(names: list[str]) -> bool:
    """Return whether another column tells outcomes, so that wins may be what was before."""
    outcomes = words.OUTCOMES - WON - LOST
    return bool(outcomes & set(names) or words.score_pairs(names, MARKERS))


def _each(names: list[str], word: str) -> int | None:
    """Return the column with the wins of one of the two, as in wins_a."""
    for i, name in enumerate(names):
        rest = words.stem(name, word)
        if rest is not None and rest in EACH:
            return i
    return None


def _are_counts(facts: Facts, columns: list[int]) -> bool:
    """Return whether the columns hold numbers of games, so that a game has one winner."""
    tests = [facts.filled(i) for i in columns] + [f"{facts.number(i)} >= 0" for i in columns]
    _, *found = facts.count(*tests)
    filled, fine = found[: len(columns)], found[len(columns) :]
    return all(n > 0 and m >= 0.95 * n for n, m in zip(filled, fine, strict=True))
