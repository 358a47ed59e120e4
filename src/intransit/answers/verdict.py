"""Whether a table has cycles: the verdict, with what it rests on.

Two questions, two answers.  "Does one scale explain it?" is the test of `transitive`.  "Does
anybody beat somebody who is beaten around a circle?" is asked of every strict order by
`strict_order`.
"""

from dataclasses import dataclass
from typing import Literal

from scipy.special import ndtri

from intransit.answers.strict_order import Circularity
from intransit.answers.transitive import FALSE_ALARMS, N_LOOKS, Cause, Evidence
from intransit.draws import Summary
from intransit.percent import estimate, percent, with_error

Verdict = Literal["cycles", "not one scale", "no evidence", "too little data"]

DOUBTED = 0.2  # p value of one scale, from which on circles are not asked for
SURE = 0.95  # probability of a circle, to be said
NOISY = 0.65  # share of tables of the nearest order that look as circular: with more none is said
EVEN = 0.5  # probability of a circle, below which results alone do not prove one
PROVEN = 0.05  # p value of single pairs against every order, to say that there is a circle
POWER = 0.8
HARDLY = 0.1  # further series of a pair, of which it is said that hardly any met again
HOPELESS = 0.995  # detectable share, with which nothing can be told
NOTICED = 0.2  # share of the energy; a test that would not notice as much has too little data
LEVEL = 0.9
TITLES: dict[Verdict, str] = {
    "cycles": "There are cycles",
    "not one scale": "Not one scale",
    "no evidence": "No evidence of cycles",
    "too little data": "Too little data to tell",
}
CAUSES: dict[Cause, str] = {
    "luck": "more luck or more ties for some items",
    "sides": "sides that are worth more to some items",
}


@dataclass(frozen=True)
class Transitivity:
    """Whether one ranking, drifting as it may, explains all results, and if not, what does."""

    verdict: Verdict
    p_value: float  # how often a table of one scale would deviate from it as much as this
    gain: float | None  # in log loss a held-out game, from all that no single scale explains
    gain_error: float | None  # None: too few games to hold some back
    share: float  # of the mean square of the margins that no single scale explains
    share_low: float
    share_high: float
    level: float  # of the interval of the share
    detectable: float  # share that the test would find four times out of five
    n_games: float
    n_pairs: int  # pairs that met
    n_series: int  # runs of games of one pair that count as one observation each
    circle: Circularity | None = None  # what speaks for a circle; None where one scale will do
    causes: tuple[Cause, ...] = ()  # other than circles, that would explain the deviations

    @property
    def has_cycles(self) -> bool:
        """Whether the verdict is that there are cycles."""
        return self.verdict == "cycles"

    @property
    def title(self) -> str:
        """The verdict in a few words."""
        return TITLES[self.verdict]

    @property
    def reason(self) -> str:
        """What the verdict says, and how sure it is: the sentence after its title."""
        if self.verdict == "cycles":
            return _proof(self.circle)
        if self.verdict == "not one scale":
            return (
                "no ranking with a single scale of strength explains these results, but no cycle "
                f"is proven{_doubt(self.circle)}. {self._other()}"
            )
        if self.verdict == "no evidence":
            return (
                f"one ranking explains these results. Had {percent(self.detectable)} of the "
                "differences been cyclic, the test would have found it four times out of five."
            )
        if self.detectable >= HOPELESS:
            return (
                "hardly any pair met again in another series of games."
                if self.n_series - self.n_pairs < HARDLY * self.n_pairs
                else "the games that there are say next to nothing of cycles."
            )
        return (
            f"no cycles were found, but even if {percent(self.detectable)} of the differences were "
            "cyclic the test might miss it."
        )

    @property
    def sentence(self) -> str:
        """The verdict with its reason, in a sentence or two."""
        return f"{self.title}: {self.reason}"

    def _other(self) -> str:
        if self.causes:
            return f"It may be {' or '.join(CAUSES[cause] for cause in self.causes)}."
        return "It may be judges or conditions of several kinds, mixed in one table."

    def __str__(self) -> str:
        lines = [self.sentence]
        share, between = estimate(self.share, self.share_low, self.share_high)
        lines.append(
            f"Share of the differences that no single scale explains: {share} "
            f"({percent(self.level)} interval {between})."
        )
        if self.gain is not None and self.gain_error is not None:
            lines.append(
                "Gain in log loss of held-out games from what no single scale explains: "
                f"{with_error(self.gain, self.gain_error, sign=True)}."
            )
        lines.append(
            f"{self.n_games:,.12g} games of {self.n_pairs:,} pairs in {self.n_series:,} series; "
            f"p = {self.p_value:.2g}."
        )
        return "\n".join(lines)


def judge(
    evidence: Evidence,
    n_games: float,
    gain: tuple[float, float] | None,
    modelled: Summary | None,
    circle: Circularity | None = None,
) -> Transitivity:
    """Return the verdict.

    `modelled` is a model's cyclic share, where none can be measured; `circle` what speaks for one.
    """
    detectable = detectable_share(evidence)
    verdict: Verdict = "no evidence" if detectable <= NOTICED else "too little data"
    if evidence.p_value < FALSE_ALARMS:
        verdict = "not one scale"
    if evidence.p_value < DOUBTED and circle is not None and is_proven(circle):
        verdict = "cycles"
    if evidence.is_measured:
        reach = float(ndtri(0.5 + LEVEL / 2)) * evidence.extra_error
        likely = max(evidence.extra, 0.0)  # what is below 0 by chance is 0
        ends = (likely, evidence.extra - reach, likely + reach)
        share, low, high = (_share(end, evidence.energy) for end in ends)
    elif modelled is not None:
        share, low, high = modelled.mean, modelled.low, modelled.high
    else:
        share, low, high = 0.0, 0.0, 1.0
    return Transitivity(
        verdict=verdict,
        p_value=evidence.p_value,
        gain=None if gain is None else gain[0],
        gain_error=None if gain is None else gain[1],
        share=share,
        share_low=low,
        share_high=high,
        level=LEVEL,
        detectable=detectable,
        n_games=n_games,
        n_pairs=evidence.n_pairs,
        n_series=evidence.n_series,
        circle=circle,
        causes=() if verdict == "cycles" else evidence.causes,
    )


def is_proven(circle: Circularity) -> bool:
    """Return whether somebody is beaten around a circle, by the draws or by results alone."""
    by_draws = circle.probability >= SURE and circle.by_noise < NOISY
    # Where results alone speak for a circle, the posterior must think it likelier than not.
    likely = circle.probability > EVEN and circle.by_noise < 1.0
    return by_draws or (likely and circle.by_results < PROVEN)


def detectable_share(evidence: Evidence) -> float:
    """Return the share that the test would find four times out of five."""
    if not evidence.is_measured:
        return 1.0
    reach = -float(ndtri(FALSE_ALARMS / N_LOOKS)) + float(ndtri(POWER))
    return _share(reach * evidence.noise, evidence.energy)


def _share(extra: float, energy: float) -> float:
    extra = max(extra, 0.0)
    return extra / (extra + energy) if extra > 0.0 else 0.0


def _proof(circle: Circularity | None) -> str:
    if circle is None:
        return "some items beat each other around a circle."
    if circle.probability >= SURE:
        return (
            f"with a probability of {percent(circle.probability)} some items beat each other "
            f"around a circle, each beating the next in more than {percent(circle.edge)} of games."
        )
    return (
        "the results of single pairs go round in a circle, as they would under a strict order in "
        f"{_often(circle.by_results)} tables."
    )


def _doubt(circle: Circularity | None) -> str:
    if circle is None:
        return ""
    if circle.probability < SURE:
        return (
            f" (probability of one with every step above {percent(circle.edge)}: "
            f"{percent(circle.probability)})"
        )
    return (
        f": the nearest order without cycles would look as cyclic in {percent(circle.by_noise)} of "
        "such tables"
    )


def _often(p: float) -> str:
    if p < 0.001:
        return "fewer than 1 of 1,000"
    return f"{1000 * p:.0f} of 1,000"
