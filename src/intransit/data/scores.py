"""Scores and margins: which columns hold them, and when another column gives them the lie."""

import re

from intransit.data import vocabulary as words
from intransit.data.engine import quote
from intransit.data.reading import how_to_say
from intransit.data.roles import Search, find_scores, spoken_columns
from intransit.data.vocabulary import MARKERS, WINNERS, Pair

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
            pairs = find_scores(search) or _beside_items(search) or _bare_scores(search)
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
    shoot_outs = [i for i in search.free() if SHOOT_OUT.search(search.plain[i])]
    if search.roles.scores is not None and shoot_outs:
        search.roles.notes.append(
            f"{search.listed(shoot_outs[:2], ' and ')} are not used: a game that a shoot-out "
            "decided counts by its score"
        )


SHOOT_OUT = re.compile(r"pens$|^pens|penalt|shootout|^pso")


def _bare_scores(search: Search) -> list[Pair]:
    """Return numbers called Home and Away beside Home Team and Away Team, unless they are odds."""
    whole = [
        pair
        for pair in search.beside
        if not any(
            search.facts.count(f"{x} <> round({x}) OR {x} < 0")[1]
            for x in (search.facts.number(pair.first), search.facts.number(pair.second))
        )
    ]
    return whole if not {"draw", "tie", "x"} & set(search.plain) else []


def _beside_items(search: Search) -> list[Pair]:
    """Return two columns of one name, each just behind an item: Visitor, PTS, Home, PTS."""
    found = [column + 1 for column in (search.roles.first, search.roles.second)]
    if not set(found) <= set(search.free()):
        return []
    first, second = (re.sub(r"\d+$", "", search.plain[column]) for column in found)
    alike = first == second and first in words.SCORES | {"g", "r", "t"}
    return [Pair(MARKERS[0], *found)] if alike else []


def _of_winners(search: Search, pairs: list[Pair]) -> list[Pair]:
    """Return the pair in which winners have more: points of a ranking are no scores of a game."""
    kept: list[Pair] = []
    others: list[Pair] = []
    for pair in sorted(
        pairs, key=lambda p: [word not in search.plain[p.first] for word in TELLING]
    ):
        ours, theirs = search.facts.number(pair.first), search.facts.number(pair.second)
        _, filled, fewer = search.facts.count(f"{ours} <> {theirs}", f"{ours} < {theirs}")
        (others if kept or fewer > MOST_AGAINST * filled else kept).append(pair)
    for pair in others:
        _leave_scores(search, pair, "others are taken" if kept else "winners often have fewer")
    return kept


def _leave_scores(search: Search, pair: Pair, why: str) -> None:
    search.roles.notes.append(
        f"{search.listed([pair.first, pair.second], ' and ')} are not used as scores: {why}; name "
        f"scores with {how_to_say('first_score', 'second_score')}"
    )


def _doubt_scores(search: Search) -> None:
    """Leave out scores, recognised by their names, that another column often contradicts."""
    roles, facts = search.roles, search.facts
    if roles.scores is None or roles.outcome is None or roles.meaning is None:
        return
    if search.named["first_score"] is not None or roles.meaning.kind == "shares":
        return
    ours, theirs = (facts.number(column) for column in roles.scores)
    won = _won_sql(search)
    fewer = f"({won[0]} AND {ours} < {theirs}) OR ({won[1]} AND {ours} > {theirs})"
    _, filled, against = facts.count(f"({' OR '.join(won)}) AND {ours} <> {theirs}", fewer)
    if against > MOST_AGAINST * filled:
        _leave_scores(search, Pair(MARKERS[0], *roles.scores), "winners often have fewer")
        roles.columns = [column for column in roles.columns if not column.role.endswith(" score")]
        roles.scores = None


def _doubt_margin(search: Search) -> None:
    """Take a margin that is never below 0, although the second won at times, for the winner's."""
    roles, facts = search.roles, search.facts
    if roles.margin is None or roles.outcome is None or roles.meaning is None:
        return
    lost = _won_sql(search)[1]
    x = facts.number(roles.margin)
    _, below, against = facts.count(f"{x} < 0", f"{lost} AND {x} > 0")
    if against and not below:
        roles.margin_of_winner = True
        roles.notes.append(
            f'"{search.names[roles.margin]}" is never below 0, so taken as the lead of the winner'
        )


def _won_sql(search: Search) -> list[str]:
    """SQL: whether the outcome says that the first won, and whether the second did."""
    roles, facts = search.roles, search.facts
    assert roles.outcome is not None and roles.meaning is not None  # noqa: PT018
    won = []
    for item, outcome in ((roles.first, 1.0), (roles.second, 0.0)):
        told = [
            quote(text.strip()) for text, value in roles.meaning.values.items() if value == outcome
        ]
        told = [facts.text(item)] if roles.meaning.kind == "names" else told
        won.append(f"{facts.text(roles.outcome)} IN ({', '.join(told) or 'NULL'})")
    return won


def choose_margin(search: Search) -> None:
    """Choose the column that says by how much the first was ahead."""
    column = search.one("margin", words.MARGINS)
    if column is not None and not search.facts.count(search.facts.filled(column))[1]:
        search.roles.notes.append(f'the column "{search.names[column]}" is empty')
        column = None
    search.roles.margin = column
    if column is not None:
        search.tell("margin", column, f"{search.why('margin')}, first minus second")


MOST_GAMES = 20  # that somebody wins in one match; beyond, they were played before
HIGHEST_RATING = 10  # of answers; beyond, they may be of players, before the game


def _choose_last_scores(search: Search) -> None:
    """Choose columns with the games that each won, or with a rating of each, and say so."""
    if search.wanted["first_score"] is False:
        return
    pairs = words.last_score_pairs(search.plain, MARKERS)
    free = set(search.free())
    pairs = [pair for pair in pairs if {pair.first, pair.second} <= free]
    if len(pairs) != 1 or pairs[0].marker.sided:  # home_games were played before
        return
    scores = pairs[0].first, pairs[0].second
    names = search.listed(list(scores), " and ")
    x, y = (search.facts.number(i) for i in scores)
    limit = HIGHEST_RATING if "rating" in search.plain[scores[0]] else MOST_GAMES
    _, high = search.facts.count(f"greatest(abs({x}), abs({y})) > {limit}")
    if high or not all(search.facts.looks_numeric(i) for i in scores):
        return
    search.roles.scores = scores
    what = "ratings of the two" if limit == HIGHEST_RATING else "games won by each"
    search.roles.notes.append(
        f"nothing else says who won: {names} are taken as {what}, and the higher as the better"
    )
    for column, role in zip(scores, ("first", "second"), strict=True):
        search.tell(f"{role} score", column, "by its name")


def settle_scores(search: Search) -> None:
    """Leave out scores that the outcome contradicts; refuse a table that does not say who won."""
    roles = search.roles
    if roles.winner_first:
        return
    _doubt_scores(search)
    _doubt_margin(search)
    if (roles.sided, roles.outcome, roles.scores, roles.margin) == (None,) * 4:
        _choose_last_scores(search)
    told = (roles.sided, roles.outcome, roles.scores, roles.margin)
    if all(found is None for found in told):
        raise search.refuse(
            f"no column of {search.listed()} says who won; name it with outcome=, winner=, "
            "margin=, or first_score= and second_score= (command line: --outcome and so on)."
        )
