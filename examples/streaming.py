"""Comparisons that keep coming: a trajectory updated week by week, and a filter game by game."""

import numpy as np

import intransit as it

N, WEEKS, A_WEEK, DRIFT = 10, 20, 60, 0.15
rng = np.random.default_rng(0)
skill = rng.normal(size=N) + DRIFT * np.cumsum(rng.normal(size=(WEEKS, N)), axis=0)


def play(week):
    """Return the games of one week, as columns."""
    first = rng.integers(N, size=A_WEEK)
    second = (first + rng.integers(1, N, size=A_WEEK)) % N
    chance = 1 / (1 + np.exp(skill[week, second] - skill[week, first]))
    return first, second, (rng.random(A_WEEK) < chance).astype(float), np.full(A_WEEK, week)


past = [np.concatenate(column) for column in zip(*map(play, range(15)), strict=True)]
path = it.smooth(it.Timeline.from_arrays(*past), n_factors=0, loss="logistic", rng=0)
scales = path.scales  # estimated once; both ways below keep them
live = it.Filter(drift_scale=scales.score_drift_scale, prior_scale=scales.score_prior_scale, rng=0)
live.observe_many(*past)
print(f"estimated drift {scales.score_drift_scale:.2f} a week, true {DRIFT}")
print("mean log probability of each week's results, predicted before it:")
for week in range(15, WEEKS):
    games = first, second, won, _ = play(week)
    said = [path.probability(first, second, at=week), live.forecast_many(*games)]
    smoothed, filtered = (np.log(np.where(won == 1, p, 1 - p)).mean() for p in said)
    print(f"week {week}: trajectory {smoothed:.3f}, filter {filtered:.3f}")
    path = path.update(it.Timeline.from_arrays(*games))
print(path.status)
print(live.status)
