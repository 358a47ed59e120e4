"""A ladder in a second: one model beside plain ones, on the latest games, nothing searched for.

The model is the one that a table's answer was fitted with.  It was chosen with a look at the games
that are foretold here, among others; its scales come from the games before them alone.
"""

import warnings
from dataclasses import replace
from time import perf_counter

import numpy as np

from intransit.answers.encoding import Encoding
from intransit.answers.recipe import FEW_STEPS, FEWEST, MOMENTS, MOST_GAMES, Model, Report
from intransit.arrays import FloatArray
from intransit.backtest.blocks import Plan, cut, turn
from intransit.backtest.ladder import COIN, DRIFTING, ELO, FREQUENCIES, SCORES
from intransit.backtest.result import Backtest
from intransit.backtest.run import PLAIN, Run, Told, with_useful_sides
from intransit.core.posterior import Posterior
from intransit.core.query import ask
from intransit.errors import InputError, IntransitError, IntransitWarning
from intransit.tables import Games
from intransit.tables.reading import plural
from intransit.threads import one_thread
from intransit.trajectory import Trajectory

THIS_MODEL = "this model"
LAST = 0.2  # of the games, that are foretold
BLOCKS = 2  # that they are foretold in
N_DRAWS = 24  # for the deviations of margins: enough to forecast by


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
    plan = with_useful_sides(_plan(turn(late), rng))
    run = Run(plan, None, 0, rng, report)
    run.notes += note
    run.climb((COIN, FREQUENCIES, ELO))
    for name, kind in ((SCORES, PLAIN[SCORES]), (DRIFTING, PLAIN[DRIFTING]), (THIS_MODEL, model)):
        _add(run, name, kind, rng)
    names = (COIN, FREQUENCIES, ELO, SCORES, DRIFTING, THIS_MODEL)
    run.notes.append(
        "The model was chosen with these games in view; how it fares is what one may hope for."
    )
    return run.result(names, late)


def _add(run: Run, name: str, model: Model, rng: int) -> None:
    """Add one rung, or say why not."""
    early, begin = run.plan.early, perf_counter()
    if early.counts.sum() < FEWEST:
        run.notes.append(f"Left out: {name}. There are too few games to learn from.")
        return
    if model.drifting and early.times[0] == early.times[-1]:
        if name == DRIFTING:
            run.notes.append(f"Left out: {name}. All games to learn from are at one time.")
            return
        model = replace(model, drifting=False, slowly=False, turning=False)
    if model in run.done:
        same = run.told[run.done[model]]
        run.told[name] = Told(same.p, same.seconds, f"the same as {run.done[model]}")
        return
    run.report(f"looking back: {name}")
    try:
        run.tell(name, _Swift(model, rng), model.name, begin)
        run.done[model] = name
    except IntransitError as error:
        run.notes.append(f"Left out: {name}. {error}")


def _latest(games: Games) -> tuple[Games, list[str]]:
    """Return the latest games, as many as a look back in a second can take."""
    later = np.cumsum(games.counts[::-1])[::-1]
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


class _Swift:
    """A model fitted to few moments, then updated; deviations come from a few draws."""

    def __init__(self, model: Model, rng: int) -> None:
        self.model, self.rng = model, rng
        self.encoding: Encoding | None = None
        self.path: Trajectory | None = None

    def learn(self, games: Games, ahead: Games) -> None:  # noqa: ARG002
        """Fit, or update."""
        with warnings.catch_warnings():  # near enough will do, to compare models by
            warnings.simplefilter("ignore", IntransitWarning)
            if self.path is None or self.encoding is None:
                self._fit(games)
                return
            try:
                self.path = self.path.update(self.model.see(self.encoding.timeline(games)))
            except InputError:  # a level that did not occur before, such as the first tie
                return

    def _fit(self, games: Games) -> None:
        known = Encoding.of(games)
        span = float(games.times.max() - games.times.min())
        few = max(known.step, span / MOMENTS)
        if len(np.unique(games.times)) <= 2 * MOMENTS:
            few = known.step
        self.encoding = replace(known, step=few)
        data = self.model.see(self.encoding.timeline(games))
        self.path = self.model.fit(data, known.loss, self.rng, max_steps=FEW_STEPS)

    def forecast(self, fixtures: Games) -> FloatArray:
        """Return forecasts averaged over what is not known."""
        path = self.path
        assert path is not None, "it learns before it forecasts"
        query = ask(path.problem, path.pairs, fixtures.first, fixtures.second, fixtures.times)
        z = path.solution.z
        steps = Posterior(path.problem, z).raw_draw(N_DRAWS, np.random.default_rng(self.rng))
        slopes = [query.slopes(z, np.ascontiguousarray(step)) for step in steps.T]
        variance = query.extra_variance(z) + np.mean(np.square(slopes), axis=0)
        sides = np.zeros(len(fixtures)) if fixtures.sides is None else fixtures.sides
        return path.law.expect(query.margins(z), variance, sides, path.scales.noise_scale)
