"""The two items of a game: named, recognised by the words in their names, or by what they share."""

import itertools

from intransit.tables import vocabulary as words
from intransit.tables.choosing import Search
from intransit.tables.values import number, read_outcomes
from intransit.tables.vocabulary import MARKERS, WINNERS, Marker, Pair, tokens_of

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
