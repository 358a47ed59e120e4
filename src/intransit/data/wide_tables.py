"""Tables with several results in a row: ranks or scores of items, ballots, and rounds of a Swiss.

Ranks are 1, 2, 3, ... in every row, as in no table of other numbers; scores look like anything
else, so that they must be named.  Both, and ballots, are laid out with one row a place, as
finishing orders are, and become games as those do.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from intransit.data import orders
from intransit.data import vocabulary as words
from intransit.data.engine import Facts, quote
from intransit.data.outcomes import ONE_SIDE
from intransit.data.reading import ReadOptions, list_names, plural
from intransit.data.shapes import OF_A_GAME, Find, Shaped, free_names, listed_games
from intransit.data.vocabulary import CLEAR, YEAR, listed, plain

FEWEST = 3  # items: 1 and 2 in every row may be anything
BY_CHANCE = 0.02  # that answers from 1 to n to n questions are all different, row by row
MOST_ROWS = 200_000  # beyond, nobody ranked by hand
NO_ITEMS = orders.EVENTS.union(words.TIMES, words.PERIODS, words.COUNTS, words.WEIGHTS, words.SUMS)
NO_ITEMS |= words.OUTCOMES


# Ranks and scores ---------------------------------------------------------------------------------


def find_ranks(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return ranks with one column an item as games, or None where rows hold none."""
    if facts.count()[0] > MOST_ROWS:
        return None
    columns = _numeric(facts, options)
    note = (
        "each row ranks {}, 1 being the best; if the highest number is, say "
        'shape="scores" (command line: --shape scores)'
    )
    found = _laid_out(facts, columns if asked else _ranked(facts, columns), note, less=True)
    return found if found or asked else _season(facts, options)


def find_scores_in_columns(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return scores with one column an item as games, where the caller says that they are."""
    columns = _numeric(facts, options) if asked else []
    note = "each row has scores of {}, the highest being the best, and by how much is not used"
    return _laid_out(facts, columns, note, less=False)


def _numeric(facts: Facts, options: ReadOptions) -> list[int]:
    """Return columns of numbers that may be about an item each."""
    none = NO_ITEMS | {"", *map(plain, options.by)}
    free = [
        i
        for i, name in enumerate(free_names(facts, options))
        if name not in none and not re.search(r"(^|[^a-z])(id|no|#)$|^id$", name)
    ]
    found = []
    for i in free:
        x = f"isfinite({_rank(facts, i)})"
        _, filled, numbers = facts.count(facts.filled(i), x)
        if filled and filled == numbers:
            found.append(i)
    return found


def _rank(facts: Facts, column: int) -> str:
    """SQL: the number in a cell, also of 1st and 2nd."""
    ordinal = f"regexp_extract(lower({facts.text(column)}), '^(\\d+)(?:st|nd|rd|th)$', 1)"
    return f"coalesce({facts.number(column)}, TRY_CAST({ordinal} AS DOUBLE))"


def _ranked(facts: Facts, columns: list[int]) -> list[int]:
    """Return those of the columns that together hold ranks in every row, or none."""
    if len(columns) < FEWEST:
        return []
    listed_cells = ", ".join(_rank(facts, i) for i in columns)
    rows = facts.engine.ask(f"SELECT {listed_cells} FROM {facts.rows}")
    kept = list(range(len(columns)))
    while True:  # others, such as the age of a judge, are not among 1, ..., n
        inside = [
            k for k in kept if all(row[k] is None or 1 <= row[k] <= len(kept) for row in rows)
        ]
        if inside == kept:
            break
        kept = inside
    fine = sum(_are_ranks([row[k] for k in kept if row[k] is not None]) for row in rows)
    if len(kept) < FEWEST or fine < len(rows):
        return []
    called = all("rank" in plain(facts.names[columns[k]]) for k in kept)
    by_chance = (math.factorial(len(kept)) / len(kept) ** len(kept)) ** len(rows)
    return [columns[k] for k in kept] if called or by_chance < BY_CHANCE else []


def _season(facts: Facts, options: ReadOptions) -> Shaped | None:
    """Return a row an item and a column a race, each with all places from 1 on, as games; or None.

    Who did not finish has no place, and standings and points of the season are no race.
    """
    n_rows, none = facts.count()[0], NO_ITEMS | {"", *orders.PLACES, *orders.SCORE_NAMES}
    item = facts.naming(range(len(facts.names)))
    if n_rows < FEWEST or item is None or len(facts.sample(item)) < n_rows:
        return None
    told: dict[int, orders.Ranks] = {}
    for i, name in enumerate(free_names(facts, options)):
        ranks = None if name in none or i == item else orders.read_places(facts, i)
        cells = [((ranks or {}).get(text), n) for text, n in facts.values(i) or ()]
        placed = sorted(x for x, n in cells for _ in range(n) if x is not None and x < orders.LAST)
        if ranks and len(placed) > 1 and placed == [*range(1, len(placed) + 1)]:
            told[i] = ranks
    # A single column with the places of all may number the rows of a table that is sorted.
    if len(told) < 2 or (math.factorial(n_rows) / n_rows**n_rows) ** len(told) >= BY_CHANCE:
        return None
    parts = {i: orders.with_events(facts, [item], f"v{i}", {i: told[i]}) for i in told}
    called, n = [facts.names[i].strip() for i in told], len(facts.names)
    races = (
        f"SELECT * REPLACE ('{i}' AS event), {quote(name)} AS c{n} FROM {part}"
        for name, (i, part) in zip(called, parts.items(), strict=True)
    )
    rows = facts.engine.store(" UNION ALL ".join(races))
    dated = {"year" if all(map(YEAR.fullmatch, called)) else "name of the race": "VARCHAR"}
    notes = [
        f"each of {facts.listed([*told][:4])} has the places of a race, a row being an item",
        orders.said_of_orders(len(told)),
    ]
    columns = facts.told("place", told, "holds places")
    facts = Facts(facts.table.longer(dated, rows), {})
    return orders.each_two(facts, rows, item, columns, notes, ties=f"a.place < {orders.LAST}")


def _are_ranks(values: Sequence[float]) -> bool:
    """Return whether numbers are ranks; equal ones have the first or the mean of their places."""
    if len(values) < 2:
        return not values
    for value in set(values):
        before, same = sum(x < value for x in values), values.count(value)
        if value not in {before + 1, before + (same + 1) / 2}:
            return False
    return True


def _called(facts: Facts, columns: Sequence[int]) -> list[str]:
    """Return what items are called: ``Rank the fruit [Apple]`` and ``rank_apple`` are apple."""
    names = [facts.names[i].strip() for i in columns]
    for form in (
        r".*\[(.+)\]",
        r"(?i)rank(?:ing)?[\s_:.-]+(.+)",
        r"(?i)(.+?)[\s_:.-]+rank(?:ing)?",
    ):
        found = [re.fullmatch(form, name) for name in names]
        if all(found):
            return [match[1].strip() for match in found if match]
    return names


def _laid_out(facts: Facts, columns: list[int], note: str, *, less: bool) -> Shaped | None:
    """Return the games of each two columns, of which the lower or the higher number is better."""
    if len(columns) < 2:
        return None
    names = _called(facts, columns)
    items = ", ".join(quote(name) for name in names)
    places = ", ".join(_rank(facts, i) if less else f"-{facts.number(i)}" for i in columns)
    placed = f"unnest([{items}])", f"unnest([{places}])", facts.rows
    told = facts.told("item", columns, "holds numbers")
    notes = note.format(list_names(names, most=4)), orders.said_of_orders(facts.count()[0])
    return orders.each_two_in_a_row(facts, columns, placed, told, notes)


# Ballots ------------------------------------------------------------------------------------------

BALLOTS = listed("ballot ballots ranking rankings order preferences preferenceorder vote votes")


def find_ballots(facts: Facts, _options: ReadOptions, _asked: bool) -> Shaped | None:
    """Return ballots such as ``A > B > C`` as games, or None where no column holds any."""
    for column, name in enumerate(facts.plain):
        if facts.is_text(column):
            told = _read_ballots(facts, column, named=name in BALLOTS)
            if told:
                return _ballots(facts, column, told)
    return None


def _read_ballots(facts: Facts, column: int, *, named: bool) -> dict[str, list[tuple[str, int]]]:
    """Return the items of each text with their places; nothing where texts are no ballots."""
    n_rows, marked = facts.count(f"contains({facts.raw(column)}, '>')")
    sign = ">" if 2 * marked >= n_rows else ";" if named else ""
    told: dict[str, list[tuple[str, int]]] = {}
    for text in facts.texts(column) if sign else []:
        places = [re.split(r"[=~]", part) for part in text.strip(" []").split(sign)]
        items = [(name.strip(" \"'"), k) for k, part in enumerate(places, start=1) for name in part]
        if len(items) > 1 and all(name for name, _ in items) and len(dict(items)) == len(items):
            told[text] = items
    longest = max((len(items) for items in told.values()), default=0)
    return told if facts.share(column, told) >= CLEAR and longest >= FEWEST else {}


def _ballots(facts: Facts, column: int, told: dict[str, list[tuple[str, int]]]) -> Shaped | None:
    flat = [(text, name, k) for text, items in told.items() for name, k in items]
    known = facts.engine.store_lists(
        "text VARCHAR, item VARCHAR, k DOUBLE", *zip(*flat, strict=True)
    )
    placed = "item", "k", f"{facts.rows} JOIN {known} ON {facts.raw(column)} = text"
    name, cells = facts.names[column], facts.values(column) or []
    n_orders = sum(n for text, n in cells if text in told)
    notes = [
        f'"{name}" holds orders from the best to the worst; who is not in one says nothing there',
        orders.said_of_orders(n_orders),
    ]
    if facts.count()[0] > n_orders:
        left = plural(facts.count()[0] - n_orders, "row")
        notes.append(f'{left} without an order in "{name}": not used')
    columns = facts.told("order", [column], "by what it holds")
    none = [role for role in OF_A_GAME if role not in {"count", "weight"}]
    return orders.each_two_in_a_row(facts, [column], placed, columns, notes, none=none)


# Rounds of a tournament ---------------------------------------------------------------------------

MET = re.compile(r"(\d+)\s*([wbs])\s*([10½=+-]|0[.,]5|1/2)|([wld])\s*(\d+)")
OF_GO = re.compile(r"^(\d+)([+=-])/?([wb])(?:h?\d+)?!?$")  # 2+/b, which is 2b1
NOT_MET = re.compile(r"[-–+*0-9½.,\s]*|(?:bye|[hubx])\s*[-–]*|\d*\s*[wbs]?\s*[+-][+-]*")


class Met(NamedTuple):
    """A cell of a round: whose number was met, with white or not, and the points; None if none."""

    opponent: int
    white: bool | None
    points: float | None  # None for + and -, without a game


Told = dict[tuple[int, int], Met]  # by row and round


def find_rounds(facts: Facts, _options: ReadOptions, asked: bool) -> Shaped | None:
    """Return the rounds of a tournament as games, or None where cells do not tell them.

    ``4w1`` says that number 4 was met with white, and the game was won; others write ``W4``.  A
    game is as the player with white tells it, or else as the earlier row does.
    """
    n_rows, names = facts.count()[0], facts.names
    if not FEWEST - asked <= n_rows <= MOST_ROWS:
        return None
    numbered = [i for i, name in enumerate(names) if asked or re.search(r"\d", name)]
    rounds = [i for i in numbered if facts.is_text(i) and _is_round(facts, i)]
    label = facts.naming(i for i in range(len(names)) if i not in rounds) if rounds else None
    if label is None:
        return None
    cells = ", ".join([facts.text(label), *map(facts.raw, range(len(names)))])
    found = facts.engine.ask(f"SELECT row, {cells} FROM {facts.rows} ORDER BY row")
    pairs = ((i, k, _met(row[2 + k])) for i, row in enumerate(found) for k in rounds)
    told = {(i, k): met for i, k, met in pairs if met is not None}
    behind = _whose_numbers(facts, [row[2:] for row in found], told)
    paired = {key: behind[met.opponent] for key, met in told.items() if met.opponent in behind}
    games, unplayed = [], 0
    for (i, k), j in paired.items():
        here, at = told[i, k], re.search(r"\d+", names[k])
        leads = here.white or (here.white is None and i < j)
        unplayed += here.points is None and i < j
        if here.points is not None and leads:
            when = float(at[0]) if at else rounds.index(k) + 1.0
            games.append((found[i][0], str(found[i][1]), str(found[j][1]), here.points, when))
    if not games:
        return None
    sided = any(met.white for met in told.values())
    notes = [f"{plural(len(games), 'game')} of {plural(len(rounds), 'round')}, each listed twice"]
    if unpaired := n_rows * len(rounds) - len(paired):
        notes.append(f"{plural(unpaired, 'bye')} or empty cells of rounds: not used")
    if unplayed:
        notes.append(f"{plural(unplayed, 'game')} without play (+ and -): not used")
    notes += ["the first has white"] if sided else []
    columns = facts.told("round", rounds, "by what it holds")
    called = ("player", "met", "points", "round")
    return listed_games(
        facts.table, list(zip(*games, strict=True)), called, columns, notes,
        side=sided and "first", first="player", second="met", outcome="points", time="round",
    )  # fmt: skip


def _is_round(facts: Facts, column: int) -> bool:
    met = {text for text in facts.texts(column) if _met(text) is not None}
    none = {t for t in facts.texts(column) if NOT_MET.fullmatch(t.strip().casefold())}
    return facts.share(column, met) > 0.5 and facts.share(column, met | none) == 1.0


def _met(cell: object) -> Met | None:
    bare = "" if cell is None else str(cell).strip().casefold()
    match = MET.fullmatch(OF_GO.sub(lambda m: f"{m[1]}{m[3]}{'10½'['+-='.index(m[2])]}", bare))
    if match is None:
        return None
    points = ONE_SIDE.get((match[3] or match[4]).replace(",", "."))
    return Met(int(match[1] or match[5]), match[2] == "w" if match[2] else None, points)


def _whose_numbers(facts: Facts, rows: list[Sequence[Any]], told: Told) -> dict[int, int]:
    """Return the row behind each number: of the column, or the order, by which both sides agree."""
    best: dict[int, int] = {}
    most = -1.0
    for column in (*zip(*rows, strict=True), range(1, len(rows) + 1)):
        texts = [str(cell).strip().rstrip(".") for cell in column]
        if not all(text.isdecimal() for text in texts) or len({*map(int, texts)}) < len(texts):
            continue
        behind = {int(text): k for k, text in enumerate(texts)}
        if (agree := _agree(told, behind)) > most:
            best, most = behind, agree
    if most < CLEAR:
        raise facts.refuse(
            "its rounds are written as in 4w1, but whose number that is cannot be seen: the two "
            "players of a game do not tell the same of it; correct it, or write one row a game."
        )
    return best


def _agree(told: Told, behind: dict[int, int]) -> float:
    """Return the share of told games that the other side tells alike."""
    agree = 0
    for (i, k), here in told.items():
        there = told.get((behind.get(here.opponent, -1), k))
        if there is not None and behind.get(there.opponent) == i:
            points = [x for x in (here.points, there.points) if x is not None]
            whole = len(points) < 2 or sum(points) == 1.0
            agree += whole and (here.white is None or here.white != there.white)
    return agree / len(told) if told else 0.0


FINDERS: dict[str, Find] = {
    **orders.FINDERS,
    "rounds": find_rounds,
    "ranks": find_ranks,
    "ballots": find_ballots,
    "scores": find_scores_in_columns,
}
