"""Five simulated sports: our forecasts beside tuned Elo, Glicko-2 and kickscore.

Weekly rounds in seasons, newcomers and retirements between them, home sides in four of the five; 30
to 3,000 items.  The last fifth is forecast month by month, from what was before, by the machinery
of `intransit.backtest`: `fit`'s model with nothing set, and peers with settings that do best on the
latest quarter of what is learnt first.  All but ours are told what a side is worth by the same
search.  Issue 12 asks to be below all of them.

    python -m benchmarks.sports 0.2             a fifth of the sizes, on the seeds for building
    python -m benchmarks.sports 1 football      one of them
"""

import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import kickscore
import numpy as np
from scipy.special import expit

from benchmarks._common import print_table, seeds_for
from intransit.arrays import FloatArray, IntArray
from intransit.backtest import Plan, clusters, cut, roll, smaller_first, tuned
from intransit.backtest.forecasters import Elo, FittedModel, Forecaster
from intransit.backtest.result import log_losses, mean_and_error
from intransit.data.games import Clock, Games, merge
from intransit.data.reading import Reading
from intransit.inference.sampling import Effort

KEPT, BUILDING = range(6_400, 6_403), range(1, 2)
TRUTH = "the true chances"
LAST, MONTH, WEEK, YEAR = 0.2, 30.0, 7.0, 365.0
WEEKS_A_YEAR = 52
EFFORT = Effort(
    effective=50.0, seconds=240.0, most_draws=200
)  # a busy machine is to change nothing
ELO = {"step": (0.05, 0.1, 0.15, 0.2, 0.3, 0.45), "edge": (0.0, 0.2, 0.35, 0.5)}
GLICKO = {"deviation": (0.7, 1.2, 2.0), "volatility": (0.03, 0.06, 0.12), "edge": ELO["edge"]}
KICKSCORE = {"static": (0.5,), "moving": (0.3, 1.0), "years": (0.5, 2.0)}
KICKSCORE_LATEST = 2_500  # games that its settings are searched on
KICKSCORE_BLOCK = 120.0  # days of a block in that search
ROUNDS, FURTHER_ROUNDS, TOLERANCE = 20, 5, 1e-2  # of its EP: at first, and from where it was


@dataclass(frozen=True)
class Sport:
    """How a sport is simulated; sizes in log odds."""

    n_active: int  # items of a season
    n_seasons: int
    n_rounds: int  # weeks of a season
    turnover: float  # share of the items that is new each season
    spread: float = 0.8  # of the scores at the beginning
    newcomers: float = -0.3  # what newcomers are worth, beside the mean of the others
    rise: float = 0.0  # by which a newcomer improves in its first year
    drift: float = 0.02  # a week, within a season
    jump: float = 0.15  # between seasons
    keep: float = 1.0  # of the score, between seasons
    home: float = 0.3
    ties: float = 0.0  # between equals
    factor: float = 0.0  # size of one circle
    pairs: float = 0.0  # of effects of pairs
    groups: int = 1  # leagues; two games out of three are within one
    a_round: int = 0  # games of a round; 0 if everybody plays


SPORTS = {
    "football, ties": Sport(30, 6, 38, 0.1, ties=0.25, home=0.35),
    "franchises, new each season": Sport(30, 7, 26, 0.04, jump=0.6, keep=0.6, drift=0.03),
    "colleges, leagues": Sport(130, 6, 13, 0.05, jump=0.35, keep=0.9, home=0.4, groups=10),
    "3,000 players, many new": Sport(
        1_200, 6, 40, 0.3, spread=1.0, newcomers=-0.8, rise=0.5, home=0.0, a_round=50
    ),
    "duels, some circles": Sport(60, 6, 30, 0.1, drift=0.04, home=0.2, factor=0.35, pairs=0.25),
}


def main(scale: float = 1.0, *only: str) -> None:
    seeds = seeds_for(scale, KEPT, BUILDING)
    rows, lost = [], []
    for number, (name, sport) in enumerate(SPORTS.items()):
        if only and not name.startswith(only):
            continue
        size = smaller(sport, min(scale, 1.0))
        tables = [run(size, np.random.default_rng([seed, number])) for seed in seeds]
        base = float(np.mean([table.ours for table in tables]))
        n_games = sum(table.n_games for table in tables) / len(tables)
        seconds = np.mean([table.seconds for table in tables])
        words = f"{n_games:,.0f} games, {len(tables)} tables"
        rows.append([name, "intransit", words, f"{base:.4f}", "", f"{seconds:.0f}"])
        for peer in tables[0].rivals:
            of = [table.rivals[peer] for table in tables]
            gap = float(np.mean([one.gap for one in of]))
            error = float(np.sqrt(np.sum([one.error**2 for one in of]))) / len(of)
            if gap < 0 and peer != TRUTH:
                lost.append(f"{name}: {peer} ({gap:+.4f} ± {error:.4f})")
            apart = ", ".join(f"{one.gap:+.4f}" for one in of)
            told = [f"{base + gap:.4f}", f"{gap:+.4f} ± {error:.4f} ({apart})"]
            seconds = np.mean([one.seconds for one in of])
            rows.append(["", peer, of[0].settings, *told, f"{seconds:.0f}"])
    print("Log loss of the last fifth, month by month, means over tables; differences with the")
    print("standard error of games of a day taken together, and of each table alone; settings of")
    print("the first table; seconds of processor a table, tuning included.\n")
    print_table(["sport", "system", "settings", "log loss", "above ours", "s"], rows)
    print(f"Below ours (to hold: none): {'; '.join(lost) or 'none'}.")


@dataclass(frozen=True)
class Rival:
    """How far the forecasts of another system are above ours."""

    gap: float
    error: float
    settings: str
    seconds: float


@dataclass(frozen=True)
class Table:
    """What was found on one simulated table."""

    ours: float
    n_games: float
    seconds: float
    rivals: dict[str, Rival]


def run(sport: Sport, rng: np.random.Generator) -> Table:
    truth, games = simulate(sport, rng)
    plan = cut(smaller_first(games), LAST, MONTH, 0)
    test = plan.test
    weights, days = test.counts, clusters(test)[0]
    plain = {"edge": (0.0,)} if games.sides is None else {}
    began = time.process_time()
    ours = log_losses(roll(FittedModel(None, effort=EFFORT), plan, lambda _: None), test.outcomes)
    took, base = time.process_time() - began, float(weights @ ours / weights.sum())
    show([f"{games.counts.sum():,.0f} games of {games.n_items:,}", f"{base:.4f}", f"{took:.0f} s"])
    peers: dict[str, Callable[[], tuple[Forecaster, dict[str, float]]]] = {
        "Elo": lambda: best(Elo, ELO | plain, plan),
        "Glicko-2": lambda: best(Glicko, GLICKO | plain, plan),
        "kickscore": lambda: best_kickscore(plan, sport.ties > 0),
    }
    rivals = {}
    for name, make in peers.items():
        began = time.process_time()
        forecaster, settings = make()
        losses = log_losses(roll(forecaster, plan, lambda _: None), test.outcomes)
        seconds = time.process_time() - began
        said = ", ".join(f"{key} {value:g}" for key, value in settings.items())
        gap, error = mean_and_error(losses - ours, weights, days)
        rivals[name] = Rival(gap, error, said, seconds)
        show([name, said, f"{gap:+.4f} ± {error:.4f}"])
    gap, error = mean_and_error(log_losses(truth(test), test.outcomes) - ours, weights, days)
    rivals[TRUTH] = Rival(gap, error, "", 0.0)
    return Table(base, float(games.counts.sum()), took, rivals)


def show(words: list[str]) -> None:
    """Show what was found while the rest is under way."""
    print(" | ".join(words), file=sys.stderr, flush=True)


def best(
    make: Callable[..., Forecaster], grid: dict[str, tuple[float, ...]], plan: Plan
) -> tuple[Forecaster, dict[str, float]]:
    """Return a forecaster with the settings that do best on the latest of the early games."""
    settings = tuned(make, grid, plan.early, MONTH, 0)
    return make(**settings), settings


def best_kickscore(plan: Plan, ties: bool) -> tuple[Forecaster, dict[str, float]]:
    """The same, searched on fewer games in longer blocks: it is slow."""
    early = plan.early.only(np.arange(len(plan.early))[-KICKSCORE_LATEST:])
    margin = 0.0
    if ties:
        share = float(early.counts @ (early.outcomes == 0.5) / early.counts.sum())
        margin = 2.0 * math.atanh(share)

    def make(**settings: float) -> Forecaster:
        return Kickscore(margin, **settings)

    settings = tuned(make, KICKSCORE, early, KICKSCORE_BLOCK, 0)
    return make(**settings), settings


# The peers ---------------------------------------------------------------------------------------


class Glicko:
    """Glicko-2 (Glickman, 2012) in log odds, a rating period a week; `edge` is what a side adds."""

    tau = 0.5

    def __init__(self, deviation: float, volatility: float, edge: float = 0.0) -> None:
        self.start, self.edge = (0.0, deviation, volatility), edge
        self.ratings: dict[int, tuple[float, float, float]] = {}
        self.last: dict[int, int] = {}  # period in which each last played

    def learn(self, games: Games) -> None:
        """Rate period by period; all games of one count at once."""
        period = np.floor(games.times / WEEK).astype(np.int64)
        sides = np.zeros(len(games)) if games.sides is None else games.sides
        met: dict[int, dict[int, list[tuple[int, float, float, float]]]]
        met = defaultdict(lambda: defaultdict(list))
        columns = (games.first, games.second, games.outcomes, games.counts, sides, period)
        for i, j, y, n, side, when in zip(*(c.tolist() for c in columns), strict=True):
            met[when][i].append((j, y, n, side))
            met[when][j].append((i, 1.0 - y, n, -side))
        for when, played in sorted(met.items()):
            now = {i: self.at(i, when) for one in played for i in (one, *_others(played[one]))}
            for i, results in played.items():
                self.ratings[i] = self._rated(now[i], results, now)
                self.last[i] = when

    def at(self, item: int, period: int) -> tuple[float, float, float]:
        """Return rating, deviation and volatility; what is not played is known less and less."""
        mu, phi, sigma = self.ratings.get(item, self.start)
        idle = max(period - self.last.get(item, period), 0)
        return mu, min(math.sqrt(phi**2 + idle * sigma**2), max(self.start[1], phi)), sigma

    def _rated(
        self,
        own: tuple[float, float, float],
        results: list[tuple[int, float, float, float]],
        now: dict[int, tuple[float, float, float]],
    ) -> tuple[float, float, float]:
        mu, phi, sigma = own
        information, surprise = 0.0, 0.0
        for j, y, n, side in results:
            weight = _g(now[j][1])
            chance = 1.0 / (1.0 + math.exp(-weight * (mu - now[j][0] + side * self.edge)))
            information += n * weight**2 * chance * (1.0 - chance)
            surprise += n * weight * (y - chance)
        variance = 1.0 / information
        sigma = self._volatility(phi, sigma, variance, variance * surprise)
        phi = 1.0 / math.sqrt(1.0 / phi**2 + information)
        return mu + phi**2 * surprise, phi, sigma

    def _volatility(self, phi: float, sigma: float, variance: float, delta: float) -> float:
        """Step 5 of Glickman's note, by the Illinois method."""
        a = math.log(sigma**2)

        def f(x: float) -> float:
            grown = phi**2 + variance + math.exp(x)
            pull = math.exp(x) * (delta**2 - grown) / (2.0 * grown**2)
            return pull - (x - a) / self.tau**2

        low, high = a, a - self.tau
        if delta**2 > phi**2 + variance:
            high = math.log(delta**2 - phi**2 - variance)
        else:
            while f(high) < 0:
                high -= self.tau
        at_low, at_high = f(low), f(high)
        for _ in range(50):
            if abs(high - low) <= 1e-4:
                break
            there = low + (low - high) * at_low / (at_high - at_low)
            at_there = f(there)
            if at_there * at_high <= 0:
                low, at_low = high, at_high
            else:
                at_low /= 2.0
            high, at_high = there, at_there
        return math.exp(low / 2.0)

    def predict(self, fixtures: Games) -> FloatArray:
        """Return what ratings and deviations say."""
        period = np.floor(fixtures.times / WEEK).astype(np.int64).tolist()
        sides = np.zeros(len(fixtures)) if fixtures.sides is None else fixtures.sides
        out = []
        columns = (fixtures.first.tolist(), fixtures.second.tolist(), period, sides.tolist())
        for i, j, when, side in zip(*columns, strict=True):
            a, b = self.at(i, when), self.at(j, when)
            x = a[0] - b[0] + side * self.edge
            out.append(1.0 / (1.0 + math.exp(-_g(math.hypot(a[1], b[1])) * x)))
        return np.array(out)


def _others(results: list[tuple[int, float, float, float]]) -> list[int]:
    return [other for other, *_ in results]


def _g(deviation: float) -> float:
    return 1.0 / math.sqrt(1.0 + 3.0 * deviation**2 / math.pi**2)


class Kickscore:
    """A constant and an Ornstein-Uhlenbeck part for each item, and an item for the side; EP."""

    def __init__(self, margin: float, static: float, moving: float, years: float) -> None:
        self.kernel = (static, moving, years)
        self.ties, self.begun = margin > 0, False
        self.model = (
            kickscore.TernaryModel(margin=margin, obs_type="logit")
            if self.ties
            else kickscore.BinaryModel(obs_type="logit")
        )
        self.model.add_item("side", kernel=kickscore.kernel.Constant(var=1.0))

    def _add(self, games: Games) -> bool:
        """Add the items that are new, and return whether there are any."""
        static, moving, years = self.kernel
        seen = np.unique(np.concatenate([games.first, games.second]))
        new = [str(k) for k in seen if str(k) not in self.model.item]
        for name in new:
            kernel = kickscore.kernel.Constant(var=static)
            kernel = kernel + kickscore.kernel.Exponential(var=moving, lscale=years)
            self.model.add_item(name, kernel=kernel)
        return bool(new)

    def learn(self, games: Games) -> None:
        """Add games, and find the posterior from where it was."""
        self._add(games)
        sides = np.zeros(len(games)) if games.sides is None else games.sides
        columns = (games.first, games.second, games.outcomes, games.counts, sides, games.times)
        for i, j, y, n, side, when in zip(*(c.tolist() for c in columns), strict=True):
            teams = _teams(i, j, side)
            if y < 0.5:
                teams = teams[::-1]
            told = {"tie": y == 0.5} if self.ties else {}
            for _ in range(round(n)):
                self.model.observe(*teams, t=when / YEAR, **told)
        rounds = FURTHER_ROUNDS if self.begun else ROUNDS
        self.begun = True
        self.model.fit(method="ep", tol=TOLERANCE, max_iter=rounds)

    def predict(self, fixtures: Games) -> FloatArray:
        """Return expected results, a tie as half a win."""
        if self._add(fixtures):
            self.model.fit(method="ep", tol=TOLERANCE, max_iter=1)
        sides = np.zeros(len(fixtures)) if fixtures.sides is None else fixtures.sides
        columns = (fixtures.first, fixtures.second, sides, fixtures.times)
        out = []
        for i, j, side, when in zip(*(c.tolist() for c in columns), strict=True):
            chances = self.model.probabilities(*_teams(i, j, side), t=when / YEAR)
            out.append(chances[0] + (0.5 * chances[1] if self.ties else 0.0))
        return np.array(out)


def _teams(i: int, j: int, side: float) -> tuple[dict[str, float], dict[str, float]]:
    first, second = {str(i): 1.0}, {str(j): 1.0}
    if side:
        (first if side > 0 else second)["side"] = 1.0
    return first, second


# The sports --------------------------------------------------------------------------------------


def smaller(sport: Sport, share: float) -> Sport:
    """Return a sport with fewer items, but not fewer than ten."""
    if share >= 1.0:
        return sport
    words = {**vars(sport)}
    words["n_active"] = max(int(share * sport.n_active), 10)
    words["a_round"] = int(share * sport.a_round)
    words["groups"] = max(int(share * sport.groups), 1)
    return Sport(**words)


def simulate(sport: Sport, rng: np.random.Generator) -> tuple[Callable[[Games], FloatArray], Games]:
    """Return what the true chances of games are, and the games."""
    n_new = round(sport.turnover * sport.n_active)
    n_items = sport.n_active + n_new * (sport.n_seasons - 1)
    n_weeks = WEEKS_A_YEAR * sport.n_seasons
    scores = np.zeros((n_weeks, n_items))
    level = sport.spread * rng.standard_normal(n_items)
    level[sport.n_active :] += sport.newcomers
    u, v = rng.standard_normal((2, n_items)) * np.sqrt(sport.factor)
    effects = np.triu(rng.standard_normal((n_items, n_items)) if sport.pairs else np.zeros((1, 1)))
    league = rng.integers(sport.groups, size=n_items)
    weight = np.exp(0.8 * rng.standard_normal(n_items))
    active, rows = np.arange(sport.n_active), []
    for season in range(sport.n_seasons):
        if season:
            # The weak and the rarely seen go sooner.
            odds = np.exp(-0.7 * level[active]) / np.sqrt(weight[active])
            gone = rng.choice(len(active), n_new, replace=False, p=odds / odds.sum())
            fresh = sport.n_active + n_new * (season - 1) + np.arange(n_new)
            level[active] = sport.keep * level[active] + sport.jump * rng.standard_normal(
                len(active)
            )
            active = np.concatenate([np.delete(active, gone), fresh])
        young = active[active >= sport.n_active + n_new * (season - 1)] if season else active[:0]
        for week in range(WEEKS_A_YEAR * season, WEEKS_A_YEAR * (season + 1)):
            scores[week] = level
            if week % WEEKS_A_YEAR >= sport.n_rounds:
                continue
            first, second = fixtures(sport, active, league, weight, rng)
            rows.append(np.stack([first, second, np.full(len(first), week)]))
            level[active] += sport.drift * rng.standard_normal(len(active))
            level[young] += sport.rise / sport.n_rounds
    first, second, week = np.concatenate(rows, axis=1)
    sides = np.ones(len(first)) if sport.home else np.zeros(len(first))

    def margins(i: IntArray, j: IntArray, when: IntArray, side: FloatArray) -> FloatArray:
        x = scores[when, i] - scores[when, j] + u[i] * v[j] - v[i] * u[j] + sport.home * side
        if sport.pairs:
            x = x + sport.pairs * (effects[i, j] - effects[j, i])
        return np.asarray(x)

    def truth(games: Games) -> FloatArray:
        side = np.zeros(len(games)) if games.sides is None else games.sides
        when = np.round(games.times / WEEK).astype(np.int64)
        win, lost = chances(margins(games.first, games.second, when, side), sport.ties)
        return np.asarray(0.5 * (1.0 + win - lost))

    win, lost = chances(margins(first, second, week, sides), sport.ties)
    luck = rng.random(len(first))
    y = np.where(luck < win, 1.0, np.where(luck >= 1.0 - lost, 0.0, 0.5))
    names = tuple(f"{k:05d}" for k in range(n_items))
    n = len(first)
    told = sides if sport.home else None
    reading = Reading("simulated", n_rows=n, n_used=n)
    games = Games(
        names, first, second, y, None, WEEK * week, np.ones(n), told, Clock("number"), reading
    )
    return truth, merge(games)


def chances(x: FloatArray, ties: float) -> tuple[FloatArray, FloatArray]:
    """Return the chances of a win and of a loss; with ties what is left is one."""
    edge = 2.0 * math.atanh(ties)
    return expit(x - edge), expit(-x - edge) if ties else 1.0 - expit(x)


def fixtures(
    sport: Sport,
    active: IntArray,
    league: IntArray,
    weight: FloatArray,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Return who is at home to whom in one round, everybody at most once."""
    size = 2 * sport.a_round if sport.a_round else len(active) // 2 * 2
    odds = weight[active] if sport.a_round else np.ones(len(active))
    there = rng.choice(active, min(size, len(active)), replace=False, p=odds / odds.sum())
    if sport.groups > 1 and rng.random() < 2 / 3:
        there = there[np.argsort(league[there], kind="stable")]
    first, second = there[0::2], there[1::2]
    swap = rng.random(len(first)) < 0.5
    return np.where(swap, second, first), np.where(swap, first, second)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]), *sys.argv[2:])
