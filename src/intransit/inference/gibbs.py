"""Exact Gibbs sampling of a whole model: states, scales, cuts, sides, newcomers.

A sweep draws, in turn and each given all the rest,

0. where scores are wide, how large the other terms are: by a chain of its own, the guide, whose
   scores are not (a cut posterior, see `Layout.guide`); now and then the size of all margins and
   the outermost cut, under the law itself; planes among those that give the same margins
   (`scale_kernels`),
1. a weight for every cell, which makes its likelihood Gaussian (`law_kernels`),
2. every item's path of score and factors, then every other path (`path_kernels`); effects of
   pairs and sides with their scale and rate, from which their paths are integrated out,
3. what newcomers are worth on average, and how far apart parts of the field are that hardly meet,
4. every other scale, given the states, with the states moving along, and against its rate; how
   fast walks return to 0; how unevenly scores move, and the pace of each of their gaps
   (`scale_kernels`, `walk_kernels`),
5. the cuts between levels, or the noise of readings.

Nothing is tuned and nothing is approximated but the weight of cells of many games, see
`law_kernels`.  All random numbers of a chain come from its own generator.
"""

from copy import copy
from dataclasses import dataclass, fields

import numpy as np

from intransit.arrays import FloatArray
from intransit.inference.law_kernels import (
    LOGISTIC,
    ORDERED,
    SQUARED,
    draw_cuts,
    draw_last_cut,
    squared_residuals,
    weigh_levels,
    weigh_readings,
    weigh_wins,
)
from intransit.inference.likelihood import first_cuts
from intransit.inference.path_kernels import (
    draw_numbers,
    gather_numbers,
    item_margins,
    items_kernel,
)
from intransit.inference.paths import Layout, Numbers, Paths, Transitions
from intransit.inference.scale_kernels import (
    change_planes,
    draw_gauge,
    draw_item_scales,
    draw_scale,
    draw_size,
    grow_without_paths,
    number_parts,
    part_lines,
    plane_gram,
    squares_of,
)
from intransit.inference.walk_kernels import (
    draw_jumps,
    draw_paces,
    draw_reversion,
    gap_sums,
    grow_walks,
    score_steps,
)
from intransit.model.laws import OutcomeLaw, Readings
from intransit.model.terms import (
    Factors,
    HalfCauchy,
    Scale,
    Scores,
    Side,
    first_jumps,
    first_rate,
    first_reversion,
    jumps_of,
    prior_scale,
    rate_of,
    reversion_of,
    start_value,
)

REFRESH = 20  # sweeps after which margins are added up anew, lest rounding gather
SETTLE = 40  # sweeps from a random start before scales move: small states pull them to 0 for long
SIZE_EVERY = 4  # sweeps: a draw of the size of all margins costs about a seventh of one
JUMPS_EVERY = 4  # sweeps: a draw of the size of jumps costs about as much
# Draws of rate, reversion and jumps with scores moving along, a sweep: with 3 the worst pair has
# 2.5 times the effective draws that it has with none, with 1 twice (8 tables; a trial).
WALK_DRAWS = 3
# Powers of the factor by which rate, reversion and jumps grow in one of them.
WALK_MOVES = np.array([[0.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
# States from which on there is one in JUMPS_EVERY sweeps: many paths tell how walks move (7,200
# states of 300 items: 140 ± 18 effective draws of the worst pair, 115 ± 31 with three; a trial).
MANY_STATES = 5_000
# States from which on jumps are drawn a quarter as often: a look at their size costs a tenth of a
# sweep of scores there, and a draw takes a dozen (168,000 states; a profile).
VERY_MANY_STATES = 50_000
# Cells times squared directions from which on tiers move with their paths in one of so many sweeps.
MANY_PRODUCTS, TIERS_EVERY = 4_000_000, 4
STIFFEST = 1e-16  # variance of a path's walk over the whole time, at least, in squared units
NOTHING = 1e-6  # scale of a term that is not there
HELD = np.zeros(4)  # no likelihood: states are held


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw of everything that is not known.

    Attributes
    ----------
    states
        Of items: score, u, v.
    numbers
        Of the other terms, one array each.
    scales, rates, reversions
        Scores first, then one scale a plane; rates and reversions of scores and of planes, a unit
        of time.
    number_scales, number_rates, number_reversions
        Of the other terms.
    newcomers
        What newcomers are worth on average beside those who were there from the start.
    tiers
        How far apart parts of the field are that hardly meet; 0 if all do.
    jumps
        How unevenly scores move.
    cuts, noise
        Of the law.
    """

    states: FloatArray  # (n_states, 1 + 2 r)
    numbers: tuple[FloatArray, ...]
    scales: FloatArray  # (1 + r,)
    rates: FloatArray  # (2,)
    reversions: FloatArray  # (2,)
    number_scales: FloatArray  # (n_numbers,)
    number_rates: FloatArray  # (n_numbers,)
    number_reversions: FloatArray  # (n_numbers,)
    newcomers: float
    tiers: float
    jumps: float
    cuts: FloatArray  # (n_cuts,)
    noise: float


class Chain:
    """One chain of draws: where it is, and how it goes on."""

    def __init__(
        self,
        layout: Layout,
        law: OutcomeLaw,
        rng: np.random.Generator,
        start: Draw | None = None,
        *,
        unit: float | None = None,  # of margins; by default of what was seen
    ) -> None:
        self.layout, self.law, self.rng = layout, law, rng
        seen, r = layout.seen, layout.n_factors
        self.counts, self.means = map(np.ascontiguousarray, (seen.counts, seen.means))
        self.first, self.second = layout.first, layout.second
        self.unit = _unit(layout, law) if unit is None else unit
        least = STIFFEST / layout.span
        self._stiffest = least * np.array([self.unit**2, *[self.unit] * (2 * r)])
        self._scores, self._factors = layout.model.term(Scores), layout.model.term(Factors)
        scores = NOTHING if self._scores is None else self._scores.scale
        factors = NOTHING if self._factors is None else self._factors.scale
        self._priors = np.array([self._prior(scores), *[self._prior(factors, root=True)] * r])
        walks = [None if term is None else term.walk for term in (self._scores, self._factors)]
        span = layout.span
        self._rate_priors = np.array([rate_of(walk, span)[1] for walk in walks])
        self._reversion_priors = np.array([reversion_of(walk, span)[1] for walk in walks])
        self.guide: Chain | None = None
        if layout.guide is not None:
            self.guide = Chain(layout.guide, law, rng.spawn(1)[0], start, unit=unit)
            self._priors[1:] = self._rate_priors[1] = self._reversion_priors[1] = 0.0
        self.jumps, self._jumps_prior = first_jumps(walks[0]), jumps_of(walks[0])[1]
        self.newcomers, self.tiers, self.n_sweeps, often = 0.0, 0.0, 0, _often(layout)
        self.settle = 0 if start is not None else SETTLE
        if start is None:
            self._begin(often)
        else:
            self._resume(start)
        self._degrees = None if self._scores is None else self._scores.degrees
        self.spread = np.ones(layout.seen.n_items)
        self._begin_means()
        self._draw_spread()
        self.x, self.w, self.pull = (np.zeros(len(seen)) for _ in range(3))
        self.cells = self.x, self.w, self.pull  # changed in place, always
        self.below, self.above, self.parts = (np.zeros(len(seen)) for _ in range(3))
        self._often = often[:-1]  # but for the largest
        self._steps = Transitions(layout.items, self.reversions)
        self._number_steps = [
            Transitions(one.paths, self.number_reversions[k : k + 1])
            for k, one in enumerate(layout.numbers)
        ]
        self._margins()
        if start is not None:
            self._draw_jumps()

    def _begin(self, often: FloatArray) -> None:
        """Set out from flat paths at random, and from likely scales."""
        layout, span, r = self.layout, self.layout.span, self.layout.n_factors
        both = self._scores, self._factors
        scores, *planes = [NOTHING if term is None else start_value(term.scale) for term in both]
        units = np.array([self.unit, *[np.sqrt(self.unit)] * r])
        self.scales = np.array([scores, *planes * r]) * units
        walks = [None if term is None else term.walk for term in both]
        self.rates = np.array([first_rate(walk, span) for walk in walks])
        self.reversions = np.array([first_reversion(walk, span) for walk in walks])
        width = np.concatenate([self.scales, self.scales[1:]])
        self.states = width * self.rng.standard_normal((layout.items.n_states, 1 + 2 * r))
        self.states = self.states[layout.items.start]
        self.numbers = [np.zeros(one.paths.n_states) for one in layout.numbers]
        self.number_scales = np.array(
            [self.unit * start_value(one.term.scale) for one in layout.numbers]
        )
        walks = [one.term.walk for one in layout.numbers]
        self.number_rates = np.array([first_rate(walk, span) for walk in walks])
        self.number_reversions = np.array([first_reversion(walk, span) for walk in walks])
        self.cuts = np.array(first_cuts(often) if len(often) else ())
        self.noise = 0.3 * self.unit
        if isinstance(self.law, Readings) and not isinstance(self.law.noise, HalfCauchy):
            self.noise = float(self.law.noise)

    def _begin_means(self) -> None:
        """Set out what first scores are drawn around: newcomers, and parts that hardly meet."""
        layout, tiers = self.layout, self.layout.tiers
        new = layout.newcomer[:, None] if self._scores is not None else np.zeros((0, 1), bool)
        if not new.any() or new.all():
            self.newcomers, new = 0.0, np.zeros((layout.seen.n_items, 0), bool)
        self._columns = np.concatenate([new, tiers], axis=1, dtype=float)
        self._worth = np.zeros(self._columns.shape[1])
        self._worth[: new.shape[1]] = self.newcomers
        if not tiers.shape[1] or self._scores is None:
            self.tiers, self._tiers_prior = 0.0, 0.0
            return
        self._tiers_prior = self._prior(self._scores.tiers)
        if self.tiers == 0.0 or self._tiers_prior == 0.0:
            self.tiers = self.unit * start_value(self._scores.tiers)
        if self.settle == 0:  # from a draw, which knows no means
            self._worth[:] = self._worth_of_starts()

    def _prior(self, scale: Scale, *, root: bool = False) -> float:
        return prior_scale(scale) * (np.sqrt(self.unit) if root else self.unit)

    def _resume(self, start: Draw) -> None:
        self.states = np.array(start.states, dtype=float)
        self.numbers = [np.array(one, dtype=float) for one in start.numbers]
        for name in ("scales", "rates", "reversions"):
            setattr(self, name, getattr(start, name).astype(float))
            setattr(self, f"number_{name}", getattr(start, f"number_{name}").astype(float))
        self.newcomers, self.cuts = float(start.newcomers), start.cuts.astype(float)
        self.tiers = float(start.tiers)
        self.jumps, self.noise = float(start.jumps), float(start.noise)

    def keep(self, dtype: type[np.floating] = np.float64) -> Draw:
        """Return where the chain is, its states as numbers of a kind."""
        kept = {one.name: copy(getattr(self, one.name)) for one in fields(Draw)[2:]}
        return Draw(
            self.states.astype(dtype),
            tuple(one.astype(dtype) for one in self.numbers),
            **kept,
        )

    def _margins(self) -> None:
        """Add up all margins anew."""
        rest = np.zeros(len(self.x))
        for one, states in zip(self.layout.numbers, self.numbers, strict=True):
            p = one.paths
            number_parts(p.begin, *p.entries, states, np.zeros((p.n_states, 1)), self.parts)
            rest += self.parts
        item_margins(self.first, self.second, self.states, rest, self.x)

    def sweep(self) -> None:
        """Draw everything once."""
        self._follow()
        if self.n_sweeps >= self.settle:
            if self.n_sweeps % SIZE_EVERY == 0:
                self._draw_size()
                if self.law.kind == "ordered":
                    cells = self.counts, self.means, self.x
                    draw_last_cut(self.rng, *cells, self.cuts, self._often)
            self._draw_gauge()
        self._weigh()
        self._draw_items()
        for k, one in enumerate(self.layout.numbers):
            self._draw_numbers(k, one)
        self._draw_means()
        self._draw_spread()
        if self.n_sweeps >= self.settle:
            self._draw_item_scales()
            self._draw_item_reversions()
            self._grow_walks()
            for k, one in enumerate(self.layout.numbers):
                self._draw_number_scales(k, one)
        self._draw_jumps()
        self._draw_law()
        self.n_sweeps += 1
        if self.n_sweeps % REFRESH == 0:
            self._margins()

    def _follow(self) -> None:
        """Let the guide sweep, and take over from it how large the terms beside scores are."""
        guide = self.guide
        if guide is None:
            return
        guide.sweep()
        self.scales[1:], self.rates[1] = guide.scales[1:], guide.rates[1]
        self.reversions[1] = guide.reversions[1]
        self._steps.turn(1, float(self.reversions[1]))
        for k, one in enumerate(self.layout.numbers):
            if not isinstance(one.term, Side):
                for name in ("number_scales", "number_rates", "number_reversions"):
                    getattr(self, name)[k] = getattr(guide, name)[k]
                self._number_steps[k].turn(0, float(self.number_reversions[k]))

    def _weigh(self) -> None:
        if self.law.kind == "logistic":
            weigh_wins(self.rng, self.counts, self.means, *self.cells)
        elif self.law.kind == "ordered":
            cells = (*self.cells, self.below, self.above)
            weigh_levels(self.rng, self.counts, self.means, self.cuts, *cells)
        else:
            weigh_readings(self.counts, self.means, self.noise, self.w, self.pull)

    def _draw_size(self) -> None:
        """Draw the size of all margins together, before weights are drawn: the law itself counts.

        What a side is worth stays; where a scale is known there is no such factor.
        """
        r = self.layout.n_factors
        there = np.array([self._scores is not None, *[True] * r])
        powers = np.array([1.0, *[0.5] * r])
        others = [k for k, one in enumerate(self.layout.numbers) if not isinstance(one.term, Side)]
        held = np.zeros(len(self.x))
        for one, states in zip(self.layout.numbers, self.numbers, strict=True):
            if isinstance(one.term, Side):
                p, all_of_it = one.paths, np.zeros((one.paths.n_states, 1))
                number_parts(p.begin, *p.entries, states, all_of_it, held)
        tiers = np.ones(int(self.tiers > 0.0))
        scales = np.concatenate(
            [self.scales[there], self.number_scales[others], self.tiers * tiers]
        )
        known = [self._number_priors(self.layout.numbers[k])[0] for k in others]
        priors = np.concatenate([self._priors[there], known, self._tiers_prior * tiers])
        if not len(scales) or not priors.all():
            return
        grows = self.x - held
        f = draw_size(
            self.rng,
            {"logistic": LOGISTIC, "ordered": ORDERED, "squared": SQUARED}[self.law.kind],
            self.counts,
            self.means,
            held,
            grows,
            self.cuts,
            self.noise,
            scales,
            priors,
            np.concatenate([powers[there], np.ones(len(others)), tiers]),
            self.newcomers / self.unit,
        )
        self.x[:] = held + f * grows
        self.scales[there] *= f ** powers[there]
        self.states *= np.concatenate([f**powers, f ** powers[1:]])
        self.newcomers *= f
        self.tiers *= f
        self._worth *= f
        for k in others:
            self.number_scales[k] *= f
            self.numbers[k] *= f

    def _draw_gauge(self) -> None:
        """Draw planes among those that give the same margins."""
        r, p, rate = self.layout.n_factors, self.layout.items, float(self.rates[1])
        stiffest = float(self._stiffest[-1])
        if r == 0 or (rate > 0.0 and (self.scales[1:].min() * rate) ** 2 <= stiffest):
            return
        gram, change = np.zeros((2 * r, 2 * r)), np.zeros((2 * r, 2 * r))
        plane_gram(p.begin, *self._steps.steps, self.states, rate, gram)
        draw_gauge(self.rng, gram, self.scales[1:], change)
        change_planes(change, self.states)

    def item_means(self) -> FloatArray:  # (n_items,)
        """Return what the first score of each item is drawn around."""
        return np.asarray(self._columns @ self._worth)

    def _draw_items(self) -> None:
        r, p = self.layout.n_factors, self.layout.items
        if r == 0:
            own = self.states.reshape(-1), self.item_means(), self.spread  # the first is a view
            self._draw_paths(p, self._steps, *own, float(self.scales[0]), float(self.rates[0]))
            return
        width = np.concatenate([self.scales, self.scales[1:]])
        rates = np.concatenate([self.rates[:1], np.repeat(self.rates[1], 2 * r)])
        items_kernel(r)(
            self.rng,
            self.rng.permutation(len(p.begin) - 1),
            p.begin,
            *self._steps.steps,
            *p.entries,
            self.layout.other,
            self.states,
            *self.cells,
            self.item_means(),
            self.spread,
            width**2,
            np.maximum((width * rates) ** 2, self._stiffest),
        )

    def _draw_numbers(self, k: int, one: Numbers) -> None:
        p = one.paths
        if p.n_states and p.separate and self.n_sweeps >= self.settle:
            self._draw_separate_scales(k, one)
        own = self.numbers[k], np.zeros(len(p.keys)), np.ones(len(p.keys))
        sizes = float(self.number_scales[k]), float(self.number_rates[k])
        self._draw_paths(p, self._number_steps[k], *own, *sizes)

    def _draw_paths(
        self,
        p: Paths,
        steps: Transitions,
        states: FloatArray,
        means: FloatArray,
        spread: FloatArray,
        scale: float,
        rate: float,
    ) -> None:
        """Draw paths that enter margins linearly."""
        step = max((scale * rate) ** 2, float(self._stiffest[0]))
        (keep, length), own = steps.steps, (states, *self.cells, means, spread)
        draw_numbers(self.rng, p.begin, keep, length, *p.entries, *own, scale**2, step)

    def _draw_means(self) -> None:
        """Draw what first scores are drawn around: given these, then with their paths moving.

        That is what newcomers are worth, and how scores rise between parts of the field.
        """
        columns, p = self._columns, self.layout.items
        n = self._n_new
        if not columns.shape[1]:
            return
        self._worth[:] = self._worth_of_starts()
        many = len(self.x) * columns.shape[1] ** 2 > MANY_PRODUCTS
        if not many or self.n_sweeps % TIERS_EVERY == 0:
            moved = np.repeat(columns, np.diff(p.begin), axis=0) * self._steps.fade[:, :1]
            part = moved[self.first]
            part -= moved[self.second]
            spread = self._spread_of_means()
            precision = part.T @ (self.w[:, None] * part) + np.diag(spread)
            pull = part.T @ (self.pull - self.w * self.x) - spread * self._worth
            self._move_means(moved, part, gaussian(self.rng, precision, pull))
            if self._tiers_prior > 0.0:
                parts, lines = part[:, n:] @ self._worth[n:], np.zeros(4)
                part_lines(parts, 1, *self.cells, lines)
                grown = draw_scale(self.rng, self.tiers, 0.0, 0.0, lines, self._tiers_prior)
                step = np.where(np.arange(columns.shape[1]) < n, 0.0, grown / self.tiers - 1.0)
                self._move_means(moved, part, step * self._worth)
                self.tiers = grown
        if self._tiers_prior > 0.0:
            squares = float(self._worth[n:] @ self._worth[n:])
            size = len(self._worth) - n, squares
            self.tiers = draw_scale(self.rng, self.tiers, *size, HELD, self._tiers_prior)
        self.newcomers = float(self._worth[0]) if n else 0.0

    def _move_means(self, moved: FloatArray, part: FloatArray, step: FloatArray) -> None:
        """Let paths move along with what their first scores are drawn around."""
        self._worth += step
        self.states[:, 0] += moved @ step
        self.x += part @ step

    def _worth_of_starts(self) -> FloatArray:
        """Draw what first scores are drawn around, given these."""
        columns, starts = self._columns, self.states[self.layout.items.begin[:-1], 0]
        weighed = columns / (self.scales[0] ** 2 * self.spread[:, None])
        precision = weighed.T @ columns + np.diag(self._spread_of_means())
        return gaussian(self.rng, precision, weighed.T @ starts)

    def _draw_spread(self) -> None:
        """Draw how far from the others each item may be at first.

        First scores follow Student's law, of variance 1 in units of their squared scale: normal
        with a variance of its own for each item, (n - 2) / χ² of n degrees.
        """
        if self._degrees is None:
            return
        starts = self.states[self.layout.items.begin[:-1], 0]
        z = (starts - self.item_means()) / self.scales[0]
        n = self._degrees
        self.spread = (n - 2.0 + z**2) / self.rng.chisquare(n + 1.0, size=len(z))

    def _spread_of_means(self) -> FloatArray:
        """Return prior precisions: newcomers are as far from the others as items are."""
        n_tiers = self.layout.tiers.shape[1]
        tiers = np.full(n_tiers, self.tiers**-2 if n_tiers else 0.0)
        return np.concatenate([np.full(self._n_new, self.unit**-2), tiers])

    @property
    def _n_new(self) -> int:
        """How many columns are of newcomers: 1 if what they are worth is drawn, else 0."""
        return int(self._columns.shape[1] - self.layout.tiers.shape[1])

    def _draw_item_scales(self) -> None:
        """Draw scales and rates of scores and planes."""
        p = self.layout.items
        draw_item_scales(
            self.rng,
            p.begin,
            *self._steps.arrays,
            self.first,
            self.second,
            self.item_means(),
            self.spread,
            *self.cells,
            self.states,
            self.scales,
            self.rates,
            self._priors,
            self._rate_priors,
        )

    def _draw_item_reversions(self) -> None:
        """Draw how fast scores and planes return to 0, and their rates along with that."""
        r, p = self.layout.n_factors, self.layout.items
        width, (gap, gaps) = np.concatenate([self.scales, self.scales[1:]]), p.gaps
        sums = np.zeros((len(gaps), 4))
        for g in range(2 if r else 1):
            prior = self._reversion_priors[g]
            if prior == 0.0 or p.n_states == len(p.keys):
                continue
            pace = self._steps.pace if g == 0 else np.ones(p.n_states)
            gap_sums(p.begin, gap, pace, self.states, g, 1 + 2 * r * g, width, sums)
            found = self.rates[g], self._rate_priors[g], self.reversions[g], prior
            self.rates[g], self.reversions[g] = draw_reversion(self.rng, *found, gaps, sums)
            self._steps.turn(g, float(self.reversions[g]))

    def _draw_jumps(self) -> None:
        """Draw how unevenly scores move, now and then, and the pace of each of their gaps."""
        p, steps = self.layout.items, self._steps
        if self.jumps == 0.0 or p.n_states == len(p.keys):
            return
        which, gaps = p.gaps
        parts, squares = gaps[which] / self.layout.span, np.zeros(p.n_states)
        step = max((self.scales[0] * self.rates[0]) ** 2, float(self._stiffest[0]))
        score_steps(p.begin, *steps.steps, steps.pace, self.states, step, squares)
        settled = self.n_sweeps >= self.settle
        every = JUMPS_EVERY if p.n_states < VERY_MANY_STATES else 4 * JUMPS_EVERY
        if settled and self._jumps_prior > 0.0 and self.n_sweeps % every == 0:
            rate, there = self.rates[0], parts > 0.0
            found = rate, self._rate_priors[0], self.jumps, self._jumps_prior
            self.rates[0], self.jumps = draw_jumps(self.rng, *found, parts[there], squares[there])
            squares *= (rate / self.rates[0]) ** 2
        pace = np.empty(p.n_states)
        draw_paces(self.rng, parts, squares, self.jumps, pace)
        steps.run(pace)

    def _grow_walks(self) -> None:
        """Draw rate, reversion or jumps of scores, or two of them, with scores moving along.

        Each draw is one of these at random.
        """
        p, steps = self.layout.items, self._steps
        priors = np.array([self._rate_priors[0], self._reversion_priors[0], self._jumps_prior])
        moves = WALK_MOVES[((WALK_MOVES == 0.0) | (priors > 0.0)).all(axis=1)]
        if not len(moves) or p.n_states == len(p.keys):
            return
        n_draws = WALK_DRAWS
        if p.n_states > MANY_STATES:
            n_draws = int(self.n_sweeps % JUMPS_EVERY == JUMPS_EVERY // 2)
        if n_draws == 0:
            return
        sizes = np.array([self.rates[0], self.reversions[0], self.jumps])
        walk = sizes, priors, self.layout.span, p.begin, *p.gaps
        cells = self.first, self.second, self.w, self.pull
        grow_walks(self.rng, n_draws, moves, *walk, *cells, self.states, steps.pace, self.x)
        self.rates[0], self.reversions[0], self.jumps = sizes
        steps.turn(0, float(self.reversions[0]))

    def _draw_number_scales(self, k: int, one: Numbers) -> None:
        """Draw scale and rate of a term given its states, and with the states moving along."""
        p, states, lines = one.paths, self.numbers[k], np.zeros(4)
        if not p.n_states or p.separate:
            return
        n_first = len(p.begin) - 1
        n_steps = p.n_states - n_first
        prior, rate_prior, reversion_prior = self._number_priors(one)
        if prior > 0.0:
            first, steps = self._squares(k, states)
            rate, n = self.number_rates[k], n_first
            if rate > 0.0:
                first, n = first + steps / rate**2, n + n_steps
            scale = draw_scale(self.rng, self.number_scales[k], n, first, HELD, prior)
            self.number_scales[k] = self._grow(k, states, scale, prior, lines, walks=False)
        if rate_prior > 0.0 and n_steps:
            steps = self._squares(k, states)[1] / self.number_scales[k] ** 2
            rate = draw_scale(self.rng, self.number_rates[k], n_steps, steps, HELD, rate_prior)
            self.number_rates[k] = self._grow(k, states, rate, rate_prior, lines, walks=True)
        if reversion_prior > 0.0 and n_steps:
            (gap, gaps), width = p.gaps, self.number_scales[k : k + 1]
            sums = np.zeros((len(gaps), 4))
            gap_sums(p.begin, gap, np.ones(p.n_states), states[:, None], 0, 1, width, sums)
            found = self.number_rates[k], rate_prior, self.number_reversions[k], reversion_prior
            rate, reversion = draw_reversion(self.rng, *found, gaps, sums)
            self.number_rates[k], self.number_reversions[k] = rate, reversion
            self._number_steps[k].turn(0, reversion)

    def _squares(self, k: int, states: FloatArray) -> tuple[float, float]:
        """Return the squares of first states, and of steps over their length."""
        p, first, steps = self.layout.numbers[k].paths, np.zeros(1), np.zeros(1)
        along = self._number_steps[k].steps
        plain = np.zeros(len(p.keys)), np.ones(len(p.keys))
        squares_of(p.begin, *along, states[:, None], *plain, first, steps)
        return float(first[0]), float(steps[0])

    def _draw_separate_scales(self, k: int, one: Numbers) -> None:
        """Draw scale, rate or reversion of a term, or two together, its states integrated out.

        One of these at random; the states are drawn next.
        """
        p, steps = one.paths, self._number_steps[k]
        J, h = np.zeros(p.n_states), np.zeros(p.n_states)
        gather_numbers(*p.entries, self.numbers[k], *self.cells, J, h)
        # Powers of f by which the three grow; one move, as all are a third of a sweep's cost.
        priors = np.array(self._number_priors(one))
        moves = [(1, 0, 0), (0, 1, 0), (1, -1, 0), (0, 0, 1), (0, 1, 2)]
        there = [True, *[p.n_states > len(p.keys)] * 2] & (priors > 0.0)
        moves = [move for move in moves if there[np.flatnonzero(move)].all()]
        if not moves:
            return
        powers = np.array(moves[int(self.rng.integers(len(moves)))], dtype=float)
        sizes = np.array([self.number_scales[k], self.number_rates[k], self.number_reversions[k]])
        grow_without_paths(
            self.rng,
            sizes,
            powers,
            priors,
            float(self._stiffest[0]),
            p.begin,
            *p.gaps,
            *steps.arrays,
            J,
            h,
        )
        self.number_scales[k], self.number_rates[k], self.number_reversions[k] = sizes

    def _number_priors(self, one: Numbers) -> tuple[float, float, float]:
        """Return the scales of the priors of scale, rate and reversion; 0 where one is known."""
        if self.guide is not None and not isinstance(one.term, Side):
            return 0.0, 0.0, 0.0
        prior = 0.0 if isinstance(one.term, Side) else self._prior(one.term.scale)
        span = self.layout.span
        return prior, rate_of(one.term.walk, span)[1], reversion_of(one.term.walk, span)[1]

    def _grow(
        self,
        k: int,
        states: FloatArray,
        scale: float,
        prior: float,
        lines: FloatArray,
        *,
        walks: bool,
    ) -> float:
        """Draw a scale with the states moving along, and move them."""
        p = self.layout.numbers[k].paths
        fade = self._number_steps[k].fade * walks
        number_parts(p.begin, *p.entries, states, fade, self.parts)
        part_lines(self.parts, 1, *self.cells, lines)
        new = draw_scale(self.rng, scale, 0.0, 0.0, lines, prior)
        grown = new / scale
        base = fade[:, 0] * states[p.start]
        states[:] = base + grown * (states - base)
        self.x += (grown - 1.0) * self.parts
        return new

    def _draw_law(self) -> None:
        if self.law.kind == "ordered":
            cells = (self.counts, self.means, self.x, self.below, self.above)
            draw_cuts(self.rng, *cells, self.cuts, self._often)
        elif isinstance(self.law, Readings) and isinstance(self.law.noise, HalfCauchy):
            squares = self.layout.seen.spread + squared_residuals(self.counts, self.means, self.x)
            prior = self._prior(self.law.noise)
            n = float(self.layout.seen.n_rows)
            self.noise = draw_scale(self.rng, self.noise, n, squares, HELD, prior)


def gaussian(
    rng: np.random.Generator, precision: FloatArray, pull: FloatArray
) -> FloatArray:  # (n,)
    """Draw a vector by its precision and by what pulls at it from 0."""
    root = np.linalg.cholesky(precision)
    whitened = np.linalg.solve(root, pull) + rng.standard_normal(len(pull))
    return np.asarray(np.linalg.solve(root.T, whitened))


def _unit(layout: Layout, law: OutcomeLaw) -> float:
    """Return the unit of margins: log odds for games, the spread of readings for readings."""
    if law.kind != "squared":
        return 1.0
    return float(np.sqrt(np.mean(layout.seen.means**2))) or 1.0


def _often(layout: Layout) -> FloatArray:
    """Return how many games have each size of level."""
    if layout.seen.kind != "ordered":
        return np.zeros(0)
    size = np.abs(layout.seen.means).astype(np.int64)
    return np.bincount(size, layout.seen.counts, layout.seen.n_levels + 1).astype(float)
