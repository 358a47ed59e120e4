"""Comparisons at real-valued times, as cells, and the chains of states that the cells speak of.

All readings of one pair at one time share a margin and collapse into one cell, so cost follows
cells, not rows.  An item has a state only at times at which it was compared; between them its
random walk is integrated exactly,

    s(t_k) - s(t_{k-1})  ~  normal, variance  drift_scale² (t_k - t_{k-1})

so cost follows comparisons, never items times periods.  What does not drift has one state.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from intransit.arrays import CHUNK, BoolArray, FloatArray, IntArray, slices
from intransit.checks import OF_COUNTS, as_column, as_items, as_whole, check_entries, check_pairs
from intransit.errors import InputError

if TYPE_CHECKING:
    from intransit.data.measurements import Measurements

WELL_FILLED = 8  # owners times times, for each state that a cell speaks of
MOST_LEVELS = 50  # of victory
NEARBY = 65_536  # items: their states at one time fit into a cache of 1 MB, where they are found
SAME_TIME = 1e-12  # of the largest time, or of the span: closer times are one


@dataclass(frozen=True, eq=False)
class Rows:
    """Comparisons as they came: at this time, first against second, with this outcome."""

    times: FloatArray  # (n_rows,)
    pairs: IntArray  # (n_rows, 2)
    outcomes: FloatArray  # (n_rows,): the mean of `counts` readings
    counts: FloatArray  # (n_rows,)
    sides: FloatArray | None = None  # (n_rows,): 1 the first has the better side, -1 the second

    def __len__(self) -> int:
        return len(self.times)

    def only(self, which: IntArray | BoolArray) -> "Rows":
        """Return some of the rows."""
        sides = None if self.sides is None else self.sides[which]
        return Rows(
            self.times[which], self.pairs[which], self.outcomes[which], self.counts[which], sides
        )


@dataclass(frozen=True, eq=False)
class Timeline:
    """Comparisons in any order, each at a time of its own.

    Build it with `from_arrays`, or from periods with `from_measurements`.

    Attributes
    ----------
    rows
        The comparisons, as columns.
    n_items
        Number of items.

    Examples
    --------
    >>> games = Timeline.from_arrays([0, 1, 2], [1, 2, 0], [1.0, 1.0, 0.0], [0.5, 0.75, 3.0])
    >>> games
    Timeline(n_items=3, n_outcomes=3, times 0.5 to 3)
    """

    rows: Rows
    n_items: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def times(self) -> FloatArray:  # (n_outcomes,)
        """When each comparison was."""
        return self.rows.times

    @property
    def pairs(self) -> IntArray:  # (n_outcomes, 2)
        """First and second item of each comparison."""
        return self.rows.pairs

    @property
    def outcomes(self) -> FloatArray:  # (n_outcomes,)
        """What came out, as the first item sees it."""
        return self.rows.outcomes

    @property
    def counts(self) -> FloatArray:  # (n_outcomes,)
        """How many readings (or games) each outcome is the mean of; also its weight."""
        return self.rows.counts

    def __repr__(self) -> str:
        span = f"times {self.times.min():g} to {self.times.max():g}"
        return f"Timeline(n_items={self.n_items}, n_outcomes={len(self)}, {span})"

    @classmethod
    def from_arrays(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        outcomes: ArrayLike,
        times: ArrayLike | None = None,
        *,
        counts: ArrayLike | None = None,
        sides: ArrayLike | None = None,
        n_items: int | None = None,
    ) -> "Timeline":
        """Build from columns of equal length.

        Parameters
        ----------
        first, second
            The two items of each comparison, whole numbers from 0.
        outcomes
            The margin that was read, or the share of games that the first item won.
        times
            Any finite numbers, in any order, equal ones welcome; without them nothing drifts.
        counts
            How many readings or games an outcome is the mean of.  Any number above 0, so that a
            weight is a count too: 0.5 makes an outcome count half.
        sides
            Who had the better side (at home, moving first): 1 the first item, -1 the second, 0
            nobody.
        n_items
            Number of items; by default one more than the largest that occurs.

        Returns
        -------
        Timeline
            The comparisons, in the order given.

        Raises
        ------
        InputError
            If columns differ in length, or an item, count, side or number cannot be used.

        Examples
        --------
        >>> import intransit as it
        >>> games = it.Timeline.from_arrays([0, 1], [1, 2], [0.75, 0.5], [1.0, 2.0], counts=[4, 2])
        >>> games.counts
        array([4., 2.])
        """
        first, second = as_items(first, "first"), as_items(second, "second")
        if first.ndim != 1 or first.shape != second.shape:
            raise InputError(
                f"timeline: {first.shape} first and {second.shape} second items were given; "
                "there must be one of each for every comparison."
            )
        if not len(first):
            raise InputError("timeline: no comparison was given; at least one is needed.")
        stacked = np.stack([first, second], axis=1)
        size = None if n_items is None else as_whole("n_items", n_items, least=2)
        pairs = check_pairs(stacked, size, "timeline")
        columns = {"outcomes": outcomes, "times": np.zeros(len(pairs)) if times is None else times}
        if counts is not None:
            columns["counts"] = counts
        checked = {name: as_column(name, values, len(pairs)) for name, values in columns.items()}
        if counts is None:
            checked["counts"] = np.broadcast_to(1.0, len(pairs))  # no memory for very many
        rule = f"{OF_COUNTS}, so leave the row out."
        check_entries(checked["counts"] <= 0, checked["counts"], "counts", rule)
        n = max(int(pairs.max()) + 1, 2) if size is None else size
        better = None if sides is None else as_column("sides", sides, len(pairs))
        if better is not None:
            rule = "a side is 1 (the first item's), -1 (the second's) or 0 (nobody's)."
            check_entries(np.abs(better) > 1, better, "sides", rule)
        rows = Rows(checked["times"], pairs, checked["outcomes"], checked["counts"], better)
        return cls(rows, n)

    @classmethod
    def from_measurements(
        cls,
        measurements: "Measurements",
        *,
        times: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> "Timeline":
        """Build from periods: period t is at time t, or at the times given, one each.

        Parameters
        ----------
        measurements
            What was read in each period, oldest first: single pairs only.
        times
            When each period was; by default 0, 1, 2, ….
        weights
            One for each period, above 0: multiplies the counts of its readings.

        Returns
        -------
        Timeline
            The readings, period by period.

        Raises
        ------
        InputError
            If readings mix several pairs, or times or weights do not fit the periods.

        Examples
        --------
        >>> import intransit as it
        >>> seen = it.Measurements.from_pairs([[(0, 1)], [(1, 2), (0, 2)]], [[1.0], [0.5, 2.0]])
        >>> it.Timeline.from_measurements(seen, times=[10.0, 20.0]).times
        array([10., 20., 20.])
        """
        from intransit.data.measurements import Entries  # noqa: PLC0415  games need none of it

        n = measurements.n_periods
        when = as_column("times", np.arange(n) if times is None else times, n)
        shares = as_column("weights", np.ones(n) if weights is None else weights, n)
        if (shares <= 0).any():
            raise InputError("weights: a weight must be above 0; leave the period out instead.")
        for t, readings in enumerate(measurements.periods):
            if not isinstance(readings.operator, Entries):
                raise InputError(
                    f"measurements: period {t} has readings that mix several pairs "
                    f"({type(readings.operator).__name__}); smoothing over time takes single "
                    "pairs only, so use recover, or read pairs one by one."
                )
        periods = measurements.periods
        lengths = [readings.operator.n_outcomes for readings in periods]
        rows = Rows(
            np.repeat(when, lengths),
            np.concatenate([r.operator.pairs for r in periods]),  # type: ignore[attr-defined]
            np.concatenate([readings.outcomes for readings in periods]),
            np.concatenate(
                [share * readings.counts for share, readings in zip(shares, periods, strict=True)]
            ),
        )
        return cls(rows, measurements.n_items)


def as_timeline(
    measurements: object, *, weights: ArrayLike | None = None, after: float | None = None
) -> Timeline:
    """Return comparisons at times, whatever was given; periods follow `after`, one unit apart."""
    if not isinstance(measurements, Timeline):
        from intransit.data.measurements import Measurements  # noqa: PLC0415  games need none of it

        if isinstance(measurements, Measurements):
            begin = 0.0 if after is None else after + 1.0
            times = begin + np.arange(measurements.n_periods)
            return Timeline.from_measurements(measurements, times=times, weights=weights)
        raise InputError(
            f"measurements: a {type(measurements).__name__} was given; build one with "
            "Measurements.from_pairs or Timeline.from_arrays."
        )
    if weights is None:
        return measurements
    shares = as_column("weights", weights, len(measurements))
    first, second = measurements.pairs.T
    return Timeline.from_arrays(
        first,
        second,
        measurements.outcomes,
        measurements.times,
        counts=measurements.counts * shares,
        sides=measurements.rows.sides,
        n_items=measurements.n_items,
    )


def check_outcomes(rows: Rows, loss: str) -> None:
    """Refuse rows that say nothing, and wins that are no shares."""
    if (rows.pairs[:, 0] == rows.pairs[:, 1]).all():
        raise InputError(
            "measurements: every comparison is of an item with itself; nothing can be learnt "
            "from them."
        )
    if loss == "ordered":
        wrong = (rows.outcomes != np.round(rows.outcomes)) | (np.abs(rows.outcomes) > MOST_LEVELS)
        rule = f"levels are whole numbers from -{MOST_LEVELS} to {MOST_LEVELS}, 0 a tie, 1 a win, "
        check_entries(wrong, rows.outcomes, "outcomes", f"{rule}more a clearer one.")
    if loss == "logistic":
        rule = "with the logistic loss an outcome is the share of games that the first item won, "
        wrong = (rows.outcomes < 0) | (rows.outcomes > 1)
        check_entries(wrong, rows.outcomes, "outcomes", f"{rule}from 0 to 1.")


@dataclass(frozen=True, eq=False)
class Cells:
    """One entry for each pair and time that was read, in the order in which loops pass over them.

    By time; at a time in blocks by the second item, whose states a cache holds; then by pair.
    Where sides are known, or outcomes are levels, one for each side and level of a pair and time.
    """

    axis: FloatArray  # (n_times,): the distinct times, rising
    when: IntArray  # (n_cells,): which of them; 32 bits, as are pairs
    pairs: IntArray  # (n_cells, 2), first < second
    counts: FloatArray  # (n_cells,)
    means: FloatArray  # (n_cells,): of the outcomes, as the first item sees them
    n_rows: int  # without those that compare an item with itself
    spread: float  # Σ counts (outcome - mean of its cell)², over rows
    log_counts: float  # Σ log counts, over rows
    sides: FloatArray | None = None  # (n_cells,): as the first item sees them

    def __len__(self) -> int:
        return len(self.when)

    @property
    def times(self) -> FloatArray:  # (n_cells,)
        """The time of each cell."""
        return self.axis[self.when]

    def pair_keys(self, n_items: int) -> IntArray:  # (n_cells,)
        """Return one number for each pair, rising with first and then second."""
        return self.pairs[:, 0].astype(np.int64) * n_items + self.pairs[:, 1]


@dataclass(frozen=True, eq=False)
class Chains:
    """The states of all owners (items, or pairs), each owner's in order of time.

    Where owners drift all states are in order of time, then of owner: what meets at a time then
    fits into a core's cache, which loops over cells want, and chains find the state before in a
    run.
    """

    axis: FloatArray  # (n_times,): the distinct times
    owners: IntArray  # (n_states,); 32 bits, as are those that follow
    when: IntArray  # (n_states,): position on the axis
    before: IntArray  # (n_states,): the owner's state before; of a first state itself
    firsts: IntArray  # (n_owners,): the first state of each owner
    idle: BoolArray  # (n_owners,): no cell speaks of them
    drifting: bool  # otherwise an owner has one state, for all times

    @classmethod
    def of(
        cls, axis: FloatArray, owners: IntArray, when: IntArray, idle: BoolArray, drifting: bool
    ) -> "Chains":
        """Link states, given so that each owner's are in order of time."""
        from intransit.kernels import link_owners  # noqa: PLC0415  whoever reads does without

        before, firsts = np.empty(len(owners), np.int32), np.empty(len(idle), np.int32)
        link_owners(owners, before, firsts)
        return cls(axis, owners, when, before, firsts, idle, drifting)

    @property
    def n_states(self) -> int:
        """Number of states of all owners."""
        return len(self.owners)

    @property
    def n_owners(self) -> int:
        """Number of owners."""
        return len(self.firsts)

    @property
    def times(self) -> FloatArray:  # (n_states,)
        """When each state is."""
        return self.axis[self.when]

    @property
    def keys(self) -> IntArray:  # (n_states,)
        """One number for each state, rising with its time and then with its owner."""
        return self.when.astype(np.int64) * self.n_owners + self.owners

    @cached_property
    def by_owner(self) -> tuple[IntArray, IntArray]:  # (n_states,), (n_owners + 1,)
        """Each owner's states after those of the one before, and where they begin there."""
        from intransit.kernels import list_by_key  # noqa: PLC0415

        states, starts = np.empty(self.n_states, np.int32), np.zeros(self.n_owners + 1, np.int64)
        list_by_key(self.owners, states, starts)
        return states, starts

    def gaps(self, states: IntArray | slice) -> FloatArray:
        """Return the time since the owner's state before; 0 for its first."""
        return np.asarray(self.axis[self.when[states]] - self.axis[self.when[self.before[states]]])

    def around(
        self, owners: IntArray, times: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return the states around each time: before, after, the share of the second, and a spread.

        The owner at that time is (1 - share) · before + share · after + noise, with variance
        drift_scale² · spread: a Brownian bridge between two states, a free walk outside them.
        """
        if not self.drifting:
            nothing = np.zeros(len(owners))
            return self.firsts[owners], self.firsts[owners], nothing, nothing
        states, starts = self.by_owner
        first, last = starts[owners], starts[owners + 1] - 1
        rank = np.searchsorted(self.axis, times, side="right") - 1
        every = self.owners[states] * np.int64(len(self.axis)) + self.when[states]
        here = np.searchsorted(every, owners * np.int64(len(self.axis)) + rank, side="right") - 1
        before = states[np.clip(here, first, last)]
        after = states[np.clip(here + 1, first, last)]
        left, right = self.axis[self.when[before]], self.axis[self.when[after]]
        gap = right - left
        inside = (gap > 0) & (times > left)
        share = np.where(inside, (times - left) / np.where(gap > 0, gap, 1.0), 0.0)
        bridge = share * (right - times)
        outside = np.where(times > right, times - right, np.maximum(left - times, 0.0))
        spread = np.where(inside, bridge, outside)
        # The prior is that of an owner's first cell, whenever that will be.
        return before, after, share, np.where(self.idle[owners], 0.0, spread)


def collapse_rows(rows: Rows, n_items: int, *, shares: bool, levels: bool = False) -> Cells:
    """Collapse rows into cells.

    Swapping a pair turns the outcome y into -y, or into 1 - y when outcomes are shares of wins.
    Outcomes that are levels are counted, never averaged.
    """
    from intransit.kernels import average_runs, count_runs, count_wins  # noqa: PLC0415

    axis, when = _distinct_times(rows.times)
    itself = rows.pairs[:, 0] == rows.pairs[:, 1]
    if itself.any():
        rows, when = rows.only(~itself), when[~itself]
    del itself
    flipped = rows.pairs[:, 0] > rows.pairs[:, 1]
    sides = None if rows.sides is None else np.where(flipped, -1.0, 1.0) * rows.sides
    # Wins of single games go into the numbers that are sorted: to fetch each takes much longer.
    single = shares and sides is None and bool((rows.counts == 1.0).all()) and _are_wins(rows)
    if single:
        y = (rows.outcomes == 1.0) != flipped
        codes, n_codes = y, 2
    else:
        y = rows.outcomes.copy()
        np.subtract(1.0 if shares else 0.0, y, out=y, where=flipped)
        codes, n_codes = _codes(y if levels else None, sides)
    del flipped
    (joint, n_pairs), distinct = _pair_places(rows.pairs, n_items), None
    if n_pairs * len(axis) * n_codes >= 2**62:
        distinct, joint = np.unique(joint, return_inverse=True)
        n_pairs = len(distinct)
    _add_moments(joint, when, n_pairs)  # in place, as is much here: large tables fill the memory
    if n_codes > 1:
        joint *= n_codes
        joint += codes
    del when, codes
    joint, order, room = _sorted(joint, n_pairs * len(axis) * n_codes, only=single)
    n_cells = count_runs(joint, int(single))
    counts, means = _first(room.view(np.float64), n_cells), np.empty(n_cells)
    del room
    if single:
        spread, n_codes = count_wins(joint, counts, means), 1
    else:
        weights = rows.counts[:1] if (rows.counts == rows.counts[:1]).all() else rows.counts
        spread = average_runs(joint, order, weights, y, counts, means)
    order = order[:n_cells]
    if levels:  # to the last digit
        means = y[order]
    sides = None if sides is None else sides[order]
    del order, y
    if n_codes > 1:
        joint[:n_cells] //= n_codes
    when, pairs = np.empty(n_cells, np.int32), _first(joint.view(np.int32).reshape(-1, 2), n_cells)
    for part in slices(n_cells, CHUNK // 16):  # what is in between stays in a cache
        when[part], pair = np.divmod(joint[part], n_pairs)
        pairs[part] = _pairs_at(pair if distinct is None else distinct[pair], n_items)
    log_counts = 0.0 if single else float(np.sum(np.log(rows.counts)))
    return Cells(axis, when, pairs, counts, means, len(rows), spread, log_counts, sides)


def _pair_places(pairs: IntArray, n_items: int) -> tuple[IntArray, int]:  # (n,)
    """Return a number for each pair, in whichever order, and how many there may be.

    Numbers rise with the block of `NEARBY` items of the second, then with first and second.
    """
    width = max(min(n_items, NEARBY), 1)
    out = np.empty(len(pairs), np.int64)
    for part in slices(len(pairs), CHUNK // 16):  # what is in between stays in a cache
        first, second = (f(pairs[part, 0], pairs[part, 1]) for f in (np.minimum, np.maximum))
        block, rest = np.divmod(second.astype(np.int64), width)
        out[part] = (block * n_items + first) * width + rest
    return out, -(-n_items // width) * n_items * width


def _pairs_at(places: IntArray, n_items: int) -> IntArray:  # (n, 2)
    """Return the pairs of such numbers."""
    width = min(n_items, NEARBY)
    block, rest = np.divmod(places, width)
    block, first = np.divmod(block, n_items)
    return np.stack([first, block * width + rest], axis=1)


def _add_moments(keys: IntArray, when: IntArray, n_pairs: int) -> None:
    """Have numbers of pairs rise with the moment first."""
    for part in slices(len(keys), CHUNK // 16):
        keys[part] += when[part] * np.int64(n_pairs)


def _are_wins(rows: Rows) -> bool:
    """Return whether every outcome is a win or a loss."""
    return all(
        bool(((rows.outcomes[part] == 0.0) | (rows.outcomes[part] == 1.0)).all())
        for part in slices(len(rows), CHUNK // 16)
    )


ArrayT = TypeVar("ArrayT", bound=np.ndarray)


def _first(room: ArrayT, n: int) -> ArrayT:
    """Return n entries to write to: of an array not needed any more, unless it is much longer."""
    if 8 * n >= 7 * len(room):
        return room[:n]  # type: ignore[return-value]
    return np.empty((n, *room.shape[1:]), room.dtype)  # type: ignore[return-value]


def _sorted(
    keys: IntArray, n_keys: int, *, only: bool = False
) -> tuple[IntArray, IntArray, IntArray]:
    """Return keys below n_keys rising, where each was, equal ones as they came, and room for keys.

    The keys given are overwritten.  Where only they are wanted, none is told where it was.
    """
    from intransit.kernels import sort_keys  # noqa: PLC0415

    n = 0 if only else len(keys)
    order: IntArray = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    room = np.empty_like(keys), np.empty_like(order)
    rising, order = sort_keys(keys, order, max(n_keys - 1, 1).bit_length(), *room)
    return rising, order, room[0] if np.may_share_memory(rising, keys) else keys


def _codes(levels: FloatArray | None, sides: FloatArray | None) -> tuple[IntArray | int, int]:
    """Return what cells of one pair and time differ by, as numbers from 0, and how many."""
    codes: IntArray | int = 0
    n_codes = 1
    for values in (levels, sides):
        if values is not None:
            distinct, code = np.unique(values, return_inverse=True)
            codes, n_codes = codes * len(distinct) + code, n_codes * max(len(distinct), 1)
    return codes, n_codes


def merge_cells(old: Cells, new: Cells, n_items: int, *, levels: bool = False) -> Cells:
    """Return the cells of both; a pair and time that both have becomes one cell.

    Costs a pass over the old ones.
    """
    axis, back = _distinct_times(np.concatenate([old.axis, new.axis]))
    when = [back[: len(old.axis)][old.when], back[len(old.axis) :][new.when]]
    several = levels or old.sides is not None
    if several or not len(old) or not len(new):
        return _merge_by_sorting(old, new, axis, when, n_items, levels)
    keys = []
    for cells, moments in zip((old, new), when, strict=True):
        key, n_pairs = _pair_places(cells.pairs, n_items)
        _add_moments(key, moments, n_pairs)
        keys.append(key)
    place = np.searchsorted(keys[0], keys[1])
    inside = np.minimum(place, len(keys[0]) - 1)
    known = keys[0][inside] == keys[1]
    counts, means = old.counts.copy(), old.means.copy()
    at, n = inside[known], new.counts[known]
    total = counts[at] + n
    gap = new.means[known] - means[at]
    spread = old.spread + new.spread + float(np.sum(counts[at] * n / total * gap**2))
    means[at] += gap * n / total
    counts[at] = total
    fresh, where = ~known, place[~known]
    return Cells(
        axis,
        np.insert(when[0], where, when[1][fresh]),
        np.insert(old.pairs, where, new.pairs[fresh], axis=0),
        np.insert(counts, where, new.counts[fresh]),
        np.insert(means, where, new.means[fresh]),
        old.n_rows + new.n_rows,
        spread,
        old.log_counts + new.log_counts,
    )


def _merge_by_sorting(
    old: Cells, new: Cells, axis: FloatArray, when: list[IntArray], n_items: int, levels: bool
) -> Cells:
    """Return the cells of both, the slow and general way."""
    sides = None
    if old.sides is not None and new.sides is not None:
        sides = np.concatenate([old.sides, new.sides])
    rows = Rows(
        axis[np.concatenate(when)],
        np.concatenate([old.pairs, new.pairs]),
        np.concatenate([old.means, new.means]),
        np.concatenate([old.counts, new.counts]),
        sides,
    )
    cells = collapse_rows(rows, n_items, shares=True, levels=levels)
    return replace(
        cells,
        n_rows=old.n_rows + new.n_rows,
        spread=cells.spread + old.spread + new.spread,
        log_counts=old.log_counts + new.log_counts,
    )


def _distinct_times(times: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct times, rising, and which of them each is; nearly equal ones are one."""
    axis = np.unique(times)
    when = np.empty(len(times), np.int32)
    step = (axis[-1] - axis[0]) / max(len(axis) - 1, 1) if len(axis) else 0.0
    for part in slices(len(times), CHUNK // 16):
        when[part] = _places_on(axis, step, times[part])
    if len(axis) > 1:
        close = np.diff(axis) <= SAME_TIME * max(axis[-1] - axis[0], abs(axis[0]), abs(axis[-1]))
        if close.any():
            group = np.concatenate([[0], np.cumsum(~close)]).astype(np.int32)
            axis, when = axis[np.concatenate([[True], ~close])], group[when]
    return axis, when


def _places_on(axis: FloatArray, step: float, times: FloatArray) -> IntArray:
    """Return where times stand on their axis: where equal steps lead to, or by a search."""
    if step > 0.0:
        guess = np.rint((times - axis[0]) / step).astype(np.int32)
        if (axis.take(guess, mode="clip") == times).all():
            return np.asarray(guess)
    return np.searchsorted(axis, times)


def link_states(
    owners: IntArray,  # (n_cells,) or (n_cells, k): who a cell speaks of
    when: IntArray,  # (n_cells,)
    axis: FloatArray,
    n_owners: int,
    *,
    drifting: bool,
) -> tuple[Chains, IntArray]:
    """Return the states that these cells need, and for each cell and owner its state.

    They are in order of time, then of owner.  An owner that no cell speaks of has one, at the
    first time.
    """
    if not drifting:
        everyone = np.arange(n_owners, dtype=np.int32)
        idle = np.ones(n_owners, bool)
        idle[owners.ravel()] = False
        chains = Chains(axis, everyone, 0 * everyone, everyone, everyone, idle, False)
        return chains, np.asarray(owners, np.int32)
    n_keys = n_owners * max(len(axis), 1)

    def keys_of(part: slice) -> IntArray:
        moments = when[part].reshape(-1, *[1] * (owners.ndim - 1))
        return owners[part] + moments * np.int64(n_owners)

    if n_keys <= WELL_FILLED * owners.size:  # a list of all that there may be needs no sorting
        there = np.zeros(n_keys, bool)
        for part in slices(len(owners), CHUNK // 16):  # what is in between stays in a cache
            there[keys_of(part)] = True
        idle = np.asarray(~there.reshape(-1, n_owners).any(axis=0))
        there[np.flatnonzero(idle)] = True
        rank = np.cumsum(there, dtype=np.int32)  # states are counted by 32 bits
        rank -= 1
        states, place = np.flatnonzero(there), np.empty(owners.shape, np.int32)
        for part in slices(len(owners), CHUNK // 16):
            place[part] = rank.take(keys_of(part), mode="clip")
    else:
        idle = np.ones(n_owners, bool)
        idle[owners.ravel()] = False
        states, place = _ranked(keys_of(slice(None)).ravel(), np.flatnonzero(idle))
    who, moment = np.empty(len(states), np.int32), np.empty(len(states), np.int32)
    for part in slices(len(states), CHUNK // 16):
        moment[part], who[part] = np.divmod(states[part], n_owners)
    chains = Chains.of(axis, who, moment, idle, True)
    return chains, place.reshape(owners.shape)


def _ranked(keys: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct numbers among keys and others, rising, and which of them each key is."""
    every = np.concatenate([keys, others])
    order = np.argsort(every)
    ranked = every[order]
    new = np.empty(len(ranked), bool)
    new[:1], new[1:] = True, ranked[1:] != ranked[:-1]
    place = np.empty(len(every), np.int32)
    place[order] = np.cumsum(new, dtype=np.int32) - 1
    return ranked[new], place[: len(keys)]
