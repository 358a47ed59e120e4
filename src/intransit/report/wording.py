"""What was found, in words: the verdict, three sentences, three facts; and what was in the table.

Names of items are the table's own.  Where one could be taken for a part of the sentence, because of
a comma or a word that the sentence uses, it stands in quotation marks.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isfinite
from pathlib import PurePath

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from intransit.analysis import FittedTable
from intransit.analysis.cycles import Cycles, Ranking, Share
from intransit.analysis.standings import Changes, Standing
from intransit.analysis.verdict import HOPELESS, Transitivity
from intransit.arrays import IntArray, spread_out
from intransit.data.reading import Column, describe_unused, plural
from intransit.model import Scores
from intransit.percent import and_list, estimate, percent, points, signed, with_error
from intransit.study import n_cycles

LONGEST = 40  # letters of a name in a sentence
NAMED = 3  # items of a list
LEAST_WEIGHT = 0.05  # of an item in a mixture, to be named
SURE_WEIGHT = 0.95  # from which a mixture is one item
MAIN_WEIGHT = 0.1  # of the largest, to speak of it
WANTED = 0.1  # share that tables are asked to be large enough for
FAR_OFF = 0.9  # detectable share from which no number of games can be named
ROUNDING = 1e-9  # of a sum of games
EXTREME = 10.0  # log odds: scores as far apart make nearly every result certain
CERTAIN = (
    " But scores are so far apart that the model takes nearly every result for certain. If all "
    "games of a date are one event, such as a race, it follows each; use `--no-drifting`."
)
STILL = (
    "Nothing drifts in this model: chances are averages over all times, and changes cannot be "
    "seen; `--drifting` lets strengths change."
)
AMBIGUOUS = re.compile(r"""[,;:()“”"]|\b(beats|and)\b""")  # in a name, within a sentence


@dataclass(frozen=True)
class Fact:
    """One of the three that are told first: what it is about, the answer, and how sure it is."""

    title: str
    value: str
    detail: str


def sentences(
    answer: FittedTable,
    cycles: Cycles,
    ranking: Ranking,
    changes: Changes | None,
    leaders: Sequence[Standing],
    *,
    among: str = "",
    clear: bool = False,
) -> tuple[str, str, str]:
    """Return three sentences: what the verdict rests on, who, and what changed.

    `leaders` are those that may be named as leading, the strongest first; `among` says which these
    are where others are listed above them, and `clear` whether the first is, beyond doubt.
    """
    verdict = answer.transitive
    changed = _changed(answer, changes)
    moved = changed[:1].upper() + changed[1:]
    if answer.n_all < 3:
        amount = f"That rests on {plural(round(answer.n_games), 'game')}."
        return _two(answer, leaders), amount, moved
    lasting = "lasting " if changes else ""
    rests = _needed(answer) if verdict.verdict == "too little data" else _share(verdict, lasting)
    rests = " ".join([rests + _rates(answer) + tell_untested(answer), *tell_unmixed(answer)])
    if verdict.verdict == "cycles":
        return rests, _surest(answer, cycles, ranking), f"{_mixture(answer, ranking)}; {changed}"
    return rests, _leader(leaders, among, clear), moved


def _rates(answer: FittedTable) -> str:
    """Say so where results are shares of games whose number is not known."""
    if not answer.posterior.layout.seen.has_bare_rates:
        return ""
    return (
        " The table does not say how many games are behind each win rate, so each counts as one: "
        "with the numbers of games (`--games`, `--count`) far more can be said."
    )


def tell_untested(answer: FittedTable) -> str:
    """Say so where the verdict is on other items, or an update brought games it does not know."""
    tested, games = answer.transitive.n_games, answer.n_games
    all_items = f" The verdict is on all {answer.n_all:,} items." if answer.part is not None else ""
    if games <= tested * (1.0 + ROUNDING):
        return all_items
    return all_items + (
        f" The verdict is on the first {tested:,.12g} of {games:,.12g} games, as the answer was "
        "updated since; `intransit fit` of all games tests them all."
    )


def _share(verdict: Transitivity, lasting: str) -> str:
    share, between = verdict.told_share
    what = f"the {lasting}differences between items"
    if not verdict.has_cycles and percent(verdict.share_high) == "0 %":
        said = f"A single scale explains all of {what} that can be measured"
    elif share == "uncertain":
        said = (
            f"How much of {what} a single scale leaves unexplained is uncertain "
            f"({percent(verdict.level)} interval {between})"
        )
    else:
        said = (
            f"A single scale leaves {share} of {what} unexplained ({percent(verdict.level)} "
            f"interval {between})"
        )
        if verdict.verdict == "no evidence" and verdict.share_low > 0.0:
            said += (
                ", which a scale with another curve from strength to win chance explains as well"
            )
    gain, error = verdict.gain, verdict.gain_error
    if gain is None or error is None or not (isfinite(gain) and isfinite(error)):
        return said + "."
    if gain > error:
        return (
            f"{said}, and modelling them lowers the log loss of held-out games by "
            f"{with_error(gain, error)} per game."
        )
    last = " that last" if lasting else ""  # those that come and go are in the ladder of models
    return (
        f"{said}, and effects of pairs{last} do not help to predict held-out games "
        f"(gain in log loss {with_error(gain, error, sign=True)} per game)."
    )


def _surest(answer: FittedTable, cycles: Cycles, ranking: Ranking) -> str:
    pairs = f"{percent(ranking.wrong)} of pairs" if ranking.n_upsets else "no pair"
    n = len(ranking.order)
    some = f" of {n:,} of the {answer.n_all:,} items" if n < answer.n_all else ""
    wrong = f"by the estimates, the nearest ranking{some} names the wrong favourite in {pairs}"
    if not len(cycles):
        shown = " of those shown" if answer.part is not None else ""
        return f"No single cycle{shown} is certain enough to be listed; {wrong}."
    best = cycles.found[0]
    way = " beats ".join(brief(name) for name in (*best.items, best.items[0]))
    begin = " the beginning," if cycles.times[:1] == (best.since,) else ""
    since = f", likely since{begin} {best.since}" if best.since else ""
    n = cycles.n_found
    listed = "The only cycle listed" if n == 1 else f"The surest of {n:,} cycles"
    if best.probability < cycles.level:
        listed = "There is very likely a cycle, but which one is uncertain; the likeliest"
        if answer.n_items == len(best.items):  # of three items: this way round, or the other
            listed = "The likelier of the two possible cycles"
    return f"{listed}: {way} (probability {cycles.sure(best)}{since}); {wrong}."


def main_shares(ranking: Ranking) -> list[Share]:
    """Return the few items of a mixture that are worth naming, the largest first."""
    return [share for share in ranking.equilibrium if share.weight >= LEAST_WEIGHT][:NAMED]


def is_best(share: Share) -> bool:
    """Return whether an item has nearly all of the mixture, also at the low end of its weight."""
    return share.low > SURE_WEIGHT


def _weighed(share: Share, nothing: str) -> str:
    weight, between = estimate(share.weight, share.low, share.high)
    return f"with {weight} of the mixture that {nothing} beats (90 % interval {between})"


def _unbeaten(answer: FittedTable, ranking: Ranking) -> str:
    """Return what does not beat the mixture: nothing, or nothing of the items it is made of."""
    return "nothing" if len(ranking.order) >= answer.n_all else "nothing of the same items"


def _mixture(answer: FittedTable, ranking: Ranking) -> str:
    nothing = _unbeaten(answer, ranking)
    named = main_shares(ranking)
    if not named or named[0].weight < MAIN_WEIGHT:
        most = max((share.weight for share in ranking.equilibrium), default=0.0)
        above = f", none with a weight above {percent(most)}" if most else ""
        return f"In place of a best item there is a mixture of many that {nothing} beats{above}"
    if named[0].weight > SURE_WEIGHT:
        best, comes = named[0], "comes out best" if is_best(named[0]) else "is likely the best"
        return f"Even so one item {comes}: {brief(best.name)}, {_weighed(best, nothing)}"
    parts = [f"{brief(share.name)} ({percent(share.weight)})" for share in named]
    if sum(share.weight for share in named) < 0.95:
        parts.append("smaller parts of others")
    return f"In place of a best item there is a mixture that {nothing} beats: {and_list(parts)}"


def _leader(leaders: Sequence[Standing], among: str, clear: bool) -> str:
    if not leaders:
        return "Nobody leads: no two items are connected by comparisons."
    best, *others = leaders[:2]
    of = f"{among}, " if among else ""
    other, second = brief(others[0].name), percent(others[0].strength)
    alike = percent(best.strength) == second
    if alike and not clear:
        return (
            f"{of}{'nobody' if of else 'Nobody'} leads clearly: {brief(best.name)} and {other} "
            f"both have a mean chance of about {second} against the others."
        )
    leads = "leads" if clear else "comes first, though not clearly"
    value, between = estimate(best.strength, best.low, best.high, int(alike))
    return (
        f"{of}{brief(best.name)} {leads}, with a mean chance of {value} against the others (90 % "
        f"interval {between}), ahead of {other} with {percent(others[0].strength, int(alike))}."
    )


def _two(answer: FittedTable, leaders: Sequence[Standing]) -> str:
    best = leaders[0]
    other = next((name for name in answer.names if name != best.name), best.name)
    value, between = estimate(best.strength, best.low, best.high)
    return (
        f"{brief(best.name)} beats {brief(other)} with a chance of {value} (90 % interval "
        f"{between})."
    )


def _needed(answer: FittedTable) -> str:
    verdict = answer.transitive
    pairs = plural(verdict.n_pairs, "pair")
    if answer.posterior.layout.seen.has_bare_rates:
        return f"There are {plural(round(verdict.n_games), 'win rate')} of {pairs} of items."
    games = plural(round(verdict.n_games), "game")
    have = f"There {'is' if games == '1 game' else 'are'} {games} between {pairs} of items"
    met = np.unique(answer.posterior.layout.seen.pairs, axis=0)
    if not n_cycles(met, answer.n_items):
        return f"{have}; the comparisons form no loop, so no cycle could show."
    share = verdict.detectable
    if verdict.n_series <= verdict.n_pairs:
        return f"{have}; to tell cycles from chance the same pairs must meet again."
    if not isfinite(share) or share > FAR_OFF:
        return (
            f"{have}; strengths differ too little, or pairs met too rarely, to tell lasting cycles "
            "from chance; cycles that come and go are not tested for."
        )
    # What is cyclic stands out as games times its ratio to what is not.
    wanted = verdict.n_games * max((share / (1.0 - share)) / (WANTED / (1.0 - WANTED)), 1.0)
    digits = max(len(str(int(wanted))) - 2, 0)
    rounded = round(wanted / 10**digits) * 10**digits
    return (
        f"{have}; about {rounded:,} such games are needed to detect cycles that make up a tenth of "
        "the differences, four times out of five."
    )


def _changed(answer: FittedTable, changes: Changes | None) -> str:
    if changes is None:
        if answer.clock.kind == "none":
            return "the table has no times, so changes cannot be assessed."
        return "all games have the same time, so changes cannot be assessed."
    sure = [item for item in changes.items if item.sure]
    span = f"from {changes.since} to {changes.until}"
    among = "" if answer.part is None else " among those shown"
    matchups = _changed_matchups(changes)
    if not sure:
        if not answer.model.moves:
            return f"{STILL[:1].lower()}{STILL[1:]}"
        if not changes.items:
            return (
                f"nobody was compared about both {changes.since} and {changes.until}, so changes "
                "cannot be assessed."
            )
        n = len(changes.items)
        of = f", of the {n:,} compared about both" if n < answer.n_items else ""
        what = " in strength" if matchups else ""
        return f"{span}, no item clearly changed{what}{among}{of}{matchups}."
    moved = [signed(100 * item.change, 1) for item in sure[:NAMED]]
    moved[0] += " percentage points in mean win chance"
    named = [f"{brief(item.name)} ({by})" for item, by in zip(sure, moved, strict=False)]
    n = len(sure)
    who = f"{n} items clearly changed" if n > 1 else "one item clearly changed"
    surest = ", most surely " if n > NAMED else ": "
    apart = answer.encoding.loss != "squared" and np.median(answer.posterior.widths[:, 0])
    certain = CERTAIN if apart > EXTREME else ""
    return f"{span}, {who}{among}{surest}{and_list(named)}{matchups}.{certain}"


def _changed_matchups(changes: Changes) -> str:
    """Return which matchups changed beyond strengths; nothing where none clearly did."""
    sure = [one for one in changes.matchups if one.sure]
    if not sure:
        return ""
    best, several = sure[0], len(sure) > 1
    which = "matchups changed, most surely" if several else "one matchup changed:"
    by = f"{signed(100 * best.change, 1)} percentage points"
    return f"; beyond strengths {which} {brief(best.first)} against {brief(best.second)} ({by})"


def tell_facts(
    answer: FittedTable,
    cycles: Cycles,
    ranking: Ranking,
    changes: Changes | None,
    leaders: Sequence[Standing],
    *,
    among: str = "",
    clear: bool = False,
) -> tuple[Fact, Fact, Fact]:
    """Return the three facts: of cycles where there are some, else of who leads.

    `among` and `clear` are as for `sentences`.
    """
    verdict, lasting = answer.transitive, "lasting " if changes else ""
    if verdict.has_cycles:
        mixture = _mixture_fact(ranking, _unbeaten(answer, ranking))
        return _share_fact(verdict, lasting), _surest_fact(cycles), mixture
    third = _share_fact(verdict, lasting)
    if verdict.verdict == "too little data":
        third = _games_fact(verdict)
        if answer.posterior.layout.seen.has_bare_rates:
            n = plural(round(verdict.n_games), "win rate")
            third = Fact("Data", n, "each counted as one game, as no numbers of games are given")
    first = _leader_fact(leaders, among, clear)
    return first, _changed_fact(changes) or _second_fact(leaders), third


def _share_fact(verdict: Transitivity, lasting: str) -> Fact:
    share, between = verdict.told_share
    return Fact(
        "Left unexplained by a single scale",
        share,
        f"of the {lasting}differences between items ({percent(verdict.level)} interval {between})",
    )


def _surest_fact(cycles: Cycles) -> Fact:
    if not len(cycles):
        return Fact("Single cycles", "none is certain", "of the items shown: see the matrix")
    best = cycles.found[0]
    way = " › ".join(cut_short(name, LONGEST) for name in (*best.items, best.items[0]))
    n = cycles.n_found
    listed = "the only one listed" if n == 1 else f"the surest of {n:,}"
    if best.probability < cycles.level:
        listed = "the likeliest"
    return Fact("A cycle", way, f"probability {cycles.sure(best)}, {listed}; › means “beats”")


def _mixture_fact(ranking: Ranking, nothing: str) -> Fact:
    shares, title = main_shares(ranking), "In place of a best item"
    if not shares:
        return Fact(title, "a mixture of many", f"that {nothing} beats on average")
    if shares[0].weight > SURE_WEIGHT:
        title = "Still best" if is_best(shares[0]) else "Likely best"
        return Fact(title, cut_short(shares[0].name, LONGEST), _weighed(shares[0], nothing))
    named = ", ".join(f"{brief(share.name)} {percent(share.weight)}" for share in shares)
    rest = 1.0 - sum(share.weight for share in shares)
    more = f"; {percent(rest)} are others" if rest >= LEAST_WEIGHT else ""
    return Fact(title, named, f"a mixture that {nothing} beats on average{more}")


def _leader_fact(leaders: Sequence[Standing], among: str, clear: bool) -> Fact:
    if not leaders:
        return Fact("Nobody leads", "–", "no two items are connected by comparisons")
    best = leaders[0]
    value, between = estimate(best.strength, best.low, best.high)
    return Fact(
        "Leads" if clear else "First, but not clearly",
        cut_short(best.name, LONGEST),
        f"{among.lower()}{': ' if among else ''}beats the others with a mean chance of {value} "
        f"(90 % interval {between})",
    )


def _second_fact(leaders: Sequence[Standing]) -> Fact:
    if len(leaders) < 2:
        return Fact("Second", "–", "there is nobody else to compare")
    second = leaders[1]
    value, between = estimate(second.strength, second.low, second.high)
    name = cut_short(second.name, LONGEST)
    return Fact("Second", name, f"with {value} (90 % interval {between})")


def _changed_fact(changes: Changes | None) -> Fact | None:
    sure = [] if changes is None else [item for item in changes.items if item.sure]
    if changes is None or not sure:
        return None
    best = sure[0]
    change, between = points(best.change, best.low, best.high)
    more = f"; {len(sure) - 1} more changed" if len(sure) > 1 else ""
    return Fact(
        f"Clearest change since {changes.since}",
        f"{cut_short(best.name, LONGEST)} {change}",
        f"percentage points in mean win chance (90 % interval {between}){more}",
    )


def _games_fact(verdict: Transitivity) -> Fact:
    each = verdict.n_games / verdict.n_pairs if verdict.n_pairs else np.nan
    told = f"{each:,.1f} for each of the {plural(verdict.n_pairs, 'pair')} that met"
    if verdict.n_pairs == 1:
        told = "of the one pair that met"
    if isfinite(verdict.detectable) and verdict.detectable < HOPELESS:
        told += f"; cycles might be missed below {percent(verdict.detectable)} of the differences"
    return Fact("Data", plural(round(verdict.n_games), "game"), told)


def cut_short(text: str, most: int) -> str:
    """Return a text of at most so many letters, with an ellipsis for what is left out.

    The last third is kept, as names often differ at their ends: "Llama 2 70B", "Llama 2 7B".
    """
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end].rstrip()}…{text[len(text) - end :].lstrip()}"


def cut_apart(texts: Sequence[str], most: int) -> list[str]:
    """Return texts of at most so many letters; like ones are cut about where they differ.

    >>> cut_apart(["Llama-3.1-Nemotron-70B-Instruct", "Llama-3.1-Nemotron-51B-Instruct"], 16)
    ['…tron-70B-I…ruct', '…tron-51B-I…ruct']
    """
    out = [cut_short(text, most) for text in texts]
    for cut in {one for one in out if out.count(one) > 1}:
        alike = [k for k, one in enumerate(out) if one == cut]
        letters = enumerate(zip_longest(*(texts[k] for k in alike)))
        differ = next((k for k, there in letters if len(set(there)) > 1), 0)
        begin = max(differ - most // 3, 0)
        for k in alike:
            out[k] = f"…{cut_short(texts[k][begin:], most - 1)}"
    return out


def brief(name: str) -> str:
    """Return a name for a sentence: cut where it would fill one, in quotation marks if need be."""
    cut = cut_short(name, LONGEST)
    return f"“{cut}”" if AMBIGUOUS.search(cut) else cut


FEW = 5  # games: an item with fewer is told
FEW_DRAWS = 20  # effective ones: of fewer not one is expected beyond either end of an interval
UNMIXED = (
    "The chains have not mixed: the worst pair has {:.0f} effective draws, so chances and "
    "intervals are unreliable. Give more time, as in `--seconds 300`."
)
LISTED = 4  # items
POOLS = 3  # groups that are described
FAR = 4  # games on the shortest way between two items
SOURCES = 60  # items whose ways to all others are looked at
EVEN = 0.5  # deviation of scores, below which hardly anybody wins more than 70 % of the games
# Standard error of what scores rise by from part to part of the field, at which games tell it well:
# such parts are some two units apart, so that it makes 2.5 points of a chance between equals.
KNOWN_APART = 0.05
LIKE = (
    "If items mostly met others of like strength, as on a ladder or in divisions, chances between "
    "items far apart are too close to even, and their intervals too narrow."
)


def take_stock(answer: FittedTable) -> tuple[str, ...]:
    """Return what was in the table, line by line."""
    reading = answer.reading
    said = [_rows(answer)]
    said += [
        f"Not used: {describe_unused(part, reading.unit, reading.word)}." for part in reading.unused
    ]
    if reading.columns:
        said.append(f"Columns: {', '.join(column_words(reading.columns))}.")
    said += [f"Note: {note.rstrip('.')}." for note in reading.notes]
    said += [_size(answer), _met(answer)]
    return (*said, *tell_strangers(answer), *_thin(answer))


def column_words(columns: Iterable[Column]) -> list[str]:
    """Return each column with what it was taken for, where its name does not say so."""
    return [one.name + (f" ({one.role})" if one.role != one.name else "") for one in columns]


def is_named(answer: FittedTable) -> bool:
    """Return whether the table has a name of its own, as a file has."""
    return answer.reading.source not in {"", "arrays"}


def _rows(answer: FittedTable) -> str:
    """Say how many rows there were, of which file, and how many were used."""
    reading = answer.reading
    place = f" of {PurePath(reading.source).name}" if is_named(answer) else ""
    place += f" with {', '.join(reading.where)}" if reading.where else ""
    if reading.n_used < reading.n_rows:
        were = "was" if reading.n_used == 1 else "were"
        return f"{reading.n_used:,} of {plural(reading.n_rows, reading.word)}{place} {were} used."
    if reading.n_rows == 1:
        return f"The one {reading.word}{place} was used."
    return f"All {plural(reading.n_rows, reading.word)}{place} were used."


def _size(answer: FittedTable) -> str:
    unit = "win rate" if answer.posterior.layout.seen.has_bare_rates else "game"
    games = f"{answer.n_games:,.12g} {unit}{'' if answer.n_games == 1 else 's'}"
    said = f"{games} between {plural(answer.n_all, 'item')}"
    if answer.clock.kind == "none":
        return f"{said}; the table has no times."
    begin, end = (answer.clock.to_text(t) for t in (answer.seen.begin, answer.seen.end))
    return f"{said}, all at {end}." if begin == end else f"{said}, from {begin} to {end}."


def _met(answer: FittedTable) -> str:
    n, pairs = answer.n_items, answer.posterior.layout.seen.pairs
    met = len(np.unique(pairs[:, 0] * n + pairs[:, 1]))
    possible = n * (n - 1) // 2
    if answer.part is not None:
        chosen = f"This page is about {plural(n, 'item')} of them: {answer.part.why}"
        return f"{chosen}. {met:,} of {possible:,} possible pairs of these met."
    if met == possible:
        return "Every pair met." if possible > 1 else "There is one pair."
    return f"{met:,} of {possible:,} possible pairs met ({percent(met / possible)})."


def pools(answer: FittedTable, items: IntArray) -> IntArray:  # (n,)
    """Return the number of each item's group, the largest group 0, then in order of names."""
    groups = answer.posterior.groups
    there, first = np.unique(groups, return_index=True)
    sizes = np.bincount(groups, minlength=groups.max() + 1)[there]
    ranked = there[np.lexsort((first, -sizes))]
    number = np.empty(groups.max() + 1, dtype=np.int64)
    number[ranked] = np.arange(len(ranked))
    return np.asarray(number[groups[items]])


def tell_strangers(answer: FittedTable) -> list[str]:
    """Say of which items little or nothing is known against each other."""
    return tell_apart(answer) + tell_far(answer)


def tell_unmixed(answer: FittedTable) -> list[str]:
    """Say so where there are too few effective draws for an interval."""
    mixing = answer.posterior.mixing
    return [] if mixing is None or mixing.worst >= FEW_DRAWS else [UNMIXED.format(mixing.worst)]


def tell_apart(answer: FittedTable) -> list[str]:
    """Say which groups of items never met."""
    pool = pools(answer, np.arange(answer.n_items))
    n = int(pool.max()) + 1
    if n == 1:
        return []
    parts = []
    for k in range(min(n, POOLS)):
        items = np.flatnonzero(pool == k)
        parts.append(f"{plural(len(items), 'item')} ({_names(answer, items)})")
    rest = f", and {n - POOLS} more" if n > POOLS else ""
    return [
        f"{n} groups of items never met, so nothing is known about how they compare: "
        f"{', '.join(parts)}{rest}."
    ]


def tell_far(answer: FittedTable) -> list[str]:
    """Say so where most of what is told of two items goes by way of several others.

    Unless tiers are drawn, scores are alike whoever met whom.  Where like met like, small
    differences add up along such a way, and scores that are all near each other explain every step
    as well.  Tiers do not help where scores move as much as opponents differ, and opponents are
    near each other on the day.
    """
    if answer.part is not None or answer.board is not None:  # their games are not all at hand
        return []
    posterior, scores = answer.posterior, answer.model.term(Scores)
    seen = posterior.layout.seen
    if (posterior.draws.tiers > 0.0).any():
        even = np.median(posterior.widths[:, 0]) < EVEN and scores is not None and not scores.wide
        rise = np.diff(posterior.layout.tiers[:, 0][seen.pairs], axis=1)[:, 0]
        told = 0.25 * float(np.sum(seen.counts * rise**2))  # of nearly even games
        hardly = told * KNOWN_APART**2 < 1.0
        said = f"Some parts of the field hardly met, and games were nearly even. {LIKE}"
        return [said] * bool(even and hardly)
    n, pairs = answer.n_items, seen.pairs
    met = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)).tocsr()
    some = spread_out(n, SOURCES)
    steps = shortest_path(met, directed=False, unweighted=True, indices=some)
    steps = steps[np.isfinite(steps) & (steps > 0.0)]
    if not len(steps) or np.quantile(steps, 0.9) < FAR:
        return []
    most, usual = f"{steps.max():.0f}", f"{np.median(steps):.0f}"
    return [
        f"Items are linked by chains of up to {most} games, half of all pairs by {usual} or more. "
        f"{LIKE}"
    ]


def _thin(answer: FittedTable) -> list[str]:
    """Say which items have too few games to say much."""
    games = answer.seen.games
    thin = np.flatnonzero(games < FEW)
    if not len(thin):
        return []
    thin = thin[np.argsort(games[thin], kind="stable")]
    have, them = ("has", "it") if len(thin) == 1 else ("have", "them")
    return [
        f"{len(thin):,} of {plural(answer.n_items, 'item')} {have} fewer than {FEW} games, so "
        f"little is known about {them}: {_names(answer, thin)}."
    ]


def _names(answer: FittedTable, items: np.ndarray) -> str:
    named = ", ".join(brief(answer.names[k]) for k in items[:LISTED])
    left = len(items) - LISTED
    return f"{named} and {left:,} more" if left > 0 else named
