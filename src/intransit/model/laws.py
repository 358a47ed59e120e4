"""Laws of outcomes: how a result follows from a margin.  See docs/model.md.

* `Wins`: a game is won or lost, P(win) = 1 / (1 + e^-x).  Shares of several games are counts.
* `Levels`: ties, and levels of victory: P(level k or better) = 1 / (1 + e^{b_k - x}), boundaries
  mirror images of each other, so that both items see the same law.
* `Readings`: a reading of the margin itself with normal noise.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit, ndtr

from intransit.arrays import FloatArray
from intransit.checks import as_whole
from intransit.model.terms import HalfCauchy, Scale, check_scale

Kind = Literal["squared", "logistic", "ordered"]


@dataclass(frozen=True)
class Wins:
    """Games that are won or lost; a tie counts as half a win.

    Examples
    --------
    >>> import intransit as it
    >>> it.Wins().kind
    'logistic'
    """

    kind: ClassVar[Kind] = "logistic"


@dataclass(frozen=True)
class Levels:
    """Ties and levels of victory, an ordered logistic law.

    Attributes
    ----------
    most
        Levels of victory that margins of a table are told apart by.

    Raises
    ------
    InputError
        If `most` is no whole number above 0.

    Examples
    --------
    >>> import intransit as it
    >>> it.Levels(most=2)
    Levels(most=2)
    """

    most: int = 3
    kind: ClassVar[Kind] = "ordered"

    def __post_init__(self) -> None:
        as_whole("Levels: most", self.most, least=1)


@dataclass(frozen=True)
class Readings:
    """Readings of the margin itself, with normal noise.

    Attributes
    ----------
    noise
        Its standard deviation: a number, or a prior in units of the readings' own spread.

    Raises
    ------
    InputError
        If `noise` is neither a prior nor a number above 0.

    Examples
    --------
    >>> import intransit as it
    >>> it.Readings(noise=0.5)
    Readings(noise=0.5)
    """

    noise: Scale = field(default=HalfCauchy(1.0))
    kind: ClassVar[Kind] = "squared"

    def __post_init__(self) -> None:
        check_scale("Readings: noise", self.noise)


OutcomeLaw = Wins | Levels | Readings


def boundaries(cuts: FloatArray) -> FloatArray:  # (..., n_cuts) to (..., 2 n_cuts + 2)
    """Return the boundaries of all levels, from minus to plus infinity.

    >>> boundaries(np.array([0.5, 2.0])).tolist()
    [-inf, -2.0, -0.5, 0.5, 2.0, inf]
    """
    end = np.full((*cuts.shape[:-1], 1), np.inf)
    return np.concatenate([-end, -cuts[..., ::-1], cuts, end], axis=-1)


def expected_results(
    kind: Kind, margins: FloatArray, cut: FloatArray | float, noise: FloatArray | float
) -> FloatArray:
    """Return the expected result at margins, a tie as half a win.

    `cut` is half the width of a tie, 0 where there is none; `noise` is that of readings.
    """
    if kind == "squared":
        return np.asarray(ndtr(margins / noise))
    if not np.any(cut):
        return np.asarray(expit(margins))
    return np.asarray(0.5 * (expit(margins - cut) + expit(margins + cut)))
