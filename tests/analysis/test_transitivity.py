"""The verdict on cycles: right on plain cases, not fooled, and the same whoever is named first."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import intransit as it
from intransit.analysis.transitivity import FALSE_ALARMS, Evidence, examine, residual_rows
from intransit.analysis.verdict import DOUBTED, Cyclicity, judge
from intransit.datasets import simulate_games
from intransit.inference.observations import Encoding


def verdict(games, **settings):
    return judge(examine(games, Encoding.of(games), **settings), 0.0)


def evenings(seed, shared, *, timed, n_items=8, n_evenings=600):
    """Games of a ranking, seven an evening, whose games share a mood of this size."""
    rng = np.random.default_rng(seed)
    first = rng.integers(n_items, size=n_evenings)
    second = (first + rng.integers(1, n_items, size=n_evenings)) % n_items
    margin = 0.3 * (first - second) + shared * rng.normal(size=n_evenings)
    each = np.repeat(np.arange(n_evenings), 7)
    outcomes = (rng.random(len(each)) < expit(margin[each])).astype(float)
    times = each if timed else rng.permutation(len(each))
    return it.Games.from_arrays(first[each], second[each], outcomes, times.astype(float))


def test_rock_paper_scissors_has_cycles():
    """Three items that beat each other around, thirty games a pair."""
    games = it.Games.from_arrays(
        ["rock", "paper", "scissors"] * 30, ["scissors", "rock", "paper"] * 30, [1, 1, 1] * 30
    )
    found = it.fit(games, effective=10).transitivity()
    assert found.has_cycles
    assert found.cycle.probability > 0.95
    assert found.cycle.by_results < 0.001
    assert found.share > 0.9
    assert "cycles" in str(found)


def test_a_ranking_has_none():
    """A ranking with drift, and games enough to notice cycles, gives no evidence of any."""
    games, _ = simulate_games(12, 5_000, cyclic=0.0, rng=5)
    found = verdict(games)
    assert found.verdict == "no evidence"
    assert found.detectable < 0.1
    assert "No evidence" in found.sentence


@pytest.mark.parametrize("moves", [0.0, 2.0])
def test_the_evidence_tells_how_fast_scores_move(moves):
    """Walks of 2 log odds in 100 days are told from none at all: moments are chosen by that."""
    rng = np.random.default_rng(2)
    steps = moves / 10.0 * rng.standard_normal((100, 8))
    scores = rng.standard_normal(8) + np.cumsum(steps, axis=0)
    first, day = rng.integers(8, size=3_000), rng.integers(100, size=3_000)
    second = (first + rng.integers(1, 8, size=3_000)) % 8
    won = rng.random(3_000) < expit(scores[day, first] - scores[day, second])
    games = it.Games.from_arrays(first, second, won.astype(float), day.astype(float))
    found = examine(games, Encoding.of(games)).speed * 10.0
    assert 0.6 * moves <= found <= 1.5 * moves + 0.3


def test_few_games_are_too_few():
    """With two games a pair nothing can be said, and that is what is said."""
    games, _ = simulate_games(12, 130, cyclic=0.0, rng=1)
    assert verdict(games).verdict == "too little data"


def against(pairs, chance, n_games, seed):
    """Games of some pairs, the first of each winning with this chance."""
    rng = np.random.default_rng(seed)
    first, second = np.repeat(np.array(pairs), n_games, axis=0).T
    outcomes = (rng.random(len(first)) < chance).astype(float)
    return it.Games.from_arrays(first, second, outcomes, rng.integers(100, size=len(first)) * 1.0)


def test_an_order_without_upsets_is_no_cycle():
    """Where the better one always wins, no curve of chances fits, and still there is an order."""
    every = [(i, j) for i in range(8) for j in range(i + 1, 8)]
    assert verdict(against(every, 1.0, 20, 0)).verdict != "not one scale"
    alarms = [
        verdict(against(every, 0.9, 20, seed)).verdict == "not one scale" for seed in range(6)
    ]
    assert sum(alarms) <= 1


def test_a_chain_and_a_star_have_no_cycle():
    """Comparisons that never go round say nothing of cycles, however lopsided."""
    chain, star = [(k, k + 1) for k in range(10)], [(0, k) for k in range(1, 10)]
    for pairs in (chain, star):
        found = verdict(against(pairs, 0.8, 50, 1))
        assert found.verdict == "too little data"
        assert found.p_value == 1.0


def test_items_with_more_luck_are_no_cycle():
    """Chances that are nearer to a half for some items: 6 tables, more than 1 alarm: 0.006."""
    alarms = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        first = rng.integers(12, size=4_000)
        second = (first + rng.integers(1, 12, size=4_000)) % 12
        score, steep = 1.2 * rng.normal(size=12), rng.gamma(4.0, 0.25, size=12)
        x = 0.5 * (steep[first] + steep[second]) * (score[first] - score[second])
        outcomes = (rng.random(4_000) < expit(x)).astype(float)
        games = it.Games.from_arrays(first, second, outcomes, rng.integers(365, size=4_000) * 1.0)
        alarms += verdict(games).verdict == "not one scale"
    assert alarms <= 1


def test_a_matrix_of_wins_keeps_its_verdict():
    """Winner, loser and count, sorted by winner, say as much as a list of games."""
    names = "abcdef"
    rows = [
        (names[i], names[j], float(round(200 * expit(1.0 if (j - i) % 6 < 3 else -1.0))))
        for i in range(6)
        for j in range(6)
        if i != j and (j - i) % 6 != 3
    ]
    winners, losers, counts = zip(*rows, strict=True)
    games = it.Games.from_arrays(winners, losers, np.ones(len(rows)), counts=counts)
    assert verdict(games).verdict == "not one scale"


@pytest.mark.parametrize("n_games", [1, 40])
def test_two_items_have_no_cycle(n_games):
    """Between two items there is nothing to find, however many games."""
    games = it.Games.from_arrays(["a"] * n_games, ["b"] * n_games, [1] * n_games)
    found = it.fit(games, effective=10).transitivity()
    assert found.verdict == "too little data"
    assert found.p_value == 1.0


def test_a_tenth_of_the_energy_is_found():
    """A tenth of the energy cyclic, 100 games a pair, 16 items: found in three tables of three."""
    for seed in range(3):
        games, _ = simulate_games(16, 100 * 120, cyclic=0.1, rng=seed)
        assert verdict(games).verdict == "not one scale"


def test_false_alarms_are_rare():
    """Transitive tables of many kinds: more than 3 alarms in 25 at 2 % have probability 0.002."""
    alarms = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 12))
        games, _ = simulate_games(
            n,
            int(rng.choice([3, 10, 40])) * n * (n - 1) // 2,
            cyclic=0.0,
            spread=float(rng.choice([0.5, 1.5])),
            ties=float(rng.choice([0.0, 0.3])),
            memory=float(rng.choice([50.0, 1e9])),
            rng=seed,
        )
        alarms += verdict(games).verdict == "not one scale"
    assert alarms <= 3


def test_what_an_evening_shares_is_no_cycle():
    """Games of one evening that agree look like cycles only to who takes them for independent.

    With times that set evenings apart: 6 tables, more than 1 alarm at 2 % has probability 0.006.
    """
    together = [
        verdict(evenings(seed, 1.5, timed=True)).verdict == "not one scale" for seed in range(6)
    ]
    apart = [
        verdict(evenings(seed, 1.5, timed=False)).verdict == "not one scale" for seed in range(6)
    ]
    assert sum(together) <= 1
    assert sum(apart) >= 3  # the same games, each as if on its own


def test_neither_order_nor_names_matter():
    """Who is named first, and what items are called, leaves the evidence as it is."""
    games, _ = simulate_games(7, 800, cyclic=0.3, ties=0.2, rng=2)
    swapped = replace(games, first=games.second, second=games.first, outcomes=1.0 - games.outcomes)
    turned = np.arange(7)[::-1]
    renamed = replace(games, first=turned[games.first], second=turned[games.second])
    one, other, third = (examine(g, Encoding.of(g)) for g in (games, swapped, renamed))
    assert other.extra == pytest.approx(one.extra, rel=1e-6)
    assert third.extra == pytest.approx(one.extra, rel=0.2)  # signs are drawn in another order
    assert np.log(third.p_value) == pytest.approx(np.log(one.p_value), rel=0.4)


def test_the_same_seed_gives_the_same_verdict():
    """Nothing is drawn but from the seed."""
    games, _ = simulate_games(6, 500, cyclic=0.2, rng=3)
    assert examine(games, Encoding.of(games)) == examine(games, Encoding.of(games))


def test_the_share_is_that_of_the_truth():
    """Four tables of a fixed truth, 60 % cyclic: the interval holds it, or nearly, in three."""
    inside = 0
    for seed in range(4):
        games, _ = simulate_games(14, 12_000, cyclic=0.6, memory=1e9, rng=seed)
        found = verdict(games)
        inside += found.share_low - 0.05 <= 0.6 <= found.share_high + 0.05
    assert inside >= 3


def test_gain_is_that_of_the_cyclic_part():
    """Effects of pairs gain log loss on a cyclic table, and lose a little on a ranking."""
    cyclic, _ = simulate_games(10, 5_000, cyclic=0.5, rng=0)
    ranked, _ = simulate_games(10, 5_000, cyclic=0.0, rng=0)
    gain, error = examine(cyclic, Encoding.of(cyclic)).gain
    assert gain > 5 * error > 0
    gain, error = examine(ranked, Encoding.of(ranked)).gain
    assert gain < 2 * error


def test_the_verdict_is_kept(tmp_path):
    """A saved answer says the same, rows that could not be used included."""
    place = tmp_path / "games.csv"
    place.write_text("first,second,outcome\n" + "a,b,1\nb,c,1\nc,a,1\n" * 10 + "a,a,1\n")
    answer = it.fit(it.read(place), effective=10)
    again = it.Answer.load(answer.save(tmp_path / "answer.intransit"))
    assert again.transitivity() == answer.transitivity()
    assert again.reading == answer.reading
    assert again.reading.n_unused == 1
    assert again.games is None


SURE = Evidence(1e-9, 1.0, 0.5, 0.1, 0.01, 10, 100)
ROUND = Cyclicity(
    edge=0.52, probability=0.99, by_noise=0.1, by_results=1.0, n_items=9, dispersion=1.0
)


def test_sentences_say_what_was_found():
    """Each verdict has its words, with the numbers that it rests on."""
    assert "+0.0100 ± 0.0010" in str(judge(replace(SURE, gain=(0.01, 0.001)), 100))
    none = replace(SURE, p_value=0.5, extra=0.0)
    assert judge(none, 100).sentence.startswith("No evidence of cycles")
    few = replace(none, noise=1.0)
    assert judge(few, 100).sentence.startswith("Too little data")
    never = replace(none, noise=np.inf, n_series=10)
    assert "hardly any pair has more than one independent result" in judge(never, 100).sentence
    two = judge(replace(never, n_pairs=1), 100)
    assert two.sentence == "No cycle is possible: the games are between two items."
    again = replace(never, n_series=100)
    assert "met again" not in judge(again, 100).sentence
    assert judge(replace(SURE, p_value=FALSE_ALARMS), 1).verdict == "no evidence"


def test_cycles_are_said_where_one_is_proven_and_only_there():
    """One scale may be wrong without a cycle: the sentence says what is known of one."""

    def found(**known):
        return judge(SURE, 100, cycle=replace(ROUND, **known))

    assert "probability of 99 %" in found().sentence
    assert "more than 52 %" in found().sentence
    assert found(probability=0.85).verdict == "not one scale"
    assert "every step above 52 %: 85 %" in found(probability=0.85).sentence
    assert found(by_noise=0.8).verdict == "not one scale"
    assert "as cyclic in 80 % of tables" in found(by_noise=0.8).sentence
    assert found(probability=0.4, by_results=0.003).verdict == "not one scale"
    alone = found(probability=0.6, by_results=0.003)
    assert alone.has_cycles
    assert "3 of 1,000" in alone.sentence
    weak = judge(replace(SURE, p_value=DOUBTED), 100, cycle=ROUND)
    assert weak.verdict == "no evidence"
    told = judge(replace(SURE, causes=("luck", "sides")), 100)
    assert told.sentence.endswith(
        "A possible reason: more luck in the games of some items or sides that are worth more to "
        "some items."
    )
    assert "would occur in less than 0.1 % of tables. No cycle" in told.sentence


def test_deviations_that_are_too_small_to_matter_are_said_to_be():
    small = replace(SURE, extra=-0.01)
    told = judge(replace(small, gain=(-0.001, 0.001)), 100)
    assert told.verdict == "not one scale"
    assert "small, if real: 0 to" in told.sentence
    assert told.sentence.endswith("forecasts gain nothing from them.")
    for evidence, gain in ((small, None), (small, (0.001, 0.001)), (SURE, (-0.001, 0.001))):
        assert "if real" not in judge(replace(evidence, gain=gain), 100).sentence


def test_another_edge_is_asked_of_the_same_draws():
    """Rock, paper, scissors at about 70 %: a cycle above 52 %, none above 85 %, and it is said."""
    rng = np.random.default_rng(3)
    first = rng.integers(3, size=400)
    won = (rng.random(400) < 0.7) * 1.0
    answer = it.fit(it.Games.from_arrays(first, (first + 1) % 3, won), effective=20)
    found = answer.transitivity()
    assert answer.transitivity(edge=0.52) is found
    assert found.has_cycles
    far = answer.transitivity(edge=0.85)
    assert far.verdict == "not one scale"
    assert "every step above 85 %" in far.sentence
    assert far.cycle.probability < 0.05
    assert found.cycle.probability > 0.95
    assert far.cycle.edge == 0.85
    assert (far.p_value, far.share) == (found.p_value, found.share)
    for wrong in (0.4, 1.0, np.nan, "0.6"):
        with pytest.raises(it.InputError, match="edge is"):
            answer.transitivity(edge=wrong)
    with pytest.raises(it.InputError, match="it is a chance"):
        it.fit(it.Games.from_arrays(first, (first + 1) % 3, won), edge=1.5)


def test_the_interval_of_a_share_knows_that_the_ranking_is_not_known():
    """Nine items in three classes: the ranking may be small, and is not known to be nothing."""
    sure = judge(SURE, 100)
    assert sure.share == pytest.approx(1.0 / 3.0)
    unsure = judge(replace(SURE, energy_unit=0.02, freedom=8.0), 100)
    assert unsure.share == sure.share
    assert unsure.share_low < sure.share_low < sure.share_high < unsure.share_high
    hardly = judge(replace(SURE, energy=1e-9, energy_unit=0.02, freedom=8.0), 100)
    assert hardly.share_low < 0.9 < hardly.share_high == 1.0


def test_what_else_it_may_be_is_told():
    """Eight items of which three have more luck; sides worth more to some: the cause is named."""
    rng = np.random.default_rng(8)
    first = rng.integers(8, size=4_000)
    second = (first + rng.integers(1, 8, size=4_000)) % 8
    score, steep = np.linspace(-1.5, 1.5, 8), np.where(np.arange(8) % 3 == 0, 0.6, 1.6)
    x = (score[first] - score[second]) * 0.5 * (steep[first] + steep[second])
    lucky = it.Games.from_arrays(first, second, (rng.random(4_000) < expit(x)) * 1.0)
    assert verdict(lucky).causes == ("luck",)
    worth = np.array([0.0, 2.0, 0.0, 0.0, 1.5, 0.0, 0.0, 1.0])
    often = np.triu(rng.beta(0.5, 0.5, size=(8, 8)))[
        np.minimum(first, second), np.maximum(first, second)
    ]
    low, high = np.minimum(first, second), np.maximum(first, second)
    at_low = rng.random(4_000) < often
    x = 0.3 * (score[low] - score[high]) + np.where(at_low, worth[low], -worth[high])
    hosts = it.Games.from_arrays(
        low, high, (rng.random(4_000) < expit(x)) * 1.0, sides=np.where(at_low, 1.0, -1.0)
    )
    assert verdict(hosts).verdict == "not one scale"
    assert "sides" in verdict(hosts).causes


def test_many_items_with_few_games_are_one_scale():
    """Rankings of 200 items, three games each: hardly any two items share two opponents.

    Each fails with a probability of 2 %; four or more of 12 do in 1 of 15,000 runs.
    """
    alarms = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 3])
        first = rng.integers(200, size=600)
        second = (first + rng.integers(1, 200, size=600)) % 200
        scores = rng.normal(size=200)
        won = (rng.random(600) < expit(scores[first] - scores[second])) * 1.0
        alarms += verdict(it.Games.from_arrays(first, second, won)).verdict == "not one scale"
    assert alarms < 4


def test_classes_are_found_where_hardly_any_pair_met_twice():
    """400 items in three classes that beat each other around, 30 games each, beside a ranking.

    A game won or lost deviates from its chance by as much whatever explains it: small residuals
    are no sign that such a table has no luck in it.  Of 20 further seeds 20 were found.
    """
    rng = np.random.default_rng(4)
    kind, scores = rng.integers(3, size=400), 1.5 * rng.normal(size=400)
    first = rng.integers(400, size=6_000)
    second = (first + rng.integers(1, 400, size=6_000)) % 400
    around = np.array([0.0, 2.0, -2.0])[(kind[first] - kind[second]) % 3]
    won = (rng.random(6_000) < expit(scores[first] - scores[second] + around)) * 1.0
    assert verdict(it.Games.from_arrays(first, second, won)).p_value < 0.001


def test_probabilities_of_a_ranking_are_one_scale():
    """Outcomes without the luck of games leave tiny residuals that have a pattern."""
    i, j = np.triu_indices(12, 1)
    for seed in range(4):
        scores = np.random.default_rng(seed).normal(size=12)
        games = it.Games.from_arrays(i, j, expit(scores[i] - scores[j]))
        assert verdict(games).p_value == 1.0


def test_nothing_is_beyond_an_order_that_no_result_speaks_against():
    """It is as steep as may be: no share, and no gain."""
    i, j = np.triu_indices(6, 1)
    found = verdict(it.Games.from_arrays(i, j, np.ones(15), counts=np.full(15, 10.0)))
    assert found.share == 0.0
    assert found.share_high < 0.1


def test_dispersion_is_that_of_the_games_that_tell_something():
    """Games on their own have 1 whatever their chances; what evenings share counts."""

    def dispersion(games):
        return examine(games, Encoding.of(games)).dispersion

    alone, shared = (dispersion(evenings(3, size, timed=True)) for size in (0.0, 1.0))
    assert alone < 1.15
    assert shared > 1.4
    rng = np.random.default_rng(1)
    first = rng.integers(8, size=4_000)
    second = (first + rng.integers(1, 8, size=4_000)) % 8
    x, luck = 1.5 * (first - second), rng.random(4_000)
    outcomes = np.where(luck < expit(x - 1.0), 1.0, np.where(luck < expit(x + 1.0), 0.5, 0.0))
    days = rng.integers(400, size=4_000) * 1.0
    assert dispersion(it.Games.from_arrays(first, second, outcomes, days)) < 1.15


def test_sides_that_explain_the_deviations_are_no_cycle():
    """The model knows one worth of a side for all."""
    found = judge(replace(SURE, causes=("sides",)), 100, cycle=ROUND)
    assert found.verdict == "not one scale"
    assert judge(SURE, 100, cycle=ROUND).has_cycles


def test_shares_of_games_may_have_covariates():
    """A share becomes so many wins and so many losses, each with the row's covariate."""
    games = it.Games.from_arrays(
        list("abcabc"),
        list("bcabca"),
        [0.6, 0.7, 0.4, 0.3, 0.55, 0.8],
        counts=[10.0] * 6,
        by={"map": list("xxxyyy")},
    )
    rows = residual_rows(games, Encoding.of(games))
    assert rows.counts.sum() == pytest.approx(60.0)
    assert len(rows.counts) == 12
