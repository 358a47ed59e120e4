"""Games told twice are counted once; games that were played twice are not."""

import itertools

import numpy as np
import pandas as pd
import pytest

import intransit as it

N_HONEST = 6  # tables of a kind in this test


def chances(rng, n, spread=1.0):
    """Return chances of every item against every other: one scale, the spread in logits."""
    scores = rng.normal(size=n) * spread
    return 1.0 / (1.0 + np.exp(np.clip(scores[None, :] - scores[:, None], -700, 700)))


def play(rng, p, first, second, ties=0.0):
    won = (rng.random(len(first)) < p[first, second]).astype(float)
    return np.where(rng.random(len(first)) < ties, 0.5, won)


def frame(first, second, outcome, **more):
    names = np.array([f"i{k:03}" for k in range(500)])
    return pd.DataFrame({"a": names[first], "b": names[second], "outcome": outcome, **more})


def random_pairs(rng, n, games, turned=True):
    first = rng.integers(n, size=games)
    second = (first + rng.integers(1, n, size=games)) % n
    return (first, second) if turned else (np.minimum(first, second), np.maximum(first, second))


def arena(rng, *, turned=True, ties=0.0, days=0):
    """Votes: random pairs that repeat often, without times or with many on a day."""
    n, games = int(rng.integers(3, 25)), 2 * int(rng.integers(10, 1500))
    pair = random_pairs(rng, n, games, turned)
    when = {"day": np.sort(rng.integers(days, size=games))} if days else {}
    return frame(*pair, play(rng, chances(rng, n), *pair, ties), **when)


def double_round_robin(rng, *, spread=1.0, legs=2):
    """Everybody meets everybody, once each way round (or more often), without times or sides."""
    n = int(rng.integers(4, 20))
    first, second = np.array(list(itertools.permutations(range(n), 2)) * (legs // 2)).T
    return frame(first, second, play(rng, chances(rng, n, spread), first, second))


def series(rng, *, games=2, evening=1.5):
    """Evenings of one pair, seats swapped after each game, with a form of the evening."""
    n, evenings = int(rng.integers(4, 20)), int(rng.integers(20, 300))
    first, second = random_pairs(rng, n, evenings)
    p = chances(rng, n)[first, second]
    logit = np.log(p / (1 - p))
    logit += evening * rng.normal(size=evenings)
    rows = []
    for k in range(games):
        won = (rng.random(evenings) < 1 / (1 + np.exp(-logit))).astype(float)
        one = frame(first, second, won) if k % 2 == 0 else frame(second, first, 1 - won)
        rows.append(one.assign(day=np.arange(evenings)))
    return pd.concat(rows).sort_values("day", kind="stable")


def designed(rng):
    """Each pair is judged ten times."""
    n = int(rng.integers(4, 12))
    pairs = np.array(list(itertools.combinations(range(n), 2)) * 10)
    return frame(*pairs.T, play(rng, chances(rng, n), *pairs.T))


def two_judges(rng):
    """Two judge the same list in the same order, and agree more often than not."""
    n, m = int(rng.integers(5, 20)), int(rng.integers(20, 200))
    pair = random_pairs(rng, n, m)
    one = play(rng, chances(rng, n), *pair)
    other = np.where(rng.random(m) < 0.85, one, 1 - one)
    return pd.concat([frame(*pair, one), frame(*pair, other)])


def counted(rng):
    """Shares of games as the home side sees them, both ways round."""
    n = int(rng.integers(4, 15))
    first, second = np.array(list(itertools.permutations(range(n), 2))).T
    games = rng.choice([20, 40, 60], size=len(first))
    return frame(
        first, second, rng.binomial(games, chances(rng, n)[first, second]) / games, games=games
    )


def fixed(rng, *, cyclic=True):
    """Games that always end alike, four of each pair."""
    n = int(rng.integers(4, 12))
    beats = np.triu(rng.random((n, n)) < (0.5 if cyclic else 1.0), 1).astype(float)
    beats = np.where(np.triu(np.ones((n, n)), 1) > 0, beats, 1 - beats.T)
    first, second = np.array(list(itertools.permutations(range(n), 2)) * 2).T
    return frame(first, second, beats[first, second])


HONEST = {
    "votes": arena,
    "votes one way round": lambda rng: arena(rng, turned=False),
    "votes with ties": lambda rng: arena(rng, ties=0.3),
    "votes on days": lambda rng: arena(rng, days=40),
    "double round robin": double_round_robin,
    "double round robin, hardly an upset": lambda rng: double_round_robin(rng, spread=8.0),
    "double round robin, no upset": lambda rng: double_round_robin(rng, spread=1e3),
    "four rounds": lambda rng: double_round_robin(rng, legs=4),
    "two games an evening": series,
    "two games an evening, hardly ever split": lambda rng: series(rng, evening=8.0),
    "four games an evening": lambda rng: series(rng, games=4),
    "ten verdicts a pair": designed,
    "two judges": two_judges,
    "shares with counts": counted,
    "always the same, in circles": fixed,
    "always the same, in order": lambda rng: fixed(rng, cyclic=False),
}


def mirrored(table):
    return table.assign(a=table.b, b=table.a, outcome=1 - table.outcome)


def both_blocks(rng, table):
    return pd.concat([table, table])


def shuffled(rng, table):
    return pd.concat([table, table]).sample(frac=1, random_state=int(rng.integers(1e6)))


def seen_from_both_sides(rng, table):
    return pd.concat([table, mirrored(table)])


def logs_of_teams(rng, table):
    return pd.concat([table, mirrored(table)]).sort_values("a", kind="stable")


def side_by_side(rng, table):
    order = np.arange(2 * len(table)).reshape(2, -1).T.ravel()
    return pd.concat([table, mirrored(table)]).iloc[order]


TELL_TWICE = (both_blocks, shuffled, seen_from_both_sides, logs_of_teams, side_by_side)


def season(rng):
    """Three hundred games of ten teams, on some days, as a league has them."""
    pair = random_pairs(rng, 10, 300)
    return frame(*pair, play(rng, chances(rng, 10), *pair), day=np.arange(300) // 5)


def league(rng, *, rounds=8, n=8):
    """Eight rounds without dates, each pair one way round."""
    pairs = np.array(list(itertools.combinations(range(n), 2)) * rounds)
    rng.shuffle(pairs)
    return frame(*pairs.T, play(rng, chances(rng, n), *pairs.T))


def is_halved(games, table):
    return games.counts.sum() == len(table) / 2


@pytest.mark.parametrize("kind", HONEST)
def test_honest_tables_are_left_alone(kind):
    """Simulated: 1,600 tables of these 16 kinds (seeds 0 to 99) gave no false alarm."""
    for seed in range(N_HONEST):
        table = HONEST[kind](np.random.default_rng(seed))
        games = it.read(table)
        total = table.games.sum() if "games" in table else len(table)
        assert games.counts.sum() == total, f"seed {seed}"


@pytest.mark.parametrize("twice", TELL_TWICE)
@pytest.mark.parametrize("make", [season, league, lambda rng: league(rng).assign(row=range(224))])
def test_games_told_twice_count_once(twice, make):
    rng = np.random.default_rng(3)
    once = make(rng)
    if "row" in once:  # an index of the doubled table proves nothing
        table = twice(rng, once.drop(columns="row")).assign(row=range(2 * len(once)))
        once = once.drop(columns="row")
    else:
        table = twice(rng, once)
    games, alone = it.read(table), it.read(once)
    assert is_halved(games, table)
    assert f"{len(table)} rows list {len(once)} games twice" in " ".join(games.report.notes)
    swap = alone.first > alone.second  # the same games, whichever way round they are written
    result = np.where(swap, 1 - alone.outcomes, alone.outcomes)
    low = np.minimum(alone.first, alone.second)
    assert games.counts @ games.outcomes == pytest.approx(alone.counts @ result)
    assert games.counts @ games.first == pytest.approx(alone.counts @ low)
    kept = it.read(table, doubled="keep")
    assert kept.counts.sum() == len(table)
    assert "twice" not in " ".join(kept.report.notes)


def test_both_report_a_match_under_one_id():
    rng = np.random.default_rng(0)
    once = league(rng)
    won = once.outcome == 1
    wins = pd.DataFrame(
        {
            "match_id": range(len(once)),
            "winner": np.where(won, once.a, once.b),
            "loser": np.where(won, once.b, once.a),
        }
    )
    table = pd.concat([wins.assign(reported="winner"), wins.assign(reported="loser")])
    games = it.read(table)
    assert is_halved(games, table)
    assert '448 rows tell 224 games, by "match_id"' in " ".join(games.report.notes)
    apart = table.assign(match_id=range(len(table)))
    assert it.read(apart).counts.sum() == len(table)


def test_shares_listed_both_ways_round():
    rng = np.random.default_rng(0)
    first, second = np.array(list(itertools.combinations(range(12), 2))).T
    games = rng.integers(20, 200, size=len(first))
    share = rng.binomial(games, chances(rng, 12)[first, second]) / games
    once = frame(first, second, share, games=games)
    table = pd.concat([once, mirrored(once)])
    assert it.read(table).counts.sum() == games.sum()
    assert it.read(table, doubled="keep").counts.sum() == 2 * games.sum()


def test_too_little_to_be_sure_is_said_and_left():
    rng = np.random.default_rng(0)
    once = league(rng, rounds=1, n=5)
    table = pd.concat([once, mirrored(once)])
    games = it.read(table)
    assert games.counts.sum() == len(table)
    assert 'say doubled="once"' in " ".join(games.report.notes)
    assert it.read(table, doubled="once").counts.sum() == len(once)
    few_missing = pd.concat([season(rng)] * 2)
    few_missing.iloc[300:] = mirrored(few_missing.iloc[300:])
    games = it.read(few_missing.iloc[:-15])
    assert games.counts.sum() == 585
    assert "of the games have a twin" in " ".join(games.report.notes)


def test_sides_and_margins_are_turned_with_the_game():
    rng = np.random.default_rng(1)
    once = season(rng).assign(margin=0.0, home=1)
    once["margin"] = np.where(once.outcome == 1, 1, -1) * rng.integers(1, 4, len(once))
    other = mirrored(once).assign(margin=-once.margin, home=-1)
    table = pd.concat([once, other]).sort_values("day", kind="stable")
    games = it.read(table, side="home", margin="margin")
    assert is_halved(games, table)
    assert (np.sign(games.margins) == np.sign(games.outcomes - 0.5)).all()
    at_home = np.where(games.sides == 1, games.margins, -games.margins)
    assert games.counts @ at_home == pytest.approx(once.margin.sum())


def test_rows_of_one_game_count_once():
    """As where bookmakers, players or moves have a row each, by an id or by times and scores."""
    rng = np.random.default_rng(4)
    once = season(rng)[:60].assign(match_id=range(60), day=range(60))
    once["margin"] = np.where(once.outcome == 1, 1, -1) * rng.integers(1, 9, 60)
    rows = once.loc[np.repeat(once.index, 4)].assign(bookmaker=range(240))
    games, alone = it.read(rows), it.read(once)
    assert games.counts.sum() == alone.counts.sum() == 60
    assert '240 rows tell 60 games, by "match_id"' in " ".join(games.report.notes)
    assert it.read(rows, doubled="keep").counts.sum() == 240
    moves = once.loc[np.repeat(once.index, rng.integers(1, 9, 60))]
    moves = moves.assign(move=range(len(moves)))
    assert it.read(moves).counts.tolist() == [1.0] * 60
    games = it.read(moves.drop(columns="match_id"))
    assert games.counts.tolist() == [1.0] * 60
    assert "by their times and scores" in " ".join(games.report.notes)
    with pytest.raises(it.InputError, match="some have more; keep one row of each"):
        it.read(moves.drop(columns="day"))


def test_maps_of_a_match_are_games_of_their_own():
    rng = np.random.default_rng(5)
    rows = season(rng)[:120].drop(columns="day").assign(match_id=np.arange(120) // 3)
    rows[["a", "b"]] = rows[["a", "b"]].to_numpy()[np.arange(120) // 3 * 3]
    assert it.read(rows).counts.sum() == 120


def test_scores_that_only_grow_are_of_games_that_go_on():
    rng = np.random.default_rng(6)
    once = season(rng)[:12].drop(columns="outcome").assign(game_id=range(12))
    rows = once.loc[np.repeat(once.index, 4)].reset_index(drop=True)
    points = rng.integers(10, 30, size=(12, 4, 2))
    quarters = rows.assign(score_a=points[..., 0].ravel(), score_b=points[..., 1].ravel())
    assert it.read(quarters).counts.sum() == 48
    states = points.cumsum(axis=1)
    growing = rows.assign(score_a=states[..., 0].ravel(), score_b=states[..., 1].ravel())
    with pytest.raises(it.InputError, match='rows with one "game_id" only grow'):
        it.read(growing)
    assert it.read(growing, doubled="keep").counts.sum() == 48
    assert it.read(growing[3::4]).counts.sum() == 12


@pytest.mark.parametrize("digits", [2, 3, 9])
def test_a_few_shares_of_many_games_listed_both_ways_round(digits):
    rng = np.random.default_rng(7)
    first, second = np.array(list(itertools.combinations(range(6), 2))).T
    games = rng.integers(300, 5000, size=len(first))
    share = np.round(rng.binomial(games, chances(rng, 6)[first, second]) / games, digits)
    once = frame(first, second, share, games=games)
    assert it.read(pd.concat([once, mirrored(once)])).counts.sum() == games.sum()
