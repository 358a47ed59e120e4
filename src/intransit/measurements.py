"""Measurements over time: for each period an operator A^t and its outcomes y^t.

Periods may differ in the number and in the kind of their readings; only the items are shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from intransit.core.inputs import as_floats, as_list, as_whole, check_pairs
from intransit.core.operators import Entries, Matrices, Operator, PeriodReadings
from intransit.errors import InputError


@dataclass(frozen=True, eq=False)
class Measurements:
    """PeriodReadings of a margin matrix in one or more periods, oldest first.

    Build it with `from_pairs`, `from_matrices` or `from_operators`.

    Examples
    --------
    Rock, paper and scissors, two periods, the second with a repeated pair:

    >>> pairs = [[(0, 2), (2, 1), (1, 0)], [(0, 2), (0, 2)]]
    >>> outcomes = [[1.0, 1.0, 1.0], [0.8, 1.2]]
    >>> seen = Measurements.from_pairs(pairs, outcomes, n_items=3)
    >>> seen
    Measurements(n_items=3, n_periods=2, n_outcomes=(3, 2))
    """

    periods: tuple[PeriodReadings, ...]

    def __post_init__(self) -> None:
        if not self.periods:
            raise InputError("measurements: no period was given; at least one is needed.")
        sizes = {readings.operator.n_items for readings in self.periods}
        if len(sizes) > 1:
            raise InputError(
                f"measurements: periods disagree on the number of items, {sorted(sizes)}; give "
                "every period the same n_items."
            )
        if self.n_items < 2:
            raise InputError(
                f"measurements: n_items is {self.n_items}; a comparison needs two items."
            )
        for t, readings in enumerate(self.periods):
            if readings.operator.n_outcomes == 0:
                raise InputError(
                    f"measurements: period {t} has no outcomes; leave it out, or merge it with "
                    "a neighbouring period."
                )

    @property
    def n_items(self) -> int:
        """Number of items, the side of X."""
        return self.periods[0].operator.n_items

    @property
    def n_periods(self) -> int:
        """Number of periods."""
        return len(self.periods)

    @property
    def n_outcomes(self) -> tuple[int, ...]:
        """Number of readings of each period."""
        return tuple(readings.operator.n_outcomes for readings in self.periods)

    def __repr__(self) -> str:
        counts = self.n_outcomes
        shown = counts if len(counts) <= 8 else f"{sum(counts):,} in all"
        return (
            f"Measurements(n_items={self.n_items}, n_periods={self.n_periods}, n_outcomes={shown})"
        )

    @classmethod
    def from_pairs(
        cls,
        pairs: Sequence[ArrayLike],
        outcomes: Sequence[ArrayLike],
        *,
        n_items: int | None = None,
        counts: Sequence[ArrayLike] | None = None,
    ) -> "Measurements":
        """Build from who met whom: for each period, pairs (M, 2) and outcomes (M,).

        Parameters
        ----------
        pairs
            For each period, the first and the second item of each comparison, integers from 0.
        outcomes
            For each period, how far the first item was ahead; negative when it was behind.
        n_items
            Number of items; by default one more than the largest that appears.
        counts
            For each period, how many readings each outcome is the mean of; by default 1.
        """
        _same_length("pairs", pairs, "outcomes", outcomes)
        if n_items is not None:
            n_items = as_whole("n_items", n_items, least=1)
        arrays = [check_pairs(given, n_items, f"pairs[{t}]") for t, given in enumerate(pairs)]
        if n_items is None:
            n_items = 1 + max((int(array.max()) for array in arrays if array.size), default=0)
        operators = [Entries(array, n_items) for array in arrays]
        return cls.from_operators(operators, outcomes, counts=counts)

    @classmethod
    def from_matrices(
        cls, matrices: Sequence[ArrayLike], outcomes: Sequence[ArrayLike]
    ) -> "Measurements":
        """Build from dense A_m: for each period, matrices (M, N, N) and outcomes ⟨A_m, X⟩."""
        operators = [
            Matrices(as_floats(given, "matrices")) for given in as_list(matrices, "matrices")
        ]
        return cls.from_operators(operators, outcomes)

    @classmethod
    def from_operators(
        cls,
        operators: Sequence[Operator],
        outcomes: Sequence[ArrayLike],
        *,
        counts: Sequence[ArrayLike] | None = None,
    ) -> "Measurements":
        """Build from any operators, whose kind may change from period to period."""
        _same_length("operators", operators, "outcomes", outcomes)
        for t, operator in enumerate(operators):
            if not isinstance(operator, Operator):
                raise InputError(
                    f"operators: period {t} is a {type(operator).__name__}; give Entries, "
                    "Combinations, Matrices or an operator of your own."
                )
        if counts is None:
            counts = [np.ones(operator.n_outcomes) for operator in operators]
        _same_length("counts", counts, "outcomes", outcomes)
        periods = []
        for t, (operator, y, n) in enumerate(zip(operators, outcomes, counts, strict=True)):
            try:
                periods.append(
                    PeriodReadings(operator, as_floats(y, "outcomes"), as_floats(n, "counts"))
                )
            except InputError as error:
                raise InputError(f"period {t}, {error}") from None
        return cls(tuple(periods))


def _same_length(name: str, values: Sequence[object], other: str, others: Sequence[object]) -> None:
    for called, given in ((name, values), (other, others)):
        if isinstance(given, str) or not hasattr(given, "__len__"):
            raise InputError(
                f"{called}: a {type(given).__name__} was given; give a list with one array for "
                "each period."
            )
    if len(values) != len(others):
        raise InputError(
            f"{name} and {other}: {len(values)} and {len(others)} periods were given; they must "
            "be the same, one array for each period."
        )
