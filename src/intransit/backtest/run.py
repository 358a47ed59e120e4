"""Roll forward through a table with a ladder of models, none of which looks ahead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from intransit.answers import Answer
from intransit.answers.encoding import Encoding
from intransit.answers.recipe import FEWEST, Model
from intransit.arrays import FloatArray
from intransit.backtest.blocks import Plan, clusters, cut, turn
from intransit.backtest.ladder import (
    COIN,
    DRIFTING,
    DRIFTING_FACTORS,
    EDGES,
    ELO,
    EVERYTHING,
    FACTORS,
    FREQUENCIES,
    LADDER,
    PAIRS,
    PRIORS,
    SCORES,
    STEPS,
    Coin,
    Elo,
    Fitted,
    Forecaster,
    Frequencies,
    ask_fit,
    roll,
    tuned,
)
from intransit.backtest.measures import (
    Coverage,
    alike,
    coverage,
    hits,
    log_losses,
    mean_and_error,
    reliability,
)
from intransit.backtest.result import Backtest, Forecasts, Rung
from intransit.checks import check_option
from intransit.core.inputs import as_number, as_whole
from intransit.errors import InputError, IntransitError
from intransit.tables import Games, read
from intransit.threads import one_thread

REFIT = 24  # blocks after which scales are estimated again: two years of months
PLAIN = {SCORES: Model(drifting=False), DRIFTING: Model(), PAIRS: Model(pairs=True)}

Report = Callable[[str], None]


@one_thread
def backtest(
    games: object,
    *,
    every: float | None = None,
    last: float = 0.2,
    ladder: Sequence[str] | None = None,
    refit: int = REFIT,
    rng: int = 0,
    report: Report | None = None,
) -> Backtest:
    """Find out which model forecasts a table best, without looking ahead.

    The last part of the games is cut into blocks.  Everything before a block is learnt, the block
    is forecast, and then learnt.  Elo's K and side, the weight of frequencies, levels of margins,
    the grid of times, scales, and the number of factors come from the games before the test part.

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
        Which rungs, by name; by default all of `intransit.backtest.LADDER`.
    refit
        Number of blocks after which a model of ours is fitted again with its scales; between, it
        is updated.  0 for never.
    rng
        Seed.
    report
        Called with a few words at every stage of long work.

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
    """
    table = games if isinstance(games, Games) else read(games)
    last = as_number("last", last, least=0.0, strict=True)
    if last >= 1.0:
        raise InputError(f"last is {last:g}; give the share of games to forecast, below 1.")
    if every is not None:
        every = as_number("every", every, least=0.0, strict=True)
    wanted = _wanted(ladder)
    plan = cut(turn(table), last, every, rng)
    plan = with_useful_sides(plan)
    run = Run(plan, every, as_whole("refit", refit, least=0), rng, report or (lambda _: None))
    run.climb(wanted)
    return run.result(wanted, table)


def _wanted(ladder: Sequence[str] | None) -> tuple[str, ...]:
    if ladder is None:
        return LADDER
    if isinstance(ladder, str):
        ladder = (ladder,)
    by_case = {name.lower(): name for name in LADDER}
    names = {by_case.get(str(name).lower(), str(name)) for name in ladder}
    for name in sorted(names):
        check_option("ladder", name, LADDER)
    if not names:
        raise InputError("ladder: no rung was given; name some, or leave it out for all.")
    return tuple(name for name in LADDER if name in names)


def with_useful_sides(plan: Plan) -> Plan:
    """Leave sides out where nothing can be learnt from them, or they were told by the result."""
    if Encoding.of(plan.early).sided:
        return plan
    blocks = tuple(replace(block, sides=None) for block in plan.blocks)
    return replace(plan, early=replace(plan.early, sides=None), blocks=blocks)


@dataclass(frozen=True, eq=False)
class Told:
    """What one rung forecast."""

    p: FloatArray
    seconds: float
    note: str = ""


class Run:
    """One climb of the ladder."""

    def __init__(
        self, plan: Plan, every: float | None, refit: int, rng: int, report: Report
    ) -> None:
        self.plan, self.every, self.refit, self.rng, self.report = plan, every, refit, rng, report
        self.told: dict[str, Told] = {}
        self.notes = [plan.note]
        self.ranges: tuple[FloatArray, FloatArray] | None = None
        self.done: dict[Model, str] = {}  # what was run, and under which name
        self.factors = 1

    def climb(self, wanted: tuple[str, ...]) -> None:
        """Run the rungs; everything first, as it says how many factors there are."""
        order = sorted(wanted, key=lambda name: name != EVERYTHING)
        for name in order:
            reason = self._reason(name)
            try:
                if not reason:
                    self._run(name)
            except IntransitError as error:
                reason = str(error)
            if reason:
                self.notes.append(f"Left out: {name}. {reason}")
        if not self.told:
            raise InputError(" ".join(self.notes[1:]))

    def _reason(self, name: str) -> str:
        """Return why a rung cannot run, if so."""
        early = self.plan.early
        if name in {COIN, FREQUENCIES, ELO}:
            return ""
        if early.counts.sum() < FEWEST:
            return f"{early.counts.sum():g} games before the test part are too few to learn from."
        if name in {DRIFTING, PAIRS, DRIFTING_FACTORS} and early.times[0] == early.times[-1]:
            return "All games to learn from are at one time, so nothing drifts."
        return ""

    def _run(self, name: str) -> None:
        begin = perf_counter()
        self.report(name)
        if name in {COIN, FREQUENCIES, ELO}:
            forecaster, note = self._plain(name)
            self.tell(name, forecaster, note, begin)
            return
        model = self._model(name)
        if model in self.done:
            same = self.told[self.done[model]]
            self.told[name] = replace(same, note=f"the same model as {self.done[model]}")
            return
        answers: list[Answer] = []
        ours = Fitted(self._asker(name, model, answers), self.refit)
        p = self._roll(ours, name)
        found = answers[0].model
        self.done[found] = name
        if name == EVERYTHING:
            self.factors = max(found.factors, 1)
            low, high = (np.concatenate(ends) for ends in zip(*ours.ranges, strict=True))
            self.ranges = low, high
        self.told[name] = Told(p, perf_counter() - begin, found.name)
        if ours.doubts:
            self.notes.append(f"{name}: {len(ours.doubts)} warnings; the first: {ours.doubts[0]}")

    def tell(self, name: str, forecaster: Forecaster, note: str, begin: float) -> None:
        """Keep what a forecaster says of every block."""
        p = self._roll(forecaster, name)
        self.told[name] = Told(p, perf_counter() - begin, note)

    def _roll(self, forecaster: Forecaster, name: str) -> FloatArray:
        return roll(forecaster, self.plan, lambda said: self.report(f"{name}: {said}"))

    def _plain(self, name: str) -> tuple[Forecaster, str]:
        early = self.plan.early
        if name == COIN:
            return Coin(), ""
        if name == FREQUENCIES:
            setting = tuned(Frequencies, {"prior": PRIORS}, early, self.every, self.rng)
            return Frequencies(**setting), f"prior of {setting['prior']:g} games each"
        grid = {"step": STEPS, "edge": EDGES if early.sides is not None else (0.0,)}
        setting = tuned(Elo, grid, early, self.every, self.rng)
        points = 400.0 / np.log(10.0)
        note = f"K {setting['step'] * points:.0f}, side {setting['edge'] * points:.0f} points"
        return Elo(**setting), note

    def _model(self, name: str) -> Model | None:
        """Return the model of a rung; None is left to `fit`."""
        if name in {FACTORS, DRIFTING_FACTORS}:
            return Model(self.factors, drifting=name == DRIFTING_FACTORS)
        return None if name == EVERYTHING else PLAIN[name]

    def _asker(
        self, name: str, model: Model | None, kept: list[Answer]
    ) -> Callable[[Games], Answer]:
        """Return what fits a rung; what was chosen on the early games is kept to."""

        def ask(games: Games) -> Answer:
            self.report(f"{name}: fitting")
            kept.append(ask_fit(games, kept[0].model if kept else model, self.rng))
            return kept[-1]

        return ask

    def result(self, wanted: tuple[str, ...], table: Games) -> Backtest:
        """Measure what was forecast."""
        test = self.plan.test
        groups, unit = clusters(test)
        names = [name for name in wanted if name in self.told]
        curves = {
            name: reliability(self.told[name].p, test.outcomes, test.counts, groups)
            for name in names
        }
        low, high = self.ranges or (None, None)
        forecasts = Forecasts(
            table.names,
            test.first,
            test.second,
            test.times,
            test.outcomes,
            test.counts,
            self.plan.places,
            groups,
            {name: self.told[name].p for name in names},
            low,
            high,
        )
        rungs: list[Rung] = []
        losses = np.zeros(0)
        for name in names:
            before, losses = losses, log_losses(self.told[name].p, test.outcomes)
            gains = before - losses if rungs else np.zeros(len(losses))
            hit = hits(self.told[name].p, test.outcomes)
            decided = np.where(test.outcomes == 0.5, 0.0, test.counts)
            curve = curves[name]
            rungs.append(
                Rung(
                    name,
                    *mean_and_error(losses, test.counts, groups),
                    *mean_and_error(gains, test.counts, groups),
                    *mean_and_error((self.told[name].p - test.outcomes) ** 2, test.counts, groups),
                    *mean_and_error(hit, decided, groups),
                    curve.expected_error,
                    curve.expected_error_error,
                    curve.by_chance,
                    self.told[name].seconds,
                    self.told[name].note,
                )
            )
        self.notes.append(
            f"Errors are standard errors; all games of one {unit} count as one observation."
        )
        return Backtest(
            table.report.source,
            table.clock,
            tuple(rungs),
            forecasts,
            curves,
            self._coverage(test),
            tuple(self.notes),
        )

    def _coverage(self, test: Games) -> tuple[Coverage, ...]:
        if self.ranges is None:
            return ()
        p = self.told[EVERYTHING].p
        pairs = test.first * test.n_items + test.second
        kinds = (
            (pairs, "pairs that met at least 20 times in the test part"),
            (alike(p, test.counts), "groups of forecasts alike in size"),
        )
        found = (
            coverage(groups, p, *self.ranges, test.outcomes, test.counts, words)
            for groups, words in kinds
        )
        return tuple(one for one in found if one is not None)
