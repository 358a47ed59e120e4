"""What a backtest found: rungs with their losses and errors, in words and as a figure.

Every measure of forecasts has a standard error.  Games of one cluster c (a day) may depend on each
other, clusters do not.  With weights w (games that a row stands for) the mean m = Σ w v / Σ w has
the standard error

    se²  =  C / (C - 1) · Σ_c (Σ_{rows of c} w (v - m))² / (Σ w)²

for C clusters, or that of games by themselves, Σ w (v - m)² / (Σ w)², if it is larger: a few large
days may agree by luck.  For a gain v is the difference of two losses of the same game.
It says how far the mean would move were the same models to forecast other days.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from scipy.special import ndtri

from intransit.arrays import LEVEL, FloatArray, IntArray, described
from intransit.checks import check_option
from intransit.data.games import Clock
from intransit.percent import and_list, percent, with_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLIP = 1e-4  # no forecast is taken as surer than this
N_BINS = 10
FEWEST_GAMES = 20  # of a group, to compare its share of wins with an interval
MOST_GROUPS = 20  # of forecasts alike in size
REACH = float(ndtri(0.5 + LEVEL / 2))  # standard deviations on either side of an interval


@described
@dataclass(frozen=True, eq=False)
class Reliability:
    """How often favourites won, by how strongly they were favoured.

    Examples
    --------
    >>> from intransit.backtest import backtest
    >>> from intransit.data.games import Games
    >>> games = Games.from_arrays(["rock", "paper"] * 100, ["scissors", "rock"] * 100, [1] * 200,
    ...                           range(200))
    >>> found = backtest(games, ladder=["coin", "frequencies"])
    >>> curve = found.reliability["frequencies"]
    >>> curve.observed.tolist(), curve.games.tolist()
    ([1.0], [40.0])
    """

    forecast: Annotated[FloatArray, "(n_bins,): mean probability of the favourites."]
    observed: Annotated[FloatArray, "(n_bins,): share of games that they won, ties as half."]
    error: Annotated[FloatArray, "(n_bins,): standard error of the difference."]
    games: Annotated[FloatArray, "(n_bins,): number of games."]
    expected_error: Annotated[float, "Mean distance of forecast and observed, over games."]
    expected_error_error: Annotated[float, "Its standard error."]
    by_chance: Annotated[float, "What a perfect forecaster would show, by luck of so many games."]


@described
@dataclass(frozen=True)
class Coverage:
    """How many groups of games came out within the intervals that were stated for them.

    Examples
    --------
    >>> told = Coverage("pairs", level=0.9, n_groups=20, share=0.85, error=0.08)
    >>> abs(told.share - told.level) < 2 * told.error
    True
    """

    groups: Annotated[str, "What the groups are, in words."]
    level: Annotated[float, "Of the intervals."]
    n_groups: Annotated[int, "How many groups there are."]
    share: Annotated[float, "Share of the groups that came out within their intervals."]
    error: Annotated[float, "Its standard error."]


def log_losses(p: FloatArray, y: FloatArray) -> FloatArray:
    """Return the cross entropy of results 1, 0, or 0.5 for a tie."""
    p = np.clip(p, CLIP, 1.0 - CLIP)
    return np.asarray(-(y * np.log(p) + (1.0 - y) * np.log1p(-p)))


def hits(p: FloatArray, y: FloatArray) -> FloatArray:
    """Return the result of the favourite; without one, a half."""
    return np.where(p == 0.5, 0.5, np.where(p > 0.5, y, 1.0 - y))


def mean_and_error(
    values: FloatArray, weights: FloatArray, clusters: IntArray
) -> tuple[float, float]:
    """Return a mean and its standard error; NaN where one cluster is all there is."""
    total = weights.sum()
    if total == 0:
        return float("nan"), float("nan")
    mean = float(weights @ values / total)
    there, number = np.unique(clusters, return_inverse=True)
    sums = np.bincount(number, weights * (values - mean))
    n = len(there)
    if n < 2:
        return mean, float("nan")
    together = n / (n - 1) * np.sum(sums**2)
    alone = np.sum(weights**2 / _games(weights) * (values - mean) ** 2)
    return mean, float(np.sqrt(max(together, alone)) / total)


def reliability(
    p: FloatArray, y: FloatArray, weights: FloatArray, clusters: IntArray
) -> Reliability:
    """Return how often favourites won, by how strongly they were favoured."""
    favoured = np.maximum(p, 1.0 - p)
    won = hits(p, y)
    bins = np.minimum(((favoured - 0.5) * 2 * N_BINS).astype(np.int64), N_BINS - 1)
    rows = []
    for k in np.unique(bins):
        here = bins == k
        w = weights[here]
        forecast = float(np.average(favoured[here], weights=w))
        gap, error = mean_and_error(won[here] - favoured[here], w, clusters[here])
        # A few games may agree by luck: so many spread as much as this.
        least = np.sqrt(forecast * (1.0 - forecast) * np.sum(w**2 / _games(w))) / w.sum()
        rows.append((forecast, forecast + gap, max(np.nan_to_num(error), least), w.sum()))
    forecasts, observed, errors, games = np.array(rows).T
    share = games / games.sum()
    return Reliability(
        forecast=forecasts,
        observed=observed,
        error=errors,
        games=games,
        expected_error=float(share @ np.abs(observed - forecasts)),
        expected_error_error=float(np.sqrt(np.sum((share * errors) ** 2))),
        by_chance=float(np.sqrt(2.0 / np.pi) * (share @ errors)),
    )


def _games(weights: FloatArray) -> FloatArray:
    """Return how many games rows stand for: a weight below 1 is one game all the same."""
    return np.maximum(weights, 1.0)


def coverage(
    groups: IntArray,
    p: FloatArray,
    low: FloatArray,
    high: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    what: str,
) -> Coverage | None:
    """Return how many groups of games won as often as the intervals of their forecasts allow.

    A group's share of wins differs from its mean probability by the luck of its games as well; an
    end of the interval lies from the mean forecast at the root of (mean reach of the group's own
    intervals)² + (1.645 √Σ n (y - p)² / Σ n)².  Errors inside a group are taken as shared.
    """
    inside, n = 0, 0
    for k in np.unique(groups):
        here = np.flatnonzero(groups == k)
        w = weights[here]
        if w.sum() < FEWEST_GAMES:
            continue
        middle, observed = (float(np.average(v[here], weights=w)) for v in (p, y))
        luck = REACH * float(np.sqrt(np.sum(((w * (y - p)[here]) ** 2) / _games(w))) / w.sum())
        below = float(np.average((p - low)[here], weights=w))
        above = float(np.average((high - p)[here], weights=w))
        reach = above if observed > middle else below
        inside += abs(observed - middle) <= np.hypot(reach, luck)
        n += 1
    if n == 0:
        return None
    share = inside / n
    return Coverage(what, LEVEL, n, share, float(np.sqrt(max(share * (1 - share), 0.5 / n) / n)))


def alike(p: FloatArray, weights: FloatArray) -> IntArray:  # (n,)
    """Return groups of forecasts alike in size, of about as many games each."""
    n = int(np.clip(weights.sum() / FEWEST_GAMES, 1, MOST_GROUPS))
    order = np.argsort(p, kind="stable")
    below = np.cumsum(weights[order]) - 0.5 * weights[order]
    groups = np.empty(len(p), dtype=np.int64)
    groups[order] = np.minimum((below / weights.sum() * n).astype(np.int64), n - 1)
    return groups


CLEAR = 2.0  # standard errors from which a gain is called one

# The rungs by name, and in words which simpler ones each is measured by: the first that was run.
COIN, FREQUENCIES, ELO, EVERYTHING = "coin", "frequencies", "Elo", "everything"
SCORES, DRIFTING, PAIRS = "static scores", "drifting scores", "drifting scores + pair effects"
FACTORS, DRIFTING_FACTORS = "static factors", "drifting factors"
THIS_MODEL = "this model"  # that of an answer
LADDER = (COIN, FREQUENCIES, ELO, SCORES, DRIFTING, PAIRS, FACTORS, DRIFTING_FACTORS, EVERYTHING)
BASES = {
    FREQUENCIES: (COIN,),
    ELO: (FREQUENCIES, COIN),
    SCORES: (ELO, COIN),
    DRIFTING: (ELO, SCORES, COIN),
    PAIRS: (DRIFTING,),
    FACTORS: (SCORES,),
    DRIFTING_FACTORS: (DRIFTING,),
    EVERYTHING: (DRIFTING, SCORES, ELO, COIN),
    THIS_MODEL: (DRIFTING, SCORES, ELO, COIN),
}
OTHERS = (ELO, COIN)  # for rungs that are not ours


def tell_left_out(left_out: Mapping[str, str]) -> list[str]:
    """Say which rungs did not run, and why, those for one reason in one sentence."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return [f"Left out: {and_list(some)}. {why}".rstrip() for why, some in names.items()]


@described
@dataclass(frozen=True)
class Rung:
    """One model on the ladder, and how it did; errors are standard errors.

    Examples
    --------
    >>> from intransit.backtest import backtest
    >>> from intransit.data.games import Games
    >>> games = Games.from_arrays(["rock", "paper"] * 100, ["scissors", "rock"] * 100, [1] * 200,
    ...                           range(200))
    >>> coin = backtest(games, ladder=["coin", "Elo"]).rung("coin")
    >>> coin.name, round(coin.log_loss, 4), coin.brier
    ('coin', 0.6931, 0.25)
    """

    name: Annotated[str, "The rung."]
    log_loss: Annotated[float, "Mean log loss of a game."]
    log_loss_error: Annotated[float, "Its error."]
    gain: Annotated[float, "Gain in log loss over the rung below; 0 for the first."]
    gain_error: Annotated[float, "Its error."]
    brier: Annotated[float, "Mean square of result less forecast."]
    brier_error: Annotated[float, "Its error."]
    accuracy: Annotated[float, "Share of decided games that the favourite won."]
    accuracy_error: Annotated[float, "Its error."]
    calibration_error: Annotated[float, "Mean distance of forecast and observed share, in bins."]
    calibration_error_error: Annotated[float, "Its error."]
    calibration_by_chance: Annotated[float, "What a perfect forecaster would show."]
    seconds: Annotated[float, "How long it took."]
    note: Annotated[str, "Which model it was, and what it was tuned to."] = ""


@described
@dataclass(frozen=True, eq=False)
class Forecasts:
    """Every game of the test part, and what each rung expected of it.

    The first item is the one whose name comes first, however the table stored the game.

    Examples
    --------
    >>> from intransit.backtest import backtest
    >>> from intransit.data.games import Games
    >>> games = Games.from_arrays(["rock", "paper"] * 100, ["scissors", "rock"] * 100, [1] * 200,
    ...                           range(200))
    >>> told = backtest(games, ladder=["coin", "Elo"]).forecasts
    >>> told.names[told.first[0]], told.names[told.second[0]], told.probabilities["coin"][0].item()
    ('rock', 'scissors', 0.5)
    """

    names: Annotated[tuple[str, ...], "The items."]
    first: Annotated[IntArray, "(n,): the first item of each game, by number."]
    second: Annotated[IntArray, "(n,): the second."]
    times: Annotated[FloatArray, "(n,): when it was played, in days since 1970 for dates."]
    outcomes: Annotated[FloatArray, "(n,): 1 where first won, 0 where second won, 0.5 for a tie."]
    counts: Annotated[FloatArray, "(n,): how many games a row stands for."]
    blocks: Annotated[IntArray, "(n,): the number of its block."]
    clusters: Annotated[IntArray, "(n,): the number of what counts as one observation."]
    probabilities: Annotated[
        Mapping[str, FloatArray], "By rung, (n,): probability that first wins, a tie as half a win."
    ]
    low: Annotated[
        FloatArray | None,
        '(n,): low end of the 90 % interval by ``"everything"``; None where it was not run.',
    ] = None
    high: Annotated[FloatArray | None, "(n,): high end of the interval."] = None


@described
@dataclass(frozen=True, eq=False)
class Backtest:
    """A ladder of models and how well each forecast the latest games.  See `backtest`.

    Examples
    --------
    >>> from intransit.backtest import backtest
    >>> from intransit.data.games import Games
    >>> games = Games.from_arrays(["rock", "paper"] * 100, ["scissors", "rock"] * 100, [1] * 200,
    ...                           range(200))
    >>> found = backtest(games, ladder=["coin", "frequencies", "Elo"])
    >>> print(found.summary().splitlines()[0])
    arrays: 40 games forecast
    >>> found.rung("coin").accuracy, found.best.name
    (0.5, 'frequencies')

    Each rung is measured by a simpler one:

    >>> found.nested()
    [('frequencies', 'coin'), ('Elo', 'frequencies')]
    >>> gain, error = found.gain("frequencies", over="coin")
    >>> gain > 2 * error > 0
    True
    >>> [row["name"] for row in found.rows()]
    ['coin', 'frequencies', 'Elo']
    """

    source: Annotated[str, "The table."]
    clock: Annotated[Clock, "How its times were read."]
    rungs: Annotated[tuple[Rung, ...], "The models from the plainest on, with losses and errors."]
    forecasts: Annotated[
        Forecasts, "Every game of the test part, and what each rung expected of it."
    ] = field(repr=False)
    reliability: Annotated[
        Mapping[str, Reliability],
        "By rung: how often favourites won, by how strongly they were favoured.",
    ] = field(repr=False)
    coverage: Annotated[
        tuple[Coverage, ...],
        'How many groups of games came out within the intervals of ``"everything"``.',
    ]
    how: Annotated[tuple[str, ...], "How the table was cut, and what part of it was used."]
    left_out: Annotated[Mapping[str, str], "By rung: why it did not run."]
    unit: Annotated[str, 'What counts as one observation, such as ``"day"``.']

    @property
    def on_errors(self) -> str:
        """What the errors are, in words."""
        n, games = len(np.unique(self.forecasts.clusters)), self.forecasts.counts.sum()
        told = f", of which there are {n:,}" if n > 1 else "; there is only one, so none is given"
        were = "1 game was" if games == 1 else f"{games:,.12g} games were"
        decided = self.forecasts.counts[self.forecasts.outcomes != 0.5].sum()
        ties = f" How often the favourite won is counted over the {decided:,.12g} with a winner."
        return (
            f"{were} forecast. Errors are standard errors; all games of one {self.unit} count as "
            f"one observation{told}.{'' if decided == games else ties}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was done, and what was left out and why, in words."""
        return (*self.how, *tell_left_out(self.left_out), self.on_errors)

    @property
    def best(self) -> Rung:
        """The rung of least log loss."""
        return min(self.rungs, key=lambda rung: rung.log_loss)

    @property
    def best_in_words(self) -> str:
        """The best rung, and the plainest of those that it is not clearly better than."""
        best = self.best.name
        for name in (rung.name for rung in self.rungs if rung.name != best):
            gain, error = self.gain(best, name)
            if not gain > CLEAR * error:
                told = with_error(gain, error, sign=True)
                return f"{best}, though not clearly better than {name} ({told})"
        return best

    def rung(self, name: str) -> Rung:
        """Return a rung by name.

        Parameters
        ----------
        name
            Which rung, by name.

        Returns
        -------
        Rung
            Its losses and errors.

        Raises
        ------
        InputError
            If no rung of this name was run.
        """
        check_option("rung", name, tuple(rung.name for rung in self.rungs))
        return next(rung for rung in self.rungs if rung.name == name)

    def gain(self, name: str, over: str) -> tuple[float, float]:
        """Return the gain in log loss of one rung over another, and its standard error.

        Parameters
        ----------
        name, over
            Which rungs, by name: the one that gains, and the one it is measured by.

        Returns
        -------
        gain, error
            Mean over games of the log loss of `over` less that of `name`, and its standard error;
            NaN for the error where all games are one observation.

        Raises
        ------
        InputError
            If no rung of one of these names was run.
        """
        told = self.forecasts
        one, other = (
            log_losses(told.probabilities[self.rung(n).name], told.outcomes) for n in (name, over)
        )
        return mean_and_error(other - one, told.counts, told.clusters)

    def rows(self) -> list[dict[str, str | float | None]]:
        """Return a row for each rung, for tables, CSV and JSON; None where nothing can be said.

        Returns
        -------
        list of dict
            The fields of `Rung`, by name.
        """
        return [
            {
                name: None if isinstance(value, float) and isnan(value) else value
                for name, value in asdict(rung).items()
            }
            for rung in self.rungs
        ]

    def summary(self) -> str:
        """Return what was found in words.

        Returns
        -------
        str
            A table of the rungs, then what beats what, the best rung, and how it was done.
        """
        width = max(len(rung.name) for rung in self.rungs)
        games = self.forecasts.counts.sum()
        lines = [f"{self.source}: {games:,.0f} games forecast", f"  {self.notes[0]}"]
        lines.append(f"  {'':<{width}}  log loss           Brier   right   calibration  seconds")
        lines += [
            f"  {r.name:<{width}}  {with_error(r.log_loss, r.log_loss_error):<15}  {r.brier:.4f}  "
            f"{percent(r.accuracy, 1):>6}   {r.calibration_error:.4f}       {r.seconds:7.1f}"
            for r in self.rungs
        ]
        said = [self._compare(name, base) for name, base in self.nested()]
        lines += [f"{sentence[0].upper()}{sentence[1:]}." for sentence in said]
        lines.append(
            f"Best: {self.best_in_words}. Its forecasts are "
            f"{self.best.calibration_error:.3f} off on average, of which "
            f"{self.best.calibration_by_chance:.3f} is to be expected by chance."
        )
        lines += [
            f"{percent(c.level)} intervals contain the result of {percent(c.share)} ± "
            f"{percent(c.error)} of {c.n_groups} {c.groups}."
            for c in self.coverage
        ]
        return "\n".join([*lines, *self.notes[1:]])

    def nested(self) -> list[tuple[str, str]]:
        """Return each rung but the first, with the simpler one that it is measured by.

        Returns
        -------
        list of tuple of str
            Names of the two rungs, in the order of the ladder.
        """
        there = [rung.name for rung in self.rungs]
        found = []
        for name in there[1:]:
            bases = [base for base in BASES.get(name, OTHERS) if base in there]
            found.append((name, bases[0] if bases else there[there.index(name) - 1]))
        return found

    def _compare(self, name: str, base: str) -> str:
        gain, error = self.gain(name, base)
        if gain > CLEAR * error:
            return f"{name} beats {base} by {with_error(gain, error)}"
        if gain < -CLEAR * error:
            return f"{name} loses to {base} by {with_error(-gain, error)}"
        return f"{name} and {base} do not differ clearly ({with_error(gain, error, sign=True)})"

    def figure(self) -> Any:
        """Return a matplotlib figure: the ladder of log losses, and the reliability curve.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        from intransit.plotting import new_figure  # noqa: PLC0415  loaded when it is needed

        height = max(3.8, 1.6 + 0.36 * len(self.rungs))
        figure, axes = new_figure(11.5, height, 1, 2, width_ratios=(1.7, 1.0))
        _draw_ladder(axes[0, 0], self)
        _draw_reliability(axes[0, 1], self)
        return figure


def _draw_ladder(axis: "Axes", found: Backtest) -> None:
    """Draw losses, with the error of the gain over the rung below, which is what decides."""
    from intransit.plotting import BLUE, GREEN, RED, set_title  # noqa: PLC0415

    rungs = found.rungs
    y = np.arange(len(rungs))
    losses = np.array([rung.log_loss for rung in rungs])
    errors = np.nan_to_num([rung.gain_error for rung in rungs])
    axis.plot(losses, y, "-", color="#bbbbbb", linewidth=1.0, zorder=1)
    for k, rung in enumerate(rungs):
        clear = k > 0 and abs(rung.gain) > CLEAR * rung.gain_error
        colour = "#777777" if not clear else GREEN if rung.gain > 0 else RED
        axis.errorbar(losses[k], y[k], xerr=errors[k], fmt="o", color=colour, capsize=3)
        said = "" if k == 0 else f"{rung.gain:+.4f} ± {rung.gain_error:.4f}"
        axis.text(
            1.01, y[k], said, transform=axis.get_yaxis_transform(), va="center", fontsize=8.5,
            color=colour,
        )  # fmt: skip
    axis.axvline(found.best.log_loss, color=BLUE, linewidth=0.8, linestyle=":")
    axis.set_yticks(y, [rung.name for rung in rungs])
    axis.set_ylim(len(rungs) - 0.4, -0.6)
    axis.set_xlabel("log loss of a game; bars: standard error of the gain")
    set_title(axis, "Log loss, and gains over the rung above", 10)


def _draw_reliability(axis: "Axes", found: Backtest) -> None:
    from intransit.plotting import BLUE, in_percent, set_title  # noqa: PLC0415

    curve = found.reliability[found.best.name]
    axis.axline((0.5, 0.5), slope=1.0, color="#999999", linewidth=0.8)
    axis.errorbar(
        curve.forecast, curve.observed, yerr=np.nan_to_num(curve.error), fmt="none", color=BLUE,
        capsize=2, linewidth=1.0,
    )  # fmt: skip
    size = 15.0 + 150.0 * curve.games / curve.games.max()
    axis.scatter(curve.forecast, curve.observed, s=size, color=BLUE, alpha=0.7, linewidth=0)
    axis.set_xlabel("forecast for the favourite")
    axis.set_ylabel("share that it won, ties as half")
    in_percent(axis.xaxis)
    in_percent(axis.yaxis)
    set_title(axis, f"Reliability of {found.best.name}", 10, wrap=True)
