"""Uncertainty around a solution: the Gaussian whose precision is Jᵀ C J + prior (Laplace).

Small problems are factored, and variances are exact; at scale those of a few questions are too.  A
draw is made by perturbing data and prior and solving again,

    step = (Jᵀ C J + P)⁻¹ (Jᵀ √C ε + √P ε'),      ε, ε' standard normal

whose covariance is exactly the inverse; any question is then a mean over draws.  Draws leave out
the gauge (see `gauge`), which no margin sees.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.gauge import without_gauge
from intransit.core.joint import Joint
from intransit.core.joint_system import DenseEquations, SparseEquations
from intransit.core.query import Query

DENSE_LIMIT = 2_000  # unknowns
Noise = tuple[FloatArray, FloatArray]  # of first states, of steps

ACCURACY = 1e-3  # of the solves for draws: a thousandth of a standard deviation
THREADS = 2
CHUNK = 2_000  # questions whose variances are worked out at once
EXACT_LIMIT = 4_000_000  # questions times unknowns, of small problems: more are answered by draws
FEW = 50  # questions: each is answered by a solve of its own
N_DRAWS = 200  # where variances come from draws: standard deviations to 5 %


class Laplace:
    """The Gaussian around states z."""

    def __init__(self, problem: Joint, z: FloatArray, *, dense: bool | None = None) -> None:
        self.problem, self.z = problem, z
        self._draws: FloatArray | None = None
        n_free = int(np.count_nonzero(problem.free))
        self.is_dense = n_free <= DENSE_LIMIT if dense is None else dense

    @cached_property
    def _curvature(self) -> FloatArray:
        return self.problem.loss.terms(self.problem.margins(self.z))[1]

    @cached_property
    def dense(self) -> DenseEquations:
        """The whole precision, factored."""
        return DenseEquations(self.problem, self.z, self._curvature)

    @cached_property
    def covariance(self) -> FloatArray:  # (n_z, n_z)
        """The whole covariance, 0 where z is known; for small problems."""
        half = np.linalg.inv(self.dense.root)
        out = np.zeros((len(self.z), len(self.z)))
        free = np.flatnonzero(self.problem.free)
        out[np.ix_(free, free)] = half.T @ half
        return out

    def variances(self, query: Query, rng: np.random.Generator) -> FloatArray:  # (n,)
        """Return the variance of each margin asked for, to first order, noise on top included."""
        total = query.extra_variance(self.z)
        if self.is_dense and len(total) * np.count_nonzero(self.problem.free) <= EXACT_LIMIT:
            for begin in range(0, len(total), CHUNK):
                here = slice(begin, begin + CHUNK)
                half = self.dense.half_solve(query.part(here).rows(self.z))
                total[here] += np.sum(half**2, axis=0)
            return total
        if self._draws is None and len(total) <= FEW and not self.is_dense:
            return total + self._solved(query)
        draws = self._kept(rng)
        for step in draws.T:
            total += query.slopes(self.z, np.ascontiguousarray(step)) ** 2 / draws.shape[1]
        return total

    def _solved(self, query: Query) -> FloatArray:  # (n,)
        """Return variances gᵀ H⁻¹ g, a solve each: exact, and quicker than draws for a few."""
        equations = SparseEquations(self.problem, self.z, self._curvature)
        equations.prepare()
        rows = query.rows(self.z) * self.problem.free
        return np.array([g @ equations.solve(g, 0.0, accuracy=ACCURACY) for g in rows])

    def _kept(self, rng: np.random.Generator) -> FloatArray:
        if self._draws is None:
            self._draws = self.raw_draw(N_DRAWS, rng)
        return self._draws

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:  # (n_z, n)
        """Return draws of z less its mean, gauge left out."""
        return without_gauge(self.problem, self.z, self.raw_draw(n, rng))

    def raw_draw(self, n: int, rng: np.random.Generator) -> FloatArray:  # (n_z, n)
        """Return draws of z less its mean, gauge included."""
        if self.is_dense:
            return self.dense.draw(rng.normal(size=(int(np.count_nonzero(self.problem.free)), n)))
        return np.stack([step for step, _ in self.probes(n, rng)], axis=1)

    def probes(self, n: int, rng: np.random.Generator) -> list[tuple[FloatArray, list[Noise]]]:
        """Return draws by perturb-and-solve, each with the noise of the sides that made it."""
        equations = SparseEquations(self.problem, self.z, self._curvature)
        equations.prepare()

        def one(child: np.random.Generator) -> tuple[FloatArray, list[Noise]]:
            right, noise = self._perturb(child)
            return equations.solve(right, 0.0, accuracy=ACCURACY), noise

        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(one, rng.spawn(n)))

    def _perturb(self, rng: np.random.Generator) -> tuple[FloatArray, list[Noise]]:
        problem = self.problem
        ripples = rng.normal(size=len(problem.at)) * np.sqrt(self._curvature)
        right, noise = problem.pull(self.z, ripples), []
        for side, part in zip(problem.sides, problem.parts(right), strict=True):
            noise.append(side.noise(rng))
            np.add(part, side.shape_noise(noise[-1]), out=part)
        return right, noise
