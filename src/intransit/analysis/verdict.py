"""Whether a table has cycles: the verdict, with what it rests on.

Two questions, two answers.  "Does one scale explain it?" is the test of `transitivity`.  "Do some
items beat each other around a circle?", a cycle, is asked of every strict order of the items,
whatever its curve, at a time.

A cycle is a round of items each of which beats the next with a chance above an edge, 52 % unless
told otherwise.  An order without cycles may have any curve of chances, more luck or more ties for
some items, and judges of several tastes: that no single scale explains it proves no cycle.  Three
looks at the same posterior:

    probability   the share of its draws that hold a cycle, under priors that leave it open how
                  large the parts that no scale explains are
    by_noise      how often the nearest strict order, and noise, would pay as much for pairs against
                  a ranking as the posterior does
    by_results    what the results of single pairs say, without any model: an intersection-union
                  test of the cycle whose least sure edge is surest, times the number of pairs

The first alone is not enough: with many items every draw holds a cycle of uncertain pairs.  The
noise of a posterior mean follows from the draws: its first-order change with the games is its
covariance with their log likelihood (the infinitesimal jackknife), so

    Δ E[x_pair]  =  Σ_cells  Cov(x_pair, x_cell) · √information · N(0, 1).
"""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from intransit.analysis.transitivity import FALSE_ALARMS, N_LOOKS, TINIEST, Cause, Evidence
from intransit.arrays import (
    CHUNK,
    LEVEL,
    BoolArray,
    FloatArray,
    IntArray,
    described,
    interval,
    slices,
    spread_out,
)
from intransit.checks import as_number, shown
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.inference.likelihood import Law, single_games
from intransit.inference.posterior import Posterior, Summary
from intransit.kernels import GAINED, least_paid, settle, widest_cycle
from intransit.model.laws import expected_results
from intransit.model.terms import Factors, PairEffects, Scale, prior_scale
from intransit.percent import estimate, percent, with_error
from intransit.skew import fill_skew

Verdict = Literal["cycles", "not one scale", "no evidence", "too little data"]

DOUBTED = 0.4  # p value of one scale, from which on cycles are not asked for
SURE = 0.9  # probability of a cycle, to be said
NOISY = 0.65  # share of tables of the nearest order that look as cyclic: with more none is said
EVEN = 0.5  # probability of a cycle, below which results alone do not prove one
PROVEN = 0.05  # p value of single pairs against every order, to say that there is a cycle
POWER = 0.8
HARDLY = 0.1  # further series of a pair, of which it is said that hardly any met again
HOPELESS = 0.995  # detectable share, with which nothing can be told
NOTICED = 0.2  # share of the energy; a test that would not notice as much has too little data
N_SHARES = 100  # values of each of the two sums that a share is made of
TITLES: dict[Verdict, str] = {
    "cycles": "There are cycles",
    "not one scale": "Not one scale",
    "no evidence": "No evidence of cycles",
    "too little data": "Too little data to tell",
}
CAUSES: dict[Cause, str] = {
    "luck": "more luck in the games of some items",
    "sides": "sides that are worth more to some items",
}
EDGE = 0.52  # chance that an edge of a cycle must exceed, to matter
WIDE_FACTORS, WIDE_PAIRS = 0.5, 0.3  # priors' scales with which planes and pairs are left open
MOST_ITEMS = 20  # that cycles are looked for among: those that played most
MOST_DRAWS = 400
N_NOISE = 200  # tables of the nearest order
N_AROUND = 50  # draws about the mean of each
MOST_CELLS = 40_000  # whose games' noise is followed; a sample stands for more
FEWEST = 3  # items: with these there is one cycle, either way round


@described
@dataclass(frozen=True)
class Cyclicity:
    """What speaks for a cycle, at a time."""

    edge: Annotated[float, "Chance that every edge of a cycle must exceed."]
    probability: Annotated[
        float,
        "That a cycle is there, given the model with priors that leave the size of planes and"
        " of pairs' own effects open: the share of draws that hold one, each by its weight.",
    ]
    by_noise: Annotated[
        float, "Share of tables of the nearest strict order that would look as cyclic."
    ]
    by_results: Annotated[float, "P value of single pairs' results against every strict order."]
    n_items: Annotated[int, "Items that cycles were looked for among."]
    dispersion: Annotated[
        float, "Variance of the results of a series beside that of games on their own, at least 1."
    ]


def as_edge(edge: object, name: str = "edge") -> float:
    """Return the chance that every edge of a cycle must exceed, or refuse it."""
    number = as_number(name, edge, least=0.5)
    if number >= 1.0:
        raise InputError(f"{name} is {shown(edge)}; it is a chance: give one from 0.5 to below 1.")
    return number


@described
@dataclass(frozen=True)
class Transitivity:
    """Whether one ranking, drifting as it may, explains all results, and if not, what does."""

    verdict: Annotated[
        Verdict, '``"cycles"``, ``"not one scale"``, ``"no evidence"`` or ``"too little data"``.'
    ]
    p_value: Annotated[
        float, "How often a table of one scale would deviate from it as much as this."
    ]
    gain: Annotated[
        float | None,
        "In log loss a held-out game, from what lasts beyond a single scale; None where "
        "there are too few games to hold some back.",
    ]
    gain_error: Annotated[float | None, "Its standard error; None with it."]
    share: Annotated[float, "Of the mean square of the margins that no single scale explains."]
    share_low: Annotated[float, "Low end of the interval of the share."]
    share_high: Annotated[float, "High end of the interval of the share."]
    level: Annotated[float, "Of the interval of the share."]
    detectable: Annotated[float, "Share that the test would find four times out of five."]
    n_games: Annotated[float, "Number of games."]
    n_pairs: Annotated[int, "Number of pairs that met."]
    n_series: Annotated[int, "Runs of games of one pair that count as one observation each."]
    cycle: Annotated[Cyclicity | None, "What speaks for a cycle; None where one scale will do."] = (
        None
    )
    causes: Annotated[
        tuple[Cause, ...], "Other than cycles, that would explain the deviations."
    ] = ()

    @property
    def has_cycles(self) -> bool:
        """Whether the verdict is that there are cycles."""
        return self.verdict == "cycles"

    @property
    def title(self) -> str:
        """The verdict in a few words."""
        return "No cycle is possible" if self.is_of_two else TITLES[self.verdict]

    @property
    def is_of_two(self) -> bool:
        """Whether the games are between two items, which make no cycle."""
        return self.n_pairs < 2

    @property
    def reason(self) -> str:
        """What the verdict says, and how sure it is: the sentence after its title."""
        if self.is_of_two:
            return "the games are between two items."
        if self.verdict == "cycles":
            return _proof(self.cycle)
        if self.verdict == "not one scale":
            rarely = f"only {percent(self.p_value)}".replace("only <", "less than")
            return (
                "a single scale of strength does not fit these results: by chance alone a fit as "
                f"poor would occur in {rarely} of tables. No cycle is proven{_doubt(self.cycle)}. "
                f"{self._other()}{self._size()}"
            )
        if self.verdict == "no evidence":
            # Of less than can be written it is true of what can.
            found = percent(max(self.detectable, 0.001))
            return (
                f"one ranking explains these results. Lasting cycles that make up {found} of the "
                "differences would have been found four times out of five."
            )
        if self.detectable >= HOPELESS:
            return (
                "hardly any pair has more than one independent result."
                if self.n_series - self.n_pairs < HARDLY * self.n_pairs
                else "in these games no lasting cycle could be told from chance."
            )
        return (
            "no cycles were found, but the test might miss cycles that make up "
            f"{percent(self.detectable)} of the differences."
        )

    @property
    def told_share(self) -> tuple[str, str]:
        """The share and its interval, in words: a share is uncertain where something is left."""
        share, between = estimate(self.share, self.share_low, self.share_high)
        is_open = self.verdict == "not one scale" and self.share_low <= 0.0
        return "uncertain" if is_open else share, between

    @property
    def sentence(self) -> str:
        """The verdict with its reason, in a sentence or two."""
        return f"{self.title}: {self.reason}"

    def _other(self) -> str:
        if self.causes:
            return f"A possible reason: {' or '.join(CAUSES[cause] for cause in self.causes)}."
        return "Possible reasons: judges or conditions of several kinds, or cycles that ended."

    def _size(self) -> str:
        """Say so where deviations that are hardly chance are too small to matter."""
        helps = self.gain is None or self.gain > 0.0
        if helps or self.share_low > 0.0 or self.share_high > NOTICED:
            return ""
        return (
            f" Deviations are small, if real: {self.told_share[1]} of the differences, and "
            "forecasts gain nothing from them."
        )

    def __str__(self) -> str:
        lines = [self.sentence]
        share, between = self.told_share
        lines.append(
            f"Share of the differences that no single scale explains: {share} "
            f"({percent(self.level)} interval {between})."
        )
        if self.gain is not None and self.gain_error is not None:
            lines.append(
                "Gain in log loss of held-out games from what lasts beyond a single scale: "
                f"{with_error(self.gain, self.gain_error, sign=True)}."
            )
        lines.append(
            f"{self.n_games:,.12g} game{'' if self.n_games == 1 else 's'} of "
            f"{plural(self.n_pairs, 'pair')} in {self.n_series:,} series; "
            f"p = {self.p_value:.2g}."
        )
        return "\n".join(lines)


def judge(
    evidence: Evidence,
    n_games: float,
    modelled: Summary | None = None,
    cycle: Cyclicity | None = None,
) -> Transitivity:
    """Return the verdict.

    `modelled` is a model's cyclic share, where none can be measured; `cycle` what speaks for one.
    """
    detectable = detectable_share(evidence)
    if evidence.is_measured:
        share, low, high = _measured(evidence)
    elif modelled is not None:
        share, low, high = modelled.mean, modelled.low, modelled.high
    else:
        share, low, high = 0.0, 0.0, 1.0
    gain, gain_error = evidence.gain or (None, None)
    return Transitivity(
        verdict=_verdict(evidence.p_value, detectable, cycle, evidence.causes),
        p_value=evidence.p_value,
        gain=gain,
        gain_error=gain_error,
        share=share,
        share_low=low,
        share_high=high,
        level=LEVEL,
        detectable=detectable,
        n_games=n_games,
        n_pairs=evidence.n_pairs,
        n_series=evidence.n_series,
        cycle=cycle,
        causes=evidence.causes,
    )


def at_edge(found: Transitivity, cycle: Cyclicity) -> Transitivity:
    """Return the verdict with what speaks for a cycle, at any edge."""
    verdict = _verdict(found.p_value, found.detectable, cycle, found.causes)
    return replace(found, verdict=verdict, cycle=cycle)


def as_record(found: Transitivity) -> dict[str, object]:
    """Return all of it as plain data; `cycle` also by its first name, `circle`."""
    record = asdict(found)
    return {**record, "circle": record["cycle"]}


def _verdict(
    p_value: float, detectable: float, cycle: Cyclicity | None, causes: tuple[Cause, ...]
) -> Verdict:
    # The model knows one worth of a side: what it is worth to each item may look like a cycle.
    proven = cycle is not None and is_proven(cycle) and "sides" not in causes
    if p_value < DOUBTED and proven:
        return "cycles"
    if p_value < FALSE_ALARMS:
        return "not one scale"
    return "no evidence" if detectable <= NOTICED else "too little data"


def is_proven(cycle: Cyclicity) -> bool:
    """Return whether there is a cycle, by the draws or by results alone."""
    by_draws = cycle.probability >= SURE and cycle.by_noise < NOISY
    # Where results alone speak for a cycle, the posterior must think it likelier than not.
    likely = cycle.probability > EVEN and cycle.by_noise < 1.0
    return by_draws or (likely and cycle.by_results < PROVEN)


def detectable_share(evidence: Evidence) -> float:
    """Return the share that the test would find four times out of five."""
    if not evidence.is_measured:
        return 1.0
    reach = -float(ndtri(FALSE_ALARMS / N_LOOKS)) + float(ndtri(POWER))
    return _share(reach * evidence.noise, evidence.energy)


def _measured(evidence: Evidence) -> tuple[float, float, float]:
    """Return the share and its interval: a ratio of two sums neither of which is known.

    The mean square of scores' margins is, in units of its noise, like a chi-square variable: what
    it may be follows from its own spread at that size.
    """
    likely = max(evidence.extra, 0.0)  # what is below 0 by chance is 0
    share = _share(likely, evidence.energy)
    z = ndtri((np.arange(N_SHARES) + 0.5) / N_SHARES)
    extras = np.where(z > 0.0, likely, evidence.extra) + z * evidence.extra_error
    unit = evidence.energy_unit
    size = 4.0 * z**2 + 2.0 * evidence.freedom + 4.0 * evidence.energy / unit
    energies = evidence.energy + unit * (2.0 * z**2 + z * np.sqrt(size))
    both = np.maximum(extras[:, None], 0.0), np.maximum(energies, 0.0)
    drawn = both[0] / np.maximum(both[0] + both[1], TINIEST)
    low, high = interval(drawn.ravel(), LEVEL, np.array(share))
    return share, float(low), float(high)


def _share(extra: float, energy: float) -> float:
    extra = max(extra, 0.0)
    return extra / (extra + energy) if extra > 0.0 else 0.0


def _proof(cycle: Cyclicity | None) -> str:
    if cycle is None:
        return "some items beat each other in a cycle."
    if cycle.probability >= SURE:
        return (
            f"with a probability of {percent(cycle.probability)}, some items beat each other in a "
            f"cycle, each winning more than {percent(cycle.edge)} of games against the next."
        )
    return (
        "the results of single pairs form a cycle, as they would under a strict order in "
        f"{_often(cycle.by_results)} tables."
    )


def _doubt(cycle: Cyclicity | None) -> str:
    if cycle is None:
        return ""
    if cycle.probability < SURE:
        return (
            f" (probability of one at the end of the table, every step above {percent(cycle.edge)}"
            f": {percent(cycle.probability)})"
        )
    return (
        f": by noise alone, the nearest strict order would look as cyclic in "
        f"{percent(cycle.by_noise)} of tables"
    )


def _often(p: float) -> str:
    if p < 0.001:
        return "fewer than 1 of 1,000"
    return f"{1000 * p:.0f} of 1,000"


def look_for_cycles(
    posterior: Posterior,
    items: IntArray,
    when: float,
    *,
    edge: float = EDGE,
    dispersion: float = 1.0,
    rng: int = 0,
) -> Cyclicity:
    """Return what speaks for a cycle among some items at a time.

    Items come with those that played most first: of more than 20 the first are asked.  Two that no
    comparisons connect count as even.  `dispersion` is the variance of the results of a series
    beside that of games on their own, at least 1.
    """
    edge = as_edge(edge)
    few, items = posterior.thinned(MOST_DRAWS), np.sort(items[:MOST_ITEMS])
    n = len(items)
    one, two = few.groups[items[np.array(np.triu_indices(n, 1))]]
    drawn = few.upper_margins(items, when) * (one == two)  # of strangers nothing is known
    least = edge - 0.5
    gains = fill_skew(few.results(drawn) - 0.5, n)
    mean = drawn.mean(axis=0)
    noise = mean_noise(few, items, drawn - mean, dispersion, np.random.default_rng(rng))
    return Cyclicity(
        edge=edge,
        probability=_probability(
            least_paid(gains, least) > GAINED,
            open_weights(few),
            np.inf if posterior.mixing is None else posterior.mixing.worst,
        ),
        by_noise=_by_noise(few, mean, drawn - mean, noise, n, least),
        by_results=_by_results(few, items, when, dispersion),
        n_items=n,
        dispersion=dispersion,
    )


def open_weights(posterior: Posterior) -> FloatArray:  # (n_draws,)
    """Return what each draw counts for under priors that leave the size of cyclic parts open.

    The priors of a fit believe in little beyond scores, so that intervals of plain rankings are no
    wider than need be.  Whether there is a cycle is asked without that belief: the densities of
    the two priors have a ratio that is bounded, so draws under one are draws under the other, with
    weights.  Scales that are known, and priors that are as wide already, stay as they are.
    """
    model, draws = posterior.layout.model, posterior.draws
    factors = model.term(Factors)
    weights = np.zeros(len(draws))
    if factors is not None:
        weights += _log_ratio(draws.scales[:, 1:], factors.scale, WIDE_FACTORS).sum(axis=1)
    for k, one in enumerate(posterior.layout.numbers):
        if isinstance(one.term, PairEffects):
            weights += _log_ratio(draws.number_scales[:, k], one.term.scale, WIDE_PAIRS)
    weights = np.exp(weights - weights.max())
    return np.asarray(weights / weights.sum())


def _log_ratio(scales: FloatArray, prior: Scale, wide: float) -> FloatArray:
    """Return the log of the density of a wider half-Cauchy prior over that of the prior."""
    own = prior_scale(prior)
    if not 0.0 < own < wide:
        return np.zeros_like(scales)
    return np.asarray(np.log1p((scales / own) ** 2) - np.log1p((scales / wide) ** 2))


def _probability(hold: BoolArray, weights: FloatArray, most: float = np.inf) -> float:
    """Return the weight of the draws that hold a cycle: never quite 0 or 1.

    `most` are effective draws of the worst pair: chains that have not mixed, and agree by chance,
    prove little, however many their draws.
    """
    effective = min(1.0 / float(weights @ weights), most)
    return (effective * float(weights @ hold) + 0.5) / (effective + 1.0)


def _by_noise(
    posterior: Posterior,
    mean: FloatArray,
    deviations: FloatArray,  # (n_draws, n_pairs)
    noise: FloatArray,  # (n_tables, n_pairs)
    n: int,
    least: float,
) -> float:
    """Return how often the nearest order and noise look as cyclic as the posterior does.

    By what a ranking pays: at the mean of the posterior, and on average over its draws, in units
    of what either differs by between tables.
    """
    one, two = np.triu_indices(n, 1)
    gains = fill_skew(_typical(posterior, mean[None, :]) - 0.5, n)[0]
    order = np.argsort(-gains.sum(axis=1))
    if settle(np.maximum(gains - least, 0.0), order) <= GAINED:
        return 1.0
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    above = np.where(place[one] < place[two], 1.0, -1.0)
    nearest = above * np.maximum(above * mean, 0.0)  # pairs against it are even
    some = spread_out(len(deviations), N_AROUND)
    around = np.vstack([np.zeros(len(mean)), deviations[some]])
    paid = np.array(
        [
            least_paid(fill_skew(_typical(posterior, centre + around) - 0.5, n), least)
            for centre in (mean, *(nearest + noise))
        ]
    )
    both = np.stack([paid[:, 0], paid[:, 1:].mean(axis=1)])  # (2, 1 + n_tables)
    size = np.sum(both / np.maximum(both[:, 1:].std(axis=1, keepdims=True), TINIEST), axis=0)
    return float(np.mean(size[1:] >= size[0]))


def _typical(posterior: Posterior, margins: FloatArray) -> FloatArray:
    """Return expected results at margins, by the mean law of the draws."""
    cuts, noise = posterior.draws.cuts, posterior.draws.noise
    cut = float(cuts[:, 0].mean()) if posterior.law.kind == "ordered" else 0.0
    return expected_results(posterior.law.kind, margins, cut, float(noise.mean()))


def mean_noise(
    posterior: Posterior,
    items: IntArray,
    deviations: FloatArray,  # (n_draws, n_pairs)
    dispersion: float,
    rng: np.random.Generator,
) -> FloatArray:  # (N_NOISE, n_pairs)
    """Return noise of the posterior's mean margins, as if the games were played again.

    A covariance over few draws is noisy itself, and the noise of thousands of them adds up.  It
    adds most by cells that have little to do with a pair: so cells of the pair, cells with one of
    its items, and others are three sums, and each is made smaller by what it gets from this.
    """
    seen, m, n = posterior.layout.seen, len(posterior), len(items)
    one, two = np.triu_indices(n, 1)
    place = np.full(seen.n_items, n)  # n: any other
    place[items] = np.arange(n)
    number = np.full((n + 1, n + 1), -1)
    number[one, two] = number[two, one] = np.arange(len(one))
    cells, share = np.arange(len(seen)), 1.0
    if len(cells) > MOST_CELLS:
        cells = np.sort(rng.choice(len(seen), MOST_CELLS, replace=False))
        share = MOST_CELLS / len(seen)
    shocks = np.zeros((n + 1, m, N_NOISE))  # of the games of each item, and of all
    told = np.zeros(n + 1)  # information of the same games, in units of what is not known
    own, own_told = np.zeros((len(one), N_NOISE)), np.zeros(len(one))
    for here in slices(len(cells), CHUNK // m):
        some = cells[here]
        x = posterior.margins(seen.pairs[some, 0], seen.pairs[some, 1], seen.times[some])
        size = seen.counts[some] * _information(posterior, x.mean(axis=0), some)
        x = (x - x.mean(axis=0)) * np.sqrt(size * dispersion / share)
        rough = rng.standard_normal((len(some), N_NOISE))
        ends, known = place[seen.pairs[some]], np.mean(x**2, axis=0)
        for k in range(n):
            with_k = (ends == k).any(axis=1)
            shocks[k] += x[:, with_k] @ rough[with_k]
            told[k] += known[with_k].sum()
        shocks[-1] += x @ rough
        told[-1] += known.sum()
        pair = number[ends[:, 0], ends[:, 1]]
        inside = np.flatnonzero(pair >= 0)
        pair = pair[inside]
        covariance = np.mean(deviations[:, pair] * x[:, inside], axis=0)
        np.add.at(own, pair, covariance[:, None] * rough[inside])
        np.add.at(own_told, pair, known[inside])
    beside = np.array(
        [d @ (shocks[i] + shocks[j]) / m for d, i, j in zip(deviations.T, one, two, strict=True)]
    )
    others = deviations.T @ shocks[-1] / m - beside + own
    near_told = told[one] + told[two]
    parts = (
        (own, own_told),
        (beside - 2.0 * own, near_told - 2.0 * own_told),
        (others, told[-1] - near_told + own_told),
    )
    spread = deviations.var(axis=0)
    out = np.zeros_like(own)
    for part, of in parts:
        found, by_chance = float(np.mean(part**2)), float(np.mean(spread * of)) / m
        out += part * np.sqrt(max(1.0 - by_chance / max(found, TINIEST), 0.0))
    return out.T


def _information(posterior: Posterior, margins: FloatArray, cells: IntArray) -> FloatArray:
    """Return the information of one game of each cell on its margin."""
    draws = posterior.draws
    noise = float(np.mean(1.0 / draws.noise**2)) ** -0.5
    law = Law(posterior.law.kind, tuple(draws.cuts.mean(axis=0)), noise_scale=noise)
    return single_games(law, posterior.layout.seen.means[cells]).terms(margins)[1]


def _by_results(posterior: Posterior, items: IntArray, when: float, dispersion: float) -> float:
    """Return the p value of the pairs' own results against every strict order.

    Every pair on its own, as a random walk that moves as much as margins do in the draws: its games
    say less of a time the further they are from it.  The least sure edge of a cycle is tested
    against a half; any of the pairs may be the one that an order would not have.
    """
    seen = posterior.layout.seen
    place = np.full(seen.n_items, -1)
    place[items] = np.arange(len(items))
    inside = (place[seen.pairs] >= 0).all(axis=1)
    pairs, times = place[seen.pairs[inside]], seen.times[inside]
    counts, wins, sides = seen.counts[inside], seen.wins[inside], seen.sides[inside]
    worth = float(posterior.side_worth(np.array([when])).mean())
    keys, owner = np.unique(pairs[:, 0] * len(items) + pairs[:, 1], return_inverse=True)
    speed = _speed(posterior, items, when)
    sure = np.full((len(items), len(items)), -np.inf)
    order = np.argsort(owner, kind="stable")
    for key, rows in zip(keys, np.split(order, np.cumsum(np.bincount(owner))[:-1]), strict=True):
        n, age = counts[rows], when - times[rows]
        # Margins near 0 are four times the chance above a half.
        margin = 4.0 * (wins[rows] / n - 0.5) - worth * sides[rows]
        shared = np.minimum(np.abs(age[:, None]), np.abs(age)) * (age[:, None] * age > 0.0)
        spread = speed * shared + np.diag(4.0 * dispersion / n)
        weight = np.linalg.solve(spread, np.ones(len(rows)))
        z = float(weight @ margin / np.sqrt(weight.sum()))
        i, j = divmod(int(key), len(items))
        sure[i, j], sure[j, i] = z, -z
    widest = widest_cycle(sure)
    many = len(keys) if len(items) > FEWEST else 1
    return min(float(many * ndtr(-widest)), 1.0)


def _speed(posterior: Posterior, items: IntArray, when: float) -> float:
    """Return the variance of the change of a margin in a unit of time, over draws and pairs."""
    if not posterior.layout.model.moves:
        return 0.0
    axis = posterior.axis
    begin = float(axis[0] if when - axis[0] > axis[-1] - when else axis[-1])
    change = posterior.upper_margins(items, when) - posterior.upper_margins(items, begin)
    return float(np.mean(change**2)) / max(abs(when - begin), TINIEST)
