"""Do 90 % intervals hold the truth in 90 % of cases?  Simulated truth from the model itself.

S is a random walk over irregular times, Q and effects of pairs are normal.  Asked are margins at
times that were observed, between them, and after them.  Small: variances by the dense inverse.
Large: more than 2,000 unknowns, variances from 200 draws by perturb-and-solve.

    python -m benchmarks.coverage 0.1        a tenth of the trials
"""

import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtri

import intransit as it
from benchmarks._common import print_table
from intransit.arrays import FloatArray, IntArray
from intransit.errors import ConvergenceWarning

LEVEL = 0.9
SHARE = 0.1  # of the trials that each case would like
GUESSED = 0.035  # the same where scales are estimated too, which takes far longer
WORKERS = 2
ASKED = 2_000  # margins of each kind, in a large trial
DRAWS, FEWER = 200, 50  # for intervals read off draws, small and large
PLACES = ("observed", "between", "after")


@dataclass(frozen=True)
class Case:
    """A model, how much of it is seen, and how often it is simulated."""

    name: str
    n_items: int
    n_factors: int
    loss: str
    n_periods: int
    a_period: int  # comparisons
    trials: int
    scores: bool = False
    pair_scale: float = 0.0
    prior: float = 1.0
    drift: float = 0.15  # a unit of time; periods are about one apart
    noise: float = 0.5

    @property
    def settings(self) -> dict[str, object]:
        """What `smooth` is told in any case."""
        return {"n_factors": self.n_factors, "scores": self.scores, "loss": self.loss}

    @property
    def scales(self) -> dict[str, float]:
        """The scales of the simulation."""
        known = {"drift_scale": self.drift, "prior_scale": self.prior}
        if self.loss == "squared":
            known["noise_scale"] = self.noise
        if self.pair_scale:
            known["pair_scale"] = self.pair_scale
        return known


CASES = (
    Case("scores", 15, 0, "squared", 8, 60, 300, scores=True),
    Case("scores", 15, 0, "logistic", 8, 120, 300, scores=True),
    Case("r=1", 15, 1, "squared", 8, 60, 300),
    Case("r=1", 15, 1, "logistic", 8, 400, 300),
    Case("r=2", 15, 2, "squared", 8, 80, 300),
    Case("scores, r=1", 15, 1, "logistic", 8, 400, 300, scores=True),
    Case("r=1, pairs", 15, 1, "squared", 8, 80, 300, pair_scale=0.5),
    Case("scores, pairs", 15, 0, "logistic", 8, 400, 300, scores=True, pair_scale=0.5),
    Case("scores", 400, 0, "squared", 12, 2_000, 40, scores=True),
    Case("scores", 400, 0, "logistic", 12, 4_000, 40, scores=True),
    Case("r=1", 400, 1, "squared", 12, 4_000, 40),
    Case("r=1", 400, 1, "logistic", 12, 8_000, 40),
    Case("r=2", 400, 2, "squared", 12, 6_000, 40),
    Case("scores, pairs", 400, 0, "squared", 12, 4_000, 40, scores=True, pair_scale=0.5),
)


@dataclass(frozen=True, eq=False)
class Trial:
    """Of one simulated truth: the share of margins that their intervals held."""

    held: dict[str, float]  # by place
    drawn: float  # after, with intervals read off draws
    chance: float  # win probabilities, after; NaN for readings
    n: int  # margins of each kind
    flagged: bool
    dense: bool
    ratios: tuple[float, ...]  # estimated over true scales: drift, prior


def main(share: float = SHARE) -> None:
    with ProcessPoolExecutor(WORKERS) as pool:
        rows: dict[bool, list[list[str]]] = {True: [], False: []}
        for known in (True, False):
            for case in CASES:
                n = max(round(share * case.trials * (1.0 if known else GUESSED / SHARE)), 2)
                began = time.perf_counter()
                trials = list(pool.map(run, product((case,), (known,), range(n))))
                took = time.perf_counter() - began
                rows[known].append(row(case, known, trials, took))
                print(" | ".join(rows[known][-1]), file=sys.stderr, flush=True)
    header = ["model", "loss", "items", "variances", "truths", "margins each", *PLACES]
    header += ["after, by draws", "win chances", "said so"]
    print(f"Intervals of level {LEVEL:.0%} with known scales: how many held the truth, with the")
    print("standard error over truths (to hold: 88 to 92 %).  After, by draws: mean and")
    print(
        f"deviation of {DRAWS} draws of trajectories, {FEWER} at 400 items.  Win chances: of single"
    )
    print("games, after.  Said so: fits that had not converged or had doubts, counted like the")
    print("others:\n")
    print_table([*header, "s a trial"], rows[True])
    print("The same with scales from the data; estimated over true ones, medians:\n")
    print_table([*header, "drift_scale", "prior_scale", "s a trial"], rows[False])


def run(task: tuple[Case, bool, int]) -> Trial:
    """Simulate, fit, and ask."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    case, known, seed = task
    rng = np.random.default_rng([seed, case.n_items, case.n_factors])
    times, place = clock(case, rng)
    truth = Truth.drawn(case, times, rng)
    games = truth.observe(case, times, np.flatnonzero(place == "observed"), rng)
    free = {"pair_scale": "auto"} if case.pair_scale else {}
    path = it.smooth(games, **case.settings, **(case.scales if known else free), rng=seed)
    held = {}
    for name in PLACES:
        first, second, when = question(case, np.flatnonzero(place == name), rng)
        true = truth.margins(first, second, when)
        low, high = path.interval(first, second, times[when], level=LEVEL)
        held[name] = float(np.mean((low <= true) & (true <= high)))
    draws = path.sample(DRAWS if case.n_items < 100 else FEWER, rng=seed)
    n_drawn = len(first) if case.n_items < 100 else 200
    first, second, when, true = (column[:n_drawn] for column in (first, second, when, true))
    values = draws.margin(first, second, times[when])
    # Quantiles of few draws are too close together; mean and deviation need no such many.
    reach = float(ndtri(0.5 + LEVEL / 2)) * values.std(axis=0, ddof=1)
    drawn = float(np.mean(np.abs(true - values.mean(axis=0)) <= reach))
    chance = np.nan
    if case.loss == "logistic":
        low, high = path.probability_interval(first, second, times[when], level=LEVEL)
        true = 1.0 / (1.0 + np.exp(-true))
        chance = float(np.mean((low <= true) & (true <= high)))
    kind = "" if case.n_factors else "score_"
    ratios = (
        getattr(path.scales, kind + "drift_scale") / case.drift,
        getattr(path.scales, kind + "prior_scale") / case.prior,
    )
    flagged = not path.converged or bool(path.doubts)
    return Trial(held, drawn, chance, len(first), flagged, path._laplace.is_dense, ratios)


def clock(case: Case, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return times at random, and whether each is observed, between, or after."""
    observed = np.cumsum(0.5 + rng.random(case.n_periods))
    between = 0.5 * (observed[1:] + observed[:-1])
    after = observed[-1] + np.array([0.5, 2.0, 5.0])
    times = np.concatenate([observed, between, after])
    place = np.repeat(PLACES, [len(observed), len(between), len(after)])
    order = np.argsort(times)
    return times[order], place[order]


@dataclass(frozen=True, eq=False)
class Truth:
    """What is to be found."""

    S: FloatArray  # (n_times, n_items, n_columns)
    Q: FloatArray  # (n_items, n_columns)
    E: FloatArray  # (n_items, n_items), skew

    @classmethod
    def drawn(cls, case: Case, times: FloatArray, rng: np.random.Generator) -> "Truth":
        """Draw it from the model: first states where the first comparisons are."""
        width = case.n_factors + case.scores
        steps = case.drift * np.sqrt(np.diff(times, prepend=times[0]))
        steps[0] = case.prior
        S = np.cumsum(steps[:, None, None] * rng.normal(size=(len(times), case.n_items, width)), 0)
        Q = case.prior * rng.normal(size=(case.n_items, width))
        if case.scores:
            Q[:, 0] = 1.0
        E = np.triu(case.pair_scale * rng.normal(size=(case.n_items, case.n_items)), 1)
        return cls(S, Q, E - E.T)

    def margins(self, first: IntArray, second: IntArray, when: IntArray) -> FloatArray:
        """Return margins at some of the times."""
        S, Q = self.S, self.Q
        ahead = np.sum(S[when, first] * Q[second], axis=1)
        return ahead - np.sum(Q[first] * S[when, second], axis=1) + self.E[first, second]

    def observe(
        self, case: Case, times: FloatArray, seen: IntArray, rng: np.random.Generator
    ) -> it.Timeline:
        """Return comparisons of random pairs; every item is met at the first time."""
        n = case.n_items
        when = np.repeat(seen, case.a_period)
        first = rng.integers(0, n, len(when))
        second = (first + rng.integers(1, n, len(when))) % n
        first[:n], second[:n] = np.arange(n), (np.arange(n) + 1) % n
        x = self.margins(first, second, when)
        if case.loss == "logistic":
            y = (rng.random(len(x)) < 1.0 / (1.0 + np.exp(-x))).astype(float)
        else:
            y = x + case.noise * rng.normal(size=len(x))
        return it.Timeline.from_arrays(first, second, y, times[when], n_items=n)


def question(
    case: Case, when: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Return all pairs at these times, or some at random where they are many."""
    i, j = np.triu_indices(case.n_items, 1)
    if len(i) * len(when) <= ASKED:
        return np.tile(i, len(when)), np.tile(j, len(when)), np.repeat(when, len(i))
    some = rng.integers(0, len(i), ASKED)
    return i[some], j[some], rng.choice(when, ASKED)


def row(case: Case, known: bool, trials: list[Trial], took: float) -> list[str]:
    cells = [case.name, case.loss, f"{case.n_items}", "dense" if trials[0].dense else "draws"]
    cells += [f"{len(trials)}", f"{trials[0].n if case.n_items < 100 else ASKED:,}"]
    cells += [share([trial.held[name] for trial in trials]) for name in PLACES]
    cells.append(share([trial.drawn for trial in trials]))
    logistic = case.loss == "logistic"
    cells.append(share([trial.chance for trial in trials]) if logistic else "")
    cells.append(f"{sum(trial.flagged for trial in trials)}")
    if not known:
        cells += [f"{ratio:.2f}" for ratio in np.median([t.ratios for t in trials], axis=0)]
    return [*cells, f"{WORKERS * took / len(trials):.2f}"]


def share(values: list[float]) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{100 * np.mean(values):.1f} ± {100 * error:.1f}"


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
