"""Terms of a model and priors of their scales, each a value; a model is a sum of terms.

    x_ij(t)  =  s_i(t) - s_j(t)                                   Scores
             +  Σ_k [ u_ik(t) v_jk(t) - v_ik(t) u_jk(t) ]         Factors
             +  e_ij(t)                                           PairEffects
             +  h(t) · side                                       Side
             +  b_i(value) - b_j(value)                           By

Every path over time begins at  scale · N(0, 1)  and then follows

    dx  =  - reversion · x dt  +  scale · rate · dW

with W a random walk of variance 1 a unit of time: it drifts, and what an item is ahead or behind
fades (an Ornstein-Uhlenbeck process; a random walk where nothing fades).  Scale, rate and reversion
are the term's own and are drawn with everything else, under priors, so that a term the data do not
need shrinks away.  A number in place of a prior is taken for known.

Items need not move alike: a walk may run at a pace of its own in every gap between two of an item's
times.  Over a gap of length g its variance is  (scale · rate)² · V,  where V has the mean g and the
variance  g · span · jumps²  (inverse Gaussian, so that gaps add up): without jumps V is g; with
jumps above 1 most items hardly move in most gaps, and now and then one leaps.

>>> model = Scores() + Factors(2) + PairEffects(walk=Still())
>>> print(model)
drifting scores + 2 drifting factors + pair effects
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from intransit.checks import as_flag, as_number, as_whole, shown
from intransit.errors import InputError


@dataclass(frozen=True)
class HalfCauchy:
    """A scale above 0, as often below `scale` as above it, with a heavy tail.

    Attributes
    ----------
    scale
        The median of the prior, above 0.

    Raises
    ------
    InputError
        If `scale` is no finite number above 0.

    Examples
    --------
    >>> import intransit as it
    >>> it.Scores(scale=it.HalfCauchy(0.5)).scale
    HalfCauchy(scale=0.5)
    """

    scale: float

    def __post_init__(self) -> None:
        as_number("HalfCauchy: scale", self.scale, least=0.0, strict=True)


Scale = HalfCauchy | float


def check_scale(name: str, scale: Scale, *, strict: bool = True) -> None:
    """Refuse a scale that is neither a prior nor a number above 0 (or 0, unless strict)."""
    if not isinstance(scale, HalfCauchy):
        as_number(name, scale, least=0.0, strict=strict)


def prior_scale(scale: Scale) -> float:
    """Return the scale of the prior; 0 where the scale itself is known."""
    return scale.scale if isinstance(scale, HalfCauchy) else 0.0


def start_value(scale: Scale) -> float:
    """Return a value to begin with: the one that is known, or a likely one."""
    return 0.7 * scale.scale if isinstance(scale, HalfCauchy) else float(scale)


@dataclass(frozen=True)
class Still:
    """Nothing changes over time.

    Examples
    --------
    >>> import intransit as it
    >>> print(it.Scores(walk=it.Still()))
    static scores
    """

    word = ""


@dataclass(frozen=True)
class Drift:
    """A random walk, which may return to the mean and may jump.

    Attributes
    ----------
    rate
        Standard deviation of the walk over the whole time of the table, in units of the term's
        scale: a prior, or a number.
    reversion
        How fast what an item is ahead or behind fades: over the whole time it shrinks by a factor
        of exp(-reversion).  A prior, or a number; 0 for a plain random walk.
    jumps
        How unevenly it moves: the squared distance that a path covers over the whole time differs
        between paths, and between parts of the time, by so many times its mean.  A prior, or a
        number; 0 for one speed throughout.  `Scores` can jump; the other terms do not.

    Raises
    ------
    InputError
        If `rate` is neither a prior nor a number above 0, or `reversion` or `jumps` is neither a
        prior nor a number from 0.

    Examples
    --------
    >>> import intransit as it
    >>> print(it.Factors(1, walk=it.Drift(rate=0.5)))
    1 drifting factor
    """

    rate: Scale = field(default=HalfCauchy(1.0))
    reversion: Scale = 0.0
    jumps: Scale = 0.0
    word = "drifting "

    def __post_init__(self) -> None:
        check_scale("Drift: rate", self.rate)
        check_scale("Drift: reversion", self.reversion, strict=False)
        check_scale("Drift: jumps", self.jumps, strict=False)


Walk = Still | Drift


def walk_priors(walk: Walk | None, span: float) -> tuple[float, float, float]:
    """Return the scales of the priors of rate and reversion, a unit of time, and of jumps.

    Each is 0 where it is known.
    """
    if not isinstance(walk, Drift):
        return 0.0, 0.0, 0.0
    rate, reversion, jumps = map(prior_scale, (walk.rate, walk.reversion, walk.jumps))
    return rate / math.sqrt(span), reversion / span, jumps


def first_walk(walk: Walk | None, span: float) -> tuple[float, float, float]:
    """Return rate and reversion, a unit of time, and jumps, as a chain begins with them.

    Where they are drawn rate and reversion are small at first, and jumps large: paths that leap
    settle where games say so; from even ones a chain hardly gets to leaps.
    """
    if not isinstance(walk, Drift):
        return 0.0, 0.0, 0.0
    rate, reversion = start_value(walk.rate) / math.sqrt(span), start_value(walk.reversion) / span
    drawn_rate, drawn_reversion, jumps = walk_priors(walk, span)
    return (
        0.3 * rate if drawn_rate else rate,
        0.3 * reversion if drawn_reversion else reversion,
        3.0 * jumps if jumps else start_value(walk.jumps),
    )


@dataclass(frozen=True)
class Term:
    """One part of a margin.  Terms add up to a `Model`."""

    def __add__(self, other: "Term | Model") -> "Model":
        return Model((self,)) + other

    def __post_init__(self) -> None:
        name = type(self).__name__
        if (scale := getattr(self, "scale", None)) is not None:
            check_scale(f"{name}: scale", scale)
        walk = getattr(self, "walk", Still())
        if not isinstance(walk, Still | Drift):
            raise InputError(f"{name}: walk must be Still() or Drift(), not {shown(walk)}.")
        if first_walk(walk, 1.0)[2] > 0.0 and not isinstance(self, Scores):
            raise InputError(f"{name}: it cannot jump, only Scores can; leave jumps out.")


@dataclass(frozen=True)
class Scores(Term):
    """A score for every item; the difference of two is their margin.

    Attributes
    ----------
    scale
        Standard deviation of the scores when an item is first seen, in log odds.
    walk
        How they move: by default they drift, return to the mean and jump, as much as the data say.
    tiers
        How far apart parts of the field are that hardly meet (the top and the bottom of a ladder,
        two leagues), in log odds: a prior, or a number; 0 if who meets whom tells nothing of
        scores.
    wide
        Whether like met like, so that the scales are wide numbers, which draw no score towards the
        others; somebody new is then as those seen are.
    degrees
        Of freedom of Student's law of first scores: the smaller, the further one item may be from
        all others, as a favourite is; None for a normal law.

    Raises
    ------
    InputError
        If `scale` is neither a prior nor a number above 0, `walk` is neither `Still` nor `Drift`,
        `tiers` is neither a prior nor a number from 0, `wide` scores have no known scale, or
        `degrees` is neither a whole number from 3 nor None.

    Examples
    --------
    >>> import intransit as it
    >>> print(it.Scores())
    drifting scores
    """

    scale: Scale = field(default=HalfCauchy(1.0))
    walk: Walk = field(
        default_factory=lambda: Drift(reversion=HalfCauchy(0.3), jumps=HalfCauchy(0.3))
    )
    tiers: Scale = field(default=HalfCauchy(1.0))
    wide: bool = False
    degrees: int | None = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degrees is not None:
            as_whole("Scores: degrees", self.degrees, least=3)
        check_scale("Scores: tiers", self.tiers, strict=False)
        if as_flag("Scores: wide", self.wide) and isinstance(self.scale, HalfCauchy):
            raise InputError("Scores: wide scores have a known scale; give a number, such as 3.")

    def __str__(self) -> str:
        return f"{self.walk.word or 'static '}scores"

    def widened(self, scale: float) -> "Scores":
        """Return scores that are not drawn towards each other, neither at first nor over time.

        Parameters
        ----------
        scale
            A wide one, in log odds.

        Returns
        -------
        Scores
            They move by as much as these do.

        Examples
        --------
        >>> import intransit as it
        >>> it.Scores().widened(3.0).scale
        3.0
        """
        walk = self.walk
        if isinstance(walk, Drift):
            rate = walk.rate
            rate = HalfCauchy(rate.scale / scale) if isinstance(rate, HalfCauchy) else rate
            walk = Drift(rate, jumps=walk.jumps)
        return Scores(scale, walk, tiers=scale, wide=True, degrees=None)


@dataclass(frozen=True)
class Factors(Term):
    """Planes in which items beat each other in circles; both sides of each move.

    Attributes
    ----------
    n
        How many planes, each with a scale of its own.
    scale
        Of the entries of one plane; margins are products of two of them.
    walk
        How they move.

    Raises
    ------
    InputError
        If `n` is no whole number above 0, `scale` is neither a prior nor a number above 0, or
        `walk` is neither `Still` nor `Drift`.

    Examples
    --------
    >>> import intransit as it
    >>> print(it.Scores() + it.Factors(2))
    drifting scores + 2 drifting factors
    """

    n: int = 3
    scale: Scale = field(default=HalfCauchy(0.15))
    walk: Walk = field(default_factory=Drift)

    def __post_init__(self) -> None:
        as_whole("Factors: n", self.n, least=1)
        super().__post_init__()

    def __str__(self) -> str:
        return f"{self.n} {self.walk.word}factor{'' if self.n == 1 else 's'}"


@dataclass(frozen=True)
class PairEffects(Term):
    """An effect of every pair's own.

    Attributes
    ----------
    scale
        Of the effects, in log odds.
    walk
        How they move.

    Raises
    ------
    InputError
        If `scale` is neither a prior nor a number above 0, or `walk` is neither `Still` nor
        `Drift`.

    Examples
    --------
    >>> import intransit as it
    >>> print(it.Scores() + it.PairEffects(walk=it.Still()))
    drifting scores + pair effects
    """

    scale: Scale = field(default=HalfCauchy(0.1))
    walk: Walk = field(default_factory=Drift)

    def __str__(self) -> str:
        return f"{self.walk.word}pair effects"


@dataclass(frozen=True)
class Side(Term):
    """What the better side is worth: playing at home, moving first.

    Attributes
    ----------
    scale
        Standard deviation of what a side may be worth, in log odds: a number.
    walk
        How it moves.

    Raises
    ------
    InputError
        If `scale` is no number above 0, or `walk` is neither `Still` nor `Drift`.

    Examples
    --------
    >>> import intransit as it
    >>> print(it.Scores() + it.Side())
    drifting scores + side
    """

    scale: float = 1.0
    walk: Walk = field(default_factory=lambda: Drift(HalfCauchy(0.3)))

    def __post_init__(self) -> None:
        if isinstance(self.scale, HalfCauchy):
            raise InputError(
                "Side: scale is a number: there is one side, so nothing to learn it from."
            )
        super().__post_init__()

    def __str__(self) -> str:
        return "side"


@dataclass(frozen=True)
class By(Term):
    """An item's own deviation under each value of a column, such as a surface.

    Attributes
    ----------
    column
        The column, named when the table is read (``read(table, by="surface")``).
    scale
        Of the deviations, in log odds.
    walk
        How they move.

    Raises
    ------
    InputError
        If `column` is no name, `scale` is neither a prior nor a number above 0, or `walk` is
        neither `Still` nor `Drift`.

    Examples
    --------
    >>> import intransit as it
    >>> print(it.Scores() + it.By("surface"))
    drifting scores + deviations by surface
    """

    column: str
    scale: Scale = field(default=HalfCauchy(0.3))
    walk: Walk = field(default_factory=Still)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise InputError(
                f"By: {shown(self.column)} is not the name of a column; give one, as text."
            )
        super().__post_init__()

    def __str__(self) -> str:
        return f"{self.walk.word}deviations by {self.column}"


T = TypeVar("T", bound=Term)


@dataclass(frozen=True)
class Model:
    """A sum of terms, each at most once (one `By` for each column).

    Attributes
    ----------
    terms
        The terms, in the order in which they were added.

    Raises
    ------
    InputError
        If there is no term, one is there twice, or something else is among them.

    Examples
    --------
    >>> import intransit as it
    >>> model = it.Scores() + it.Factors(2) + it.PairEffects(walk=it.Still())
    >>> print(model)
    drifting scores + 2 drifting factors + pair effects
    >>> model.n_factors, model.is_cyclic
    (2, True)
    """

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        seen = set()
        for term in self.terms:
            if not isinstance(term, Term):
                raise InputError(f"model: {term!r} is not a term; add up Scores(), Factors(), ….")
            key = (type(term), getattr(term, "column", None))
            if key in seen:
                raise InputError(f"model: {type(term).__name__} is there twice; give it once.")
            seen.add(key)
        if not self.terms:
            raise InputError("model: it has no term; add up Scores(), Factors(), ….")

    def __add__(self, other: "Term | Model") -> "Model":
        if not isinstance(other, Term | Model):
            raise InputError(f"model: {other!r} is not a term; add up Scores(), Factors(), ….")
        return Model((*self.terms, *(other.terms if isinstance(other, Model) else (other,))))

    def __str__(self) -> str:
        return " + ".join(str(term) for term in self.terms)

    def term(self, kind: type[T]) -> T | None:
        """Return the term of a kind, or None.

        Parameters
        ----------
        kind
            A class of terms, such as `Scores`.

        Returns
        -------
        Term or None
            The first term of that class; None where there is none.

        Examples
        --------
        >>> import intransit as it
        >>> (it.Scores() + it.Factors(2)).term(it.Factors).n
        2
        """
        return next((term for term in self.terms if isinstance(term, kind)), None)

    @property
    def by(self) -> tuple[By, ...]:
        """The covariate terms."""
        return tuple(term for term in self.terms if isinstance(term, By))

    def without(self, *kinds: type[Term]) -> "Model":
        """Return the model without some kinds of terms.

        Parameters
        ----------
        *kinds
            Classes of terms, such as `Side`.

        Returns
        -------
        Model
            The other terms.

        Raises
        ------
        InputError
            If no term is left.

        Examples
        --------
        >>> import intransit as it
        >>> print((it.Scores() + it.Factors(2) + it.Side()).without(it.Factors, it.Side))
        drifting scores
        """
        return Model(tuple(term for term in self.terms if not isinstance(term, kinds)))

    def still(self) -> "Model":
        """Return the model with every walk standing still.

        Returns
        -------
        Model
            The same terms, none of which changes over time.

        Examples
        --------
        >>> import intransit as it
        >>> print((it.Scores() + it.Factors(2)).still())
        static scores + 2 factors
        """
        return self._walking(lambda _: Still())

    def with_random_walks(self) -> "Model":
        """Return the model with every walk a plain random walk, and items all alike.

        Returns
        -------
        Model
            The same terms; those that drift neither return to the mean nor jump, and who meets
            whom tells nothing of scores.

        Examples
        --------
        >>> import intransit as it
        >>> it.Model((it.Scores(),)).with_random_walks().term(it.Scores).walk.reversion
        0.0
        """
        plain = self._walking(lambda walk: Drift(walk.rate) if isinstance(walk, Drift) else walk)
        terms = (replace(t, tiers=0.0) if isinstance(t, Scores) else t for t in plain.terms)
        return Model(tuple(terms))

    def _walking(self, change: Callable[[Walk], Walk]) -> "Model":
        """Return the model with other walks."""
        moved = (
            replace(term, walk=change(term.walk)) if hasattr(term, "walk") else term  # type: ignore[call-arg]
            for term in self.terms
        )
        return Model(tuple(moved))

    @property
    def n_factors(self) -> int:
        """Number of planes."""
        factors = self.term(Factors)
        return 0 if factors is None else factors.n

    @property
    def moves(self) -> bool:
        """Whether anything but a side changes over time."""
        return any(
            isinstance(getattr(term, "walk", None), Drift)
            for term in self.terms
            if not isinstance(term, Side)
        )

    @property
    def is_cyclic(self) -> bool:
        """Whether there is a part that no ranking explains."""
        return any(isinstance(term, Factors | PairEffects) for term in self.terms)

    @property
    def matchups_move(self) -> bool:
        """Whether that part changes over time."""
        return any(
            isinstance(term, Factors | PairEffects) and isinstance(term.walk, Drift)
            for term in self.terms
        )


def default_model(
    n_items: int,
    *,
    by: tuple[str, ...] = (),
    still: bool = False,
    sided: bool = True,
    factors: int | None = None,
    pairs: bool = True,
) -> Model:
    """Return the model with every term that a table can have, or with those that are asked for.

    Parameters
    ----------
    n_items
        Number of items: three planes at most, and no more than can be told apart.
    by
        Columns of covariates.
    still
        Whether nothing moves.
    sided
        Whether the table says who had the better side.
    factors, pairs
        Number of planes, if not the usual one, and whether pairs have effects of their own.
    """
    walk: Walk = Still() if still else Drift()
    terms: list[Term] = [Scores(walk=walk) if still else Scores()]
    n = min(3, (n_items - 1) // 2) if factors is None else factors
    if n > 0:
        terms.append(Factors(n, walk=walk))
    if pairs and n_items >= 3:
        terms.append(PairEffects(walk=walk))
    if sided:
        terms.append(Side(walk=Still()) if still else Side())
    return Model((*terms, *(By(column) for column in by)))
