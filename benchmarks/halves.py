"""Whether cycles listed on the first half of a table hold in the second half, as often as said.

python -m benchmarks.halves DATA        the Magic formats in that folder

Every listed cycle is asked again of the games of the second half.  Whether an edge shows there the
way it was said depends on luck too, so what is seen is compared with what the first half's own
posterior expects: of each draw, carried forward to the games' own times, the chance that the
majority of as many games falls that way.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import binom

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import FloatArray

FORMATS = ("Modern", "Legacy", "Pioneer", "Vintage")
FEWEST = 10  # games of a pair in the second half; edges with fewer say nothing
LEVELS = (0.9, 0.8)


def main() -> None:
    warnings.simplefilter("ignore", it.ConvergenceWarning)
    folder = Path(sys.argv[1])
    rows = []
    for name in FORMATS:
        games = it.read(folder / "magic.csv.gz", where={"format": name})
        middle = float(np.median(np.repeat(games.times, games.counts.astype(int))))
        early, late = games.between(None, middle), games.between(middle, None)
        answer = it.fit(early)
        rows += [judged(name, answer, late, level) for level in LEVELS]
    print(
        f"Edges with at least {FEWEST} games in the second half; expected from the first half's "
        "posterior, its own uncertainty and the luck of the games included:\n"
    )
    print_table(
        ["format", "listed at", "cycles", "mean probability", "edges tried", "held",
         "expected", "cycles tried whole", "held", "expected"],
        rows,
    )  # fmt: skip


def judged(name: str, answer: it.Answer, late: it.Games, level: float) -> list[str]:
    """Return one row of the table."""
    found = answer.cycles(level=level, most=10_000)
    edges = {
        (a, b)
        for cycle in found
        for a, b in zip(cycle.items, (*cycle.items[1:], cycle.items[0]), strict=True)
    }
    tried = {}
    for a, b in sorted(edges):
        tried[a, b] = ask(answer, late, a, b)
    single = [told for told in tried.values() if told is not None]
    whole = []
    for cycle in found:
        told = [
            tried[a, b]
            for a, b in zip(cycle.items, (*cycle.items[1:], cycle.items[0]), strict=True)
        ]
        if all(one is not None for one in told):
            held = all(one[0] for one in told)
            whole.append((held, np.prod([one[1] for one in told], axis=0)))
    mean = np.mean([cycle.probability for cycle in found]) if len(found) else np.nan
    return [
        name, f"{level:g}", str(found.n_found), f"{mean:.2f}", *tally(single), *tally(whole),
    ]  # fmt: skip


def ask(answer: it.Answer, late: it.Games, a: str, b: str) -> tuple[bool, FloatArray] | None:
    """Return whether most games of the second half went to a, and the chance of it in each draw."""
    if not {a, b} <= set(late.names):
        return None
    i, j = late.names.index(a), late.names.index(b)
    there = ((late.first == i) & (late.second == j)) | ((late.first == j) & (late.second == i))
    games = late.only(there)
    n = int(games.counts.sum())
    if n < FEWEST:
        return None
    won = np.where(games.first == i, games.outcomes, 1.0 - games.outcomes)
    wins = float(games.counts @ won)
    when = float(np.average(games.times, weights=games.counts))
    pair = np.array([answer.number(a)]), np.array([answer.number(b)])
    chance = answer.posterior.chances(*pair, np.array([when]))[:, 0]
    above = binom.sf(np.floor(n / 2), n, chance)
    if n % 2 == 0:  # an even split counts as half
        above += 0.5 * binom.pmf(n // 2, n, chance)
    return wins > n / 2, above


def tally(told: list[tuple[bool, FloatArray]]) -> list[str]:
    """Return how many were tried, what share held, and what share was expected to."""
    if not told:
        return ["0", "", ""]
    held = np.mean([one[0] for one in told])
    expected = np.mean([one[1] for one in told], axis=0)
    return [str(len(told)), f"{held:.0%}", f"{expected.mean():.0%} ± {spread(told):.0%}"]


def spread(told: list[tuple[bool, FloatArray]]) -> float:
    """Return how far the share may be from what is expected: by luck, and by what is not known."""
    chances = np.array([one[1] for one in told])
    luck = np.mean(chances * (1 - chances)) / len(told)
    return float(np.sqrt(luck + np.var(chances.mean(axis=0))))


if __name__ == "__main__":
    main()
