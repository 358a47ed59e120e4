"""Whatever is given to a public function is used, or refused with one sentence; never a traceback.

Every parameter of every function in the table is given every hostile value in turn, the others
staying as they are.
"""

import inspect
import warnings
from datetime import date

import numpy as np
import pytest

import intransit as it
from intransit import study
from intransit.backtest import backtest
from intransit.errors import IntransitError

LONGEST = 600  # characters of a sentence
MARGINS = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
ROUNDS = 30
SLOW = {"read": 3, "fit": 3, "backtest": 9}  # each parameter is given every third value, or ninth
CALLED = {"report", "ensemble"}  # parameters that are functions: what they raise is theirs


def hostile(folder):
    """Return what nobody should give."""
    return [
        *(None, True, False, -1, 0, 1.5, 10**400, -(10**400), 2**70, float("nan"), float("inf")),
        *("x", "", "\0", "2026-01-01", b"x", 1j, object(), folder, date(2026, 1, 1), float, len),
        *([], [[]], ["x"], [None], [1, 2, 3], ["a", "b", "c", "a"], [10**400], [[1], [1, 2]]),
        *({}, {"x": 1}, {1: 2}, {"a"}, (c for c in "ab")),
        *(np.zeros((2, 2)), np.zeros(3), np.array(["x"]), np.array([np.nan])),
        *(np.array([], dtype=object), np.array(5), np.ma.masked),
    ]


def games(**further):
    columns = [["a", "b", "c"] * ROUNDS, ["b", "c", "a"] * ROUNDS, [1, 1, 0] * ROUNDS]
    return it.Games.from_arrays(*columns, **further)


class Given:
    """What the functions are asked about, made once."""

    def __init__(self, folder):
        times = [float(k // 3) for k in range(3 * ROUNDS)]
        self.folder = folder
        self.games = games(times=times, by={"on": ["x", "y", "x"] * ROUNDS})
        self.plain = games(sides=[1, -1, 0] * ROUNDS)
        self.answer = it.fit(self.plain, effective=2)
        self.by = it.fit(self.games, model=it.Scores() + it.By("on"), effective=2)
        self.table = folder / "table.csv"
        lines = [f"{k},{'abc'[k % 3]},{'abc'[(k + 1) % 3]},{k % 2}" for k in range(30)]
        self.table.write_text("\n".join(["time,home,away,outcome", *lines]))
        numbers = [[0, 1, 2] * ROUNDS, [1, 2, 0] * ROUNDS, [1, 1, 0] * ROUNDS, times]
        self.timeline = it.Timeline.from_arrays(*numbers)
        self.path = it.smooth(self.timeline, rng=0)
        self.filter = it.Filter(drift_scale=0.1, n_factors=1, rng=0)
        self.filter.observe_many(*numbers)
        self.ladder = backtest(self.games, ladder=["coin", "Elo"])
        sizes = {"n_items": 6, "n_factors": 1, "n_periods": 3, "n_outcomes": 40}
        self.sizes = {**sizes, "noise_scale": 0.1, "drift_scale": 0.1}
        self.readings = it.simulate(**self.sizes, rng=0).measurements


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return Given(tmp_path_factory.mktemp("hostile"))


def defaults(function, **known):
    """Return the arguments of a call that works: its defaults, and what is known."""
    found = {}
    for name, one in inspect.signature(function).parameters.items():
        if name in known or one.default is not inspect.Parameter.empty:
            found[name] = known.get(name, one.default)
    return found


PAIR = {"first": "a", "second": "b"}
PAIRS = {"first": ["a", "b"], "second": ["b", "c"]}
NUMBERS = {"first": 0, "second": 1}
MANY = {"first": [0, 1], "second": [1, 2], "outcomes": [1, 0], "times": [99.0, 99.0]}

# Name: what is called, and what it needs beside its defaults.
CALLS = {
    **{
        f"{which}.{name}": (
            lambda g, which=which, name=name: getattr(getattr(g, which), name),
            needs,
        )
        for which in ("answer", "by")
        for name, needs in {
            "probability": PAIR,
            "forecasts": PAIRS,
            "probabilities": PAIRS,
            "matrix": {},
            "margins": {},
            "rank": {},
            "number": {"item": "a"},
            "when": {},
            "cycles": {"gate": False, "longest": 3},
            "changes": {},
            "ranking": {"n": 5},
            "path_frame": {"items": ["a"]},
            "matrix_frame": {},
            "rank_frame": {},
        }.items()
    },
    "answer.update": (lambda g: g.answer.update, lambda g: {"games": g.plain.only([0])}),
    "answer.save": (lambda g: g.answer.save, lambda g: {"path": g.folder / "a.intransit"}),
    "by.figure_head_to_head": (lambda g: g.by.figure_head_to_head, PAIR),
    "by.figure_matrix": (lambda g: g.by.figure_matrix, {}),
    "by.figure_strengths": (lambda g: g.by.figure_strengths, {"items": ["a"]}),
    "Answer.load": (lambda _: it.Answer.load, lambda g: {"path": g.folder / "a.intransit"}),
    "fit": (
        lambda _: it.fit,
        lambda g: {"games": g.plain, "model": it.Scores(), "effective": 1, "seconds": 1},
    ),
    "read": (lambda _: it.read, lambda g: {"source": g.table}),
    "backtest": (lambda _: backtest, lambda g: {"games": g.games, "ladder": ["coin", "Elo"]}),
    "backtest.rung": (lambda g: g.ladder.rung, {"name": "coin"}),
    "backtest.gain": (lambda g: g.ladder.gain, {"name": "coin", "over": "Elo"}),
    "Games.from_arrays": (
        lambda _: it.Games.from_arrays,
        {"first_names": ["a", "b"], "second_names": ["b", "c"], "outcomes": [1, 0]},
    ),
    "games.only": (lambda g: g.games.only, {"mask": [0, 1]}),
    "games.covariate": (lambda g: g.games.covariate, {"name": "on"}),
    "games.split": (lambda g: g.games.split, {"name": "on"}),
    "games.between": (lambda g: g.games.between, {}),
    "Timeline.from_arrays": (
        lambda _: it.Timeline.from_arrays,
        {"first": [0, 1], "second": [1, 2], "outcomes": [1, 0]},
    ),
    "smooth": (lambda _: it.smooth, lambda g: {"measurements": g.timeline}),
    "Filter": (lambda _: it.Filter, {"drift_scale": 0.1}),
    "filter.observe": (lambda g: g.filter.observe, {**NUMBERS, "outcome": 1, "time": 99.0}),
    "filter.observe_many": (lambda g: g.filter.observe_many, MANY),
    "filter.forecast_many": (lambda g: g.filter.forecast_many, MANY),
    "filter.margin": (lambda g: g.filter.margin, NUMBERS),
    "filter.interval": (lambda g: g.filter.interval, NUMBERS),
    "filter.probability": (lambda g: g.filter.probability, NUMBERS),
    "path.matrix": (lambda g: g.path.matrix, {}),
    "path.margin": (lambda g: g.path.margin, NUMBERS),
    "path.interval": (lambda g: g.path.interval, NUMBERS),
    "path.probability": (lambda g: g.path.probability, NUMBERS),
    "path.probability_interval": (lambda g: g.path.probability_interval, NUMBERS),
    "path.change": (lambda g: g.path.change, {"item": 0, "since": 0.0, "until": 9.0}),
    "path.update": (lambda g: g.path.update, lambda g: {"more": g.timeline}),
    "simulate": (lambda _: it.simulate, lambda g: g.sizes),
    "recover": (
        lambda _: it.recover,
        lambda g: {"measurements": g.readings, "n_factors": 1},
    ),
    "optimal_weights": (
        lambda _: it.optimal_weights,
        {"n_periods": 3, "noise_scale": 1.0, "drift_scale": 1.0},
    ),
    "circular_factors": (lambda _: it.circular_factors, {"n_items": 5}),
    "planted_cycles": (lambda _: it.planted_cycles, {"n_items": 6, "n_cycles": 1}),
    "transitive_factors": (lambda _: it.transitive_factors, {"n_items": 5}),
    **{
        name: (lambda _, name=name: getattr(it, name), {"n_items": 4, "n_outcomes": 5, "rng": 0})
        for name in ("uniform_pairs", "uniform_entries", "gaussian_matrices")
    },
    **{
        name: (lambda _, name=name: getattr(it, name), {})
        for name in ("Scores", "Factors", "PairEffects", "Side", "Drift", "Levels", "Readings")
    },
    "HalfCauchy": (lambda _: it.HalfCauchy, {"scale": 1.0}),
    "By": (lambda _: it.By, {"column": "x"}),
    **{
        f"study.{name}": (lambda _, name=name: getattr(study, name), {"margins": MARGINS})
        for name in ("decompose", "consistency", "canonical_planes", "strongest_cycles")
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_a_hostile_argument_is_used_or_refused_in_a_sentence(name, given, tmp_path, monkeypatch):
    make, needs = CALLS[name]
    function = make(given)
    good = defaults(function, **(needs(given) if callable(needs) else needs))
    monkeypatch.chdir(tmp_path)
    if name == "Answer.load":
        given.answer.save(good["path"])
    wrong = []
    step = SLOW.get(name, 1)
    for k, parameter in enumerate(good):
        for value in hostile(given.folder)[k % step :: step]:
            if callable(value) and parameter in CALLED:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    function(**{**good, parameter: value})
                except IntransitError as error:
                    if "\n" in str(error) or len(str(error)) > LONGEST:
                        wrong.append((parameter, str(error)))
                except Exception as error:
                    wrong.append((parameter, str(value)[:30], repr(error)))
    assert not wrong


@pytest.mark.parametrize("place", [None, 3, "", "\0", b"x", ["x"]])
def test_a_page_or_an_answer_goes_to_a_file_only(given, place):
    for write in (given.answer.save, given.answer.report):
        with pytest.raises(it.InputError, match="name of a file"):
            write(place)


def test_a_folder_is_no_place_for_an_answer_or_a_page(given):
    for write in (given.answer.save, given.answer.report):
        with pytest.raises(it.InputError, match="it is a folder"):
            write(given.folder)
        with pytest.raises(it.InputError, match="there is no folder"):
            write(given.folder / "none" / "file")


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"title": 3}, "give a text"), ({"rng": -1}, "whole number"), ({"backtest": 3}, "backtest")],
)
def test_a_page_is_refused_before_the_work(given, tmp_path, settings, said):
    with pytest.raises(it.InputError, match=said):
        given.answer.report(tmp_path / "page.html", **settings)


def test_lists_of_different_length_are_refused_with_their_lengths(given):
    with pytest.raises(it.InputError, match="second: 1 were given for 2 games"):
        given.answer.forecasts(["a", "b"], ["c"])
    with pytest.raises(it.InputError, match="at: 3 were given for 1 games"):
        given.by.forecasts(["a"], ["b"], [1, 2, 3])
    with pytest.raises(it.InputError, match="first has shape"):
        given.answer.probabilities(["a", "b", "c"], ["b", "c"])


def test_generators_and_empty_lists_are_lists(given):
    told = given.answer.forecasts((c for c in "ab"), (c for c in "bc"))
    assert [(one.first, one.second) for one in told] == [("a", "b"), ("b", "c")]
    assert given.answer.forecasts([], []) == []
    assert given.answer.probabilities([], []).shape == (0,)
    found = given.answer.probabilities((c for c in "ab"), iter("bc"))
    np.testing.assert_array_equal(found, given.answer.probabilities(["a", "b"], ["b", "c"]))


def test_a_file_where_games_are_asked_for(given):
    assert it.fit(given.table, model=it.Scores(), effective=1).names == ("a", "b", "c")
    with pytest.raises(it.InputError, match=r"read a table with intransit\.read"):
        given.answer.update(str(given.table))
