"""Tables that do not have one row a game, turned into tables that have.

Each becomes rows of two items with an outcome; the columns they are made of are reported like any
other.  Matrices are in `matrices`.

*Teams.*  A comparison here is between two items, so a team is an item of its own, whoever else its
members play with; their names are sorted, so that the order in which they are listed changes
nothing.

*Tallies.*  One row a pair with how many games each won: wins and losses, perhaps draws, or votes.

*Judgments* of a model beside a baseline, twice a question with their places swapped (arena-hard).
A row has the model and two verdicts, ``games.score.1`` and ``games.score.2``: in the first, A is
the baseline, in the second the model.  Each row becomes two games.

*Finishing orders*, one row a place or one row an event (*podiums*), are games of each two.  Of two
who finished, the one in the better place won; equal places are a tie.  Who did not finish lost to
all who did, and says nothing beside others who did not.  Who did not start says nothing.  Where a
row is an event, a column is a place (``1st``, ``2nd``, ``3rd``) and an empty cell nobody.
"""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from intransit.data import vocabulary as words
from intransit.data.engine import EngineTable, Facts, columns_sql, joined_sql
from intransit.data.reading import Column, Columns, ReadOptions, list_names, plural
from intransit.data.time_columns import read_moments
from intransit.data.vocabulary import (
    CLEAR,
    ENOUGH,
    ITEMS,
    MARKERS,
    listed,
    number,
    plain,
    short_names,
    tokens_of,
)


@dataclass(frozen=True)
class Shaped:
    """A table with one row a game, what its columns are, and what is to be said about it."""

    table: EngineTable
    columns: Columns  # roles that the new columns play
    told: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()
    keeps_where: bool = False  # whether the table still has the rows that `where` leaves out


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


def named_by_hand(options: ReadOptions) -> bool:
    """Return whether the caller names the columns with the items."""
    return any(
        isinstance(options.columns.get(role), str)
        for role in ("first", "second", "winner", "loser")
    )


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
    table = replace(
        facts.table,
        names=(*facts.names, *extra),
        types=(*facts.table.types, *extra.values()),
        rows=facts.engine.store(rows),
    )
    return Shaped(table, {**dict.fromkeys(none, False), **made}, tuple(told), tuple(notes))


def apply(options: ReadOptions, shaped: Shaped) -> ReadOptions:
    """Return the options for the new table: its own columns, and what the caller says besides."""
    columns = {**options.columns, **shaped.columns}
    made = frozenset(role for role, name in shaped.columns.items() if isinstance(name, str))
    if shaped.columns.get("outcome"):  # which tells ties too
        columns["tie"] = False
    return replace(options, columns=columns, made=made, where={})


TEAM_WORDS = (  # words for the two sides, in the order in which they are tried
    *(("winner", "loser"), ("winning", "losing"), ("won", "lost"), ("w", "l")),
    *(("blue", "red"), ("radiant", "dire"), ("home", "away"), ("left", "right"), ("a", "b")),
    *(("team1", "team2"), ("t1", "t2"), ("side1", "side2"), ("teama", "teamb")),
)
MEMBERS = listed(
    "top jungle jng jg mid middle adc bot bottom support sup sup. carry champ champion hero pick "
    "member partner front back forehand backhand drive first second third fourth fifth"
)


def find_teams(facts: Facts, options: ReadOptions, _asked: bool) -> Shaped | None:
    """Return teams of several as one item each, or None where there is one column a side."""
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
    joined = [("VARCHAR", _joined(facts, columns)) for columns in sides.values()]
    won = next(iter(sides)) in {"winner", "winning", "won", "w"}
    roles = ("winner", "loser") if won else ("first", "second")
    why = "named" if options.teams else "by its name"
    told = tuple(
        Column(f"{role} member", taken[i], why)
        for role, columns in zip(roles, sides.values(), strict=True)
        for i in columns
    )
    firsts, seconds = sides.values()
    note = (
        f"{len(firsts)} a side: each team is one item, its members joined by a stroke; to compare "
        f'single members, name one column a side, as in {roles[0]}="{taken[firsts[0]]}" and '
        f'{roles[1]}="{taken[seconds[0]]}"'
    )
    table = facts.table.with_columns(dict(zip(names, joined, strict=True)))
    made = dict(zip(roles, names, strict=True))
    return Shaped(table, dict(made), told, (note,), keeps_where=True)


def _joined(facts: Facts, columns: list[int]) -> str:
    """SQL: the sorted members of a team as one text, empty where none is named."""
    members = ", ".join(f"nullif({facts.text(i)}, '')" for i in columns)
    return joined_sql(f"[{members}]")


def _recognised_teams(facts: Facts) -> dict[str, list[int]]:
    """Return the columns of members of the two sides, by the side's word."""
    tokens = [tokens_of(name) for name in facts.names]
    for first, second in TEAM_WORDS:
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
                    return {first: columns[0], second: columns[1]}
    return {}


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


WON = listed("wins win won w victories firstwins nwins numwins winsfor")
LOST = listed("losses loss lost l defeats secondwins nlosses numlosses winsagainst")
DRAWN = listed(
    "draws draw drawn d ties tie tied t ndraws nties numties tievotes votestie stalemates"
)
EACH = listed(
    "wins win won votes vote victories w gameswon matcheswon setswon nwins numwins nvotes"
)
OUTCOME, GAMES = "won, lost or drawn", "number of games"


def find_tally(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return rows of won and lost games as games, or None where there are none."""
    named = _named_tally(facts, options)
    used = named or _recognised_tally(facts, options, asked)
    if not used or not (asked or named or _are_counts(facts, used)):
        return None
    told = [
        Column(role, facts.names[column], "named" if named else "by its name")
        for role, column in zip(("won", "lost", "drawn"), used, strict=False)
    ]
    n, total = len(facts.names), " + ".join(f"coalesce({facts.number(i)}, 0)" for i in used)
    parts = [
        f"SELECT * EXCLUDE (row), {outcome}::DOUBLE AS c{n}, {facts.number(column)} AS c{n + 1}, "
        f"row FROM {facts.rows} WHERE {_fine(facts, used)} AND {facts.number(column)} > 0"
        for outcome, column in zip(("1.0", "0.0", "0.5"), used, strict=False)
    ]
    # Rows with something that is no count stay, so that they are reported.
    parts.append(
        f"SELECT * EXCLUDE (row), NULL::DOUBLE, NULL::DOUBLE, row FROM {facts.rows} "
        f"WHERE NOT {_fine(facts, used)}"
    )
    n_rows, empty = facts.count(f"{_fine(facts, used)} AND {total} = 0")
    notes = [f"{plural(n_rows, 'row')} of games won and lost, counted as that many games"]
    if empty:
        notes.append(f"{plural(empty, 'row')} without any game")
    rows, extra = " UNION ALL ".join(parts), {OUTCOME: "DOUBLE", GAMES: "DOUBLE"}
    return made_games(facts, rows, extra, told, notes, MEASURED, outcome=OUTCOME, count=GAMES)


def _fine(facts: Facts, columns: list[int]) -> str:
    """SQL: whether every cell is a count, or empty."""
    tests = [
        f"(NOT {facts.filled(i)} OR coalesce(isfinite({facts.number(i)}) AND "
        f"{facts.number(i)} >= 0, false))"
        for i in columns
    ]
    some = " OR ".join(facts.filled(i) for i in columns)
    return f"({' AND '.join(tests)} AND ({some}))"


def _named_tally(facts: Facts, options: ReadOptions) -> list[int]:
    if not {"wins", "losses"} & set(options.tally):
        return []
    places = {role: facts.column(name, role) for role, name in options.tally.items()}
    if "wins" not in places or "losses" not in places:
        found = "name both wins= and losses= (command line: --wins and --losses)."
        raise facts.refuse(found)
    return [places[role] for role in ("wins", "losses", "draws") if role in places]


def _recognised_tally(facts: Facts, options: ReadOptions, asked: bool) -> list[int]:
    """Return the columns with the games that the first won and lost, and those drawn if any."""
    names = [plain(name) for name in short_names(facts.names)]
    said = {plain(str(name)) for name in options.columns.values() if isinstance(name, str)}
    names = ["" if name in said else name for name in names]
    # Where another column tells outcomes, wins may be what was before.
    outcomes = words.OUTCOMES - WON - LOST
    if not asked and (outcomes & set(names) or words.score_pairs(names, MARKERS)):
        return []
    drawn = [i for i, name in enumerate(names) if name in DRAWN][:1]
    won = [i for i, name in enumerate(names) if name in WON]
    lost = [i for i, name in enumerate(names) if name in LOST]
    if len(won) == 1 and len(lost) == 1:
        return [won[0], lost[0], *drawn]
    for marker in MARKERS:
        pair = [_each(names, word) for word in (marker.first, marker.second)]
        if pair[0] is not None and pair[1] is not None and pair[0] != pair[1]:
            return [pair[0], pair[1], *drawn]
    return []


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
    return all(n > 0 and m >= CLEAR * n for n, m in zip(filled, fine, strict=True))


VERDICTS = tuple(f"games{word}{{}}" for word in ("score", "verdict", "winner", "result"))
ANSWER_A, ANSWER_B, VERDICT = "answer A", "answer B", "verdict on A and B"
UNNAMED = "baseline"


def find_judgments(facts: Facts, options: ReadOptions, _asked: bool) -> Shaped | None:
    """Return each pair of judgments as two games, or None where the table has none."""
    table, names = facts.table, [plain(name) for name in facts.names]
    found = next(
        (
            [names.index(word.format(k)) for k in (1, 2)]
            for word in VERDICTS
            if all(word.format(k) in names for k in (1, 2))
        ),
        None,
    )
    if found is None or "model" not in names or named_by_hand(options):
        return None
    model = names.index("model")
    has_baseline = UNNAMED in names
    baseline = facts.text(names.index(UNNAMED)) if has_baseline else f"'{UNNAMED}'"
    n, own = len(names), facts.text(model)
    sides = ((baseline, own, found[0]), (own, baseline, found[1]))
    rows = " UNION ALL ".join(
        f"SELECT {columns_sql(n)}, {first} AS c{n}, {second} AS c{n + 1}, c{verdict} AS c{n + 2}, "
        f"row FROM {facts.rows}"
        for first, second, verdict in sides
    )
    extra = {ANSWER_A: "VARCHAR", ANSWER_B: "VARCHAR", VERDICT: table.types[found[0]]}
    notes = ["each row is two games with the places swapped: A is the baseline, then the model"]
    if not has_baseline:
        notes.append(f'no column names the baseline: it is called "{UNNAMED}"')
    columns = zip(("model", "verdict", "verdict"), (model, *found), strict=True)
    told = [Column(role, table.names[i], "by its name") for role, i in columns]
    return made_games(
        facts, rows, extra, told, notes, first=ANSWER_A, second=ANSWER_B, outcome=VERDICT
    )


# Finishing orders ---------------------------------------------------------------------------------

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
SCORE_NAMES = listed(
    "score points goals pts total totalscore totalpoints finalscore"
)  # without places
UNFINISHED = listed(
    "dnf ret retired r nc notclassified unfinished pu f ur bd su ro a accident n dropout out "
    "cut mc missedcut mdf otl"
)
ABSENT = listed("dns dnq dnpq withdrew withdrawn wd w scr nr ex dsq dq disq disqualified d e")
LAST = 1e9  # the place of those who did not finish
MOST_PAIRS = 50_000_000  # beyond, orders should be cut or summed up first
OTHER, CAME_FIRST = "other", "who came first"


def find_orders(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return finishing orders as games, or None where the table has none."""
    names = [plain(name) for name in short_names(facts.names)]
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
    found = [i for i, name in enumerate(names) if name in SCORE_NAMES]
    if (
        len(found) != 1
        or words.OUTCOMES - SCORE_NAMES & set(names)
        or not facts.looks_numeric(found[0])
    ):
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
        whole = options.event in facts.names
        wanted = [options.event] if whole else options.event.split(",")
        return tuple(facts.column(name.strip(), "event") for name in wanted)
    free = [(i, name) for i, name in enumerate(names) if i not in taken]
    events = [i for i, name in free if name in EVENTS]
    times = [i for i, name in free if name in words.TIMES | words.PERIODS]
    times = [i for i in times if read_moments(facts, i, day_first=True).understood >= ENOUGH]
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
    table, n = facts.table, len(facts.names)
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
    extra, first = {OTHER: table.types[item], CAME_FIRST: "DOUBLE"}, table.names[item]
    return made_games(
        facts, rows, extra, told, notes, first=first, second=OTHER, outcome=CAME_FIRST
    )


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
    known = facts.engine.store(
        "SELECT unnest(?::VARCHAR[]) AS text, unnest(?::DOUBLE[]) AS place",
        [list(ranks), list(ranks.values())],
    )
    key = " || chr(31) || ".join(f"coalesce({facts.text(i)}, '')" for i in event)
    return facts.engine.store(
        f"SELECT t.*, known.place AS place, {key} AS event FROM {facts.rows} AS t LEFT JOIN "
        f"{known} AS known ON coalesce({facts.raw(place)}, '') = known.text"
    )


def _check(facts: Facts, item: int, event: tuple[int, ...], pairs: int, twice: int) -> None:
    """Refuse orders in which items stand twice, or that make too many games."""
    table, refuse = facts.table, facts.refuse
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
    names = [plain(name) for name in facts.names]
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
    extra = {BETTER: "VARCHAR", WORSE: "VARCHAR", CAME_FIRST: "DOUBLE"}
    note = (
        f"each row is a finishing order with {plural(len(columns), 'place')}, taken as games of "
        "each two; games of one order are not independent of each other"
    )
    told = [Column("place", table.names[i], "by its name") for i in columns]
    return made_games(
        facts, rows, extra, told, [note], first=BETTER, second=WORSE, outcome=CAME_FIRST
    )


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
    if not any(NUMBERED.fullmatch(plain(facts.names[i])) for i in columns):
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
