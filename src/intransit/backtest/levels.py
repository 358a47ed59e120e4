"""Whether sizes of wins tell of strengths what the law of levels says they do.

By that law the odds of winning by more than any size grow alike with the difference of strengths,
at all times.  Where a rout is a matter of luck, or wins of a size mean something else than they
used to, strengths that are found from sizes are too near to each other, or too far apart.  What
counts is who wins: so scores are found from one half of the games, with sizes and without, and
forecast who wins in the other half; several times, as halves differ.  And among won games each
level must be about as common in the later half of the time as in the earlier, as strengths would be
found where only sizes change.
"""

import numpy as np

from intransit.analysis.transitivity import still_chances
from intransit.arrays import FloatArray
from intransit.backtest.result import log_losses
from intransit.data.games import Games
from intransit.inference.observations import Encoding
from intransit.model import Levels

# What these keep and leave out: `python -m benchmarks.levels`.
WORSE = 1.0  # standard errors of the log loss by which forecasts with sizes must be worse
UNSTEADY = 3.0  # standard errors between how common a level is early and late
MUCH = 0.25  # and of its share: in large tables any small difference is clear
FEWEST_ROWS, MOST_ROWS = 50, 40_000  # fewer tell nothing; more cost time and tell no more
# Into halves: one split differs from the next by three of its standard errors (Magic; a trial).
SPLITS = 4


def levels_for(games: Games, *, rng: int = 0) -> Levels:
    """Return as many levels of victory as forecast who wins no worse, of games with margins."""
    if len(games) < FEWEST_ROWS:
        return Levels()
    splits, draw = [], np.random.default_rng(rng)
    for _ in range(SPLITS):
        rows = draw.permutation(len(games))[:MOST_ROWS]
        splits.append([games.only(np.sort(rows[k::2])) for k in range(2)])
    plain = [_losses(games, 1, halves, rng) for halves in splits]
    for most in range(Levels().most, 1, -1):
        worse = [
            _mean_and_error(_losses(games, most, halves, rng) - known, halves)
            for halves, known in zip(splits, plain, strict=True)
        ]
        means, errors = np.transpose(worse)
        error = np.sqrt(np.mean(errors**2) + np.var(means, ddof=1) / SPLITS)
        if means.mean() <= WORSE * error and _is_steady(games, most):
            return Levels(most)
    return Levels(1)


def _losses(games: Games, most: int, halves: list[Games], rng: int) -> FloatArray:  # (n_rows,)
    """Return log losses of who wins in each half, a tie as half a win, by scores of the other."""
    encoding, losses = Encoding.of(games, law=Levels(most)), []
    for half, other in (halves, halves[::-1]):
        losses.append(log_losses(still_chances(other, encoding, half, rng=rng), half.outcomes))
    return np.concatenate(losses)


def _mean_and_error(values: FloatArray, halves: list[Games]) -> tuple[float, float]:
    counts = np.concatenate([half.counts for half in halves])
    mean = float(np.average(values, weights=counts))
    return mean, float(np.sqrt(np.sum((counts * (values - mean)) ** 2)) / counts.sum())


def _is_steady(games: Games, most: int) -> bool:
    """Return whether each level is about as common among won games late as it is early."""
    level, counts = Encoding.of(games, law=Levels(most)).outcomes(games), games.counts
    late = games.times > np.median(games.times)
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
