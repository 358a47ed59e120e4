"""Whether sizes of wins, and ties, tell of strengths what the law of levels says they do.

By that law the odds of winning by more than any size grow alike with the difference of strengths,
at all times.  Where a rout is a matter of luck, or wins of a size mean something else than they
used to, strengths that are found from sizes are too near to each other, or too far apart.  So
scores are found from one half of the games, and the other half is asked how fast the odds of each
level grow with them; errors of scores make all of these slower alike.  And among won games each
level must be about as common in the later half of the time as in the earlier.
"""

import numpy as np
from scipy.special import expit

from intransit.analysis.transitivity import still_margins
from intransit.arrays import BoolArray, FloatArray
from intransit.data.games import Games
from intransit.inference.observations import Encoding
from intransit.model import Levels

UNLIKE = 2.0  # standard errors between how fast odds grow, beyond which levels are not used
UNSTEADY = 3.0  # likewise between how common a level is early and late
FEWEST_ROWS, MOST_ROWS = 50, 200_000
STEPS = 30  # of Newton's method for two numbers, at most
LONGEST_STEP = 2.0
SMALL = 1e-8


def levels_for(games: Games, *, rng: int = 0) -> Levels:
    """Return as many levels of victory as agree with who wins, of games with margins."""
    if len(games) < FEWEST_ROWS:
        return Levels()
    rows = np.random.default_rng(rng).permutation(len(games))[:MOST_ROWS]
    halves = [games.only(np.sort(rows[k::2])) for k in range(2)]
    plain = Encoding.of(games, law=Levels(1))
    margins = np.concatenate(
        [still_margins(halves[1 - k], plain, halves[k], rng=rng) for k in range(2)]
    )
    counts, times = (
        np.concatenate([getattr(half, of) for half in halves]) for of in ("counts", "times")
    )
    late = times > np.median(times)
    for most in range(Levels().most, 1, -1):
        encoding = Encoding.of(games, law=Levels(most))
        level = np.concatenate([encoding.outcomes(half) for half in halves])
        if _agree(margins, level, counts) and _is_steady(level, counts, late):
            return Levels(most)
    return Levels(1)


def _agree(margins: FloatArray, level: FloatArray, counts: FloatArray) -> bool:
    """Return whether the odds of every level grow with margins as fast as those of winning."""
    slope, pulls = _slope(margins, level, counts, 1)
    for least in range(2, int(np.abs(level).max()) + 1):
        other, its_pulls = _slope(margins, level, counts, least)
        if abs(other - slope) > UNLIKE * np.sqrt(counts @ (its_pulls - pulls) ** 2):
            return False
    return True


def _is_steady(level: FloatArray, counts: FloatArray, late: BoolArray) -> bool:
    """Return whether each level is as common among won games late as it is early."""
    parts = [(level != 0.0) & part for part in (late, ~late)]
    n = np.array([counts[part].sum() for part in parts])
    if not n.all():
        return True
    for least in range(2, int(np.abs(level).max()) + 1):
        reached = np.array([counts[part] @ (np.abs(level[part]) >= least) for part in parts])
        share = reached.sum() / n.sum()
        doubt = np.sqrt(share * (1.0 - share) * np.sum(1.0 / n))
        if abs(np.subtract(*(reached / n))) > UNSTEADY * doubt:
            return False
    return True


def _slope(
    margins: FloatArray, level: FloatArray, counts: FloatArray, least: int
) -> tuple[float, FloatArray]:
    """Return how fast the odds of a level, or a clearer one, grow, and how each game pulls at that.

    Either item may reach the level: the second meets the first at minus the margin.
    """
    z: FloatArray = np.zeros(2)
    inverse: FloatArray = np.eye(2)
    pulls: FloatArray = np.zeros((2, len(level)))
    for _ in range(STEPS):
        pulls = np.zeros((2, len(level)))
        hessian: FloatArray = SMALL * np.eye(2)
        for sign in (1.0, -1.0):
            x = np.stack([sign * margins, -np.ones(len(level))])
            chance = expit(z @ x)
            pulls += x * ((sign * level >= least) - chance)
            hessian += (x * counts * chance * (1.0 - chance)) @ x.T
        inverse = np.asarray(np.linalg.inv(hessian))
        step = np.clip(inverse @ (pulls @ counts), -LONGEST_STEP, LONGEST_STEP)
        z += step
        if np.abs(step).max() < SMALL:
            break
    return float(z[0]), np.asarray(inverse[0] @ pulls)
