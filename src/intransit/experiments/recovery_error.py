"""The paper's first synthetic experiment: relative error of X^T against the drift."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

import intransit as it
from intransit.experiments.claims import (
    CLOSE,
    beats_weights,
    converges,
    error_gains,
    nothing_hidden,
    on_the_limit,
    one_start_is_enough,
    same_answers,
    scales_cost_little,
)
from intransit.experiments.estimators import (
    DYNAMIC_LIMIT,
    EQUAL,
    ESTIMATED,
    ESTIMATED_NOTE,
    FURTHER,
    JOINT,
    LAST,
    MEANS,
    METHOD,
    N_ESTIMATED,
    OPTIMAL,
    SETTLED,
    SHARED,
    STARTS,
    Further,
    estimate_scales_too,
    further_readings,
    guess_readings,
    limit_readings,
    recovery_readings,
    settled_reading,
    settled_series,
    three_weights,
)
from intransit.experiments.experiment import (
    Check,
    Claim,
    Experiment,
    Options,
    Point,
    axis,
    half_decades,
)
from intransit.experiments.plots import draw_extras, draw_settled, finish
from intransit.experiments.table import Table, TrialValue, ratio_of_means, ratio_of_medians

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_ITEMS, N_FACTORS, N_PERIODS = 20, 2, 5
NOISE_SCALE = 0.01
SAMPLING_RATIO = 0.4
N_OUTCOMES = round(SAMPLING_RATIO * N_ITEMS**2)  # 160
DRIFT_SCALES = half_decades(1e-4, 10**0.5)
QUICK_ESTIMATED = 1
BOUNDED = "optimal weights with the bound a"  # eq. (opt_w); the three curves use (opt_w_na)


def measure(
    point: Point, rng: np.random.Generator, options: Options, further: Further = FURTHER
) -> Iterator[TrialValue]:
    """Simulate once and recover with every choice of weights."""
    simulation = it.simulate(
        n_items=N_ITEMS,
        n_factors=N_FACTORS,
        n_periods=N_PERIODS,
        n_outcomes=N_OUTCOMES,
        noise_scale=NOISE_SCALE,
        drift_scale=point.x,
        rng=rng,
    )
    truth = simulation.margins[-1]
    weights = three_weights(N_PERIODS, noise_scale=NOISE_SCALE, drift_scale=point.x)
    weights[BOUNDED] = it.optimal_weights(
        N_PERIODS,
        noise_scale=NOISE_SCALE,
        drift_scale=point.x,
        bound=it.theory.largest_entry(truth),
    )
    yield from recovery_readings(
        simulation.measurements, truth, weights, options, n_factors=N_FACTORS
    )
    yield settled_reading(
        simulation.strengths[-1],
        simulation.exposures[-1],
        simulation.measurements.periods[-1].operator,  # type: ignore[arg-type]
        noise_scale=NOISE_SCALE,
    )
    yield from further_readings(simulation, options, further)
    if options.wants(JOINT) and options.trial < (QUICK_ESTIMATED if options.quick else N_ESTIMATED):
        yield from guess_readings(ESTIMATED, estimate_scales_too(simulation), truth)
    if options.wants("limit"):
        yield from limit_readings(simulation)


def draw(figure: "Figure", table: Table) -> None:
    """Draw means and bands of the three weights."""
    axes = figure.subplots()
    draw_settled(axes, table, "error")
    draw_extras(axes, table, "error")
    finish(
        axes,
        title="Relative error of X^T",
        x="drift σ₂",
        y="‖X̂ − X‖² / ‖X‖²",
        log=("x", "y"),
        legend=None,
    )
    axes.set_ylim(1e-7, 1e2)
    figure.legend(loc="outside right center")


def judge(table: Table) -> list[Claim]:
    """Check what the paper says about its figure (a)."""
    return [
        converges(table, EQUAL, to_large=False),
        converges(table, LAST, to_large=True),
        _better_without_bound(table),
        _never_worse(table),
        one_start_is_enough(table),
        _finds_what_is_settled(table),
        *same_answers(table),
        *_reaches_limit(table),
        *on_the_limit(table),
        *beats_weights(table),
        *scales_cost_little(table),
        *nothing_hidden(table),
    ]


def _better_without_bound(table: Table) -> Claim:
    ours, bounded = (settled_series(table, "error", curve) for curve in (OPTIMAL, BOUNDED))
    ratios = [ratio_of_means(bounded.at(x), ours.at(x)) for x in ours.x]
    better = sum(ratio.low > 1.0 for ratio in ratios)
    worse = [(x, ratio) for x, ratio in zip(ours.x, ratios, strict=True) if ratio.high < 1.0]
    worst = max(ratios, key=lambda ratio: ratio.value)
    return Claim(
        "The weights (opt_w_na), which leave the bound a out, can generally achieve a better "
        "performance than (opt_w).",
        (
            Check(
                f"their mean error is clearly lower at {better} of {len(ratios)} values of σ₂, by "
                f"a factor of {worst} at most",
                better > len(ratios) / 3,
            ),
            Check(
                "it is clearly higher at "
                + (
                    "none"
                    if not worse
                    else ", ".join(f"σ₂ = {x:.3g} (ratio {ratio})" for x, ratio in worse)
                ),
                not worse,
            ),
        ),
    )


def _never_worse(table: Table) -> Claim:
    """Check the reason for optimal weights to exist: they should be the best of the three."""
    ours = table.series("error", OPTIMAL)
    checks = []
    for x in ours.x:
        best = min((LAST, EQUAL), key=lambda w: np.median(table.series("error", w).at(x)))
        ratio = ratio_of_medians(ours.at(x), table.series("error", best).at(x))
        if ratio.low > CLOSE:
            checks.append(Check(f"at σ₂ = {x:.3g} the median is {ratio} times {best}", False))
    good = len(ours.x) - len(checks)
    return Claim(
        "Optimal weights are never clearly worse than the better of the two others (medians).",
        (Check(f"true at {good} of {len(ours.x)} values of σ₂", good > 0), *checks),
        source="ours",
    )


def _finds_what_is_settled(table: Table) -> Claim:
    error = settled_series(table, "error", LAST).values
    settled = error[np.isfinite(error)]
    missed = int(np.sum(settled > 100 * SETTLED))
    where = "; no start that was tried led to the matrix there" if missed else ""
    return Claim(
        "Where y^T alone settles the matrix, alternating minimisation finds it.",
        (
            Check(
                f"only y^T: the error is above {100 * SETTLED:g} in {missed} of {len(settled)} "
                f"settled trials{where}",
                missed == 0,
            ),
        ),
        source="ours",
    )


def _reaches_limit(table: Table) -> list[Claim]:
    """Check, where the limit was asked for, how near to it the optimal weights come."""
    if DYNAMIC_LIMIT not in table.names("curve", measure="error"):
        return []
    limit, ours = table.series("error", DYNAMIC_LIMIT), table.series("error", OPTIMAL)
    small = ratio_of_means(ours.at(ours.x[0]), limit.at(ours.x[0]))
    gaps = ours.median / limit.median
    worst = int(np.argmax(gaps))
    return [
        Claim(
            "The error with optimal weights is within 1.25 of the Cramér-Rao limit.",
            (
                Check(
                    f"at σ₂ = {ours.x[0]:.3g} the mean error is {small} times the limit",
                    small.low < 1.25,
                ),
                Check(
                    f"at σ₂ = {ours.x[worst]:.3g} the median error is {gaps[worst]:.3g} times the "
                    "limit",
                    bool(gaps[worst] < 1.25),
                ),
            ),
            source="ours",
        )
    ]


EXPERIMENT = Experiment(
    name="recovery-error",
    title="Relative error of the recovered matrix against the drift",
    figure="first synthetic experiment, (a)",
    settings={
        "items N": N_ITEMS,
        "factors r": N_FACTORS,
        "periods T": N_PERIODS,
        "noise σ₁": NOISE_SCALE,
        "sampling ratio p": SAMPLING_RATIO,
        "readings a period M": N_OUTCOMES,
        "drift σ₂": "10⁻⁴ to 10⁰·⁵, half-decades",
        "S¹ and Q": "standard normal",
        "sampling": "entries uniform with replacement, diagonal included",
        "weights": "only y^T; equal; optimal (opt_w_na)",
        "method": METHOD,
        SHARED: "weights for drift that all readings of a period share, with --with shared-drift",
        "joint": "all S^t and Q at once, σ₁, σ₂ and the scale 1 of S¹ and Q known",
        ESTIMATED: "the same, told the number of factors only",
    },
    points=axis(*DRIFT_SCALES),
    quick_points=axis(1e-4, 1e-2, 1.0),
    quick_trials=10,
    measure=measure,
    draw=draw,
    judge=judge,
    weigh=error_gains,
    notes=(
        STARTS,
        "The paper does not list its values of σ₂. Half-decades up to 10⁰·⁵ are used, because the "
        "optimal weights meet y^T alone only well beyond σ₂ = 0.1.",
        MEANS,
        "The limit of all periods knows the law of the drift and that factors are standard normal; "
        "the paper's estimator uses neither, the joint one both.",
        ESTIMATED_NOTE,
    ),
    extras=("newton", "limit", *FURTHER),
    seconds=0.4,
    size=(8.4, 4.6),
)
