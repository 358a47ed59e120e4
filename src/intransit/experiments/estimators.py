"""What the recovery experiments share: estimators, their errors, the limits, and claims.

The paper's estimators recover the last matrix from weighted periods.  The joint one smooths: it
finds every S^t together with Q, and the last matrix is read off.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

import intransit as it
from intransit.arrays import FloatArray
from intransit.errors import ConvergenceWarning
from intransit.experiments.experiment import Check, Claim, Gain, Judge, Options, claim
from intransit.experiments.table import (
    Estimate,
    Series,
    Table,
    TrialValue,
    ratio_of_means,
    ratio_of_medians,
    typical_ratio,
)

LAST, EQUAL, OPTIMAL = "only y^T", "equal weights", "optimal weights"
WEIGHTS = (LAST, EQUAL, OPTIMAL)
NEWTON = ", Newton"  # added to the name of a curve
SHARED, JOINT, ESTIMATED = "shared-drift", "joint", "joint, scales estimated"
N_ESTIMATED = 5  # trials, from the first on, in which scales are estimated too: it takes longer
DYNAMIC_LIMIT, STATIC_LIMIT = "limit, all periods (median)", "limit, only y^T (median)"

MAX_STEPS, RESTARTS = 500, 1  # of alternating minimisation, here; Newton takes recover's own
MANY_RESTARTS = 10  # where most problems are settled by their readings and doubt is rare
METHOD = (
    f"alternating minimisation, at most {MAX_STEPS:,} steps a start, {MANY_RESTARTS} further "
    "starts at most if in doubt"
)
METHOD_QUICKLY = (
    f"alternating minimisation, at most {MAX_STEPS:,} steps a start, {RESTARTS} further start if "
    "in doubt"
)

SETTLED = 1e-3
MEANS = (
    "A few trials rule a plain mean: those in which y^T alone hardly settles the matrix, so that "
    "whatever the method finds is far off. Solid lines are means over the trials that y^T alone "
    f"settles, its Cramér-Rao limit being below {SETTLED:g}; dotted ones, where they differ, are "
    "means over all trials. Bands are over all trials."
)
STARTS = (
    "The paper does not say where alternating minimisation starts. Here it starts from the leading "
    "planes of the matrix filled with zeros; when the answer is in doubt further starts are tried "
    "and the lowest objective is kept, as the program asks for its minimum."
)
ESTIMATED_NOTE = (
    f"“{ESTIMATED}” is told less and takes longer, so it is run in the first {N_ESTIMATED} trials "
    "only; it is compared with others over those."
)


@dataclass(frozen=True, eq=False)
class Guess:
    """What an estimator makes of X^T, and whether it says itself that it may be wrong."""

    margins: FloatArray  # (n_items, n_items)
    doubted: bool = False


def three_weights(
    n_periods: int, *, noise_scale: float, drift_scale: float
) -> dict[str, FloatArray]:
    """Return the weights that the paper compares."""
    return {
        LAST: np.eye(n_periods)[-1],
        EQUAL: np.full(n_periods, 1.0 / n_periods),
        OPTIMAL: it.optimal_weights(n_periods, noise_scale=noise_scale, drift_scale=drift_scale),
    }


def solve(
    measurements: it.Measurements, *, method: str = "alternating", **settings: object
) -> it.Recovery:
    """Recover; an answer that stopped short is used as it is, and `converged` tells."""
    if method == "alternating":
        settings = {"max_steps": MAX_STEPS, "restarts": RESTARTS} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return it.recover(measurements, method=method, rng=0, **settings)  # type: ignore[arg-type]


def smooth(measurements: it.Measurements | it.Timeline, **settings: object) -> it.Trajectory:
    """Smooth; an answer that stopped short is used as it is, and `is_doubted` tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return it.smooth(measurements, rng=0, **settings)  # type: ignore[arg-type]


def is_doubted(path: it.Trajectory) -> bool:
    """Return whether a trajectory says of itself that it may be wrong."""
    return bool(path.doubts) or not path.converged


def estimate_jointly(simulation: it.Simulation) -> Guess:
    """Smooth with the scales that the simulation was made with."""
    path = smooth(
        simulation.measurements,
        n_factors=simulation.strengths.shape[-1],
        noise_scale=simulation.noise_scale,
        drift_scale=simulation.drift_scale,
        prior_scale=1.0,
    )
    return Guess(path.matrix(path.times[-1]), is_doubted(path))


def estimate_scales_too(simulation: it.Simulation) -> Guess:
    """Smooth, told nothing but the number of factors."""
    path = smooth(simulation.measurements, n_factors=simulation.strengths.shape[-1])
    return Guess(path.matrix(path.times[-1]), is_doubted(path))


def weigh_shared_drift(simulation: it.Simulation) -> Guess:
    """Recover as the paper does, with the weights for drift that a period's readings share."""
    seen, r = simulation.measurements, simulation.strengths.shape[-1]
    weights = it.optimal_weights(
        seen.n_periods,
        noise_scale=simulation.noise_scale,
        drift_scale=np.sqrt(r) * simulation.drift_scale,  # rows of a standard normal Q: length √r
        drift="shared",
        n_outcomes=seen.n_outcomes,
        degrees=it.theory.degrees_of_freedom(seen.n_items, r),
    )
    answer = solve(seen, n_factors=r, weights=weights, restarts=MANY_RESTARTS)
    return Guess(answer.margins, not answer.converged)


# Further estimators of X^T from all periods, by the name that --with and --without know them by:
# a line here is a curve of recovery-error and of sample-ratio.
Further = Mapping[str, Callable[[it.Simulation], Guess]]
FURTHER: Further = {
    JOINT: estimate_jointly,
    SHARED: weigh_shared_drift,
}


def relative_error(estimate: FloatArray, truth: FloatArray) -> float:
    """Return ‖estimate - truth‖²_F / ‖truth‖²_F, the paper's relative recovery error."""
    return float(np.sum((estimate - truth) ** 2) / np.sum(truth**2))


def recovery_readings(
    measurements: it.Measurements,
    truth: FloatArray,  # (n_items, n_items)
    weights: Mapping[str, FloatArray],
    options: Options,
    *,
    n_factors: int,
    facet: str | None = None,
) -> Iterator[TrialValue]:
    """Yield the error of each curve, and whether its first start was not the one kept."""
    for curve, w in weights.items():
        answer = solve(measurements, n_factors=n_factors, weights=w, restarts=MANY_RESTARTS)
        yield TrialValue(curve, "error", relative_error(answer.margins, truth), facet=facet)
        yield TrialValue(curve, "restarted", first_start_failed(answer), facet=facet)
        if options.wants("newton") and curve in WEIGHTS:
            answer = solve(measurements, method="newton", n_factors=n_factors, weights=w)
            error = relative_error(answer.margins, truth)
            yield TrialValue(curve + NEWTON, "error", error, facet=facet)


def further_readings(
    simulation: it.Simulation, options: Options, further: Further
) -> Iterator[TrialValue]:
    """Yield the errors of the further estimators that were asked for."""
    for name, estimate in further.items():
        if options.wants(name):
            yield from guess_readings(name, estimate(simulation), simulation.margins[-1])


def guess_readings(
    curve: str, guess: Guess, truth: FloatArray, facet: str | None = None
) -> Iterator[TrialValue]:
    """Yield the error of an estimate, and whether it was in doubt."""
    yield TrialValue(curve, "error", relative_error(guess.margins, truth), facet=facet)
    yield TrialValue(curve, "doubted", guess.doubted, facet=facet)


def settled_reading(
    strengths: FloatArray,  # (n_items, n_factors), of the last period
    exposures: FloatArray,  # (n_items, n_factors)
    operator: it.Entries,
    *,
    noise_scale: float,
    facet: str | None = None,
) -> TrialValue:
    """Return whether y^T alone settles X^T: whether its limit is below SETTLED.

    It depends on what was read, and not on what any method made of it.
    """
    limit = it.theory.static_limit(strengths, exposures, operator, noise_scale=noise_scale)
    return TrialValue("readings", "settled", limit.relative <= SETTLED, facet=facet)


def settled_series(table: Table, measure: str, curve: str, facet: str = "") -> Series:
    """Return a curve over the trials that y^T alone settles."""
    return table.series(measure, curve, facet).where(table.series("settled", "readings", facet))


def first_start_failed(answer: it.Recovery) -> bool:
    """Return whether a later start reached a lower objective than the first."""
    return bool(answer.attempts[0].objective > answer.objective * (1.0 + 1e-6))


def limit_readings(simulation: it.Simulation) -> Iterator[TrialValue]:
    """Yield the Cramér-Rao limits of a simulation: of all periods, and of the last alone.

    That the factors are standard normal is told to the first.  Without it a small drift would
    cost as much as a large one: it breaks symmetries of the factors, and the limit would pay for
    directions so weakly seen that only their prior keeps them in place.
    """
    S, Q, seen = simulation.strengths, simulation.exposures, simulation.measurements
    noise = simulation.noise_scale
    dynamic = it.theory.dynamic_limit(
        S, Q, seen, noise_scale=noise, drift_scale=simulation.drift_scale, prior_scale=1.0
    )
    static = it.theory.static_limit(S[-1], Q[-1], seen.periods[-1].operator, noise_scale=noise)
    yield TrialValue(DYNAMIC_LIMIT, "error", dynamic.relative)
    yield TrialValue(STATIC_LIMIT, "error", static.relative)


CLOSE = 1.05  # "converges": a ratio of errors between 1 / CLOSE and CLOSE
MEDIANS_ON_LIMIT = 1.2
MEANS_ON_LIMIT = ((0.0101, 1.3), (0.101, 1.6))  # up to this σ₂, within this factor
LARGEST_DRIFT = 0.101  # up to 0.1
FAR_OFF = 10.0  # times the limit: a trial that failed
ESTIMATED_COST = 1.2  # times the error with known scales

Ratio = Callable[[FloatArray, FloatArray], Estimate]


def drift_is(x: float) -> str:
    """Return a place of the axis of most figures in words."""
    return f"σ₂ = {x:.3g}"


def ends_of(series: Series, *, to_large: bool) -> tuple[float, float]:
    """Return the end of the grid that a claim is about, and the other end."""
    small, large = float(series.x[0]), float(series.x[-1])
    return (large, small) if to_large else (small, large)


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
    end, far = ends_of(ours, to_large=to_large)
    typical, at_far = (typical_ratio(ours.at(x), theirs.at(x)) for x in (end, far))
    settled = settled_series(table, measure, OPTIMAL, facet).at(end)
    means = ratio_of_means(settled, settled_series(table, measure, other, facet).at(end))
    counted = f"{np.isfinite(settled).sum()} of {len(settled)} trials that y^T alone settles"
    asked = f"asked: within {1 / CLOSE:.2f} to {CLOSE:.2f}"
    return Claim(
        f"When σ₂ is {'large' if to_large else 'small'}, the {what} obtained from using optimal "
        f"weights converges to the one using {other}.",
        (
            *(
                Check(
                    f"at {drift_is(end)} the ratio of {name} is {ratio}; {asked}",
                    ratio.within(1.0 / CLOSE, CLOSE),
                )
                for name, ratio in (
                    ("errors in the usual trial (median)", typical),
                    (f"means, over the {counted},", means),
                )
            ),
            Check(
                f"at the other end, {drift_is(far)}, the ratio in the usual trial is {at_far}",
                abs(np.log(at_far.value)) > abs(np.log(typical.value)),
            ),
        ),
    )


def same_answers(measure: str = "error") -> Judge:
    """Return a check, where Newton was asked for, that it finds what alternating steps find."""

    @claim(
        "Newton and alternating minimisation agree in 95 % of the trials.",
        OPTIMAL + NEWTON,
        measure=measure,
        source="ours",
    )
    def judge(table: Table) -> Iterator[Check]:
        for curve in WEIGHTS:
            newton = table.series(measure, curve + NEWTON).values
            differ = np.mean(np.abs(np.log(newton / table.series(measure, curve).values)) > 0.01)
            yield Check(
                f"{curve}: they differ by more than 1 % in {100 * differ:.1f} % of trials",
                bool(differ <= 0.05),
            )

    return judge


@claim(
    "One spectral start is enough for alternating minimisation in 95 % of the trials.",
    source="ours",
)
def one_start_is_enough(table: Table) -> Iterator[Check]:
    """Check how often a further start was better than the first."""
    shares = {curve: float(table.series("restarted", curve).mean.mean()) for curve in WEIGHTS}
    told = "; ".join(f"{curve}: {100 * share:.1f} %" for curve, share in shares.items())
    yield Check(
        f"share of trials in which a further start was better: {told}",
        max(shares.values()) <= 0.05,
    )


@claim(
    "Joint estimation is on the Cramér-Rao limit for σ₂ up to 0.1: medians within 1.2, "
    "means within 1.3 up to σ₂ = 0.01 and within 1.6 above.",
    JOINT,
    DYNAMIC_LIMIT,
    source="ours",
)
def on_the_limit(table: Table) -> Iterator[Check]:
    """Check that the joint error is the least that any estimate could have, nearly."""
    ours, limit = table.paired("error", JOINT, DYNAMIC_LIMIT)
    yield _worst(ours, limit, ratio_of_medians, "median", 0.0, LARGEST_DRIFT, MEDIANS_ON_LIMIT)
    low = 0.0
    for high, within in MEANS_ON_LIMIT:
        if np.any((ours.x > low) & (ours.x <= high)):
            yield _worst(ours, limit, ratio_of_means, "mean", low, high, within)
        low = high


@claim(
    f"No joint estimate is more than {FAR_OFF:g} times the limit off without saying so.",
    JOINT,
    DYNAMIC_LIMIT,
    source="ours",
)
def nothing_hidden(table: Table) -> Iterator[Check]:
    """Check that a joint estimate which is far off says so."""
    ours, limit = table.paired("error", JOINT, DYNAMIC_LIMIT)
    doubted = table.series("doubted", JOINT).values != 0.0
    failed = ~(ours.values <= FAR_OFF * limit.values)  # also where there is no number
    unseen = failed & ~doubted
    told = f"none of {failed.size} is that far off"
    if failed.any():
        told = f"{failed.sum()} of {failed.size} are that far off, and {unseen.sum() or 'none'} "
        told += "of them without a doubt"
    places = [f"{drift_is(ours.x[k])} trial {trial}" for k, trial in np.argwhere(unseen)[:5]]
    found = f": {', '.join(places)}" if places else ""
    yield Check(f"{told}{found}; {doubted.sum()} of all are in doubt", not unseen.any())


@claim(
    "Joint estimation is nowhere clearly worse than optimal weights, and somewhere at "
    "least twice as good (median errors).",
    JOINT,
    source="ours",
)
def beats_weights(table: Table) -> Iterator[Check]:
    """Check that joint estimation is never worse than optimal weights, and where it is better."""
    theirs, ours = table.paired("error", OPTIMAL, JOINT)
    ratios = ratios_of(theirs, ours, ratio_of_medians)
    largest = max(ratios, key=lambda x: ratios[x].value)
    worse = [drift_is(x) for x, ratio in ratios.items() if ratio.high < 1.0]
    n_better = sum(ratio.low > 1.0 for ratio in ratios.values())
    yield Check(
        f"optimal weights have {ratios[largest]} times its error at {drift_is(largest)}, and "
        f"clearly more at {n_better} of {len(ratios)} values of σ₂",
        ratios[largest].low >= 2.0,
    )
    yield Check(f"it is clearly worse at {', '.join(worse) or 'none'}", not worse)


@claim(
    "Scales estimated from the data cost at most 1.2 times the error with known ones.",
    JOINT,
    ESTIMATED,
    source="ours",
)
def scales_cost_little(table: Table) -> Iterator[Check]:
    """Check that estimating the scales costs little against knowing them."""
    ours, known = table.paired("error", ESTIMATED, JOINT)
    for ratio, name in ((ratio_of_medians, "median"), (ratio_of_means, "mean")):
        what = f"{name} over {ours.values.shape[1]} trials"
        yield _worst(ours, known, ratio, what, 0.0, float(ours.x[-1]) + 1.0, ESTIMATED_COST)


def ratios_of(first: Series, second: Series, ratio: Ratio) -> dict[float, Estimate]:
    """Return a ratio of two curves, place by place."""
    return {float(x): ratio(first.at(x), second.at(x)) for x in first.x}


def _worst(
    first: Series, second: Series, ratio: Ratio, what: str, low: float, high: float, within: float
) -> Check:
    """Check that a ratio is nowhere above a number, for σ₂ above low and up to high."""
    ratios = {x: r for x, r in ratios_of(first, second, ratio).items() if low < x <= high}
    worst = max(ratios, key=lambda x: np.nan_to_num(ratios[x].value, nan=np.inf))
    least = min(ratios, key=lambda x: ratios[x].value)
    return Check(
        f"{what}: the largest ratio is {ratios[worst]}, at {drift_is(worst)}; the smallest of "
        f"{len(ratios)} is {ratios[least].value:.3g}; asked: at most {within:g}",
        bool(ratios[worst].value <= within),
    )


def error_gains(
    table: Table,
    *,
    facet: str = "",
    joint: str = JOINT,
    limit: str = DYNAMIC_LIMIT,
) -> list[Gain]:
    """Return, place by place, median errors of optimal weights and of a joint curve."""
    if not table.has(joint, facet=facet):
        return []
    rows = []
    for x in table.series("error", joint, facet).x:
        theirs, ours = (s.at(x) for s in table.paired("error", OPTIMAL, joint, facet))
        rows.append(
            Gain(
                f"{facet}, {drift_is(x)}" if facet else drift_is(x),
                f"{np.median(theirs):.2g}",
                f"{np.median(ours):.2g}",
                _limit_at(table, limit, x, facet),
                f"error ÷ {ratio_of_medians(theirs, ours)}",
            )
        )
    return rows


def _limit_at(table: Table, limit: str, x: float, facet: str) -> str:
    """Return the median limit; where most trials leave the matrix open there is none."""
    if not table.has(limit, facet=facet):
        return "not asked for"
    values = table.series("error", limit, facet).at(x)
    median = float(np.median(np.where(np.isfinite(values), values, np.inf)))
    return f"{median:.2g}" if np.isfinite(median) else "open"
