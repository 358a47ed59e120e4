"""What a backtest found: rungs with their losses and errors, forecasts, and all of it in words."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isnan

from intransit.arrays import FloatArray, IntArray
from intransit.backtest.measures import Coverage, Reliability, log_losses, mean_and_error
from intransit.core.inputs import check_option
from intransit.percent import percent
from intransit.tables import Clock

CLEAR = 2.0  # standard errors from which a gain is called one

# Which rung a richer one is measured by, in words; the first that was run.
BASES = {
    "frequencies": ("coin",),
    "Elo": ("frequencies", "coin"),
    "static scores": ("Elo", "coin"),
    "drifting scores": ("Elo", "static scores", "coin"),
    "drifting scores + pair effects": ("drifting scores",),
    "static factors": ("static scores",),
    "drifting factors": ("drifting scores",),
    "everything": ("drifting scores", "static scores", "Elo", "coin"),
    "this model": ("drifting scores", "static scores", "Elo", "coin"),
}
OTHERS = ("Elo", "coin")  # for rungs that are not ours


@dataclass(frozen=True)
class Rung:
    """One model on the ladder, and how it did; errors are standard errors."""

    name: str
    log_loss: float
    log_loss_error: float
    gain: float  # in log loss over the rung below; 0 for the first
    gain_error: float
    brier: float
    brier_error: float
    accuracy: float  # of decided games
    accuracy_error: float
    calibration_error: float  # mean distance between forecast and observed share, in bins
    calibration_error_error: float
    calibration_by_chance: float  # what a perfect forecaster would show
    seconds: float
    note: str = ""  # which model it was, and what it was tuned to


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Every game of the test part, and what each rung expected of it.

    The first item is the one whose name comes first, however the table stored the game.
    """

    names: tuple[str, ...]
    first: IntArray  # (n,)
    second: IntArray  # (n,)
    times: FloatArray  # (n,)
    outcomes: FloatArray  # (n,)
    counts: FloatArray  # (n,)
    blocks: IntArray  # (n,): number of the block
    clusters: IntArray  # (n,): rows of one number count as one observation
    probabilities: Mapping[str, FloatArray]  # by rung: expected result of first, a tie as half
    low: FloatArray | None = None  # (n,): 90 % intervals of the probabilities of `everything`
    high: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Backtest:
    """A ladder of models and how well each forecast the latest games.  See `backtest`."""

    source: str
    clock: Clock
    rungs: tuple[Rung, ...]
    forecasts: Forecasts = field(repr=False)
    reliability: Mapping[str, Reliability] = field(repr=False)
    coverage: tuple[Coverage, ...]
    notes: tuple[str, ...]  # how it was done, and what was left out and why

    @property
    def best(self) -> Rung:
        """The rung of least log loss."""
        return min(self.rungs, key=lambda rung: rung.log_loss)

    def rung(self, name: str) -> Rung:
        """Return a rung by name."""
        check_option("rung", name, tuple(rung.name for rung in self.rungs))
        return next(rung for rung in self.rungs if rung.name == name)

    def gain(self, name: str, over: str) -> tuple[float, float]:
        """Return the gain in log loss of one rung over another, and its standard error."""
        told = self.forecasts
        one, other = (
            log_losses(told.probabilities[self.rung(n).name], told.outcomes) for n in (name, over)
        )
        return mean_and_error(other - one, told.counts, told.clusters)

    def rows(self) -> list[dict[str, str | float | None]]:
        """Return a row for each rung, for tables, CSV and JSON; None where nothing can be said."""
        return [
            {
                name: None if isinstance(value, float) and isnan(value) else value
                for name, value in asdict(rung).items()
            }
            for rung in self.rungs
        ]

    def summary(self) -> str:
        """Return what was found in words."""
        width = max(len(rung.name) for rung in self.rungs)
        games = self.forecasts.counts.sum()
        lines = [f"{self.source}: {games:,.0f} games forecast", f"  {self.notes[0]}"]
        lines.append(f"  {'':<{width}}  log loss           Brier   right   calibration  seconds")
        lines += [
            f"  {r.name:<{width}}  {r.log_loss:.4f} ± {r.log_loss_error:.4f}  {r.brier:.4f}  "
            f"{percent(r.accuracy, 1):>6}   {r.calibration_error:.4f}       {r.seconds:7.1f}"
            for r in self.rungs
        ]
        said = [self._compare(name, base) for name, base in self.nested()]
        lines += [f"{sentence[0].upper()}{sentence[1:]}." for sentence in said]
        lines.append(
            f"Best: {self.best.name}, {self.best.log_loss:.4f}; its forecasts are "
            f"{self.best.calibration_error:.3f} off on average, of which "
            f"{self.best.calibration_by_chance:.3f} is to be expected by chance."
        )
        lines += [
            f"{percent(c.level)} intervals hold {percent(c.share)} ± {percent(c.error)} of "
            f"{c.n_groups} "
            f"{c.groups}."
            for c in self.coverage
        ]
        return "\n".join([*lines, *self.notes[1:]])

    def nested(self) -> list[tuple[str, str]]:
        """Return each rung but the first, with the simpler one that it is measured by."""
        there = [rung.name for rung in self.rungs]
        found = []
        for name in there[1:]:
            bases = [base for base in BASES.get(name, OTHERS) if base in there]
            found.append((name, bases[0] if bases else there[there.index(name) - 1]))
        return found

    def _compare(self, name: str, base: str) -> str:
        gain, error = self.gain(name, base)
        if gain > CLEAR * error:
            return f"{name} beats {base} by {gain:.4f} ± {error:.4f}"
        if gain < -CLEAR * error:
            return f"{name} loses to {base} by {-gain:.4f} ± {error:.4f}"
        return f"{name} and {base} are not told apart ({gain:+.4f} ± {error:.4f})"

    def figure(self) -> object:
        """Return a matplotlib figure: the ladder of log losses, and the reliability curve."""
        from intransit.backtest.drawing import draw_backtest  # noqa: PLC0415  (needs an extra)

        return draw_backtest(self)
