"""Small random joint problems of every kind, and the slow, obvious twins to check against."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import chi2

from intransit.data.cells import Cells, Rows, collapse_rows
from intransit.inference.joint_problem import Columns, Joint, Pairs, Rise, Scales, assemble
from intransit.inference.likelihood import Law

FREE, ONES, FEATURE = "free", "ones", "feature"

# Of each column: what is known of its strengths, and of its exposures.
SCORES, FACTOR = (FREE, ONES), (FREE, FREE)
FEATURED, REVEALED = (FREE, FEATURE), (FEATURE, FREE)

DRIFTS = {
    "drift_scale": 0.5,
    "exposure_drift_scale": 0.3,
    "score_drift_scale": 0.4,
    "pair_drift_scale": 0.25,
}


@dataclass(frozen=True)
class Kind:
    """What a problem is made of."""

    columns: tuple[tuple[str, str], ...]
    drifting: tuple[str, ...] = ()
    pairs: bool = False
    rising: int = 0  # directions in which first scores may rise

    @property
    def scales(self) -> Scales:
        moving = {name: DRIFTS[name] for name in self.drifting}
        return Scales(
            **{"noise_scale": 0.7, "drift_scale": 0.0, "prior_scale": 1.2, **moving},
            score_prior_scale=0.9,
            pair_scale=0.6 if self.pairs else 0.0,
        )


KINDS = {
    "static scores": Kind((SCORES,)),
    "drifting scores": Kind((SCORES,), ("score_drift_scale",)),
    "static factor": Kind((FACTOR,)),
    "drifting factor": Kind((FACTOR,), ("drift_scale",)),
    "three drifting factors": Kind((FACTOR,) * 3, ("drift_scale",)),
    "drifting exposures": Kind((FACTOR,) * 2, ("exposure_drift_scale",)),
    "both drift": Kind((FACTOR,) * 2, ("drift_scale", "exposure_drift_scale")),
    "scores and factors": Kind((SCORES, FACTOR, FACTOR), ("drift_scale", "score_drift_scale")),
    "features": Kind((FEATURED, SCORES), ("score_drift_scale",)),
    "known columns": Kind((FEATURED, REVEALED, FACTOR), ("drift_scale", "score_drift_scale")),
    "pairs": Kind((SCORES,), ("score_drift_scale",), pairs=True),
    "drifting pairs": Kind((SCORES,), ("score_drift_scale", "pair_drift_scale"), pairs=True),
    "rising scores": Kind((SCORES,), ("score_drift_scale",), rising=2),
    "rising scores, factor": Kind(
        (SCORES, FACTOR), ("drift_scale", "score_drift_scale"), pairs=True, rising=1
    ),
    "everything": Kind((SCORES, REVEALED, FACTOR, FACTOR), tuple(DRIFTS), pairs=True),
}

seeds = st.integers(0, 2**32 - 1)
names = st.sampled_from(sorted(KINDS))
FALSE_ALARM = 1e-4  # of each test that draws, were its seed not fixed


def within(sums, n_draws):
    """Whether sums of squares of n_draws standard normal numbers are as large as they should be."""
    tail = FALSE_ALARM / (2 * len(sums))
    low, high = chi2.ppf([tail, 1 - tail], n_draws)
    return bool((sums >= low).all() and (sums <= high).all())


CONVEX = tuple(
    name for name, kind in KINDS.items() if not {FACTOR, REVEALED}.intersection(kind.columns)
)
CURVED = tuple(name for name, kind in KINDS.items() if FACTOR in kind.columns)


@dataclass(frozen=True, eq=False)
class Case:
    """A joint problem, what it was made from, and some states."""

    rows: Rows
    cells: Cells
    columns: Columns
    scales: Scales
    logistic: bool
    problem: Joint
    pairs: Pairs
    z: np.ndarray

    def value(self, z):
        return self.problem.loss.value(self.problem.margins(z)) + self.problem.penalty(z)

    def gradient(self, z):
        slope, _ = self.problem.loss.terms(self.problem.margins(z))
        out = self.problem.pull(z, slope)
        self.problem.add_prior(z, out)
        return out


def random_rows(rng, *, n_items=6, n_rows=50, logistic=False, times=None):
    """Rows in any order, some repeated, some of an item with itself, at uneven times."""
    times = np.cumsum(0.2 + rng.random(6)) if times is None else np.asarray(times, float)
    counts = rng.integers(1, 4, n_rows).astype(float)
    outcomes = (
        rng.binomial(counts.astype(int), 0.6) / counts if logistic else rng.normal(size=n_rows)
    )
    return Rows(rng.choice(times, n_rows), rng.integers(0, n_items, (n_rows, 2)), outcomes, counts)


def columns_of(kind, n_items, rng):
    known = {
        FREE: lambda: np.full(n_items, np.nan),
        ONES: lambda: np.ones(n_items),
        FEATURE: lambda: rng.normal(size=n_items),
    }
    S, Q = (np.stack([known[c[side]]() for c in kind.columns], axis=1) for side in (0, 1))
    return Columns(S, Q, Rise.of(2.0 * rng.normal(size=(n_items, kind.rising))))


def case_of(rows, columns, scales, *, logistic, rng=None, cells=None):
    """The problem of some rows, at random states."""
    cells = collapse_rows(rows, columns.n_items, shares=logistic) if cells is None else cells
    law = Law("logistic" if logistic else "squared")
    problem, pairs = assemble(cells, columns, scales, law)
    rng = np.random.default_rng(0) if rng is None else rng
    z = problem.fill_known(columns, rng.normal(size=problem.cuts[-1]))
    return Case(rows, cells, columns, scales, logistic, problem, pairs, z)


def random_case(name, seed, *, logistic=False, n_items=6, n_rows=50):
    rng = np.random.default_rng(seed)
    kind = KINDS[name]
    rows = random_rows(rng, n_items=n_items, n_rows=n_rows, logistic=logistic)
    return case_of(rows, columns_of(kind, n_items, rng), kind.scales, logistic=logistic, rng=rng)


def draw_prior(problem, columns, rng):
    """States as the model supposes them: first states, then one step after the other."""
    z = np.zeros(problem.cuts[-1])
    for side, part in zip(problem.sides, problem.parts(z), strict=True):
        for k in range(side.shape[0]):
            if k in side.firsts:
                part[k] = side.prior * rng.normal(size=side.shape[1])
            else:
                kick = side.drift * np.sqrt(side.chains.gaps(k))
                part[k] = part[side.chains.before[k]] + kick * rng.normal(size=side.shape[1])
    if problem.rise is not None:  # everybody's path is as much higher
        worth = problem.rise.along @ (problem.rise.sizes * rng.normal(size=len(problem.rise.sizes)))
        problem.split(z)[0][:, 0] += worth[problem.strengths.chains.owners]
    return problem.fill_known(columns, z)


def simulated_case(name, seed, *, logistic=False, n_items=6, n_rows=200, scales=None):
    """A problem whose outcomes come from states that the model might have drawn: `z`."""
    rng = np.random.default_rng(seed)
    kind = KINDS[name]
    scales = kind.scales if scales is None else scales
    rows = random_rows(rng, n_items=n_items, n_rows=n_rows, logistic=logistic)
    rows = rows.only(rows.pairs[:, 0] != rows.pairs[:, 1])
    columns = columns_of(kind, n_items, rng)
    blank = case_of(rows, columns, scales, logistic=logistic)
    truth = draw_prior(blank.problem, columns, rng)
    x = margins_of_rows(blank, truth)
    if logistic:
        y = rng.binomial(rows.counts.astype(int), expit(x)) / rows.counts
    else:
        y = x + scales.noise_scale * rng.normal(size=len(x)) / np.sqrt(rows.counts)
    told = Rows(rows.times, rows.pairs, y, rows.counts)
    case = case_of(told, columns, scales, logistic=logistic)
    return Case(told, case.cells, columns, scales, logistic, case.problem, case.pairs, truth)


def states_at(side, part, time):
    """States of all owners at a time at which some were compared, NaN for the others."""
    chains = side.chains
    out = np.full((chains.n_owners, part.shape[1]), np.nan)
    for state, (owner, when) in enumerate(zip(chains.owners, chains.when, strict=True)):
        if not chains.drifting or chains.axis[when] == time:
            out[owner] = part[state]
    return out


def matrix_at(case, z, time):
    """X = S Qᵀ - Q Sᵀ + E at one time, dense; NaN where an item has no state then."""
    problem = case.problem
    S, Q, E = problem.split(z)
    S, Q = states_at(problem.strengths, S, time), states_at(problem.exposures, Q, time)
    X = S @ Q.T - Q @ S.T
    if problem.effects is not None:
        n = case.columns.n_items
        for key, e in zip(
            case.pairs.keys, states_at(problem.effects, E[:, None], time), strict=True
        ):
            if np.isfinite(e[0]):
                X[key // n, key % n] += e[0]
                X[key % n, key // n] -= e[0]
    return X


def margins_of_rows(case, z):
    """The margin of every row, in the order in which the row names its items."""
    times = case.cells.axis[np.abs(case.cells.axis - case.rows.times[:, None]).argmin(axis=1)]
    matrices = {t: matrix_at(case, z, t) for t in np.unique(times)}
    pairs = case.rows.pairs
    return np.array([matrices[t][i, j] for t, (i, j) in zip(times, pairs, strict=True)])


def objective_by_definition(case, z):
    """Minus the log posterior, row by row and step by step."""
    total = 0.0
    pairs, outcomes, counts = case.rows.pairs, case.rows.outcomes, case.rows.counts
    for (i, j), x, y, n in zip(pairs, margins_of_rows(case, z), outcomes, counts, strict=True):
        if i == j:
            continue
        if case.logistic:
            total -= n * (y * np.log(expit(x)) + (1 - y) * np.log(expit(-x)))
        else:
            variance = case.scales.noise_scale**2 / n
            total += 0.5 * (y - x) ** 2 / variance + 0.5 * np.log(2 * np.pi * variance)
    for side, part in zip(case.problem.sides, case.problem.parts(z), strict=True):
        for c in np.flatnonzero(side.free):
            for owner in range(side.chains.n_owners):
                mine = np.flatnonzero(side.chains.owners == owner)
                total += 0.5 * (part[mine[0], c] / side.prior[c]) ** 2
                for before, now in pairwise(mine):
                    gap = side.chains.times[now] - side.chains.times[before]
                    variance = side.drift[c] ** 2 * gap
                    total += 0.5 * (part[now, c] - part[before, c]) ** 2 / variance
    first = case.problem.split(z)[0][case.problem.strengths.firsts, 0]
    return total + 0.5 * first @ rise_by_definition(case.problem) @ first


def rise_by_definition(problem):
    """What a rise changes in the precision of first scores."""
    alone = problem.strengths.prior[0] ** 2 * np.eye(len(problem.strengths.firsts))
    if problem.rise is None:
        return 0.0 * alone
    columns = problem.rise.along * problem.rise.sizes
    return np.linalg.inv(alone + columns @ columns.T) - np.linalg.inv(alone)


def slope_by_differences(function, z, directions, step=1e-5):
    """Directional derivatives, one for each column of directions."""
    return np.array(
        [(function(z + step * d) - function(z - step * d)) / (2 * step) for d in directions.T]
    )


def unit_moves(problem):
    """The free directions of z, as columns."""
    return np.eye(len(problem.free))[:, problem.free]


def jacobian(problem, z):
    """The derivative of all margins in z, column by column; 0 where z is known."""
    columns = [
        problem.push(z, unit * free)
        for unit, free in zip(np.eye(len(z)), problem.free, strict=True)
    ]
    return np.stack(columns, axis=1)


def prior_precision(problem):
    """The prior's precision over all of z, from the definition of a random walk."""
    blocks = np.zeros((problem.cuts[-1],) * 2)
    begin = 0
    for side in problem.sides:
        n, width = side.shape
        for k in range(n):
            for c in np.flatnonzero(side.free):
                row = np.zeros(len(blocks))
                row[begin + k * width + c] = 1.0
                if k in side.firsts:
                    variance = side.prior[c] ** 2
                else:
                    row[begin + side.chains.before[k] * width + c] = -1.0
                    variance = side.drift[c] ** 2 * side.chains.gaps(k)
                blocks += np.outer(row, row) / variance
        begin += n * width
    at = problem.strengths.firsts * problem.strengths.shape[1]
    blocks[np.ix_(at, at)] += rise_by_definition(problem)
    return blocks


def gaussian_model(problem, z):
    """The precision of the Gaussian around z over what is free: Jᵀ C J + prior."""
    J = jacobian(problem, z)[:, problem.free]
    _, curvature = problem.loss.terms(problem.margins(z))
    return (
        J.T @ (curvature[:, None] * J)
        + prior_precision(problem)[np.ix_(problem.free, problem.free)]
    )
