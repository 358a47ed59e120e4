"""The paper's second synthetic experiment: the sampling ratio that recovery needs.

A trial draws readings for p = 1 once; a smaller p reads a prefix of them.  The ratio needed is
the smallest p, in steps of 0.025, at which the relative error is at most 10⁻⁴, found by
bisection: more of the same readings are taken to do no harm.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

import intransit as it
from intransit.arrays import FloatArray
from intransit.experiments import estimators as est
from intransit.experiments import experiment as ex
from intransit.experiments import recovery_error
from intransit.experiments.experiment import Check, Options, Point, Table, TrialValue
from intransit.experiments.plots import WITH_JOINT, draw_curve, draw_extras, finish, pretty, there
from intransit.experiments.recovery_error import (
    DRIFT_SCALES,
    N_FACTORS,
    N_ITEMS,
    N_PERIODS,
    NOISE_SCALE,
)
from intransit.plotting import Figure

STEP = 0.025
RATIOS = STEP * np.arange(1, 41)


def smallest_ratio(succeeds: Callable[[float], bool]) -> float | None:
    """Return the smallest ratio of the grid that succeeds, by bisection; None when p = 1 fails."""
    last = len(RATIOS) - 1
    return _bisected(succeeds, -1, last) if succeeds(RATIOS[last]) else None


def smallest_ratio_near(succeeds: Callable[[float], bool], guess: float) -> float | None:
    """Return the same, looking from a guess outwards: few tries when the guess is good."""
    last = len(RATIOS) - 1
    high = low = int(np.argmin(np.abs(RATIOS - guess)))
    stride = 1
    if succeeds(RATIOS[high]):
        while low > 0:
            low = max(low - stride, 0)
            if not succeeds(RATIOS[low]):
                break
            high, stride = low, 2 * stride
        else:
            return float(RATIOS[0])
    else:
        while not succeeds(RATIOS[high := min(high + stride, last)]):
            if high == last:
                return None
            low, stride = high, 2 * stride
    return _bisected(succeeds, low, high)


def _bisected(succeeds: Callable[[float], bool], low: int, high: int) -> float:
    """Return the smallest ratio that succeeds, between one that fails and one that does not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if succeeds(RATIOS[middle]) else (middle, high)
    return float(RATIOS[high])


def prefix(measurements: it.Measurements, n_outcomes: int) -> it.Measurements:
    """Return the first readings of every period."""
    return it.Measurements.from_operators(
        [
            it.Entries(readings.operator.pairs[:n_outcomes], measurements.n_items)  # type: ignore[attr-defined]
            for readings in measurements.periods
        ],
        [readings.outcomes[:n_outcomes] for readings in measurements.periods],
    )


def could_settle(measurements: it.Measurements, weights: FloatArray) -> bool:
    """Return whether the readings that count could settle a matrix, whatever their noise.

    They must be of as many distinct pairs as the matrix has degrees of freedom, and give each
    item 2r partners, one for each of its unknowns.
    """
    pairs = np.concatenate(
        [
            readings.operator.pairs  # type: ignore[attr-defined]
            for readings, w in zip(measurements.periods, weights, strict=True)
            if w > 0
        ]
    )
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    partners = np.bincount(pairs.ravel(), minlength=N_ITEMS)
    enough = it.theory.degrees_of_freedom(N_ITEMS, N_FACTORS)
    return bool(len(pairs) >= enough and partners.min() >= 2 * N_FACTORS)


def counting_limit(n_periods: int) -> float:
    """Return the ratio at which as many distinct pairs are expected as X has degrees of freedom.

    M draws with replacement from N² entries see N(N-1)/2 (1 - (1 - 2/N²)^M) distinct pairs.

    >>> round(counting_limit(1), 3), round(counting_limit(5), 3)
    (0.229, 0.046)
    """
    share = it.theory.degrees_of_freedom(N_ITEMS, N_FACTORS) / (N_ITEMS * (N_ITEMS - 1) / 2)
    draws = np.log1p(-share) / np.log1p(-2.0 / N_ITEMS**2)
    return float(draws / n_periods / N_ITEMS**2)


def n_outcomes_at(ratio: float) -> int:
    """Return M = p N²."""
    return round(float(ratio) * N_ITEMS**2)


def at_ratio(simulation: it.Simulation, ratio: float) -> it.Simulation:
    """Return the simulation with the readings of a smaller p."""
    seen = prefix(simulation.measurements, n_outcomes_at(ratio))
    return replace(simulation, measurements=seen)


SUCCESS = 1e-4
HALFWAY = 10**-1.5  # the drift at which weights have nothing left to gain, and joint has
ENOUGH = 0.20  # what joint estimation may need there
N_JOINT = 50  # trials, from the first on, in which further estimators are asked: they take longer
HALF_STEP = STEP / 2  # "converges": a mean difference of at most this
claims = ex.Claims()


def measure(
    point: Point, rng: np.random.Generator, options: Options, further: est.Further = est.FURTHER
) -> Iterator[TrialValue]:
    """Find the ratio needed with every choice of weights."""
    simulation = recovery_error.simulate(point.x, n_outcomes_at(RATIOS[-1]), rng)
    weights = est.three_weights(N_PERIODS, noise_scale=NOISE_SCALE, drift_scale=point.x)
    found = {}
    for curve, w in weights.items():
        for reading in _needed(simulation, curve, w, options):
            found[reading.curve, reading.measure] = reading.value
            yield reading
    wanted = [name for name in further if options.wants(name) and options.trial < N_JOINT]
    if not wanted and not options.wants("limit"):
        return
    limits = {
        est.DYNAMIC_LIMIT: _first_below(est.limit_of_all, simulation, found[est.OPTIMAL, "ratio"]),
        est.STATIC_LIMIT: _first_below(est.limit_of_last, simulation, found[est.LAST, "ratio"]),
    }
    if options.wants("limit"):
        yield from (TrialValue(curve, "ratio", p or np.nan) for curve, p in limits.items())
    for name in wanted:  # what all periods allow is a good guess of what is needed
        error = partial(_error_by, further[name])
        needed = _first_below(error, simulation, limits[est.DYNAMIC_LIMIT] or 1.0)
        yield from _ratio_values(name, needed)


def _needed(
    simulation: it.Simulation, curve: str, weights: FloatArray, options: Options
) -> Iterator[TrialValue]:
    """Yield the ratio that the program's minimum needs, then the one the paper's method needs.

    Both methods minimise the same program, so alternating minimisation is tried only from the
    ratio on at which Newton, which is quick to fail, succeeds.
    """

    def succeeds(ratio: float, method: str) -> bool:
        seen = at_ratio(simulation, ratio).measurements
        if not could_settle(seen, weights):
            return False
        answers.append(est.solve(seen, method=method, n_factors=N_FACTORS, weights=weights))
        return est.relative_error(answers[-1].margins, simulation.margins[-1]) <= SUCCESS

    answers: list[it.Recovery] = []
    by_newton = smallest_ratio(lambda ratio: succeeds(ratio, "newton"))
    start = len(RATIOS) if by_newton is None else int(np.searchsorted(RATIOS, by_newton))
    needed = next((ratio for ratio in RATIOS[start:] if succeeds(ratio, "alternating")), None)
    yield from _ratio_values(curve, needed)
    if needed is not None:
        yield TrialValue(curve, "restarted", est.first_start_failed(answers[-1]))
    if options.wants("newton"):
        yield TrialValue(curve + est.NEWTON, "ratio", 1.0 if by_newton is None else by_newton)


def _ratio_values(curve: str, needed: float | None) -> Iterator[TrialValue]:
    # A trial that never succeeds counts as 1, the end of the grid: means are then too low.
    yield TrialValue(curve, "ratio", 1.0 if needed is None else float(needed))
    yield TrialValue(curve, "never", needed is None)


def _error_by(estimate: Callable[[it.Simulation], est.Guess], simulation: it.Simulation) -> float:
    return est.relative_error(estimate(simulation).margins, simulation.margins[-1])


def _first_below(
    error: Callable[[it.Simulation], float], simulation: it.Simulation, guess: float
) -> float | None:
    """Return the ratio from which on an error, or a limit of errors, is that of a success."""
    return smallest_ratio_near(lambda p: error(at_ratio(simulation, p)) <= SUCCESS, guess)


def draw(figure: Figure, table: Table) -> None:
    """Draw the ratio needed; trials that never succeed count as 1."""
    axes = figure.subplots()
    for curve, series in there(table, "ratio", WITH_JOINT):
        draw_curve(axes, series, WITH_JOINT[curve], curve)
    draw_extras(axes, table, "ratio")
    if table.has(est.DYNAMIC_LIMIT, measure="ratio"):
        for n_periods, read, line in ((1, "y^T", "-."), (N_PERIODS, "all periods", ":")):
            label = pretty(f"as many pairs as unknowns, {read}")
            axes.axhline(counting_limit(n_periods), ls=line, lw=1.1, color="#999999", label=label)
    axes.set_ylim(0.0, 1.04)
    finish(
        axes,
        title="Sampling ratio needed for a relative error of 10⁻⁴",
        x="drift σ₂",
        y="p = M / N²   (1: never, or at p = 1)",
        log=("x",),
        legend=None,
    )
    figure.legend(loc="outside right center")


def weigh(table: Table) -> list[ex.Gain]:
    """Return mean ratios needed by optimal weights and by joint estimation, and samples saved."""
    if not table.has(est.JOINT, measure="ratio"):
        return []
    theirs, ours = table.paired("ratio", est.OPTIMAL, est.JOINT)
    limited = table.has(est.DYNAMIC_LIMIT, measure="ratio")
    limits = table.series("ratio", est.DYNAMIC_LIMIT).mean if limited else None
    return [
        ex.Gain(
            est.drift_is(x),
            f"{theirs.mean[k]:.3f}",
            f"{ours.mean[k]:.3f}",
            "not asked for" if limits is None else f"{limits[k]:.3f}",
            f"samples ÷ {ex.ratio_of_means(theirs.values[k], ours.values[k])}",
        )
        for k, x in enumerate(ours.x)
    ]


def meets_both_ends(table: Table) -> list[ex.Claim]:
    """Check what the paper says of the ends of its figure (b)."""
    return [_meets(table, est.EQUAL, to_large=False), _meets(table, est.LAST, to_large=True)]


def _meets(table: Table, other: str, *, to_large: bool) -> ex.Claim:
    ours, theirs = table.series("ratio", est.OPTIMAL), table.series("ratio", other)
    end, far = est.ends_of(ours, to_large=to_large)
    gap, far_gap = (ex.mean_difference(ours.at(x), theirs.at(x)) for x in (end, far))
    return ex.Claim(
        f"The sampling ratio needed for successful recovery using optimal weights converges to the "
        f"one using {other} when σ₂ is {'large' if to_large else 'small'}.",
        (
            Check(
                f"at {est.drift_is(end)}: {ours.at(end).mean():.3f} and "
                f"{theirs.at(end).mean():.3f}, difference {gap}; asked: within ±{HALF_STEP:g}",
                gap.within(-HALF_STEP, HALF_STEP),
            ),
            Check(
                f"at the other end, {est.drift_is(far)}, the difference is {far_gap}",
                abs(far_gap.value) > abs(gap.value),
            ),
        ),
    )


claims.append(meets_both_ends)


@claims.paper()
def needs_fewer(table: Table) -> Iterator[Check]:
    """Dynamic completion can reduce the sampling ratio needed when compared with the static one,
    w = (0, ..., 0, 1), especially when σ₂ is small.
    """
    ours, static = table.series("ratio", est.OPTIMAL), table.series("ratio", est.LAST)
    gains = est.ratios_of(static, ours, ex.mean_difference)
    first, largest = gains[float(ours.x[0])], max(gains.values(), key=lambda gain: gain.value)
    better = [f"{x:.3g}" for x, gain in gains.items() if gain.low > 0.0]
    worse = [f"{x:.3g} (by {-g.value:.3f})" for x, g in gains.items() if g.high < 0.0]
    yield Check(
        f"at {est.drift_is(ours.x[0])} it is {first} lower, the largest gain being {largest}",
        first.low > 0.0 and largest.value <= first.value + STEP,
    )
    yield Check(f"it is clearly lower at σ₂ = {', '.join(better) or 'no value'}", bool(better))
    if worse:
        yield Check(f"it is clearly higher at σ₂ = {', '.join(worse)}", False)


@claims.ours()
def known_values(table: Table) -> Iterator[Check]:
    """On a grid of 0.05, y^T alone needs 0.35 to 0.36 (while σ₂ is at most 0.1) and optimal
    weights at small σ₂ about 0.10.
    """
    static, ours = table.series("ratio", est.LAST), table.series("ratio", est.OPTIMAL)
    # Beyond σ₂ = 0.1 the drift makes X^T larger, and the same noise relatively smaller.
    small, best = static.values[static.x < 0.2], ours.at(ours.x[0])
    level, gain = ex.mean(small.mean(axis=0)), ex.mean(best)
    coarse, coarse_gain = ex.mean(_coarse(small).mean(axis=0)), ex.mean(_coarse(best))
    yield Check(
        f"y^T alone: {coarse}, and {level} on our grid of {STEP:g}",
        coarse.low <= 0.36 and coarse.high >= 0.35,
    )
    yield Check(
        f"optimal weights at {est.drift_is(ours.x[0])}: {coarse_gain}, and {gain} on our grid",
        abs(coarse_gain.value - 0.10) <= 0.01,
    )


def _coarse(ratios: FloatArray) -> FloatArray:
    """Return the ratios that a grid of 0.05 would have found."""
    return np.asarray(np.ceil(ratios / 0.05 - 1e-9) * 0.05)


claims.append(est.same_answers("ratio"))


@claims.ours(est.DYNAMIC_LIMIT, measure="ratio")
def against_limits(table: Table) -> Iterator[Check]:
    """The ratios needed are within two steps of the grid of what the Cramér-Rao limit allows."""
    for curve, limit in (
        (est.LAST, est.STATIC_LIMIT),
        (est.OPTIMAL, est.DYNAMIC_LIMIT),
        (est.JOINT, est.DYNAMIC_LIMIT),
    ):
        if table.has(curve, measure="ratio"):
            gaps = est.ratios_of(*table.paired("ratio", curve, limit), ex.mean_difference)
            worst = max(gaps.values(), key=lambda gap: gap.value)
            measured = f"{curve}: at most {worst} more than the limit allows"
            yield Check(measured, worst.value <= 2 * STEP)


@claims.ours(est.JOINT, measure="ratio")
def half_the_samples(table: Table) -> Iterator[Check]:
    """Joint estimation needs a ratio of at most 0.20 at σ₂ = 10⁻¹·⁵, at most half of what optimal
    weights need there, and more than they do nowhere.
    """
    theirs, ours = table.paired("ratio", est.OPTIMAL, est.JOINT)
    if np.abs(ours.x - HALFWAY).min() < 1e-3 * HALFWAY:
        needed = ex.mean(ours.at(HALFWAY))
        share = ex.ratio_of_means(ours.at(HALFWAY), theirs.at(HALFWAY))
        yield Check(
            f"at {est.drift_is(HALFWAY)} it needs {needed}; asked: at most {ENOUGH:g}",
            needed.value <= ENOUGH,
        )
        measured = f"that is {share} of what optimal weights need; asked: 0.5"
        yield Check(measured, share.value <= 0.5)
    differences = est.ratios_of(ours, theirs, ex.mean_difference)
    worse = [f"{est.drift_is(x)} (by {d})" for x, d in differences.items() if d.low > 0.0]
    never = table.series("never", est.JOINT).values
    yield Check(f"it needs clearly more at {', '.join(worse) or 'none'}", not worse)
    measured = f"it never succeeds in {int(never.sum()) or 'any'} of {never.size} trials"
    yield Check(measured, not never.any())


EXPERIMENT = ex.Experiment(
    name="sample-ratio",
    title="Sampling ratio needed for success against the drift",
    figure="first synthetic experiment, (b)",
    settings={
        **recovery_error.SETTINGS,
        "success": "relative error ≤ 10⁻⁴",
        "sampling ratios p": "0.025 to 1 in steps of 0.025",
        "drift σ₂": "10⁻⁴ to 10⁰·⁵, half-decades",
        "weights": "only y^T; equal; optimal (opt_w_na)",
        "method": est.METHOD_QUICKLY,
        "joint": "all S^t and Q at once, σ₁, σ₂ and the scale 1 of S¹ and Q known",
    },
    points=ex.axis(*DRIFT_SCALES),
    quick_points=ex.axis(1e-4, DRIFT_SCALES[5], 1.0),
    measure=measure,
    draw=draw,
    judge=claims,
    weigh=weigh,
    notes=(
        "A smaller p reads a prefix of the readings of a larger one. The ratio needed is found by "
        "bisection, as if more of the same readings did no harm.",
        "Ratios at which fewer distinct pairs were seen than the matrix has degrees of freedom, or "
        "at which some item met fewer than 2r others, count as failures without a solve: no "
        "method could tell.",
        "A trial that fails even at p = 1 counts as 1 in the mean, which is then too low; the "
        "measure “never” in the table tells how many did.",
        "Newton's method, which minimises the same program, finds the place of the bisection; "
        "alternating minimisation is then run from there upwards until it succeeds.",
        "The search for the joint estimate's ratio begins where the limit allows a success, and "
        "every ratio that it meets is tried: nothing is refused beforehand. It is run in the "
        f"first {N_JOINT} trials only, and compared with others over those.",
    ),
    extras=("newton", "limit", *est.FURTHER),
    seconds=0.5,
    sources=(recovery_error.__file__,),
    size=(8.4, 4.6),
)
