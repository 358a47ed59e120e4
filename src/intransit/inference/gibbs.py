"""Exact Gibbs sampling of a whole model: states, scales, cuts, sides, newcomers.

A sweep draws, in turn and each given all the rest,

0. where scores are wide, how large the other terms are: by a chain of its own, the guide, whose
   scores are not (a cut posterior, see `Layout.guide`); now and then the size of all margins and
   the outermost cut, under the law itself; planes among those that give the same margins
   (`scale_kernels`),
1. a weight for every cell, which makes its likelihood Gaussian (`law_kernels`),
2. every item's path of score and factors, then every other path (`path_kernels`), overrelaxed
   (Adler, 1981); effects of pairs and sides with their scale and rate, from which their paths are
   integrated out, so that these are drawn afresh,
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
    LAWS,
    OutcomesSeen,
    draw_cuts,
    draw_last_cut,
    squared_residuals,
    weigh,
)
from intransit.inference.likelihood import first_cuts
from intransit.inference.path_kernels import (
    Starts,
    Weighed,
    draw_numbers,
    gather_numbers,
    item_margins,
    items_kernel,
)
from intransit.inference.paths import Layout, Numbers, Paths
from intransit.inference.scale_kernels import (
    ItemSizes,
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
)
from intransit.model.laws import OutcomeLaw, Readings
from intransit.model.terms import (
    Factors,
    HalfCauchy,
    Scale,
    Scores,
    Side,
    Walk,
    first_walk,
    prior_scale,
    start_value,
    walk_priors,
)

# How far paths go beyond their conditional means, to the other side; at 0 they are drawn afresh.
# The median pair has 2.2 to 2.3 times the effective draws of its mean, and as many of the ends of
# its interval; the worst 1.5 to 2 and 1.1 to 1.4 times (3 tables; at 0.9 ends 0.8 to 1; a trial).
OVERRELAXED = 0.7
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
        What newcomers are worth on average beside those who were there from the start, with what
        the parts of the field are worth to which they belong.
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
        self._counts, self._means = map(np.ascontiguousarray, (seen.counts, seen.means))
        self.unit = _unit(layout, law) if unit is None else unit
        least = STIFFEST / layout.span
        self._stiffest = least * np.array([self.unit**2, *[self.unit] * (2 * r)])
        self._scores, self._factors = layout.model.term(Scores), layout.model.term(Factors)
        scores = NOTHING if self._scores is None else self._scores.scale
        factors = NOTHING if self._factors is None else self._factors.scale
        self._priors = np.array([self._prior(scores), *[self._prior(factors, root=True)] * r])
        known = np.transpose([walk_priors(walk, layout.span) for walk in self._item_walks])
        self._rate_priors, self._reversion_priors, (self._jumps_prior, _) = known.copy()
        self.guide: Chain | None = None
        if layout.guide is not None:
            self.guide = Chain(layout.guide, law, rng.spawn(1)[0], start, unit=unit)
            self._priors[1:] = self._rate_priors[1] = self._reversion_priors[1] = 0.0
        self._number_priors = [self._priors_of(one) for one in layout.numbers]
        self._moves = [
            _moves(one.paths, self._number_priors[k]) for k, one in enumerate(layout.numbers)
        ]
        priors = self._rate_priors[0], self._reversion_priors[0], self._jumps_prior
        self._walk_priors = np.array(priors)
        self._walk_moves = WALK_MOVES[((WALK_MOVES == 0.0) | (self._walk_priors > 0.0)).all(axis=1)]
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
        self.x, w, pull = (np.zeros(len(seen)) for _ in range(3))
        self.cells = Weighed(layout.first, layout.second, self.x, w, pull)
        self.below, self.above, self.parts = (np.zeros(len(seen)) for _ in range(3))
        self._often = often[:-1]  # but for the largest
        self._plain = [_plain(one.paths) for one in layout.numbers]
        self._walks = layout.items.walks(self.reversions)
        self._number_walks = [
            one.paths.walks(self.number_reversions[k : k + 1])
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
        firsts = np.transpose([first_walk(walk, span) for walk in self._item_walks])
        self.rates, self.reversions, (self.jumps, _) = firsts.copy()
        width = np.concatenate([self.scales, self.scales[1:]])
        self.states = width * self.rng.standard_normal((layout.items.n_states, 1 + 2 * r))
        self.states = self.states[layout.items.start]
        self.numbers = [np.zeros(one.paths.n_states) for one in layout.numbers]
        self.number_scales = np.array(
            [self.unit * start_value(one.term.scale) for one in layout.numbers]
        )
        firsts = np.array([first_walk(one.term.walk, span) for one in layout.numbers])
        self.number_rates, self.number_reversions, _ = firsts.reshape(-1, 3).T.copy()
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
        if new.shape[1]:  # those there from the start are around 0
            tiers = tiers - tiers[~new[:, 0]].mean(axis=0)
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

    @property
    def _item_walks(self) -> list[Walk | None]:
        """How scores and planes move; None where there are none."""
        return [None if term is None else term.walk for term in (self._scores, self._factors)]

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
        for k in range(len(self.numbers)):
            rest += self._parts(k)
        item_margins(self.cells.first, self.cells.second, self.states, rest, self.x)

    def _parts(self, k: int, *, walks: bool = False) -> FloatArray:  # (n_cells,)
        """Return what a term of single numbers, or its walks alone, adds to margins, in `parts`."""
        entries = self.layout.numbers[k].paths.entries
        number_parts(self._number_walks[k], entries, self.numbers[k], not walks, self.parts)
        return self.parts

    @property
    def _seen(self) -> OutcomesSeen:
        kind = LAWS[self.law.kind]
        return OutcomesSeen(
            kind, self._counts, self._means, self._often, self.cuts, float(self.noise)
        )

    def sweep(self) -> None:
        """Draw everything once."""
        self._follow()
        if self.n_sweeps >= self.settle:
            if self.n_sweeps % SIZE_EVERY == 0:
                self._draw_size()
                if self.law.kind == "ordered":
                    draw_last_cut(self.rng, self._seen, self.x)
            self._draw_gauge()
        weigh(self.rng, self._seen, self.cells, self.below, self.above)
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
        self._walks.turn(1, float(self.reversions[1]))
        for k, one in enumerate(self.layout.numbers):
            if not isinstance(one.term, Side):
                for name in ("number_scales", "number_rates", "number_reversions"):
                    getattr(self, name)[k] = getattr(guide, name)[k]
                self._number_walks[k].turn(0, float(self.number_reversions[k]))

    def _draw_size(self) -> None:
        """Draw the size of all margins together, before weights are drawn: the law itself counts.

        What a side is worth stays; where a scale is known there is no such factor.
        """
        r = self.layout.n_factors
        there = np.array([self._scores is not None, *[True] * r])
        powers = np.array([1.0, *[0.5] * r])
        others, held = [], np.zeros(len(self.x))
        for k, one in enumerate(self.layout.numbers):
            if isinstance(one.term, Side):
                held += self._parts(k)
            else:
                others.append(k)
        tiers = np.ones(int(self.tiers > 0.0))
        scales = np.concatenate(
            [self.scales[there], self.number_scales[others], self.tiers * tiers]
        )
        known = [self._number_priors[k][0] for k in others]
        priors = np.concatenate([self._priors[there], known, self._tiers_prior * tiers])
        if not len(scales) or not priors.all():
            return
        grows = self.x - held
        own = scales, priors, np.concatenate([powers[there], np.ones(len(others)), tiers])
        f = draw_size(self.rng, self._seen, held, grows, *own, self.newcomers / self.unit)
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
        r, rate = self.layout.n_factors, float(self.rates[1])
        stiffest = float(self._stiffest[-1])
        if r == 0 or (rate > 0.0 and (self.scales[1:].min() * rate) ** 2 <= stiffest):
            return
        gram, change = np.zeros((2 * r, 2 * r)), np.zeros((2 * r, 2 * r))
        plane_gram(self._walks, self.states, rate, gram)
        draw_gauge(self.rng, gram, self.scales[1:], change)
        change_planes(change, self.states)

    def item_means(self) -> FloatArray:  # (n_items,)
        """Return what the first score of each item is drawn around."""
        return np.asarray(self._columns @ self._worth)

    @property
    def _starts(self) -> Starts:
        return Starts(self.item_means(), self.spread)

    def _draw_items(self) -> None:
        r, p = self.layout.n_factors, self.layout.items
        if r == 0:
            scores, sizes = self.states.reshape(-1), self._variances(self.scales[0], self.rates[0])
            draw_numbers(
                self.rng,
                self._walks,
                p.entries,
                self.cells,
                scores,
                self._starts,
                *sizes,
                OVERRELAXED,
            )
            return
        width = np.concatenate([self.scales, self.scales[1:]])
        rates = np.concatenate([self.rates[:1], np.repeat(self.rates[1], 2 * r)])
        step = np.maximum((width * rates) ** 2, self._stiffest)
        order = self.rng.permutation(len(p.begin) - 1)
        own = self._walks, p.entries, self.layout.other, self.cells, self.states, self._starts
        items_kernel(r)(self.rng, order, *own, width**2, step, OVERRELAXED)

    def _draw_numbers(self, k: int, one: Numbers) -> None:
        p = one.paths
        alone = p.separate and len(self._moves[k]) > 0 and self.n_sweeps >= self.settle
        if alone:
            self._draw_separate_scales(k, one)
        own = self._number_walks[k], p.entries, self.cells, self.numbers[k], self._plain[k]
        sizes = self._variances(self.number_scales[k], self.number_rates[k])
        draw_numbers(self.rng, *own, *sizes, 0.0 if alone else OVERRELAXED)

    def _variances(self, scale: float, rate: float) -> tuple[float, float]:
        """Return the variances of a first state, and of a step in a unit of time."""
        return float(scale) ** 2, max((float(scale) * float(rate)) ** 2, float(self._stiffest[0]))

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
            moved = np.repeat(columns, np.diff(p.begin), axis=0) * self._walks.fade[:, :1]
            part = moved[self.cells.first]
            part -= moved[self.cells.second]
            spread = self._spread_of_means()
            _, _, x, w, pull = self.cells
            precision = part.T @ (w[:, None] * part) + np.diag(spread)
            pull = part.T @ (pull - w * x) - spread * self._worth
            self._move_means(moved, part, gaussian(self.rng, precision, pull))
            if self._tiers_prior > 0.0:
                parts, lines = part[:, n:] @ self._worth[n:], np.zeros(4)
                part_lines(parts, 1, self.cells, lines)
                grown = draw_scale(self.rng, self.tiers, 0.0, 0.0, lines, self._tiers_prior)
                step = np.where(np.arange(columns.shape[1]) < n, 0.0, grown / self.tiers - 1.0)
                self._move_means(moved, part, step * self._worth)
                self.tiers = grown
        if self._tiers_prior > 0.0:
            squares = float(self._worth[n:] @ self._worth[n:])
            size = len(self._worth) - n, squares
            self.tiers = draw_scale(self.rng, self.tiers, *size, HELD, self._tiers_prior)
        self.newcomers = float(self.item_means()[columns[:, 0] > 0.0].mean()) if n else 0.0

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
        sizes = ItemSizes(self.scales, self.rates, self._priors, self._rate_priors)
        draw_item_scales(self.rng, self._walks, self._starts, self.cells, self.states, sizes)

    def _draw_item_reversions(self) -> None:
        """Draw how fast scores and planes return to 0, and their rates along with that."""
        r, p = self.layout.n_factors, self.layout.items
        width, sums = np.concatenate([self.scales, self.scales[1:]]), np.zeros((len(p.gaps[1]), 4))
        for g in range(2 if r else 1):
            prior = self._reversion_priors[g]
            if prior == 0.0 or p.n_states == len(p.keys):
                continue
            gap_sums(self._walks, self.states, g, 1 + 2 * r * g, width, sums)
            found = self.rates[g], self._rate_priors[g], self.reversions[g], prior
            self.rates[g], self.reversions[g] = draw_reversion(self.rng, *found, p.gaps[1], sums)
            self._walks.turn(g, float(self.reversions[g]))

    def _draw_jumps(self) -> None:
        """Draw how unevenly scores move, now and then, and the pace of each of their gaps."""
        p = self.layout.items
        if self.jumps == 0.0 or p.n_states == len(p.keys):
            return
        which, gaps = p.gaps
        parts, scores, walks = gaps[which] / self.layout.span, self.states[:, 0], self._walks
        # Squared steps of scores over their variance at an even pace; 0 of first states.
        moved, step = scores.copy(), self._variances(self.scales[0], self.rates[0])[1]
        moved[1:] -= walks.keep[1:, 0] * scores[:-1]
        squares = moved * moved * walks.pace / (step * walks.length[:, 0])
        squares[p.begin[:-1]] = 0.0
        settled = self.n_sweeps >= self.settle
        every = JUMPS_EVERY if p.n_states < VERY_MANY_STATES else 4 * JUMPS_EVERY
        if settled and self._jumps_prior > 0.0 and self.n_sweeps % every == 0:
            rate, there = self.rates[0], parts > 0.0
            found = rate, self._rate_priors[0], self.jumps, self._jumps_prior
            self.rates[0], self.jumps = draw_jumps(self.rng, *found, parts[there], squares[there])
            squares *= (rate / self.rates[0]) ** 2
        pace = np.empty(p.n_states)
        draw_paces(self.rng, parts, squares, self.jumps, pace)
        self._walks.run(pace)

    def _grow_walks(self) -> None:
        """Draw rate, reversion or jumps of scores, or two of them, with scores moving along.

        Each draw is one of these at random.
        """
        p = self.layout.items
        if not len(self._walk_moves) or p.n_states == len(p.keys):
            return
        n_draws = WALK_DRAWS
        if p.n_states > MANY_STATES:
            n_draws = int(self.n_sweeps % JUMPS_EVERY == JUMPS_EVERY // 2)
        if n_draws == 0:
            return
        sizes = np.array([self.rates[0], self.reversions[0], self.jumps])
        own = self._walk_priors, self.layout.span, self._walks, self.cells, self.states
        grow_walks(self.rng, n_draws, self._walk_moves, sizes, *own)
        self.rates[0], self.reversions[0], self.jumps = sizes
        self._walks.turn(0, float(self.reversions[0]))

    def _draw_number_scales(self, k: int, one: Numbers) -> None:
        """Draw scale and rate of a term given its states, and with the states moving along."""
        p, walks, states = one.paths, self._number_walks[k], self.numbers[k][:, None]
        if not p.n_states or p.separate:
            return
        n_steps = p.n_states - len(p.keys)
        prior, rate_prior, reversion_prior = self._number_priors[k]
        first, steps = np.zeros(1), np.zeros(1)
        if prior > 0.0:
            squares_of(walks, states, self._plain[k], first, steps)
            rate, n = self.number_rates[k], len(p.keys)
            if rate > 0.0:
                first, n = first + steps / rate**2, n + n_steps
            scale = draw_scale(self.rng, self.number_scales[k], n, float(first[0]), HELD, prior)
            self.number_scales[k] = self._grow(k, scale, prior, walks=False)
        if rate_prior > 0.0 and n_steps:
            squares_of(walks, states, self._plain[k], first, steps)
            size = float(steps[0]) / self.number_scales[k] ** 2
            rate = draw_scale(self.rng, self.number_rates[k], n_steps, size, HELD, rate_prior)
            self.number_rates[k] = self._grow(k, rate, rate_prior, walks=True)
        if reversion_prior > 0.0 and n_steps:
            sums = np.zeros((len(walks.gaps), 4))
            gap_sums(walks, states, 0, 1, self.number_scales[k : k + 1], sums)
            found = self.number_rates[k], rate_prior, self.number_reversions[k], reversion_prior
            rate, reversion = draw_reversion(self.rng, *found, walks.gaps, sums)
            self.number_rates[k], self.number_reversions[k] = rate, reversion
            walks.turn(0, reversion)

    def _grow(self, k: int, size: float, prior: float, *, walks: bool) -> float:
        """Draw a scale, or a rate, with the states (or their walks) moving along; move them."""
        parts, states, lines = self._parts(k, walks=walks), self.numbers[k], np.zeros(4)
        part_lines(parts, 1, self.cells, lines)
        new = draw_scale(self.rng, size, 0.0, 0.0, lines, prior)
        grown = new / size
        fade = self._number_walks[k].fade[:, 0] * walks
        base = fade * states[self.layout.numbers[k].paths.start]
        states[:] = base + grown * (states - base)
        self.x += (grown - 1.0) * parts
        return new

    def _draw_separate_scales(self, k: int, one: Numbers) -> None:
        """Draw scale, rate or reversion of a term, or two together, its states integrated out.

        One of these at random; the states are drawn next, afresh.
        """
        p, moves = one.paths, self._moves[k]
        J, h = np.zeros((2, p.n_states))
        gather_numbers(p.entries, self.cells, self.numbers[k], J, h)
        powers = moves[int(self.rng.integers(len(moves)))]
        sizes = np.array([self.number_scales[k], self.number_rates[k], self.number_reversions[k]])
        own = np.array(self._number_priors[k]), float(self._stiffest[0]), self._number_walks[k]
        grow_without_paths(self.rng, sizes, powers, *own, J, h)
        self.number_scales[k], self.number_rates[k], self.number_reversions[k] = sizes

    def _priors_of(self, one: Numbers) -> tuple[float, float, float]:
        """Return the scales of the priors of scale, rate and reversion; 0 where one is known."""
        if self.guide is not None and not isinstance(one.term, Side):
            return 0.0, 0.0, 0.0
        prior = 0.0 if isinstance(one.term, Side) else self._prior(one.term.scale)
        return prior, *walk_priors(one.term.walk, self.layout.span)[:2]

    def _draw_law(self) -> None:
        if self.law.kind == "ordered":
            draw_cuts(self.rng, self._seen, self.x, self.below, self.above)
        elif isinstance(self.law, Readings) and isinstance(self.law.noise, HalfCauchy):
            squares = self.layout.seen.spread + squared_residuals(self._seen, self.x)
            prior = self._prior(self.law.noise)
            n = float(self.layout.seen.n_rows)
            self.noise = draw_scale(self.rng, self.noise, n, squares, HELD, prior)


def _moves(paths: Paths, priors: tuple[float, float, float]) -> FloatArray:  # (n_moves, 3)
    """Return powers of a factor by which scale, rate and reversion of a term may grow together.

    Each draw has one of these moves at random, as all would be a third of a sweep's cost.
    """
    moves = np.array([(1, 0, 0), (0, 1, 0), (1, -1, 0), (0, 0, 1), (0, 1, 2)], dtype=float)
    there = [True, *[paths.n_states > len(paths.keys)] * 2] & (np.array(priors) > 0.0)
    return np.asarray(moves[((moves == 0.0) | there).all(axis=1)])


def _plain(paths: Paths) -> Starts:
    """Return that first states are drawn around 0, all alike."""
    return Starts(np.zeros(len(paths.keys)), np.ones(len(paths.keys)))


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
