"""The posterior of a model: draws of everything, and whatever is asked as a function of them.

A draw knows every item's path at all times, every pair's effect, what a side is worth, and the law
of outcomes.  A chance, a rank, a change or a cycle is read off each draw; its mean is the forecast,
its quantiles are the interval.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, log_expit, log_ndtr, ndtri

from intransit.arrays import FloatArray, IntArray, slices, spread_out
from intransit.checks import as_number
from intransit.errors import InputError
from intransit.inference.observations import Observations
from intransit.inference.paths import Layout, Numbers, Paths
from intransit.inference.sampling import Draws, Mixing
from intransit.inference.walk_kernels import (
    Matchups,
    Sizes,
    expected_chances,
    last_before,
    mean_chances,
    pair_margins,
    read_paths,
)
from intransit.model.laws import OutcomeLaw, boundaries, expected_results
from intransit.model.terms import By, PairEffects, Scores, Side
from intransit.study import connected

PANEL_SEED = 0
STRENGTH_WORK = 1e8  # draws times items times opponents of strengths; fewer draws beyond it
AVERAGE = 1500.0  # rating of an average item
TENFOLD = 400.0  # points of rating that make the odds ten to one
UNSEEN = 1 << 40  # keys of owners that were never seen begin here
MOST_MARGINS = 50_000_000  # at once
WORTH_TWO = 50_000  # numbers to read that are worth two threads: 5 ms
MOST_AVERAGED = 30  # values of a covariate, the most frequent: each is one more pass over the draws


@dataclass(frozen=True, eq=False)
class Known:
    """What is otherwise worked out from all games: of a large answer it is kept beside them."""

    groups: IntArray  # (n_items,)
    axis: FloatArray
    usual: Mapping[str, FloatArray] | None = None


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws from the posterior of a model, given some observations.

    Attributes
    ----------
    layout
        The observations, the model, and the paths they make.
    law
        The law of outcomes.
    draws
        The draws.
    mixing
        How well the chains behind them have mixed; None where states are not from chains.
    way
        How the draws were made: "gibbs", "newton" (around a solution), or "filter".
    notes
        What there is to say of that beyond the chains.
    connected
        Whether all items count as connected, as where it is not kept who met whom.
    known
        Groups and times, where they are not worked out from the games.
    panel_size
        Opponents that strengths are means over, where there are more.

    Examples
    --------
    >>> import numpy as np
    >>> import intransit as it
    >>> now = it.Filter(n_factors=1, drift_scale=0.1, rng=0)
    >>> now.observe_many([0, 1, 0] * 10, [1, 2, 2] * 10, [1.0] * 30, range(30))
    >>> posterior = now.posterior(rng=0)
    >>> len(posterior), posterior.n_items, len(posterior.thinned(50))
    (200, 3, 50)

    Pairs at a time, in every draw; and the chances of a loss, a tie and a win over all of them:

    >>> pair = np.array([0]), np.array([2]), np.array([29.0])
    >>> margins, chances = posterior.margins(*pair), posterior.chances(*pair)
    >>> chances.shape, bool((posterior.results(margins) == chances).all())
    ((200, 1), True)
    >>> low, high = np.quantile(chances[:, 0], [0.05, 0.95])
    >>> bool(0.5 < low < high < 1.0), posterior.levels(*pair).shape
    (True, (1, 3))

    All pairs of some items at a time, and each of them against the others:

    >>> items = np.arange(3)
    >>> posterior.matrices(items, 29.0).shape, posterior.upper_margins(items, 29.0).shape
    ((200, 3, 3), (200, 3))
    >>> posterior.mean_matrix(items, 29.0).round(1)
    array([[0.5, 0.8, 1. ],
           [0.2, 0.5, 0.8],
           [0. , 0.2, 0.5]])
    >>> posterior.strengths(items, 29.0).mean(axis=0).round(1)
    array([0.9, 0.5, 0.1])
    >>> ratings = posterior.ratings(items, 29.0).mean(axis=0)
    >>> bool(ratings[0] > ratings[1] > ratings[2])
    True
    """

    layout: Layout
    law: OutcomeLaw
    draws: Draws = field(repr=False)
    mixing: Mixing | None = field(repr=False)
    way: str = "gibbs"
    notes: tuple[str, ...] = ()
    connected: bool = False
    known: Known | None = field(default=None, repr=False)
    panel_size: int = 200  # chances spread by 0.3 at most, so their mean over these by 0.02

    def __len__(self) -> int:
        return len(self.draws)

    @property
    def story(self) -> str:
        """How the draws were made, in words."""
        said = [] if self.mixing is None else [self.mixing.sentence]
        return " ".join([f"{len(self)} draws from the posterior.", *said, *self.notes])

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.layout.seen.n_items

    @cached_property
    def groups(self) -> IntArray:  # (n_items,)
        """Number of the group of items, connected by comparisons, that each item belongs to."""
        if self.known is not None:
            return self.known.groups
        if self.connected:
            return np.zeros(self.n_items, np.int64)
        return connected(self.layout.seen.pairs, self.n_items)

    @cached_property
    def axis(self) -> FloatArray:
        """The distinct times of the observations, rising."""
        if self.known is not None:
            return self.known.axis
        axis = self.layout.seen.axis
        return axis if len(axis) else np.unique(self.layout.items.clock)

    @property
    def n_planes(self) -> int:
        """Number of planes of a draw; around a solution there are two for each factor."""
        return (int(self.draws.states.shape[2]) - 1) // 2

    def thinned(self, most: int) -> "Posterior":
        """Return the same with at most so many draws, evenly spread.

        Parameters
        ----------
        most
            Most draws to keep.

        Returns
        -------
        Posterior
            The same posterior, with those draws.
        """
        if len(self) <= most:
            return self
        return replace(self, draws=self.draws.only(spread_out(len(self), most)))

    # Reading paths -----------------------------------------------------------------------------

    def states(
        self, items: IntArray, times: FloatArray, which: IntArray | None = None
    ) -> FloatArray:  # (n_draws, n, 1 + 2 r)
        """Return score and factors of some items at some times, in every draw, or in some.

        An item below 0 was never seen: all that is known of it is what newcomers are like, and
        equal numbers are the same newcomer.  After the end of the table it may have come at any
        moment since.

        Parameters
        ----------
        items
            Numbers of the items, (n,); below 0 for newcomers.
        times
            The time of each, (n,).
        which
            Numbers of the draws; by default all.

        Returns
        -------
        numpy.ndarray
            Score, u and v of each item in each draw, (n_draws, n, 1 + 2 n_planes).
        """
        d, new = self.draws, items < 0
        means = d.newcomers if self.layout.has_newcomers else np.zeros(len(d))
        unseen = np.where(new, UNSEEN - items, -1)
        place = np.where(new, 0, items)
        uneven = d.jumps**2 * self.layout.span
        span = self.layout.span
        sizes = Sizes(d.walks, d.returns, self.widths, means, self._degrees, uneven, span)
        late = np.maximum(times - self.axis[-1], 0.0) if new.any() else 0.0
        return _read(d.states, self.layout.items, place, unseen, times, which, sizes, late=late)

    @cached_property
    def widths(self) -> FloatArray:  # (n_draws, 1 + 2 r)
        """Standard deviations of what an item never seen may be, by column.

        Where parts of the field hardly meet it may belong to any of them, and where scores are
        not drawn towards each other their scale says nothing: then it is as far from the other
        newcomers as those seen are, newcomers and the others, among themselves.
        """
        widths, scores = self.draws.widths, self.layout.model.term(Scores)
        if (self.draws.tiers > 0.0).any() or (scores is not None and scores.wide):
            first = self.draws.states[:, self.layout.items.begin[:-1], 0]
            new = self.layout.newcomer
            groups = [first[:, some] for some in (new, ~new) if some.any()]
            squares = sum(np.var(one, axis=1) * one.shape[1] for one in groups)
            widths[:, 0] = np.sqrt(squares / len(new))
        return widths

    @property
    def _degrees(self) -> int:
        """Degrees of freedom of Student's law of what an item never seen may be; 0 if normal."""
        scores = self.layout.model.term(Scores)
        return 0 if scores is None else scores.degrees or 0

    @cached_property
    def usual(self) -> Mapping[str, FloatArray]:  # (n_values,) each
        """Of each covariate, the share of games under each value; of many the most frequent ones.

        Between a score and the mean of its deviations games do not tell, so that a chance under no
        value in particular is one at the mean of the values that occur, not at the score alone.
        """
        if self.known is not None and self.known.usual is not None:
            return self.known.usual
        seen, out = self.layout.seen, {}
        for (name, values), codes in zip(seen.values, seen.codes, strict=True):
            there = codes >= 0
            games = np.bincount(codes[there], seen.counts[there], len(values))
            games[np.argsort(-games, kind="stable")[MOST_AVERAGED:]] = 0.0
            out[name] = games / max(games.sum(), 1.0)
        return out

    def _typical(
        self,
        items: IntArray,  # (n,)
        times: FloatArray,
        which: IntArray | None = None,
        given: Collection[str] = (),
    ) -> FloatArray:  # (n_draws, n, 1 + 2 n_planes)
        """Return states, each score with its deviations by covariates that are not given."""
        values = self.states(items, times, which)
        for k, one in enumerate(self.layout.numbers):
            if isinstance(one.term, By) and one.term.column not in given:
                shares = self.usual[one.term.column]
                for code in np.flatnonzero(shares).tolist():
                    keys = items * len(shares) + code
                    values[..., 0] += shares[code] * self.numbers(k, keys, times, which)
        return values

    def numbers(
        self, k: int, keys: IntArray, times: FloatArray, which: IntArray | None = None
    ) -> FloatArray:  # (n_draws, n)
        """Return one of the other terms, for some owners at some times.

        For effects of pairs an owner is a pair, low · n_items + high; for a covariate an item
        under a value, item · n_values + value; a side has the one owner 0.

        Parameters
        ----------
        k
            Which term, by its place in ``layout.numbers``.
        keys
            The owners, (n,).
        times
            The time of each, (n,).
        which
            Numbers of the draws; by default all.

        Returns
        -------
        numpy.ndarray
            Values in each draw, (n_draws, n).

        Examples
        --------
        >>> import numpy as np
        >>> import intransit as it
        >>> games = it.Timeline.from_arrays([0, 1, 0] * 4, [1, 2, 2] * 4, [1.0, 0.5, 1.5] * 4)
        >>> path = it.smooth(games, noise_scale=0.2, drift_scale=0.0, prior_scale=1.0,
        ...                  pair_scale=0.5, rng=0)
        >>> pair = np.array([0 * 3 + 1])  # 0 and 1, of three items
        >>> path.posterior(20).numbers(0, pair, np.array([0.0])).shape
        (20, 1)
        """
        paths, d = self.layout.numbers[k].paths, self.draws
        place, known = paths.find(keys)
        unseen = np.where(known, -1, UNSEEN + keys)
        scales = d.number_scales[:, k : k + 1]
        walks, returns = scales * d.number_rates[:, k : k + 1], d.number_reversions[:, k : k + 1]
        nothing = np.zeros(len(d))
        sizes = Sizes(walks, returns, scales, nothing, 0, nothing, self.layout.span)
        own = (k + 1) * (UNSEEN << 2)  # keys of noise, apart from those of other terms
        states = d.numbers[k][:, :, None]
        return _read(states, paths, place, unseen, times, which, sizes, own)[:, :, 0]

    # Margins and chances -----------------------------------------------------------------------

    def margins(
        self,
        first: IntArray,  # (n,)
        second: IntArray,
        times: FloatArray,
        *,
        sides: FloatArray | None = None,
        under: Mapping[str, IntArray] | None = None,
    ) -> FloatArray:  # (n_draws, n)
        """Return the margin of first over second at some times, in every draw.

        Parameters
        ----------
        first, second
            Numbers of the two items of each pair, (n,) each; below 0 for newcomers.
        times
            The time of each pair, (n,).
        sides
            1 where the first has the better side, -1 where the second has it, (n,); by default no
            side is better.
        under
            For covariates of the model, the number of each pair's value, (n,), or -1 for none; one
            that is not given is taken as it was on average over the games.

        Returns
        -------
        numpy.ndarray
            Margins, (n_draws, n).
        """
        points, place = _points(np.concatenate([first, second]), np.concatenate([times, times]))
        values = self._typical(*points, given=under or ())
        out = np.empty((len(self), len(first)))
        pair_margins(values, place[: len(first)], place[len(first) :], out)
        k = place_of(PairEffects, self.layout)
        if k >= 0:
            out += self._pair_effects(k, first, second, times)
        for k, one in enumerate(self.layout.numbers):
            if isinstance(one.term, By) and under is not None and one.term.column in under:
                out += self._deviations(k, one, first, second, times, under[one.term.column])
        if sides is not None and np.any(sides):
            out += sides * self.side_worth(times)
        return out

    def _pair_effects(
        self, k: int, first: IntArray, second: IntArray, times: FloatArray
    ) -> FloatArray:
        sign = np.sign(second - first)
        low, high = np.minimum(first, second), np.maximum(first, second)
        keys = np.where(
            low < 0, -1 - (low & 0xFFFF) * 65_536 - (high & 0xFFFF), low * self.n_items + high
        )
        return np.asarray(sign * self.numbers(k, keys, times))

    def _deviations(
        self,
        k: int,
        one: Numbers,
        first: IntArray,
        second: IntArray,
        times: FloatArray,
        codes: IntArray,
    ) -> FloatArray:
        names = dict(self.layout.seen.values)
        width = len(names[one.term.column])  # type: ignore[union-attr]
        known = codes >= 0
        both = [
            self.numbers(k, np.where(known, items * width + codes, -1), times)
            for items in (first, second)
        ]
        return np.where(known, both[0] - both[1], 0.0)

    def side_worth(self, times: FloatArray) -> FloatArray:  # (n_draws, n)
        """Return what the better side adds to a margin at some times.

        Parameters
        ----------
        times
            Times, (n,).

        Returns
        -------
        numpy.ndarray
            What it adds, (n_draws, n); 0 where the model has no side.
        """
        k = place_of(Side, self.layout)
        if k < 0 or not self.layout.numbers[k].paths.n_states:
            return np.zeros((len(self), len(times)))
        return self.numbers(k, np.zeros(len(times), np.int64), times)

    def results(self, margins: FloatArray) -> FloatArray:
        """Return the expected result at margins of draws, (n_draws, ...): a tie as half a win.

        Parameters
        ----------
        margins
            Margins in each draw, (n_draws, ...).

        Returns
        -------
        numpy.ndarray
            Expected results from 0 to 1, of the same shape.
        """
        wide = (slice(None), *([None] * (margins.ndim - 1)))
        cuts, noise = self._law_arrays()
        return expected_results(self.law.kind, margins, cuts[wide], noise[wide])

    def chances(
        self,
        first: IntArray,
        second: IntArray,
        times: FloatArray,
        *,
        sides: FloatArray | None = None,
        under: Mapping[str, IntArray] | None = None,
    ) -> FloatArray:  # (n_draws, n)
        """Return the chance that first beats second, in every draw, a tie as half a win.

        Parameters
        ----------
        first, second, times, sides, under
            As in `margins`.

        Returns
        -------
        numpy.ndarray
            Chances, (n_draws, n).
        """
        return self.results(self.margins(first, second, times, sides=sides, under=under))

    def levels(
        self,
        first: IntArray,
        second: IntArray,
        times: FloatArray,
        *,
        sides: FloatArray | None = None,
        under: Mapping[str, IntArray] | None = None,
    ) -> FloatArray:  # (n, n_levels)
        """Return the probability of every level, from the worst for first to the best.

        For wins without ties, and for readings: of a loss, of a tie (0), and of a win.

        Parameters
        ----------
        first, second, times, sides, under
            As in `margins`.

        Returns
        -------
        numpy.ndarray
            Probabilities, (n, n_levels), averaged over draws.
        """
        x = self.margins(first, second, times, sides=sides, under=under)
        if self.law.kind != "ordered":
            win = self.results(x).mean(axis=0)
            return np.stack([1.0 - win, np.zeros_like(win), win], axis=-1)
        least = [expit(x - edge[:, None]).mean(axis=0) for edge in boundaries(self.draws.cuts).T]
        return np.maximum(-np.diff(np.stack(least, axis=-1), axis=-1), 0.0)

    def matrices(self, items: IntArray, time: float) -> FloatArray:  # (n_draws, n, n)
        """Return the margins of some items at one time, in every draw.

        Parameters
        ----------
        items, time
            Numbers of the items, (n,), and the time.

        Returns
        -------
        numpy.ndarray
            Margins, (n_draws, n, n), skew-symmetric.
        """
        values = self._typical(items, np.full(len(items), time))
        r = self.n_planes
        u, v = values[:, :, 1 : 1 + r], values[:, :, 1 + r :]
        half = values[:, :, :1] + u @ v.swapaxes(1, 2)
        out = half - half.swapaxes(1, 2)
        k = place_of(PairEffects, self.layout)
        if k >= 0 and len(items) > 1:
            i, j = np.triu_indices(len(items), 1)
            effects = self._pair_effects(k, items[i], items[j], np.full(len(i), time))
            out[:, i, j] += effects
            out[:, j, i] -= effects
        return np.asarray(out)

    def upper_margins(self, items: IntArray, time: float) -> FloatArray:  # (n_draws, n_pairs)
        """Return the margins of all pairs of some items, first < second, in every draw.

        Parameters
        ----------
        items, time
            Numbers of the items, (n,), and the time.

        Returns
        -------
        numpy.ndarray
            Margins, (n_draws, n_pairs).
        """
        i, j = np.triu_indices(len(items), 1)
        return self.margins(items[i], items[j], np.full(len(i), time))

    def mean_matrix(self, items: IntArray, time: float) -> FloatArray:  # (n, n)
        """Return the chance that each item beats each other at one time, a half on the diagonal.

        Averaged over draws, a tie as half a win.  Of a pair that never met the effect is averaged
        over too.

        Parameters
        ----------
        items, time
            Numbers of the items, (n,), and the time.

        Returns
        -------
        numpy.ndarray
            Chances that the row beats the column, (n, n).
        """
        values = self._typical(items, np.full(len(items), time))
        of, out = self._matchups(items, items, time), np.empty((len(items), len(items)))
        # Row n meets those after it: cut so that both parts have as many pairs.
        middle = int(len(items) * (1.0 - np.sqrt(0.5)))
        _in_two(lambda a, b: expected_chances(values, a, b, of, out), middle, len(items))
        return out

    def _law_arrays(self) -> tuple[FloatArray, FloatArray]:  # (n_draws,) each
        """Return half the width of a tie, and the noise of readings; 0 where there is none."""
        cuts = self.draws.cuts[:, 0] if self.law.kind == "ordered" else np.zeros(len(self))
        noise = self.draws.noise if self.law.kind == "squared" else np.zeros(len(self))
        return np.ascontiguousarray(cuts), noise

    # Strength ----------------------------------------------------------------------------------

    @cached_property
    def _panels(self) -> tuple[IntArray, list[IntArray]]:
        """Return the panel that each item is measured by, by number, and who is on each panel.

        Of a group that is connected by comparisons: all its items, or `panel_size` at random.
        Small groups share a panel, of fewer than twice that size.
        """
        order = np.argsort(self.groups, kind="stable")
        sizes = np.bincount(self.groups)
        seats = np.minimum(sizes, self.panel_size)
        begin = np.cumsum(sizes) - sizes
        rng, seated = np.random.default_rng(PANEL_SEED), np.ones(self.n_items, bool)
        for group in np.flatnonzero(sizes > self.panel_size):
            own = order[begin[group] : begin[group] + sizes[group]]
            seated[own] = False
            seated[own[rng.choice(len(own), self.panel_size, replace=False)]] = True
        _, panel = np.unique((np.cumsum(seats) - seats) // self.panel_size, return_inverse=True)
        of_item, there = panel[self.groups], np.flatnonzero(seated)
        there = there[np.argsort(of_item[there], kind="stable")]
        return of_item, np.split(there, np.cumsum(np.bincount(of_item[there]))[:-1])

    def _measured(
        self, items: IntArray, measure: Callable[[IntArray, IntArray], FloatArray]
    ) -> FloatArray:  # (n_draws, n)
        """Return a measure of some items beside opponents, for each panel of these."""
        of_item, panels = self._panels
        out: FloatArray = np.empty((len(self._for_all), len(items)))
        for number in np.unique(of_item[items]):
            here = np.flatnonzero(of_item[items] == number)
            out[:, here] = measure(items[here], panels[number])
        return out

    def _beside(self, items: IntArray, panel: IntArray) -> FloatArray:  # (n, n_panel)
        """Return 1 where comparisons connect an item with one of the panel, else 0."""
        return np.equal.outer(self.groups[items], self.groups[panel]).astype(float)

    def strengths(self, items: IntArray, time: float) -> FloatArray:  # (n_draws, n)
        """Return the strength of some items at one time, in every draw.

        The mean chance of beating the others that comparisons connect an item with, a tie as half
        a win; where they connect more than 200, those of a panel of 200.  This is the one place
        where strength is worked out.  Of very many items fewer draws are used, the same whichever
        of them are asked for.

        Parameters
        ----------
        items, time
            Numbers of the items, (n,), and the time.

        Returns
        -------
        numpy.ndarray
            Strengths from 0 to 1, (n_draws, n).
        """
        return self._measured(items, lambda some, panel: self._strengths(some, panel, time))

    def _strengths(self, items: IntArray, panel: IntArray, time: float) -> FloatArray:
        """Return mean chances of beating those of the panel that an item is connected with."""
        which = self._for_all
        points = np.unique(np.concatenate([items, panel]))
        values = self._typical(points, np.full(len(points), time), which)
        weights = self._beside(items, panel)
        weights[items[:, None] == panel[None, :]] = 0.0
        of, out = self._matchups(items, panel, time, which), np.empty((len(which), len(items)))
        places = np.searchsorted(points, items), np.searchsorted(points, panel)
        own, n = (*places, weights, of, out), len(which)
        _in_two(lambda a, b: mean_chances(values, a, b, *own), n // 2, n)
        return out

    @cached_property
    def _for_all(self) -> IntArray:
        """The draws that there is time for where all items are measured by the panel."""
        n = self.n_items
        most = int(max(STRENGTH_WORK // max(n * min(n, self.panel_size), 1), 30))
        return spread_out(len(self), most)

    def ratings(self, items: IntArray, time: float) -> FloatArray:  # (n_draws, n)
        """Return the rating of some items at one time, in every draw: strength on a scale like Elo.

        An average item has 1500, and 400 points more are odds of ten to one against it (a tie as
        half a win):

            rating = 1500 + 400 log10(p / (1 - p))        p: chance at the item's mean margin

        The mean is over those that strength is a mean over.  This is the one place where ratings
        are worked out.

        Parameters
        ----------
        items, time
            Numbers of the items, (n,), and the time.

        Returns
        -------
        numpy.ndarray
            Ratings, (n_draws, n).
        """
        return self._measured(items, lambda some, panel: self._ratings(some, panel, time))

    def _ratings(self, items: IntArray, panel: IntArray, time: float) -> FloatArray:
        """Return ratings by the mean margin over those of the panel."""
        which, beside = self._for_all, self._beside(items, panel)
        beside /= np.maximum(beside.sum(axis=1, keepdims=True), 1.0)  # (n, n_panel)
        own, others = (self._typical(k, np.full(len(k), time), which) for k in (items, panel))
        mean, r = np.matmul(beside, others), self.n_planes
        x = own[..., 0] - mean[..., 0]
        x += np.sum(own[..., 1 : 1 + r] * mean[..., 1 + r :], axis=-1)
        x -= np.sum(own[..., 1 + r :] * mean[..., 1 : 1 + r], axis=-1)
        of = self._matchups(items, panel, time, which)
        row, column = np.nonzero(of.which >= 0)
        weights = (of.sign * beside)[row, column]
        shape = (of.effects.shape[1], len(items))
        x += of.effects @ csr_array((weights, (of.which[row, column], row)), shape=shape)
        if self.law.kind == "squared":
            z = x / of.noise[:, None]
            log_odds = log_ndtr(z) - log_ndtr(-z)
        else:
            cut = of.cuts[:, None]
            win, lose = (np.logaddexp(log_expit(y - cut), log_expit(y + cut)) for y in (x, -x))
            log_odds = win - lose
        return np.asarray(AVERAGE + TENFOLD / np.log(10.0) * log_odds)

    def _matchups(
        self, items: IntArray, panel: IntArray, time: float, which: IntArray | None = None
    ) -> Matchups:
        """Return effects of pairs that met, where each pair finds its own, and the law."""
        k = place_of(PairEffects, self.layout)
        which = np.arange(len(self)) if which is None else which
        cuts, noise = (one[which] for one in self._law_arrays())
        shape, nothing = (len(items), len(panel)), np.zeros((len(which), 1))
        sign = np.where(items[:, None] < panel[None, :], 1.0, -1.0)
        if k < 0:
            return Matchups(nothing, np.full(shape, -1), sign, nothing[:, 0], cuts, noise)
        low, high = np.minimum(*np.ix_(items, panel)), np.maximum(*np.ix_(items, panel))
        keys = (low * self.n_items + high).ravel()
        known = self.layout.numbers[k].paths.find(keys)[1]
        used, place = np.unique(keys[known], return_inverse=True)
        effect = np.full(len(keys), -2)
        effect[known] = place
        values = self.numbers(k, used, np.full(len(used), time), which) if len(used) else nothing
        flat = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * self.draws.number_scales[which, k] ** 2)
        return Matchups(values, effect.reshape(shape), sign, flat, cuts, noise)


def place_of(kind: type[PairEffects] | type[Side], layout: Layout) -> int:
    """Return which of the other terms is of a kind, or -1."""
    there = (k for k, one in enumerate(layout.numbers) if isinstance(one.term, kind))
    return next(there, -1)


def posterior_around(
    layout: Layout,
    law: OutcomeLaw,
    states: FloatArray,  # (n_draws, n_states, 1 + 4 r), as `first_order` makes them
    *,
    way: str,
    scales: Sequence[float],  # (1 + 2 r,)
    steps: FloatArray,  # (n_draws, 1 + 4 r)
    noise: float,
    cuts: Sequence[float] = (),
    numbers: tuple[FloatArray, ...] = (),  # (n_draws, n_states) each
    number_scales: Sequence[float] = (),
    number_rates: Sequence[float] = (),
    connected: bool = False,
) -> Posterior:
    """Return draws of a Gaussian around the mean of the states; scales and law are known."""
    n = len(states)

    def known(values: Sequence[float]) -> FloatArray:  # (n_draws, n_values)
        return np.tile(np.array(values, dtype=float), (n, 1))

    first = states[:, layout.items.begin[:-1][layout.newcomer], 0]
    draws = Draws(
        states=states,
        numbers=numbers,
        scales=known(scales),
        rates=np.zeros((n, 2)),
        reversions=np.zeros((n, 2)),
        number_scales=known(number_scales),
        number_rates=known(number_rates),
        number_reversions=np.zeros((n, len(number_rates))),
        newcomers=first.mean(axis=1, dtype=float) if first.size else np.zeros(n),
        tiers=np.zeros(n),
        jumps=np.zeros(n),
        cuts=known(cuts),
        noise=np.full(n, noise),
        chain=np.zeros(n, np.int64),
        steps=steps,
    )
    return Posterior(layout, law, draws, None, way, connected=connected)


def _in_two(work: Callable[[int, int], None], middle: int, end: int) -> None:
    """Do both parts of some work at once, each from where it begins to where it ends."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (0, middle), (middle, end)))


def _read(
    states: FloatArray,  # (n_draws, n_states, n_columns)
    paths: Paths,
    owners: IntArray,  # (n,): their places
    unseen: IntArray,  # (n,): below 0, or what noise goes by of an owner that was never seen
    times: FloatArray,  # (n,)
    which: IntArray | None,
    sizes: Sizes,
    own: int = 0,
    late: FloatArray | float = 0.0,  # (n,): time in which those came that were never seen
) -> FloatArray:  # (n_draws, n, n_columns)
    """Return paths at some times, in every draw or in some; what is not known of them is drawn."""
    before, after, since, until = around(paths, owners, times)
    seen = unseen < 0
    since = np.where(seen, since, late)
    outside = (until == 0) * np.where(times < paths.clock[before], 2, 1) if len(paths.clock) else 0
    keys = np.where(seen, paths.number(before) * 4 + outside, unseen) + own
    before = np.where(seen, before, -1)
    which = np.arange(len(states)) if which is None else which
    out = np.empty((len(which), len(owners), states.shape[2]))
    asked, n = (before, after, since, until, keys, sizes), len(which)
    if out.size < WORTH_TWO:
        read_paths(states, which, *asked, out)
    else:
        _in_two(lambda a, b: read_paths(states, which[a:b], *asked, out[a:b]), n // 2, n)
    return out


def around(
    paths: Paths, owners: IntArray, times: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return the states around each time, before and after, and how far off in time they are.

    Outside a path both are its nearest state, and nothing is left until the second.
    """
    nothing, nobody = np.zeros(len(owners)), len(paths.begin) == 1
    if nobody or not paths.moves:
        only = np.zeros(len(owners), np.int64) if nobody else paths.begin[owners]
        return only, only, nothing, nothing
    clock, before = paths.clock, np.empty(len(owners), np.int64)
    last_before(clock, paths.begin, owners, times, before)
    first, last = paths.begin[owners], paths.begin[owners + 1] - 1
    before = np.clip(before, first, last)
    after = np.where(times > clock[before], np.minimum(before + 1, last), before)
    inside = after > before
    return before, after, np.abs(times - clock[before]), (clock[after] - times) * inside


def _points(items: IntArray, times: FloatArray) -> tuple[tuple[IntArray, FloatArray], IntArray]:
    """Return the distinct items at times, and where each is among them."""
    if len(items) == 2 and items[0] != items[1]:
        return (items, times), np.arange(2)
    axis, when = np.unique(times, return_inverse=True)
    low = min(int(items.min(initial=0)), 0)
    keys, place = np.unique((items - low) * len(axis) + when, return_inverse=True)
    return (keys // len(axis) + low, axis[keys % len(axis)]), place


@dataclass(frozen=True)
class Summary:
    """A number that is not known exactly: best guess, interval, and whether it is above 0.

    Attributes
    ----------
    value
        At the solution, or the best guess there is.
    mean
        Over draws.
    low, high
        Ends of the interval.
    level
        Of the interval.
    probability_positive
        That it is above 0; a draw of exactly 0 counts half.
    values
        The number in each draw, (n_draws,).

    Examples
    --------
    >>> import numpy as np
    >>> import intransit as it
    >>> seen = it.Summary.of(np.array([-1.0, 1.0, 2.0, 4.0]), 1.5, 0.9)
    >>> seen.mean, seen.probability_positive
    (1.5, 0.75)
    """

    value: float
    mean: float
    low: float
    high: float
    level: float
    probability_positive: float
    values: FloatArray = field(repr=False, compare=False)

    @classmethod
    def of(cls, values: FloatArray, value: float, level: float) -> "Summary":
        """Summarise draws of a number.

        Parameters
        ----------
        values
            The number in each draw, (n_draws,).
        value
            The best guess.
        level
            Of the interval.

        Returns
        -------
        Summary
            Mean, interval, and whether it is above 0.

        Examples
        --------
        >>> import numpy as np
        >>> import intransit as it
        >>> seen = it.Summary.of(np.linspace(0.0, 10.0, 101), 5.0, 0.9)
        >>> round(seen.low, 6), round(seen.high, 6)
        (0.5, 9.5)
        """
        low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
        positive = float(np.mean(values > 0) + 0.5 * np.mean(values == 0))
        return cls(value, float(values.mean()), float(low), float(high), level, positive, values)

    @classmethod
    def of_function(
        cls,
        function: Callable[[FloatArray], float],
        draws: FloatArray,  # (n_draws, n_items, n_items)
        best: FloatArray,  # (n_items, n_items)
        level: float,
    ) -> "Summary":
        """Return a function of matrices, over draws and at the best guess.

        Parameters
        ----------
        function
            What is asked of a matrix of margins, (n_items, n_items); it returns one number.
        draws
            A matrix for each draw, (n_draws, n_items, n_items).
        best
            The best guess, (n_items, n_items).
        level
            Of the interval.

        Returns
        -------
        Summary
            The number at the best guess, its mean over draws, and its interval.

        Raises
        ------
        InputError
            If `function` does not return one number.

        Examples
        --------
        >>> import numpy as np
        >>> import intransit as it
        >>> X = np.array([[0.0, 1.0], [-1.0, 0.0]])
        >>> it.Summary.of_function(np.max, np.array([X, 2.0 * X, 3.0 * X]), 2.0 * X, 0.9).mean
        2.0
        """
        try:
            values = np.array([float(function(X)) for X in draws])
        except TypeError:
            raise InputError(
                "function: it must return one number for a matrix of margins; return several "
                "numbers by several calls."
            ) from None
        return cls.of(values, float(function(best)), level)


def reach_of(level: float) -> float:
    """Return how many deviations an interval of this level reaches to either side."""
    level = as_number("level", level, least=0.0, strict=True)
    if level >= 1.0:
        raise InputError(f"level is {level:g}; it must lie between 0 and 1, for instance 0.9.")
    return float(ndtri(0.5 + level / 2))


def check_entries(n: int, where: str, most: int = MOST_MARGINS) -> None:
    """Refuse to read more margins at once than memory will hold."""
    if n > most:
        raise InputError(
            f"{where}: {n:,} margins were asked for at once; ask for some pairs and times with "
            "margin(first, second, at) instead."
        )


CELLS_AT_ONCE = 1_000_000  # that are looked through at once


def part_of(whole: Posterior, items: IntArray) -> Posterior:
    """Return the posterior of some items, given by rising numbers; they are numbered anew."""
    layout, draws = whole.layout, whole.draws
    paths, rows = _some_paths(layout.items, items, np.arange(len(items)))
    numbers, drawn = [], []
    for one, values in zip(layout.numbers, draws.numbers, strict=True):
        keys, new = _owners(one, layout.seen, items)
        place, there = one.paths.find(keys)
        some, of_these = _some_paths(one.paths, place[there], new[there])
        numbers.append(Numbers(one.term, some))
        drawn.append(np.ascontiguousarray(values[:, of_these]))
    small = replace(
        layout,
        seen=_among(layout.seen, items),
        items=paths,
        other=np.zeros(0, np.int64),
        numbers=tuple(numbers),
        newcomer=layout.newcomer[items],
    )
    states = np.ascontiguousarray(draws.states[:, rows])
    draws = replace(draws, states=states, numbers=tuple(drawn))
    known = Known(whole.groups[items], whole.axis, whole.usual)
    return replace(whole, layout=small, draws=draws, mixing=None, known=known)


def _some_paths(paths: Paths, owners: IntArray, keys: IntArray) -> tuple[Paths, IntArray]:
    """Return the paths of some owners, named anew by rising keys, and which states they have."""
    order = np.argsort(keys, kind="stable")
    owners, keys = owners[order], keys[order]
    first = paths.begin[owners]
    counts = paths.begin[owners + 1] - first
    begin = np.concatenate([[0], np.cumsum(counts)])
    rows = np.repeat(first - begin[:-1], counts) + np.arange(begin[-1])
    made = Paths.without_cells(keys, begin, paths.clock[rows], paths.moves, paths.number(rows))
    return made, rows


def _owners(one: Numbers, seen: Observations, items: IntArray) -> tuple[IntArray, IntArray]:
    """Return the keys of all owners that some items may have, in the whole and in the part."""
    n = len(items)
    if isinstance(one.term, PairEffects):
        i, j = np.triu_indices(n, 1)
        return items[i] * seen.n_items + items[j], i * n + j
    if isinstance(one.term, By):
        width = len(dict(seen.values)[one.term.column])
        code = np.arange(width)
        return tuple((k[:, None] * width + code).ravel() for k in (items, np.arange(n)))  # type: ignore[return-value]
    return one.paths.keys, one.paths.keys  # a side belongs to nobody


def _among(seen: Observations, items: IntArray) -> Observations:
    """Return the games among some items, looking through all a part at a time."""
    inside = np.zeros(seen.n_items, bool)
    inside[items] = True
    rows = [np.zeros(0, np.int64)]
    for here in slices(len(seen), CELLS_AT_ONCE):
        pairs = seen.pairs[here]
        if not (pairs.min() >= 0 and pairs.max() < seen.n_items):
            raise InputError(
                "only: the file of this answer has games of items that it does not know; make it "
                "again with `intransit fit`."
            )
        rows.append(here.start + np.flatnonzero(inside[pairs].all(axis=1)))
    return seen.among(items, np.concatenate(rows))
