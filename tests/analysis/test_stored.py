"""An answer that is asked where it lies: the same answers, nothing loaded, nothing believed."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import intransit as it
from intransit.analysis import MANY, likely_names
from intransit.analysis.saving import read_answer, write_answer
from intransit.analysis.stored import StoredNames
from intransit.report import gather
from tests.analysis.fuzzing import open_file, seal_file
from tests.analysis.test_saving import games_of, levels, newton, wins
from tests.analysis.worlds import ladder, play, table

TIMES = (None, "2026-01-10", "2026-03-01")


def stored(answer, place, *, mapped=True):
    """Write an answer in the form of large ones, and open it."""
    with place.open("wb") as file:
        write_answer(file, answer, large=True)
    return it.Answer(**read_answer(place, small=0 if mapped else 1 << 30))


@pytest.fixture(scope="module", params=[wins, levels, newton], ids=lambda f: f.__name__)
def both(request, tmp_path_factory):
    answer = request.param()
    return answer, stored(answer, tmp_path_factory.mktemp("large") / "answer.intransit")


def test_every_question_has_the_same_answer(both):
    answer, large = both
    assert tuple(large.names) == answer.names
    a, b = answer.names[:2]
    for at in TIMES:
        assert answer.probability(a, b, at, side=1) == large.probability(a, b, at, side=1)
        np.testing.assert_array_equal(answer.matrix(at), large.matrix(at))
        assert answer.rank(at) == large.rank(at)
        assert answer.cycles(at, gate=False) == large.cycles(at, gate=False)
        assert answer.ranking(at) == large.ranking(at)
    assert answer.changes("2026-01-05") == large.changes("2026-01-05")
    assert answer.summary() == large.summary()
    assert answer.path_frame().equals(large.path_frame())
    new = [x.probability("somebody else", a, newcomers=True) for x in both]
    assert new[0] == new[1]
    if answer.model.by:
        on = [x.probability(a, b, under={"surface": "clay"}) for x in both]
        assert on[0] == on[1]


def test_an_update_is_that_of_the_answer(both):
    answer, _ = both
    kind = "wins" if answer.encoding.loss == "logistic" else "levels"
    more = games_of(2, kind=kind, seed=1, begin=30, names="abcx")
    one, two = (x.update(more, rng=3) for x in both)
    np.testing.assert_array_equal(one.posterior.draws.states, two.posterior.draws.states)
    assert one.rank() == two.rank()


def test_it_can_be_saved_again(both, tmp_path):
    """Byte by byte, whether it was read whole or is asked where it lies."""
    answer, large = both
    stored(answer, tmp_path / "one")
    again = stored(answer, tmp_path / "two", mapped=False).save(tmp_path / "three")
    wanted = (tmp_path / "one").read_bytes()
    assert again.read_bytes() == large.save(tmp_path / "four").read_bytes() == wanted


@pytest.fixture(scope="module")
def league():
    """Thirty items, two of which never met the others."""
    rng = np.random.default_rng(0)
    first, second, won, day = play(ladder(np.linspace(1.5, -1.5, 28)), 1500, rng, days=40)
    apart = np.full(6, 28), np.full(6, 29), np.array([1.0, 0, 1, 1, 0, 1]), np.arange(6)
    model = it.Scores() + it.PairEffects()
    return it.fit(table((first, second, won, day), apart), model=model, effective=20)


def test_a_part_tells_the_chances_of_the_whole(league):
    part = league.only(["item 03", "item 28"], played=4, top=3)
    assert {"item 03", "item 28"} < set(part.names)
    assert 5 <= part.n_items <= 9
    met = {tuple(pair) for pair in league.posterior.layout.seen.pairs.tolist()}
    for at in (None, "2026-01-20", "2026-04-01"):
        for one in part.names:
            for two in part.names:
                i, j = sorted((league.number(one), league.number(two)))
                if (i, j) in met:
                    assert part.probability(one, two, at) == league.probability(one, two, at)
    away = part.probability("item 03", "item 28")
    assert "no chain of comparisons" in away.notes[0]
    assert float(away) == pytest.approx(0.5)
    assert [one.rank for one in part.rank()] == list(range(1, part.n_items + 1))
    assert part.n_games == league.n_games
    assert part.story[-1] == (
        f"Of 30 items this is about {part.n_items}: the 4 that played most and the 3 strongest "
        "and 2 named."
    )


def test_a_part_ends_when_the_table_does(league):
    """Two who left early are asked about at the end of the table, as in the whole."""
    gone = league.only(["item 28", "item 29"])
    assert gone.seen.end == league.seen.end > gone.seen.last.max()
    assert gone.only(["item 28", "item 29"]).seen.end == league.seen.end
    told = gone.probability("item 28", "item 29")
    assert told == league.probability("item 28", "item 29")
    assert "item 28 was last compared 2026-01-06" in told.notes
    found = gather(gone, most_times=4)
    assert found.times[-1] == league.clock.to_text(league.seen.end)
    assert found.ranking.n_pairs == 1
    assert "Nobody leads" not in " ".join(found.sentences)


def test_a_part_makes_a_page_that_says_so(league, tmp_path):
    page = league.only(played=6).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "This page is about 6 items of them: the 6 that played most" in page
    assert "1,506 games between 30 items" in page


def test_items_that_never_met_make_a_page_too(tmp_path):
    """Each player has met two neighbours; every third has met none of the others chosen."""
    i = np.tile(np.arange(24), 8)
    names = np.array([f"p{k:02}" for k in range(24)])
    days = np.repeat(np.arange(8), 24)
    won = (np.arange(len(i)) % 3 > 0) * 1.0
    games = it.Games.from_arrays(names[i], names[(i + 1) % 24], won, days)
    answer = it.fit(games, model=it.Scores() + it.PairEffects(), effective=5, seconds=1)
    part = answer.only(names[::3].tolist())
    assert len(part.posterior.layout.seen) == 0
    assert part.matrix().shape == (8, 8)
    assert part.probability("p00", "p03").notes == ()
    assert "0 of 28 possible pairs of these met" in part.report(tmp_path / "page.html").read_text(
        encoding="utf-8"
    )


def test_what_a_part_cannot_be_asked(league, tmp_path):
    part = league.only(top=3)
    with pytest.raises(it.InputError, match="save the whole answer"):
        part.save(tmp_path / "part.intransit")
    with pytest.raises(it.InputError, match="update the whole answer"):
        part.update(games_of(3))
    with pytest.raises(it.InputError, match="fewer than two"):
        league.only(["item 03"])
    with pytest.raises(it.InputError, match="did you mean"):
        league.only(["item 3"])


def test_pages_of_the_leaderboard_are_parts_of_it(league, tmp_path):
    whole = league.rank()
    for answer in (league, stored(league, tmp_path / "large")):
        assert answer.rank(begin=11, most=5) == whole[10:15]
        assert answer.rank(begin=29) == whole[28:]
        assert answer.rank(level=0.5, most=2) == league.rank(level=0.5)[:2]
    with pytest.raises(it.InputError, match="begin"):
        league.rank(begin=0)


def test_names_are_found_by_halving():
    names = ["é", "b", "a", "", "zz", "b c", "日本", "a b"]
    kept = StoredNames.of(names)
    assert tuple(kept) == tuple(names)
    assert [kept.find(name) for name in names] == list(range(8))
    assert [kept.find(name) for name in ("c", "z", "aa", "zzz")] == [-1] * 4
    assert "b" in kept
    assert 3 not in kept
    assert kept[-1] == "a b"
    assert kept[2:4] == ("a", "")
    assert [names[k] for k in kept.by_name] == sorted(names)
    assert "b c" in likely_names(kept, "b d")
    many = [f"player {k}" for k in range(MANY)] + ["Ann", "Bob", "anna"]
    assert likely_names(many, "Anne") == ["Ann", "anna"]


def spoil(place, name, change):
    """Change an array of a file, and seal it again."""
    words, arrays = open_file(place)
    arrays[name] = change(arrays[name].copy())
    place.write_bytes(seal_file({key: words[key] for key in ("answer", "index")}, arrays))


def _set(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("index.items.begin", _set(3, 10**9)),
        ("index.items.begin", _set(2, -1)),
        ("index.ends", _set(1, 10**9)),
        ("index.by_name", _set(0, -1)),
        ("index.groups", _set(0, 99)),
        ("index.board.order", _set(0, 99)),
        ("index.board.low", lambda array: array[1:]),
        ("index.newcomer", lambda array: array[1:]),
        ("answer.draws.states", lambda array: array[1:]),
        ("answer.draws.states", lambda array: array[0]),
        ("answer.draws.scales", _set((0, 0), np.nan)),
        ("answer.observations.pairs", lambda array: array[1:]),
    ],
)
def test_what_others_are_looked_up_by_is_checked(name, change, league, tmp_path):
    place = tmp_path / "large"
    stored(league, place)
    spoil(place, name, change)
    for small in (0, 1 << 30):
        with pytest.raises(it.InputError, match="do not fit its other parts"):
            read_answer(place, small=small)


def test_games_of_nobody_are_told_when_they_are_looked_through(league, tmp_path):
    place = tmp_path / "large"
    stored(league, place)
    spoil(place, "answer.observations.pairs", _set((0, 1), 10**9))
    answer = it.Answer(**read_answer(place, small=0))
    assert answer.rank(most=1) == league.rank(most=1)
    with pytest.raises(it.InputError, match="items that it does not know"):
        answer.only(top=3)


def test_a_changed_or_short_file_is_refused(league, tmp_path):
    place = tmp_path / "large"
    stored(league, place)
    whole = place.read_bytes()
    changed = bytearray(whole)
    at = whole.index(b"answer.draws.states.npy") + 5000
    changed[at] ^= 1
    place.write_bytes(changed)
    read_answer(place, small=0, check=False)
    for settings in ({"check": True}, {}, {"small": 1 << 30}):
        with pytest.raises(it.InputError, match=r"checksum|cut short or altered"):
            read_answer(place, **{"small": 0, **settings})
    for length in (len(whole) - 1, len(whole) // 2, 100):
        place.write_bytes(whole[:length])
        with pytest.raises(it.InputError, match=r"cut short or altered|no answer"):
            read_answer(place, small=0)


MILLION = textwrap.dedent(
    """
    import sys, threading, time
    from dataclasses import replace
    from pathlib import Path
    import numpy as np
    import intransit as it
    from intransit.analysis import Leaderboard
    from intransit.inference.paths import lay_out
    from intransit.inference.observations import Observations
    from intransit.inference.posterior import Posterior
    from intransit.model import Model, Scores

    N, DRAWS = 1_000_000, 40
    place, step = Path(sys.argv[1]), sys.argv[2]

    def memory():
        "Megabytes of our own: pages of the file are the system's, which takes them back at need."
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(one for one in lines if one.startswith("RssAnon")).split()[1]) / 1024

    def watch(peak, over):
        while not over.wait(0.003):
            peak[0] = max(peak[0], memory())

    small = it.fit(it.Games.from_arrays(["a", "b"] * 9, ["b", "c"] * 9, [1, 1, 0] * 6, range(18)),
                   model=Scores(), effective=2)
    small.only(["a", "b"]).probability("a", "b")
    if step == "write":
        i = np.arange(N)
        pairs = np.stack([np.minimum(i, (i + 1) % N), np.maximum(i, (i + 1) % N)], axis=1)
        seen = Observations("logistic", N, pairs, (i % 2) * 17.0, np.ones(N), (i % 3 > 0) * 1.0,
                            np.zeros(N), np.zeros((0, N), np.int64), N)
        layout = lay_out(seen, Model((Scores(),)))
        old, n = small.posterior.draws, layout.items.n_states
        rng, few = np.random.default_rng(0), np.arange(DRAWS) % len(small.posterior)
        draws = replace(old.only(few), states=rng.normal(size=(DRAWS, n, 1)).astype(np.float32))
        mean = rng.random(N)
        order = np.argsort(-mean)
        at, one = mean[order], np.arange(1, N + 1)
        board = Leaderboard(order, at, at, at, one, one, at, at, at)
        games = np.where(i < 1000, 5000.0 - i, 2.0)
        names = tuple(f"player {k}" for k in i)
        large = replace(small, names=names, posterior=Posterior(layout, small.posterior.law, draws,
                        None), seen=replace(small.seen, first=np.zeros(N), last=np.full(N, 17.0),
                        games=games), board=board, games=None)
        large.save(place)
        print(large.probability("player 5", "player 999999").probability, names[order[500_000]])
    else:
        before, peak, over = memory(), [0.0], threading.Event()
        threading.Thread(target=watch, args=(peak, over), daemon=True).start()
        began = time.perf_counter()
        answer = it.Answer.load(place)
        opened = time.perf_counter() - began
        chance = answer.probability("player 5", "player 999999").probability
        took = []
        for k in range(100):
            began = time.perf_counter()
            answer.probability(f"player {k * 7919}", "player 4")
            took.append(time.perf_counter() - began)
        page = answer.rank(begin=500_001, most=50)
        asked = peak[0] - before
        answer.report(place.with_suffix(".html"))
        over.set()
        print(chance, page[0].name, opened, min(took), asked, peak[0] - before, sep="|")
    """
)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system tells no memory")
def test_a_million_items_are_asked_without_being_loaded(tmp_path):
    place = tmp_path / "million.intransit"

    def run(step):
        command = [sys.executable, "-c", MILLION, str(place), step]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    chance, *name = run("write").split()
    assert place.stat().st_size > 400e6
    told = run("ask").strip().split("|")
    assert (told[0], told[1]) == (chance, " ".join(name))
    opened, one_chance, asked, reported = map(float, told[2:])
    assert opened < 10.0  # a fraction of a second where nothing else runs
    assert one_chance < 0.01
    assert asked < 100  # MB, of a file of more than 400
    assert reported < 200
    page = place.with_suffix(".html").read_text(encoding="utf-8")
    assert "This page is about 400 items of them: the 400 that played most" in page
    Path(place).unlink()
