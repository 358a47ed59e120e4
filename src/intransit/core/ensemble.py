"""Factors that are not sure of each other: what scales are estimated with at scale.

At a single solution (S, Q) the strengths look as if the exposures were known, and the other way
round, so that factors which the data hardly support seem to explain them ever better the faster
they drift.  Averaged over what is not known of the partner, a cell's loss is to second order

    loss(x)  +  ½ curvature (sᵀ V_q s + qᵀ V_s q)  +  ...

V the covariance of the partner's state: a penalty on each side by what is not known of the other
(the mean-field, or ensemble, approximation).  Supported factors hardly feel it; others shrink away.
"""

from dataclasses import replace

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.cell_kernels import spread_cells
from intransit.core.joint import Joint
from intransit.core.joint_system import SparseEquations


def unsure(problem: Joint, z: FloatArray) -> Joint:
    """Return the problem with the penalties that the present uncertainty of both sides implies."""
    curvature = problem.loss.terms(problem.margins(z))[1]
    V_S, V_Q = SparseEquations(problem, z, curvature).covariances()
    blocks = np.zeros_like(V_S), np.zeros_like(V_Q)
    spread_cells(V_S, V_Q, problem.at, curvature, *blocks)
    S, Q = problem.strengths.free, problem.exposures.free
    return replace(problem, blocks=(blocks[0] * (S[:, None] & S), blocks[1] * (Q[:, None] & Q)))
