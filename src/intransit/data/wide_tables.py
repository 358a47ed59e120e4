"""Wide tables: matrices of items against items, and finishing orders, taken as games of each two.

*Matrices* of win rates, wins, or payoffs, with or without numbers of games.  The first column names
the items of the rows, the header those of the columns.  What an entry is follows from entries that
face each other: rates add up to 1, 10 or 100, payoffs to 0, and counts of wins to anything.

*Finishing orders*, one row a place or one row an event (*podiums*), as games of each two.  Of two
who finished, the one in the better place won; equal places are a tie.  Who did not finish lost to
all who did, and says nothing beside others who did not.  Who did not start says nothing.  Where a
row is an event, a column is a place (``1st``, ``2nd``, ``3rd``) and an empty cell nobody.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from intransit.arrays import FloatArray
from intransit.data import vocabulary as words
from intransit.data.engine import EngineTable, columns_sql
from intransit.data.facts import Facts
from intransit.data.reading import (
    ROLES,
    Column,
    Columns,
    MatrixEntries,
    ReadOptions,
    list_names,
    plural,
)
from intransit.data.shapes import Shaped, made_games, named_by_hand
from intransit.data.sources import take_in
from intransit.data.time_columns import read_moments
from intransit.data.vocabulary import ITEMS, listed, number, plain, short_names

FEWEST, MOST = 3, 2_000  # items; fewer are no chart, and more are no matrix that anybody wrote
KNOWN = 0.8  # share of rows whose name is a column
ROUNDING = 0.021  # of rates of 1: two that were each rounded to a percent
RECORD = re.compile(r"(\d+(?:\.\d+)?)\s*[-:/–]\s*(\d+(?:\.\d+)?)")  # 6-4, 12:8
WITH_GAMES = re.compile(r"(.+?)\s*[(\[]\s*(?:n\s*=\s*)?(\d+)(?:\s*games?)?\s*[)\]]")  # 55% (120)
ITSELF = {"", "-", "–", "—", "x", "*", "**", "xx", "■", "█", "#", "\\", "●", "n/a", "nan"}


class Entry(NamedTuple):
    """What a cell of a matrix says; the value is NaN where that is not understood."""

    value: float
    against: float = np.nan  # the second number of a record such as 6-4
    games: float = np.nan  # the number in brackets
    percent: bool = False


@dataclass(frozen=True)
class Matrix:
    """Entries of items against items, NaN where there is none."""

    names: tuple[str, ...]
    rows: tuple[int, ...]  # row of the table that each item has
    entries: FloatArray  # (n, n)
    against: FloatArray  # (n, n) the second number of records such as 6-4
    games: FloatArray  # (n, n) numbers in brackets
    percent: bool
    left_out: tuple[str, ...]


def find_matrix(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return a matrix as games, or None where the table is none."""
    if named_by_hand(options) and not asked:
        return None
    table = _crosstable(facts)
    if table is not None:
        why = "a crosstable of points, row n being column n"
        return _as_games(facts.table, table, "shares", table.entries, table.games, why)
    matrix = _read(facts, asked)
    if matrix is None:
        return None
    counts = _games(facts, matrix, options)
    kind, wins, why = _understand(facts, matrix, options.entries)
    return _as_games(facts.table, matrix, kind, wins, counts, why)


def _read(facts: Facts, asked: bool) -> Matrix | None:
    table = facts.table
    headers = [name.strip() for name in table.names[1:]]
    if not FEWEST - asked <= len(headers) <= MOST or not facts.is_text(0):
        return None
    labels = {label.strip() for label in facts.sample(0)}
    known = labels & set(headers)
    if len(known) < max(FEWEST - asked, KNOWN * len(labels)):
        return None
    columns = ", ".join(facts.raw(i) for i in range(len(table.names)))
    found = table.engine.ask(f"SELECT row, {columns} FROM {facts.rows} ORDER BY row")
    cells = {str(label).strip(): (row, values) for row, label, *values in found}
    names = tuple(header for header in dict.fromkeys(headers) if header in cells)
    if len(cells) < len(found) or len(names) < 2:
        return None
    place = [headers.index(name) for name in names]
    parsed = [[_cell(cells[name][1][j], facts) for j in place] for name in names]
    filled = [cell for row in parsed for cell in row if cell is not None]
    if not filled or sum(np.isnan(cell.value) for cell in filled) > 0.05 * len(filled):
        return None
    entries, against, games = np.full((3, len(names), len(names)), np.nan)
    percent = False
    for i, row in enumerate(parsed):
        for j, cell in enumerate(row):
            if cell is not None and i != j:
                entries[i, j], against[i, j], games[i, j], signed = cell
                percent = percent or signed
    left_out = tuple(name for name in [*headers, *cells] if name not in names)
    rows = tuple(int(cells[name][0]) for name in names)
    return Matrix(names, rows, entries, against, games, percent, left_out)


def _crosstable(facts: Facts) -> Matrix | None:
    """Return a crosstable, whose columns 1, 2, ... are the rows in their order, or None."""
    table = facts.table
    n, begin = numbered_headers(table.names)
    if n < FEWEST or n != facts.count()[0]:
        return None
    texts = [i for i in range(begin) if facts.is_text(i) and not facts.looks_numeric(i)]
    named = [i for i in texts if plain(table.names[i]) in ITEMS | {"name", "playername"}]
    if not texts:
        return None
    columns = ", ".join(facts.raw(i) for i in range(begin, begin + n))
    label = facts.text((named or texts)[0])
    found = facts.table.engine.ask(f"SELECT row, {label}, {columns} FROM {facts.rows} ORDER BY row")
    names = tuple(str(name) for _, name, *_ in found)
    points, games = np.full((2, n, n), np.nan)
    for i, (_, _, *cells) in enumerate(found):
        for j, cell in enumerate(cells):
            text = "" if cell is None else str(cell).strip()
            if i == j and text.casefold() not in ITSELF:
                return None
            if i != j and text:
                points[i, j], games[i, j] = _points(text)
    games = np.where(np.isfinite(games), games, points + points.T)
    both = np.isfinite(points) & np.isfinite(points.T)
    if len(set(names)) < n or not both.any() or not (games > 0)[both].all():
        return None
    wrong = np.argwhere(both & ~np.isclose(points + points.T, games))
    if len(wrong):
        i, j = wrong[0]
        raise table.engine.refuse(
            f'this is a crosstable, but what it says of "{names[i]}" against "{names[j]}" and of '
            f'"{names[j]}" against "{names[i]}" does not add up to their games; correct it.'
        )
    shares = np.where(both, points / np.where(both, games, 1.0), np.nan)
    rows, none = tuple(int(row) for row, *_ in found), np.full((n, n), np.nan)
    return Matrix(names, rows, shares, none, games, False, ())


def numbered_headers(names: Sequence[str]) -> tuple[int, int]:
    """Return how many columns are called 1, 2, 3, ... in a row, and the first of them."""
    begin = next((i for i, name in enumerate(names) if name.strip() == "1"), len(names))
    n = 0
    while begin + n < len(names) and names[begin + n].strip() == str(n + 1):
        n += 1
    return n, begin


def _points(text: str) -> tuple[float, float]:
    """Return points and games of a cell: 1, ½, 0, or several of them; NaN if not known."""
    signs = re.sub(r"\s+", "", text.replace("1/2", "½").replace("0.5", "½").replace("0,5", "½"))
    if re.fullmatch("[01½=]+", signs):
        return sum({"1": 1.0, "0": 0.0}.get(sign, 0.5) for sign in signs), float(len(signs))
    value = number(signs.replace("½", ".5"), decimal_comma=True)
    return (np.nan if value is None else value), np.nan


def _cell(text: object, facts: Facts) -> Entry | None:
    """Return what a cell says, None if it is empty."""
    bare = "" if text is None else str(text).strip()
    if bare.casefold() in ITSELF | {"na", "none", "null", "."}:
        return None
    games = np.nan
    bracket = WITH_GAMES.fullmatch(bare)
    if bracket:
        bare, games = bracket[1], float(bracket[2])
    record = RECORD.fullmatch(bare)
    if record:
        return Entry(float(record[1]), float(record[2]), games)
    value = number(bare.rstrip("% "), facts.table.decimal_comma)
    if value is None:
        return Entry(np.nan)
    return Entry(value, games=games, percent=bare.endswith("%"))


def _games(facts: Facts, matrix: Matrix, options: ReadOptions) -> FloatArray | None:
    """Return the numbers of games, from brackets or from a second matrix."""
    counts = matrix.games
    if options.games is not None:
        engine = facts.table.engine
        other = take_in(options.games, engine)
        if other.grouping is not None:
            from intransit.data.remote_tables import whole  # noqa: PLC0415

            other = whole(other)
        second = _read(Facts(other, {}), True)
        if second is None or not set(matrix.names) <= set(second.names):
            raise engine.refuse(
                "games= must be a matrix of the same items, with the number of games of each two."
            )
        place = [second.names.index(name) for name in matrix.names]
        counts = second.entries[np.ix_(place, place)]
    if np.isnan(counts).all():
        return None
    both = np.fmax(counts, counts.T)
    return np.where(np.isfinite(both), both, np.nan)


def _understand(
    facts: Facts, matrix: Matrix, entries: str | None
) -> tuple[MatrixEntries, FloatArray, str]:
    """Return what the entries are, the entries as such, and that in words."""
    X, total = matrix.entries, matrix.entries + matrix.against
    if np.isfinite(total).any():
        same = np.nanmax(total) - np.nanmin(total) <= 1e-9 and np.nanmax(total) in {1, 10, 100}
        if entries == "wins" or (entries is None and not same):
            wins = np.where(np.isfinite(X), X, matrix.against.T)  # both or only one are written
            return "wins", wins, "records of games won and lost"
        return "shares", X / total, f"rates out of {np.nanmax(total):g}"
    if entries == "margins":
        return "margins", X, "payoffs"
    sums = (X + X.T)[np.isfinite(X + X.T)]
    whole = _whole(X, sums, matrix.percent) if entries != "wins" else None
    if whole is not None:
        return "shares", X / whole, f"win rates out of {whole:g}"
    size = float(np.nanmax(np.abs(X), initial=0.0))
    skew = len(sums) and np.abs(sums).max() <= ROUNDING * max(size, 1e-12) and (X < 0).any()
    if skew and entries is None:
        small: tuple[MatrixEntries, FloatArray, str]
        small = ("shares", (1.0 + X) / 2.0, "payoffs from -1 to 1, so shares of games")
        return small if size <= 1.0 + 1e-9 else ("margins", X, "payoffs, taken as margins")
    filled = X[np.isfinite(X)]
    whole_numbers = bool((filled >= 0).all() and (filled == filled.round()).all())
    refuse = facts.table.engine.refuse
    both = np.isfinite(X) & np.isfinite(X.T)
    if entries is None and whole_numbers and both.sum() >= 6 and (X == X.T)[both].all():
        raise refuse(
            "entries of this matrix that face each other are equal, as numbers of games are, so "
            "that nothing says who won; give it as games= beside a matrix of win rates (command "
            'line: --games), or say entries="wins" (command line: --entries wins).'
        )
    if whole_numbers and (entries == "wins" or (entries is None and len(sums))):
        return "wins", X, "numbers of games won"
    found = "what its entries are cannot be seen" if entries is None else f"they are no {entries}"
    raise refuse(
        f'this is a matrix, but {found}; say entries="shares", "wins" or "margins" (command line: '
        "--entries)."
    )


def _whole(X: FloatArray, sums: FloatArray, percent: bool) -> float | None:
    """Return what a win rate of one is written as, or None where entries are no rates."""
    filled = X[np.isfinite(X)]
    for whole in (1.0, 100.0, 10.0):
        if (filled < 0).any() or filled.max() > whole * (1 + 1e-9) or (percent and whole != 100.0):
            continue
        if len(sums) and np.mean(np.abs(sums - whole) <= ROUNDING * whole) >= 0.95:
            return whole
        fractions = whole == 1.0 and (filled != filled.round()).any()
        if fractions and (not len(sums) or sums.max() <= 1.0 + ROUNDING):
            return whole
        if whole == 100.0 and percent:
            return whole
    return None


def _as_games(
    table: EngineTable,
    matrix: Matrix,
    kind: MatrixEntries,
    X: FloatArray,
    counts: FloatArray | None,
    why: str,
) -> Shaped:
    n = len(matrix.names)
    i, j = np.triu_indices(n, 1)
    here, there = X[i, j], X[j, i]
    games = np.ones(len(i)) if counts is None else counts[i, j]
    entry = _from_both(here, there, kind)
    if kind == "wins":  # those of the one, and those of the other
        i, j = np.repeat(i, 2), np.repeat(j, 2)
        games = np.where(np.repeat(games, 2) > 0, np.stack([here, there], axis=1).ravel(), 0.0)
        entry = np.tile([1.0, 0.0], len(here))
    used = np.flatnonzero((games > 0) & np.isfinite(entry))
    columns = [
        [matrix.rows[k] for k in i[used]],
        [matrix.names[k] for k in i[used]],
        [matrix.names[k] for k in j[used]],
        [round(value, 12) for value in entry[used].tolist()],
        games[used].tolist(),
    ]
    notes = [f"the table is a matrix of {n} by {n}: {why}"]
    if kind == "shares" and counts is None:
        notes.append(
            "nothing says how many games stand behind a rate, so each pair counts as one; give a "
            "matrix of them with games= (command line: --games)"
        )
    if matrix.left_out:
        names, shown = plural(len(matrix.left_out), "name"), list_names(matrix.left_out[:5])
        notes.append(f"{names} without counterpart left out: {shown}")
    role = "margin" if kind == "margins" else "outcome"
    said: Columns = dict.fromkeys(ROLES, False)
    said |= {"first": "row", "second": "column", role: "entry", "count": "games"}
    return Shaped(_stored(table, columns), said, (), tuple(notes))


def _from_both(here: FloatArray, there: FloatArray, kind: MatrixEntries) -> FloatArray:
    """Return entries from two that face each other; what is missing between them is a tie."""
    total = 1.0 if kind == "shares" else 0.0
    mean = (here + total - there) / 2.0
    mean = np.clip(mean, 0.0, 1.0) if kind == "shares" else mean
    either = np.where(np.isfinite(here), here, total - there)
    return np.where(np.isfinite(here) & np.isfinite(there), mean, either)


def _stored(table: EngineTable, columns: list[list[Any]]) -> EngineTable:
    kinds = {"row": "BIGINT", "c0": "VARCHAR", "c1": "VARCHAR", "c2": "DOUBLE", "c3": "DOUBLE"}
    listed = ", ".join(f"unnest(?::{kind}[]) AS {name}" for name, kind in kinds.items())
    return replace(
        table,
        names=("row", "column", "entry", "games"),
        types=tuple(kinds.values())[1:],
        rows=table.engine.store(f"SELECT {listed}", columns),
        decimal_comma=False,
    )


PLACES = (  # the first that is there is taken
    *("place", "position", "finish", "finishposition", "finishingposition", "placing", "placement"),
    *("rank", "ranking", "pos", "positionorder", "finalposition", "finalrank", "standing", "plc"),
)
EVENTS = listed(
    "event race raceid raceno racename eventid eventname tournament tournamentid match matchid "
    "game gameid heat heatid session panel panelist judge judgeid rater assessor voter voterid "
    "respondent subject track grandprix gp round meet meeting contest competition competitionid "
    "regatta stage show ballot ballotid trial query queryid prompt promptid question questionid"
)
NAMES = (  # people before teams: the finer the item, the more is learnt
    *("name", "driver", "drivername", "driverid", "horse", "horsename", "player", "playername"),
    *("athlete", "rider", "runner", "competitor", "participant", "swimmer", "skier", "skater"),
    *("cyclist", "jockey", "contestant", "model", "bot", "agent", "product", "wine", "item"),
    *("candidate", "option", "system", "boat", "crew", "car", "brand", "film", "song", "deck"),
    *("entrant", "team", "teamname", "country", "club", "id", "playerid", "username", "user"),
)
SCORES = listed("score points goals pts total totalscore totalpoints finalscore")  # without places
UNFINISHED = listed(
    "dnf ret retired r nc notclassified unfinished pu f ur bd su ro a accident n dropout out "
    "cut mc missedcut mdf otl"
)
ABSENT = listed("dns dnq dnpq withdrew withdrawn wd w scr nr ex dsq dq disq disqualified d e")
LAST = 1e9  # the place of those who did not finish
MOST_PAIRS = 50_000_000  # beyond, orders should be cut or summed up first
OTHER, AHEAD = "other", "who came first"


def find_orders(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return finishing orders as games, or None where the table has none."""
    names = [plain(name) for name in short_names(facts.table.names)]
    place = facts.column(options.place, "place") if options.place else _first(names, PLACES)
    scores = place is None
    if place is None:
        place = _score(facts, names)
    both = any(isinstance(options.columns.get(role), str) for role in ("second", "loser"))
    paired = both or bool(words.name_pairs(names, words.MARKERS, words.WINNERS))
    if place is None or (paired and not asked and not options.place):
        return None
    said = options.columns.get("first")
    item = facts.column(said, "first") if isinstance(said, str) else _first(names, NAMES)
    if item is None:
        return None
    event = _event(facts, options, names, {place, item})
    if not event or (scores and not any(names[i] in EVENTS for i in event)):
        return None
    ranks = _by_score(facts, place) if scores else _ranks(facts, place)
    if ranks is None:
        return None
    return _orders_as_games(facts, place, item, event, ranks, scores=scores)


def _first(names: list[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(word) for word in wanted if word in names), None)


def _score(facts: Facts, names: list[str]) -> int | None:
    """Return the column with the score of each, where no place and no outcome is told."""
    found = [i for i, name in enumerate(names) if name in SCORES]
    if len(found) != 1 or words.OUTCOMES - SCORES & set(names) or not facts.looks_numeric(found[0]):
        return None
    return found[0]


def _by_score(facts: Facts, column: int) -> dict[str, float | None] | None:
    """Return places that are better the higher the score is."""
    cells = facts.values(column)
    numbers = {text: number(text, facts.table.decimal_comma) for text, _ in cells or []}
    return {text: -value for text, value in numbers.items() if value is not None} or None


def _event(
    facts: Facts, options: ReadOptions, names: list[str], taken: set[int]
) -> tuple[int, ...] | None:
    """Return the columns that tell events apart: what they are called, and when they were."""
    if options.event:
        whole = options.event in facts.table.names
        wanted = [options.event] if whole else options.event.split(",")
        return tuple(facts.column(name.strip(), "event") for name in wanted)
    free = [(i, name) for i, name in enumerate(names) if i not in taken]
    events = [i for i, name in free if name in EVENTS]
    times = [i for i, name in free if name in words.TIMES | words.PERIODS]
    times = [i for i in times if read_moments(facts, i, day_first=True).understood >= 0.5]
    return (*events, *times) or None


def _ranks(facts: Facts, place: int) -> dict[str, float | None] | None:
    """Return the place that each text means; None for those who did not take part."""
    cells = facts.values(place)
    if cells is None:
        return None
    ranks: dict[str, float | None] = {}
    for text, _ in cells:
        word = re.sub(r"[\s.=]+", "", text.casefold()).removeprefix("t")
        digits = re.sub(r"(st|nd|rd|th)$", "", word)
        digits = re.sub(r"^(\d+)[-–]\d+$", r"\1", digits)  # 2-3: two who share these places
        value = number(digits)
        if value is not None and value >= 0:
            ranks[text] = value
        elif word in UNFINISHED or word == "\\n" or not word:
            ranks[text] = LAST
        elif word in ABSENT:
            ranks[text] = None
    total, known = sum(n for _, n in cells), sum(n for text, n in cells if text in ranks)
    finished = sum(count for text, count in cells if (ranks.get(text) or LAST) < LAST)
    return ranks if finished * 2 >= total and known >= 0.8 * total else None


def _orders_as_games(
    facts: Facts,
    place: int,
    item: int,
    event: tuple[int, ...],
    ranks: dict[str, float | None],
    *,
    scores: bool,
) -> Shaped | None:
    table, n = facts.table, len(facts.table.names)
    finishers = _finishers(facts, place, event, ranks)
    n_events, pairs, twice, unused, unfinished = table.engine.ask(
        "SELECT count(*), coalesce(sum(n * (n - 1) // 2), 0), coalesce(sum(n - m), 0), sum(u), "
        "sum(f) FROM (SELECT count(place) AS n, count(DISTINCT CASE WHEN place IS NOT NULL THEN "
        f"{facts.text(item)} END) AS m, count(*) FILTER (WHERE place IS NULL) AS u, "
        f"count(*) FILTER (WHERE place = {LAST}) AS f FROM {finishers} GROUP BY event)"
    )[0]
    if not pairs or (scores and twice):  # scores of many games in one tournament
        return None
    _check(facts, item, event, int(pairs), int(twice))
    columns = ", ".join(f"a.c{i}" for i in range(n))
    rows = (
        f"SELECT {columns}, b.c{item} AS c{n}, CASE WHEN a.place < b.place THEN 1.0 ELSE 0.5 "
        f"END::DOUBLE AS c{n + 1}, a.row FROM {finishers} AS a JOIN {finishers} AS b ON "
        "a.event = b.event AND (a.place < b.place OR (a.place = b.place AND a.row < b.row AND "
        f"a.place < {LAST}))"
    )
    notes = [
        f"{plural(n_events, 'finishing order')}, taken as games of each two; games of one order "
        "are not independent of each other"
    ]
    notes += [
        f'the items are in "{table.names[item]}"; to compare those of "{table.names[other]}", '
        f'say first="{table.names[other]}" (command line: --first)'
        for other in _other_items(facts, item)[:1]
    ]
    if unfinished:
        notes.append(f"{plural(int(unfinished), 'row')} without a finish: behind all who finished")
    notes += _left_out(facts, place, ranks, int(unused))
    if scores:
        name = table.names[place]
        notes.append(
            f'the higher "{name}" is taken as the better place, and by how much is not used; where '
            f'the lower is better, say place="{name}" (command line: --place)'
        )
    told = (
        *(Column("event", table.names[i], "tells events apart") for i in event),
        Column("place", table.names[place], "by its name"),
    )
    extra, first = {OTHER: table.types[item], AHEAD: "DOUBLE"}, table.names[item]
    return made_games(facts, rows, extra, told, notes, first=first, second=OTHER, outcome=AHEAD)


def _left_out(facts: Facts, place: int, ranks: dict[str, float | None], unused: int) -> list[str]:
    """Say which rows are not used: of those who did not take part, and of strange places."""
    strange = {t: n for t, n in facts.values(place) or [] if t not in ranks}
    absent = unused - sum(strange.values())
    notes = []
    if absent > 0:
        notes.append(f"{plural(absent, 'row')} of items that did not take part: not used")
    if strange:
        rows, shown = plural(sum(strange.values()), "row"), list_names(sorted(strange)[:5])
        notes.append(f"{rows} with a place that is not understood ({shown}): not used")
    return notes


def _finishers(
    facts: Facts, place: int, event: tuple[int, ...], ranks: dict[str, float | None]
) -> str:
    """Return a table of the rows with their place as a number, and their event."""
    known = facts.table.engine.store(
        "SELECT unnest(?::VARCHAR[]) AS text, unnest(?::DOUBLE[]) AS place",
        [list(ranks), list(ranks.values())],
    )
    key = " || chr(31) || ".join(f"coalesce({facts.text(i)}, '')" for i in event)
    return facts.table.engine.store(
        f"SELECT t.*, known.place AS place, {key} AS event FROM {facts.rows} AS t LEFT JOIN "
        f"{known} AS known ON coalesce({facts.raw(place)}, '') = known.text"
    )


def _check(facts: Facts, item: int, event: tuple[int, ...], pairs: int, twice: int) -> None:
    """Refuse orders in which items stand twice, or that make too many games."""
    table, refuse = facts.table, facts.table.engine.refuse
    if twice * 20 > facts.count()[0]:
        raise refuse(
            f'"{table.names[item]}" has names that stand twice in one event, told apart '
            f"by {list_names([table.names[i] for i in event])}; name what tells events apart with "
            "event= (command line: --event), or the items with first= (command line: --first)."
        )
    if pairs > MOST_PAIRS:
        raise refuse(
            f"its finishing orders make {pairs:,} games of two; keep fewer of them with where= "
            "(command line: --where)."
        )


def _other_items(facts: Facts, item: int) -> Sequence[int]:
    names = [plain(name) for name in facts.table.names]
    wanted = ("driver", "horse", "player", "team", "country", "club", "jockey", "brand")
    return [names.index(word) for word in wanted if word in names and names.index(word) != item]


ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
NUMBERED = re.compile(
    r"(?:(?:place|placing|position|pos|rank|ranking|finish|finisher|p)(\d+)"
    r"|(\d+)(?:st|nd|rd|th)?(?:place|position)?)"
)
FEWEST_PLACES = 3  # two columns are a game
SHARED = 0.3  # of the names of a column that another has too, at least of some
BETTER, WORSE = "better placed", "worse placed"


def find_podiums(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return rows of places as games, or None where the table has none."""
    if named_by_hand(options):
        return None
    table = facts.table
    places = {_place_of(plain(name)): i for i, name in reversed(list(enumerate(table.names)))}
    columns: list[int] = []
    while len(columns) + 1 in places:
        columns.append(places[len(columns) + 1])
    if len(columns) < FEWEST_PLACES or not all(facts.is_text(i) for i in columns):
        return None
    if not _share_names(facts, columns) or not (asked or _hold_names(facts, columns)):
        return None
    n = len(table.names)
    listed = ", ".join(f"nullif({facts.text(i)}, '')" for i in columns)
    pairs = ", ".join(
        f"({a}, {b})" for a, b in itertools.combinations(range(1, len(columns) + 1), 2)
    )
    rows = (
        f"SELECT {columns_sql(n)}, placed[i] AS c{n}, placed[j] AS c{n + 1}, 1.0::DOUBLE AS "
        f"c{n + 2}, row FROM (SELECT *, [{listed}] AS placed FROM {facts.rows}) JOIN "
        f"(VALUES {pairs}) AS p(i, j) ON placed[i] IS NOT NULL AND placed[j] IS NOT NULL"
    )
    extra = {BETTER: "VARCHAR", WORSE: "VARCHAR", AHEAD: "DOUBLE"}
    note = (
        f"each row is a finishing order with {plural(len(columns), 'place')}, taken as games of "
        "each two; games of one order are not independent of each other"
    )
    told = [Column("place", table.names[i], "by its name") for i in columns]
    return made_games(facts, rows, extra, told, [note], first=BETTER, second=WORSE, outcome=AHEAD)


def _place_of(name: str) -> int:
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
    texts = [text for i in columns for text in facts.texts(i) if text.strip()]
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
