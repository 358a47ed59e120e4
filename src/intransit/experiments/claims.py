"""Claims that several experiments share."""

import numpy as np

from intransit.experiments.estimators import NEWTON, OPTIMAL, WEIGHTS, settled_series
from intransit.experiments.experiment import Check, Claim
from intransit.experiments.statistics import Estimate, ratio_of_means, typical_ratio
from intransit.experiments.table import Table

CLOSE = 1.05  # "converges": a ratio of errors between 1 / CLOSE and CLOSE


def converges(
    table: Table,
    other: str,
    *,
    to_large: bool,
    what: str = "relative recovery error",
    measure: str = "error",
    facet: str = "",
) -> Claim:
    """Check that the error with optimal weights meets another's at one end of the grid."""
    ours, theirs = table.series(measure, OPTIMAL, facet), table.series(measure, other, facet)
    ends = (ours.x[0], ours.x[-1])
    end, far = reversed(ends) if to_large else ends
    typical = typical_ratio(ours.at(end), theirs.at(end))
    at_far = typical_ratio(ours.at(far), theirs.at(far))
    settled = settled_series(table, measure, OPTIMAL, facet).at(end)
    means = ratio_of_means(settled, settled_series(table, measure, other, facet).at(end))
    n_settled = int(np.isfinite(settled).sum())
    return Claim(
        f"When σ₂ is {'large' if to_large else 'small'}, the {what} obtained from using optimal "
        f"weights converges to the one using {other}.",
        (
            _close("errors in the usual trial (median)", typical, end),
            _close(
                f"means, over the {n_settled} of {len(settled)} trials that y^T alone settles,",
                means,
                end,
            ),
            Check(
                f"at the other end, σ₂ = {far:.3g}, the ratio in the usual trial is {at_far}",
                abs(np.log(at_far.value)) > abs(np.log(typical.value)),
            ),
        ),
    )


def same_answers(table: Table, measure: str = "error", facet: str = "") -> list[Claim]:
    """Check, where Newton was asked for, that it finds what alternating minimisation finds."""
    if OPTIMAL + NEWTON not in table.names("curve", measure=measure, facet=facet):
        return []
    checks = []
    for curve in WEIGHTS:
        newton = table.series(measure, curve + NEWTON, facet).values
        differ = np.abs(np.log(newton / table.series(measure, curve, facet).values)) > 0.01
        checks.append(
            Check(
                f"{curve}: they differ by more than 1 % in {100 * differ.mean():.1f} % of trials",
                bool(differ.mean() <= 0.05),
            )
        )
    statement = "Newton and alternating minimisation agree in 95 % of the trials."
    return [Claim(statement, tuple(checks), source="ours")]


def one_start_is_enough(table: Table) -> Claim:
    """Check how often a further start was better than the first."""
    shares = {curve: float(table.series("restarted", curve).mean.mean()) for curve in WEIGHTS}
    told = "; ".join(f"{curve}: {100 * share:.1f} %" for curve, share in shares.items())
    return Claim(
        "One spectral start is enough for alternating minimisation in 95 % of the trials.",
        (
            Check(
                f"share of trials in which a further start was better: {told}",
                max(shares.values()) <= 0.05,
            ),
        ),
        source="ours",
    )


def _close(what: str, ratio: Estimate, end: float) -> Check:
    return Check(
        f"at σ₂ = {end:.3g} the ratio of {what} is {ratio}; asked: within {1 / CLOSE:.2f} to "
        f"{CLOSE:.2f}",
        ratio.within(1.0 / CLOSE, CLOSE),
    )
