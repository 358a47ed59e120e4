"""Cycles: which are listed, in what order, with what probability, and since when."""

from itertools import combinations, permutations

import numpy as np
import pytest

import intransit as it
from intransit.analysis import cycles as cycling
from intransit.analysis.cycles import Edges, _follow
from intransit.kernels import pack_bits
from tests.analysis.worlds import NAMES, answer_to, ladder, play, ring, table


@pytest.fixture(scope="module")
def answer():
    """Five items around a circle for the whole time."""
    rng = np.random.default_rng(0)
    return answer_to(table(play(ring(5, 1.2), 2_500, rng, days=40), names=NAMES))


def test_a_clear_circle_is_found_whole_with_real_edges_only(answer):
    """All five cycles of three that are there are listed, and nothing else of three."""
    found = answer.cycles(gate=False)
    place = {name: k for k, name in enumerate(NAMES)}
    X = ring(5)
    true = {
        frozenset(trio)
        for trio in combinations(range(5), 3)
        if any(X[a, b] > 0 < X[b, c] and X[c, a] > 0 for a, b, c in permutations(trio))
    }
    listed = [tuple(place[name] for name in cycle.items) for cycle in found]
    assert {frozenset(items) for items in listed if len(items) == 3} == true
    for items in listed:
        assert all(X[items[k - 1], items[k]] > 0 for k in range(len(items)))
    assert found.n_found == len(found) >= 5
    assert found.false_share == pytest.approx(1 - np.mean([c.probability for c in found]))


def test_where_no_single_cycle_is_sure_the_likeliest_is_listed(answer):
    """A verdict of cycles is never without one: the note says that it falls short of the level."""
    assert answer.transitive.has_cycles
    found = answer.cycles(level=1.0 - 1e-9)
    assert len(found) == found.n_found == 1
    assert 0.5 < found.found[0].probability < found.level
    assert found.found[0].probability == answer.cycles().found[0].probability
    assert "no single one has" in found.note
    assert len(answer.cycles(level=1.0 - 1e-9, gate=False)) == 0


def test_a_cycle_starts_with_the_first_name_and_tells_its_edges(answer):
    """Names, probabilities of edges, chances and history belong together."""
    found = answer.cycles(gate=False)
    for cycle in found:
        assert cycle.items[0] == min(cycle.items)
        assert len(cycle.edges) == len(cycle.chances) == len(cycle.items)
        assert cycle.edges[cycle.weakest] == min(cycle.edges)
        assert found.level <= cycle.probability <= min(cycle.edges)
        assert min(cycle.chances) > 0.5
        assert len(cycle.history) == len(found.times) <= 24
        assert cycle.since in found.times
    probabilities = [cycle.probability for cycle in found]
    assert probabilities == sorted(probabilities, reverse=True)
    first = found.found[0]
    pair = (first.items[0], first.items[1])
    assert first.chances[0] == pytest.approx(float(answer.probability(*pair)), abs=0.03)


def test_asking_changes_nothing(answer):
    """The same question has the same answer, whatever was asked before."""
    before = answer.cycles(gate=False)
    answer.cycles("2026-01-20", gate=False)
    answer.rank()
    assert answer.cycles(gate=False) == before


def random_edges(seed, n_items=7, n_draws=120):
    rng = np.random.default_rng(seed)
    mean = rng.normal(scale=2.0, size=(n_items, n_items))
    mean = np.triu(mean, 1) - np.triu(mean, 1).T
    noise = np.triu(rng.normal(size=(n_draws, n_items, n_items)), 1)
    return mean + noise - noise.swapaxes(1, 2)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("longest", [3, 4, 5])
def test_following_edges_agrees_with_trying_every_cycle(seed, longest):
    """Paths that grow find what a loop over all orders of all subsets finds, with its counts."""
    drawn, level = random_edges(seed), 0.7
    n_draws, n, _ = drawn.shape
    sure = (drawn > 0).mean(axis=0) >= level
    np.fill_diagonal(sure, False)
    first, second = np.nonzero(sure)
    holds = pack_bits(drawn[:, first, second].T > 0)
    blank = np.ones(len(first))
    found, counts, complete = _follow(
        Edges(first, second, blank, blank, holds, n_draws), level, longest
    )
    fast = {
        tuple(first[steps[steps >= 0]].tolist()): count
        for steps, count in zip(found, counts, strict=True)
    }
    slow = {}
    for size in range(3, longest + 1):
        for items in permutations(range(n), size):
            steps = [(items[k], items[(k + 1) % size]) for k in range(size)]
            across = [p for p in permutations(items, 2) if p not in steps and p[::-1] not in steps]
            if items[0] != min(items) or not all(sure[p] for p in steps):
                continue
            if any(sure[p] for p in across):
                continue
            count = int(np.all([drawn[:, a, b] > 0 for a, b in steps], axis=0).sum())
            if (count + 0.5) / (n_draws + 1) >= level:
                slow[items] = count
    assert complete
    assert fast == slow


def test_paths_beyond_the_limit_are_told():
    """When there are more ways than are followed, the surest stay and the answer says so."""
    drawn = random_edges(1)
    first, second = np.nonzero((drawn > 0).mean(axis=0) >= 0.7)
    holds = pack_bits(drawn[:, first, second].T > 0)
    blank = np.ones(len(first))
    _, _, complete = _follow(Edges(first, second, blank, blank, holds, len(drawn)), 0.7, 4, 2)
    assert not complete
    assert "more than were followed" in cycling._note(3, 3, complete, 0.9, 5, 5)


def test_a_ranking_has_no_cycles_and_says_why():
    """Scores alone cannot have cycles; the verdict closes the gate before."""
    rng = np.random.default_rng(1)
    games = table(play(ladder([1.0, 0.5, 0.0, -0.5]), 600, rng, days=50))
    answer = answer_to(games, pairs=False)
    assert "the verdict is “no evidence”" in answer.cycles().note
    none = answer.cycles(gate=False)
    assert len(none) == none.n_found == 0
    assert "scores alone" in none.note


def test_a_cycle_that_appears_late_is_dated_late():
    """A circle that stands in the second half only is told to have been there since about then."""
    rng = np.random.default_rng(2)
    early = play(ladder([1.0, 0.0, -1.0]), 600, rng, days=15)
    late = play(ring(3, 1.5), 600, rng, days=15, begin=15)
    answer = answer_to(table(early, late, names=NAMES[:3]), factors=1, pairs=False)
    (cycle,) = answer.cycles(gate=False)
    assert cycle.items == ("paper", "scissors", "rock")
    assert "2026-01-08" < cycle.since < "2026-01-25"
    assert cycle.history[0] < 0.5 < cycle.history[-1]
    assert not len(answer.cycles("2026-01-02", gate=False))


def test_items_that_are_gone_are_on_no_cycle():
    """An item not compared for long is not listed at the end, though it is at its own time."""
    rng = np.random.default_rng(3)
    first = play(ring(3, 1.5), 900, rng, days=60)
    a, b, won, day = play(np.zeros((2, 2)), 300, rng, days=100, begin=60)
    answer = answer_to(table(first, (a, b, won, day), names=NAMES[:3]))
    assert len(answer.cycles("2026-02-15", gate=False)) == 1
    assert len(answer.cycles(gate=False)) == 0


def test_tables_without_times_have_cycles_without_dates():
    """Nothing is dated where there are no times."""
    rng = np.random.default_rng(4)
    a, b, won, _ = play(ring(3, 1.5), 600, rng)
    names = np.array(NAMES)
    games = it.Games.from_arrays(names[a].tolist(), names[b].tolist(), won)
    found = answer_to(games, drifting=False).cycles(gate=False)
    assert len(found) == 1
    assert found.times == found.found[0].history == ()
    assert found.at == found.found[0].since == ""


def test_the_list_can_be_cut_and_says_so(answer):
    """`most` keeps the surest; the number and the share of false ones are of all of them."""
    whole, cut = answer.cycles(gate=False), answer.cycles(gate=False, most=2)
    assert cut.found == whole.found[:2]
    assert (cut.n_found, cut.false_share) == (whole.n_found, whole.false_share)
    assert "2 surest of" in cut.note


def test_of_too_many_items_those_that_played_most_are_searched(answer):
    """Cycles are of the items that played most, and the note says how many those are."""
    found = cycling.find_cycles(answer, gate=False, most_items=4)
    least = answer.names[int(answer.seen.games.argmin())]
    assert found.n_found > 0
    assert all(least not in cycle.items for cycle in found)
    assert "Of 5 items the 4 that played most are searched." in found.note


def test_edges_are_those_of_the_forecasts():
    """A circle that turns round: who is favoured on a listed edge is so in the forecasts too."""
    rng = np.random.default_rng(5)
    early, late = (
        play(s * ring(3, 1.5), 900, rng, days=10, begin=b) for s, b in ((1, 0), (-1, 10))
    )
    answer = answer_to(table(early, late, names=NAMES[:3]), pair_drift=True)
    for day in ("2026-01-03", "2026-01-18"):
        (cycle,) = answer.cycles(day, gate=False)
        for k, chance in enumerate(cycle.chances):
            pair = (cycle.items[k], cycle.items[(k + 1) % 3])
            forecast = float(answer.probability(*pair, day))
            assert chance == pytest.approx(forecast, abs=0.03)


@pytest.mark.parametrize("bad", [{"level": 1.0}, {"longest": 2}, {"most": 0}])
def test_settings_without_sense_are_refused(answer, bad):
    """Levels, lengths and numbers must make sense."""
    with pytest.raises(it.InputError):
        answer.cycles(gate=False, **bad)
