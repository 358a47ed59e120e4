"""How an outcome follows from a margin: readings, wins, ties, levels of victory, sides.

Outcomes are levels -K, ..., K as the first item sees them; a level k or better has probability

    P(level >= k)  =  1 / (1 + exp(-(x + advantage · side - b_k)))

with boundaries that are mirror images, b_k = cuts[k - 1] and b_{1-k} = -cuts[k - 1], so that the
second item sees the same law.  Wins alone are K = 1 with cuts (0,), ties widen the first cut, and
levels of victory add further ones.  As

    -log P(level = k)  =  softplus(b_k - x) + softplus(x - b_{k+1}) - log(1 - e^{b_k - b_{k+1}})

a level is a win against its lower boundary and a loss against its upper one: convex in the margin,
and jointly in margin, advantage and cuts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from intransit.arrays import FloatArray
from intransit.data.cells import Cells
from intransit.inference.cell_kernels import logistic_terms, ordered_terms
from intransit.inference.law_kernels import average_logistic
from intransit.model.laws import Kind, boundaries, expected_results

CutTerms = tuple[float, FloatArray, FloatArray]  # value, gradient, Hessian

MOST_STEPS = 50
MOST_TURNS = 20
STILL = 1e-4  # of an advantage or a cut: what ends the search
GAINED = 1e-4  # log likelihood that a step promises: what ends a search for cuts
SHORTEST = 1e-6  # part of a step
NARROWEST = 1e-6  # width of a level
WIDEST = 3.0  # standard deviation of an advantage: its prior, so that it stays finite


@dataclass(frozen=True)
class Law:
    """What is known or assumed of outcomes, given margins."""

    kind: Kind
    cuts: tuple[float, ...] = ()  # for levels
    advantage: float = 0.0  # what the better side adds to a margin
    noise_scale: float = 1.0  # of a reading about its margin

    @property
    def levels(self) -> bool:
        """Whether outcomes are levels."""
        return self.kind == "ordered"

    def expect(self, mean: FloatArray, variance: FloatArray, sides: FloatArray) -> FloatArray:
        """Return the expected result of the first item, a tie as half a win.

        Averaged over what is not known of the margin; with items and sides swapped it is 1 minus
        that, exactly.
        """
        x = mean + self.advantage * sides
        if self.kind == "squared":
            less = ndtr(-np.abs(x) / np.sqrt(variance + self.noise_scale**2))
            return np.asarray(np.where(x < 0, less, 1.0 - less))
        if self.kind == "logistic" or self.cuts[0] == 0.0:
            return average_logistic(x, variance)
        size = np.abs(x)
        above, below = (average_logistic(size + c, variance) for c in (-self.cuts[0], self.cuts[0]))
        half = np.where(size == 0, 0.5, 0.5 * (above + below))
        return np.asarray(np.where(x < 0, 1.0 - half, half))

    def spread(self, mean: FloatArray, variance: FloatArray, sides: FloatArray) -> FloatArray:
        """Return the probability of every level, from -K to K, (n, 2 K + 1); of losses and wins.

        Averaged over what is not known of the margin.
        """
        x = mean + self.advantage * sides
        if self.kind == "squared":
            win = self.expect(mean, variance, sides)
            return np.stack([1.0 - win, np.zeros_like(win), win], axis=-1)
        cuts = np.array(self.cuts or (0.0,))
        edges = np.concatenate([-cuts[::-1], cuts])
        least = np.stack([average_logistic(x - edge, variance) for edge in edges], axis=-1)
        ends = [np.ones_like(x)[..., None], least, np.zeros_like(x)[..., None]]
        return np.maximum(-np.diff(np.concatenate(ends, axis=-1), axis=-1), 0.0)

    def plain(self, margins: FloatArray, sides: FloatArray) -> FloatArray:
        """Return the expected result at known margins."""
        cut = self.cuts[0] if self.cuts else 0.0
        return expected_results(self.kind, margins + self.advantage * sides, cut, self.noise_scale)


@dataclass(frozen=True, eq=False)
class CellLoss:
    """Minus a log likelihood, as a function of the margins of the cells, each on its own.

    What a side is worth is part of these margins.
    """

    law: Law
    cells: Cells  # what was seen, in the order of the margins

    def all_of(
        self, x: FloatArray, room: FloatArray | None = None
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return minus the log likelihood, and its slope and curvature in each cell's margin.

        Slopes may take the place of the margins, and curvatures may stand in the room.
        """
        cells = self.cells
        if self.law.kind == "squared":  # constants included, so that scales can be compared
            n, scale = cells.n_rows, self.law.noise_scale
            constant = n * np.log(scale * np.sqrt(2 * np.pi)) - 0.5 * cells.log_counts
            value, curvature = 0.5 * self.energy(x) / scale**2, cells.counts / scale**2
            return value + float(constant), curvature * (x - cells.means), curvature
        curvature = np.empty_like(x) if room is None else room
        if self.law.levels:
            value = ordered_terms(x, cells.counts, *self.bounds(), x, curvature)
        else:
            value = logistic_terms(x, cells.counts, cells.means, x, curvature)
        return value, x, curvature

    def value(self, x: FloatArray) -> float:
        """Return minus the log likelihood."""
        return self.all_of(x.copy())[0]

    def terms(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return its slope and its second derivative in each cell's margin."""
        return self.all_of(x.copy())[1:]

    def energy(self, x: FloatArray) -> float:
        """Return Σ counts (outcome - x)² over rows, of readings."""
        miss = x - self.cells.means
        return float(self.cells.counts @ miss**2) + self.cells.spread

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the boundaries below and above each cell's level; infinite at the ends."""
        edges = boundaries(np.array(self.law.cuts))
        at = self.cells.means.astype(np.int64) + len(self.law.cuts)
        return edges[at], edges[at + 1]


def single_games(law: Law, outcomes: FloatArray) -> CellLoss:
    """Return the loss of games one by one, whoever plays them and when."""
    n = len(outcomes)
    nobody = np.zeros((n, 2), np.int64)
    cells = Cells(np.zeros(1), nobody[:, 0], nobody, np.ones(n), outcomes, n, 0.0, 0.0)
    return CellLoss(law, cells)


def first_law(kind: Kind, cells: Cells, advantage: float) -> Law:
    """Return a law to start from: cuts where levels would be were all items equal."""
    if kind != "ordered":
        return Law(kind, advantage=advantage)
    size = np.abs(cells.means).astype(np.int64)
    return Law(kind, first_cuts(np.bincount(size, cells.counts, 2).astype(float)), advantage)


def first_cuts(seen: FloatArray) -> tuple[float, ...]:
    """Return cuts from how often each size of a level was seen, from 0."""
    often = np.maximum(seen, 0.5)
    if seen[0] == 0.0:
        often[0] = 0.0
    below = np.minimum(np.cumsum(often)[:-1] / often.sum(), 1.0 - 1e-6)
    cuts = np.log1p(below) - np.log1p(-below)  # so large is |x| of a logistic at most, so often
    return tuple(cuts.tolist())


def best_law(
    loss: CellLoss,
    x: FloatArray,  # (n_cells,): margins without what a side is worth
    *,
    seeks_side: bool,
    total: Callable[[Any], Any],  # adds up over all shards
    roughly: bool = False,
) -> Law:
    """Return the law with the cuts, and if it is sought the advantage, that fit these margins.

    In turns, each by Newton's method: the likelihood is concave in both.  Roughly is a step of
    each, for a search that comes back.
    """
    n_steps = 1 if roughly else MOST_STEPS
    law, cells = loss.law, loss.cells
    sides = np.zeros(len(cells)) if cells.sides is None else cells.sides
    for _ in range(MOST_TURNS):
        before = law
        if seeks_side:
            pulls = _added_up(total, partial(side_pulls, CellLoss(law, cells), x, sides))
            law = replace(law, advantage=best_side(pulls, law.advantage, n_steps))
        if law.levels:
            ends = Ends(cells, x + law.advantage * sides, len(law.cuts))
            law = replace(law, cuts=best_cuts(_added_up(total, ends.terms), law.cuts, n_steps))
        if roughly or far(before, law) < STILL or not (seeks_side and law.levels):
            break
    return law


def _added_up(
    total: Callable[[Any], Any], terms: Callable[..., tuple[Any, ...]]
) -> Callable[..., Any]:
    """Return terms of the cells here with those of other shards, if there are any."""
    return lambda at: tuple(total(np.asarray(part)) for part in terms(at))


def far(before: Law, after: Law) -> float:
    """Return the largest change of a cut or of the advantage."""
    moves = np.abs(np.subtract(before.cuts, after.cuts))
    return float(np.max(moves, initial=abs(before.advantage - after.advantage)))


def side_pulls(
    loss: CellLoss, x: FloatArray, sides: FloatArray, side: float
) -> tuple[float, float]:
    """Return first and second derivative of the loss in the advantage; cells add up."""
    slope, curvature = loss.terms(x + side * sides)
    return float(sides @ slope), float(sides**2 @ curvature)


def best_side(
    pulls: Callable[[float], tuple[float, float]], side: float, n_steps: int = MOST_STEPS
) -> float:
    """Return the best advantage, given derivatives of the loss in it."""
    for _ in range(n_steps):
        slope, curvature = pulls(side)
        step = -(slope + side / WIDEST**2) / (curvature + 1.0 / WIDEST**2)
        side += float(np.clip(step, -1.0, 1.0))
        if abs(step) < STILL:
            break
    return side


def best_cuts(
    terms: Callable[[FloatArray], CutTerms], start: tuple[float, ...], n_steps: int = MOST_STEPS
) -> tuple[float, ...]:
    """Return the best cuts, given the loss in them (`Ends`); a first cut of 0 stays there."""
    cuts = np.array(start)
    free = np.arange(len(cuts)) >= int(cuts[0] == 0.0)
    if not free.any():
        return start
    value, gradient, hessian = terms(cuts)
    for _ in range(n_steps):
        step = np.zeros(len(cuts))
        step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        gain, length = -float(gradient @ step), 1.0
        while length > SHORTEST:
            there = cuts + length * step
            if (np.diff(there, prepend=0.0)[free] > NARROWEST).all():
                ahead = terms(there)
                if ahead[0] <= value - 1e-4 * length * gain:
                    break
            length *= 0.5
        else:
            break
        cuts, (value, gradient, hessian) = there, ahead
        if gain <= GAINED:
            break
    return tuple(cuts.tolist())


class Ends:
    """Minus the log likelihood of levels, in the cuts alone.

    Cells add up.  A boundary below a level adds softplus(b - x), one above it softplus(x - b); each
    is plus or minus one of the cuts.  The width of the level adds -log(1 - exp(-width)).
    """

    def __init__(self, cells: Cells, x: FloatArray, n: int) -> None:
        level = cells.means.astype(np.int64)
        self.parts = []
        for above, boundary in ((1.0, level), (-1.0, level + 1)):
            inside = np.flatnonzero((boundary > -n) & (boundary <= n))
            b = boundary[inside]
            mirror = np.where(b > 0, 1.0, -1.0)
            cut = np.where(b > 0, b - 1, -b)
            self.parts.append((above, mirror, cut, x[inside], cells.counts[inside]))
        self.often = np.bincount(level + n, cells.counts, minlength=2 * n + 1)[1:-1]
        mirrored = np.concatenate([-np.eye(n)[::-1], np.eye(n)])
        self.widths = np.diff(mirrored, axis=0)  # (2 n - 1, n): of the inner levels, from the cuts

    def terms(self, cuts: FloatArray) -> CutTerms:
        """Return value, gradient and Hessian."""
        n = len(cuts)
        value, gradient, diagonal = 0.0, np.zeros(n), np.zeros(n)
        for above, mirror, cut, x, counts in self.parts:
            gap = above * (mirror * cuts[cut] - x)
            chance = expit(gap)
            value += float(counts @ np.logaddexp(0.0, gap))
            gradient += np.bincount(cut, above * mirror * counts * chance, minlength=n)
            diagonal += np.bincount(cut, counts * chance * (1.0 - chance), minlength=n)
        seen = self.often > 0
        often, rows = self.often[seen], self.widths[seen]
        width = rows @ cuts
        value -= float(often @ np.log(-np.expm1(-width)))
        odds = np.exp(-width) / -np.expm1(-width)
        gradient -= rows.T @ (often * odds)
        hessian = np.diag(diagonal) + (rows.T * (often * odds * (1.0 + odds))) @ rows
        return value, gradient, hessian
