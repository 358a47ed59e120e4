"""Whether a table has cycles: the verdict, with what it rests on."""

from dataclasses import dataclass
from typing import Literal

from scipy.special import ndtri

from intransit.answers.transitive import N_LOOKS, Evidence
from intransit.draws import Summary

Verdict = Literal["cycles", "no evidence", "too little data"]

FALSE_ALARMS = 0.02  # share of transitive tables that are said to have cycles
POWER = 0.8
NOTICED = 0.2  # share of the energy; a test that would not notice as much has too little data
LEVEL = 0.9


@dataclass(frozen=True)
class Transitivity:
    """Whether one ranking, drifting as it may, explains all results."""

    verdict: Verdict
    p_value: float  # how often a table without cycles would look as cyclic as this
    gain: float | None  # in log loss a held-out game, from all that no ranking explains
    gain_error: float | None  # None: too few games to hold some back
    share: float  # of the energy of the margins that no ranking explains
    share_low: float
    share_high: float
    level: float  # of the interval of the share
    detectable: float  # share that the test would find four times out of five
    n_games: float
    n_pairs: int  # pairs that met
    n_series: int  # runs of games of one pair that count as one observation each

    @property
    def has_cycles(self) -> bool:
        """Whether the verdict is that there are cycles."""
        return self.verdict == "cycles"

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        if self.verdict == "cycles":
            return (
                "There are cycles: if one ranking, drifting as it may, explained everything, "
                f"results as cyclic as these would come up in {_often(self.p_value)} tables."
            )
        if self.verdict == "no evidence":
            return (
                "No evidence of cycles: one ranking, drifting as it may, explains these results. "
                f"Had {self.detectable:.0%} of the differences been cyclic, the test would have "
                "found it four times out of five."
            )
        if self.detectable >= 0.995:
            return "Too little data to tell: hardly any pair met again in another series of games."
        return (
            "Too little data to tell: no cycles were found, but even if "
            f"{self.detectable:.0%} of the differences were cyclic the test might miss it."
        )

    def __str__(self) -> str:
        lines = [self.sentence]
        lines.append(
            f"Share of the differences that no ranking explains: {self.share:.0%} "
            f"({self.level:.0%} interval {self.share_low:.0%} to {self.share_high:.0%})."
        )
        if self.gain is not None:
            lines.append(
                f"Gain in log loss of held-out games from what no ranking explains: "
                f"{self.gain:+.4f} ± {self.gain_error:.4f}."
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
) -> Transitivity:
    """Return the verdict; `modelled` is a model's cyclic share, where none can be measured."""
    detectable = detectable_share(evidence)
    verdict: Verdict = "no evidence" if detectable <= NOTICED else "too little data"
    if evidence.p_value < FALSE_ALARMS:
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
    )


def detectable_share(evidence: Evidence) -> float:
    """Return the share that the test would find four times out of five."""
    if not evidence.is_measured:
        return 1.0
    reach = -float(ndtri(FALSE_ALARMS / N_LOOKS)) + float(ndtri(POWER))
    return _share(reach * evidence.noise, evidence.energy)


def _share(extra: float, energy: float) -> float:
    extra = max(extra, 0.0)
    return extra / (extra + energy) if extra > 0.0 else 0.0


def _often(p: float) -> str:
    if p < 0.001:
        return "fewer than 1 of 1,000"
    return f"{1000 * p:.0f} of 1,000"
