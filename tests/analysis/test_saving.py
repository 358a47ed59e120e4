"""A saved answer is the answer: every field comes back, and every question has the same answer."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import intransit as it
from intransit.inference.observations import model_for
from intransit.inference.paths import Layout
from intransit.inference.sampling import Effort
from intransit.inference.table_posterior import draw_posterior
from intransit.model import By, Drift, Factors, HalfCauchy, PairEffects, Readings, Scores, Side
from intransit.model.terms import Still
from tests.analysis.fuzzing import open_file, seal_file

CIRCLE = np.array([[0, -1, 1, 0.3], [1, 0, -1, 0.3], [-1, 1, 0, 0.3], [-0.3, -0.3, -0.3, 0]])


def games_of(n=300, *, kind="wins", seed=0, begin=0, names="abcd"):
    """Return games with everything that a table can have."""
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=n)
    second = (first + rng.integers(1, 4, size=n)) % 4
    side = rng.choice([-1, 0, 1], size=n)
    lead = CIRCLE[first, second] + 0.4 * side + rng.logistic(size=n)
    called = np.array(list(names))
    days = np.sort(rng.integers(30, size=n)) + begin
    outcomes, margins = (lead > 0).astype(float), None
    if kind != "wins":
        margins = np.round(lead, 1)
        outcomes = np.where(margins == 0, 0.5, margins > 0)
    return it.Games.from_arrays(
        called[first],
        called[second],
        outcomes,
        (np.datetime64("2026-01-01") + days).astype(str).tolist(),
        margins=margins,
        sides=side,
        by={"surface": rng.choice(["clay", "grass", None], size=n).tolist()},
    )


def wins():
    """Return an answer whose model has every term, with settings that are not the usual ones."""
    model = (
        Scores(HalfCauchy(0.7))
        + Factors(1, walk=Drift(0.02))
        + PairEffects(0.4, walk=Still())
        + Side(0.5)
        + By("surface", walk=Drift(HalfCauchy(2.0)))
    )
    return it.fit(games_of(), model=model, effective=15)


def levels():
    """Return an answer with ties and levels of victory."""
    return it.fit(games_of(kind="levels"), effective=10)


def readings():
    """Return an answer to readings of known noise."""
    games = games_of(kind="readings")
    return it.fit(games, model=Scores() + Side(), law=Readings(1.5), effective=10)


def newton():
    """Return an answer whose states are not from chains."""
    games = games_of()
    answer = it.fit(games, model=Scores() + PairEffects() + Side(), effective=10)
    effort = Effort(effective=10.0, seconds=1e-3)
    posterior = draw_posterior(
        answer.posterior.layout.seen,
        answer.model,
        answer.posterior.law,
        effort,
        rng=np.random.default_rng(0),
    )
    assert posterior.way == "newton"
    return replace(answer, posterior=posterior)


@pytest.fixture(scope="module", params=[wins, levels, readings, newton], ids=lambda f: f.__name__)
def both(request, tmp_path_factory):
    """An answer, and the same answer from a file."""
    answer = request.param()
    place = answer.save(tmp_path_factory.mktemp("kept") / "answer.intransit")
    return answer, it.Answer.load(place)


def assert_same(one, two, name):
    """Assert that two values are the same, field by field, down to the last bit."""
    if isinstance(one, np.ndarray):
        assert isinstance(two, np.ndarray), name
        assert one.dtype == two.dtype, name
        np.testing.assert_array_equal(one, two, err_msg=name)
    elif is_dataclass(one):
        assert type(one) is type(two), name
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(two, field.name), f"{name}.{field.name}")
    elif isinstance(one, tuple):
        assert isinstance(two, tuple), name
        assert len(one) == len(two), name
        for k, (a, b) in enumerate(zip(one, two, strict=True)):
            assert_same(a, b, f"{name}[{k}]")
    else:
        assert type(one) is type(two) or isinstance(one, float), name  # NumPy's float is one too
        assert one == two, name


def test_every_field_comes_back(both):
    """Of the answer, its posterior, observations, draws and mixing, and all they are made of."""
    answer, back = both
    kept = [field.name for field in fields(answer) if field.name != "games"]
    assert {"names", "posterior", "clock", "encoding", "story", "seen", "reading"} <= set(kept)
    for name in kept:
        assert_same(getattr(answer, name), getattr(back, name), name)
    assert back.games is None
    assert {field.name for field in fields(Layout)} >= {"seen", "model", "items", "numbers"}


def test_every_question_has_the_same_answer(both):
    """Chances, ranks, cycles, changes, rankings, paths and frames, to the last bit."""
    answer, back = both
    a, b = answer.names[:2]
    for at in (None, "2026-01-10", "2026-03-01"):
        for side in (0, 1):
            one, two = (x.probability(a, b, at, side=side) for x in both)
            assert one == two
        np.testing.assert_array_equal(answer.matrix(at), back.matrix(at))
        np.testing.assert_array_equal(answer.margins(at), back.margins(at))
        assert answer.rank(at) == back.rank(at)
        assert answer.cycles(at, gate=False) == back.cycles(at, gate=False)
        assert answer.ranking(at) == back.ranking(at)
    assert answer.changes("2026-01-05") == back.changes("2026-01-05")
    assert answer.transitivity() == back.transitivity()
    assert answer.summary() == back.summary()
    assert answer.path_frame().equals(back.path_frame())
    new = [x.probability("somebody else", a, newcomers=True) for x in both]
    assert new[0] == new[1]
    if answer.model.by:
        on = [x.probability(a, b, under={"surface": "clay"}) for x in both]
        assert on[0] == on[1]


@pytest.mark.parametrize("n", [1, 120])
def test_an_update_is_the_same(both, n):
    """Few games weigh draws, many let chains go on: with one seed both end in the same draws."""
    answer, _ = both
    kind = "wins" if answer.encoding.loss == "logistic" else "levels"
    more = games_of(n, kind=kind, seed=1, begin=30, names="abcx")
    if kind == "levels" and n == 1:
        more = replace(more, margins=np.sign(more.margins), outcomes=(more.margins > 0) * 1.0)
    one, two = (x.update(more, rng=3) for x in both)
    assert one.story == two.story or n > 1  # how long chains took may be told
    assert one.names == two.names
    np.testing.assert_array_equal(one.posterior.draws.states, two.posterior.draws.states)
    assert one.rank() == two.rank()
    assert one.probability("a", one.names[-1]) == two.probability("a", one.names[-1])


def test_the_same_answer_is_the_same_file(both, tmp_path):
    """Nothing of the clock or of the machine is in a file."""
    answer, back = both
    one, two = (x.save(tmp_path / f"{k}.intransit") for k, x in enumerate((answer, back)))
    assert one.read_bytes() == two.read_bytes()


def test_draws_that_do_not_fit_the_games_are_refused(tmp_path):
    """A file put together from two answers is no answer."""
    games = games_of(60)
    answer = it.fit(games, model=model_for(games, factors=0, pairs=False), effective=5)
    words, arrays = open_file(answer.save(tmp_path / "good.intransit"))
    for head in ("format", "version"):
        words.pop(head)
    bad, states = tmp_path / "bad.intransit", "answer.draws.states"
    bad.write_bytes(seal_file(words, arrays | {states: arrays[states][:, 1:]}))
    with pytest.raises(it.InputError, match="do not fit"):
        it.Answer.load(bad)
    bad.write_bytes(seal_file(words | {"luck": 1}, arrays))
    with pytest.raises(it.InputError, match="missing or of another kind"):
        it.Answer.load(bad)
    words["answer"].pop("clock")
    bad.write_bytes(seal_file(words, arrays))
    with pytest.raises(it.InputError, match="missing or of another kind"):
        it.Answer.load(bad)
