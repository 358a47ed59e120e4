"""What draws cost: seconds to 100 effective ones, milliseconds a sweep, NUTS, and large tables.

Issue 12 asks for 3, 8 and 20 s of processor to 100 effective draws of the worst pair (10,000 games
of 16 items, 50,000 of 40, 50,000 of 300); for 25 and 12 times the effective draws a second of NUTS
(NumPyro) for the median and the worst pair, on the same model and the same cells; and for fits of
large tables in 40, 120 and 20 s of processor and at most 4 GB.

    python -m benchmarks.sampler 0.1        a tenth of the games, on the seeds for building
    python -m benchmarks.sampler 1 nuts     one part alone: draws, nuts or large
"""

import json
import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

import intransit as it
from benchmarks._common import in_fresh_process, peak_memory, print_table, seeds_for
from intransit.analysis.transitivity import examine
from intransit.arrays import FloatArray
from intransit.data.games import Clock, Games, merge
from intransit.data.reading import Reading
from intransit.datasets import metagame, simulate_games
from intransit.inference.gibbs import Chain
from intransit.inference.observations import Encoding, model_for, n_moments
from intransit.inference.paths import Layout, lay_out
from intransit.inference.sampling import Effort, Watch, burn_in, chance_mixing, mixing, sample
from intransit.inference.table_posterior import seconds_a_sweep
from intransit.model import Drift, Factors, PairEffects, Scores, Side, Wins
from intransit.model.terms import Scale, prior_scale

KEPT, BUILDING = range(4_200, 4_201), range(1, 2)
PARTS = ("draws", "nuts", "large")
TABLES = {(16, 10_000): 3, (40, 50_000): 8, (300, 50_000): 20}  # seconds to hold
LARGE = {(8_000, 200_000): 40, (40_000, 1_200_000): 120, (50, 1_000_000): 20, (200, 10**8): None}
DENSE = 1_000  # games a pair, from which on they are drawn by week and pair
EFFECTIVE, PATIENCE = 100.0, 600.0
SWEEPS, BEFORE = 40, 60  # that are timed, and thrown away first
N_BINS = 24
OURS = 1_000  # sweeps of each of two chains
NUTS = {"num_warmup": 300, "num_samples": 250}
YEARS, MONTHS = 3, 36


def main(scale: float = 1.0, *parts: str) -> None:
    seed = seeds_for(scale, KEPT, BUILDING)[0]
    warm_up()
    for part in parts or PARTS:
        {"draws": draws, "nuts": beside_nuts, "large": large}[part](min(scale, 1.0), seed)


def warm_up() -> None:
    """Compile everything before anything is timed."""
    games, _ = simulate_games(8, 300, rng=0)
    it.fit(games, effective=10, seconds=5)


# To 100 effective draws --------------------------------------------------------------------------


def draws(scale: float, seed: int) -> None:
    rows = []
    for (n_items, n_games), goal in TABLES.items():
        games, _ = simulate_games(n_items, int(scale * n_games), rng=seed)
        rows.append([f"{len_of(games):,} of {n_items}", *timed(games), f"{goal}"])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        f"`fit` to {EFFECTIVE:.0f} effective draws of the worst pair, at most {PATIENCE:.0f} s; "
        "cyclic metagames.  Seconds are of processor, both chains together;\nthose of the sampler "
        "end when scales have mixed too, so the next column takes them to 100 effective draws of "
        "the worst pair alone.\n"
    )
    header = ["games of items", "fit, s", "sampler, s", "to 100 of the worst pair, s", "sweeps"]
    header += ["ms a sweep", "by the formula", "worst pair", "median pair", "sweeps a draw"]
    print_table([*header, "worst scale", "way", "to hold, s"], rows)


def timed(games: Games) -> list[str]:
    began = time.process_time()
    answer = it.fit(games, effective=EFFECTIVE, seconds=PATIENCE)
    whole = time.process_time() - began
    layout, law = laid_out(games)
    began = time.process_time()
    drawn = sample(layout, law, Effort(EFFECTIVE, PATIENCE), rng=np.random.default_rng(0))[1]
    took = time.process_time() - began
    all_sweeps = drawn.n_chains * drawn.n_sweeps
    return [
        f"{whole:.1f}",
        f"{took:.1f}",
        f"{took * EFFECTIVE / drawn.worst:.1f}",
        f"{drawn.n_chains} · {drawn.n_sweeps}",
        f"{1e3 * sweep_time(layout, law):.1f}",
        f"{1e3 * seconds_a_sweep(layout):.1f}",
        f"{drawn.worst:.0f}",
        f"{np.median(drawn.effective):.0f}",
        f"{all_sweeps / drawn.worst:.1f}",
        worst_scale(drawn),
        answer.posterior.way,
    ]


def worst_scale(drawn: object) -> str:
    k = int(np.argmin(drawn.scale_effective))
    return f"{drawn.scales[k]}, {drawn.scale_effective[k]:.0f} (R-hat {drawn.scale_r_hat[k]:.2f})"


def laid_out(games: Games) -> tuple[Layout, Wins]:
    """Return the paths of the default model for a table, as `fit` lays them out."""
    speed = examine(games, Encoding.of(games)).speed
    encoding = Encoding.of(games, finest=n_moments(games, speed))
    return lay_out(encoding.observations(games), model_for(games).without(Side)), Wins()


def sweep_time(layout: Layout, law: Wins) -> float:
    """Return the median seconds of processor of one sweep of one chain, once it has settled."""
    chain = Chain(layout, law, np.random.default_rng(0))
    for _ in range(BEFORE):
        chain.sweep()
    took = []
    for _ in range(SWEEPS):
        began = time.process_time()
        chain.sweep()
        took.append(time.process_time() - began)
    return float(np.median(took))


# Beside NUTS -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Chances of all pairs as a sampler drew them, and what it took."""

    name: str
    told: str
    chances: FloatArray  # (n_chains, n_draws, n_pairs), on the scale from -1 to 1
    seconds: float  # of processor, for the draws that count
    thrown_away: float  # the same for those before them

    def rates(self) -> FloatArray:  # (2, 2): of means and of ends of intervals; median, worst pair
        """Return effective draws a second, what was thrown away left out."""
        found = mixing(self.chances)[1], chance_mixing(self.chances)[1]
        return np.array([[np.median(one), one.min()] for one in found]) / self.seconds


def beside_nuts(scale: float, seed: int) -> None:
    games, _ = metagame(rng=seed)
    encoding = Encoding.of(games, finest=N_BINS)
    model = Scores(walk=Drift(), degrees=None) + Factors(2) + PairEffects()
    layout = lay_out(encoding.observations(games), model)
    sweep_time(layout, Wins())  # loops are compiled, as those of NUTS are, before anything is timed
    runs = [gibbs(layout, max(int(scale * OURS), 160))]
    print(
        f"A metagame like the bundled one, {len(layout.seen):,} cells in {N_BINS} bins, {model}:\n"
        "effective draws of the chances of all pairs on the last day, a second of processor, what "
        "is thrown away first left out\n(to hold: 25 and 12 times); of their means, and of the "
        "ends of their 90 % intervals where these have fewer.\n"
    )
    try:
        runs.append(nuts(layout, scale))
    except ImportError:
        print("NumPyro is not installed, so NUTS was left out: pip install numpyro.\n")
    rows = []
    for run in runs:
        rates, times = run.rates(), np.full((2, 2), "")
        if run is not runs[0]:
            times = np.char.mod("%.0f", runs[0].rates() / rates)
        for k, of in enumerate(("means", "intervals")):
            took = [f"{run.seconds:.1f}", f"{run.thrown_away:.1f}"]
            rows.append([run.name, run.told, *took, of, *(f"{one:.0f}" for one in rates[k])])
            rows[-1] += list(times[k])
    header = ["", "drawn", "s", "s thrown away", "effective draws of", "a second: median", "worst"]
    print_table([*header, "ours is, times: median", "worst"], rows)


def gibbs(layout: Layout, n: int) -> Run:
    """Draw by two chains in turn."""
    watch, drawn, clock = Watch.of(layout, np.random.default_rng(0)), [], np.zeros(2)
    for rng in np.random.default_rng(0).spawn(2):
        began = time.process_time()
        chain = Chain(layout, Wins(), rng)
        for _ in range(burn_in(n)):
            chain.sweep()
        burnt = time.process_time()
        margins = []
        for _ in range(n - burn_in(n)):
            chain.sweep()
            margins.append(watch.margins(chain))
        clock += burnt - began, time.process_time() - burnt
        drawn.append(margins)
    chances = np.tanh(0.5 * np.array(drawn))
    return Run("this sampler", f"2 · {n} sweeps", chances, clock[1], clock[0])


def nuts(layout: Layout, scale: float) -> Run:
    """Draw from the same posterior by NUTS, paths as standard numbers (not centred)."""
    import jax  # noqa: PLC0415  not among our dependencies
    import jax.numpy as jnp  # noqa: PLC0415
    import numpyro  # noqa: PLC0415
    import numpyro.distributions as dist  # noqa: PLC0415
    from numpyro import infer  # noqa: PLC0415

    seen = layout.seen
    axis, when = np.unique(seen.times, return_inverse=True)
    gaps = np.sqrt(np.diff(axis) / layout.span)[:, None, None]
    keys, pair = np.unique(seen.pairs @ [seen.n_items, 1], return_inverse=True)
    i, j = seen.pairs.T
    wins = np.round(seen.means * seen.counts)
    n, r, T = seen.n_items, layout.n_factors, len(axis)

    def paths(name: str, width: int, depth: int, rate: object) -> object:  # (T, width, depth)
        z = numpyro.sample(name, dist.Normal(0, 1).expand([T, width, depth]))
        steps = jnp.concatenate([z[:1], rate * gaps * z[1:]])
        return jnp.cumsum(steps, axis=0)

    def cauchy(name: str, prior: Scale, *shape: int) -> object:
        return numpyro.sample(name, dist.HalfCauchy(prior_scale(prior)).expand(shape))

    def margins(at: object, which_i: object, which_j: object, which_pair: object, s, uv, e):  # type: ignore[no-untyped-def]
        a, b = uv[at, which_i], uv[at, which_j]
        planes = jnp.sum(a[:, :r] * b[:, r:] - a[:, r:] * b[:, :r], axis=1)
        return s[at, which_i, 0] - s[at, which_j, 0] + planes + e[at, which_pair, 0]

    one, two = np.triu_indices(n, 1)
    there = np.searchsorted(keys, one * n + two)

    def posterior() -> None:
        of = {kind: layout.model.term(kind) for kind in (Scores, Factors, PairEffects)}
        rate = {kind: cauchy(f"rate of {term}", term.walk.rate) for kind, term in of.items()}
        s = cauchy("score", of[Scores].scale) * paths("s", n, 1, rate[Scores])
        planes = jnp.tile(cauchy("planes", of[Factors].scale, r), 2)
        uv = planes * paths("uv", n, 2 * r, rate[Factors])
        e = cauchy("pair", of[PairEffects].scale) * paths("e", len(keys), 1, rate[PairEffects])
        x = margins(when, i, j, pair, s, uv, e)
        numpyro.sample("y", dist.Binomial(seen.counts.astype(int), logits=x), obs=wins)
        last = margins(np.full(len(one), T - 1), one, two, there, s, uv, e)
        numpyro.deterministic("last", last)

    short = {name: max(int(size * max(scale, 0.2)), 40) for name, size in NUTS.items()}
    machine = infer.MCMC(infer.NUTS(posterior), num_chains=1, progress_bar=False, **short)
    clock = [time.process_time()]
    machine.warmup(jax.random.PRNGKey(0))
    clock.append(time.process_time())
    for _ in range(2):  # the first time it compiles
        machine.post_warmup_state = machine.post_warmup_state or machine.last_state
        machine.run(machine.post_warmup_state.rng_key)
        drawn = np.asarray(machine.get_samples()["last"])
        machine.post_warmup_state = machine.last_state
        clock.append(time.process_time())
    told = f"{short['num_warmup']} + {short['num_samples']} draws"
    warm, _, took = np.diff(clock)
    return Run("NUTS of NumPyro", told, np.tanh(0.5 * drawn)[None], took, warm)


# Large tables ------------------------------------------------------------------------------------


def large(scale: float, seed: int) -> None:
    rows = []
    for (n_items, n_games), goal in LARGE.items():
        # Items that play seldom are what is hard: fewer games are of fewer items, but not of 200.
        items = n_items if n_items < 1_000 else max(int(scale * n_items), 100)
        told = in_fresh_process("benchmarks.sampler", "child", items, int(scale * n_games), seed)
        name = f"{int(scale * n_games):,} of {items:,}"
        if "failed" in told:
            rows.append([name, told["failed"], *[""] * 6])
            continue
        rows.append([
            name, f"{told['seconds']:.0f}", f"{told['wall']:.0f}", f"{told['memory']:.2f}",
            told["way"], f"{told['error']:.3f} / {told['spread']:.3f}", told["verdict"],
            f"{goal or ''}",
        ])  # fmt: skip
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        "Fits of large tables, each in a fresh process (to hold: at most 4 GB).  Error: root mean"
    )
    print("square of the error of the margins of games at their own times, beside the margins' own")
    print("size.\n")
    header = ["games of items", "s of processor", "s by the clock", "peak, GB", "way", "error"]
    print_table([*header, "verdict", "to hold, s"], rows)


def child(n_items: int, n_games: int, seed: int) -> None:
    """Fit one large table, and print what it took as JSON."""
    warm_up()
    made = dense if n_games > DENSE * n_items**2 else cyclic if n_items < 1_000 else drifting
    games, true = made(n_items, n_games, seed)
    peak_memory(reset=True)
    clock, began = time.perf_counter(), time.process_time()
    answer = it.fit(games)
    took, wall = time.process_time() - began, time.perf_counter() - clock
    memory = peak_memory()
    rng = np.random.default_rng(0)
    some = rng.integers(len(games), size=5_000)
    place = {name: k for k, name in enumerate(answer.names)}
    number = np.array([place[name] for name in games.names])
    first, second = number[games.first[some]], number[games.second[some]]
    found = answer.posterior.margins(first, second, games.times[some]).mean(axis=0)
    error = np.sqrt(np.mean((found - true[some]) ** 2))
    said = {"seconds": took, "wall": wall, "memory": memory, "way": answer.posterior.way}
    said |= {"error": float(error), "spread": float(np.sqrt(np.mean(true[some] ** 2)))}
    said |= {"verdict": answer.transitivity().verdict}
    print("\n".join(answer.story), file=sys.stderr, flush=True)
    print(json.dumps(said))


def drifting(n_items: int, n_games: int, seed: int) -> tuple[Games, FloatArray]:
    """Return games of items with drifting scores, and their true margins.

    Some play often, most seldom; an item meets others of its own league four times out of five,
    and has a career of its own.
    """
    rng = np.random.default_rng(seed)
    scores = np.cumsum(
        np.concatenate([rng.standard_normal((1, n_items)),
                        0.12 * rng.standard_normal((MONTHS - 1, n_items))]), axis=0
    )  # fmt: skip
    weight = np.exp(rng.standard_normal(n_items))
    league = np.sort(rng.integers(max(n_items // 200, 1), size=n_items))
    begin = np.searchsorted(league, league)
    end = np.searchsorted(league, league, side="right")
    first = rng.choice(n_items, n_games, p=weight / weight.sum())
    near = begin[first] + (rng.random(n_games) * (end - begin)[first]).astype(np.int64)
    second = np.where(rng.random(n_games) < 0.8, near, rng.integers(n_items, size=n_games))
    second = np.where(second == first, (first + 1) % n_items, second)
    career = rng.uniform(-0.5, 0.8, n_items)  # when it begins, of the whole time
    share = np.clip(career, 0.0, None)[first]
    share = np.maximum(share, np.clip(career, 0.0, None)[second])
    day = (share + (1.0 - share) * rng.random(n_games)) * 365.0 * YEARS
    month = np.minimum((day * MONTHS / (365.0 * YEARS)).astype(np.int64), MONTHS - 1)
    x = scores[month, first] - scores[month, second]
    won = (rng.random(n_games) < expit(x)).astype(float)
    return table(n_items, first, second, won, np.floor(day), x)


def dense(n_items: int, n_games: int, seed: int) -> tuple[Games, FloatArray]:
    """Return games of half a year between a few items that stand still, and their true margins.

    Some are played far more than others; beside a ranking they have a plane, and small effects of
    pairs.
    """
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n_items, 1)
    s, (u, v) = 0.15 * rng.standard_normal(n_items), 0.35 * rng.standard_normal((2, n_items))
    x = s[i] - s[j] + u[i] * v[j] - v[i] * u[j] + 0.1 * rng.standard_normal(len(i))
    often = np.exp(rng.standard_normal(n_items))
    weeks = np.repeat(7.0 * np.arange(26.0), len(i))
    first, second, margins = (np.tile(one, 26) for one in (i, j, x))
    share = often[first] * often[second]
    played = rng.poisson(n_games * share / share.sum())
    won = rng.binomial(played, expit(margins))
    counts = np.concatenate([won, played - won])
    there = counts > 0
    names = np.array([f"{k:06d}" for k in range(n_items)])
    games = Games.from_arrays(
        names[np.tile(first, 2)[there]],
        names[np.tile(second, 2)[there]],
        np.repeat([1.0, 0.0], len(played))[there],
        np.tile(weeks, 2)[there],
        counts=counts[there].astype(float),
    )
    every = np.zeros((n_items, n_items))
    every[i, j], every[j, i] = x, -x
    return games, every[games.first, games.second]


def cyclic(n_items: int, n_games: int, seed: int) -> tuple[Games, FloatArray]:
    """Return games of a metagame over two years, and their true margins."""
    games, truth = simulate_games(n_items, n_games, n_days=730, rng=seed)
    k = np.floor(games.times - truth.days[0]).astype(np.int64)
    i, j = games.first, games.second
    s, q = truth.strengths, truth.exposures
    x = truth.scores[k, i] - truth.scores[k, j]
    x += np.sum(s[k, i] * q[k, j] - q[k, i] * s[k, j], axis=1)
    return games, x


def table(
    n_items: int,
    first: FloatArray,
    second: FloatArray,
    won: FloatArray,
    day: FloatArray,
    x: FloatArray,
) -> tuple[Games, FloatArray]:
    """Return columns as games, without going through lists of names, and margins in their order."""
    names = tuple(f"{k:06d}" for k in range(n_items))
    n = len(first)
    reading = Reading("simulated", n_rows=n, n_used=n)
    games = merge(
        Games(names, first, second, won, None, day, np.ones(n), None, Clock("number"), reading)
    )
    # Margins of equal rows are nearly equal: take the first of each.
    order = np.lexsort([won, second, first, day])
    key = np.stack([day, first, second, won])[:, order]
    fresh = np.concatenate([[True], (key[:, 1:] != key[:, :-1]).any(axis=0)])
    return games, x[order[fresh]]


def len_of(games: Games) -> int:
    return int(games.counts.sum())


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*map(int, sys.argv[2:]))
    else:
        main(*map(float, sys.argv[1:2]), *sys.argv[2:])
