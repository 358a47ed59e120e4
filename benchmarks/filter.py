"""The filter: comparisons a second, whether history slows it, and what it loses to smoothing."""

import sys
import time

import numpy as np

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import FloatArray, IntArray
from intransit.inference.filter import Filter

N_ITEMS, N_GAMES = 10_000, 10**6
FEW_ITEMS, SPAN, DRIFT = 200, 60, 0.1  # of the games on which filter and smoother are compared
BLOCKS, WIDTH = 5, 4  # blocks that are forecast, and their width in time
Games = tuple[IntArray, IntArray, FloatArray, FloatArray]


def main() -> None:
    games = simulate(N_GAMES)
    for n_factors in (0, 1):
        for loss in ("logistic", "squared"):
            every_way(n_factors, loss, [column[:100] for column in games])  # compile
    rates(games)
    history(games)
    against_smoothing()


def simulate(n: int) -> Games:
    """Wins of random pairs over a hundred units of time, scores and one factor, r=1."""
    rng = np.random.default_rng(0)
    S, Q = rng.standard_normal((2, N_ITEMS, 2))
    Q[:, 0] = 1.0
    first = rng.integers(0, N_ITEMS, n)
    second = (first + rng.integers(1, N_ITEMS, n)) % N_ITEMS
    margins = np.sum(S[first] * Q[second] - Q[first] * S[second], axis=1)
    wins = (rng.random(n) < 1 / (1 + np.exp(-margins))).astype(float)
    return first, second, wins, np.sort(100 * rng.random(n))


def make(n_factors: int, loss: str) -> Filter:
    return Filter(n_factors=n_factors, loss=loss, drift_scale=0.05, n_items=N_ITEMS, rng=0)


def every_way(n_factors: int, loss: str, games: Games) -> tuple[float, float, float]:
    """Seconds to learn, to forecast and learn, and to learn one by one (a tenth of the games)."""
    took = []
    for name in ("observe_many", "forecast_many"):
        run = getattr(make(n_factors, loss), name)
        began = time.process_time()
        run(*games)
        took.append(time.process_time() - began)
    one = make(n_factors, loss)
    rows = list(zip(*(column[: len(column) // 10].tolist() for column in games), strict=True))
    began = time.process_time()
    for row in rows:
        one.observe(*row)
    return took[0], took[1], time.process_time() - began


def rates(games: Games) -> None:
    print(
        f"{N_GAMES:,} comparisons of {N_ITEMS:,} items, scores and r factors, checks of the input "
        "included;\nseconds of processor, best of three:\n"
    )
    rows = []
    for n_factors in (0, 1):
        for loss in ("logistic", "squared"):
            runs = [every_way(n_factors, loss, games) for _ in range(3)]
            many, forecast, single = np.min(runs, axis=0)
            rows.append(
                [
                    f"{n_factors}",
                    loss,
                    f"{N_GAMES / many / 1e6:.1f}",
                    f"{N_GAMES / forecast / 1e6:.1f}",
                    f"{1e6 * single / (N_GAMES / 10):.2f}",
                ]
            )
    print_table(
        ["r", "loss", "observe_many, millions/s", "forecast_many, millions/s", "observe, µs"], rows
    )


def history(games: Games) -> None:
    print("Does history slow it?  Rate of 100,000 further comparisons, best of three, logistic:\n")
    rows = []
    for n_factors in (0, 1):
        cells = [f"{n_factors}"]
        for learnt in (10**5, 10**6):
            one, best = make(n_factors, "logistic"), np.inf
            one.observe_many(*(column[:learnt] for column in games))
            for part in range(3):
                rest = [column[part * 10**5 : (part + 1) * 10**5] for column in games]
                rest[3] = rest[3] + 100.0
                began = time.process_time()
                one.observe_many(*rest)
                best = min(best, time.process_time() - began)
            size = sum(getattr(one._known, name).nbytes for name in ("means", "blocks", "times"))
            cells += [f"{1e5 / best / 1e6:.1f}", f"{size / one.n_items:.0f}"]
        rows.append(cells)
    print_table(
        ["r", "after 10⁵, millions/s", "bytes an item", "after 10⁶, millions/s", "bytes an item"],
        rows,
    )


def against_smoothing() -> None:
    print("What is lost to smoothing?  Wins of drifting items, scales known to both.  Everything")
    print(
        f"before a block ({BLOCKS} of them, {WIDTH} units of time each) is learnt, then the block"
    )
    print("is forecast: log loss above that of the true probabilities, in thousandths, mean and")
    print("standard error over blocks.  The last column goes on learning inside the block:\n")
    rows = []
    for n_factors in (0, 1):
        for a_time in (200, 1_000):
            rows.append([f"{n_factors}", f"{a_time * SPAN:,}", *losses(n_factors, a_time)])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    ways = ["smooth", "filter", "filter less smooth", "filter, one by one"]
    print_table(
        ["r", "comparisons", "log loss of the truth", *ways, "smooth, s", "filter, s"], rows
    )


def drifting(n_factors: int, a_time: int) -> tuple[Games, FloatArray]:
    """Wins of few items, in order of time, and their true probabilities."""
    rng = np.random.default_rng(0)
    width, n = 1 + n_factors, a_time * SPAN
    S = rng.standard_normal((SPAN, FEW_ITEMS, width))
    S[1:] *= DRIFT
    S = np.cumsum(S, axis=0)
    Q = rng.standard_normal((FEW_ITEMS, width))
    Q[:, 0] = 1.0
    first = rng.integers(0, FEW_ITEMS, n)
    second = (first + rng.integers(1, FEW_ITEMS, n)) % FEW_ITEMS
    when = np.repeat(np.arange(SPAN), a_time)
    margins = np.sum(S[when, first] * Q[second] - Q[first] * S[when, second], axis=1)
    chances = 1.0 / (1.0 + np.exp(-margins))
    wins = (rng.random(n) < chances).astype(float)
    return (first, second, wins, when.astype(float)), chances


def losses(n_factors: int, a_time: int) -> list[str]:
    games, chances = drifting(n_factors, a_time)
    settings = {"n_factors": n_factors, "drift_scale": DRIFT, "prior_scale": 1.0, "rng": 0}
    excess, floor, seconds = [], [], []
    for block in range(BLOCKS):
        begin = SPAN - (BLOCKS - block) * WIDTH
        past = [column[games[3] < begin] for column in games]
        inside = (games[3] >= begin) & (games[3] < begin + WIDTH)
        first, second, wins, when = (column[inside] for column in games)
        clock = [time.process_time()]
        table = it.Timeline.from_arrays(*past, n_items=FEW_ITEMS)
        path = it.smooth(table, scores=True, loss="logistic", **settings)
        clock.append(time.process_time())
        one = Filter(loss="logistic", n_items=FEW_ITEMS, **settings)
        one.observe_many(*past)
        clock.append(time.process_time())
        forecasts = [
            path.probability(first, second, when),
            one.probability(first, second, when),
            one.forecast_many(first, second, wins, when),
        ]
        best = log_loss(chances[inside], wins)
        excess.append([log_loss(forecast, wins) - best for forecast in forecasts])
        floor.append(best)
        seconds.append(np.diff(clock))
    smooth, filtered, learning = 1e3 * np.array(excess).T
    columns = [smooth, filtered, filtered - smooth, learning]
    shown = [f"{c.mean():.1f} ± {c.std(ddof=1) / BLOCKS**0.5:.1f}" for c in columns]
    return [f"{np.mean(floor):.3f}", *shown, *(f"{t:.3f}" for t in np.mean(seconds, axis=0))]


def log_loss(chances: FloatArray, wins: FloatArray) -> float:
    return float(-np.mean(np.log(np.where(wins == 1.0, chances, 1.0 - chances))))


if __name__ == "__main__":
    main()
