"""What fitted scores leave unexplained, and how much of anything they would explain.

Residuals e by cell, slopes of the log likelihood, change to first order when scores are fitted
again:

    e  ->  e - C G H⁻¹ (Gᵀ e + √P ε),      G from scores to margins, C curvatures, H = Gᵀ C G + P

so noise of known size, put through this, looks as residuals do.  ε is standard normal: scores drawn
from their prior P, which the prior keeps from being explained in full.
"""

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.joint import Joint
from intransit.core.joint_system import DenseEquations, SparseEquations

DENSE_LIMIT = 1_000  # unknowns
ACCURACY = 1e-2  # of a solve: far below the noise that goes through it
EXACT = 1e-7  # of one that others are measured by
MOST_LEVERAGE = 0.9


class Leftover:
    """The map from noise to residuals at fitted scores z."""

    def __init__(self, problem: Joint, z: FloatArray) -> None:
        self.problem, self.z = problem, z
        self.curvature = problem.loss.terms(problem.margins(z))[1]
        self._sparse = SparseEquations(problem, z, self.curvature)
        self._sparse.prepare()
        self._dense = None
        if int(np.count_nonzero(problem.free)) <= DENSE_LIMIT:
            self._dense = DenseEquations(problem, z, self.curvature)
            assert self._dense.root is not None  # factored before threads ask for it

    def explained(
        self,
        noise: FloatArray,
        rng: np.random.Generator | None = None,
        *,
        accuracy: float = ACCURACY,
    ) -> FloatArray:  # (n_cells,)
        """Return the margins that scores fitted to this noise would have.

        With a generator, of scores drawn from their prior, less those: what a prior that pulls
        towards 0 leaves of scores, in every series alike, is then part of what is not explained.
        """
        right = self.problem.pull(self.z, noise)
        if rng is not None:
            for side, part in zip(self.problem.sides, self.problem.parts(right), strict=True):
                np.add(part, side.shape_noise(side.noise(rng)), out=part)
        solver = self._dense or self._sparse
        step = solver.solve(right, 0.0, accuracy=accuracy)
        assert step is not None
        return self.problem.push(self.z, step)

    def variances(self) -> FloatArray:  # (n_cells,)
        """Return the variance of each cell's margin, each item's given the others: a little low."""
        own = np.einsum("nkk->n", self._sparse.covariances()[0])
        at = self.problem.at
        return np.asarray(own[at[:, 0]] + own[at[:, 1]])


def inflation(information: FloatArray, variance: FloatArray) -> FloatArray:
    """Return what residuals must grow by to be as large as the noise they come from."""
    leverage = np.minimum(information * variance, MOST_LEVERAGE)
    return np.asarray(1.0 / np.sqrt(1.0 - leverage))
