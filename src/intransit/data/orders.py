"""Finishing orders, and choices from sets of alternatives, taken as games of each two.

Of two who finished, the one in the better place won; equal places are a tie.  Who did not finish
lost to all who did, and says nothing beside others who did not.  Who did not start says nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from intransit.data import outcomes
from intransit.data import vocabulary as words
from intransit.data.engine import Facts, columns_sql
from intransit.data.outcomes import number
from intransit.data.reading import Column, ReadOptions, list_names, plural
from intransit.data.shapes import OF_A_GAME, Find, Shaped, made_games, named_by_hand
from intransit.data.time_columns import read_moments
from intransit.data.vocabulary import CLEAR, ENOUGH, in_turn, listed, plain

PLACES = in_turn(  # the first that is there is taken
    "place position finish finishposition finishingposition placing placement rank ranking pos "
    "positionorder finalposition finalrank standing plc rnk rk"
)
EVENTS = listed(
    "event race raceid raceno racename eventid eventname tournament tournamentid match matchid "
    "game gameid heat heatid session panel panelist judge judgeid rater assessor voter voterid "
    "respondent subject track grandprix gp round meet meeting contest competition competitionid "
    "regatta stage show ballot ballotid trial query queryid prompt promptid question questionid "
    "scenario dataset benchmark problem instance task taskid testset environment env sample case "
    "turn seed fold run repetition rep split lobby lobbyid room roomid debate debateid table "
    "tableid pod podid play playid"
)
OF_GAME = re.compile("(?:game|match|race)id$")
OF_EVENT = re.compile(rf"^(?:{'|'.join(EVENTS)})$|{OF_GAME.pattern}")
NAMES = in_turn(  # people before teams: the finer the item, the more is learnt
    "name driver drivername driverid horse horsename player playername athlete rider runner "
    "competitor participant swimmer skier skater cyclist jockey contestant model bot agent product "
    "wine item candidate option system boat crew car brand film song deck method algorithm "
    "classifier solver approach optimizer strategy policy entrant team teamname country club id "
    "playerid username user"
)
SCORE_NAMES = listed(  # without places
    "score mainscore points goals pts total totalscore totalpoints finalscore accuracy acc auc f1 "
    "auroc f1score precision recall map ndcg bleu rouge reward return winrate passrate r2 "
    "successrate"
)
COST_NAMES = listed(  # of which less is better
    "error errorrate loss rmse mae mse mape perplexity ppl wer cer regret cost latency runtime "
    "duration lossvalue nll brier rank meanrank averagerank avgrank"
)
UNFINISHED = listed(
    "dnf ret retired r nc notclassified unfinished pu f ur bd su ro a accident n dropout out cut "
    "mc missedcut mdf otl"
)
ABSENT = listed("dns dnq dnpq withdrew withdrawn wd w scr nr ex dsq dq disq disqualified d e")
TEAMS = ("team", "teamname", "teamid", "squad")  # whose members share a place
LAST = 1e9  # the place of those who did not finish
MOST_PAIRS = 50_000_000  # beyond, orders should be cut or summed up first
MOST_ZEROS = 0.25  # of points in a table of races, where only the first get any
ITEM, OTHER, CAME_FIRST = "item in a place", "other", "who came first"


def find_orders(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return finishing orders as games, or None where the table has none."""
    names = [name.removesuffix("name") or name for name in facts.plain]
    wanted = options.place
    places = [facts.column(wanted, "place")] if wanted else _all(names, PLACES)
    told = {i: read_places(facts, i) for i in places}
    place = next((i for i in places if told[i]), places[0] if places else None)
    ranks = None if place is None else told[place]
    scores = place is None
    if place is None:
        place, ranks = _score(facts, names)
    both = any(isinstance(options.columns.get(role), str) for role in ("second", "loser"))
    paired = both or bool(words.name_pairs(names, words.MARKERS, words.WINNERS))
    if paired and not asked and not options.place:
        return None if both else _places_of_two(facts, names)
    if place is None or ranks is None:
        if wanted and place is not None:
            shown = list_names(sorted(facts.texts(place))[:3])
            raise facts.refuse(
                f'the places in "{wanted}" are not understood ({shown}); write numbers, the lowest '
                "for the best."
            )
        return None
    said = options.columns.get("first")
    item = facts.column(said, "first") if isinstance(said, str) else _first(names, NAMES)
    if item is None:
        return None
    event = _event(facts, options, names, place, item, scores=scores)
    if not event or (scores and not any(OF_EVENT.search(names[i]) for i in event)):
        return None
    for i in event:
        if total := [text for text in facts.texts(i) if plain(text) in words.SUMS]:
            raise facts.refuse(
                f'"{total[0]}" in "{facts.names[i]}" sums up the others; leave its rows out, or '
                "call it otherwise."
            )
    n_rows, nothing = facts.count(f"{facts.number(place)} = 0")
    points = scores and not asked and names[place] in {"points", "pts"}
    if points and nothing > MOST_ZEROS * n_rows:
        raise facts.refuse(
            f'"{facts.names[place]}" is 0 in {nothing:,} of {n_rows:,} rows, and nothing says who '
            'of them was before whom; give places, or say shape="orders" to take them for ties '
            "(command line: --shape orders)."
        )
    if not scores and not options.event and _are_several(facts, place, event):
        raise facts.refuse(
            f"most events, told apart by {facts.listed(event)}, have more "
            "than one first and second place; name what tells events apart with event= (command "
            "line: --event)."
        )
    return _orders_as_games(facts, place, item, event, ranks, scores=scores)


def _are_several(facts: Facts, place: int, event: Sequence[int]) -> bool:
    """Return whether most events have several (teams) in the first place, and in the second."""
    x, team = facts.number(place), _first(facts.plain, TEAMS)
    who = "row" if team is None else f"c{team}"
    first, second = (f"count(DISTINCT {who}) FILTER (WHERE {x} = {k}) > 1" for k in (1, 2))
    n, several = facts.engine.ask(
        f"SELECT count(*), count(*) FILTER (WHERE several) FROM (SELECT {first} AND {second} AS "
        f"several FROM {facts.rows} GROUP BY {columns_sql(event)})"
    )[0]
    return bool(2 * several > n)


def _places_of_two(facts: Facts, names: list[str]) -> Shaped | None:
    """Return a table in which each of two has a place, 1 or 2, as one that says who came first.

    In a ranking no three share 1 and 2, so places of three items or more are results.
    """
    pairs = words.pairs_called(names, *PLACES)
    items = words.name_pairs(names, words.MARKERS)
    told = words.OUTCOMES & {*names} or words.score_pairs(names, words.MARKERS)
    if len(pairs) != 1 or len(items) != 1 or told:
        return None
    columns = pairs[0].first, pairs[0].second
    found = {text.strip() for i in columns for text in facts.texts(i)}
    n_items = len(facts.sample(items[0].first) | facts.sample(items[0].second))
    if found - {""} != {"1", "2"} or n_items < FEWEST_PLACES:
        return None
    x, y = (facts.number(i) for i in columns)
    first = f"CASE WHEN {x} < {y} THEN 1.0 WHEN {x} > {y} THEN 0.0 WHEN {x} = 1 THEN 0.5 END"
    note = f"{facts.listed(columns, ' and ')} are places, 1 the better"
    table = facts.table.with_columns({CAME_FIRST: ("DOUBLE", first)})
    told_columns = tuple(facts.told("place", columns))
    return Shaped(table, {"outcome": CAME_FIRST}, told_columns, (note,), keeps_where=True)


def _all(names: list[str], wanted: Sequence[str]) -> list[int]:
    return [names.index(word) for word in wanted if word in names]


def _first(names: list[str], wanted: Sequence[str]) -> int | None:
    return next(iter(_all(names, wanted)), None)


Ranks = Mapping[str, float | None]  # of texts; None for those who did not take part


def _score(facts: Facts, names: list[str]) -> tuple[int | None, Ranks | None]:
    """Return the column with the score of each, where no place and no outcome is told."""
    known = SCORE_NAMES | COST_NAMES
    found = [i for i, name in enumerate(names) if name in known]
    outcomes = words.OUTCOMES - SCORE_NAMES & set(names)
    if len(found) != 1 or outcomes or not facts.looks_numeric(found[0]):
        return None, None
    sign = 1.0 if names[found[0]] in COST_NAMES else -1.0
    numbers = {
        text: number(text.strip(" %"), facts.table.decimal_comma) for text in facts.texts(found[0])
    }
    return found[0], {text: sign * x for text, x in numbers.items() if x is not None} or None


def _event(
    facts: Facts, options: ReadOptions, names: list[str], place: int, item: int, *, scores: bool
) -> tuple[int, ...] | None:
    """Return the columns that tell events apart: what they are called, and when they were.

    Of a time of its own for every row, such as the moment of a judgment, nothing is made; beside
    scores a time counts only where an item would else stand twice in one event.
    """
    if options.event:
        whole = options.event in facts.names
        wanted = [options.event] if whole else options.event.split(",")
        return tuple(facts.column(name.strip(), "event") for name in wanted)
    free = [(i, name) for i, name in enumerate(names) if i not in {place, item}]
    events = [i for i, name in free if OF_EVENT.search(name) and not _numbers_rows(facts, i)]
    times = []
    for i, name in free:
        if name in words.TIMES | words.PERIODS:
            found = read_moments(facts, i, day_first=True)
            dated = found.clock.kind == "date" or name in words.PERIODS or not events
            if found.understood >= ENOUGH and dated and not (events and _numbers_rows(facts, i)):
                times.append(i)
    if scores and events and not facts.repeats([*events, item])[0]:
        n_more, odd = facts.repeats([*events, *times])  # numbers that begin anew each season
        times = times if 2 * n_more == facts.count()[0] and not odd else []
    return (*events, *times) or None


def _numbers_rows(facts: Facts, column: int) -> bool:
    values = facts.values(column)
    return values is None or sum(n for _, n in values) == len(values) > 1


def read_places(facts: Facts, place: int) -> Ranks | None:
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
    facts: Facts, place: int, item: int, event: tuple[int, ...], ranks: Ranks, *, scores: bool
) -> Shaped | None:
    """Return the games of each two of an event, or None where there are none."""
    names = facts.names
    rows = with_events(facts, event, f"v{place}", {place: ranks})
    n_events, twice, unused, unfinished = facts.engine.ask(
        "SELECT count(*), coalesce(sum(n - m), 0), sum(u), sum(f) FROM (SELECT count(place) AS n, "
        f"count(DISTINCT CASE WHEN place IS NOT NULL THEN {facts.text(item)} END) AS m, "
        "count(*) FILTER (WHERE place IS NULL) AS u, "
        f"count(*) FILTER (WHERE place = {LAST}) AS f FROM {rows} GROUP BY event)"
    )[0]
    if scores and twice:  # scores of many games in one tournament
        return None
    if twice * 20 > facts.count()[0]:
        raise facts.refuse(
            f'"{names[item]}" has names that stand twice in one event, told apart '
            f"by {facts.listed(event)}; name what tells events apart with "
            "event= (command line: --event), or the items with first= (command line: --first)."
        )
    notes = [said_of_orders(n_events)]
    others = [i for i in _all([*map(plain, names)], NAMES) if i != item and facts.is_text(i)]
    notes += [
        f'the items are in "{names[item]}"; to compare those of "{names[other]}", '
        f'say first="{names[other]}" (command line: --first)'
        for other in others[:1]
    ]
    if unfinished:
        notes.append(f"{plural(int(unfinished), 'row')} without a finish: behind all who finished")
    notes += _left_out(facts, place, ranks, int(unused))
    if scores or plain(names[place]) not in PLACES:
        less = plain(names[place]) in COST_NAMES or not scores
        other = f'; where the lower is better, say place="{names[place]}" (command line: --place)'
        notes.append(
            f'the {"lower" if less else "higher"} "{names[place]}" is taken as the better place, '
            f"and by how much is not used{'' if less else other}"
        )
    told = facts.told("event", event, "tells events apart") + facts.told("place", [place])
    team = _first([*map(plain, names)], TEAMS)
    apart = "" if team in {None, item} else f" AND a.c{team} IS DISTINCT FROM b.c{team}"
    return each_two(facts, rows, item, told, notes, ties=f"a.place < {LAST}{apart}")


def each_two(
    facts: Facts,
    rows: str,
    item: int,
    told: Sequence[Column],
    notes: Sequence[str],
    *,
    ties: str = "true",
    none: Sequence[str] = OF_A_GAME,
) -> Shaped | None:
    """Return the games of each two of an event, the lower place the better; None if there are none.

    `rows` is a table with the columns of `facts`, a `place` and an `event`; two in one place tied
    where the SQL in `ties` holds, and say nothing elsewhere.
    """
    facts, n = _without_finish_times(facts), len(facts.names)
    ((pairs,),) = facts.engine.ask(
        "SELECT coalesce(sum(n * (n - 1) // 2), 0) FROM (SELECT count(place) AS n FROM "
        f"{rows} GROUP BY event)"
    )
    if pairs > MOST_PAIRS:
        raise facts.refuse(
            f"its finishing orders make {int(pairs):,} games of two; keep fewer of them with "
            "where= (command line: --where)."
        )
    columns = ", ".join(f"a.c{i}" for i in range(n))
    games = (
        f"SELECT {columns}, b.c{item} AS c{n}, CASE WHEN a.place < b.place THEN 1.0 ELSE 0.5 "
        f"END::DOUBLE AS c{n + 1}, a.row FROM {rows} AS a JOIN {rows} AS b ON a.event = b.event "
        f"AND (a.place < b.place OR (a.place = b.place AND ({ties}) AND (a.row < b.row OR "
        f"(a.row = b.row AND a.c{item} < b.c{item}))))"
    )
    extra = {OTHER: facts.table.types[item], CAME_FIRST: "DOUBLE"}
    made = {"first": facts.names[item], "second": OTHER, "outcome": CAME_FIRST}
    if not pairs:
        return None
    shaped = made_games(facts, games, extra, told, notes, none, **made)
    return replace(shaped, worth=_worth(facts, rows))


def _worth(facts: Facts, rows: str) -> float:
    """Return what a game of two who are in one event is worth beside one that is independent.

    Of equal items each has p games of curvature 1/4, and d more won than lost in one event; those
    of independent games have a mean square of p.  So a game is worth Σ p / Σ d²: 3 / (n + 1) for an
    order of n, 2 / n where one of n was chosen.  Of events that differ the mean over games.
    """
    ((worth,),) = facts.engine.ask(
        "SELECT sum(p * p / d) / sum(p) FROM (SELECT sum(behind + ahead) AS p, "
        "sum((behind - ahead) ** 2) AS d FROM (SELECT event, ahead, n - ahead - level AS behind "
        "FROM (SELECT event, count(*) OVER (PARTITION BY event) AS n, count(*) OVER (PARTITION BY "
        "event, place) AS level, rank() OVER (PARTITION BY event ORDER BY place) - 1 AS ahead "
        f"FROM {rows} WHERE place IS NOT NULL)) GROUP BY event) WHERE d > 0"
    )
    return min(float(worth or 1.0), 1.0)


def each_two_in_a_row(
    facts: Facts,
    used: Sequence[int],
    placed: tuple[str, str, str],
    told: Sequence[Column],
    notes: Sequence[str],
    **more: Any,
) -> Shaped | None:
    """Return the games of each two in a row, as `each_two` does of rows with one item each.

    `placed` is the SQL of an item, of its place, and of rows that have one of them each; columns
    that were `used` up for them lose their names.
    """
    n, (item, place, rows) = len(facts.names), placed
    names = ["" if i in used else name for i, name in enumerate(facts.names)]
    long = facts.engine.store(
        f"SELECT * FROM (SELECT {columns_sql(n)}, {item} AS c{n}, {place} AS place, row AS event, "
        f"row FROM {rows}) WHERE c{n} <> '' AND place IS NOT NULL"
    )
    table = replace(facts.table, names=tuple(names)).longer({ITEM: "VARCHAR"}, long)
    return each_two(Facts(table, {}), long, n, told, notes, **more)


def said_of_orders(n_orders: int, places: str = "") -> str:
    """Say that so many orders are taken as games."""
    orders = f"each row is a finishing order{places}" if places else ""
    return (
        f"{orders or plural(n_orders, 'finishing order')}, taken as games of each two; games of "
        "one order are not independent of each other, and count for less"
    )


def _without_finish_times(facts: Facts) -> Facts:
    """Return the table with `time` called something else where it is how long somebody took."""
    names = [plain(name) for name in facts.names]
    if "time" not in names or read_moments(facts, names.index("time")).clock.kind == "date":
        return facts
    own = list(facts.names)
    own[names.index("time")] += " taken"
    return Facts(replace(facts.table, names=tuple(own)), facts.where)


def _left_out(facts: Facts, place: int, ranks: Ranks, unused: int) -> list[str]:
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


def with_events(
    facts: Facts, event: Sequence[int], place: str, meanings: Mapping[int, Ranks]
) -> str:
    """Return a table of the rows with their event and their place.

    The place is SQL of v0, v1, ..., which is what the cells of columns mean.
    """
    rows = f"{facts.rows} AS t"
    for column, values in meanings.items():
        known = facts.engine.store_lists(f"text VARCHAR, v{column} DOUBLE", values, values.values())
        rows += f" LEFT JOIN {known} ON coalesce({facts.raw(column)}, '') = {known}.text"
    key = " || chr(31) || ".join(f"coalesce({facts.text(i)}, '')" for i in event)
    return facts.engine.store(f"SELECT t.*, {place} AS place, {key} AS event FROM {rows}")


ORDINALS = in_turn("first second third fourth fifth sixth seventh eighth ninth tenth")
NUMBERED = re.compile(
    r"(?:(?:place|placing|position|pos|rank|ranking|finish|finisher|p)(\d+)(?:choice)?"
    r"|(\d+)(?:st|nd|rd|th)?(?:place|position|choice|preference)?)"
)
FEWEST_PLACES = 3  # two columns are a game
SHARED = 0.3  # of the names of a column that another has too, at least of some


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
    names = [plain(name) for name in table.names]
    if not asked and words.score_pairs(names, words.MARKERS):  # p1 and p2 against p3 and p4
        return None
    if not _share_names(facts, columns) or not (asked or _hold_names(facts, columns)):
        return None
    cells = ", ".join(facts.text(i) for i in columns)
    placed = f"unnest([{cells}])", f"unnest({[*range(1, len(columns) + 1)]})", facts.rows
    note = said_of_orders(0, f" with {plural(len(columns), 'place')}")
    return each_two_in_a_row(facts, columns, placed, facts.told("place", columns), [note])


def _place_of(name: str) -> int:
    """Return the place that a column is for, 0 where it is for none."""
    name = name.strip("[]").removesuffix("choice").removesuffix("preference")
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
    seen = [facts.sample(i) for i in columns[:4]]
    everything: set[str] = set().union(*seen)
    return bool(everything) and sum(map(len, seen)) >= (1 + SHARED) * len(everything)


CHOSEN = in_turn(
    "best most chosen choice selected picked won win winner result outcome wl winloss iswinner "
    "mostimportant mostpreferred"
)
REFUSED = ("worst", "least", "leastimportant", "leastpreferred")
SETS = EVENTS | listed(
    "task taskid set setid choiceset choicesetid resp respid respondentid participant "
    "participantid userid screen scenario"
)
ALTERNATIVES = (*NAMES, "alternative", "concept", "message", "teamabbreviation", "champion")
OF_ITEM = r"(?:item|option|alternative|alt|concept|candidate|product|brand|message|model|player)"
IN_A_ROW = re.compile(OF_ITEM + r"(\d|[a-h])")


def find_choices(facts: Facts, options: ReadOptions, asked: bool) -> Shaped | None:
    """Return choices from sets as games, one row an alternative or one row a set; or None."""
    if named_by_hand(options) and not asked:
        return None
    names = facts.plain
    several = [i for i, name in enumerate(names) if IN_A_ROW.fullmatch(name) and facts.is_text(i)]
    if len(several) >= FEWEST_PLACES:
        return _sets_in_rows(facts, names, several)
    place = _first(names, PLACES)
    placed = place is not None and read_places(facts, place) is not None
    if words.name_pairs(names, words.MARKERS, words.WINNERS) or placed:
        return None
    best, worst = _first(names, CHOSEN), _first(names, REFUSED)
    item = next(iter(facts.often_filled(_all(names, ALTERNATIVES))), None)
    event = [i for i, name in enumerate(names) if name in SETS and i not in {item, best, worst}]
    event = [i for i in event if OF_GAME.search(names[i])] or event
    values = None if best is None else _flags(facts, best)
    if item is None or best is None or values is None or not event:
        return None
    if worst is not None and _flags(facts, worst) is None:
        return None
    return _sets_in_columns(facts, item, (best, worst), tuple(event))


def _flags(facts: Facts, column: int) -> dict[str, float] | None:
    """Return what a column says of its row: 1 chosen or won, 0 not, 0.5 a tie; None if not that."""
    found = outcomes.of_one_side(facts.texts(column), "x", "best", "worst")
    return found if facts.share(column, found) == 1.0 else None


def _sets_in_columns(
    facts: Facts, item: int, flags: tuple[int, int | None], event: tuple[int, ...]
) -> Shaped | None:
    """Return sets with one row an alternative, where each set has one that was chosen."""
    table, (best, worst) = facts.table, flags
    told = {column: _flags(facts, column) or {} for column in flags if column is not None}
    worth = " - ".join(f"coalesce(v{column}, 0)" for column in told)
    rows = with_events(facts, event, f"-({worth})", told)
    fine = "one = 1 OR (n = 2 AND even = 2)"
    n_sets, n_fine, largest = facts.engine.ask(
        f"SELECT count(*), count(*) FILTER (WHERE n > 1 AND n = m AND low <= 1 AND ({fine})), "
        f"max(n) FROM (SELECT count(*) AS n, count(DISTINCT {facts.text(item)}) AS m, "
        "count(*) FILTER (WHERE place = -1) AS one, count(*) FILTER (WHERE place = -0.5) AS even, "
        f"count(*) FILTER (WHERE place > 0) AS low FROM {rows} GROUP BY event)"
    )[0]
    if n_fine < CLEAR * n_sets:
        return None
    if set(facts.texts(item)) == {str(k + 1) for k in range(largest)} and largest > 2:
        raise facts.refuse(
            f'"{table.names[item]}" numbers the alternatives of each set from 1 to {largest}, and '
            "they need not be the same from set to set; name the column that says what they are "
            "with first= (command line: --first)."
        )
    notes = [_said_of_sets(int(n_sets), int(largest), worst is not None)]
    said = facts.told("event", event, "tells sets apart") + _said_of_flags(facts, best, worst)
    none = (*OF_A_GAME, *_no_time(facts))
    return each_two(facts, rows, item, said, notes, ties="a.place = -0.5", none=none)


def _no_time(facts: Facts) -> tuple[str, ...]:
    """Return that there is no time where only sets are numbered, which are no periods here."""
    names = {*facts.plain}
    dated = names & (words.TIMES | words.PERIODS) or any(words.DATED.search(n) for n in names)
    return () if dated else ("time",)


def _said_of_flags(facts: Facts, best: int, worst: int | None) -> list[Column]:
    return facts.told("chosen", [best]) + facts.told("worst", [] if worst is None else [worst])


def _said_of_sets(n_sets: int, largest: int, worst: bool) -> str:
    if largest == 2:
        return f"{plural(n_sets, 'game')} of two rows, one for each side"
    below = ", and who was called the worst lost to them" if worst else ""
    return (
        f"{plural(n_sets, 'set')} of alternatives: who was chosen won against each other{below}; "
        "games of one set are not independent of each other, and count for less"
    )


def _sets_in_rows(facts: Facts, names: list[str], several: list[int]) -> Shaped | None:
    """Return sets with one row a set: its alternatives side by side, and which was chosen."""
    called = [re.sub(f"{OF_ITEM}$", "", name) or name for name in names]  # best, best_item
    best, worst = _first(called, CHOSEN), _first(called, REFUSED)
    if best is None:
        return None
    listed_cells = f"[{', '.join(facts.text(i) for i in several)}]"
    one, last = (facts.text(i) if i is not None else "NULL" for i in (best, worst))
    cases = " ".join(f"WHEN '{names[i][-1]}' THEN {facts.text(i)}" for i in several)
    by_column = [f"CASE lower({cell}) {cases} END" for cell in (one, last)]  # item2, or option B
    _, filled, known, counted, other = facts.count(
        *(facts.filled(best), f"list_contains({listed_cells}, {one})"),
        *(f"{by_column[0]} IS NOT NULL", f"{by_column[0]} <> {one}"),
    )
    unsure = counted == filled and other > 0
    if unsure and known < filled:
        one, last = by_column
    elif names[several[0]].startswith("player") and known < filled:  # of two teams, perhaps
        return None
    elif not filled or known < CLEAR * filled or unsure:
        may = "may also count columns" if unsure else "does not name the one that was chosen"
        raise facts.refuse(
            f'{facts.listed(several)} name more than two items, and "{facts.names[best]}" {may}; '
            "write the name of the one that was chosen there."
        )
    # Who was chosen has beaten the others, also where it is not listed among them.
    laid = f"(SELECT *, unnest(list_distinct(list_append({listed_cells}, {one}))) AS item"
    place = f"CASE item WHEN {one} THEN 0.0 WHEN {last} THEN 2.0 ELSE 1.0 END"
    told = facts.told("alternative", several) + _said_of_flags(facts, best, worst)
    note = _said_of_sets(facts.count()[0], len(several), worst is not None)
    placed, none = ("item", place, f"{laid} FROM {facts.rows})"), (*OF_A_GAME, *_no_time(facts))
    return each_two_in_a_row(facts, several, placed, told, [note], ties="false", none=none)


FINDERS: dict[str, Find] = {"orders": find_orders, "podiums": find_podiums, "choices": find_choices}
