"""Margins kept up to date, one comparison at a time, in constant time and memory per item.

    x = s_i - s_j + Σ_c (s_ic q_jc - q_ic s_jc)              with random walks in time for s and q

What is known of an item is a mean and a covariance of its own (score, s, q) and the time of its
last comparison; the update is in `law_kernels`.  No covariance between items is kept:
that is what is given up against smoothing, beside all that later comparisons would say.
"""

from operator import index
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import FloatArray, IntArray
from intransit.checks import (
    as_flag,
    as_floats,
    as_number,
    as_whole,
    broadcast,
    check_option,
    check_pairs,
    open_rng,
)
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.inference.law_kernels import Beliefs, learn, learn_many, read_many
from intransit.inference.likelihood import Law
from intransit.inference.observations import Observations
from intransit.inference.paths import Layout, Paths, first_order, steps_of
from intransit.inference.posterior import Posterior, posterior_around, reach_of
from intransit.model.laws import OutcomeLaw, Readings, Wins
from intransit.model.terms import Factors, Model, Scores

FilterLoss = Literal["logistic", "squared"]

_LARGEST = 1e30  # of what is given: products of four such numbers are safe in double precision
_WIDEST_GAP = 2**20  # unused numbers below a new item: more are codes of another system
_MOST_FACTORS, _MOST_ITEMS = 1_000, 10**8  # more would not fit into memory
_START = 0.1  # of prior_scale: random means of s and q, small but not zero; see Notes


class Filter:
    """What is known of every item now, brought up to date by each comparison.

    Parameters
    ----------
    n_factors
        Number of columns of S and Q beside the scores; 0 for plain scores, 1 for items around a
        circle.
    scores
        Whether items also have a plain score.  Without factors they must.
    loss
        ``"logistic"``: an outcome is the share of `count` games that the first item won, each
        with probability 1 / (1 + exp(-margin)).  ``"squared"``: an outcome is the mean of
        `count` readings of the margin, each with standard deviation `noise_scale`.
    drift_scale
        How far an entry of S (scores included) moves in one unit of time, as a standard
        deviation; 0 for not at all.
    prior_scale
        Standard deviation of every entry before its item's first comparison.
    noise_scale
        Standard deviation of one reading about its margin; wins and losses do not use it.
    exposure_drift_scale
        The same as drift_scale, for Q.
    n_items
        Number of items to make room for at once.  More may arrive at any time.
    rng
        Seed or generator for the first means of s and q.  ``seed`` repeats them.

    Attributes
    ----------
    n_factors, scores, loss
        As given.
    n_seen
        Number of comparisons learnt.
    seed
        Seed that repeats the first means; None when a generator was given.

    Raises
    ------
    InputError
        If a number cannot be used, or there are neither scores nor factors.

    Notes
    -----
    Items are whole numbers from 0.  Comparisons are learnt in the order in which they are given.
    One whose time lies before an item's last comparison is learnt as if no time had passed since
    that one, so that variances never shrink by a gap; the same holds for questions about the
    past.  At zero means no comparison would tell of factors, so those of s and q start at random
    values of scale 0.1 `prior_scale` (of 0.001 to 1 about the best on simulated data), the same
    for an item whenever it arrives.  A filter may be copied and pickled; it is not meant to be
    used by several threads at once.

    Examples
    --------
    >>> filter = Filter(n_factors=1, drift_scale=0.1, rng=0)
    >>> for day in range(30):  # 0 beats 1 beats 2 beats 0
    ...     filter.observe(0, 1, 1.0, time=day)
    ...     filter.observe(1, 2, 1.0, time=day)
    ...     filter.observe(2, 0, 1.0, time=day)
    >>> bool(filter.probability([0, 1, 2], [1, 2, 0]).min() > 0.75)
    True
    >>> filter.observe(0, 1, 0.75, time=30.0, count=4)  # 0 won three of four games
    >>> filter
    Filter(n_items=3, n_factors=1: Learnt 91 comparisons, the latest at time 30.)

    Many at once, and what was expected of each before it was learnt:

    >>> filter = Filter(drift_scale=0.1, rng=0)
    >>> filter.forecast_many([0, 0, 0], [1, 1, 1], [1.0, 1.0, 1.0], [0.0, 1.0, 2.0]).round(2)
    array([0.5 , 0.62, 0.7 ])
    >>> filter.observe_many([0, 1, 0] * 10, [1, 2, 2] * 10, [1.0] * 30, range(2, 32))
    >>> low, high = filter.interval(0, 1, at=40.0)
    >>> bool(low < filter.margin(0, 1) < high)
    True

    What was learnt long ago tells less:

    >>> bool(filter.probability(0, 1) > filter.probability(0, 1, at=1000.0) > 0.5)
    True
    """

    def __init__(
        self,
        *,
        n_factors: int = 0,
        scores: bool = True,
        loss: FilterLoss = "logistic",
        drift_scale: float,
        prior_scale: float = 1.0,
        noise_scale: float = 1.0,
        exposure_drift_scale: float = 0.0,
        n_items: int = 0,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        check_option("loss", loss, get_args(FilterLoss))
        self.n_factors = as_whole("n_factors", n_factors, least=0, most=_MOST_FACTORS)
        if not (as_flag("scores", scores) or self.n_factors):
            raise InputError(
                "scores is False and n_factors is 0, so that nothing is left to learn; keep the "
                "scores or give factors."
            )
        self.loss: FilterLoss = loss
        self.scores = bool(scores)
        self.n_seen = 0
        self._prior = _scale("prior_scale", prior_scale, 1 / _LARGEST)
        noise = _scale("noise_scale", noise_scale, 1 / _LARGEST) ** 2
        drift = _scale("drift_scale", drift_scale)
        drifts = drift, _scale("exposure_drift_scale", exposure_drift_scale)
        self._least, self._most = (-_LARGEST, _LARGEST) if loss == "squared" else (0.0, 1.0)
        n_scores, r = int(self.scores), self.n_factors
        rates = np.repeat(np.square(drifts), [n_scores + r, r])
        k, noise = len(rates), noise if loss == "squared" else 0.0
        nobody = np.zeros((0, k)), np.zeros((0, k, k)), np.zeros(0)
        self._known = Beliefs(*nobody, rates, n_scores, noise, np.zeros((4, k)))
        self._rng, self.seed = open_rng(rng)
        if self.seed is not None:  # a stream of its own: `simulate` may have drawn from this seed
            self._rng = self._rng.spawn(1)[0]
        self._n_items = as_whole("n_items", n_items, least=0, most=_MOST_ITEMS)
        self._make_room("n_items", max(self._n_items, 16), 0)

    @property
    def n_items(self) -> int:
        """Number of items: one more than the largest number learnt of, at least as asked for."""
        return self._n_items

    @property
    def status(self) -> str:
        """What has been learnt, in a sentence."""
        if not self.n_seen:
            return "Nothing learnt yet."
        latest = np.nanmax(self._known.times[: self._n_items])
        return f"Learnt {plural(self.n_seen, 'comparison')}, the latest at time {latest:g}."

    def __repr__(self) -> str:
        return f"Filter(n_items={self.n_items}, n_factors={self.n_factors}: {self.status})"

    def observe(
        self, first: int, second: int, outcome: float, time: float, count: float = 1.0
    ) -> None:
        """Learn one comparison: at this time, first met second, `count` times, with this outcome.

        Takes microseconds, however much was learnt before.

        Parameters
        ----------
        first, second
            The two items, whole numbers from 0; new ones are welcome.
        outcome
            Share of the games that the first item won, from 0 to 1; or mean of readings of the
            margin.
        time
            When it was.
        count
            How many games or readings the outcome is the mean of.

        Raises
        ------
        InputError
            If an item, outcome, time or count cannot be used; nothing is learnt then.
        """
        try:
            first, second = index(first), index(second)
            # Adding refuses words, which float() alone would read as numbers.
            outcome, time, count = float(0.0 + outcome), float(0.0 + time), float(0.0 + count)
            fine = (
                first >= 0
                and second >= 0
                and first != second
                and self._least <= outcome <= self._most
                and -_LARGEST <= time <= _LARGEST
                and 0.0 < count <= _LARGEST
            )
        except (TypeError, ValueError, OverflowError):
            fine = False
        if not fine:
            self._check("observe", [first], [second], [outcome], [time], [count])
            raise InputError(
                f"observe: {first!r}, {second!r}, {outcome!r}, {time!r}, {count!r} were given; "
                "it takes two whole numbers, for the items, and three plain numbers."
            )
        if first >= self._n_items or second >= self._n_items:
            self._welcome("observe", max(first, second) + 1, 1)
        learn(self._known, first, second, outcome, time, count)
        self.n_seen += 1

    def observe_many(
        self,
        first: ArrayLike,
        second: ArrayLike,
        outcomes: ArrayLike,
        times: ArrayLike,
        counts: ArrayLike | None = None,
    ) -> None:
        """Learn comparisons in the order given, all of them or, if one cannot be used, none.

        Parameters
        ----------
        first, second
            The two items of each comparison, whole numbers from 0.
        outcomes
            Shares of games that the first item won, from 0 to 1; or means of readings of the
            margin.
        times
            When each comparison was.
        counts
            How many games or readings an outcome is the mean of; by default 1.

        Raises
        ------
        InputError
            If columns differ in length, or an item, outcome, time or count cannot be used.
        """
        self._learn("observe_many", (first, second, outcomes, times, counts), expect=False)

    def forecast_many(
        self,
        first: ArrayLike,
        second: ArrayLike,
        outcomes: ArrayLike,
        times: ArrayLike,
        counts: ArrayLike | None = None,
    ) -> FloatArray:  # (n,)
        """Learn comparisons in the order given, and return what was expected of each before it.

        With wins and losses the probability that the first item wins, averaged over what is not
        known; with readings the mean margin.  A fair test of the settings: each forecast has
        seen the comparisons before its own and nothing else.

        Parameters
        ----------
        first, second, outcomes, times, counts
            As `observe_many` takes and refuses them.

        Returns
        -------
        numpy.ndarray
            What was expected of each comparison, (n,).
        """
        return self._learn("forecast_many", (first, second, outcomes, times, counts), expect=True)

    def margin(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> np.float64 | FloatArray:
        """Return the mean margin of first over second, for one pair or for arrays of them.

        An item's mean stays where its last comparison left it, so that `at`, here, changes
        nothing; it widens `interval` and `probability`.  An item never compared is at its start.

        Parameters
        ----------
        first, second
            The two items, whole numbers from 0; arrays are broadcast.
        at
            The time, or an array of times; by default that of each item's last comparison.

        Returns
        -------
        float or numpy.ndarray
            Mean margins, in the shape of the arguments.

        Raises
        ------
        InputError
            If an item or time cannot be used, or shapes do not agree.
        """
        return self._read("margin", first, second, at)[..., 0][()]

    def interval(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None, level: float = 0.9
    ) -> tuple[np.float64 | FloatArray, np.float64 | FloatArray]:
        """Return (lower, upper): where the margin lies with probability `level`, `at` that time.

        Parameters
        ----------
        first, second, at
            As `margin` takes and refuses them.
        level
            Of the interval, between 0 and 1.

        Returns
        -------
        low : float or numpy.ndarray
            Lower ends, in the shape of the arguments.
        high : float or numpy.ndarray
            Upper ends, of the same shape.
        """
        reach = reach_of(level)
        mean, variance = np.moveaxis(self._read("interval", first, second, at), -1, 0)
        half = reach * np.sqrt(variance)
        return (mean - half)[()], (mean + half)[()]

    def probability(
        self, first: ArrayLike, second: ArrayLike, at: ArrayLike | None = None
    ) -> np.float64 | FloatArray:
        """Return the probability that first wins against second, averaged over what is not known.

        With readings, the probability that one reading is above 0.  The two orders of a pair sum
        to exactly 1.

        Parameters
        ----------
        first, second, at
            As `margin` takes and refuses them.

        Returns
        -------
        float or numpy.ndarray
            Probabilities, in the shape of the arguments.
        """
        mean, variance = np.moveaxis(self._read("probability", first, second, at), -1, 0)
        law = Law(self.loss, noise_scale=self.noise_scale)
        return law.expect(mean, variance, np.zeros(()))[()]

    @property
    def noise_scale(self) -> float:
        """Standard deviation of one reading; 1 for wins and losses, which do not use it."""
        return float(np.sqrt(self._known.noise)) if self.loss == "squared" else 1.0

    def known(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return means, covariances and last times of all items, and variances of steps.

        Returns
        -------
        means : numpy.ndarray
            Mean of every item's score, s and q, (n_items, k).
        covariances : numpy.ndarray
            Their covariances, (n_items, k, k); between items none is kept.
        times : numpy.ndarray
            When each item was last compared, (n_items,); of those never compared the latest of all.
        rates : numpy.ndarray
            Variances of a step of each entry in one unit of time, (k,).
        """
        means, blocks, times, rates, *_ = self._known
        n, latest = self._n_items, float(np.nanmax(times, initial=0.0))
        return means[:n].copy(), blocks[:n].copy(), np.nan_to_num(times[:n], nan=latest), rates

    def posterior(self, n: int = 200, *, rng: np.random.Generator | int | None = 0) -> Posterior:
        """Return draws of what is known now, for questions beyond one pair.

        The same `Posterior` that `fit` hands out: strengths, matrices, chances over draws.

        Parameters
        ----------
        n, rng
            Number of draws, 2 or more, and a seed or generator.

        Returns
        -------
        Posterior
            The draws.

        Raises
        ------
        InputError
            If `n` or `rng` cannot be used.
        """
        n, generator = as_whole("n", n, least=2), open_rng(rng)[0]
        means, blocks, times, rates = self.known()
        size, r, scores = len(means), self.n_factors, int(self.scores)
        roots = np.linalg.cholesky(blocks + 1e-12 * np.eye(means.shape[1]))
        noise = generator.standard_normal((n, *means.shape))
        drawn = means + np.einsum("ikl,nil->nik", roots, noise)
        states = first_order(
            drawn[:, :, :scores],
            drawn[:, :, scores : scores + r],
            drawn[:, :, scores + r :],
            means[:, scores : scores + r],
            means[:, scores + r :],
        )
        none, drift = np.zeros(0, np.int64), float(np.sqrt(rates[0]))
        everybody, empty = np.arange(size + 1), np.zeros(0)
        paths = Paths.without_cells(everybody[:-1], everybody, times, bool(rates.any()))
        pairs, codes = np.zeros((0, 2), np.int64), np.zeros((0, 0), int)
        seen = Observations(self.loss, size, pairs, empty, empty, empty, empty, codes, 0)
        terms = [Scores(1.0, degrees=None)] * scores + ([Factors(r, 1.0)] if r else [])
        law: OutcomeLaw = Wins() if self.loss == "logistic" else Readings(self.noise_scale)
        return posterior_around(
            Layout(seen, Model(tuple(terms)), paths, none, (), np.zeros(size, bool), 1.0),
            law,
            states,
            way="filter",
            scales=[1.0, *[1.0] * r, *[0.0] * r],
            steps=steps_of(scores * drift, drift, float(np.sqrt(rates[-1])), r, n),
            noise=self.noise_scale,
            connected=True,
        )

    def _read(
        self, where: str, first: ArrayLike, second: ArrayLike, at: ArrayLike | None
    ) -> FloatArray:  # (..., 2)
        """Return mean and variance of margins, in the shape to which the three broadcast."""
        times = as_floats(np.nan if at is None else at, f"{where}, at")
        if at is not None and not (np.abs(times) <= _LARGEST).all():
            raise InputError(f"{where}, at: a time is not a finite number, or beyond 1e30.")
        i, j, times = broadcast(where, first=first, second=second, at=times)
        pairs = check_pairs(np.stack([i.ravel(), j.ravel()], axis=1), None, where)
        needed = int(pairs.max(initial=-1)) + 1
        self._make_room(where, needed, len(pairs))  # a new item is answered for, and not kept
        out = np.empty((len(pairs), 2))
        read_many(self._known, pairs, times.flatten(), out)
        return out.reshape(*times.shape, 2)

    def _learn(self, where: str, given: tuple[Any, ...], *, expect: bool) -> FloatArray:
        pairs, outcomes, times, counts = self._check(where, *given)
        out = np.empty(len(pairs) if expect else 0)
        self._welcome(where, int(pairs.max(initial=-1)) + 1, len(pairs))
        learn_many(self._known, pairs, outcomes, times, counts, out)
        self.n_seen += len(pairs)
        return out

    def _check(
        self,
        where: str,
        first: ArrayLike,
        second: ArrayLike,
        outcomes: ArrayLike,
        times: ArrayLike,
        counts: ArrayLike | None,
    ) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Return pairs, outcomes, times and counts, or say what is wrong with the first bad row."""
        given = {"first": first, "second": second, "outcomes": outcomes, "times": times}
        columns = [as_floats(value, f"{where}, {name}") for name, value in given.items()]
        n = columns[0].size
        columns.append(np.ones(n) if counts is None else as_floats(counts, f"{where}, counts"))
        for name, column in zip([*given, "counts"], columns, strict=True):
            if column.shape != (n,):
                raise InputError(
                    f"{where}, {name}: shape {column.shape} was given where first has "
                    f"{columns[0].shape}; give one value for each comparison."
                )
        pairs = check_pairs(np.stack([first, second], axis=1), None, where)
        # The one kind of array that loops are compiled for.
        Y, T, C = (np.require(column, requirements=["C", "W"]) for column in columns[2:])
        finite = "it must be a finite number, not beyond 1e30"
        share = "it must be a share from 0 to 1 of the games"
        self_met = pairs[:, 0] == pairs[:, 1]
        off = ~((self._least <= Y) & (self._most >= Y))
        late = ~(np.abs(T) <= _LARGEST)
        empty = ~((C > 0.0) & (C <= _LARGEST))
        advice = finite if self.loss == "squared" else share
        for bad, values, found in (
            (self_met, pairs[:, 0], "sets item {} against itself; it needs two different items"),
            (off, Y, f"has the outcome {{}}; {advice}"),
            (late, T, f"has the time {{}}; {finite}"),
            (empty, C, "has the count {}; it must be above 0, and not beyond 1e30"),
        ):
            if bad.any():
                row = int(np.argmax(bad))
                which = f"row {row}" if where != "observe" else "the comparison"
                raise InputError(f"{where}: {which} {found.format(values[row])}.")
        return pairs, Y, T, C

    def _welcome(self, where: str, needed: int, n_rows: int) -> None:
        """Count items up to the number needed among those learnt of, and make room for them."""
        self._make_room(where, needed, n_rows)
        self._n_items = max(self._n_items, needed)

    def _make_room(self, where: str, needed: int, n_rows: int) -> None:
        """Hold at least so many items, at least twice as many as before if that takes more room."""
        if needed - self._n_items - 2 * n_rows > _WIDEST_GAP:
            raise InputError(
                f"{where}: item {needed - 1} is far beyond the {self._n_items:,} items so far; "
                "number items from 0 without large gaps, or pass n_items to make room for them."
            )
        old = self._known
        held, k = old.means.shape
        if needed <= held:
            return
        new = max(needed, 2 * held) - held
        means, blocks = np.zeros((new, k)), np.zeros((new, k, k))
        # Row by row from one stream: an item's start does not depend on when room was made.
        factors = self._rng.standard_normal((new, k - old.n_scores))
        means[:, old.n_scores :] = _START * self._prior * factors
        blocks[:, np.arange(k), np.arange(k)] = self._prior**2
        self._known = old._replace(
            means=np.concatenate([old.means, means]),
            blocks=np.concatenate([old.blocks, blocks]),
            times=np.concatenate([old.times, np.full(new, np.nan)]),
        )


def _scale(name: str, value: object, least: float = 0.0) -> float:
    number = as_number(name, value, least=least)
    if number > _LARGEST:
        raise InputError(f"{name} is {value!r}, beyond {_LARGEST:g}; choose other units.")
    return number
