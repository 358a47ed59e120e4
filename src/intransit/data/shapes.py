"""Tables that do not have one row a game, turned into tables that have.

Each becomes rows of two items with an outcome; the columns they are made of are reported like any
other.  Matrices are in `matrices`, finishing orders in `orders`, several results a row in
`wide_tables`.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from intransit.data import vocabulary as words
from intransit.data.engine import EngineTable, Facts, columns_sql, joined_sql, quote
from intransit.data.outcomes import TIE_WORDS
from intransit.data.reading import ROLES, Column, Columns, ReadOptions, plural, quoted
from intransit.data.vocabulary import CLEAR, ITEMS, MARKERS, Marker, Pair, listed, plain, tokens_of


@dataclass(frozen=True)
class Shaped:
    """A table with one row a game, what its columns are, and what is to be said about it."""

    table: EngineTable
    columns: Columns  # roles that the new columns play
    told: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()
    keeps_where: bool = False  # whether the table still has the rows that `where` leaves out
    worth: float = 1.0  # of a game, see `Reading`


Find = Callable[[Facts, ReadOptions, bool], Shaped | None]


def reshape(facts: Facts, options: ReadOptions, finders: Mapping[str, Find]) -> Shaped | None:
    """Return the table with one row a game, or None where it has that already."""
    if options.shape == "games":
        return None
    if options.shape is not None:
        found = finders[options.shape](facts, options, True)
        if found is None:
            raise facts.refuse(
                f"the table is not of the shape {options.shape!r}; leave shape= out (command line: "
                "--shape), or see docs/tables.md for what it needs."
            )
        return found
    for find in finders.values():
        found = find(facts, options, False)
        if found is not None:
            return found
    return None


ABOVE = words.TIMES | words.PERIODS | words.ROUNDS | words.TOURNAMENTS | {"race", "heat"}


def filled_from_above(facts: Facts) -> EngineTable | None:
    """Return the table with dates, rounds and events in every row that merged cells left without.

    Such a cell stands once, above rows in which it is empty, and there are several of them; None
    where no column is like that, or the table is no small one of text.
    """
    called = [i for i, name in enumerate(facts.plain) if name in ABOVE or words.DATED.search(name)]
    rows = (called and facts.cells) or []
    merged = [i for i in called if _is_merged([(row[i] or "").strip() for row in rows])]
    if not merged:
        return None
    kept = {i: f"nullif(trim(c{i}), '')" for i in merged}
    cells = (f"last_value({x} IGNORE NULLS) OVER (ORDER BY row) AS c{i}" for i, x in kept.items())
    note = f"{facts.listed(merged, ' and ')} appears once above several rows, and is used for all"
    return replace(
        facts.table,
        rows=f"(SELECT * REPLACE ({', '.join(cells)}) FROM {facts.table.rows})",
        notes=(*facts.table.notes, note),
    )


def _is_merged(texts: Sequence[str]) -> bool:
    """Return whether cells, of no time of day, stand once each, several above empty ones."""
    filled = [text for text in texts if text]
    above = sum(bool(text) and not below for text, below in itertools.pairwise(texts))
    if not filled or not texts[0] or above < 2 or any(":" in text for text in filled):
        return False
    return len(set(filled)) == len(filled) and 3 * (len(texts) - len(filled)) >= len(texts)


def named_by_hand(options: ReadOptions) -> bool:
    """Return whether the caller names the columns with the items."""
    said = map(options.columns.get, ("first", "second", "winner", "loser"))
    return any(isinstance(name, str) for name in said)


MEASURED = ("first_score", "second_score", "margin")
OF_A_GAME = ("winner", "loser", *MEASURED, "side", "count")


def made_games(
    facts: Facts,
    rows: str,
    extra: Mapping[str, str],
    told: Sequence[Column],
    notes: Sequence[str],
    none: Sequence[str] = OF_A_GAME,
    **made: str,
) -> Shaped:
    """Return new rows (SQL of c0, c1, ... and `row`) as games.

    `extra` has the names and types of further columns, `made` the roles that columns play; those
    in `none` no column plays.
    """
    table = facts.table.longer(extra, facts.engine.store(rows))
    return Shaped(table, {**dict.fromkeys(none, False), **made}, tuple(told), tuple(notes))


def listed_games(
    table: EngineTable,
    columns: Sequence[Sequence[object]],
    names: tuple[str, ...],
    told: Sequence[Column],
    notes: Sequence[str],
    **made: str | bool,
) -> Shaped:
    """Return games of any number (rows of the table, two names, two numbers), and no other role."""
    types = ("VARCHAR", "VARCHAR", "DOUBLE", "DOUBLE")
    called = ", ".join(f"c{k} {kind}" for k, kind in enumerate(types))
    rows = table.engine.store_lists(f"row BIGINT, {called}", *columns)
    new = replace(table, names=names, types=types, rows=rows, decimal_comma=False)
    return Shaped(new, {**dict.fromkeys(ROLES, False), **made}, tuple(told), tuple(notes))


def apply(options: ReadOptions, shaped: Shaped) -> ReadOptions:
    """Return the options for the new table: its own columns, and what the caller says besides."""
    columns = {**options.columns, **shaped.columns}
    made = frozenset(role for role, name in shaped.columns.items() if isinstance(name, str))
    if shaped.columns.get("outcome"):  # which tells ties too
        columns["tie"] = False
    return replace(options, columns=columns, made=made, where={})


TEAM_WORDS = (  # words for the two sides, in the order in which they are tried
    *(("winner", "loser"), ("winning", "losing"), ("won", "lost"), ("w", "l")),
    *(("blue", "red"), ("radiant", "dire"), ("home", "away"), ("left", "right")),
    *(("team1", "team2"), ("t1", "t2"), ("side1", "side2"), ("teama", "teamb"), ("a", "b")),
)
MEMBERS = listed(
    "top jungle jng jg mid middle adc bot bottom support sup sup. carry member partner front back "
    "forehand backhand drive first second third fourth fifth"
) | (PICKS := listed("champ champion hero pick"))
NUMBERING = MEMBERS - PICKS | listed("a b c")  # which member of a side it is


def find_teams(facts: Facts, options: ReadOptions, _asked: bool) -> Shaped | None:
    """Return teams of several as one item each, or None where there is one column a side.

    A comparison is between two items, so a team is an item of its own, its members' names sorted.
    """
    if options.teams:
        sides = {
            role: [facts.column(name, role) for name in columns]
            for role, columns in options.teams.items()
        }
    else:
        sides = {} if named_by_hand(options) else _recognised_teams(facts)
    if not sides:
        return None
    taken = facts.names
    names = [  # what a winner would be called, where that is free
        word if word[-1].isdigit() and word not in taken else f"{word} team" for word in sides
    ]
    members = [[f"nullif({facts.text(i)}, '')" for i in columns] for columns in sides.values()]
    joined = [("VARCHAR", joined_sql(f"[{', '.join(cells)}]")) for cells in members]
    won = next(iter(sides)) in {"winner", "winning", "won", "w"}
    roles = ("winner", "loser") if won else ("first", "second")
    why = "named" if options.teams else "by its name"
    firsts, seconds = sides.values()
    told = facts.told(f"{roles[0]} member", firsts, why)
    told += facts.told(f"{roles[1]} member", seconds, why)
    note = (
        f"{len(firsts)} a side: each team is one item, its members joined by a stroke; to compare "
        f'single members, name one column a side, as in {roles[0]}="{taken[firsts[0]]}" and '
        f'{roles[1]}="{taken[seconds[0]]}"'
    )
    table = facts.table.with_columns(dict(zip(names, joined, strict=True)))
    made = dict(zip(roles, names, strict=True))
    return Shaped(table, dict(made), tuple(told), (note,), keeps_where=True)


def _recognised_teams(facts: Facts) -> dict[str, list[int]]:
    """Return the columns of members of the two sides, by the side's word."""
    tokens = [tokens_of(name) for name in facts.names]
    numbered = Counter(name[0] for name in tokens if len(name) == 2 and name[1].isdigit())
    own = [word for word, n in numbered.items() if n > 1 and word not in ITEMS]  # red_1, red_2
    scored = len(own) == 2 and words.score_pairs(facts.plain, (Marker(own[0], own[1]),))
    for first, second in (*TEAM_WORDS, *([(own[0], own[1])] if scored else ())):
        sides = [_of_side(tokens, word) for word in (first, second)]
        shared = [rest for rest in sides[0] if rest in sides[1]]
        groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for rest in shared:
            bare = tuple(t for t in rest if not t.isdigit() and t not in NUMBERING)
            groups.setdefault(bare, []).append(rest)
        for bare, members in groups.items():
            items = all(token in ITEMS | MEMBERS | {"name", "names"} for token in bare)
            if len(members) >= 2 and items:
                columns = [[side[rest] for rest in members] for side in sides]
                both = [*itertools.chain(*columns)]  # W1 and W2 may be the games of two sets
                if all(facts.is_text(i) and not facts.looks_numeric(i) for i in both):
                    return {first: columns[0], second: columns[1]}
    return {}


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


WON = listed("wins win won w victories firstwins nwins numwins winsfor")
LOST = listed("losses loss lost lose l defeats secondwins nlosses numlosses winsagainst")
DRAWN = TIE_WORDS | listed("draws d ties t ndraws nties numties tievotes votestie stalemates")
EACH = WON | listed(
    "votes vote gameswon matcheswon setswon nvotes votesfor chosen picks prefer preferred stimmen"
)
TALLIES = {"won": WON, "lost": LOST, "drawn": DRAWN, "games": words.COUNTS}
WORTH = {"won": 1.0, "lost": 0.0, "drawn": 0.5}
OUTCOME, GAMES = "won, lost or drawn", "number of games"


def find_tally(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return rows of won and lost games as games, or None where there are none."""
    named = _named_tally(facts, options)
    columns = named or _recognised_tally(facts, options, asked)
    used = list(columns.values())
    by_name = not (asked or named)
    if not used or (by_name and not _are_counts(facts, used)):
        return None
    why = "named" if named else "by its name"
    told = [part for role, i in columns.items() for part in facts.told(role, [i], why)]
    numbers = {role: facts.number(i) for role, i in columns.items()}
    if "games" in numbers:  # what was neither won nor drawn was lost
        played = numbers.pop("games")
        numbers["lost"] = " - ".join([played, *(f"coalesce({x}, 0)" for x in numbers.values())])
    total = " + ".join(f"coalesce({x}, 0)" for x in numbers.values())
    n, fine = len(facts.names), _fine(facts, used)
    whole, note = _whole(facts, used, total)
    counted = [i for i, name in enumerate(facts.plain) if name in words.COUNTS]
    _, parts_of_games = facts.count(" OR ".join(f"({x}) * 2 % 1 <> 0" for x in numbers.values()))
    sided = any(pair.marker.sided for pair in words.name_pairs(facts.plain, MARKERS))
    if by_name and (parts_of_games if whole is None else sided and not counted):
        return None  # odds, or chances before the game
    if whole is not None:
        times = facts.number(counted[0]) if len(counted) == 1 else "1.0"
        numbers = {role: f"({x}) / {whole} * {times}" for role, x in numbers.items()}
        told += facts.told("count", counted if len(counted) == 1 else ())
        fine = f"({fine} AND coalesce({times} > 0, false))"
    parts = [
        f"SELECT * EXCLUDE (row), {WORTH[role]}::DOUBLE AS c{n}, {x} AS c{n + 1}, row FROM "
        f"{facts.rows} WHERE {fine} AND {x} > 0"
        for role, x in numbers.items()
    ]
    # Rows with something that is no count stay, so that they are reported.
    other = f"SELECT * EXCLUDE (row), NULL::DOUBLE, NULL::DOUBLE, row FROM {facts.rows}"
    parts.append(f"{other} WHERE NOT {fine}")
    n_rows, empty = facts.count(f"{fine} AND {total} = 0")
    notes = [f"{plural(n_rows, 'row')} of {note}"]
    if empty:
        notes.append(f"{plural(empty, 'row')} without any game")
    rows, extra = " UNION ALL ".join(parts), {OUTCOME: "DOUBLE", GAMES: "DOUBLE"}
    return made_games(facts, rows, extra, told, notes, MEASURED, outcome=OUTCOME, count=GAMES)


def _whole(facts: Facts, columns: list[int], total: str) -> tuple[float | None, str]:
    """Return what shares of games are written out of, None for numbers of games, and in words."""
    signed = any("%" in text for i in columns for text in facts.texts(i))
    n_rows, ones, hundreds = facts.count(f"abs({total} - 1) <= 0.02", f"{total} = 100")
    _, broken = facts.count(" OR ".join(f"{x} <> round({x})" for x in map(facts.number, columns)))
    if signed or (ones == n_rows and broken):
        return 100.0 if signed else 1.0, (
            "shares of games won and lost; a row counts as the games that a column of them tells, "
            "or as one"
        )
    note = "games won and lost, counted as that many games"
    if hundreds == n_rows > 1:
        note += "; each row has 100: if they are percent, write them with the sign"
    return None, note


def _fine(facts: Facts, columns: list[int]) -> str:
    """SQL: whether every cell is a count, or empty."""
    tests = [
        f"(NOT {facts.filled(i)} OR coalesce(isfinite({facts.number(i)}) AND "
        f"{facts.number(i)} >= 0, false))"
        for i in columns
    ]
    some = " OR ".join(facts.filled(i) for i in columns)
    return f"({' AND '.join(tests)} AND ({some}))"


def _named_tally(facts: Facts, options: ReadOptions) -> dict[str, int]:
    said = options.tally
    if len({"wins", "losses"} & set(said)) == 1:
        raise facts.refuse("name both wins= and losses= (command line: --wins and --losses).")
    roles = {"wins": "won", "losses": "lost", "draws": "drawn"} if "wins" in said else {}
    return {own: facts.column(said[role], role) for role, own in roles.items() if role in said}


def free_names(facts: Facts, options: ReadOptions) -> list[str]:
    """Return what columns are called, nothing for those that the caller names."""
    said = {plain(name) for name in options.columns.values() if isinstance(name, str)}
    return ["" if name in said else name for name in facts.plain]


def _recognised_tally(facts: Facts, options: ReadOptions, asked: bool) -> dict[str, int]:
    """Return the columns with games won, with those lost or with all games, and drawn if any.

    What an item won before, its record, is not what it won against this one; nor is it where both
    have games lost besides, unless these are what the other won.
    """
    free = zip(free_names(facts, options), facts.names, strict=True)
    names = ["" if "record" in plain(whole) else name for name, whole in free]
    own = {role: [i for i, n in enumerate(names) if n in known] for role, known in TALLIES.items()}
    lost = words.pairs_called(names, *LOST)
    each = [pair for pair in words.pairs_called(names, *EACH) if _are_same(facts, pair, lost)]
    pairs = [[*own["won"], *own["lost"]]] if len(own["won"]) == len(own["lost"]) == 1 else []
    pairs += [[pair.first, pair.second] for pair in each]
    stems = [{words.stem(name, mark.first) or "" for mark in MARKERS} for name in names]
    are_wins = [any(map(partial(words.is_called, EACH), rests)) for rests in stems]
    won = {*(own["won"] or itertools.compress(itertools.count(), are_wins))}
    columns = dict(zip(("won", "lost"), pairs[0], strict=True)) if pairs else {}
    if not pairs and len(won) == len(own["games"]) == 1:
        columns = {"won": won.pop(), "games": own["games"][0]}
    # Where another column tells outcomes, wins may be what was before.
    told_in = [i for i, name in enumerate(names) if name in words.OUTCOMES | words.METHODS]
    rates = [i for i in told_in if any("%" in text for text in facts.texts(i))]
    rest = {name for i, name in enumerate(names) if i not in {*columns.values(), *rates}}
    told = (words.OUTCOMES - WON - LOST | words.METHODS) & rest or words.score_pairs(names, MARKERS)
    columns |= dict(zip(("drawn",), own["drawn"], strict=False)) if columns else {}
    of_each = columns.get("won") not in own["won"]
    if not columns or (told and not asked and not (of_each and _sum_up(facts, columns))):
        return {}
    return columns if "lost" in columns or _won_several(facts, columns) else {}


def _sum_up(facts: Facts, columns: Mapping[str, int]) -> bool:
    """Return whether won, drawn and lost are all games that are said to be played, and several."""
    total = " + ".join(f"coalesce({facts.number(i)}, 0)" for i in columns.values())
    known = words.COUNTS | {"played", "gp", "mp", "p"}
    played = [facts.number(i) for i, name in enumerate(facts.plain) if name in known]
    n_rows, fine = facts.count(" OR ".join(f"({x} = {total} AND {x} > 1)" for x in played or "0"))
    return n_rows == fine > 0 and "games" not in columns


def _won_several(facts: Facts, columns: Mapping[str, int]) -> bool:
    """Return whether more than one game was won somewhere, and nowhere more than were played."""
    numbers = {role: facts.number(i) for role, i in columns.items()}
    wins, games = numbers["won"], numbers.pop("games")
    decided = " + ".join(f"coalesce({x}, 0)" for x in numbers.values())
    _, several, too_many = facts.count(f"{wins} > 1", f"{decided} > {games}")
    rates = any("%" in text for text in facts.texts(columns["won"]))
    return bool(several and not too_many and not rates)


def _are_same(facts: Facts, won: Pair, lost: list[Pair]) -> bool:
    """Return whether what each of two won is what the other lost, where that is told too."""
    x = facts.number
    unlike = (f"{x(won.first)} <> {x(p.second)} OR {x(won.second)} <> {x(p.first)}" for p in lost)
    return not lost or any(not facts.count(test)[1] for test in unlike)


def _are_counts(facts: Facts, columns: list[int]) -> bool:
    """Return whether the columns hold numbers of games, so that a game has one winner."""
    tests = [facts.filled(i) for i in columns] + [f"{facts.number(i)} >= 0" for i in columns]
    _, *found = facts.count(*tests)
    filled, fine = found[: len(columns)], found[len(columns) :]
    return all(n > 0 and m >= CLEAR * n for n, m in zip(filled, fine, strict=True))


SET = r"(?:set|game|map|frame)"  # and not of two legs, which are added up
SETS, SET_LINE = "all sets", re.compile(r"\W?\d+\s?[-:–/]\s?\d")  # 6-4 in one, 3-6 in the next
SETS_WON, SETS_LOST = "sets of the first", "sets of the second"


def find_sets(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return a table with the points of both in each set as one with the sets that each won.

    As in set1_a and set1_b, p1_set1 and p2_set1; None where there are none, or scores as well.
    """
    names = [re.sub("score|points|pts", "", name) for name in free_names(facts, options)]
    if not any(re.search(rf"{SET}\d", name) for name in names) or named_by_hand(options):
        return None
    texts = [i for i, name in enumerate(names) if re.fullmatch(rf"{SET}\d", name)]
    pairs = words.name_pairs(facts.plain, MARKERS)
    told = words.OUTCOMES & {*facts.plain} or words.score_pairs(facts.plain, MARKERS)
    if len(pairs) != 1 or (told and not asked):
        return None
    lines = [text.strip() for i in texts for text in facts.texts(i) if text.strip()]
    if len(texts) > 1 and all(map(SET_LINE.match, lines)) and "sets" not in names:
        line = f"concat_ws(' ', {', '.join(map(facts.text, texts))})"
        table = facts.table.with_columns({SETS: ("VARCHAR", line)})
        return Shaped(table, {"outcome": SETS}, (*facts.told("set", texts),), (), keeps_where=True)
    marks = pairs[0].marker.first, pairs[0].marker.second
    ours, theirs = (_sets_of(names, mark) for mark in marks)
    both = [(ours[k], theirs[k]) for k in sorted(ours.keys() & theirs.keys())]
    if len(both) < 2 or not all(facts.looks_numeric(i) for i in both[0]):
        return None
    points = [(facts.number(i), facts.number(j)) for i, j in both]
    won, lost = (
        " + ".join(f"coalesce(({x} {sign} {y})::DOUBLE, 0)" for x, y in points) for sign in "><"
    )
    table = facts.table.with_columns({SETS_WON: ("DOUBLE", won), SETS_LOST: ("DOUBLE", lost)})
    made = {"first_score": SETS_WON, "second_score": SETS_LOST}
    told_columns = tuple(facts.told("points in a set", itertools.chain(*both)))
    note = f"who won more of up to {len(both)} sets won; points in them are not used"
    return Shaped(table, dict(made), told_columns, (note,), keeps_where=True)


def _sets_of(names: list[str], mark: str) -> dict[str, int]:
    """Return the columns with the points of one of the two in each set, by its number."""
    whose = f"(?:{'|'.join(sorted({*ITEMS, 'p', 't'}))})?{re.escape(mark)}"
    found = [re.fullmatch(rf"{whose}{SET}(\d)|{SET}(\d){whose}", name) for name in names]
    return {match[1] or match[2]: i for i, match in enumerate(found) if match}


VERDICTS = ("score", "verdict", "winner", "result")
ANSWER_A, ANSWER_B, VERDICT = "answer A", "answer B", "verdict on A and B"
UNNAMED = "baseline"


def find_judgments(facts: Facts, options: ReadOptions, _asked: bool) -> Shaped | None:
    """Return judgments of a model beside a baseline as games, or None where the table has none.

    Each row has two, as in arena-hard: in the first, A is the baseline, in the second the model.
    """
    names, n = [plain(name) for name in facts.names], len(facts.names)
    verdicts = [(f"games{word}1", f"games{word}2") for word in VERDICTS]
    found = [names.index(name) for both in verdicts if {*both} <= {*names} for name in both][:2]
    if not found or "model" not in names or named_by_hand(options):
        return None
    notes = ["each row is two games with the places swapped: A is the baseline, then the model"]
    own, other = facts.text(names.index("model")), f"'{UNNAMED}'"
    if UNNAMED in names:
        other = facts.text(names.index(UNNAMED))
    else:
        notes.append(f'no column names the baseline: it is called "{UNNAMED}"')
    rows = " UNION ALL ".join(
        f"SELECT {columns_sql(n)}, {first} AS c{n}, {second} AS c{n + 1}, c{verdict} AS c{n + 2}, "
        f"row FROM {facts.rows}"
        for first, second, verdict in ((other, own, found[0]), (own, other, found[1]))
    )
    extra = {ANSWER_A: "VARCHAR", ANSWER_B: "VARCHAR", VERDICT: facts.table.types[found[0]]}
    told = facts.told("model", [names.index("model")]) + facts.told("verdict", found)
    made = {"first": ANSWER_A, "second": ANSWER_B, "outcome": VERDICT}
    return made_games(facts, rows, extra, told, notes, **made)


MATCHUP = r"(.*?)\s*(?:\b(vs?\.?|versus|at)\s|(@))\s*(.+)"
DASHED = r"(.*?\S)\s+([-–—])(\s)\s*(\S.*)"  # Ayr - Bute
SCORED = (  # Ayr 2 - 1 Bute (aet)
    r"^(.*?[^\s,]),?\s+(\d{1,3}\s*([-–—:])\s*\d{1,3})\s+([^\s\d(].*?)"
    r"(?:\s*\((?:a\.?e\.?t\.?|\d?ot|so|n\.?[vpe]\.?|[^()]*pens?\.?)\))?$"
)
BEAT = (  # Ann def. Bob 6-4 6-3
    r"^(.+?)\s+(beat|beats|bt\.?|def\.?|defeated|defeats|d\.|over|lost to)\s+(.+?)"
    r"(?:,?\s+\(?\d+\s*[-–:/]\s*\d+.*|,?\s+by\s+\d.*|\s+\([^)]*\d[^)]*\))?$"
)
QUESTION = re.compile(  # Coke vs Pepsi, Which do you prefer? [Tea or coffee]
    r"(?:.*\[)?(.+?)\s+(?:vs?\.?|versus|or|oder|of|ou|o|lub|veya|eller|или)\s+(.+?)\s*\??\]?",
    re.IGNORECASE,
)
FIXTURES = listed("match game fixture matchup pairing bout fight teams players contest event")
OWN_TEAMS = ("team", "teamname", "school", "club", "player", "name")
WON_BY, LOST_BY = "winner's name", "loser's name"
TEAM, AGAINST, AT_HOME, TAKEN = "team name", "opponent name", "home or away", "which one"
LINE = "score of the two"


def find_matchups(facts: Facts, options: ReadOptions, _asked: bool) -> Shaped | None:
    """Return a log whose cells say against whom and where, or None where no column does."""
    names = facts.plain
    if named_by_hand(options):
        return None
    if asked_of := _asked_of_pairs(facts):
        return _choices_of_pairs(facts, asked_of)
    opponents = ("opponent", "opp")
    pairs = words.name_pairs(names, MARKERS, words.WINNERS)
    called = [i for i, name in enumerate(names) if name == "matchup" or name in opponents]
    called += [] if pairs else [i for i, name in enumerate(names) if name in FIXTURES - {"matchup"}]
    results = [] if pairs else [i for i, name in enumerate(names) if name in words.OF_RESULTS]
    for column in (*called, *results):
        if not facts.is_text(column):
            continue
        asked = f"regexp_full_match({facts.text(column)}, {quote(BEAT)}, 'i')"
        told, filled = facts.count_cells(column, asked, facts.filled(column))
        if told and told >= CLEAR * filled:
            return _beaten(facts, column)
        both, result = names[column] not in opponents, column in results
        for form in (SCORED,) if result else (SCORED, MATCHUP, DASHED) if both else (MATCHUP,):
            asked = f"regexp_full_match({facts.text(column)}, {quote(form)}, 'i')"
            at = f"{asked} AND regexp_matches({facts.text(column)}, '@|\\bat\\b', 'i')"
            filled, told, away = facts.count_cells(column, facts.filled(column), asked, at)
            own = [pair.first for pair in pairs if pair.second == column]
            own += [names.index(name) for name in OWN_TEAMS if name in names]
            met = [m for text in facts.texts(column) if (m := re.fullmatch(form, text.strip()))]
            clocks = form is SCORED and all(re.fullmatch(r"\d+\s*:\s*[0-5][05]", m[2]) for m in met)
            if form is not MATCHUP and (clocks or not {m[1] for m in met} & {m[4] for m in met}):
                continue  # Ayr - Bute would be met by Bute - Cork, and Ayr 15:00 Bute
            if (both and told and told >= CLEAR * filled) or (not both and away and own):
                return _matchups(facts, column, form, None if both else own[0], sided=bool(away))
    return None


def _asked_of_pairs(facts: Facts) -> dict[int, tuple[str, str]]:
    """Return columns that are called as Coke vs Pepsi, and in which cells name one of the two."""
    found: dict[int, tuple[str, str]] = {}
    for column, name in enumerate(facts.names):
        match = QUESTION.fullmatch(name.strip())
        if match and facts.is_text(column):
            cells = {text.strip().casefold() for text in facts.texts(column)}
            if cells & {match[1].casefold(), match[2].casefold()}:
                found[column] = match[1], match[2]
    return found if len(found) > 1 else {}


def _choices_of_pairs(facts: Facts, pairs: Mapping[int, tuple[str, str]]) -> Shaped:
    """Return a game for each cell of columns that ask of two which one is taken."""
    n = len(facts.names)
    rows = " UNION ALL ".join(
        f"SELECT {columns_sql(n)}, {quote(first)} AS c{n}, {quote(second)} AS c{n + 1}, "
        f"{facts.text(column)} AS c{n + 2}, row FROM {facts.rows} WHERE {facts.filled(column)}"
        for column, (first, second) in pairs.items()
    )
    note = f"each column such as {quoted(facts.names[next(iter(pairs))])} is a pair"
    told, extra = facts.told("pair", pairs), dict.fromkeys((TEAM, AGAINST, TAKEN), "VARCHAR")
    made = {"first": TEAM, "second": AGAINST, "winner": TAKEN}
    none = [role for role in OF_A_GAME if role != "winner"]
    return made_games(facts, rows, extra, told, [note], none, **made)


def _beaten(facts: Facts, column: int) -> Shaped:
    """Return who beat whom, from sentences such as ``Ann def. Bob 6-4 6-3``."""
    cell, name = facts.text(column), facts.names[column]
    verb, *sides = (f"trim(regexp_extract({cell}, {quote(BEAT)}, {k}, 'i'))" for k in (2, 1, 3))
    lost = f"starts_with(lower({verb}), 'lost')"
    won, beaten = (f"CASE WHEN {lost} THEN {y} ELSE {x} END" for x, y in (sides, sides[::-1]))
    table = facts.table.with_columns({WON_BY: ("VARCHAR", won), LOST_BY: ("VARCHAR", beaten)})
    told = tuple(facts.told("matchup", [column], "by what it holds"))
    note = f'"{name}" says who beat whom; scores in it are not used'
    return Shaped(table, {"winner": WON_BY, "loser": LOST_BY}, told, (note,), keeps_where=True)


def _matchups(facts: Facts, column: int, form: str, team: int | None, *, sided: bool) -> Shaped:
    """Return the two who met, from one column or beside the team's own; and where, if told."""
    cell, name = facts.text(column), facts.names[column]
    asked = f"regexp_full_match({cell}, {quote(form)}, 'i')"

    def part(k: int) -> str:
        return f"trim(regexp_extract({cell}, {quote(form)}, {k}, 'i'))"

    away = f"({part(3)} = '@' OR lower({part(2)}) = 'at')"
    extra = {
        TEAM: ("VARCHAR", part(1) if team is None else facts.text(team)),
        AGAINST: ("VARCHAR", f"CASE WHEN {asked} THEN {part(4)} ELSE {cell} END"),
    }
    made: Columns = {"first": TEAM, "second": AGAINST}
    note = f'"{name}" says who met whom'
    if form is SCORED:
        extra[LINE] = ("VARCHAR", part(2))
        made["outcome"] = LINE
    if sided:
        extra[AT_HOME] = ("VARCHAR", f"CASE WHEN {asked} AND {away} THEN 'away' ELSE 'home' END")
        made["side"] = AT_HOME
        note = f'"{name}" says against whom, and where: behind "@" or "at" the opponent was at home'
    told = tuple(facts.told("matchup", [column]))
    return Shaped(facts.table.with_columns(extra), made, told, (note,), keeps_where=True)
