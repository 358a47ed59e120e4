"""Terms of a model as values: sums, words, files, and what is refused."""

import json

import pytest

from intransit.analysis.stored import put_together, take_apart
from intransit.errors import InputError
from intransit.model import (
    By,
    Drift,
    Factors,
    HalfCauchy,
    Levels,
    Model,
    PairEffects,
    Readings,
    Scores,
    Side,
    Still,
    default_model,
)

TERMS = (
    Scores(),
    Scores(0.7, Still()),
    Factors(2, HalfCauchy(0.2), Drift(0.4)),
    Factors(1, 0.3, Still()),
    PairEffects(),
    PairEffects(HalfCauchy(2.0), Drift(HalfCauchy(0.1))),
    Side(),
    Side(0.5, Still()),
    By("surface"),
    By("map", 0.4, Drift()),
)


def test_a_sum_of_terms_is_a_model_in_their_order():
    """Terms and models add up, from either side."""
    a, b, c = Scores(), Factors(2), PairEffects()
    assert (a + b).terms == (a, b)
    assert a + b + c == a + (b + c) == Model((a, b, c))


def test_a_model_finds_its_terms():
    """By kind; what is not there is None, and can be left out."""
    model = Scores() + Factors(2) + By("surface") + By("map")
    assert model.term(Factors) == Factors(2)
    assert model.term(Side) is None
    assert model.by == (By("surface"), By("map"))
    assert model.without(Factors, By) == Model((Scores(),))
    assert (model.n_factors, model.without(Factors).n_factors) == (2, 0)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Model((Scores(),)), "drifting scores"),
        (Scores(walk=Still()) + Factors(1), "static scores + 1 drifting factor"),
        (Factors(3, walk=Still()) + Side(), "3 factors + side"),
        (PairEffects() + By("surface"), "drifting pair effects + deviations by surface"),
        (By("map", walk=Drift()) + Side(), "drifting deviations by map + side"),
        (Model((PairEffects(walk=Still()),)), "pair effects"),
    ],
)
def test_a_model_reads_as_words(model, words):
    """What is printed says which terms there are and which of them move."""
    assert str(model) == words


def test_a_model_says_what_moves_and_what_is_cyclic():
    """A side that moves does not count; scores alone have no cycles."""
    still, moving = Scores(walk=Still()) + Side(), Scores() + PairEffects(walk=Still())
    assert (still.moves, still.is_cyclic, still.matchups_move) == (False, False, False)
    assert (moving.moves, moving.is_cyclic, moving.matchups_move) == (True, True, False)
    assert (Scores() + Factors()).matchups_move


def from_file(model):
    words = json.loads(json.dumps(take_apart(model, "model", {})))
    return put_together(Model, words, "model", {})


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_a_term_comes_back_from_a_file(term):
    """Plain data hold everything of a term."""
    model = Model((term,))
    assert from_file(model) == model


def test_a_whole_model_comes_back_from_a_file():
    """All terms together, in their order."""
    model = default_model(7, by=("surface", "map"))
    assert from_file(model) == model


@pytest.mark.parametrize(
    ("n_items", "settings", "words"),
    [
        (2, {}, "drifting scores + side"),
        (3, {"sided": False}, "drifting scores + 1 drifting factor + drifting pair effects"),
        (50, {"still": True}, "static scores + 3 factors + pair effects + side"),
    ],
)
def test_the_default_has_every_term_that_a_table_can_have(n_items, settings, words):
    """Planes need three items; nothing moves if nothing is to."""
    assert str(default_model(n_items, **settings)) == words


REFUSED = {
    "a term twice": (lambda: Scores() + Scores(), "model: Scores is there twice; give it once."),
    "a column twice": (lambda: By("a") + By("a", 0.1), "model: By is there twice; give it once."),
    "no term": (lambda: Model(()), "model: it has no term; add up Scores(), Factors(), …."),
    "a word": (
        lambda: Scores() + "factors",
        "model: 'factors' is not a term; add up Scores(), Factors(), ….",
    ),
    "a number": (
        lambda: Model((3,)),
        "model: 3 is not a term; add up Scores(), Factors(), ….",
    ),
    "a side's prior": (
        lambda: Side(HalfCauchy(1.0)),
        "Side: scale is a number: there is one side, so nothing to learn it from.",
    ),
    "a column without a name": (
        lambda: By(""),
        "By: '' is not the name of a column; give one, as text.",
    ),
    "a walk that is none": (
        lambda: Scores(walk="random"),
        "Scores: walk must be Still() or Drift(), not 'random'.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_model_is_refused_in_a_sentence(name):
    """Every refusal says what was found and what to do."""
    make, sentence = REFUSED[name]
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Scores(-1.0), "Scores: scale"),
        (lambda: Scores(0.0), "Scores: scale"),
        (lambda: PairEffects(float("nan")), "PairEffects: scale"),
        (lambda: Side(-0.5), "Side: scale"),
        (lambda: By("a", 0.0), "By: scale"),
        (lambda: Drift(-0.1), "Drift: rate"),
        (lambda: HalfCauchy(0.0), "HalfCauchy: scale"),
        (lambda: Factors(0), "Factors: n"),
        (lambda: Levels(0), "Levels: most"),
        (lambda: Readings(-1.0), "Readings: noise"),
    ],
)
def test_a_number_out_of_range_is_refused_by_name(make, named):
    """The sentence begins with the setting that is wrong."""
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(named)


@pytest.mark.parametrize("degrees", [2, 0, -1, 3.5, float("inf"), "many"])
def test_degrees_of_freedom_that_leave_no_variance_are_refused(degrees):
    with pytest.raises(InputError, match="Scores: degrees"):
        Scores(degrees=degrees)
