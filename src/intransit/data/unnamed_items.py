"""The two columns with the items, where their names do not say so, by what they hold."""

import itertools

from intransit.data import vocabulary as words
from intransit.data.engine import Facts
from intransit.data.outcomes import number, read_outcomes
from intransit.data.vocabulary import MARKERS, Pair


def same_name(facts: Facts, free: set[int]) -> list[Pair]:
    """Return two columns of one name for an item: team, score, team, score."""
    twins = (words.twins(facts.plain, free, name) for name in words.ITEMS)
    return next(([Pair(MARKERS[0], *both)] for both in twins if both), [])


def marked(facts: Facts, free: set[int]) -> list[Pair]:
    """Return columns of text of any name whose first or last words are a marker's."""
    tokens = {i: words.tokens_of(facts.names[i]) for i in sorted(free) if facts.is_text(i)}
    found: dict[tuple[int, int], Pair] = {}
    for marker in MARKERS:
        third = words.THIRD.get(marker.first)
        for i, j in itertools.permutations(tokens, 2):
            rest = [
                {name[1:] if name[:1] == (word,) else (), name[:-1] if name[-1:] == (word,) else ()}
                for name, word in ((tokens[i], marker.first), (tokens[j], marker.second))
            ]
            more = {name[:-1] for name in tokens.values() if name[-1:] == (third,)}
            if (rest[0] & rest[1]) - more - {()}:
                found.setdefault((i, j), Pair(marker, i, j))
    often = facts.often_filled(sorted({i for pair in found for i in pair}))
    numeric = {i for i in often if facts.looks_numeric(i)}
    return [pair for (i, j), pair in found.items() if {i, j} <= set(often) - numeric]


def alike(facts: Facts, free: set[int]) -> list[Pair]:
    """Return pairs of text columns, of any name, that hold the same things."""
    known = words.OUTCOMES | words.TIMES | words.SIDES | words.NEUTRALS | words.TIES
    texts = [i for i in sorted(free) if facts.is_text(i) and facts.plain[i] not in known]
    samples = {i: facts.sample(i) for i in facts.often_filled(texts)}
    pairs = []
    for (i, ours), (j, theirs) in itertools.combinations(samples.items(), 2):
        shared = len(ours & theirs)
        if shared >= 2 and 2 * shared >= min(len(ours), len(theirs)):
            told = read_outcomes([(text, 1) for text in ours], ("", ""), None)
            numbers = sum(number(text) is not None for text in ours)
            if told.understood < 0.8 and 2 * numbers < len(ours):
                won = (facts.plain[i], facts.plain[j]) == ("w", "l")
                pairs.append(Pair(words.WINNER if won else MARKERS[0], i, j))
    return pairs
