"""Whether a table has cycles: the verdict, with what it rests on.

Two questions, two answers.  "Does one scale explain it?" is the test of `transitive`.  "Do some
items beat each other around a circle?", a cycle, is asked of every strict order by `strict_order`.
"""

from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri

from intransit.analysis.strict_order import Cyclicity
from intransit.analysis.transitivity import FALSE_ALARMS, N_LOOKS, TINIEST, Cause, Evidence
from intransit.inference.draws import Summary
from intransit.percent import estimate, percent, with_error

Verdict = Literal["cycles", "not one scale", "no evidence", "too little data"]

DOUBTED = 0.4  # p value of one scale, from which on cycles are not asked for
SURE = 0.9  # probability of a cycle, to be said
NOISY = 0.65  # share of tables of the nearest order that look as cyclic: with more none is said
EVEN = 0.5  # probability of a cycle, below which results alone do not prove one
PROVEN = 0.05  # p value of single pairs against every order, to say that there is a cycle
POWER = 0.8
HARDLY = 0.1  # further series of a pair, of which it is said that hardly any met again
HOPELESS = 0.995  # detectable share, with which nothing can be told
NOTICED = 0.2  # share of the energy; a test that would not notice as much has too little data
LEVEL = 0.9
N_SHARES = 100  # values of each of the two sums that a share is made of
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
    cycle: Cyclicity | None = None  # what speaks for a cycle; None where one scale will do
    causes: tuple[Cause, ...] = ()  # other than cycles, that would explain the deviations

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
            return _proof(self.cycle)
        if self.verdict == "not one scale":
            return (
                "no ranking with a single scale of strength explains these results, but no cycle "
                f"is proven{_doubt(self.cycle)}. {self._other()}{self._size()}"
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

    def _size(self) -> str:
        """Say so where deviations that are hardly chance are too small to matter."""
        helps = self.gain is None or self.gain > 0.0
        if helps or self.share_low > 0.0 or self.share_high > NOTICED:
            return ""
        between = estimate(self.share, self.share_low, self.share_high)[1]
        return (
            f" Deviations are small, if real: {between} of the differences, and forecasts gain "
            "nothing from them."
        )

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
    cycle: Cyclicity | None = None,
) -> Transitivity:
    """Return the verdict.

    `modelled` is a model's cyclic share, where none can be measured; `cycle` what speaks for one.
    """
    detectable = detectable_share(evidence)
    if evidence.is_measured:
        share, low, high = _measured(evidence)
    elif modelled is not None:
        share, low, high = modelled.mean, modelled.low, modelled.high
    else:
        share, low, high = 0.0, 0.0, 1.0
    return Transitivity(
        verdict=_verdict(evidence.p_value, detectable, cycle, evidence.causes),
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
        cycle=cycle,
        causes=evidence.causes,
    )


def at_edge(found: Transitivity, cycle: Cyclicity) -> Transitivity:
    """Return the verdict with what speaks for a cycle at another edge."""
    verdict = _verdict(found.p_value, found.detectable, cycle, found.causes)
    return replace(found, verdict=verdict, cycle=cycle)


def as_record(found: Transitivity) -> dict[str, object]:
    """Return all of it as plain data; `cycle` also by its first name, `circle`."""
    record = asdict(found)
    return {**record, "circle": record["cycle"]}


def _verdict(
    p_value: float, detectable: float, cycle: Cyclicity | None, causes: tuple[Cause, ...]
) -> Verdict:
    # The model knows one worth of a side: what it is worth to each item may look like a cycle.
    proven = cycle is not None and is_proven(cycle) and "sides" not in causes
    if p_value < DOUBTED and proven:
        return "cycles"
    if p_value < FALSE_ALARMS:
        return "not one scale"
    return "no evidence" if detectable <= NOTICED else "too little data"


def is_proven(cycle: Cyclicity) -> bool:
    """Return whether there is a cycle, by the draws or by results alone."""
    by_draws = cycle.probability >= SURE and cycle.by_noise < NOISY
    # Where results alone speak for a cycle, the posterior must think it likelier than not.
    likely = cycle.probability > EVEN and cycle.by_noise < 1.0
    return by_draws or (likely and cycle.by_results < PROVEN)


def detectable_share(evidence: Evidence) -> float:
    """Return the share that the test would find four times out of five."""
    if not evidence.is_measured:
        return 1.0
    reach = -float(ndtri(FALSE_ALARMS / N_LOOKS)) + float(ndtri(POWER))
    return _share(reach * evidence.noise, evidence.energy)


def _measured(evidence: Evidence) -> tuple[float, float, float]:
    """Return the share and its interval: a ratio of two sums neither of which is known.

    The mean square of scores' margins is, in units of its noise, like a chi-square variable: what
    it may be follows from its own spread at that size.
    """
    likely = max(evidence.extra, 0.0)  # what is below 0 by chance is 0
    share = _share(likely, evidence.energy)
    z = ndtri((np.arange(N_SHARES) + 0.5) / N_SHARES)
    extras = np.where(z > 0.0, likely, evidence.extra) + z * evidence.extra_error
    unit = evidence.energy_unit
    size = 4.0 * z**2 + 2.0 * evidence.freedom + 4.0 * evidence.energy / unit
    energies = evidence.energy + unit * (2.0 * z**2 + z * np.sqrt(size))
    both = np.maximum(extras[:, None], 0.0), np.maximum(energies, 0.0)
    drawn = both[0] / np.maximum(both[0] + both[1], TINIEST)
    low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return share, min(float(low), share), max(float(high), share)


def _share(extra: float, energy: float) -> float:
    extra = max(extra, 0.0)
    return extra / (extra + energy) if extra > 0.0 else 0.0


def _proof(cycle: Cyclicity | None) -> str:
    if cycle is None:
        return "some items beat each other around a circle."
    if cycle.probability >= SURE:
        return (
            f"with a probability of {percent(cycle.probability)} some items beat each other "
            f"around a circle, each beating the next in more than {percent(cycle.edge)} of games."
        )
    return (
        "the results of single pairs go round in a circle, as they would under a strict order in "
        f"{_often(cycle.by_results)} tables."
    )


def _doubt(cycle: Cyclicity | None) -> str:
    if cycle is None:
        return ""
    if cycle.probability < SURE:
        return (
            f" (probability of one with every step above {percent(cycle.edge)}: "
            f"{percent(cycle.probability)})"
        )
    return (
        f": the nearest order without cycles would look as cyclic in {percent(cycle.by_noise)} of "
        "such tables"
    )


def _often(p: float) -> str:
    if p < 0.001:
        return "fewer than 1 of 1,000"
    return f"{1000 * p:.0f} of 1,000"
