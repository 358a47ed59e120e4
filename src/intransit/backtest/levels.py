"""Whether sizes of wins tell of strengths what the law of levels says they do.

By that law the odds of winning by more than any size grow alike with the difference of strengths,
at all times.  Where a rout is a matter of luck, or wins of a size mean something else than they
used to, strengths that are found from sizes are too near to each other, or too far apart.  What
counts is who wins: so scores are found from one half of the games, with sizes and without, and
forecast who wins in the other half.  And among won games each level must be about as common in the
later half of the time as in the earlier, as strengths would be found where only sizes change.
"""

import numpy as np

from intransit.analysis.transitivity import still_chances
from intransit.arrays import BoolArray, FloatArray
from intransit.backtest.result import log_losses
from intransit.data.games import Games
from intransit.inference.observations import Encoding
from intransit.model import Levels

# What these keep and leave out: `python -m benchmarks.levels`.
WORSE = 1.0  # standard errors of the log loss by which forecasts with sizes must be worse
UNSTEADY = 3.0  # standard errors between how common a level is early and late
MUCH = 0.25  # and of its share: in large tables any small difference is clear
FEWEST_ROWS, MOST_ROWS = 50, 100_000  # fewer tell nothing; more cost time and tell no more


def levels_for(games: Games, *, rng: int = 0) -> Levels:
    """Return as many levels of victory as forecast who wins no worse, of games with margins."""
    if len(games) < FEWEST_ROWS:
        return Levels()
    rows = np.random.default_rng(rng).permutation(len(games))[:MOST_ROWS]
    halves = [games.only(np.sort(rows[k::2])) for k in range(2)]
    counts, times = (
        np.concatenate([getattr(half, of) for half in halves]) for of in ("counts", "times")
    )
    late = times > np.median(times)
    plain = _losses(games, 1, halves, rng)
    for most in range(Levels().most, 1, -1):
        worse = _losses(games, most, halves, rng) - plain
        error = np.sqrt(counts @ (worse - np.average(worse, weights=counts)) ** 2)
        encoding = Encoding.of(games, law=Levels(most))
        level = np.concatenate([encoding.outcomes(half) for half in halves])
        if counts @ worse <= WORSE * error and _is_steady(level, counts, late):
            return Levels(most)
    return Levels(1)


def _losses(games: Games, most: int, halves: list[Games], rng: int) -> FloatArray:  # (n_rows,)
    """Return log losses of who wins in each half, a tie as half a win, by scores of the other."""
    encoding, losses = Encoding.of(games, law=Levels(most)), []
    for half, other in (halves, halves[::-1]):
        losses.append(log_losses(still_chances(other, encoding, half, rng=rng), half.outcomes))
    return np.concatenate(losses)


def _is_steady(level: FloatArray, counts: FloatArray, late: BoolArray) -> bool:
    """Return whether each level is about as common among won games late as it is early."""
    parts = [(level != 0.0) & part for part in (late, ~late)]
    n = np.array([counts[part].sum() for part in parts])
    if not n.all():
        return True
    for least in range(2, int(np.abs(level).max()) + 1):
        reached = np.array([counts[part] @ (np.abs(level[part]) >= least) for part in parts])
        share = reached.sum() / n.sum()
        doubt = np.sqrt(share * (1.0 - share) * np.sum(1.0 / n))
        if abs(np.subtract(*(reached / n))) > max(UNSTEADY * doubt, MUCH * share):
            return False
    return True
