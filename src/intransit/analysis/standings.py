"""Items of an answer: who was there, how strong each is and was, and what changed.

A question is about items that were being compared about a time, and connected.  Everybody is
measured against the same panel, some thousand items at a time.  Of a large answer the leaderboard
at its end is kept, so that a page of it is a slice.

An answer about some of its items, chosen by a question, keeps their own draws, as if they alone had
been asked for.  Paths, effects and noise are those of the whole, so that a question about two of
the items has the same answer.  Which groups they belong to is known from the whole, too.

*Changes* between two times: who became stronger, and which matchups changed.  With X(t) the margins
at a time, over draws of the whole trajectory,

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

import html as markup
import importlib
import importlib.util
import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, TypeVar

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from intransit.analysis import FittedTable, Item, Leaderboard, Part, strength_draws
from intransit.arrays import (
    LEVEL,
    BoolArray,
    FloatArray,
    IntArray,
    described,
    interval,
    slices,
)
from intransit.checks import as_list, as_number, as_whole, check_option, open_seed
from intransit.data.reading import plural
from intransit.errors import InputError, MissingDependencyError
from intransit.inference.posterior import AVERAGE, Posterior, around, part_of, reach_of
from intransit.inference.sampling import scale_names, scale_values
from intransit.percent import estimate

ABOUT = 0.1  # of the table's span: how long before and after its games an item counts as there
USUAL_GAPS = 3.0  # between games of an item, before it counts as gone
MOST_ITEMS = 400  # that are ranked, and searched for cycles: those that played most
AT_ONCE = 20_000  # items that are measured at once
BACKENDS = ("pandas", "polars")
N_TIMES = 60  # points of a path
MOST_PATHS = 8  # items, unless they are named
MOST_PAIRS = 1_000  # for ArviZ
SHOWN = 10  # items in a notebook

A = TypeVar("A", bound=FittedTable)


@described
@dataclass(frozen=True)
class Standing:
    """How one item stands against all the others it can be compared with."""

    rank: Annotated[int, "Its place, 1 for the strongest."]
    rank_low: Annotated[int, "Best rank that it may have."]
    rank_high: Annotated[int, "Worst rank that it may have."]
    name: Annotated[str, "The item."]
    strength: Annotated[float, "Mean probability of beating each of the others."]
    low: Annotated[float, "Low end of the interval of the strength."]
    high: Annotated[float, "High end of the interval of the strength."]
    rating: Annotated[
        float,
        "The same on a scale like Elo's: 1500 is average, 400 more are odds of ten to one "
        "against it.",
    ]
    rating_low: Annotated[float, "Low end of the interval of the rating."]
    rating_high: Annotated[float, "High end of the interval of the rating."]
    games: Annotated[float, "How many games it played."]
    last: Annotated[str, "When it was last compared; empty where the table has no times."]


def games_of(answer: FittedTable, first: IntArray, second: IntArray) -> FloatArray:  # (n,)
    """Return how many games each pair played, in all."""
    seen, n = answer.posterior.layout.seen, answer.n_items
    if not len(first):  # of no entries a sparse matrix makes another one
        return np.zeros(0)
    games = csr_array((seen.counts, tuple(seen.pairs.T)), shape=(n, n))
    return np.asarray(games[np.minimum(first, second), np.maximum(first, second)])


def present(answer: FittedTable, when: float) -> BoolArray:  # (n_items,)
    """Return which items were being compared about a time.

    From a tenth of the table's span before their first game to a tenth after their last one, and
    from three of their usual gaps between games if those are longer: one that plays at random so
    often is silent for so long in 5 % of cases (exp(-3)).  Times outside the table count as its
    nearest.  Where none was, as of a part of the items, all count.
    """
    seen = answer.seen
    near = float(np.clip(when, seen.begin, seen.end))
    gaps = (seen.last - seen.first) / np.maximum(seen.games - 1.0, 1.0)
    slack = np.maximum(ABOUT * (seen.end - seen.begin), USUAL_GAPS * gaps)
    there = (seen.first - slack <= near) & (near <= seen.last + slack)
    return np.asarray(there if there.any() else ~there)


def largest_group(answer: FittedTable, there: BoolArray) -> IntArray:
    """Return those of some items that comparisons connect: the largest such group of them."""
    items = np.flatnonzero(there)
    if not len(items):
        return items
    groups = answer.posterior.groups[items]
    return np.asarray(items[groups == np.bincount(groups).argmax()])


def busiest(answer: FittedTable, items: IntArray, most: int = MOST_ITEMS) -> IntArray:
    """Return those of some items that played most, in the order they came in."""
    order = np.argsort(-answer.seen.games[items], kind="stable")
    return np.asarray(items[np.sort(order[:most])])


def present_at_the_end(answer: FittedTable) -> IntArray:
    """Return the items that are there at the end, those that played most first."""
    items = np.flatnonzero(present(answer, answer.seen.end))
    return np.asarray(items[np.argsort(-answer.seen.games[items], kind="stable")])


def time_text(answer: FittedTable, when: float) -> str:
    """Return a time in words; nothing where the table has no times.

    The middle of a moment of several whole days is named by its day, and of several units of a
    number without more digits than tell moments apart.
    """
    step = answer.encoding.step
    if answer.encoding.whole_days and step > 1.0:
        when = float(np.floor(when))
    elif answer.clock.kind == "number" and not answer.clock.names and step > 0.0:
        when = round(when, max(0, math.ceil(-math.log10(step))))
    return "" if answer.clock.kind == "none" else answer.clock.to_text(when)


def find_standings(
    answer: FittedTable,
    at: object = None,
    *,
    level: float = LEVEL,
    begin: int = 1,
    most: int | None = None,
    since: object = None,
) -> list[Standing]:
    """Return all items by their strength, the mean probability of beating the others.

    Against those only that comparisons connect them with, best first; with ratings on a scale
    like Elo's, and the range of each rank: the item's place among all in as many draws as `level`
    says.  Where there are cycles this order says less than the matrix does.

    Parameters
    ----------
    at
        The time, by default the last one of the table.
    level
        Of the intervals.
    begin, most
        A page: from this rank on, and how many; by default all.
    since
        Leave out those that were not compared then or later.

    Returns
    -------
    list of Standing
        Strength, rating and rank of each item with intervals, best first.

    Raises
    ------
    InputError
        If a time cannot be read, or `level`, `begin` or `most` is out of its range.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Games.from_arrays(["queen"] * 20 + ["rook"] * 20, ["rook"] * 20 + ["pawn"] * 20,
    ...                              [1] * 40)
    >>> answer = it.fit(games, effective=10, seconds=2)
    >>> [(one.rank, one.name) for one in answer.rank()]
    [(1, 'queen'), (2, 'rook'), (3, 'pawn')]
    >>> [one.name for one in answer.rank(begin=2, most=1)]
    ['rook']
    """
    reach_of(level)
    begin = as_whole("begin", begin, least=1)
    most = None if most is None else as_whole("most", most, least=1)
    board = leaderboard(answer, answer.when(at), level)
    places = np.arange(begin - 1, len(board))
    if since is not None:
        places = places[answer.seen.last[board.order[places]] >= answer.when(since)]
    return standings_of(answer, board, places[:most])


def standings_of(answer: FittedTable, board: Leaderboard, places: IntArray) -> list[Standing]:
    """Return some places of a leaderboard, counted from 0, in full."""
    estimates = ("strength", "low", "high", "rating", "rating_low", "rating_high")
    return [
        Standing(
            rank=k + 1,
            rank_low=min(int(board.best[k]), k + 1),
            rank_high=max(int(board.worst[k]), k + 1),
            name=answer.names[board.order[k]],
            games=float(answer.seen.games[board.order[k]]),
            last=time_text(answer, float(answer.seen.last[board.order[k]])),
            **{name: float(getattr(board, name)[k]) for name in estimates},
        )
        for k in places.tolist()
    ]


def leaderboard(answer: FittedTable, when: float, level: float = LEVEL) -> Leaderboard:
    """Return all items at a time: what is kept, or worked out."""
    if answer.board is not None and level == LEVEL and when == answer.seen.end:
        return answer.board
    n = answer.n_items
    drawn: FloatArray = np.empty((0, n))
    strengths, ratings = np.empty((3, n)), np.empty((3, n))
    for here in slices(n, AT_ONCE):
        items = np.arange(here.start, here.stop)
        some, strengths[:, here] = strength_draws(answer, items, when, level)
        rated = answer.posterior.ratings(items, when)
        middle = np.median(rated, axis=0)
        ratings[:, here] = middle, *interval(rated, level, middle)
        if not len(drawn):
            drawn = np.empty((len(some), n))
        drawn[:, here] = some
    # Medians, as odds of thousands to one in a few draws would make a mean of log odds that the
    # chances do not bear out; an average item still has 1500.
    ratings[0] += AVERAGE - ratings[0].mean()
    ratings[1:] = np.minimum(ratings[0], ratings[1]), np.maximum(ratings[0], ratings[2])
    by_name = answer.by_name
    order = by_name[np.argsort(-strengths[0, by_name], kind="stable")]
    best, worst = _rank_range(drawn, order, answer.posterior.groups, level)
    strength, low, high = strengths[:, order]
    rating, rating_low, rating_high = ratings[:, order]
    return Leaderboard(
        order, strength, low, high, best[order], worst[order], rating, rating_low, rating_high
    )


def _rank_range(
    drawn: FloatArray,  # (n_draws, n)
    order: IntArray,  # (n,): best first
    groups: IntArray,  # (n,)
    level: float,
) -> tuple[IntArray, IntArray]:  # (n,) each
    """Return the best and the worst rank of each item, rounded outwards; equals keep the order.

    Items that no comparisons connect it with may all be stronger, or all weaker.
    """
    n, sizes = drawn.shape[1], np.bincount(groups)
    ahead = np.cumsum(sizes) - sizes  # items of the groups before each
    in_order = groups[order]
    ranks = np.empty(drawn.shape, dtype=np.int32)
    for one, rank in zip(drawn, ranks, strict=True):
        by_group = order[np.lexsort((-one[order], in_order))]
        rank[by_group] = np.arange(1, n + 1) - ahead[groups[by_group]]
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    for here in slices(n, AT_ONCE):
        some = ranks[:, here]
        low[here] = np.quantile(some, 0.5 - level / 2, axis=0, method="lower")
        high[here] = np.quantile(some, 0.5 + level / 2, axis=0, method="higher")
    return low, high + n - sizes[groups]


def choose_part(answer: A, items: Sequence[Item] = (), *, played: int = 0, top: int = 0) -> A:
    """Return the answer about some of the items: those named, the busiest, the strongest.

    Everything can be asked of it that can be asked of an answer: ranks and strengths are then
    among these items, chances are those of the whole, and the verdict on cycles is that of the
    whole table.  It is small, however large the answer is.

    Parameters
    ----------
    items
        Items by name or number.
    played
        How many of those that played most.
    top
        How many of the strongest, at the end.

    Returns
    -------
    Answer
        Of these items; ``story`` says which they are.

    Raises
    ------
    InputError
        If an item does not occur, or fewer than two were chosen.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Games.from_arrays(["rock", "paper", "scissors"] * 20,
    ...                              ["scissors", "rock", "paper"] * 20, [1] * 60)
    >>> answer = it.fit(games, effective=10, seconds=2)
    >>> two = answer.only(["rock", "paper"])
    >>> two.names
    ('paper', 'rock')
    >>> two.story[-1]
    'Of 3 items this is about 2: 2 named.'
    """
    chosen, why = _choose(answer, items, played, top)
    if len(chosen) < 2:
        raise InputError("items: fewer than two items were chosen; name two, or ask for more.")
    said = f"Of {answer.n_all:,} items this is about {len(chosen):,}: {why}."
    return replace(
        answer,
        names=tuple(answer.names[k] for k in chosen.tolist()),
        posterior=part_of(answer.posterior, chosen),
        seen=answer.seen.only(chosen),
        story=(*answer.story, said),
        board=None,
        part=Part(answer.n_all, answer.n_games, why),
    )


def most_played(answer: A) -> A:
    """Return the answer, or of one that is asked where it lies those that played most.

    Returns
    -------
    Answer
        The same answer; of a large one that `load` opened, with more than 400 items, the one about
        the 400 that played most.
    """
    if answer.board is None or answer.n_items <= MOST_ITEMS:
        return answer
    return choose_part(answer, played=MOST_ITEMS)


def _choose(
    answer: FittedTable, items: Sequence[Item], played: int, top: int
) -> tuple[IntArray, str]:
    """Return the items, rising, and in words which they are."""
    named = [answer.number(item) for item in as_list(items, "items")]
    played, top = as_whole("played", played, least=0), as_whole("top", top, least=0)
    parts, why = [np.array(named, np.int64)], []
    if played:
        most = busiest(answer, np.arange(answer.n_items), played)
        parts.append(most)
        why.append(f"the {len(most):,} that played most")
    if top:
        best = leaderboard(answer, answer.seen.end).order[:top]
        parts.append(best)
        why.append(f"the {len(best):,} strongest")
    if named:
        why.append(f"{len(set(named)):,} named")
    return np.unique(np.concatenate(parts)), " and ".join(why)


@dataclass(frozen=True, eq=False)
class StrengthPaths:
    """Mean probabilities of beating the others over time, with a band."""

    items: tuple[str, ...]
    times: FloatArray  # (n_times,), as the engine counts them
    strengths: FloatArray  # (n_items, n_times)
    low: FloatArray  # (n_items, n_times)
    high: FloatArray  # (n_items, n_times)


def leading(answer: FittedTable, n: int, at: object = None) -> list[Standing]:
    """Return the n items of most assured strength, by the low end of their intervals, in rank."""
    board = leaderboard(answer, answer.when(at))
    best = np.argsort(-board.low, kind="stable")[:n]
    return standings_of(answer, board, np.sort(best))


def strength_paths(
    answer: FittedTable,
    items: Sequence[str | int] | None = None,
    *,
    level: float = LEVEL,
    n_times: int = N_TIMES,
) -> StrengthPaths:
    """Return how strong items were over the time of the table: by default those that lead now."""
    reach_of(level)
    if items is None:
        chosen = [answer.number(s.name) for s in leading(answer, MOST_PATHS)]
    else:
        chosen = [answer.number(item) for item in as_list(items, "items")]
    if not chosen:
        raise InputError("items: none was given; name some, or leave them out.")
    times = np.unique(np.linspace(answer.seen.begin, answer.seen.end, n_times))
    numbers = np.array(chosen, dtype=np.int64)
    out = np.stack([answer.strengths(numbers, float(t), level=level) for t in times], axis=-1)
    return StrengthPaths(tuple(answer.names[k] for k in chosen), times, *out)


def matrix_frame(answer: FittedTable, at: object = None, *, backend: str | None = None) -> object:
    """Return the matrix of probabilities as a data frame: a row and a column for each item.

    Parameters
    ----------
    at
        The time, by default the last one of the table.
    backend
        ``"pandas"`` or ``"polars"``; by default the first of them that is installed.

    Returns
    -------
    DataFrame
        Names in the column ``item``, then a column for each item: the probability that the row
        beats it.

    Raises
    ------
    InputError
        If the time cannot be read, there are too many items for a matrix, or `backend` is another.
    MissingDependencyError
        If neither pandas nor polars, or not the one that was asked for, is installed.
    """
    matrix = answer.matrix(at)
    title = "item"
    while title in answer.names:
        title += "_"
    columns = {name: matrix[:, k] for k, name in enumerate(answer.names)}
    return _frame({title: list(answer.names), **columns}, backend)


def rank_frame(answer: FittedTable, at: object = None, *, backend: str | None = None) -> object:
    """Return the standings as a data frame, best first.

    Parameters
    ----------
    at
        The time, by default the last one of the table.
    backend
        ``"pandas"`` or ``"polars"``; by default the first of them that is installed.

    Returns
    -------
    DataFrame
        A row for each item, with the columns of what ``rank`` returns.

    Raises
    ------
    InputError
        If the time cannot be read, or `backend` is another.
    MissingDependencyError
        If neither pandas nor polars, or not the one that was asked for, is installed.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Games.from_arrays(["rock", "paper", "scissors"] * 20,
    ...                              ["scissors", "rock", "paper"] * 20, [1] * 60)
    >>> answer = it.fit(games, effective=10, seconds=2)
    >>> frame = answer.rank_frame(backend="pandas")
    >>> list(frame.columns[:5])
    ['rank', 'rank_low', 'rank_high', 'name', 'strength']
    >>> sorted(frame["name"])
    ['paper', 'rock', 'scissors']
    """
    standings = find_standings(answer, at)
    columns = [field.name for field in fields(Standing)]
    return _frame({name: [getattr(s, name) for s in standings] for name in columns}, backend)


def path_frame(
    answer: FittedTable, items: Sequence[str | int] | None = None, *, backend: str | None = None
) -> object:
    """Return strengths over time as a long data frame: item, time, strength, low, high.

    Parameters
    ----------
    items
        Items by name or number; by default the eight of most assured strength.
    backend
        ``"pandas"`` or ``"polars"``; by default the first of them that is installed.

    Returns
    -------
    DataFrame
        A row for each item and time, at most 60 times, with 90 % intervals.

    Raises
    ------
    InputError
        If an item does not occur, none was given, or `backend` is another.
    MissingDependencyError
        If neither pandas nor polars, or not the one that was asked for, is installed.
    """
    found = strength_paths(answer, items)
    n, m = found.strengths.shape
    return _frame(
        {
            "item": np.repeat(np.array(found.items, dtype=object), m).tolist(),
            "time": shown_times(answer, found.times).tolist() * n,
            "strength": found.strengths.ravel(),
            "low": found.low.ravel(),
            "high": found.high.ravel(),
        },
        backend,
    )


def shown_times(answer: FittedTable, times: FloatArray) -> np.ndarray:
    """Return times as they are shown: dates where the table has dates."""
    if answer.clock.kind != "date":
        return times
    seconds = np.round(times * 86_400.0).astype(np.int64)
    return seconds.astype("datetime64[s]")


def html(answer: FittedTable) -> str:
    """Return a short page for notebooks: what was fitted, and who leads."""
    say = markup.escape
    story = "".join(f"<li>{say(line)}</li>" for line in answer.story)
    standings = find_standings(answer)
    cells = "".join(
        f"<tr><td>{s.rank}</td><td style='text-align:left'>{say(s.name)}</td>"
        f"<td>{'</td><td>'.join(estimate(s.strength, s.low, s.high, 1))}</td>"
        f"<td>{s.rating:.0f}</td><td>{s.games:,.6g}</td><td>{say(s.last)}</td></tr>"
        for s in standings[:SHOWN]
    )
    more = len(standings) - SHOWN
    rest = f"<p>and {more} more: <code>answer.rank()</code></p>" if more > 0 else ""
    return (
        f"<div><b>{say(answer.source)}</b>: {answer.n_items} items<ul>{story}</ul>"
        "<table><thead><tr><th></th><th>item</th><th>beats the others</th><th>90 % interval</th>"
        f"<th>rating</th><th>games</th><th>last</th></tr></thead><tbody>{cells}</tbody></table>{rest}</div>"
    )


def to_arviz(answer: FittedTable) -> Any:
    """Return the draws as ArviZ takes them: scales, and chances of pairs at the last time.

    Needs ArviZ: ``pip install 'intransit[arviz]'``.

    Returns
    -------
    arviz.InferenceData
        Variables ``scale`` and ``chance``, by chain and draw; of many items the first 1,000 pairs.
        A ``DataTree`` with ArviZ 1.0 and later.

    Raises
    ------
    MissingDependencyError
        If ArviZ is not installed.
    """
    if importlib.util.find_spec("arviz") is None:
        raise MissingDependencyError(
            "to_arviz needs ArviZ, which is not installed: pip install 'intransit[arviz]'."
        )
    arviz = importlib.import_module("arviz")
    posterior, names = answer.posterior, tuple(answer.names)
    d, layout = posterior.draws, posterior.layout
    scales = np.array([scale_values(layout, d.one(k)) for k in range(len(d))])
    first, second = np.triu_indices(posterior.n_items, 1)
    first, second = first[:MOST_PAIRS], second[:MOST_PAIRS]
    last = float(posterior.axis[-1])
    chances = posterior.chances(first, second, np.full(len(first), last))
    size = np.bincount(d.chain)
    shape = (len(size), int(size.min()))
    each = np.concatenate([np.flatnonzero(d.chain == c)[: shape[1]] for c in range(shape[0])])
    pairs = [f"{names[i]} > {names[j]}" for i, j in zip(first, second, strict=True)]
    groups = {
        "posterior": {
            "scale": scales[each].reshape(*shape, -1),
            "chance": chances[each].reshape(*shape, -1),
        }
    }
    settings = {
        "coords": {"scales": scale_names(layout), "pairs": pairs},
        "dims": {"scale": ["scales"], "chance": ["pairs"]},
    }
    if "posterior" in inspect.signature(arviz.from_dict).parameters:  # before ArviZ 1.0
        return arviz.from_dict(**groups, **settings)
    return arviz.from_dict(groups, **settings)


def _frame(columns: Mapping[str, object], backend: str | None) -> object:
    """Return columns as a data frame of pandas or polars, the first that is installed."""
    import narwhals as nw  # noqa: PLC0415  (only when a frame is asked for)

    if backend is not None:
        check_option("backend", backend, BACKENDS)
    for name in BACKENDS if backend is None else (backend,):
        if importlib.util.find_spec(name) is not None:
            return nw.from_dict(dict(columns), backend=name).to_native()  # type: ignore[arg-type]
    wanted = backend or "pandas or polars"
    raise MissingDependencyError(
        f"data frames need {wanted}, which is not installed: pip install {backend or 'pandas'}."
    )


# Changes ------------------------------------------------------------------------------------------

MOST_MEASURED = 150  # that are measured against all others: 11,000 pairs
PANEL = 60  # opponents of a group, drawn at random, where there are more
MOST_MET = 5_000  # pairs outside the panel that are asked for, those with most games
ROUNDS = 60  # of medians
ROUNDING = 1e-9
MOST_MARGINS = 6_000_000  # of draws, that are kept


@described
@dataclass(frozen=True)
class ItemChange:
    """How much stronger or weaker an item became."""

    name: Annotated[str, "The item."]
    change: Annotated[float, "Of the mean probability of beating the others."]
    low: Annotated[float, "Low end of the interval of the change."]
    high: Annotated[float, "High end of the interval of the change."]
    probability: Annotated[float, "That the change has this sign."]
    sure: Annotated[bool, "Whether it is listed under control of false discoveries."]


@described
@dataclass(frozen=True)
class MatchupChange:
    """How much two items' chances changed beyond what their strengths explain."""

    first: Annotated[str, "The first item."]
    second: Annotated[str, "The second."]
    change: Annotated[float, "Of the probability that first beats second, strengths held."]
    low: Annotated[float, "Low end of the interval of the change."]
    high: Annotated[float, "High end of the interval of the change."]
    probability: Annotated[float, "That the change has this sign."]
    sure: Annotated[bool, "Whether it is listed under control of false discoveries."]


@described
@dataclass(frozen=True)
class Changes:
    """What changed between two times: items that became stronger, and matchups."""

    since: Annotated[str, "The earlier time."]
    until: Annotated[str, "The later time."]
    level: Annotated[float, "Of the intervals."]
    rate: Annotated[float, "Expected share of false ones among those that are called sure."]
    items: Annotated[tuple[ItemChange, ...], "Changes of all items, the surest first."] = ()
    matchups: Annotated[tuple[MatchupChange, ...], "Changes of matchups, the surest ones."] = ()
    matchup_share: Annotated[
        float, "Of the mean square of the change: what no strengths explain."
    ] = 0.0
    matchup_share_low: Annotated[float, "Low end of the interval of the share."] = 0.0
    matchup_share_high: Annotated[float, "High end of the interval of the share."] = 0.0
    note: Annotated[str, "What is left out, or why nothing changes; often empty."] = ""


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
    most_items: int = MOST_MEASURED,
    panel: int = PANEL,
) -> Changes:
    """Return who became stronger between two times, and which matchups changed.

    Of items that were being compared about both times and between them, against the same
    opponents.  An item becomes stronger against the others: where all improve alike, nobody does.

    Parameters
    ----------
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
        return replace(nothing, note="Nothing drifts in this model, so no change can be seen.")
    field = _field(answer, begin, end, seed, most_items, panel)
    left = answer.n_items - len(field.items)
    note = ""
    if left:
        note = (
            f"{plural(left, 'item')} left out: not compared about both times, or not between them."
        )
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
    most_items: int = MOST_MEASURED,
    size: int = PANEL,
) -> Field:
    """Return who was there at both times, and which pairs to ask about."""
    items = np.flatnonzero(present(answer, begin) & present(answer, end))
    items = items[~_unseen_between(answer, items, begin, end)]
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


def _unseen_between(answer: FittedTable, items: IntArray, begin: float, end: float) -> BoolArray:
    """Return which items have no games of their own that tell one of two times from the other.

    Both times are before their first game, after their last, or between two that follow each other.
    What is not known there is drawn for each time on its own, and a difference of the two is less
    than what a path may cover.
    """
    paths = answer.posterior.layout.items
    early, late = (around(paths, items, np.full(len(items), when)) for when in (begin, end))
    return np.asarray((early[0] == late[0]) & (early[2] > 0.0))


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
    """Return the matchups that changed most surely, of pairs that met; first is who gained.

    Two items that nobody else is connected to have no matchup: strengths explain all of it.
    """
    among_more = np.bincount(field.groups)[field.groups[field.first]] > 2
    met = np.flatnonzero(field.met & among_more)
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
    low, high = interval(change, level, mean)
    return mean, low, high, probability, sure


def discoveries(p_values: FloatArray, rate: float) -> BoolArray:
    """Return which of many tests to believe, so that few of those are false.

    The procedure of Benjamini and Hochberg: with the k-th smallest p-value at most rate k / n, the
    k smallest are believed, for the largest such k.

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
