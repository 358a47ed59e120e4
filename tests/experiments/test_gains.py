"""What joint estimation gains: verdicts that can fail, over the trials that curves share."""

import json

import numpy as np
import pytest

import intransit as it
from intransit.cli.reproduce import _options, describe_run, write_experiment
from intransit.experiments import estimators, price_game, recovery_error
from intransit.experiments import plots as page
from intransit.experiments import sample_ratio as sampling
from intransit.experiments.estimators import (
    DYNAMIC_LIMIT,
    ESTIMATED,
    JOINT,
    OPTIMAL,
    error_gains,
)
from intransit.experiments.experiment import (
    Gain,
    Options,
    Point,
    Row,
    Run,
    Table,
    generator,
    run_here,
)
from intransit.experiments.price_game import ALONE, FAIR
from intransit.experiments.recovery_error import (
    beats_weights,
    nothing_hidden,
    on_the_limit,
    scales_cost_little,
)
from intransit.experiments.sample_ratio import half_the_samples
from intransit.experiments.sample_ratio import weigh as weigh_samples
from tests.experiments.toy import toy

PLACES = (1e-4, 1e-2, 0.1, 1.0)
N_TRIALS = 40


def table_of(levels, measure="error", places=PLACES, n_trials=None, doubted=()):
    """Return curves = level × noise, the noise shared; `n_trials` of a curve may be fewer."""
    noise = np.exp(0.3 * np.random.default_rng(0).normal(size=(len(places), N_TRIALS)))
    rows = []
    for curve, level in levels.items():
        for k, x in enumerate(places):
            for trial in range((n_trials or {}).get(curve, N_TRIALS)):
                value = np.broadcast_to(level, len(places))[k] * noise[k, trial]
                rows.append(Row("", x, curve, measure, trial, float(value)))
                flag = float((curve, x, trial) in doubted)
                rows.append(Row("", x, curve, "doubted", trial, flag))
    return Table(rows)


def passed(claims):
    return [check.passed for claim in claims for check in claim.checks]


def test_curves_with_fewer_trials_are_compared_over_those():
    table = table_of({JOINT: 1.0, ESTIMATED: 1.1}, n_trials={ESTIMATED: 7})
    ours, known = table.paired("error", ESTIMATED, JOINT)
    assert ours.values.shape == known.values.shape == (len(PLACES), 7)
    np.testing.assert_allclose(ours.values / known.values, 1.1)


@pytest.mark.parametrize(
    ("joint", "verdict"),
    [
        ([1.1, 1.1, 1.1, 9.0], [True, True, True]),  # beyond σ₂ = 0.1 nothing is asked
        ([1.1, 1.25, 1.1, 1.0], [False, True, True]),
        ([1.1, 1.4, 1.1, 1.0], [False, False, True]),
        ([1.1, 1.1, 1.7, 1.0], [False, True, False]),
    ],
)
def test_on_the_limit_means_within_the_factors_asked_for(joint, verdict):
    assert passed(on_the_limit(table_of({JOINT: joint, DYNAMIC_LIMIT: 1.0}))) == verdict


def test_an_estimate_without_a_number_is_not_on_the_limit():
    rows = [
        Row(r.facet, r.x, r.curve, r.measure, r.trial, np.nan if r.curve == JOINT else r.value)
        for r in table_of({JOINT: 1.0, DYNAMIC_LIMIT: 1.0}).rows
    ]
    assert not any(passed(on_the_limit(Table(rows))))


def test_a_failure_counts_unless_it_is_doubted():
    levels = {JOINT: [1.0, 1.0, 1.0, 50.0], DYNAMIC_LIMIT: 1.0}
    (hidden,) = nothing_hidden(table_of(levels))
    assert hidden.verdict == "does not hold"
    assert f"{N_TRIALS} of {4 * N_TRIALS} are that far off" in hidden.checks[0].measured
    assert "σ₂ = 1 trial 0" in hidden.checks[0].measured
    said = {(JOINT, 1.0, trial) for trial in range(N_TRIALS)}
    (seen,) = nothing_hidden(table_of(levels, doubted=said))
    assert seen.verdict == "holds"


@pytest.mark.parametrize(
    ("joint", "verdict"),
    [
        ([1.0, 0.4, 0.4, 1.0], [True, True]),
        ([1.0, 0.7, 0.7, 1.0], [False, True]),
        ([1.0, 0.4, 0.4, 1.2], [True, False]),
    ],
)
def test_weights_are_beaten_by_a_factor_and_nowhere_better(joint, verdict):
    assert passed(beats_weights(table_of({OPTIMAL: 1.0, JOINT: joint}))) == verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, "holds"), (1.3, "does not hold")])
def test_scales_may_cost_a_fifth(factor, verdict):
    table = table_of({JOINT: 1.0, ESTIMATED: factor}, n_trials={ESTIMATED: 9})
    (claim,) = scales_cost_little(table)
    assert claim.verdict == verdict
    assert "over 9 trials" in claim.checks[0].measured


def test_without_the_curves_nothing_is_claimed():
    table = table_of({OPTIMAL: 1.0})
    for claims in (on_the_limit, nothing_hidden, beats_weights, scales_cost_little):
        assert claims(table) == []
    assert error_gains(table) == []
    assert half_the_samples(table_of({OPTIMAL: 0.4}, "ratio")) == []


def test_gains_are_ratios_of_medians_beside_the_limit():
    rows = error_gains(table_of({OPTIMAL: 4.0, JOINT: 2.0, DYNAMIC_LIMIT: 1.0}))
    assert [row.where for row in rows] == [f"σ₂ = {x:.3g}" for x in PLACES]
    assert all(row.gain == "error ÷ 2 (2 to 2)" for row in rows)
    open_limit = [
        Row(r.facet, r.x, r.curve, r.measure, r.trial, np.nan if r.curve[0] == "l" else r.value)
        for r in table_of({OPTIMAL: 4.0, JOINT: 2.0, DYNAMIC_LIMIT: 1.0}).rows
    ]
    assert error_gains(Table(open_limit))[0].limit == "open"


@pytest.mark.parametrize(
    ("joint", "verdict"),
    [
        ([0.08, 0.15], [True, True, True, True]),
        ([0.08, 0.19], [True, False, True, True]),
        ([0.08, 0.25], [False, False, True, True]),
        ([0.12, 0.15], [True, True, False, True]),
    ],
)
def testhalf_the_samples(joint, verdict):
    places = (1e-4, 0.0316228)
    rows = []
    for curve, ratios in ((OPTIMAL, [0.08, 0.36]), (JOINT, joint)):
        for x, ratio in zip(places, ratios, strict=True):
            for trial in range(N_TRIALS):
                rows.append(Row("", x, curve, "ratio", trial, ratio))
                rows.append(Row("", x, curve, "never", trial, 0.0))
    table = Table(rows)
    assert passed(half_the_samples(table)) == verdict
    assert weigh_samples(table)[1].gain.startswith(f"samples ÷ {0.36 / joint[1]:.3g} (")


def test_a_trial_that_never_succeeds_is_told():
    rows = [Row("", 1.0, c, "ratio", t, 0.1) for c in (OPTIMAL, JOINT) for t in range(9)]
    rows += [Row("", 1.0, JOINT, "never", t, float(t == 3)) for t in range(9)]
    (claim,) = half_the_samples(Table(rows))
    assert [check.passed for check in claim.checks] == [True, False]
    assert "in 1 of 9 trials" in claim.checks[-1].measured


@pytest.mark.parametrize(("joint", "verdict"), [(0.09, "holds"), (0.15, "holds in part")])
def test_half_of_the_error_of_the_best_window(joint, verdict):
    rows = []
    for trial in range(9):
        for curve, levels in ((FAIR, (0.5, 0.2, 0.4)), (ALONE, (0.6, 0.22, 0.5))):
            for x, level in zip((0.01, 0.1, 1.0), levels, strict=True):
                rows += [Row("", x, curve, "error", trial, level)]
                rows += [Row("", x, curve, "signs", trial, 90.0)]
        rows += [Row("", 0.0, JOINT, "error", trial, joint)]
        rows += [Row("", 0.0, JOINT, "signs", trial, 95.0)]
        rows += [Row("", 0.0, JOINT, "doubted", trial, 0.0)]
    (claim,) = price_game.half_the_error(Table(rows))
    assert claim.verdict == verdict
    assert "0.2 at σ₂ = 0.1" in claim.checks[0].measured
    assert price_game.weigh(Table(rows))[0].gain.startswith(f"error ÷ {0.2 / joint:.3g} (")


@pytest.mark.parametrize("guess", [0.025, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("wanted", [0, 1, 6, 19, 38, 39, 40])
def test_a_search_from_a_guess_finds_what_bisection_finds(wanted, guess):
    tried = []

    def succeeds(ratio):
        tried.append(ratio)
        return bool(ratio >= (sampling.RATIOS[wanted] if wanted < 40 else np.inf) - 1e-12)

    found = sampling.smallest_ratio_near(succeeds, guess)
    assert found == sampling.smallest_ratio(succeeds)
    assert wanted >= 40 or found == pytest.approx(sampling.RATIOS[wanted])


def test_a_good_guess_saves_tries():
    tried = []
    sampling.smallest_ratio_near(lambda ratio: tried.append(ratio) or ratio >= 0.2 - 1e-12, 0.2)
    assert len(tried) == 2


def test_joint_estimation_is_nearer_than_weights():
    """A trial of recovery-error at a drift at which weights have little left to gain."""
    point, wanted = Point(0.0316228), Options(extras=frozenset({"joint", "limit"}))
    found = {
        (r.curve, r.measure): r.value
        for r in recovery_error.measure(point, generator(0, "x", point, 0), wanted)
    }
    assert found[JOINT, "error"] < 0.5 * found[OPTIMAL, "error"]
    assert found[JOINT, "error"] < 3.0 * found[DYNAMIC_LIMIT, "error"]
    assert found[ESTIMATED, "error"] < 1.5 * found[JOINT, "error"]
    assert not found[JOINT, "doubted"]


def test_estimated_scales_are_left_to_the_first_trials():
    point = Point(1.0)
    late = Options(extras=frozenset({"joint"}), trial=estimators.N_ESTIMATED)
    curves = {r.curve for r in recovery_error.measure(point, generator(0, "x", point, 0), late)}
    assert JOINT in curves
    assert ESTIMATED not in curves


def test_trials_are_numbered_for_the_measure():
    seen = []

    def measure(point, rng, options):
        seen.append(options.trial)
        return []

    run_here(toy(measure, points=toy().points[:1]), Run(5))
    assert seen == [0, 1, 2, 3, 4]


def test_an_estimate_that_stopped_short_is_doubted():
    sim = it.simulate(
        n_items=12, n_factors=1, n_periods=3, n_outcomes=60, noise_scale=0.1, drift_scale=0.1, rng=0
    )
    scales = {"noise_scale": 0.1, "drift_scale": 0.1, "prior_scale": 1.0}
    settings = {"n_factors": 1, **scales}
    assert not estimators.is_doubted(estimators.smooth(sim.measurements, **settings))
    short = estimators.smooth(sim.measurements, **settings, max_steps=1)
    assert estimators.is_doubted(short) == (not short.converged or bool(short.doubts))
    assert not short.converged


def test_joint_and_limit_are_usual_and_can_be_left_out():
    assert _options(False, None, None).extras == {"joint", "limit"}
    assert _options(False, ["newton"], ["joint, limit"]).extras == {"newton"}


def test_the_page_and_the_summary_show_the_gains(tmp_path):
    gain = Gain("σ₂ = <1>", "0.4", "0.2", "0.19", "samples ÷ 2")
    one, run = toy(weigh=lambda _: [gain]), Run(2)
    facts = describe_run(run, 1, [one])
    shown = [write_experiment(one, run_here(one, run), run, facts, tmp_path)]
    html, markdown = page.to_html(facts, shown), page.to_markdown(facts, shown)
    assert page.GAINS in html
    assert "<td>σ₂ = &lt;1&gt;</td>" in html
    assert f"### {page.GAINS}" in markdown
    assert "| 0.4 | 0.2 | 0.19 | samples ÷ 2 |" in markdown
    assert json.loads((tmp_path / "toy.json").read_text())["gains"][0]["joint"] == "0.2"
    plain = [write_experiment(toy(), run_here(toy(), run), run, facts, tmp_path)]
    assert page.GAINS not in page.to_html(facts, plain)
