"""What the recovery experiments share: estimators, their errors, the limits, and claims.

The paper's estimators recover the last matrix from weighted periods.  The joint one smooths: it
finds every S^t together with Q, and the last matrix is read off.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import intransit as it
from intransit.arrays import FloatArray
from intransit.errors import ConvergenceWarning
from intransit.experiments import experiment as ex
from intransit.experiments.experiment import Check, Options, Series, Table, TrialValue

LAST, EQUAL, OPTIMAL = "only y^T", "equal weights", "optimal weights"
WEIGHTS = (LAST, EQUAL, OPTIMAL)
NEWTON = ", Newton"  # added to the name of a curve
SHARED, JOINT, ESTIMATED = "shared-drift", "joint", "joint, scales estimated"
N_ESTIMATED = 5  # trials, from the first on, in which scales are estimated too: it takes longer
DYNAMIC_LIMIT, STATIC_LIMIT = "limit, all periods (median)", "limit, only y^T (median)"

MAX_STEPS, RESTARTS = 500, 1  # of alternating minimisation, here; Newton takes recover's own
MANY_RESTARTS = 10  # where most problems are settled by their readings and doubt is rare
_STEPS = f"alternating minimisation, at most {MAX_STEPS:,} steps a start, "
METHOD = _STEPS + f"{MANY_RESTARTS} further starts at most if in doubt"
METHOD_QUICKLY = _STEPS + f"{RESTARTS} further start if in doubt"

# y^T alone settles X^T where its limit is below this, whatever any method makes of y^T.
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
    measurements: it.Measurements,
    *,
    method: str = "alternating",
    max_steps: int = MAX_STEPS,
    restarts: int = RESTARTS,
    **settings: Any,
) -> it.Recovery:
    """Recover; an answer that stopped short is used as it is, and `converged` tells.

    The limits are of alternating minimisation: Newton takes those of `recover`.
    """
    if method == "alternating":
        settings |= {"max_steps": max_steps, "restarts": restarts}
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return it.recover(measurements, method=method, rng=0, **settings)  # type: ignore[arg-type]


def solve_each(
    measurements: it.Measurements,
    weights: Mapping[str, FloatArray | None],
    options: Options,
    **settings: Any,
) -> dict[str, it.Recovery]:
    """Return the recovery with each choice of weights; with Newton too, where it was asked for."""
    methods = {"": "alternating"} | ({NEWTON: "newton"} if options.wants("newton") else {})
    return {
        curve + name: solve(measurements, method=method, weights=w, **settings)
        for curve, w in weights.items()
        for name, method in methods.items()
    }


def errors_of(
    found: Mapping[str, it.Recovery], truth: FloatArray, facet: str | None = None
) -> Iterator[TrialValue]:
    """Yield the error of each recovery of X^T."""
    for curve, answer in found.items():
        yield TrialValue(curve, "error", relative_error(answer.margins, truth), facet=facet)


def smooth(measurements: it.Measurements | it.Timeline, **settings: Any) -> it.Trajectory:
    """Smooth; an answer that stopped short is used as it is, and `is_doubted` tells."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return it.smooth(measurements, rng=0, **settings)


def is_doubted(path: it.Trajectory) -> bool:
    """Return whether a trajectory says of itself that it may be wrong."""
    return bool(path.doubts) or not path.converged


def smooth_to_last(measurements: it.Measurements, **settings: Any) -> Guess:
    """Smooth, and keep the last matrix."""
    path = smooth(measurements, **settings)
    return Guess(path.matrix(path.times[-1]), is_doubted(path))


def estimate_jointly(simulation: it.Simulation) -> Guess:
    """Smooth with the scales that the simulation was made with."""
    return smooth_to_last(
        simulation.measurements,
        n_factors=simulation.strengths.shape[-1],
        noise_scale=simulation.noise_scale,
        drift_scale=simulation.drift_scale,
        prior_scale=1.0,
    )


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


def guess_values(
    curve: str, guess: Guess, truth: FloatArray, facet: str | None = None
) -> Iterator[TrialValue]:
    """Yield the error of an estimate, and whether it was in doubt."""
    yield TrialValue(curve, "error", relative_error(guess.margins, truth), facet=facet)
    yield TrialValue(curve, "doubted", guess.doubted, facet=facet)


def read_entries(
    strengths: FloatArray,  # (n_periods, n_items, n_factors)
    exposures: FloatArray,  # (n_items, n_factors)
    n_outcomes: int,
    rng: np.random.Generator,
    *,
    noise_scale: float,
) -> it.Measurements:
    """Read some entries of every period's matrix, drawn evenly, with noise."""
    operators = [it.uniform_entries(len(exposures), n_outcomes, rng) for _ in strengths]
    outcomes = [
        operator.read(S, exposures) + noise_scale * rng.normal(size=n_outcomes)
        for operator, S in zip(operators, strengths, strict=True)
    ]
    return it.Measurements.from_operators(operators, outcomes)


def limit_of_last(simulation: it.Simulation) -> float:
    """Return the least relative error of X^T from the last period alone: its Cramér-Rao limit."""
    S, Q, noise = simulation.strengths[-1], simulation.exposures[-1], simulation.noise_scale
    last = simulation.measurements.periods[-1].operator
    return it.theory.static_limit(S, Q, last, noise_scale=noise).relative


def limit_of_all(simulation: it.Simulation) -> float:
    """Return the least relative error of X^T from all periods, its factors being standard normal.

    Without knowing that, a small drift would cost as much as a large one: it breaks symmetries of
    the factors, and the limit would pay for directions so weakly seen that only their prior keeps
    them in place.
    """
    return it.theory.dynamic_limit(
        simulation.strengths,
        simulation.exposures,
        simulation.measurements,
        noise_scale=simulation.noise_scale,
        drift_scale=simulation.drift_scale,
        prior_scale=1.0,
    ).relative


def settled_series(table: Table, measure: str, curve: str, facet: str = "") -> Series:
    """Return a curve over the trials that y^T alone settles."""
    return table.series(measure, curve, facet).where(table.series("settled", "readings", facet))


def first_start_failed(answer: it.Recovery) -> bool:
    """Return whether a later start reached a lower objective than the first."""
    return bool(answer.attempts[0].objective > answer.objective * (1.0 + 1e-6))


CLOSE = 1.05  # "converges": a ratio of errors between 1 / CLOSE and CLOSE

Ratio = Callable[[FloatArray, FloatArray], ex.Estimate]


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
) -> ex.Claim:
    """Check that the error with optimal weights meets another's at one end of the grid."""
    ours, theirs = table.series(measure, OPTIMAL, facet), table.series(measure, other, facet)
    end, far = ends_of(ours, to_large=to_large)
    typical, at_far = (ex.typical_ratio(ours.at(x), theirs.at(x)) for x in (end, far))
    settled = settled_series(table, measure, OPTIMAL, facet).at(end)
    means = ex.ratio_of_means(settled, settled_series(table, measure, other, facet).at(end))
    counted = f"{np.isfinite(settled).sum()} of {len(settled)} trials that y^T alone settles"
    shown = {
        "errors in the usual trial (median)": typical,
        f"means, over the {counted},": means,
    }
    asked = f"asked: within {1 / CLOSE:.2f} to {CLOSE:.2f}"
    checks = [
        Check(
            f"at {drift_is(end)} the ratio of {name} is {ratio}; {asked}",
            ratio.within(1.0 / CLOSE, CLOSE),
        )
        for name, ratio in shown.items()
    ]
    measured = f"at the other end, {drift_is(far)}, the ratio in the usual trial is {at_far}"
    checks.append(Check(measured, abs(np.log(at_far.value)) > abs(np.log(typical.value))))
    statement = (
        f"When σ₂ is {'large' if to_large else 'small'}, the {what} obtained from using optimal "
        f"weights converges to the one using {other}."
    )
    return ex.Claim(statement, tuple(checks))


def meets_both_ends(table: Table, **what: str) -> list[ex.Claim]:
    """Check what the paper says of the ends of its figures of errors; see `converges`."""
    ends = ((EQUAL, False), (LAST, True))
    return [converges(table, other, to_large=to_large, **what) for other, to_large in ends]


def same_answers(measure: str = "error") -> ex.Judge:
    """Return a check, where Newton was asked for, that it finds what alternating steps find."""

    @ex.Claims().ours(OPTIMAL + NEWTON, measure=measure)
    def judge(table: Table) -> Iterator[Check]:
        """Newton and alternating minimisation agree in 95 % of the trials."""
        for curve in WEIGHTS:
            newton = table.series(measure, curve + NEWTON).values
            differ = np.mean(np.abs(np.log(newton / table.series(measure, curve).values)) > 0.01)
            measured = f"{curve}: they differ by more than 1 % in {100 * differ:.1f} % of trials"
            yield Check(measured, bool(differ <= 0.05))

    return judge


def ratios_of(first: Series, second: Series, ratio: Ratio) -> dict[float, ex.Estimate]:
    """Return a ratio of two curves, place by place."""
    return {float(x): ratio(first.at(x), second.at(x)) for x in first.x}


def error_gains(
    table: Table, *, facet: str = "", joint: str = JOINT, limit: str = DYNAMIC_LIMIT
) -> list[ex.Gain]:
    """Return, place by place, median errors of optimal weights and of a joint curve."""
    if not table.has(joint, facet=facet):
        return []
    theirs, ours = table.paired("error", OPTIMAL, joint, facet)
    return [
        ex.Gain(
            f"{facet}, {drift_is(x)}" if facet else drift_is(x),
            f"{np.median(theirs.at(x)):.2g}",
            f"{np.median(ours.at(x)):.2g}",
            _limit_at(table, limit, x, facet),
            f"error ÷ {ratio}",
        )
        for x, ratio in ratios_of(theirs, ours, ex.ratio_of_medians).items()
    ]


def _limit_at(table: Table, limit: str, x: float, facet: str) -> str:
    """Return the median limit; where most trials leave the matrix open there is none."""
    if not table.has(limit, facet=facet):
        return "not asked for"
    values = table.series("error", limit, facet).at(x)
    median = float(np.median(np.where(np.isfinite(values), values, np.inf)))
    return f"{median:.2g}" if np.isfinite(median) else "open"
