"""How quickly an answer is read and updated.

One chance from a loaded answer; `rank` and `matrix` of 2,000 items; 8,000 forecasts after a fit of
1,200,000 games of 40,000 items; an `update` with 50 and with 2,000 further games.  Issue 12 asks
for well under a millisecond, well under a second, seconds, and within a second.

    python -m benchmarks.reading_answers 0.1        a tenth of the games and items
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import intransit as it
from benchmarks._common import print_table, seeds_for
from benchmarks.sampler import drifting
from intransit.datasets import simulate_games

KEPT, BUILDING = range(5_300, 5_301), range(1, 2)
ITEMS, GAMES = 2_000, 40_000
LARGE_ITEMS, LARGE_GAMES = 40_000, 1_200_000
ASKED, FORECASTS = 2_000, 8_000
FURTHER = (50, 2_000)
DRAW = {"effective": 20.0, "seconds": 60.0}  # how good the draws are does not matter here


def main(scale: float = 1.0) -> None:
    seed, share = seeds_for(scale, KEPT, BUILDING)[0], min(scale, 1.0)
    warm_up()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rows += reading(share, seed, Path(folder) / "answer.intransit")
        rows += updating(share, seed)
        rows += large(share, seed)
    print("By the clock, and of processor; the best of three where it is quick:\n")
    print_table(["what", "of", "s", "s of processor", "to hold", "said"], rows)


def warm_up() -> None:
    games, _ = simulate_games(8, 300, rng=0)
    answer = it.fit(games, effective=10, seconds=5)
    answer.probability(0, 1)
    answer.rank()
    answer.matrix()
    answer.update(games, rng=0)


def reading(scale: float, seed: int, place: Path) -> list[list[str]]:
    """A table of many items, saved and loaded."""
    n, n_games = int(scale * ITEMS), int(scale * GAMES)
    games, _ = simulate_games(n, n_games, cyclic=0.2, memory=3000.0, rng=seed)
    answer = it.fit(games, **DRAW)
    name = f"{n_games:,} games of {answer.n_items:,} items, {len(answer.posterior)} draws"
    rows = [timed("save", name, "", lambda: answer.save(place))]
    rows.append(timed("load", name, "", lambda: it.Answer.load(place)))
    loaded = it.Answer.load(place)
    began = time.perf_counter()
    loaded.probability(0, 1)
    rows.append(["the first chance", name, f"{time.perf_counter() - began:.4f}", "", "", ""])
    rows.append(one_chance(loaded, name, seed))
    rows.append(timed("`rank`", name, "well under 1 s", loaded.rank))
    rows.append(timed("`matrix`", name, "seconds", loaded.matrix))
    return rows


def one_chance(answer: it.Answer, name: str, seed: int) -> list[str]:
    """The median of many, of different pairs, by name."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(answer.n_items, 2, replace=False) for _ in range(ASKED)]
    names = [(answer.names[i], answer.names[j]) for i, j in pairs]
    took, busy = [], time.process_time()
    for first, second in names:
        began = time.perf_counter()
        answer.probability(first, second)
        took.append(time.perf_counter() - began)
    busy = (time.process_time() - busy) / ASKED
    low, high = np.quantile(took, [0.05, 0.95])
    said = f"90 % of {ASKED:,} took {1e3 * low:.2f} to {1e3 * high:.2f} ms"
    goal = "well under .001 s"
    return ["one chance, median", name, f"{np.median(took):.5f}", f"{busy:.5f}", goal, said]


def updating(scale: float, seed: int) -> list[list[str]]:
    """The latest games of a metagame, told to an answer that was fitted to those before them."""
    rows = []
    n_games = int(scale * 10_000)
    for n_items, size in ((16, n_games), (300, 5 * n_games)):
        games, _ = simulate_games(n_items, size, n_days=730, memory=3000.0, rng=seed)
        for more in FURTHER:
            cut = len(games) - min(more, len(games) // 5)
            answer = it.fit(games.only(np.arange(cut)), rng=0)
            new = games.only(np.arange(cut, len(games)))
            name = f"{size:,} games of {n_items} items"
            told = f"`update` with {len(new):,} games"
            rows.append(timed(told, name, "", lambda a=answer, g=new: a.update(g), times=1))
    return rows


def large(scale: float, seed: int) -> list[list[str]]:
    """Forecasts after a fit of a large table, and an update of it."""
    games, _ = drifting(int(scale * LARGE_ITEMS), int(scale * LARGE_GAMES), seed)
    cut = len(games) - FURTHER[0]
    new = games.only(np.arange(cut, len(games)))
    answer = it.fit(games.only(np.arange(cut)))
    name = f"{int(scale * LARGE_GAMES):,} games of {answer.n_items:,} items, by "
    name += f"{answer.posterior.way}, {len(answer.posterior)} draws"
    rng = np.random.default_rng(seed)
    some = rng.integers(cut, size=FORECASTS)
    first = [answer.names[k] for k in games.first[some]]
    second = [answer.names[k] for k in games.second[some]]
    when = [answer.seen.end] * FORECASTS
    told = f"{FORECASTS:,} forecasts"
    rows = [
        timed(f"{told}, by name, with intervals", name, "1 s",
              lambda: answer.forecasts(first, second, when)),
        timed(f"{told}, chances alone", name, "",
              lambda: answer.probabilities(games.first[some], games.second[some])),
        timed("`rank`", name, "", answer.rank),
        timed(f"`update` with {len(new)} games", name, "", lambda: answer.update(new), times=1),
    ]  # fmt: skip
    print(f"Large fit: {answer.posterior.story}", file=sys.stderr)
    return rows


def timed(what: str, of: str, goal: str, run: Callable[[], object], *, times: int = 3) -> list[str]:
    """Time something, and say how it was done if it says so."""
    best, busy, out = np.inf, np.inf, None
    for _ in range(times):
        began, worked = time.perf_counter(), time.process_time()
        out = run()
        best = min(best, time.perf_counter() - began)
        busy = min(busy, time.process_time() - worked)
    said = out.story[-1].split(": ", 1)[-1] if what.startswith("`update`") else ""  # type: ignore[union-attr]
    row = [what, of, f"{best:.3f}", f"{busy:.3f}", goal, said]
    print(" | ".join(row), file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
