"""A classifier in the manner of scikit-learn, thin: tables in, `fit`, probabilities out.

Importing this module needs scikit-learn; nothing else of intransit does.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from intransit.answer import Answer, fit
from intransit.arrays import FloatArray
from intransit.checks import as_column
from intransit.data.games import Games
from intransit.errors import InputError, MissingDependencyError
from intransit.inference.observations import model_for

try:
    from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
    from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]
except ModuleNotFoundError:
    raise MissingDependencyError(
        "the classifier needs scikit-learn, which is not installed: pip install "
        "'intransit[sklearn]'; or use intransit.fit, which does not."
    ) from None


__all__ = ["IntransitClassifier"]

COLUMNS = ("first", "second", "time", "side")


class IntransitClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Who wins, from who met whom and when.

    X has columns first, second, time and, if known, side (1 where the first has the better side,
    -1 where the second has it): an array in that order, or a data frame with those names, or in
    that order.  Without a time nothing drifts.  y is 1 where the first won and 0 where the second
    won; 0.5 for a tie teaches how common ties are, and counts as half a win.

    As-of: a row is forecast at its own time from what was learnt, so split by time
    (``TimeSeriesSplit``).  At times inside the learnt part the answer knows what came later.
    Items that were not learnt are forecast as newcomers were.

    Parameters
    ----------
    factors, pairs, drifting
        Number of planes, whether pairs have effects of their own, and whether anything moves; None
        is the model with every term.
    ties
        True makes ties a class of their own: y is -1, 0 or 1 (second won, tie, first won), and so
        are ``classes_``.  Scores of scikit-learn take these; they refuse 0.5 as a class.
    rng
        Seed.

    Attributes
    ----------
    classes_
        0 and 1, or -1, 0 and 1 with ``ties=True``, in the order of the columns of
        ``predict_proba``.
    answer_
        The `Answer` behind it.
    n_features_in_
        How many columns X had.

    Examples
    --------
    >>> X = [["rock", "scissors", t] for t in range(20)] + [["paper", "rock", t] for t in range(20)]
    >>> model = IntransitClassifier().fit(X, [1, 1, 1, 1, 0] * 8)
    >>> bool(model.predict_proba([["rock", "scissors", 21]])[0, 1] > 0.6)
    True
    >>> model.predict([["rock", "paper", 21]])
    array([0])
    """

    def __init__(
        self,
        *,
        factors: int | None = None,
        pairs: bool | None = None,
        drifting: bool | None = None,
        ties: bool = False,
        rng: int = 0,
    ) -> None:
        self.factors = factors
        self.pairs = pairs
        self.drifting = drifting
        self.ties = ties
        self.rng = rng

    def fit(
        self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "IntransitClassifier":
        """Learn games; `sample_weight` says how many each row stands for, 0 leaves it out.

        Parameters
        ----------
        X
            (n_rows, 2 to 4): columns first, second, time and, if known, side.
        y
            (n_rows,): 1 where the first won, 0 where the second won, 0.5 for a tie; with
            ``ties=True`` 1, -1 and 0.
        sample_weight
            (n_rows,): how many games each row stands for, by default one.

        Returns
        -------
        IntransitClassifier
            The classifier itself.

        Raises
        ------
        InputError
            If X, y or `sample_weight` has another shape, or y another result.
        """
        columns = _columns(X)
        outcomes = self._outcomes(y, len(columns[0]))
        given = np.ones(len(outcomes)) if sample_weight is None else sample_weight
        weights = as_column("sample_weight", given, len(outcomes), "rows")
        used = np.flatnonzero(weights != 0)
        first, second, time, side = (
            None if column is None else [column[k] for k in used] for column in columns
        )
        assert first is not None and second is not None  # noqa: PT018  (for the checker of types)
        games = Games.from_arrays(
            first,
            second,
            outcomes[used],
            time,
            counts=weights[used],
            sides=None if side is None else np.array(side, dtype=float),
        )
        model = model_for(games, factors=self.factors, pairs=self.pairs, drifting=self.drifting)
        self.answer_: Answer = fit(games, model=model, rng=self.rng)
        self.classes_ = np.array([-1, 0, 1] if self.ties else [0, 1])
        self.n_features_in_ = sum(column is not None for column in columns)
        return self

    def predict_proba(self, X: object) -> FloatArray:  # (n_rows, n_classes)
        """Return the probability of each class, at each row's own time.

        Parameters
        ----------
        X
            (n_rows, 2 to 4): columns first, second, time and, if known, side.  Without a time, rows
            are forecast at the last one that was learnt.

        Returns
        -------
        numpy.ndarray
            (n_rows, n_classes): in the order of ``classes_``.

        Raises
        ------
        InputError
            If X has another shape, or a time cannot be read.
        """
        check_is_fitted(self)
        answer = self.answer_
        first, second, time, side = _columns(X)
        assert first is not None and second is not None  # noqa: PT018
        new = {name: -1 - k for k, name in enumerate(dict.fromkeys([*first, *second]))}
        i, j = (
            np.array([answer.numbers.get(n, new[n]) for n in names]) for names in (first, second)
        )
        sides = np.zeros(len(i)) if side is None else np.array(side, dtype=float)
        last = answer.when()
        times = np.array(
            [last if time is None else answer.when(moment) for moment in time or first]
        )
        win = answer.expected(i, j, times, sides)
        levels = answer.posterior.levels(i, j, times, sides=sides)
        tie = levels[:, levels.shape[1] // 2]
        win = np.where((i < 0) & (j < 0) & (sides == 0.0), 0.5, win)
        if not self.ties:
            return np.stack([1.0 - win, win], axis=1)
        tie = np.minimum(tie, 2.0 * np.minimum(win, 1.0 - win))
        return np.stack([1.0 - win - tie / 2, tie, win - tie / 2], axis=1)

    def predict(self, X: object) -> np.ndarray:  # (n_rows,)
        """Return the likeliest class.

        Parameters
        ----------
        X
            As for `predict_proba`.

        Returns
        -------
        numpy.ndarray
            (n_rows,): one of ``classes_`` for each row.

        Raises
        ------
        InputError
            If X has another shape, or a time cannot be read.
        """
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[likeliest])

    def _outcomes(self, y: ArrayLike, n: int) -> FloatArray:
        try:
            values = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("y: results must be numbers; see IntransitClassifier.") from None
        if values.shape != (n,):
            raise InputError(f"y: shape {values.shape} was given for {n} rows; give one for each.")
        allowed = (-1.0, 0.0, 1.0) if self.ties else (0.0, 0.5, 1.0)
        wrong = np.flatnonzero(~np.isin(values, allowed))
        if len(wrong):
            words = ", ".join(f"{value:g}" for value in allowed)
            raise InputError(
                f"y: entry {wrong[0]} is {values[wrong[0]]:g}; with ties={self.ties} results are "
                f"{words}."
            )
        return 0.5 * (values + 1.0) if self.ties else values


def _columns(X: object) -> tuple[list[Any], list[Any], list[Any] | None, list[Any] | None]:
    """Return first, second, time and side, the last two where X has them."""
    names = [str(name) for name in getattr(X, "columns", ())]
    if names:
        table: Any = X
        columns = [list(table[name].to_numpy()) for name in table.columns]
    else:
        rows = np.asarray(X, dtype=object)
        if rows.ndim != 2:
            raise InputError(
                f"X: shape {rows.shape} was given; it must have a row for each game, with columns "
                "first, second, time and, if known, side."
            )
        columns = rows.T.tolist()
    if not {"first", "second"} <= set(names):
        names = list(COLUMNS)
        if not 2 <= len(columns) <= len(COLUMNS):
            raise InputError(
                f"X: it has {len(columns)} columns; give first, second, time and, if known, side."
            )
    parts = dict(zip(names, columns, strict=False))
    first, second = (_names(parts[name]) for name in ("first", "second"))
    return first, second, parts.get("time"), parts.get("side")


def _names(column: Sequence[object]) -> list[str]:
    """Return names as `Games` has them; 3.0 in an array of numbers is item 3."""
    return [
        str(int(v)) if isinstance(v, float | np.floating) and v == int(v) else str(v).strip()
        for v in column
    ]
