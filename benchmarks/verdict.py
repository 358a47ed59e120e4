"""How often the verdict is wrong: false alarms on transitive tables, and cycles that are missed.

python -m benchmarks.verdict            all
python -m benchmarks.verdict 0.1        a tenth of the tables
python -m benchmarks.verdict DATA       the real tables in that folder
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtr

import intransit as it
from benchmarks._common import print_table
from intransit.answers.encoding import Encoding
from intransit.answers.transitive import examine
from intransit.answers.verdict import FALSE_ALARMS, judge
from intransit.arrays import FloatArray

N_TABLES = 100  # of each of the first five kinds; of the others a quarter
DAYS = 365
NAMED = ("static", "drifting", "few games", "ties", "series")
OTHERS = (
    "sides",
    "another curve",
    "an order with few upsets",
    "more luck for some items",
    "sudden changes",
    "yearly waves, pairs in one season",
    "series in order, no times",
    "no times",
)
LARGE = ("more luck for some items",)  # of 12 items or more
SIZES = (8, 12, 20, 40)
REAL = {
    "magic, Modern": ("magic.csv.gz", {"format": "Modern"}),
    "magic, Legacy": ("magic.csv.gz", {"format": "Legacy"}),
    "magic, Pioneer": ("magic.csv.gz", {"format": "Pioneer"}),
    "magic, Vintage": ("magic.csv.gz", {"format": "Vintage"}),
    "rrps_bots": ("rrps_bots.csv.gz", {}),
    "pokemon_types": ("pokemon_types.csv.gz", {}),
    "soccer_agents": ("soccer_agents.csv.gz", {}),
    "football_intl": ("football_intl.csv.gz", {}),
    "mlb_retrosheet": ("mlb_retrosheet.csv.gz", {}),
    "llmfao, crowd": ("llmfao.csv.gz", {"judge": "crowd"}),
    "llmfao, gpt4": ("llmfao.csv.gz", {"judge": "gpt4"}),
}


def verdict(games: it.Games) -> str:
    return judge(examine(games, Encoding.of(games)), 0.0, None, None).verdict


def walk(rng: np.random.Generator, n: int, memory: float, width: int = 1) -> FloatArray:
    """Stationary walks of variance 1, a day each, (DAYS, n, width), mean 0 over items."""
    keep = np.exp(-1.0 / memory)
    out = rng.normal(size=(DAYS, n, width))
    for t in range(1, DAYS):
        out[t] = keep * out[t - 1] + np.sqrt(1 - keep**2) * out[t]
    return out - out.mean(axis=1, keepdims=True)


def ranked(rng: np.random.Generator, n: int, spread: float, memory: float) -> FloatArray:
    """Margins of a drifting ranking, (DAYS, n, n), root mean square `spread`."""
    scores = walk(rng, n, memory)[:, :, 0]
    X = scores[:, :, None] - scores[:, None, :]
    return X * spread / np.sqrt(np.mean(X**2) * n / (n - 1))


def cyclic(rng: np.random.Generator, n: int, spread: float, memory: float, kind: str) -> FloatArray:
    """Margins that no ranking explains: one drifting circle, or every pair on its own."""
    if kind == "a circle":
        walks = walk(rng, n, memory, 2)
        half = walks[:, :, None, 0] * walks[:, None, :, 1]
        X = half - half.swapaxes(1, 2)
    else:
        half = rng.normal(size=(n, n))
        X = half - half.T
        X = X - X.mean(axis=1, keepdims=True) + X.mean(axis=1)[None, :]
        X = np.broadcast_to(X, (DAYS, n, n))
    return X * spread / np.sqrt(np.mean(X**2) * n / (n - 1))


def play(
    rng: np.random.Generator,
    X: FloatArray,
    n_games: int,
    *,
    ties: float = 0.0,
    series: float = 0.0,
    side: float = 0.0,
    normal: bool = False,
    timed: bool = True,
    shuffled: bool = True,
) -> it.Games:
    """Games drawn from margins; `series` is what the games of one evening share."""
    n = X.shape[1]
    size = rng.integers(2, 8, n_games) if series else np.ones(n_games, dtype=np.int64)
    size = size[: int(np.searchsorted(np.cumsum(size), n_games)) + 1]
    m = len(size)
    day, first = np.sort(rng.integers(DAYS, size=m)), rng.integers(n, size=m)
    second = (first + rng.integers(1, n, size=m)) % n
    sides = rng.choice([-1.0, 1.0], m)
    margin = X[day, first, second] + series * rng.normal(size=m) + side * sides
    each = np.repeat(np.arange(m), size)
    cut = np.log1p(ties) - np.log1p(-ties)
    chance = ndtr if normal else expit
    luck = rng.random(len(each))
    win, loss = chance(margin[each] - cut), chance(-margin[each] - cut)
    outcomes = np.where(luck < win, 1.0, np.where(luck >= 1.0 - loss, 0.0, 0.5))
    order = rng.permutation(len(each)) if shuffled and not timed else np.arange(len(each))
    each, outcomes = each[order], outcomes[order]
    return it.Games.from_arrays(
        first[each].tolist(),
        second[each].tolist(),
        outcomes,
        day[each].astype(float) if timed else None,
        sides=sides[each] if side else None,
    )


def transitive(kind: str, seed: int) -> it.Games:
    """A table without cycles; sizes, spreads and speeds at random."""
    rng = np.random.default_rng([seed, NAMED.index(kind) if kind in NAMED else 9])
    n = int(rng.choice([4, 6, 10, 20, 40]))
    pairs = n * (n - 1) // 2
    spread, memory = float(rng.choice([0.5, 1.0, 2.0])), float(rng.choice([60.0, 200.0, 365.0]))
    a_pair = float(rng.choice([1, 2, 4] if kind == "few games" else [10, 30, 100]))
    n_games = int(np.clip(a_pair * pairs, 30, 40_000))
    if kind in ("static", "no times", "series in order, no times"):
        memory = 1e9
    if kind in LARGE:
        n = max(n, 12)
        n_games = int(np.clip(a_pair * n * (n - 1) // 2, 30, 40_000))
    X = ranked(rng, n, spread, memory)
    if kind == "an order with few upsets":
        X = np.log(9.0) * np.sign(ranked(rng, n, 1.0, 1e9))
    if kind == "more luck for some items":
        steep = rng.gamma(4.0, 0.25, size=n)
        X = X * 0.5 * (steep[:, None] + steep[None, :])
    if kind == "yearly waves, pairs in one season":
        return seasons(rng, n, spread, n_games)
    if kind == "sudden changes":
        for when in rng.integers(30, DAYS - 30, 4):
            jump = spread * rng.normal(size=n)
            X[when:] += jump[:, None] - jump[None, :]
    settings = {
        "ties": {"ties": float(rng.choice([0.1, 0.3, 0.5]))},
        "series": {"series": 1.0},
        "sides": {"side": 0.6},
        "another curve": {"normal": True},
        "no times": {"timed": False},
        "series in order, no times": {"timed": False, "series": 1.0, "shuffled": False},
    }
    return play(rng, X, n_games, **settings.get(kind, {}))


def seasons(rng: np.random.Generator, n: int, spread: float, n_games: int) -> it.Games:
    """Items that are strong at their own time of the year; each pair meets in one season only."""
    day, first = np.sort(rng.integers(DAYS, size=4 * n_games)), rng.integers(n, size=4 * n_games)
    second = (first + rng.integers(1, n, size=4 * n_games)) % n
    season = rng.integers(4, size=(n, n))
    season = np.triu(season) + np.triu(season, 1).T
    meet = season[first, second] == day // 92
    day, first, second = day[meet], first[meet], second[meet]
    own = rng.uniform(0, 2 * np.pi, n)
    wave = spread * np.sin(2 * np.pi * day[:, None] / DAYS + own)
    level = spread * rng.normal(size=n)
    x = (level + wave)[np.arange(len(day)), first] - (level + wave)[np.arange(len(day)), second]
    outcomes = (rng.random(len(day)) < expit(x)).astype(float)
    return it.Games.from_arrays(first.tolist(), second.tolist(), outcomes, day.astype(float))


def mixed(kind: str, n: int, spread: float, seed: int) -> it.Games:
    """A table with a tenth of its energy cyclic, 100 games a pair."""
    rng = np.random.default_rng([seed, n])
    X = ranked(rng, n, spread * np.sqrt(0.9), 365.0)
    X = X + cyclic(rng, n, spread * np.sqrt(0.1), 365.0, kind)
    return play(rng, X, 100 * n * (n - 1) // 2)


def simulated(scale: float) -> None:
    rows, alarms, total = [], 0, 0
    for kind in (*NAMED, *OTHERS):
        m = max(int(scale * N_TABLES / (1 if kind in NAMED else 4)), 2)
        found = [verdict(transitive(kind, seed)) for seed in range(m)]
        cycles = found.count("cycles")
        if kind in NAMED:
            alarms, total = alarms + cycles, total + m
        rows.append([kind, str(m), f"{cycles / m:.1%}", f"{found.count('no evidence') / m:.0%}"])
    print(f"Tables without cycles (to hold: 5 %; the test is set to {FALSE_ALARMS:.0%}):\n")
    print_table(["tables", "number", 'said "cycles"', 'said "no evidence"'], rows)
    print(f"The five kinds together: {alarms} of {total}, {alarms / total:.1%}.\n")
    rows = []
    m = max(int(scale * 40), 2)
    for kind in ("a circle", "every pair on its own"):
        for spread in (0.5, 1.0):
            found = [
                np.mean([verdict(mixed(kind, n, spread, seed)) == "cycles" for seed in range(m)])
                for n in SIZES
            ]
            rows.append([kind, f"{spread:g}", *(f"{share:.0%}" for share in found)])
    print(
        "A tenth of the energy cyclic, 100 games a pair over a year, strengths drifting (to hold: "
        f'90 %); share of {m} tables said to have "cycles", by number of items:\n'
    )
    print_table(["cyclic part", "root mean square margin", *map(str, SIZES)], rows)


def real(folder: Path) -> None:
    rows = []
    for name, (file, where) in REAL.items():
        games = it.read(folder / file, where=where)
        found = judge(examine(games, Encoding.of(games)), float(games.counts.sum()), None, None)
        rows.append(
            [
                name,
                found.verdict,
                f"{found.p_value:.2g}",
                f"{found.share:.0%} ({found.share_low:.0%} to {found.share_high:.0%})",
                f"{found.detectable:.0%}",
            ]
        )
    print_table(["table", "verdict", "p", "share that no ranking explains", "detectable"], rows)


def main() -> None:
    warnings.simplefilter("ignore", it.ConvergenceWarning)
    told = sys.argv[1] if len(sys.argv) > 1 else "1"
    if Path(told).is_dir():
        real(Path(told))
    else:
        simulated(float(told))


if __name__ == "__main__":
    main()
