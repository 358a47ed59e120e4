"""Measurements: linear readings y_m = ⟨A_m, X⟩ of a margin matrix, with outcomes, over periods.

Three kinds of A_m cover what people measure:

    Entries        A_m = e_i e_jᵀ          one duel, the paper's sampling ensemble
    Combinations   A_m sparse              "the sum of these duels"
    Matrices       A_m any N x N matrix    matrix sensing

X is skew-symmetric, so a reading sees only the margins of pairs i < j: reading (j, i) is minus
reading (i, j), and the diagonal reads zero.  `fold` writes any kind in that form, as a matrix
over the pairs it touches, which is all that solvers need to know of a measurement.

Over time each period has an operator A^t and its outcomes y^t.  Periods may differ in the number
and in the kind of their readings; only the items are shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array

from intransit import checks
from intransit.arrays import FloatArray, IntArray, fold_pairs, unfold
from intransit.errors import InputError
from intransit.skew import margins_at


@dataclass(frozen=True, eq=False)
class Folded:
    """Readings as a matrix over pairs i < j: row m reads Σ_p matrix[m, p] X[pairs[p]]."""

    pairs: IntArray  # (n_pairs, 2), first < second, sorted
    matrix: csr_array | FloatArray  # (n_outcomes, n_pairs)


@runtime_checkable
class Operator(Protocol):
    """What every kind of measurement offers; ⟨apply(X), v⟩ = ⟨X, adjoint(v)⟩."""

    @property
    def n_items(self) -> int:
        """Number of items, the side of X."""

    @property
    def n_outcomes(self) -> int:
        """Number of readings."""

    def apply(self, margins: FloatArray) -> FloatArray:
        """Return the readings of a matrix, (n_outcomes,)."""

    def read(self, strengths: FloatArray, exposures: FloatArray) -> FloatArray:
        """Return the readings of X = S Qᵀ - Q Sᵀ, without building X where that is possible."""

    def adjoint(self, values: FloatArray) -> csr_array | FloatArray:
        """Return Σ_m values[m] A_m, (n_items, n_items); sparse where the A_m are."""

    def fold(self) -> Folded:
        """Return the same readings as a matrix over pairs i < j."""


class EntryOperator:
    """What all kinds of readings share: each is a sum over entries of the matrix that is read."""

    n_items: int
    pairs: IntArray  # (n_terms, 2): the entries that are seen

    def _over_entries(self) -> csr_array | FloatArray:  # (n_outcomes, n_terms)
        """Return what each reading multiplies each entry by."""
        raise NotImplementedError

    def apply(self, margins: FloatArray) -> FloatArray:
        """Return the readings of a matrix, (n_outcomes,).

        Parameters
        ----------
        margins
            The matrix X, (n_items, n_items).

        Returns
        -------
        numpy.ndarray
            The readings, (n_outcomes,).

        Examples
        --------
        >>> import numpy as np
        >>> sums = Combinations.from_terms([[(0, 1, 1.0), (0, 2, 1.0)], [(1, 2, 2.0)]], n_items=3)
        >>> sums.apply(np.array([[0.0, 1.0, 2.0], [-1.0, 0.0, 3.0], [-2.0, -3.0, 0.0]]))
        array([3., 6.])
        """
        return np.asarray(self._over_entries() @ np.asarray(margins, float)[tuple(self.pairs.T)])

    def read(self, strengths: FloatArray, exposures: FloatArray) -> FloatArray:
        """Return the readings of X = S Qᵀ - Q Sᵀ, of which only what is seen is worked out.

        Parameters
        ----------
        strengths, exposures
            The factors S and Q, (n_items, n_factors) each.

        Returns
        -------
        numpy.ndarray
            The readings, (n_outcomes,).

        Raises
        ------
        InputError
            If the factors are not of that shape.

        Examples
        --------
        Items with the scores 3, 1 and 0:

        >>> import numpy as np
        >>> sums = Combinations.from_terms([[(0, 1, 1.0), (0, 2, 1.0)], [(1, 2, 2.0)]], n_items=3)
        >>> sums.read(np.array([[3.0], [1.0], [0.0]]), np.ones((3, 1)))
        array([5., 2.])
        """
        S, Q = checks.check_factors(strengths, exposures, self.n_items)
        return np.asarray(self._over_entries() @ margins_at(S, Q, self.pairs))

    def adjoint(self, values: FloatArray) -> csr_array | FloatArray:
        """Return Σ_m values[m] A_m; sparse, but for `Matrices`.

        Parameters
        ----------
        values
            One number for each reading, (n_outcomes,).

        Returns
        -------
        scipy.sparse.csr_array or numpy.ndarray
            The sum, (n_items, n_items).
        """
        matrix = self._over_entries()
        entries = matrix.T @ np.asarray(values), tuple(self.pairs.T)
        total = csr_array(entries, shape=(self.n_items, self.n_items))
        return total.toarray() if isinstance(matrix, np.ndarray) else total

    def fold(self) -> Folded:
        """Return the same readings as a matrix over pairs i < j; sparse, but for `Matrices`.

        Returns
        -------
        Folded
            The ``pairs`` that are read, and the ``matrix``, (n_outcomes, n_pairs).
        """
        keys, signs = fold_pairs(self.pairs, self.n_items)
        distinct, columns = np.unique(keys, return_inverse=True)
        off_diagonal = np.flatnonzero(distinct // self.n_items != distinct % self.n_items)
        ahead = signs, (np.arange(len(keys)), columns)
        pair_of = csr_array(ahead, shape=(len(keys), len(distinct)))[:, off_diagonal]
        matrix: Any = self._over_entries() @ pair_of
        if isinstance(matrix, csr_array):
            matrix.sort_indices()  # so that sums are taken in the order of the pairs
        return Folded(unfold(distinct[off_diagonal], self.n_items), matrix)


@dataclass(frozen=True, eq=False)
class Entries(EntryOperator):
    """Readings of single entries: the outcome of i against j is X[i, j].

    Attributes
    ----------
    pairs
        The first and the second item of each reading, (n_outcomes, 2); both orders and the
        diagonal are allowed.
    n_items
        Number of items.

    Raises
    ------
    InputError
        If a pair is none of these items.

    Examples
    --------
    >>> import numpy as np
    >>> duels = Entries(np.array([[0, 1], [2, 0]]), n_items=3)
    >>> X = np.array([[0.0, 1.0, 2.0], [-1.0, 0.0, 3.0], [-2.0, -3.0, 0.0]])
    >>> duels.apply(X)
    array([ 1., -2.])
    >>> duels.adjoint(np.array([5.0, 7.0])).toarray()
    array([[0., 5., 0.],
           [0., 0., 0.],
           [7., 0., 0.]])
    """

    pairs: IntArray
    n_items: int

    def __post_init__(self) -> None:
        n_items = checks.as_whole("n_items", self.n_items, least=1)
        object.__setattr__(self, "n_items", n_items)
        object.__setattr__(self, "pairs", checks.check_pairs(self.pairs, n_items, "pairs"))

    @property
    def n_outcomes(self) -> int:
        """Number of readings."""
        return len(self.pairs)

    @property
    def rows(self) -> IntArray:  # (n_outcomes,)
        """Which outcome each entry is: one each."""
        return np.arange(self.n_outcomes)

    @property
    def coefficients(self) -> FloatArray:  # (n_outcomes,)
        """What each entry is multiplied by: nothing but 1."""
        return np.ones(self.n_outcomes)

    def _over_entries(self) -> csr_array:
        return eye_array(self.n_outcomes, format="csr")


@dataclass(frozen=True, eq=False)
class Combinations(EntryOperator):
    """Readings of sums of entries: outcome m is Σ coefficient · X[i, j] over its terms.

    Attributes
    ----------
    rows
        Which outcome each term belongs to, (n_terms,).
    pairs
        First and second item of each term, (n_terms, 2).
    coefficients
        What each term is multiplied by, (n_terms,).
    n_outcomes, n_items
        Numbers of readings and of items.

    Raises
    ------
    InputError
        If columns differ in length, or a row, pair or coefficient cannot be used.

    Examples
    --------
    "0 against 1, plus 0 against 2" and "twice 1 against 2", of items with the scores 3, 1 and 0:

    >>> import numpy as np
    >>> sums = Combinations.from_terms([[(0, 1, 1.0), (0, 2, 1.0)], [(1, 2, 2.0)]], n_items=3)
    >>> sums.read(np.array([[3.0], [1.0], [0.0]]), np.ones((3, 1)))
    array([5., 2.])
    >>> sums.fold().matrix.toarray().tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """

    rows: IntArray
    pairs: IntArray
    coefficients: FloatArray
    n_outcomes: int
    n_items: int

    def __post_init__(self) -> None:
        checks.as_whole("n_items", self.n_items, least=1)
        rows = np.asarray(self.rows)
        if rows.size and rows.dtype.kind not in "iu":
            raise InputError(f"Combinations: rows are whole numbers from 0, not {rows.dtype}.")
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        coefficients = np.ascontiguousarray(checks.as_floats(self.coefficients, "coefficients"))
        pairs = checks.check_pairs(self.pairs, self.n_items, "pairs")
        if not len(rows) == len(pairs) == len(coefficients):
            raise InputError(
                f"Combinations: {len(rows)} rows, {len(pairs)} pairs and {len(coefficients)} "
                "coefficients were given; every term needs one of each."
            )
        if len(rows) and not (rows.min() >= 0 and rows.max() < self.n_outcomes):
            raise InputError(
                f"Combinations: a term belongs to outcome {rows.max()}, but there are "
                f"{self.n_outcomes} outcomes; rows count from 0."
            )
        checks.check_finite(coefficients, "coefficients")
        checks.check_size(coefficients, "coefficients")
        for name, value in (("rows", rows), ("pairs", pairs), ("coefficients", coefficients)):
            object.__setattr__(self, name, value)

    def _over_entries(self) -> csr_array:
        terms = self.coefficients, (self.rows, np.arange(len(self.rows)))
        return csr_array(terms, shape=(self.n_outcomes, len(self.rows)))

    @classmethod
    def from_terms(
        cls, terms: list[list[tuple[int, int, float]]], *, n_items: int
    ) -> "Combinations":
        """Build from one list of (first, second, coefficient) an outcome.

        Parameters
        ----------
        terms
            For each outcome, its terms (first, second, coefficient).
        n_items
            Number of items.

        Returns
        -------
        Combinations
            The readings.

        Raises
        ------
        InputError
            If a term is not of that form, or a pair is none of these items.

        Examples
        --------
        >>> sums = Combinations.from_terms([[(0, 1, 1.0), (0, 2, 1.0)], [(1, 2, 2.0)]], n_items=3)
        >>> sums.rows.tolist(), sums.coefficients.tolist()
        ([0, 0, 1], [1.0, 1.0, 2.0])
        """
        flat = [(m, *term) for m, outcome in enumerate(terms) for term in outcome]
        if any(len(term) != 4 for term in flat):
            raise InputError(
                "Combinations: a term is not of the form (first, second, coefficient); give "
                "all three."
            )
        table = checks.as_floats(flat, "terms").reshape(-1, 4)
        return cls(
            table[:, 0].astype(np.int64),
            checks.check_pairs(table[:, 1:3], n_items, "terms"),
            table[:, 3],
            len(terms),
            n_items,
        )


@dataclass(frozen=True, eq=False)
class Matrices(EntryOperator):
    """Readings ⟨A_m, X⟩ = Σ_ij A_m[i, j] X[i, j] for any matrices A_m, kept as one array.

    Attributes
    ----------
    matrices
        The matrices A_m, (n_outcomes, n_items, n_items).

    Raises
    ------
    InputError
        If they are not square matrices of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> dense = Matrices([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [-1.0, 0.0]]])
    >>> dense.adjoint(np.array([5.0, 7.0])).tolist(), dense.fold().matrix.tolist()
    ([[0.0, 12.0], [-7.0, 0.0]], [[1.0], [2.0]])
    """

    matrices: FloatArray

    def __post_init__(self) -> None:
        matrices = np.ascontiguousarray(checks.as_floats(self.matrices, "matrices"))
        if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2]:
            raise InputError(
                f"matrices: an array of shape {matrices.shape} was given; it needs one square "
                "matrix an outcome, (n_outcomes, n_items, n_items)."
            )
        checks.check_finite(matrices, "matrices")
        checks.check_size(matrices, "matrices")
        object.__setattr__(self, "matrices", matrices)

    @property
    def n_items(self) -> int:  # type: ignore[override]
        """Number of items, the side of X."""
        return int(self.matrices.shape[1])

    @property
    def n_outcomes(self) -> int:
        """Number of readings."""
        return len(self.matrices)

    @property
    def pairs(self) -> IntArray:  # type: ignore[override]
        """All pairs of items, (n_items², 2): every entry is seen."""
        return np.indices((self.n_items, self.n_items)).reshape(2, -1).T

    def _over_entries(self) -> FloatArray:
        return self.matrices.reshape(self.n_outcomes, -1)


@dataclass(frozen=True, eq=False)
class PeriodReadings:
    """One period: what was read, what came out, and how many readings each outcome averages."""

    operator: Operator
    outcomes: FloatArray  # (n_outcomes,)
    counts: FloatArray  # (n_outcomes,): 1 for a single reading

    def __post_init__(self) -> None:
        n_outcomes = self.operator.n_outcomes
        outcomes = checks.as_column("outcomes", self.outcomes, n_outcomes, "measurements")
        counts = checks.as_column("counts", self.counts, n_outcomes, "measurements")
        rule = f"{checks.OF_COUNTS}, so leave unread pairs out."
        checks.check_entries(counts <= 0, counts, "counts", rule)
        object.__setattr__(self, "outcomes", outcomes)
        object.__setattr__(self, "counts", counts)


@dataclass(frozen=True, eq=False)
class Measurements:
    """Readings of a margin matrix in one or more periods, oldest first.

    Build it with `from_pairs`, `from_matrices` or `from_operators`.

    Attributes
    ----------
    periods
        For each period an ``operator`` (what was read), its ``outcomes``, and ``counts`` (how many
        readings each outcome is the mean of).

    Raises
    ------
    InputError
        If there is no period, one has no outcome, or periods disagree on the number of items.

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

        Returns
        -------
        Measurements
            The periods, each with `Entries`.

        Raises
        ------
        InputError
            If lists differ in length, or a pair, outcome or count cannot be used.

        Examples
        --------
        >>> import intransit as it
        >>> it.Measurements.from_pairs([[(0, 1)], [(1, 2), (0, 2)]], [[1.0], [0.5, 2.0]])
        Measurements(n_items=3, n_periods=2, n_outcomes=(1, 2))
        """
        _same_length("pairs", pairs, "outcomes", outcomes)
        if n_items is not None:
            n_items = checks.as_whole("n_items", n_items, least=1)
        arrays = [
            checks.check_pairs(given, n_items, f"pairs[{t}]") for t, given in enumerate(pairs)
        ]
        if n_items is None:
            n_items = 1 + max((int(array.max()) for array in arrays if array.size), default=0)
        operators = [Entries(array, n_items) for array in arrays]
        return cls.from_operators(operators, outcomes, counts=counts)

    @classmethod
    def from_matrices(
        cls, matrices: Sequence[ArrayLike], outcomes: Sequence[ArrayLike]
    ) -> "Measurements":
        """Build from dense A_m: for each period, matrices (M, N, N) and outcomes ⟨A_m, X⟩.

        Parameters
        ----------
        matrices
            For each period, the matrices A_m, (n_outcomes, n_items, n_items).
        outcomes
            For each period, the readings ⟨A_m, X⟩, (n_outcomes,).

        Returns
        -------
        Measurements
            The periods, each with `Matrices`.

        Raises
        ------
        InputError
            If lists differ in length, or matrices or outcomes cannot be used.

        Examples
        --------
        >>> import numpy as np
        >>> import intransit as it
        >>> it.Measurements.from_matrices([np.ones((4, 3, 3))], [np.zeros(4)])
        Measurements(n_items=3, n_periods=1, n_outcomes=(4,))
        """
        operators = [
            Matrices(checks.as_floats(given, "matrices"))
            for given in checks.as_list(matrices, "matrices")
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
        """Build from any operators, whose kind may change from period to period.

        Parameters
        ----------
        operators
            For each period what was read: `Entries`, `Combinations`, `Matrices`, or an operator of
            your own.
        outcomes
            For each period, the readings, (n_outcomes,).
        counts
            For each period, how many readings each outcome is the mean of; by default 1.

        Returns
        -------
        Measurements
            The periods.

        Raises
        ------
        InputError
            If lists differ in length, or an operator, outcome or count cannot be used.

        Examples
        --------
        >>> import intransit as it
        >>> duels = it.Entries([(0, 1), (1, 2)], n_items=3)
        >>> sums = it.Combinations.from_terms([[(0, 1, 1.0), (0, 2, 1.0)]], n_items=3)
        >>> it.Measurements.from_operators([duels, sums], [[1.0, 0.5], [2.5]])
        Measurements(n_items=3, n_periods=2, n_outcomes=(2, 1))
        """
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
                periods.append(PeriodReadings(operator, y, n))  # type: ignore[arg-type]
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
