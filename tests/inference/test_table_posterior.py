"""Beyond the budget: scales from a part of the items, states by Newton's method, then chains."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import intransit as it
from intransit.inference.observations import Encoding
from intransit.inference.paths import lay_out
from intransit.inference.sampling import Effort, sample
from intransit.inference.table_posterior import (
    FEWEST_SWEEPS,
    N_SWEEPS,
    draw_posterior,
    seconds_a_sweep,
    sub_population,
    sweeps_in_time,
    takes_chains,
)
from intransit.model import (
    By,
    Drift,
    Factors,
    Model,
    PairEffects,
    Readings,
    Scores,
    Side,
    Still,
    Wins,
)

SHORT = Effort(effective=30.0, seconds=1e-3, part_time=1e4)  # scales take what they need
LONG = Effort(effective=60.0, seconds=60.0)


def league(seed=0, n_items=16, n_games=2_500, *, cyclic=True, ties=False):
    """Return games of items that drift, with a side and, if wanted, cycles."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_items) + np.cumsum(0.1 * rng.normal(size=(20, n_items)), axis=0)
    angle = rng.uniform(0, 2 * np.pi, size=n_items)
    first = rng.integers(n_items, size=n_games)
    second = (first + rng.integers(1, n_items, size=n_games)) % n_items
    day, side = np.sort(rng.integers(20, size=n_games)), rng.choice([-1, 0, 1], size=n_games)
    x = scores[day, first] - scores[day, second] + 0.4 * side
    x += 1.2 * np.sin(angle[first] - angle[second]) * cyclic
    lead = x + rng.logistic(size=n_games)
    won = np.where(np.abs(lead) < 0.4, 0.5, lead > 0) if ties else (lead > 0).astype(float)
    return it.Games.from_arrays(first, second, won, day, sides=side)


def two_ways(games, model):
    """Return the posterior by Newton's method and by chains."""
    encoding = Encoding.of(games)
    seen = encoding.observations(games)
    rng = np.random.default_rng
    quick = draw_posterior(seen, model, encoding.law, SHORT, rng=rng(0))
    chains = draw_posterior(seen, model, encoding.law, LONG, rng=rng(1))
    assert (quick.way, chains.way) == ("newton", "gibbs")
    return quick, chains


@pytest.mark.parametrize(
    ("model", "ties"),
    [
        (Scores() + Side(), False),
        (Scores() + Factors(1) + Side(), False),
        (Scores() + PairEffects() + Side(), True),
    ],
    ids=["scores", "factor", "pairs and ties"],
)
def test_margins_are_near_those_of_the_chains(model, ties):
    """Means agree to a part of their deviations, and deviations are of like size."""
    games = league(cyclic=model.is_cyclic, ties=ties)
    quick, chains = two_ways(games, model)
    i, j = np.triu_indices(16, 1)
    for when in (float(chains.axis[0]), float(chains.axis[-1])):
        one, two = (p.margins(i, j, np.full(len(i), when)) for p in (quick, chains))
        spread = two.std(axis=0)
        assert np.abs(one.mean(axis=0) - two.mean(axis=0)).max() < 1.5 * spread.max()
        assert np.sqrt(np.mean((one.mean(axis=0) - two.mean(axis=0)) ** 2)) < 0.5 * spread.mean()
        assert 0.7 < one.std(axis=0).mean() / spread.mean() < 1.3
    worth = [p.side_worth(p.axis[-1:]).mean() for p in (quick, chains)]
    assert worth[0] == pytest.approx(worth[1], abs=0.1)
    if ties:
        cuts = [p.draws.cuts[:, 0].mean() for p in (quick, chains)]
        assert cuts[0] == pytest.approx(cuts[1], rel=0.15)


def test_the_story_says_which_way_was_taken_and_what_was_left_out():
    """Scales from so many items, and terms that are negligible there."""
    games = league(cyclic=False)
    encoding = Encoding.of(games)
    model = Scores() + Factors(1) + PairEffects() + Side()
    few = replace(SHORT, part_cells=2_000)
    found = draw_posterior(
        encoding.observations(games), model, Wins(), few, rng=np.random.default_rng(0)
    )
    assert "too large for chains" in found.story
    assert "states by Newton's method" in found.story
    assert "left out: 1 of 1 factors, pair effects" in found.story
    assert [type(term) for term in found.layout.model.terms] == [Scores, Side]


def test_chains_are_taken_where_they_end_in_time():
    """By a formula of cells, states and planes; readings have no other way."""
    games = league()
    encoding = Encoding.of(games)
    layout = lay_out(encoding.observations(games), Scores() + Factors(2) + Side())
    needed = N_SWEEPS * seconds_a_sweep(layout)
    assert takes_chains(layout, Wins(), Effort(seconds=1.01 * needed))
    assert not takes_chains(layout, Wins(), Effort(seconds=0.99 * needed))
    assert takes_chains(layout, Readings(), Effort(seconds=0.01 * needed))
    wider = lay_out(encoding.observations(games), Scores() + Factors(3) + Side())
    assert seconds_a_sweep(wider) > seconds_a_sweep(layout)


def half_way(layout):
    """Return an effort that is too short for chains from scratch, and not for going on."""
    seconds = 0.5 * N_SWEEPS * seconds_a_sweep(layout)
    return Effort(effective=30.0, seconds=seconds, part_time=1e4, whole_time=1e4 / seconds)


@pytest.mark.parametrize(
    ("model", "ties"),
    [
        (Scores() + Side(), False),
        (Scores() + Factors(1) + PairEffects() + Side(), False),
        (Scores() + PairEffects() + Side(), True),
    ],
    ids=["scores", "factor and pairs", "pairs and ties"],
)
def test_chains_that_go_on_from_newtons_solution_agree_with_chains_from_scratch(model, ties):
    """Everything is drawn again over the whole table, so only the time to mix differs."""
    games = league(cyclic=model.is_cyclic, ties=ties)
    encoding = Encoding.of(games)
    seen = encoding.observations(games)
    effort = half_way(lay_out(seen, model))
    rng = np.random.default_rng
    found = draw_posterior(seen, model, encoding.law, effort, rng=rng(0))
    chains = draw_posterior(seen, model, encoding.law, LONG, rng=rng(1))
    assert found.way == "gibbs"
    assert "chains began at Newton's solution" in found.story
    i, j = np.triu_indices(16, 1)
    for when in (float(chains.axis[0]), float(chains.axis[-1])):
        one, two = (p.margins(i, j, np.full(len(i), when)) for p in (found, chains))
        spread = two.std(axis=0)
        assert np.sqrt(np.mean((one.mean(axis=0) - two.mean(axis=0)) ** 2)) < 0.5 * spread.mean()
        assert 0.75 < one.std(axis=0).mean() / spread.mean() < 1.3
    one, two = (np.median(p.draws.scales, axis=0) for p in (found, chains))
    assert one == pytest.approx(two, rel=0.4)


def test_chains_go_on_where_they_get_through_enough_sweeps():
    """By the same formula, after Newton's method, with the terms that matter."""
    games = league()
    layout = lay_out(Encoding.of(games).observations(games), Scores() + Factors(2) + Side())
    effort = Effort(seconds=60.0, whole_time=0.5)
    assert sweeps_in_time(layout, effort) == pytest.approx(30.0 / seconds_a_sweep(layout))
    assert effort.going_on.effective == effort.whole_effective
    assert replace(effort, effective=20.0).going_on.effective == 20.0
    assert sweeps_in_time(layout, SHORT) < FEWEST_SWEEPS


def test_chains_that_go_on_make_their_sweeps_on_a_busy_machine_too():
    """A formula said that there is time; a few draws of a few sweeps would hold too little."""
    games = league()
    encoding = Encoding.of(games)
    layout = lay_out(encoding.observations(games), Scores() + Side())
    effort = replace(Effort(seconds=1e-9, whole_time=1.0, whole_sweeps=60).going_on, effective=1e9)
    _, mixing = sample(layout, encoding.law, effort, rng=np.random.default_rng(0))
    assert mixing.n_sweeps == 60
    assert not mixing.reached


def newcomers_on_surfaces(seed=0, n_items=40, n_games=3_000):
    """Return games of items of which half come in later, and are worth less; surfaces matter."""
    rng = np.random.default_rng(seed)
    entered = np.where(np.arange(n_items) < n_items // 2, 0.0, rng.uniform(20, 80, n_items))
    scores = rng.normal(size=n_items) - 1.5 * (entered > 0)
    own = 0.8 * rng.normal(size=(n_items, 2))
    day, surface = rng.uniform(0, 100, n_games), rng.integers(2, size=n_games)
    first, second = rng.integers(n_items, size=(2, n_games))
    there = (first != second) & (entered[first] <= day) & (entered[second] <= day)
    first, second, day, surface = (x[there] for x in (first, second, day, surface))
    x = scores[first] - scores[second] + own[first, surface] - own[second, surface]
    won = (rng.random(len(x)) < 1 / (1 + np.exp(-x))).astype(float)
    names = np.array(["clay", "grass"])[surface]
    return it.Games.from_arrays(first, second, won, day, by={"surface": names}), own


def test_chains_that_go_on_know_newcomers_and_covariates():
    """Neither of which Newton's method knows."""
    games, own = newcomers_on_surfaces()
    model = Scores() + PairEffects() + By("surface")
    encoding = Encoding.of(games)
    seen = encoding.observations(games)
    effort = half_way(lay_out(seen, model))
    found = draw_posterior(seen, model, Wins(), effort, rng=np.random.default_rng(0))
    assert "left out: pair effects" in found.story
    assert [type(term) for term in found.layout.model.terms] == [Scores, By]
    low, high = np.quantile(found.draws.newcomers, [0.005, 0.995])
    assert low < -1.5 < high < 0.0
    item = np.array([int(name) for name in games.names])
    n = len(item)
    i, j = np.triu_indices(n, 1)
    clay, grass = (
        found.margins(i, j, np.full(len(i), 100.0), under={"surface": np.full(len(i), code)})
        for code in (0, 1)
    )
    true = (own[:, 0] - own[:, 1])[item]
    likeness = np.corrcoef((clay - grass).mean(axis=0), true[i] - true[j])[0, 1]
    assert likeness > 0.6


def test_a_fit_beyond_its_budget_says_so():
    """The same through `fit`, by the seconds that it is given."""
    answer = it.fit(league(n_games=2_000), model=Scores() + Side(), seconds=1e-3)
    assert answer.posterior.way == "newton"
    assert "too large for chains within 0 s" in " ".join(answer.story)
    assert [s.strength for s in answer.rank()] == sorted(
        (s.strength for s in answer.rank()), reverse=True
    )


def test_small_effects_that_many_games_tell_are_kept_at_scale():
    """Effects of pairs of 0.15 in 300 games each are found; in one game each they are not."""
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(16, 1)
    effect = 0.15 * rng.normal(size=len(first))
    i, j, when = (np.repeat(one, 10) for one in (first, second, np.zeros(len(first))))
    when = when + np.tile(np.arange(10.0), len(first))
    won = rng.binomial(30, expit(np.repeat(effect, 10))) / 30.0
    model = Scores(walk=Still()) + PairEffects(walk=Still())
    for n, terms in ((30.0, [Scores, PairEffects]), (0.1, [Scores])):
        games = it.Games.from_arrays(i, j, won, when, counts=np.full(len(i), n))
        seen = Encoding.of(games).observations(games)
        effort = half_way(lay_out(seen, model))
        found = draw_posterior(seen, model, Wins(), effort, rng=np.random.default_rng(1))
        assert [type(term) for term in found.layout.model.terms] == terms


def test_a_sub_population_has_all_games_among_its_items():
    """Whole items, numbered anew, with as many cells as were asked for, or all there are."""
    games = league(n_items=40)
    seen = Encoding.of(games).observations(games)
    part = sub_population(seen, 800.0, np.random.default_rng(0))
    assert 800 <= len(part) < 1_600
    assert 24 <= part.n_items < 40
    assert part.pairs.max() == part.n_items - 1
    everybody = sub_population(seen, 1e9, np.random.default_rng(0))
    assert everybody.counts.sum() == seen.counts.sum()
    assert everybody.n_items == 40


def test_terms_that_newton_has_no_place_for_are_named():
    """Deviations by a covariate are left out at scale, and the notes say so."""
    rng = np.random.default_rng(0)
    games = league(n_games=1_000)
    named = it.Games.from_arrays(
        np.array(games.names)[games.first],
        np.array(games.names)[games.second],
        games.outcomes,
        games.times,
        counts=games.counts,
        by={"surface": rng.choice(["clay", "grass"], size=len(games))},
    )
    answer = it.fit(named, model=Model((Scores(walk=Drift()), By("surface"))), seconds=1e-3)
    assert answer.posterior.way == "newton"
    assert "deviations by surface" in answer.posterior.notes[-1]
    with pytest.raises(it.InputError, match="this answer has no covariate"):
        answer.probability("1", "2", under={"surface": "clay"})
