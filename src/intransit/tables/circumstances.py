"""When a game was, who had the side, and how often a row counts."""

from intransit.tables import vocabulary as words
from intransit.tables.choosing import CLEAR, Search
from intransit.tables.moments import Moments, read_moments
from intransit.tables.values import read_sides, read_switch


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


def _moments(search: Search, column: int, *, any_names: bool = False) -> Moments:
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
        texts = [text for text, _ in search.facts.values(roles.side) or [] if text.strip()]
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
        texts = [text for text, _ in search.facts.values(roles.neutral) or []]
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
