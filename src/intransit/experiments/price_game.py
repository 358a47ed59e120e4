"""The paper's price-guessing game: a matrix of no low rank, from ten thousand days of games."""

from collections.abc import Iterator

import numpy as np

import intransit as it
from intransit.arrays import FloatArray
from intransit.experiments import estimators as est
from intransit.experiments import experiment as ex
from intransit.experiments.experiment import Check, Options, Point, Table, TrialValue
from intransit.experiments.plots import JOINT_STYLE, Style, draw_curve, draw_newton, finish
from intransit.experiments.price_kernels import FLOOR, play, play_days
from intransit.plotting import BLUE, GREEN, Axes, Figure
from intransit.skew import fill_skew

N_PLAYERS, N_DAYS, N_GAMES = 10, 10_000, 100
PAIRS = np.stack(np.triu_indices(N_PLAYERS, 1), axis=1)
N_TRUTH_GAMES = N_GAMES * N_DAYS
SHAPE_RANGE = (0.5, 5.0)
STEP = 0.01  # the paper's N(0, 10⁻⁴): its second argument is a variance throughout
N_FACTORS = 1
DRIFT_SCALES = ex.half_decades(1e-5, 10.0)
QUICK_DAYS = 500
BLOCK = 5  # days that the joint estimate reads together
LIMIT = "limit, joint model"
ALONE = "each pair alone"  # the same windows without any low rank
FAIR, LITERAL = "no winner when both go over", "subtracted unless i wins"
claims = ex.Claims()


def measure(point: Point, rng: np.random.Generator, options: Options) -> Iterator[TrialValue]:  # noqa: ARG001
    """Play all days and the truth once; recover by both rules for every assumed drift."""
    n_days = QUICK_DAYS if options.quick else N_DAYS
    shapes = rng.uniform(*SHAPE_RANGE, size=(N_PLAYERS, 2))
    fair, literal, squares = (np.empty((n_days, len(PAIRS))) for _ in range(3))
    play_days(rng, shapes, STEP, PAIRS, N_GAMES, fair, literal, squares)
    truths = [np.empty(len(PAIRS)) for _ in range(3)]
    play(rng, shapes, PAIRS, N_GAMES * n_days, *truths)
    # The noise of a day's mean, from the spread of games within a day.
    noise_scale = float(np.sqrt(np.mean(squares - fair**2) / (N_GAMES - 1)))
    yield TrialValue(FAIR, "noise", noise_scale, x=0.0)
    for rule, daily, truth in ((FAIR, fair, truths[0]), (LITERAL, literal, truths[1])):
        yield from _readings(rule, daily, truth, noise_scale, options)
    if options.wants(est.JOINT):
        yield from _joint(fair, truths[0], options)


def _readings(
    rule: str,
    daily: FloatArray,  # (n_days, n_pairs)
    truth: FloatArray,  # (n_pairs,)
    noise_scale: float,
    options: Options,
) -> Iterator[TrialValue]:
    X = fill_skew(truth, N_PLAYERS)
    sizes = np.linalg.svd(X, compute_uv=False)
    beyond = float(np.sqrt(np.sum(sizes[2:] ** 2) / np.sum(sizes**2)))
    yield TrialValue(rule, "beyond rank 2", beyond, x=0.0)
    scores = X.mean(axis=1)
    rest = X - (scores[:, None] - scores[None, :])
    yield TrialValue(rule, "beyond scores", float(np.linalg.norm(rest) / np.linalg.norm(X)), x=0.0)
    for drift_scale in DRIFT_SCALES:
        weights = it.optimal_weights(len(daily), noise_scale=noise_scale, drift_scale=drift_scale)
        # Every pair has the same number of games every day, so the days collapse into one
        # weighted mean a pair: the program is the same up to a constant.
        seen = it.Measurements.from_pairs([PAIRS], [weights @ daily], n_items=N_PLAYERS)
        for curve, found in est.solve_each(
            seen, {rule: None}, options, n_factors=N_FACTORS
        ).items():
            yield from _scored(curve, found.margins, X, drift_scale)
        if rule == FAIR:
            yield from _scored(ALONE, fill_skew(weights @ daily, N_PLAYERS), X, drift_scale)


def _joint(daily: FloatArray, truth: FloatArray, options: Options) -> Iterator[TrialValue]:
    """Smooth all days: drifting scores and deviations of pairs, all scales estimated."""
    blocks = daily.reshape(-1, BLOCK, len(PAIRS)).mean(axis=1)
    days = BLOCK * np.arange(len(blocks)) + (BLOCK - 1) / 2
    first, second = np.tile(PAIRS, (len(blocks), 1)).T
    seen = it.Timeline.from_arrays(
        first,
        second,
        blocks.ravel(),
        np.repeat(days, len(PAIRS)),
        counts=np.full(blocks.size, float(BLOCK)),
        n_items=N_PLAYERS,
    )
    path = est.smooth(seen, n_factors=0, pair_scale="auto", pair_drift_scale="auto")
    last = len(daily) - 1.0
    yield from _scored(est.JOINT, path.matrix(last), fill_skew(truth, N_PLAYERS), 0.0)
    yield TrialValue(est.JOINT, "doubted", est.is_doubted(path), x=0.0)
    if options.wants("limit"):
        # A linear model with Gaussian paths: its posterior variance is its Cramér-Rao limit.
        spread = path.deviation(PAIRS[:, 0], PAIRS[:, 1], last)
        share = float(np.linalg.norm(spread) / np.linalg.norm(truth))
        yield TrialValue(LIMIT, "error", share, x=0.0)


def _scored(curve: str, estimate: FloatArray, X: FloatArray, x: float) -> Iterator[TrialValue]:
    """Yield the error of an estimate, not squared, and its share of right signs."""
    upper = np.triu_indices(len(X), 1)
    right = np.sign(estimate[upper]) == np.sign(X[upper])
    yield TrialValue(curve, "error", float(np.linalg.norm(estimate - X) / np.linalg.norm(X)), x=x)
    yield TrialValue(curve, "signs", 100.0 * float(right.mean()), x=x)


def draw(figure: Figure, table: Table) -> None:
    """Draw error and share of right signs for both rules."""
    left, right = figure.subplots(1, 2)
    styles = {FAIR: Style(GREEN, "o"), LITERAL: Style(BLUE, "s")}
    shown = (
        (left, "error", "(a) relative error of X", "‖X̂ − X‖ / ‖X‖   (not squared)"),
        (right, "signs", "(b) right signs", "share of pairs, %"),
    )
    for axes, what, title, y in shown:
        for rule, style in styles.items():
            draw_curve(axes, table.series(what, rule), style, rule)
        draw_newton(axes, table, what, styles)
        if table.has(est.JOINT, measure=what):
            _draw_joint(axes, table.series(what, est.JOINT))
        finish(axes, title=title, x="assumed drift σ₂", y=y, log=("x",), legend=None)
    if table.has(LIMIT):
        level = float(table.series("error", LIMIT).mean[0])
        left.axhline(level, color="#777777", lw=1.2, label=LIMIT)
    alone = table.series("error", ALONE)
    left.plot(alone.x, alone.mean, ":", color=GREEN, lw=1.2, label=f"{ALONE} (default rule)")
    left.set_ylim(bottom=0.0)
    right.set_ylim(top=100.5)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _draw_joint(axes: Axes, series: ex.Series) -> None:
    """Draw a level: the joint estimate assumes no σ₂."""
    label = "joint, nothing assumed (default rule)"
    axes.axhline(series.mean[0], ls="-.", color=JOINT_STYLE.colour, label=label)
    low, high = series.quantile(0.1)[0], series.quantile(0.9)[0]
    axes.axhspan(low, high, color=JOINT_STYLE.colour, alpha=0.12, linewidth=0)


def weigh(table: Table) -> list[ex.Gain]:
    """Return the error of the best window and of the joint estimate."""
    if not table.has(est.JOINT):
        return []
    joint = table.series("error", est.JOINT).values[0]
    limited = table.has(LIMIT)
    limit = f"{table.series('error', LIMIT).mean[0]:.3f}" if limited else "not asked for"
    found = {f"rank {2 * N_FACTORS}": _best(table, FAIR), ALONE: _best(table, ALONE)}
    return [
        ex.Gain(
            f"best window, {name}: {est.drift_is(x)}",
            f"{window.mean():.3f}",
            f"{joint.mean():.3f}",
            limit,
            f"error ÷ {ex.ratio_of_means(window, joint)}",
        )
        for name, (x, window) in found.items()
    ]


def _best(table: Table, curve: str) -> tuple[float, FloatArray]:
    """Return the assumed drift with the lowest mean error, and its errors."""
    error = table.series("error", curve)
    best = int(np.argmin(error.mean))
    return float(error.x[best]), error.values[best]


@claims.paper()
def is_not_rank_two(table: Table) -> Iterator[Check]:
    """X* is not rank 2 and thus does not obey the transitive model."""
    for rule in (FAIR, LITERAL):
        beyond = table.series("beyond rank 2", rule).values[0]
        scores = table.series("beyond scores", rule).values[0]
        yield Check(
            f"{rule}: the part beyond rank 2 is {ex.mean(beyond)} of ‖X*‖ and the part beyond "
            f"scores {ex.mean(scores)} (noise of 10⁶ games: about 0.003)",
            bool(beyond.min() > 0.01),
        )


@claims.paper()
def has_a_low_error(table: Table) -> Iterator[Check]:
    """One can achieve a low relative recovery error and a high percentage of successfully
    predicted signs when σ₂ is appropriately chosen.
    """
    for rule in (FAIR, LITERAL):
        error, signs = table.series("error", rule), table.series("signs", rule)
        best, most = int(np.argmin(error.mean)), int(np.argmax(signs.mean))
        floor = table.series("beyond rank 2", rule).mean[0]
        yield Check(
            f"{rule}: lowest mean error {ex.mean(error.values[best])} at "
            f"{est.drift_is(error.x[best])} (no matrix of rank 2 could do better than "
            f"{floor:.3g}); asked: below 0.25",
            bool(error.mean[best] < 0.25),
        )
        yield Check(
            f"{rule}: most right signs {ex.mean(signs.values[most])} % at "
            f"{est.drift_is(signs.x[most])}; asked: above 90 %",
            bool(signs.mean[most] > 90.0),
        )


def _is_worse_at(table: Table, end: int) -> Iterator[Check]:
    """Compare the first or the last assumed drift with the best one."""
    for rule in (FAIR, LITERAL):
        error, signs = table.series("error", rule), table.series("signs", rule)
        ratio = ex.ratio_of_means(error.values[end], _best(table, rule)[1])
        lost = float(signs.mean.max() - signs.mean[end])
        yield Check(
            f"{rule}: at {est.drift_is(error.x[end])} the error is {ratio} times the lowest, and "
            f"{lost:.1f} points of right signs are lost",
            ratio.low > 1.0,
        )


@claims.paper()
def not_too_small(table: Table) -> Iterator[Check]:
    """σ₂ should not be chosen too small, as this would cause the estimate to be corrupted by
    irrelevant, long past data.
    """
    return _is_worse_at(table, 0)


@claims.paper()
def not_too_large(table: Table) -> Iterator[Check]:
    """σ₂ should not be chosen too large, as this would cause the estimate to ignore relevant,
    somewhat recent data.
    """
    return _is_worse_at(table, -1)


@claims.ours()
def rules_differ(table: Table) -> Iterator[Check]:
    """It makes no difference how the rules are read: lowest errors are within a factor of 1.5."""
    fair, literal = (float(table.series("error", rule).mean.min()) for rule in (FAIR, LITERAL))
    yield Check(
        f"lowest mean errors: {fair:.3g} ({FAIR}) and {literal:.3g} ({LITERAL})",
        abs(np.log(fair / literal)) < np.log(1.5),
    )


@claims.ours(est.JOINT)
def half_the_error(table: Table) -> Iterator[Check]:
    """Joint estimation, nothing tuned by hand, has at most half of the error of the best window,
    and no fewer right signs.
    """
    joint = table.series("error", est.JOINT).values[0]
    for curve, name in ((FAIR, "windows of low rank"), (ALONE, "windows, each pair alone")):
        x, window = _best(table, curve)
        share = ex.ratio_of_means(joint, window)
        yield Check(
            f"mean error {ex.mean(joint)}, that is {share} of the best of all {name}, "
            f"{window.mean():.3g} at {est.drift_is(x)}; asked: 0.5",
            share.value <= 0.5,
        )
    signs = table.series("signs", FAIR)
    most = int(np.argmax(signs.mean))
    more = ex.mean_difference(table.series("signs", est.JOINT).values[0], signs.values[most])
    yield Check(f"right signs: {more} points more than the best window", more.value >= 0.0)
    n_doubted = int(table.series("doubted", est.JOINT).values.sum())
    yield Check(f"{n_doubted} of {len(joint)} joint fits are in doubt", n_doubted == 0)


EXPERIMENT = ex.Experiment(
    name="price-game",
    title="A game of guessing prices",
    figure="synthetic game, (a) and (b)",
    settings={
        "players N": N_PLAYERS,
        "games a pair a day": N_GAMES,
        "days T": f"{N_DAYS:,}",
        "games of the truth": f"{N_TRUTH_GAMES:,} a pair, on the last day",
        "guesses": "Beta(a, b), a and b uniform on 0.5 to 5 on the first day",
        "drift of a and b": "N(0, 10⁻⁴) a day: standard deviation 0.01",
        "factors r": N_FACTORS,
        "assumed drift σ₂": "10⁻⁵ to 10, half-decades",
        "weights": "optimal (opt_w_na), σ₁ the standard deviation of a day's mean",
        "joint": "scores and deviations of pairs, all drifting; all scales estimated; default rule",
        "quick run": f"{QUICK_DAYS} days",
    },
    points=ex.axis(0.0),
    measure=measure,
    draw=draw,
    judge=claims,
    weigh=weigh,
    notes=(
        "Rules: when both guesses go over, nobody wins by the game's rules and the game counts 0: "
        "this reading is the default, because then X does not depend on how players are numbered "
        "and its sign tells the better player, as the paper says it does. The paper's text, word "
        "for word, subtracts the price unless i wins, so that such a game counts for the player "
        "with the larger number; both are drawn from the same games.",
        f"A parameter that drifts below {FLOOR:g} is reflected there: Beta needs positive "
        "ones, and the paper does not say what becomes of the others.",
        "The weights depend on σ₂/σ₁ only, and the paper does not give σ₁ here. The standard "
        "deviation of a day's mean of 100 games is taken, estimated within days (about 0.055); "
        "another σ₁ moves the curves sideways.",
        "The paper shows one run; here there is one run for every ten trials asked for.",
        "Joint: smooth(n_factors=0, pair_scale='auto', pair_drift_scale='auto'), squared loss, as "
        "X is the mean score of a game and not a probability. Every pair plays every day and X* is "
        "not of low rank, so each pair has a path of its own beside the players' scores. Scales of "
        "noise, prior and drift are estimated from the same days; the means of "
        f"{BLOCK} days are read together to save time (in one run days on their own gave 0.0959 "
        "instead of 0.0958). "
        f"The “{LIMIT}” is for that model at those scales: with Gaussian paths its posterior "
        "variance is the Cramér-Rao limit; the game's own law, which is not told, may allow less. "
        f"“{ALONE}” is what the paper's windows do without a low rank, so that the gain of "
        "smoothing can be told from the gain of leaving the low rank.",
    ),
    n_trials=lambda asked: -(-asked // 10),
    quick_trials=20,
    extras=("newton", "limit", est.JOINT),
    chunk=1,
    seconds=20.0,
)
