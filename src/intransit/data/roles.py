"""Which column plays which role: as the user says, else by its name, else by what it holds.

The two items of a game are recognised by the words in their names, or by what they share.  Where
two columns could play a role and nothing decides, the table is refused with the options.
"""

import itertools

from intransit.data import vocabulary as words
from intransit.data.facts import Facts
from intransit.data.files import shorten
from intransit.data.outcomes import Meaning, number, read_outcomes, read_sides, read_switch
from intransit.data.reading import ReadOptions, how_to_say
from intransit.data.search import (
    CLEAR,
    Roles,
    Search,
    find_scores,
    find_sided,
    flags_first,
    tie_beside,
)
from intransit.data.time_columns import TimeColumn, read_moments
from intransit.data.vocabulary import MARKERS, WINNERS, Marker, Pair, tokens_of
from intransit.errors import InputError

HOW_TO_NAME = (
    "name them with first= and second=, or winner= and loser= (command line: --first and "
    "--second, or --winner and --loser)."
)


def choose_items(search: Search) -> None:
    """Choose the columns with the two items."""
    roles, named = search.roles, search.named
    if named["winner"] is not None and named["loser"] is not None:
        pair, why = Pair(words.WINNER, named["winner"], named["loser"]), "named"
    elif named["first"] is not None and named["second"] is not None:
        marker = next((m for m in MARKERS if _marked(search, m)), None)
        pair = Pair(marker or MARKERS[0], named["first"], named["second"])
        why = "named"
    elif any(named[role] is not None for role in ("first", "second", "loser")):
        raise search.refuse(f"name both items: {HOW_TO_NAME.removeprefix('name them with ')}")
    else:
        pair, why = _recognised_pair(search)
    roles.first, roles.second, roles.marker = pair.first, pair.second, pair.marker
    roles.winner_first = pair.marker in WINNERS
    if pair.first == pair.second:
        raise search.refuse(f'both items are in "{search.names[pair.first]}"; name two columns.')
    search.tell("winner" if roles.winner_first else "first", pair.first, why)
    search.tell("loser" if roles.winner_first else "second", pair.second, why)


def _marked(search: Search, marker: Marker) -> bool:
    """Return whether the columns that the user named carry a marker's words."""
    pair = Pair(marker, search.named["first"] or 0, search.named["second"] or 0)
    return pair in words.name_pairs(search.plain, (marker,))


def _recognised_pair(search: Search) -> tuple[Pair, str]:
    free = set(search.free())
    names = [name if i in free else "" for i, name in enumerate(search.plain)]
    pairs, why = words.name_pairs(names, MARKERS, WINNERS), "by its name"
    if not pairs:
        alike, marked = _alike(search, free), _marked_texts(search, free)
        places = {(pair.first, pair.second) for pair in alike}
        both = [pair for pair in marked if (pair.first, pair.second) in places]
        pairs = both if len(both) == 1 else alike or marked
        why = "the two columns share their values" if pairs is alike else why
    if len(pairs) == 1:
        return pairs[0], why
    if pairs:
        raise search.refuse(f"{spoken_columns(search, pairs)} could name the items; {HOW_TO_NAME}")
    raise search.refuse(f"no two columns of {search.listed()} name the items; {HOW_TO_NAME}")


def _marked_texts(search: Search, free: set[int]) -> list[Pair]:
    """Return columns of text of any name whose first or last words are a marker's."""
    tokens = {i: tokens_of(search.names[i]) for i in sorted(free) if search.facts.is_text(i)}
    found: dict[tuple[int, int], Pair] = {}
    for marker in MARKERS:
        for i, j in itertools.permutations(tokens, 2):
            rest = [
                {name[1:] if name[:1] == (word,) else (), name[:-1] if name[-1:] == (word,) else ()}
                for name, word in ((tokens[i], marker.first), (tokens[j], marker.second))
            ]
            if (rest[0] & rest[1]) - {()}:
                found.setdefault((i, j), Pair(marker, i, j))
    often = search.facts.often_filled(sorted({i for pair in found for i in pair}))
    numeric = {i for i in often if search.facts.looks_numeric(i)}
    return [pair for (i, j), pair in found.items() if {i, j} <= set(often) - numeric]


def spoken_columns(search: Search, pairs: list[Pair]) -> str:
    """Return the pairs in words; columns of the same name are refused instead."""
    names = [search.names[i] for i in {i for p in pairs for i in (p.first, p.second)}]
    for name in sorted(names):
        if names.count(name) > 1:
            raise search.refuse(f'two columns are called "{name}"; give each its own name.')
    return " or ".join(search.listed([p.first, p.second], " with ") for p in pairs[:4])


def _alike(search: Search, free: set[int]) -> list[Pair]:
    """Return pairs of text columns, of any name, that hold the same things."""
    known = words.OUTCOMES | words.TIMES | words.SIDES | words.NEUTRALS | words.TIES
    texts = [i for i in sorted(free) if search.facts.is_text(i) and search.plain[i] not in known]
    samples = {i: search.facts.sample(i) for i in search.facts.often_filled(texts)}
    pairs = []
    for (i, ours), (j, theirs) in itertools.combinations(samples.items(), 2):
        shared = len(ours & theirs)
        if shared >= 2 and 2 * shared >= min(len(ours), len(theirs)):
            told = read_outcomes([(text, 1) for text in ours], ("", ""), None)
            numbers = sum(number(text) is not None for text in ours)
            if told.understood < 0.8 and 2 * numbers < len(ours):
                pairs.append(Pair(MARKERS[0], i, j))
    return pairs


HIGHEST_GRADE = 5  # of a scale from -5 to 5; beyond, numbers are no grades
MOST_AGAINST = 0.05  # share of rows in which a winner may have fewer
TELLING = ("sets", "games", "score", "goals", "runs")  # before points, which may be of a ranking


def choose_scores(search: Search) -> None:
    """Choose the columns with the two scores."""
    named = search.named["first_score"], search.named["second_score"]
    if (named[0] is None) != (named[1] is None):
        raise search.refuse(f"name both scores: {how_to_say('first_score', 'second_score')}.")
    if named[0] is not None and named[1] is not None:
        search.roles.scores = (named[0], named[1])
    elif search.wanted["first_score"] is not False:
        free = set(search.free())
        markers = WINNERS if search.roles.winner_first else MARKERS
        pairs = words.score_pairs(search.plain, markers)
        pairs = [pair for pair in pairs if {pair.first, pair.second} <= free]
        same = [pair for pair in pairs if pair.marker == search.roles.marker]
        pairs = same if len(same) == 1 else pairs
        if not pairs and not search.roles.winner_first:
            pairs = [Pair(MARKERS[0], *found) for found in find_scores(search)]
        if search.roles.winner_first:
            pairs = _of_winners(search, pairs)
        if len(pairs) > 1:
            raise search.refuse(
                f"{spoken_columns(search, pairs)} could be the scores; name them with "
                f"{how_to_say('first_score', 'second_score', none='first_score')}."
            )
        search.roles.scores = (pairs[0].first, pairs[0].second) if pairs else None
    for column, role in zip(search.roles.scores or (), ("first", "second"), strict=False):
        search.tell(f"{role} score", column, search.why(f"{role}_score"))


def _of_winners(search: Search, pairs: list[Pair]) -> list[Pair]:
    """Return the pair in which winners have more: points of a ranking are no scores of a game."""
    kept: list[Pair] = []
    others: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: _rank_of_score(search.plain[pair.first])):
        ours, theirs = search.facts.number(pair.first), search.facts.number(pair.second)
        _, filled, fewer = search.facts.count(f"{ours} <> {theirs}", f"{ours} < {theirs}")
        (others if kept or fewer > MOST_AGAINST * filled else kept).append(pair)
    for pair in others:
        search.roles.notes.append(
            f"{search.listed([pair.first, pair.second], ' and ')} are not used as scores: "
            + ("others are taken" if kept else "winners often have fewer")
            + f"; name scores with {how_to_say('first_score', 'second_score')}"
        )
    return kept


def _rank_of_score(name: str) -> int:
    return next((k for k, word in enumerate(TELLING) if word in name), len(TELLING))


def choose_margin(search: Search) -> None:
    """Choose the column that says by how much the first was ahead."""
    column = search.one("margin", words.MARGINS)
    if column is not None and not search.facts.count(search.facts.filled(column))[1]:
        search.roles.notes.append(f'the column "{search.names[column]}" is empty')
        column = None
    search.roles.margin = column
    if column is not None:
        search.tell("margin", column, f"{search.why('margin')}, first minus second")


def choose_outcome(search: Search) -> None:
    """Choose the column that says who won, and what its cells mean."""
    roles = search.roles
    if roles.winner_first:
        roles.tie = search.one("tie", words.TIES)
        if roles.tie is not None:
            search.tell("tie", roles.tie, "by its name")
        return
    role = "winner" if search.named["winner"] is not None else "outcome"
    if search.named[role] is not None:
        roles.outcome = search.named[role]
        roles.meaning, why = _meaning(search, search.named[role] or 0), "named"
        if not roles.meaning.understood:
            raise _strange(search, search.named[role] or 0)
    elif search.wanted["outcome"] is not False:
        roles.outcome, roles.meaning, why = _recognised_outcome(search)
        if roles.outcome is None and roles.scores is None and roles.margin is None:
            roles.sided = find_sided(search)
    if roles.sided is not None:
        roles.tie = tie_beside(search, roles.sided)
        search.tell("first won", roles.sided.first, "by its name")
        search.tell("second won", roles.sided.second, "by its name")
    elif roles.outcome is not None and roles.meaning is not None:
        search.tell("outcome", roles.outcome, f"{why}; {roles.meaning.why}")
        roles.tie = _tie(search)
    if roles.tie is not None:
        search.tell("tie", roles.tie, "by its name")
    told = (roles.sided, roles.outcome, roles.scores, roles.margin)
    if all(found is None for found in told):
        raise search.refuse(
            f"no column of {search.listed()} says who won; name it with outcome=, winner=, "
            "margin=, or first_score= and second_score= (command line: --outcome and so on)."
        )


def _tie(search: Search) -> int | None:
    """Return the column that says yes where nobody won, beside one that tells who did."""
    if search.wanted.get("tie") is False:
        return None
    found = [i for i in search.free() if search.plain[i] in words.TIES]
    texts = search.facts.texts(found[0]) if len(found) == 1 else []
    filled = [text for text in texts if text.strip()]
    return found[0] if filled and len(read_switch(filled)) == len(filled) else None


def note_unused_scores(search: Search) -> None:
    """Say so where a table has scores that are not used."""
    roles = search.roles
    measured = roles.scores is not None or roles.margin is not None
    if measured or search.wanted["first_score"] is False:
        return
    if roles.meaning is not None and roles.meaning.margins:
        return
    free = search.free()
    found = [i for i in free if words.is_score(search.plain[i]) and search.facts.looks_numeric(i)]
    if found:
        roles.notes.append(
            f"{search.listed(found[:4], ' and ')} could be scores and are not used; name them with "
            f"{how_to_say('first_score', 'second_score')}"
        )


def _recognised_outcome(search: Search) -> tuple[int | None, Meaning | None, str]:
    for vocabulary in (words.OUTCOMES, words.SHARES):
        named = [i for i in search.free() if search.plain[i] in vocabulary]
        if vocabulary is words.OUTCOMES and not named:
            named = [i for i in search.free() if flags_first(search, i)]
        told = {i: _meaning(search, i) for i in named}
        clear = [i for i in named if told[i].understood >= 0.5]
        if len(clear) > 1:
            raise search.two("outcome", clear)
        if clear:
            return clear[0], told[clear[0]], "by its name"
        if named and search.roles.scores is None and search.roles.margin is None:
            raise _strange(search, named[0])
        if search.roles.scores is not None or search.roles.margin is not None:
            return None, None, ""
    texts = [i for i in search.free() if search.facts.is_text(i)]
    told = {i: _meaning(search, i) for i in search.facts.often_filled(texts)}
    clear = [i for i in told if told[i].understood >= CLEAR and told[i].in_words]
    if len(clear) > 1:
        raise search.two("outcome", clear)
    return (clear[0], told[clear[0]], "by what it holds") if clear else (None, None, "")


def _strange(search: Search, column: int) -> InputError:
    cells = search.facts.values(column) or []
    often = sorted(cells, key=lambda cell: (-cell[1], cell[0]))[:5]
    numbers = sorted({x for text, _ in cells if (x := number(text)) is not None})
    most = int(max(map(abs, numbers), default=0.0))
    whole = all(x == round(x) for x in numbers)
    if len(numbers) > 2 and min(numbers) < -1 and whole and most <= HIGHEST_GRADE:
        up, down = (",".join(map(str, range(-s * most, s * most + s, s))) for s in (1, -1))
        return search.refuse(
            f'"{search.names[column]}" goes from {-most} to {most}, and nothing says which end is '
            f"for the first item; say grades=[{down}] if {most} is its best, or grades=[{up}] if "
            f"{-most} is (command line: --grades={down} or --grades={up}); or margin= if they are "
            "margins (command line: --margin)."
        )
    shown = ", ".join(f'"{shorten(text)}"' for text, _ in often) or "too many values"
    return search.refuse(
        f'the outcomes in "{search.names[column]}" are not understood ({shown}); write 1, 0 and '
        "0.5, win, loss and draw, or the winner's name; or list grades from the first's best to "
        "the second's with grades= (command line: --grades)."
    )


def _meaning(search: Search, column: int) -> Meaning:
    """Return what a column says as an outcome: words and numbers, or names of the items."""
    facts, roles = search.facts, search.roles
    headers = search.names[roles.first], search.names[roles.second]
    cells = facts.values(column)
    comma = facts.table.decimal_comma
    told = read_outcomes(
        cells or [],
        headers,
        roles.marker,
        comma,
        grades=search.options.grades,
        graded=search.plain[column] in words.PREFERENCES,
        rated=search.plain[column] in words.SHARES,
    )
    prefer = search.plain[column] in words.WINNER_WORDS or column == search.named["winner"]
    if told.understood == 1.0 and not prefer:
        return told
    text, x = facts.text(column), facts.number(column)
    is_name = f"{text} IN ({facts.text(roles.first)}, {facts.text(roles.second)})"
    _, filled, names, shares = facts.count(facts.filled(column), is_name, f"{x} BETWEEN 0 AND 1")
    if not filled:
        return Meaning("words", "empty", 0.0)
    if cells is None and shares > names:
        return Meaning("shares", "share of games that the first won", shares / filled)
    ties = {text: value for text, value in told.values.items() if _is_tie(text, value)}
    n_ties = sum(count for text, count in cells or () if text in ties)
    by_name = (names + n_ties) / filled
    if names and (by_name > told.understood or (prefer and by_name == told.understood)):
        return Meaning(
            "names", "the winner's name", by_name, ties, both_bad=told.both_bad, in_words=True
        )
    return told


def _is_tie(text: str, value: float) -> bool:
    return value == 0.5 and not text.strip()[:1].isdigit()


def choose_time(search: Search) -> None:
    """Choose the column of times, and how it is read."""
    roles = search.roles
    if search.wanted["time"] is False:
        if search.options.order is not None:
            raise search.refuse("order= is given, but time=False says that there is no time.")
        return
    if search.named["time"] is not None:
        candidates, why = [search.named["time"]], "named"
    else:
        candidates, why = _time_candidates(search)
    told = {i: _moments(search, i, any_names=why == "named") for i in candidates}
    clear = [i for i in candidates if told[i].understood >= 0.5]
    if not clear and candidates and (why != "by what it holds"):
        name = search.names[candidates[0]]
        raise search.refuse(
            f'the times in "{name}" are not understood; write dates as 2026-05-01, or numbers, or '
            "say time=False for none (command line: --without time), or order= for periods with "
            "names (command line: --order)."
        )
    if len(clear) > 1:
        raise search.two("time", clear)
    if clear:
        roles.time, roles.moments = clear[0], told[clear[0]]
        search.tell("time", clear[0], f"{why}; {roles.moments.why}")
        if roles.moments.note:
            roles.notes.append(roles.moments.note)


def _moments(search: Search, column: int, *, any_names: bool = False) -> TimeColumn:
    options = search.options
    return read_moments(
        search.facts,
        column,
        order=options.order,
        day_first=options.day_first,
        any_names=any_names or search.plain[column] in words.STAGES,
    )


def _time_candidates(search: Search) -> tuple[list[int], str]:
    free = search.free()
    named_dates = [i for i in free if _tells_date(search, i)]
    for vocabulary in (words.TIMES, words.PERIODS, words.VERSIONS, words.STAGES):
        if vocabulary is words.PERIODS and len(named_dates) == 1:  # before a season
            return named_dates, "by its name"
        found = [i for i in free if search.plain[i] in vocabulary]
        if len(found) > 1:  # a date beside the time of day
            found = [i for i in found if _moments(search, i).understood >= 0.5] or found
        if vocabulary in (words.VERSIONS, words.STAGES):  # these words have other meanings too
            found = [i for i in found if _moments(search, i).understood >= CLEAR]
        if found:
            return found, "by its name"
    texts = search.facts.often_filled([i for i in free if not search.facts.is_number(i)])
    told = {i: read_moments(search.facts, i, day_first=search.options.day_first) for i in texts}
    dated = [i for i in texts if told[i].kind == "date" and told[i].understood >= CLEAR]
    if not dated and (rounds := _rounds(search)):
        return rounds, "by its name"
    return dated, "by what it holds"


def _rounds(search: Search) -> list[int]:
    """Return the rounds of one tournament; those of several do not follow each other."""
    found = [i for i in search.free() if search.plain[i] in words.ROUNDS]
    events = [i for i in search.free() if search.plain[i] in words.TOURNAMENTS]
    several = any(len(search.facts.values(i) or (1, 2)) > 1 for i in events)
    if len(found) != 1 or several or _moments(search, found[0]).understood < CLEAR:
        return []
    search.roles.notes.append(
        f'the rounds in "{search.names[found[0]]}" are taken for times; if they are none, say '
        "time=False (command line: --without time)"
    )
    return found


def _tells_date(search: Search, column: int) -> bool:
    """Return whether a column is called by a date, as in game_date_est, and holds dates."""
    name = search.plain[column]
    if name in words.TIMES or not words.DATED.search(name) or words.OTHER_DATES.search(name):
        return False
    found = _moments(search, column)
    return found.kind == "date" and found.understood >= CLEAR


def choose_side(search: Search) -> None:
    """Choose who has the side: home, white, shown first."""
    roles, said = search.roles, search.wanted["side"]
    if said in {"first", "second"}:
        roles.side_always = 1.0 if said == "first" else -1.0
        roles.notes.append(f"the {said} item always has the side")
    elif said is not False:
        roles.side = search.one("side", words.SIDES)
    if roles.side is not None and search.named["side"] is None:
        texts = [text for text in search.facts.texts(roles.side) if text.strip()]
        if not texts or len(read_sides(texts, search.headers)) < len(texts):
            if search.plain[roles.side] not in words.GROUNDS:
                name = search.names[roles.side]
                roles.notes.append(f'"{name}" is not used: it does not say who has the side')
            roles.side = None
    if roles.side is not None:
        search.tell("side", roles.side, search.why("side"))
    elif roles.marker and roles.marker.sided and said is None:
        roles.side_always = 1.0
        search.roles.notes.append(f'"{search.names[roles.first]}" has the side')
    if roles.side is None and roles.side_always is None:
        unused = [i for i in search.free() if search.plain[i] in words.NEUTRALS]
        if unused and said is None:
            roles.notes.append(
                f'"{search.names[unused[0]]}" is not used, as nothing says who has the side; if '
                'the first item has it, say side="first" (command line: --side first)'
            )
        return
    roles.neutral = search.one("neutral", words.NEUTRALS)
    if roles.neutral is not None:
        texts = search.facts.texts(roles.neutral)
        if len(read_switch(texts)) < len(texts) and search.named["neutral"] is None:
            name = search.names[roles.neutral]
            roles.notes.append(f'"{name}" is not used: it does not say yes or no')
            roles.neutral = None
        else:
            search.tell("neutral", roles.neutral, search.why("neutral"))


def choose_counts(search: Search) -> None:
    """Choose how many games a row stands for, and how much it counts."""
    roles = search.roles
    roles.count = search.one("count", words.COUNTS)
    roles.weight = search.one("weight", words.WEIGHTS)
    margins = roles.margin is not None or roles.scores is not None
    if roles.count is not None and search.named["count"] is None and margins:
        name = search.names[roles.count]
        roles.notes.append(
            f'"{name}" is not used: beside margins a row is one game, unless you say '
            f'count="{name}" (command line: --count)'
        )
        roles.count = None
    for role, column in (("count", roles.count), ("weight", roles.weight)):
        if column is not None:
            search.tell(role, column, search.why(role))


def choose_roles(facts: Facts, options: ReadOptions) -> Roles:
    """Return the roles that the columns of a table play."""
    search = Search(facts, options)
    for choose in (choose_items, choose_scores, choose_margin, choose_outcome):
        choose(search)
    for choose in (choose_time, choose_side, choose_counts):
        choose(search)
    note_unused_scores(search)
    for column in search.roles.by:
        search.tell("by", column, "named")
    return search.roles
