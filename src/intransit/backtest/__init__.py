"""Backtests: a ladder of models that forecast a table's latest games, without looking ahead.

A table is cut by time, never between equal times: what is learnt first, what is forecast when.  The
models roll forward through it, block by block.  `quick_backtest` is a ladder in seconds: one model
beside plain ones, on the latest games.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from time import perf_counter

import numpy as np

from intransit.arrays import FloatArray, IntArray, slices
from intransit.backtest.forecasters import (
    EDGES,
    EFFORT,
    PEERS,
    PRIORS,
    SLOW,
    STEPS,
    Coin,
    Elo,
    FittedModel,
    Forecaster,
    Frequencies,
    installed,
    model_of,
)
from intransit.backtest.result import (
    COIN,
    DRIFTING,
    DRIFTING_FACTORS,
    ELO,
    EVERYTHING,
    FREQUENCIES,
    LADDER,
    PAIRS,
    SCORES,
    THIS_MODEL,
    Backtest,
    Coverage,
    Forecasts,
    Reliability,
    Rung,
    alike,
    coverage,
    hits,
    log_losses,
    mean_and_error,
    reliability,
    tell_left_out,
)
from intransit.checks import (
    as_column,
    as_list,
    as_number,
    as_whole,
    check_option,
    check_report,
    open_seed,
    shown,
)
from intransit.data import read
from intransit.data.games import Games, as_low_sees, in_sequence, join, merge
from intransit.data.reading import plural
from intransit.errors import InputError, IntransitError
from intransit.inference.observations import Encoding
from intransit.inference.sampling import Effort, Report
from intransit.model import Model
from intransit.percent import percent
from intransit.tasks import Task, one_thread, run_tasks

__all__ = [
    "LADDER",
    "Backtest",
    "Coverage",
    "Forecaster",
    "Forecasts",
    "Reliability",
    "Rung",
    "backtest",
]


# Cutting by time ----------------------------------------------------------------------------------

DAYS = 30.0  # in a block, for dates
BLOCKS = 10  # over the test part, for times that are numbers
HELD_BACK = 1729  # beside the seed: a table simulated with the same seed must not rule the draw
LISTED = 200_000  # games in a list, of more than a million; Elo takes them in within seconds
FEWEST_MOMENTS = 20  # moments in the test part, to take each as one observation


@dataclass(frozen=True, eq=False)
class Plan:
    """The part that is learnt first, and the blocks that are forecast one after the other."""

    early: Games
    blocks: tuple[Games, ...]
    note: str  # how the table was cut

    @property
    def test(self) -> Games:
        """All games that are forecast."""
        return join(self.blocks)

    @property
    def places(self) -> IntArray:  # (n_rows of test,)
        """Number of the block that each row belongs to."""
        return np.repeat(np.arange(len(self.blocks)), [len(block) for block in self.blocks])


def smaller_first(games: Games) -> Games:
    """Return the same games with the first item the one whose name comes first.

    How a table stores a game (winner first, home first) then changes nothing, to the last bit.
    """
    return merge(as_low_sees(games))


def as_games(games: Games) -> Games:
    """Return shares of several games as so many games won and so many lost.

    A share is then learnt and held back game by game, as if every game had a row of its own.
    """
    several = (games.counts >= 2.0) & (games.counts == np.round(games.counts))
    shares = several & ~np.isin(games.outcomes, (0.0, 1.0))
    if games.margins is not None or games.has_ties or not shares.any():
        return games
    won = np.where(shares, np.round(games.outcomes * games.counts), games.counts)
    ones = replace(games, outcomes=np.where(shares, 1.0, games.outcomes), counts=won)
    others = replace(games, outcomes=np.zeros(len(games)), counts=games.counts - won)
    both = join([replace(part, sequence=None) for part in (ones, others)])
    return merge(both.only(both.counts > 0))


def weighs(games: Games) -> bool:
    """Return whether rows have weights, which are no numbers of games."""
    return bool((games.counts != np.round(games.counts)).any())


def one_by_one(games: Games) -> Games:
    """Return a row for every game, in order of time, and of the table where times are equal.

    Where the table's order is not known, games of one time are in random order; of more than can
    be listed some are taken at random.  Rows that weigh, and do not count, stay as they are.
    """
    rows = games.sequence
    if rows is None:
        generator = np.random.default_rng(0)
        rows = in_sequence(games.counts)
        if rows is None:
            if weighs(games):
                return games
            share = LISTED / games.counts.sum()
            rows = np.repeat(
                np.arange(len(games)), generator.binomial(games.counts.astype(np.int64), share)
            )
        rows = generator.permutation(rows)
    rows = rows[np.argsort(games.times[rows], kind="stable")]
    return replace(replace(games, sequence=None).only(rows), counts=np.ones(len(rows)))


def first_held_back(games: Games, last: float) -> int:
    """Return the first row of the last part of the games."""
    below = np.cumsum(games.counts)
    return min(int(np.searchsorted(below, (1.0 - last) * below[-1], "right")), len(games) - 1)


def block_length(games: Games, last: float, n_blocks: int) -> float | None:
    """Return how long blocks are, of which there are so many in the last part of the games."""
    span = float(games.times[-1] - games.times[first_held_back(games, last)]) if len(games) else 0.0
    return span / n_blocks * (1.0 + 1e-9) or None


def cut(games: Games, last: float, every: float | None, rng: int) -> Plan:
    """Return the plan: the last part of the games, in blocks of `every`."""
    if len(games) < 2:
        raise InputError(
            f"games: {plural(len(games), 'row')} are too few to learn from and test on; give more."
        )
    begin = int(np.searchsorted(games.times, games.times[first_held_back(games, last)], "left"))
    if begin == 0:
        return _at_random(games, last, rng)
    times = games.times
    if every is None:
        every = DAYS if games.clock.kind == "date" else (times[-1] - times[begin]) / BLOCKS
    edges = [begin]
    while edges[-1] < len(games):
        edges.append(
            max(int(np.searchsorted(times, times[edges[-1]] + every, "left")), edges[-1] + 1)
        )
        edges[-1] = int(np.searchsorted(times, times[edges[-1] - 1], "right"))
    rows = np.arange(len(games))
    blocks = tuple(games.only(rows[a:b]) for a, b in pairwise(edges))
    since, wide = games.clock.to_text(float(times[begin])), games.clock.length(float(every))
    note = (
        f"From {since} on, in {plural(len(blocks), 'block')} of {wide}, each forecast from "
        "everything before it."
    )
    return Plan(games.only(rows[:begin]), blocks, note)


def _at_random(games: Games, last: float, rng: int) -> Plan:
    """Hold back games at random: where time says nothing, none is later than another."""
    generator = np.random.default_rng((rng, HELD_BACK))
    played = games.sequence if games.sequence is not None else in_sequence(games.counts)
    early = late = None  # in the order of the table, where it is known
    if played is not None:  # equal games stand in one row, and each of them is drawn
        held = generator.random(len(played)) < last
        later = np.bincount(played[held], minlength=len(games)).astype(np.float64)
        if games.sequence is not None:
            early, late = played[~held], played[held]
    elif weighs(games):  # weights, no numbers of games: rows stay whole
        later = np.where(generator.random(len(games)) < last, games.counts, 0.0)
    else:  # more games than are listed one by one
        later = generator.binomial(games.counts.astype(np.int64), last).astype(np.float64)
    parts = [
        replace(games, counts=counts, sequence=rows).only(counts > 0)
        for counts, rows in ((games.counts - later, early), (later, late))
    ]
    if not len(parts[0]) or not len(parts[1]):
        raise InputError(
            f"games: {games.counts.sum():g} are too few to hold some back; give more of them."
        )
    note = (
        f"All games are at one time, so {percent(last)} of them, drawn at random, are forecast "
        "from the others; this does not show how well later games are forecast."
    )
    return Plan(parts[0], (parts[1],), note)


def without_results(games: Games) -> Games:
    """Return who meets whom, and when: what a forecaster may see."""
    return replace(games, outcomes=np.full(len(games), np.nan), margins=None)


def clusters(test: Games) -> tuple[IntArray, str]:  # (n_rows,)
    """Return what each row is observed with, as numbers, and in words.

    All games of a day (or of one time) are one observation; where there are few times, all games
    of one pair at one time.
    """
    dated = test.clock.kind == "date"
    moments = np.floor(test.times) if dated else test.times
    _, moment = np.unique(moments, return_inverse=True)
    if moment.max(initial=0) + 1 >= FEWEST_MOMENTS:
        return moment, "day" if dated else "time"
    pair = (moment * test.n_items + test.first) * test.n_items + test.second
    same = (
        "pair" if moment.max(initial=0) == 0 else "pair on one day" if dated else "pair at a time"
    )
    return np.unique(pair, return_inverse=True)[1], same


# Rolling forward ----------------------------------------------------------------------------------

REFIT = 24  # blocks after which everything is drawn anew: two years of months
FEWEST = 30  # games to learn from
TUNED_ON = 0.25  # of the games before the test part, the latest
PLAIN = (COIN, FREQUENCIES, ELO)


@one_thread
def backtest(
    games: object,
    *,
    every: float | None = None,
    last: float = 0.2,
    ladder: Sequence[str] | None = None,
    forecasters: Mapping[str, Callable[[], Forecaster]] | None = None,
    refit: int = REFIT,
    effort: Effort = EFFORT,
    rng: int = 0,
    report: Report | None = None,
    jobs: int = 1,
    on: str | None = None,
) -> Backtest:
    """Find out which model forecasts a table best, without looking ahead.

    The last part of the games is cut into blocks.  Everything before a block is learnt, the block
    is forecast, and then learnt.  Elo's K and side, the weight of frequencies, levels of margins
    and the grid of times come from the games before the test part.

    Parameters
    ----------
    games
        What `read` returned, or anything that `read` takes.
    every
        Length of a block: in days for dates (30 by default), in their own unit for times that are
        numbers (by default a tenth of the test part).
    last
        Share of the games to be forecast.  Games without times are held back at random.
    ladder
        Which rungs, by name; by default all of `intransit.backtest.LADDER`, and those peers that
        are installed: choix, openskill and, for up to 5,000 games, kickscore (extra ``peers``).
    forecasters
        Rungs of your own, by name: classes, or functions without arguments, that make a new
        `Forecaster`, anything with ``learn(games)`` and ``predict(fixtures)``.
    refit
        Number of blocks after which a model of ours is drawn anew; between, it is updated.  0 for
        never.
    effort
        How long to draw, at each fit and update.
    rng
        Seed.
    report
        Called with a few words at every stage of long work.
    jobs, on
        How many parts of a rung, each from one drawing anew to the next, are worked on at once,
        in processes or, with ``on="ray"``, by Ray.  Forecasts are the same.

    Returns
    -------
    Backtest
        ``rungs``, ``best``, ``gain``, ``summary``, ``figure``, and more.

    Raises
    ------
    InputError
        If the table cannot be read or has too few games, a rung is not known or not installed, a
        forecaster of your own returns no probabilities, or a setting is out of its range.

    Examples
    --------
    >>> import intransit as it
    >>> from intransit.backtest import backtest
    >>> rounds = [["rock", "paper", "scissors"][k % 3] for k in range(600)]
    >>> beaten = [["scissors", "rock", "paper"][k % 3] for k in range(600)]
    >>> games = it.Games.from_arrays(rounds, beaten, [1] * 600, list(range(600)))
    >>> found = backtest(games, ladder=["coin", "frequencies", "Elo"])
    >>> found.best.name
    'frequencies'

    A rung of one's own:

    >>> class Champion:  # whoever has won most wins
    ...     def __init__(self):
    ...         self.wins = np.zeros(3)
    ...     def learn(self, games):
    ...         np.add.at(self.wins, np.where(games.outcomes == 1, games.first, games.second), 1)
    ...     def predict(self, fixtures):
    ...         ahead = self.wins[fixtures.first] - self.wins[fixtures.second]
    ...         return 0.5 + 0.1 * np.sign(ahead)
    >>> found = backtest(games, ladder=["coin"], forecasters={"champion": Champion})
    >>> [rung.name for rung in found.rungs]
    ['coin', 'champion']
    """
    table = games if isinstance(games, Games) else read(games)
    last = as_number("last", last, least=0.0, strict=True)
    if last >= 1.0:
        raise InputError(f"last is {last:g}; give the share of games to forecast, below 1.")
    if every is not None:
        every = as_number("every", every, least=0.0, strict=True)
    if report is not None:
        check_report(report)
    rng = open_seed(rng)
    own = _own(forecasters)
    wanted = _wanted(ladder, own)
    plan = with_useful_sides(cut(smaller_first(as_games(table)), last, every, rng))
    refit = as_whole("refit", refit, least=0)
    run = LadderRun(
        plan,
        every,
        refit,
        rng,
        report or _nothing,
        effort,
        jobs=as_whole("jobs", jobs, least=1),
        on=on,
        others={**installed(), **own},
    )
    if ladder is None and "kickscore" in run.others and table.counts.sum() > SLOW:
        wanted = tuple(name for name in wanted if name != "kickscore" or name in own)
        run.left_out["kickscore"] = f"It is slow above {SLOW:,} games; name it to run it."
    return run.climb(wanted, table)


def _nothing(_: str) -> None:
    """Report to nobody."""


def _wanted(ladder: Sequence[str] | None, own: Mapping[str, object]) -> tuple[str, ...]:
    """Return the rungs in their order: others' and the caller's own stand after Elo."""
    place = LADDER.index(ELO) + 1
    there = (*LADDER[:place], *installed(), *LADDER[place:])
    if ladder is None:
        names = set(there)
    else:
        ladder = (ladder,) if isinstance(ladder, str) else ladder
        by_case = {name.lower(): name for name in there}
        names = {by_case.get(str(name).lower(), str(name)) for name in as_list(ladder, "ladder")}
        for name in sorted(names):
            if name in PEERS and name not in there:
                raise InputError(f"ladder: {name} is not installed; pip install intransit[peers].")
            check_option("ladder", name, there)
        if not names and not own:
            raise InputError("ladder: no rung was given; name some, or leave it out for all.")
    listed = [name for name in there if name in names and name not in own]
    place = sum(name in {*LADDER[:place], *PEERS} for name in listed)
    return (*listed[:place], *own, *listed[place:])


def _own(
    forecasters: Mapping[str, Callable[[], Forecaster]] | None,
) -> dict[str, Callable[[], Forecaster]]:
    """Return the caller's own rungs, or say what is wrong with one."""
    if forecasters is not None and not isinstance(forecasters, Mapping):
        raise InputError(
            f"forecasters: {shown(forecasters)} was given; give names with what makes each."
        )
    own = dict(forecasters or {})
    for name, make in own.items():
        if name in LADDER:
            raise InputError(f"forecasters: {name!r} is a rung already; give yours another name.")
        if not callable(make):
            raise InputError(
                f"forecasters: {name!r} is a {type(make).__name__}; give a class, or a function "
                "without arguments, that makes a forecaster."
            )
    return own


def roll(
    forecaster: Forecaster, plan: Plan, report: Report, blocks: range | None = None
) -> FloatArray:
    """Learn what is before some blocks; then forecast each, and only afterwards learn it."""
    folded, n = getattr(forecaster, "folded", False), len(plan.blocks)
    out = []
    for k in blocks or range(n):
        before = plan.blocks[k - 1] if k else plan.early
        forecaster.learn(before if folded else one_by_one(before))
        report(f"block {k + 1} of {n}")
        told = forecaster.predict(without_results(plan.blocks[k]))
        name = f"{type(forecaster).__name__}.predict"  # whoever wrote it reads what it returns
        out.append(as_column(name, told, len(plan.blocks[k]), "fixtures", least=0.0, most=1.0))
    return np.concatenate(out)


def tuned(
    make: Callable[..., Forecaster],
    grid: Mapping[str, Iterable[float]],
    early: Games,
    every: float | None,
    rng: int,
) -> dict[str, float]:
    """Return the settings of least log loss on the latest quarter of the early games."""
    plan = cut(early, TUNED_ON, every, rng)
    y, weights = plan.test.outcomes, plan.test.counts
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    losses = [weights @ log_losses(roll(make(**one), plan, _nothing), y) for one in settings]
    return settings[int(np.argmin(losses))]


def with_useful_sides(plan: Plan) -> Plan:
    """Leave sides out where nothing can be learnt from them, or they were told by the result."""
    if Encoding.of(plan.early).sided:
        return plan
    blocks = tuple(replace(block, sides=None) for block in plan.blocks)
    return replace(plan, early=replace(plan.early, sides=None), blocks=blocks)


@dataclass(frozen=True, eq=False)
class RungForecast:
    """What one rung forecast."""

    p: FloatArray
    note: str = ""
    ranges: FloatArray | None = None  # (2, n): ends of 90 % intervals
    seconds: float = 0.0


def _draw_part(ours: FittedModel, plan: Plan, blocks: range, report: Report) -> RungForecast:
    """Forecast the blocks from one draw to the next; what was drawn before makes no difference."""
    p = roll(ours, plan, report, blocks)
    told = "" if ours.posterior is None else str(ours.posterior.layout.model)
    return RungForecast(p, told, np.concatenate(ours.ranges, axis=1))


@dataclass(eq=False)
class LadderRun:
    """One climb of the ladder."""

    plan: Plan
    every: float | None
    refit: int
    rng: int
    report: Report
    effort: Effort
    jobs: int = 1
    on: str | None = None
    others: Mapping[str, Callable[[], Forecaster]] = field(default_factory=dict)  # not ours
    models: Mapping[str, Model] = field(default_factory=dict)  # beside those of the ladder
    notes: list[str] = field(default_factory=list)  # on what part of the table is used
    left_out: dict[str, str] = field(default_factory=dict)  # by rung: why it does not run

    def climb(self, wanted: tuple[str, ...], table: Games) -> Backtest:
        """Run the rungs, and measure what they forecast."""
        told: dict[str, RungForecast] = {}
        for name in wanted:
            begin = perf_counter()
            reason = self._reason(name)
            try:
                if not reason:
                    self.report(f"forecasting with {name}")
                    told[name] = replace(self._forecast(name), seconds=perf_counter() - begin)
            except IntransitError as error:
                reason = str(error)
            if reason:
                self.left_out[name] = reason
        if not told:
            raise InputError(" ".join([*self.notes, *tell_left_out(self.left_out)]))
        return self._measure(told, table)

    def _reason(self, name: str) -> str:
        """Return why a rung cannot run, if so."""
        early = self.plan.early
        if name in PLAIN or name in self.others:
            return ""
        if early.counts.sum() < FEWEST:
            return (
                "There are too few games to learn from: "
                f"{early.counts.sum():g} before the test part."
            )
        if name in {DRIFTING, PAIRS, DRIFTING_FACTORS} and early.times[0] == early.times[-1]:
            return "All games to learn from are at one time, so nothing drifts."
        return ""

    def _forecast(self, name: str) -> RungForecast:
        if name not in PLAIN and name not in self.others:
            return self._draw(name, self.models.get(name) or model_of(name, self.plan.early))
        forecaster, note = self._plain(name) if name in PLAIN else (self._made(name), "")
        p = roll(
            forecaster, self.plan, lambda said: self.report(f"forecasting with {name}: {said}")
        )
        return RungForecast(p, note)

    def _made(self, name: str) -> Forecaster:
        """Return a new forecaster that is not ours, or say what it lacks."""
        made = self.others[name]()
        for call in ("learn", "predict"):
            if not callable(getattr(made, call, None)):
                raise InputError(
                    f"forecasters: {name!r} has no {call}(games); see docs/backtest.md."
                )
        return made

    def _plain(self, name: str) -> tuple[Forecaster, str]:
        """Return a forecaster that is tuned on the early games, and to what."""
        early = self.plan.early
        if name == COIN:
            return Coin(), ""
        if name == FREQUENCIES:
            setting = tuned(Frequencies, {"prior": PRIORS}, early, self.every, self.rng)
            return Frequencies(**setting), f"prior of {setting['prior']:g} games each"
        grid = {"step": STEPS, "edge": EDGES if early.sides is not None else (0.0,)}
        setting = tuned(Elo, grid, early, self.every, self.rng)
        points = 400.0 / np.log(10.0)
        note = f"K {setting['step'] * points:.0f}"
        if early.sides is not None:
            note += f", side {setting['edge'] * points:.0f} points"
        return Elo(**setting), note

    def _draw(self, name: str, model: Model | None) -> RungForecast:
        """Return what a model of ours says of every block; None is the one with every term."""
        doing, n = f"forecasting with {name}", len(self.plan.blocks)
        here = self.jobs == 1 and self.on is None
        report = (lambda said: self.report(f"{doing}: {said}")) if here else _nothing
        seen, tasks = (self.plan.early, *self.plan.blocks), []
        for part in slices(n, self.refit or n):
            ours = FittedModel(model, seen=seen[: part.start], effort=self.effort, rng=self.rng)
            given = ours, self.plan, range(part.start, part.stop), report
            tasks.append(Task(f"{name}, blocks from {part.start + 1}", _draw_part, given))
        parts: dict[int, RungForecast] = {}
        for k, told in run_tasks(tasks, jobs=self.jobs, on=self.on):
            parts[k] = told
            self.report(f"{doing}: {len(parts)} of {plural(len(tasks), 'part')}")
        ordered = [parts[k] for k in range(len(tasks))]
        p = np.concatenate([one.p for one in ordered])
        ranges = np.concatenate([one.ranges for one in ordered if one.ranges is not None], axis=1)
        return RungForecast(p, ordered[-1].note, ranges)

    def _measure(self, told: Mapping[str, RungForecast], table: Games) -> Backtest:
        """Measure what was forecast."""
        test, y = self.plan.test, self.plan.test.outcomes
        groups, unit = clusters(test)
        decided = np.where(y == 0.5, 0.0, test.counts)
        curves = {name: reliability(one.p, y, test.counts, groups) for name, one in told.items()}
        rungs: list[Rung] = []
        losses = np.zeros(0)
        for name, one in told.items():
            before, losses = losses, log_losses(one.p, y)
            gains = before - losses if rungs else np.zeros(len(losses))
            curve = curves[name]
            rungs.append(
                Rung(
                    name,
                    *mean_and_error(losses, test.counts, groups),
                    *mean_and_error(gains, test.counts, groups),
                    *mean_and_error((one.p - y) ** 2, test.counts, groups),
                    *mean_and_error(hits(one.p, y), decided, groups),
                    curve.expected_error,
                    curve.expected_error_error,
                    curve.by_chance,
                    one.seconds,
                    one.note,
                )
            )
        whole = told.get(EVERYTHING, RungForecast(np.zeros(0)))
        forecasts = Forecasts(
            table.names,
            *(test.first, test.second, test.times, y, test.counts, self.plan.places, groups),
            {name: one.p for name, one in told.items()},
            *((None, None) if whole.ranges is None else whole.ranges),
        )
        return Backtest(
            source=table.report.source,
            clock=table.clock,
            rungs=tuple(rungs),
            forecasts=forecasts,
            reliability=curves,
            coverage=_coverage(whole, test),
            how=(self.plan.note, *self.notes),
            left_out=self.left_out,
            unit=unit,
        )


def _coverage(told: RungForecast, test: Games) -> tuple[Coverage, ...]:
    """Return how often intervals held what came about, for two ways to group the games."""
    if told.ranges is None:
        return ()
    low, high = told.ranges
    pairs = test.first * test.n_items + test.second
    kinds = (
        (pairs, "pairs that met at least 20 times in the test part"),
        (alike(told.p, test.counts), "groups of forecasts alike in size"),
    )
    found = (
        coverage(groups, told.p, low, high, test.outcomes, test.counts, words)
        for groups, words in kinds
    )
    return tuple(one for one in found if one is not None)


LAST = 0.2  # of the games, that are forecast
QUICK_BLOCKS = 2  # that they are forecast in
SWIFT = Effort(effective=25.0, seconds=6.0, most_draws=100)


@one_thread
def quick_backtest(
    games: Games,
    model: Model,
    *,
    most_games: int = 15_000,  # a look back takes seconds with so many
    rng: int = 0,
    report: Report = _nothing,
) -> Backtest:
    """Measure a model beside a coin, frequencies, Elo and plain scores on the latest games."""
    late, note = _latest(games, most_games)
    rows = smaller_first(as_games(late))
    every = block_length(rows, LAST, QUICK_BLOCKS)
    plan = with_useful_sides(cut(rows, LAST, every, rng))
    early = plan.early
    still = early.times[0] == early.times[-1]
    models = {THIS_MODEL: model.still() if still else model}
    run = LadderRun(plan, None, 0, rng, report, SWIFT, models=models, notes=note)
    # Nobody asks how things change in a table without times.
    moving = () if early.clock.kind == "none" else (DRIFTING,)
    return run.climb((COIN, FREQUENCIES, ELO, SCORES, *moving, THIS_MODEL), late)


def _latest(games: Games, most: int) -> tuple[Games, list[str]]:
    """Return the latest games, as many as a quick look back can take."""
    later: FloatArray = np.cumsum(games.counts[::-1])[::-1]
    if later[0] <= most or games.times[0] == games.times[-1]:
        return games, []
    begin = games.times[min(int(np.searchsorted(-later, -most)), len(games) - 1)]
    late = games.only(games.times >= begin)
    if late.times[0] == late.times[-1]:
        return games, []
    return late, [f"Of the table the latest {plural(round(late.counts.sum()), 'game')} are used."]
