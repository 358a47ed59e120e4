"""Matrices of items against items, taken as games of each two.

They hold win rates, wins, or payoffs, with or without numbers of games.  The first column names the
items of the rows, the header those of the columns.  What an entry is follows from entries that face
each other: rates add up to 1, 10 or 100, payoffs to 0, and counts of wins to anything.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.data.engine import Engine, EngineTable, Facts, numbered_headers
from intransit.data.outcomes import number, without_interval
from intransit.data.reading import MatrixEntries, ReadOptions, list_names, plural
from intransit.data.shapes import Shaped, listed_games
from intransit.data.vocabulary import AGAINST, CLEAR, SUMS, plain

TakeIn = Callable[[object, Engine], EngineTable]

FEWEST, MOST = 3, 2_000  # items; fewer are no chart, and more are no matrix that anybody wrote
MOSTLY = 0.5  # share of records that mirror each other by chance, of few
KNOWN = 0.8  # share of rows whose name is a column
WHOLES = {1.0, 10.0, 100.0}  # that rates are written out of
OF_RATIOS = 0.06  # of a product of two: 0.11 against 9, and 0.33 against 3
ROUNDING = 0.021  # of rates of 1: two that were each rounded to a percent
WON_AND_LOST = re.compile(  # 6-4, 12:8, and 12-8-1 with those drawn
    r"(\d+(?:\.\d+)?)\s*[-:/–]\s*(\d+(?:\.\d+)?)(?:\s*[-:/–]\s*(\d+))?"
)
BESIDE_RATE = re.compile(r"[\d.,]+\s*%?\s*[(\[]\s*([\d\s:/–-]+?)\s*[)\]]")  # 60% (12-8)
QUOTIENT = re.compile(r"(\d+)\s*/\s*(\d+)")
BELOW_RATE = re.compile(  # 55%, and 120 on the next line
    r"([\d.,]+\s*%)\s*[\n|;]\s*(?:n\s*=\s*)?(\d+)(?:\s*games?)?", re.IGNORECASE
)
WITH_GAMES = re.compile(r"(.+?)\s*[(\[]\s*(?:n\s*=\s*)?(\d+)(?:\s*games?)?\s*[)\]]")  # 55% (120)
NAMES = ("row", "column", "entry", "games")
LETTERS = dict.fromkeys(("w", "win", "true"), 1.0) | dict.fromkeys(("l", "loss", "false"), 0.0)
LETTERS |= dict.fromkeys(("d", "draw", "t", "tie"), 0.5)
LOST = re.compile(  # what the corner says of rows that are not the winners
    r"\W*(?:(?:losers?|loses|loss|losses|receivers?|recipients?|subordinates?|victims?)\b"
    r"|(?:lost|defeated|beaten)(?: to\b| by\b|\W*$)|(?!.*(?:los|beaten)).*\bcolumns?\b.*\brows?\b)"
)
AWAY = re.compile(r"\W*(?:away|visitors?|guests?)\b")
ITSELF = {"", "-", "–", "—", "x", "*", "**", "xx", "■", "█", "#", "\\", "●", "n/a", "nan"}


class Entry(NamedTuple):
    """What a cell of a matrix says; the value is NaN where that is not understood."""

    value: float
    against: float = np.nan  # the second number of a record such as 6-4
    games: float = np.nan  # the number in brackets
    percent: bool = False
    drawn: float = 0.0  # the third number of a record such as 12-8-1


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
    drawn: FloatArray | None = None  # (n, n) games that nobody won, of records
    diagonal: tuple[float, ...] = ()  # what an item is said to be against itself
    turned: str = ""  # what says that the columns are the winners


def read_matrix(facts: Facts, options: ReadOptions, asked: bool, take_in: TakeIn) -> Shaped | None:
    """Return a matrix as games, or None where the table is none.

    `take_in` makes a table of the second matrix, where the caller gives one.
    """
    table = _crosstable(facts)
    if table is not None:
        why = "a crosstable of points, row n being column n"
        return _as_games(facts.table, table, "shares", table.entries, table.games, why)
    matrix = _read(facts, asked)
    if matrix is None:
        return None
    counts = _games(facts, matrix, options, take_in)
    if _are_scores(facts, matrix, options.entries):
        return _cells_as_games(facts.table, matrix)
    points = _games_of_points(matrix) if options.entries is None and counts is None else None
    if points is not None:
        shares = matrix.entries / np.where(points > 0, points, np.nan)
        return _as_games(facts.table, matrix, "shares", shares, points, "points of several games")
    kind, wins, why = _understand(facts, matrix, options.entries)
    if options.entries is None:
        _check_diagonal(facts, matrix, kind, wins)
    return _as_games(facts.table, matrix, kind, wins, counts, why)


def _check_diagonal(facts: Facts, matrix: Matrix, kind: str, entries: FloatArray) -> None:
    """Refuse a matrix that says of items against themselves what no result of games does."""
    own = np.array(matrix.diagonal)
    rates = own[own > 0] if kind == "shares" else own[:0]
    scale = np.nanmax(matrix.entries, initial=0.0) / max(np.nanmax(entries, initial=0.0), 1e-12)
    even = np.isclose(rates, rates[:1]) & (np.abs(rates / scale - 0.5) <= ROUNDING)
    if (kind == "wins" and (own > 0).any()) or not even.all():
        raise facts.refuse(
            "the diagonal of this matrix is filled, as in one of confusions, similarities or "
            'transitions, and not of games; if it is, say entries="shares", "wins" or "margins" '
            "(command line: --entries)."
        )


def _are_scores(facts: Facts, matrix: Matrix, entries: str | None) -> bool:
    """Return whether each cell is the score of a game of its own, the row being at home.

    Records of two that are told twice mirror each other; scores of two games need not.
    """
    if entries is not None:
        return entries == "scores"
    X, Y = matrix.entries, matrix.against
    share = _mirrored(matrix)
    cells = ~np.eye(len(X), dtype=bool)
    nobody = bool(np.isfinite(X + Y)[cells].all() and (X + Y == 0).any())  # 0-0: no game, or a tie
    if MOSTLY < share < CLEAR or (share >= CLEAR and nobody):
        raise facts.refuse(
            "the cells of this matrix can be games won and lost, or scores of one game each; say "
            'entries="wins" or entries="scores" (command line: --entries).'
        )
    return share <= MOSTLY


def _mirrored(matrix: Matrix) -> float:
    """Return the share of records that say the same as those that they face, 1 if none does."""
    X, Y = matrix.entries, matrix.against
    both = np.isfinite(X + Y) & np.isfinite((X + Y).T)
    return float(((X == Y.T) & (Y == X.T))[both].mean()) if both.any() else 1.0


def _cells_as_games(table: EngineTable, matrix: Matrix) -> Shaped:
    """Return a game a cell, the row being the first and at home; or each once, if told twice."""
    margins = matrix.entries - matrix.against
    twice = _mirrored(matrix) >= CLEAR
    if twice:
        margins = np.where(np.isfinite(margins), margins, -margins.T)
        margins[np.tril_indices(len(margins))] = np.nan
    i, j = np.nonzero(np.isfinite(margins))
    columns = _columns(matrix, i, j, margins[i, j], np.ones(len(i)))
    where = "and listed twice" if twice else "the row at home"
    notes = (
        f"the table is a matrix of {len(matrix.names)} by {len(matrix.names)}: each cell is the "
        f'score of one game, {where}; if they are games won and lost, say entries="wins" (command '
        "line: --entries wins)",
    )
    made = {"first": "row", "second": "column", "margin": "entry"}
    return listed_games(table, columns, NAMES, (), notes, side=not twice and "first", **made)


def _columns(
    matrix: Matrix, i: IntArray, j: IntArray, entries: FloatArray, games: FloatArray
) -> list[list[Any]]:
    names = [[matrix.names[k] for k in part] for part in (i, j)]
    values = [round(value, 12) for value in entries.tolist()]
    return [[matrix.rows[k] for k in i], *names, values, games.tolist()]


def _games_of_points(matrix: Matrix) -> FloatArray | None:
    """Return how many games stand behind points such as 1½ against ½, which add up to them."""
    total = matrix.entries + matrix.entries.T
    whole = np.isfinite(total)
    X = matrix.entries[whole]
    halves = bool(whole.any() and ((X * 2).round() == X * 2).all() and (X.round() != X).any())
    counted = halves and (total[whole] == total[whole].round()).all() and total[whole].min() >= 1
    return total if counted and not {*total[whole]} <= WHOLES else None


def _read(facts: Facts, asked: bool) -> Matrix | None:
    table = facts.table
    headers = [AGAINST.sub("", name.strip()) for name in table.names[1:]]
    if not FEWEST - asked <= len(headers) <= MOST or not facts.is_text(0):
        return None
    labels = {label.strip() for label in facts.sample(0)}
    known = labels & set(headers)
    if len(known) < max(FEWEST - asked, KNOWN * len(labels)):
        return None
    columns = ", ".join(facts.raw(i) for i in range(len(table.names)))
    found = table.engine.ask(f"SELECT row, {columns} FROM {facts.rows} ORDER BY row")
    cells = {str(label).strip(): (row, values) for row, label, *values in found}
    known_names = (header for header in dict.fromkeys(headers) if header in cells)
    names = tuple(name for name in known_names if plain(name) not in SUMS)
    if len(cells) < len(found) or len(names) < 2:
        return None
    place = [headers.index(name) for name in names]
    texts = [[cells[name][1][j] for j in place] for name in names]
    corner = table.names[0].casefold()
    turned = table.names[0] if LOST.match(corner) else ""
    texts = [[*column] for column in zip(*texts, strict=True)] if turned else texts
    parsed = [[_cell(text, facts) for text in row] for row in _without_quotients(texts)]
    filled = [cell for row in parsed for cell in row if cell is not None]
    if not filled or sum(np.isnan(cell.value) for cell in filled) > (1.0 - CLEAR) * len(filled):
        return None
    if AWAY.match(corner) or (turned and any(np.isfinite(cell.against) for cell in filled)):
        raise facts.refuse(
            f'"{table.names[0]}" says that rows were away or lost, and not whose number is '
            'first in a cell; turn the matrix round, and call its first column "home" or "winner".'
        )
    entries, against, games = np.full((3, len(names), len(names)), np.nan)
    drawn = np.zeros((len(names), len(names)))
    percent = False
    own = [row[i] for i, row in enumerate(parsed)]
    for i, row in enumerate(parsed):
        for j, cell in enumerate(row):
            if cell is not None and i != j:
                entries[i, j], against[i, j], games[i, j], signed, drawn[i, j] = cell
                percent = percent or signed
    left_out = tuple(dict.fromkeys(name for name in [*headers, *cells] if name not in names))
    rows = tuple(int(cells[name][0]) for name in names)
    both = np.fmax(drawn, drawn.T)  # written in both cells, or in one
    itself = tuple(cell.value for cell in own if cell is not None and np.isfinite(cell.value))
    return Matrix(names, rows, entries, against, games, percent, left_out, both, itself, turned)


def _without_quotients(texts: list[list[object]]) -> list[list[object]]:
    """Return cells in which 1/3 is a number, as beside 3 it is; elsewhere it is a record.

    12/20 facing 8/20 are games won out of those played, and become 12-8 and 8-12.
    """
    flat = ["" if text is None else str(text).strip() for row in texts for text in row]
    filled = [text for text in flat if text.casefold() not in ITSELF]
    fractions = sum(bool(QUOTIENT.fullmatch(text)) for text in filled)
    if not fractions or "½" in "".join(flat):
        return texts
    pairs = [[(text, QUOTIENT.fullmatch(str(text).strip())) for text in row] for row in texts]
    if fractions == len(filled):
        found = [[(int(x[1]), int(x[2])) if x else None for _, x in row] for row in pairs]
        facing = [
            (a, b)
            for i in range(len(found))
            for j in range(i)
            if (a := found[i][j]) and (b := found[j][i])
        ]
        played = all(a[1] == b[1] == a[0] + b[0] for a, b in facing)
        if len(facing) < 2 or not played:
            return texts
        return [[f"{x[0]}-{x[1] - x[0]}" if x else "" for x in row] for row in found]
    return [
        [repr(int(x[1]) / int(x[2])) if x and int(x[2]) else text for text, x in row]
        for row in pairs
    ]


def _crosstable(facts: Facts) -> Matrix | None:
    """Return a crosstable, whose columns 1, 2, ... are the rows in their order, or None."""
    table = facts.table
    n, begin = numbered_headers(table.names)
    if n < FEWEST or n != facts.count()[0]:
        return None
    label = facts.naming(range(begin))
    if label is None:
        return None
    columns = ", ".join([facts.text(label), *map(facts.raw, range(begin, begin + n))])
    found = facts.engine.ask(f"SELECT row, {columns} FROM {facts.rows} ORDER BY row")
    names = tuple(str(name) for _, name, *_ in found)
    points, games = np.full((2, n, n), np.nan)
    won = any(str(cell)[:1] in {"V", "v"} for _, _, *cells in found for cell in cells)
    letters = LETTERS | {"v": 1.0, "d": 0.0} if won else LETTERS  # beside V, D is a defeat
    for i, (_, _, *cells) in enumerate(found):
        for j, cell in enumerate(cells):
            text = "" if cell is None else str(cell).strip()
            if i == j and text.casefold() not in ITSELF:
                return None
            if i != j and text:
                points[i, j], games[i, j] = _points(text, letters)
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


def _points(text: str, letters: dict[str, float]) -> tuple[float, float]:
    """Return points and games of a cell: 1, ½, 0, or several of them; NaN if not known."""
    signs = re.sub(r"\s+", "", text.replace("1/2", "½").replace("0.5", "½").replace("0,5", "½"))
    if re.fullmatch("[01½=]+", signs):
        return sum({"1": 1.0, "0": 0.0}.get(sign, 0.5) for sign in signs), float(len(signs))
    if bout := re.fullmatch(r"([a-z])\d{0,2}", signs.casefold()):  # V5 and D3 of fencing
        return letters.get(bout[1], np.nan), 1.0
    value = number(signs.replace("½", ".5"), decimal_comma=True)
    return (np.nan if value is None else value), np.nan


def _cell(text: object, facts: Facts) -> Entry | None:
    """Return what a cell says, None if it is empty."""
    bare = "" if text is None else str(text).strip()
    if bare.casefold() in ITSELF | {"na", "none", "null", "."}:
        return None
    bare, games = without_interval(bare), np.nan
    bracket = WITH_GAMES.fullmatch(bare) or BELOW_RATE.fullmatch(bare)
    if bracket:
        bare, games = bracket[1], float(bracket[2])
    beside = BESIDE_RATE.fullmatch(bare)
    record = WON_AND_LOST.fullmatch(beside[1] if beside else bare)
    if record:
        return Entry(float(record[1]), float(record[2]), games, drawn=float(record[3] or 0))
    if bare.casefold() in LETTERS:
        return Entry(LETTERS[bare.casefold()])
    halves = re.sub(r"^½$", "0.5", bare.replace("1/2", "½")) if "½" in bare else bare
    value = number(re.sub(r"(?<=\d)½", ".5", halves).rstrip("% "), facts.table.decimal_comma)
    if value is None:
        return Entry(np.nan)
    return Entry(value, games=games, percent=bare.endswith("%"))


def _games(
    facts: Facts, matrix: Matrix, options: ReadOptions, take_in: TakeIn
) -> FloatArray | None:
    counts = matrix.games
    if options.games is not None:
        engine = facts.engine
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


def _understand(  # noqa: PLR0911  one for each kind of entries
    facts: Facts, matrix: Matrix, entries: str | None
) -> tuple[MatrixEntries, FloatArray, str]:
    """Return what the entries are, the entries as such, and that in words."""
    X, total = matrix.entries, matrix.entries + matrix.against
    if np.isfinite(total).any():
        same = np.nanmax(total) - np.nanmin(total) <= 1e-9 and np.nanmax(total) in WHOLES
        ties = matrix.drawn is not None and bool(matrix.drawn.any())
        if entries == "wins" or (entries is None and (ties or not same)):
            wins = np.where(np.isfinite(X), X, matrix.against.T)  # both or only one are written
            ask = (
                '; if each is the score of one game, say entries="scores" (command line: --entries '
            )
            why = "records of games won and lost"
            return "wins", wins, why + (f"{ask}scores)" if entries is None else "")
        return "shares", X / total, f"rates out of {np.nanmax(total):g}"
    if entries == "margins":
        return "margins", X, "payoffs"
    sums = (X + X.T)[np.isfinite(X + X.T)]
    _check_symmetry(facts, X, entries)
    whole = _whole(X, sums, matrix.percent) if entries != "wins" else None
    if whole is not None:
        return "shares", X / whole, f"win rates out of {whole:g}"
    size = float(np.nanmax(np.abs(X), initial=0.0))
    skew = len(sums) and np.abs(sums).max() <= ROUNDING * max(size, 1e-12) and (X < 0).any()
    ratios = _ratios(X)
    if ratios is not None and entries is None:
        return "margins", ratios, "ratios, as of an AHP: their logarithms are taken as margins"
    if skew and entries is None:
        small: tuple[MatrixEntries, FloatArray, str]
        small = ("shares", (1.0 + X) / 2.0, "payoffs from -1 to 1, so shares of games")
        return small if size <= 1.0 + 1e-9 else ("margins", X, "payoffs, taken as margins")
    filled = X[np.isfinite(X)]
    whole_numbers = bool((filled >= 0).all() and (filled == filled.round()).all())
    if whole_numbers and (entries == "wins" or (entries is None and len(sums))):
        return "wins", X, "numbers of games won"
    found = "what its entries are cannot be seen" if entries is None else f"they are no {entries}"
    raise facts.refuse(
        f'this is a matrix, but {found}; say entries="shares", "wins" or "margins" (command line: '
        "--entries)."
    )


def _check_symmetry(facts: Facts, X: FloatArray, entries: str | None) -> None:
    """Refuse entries that are equal to those that they face, unless all are even."""
    both = np.isfinite(X) & np.isfinite(X.T)
    league = {*zip(X[both], X.T[both], strict=True)}
    if entries is None and league == {(3.0, 0.0), (0.0, 3.0), (1.0, 1.0)}:
        raise facts.refuse(
            "entries of this matrix are 3 against 0, or 1 against 1, as points of a league; write "
            '1, 0.5 and 0, or say entries="wins" for games won (command line: --entries wins).'
        )
    even = np.isin(X[both], [0.0, 0.5, 5.0, 50.0]).all()
    if entries is None and both.sum() >= 6 and (X == X.T)[both].all() and not even:
        raise facts.refuse(
            "entries of this matrix that face each other are equal, as numbers of games, distances "
            "and similarities are, so that nothing says who won; give it as games= beside a matrix "
            'of win rates (command line: --games), or say entries="wins" (command line: --entries '
            "wins)."
        )


def _ratios(X: FloatArray) -> FloatArray | None:
    """Return logarithms of ratios, where those that face each other multiply to 1; or None."""
    both = np.isfinite(X) & np.isfinite(X.T)
    if both.sum() < 6 or (X[both] <= 0).any() or (X[both] == 1.0).all():
        return None
    logs = np.log(np.where(both, X, 1.0))
    if np.abs(logs + logs.T).max() > OF_RATIOS:
        return None
    return np.where(both, (logs - logs.T) / 2.0, np.nan)


def _whole(X: FloatArray, sums: FloatArray, percent: bool) -> float | None:
    """Return what a win rate of one is written as, or None where entries are no rates."""
    filled = X[np.isfinite(X)]
    for whole in (1.0, 100.0, 10.0):
        if (filled < 0).any() or filled.max() > whole * (1 + 1e-9) or (percent and whole != 100.0):
            continue
        if len(sums) and np.mean(np.abs(sums - whole) <= ROUNDING * whole) >= CLEAR:
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
        if matrix.drawn is not None:
            k, m = np.triu_indices(n, 1)
            i, j, games = np.r_[i, k], np.r_[j, m], np.r_[games, matrix.drawn[k, m]]
            entry = np.r_[entry, np.full(len(k), 0.5)]
    used = np.flatnonzero((games > 0) & np.isfinite(entry))
    columns = _columns(matrix, i[used], j[used], entry[used], games[used])
    notes = [f"the table is a matrix of {n} by {n}: {why}"]
    if kind == "shares" and counts is None:
        notes.append(
            "nothing says how many games stand behind a rate, so each pair counts as one; give a "
            "matrix of them with games= (command line: --games)"
        )
    if matrix.turned:
        notes.append(f'"{matrix.turned}" is said of rows, so columns are read as who won')
    if matrix.left_out:
        names, shown = plural(len(matrix.left_out), "name"), list_names(matrix.left_out[:5])
        notes.append(f"{names} without counterpart left out: {shown}")
    role = "margin" if kind == "margins" else "outcome"
    made = {"first": "row", "second": "column", role: "entry", "count": "games"}
    return listed_games(table, columns, NAMES, (), notes, **made)


def _from_both(here: FloatArray, there: FloatArray, kind: MatrixEntries) -> FloatArray:
    """Return entries from two that face each other; what is missing between them is a tie."""
    total = 1.0 if kind == "shares" else 0.0
    mean = (here + total - there) / 2.0
    mean = np.clip(mean, 0.0, 1.0) if kind == "shares" else mean
    either = np.where(np.isfinite(here), here, total - there)
    return np.where(np.isfinite(here) & np.isfinite(there), mean, either)
