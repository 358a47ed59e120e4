"""Several chains side by side, until enough effective draws are there or the time is spent.

How well they have mixed is told by split R-hat and the number of effective draws, as in Gelman et
al., *Bayesian Data Analysis*, 3rd ed., section 11.4 and 11.5: every chain is cut in half; W is the
mean variance within a half, V the variance of all draws; R-hat is √(V / W), and the number of
effective draws is  m n / (1 + 2 Σ ρ_t),  autocorrelations added up in pairs for as long as the
pairs are positive and falling (Geyer, 1992).
"""

import os
import pickle
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from intransit.arrays import FloatArray, IntArray
from intransit.checks import as_number, as_whole
from intransit.inference.gibbs import Chain, Draw
from intransit.inference.paths import Layout
from intransit.model.laws import OutcomeLaw
from intransit.model.terms import PairEffects
from intransit.tasks import Task, run_tasks

CONSTANT = 1e-12  # relative spread below which a number does not vary


def mixing(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return R-hat and the number of effective draws of every quantity.

    Parameters
    ----------
    values
        Draws, (n_chains, n_draws, n_quantities).

    Returns
    -------
    r_hat, effective
        (n_quantities,) each.  What does not vary has an R-hat of 1 and all draws; what varies
        between chains alone has an infinite one.
    """
    half = values.shape[1] // 2
    if half < 4:
        size = values.shape[2]
        return np.full(size, np.inf), np.ones(size)
    split = np.concatenate([values[:, :half], values[:, -half:]]).astype(float)
    m, n, _ = split.shape
    means = split.mean(axis=1)
    centred = split - means[:, None]
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    between = means.var(axis=0, ddof=1) if m > 1 else np.zeros(within.shape)
    whole = within * (n - 1) / n + between
    size = np.abs(split).max(axis=(0, 1))
    still = whole <= (CONSTANT * size) ** 2
    whole, within = np.where(still, 1.0, whole), np.where(still, 1.0, within)
    rho = 1.0 - (within - covariance * n / (n - 1)) / whole
    rho[0] = 1.0
    n_pairs = n // 2
    pairs = rho[0 : 2 * n_pairs : 2] + rho[1 : 2 * n_pairs : 2]
    positive = np.logical_and.accumulate(pairs > 0.0, axis=0)
    falling = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = np.maximum(2.0 * falling.sum(axis=0) - 1.0, 1.0 / np.log10(m * n))
    # Halves that stand still at different values: they have not met at all.
    ratio = np.divide(whole, within, out=np.full(whole.shape, np.inf), where=within > 0.0)
    return np.where(still, 1.0, np.sqrt(ratio)), np.where(still, float(m * n), m * n / time)


def chance_mixing(chances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return R-hat and effective draws of chances, or of the ends of their intervals if worse.

    Overrelaxed paths make means more precise than independent draws would, but not intervals.
    """
    low, high = np.quantile(chances, (0.05, 0.95), axis=(0, 1))
    r_hats, effective = zip(*map(mixing, (chances, chances < low, chances > high)), strict=True)
    return np.max(r_hats, axis=0), np.min(effective, axis=0)


FIRST_LOOK = 160  # sweeps of each chain, after which it is first asked how they mix
BURN_IN = 0.25  # of all sweeps, the first, that are thrown away
SHORTEST_BURN_IN = 80
MOST_FOLLOWED = 1_000  # pairs that are followed, and whose mixing is kept with the answer
# Scales need less than chances: that of a plane that is not needed creeps, and moves no chance.
FEWEST_OF_SCALES = 0.05  # of the effective draws asked for
PLENTY = 2.0  # times the effective draws asked for, from which on scales are not waited for

Report = Callable[[str], None]


JUMPS = "jumps of scores"
MOST_CHAINS = 64  # each holds all states


@dataclass(frozen=True)
class Effort:
    """How long to draw.

    Attributes
    ----------
    effective
        Effective draws that the chance of every pair, and the ends of its interval, are to have.
    seconds
        Most seconds to spend.
    chains
        Number of chains; each draws the same whatever the number of cores.
    most_numbers
        Numbers that all draws together may hold: draws are thinned to that.
    most_draws
        Draws to keep.
    r_hat, scale_r_hat
        What the worst pair, and the worst scale, is to be below.
    part_cells, part_time
        Of a table too large for chains: cells (games of one pair, time and result) of the part of
        it that scales are drawn from, and the share of the seconds for that.
    whole_effective, whole_time, whole_sweeps
        Of such a table: effective draws that are enough when chains go on over all of it, the share
        of the seconds for that, and the sweeps that are made whatever the seconds.
    fewest_sweeps
        Sweeps of each chain that are made whatever the seconds.
    """

    effective: float = 100.0
    seconds: float = 60.0
    chains: int = 2
    most_numbers: int = 20_000_000
    most_draws: int = 400
    r_hat: float = 1.1  # of the worst of 1,000 pairs with 100 draws each chance gives 1.06
    scale_r_hat: float = 1.4
    part_cells: int = 12_000  # scales are known to some per cent from so many
    part_time: float = 0.5
    whole_effective: float = 50.0
    whole_time: float = 0.15  # 150 sweeps of 200,000 games; scales settle within 20
    whole_sweeps: int = 100
    fewest_sweeps: int = 0

    def __post_init__(self) -> None:
        as_number("effective", self.effective, least=1.0)
        as_number("seconds", self.seconds, least=0.0, strict=True)
        as_whole("chains", self.chains, least=1, most=MOST_CHAINS)

    @property
    def going_on(self) -> "Effort":
        """How long to draw from the whole of a table that is too large for all of it."""
        enough = min(self.effective, self.whole_effective)
        seconds, sweeps = self.whole_time * self.seconds, self.whole_sweeps
        return replace(self, effective=enough, seconds=seconds, fewest_sweeps=sweeps)


@dataclass(frozen=True, eq=False)
class Mixing:
    """How well the chains have mixed.

    Attributes
    ----------
    scales
        Names of the scales, with R-hat and effective draws of each.
    first, second
        The pairs that were followed: all, or 1,000 at random, at the last time.
    reached
        Whether the worst pair has as many effective draws as were asked for.
    """

    scales: tuple[str, ...]
    scale_r_hat: FloatArray  # (n_scales,)
    scale_effective: FloatArray
    first: IntArray  # (n_pairs,)
    second: IntArray
    r_hat: FloatArray  # (n_pairs,)
    effective: FloatArray
    n_chains: int
    n_sweeps: int  # of each chain, the first ones thrown away included
    seconds: float
    reached: bool
    wanted: float

    @property
    def worst(self) -> float:
        """Effective draws of the worst pair."""
        return float(self.effective.min(initial=np.inf))

    @property
    def worst_scale(self) -> float:
        """Effective draws of the worst scale that is waited for."""
        return float(self.waited_for(self.scale_effective).min(initial=np.inf))

    def waited_for(self, of_scales: FloatArray) -> FloatArray:
        """Return what is told of scales without that of jumps, which are not waited for.

        How small they are, where they are small, moves no chance and creeps; where they move
        chances, pairs tell.
        """
        return np.delete(of_scales, self.scales.index(JUMPS))

    @property
    def sentence(self) -> str:
        """How long was drawn, and why it ended."""
        chains = (
            f"{self.n_chains} chain{'' if self.n_chains == 1 else 's'} of {self.n_sweeps} sweeps"
        )
        worst, k = min(self.worst, 1e9), int(np.argmin(self.scale_effective))
        rest = (
            f"the worst pair has {worst:,.0f} effective draws (R-hat "
            f"{self.r_hat.max(initial=1.0):.2f}), the worst scale, {self.scales[k]}, "
            f"{self.scale_effective[k]:,.0f} (R-hat {self.scale_r_hat[k]:.2f})"
        )
        if self.reached:
            return f"{chains}: {rest}."
        return (
            f"{chains}, stopped after {self.seconds:.0f} s before the {self.wanted:.0f} effective "
            f"draws asked for: {rest}; intervals may be off by more than usual."
        )


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of everything that is not known, those of one chain after those of another."""

    states: FloatArray  # (n_draws, n_states, 1 + 2 r)
    numbers: tuple[FloatArray, ...]  # (n_draws, n_states) each
    scales: FloatArray  # (n_draws, 1 + r)
    rates: FloatArray  # (n_draws, 2)
    reversions: FloatArray  # (n_draws, 2)
    number_scales: FloatArray  # (n_draws, n_numbers)
    number_rates: FloatArray  # (n_draws, n_numbers)
    number_reversions: FloatArray  # (n_draws, n_numbers)
    newcomers: FloatArray  # (n_draws,)
    tiers: FloatArray  # (n_draws,)
    jumps: FloatArray  # (n_draws,)
    cuts: FloatArray  # (n_draws, n_cuts)
    noise: FloatArray  # (n_draws,)
    chain: IntArray  # (n_draws,)
    steps: FloatArray | None = None  # (n_draws, 1 + 2 r): where it is not scale times rate

    @property
    def widths(self) -> FloatArray:  # (n_draws, 1 + 2 r)
        """Standard deviations of first states, by column."""
        return np.concatenate([self.scales, self.scales[:, 1:]], axis=1)

    @property
    def walks(self) -> FloatArray:  # (n_draws, 1 + 2 r)
        """Standard deviations of a step in one unit of time, by column."""
        if self.steps is not None:
            return self.steps
        width = self.widths
        rates = np.repeat(self.rates, [1, width.shape[1] - 1], axis=1)
        return np.asarray(width * rates)

    @property
    def returns(self) -> FloatArray:  # (n_draws, 1 + 2 r)
        """Rates at which states return to 0, by column."""
        return np.repeat(self.reversions, [1, self.states.shape[2] - 1], axis=1)

    def __len__(self) -> int:
        return len(self.newcomers)

    @classmethod
    def stacked(cls, draws: list[Draw], chain: IntArray) -> "Draws":
        """Put single draws together."""
        together = {
            part.name: np.array([getattr(one, part.name) for one in draws])
            for part in fields(Draw)
            if part.name != "numbers"
        }
        numbers = tuple(map(np.array, zip(*(one.numbers for one in draws), strict=True)))
        return cls(numbers=numbers, chain=chain, **together)

    @classmethod
    def joined(cls, parts: "Sequence[Draws]") -> "Draws":
        """Put draws of the same states together."""

        def together(name: str) -> Any:
            arrays = [getattr(one, name) for one in parts]
            if name == "numbers":
                return tuple(map(np.concatenate, zip(*arrays, strict=True)))
            return None if arrays[0] is None else np.concatenate(arrays)

        return cls(**{part.name: together(part.name) for part in fields(cls)})

    def one(self, k: int) -> Draw:
        """Return a single draw."""
        return Draw(**{part.name: self._taken(part.name, k) for part in fields(Draw)})

    def only(self, which: IntArray | slice) -> "Draws":
        """Return some of the draws."""
        return Draws(**{part.name: self._taken(part.name, which) for part in fields(self)})

    def _taken(self, name: str, which: int | IntArray | slice) -> Any:
        """Return one of the fields, of some draws."""
        part = getattr(self, name)
        if isinstance(part, tuple):
            return tuple(one[which] for one in part)
        return None if part is None else part[which]


class _Kept:
    """One chain, what is followed of it, and the draws that are kept, thinned as they grow."""

    def __init__(self, chain: Chain, watch: "Watch", most: int) -> None:
        self.chain, self.watch, self.most = chain, watch, max(most, 2)
        self.margins: list[FloatArray] = []
        self.scales: list[FloatArray] = []
        self.draws: list[tuple[int, Draw]] = []
        self.stride = 1

    def advance(self, n: int) -> None:
        """Sweep n times; on an error of one thread the others end by themselves."""
        for _ in range(n):
            self.chain.sweep()
            place = len(self.margins)
            self.margins.append(self.watch.margins(self.chain))
            self.scales.append(scale_values(self.watch.layout, self.chain))
            if place % self.stride == 0:
                self.draws.append((place, self.chain.keep(np.float32)))
            burnt = burn_in(place + 1)
            if len(self.draws) > 2 * self.most:
                self.draws = [one for one in self.draws if one[0] >= burnt]
                if len(self.draws) > self.most:
                    self.stride *= 2
                    self.draws = [one for one in self.draws if one[0] % self.stride == 0]


def burn_in(n: int) -> int:
    """Return how many of n sweeps are thrown away."""
    return max(int(BURN_IN * n), min(SHORTEST_BURN_IN, n // 2))


@dataclass(frozen=True, eq=False)
class Watch:
    """What is followed while a chain runs: margins of some pairs at the end, and all scales."""

    layout: Layout
    first: IntArray  # (n_pairs,)
    second: IntArray
    effect: IntArray  # (n_pairs,): last state of the pair's own effect, -1 where it has none
    number: int  # which of the other terms are effects of pairs; -1 if none
    names: tuple[str, ...]  # of all scales

    @classmethod
    def of(cls, layout: Layout, rng: np.random.Generator) -> "Watch":
        """Choose pairs: all, or some at random."""
        n = layout.seen.n_items
        if n * (n - 1) // 2 <= MOST_FOLLOWED:
            first, second = np.triu_indices(n, 1)
        else:
            first = rng.integers(n, size=MOST_FOLLOWED)
            second = (first + rng.integers(1, n, size=MOST_FOLLOWED)) % n
            first, second = np.minimum(first, second), np.maximum(first, second)
        order = rng.permutation(len(first))
        first, second = first[order], second[order]
        effect, number = np.full(len(first), -1), -1
        for k, one in enumerate(layout.numbers):
            if isinstance(one.term, PairEffects):
                place, known = one.paths.find(first * n + second)
                effect = np.where(known, one.paths.begin[1:][place] - 1 if len(place) else -1, -1)
                number = k
        return cls(layout, first, second, effect, number, tuple(scale_names(layout)))

    def margins(self, chain: Chain) -> FloatArray:
        """Return the margins of the pairs at the items' last states."""
        r = self.layout.n_factors
        last = chain.states[self.layout.items.begin[1:] - 1]
        a, b = last[self.first], last[self.second]
        out = a[:, 0] - b[:, 0]
        for k in range(1, 1 + r):
            out += a[:, k] * b[:, k + r] - a[:, k + r] * b[:, k]
        if self.number >= 0:
            out += np.where(self.effect >= 0, chain.numbers[self.number][self.effect], 0.0)
        return out.astype(np.float32)


def scale_names(layout: Layout) -> list[str]:
    """Return what the scales are called, in the order of `scale_values`."""
    names = ["scores", *(f"factor {k + 1}" for k in range(layout.n_factors)), JUMPS]
    names += ["tiers"] * bool(layout.tiers.shape[1])
    for kind in ("rate", "reversion"):
        names += [
            f"{kind} of {part}" for part in ("scores", "factors")[: 1 + (layout.n_factors > 0)]
        ]
    for one in layout.numbers:
        name = str(one.term).removeprefix("drifting ")
        names += [name, f"rate of {name}", f"reversion of {name}"]
    if layout.seen.kind == "ordered":
        names += [f"cut {k + 1}" for k in range(layout.seen.n_levels)]
    if layout.seen.kind == "squared":
        names.append("noise")
    return [*names, "newcomers"]


def scale_values(layout: Layout, draw: Chain | Draw) -> FloatArray:
    """Return scales, rates over the whole time, cuts and noise, as one array.

    Scales of planes are from the largest on.  A reversion is told by what is kept over the whole
    time, which no heavy tail can upset.
    """
    root, groups = np.sqrt(layout.span), 1 + (layout.n_factors > 0)
    numbers = [
        draw.number_scales,
        draw.number_rates * root,
        np.exp(-draw.number_reversions * layout.span),
    ]
    parts = [
        draw.scales[:1],
        np.sort(draw.scales[1:])[::-1],
        np.array([draw.jumps] + [draw.tiers] * bool(layout.tiers.shape[1])),
        draw.rates[:groups] * root,
        np.exp(-draw.reversions[:groups] * layout.span),
        np.stack(numbers, axis=1).ravel(),
    ]
    if layout.seen.kind == "ordered":
        parts.append(draw.cuts)
    if layout.seen.kind == "squared":
        parts.append(np.array([draw.noise]))
    return np.concatenate([*parts, [draw.newcomers]])


def sample(
    layout: Layout,
    law: OutcomeLaw,
    effort: Effort,
    *,
    rng: np.random.Generator,
    starts: Sequence[Draw] | None = None,
    on: str | None = None,
    report: Report = lambda _: None,
) -> tuple[Draws, Mixing]:
    """Draw from the posterior, several chains side by side: threads, or tasks of a Ray.

    Goes on until the worst pair that is followed has as many effective draws as asked for, scales
    a share of that, or the time is spent.  The same seed gives the same draws whatever the number
    of threads and wherever the chains run, unless time ends them.
    """
    report("preparing to draw; the first time loops are compiled, for about half a minute")
    _compile(layout, law)
    begin = time.monotonic()
    watch = Watch.of(layout, rng)
    room = max(effort.most_numbers // max(layout.n_numbers, 1), 40)
    most = max(min(effort.most_draws, room) // effort.chains, 1)
    chains = [
        _Kept(Chain(layout, law, one, start), watch, most)
        for one, start in zip(
            rng.spawn(effort.chains), starts or (None,) * effort.chains, strict=True
        )
    ]
    n, step = 0, FIRST_LOOK
    workers = min(effort.chains, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        while True:
            if on is None:
                least = effort.fewest_sweeps - n
                done = _advance(pool, chains, step, begin + effort.seconds, least)
            else:
                chains, done = _advance_on(on, chains, step), step
            n += done
            found = look(chains, effort, time.monotonic() - begin)
            report(f"drawing: {n} sweeps, {found.worst:.0f} of {found.wanted:.0f} effective draws")
            if found.reached or found.seconds >= effort.seconds or done < step:
                break
            step = further_sweeps(effort, n, found.worst, found.worst_scale)
    burnt = burn_in(n)
    kept = [[draw for place, draw in one.draws if place >= burnt] for one in chains]
    kept = [[draws[k] for k in _spread(len(draws), chains[0].most)] for draws in kept]
    number = np.repeat(np.arange(len(kept)), [len(draws) for draws in kept])
    return Draws.stacked([draw for draws in kept for draw in draws], number), found


def _compile(layout: Layout, law: OutcomeLaw) -> None:
    """Sweep once and throw it away: a first use compiles loops, which is no time for drawing."""
    chain = Chain(layout, law, np.random.default_rng(0))
    chain.settle = 0  # scales, too
    chain.sweep()


def _advance(
    pool: ThreadPoolExecutor, chains: list[_Kept], n: int, until: float, least: int
) -> int:
    """Let all chains sweep n times, a few at a time, or as often as the time allows."""
    done = 0
    while done < n:
        size = min(20, n - done)
        list(pool.map(_Kept.advance, chains, [size] * len(chains)))
        done += size
        if done >= least and time.monotonic() > until:
            break
    return done


def _advance_on(on: str, chains: list[_Kept], n: int) -> list[_Kept]:
    """Let all chains sweep n times as tasks of a Ray, and return them as they come back."""
    tasks = [
        Task(f"chain {k + 1}", _advanced, (pickle.dumps(one), n)) for k, one in enumerate(chains)
    ]
    found = dict(run_tasks(tasks, on=on))
    return [pickle.loads(found[k]) for k in range(len(chains))]


def _advanced(chain: bytes, n: int) -> bytes:
    """Return a chain n sweeps on; as bytes, since arrays that Ray hands over cannot be changed."""
    one: _Kept = pickle.loads(chain)
    one.advance(n)
    return pickle.dumps(one)


def look(chains: list[_Kept], effort: Effort, seconds: float) -> Mixing:
    """Return how well the chains have mixed after so many seconds, and whether that will do."""
    watch, n = chains[0].watch, len(chains[0].margins)
    begin = burn_in(n)
    margins = np.array([one.margins[begin:] for one in chains])
    scales = np.array([one.scales[begin:] for one in chains])
    # Scales on the log, but for what may be below 0 (newcomers, the last).
    scales[..., :-1] = np.log(np.maximum(scales[..., :-1], 1e-9))
    of_scales, of_pairs = mixing(scales), chance_mixing(np.tanh(0.5 * margins))
    found = Mixing(
        watch.names,
        *of_scales,
        watch.first,
        watch.second,
        *of_pairs,
        len(chains),
        n,
        seconds,
        reached=False,
        wanted=effort.effective,
    )
    r_hats = (float(one.max(initial=1.0)) for one in (found.r_hat, found.waited_for(of_scales[0])))
    pairs, least = zip((found.worst, found.worst_scale), r_hats, strict=True)
    return replace(found, reached=is_enough(effort, pairs, least))


def is_enough(effort: Effort, pairs: tuple[float, float], scales: tuple[float, float]) -> bool:
    """Return whether to stop, by effective draws and R-hat of the worst pair and the worst scale.

    A scale that creeps is waited for only until pairs have twice the draws that were asked for.
    """
    (worst, r_hat), (least, scale_r_hat) = pairs, scales
    mixed = worst >= effort.effective and r_hat < effort.r_hat
    settled = least >= FEWEST_OF_SCALES * effort.effective and scale_r_hat < effort.scale_r_hat
    return mixed and (settled or worst >= PLENTY * effort.effective)


def further_sweeps(effort: Effort, n: int, worst: float, least: float) -> int:
    """Return how many sweeps to make before looking again: at most half of those made so far."""
    wanted = effort.effective
    short = max(wanted / max(worst, 1.0), FEWEST_OF_SCALES * wanted / max(least, 1.0))
    return int(np.clip(1.1 * n * (short - 1.0), 60, n // 2))


def _spread(n: int, most: int) -> IntArray:
    """Return at most so many of n places, evenly spread, the last one among them."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.round(np.linspace(0, n - 1, most)).astype(np.int64))
