"""Which model a table asks for: each tried on the latest games, learnt from those before them.

Scales come from the evidence, which also lets effects of pairs vanish where there are none.  What
the evidence cannot judge, because it looks back, is judged by forecasts: how fast strengths drift
(a fluctuation that does not last looks like drift to it), and how many factors there are.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from intransit.answers.forecast import Tried
from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.law import Kind
from intransit.errors import ConvergenceWarning, InputError
from intransit.fitting import foretell
from intransit.smooth import smooth
from intransit.timeline import Timeline
from intransit.trajectory import Trajectory

HELD_BACK = 0.2  # of the games, the latest
FOLDS = 4  # parts that they are foretold in, each from all before it
FEWEST = 30  # games to be foretold, and to learn from: with fewer nothing is chosen
FEWEST_TIMES = 5  # moments; with fewer nothing is said of drift
MOST_FACTORS = 3
CLEAR = 1.0  # standard errors by which another model must pay
SURE = 2.0  # and by which factors must, which chance finds everywhere
SLOW = 0.25  # of the drift that the evidence sees
WORTH = 1e-4  # of log loss: a smaller gain is worth nothing
MOST_GAMES = 15_000  # that the search looks at, the latest
MOMENTS = 40  # that the search tells apart
MOST_STEPS, FEW_STEPS = 300, 50  # of a fit, and of one in the search
N_DRAWS = 12  # enough to compare models by
UNLIKELY = 0.2  # p value of a ranking above which factors are not looked for
SURELY = 0.02  # and below which pairs differ from it, whatever the latest games say

Report = Callable[[str], None]


@dataclass(frozen=True)
class Model:
    """One way to explain a table."""

    factors: int = 0
    pairs: bool = False
    drifting: bool = True
    slowly: bool = False  # a quarter as fast as the evidence says
    turning: bool = False  # effects of pairs change too, not only strengths

    @property
    def name(self) -> str:
        """The model in words."""
        said = "drifting scores" if self.drifting else "static scores"
        if self.drifting and self.slowly:
            said = "slowly drifting scores"
        if self.factors:
            said += f" + {self.factors} factor{'' if self.factors == 1 else 's'}"
        if self.pairs:
            said += " + drifting pair effects" if self.turning else " + pair effects"
        return said

    def without_pairs(self) -> "Model":
        """Return the same without effects of pairs."""
        return replace(self, pairs=False, turning=False)

    def see(self, data: Timeline) -> Timeline:
        """Return comparisons as the model sees them: without drift all at one time."""
        if self.drifting:
            return data
        return Timeline(replace(data.rows, times=np.zeros(len(data))), data.n_items)

    def fit(
        self, data: Timeline, loss: Kind, rng: int, *, max_steps: int = MOST_STEPS
    ) -> Trajectory:
        """Fit it, scales from the data."""
        drift = "auto" if self.drifting else 0.0
        path = smooth(
            self.see(data),
            n_factors=self.factors,
            scores=True,
            loss=loss,
            drift_scale=drift,  # type: ignore[arg-type]
            pair_scale="auto" if self.pairs else 0.0,
            pair_drift_scale="auto" if self.turning else 0.0,
            polish=False,
            max_steps=max_steps,
            rng=rng,
        )
        if self.drifting and self.slowly:
            return self.slow(path, data, loss, rng, max_steps=max_steps)
        return path

    def slow(
        self, path: Trajectory, data: Timeline, loss: Kind, rng: int, *, max_steps: int
    ) -> Trajectory:
        """Return the same with slower drift, other scales as they are."""
        found = path.scales
        return smooth(
            data,
            n_factors=self.factors,
            scores=True,
            loss=loss,
            drift_scale=SLOW * found.drift_scale,
            prior_scale=found.prior_scale,
            score_drift_scale=SLOW * found.score_drift_scale,
            score_prior_scale=found.score_prior_scale,
            pair_scale=found.pair_scale,
            pair_drift_scale=found.pair_drift_scale,
            max_steps=max_steps,
            rng=rng,
        )


@dataclass(frozen=True, eq=False)
class Chosen:
    """The model, fitted to everything, and what was tried on the way."""

    model: Model
    path: Trajectory
    tried: tuple[Tried, ...]
    gain: tuple[float, float] | None = None  # from all that no ranking explains; standard error


def choose(
    data: Timeline,
    loss: Kind,
    *,
    factors: int | None = None,
    pairs: bool | None = None,
    drifting: bool | None = None,
    p_value: float = 0.0,
    rng: int = 0,
    report: Report = lambda _: None,
) -> Chosen:
    """Return the model that foretells the latest games best, fitted to all; None leaves it open.

    `p_value` is that of a test of transitivity.  Where nothing speaks against a ranking, factors
    are not looked for; where much does, the model has a part that no ranking explains.
    """
    timed = len(np.unique(data.times)) >= FEWEST_TIMES
    moving = timed if drifting is None else drifting
    has_pairs = pairs is not False
    base = Model(factors or 0, has_pairs, moving, turning=moving and has_pairs)
    search = _Search(data, loss, rng, report)
    if search.is_possible and (moving or None in (factors, pairs)):
        search.begin(base)
        if moving:  # slower only where that clearly pays: it makes everything look surer
            search.offer(replace(search.best, slowly=True))
        if pairs is None:
            search.offer(search.best.without_pairs(), simpler=True)
        if moving and drifting is None:
            # Where pairs have effects, these may change after the last game: drift stays unless
            # it costs something, or later times would look as sure as the last.
            still = replace(search.best, drifting=False, slowly=False, turning=False)
            search.offer(still, simpler=not search.best.pairs)
        if factors is None and p_value < UNLIKELY:
            # Where pairs deviate from scores, two factors may do what one cannot.
            fewest = 2 if search.best.pairs else 1
            most = min(MOST_FACTORS, (data.n_items - 1) // 2)
            for n in range(1, most + 1):  # first in place of effects of pairs, if open
                plain = search.best if pairs else search.best.without_pairs()
                if not search.offer(replace(plain, factors=n), needed=SURE) and n >= fewest:
                    break
        fast = search.best.drifting and not search.best.slowly
        if moving and search.best.factors and not fast:  # what drifts may be the factors
            search.offer(replace(search.best, drifting=True, slowly=False), needed=0.0)
        if pairs is None and search.best.factors and search.leaves_pairs(search.best):
            beside = replace(search.best, pairs=True, turning=search.best.drifting)
            search.offer(beside, needed=SURE)
        base = search.best
        if p_value < SURELY and pairs is None and not base.factors:
            base = replace(base, pairs=True, turning=base.drifting)
    report(f"fitting {base.name}")
    path = base.fit(data, loss, rng)
    if path.scales.pair_scale == 0.0:
        base = base.without_pairs()  # they have vanished
    return Chosen(base, path, tuple(search.tried), search.gain_of_cycles())


class _Search:
    """Models tried so far on the latest games, and the best of them."""

    def __init__(self, data: Timeline, loss: Kind, rng: int, report: Report) -> None:
        self.loss, self.rng, self.report = loss, rng, report
        self.early, self.folds = _split(_coarse(_latest(data)), rng)
        self.weights = np.concatenate([fold.counts for fold in self.folds])
        self.meetings = _meetings(self.folds)
        self.tried: list[Tried] = []
        self.scores: dict[Model, FloatArray] = {}
        self.fitted: dict[Model, Trajectory] = {}

    @property
    def is_possible(self) -> bool:
        """Whether there is enough to learn from, and to foretell."""
        return len(self.early) > 0 and min(self.early.counts.sum(), self.weights.sum()) >= FEWEST

    def begin(self, model: Model) -> None:
        """Take a first model."""
        self.best, self.score = model, self._judge(model)
        self.tried.append(Tried(model.name, self._loss(self.score), 0.0, 0.0, True))

    def offer(self, model: Model, *, needed: float = CLEAR, simpler: bool = False) -> bool:
        """Try another model; keep it if it gains enough, or if it is simpler and loses nothing."""
        score = self._judge(model)
        gain, error = _gain(score - self.score, self.weights, self.meetings)
        alike = abs(gain) < WORTH and error < WORTH
        kept = bool(gain > max(needed * error, WORTH) or (simpler and alike))
        self.tried.append(Tried(model.name, self._loss(score), gain, error, kept))
        if kept:
            self.best, self.score = model, score
        return kept

    def gain_of_cycles(self) -> tuple[float, float] | None:
        """Return what all that no ranking explains gains in log loss, with its standard error.

        That of the best model over the same without it; or of the best model tried that has any.
        """
        if not self.tried:
            return None
        cyclic = [model for model in self.scores if model.factors or model.pairs]
        model = self.best
        if model not in cyclic:
            if not cyclic:
                return None
            model = max(cyclic, key=lambda one: float(self.scores[one].sum()))
        plain = replace(model.without_pairs(), factors=0)
        score = self.scores[plain] if plain in self.scores else self._judge(plain)
        return _gain(self.scores[model] - score, self.weights, self.meetings)

    def leaves_pairs(self, model: Model) -> bool:
        """Return whether the residuals of pairs are larger than their noise, as effects make them.

        Where they are not, effects of pairs would vanish, which takes long to find out.
        """
        problem, z = (path := self._fit(model)).problem, path.solution.z
        slope, noise = problem.loss.terms(problem.margins(z))
        cells = problem.loss.cells
        _, pair = np.unique(cells.pairs, axis=0, return_inverse=True)
        total, own = np.bincount(pair.ravel(), slope), np.bincount(pair.ravel(), noise)
        return bool(np.sum(total**2 - own) > 0.0)

    def _loss(self, score: FloatArray) -> float:
        return float(-score.sum() / self.weights.sum())

    def _fit(self, model: Model) -> Trajectory:
        """Fit to the early games; slow and fast drift share the search for scales."""
        full = replace(model, slowly=False)
        if full not in self.fitted:
            self.fitted[full] = full.fit(self.early, self.loss, self.rng, max_steps=FEW_STEPS)
        path = self.fitted[full]
        if not model.slowly:
            return path
        return model.slow(path, self.early, self.loss, self.rng, max_steps=FEW_STEPS)

    def _judge(self, model: Model) -> FloatArray:  # (n_rows,)
        """Return the log probability of every row held back, each part foretold from all before."""
        self.report(f"trying {model.name}")
        with warnings.catch_warnings():  # near enough will do, to compare models by
            warnings.simplefilter("ignore", ConvergenceWarning)
            path, scores = self._fit(model), []
            for k, fold in enumerate(self.folds):
                scores.append(_results(path, fold))
                if k + 1 < len(self.folds):
                    path = _further(path, model.see(fold))
        self.scores[model] = np.concatenate(scores)
        return self.scores[model]


def _further(path: Trajectory, games: Timeline) -> Trajectory:
    try:
        return path.update(games)
    except InputError:  # a level that did not occur before, such as the first tie
        return path


def _results(path: Trajectory, games: Timeline) -> FloatArray:  # (n_rows,)
    return foretell(path.fitted, games.rows, path.settings, n_draws=N_DRAWS, results=True)


def _latest(data: Timeline) -> Timeline:
    """Return the latest games, as many as a search can go through in seconds."""
    if data.counts.sum() <= MOST_GAMES:
        return data
    order = np.argsort(data.times, kind="stable")
    later = np.cumsum(data.counts[order][::-1])[::-1]
    last = min(int(np.searchsorted(-later, -MOST_GAMES)), len(data) - 1)
    begin = data.times[order][last]
    late = data.times >= begin
    return _part(data, late) if len(np.unique(data.times[late])) >= FEWEST_TIMES else data


def _coarse(data: Timeline) -> Timeline:
    """Return the comparisons filed under fewer moments, to be quick."""
    axis = np.unique(data.times)
    if len(axis) <= 2 * MOMENTS:
        return data
    step = (axis[-1] - axis[0]) / MOMENTS
    times = axis[0] + step * np.floor((data.times - axis[0]) / step)
    return Timeline(replace(data.rows, times=times), data.n_items)


def _split(data: Timeline, rng: int) -> tuple[Timeline, list[Timeline]]:
    """Return what to learn from, and parts to foretell: the latest, or some at random."""
    order = np.argsort(data.times, kind="stable")
    below = np.cumsum(data.counts[order])
    shares = 1.0 - HELD_BACK * (1.0 - np.arange(FOLDS) / FOLDS)
    cuts = np.unique(data.times[order][np.searchsorted(below, shares * below[-1])])
    late = data.times >= cuts[0]
    if len(np.unique(data.times)) >= FEWEST_TIMES and np.average(late, weights=data.counts) < 0.5:
        edges = [*cuts, np.inf]
        parts = [
            _part(data, (data.times >= low) & (data.times < high)) for low, high in pairwise(edges)
        ]
        return _part(data, ~late), parts
    # Time says nothing: games, not rows, at random.
    counts = data.counts
    whole = np.floor(counts).astype(np.int64)
    held = np.random.default_rng(rng).binomial(whole, HELD_BACK).astype(float)
    return _part(data, counts > held, counts - held), [_part(data, held > 0, held)]


def _part(data: Timeline, which: BoolArray, counts: FloatArray | None = None) -> Timeline:
    rows = data.rows if counts is None else replace(data.rows, counts=counts)
    return Timeline(rows.only(np.asarray(which)), data.n_items)


def _meetings(folds: list[Timeline]) -> IntArray:  # (n_rows,)
    """Return a number for every row: those of one pair at one time share it."""
    pairs = np.concatenate([np.sort(fold.pairs, axis=1) for fold in folds])
    keys = np.column_stack([pairs, np.concatenate([fold.times for fold in folds])])
    return np.asarray(np.unique(keys, axis=0, return_inverse=True)[1].ravel())


def _gain(gains: FloatArray, weights: FloatArray, groups: IntArray) -> tuple[float, float]:
    """Return the mean gain a game, and its standard error.

    A row is the sum over its games; rows of one group count as one observation.
    """
    total = weights.sum()
    mean = float(gains.sum() / total)
    off = np.bincount(groups, gains - mean * weights)
    return mean, float(np.sqrt(np.sum(off**2)) / total)
