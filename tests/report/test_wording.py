"""Sentences: each verdict in words, with its numbers, and nothing that was not found."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import intransit as it
from intransit.analysis.cycles import Cycles, ItemCycle, Ranking, Share
from intransit.analysis.standings import Changes, ItemChange, MatchupChange, Standing
from intransit.report import gather
from intransit.report.page import write_page
from intransit.report.wording import brief, cut_short, sentences, tell_facts
from tests.report.tables import SCORES, cyclic_answer, judged

NAMES = tuple(f"item {k}" for k in range(1, 5))
CYCLE = ItemCycle(NAMES[:3], 0.972, (0.99, 0.98, 0.975), (0.7, 0.6, 0.6), 2, "2025-02", (0.9,))
RANKING = Ranking(
    *("2025-04-30", NAMES, (), 6, 1, 1 / 6, 0.01),
    (Share("item 2", 0.5, 0.4, 0.6, 1.0), Share("item 1", 0.3, 0, 0.5, 0.9)),
    0.9,
)


def leaders_of(**strengths):
    """Return standings of items 1, 2, ... with these strengths, the strongest first."""
    order = sorted(strengths.items(), key=lambda one: -one[1])
    return [
        Standing(k, k, k, name.replace("_", " "), p, p - 0.1, p + 0.1, *[1500.0] * 3, 9.0, "")
        for k, (name, p) in enumerate(order, 1)
    ]


LEADERS = leaders_of(item_1=0.6, item_2=0.55, item_3=0.5, item_4=0.45)


def cycles_of(*found):
    """Return cycles as `Answer.cycles` does."""
    return Cycles("2025-04-30", 0.9, found, len(found), 0.03, ("2025-04-30",), "")


def changes_of(*sure):
    """Return changes of which these are sure."""
    items = tuple(ItemChange(n, 0.051, 0.01, 0.09, 0.99, n in sure) for n in NAMES)
    return Changes("2025-01-01", "2025-04-30", 0.9, 0.1, items, (), 0.1, 0.0, 0.2, "")


@pytest.fixture(scope="module")
def answer():
    """An answer to be judged by hand."""
    return cyclic_answer(SCORES, n_items=4, n_games=200)


def test_cycles_in_words(answer):
    """The verdict, the share with its interval, the gain, the surest cycle, the mixture."""
    judge = judged(answer, "cycles")
    assert judge.transitive.sentence.startswith("There are cycles: ")
    said = sentences(judge, cycles_of(CYCLE, CYCLE), RANKING, changes_of("item 3"), LEADERS)
    assert said == (
        "A single scale leaves 30 % of the lasting differences between items unexplained (90 % "
        "interval 20 to 41 %), and modelling them lowers the log loss of held-out games by 0.0120 "
        "± 0.0020 per game.",
        "The surest of 2 cycles: item 1 beats item 2 beats item 3 beats item 1 (probability 97 %, "
        "likely since 2025-02); by the estimates, the nearest ranking names the wrong favourite in "
        "17 % of pairs.",
        "In place of a best item there is a mixture that nothing beats: item 2 (50 %), item 1 "
        "(30 %) and smaller parts of others; from 2025-01-01 to 2025-04-30, one item clearly "
        "changed: item 3 (+5.1 percentage points in mean win chance).",
    )


def test_a_cycle_that_was_there_from_the_first_is_not_said_to_begin(answer):
    """The table begins then, and nobody knows what was before."""
    always = replace(cycles_of(CYCLE), times=("2025-02", "2025-03"))
    said = sentences(judged(answer, "cycles"), always, RANKING, None, LEADERS)[1]
    assert "likely since the beginning, 2025-02)" in said


def test_the_likeliest_cycle_is_said_to_be_no_more_than_that(answer):
    """A circle is sure, and no single one: the sentence says so."""
    judge = judged(answer, "cycles")
    said = sentences(judge, cycles_of(replace(CYCLE, probability=0.7)), RANKING, None, LEADERS)
    assert said[1].startswith(
        "There is very likely a cycle, but which one is uncertain; the likeliest: item 1 beats "
        "item 2 beats item 3 beats item 1 (probability 70 %"
    )


def test_cycles_without_one_that_is_sure(answer):
    """The test may find cycles where no single one is sure."""
    judge = judged(answer, "cycles", gain=-0.001)
    only = replace(RANKING, equilibrium=(Share("item 2", 0.98, 0.9, 1.0, 1.0),))
    said = sentences(judge, cycles_of(), only, None, LEADERS)
    assert "do not help to predict held-out games" in said[0]
    assert said[1].startswith("No single cycle is certain enough to be listed; by the estimates")
    assert said[2] == (
        "Even so one item is likely the best: item 2, with 98 % of the mixture that nothing beats "
        "(90 % interval 90 to 100 %); all games have the same time, so changes cannot be assessed."
    )
    sure = replace(only, equilibrium=(Share("item 2", 0.98, 0.96, 1.0, 1.0),))
    for ranking, said, title in (
        (sure, "Even so one item comes out best: item 2", "Still best"),
        (only, "Even so one item is likely the best: item 2", "Likely best"),
    ):
        told = (judge, cycles_of(), ranking, None, LEADERS)
        assert sentences(*told)[2].startswith(said)
        assert tell_facts(*told)[2].title == title
    assert sentences(judge, cycles_of(CYCLE), only, None, LEADERS)[1].startswith(
        "The only cycle listed: item 1 beats"
    )


def test_a_mixture_of_many_names_nobody(answer):
    """Where no item has much weight, the first few would mislead; where no pair is wrong, so."""
    many = tuple(Share(f"item {k}", 0.06, 0.0, 0.2, 0.5) for k in range(16))
    flat = replace(RANKING, equilibrium=many, n_upsets=0, wrong=0.0)
    said = sentences(judged(answer, "cycles"), cycles_of(), flat, None, LEADERS)
    assert said[1].endswith("names the wrong favourite in no pair.")
    assert said[2].startswith(
        "In place of a best item there is a mixture of many that nothing beats, none with a weight "
        "above 6 %;"
    )


def test_no_evidence_in_words(answer):
    """How much there may be, who leads, and that nothing changed."""
    judge = judged(answer, "no evidence", share=0.004, share_low=0.0, gain=0.0001)
    assert judge.transitive.sentence.startswith("No evidence of cycles: one ranking")
    said = sentences(judge, cycles_of(), RANKING, changes_of(), LEADERS)
    assert said == (
        "A single scale leaves 0.4 % of the lasting differences between items unexplained (90 % "
        "interval 0 to 41 %), and effects of pairs that last do not help to predict held-out "
        "games (gain in log loss +0.0001 ± 0.0020 per game).",
        "item 1 comes first, though not clearly, with a mean chance of 60 % against the others "
        "(90 % interval 50 to 70 %), ahead of item 2 with 55 %.",
        "From 2025-01-01 to 2025-04-30, no item clearly changed.",
    )
    nothing = judged(answer, "no evidence", share=0.0, share_low=0.0, share_high=0.0)
    told = sentences(nothing, cycles_of(), RANKING, changes_of(), LEADERS)[0]
    assert told.startswith("A single scale explains all of the lasting differences")


def test_matchups_that_changed_are_told_beside_items(answer):
    """Where who counters whom is reversed, nobody need become stronger."""
    judge = judged(answer, "no evidence")
    pairs = tuple(
        MatchupChange(f"item {k}", "item 9", 0.3 - 0.1 * k, 0.05, 0.5, 0.99, k < 2)
        for k in range(3)
    )
    for n, words in ((2, "matchups changed, most surely"), (1, "one matchup changed:")):
        changes = replace(changes_of(), matchups=pairs[2 - n :])
        told = sentences(judge, cycles_of(), RANKING, changes, LEADERS)[2]
        which = "item 0 against item 9 (+30.0" if n == 2 else "item 1 against item 9 (+20.0"
        assert told == (
            "From 2025-01-01 to 2025-04-30, no item clearly changed in strength; beyond strengths "
            f"{words} {which} percentage points)."
        )


def test_who_leads_is_said_as_surely_as_it_is_known(answer):
    """A lead beyond doubt, one that may be none, and none at all."""
    judge = judged(answer, "no evidence")
    for leaders, clear, words in (
        (LEADERS, True, "item 1 leads, with"),
        (LEADERS, False, "item 1 comes first, though not clearly, with"),
        (
            leaders_of(item_1=0.6, item_2=0.602, item_3=0.5),
            False,
            "Nobody leads clearly: item 2 and",
        ),
        (
            leaders_of(item_1=0.6, item_2=0.602, item_3=0.5),
            True,
            "item 2 leads, with a mean chance of 60.2 %",
        ),
    ):
        known = (judge, cycles_of(), RANKING, None, leaders)
        said = sentences(*known, clear=clear)[1]
        assert said.startswith(words)
        some = sentences(*known, clear=clear, among="Of some")[1]
        assert some.lower() == f"of some, {said}".lower()


def test_after_an_update_the_verdict_is_said_to_be_of_the_first_games(answer):
    """The test for cycles is not repeated: a page of all games must not pass it off as theirs."""
    for verdict in ("cycles", "no evidence", "too little data"):
        first = judged(answer, verdict, n_games=answer.n_games - 5)
        said = sentences(first, cycles_of(CYCLE), RANKING, None, LEADERS)[0]
        assert "The verdict is on the first 195 of 200 games" in said
        whole = sentences(judged(answer, verdict), cycles_of(CYCLE), RANKING, None, LEADERS)[0]
        assert "the first" not in whole


def test_too_little_data_in_words(answer):
    """How much more is needed, if that can be said."""
    judge = judged(answer, "too little data", detectable=0.42, n_games=200.0, n_pairs=6)
    assert judge.transitive.sentence.startswith("Too little data to tell")
    said = sentences(judge, cycles_of(), RANKING, changes_of(*NAMES), LEADERS)
    assert said[0] == (
        "There are 200 games between 6 pairs of items; about 1,300 such games are needed to "
        "detect cycles that make up a tenth of the differences, four times out of five."
    )
    assert "most surely item 1 (+5.1 percentage points in mean win chance), " in said[2]
    assert said[2].endswith("item 2 (+5.1) and item 3 (+5.1).")
    for n_series, words in (
        (
            200,
            "strengths differ too little, or pairs met too rarely, to tell lasting cycles from "
            "chance; cycles that come and go are not tested for.",
        ),
        (6, "to tell cycles from chance the same pairs must meet again."),
    ):
        none = judged(answer, "too little data", detectable=1.0, n_series=n_series, n_pairs=6)
        said = sentences(none, cycles_of(), RANKING, changes_of(), LEADERS)
        assert said[0].endswith(f"pairs of items; {words}")
    assert re.search(r"\d %", judge.transitive.sentence)


def test_unknown_numbers_are_left_out(answer):
    """What could not be measured is not told as a number."""
    for unknown in (None, math.nan):
        judge = judged(answer, "no evidence", gain=unknown, gain_error=unknown)
        said = sentences(judge, cycles_of(), RANKING, changes_of(), ())
        assert said[0].endswith(
            "(90 % interval 20 to 41 %), which a scale with another curve from strength to win "
            "chance explains as well."
        )
        assert said[1].startswith("Nobody leads")


def test_two_items_have_no_cycle():
    """Of two items it is said who beats whom."""
    answer = cyclic_answer(SCORES, n_items=2, n_games=50, cyclic=0.0)
    assert answer.transitive.sentence.startswith("No cycle is possible")
    said = sentences(answer, cycles_of(), RANKING, None, leaders_of(item_1=0.4, item_2=0.6))
    assert said[:2] == (
        "item 2 beats item 1 with a chance of 60 % (90 % interval 50 to 70 %).",
        "That rests on 50 games.",
    )
    assert said[2].startswith("All games have the same time")


def test_a_long_name_is_cut_in_a_sentence():
    """A name of 500 letters does not fill a sentence, and keeps its end, which may differ."""
    assert brief("x" * 500) == "x" * 26 + "…" + "x" * 13
    assert [cut_short(f"Code Llama Instruct ({n}B)", 16) for n in (7, 34)] == [
        "Code Llama…(7B)",
        "Code Llama…(34B)",
    ]
    assert brief("item 1") == "item 1"


@pytest.mark.parametrize(
    "name", ["Rock, paper", "A and B", "he beats him", "Cup (2026)", 'the "x"']
)
def test_a_name_that_reads_like_a_sentence_is_quoted(name):
    """Nobody takes a part of a name for a part of the sentence."""
    assert brief(name) == f"“{name}”"
    assert brief("Sandy beatsson") == "Sandy beatsson"


def test_what_is_listed_is_told_as_sure_as_it_is(answer):
    """A cycle that just misses the level does not round up to it; of three items there are two."""
    judge = judged(answer, "cycles")
    nearly = cycles_of(replace(CYCLE, probability=0.8991))
    said = sentences(judge, nearly, RANKING, None, LEADERS)[1]
    assert "but which one is uncertain" in said
    assert "(probability 89.9 %" in said
    few = replace(judge, names=NAMES[:3])
    said = sentences(few, nearly, RANKING, None, LEADERS)[1]
    assert said.startswith("The likelier of the two possible cycles: item 1 beats item 2")


def test_a_ranking_of_some_items_says_so(answer):
    """Where some items are left out, neither ranking nor mixture speaks of all."""
    some = replace(RANKING, order=RANKING.order[:3])
    said = sentences(judged(answer, "cycles"), cycles_of(CYCLE), some, None, LEADERS)
    assert "the nearest ranking of 3 of the 4 items names the wrong favourite" in said[1]
    assert "that nothing of the same items beats" in said[2]


def test_shares_that_cannot_be_told_are_not_told(answer):
    """Beside "not one scale" an interval from nothing on is no measurement."""
    judge = judged(answer, "not one scale", share=0.0, share_low=0.0, share_high=0.95)
    said = sentences(judge, cycles_of(), RANKING, None, LEADERS)[0]
    assert said.startswith("How much of the differences between items a single scale leaves")


def test_comparisons_that_close_no_circle_are_told():
    """A chain of items: no number of games would show a cycle."""
    games = it.Games.from_arrays(["a", "b", "c"] * 9, ["b", "c", "d"] * 9, [1, 0, 1] * 9)
    chain = it.fit(games, effective=20)
    said = sentences(chain, cycles_of(), RANKING, None, LEADERS)[0]
    assert said.endswith("the comparisons form no loop, so no cycle could show.")


def test_where_nobody_was_there_at_both_times_no_change_is_denied():
    """That nobody clearly changed is said of items that could be compared with themselves."""
    games = it.Games.from_arrays([*"acegi"], [*"bdfhj"], [1, 0, 1, 1, 0], [0, 10, 20, 30, 40])
    answer = it.fit(games, effective=10)
    assert answer.changes().note.endswith("or not between them. Nobody is left.")
    told = gather(answer).sentences[2]
    assert re.fullmatch(
        r"Nobody was compared about both \d+ and 40, so changes cannot be assessed\.", told
    )


def test_a_part_of_the_items_is_told_from_the_whole():
    """Two of four items are not a table of two, and who leads them need not lead all."""
    answer = cyclic_answer(n_items=4, verdict="no evidence")
    found = gather(answer.only(["item 1", "item 2"]))
    assert found.headline == answer.transitive.sentence
    assert found.sentences[0].endswith(" The verdict is on all 4 items.")
    assert found.sentences[1].startswith("Of the 2 items shown, ")
    assert found.sentences[2].endswith(" clearly changed among those shown.")
    three = gather(cyclic_answer(n_items=4).only(["item 1", "item 2", "item 3"]))
    assert "that nothing of the same items beats" in three.sentences[2]
    assert "nothing of the same items beats" in three.facts[2].detail


def test_that_one_scale_does_not_fit_is_said_with_how_often_chance_does_it(answer):
    """A false alarm stays possible; a share that may be nothing is uncertain wherever it stands."""
    judge = judged(answer, "not one scale")
    open_share = replace(judge.transitive, p_value=0.014, share=0.0, share_low=0.0, causes=())
    judge = replace(judge, transitive=open_share)
    assert "would occur in only 1 % of tables. No cycle is proven" in open_share.sentence
    assert "cycles that ended" in open_share.sentence
    assert "uncertain (90 % interval 0 to" in str(open_share)
    found = gather(judge)
    assert found.facts[2].value == "uncertain"
    assert "is uncertain (90 % interval 0 to" in found.sentences[0]
    luck = replace(open_share, causes=("luck",)).sentence
    assert luck.endswith("A possible reason: more luck in the games of some items.")


def test_no_change_is_denied_of_items_that_were_not_there_at_both_times(answer):
    """Where some were left out, it says of how many it was seen."""
    few = replace(changes_of(), items=changes_of().items[:2])
    said = sentences(judged(answer, "no evidence"), cycles_of(), RANKING, few, LEADERS)
    assert said[2].endswith("no item clearly changed, of the 2 compared about both.")


def test_where_nothing_drifts_chances_are_said_to_be_averages():
    """With four periods nothing drifts unless asked for: the page says what its numbers are."""
    first, second = [*"abc"] * 40, [*"bca"] * 40
    games = it.Games.from_arrays(first, second, [1, 0, 1, 1] * 30, [k // 30 for k in range(120)])
    answer = it.fit(games, effective=10)
    assert "averages over all times" in gather(answer).sentences[2]
    assert "an average over all times" in str(answer.probability("a", "b", 0))
    assert answer.changes().note == "Nothing drifts in this model, so no change can be seen."


def test_a_model_that_takes_results_for_certain_comes_with_a_caution():
    """Events in which everybody meets everybody are followed one by one, if strengths may move."""
    orders = ["abcdef", "fedcba"] * 8
    pairs = [
        (o[i], o[j], t) for t, o in enumerate(orders) for i in range(6) for j in range(i + 1, 6)
    ]
    first, second, times = zip(*pairs, strict=True)
    games = it.Games.from_arrays(first, second, [1] * len(pairs), times)
    told = gather(it.fit(games, effective=10)).sentences[2]
    assert told == "From 0 to 15, no item clearly changed."  # each time is known for one event
    most = games.only(np.flatnonzero(np.arange(len(games)) % 15))  # all but one pair
    told = gather(it.fit(most, effective=10)).sentences[2]
    assert "clearly changed" in told
    assert "takes nearly every result for certain" in told


def test_a_page_of_some_items_does_not_say_that_they_have_cycles():
    """The verdict is on all; those shown may be in none."""
    found = gather(cyclic_answer(n_items=4).only(["item 1", "item 2"]))
    assert "No single cycle of those shown" in found.sentences[1]
    assert "there are some" not in found.facts[1].detail


def test_chains_that_have_not_mixed_are_told_first(answer):
    """Of fewer than twenty effective draws an interval says little."""
    mixing = answer.posterior.mixing
    for worst, told in ((12.0, True), (80.0, False)):
        found = replace(mixing, effective=np.full_like(mixing.effective, worst))
        judge = judged(answer, "no evidence")
        judge = replace(judge, posterior=replace(judge.posterior, mixing=found))
        said = sentences(judge, cycles_of(), RANKING, None, LEADERS)[0]
        assert ("the worst pair has 12 effective draws" in said) == told


def test_the_detectable_share_is_told_where_there_is_one(answer):
    """Of more than 99.5 % nothing is said to be found four times out of five."""
    for detectable, told in ((0.999, False), (0.4, True)):
        page = write_page(gather(judged(answer, "too little data", detectable=detectable)))
        assert ("would be found four times out of five" in page) == told
