"""What changed between two times: who became stronger, and which matchups changed.

With X(t) the margins at a time, over draws of the whole trajectory,

    X_ij(t) = s_i(t) - s_j(t) + r_ij(t),      s_i = mean of X_ij over opponents j

so that s is the nearest ranking by scores and r is what no ranking explains.  An item changed by
the difference of its mean chance of beating the same opponents.  The share of matchups is that of
the change of r in the change of X.  A single matchup changed by what it moved beyond its items;
there an item moves by the median over its opponents, lest one matchup look like a small change of
all others of its two items.  It is given as a change of chances, around the mean margin of both
times.  Signs are tested by the normal law of the draws, as few draws cannot tell small
probabilities; the sure ones are found by the procedure of Benjamini and Hochberg.  Matchups can
change where factors or effects of pairs drift; in other models they stand still.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.standings import games_of, most_played, present, time_text
from intransit.arrays import LEVEL, BoolArray, FloatArray, IntArray, interval
from intransit.checks import as_number, as_whole, open_seed
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.inference.posterior import Posterior, reach_of

MOST_ITEMS = 150  # that are measured against all others: 11,000 pairs
PANEL = 60  # opponents of a group, drawn at random, where there are more
MOST_MET = 5_000  # pairs outside the panel that are asked for, those with most games
ROUNDS = 60  # of medians
ROUNDING = 1e-9
MOST_MARGINS = 6_000_000  # of draws, that are kept


@dataclass(frozen=True)
class ItemChange:
    """How much stronger or weaker an item became.

    Attributes
    ----------
    name
        The item.
    change
        Of the mean probability of beating the others.
    low, high
        Interval of the change.
    probability
        That the change has this sign.
    sure
        Whether it is listed under control of false discoveries.
    """

    name: str
    change: float
    low: float
    high: float
    probability: float
    sure: bool


@dataclass(frozen=True)
class MatchupChange:
    """How much two items' chances changed beyond what their strengths explain.

    Attributes
    ----------
    first, second
        The two items.
    change
        Of the probability that first beats second, strengths held.
    low, high
        Interval of the change.
    probability
        That the change has this sign.
    sure
        Whether it is listed under control of false discoveries.
    """

    first: str
    second: str
    change: float
    low: float
    high: float
    probability: float
    sure: bool


@dataclass(frozen=True)
class Changes:
    """What changed between two times: items that became stronger, and matchups.

    Attributes
    ----------
    since, until
        The times.
    level
        Of the intervals.
    rate
        Expected share of false ones among those that are called sure.
    items
        Changes of all items, the surest first.
    matchups
        Changes of matchups, the surest ones.
    matchup_share
        Of the mean square of the change: what no strengths explain.
    matchup_share_low, matchup_share_high
        Interval of the share.
    note
        What is left out, or why nothing changes; often empty.
    """

    since: str
    until: str
    level: float
    rate: float
    items: tuple[ItemChange, ...] = ()
    matchups: tuple[MatchupChange, ...] = ()
    matchup_share: float = 0.0
    matchup_share_low: float = 0.0
    matchup_share_high: float = 0.0
    note: str = ""


@dataclass(frozen=True, eq=False)
class Field:
    """The items that were there at both times, their opponents, and the pairs to ask about."""

    items: IntArray  # (n_there,)
    first: IntArray  # (n_pairs,): places in items
    second: IntArray  # (n_pairs,)
    met: BoolArray  # (n_pairs,)
    panel: BoolArray  # (n_there,): whom everybody is measured against
    groups: IntArray  # (n_there,)

    def average(self, values: FloatArray, *, itself: bool) -> FloatArray:
        """Return the mean over opponents, (..., n_pairs) to (..., n_there), of skew values.

        With `itself` an opponent meets itself too, with value 0, which makes scores.
        """
        size = np.bincount(self.groups, self.panel)[self.groups]
        size = np.maximum(size if itself else size - self.panel, 1.0)
        n_pairs = len(self.first)
        rows = np.concatenate([self.first, self.second])
        columns = np.tile(np.arange(n_pairs), 2)
        weights = np.concatenate([self.panel[self.second] * 1.0, self.panel[self.first] * -1.0])
        weights /= size[rows]
        A = csr_array((weights, (rows, columns)), shape=(len(self.items), n_pairs))
        flat = values.reshape(-1, n_pairs)
        return np.asarray((A @ flat.T).T.reshape(*values.shape[:-1], len(self.items)))

    def lopsided(self, change: FloatArray) -> FloatArray:  # (n_pairs,)
        """Return what medians in place of means make of the change of scores, by pair.

        Of the mean change of margins, (n_pairs,).
        """
        means = self.average(change, itself=True)
        scores = means.copy()
        column = np.cumsum(self.panel) - 1  # of those in the panel
        X = np.full((len(self.items), int(self.panel.sum())), np.nan)
        ahead, behind = self.panel[self.second], self.panel[self.first]
        X[self.first[ahead], column[self.second[ahead]]] = change[ahead]
        X[self.second[behind], column[self.first[behind]]] = -change[behind]
        for _ in range(ROUNDS):
            scores = 0.5 * (scores + np.nanmedian(X + scores[self.panel], axis=1))
        extra = scores - means
        return np.asarray(extra[self.first] - extra[self.second])


def find_changes(
    answer: FittedTable,
    since: object = None,
    until: object = None,
    *,
    level: float = LEVEL,
    rate: float = 0.1,
    most: int = 30,
    rng: int = 0,
    most_items: int = MOST_ITEMS,
    panel: int = PANEL,
) -> Changes:
    """Return who became stronger between two times, and which matchups changed.

    Of items that were being compared about both times, against the same opponents.  An item
    becomes stronger against the others: where all improve alike, nobody does.

    Parameters
    ----------
    answer
        The answer; as a method, ``answer.changes()``, the one it is called on.
    since, until
        The times, by default the first and the last one of the table.
    level
        Of the intervals.
    rate
        Expected share of false ones among those that are called sure: a wrong sign is false.
    most
        How many matchups to list, the surest.
    rng
        Seed of the panel that everybody is measured against, where there are many items.
    most_items, panel
        Of more items than this, 150 by default, so many of each group, 60, are that panel.

    Returns
    -------
    Changes
        Items and matchups that changed, the surest first; ``note`` says why there are none.

    Raises
    ------
    InputError
        If all games are at one time, `since` is not before `until`, or a number is out of its
        range.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Games.from_arrays(["old"] * 60, ["new"] * 60, [1] * 30 + [0] * 30, range(60))
    >>> answer = it.fit(games, effective=10, seconds=2)
    >>> found = answer.changes()
    >>> found.since, found.until
    ('0', '59')
    >>> [one.name for one in found.items if one.change > 0]
    ['new']
    """
    reach_of(level)
    answer, seed = most_played(answer), open_seed(rng)
    rate = as_number("rate", rate, least=0.0, strict=True)
    most, panel = as_whole("most", most, least=1), as_whole("panel", panel, least=1)
    most_items = as_whole("most_items", most_items, least=2)
    begin, end = _span(answer, since, until)
    nothing = Changes(time_text(answer, begin), time_text(answer, end), level, rate)
    if not answer.model.moves:
        return replace(nothing, note="Nothing moves in this model, so nothing changes.")
    field = _field(answer, begin, end, seed, most_items, panel)
    left = answer.n_items - len(field.items)
    note = f"{plural(left, 'item')} left out: not compared about both times." if left else ""
    if not len(field.first):
        return replace(nothing, note=f"{note} Nobody is left.".lstrip())
    posterior = answer.posterior.thinned(max(MOST_MARGINS // (2 * len(field.first)), 100))
    pair = (field.items[field.first], field.items[field.second])
    margins = np.stack(
        [posterior.margins(*pair, np.full(len(pair[0]), t)) for t in (begin, end)], axis=1
    )  # (n_draws, 2, n_pairs)
    found = replace(
        nothing, items=_items(answer, posterior, field, margins, level, rate), note=note
    )
    if not answer.model.matchups_move:
        still = "The model lets matchups stand still: only strengths change in it."
        return replace(found, note=f"{note} {still}".lstrip())
    change = margins[:, 1] - margins[:, 0]
    scores = field.average(change, itself=True)
    moved = change - scores[:, field.first] + scores[:, field.second]
    middle, low, high = _share(moved, change, level)
    moved -= field.lopsided(change.mean(axis=0))
    return replace(
        found,
        matchups=_matchups(answer, posterior, field, margins, moved, level, rate, most),
        matchup_share=middle,
        matchup_share_low=low,
        matchup_share_high=high,
    )


def _span(answer: FittedTable, since: object, until: object) -> tuple[float, float]:
    seen = answer.seen
    if answer.clock.kind == "none" or not seen.end > seen.begin:
        raise InputError(
            f"{answer.source}: all games are at one time, so nothing changes; give a column of "
            "times to `read`."
        )
    begin = seen.begin if since is None else answer.when(since)
    end = answer.when(until)
    if not begin < end:
        raise InputError(
            f"changes: since {time_text(answer, begin)} until {time_text(answer, end)} is no span "
            "of time; give an earlier time first."
        )
    return begin, end


def _field(
    answer: FittedTable,
    begin: float,
    end: float,
    rng: int,
    most_items: int = MOST_ITEMS,
    size: int = PANEL,
) -> Field:
    """Return who was there at both times, and which pairs to ask about."""
    items = np.flatnonzero(present(answer, begin) & present(answer, end))
    groups = answer.posterior.groups[items]
    alone = np.bincount(groups)[groups] < 2 if len(items) else np.zeros(0, bool)
    items, groups = items[~alone], groups[~alone]
    panel = np.ones(len(items), bool)
    if len(items) > most_items:
        generator = np.random.default_rng(rng)
        for group in np.unique(groups):
            mine = np.flatnonzero(groups == group)
            panel[generator.permutation(mine)[size:]] = False
    one, two = np.triu_indices(len(items), 1)
    games = games_of(answer, items[one], items[two])
    asked = (groups[one] == groups[two]) & (panel[one] | panel[two])
    further = np.flatnonzero((games > 0.0) & ~asked)
    asked[further[np.argsort(-games[further], kind="stable")[:MOST_MET]]] = True
    return Field(items, one[asked], two[asked], games[asked] > 0.0, panel, groups)


def _share(moved: FloatArray, change: FloatArray, level: float) -> tuple[float, float, float]:
    """Return the share of a change (its mean square) that matchups make: median and interval."""
    total = np.sum(change**2, axis=1)
    part = np.sum(moved**2, axis=1)
    shares = np.divide(part, total, out=np.zeros_like(part), where=total > 0.0)
    low, high = interval(shares, level)
    return float(np.median(shares)), float(low), float(high)


def _items(
    answer: FittedTable,
    posterior: Posterior,
    field: Field,
    margins: FloatArray,
    level: float,
    rate: float,
) -> tuple[ItemChange, ...]:
    """Return how much stronger each item became, the surest first."""
    strengths = field.average(posterior.results(margins) - 0.5, itself=False)
    change = strengths[:, 1] - strengths[:, 0]  # (n_draws, n_there)
    judged = (one.tolist() for one in _judge(change, level, rate))
    names = (answer.names[k] for k in field.items)
    found = [ItemChange(*one) for one in zip(names, *judged, strict=True)]
    return tuple(sorted(found, key=lambda one: (-one.probability, -abs(one.change), one.name)))


def _matchups(
    answer: FittedTable,
    posterior: Posterior,
    field: Field,
    margins: FloatArray,
    moved: FloatArray,
    level: float,
    rate: float,
    most: int,
) -> tuple[MatchupChange, ...]:
    """Return the matchups that changed most surely, of pairs that met; first is who gained."""
    met = np.flatnonzero(field.met)
    middle, half = margins[:, :, met].mean(axis=(0, 1)), 0.5 * moved[:, met]
    change = posterior.results(middle + half) - posterior.results(middle - half)
    gained = np.where(change.mean(axis=0) >= 0.0, 1.0, -1.0)
    judged = _judge(change * gained, level, rate)
    mean, _, _, probability, _ = judged
    found = []
    for k in np.lexsort((met, -mean, -probability))[:most]:
        pair = field.items[[field.first[met[k]], field.second[met[k]]]]
        first, second = (answer.names[item] for item in pair[:: int(gained[k])])
        found.append(MatchupChange(first, second, *(one[k].item() for one in judged)))
    return tuple(found)


def _judge(
    change: FloatArray,  # (n_draws, n)
    level: float,
    rate: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, BoolArray]:
    """Return mean, interval, probability of the mean's sign, and whether it is sure, of changes."""
    mean, spread = change.mean(axis=0), change.std(axis=0)
    moves = spread > ROUNDING
    ratio = np.divide(np.abs(mean), spread, out=np.zeros_like(mean), where=moves)
    probability = np.where(moves, ndtr(ratio), 0.5)
    sure = discoveries(np.where(moves, 2.0 * ndtr(-ratio), 1.0), rate)
    low, high = interval(change, level)
    return mean, low, high, probability, sure


def discoveries(p_values: FloatArray, rate: float) -> BoolArray:
    """Return which of many tests to believe, so that few of those are false.

    The procedure of Benjamini and Hochberg: with the k-th smallest p-value at most rate k / n, the
    k smallest are believed, for the largest such k.

    Examples
    --------
    >>> discoveries(np.array([0.2, 0.001, 0.04, 0.03]), 0.1).tolist()
    [False, True, True, True]
    """
    n = len(p_values)
    order = np.argsort(p_values, kind="stable")
    passed = np.flatnonzero(p_values[order] <= rate * np.arange(1, n + 1) / max(n, 1))
    out = np.zeros(n, bool)
    if len(passed):
        out[order[: passed[-1] + 1]] = True
    return out
