"""Who meets whom may tell of scores: tiers of a ladder, leagues that hardly meet."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import intransit as it
from intransit.data.cells import Rows
from intransit.inference.gibbs import Chain
from intransit.inference.observations import MOST_TIERS, Observations, tiers_of
from intransit.inference.paths import lay_out
from intransit.inference.sampling import Effort
from intransit.inference.table_posterior import (
    FROM_GAMES,
    draw_posterior,
    fit_to_schedule,
    follows_from_games,
    games_before,
)
from intransit.report.wording import tell_far
from tests.inference.worlds import tiers_by_definition


def seen_of(pairs, n_items, counts=None):
    n = len(pairs)
    counts = np.ones(n) if counts is None else counts
    return Observations.of(
        Rows(np.zeros(n), pairs, np.ones(n), counts, np.zeros(n)), "logistic", n_items
    )


def ladder(rng, n_items, n_games, reach):
    first = rng.integers(n_items - reach, size=n_games)
    return np.stack([first, first + rng.integers(1, reach + 1, size=n_games)], axis=1)


def at_random(rng, n_items, n_games):
    first = rng.integers(n_items, size=n_games)
    return np.stack([first, (first + rng.integers(1, n_items, size=n_games)) % n_items], axis=1)


def table_of(pairs, scores, rng):
    """Games of a ladder, items numbered in another order than they stand in."""
    won = rng.random(len(pairs)) < expit(scores[pairs[:, 0]] - scores[pairs[:, 1]])
    names = np.array([f"p{k:02d}" for k in rng.permutation(len(scores))])
    first, second = names[pairs.T]
    frame = pd.DataFrame({"first": first, "second": second, "outcome": won.astype(int)})
    return it.read(frame), names


def same_directions(one, other):
    """Whether columns agree but for their signs."""
    sign = np.sign(np.sum(one * other, axis=0))
    np.testing.assert_allclose(one * sign, other, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_directions_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    pairs = ladder(rng, 20, 800, 1 + seed)
    found = tiers_of(seen_of(pairs, 22))  # two items never played
    assert found.shape[1] >= 1
    same_directions(found, tiers_by_definition(pairs, 22))


def test_many_items_have_the_same_directions_as_few():
    """Where they are not found all at once."""
    rng = np.random.default_rng(5)
    pairs = ladder(rng, 300, 9_000, 6)
    found = tiers_of(seen_of(pairs, 300))
    assert found.shape[1] == MOST_TIERS
    expected = tiers_by_definition(pairs, 300)
    sign = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose((found * sign)[:, :6], expected[:, :6], atol=0.02)


@pytest.mark.parametrize(("n_items", "n_games"), [(12, 300), (20, 400), (40, 4_000), (500, 4_000)])
def test_a_field_that_meets_at_random_has_none(n_items, n_games):
    pairs = at_random(np.random.default_rng(n_games), n_items, n_games)
    assert tiers_of(seen_of(pairs, n_items)).shape == (n_items, 0)


def test_repeating_games_is_counting_them():
    rng = np.random.default_rng(7)
    pairs = ladder(rng, 15, 400, 2)
    once = tiers_of(seen_of(np.repeat(pairs, 3, axis=0), 15))
    same_directions(once, tiers_of(seen_of(pairs, 15, counts=np.full(len(pairs), 3.0))))


def leagues(rng, n_items, n_games, across):
    """Games of two leagues, the first half of the items and the second, and some between them."""
    half = n_items // 2
    inside = np.concatenate([at_random(rng, half, n_games), half + at_random(rng, half, n_games)])
    between = np.stack([rng.integers(half, size=across), rng.integers(half, n_items, size=across)])
    return np.concatenate([inside, between.T])


def test_leagues_that_hardly_meet_differ_by_a_direction():
    (found,) = tiers_of(seen_of(leagues(np.random.default_rng(8), 16, 300, 10), 16)).T
    np.testing.assert_allclose(np.abs(found), 1.0, atol=0.15)
    assert len(set(np.sign(found[:8]))) == len(set(np.sign(found[8:]))) == 1
    assert found[0] * found[8] < 0


def test_what_nothing_connects_with_the_field_has_no_part_in_it():
    """How far apart two leagues are that never met no game tells."""
    rng = np.random.default_rng(9)
    field = leagues(rng, 16, 300, 10)
    found = tiers_of(seen_of(np.concatenate([field, 16 + at_random(rng, 8, 100)]), 24))
    same_directions(found[:16], tiers_of(seen_of(field, 16)))
    assert not found[16:].any()


def test_too_few_items_or_games_have_none():
    assert tiers_of(seen_of(np.array([[0, 1], [1, 2]]), 3)).shape == (3, 0)
    assert tiers_of(seen_of(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), 5)).shape == (5, 0)


ALIKE = it.Scores(walk=it.Still(), tiers=0.0)
N_TABLES, FAR = 2, 10


@pytest.mark.parametrize(
    ("scores", "least", "most"), [(it.Scores(walk=it.Still()), 0.7, 1.0), (ALIKE, 0.0, 0.5)]
)
def test_a_ladder_of_neighbours_holds_the_chances_of_its_ends(scores, least, most):
    """With scores all alike, 90 % intervals hold a quarter of the chances of far pairs or less."""
    held = []
    for seed in range(N_TABLES):
        rng = np.random.default_rng([11, seed])
        true = np.sort(rng.normal(0.0, 1.5, size=20))
        games, names = table_of(ladder(rng, 20, 1_500, 2), true, rng)
        answer = it.fit(games, model=scores + it.PairEffects(), rng=seed)
        for a in range(20):
            for b in range(a + FAR + 1, 20):
                told = answer.probability(names[a], names[b])
                held.append(told.low <= expit(true[a] - true[b]) <= told.high)
    assert least <= np.mean(held) <= most


def test_where_like_met_like_scores_are_wide_and_that_is_said():
    rng = np.random.default_rng(12)
    games, names = table_of(ladder(rng, 20, 4_000, 2), np.linspace(-2.0, 2.0, 20), rng)
    answer = it.fit(games, rng=1)
    scores = answer.posterior.layout.model.term(it.Scores)
    assert scores == it.Scores(walk=it.Still()).widened(scores.scale)
    assert 3.0 <= scores.scale < 4.0
    assert any(said.startswith("Items mostly met others of like") for said in answer.story)
    assert tell_far(answer) == []
    # Somebody new is as those seen are, not as wide as the scale.
    new = answer.posterior.states(np.full(1, -1), np.zeros(1))[:, 0, 0]
    assert 0.8 < new.std() < 2.0
    told = answer.probability("somebody", str(names[10]), newcomers=True)
    assert told.low < 0.2
    assert told.high > 0.8


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_leagues_whose_items_differ_more_than_they_do_keep_a_scale_that_is_learnt(apart, tmp_path):
    rng = np.random.default_rng(13)
    scores = rng.normal(0.0, 1.2, size=16) + np.where(np.arange(16) < 8, apart, -apart) / 2
    games, _ = table_of(leagues(rng, 16, 400, 20), scores, rng)
    answer = it.fit(games, rng=1)
    drawn = answer.posterior.draws
    assert (drawn.tiers > 0.0).all()
    assert 0.7 < np.median(drawn.scales[:, 0]) < 2.0
    assert any(said.startswith("Parts of the field meet rarely") for said in answer.story)
    answer.save(tmp_path / "leagues")
    again = it.Answer.load(tmp_path / "leagues")
    np.testing.assert_array_equal(again.posterior.draws.tiers, drawn.tiers)
    more, _ = table_of(at_random(rng, 16, 3_000), -scores, rng)
    updated = again.update(more, rng=2)  # the contrary, and all meet
    assert not updated.posterior.draws.tiers.any()


def test_a_part_that_hardly_plays_makes_no_ladder_of_the_others():
    """Weak amateurs who mostly meet each other say nothing of whom the others meet."""
    rng = np.random.default_rng(23)
    n_others, n_few = 30, 14
    n = n_others + n_few
    pairs = [rng.choice(n_others, 2, replace=False) for _ in range(1_200)]
    pairs += [n_others + rng.choice(n_few, 2, replace=False) for _ in range(60)]
    pairs += [(rng.integers(n_others), rng.integers(n_others, n)) for _ in range(6)]
    scores = rng.normal(0.0, 1.0, size=n) - 5.0 * (np.arange(n) >= n_others)
    pairs = np.array(pairs)
    won = (rng.random(len(pairs)) < expit(scores[pairs[:, 0]] - scores[pairs[:, 1]])).astype(float)
    nothing = np.zeros(len(pairs))
    rows = Rows(nothing, pairs, won, np.ones(len(pairs)), nothing)
    seen = Observations.of(rows, "logistic", n)
    found = fit_to_schedule(seen, it.Scores() + it.PairEffects(), it.Wins(), rng)
    assert found.tiers.shape[1] > 0
    assert not found.is_wide


def test_who_meets_at_random_or_has_a_known_scale_is_fitted_as_asked():
    rng = np.random.default_rng(14)
    model = it.Scores() + it.PairEffects()
    for pairs, asked in (
        (at_random(rng, 20, 600), model),
        (ladder(rng, 20, 600, 1), it.Scores(1.0) + it.PairEffects()),
        (ladder(rng, 20, 600, 1), it.Scores(tiers=0.0) + it.PairEffects()),
        (ladder(rng, 20, 600, 1), it.Model((it.PairEffects(),))),
    ):
        before = rng.bit_generator.state
        assert fit_to_schedule(seen_of(pairs, 20), asked, it.Wins(), rng).model == asked
        assert rng.bit_generator.state == before


def test_wide_scores_move_as_much_and_do_not_return():
    moving = it.Drift(it.HalfCauchy(1.5), it.HalfCauchy(0.3), 0.5)
    scores = it.Scores(walk=moving).widened(3.0)
    moving = it.Drift(it.HalfCauchy(0.5), 0.0, 0.5)
    assert scores == it.Scores(3.0, moving, tiers=3.0, wide=True, degrees=None)
    with pytest.raises(it.InputError, match="wide scores have a known scale"):
        it.Scores(wide=True)


@pytest.mark.parametrize("tiers", [-1.0, float("nan"), "wide"])
def test_tiers_that_are_none_are_refused(tiers):
    with pytest.raises(it.InputError, match="Scores: tiers"):
        it.Scores(tiers=tiers)


def thin_ladder(n_items=200, n_games=2_500):
    """Return games between items of like score, nearly every pair once: a plain order."""
    rng = np.random.default_rng(15)
    scores = np.sort(rng.normal(0.0, 1.5, size=n_items))
    pairs = ladder(rng, n_items, n_games, n_items // 10)
    won = (rng.random(n_games) < expit(scores[pairs[:, 0]] - scores[pairs[:, 1]])).astype(float)
    rows = Rows(np.zeros(n_games), pairs, won, np.ones(n_games), np.zeros(n_games))
    return Observations.of(rows, "logistic", n_items)


def test_wide_scores_do_not_make_other_terms_large():
    """Pairs that met once tell nothing of their effects, and wide scores would have them be 4."""
    still = it.Still()
    model = it.Scores(walk=still).widened(3.0) + it.PairEffects(walk=still)
    layout = lay_out(thin_ladder(), model)
    chain, sizes = Chain(layout, it.Wins(), np.random.default_rng(16)), []
    for _ in range(200):
        chain.sweep()
        sizes.append((chain.number_scales[0], np.std(chain.states[:, 0])))
    effects, scores = np.median(sizes[100:], axis=0)
    assert effects < 1.0
    assert 1.0 < scores < 3.0


def test_a_guide_is_there_only_where_wide_scores_stand_beside_scales_that_are_drawn():
    seen, wide = (
        seen_of(ladder(np.random.default_rng(17), 20, 600, 1), 20),
        it.Scores().widened(3.0),
    )
    for model in (
        it.Scores() + it.PairEffects(),
        it.Model((wide,)),
        wide + it.Side(),
        wide + it.PairEffects(0.5, it.Still()),
    ):
        assert lay_out(seen, model).guide is None
    guide = lay_out(seen, wide + it.Factors(1) + it.Side()).guide
    assert guide is not None
    assert guide.model == it.Scores() + it.Factors(1) + it.Side()
    assert guide.guide is None


def test_a_guided_chain_takes_scales_from_its_guide_alone():
    model = it.Scores().widened(3.0) + it.Factors(2) + it.PairEffects() + it.Side()
    chain = Chain(lay_out(thin_ladder(60, 900), model), it.Wins(), np.random.default_rng(18))
    for _ in range(60):
        chain.sweep()
    guide = chain.guide
    assert chain.scales[0] == 3.0
    assert guide.scales[0] != 3.0
    np.testing.assert_array_equal(chain.scales[1:], guide.scales[1:])
    assert chain.rates[1] == guide.rates[1]
    for name in ("number_scales", "number_rates"):
        np.testing.assert_array_equal(getattr(chain, name)[0], getattr(guide, name)[0])


def matched(rng, n_items, n_games, *, by_elo):
    """Return scores and games, in order, between the nearest of six: by true scores, or by Elo."""
    scores, rating = rng.normal(0.0, 1.2, size=n_items), np.zeros(n_items)
    pairs, won = np.empty((n_games, 2), np.int64), np.empty(n_games)
    for k in range(n_games):
        i, *others = rng.choice(n_items, 7, replace=False)
        known = rating if by_elo else scores
        j = others[int(np.argmin(np.abs(known[others] - known[i])))]
        pairs[k], won[k] = (i, j), rng.random() < expit(scores[i] - scores[j])
        change = 0.25 * (won[k] - expit(rating[i] - rating[j]))
        rating[i], rating[j] = rating[i] + change, rating[j] - change
    times = np.arange(n_games) * 60 // n_games
    rows = Rows(times.astype(float), pairs, won, np.ones(n_games), np.zeros(n_games))
    return scores, Observations.of(rows, "logistic", n_items)


def test_games_before_are_those_at_earlier_times():
    rng = np.random.default_rng(19)
    pairs, times = at_random(rng, 6, 40), rng.integers(5, size=40).astype(float)
    counts = rng.integers(1, 4, size=40).astype(float)
    rows = Rows(times, pairs, np.ones(40), counts, np.zeros(40))
    seen = Observations.of(rows, "logistic", 6)
    expected = [
        [sum(counts[(pairs == item).any(axis=1) & (times < time)]) for item in pair]
        for pair, time in zip(seen.pairs, seen.times, strict=True)
    ]
    np.testing.assert_array_equal(games_before(seen), expected)


def test_a_matchmaker_that_learns_from_the_games_tells_nothing_of_scores():
    """Opponents are alike by what is known of them; by true scores they are so from the start."""
    rng, model = np.random.default_rng(20), it.Scores() + it.PairEffects()
    scores, learnt = matched(rng, 60, 3_000, by_elo=True)
    assert follows_from_games(learnt, scores)
    assert not follows_from_games(learnt.timeless(), scores)  # nothing says which were first
    found = fit_to_schedule(learnt, model, it.Wins(), rng)
    assert found.model == it.Scores(tiers=0.0) + it.PairEffects()
    assert found.tiers.shape == (60, 0)
    assert found.notes == (FROM_GAMES,)
    assert 0.8 < found.scale < 1.8
    scores, seen = matched(rng, 60, 3_000, by_elo=False)
    assert not follows_from_games(seen, scores)
    found = fit_to_schedule(seen, model, it.Wins(), rng)
    assert found.is_wide
    assert (found.size, found.scale) == (found.model.term(it.Scores).scale,) * 2


def test_of_large_tables_cells_of_all_parts_are_looked_at():
    """Items that met each other are one part of a ladder, within which there are no others."""
    rng = np.random.default_rng(21)
    _, seen = matched(rng, 400, 12_000, by_elo=False)
    found = fit_to_schedule(seen, it.Model((it.Scores(),)), it.Wins(), rng, large=6_000)
    assert found.is_wide


@pytest.mark.parametrize("by_elo", [False, True])
def test_newtons_method_knows_who_met_whom(by_elo):
    """Differences are neither taken for noise nor overstated; somebody new may be anywhere."""
    rng = np.random.default_rng(22)
    scores, seen = matched(rng, 400, 12_000, by_elo=by_elo)
    effort = Effort(40.0, 1.0, whole_time=0.0, part_cells=3_000)
    model = it.Scores(walk=it.Drift(0.1)) + it.PairEffects()
    found = draw_posterior(seen, model, it.Wins(), effort, rng=rng)
    assert found.way == "newton"
    assert found.layout.model.term(it.Scores).wide != by_elo
    assert (found.draws.tiers > 0.0).all() != by_elo
    assert (FROM_GAMES in found.notes) == by_elo
    i, j = rng.integers(400, size=(2, 2_000))
    margins = found.margins(i, j, np.full(2_000, 59.0)).mean(axis=0)
    slope = np.polyfit(scores[i] - scores[j], margins, 1)[0]
    assert 0.75 < slope < 1.3
    assert 0.8 < np.median(found.widths[:, 0]) < 2.0


def test_where_games_are_nearly_even_it_is_said_what_that_may_mean():
    """Of a ladder whose scores move as much as opponents differ nothing else is seen."""
    rng = np.random.default_rng(23)
    games, _ = table_of(leagues(rng, 16, 400, 20), np.zeros(16), rng)
    (said,) = tell_far(it.fit(games, rng=1))
    assert said.startswith("Some parts of the field hardly met, and games were nearly even. If")
