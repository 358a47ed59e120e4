"""What circles around triangles, and what only circles around holes in the comparison graph.

In an incomplete graph the cyclic part splits once more (HodgeRank: Jiang, Lim, Yao and Ye, 2011):

    C = curl + harmonic,        curl = W⁻¹ Kᵀ Φ,  (K C)_ijk = C_ij + C_jk + C_ki,

into what circles around triangles and what only circles around holes in the graph.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import lsmr

from intransit.arrays import FloatArray
from intransit.core.inputs import as_whole, shown
from intransit.errors import ConvergenceWarning, InputError
from intransit.study.hodge import Decomposition, PairDecomposition, scale_of, share_of
from intransit.study.kernels import list_triangles

MAX_STEPS = 20_000  # of the least squares over triangles


@dataclass(frozen=True, eq=False)
class CyclicSplit:
    """The cyclic part of some pairs: what circles around triangles, and what around holes."""

    curl: FloatArray  # (n_pairs,), a sum of flows around triangles of compared pairs
    harmonic: FloatArray  # (n_pairs,), sums to zero around every such triangle
    curl_share: float  # of the weighted sum of squares of the margins, as `cyclic_share`
    harmonic_share: float
    n_triangles: int


def split_cyclic(
    parts: Decomposition | PairDecomposition, *, max_triangles: int = 5_000_000
) -> CyclicSplit:
    """Split a cyclic part into flows around triangles and flows around holes of the graph.

    Cycles that triangles explain are local disagreements of a few items.  The harmonic rest is
    consistent in every triangle and still returns higher than it left; it needs a hole, a cycle
    of compared items without a chord, and is zero when all pairs were compared.

    Parameters
    ----------
    parts
        From `decompose` or `decompose_pairs`.
    max_triangles
        Refuse a graph with more; memory and time are linear in their number.

    Warns
    -----
    ConvergenceWarning
        The least squares over triangles stopped early; says what it means and what helps.

    Examples
    --------
    >>> from intransit.study import decompose_pairs
    >>> ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> parts = decompose_pairs(ring, np.array([1.0, 1.0, 1.0, 1.0]), n_items=4)
    >>> split_cyclic(parts).harmonic_share
    1.0
    """
    if isinstance(parts, Decomposition):
        parts = parts.to_pairs()
    if not isinstance(parts, PairDecomposition):
        raise InputError(
            f"parts: {shown(parts)} was given; give what `decompose` or `decompose_pairs` returned."
        )
    max_triangles = as_whole("max_triangles", max_triangles, least=0)
    n_pairs, root = len(parts.pairs), np.sqrt(parts.weights)
    starts = np.searchsorted(parts.pairs[:, 0], np.arange(len(parts.scores) + 1))
    triangles = list_triangles(starts, parts.pairs[:, 1].copy(), max_triangles)
    if len(triangles) > max_triangles:
        raise InputError(
            f"pairs: they form more than {max_triangles} triangles. Raise max_triangles, or"
            " split a part of the items."
        )
    # The columns are the triangles, (ij) + (jk) − (ik), in units of the root of each weight.
    columns = np.repeat(np.arange(len(triangles)), 3)
    signs = np.tile([1.0, 1.0, -1.0], len(triangles)) / root[triangles.ravel()]
    shape = (n_pairs, len(triangles))
    flows = coo_array((signs, (triangles.ravel(), columns)), shape=shape).tocsr()
    curl = flows @ _least_squares(flows, root * parts.cyclic) / root
    harmonic = parts.cyclic - curl
    scale = scale_of(parts.margins)
    energies = [float(parts.weights @ (part / scale) ** 2) for part in (curl, harmonic)]
    of_curl = share_of(energies[0], energies[1])
    return CyclicSplit(
        curl=curl,
        harmonic=harmonic,
        curl_share=parts.cyclic_share * of_curl,
        harmonic_share=parts.cyclic_share * (1.0 - of_curl),
        n_triangles=len(triangles),
    )


def _least_squares(flows: csr_array, target: FloatArray) -> FloatArray:
    if 0 in flows.shape or not target.any():
        return np.zeros(flows.shape[1])
    solution, reason, *_ = lsmr(flows, target, atol=1e-13, btol=1e-13, conlim=0, maxiter=MAX_STEPS)
    if reason in (6, 7):  # of lsmr: too ill conditioned, too many steps
        warnings.warn(
            "split_cyclic: the solver stopped before its tolerance, so that curl is a little small"
            " and harmonic a little large. Weights closer to each other help.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return np.asarray(solution)
