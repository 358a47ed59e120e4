"""Many fits at once: the same numbers however many processes there are."""

import numpy as np

import intransit as it
from intransit.backtest import backtest
from intransit.inference.sampling import Effort

FEW = Effort(effective=1.0, seconds=60.0, most_draws=40)  # ends by what it wants, not by the clock


def games(n=360):
    rng = np.random.default_rng(0)
    i = rng.integers(8, size=n)
    j = (i + 1 + rng.integers(7, size=n)) % 8
    won = (rng.random(n) < 1.0 / (1.0 + np.exp(0.5 * (i - j)))).astype(float)
    where = np.where(np.arange(n) % 2, "clay", "grass")
    return it.Games.from_arrays(
        [f"p{k}" for k in i], [f"p{k}" for k in j], won, np.arange(n) // 4, by={"surface": where}
    )


def test_groups_are_fitted_alike_one_by_one_and_at_once():
    settings = {"model": it.Scores(), "effective": 1.0, "seconds": 60.0}
    said = []
    one = it.fit_each(games(), "surface", **settings)
    two = it.fit_each(games(), "surface", jobs=2, report=said.append, **settings)
    assert list(one) == list(two) == ["clay", "grass"]
    for value in one:
        np.testing.assert_array_equal(
            one[value].posterior.draws.states, two[value].posterior.draws.states
        )
    assert said[-1].endswith("2 of 2")


def test_a_backtest_forecasts_alike_in_one_process_and_in_two():
    ladder, table = ["static scores"], games()
    found = [
        backtest(table, every=6.0, refit=2, ladder=ladder, effort=FEW, jobs=jobs).forecasts
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*(one.probabilities[ladder[0]] for one in found))
    assert found[0].blocks.max() >= 2
