"""The filter: comparisons a second, microseconds a single one, and whether history slows it."""

import time

import numpy as np

from benchmarks._common import print_table
from intransit.arrays import FloatArray, IntArray
from intransit.filter import Filter

N_ITEMS, N_GAMES = 10_000, 10**6
Games = tuple[IntArray, IntArray, FloatArray, FloatArray]


def main() -> None:
    games = simulate(N_GAMES)
    for n_factors in (0, 1):
        for loss in ("logistic", "squared"):
            every_way(n_factors, loss, [column[:100] for column in games])  # compile
    rates(games)
    history(games)


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
        began = time.perf_counter()
        run(*games)
        took.append(time.perf_counter() - began)
    one = make(n_factors, loss)
    rows = list(zip(*(column[: len(column) // 10].tolist() for column in games), strict=True))
    began = time.perf_counter()
    for row in rows:
        one.observe(*row)
    return took[0], took[1], time.perf_counter() - began


def rates(games: Games) -> None:
    print(
        f"{N_GAMES:,} comparisons of {N_ITEMS:,} items, scores and r factors, checks of the input "
        "included;\none core, best of three:\n"
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
                began = time.perf_counter()
                one.observe_many(*rest)
                best = min(best, time.perf_counter() - began)
            size = sum(getattr(one, name).nbytes for name in ("_means", "_blocks", "_times"))
            cells += [f"{1e5 / best / 1e6:.1f}", f"{size / one.n_items:.0f}"]
        rows.append(cells)
    print_table(
        ["r", "after 10⁵, millions/s", "bytes an item", "after 10⁶, millions/s", "bytes an item"],
        rows,
    )


if __name__ == "__main__":
    main()
