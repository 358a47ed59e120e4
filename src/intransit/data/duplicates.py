"""Rows that are no games of their own: those that tell a game twice, and games not played.

A game stands twice where each side tells it, or where every row is there once more.

Two things are asked.  Does every row have its twin (*mirrored*: the same pair, time, margin and
covariates as the other side sees them; *repeated*: the same in every column; or rows that share an
id)?  And could that be chance?  Games that really were played twice agree in part only: K pairs of
them all agree with a probability of κ^K, where κ is how often two other games of one pair agree.
So a table in which games of one pair always end alike proves nothing, and is left as it is.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from intransit.arrays import BoolArray, FloatArray, IntArray, number_rows
from intransit.data import vocabulary as words
from intransit.data.engine import Facts, quote
from intransit.data.games import Games, as_low_sees
from intransit.data.outcomes import is_switch, read_switch
from intransit.data.queries import Query, in_order
from intransit.data.reading import plural
from intransit.data.roles import Roles, Search
from intransit.data.vocabulary import plain

MOSTLY = 0.5  # share of rows with a counterpart, in a table that names an opponent
IDS = words.listed(
    "id gameid matchid gamenumber matchnumber game match uid uuid fixtureid gamepk boutid"
)
OF_GAMES = words.listed("gameid gamepk fixtureid boutid")
SURE = math.log(1e-6)  # of so many honest tables whose rows all have twins, one by chance
FEWEST = 6  # used rows
NEARLY = 0.9  # share of rows with a counterpart that is worth a remark
FALLS = 0.02  # share of rows in which the score of a game that goes on is put right
EVEN = math.log(0.55)  # above the chance that a number of two or more games is even
BATCH = 1 << 16  # cells looked at before the next ones are
CONTROLS = (5, 30)  # pairs with several games, and couples of these, from which κ is taken
SWITCH = 'doubled="{0}" (command line: --doubled {0})'
TWICE = {  # how games are told twice, and how a row has its twin
    "mirrored": ("once as each side sees them", "as the other side would tell it"),
    "repeated": ("in equal rows", "equal to it"),
}


@dataclass(frozen=True, eq=False)
class Told:
    """Games as the item sees them that comes first by name."""

    games: Games  # the first item of each is the one that comes first by name
    turned: BoolArray  # (n,) whether the row itself has them the other way round
    single: bool  # whether a row is one game

    @property
    def counts(self) -> FloatArray:  # (n,)
        """How many games a row stands for."""
        return self.games.counts

    @property
    def timed(self) -> bool:
        """Whether the rows have different times."""
        times = self.games.times
        return bool((times != times[0]).any())

    @property
    def content(self) -> FloatArray:  # (n, k)
        """What a row says of a game of two items at a time: outcome, margin, side, covariates."""
        measured = (self.games.outcomes, self.games.margins, self.games.sides)
        codes = (covariate.codes for covariate in self.games.by)
        return np.column_stack([part for part in (*measured, *codes) if part is not None])


class Ids(NamedTuple):
    """What a column of ids of games tells of the used rows, or their times, pairs and scores."""

    column: int | None
    n_rows: int
    n_ids: int
    even: bool  # whether all ids have as many rows
    agree: bool  # whether all rows with one id tell the same game


def count_once(
    query: Query, games: Games, n_used: int, roles: Roles, wish: str | None
) -> tuple[Games, str, str]:
    """Return the rows with each game once, what was done, and what may be the case.

    Without a wish, games count once where a column names an opponent and most rows have a
    counterpart (all, where there are no times), and in any table where every row has its twin and
    chance does not explain it.
    """
    opponent = roles.marker is not None and roles.marker.second in words.OPPONENTS
    large = len(games) > query.limits.one_by_one
    whole = large and not opponent and wish is None
    if wish == "keep" or not len(games) or (whole and _is_lopsided(games, query)):
        return games, "", ""
    told = _told(games, query)
    ids = None if large or not told.single else _find_ids(query) or _by_scores(told)
    doubt = ""
    if ids is not None:
        counts, doubt = _rows_of_one_game(query, told, roles, ids, wish)
        if counts is not None:
            return replace(told.games, counts=counts), doubt, ""
    if opponent and wish is None and not large:
        _check_both_won(query, told)
    if opponent or wish == "once":
        joined, note = _join_mirrors(games, told, n_used, wish)
        if note:
            return joined, note, doubt
    kind = _kind(query, told)
    sure = kind and n_used >= FEWEST and wish is None and _evidence(query, games, told, kind) < SURE
    if sure or (kind and wish == "once"):
        return replace(told.games, counts=told.counts / 2.0), _said(kind, n_used), ""
    if wish == "once" or n_used < FEWEST:
        return games, "", ""
    return games, "", doubt or _suspicion(told, kind, large=large)


def _check_both_won(query: Query, told: Told) -> None:
    """Refuse a table in which both sides of most games say that they won, or that they lost."""
    games, decided = told.games, told.games.outcomes != 0.5
    own = np.where(told.turned, 1.0 - games.outcomes, games.outcomes)
    if not (told.timed or games.sides is not None) or {own.min(), own.max()} != {0.0, 1.0}:
        return
    as_told = replace(told, games=replace(games, outcomes=own, margins=None))
    both, fine = (_matched(way, _counterparts(way))[decided].sum() for way in (as_told, told))
    if both > max(fine, MOSTLY * games.counts[decided].sum()):
        raise query.facts.refuse(
            "of most games both sides say that they won, or that they lost, as where scores begin "
            "with those of the home side; write scores and results as the first item sees them, or "
            f"say {SWITCH.format('keep')}."
        )


def _is_lopsided(games: Games, query: Query) -> bool:
    """Return whether a look at counts alone rules out that games are told twice."""
    counts, turned = games.counts, games.first > games.second
    if not query.single or 2.0 * counts.sum(where=turned) == counts.sum():
        return False
    parts = (counts[begin : begin + BATCH] for begin in range(0, len(counts), BATCH))
    return any((part % 2.0).any() for part in parts)


def _told(games: Games, query: Query) -> Told:
    faced = as_low_sees(replace(games, sequence=None))
    measured = {name: getattr(faced, name) for name in ("outcomes", "margins", "sides")}
    rounded = {  # so that 1 - 0.7 is 0.3, and -0 is 0
        name: np.round(column, 9) + 0.0 for name, column in measured.items() if column is not None
    }
    return Told(replace(faced, **rounded), games.first > games.second, query.single)


def _kind(query: Query, told: Told) -> str:
    """Return how every row has its twin: "mirrored", "repeated", or not at all."""
    if 2.0 * told.counts.sum(where=told.turned) == told.counts.sum():
        # Both ways round hold the same games; rows of several are the same only as they are.
        partner = _counterparts(told) if told.single else _counterparts(told, told.counts)
        if _matched(told, partner).sum() == told.counts.sum():
            return "mirrored"
    # Beyond this, grouping rows would cost more than reading them.
    few = query.facts.count()[0] <= query.limits.one_by_one
    even = told.single and not (told.counts % 2.0).any()
    rows = even or (few and not told.single)
    return "repeated" if rows and _rows_are_even(query.facts) else ""


def _rows_are_even(facts: Facts) -> bool:
    """Return whether every row stands an even number of times, in every column but an index."""
    n, numbers = facts.count()[0], [k for k in range(len(facts.names)) if facts.is_number(k)]
    spans = zip(numbers, facts.spans(numbers), strict=True)
    near = [k for k, (m, least, most) in spans if m == n > 1 and most - least == n - 1]
    index = {k for k in near if not facts.repeats([k])[0]}
    columns = [k for k in range(len(facts.names)) if k not in index]
    return bool(columns) and not facts.repeats(columns)[1]


def _find_ids(query: Query) -> Ids | None:
    """Return the column of ids that several rows share, one in which they agree before others."""
    facts = query.facts
    turn = "first > second"
    keys = ["least(first, second)", "greatest(first, second)", "time"]
    keys.append(f"CASE WHEN {turn} THEN 1 - outcome ELSE outcome END")
    keys += [
        f"CASE WHEN {turn} THEN -{key} ELSE {key} END + 0.0"
        for key in ("margin", "side")
        if key in query.columns
    ]
    found = []
    for column in (i for i, name in enumerate(facts.names) if plain(name) in IDS):
        rows = facts
        if facts.table.grouping is not None:
            from intransit.data.remote_tables import with_column  # noqa: PLC0415

            rows = with_column(facts, column)
        numbered = replace(query, columns={**query.columns, "id": facts.raw(column)})
        games = (
            f"SELECT {facts.tally()} AS n, count(DISTINCT ({', '.join(keys)})) AS ways "
            f"FROM {numbered.sql(rows.rows)} WHERE reason IS NULL AND id IS NOT NULL GROUP BY id"
        )
        asked = "sum(n), count(*), min(n), max(n), max(ways), count(*) FILTER (WHERE n = 1)"
        n, n_ids, least, most, ways, alone = facts.engine.ask(f"SELECT {asked} FROM ({games})")[0]
        if n_ids and 2 * alone < n_ids:
            found.append(Ids(column, int(n), int(n_ids), least == most, ways == 1))
    return max(found, key=lambda ids: ids.agree, default=None)


def _by_scores(told: Told) -> Ids | None:
    """Return times and pairs as ids, where these have several rows and scores tell them apart."""
    games, n_rows = told.games, int(told.counts.sum())
    if not told.timed or games.margins is None or n_rows < 2 * len(games):
        return None
    group = _moments(told)
    agree = len(np.unique(number_rows(group, *told.content.T))) == len(np.unique(group))
    return Ids(None, n_rows, len(np.unique(group)), False, agree)


def _moments(told: Told) -> IntArray:
    return number_rows(told.games.times, told.games.first, told.games.second)


def _rows_of_one_game(
    query: Query, told: Told, roles: Roles, ids: Ids, wish: str | None
) -> tuple[FloatArray | None, str]:
    """Return the counts with which each id is one game, if it is, and that it is or may be.

    It is where all its rows agree and chance does not explain that, and where ids of games have
    one time each: those of matches may stand for several games of one evening.
    """
    name = "" if ids.column is None else query.facts.names[ids.column]
    if not ids.agree and ids.column is not None and roles.scores is not None and wish is None:
        _check_growing(query.facts, roles.scores, ids.column)
    if not ids.agree or not told.counts.sum() == ids.n_rows >= 2 * ids.n_ids:
        return None, ""
    kept = replace(told, games=replace(told.games, counts=told.counts * ids.n_ids / ids.n_rows))
    alike = _agreement(kept)
    if told.games.margins is not None:  # those of any two games agree more seldom
        times = np.bincount(number_rows(*told.content.T), told.counts)
        alike = min(alike, float(np.sum((times / times.sum()) ** 2)))
    chance = math.log((1.0 + alike) / 2.0) * (ids.n_rows - ids.n_ids)
    by = f'"{name}"' if name else "their times and scores"
    rows = f"{ids.n_rows:,} rows tell {plural(ids.n_ids, 'game')}, by {by}"
    if wish != "once" and chance >= SURE and not (told.timed and plain(name) in OF_GAMES):
        return None, f"{rows}, unless some ended alike; say {SWITCH.format('once')} if none did"
    every = f"to count every row, say {SWITCH.format('keep')}"
    group = _moments(told)
    sizes = np.bincount(group, told.counts)
    if len(sizes) != ids.n_ids and not ids.even:
        raise query.facts.refuse(f"{rows}, and some have more; keep one row of each, or {every}.")
    counts = told.counts / sizes[group] if len(sizes) == ids.n_ids else kept.counts
    return counts, f"{rows}; each was counted once; {every}"


def _check_growing(facts: Facts, scores: tuple[int, int], column: int) -> None:
    """Refuse a table whose rows are states of games that go on: their scores only grow."""
    if not facts.table.ordered:
        return
    game = f"OVER (PARTITION BY c{column} ORDER BY row)"
    x, y = (f"{facts.number(i)} - lag({facts.number(i)}) {game}" for i in scores)
    asked = "count(x + y), count(*) FILTER (WHERE least(x, y) < 0)"
    steps = f"SELECT {x} AS x, {y} AS y FROM {facts.rows}"
    n, falls = facts.engine.ask(f"SELECT {asked} FROM ({steps})")[0]
    if n * math.log(0.5) < SURE and falls <= FALLS * n:
        raise facts.refuse(
            f'the scores of rows with one "{facts.names[column]}" only grow, as in a game that '
            f"goes on; keep the last row of each, or say {SWITCH.format('keep')} to count all."
        )


def _evidence(query: Query, games: Games, told: Told, kind: str) -> float:
    """Return the logarithm of the probability that rows which are no twins look like twins.

    Of a pair with m twins at one time, d_c of them ending as c, Π C(2 d_c, d_c) / C(2 m, m).
    """
    from scipy.special import gammaln  # noqa: PLC0415 - a third of a second that few tables need

    if kind == "mirrored":
        straight = ~told.turned
        kept = replace(told, games=told.games.only(straight), turned=told.turned[straight])
    else:
        kept = replace(told, games=replace(told.games, counts=told.counts / 2.0))
    agree = math.log((1.0 + _agreement(kept)) / 2.0)  # nearer to 1: games of one day are alike
    if not told.single:
        shares, n = kept.games.outcomes, kept.counts
        step = 0.01 if np.abs(shares - np.round(shares, 2)).max() < 1e-9 else 0.001  # as written
        # Two shares of n games each, of one chance, are the same with about this probability.
        with np.errstate(divide="ignore"):
            same = np.maximum(step, 1 / n) / np.sqrt(4 * np.pi * shares * (1 - shares) / n)
        counted = "count_told" in query.columns and "weight_told" not in query.columns
        return float(np.minimum(np.log(same), agree).sum() if counted else agree * len(n))
    twins = kept.counts.sum()
    group = number_rows(kept.games.times, kept.games.first, kept.games.second, kept.turned)
    size = np.bincount(group, kept.counts)
    alone = float(np.sum(size == 1.0)) * agree
    if kind == "mirrored":
        ways = gammaln(2 * kept.counts + 1) - 2 * gammaln(kept.counts + 1)
        chance = ways.sum() - np.sum(gammaln(2 * size + 1) - 2 * gammaln(size + 1))
    else:
        chance = float(np.sum(np.bincount(group) - 1)) * EVEN
    order = _chance_of_order(query, games, told, kind)
    in_order = 0.0 if order is None else max(order + alone, twins * agree)
    return float(min(chance + alone, in_order))


def _agreement(told: Told) -> float:
    """Return κ, how often two games of one pair agree, from games that are no twins."""
    if not told.single:  # rows that stand for many: how often any two rows agree
        times = np.bincount(number_rows(*told.content.T, told.counts))
        return float(np.sum((times / times.sum()) ** 2))
    pair = number_rows(told.games.first, told.games.second)
    per_pair = np.bincount(pair, told.counts)
    ending = number_rows(pair, *told.content.T)
    per_ending = np.bincount(ending, told.counts)
    owner = np.zeros(len(per_ending), dtype=np.int64)
    owner[ending] = pair
    couples = per_pair * (per_pair - 1.0)
    alike = np.bincount(owner, per_ending * (per_ending - 1.0))
    several = couples > 0
    if several.sum() >= CONTROLS[0] and couples.sum() / 2.0 >= CONTROLS[1]:
        return float(np.mean(alike[several] / couples[several]))
    return _predictability(told.games)


def _predictability(games: Games) -> float:
    """Return the most that κ can be: the share of games that the stronger did not lose."""
    outcomes, counts, n = games.outcomes, games.counts, games.n_items
    won = np.bincount(games.first, counts * outcomes, n) + 0.5
    won += np.bincount(games.second, counts * (1.0 - outcomes), n)
    strength = np.ones(n)
    for _ in range(50):  # Zermelo's iteration, with half a game won and lost against strength 1
        met = counts / (strength[games.first] + strength[games.second])
        total = np.bincount(games.first, met, n) + np.bincount(games.second, met, n)
        strength = won / (total + 1.0 / (strength + 1.0))
    ahead = strength[games.first] >= strength[games.second]
    upset = np.where(ahead, outcomes < 0.5, outcomes > 0.5)
    return 1.0 - float(counts[upset].sum() / counts.sum())


def _chance_of_order(query: Query, games: Games, told: Told, kind: str) -> float | None:
    """Return the log probability that twins stand in one order, or None where they do not.

    Of two sequences of m games of a pair, d_c of which end as c, m! / Π d_c! orders are possible
    for the one, and for both (2 m)! / Π (2 d_c)!; the second is the first in one of so many.
    Twins half a table apart, or next to each other, throughout, are beyond doubt by order.
    """
    from scipy.special import gammaln  # noqa: PLC0415

    few = told.counts.sum() <= query.limits.one_by_one
    if not query.facts.table.ordered or not few or told.timed:
        return None
    listed = _told(in_order(query, games), query)
    pair = number_rows(listed.games.first, listed.games.second)
    ending = number_rows(*listed.content.T)
    rows = np.column_stack([pair, ending])
    if kind == "mirrored":
        twins = [np.flatnonzero(listed.turned == side) for side in (False, True)]
    else:
        group = number_rows(pair, listed.turned)
        place = np.argsort(group, kind="stable")
        rank = np.arange(len(group)) - np.searchsorted(group[place], group[place])
        second = rank >= np.bincount(group)[group[place]] / 2
        if not np.array_equal(rows[place[~second]], rows[place[second]]):
            second = rank % 2 == 1
        twins = [np.sort(place[part]) for part in (~second, second)]
    # In the order of pairs, games of one pair in the order of the table.
    ones, others = (rows[part][np.argsort(rows[part, 0], kind="stable")] for part in twins)
    if not np.array_equal(ones, others):
        return None
    half = len(pair) // 2
    halves, alternating = (rows[:half], rows[half:]), (rows[::2], rows[1::2])
    if any(np.array_equal(*parts) for parts in (halves, alternating)):
        return -np.inf
    if _is_sorted(ones):
        return None
    endings = np.bincount(number_rows(*ones.T))
    sizes = np.bincount(number_rows(ones[:, 0]))
    one = gammaln(sizes + 1).sum() - gammaln(endings + 1).sum()
    both = gammaln(2 * sizes + 1).sum() - gammaln(2 * endings + 1).sum()
    return float(one - both)


def _is_sorted(rows: IntArray) -> bool:
    """Return whether games of most pairs stand by their endings, which says nothing of order."""
    follows = rows[1:, 0] == rows[:-1, 0]
    step = np.sign(rows[1:, 1] - rows[:-1, 1]) * follows
    pair = rows[1:, 0]
    n = int(rows[:, 0].max()) + 1
    up, down = np.bincount(pair, step > 0, n) > 0, np.bincount(pair, step < 0, n) > 0
    mixed = up | down
    most = 0.8 * mixed.sum()
    return bool(np.sum(up & ~down) >= most or np.sum(down & ~up) >= most)


def _said(kind: str, n_rows: int) -> str:
    return (
        f"{n_rows:,} rows list {n_rows // 2:,} games twice, {TWICE[kind][0]}: more rows have their "
        "twin than chance explains; these were counted once; to count both, say "
        f"{SWITCH.format('keep')}"
    )


def _suspicion(told: Told, kind: str, *, large: bool) -> str:
    once = f"if these are the same games listed twice, say {SWITCH.format('once')}"
    if kind:
        return (
            f"every row has a twin, {TWICE[kind][1]}, which may be chance; all are counted; {once}"
        )
    if not told.single or not told.timed or large:
        return ""
    share = float(_matched(told, _counterparts(told)).sum() / told.counts.sum())
    if share < NEARLY:
        return ""
    return (
        f"{share:.0%} of the games have a twin, as the other side would list it, at the same time; "
        f"all are counted; {once}"
    )


def _join_mirrors(games: Games, told: Told, n_used: int, wish: str | None) -> tuple[Games, str]:
    """Return a table of opponents with each game once, and what was done."""
    partner = _counterparts(told)
    matched = _matched(told, partner)
    n_matched = float(matched.sum())
    share = n_matched / games.counts.sum()
    enough = MOSTLY if told.timed else 1.0
    if not n_matched or (wish is None and (share < enough or n_used < 3)):
        return games, ""
    # Of the two, the row in which the first item comes first by name keeps the games of both.
    leads = (partner >= 0) & ~told.turned
    counts = games.counts.copy()
    counts[leads] += games.counts[partner[leads]] - matched[leads]
    half = f"{n_matched / 2.0:,.12g} games"
    by_rows = games.counts.sum() == n_used  # else a row stands for several games
    twice = f"{n_matched:,.12g} rows list {half} twice" if by_rows else f"{half} are listed twice"
    note = (
        f"{twice}, once as each side sees "
        f"them; these were counted once; to count both, say {SWITCH.format('keep')}"
    )
    joined = replace(games, counts=counts, sequence=None)
    return joined.only((partner < 0) | ~told.turned), note


def _matched(told: Told, partner: IntArray) -> FloatArray:
    """Return how many games of each cell its counterpart tells too."""
    matched = np.zeros(len(told.counts))
    there = partner >= 0
    matched[there] = np.minimum(told.counts[there], told.counts[partner[there]])
    return matched


def _counterparts(told: Told, *further: FloatArray) -> IntArray:  # (n,) -1 where there is none
    """Return for each row the one that tells the same games as the other side sees them.

    The two agree in everything that they say, and in the `further` columns.
    """
    games = told.games
    columns = [games.times, games.first, games.second, *told.content.T, *further]
    order = np.lexsort([told.turned, *columns[::-1]])
    same = told.turned[order][1:] & ~told.turned[order][:-1]
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    partner = np.full(len(order), -1, dtype=np.int64)
    left, right = order[:-1][same], order[1:][same]
    partner[left], partner[right] = right, left
    return partner


# Games that were not played ----------------------------------------------------------------------


def choose_unplayed(search: Search) -> None:
    """Find the columns that say of some games that they were not played: walkovers, byes, ..."""
    roles, facts = search.roles, search.facts
    if search.options.unplayed == "keep":
        return
    free, known = {*search.free(), *({roles.outcome} - {None})}, words.OF_RESULTS | words.STATUSES
    lines = roles.outcome if roles.meaning is not None and roles.meaning.margins else None
    for column in sorted(i for i in free if i is not None):
        name = search.plain[column]
        cell, found = f"lower({facts.text(column)})", ""
        if {*map(plain, search.names[column].split("."))} & words.STATUSES:  # status.type.name
            name = "status"
        forfeit, played = name in words.FORFEITS, name in words.PLAYED
        texts = facts.texts(column) if forfeit or played else ()  # of few: it is a query each
        if forfeit or (played and is_switch(texts)):
            told = [quote(text) for text, x in read_switch(texts).items() if (x > 0) == forfeit]
            test = f"{facts.raw(column)} IN ({', '.join(told) or 'NULL'})"
        elif facts.is_text(column) and (column == lines or name in known):
            found = words.UNPLAYED + (f"|{words.NOT_YET}" if name in words.STATUSES else "")
            test = f"regexp_full_match({cell}, {quote(found)})"
        else:
            continue
        if name.endswith("final") and 2 * facts.count(test)[1] > facts.count()[0]:
            continue  # the last game of a cup, and not that a score is final
        filled = [t.strip().casefold() for t, _ in (facts.values(column) if found else None) or ()]
        cells = [text for text in filled if re.fullmatch(found, text)]
        if cells or (not filled and facts.count_cells(column, test)[0]):
            roles.unplayed[column] = test
