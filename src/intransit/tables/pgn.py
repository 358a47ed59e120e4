"""Chess games in PGN: one row a game, one column a tag (White, Black, Result, Date, ...).

Only the tags are read, which say who met whom and how it ended; the moves are not looked at.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import replace

from intransit.tables.engine import Engine
from intransit.tables.files import Source, refuse
from intransit.tables.intake import Table
from intransit.tables.texts import take_text

TAG = re.compile(r'\[([A-Za-z]\w*)\s+"((?:[^"\\]|\\.)*)"\]\s*$')
UNKNOWN = re.compile(r"[?.]*")  # what PGN writes for what is not known


def take_pgn(source: Source, engine: Engine) -> Table:
    """Return chess games as a table of their tags."""
    place = engine.fresh("games.csv")
    names: dict[str, None] = {}
    for game in _games(source):
        names |= dict.fromkeys(game)
    wanted = ("White", "Black", "Result")
    missing = [name for name in wanted if name not in names]
    if missing:
        raise refuse(source.label, f'no game has the tag "{missing[0]}"; PGN games need one.')
    date = "UTCDate" if "UTCDate" in names else "Date"
    kept = [name for name in names if name == date or not name.endswith(("Date", "Time"))]
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(kept)
        for game in _games(source):
            writer.writerow([game.get(name, "") for name in kept])
    with place.open("r", encoding="utf-8", newline="") as file:
        head = file.read(1 << 16)
    table = take_text(Source(place, source.label), head, engine)
    note = "chess games in PGN: rows are games, columns are tags; moves are not read"
    return replace(table, unit="row", locate=None, notes=(note, *table.notes))


def _games(source: Source) -> Iterator[dict[str, str]]:
    """Yield the tags of one game after the other."""
    game: dict[str, str] = {}
    moves = False
    with source.path.open("r", encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            tag = TAG.match(line) if line.startswith("[") else None
            if tag is None:
                moves = moves or bool(line.strip())
                continue
            if game and (moves or tag[1] in game):
                yield game
                game = {}
            moves = False
            value = re.sub(r"\\(.)", r"\1", tag[2]).strip()
            value = value.replace(".??", ".01") if tag[1].endswith("Date") else value
            game[tag[1]] = "" if UNKNOWN.fullmatch(value) else value
    if game:
        yield game
