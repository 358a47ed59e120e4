"""What came of a game: scores, margin, outcome."""

from intransit.errors import InputError
from intransit.tables import vocabulary as words
from intransit.tables.choosing import CLEAR, Search
from intransit.tables.files import shorten
from intransit.tables.items import spoken_columns
from intransit.tables.options import how_to_say
from intransit.tables.sided import find_scores, find_sided, flags_first, tie_beside
from intransit.tables.values import Meaning, number, read_outcomes, read_switch
from intransit.tables.vocabulary import MARKERS, WINNERS, Pair

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
    if (
        roles.sided is None
        and roles.outcome is None
        and roles.scores is None
        and roles.margin is None
    ):
        raise search.refuse(
            f"no column of {search.listed()} says who won; name it with outcome=, winner=, "
            "margin=, or first_score= and second_score= (command line: --outcome and so on)."
        )


def _tie(search: Search) -> int | None:
    """Return the column that says yes where nobody won, beside one that tells who did."""
    if search.wanted.get("tie") is False:
        return None
    found = [i for i in search.free() if search.plain[i] in words.TIES]
    texts = [text for text, _ in search.facts.values(found[0]) or []] if len(found) == 1 else []
    filled = [text for text in texts if text.strip()]
    return found[0] if filled and len(read_switch(filled)) == len(filled) else None


def note_unused_scores(search: Search) -> None:
    """Say so where a table has scores that are not used."""
    roles = search.roles
    if (
        roles.scores is not None
        or roles.margin is not None
        or search.wanted["first_score"] is False
    ):
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
