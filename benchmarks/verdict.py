"""How often the verdict is wrong: false alarms on transitive tables, and cycles that are missed.

python -m benchmarks.verdict             all, on seeds that nobody looks at while building
python -m benchmarks.verdict 0.1         a tenth of the tables, on the seeds for building
python -m benchmarks.verdict 1 orders    strict orders only; also: scales, power
python -m benchmarks.verdict DATA        the real tables in that folder
"""

import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtr

import intransit as it
from benchmarks._common import print_table, seeds_for
from intransit.analysis.transitivity import FALSE_ALARMS, discount, examine, likeness
from intransit.analysis.verdict import DOUBTED, judge
from intransit.arrays import FloatArray
from intransit.inference.observations import Encoding
from intransit.kernels import widest_cycle

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
    "many items, three games each",
)
LARGE = ("more luck for some items",)  # of 12 items or more
SIZES = {8: 12, 12: 12, 20: 6, 40: 2}  # tables with a cyclic part, by number of items
KEPT, BUILDING = range(40_000, 40_100), range(900, 940)
N_CIRCLES = 100  # tables of each kind of circle
SECONDS = 120.0  # of drawing, at most: more than is needed unless the machine is busy
WORKERS = 2
ORDER_SIZES = (5, 8, 12, 20, 50)
ORDERS = (
    "every game listed twice",
    "more luck for some items",
    "draw-prone items",
    "home worth by team, hosts uneven",
    "two tastes, 30,000 votes",
    "two tastes, alike",
    "exact probabilities",
    "one chance for all pairs: 0.6",
    "one chance for all pairs: 0.8",
    "evenings in turns, in the order of rows",
    "new rosters each season, few pairs",
    "a clipped linear curve",
    "games listed one to four times, by day",
    "win rates in whole per cent",
)
SHARES = ("exact probabilities", "win rates in whole per cent")
CIRCLES = {
    "three classes of nine, 0.6, 20 games a pair": (9, 0.6, 20),
    "three classes of nine, 0.6, 100 games a pair": (9, 0.6, 100),
    "three classes of nine, 0.7, 20 games a pair": (9, 0.7, 20),
    "rock, paper, scissors, 0.6, 50 games a pair": (3, 0.6, 50),
    "rock, paper, scissors, 0.6, 150 games a pair": (3, 0.6, 150),
    "rock, paper, scissors, 0.7, 50 games a pair": (3, 0.7, 50),
}
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


def verdict(games: it.Games, seed: int = 0) -> str:
    """The verdict of `fit`; its draws are needed only where one scale is in doubt."""
    encoding = Encoding.of(games)
    evidence = examine(discount(games, encoding, likeness(games, encoding)), encoding)
    if evidence.p_value >= DOUBTED:
        return judge(evidence, 0.0).verdict
    return it.fit(games, seconds=SECONDS, rng=seed).transitive.verdict


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
    if kind == "many items, three games each":
        n, memory = int(rng.choice([60, 120, 200])), 1e9
        n_games = 3 * n
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


def order(kind: str, n: int, drifting: bool, seed: int) -> it.Games:
    """A table of a strict order at every time, which no single scale explains."""
    rng = np.random.default_rng([seed, ORDERS.index(kind), n, drifting])
    m = min(int(rng.choice([20, 60])) * n * (n - 1) // 2, 30_000)
    if kind == "two tastes, 30,000 votes":
        m = 30_000
    first = rng.integers(n, size=m)
    second = (first + rng.integers(1, n, size=m)) % n
    day = np.sort(rng.integers(DAYS, size=m))
    scores = walk(rng, n, 200.0 if drifting else 1e9)[:, :, 0]
    score = scores[day, first] - scores[day, second]
    times = day.astype(float) if drifting else None
    sides = None
    if kind == "draw-prone items":
        prone = 1.5 * rng.gamma(1.0, 1.0, size=n)
        cut, luck = 0.5 * (prone[first] + prone[second]), rng.random(m)
        tie = (luck >= expit(score - cut)) & (luck < 1.0 - expit(-score - cut))
        return it.Games.from_arrays(
            first, second, np.where(tie, 0.5, luck < expit(score - cut)), times
        )
    if kind in SHARES:
        return of_shares(rng, kind, scores[0])
    if kind == "new rosters each season, few pairs":
        near = (first + rng.choice([-2, -1, 1, 2], m)) % n
        second = np.where(near == first, (first + 1) % n, near)
        rosters, season = rng.normal(size=(4, n)), day * 4 // DAYS
        score, times = rosters[season, first] - rosters[season, second], day.astype(float)
    if kind == "evenings in turns, in the order of rows":
        each = np.repeat(np.arange(m), rng.integers(2, 8, m))[:m]
        first, second, times = first[each], second[each], None
        score = (score + rng.normal(size=m))[each]
    if kind == "home worth by team, hosts uneven":
        worth, often = 0.3 + 0.6 * rng.normal(size=n), np.triu(rng.beta(0.5, 0.5, size=(n, n)))
        low, high = np.minimum(first, second), np.maximum(first, second)
        at_first = np.where(rng.random(m) < often[low, high], low, high) == first
        sides = np.where(at_first, 1.0, -1.0)
        score = score + np.where(at_first, worth[first], -worth[second])
    if kind == "more luck for some items":
        steep = rng.gamma(2.0, 0.75, size=n)
        score = score * 0.5 * (steep[first] + steep[second])
    chance = expit(score)
    if kind.startswith("two tastes"):
        chance = of_two_tastes(rng, scores, drifting, kind)[day, first, second]
    elif kind.startswith("one chance"):
        above = float(kind.rsplit(maxsplit=1)[-1])
        chance = np.where(score > 0.0, above, 1.0 - above)
    elif kind == "a clipped linear curve":
        chance = np.clip(0.5 + 0.35 * score, 0.03, 0.97)
    won = (rng.random(m) < chance).astype(float)
    if "listed" in kind:
        days = None if kind == "every game listed twice" else day * 1.0
        return listed_again(rng, first, second, won, days)
    return it.Games.from_arrays(first, second, won, times, sides=sides)


def of_two_tastes(
    rng: np.random.Generator, scores: FloatArray, drifting: bool, kind: str
) -> FloatArray:  # (DAYS, n, n)
    """Chances where half of the judges go by other scores: an order, or drawn again until it is.

    Independent tastes of many items hardly ever are an order, so the second one comes nearer to
    the first with every try.
    """
    n = scores.shape[1]
    near = 0.5 if kind.endswith("alike") else 0.0
    while True:
        again = walk(rng, n, 200.0 if drifting else 1e9)[:, :, 0]
        other = near * scores + np.sqrt(1.0 - near**2) * again
        halves = [expit(1.5 * (s[:, :, None] - s[:, None, :])) for s in (scores, other)]
        chance = 0.5 * (halves[0] + halves[1])
        if widest_cycle(chance[-1]) <= 0.5:
            return np.asarray(chance)
        near = min(near + 0.02, 0.98)


def of_shares(rng: np.random.Generator, kind: str, scores: FloatArray) -> it.Games:
    """One row a pair: its chance, exact or nearly, or a win rate of 10,000 games in per cent."""
    i, j = np.triu_indices(len(scores), 1)
    chance = expit(scores[i] - scores[j])
    if kind == "exact probabilities":
        near = rng.choice([0.0, 0.01]) * rng.normal(size=len(i))
        return it.Games.from_arrays(i, j, np.clip(chance + near, 0.0, 1.0))
    rates = np.round(rng.binomial(10_000, chance) / 10_000, 2)
    return it.Games.from_arrays(i, j, rates, counts=np.full(len(i), 1e4))


def listed_again(
    rng: np.random.Generator,
    first: FloatArray,
    second: FloatArray,
    won: FloatArray,
    days: FloatArray | None,
) -> it.Games:
    """Games that a table tells more than once.

    With days, a quarter of them, one to four times each.  Without, in two blocks, or from both
    sides, read as a file.
    """
    if days is not None:
        some = np.sort(rng.choice(len(won), len(won) // 4, replace=False))
        rows = np.repeat(some, rng.integers(1, 5, len(some)))
        return it.Games.from_arrays(first[rows], second[rows], won[rows], days[rows])
    lines = [f"t{a},t{b},{w:g}" for a, b, w in zip(first, second, won, strict=True)]
    if rng.random() < 0.5:
        again = lines
    else:
        again = [f"t{b},t{a},{1 - w:g}" for a, b, w in zip(first, second, won, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "games.csv"
        place.write_text("\n".join(["first,second,outcome", *lines, *again]) + "\n")
        return it.read(place)


def round_robin(kind: str, seed: int) -> it.Games:
    """Nine items in three classes, or rock, paper, scissors: as many games of every pair."""
    n, chance, a_pair = CIRCLES[kind]
    rng = np.random.default_rng([seed, n, a_pair])
    i, j = np.triu_indices(n, 1)
    ahead = (j - i) % 3
    chances = np.where(ahead == 0, 0.5, np.where(ahead == 1, chance, 1.0 - chance))
    each = np.repeat(np.arange(len(i)), a_pair)
    won = (rng.random(len(each)) < chances[each]).astype(float)
    return it.Games.from_arrays(i[each], j[each], won)


def told(task: tuple[str, str, int, bool, float, int]) -> str:
    """The verdict on one table."""
    warnings.simplefilter("ignore", it.ConvergenceWarning)
    part, kind, n, drifting, spread, seed = task
    if part == "orders":
        return verdict(order(kind, n, drifting, seed), seed)
    if part == "scales":
        return verdict(transitive(kind, seed), seed)
    if part == "circles":
        return verdict(round_robin(kind, seed), seed)
    return verdict(mixed(kind, n, spread, seed), seed)


def of_all(tasks: list[tuple[str, str, int, bool, float, int]]) -> Counter[str]:
    with ProcessPoolExecutor(WORKERS) as pool:
        return Counter(pool.map(told, tasks))


def shares(found: Counter[str]) -> list[str]:
    total = found.total()
    return [f"{found[word] / total:.0%}" for word in ("cycles", "not one scale", "no evidence")]


def orders(scale: float) -> None:
    """Strict orders that no single scale explains, by kind and number of items."""
    sizes = {
        n: seeds_for(scale, KEPT[: 2 if n == max(ORDER_SIZES) else 4], BUILDING)
        for n in ORDER_SIZES
    }
    tasks = [
        ("orders", kind, n, drifting, 0.0, seed)
        for seed in sizes[min(sizes)]
        for n in ORDER_SIZES
        if seed in sizes[n]
        for drifting in (False, True)
        for kind in ORDERS
    ]
    found: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    with ProcessPoolExecutor(WORKERS) as pool:
        for task, word in zip(tasks, pool.map(told, tasks), strict=True):
            found[task[1], task[2]][word] += 1
            print(*task[1:4], task[5], word, sep=" | ", file=sys.stderr, flush=True)
    rows = []
    for kind in ORDERS:
        each = [found[kind, n] for n in ORDER_SIZES]
        by_size = [f"{one['cycles']} of {one.total()}" for one in each]
        rows.append([kind, *by_size, *shares(sum(each, Counter()))])
    print(
        "Strict orders that no single scale explains, half of the tables drifting (to hold: at "
        'most 5 % of a kind said to have "cycles"):\n'
    )
    header = ["truth", *(f"cycles, {n} items" for n in ORDER_SIZES)]
    print_table([*header, "cycles", "not one scale", "no evidence"], rows)


def scales(scale: float) -> None:
    """Tables of one scale: nothing is to be found."""
    rows, alarms, total = [], 0, 0
    for kind in (*NAMED, *OTHERS):
        m = max(int(scale * N_TABLES / (1 if kind in NAMED else 4)), 2)
        begin = 0 if scale >= 1.0 else BUILDING[0]
        found = of_all([("scales", kind, 0, False, 0.0, seed) for seed in range(begin, begin + m)])
        if kind in NAMED:
            alarms, total = alarms + found["cycles"] + found["not one scale"], total + m
        rows.append([kind, str(m), *shares(found)])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        f"Tables of one scale (to hold: 5 %; the test of one scale is set to {FALSE_ALARMS:.0%}):\n"
    )
    print_table(["tables", "number", "cycles", "not one scale", "no evidence"], rows)
    print(f"The five kinds together, either said: {alarms} of {total}, {alarms / total:.1%}.\n")


def power(scale: float) -> None:
    """How often circles are found, and how often anything beyond one scale is."""
    m = max(int(scale * N_CIRCLES), 2)
    seeds = KEPT[:m] if scale >= 1.0 else BUILDING[:m]
    rows = [
        [kind, *shares(of_all([("circles", kind, 0, False, 0.0, seed) for seed in seeds]))]
        for kind in CIRCLES
    ]
    print(f"Circles of equal steps, {len(seeds)} tables each:\n")
    print_table(["truth", "cycles", "not one scale", "no evidence"], rows)
    rows = []
    for kind in ("a circle", "every pair on its own"):
        for spread in (0.5, 1.0):
            cells = []
            for n, most in SIZES.items():
                m = max(int(scale * most), 2)
                found = of_all([("mixed", kind, n, True, spread, seed) for seed in seeds[:m]])
                either = found["cycles"] + found["not one scale"]
                cells.append(f"{found['cycles'] / m:.0%}, {either / m:.0%}")
            rows.append([kind, f"{spread:g}", *cells])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        "A tenth of the energy cyclic, 100 games a pair over a year, strengths drifting (to hold: "
        f"90 % found by the test of one scale); share of {', '.join(map(str, SIZES.values()))} "
        'tables said to have "cycles", and share said to have them or to be not one scale, by '
        "number of items:\n"
    )
    print_table(["cyclic part", "root mean square margin", *map(str, SIZES)], rows)


def real(folder: Path) -> None:
    rows = []
    for name, (file, where) in REAL.items():
        games = it.read(folder / file, where=where)
        found = it.fit(games, seconds=3 * SECONDS).transitive
        cycle = found.cycle
        rows.append(
            [
                name,
                found.verdict,
                f"{found.p_value:.2g}",
                "" if cycle is None else f"{cycle.probability:.1%}",
                "" if cycle is None else f"{cycle.by_noise:.2f}",
                "" if cycle is None else f"{cycle.by_results:.2g}",
                f"{found.share:.0%} ({found.share_low:.0%} to {found.share_high:.0%})",
                f"{found.detectable:.0%}",
            ]
        )
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    header = ["table", "verdict", "p of one scale", "cycle", "by noise", "by results"]
    print_table([*header, "share that no scale explains", "detectable"], rows)


def main() -> None:
    warnings.simplefilter("ignore", it.ConvergenceWarning)
    told = sys.argv[1] if len(sys.argv) > 1 else "1"
    if Path(told).is_dir():
        real(Path(told))
        return
    parts = {"orders": orders, "scales": scales, "power": power}
    for name in sys.argv[2:] or parts:
        parts[name](float(told))


if __name__ == "__main__":
    main()
