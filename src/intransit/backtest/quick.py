"""A ladder in seconds: one model beside plain ones, on the latest games, drawn for less long."""

from time import perf_counter

import numpy as np

from intransit.arrays import FloatArray
from intransit.backtest.blocks import Plan, as_games, cut, turn
from intransit.backtest.ladder import COIN, DRIFTING, ELO, FREQUENCIES, SCORES, model_of
from intransit.backtest.result import Backtest
from intransit.backtest.run import FEWEST, Report, Run, with_useful_sides
from intransit.errors import IntransitError
from intransit.inference.sampling import Effort
from intransit.model import Model
from intransit.tables import Games
from intransit.tables.reading import plural
from intransit.threads import one_thread

THIS_MODEL = "this model"
LAST = 0.2  # of the games, that are forecast
BLOCKS = 2  # that they are forecast in
MOST_GAMES = 15_000  # that are looked at, the latest
SWIFT = Effort(effective=25.0, seconds=6.0, most_draws=100)


@one_thread
def quick_backtest(
    games: Games, model: Model, *, rng: int = 0, report: Report = lambda _: None
) -> Backtest:
    """Measure a model beside a coin, frequencies, Elo and plain scores on a table's latest games.

    Parameters
    ----------
    games
        The table; of more than 15,000 games the latest are looked at.
    model
        What to measure, such as ``answer.model``.
    rng
        Seed.
    report
        Called with a few words at every stage.
    """
    late, note = _latest(games)
    plan = with_useful_sides(_plan(turn(as_games(late)), rng))
    run = Run(plan, None, 0, rng, report, SWIFT)
    run.notes += note
    run.climb((COIN, FREQUENCIES, ELO))
    for name in (SCORES, DRIFTING, THIS_MODEL):
        _add(run, name, model if name == THIS_MODEL else model_of(name, plan.early))
    names = (COIN, FREQUENCIES, ELO, SCORES, DRIFTING, THIS_MODEL)
    return run.result(names, late)


def _add(run: Run, name: str, model: Model | None) -> None:
    """Add one rung, or say why not."""
    early, begin = run.plan.early, perf_counter()
    if name == DRIFTING and early.clock.kind == "none":
        return  # nobody asks how things change in a table without times
    if early.counts.sum() < FEWEST:
        run.notes.append(f"Left out: {name}. There are too few games to learn from.")
        return
    if name == DRIFTING and early.times[0] == early.times[-1]:
        run.notes.append(f"Left out: {name}. All games to learn from are at one time.")
        return
    if model is not None and early.times[0] == early.times[-1]:
        model = model.still()
    run.report(f"looking back: {name}")
    try:
        run.draw(name, model, begin)
    except IntransitError as error:
        run.notes.append(f"Left out: {name}. {error}")


def _latest(games: Games) -> tuple[Games, list[str]]:
    """Return the latest games, as many as a quick look back can take."""
    later: FloatArray = np.cumsum(games.counts[::-1])[::-1]
    if later[0] <= MOST_GAMES or games.times[0] == games.times[-1]:
        return games, []
    begin = games.times[min(int(np.searchsorted(-later, -MOST_GAMES)), len(games) - 1)]
    late = games.only(games.times >= begin)
    if late.times[0] == late.times[-1]:
        return games, []
    return late, [f"Of the table the latest {plural(round(late.counts.sum()), 'game')} are used."]


def _plan(games: Games, rng: int) -> Plan:
    """Return the plan: the last fifth, in a few blocks of like length."""
    below = np.cumsum(games.counts)
    row = min(int(np.searchsorted(below, (1.0 - LAST) * below[-1], "right")), len(games) - 1)
    span = float(games.times[-1] - games.times[row])
    return cut(games, LAST, span / BLOCKS * (1.0 + 1e-9) or None, rng)
