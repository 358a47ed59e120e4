"""What the recovery experiments share: the estimators, their errors, and the limits.

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
from intransit.experiments.experiment import Options
from intransit.experiments.table import Series, Table, TrialValue

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
