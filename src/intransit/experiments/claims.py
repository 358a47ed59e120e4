"""Claims that several experiments share, and that can fail; and what joint estimation gains."""

from collections.abc import Callable

import numpy as np

from intransit.arrays import BoolArray, FloatArray
from intransit.experiments.estimators import (
    DYNAMIC_LIMIT,
    ESTIMATED,
    JOINT,
    NEWTON,
    OPTIMAL,
    WEIGHTS,
    settled_series,
)
from intransit.experiments.experiment import Check, Claim, Gain
from intransit.experiments.table import (
    Estimate,
    Series,
    Table,
    ratio_of_means,
    ratio_of_medians,
    typical_ratio,
)

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


MEDIANS_ON_LIMIT = 1.2
MEANS_ON_LIMIT = ((0.0101, 1.3), (0.101, 1.6))  # up to this σ₂, within this factor
LARGEST_DRIFT = 0.101  # up to 0.1
FAR_OFF = 10.0  # times the limit: a trial that failed
ESTIMATED_COST = 1.2  # times the error with known scales


def has(table: Table, *curves: str, measure: str = "error", facet: str = "") -> bool:
    """Return whether all these curves were drawn."""
    return set(curves) <= set(table.names("curve", measure=measure, facet=facet))


def drift_is(x: float) -> str:
    """Return a place of the axis of most figures in words."""
    return f"σ₂ = {x:.3g}"


def error_gains(
    table: Table,
    *,
    facet: str = "",
    joint: str = JOINT,
    paper: Callable[[float], str] = lambda _: OPTIMAL,
    limit: str = DYNAMIC_LIMIT,
    where: Callable[[float], str] = drift_is,
) -> list[Gain]:
    """Return, place by place, median errors of the paper's curve and of the joint one."""
    if not has(table, joint, facet=facet):
        return []
    rows = []
    for x in table.series("error", joint, facet).x:
        theirs, ours = (s.at(x) for s in table.paired("error", paper(x), joint, facet))
        ratio = ratio_of_medians(theirs, ours)
        rows.append(
            Gain(
                where(x),
                f"{np.median(theirs):.2g}",
                f"{np.median(ours):.2g}",
                _limit_at(table, limit, x, facet),
                f"error ÷ {ratio}",
            )
        )
    return rows


def on_the_limit(table: Table) -> list[Claim]:
    """Check that the joint error is the least that any estimate could have, nearly."""
    if not has(table, JOINT, DYNAMIC_LIMIT):
        return []
    ours, limit = table.paired("error", JOINT, DYNAMIC_LIMIT)
    checks = [_worst(ours, limit, ratio_of_medians, "median", 0.0, LARGEST_DRIFT, MEDIANS_ON_LIMIT)]
    low = 0.0
    for high, within in MEANS_ON_LIMIT:
        if np.any((ours.x > low) & (ours.x <= high)):
            checks.append(_worst(ours, limit, ratio_of_means, "mean", low, high, within))
        low = high
    return [
        Claim(
            "Joint estimation is on the Cramér-Rao limit for σ₂ up to 0.1: medians within 1.2, "
            "means within 1.3 up to σ₂ = 0.01 and within 1.6 above.",
            tuple(checks),
            source="ours",
        )
    ]


def nothing_hidden(table: Table) -> list[Claim]:
    """Check that a joint estimate which is far off says so."""
    if not has(table, JOINT, DYNAMIC_LIMIT):
        return []
    ours, limit = table.paired("error", JOINT, DYNAMIC_LIMIT)
    doubted = table.series("doubted", JOINT).values != 0.0
    failed = ~(ours.values <= FAR_OFF * limit.values)  # also where there is no number
    unseen = failed & ~doubted
    found = ", ".join(
        f"σ₂ = {ours.x[k]:.3g} trial {trial}" for k, trial in np.argwhere(unseen)[:5].tolist()
    )
    return [
        Claim(
            f"No joint estimate is more than {FAR_OFF:g} times the limit off without saying so.",
            (
                Check(
                    f"{_far_off(failed, unseen)}{': ' + found if found else ''}; "
                    f"{doubted.sum()} of all are in doubt",
                    not unseen.any(),
                ),
            ),
            source="ours",
        )
    ]


def _far_off(failed: BoolArray, unseen: BoolArray) -> str:
    if not failed.any():
        return f"none of {failed.size} is that far off"
    told = f"{failed.sum()} of {failed.size} are that far off"
    return f"{told}, and {unseen.sum() or 'none'} of them without a doubt"


def beats_weights(table: Table) -> list[Claim]:
    """Check that joint estimation is never worse than optimal weights, and where it is better."""
    if not has(table, JOINT):
        return []
    theirs, ours = table.paired("error", OPTIMAL, JOINT)
    ratios = _ratios(theirs, ours, ratio_of_medians)
    largest = max(ratios, key=lambda x: ratios[x].value)
    worse = [drift_is(x) for x, ratio in ratios.items() if ratio.high < 1.0]
    better = [x for x, ratio in ratios.items() if ratio.low > 1.0]
    return [
        Claim(
            "Joint estimation is nowhere clearly worse than optimal weights, and somewhere at "
            "least twice as good (median errors).",
            (
                Check(
                    f"optimal weights have {ratios[largest]} times its error at "
                    f"{drift_is(largest)}, and clearly more at {len(better)} of {len(ratios)} "
                    "values of σ₂",
                    ratios[largest].low >= 2.0,
                ),
                Check(f"it is clearly worse at {', '.join(worse) or 'none'}", not worse),
            ),
            source="ours",
        )
    ]


def scales_cost_little(table: Table) -> list[Claim]:
    """Check that estimating the scales costs little against knowing them."""
    if not has(table, JOINT, ESTIMATED):
        return []
    ours, known = table.paired("error", ESTIMATED, JOINT)
    n_trials = ours.values.shape[1]
    high = float(ours.x[-1]) + 1.0
    return [
        Claim(
            "Scales estimated from the data cost at most 1.2 times the error with known ones.",
            tuple(
                _worst(
                    ours, known, ratio, f"{what} over {n_trials} trials", 0.0, high, ESTIMATED_COST
                )
                for ratio, what in ((ratio_of_medians, "median"), (ratio_of_means, "mean"))
            ),
            source="ours",
        )
    ]


Ratio = Callable[[FloatArray, FloatArray], Estimate]


def _ratios(first: Series, second: Series, ratio: Ratio) -> dict[float, Estimate]:
    return {float(x): ratio(first.at(x), second.at(x)) for x in first.x}


def _worst(
    first: Series, second: Series, ratio: Ratio, what: str, low: float, high: float, within: float
) -> Check:
    """Check that a ratio is nowhere above a number, for σ₂ above low and up to high."""
    ratios = {x: r for x, r in _ratios(first, second, ratio).items() if low < x <= high}
    worst = max(ratios, key=lambda x: np.nan_to_num(ratios[x].value, nan=np.inf))
    least = min(ratios, key=lambda x: ratios[x].value)
    return Check(
        f"{what}: the largest ratio is {ratios[worst]}, at {drift_is(worst)}; the smallest of "
        f"{len(ratios)} is {ratios[least].value:.3g}; asked: at most {within:g}",
        bool(ratios[worst].value <= within),
    )


def _limit_at(table: Table, limit: str, x: float, facet: str) -> str:
    """Return the median limit; where most trials leave the matrix open there is none."""
    if not has(table, limit, facet=facet):
        return "not asked for"
    values = table.series("error", limit, facet).at(x)
    median = float(np.median(np.where(np.isfinite(values), values, np.inf)))
    return f"{median:.2g}" if np.isfinite(median) else "open"
